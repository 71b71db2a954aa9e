//! Virtual output queues at network level.
use super::{Assignment, Scheme};
use crate::graph::Graph;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// VOQnet: a queue for each endpoint of the network at every port.
///
/// # What it does
///
/// Packets share queues only with those for the same destination, so nothing is blocked by another's congestion, near or far: the
/// best that queues can do, and what others are measured by. A port has at most 256 virtual channels in all, which limits the
/// networks that it can be simulated on, as its cost does in hardware.
///
/// # Paper
///
/// W. Dally, P. Carvey, L. Dennison, "Architecture of the Avici terabit switch/router", Hot Interconnects 1998.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Voqnet {}

impl Scheme for Voqnet {
    fn queues(&self, graph: &Graph) -> u32 {
        graph.endpoints.len() as u32
    }

    fn bind(&self, _: &Topology, _: &Graph, _: &[u8]) -> Assignment {
        Assignment::Kept(Box::new(|_, dst, _| dst as u8))
    }
}
