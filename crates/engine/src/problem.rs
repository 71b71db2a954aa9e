//! A user's mistake: where it is, what is wrong, and what would be right.
use serde::Serialize;

/// One mistake in a scenario. Mistakes are collected, never thrown one by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Dotted path of the key, such as `traffic.hot.load` or `topology.groups`; tables of an array are named by
    /// their `name` key, or by their index from 0 (if the name is missing or not theirs alone); empty for the file.
    pub path: String,
    /// Line in the scenario file, from 1; none if the value came from elsewhere (a default, `--set`).
    pub line: Option<usize>,
    /// Column in that line, from 1.
    pub column: Option<usize>,
    /// What is wrong, as a sentence without its full stop.
    pub message: String,
    /// What is allowed or what to do, as a sentence without its full stop; empty if there is nothing to add.
    pub help: String,
}

impl Problem {
    /// A problem at `path`, to be given its line by the reader of the file.
    pub fn new(path: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, column: None, message: message.into(), help: help.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}", self.message)?;
        if self.help.is_empty() { Ok(()) } else { write!(f, " ({})", self.help) }
    }
}
