//! Which of several shortest ways a destination is given.
use crate::graph::{Graph, Peer};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Numbers by which destinations take turns on the ways out of a switch: destinations in a row go different ways, and those that come
/// together in a switch farther up because they went to one switch below go different ways there. On a tree that is D-mod-k.
#[derive(Debug)]
pub(super) struct Turns {
    /// By endpoint, its place in the order of switches and their ports.
    places: Vec<u32>,
    /// By switch, among how many switches those below it have divided the destinations.
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

/// Puts the ways of a switch in the order in which destinations take them: one to each neighbour, then the second of parallel links.
/// Those of them that lead to a destination keep that order, since parallel links lead to the same ones.
pub(super) fn neighbours_first<W: Copy>(ways: &mut [W], to: impl Fn(W) -> u32) {
    let mut links: BTreeMap<u32, u32> = BTreeMap::new();
    let mut numbered = Vec::with_capacity(ways.len());
    for &way in ways.iter() {
        let number = links.entry(to(way)).or_default();
        numbered.push((*number, way));
        *number += 1;
    }
    numbered.sort_by_key(|&(number, _)| number);
    ways.iter_mut().zip(numbered).for_each(|(place, (_, way))| *place = way);
}

/// By switch, the product of the most switches above a switch of each height below its own. Parallel links divide nothing: destinations
/// that took different ones are together again in the switch above.
fn divided(graph: &Graph) -> Vec<u32> {
    let heights = heights(graph);
    let above = |switch: usize| {
        let neighbours = BTreeSet::from_iter(neighbours(graph, switch));
        neighbours.into_iter().filter(|&to| heights[to as usize] > heights[switch]).count() as u32
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

    /// The ports on the way from an endpoint to another under `choose = "by-destination"`, and under `up = "deterministic"`.
    fn both_ways(tree: &str, mut each: impl FnMut(&Graph, (u32, u32), [Vec<u16>; 2])) {
        let tree: Topology = toml::from_str(tree).unwrap();
        let graph = tree.wiring().graph();
        let bound = |kind: &dyn Bind| kind.router(&tree, &graph, &SCALE).unwrap();
        let shortest = bound(&Shortest { choose: Choose::ByDestination, ..Shortest::default() });
        let nca = bound(&Nca { up: Up::Deterministic });
        let ports = |router: &dyn Router, src, dst| {
            // Of parallel links down `nca` draws one.
            let mut senses = Fixed { draws: [0; 9].into(), ..Fixed::default() };
            Vec::from_iter(follow(&graph, router, src, dst, &mut senses).iter().map(|hop| hop.port))
        };
        let all = graph.endpoints.len() as u32;
        for (src, dst) in (0..all).flat_map(|src| (0..all).map(move |dst| (src, dst))) {
            each(&graph, (src, dst), [&*shortest, &*nca].map(|router| ports(router, src, dst)));
        }
    }

    #[test]
    fn on_a_k_ary_tree_ways_are_those_of_d_mod_k() {
        both_ways("kind = 'fat-tree'\nlevels = 3\narity = 3", |_, (src, dst), [shortest, nca]| {
            assert_eq!(shortest, nca, "{src} to {dst}");
        });
    }

    #[test]
    fn with_parallel_links_ways_up_are_those_of_d_mod_k_and_those_down_are_taken_in_turn() {
        let mut down = BTreeMap::<_, BTreeSet<u32>>::new();
        let tree = "kind = 'xgft'\ndown = [8, 3, 2]\nup = [2, 3]\nlinks = [2, 2]";
        both_ways(tree, |graph, (src, dst), [shortest, nca]| {
            let up = shortest.len() / 2;
            assert_eq!(shortest[..up], nca[..up], "{src} to {dst}");
            let mut switch = graph.endpoints[src as usize].0;
            for (at, &port) in shortest.iter().enumerate() {
                if let Peer::Switch { switch: to, .. } =
                    graph.switches[switch as usize][usize::from(port)].peer
                {
                    if at >= up {
                        down.entry((switch, to, port)).or_default().insert(dst);
                    }
                    switch = to;
                }
            }
        });
        // Each of two links down to a leaf has 2 of its 8 endpoints, and of the 24 of a subtree each of those from one of 6 roots has 2.
        let leaves = 6;
        assert_eq!(down.len(), 2 * 2 * leaves + 2 * 6 * 2);
        assert!(down.values().all(|destinations| destinations.len() == 2), "{down:?}");
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
