//! Any network, from a file: an edge list, GraphML, htsim's tree description, or the topology of HPCC's ns-3 simulator.
use super::Wiring;
use crate::graph::Graph;
use crate::problem::Problem;
use crate::units::{Duration, Rate};
use network::Network;
use std::sync::{Arc, OnceLock};

mod draft;
mod edges;
mod graphml;
mod hpcc;
mod network;
mod topo;

/// The network of a file: switches, hosts, and links that each have their own bandwidth and latency.
///
/// # What it does
///
/// Whoever calls the engine reads the file at `path` and hands it in as `text`; a result keeps the text, so that its
/// scenario can be run again when the file is gone. Formats:
/// "edges": a line for each link, `a b [bandwidth latency [links]]`, the fields apart by commas or, if their
/// quantities have no space inside ("100Gb/s"), by spaces; `links` is the number of parallel links. `host NAME…` and
/// `switch NAME…` say what a node is. `#` begins a comment.
/// "graphml": a `node` is what its data `type` ("host" or "switch") says; an `edge` has the data `bandwidth`, `latency`
/// (texts with units) and `links`.
/// "topo": the tree of two or three tiers of an htsim `.topo` file (`Nodes`, `Tiers`, `Podsize`; for each `Tier`:
/// `Downlink_speed_Gbps`, `Downlink_Latency_ns`, `Radix_Down`, `Radix_Up`, `Bundle`, `Switch_Latency_ns`).
/// "hpcc": the `topology.txt` of HPCC's ns-3 simulator: the numbers of nodes, switches and links, the switches, and for each link a line
/// `a b 100Gbps 1000ns 0` (error rates must be 0); lines between the same two nodes are parallel links. Its hosts are numbered in the order of
/// their nodes.
///
/// Hosts have one link each, and all host links are alike. If no node is said to be a host and `concentration` is 0, the
/// nodes with a single link are the hosts. Switches and hosts are numbered in the order in which they first appear.
/// Ports of a switch: its hosts, then its other links in order. Link classes: `host`, and `link1`, `link2`, … for each
/// pair of bandwidth and latency in order of appearance; what a link does not say comes from `[link]`, and a class named
/// there has precedence over the file. Blocks: one, since nothing is known of the network's parts.
///
/// # Paper
///
/// GraphML: U. Brandes and others, "GraphML progress report", GD 2001. htsim: C. Raiciu and others, "Improving datacenter
/// performance and robustness with multipath TCP", SIGCOMM 2011. HPCC: Y. Li and others, SIGCOMM 2019 (alibaba-edu/High-Precision-Congestion-Control).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The file, relative to the scenario's. Give this or `text`.
    #[serde(default)]
    pub path: String,
    /// The network itself, in the format of the file.
    #[serde(default)]
    pub text: String,
    /// How the network is written (default: by the ending of `path`: "graphml" for .graphml and .xml, "topo" for .topo,
    /// else "edges").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Endpoints attached to every switch, besides the hosts of the file (default 0).
    #[serde(default)]
    pub concentration: u32,
    /// The network, once it was asked for.
    #[serde(skip)]
    #[schemars(skip)]
    read: Read,
}

/// How a network is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A line for each link.
    Edges,
    /// GraphML.
    Graphml,
    /// The tiers of a tree, as htsim has them.
    Topo,
    /// The `topology.txt` of HPCC's ns-3 simulator.
    Hpcc,
}

/// What a text was read as. It follows from the other fields, so it makes no difference between two of them.
#[derive(Debug, Clone, Default)]
struct Read(OnceLock<Arc<Result<Network, Vec<Problem>>>>);

impl PartialEq for Read {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Longest text.
const BYTES_MAX: usize = 64 << 20;

impl File {
    /// The network of a text, with this many endpoints attached to every switch.
    pub fn new(text: impl Into<String>, format: Format, concentration: u32) -> Self {
        let (path, text, format) = (String::new(), text.into(), Some(format));
        Self { path, text, format, concentration, read: Read::default() }
    }

    /// The format that is given, or that the ending of the path tells.
    pub fn format(&self) -> Format {
        let ending = self.path.rsplit_once('.').map_or("", |(_, ending)| ending);
        self.format.unwrap_or(match ending {
            "graphml" | "xml" => Format::Graphml,
            "topo" => Format::Topo,
            _ => Format::Edges,
        })
    }

    fn network(&self) -> &Result<Network, Vec<Problem>> {
        self.read.0.get_or_init(|| Arc::new(self.read()))
    }

    fn read(&self) -> Result<Network, Vec<Problem>> {
        let (key, name) = if self.path.is_empty() { ("text", "") } else { ("path", self.path.as_str()) };
        let refuse = |message: String, help: &str| Err(vec![Problem::new(key, message, help)]);
        match (self.text.len(), name) {
            (0, "") => return refuse("there is no network".into(), "give path or text"),
            (0, name) => return refuse(format!("{name} is empty, or was not read"), "a file with a network"),
            (BYTES_MAX.., _) => return refuse(format!("the network has over {BYTES_MAX} bytes"), "fewer"),
            _ => {}
        }
        let mut draft = draft::Draft::default();
        match self.format() {
            Format::Edges => edges::read(&self.text, &mut draft),
            Format::Graphml => graphml::read(&self.text, &mut draft),
            Format::Topo => topo::read(&self.text, &mut draft),
            Format::Hpcc => hpcc::read(&self.text, &mut draft),
        }
        draft.finish(self.concentration).map_err(|mistakes| {
            let problem = |(line, message, help): draft::Mistake| {
                let place = line.map_or(String::new(), |line| format!("line {line}: "));
                let file = if name.is_empty() { String::new() } else { format!("{name} ") };
                Problem::new(key, format!("{file}{place}{message}"), help)
            };
            mistakes.into_iter().map(problem).collect()
        })
    }
}

impl Wiring for File {
    fn hash(&self) -> Option<u64> {
        Some(crate::rng::text(&self.text))
    }

    fn link_classes(&self) -> &'static [&'static str] {
        let classes = self.network().as_ref().map_or(1, |network| network.wires.len());
        &network::class_names()[..classes]
    }

    fn wire(&self, link_class: u8) -> (Option<Rate>, Option<Duration>) {
        let network = self.network().as_ref().ok();
        network.and_then(|network| network.wires.get(usize::from(link_class)).copied()).unwrap_or_default()
    }

    fn problems(&self) -> Vec<Problem> {
        self.network().as_ref().err().cloned().unwrap_or_default()
    }

    fn counts(&self) -> (u64, u64) {
        let count =
            |network: &Network| (network.graph.endpoints.len() as u64, network.graph.switches.len() as u64);
        self.network().as_ref().map_or((0, 0), count)
    }

    fn graph(&self) -> Graph {
        self.network().as_ref().map(|network| network.graph.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
