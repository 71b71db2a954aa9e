//! All that can be said of a scenario before it runs, as one JSON object.
use super::latency::{Spread, Ways};
use super::{Description, cost, faults, memory};
use crate::core::NEVER;
use crate::core::plan::{LinkPlan, Plan};
use crate::graph::{Peer, Port};
use crate::protocol;
use crate::queueing::Assignment;
use crate::routing::Minimality;
use crate::scenario::Scenario;
use crate::traffic::sizes::Sizes;
use crate::workload::bind::BoundJob;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Describes a scenario whose plan is `plan`.
pub fn whole(scenario: &Scenario, plan: &Plan) -> Value {
    let host = plan.links[0].rate.0 as f64;
    let capacity = |class: u8| plan.links[usize::from(class)].rate.0 as f64 / host;
    let graph = super::describe(&plan.graph, scenario.topology.wiring(), capacity);
    let ways = Ways::new(plan, &scenario.topology, &scenario.routing);
    let ports = plan.graph.switches.iter().flatten().filter(|port| port.peer != Peer::None);
    let across = (plan.lookahead != NEVER).then(|| ns(plan, plan.lookahead as f64));
    let hops = ways.as_ref().map(Ways::hops);
    let scheme = scenario.congestion_control.scheme();
    let chosen = scheme.defaults(plan).into_iter().map(|(key, value)| (key.to_string(), value));
    let mut facts = json!({
        "title": scenario.title,
        "topology": scenario.topology.kind(),
        "routing": scenario.routing.kind(),
        "queueing": scenario.queueing.kind(),
        "congestion_control": scenario.congestion_control.kind(),
        "congestion_control_default": Map::from_iter(chosen),
        "endpoints": graph.endpoints,
        "switches": graph.switches,
        "ports": ports.count(),
        "ports_per_switch_max": graph.ports_max,
        "diameter": graph.diameter,
        "minimal_hops_mean": hops.map(|hops| hops.mean),
        "minimal_hops_max": hops.map(|hops| hops.max),
        "sampled": graph.hops_sampled || ways.as_ref().is_some_and(|ways| ways.sampled),
        "bisection": graph.bisection,
        "deadlock_freedom": plan.router.freedom(),
        "flit_bits": plan.scale.flit_bits,
        "packet_flits_max": plan.packet_flits,
        "tick_ps": plan.tick,
        "partitions": plan.shares.len(),
        "lookahead_ns": across,
        "memory_estimate": memory::estimate(plan, ways.as_ref(), scenario.endpoint.acknowledge),
        "links": links(&graph, plan),
        "zero_load_latency_ways": ways.as_ref().map(|_| match scenario.routing.binding().minimality() {
            Minimality::NonMinimal => "minimal ones; the routing may take others",
            Minimality::Minimal | Minimality::OwnMinimal => "those of the routing",
        }),
        "zero_load_latency_ns": ways.map(|ways| latencies(plan, &ways)),
        "virtual_channels": virtual_channels(plan),
        "queues": queues(plan),
        "ranks": ranks(plan),
        "traffic": traffic(plan),
        "failed_links": faults::failed_links(scenario, plan),
        "slow_endpoints": faults::slow_endpoints(plan),
        "slow_links": faults::slow_links(scenario, plan),
        "jobs": jobs(plan),
        "cost": cost::cost(scenario, plan),
        "warnings": protocol::remarks(scenario, plan),
    });
    if let Some(added) = added_ports(scenario, plan) {
        facts["horizontal_ports_percent_of_others"] = json!(added);
    }
    if let Some(bare) = without_global_links(scenario, plan) {
        facts["switches_without_global_links"] = json!(bare);
    }
    facts
}

/// Endpoints up to which the queue of each is told.
const QUEUES_TOLD: u32 = 256;

/// The destinations of every queue in each virtual network, seen from endpoint 0; none where queues are not chosen at the source,
/// or there are too many endpoints for a table.
fn queues(plan: &Plan) -> Vec<Value> {
    let all = plan.graph.endpoints.len() as u32;
    let Assignment::Kept(choose) = &plan.queues else { return Vec::new() };
    if all > QUEUES_TOLD {
        return Vec::new();
    }
    let queues = plan.vcs.queues;
    let places = (0..plan.vcs.networks).flat_map(|network| (0..queues).map(move |queue| (network, queue)));
    let row = |(network, queue)| {
        let destinations: Vec<u32> =
            (0..all).filter(|&dst| u16::from(choose(0, dst, network)) == queue).collect();
        json!({ "network": network, "queue": queue, "destinations": destinations })
    };
    places.map(row).collect()
}

/// The probabilities of the first ten ranks, of the traffic whose sources rank their destinations.
fn ranks(plan: &Plan) -> Map<String, Value> {
    let of = |traffic: &crate::traffic::generator::Plan| {
        let class = traffic.class();
        let ranks = class.destinations.ranks();
        (!ranks.is_empty()).then(|| (class.name.clone(), json!(ranks[..ranks.len().min(10)])))
    };
    plan.traffic.iter().filter_map(of).collect()
}

/// Endpoints by their numbers, unless they are all.
pub(super) fn members(plan: &Plan, endpoints: &[u32]) -> Value {
    if endpoints.len() == plan.graph.endpoints.len() { json!("all") } else { json!(endpoints) }
}

/// The classes of traffic, and who sends and receives in each, as it was drawn or given.
fn traffic(plan: &Plan) -> Vec<Value> {
    let rows = |traffic: &crate::traffic::generator::Plan| {
        let class = traffic.class();
        [("sources", class.destinations.sources()), ("destinations", class.destinations.destinations())].map(
            |(role, ends)| {
                json!({ "name": class.name, "role": role, "count": ends.len(), "endpoints": members(plan, ends) })
            },
        )
    };
    plan.traffic.iter().flat_map(rows).collect()
}

/// The jobs, and where they run.
fn jobs(plan: &Plan) -> Vec<Value> {
    let row = |job: &BoundJob| {
        let switches = job.endpoints.iter().map(|&endpoint| plan.graph.endpoints[endpoint as usize].0);
        let blocks = job.endpoints.iter().map(|&endpoint| plan.graph.block_of(endpoint));
        json!({
            "name": job.name,
            "workload": job.workload,
            "ranks": job.endpoints.len(),
            "start_ns": job.start.0 as f64 / 1000.0,
            "switches": BTreeSet::from_iter(switches).len(),
            "groups": BTreeSet::from_iter(blocks).len(),
            "endpoints": job.endpoints,
        })
    };
    plan.jobs.iter().filter(|job| !job.idle).map(row).collect()
}

pub(super) fn ns(plan: &Plan, ticks: f64) -> f64 {
    ticks * plan.tick as f64 / 1000.0
}

/// Bits per second of a link class, from the time of its largest packet.
fn rate(plan: &Plan, link: &LinkPlan) -> f64 {
    let bits = f64::from(plan.packet_flits) * plan.scale.flit_bits as f64;
    bits / (f64::from(link.time[plan.packet_flits as usize]) * plan.tick as f64 * 1e-12)
}

/// The percentage by which links inside the rows of a tree's logical nodes add to its ports (paper SAA, section 4.2).
fn added_ports(scenario: &Scenario, plan: &Plan) -> Option<f64> {
    let class = scenario.topology.wiring().link_classes().iter().position(|name| *name == "horizontal")?;
    let ports = plan.graph.switches.iter().flatten().filter(|port| port.peer != Peer::None);
    let (all, added) = (ports.clone().count(), ports.filter(|port| usize::from(port.class) == class).count());
    Some(100.0 * added as f64 / (all - added) as f64)
}

/// The switches of a dragonfly that have no link to another group, though some do. Where groups have fewer such links than ports for them, the
/// first switches have them all.
fn without_global_links(scenario: &Scenario, plan: &Plan) -> Option<usize> {
    let class = scenario.topology.wiring().link_classes().iter().position(|name| *name == "global")?;
    let is_global = |port: &Port| usize::from(port.class) == class && port.peer != Peer::None;
    let switches = &plan.graph.switches;
    let bare = switches.iter().filter(|ports| !ports.iter().any(is_global)).count();
    (0 < bare && bare < switches.len()).then_some(bare)
}

/// The link classes with their channels and the buffers of a port.
fn links(graph: &Description, plan: &Plan) -> Vec<Value> {
    let row = |(link, (name, count)): (&LinkPlan, &(String, u64))| {
        let used = link.buffer.iter().filter(|&&flits| flits > 0);
        let vcs = used.clone().count() as u64;
        let mut row = json!({
            "class": name,
            "links": count,
            "gbit_per_s": rate(plan, link) / 1e9,
            "latency_ns": ns(plan, f64::from(link.latency)),
            "flit_ns": ns(plan, f64::from(link.time[1])),
            "vcs": vcs,
            "input_flits_per_vc": used.clone().max(),
            "input_flits_shared": link.pool,
            "input_flits_per_port": used.map(|&flits| u64::from(flits)).sum::<u64>() + u64::from(link.pool),
            "output_flits_per_vc": plan.output_buffer,
            "output_flits_per_port": vcs * u64::from(plan.output_buffer.unwrap_or(0)),
        });
        if let Some(pauses) = link.pauses {
            row["headroom_flits"] = pauses.headroom.into();
            if let Some(shared) = pauses.shared {
                row["reserve_flits"] = pauses.xoff.into();
                row["shared_flits_per_switch"] = shared.flits.into();
                row["threshold_alone_flits"] = (pauses.xoff + shared.together(1)).into();
            } else {
                row["xoff_flits"] = pauses.xoff.into();
                row["xon_flits"] = pauses.xon.into();
            }
        }
        row
    };
    plan.links.iter().zip(&graph.links).map(row).collect()
}

/// One flit, one packet, and the messages of each class.
fn latencies(plan: &Plan, ways: &Ways) -> Vec<Value> {
    let mut sizes = vec![("1 flit".to_string(), 1), ("1 packet".to_string(), u32::from(plan.packet_flits))];
    for traffic in &plan.traffic {
        let class = traffic.class();
        let name = &class.name;
        match &class.sizes {
            Sizes::Fixed(flits) => sizes.push((format!("message of {name}"), *flits)),
            ranged @ (Sizes::Steps { .. } | Sizes::Distributed(_)) => {
                sizes.push((format!("shortest message of {name}"), ranged.min()));
                sizes.push((format!("longest message of {name}"), class.sizes.max()));
            }
            Sizes::Mix { sizes: mixed, .. } => {
                let named = |&flits: &u32| (format!("message of {name}, {flits} flits"), flits);
                sizes.extend(mixed.iter().map(named));
            }
        }
    }
    let row = |(what, flits): (String, u32)| {
        let Spread { min, mean, max } = ways.latency(plan, flits);
        json!({
            "what": what,
            "flits": flits,
            "packets": flits.div_ceil(u32::from(plan.packet_flits)),
            "min": ns(plan, min),
            "mean": ns(plan, mean),
            "max": ns(plan, max),
        })
    };
    sizes.into_iter().map(row).collect()
}

/// The virtual channels of a port: class × network × queue × level, with the input buffer on every link class.
fn virtual_channels(plan: &Plan) -> Vec<Value> {
    let vcs = &plan.vcs;
    let (levels, queues) = (usize::from(vcs.levels), usize::from(vcs.queues));
    let row = |vc: usize| {
        let buffers = plan.links.iter().map(|link| (link.name.clone(), json!(link.buffer[vc])));
        json!({
            "vc": vc,
            "class": vcs.classes[usize::from(vcs.class_of[vc])].label(),
            "network": vcs.network_of[vc],
            "queue": vc / levels % queues,
            "level": vc % levels,
            "input_flits": Map::from_iter(buffers),
        })
    };
    let used = |vc: &usize| plan.links.iter().any(|link| link.buffer[*vc] > 0);
    (0..vcs.count()).filter(used).map(row).collect()
}
