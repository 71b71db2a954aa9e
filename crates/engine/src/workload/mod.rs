//! The workload seam: applications that drive endpoints by messages. One kind a file; the list of kinds is [`Workload`].
//!
//! A job ([`job::Job`]) is a workload placed on endpoints. Bound to its number of ranks, a workload becomes an
//! [`Application`], immutable and shared; every rank of it is a small state machine ([`Rank`]) that lives with its
//! endpoint's partition ([`host::Hosts`]). Ranks know of each other by the messages they send, and by out-of-band barriers
//! whose latency bounds the kernel's windows: nothing else crosses from one to another, so any partitioning gives the same
//! run. Open-loop traffic stands beside ([`crate::traffic`]).
use crate::problem::Problem;
use crate::units::{Scale, Size, Time};
use std::fmt::Debug;

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
pub mod bind;
mod broadcast;
pub mod chakra;
mod connection_matrix;
mod fixed_pairs;
mod flow_list;
pub mod goal;
mod grid;
mod halo3d26;
pub mod host;
mod incast;
pub mod job;
mod lammps;
pub mod ledger;
mod milc;
pub mod mpi;
pub mod outcome;
pub(crate) mod parts;
mod periodic_aggressor;
pub mod phases;
pub mod placement;
mod random;
pub(crate) mod recorded;
mod reduce;
mod reduce_scatter;
mod ring_exchange;
mod sweep3d;
mod training;
pub mod vef;

use host::Agenda;
use ledger::Ledger;
use mpi::{Call, Costs, Group};

/// What a workload is bound to.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Ranks of the job.
    pub ranks: u32,
    /// What sizes and cycles are measured by.
    pub scale: &'a Scale,
    /// How its ranks pass messages.
    pub mpi: &'a mpi::Mpi,
    /// Seed of the run; random choices are keyed by it, the job's name and the rank.
    pub seed: u64,
    /// Name of the job.
    pub name: &'a str,
    /// Bytes that the run may hold, if it has a limit.
    pub memory: Option<u64>,
}

impl Setting<'_> {
    /// The bytes of the parameter `message`.
    ///
    /// # Errors
    ///
    /// If no message is as long.
    fn message(&self, message: Size) -> Result<u64, Vec<Problem>> {
        let bytes = self.scale.bytes(message);
        self.sendable("message", bytes).map(|()| bytes)
    }

    /// Whether a message of so many bytes can be sent; if not, it is a mistake at `path`.
    fn sendable(&self, path: &str, bytes: u64) -> Result<(), Vec<Problem>> {
        let refused = host::too_long(bytes, self.scale);
        refused.map_or(Ok(()), |why| Err(vec![Problem::new(path, why, host::SHORTER)]))
    }

    /// The same of the messages that a collective operation of a group of ranks is made of, whose size is given at `path`.
    fn collective(&self, path: &str, call: Call, group: Group) -> Result<(), Vec<Problem>> {
        self.sendable(path, group.longest(call, &Costs::new(self.mpi, self.scale)))
    }
}

/// What every workload provides.
pub trait Bind {
    /// The number of ranks that the parameters themselves give, if they do; or why nobody can tell, since a trace could not be
    /// read.
    fn ranks(&self) -> Result<Option<u32>, Vec<Problem>> {
        Ok(None)
    }

    /// Whether its ranks have the costs of an MPI library unless the scenario gives others.
    fn has_mpi(&self) -> bool {
        true
    }

    /// Whether its ranks compute, and so may be slow.
    fn computes(&self) -> bool {
        self.has_mpi()
    }

    /// Whether it is phases of flows, which the fluid model has.
    fn is_phases(&self) -> bool {
        false
    }

    /// Binds the workload, or tells what is wrong; paths are relative to the job's table, such as `iterations`.
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>>;
}

/// A workload bound to its ranks. Immutable and shared by all partitions.
pub trait Application: Send + Sync + Debug {
    /// The rank of this number, not yet started.
    fn rank(&self, number: u32) -> Box<dyn Rank>;

    /// From the last rank's coming to an out-of-band barrier to all ranks' leaving it; none if there are no such barriers.
    /// Over 0.
    fn barrier(&self) -> Option<Time> {
        None
    }

    /// Bytes held by a trace and what was made of it, or by the like. What ranks hold is not among them.
    fn memory(&self) -> u64 {
        0
    }

    /// Whether a message of this tag carries data, and not a question or an answer of the software alone.
    fn carries_data(&self, _tag: u32) -> bool {
        true
    }

    /// When the last of what starts at a time of its own does, from the start of the job.
    fn last_start(&self) -> Time {
        Time(0)
    }

    /// What a user has to know of the workload's own gaps, as warnings of the results.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// The flows of its phases, if it has phases. The tag of a message is then the number of its phase.
    fn flows(&self) -> Option<&phases::Schedule> {
        None
    }
}

/// One rank: a state machine that is told what happens at its endpoint and answers by [`Actions`].
pub trait Rank: Send {
    /// The job starts.
    fn on_start(&mut self, act: &mut Actions);
    /// The last flit of a message to rank `to` has left the endpoint.
    fn on_injected(&mut self, _to: u32, _tag: u32, _act: &mut Actions) {}
    /// A message of rank `from` has arrived whole.
    fn on_delivered(&mut self, from: u32, tag: u32, act: &mut Actions);
    /// The time of [`Actions::timer`] has come.
    fn on_timer(&mut self, _key: u32, _act: &mut Actions) {}
    /// All ranks of the job have come to the barrier ([`Actions::barrier`]), and its latency has passed.
    fn on_barrier(&mut self, _act: &mut Actions) {}
    /// When it came to its end, if it has.
    fn end(&self) -> Option<Time>;
    /// Time in ps until `now` that it has spent in communication it is in the middle of, which nobody has counted yet; below 0 if its
    /// clock is ahead, so that time to come has been counted.
    fn uncounted(&self, _now: Time) -> i64 {
        0
    }
    /// At its end: messages that it never received, and its sends and receives that are not complete.
    fn unmatched(&self) -> (usize, usize) {
        (0, 0)
    }
    /// Bytes held.
    fn memory(&self) -> u64 {
        0
    }
    /// What it waits for, for a person.
    fn waits_for(&self) -> String;
}

/// What a rank may do while it is told something.
pub struct Actions<'a> {
    /// The present time.
    pub now: Time,
    /// The rank, by its number in the partition.
    slot: u32,
    /// How many times as long as others it takes to compute.
    slowness: f64,
    agenda: &'a mut Agenda,
    /// Where its operations are counted.
    pub ledger: &'a mut Ledger,
}

impl Actions<'_> {
    /// How long the rank computes what takes others a time, in picoseconds.
    pub fn computes(&self, time: u64) -> u64 {
        if self.slowness > 1.0 { libm::round(time as f64 * self.slowness) as u64 } else { time }
    }

    /// Sends `bytes` with a tag to a rank of the same job at a time, which must not have passed. No bytes take one flit.
    pub fn send(&mut self, at: Time, to: u32, bytes: u64, tag: u32) {
        self.agenda.add(at, self.slot, host::What::Send { to, bytes, tag });
    }

    /// Asks to be told when a time has come.
    pub fn timer(&mut self, at: Time, key: u32) {
        self.agenda.add(at, self.slot, host::What::Timer(key));
    }

    /// Comes to a barrier at a time that is not past. It is out of band: no packets, but a latency that the application
    /// states ([`Application::barrier`]).
    pub fn barrier(&mut self, at: Time) {
        self.ledger.entered += 1;
        self.ledger.last_entry = self.ledger.last_entry.max(at.0);
    }
}

/// Most of what a rank waits for that a message tells.
const TOLD_MAX: usize = 4;

/// The first few of some things, and how many more there are, for a person.
fn first_few(all: impl Iterator<Item = String>) -> String {
    let mut all = all;
    let mut told: Vec<String> = all.by_ref().take(TOLD_MAX).collect();
    let more = all.count();
    told.extend((more > 0).then(|| format!("and {more} more")));
    told.join("; ")
}

/// What is wrong at a place of a file's contents, which stand under `key`: it is told of the file, if it has a name.
pub(crate) fn in_file(path: &str, key: &str, place: &str, message: &str, help: &str) -> Problem {
    let parts: Vec<&str> = [path, place].into_iter().filter(|part| !part.is_empty()).collect();
    let message = if parts.is_empty() { message.into() } else { format!("{}: {message}", parts.join(", ")) };
    Problem::new(if path.is_empty() { key } else { "path" }, message, help)
}

crate::kinds::kinds! {
    /// `workload = …` of a `[[job]]` table: what its ranks do. The list of kinds, one line each.
    pub enum Workload by "workload" {
        Lammps(lammps::Lammps) = "lammps",
        Milc(milc::Milc) = "milc",
        Incast(incast::Incast) = "incast",
        FixedPairs(fixed_pairs::FixedPairs) = "fixed-pairs",
        PeriodicAggressor(periodic_aggressor::PeriodicAggressor) = "periodic-aggressor",
        Halo3d26(halo3d26::Halo3d26) = "halo3d26",
        Alltoall(alltoall::Alltoall) = "alltoall",
        Allreduce(allreduce::Allreduce) = "allreduce",
        Broadcast(broadcast::Broadcast) = "broadcast",
        Reduce(reduce::Reduce) = "reduce",
        Barrier(barrier::Barrier) = "barrier",
        ReduceScatter(reduce_scatter::ReduceScatter) = "reduce-scatter",
        Allgather(allgather::Allgather) = "allgather",
        RingExchange(ring_exchange::RingExchange) = "ring-exchange",
        Sweep3d(sweep3d::Sweep3d) = "sweep3d",
        Training(training::Training) = "training",
        Random(random::Random) = "random",
        Phases(phases::Phases) = "phases",
        Goal(goal::Goal) = "goal",
        Vef(vef::Vef) = "vef",
        Chakra(chakra::Chakra) = "chakra",
        ConnectionMatrix(connection_matrix::ConnectionMatrix) = "connection-matrix",
        FlowList(flow_list::FlowList) = "flow-list",
    }
    /// What the workload provides, whichever kind it is.
    pub fn bound -> dyn Bind;
}
