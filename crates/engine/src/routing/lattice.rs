//! What the routings of torus, mesh and HyperX share: dimension order, in one phase or two.
use super::dor::Ordered;
use super::orders::{self, Order};
use super::phases::Phases;
use super::{BUBBLE, Hop, Route, Senses};
use crate::graph::Graph;
use crate::topology::{Topology, lattice};

/// Kinds of topology that are lattices.
pub(super) const KINDS: &[&str] = &["torus", "mesh", "hyperx"];

/// Smallest ring in which a packet may take two links in a row, so that its channels may wait for one another.
pub(super) const DATE_LINE_FROM: u32 = 4;

/// How the switches along a dimension are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Each to the next, the last to the first.
    Ring,
    /// Each to the next.
    Line,
    /// All to all.
    Full,
}

/// Dimension order on a lattice.
#[derive(Debug)]
pub(super) struct Lattice {
    shape: Shape,
    /// Size of each dimension, and its first port.
    dims: Vec<(u32, u32)>,
    /// The order of the dimensions in each virtual network.
    orders: Vec<Order>,
    links: u32,
    /// Whether rings have a date line.
    date_line: bool,
    /// Coordinates of every switch, one after the other.
    coordinates: Vec<u16>,
    /// Switch and port of every endpoint.
    seats: Vec<(u32, u16)>,
    /// All switches.
    switches: Vec<u32>,
}

impl Lattice {
    /// The lattice of a topology, if it is one.
    pub(super) fn new(topology: &Topology, graph: &Graph, date_line: bool) -> Option<Self> {
        let (shape, of) = match topology {
            Topology::Torus(torus) => (Shape::Ring, torus.lattice()),
            Topology::Mesh(mesh) => (Shape::Line, mesh.lattice()),
            Topology::Hyperx(hyperx) => (Shape::Full, hyperx.lattice()),
            _ => return None,
        };
        let first = match shape {
            Shape::Full => of.first_ports(|size| size - 1),
            Shape::Ring | Shape::Line => of.first_ports(|_| 2),
        };
        let lattice::Lattice { dims, links, .. } = of;
        Some(Self {
            shape,
            orders: vec![orders::ascending(dims.len())],
            dims: dims.iter().copied().zip(first).collect(),
            links,
            date_line,
            coordinates: of.coordinates(),
            seats: graph.endpoints.clone(),
            switches: (0..graph.switches.len() as u32).collect(),
        })
    }

    /// Whether a dimension of this size needs a date line.
    #[inline]
    fn dated(&self, size: u32) -> bool {
        self.date_line && self.is_ring(size)
    }

    /// Whether the channels along a dimension of this size may wait for one another in a circle.
    fn is_ring(&self, size: u32) -> bool {
        self.shape == Shape::Ring && size >= DATE_LINE_FROM
    }

    /// The dimension that a port leads along, if it is not an endpoint's.
    fn dimension(&self, port: u16) -> Option<usize> {
        self.dims.partition_point(|&(_, first)| first <= port.into()).checked_sub(1)
    }

    /// Calls `visit` with every port that leads one link nearer, parallel links included.
    pub(super) fn each_nearer(&self, from: u32, to: u32, visit: &mut dyn FnMut(u16)) {
        let places = self.place(from).iter().zip(self.place(to));
        for (&(size, first), (&c, &t)) in self.dims.iter().zip(places).filter(|(_, (c, t))| c != t) {
            let (c, t) = (u32::from(c), u32::from(t));
            let ahead = if t > c { t - c } else { t + size - c };
            let (onwards, back) = match self.shape {
                Shape::Full => (true, false),
                Shape::Line => (t > c, t < c),
                Shape::Ring => (2 * ahead <= size, 2 * ahead >= size),
            };
            let neighbour = if self.shape == Shape::Full { t - u32::from(t > c) } else { 0 };
            for (leads, neighbour) in [(onwards, neighbour), (back, 1)] {
                let ports = first + neighbour * self.links..first + (neighbour + 1) * self.links;
                ports.filter(|_| leads).for_each(|port| visit(port as u16));
            }
        }
    }

    fn place(&self, switch: u32) -> &[u16] {
        let n = self.dims.len();
        &self.coordinates[switch as usize * n..][..n]
    }

    /// One of the parallel links, at random, of the neighbour that is the `neighbour`-th from port `first` on.
    fn port(&self, first: u32, neighbour: u32, senses: &mut dyn Senses) -> u16 {
        let link = if self.links > 1 { senses.below(self.links) } else { 0 };
        (first + neighbour * self.links + link) as u16
    }
}

impl Ordered for Lattice {
    fn set_orders(&mut self, orders: Vec<Order>) {
        self.orders = orders;
    }

    fn has_rings(&self) -> bool {
        self.dims.iter().any(|&(size, _)| self.is_ring(size))
    }

    /// One that goes on in a ring keeps to its parallel link, so that each is a ring of its own.
    fn bubble(&self, in_port: Option<u16>, hop: Hop, route: &mut Route) -> Hop {
        route.state &= !BUBBLE;
        let dimension = self.dimension(hop.port);
        let Some(&(_, first)) = dimension.map(|d| &self.dims[d]) else { return hop };
        match in_port.filter(|&port| self.dimension(port) == dimension) {
            Some(port) => {
                let link = |port: u16| (u32::from(port) - first) % self.links;
                Hop { port: (u32::from(hop.port) - link(hop.port) + link(port)) as u16, ..hop }
            }
            None => {
                route.state |= if self.shape == Shape::Ring { BUBBLE } else { 0 };
                hop
            }
        }
    }

    fn freedom(&self) -> String {
        let ring = match self.has_rings() {
            true if self.date_line => ", with a date line in each ring",
            _ => "",
        };
        format!("dimensions are taken in order{ring}")
    }
}

impl Phases for Lattice {
    /// Switch and port of endpoint `dst`.
    fn seat(&self, dst: u32) -> (u32, u16) {
        self.seats[dst as usize]
    }

    /// Levels of dimension order in this many phases on a link class: two a phase in a ring that needs a date line.
    fn levels(&self, link_class: u8, phases: u8) -> u16 {
        match usize::from(link_class).checked_sub(1) {
            None => 1,
            Some(d) => u16::from(phases) * (1 + u16::from(self.dated(self.dims[d].0))),
        }
    }

    /// The next hop from one switch to another in dimension order; each `phase` (0, 1) has levels of its own.
    ///
    /// In a ring the shorter way is taken; of two equal ways one is drawn, after which it is the shorter. The date line
    /// is between the last switch and the first: level 0 while it is ahead of the packet, 1 when it is not (any
    /// more), so that the link across it is never waited for at level 1, and level 0 ends there.
    fn next(
        &self,
        (from, to): (u32, u32),
        _dst: u32,
        phase: u8,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let (here, there) = (self.place(from), self.place(to));
        for &d in &self.orders[usize::from(route.network)] {
            let (size, first) = self.dims[usize::from(d)];
            let (c, t) = (u32::from(here[usize::from(d)]), u32::from(there[usize::from(d)]));
            if c == t {
                continue;
            }
            let onwards = match self.shape {
                Shape::Full => {
                    return Hop { port: self.port(first, t - u32::from(t > c), senses), level: phase };
                }
                Shape::Line => t > c,
                Shape::Ring => {
                    let ahead = if t > c { t - c } else { t + size - c };
                    2 * ahead < size || (2 * ahead == size && senses.below(2) == 0)
                }
            };
            let crosses = onwards != (t > c);
            let port = self.port(first, u32::from(!onwards), senses);
            let dated = self.dated(size);
            return Hop { port, level: phase * (1 + u8::from(dated)) + u8::from(dated && !crosses) };
        }
        unreachable!("a packet in its destination's switch has no dimension to go")
    }

    /// Links between two switches.
    fn distance(&self, from: u32, to: u32) -> u32 {
        let along = |((&(size, _), &c), &t): ((&(u32, u32), &u16), &u16)| {
            let apart = u32::from(c.abs_diff(t));
            match self.shape {
                Shape::Ring => apart.min(size - apart),
                Shape::Line => apart,
                Shape::Full => u32::from(apart > 0),
            }
        };
        self.dims.iter().zip(self.place(from)).zip(self.place(to)).map(along).sum()
    }

    fn switches(&self) -> &[u32] {
        &self.switches
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE, follow};
    use super::super::{Routing, dor::Dor};
    use super::*;

    /// (port, level) of the hops between switches.
    fn hops(text: &str, (src, dst): (u32, u32), draws: &[u32]) -> Vec<(u16, u8)> {
        let topology: Topology = toml::from_str(text).unwrap();
        let graph = topology.wiring().graph();
        let router = Routing::Dor(Dor::default()).bind(&topology, &graph, &SCALE).unwrap();
        let mut senses = Fixed { draws: draws.iter().copied().collect(), ..Fixed::default() };
        let hops = follow(&graph, &*router, src, dst, &mut senses);
        assert!(senses.draws.is_empty());
        hops[..hops.len() - 1].iter().map(|hop| (hop.port, hop.level)).collect()
    }

    #[test]
    fn a_ring_is_taken_the_shorter_way_with_level_1_from_the_date_line_on() {
        let ring = "kind = 'torus'\ndims = [5]";
        assert_eq!(hops(ring, (3, 0), &[]), [(1, 0), (1, 0)]);
        assert_eq!(hops(ring, (4, 1), &[]), [(1, 0), (1, 1)]);
        assert_eq!(hops(ring, (1, 3), &[]), [(1, 1), (1, 1)]);
        assert_eq!(hops(ring, (1, 4), &[]), [(2, 0), (2, 0)]);
        assert_eq!(hops(ring, (0, 3), &[]), [(2, 0), (2, 1)]);
    }

    #[test]
    fn of_two_equal_ways_round_one_is_drawn_once() {
        let ring = "kind = 'torus'\ndims = [4]";
        assert_eq!(hops(ring, (0, 2), &[0]), [(1, 1), (1, 1)]);
        assert_eq!(hops(ring, (0, 2), &[1]), [(2, 0), (2, 1)]);
    }

    #[test]
    fn the_lowest_dimension_is_first_and_parallel_links_are_drawn() {
        assert_eq!(hops("kind = 'mesh'\ndims = [3, 3]\nlinks = 2", (1, 5), &[1, 0]), [(2, 0), (5, 0)]);
        assert_eq!(hops("kind = 'hyperx'\ndims = [4, 4]", (1, 14), &[]), [(2, 0), (6, 0)]);
    }

    #[test]
    fn distances_are_those_of_the_ways_taken() {
        for text in [
            "kind = 'torus'\ndims = [5, 4]",
            "kind = 'mesh'\ndims = [3, 4]",
            "kind = 'hyperx'\ndims = [3, 4]",
        ] {
            let topology: Topology = toml::from_str(text).unwrap();
            let lattice = Lattice::new(&topology, &topology.wiring().graph(), true).unwrap();
            for (src, dst) in [(0, 7), (3, 8), (11, 2), (6, 6)] {
                let taken =
                    hops(text, (src, dst), if text.contains("[5, 4]") && src == 11 { &[0] } else { &[] });
                assert_eq!(lattice.distance(src, dst), taken.len() as u32, "{text} {src} {dst}");
            }
        }
    }
}
