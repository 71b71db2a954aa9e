//! What torus, mesh and HyperX share: switches at the points of a lattice, the first dimension fastest.
use super::{nonzero, product, too_large};
use crate::graph::{Graph, Peer, Port};
use crate::problem::Problem;

/// Most dimensions of a lattice.
const DIMENSIONS_MAX: usize = 6;

/// Host links, and one class a dimension.
const CLASSES: [&str; DIMENSIONS_MAX + 1] = ["host", "x", "y", "z", "w", "v", "u"];

/// The parameters all lattices have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lattice<'a> {
    /// Switches along each dimension.
    pub(crate) dims: &'a [u32],
    /// Endpoints a switch.
    pub(crate) concentration: u32,
    /// Parallel links between two neighbours.
    pub(crate) links: u32,
}

impl Lattice<'_> {
    /// Names of the link classes: the host links, then one a dimension.
    pub(super) fn link_classes(&self) -> &'static [&'static str] {
        &CLASSES[..=self.dims.len().min(DIMENSIONS_MAX)]
    }

    /// Mistakes in the parameters, where a switch has `ports(size)` neighbour ports along a dimension.
    pub(super) fn problems(&self, ports: impl Fn(u32) -> u64) -> Vec<Problem> {
        let mut problems: Vec<Problem> = [("concentration", self.concentration), ("links", self.links)]
            .into_iter()
            .filter_map(|(path, value)| nonzero(path, value))
            .collect();
        if self.dims.is_empty() || self.dims.len() > DIMENSIONS_MAX {
            let message = format!("a network of {} dimensions is not built", self.dims.len());
            problems.push(Problem::new("dims", message, format!("1 to {DIMENSIONS_MAX} numbers")));
        }
        if self.dims.contains(&0) {
            problems.push(Problem::new(
                "dims",
                "a dimension has no switches",
                "every size must be at least 1",
            ));
        }
        if let Some(size) = self.dims.iter().find(|&&size| size > u32::from(u16::MAX)) {
            let message = format!("{size} switches along a dimension are too many");
            problems.push(Problem::new("dims", message, format!("at most {}", u16::MAX)));
        }
        let neighbours = self.dims.iter().fold(0u64, |sum, &size| sum.saturating_add(ports(size)));
        let ports = neighbours.saturating_mul(self.links.into()).saturating_add(self.concentration.into());
        problems.extend(too_large(
            &[("dims", self.dims.iter().copied().max().unwrap_or(0))],
            self.counts(),
            ports,
        ));
        problems
    }

    /// Number of endpoints and of switches.
    pub(super) fn counts(&self) -> (u64, u64) {
        let switches = product(self.dims);
        (switches.saturating_mul(self.concentration.into()), switches)
    }

    /// The coordinates of every switch, one after the other.
    pub(crate) fn coordinates(&self) -> Vec<u16> {
        let mut all = Vec::new();
        for switch in 0..self.counts().1 {
            let mut rest = switch;
            for &size in self.dims {
                all.push((rest % u64::from(size)) as u16);
                rest /= u64::from(size);
            }
        }
        all
    }

    /// The first port of each dimension, which has `ports(size)` neighbour ports.
    pub(crate) fn first_ports(&self, ports: impl Fn(u32) -> u32) -> Vec<u32> {
        let mut next = self.concentration;
        let first = |&size: &u32| {
            let first = next;
            next += ports(size) * self.links;
            first
        };
        self.dims.iter().map(first).collect()
    }

    /// Switches with their endpoints and `ports(size)` unconnected neighbour ports a dimension, in blocks along
    /// dimension `along`.
    pub(super) fn unconnected(&self, ports: impl Fn(u32) -> u32, along: usize) -> Graph {
        let mut graph = Graph::default();
        let coordinates = self.coordinates();
        for (switch, place) in coordinates.chunks(self.dims.len()).enumerate() {
            graph.switches.push(Vec::new());
            graph.blocks.push(place[along].into());
            for _ in 0..self.concentration {
                graph.attach(switch as u32, 0);
            }
            for (d, &size) in self.dims.iter().enumerate() {
                let open = Port { class: d as u8 + 1, peer: Peer::None };
                graph.switches[switch].extend(vec![open; (ports(size) * self.links) as usize]);
            }
        }
        graph
    }

    /// Joins each switch to the next along every dimension (after the last comes the first, if `round`). Port
    /// `first + l` leads onwards by parallel link l, port `first + links + l` back.
    pub(super) fn join_neighbours(&self, graph: &mut Graph, round: bool) {
        let coordinates = self.coordinates();
        let first = self.first_ports(|_| 2);
        for (switch, place) in coordinates.chunks(self.dims.len()).enumerate() {
            let mut stride = 1;
            for (d, &size) in self.dims.iter().enumerate() {
                let last = u32::from(place[d]) + 1 == size;
                let here = switch as u32;
                let next = if last { here + stride - size * stride } else { here + stride };
                if size > 1 && (round || !last) {
                    for l in 0..self.links {
                        let (onwards, back) = (first[d] + l, first[d] + self.links + l);
                        graph.join((here, onwards as u16), (next, back as u16), d as u8 + 1);
                    }
                }
                stride *= size;
            }
        }
    }

    /// The longest dimension, of several the last: across it a torus or mesh is cut by the fewest links.
    pub(super) fn longest(&self) -> usize {
        (0..self.dims.len()).max_by_key(|&d| self.dims[d]).unwrap_or(0)
    }
}

/// One parallel link, one endpoint: the default of `links` and `concentration`.
pub(super) fn one() -> u32 {
    1
}
