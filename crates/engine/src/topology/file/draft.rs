//! A network as it is read: nodes by name, links, and every mistake with its line, up to a bound.
use super::network::{self, Network};
use crate::problem::Problem;
use crate::units::{Duration, Rate, shorten};
use std::collections::{HashMap, HashSet};

/// The line of a mistake, what is wrong, and what is allowed.
pub(super) type Mistake = (Option<usize>, String, String);

/// Mistakes that are told; reading stops at them.
const MISTAKES_MAX: usize = 20;
/// Longest name of a node, in bytes.
const NAME_MAX: usize = 100;
/// Most parallel links of a line.
const PARALLEL_MAX: u32 = 1024;
/// Most pairs of nodes that are joined.
const LINKS_MAX: usize = 1 << 20;

/// Bandwidth and latency of a link, each if it says so.
pub(super) type Wire = (Option<Rate>, Option<Duration>);

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) line: usize,
    /// Whether it is said to be a host.
    pub(super) host: Option<bool>,
    /// Links that it has.
    pub(super) degree: u32,
}

/// Links between two nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) nodes: [u32; 2],
    pub(super) wire: Wire,
    pub(super) parallel: u32,
    pub(super) line: usize,
}

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
    numbers: HashMap<String, u32>,
    joined: HashSet<[u32; 2]>,
    mistakes: Vec<Mistake>,
}

impl Draft {
    /// Notes a mistake.
    pub(super) fn refuse(
        &mut self,
        line: impl Into<Option<usize>>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        if self.mistakes.len() < MISTAKES_MAX {
            self.mistakes.push((line.into(), message.into(), help.into()));
        } else if self.mistakes.len() == MISTAKES_MAX {
            self.mistakes.push((None, format!("the first {MISTAKES_MAX} mistakes are shown"), String::new()));
        }
    }

    /// Whether there are so many mistakes that reading on is of no use.
    pub(super) fn is_hopeless(&self) -> bool {
        self.mistakes.len() > MISTAKES_MAX
    }

    /// Whether there is any.
    pub(super) fn has_mistakes(&self) -> bool {
        !self.mistakes.is_empty()
    }

    /// The node of this name.
    pub(super) fn node(&mut self, name: &str, line: usize) -> Option<u32> {
        if let Some(&node) = self.numbers.get(name) {
            return Some(node);
        }
        let plain = !name.is_empty() && name.len() <= NAME_MAX && !name.contains(char::is_control);
        if !plain {
            let message = format!("\"{}\" is no name of a node", shorten(name).escape_debug());
            self.refuse(line, message, format!("1 to {NAME_MAX} bytes of text"));
            return None;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(Node { name: name.to_string(), line, host: None, degree: 0 });
        self.numbers.insert(name.to_string(), node);
        Some(node)
    }

    /// Says that a node is a host, or a switch.
    pub(super) fn declare(&mut self, name: &str, host: bool, line: usize) {
        let Some(node) = self.node(name, line) else { return };
        if self.nodes[node as usize].host == Some(!host) {
            self.refuse(line, format!("{name} is both a host and a switch"), "one of them");
        }
        self.nodes[node as usize].host = Some(host);
    }

    /// Joins two nodes by parallel links.
    pub(super) fn join(&mut self, names: [&str; 2], wire: Wire, parallel: u32, line: usize) {
        let [Some(a), Some(b)] = names.map(|name| self.node(name, line)) else { return };
        if a == b {
            return self.refuse(line, format!("a link from {} to itself", names[0]), "two different nodes");
        }
        if !(1..=PARALLEL_MAX).contains(&parallel) {
            let message = format!("{parallel} parallel links");
            return self.refuse(line, message, format!("from 1 to {PARALLEL_MAX}"));
        }
        if !self.joined.insert([a.min(b), a.max(b)]) {
            let message = format!("{} and {} are joined already", names[0], names[1]);
            return self.refuse(line, message, "once each pair, with the number of parallel links");
        }
        if self.links.len() == LINKS_MAX {
            return self.refuse(line, "the network has too many links", format!("at most {LINKS_MAX}"));
        }
        self.nodes[a as usize].degree += parallel;
        self.nodes[b as usize].degree += parallel;
        self.links.push(Link { nodes: [a, b], wire, parallel, line });
    }

    /// The network, or every mistake.
    pub(super) fn finish(mut self, concentration: u32) -> Result<Network, Vec<Mistake>> {
        // What follows from a mistake need not be one.
        if self.mistakes.is_empty()
            && let Some(network) = network::build(&mut self, concentration)
        {
            return Ok(network);
        }
        Err(self.mistakes)
    }

    /// Notes the problems of the network's size.
    pub(super) fn refuse_all(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            self.refuse(None, problem.message, problem.help);
        }
    }
}

/// Reads bandwidth and latency; an empty text says nothing.
pub(super) fn wire(bandwidth: &str, latency: &str) -> Result<Wire, (String, String)> {
    let told = |error: crate::units::QuantityError| (error.message, error.help);
    let rate = (!bandwidth.is_empty()).then(|| bandwidth.parse::<Rate>()).transpose().map_err(told)?;
    let time = (!latency.is_empty()).then(|| latency.parse::<Duration>()).transpose().map_err(told)?;
    Ok((rate, time))
}

/// Reads a number of parallel links; an empty text is one.
pub(super) fn parallel(text: &str) -> Result<u32, (String, String)> {
    let wrong = || (format!("\"{}\" is no number of links", shorten(text).escape_debug()), String::new());
    if text.is_empty() { Ok(1) } else { text.parse().map_err(|_| wrong()) }
}
