//! The kernel: partitions of the network, each run for one lookahead window at a time.
//!
//! Determinism is structural. Within a tick every change is local to one port or endpoint, or commutes with the others;
//! routing reads the state as of the beginning of the tick; what depends on order is sorted by port. So any order of
//! the events inside a tick, any partitioning and any number of threads give the same result.
mod accounts;
pub mod ahead;
mod arrivals;
mod border;
pub mod build;
pub mod channel;
pub mod circuits;
mod control;
pub mod credits;
pub mod cut;
pub mod fabric;
pub mod flow;
mod ground;
mod interleave;
pub mod kernel;
mod limits;
pub mod line;
mod links;
mod memory;
pub mod packet;
pub mod partition;
mod pauses;
pub mod plan;
pub mod post;
pub mod shares;
pub mod slow;
mod space;
pub mod stall;
pub mod table;
pub mod trace;
pub mod trees;
pub mod wheel;
mod wiring;

/// Simulated time in ticks of the run ([`plan::Plan::tick`] picoseconds each).
pub type Tick = u64;

/// Never.
pub const NEVER: Tick = Tick::MAX;
