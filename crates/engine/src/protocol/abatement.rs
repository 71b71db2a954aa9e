//! What the two schemes of paper ABATE share, CODES_CC and SST_CM.
use super::signal::DIVISOR_ONE;
use crate::core::plan::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which algorithm a scheme of paper ABATE follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Variant {
    /// What the paper says.
    #[serde(rename = "as published")]
    Published,
    /// What the code of the paper's simulator does.
    #[serde(rename = "as coded")]
    Coded,
    /// Ours: the rates that the sources of a port are allowed add up to less than the port's while its backlog drains, and an
    /// order lasts as long as its source goes on.
    #[serde(rename = "drain margin")]
    DrainMargin,
}

/// What keys of a variant need, as it is written.
pub const DRAIN_MARGIN: &str = "variant = \"drain margin\"";
/// The same of another.
pub const AS_CODED: &str = "variant = \"as coded\"";

/// What sources may share of the rate at which an endpoint takes data, which may be below that of their channels.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    /// Time of a largest packet out of the network over that into it.
    slowness: f64,
}

impl Shares {
    /// Those of a plan.
    pub fn new(plan: &Plan) -> Self {
        let time = |times: &[u32]| f64::from(times[usize::from(plan.packet_flits)]);
        Self { slowness: time(&plan.drain_time) / time(&plan.links[0].time) }
    }

    /// The divisor of a source's full rate at which so many share a part of the endpoint's.
    pub fn divisor(self, sources: u32, part: f64) -> u32 {
        (f64::from(sources * DIVISOR_ONE) * self.slowness / part) as u32
    }
}
