//! Bit complement.
use super::{Bind, Binding, Destinations, choices};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Endpoint i of the class's list sends to the one whose place has every bit of i inverted. The number of endpoints must be
/// a power of two. (Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitComplement {}

impl Bind for BitComplement {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let n = power_of_two("bit-complement", &binding)?;
        choices::by_index(&binding, |index| !index & (n - 1))
    }
}

/// The number of endpoints, which must be a power of two.
pub(super) fn power_of_two(pattern: &str, binding: &Binding) -> Result<usize, Vec<Problem>> {
    let n = binding.endpoints.len();
    if n.is_power_of_two() {
        return Ok(n);
    }
    let above = n.next_power_of_two();
    Err(vec![Problem::new(
        "endpoints",
        format!("{pattern} needs a power of two of endpoints, the class has {n}"),
        format!("{} and {above} are powers of two", above / 2),
    )])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups, map};
    use super::*;

    #[test]
    fn every_bit_of_the_place_is_inverted() {
        let bound = bind(&BitComplement {}, &groups(1, 2, 4), &[0, 2, 4, 6], false).unwrap();
        assert_eq!(map(&*bound), [(0, 6), (2, 4), (4, 2), (6, 0)]);
    }

    #[test]
    fn other_numbers_are_refused_with_the_nearest_powers() {
        let problems = bind(&BitComplement {}, &groups(1, 2, 4), &[0, 1, 2, 3, 4], false).unwrap_err();
        assert_eq!(problems[0].help, "4 and 8 are powers of two");
    }
}
