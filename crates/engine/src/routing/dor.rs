//! Dimension-order routing on torus, mesh and HyperX.
use super::lattice::{DATE_LINE_FROM, KINDS, Lattice};
use super::phases::Phases;
use super::{Bind, Hop, Route, Router, Senses};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::topology::Topology;
use crate::units::Scale;

/// Dimension order: the lowest dimension first, in each the shorter way.
///
/// # What it does
/// In a torus a tie at half the size is broken at random. Parallel links are drawn at random at each hop. Nothing depends on
/// the load. Rings of up to three switches, a mesh and a HyperX need one level and no more; what keeps the channels of a
/// longer ring from waiting for one another in a circle is chosen by `deadlock`. "date-line": between the last switch and
/// the first; level 0 while it is ahead of the packet, level 1 otherwise (packets that never cross it have level 1
/// throughout, which shares the traffic more evenly than starting all at 0). "bubble": one level; a packet enters a ring,
/// or turns into one, only when a largest packet more than itself fits in the first buffer of the ring (the output queue; in an
/// input-queued switch the buffer ahead), so that every ring keeps room for its packets to move on; the data
/// packets of a run must have one length, and a packet keeps to one of several parallel links while it is in a ring. "none":
/// one level and no more, which deadlocks; only with `may_deadlock`.
///
/// # Paper
/// Date line: W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
/// Transactions on Computers 36(5), 1987. Bubble: V. Puente and others, "The adaptive bubble router", Journal of Parallel
/// and Distributed Computing 61(9), 2001.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dor {
    /// What keeps rings from deadlock (default "date-line").
    pub deadlock: Deadlock,
    /// Says that a deadlock is wanted (default false): without it, "none" is refused where there are rings.
    pub may_deadlock: bool,
}

/// What keeps rings from deadlock.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Deadlock {
    /// Two levels, changed at the date line.
    #[default]
    DateLine,
    /// One level, and room for two packets where a ring is entered.
    Bubble,
    /// Nothing.
    None,
}

impl Bind for Dor {
    fn topologies(&self) -> &'static [&'static str] {
        KINDS
    }

    fn problems(&self, topology: &Topology) -> Vec<Problem> {
        let rings = matches!(topology, Topology::Torus(torus) if torus.dims.iter().any(|&size| size >= DATE_LINE_FROM));
        let dangerous = self.deadlock == Deadlock::None && rings && !self.may_deadlock;
        let help = "deadlock = \"date-line\" or \"bubble\"; or may_deadlock = true, if that is wanted";
        let problem = || Problem::new("deadlock", "the rings of this torus would deadlock", help);
        dangerous.then(problem).into_iter().collect()
    }

    fn may_deadlock(&self) -> bool {
        self.may_deadlock
    }

    fn router(&self, topology: &Topology, graph: &Graph, _: &Scale) -> Option<Box<dyn Router>> {
        let lattice = Lattice::new(topology, graph, self.deadlock == Deadlock::DateLine)?;
        Some(Box::new(DimensionOrder { lattice, deadlock: self.deadlock }))
    }
}

/// Dimension order on a lattice.
struct DimensionOrder {
    lattice: Lattice,
    deadlock: Deadlock,
}

impl Router for DimensionOrder {
    fn levels(&self, link_class: u8) -> u8 {
        self.lattice.levels(link_class, 1)
    }

    fn freedom(&self) -> String {
        let order = self.lattice.freedom();
        match self.deadlock {
            Deadlock::DateLine => order,
            Deadlock::Bubble => format!("{order}; a ring is entered only when two packets fit"),
            Deadlock::None => {
                format!("{order}; nothing keeps rings of {DATE_LINE_FROM} switches or more from deadlock")
            }
        }
    }

    fn bubbles(&self) -> bool {
        self.deadlock == Deadlock::Bubble && self.lattice.has_rings()
    }

    fn route(
        &self,
        switch: u32,
        in_port: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let hop = self.lattice.direct(switch, dst, route, senses);
        if self.bubbles() { self.lattice.bubble(in_port, hop, route) } else { hop }
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
        let router = Dor::default().router(&topology, &topology.graph(), &SCALE).unwrap();
        let mut senses = Random(Stream::new(1, "test", "", 0));
        let onwards = (0..10_000)
            .filter(|_| router.route(1, Some(0), 5, &mut Route::default(), &mut senses).port == 1)
            .count();
        // Four standard deviations of 10,000 fair draws.
        assert!(onwards.abs_diff(5000) < 200, "{onwards}");
    }
}
