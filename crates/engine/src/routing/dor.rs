//! Dimension-order routing on torus, mesh and HyperX.
use super::lattice::{KINDS, Lattice};
use super::phases::Phases;
use super::{Bind, Hop, Route, Router, Senses};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::Scale;

/// Dimension order: the lowest dimension first, in each the shorter way.
///
/// # What it does
/// In a torus a tie at half the size is broken at random, and a date line between the last switch and the first keeps each
/// ring free of cycles: level 0 while it is ahead of the packet, level 1 otherwise (packets that never cross it have
/// level 1 throughout, which shares the traffic more evenly than starting all at 0). Rings of up to three switches, a
/// mesh and a HyperX have one level. Parallel links are drawn at random at each hop. Nothing depends on the load.
///
/// # Paper
/// W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE Transactions on
/// Computers 36(5), 1987.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dor {}

impl Bind for Dor {
    fn topologies(&self) -> &'static [&'static str] {
        KINDS
    }

    fn router(&self, topology: &Topology, graph: &Graph, _: &Scale) -> Option<Box<dyn Router>> {
        Some(Box::new(DimensionOrder(Lattice::new(topology, graph)?)))
    }
}

/// Dimension order on a lattice.
struct DimensionOrder(Lattice);

impl Router for DimensionOrder {
    fn levels(&self, link_class: u8) -> u8 {
        self.0.levels(link_class, 1)
    }

    fn freedom(&self) -> String {
        self.0.freedom()
    }

    fn route(
        &self,
        switch: u32,
        _: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        self.0.direct(switch, dst, route, senses)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::SCALE;
    use super::*;
    use crate::rng::Stream;
    use crate::topology::Wiring;

    struct Random(Stream);

    impl Senses for Random {
        fn below(&mut self, n: u32) -> u32 {
            self.0.below(n)
        }

        fn occupancy(&mut self, _: u16) -> u32 {
            panic!("dimension order does not look at the load")
        }
    }

    #[test]
    fn ties_load_both_ways_round_alike() {
        let topology: Topology = toml::from_str("kind = 'torus'\ndims = [8]").unwrap();
        let router = Dor {}.router(&topology, &topology.graph(), &SCALE).unwrap();
        let mut senses = Random(Stream::new(1, "test", "", 0));
        let onwards = (0..10_000)
            .filter(|_| router.route(1, Some(0), 5, &mut Route::default(), &mut senses).port == 1)
            .count();
        // Four standard deviations of 10,000 fair draws.
        assert!(onwards.abs_diff(5000) < 200, "{onwards}");
    }
}
