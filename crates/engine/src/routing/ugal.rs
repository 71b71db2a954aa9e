//! UGAL-L: minimal or Valiant, whichever looks shorter from the first switch.
use super::dragonfly::Geometry;
use super::lattice::Lattice;
use super::paths::{Choose, Deadlock, Paths};
use super::phases::Phases;
use super::{Bind, Hop, Minimality, Route, Router, Senses, diverts, flits};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::{Scale, Size};

/// Minimal or Valiant, decided once, in the first switch, by the occupancy of its own ports.
///
/// # What it does
///
/// Dragonfly: the first switch of a packet for another group draws one minimal link and one Valiant link, and compares
/// the ports they begin with: minimal if `q_min ≤ 2·q_val + threshold`. The occupancy q is what waits for the port in
/// this switch; the weight 2 is the ratio of the hop counts, a Valiant path being two minimal ones. The occupancy of
/// the Valiant port is looked at only if q_min is over the threshold. The decision stands. Traffic inside a group goes
/// minimally. Levels: global hops taken, 3 local and 2 global.
/// Torus, mesh, HyperX, file: the first switch of a packet for another switch compares the minimal way with the way over one
/// random switch: minimal if `q_min·h_min ≤ q_val·h_val + threshold·h_min`, with the hops h of the two ways. Levels: those
/// of `valiant`.
///
/// # Paper
///
/// A. Singh, "Load-balanced routing in interconnection networks", PhD thesis, Stanford 2005; on a dragonfly (UGAL-L): J.
/// Kim and others, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, section 4.
///
/// # Differences from the paper
///
/// The thesis has no threshold; ours is that of `par`, so that the two differ only in where they decide.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ugal {
    /// What the minimal port's occupancy may exceed twice the other's by (default "1 packet", of the largest size, as in `par`).
    pub threshold: Size,
}

impl Default for Ugal {
    fn default() -> Self {
        Self { threshold: Size::Packets(1) }
    }
}

impl Bind for Ugal {
    fn topologies(&self) -> &'static [&'static str] {
        &["dragonfly", "torus", "mesh", "hyperx", "file"]
    }

    fn goes_round(&self, topology: &Topology) -> bool {
        matches!(topology, Topology::Dragonfly(_) | Topology::File(_))
    }

    fn minimality(&self) -> Minimality {
        Minimality::NonMinimal
    }

    fn senses_load(&self) -> bool {
        true
    }

    fn router(&self, topology: &Topology, graph: &Graph, scale: &Scale) -> Option<Box<dyn Router>> {
        let threshold = flits(self.threshold, scale);
        match topology {
            Topology::Dragonfly(of) => {
                Some(Box::new(DragonflyUgal { geometry: Geometry::new(of, graph), threshold }))
            }
            Topology::File(_) => {
                let ways = Paths::new(graph, Deadlock::Hops, Choose::Random);
                Some(Box::new(PhasedUgal { ways, threshold }))
            }
            _ => Some(Box::new(PhasedUgal { ways: Lattice::new(topology, graph, true)?, threshold })),
        }
    }
}

/// UGAL-L on a dragonfly.
struct DragonflyUgal {
    geometry: Geometry,
    threshold: u64,
}

impl DragonflyUgal {
    /// Chooses the link to head for, in the first switch of a packet for another group.
    fn choose(&self, switch: u32, to: u32, route: &mut Route, senses: &mut dyn Senses) {
        let geometry = &self.geometry;
        let (group, index) = geometry.place(switch);
        if group == to {
            return;
        }
        route.via = geometry.link(group, to, senses) + 1;
        geometry.reconsider((group, index), to, self.threshold, route, senses);
    }
}

impl Router for DragonflyUgal {
    fn reaches(&self, switch: u32, dst: u32) -> bool {
        self.geometry.reaches(switch, dst)
    }

    fn levels(&self, link_class: u8) -> u16 {
        self.geometry.levels(link_class, 2, 1)
    }

    fn route(
        &self,
        switch: u32,
        _: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        // No link and no global hop yet: this is the first switch, or the packet stays in its group.
        if route.via == 0 && route.state == 0 {
            self.choose(switch, self.geometry.seat(dst).group, route, senses);
        }
        self.geometry.direct(switch, dst, route, senses)
    }
}

/// UGAL-L where Valiant leads over a random switch.
struct PhasedUgal<P> {
    ways: P,
    threshold: u64,
}

impl<P: Phases> PhasedUgal<P> {
    /// The first hop of a packet for another switch; notes the intermediate switch if it takes one.
    fn choose(
        &self,
        (switch, last): (u32, u32),
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let (ways, before) = (&self.ways, *route);
        let direct = ways.next((switch, last), dst, 0, route, senses);
        let minimal = senses.occupancy(direct.port);
        if u64::from(minimal) <= self.threshold {
            return direct;
        }
        let Some(via) = ways.intermediate(switch, last, senses) else { return direct };
        let mut other = Route { via: via + 1, ..before };
        let detour = ways.next((switch, via), dst, 0, &mut other, senses);
        let hops = (ways.distance(switch, last), ways.distance(switch, via) + ways.distance(via, last));
        if !diverts(minimal, senses.occupancy(detour.port), hops, self.threshold) {
            return direct;
        }
        *route = other;
        detour
    }
}

impl<P: Phases> Router for PhasedUgal<P> {
    fn reaches(&self, switch: u32, dst: u32) -> bool {
        self.ways.reaches(switch, dst)
    }

    fn levels(&self, link_class: u8) -> u16 {
        self.ways.levels(link_class, 2)
    }

    fn route(
        &self,
        switch: u32,
        _: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let (last, _) = self.ways.seat(dst);
        if self.ways.is_first(route) && switch != last {
            return self.choose((switch, last), dst, route, senses);
        }
        self.ways.by_way(switch, dst, route, senses)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE, follow};
    use super::*;

    /// Switches left by a packet from group 0 to group 1 (both switch 0) of a 5-group dragonfly whose port 4, the
    /// global port to group 1, and port 1, the local port to the gateway of group 2, are filled.
    fn hops(minimal: u32, detour: u32, draws: &[u32]) -> (usize, usize) {
        let topology: Topology =
            toml::from_str("kind = 'dragonfly'\np = 1\na = 4\nh = 1\ngroups = 5").unwrap();
        let graph = topology.wiring().graph();
        let router = Ugal::default().router(&topology, &graph, &SCALE).unwrap();
        let mut senses = Fixed { draws: draws.iter().copied().collect(), ..Fixed::default() };
        senses.occupied = [(4, minimal), (1, detour)].into();
        let hops = follow(&graph, &*router, 0, 4, &mut senses).len();
        assert!(senses.draws.is_empty());
        (hops, senses.sensed.len())
    }

    #[test]
    fn minimal_up_to_the_threshold_without_looking_further() {
        assert_eq!(hops(24, 0, &[]), (2, 1));
    }

    #[test]
    fn the_threshold_is_a_largest_packet() {
        let topology: Topology = toml::from_str("kind = 'hyperx'\ndims = [4]").unwrap();
        let graph = topology.wiring().graph();
        let router = Ugal::default().router(&topology, &graph, &Scale { packet_flits: 64, ..SCALE }).unwrap();
        // From switch 0 to 1 by port 1, or over another switch.
        for (minimal, hops, draws) in [(64, 2, vec![]), (65, 3, vec![0])] {
            let occupied = [(1, minimal)].into();
            let mut senses = Fixed { draws: draws.into(), occupied, ..Fixed::default() };
            assert_eq!(follow(&graph, &*router, 0, 1, &mut senses).len(), hops);
        }
    }

    #[test]
    fn valiant_when_the_minimal_port_holds_more_than_twice_the_other_and_the_threshold() {
        assert_eq!(hops(44, 10, &[0]), (2, 2));
        // Local to the gateway of group 2, global, local, global, local, out.
        assert_eq!(hops(45, 10, &[0]), (6, 2));
    }

    #[test]
    fn on_a_lattice_the_occupancies_are_weighted_by_the_hops_of_both_ways() {
        let topology: Topology = toml::from_str("kind = 'hyperx'\ndims = [4]").unwrap();
        let graph = topology.wiring().graph();
        let router = Ugal::default().router(&topology, &graph, &SCALE).unwrap();
        // From switch 0 to 1, one hop by port 1; or by switch 2, two hops, the first by port 2.
        for (minimal, hops) in [(44, 2), (45, 3)] {
            let occupied = [(1, minimal), (2, 10)].into();
            let mut senses = Fixed { draws: [0].into(), occupied, ..Fixed::default() };
            assert_eq!(follow(&graph, &*router, 0, 1, &mut senses).len(), hops);
        }
    }
}
