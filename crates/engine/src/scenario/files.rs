//! The files that a scenario names: whoever calls the engine reads them.
use super::Scenario;
use super::read::tree_of;
use super::tree::{Node, Value};
use super::walk::Found;
use crate::workload::chakra::Chakra;
use crate::workload::goal::Goal;

impl Scenario {
    /// The files that a scenario names: for each the key of the override that hands its contents in, and its path as it is
    /// written. Whoever calls the engine reads them; the engine has no input of its own. A key that ends in `.data`, or that
    /// is of a table `data`, takes the file's bytes in base64, any other its text.
    pub fn files(text: &str, overrides: &[(String, String)]) -> Vec<(String, String)> {
        let root = tree_of(text, overrides, &mut Found::default());
        let topology = root.as_ref().and_then(|root| root.get("topology"));
        let wiring = topology.filter(|topology| word(topology, "kind").as_deref() == Some("file"));
        let mut files = Vec::from_iter(wiring.and_then(|topology| missing(topology, "topology", "text")));
        files.extend(root.as_ref().map(traces).unwrap_or_default());
        files.extend(root.as_ref().map(sizes).unwrap_or_default());
        files
    }

    /// The key of a file's path, by that of its contents.
    pub fn path_key(key: &str) -> String {
        let table = key.strip_suffix(".text").or_else(|| key.rsplit_once(".data").map(|(table, _)| table));
        format!("{}.path", table.unwrap_or(key))
    }

    /// The contents of a file as the value of the override `key`; none if they should be text and are not.
    pub fn contents(key: &str, bytes: Vec<u8>) -> Option<String> {
        if is_binary(key) {
            return Some(Self::quoted(&crate::base64::encode(&bytes)));
        }
        String::from_utf8(bytes).ok().map(|text| Self::quoted(&text))
    }
}

/// Whether the value of a key is a file's bytes in base64, not its text: the key, or what it is an element of, is `data`.
fn is_binary(key: &str) -> bool {
    key.rsplit('.').take(2).any(|part| part == "data")
}

/// The distributions of message sizes that traffic names and that are not there.
fn sizes(root: &Node) -> Vec<(String, String)> {
    let Some(Value::List(classes)) = root.get("traffic").map(|node| &node.value) else { return Vec::new() };
    let of = |(index, class): (usize, &Node)| {
        missing(class.get("message")?, &format!("traffic.{index}.message"), "text")
    };
    classes.iter().enumerate().filter_map(of).collect()
}

/// A text of a table that is not empty.
fn word(table: &Node, key: &str) -> Option<String> {
    match table.get(key).map(|node| &node.value) {
        Some(Value::Text(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    }
}

/// The file that a table of that name has at `path`, if what stands in it, under `key`, is not there.
fn missing(table: &Node, name: &str, key: &str) -> Option<(String, String)> {
    let path = word(table, "path")?;
    let is_there = word(table, "text").or(word(table, "data")).is_some();
    (!is_there).then(|| (format!("{name}.{key}"), path))
}

/// The traces and allocations that jobs name and that are not there, as [`Scenario::files`] gives them.
fn traces(root: &Node) -> Vec<(String, String)> {
    let Some(Value::List(jobs)) = root.get("job").map(|node| &node.value) else { return Vec::new() };
    let trace = |job: &Node, name: &str| {
        let path = word(job, "path")?;
        let is_goal = word(job, "workload").as_deref() == Some("goal");
        let key = if is_goal { Goal::key_of(&path, word(job, "format").as_deref()) } else { "text" };
        missing(job, name, key)
    };
    // A Chakra trace has a file for each rank.
    let by_rank = |job: &Node, name: String| {
        let ranks = match job.get("ranks").map(|node| &node.value) {
            Some(&Value::Integer(ranks)) => u32::try_from(ranks).unwrap_or(0).min(Chakra::RANKS_MAX),
            _ => 0,
        };
        let path = word(job, "path").unwrap_or_default();
        let is_there = |rank: &u32| job.get("data").and_then(|data| word(data, &rank.to_string())).is_some();
        let missing = (0..if path.is_empty() { 0 } else { ranks }).filter(|rank| !is_there(rank));
        missing.map(|rank| (format!("{name}.data.{rank}"), Chakra::file(&path, rank))).collect::<Vec<_>>()
    };
    let of_job = |(index, job): (usize, &Node)| {
        let name = format!("job.{index}");
        let mut files = match word(job, "workload").as_deref() {
            Some("chakra") => by_rank(job, name.clone()),
            _ => trace(job, &name).into_iter().collect(),
        };
        for key in ["placement", "groups"] {
            files.extend(job.get(key).and_then(|table| missing(table, &format!("{name}.{key}"), "text")));
        }
        files
    };
    jobs.iter().enumerate().flat_map(of_job).collect()
}
