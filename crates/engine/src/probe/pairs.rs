//! What every source got through to every destination, over time.
use super::summary::Measured;
use crate::core::Tick;
use crate::core::packet::Packet;
use crate::report::{Column, Table};
use std::collections::HashMap;

/// Flits that arrived, by bin of time, class, source and destination.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    bin: Tick,
    flits: HashMap<(Tick, u8, u32, u32), u64>,
}

impl Pairs {
    /// Nothing has arrived; bins last so many ticks.
    pub fn new(bin: Tick) -> Self {
        Self { bin, flits: HashMap::new() }
    }

    /// A packet has arrived that is no second copy, with so many flits of data.
    pub fn delivered(&mut self, packet: &Packet, flits: u64, now: Tick) {
        if flits == 0 {
            return;
        }
        let key = (now / self.bin, packet.cold.class(), packet.cold.src, packet.hot.dst);
        *self.flits.entry(key).or_default() += flits;
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.flits.capacity() * size_of::<((Tick, u8, u32, u32), u64)>()
    }
}

/// The table, by time, class, source and destination; `names` are those of the classes. A destination is in one partition.
pub(super) fn table(measured: &Measured, names: &[&str]) -> Table {
    let recorded = measured.probes.iter().filter_map(|probe| probe.pairs.as_ref());
    let mut rows: Vec<_> = recorded
        .flat_map(|pairs| {
            pairs
                .flits
                .iter()
                .map(|(&(at, class, src, dst), &flits)| (at * pairs.bin, class, src, dst, flits))
        })
        .collect();
    rows.sort_unstable();
    let int = |pick: fn(&(Tick, u8, u32, u32, u64)) -> u64| {
        Column::Int(rows.iter().map(|row| pick(row) as i64).collect())
    };
    let columns = vec![
        (
            "class".into(),
            Column::Text(rows.iter().map(|row| names[usize::from(row.1)].to_string()).collect()),
        ),
        ("source".into(), int(|row| row.2.into())),
        ("destination".into(), int(|row| row.3.into())),
        ("time_ns".into(), Column::Real(rows.iter().map(|row| measured.ns(row.0 as f64)).collect())),
        ("flits".into(), int(|row| row.4)),
    ];
    Table { name: "pairs", columns }
}
