//! What is measured of a class of traffic, in one partition.
use super::batches::{Batches, Cut, NONE_OPEN, Open, OpenBatches, pair_up};
use crate::core::Tick;
use hdrhistogram::Histogram;

/// Kinds of latency, in the order of [`ClassProbe::latency`].
pub const LATENCIES: [&str; 3] = ["packet", "network", "message"];

/// A latency: exact sum and largest, and a histogram of 1 % resolution, in ticks.
#[derive(Clone)]
pub struct Latency {
    /// Sum of all that arrived.
    pub sum: u128,
    /// The largest of them.
    pub largest: Tick,
    /// Their distribution.
    pub histogram: Histogram<u32>,
    /// How many were due: created (or injected) in the window and not dropped or discarded. Partitions count what begins and ends in
    /// them, so only their sum tells.
    pub due: u64,
    /// Those of them that have not arrived, by the part of the window in which they began.
    open: OpenBatches,
    /// By the part of the window in which they began.
    pub batches: Batches,
}

impl Latency {
    pub(super) fn new() -> Self {
        let histogram = Histogram::new(2).expect("two digits are allowed");
        Self { sum: 0, largest: 0, histogram, due: 0, open: NONE_OPEN, batches: Batches::default() }
    }

    /// So many that begin at a tick, in this batch, are due.
    pub(super) fn expect(&mut self, count: u64, start: Tick, batch: usize) {
        self.due = self.due.wrapping_add(count);
        self.open[batch].begin(count, start);
    }

    /// One that began at a tick, in this batch, is no longer due.
    pub(super) fn forgo(&mut self, start: Tick, batch: usize) {
        self.due = self.due.wrapping_sub(1);
        self.open[batch].end(start);
    }

    /// One that began at a tick, in this batch, has arrived.
    pub(super) fn record(&mut self, start: Tick, ticks: Tick, batch: usize) {
        self.open[batch].end(start);
        self.batches.record(batch, ticks);
        self.sum += ticks as u128;
        self.largest = self.largest.max(ticks);
        self.histogram.record(ticks).expect("histograms resize themselves");
    }

    /// How many arrived.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Those that were due and have not arrived.
    fn open(&self) -> Open {
        let mut all = Open::default();
        self.open.iter().for_each(|&open| all.merge(open));
        all
    }

    /// How many were due and have not arrived.
    pub fn missing(&self) -> u64 {
        self.open().count()
    }

    /// The mean; those that are missing at the end count with the age that they have reached, so that it is never above what it would be
    /// if all arrived. None if none are due.
    pub fn mean(&self, end: Tick) -> Option<f64> {
        (self.due > 0).then(|| (self.sum + self.open().ages(end)) as f64 / self.due as f64)
    }

    /// How the mean goes over the window ([`Batches::trend`]). What is missing counts with its age, so that where there is some a mean that
    /// falls tells nothing.
    pub fn trend(&self, end: Tick, cut: &Cut, span: (Tick, Tick)) -> Option<(f64, f64)> {
        let trend = self.batches.aged(&self.open, end).trend(cut, span);
        trend.filter(|(first, last)| first < last || self.missing() == 0)
    }

    /// The least that a share of all that were due did not exceed, with those that are missing behind all that arrived; none if that
    /// leads to one of them, or if so few were due that it would be the largest of them (of shares above a half).
    pub fn quantile(&self, share: f64) -> Option<Tick> {
        let count = self.count() as f64;
        let rank = rank(share, self.due).filter(|&rank| 0.0 < count && rank <= count)?;
        // The histogram knows the end of a value's bucket.
        Some(self.histogram.value_at_quantile(rank / count).min(self.largest))
    }

    pub(super) fn merge(&mut self, other: &Latency) {
        self.sum += other.sum;
        self.largest = self.largest.max(other.largest);
        self.histogram.add(&other.histogram).expect("histograms resize themselves");
        self.due = self.due.wrapping_add(other.due);
        for (mine, theirs) in self.open.iter_mut().zip(other.open) {
            mine.merge(theirs);
        }
        self.batches.merge(&other.batches);
    }
}

/// How many of all values a quantile does not fall short of; none of a share above a half if that is all of them, so that it would be
/// the largest of few.
pub(super) fn rank(share: f64, count: u64) -> Option<f64> {
    let (count, rank) = (count as f64, share * count as f64);
    (share <= 0.5 || count - rank >= 1.0).then_some(rank)
}

/// One bin of a class's time series.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bin {
    /// Flits created.
    pub offered: u64,
    /// Messages created.
    pub created: u64,
    /// Flits that arrived.
    pub accepted: u64,
    /// Number and sum of packet, network and message latencies, by creation (network: injection).
    pub latency: [(u64, u64); 3],
    /// Those that are due and have not arrived.
    pub open: [Open; 3],
}

impl Bin {
    /// One that began at a tick has arrived.
    pub(super) fn record(&mut self, kind: usize, start: Tick, ticks: Tick) {
        self.open[kind].end(start);
        self.latency[kind].0 += 1;
        self.latency[kind].1 += ticks;
    }

    /// The mean, in which those that are missing at the end count with the age that they have reached; NaN if none were due.
    pub(super) fn mean(&self, kind: usize, end: Tick) -> f64 {
        let ((arrived, sum), open) = (self.latency[kind], self.open[kind]);
        (u128::from(sum) + open.ages(end)) as f64 / (arrived + open.count()) as f64
    }

    fn merge(&mut self, other: &Self) {
        self.offered += other.offered;
        self.created += other.created;
        self.accepted += other.accepted;
        for (mine, theirs) in self.latency.iter_mut().zip(&other.latency) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
        for (mine, theirs) in self.open.iter_mut().zip(other.open) {
            mine.merge(theirs);
        }
    }
}

/// What is measured of a class of traffic.
#[derive(Clone)]
pub struct ClassProbe {
    /// Flits created in the window.
    pub offered: u64,
    /// The same by the parts of the window.
    pub given: Batches,
    /// Messages created in the window.
    pub messages: u64,
    /// Sum of the squares of their flits.
    pub squares: u128,
    /// Flits that arrived in the window.
    pub accepted: u64,
    /// The same by its parts.
    pub taken: Batches,
    /// Packets that arrived in the window.
    pub arrived: u64,
    /// Switches that they crossed, in all.
    pub hops: u64,
    /// Packets among them that made more hops than are counted.
    pub far: u64,
    /// Packets dropped in the window.
    pub dropped: u64,
    /// Packets sent again in the window.
    pub resent: u64,
    /// Packets injected speculatively in the window.
    pub speculative: u64,
    /// Second copies that arrived in the window.
    pub duplicates: u64,
    /// Packets that arrived in the window behind a later one of their message.
    pub reordered: u64,
    /// Packet, network and message latency.
    pub latency: [Latency; 3],
    /// The time series, up to the last bin with something in it.
    pub series: Vec<Bin>,
    /// Flits accepted in the window by source endpoint.
    pub sources: Vec<u64>,
}

impl ClassProbe {
    pub(super) fn new(sources: usize) -> Self {
        Self {
            offered: 0,
            given: Batches::default(),
            messages: 0,
            squares: 0,
            accepted: 0,
            taken: Batches::default(),
            arrived: 0,
            hops: 0,
            far: 0,
            dropped: 0,
            resent: 0,
            speculative: 0,
            duplicates: 0,
            reordered: 0,
            latency: [Latency::new(), Latency::new(), Latency::new()],
            series: Vec::new(),
            sources: vec![0; sources],
        }
    }

    /// Two batches become one.
    pub fn pair_up(&mut self) {
        self.given.pair_up();
        self.taken.pair_up();
        for latency in &mut self.latency {
            latency.batches.pair_up();
            pair_up(&mut latency.open, Open::merge);
        }
    }

    /// Adds what another partition measured.
    pub fn merge(&mut self, other: &ClassProbe) {
        self.offered += other.offered;
        self.messages += other.messages;
        self.squares += other.squares;
        self.accepted += other.accepted;
        self.given.merge(&other.given);
        self.taken.merge(&other.taken);
        self.arrived += other.arrived;
        self.hops += other.hops;
        self.far += other.far;
        self.dropped += other.dropped;
        self.resent += other.resent;
        self.speculative += other.speculative;
        self.duplicates += other.duplicates;
        self.reordered += other.reordered;
        for (mine, theirs) in self.latency.iter_mut().zip(&other.latency) {
            mine.merge(theirs);
        }
        for (mine, theirs) in self.sources.iter_mut().zip(&other.sources) {
            *mine += theirs;
        }
        if self.series.len() < other.series.len() {
            self.series.resize(other.series.len(), Bin::default());
        }
        for (mine, theirs) in self.series.iter_mut().zip(&other.series) {
            mine.merge(theirs);
        }
    }
}
