//! From the counters of a run to its summary and tables.
use super::batches::Growth;
use super::messages::Messages;
use super::slowdowns::{self, SLOWDOWNS};
use super::{ClassProbe, LATENCIES, Latency, Probe, control, jobs, pairs};
use crate::core::Tick;
use crate::core::circuits::Count;
use crate::core::packet::KINDS;
use crate::core::plan::Plan;
use crate::core::trace;
use crate::graph::Peer;
use crate::protocol;
use crate::report::{Column, Output};
use crate::scenario::Scenario;
use crate::workload::outcome::Outcome;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Share of what was due that may be missing before a latency is reported as saturated.
const UNFINISHED_MAX: f64 = 0.01;

/// Everything the partitions measured, merged, and what was learned at the end.
pub struct Measured<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The plan.
    pub plan: &'a Plan,
    /// The probes, by partition.
    pub probes: Vec<Probe>,
    /// What became of the jobs.
    pub jobs: Vec<Outcome>,
    /// Time reached.
    pub end: Tick,
    /// Largest retransmission buffer of an endpoint, in flits.
    pub retained_peak: u32,
    /// The most flits of its own that a switch had waiting at its virtual input.
    pub made_peak: u32,
    /// Packets in the network at the end.
    pub held: u64,
    /// What was counted of flows in the switches, if they are kept account of.
    pub circuits: Option<Count>,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
}

/// A class by name, with what its fractions refer to.
pub(super) struct Class {
    pub name: String,
    pub probe: ClassProbe,
    pub sources: Vec<u32>,
    pub destinations: usize,
    /// The part of the window that they refer to: its start and its length.
    pub from: Tick,
    pub time: Tick,
    /// Of the messages of the window, the flits and how many times as long as in the empty network each took, if recorded.
    pub slowdowns: Vec<(u32, f64)>,
    /// Of each kind of latency, whether it has no numbers, since too much of what was due never arrived.
    pub saturated: [bool; LATENCIES.len()],
}

impl Class {
    /// A class without slowdowns.
    fn new(
        name: &str,
        probe: ClassProbe,
        (sources, destinations): (Vec<u32>, usize),
        from: Tick,
        time: Tick,
    ) -> Self {
        let saturated = probe.latency.each_ref().map(saturated);
        Self { name: name.into(), probe, sources, destinations, from, time, slowdowns: Vec::new(), saturated }
    }
}

impl Measured<'_> {
    /// The output of the run.
    pub fn output(mut self) -> Output {
        let measured_until = self.probes[0].window.0 + self.window();
        self.probes.iter_mut().for_each(|probe| probe.settle_batches(measured_until));
        let messages = self.plan.record.messages.then(|| {
            let all = self.probes.iter_mut().flat_map(|probe| probe.whole.take().unwrap_or_default());
            let all = all.collect();
            Messages::new(&self, all)
        });
        let mut classes = self.classes();
        if let Some(messages) = &messages {
            let slowdowns = messages.slowdowns((self.plan.groups(), classes.len()), self.probes[0].window);
            classes.iter_mut().zip(slowdowns).for_each(|(class, of)| class.slowdowns = of);
        }
        let mut tables = vec![self.class_table(&classes), self.histogram_table(&classes), self.share_table()];
        if let Some(bin) = self.plan.record.series {
            tables.push(self.series_table(&classes, bin));
        }
        if !self.jobs.is_empty() {
            tables.extend(jobs::tables(&self));
        }
        if self.plan.record.sources {
            tables.push(self.source_table(&classes));
        }
        if self.plan.record.ports {
            tables.push(self.port_table());
        }
        if !self.plan.record.occupancy.is_empty() {
            tables.push(self.occupancy_table());
            tables.push(self.queue_table());
            if self.plan.record.trees {
                tables.push(self.tree_table());
            }
        }
        if self.plan.record.pauses && self.plan.links[0].pauses.is_some() {
            tables.push(self.pause_table());
        }
        if self.plan.record.control {
            tables.extend(control::tables(&self));
        }
        if self.plan.record.packets {
            let steps = self.probes.iter_mut().flat_map(|probe| probe.steps.take().unwrap_or_default());
            tables.push(trace::table(self.plan, steps.collect()));
        }
        let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
        if self.plan.record.pairs.is_some() {
            tables.push(pairs::table(&self, &names));
        }
        if let Some(messages) = messages {
            tables.push(messages.table(&self, &names));
            tables.push(slowdowns::table(&classes));
        }
        Output { summary: self.summary(&classes), tables, interrupted: self.interrupted }
    }

    /// Every class of the scenario, and all of them together, which one of that name alone is.
    fn classes(&self) -> Vec<Class> {
        let (mut sources, mut destinations) = (BTreeSet::<u32>::new(), BTreeSet::<u32>::new());
        let mut classes = Vec::new();
        for (at, traffic) in self.plan.traffic.iter().enumerate() {
            let bound = traffic.class();
            sources.extend(bound.destinations.sources());
            destinations.extend(bound.destinations.destinations());
            let mut probe = self.probes[0].classes[at].clone();
            self.probes[1..].iter().for_each(|other| probe.merge(&other.classes[at]));
            let ends = (bound.destinations.sources().to_vec(), bound.destinations.destinations().len());
            classes.push(Class::new(&bound.name, probe, ends, self.probes[0].window.0, self.window()));
        }
        for (at, (job, outcome)) in self.plan.jobs.iter().zip(&self.jobs).enumerate() {
            let at = self.plan.traffic.len() + at;
            let mut probe = self.probes[0].classes[at].clone();
            self.probes[1..].iter().for_each(|other| probe.merge(&other.classes[at]));
            // Those that send data, and those that data reach: the target of an incast is one channel.
            let with = |way: usize| {
                let ranks = outcome.ranks.iter().filter(move |rank| rank.traffic[way]);
                let mut endpoints = Vec::from_iter(ranks.map(|rank| job.endpoints[rank.number as usize]));
                // Ranks of one endpoint are neighbours, and share its channel.
                endpoints.dedup();
                endpoints
            };
            let [senders, receivers] = [0, 1].map(with);
            sources.extend(&senders);
            destinations.extend(&receivers);
            let (from, to) = self.span(job.start.0, outcome.end());
            let ends = (senders, receivers.len());
            classes.push(Class::new(&job.name, probe, ends, from, to.saturating_sub(from)));
        }
        if classes.len() == 1 && classes[0].name == "all" {
            return classes;
        }
        let mut all = classes[0].probe.clone();
        classes[1..].iter().for_each(|other| all.merge(&other.probe));
        let ends = (sources.into_iter().collect(), destinations.len());
        let mut all = Class::new("all", all, ends, self.probes[0].window.0, self.window());
        // Without those of traffic that has no numbers, it would be that of the others.
        let traffic = &classes[..self.plan.traffic.len()];
        for (at, saturated) in all.saturated.iter_mut().enumerate() {
            *saturated |= traffic.iter().any(|class| class.saturated[at]);
        }
        classes.push(all);
        classes
    }

    pub(super) fn ns(&self, ticks: f64) -> f64 {
        ticks * self.plan.tick as f64 / 1000.0
    }

    pub(super) fn us(&self, ticks: Tick) -> f64 {
        (ticks * self.plan.tick) as f64 / 1e6
    }

    /// Flits that a host channel carries in a number of ticks.
    pub(super) fn channel_flits(&self, ticks: Tick) -> f64 {
        let seconds = (ticks * self.plan.tick) as f64 * 1e-12;
        seconds * self.plan.scale.host.0 as f64 / self.plan.scale.flit_bits as f64
    }

    /// The part of the window that was simulated.
    pub(super) fn window(&self) -> Tick {
        let (start, end) = self.probes[0].window;
        self.end.min(end).saturating_sub(start)
    }

    /// The part of the window between two times in ps; without an end, to its own.
    fn span(&self, start: u64, end: Option<u64>) -> (Tick, Tick) {
        let window = self.probes[0].window;
        let end = end.map_or(self.end, |end| end.div_ceil(self.plan.tick)).min(self.end.min(window.1));
        ((start / self.plan.tick).max(window.0), end)
    }

    /// What of some channels flits are that crossed them in a time.
    pub(super) fn fraction(&self, flits: f64, channels: usize, time: Tick) -> f64 {
        let capacity = channels as f64 * self.channel_flits(time);
        if capacity > 0.0 { flits / capacity } else { 0.0 }
    }

    fn summary(&self, classes: &[Class]) -> Value {
        let traffic = &classes[..self.plan.traffic.len()];
        let mut by_name = Map::new();
        for (at, class) in classes.iter().enumerate() {
            let mut summary = self.class_summary(class);
            let growth = self.growth_of(classes, at, class);
            if growth.is_some() {
                for (name, pick) in BACKLOG {
                    summary.insert(name.into(), pick(growth).into());
                }
                let of = if at + 1 == classes.len() { traffic } else { &traffic[at..=at] };
                summary.insert("stable".into(), self.stable(of).into());
            }
            by_name.insert(class.name.clone(), summary.into());
        }
        let sum = |pick: fn(&Probe) -> u64| self.probes.iter().map(pick).sum::<u64>();
        let checksum = self.probes.iter().fold(0u64, |sum, probe| sum.wrapping_add(probe.checksum));
        let rows = self.plan.links.len();
        let mut channel_shares = Map::new();
        for (row, link) in self.plan.links.iter().enumerate().skip(1) {
            channel_shares.insert(link.name.clone(), self.shares(row));
        }
        let mut summary = json!({
            "title": self.scenario.title,
            "seed": self.scenario.run.seed,
            "version": env!("CARGO_PKG_VERSION"),
            "interrupted": self.interrupted,
            "simulated_ns": self.ns(self.end as f64),
            "packet_hops": sum(|probe| probe.packet_hops),
            "events": sum(|probe| probe.events),
            "partitions": self.plan.shares.len(),
            "checksum": format!("{checksum:016x}"),
            "stable": self.stable(traffic),
            "warnings": self.warnings(classes),
            "retransmission_buffer_peak_flits": self.retained_peak,
            "virtual_input_peak_flits": self.made_peak,
            "packets_in_the_network": self.held,
            "jobs": jobs::summary(self),
            "classes": by_name,
            "injection_shares": self.shares(rows),
            "ejection_shares": self.shares(rows + 1),
            "channel_shares": channel_shares,
        });
        if let Some(pauses) = self.pauses() {
            summary["pauses"] = pauses;
        }
        if let Some(trees) = self.trees() {
            summary["trees"] = trees;
        }
        if let Some(count) = &self.circuits {
            let [entries, flows, flits] = count.left;
            summary["flow_routes"] = json!({
                "set_ups_routed": count.routed,
                "own_port": count.entered,
                "cache_full": count.refused,
                "cache_entries_max": count.entries_max,
                "left_at_the_end": { "cache_entries": entries, "flows": flows, "flits": flits },
            });
        }
        if let Some(hash) = self.scenario.topology.wiring().hash() {
            summary["network_hash"] = format!("{hash:016x}").into();
        }
        summary
    }

    fn class_summary(&self, class: &Class) -> Map<String, Value> {
        let numbers = self.class_numbers(std::slice::from_ref(class));
        let mut summary = Map::from_iter(numbers.into_iter().map(|(name, column)| (name, first(&column))));
        for (at, name) in LATENCIES.iter().enumerate() {
            summary.insert(format!("{name}_latency_ns"), self.latency_summary(class, at));
        }
        if self.plan.record.messages {
            let values = SLOWDOWNS.iter().zip(class.slowdown_values());
            let values: Map<_, _> = values.map(|(name, value)| ((*name).into(), json!(value))).collect();
            summary.insert("message_slowdown".into(), values.into());
        }
        summary
    }

    /// Mean with half of its 95 % confidence interval, quantiles and largest, as far as what never arrived lets them be known; none of
    /// them if that is over 1 % of what was due.
    pub(super) fn latency_values(&self, class: &Class, at: usize) -> [Option<f64>; 7] {
        let latency = &class.probe.latency[at];
        if latency.count() == 0 || class.saturated[at] {
            return [None; 7];
        }
        let quantile = |share| latency.quantile(share).map(|ticks| self.ns(ticks as f64));
        let mean = latency.mean(self.end).map(|mean| self.ns(mean));
        let largest = Some(self.ns(latency.largest as f64));
        let half = latency.batches.half_of_mean().map(|half| self.ns(half));
        [mean, half, quantile(0.5), quantile(0.95), quantile(0.99), quantile(0.999), largest]
    }

    fn latency_summary(&self, class: &Class, at: usize) -> Value {
        let mut summary = Map::new();
        for (name, value) in QUANTITIES.iter().zip(self.latency_values(class, at)) {
            summary.insert((*name).into(), json!(value));
        }
        summary.insert("saturated".into(), json!(class.saturated[at]));
        summary.insert("missing".into(), json!(class.probe.latency[at].missing()));
        Value::Object(summary)
    }

    /// That of traffic; jobs send as much as the network takes.
    pub(super) fn growth_of(&self, classes: &[Class], at: usize, class: &Class) -> Option<Growth> {
        let traffic = self.plan.traffic.len();
        (at < traffic || traffic > 0 && at + 1 == classes.len()).then(|| self.growth(class))
    }

    fn growth(&self, class: &Class) -> Growth {
        let from = self.probes[0].window.0;
        // Of a run that was cut off before its half, not even that nothing was offered is known.
        if self.interrupted && 2 * self.window() < self.plan.window.1 - self.plan.window.0 {
            return Growth::UNKNOWN;
        }
        Growth::of(&class.probe.given, &class.probe.taken, &self.probes[0].cut, (from, from + self.window()))
    }

    /// Whether what the classes offer is taken: of all of them, or surely not of one.
    fn stable(&self, classes: &[Class]) -> Option<bool> {
        let told = Vec::from_iter(classes.iter().map(|class| self.growth(class).is_stable()));
        if told.contains(&Some(false)) {
            return Some(false);
        }
        (!told.contains(&None)).then_some(true)
    }

    fn warnings(&self, classes: &[Class]) -> Vec<String> {
        let mut warnings = jobs::warnings(self);
        let scheme = &self.scenario.congestion_control;
        if self.plan.record.control && !scheme.scheme().tells_rates() {
            warnings.push(format!("record.control: \"{}\" gives no orders to record", scheme.kind()));
        }
        warnings.extend(protocol::remarks(self.scenario, self.plan));
        if self.interrupted {
            return warnings;
        }
        // Jobs that are done end it.
        let (start, end) = self.probes[0].window;
        if start == end {
            warnings.push(match start {
                0 => "the jobs are done as they begin, so nothing is measured".to_string(),
                _ => format!(
                    "the jobs were done before the measured window began, at {} us: a shorter run.warmup measures more",
                    self.us(start)
                ),
            });
            return warnings;
        }
        let jobs = classes[self.plan.traffic.len()..].iter().zip(&self.jobs);
        let sent = |job: &Outcome| job.ledger.posted > job.ledger.local;
        for (class, _) in jobs.filter(|(class, job)| class.probe.latency[0].due == 0 && sent(job)) {
            warnings.push(format!(
                "job \"{}\": it created its messages outside the measured window of {} to {} us",
                class.name,
                self.us(start),
                self.us(end)
            ));
        }
        for (class, traffic) in classes.iter().zip(&self.plan.traffic) {
            if class.probe.messages == 0 {
                warnings.push(format!("class \"{}\" created no message in the window", class.name));
            }
            let (cut, span) = (&self.probes[0].cut, self.probes[0].window);
            // The halves are those of the whole window.
            if end < self.plan.window.1 {
                continue;
            }
            if let Some((first, last)) =
                class.probe.latency[2].trend(self.end, cut, span).filter(|_| !class.saturated[2])
            {
                warnings.push(self.trend_warning(&class.name, first, last));
            }
            let accepted = class.probe.taken.halves(cut, span);
            let pace = &traffic.class().pace;
            let per_flit = per_flit(&class.probe, pace.dispersion(self.channel_flits(self.window()) / 2.0));
            let error = ((accepted[0] + accepted[1]) as f64 * per_flit).sqrt();
            if (accepted[0] as f64 - accepted[1] as f64).abs() > 3.0 * error {
                warnings.push(format!(
                    "class \"{}\": the halves of the window accepted {} and {} flits, which differ by more than three \
                     standard errors: the warm-up is too short, or the traffic changes in the window",
                    class.name, accepted[0], accepted[1]
                ));
            }
        }
        warnings
    }

    fn trend_warning(&self, name: &str, first: f64, last: f64) -> String {
        let [first, last] = [first, last].map(|ticks| self.ns(ticks));
        format!(
            "class \"{name}\": from the first to the last three tenths of the window the mean message latency goes from \
             {first:.4} to {last:.4} ns: the warm-up is too short, the traffic changes in the window, or some sources or \
             destinations are asked for more than they can do"
        )
    }

    pub(super) fn shares(&self, row: usize) -> Value {
        let capacity = self.channels(row) as f64 * self.row_flits(row);
        let mut shares = Map::new();
        for (kind, name) in KINDS {
            let flits: u64 = self.probes.iter().map(|probe| probe.sent[row][kind as usize]).sum();
            shares.insert(name.into(), json!(if capacity > 0.0 { flits as f64 / capacity } else { 0.0 }));
        }
        Value::Object(shares)
    }

    /// Channels of a row of `Probe::sent`: one direction each.
    pub(super) fn channels(&self, row: usize) -> usize {
        if row == 0 || row >= self.plan.links.len() {
            return self.plan.graph.endpoints.len();
        }
        self.plan
            .graph
            .switches
            .iter()
            .flatten()
            .filter(|port| port.class as usize == row && port.peer != Peer::None)
            .count()
    }

    fn row_flits(&self, row: usize) -> f64 {
        let link = &self.plan.links[if row < self.plan.links.len() { row } else { 0 }];
        let (ticks, flits) = link.rate.flit_ticks(&self.plan.scale, self.plan.tick);
        self.window() as f64 * flits as f64 / ticks as f64
    }
}

type OfGrowth = fn(Option<Growth>) -> Option<f64>;

/// What is told of the growth of a backlog, where it is known.
pub(super) const BACKLOG: [(&str, OfGrowth); 2] = [
    ("backlog_growth", |growth| growth.map(|growth| growth.share)),
    ("backlog_growth_ci95", |growth| growth.and_then(|growth| growth.half)),
];

pub(super) const QUANTITIES: [&str; 7] = ["mean", "mean_ci95", "p50", "p95", "p99", "p999", "max"];

fn saturated(latency: &Latency) -> bool {
    latency.missing() as f64 > UNFINISHED_MAX * latency.due as f64
}

/// The number in the first row; null if there is none.
fn first(column: &Column) -> Value {
    match column {
        Column::Int(numbers) => numbers[0].into(),
        Column::Real(numbers) => numbers[0].into(),
        Column::Text(words) => words[0].as_str().into(),
    }
}

/// Variance of the flits that a class offers, for each of them: of a sum of messages whose number varies by its dispersion, each flit
/// counts as many times as its message has flits, and its message's mean as many times as the dispersion is over 1.
fn per_flit(probe: &ClassProbe, dispersion: f64) -> f64 {
    let offered = probe.offered.max(1) as f64;
    let mean = offered / probe.messages.max(1) as f64;
    probe.squares as f64 / offered + (dispersion - 1.0) * mean
}
