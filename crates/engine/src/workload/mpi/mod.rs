//! The MPI layer: ranks that do operations one after the other, and pass messages as MPI does.
//!
//! A workload is a [`Script`]: for each rank, sections of operations ([`Op`]), made when they are needed and forgotten when
//! they are done, so that a rank costs little whatever it does. [`process`] does the operations, [`collective`] cuts those
//! of all ranks into messages, [`mailbox`] matches messages with receives.
use super::{Application, Rank};
use crate::units::{Duration, Rate, Scale, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::num::NonZeroU32;
use std::sync::Arc;

pub mod collective;
pub mod expansion;
pub mod graph;
pub mod mailbox;
mod process;
mod repeated;
mod wire;

use collective::{Allgather, Allreduce, ReduceScatter};
pub use collective::{Alltoall, Broadcast, Call, Group, Reduce};
pub(crate) use repeated::{Repeated, repeated};
pub use wire::{TAG_MAX, carries_data};

/// `mpi = { … }` of a `[[job]]`: how its ranks pass messages. The defaults are those of CODES's MPI replay; but in a VEF trace a message
/// is sent when its time has come, and costs nothing but its way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mpi {
    /// Messages of fewer bytes are sent at once, when they have been copied (eager, `copy`); those of as many or more ask first: a request, an answer when the
    /// receive is posted, then the data (rendezvous). Source: CODES, 8192 B. In a VEF or Chakra trace: all are.
    pub eager: Option<Size>,
    /// Size of the request and of the answer of a rendezvous. They wait behind what was sent to the same rank before in
    /// their queue pair: of several, the one whose turn it is to carry data. Source: CODES, 64 B.
    pub control: Size,
    /// Time of the processor for each send and each receive. Source: CODES, 10 ns. In a VEF or Chakra trace: none.
    pub overhead: Option<Duration>,
    /// Latency of software and adapter before a message enters the network; it does not occupy the processor. Source:
    /// CODES, 2500 ns of software and 1000 ns of the adapter. In a VEF or Chakra trace: none.
    pub delay: Option<Duration>,
    /// Rate at which an eager message is copied before it is sent; copies occupy nothing, so that those of several messages overlap. Source: CODES, 0.55 ns for a byte, rounded to 14.5 Gb/s. In a
    /// VEF or Chakra trace: in no time.
    pub copy: Option<Rate>,
    /// From the end of a message's copy to its being there, between ranks of one endpoint (`ranks_per_endpoint`), or of a rank to itself. Such messages
    /// do not enter the network; `overhead`, `delay` and `copy` are as for others. Source: ours, about what MPI libraries reach through shared memory.
    pub local_latency: Duration,
    /// Rate at which a rank copies messages for others of its endpoint, one after the other. Source: ours, 10 GB/s, about what a core reaches.
    pub local_bandwidth: Rate,
    /// Time of a barrier that goes by a network of its own, from the last rank's coming, after its `overhead`, to all ranks' leaving; without it, a
    /// barrier is made of messages, by dissemination.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub barrier: Option<Duration>,
    /// How a broadcast is cut into messages.
    pub broadcast: Broadcast,
    /// How a reduction to one rank is cut into messages.
    pub reduce: Reduce,
    /// How an allreduce is cut into messages.
    pub allreduce: AllreduceChoice,
    /// The largest allreduce that `allreduce = "automatic"` does by recursive doubling. Source: CODES, 2048 B.
    pub allreduce_short: Size,
    /// Ranks of a node in `allreduce = "nodes"`, one behind the other: of 8, ranks 0 to 7 of the job, 8 to 15 and so on. Source: ours, 8 accelerators.
    pub node: NonZeroU32,
    /// How a reduce-scatter is cut into messages.
    pub reduce_scatter: ReduceScatterChoice,
    /// The largest reduce-scatter, by a rank's whole vector, that `reduce_scatter = "automatic"` does by recursive halving. Source:
    /// after MPICH, 512 KiB.
    pub reduce_scatter_short: Size,
    /// How an allgather is cut into messages.
    pub allgather: AllgatherChoice,
    /// The largest allgather, all ranks' data together, that `allgather = "automatic"` does in ⌈log₂ n⌉ steps. Source:
    /// after MPICH, 80 KiB.
    pub allgather_short: Size,
    /// How an all-to-all is cut into messages.
    pub alltoall: Alltoall,
}

impl Default for Mpi {
    fn default() -> Self {
        Self {
            eager: None,
            control: Size::Bits(64 * 8),
            overhead: None,
            delay: None,
            copy: None,
            local_latency: Duration::Ps(200_000),
            local_bandwidth: Rate(80_000_000_000),
            barrier: None,
            broadcast: Broadcast::Binomial,
            reduce: Reduce::Binomial,
            allreduce: AllreduceChoice::Automatic,
            allreduce_short: Size::Bits(2048 * 8),
            node: NonZeroU32::new(8).expect("over 0"),
            reduce_scatter: ReduceScatterChoice::Automatic,
            reduce_scatter_short: Size::Bits((512 << 10) * 8),
            allgather: AllgatherChoice::Automatic,
            allgather_short: Size::Bits(81920 * 8),
            alltoall: Alltoall::Pairwise,
        }
    }
}

impl Mpi {
    /// Fills in what CODES has, where nothing is said.
    pub fn or_codes(&self) -> Self {
        Self {
            eager: self.eager.or(Some(Size::Bits(8192 * 8))),
            overhead: self.overhead.or(Some(Duration::Ps(10_000))),
            delay: self.delay.or(Some(Duration::Ps(3_500_000))),
            copy: self.copy.or(Some(COPY)),
            ..self.clone()
        }
    }
}

/// How messages go that do not leave their endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Local {
    /// From the end of the copy to the receiver.
    pub latency: Time,
    /// Of a sender's copies.
    pub bandwidth: Rate,
}

impl Mpi {
    /// How messages go that do not leave their endpoint.
    pub fn local(&self, scale: &Scale) -> Local {
        Local { latency: self.local_latency.time(scale), bandwidth: self.local_bandwidth }
    }

    /// The keys given that speak of collective operations.
    pub fn of_collectives(&self) -> Vec<&'static str> {
        let default = Self::default();
        let keys = [
            ("mpi.barrier", self.barrier != default.barrier),
            ("mpi.broadcast", self.broadcast != default.broadcast),
            ("mpi.reduce", self.reduce != default.reduce),
            ("mpi.allreduce", self.allreduce != default.allreduce),
            ("mpi.allreduce_short", self.allreduce_short != default.allreduce_short),
            ("mpi.node", self.node != default.node),
            ("mpi.reduce_scatter", self.reduce_scatter != default.reduce_scatter),
            ("mpi.reduce_scatter_short", self.reduce_scatter_short != default.reduce_scatter_short),
            ("mpi.allgather", self.allgather != default.allgather),
            ("mpi.allgather_short", self.allgather_short != default.allgather_short),
            ("mpi.alltoall", self.alltoall != default.alltoall),
        ];
        keys.into_iter().filter(|(_, given)| *given).map(|(key, _)| key).collect()
    }
}

/// How a reduce-scatter is cut into messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReduceScatterChoice {
    /// Recursive halving for short vectors, pairwise exchange for others.
    Automatic,
    /// ⌊log₂ n⌋ exchanges of half of what is left, and two steps more if n is not a power of two.
    Halving,
    /// n − 1 steps round a ring, a part of the vector each.
    Ring,
    /// n − 1 exchanges of a part, in step k with the ranks k ahead and k behind.
    Pairwise,
}

/// How an allgather is cut into messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AllgatherChoice {
    /// Bruck's algorithm for little data, a ring for more.
    Automatic,
    /// n − 1 steps round a ring.
    Ring,
    /// ⌈log₂ n⌉ steps, the data doubling (Bruck and others 1997).
    Bruck,
}

/// How an allreduce is cut into messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AllreduceChoice {
    /// Recursive doubling for short vectors, reduce-scatter and allgather for others.
    Automatic,
    /// log₂ n exchanges of the whole vector.
    RecursiveDoubling,
    /// 2 (n − 1) steps round a ring, a part of the vector each.
    Ring,
    /// Recursive halving, then recursive doubling, of parts of the vector (Rabenseifner).
    ReduceScatterAllgather,
    /// Round rings in nodes of `node` ranks and between them: a reduce-scatter in each node, an allreduce of each part among the ranks
    /// of the same place in all nodes, and an allgather in each node. `ring` if those that do it do not fill nodes evenly, one node behind
    /// the other: if they are no whole number of nodes, say, or a group in which ranks of a node do not follow each other.
    Nodes,
}

/// [`Mpi`] in bytes and ps.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    eager: u64,
    control: u64,
    overhead: u64,
    delay: u64,
    copy: Option<Rate>,
    barrier: Option<Time>,
    broadcast: Broadcast,
    reduce: Reduce,
    allreduce: AllreduceChoice,
    allreduce_short: u64,
    node: u32,
    reduce_scatter: ReduceScatterChoice,
    reduce_scatter_short: u64,
    allgather: AllgatherChoice,
    allgather_short: u64,
    alltoall: Alltoall,
}

impl Costs {
    /// The costs of a job: what is not said costs nothing, and all messages are eager.
    pub fn new(mpi: &Mpi, scale: &Scale) -> Self {
        let ps = |time: Option<Duration>| time.map_or(0, |time| time.time(scale).0);
        Self {
            eager: mpi.eager.map_or(u64::MAX, |size| scale.bytes(size)),
            control: scale.bytes(mpi.control),
            overhead: ps(mpi.overhead),
            delay: ps(mpi.delay),
            copy: mpi.copy,
            barrier: mpi.barrier.map(|time| Time(time.time(scale).0.max(1))),
            broadcast: mpi.broadcast,
            reduce: mpi.reduce,
            allreduce: mpi.allreduce,
            allreduce_short: scale.bytes(mpi.allreduce_short),
            node: mpi.node.get(),
            reduce_scatter: mpi.reduce_scatter,
            reduce_scatter_short: scale.bytes(mpi.reduce_scatter_short),
            allgather: mpi.allgather,
            allgather_short: scale.bytes(mpi.allgather_short),
            alltoall: mpi.alltoall,
        }
    }

    /// The same for a group whose ranks are numbered by their places in it: they are these of the job, in their order in it.
    pub fn among(&self, ranks: impl Iterator<Item = u32>) -> Self {
        if self.allreduce != AllreduceChoice::Nodes {
            return *self;
        }
        match collective::of_each_node(ranks, self.node) {
            Some(each) => Self { node: each, ..*self },
            None => Self { allreduce: AllreduceChoice::Ring, ..*self },
        }
    }

    /// How a reduce-scatter of vectors of this many bytes is done.
    fn reduce_scatter(&self, bytes: u64) -> ReduceScatter {
        match self.reduce_scatter {
            ReduceScatterChoice::Automatic if bytes <= self.reduce_scatter_short => ReduceScatter::Halving,
            ReduceScatterChoice::Automatic | ReduceScatterChoice::Pairwise => ReduceScatter::Pairwise,
            ReduceScatterChoice::Halving => ReduceScatter::Halving,
            ReduceScatterChoice::Ring => ReduceScatter::Ring,
        }
    }

    /// How an allgather of this many bytes in all is done.
    fn allgather(&self, bytes: u64) -> Allgather {
        match self.allgather {
            AllgatherChoice::Automatic if bytes <= self.allgather_short => Allgather::Bruck,
            AllgatherChoice::Automatic | AllgatherChoice::Ring => Allgather::Ring,
            AllgatherChoice::Bruck => Allgather::Bruck,
        }
    }

    /// How an allreduce of this many bytes is done.
    fn allreduce(&self, bytes: u64) -> Allreduce {
        match self.allreduce {
            AllreduceChoice::Automatic if bytes <= self.allreduce_short => Allreduce::RecursiveDoubling,
            AllreduceChoice::Automatic => Allreduce::ReduceScatterAllgather,
            AllreduceChoice::RecursiveDoubling => Allreduce::RecursiveDoubling,
            AllreduceChoice::Ring => Allreduce::Ring,
            AllreduceChoice::ReduceScatterAllgather => Allreduce::ReduceScatterAllgather,
            AllreduceChoice::Nodes => Allreduce::Nodes(self.node),
        }
    }
}

/// An operation of a rank. Non-blocking ones name a request, a number of the script's choice that is free again when it has
/// been waited for. Tags are at most [`TAG_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of MPI's calls")]
pub enum Op {
    /// Computes for some ps.
    Compute(u64),
    /// Sends, and waits until the last flit has left.
    Send { to: u32, bytes: u64, tag: u16 },
    /// Receives, and waits until the message is there.
    Receive { from: u32, tag: u16 },
    /// Sends to one rank, receives from another, and waits for both.
    Exchange { to: u32, bytes: u64, from: u32, tag: u16 },
    /// Sends.
    Isend { to: u32, bytes: u64, tag: u16, request: u32 },
    /// Receives.
    Irecv { from: u32, tag: u16, request: u32 },
    /// Waits for some requests.
    Wait { first: u32, count: u32 },
    /// An operation of all ranks, or of those of a group.
    Collective(Call),
}

/// What the ranks of an MPI program do.
pub trait Script: Send + Sync + Debug {
    /// Adds the operations of a section of a rank, counted from 0; returns false if there is no such section. A section may
    /// be empty.
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool;

    /// Sections of an iteration; the last one may be shorter.
    fn iteration(&self) -> u64 {
        1
    }

    /// The groups of ranks that a rank is in, by their numbers ([`Call::group`]), from 1 on. Two ranks that share several begin the
    /// operations of these in the same order, as MPI demands.
    fn groups(&self, _rank: u32) -> Vec<Group> {
        Vec::new()
    }
}

/// A script with its ranks and costs.
#[derive(Debug)]
struct Program<S> {
    script: Arc<S>,
    ranks: u32,
    costs: Costs,
    notes: Vec<String>,
}

/// CODES's rate of a copy, and the longest messages that a library may well copy, in bytes.
const COPY: Rate = Rate(14_500_000_000);
const COPIED_MAX: u64 = 64 << 10;

impl<S: Script + 'static> Application for Program<S> {
    fn rank(&self, number: u32) -> Box<dyn Rank> {
        Box::new(process::Process::new(self.script.clone(), number, self.ranks, self.costs))
    }

    fn barrier(&self) -> Option<Time> {
        self.costs.barrier
    }

    fn carries_data(&self, tag: u32) -> bool {
        carries_data(tag)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// The application of a script.
pub fn program<S: Script + 'static>(script: S, setting: &super::Setting) -> Box<dyn Application> {
    let costs = Costs::new(setting.mpi, setting.scale);
    let copied = costs.eager > COPIED_MAX && costs.copy == Some(COPY);
    let note = format!(
        "eager messages are copied at 14.5 Gb/s before they are sent, here up to {} B: for RDMA, which copies nothing, mpi.copy = \"1000 Tb/s\"",
        costs.eager.saturating_sub(1)
    );
    let notes = copied.then_some(note).into_iter().collect();
    Box::new(Program { script: Arc::new(script), ranks: setting.ranks, costs, notes })
}
