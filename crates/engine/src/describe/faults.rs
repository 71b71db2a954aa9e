//! Links that have failed, and what is slow.
use super::whole::{members, ns};
use crate::core::Tick;
use crate::core::plan::Plan;
use crate::core::slow::Speeds;
use crate::graph::Peer;
use crate::scenario::Scenario;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The links that are out of service.
pub(super) fn failed_links(scenario: &Scenario, plan: &Plan) -> Value {
    let (graph, names) = (&plan.graph, scenario.topology.wiring().link_classes());
    let name = |&[(one, port), (other, far)]: &[(u32, u16); 2]| {
        let class = graph.switches[one as usize][usize::from(port)].class;
        format!("switch {one} port {port} to switch {other} port {far} ({})", names[usize::from(class)])
    };
    some(&Vec::from_iter(graph.failed.iter().map(name)))
}

/// Names, of which only the first are told if there are many.
fn some(names: &[String]) -> Value {
    let mut told = names[..names.len().min(NAMES_TOLD)].to_vec();
    if names.len() > NAMES_TOLD {
        told.push(format!("and {} more", names.len() - NAMES_TOLD));
    }
    json!(told)
}

/// Names of channels that are told.
const NAMES_TOLD: usize = 32;

/// What slow channels carry, from when on: a row for each change, of all that have the same changes, as long as the run may last, with
/// what `told` tells of them.
fn slow<'a, T>(
    plan: &Plan,
    channels: impl Iterator<Item = (&'a Speeds, T)>,
    told: impl Fn(&[T]) -> (&'static str, Value),
) -> Vec<Value> {
    let mut alike = BTreeMap::<&[(Tick, u64)], Vec<T>>::new();
    for (speeds, channel) in channels {
        alike.entry(speeds.pieces()).or_default().push(channel);
    }
    let rows = alike.into_iter().flat_map(|(pieces, channels)| {
        let (key, told) = told(&channels);
        let row = move |&(from, rate): &(Tick, u64)| {
            let (count, from) = (channels.len(), ns(plan, from as f64));
            json!({ "from_ns": from, "gbit_per_s": rate as f64 / 1e9, "count": count, key: told })
        };
        pieces.iter().filter(|(from, _)| *from <= plan.end).map(row)
    });
    rows.collect()
}

/// What endpoints take that are slow, or whose links are.
pub(super) fn slow_endpoints(plan: &Plan) -> Vec<Value> {
    let to = |&(switch, port): &(u32, u16)| plan.graph.switches[switch as usize][usize::from(port)].peer;
    let ends = plan.slow.ports.iter().filter_map(|(at, speeds)| match to(at) {
        Peer::Endpoint(endpoint) => Some((speeds, endpoint)),
        _ => None,
    });
    slow(plan, ends, |endpoints| ("endpoints", members(plan, endpoints)))
}

/// What slow channels between switches carry, and those out of endpoints.
pub(super) fn slow_links(scenario: &Scenario, plan: &Plan) -> Vec<Value> {
    let (graph, names) = (&plan.graph, scenario.topology.wiring().link_classes());
    let to = |&(switch, port): &(u32, u16)| graph.switches[switch as usize][usize::from(port)].peer;
    let between = plan.slow.ports.iter().filter(|(at, _)| matches!(to(at), Peer::Switch { .. }));
    let between = between.map(|(&(switch, port), speeds)| (speeds, graph.channel(switch, port, names)));
    let out = plan
        .slow
        .injections
        .iter()
        .map(|(endpoint, speeds)| (speeds, format!("endpoint {endpoint} ({})", names[0])));
    slow(plan, between.chain(out), |channels| ("channels", some(channels)))
}
