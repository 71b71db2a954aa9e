//! Lists of flows of the ns-3 simulator of HPCC, and of those made from it.
use super::connection_matrix::{Connection, Matrix, NODES_MAX, Start, bound};
use super::recorded::{Mistake, Once, given};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::shorten;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Flows as the ns-3 simulator of HPCC and those made from it read them from `flow.txt`: their number, then for each a line with its source,
/// its destination, a priority group, a port (not in all of them), its bytes and its start in seconds. What stands behind so many flows is
/// not read. The job's ranks are the nodes from 0 to the largest number, without `switches`.
///
/// Whoever calls the engine reads the file at `path` and hands it in as `text`; a result keeps it. Source: alibaba-edu/High-Precision-Congestion-Control,
/// `traffic_gen`. Differences: the first flow starts with the job (there, as a rule, at 2 s); flows between two nodes follow one another
/// and go on with the rate or window of the one before, where there each has a queue pair of its own (`queue_pairs = 4096` gives each one here too);
/// priority groups and ports are read and make no difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowList {
    /// The file, relative to the scenario's. Give this or `text`.
    #[serde(default)]
    pub path: String,
    /// The flows themselves.
    #[serde(default)]
    pub text: String,
    /// Nodes that are switches, where hosts have higher numbers: hosts are counted without them, as those of a network of the format "hpcc" are.
    #[serde(default)]
    pub switches: Vec<u32>,
    /// What was read, once it was asked for.
    #[serde(skip)]
    #[schemars(skip)]
    read: Once<Matrix, Mistake>,
}

impl FlowList {
    fn matrix(&self) -> Result<&Arc<Matrix>, Vec<Problem>> {
        let read = || read(given(&self.path, &self.text, "no flows are given", FLOW)?, &self.switches);
        self.read.get(read).map_err(|mistake| vec![mistake.problem(&self.path)])
    }
}

impl Bind for FlowList {
    fn ranks(&self) -> Result<Option<u32>, Vec<Problem>> {
        self.matrix().map(|matrix| Some(matrix.nodes))
    }

    fn has_mpi(&self) -> bool {
        false
    }

    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        Ok(Box::new(bound(self.matrix()?, 1, setting, &self.path)?))
    }
}

const FLOW: &str = "the number of flows, and for each a line such as 0 13 3 100 2000000 2.0: source, destination, priority group, \
                    port, bytes, start in seconds";

/// Reads a file. Its starts are in ps from that of the first flow.
///
/// # Errors
///
/// The first mistake with its line.
fn read(text: &str, switches: &[u32]) -> Result<Matrix, Mistake> {
    let switches = BTreeSet::from_iter(switches.iter().copied());
    let mut lines =
        (1..).zip(text.lines()).map(|(line, words)| (line, Vec::from_iter(words.split_whitespace())));
    let mut lines = lines.by_ref().filter(|(_, words)| !words.is_empty());
    let (line, words) = lines.next().ok_or_else(|| Mistake::new(1, "there is nothing in it", FLOW))?;
    let count = match words[..] {
        [count] => number::<usize>(line, "the number of flows", count)?,
        _ => return Err(Mistake::new(line, "this is no number of flows", FLOW)),
    };
    let mut connections = Vec::new();
    while connections.len() < count {
        let Some((line, words)) = lines.next() else {
            let there = connections.len();
            return Err(Mistake::new(line, format!("{count} flows are told, and {there} are there"), FLOW));
        };
        connections.push(flow(line, &words, &switches)?);
    }
    let starts = connections.iter().map(|(_, start)| *start);
    let first = starts.fold(f64::INFINITY, f64::min);
    let nodes = connections.iter().map(|(flow, _)| flow.from.max(flow.to) + 1).max();
    let connections =
        connections.into_iter().map(|(flow, start)| Connection { start: Start::At(start - first), ..flow });
    let nodes = nodes.ok_or_else(|| Mistake::new(line, "there are no flows", FLOW))?;
    Ok(Matrix { nodes, connections: connections.collect(), triggers: Vec::new() })
}

/// A flow, and its start in whole ps.
fn flow(line: usize, words: &[&str], switches: &BTreeSet<u32>) -> Result<(Connection, f64), Mistake> {
    let (ends, bytes, start) = match *words {
        [from, to, _, _, bytes, start] | [from, to, _, bytes, start] => ([from, to], bytes, start),
        _ => {
            return Err(Mistake::new(
                line,
                format!("a flow has 6 numbers, or 5 without a port, not {}", words.len()),
                FLOW,
            ));
        }
    };
    let [from, to]: [u32; 2] =
        [number(line, "the source", ends[0])?, number(line, "the destination", ends[1])?];
    let bytes = number::<u64>(line, "the number of bytes", bytes)?;
    let seconds = number::<f64>(line, "the start", start)?;
    let wrong = |message: String, help: &str| Err(Mistake::new(line, message, help));
    if from == to {
        return wrong(format!("node {from} sends to itself"), "another node");
    }
    if from.max(to) >= NODES_MAX {
        return wrong(format!("node {} of {NODES_MAX}", from.max(to)), "nodes are counted from 0");
    }
    if bytes == 0 {
        return wrong("a flow of no bytes".into(), "at least 1");
    }
    if !(0.0..=SECONDS_MAX).contains(&seconds) {
        return wrong(format!("a start at {seconds} s"), "seconds, from 0 to 1000");
    }
    if let Some(switch) = [from, to].into_iter().find(|node| switches.contains(node)) {
        return wrong(format!("node {switch} is one of `switches`"), "a flow between hosts");
    }
    let [from, to] = [from, to].map(|node| node - switches.range(..node).count() as u32);
    let flow = Connection { from, to, bytes, start: Start::At(0.0), sent: None, received: None, line };
    Ok((flow, (seconds * 1e12).round()))
}

/// Starts up to here are exact to 1 ps.
const SECONDS_MAX: f64 = 1000.0;

fn number<N: std::str::FromStr>(line: usize, what: &str, word: &str) -> Result<N, Mistake> {
    word.parse().map_err(|_| Mistake::new(line, format!("{what} is \"{}\"", shorten(word)), FLOW))
}
