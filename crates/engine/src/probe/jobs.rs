//! Of every job: how long it took, its ranks and its operations.
use super::phases::{self, FlowRow, PhaseRow, Phased};
use super::summary::Measured;
use crate::core::plan::FlitTime;
use crate::report::{Column, Table};
use crate::workload::bind::BoundJob;
use crate::workload::host::RankResult;
use crate::workload::ledger::KINDS;
use crate::workload::outcome::Outcome;
use serde_json::{Map, Value, json};

fn ns(ps: u64) -> f64 {
    ps as f64 / 1000.0
}

/// The jobs that ran.
fn jobs<'a>(measured: &'a Measured) -> impl Iterator<Item = (&'a BoundJob, &'a Outcome)> {
    measured.plan.jobs.iter().zip(&measured.jobs).filter(|(job, _)| !job.idle)
}

/// The summary of every job by its name.
pub fn summary(measured: &Measured) -> Value {
    let mut all: Map<_, _> =
        jobs(measured).map(|(job, outcome)| (job.name.clone(), of(job, outcome))).collect();
    for phased in phased(measured) {
        all[&phased.job]["phases"] = phased.summary();
    }
    all.into()
}

fn of(job: &BoundJob, outcome: &Outcome) -> Value {
    let ledger = &outcome.ledger;
    let mut operations = Map::new();
    for (count, (_, name)) in ledger.operations.iter().zip(KINDS).filter(|(count, _)| count.count > 0) {
        let mean = count.total as f64 / count.count as f64 / 1000.0;
        operations.insert(
            name.into(),
            json!({ "count": count.count, "mean_ns": mean, "max_ns": ns(count.longest) }),
        );
    }
    let times = outcome.ranks.iter().map(|rank| rank.communicating.0);
    let sum: u128 = times.clone().map(u128::from).sum();
    let time = outcome.end().map(|end| ns(end.saturating_sub(job.start.0)));
    json!({
        "workload": job.workload,
        "ranks": job.endpoints.len(),
        "unfinished_ranks": outcome.ranks.iter().filter(|rank| rank.end.is_none()).count(),
        "start_ns": ns(job.start.0),
        "time_ns": time,
        "communication_ns": {
            "min": times.clone().min().map(ns),
            "mean": sum as f64 / outcome.ranks.len().max(1) as f64 / 1000.0,
            "max": times.max().map(ns),
        },
        "messages": ledger.posted,
        "local_messages": ledger.local,
        "delivered_messages": ledger.delivered,
        "bytes": ledger.bytes,
        "operations": operations,
    })
}

/// The jobs in phases.
pub fn phased(measured: &Measured) -> Vec<Phased> {
    let classes = measured.plan.traffic.len()..;
    let all = classes.zip(measured.plan.jobs.iter().zip(&measured.jobs)).filter(|(_, (job, _))| !job.idle);
    all.filter_map(|(class, (job, outcome))| of_phases(measured, class, job, outcome)).collect()
}

fn of_phases(measured: &Measured, class: usize, job: &BoundJob, outcome: &Outcome) -> Option<Phased> {
    let (plan, schedule) = (measured.plan, job.application.flows()?);
    let span = |ticks: u64| ticks as f64 * plan.tick as f64 / 1000.0;
    let arrived = |phase, ends| {
        let found = outcome.arrived.binary_search_by_key(&(phase, ends), |flow| (flow.phase, flow.ends));
        found.ok().map(|at| &outcome.arrived[at])
    };
    let mut phased = Phased { job: job.name.clone(), ..Phased::default() };
    for (phase, start) in (0..schedule.phases()).zip(&outcome.starts) {
        let mut last = Some(0.0);
        let mut sent = vec![0; job.endpoints.len()];
        for flow in schedule.flows(phase) {
            sent[flow.from as usize] += plan.scale.flits_of(flow.bytes);
            let ends = (job.endpoints[flow.from as usize], job.endpoints[flow.to as usize]);
            let found = arrived(phase, ends);
            let since = |ticks: u64| span(ticks) - ns(start.0);
            let time_ns = found.map(|flow| since(flow.at));
            let known = found.filter(|flow| plan.told.is_some() && flow.words[0] > 0);
            last = last.zip(time_ns).map(|(last, time): (f64, f64)| last.max(time));
            phased.flows.push(FlowRow {
                phase,
                ends,
                bytes: flow.bytes,
                time_ns,
                known_ns: known.map(|flow| span(flow.words[0])),
                settled_ns: known.map(|flow| since(flow.words[1])),
                contention: None,
            });
        }
        let loads = measured.probes.iter().filter_map(|probe| probe.loads.as_ref());
        let busiest = loads.map(|loads| loads.largest(class, phase)).max().unwrap_or(0);
        let inject = |&flits: &u64| FlitTime::of(&plan.links[0].time).span(flits);
        let bound = sent.iter().map(inject).max().unwrap_or(0).max(busiest);
        phased.phases.push(PhaseRow { start_ns: ns(start.0), time_ns: last, bound_ns: span(bound) });
    }
    Some(phased)
}

/// Jobs that did not come to their end, or left messages unreceived, and what their workloads do not tell.
pub fn warnings(measured: &Measured) -> Vec<String> {
    let mut warnings = Vec::new();
    for (job, outcome) in jobs(measured) {
        let (name, ranks) = (&job.name, outcome.ranks.len());
        let unfinished = outcome.ranks.iter().filter(|rank| rank.end.is_none()).count();
        let unmatched: Vec<_> = outcome.ranks.iter().filter(|rank| rank.unmatched != (0, 0)).collect();
        warnings.extend(job.application.notes().iter().map(|note| format!("job \"{name}\": {note}")));
        let computes =
            |rank: &RankResult| rank.end.is_none_or(|end| rank.communicating.0 < end.0 - job.start.0);
        let slow = || outcome.ranks.iter().filter(|rank| job.slowness(rank.number) > 1.0);
        if slow().next().is_some() && !slow().any(computes) {
            warnings.push(format!("job \"{name}\": its slow ranks have computed nothing"));
        }
        if unfinished > 0 {
            let never = job.start.0 / measured.plan.tick > measured.end;
            let why = match (measured.interrupted, never) {
                (true, _) => "the run ended before that",
                (_, true) => "the job would start after the end of the run",
                _ => "run.duration is too short",
            };
            warnings.push(format!(
                "job \"{name}\": {unfinished} of {ranks} ranks had not come to their end: {why}"
            ));
        } else if let Some(first) = unmatched.first() {
            let (messages, calls) = first.unmatched;
            warnings.push(format!(
                "job \"{name}\": {} of {ranks} ranks ended with messages, sends or receives that have no partner, the first of them \
                 rank {}: messages that it did not receive: {messages}, sends and receives that did not end: {calls}",
                unmatched.len(),
                first.number
            ));
        } else if outcome.ledger.delivered < outcome.ledger.posted {
            let (sent, under_way) = (outcome.ledger.posted, outcome.ledger.posted - outcome.ledger.delivered);
            warnings.push(format!(
                "job \"{name}\": {under_way} of {sent} messages were under way when the last rank ended: nobody had waited for them"
            ));
        }
    }
    warnings
}

/// A row for every rank, for every operation and for every iteration of every job.
pub fn tables(measured: &Measured) -> Vec<Table> {
    let mut tables = vec![rank_table(measured), operation_table(measured), iteration_table(measured)];
    let phased = phased(measured);
    if !phased.is_empty() {
        tables.extend(phases::tables(&phased));
    }
    tables
}

fn rank_table(measured: &Measured) -> Table {
    let (mut names, mut numbers, mut endpoints) = (vec![], vec![], vec![]);
    let (mut times, mut communicating) = (vec![], vec![]);
    for (job, outcome) in jobs(measured) {
        for rank in &outcome.ranks {
            names.push(job.name.clone());
            numbers.push(rank.number as i64);
            endpoints.push(job.endpoints[rank.number as usize] as i64);
            times.push(rank.end.map_or(f64::NAN, |end| ns(end.0.saturating_sub(job.start.0))));
            communicating.push(ns(rank.communicating.0));
        }
    }
    let columns = vec![
        ("job".into(), Column::Text(names)),
        ("rank".into(), Column::Int(numbers)),
        ("endpoint".into(), Column::Int(endpoints)),
        ("time_ns".into(), Column::Real(times)),
        ("communication_ns".into(), Column::Real(communicating)),
    ];
    Table { name: "ranks", columns }
}

/// Iterations that all ranks have done; the last rank's end is theirs.
fn iteration_table(measured: &Measured) -> Table {
    let (mut names, mut numbers, mut ends, mut times) = (vec![], vec![], vec![], vec![]);
    for (job, outcome) in jobs(measured) {
        let done = |&(_, &(ranks, _)): &(i64, &(u32, u64))| ranks as usize == outcome.ranks.len();
        let mut before = job.start.0;
        for (number, &(_, end)) in (0..).zip(&outcome.ledger.iterations).take_while(done) {
            names.push(job.name.clone());
            numbers.push(number);
            ends.push(ns(end));
            times.push(ns(end - before));
            before = end;
        }
    }
    let columns = vec![
        ("job".into(), Column::Text(names)),
        ("iteration".into(), Column::Int(numbers)),
        ("end_ns".into(), Column::Real(ends)),
        ("time_ns".into(), Column::Real(times)),
    ];
    Table { name: "iterations", columns }
}

fn operation_table(measured: &Measured) -> Table {
    let (mut names, mut kinds, mut counts, mut totals, mut longest) =
        (vec![], vec![], vec![], vec![], vec![]);
    for (job, outcome) in jobs(measured) {
        for (count, (_, kind)) in outcome.ledger.operations.iter().zip(KINDS) {
            if count.count > 0 {
                names.push(job.name.clone());
                kinds.push(kind.to_string());
                counts.push(count.count as i64);
                totals.push(count.total as f64 / 1000.0);
                longest.push(ns(count.longest));
            }
        }
    }
    let columns = vec![
        ("job".into(), Column::Text(names)),
        ("operation".into(), Column::Text(kinds)),
        ("count".into(), Column::Int(counts)),
        ("total_ns".into(), Column::Real(totals)),
        ("max_ns".into(), Column::Real(longest)),
    ];
    Table { name: "operations", columns }
}
