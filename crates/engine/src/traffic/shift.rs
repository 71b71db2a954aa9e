//! A shift of the endpoint numbers.
use super::{Bind, Binding, Destinations, choices};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Endpoint i of the class's list sends to endpoint i + `by`, modulo their number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shift {
    /// How many places ahead the destination stands in the list of endpoints.
    #[serde(default = "one")]
    pub by: u32,
}

fn one() -> u32 {
    1
}

impl Bind for Shift {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let n = binding.endpoints.len();
        choices::by_index(&binding, |index| (index + self.by as usize) % n)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups, map};
    use super::*;

    #[test]
    fn a_shift_works_by_place_in_the_list() {
        let bound = bind(&Shift { by: 2 }, &groups(2, 2, 2), &[7, 1, 4], false).unwrap();
        assert_eq!(map(&*bound), [(1, 7), (4, 1), (7, 4)]);
    }

    #[test]
    fn a_shift_by_the_whole_list_sends_nowhere() {
        assert_eq!(
            bind(&Shift { by: 3 }, &groups(2, 2, 2), &[0, 1, 2], false).unwrap_err()[0].path,
            "pattern"
        );
    }
}
