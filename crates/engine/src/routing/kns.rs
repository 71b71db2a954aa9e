//! What the routings of a KNS network share: Hybrid-DOR, line by line, in one phase or two.
use super::dor::Ordered;
use super::nca::{Tree, Up};
use super::orders::{self, Order};
use super::phases::Phases;
use super::{Hop, Route, Router, Senses};
use crate::graph::Graph;
use crate::topology::kns::{Kns, Place};

/// Bit of the route's state: the packet was made in a line's network, and has not left it.
const MADE: u8 = 0x40;

/// Hybrid-DOR: routers choose the dimension, the network of its line leads to the router there.
///
/// A packet that a line's switch makes may have to turn into a dimension that comes before the line's own, against the order. It
/// leaves the line on a level that no other packet takes, so that nothing on the ordinary levels ever waits for it there.
pub(super) struct Lines {
    dims: usize,
    /// The order of the dimensions in each virtual network.
    orders: Vec<Order>,
    places: Vec<Place>,
    /// Coordinates of every endpoint's router, one after the other.
    coordinates: Vec<u16>,
    /// The tree of a line, if it is not a single switch.
    tree: Option<Tree>,
    /// Arity and stages of a line.
    shape: (u32, u32),
    /// Phases that packets take.
    phases: u8,
    /// Switch and port of every endpoint.
    seats: Vec<(u32, u16)>,
    /// The routers, ascending.
    routers: Vec<u32>,
}

impl Lines {
    /// The lines of a network, for packets that take this many phases.
    pub(super) fn new(of: &Kns, graph: &Graph, phases: u8) -> Self {
        let (sizes, line) = (of.dims(), of.line());
        let coordinates =
            crate::topology::lattice::Lattice { dims: &sizes, concentration: 1, links: 1 }.coordinates();
        let tree = || Tree::new(Up::Deterministic, &line, of.k as usize);
        Self {
            dims: sizes.len(),
            orders: vec![orders::ascending(sizes.len())],
            places: of.places(),
            coordinates,
            tree: (of.stages > 1).then(tree),
            shape: (line.down[0], of.stages),
            phases,
            seats: graph.endpoints.clone(),
            routers: graph.endpoints.iter().map(|&(switch, _)| switch).collect(),
        }
    }

    /// The endpoint whose router a switch is.
    fn endpoint(&self, switch: u32) -> u32 {
        match self.places[switch as usize] {
            Place::Router(endpoint) => endpoint,
            Place::Line { .. } => unreachable!("ways start and end at routers"),
        }
    }

    fn place(&self, endpoint: u32) -> &[u16] {
        &self.coordinates[endpoint as usize * self.dims..][..self.dims]
    }
}

impl Ordered for Lines {
    fn set_orders(&mut self, orders: Vec<Order>) {
        self.orders = orders;
    }

    fn freedom(&self) -> String {
        "dimensions are taken in order, and each is crossed only once".to_string()
    }
}

impl Phases for Lines {
    fn levels(&self, link_class: u8, phases: u8) -> u16 {
        if link_class == 0 { 1 } else { phases.into() }
    }

    fn made_levels(&self) -> u8 {
        1
    }

    fn seat(&self, dst: u32) -> (u32, u16) {
        self.seats[dst as usize]
    }

    #[inline]
    fn next(
        &self,
        (from, to): (u32, u32),
        _dst: u32,
        phase: u8,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let there = self.place(self.endpoint(to));
        match self.places[from as usize] {
            Place::Line { dim, at } => {
                let coordinate = there[usize::from(dim)];
                route.state |= if route.hops == 0 { MADE } else { 0 };
                let level = if route.state & MADE == 0 { phase } else { self.phases };
                let Some(tree) = &self.tree else { return Hop { port: coordinate, level } };
                Hop { level, ..tree.route(at, None, coordinate.into(), route, senses) }
            }
            Place::Router(endpoint) => {
                let (here, order) = (self.place(endpoint), &self.orders[usize::from(route.network)]);
                let dim = order.iter().find(|&&dim| here[usize::from(dim)] != there[usize::from(dim)]);
                let &dim = dim.expect("a packet in its destination's switch has no dimension to go");
                route.state &= !MADE;
                Hop { port: u16::from(dim) + 1, level: phase }
            }
        }
    }

    /// Up to the nearest common switch of each line, and down again.
    fn distance(&self, from: u32, to: u32) -> u32 {
        let (here, there) = (self.place(self.endpoint(from)), self.place(self.endpoint(to)));
        let (arity, stages) = self.shape;
        let height = |(&a, &b): (&u16, &u16)| {
            let joined = |&up: &u32| u32::from(a) / arity.pow(up) == u32::from(b) / arity.pow(up);
            (0..stages).find(joined).unwrap_or(stages)
        };
        here.iter().zip(there).map(|pair| 2 * height(pair)).sum()
    }

    fn switches(&self) -> &[u32] {
        &self.routers
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE, follow};
    use super::super::{Bind, dor::Dor};
    use super::*;
    use crate::topology::Topology;

    /// Ports of the hops from endpoint to endpoint in an order.
    fn ports(text: &str, order: &str, (src, dst): (u32, u32)) -> Vec<u16> {
        let topology: Topology = toml::from_str(&format!("kind = 'kns'\n{text}")).unwrap();
        let graph = topology.wiring().graph();
        let routing = Dor { orders: vec![order.to_string()], ..Dor::default() };
        let router = routing.router(&topology, &graph, &SCALE).unwrap();
        let hops = follow(&graph, &*router, src, dst, &mut Fixed::default());
        assert!(hops.iter().all(|hop| hop.level == 0));
        hops.iter().map(|hop| hop.port).collect()
    }

    #[test]
    fn dimensions_are_crossed_in_the_order_asked_for() {
        // Figure 1: from endpoint 0 to endpoint 15, at (3, 3).
        assert_eq!(ports("k = 4\nn = 2", "xy", (0, 15)), [1, 3, 2, 3, 0]);
        assert_eq!(ports("k = 4\nn = 2", "yx", (0, 15)), [2, 3, 1, 3, 0]);
        // From (1, 2, 0) to (1, 0, 2): no way along x.
        assert_eq!(ports("k = 3\nn = 3", "zx", (7, 19)), [3, 2, 2, 0, 0]);
        assert_eq!(ports("k = 3\nn = 3", "xyz", (7, 7)), [0]);
    }

    #[test]
    fn the_tree_of_a_line_is_climbed_as_far_as_needed() {
        assert_eq!(ports("k = 4\nn = 2\nstages = 2", "xy", (0, 1)), [1, 1, 0]);
        // 2 is the child 0 of the other leaf: up by port 2 + 0.
        assert_eq!(ports("k = 4\nn = 2\nstages = 2", "xy", (0, 2)), [1, 2, 1, 0, 0]);
    }

    #[test]
    fn distances_are_those_of_the_ways_taken() {
        for text in ["k = 4\nn = 2", "k = 9\nn = 2\nstages = 2"] {
            let topology: Topology = toml::from_str(&format!("kind = 'kns'\n{text}")).unwrap();
            let Topology::Kns(kns) = &topology else { unreachable!() };
            let (graph, all) = (topology.wiring().graph(), kns.k * kns.k);
            let lines = Lines::new(kns, &graph, 1);
            for (src, dst) in [(0, 3), (5, all - 1), (2, 2), (1, all - kns.k + 1)] {
                let [from, to] = [src, dst].map(|endpoint| graph.endpoints[endpoint as usize].0);
                let links = ports(text, "xy", (src, dst)).len() - 1;
                assert_eq!(lines.distance(from, to), links as u32, "{text} {src} {dst}");
            }
        }
    }
}
