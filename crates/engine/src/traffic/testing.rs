//! What the unit tests of the patterns share.
use super::{Bind, Binding, Destinations};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::rng::Stream;

/// A network of groups of switches with endpoints, and without links.
pub(crate) fn groups(groups: u32, switches: u32, endpoints: u32) -> Graph {
    let mut graph = Graph::default();
    for switch in 0..groups * switches {
        graph.switches.push(Vec::new());
        graph.blocks.push(switch / switches);
        (0..endpoints).for_each(|_| {
            graph.attach(switch, 0);
        });
    }
    graph
}

/// Binds a pattern with a fixed stream.
pub(super) fn bind(
    pattern: &dyn Bind,
    graph: &Graph,
    endpoints: &[u32],
    to_self: bool,
) -> Result<Box<dyn Destinations>, Vec<Problem>> {
    pattern.bind(Binding { graph, endpoints, to_self, random: Stream::new(1, "pattern", "test", 0) })
}

/// The pairs of a pattern in which every source has one destination.
pub(super) fn map(bound: &dyn Destinations) -> Vec<(u32, u32)> {
    bound.sources().iter().map(|&source| (source, bound.only(source).expect("one destination"))).collect()
}
