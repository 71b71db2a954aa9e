//! Switch with shared input buffers and infinite speedup.
use super::parameters::{Arbitration, Buffer, Forwarding, Kind, Parameters, Path};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shared input buffers, infinite speedup: packets stay in their input buffer until their channel takes them, first
/// come first served; any number of outputs read from one input at a time.
///
/// The InfiniBand switch of paper SAA has `input_buffer = { per = "port", size = "8 packets", shared = true }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SharedBuffer {
    /// Input buffer: "credit round trip", a size per virtual channel, or a table `{ per = "vc", size = … }`,
    /// `{ per = "port", size = … }` or `{ per = "port", size = …, shared = true }`.
    pub input_buffer: Buffer,
    /// How an output chooses among its virtual channels of the best class.
    pub arbitration: Arbitration,
    /// When a packet that arrives can go on.
    pub forwarding: Forwarding,
    /// Latency from then to its first arbitration.
    pub pipeline: Duration,
}

impl Default for SharedBuffer {
    fn default() -> Self {
        Self {
            input_buffer: Buffer::RoundTrip,
            arbitration: Arbitration::Age,
            forwarding: Forwarding::CutThrough,
            pipeline: Duration::Ps(0),
        }
    }
}

impl Kind for SharedBuffer {
    fn parameters(&self) -> Parameters {
        Parameters {
            fabric: Path::Unlimited,
            input_buffer: self.input_buffer,
            output_buffer: None,
            arbitration: self.arbitration,
            forwarding: self.forwarding,
            pipeline: self.pipeline,
        }
    }
}
