//! Every message that arrived: where from, where to, how long, when, and how much later than in the empty network.
use super::summary::{Class, Measured, saturated};
use crate::core::Tick;
use crate::core::packet::Packet;
use crate::report::{Column, Table};
use crate::scenario::Scenario;
use crate::zero_load::{Guides, ZeroLoad};

/// What is told of slowdowns.
pub(super) const SLOWDOWNS: [&str; 6] = ["mean", "p50", "p95", "p99", "p999", "max"];

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
    fn latency(&self) -> Tick {
        self.arrived - self.born
    }

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

/// Every message that arrived, in the order of their creation, which no partitioning changes, each with its latency in the empty network.
pub struct Messages {
    all: Vec<(Whole, Option<Tick>)>,
}

impl Messages {
    pub(super) fn new(measured: &Measured, mut all: Vec<Whole>) -> Self {
        all.sort_unstable();
        let Scenario { topology, routing, .. } = measured.scenario;
        let mut empty = ZeroLoad::new(Guides::new(measured.plan, topology, routing));
        let with = |one: Whole| (one, empty.latency([one.source, one.destination], one.flits));
        Self { all: all.into_iter().map(with).collect() }
    }

    /// The table; `names` are those of the classes.
    pub(super) fn table(&self, measured: &Measured, names: &[&str]) -> Table {
        let int =
            |pick: fn(&Whole) -> u32| Column::Int(self.all.iter().map(|(one, _)| pick(one).into()).collect());
        let ns = |pick: fn(&(Whole, Option<Tick>)) -> Option<Tick>| {
            let value = |row| pick(row).map_or(f64::NAN, |ticks| measured.ns(ticks as f64));
            Column::Real(self.all.iter().map(value).collect())
        };
        let class = |(one, _): &(Whole, _)| names[usize::from(one.class)].to_string();
        let columns = vec![
            ("class".into(), Column::Text(self.all.iter().map(class).collect())),
            ("source".into(), int(|one| one.source)),
            ("destination".into(), int(|one| one.destination)),
            ("message".into(), int(|one| one.number)),
            ("flits".into(), int(|one| one.flits)),
            ("created_ns".into(), ns(|(one, _)| Some(one.born))),
            ("latency_ns".into(), ns(|(one, _)| Some(one.latency()))),
            ("zero_load_ns".into(), ns(|&(_, empty)| empty)),
        ];
        Table { name: "messages", columns }
    }

    /// The slowdowns of the messages created in a window, in ascending order, by class; the last of the classes is that of all.
    pub(super) fn slowdowns(&self, classes: usize, window: (Tick, Tick)) -> Vec<Vec<f64>> {
        let mut lists = vec![Vec::new(); classes];
        for (one, empty) in &self.all {
            if let Some(empty) = empty.filter(|_| window.0 <= one.born && one.born < window.1) {
                let slowdown = one.latency() as f64 / empty as f64;
                lists[usize::from(one.class)].push(slowdown);
                lists[classes - 1].push(slowdown);
            }
        }
        lists.iter_mut().for_each(|list| list.sort_unstable_by(f64::total_cmp));
        lists
    }
}

impl Class {
    /// Mean, quantiles and largest of the slowdowns; none of them if over 1 % of the messages never arrived.
    pub(super) fn slowdown_values(&self) -> [Option<f64>; 6] {
        let all = &self.slowdowns;
        let Some(&largest) = all.last().filter(|_| !saturated(&self.probe.latency[2])) else {
            return [None; 6];
        };
        // The least that this share of all does not exceed.
        let at = |share: f64| Some(all[((share * all.len() as f64).ceil() as usize).max(1) - 1]);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        [Some(mean), at(0.5), at(0.95), at(0.99), at(0.999), Some(largest)]
    }
}
