//! Flow2SL.
use super::bbq::band;
use super::{Assignment, Scheme, leaves, no_tree, too_few};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::switch::parameters::Parameters;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Flow2SL: for trees, groups of neighbouring leaf switches; a queue for each difference of groups.
///
/// # What it does
///
/// The leaf switches are divided into as many groups as there are queues; queue = (source's group + destination's group)
/// modulo queues. So what a group sends to another has one queue on all its way, and what it sends to different groups has
/// different ones.
///
/// # Paper
///
/// J. Escudero-Sahuquillo and others, "A new proposal to deal with congestion in InfiniBand-based fat-trees", JPDC 74(1), 2014.
///
/// # Differences from the paper
///
/// The paper is not at hand: the table of groups is a Latin square by our reading of work that cites it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Flow2sl {
    /// Queues of a port in each virtual network.
    #[schemars(range(min = 1, max = 256))]
    pub queues: u32,
}

impl Default for Flow2sl {
    fn default() -> Self {
        Self { queues: 4 }
    }
}

impl Scheme for Flow2sl {
    fn problems(&self, topology: &Topology, _: &Parameters) -> Vec<Problem> {
        too_few(self.queues).into_iter().chain(no_tree("flow2sl", topology)).collect()
    }

    fn queues(&self, _: &Graph) -> u32 {
        self.queues
    }

    fn bind(&self, _: &Topology, graph: &Graph, _: &[u8]) -> Assignment {
        let (queues, leaves) = (self.queues, leaves(graph));
        let count = leaves.iter().max().map_or(1, |&last| last + 1);
        let groups: Vec<u32> = leaves.iter().map(|&leaf| band(leaf, count, queues).into()).collect();
        Assignment::Kept(Box::new(move |src, dst, _| {
            ((groups[src as usize] + groups[dst as usize]) % queues) as u8
        }))
    }

    fn comparators(&self) -> u32 {
        self.queues - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::queue;

    #[test]
    fn a_group_of_leaves_sends_to_each_group_by_another_queue() {
        let of = |src, dst| {
            queue("kind = 'flow2sl'\nqueues = 2", "kind = 'fat-tree'\nlevels = 2\narity = 4", (src, dst), 0)
        };
        // Leaves 0 and 1 are group 0, leaves 2 and 3 group 1.
        assert_eq!([of(0, 7), of(0, 8), of(8, 0), of(15, 8)], [0, 1, 1, 0]);
    }
}
