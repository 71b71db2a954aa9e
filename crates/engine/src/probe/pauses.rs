//! The pauses of senders, where the flow control has some.
use super::summary::Measured;
use super::{NEVER, Probe, Tick, overlap};
use crate::core::trace::Node;
use crate::report::{Column, Table};
use serde_json::{Map, Value, json};

/// Those of all channels of a kind, in the window.
#[derive(Debug, Clone, Copy, Default)]
pub struct PauseCounts {
    /// How many began.
    count: u64,
    /// How many channels had some.
    channels: u64,
    /// For how long a channel had a virtual channel that was paused, or several: the sum of all, and the longest.
    time: Tick,
    longest: Tick,
}

/// A virtual channel of a channel was paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pause {
    /// When its sender obeyed.
    pub start: Tick,
    /// Both ends of the channel.
    pub ends: (Node, Node),
    /// The virtual channel.
    pub vc: u8,
    /// When it resumed; `NEVER` if it did not.
    pub end: Tick,
}

impl Probe {
    /// Whether a time is measured.
    pub fn measures(&self, at: Tick) -> bool {
        self.in_window(at)
    }

    /// The part of a time that is measured.
    pub fn measured(&self, from: Tick, to: Tick) -> Tick {
        overlap(self.window, from, to)
    }

    /// So many pauses of the virtual channels of a channel began, and for so long one was paused, or more.
    pub fn add_pauses(&mut self, row: usize, count: u64, time: Tick) {
        let pauses = &mut self.pauses[row];
        pauses.count += count;
        pauses.channels += u64::from(time > 0);
        pauses.time += time;
        pauses.longest = pauses.longest.max(time);
    }
}

impl Measured<'_> {
    /// Of each kind of channel, how often it was paused, and for what share of the time; nothing where credits are the flow control.
    pub(super) fn pauses(&self) -> Option<Value> {
        let links = &self.plan.links;
        links[0].pauses?;
        let of = |row: usize| {
            let mut all = PauseCounts::default();
            for one in self.probes.iter().map(|probe| probe.pauses[row]) {
                all.count += one.count;
                all.channels += one.channels;
                all.time += one.time;
                all.longest = all.longest.max(one.longest);
            }
            let channels = self.channels(row);
            let window = self.window().max(1) as f64;
            json!({
                "count": all.count,
                "channels": channels,
                "channels_paused": all.channels,
                "time_share": all.time as f64 / (channels.max(1) as f64 * window),
                "time_share_max": all.longest as f64 / window,
            })
        };
        let inner = (1..links.len()).map(|row| (links[row].name.clone(), of(row)));
        Some(Map::from_iter([("injection".to_string(), of(links.len()))].into_iter().chain(inner)).into())
    }

    /// Every pause, in the order of their starts.
    pub(super) fn pause_table(&self) -> Table {
        let all = self.probes.iter().flat_map(|probe| probe.every_pause.iter().flatten()).copied();
        // The run has gone on until it knew that it was over. What ends with it may not be known yet.
        let until = |end: Tick| if end >= self.end { NEVER } else { end };
        let mut pauses = Vec::from_iter(
            all.filter(|pause| pause.start < self.end).map(|pause| Pause { end: until(pause.end), ..pause }),
        );
        pauses.sort_unstable();
        let plan = self.plan;
        let text = |pick: &dyn Fn(&Pause) -> String| Column::Text(pauses.iter().map(pick).collect());
        let class = |vc: u8| plan.vcs.classes[usize::from(plan.vcs.class_of[usize::from(vc)])].label();
        let time = |at: Tick| if at == NEVER { f64::NAN } else { self.ns(at as f64) };
        let columns = vec![
            ("from".into(), text(&|pause| pause.ends.0.to_string())),
            ("to".into(), text(&|pause| pause.ends.1.to_string())),
            ("traffic_class".into(), text(&|pause| class(pause.vc))),
            ("virtual_channel".into(), Column::Int(pauses.iter().map(|pause| pause.vc.into()).collect())),
            ("start_ns".into(), Column::Real(pauses.iter().map(|pause| time(pause.start)).collect())),
            ("end_ns".into(), Column::Real(pauses.iter().map(|pause| time(pause.end)).collect())),
        ];
        Table { name: "pauses", columns }
    }
}
