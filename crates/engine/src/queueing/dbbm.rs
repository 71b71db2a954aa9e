//! Destination-based buffer management.
use super::{Assignment, Scheme, too_few};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::switch::parameters::Parameters;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// DBBM: the destination modulo the number of queues.
///
/// # What it does
///
/// Spreads the destinations evenly over the queues, whatever the network and its routing.
///
/// # Paper
///
/// T. Nachiondo, J. Flich, J. Duato, "Buffer management strategies to reduce HoL blocking", IEEE Transactions on Parallel and
/// Distributed Systems 21(6), 2010.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dbbm {
    /// Queues of a port in each virtual network.
    #[schemars(range(min = 1, max = 256))]
    pub queues: u32,
}

impl Default for Dbbm {
    fn default() -> Self {
        Self { queues: 4 }
    }
}

impl Scheme for Dbbm {
    fn problems(&self, _: &Topology, _: &Parameters) -> Vec<Problem> {
        too_few(self.queues)
    }

    fn queues(&self, _: &Graph) -> u32 {
        self.queues
    }

    fn bind(&self, _: &Topology, _: &Graph, _: &[u8]) -> Assignment {
        let queues = self.queues;
        Assignment::Kept(Box::new(move |_, dst, _| (dst % queues) as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::queue;

    #[test]
    fn destinations_take_the_queues_in_turn() {
        let of =
            |dst| queue("kind = 'dbbm'\nqueues = 4", "kind = 'single-switch'\nendpoints = 10", (0, dst), 0);
        assert_eq!([0, 1, 3, 4, 9].map(of), [0, 1, 3, 0, 1]);
    }
}
