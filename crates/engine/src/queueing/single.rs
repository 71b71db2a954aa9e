//! One queue.
use super::{Assignment, Scheme};
use crate::graph::Graph;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One queue per port and virtual network (1VC, or 2VC with two networks).
///
/// # What it does
///
/// Nothing: all data packets of a network wait in one queue. The reference that the other schemes are compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Single {}

impl Scheme for Single {
    fn queues(&self, _: &Graph) -> u32 {
        1
    }

    fn bind(&self, _: &Topology, _: &Graph, _: &[u8]) -> Assignment {
        Assignment::Single
    }
}
