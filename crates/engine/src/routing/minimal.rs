//! Minimal routing, on every topology.
use super::dragonfly::Geometry;
use super::{Bind, Hop, Route, Router, Senses, dor, nca, shortest};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::Scale;

/// The shortest way, chosen without looking at the load.
///
/// # What it does
///
/// Dragonfly: local, global, local, each only where needed; among parallel global links the first switch draws one with equal
/// probability, whether or not it leaves from the packet's own switch (so that all links carry the same load). Levels:
/// global hops taken, 2 local and 1 global. Fat tree: as `nca` with a random way up. Torus, mesh, HyperX, KNS: as
/// `dor`. File: as `shortest` by hops. Single switch: straight out.
///
/// # Paper
///
/// J. Kim and others, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, section 4.1.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Minimal {}

impl Bind for Minimal {
    fn topologies(&self) -> &'static [&'static str] {
        Topology::KINDS
    }

    fn goes_round(&self, topology: &Topology) -> bool {
        let trees = nca::Nca::default().topologies();
        ["dragonfly", "file"].contains(&topology.kind()) || trees.contains(&topology.kind())
    }

    fn router(&self, topology: &Topology, graph: &Graph, scale: &Scale) -> Option<Box<dyn Router>> {
        match topology {
            Topology::Dragonfly(of) => Some(Box::new(DragonflyMinimal(Geometry::new(of, graph)))),
            Topology::FatTree(_) | Topology::Xgft(_) | Topology::KAryNTree(_) => {
                nca::Nca::default().router(topology, graph, scale)
            }
            Topology::Torus(_) | Topology::Mesh(_) | Topology::Hyperx(_) | Topology::Kns(_) => {
                dor::Dor::default().router(topology, graph, scale)
            }
            Topology::File(_) => shortest::Shortest::default().router(topology, graph, scale),
            Topology::SingleSwitch(_) => {
                Some(Box::new(Out(graph.endpoints.iter().map(|&(_, port)| port).collect())))
            }
        }
    }
}

/// Minimal routing on a dragonfly.
struct DragonflyMinimal(Geometry);

impl Router for DragonflyMinimal {
    fn reaches(&self, switch: u32, dst: u32) -> bool {
        self.0.reaches(switch, dst)
    }

    fn levels(&self, link_class: u8) -> u16 {
        self.0.levels(link_class, 1, 1)
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

/// The port of every endpoint of a single switch.
struct Out(Vec<u16>);

impl Router for Out {
    fn levels(&self, _: u8) -> u16 {
        1
    }

    fn freedom(&self) -> String {
        "there are no channels between switches".to_string()
    }

    fn route(&self, _: u32, _: Option<u16>, dst: u32, _: &mut Route, _: &mut dyn Senses) -> Hop {
        Hop { port: self.0[dst as usize], level: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE, follow};
    use super::*;

    #[test]
    fn a_packet_between_groups_takes_local_global_local_with_rising_levels() {
        let topology: Topology =
            toml::from_str("kind = 'dragonfly'\np = 4\na = 8\nh = 4\ngroups = 33").unwrap();
        let graph = topology.wiring().graph();
        let router = Minimal {}.router(&topology, &graph, &SCALE).unwrap();
        // Group 0 reaches group 32 from global port 31, on switch 7; group 32 is entered at its port 0, on switch 0.
        let hops = follow(&graph, &*router, 0, 1055, &mut Fixed::default());
        let hop = |port, level| Hop { port, level };
        assert_eq!(hops, [hop(4 + 6, 0), hop(14, 0), hop(4 + 6, 1), hop(3, 0)]);
        assert_eq!([0, 1, 2].map(|class| router.levels(class)), [1, 2, 1]);
    }

    #[test]
    fn parallel_global_links_are_drawn_once_at_the_source() {
        let topology: Topology =
            toml::from_str("kind = 'dragonfly'\np = 1\na = 3\nh = 2\ngroups = 4").unwrap();
        let graph = topology.wiring().graph();
        let router = Minimal {}.router(&topology, &graph, &SCALE).unwrap();
        // Links between groups 0 and 1: global ports 0 (switch 0) and 3 (switch 1) of both.
        for (draw, ports) in [(0, vec![3, 2, 0]), (1, vec![1, 4, 2, 0])] {
            let mut senses = Fixed { draws: [draw].into(), ..Fixed::default() };
            let hops = follow(&graph, &*router, 0, 5, &mut senses);
            assert_eq!(hops.iter().map(|hop| hop.port).collect::<Vec<_>>(), ports);
            assert!(senses.sensed.is_empty() && senses.draws.is_empty());
        }
    }
}
