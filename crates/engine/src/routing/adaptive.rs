//! Minimal adaptive routing with an escape channel, on torus, mesh and HyperX.
use super::dor::Ordered;
use super::lattice::{KINDS, Lattice};
use super::least::Least;
use super::phases::Phases;
use super::{Bind, Hop, Route, Router, Senses};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::Scale;

/// Along any dimension that brings the packet nearer, the least occupied first; dimension order where there is no room.
///
/// # What it does
///
/// A switch looks at all ports that lead one link nearer to the destination. Where a largest packet fits ahead on the
/// adaptive level, with all that was promised before, the least occupied of these ports is taken (of equals one at random)
/// and the room is set aside for the packet at once: so nothing ever waits for a buffer of the adaptive level. Where none has
/// room, the packet takes the escape levels, which are those of `dor` with a date line, for this hop; at the next switch
/// it may be adaptive again. Packets that switches make take the escape levels in their first switch. Deadlock-free, since
/// every packet may always take the escape levels, whose channels make no cycle. Levels: those of `dor`, and one.
///
/// # Paper
///
/// J. Duato, "A necessary and sufficient condition for deadlock-free routing in cut-through and store-and-forward networks",
/// IEEE Transactions on Parallel and Distributed Systems 7(8), 1996.
///
/// # Differences from the paper
///
/// There, a packet that waits looks at all its channels again and again; here it decides once, on arrival, so it does not
/// wait for an adaptive channel at all.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Adaptive {}

impl Bind for Adaptive {
    fn topologies(&self) -> &'static [&'static str] {
        KINDS
    }

    fn senses_load(&self) -> bool {
        true
    }

    fn router(&self, topology: &Topology, graph: &Graph, scale: &Scale) -> Option<Box<dyn Router>> {
        let lattice = Lattice::new(topology, graph, true)?;
        let classes = topology.wiring().link_classes().len() as u8;
        let escape = (0..classes).map(|class| lattice.levels(class, 1)).max().unwrap_or(1) as u8;
        Some(Box::new(Escaping { lattice, escape, packet: scale.packet_flits as u32 }))
    }
}

/// Minimal adaptive routing on a lattice.
struct Escaping {
    lattice: Lattice,
    /// Escape levels, which is the number of the adaptive level.
    escape: u8,
    /// Flits of a largest packet.
    packet: u32,
}

impl Escaping {
    /// The least occupied of the ports that lead nearer and have room.
    fn adaptive(&self, switch: u32, last: u32, senses: &mut dyn Senses) -> Option<Hop> {
        let mut least = Least::new();
        self.lattice.each_nearer(switch, last, &mut |port| {
            if senses.room(port, self.escape) >= self.packet {
                let occupancy = senses.occupancy(port);
                least.offer(port, occupancy.into(), senses);
            }
        });
        least.best().map(|(port, _)| Hop { port, level: self.escape })
    }
}

impl Router for Escaping {
    fn levels(&self, link_class: u8) -> u16 {
        if link_class == 0 { 1 } else { u16::from(self.escape) + 1 }
    }

    fn freedom(&self) -> String {
        let escape = self.lattice.freedom();
        format!("level {} is taken only where there is room; else, {escape}", self.escape)
    }

    fn reserved_level(&self) -> Option<u8> {
        Some(self.escape)
    }

    fn minds_input(&self) -> bool {
        true
    }

    fn route(
        &self,
        switch: u32,
        in_port: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let (last, _) = self.lattice.seat(dst);
        let adaptive = if in_port.is_some() { self.adaptive(switch, last, senses) } else { None };
        adaptive.unwrap_or_else(|| self.lattice.direct(switch, dst, route, senses))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE};
    use super::*;

    /// The first hop from (0, 0) to (2, 1) on a mesh: port 1 leads along x, port 3 along y.
    fn hop(draws: &[u32], roomy: &[(u16, u32)], occupied: &[(u16, u32)], in_port: Option<u16>) -> (u16, u8) {
        let topology: Topology = toml::from_str("kind = 'mesh'\ndims = [3, 3]").unwrap();
        let router = Adaptive {}.router(&topology, &topology.wiring().graph(), &SCALE).unwrap();
        let mut senses = Fixed { draws: draws.iter().copied().collect(), ..Fixed::default() };
        senses.occupied = occupied.iter().copied().collect();
        senses.room = roomy.iter().copied().collect();
        let hop = router.route(0, in_port, 5, &mut Route::default(), &mut senses);
        assert!(senses.draws.is_empty());
        (hop.port, hop.level)
    }

    #[test]
    fn the_least_occupied_port_with_room_is_taken_else_the_escape() {
        assert_eq!(hop(&[], &[(1, 24), (3, 24)], &[(1, 9)], Some(0)), (3, 1));
        assert_eq!(hop(&[], &[(1, 24), (3, 24)], &[(3, 9)], Some(0)), (1, 1));
        assert_eq!(hop(&[0], &[(1, 24), (3, 24)], &[], Some(0)), (3, 1));
        assert_eq!(hop(&[1], &[(1, 24), (3, 24)], &[], Some(0)), (1, 1));
        assert_eq!(hop(&[], &[(1, 23), (3, 24)], &[(3, 99)], Some(0)), (3, 1));
        assert_eq!(hop(&[], &[(1, 23), (3, 23)], &[(1, 99)], Some(0)), (1, 0));
        assert_eq!(hop(&[], &[(1, 24), (3, 24)], &[], None), (1, 0));
    }
}
