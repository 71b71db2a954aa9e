//! Shortest ways, on any network.
use super::paths::Paths;
pub use super::paths::{Choose, Deadlock};
use super::phases::Phases;
use super::{Bind, Hop, Minimality, Route, Router, Senses};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::Scale;

/// A shortest way, of several one at random, by the destination, by a hash of the flow or by the load; it goes round failed links.
///
/// # What it does
///
/// Every hop leads to a switch that is one link nearer to the destination's; all links count alike, and nothing but the links is known of
/// the network: on a dragonfly a way over two global links is one of three, and on a torus one of all that mix the dimensions. Deadlock is avoided in
/// one of two ways. "hops": each hop takes the next level, so that levels only rise; the ways are the shortest, but there
/// are as many levels as the longest of them has links between switches, each with queues of its own, which take turns where packets of several meet: in
/// trees "up-down" has the same ways and one queue. "up-down": each channel leads up, to a switch that
/// is nearer to a root (of equals, to the lower number), or down; a way goes up, then down, and never up again, so that one
/// level is enough; the ways are the shortest of that kind, which may be longer than the shortest of all and crowd round
/// the root. The root is the switch whose farthest switch is nearest (in large networks, of a sample of 256).
/// `describe` tells the levels, or the root and the longest way.
///
/// # Paper
///
/// Hops: K. Günther, "Prevention of deadlocks in packet-switched data transport systems", IEEE Transactions on
/// Communications 29(4), 1981. Up*/down*: M. Schroeder and others, "Autonet: a high-speed, self-configuring local area
/// network using point-to-point links", IEEE Journal on Selected Areas in Communications 9(8), 1991.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Shortest {
    /// How deadlock is avoided (default "hops").
    pub deadlock: Deadlock,
    /// How one of several shortest ways is chosen (default "random").
    pub choose: Choose,
}

impl Bind for Shortest {
    fn topologies(&self) -> &'static [&'static str] {
        Topology::KINDS
    }

    fn senses_load(&self) -> bool {
        self.choose == Choose::LeastLoaded
    }

    fn goes_round(&self, _: &Topology) -> bool {
        true
    }

    fn minimality(&self) -> Minimality {
        Minimality::OwnMinimal
    }

    fn by_chance(&self) -> Option<Box<dyn Bind>> {
        self.senses_load().then(|| -> Box<dyn Bind> { Box::new(Self { choose: Choose::Random, ..*self }) })
    }

    fn router(&self, _: &Topology, graph: &Graph, _: &Scale) -> Option<Box<dyn Router>> {
        Some(Box::new(ShortestWay(Paths::new(graph, self.deadlock, self.choose))))
    }
}

/// Shortest ways on a graph.
struct ShortestWay(Paths);

impl Router for ShortestWay {
    fn reaches(&self, switch: u32, dst: u32) -> bool {
        self.0.reaches(switch, dst)
    }

    fn levels(&self, link_class: u8) -> u16 {
        self.0.levels(link_class, 1)
    }

    fn hashes(&self) -> bool {
        self.0.hashes()
    }

    fn tells_destinations_apart(&self) -> bool {
        self.0.tells_destinations_apart()
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
