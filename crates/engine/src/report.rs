//! What a run gives back: one summary, and tables of named columns.
use crate::problem::Problem;
use crate::units::Time;

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Int(Vec<i64>),
    /// Real numbers; NaN where there is no value.
    Real(Vec<f64>),
    /// Words.
    Text(Vec<String>),
}

/// A table: columns of equal length, in order, each with its name (unit last: `time_ns`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Name of the table: `classes`, `series`, `ports`, …
    pub name: &'static str,
    /// The columns.
    pub columns: Vec<(String, Column)>,
}

/// All that a run gives back.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// The summary, as `run --json` prints it.
    pub summary: serde_json::Value,
    /// The tables; those that were not recorded are missing.
    pub tables: Vec<Table>,
    /// Whether the run was stopped before its end: the results are partial.
    pub interrupted: bool,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Simulated time reached.
    pub simulated: Time,
    /// Simulated time at which the run ends at the latest.
    pub end: Time,
    /// Packets that crossed a switch so far.
    pub packet_hops: u64,
}

/// Why a run gave no result.
#[derive(Debug, Clone)]
pub enum RunError {
    /// The scenario is wrong.
    Problems(Vec<Problem>),
    /// The run failed: a deadlock, memory over the limit, a broken law. The text says what, where and what to do. With what was measured
    /// until then, if that can be told: a partial result whose summary has the text too, as `failure`.
    Failed(String, Option<Box<Output>>),
}
