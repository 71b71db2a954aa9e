//! `[[job]]`: a workload with its ranks, its place in the network and its start.
use super::mpi::Mpi;
use super::placement::Placement;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[[job]]`: an application that runs on some endpoints. The workload's own keys stand in the same
/// table.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Name of the job in results; without it, "job0", "job1", ….
    #[serde(default)]
    pub name: String,
    /// What its ranks do (key `workload`, and the workload's own keys).
    #[serde(flatten)]
    pub workload: super::Workload,
    /// Number of ranks; a trace has its own number and needs none here.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub ranks: Option<u32>,
    /// Which endpoints the ranks run on.
    #[serde(default)]
    pub placement: Placement,
    /// Ranks that share an endpoint, such as the cores of a node behind one adapter: of 4, ranks 0 to 3 run on the first endpoint, 4 to 7 on the
    /// second, and so on. Messages between them do not enter the network (`mpi.local_latency`, `mpi.local_bandwidth`).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1024))]
    pub ranks_per_endpoint: u32,
    /// When the job starts.
    #[serde(default = "at_once")]
    pub start: Duration,
    /// Allows endpoints that other jobs, or traffic, use too, if they say so as well. What an endpoint sends to one destination waits in one
    /// queue for each of its queue pairs, first come, first served, whatever job it is of, unless their priorities differ.
    #[serde(default)]
    pub share: bool,
    /// How urgent its messages are: of several that could go, at an endpoint or in a switch, those of the highest priority go first,
    /// strictly. The data of each priority has buffers of its own (virtual channels) and send queues of its own.
    #[serde(default)]
    pub priority: u8,
    /// Flows from each rank to each other one, which its messages take in turn, from a random one on (also ranks that share an endpoint have flows
    /// of their own). Each has a send queue and a window or a rate of its own, under most congestion controls, and a way of its own where the
    /// routing hashes flows. A message goes in one of them, unless it is `split`.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4096))]
    pub queue_pairs: u32,
    /// Divides the data of a message evenly among the queue pairs, in whole packets (`NCCL_IB_SPLIT_DATA_ON_QPS` of NCCL); one of fewer packets than
    /// queue pairs goes whole, in turn. Congestion controls know the parts, each as a message; ranks and results know the whole.
    #[serde(default)]
    pub split: bool,
    /// Ranks that compute more slowly than the others, such as `[{ ranks = [5], compute = 1.5 }]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<SlowRanks>,
    /// How its ranks pass messages; flows of phases are sent as they are.
    #[serde(default)]
    pub mpi: Mpi,
}

/// A table of `slow` in a job: ranks that compute more slowly than the others (stragglers).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowRanks {
    /// Their numbers, of which "0-63" stands for those from 0 to 63.
    #[schemars(extend("ranges" = true))]
    pub ranks: Vec<u32>,
    /// How many times as long as the others they take to compute. What the MPI layer takes is not longer.
    #[schemars(range(min = 1.0, max = 1e6))]
    pub compute: f64,
}

fn one() -> u32 {
    1
}

fn at_once() -> Duration {
    Duration::Ps(0)
}
