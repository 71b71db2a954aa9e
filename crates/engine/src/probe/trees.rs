//! The table of congestion trees: every virtual channel that was held at a snapshot, and what it waited for.
use super::summary::Measured;
use crate::core::Tick;
use crate::core::trace::Node;
use crate::core::trees::{Held, Root};
use crate::graph::Peer;
use crate::report::{Column, Table};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What is held at a time.
#[derive(Debug, Clone, Default)]
struct Moment {
    endpoints: BTreeSet<(u32, u16)>,
    channels: BTreeSet<(u32, u16)>,
}

impl Measured<'_> {
    /// How far congestion trees reach at the snapshots of the window, in the mean and at most: none unless they are recorded.
    pub(super) fn trees(&self) -> Option<Value> {
        let all = self.probes[0].trees.as_ref()?;
        let (from, to) = self.probes[0].window;
        let taken = &self.plan.record.occupancy[..self.probes[0].snapshots.len()];
        let snapshots = taken.iter().filter(|&&at| from < at && at <= to).count();
        let mut moments: BTreeMap<Tick, Moment> = BTreeMap::new();
        let (mut deepest, mut flits, mut strangers) = (0, 0, 0);
        let in_trees = |held: &&Held| from < held.at && held.at <= to && held.root != Root::Nothing;
        for held in all.iter().filter(in_trees) {
            let moment = moments.entry(held.at).or_default();
            let ends = if matches!(held.from, Node::Endpoint(_)) {
                &mut moment.endpoints
            } else {
                &mut moment.channels
            };
            ends.insert(held.to);
            deepest = deepest.max(held.depth);
            if matches!(held.root, Root::Endpoint(_)) {
                flits += u64::from(held.flits);
                strangers += u64::from(held.strangers);
            }
        }
        let inner = self.plan.graph.switches.iter().flatten();
        let channels = inner.filter(|port| matches!(port.peer, Peer::Switch { .. })).count();
        let share = |count: usize, of: usize| (of > 0).then(|| count as f64 / of as f64);
        let reach = |of: usize, count: &dyn Fn(&Moment) -> usize| {
            let (sum, most) =
                moments.values().map(count).fold((0, 0), |(sum, most), own| (sum + own, most.max(own)));
            json!({ "mean": share(sum, of * snapshots), "max": share(most, of) })
        };
        Some(json!({
            "snapshots": snapshots,
            "endpoints_held": reach(self.plan.graph.endpoints.len(), &|moment| moment.endpoints.len()),
            "channels_held": reach(channels, &|moment| moment.channels.len()),
            "deepest": deepest,
            "strangers": (flits > 0).then(|| strangers as f64 / flits as f64),
        }))
    }

    /// Of every snapshot the channels that were held, in the order of the buffers at their ends.
    pub(super) fn tree_table(&self) -> Table {
        let all = self.probes[0].trees.as_deref().unwrap_or_default();
        let plan = self.plan;
        let names: Vec<&str> = plan.links.iter().map(|link| link.name.as_str()).collect();
        let root = |held: &Held| match held.root {
            Root::Endpoint(endpoint) => format!("endpoint {endpoint}"),
            Root::Channel(switch, port) => plan.graph.channel(switch, port, &names),
            Root::Circle => "circle".to_string(),
            Root::Nothing => "nothing".to_string(),
        };
        let strangers = |held: &Held| match held.root {
            Root::Endpoint(_) => f64::from(held.strangers),
            _ => f64::NAN,
        };
        let from_port =
            |held: &Held| match plan.graph.switches[held.to.0 as usize][usize::from(held.to.1)].peer {
                Peer::Switch { port, .. } => port.into(),
                _ => -1,
            };
        let text = |pick: &dyn Fn(&Held) -> String| Column::Text(all.iter().map(pick).collect());
        let int = |pick: &dyn Fn(&Held) -> i64| Column::Int(all.iter().map(pick).collect());
        let real = |pick: &dyn Fn(&Held) -> f64| Column::Real(all.iter().map(pick).collect());
        let columns = vec![
            ("time_ns".into(), real(&|held| self.ns(held.at as f64))),
            ("from".into(), text(&|held| held.from.to_string())),
            ("from_port".into(), int(&from_port)),
            ("to_switch".into(), int(&|held| held.to.0.into())),
            ("to_port".into(), int(&|held| held.to.1.into())),
            ("virtual_channel".into(), int(&|held| held.vc.map_or(-1, i64::from))),
            ("root".into(), text(&root)),
            ("depth".into(), int(&|held| held.depth.into())),
            ("flits".into(), int(&|held| held.flits.into())),
            ("strangers".into(), real(&strangers)),
        ];
        Table { name: "trees", columns }
    }
}
