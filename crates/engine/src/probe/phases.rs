//! Of jobs in phases: when each flow and each phase was done, and how near that is to the bound for the routes taken.
use crate::report::{Column, Table};
use serde_json::{Value, json};

/// A flow, in the network or in the fluid model. Times in ns, from the start of its phase.
#[derive(Debug, Clone, Default)]
pub struct FlowRow {
    /// Phase.
    pub phase: u32,
    /// Source and destination endpoint.
    pub ends: (u32, u32),
    /// Its size.
    pub bytes: u64,
    /// When it had arrived; none if it has not.
    pub time_ns: Option<f64>,
    /// Load of the busiest link on its way, as its source knew it at the end; none without explicit rates.
    pub known_ns: Option<f64>,
    /// When that came to its last value.
    pub settled_ns: Option<f64>,
    /// Flows on the link of its way with most; of the fluid model only.
    pub contention: Option<u32>,
}

/// A phase.
#[derive(Debug, Clone, Default)]
pub struct PhaseRow {
    /// When it started, from the start of the run.
    pub start_ns: f64,
    /// When its last flow had arrived, from its start; none if one has not.
    pub time_ns: Option<f64>,
    /// Load of the busiest channel: no rates on these routes are faster.
    pub bound_ns: f64,
}

/// A job in phases.
#[derive(Debug, Clone, Default)]
pub struct Phased {
    /// Name of the job.
    pub job: String,
    /// Its flows.
    pub flows: Vec<FlowRow>,
    /// Its phases, those that started.
    pub phases: Vec<PhaseRow>,
}

impl Phased {
    /// The phases of the job in short.
    pub fn summary(&self) -> Value {
        let done: Vec<&PhaseRow> = self.phases.iter().filter(|phase| phase.time_ns.is_some()).collect();
        let times: Vec<f64> = done.iter().filter_map(|phase| phase.time_ns).collect();
        let bounds: Vec<f64> = done.iter().map(|phase| phase.bound_ns).collect();
        let ratios: Vec<f64> = times.iter().zip(&bounds).map(|(time, bound)| time / bound).collect();
        json!({
            "phases": done.len(),
            "flows": self.flows.iter().filter(|flow| flow.time_ns.is_some()).count(),
            "phase_time_ns": spread(&times),
            "bound_ns": spread(&bounds),
            "time_over_bound": spread(&ratios),
        })
    }
}

fn spread(values: &[f64]) -> Value {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let some = |value: f64| (!values.is_empty()).then_some(value);
    json!({
        "min": some(values.iter().copied().fold(f64::INFINITY, f64::min)),
        "mean": some(mean),
        "max": some(values.iter().copied().fold(0.0, f64::max)),
    })
}

/// A row for every flow, and one for every phase.
pub fn tables(jobs: &[Phased]) -> Vec<Table> {
    vec![flow_table(jobs), phase_table(jobs)]
}

fn flow_table(jobs: &[Phased]) -> Table {
    let rows = || jobs.iter().flat_map(|job| job.flows.iter().map(move |flow| (&job.job, flow)));
    let int = |pick: fn(&FlowRow) -> i64| Column::Int(rows().map(|(_, flow)| pick(flow)).collect());
    let real = |pick: fn(&FlowRow) -> Option<f64>| {
        Column::Real(rows().map(|(_, flow)| pick(flow).unwrap_or(f64::NAN)).collect())
    };
    let mut columns = vec![
        ("job".into(), Column::Text(rows().map(|(job, _)| job.clone()).collect())),
        ("phase".into(), int(|flow| flow.phase.into())),
        ("source".into(), int(|flow| flow.ends.0.into())),
        ("destination".into(), int(|flow| flow.ends.1.into())),
        ("bytes".into(), int(|flow| flow.bytes as i64)),
        ("time_ns".into(), real(|flow| flow.time_ns)),
    ];
    if rows().any(|(_, flow)| flow.known_ns.is_some()) {
        columns.push(("link_load_ns".into(), real(|flow| flow.known_ns)));
        columns.push(("settled_ns".into(), real(|flow| flow.settled_ns)));
    }
    if rows().any(|(_, flow)| flow.contention.is_some()) {
        columns.push(("contention".into(), int(|flow| flow.contention.unwrap_or(0).into())));
    }
    Table { name: "flows", columns }
}

fn phase_table(jobs: &[Phased]) -> Table {
    let (mut names, mut numbers) = (vec![], vec![]);
    let (mut starts, mut times, mut bounds) = (vec![], vec![], vec![]);
    for job in jobs {
        for (number, phase) in job.phases.iter().enumerate() {
            names.push(job.job.clone());
            numbers.push(number as i64);
            starts.push(phase.start_ns);
            times.push(phase.time_ns.unwrap_or(f64::NAN));
            bounds.push(phase.bound_ns);
        }
    }
    let columns = vec![
        ("job".into(), Column::Text(names)),
        ("phase".into(), Column::Int(numbers)),
        ("start_ns".into(), Column::Real(starts)),
        ("time_ns".into(), Column::Real(times)),
        ("bound_ns".into(), Column::Real(bounds)),
    ];
    Table { name: "phases", columns }
}
