//! The fluid model: flows of phases on their routes, without packets.
//!
//! Routes come from the same [`Router`](crate::routing::Router) and the same switches' accounts of flows
//! ([`Circuits`]) as those of packets: set-up packets go hop by hop, but one flow after the other, in random order.
pub mod allocation;

use crate::core::circuits::{ByConnection, Circuits, Place, connection};
use crate::core::cut::shares;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::graph::Peer;
use crate::probe::phases::{self, FlowRow, PhaseRow, Phased};
use crate::protocol::Told;
use crate::report::{Column, Output, Progress, Table};
use crate::rng::{Stream, mix};
use crate::routing::Route;
use crate::run::{WATCH_EVERY, Watcher};
use crate::scenario::Scenario;
use crate::units::Time;
use crate::workload::bind::BoundJob;
use allocation::{Flow, max_min, max_min_times, saa_times, weights};
use serde_json::{Map, Value, json};
use std::time::Instant;

/// The network: every switch in one share, its output ports numbered as links; behind them the injection links.
struct Network<'a> {
    plan: &'a Plan,
    share: Share,
    /// Flits in a nanosecond, by link.
    capacities: Vec<f64>,
    /// What of it max-min fair rates may take.
    given: Vec<f64>,
}

impl<'a> Network<'a> {
    fn new(plan: &'a Plan) -> Self {
        let (mut all, ..) = shares(&plan.graph, &vec![0; plan.graph.switches.len()]);
        let most = usize::from(plan.packet_flits);
        let rate = |ticks: u32| most as f64 / (f64::from(ticks) * plan.tick as f64 / 1000.0);
        let ports = plan.graph.switches.iter().flatten();
        let mut capacities: Vec<f64> = ports
            .map(|port| match port.peer {
                Peer::Endpoint(_) => rate(plan.drain_time[most]),
                _ => rate(plan.links[usize::from(port.class)].time[most]),
            })
            .collect();
        capacities.extend(plan.graph.endpoints.iter().map(|_| rate(plan.links[0].time[most])));
        let part = if let Some(Told::Share(part)) = plan.told { part } else { 1.0 };
        let given = capacities.iter().map(|capacity| part * capacity).collect();
        Self { plan, share: all.remove(0), capacities, given }
    }

    /// Sets up the route of a flow; the links on it, the injection link first.
    fn set_up(&self, circuits: &mut Circuits, (src, dst): (u32, u32), flits: u64) -> Vec<u32> {
        let plan = self.plan;
        let mut packet = Packet::default();
        packet.hot.dst = dst;
        packet.hot.set_size(Kind::SetUp, plan.control_flits);
        packet.notes.words = [flits, 0];
        let mut route = Route::default();
        let mut senses = ByConnection::new(|| mix(plan.seed, connection(src, dst)), |_| 0);
        plan.router.inject(src, dst, &mut route, &mut senses);
        let (mut switch, mut port) = plan.graph.endpoints[src as usize];
        let mut links = vec![self.share.ports[self.share.switches.len()] + src];
        loop {
            let base = self.share.ports[switch as usize];
            let place = Place { input: base + u32::from(port), switch, base };
            let hop = circuits.route(plan, place, (&packet.hot, src, &mut packet.notes.words), &mut route);
            route.leave();
            links.push(base + u32::from(hop.port));
            match plan.graph.switches[switch as usize][usize::from(hop.port)].peer {
                Peer::Switch { switch: next, port: input } => (switch, port) = (next, input),
                Peer::Endpoint(_) | Peer::None => return links,
            }
            assert!(links.len() <= 2 * plan.graph.switches.len() + 2, "law broken: a way without an end");
        }
    }
}

/// Runs the phases of all jobs, each job by itself; there are no others, and no other traffic.
pub fn run(scenario: &Scenario, plan: &Plan, watch: Watcher) -> Output {
    let network = Network::new(plan);
    let (mut phased, mut links, mut interrupted) = (Vec::new(), Links::default(), false);
    let mut seen = Instant::now();
    for job in plan.jobs.iter().filter(|job| !job.idle) {
        let mut done = Phased { job: job.name.clone(), ..Phased::default() };
        let schedule = job.application.flows().expect("law broken: the fluid model has phases alone");
        for phase in 0..schedule.phases() {
            let start = done.phases.last().map_or(start_ns(job), |last| over_ns(job, last));
            let recorded = scenario.record.ports.then_some(&mut links);
            let progress = Progress {
                simulated: Time((start * 1000.0) as u64),
                end: Time(plan.end * plan.tick),
                packet_hops: 0,
            };
            let mut go_on = || {
                if !interrupted && seen.elapsed() >= WATCH_EVERY {
                    seen = Instant::now();
                    interrupted = !watch(progress);
                }
                !interrupted
            };
            let row = network.phase(job, (phase, start), &mut done.flows, recorded, &mut go_on);
            done.phases.extend(row);
            if interrupted {
                break;
            }
        }
        phased.push(done);
        if interrupted {
            break;
        }
    }
    // What every run has: there are no classes of packets.
    let mut tables =
        vec![Table { name: "classes", columns: vec![("class".into(), Column::Text(Vec::new()))] }];
    tables.extend(phases::tables(&phased));
    if scenario.record.ports {
        tables.push(links.table());
    }
    let summary = summary(scenario, plan, &phased, interrupted);
    Output { summary, tables, interrupted }
}

fn start_ns(job: &BoundJob) -> f64 {
    job.start.0 as f64 / 1000.0
}

/// When the barrier behind a phase is over.
fn over_ns(job: &BoundJob, phase: &PhaseRow) -> f64 {
    let barrier = job.application.barrier().map_or(0.0, |time| time.0 as f64 / 1000.0);
    phase.start_ns + phase.time_ns.unwrap_or(0.0) + barrier
}

fn summary(scenario: &Scenario, plan: &Plan, phased: &[Phased], interrupted: bool) -> Value {
    let run = || plan.jobs.iter().filter(|job| !job.idle).zip(phased);
    let end = |(job, done): (&BoundJob, &Phased)| done.phases.last().map(|last| over_ns(job, last));
    let of = |(job, done): (&BoundJob, &Phased)| {
        let time = end((job, done)).filter(|_| !interrupted).map(|end| end - start_ns(job));
        let facts = json!({
            "workload": "phases",
            "ranks": job.endpoints.len(),
            "start_ns": start_ns(job),
            "time_ns": time,
            // Between flows there is the barrier alone.
            "communication_ns": { "min": time, "mean": time, "max": time },
            "phases": done.summary(),
        });
        (job.name.clone(), facts)
    };
    json!({
        "title": scenario.title,
        "seed": scenario.run.seed,
        "version": env!("CARGO_PKG_VERSION"),
        "model": "fluid",
        "interrupted": interrupted,
        "simulated_ns": run().filter_map(end).fold(0.0, f64::max),
        "warnings": [],
        "jobs": run().map(of).collect::<Map<_, _>>(),
        "classes": {},
    })
}

impl Network<'_> {
    /// One phase: routes, rates, and when each flow is done; none if it was stopped.
    fn phase(
        &self,
        job: &BoundJob,
        (phase, start_ns): (u32, f64),
        rows: &mut Vec<FlowRow>,
        links: Option<&mut Links>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Option<PhaseRow> {
        let plan = self.plan;
        let flows = job.application.flows().map_or(&[][..], |schedule| schedule.flows(phase));
        let ends = |flow: &crate::workload::phases::Flow| {
            (job.endpoints[flow.from as usize], job.endpoints[flow.to as usize])
        };
        let mut circuits = Circuits::new(plan, &self.share);
        let mut order: Vec<usize> = (0..flows.len()).collect();
        Stream::new(plan.seed, "set-up", &job.name, phase.into()).shuffle(&mut order);
        let mut fluid = vec![Flow::default(); flows.len()];
        for at in order {
            let flits = plan.scale.flits_of(flows[at].bytes);
            fluid[at] =
                Flow { size: flits as f64, links: self.set_up(&mut circuits, ends(&flows[at]), flits) };
        }
        let weights = weights(&fluid, &self.capacities);
        let loads = saa_times(&fluid, &weights);
        // The source's own channel it need not be told of.
        let beyond =
            |flow: &Flow| flow.links[1..].iter().map(|&link| weights[link as usize]).fold(0.0, f64::max);
        let told = fluid.iter().map(beyond).collect();
        let at_rates = |rates: &[f64]| fluid.iter().zip(rates).map(|(flow, rate)| flow.size / rate).collect();
        let fair = || max_min(&fluid, &vec![true; fluid.len()], &self.given);
        let (times, known): (_, Vec<f64>) = match plan.told {
            Some(Told::Load) => (go_on().then_some(loads)?, told),
            Some(Told::Share(_)) => (max_min_times(&fluid, &self.given, go_on)?, at_rates(&fair())),
            None => (max_min_times(&fluid, &self.given, go_on)?, told),
        };
        let mut crossing = vec![0u32; self.capacities.len()];
        fluid.iter().flat_map(|flow| &flow.links).for_each(|&link| crossing[link as usize] += 1);
        for (at, flow) in flows.iter().enumerate() {
            rows.push(FlowRow {
                phase,
                ends: ends(flow),
                bytes: flow.bytes,
                time_ns: Some(times[at]),
                known_ns: Some(known[at]),
                settled_ns: Some(0.0),
                contention: fluid[at].links.iter().map(|&link| crossing[link as usize]).max(),
            });
        }
        if let Some(links) = links {
            let rates = if plan.told == Some(Told::Load) { at_rates(&times) } else { fair() };
            let used = self.used(&fluid, &rates);
            links.add(
                self,
                (&job.name, phase),
                LinkUse { crossing: &crossing, weights: &weights, used: &used },
            );
        }
        let most = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
        Some(PhaseRow { start_ns, time_ns: Some(most(&times)), bound_ns: most(&weights) })
    }

    /// The share of every link that rates take.
    fn used(&self, flows: &[Flow], rates: &[f64]) -> Vec<f64> {
        let mut used = vec![0.0; self.capacities.len()];
        for (flow, rate) in flows.iter().zip(rates) {
            flow.links.iter().for_each(|&link| used[link as usize] += rate);
        }
        used.iter().zip(&self.capacities).map(|(used, capacity)| used / capacity).collect()
    }
}

/// Of every link: flows that cross it, its weight in ns, and the share that their rates take.
struct LinkUse<'a> {
    crossing: &'a [u32],
    weights: &'a [f64],
    used: &'a [f64],
}

/// What every link between switches, and to an endpoint, carried.
#[derive(Default)]
struct Links {
    jobs: Vec<String>,
    /// Phase, switch, port, flows.
    numbers: [Vec<i64>; 4],
    names: Vec<String>,
    weights: Vec<f64>,
    /// Share of the link that the rates at the start of the phase take.
    used: Vec<f64>,
}

impl Links {
    fn add(&mut self, network: &Network, (job, phase): (&str, u32), of: LinkUse) {
        let graph = &network.plan.graph;
        let ports = (0..)
            .zip(&graph.switches)
            .flat_map(|(s, ports)| (0..).zip(ports).map(move |(p, port)| (s, p, port)));
        for (link, (switch, number, port)) in
            ports.enumerate().filter(|(_, (_, _, port))| port.peer != Peer::None)
        {
            let values = [phase.into(), switch, number, of.crossing[link].into()];
            self.numbers.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
            self.jobs.push(job.to_string());
            self.names.push(network.plan.links[usize::from(port.class)].name.clone());
            self.weights.push(of.weights[link]);
            self.used.push(of.used[link]);
        }
    }

    fn table(self) -> Table {
        let [phases, switches, ports, flows] = self.numbers;
        let columns = vec![
            ("job".into(), Column::Text(self.jobs)),
            ("phase".into(), Column::Int(phases)),
            ("switch".into(), Column::Int(switches)),
            ("port".into(), Column::Int(ports)),
            ("link_class".into(), Column::Text(self.names)),
            ("flows".into(), Column::Int(flows)),
            ("load_ns".into(), Column::Real(self.weights)),
            ("used".into(), Column::Real(self.used)),
        ];
        Table { name: "links", columns }
    }
}
