//! From a scenario to the plan of its run.
use super::cut::shares;
use super::flow::flows_max;
use super::ground::Ground;
use super::limits::{
    large_buffers, large_traces, no_bubbles, no_bubbles_for_jobs, no_credits, no_headroom, no_turns,
    small_buffers, too_long,
};
use super::links::network;
use super::plan::{Flows, LinkPlan, Plan, TrafficClass, VCS_MAX, VirtualChannels};
use super::slow::slow;
use crate::problem::Problem;
use crate::queueing::Assignment;
use crate::routing::{Router, severed};
use crate::scenario::{Scenario, SendQueues};
use crate::switch::turns::CLASSES_MAX;
use crate::traffic::bind::{BoundClass, Use, bind_all};
use crate::units::{Rate, SECOND, Scale, Time, gcd};
use crate::workload::bind::{BoundJob, Context};
use crate::{graph::Graph, workload};
use std::sync::OnceLock;

/// What binds a scenario to its network: the routing, the traffic and the jobs.
type Bound = (Box<dyn Router>, Vec<BoundClass>, Vec<BoundJob>);

/// Bandwidth and latency of a link class.
pub(super) struct Wire {
    pub name: String,
    pub rate: Rate,
    pub latency: Time,
}

/// Makes the plan of a scenario without problems of its own; what only shows on the network is told here.
pub fn plan(scenario: &Scenario) -> Result<Plan, Vec<Problem>> {
    let problems = scenario.problems();
    if !problems.is_empty() {
        return Err(problems);
    }
    let scale = scenario.scale().expect("a packet without problems has a scale");
    let graph = network(scenario)?;
    let wires = wires(scenario, &scale);
    let switch = scenario.switch.design().parameters();
    let ground =
        Ground { scenario, graph: &graph, scale: &scale, tick: tick(scenario, &wires, &scale), switch };
    let mut problems = too_long(scenario, &wires, &scale, ground.tick);
    let bound = bind(scenario, &scale, &graph).map_err(|found| problems.extend(found));
    let Some(bound) = bound.ok().filter(|_| problems.is_empty()) else {
        return Err(problems);
    };
    let classes = scenario.congestion_control.scheme().classes(scenario.endpoint.acknowledge);
    let levels = levels(&*bound.0, wires.len() as u8, &classes);
    let priorities = scenario.priorities();
    let (vcs, queues) = lanes(&ground, &*bound.0, (&classes, &levels, &priorities))?;
    let links = wires.iter().zip(&levels).map(|(wire, &levels)| ground.link(wire, levels, &vcs));
    let links = Vec::from_iter(links);
    let mut problems = unfit(&ground, &links, &bound);
    if vcs.grades > 1 && bound.0.route_cache().is_some() {
        let message =
            "a flow that sets up its own route is of one priority, and traffic and jobs have several";
        problems.push(Problem::new("routing.kind", message, "one priority, or another routing"));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let (router, traffic, jobs) = bound;
    let told = scenario.congestion_control.scheme().told();
    let circuits = router.route_cache().is_some() || told.is_some();
    let post = ground.post();
    let (parts, lookahead) = ground.windows(&links, &post, &jobs);
    let (shares, home, endpoint_home) = shares(&graph, &parts);
    let [warmup, duration, drain] = scenario.run_spans().map(|span| ground.ticks(span));
    let window = (warmup, warmup + duration);
    let slow = slow(&ground, &wires, window.1 + drain)?;
    Ok(Plan {
        round_trip: OnceLock::new(),
        tick: ground.tick,
        router,
        vcs,
        queues,
        crossbar: ground.crossbar(&wires),
        output_buffer: ground.output_buffer(),
        packet_flits: scale.packet_flits as u16,
        control_flits: scenario.packet.control.flits(&scale) as u16,
        interleave: scenario.packet.interleave,
        drain_time: ground.times(scenario.endpoint.takes(wires[0].rate)),
        slow,
        fifo: scenario.endpoint.queues == SendQueues::Fifo,
        queues_by_flow: scenario.endpoint.queues != SendQueues::Fifo
            && scenario.congestion_control.scheme().knows_flows(),
        noting: scenario.congestion_control.scheme().words() || circuits,
        circuits,
        told,
        record: ground.record(window.1 + drain),
        traffic: ground.generators(traffic),
        scale,
        grade_of: scenario.given_priorities().map(|own| grade(&priorities, own)).collect(),
        flows: flows(scenario, circuits),
        flows_max: flows_max(graph.endpoints.len() as u32),
        jobs,
        seed: scenario.run.seed,
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

/// The flows of each class. Where switches know of flows these are messages, one after the other, and classes have one each.
fn flows(scenario: &Scenario, circuits: bool) -> Vec<Flows> {
    let traffic = scenario.traffic.iter().map(|class| (class.queue_pairs, 1));
    let jobs = scenario.job.iter().map(|job| (job.queue_pairs, job.ranks_per_endpoint));
    let of = |(each, ranks): (u32, u32)| Flows { each: each as u16, ranks: ranks as u16 };
    traffic.chain(jobs).map(|counts| of(if circuits { (1, 1) } else { counts })).collect()
}

/// What only shows once channels have buffers and times, of what runs on them.
fn unfit(ground: &Ground, links: &[LinkPlan], (router, traffic, jobs): &Bound) -> Vec<Problem> {
    let Ground { scenario, switch, .. } = ground;
    let mut problems = small_buffers(scenario, links, ground.scale);
    problems.extend(large_buffers(ground.graph, links, ground.output_buffer()));
    problems.extend(no_headroom(ground, links));
    problems.extend(no_turns(scenario, switch, links));
    problems.extend(large_traces(scenario, jobs));
    if router.bubbles() {
        let packet = ground.scale.packet_flits as u16;
        problems.extend(no_bubbles(traffic, switch, ground.output_buffer(), links, packet));
        problems.extend(no_bubbles_for_jobs(jobs));
    }
    problems.extend(no_credits(&**router, links));
    problems
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
    network(scenario).and_then(|graph| bind_load(scenario, &scale, &graph)).err().unwrap_or_default()
}

/// The routing, the traffic and the jobs on the network, or all mistakes of all three.
fn bind(scenario: &Scenario, scale: &Scale, graph: &Graph) -> Result<Bound, Vec<Problem>> {
    let router = scenario.routing.bind(&scenario.topology, graph, scale);
    let router = router.and_then(|router| whole(router, graph, scenario));
    match (router.map_err(|problems| prefixed("routing", problems)), bind_load(scenario, scale, graph)) {
        (Ok(router), Ok((traffic, jobs))) => Ok((router, traffic, jobs)),
        (router, load) => Err(router.err().into_iter().chain(load.err()).flatten().collect()),
    }
}

/// A router, unless failed links leave it no way between two endpoints.
fn whole(
    router: Box<dyn Router>,
    graph: &Graph,
    scenario: &Scenario,
) -> Result<Box<dyn Router>, Vec<Problem>> {
    let found = if graph.failed.is_empty() { None } else { severed(&*router, graph) };
    let Some((from, to)) = found else { return Ok(router) };
    let drawn = scenario.link.failed.iter().any(|links| links.sample.is_some());
    let seed = if drawn { format!(" (of seed {})", scenario.run.seed) } else { String::new() };
    let count = graph.failed.len();
    let links = if count == 1 { "failed link" } else { "failed links" };
    let message =
        format!("with {count} {links}{seed} the routing has no way from switch {from} to switch {to}");
    let help = match scenario.routing.kind() {
        "shortest" => "fewer failed links, or others",
        _ => "fewer failed links, or, where longer ways could go round them, routing kind \"shortest\"",
    };
    Err(vec![Problem::new("kind", message, help)])
}

/// The levels of each class of links. Where packets may be dropped switches make some, which need levels too.
fn levels(router: &dyn Router, link_classes: u8, classes: &[TrafficClass]) -> Vec<u16> {
    let made = if classes.iter().any(|class| class.droppable) { router.made_levels() } else { 0 };
    (0..link_classes).map(|class| router.levels(class) + if class > 0 { made.into() } else { 0 }).collect()
}

/// The virtual channels of a port, and how the queues among them are chosen.
fn lanes(
    ground: &Ground,
    router: &dyn Router,
    needs: (&[TrafficClass], &[u16], &[u8]),
) -> Result<(VirtualChannels, Assignment), Vec<Problem>> {
    match (virtual_channels(ground, router, needs), queues(ground, router)) {
        (Ok(vcs), Ok(queues)) => Ok((vcs, queues)),
        (vcs, queues) => Err(vcs.err().into_iter().chain(queues.err()).collect()),
    }
}

/// How queues are chosen.
fn queues(ground: &Ground, router: &dyn Router) -> Result<Assignment, Problem> {
    let scheme = ground.scenario.queueing.scheme();
    let queues = scheme.bind(&ground.scenario.topology, ground.graph, &router.first_dimensions());
    if matches!(queues, Assignment::Port(_)) && router.reserved_level().is_some() {
        let message = "the routing reserves room ahead before the queue there is known";
        let help = "another routing, or a queueing whose queues are chosen at the source";
        return Err(Problem::new("queueing.kind", message, help));
    }
    Ok(queues)
}

fn wires(scenario: &Scenario, scale: &Scale) -> Vec<Wire> {
    let wire = |name: &&str| Wire {
        name: name.to_string(),
        rate: scenario.bandwidth_of(name),
        latency: scenario.latency_of(name).time(scale),
    };
    scenario.topology.wiring().link_classes().iter().map(wire).collect()
}

/// The place of a priority among all.
fn grade(priorities: &[u8], own: u8) -> u8 {
    priorities.iter().position(|&priority| priority == own).expect("they are those of the scenario") as u8
}

/// The virtual channels of a port: traffic classes × virtual networks × queues × levels.
fn virtual_channels(
    ground: &Ground,
    router: &dyn Router,
    (scheme, levels, priorities): (&[TrafficClass], &[u16], &[u8]),
) -> Result<VirtualChannels, Problem> {
    let levels = levels.iter().copied().max().unwrap_or(1);
    let (networks, queues) = (router.networks(), ground.scenario.queueing.scheme().queues(ground.graph));
    let control = scheme.iter().filter(|class| class.control).count();
    let classes = control + (scheme.len() - control) * priorities.len();
    if classes > CLASSES_MAX {
        let message = format!(
            "traffic and jobs have {} priorities, and the congestion control {control} classes of control packets and {} of data for each: {classes}",
            priorities.len(),
            scheme.len() - control
        );
        let most = (CLASSES_MAX - control) / (scheme.len() - control);
        let help = format!(
            "at most {CLASSES_MAX} traffic classes, so {most} different priorities under this congestion control"
        );
        return Err(Problem::new("congestion_control.kind", message, help));
    }
    let count = classes as u64 * u64::from(networks) * u64::from(queues) * u64::from(levels);
    if count > VCS_MAX as u64 {
        let message = format!(
            "the scenario needs {count} virtual channels on a port: {classes} traffic classes, {networks} virtual networks, \
             {queues} queues, {levels} levels"
        );
        let key = if queues > 1 { "queueing.kind" } else { "routing.kind" };
        return Err(Problem::new(key, message, format!("at most {VCS_MAX} in all")));
    }
    Ok(VirtualChannels::new(scheme, priorities, networks, queues as u16, levels))
}

/// Whether a class or a job does anything.
pub(super) fn runs(run: &crate::scenario::Run, name: &String) -> bool {
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
/// that drain, slow ones too, over the speedup; 1 ps if such a flit time is not a whole number of picoseconds.
fn tick(scenario: &Scenario, wires: &[Wire], scale: &Scale) -> u64 {
    let switch = scenario.switch.design().parameters();
    let mut common = u128::from(switch.pipeline.time(scale).0);
    let speedup = switch.speedup() as u128;
    let drain = scenario.endpoint.takes(wires[0].rate);
    let fastest = wires.iter().map(|wire| wire.rate.0).max().unwrap_or(drain.0);
    let slow =
        scenario.endpoint.slow.iter().filter_map(|slow| slow.drain_rate).filter(|rate| rate.0 < drain.0);
    let slow_links =
        scenario.link.slow.iter().filter_map(|slow| slow.bandwidth).filter(|rate| rate.0 < fastest);
    for rate in wires.iter().map(|wire| wire.rate).chain([drain]).chain(slow).chain(slow_links) {
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
