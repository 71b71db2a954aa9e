//! GOAL traces, as the tools of LogGOPSim and ATLAHS write them.
use super::host::{SHORTER, too_long};
use super::mpi::Costs;
use super::mpi::graph::Graph;
use super::recorded::{Once, Recorded};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::Scale;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

mod binary;
mod text;

/// A recorded application: for each rank, sends, receives and computing, each with what it waits for. Operations on the same
/// processor of a rank are done one after the other, in the order in which they become free to begin: of several freed at once in that of the
/// lines that say what they require, and at the start of the job in that of the file. A send or a receive takes
/// the processor for `mpi.overhead`, a receive when it is posted and not again when its message comes. A message is matched by its
/// sender and tag, of which −1 is any, whatever sizes the two operations name; a rank can have messages of 32,768 different tags. What requires a send waits until its last flit has left, `mpi.delay` and
/// copy included.
///
/// Whoever calls the engine reads the file at `path` and hands it in as `text`, or, if it is binary, as `data`; a result keeps
/// it. Format and source: GOAL (Hoefler, Siebert, Lumsdaine, "Group operation assembly language", ICPP 2009), text and binary as
/// of LogGOPSim and ATLAHS. A rank has one endpoint: the field `nic` makes no difference, and a warning tells if it is not 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The file, relative to the scenario's. Give this, or `text`, or `data`; beside one of these, as in saved scenarios, it is but the name.
    #[serde(default)]
    pub path: String,
    /// The trace itself, as text.
    #[serde(default)]
    pub text: String,
    /// The trace itself in its binary form, in base64.
    #[serde(default)]
    pub data: String,
    /// How the file is written; without it, binary if `path` ends in .bin, else text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// The unit of the times of `calc`, in ps. Source: LogGOPSim, 1 ns.
    #[serde(default = "nanosecond")]
    #[schemars(range(min = 1))]
    pub unit_ps: u32,
    /// What was read, once it was asked for.
    #[serde(skip)]
    #[schemars(skip)]
    read: Once<Trace, Mistake>,
}

/// How a trace is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// As text.
    Text,
    /// In records.
    Binary,
}

fn nanosecond() -> u32 {
    1_000
}

/// What is wrong with a trace: where, what, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// A line and column, or an offset.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl Mistake {
    fn new(place: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into(), help: help.into() }
    }

    fn problem(&self, path: &str, key: &str) -> Problem {
        super::in_file(path, key, &self.place, &self.message, &self.help)
    }
}

/// What stands in a trace.
#[derive(Debug, Clone)]
struct Trace {
    graphs: Arc<Vec<Graph>>,
    /// Whether it tells ranks of more than one network adapter.
    has_adapters: bool,
}

impl Trace {
    /// What a user has to know of what makes no difference.
    fn notes(&self) -> Vec<String> {
        let note = "it names network adapters (nic) other than 0: a rank has one endpoint, which all of its messages go through";
        self.has_adapters.then(|| note.into()).into_iter().collect()
    }
}

/// What a trace is read by.
#[derive(Clone, Copy)]
struct By<'a> {
    /// The unit of its times.
    unit_ps: u32,
    /// What its messages are sent in, if those that are too long are to be told.
    scale: Option<&'a Scale>,
}

impl By<'_> {
    /// Why a message of so many bytes cannot be sent, and what would help.
    fn too_long(self, bytes: u64) -> Option<(String, &'static str)> {
        too_long(bytes, self.scale?).zip(Some(SHORTER))
    }
}

/// Reads a trace as text; times are in units of `unit_ps`.
///
/// # Errors
///
/// The first mistake with its line and column.
pub fn read_text(text: &str, unit_ps: u32) -> Result<Vec<Graph>, Mistake> {
    text::read(text, By { unit_ps, scale: None }).map(|trace| Arc::unwrap_or_clone(trace.graphs))
}

/// Reads a trace in binary form; times are in units of `unit_ps`.
///
/// # Errors
///
/// The first mistake with its offset.
pub fn read_binary(data: &[u8], unit_ps: u32) -> Result<Vec<Graph>, Mistake> {
    binary::read(data, By { unit_ps, scale: None }).map(|trace| Arc::unwrap_or_clone(trace.graphs))
}

impl Goal {
    /// The key under which the contents of a file are to be handed in, by what the scenario says of its format.
    pub fn key_of(path: &str, format: Option<&str>) -> &'static str {
        match format {
            Some("binary") => "data",
            None if path.ends_with(".bin") => "data",
            _ => "text",
        }
    }

    fn format(&self) -> Format {
        let by_name = if self.path.ends_with(".bin") || self.text.is_empty() && !self.data.is_empty() {
            Format::Binary
        } else {
            Format::Text
        };
        self.format.unwrap_or(by_name)
    }

    fn key(&self) -> &'static str {
        if self.format() == Format::Binary { "data" } else { "text" }
    }

    fn trace(&self) -> Result<&Arc<Trace>, Vec<Problem>> {
        self.read.get(|| self.read(None)).map_err(|mistake| self.problems(mistake))
    }

    fn problems(&self, mistake: &Mistake) -> Vec<Problem> {
        vec![mistake.problem(&self.path, self.key())]
    }

    fn read(&self, scale: Option<&Scale>) -> Result<Trace, Mistake> {
        let by = By { unit_ps: self.unit_ps, scale };
        let empty = || match self.path.is_empty() {
            true => {
                Mistake::new("", "no trace is given", "path = \"trace.goal\", or the trace itself as text")
            }
            false => Mistake::new("", "the trace is empty, or was not read", "a file with a GOAL trace"),
        };
        match self.format() {
            Format::Text if self.text.is_empty() => Err(empty()),
            Format::Text => text::read(&self.text, by),
            Format::Binary if self.data.is_empty() => Err(empty()),
            Format::Binary => {
                let data = crate::base64::decode(&self.data)
                    .ok_or_else(|| Mistake::new("", "this is not base64", "the file's bytes in base64"))?;
                binary::read(&data, by)
            }
        }
    }
}

impl Bind for Goal {
    fn ranks(&self) -> Result<Option<u32>, Vec<Problem>> {
        self.trace().map(|trace| Some(trace.graphs.len() as u32))
    }

    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let trace = self.trace()?;
        let unused = setting.mpi.of_collectives();
        if !unused.is_empty() {
            let told = |key| Problem::new(key, "a GOAL trace has no collective operations", "leave it out");
            return Err(unused.into_iter().map(told).collect());
        }
        let longest = trace.graphs.iter().map(Graph::longest).max().unwrap_or(0);
        if too_long(longest, setting.scale).is_some() {
            // Read once more, it tells where.
            self.read(Some(setting.scale)).map_err(|mistake| self.problems(&mistake))?;
        }
        let costs = Costs::new(setting.mpi, setting.scale);
        let source = (self.text.len() + self.data.len()) as u64;
        Ok(Box::new(Recorded::new(trace.graphs.clone(), costs, source).noting(trace.notes())))
    }
}
