//! Band-based queueing.
use super::{Assignment, Scheme, too_few};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::switch::parameters::Parameters;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// BBQ: bands of neighbouring destinations, of equal width, a queue each.
///
/// # What it does
///
/// Queue = ⌊destination · queues / endpoints⌋, in every virtual network (Equation 1). On a KNS network or torus in dimension order
/// xy, packets for different rows (in three dimensions, planes of z) have different queues while they cross x, so that a busy row
/// does not block the others.
///
/// # Paper
///
/// P. Yebenes and others, "BBQ: a straightforward queuing scheme to reduce HoL-blocking in high-performance hybrid networks",
/// Euro-Par 2013; P. Yebenes and others, ACM TACO 16(2), 2019, Equation 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bbq {
    /// Queues of a port in each virtual network.
    #[schemars(range(min = 1, max = 256))]
    pub queues: u32,
}

impl Default for Bbq {
    fn default() -> Self {
        Self { queues: 4 }
    }
}

/// The band that `place` of `places` is in, of `bands` of equal width.
pub(super) fn band(place: u32, places: u32, bands: u32) -> u8 {
    (u64::from(place) * u64::from(bands) / u64::from(places)) as u8
}

impl Scheme for Bbq {
    fn problems(&self, _: &Topology, _: &Parameters) -> Vec<Problem> {
        too_few(self.queues)
    }

    fn queues(&self, _: &Graph) -> u32 {
        self.queues
    }

    fn bind(&self, _: &Topology, graph: &Graph, _: &[u8]) -> Assignment {
        let (queues, endpoints) = (self.queues, graph.endpoints.len() as u32);
        Assignment::Kept(Box::new(move |_, dst, _| band(dst, endpoints, queues)))
    }

    fn comparators(&self) -> u32 {
        self.queues - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::queue;

    #[test]
    fn the_queue_of_a_destination_is_that_of_equation_1() {
        // Figure 4: 16 endpoints, 4 queues; a row each, whatever the network.
        let of =
            |dst| queue("kind = 'bbq'\nqueues = 4", "kind = 'kns'\nk = 4\nn = 2", (0, dst), (dst % 2) as u8);
        assert_eq!([0, 3, 4, 7, 8, 11, 12, 15].map(of), [0, 0, 1, 1, 2, 2, 3, 3]);
        // Rows that bands do not divide: ⌊dst · 4 / 25⌋.
        let of = |dst| queue("kind = 'bbq'\nqueues = 4", "kind = 'torus'\ndims = [5, 5]", (0, dst), 0);
        assert_eq!([0, 6, 7, 12, 13, 18, 19, 24].map(of), [0, 0, 1, 1, 2, 2, 3, 3]);
    }
}
