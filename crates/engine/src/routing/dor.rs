//! Dimension-order routing on torus, mesh, HyperX and KNS.
use super::kns::Lines;
use super::lattice::{DATE_LINE_FROM, Lattice};
use super::orders::{self, Choose, Order};
use super::phases::Phases;
use super::{Bind, Hop, Minimality, Route, Router, Senses};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::topology::Topology;
use crate::units::Scale;

/// Dimension order: one dimension after the other, in each the shortest way; on a KNS network known as Hybrid-DOR.
///
/// # What it does
///
/// Nothing depends on the load but the choice of an order, if that is asked for. In a torus a tie at half the size is broken at
/// random. Parallel links are drawn at random at each hop. A KNS network's line is crossed from router to router, a fat tree in
/// it by the destination's digits. With several `orders` the source chooses one for each packet (`choose`), and each has a
/// virtual network of its own, with buffers of its own, that a packet keeps to: one order's channels never wait for another's.
/// Rings of up to three switches, and whatever is no torus, need one level and no more; what keeps the channels of a
/// longer ring from waiting for one another in a circle is chosen by `deadlock`. "date-line": between the last switch and
/// the first; level 0 while it is ahead of the packet, level 1 otherwise (packets that never cross it have level 1
/// throughout, which shares the traffic more evenly than starting all at 0). "bubble": one level; a packet enters a ring,
/// or turns into one, only when a largest packet more than itself fits in the first buffer of the ring (the output queue; in an
/// input-queued switch the buffer ahead), so that every ring keeps room for its packets to move on; the data
/// packets of a run must have one length, and a packet keeps to one of several parallel links while it is in a ring. "none":
/// one level and no more, which deadlocks; only with `may_deadlock`.
///
/// # Paper
///
/// Date line: W. Dally, C. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
/// Transactions on Computers 36(5), 1987. Bubble: V. Puente and others, "The adaptive bubble router", Journal of Parallel
/// and Distributed Computing 61(9), 2001. Orders in virtual networks: P. Yebenes and others, "Combining source-adaptive and
/// oblivious routing with congestion control in high-performance interconnects using hybrid and direct topologies", ACM TACO
/// 16(2), 2019, sections 3.1 and 3.2.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dor {
    /// What keeps rings from deadlock (default "date-line").
    pub deadlock: Deadlock,
    /// Says that a deadlock is wanted (default false): without it, "none" is refused where there are rings.
    pub may_deadlock: bool,
    /// Orders of the dimensions that packets may take, by their letters (x, y, z, w, v, u): `["xy", "yx"]`; dimensions that are
    /// left out follow in ascending order (default: all ascending).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<String>,
    /// How the source chooses among several orders, packet by packet (default "round-robin").
    pub choose: Choose,
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
        &["torus", "mesh", "hyperx", "kns"]
    }

    fn minimality(&self) -> Minimality {
        Minimality::OwnMinimal
    }

    fn problems(&self, topology: &Topology) -> Vec<Problem> {
        let mut problems = self.unused(topology);
        let rings = matches!(topology, Topology::Torus(torus) if torus.dims.iter().any(|&size| size >= DATE_LINE_FROM));
        if self.deadlock == Deadlock::None && rings && !self.may_deadlock {
            let help = "deadlock = \"date-line\" or \"bubble\"; or may_deadlock = true, if that is wanted";
            problems.push(Problem::new("deadlock", "the rings of this torus would deadlock", help));
        }
        problems.extend(orders::read(&self.orders, topology.wiring().link_classes().len() - 1).err());
        problems
    }

    fn senses_load(&self) -> bool {
        self.choose == Choose::Occupancy && self.orders.len() > 1
    }

    fn by_chance(&self) -> Option<Box<dyn Bind>> {
        let random = || Self { choose: Choose::Random, ..self.clone() };
        self.senses_load().then(|| -> Box<dyn Bind> { Box::new(random()) })
    }

    fn may_deadlock(&self) -> bool {
        self.may_deadlock
    }

    fn router(&self, topology: &Topology, graph: &Graph, _: &Scale) -> Option<Box<dyn Router>> {
        let orders = orders::read(&self.orders, topology.wiring().link_classes().len() - 1).ok()?;
        if let Topology::Kns(of) = topology {
            return Some(Box::new(DimensionOrder::new(Lines::new(of, graph, 1), orders, self)));
        }
        let lattice = Lattice::new(topology, graph, self.deadlock == Deadlock::DateLine)?;
        Some(Box::new(DimensionOrder::new(lattice, orders, self)))
    }
}

impl Dor {
    /// Parameters that are given and would make no difference.
    fn unused(&self, topology: &Topology) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.choose != Choose::default() && self.orders.len() < 2 {
            let given = if self.orders.is_empty() { "no order is given" } else { "one order is given" };
            let message = format!("there is nothing to choose among: {given}");
            let help = "two orders or more, such as orders = [\"xy\", \"yx\"]";
            problems.push(Problem::new("choose", message, help));
        }
        let ringless = matches!(topology, Topology::Mesh(_) | Topology::Hyperx(_) | Topology::Kns(_));
        for (key, unused) in
            [("deadlock", self.deadlock == Deadlock::Bubble), ("may_deadlock", self.may_deadlock)]
        {
            if ringless && unused {
                let message = format!("a {} has no rings that could deadlock", topology.kind());
                problems.push(Problem::new(key, message, "leave it out, or take a torus"));
            }
        }
        problems
    }
}

/// A network whose dimensions can be taken in several orders, one for each virtual network.
pub(super) trait Ordered: Phases {
    /// Sets the orders.
    fn set_orders(&mut self, orders: Vec<Order>);
    /// Whether there are rings whose channels may wait for one another in a circle.
    fn has_rings(&self) -> bool {
        false
    }
    /// Makes a hop one of bubble flow control: a packet that enters a ring needs a bubble.
    fn bubble(&self, _in_port: Option<u16>, hop: Hop, _route: &mut Route) -> Hop {
        hop
    }
    /// Why packets cannot wait for one another in a circle.
    fn freedom(&self) -> String;
}

/// Dimension order, in one order or several.
struct DimensionOrder<O> {
    ways: O,
    /// By virtual network, the dimension that its packets cross first.
    first: Vec<u8>,
    choose: Choose,
    deadlock: Deadlock,
    bubbles: bool,
}

impl<O: Ordered> DimensionOrder<O> {
    fn new(mut ways: O, orders: Vec<Order>, of: &Dor) -> Self {
        let first = orders.iter().map(|order| order[0]).collect();
        let bubbles = of.deadlock == Deadlock::Bubble && ways.has_rings();
        ways.set_orders(orders);
        Self { ways, first, choose: of.choose, deadlock: of.deadlock, bubbles }
    }
}

impl<O: Ordered> Router for DimensionOrder<O> {
    fn levels(&self, link_class: u8) -> u16 {
        self.ways.levels(link_class, 1)
    }

    fn made_levels(&self) -> u8 {
        self.ways.made_levels()
    }

    fn networks(&self) -> u8 {
        self.first.len() as u8
    }

    fn first_dimensions(&self) -> Vec<u8> {
        self.first.clone()
    }

    fn weighs(&self) -> bool {
        self.networks() > 1 && self.choose == Choose::Occupancy
    }

    fn freedom(&self) -> String {
        let several = if self.networks() > 1 { "; each order has a virtual network of its own" } else { "" };
        let order = format!("{}{several}", self.ways.freedom());
        match self.deadlock {
            Deadlock::None if self.ways.has_rings() => {
                format!("{order}; nothing keeps rings of {DATE_LINE_FROM} switches or more from deadlock")
            }
            Deadlock::Bubble if self.bubbles => {
                format!("{order}; a ring is entered only when two packets fit")
            }
            _ => order,
        }
    }

    fn bubbles(&self) -> bool {
        self.bubbles
    }

    fn minds_input(&self) -> bool {
        self.bubbles
    }

    fn inject(&self, src: u32, dst: u32, route: &mut Route, senses: &mut dyn Senses) {
        if self.networks() > 1 {
            route.network = self.choose.order(self.networks(), senses, |network, senses| {
                let mut trial = Route { network, ..Route::default() };
                self.ways.direct(self.ways.seat(src).0, dst, &mut trial, senses)
            });
        }
    }

    fn route(
        &self,
        switch: u32,
        in_port: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let hop = self.ways.direct(switch, dst, route, senses);
        if self.bubbles { self.ways.bubble(in_port, hop, route) } else { hop }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::SCALE;
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn parameters_that_make_no_difference_are_refused() {
        let told = |topology: &str, routing: &str| {
            let topology: Topology = toml::from_str(topology).unwrap();
            let routing: Dor = toml::from_str(routing).unwrap();
            routing.problems(&topology).into_iter().map(|problem| problem.path).collect::<Vec<_>>().join(" ")
        };
        let torus = "kind = 'torus'\ndims = [4, 4]";
        assert_eq!(told(torus, "choose = 'occupancy'\norders = ['xy']"), "choose");
        assert_eq!(told(torus, "choose = 'random'"), "choose");
        assert_eq!(told(torus, "choose = 'random'\norders = ['xy', 'yx']"), "");
        assert_eq!(told(torus, "choose = 'round-robin'\ndeadlock = 'bubble'\nmay_deadlock = true"), "");
        // Without long rings there is a torus still: sizes may be what is compared.
        assert_eq!(told("kind = 'torus'\ndims = [3, 3]", "deadlock = 'bubble'"), "");
        for ringless in
            ["kind = 'mesh'\ndims = [4]", "kind = 'hyperx'\ndims = [4]", "kind = 'kns'\nk = 4\nn = 2"]
        {
            assert_eq!(told(ringless, "deadlock = 'bubble'\nmay_deadlock = true"), "deadlock may_deadlock");
            assert_eq!(told(ringless, "deadlock = 'none'"), "");
        }
    }

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
        let router = Dor::default().router(&topology, &topology.wiring().graph(), &SCALE).unwrap();
        let mut senses = Random(Stream::new(1, "test", "", 0));
        let onwards = (0..10_000)
            .filter(|_| router.route(1, Some(0), 5, &mut Route::default(), &mut senses).port == 1)
            .count();
        // Four standard deviations of 10,000 fair draws.
        assert!(onwards.abs_diff(5000) < 200, "{onwards}");
    }
}
