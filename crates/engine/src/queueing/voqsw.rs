//! Virtual output queues at switch level.
use super::{Assignment, Scheme, too_few};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::switch::parameters::Parameters;
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// VOQsw: a queue for each output port of the switch in which a packet waits.
///
/// # What it does
///
/// Packets that wait for a busy output do not block those for others of the same switch (low-order head-of-line blocking);
/// those that wait further ahead still do. The queue has credits of its own, so the sender foresees the output that the
/// packet will take in the next switch: exact where the routing is deterministic or goes by a hash of the flow, else one of its draws, as it
/// would be in an empty network. With fewer queues than ports, the port's number modulo the queues.
///
/// # Paper
///
/// T. Anderson, S. Owicki, J. Saxe, C. Thacker, "High-speed switch scheduling for local-area networks", ACM Transactions on
/// Computer Systems 11(4), 1993.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Voqsw {
    /// Queues of a port in each virtual network (default: as many as the largest switch has ports).
    pub queues: Option<u32>,
}

impl Scheme for Voqsw {
    fn problems(&self, _: &Topology, _: &Parameters) -> Vec<Problem> {
        too_few(self.queues.unwrap_or(1))
    }

    fn queues(&self, graph: &Graph) -> u32 {
        let ports = graph.switches.iter().map(Vec::len).max().unwrap_or(1) as u32;
        self.queues.unwrap_or(ports).max(1)
    }

    fn bind(&self, _: &Topology, graph: &Graph, _: &[u8]) -> Assignment {
        Assignment::Port(self.queues(graph))
    }
}
