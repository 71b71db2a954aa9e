//! HyperX: a lattice whose switches are joined all to all along each dimension.
use super::Wiring;
use super::lattice::{Lattice, one};
use crate::graph::Graph;
use crate::problem::Problem;

/// Switches at the points of a lattice, each joined to all others that differ from it in one coordinate only.
///
/// # What it does
///
/// Any switch is at most one link a dimension away. Switches and endpoints are numbered with the first dimension fastest.
/// Ports of a switch: its endpoints, then for each dimension the links to the other switches in ascending order, parallel
/// links side by side. One dimension is a complete graph, sizes of 2 a hypercube. Link classes: `host`, and one a
/// dimension: `x`, `y`, `z`, `w`, `v`, `u`. Blocks: planes across the last dimension.
///
/// # Paper
///
/// J. Ahn, N. Binkert, A. Davis, M. McLaren, R. Schreiber, "HyperX: topology, routing, and packaging of efficient
/// large-scale networks", SC 2009 (its S is `dims`, T is `concentration`, K is `links`, the same in all dimensions).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hyperx {
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

impl Hyperx {
    pub(crate) fn lattice(&self) -> Lattice<'_> {
        Lattice { dims: &self.dims, concentration: self.concentration, links: self.links }
    }
}

impl Wiring for Hyperx {
    fn link_classes(&self) -> &'static [&'static str] {
        self.lattice().link_classes()
    }

    fn problems(&self) -> Vec<Problem> {
        self.lattice().problems(|size| u64::from(size.saturating_sub(1)))
    }

    fn counts(&self) -> (u64, u64) {
        self.lattice().counts()
    }

    fn graph(&self) -> Graph {
        let lattice = self.lattice();
        let mut graph = lattice.unconnected(|size| size - 1, self.dims.len() - 1);
        let first = lattice.first_ports(|size| size - 1);
        let coordinates = lattice.coordinates();
        for (switch, place) in coordinates.chunks(self.dims.len()).enumerate() {
            let mut stride = 1;
            for (d, &size) in self.dims.iter().enumerate() {
                let here = u32::from(place[d]);
                for there in here + 1..size {
                    let other = switch as u32 + (there - here) * stride;
                    for l in 0..self.links {
                        // Each is skipped in its own list of the others, so the higher is found one port lower.
                        let one = (switch as u32, (first[d] + (there - 1) * self.links + l) as u16);
                        let two = (other, (first[d] + here * self.links + l) as u16);
                        graph.join(one, two, d as u8 + 1);
                    }
                }
                stride *= size;
            }
        }
        graph
    }

    /// Across the shortest dimension, of two the even one: in halves of s switches each is joined to s beyond.
    fn cut(&self) -> Option<Vec<u32>> {
        let sizes = self.dims.iter().enumerate().filter(|(_, size)| **size > 1);
        let (along, _) = sizes.min_by_key(|(_, size)| (size.div_ceil(2), *size % 2))?;
        let coordinates = self.lattice().coordinates();
        Some(coordinates.chunks(self.dims.len()).map(|place| place[along].into()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Peer;

    #[test]
    fn a_switch_is_joined_to_all_that_differ_in_one_coordinate() {
        let graph = Hyperx { dims: vec![3, 4], concentration: 2, links: 1 }.graph();
        // Switch 4 is at (1, 1).
        let peers: Vec<u32> = graph.switches[4]
            .iter()
            .filter_map(|port| if let Peer::Switch { switch, .. } = port.peer { Some(switch) } else { None })
            .collect();
        assert_eq!(peers, [3, 5, 1, 7, 10]);
    }

    #[test]
    fn a_switch_with_too_many_ports_is_a_problem() {
        let problems = Hyperx { dims: vec![60_000], concentration: 1, links: 2 }.problems();
        assert!(problems[0].message.contains("119999 ports"), "{}", problems[0]);
    }
}
