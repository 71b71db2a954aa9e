//! UGAL as the router model Merlin of SST defines it.
use super::dragonfly::Geometry;
use super::least::Least;
use super::{Bind, Hop, Minimality, Route, Router, Senses, flits};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::{Scale, Size};

/// UGAL of a dragonfly as the simulator SST defines it (Merlin, `ugal`), beside our own `ugal`.
///
/// # What it does
///
/// The first switch draws an intermediate group, and weighs all links to the destination's group and all to that one. A
/// link weighs the queue q of the packet's virtual channel at the port that leads there, on the direct way `q`, else
/// `2·q + bias`; the least is taken, of equals one at random. Links between two groups are numbered; a packet that takes a
/// local hop to its link's switch compares there the links *of that number* to both groups again, if both begin there, and
/// else takes the one that does. In the intermediate group it weighs all links to the destination's group, those of other
/// switches twice. Inside a group: directly if `q ≤ 2·q' + bias`, where q' is for a random switch of the group, else by way of
/// that one. Levels: global hops taken, and 2 for the second hop inside a group: 3 local and 2 global.
///
/// # Paper
///
/// The algorithm: A. Singh, "Load-balanced routing in interconnection networks", PhD thesis, Stanford 2005. The definition: SST
/// elements, `merlin/topology/dragonfly.cc`: `topo_dragonfly::process_input` draws, `route_ugal` decides; the lengths of queues are
/// kept in `merlin/interfaces/portControl.cc` (`oql_track_port` and `oql_track_remote` off, their default).
/// Used by N. McGlohon and others, "Exploration of congestion control techniques on dragonfly-class HPC networks through
/// simulation", PMBS 2021.
///
/// # Differences from the paper
///
/// Those between `ugal` and this kind: `ugal` draws one link of each kind, looks at all that waits for a port, decides once, and
/// keeps traffic inside a group on its direct way. Merlin decides when a packet becomes the first of its input queue, here it is
/// on arrival. In a switch without output queues, all that waits for the port counts. With a queueing that Merlin does not have, by which a
/// port has several queues for packets of one class, network and level, `q` is the packet's own queue, and all of them together where the port
/// ahead decides which it is (`voqsw`, `damq`).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SstUgal {
    /// What a way over an intermediate group or switch weighs more (default "50 flits", a constant of Merlin).
    pub bias: Size,
}

impl Default for SstUgal {
    fn default() -> Self {
        Self { bias: Size::Flits(50) }
    }
}

impl Bind for SstUgal {
    fn topologies(&self) -> &'static [&'static str] {
        &["dragonfly"]
    }

    fn minimality(&self) -> Minimality {
        Minimality::NonMinimal
    }

    fn senses_load(&self) -> bool {
        true
    }

    fn router(&self, topology: &Topology, graph: &Graph, scale: &Scale) -> Option<Box<dyn Router>> {
        let Topology::Dragonfly(of) = topology else { return None };
        Some(Box::new(Weighing { geometry: Geometry::new(of, graph), bias: flits(self.bias, scale) }))
    }
}

/// Level of the second hop inside a group.
const SECOND: u8 = 2;

/// UGAL of Merlin. A packet's plan in its source group is a link to its intermediate group: it tells the number of the link to
/// the destination's group too.
struct Weighing {
    geometry: Geometry,
    bias: u64,
}

impl Weighing {
    /// The queue in the switch of index `index` for a packet on its way to `link`, after `globals` global hops.
    fn queue(&self, index: u32, link: u32, globals: u8, senses: &mut dyn Senses) -> u64 {
        senses.queued(self.geometry.port_towards(index, link), globals).into()
    }

    /// The link to head for from the first switch; the plan is the link of the same number to the intermediate group.
    fn first(&self, (group, index): (u32, u32), to: u32, route: &mut Route, senses: &mut dyn Senses) -> u32 {
        let geometry = &self.geometry;
        let direct = geometry.links(group, to);
        let mut least = Least::new();
        for link in direct.clone() {
            let queue = self.queue(index, link, 0, senses);
            least.offer(link, queue, senses);
        }
        let mut others = direct.clone();
        // Where a direct link weighs less than the bias, no other can be chosen.
        if least.best().is_some_and(|(_, weight)| weight >= self.bias)
            && let Some(bundle) = geometry.other_bundle(group, to, senses)
        {
            others = geometry.bundle(bundle);
            for link in others.clone() {
                let queue = self.queue(index, link, 0, senses);
                least.offer(link, 2 * queue + self.bias, senses);
            }
        }
        let (link, _) = least.best().expect("every two groups are joined");
        route.via = others.start + link % geometry.parallel + 1;
        link
    }

    /// The link to leave the source group by from the second switch.
    fn second(&self, (group, index): (u32, u32), to: u32, route: &Route, senses: &mut dyn Senses) -> u32 {
        let geometry = &self.geometry;
        let other = route.via - 1;
        let direct = geometry.links(group, to).start + other % geometry.parallel;
        let [direct_here, other_here] = [direct, other].map(|link| geometry.gateway(link) == index);
        let goes_on = direct_here
            && (!other_here
                || self.queue(index, direct, 0, senses)
                    <= 2 * self.queue(index, other, 0, senses) + self.bias);
        if goes_on { direct } else { other }
    }

    /// The link to head for from where the intermediate group is entered.
    fn onwards(&self, (group, index): (u32, u32), to: u32, globals: u8, senses: &mut dyn Senses) -> u32 {
        let geometry = &self.geometry;
        let mut least = Least::new();
        for link in geometry.links(group, to) {
            let hops = if geometry.gateway(link) == index { 1 } else { 2 };
            let queue = self.queue(index, link, globals, senses);
            least.offer(link, hops * queue, senses);
        }
        least.best().expect("every two groups are joined").0
    }

    /// The hop inside the last group.
    fn inside(&self, from: u32, to: u32, route: &mut Route, senses: &mut dyn Senses) -> Hop {
        let geometry = &self.geometry;
        let hop = |to: u32, level: u8| Hop { port: geometry.local_port(from, to), level };
        let (globals, locals) = (route.global_hops(), route.local_hops());
        route.take_local();
        if globals > 0 || geometry.a < 3 {
            return hop(to, globals);
        }
        if locals > 0 {
            return hop(to, SECOND);
        }
        let queue = u64::from(senses.queued(geometry.local_port(from, to), 0));
        if queue <= self.bias {
            return hop(to, 0);
        }
        let drawn = senses.below(geometry.a - 1);
        let third = drawn + u32::from(drawn >= from);
        let other = u64::from(senses.queued(geometry.local_port(from, third), 0));
        hop(if queue <= 2 * other + self.bias { to } else { third }, 0)
    }
}

impl Router for Weighing {
    fn levels(&self, link_class: u8) -> u16 {
        let inside = if self.geometry.a < 3 { 1 } else { u16::from(SECOND) + 1 };
        let levels = self.geometry.levels(link_class, 2, 1);
        if link_class == crate::topology::dragonfly::LOCAL { levels.max(inside) } else { levels }
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
        if group == seat.group {
            return self.inside(index, seat.index, route, senses);
        }
        let (here, globals) = ((group, index), route.global_hops());
        let link = match (globals, route.via) {
            (0, 0) => self.first(here, seat.group, route, senses),
            (0, _) => self.second(here, seat.group, route, senses),
            (_, 0) => self.onwards(here, seat.group, globals, senses),
            (_, via) => via - 1,
        };
        if globals > 0 {
            route.via = link + 1;
        }
        geometry.towards(index, link, globals, route)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PAIRS, hop};
    use super::*;

    #[test]
    fn of_all_links_to_both_groups_the_one_of_least_weight_is_taken() {
        let at = |draws: &[u32], occupied: &[(u16, u32)]| {
            hop::<SstUgal>(PAIRS, (0, 4), &mut Route::default(), draws, occupied)
        };
        assert_eq!(at(&[0], &[]), (2, 0), "of two idle direct links, the second is drawn");
        assert_eq!(at(&[1], &[]), (4, 0));
        assert_eq!(at(&[], &[(4, 1)]), (2, 0), "the longer of the direct ways, if its queue is shorter");
        // Both direct ways are longer than the bias: the other group is drawn, whose links are behind ports 1 and 3.
        let occupied = [(4, 70), (2, 71), (1, 10), (3, 11)];
        assert_eq!(at(&[0, 1], &occupied), (4, 0), "2·10 + 50 is as much as 70");
        assert_eq!(at(&[0, 0], &occupied), (1, 0));
        assert_eq!(at(&[0], &[(4, 71), (2, 72), (1, 10), (3, 11)]), (1, 0));
    }

    #[test]
    fn the_second_switch_compares_the_links_of_the_same_number_if_both_begin_there() {
        // Five groups of two switches with two global ports: switch 1 to groups 3 and 4, by ports 2 and 3.
        let network = "kind = 'dragonfly'\np = 1\na = 2\nh = 2\ngroups = 5";
        for (queue, port) in [(50, 2), (51, 3)] {
            // To group 3 with a plan for group 4, which is link 3.
            let mut route = Route { via: 4, state: 1, ..Route::default() };
            assert_eq!(hop::<SstUgal>(network, (1, 6), &mut route, &[], &[(2, queue)]), (port, 0));
        }
        // To group 3 with a plan for group 2, whose link begins in the other switch.
        let mut route = Route { via: 2, state: 1, ..Route::default() };
        assert_eq!(hop::<SstUgal>(network, (1, 6), &mut route, &[], &[(2, 999)]), (2, 0));
        // To group 1, whose link begins in the other switch, with a plan for group 3.
        let mut route = Route { via: 3, state: 1, ..Route::default() };
        assert_eq!(hop::<SstUgal>(network, (1, 2), &mut route, &[], &[(2, 999)]), (2, 0));
    }

    #[test]
    fn in_the_intermediate_group_links_of_other_switches_weigh_twice() {
        for (own, other, port) in [(20, 11, 4), (20, 9, 2)] {
            let mut route = Route { state: 4, ..Route::default() };
            assert_eq!(hop::<SstUgal>(PAIRS, (0, 4), &mut route, &[], &[(4, own), (2, other)]), (port, 1));
        }
        // Who took the local hop goes on over the link chosen before, which is number 1.
        let mut route = Route { state: 4, ..Route::default() };
        assert_eq!(hop::<SstUgal>(PAIRS, (0, 4), &mut route, &[], &[(4, 20), (2, 9)]), (2, 1));
        assert_eq!(hop::<SstUgal>(PAIRS, (2, 4), &mut route, &[], &[(4, 99)]), (4, 1));
    }

    #[test]
    fn inside_a_group_the_direct_way_is_left_beyond_the_bias() {
        for (queue, draws, hops) in [(50, vec![], (3, 0)), (70, vec![1], (3, 0)), (71, vec![1], (2, 0))] {
            let mut route = Route::default();
            assert_eq!(hop::<SstUgal>(PAIRS, (0, 3), &mut route, &draws, &[(3, queue), (2, 10)]), hops);
        }
        let mut route = Route { state: 1, ..Route::default() };
        assert_eq!(hop::<SstUgal>(PAIRS, (2, 3), &mut route, &[], &[(3, 99)]), (3, SECOND));
    }
}
