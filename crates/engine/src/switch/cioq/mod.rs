//! Combined input/output-queued switch.
mod architecture;
mod candidates;
mod cells;
mod crossbar;
mod debts;
mod late;
mod output;
pub mod state;
mod waiting;

use crate::problem::Problem;
use crate::switch::parameters::{Arbitration, Buffer, Forwarding, Kind, Parameters, Path, Speedup, Voq};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Combined input/output-queued: virtual output queues at the inputs, a crossbar with speedup, bounded output queues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cioq {
    /// Crossbar speedup over the channels: a number, or "infinite", which needs `voq = true` and is the output-queued switch.
    pub speedup: Speedup,
    /// Input buffer: "credit round trip", a size per virtual channel, or a table `{ per = "vc", size = … }`,
    /// `{ per = "port", size = … }` or `{ per = "port", size = …, shared = true }`.
    pub input_buffer: Buffer,
    /// Output queue of a virtual channel.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub output_buffer: Size,
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

impl Default for Cioq {
    fn default() -> Self {
        Self {
            speedup: Speedup::Times(2),
            input_buffer: Buffer::RoundTrip,
            output_buffer: Size::Packets(16),
            voq: Voq::All(true),
            parallel_reads: false,
            arbitration: Arbitration::RoundRobin,
            forwarding: Forwarding::CutThrough,
            pipeline: Duration::Ps(0),
        }
    }
}

impl Kind for Cioq {
    fn parameters(&self) -> Parameters {
        Parameters {
            fabric: match self.speedup {
                Speedup::Infinite => Path::Unlimited,
                Speedup::Times(speedup) => {
                    let (voq, parallel_reads) = (self.voq.clone(), self.parallel_reads);
                    Path::Crossbar { speedup, voq, parallel_reads }
                }
            },
            input_buffer: self.input_buffer,
            output_buffer: Some(self.output_buffer),
            arbitration: self.arbitration,
            forwarding: self.forwarding,
            pipeline: self.pipeline,
        }
    }

    fn problems(&self) -> Vec<Problem> {
        if self.speedup != Speedup::Infinite || self.voq == Voq::All(true) {
            return Vec::new();
        }
        let message = "queues that hold packets for several outputs have no infinite speedup";
        vec![Problem::new("voq", message, "voq = true, or a number as speedup")]
    }
}
