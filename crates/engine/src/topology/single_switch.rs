//! One switch with all endpoints attached to it.
use super::{PORTS_MAX, Wiring, nonzero, too_large};
use crate::graph::Graph;
use crate::problem::Problem;

/// One switch; endpoint `i` is on port `i`.
///
/// # What it does
///
/// The smallest network: what a switch architecture, a traffic or a congestion control does without a fabric around it.
/// It is the network of the closed forms (head-of-line blocking limit, M/D/1 waiting time at an output).
///
/// # Paper
///
/// M. Karol, M. Hluchyj, S. Morgan, "Input versus output queueing on a space-division packet switch", IEEE
/// Transactions on Communications 35(12), 1987.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleSwitch {
    /// Number of endpoints, which is the number of ports of the switch. No default.
    #[schemars(range(min = 1, max = PORTS_MAX))]
    pub endpoints: u32,
}

impl Wiring for SingleSwitch {
    fn link_classes(&self) -> &'static [&'static str] {
        &["host"]
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = nonzero("endpoints", self.endpoints).into_iter().collect();
        problems.extend(too_large(&[("endpoints", self.endpoints)], self.counts(), self.endpoints.into()));
        problems
    }

    fn counts(&self) -> (u64, u64) {
        (self.endpoints.into(), 1)
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph { switches: vec![Vec::new()], blocks: vec![0], ..Graph::default() };
        for _ in 0..self.endpoints {
            graph.attach(0, 0);
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_i_is_on_port_i() {
        let graph = SingleSwitch { endpoints: 3 }.graph();
        assert_eq!(graph.endpoints, [(0, 0), (0, 1), (0, 2)]);
    }

    #[test]
    fn a_switch_without_endpoints_or_with_too_many_ports_is_a_problem() {
        assert_eq!(SingleSwitch { endpoints: 0 }.problems().len(), 1);
        assert_eq!(SingleSwitch { endpoints: 70_000 }.problems()[0].path, "endpoints");
    }
}
