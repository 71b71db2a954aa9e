//! Every message that arrived: where from, where to, how long, when, and how much later than in the empty network.
use super::class::rank;
use super::summary::{Class, Measured};
use crate::core::Tick;
use crate::core::packet::{Packet, Tag};
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
    /// The workload's tag, if it is of a job.
    tag: Tag,
    /// Which of the flows between the two endpoints.
    flow: u16,
}

impl Whole {
    fn latency(&self) -> Tick {
        self.arrived - self.born
    }

    /// The message of its last packet.
    pub fn of(packet: &Packet, arrived: Tick) -> Self {
        let cold = &packet.cold;
        Self {
            born: cold.born(),
            source: cold.src,
            number: cold.message,
            destination: packet.hot.dst,
            class: cold.class(),
            flits: cold.length,
            arrived,
            tag: packet.tag,
            flow: cold.flow(),
        }
    }
}

/// Every message that arrived, in the order of their creation, which no partitioning changes.
pub struct Messages {
    all: Vec<Row>,
}

/// A message, and what is found of it at the end.
struct Row {
    of: Whole,
    /// Its latency in the empty network.
    empty: Option<Tick>,
    /// Whether it carries data, and not a question or an answer of the software alone.
    is_data: bool,
}

impl Messages {
    pub(super) fn new(measured: &Measured, mut all: Vec<Whole>) -> Self {
        all.sort_unstable();
        let Scenario { topology, routing, .. } = measured.scenario;
        let (plan, mut empty) = (measured.plan, ZeroLoad::new(Guides::new(measured.plan, topology, routing)));
        let told = |of: Whole| {
            let job = usize::from(of.class).checked_sub(plan.traffic.len());
            let is_data = job.is_none_or(|job| plan.jobs[job].application.carries_data(of.tag.word));
            Row { of, empty: empty.latency([of.source, of.destination], of.flits), is_data }
        };
        Self { all: all.into_iter().map(told).collect() }
    }

    /// The table; `names` are those of the classes.
    pub(super) fn table(&self, measured: &Measured, names: &[&str]) -> Table {
        let int = |pick: fn(&Whole) -> u32| {
            Column::Int(self.all.iter().map(|told| pick(&told.of).into()).collect())
        };
        let ns = |pick: fn(&Row) -> Option<Tick>| {
            let value = |told| pick(told).map_or(f64::NAN, |ticks| measured.ns(ticks as f64));
            Column::Real(self.all.iter().map(value).collect())
        };
        let class = |told: &Row| names[usize::from(told.of.class)].to_string();
        let kind = |told: &Row| if told.is_data { "data" } else { "control" }.to_string();
        let columns = vec![
            ("class".into(), Column::Text(self.all.iter().map(class).collect())),
            ("source".into(), int(|one| one.source)),
            ("destination".into(), int(|one| one.destination)),
            ("queue_pair".into(), int(|one| one.flow.into())),
            ("message".into(), int(|one| one.number)),
            ("kind".into(), Column::Text(self.all.iter().map(kind).collect())),
            ("flits".into(), int(|one| one.flits)),
            ("created_ns".into(), ns(|told| Some(told.of.born))),
            ("latency_ns".into(), ns(|told| Some(told.of.latency()))),
            ("zero_load_ns".into(), ns(|told| told.empty)),
        ];
        Table { name: "messages", columns }
    }

    /// The slowdowns of the data messages created in a window, in ascending order, by class; the last of the classes is that of all.
    pub(super) fn slowdowns(&self, classes: usize, window: (Tick, Tick)) -> Vec<Vec<f64>> {
        let mut lists = vec![Vec::new(); classes];
        let inside = |told: &&Row| told.is_data && window.0 <= told.of.born && told.of.born < window.1;
        for told in self.all.iter().filter(inside) {
            if let Some(empty) = told.empty {
                let slowdown = told.of.latency() as f64 / empty as f64;
                lists[usize::from(told.of.class)].push(slowdown);
                lists[classes - 1].push(slowdown);
            }
        }
        lists.iter_mut().for_each(|list| list.sort_unstable_by(f64::total_cmp));
        lists
    }
}

impl Class {
    /// Mean, quantiles and largest of the slowdowns: no mean if a message never arrived, no quantile that is one of these or the largest;
    /// none at all if over 1 % never arrived.
    pub(super) fn slowdown_values(&self) -> [Option<f64>; 6] {
        let (all, missing) = (&self.slowdowns, self.probe.latency[2].missing());
        if all.is_empty() || self.saturated[2] {
            return [None; 6];
        }
        // The least that this share of all does not exceed.
        let at =
            |share| all.get((rank(share, all.len() as u64 + missing)?.ceil() as usize).max(1) - 1).copied();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let mean = (missing == 0).then_some(mean);
        [mean, at(0.5), at(0.95), at(0.99), at(0.999), all.last().copied()]
    }
}
