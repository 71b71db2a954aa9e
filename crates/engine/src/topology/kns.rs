//! KNS: a k-ary n-direct s-indirect network.
use super::xgft::Xgft;
use super::{Wiring, lattice, nonzero, product, too_large};
use crate::graph::{Graph, Peer, Port};
use crate::problem::Problem;

/// Endpoints at the points of a lattice, each line of them along a dimension joined by a switch of its own, or by a fat tree.
///
/// # What it does
///
/// There are kⁿ endpoints, numbered with the first dimension fastest. Each has a small router beside it, with a port for
/// the endpoint and one for each dimension, that passes packets on from one dimension to another. The k routers of a line along a
/// dimension are joined by an indirect network: one switch of k ports (`stages = 1`), or a fat tree of `stages`
/// levels of switches, whose arity is that root of k. So there are n·kⁿ⁻¹ such lines. Ports of a
/// router: its endpoint, then dimensions in order; of a line's switch: the coordinates in order, then ports up. Switches are
/// numbered line by line of the first dimension: its routers, then its own switches and those of a line of each other dimension.
/// Link classes: `host`, and one a dimension: `x`, `y`, `z`, `w`, `v`, `u`. Blocks: planes across the last dimension; its lines
/// are dealt to them in turn. Let `link.host = "0 ns"` if router and endpoint are one.
///
/// # Paper
///
/// R. Peñaranda, C. Gómez, M. E. Gómez, P. López, J. Duato, "The k-ary n-direct s-indirect family of topologies for
/// large-scale interconnection networks", Journal of Supercomputing 72(3), 2016.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Kns {
    /// Endpoints along each dimension. No default.
    #[schemars(range(min = 2))]
    pub k: u32,
    /// Dimensions. No default.
    #[schemars(range(min = 1, max = 6))]
    pub n: u32,
    /// Stages of switches that join a line; k must be that power of a whole number (default 1: one switch).
    #[serde(default = "lattice::one")]
    #[schemars(range(min = 1, max = 6))]
    pub stages: u32,
}

/// Where a switch of a KNS network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The router beside an endpoint.
    Router(u32),
    /// Switch `at` of the tree of a line along dimension `dim`.
    Line { dim: u8, at: u32 },
}

impl Kns {
    /// The network that joins the routers of a line.
    pub(crate) fn line(&self) -> Xgft {
        let arity = root(self.k, self.stages).unwrap_or(self.k);
        let levels = self.stages as usize;
        Xgft { down: vec![arity; levels], up: vec![arity; levels - 1], links: Vec::new() }
    }

    /// Sizes of the dimensions; of more than can be built, some.
    pub(crate) fn dims(&self) -> Vec<u32> {
        vec![self.k; self.n.min(7) as usize]
    }

    /// The place of every switch.
    pub(crate) fn places(&self) -> Vec<Place> {
        let each = self.line().counts().1 as u32;
        let lines = self.dims()[1..].iter().product::<u32>();
        let row = |row: u32| {
            let routers = (row * self.k..(row + 1) * self.k).map(Place::Router);
            let line = move |dim: u8| (0..each).map(move |at| Place::Line { dim, at });
            routers.chain((0..self.n as u8).flat_map(line))
        };
        (0..lines).flat_map(row).collect()
    }

    /// Number of the router of an endpoint among the switches, where a line has `each`.
    fn router(&self, endpoint: u32, each: u32) -> u32 {
        endpoint / self.k * (self.k + self.n * each) + endpoint % self.k
    }

    /// Number of the first switch of the line of this number along a dimension.
    fn first_of(&self, line: u32, dim: u32, each: u32) -> u32 {
        line * (self.k + self.n * each) + self.k + dim * each
    }

    /// Adds the switches of all lines of a number, without their links to routers.
    fn add_lines(&self, graph: &mut Graph, line: u32, of: &Graph) {
        let top = self.dims().len() - 1;
        let planes = product(&self.dims()[..top.saturating_sub(1)]) as u32;
        for dim in 0..self.n {
            let first = graph.switches.len() as u32;
            for ports in &of.switches {
                let moved = |port: &Port| Port {
                    class: dim as u8 + 1,
                    peer: match port.peer {
                        Peer::Switch { switch, port } => Peer::Switch { switch: first + switch, port },
                        _ => Peer::None,
                    },
                };
                graph.switches.push(ports.iter().map(moved).collect());
                let last = dim as usize == top;
                graph.blocks.push(if last { line % self.k } else { line / planes });
            }
        }
    }
}

/// The whole `degree`-th root of a number, if it has one.
fn root(number: u32, degree: u32) -> Option<u32> {
    // A power of 32 bits has a root that a float is nowhere near half off from.
    let base = f64::from(number).powf(1.0 / f64::from(degree)).round() as u32;
    (base.checked_pow(degree) == Some(number)).then_some(base)
}

impl Wiring for Kns {
    fn link_classes(&self) -> &'static [&'static str] {
        let dims = self.dims();
        lattice::Lattice { dims: &dims, concentration: 1, links: 1 }.link_classes()
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = [("n", self.n), ("stages", self.stages)]
            .into_iter()
            .filter_map(|(path, value)| nonzero(path, value))
            .collect();
        if self.k < 2 {
            let message = format!("lines of {} endpoints join nothing", self.k);
            problems.push(Problem::new("k", message, "at least 2"));
        }
        if self.n > 6 || self.stages > 6 {
            let key = if self.n > 6 { "n" } else { "stages" };
            problems.push(Problem::new(key, "more than 6 are not built", "1 to 6"));
        }
        if !problems.is_empty() {
            return problems;
        }
        if root(self.k, self.stages).is_none() {
            let message = format!("{} is no power of {} of a whole number", self.k, self.stages);
            let fit = (2u32..=32).filter_map(|base| base.checked_pow(self.stages)).filter(|&k| k <= 1024);
            let fit: Vec<String> = fit.map(|k| k.to_string()).collect();
            return vec![Problem::new("k", message, format!("such as {}", fit.join(", ")))];
        }
        let ports = if self.stages == 1 { self.k } else { 2 * root(self.k, self.stages).unwrap_or(self.k) };
        problems.extend(too_large(&[("k", self.k)], self.counts(), ports.max(self.n + 1).into()));
        problems
    }

    fn counts(&self) -> (u64, u64) {
        if self.k == 0 || self.n == 0 || self.stages == 0 || self.n > 6 || self.stages > 6 {
            return (0, 0);
        }
        let (endpoints, lines) = (product(&self.dims()), product(&self.dims()[1..]));
        let each = self.line().counts().1;
        (endpoints, endpoints.saturating_add(lines.saturating_mul(self.n.into()).saturating_mul(each)))
    }

    fn graph(&self) -> Graph {
        let of = self.line().graph();
        let each = of.switches.len() as u32;
        let (dims, open) = (self.dims(), |class: u32| Port { class: class as u8, peer: Peer::None });
        let (all, plane) = (product(&dims) as u32, product(&dims[1..]) as u32);
        let mut graph = Graph::default();
        for endpoint in 0..all {
            let router = graph.switches.len() as u32;
            graph.switches.push(Vec::new());
            graph.blocks.push(endpoint / plane);
            graph.attach(router, 0);
            graph.switches[router as usize].extend((1..=self.n).map(open));
            if endpoint % self.k == self.k - 1 {
                self.add_lines(&mut graph, endpoint / self.k, &of);
            }
        }
        let mut stride = 1;
        for dim in 0..self.n {
            for endpoint in 0..all {
                let line = endpoint / (stride * self.k) * stride + endpoint % stride;
                let (at, port) = of.endpoints[(endpoint / stride % self.k) as usize];
                let here = (self.router(endpoint, each), dim as u16 + 1);
                graph.join(here, (self.first_of(line, dim, each) + at, port), dim as u8 + 1);
            }
            stride *= self.k;
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_wiring;
    use super::*;
    use crate::describe::describe;

    fn kns(k: u32, n: u32, stages: u32) -> Kns {
        Kns { k, n, stages }
    }

    #[test]
    fn the_networks_of_paper_osha_have_their_switches_and_ports() {
        // Figure 1: 16 endpoints, 8 switches of 4 ports; table 1: 96 of 48, and 1,728 of 24.
        for (network, endpoints, switches) in
            [(kns(4, 2, 1), 16, 8), (kns(48, 2, 1), 2304, 96), (kns(24, 3, 1), 13824, 1728)]
        {
            assert_eq!(network.counts(), (endpoints, endpoints + switches));
            let graph = network.graph();
            let radix =
                |ports: u32| graph.switches.iter().filter(|of| of.len() as u32 == ports).count() as u64;
            assert_eq!(
                (radix(network.k), radix(network.n + 1)),
                (switches + if network.k == network.n + 1 { endpoints } else { 0 }, endpoints)
            );
        }
    }

    #[test]
    fn every_router_is_joined_to_the_others_of_its_lines() {
        for network in [kns(4, 2, 1), kns(3, 3, 1), kns(4, 1, 2), kns(9, 2, 2), kns(8, 1, 3), kns(2, 4, 1)] {
            check_wiring(&network);
            let facts = describe(&network.graph(), &network, |_| 1.0);
            // Two links a dimension and stage: up and down again.
            assert_eq!(facts.diameter, 2 * network.n * network.stages, "{network:?}");
        }
        let graph = kns(4, 2, 1).graph();
        // Endpoint 6 is at (2, 1): its router is the third of row 1, behind 4 routers and 2 switches.
        assert_eq!(graph.endpoints[6], (8, 0));
        assert_eq!(graph.switches[8][1].peer, Peer::Switch { switch: 10, port: 2 });
        // Column 2 is the second switch of row 2.
        assert_eq!(graph.switches[8][2].peer, Peer::Switch { switch: 17, port: 1 });
    }

    #[test]
    fn half_of_a_network_has_a_channel_for_each_endpoint_to_the_other() {
        for network in [kns(4, 2, 1), kns(4, 2, 2), kns(16, 2, 2), kns(8, 2, 3), kns(4, 3, 2), kns(4, 1, 2)] {
            let facts = describe(&network.graph(), &network, |_| 1.0);
            assert_eq!(facts.bisection.unwrap().channels_per_endpoint, 1.0, "{network:?}");
        }
    }

    #[test]
    fn lines_that_no_tree_joins_are_refused_with_those_that_one_does() {
        let problems = kns(48, 2, 2).problems();
        assert!(problems[0].path == "k" && problems[0].help.contains("4, 9, 16"), "{}", problems[0]);
        assert_eq!(kns(0, 0, 0).problems().len(), 3);
        assert_eq!(kns(4, 7, 1).problems()[0].path, "n");
        assert!(!kns(1000, 5, 1).problems().is_empty());
        assert_eq!(kns(64, 2, 3).problems(), []);
        assert_eq!(kns(u32::MAX, 1, 1).problems()[0].path, "k");
    }

    #[test]
    fn roots_are_whole_or_none() {
        for degree in 1..=6 {
            let bases = (1..2000).chain(65_500..65_540).chain([u32::MAX]);
            for (base, power) in bases.filter_map(|base: u32| Some((base, base.checked_pow(degree)?))) {
                assert_eq!(root(power, degree), Some(base));
                assert!(degree == 1 || power == u32::MAX || root(power + 1, degree).is_none());
            }
        }
    }
}
