//! The table of congestion trees: every virtual channel that was held at a snapshot, and what it waited for.
use super::summary::Measured;
use crate::core::trees::{Held, Root};
use crate::graph::Peer;
use crate::report::{Column, Table};

impl Measured<'_> {
    /// Of every snapshot the channels that were held, in the order of the buffers at their ends.
    pub(super) fn tree_table(&self) -> Table {
        let all = Vec::from_iter(self.probes.iter().flat_map(|probe| probe.trees.iter().flatten()).copied());
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
            ("virtual_channel".into(), int(&|held| held.vc.into())),
            ("root".into(), text(&root)),
            ("depth".into(), int(&|held| held.depth.into())),
            ("flits".into(), int(&|held| held.flits.into())),
            ("strangers".into(), real(&strangers)),
        ];
        Table { name: "trees", columns }
    }
}
