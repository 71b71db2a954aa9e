//! What of a scenario cannot be simulated, as far as only its plan shows it.
use super::build::Wire;
use super::ground::Ground;
use super::plan::{FLITS_MAX, LinkPlan};
use crate::flow_control::Ahead;
use crate::graph::{Graph, Peer, Port};
use crate::problem::Problem;
use crate::routing::Router;
use crate::scenario::{PerClass, Scenario};
use crate::switch::parameters::{Buffer, Forwarding, Parameters, Path};
use crate::traffic::bind::BoundClass;
use crate::traffic::sizes::Sizes;
use crate::units::{Rate, SECOND, Scale};
use crate::workload::bind::BoundJob;
use std::collections::BTreeSet;

/// Times that the engine cannot count in its ticks: 30 bits for what happens on a channel, 43 for the run.
pub(super) fn too_long(scenario: &Scenario, wires: &[Wire], scale: &Scale, tick: u64) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut check = |path: String, what: &str, ps: u128, bits: u32, help: &str| {
        if ps.div_ceil(tick as u128) >= 1 << bits {
            let most = (tick as u128) << bits;
            let message = format!("{what} takes {ps} ps, but one of less than {most} ps can be simulated");
            problems.push(Problem::new(path, message, help));
        }
    };
    let packet = |rate: Rate| {
        let bits = scale.packet_flits as u128 * scale.flit_bits as u128;
        (bits * SECOND).div_ceil(rate.0.max(1) as u128)
    };
    for wire in wires {
        let path = match &scenario.link.bandwidth {
            PerClass::Table(table) if table.contains_key(&wire.name) => {
                format!("link.bandwidth.{}", wire.name)
            }
            _ => "link.bandwidth".to_string(),
        };
        let help = "a higher bandwidth, or a smaller packet";
        check(path, &format!("a packet on the {} links", wire.name), packet(wire.rate), 30, help);
        let key = if scenario.link.classes.contains_key(&wire.name) { &wire.name } else { "latency" };
        let what = format!("the latency of the {} links", wire.name);
        check(format!("link.{key}"), &what, wire.latency.0.into(), 30, LONGER_TICK);
    }
    let switch = scenario.switch.design().parameters();
    let pipeline = switch.pipeline.time(scale).0;
    check("switch.pipeline".into(), "the pipeline", pipeline.into(), 30, LONGER_TICK);
    let response = scenario.link.flow_control.control().response().map_or(0, |time| time.time(scale).0);
    check("link.flow_control.response".into(), "the response", response.into(), 30, LONGER_TICK);
    if let Some(drain) = scenario.endpoint.drain_rate {
        check("endpoint.drain_rate".into(), "a packet", packet(drain), 30, "a higher rate");
    }
    let run = scenario.run_spans().iter().map(|span| u128::from(span.time(scale).0)).sum();
    check("run.duration".into(), "the run", run, 43, LONGER_TICK);
    problems
}

const LONGER_TICK: &str =
    "a shorter time, or latencies and flit times with a larger common divisor, which is the tick";

/// Buffers without room for a packet.
pub(super) fn small_buffers(scenario: &Scenario, links: &[LinkPlan], scale: &Scale) -> Vec<Problem> {
    let packet_flits = scale.packet_flits as u16;
    let switch = scenario.switch.design().parameters();
    let mut problems = Vec::new();
    for link in links {
        let buffer = link.buffer.iter().copied().filter(|&flits| flits > 0).min().unwrap_or(0);
        if buffer < packet_flits as u32 {
            let vcs = link.buffer.iter().filter(|&&flits| flits > 0).count();
            problems.push(Problem::new(
                "switch.input_buffer",
                format!("a virtual channel of the {} links gets {buffer} flits, less than a packet", link.name),
                format!(
                    "at least {packet_flits} flits for each of the {vcs} virtual channels that routing and congestion \
                     control need"
                ),
            ));
        }
    }
    if let Buffer::Shared(size) = switch.input_buffer {
        let port = size.flits(scale);
        problems.extend(links.iter().filter_map(|link| crowded(link, port, packet_flits)));
    }
    let output = switch.output_buffer.map(|size| size.flits(scale));
    if let Some(output) = output.filter(|&output| output < packet_flits as u64) {
        let message = format!("an output queue of {output} flits is smaller than a packet");
        problems.push(Problem::new(
            "switch.output_buffer",
            message,
            format!("at least {packet_flits} flits"),
        ));
    }
    problems
}

/// Buffers in which a flow control that pauses senders cannot keep what comes.
pub(super) fn no_headroom(ground: &Ground, links: &[LinkPlan]) -> Vec<Problem> {
    let control = ground.scenario.link.flow_control.control();
    let mut found = Vec::new();
    for (class, link) in links.iter().enumerate() {
        let Some(pauses) = link.pauses else { continue };
        let mut ports = ground.graph.switches.iter().flatten();
        if !ports.any(|port| usize::from(port.class) == class && port.peer != Peer::None) {
            continue;
        }
        let flits = link.buffer.iter().copied().max().unwrap_or(0);
        let ahead = Ahead { flits: flits.into(), headroom: pauses.headroom.into() };
        for problem in control.problems(ahead, ground.scale, &link.name) {
            // What has nothing to do with the links is the same of all of them.
            if !found.contains(&problem) {
                found.push(problem);
            }
        }
    }
    found
}

/// Routings that go by credits, where senders have none.
pub(super) fn no_credits(router: &dyn Router, links: &[LinkPlan]) -> Option<Problem> {
    let needs = if router.bubbles() {
        ("bubbles are kept by credits", "deadlock = \"date-line\"")
    } else if router.weighs() {
        ("the order with the least ahead is known by credits", "choose = \"round-robin\" or \"random\"")
    } else if router.reserved_level().is_some() || router.senses_credits() {
        ("the routing goes by the room ahead, which only credits tell", "another routing")
    } else {
        return None;
    };
    let (why, other) = needs;
    let message = format!("{why}, and the flow control pauses senders instead");
    let help = format!("\"credits\", or in [routing] {other}");
    links[0].pauses.map(|_| Problem::new("link.flow_control", message, help))
}

/// Buffers with more flits than can be counted.
pub(super) fn large_buffers(
    graph: &Graph,
    links: &[LinkPlan],
    output_buffer: Option<u32>,
) -> Option<Problem> {
    let all =
        |link: &LinkPlan| link.buffer.iter().copied().map(u64::from).sum::<u64>() + u64::from(link.pool);
    let ports: Vec<u64> = links.iter().map(all).collect();
    let inputs = |switch: &Vec<Port>| switch.iter().map(|port| ports[usize::from(port.class)]).sum::<u64>();
    let shared = links[0].sharing().map_or(0, |shared| shared.flits.into());
    let inputs = graph.switches.iter().map(inputs).max().unwrap_or(0) + shared;
    let output = u64::from(output_buffer.unwrap_or(0)) * links[0].buffer.len() as u64;
    (inputs + output >= FLITS_MAX.into()).then(|| {
        let key = match shared.max(inputs - shared).max(output) {
            most if most == output => "switch.output_buffer",
            most if most == shared => "link.flow_control.shared",
            _ => "switch.input_buffer",
        };
        let message = "the buffers of a switch have room for more flits than can be counted";
        let help =
            format!("less than {FLITS_MAX} flits for all inputs of a switch and the queues of an output");
        Problem::new(key, message, help)
    })
}

/// A shared buffer without room for a packet of every virtual channel.
fn crowded(link: &LinkPlan, port: u64, packet_flits: u16) -> Option<Problem> {
    let vcs = link.buffer.iter().filter(|&&flits| flits > 0).count() as u64;
    let least = vcs * packet_flits as u64;
    (port < least).then(|| {
        let message = format!(
            "a shared buffer of {port} flits has no room for a packet of each of the {vcs} virtual channels of the \
             {} links",
            link.name
        );
        Problem::new("switch.input_buffer", message, format!("at least {least} flits"))
    })
}

/// What bubble flow control cannot work with: output queues of less than two packets, and data packets of several lengths, which
/// would break the room for one into pieces.
pub(super) fn no_bubbles(
    traffic: &[BoundClass],
    switch: &Parameters,
    output_buffer: Option<u32>,
    links: &[LinkPlan],
    packet_flits: u16,
) -> Vec<Problem> {
    let (most, mut lengths) = (u32::from(packet_flits), BTreeSet::new());
    for class in traffic {
        let sizes = match &class.sizes {
            Sizes::Fixed(flits) => vec![*flits],
            Sizes::Mix { sizes, .. } => sizes.to_vec(),
            Sizes::Steps { from, step, .. } => vec![*from, from + step],
            Sizes::Distributed(read) => read
                .ranges()
                .flat_map(|(from, to)| [from, (from + 1).min(to), to])
                .map(|flits| flits as u32)
                .collect(),
        };
        let of = |flits: u32| {
            [(flits >= most).then_some(most), (!flits.is_multiple_of(most)).then_some(flits % most)]
        };
        lengths.extend(sizes.into_iter().flat_map(of).flatten());
    }
    let mut problems = Vec::new();
    if lengths.len() > 1 {
        let message = format!(
            "bubbles need data packets of one length, but there will be packets of {lengths:?} flits"
        );
        let help = "messages of one size, or of whole packets; or deadlock = \"date-line\"";
        problems.push(Problem::new("routing.deadlock", message, help));
    }
    if switch.fabric == Path::Unlimited {
        // Who waits for a bubble there would stand before those who need none.
        let message = "bubbles need a switch where packets of one input do not wait for those of another";
        problems.push(Problem::new(
            "switch.kind",
            message,
            "cioq or input-queued; or deadlock = \"date-line\"",
        ));
    }
    let inner = links.iter().skip(1);
    let shared = inner.clone().any(|link| link.pool > 0) && output_buffer.is_none();
    if shared {
        // A packet that moves on in its ring may give room back to the pool, where others take it: the ring's bubble is gone.
        let message = "bubbles cannot be kept in an input buffer that virtual channels share";
        let help = "input_buffer with shared = false; or a switch of kind cioq, which keeps them in its output queues; or deadlock = \"date-line\"";
        problems.push(Problem::new("switch.input_buffer", message, help));
    }
    let small = |flits: &&u32| (1..2 * most).contains(*flits);
    let ahead = inner.flat_map(|link| &link.buffer).find(small);
    if let Some(flits) = ahead.filter(|_| output_buffer.is_none() && !shared) {
        let message =
            format!("an input buffer of {flits} flits has no room for the two packets that bubbles need");
        problems.push(Problem::new("switch.input_buffer", message, format!("at least {} flits", 2 * most)));
    }
    if let Some(output_buffer) = output_buffer.filter(|&flits| flits < 2 * most) {
        let message = format!(
            "an output queue of {output_buffer} flits has no room for the two packets that bubbles need"
        );
        problems.push(Problem::new("switch.output_buffer", message, format!("at least {} flits", 2 * most)));
    }
    problems
}

/// Bubbles in a network with jobs, whose messages have many lengths.
pub(super) fn no_bubbles_for_jobs(jobs: &[BoundJob]) -> Option<Problem> {
    let message = "bubbles need data packets of one length, but jobs send messages of many";
    (!jobs.is_empty()).then(|| Problem::new("routing.deadlock", message, "deadlock = \"date-line\""))
}

/// Traces that alone hold more than the run may.
pub(super) fn large_traces(scenario: &Scenario, jobs: &[BoundJob]) -> Option<Problem> {
    let limit = scenario.run.memory_bytes()?;
    let held: u64 = jobs.iter().map(|job| job.application.memory()).sum();
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let message =
        || format!("the traces of the jobs hold {:.1} MB, over the limit of {:.1} MB", mb(held), mb(limit));
    (held > limit).then(|| Problem::new("run.memory", message(), "a larger limit, or smaller traces"))
}

/// Flits that take turns where there is no crossbar, where a pause may come between the decision on a control packet and its start, or
/// where endpoints may take a packet's parts at several paces.
pub(super) fn no_turns(scenario: &Scenario, switch: &Parameters, links: &[LinkPlan]) -> Vec<Problem> {
    let crossbar = "flits take turns on a crossbar, and this switch has none";
    let kinds = "false; or a switch of kind cioq or input-queued with a finite speedup";
    let frames = "flits take turns only where senders have credits: under pauses packets go in one piece, as frames of Ethernet do";
    let credits = "false; or flow_control = \"credits\" in [link]";
    let paces = "flits take turns only where each channel has one pace, and some endpoints or links are slow";
    let whole = "flits take turns only where switches cut through, and these store packets and forward them";
    let cut = "false; or forwarding = \"cut-through\" in [switch]";
    let is_slow = !(scenario.endpoint.slow.is_empty() && scenario.link.slow.is_empty());
    let mistakes = [
        (switch.fabric == Path::Unlimited, crossbar, kinds),
        (switch.forwarding == Forwarding::StoreAndForward, whole, cut),
        (links[0].pauses.is_some(), frames, credits),
        (is_slow, paces, "false; or no slow endpoints and links"),
    ];
    let found = mistakes.into_iter().filter(|(wrong, ..)| scenario.packet.interleave && *wrong);
    found.map(|(_, message, help)| Problem::new("packet.interleave", message, help)).collect()
}
