//! Tornado traffic.
use super::{Bind, Binding, Destinations, blocks, choices};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Just less than half-way round, so that minimal routes load one direction only. On a network of several blocks
/// (dragonfly groups, fat-tree pods, torus planes) every endpoint sends to the one at its own place ⌈B/2⌉ − 1 blocks
/// ahead, where B is the number of blocks with endpoints of the class; on a network of one block, of n endpoints,
/// ⌈n/2⌉ − 1 places ahead in the list. On a torus or a mesh that is the tornado of its longest dimension (of equals, the last) alone. With
/// `dims`, those of the network, it is that of Dally and Towles: ⌈k/2⌉ − 1 places ahead in every dimension of k switches.
/// (Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2.)
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tornado {
    /// Places along each dimension of a lattice that the list of endpoints fills, the first dimension fastest, with equally many endpoints at
    /// each place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 1)))]
    pub dims: Vec<u32>,
}

impl Tornado {
    /// The place in the list of the destination of the endpoint at one, where each place of the lattice has so many.
    fn ahead_in_all(&self, index: usize, each: usize) -> usize {
        let (mut rest, mut step, mut to) = (index / each, each, index % each);
        for &k in &self.dims {
            let k = k as usize;
            to += (rest % k + ahead(k)) % k * step;
            (rest, step) = (rest / k, step * k);
        }
        to
    }

    fn bind_lattice(&self, binding: &Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let n = binding.endpoints.len();
        let places = self.dims.iter().try_fold(1_usize, |places, &k| places.checked_mul(k as usize));
        let Some(places) = places.filter(|&places| places > 0 && n.is_multiple_of(places)) else {
            let message = format!(
                "{n} endpoints cannot be divided evenly among the places of a lattice of {:?}",
                self.dims
            );
            return Err(vec![Problem::new(
                "dims",
                message,
                "the dims of the topology, or others whose product divides the number of endpoints",
            )]);
        };
        choices::by_index(binding, |index| self.ahead_in_all(index, n / places))
    }
}

impl Bind for Tornado {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        if !self.dims.is_empty() {
            return self.bind_lattice(&binding);
        }
        let mut blocks = blocks::members(&binding);
        blocks.retain(|block| !block.is_empty());
        let size = blocks[0].len();
        if let Some(other) = blocks.iter().find(|block| block.len() != size) {
            return Err(vec![Problem::new(
                "endpoints",
                format!(
                    "tornado needs equally many endpoints in every group: one has {size}, another {}",
                    other.len()
                ),
                "choose as many endpoints in every group, or use the pattern \"shift\"",
            )]);
        }
        // One block or many: laid end to end, both are a shift of that list.
        let list = blocks.concat();
        let ahead = if blocks.len() > 1 { ahead(blocks.len()) * size } else { ahead(list.len()) };
        let binding = Binding { endpoints: &list, ..binding };
        choices::by_index(&binding, |index| (index + ahead) % list.len())
    }
}

/// ⌈n/2⌉ − 1.
fn ahead(n: usize) -> usize {
    n.div_ceil(2) - 1
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups, map};
    use super::*;

    #[test]
    fn a_flat_list_shifts_just_less_than_half_way() {
        let all: Vec<u32> = (0..8).collect();
        let pairs = map(&*bind(&Tornado::default(), &groups(1, 4, 2), &all, false).unwrap());
        assert!(pairs.iter().all(|&(from, to)| to == (from + 3) % 8));
    }

    #[test]
    fn groups_shift_as_a_whole_and_keep_the_place_within() {
        let all: Vec<u32> = (0..40).collect();
        let pairs = map(&*bind(&Tornado::default(), &groups(5, 4, 2), &all, false).unwrap());
        assert!(pairs.iter().all(|&(from, to)| to == (from + 16) % 40));
    }

    #[test]
    fn a_lattice_shifts_in_every_dimension() {
        let tornado = Tornado { dims: vec![4, 5] };
        let all: Vec<u32> = (0..40).collect();
        let pairs = map(&*bind(&tornado, &groups(5, 4, 2), &all, false).unwrap());
        let at = |endpoint: u32| (endpoint / 2 % 4, endpoint / 8, endpoint % 2);
        for (from, to) in pairs {
            let ((x, y, port), there) = (at(from), at(to));
            assert_eq!(there, ((x + 1) % 4, (y + 2) % 5, port));
        }
        let told =
            |dims: &[u32]| bind(&Tornado { dims: dims.to_vec() }, &groups(5, 4, 2), &all, false).unwrap_err();
        assert!([vec![3, 5], vec![4, 20], vec![0, 5]].iter().all(|dims| told(dims)[0].path == "dims"));
    }

    #[test]
    fn groups_without_endpoints_of_the_class_are_skipped() {
        let graph = groups(5, 1, 2);
        assert_eq!(
            map(&*bind(&Tornado::default(), &graph, &[0, 4, 9], false).unwrap()),
            [(0, 4), (4, 9), (9, 0)]
        );
    }

    #[test]
    fn unequal_groups_and_two_groups_are_refused() {
        assert_eq!(
            bind(&Tornado::default(), &groups(3, 1, 2), &[0, 1, 2, 4], false).unwrap_err()[0].path,
            "endpoints"
        );
        assert_eq!(
            bind(&Tornado::default(), &groups(2, 1, 2), &[0, 1, 2, 3], false).unwrap_err()[0].path,
            "pattern"
        );
    }
}
