//! Orders of the dimensions, and the source's choice among them.
use super::{Hop, Senses};
use crate::problem::Problem;

/// Letters of the dimensions, as the link classes of lattices are called.
const LETTERS: &str = "xyzwvu";

/// All dimensions, the one to be crossed first in front.
pub(super) type Order = Box<[u8]>;

/// How the source chooses among several orders of the dimensions.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Choose {
    /// In turn, packet by packet (OSHA): a packet keeps the network of its turn while it waits.
    #[default]
    RoundRobin,
    /// With equal probability.
    Random,
    /// The order whose first virtual channel has the least flits bound for it in the endpoint's switch and credits in use;
    /// equals in turn (SASHA).
    Occupancy,
}

impl Choose {
    /// The virtual network of a packet at its source; `first` tells the first hop in a network.
    pub(super) fn order(
        self,
        networks: u8,
        senses: &mut dyn Senses,
        first: impl Fn(u8, &mut dyn Senses) -> Hop,
    ) -> u8 {
        match self {
            Self::RoundRobin => senses.turn(networks.into()) as u8,
            Self::Random => senses.below(networks.into()) as u8,
            Self::Occupancy => {
                let turn = senses.turn(networks.into()) as u8;
                let (mut choice, mut least) = (turn, u32::MAX);
                for ahead in 0..networks {
                    let network = (turn + ahead) % networks;
                    let hop = first(network, senses);
                    let flits = senses.committed(hop.port, network, hop.level);
                    if flits < least {
                        (choice, least) = (network, flits);
                    }
                }
                choice
            }
        }
    }
}

/// All dimensions, the lowest first.
pub(super) fn ascending(dims: usize) -> Order {
    (0..dims as u8).collect()
}

/// Reads orders of `dims` dimensions; without any, the ascending one.
pub(super) fn read(names: &[String], dims: usize) -> Result<Vec<Order>, Problem> {
    if names.is_empty() {
        return Ok(vec![ascending(dims)]);
    }
    let letters = &LETTERS[..dims.min(LETTERS.len())];
    let mut orders: Vec<Order> = Vec::new();
    for name in names {
        let wrong = |what: &str| {
            let help = format!("letters of {letters}, each once; those left out follow");
            Err(Problem::new("orders", format!("\"{name}\" {what}"), help))
        };
        if name.is_empty() {
            return wrong("names no dimension");
        }
        let mut order: Vec<u8> = Vec::new();
        for letter in name.chars() {
            match letters.find(letter) {
                None => {
                    return wrong(&format!("names a dimension \"{letter}\" that the network does not have"));
                }
                Some(dim) if order.contains(&(dim as u8)) => return wrong("names a dimension twice"),
                Some(dim) => order.push(dim as u8),
            }
        }
        let rest: Vec<u8> = (0..dims as u8).filter(|dim| !order.contains(dim)).collect();
        order.extend(rest);
        if orders.iter().any(|other| **other == order[..]) {
            return wrong("is the same order as another");
        }
        orders.push(order.into());
    }
    Ok(orders)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn dimensions_that_an_order_leaves_out_follow_in_ascending_order() {
        let orders = read(&names(&["xy", "yx", "z"]), 3).unwrap();
        assert_eq!(orders, [[0, 1, 2].into(), [1, 0, 2].into(), Order::from([2, 0, 1])]);
        assert_eq!(read(&[], 2).unwrap(), [Order::from([0, 1])]);
    }

    #[test]
    fn orders_that_make_no_sense_are_refused() {
        let message = |of: &[&str]| read(&names(of), 2).unwrap_err().message;
        assert!(message(&["xz"]).contains("\"z\" that the network does not have"));
        assert!(message(&["xx"]).contains("twice"));
        assert!(message(&["yx", ""]).contains("\"\" names no dimension"));
        assert!(message(&["xy", "x"]).contains("the same order"));
    }

    /// A source whose networks have so many flits bound for them.
    struct Source {
        turn: u32,
        flits: BTreeMap<u8, u32>,
    }

    impl Senses for Source {
        fn below(&mut self, _: u32) -> u32 {
            panic!("nothing is left to chance")
        }
        fn occupancy(&mut self, _: u16) -> u32 {
            panic!("a port is not asked for")
        }
        fn turn(&mut self, n: u32) -> u32 {
            self.turn % n
        }
        fn committed(&mut self, port: u16, network: u8, level: u8) -> u32 {
            assert_eq!((port, level), (u16::from(network) + 1, 0));
            self.flits[&network]
        }
    }

    fn chosen(by: Choose, turn: u32, flits: [u32; 2]) -> u8 {
        let mut senses = Source { turn, flits: [(0, flits[0]), (1, flits[1])].into() };
        by.order(2, &mut senses, |network, _| Hop { port: u16::from(network) + 1, level: 0 })
    }

    #[test]
    fn round_robin_takes_the_networks_in_turn_whatever_waits_there() {
        assert_eq!([0, 1, 2].map(|turn| chosen(Choose::RoundRobin, turn, [9, 0])), [0, 1, 0]);
    }

    #[test]
    fn occupancy_takes_the_emptier_network_and_equals_in_turn() {
        assert_eq!([0, 1].map(|turn| chosen(Choose::Occupancy, turn, [64, 128])), [0, 0]);
        assert_eq!([0, 1].map(|turn| chosen(Choose::Occupancy, turn, [65, 64])), [1, 1]);
        assert_eq!([0, 1].map(|turn| chosen(Choose::Occupancy, turn, [7, 7])), [0, 1]);
    }
}
