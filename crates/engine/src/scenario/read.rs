//! From text to a scenario, and back.
use super::tree::{self, Entry, Node, Span, Value};
use super::walk::{Found, Walk};
use super::{Scenario, Traffic, checks, preset, shape, short};
use crate::problem::Problem;
use crate::protocol::CongestionControl;
use crate::queueing::Queueing;
use crate::routing::Routing;
use crate::switch::Switch;
use crate::topology::Topology;
use crate::units::Duration;
use crate::workload::job::Job;
use serde::{Deserialize, de::DeserializeOwned};
use std::collections::BTreeSet;
use std::ops::Range;

impl Scenario {
    /// Reads a scenario file and applies overrides (`traffic.hot.load` = `0.7`), each value read as TOML, else taken
    /// as text. Traffic classes go by name or by index. A `[sweep]` table is for the sweep and is left alone.
    ///
    /// # Errors
    ///
    /// All mistakes at once, in the order of the file, up to a hundred and a note of how many more there are.
    pub fn parse(text: &str, overrides: &[(String, String)]) -> Result<Scenario, Vec<Problem>> {
        Self::parse_with(text, overrides, |_, _| Vec::new())
    }

    /// As [`Scenario::parse`], with all that `beyond` tells of a scenario that has mistakes and can be read nevertheless: it is
    /// given what is left without them, and its mistakes across keys that are new.
    pub fn parse_with(
        text: &str,
        overrides: &[(String, String)],
        beyond: impl FnOnce(&Scenario, &[Problem]) -> Vec<Problem>,
    ) -> Result<Scenario, Vec<Problem>> {
        let mut found = Found::default();
        // What a broken file means is guesswork: its other mistakes might not be any.
        let Some(mut root) = tree_of(text, overrides, &mut found) else { return Err(placed(text, found)) };
        let original = root.clone();
        let readable = Walk::new(&mut found).check(shape::scenario(), &mut root, &Some(0..0));
        let guessed = !readable && guess_routing(&mut root, &mut found);
        let scenario = if readable || guessed { deserialise(root, &original, &mut found) } else { None };
        // The buffers that a switch needs depend on the routing.
        let is_guess = |problem: &Problem| {
            guessed && ["routing", "switch", "queueing"].iter().any(|table| within(&problem.path, table))
        };
        if let Some(scenario) = scenario.as_ref().filter(|_| measurable(&found)) {
            let mut across = Vec::new();
            let has =
                |test: &dyn Fn(&str) -> bool| found.problems.iter().any(|(_, problem)| test(&problem.path));
            // A table of traffic or a job with a mistake may have been left out, so that there seems to be none.
            let left_out = has(&|told| told.starts_with("traffic") || told.starts_with("job"));
            // A list with a mistake has been left out, so that its class seems to have all endpoints.
            let all_seem = has(&|told| told.contains(".endpoints."));
            let only_seems = |problem: &Problem| {
                left_out && problem.path == "traffic" || all_seem && problem.path.ends_with(".endpoints")
            };
            checks::across(scenario, &mut |problem| {
                // What is told of a table as a whole may only be what is wrong in it.
                if !has(&|told| within(told, &problem.path)) && !only_seems(&problem) && !is_guess(&problem) {
                    across.push(problem);
                }
            });
            add(&across, &original, &mut found);
            if !found.problems.is_empty() {
                let mut further = beyond(scenario, &across);
                let told = |table: &str| found.problems.iter().any(|(_, one)| within(&one.path, table));
                further.retain(|problem| !only_seems(problem) && !is_guess(problem) && !told(&problem.path));
                add(&further, &original, &mut found);
            }
        }
        match scenario {
            Some(scenario) if found.problems.is_empty() => Ok(scenario),
            _ => Err(placed(text, found)),
        }
    }

    /// Where overrides of these keys go: the parts of each key, with elements of lists by their index, however the key calls
    /// them. Two keys mean the same if their parts are the same.
    pub fn places(text: &str, overrides: &[(String, String)], keys: &[String]) -> Vec<Vec<String>> {
        let root = tree_of(text, overrides, &mut Found::default());
        keys.iter().map(|key| tree::place(root.as_ref(), key)).collect()
    }

    /// A text as the value of an override.
    pub fn quoted(text: &str) -> String {
        toml::Value::String(text.to_string()).to_string()
    }

    /// Gives problems that showed only after reading (on the built network, say) their places in the file and with the
    /// overrides that the scenario was read from.
    pub fn located(text: &str, overrides: &[(String, String)], problems: Vec<Problem>) -> Vec<Problem> {
        let root = tree_of(text, overrides, &mut Found::default());
        let mut found = Found::default();
        for problem in problems {
            found.add(root.as_ref().and_then(|root| root.locate(&problem.path)), || problem);
        }
        placed(text, found)
    }

    /// The scenario as a file with every default filled in; read again, it gives an equal scenario.
    pub fn to_toml(&self) -> String {
        let mut value = serde_json::to_value(self).expect("a scenario is plain data under text keys");
        // TOML has no null: what has no value is not written.
        drop_nulls(&mut value);
        toml::to_string(&value).expect("TOML can hold everything of a scenario but null")
    }

    /// All mistakes of a scenario however it was made: those of single values, which the schema tells, and those
    /// across keys. They have no lines.
    pub fn problems(&self) -> Vec<Problem> {
        let mut found = Found::default();
        match serde_json::to_value(self) {
            Ok(value) => {
                Walk::new(&mut found).check(shape::scenario(), &mut Node::from_json(value), &None);
            }
            Err(error) => found.add(None, || Problem::new("", error.to_string(), "")),
        }
        checks::across(self, &mut |problem| found.add(None, || problem));
        placed("", found)
    }

    /// Fills in the defaults that depend on other keys.
    fn complete(&mut self) {
        let [warmup, _, drain] = self.run_spans();
        self.run.warmup.get_or_insert(warmup);
        self.run.drain.get_or_insert(drain);
        for job in self.job.iter_mut().filter(|job| job.workload.bound().has_mpi()) {
            job.mpi = job.mpi.or_codes();
        }
    }
}

/// The tree of a file with its overrides; none if it is not TOML.
pub(super) fn tree_of(text: &str, overrides: &[(String, String)], found: &mut Found) -> Option<Node> {
    let (mut root, errors) = tree::read(text);
    let broken = !errors.is_empty();
    for (span, message) in errors {
        let help = tree::remedy(text, &span, &message);
        found.add(span, || Problem::new("", format!("this is not TOML: {message}"), help));
    }
    if broken {
        return None;
    }
    take_sweep(&mut root, found);
    name(&mut root, "traffic");
    name(&mut root, "job");
    short::spell_out(shape::scenario(), &mut root);
    for (key, value) in overrides {
        if key == "sweep" || key.starts_with("sweep.") {
            let message = "[sweep] says which changes are made, and is not changed itself";
            found.add(None, || Problem::new(key, message, "change it in the file"));
            continue;
        }
        if let Err(problem) = tree::set(&mut root, key, value) {
            found.add(None, || problem);
        }
        // The next may be for a key of the table that this one stands for.
        short::spell_out(shape::scenario(), &mut root);
    }
    preset::apply(&mut root, found);
    Some(root)
}

fn drop_nulls(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(entries) => {
            entries.retain(|_, value| !value.is_null());
            entries.values_mut().for_each(drop_nulls);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Gives every class of traffic, and every job, the name it has by default, so that overrides and messages can use it.
fn name(root: &mut Node, key: &str) {
    let Some(Value::List(classes)) = root.get_mut(key).map(|node| &mut node.value) else { return };
    for (index, class) in classes.iter_mut().enumerate() {
        let Value::Table(entries) = &mut class.value else { continue };
        entries.retain(|entry| {
            entry.key != "name" || !matches!(&entry.node.value, Value::Text(name) if name.is_empty())
        });
        if entries.iter().all(|entry| entry.key != "name") {
            let node = Node::placeless(Value::Text(format!("{key}{index}")));
            entries.push(Entry { key: "name".to_string(), span: None, node });
        }
    }
}

/// Takes the `[sweep]` table out: the sweep itself judges what is in it, and reads each of its values as an override.
fn take_sweep(root: &mut Node, found: &mut Found) {
    let Value::Table(entries) = &mut root.value else { return };
    let Some(index) = entries.iter().position(|entry| entry.key == "sweep") else { return };
    let sweep = entries.remove(index);
    if !matches!(sweep.node.value, Value::Table(_)) {
        let help = "such as \"traffic.hot.load\" = [0.1, 0.5, 0.9]";
        found.add(sweep.span, || Problem::new("sweep", "expected a table of lists", help));
    }
}

/// Gives a file without a routing that can be read one that suits its topology, so that its other mistakes can be told, and tells which suit.
fn guess_routing(root: &mut Node, found: &mut Found) -> bool {
    if root.get("routing").is_some() {
        return false;
    }
    let topology = root.get("topology").and_then(|node| Topology::deserialize(node.clone().into_json()).ok());
    let Some(topology) = topology else { return false };
    for (_, problem) in found.problems.iter_mut().filter(|(_, problem)| problem.path == "routing") {
        let (suited, kind) = (Routing::suited(&topology), topology.kind());
        let first = suited.first().copied().unwrap_or_default();
        problem.help =
            format!("such as routing = \"{first}\"; those that route a {kind}: {}", suited.join(", "));
    }
    let guess = Routing::defaults().into_iter().find(|routing| routing.suits(&topology));
    if let (Some(routing), Value::Table(entries)) = (&guess, &mut root.value) {
        let node = Node::from_json(serde_json::to_value(routing).expect("a routing is plain data"));
        entries.push(Entry { key: "routing".into(), span: None, node });
    }
    guess.is_some()
}

fn deserialise(root: Node, original: &Node, found: &mut Found) -> Option<Scenario> {
    let json = root.into_json();
    match Scenario::deserialize(&json) {
        Ok(mut scenario) => {
            scenario.complete();
            Some(scenario)
        }
        // The walk has found what the schema can tell: this is for a kind whose reader is stricter than that.
        Err(error) => {
            let path = unreadable(&json).unwrap_or_default();
            // What the walk has taken out may be what the reader misses.
            if found.problems.iter().any(|(_, problem)| problem.path.starts_with(&path)) {
                return None;
            }
            let help = "`tailback list` tells what each table takes";
            found.add(original.locate(&path), || Problem::new(path, error.to_string(), help));
            None
        }
    }
}

/// The path of the first table of a seam that cannot be read on its own, or of the key in it without which it can.
fn unreadable(json: &serde_json::Value) -> Option<String> {
    fn fails<T: DeserializeOwned>(value: &serde_json::Value) -> bool {
        !value.is_null() && T::deserialize(value).is_err()
    }
    let seams = [
        ("topology", fails::<Topology> as fn(&serde_json::Value) -> bool),
        ("switch", fails::<Switch>),
        ("routing", fails::<Routing>),
        ("queueing", fails::<Queueing>),
        ("congestion_control", fails::<CongestionControl>),
    ];
    let culprit = |key: &str, fails: fn(&serde_json::Value) -> bool| {
        let table = json[key].as_object()?;
        let without = |culprit: &str| {
            let rest = table.iter().filter(|(inner, _)| *inner != culprit);
            rest.map(|(inner, value)| (inner.clone(), value.clone())).collect()
        };
        table.keys().find(|inner| !fails(&without(inner))).map(|inner| format!("{key}.{inner}"))
    };
    let seam = seams.iter().find(|(key, fails)| fails(&json[*key]));
    let seam = seam.map(|(key, fails)| culprit(key, *fails).unwrap_or_else(|| key.to_string()));
    let class = || {
        let classes = json["traffic"].as_array()?;
        classes.iter().position(fails::<Traffic>).map(|index| format!("traffic.{index}"))
    };
    let job = || {
        let jobs = json["job"].as_array()?;
        jobs.iter().position(fails::<Job>).map(|index| format!("job.{index}"))
    };
    seam.or_else(class).or_else(job)
}

/// Whether sizes, rates and endpoints are known, by which the rest is measured.
fn measurable(found: &Found) -> bool {
    let base = ["packet", "topology", "link.bandwidth"];
    found.problems.iter().all(|(_, problem)| !base.iter().any(|table| within(&problem.path, table)))
}

/// Whether a path is that of a table, or of something in it.
fn within(path: &str, table: &str) -> bool {
    path.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Adds problems of keys that have none yet, in tables that are not in doubt.
fn add(problems: &[Problem], original: &Node, found: &mut Found) {
    let told: BTreeSet<String> = found.problems.iter().map(|(_, problem)| problem.path.clone()).collect();
    for problem in problems {
        let table = problem.path.rsplit_once('.').map_or("", |(table, _)| table);
        if !told.contains(&problem.path) && !found.doubted.contains(table) {
            found.add(original.locate(&problem.path), || problem.clone());
        }
    }
}

/// The problems in the order of the file, with their lines.
fn placed(text: &str, found: Found) -> Vec<Problem> {
    let Found { mut problems, untold, .. } = found;
    problems.sort_by_key(|(span, _)| span.as_ref().map_or(usize::MAX, |span| span.start));
    let lines = Lines::of(text);
    let place = |(span, problem): (Span, Problem)| match span {
        Some(span) => {
            let (line, column) = lines.place(text, span);
            Problem { line: Some(line), column: Some(column), ..problem }
        }
        None => problem,
    };
    let mut problems: Vec<Problem> = problems.into_iter().map(place).collect();
    if untold > 0 {
        let message = format!("{untold} more mistakes are not shown");
        problems.push(Problem::new("", message, format!("the first {} are", problems.len())));
    }
    problems
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// Line and column of the beginning of a span, from 1; columns count characters.
    fn place(&self, text: &str, span: Range<usize>) -> (usize, usize) {
        let at = span.start.min(text.len());
        let line = self.0.partition_point(|start| *start <= at);
        let before = &text.as_bytes()[self.0[line - 1]..at];
        let column = before.iter().filter(|byte| (**byte as i8) >= -0x40).count();
        (line, column + 1)
    }
}

impl Scenario {
    /// Warm-up, window and drain, with their defaults.
    pub(crate) fn run_spans(&self) -> [Duration; 3] {
        let (warmup, drain) = match self.traffic.is_empty() {
            true => (Duration::Ps(0), Duration::Ps(0)),
            false => (Duration::Ps(20_000_000), self.run.duration),
        };
        [self.run.warmup.unwrap_or(warmup), self.run.duration, self.run.drain.unwrap_or(drain)]
    }
}
