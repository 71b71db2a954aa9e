//! Fixed pairs.
use super::choices::{Choices, has, ranks};
use super::{Bind, Binding, Destinations};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fixed pairs of source and destination. A source that stands in several pairs picks one of them for each message, with
/// equal probability (a pair given twice counts twice). Endpoints of the class in no pair stay idle and are free for other
/// classes (`endpoints = "rest"`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// The pairs: `[[source, destination], …]`, by endpoint number.
    #[schemars(length(min = 1))]
    pub pairs: Vec<[u32; 2]>,
}

impl Bind for List {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let mut problems = Vec::new();
        if self.pairs.is_empty() {
            problems.push(Problem::new("pairs", "there are no pairs", "such as [[0, 5], [1, 5]]"));
        }
        let ranks = ranks(binding.endpoints);
        if let Some(e) = self.pairs.iter().flatten().find(|&&e| !has(&ranks, e)) {
            problems.push(Problem::new(
                "pairs",
                format!("the class has no endpoint {e}"),
                "name endpoints that are among the `endpoints` of the class",
            ));
        }
        if let Some([e, _]) = self.pairs.iter().find(|[from, to]| from == to && !binding.to_self) {
            problems.push(Problem::new(
                "pairs",
                format!("endpoint {e} sends to itself"),
                "name another destination, or allow it by `self = true`",
            ));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Box::new(Choices::of_pairs(self.pairs.iter().map(|&[from, to]| (from, to)).collect())))
    }

    fn picks(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups};
    use super::*;

    #[test]
    fn pairs_are_kept_and_several_destinations_of_a_source_are_a_choice() {
        let list = List { pairs: vec![[3, 0], [1, 2], [3, 5]] };
        let bound = bind(&list, &groups(1, 2, 3), &[0, 1, 2, 3, 4, 5], false).unwrap();
        assert_eq!((bound.sources(), bound.destinations()), (&[1, 3][..], &[0, 2, 5][..]));
        assert_eq!((bound.only(1), bound.only(3)), (Some(2), None));
    }

    #[test]
    fn strangers_and_senders_to_themselves_are_both_reported() {
        let list = List { pairs: vec![[1, 1], [0, 9]] };
        assert_eq!(bind(&list, &groups(1, 2, 3), &[0, 1], false).unwrap_err().len(), 2);
    }
}
