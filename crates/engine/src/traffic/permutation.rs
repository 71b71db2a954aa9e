//! A random permutation.
use super::{Bind, Binding, Destinations, choices};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A random permutation of the class's endpoints, drawn once by the seed: each sends to one and receives from one.
/// Nobody sends to itself (all permutations without a fixed point are equally likely) unless `self = true`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {}

impl Bind for Permutation {
    fn bind(&self, mut binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let mut to: Vec<u32> = (0..binding.endpoints.len() as u32).collect();
        if binding.to_self {
            binding.random.shuffle(&mut to);
        } else {
            binding.random.derange(&mut to);
        }
        choices::by_index(&binding, |index| to[index] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups, map};
    use super::*;

    #[test]
    fn everyone_receives_once_and_nobody_from_itself() {
        for n in 2..40 {
            let list: Vec<u32> = (0..n).rev().collect();
            let pairs = map(&*bind(&Permutation {}, &groups(5, 4, 2), &list, false).unwrap());
            let mut hit: Vec<u32> = pairs.iter().map(|&(_, to)| to).collect();
            hit.sort_unstable();
            assert_eq!(hit, (0..n).collect::<Vec<_>>());
            assert!(pairs.iter().all(|(from, to)| from != to));
        }
    }

    #[test]
    fn one_endpoint_alone_is_refused() {
        assert!(bind(&Permutation {}, &groups(1, 1, 2), &[1], false).is_err());
    }
}
