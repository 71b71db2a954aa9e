//! Nearest-common-ancestor routing on a fat tree: up as far as needed, and down the only way.
use super::{Bind, Hop, Route, Router, Senses};
use crate::graph::Graph;
use crate::topology::{Topology, fat_tree::FatTree};
use crate::units::Scale;

/// Up to a nearest common ancestor of source and destination, then down by the only way there is.
///
/// # What it does
/// The port is chosen at each level on the way up. One level: a packet never goes up after it went down, so no cycle of
/// channels can form.
///
/// # Paper
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
    /// By the destination: its lowest digit to base `arity` in a leaf switch (modulo the number of ports up, if
    /// tapered), its next digit in a middle switch. All packets to an endpoint come down one way (D-mod-k).
    Deterministic,
    /// The port of least occupancy, of several the one drawn with equal probability.
    LeastLoaded,
}

impl Bind for Nca {
    fn topologies(&self) -> &'static [&'static str] {
        &["fat-tree"]
    }

    fn router(&self, topology: &Topology, graph: &Graph, _: &Scale) -> Option<Box<dyn Router>> {
        let Topology::FatTree(tree) = topology else { return None };
        Some(Box::new(Tree::new(self.up, tree, graph)))
    }
}

/// Where an endpoint is, and the ports that lead to it.
#[derive(Debug, Clone, Copy)]
struct Seat {
    leaf: u32,
    pod: u16,
    /// Port of the leaf switch.
    port: u16,
    /// Index of the leaf switch in its pod: the port down of the switches above it.
    seat: u16,
    /// Deterministic choice among the ports up of a leaf switch.
    up: u16,
}

/// Nearest-common-ancestor routing on a tree of two or three levels.
struct Tree {
    up: Up,
    /// Ports down of every switch, and ports up of a middle switch.
    k: u16,
    /// Ports up of a leaf switch.
    uplinks: u16,
    seats: Vec<Seat>,
    /// The pod of each leaf and middle switch. In two levels there is one pod, in which the spines are.
    pods: Vec<u16>,
    leaves: u32,
}

impl Tree {
    fn new(up: Up, tree: &FatTree, graph: &Graph) -> Self {
        let (k, uplinks, leaves) = (tree.arity, tree.uplinks(), tree.leaves());
        let pod = |leaf: u32| if tree.levels == 3 { leaf / k } else { 0 };
        let seat = |&(leaf, port): &(u32, u16)| Seat {
            leaf,
            pod: pod(leaf) as u16,
            port,
            seat: (leaf - pod(leaf) * k) as u16,
            up: port % uplinks as u16,
        };
        // Spines are treated as the middle switches of the only pod, which no packet ever leaves upwards.
        let above = if tree.levels == 3 { tree.middles() } else { tree.tops() };
        let pod_above = |index: u32| if tree.levels == 3 { index / uplinks } else { 0 };
        Self {
            up,
            k: k as u16,
            uplinks: uplinks as u16,
            seats: graph.endpoints.iter().map(seat).collect(),
            pods: (0..leaves).map(pod).chain((0..above).map(pod_above)).map(|pod| pod as u16).collect(),
            leaves,
        }
    }

    /// One of the `n` ports up, which follow the ports down; `digit` is the deterministic choice.
    #[inline]
    fn upwards(&self, n: u16, digit: u16, senses: &mut dyn Senses) -> u16 {
        self.k
            + match self.up {
                Up::Random => senses.below(n.into()) as u16,
                Up::Deterministic => digit,
                Up::LeastLoaded => self.least_loaded(n, senses),
            }
    }

    /// The least occupied of the `n` ports up. Equals are sampled in one pass: the i-th replaces the choice with
    /// probability 1/i.
    fn least_loaded(&self, n: u16, senses: &mut dyn Senses) -> u16 {
        let (mut choice, mut least, mut equals) = (0, u32::MAX, 0);
        for port in 0..n {
            let occupancy = senses.occupancy(self.k + port);
            if occupancy < least {
                (choice, least, equals) = (port, occupancy, 1);
            } else if occupancy == least {
                equals += 1;
                if senses.below(equals) == 0 {
                    choice = port;
                }
            }
        }
        choice
    }
}

impl Router for Tree {
    fn levels(&self, _: u8) -> u8 {
        1
    }

    fn freedom(&self) -> String {
        "ways lead up, then down, and never up again".to_string()
    }

    fn route(&self, switch: u32, _: Option<u16>, dst: u32, _: &mut Route, senses: &mut dyn Senses) -> Hop {
        let Seat { leaf, pod, port, seat, up } = self.seats[dst as usize];
        let port = if switch == leaf {
            port
        } else if switch < self.leaves {
            self.upwards(self.uplinks, up, senses)
        } else {
            match self.pods.get(switch as usize) {
                Some(&here) if here == pod => seat,
                Some(_) => self.upwards(self.k, seat, senses),
                None => pod,
            }
        };
        Hop { port, level: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE, follow};
    use super::*;
    use crate::topology::Wiring;

    fn ports(up: Up, text: &str, (src, dst): (u32, u32), mut senses: Fixed) -> Vec<u16> {
        let topology: Topology = toml::from_str(&format!("kind = 'fat-tree'\n{text}")).unwrap();
        let graph = topology.graph();
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
    fn the_least_loaded_port_is_taken_and_equals_are_drawn() {
        let occupied: std::collections::BTreeMap<u16, u32> = [(4, 9), (5, 2), (6, 9), (7, 2)].into();
        for (draw, port) in [(0, 7), (1, 5)] {
            let senses = Fixed { draws: [draw].into(), occupied: occupied.clone(), ..Fixed::default() };
            assert_eq!(ports(Up::LeastLoaded, "levels = 2\narity = 4", (0, 7), senses)[0], port);
        }
    }
}
