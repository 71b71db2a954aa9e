//! Combined input/output-queued switch.
mod cells;
mod crossbar;
mod output;
pub mod state;

use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Combined input/output-queued: virtual output queues at the inputs, a crossbar with speedup, bounded output queues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cioq {
    /// Crossbar speedup over the channels.
    #[schemars(range(min = 1, max = 1000))]
    pub speedup: u32,
    /// Input buffer: "credit round trip", a size per virtual channel, or a table `{ per = "vc", size = … }` or
    /// `{ per = "port", size = … }`.
    pub input_buffer: Buffer,
    /// Output queue of a virtual channel.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub output_buffer: Size,
    /// Virtual output queues: true, false, or a list of the traffic classes of the protocol that have them.
    pub voq: Voq,
    /// How equals are chosen.
    pub arbitration: Arbitration,
    /// Latency from the arrival of a head to its first arbitration.
    pub pipeline: Duration,
}

impl Default for Cioq {
    fn default() -> Self {
        Self {
            speedup: 2,
            input_buffer: Buffer::RoundTrip,
            output_buffer: Size::Packets(16),
            voq: Voq::All(true),
            arbitration: Arbitration::RoundRobin,
            pipeline: Duration::Ps(0),
        }
    }
}

/// Size of an input buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "BufferText", into = "BufferText")]
pub enum Buffer {
    /// "credit round trip", per virtual channel: 2·(latency + flit time + pipeline)/flit time + 2 largest packets.
    RoundTrip,
    /// Per virtual channel.
    PerVc(Size),
    /// Per port, divided evenly among the virtual channels in use.
    PerPort(Size),
}

/// A [`Buffer`] as it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
enum BufferText {
    /// Per virtual channel: 2·(latency + flit time + pipeline)/flit time + 2 largest packets.
    #[serde(rename = "credit round trip")]
    RoundTrip,
    #[serde(untagged)]
    Size(Size),
    #[serde(untagged)]
    Table(BufferTable),
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BufferTable {
    /// What has a buffer of this size.
    per: BufferOwner,
    /// Its size.
    #[schemars(extend("exclusiveMinimum" = 0))]
    size: Size,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BufferOwner {
    /// Each virtual channel.
    Vc,
    /// The port, divided evenly among the virtual channels in use.
    Port,
}

impl From<BufferText> for Buffer {
    fn from(text: BufferText) -> Self {
        match text {
            BufferText::RoundTrip => Buffer::RoundTrip,
            BufferText::Size(size) => Buffer::PerVc(size),
            BufferText::Table(BufferTable { per: BufferOwner::Vc, size }) => Buffer::PerVc(size),
            BufferText::Table(BufferTable { per: BufferOwner::Port, size }) => Buffer::PerPort(size),
        }
    }
}

impl From<Buffer> for BufferText {
    fn from(buffer: Buffer) -> Self {
        match buffer {
            Buffer::RoundTrip => BufferText::RoundTrip,
            Buffer::PerVc(size) => BufferText::Size(size),
            Buffer::PerPort(size) => BufferText::Table(BufferTable { per: BufferOwner::Port, size }),
        }
    }
}

/// Which traffic classes have virtual output queues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Voq {
    /// All, or none.
    All(bool),
    /// Those named ("data", "speculative", …); the others wait in one queue per virtual channel.
    Classes(Vec<String>),
}

/// Arbitration among candidates of equal priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Round robin.
    RoundRobin,
    /// First come, first served by arrival at the switch.
    Age,
    /// At random.
    Random,
}
