//! From a scenario to the plan of its run.
use super::Tick;
use super::limits::{
    large_buffers, large_traces, no_bubbles, no_bubbles_for_jobs, no_turns, small_buffers, too_long,
};
use super::plan::{
    Channels, LinkPlan, Plan, RecordPlan, TrafficClass, VCS_MAX, capped, cut, rounded, shares,
};
use super::post::Post;
use crate::problem::Problem;
use crate::protocol::signal::Passage;
use crate::queueing::Assignment;
use crate::routing::Router;
use crate::scenario::{Scenario, SendQueues, Snapshots};
use crate::switch::parameters::Buffer;
use crate::topology::Wiring;
use crate::traffic::bind::{BoundClass, Use, bind_all};
use crate::traffic::generator;
use crate::units::{Duration, Rate, SECOND, Scale, Time, gcd};
use crate::workload::bind::{BoundJob, Context};
use crate::{graph::Graph, workload};

/// Endpoints of a partition that keep its state in a core's own cache, if it is left to us.
const PARTITION_ENDPOINTS: usize = 32;
/// Packets of the greatest length for which the endpoints of a partition have time in a window, at the least, if it is left to us:
/// with fewer, the windows cost more than small partitions gain. On KNS networks with links of 6 ns, partitions of one packet a
/// window took 2.5 times the time of one large one, those of six as much as it.
const WINDOW_PACKETS: u64 = 16;
/// Smallest part of a packet of the greatest length that a window may be, as its inverse: with shorter ones every window touches all
/// links between partitions for next to nothing. A tree of 4096 endpoints with windows of a thirtieth took 2.2 times the time.
const WINDOWS_PER_PACKET: u64 = 8;

/// What binds a scenario to its network: the routing, the traffic and the jobs.
type Bound = (Box<dyn Router>, Vec<BoundClass>, Vec<BoundJob>);

/// Bandwidth and latency of a link class.
pub(super) struct Wire {
    pub name: String,
    pub rate: Rate,
    pub latency: Time,
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

/// Makes the plan of a scenario without problems of its own; what only shows on the network is told here.
pub fn plan(scenario: &Scenario) -> Result<Plan, Vec<Problem>> {
    let mut problems = scenario.problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    let scale = scenario.scale().expect("a packet without problems has a scale");
    let graph = scenario.topology.graph();
    let wires = wires(scenario, &scale);
    let switch = scenario.switch.design().parameters();
    let output_buffer = switch.output_buffer.map(|size| capped(size.flits(&scale)));
    let tick = tick(scenario, &wires, &scale);
    problems.extend(too_long(scenario, &wires, &scale, tick));
    let bound = bind(scenario, &scale, &graph).map_err(|found| problems.extend(found));
    let Some((router, traffic, jobs)) = bound.ok().filter(|_| problems.is_empty()) else {
        return Err(problems);
    };
    let circuits = router.route_cache().is_some() || scenario.congestion_control.scheme().told().is_some();
    let classes = scenario.congestion_control.scheme().classes(scenario.endpoint.acknowledge);
    let levels = levels(&*router, wires.len() as u8, &classes);
    let channels = channels(scenario, &graph, &*router, (classes, &levels));
    let (channels, queues) = match (channels, queues(scenario, &graph, &*router)) {
        (Ok(channels), Ok(queues)) => (channels, queues),
        (channels, queues) => return Err(channels.err().into_iter().chain(queues.err()).collect()),
    };
    let packet_flits = scale.packet_flits as u16;
    let pipeline = switch.pipeline.time(&scale);
    let links: Vec<LinkPlan> = wires
        .iter()
        .zip(&levels)
        .map(|(wire, &levels)| link(wire, levels, &channels, &switch.input_buffer, &scale, tick, pipeline))
        .collect();
    problems.extend(small_buffers(scenario, &links, &scale));
    problems.extend(large_buffers(&graph, &links, output_buffer));
    problems.extend(no_turns(scenario, &switch));
    problems.extend(large_traces(scenario, &jobs));
    if router.bubbles() {
        problems.extend(no_bubbles(&traffic, &switch, output_buffer, &links, packet_flits));
        problems.extend(no_bubbles_for_jobs(&jobs));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let fastest = wires.iter().map(|wire| wire.rate.0).max().unwrap_or(1);
    let crossbar = times(Rate(fastest.saturating_mul(switch.speedup() as u64)), &scale, tick);
    let drained =
        scenario.endpoint.drain_rate.map_or(wires[0].rate, |drain| Rate(drain.0.min(wires[0].rate.0)));
    let post = post(scenario, &graph, &scale, tick);
    let (parts, lookahead) = windows(scenario, &graph, &links, packet_flits, &post);
    let lookahead = barriers(&jobs, tick).fold(lookahead, Tick::min);
    let (shares, home, endpoint_home) = shares(&graph, &parts);
    let ticks = |span: Duration| span.time(&scale).0 / tick;
    let run = &scenario.run;
    let [warmup, duration, drain] = scenario.run_spans().map(ticks);
    let window = (warmup, warmup + duration);
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
        record: record(scenario, &scale, tick, window.1 + drain),
        traffic: generators(scenario, traffic, &scale, tick),
        scale,
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

/// The tables whose mistakes across keys, here or further in, leave no network to place traffic and jobs on, or none of these.
const FOUNDATIONS: &[&str] = &["topology", "packet", "link", "run", "traffic", "job"];

/// What shows on the network of a scenario that has mistakes, of which those across keys are `across`: all if there are
/// none of these, else what is wrong with how traffic and jobs are placed, if they and the network are sound.
pub fn beyond(scenario: &Scenario, across: &[Problem]) -> Vec<Problem> {
    let table = |problem: &Problem| problem.path.split('.').next().unwrap_or("").to_string();
    if across.is_empty() {
        return plan(scenario).err().unwrap_or_default();
    }
    if across.iter().any(|problem| FOUNDATIONS.contains(&table(problem).as_str())) {
        return Vec::new();
    }
    let Some(scale) = scenario.scale() else { return Vec::new() };
    bind_load(scenario, &scale, &scenario.topology.graph()).err().unwrap_or_default()
}

/// The routing, the traffic and the jobs on the network, or all mistakes of all three.
fn bind(scenario: &Scenario, scale: &Scale, graph: &Graph) -> Result<Bound, Vec<Problem>> {
    let router = scenario.routing.bind(&scenario.topology, graph, scale);
    match (router.map_err(|problems| prefixed("routing", problems)), bind_load(scenario, scale, graph)) {
        (Ok(router), Ok((traffic, jobs))) => Ok((router, traffic, jobs)),
        (router, load) => Err(router.err().into_iter().chain(load.err()).flatten().collect()),
    }
}

/// The levels of each class of links. Where packets may be dropped switches make some, which need levels too.
fn levels(router: &dyn Router, link_classes: u8, classes: &[TrafficClass]) -> Vec<u16> {
    let made = if classes.iter().any(|class| class.droppable) { router.made_levels() } else { 0 };
    (0..link_classes).map(|class| router.levels(class) + if class > 0 { made.into() } else { 0 }).collect()
}

/// How queues are chosen.
fn queues(scenario: &Scenario, graph: &Graph, router: &dyn Router) -> Result<Assignment, Problem> {
    let queues = scenario.queueing.scheme().bind(&scenario.topology, graph, &router.first_dimensions());
    if matches!(queues, Assignment::Port(_)) && router.reserved_level().is_some() {
        let message = "the routing reserves room ahead before the queue there is known";
        let help = "another routing, or a queueing whose queues are chosen at the source";
        return Err(Problem::new("queueing.kind", message, help));
    }
    Ok(queues)
}

/// The longest windows in which no barrier is both entered and left.
fn barriers(jobs: &[BoundJob], tick: u64) -> impl Iterator<Item = Tick> {
    let latencies = jobs.iter().filter_map(|job| job.application.barrier());
    latencies.map(move |latency| (latency.0 / tick).max(1))
}

fn wires(scenario: &Scenario, scale: &Scale) -> Vec<Wire> {
    let wire = |name: &&str| Wire {
        name: name.to_string(),
        rate: scenario.bandwidth_of(name),
        latency: scenario.latency_of(name).time(scale),
    };
    scenario.topology.link_classes().iter().map(wire).collect()
}

/// How signals out of band travel.
fn post(scenario: &Scenario, graph: &Graph, scale: &Scale, tick: u64) -> Post {
    match scenario.congestion_control.scheme().passage() {
        Some(Passage::Latency(latency)) => Post::Latency(rounded(latency.time(scale).0, tick)),
        Some(Passage::Path) => Post::paths(graph),
        Some(Passage::InBand) | None => Post::Closed,
    }
}

/// The partition of each switch, and the window in which none can affect another.
fn windows(
    scenario: &Scenario,
    graph: &Graph,
    links: &[LinkPlan],
    packet_flits: u16,
    post: &Post,
) -> (Vec<u32>, Tick) {
    let run = &scenario.run;
    let ours = || partitions(graph, links, packet_flits).max(run.threads as usize);
    let wanted = run.partitions.map_or_else(ours, |wanted| wanted as usize);
    match post {
        // Signals that take no time may go from anywhere to anywhere within a tick.
        Post::Latency(0) => cut(graph, links, 1),
        Post::Latency(latency) => {
            let (parts, lookahead) = cut(graph, links, wanted);
            (parts, lookahead.min(*latency))
        }
        Post::Closed | Post::Path(_) => cut(graph, links, wanted),
    }
}

/// The generators of the classes of traffic.
fn generators(
    scenario: &Scenario,
    traffic: Vec<BoundClass>,
    scale: &Scale,
    tick: u64,
) -> Vec<generator::Plan> {
    let (slot_num, slot_den) = scale.host.flit_ticks(scale, tick);
    let clock = |class: &BoundClass| generator::Clock {
        slot_num,
        slot_den,
        start: class.start.0 / tick,
        stop: if runs(&scenario.run, &class.name) { class.stop.map(|stop| stop.0 / tick) } else { Some(0) },
    };
    traffic
        .into_iter()
        .map(|class| {
            let clock = clock(&class);
            generator::Plan::new(class, scenario.run.seed, clock)
        })
        .collect()
}

fn record(scenario: &Scenario, scale: &Scale, tick: u64, end: Tick) -> RecordPlan {
    let (record, ticks) = (&scenario.record, |span: Duration| span.time(scale).0 / tick);
    let mut occupancy: Vec<Tick> = match &record.occupancy {
        Snapshots::Every(span) => {
            (1..).map(|at| at * ticks(*span).max(1)).take_while(|&at| at <= end).collect()
        }
        Snapshots::At(times) => times.iter().map(|&at| ticks(at)).collect(),
    };
    occupancy.sort_unstable();
    occupancy.dedup();
    RecordPlan {
        series: record.series.map(|bin| ticks(bin).max(1)),
        ports: record.ports,
        sources: record.sources,
        packets: record.packets,
        control: record.control,
        occupancy,
    }
}

/// The virtual channels of a port: traffic classes × virtual networks × queues × levels.
fn channels(
    scenario: &Scenario,
    graph: &Graph,
    router: &dyn Router,
    (classes, levels): (Vec<TrafficClass>, &[u16]),
) -> Result<Channels, Problem> {
    let levels = levels.iter().copied().max().unwrap_or(1);
    let (networks, queues) = (router.networks(), scenario.queueing.scheme().queues(graph));
    let count = classes.len() as u64 * u64::from(networks) * u64::from(queues) * u64::from(levels);
    if count > VCS_MAX as u64 {
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
    let mut place = |used: &mut [Use]| {
        let memory = scenario.run.memory_bytes();
        let context = Context { seed: scenario.run.seed, scale, graph, memory };
        jobs = workload::bind::bind_all(&scenario.job, context, used)?;
        jobs.iter_mut().for_each(|job: &mut BoundJob| job.idle = !runs(&scenario.run, &job.name));
        Ok(())
    };
    let traffic = bind_all(&scenario.traffic, scenario.run.seed, scale, graph, &mut place)?;
    Ok((traffic, jobs))
}

/// The tick: the greatest common divisor of latencies, of the switches' pipeline, and of the flit times of channels and of endpoints
/// that drain, over the speedup; 1 ps if such a flit time is not a whole number of picoseconds.
fn tick(scenario: &Scenario, wires: &[Wire], scale: &Scale) -> u64 {
    let switch = scenario.switch.design().parameters();
    let mut common = u128::from(switch.pipeline.time(scale).0);
    let speedup = switch.speedup() as u128;
    let drain = scenario.endpoint.drain_rate.unwrap_or(wires[0].rate);
    for rate in wires.iter().map(|wire| wire.rate).chain([drain]) {
        let (bits, rate) = (scale.flit_bits as u128 * SECOND, rate.0 as u128 * speedup);
        if bits % rate != 0 {
            return 1;
        }
        common = gcd(common, bits / rate);
    }
    let common = wires.iter().fold(common, |common, wire| gcd(common, wire.latency.0.into()));
    u64::try_from(common).unwrap_or(1).max(1)
}

fn prefixed(seam: &str, mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.iter_mut().for_each(|problem| problem.path = format!("{seam}.{}", problem.path));
    problems
}

/// Time of a packet by its flits, in ticks: rounded up once per packet.
fn times(rate: Rate, scale: &Scale, tick: u64) -> Vec<u32> {
    let time = |flits| (rate.transmit_time(flits * scale.flit_bits).0.div_ceil(tick)) as u32;
    (0..=scale.packet_flits).map(time).collect()
}

fn link(
    wire: &Wire,
    levels: u16,
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
    let flits = capped(flits);
    LinkPlan {
        name: wire.name.clone(),
        rate: wire.rate,
        time: times(wire.rate, scale, tick),
        latency: (wire.latency.0 / tick) as u32,
        pipeline: (pipeline.0 / tick) as u32,
        pool: capped(pool),
        buffer: (0..channels.count()).map(|vc| if in_use(vc) { flits } else { 0 }).collect(),
    }
}
