//! From a scenario to the plan of its run.
use super::Tick;
use super::plan::{Channels, LinkPlan, Plan, RecordPlan, TrafficClass, cut, shares};
use super::post::Post;
use crate::problem::Problem;
use crate::protocol::signal::Passage;
use crate::queueing::Assignment;
use crate::routing::Router;
use crate::scenario::{PerClass, Scenario, SendQueues};
use crate::switch::parameters::{Buffer, Parameters, Path};
use crate::topology::Wiring;
use crate::traffic::bind::{BoundClass, bind_all};
use crate::traffic::generator;
use crate::traffic::sizes::Sizes;
use crate::units::{Duration, Rate, Scale, Time};
use crate::workload::bind::{BoundJob, Context};
use crate::{graph::Graph, workload};
use std::collections::BTreeSet;

/// Most virtual channels of a port.
const VCS_MAX: u64 = 256;
/// Endpoints of a partition that keep its state in a core's own cache, if it is left to us.
const PARTITION_ENDPOINTS: usize = 32;
/// Packets of the greatest length for which the endpoints of a partition have time in a window, at the least, if it is left to us:
/// with fewer, the windows cost more than small partitions gain. On KNS networks with links of 6 ns, partitions of one packet a
/// window took 2.5 times the time of one large one, those of six as much as it.
const WINDOW_PACKETS: u64 = 16;
/// Smallest part of a packet of the greatest length that a window may be, as its inverse: with shorter ones every window touches all
/// links between partitions for next to nothing. A tree of 4096 endpoints with windows of a thirtieth took 2.2 times the time.
const WINDOWS_PER_PACKET: u64 = 8;

/// Bandwidth and latency of a link class.
struct Wire {
    name: String,
    rate: Rate,
    latency: Time,
}

/// Into how many partitions a network is cut for speed.
fn partitions(graph: &Graph, links: &[LinkPlan], packet_flits: u16) -> usize {
    let small = graph.endpoints.len().div_ceil(PARTITION_ENDPOINTS);
    let (_, window) = cut(graph, links, small);
    let packet = u64::from(links[0].time[packet_flits as usize]);
    if window.saturating_mul(WINDOWS_PER_PACKET) < packet {
        return 1;
    }
    let packets = (graph.endpoints.len() as u64).saturating_mul(window) / packet;
    small.min((packets / WINDOW_PACKETS).max(1) as usize)
}

/// What sizes and cycles of a scenario are measured by.
pub fn scale(scenario: &Scenario) -> Scale {
    let bare = Scale { flit_bits: 1, packet_flits: 1, host: scenario.bandwidth_of("host") };
    let flit_bits = scenario.packet.flit.flits(&bare);
    let scale = Scale { flit_bits, ..bare };
    Scale { packet_flits: scenario.packet.max.flits(&scale), ..scale }
}

/// Makes the plan of a scenario without problems of its own; what only shows on the network is told here.
pub fn plan(scenario: &Scenario) -> Result<Plan, Vec<Problem>> {
    let mut problems = scenario.problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    let scale = scale(scenario);
    let graph = scenario.topology.graph();
    let router = scenario.routing.bind(&scenario.topology, &graph, &scale);
    let load = bind_load(scenario, &scale, &graph);
    let (router, (traffic, jobs)) = match (router, load) {
        (Ok(router), Ok(load)) => (router, load),
        (router, traffic) => {
            problems.extend(router.err().map(|problems| prefixed("routing", problems)).into_iter().flatten());
            problems.extend(traffic.err().into_iter().flatten());
            return Err(problems);
        }
    };
    let wires: Vec<Wire> = scenario
        .topology
        .link_classes()
        .iter()
        .map(|name| Wire {
            name: name.to_string(),
            rate: scenario.bandwidth_of(name),
            latency: scenario.latency_of(name).time(&scale),
        })
        .collect();
    let switch = scenario.switch.design().parameters();
    let output_buffer = switch.output_buffer.map(|size| size.flits(&scale).min(u32::MAX as u64 / 4) as u32);
    let tick = tick(scenario, &wires, &scale);
    problems.extend(too_long(scenario, &wires, &scale, tick));
    if !problems.is_empty() {
        return Err(problems);
    }
    let circuits = router.route_cache().is_some() || scenario.congestion_control.scheme().told().is_some();
    let classes = scenario.congestion_control.scheme().classes(scenario.endpoint.acknowledge);
    // Switches make packets where others may be dropped.
    let made = if classes.iter().any(|class| class.droppable) { router.made_levels() } else { 0 };
    let levels: Vec<u8> =
        (0..wires.len()).map(|class| router.levels(class as u8) + if class > 0 { made } else { 0 }).collect();
    let most = levels.iter().copied().max().unwrap_or(1);
    let channels = channels(scenario, &graph, &*router, (classes, most)).map_err(|problem| vec![problem])?;
    let queues = scenario.queueing.scheme().bind(&scenario.topology, &graph);
    if matches!(queues, Assignment::Port(_)) && router.reserved_level().is_some() {
        let message = "the routing reserves room ahead before the queue there is known";
        let help = "another routing, or a queueing whose queues are chosen at the source";
        return Err(vec![Problem::new("queueing.kind", message, help)]);
    }
    let packet_flits = scale.packet_flits as u16;
    let pipeline = switch.pipeline.time(&scale);
    let links: Vec<LinkPlan> = wires
        .iter()
        .zip(&levels)
        .map(|(wire, &levels)| link(wire, levels, &channels, &switch.input_buffer, &scale, tick, pipeline))
        .collect();
    problems.extend(small_buffers(scenario, &links, packet_flits));
    if scenario.packet.interleave && switch.fabric == Path::Unlimited {
        let message = "flits take turns on a crossbar, and this switch has none";
        problems.push(Problem::new(
            "packet.interleave",
            message,
            "false; or the switch kind cioq or input-queued",
        ));
    }
    if router.bubbles() {
        problems.extend(no_bubbles(&traffic, &switch, output_buffer, &links, packet_flits));
        if !jobs.is_empty() {
            let message = "bubbles need data packets of one length, but jobs send messages of many";
            problems.push(Problem::new("routing.deadlock", message, "deadlock = \"date-line\""));
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let fastest = wires.iter().map(|wire| wire.rate.0).max().unwrap_or(1);
    let crossbar = times(Rate(fastest.saturating_mul(switch.speedup() as u64)), &scale, tick);
    let drained =
        scenario.endpoint.drain_rate.map_or(wires[0].rate, |drain| Rate(drain.0.min(wires[0].rate.0)));
    let wanted = scenario.run.partitions.map_or_else(
        || partitions(&graph, &links, packet_flits).max(scenario.run.threads as usize),
        |wanted| wanted as usize,
    );
    let passage = scenario.congestion_control.scheme().passage();
    let post = match passage {
        Some(Passage::Latency(latency)) => Post::Latency(latency.time(&scale).0 / tick),
        Some(Passage::Path) => Post::paths(&graph),
        Some(Passage::InBand) | None => Post::Closed,
    };
    // Signals that take no time may go from anywhere to anywhere within a tick.
    let wanted = if matches!(post, Post::Latency(0)) { 1 } else { wanted };
    let (parts, lookahead) = cut(&graph, &links, wanted);
    let lookahead = if let Post::Latency(latency @ 1..) = post { lookahead.min(latency) } else { lookahead };
    // In a window no barrier may be both entered and left.
    let barriers = jobs.iter().filter_map(|job| job.application.barrier());
    let lookahead = barriers.map(|latency| (latency.0 / tick).max(1)).fold(lookahead, Tick::min);
    let (shares, home, endpoint_home) = shares(&graph, &parts);
    let ticks = |span: Duration| span.time(&scale).0 / tick;
    let run = &scenario.run;
    let [warmup, duration, drain] = scenario.run_spans().map(ticks);
    let window = (warmup, warmup + duration);
    let (slot_num, slot_den) = scale.host.flit_ticks(&scale, tick);
    let clock = |class: &BoundClass| generator::Clock {
        slot_num,
        slot_den,
        start: class.start.0 / tick,
        stop: if runs(run, &class.name) { class.stop.map(|stop| stop.0 / tick) } else { Some(0) },
    };
    let traffic = traffic
        .into_iter()
        .map(|class| {
            let clock = clock(&class);
            generator::Plan::new(class, run.seed, clock)
        })
        .collect();
    let mut occupancy: Vec<Tick> = scenario.record.occupancy.iter().map(|&at| ticks(at)).collect();
    occupancy.sort_unstable();
    occupancy.dedup();
    Ok(Plan {
        tick,
        router,
        channels,
        queues,
        crossbar,
        output_buffer,
        packet_flits,
        control_flits: scenario.packet.control.flits(&scale) as u16,
        interleave: scenario.packet.interleave,
        drain_time: times(drained, &scale, tick),
        fifo: scenario.endpoint.queues == SendQueues::Fifo,
        noting: scenario.congestion_control.scheme().words() || !jobs.is_empty() || circuits,
        circuits,
        told: scenario.congestion_control.scheme().told(),
        record: RecordPlan {
            series: scenario.record.series.map(|bin| ticks(bin).max(1)),
            ports: scenario.record.ports,
            sources: scenario.record.sources,
            packets: scenario.record.packets,
            control: scenario.record.control,
            occupancy,
        },
        scale,
        traffic,
        jobs,
        seed: run.seed,
        window,
        end: window.1 + drain,
        shares,
        home,
        endpoint_home,
        post,
        lookahead,
        links,
        graph,
    })
}

/// The virtual channels of a port: traffic classes × virtual networks × queues × levels.
fn channels(
    scenario: &Scenario,
    graph: &Graph,
    router: &dyn Router,
    (classes, levels): (Vec<TrafficClass>, u8),
) -> Result<Channels, Problem> {
    let (networks, queues) = (router.networks(), scenario.queueing.scheme().queues(graph));
    let count = classes.len() as u64 * u64::from(networks) * u64::from(queues) * u64::from(levels);
    if count > VCS_MAX {
        let message = format!(
            "the scenario needs {count} virtual channels on a port: {} traffic classes, {networks} virtual networks, \
             {queues} queues, {levels} levels",
            classes.len()
        );
        let key = if queues > 1 { "queueing.kind" } else { "routing.kind" };
        return Err(Problem::new(key, message, format!("at most {VCS_MAX} in all")));
    }
    Ok(Channels::new(classes, networks, queues as u16, levels))
}

/// Whether a class or a job does anything.
fn runs(run: &crate::scenario::Run, name: &String) -> bool {
    run.only.is_empty() || run.only.contains(name)
}

/// Traffic and jobs, each in its place: traffic first, but for what takes the rest, which also leaves the jobs alone.
fn bind_load(
    scenario: &Scenario,
    scale: &Scale,
    graph: &Graph,
) -> Result<(Vec<BoundClass>, Vec<BoundJob>), Vec<Problem>> {
    let mut jobs = Vec::new();
    let mut place = |used: &mut [bool]| {
        let context = Context { seed: scenario.run.seed, scale, graph };
        jobs = workload::bind::bind_all(&scenario.job, context, used)?;
        jobs.iter_mut().for_each(|job: &mut BoundJob| job.idle = !runs(&scenario.run, &job.name));
        Ok(())
    };
    let traffic = bind_all(&scenario.traffic, scenario.run.seed, scale, graph, &mut place)?;
    Ok((traffic, jobs))
}

/// The tick: the greatest common divisor of latencies and of flit times over the speedup; 1 ps if a flit time is not
/// a whole number of picoseconds.
fn tick(scenario: &Scenario, wires: &[Wire], scale: &Scale) -> u64 {
    let switch = scenario.switch.design().parameters();
    let mut common = gcd(0, switch.pipeline.time(scale).0);
    let speedup = switch.speedup() as u128;
    let drain = scenario.endpoint.drain_rate.unwrap_or(wires[0].rate);
    for rate in wires.iter().map(|wire| wire.rate).chain([drain]) {
        let (bits, rate) = (scale.flit_bits as u128 * 1_000_000_000_000, rate.0 as u128 * speedup);
        if bits % rate != 0 {
            return 1;
        }
        common = gcd(common, u64::try_from(bits / rate).unwrap_or(1));
    }
    wires.iter().fold(common, |common, wire| gcd(common, wire.latency.0)).max(1)
}

/// Times that the engine cannot count in its ticks: 30 bits for what happens on a channel, 43 for the run.
fn too_long(scenario: &Scenario, wires: &[Wire], scale: &Scale, tick: u64) -> Vec<Problem> {
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
        (bits * 1_000_000_000_000).div_ceil(rate.0.max(1) as u128)
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
    if let Some(drain) = scenario.endpoint.drain_rate {
        check("endpoint.drain_rate".into(), "a packet", packet(drain), 30, "a higher rate");
    }
    let run = scenario.run_spans().iter().map(|span| u128::from(span.time(scale).0)).sum();
    check("run.duration".into(), "the run", run, 43, LONGER_TICK);
    problems
}

const LONGER_TICK: &str =
    "a shorter time, or latencies and flit times with a larger common divisor, which is the tick";

fn prefixed(seam: &str, mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.iter_mut().for_each(|problem| problem.path = format!("{seam}.{}", problem.path));
    problems
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Time of a packet by its flits, in ticks: rounded up once per packet.
fn times(rate: Rate, scale: &Scale, tick: u64) -> Vec<u32> {
    let time = |flits| (rate.transmit_time(flits * scale.flit_bits).0.div_ceil(tick)) as u32;
    (0..=scale.packet_flits).map(time).collect()
}

fn link(
    wire: &Wire,
    levels: u8,
    channels: &Channels,
    buffer: &Buffer,
    scale: &Scale,
    tick: u64,
    pipeline: Time,
) -> LinkPlan {
    let in_use = |vc: usize| channels.in_use(vc, levels);
    let vcs = (0..channels.count()).filter(|&vc| in_use(vc)).count() as u64;
    let flit = wire.rate.transmit_time(scale.flit_bits).0.max(1);
    let flits = match buffer {
        Buffer::RoundTrip => {
            (2 * (wire.latency.0 + flit + pipeline.0)).div_ceil(flit) + 2 * scale.packet_flits
        }
        Buffer::PerVc(size) => size.flits(scale),
        Buffer::PerPort(size) => size.flits(scale) / vcs.max(1),
        Buffer::Shared(_) => scale.packet_flits,
    };
    let pool = match buffer {
        Buffer::Shared(size) => size.flits(scale).saturating_sub(vcs * scale.packet_flits),
        _ => 0,
    };
    let flits = flits.min(u32::MAX as u64 / 4) as u32;
    LinkPlan {
        name: wire.name.clone(),
        rate: wire.rate,
        time: times(wire.rate, scale, tick),
        latency: (wire.latency.0 / tick) as u32,
        pipeline: (pipeline.0 / tick) as u32,
        pool: pool.min(u32::MAX as u64 / 4) as u32,
        buffer: (0..channels.count()).map(|vc| if in_use(vc) { flits } else { 0 }).collect(),
    }
}

fn small_buffers(scenario: &Scenario, links: &[LinkPlan], packet_flits: u16) -> Vec<Problem> {
    let switch = scenario.switch.design().parameters();
    let mut problems = Vec::new();
    for link in links {
        let buffer = link.buffer.iter().copied().filter(|&flits| flits > 0).min().unwrap_or(0);
        if buffer < packet_flits as u32 {
            let vcs = link.buffer.len();
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
        let port = size.flits(&scale(scenario));
        problems.extend(links.iter().filter_map(|link| crowded(link, port, packet_flits)));
    }
    let output = switch.output_buffer.map(|size| size.flits(&scale(scenario)));
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
fn no_bubbles(
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
    let small = |flits: &&u32| (1..2 * most).contains(*flits);
    let ahead = links.iter().skip(1).flat_map(|link| &link.buffer).find(small);
    if let Some(flits) = ahead.filter(|_| output_buffer.is_none()) {
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
