//! Every message that arrived: where from, where to, how long, and when.
use super::summary::Measured;
use crate::core::Tick;
use crate::core::packet::Packet;
use crate::report::{Column, Table};

/// A message of which the last packet has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Whole {
    born: Tick,
    source: u32,
    /// The source's number of it.
    number: u32,
    destination: u32,
    class: u8,
    flits: u32,
    arrived: Tick,
}

impl Whole {
    /// The message of its last packet.
    pub fn of(packet: &Packet, arrived: Tick) -> Self {
        let cold = &packet.cold;
        Self {
            born: cold.born,
            source: cold.src,
            number: cold.message,
            destination: packet.hot.dst,
            class: cold.class(),
            flits: cold.length,
            arrived,
        }
    }
}

/// The table of messages, in the order of their creation, which no partitioning changes; `names` are those of the classes.
pub fn table(measured: &Measured, names: &[&str], mut all: Vec<Whole>) -> Table {
    all.sort_unstable();
    let int = |pick: fn(&Whole) -> u32| Column::Int(all.iter().map(|one| pick(one).into()).collect());
    let ns = |pick: fn(&Whole) -> Tick| {
        Column::Real(all.iter().map(|one| measured.ns(pick(one) as f64)).collect())
    };
    let class = |one: &Whole| names[usize::from(one.class)].to_string();
    let columns = vec![
        ("class".into(), Column::Text(all.iter().map(class).collect())),
        ("source".into(), int(|one| one.source)),
        ("destination".into(), int(|one| one.destination)),
        ("message".into(), int(|one| one.number)),
        ("flits".into(), int(|one| one.flits)),
        ("created_ns".into(), ns(|one| one.born)),
        ("latency_ns".into(), ns(|one| one.arrived - one.born)),
    ];
    Table { name: "messages", columns }
}
