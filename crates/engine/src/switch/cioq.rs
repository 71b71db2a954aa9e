//! Combined input/output-queued switch.
use crate::units::{Duration, Size};

/// Combined input/output-queued: virtual output queues at the inputs, a crossbar with speedup, bounded output queues.
#[derive(Debug, Clone)]
pub struct Cioq {
    /// Crossbar speedup over the channels: a number of at least 1 (default 2). `"infinite"` is refused by this kind.
    pub speedup: u32,
    /// Input buffer: "credit round trip" (default), a size, or `{ per = "vc" | "port", size = … }`.
    pub input_buffer: Buffer,
    /// Output queue of a virtual channel (default "16 packets").
    pub output_buffer: Size,
    /// Virtual output queues: true (default), false, or a list of the traffic classes that have them.
    pub voq: Voq,
    /// How equals are chosen: "round-robin" (default), "age", "random".
    pub arbitration: Arbitration,
    /// Latency from the arrival of a head to its first arbitration (default 0).
    pub pipeline: Duration,
}

/// Size of an input buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buffer {
    /// "credit round trip", per virtual channel: 2·(latency + flit time + pipeline)/flit time + 2 largest packets.
    RoundTrip,
    /// Per virtual channel.
    PerVc(Size),
    /// Per port, divided evenly among the virtual channels in use.
    PerPort(Size),
}

/// Which traffic classes have virtual output queues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Voq {
    /// All, or none.
    All(bool),
    /// Those named ("data", "speculative", …); the others wait in one queue per virtual channel.
    Classes(Vec<String>),
}

/// Arbitration among candidates of equal priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arbitration {
    /// Round robin.
    RoundRobin,
    /// First come, first served by arrival at the switch.
    Age,
    /// At random.
    Random,
}
