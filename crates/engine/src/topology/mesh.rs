//! Mesh: a torus without the links that close its rings.
use super::Wiring;
use super::lattice::{Lattice, one};
use crate::graph::Graph;
use crate::problem::Problem;

/// Switches at the points of a lattice, joined to their neighbours.
///
/// # What it does
///
/// Numbered like a torus; the ports that would lead round stay unconnected. Link classes: `host`, and one a dimension: `x`,
/// `y`, `z`, `w`, `v`, `u`. Blocks: planes across the longest dimension.
///
/// # Paper
///
/// W. Dally, B. Towles, "Principles and Practices of Interconnection Networks", 2004, chapter 5.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Switches along each dimension, 1 to 6 numbers. No default.
    pub dims: Vec<u32>,
    /// Endpoints per switch (default 1).
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub concentration: u32,
    /// Parallel links between two neighbours (default 1).
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub links: u32,
}

impl Mesh {
    pub(crate) fn lattice(&self) -> Lattice<'_> {
        Lattice { dims: &self.dims, concentration: self.concentration, links: self.links }
    }
}

impl Wiring for Mesh {
    fn link_classes(&self) -> &'static [&'static str] {
        self.lattice().link_classes()
    }

    fn problems(&self) -> Vec<Problem> {
        self.lattice().problems(|_| 2)
    }

    fn counts(&self) -> (u64, u64) {
        self.lattice().counts()
    }

    fn graph(&self) -> Graph {
        let lattice = self.lattice();
        let mut graph = lattice.unconnected(|_| 2, lattice.longest());
        lattice.join_neighbours(&mut graph, false);
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Peer;

    #[test]
    fn the_ports_at_the_rim_are_unconnected() {
        let graph = Mesh { dims: vec![3, 3], concentration: 1, links: 2 }.graph();
        let open =
            |switch: usize| graph.switches[switch].iter().filter(|port| port.peer == Peer::None).count();
        assert_eq!([0, 1, 4].map(open), [4, 2, 0]);
    }
}
