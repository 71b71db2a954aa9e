//! A run: from a scenario to its output.
mod memory;

use crate::core::Tick;
use crate::core::build;
use crate::core::fabric::Fabric;
use crate::core::kernel::{Ending, Kernel, View};
use crate::core::partition::Partition;
use crate::core::plan::{Plan, VCS_MAX};
use crate::core::{stall, trees};
use crate::deadlock::{Fault, check_within};
use crate::probe::summary::Measured;
use crate::problem::Problem;
use crate::report::{Output, Progress, RunError};
use crate::scenario::{Model, Scenario};
use crate::switch::arch::Architecture;
use crate::switch::cioq::state::State;
use crate::switch::parameters::{Arbitration, Path};
use crate::switch::unlimited::Unlimited;
use crate::topology::PORTS_MAX;
use crate::units::Time;
use crate::workload::host::Hosts;
use crate::workload::outcome;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time a watcher waits for its turn, if a window does not take longer: an interrupt is heard that soon.
pub(crate) const WATCH_EVERY: Duration = Duration::from_millis(100);

/// Who watches a run; it stops the run by returning false.
pub type Watcher<'a> = &'a mut (dyn FnMut(Progress) -> bool + Send);

/// Largest network, in switches and in endpoints, of which the check follows every way of every packet.
const PROVEN_MAX: usize = 32;
/// Choices that it follows at most, in a moment: adaptive routings have as many in a switch as its ports have states.
const FOLLOWED_MAX: u64 = 1_000_000;

/// Reads a scenario as [`Scenario::parse`] does, and tells besides its mistakes those that only show on the network.
///
/// # Errors
///
/// All mistakes at once; of the network's none if topology, sizes, traffic or jobs contradict themselves.
pub fn read(text: &str, overrides: &[(String, String)]) -> Result<Scenario, Vec<Problem>> {
    Scenario::parse_with(text, overrides, build::beyond)
}

/// All that is wrong with a scenario, the network's part included. Of a small network that is also whether its routing may
/// deadlock ([`crate::deadlock`]), unless the routing says that it may.
pub fn check(scenario: &Scenario) -> Vec<Problem> {
    let plan = match build::plan(scenario) {
        Ok(plan) => plan,
        Err(problems) => return problems,
    };
    let small = plan.graph.switches.len().max(plan.graph.endpoints.len()) <= PROVEN_MAX;
    if !small || scenario.routing.binding().may_deadlock() {
        return Vec::new();
    }
    let names: Vec<&str> = plan.links.iter().map(|link| link.name.as_str()).collect();
    let proof = check_within(&plan.graph, &*plan.router, &names, FOLLOWED_MAX);
    let fault = proof.err().filter(|fault| *fault != Fault::Unfinished);
    fault
        .map(|fault| Problem::new("routing.kind", fault.to_string(), "another routing"))
        .into_iter()
        .collect()
}

/// What a scenario builds, before anything runs: sizes, distances, latency of the empty network, virtual channels,
/// partitions, memory. Times have their unit in their name.
pub fn describe(scenario: &Scenario) -> Result<serde_json::Value, RunError> {
    let plan = build::plan(scenario).map_err(RunError::Problems)?;
    Ok(crate::describe::whole(scenario, &plan))
}

/// What a user has to know of a scenario's parameters on its network, and of its times, before it runs.
pub fn remarks(scenario: &Scenario) -> Result<Vec<String>, RunError> {
    let plan = build::plan(scenario).map_err(RunError::Problems)?;
    let mut told = crate::protocol::remarks(scenario, &plan);
    told.extend(crate::describe::forewarned(scenario, &plan));
    Ok(told)
}

/// The channels of the network with their capacities, and the flows of phases, for a drawing or a solver.
pub fn channels(scenario: &Scenario) -> Result<serde_json::Value, RunError> {
    let plan = build::plan(scenario).map_err(RunError::Problems)?;
    Ok(crate::describe::channels(scenario, &plan))
}

/// What each channel carries under every class of traffic, and the throughput that follows, by the routing alone
/// ([`crate::describe::load`]).
pub fn load(scenario: &Scenario) -> Result<serde_json::Value, RunError> {
    let plan = build::plan(scenario).map_err(RunError::Problems)?;
    let told = |message| {
        vec![Problem::new("routing.kind", message, "describe without --traffic, or another routing")]
    };
    crate::describe::load::linear(&plan).map_err(|message| RunError::Problems(told(message)))
}

/// Runs a scenario. `watch` is called every tenth of a second and at check times, about 256 a run; if it stops the run, what was
/// measured by then is returned, marked as interrupted.
pub fn run(scenario: &Scenario, watch: Watcher) -> Result<Output, RunError> {
    let plan = Arc::new(build::plan(scenario).map_err(RunError::Problems)?);
    if scenario.run.model == Model::Fluid {
        return Ok(crate::fluid::run(scenario, &plan, watch));
    }
    let radix = plan.graph.switches.iter().map(Vec::len).max().unwrap_or(0);
    // One event loop for each layout of a switch's state; the common case has one word per set of ports and of virtual
    // channels.
    let small = radix < 64 && plan.vcs.count() <= 64;
    const PORTS: usize = (PORTS_MAX as usize + 1).div_ceil(64);
    const VCS: usize = VCS_MAX / 64;
    match (scenario.switch.design().parameters().fabric, plan.output_buffer.is_some(), small) {
        (Path::Crossbar { .. }, true, true) => run_with::<State<1, 1>>(scenario, &plan, watch),
        (Path::Crossbar { .. }, true, false) => run_with::<State<PORTS, VCS>>(scenario, &plan, watch),
        (Path::Crossbar { .. }, false, true) => run_with::<State<1, 0>>(scenario, &plan, watch),
        (Path::Crossbar { .. }, false, false) => run_with::<State<PORTS, 0>>(scenario, &plan, watch),
        (Path::Unlimited, _, true) => run_with::<Unlimited<1>>(scenario, &plan, watch),
        (Path::Unlimited, _, false) => run_with::<Unlimited<VCS>>(scenario, &plan, watch),
    }
}

fn run_with<A: Architecture>(
    scenario: &Scenario,
    plan: &Arc<Plan>,
    watch: Watcher,
) -> Result<Output, RunError> {
    let mut kernel =
        Kernel::new(plan.clone(), partitions::<A>(scenario, plan), scenario.run.threads as usize);
    let (mut failure, mut full) = (None, None);
    let mut memory = memory::Watch::new(scenario.run.memory_bytes());
    let (mut end, mut seen) = (0, Instant::now());
    let mut search_at = 0;
    let ending = kernel.run(&mut |view: &mut View<A>| {
        end = view.now;
        look(plan, view);
        if view.is_check {
            if view.now >= search_at || view.now >= plan.end {
                failure = deadlocked(scenario, plan, view);
                search_at = plan.next_search(view.now);
            }
        } else if seen.elapsed() < WATCH_EVERY {
            return true;
        }
        seen = Instant::now();
        full = memory.failure(plan, view);
        let packet_hops = view.partitions.iter().map(|partition| partition.fabric.probe.packet_hops).sum();
        let time = |ticks| Time(ticks * plan.tick);
        if view.is_check {
            failure = failure.take().or_else(|| {
                outcome::failure(&plan.jobs, &hosts(view.partitions.iter().map(|partition| &**partition)))
            });
        }
        let go_on = watch(Progress { simulated: time(view.now), end: time(plan.end), packet_hops });
        go_on && failure.is_none() && full.is_none()
    });
    if let Some(full) = full {
        // A result needs memory too.
        return Err(RunError::Failed(failure.unwrap_or(full), None));
    }
    let cut_off = ending == Ending::Stopped || failure.is_some();
    let mut output = measured(scenario, plan, kernel.into_partitions(), end, cut_off)?;
    let Some(failure) = failure else { return Ok(output) };
    output.summary["failure"] = failure.clone().into();
    Err(RunError::Failed(failure, Some(Box::new(output))))
}

/// The partitions of a run, at rest.
fn partitions<A: Architecture>(scenario: &Scenario, plan: &Arc<Plan>) -> Vec<Partition<A>> {
    let switch = scenario.switch.design().parameters();
    let scheme = scenario.congestion_control.scheme();
    let partition = |number| {
        let fabric = Fabric::new(plan.clone(), number);
        let nics = scheme.nics(plan, &fabric.share, scenario.endpoint.acknowledge);
        let agent = scheme.agent(plan, &fabric.share);
        let switches = A::new(plan, &fabric.share, &switch);
        Partition::new(fabric, nics, switches, agent, switch.arbitration == Arbitration::Age)
    };
    (0..plan.shares.len() as u32).map(partition).collect()
}

/// What the partitions of a run that ended have measured.
fn measured<A: Architecture>(
    scenario: &Scenario,
    plan: &Arc<Plan>,
    mut partitions: Vec<Partition<A>>,
    mut end: Tick,
    interrupted: bool,
) -> Result<Output, RunError> {
    for partition in &mut partitions {
        partition.nics.count_offered(&mut partition.fabric);
    }
    conserved(&partitions).map_err(|broken| RunError::Failed(broken, None))?;
    let retained_peak = partitions.iter().map(|partition| partition.nics.retained_peak()).max().unwrap_or(0);
    let jobs = outcome::outcomes(&plan.jobs, &hosts(partitions.iter()), Time(end * plan.tick));
    let ran = plan.jobs.iter().zip(&jobs).filter(|(job, _)| !job.idle);
    if plan.traffic.is_empty()
        && let Some(ends) = ran.map(|(_, outcome)| outcome.end()).collect::<Option<Vec<_>>>()
    {
        end = end.min(ends.into_iter().max().unwrap_or(0).div_ceil(plan.tick));
    }
    let counts = partitions.iter().filter_map(|partition| partition.circuits.as_ref());
    let circuits = counts.map(|circuits| circuits.count()).reduce(|mut sum, count| {
        sum.merge(&count);
        sum
    });
    let held = partitions.iter().map(|partition| partition.fabric.held()).sum();
    let made_peak =
        partitions.iter().map(|partition| partition.fabric.virtual_input_peak()).max().unwrap_or(0);
    let probes = partitions
        .into_iter()
        .map(|mut partition| {
            partition.fabric.end_pauses(end);
            let mut probe = partition.fabric.probe;
            probe.finish(end);
            probe
        })
        .collect();
    Ok(Measured { scenario, plan, probes, jobs, end, retained_peak, made_peak, held, circuits, interrupted }
        .output())
}

/// The ranks of all partitions that have some.
fn hosts<'a, A: Architecture + 'a>(partitions: impl Iterator<Item = &'a Partition<A>>) -> Vec<&'a Hosts> {
    partitions.filter_map(|partition| partition.nics.hosts()).collect()
}

/// What is recorded between two windows, if it is a time for it.
fn look<A: Architecture>(plan: &Plan, view: &mut View<A>) {
    let snapshot = plan.record.occupancy.binary_search(&view.now).is_ok();
    let window_ends = view.now == plan.window.1;
    if !snapshot && !window_ends {
        return;
    }
    if snapshot && plan.record.trees {
        let held = trees::find(plan, view.partitions, view.now);
        view.partitions[0].fabric.probe.trees.iter_mut().for_each(|trees| trees.extend(&held));
    }
    for partition in view.partitions.iter_mut() {
        let partition = &mut **partition;
        if window_ends {
            partition.nics.count_offered(&mut partition.fabric);
        }
        if snapshot {
            let occupancy = partition.occupancy();
            partition.fabric.probe.snapshots.push(occupancy);
            let ports = partition.port_occupancy();
            partition.fabric.probe.port_snapshots.push(ports);
        }
    }
}

/// A message if packets wait for one another in a circle.
fn deadlocked<A: Architecture>(scenario: &Scenario, plan: &Plan, view: &View<A>) -> Option<String> {
    let circle = stall::find(plan, view.partitions);
    let now = Time(view.now * plan.tick).0 as f64 / 1e6;
    let routing = serde_json::to_string(&scenario.routing).unwrap_or_default();
    (!circle.is_empty()).then(|| {
        format!(
            "deadlock: at {now:.3} us, {} channels wait for one another in a circle and can never move again:\n{}\n\
             the routing is {routing}; on {}, it does not keep channels from waiting in a circle",
            circle.len(),
            stall::told(plan, &circle),
            scenario.topology.kind(),
        )
    })
}

/// The laws that every packet made is somewhere (arrived, removed by a switch, or held), and that buffers are as large as they were: all of
/// them are free when nothing is held.
fn conserved<A: Architecture>(partitions: &[Partition<A>]) -> Result<(), String> {
    let (mut made, mut gone, mut held) = (0, 0, 0);
    let (mut free, mut room) = (0, 0);
    for partition in partitions {
        let probe = &partition.fabric.probe;
        made += probe.made;
        gone += probe.ended + probe.removed;
        held += partition.fabric.held();
        let space = partition.fabric.space();
        (free, room) = (free + space.0, room + space.1);
    }
    if made != gone + held {
        return Err(format!("law broken: {made} packets were made, but {gone} are gone and {held} are held"));
    }
    if free > room || held == 0 && free < room {
        return Err(format!(
            "law broken: {free} flits of buffers for {room} are free, with {held} packets held"
        ));
    }
    Ok(())
}
