//! What is counted of a job: its operations, its ranks, its messages. Whole numbers only, so that the sums do not depend
//! on the partitioning.
use crate::units::Time;

/// Kinds of operations that are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Activity {
    /// Computing; not part of the communication time.
    Compute,
    /// Blocking send.
    Send,
    /// Blocking receive.
    Receive,
    /// Sending and receiving at once, blocking.
    Exchange,
    /// Non-blocking send.
    Isend,
    /// Non-blocking receive.
    Irecv,
    /// Waiting for some or all non-blocking operations.
    Wait,
    /// Barrier.
    Barrier,
    /// Broadcast.
    Broadcast,
    /// Reduction to one rank.
    Reduce,
    /// Reduction to all ranks.
    Allreduce,
    /// Reduction, of which each rank gets a part.
    ReduceScatter,
    /// Every rank's data to all ranks.
    Allgather,
    /// Data of every rank for every rank.
    Alltoall,
}

/// All kinds with their names in results.
pub const KINDS: [(Activity, &str); 14] = [
    (Activity::Compute, "compute"),
    (Activity::Send, "send"),
    (Activity::Receive, "receive"),
    (Activity::Exchange, "exchange"),
    (Activity::Isend, "isend"),
    (Activity::Irecv, "irecv"),
    (Activity::Wait, "wait"),
    (Activity::Barrier, "barrier"),
    (Activity::Broadcast, "broadcast"),
    (Activity::Reduce, "reduce"),
    (Activity::Allreduce, "allreduce"),
    (Activity::ReduceScatter, "reduce-scatter"),
    (Activity::Allgather, "allgather"),
    (Activity::Alltoall, "alltoall"),
];

impl Activity {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        KINDS[self as usize].1
    }
}

/// How often an operation was done, and how long it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// How often, by all ranks together.
    pub count: u64,
    /// Time that they took, in ps.
    pub total: u128,
    /// The longest, in ps.
    pub longest: u64,
}

/// Iterations of which it is noted when they were done.
const ITERATIONS_MAX: u64 = 1 << 20;

/// What is counted of a job in a partition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    /// By kind of operation.
    pub operations: [Count; KINDS.len()],
    /// Time the rank now told something spent communicating, in ps.
    pub communicating: u64,
    /// Messages sent.
    pub posted: u64,
    /// Those of them that went to a rank of the same endpoint, and not into the network.
    pub local: u64,
    /// Messages delivered.
    pub delivered: u64,
    /// Bytes of the messages sent.
    pub bytes: u64,
    /// By iteration, of the first [`ITERATIONS_MAX`]: ranks that have done it, and when the last of them had, in ps.
    pub iterations: Vec<(u32, u64)>,
    /// Ranks that are in the barrier.
    pub entered: u32,
    /// When the last of them came to it, in ps.
    pub last_entry: u64,
}

impl Ledger {
    /// An operation ended that took a time.
    pub fn done(&mut self, kind: Activity, time: Time) {
        self.overlapping(kind, time);
        if kind != Activity::Compute {
            self.communicating += time.0;
        }
    }

    /// An operation ended that took a time, in which the rank may have done others too.
    pub fn overlapping(&mut self, kind: Activity, time: Time) {
        let count = &mut self.operations[kind as usize];
        count.count += 1;
        count.total += u128::from(time.0);
        count.longest = count.longest.max(time.0);
    }

    /// A message is sent.
    pub fn sent(&mut self, bytes: u64) {
        self.posted += 1;
        self.bytes += bytes;
    }

    /// A message is handed to a rank of the same endpoint.
    pub fn handed(&mut self, bytes: u64) {
        self.sent(bytes);
        self.local += 1;
    }

    /// A rank has done an iteration, the one after its last, at a time.
    pub fn iterated(&mut self, number: u64, at: Time) {
        if number >= ITERATIONS_MAX {
            return;
        }
        let number = number as usize;
        if number >= self.iterations.len() {
            self.iterations.resize(number + 1, (0, 0));
        }
        let (ranks, last) = &mut self.iterations[number];
        (*ranks, *last) = (*ranks + 1, at.0.max(*last));
    }

    /// Adds what another partition counted.
    pub fn merge(&mut self, other: &Ledger) {
        for (mine, theirs) in self.operations.iter_mut().zip(&other.operations) {
            mine.count += theirs.count;
            mine.total += theirs.total;
            mine.longest = mine.longest.max(theirs.longest);
        }
        let count = self.iterations.len().max(other.iterations.len());
        self.iterations.resize(count, (0, 0));
        for ((ranks, last), (more, at)) in self.iterations.iter_mut().zip(&other.iterations) {
            (*ranks, *last) = (*ranks + more, *at.max(last));
        }
        self.posted += other.posted;
        self.local += other.local;
        self.delivered += other.delivered;
        self.bytes += other.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_in_the_order_of_their_numbers() {
        assert!(KINDS.iter().enumerate().all(|(at, (kind, _))| *kind as usize == at));
    }

    #[test]
    fn computing_is_no_communication() {
        let mut ledger = Ledger::default();
        ledger.done(Activity::Compute, Time(5));
        ledger.done(Activity::Send, Time(3));
        ledger.done(Activity::Send, Time(4));
        assert_eq!(ledger.communicating, 7);
        assert_eq!(ledger.operations[Activity::Send as usize], Count { count: 2, total: 7, longest: 4 });
    }
}
