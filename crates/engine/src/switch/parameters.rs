//! What the kinds of switches have in common: the words of their parameters, and what the engine asks of a kind.
use crate::problem::Problem;
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What every kind of switch tells the engine.
pub trait Kind {
    /// Its parameters, in the words that all kinds share.
    fn parameters(&self) -> Parameters;

    /// Mistakes across its keys.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

/// The parameters of a switch, whichever kind it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// How packets get from inputs to outputs.
    pub fabric: Path,
    /// Input buffer.
    pub input_buffer: Buffer,
    /// Output queue of a virtual channel; none if packets wait at the inputs until their channel is free.
    pub output_buffer: Option<Size>,
    /// How equals are chosen: in turn, the one that came to this switch first (not the one sent first), or one at random.
    pub arbitration: Arbitration,
    /// When a packet that arrives can go on.
    pub forwarding: Forwarding,
    /// Latency from then to its first arbitration.
    pub pipeline: Duration,
}

/// How packets get from inputs to outputs.
#[derive(Debug, Clone, PartialEq)]
pub enum Path {
    /// Over a crossbar: an output receives one packet at a time.
    Crossbar {
        /// Speed of its paths over that of the fastest channel.
        speedup: u32,
        /// Which traffic classes have virtual output queues.
        voq: Voq,
        /// Whether an input sends any number of packets at a time, to as many outputs.
        parallel_reads: bool,
    },
    /// At once, as many as there are.
    Unlimited,
}

impl Parameters {
    /// Speedup of the crossbar; 1 if there is none.
    pub fn speedup(&self) -> u32 {
        match self.fabric {
            Path::Crossbar { speedup, .. } => speedup,
            Path::Unlimited => 1,
        }
    }
}

/// When a packet that arrives can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// As soon as its head is there, but never faster than it comes (virtual cut-through).
    CutThrough,
    /// When all of it is there.
    StoreAndForward,
}

/// Speed of a crossbar's paths over that of the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Speedup {
    /// Packets cross at once, as many as there are, if each output has a queue of its own at the inputs.
    #[serde(rename = "infinite")]
    Infinite,
    /// So many times.
    #[serde(untagged)]
    Times(#[schemars(range(min = 1, max = 1000))] u32),
}

/// Size of an input buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "BufferText", into = "BufferText")]
pub enum Buffer {
    /// "credit round trip", per virtual channel: 2·(latency + flit time + pipeline)/flit time + 2 largest packets, and one more where
    /// they are stored and forwarded.
    RoundTrip,
    /// Per virtual channel.
    PerVc(Size),
    /// Per port, divided evenly among the virtual channels in use.
    PerPort(Size),
    /// Per port, shared: each virtual channel in use has room for one packet of its own, which keeps routes free of
    /// deadlock; the rest goes to whoever comes.
    Shared(Size),
}

/// A [`Buffer`] as it is written.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
enum BufferText {
    /// Per virtual channel: 2·(latency + flit time + pipeline)/flit time + 2 largest packets, and one more where they are stored and
    /// forwarded.
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
    /// Of a port's buffer: each virtual channel owns room for one packet, and all share the rest.
    #[serde(default)]
    shared: bool,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BufferOwner {
    /// Each virtual channel.
    Vc,
    /// The port, divided evenly among the virtual channels in use.
    Port,
}

impl TryFrom<BufferText> for Buffer {
    type Error = &'static str;

    fn try_from(text: BufferText) -> Result<Self, Self::Error> {
        let table = match text {
            BufferText::RoundTrip => return Ok(Buffer::RoundTrip),
            BufferText::Size(size) => return Ok(Buffer::PerVc(size)),
            BufferText::Table(table) => table,
        };
        match (table.per, table.shared) {
            (BufferOwner::Vc, false) => Ok(Buffer::PerVc(table.size)),
            (BufferOwner::Port, false) => Ok(Buffer::PerPort(table.size)),
            (BufferOwner::Port, true) => Ok(Buffer::Shared(table.size)),
            (BufferOwner::Vc, true) => {
                Err("what is shared is the buffer of a port: per = \"port\", or shared = false")
            }
        }
    }
}

impl From<Buffer> for BufferText {
    fn from(buffer: Buffer) -> Self {
        match buffer {
            Buffer::RoundTrip => BufferText::RoundTrip,
            Buffer::PerVc(size) => BufferText::Size(size),
            Buffer::PerPort(size) => {
                BufferText::Table(BufferTable { per: BufferOwner::Port, size, shared: false })
            }
            Buffer::Shared(size) => {
                BufferText::Table(BufferTable { per: BufferOwner::Port, size, shared: true })
            }
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
