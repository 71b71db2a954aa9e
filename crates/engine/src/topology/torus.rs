//! Torus: a k-ary n-cube.
use super::Wiring;
use super::lattice::{Lattice, one};
use crate::graph::Graph;
use crate::problem::Problem;

/// Switches at the points of a lattice, joined to their neighbours, the last to the first along each dimension.
///
/// # What it does
///
/// Switches and endpoints are numbered with the first dimension fastest. Ports of a switch: its endpoints, then for each
/// dimension the links onwards and the links back. In a dimension of two switches both lead to the same neighbour; one
/// of one switch has none. Link classes: `host`, and one a dimension: `x`, `y`, `z`, `w`, `v`, `u`. Blocks: planes across
/// the longest dimension.
///
/// # Paper
///
/// W. Dally, "Performance analysis of k-ary n-cube interconnection networks", IEEE Transactions on Computers 39(6),
/// 1990.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Torus {
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

impl Torus {
    pub(crate) fn lattice(&self) -> Lattice<'_> {
        Lattice { dims: &self.dims, concentration: self.concentration, links: self.links }
    }
}

impl Wiring for Torus {
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
        lattice.join_neighbours(&mut graph, true);
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Peer;

    #[test]
    fn the_last_switch_is_joined_to_the_first() {
        let graph = Torus { dims: vec![4, 3], concentration: 2, links: 1 }.graph();
        // Switch 11 is at (3, 2): onwards in x is (0, 2), onwards in y is (3, 0).
        let peer = |port: usize| graph.switches[11][port].peer;
        assert_eq!(peer(2), Peer::Switch { switch: 8, port: 3 });
        assert_eq!(peer(4), Peer::Switch { switch: 3, port: 5 });
        assert_eq!(graph.endpoints[23], (11, 1));
    }

    #[test]
    fn lattices_without_switches_or_with_too_many_dimensions_are_problems() {
        let problems = |dims: &[u32]| Torus { dims: dims.to_vec(), concentration: 1, links: 1 }.problems();
        assert_eq!(problems(&[48, 48]), []);
        assert_eq!(problems(&[])[0].path, "dims");
        assert_eq!(problems(&[4, 0])[0].path, "dims");
        assert_eq!(problems(&[2; 7])[0].path, "dims");
        assert!(problems(&[70_000])[0].help.contains("65535"));
        assert!(!problems(&[u32::MAX; 3]).is_empty());
        assert_eq!(Torus { dims: vec![4], concentration: 0, links: 0 }.problems().len(), 2);
    }
}
