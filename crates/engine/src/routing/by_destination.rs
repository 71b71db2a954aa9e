//! Which of several shortest ways a destination is given.
use crate::graph::{Graph, Peer};
use std::collections::VecDeque;

/// Numbers by which destinations take turns on the ways out of a switch: destinations in a row go different ways, and those that come
/// together in a switch farther up because they went one way below go different ways there. On a k-ary tree that is D-mod-k.
#[derive(Debug)]
pub(super) struct Turns {
    /// By endpoint, its place in the order of switches and their ports.
    places: Vec<u32>,
    /// By switch, in how many ways those below it have divided the destinations.
    divided: Vec<u32>,
}

impl Turns {
    pub(super) fn new(graph: &Graph) -> Self {
        let mut order: Vec<u32> = (0..graph.endpoints.len() as u32).collect();
        order.sort_unstable_by_key(|&endpoint| graph.endpoints[endpoint as usize]);
        let mut places = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&endpoint, place)| places[endpoint as usize] = place);
        Self { places, divided: divided(graph) }
    }

    /// The number of a destination in a switch: of n ways it takes the one of this number modulo n.
    #[inline]
    pub(super) fn of(&self, dst: u32, switch: u32) -> u32 {
        self.places[dst as usize] / self.divided[switch as usize]
    }
}

/// By switch, the product of the most ways up from a switch of each height below its own.
fn divided(graph: &Graph) -> Vec<u32> {
    let heights = heights(graph);
    let above = |switch: usize| {
        neighbours(graph, switch).filter(|&to| heights[to as usize] > heights[switch]).count() as u32
    };
    let mut most = vec![1; heights.iter().max().map_or(0, |&height| height as usize + 1)];
    for (switch, &height) in heights.iter().enumerate() {
        most[height as usize] = above(switch).max(most[height as usize]);
    }
    let product =
        |&height: &u16| most[..height as usize].iter().fold(1, |all: u32, &n| all.saturating_mul(n));
    heights.iter().map(product).collect()
}

/// By switch, the links to the nearest switch with endpoints.
fn heights(graph: &Graph) -> Vec<u16> {
    let mut heights = vec![u16::MAX; graph.switches.len()];
    let mut next: VecDeque<u32> = graph.endpoints.iter().map(|&(switch, _)| switch).collect();
    next.iter().for_each(|&switch| heights[switch as usize] = 0);
    while let Some(switch) = next.pop_front() {
        for to in neighbours(graph, switch as usize) {
            if heights[to as usize] == u16::MAX {
                heights[to as usize] = heights[switch as usize] + 1;
                next.push_back(to);
            }
        }
    }
    heights
}

/// The switches at the other ends of a switch's links.
fn neighbours(graph: &Graph, switch: usize) -> impl Iterator<Item = u32> {
    graph.switches[switch].iter().filter_map(|port| match port.peer {
        Peer::Switch { switch, .. } => Some(switch),
        Peer::Endpoint(_) | Peer::None => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::nca::{Nca, Up};
    use super::super::shortest::{Choose, Shortest};
    use super::super::tests::{Fixed, SCALE, follow};
    use super::super::{Bind, Router};
    use super::*;
    use crate::topology::Topology;

    #[test]
    fn on_a_k_ary_tree_ways_are_those_of_d_mod_k() {
        let tree: Topology = toml::from_str("kind = 'fat-tree'\nlevels = 3\narity = 3").unwrap();
        let graph = tree.wiring().graph();
        let bound = |kind: &dyn Bind| kind.router(&tree, &graph, &SCALE).unwrap();
        let shortest = bound(&Shortest { choose: Choose::ByDestination, ..Shortest::default() });
        let nca = bound(&Nca { up: Up::Deterministic });
        let ports = |router: &dyn Router, src, dst| {
            let hops = follow(&graph, router, src, dst, &mut Fixed::default());
            Vec::from_iter(hops.iter().map(|hop| hop.port))
        };
        for (src, dst) in (0..27).flat_map(|src| (0..27).map(move |dst| (src, dst))) {
            assert_eq!(ports(&*shortest, src, dst), ports(&*nca, src, dst), "{src} to {dst}");
        }
    }

    #[test]
    fn endpoints_are_counted_switch_by_switch() {
        // Endpoints 0 and 2 in one switch, 1 and 3 in the other.
        let mut graph = Graph { switches: vec![Vec::new(); 2], ..Graph::default() };
        [0, 1, 0, 1].into_iter().for_each(|switch| _ = graph.attach(switch, 0));
        let turns = Turns::new(&graph);
        assert_eq!([0, 1, 2, 3].map(|dst| turns.of(dst, 0)), [0, 2, 1, 3]);
    }
}
