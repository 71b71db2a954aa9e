//! Valiant routing: by way of a random group or switch.
use super::dragonfly::Geometry;
use super::kns::Lines;
use super::lattice::Lattice;
use super::paths::{Choose, Deadlock, Paths};
use super::phases::Phases;
use super::{Bind, Hop, Minimality, Route, Router, Senses};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::Scale;

/// By way of a random intermediate group or switch: of each pair of endpoints, whatever the traffic, over many ways of up to twice the hops.
///
/// # What it does
///
/// Dragonfly: the source draws one of the global links of its group that do not lead to the destination's group, and the packet
/// goes minimally to it, over it, and from there to the destination: the intermediate group is neither the source's nor
/// the destination's. Traffic inside a group, traffic in a network of two groups, and packets that switches make go
/// minimally. Levels: global hops taken, 3 local and 2 global.
/// Torus, mesh, HyperX, file: the source draws a switch with endpoints that is neither its own nor the destination's, and the
/// packet goes there and then to the destination, both minimally. Traffic inside a switch stays there, and packets that
/// switches make go directly. Levels: twice those of `dor`, or of `shortest` by hops.
/// A fat tree has no Valiant routing of its own: `nca` with a random way up is by way of a random ancestor already.
///
/// # Paper
///
/// L. Valiant, G. Brebner, "Universal schemes for parallel communication", STOC 1981; on a dragonfly: J. Kim and
/// others, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, section 4.1.
///
/// # Differences from the paper
///
/// The STOC paper draws from all switches, those of source and destination too: then a packet goes directly. Here none does, so that a
/// pair leaves its direct links to others, and the load is not quite even: of a shift by s in a complete graph of n switches the channels
/// to the s-th switch on carry nothing, and the others 2/(n − 2) of what a switch sends, not 2/n each. On a dragonfly the ways are
/// spread over groups, not over the links inside them, which limit some traffic between groups.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Valiant {}

impl Bind for Valiant {
    fn topologies(&self) -> &'static [&'static str] {
        &["dragonfly", "torus", "mesh", "hyperx", "kns", "file"]
    }

    fn goes_round(&self, topology: &Topology) -> bool {
        matches!(topology, Topology::Dragonfly(_) | Topology::File(_))
    }

    fn minimality(&self) -> Minimality {
        Minimality::NonMinimal
    }

    fn router(&self, topology: &Topology, graph: &Graph, _: &Scale) -> Option<Box<dyn Router>> {
        match topology {
            Topology::Dragonfly(of) => Some(Box::new(DragonflyValiant(Geometry::new(of, graph)))),
            Topology::File(_) => Some(Box::new(ByWay(Paths::new(graph, Deadlock::Hops, Choose::Random)))),
            Topology::Kns(of) => Some(Box::new(ByWay(Lines::new(of, graph, 2)))),
            _ => Some(Box::new(ByWay(Lattice::new(topology, graph, true)?))),
        }
    }
}

/// Valiant routing on a dragonfly.
struct DragonflyValiant(Geometry);

impl Router for DragonflyValiant {
    fn reaches(&self, switch: u32, dst: u32) -> bool {
        self.0.reaches(switch, dst)
    }

    fn levels(&self, link_class: u8) -> u16 {
        self.0.levels(link_class, 2, 1)
    }

    fn inject(&self, src: u32, dst: u32, route: &mut Route, senses: &mut dyn Senses) {
        let (from, to) = (self.0.seat(src).group, self.0.seat(dst).group);
        if from != to
            && let Some(link) = self.0.detour(from, to, senses)
        {
            route.divert(link);
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
        self.0.direct(switch, dst, route, senses)
    }
}

/// Valiant routing over a random switch.
struct ByWay<P>(P);

impl<P: Phases> Router for ByWay<P> {
    fn reaches(&self, switch: u32, dst: u32) -> bool {
        self.0.reaches(switch, dst)
    }

    fn levels(&self, link_class: u8) -> u16 {
        self.0.levels(link_class, 2)
    }

    fn made_levels(&self) -> u8 {
        self.0.made_levels()
    }

    fn inject(&self, src: u32, dst: u32, route: &mut Route, senses: &mut dyn Senses) {
        let (from, to) = (self.0.seat(src).0, self.0.seat(dst).0);
        route.via = self.0.intermediate(from, to, senses).map_or(0, |switch| switch + 1);
    }

    fn route(
        &self,
        switch: u32,
        _: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        self.0.by_way(switch, dst, route, senses)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE, follow};
    use super::*;
    use crate::graph::Peer;
    use std::collections::BTreeSet;

    /// Groups entered on the way, by the link drawn.
    fn groups(graph: &Graph, router: &dyn Router, (src, dst): (u32, u32), draw: u32) -> Vec<u32> {
        let mut senses = Fixed { draws: [draw, 0].into(), ..Fixed::default() };
        let mut switch = graph.endpoints[src as usize].0;
        let mut entered = Vec::new();
        for hop in follow(graph, router, src, dst, &mut senses) {
            let port = graph.switches[switch as usize][hop.port as usize];
            if let Peer::Switch { switch: next, .. } = port.peer {
                switch = next;
                entered.extend(
                    (port.class == crate::topology::dragonfly::GLOBAL).then(|| graph.blocks[next as usize]),
                );
            }
        }
        entered
    }

    #[test]
    fn the_intermediate_group_is_any_but_the_source_and_the_destination() {
        for arrangement in ["absolute", "palm-tree"] {
            let text =
                format!("kind = 'dragonfly'\np = 1\na = 3\nh = 2\ngroups = 4\narrangement = '{arrangement}'");
            let topology: Topology = toml::from_str(&text).unwrap();
            let graph = topology.wiring().graph();
            let router = Valiant {}.router(&topology, &graph, &SCALE).unwrap();
            let mut seen = BTreeSet::new();
            for draw in 0..4 {
                let entered = groups(&graph, &*router, (3, 8), draw);
                assert_eq!((entered.len(), entered[1]), (2, 2));
                seen.insert(entered[0]);
            }
            assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 3]);
        }
    }

    #[test]
    fn a_packet_on_a_lattice_goes_by_the_switch_drawn_with_levels_of_its_own_after_it() {
        let topology: Topology = toml::from_str("kind = 'hyperx'\ndims = [3, 3]").unwrap();
        let graph = topology.wiring().graph();
        let router = Valiant {}.router(&topology, &graph, &SCALE).unwrap();
        // From (0, 0) to (1, 0); draw 6 skips both and is switch 8, at (2, 2).
        let mut senses = Fixed { draws: [6].into(), ..Fixed::default() };
        let hops: Vec<(u16, u8)> =
            follow(&graph, &*router, 0, 1, &mut senses).iter().map(|hop| (hop.port, hop.level)).collect();
        assert_eq!(hops, [(2, 0), (4, 0), (2, 1), (3, 1), (0, 0)]);
    }

    #[test]
    fn traffic_inside_a_group_goes_minimally() {
        let topology: Topology =
            toml::from_str("kind = 'dragonfly'\np = 1\na = 4\nh = 1\ngroups = 5").unwrap();
        let graph = topology.wiring().graph();
        let router = Valiant {}.router(&topology, &graph, &SCALE).unwrap();
        assert_eq!(follow(&graph, &*router, 0, 3, &mut Fixed::default()).len(), 2);
    }
}
