//! Combined input/output-queued switch.
mod candidates;
mod cells;
mod crossbar;
mod debts;
mod late;
mod output;
pub mod state;
mod waiting;

use crate::switch::parameters::{Arbitration, Buffer, Kind, Parameters, Path, Voq};
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
            parallel_reads: false,
            arbitration: Arbitration::RoundRobin,
            pipeline: Duration::Ps(0),
        }
    }
}

impl Kind for Cioq {
    fn parameters(&self) -> Parameters {
        Parameters {
            fabric: Path::Crossbar {
                speedup: self.speedup,
                voq: self.voq.clone(),
                parallel_reads: self.parallel_reads,
            },
            input_buffer: self.input_buffer,
            output_buffer: Some(self.output_buffer),
            arbitration: self.arbitration,
            pipeline: self.pipeline,
        }
    }
}
