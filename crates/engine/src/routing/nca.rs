//! Nearest-common-ancestor routing on a fat tree: up as far as needed, and down the only way.
use super::damaged::Damaged;
use super::least::Least;
use super::{Bind, Hop, Route, Router, Senses};
use crate::graph::Graph;
use crate::topology::{Topology, xgft::Xgft};
use crate::units::Scale;

/// Up to a nearest common ancestor of source and destination, then down by the only switches there are.
///
/// # What it does
///
/// The port is chosen at each level on the way up, for each packet unless `up` says otherwise. One level: a packet never goes up after it went down, so no cycle of
/// channels can form. Of parallel links down one is drawn for each packet with equal probability. The horizontal links of a k-ary n-tree are
/// not used. Where links have failed (`failed` in `[link]`) the port is chosen among those on a shortest way up and down that is left,
/// by the same rule; destinations whose port `up = "deterministic"` has lost take those left in turn (by their number divided by the ports up, rounded down, modulo how
/// many are left).
///
/// # Paper
///
/// F. Petrini, M. Vanneschi, "k-ary n-trees: high performance networks for massively parallel architectures", IPPS 1997.
/// Random: N. Jiang and others, "Network congestion avoidance through Speculative Reservation", HPCA 2012, section 4.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Nca {
    /// How a port up is chosen (default "random").
    pub up: Up,
}

/// How a port up is chosen.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Up {
    /// With equal probability, for each packet and level.
    #[default]
    Random,
    /// By the destination: its number, divided by how many parents a switch has at each level below, rounded down, modulo the number of
    /// ports up (D-mod-k: E. Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees",
    /// Technion 2010); in a k-ary tree these are its digits, the lowest in leaf switches. Results in a row go to different parents, and
    /// only then to a second of parallel links. All packets to an endpoint come down by the same switches; of parallel links down
    /// one is drawn for each.
    Deterministic,
    /// By a hash of source, destination and queue pair, another one in each switch and for each seed: all packets of a flow take one way
    /// (ECMP), of parallel links down too, and stay in order. Several flows from a source to a destination: `queue_pairs`.
    FlowHash,
    /// The port of least occupancy, of several the one drawn with equal probability.
    LeastLoaded,
}

impl Bind for Nca {
    fn topologies(&self) -> &'static [&'static str] {
        &["fat-tree", "xgft", "k-ary-n-tree"]
    }

    fn senses_load(&self) -> bool {
        self.up == Up::LeastLoaded
    }

    fn router(&self, topology: &Topology, graph: &Graph, _: &Scale) -> Option<Box<dyn Router>> {
        let tree = match topology {
            Topology::FatTree(tree) => &tree.general(),
            Topology::Xgft(tree) => tree,
            Topology::KAryNTree(tree) => &tree.plain(),
            _ => return None,
        };
        let tree = Tree::new(self.up, tree, graph.endpoints.len());
        if graph.failed.is_empty() { Some(Box::new(tree)) } else { Some(Box::new(Damaged::new(tree, graph))) }
    }

    fn goes_round(&self, _: &Topology) -> bool {
        true
    }
}

/// The ports of the switches of a level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// Parallel links to each child.
    pub(super) links: u16,
    /// First port up, ports up, and how many of them side by side lead to the same parent.
    pub(super) first_up: u16,
    pub(super) up: u16,
    pub(super) links_up: u16,
}

impl Level {
    /// Parents of a switch; 1 at the top, which has none.
    fn parents(self) -> u16 {
        (self.up / self.links_up).max(1)
    }

    /// The port up by this number: numbers in a row go to different parents, and only then to a second link to the first of them.
    fn port_up(self, number: u32) -> u16 {
        let (turn, parents) = ((number % u32::from(self.up.max(1))) as u16, self.parents());
        self.first_up + turn % parents * self.links_up + turn / parents
    }
}

/// Where an endpoint is, seen from the switches of a level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seat {
    /// The subtree that it is in.
    subtree: u32,
    /// The child that leads to it from a switch above it.
    pub(super) child: u16,
    /// The port up to it that is chosen by its number alone, from other switches.
    pub(super) up: u16,
}

/// Nearest-common-ancestor routing on a tree of any number of levels.
pub(super) struct Tree {
    pub(super) up: Up,
    levels: Vec<Level>,
    /// The level of every switch (from 0) and the number of its subtree in the level.
    pub(super) places: Vec<(u32, u32)>,
    /// For each endpoint, its seat for each level.
    seats: Vec<Seat>,
}

impl Tree {
    pub(super) fn new(up: Up, tree: &Xgft, endpoints: usize) -> Self {
        let level = |at: usize| {
            let links = tree.parallel(at);
            let links_up = tree.parallel(at + 1);
            let up = tree.up.get(at).copied().unwrap_or(0) * links_up;
            Level {
                links: links as u16,
                first_up: (tree.down[at] * links) as u16,
                up: up as u16,
                links_up: links_up as u16,
            }
        };
        let levels: Vec<Level> = (0..tree.down.len()).map(level).collect();
        let seats_of = |endpoint: u32| {
            let (mut rest, mut number) = (endpoint, endpoint);
            tree.down.iter().zip(&levels).map(move |(&children, level)| {
                let child = (rest % children) as u16;
                rest /= children;
                let up = level.port_up(number);
                number /= u32::from(level.parents());
                Seat { subtree: rest, child, up }
            })
        };
        let seats = (0..endpoints as u32).flat_map(seats_of).collect();
        let places = tree.places().into_iter().map(|(level, subtree, _)| (level - 1, subtree)).collect();
        Self { up, levels, places, seats }
    }

    /// The level of a switch, the seat of an endpoint for that level, and whether the switch is above it.
    #[inline]
    pub(super) fn place(&self, switch: u32, dst: u32) -> (Level, Seat, bool) {
        let (at, subtree) = self.places[switch as usize];
        let seat = self.seats[dst as usize * self.levels.len() + at as usize];
        (self.levels[at as usize], seat, subtree == seat.subtree)
    }

    /// One of the ports up; `determined` is the deterministic choice.
    #[inline]
    fn upwards(&self, level: Level, determined: u16, senses: &mut dyn Senses) -> u16 {
        match self.up {
            Up::Random => level.first_up + senses.below(level.up.into()) as u16,
            Up::Deterministic => determined,
            Up::FlowHash => level.first_up + senses.of_flow(level.up.into()) as u16,
            Up::LeastLoaded => level.first_up + self.least_loaded(level, senses),
        }
    }

    /// The least occupied of the ports up.
    fn least_loaded(&self, level: Level, senses: &mut dyn Senses) -> u16 {
        let mut least = Least::new();
        for port in 0..level.up {
            let occupancy = senses.occupancy(level.first_up + port);
            least.offer(port, occupancy.into(), senses);
        }
        least.best().map_or(0, |(port, _)| port)
    }
}

impl Router for Tree {
    fn levels(&self, _: u8) -> u16 {
        1
    }

    fn hashes(&self) -> bool {
        self.up == Up::FlowHash
    }

    fn freedom(&self) -> String {
        "ways lead up, then down, and never up again".to_string()
    }

    fn route(&self, switch: u32, _: Option<u16>, dst: u32, _: &mut Route, senses: &mut dyn Senses) -> Hop {
        let (level, Seat { child, up, .. }, leads_down) = self.place(switch, dst);
        let port = match level.links {
            _ if !leads_down => self.upwards(level, up, senses),
            1 => child,
            links if self.up == Up::FlowHash => child * links + senses.of_flow(links.into()) as u16,
            links => child * links + senses.below(links.into()) as u16,
        };
        Hop { port, level: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE, follow};
    use super::*;

    fn ports(up: Up, text: &str, (src, dst): (u32, u32), mut senses: Fixed) -> Vec<u16> {
        let topology: Topology = toml::from_str(&format!("kind = 'fat-tree'\n{text}")).unwrap();
        let graph = topology.wiring().graph();
        let router = Nca { up }.router(&topology, &graph, &SCALE).unwrap();
        let hops = follow(&graph, &*router, src, dst, &mut senses);
        assert!(senses.draws.is_empty());
        hops.iter().map(|hop| hop.port).collect()
    }

    #[test]
    fn a_packet_turns_at_the_nearest_common_ancestor() {
        let three = |src, dst, draws: &[u32]| {
            let senses = Fixed { draws: draws.iter().copied().collect(), ..Fixed::default() };
            ports(Up::Random, "levels = 3\narity = 4", (src, dst), senses)
        };
        assert_eq!(three(0, 1, &[]), [1]);
        assert_eq!(three(0, 5, &[3]), [4 + 3, 1, 1]);
        // Endpoint 63 is in pod 3, leaf 3 of the pod, port 3.
        assert_eq!(three(0, 63, &[1, 2]), [4 + 1, 4 + 2, 3, 3, 3]);
    }

    #[test]
    fn deterministic_ports_are_the_digits_of_the_destination() {
        let way = |text, dst| ports(Up::Deterministic, text, (0, dst), Fixed::default());
        // 27 = 1·16 + 2·4 + 3.
        assert_eq!(way("levels = 3\narity = 4", 27), [4 + 3, 4 + 2, 1, 2, 3]);
        assert_eq!(way("levels = 2\narity = 4\ntaper = 2", 7), [4 + 1, 1, 3]);
    }

    #[test]
    fn deterministic_ports_are_divided_by_the_parents_below() {
        let topology: Topology = toml::from_str("kind = 'xgft'\ndown = [4, 4, 4]\nup = [3, 2]").unwrap();
        let graph = topology.wiring().graph();
        let router = Nca { up: Up::Deterministic }.router(&topology, &graph, &SCALE).unwrap();
        for dst in 16..64 {
            let up: Vec<u16> = follow(&graph, &*router, 0, dst, &mut Fixed::default())[..2]
                .iter()
                .map(|hop| hop.port)
                .collect();
            assert_eq!(up, [4 + dst as u16 % 3, 4 + dst as u16 / 3 % 2], "to {dst}");
        }
    }

    #[test]
    fn deterministic_ports_go_to_all_parents_before_a_second_link() {
        let topology: Topology =
            toml::from_str("kind = 'xgft'\ndown = [4, 4]\nup = [2]\nlinks = [2]").unwrap();
        let graph = topology.wiring().graph();
        let router = Nca { up: Up::Deterministic }.router(&topology, &graph, &SCALE).unwrap();
        let up = |dst| {
            let mut senses = Fixed { draws: [0].into(), ..Fixed::default() };
            follow(&graph, &*router, 0, dst, &mut senses)[0].port
        };
        // Ports up: 4 and 5 lead to the first parent, 6 and 7 to the second.
        assert_eq!([4, 5, 6, 7].map(up), [4, 6, 5, 7]);
    }

    #[test]
    fn the_least_loaded_port_is_taken_and_equals_are_drawn() {
        let occupied: std::collections::BTreeMap<u16, u32> = [(4, 9), (5, 2), (6, 9), (7, 2)].into();
        for (draw, port) in [(0, 7), (1, 5)] {
            let senses = Fixed { draws: [draw].into(), occupied: occupied.clone(), ..Fixed::default() };
            assert_eq!(ports(Up::LeastLoaded, "levels = 2\narity = 4", (0, 7), senses)[0], port);
        }
    }
}
