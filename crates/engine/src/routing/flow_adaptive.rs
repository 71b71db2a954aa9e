//! Routes for whole flows on a fat tree, set up switch by switch.
use super::nca::{Tree, Up};
use super::{Bind, Hop, Minimality, Route, Router, Senses};
use crate::graph::Graph;
use crate::topology::Topology;
use crate::units::Scale;

/// Every flow sets up a route of its own: up by the port with the fewest flows, down with moves along the row of a logical node.
///
/// # What it does
///
/// A flow is a message. Before its first packet its source sends a set-up packet, which each switch sends on by the
/// candidate port with the fewest flows; if that is not the default port, the switch keeps it in the route cache of the input
/// port. The packet is sent back from its destination, then the data follow, by the entry of the cache, without one by the
/// default port; a tear-down packet behind them removes the entries, and the next flow to the destination waits for its return. So
/// the packets of a source for a destination arrive in order, and no flow is refused: if a cache is full, the set-up
/// packet takes the default port. All other packets take default ports: up as `nca` with `up = "deterministic"` does, down, of parallel
/// links, by the destination.
/// Candidates: on the way up every port up. On the way down the port down, and the links to the next switch in the row of the
/// logical node, towards its farther end; once a packet has moved along a row it goes on in that direction or down. A
/// tie goes to the default port, then to a random one. Ways never lead up again, and never back along a row: no deadlock.
///
/// # Paper
///
/// Y. Birk, V. Zdornov, "Improving communication-phase completion times in HPC clusters through congestion mitigation",
/// SYSTOR 2009, section 4.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlowAdaptive {
    /// Entries of the route cache of each input port; without it, unlimited. With 0 all flows take default ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<u32>,
}

impl Bind for FlowAdaptive {
    fn topologies(&self) -> &'static [&'static str] {
        &["fat-tree", "xgft", "k-ary-n-tree"]
    }

    fn minimality(&self) -> Minimality {
        Minimality::NonMinimal
    }

    fn by_flows(&self) -> bool {
        true
    }

    fn router(&self, topology: &Topology, graph: &Graph, _: &Scale) -> Option<Box<dyn Router>> {
        let endpoints = graph.endpoints.len();
        let (tree, horizontal) = match topology {
            Topology::FatTree(tree) => (tree.general(), 0),
            Topology::Xgft(tree) => (tree.clone(), 0),
            Topology::KAryNTree(tree) => (tree.plain(), tree.horizontal as u16),
            _ => return None,
        };
        let places = tree.places();
        let row = |&(level, subtree, number): &(u32, u32, u32)| {
            let mates = places.partition_point(|place| *place <= (level, subtree, u32::MAX));
            let size = mates - places.partition_point(|place| *place < (level, subtree, 0));
            Seat { number, last: size as u32 - 1 }
        };
        Some(Box::new(ByFlows {
            rows: if horizontal > 0 { places.iter().map(row).collect() } else { Vec::new() },
            tree: Tree::new(Up::Deterministic, &tree, endpoints),
            horizontal,
            cache: self.cache.unwrap_or(u32::MAX),
        }))
    }
}

/// A switch's place in the row of its logical node.
#[derive(Debug, Clone, Copy)]
struct Seat {
    number: u32,
    last: u32,
}

/// Routing by the number of flows on each port, which is what its senses tell as the occupancy.
struct ByFlows {
    tree: Tree,
    /// The seat of every switch, if there are rows.
    rows: Vec<Seat>,
    /// Parallel links between neighbours in a row.
    horizontal: u16,
    cache: u32,
}

impl ByFlows {
    /// The ports by which a packet on its way down may move along the row of its logical node. `first` is the switch's first
    /// horizontal port.
    fn sideways(&self, switch: u32, in_port: Option<u16>, first: u16) -> std::ops::Range<u16> {
        let Some(&Seat { number, last }) = self.rows.get(switch as usize) else { return 0..0 };
        let back = if number > 0 { first..first + self.horizontal } else { first..first };
        let ahead = if number < last { back.end..back.end + self.horizontal } else { back.end..back.end };
        match in_port {
            Some(port) if back.contains(&port) => ahead,
            Some(port) if ahead.contains(&port) => back,
            _ if 2 * number < last => ahead,
            _ => back,
        }
    }
}

/// The port with the fewest flows: the default one if no other has fewer, else one of the best with equal probability.
fn fewest(default: u16, others: impl Iterator<Item = u16>, senses: &mut dyn Senses) -> u16 {
    let (mut choice, mut least, mut equals) = (default, senses.occupancy(default), 0);
    for port in others.filter(|&port| port != default) {
        let flows = senses.occupancy(port);
        if flows < least {
            (choice, least, equals) = (port, flows, 1);
        } else if flows == least && choice != default {
            equals += 1;
            if senses.below(equals) == 0 {
                choice = port;
            }
        }
    }
    choice
}

impl Router for ByFlows {
    fn levels(&self, _: u8) -> u16 {
        1
    }

    fn freedom(&self) -> String {
        "ways lead up, then down, and along each row in one direction".to_string()
    }

    fn route_cache(&self) -> Option<u32> {
        Some(self.cache)
    }

    fn minds_input(&self) -> bool {
        true
    }

    fn route(
        &self,
        switch: u32,
        in_port: Option<u16>,
        dst: u32,
        _: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let (level, seat, leads_down) = self.tree.place(switch, dst);
        let first = level.first_up + level.up;
        let down = seat.child * level.links;
        let default = if leads_down { down + dst as u16 % level.links } else { seat.up };
        let port = if senses.occupancy(default) == 0 {
            default
        } else if leads_down {
            let candidates = (down..down + level.links).chain(self.sideways(switch, in_port, first));
            fewest(default, candidates, senses)
        } else {
            fewest(default, level.first_up..first, senses)
        };
        Hop { port, level: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Fixed, SCALE, follow};
    use super::*;

    fn ways(text: &str, (src, dst): (u32, u32), occupied: &[(u16, u32)], draws: &[u32]) -> Vec<u16> {
        let topology: Topology = toml::from_str(&format!("kind = 'k-ary-n-tree'\n{text}")).unwrap();
        let graph = topology.wiring().graph();
        let router = FlowAdaptive::default().router(&topology, &graph, &SCALE).unwrap();
        let occupied = occupied.iter().copied().collect();
        let mut senses = Fixed { occupied, draws: draws.iter().copied().collect(), ..Fixed::default() };
        let hops = follow(&graph, &*router, src, dst, &mut senses);
        assert!(senses.draws.is_empty());
        hops.iter().map(|hop| hop.port).collect()
    }

    #[test]
    fn where_no_port_has_fewer_flows_ways_are_those_of_the_digits() {
        // 27 = 1·16 + 2·4 + 3, as deterministic nca goes.
        assert_eq!(ways("k = 4\nn = 3\nhorizontal = 2", (0, 27), &[], &[]), [4 + 3, 4 + 2, 1, 2, 3]);
    }

    #[test]
    fn default_ports_up_are_those_of_deterministic_nca_with_parallel_links_too() {
        let tree = "kind = 'xgft'\ndown = [4, 4]\nup = [2]\nlinks = [2]";
        let topology: Topology = toml::from_str(tree).unwrap();
        let graph = topology.wiring().graph();
        let first_port = |router: Box<dyn Router>, dst| {
            follow(&graph, &*router, 15, dst, &mut Fixed { draws: [0].into(), ..Fixed::default() })[0].port
        };
        for dst in 0..4 {
            let flows = FlowAdaptive::default().router(&topology, &graph, &SCALE).unwrap();
            let nca =
                super::super::nca::Nca { up: Up::Deterministic }.router(&topology, &graph, &SCALE).unwrap();
            assert_eq!(first_port(flows, dst), first_port(nca, dst), "to {dst}");
        }
    }

    #[test]
    fn up_the_port_with_the_fewest_flows_is_taken_and_equals_are_drawn() {
        let occupied = [(4, 9), (5, 2), (6, 2), (7, 3)];
        for (draw, port) in [(0, 6), (1, 5)] {
            // The other switches see the same flows on their ports 4 to 7: the top ones go down.
            assert_eq!(ways("k = 4\nn = 2", (0, 7), &occupied, &[draw])[0], port);
        }
    }

    #[test]
    fn down_a_packet_moves_towards_the_farther_end_of_its_row_and_does_not_turn_back() {
        // Two levels of 2: leaf 1's way up by default (digit 1 of endpoint 1 is 1) is spine 1, the right end of its row.
        let text = "k = 2\nn = 2\nhorizontal = 1";
        assert_eq!(ways(text, (3, 1), &[], &[]), [2 + 1, 0, 1]);
        // With a flow on its port down (0) the spine sends it left, where port 0 is as full but only down is left.
        assert_eq!(ways(text, (3, 1), &[(0, 1)], &[]), [2 + 1, 2, 0, 1]);
    }
}
