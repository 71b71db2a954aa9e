//! The queueing seam: which queue of a port a packet waits in, so that those that wait for one thing do not block those that
//! wait for another. One kind a file; the list of kinds is [`Queueing`].
//!
//! A queue is a virtual channel: it has a buffer and credits of its own in the port ahead, within each virtual network. Data
//! packets alone are spread over queues. Most schemes choose one at the source, which a packet keeps; that costs nothing on the
//! way. Whether an input without free outputs for its first packet may send others of the same queue (virtual output queues at the
//! crossbar, `switch.voq`) and whether queues share a port's memory (`switch.input_buffer`) is up to the switch.
use crate::graph::Graph;
use crate::problem::Problem;
use crate::switch::parameters::Parameters;
use crate::topology::Topology;

pub mod bbq;
pub mod damq;
pub mod dbbm;
pub mod dbbq;
pub mod flow2sl;
pub mod single;
pub mod vftree;
pub mod voqnet;
pub mod voqsw;

/// What every kind of queueing provides.
pub trait Scheme {
    /// Mistakes in the parameters, on this topology and switch; paths are relative to `queueing`.
    fn problems(&self, _topology: &Topology, _switch: &Parameters) -> Vec<Problem> {
        Vec::new()
    }
    /// Queues of a port in each virtual network, on a network of this graph.
    fn queues(&self, graph: &Graph) -> u32;
    /// How packets find their queues; `first` tells the dimension that they cross first, by virtual network.
    fn bind(&self, topology: &Topology, graph: &Graph, first: &[u8]) -> Assignment;
    /// Comparisons with constants that an output makes to find the queue of a packet, for the cost model: the limits between
    /// bands; digits of an address cost none.
    fn comparators(&self) -> u32 {
        0
    }
}

/// How packets find their queues.
pub enum Assignment {
    /// There is one queue.
    Single,
    /// Chosen at the source by (source, destination, virtual network), and kept.
    Kept(Box<dyn Fn(u32, u32, u8) -> u8 + Send + Sync>),
    /// By the output port that the packet will take in the switch where it waits, modulo the number of queues.
    Port(u32),
}

crate::kinds::kinds! {
    /// `[queueing]`: the list of kinds, one line each.
    pub enum Queueing by "kind" {
        Single(single::Single) = "single",
        Voqsw(voqsw::Voqsw) = "voqsw",
        Voqnet(voqnet::Voqnet) = "voqnet",
        Dbbm(dbbm::Dbbm) = "dbbm",
        Bbq(bbq::Bbq) = "bbq",
        Dbbq(dbbq::Dbbq) = "dbbq",
        Damq(damq::Damq) = "damq",
        Flow2sl(flow2sl::Flow2sl) = "flow2sl",
        Vftree(vftree::Vftree) = "vftree",
    }
    /// What the queueing provides, whichever kind it is.
    pub fn scheme -> dyn Scheme;
}

impl Default for Queueing {
    fn default() -> Self {
        Self::Single(single::Single {})
    }
}

/// The problem of a number of queues that is not possible, if it is not.
fn too_few(queues: u32) -> Vec<Problem> {
    let problem = || Problem::new("queues", "a port has at least one queue", "1 or more");
    (queues == 0).then(problem).into_iter().collect()
}

/// The leaf switch of every endpoint, from 0 in order; of a tree.
fn leaves(graph: &Graph) -> Vec<u32> {
    graph.endpoints.iter().map(|&(switch, _)| switch).collect()
}

/// The problem of a scheme that is made for trees on another network, if it is one.
fn no_tree(kind: &str, topology: &Topology) -> Vec<Problem> {
    let message = format!("\"{kind}\" is made for trees, and a {} is none", topology.kind());
    let problem = || {
        Problem::new(
            "kind",
            message,
            "fat-tree, xgft or k-ary-n-tree; on any network: dbbm, bbq, voqsw, voqnet",
        )
    };
    let is_tree = matches!(topology, Topology::FatTree(_) | Topology::Xgft(_) | Topology::KAryNTree(_));
    (!is_tree).then(problem).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The queue of a packet in a network.
    pub(super) fn queue(text: &str, topology: &str, (src, dst): (u32, u32), network: u8) -> u8 {
        let scheme: Queueing = toml::from_str(text).unwrap();
        let topology: Topology = toml::from_str(topology).unwrap();
        match scheme.scheme().bind(&topology, &topology.wiring().graph(), &[0, 1]) {
            Assignment::Kept(choose) => choose(src, dst, network),
            Assignment::Single | Assignment::Port(_) => panic!("no queue is chosen at the source"),
        }
    }

    #[test]
    fn every_kind_keeps_within_its_queues() {
        let tree: Topology = toml::from_str("kind = 'fat-tree'\nlevels = 2\narity = 4").unwrap();
        let kns: Topology = toml::from_str("kind = 'kns'\nk = 5\nn = 2").unwrap();
        for kind in Queueing::KINDS {
            let scheme: Queueing = toml::from_str(&format!("kind = '{kind}'")).unwrap();
            let topology = if ["flow2sl", "vftree"].contains(kind) { &tree } else { &kns };
            let graph = topology.wiring().graph();
            let count = scheme.scheme().queues(&graph);
            let all = graph.endpoints.len() as u32;
            let Assignment::Kept(choose) = scheme.scheme().bind(topology, &graph, &[0, 1]) else { continue };
            let mut used = std::collections::BTreeSet::new();
            for (src, dst) in (0..all).flat_map(|src| (0..all).map(move |dst| (src, dst))) {
                used.extend([0, 1].map(|network| choose(src, dst, network)));
            }
            assert_eq!(
                used.into_iter().map(u32::from).collect::<Vec<_>>(),
                (0..count).collect::<Vec<_>>(),
                "{kind}"
            );
        }
    }
}
