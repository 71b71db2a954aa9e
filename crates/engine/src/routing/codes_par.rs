//! Progressive adaptive routing as CODES defines it.
use super::dragonfly::Geometry;
use super::least::Least;
use super::{Bind, Hop, Minimality, Route, Router, Senses, flits};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::{Scale, Size};

/// PAR of a dragonfly as the simulator CODES defines it (`prog-adaptive`), beside our own `par`.
///
/// # What it does
///
/// Every switch of the source group compares the best link to the destination's group with the best to an intermediate
/// one, and a packet that has left the direct way once does not go back. A link is judged by the load of the port that it begins
/// with in this switch: what waits for it, and what was sent on it and has no credit back. The direct link is taken
/// while its load is at most the threshold, or at most twice that of the other. A switch with links of its own to the group
/// draws two of them and judges these; one without judges those of all other switches of its group. Of equals one is
/// drawn. The intermediate group is drawn once, in the first switch; a later switch that has no link to it draws another, of
/// those that it has links to (so a group is crossed by one local hop). In the intermediate group the packet goes on by the best link, in
/// the last by its local link. Levels: in the source group the local hops taken, 1 for those who have left the direct way; 2 in the
/// intermediate group; 3 in the last: 4 local and 3 global.
///
/// # Paper
///
/// The algorithm: N. Jiang, J. Kim, W. Dally, "Indirect adaptive routing on large scale interconnection networks", ISCA
/// 2009. The definition: CODES, `model-net/dragonfly-dally.cxx`: `dfdally_prog_adaptive_routing` decides,
/// `get_legal_minimal_stops` and `get_legal_nonminimal_stops` list the links, `dfdally_score_connection` (metric "delta") weighs.
/// Used by N. McGlohon and others, "Exploration of congestion control techniques on dragonfly-class HPC networks through
/// simulation", PMBS 2021.
///
/// # Differences from the paper
///
/// Those between `par` and this kind: `par` looks at the queue alone, draws one direct and one other link whether or not they begin
/// in this switch, adds its threshold to the comparison, and may make a local detour in the groups after the first. Here the
/// intermediate group is drawn when it can first matter, which changes no probability; and where no other group can be reached
/// from a later switch, the packet stays on the direct way.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CodesPar {
    /// Load up to which the direct link is taken without comparing (default "0 flits"; CODES: `adaptive_threshold`, 0 bytes).
    pub threshold: Size,
}

impl Default for CodesPar {
    fn default() -> Self {
        Self { threshold: Size::Flits(0) }
    }
}

impl Bind for CodesPar {
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
        let geometry = Geometry::new(of, graph);
        let bundles = (0..geometry.a).map(|index| bundles(&geometry, index)).collect();
        Some(Box::new(Progressive { geometry, bundles, threshold: flits(self.threshold, scale) }))
    }
}

/// The bundles, in ascending order, that begin in the switch of an index.
fn bundles(geometry: &Geometry, index: u32) -> Vec<u32> {
    let links = 0..geometry.parallel * (geometry.groups - 1);
    let own = links.filter(|&link| geometry.gateway(link) == index);
    let mut bundles: Vec<u32> = own.map(|link| geometry.bundle_of(link)).collect();
    bundles.dedup();
    bundles
}

/// PAR of CODES. A packet's plan in its source group is a bundle: the links to its intermediate group.
struct Progressive {
    geometry: Geometry,
    /// By the index of a switch in its group: bundles with a link of its own, in ascending order.
    bundles: Vec<Vec<u32>>,
    threshold: u64,
}

impl Progressive {
    /// The best link of a bundle, as seen from the switch of index `index`, and the load of the port that leads there.
    fn best(&self, index: u32, bundle: u32, senses: &mut dyn Senses) -> (u32, u64) {
        let geometry = &self.geometry;
        let own = |link: &u32| geometry.gateway(*link) == index;
        let links = geometry.bundle(bundle);
        let mut least = Least::new();
        let mut judge = |link: u32, senses: &mut dyn Senses| {
            let load = senses.load(geometry.port_towards(index, link));
            least.offer(link, load.into(), senses);
        };
        match links.clone().filter(own).count() as u32 {
            0 => links.for_each(|link| judge(link, senses)),
            count @ 1..=2 => links.filter(own).take(count as usize).for_each(|link| judge(link, senses)),
            count => {
                let first = senses.below(count);
                let second = (first + 1 + senses.below(count - 1)) % count;
                for drawn in [first, second] {
                    links
                        .clone()
                        .filter(own)
                        .skip(drawn as usize)
                        .take(1)
                        .for_each(|link| judge(link, senses));
                }
            }
        }
        least.best().expect("every two groups are joined")
    }

    /// The bundle to the intermediate group: the one planned, or one drawn now if there is none or a later switch than the
    /// first has no link of it.
    fn intermediate(
        &self,
        (group, index): (u32, u32),
        to: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Option<u32> {
        let own = &self.bundles[index as usize];
        let planned = match route.via {
            0 => self.geometry.other_bundle(group, to, senses)?,
            via => via - 1,
        };
        let mut bundle = Some(planned);
        if route.local_hops() > 0 && own.binary_search(&planned).is_err() {
            let direct = self.geometry.bundle_of(self.geometry.links(group, to).start);
            let at = own.binary_search(&direct);
            let others = own.len() as u32 - u32::from(at.is_ok());
            bundle = (others > 0).then(|| {
                let draw = senses.below(others) as usize;
                own[draw + usize::from(at.is_ok_and(|at| draw >= at))]
            });
        }
        route.via = bundle.map_or(0, |bundle| bundle + 1);
        bundle
    }

    /// The link to head for in a switch of the source group.
    fn choose(&self, here: (u32, u32), to: u32, route: &mut Route, senses: &mut dyn Senses) -> u32 {
        let index = here.1;
        if route.diverted() {
            return self.best(index, route.via - 1, senses).0;
        }
        let direct = self.geometry.bundle_of(self.geometry.links(here.0, to).start);
        let (link, load) = self.best(index, direct, senses);
        if load <= self.threshold {
            return link;
        }
        let Some(bundle) = self.intermediate(here, to, route, senses) else { return link };
        let (other, other_load) = self.best(index, bundle, senses);
        if load <= 2 * other_load {
            return link;
        }
        route.divert(bundle);
        other
    }
}

impl Router for Progressive {
    fn senses_credits(&self) -> bool {
        true
    }

    fn levels(&self, link_class: u8) -> u16 {
        match link_class {
            0 => 1,
            crate::topology::dragonfly::LOCAL => 4,
            _ => 3,
        }
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
        let in_source = route.global_hops() == 0;
        if group == seat.group {
            let level = if in_source { route.local_hops() } else { 3 };
            route.take_local();
            return Hop { port: geometry.local_port(index, seat.index), level };
        }
        if !in_source {
            let direct = geometry.bundle_of(geometry.links(group, seat.group).start);
            let (link, _) = self.best(index, direct, senses);
            return geometry.towards(index, link, 2, route);
        }
        let link = self.choose((group, index), seat.group, route, senses);
        let level = if route.diverted() { 1 } else { route.local_hops() };
        geometry.towards(index, link, level, route)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{PAIRS, hop};
    use super::*;

    #[test]
    fn the_direct_port_is_taken_while_it_has_no_load_or_up_to_twice_that_of_the_best_other() {
        let mut route = Route::default();
        assert_eq!(hop::<CodesPar>(PAIRS, (0, 4), &mut route, &[], &[(1, 9)]), (4, 0), "nothing is drawn");
        for (load, port) in [(20, 4), (21, 1)] {
            let mut route = Route::default();
            let level = u8::from(port == 1);
            // The only other group is drawn; ports 1 and 3 lead to those of its links.
            let found = hop::<CodesPar>(PAIRS, (0, 4), &mut route, &[0], &[(4, load), (1, 10), (3, 30)]);
            assert_eq!((found, route.diverted()), ((port, level), port == 1));
        }
    }

    #[test]
    fn who_has_left_the_direct_way_goes_on_over_the_intermediate_group_with_rising_levels() {
        let mut route = Route::default();
        assert_eq!(hop::<CodesPar>(PAIRS, (0, 4), &mut route, &[0], &[(4, 21), (1, 10), (3, 30)]), (1, 1));
        assert_eq!(hop::<CodesPar>(PAIRS, (1, 4), &mut route, &[], &[(4, 99)]), (4, 1), "whatever waits");
        // Group 2 is entered in its switch 1, number 9; its links to group 1 leave from switches 1 and 3.
        assert_eq!(hop::<CodesPar>(PAIRS, (9, 4), &mut route, &[], &[(4, 99)]), (4, 2));
        assert_eq!(hop::<CodesPar>(PAIRS, (5, 4), &mut route, &[], &[]), (1, 3));
    }

    #[test]
    fn the_second_switch_compares_again_and_draws_a_group_that_it_has_a_link_to() {
        // Five groups of two switches with two global ports: switch 0 to groups 1 and 2, switch 1 to 3 and 4.
        let network = "kind = 'dragonfly'\np = 1\na = 2\nh = 2\ngroups = 5";
        let mut route = Route::default();
        // From switch 0 to group 3: by the local port, though it has some load; group 2 is drawn, whose port has more.
        assert_eq!(hop::<CodesPar>(network, (0, 6), &mut route, &[1], &[(1, 5), (3, 9)]), (1, 0));
        // Switch 1 has no link to group 2, so it draws of its others, which is group 4 alone.
        assert_eq!(hop::<CodesPar>(network, (1, 6), &mut route, &[0], &[(2, 5), (3, 2)]), (3, 1));
        assert!(route.diverted());
    }

    #[test]
    fn a_switch_with_many_links_of_its_own_judges_two_of_them() {
        // Two groups of one switch, joined by four links.
        let network = "kind = 'dragonfly'\np = 1\na = 1\nh = 4\ngroups = 2";
        for (draws, port) in [([1, 0], 2), ([1, 1], 4), ([3, 0], 1)] {
            // Ports 1 to 4 hold 9, 5, 0, 4: the third is seen only if it is drawn.
            let loads = [(1, 9), (2, 5), (3, 7), (4, 4)];
            let expected = if draws == [3, 0] { 4 } else { port };
            assert_eq!(
                hop::<CodesPar>(network, (0, 1), &mut Route::default(), &draws, &loads),
                (expected, 0)
            );
        }
    }
}
