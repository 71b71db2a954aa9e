//! Dynamic band-based queueing.
use super::bbq::band;
use super::{Assignment, Scheme, too_few};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::switch::parameters::Parameters;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// DBBQ: bands of rows for packets that cross rows first, of columns for the others.
///
/// # What it does
///
/// With orders xy and yx of the dimensions, in virtual networks of their own (`routing.orders`), packets that cross a row first
/// are told apart by their destination's row (in three dimensions, its plane of z), those that cross a column first by its column:
/// queue = ⌊destination · queues / endpoints⌋ in networks whose order begins with x (Equation 2), ⌊x · queues / k⌋ in the others,
/// where x is the destination's place among the k of the first dimension (Equation 3). The upper half of a port's queues is
/// network 2's. With the ascending order alone it is `bbq`.
///
/// # Paper
///
/// P. Yebenes and others, "Combining source-adaptive and oblivious routing with congestion control in high-performance
/// interconnects using hybrid and direct topologies", ACM TACO 16(2), 2019, Equations 2 and 3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dbbq {
    /// Queues of a port in each virtual network.
    #[schemars(range(min = 1, max = 256))]
    pub queues: u32,
}

impl Default for Dbbq {
    fn default() -> Self {
        Self { queues: 2 }
    }
}

/// Switches along the first dimension, and endpoints a switch; none if the network has no dimensions.
fn columns(topology: &Topology) -> Option<(u32, u32)> {
    let of = match topology {
        Topology::Torus(torus) => torus.lattice(),
        Topology::Mesh(mesh) => mesh.lattice(),
        Topology::Hyperx(hyperx) => hyperx.lattice(),
        Topology::Kns(kns) => return Some((kns.k, 1)),
        _ => return None,
    };
    Some((*of.dims.first()?, of.concentration))
}

impl Scheme for Dbbq {
    fn problems(&self, topology: &Topology, _: &Parameters) -> Vec<Problem> {
        let mut problems = too_few(self.queues);
        if columns(topology).is_none() {
            let message = format!("\"dbbq\" knows no rows and columns of a {}", topology.kind());
            problems.push(Problem::new("kind", message, "kns, torus, mesh or hyperx; or kind = \"bbq\""));
        }
        problems
    }

    fn queues(&self, _: &Graph) -> u32 {
        self.queues
    }

    fn bind(&self, topology: &Topology, graph: &Graph, first: &[u8]) -> Assignment {
        let (queues, endpoints) = (self.queues, graph.endpoints.len() as u32);
        let (columns, each) = columns(topology).unwrap_or((endpoints, 1));
        let rows: Vec<bool> = first.iter().map(|&dimension| dimension == 0).collect();
        Assignment::Kept(Box::new(move |_, dst, network| {
            if rows[usize::from(network)] {
                band(dst, endpoints, queues)
            } else {
                band(dst / each % columns, columns, queues)
            }
        }))
    }

    fn comparators(&self) -> u32 {
        self.queues - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::queue;
    use super::*;

    const TWO: &str = "kind = 'dbbq'\nqueues = 2";

    #[test]
    fn the_queue_of_a_destination_is_that_of_equations_2_and_3() {
        // Figure 3: 16 endpoints, two horizontal bands in network 1, two vertical ones in network 2.
        let of = |dst, network| queue(TWO, "kind = 'kns'\nk = 4\nn = 2", (0, dst), network);
        assert_eq!([0, 3, 7, 8, 12, 15].map(|dst| of(dst, 0)), [0, 0, 0, 1, 1, 1]);
        assert_eq!([0, 1, 2, 3, 4, 6, 13, 15].map(|dst| of(dst, 1)), [0, 0, 1, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn bands_of_three_dimensions_are_planes() {
        let of = |dst, network| queue(TWO, "kind = 'torus'\ndims = [4, 4, 4]", (0, dst), network);
        // Endpoint 37 is at (1, 1, 2), endpoint 31 at (3, 3, 1).
        assert_eq!([of(37, 0), of(37, 1), of(31, 0), of(31, 1)], [1, 0, 0, 1]);
    }

    #[test]
    fn bands_follow_the_order_whatever_the_number_of_its_network() {
        let rows = |orders: &str| {
            let routing: crate::routing::Routing =
                toml::from_str(&format!("kind = 'dor'\norders = {orders}")).unwrap();
            let topology: Topology = toml::from_str("kind = 'kns'\nk = 4\nn = 2").unwrap();
            let (graph, scale) = (
                topology.wiring().graph(),
                crate::units::Scale { flit_bits: 1, packet_flits: 1, host: crate::units::Rate(1) },
            );
            let router = routing.bind(&topology, &graph, &scale).unwrap();
            let Assignment::Kept(choose) =
                Dbbq::default().bind(&topology, &graph, &router.first_dimensions())
            else {
                panic!("dbbq chooses at the source")
            };
            // Endpoint 3 is in the upper row, on the right.
            (0..router.networks()).map(|network| choose(0, 3, network)).collect::<Vec<_>>()
        };
        assert_eq!([rows("['xy', 'yx']"), rows("['yx', 'xy']")], [[0, 1], [1, 0]]);
        assert_eq!([rows("['xy']"), rows("['yx']")], [[0], [1]]);
    }
}
