//! Output-queued switch.
use super::parameters::{Arbitration, Buffer, Forwarding, Kind, Parameters, Path};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Output-queued: a packet moves at once to the output queue of its virtual channel, whatever else moves; if that is
/// full it waits in its input buffer, behind others for the same queue only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OutputQueued {
    /// Input buffer: "credit round trip", a size per virtual channel, or a table `{ per = "vc", size = … }`,
    /// `{ per = "port", size = … }` or `{ per = "port", size = …, shared = true }`.
    pub input_buffer: Buffer,
    /// Output queue of a virtual channel.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub output_buffer: Size,
    /// How an output chooses among its virtual channels of the best class.
    pub arbitration: Arbitration,
    /// When a packet that arrives can go on.
    pub forwarding: Forwarding,
    /// Latency from then to its entry into the output queue.
    pub pipeline: Duration,
}

impl Default for OutputQueued {
    fn default() -> Self {
        Self {
            input_buffer: Buffer::RoundTrip,
            output_buffer: Size::Packets(16),
            arbitration: Arbitration::RoundRobin,
            forwarding: Forwarding::CutThrough,
            pipeline: Duration::Ps(0),
        }
    }
}

impl Kind for OutputQueued {
    fn parameters(&self) -> Parameters {
        Parameters {
            fabric: Path::Unlimited,
            input_buffer: self.input_buffer,
            output_buffer: Some(self.output_buffer),
            arbitration: self.arbitration,
            forwarding: self.forwarding,
            pipeline: self.pipeline,
        }
    }
}
