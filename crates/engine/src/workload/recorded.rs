//! What kinds of traces share: the trace that is read once, and the ranks that do what it says.
use super::mpi::graph::{Graph, Worker};
use super::mpi::{Costs, carries_data};
use super::{Application, Rank, in_file};
use crate::problem::Problem;
use std::sync::{Arc, OnceLock};

/// What is wrong with a file that is read line by line: in which line, what, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl Mistake {
    pub(crate) fn new(line: usize, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { line, message: message.into(), help: help.into() }
    }

    /// What is told of it: by the file's path, or of the key `text` if there is none.
    pub(crate) fn problem(&self, path: &str) -> Problem {
        in_file(path, "text", &format!("line {}", self.line), &self.message, &self.help)
    }
}

/// The text of a file, if there is any; `nothing` is what is wrong if neither a file nor a text is given.
pub(crate) fn given<'a>(path: &str, text: &'a str, nothing: &str, help: &str) -> Result<&'a str, Mistake> {
    match (text, path) {
        ("", "") => Err(Mistake::new(1, nothing, help)),
        ("", _) => Err(Mistake::new(1, "the file is empty, or was not read", help)),
        (text, _) => Ok(text),
    }
}

/// What was read of a scenario's text, or what is wrong with it, once it was asked for. It follows from the text, so it makes no
/// difference between two scenarios.
#[derive(Debug, Clone)]
pub struct Once<T, E>(OnceLock<Result<Arc<T>, E>>);

impl<T, E> Default for Once<T, E> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T, E> PartialEq for Once<T, E> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T, E> Once<T, E> {
    /// What `read` gives, or gave when it was called.
    pub(super) fn get(&self, read: impl FnOnce() -> Result<T, E>) -> Result<&Arc<T>, &E> {
        self.0.get_or_init(|| read().map(Arc::new)).as_ref()
    }
}

/// The ranks of a trace.
#[derive(Debug)]
pub(super) struct Recorded {
    graphs: Arc<Vec<Graph>>,
    /// Whether one of them receives any tag.
    any_tag: bool,
    costs: Costs,
    /// Bytes held by the file, and by what was read of it.
    source: u64,
    /// What the trace does not tell.
    notes: Vec<String>,
}

impl Recorded {
    pub(super) fn new(graphs: Arc<Vec<Graph>>, costs: Costs, source: u64) -> Self {
        let any_tag = graphs.iter().any(Graph::receives_any_tag);
        Self { graphs, any_tag, costs, source, notes: Vec::new() }
    }

    /// The same, of a trace that does not tell all.
    pub(super) fn noting(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }
}

impl Application for Recorded {
    fn rank(&self, number: u32) -> Box<dyn Rank> {
        Box::new(Worker::new(self.graphs.clone(), number, self.any_tag, self.costs))
    }

    fn memory(&self) -> u64 {
        self.source + self.graphs.iter().map(Graph::memory).sum::<u64>()
    }

    fn carries_data(&self, tag: u32) -> bool {
        carries_data(tag)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
