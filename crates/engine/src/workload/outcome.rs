//! What became of the jobs of a run: of all partitions together.
use super::bind::BoundJob;
use super::host::{Arrived, Hosts, RankResult};
use super::ledger::Ledger;
use crate::units::Time;

/// Most waiting ranks that a message names.
const NAMED_MAX: usize = 8;

/// A job at the end of the run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was counted.
    pub ledger: Ledger,
    /// Its ranks, by number; those that have not come to their end with what they did until then.
    pub ranks: Vec<RankResult>,
    /// The flows of its phases that arrived, by phase, source and destination.
    pub arrived: Vec<Arrived>,
    /// When each of its phases began; the last one is the end, if the job has come to it.
    pub starts: Vec<Time>,
}

impl Outcome {
    /// When the last rank came to its end, in ps; none if one has not.
    pub fn end(&self) -> Option<u64> {
        let ends = self.ranks.iter().map(|rank| rank.end.map(|end| end.0));
        ends.collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

/// The outcomes of all jobs of a run that has come to `now`.
pub fn outcomes(jobs: &[BoundJob], hosts: &[&Hosts], now: Time) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = jobs.iter().map(|_| Outcome::default()).collect();
    for (at, outcome) in outcomes.iter_mut().enumerate() {
        for hosts in hosts {
            outcome.ledger.merge(&hosts.ledgers()[at]);
            outcome.ranks.extend(hosts.ranks(at, now));
            outcome.arrived.extend(hosts.arrived().iter().filter(|flow| flow.job as usize == at));
            outcome.starts = hosts.starts(at).to_vec();
        }
        outcome.arrived.sort_unstable_by_key(|flow| (flow.phase, flow.ends));
        outcome.ranks.sort_unstable_by_key(|rank| rank.number);
    }
    outcomes
}

/// Why the jobs cannot go on, if they cannot: a rank has failed, or a job's ranks all wait for each other. `hosts` are those of
/// all partitions, between two windows.
pub fn failure(jobs: &[BoundJob], hosts: &[&Hosts]) -> Option<String> {
    let failed = hosts.iter().filter_map(|hosts| hosts.failure()).min();
    if let Some((job, rank, why)) = failed {
        return Some(format!("job \"{}\": rank {rank} {why}", jobs[*job as usize].name));
    }
    let mut pending = vec![0; jobs.len()];
    for hosts in hosts {
        pending.iter_mut().zip(hosts.pending()).for_each(|(sum, here)| *sum += here);
    }
    let stuck = |&at: &usize| {
        let count =
            |pick: fn(&Ledger) -> u64| hosts.iter().map(|hosts| pick(&hosts.ledgers()[at])).sum::<u64>();
        pending[at] == 0 && count(|ledger| ledger.posted) == count(|ledger| ledger.delivered)
    };
    let told: Vec<String> =
        (0..jobs.len()).filter(stuck).filter_map(|at| deadlock(&jobs[at].name, at, hosts)).collect();
    (!told.is_empty()).then(|| told.join("\n"))
}

/// Names the ranks that wait, if any does.
fn deadlock(name: &str, job: usize, hosts: &[&Hosts]) -> Option<String> {
    let mut waiting: Vec<(u32, String)> = hosts.iter().flat_map(|hosts| hosts.waiting(job)).collect();
    if waiting.is_empty() {
        return None;
    }
    waiting.sort_unstable();
    let count = waiting.len();
    let named = waiting.iter().take(NAMED_MAX).map(|(rank, what)| format!("\n  rank {rank}: {what}"));
    let more = count.saturating_sub(NAMED_MAX);
    let rest = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    Some(format!(
        "job \"{name}\" is deadlocked: {count} of its ranks wait, and no message of it is under way{}{rest}",
        named.collect::<String>()
    ))
}
