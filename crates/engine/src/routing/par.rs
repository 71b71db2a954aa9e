//! PAR-6/2: progressive adaptive routing on a dragonfly.
use super::dragonfly::{Geometry, WEIGHTS};
use super::{Bind, Hop, Minimality, Route, Router, Senses, diverts, flits};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::{Scale, Size};

/// Minimal or Valiant, decided anew in every switch of the source group, with local detours in the other groups.
///
/// # What it does
///
/// Source group: every switch before the global hop compares the port of the minimal path with that of one random
/// Valiant link: minimal if `q_min ≤ 2·q_val + threshold`; once Valiant, it stays so. The packet may thus go to the
/// minimal gateway first and to another one from there. Intermediate and destination group (which the source group is
/// for traffic inside it): a local hop may be replaced by two, over a random third switch, by the same comparison. Levels
/// only rise: a global channel's is the global hops taken (0, 1), a local channel's is twice that and the local hops taken
/// in this group (0 to 5): 6 local and 2 global. A port's occupancy is looked at only if it can change the decision.
/// Among parallel global links the minimal one is drawn in the first switch of a group.
///
/// # Paper
///
/// M. Garcia, E. Vallejo, R. Beivide, M. Odriozola, M. Valero, "Efficient routing mechanisms for dragonfly networks",
/// ICPP 2013; N. Jiang, J. Kim, W. Dally, "Indirect adaptive routing on large scale interconnection networks", ISCA
/// 2009. Used by N. Jiang, L. Dennison, W. Dally, "Network endpoint congestion control for fine-grained communication",
/// SC 2015, section 4.
///
/// # Differences from the paper
///
/// The SC 2015 paper gives neither the comparison nor its threshold; they are ours.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Par {
    /// What the minimal port's occupancy may exceed twice the other's by (default "1 packet", of the largest size: 24 flits in SC 2015).
    pub threshold: Size,
}

impl Default for Par {
    fn default() -> Self {
        Self { threshold: Size::Packets(1) }
    }
}

impl Bind for Par {
    fn topologies(&self) -> &'static [&'static str] {
        &["dragonfly"]
    }

    fn minimality(&self) -> Minimality {
        Minimality::NonMinimal
    }

    fn goes_round(&self, _: &Topology) -> bool {
        true
    }

    fn senses_load(&self) -> bool {
        true
    }

    fn router(&self, topology: &Topology, graph: &Graph, scale: &Scale) -> Option<Box<dyn Router>> {
        let Topology::Dragonfly(of) = topology else { return None };
        let geometry = Geometry::new(of, graph);
        Some(Box::new(DragonflyPar { geometry, threshold: flits(self.threshold, scale) }))
    }
}

/// PAR-6/2 on a dragonfly.
struct DragonflyPar {
    geometry: Geometry,
    threshold: u64,
}

impl DragonflyPar {
    /// The local port to take from the switch of index `from` to that of index `to`, directly or by a third switch.
    fn local_port(&self, from: u32, to: u32, senses: &mut dyn Senses) -> u16 {
        let geometry = &self.geometry;
        let port = geometry.local_port(from, to);
        if geometry.a < 3 {
            return port;
        }
        let direct = senses.occupancy(port);
        if u64::from(direct) <= self.threshold {
            return port;
        }
        // One of the others: skip the lower, then the higher of the two.
        let mut third = senses.below(geometry.a - 2);
        third += u32::from(third >= from.min(to));
        third += u32::from(third >= from.max(to));
        let other = geometry.local_port(from, third);
        if diverts(direct, senses.occupancy(other), WEIGHTS, self.threshold) { other } else { port }
    }
}

impl Router for DragonflyPar {
    fn reaches(&self, switch: u32, dst: u32) -> bool {
        self.geometry.reaches(switch, dst)
    }

    fn levels(&self, link_class: u8) -> u16 {
        self.geometry.levels(link_class, 2, 2)
    }

    fn route(
        &self,
        switch: u32,
        _: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let geometry = &self.geometry;
        let seat = geometry.seat(dst);
        if switch == seat.switch {
            return Hop { port: seat.port, level: 0 };
        }
        let (group, index) = geometry.place(switch);
        let arrived = group == seat.group;
        if !arrived {
            if route.via == 0 {
                route.via = geometry.link(group, seat.group, senses) + 1;
            }
            if route.global_hops() == 0 && !route.diverted() {
                geometry.reconsider((group, index), seat.group, self.threshold, route, senses);
            }
        }
        let to = if arrived { seat.index } else { geometry.gateway(route.via - 1) };
        if !arrived && to == index {
            return geometry.leave(route.via - 1, route);
        }
        // A packet that leaves its source group makes its detours there by the choice of the link.
        let may_detour = route.local_hops() == 0 && (arrived || route.global_hops() > 0);
        let port =
            if may_detour { self.local_port(index, to, senses) } else { geometry.local_port(index, to) };
        let level = 2 * route.global_hops() + route.local_hops();
        route.take_local();
        Hop { port, level }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE};
    use super::*;

    /// A router on 5 groups of 4 switches; switch ports: endpoint 0, local 1 to 3, global 4.
    fn router(packet_flits: u64) -> Box<dyn Router> {
        let topology: Topology =
            toml::from_str("kind = 'dragonfly'\np = 1\na = 4\nh = 1\ngroups = 5").unwrap();
        let scale = Scale { packet_flits, ..SCALE };
        Par::default().router(&topology, &topology.wiring().graph(), &scale).unwrap()
    }

    fn hop(switch: u32, dst: u32, route: &mut Route, draws: &[u32], occupied: &[(u16, u32)]) -> (u16, u8) {
        with_packets(24, (switch, dst), route, draws, occupied)
    }

    /// Where the largest packet has so many flits.
    fn with_packets(
        flits: u64,
        (switch, dst): (u32, u32),
        route: &mut Route,
        draws: &[u32],
        occupied: &[(u16, u32)],
    ) -> (u16, u8) {
        let mut senses = Fixed { draws: draws.iter().copied().collect(), ..Fixed::default() };
        senses.occupied = occupied.iter().copied().collect();
        let hop = router(flits).route(switch, Some(0), dst, route, &mut senses);
        assert!(senses.draws.is_empty());
        (hop.port, hop.level)
    }

    #[test]
    fn it_has_six_local_and_two_global_levels() {
        assert_eq!([0, 1, 2].map(|class| router(24).levels(class)), [1, 6, 2]);
    }

    #[test]
    fn the_gateway_decides_again_and_the_levels_rise() {
        let mut route = Route::default();
        // From switch 0 of group 0 to group 2: gateway is switch 1, by local port 1; quiet, so minimal.
        assert_eq!(hop(0, 8, &mut route, &[], &[(1, 24)]), (1, 0));
        // The gateway's global port is full: link 3 (draw 2 skips the minimal link 1), whose gateway is switch 3.
        assert_eq!(hop(1, 8, &mut route, &[2], &[(4, 25)]), (3, 1));
        assert!(route.diverted());
        // There it must go on, however full the port is.
        assert_eq!(hop(3, 8, &mut route, &[], &[(4, 99)]), (4, 0));
        assert_eq!((route.global_hops(), route.local_hops(), route.via), (1, 0, 0));
    }

    #[test]
    fn a_local_hop_in_the_destination_group_is_replaced_by_two_at_most_once() {
        let mut route = Route { state: 4, ..Route::default() };
        // One global hop taken, from switch 0 to switch 3: directly by port 3, or by switch 2 (draw 1).
        assert_eq!(hop(0, 3, &mut route, &[1], &[(3, 25)]), (2, 2));
        assert_eq!(hop(2, 3, &mut route, &[], &[(3, 99)]), (3, 3));
    }

    #[test]
    fn the_minimal_way_is_kept_while_it_holds_no_more_than_twice_the_other_and_the_threshold() {
        let mut route = Route::default();
        assert_eq!(hop(0, 8, &mut route, &[0], &[(1, 44), (4, 10)]), (1, 0));
        assert!(!route.diverted());
        let mut route = Route::default();
        assert_eq!(hop(0, 8, &mut route, &[0], &[(1, 45), (4, 10)]), (4, 0));
        assert_eq!(route.global_hops(), 1);
    }

    #[test]
    fn the_threshold_is_a_largest_packet() {
        for (occupancy, draws, port) in [(64, vec![], 1), (65, vec![0], 4)] {
            let mut route = Route::default();
            assert_eq!(with_packets(64, (0, 8), &mut route, &draws, &[(1, occupancy)]).0, port);
        }
    }
}
