//! One switch with all endpoints attached.
use super::Wiring;
use crate::graph::Graph;
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One switch with all endpoints attached.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleSwitch {
    /// Number of endpoints.
    #[schemars(range(min = 1, max = 65535))]
    pub endpoints: u32,
}

impl Wiring for SingleSwitch {
    fn link_classes(&self) -> &'static [&'static str] {
        &["host"]
    }

    fn problems(&self) -> Vec<Problem> {
        if (1..=65535).contains(&self.endpoints) {
            return Vec::new();
        }
        vec![Problem::new("endpoints", "a switch has 1 to 65535 ports", "")]
    }

    fn counts(&self) -> (u64, u64) {
        (self.endpoints as u64, 1)
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph { switches: vec![Vec::new()], endpoints: Vec::new(), blocks: vec![0] };
        for _ in 0..self.endpoints {
            graph.attach(0, 0);
        }
        graph
    }
}
