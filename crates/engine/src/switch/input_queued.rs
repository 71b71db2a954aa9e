//! Input-queued switch.
use super::parameters::{Arbitration, Buffer, Forwarding, Kind, Parameters, Path, Voq};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Input-queued: packets wait at the inputs until their channel is free and has credit; no queues at the outputs.
///
/// Without virtual output queues the head of an input's queue blocks those behind it: with many ports, packets of one
/// flit and random arbitration a switch accepts 2 − √2 = 0.586 of its bandwidth (Karol, Hluchyj and Morgan, 1987). The
/// crossbar's speedup frees an input earlier than the channel that it sends to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InputQueued {
    /// Crossbar speedup over the channels.
    #[schemars(range(min = 1, max = 1000))]
    pub speedup: u32,
    /// Input buffer: "credit round trip", a size per virtual channel, or a table `{ per = "vc", size = … }`,
    /// `{ per = "port", size = … }` or `{ per = "port", size = …, shared = true }`.
    pub input_buffer: Buffer,
    /// Virtual output queues: true, false, or a list of the traffic classes of the protocol that have them.
    pub voq: Voq,
    /// Any number of outputs read from an input at a time, as if each of its queues had a crossbar port of its own (an input
    /// speedup as large as the radix); else an input sends one packet at a time.
    pub parallel_reads: bool,
    /// How equals are chosen: in turn, the one that came to this switch first (not the one sent first), or one at random.
    pub arbitration: Arbitration,
    /// When a packet that arrives can go on.
    pub forwarding: Forwarding,
    /// Latency from then to its first arbitration.
    pub pipeline: Duration,
}

impl Default for InputQueued {
    fn default() -> Self {
        Self {
            speedup: 1,
            input_buffer: Buffer::RoundTrip,
            voq: Voq::All(true),
            parallel_reads: false,
            arbitration: Arbitration::RoundRobin,
            forwarding: Forwarding::CutThrough,
            pipeline: Duration::Ps(0),
        }
    }
}

impl Kind for InputQueued {
    fn parameters(&self) -> Parameters {
        Parameters {
            fabric: Path::Crossbar {
                speedup: self.speedup,
                voq: self.voq.clone(),
                parallel_reads: self.parallel_reads,
            },
            input_buffer: self.input_buffer,
            output_buffer: None,
            arbitration: self.arbitration,
            forwarding: self.forwarding,
            pipeline: self.pipeline,
        }
    }
}
