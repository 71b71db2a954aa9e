//! Dynamically allocated multi-queues.
use super::{Assignment, Scheme, too_few, voqsw::Voqsw};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::switch::parameters::{Buffer, Parameters};
use crate::topology::Topology;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// DAMQ: queues as those of VOQsw, which share the memory of their port.
///
/// # What it does
///
/// A queue takes what space it needs of the port's buffer, so that none stands empty while another is full; each owns room for
/// one packet, which keeps the routes free of deadlock. The switch must have a buffer that is shared.
///
/// # Paper
///
/// Y. Tamir, G. Frazier, "Dynamically-allocated multi-queue buffers for VLSI communication switches", IEEE Transactions on
/// Computers 41(6), 1992.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Damq {
    /// Queues of a port in each virtual network (default: as many as the largest switch has ports).
    pub queues: Option<u32>,
}

impl Damq {
    fn like(&self) -> Voqsw {
        Voqsw { queues: self.queues }
    }
}

impl Scheme for Damq {
    fn problems(&self, _: &Topology, switch: &Parameters) -> Vec<Problem> {
        let mut problems = too_few(self.queues.unwrap_or(1));
        if !matches!(switch.input_buffer, Buffer::Shared(_)) {
            let help =
                "switch.input_buffer = { per = \"port\", size = …, shared = true }, or kind = \"voqsw\"";
            problems.push(Problem::new(
                "kind",
                "\"damq\" needs a buffer that the queues of a port share",
                help,
            ));
        }
        problems
    }

    fn queues(&self, graph: &Graph) -> u32 {
        self.like().queues(graph)
    }

    fn bind(&self, topology: &Topology, graph: &Graph, first: &[u8]) -> Assignment {
        self.like().bind(topology, graph, first)
    }
}
