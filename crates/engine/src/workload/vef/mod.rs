//! VEF traces of MPI applications.
use super::mpi::Costs;
use super::recorded::{Once, Recorded};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

mod circles;
mod expand;
mod resolve;
mod shape;
mod text;

pub use text::{Mistake, Trace, read};

/// A recorded MPI application: messages between tasks and collective operations, each at a time after another was sent, received
/// or done. A message is sent when its time has come; its receive is posted from the beginning, and takes none of the processor's time
/// that `mpi.overhead` may give its send, and the sends and receives of collective operations. The times between records count as
/// computing. Collective operations are cut into messages: gathers and scatters by one message for each task;
/// barriers by dissemination; the others as `mpi` says.
///
/// The format names no root. It is the task that alone sends (of a broadcast or a scatter) or receives (of a reduction or a gather)
/// in the operation's records, or that alone does not do what the others do; of an operation without any bytes, about which they
/// tell nothing, the first task of the communicator. Other records are refused.
///
/// Of an all-to-all in vector form the format tells how many bytes a task sends in all, and not how many of them to whom: they go
/// to all tasks of the communicator in equal parts, which a warning in the results says. It says too if tasks have different sizes
/// in an allgather: the largest is taken for all. Records of an operation that contradict each other are refused, and so is a
/// record that waits, through others, for itself.
///
/// What the collective operations are cut into is held from the beginning: a trace that would need more memory for it than `[run]
/// memory`, or without that than 4 GB, is refused.
///
/// Whoever calls the engine reads the file at `path` and hands it in as `text`; a result keeps it. Format and source: VEF
/// (Andújar and others, "An open-source family of tools to reproduce MPI-based workloads in interconnection network simulators",
/// J. Supercomputing 72, 2016). The reader follows the published format; no official file was at hand to check it by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vef {
    /// The file, relative to the scenario's. Give this or `text`.
    #[serde(default)]
    pub path: String,
    /// The trace itself.
    #[serde(default)]
    pub text: String,
    /// What was read, once it was asked for.
    #[serde(skip)]
    #[schemars(skip)]
    read: Once<Trace, Mistake>,
}

impl Vef {
    fn trace(&self) -> Result<&Arc<Trace>, Vec<Problem>> {
        self.read.get(|| read(&self.text)).map_err(|mistake| vec![mistake.problem(&self.path)])
    }
}

impl Bind for Vef {
    fn ranks(&self) -> Result<Option<u32>, Vec<Problem>> {
        self.trace().map(|trace| Some(trace.tasks))
    }

    /// What a trace leaves out costs nothing.
    fn has_mpi(&self) -> bool {
        false
    }

    fn computes(&self) -> bool {
        true
    }

    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let costs = Costs::new(setting.mpi, setting.scale);
        let trace = self.trace()?;
        if setting.mpi.barrier.is_some() {
            let message = "barriers of a VEF trace are made of messages";
            return Err(vec![Problem::new("mpi.barrier", message, "leave it out")]);
        }
        let graphs = expand::graphs(trace, &costs, setting);
        let graphs = graphs.map_err(|mistake| vec![mistake.problem(&self.path)])?;
        let source = self.text.len() as u64 + trace.memory();
        Ok(Box::new(Recorded::new(Arc::new(graphs), costs, source).noting(shape::notes(trace))))
    }
}
