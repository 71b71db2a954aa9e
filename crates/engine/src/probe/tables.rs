//! The tables of a run, but for those of jobs and congestion control.
use super::slowdowns::SLOWDOWNS;
use super::sources::SHARES;
use super::summary::{BACKLOG, Class, Measured, QUANTITIES};
use super::{Bin, ClassProbe, LATENCIES};
use crate::core::Tick;
use crate::graph::Peer;
use crate::report::{Column, Table};

impl Measured<'_> {
    pub(super) fn class_table(&self, classes: &[Class]) -> Table {
        let names = classes.iter().map(|class| class.name.clone()).collect();
        let mut columns = vec![("class".into(), Column::Text(names))];
        columns.extend(self.class_numbers(classes));
        for (name, pick) in BACKLOG {
            let of = |(at, class)| pick(self.growth_of(classes, at, class)).unwrap_or(f64::NAN);
            columns.push((name.into(), Column::Real(classes.iter().enumerate().map(of).collect())));
        }
        for (at, latency) in LATENCIES.iter().enumerate() {
            for (which, quantity) in QUANTITIES.iter().enumerate() {
                let column = classes
                    .iter()
                    .map(|class| self.latency_values(class, at)[which].unwrap_or(f64::NAN))
                    .collect();
                columns.push((format!("{latency}_latency_{quantity}_ns"), Column::Real(column)));
            }
            let missing = classes.iter().map(|class| class.probe.latency[at].missing() as i64).collect();
            columns.push((format!("{latency}_latency_missing"), Column::Int(missing)));
        }
        if self.plan.record.messages {
            let values: Vec<_> = classes.iter().map(Class::slowdown_values).collect();
            columns.extend(SLOWDOWNS.iter().enumerate().map(|(at, quantity)| {
                let column = values.iter().map(|of| of[at].unwrap_or(f64::NAN));
                (format!("message_slowdown_{quantity}"), Column::Real(column.collect()))
            }));
        }
        Table { name: "classes", columns }
    }

    /// What the summary too tells of classes, but for their latencies; a row for each.
    pub(super) fn class_numbers(&self, classes: &[Class]) -> Vec<(String, Column)> {
        let real = |name: &str, pick: &dyn Fn(&Class) -> f64| {
            (name.into(), Column::Real(classes.iter().map(pick).collect()))
        };
        let int = |name: &str, pick: fn(&ClassProbe) -> i64| {
            (name.into(), Column::Int(classes.iter().map(|class| pick(&class.probe)).collect()))
        };
        let mut columns = vec![
            real("offered", &|class| {
                self.fraction(class.probe.offered as f64, class.sources.len(), class.time)
            }),
            real("accepted", &|class| {
                self.fraction(class.probe.accepted as f64, class.sources.len(), class.time)
            }),
            real("accepted_ci95", &|class| {
                let span = (class.from, class.from + class.time);
                match class.probe.taken.half_of_rate(&self.probes[0].cut, span) {
                    Some(half) => self.fraction(half * class.time as f64, class.sources.len(), class.time),
                    None => f64::NAN,
                }
            }),
            real("accepted_per_destination", &|class| {
                self.fraction(class.probe.accepted as f64, class.destinations, class.time)
            }),
            int("messages", |probe| probe.messages as i64),
            int("packets", |probe| probe.latency[0].due as i64),
            int("unfinished", |probe| probe.latency[2].missing() as i64),
            real("hops_mean", &|Class { probe, .. }| match probe.far {
                0 => probe.hops as f64 / probe.arrived as f64,
                _ => f64::NAN,
            }),
            int("dropped_packets", |probe| probe.dropped as i64),
            int("resent_packets", |probe| probe.resent as i64),
            int("speculative_packets", |probe| probe.speculative as i64),
            int("duplicate_packets", |probe| probe.duplicates as i64),
            int("reordered_packets", |probe| probe.reordered as i64),
        ];
        if self.plan.record.sources {
            let shares: Vec<_> = classes.iter().map(|class| self.source_shares(class)).collect();
            columns.extend(SHARES.iter().enumerate().map(|(at, &name)| {
                let values = shares.iter().map(|values| values[at].unwrap_or(f64::NAN));
                (name.into(), Column::Real(values.collect()))
            }));
        }
        columns
    }

    pub(super) fn histogram_table(&self, classes: &[Class]) -> Table {
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

    pub(super) fn share_table(&self) -> Table {
        let (mut classes, mut kinds, mut shares) = (vec![], vec![], vec![]);
        let links = self.plan.links.iter().map(|link| link.name.as_str());
        let names = links.chain(["injection", "ejection"]);
        // Those of the endpoints, the first class of links, are told by direction.
        for (row, name) in names.enumerate().skip(1) {
            for (kind, share) in self.shares(row).as_object().expect("an object") {
                classes.push(name.to_string());
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

    pub(super) fn series_table(&self, classes: &[Class], bin: Tick) -> Table {
        let reached = self.end.div_ceil(bin) as usize;
        // Nothing fell into bins that a class does not have.
        let nothing = Bin::default();
        let bin_of = |class: &'_ Class, at: usize| class.probe.series.get(at).copied().unwrap_or(nothing);
        let rows: Vec<(&Class, usize, Bin)> = classes
            .iter()
            .flat_map(|class| (0..reached).map(move |at| (class, at, bin_of(class, at))))
            .collect();
        let mean = |which: usize| {
            let value = |b: &Bin| self.ns(b.mean(which, self.end));
            Column::Real(rows.iter().map(|(_, _, b)| value(b)).collect())
        };
        let missing =
            |which: usize| Column::Int(rows.iter().map(|(_, _, b)| b.open[which].count() as i64).collect());
        // The last bin may be cut short by the end, up to which packets went on. Jobs end with their last packets, each of which counts
        // in the bin of its tail.
        let end = if self.plan.traffic.is_empty() { Tick::MAX } else { self.end };
        let capacity = |at: usize| self.channel_flits(bin.min(end - at as Tick * bin));
        let part = |pick: fn(&Class, &Bin) -> (u64, usize)| {
            let value = |(class, at, b): &(&Class, usize, Bin)| {
                let (flits, channels) = pick(class, b);
                flits as f64 / channels.max(1) as f64 / capacity(*at)
            };
            Column::Real(rows.iter().map(value).collect())
        };
        let columns = vec![
            ("class".into(), Column::Text(rows.iter().map(|(class, ..)| class.name.clone()).collect())),
            (
                "time_ns".into(),
                Column::Real(rows.iter().map(|(_, at, _)| self.ns((*at as u64 * bin) as f64)).collect()),
            ),
            ("offered".into(), part(|class, b| (b.offered, class.sources.len()))),
            ("accepted".into(), part(|class, b| (b.accepted, class.sources.len()))),
            ("accepted_per_destination".into(), part(|class, b| (b.accepted, class.destinations))),
            ("created".into(), Column::Int(rows.iter().map(|(_, _, b)| b.created as i64).collect())),
            ("messages".into(), Column::Int(rows.iter().map(|(_, _, b)| b.latency[2].0 as i64).collect())),
            ("packet_latency_ns".into(), mean(0)),
            ("network_latency_ns".into(), mean(1)),
            ("message_latency_ns".into(), mean(2)),
            ("packet_latency_missing".into(), missing(0)),
            ("network_latency_missing".into(), missing(1)),
            ("message_latency_missing".into(), missing(2)),
        ];
        Table { name: "series", columns }
    }

    /// In ascending order of switch and port, whatever the partitioning; ports that lead nowhere are left out.
    pub(super) fn port_table(&self) -> Table {
        let (mut switches, mut ports, mut names) = (vec![], vec![], vec![]);
        let (mut active, mut idle, mut stalled) = (vec![], vec![], vec![]);
        let window = self.window();
        for (switch, list) in self.plan.graph.switches.iter().enumerate() {
            for (port, wired) in list.iter().enumerate().filter(|(_, port)| port.peer != Peer::None) {
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

    pub(super) fn occupancy_table(&self) -> Table {
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
    pub(super) fn queue_table(&self) -> Table {
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
