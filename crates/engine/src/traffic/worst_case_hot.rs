//! Worst-case traffic of grouped networks with hot spots.
use super::choices::Choices;
use super::{Bind, Binding, Destinations, blocks};
use crate::graph::Graph;
use crate::problem::Problem;
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// WC-Hot-n: all nodes of group i send to the same n nodes of group i + 1, modulo the number of groups; each message picks
/// one of the n. The n nodes are on n different switches; which switches, and which of their nodes, is drawn once by the
/// seed. (Jiang, Dennison and Dally, SC 2015, section 6.5. The paper does not say which nodes are hot: different switches,
/// so that no last-hop switch holds two hot nodes, and the choice at random are ours.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorstCaseHot {
    /// Hot nodes in every group: 1 to the number of switches of a group that have endpoints.
    #[schemars(range(min = 1))]
    pub n: u32,
}

impl Bind for WorstCaseHot {
    fn bind(&self, mut binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let members = blocks::members(&binding);
        let pairs = blocks::at_least_two(&members)
            .and_then(|()| blocks::pairs(&members, 1))
            .map_err(|problem| vec![problem])?;
        let switches: Vec<Vec<Vec<u32>>> =
            pairs.iter().map(|&(_, to)| by_switch(binding.graph, &members[to])).collect();
        self.check(&switches).map_err(|problem| vec![problem])?;
        let mut sources = Vec::with_capacity(binding.endpoints.len());
        let mut hot = Vec::with_capacity(pairs.len());
        for (&(from, _), switches) in pairs.iter().zip(&switches) {
            sources.extend(members[from].iter().map(|&source| (source, hot.len() as u32)));
            hot.push(self.draw(switches, &mut binding.random));
        }
        Ok(Box::new(Choices::of_sets(sources, &hot)))
    }
}

impl WorstCaseHot {
    fn check(&self, switches: &[Vec<Vec<u32>>]) -> Result<(), Problem> {
        let most = switches.iter().map(Vec::len).min().unwrap_or(0);
        if (1..=most).contains(&(self.n as usize)) {
            return Ok(());
        }
        Err(Problem::new(
            "n",
            format!("{} hot nodes on different switches are not possible in every group", self.n),
            format!("1 to {most}, the switches of a group with endpoints of the class"),
        ))
    }

    /// One random node on each of n random switches.
    fn draw(&self, switches: &[Vec<u32>], random: &mut Stream) -> Vec<u32> {
        let picks = random.sample(switches.len() as u32, self.n);
        picks
            .into_iter()
            .map(|pick| {
                let nodes = &switches[pick as usize];
                nodes[random.below(nodes.len() as u32) as usize]
            })
            .collect()
    }
}

/// The endpoints by their switch.
fn by_switch(graph: &Graph, endpoints: &[u32]) -> Vec<Vec<u32>> {
    let mut switches: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &endpoint in endpoints {
        switches.entry(graph.endpoints[endpoint as usize].0).or_default().push(endpoint);
    }
    switches.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups};
    use super::*;

    #[test]
    fn a_group_sends_to_the_same_nodes_of_the_next_on_different_switches() {
        let graph = groups(33, 8, 4);
        let all: Vec<u32> = (0..1056).collect();
        for n in [1, 2, 8] {
            let bound = bind(&WorstCaseHot { n }, &graph, &all, false).unwrap();
            assert_eq!((bound.sources().len(), bound.destinations().len() as u32), (1056, 33 * n));
            let mut random = Stream::new(1, "test", "", 0);
            let mut switches = std::collections::BTreeSet::new();
            for _ in 0..200 {
                let to = bound.draw(40, &mut random);
                assert_eq!(graph.block_of(to), 2);
                switches.insert(graph.endpoints[to as usize].0);
            }
            assert_eq!((switches.len() as u32, bound.only(40).is_some()), (n, n == 1));
        }
    }

    #[test]
    fn more_hot_nodes_than_switches_are_refused_with_the_most() {
        let all: Vec<u32> = (0..24).collect();
        let problems = bind(&WorstCaseHot { n: 3 }, &groups(3, 2, 4), &all, false).unwrap_err();
        assert!(problems[0].help.starts_with("1 to 2"), "{}", problems[0]);
    }
}
