//! From the counters of a run to its summary and tables.
use super::{Bin, ClassProbe, LATENCIES, Latency, Probe, control, jobs};
use crate::core::Tick;
use crate::core::circuits::Count;
use crate::core::packet::KINDS;
use crate::core::plan::Plan;
use crate::core::trace;
use crate::report::{Column, Output, Table};
use crate::scenario::Scenario;
use crate::topology::Topology;
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
    /// Packets in the network at the end.
    pub held: u64,
    /// What was counted of flows in the switches, if they are kept account of.
    pub circuits: Option<Count>,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
}

/// A class by name, with what its fractions refer to.
struct Class {
    name: String,
    probe: ClassProbe,
    sources: usize,
    destinations: usize,
}

impl Measured<'_> {
    /// The output of the run.
    pub fn output(&self) -> Output {
        let classes = self.classes();
        let mut tables = vec![self.class_table(&classes), self.histogram_table(&classes), self.share_table()];
        if let Some(bin) = self.plan.record.series {
            tables.push(self.series_table(&classes, bin));
        }
        if !self.jobs.is_empty() {
            tables.extend(jobs::tables(self));
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
        }
        if self.plan.record.control {
            tables.extend(control::tables(self));
        }
        if self.plan.record.packets {
            let steps = self.probes.iter().flat_map(|probe| probe.steps.iter().flatten().cloned());
            tables.push(trace::table(self.plan, steps.collect()));
        }
        Output { summary: self.summary(&classes), tables, interrupted: self.interrupted }
    }

    /// Every class of the scenario, and all of them together if there are several.
    fn classes(&self) -> Vec<Class> {
        let (mut sources, mut destinations) = (BTreeSet::<u32>::new(), BTreeSet::<u32>::new());
        let mut classes = Vec::new();
        for (at, traffic) in self.plan.traffic.iter().enumerate() {
            let bound = traffic.class();
            sources.extend(bound.destinations.sources());
            destinations.extend(bound.destinations.destinations());
            let mut probe = self.probes[0].classes[at].clone();
            self.probes[1..].iter().for_each(|other| probe.merge(&other.classes[at]));
            classes.push(Class {
                name: bound.name.clone(),
                probe,
                sources: bound.destinations.sources().len(),
                destinations: bound.destinations.destinations().len(),
            });
        }
        for (at, job) in self.plan.jobs.iter().enumerate() {
            sources.extend(&job.endpoints);
            destinations.extend(&job.endpoints);
            let at = self.plan.traffic.len() + at;
            let mut probe = self.probes[0].classes[at].clone();
            self.probes[1..].iter().for_each(|other| probe.merge(&other.classes[at]));
            let ranks = job.endpoints.len();
            classes.push(Class { name: job.name.clone(), probe, sources: ranks, destinations: ranks });
        }
        let mut all = classes[0].probe.clone();
        classes[1..].iter().for_each(|other| all.merge(&other.probe));
        let (sources, destinations) = (sources.len(), destinations.len());
        classes.push(Class { name: "all".into(), probe: all, sources, destinations });
        classes
    }

    pub(super) fn ns(&self, ticks: f64) -> f64 {
        ticks * self.plan.tick as f64 / 1000.0
    }

    /// Flits that a host channel carries in a number of ticks.
    fn channel_flits(&self, ticks: Tick) -> f64 {
        let seconds = (ticks * self.plan.tick) as f64 * 1e-12;
        seconds * self.plan.scale.host.0 as f64 / self.plan.scale.flit_bits as f64
    }

    /// The part of the window that was simulated.
    fn window(&self) -> Tick {
        self.end.min(self.plan.window.1).saturating_sub(self.plan.window.0)
    }

    fn fraction(&self, flits: u64, channels: usize) -> f64 {
        let capacity = channels as f64 * self.channel_flits(self.window());
        if capacity > 0.0 { flits as f64 / capacity } else { 0.0 }
    }

    fn summary(&self, classes: &[Class]) -> Value {
        let mut by_name = Map::new();
        for class in classes {
            by_name.insert(class.name.clone(), self.class_summary(class));
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
            "stable": classes[..self.plan.traffic.len()].iter().all(|class| self.stable(&class.probe)),
            "warnings": self.warnings(classes),
            "retransmission_buffer_peak_flits": self.retained_peak,
            "packets_in_the_network": self.held,
            "jobs": jobs::summary(self),
            "classes": by_name,
            "injection_shares": self.shares(rows),
            "ejection_shares": self.shares(rows + 1),
            "channel_shares": channel_shares,
        });
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
        if let Topology::File(file) = &self.scenario.topology {
            summary["network_hash"] = format!("{:016x}", file.hash()).into();
        }
        summary
    }

    fn class_summary(&self, class: &Class) -> Value {
        let probe = &class.probe;
        let hops =
            if probe.arrived > 0 { json!(probe.hops as f64 / probe.arrived as f64) } else { Value::Null };
        let mut summary = json!({
            "offered": self.fraction(probe.offered, class.sources),
            "accepted": self.fraction(probe.accepted, class.sources),
            "accepted_per_destination": self.fraction(probe.accepted, class.destinations),
            "stable": self.stable(probe),
            "messages": probe.messages,
            "packets": probe.latency[0].due,
            "unfinished": probe.latency[2].due as i64 - probe.latency[2].count() as i64,
            "hops_mean": hops,
            "dropped_packets": probe.dropped,
            "resent_packets": probe.resent,
            "speculative_packets": probe.speculative,
            "duplicate_packets": probe.duplicates,
            "reordered_packets": probe.reordered,
        });
        for (latency, name) in probe.latency.iter().zip(LATENCIES) {
            summary[format!("{name}_latency_ns")] = self.latency_summary(latency);
        }
        summary
    }

    /// Mean, quantiles and largest; none of them if over 1 % of what was due never arrived.
    fn latency_values(&self, latency: &Latency) -> [Option<f64>; 6] {
        let count = latency.count();
        if count == 0 || saturated(latency) {
            return [None; 6];
        }
        // The histogram knows the end of a value's bucket.
        let at = |quantile| latency.histogram.value_at_quantile(quantile).min(latency.largest);
        let at = |quantile| Some(self.ns(at(quantile) as f64));
        let mean = Some(self.ns(latency.sum as f64 / count as f64));
        let largest = Some(self.ns(latency.largest as f64));
        [mean, at(0.5), at(0.95), at(0.99), at(0.999), largest]
    }

    fn latency_summary(&self, latency: &Latency) -> Value {
        let mut summary = Map::new();
        for (name, value) in QUANTITIES.iter().zip(self.latency_values(latency)) {
            summary.insert((*name).into(), json!(value));
        }
        summary.insert("saturated".into(), json!(saturated(latency)));
        Value::Object(summary)
    }

    /// Accepted at least 0.99 of offered within three standard errors, and the backlog at the sources not growing in
    /// the second half of the window by more than 1 % of that half's flits.
    fn stable(&self, probe: &ClassProbe) -> bool {
        let [offered, injected, accepted] = probe.halves;
        let total = (offered[0] + offered[1]) as f64;
        let error = total / (probe.messages.max(1) as f64).sqrt();
        let taken = (accepted[0] + accepted[1]) as f64 >= 0.99 * total - 3.0 * error;
        let half_error = 3.0 * offered[1] as f64 / (probe.messages as f64 / 2.0).max(1.0).sqrt();
        let growth = offered[1] as f64 - injected[1] as f64;
        taken && growth <= 0.01 * offered[1] as f64 + half_error
    }

    fn warnings(&self, classes: &[Class]) -> Vec<String> {
        let mut warnings = jobs::warnings(self);
        // The halves are those of the whole window.
        if self.interrupted {
            return warnings;
        }
        for class in &classes[..self.plan.traffic.len()] {
            if class.probe.messages == 0 {
                warnings.push(format!("class \"{}\" created no message in the window", class.name));
            }
            let [_, _, accepted] = class.probe.halves;
            let size = class.probe.offered as f64 / class.probe.messages.max(1) as f64;
            let error = ((accepted[0] + accepted[1]) as f64 * size).sqrt();
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

    fn shares(&self, row: usize) -> Value {
        let capacity = self.channels(row) as f64 * self.row_flits(row);
        let mut shares = Map::new();
        for (kind, name) in KINDS {
            let flits: u64 = self.probes.iter().map(|probe| probe.sent[row][kind as usize]).sum();
            shares.insert(name.into(), json!(if capacity > 0.0 { flits as f64 / capacity } else { 0.0 }));
        }
        Value::Object(shares)
    }

    /// Channels of a row of `Probe::sent`: one direction each.
    fn channels(&self, row: usize) -> usize {
        if row == 0 || row >= self.plan.links.len() {
            return self.plan.graph.endpoints.len();
        }
        self.plan.graph.switches.iter().flatten().filter(|port| port.class as usize == row).count()
    }

    fn row_flits(&self, row: usize) -> f64 {
        let link = &self.plan.links[if row < self.plan.links.len() { row } else { 0 }];
        let (ticks, flits) = link.rate.flit_ticks(&self.plan.scale, self.plan.tick);
        self.window() as f64 * flits as f64 / ticks as f64
    }

    fn class_table(&self, classes: &[Class]) -> Table {
        let real = |pick: &dyn Fn(&Class) -> f64| Column::Real(classes.iter().map(pick).collect());
        let int = |pick: fn(&ClassProbe) -> i64| {
            Column::Int(classes.iter().map(|class| pick(&class.probe)).collect())
        };
        let mut columns = vec![
            ("class".into(), Column::Text(classes.iter().map(|class| class.name.clone()).collect())),
            ("offered".into(), real(&|class| self.fraction(class.probe.offered, class.sources))),
            ("accepted".into(), real(&|class| self.fraction(class.probe.accepted, class.sources))),
            (
                "accepted_per_destination".into(),
                real(&|class| self.fraction(class.probe.accepted, class.destinations)),
            ),
            ("messages".into(), int(|probe| probe.messages as i64)),
            ("packets".into(), int(|probe| probe.latency[0].due as i64)),
            ("unfinished".into(), int(|probe| probe.latency[2].due as i64 - probe.latency[2].count() as i64)),
            ("hops_mean".into(), real(&|class| class.probe.hops as f64 / class.probe.arrived as f64)),
            ("dropped_packets".into(), int(|probe| probe.dropped as i64)),
            ("resent_packets".into(), int(|probe| probe.resent as i64)),
            ("speculative_packets".into(), int(|probe| probe.speculative as i64)),
            ("duplicate_packets".into(), int(|probe| probe.duplicates as i64)),
            ("reordered_packets".into(), int(|probe| probe.reordered as i64)),
        ];
        for (at, latency) in LATENCIES.iter().enumerate() {
            for (which, quantity) in QUANTITIES.iter().enumerate() {
                let value =
                    |class: &Class| self.latency_values(&class.probe.latency[at])[which].unwrap_or(f64::NAN);
                columns.push((format!("{latency}_latency_{quantity}_ns"), real(&value)));
            }
        }
        Table { name: "classes", columns }
    }

    fn histogram_table(&self, classes: &[Class]) -> Table {
        let (mut names, mut kinds, mut low, mut high, mut counts) = (vec![], vec![], vec![], vec![], vec![]);
        for class in classes {
            for (latency, kind) in class.probe.latency.iter().zip(LATENCIES) {
                for bucket in latency.histogram.iter_recorded() {
                    let value = bucket.value_iterated_to();
                    names.push(class.name.clone());
                    kinds.push(kind.into());
                    low.push(self.ns(latency.histogram.lowest_equivalent(value) as f64));
                    high.push(self.ns(latency.histogram.highest_equivalent(value) as f64));
                    counts.push(bucket.count_at_value() as i64);
                }
            }
        }
        let columns = vec![
            ("class".into(), Column::Text(names)),
            ("latency".into(), Column::Text(kinds)),
            ("low_ns".into(), Column::Real(low)),
            ("high_ns".into(), Column::Real(high)),
            ("count".into(), Column::Int(counts)),
        ];
        Table { name: "histograms", columns }
    }

    fn share_table(&self) -> Table {
        let (mut classes, mut kinds, mut shares) = (vec![], vec![], vec![]);
        let rows = self.plan.links.len();
        for row in 1..rows + 2 {
            let name = match row - rows.min(row) {
                0 if row < rows => self.plan.links[row].name.clone(),
                0 => "injection".into(),
                _ => "ejection".into(),
            };
            for (kind, share) in self.shares(row).as_object().expect("an object") {
                classes.push(name.clone());
                kinds.push(kind.clone());
                shares.push(share.as_f64().unwrap_or(0.0));
            }
        }
        let columns = vec![
            ("link_class".into(), Column::Text(classes)),
            ("kind".into(), Column::Text(kinds)),
            ("share".into(), Column::Real(shares)),
        ];
        Table { name: "shares", columns }
    }

    fn series_table(&self, classes: &[Class], bin: Tick) -> Table {
        let reached = self.end.div_ceil(bin) as usize;
        let rows: Vec<(&Class, usize, &Bin)> = classes
            .iter()
            .flat_map(|class| {
                class.probe.series.iter().take(reached).enumerate().map(move |(at, b)| (class, at, b))
            })
            .collect();
        let mean = |which: usize| {
            let value = |b: &Bin| self.ns(b.latency[which].1 as f64 / b.latency[which].0 as f64);
            Column::Real(rows.iter().map(|(_, _, b)| value(b)).collect())
        };
        // The last bin may be cut short.
        let capacity = |at: usize| self.channel_flits(bin.min(self.end - at as Tick * bin));
        let part = |pick: &dyn Fn(&Class, &Bin) -> f64| {
            Column::Real(rows.iter().map(|&(class, at, b)| pick(class, b) / capacity(at)).collect())
        };
        let columns = vec![
            ("class".into(), Column::Text(rows.iter().map(|(class, ..)| class.name.clone()).collect())),
            (
                "time_ns".into(),
                Column::Real(rows.iter().map(|(_, at, _)| self.ns((*at as u64 * bin) as f64)).collect()),
            ),
            ("offered".into(), part(&|class, b| b.offered as f64 / class.sources as f64)),
            ("accepted".into(), part(&|class, b| b.accepted as f64 / class.sources as f64)),
            (
                "accepted_per_destination".into(),
                part(&|class, b| b.accepted as f64 / class.destinations as f64),
            ),
            ("created".into(), Column::Int(rows.iter().map(|(_, _, b)| b.created as i64).collect())),
            ("messages".into(), Column::Int(rows.iter().map(|(_, _, b)| b.latency[2].0 as i64).collect())),
            ("packet_latency_ns".into(), mean(0)),
            ("network_latency_ns".into(), mean(1)),
            ("message_latency_ns".into(), mean(2)),
        ];
        Table { name: "series", columns }
    }

    fn source_table(&self, classes: &[Class]) -> Table {
        let (mut names, mut endpoints, mut accepted) = (vec![], vec![], vec![]);
        for (class, traffic) in classes.iter().zip(&self.plan.traffic) {
            for &source in traffic.class().destinations.sources() {
                names.push(class.name.clone());
                endpoints.push(source as i64);
                accepted.push(self.fraction(class.probe.sources[source as usize], 1));
            }
        }
        let columns = vec![
            ("class".into(), Column::Text(names)),
            ("endpoint".into(), Column::Int(endpoints)),
            ("accepted".into(), Column::Real(accepted)),
        ];
        Table { name: "sources", columns }
    }

    /// In ascending order of switch and port, whatever the partitioning.
    fn port_table(&self) -> Table {
        let (mut switches, mut ports, mut names) = (vec![], vec![], vec![]);
        let (mut active, mut idle, mut stalled) = (vec![], vec![], vec![]);
        let window = self.window();
        for (switch, list) in self.plan.graph.switches.iter().enumerate() {
            for (port, wired) in list.iter().enumerate() {
                let (partition, local) = self.plan.local_port(switch as u32, port as u16);
                let time = &self.probes[partition as usize].ports[local as usize];
                switches.push(switch as i64);
                ports.push(port as i64);
                names.push(self.plan.links[wired.class as usize].name.clone());
                active.push(self.ns(time.active as f64));
                stalled.push(self.ns(time.stalled as f64));
                idle.push(self.ns(window.saturating_sub(time.active + time.stalled) as f64));
            }
        }
        let columns = vec![
            ("switch".into(), Column::Int(switches)),
            ("port".into(), Column::Int(ports)),
            ("link_class".into(), Column::Text(names)),
            ("active_ns".into(), Column::Real(active)),
            ("idle_ns".into(), Column::Real(idle)),
            ("stalled_ns".into(), Column::Real(stalled)),
        ];
        Table { name: "ports", columns }
    }

    fn occupancy_table(&self) -> Table {
        let (mut times, mut switches, mut flits) = (vec![], vec![], vec![]);
        for (at, &time) in self.plan.record.occupancy.iter().enumerate() {
            for (switch, &(partition, local)) in self.plan.home.iter().enumerate() {
                let Some(snapshot) = self.probes[partition as usize].snapshots.get(at) else { continue };
                times.push(self.ns(time as f64));
                switches.push(switch as i64);
                flits.push(snapshot[local as usize] as i64);
            }
        }
        let columns = vec![
            ("time_ns".into(), Column::Real(times)),
            ("switch".into(), Column::Int(switches)),
            ("flits".into(), Column::Int(flits)),
        ];
        Table { name: "occupancy", columns }
    }

    /// Flits that wait for every port at every snapshot; ports where none do are left out.
    fn queue_table(&self) -> Table {
        let (mut times, mut switches, mut ports, mut flits) = (vec![], vec![], vec![], vec![]);
        for (at, &time) in self.plan.record.occupancy.iter().enumerate() {
            for (switch, list) in self.plan.graph.switches.iter().enumerate() {
                for port in 0..list.len() {
                    let (partition, local) = self.plan.local_port(switch as u32, port as u16);
                    let snapshot = self.probes[partition as usize].port_snapshots.get(at);
                    let waiting = snapshot.map_or(0, |snapshot| snapshot[local as usize]);
                    if waiting > 0 {
                        times.push(self.ns(time as f64));
                        switches.push(switch as i64);
                        ports.push(port as i64);
                        flits.push(waiting as i64);
                    }
                }
            }
        }
        let columns = vec![
            ("time_ns".into(), Column::Real(times)),
            ("switch".into(), Column::Int(switches)),
            ("port".into(), Column::Int(ports)),
            ("flits".into(), Column::Int(flits)),
        ];
        Table { name: "queues", columns }
    }
}

const QUANTITIES: [&str; 6] = ["mean", "p50", "p95", "p99", "p999", "max"];

fn saturated(latency: &Latency) -> bool {
    let missing = latency.due as i64 - latency.count() as i64;
    missing as f64 > UNFINISHED_MAX * latency.due as f64
}
