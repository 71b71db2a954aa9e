//! The network as a list of channels with their capacities, and the flows of phases: what a drawing needs, and a solver that looks
//! for the best routes there could be.
use crate::core::plan::Plan;
use crate::graph::Peer;
use crate::scenario::Scenario;
use serde_json::{Value, json};

/// Switches and endpoints in one numbering (endpoints behind the switches); channels as `[from, to, bits per ns, link class]`, with
/// the names of the classes; links that have failed as `[one, other, link class]`; the block of each switch (group, pod, plane); for each job in phases, its flows by phase as
/// `[source, destination, bytes]` with endpoint numbers.
pub fn channels(scenario: &Scenario, plan: &Plan) -> Value {
    let graph = &plan.graph;
    let (switches, most) = (graph.switches.len(), usize::from(plan.packet_flits));
    let bits = most as f64 * plan.scale.flit_bits as f64 * 1000.0;
    let rate = |ticks: f64| bits / (ticks * plan.tick as f64);
    let mut channels = Vec::new();
    for (switch, ports) in graph.switches.iter().enumerate() {
        for (at, port) in (0..).zip(ports) {
            let (class, time) = (port.class, plan.port_time(switch as u32, at));
            match port.peer {
                Peer::None => {}
                Peer::Switch { switch: to, .. } => {
                    channels.push(json!([switch, to, rate(time), class]));
                }
                Peer::Endpoint(endpoint) => {
                    let node = switches + endpoint as usize;
                    channels.push(json!([switch, node, rate(time), class]));
                    channels.push(json!([node, switch, rate(plan.injection_time(endpoint)), class]));
                }
            }
        }
    }
    let failed = graph.failed.iter().map(|&[(one, port), (other, _)]| {
        json!([one.min(other), one.max(other), graph.switches[one as usize][usize::from(port)].class])
    });
    let failed = Vec::from_iter(failed);
    let jobs = plan.jobs.iter().filter_map(|job| {
        let schedule = job.application.flows()?;
        let flow = |flow: &crate::workload::phases::Flow| {
            json!([job.endpoints[flow.from as usize], job.endpoints[flow.to as usize], flow.bytes])
        };
        let phase = |phase| schedule.flows(phase).iter().map(flow).collect::<Vec<_>>();
        let phases: Vec<_> = (0..schedule.phases()).map(phase).collect();
        Some(json!({ "job": job.name, "phases": phases }))
    });
    json!({
        "switches": switches,
        "endpoints": graph.endpoints.len(),
        "channels": channels,
        "failed": failed,
        "link_classes": scenario.topology.wiring().link_classes(),
        "blocks": graph.blocks,
        "jobs": jobs.collect::<Vec<_>>(),
    })
}
