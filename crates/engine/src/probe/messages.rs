//! Every message that arrived: where from, where to, how long, when, and how much later than in the empty network.
use super::summary::Measured;
use crate::core::Tick;
use crate::core::packet::{Packet, Tag};
use crate::report::{Column, Table};
use crate::scenario::Scenario;
use crate::zero_load::{Guides, ZeroLoad};

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

    /// The message of its last packet, or of that of its last part, of so many flits in all.
    pub fn of(packet: &Packet, flits: u32, arrived: Tick) -> Self {
        let cold = &packet.cold;
        Self {
            born: cold.born(),
            source: cold.src,
            number: cold.message,
            destination: packet.hot.dst,
            class: cold.class(),
            flits,
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

    /// Length in flits and slowdown of the data messages created in a window, by class; behind those of the scenario comes that of
    /// all, unless one is.
    pub(super) fn slowdowns(
        &self,
        (own, classes): (usize, usize),
        window: (Tick, Tick),
    ) -> Vec<Vec<(u32, f64)>> {
        let mut lists = vec![Vec::new(); classes];
        let inside = |told: &&Row| told.is_data && window.0 <= told.of.born && told.of.born < window.1;
        for told in self.all.iter().filter(inside) {
            if let Some(empty) = told.empty {
                let one = (told.of.flits, told.of.latency() as f64 / empty as f64);
                lists[usize::from(told.of.class)].push(one);
                if let Some(all) = lists.get_mut(own) {
                    all.push(one);
                }
            }
        }
        lists
    }
}
