//! vFtree.
use super::{Assignment, Scheme, leaves, no_tree, too_few};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::switch::parameters::Parameters;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// vFtree: for trees, a queue by the pair of leaf switches.
///
/// # What it does
///
/// Queue = (source's leaf switch + destination's leaf switch) modulo queues: what a leaf switch sends to those beside each other
/// is spread over all queues of a link that it shares.
///
/// # Paper
///
/// W. Guay and others, "vFtree: a fat-tree routing algorithm using virtual lanes to alleviate congestion", IPDPS 2011.
///
/// # Differences from the paper
///
/// The paper is not at hand: lanes are given to pairs of leaf switches, as its patent has it (US 9325619), by their sum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Vftree {
    /// Queues of a port in each virtual network.
    #[schemars(range(min = 1, max = 256))]
    pub queues: u32,
}

impl Default for Vftree {
    fn default() -> Self {
        Self { queues: 2 }
    }
}

impl Scheme for Vftree {
    fn problems(&self, topology: &Topology, _: &Parameters) -> Vec<Problem> {
        too_few(self.queues).into_iter().chain(no_tree("vftree", topology)).collect()
    }

    fn queues(&self, _: &Graph) -> u32 {
        self.queues
    }

    fn bind(&self, _: &Topology, graph: &Graph, _: &[u8]) -> Assignment {
        let (queues, leaves) = (self.queues, leaves(graph));
        Assignment::Kept(Box::new(move |src, dst, _| {
            ((leaves[src as usize] + leaves[dst as usize]) % queues) as u8
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::queue;

    #[test]
    fn pairs_of_leaf_switches_take_the_queues_in_turn() {
        let of = |src, dst| {
            queue("kind = 'vftree'\nqueues = 2", "kind = 'fat-tree'\nlevels = 2\narity = 4", (src, dst), 0)
        };
        assert_eq!([of(0, 5), of(0, 9), of(5, 0), of(5, 9)], [1, 0, 1, 1]);
    }
}
