//! What the congestion control ordered: the signals of the switches, and the rates that endpoints were allowed.
use super::summary::Measured;
use crate::core::Tick;
use crate::protocol::MILLION;
use crate::protocol::signal::{DIVISOR_ONE, News, Signal};
use crate::report::{Column, Table};
use std::collections::HashMap;

/// What is recorded of a partition.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// Signals of its switches.
    pub signals: Vec<Signal>,
    /// Changes of rates, in parts of a million.
    pub rates: Vec<Change>,
    last: HashMap<(u32, Target), u32>,
    /// Rates that hold when a pause is over.
    to_come: HashMap<(u32, Target), (Tick, u32)>,
}

impl Control {
    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.signals.capacity() * size_of::<Signal>() + self.rates.capacity() * size_of::<Change>()
    }

    /// An endpoint is allowed a rate towards a destination, or in all, and nothing before a time.
    pub fn allowed(&mut self, (endpoint, dst, at, rate): Change, from: Tick) {
        if let Some((since, rate)) = self.to_come.remove(&(endpoint, dst)).filter(|(since, _)| *since <= at) {
            self.note((endpoint, dst, since, rate));
        }
        if from > at {
            self.to_come.insert((endpoint, dst), (from, rate));
        }
        self.note((endpoint, dst, at, if from > at { 0 } else { rate }));
    }

    /// Notes what holds when the pauses that last at `end` would be over by then.
    pub fn finish(&mut self, end: Tick) {
        let due: Vec<_> = self.to_come.drain().filter(|(_, (since, _))| *since < end).collect();
        due.into_iter().for_each(|((endpoint, dst), (since, rate))| self.note((endpoint, dst, since, rate)));
    }

    fn note(&mut self, (endpoint, dst, at, rate): Change) {
        if self.last.insert((endpoint, dst), rate).unwrap_or(MILLION) != rate {
            self.rates.push((endpoint, dst, at, rate));
        }
    }
}

/// The tables of orders and of rates, in an order that no partitioning changes.
pub fn tables(measured: &Measured) -> [Table; 2] {
    let recorded = || measured.probes.iter().filter_map(|probe| probe.control.as_ref());
    let mut signals: Vec<Signal> = recorded().flat_map(|control| control.signals.iter().copied()).collect();
    signals.sort_unstable_by_key(|signal| (signal.at, signal.about, signal.to, signal.number));
    let mut rates: Vec<_> = recorded().flat_map(|control| control.rates.iter().copied()).collect();
    // Of several changes in a tick the last counts.
    rates.sort_by_key(|&(endpoint, dst, at, _)| (endpoint, dst, at));
    [signal_table(measured, &signals), rate_table(measured, &last_changes(rates))]
}

/// What a rate is towards: a destination and a flow for it; none: all.
pub type Target = Option<(u32, u16)>;

/// A change of a rate: endpoint, towards what, time, rate from then on.
type Change = (u32, Target, Tick, u32);

/// The rates that differ from those before them.
fn last_changes(rates: Vec<Change>) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for (at, rate) in rates.iter().enumerate() {
        let same_tick = |next: &Change| (next.0, next.1, next.2) == (rate.0, rate.1, rate.2);
        if rates.get(at + 1).is_some_and(same_tick) {
            continue;
        }
        let before = changes.last().filter(|last| (last.0, last.1) == (rate.0, rate.1));
        if before.map_or(MILLION, |last| last.3) != rate.3 {
            changes.push(*rate);
        }
    }
    changes
}

fn signal_table(measured: &Measured, signals: &[Signal]) -> Table {
    let int =
        |pick: fn(&Signal) -> u32| Column::Int(signals.iter().map(|signal| pick(signal) as i64).collect());
    let divisor = |signal: &Signal| match signal.news {
        News::Abate(0) => f64::NAN,
        news => f64::from(DIVISOR_ONE) / f64::from(news.order().0.max(1)),
    };
    let columns = vec![
        (
            "time_ns".into(),
            Column::Real(signals.iter().map(|signal| measured.ns(signal.at as f64)).collect()),
        ),
        ("about".into(), int(|signal| signal.about)),
        ("endpoint".into(), int(|signal| signal.to)),
        ("streams".into(), int(|signal| signal.streams)),
        ("order".into(), Column::Text(signals.iter().map(|signal| signal.news.name().into()).collect())),
        ("rate".into(), Column::Real(signals.iter().map(divisor).collect())),
        (
            "pause_ns".into(),
            Column::Real(signals.iter().map(|signal| measured.ns(signal.news.order().1.into())).collect()),
        ),
    ];
    Table { name: "signals", columns }
}

fn rate_table(measured: &Measured, rates: &[Change]) -> Table {
    let columns = vec![
        ("endpoint".into(), Column::Int(rates.iter().map(|rate| rate.0.into()).collect())),
        (
            "destination".into(),
            Column::Int(rates.iter().map(|rate| rate.1.map_or(-1, |(dst, _)| dst.into())).collect()),
        ),
        (
            "queue_pair".into(),
            Column::Int(rates.iter().map(|rate| rate.1.map_or(-1, |(_, flow)| flow.into())).collect()),
        ),
        ("time_ns".into(), Column::Real(rates.iter().map(|rate| measured.ns(rate.2 as f64)).collect())),
        (
            "rate".into(),
            Column::Real(rates.iter().map(|rate| f64::from(rate.3) / f64::from(MILLION)).collect()),
        ),
    ];
    Table { name: "rates", columns }
}
