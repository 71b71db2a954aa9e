//! From the `[[job]]` tables to jobs placed in a network.
use super::job::Job;
use super::mpi::Local;
use super::{Application, Setting};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::rng::Stream;
use crate::traffic::bind::Use;
use crate::units::{Scale, Time};
use std::ops::Range;

/// A job placed in a network.
#[derive(Debug)]
pub struct BoundJob {
    /// Name of the job.
    pub name: String,
    /// Its kind of workload.
    pub workload: &'static str,
    /// The endpoint of each rank.
    pub endpoints: Vec<u32>,
    /// The first rank on each endpoint, or [`NO_RANK`].
    first: Vec<u32>,
    /// Ranks of an endpoint; the last one may have fewer.
    each: u32,
    /// How messages go that do not leave their endpoint.
    pub local: Local,
    /// Whether the data of a message is divided among the queue pairs of two ranks.
    pub split: bool,
    /// When it starts.
    pub start: Time,
    /// How many times as long as the others each rank takes to compute; empty if all take as long.
    slowness: Vec<f64>,
    /// What its ranks do.
    pub application: Box<dyn Application>,
    /// It has its place but does nothing ([`crate::scenario::Run::only`]).
    pub idle: bool,
}

/// Most ranks of a job on an endpoint.
const RANKS_PER_ENDPOINT_MAX: u32 = 1024;

/// No rank of the job runs on the endpoint.
const NO_RANK: u32 = u32::MAX;

impl BoundJob {
    /// How many times as long as others a rank takes to compute.
    pub fn slowness(&self, rank: u32) -> f64 {
        self.slowness.get(rank as usize).copied().unwrap_or(1.0)
    }

    /// The job's ranks on an endpoint, in their order: one behind the other.
    #[inline]
    pub fn ranks_of(&self, endpoint: u32) -> Range<u32> {
        match self.first[endpoint as usize] {
            NO_RANK => 0..0,
            first => first..(first + self.each).min(self.endpoints.len() as u32),
        }
    }

    /// Which of its endpoint's ranks a rank is, from 0.
    #[inline]
    pub fn seat(&self, rank: u32) -> u16 {
        (rank % self.each) as u16
    }
}

/// What jobs are bound to.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Seed of the run.
    pub seed: u64,
    /// What sizes and cycles are measured by.
    pub scale: &'a Scale,
    /// The network.
    pub graph: &'a Graph,
    /// Bytes that the run may hold, if it has a limit.
    pub memory: Option<u64>,
}

/// Binds all jobs, in the order of the scenario, or tells all that is wrong with them. `used` tells how traffic uses the
/// endpoints; it is told how the jobs do.
pub fn bind_all(jobs: &[Job], context: Context, used: &mut [Use]) -> Result<Vec<BoundJob>, Vec<Problem>> {
    let mut bound: Vec<Option<BoundJob>> = Vec::new();
    bound.resize_with(jobs.len(), || None);
    let mut problems = Vec::new();
    for listed in [true, false] {
        for (job, bound) in jobs.iter().zip(&mut bound) {
            if job.placement.is_given() != listed {
                continue;
            }
            match bind(job, context, used) {
                Ok(job) => *bound = Some(job),
                Err(found) => problems.extend(found.into_iter().map(|problem| within(job, problem))),
            }
        }
    }
    if problems.is_empty() { Ok(bound.into_iter().flatten().collect()) } else { Err(problems) }
}

fn bind(job: &Job, context: Context, used: &mut [Use]) -> Result<BoundJob, Vec<Problem>> {
    let ranks = ranks(job)?;
    let Context { seed, scale, graph, memory } = context;
    let setting = Setting { ranks, scale, mpi: &job.mpi, seed, name: &job.name, memory };
    if job.workload.bound().has_mpi() {
        setting.sendable("mpi.control", scale.bytes(job.mpi.control))?;
    }
    let application = job.workload.bound().bind(&setting);
    let placed = place(job, ranks, context, used);
    let slowness = slowness(job, ranks);
    let (application, endpoints, slowness) = match (application, placed, slowness) {
        (Ok(application), Ok(endpoints), Ok(slowness)) => (application, endpoints, slowness),
        (application, placed, slowness) => {
            let mut problems = application.err().unwrap_or_default();
            problems.extend(placed.err());
            problems.extend(slowness.err());
            return Err(problems);
        }
    };
    let each = job.ranks_per_endpoint;
    let mut first = vec![NO_RANK; graph.endpoints.len()];
    for (rank, &endpoint) in (0..ranks).zip(&endpoints).step_by(each as usize) {
        first[endpoint as usize] = rank;
        used[endpoint as usize] = Use::by(job.share);
    }
    Ok(BoundJob {
        name: job.name.clone(),
        workload: job.workload.kind(),
        endpoints,
        first,
        each,
        local: job.mpi.local(scale),
        split: job.split,
        start: job.start.time(scale),
        slowness,
        application,
        idle: false,
    })
}

/// How many times as long as others each rank takes to compute; none if all take as long. Of several tables that name a rank the
/// slowest counts.
fn slowness(job: &Job, ranks: u32) -> Result<Vec<f64>, Problem> {
    if job.slow.is_empty() {
        return Ok(Vec::new());
    }
    if !job.workload.bound().computes() {
        let message = format!("ranks of \"{}\" do not compute", job.workload.kind());
        return Err(Problem::new("slow", message, "a workload whose ranks compute; or slow in [endpoint]"));
    }
    let mut found = vec![1.0; ranks as usize];
    for (at, slow) in job.slow.iter().enumerate() {
        if let Some(rank) = slow.ranks.iter().find(|&&rank| rank >= ranks) {
            let help = format!("ranks are numbered from 0 to {}", ranks - 1);
            return Err(Problem::new(format!("slow.{at}.ranks"), format!("there is no rank {rank}"), help));
        }
        for &rank in &slow.ranks {
            let own = &mut found[rank as usize];
            *own = slow.compute.max(*own);
        }
    }
    Ok(found)
}

/// The number of ranks: the job's own, the workload's own, or both if they agree.
fn ranks(job: &Job) -> Result<u32, Vec<Problem>> {
    let refuse = |message: String, help: String| Err(vec![Problem::new("ranks", message, help)]);
    match (job.ranks, job.workload.bound().ranks()?) {
        (Some(0), _) => refuse("a job of no ranks".into(), "at least 1".into()),
        (Some(asked), Some(own)) if asked != own => refuse(
            format!("the workload has {own} ranks, not {asked}"),
            format!("ranks = {own}, or leave it out"),
        ),
        (Some(ranks), _) | (None, Some(ranks)) => Ok(ranks),
        (None, None) => refuse("this key is missing".into(), "the number of ranks".into()),
    }
}

fn place(job: &Job, ranks: u32, context: Context, used: &[Use]) -> Result<Vec<u32>, Problem> {
    let free: Vec<bool> = used.iter().map(|used| used.allows(job.share)).collect();
    let random = Stream::new(context.seed, "placement", &job.name, 0);
    let each = job.ranks_per_endpoint;
    if !(1..=RANKS_PER_ENDPOINT_MAX).contains(&each) {
        let help = format!("from 1 to {RANKS_PER_ENDPOINT_MAX}");
        return Err(Problem::new("ranks_per_endpoint", format!("{each} ranks on an endpoint"), help));
    }
    if each > 1 && job.workload.bound().is_phases() {
        let message = "flows of phases go from endpoint to endpoint";
        return Err(Problem::new("ranks_per_endpoint", message, "1, or leave it out"));
    }
    let placed = job.placement.place((ranks, each), context.graph, &free, random)?;
    let taken: Vec<u32> = placed.iter().copied().filter(|&endpoint| !free[endpoint as usize]).collect();
    let Some(example) = taken.first() else {
        let all = placed.iter().flat_map(|&endpoint| std::iter::repeat_n(endpoint, each as usize));
        return Ok(all.take(ranks as usize).collect());
    };
    let message = format!("{} of these endpoints are used by others, such as {example}", taken.len());
    Err(Problem::new(
        "placement",
        message,
        "name other endpoints, or allow it by `share = true` in all of them",
    ))
}

/// The problem with its path from the root of the scenario.
fn within(job: &Job, mut problem: Problem) -> Problem {
    problem.path = format!("job.{}.{}", job.name, problem.path);
    problem
}
