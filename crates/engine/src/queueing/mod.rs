//! The queueing seam: which queue of a port a packet waits in. One kind a file.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[queueing]`: the list of kinds, one line each.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Queueing {
    /// One queue per virtual network.
    #[default]
    Single,
}
