//! Matrix transposition.
use super::{Bind, Binding, Destinations, choices};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The class's endpoints form a square matrix, row by row, and each sends to its mirror image across the diagonal. Those
/// on the diagonal are silent, unless `self = true`. The number of endpoints must be a square.
/// (Dally and Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transpose {}

impl Bind for Transpose {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let n = binding.endpoints.len();
        let side = n.isqrt();
        if side * side != n {
            return Err(vec![Problem::new(
                "endpoints",
                format!("transpose needs a square number of endpoints, the class has {n}"),
                format!("{} and {} are squares", side * side, (side + 1) * (side + 1)),
            )]);
        }
        choices::by_index(&binding, |index| index % side * side + index / side)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups, map};
    use super::*;

    #[test]
    fn rows_become_columns_and_the_diagonal_is_silent() {
        let all: Vec<u32> = (0..9).collect();
        let bound = bind(&Transpose {}, &groups(3, 3, 1), &all, false).unwrap();
        assert_eq!(map(&*bound), [(1, 3), (2, 6), (3, 1), (5, 7), (6, 2), (7, 5)]);
        assert_eq!(bind(&Transpose {}, &groups(3, 3, 1), &all, true).unwrap().sources().len(), 9);
    }

    #[test]
    fn another_number_is_refused_with_the_squares_next_to_it() {
        let problems = bind(&Transpose {}, &groups(3, 3, 1), &[0, 1, 2, 3, 4], false).unwrap_err();
        assert_eq!(problems[0].help, "4 and 9 are squares");
    }
}
