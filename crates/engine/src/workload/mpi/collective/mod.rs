//! Operations of all ranks of a job, cut into messages. One algorithm a file.
//!
//! An algorithm is a function from (rank, ranks, step) to what the rank sends and receives in that step: it keeps no state,
//! so that a rank in the middle of an operation costs nothing. Data is told in *units*, equal parts of a vector: the engine
//! needs their number of bytes, the tests move real values by them.
use super::Costs;
use crate::workload::ledger::Activity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod allgather;
mod allreduce_halving;
mod allreduce_nodes;
mod allreduce_ring;
mod alltoall;
mod barrier;
mod broadcast_scatter;
mod doubling;
mod reduce_gather;
mod reduce_scatter;
#[cfg(test)]
mod semantics;
mod tree;

pub use allreduce_nodes::of_each_node;

/// An operation of all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Nobody goes on before all have come.
    Barrier,
    /// The root's data to all.
    Broadcast,
    /// The sum of all data to the root.
    Reduce,
    /// The sum of all data to all.
    Allreduce,
    /// Of the sum of all data, to every rank a part.
    ReduceScatter,
    /// Every rank's data to all.
    Allgather,
    /// Of every rank, data for every rank.
    Alltoall,
}

/// A collective operation as a program calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Which.
    pub operation: Operation,
    /// The root of a broadcast or a reduction, by its place in the group.
    pub root: u32,
    /// Bytes of a rank's vector; of an all-to-all, those for each other rank.
    pub bytes: u64,
    /// Number of the group of ranks that do it together, among those that a rank is in; 0: all ranks.
    pub group: u8,
}

impl Call {
    /// An operation of all ranks, without a root.
    pub fn new(operation: Operation, bytes: u64) -> Self {
        Self { operation, root: 0, bytes, group: 0 }
    }

    /// The same in a group of this number.
    pub fn among(self, group: u8) -> Self {
        Self { group, ..self }
    }

    /// A barrier.
    pub fn barrier() -> Self {
        Self::new(Operation::Barrier, 0)
    }

    /// An allreduce.
    pub fn allreduce(bytes: u64) -> Self {
        Self::new(Operation::Allreduce, bytes)
    }

    /// What it is counted as.
    pub fn kind(&self) -> Activity {
        match self.operation {
            Operation::Barrier => Activity::Barrier,
            Operation::Broadcast => Activity::Broadcast,
            Operation::Reduce => Activity::Reduce,
            Operation::Allreduce => Activity::Allreduce,
            Operation::ReduceScatter => Activity::ReduceScatter,
            Operation::Allgather => Activity::Allgather,
            Operation::Alltoall => Activity::Alltoall,
        }
    }
}

/// How an allreduce is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allreduce {
    /// Recursive doubling.
    RecursiveDoubling,
    /// Round a ring.
    Ring,
    /// Recursive halving, then doubling.
    ReduceScatterAllgather,
    /// Round rings in nodes of so many ranks of the job, and between them.
    Nodes(u32),
}

/// How a reduce-scatter is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReduceScatter {
    /// Recursive halving.
    Halving,
    /// Round a ring.
    Ring,
    /// An exchange with every other rank.
    Pairwise,
}

/// How an allgather is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allgather {
    /// Round a ring.
    Ring,
    /// The data doubling.
    Bruck,
}

/// How a broadcast is cut into messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Broadcast {
    /// All data down a binomial tree, whatever their size.
    Binomial,
    /// A part to each rank down a binomial tree, then n − 1 steps round a ring. MPICH does it with long data (512 KiB or more).
    ScatterAllgather,
}

/// How a reduction to one rank is cut into messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// Whole vectors up a binomial tree, whatever their size.
    Binomial,
    /// Recursive halving, then the parts of the sum up a binomial tree (Rabenseifner). MPICH does it with vectors over 2 KiB.
    ReduceScatterGather,
}

/// How an all-to-all is cut into messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Alltoall {
    /// n − 1 exchanges, in step k with the ranks k ahead and k behind.
    Pairwise,
    /// All at once: a receive and a send by turns, in the same order.
    AtOnce,
}

/// Units to or from a rank: `count` of them from `first` on, cyclically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The other rank.
    pub peer: u32,
    /// First unit.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// What a rank does in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Number of the exchange, the same at both ends.
    pub round: u16,
    /// What it sends.
    pub send: Option<Part>,
    /// What it receives.
    pub receive: Option<Part>,
    /// What is received is added to what is there; else it takes its place.
    pub adds: bool,
    /// Whether all messages so far must be complete before the next step.
    pub waits: bool,
}

impl Step {
    fn new(round: u32, send: Option<Part>, receive: Option<Part>) -> Self {
        Self { round: round as u16, send, receive, adds: false, waits: true }
    }

    fn adding(self) -> Self {
        Self { adds: true, ..self }
    }

    /// The same of which the ranks, so many, were counted from one of them on.
    fn counted_from(self, first: u32, ranks: u32) -> Self {
        let told = |part: Part| Part { peer: (part.peer + first) % ranks, ..part };
        Self { send: self.send.map(told), receive: self.receive.map(told), ..self }
    }
}

/// Ranks that do operations together: every `stride`-th, from `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    first: u32,
    stride: u32,
    size: u32,
}

impl Group {
    /// All of so many ranks.
    pub fn whole(ranks: u32) -> Self {
        Self { first: 0, stride: 1, size: ranks }
    }

    /// The group of a rank, if all ranks are in groups of `size`, of every `stride`-th rank, that fill them in order.
    pub fn around(rank: u32, size: u32, stride: u32) -> Self {
        Self { first: rank - rank % (size * stride) + rank % stride, stride, size }
    }

    /// Whether a rank is in it.
    pub fn contains(&self, rank: u32) -> bool {
        let place = |distance: u32| distance.is_multiple_of(self.stride).then(|| distance / self.stride);
        rank.checked_sub(self.first).and_then(place).is_some_and(|place| place < self.size)
    }

    /// Bytes of the longest message of a call of its ranks; where parts of a vector differ by a byte, of about the longest.
    pub fn longest(&self, call: Call, costs: &Costs) -> u64 {
        let ends = [0, self.size - 1].map(|place| Plan::new(call, self.rank(place), *self, costs));
        ends.iter().map(Plan::longest).max().unwrap_or(0)
    }

    /// The rank at a place.
    fn rank(&self, place: u32) -> u32 {
        self.first + place * self.stride
    }

    /// The place of a rank that is in it.
    fn place(&self, rank: u32) -> u32 {
        (rank - self.first) / self.stride
    }
}

/// Who a rank is in its group.
#[derive(Debug, Clone, Copy)]
struct Me {
    rank: u32,
    ranks: u32,
}

impl Me {
    /// The rank `distance` ahead.
    fn ahead(&self, distance: u32) -> u32 {
        (self.rank + distance) % self.ranks
    }

    /// The same if ranks are counted from one of them on.
    fn counted_from(&self, first: u32) -> Self {
        Self { rank: self.behind(first), ranks: self.ranks }
    }

    /// The rank `distance` behind, at most all of them.
    fn behind(&self, distance: u32) -> u32 {
        (self.rank + self.ranks - distance) % self.ranks
    }
}

/// How an operation is done.
#[derive(Debug, Clone, Copy)]
enum Algorithm {
    Dissemination,
    TreeDown,
    ScatterRing,
    TreeUp,
    HalvesUp,
    Doubling,
    ReduceRing,
    ReduceNodes(u32),
    Halving,
    Scatter(ReduceScatter),
    GatherRing,
    Bruck,
    Exchange(Alltoall),
}

/// A collective operation of a rank.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    algorithm: Algorithm,
    me: Me,
    group: Group,
    root: u32,
    bytes: u64,
    /// Parts of the vector; every part of an allgather or an all-to-all has `bytes`, those of others share them.
    units: u32,
}

impl Plan {
    /// The plan of a rank for a call in its group.
    pub fn new(call: Call, rank: u32, group: Group, costs: &Costs) -> Self {
        let ranks = group.size;
        let halves = 1 << ranks.ilog2();
        let (algorithm, units) = match call.operation {
            Operation::Barrier => (Algorithm::Dissemination, 1),
            Operation::Broadcast => match costs.broadcast {
                Broadcast::Binomial => (Algorithm::TreeDown, 1),
                Broadcast::ScatterAllgather => (Algorithm::ScatterRing, ranks),
            },
            Operation::Reduce => match costs.reduce {
                Reduce::Binomial => (Algorithm::TreeUp, 1),
                Reduce::ReduceScatterGather => (Algorithm::HalvesUp, halves),
            },
            Operation::Allreduce => match costs.allreduce(call.bytes) {
                Allreduce::RecursiveDoubling => (Algorithm::Doubling, 1),
                Allreduce::Nodes(node) => match of_each_node((0..ranks).map(|place| group.rank(place)), node)
                {
                    Some(each) => (Algorithm::ReduceNodes(each), ranks),
                    None => (Algorithm::ReduceRing, ranks),
                },
                Allreduce::Ring => (Algorithm::ReduceRing, ranks),
                Allreduce::ReduceScatterAllgather => (Algorithm::Halving, halves),
            },
            Operation::ReduceScatter => (Algorithm::Scatter(costs.reduce_scatter(call.bytes)), ranks),
            Operation::Allgather => match costs.allgather(call.bytes.saturating_mul(ranks.into())) {
                Allgather::Ring => (Algorithm::GatherRing, ranks),
                Allgather::Bruck => (Algorithm::Bruck, ranks),
            },
            Operation::Alltoall => (Algorithm::Exchange(costs.alltoall), ranks),
        };
        let me = Me { rank: group.place(rank), ranks };
        Self { algorithm, me, group, root: call.root, bytes: call.bytes, units }
    }

    /// Messages of all ranks of the group together.
    pub fn messages(&self) -> u64 {
        let ranks = u64::from(self.me.ranks);
        let rounds = u64::from(ranks.next_power_of_two().ilog2());
        // Of recursive doubling: those that take part, and in how many rounds; each of the others sends its data and is told.
        let (core, halves) = (1 << ranks.ilog2(), u64::from(ranks.ilog2()));
        let folded = 2 * (ranks - core);
        match self.algorithm {
            Algorithm::Dissemination | Algorithm::Bruck => ranks * rounds,
            Algorithm::TreeDown | Algorithm::TreeUp => ranks - 1,
            Algorithm::ScatterRing => (ranks + 1) * (ranks - 1),
            Algorithm::HalvesUp => core * halves + ranks - 1,
            Algorithm::Doubling | Algorithm::Scatter(ReduceScatter::Halving) => core * halves + folded,
            Algorithm::Halving => 2 * core * halves + folded,
            Algorithm::ReduceRing => 2 * ranks * (ranks - 1),
            Algorithm::ReduceNodes(node) => {
                let node = u64::from(node);
                2 * ranks * (node - 1 + ranks / node - 1)
            }
            Algorithm::Scatter(_) | Algorithm::GatherRing | Algorithm::Exchange(_) => ranks * (ranks - 1),
        }
    }

    /// Bytes of the longest message that the rank sends.
    fn longest(&self) -> u64 {
        let steps = (0..).map_while(|number| self.step(number));
        steps.filter_map(|step| step.send).map(|part| self.bytes(&part)).max().unwrap_or(0)
    }

    /// What is done in a step; none after the last.
    pub fn step(&self, number: u32) -> Option<Step> {
        if self.me.ranks == 1 {
            return None;
        }
        let step = match self.algorithm {
            Algorithm::Dissemination => barrier::step(self.me, number),
            Algorithm::TreeDown => tree::down(self.me, self.root, number),
            Algorithm::ScatterRing => broadcast_scatter::step(self.me, self.root, number),
            Algorithm::TreeUp => tree::up(self.me, self.root, number),
            Algorithm::HalvesUp => reduce_gather::step(self.me, self.root, number),
            Algorithm::Doubling => doubling::step(self.me, number),
            Algorithm::ReduceRing => allreduce_ring::step(self.me, number),
            Algorithm::ReduceNodes(node) => allreduce_nodes::step(self.me, node, number),
            Algorithm::Halving => allreduce_halving::step(self.me, number),
            Algorithm::Scatter(ReduceScatter::Halving) => reduce_scatter::halving(self.me, number),
            Algorithm::Scatter(ReduceScatter::Ring) => reduce_scatter::ring(self.me, number),
            Algorithm::Scatter(ReduceScatter::Pairwise) => reduce_scatter::pairwise(self.me, number),
            Algorithm::GatherRing => allgather::ring(self.me, number),
            Algorithm::Bruck => allgather::bruck(self.me, number),
            Algorithm::Exchange(how) => alltoall::step(self.me, how, number),
        }?;
        let with = |part: Part| Part { peer: self.group.rank(part.peer), ..part };
        Some(Step { send: step.send.map(with), receive: step.receive.map(with), ..step })
    }

    /// Bytes of a part. Units that share a vector differ by a byte at most.
    pub fn bytes(&self, part: &Part) -> u64 {
        if matches!(self.algorithm, Algorithm::GatherRing | Algorithm::Bruck | Algorithm::Exchange(_)) {
            return self.bytes.saturating_mul(part.count.into());
        }
        let before = |unit: u32| (u128::from(self.bytes) * u128::from(unit) / u128::from(self.units)) as u64;
        let end = part.first + part.count;
        let wrapped = if end > self.units { before(end - self.units) } else { 0 };
        before(end.min(self.units)) - before(part.first) + wrapped
    }
}
