//! Bit reversal.
use super::bit_complement::power_of_two;
use super::{Bind, Binding, Destinations, choices};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Endpoint i of the class's list sends to the one whose place has the bits of i in reverse order. Palindromes are silent,
/// unless `self = true`. The number of endpoints must be a power of two.
/// (Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitReverse {}

impl Bind for BitReverse {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let bits = power_of_two("bit-reverse", &binding)?.trailing_zeros();
        // Shifting in two steps: a shift by the whole word (no bits at all) is not defined.
        choices::by_index(&binding, |index| (index.reverse_bits() >> 1) >> (usize::BITS - 1 - bits))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups, map};
    use super::*;

    #[test]
    fn places_are_reversed_and_palindromes_silent() {
        let all: Vec<u32> = (0..8).collect();
        let bound = bind(&BitReverse {}, &groups(1, 2, 4), &all, false).unwrap();
        assert_eq!(map(&*bound), [(1, 4), (3, 6), (4, 1), (6, 3)]);
    }

    #[test]
    fn a_single_endpoint_may_send_to_itself() {
        assert_eq!(map(&*bind(&BitReverse {}, &groups(1, 2, 4), &[3], true).unwrap()), [(3, 3)]);
    }
}
