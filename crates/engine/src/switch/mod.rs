//! The switch seam: the switch architecture. One kind a file.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub mod cioq;

/// `[switch]`: the list of kinds, one line each.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // the schema takes the text of each kind's struct
pub enum Switch {
    Cioq(cioq::Cioq),
}

impl Default for Switch {
    fn default() -> Self {
        Switch::Cioq(cioq::Cioq::default())
    }
}
