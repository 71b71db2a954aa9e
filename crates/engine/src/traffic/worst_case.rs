//! Worst-case traffic of grouped networks.
use super::choices::Choices;
use super::{Bind, Binding, Destinations, blocks};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// WC-n: every message of a node in group i goes to a random node of group i + n, modulo the number of groups, so that all
/// minimal routes share the few links between two groups. Groups are the blocks of the topology (dragonfly groups) that hold
/// endpoints. (Jiang, Dennison and Dally, SC 2015, section 5; Kim et al., ISCA 2008.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorstCase {
    /// How many groups ahead the destinations are: 1 to the number of groups − 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub n: u32,
}

fn one() -> u32 {
    1
}

impl Bind for WorstCase {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let members = blocks::members(&binding);
        let pairs = self.pairs(&members).map_err(|problem| vec![problem])?;
        let mut sources = Vec::with_capacity(binding.endpoints.len());
        for &(from, to) in &pairs {
            sources.extend(members[from].iter().map(|&source| (source, to as u32)));
        }
        Ok(Box::new(Choices::of_sets(sources, &members)))
    }
}

impl WorstCase {
    fn pairs(&self, members: &[Vec<u32>]) -> Result<Vec<(usize, usize)>, Problem> {
        blocks::at_least_two(members)?;
        let groups = members.len();
        if !(1..groups).contains(&(self.n as usize)) {
            return Err(Problem::new(
                "n",
                format!("{} groups ahead is not possible among {groups} groups", self.n),
                format!("1 to {}", groups - 1),
            ));
        }
        blocks::pairs(members, self.n as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups};
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn every_message_goes_n_groups_ahead_and_reaches_all_of_that_group() {
        let graph = groups(5, 2, 2);
        let all: Vec<u32> = (0..20).collect();
        let bound = bind(&WorstCase { n: 2 }, &graph, &all, false).unwrap();
        let mut random = Stream::new(1, "test", "", 0);
        assert_eq!(bound.sources().len(), 20);
        for &source in bound.sources() {
            let drawn: std::collections::BTreeSet<u32> =
                (0..100).map(|_| bound.draw(source, &mut random)).collect();
            assert_eq!(drawn.len(), 4);
            assert!(drawn.iter().all(|&to| graph.block_of(to) == (graph.block_of(source) + 2) % 5));
        }
    }

    #[test]
    fn sending_within_the_group_or_on_a_flat_network_is_refused() {
        let all: Vec<u32> = (0..12).collect();
        let n = |n, g| bind(&WorstCase { n }, &groups(g, 12 / g, 1), &all, false).unwrap_err()[0].clone();
        assert_eq!((n(0, 3).path.as_str(), n(3, 3).help.as_str()), ("n", "1 to 2"));
        assert_eq!(n(1, 1).path, "pattern");
    }

    #[test]
    fn a_group_that_would_send_to_an_empty_one_is_named() {
        let problems = bind(&WorstCase { n: 1 }, &groups(3, 1, 2), &[0, 1, 2], false).unwrap_err();
        assert!(problems[0].message.contains("group 1 send to group 2"), "{}", problems[0]);
    }
}
