//! Chakra traces of training and inference.
use super::mpi::Costs;
use super::mpi::graph::Graph;
use super::recorded::{Once, Recorded};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::Rate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

mod expand;
mod groups;
mod nodes;
mod read;
mod schema;

use read::Trace;

/// A recorded or generated machine-learning job in the Chakra format of MLCommons, as ASTRA-sim runs them: a file for each rank,
/// with computing, sends, receives and collective operations, each with what it waits for. Operations that compute take their
/// recorded durations (`duration_micros`); those of the accelerator are done one after the other, and so are those of the host
/// (`is_cpu_op`). Communication takes neither; one that the host does counts with its duration only. An operation of the accelerator
/// without a duration takes as long as `peak` and `memory_bandwidth` say for its `num_ops` and `tensor_size`; any other takes no time,
/// and a warning tells how many there are.
///
/// Sends and receives have `comm_dst`, `comm_src`, `comm_size` and `comm_tag`; they are matched by their ranks and tag, in their order,
/// whatever sizes they name. A rank can have messages of 32,768 different tags. Collective operations have `comm_type` (0 all-reduce,
/// 1 reduce, 2 all-gather, 5 broadcast, 6 all-to-all, 7 reduce-scatter, 9 barrier), `comm_size`, which is what each rank brings (the whole vector of
/// an all-reduce or a reduce-scatter, its own part of an all-gather, all its parts of an all-to-all), and `pg_name` or `involved_dim`;
/// without these they are of all ranks, and so is the process group "0". Those of one group are done one after the other, as a communicator of NCCL
/// does them, and the n-th of a group is the same in the files of all its ranks: in the order in which a rank could do its nodes one by
/// one, of those that may come next the one of the lowest number. The root of a broadcast or a reduction, which the format does not
/// name, is the first rank of its group. They are cut into messages as `mpi` says: for rings,
/// `mpi = { allreduce = "ring", reduce_scatter = "ring", allgather = "ring" }`. A message costs nothing but its way unless `mpi` says so;
/// `mpi.barrier` does not go with a trace.
///
/// Whoever calls the engine reads the files at `path`, with `.0.et`, `.1.et`, … behind it, and hands them in as `data`; a result
/// keeps them. They are in the binary form, may be compressed (gzip), and have at most 1 GiB each. Format: Chakra 0.0.4 (Sridharan and others,
/// "Chakra: advancing performance benchmarking and co-design using standardized execution traces", arXiv 2305.14516).
///
/// Differences from ASTRA-sim: that does one send or collective operation of a rank at a time, whatever its group, and of several that
/// are ready the one of the lowest number; here each processor takes what was ready first. It counts 1 ns for a node without a duration,
/// replays broadcasts, knows no barriers and reductions, cuts collective operations into chunks and by dimensions, and has remote
/// memories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Chakra {
    /// What the names of the files begin with, relative to the scenario: "trace" for trace.0.et, trace.1.et and so on, one for each of
    /// `ranks`. Give this or `data`.
    #[serde(default)]
    pub path: String,
    /// The files themselves, in base64, by rank.
    #[serde(default)]
    pub data: BTreeMap<String, String>,
    /// The ranks of the process groups that the trace names (`pg_name`), if it does not tell them itself, or others than it tells: a
    /// file, `{ path = "comm_group.json" }`, as ASTRA-sim has it, such as {"1": [0, 1], "2": [2, 3]}. The group "0" is always all ranks.
    #[serde(default, skip_serializing_if = "Groups::is_empty")]
    pub groups: Groups,
    /// Sizes of the logical dimensions of the job, the fastest first, if operations are of some of them only (`involved_dim`): of as many
    /// as the trace tells of, or more. Their product is the number of ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dims: Vec<u32>,
    /// What becomes of dependencies on nodes that a file does not have, which traces of parts of a program hold.
    #[serde(default)]
    pub dangling: Dangling,
    /// Whether a node waits for its `ctrl_deps` as it does for its `data_deps`.
    #[serde(default)]
    pub control: Control,
    /// Operations a second of an accelerator, for nodes that tell their operations and no duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub peak: Option<f64>,
    /// Rate of an accelerator's memory, for the same nodes: they take as long as their operations or their bytes do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bandwidth: Option<Rate>,
    /// What was read, once it was asked for.
    #[serde(skip)]
    #[schemars(skip)]
    read: Once<Vec<Trace>, (u32, Mistake)>,
}

/// `groups = { path = "comm_group.json" }`: for each process group its ranks, as ASTRA-sim has them: `{"1": [0, 1], "2": [2, 3]}`. Whoever
/// calls the engine reads the file and hands it in as `text`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Groups {
    /// The file, relative to the scenario's.
    pub path: String,
    /// What stands in it.
    pub text: String,
}

impl Groups {
    fn is_empty(&self) -> bool {
        self.path.is_empty() && self.text.is_empty()
    }
}

/// What becomes of dependencies on nodes that a file does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dangling {
    /// They are mistakes.
    #[default]
    Refuse,
    /// They are dropped, and a warning tells how many there are.
    Drop,
}

/// Whether a node waits for its `ctrl_deps`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// It does, as in ASTRA-sim.
    #[default]
    Wait,
    /// It does not, and a warning tells how many there are: in traces of PyTorch they tell from which call one is made.
    Ignore,
}

/// What is wrong with a rank's file: where, what, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    place: String,
    message: String,
    help: String,
}

impl Mistake {
    fn new(place: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into(), help: help.into() }
    }

    fn of(node: &schema::Node, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::at((node.id, &node.name), message, help)
    }

    fn at((id, name): (u64, &str), message: impl Into<String>, help: impl Into<String>) -> Self {
        let shown: String = name.chars().take(read::NAME_MAX).collect();
        let place = if shown.is_empty() { format!("node {id}") } else { format!("node {id} ({shown:?})") };
        Self::new(place, message, help)
    }
}

impl Chakra {
    /// The number of ranks whose files a scenario can name.
    pub const RANKS_MAX: u32 = 1 << 16;

    /// The file of a rank, by what the names of all begin with.
    pub fn file(path: &str, rank: u32) -> String {
        format!("{path}.{rank}.et")
    }

    fn problem(&self, rank: u32, mistake: &Mistake) -> Problem {
        let key = format!("data.{rank}");
        if self.path.is_empty() {
            let parts = [format!("rank {rank}"), mistake.place.clone()];
            return super::in_file(
                "",
                &key,
                parts.join(", ").trim_end_matches(", "),
                &mistake.message,
                &mistake.help,
            );
        }
        super::in_file(&Self::file(&self.path, rank), &key, &mistake.place, &mistake.message, &mistake.help)
    }

    fn read(&self, ranks: u32) -> Result<Vec<Trace>, (u32, Mistake)> {
        let read = |rank: u32| {
            let data =
                self.data.get(&rank.to_string()).filter(|data| !data.is_empty()).ok_or_else(|| match self
                    .path
                    .is_empty()
                {
                    true => Mistake::new(
                        "",
                        "no trace is given",
                        "path = \"trace\", for the files trace.0.et, trace.1.et, …",
                    ),
                    false => Mistake::new("", "the file is empty, or was not read", "a file of Chakra"),
                })?;
            let data = crate::base64::decode(data)
                .ok_or_else(|| Mistake::new("", "this is not base64", "the file's bytes in base64"))?;
            let trace = read::read(&data, rank, self.control)?;
            match trace.dangling.first() {
                Some((node, earlier)) if self.dangling == Dangling::Refuse => {
                    let count = trace.dangling.len();
                    let message = format!(
                        "{count} dependencies are on nodes that the file does not have, the first on {earlier}"
                    );
                    Err(Mistake::new(
                        format!("node {node}"),
                        message,
                        "a whole trace, or dangling = \"drop\"",
                    ))
                }
                _ => Ok(trace),
            }
        };
        (0..ranks).map(|rank| read(rank).map_err(|mistake| (rank, mistake))).collect()
    }

    /// Files of ranks that the job does not have.
    fn superfluous(&self, ranks: u32) -> Vec<Problem> {
        let is_rank =
            |key: &String| key.parse::<u32>().is_ok_and(|rank| rank < ranks && rank.to_string() == *key);
        let wrong = self.data.keys().filter(|key| !is_rank(key));
        let told = |key: &String| {
            Problem::new(
                format!("data.{key}"),
                format!("the job has {ranks} ranks"),
                format!("ranks from 0 to {}", ranks - 1),
            )
        };
        wrong.map(told).collect()
    }
}

impl Bind for Chakra {
    /// What a trace leaves out costs nothing.
    fn has_mpi(&self) -> bool {
        false
    }

    fn computes(&self) -> bool {
        true
    }

    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let mut problems = self.superfluous(setting.ranks);
        if setting.mpi.barrier.is_some() {
            let message = "barriers of a Chakra trace are made of messages";
            problems.push(Problem::new("mpi.barrier", message, "leave it out"));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let of_rank = |(rank, mistake): &(u32, Mistake)| vec![self.problem(*rank, mistake)];
        let traces = self.read.get(|| self.read(setting.ranks)).map_err(of_rank)?;
        let groups = groups::Members::new(self, traces, setting.ranks)?;
        let costs = Costs::new(setting.mpi, setting.scale);
        let graphs = expand::graphs(self, (traces, &groups), &costs, setting);
        let graphs: Vec<Graph> = graphs.map_err(|wrong| of_rank(&wrong))?;
        let source = self.data.values().map(|data| data.len() as u64).sum();
        Ok(Box::new(Recorded::new(Arc::new(graphs), costs, source).noting(expand::notes(self, traces))))
    }
}
