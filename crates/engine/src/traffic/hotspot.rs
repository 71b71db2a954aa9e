//! A hot spot: many sources, few destinations.
use super::choices::{Choices, has, ranks};
use super::{Bind, Binding, Destinations};
use crate::problem::Problem;
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// An n:m hot spot: n sources send, and each message picks one of m destinations with equal probability. Sources and
/// destinations are disjoint, and are drawn once, by the seed, from the class's `endpoints` where a number is given.
/// Endpoints of the class that are neither stay idle and are free for other classes (`endpoints = "rest"`).
/// (Jiang, Dennison and Dally, SC 2015, section 5.1: 60:4.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hotspot {
    /// How many endpoints send, or which: a number, or a list of endpoint numbers and ranges such as `"0-63"`.
    pub sources: Nodes,
    /// How many endpoints receive, or which: a number, or a list of endpoint numbers and ranges such as `"0-63"`.
    pub destinations: Nodes,
}

/// Endpoints of a hot spot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Nodes {
    /// So many, drawn at random.
    Number(u32),
    /// These.
    #[schemars(extend("ranges" = true))]
    List(Vec<u32>),
}

impl Bind for Hotspot {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let problems = self.problems(&binding);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut random = binding.random;
        // Destinations are drawn first, so that a sweep over the number of sources keeps the same hot nodes.
        let destinations = draw(&self.destinations, binding.endpoints, self.sources.named(), &mut random);
        let sources = draw(&self.sources, binding.endpoints, &destinations, &mut random);
        let sources = sources.into_iter().map(|source| (source, 0)).collect();
        Ok(Box::new(Choices::of_sets(sources, &[destinations])))
    }

    fn picks(&self) -> bool {
        true
    }
}

impl Hotspot {
    fn problems(&self, binding: &Binding) -> Vec<Problem> {
        let class = ranks(binding.endpoints);
        let mut problems: Vec<Problem> = [("sources", &self.sources), ("destinations", &self.destinations)]
            .into_iter()
            .filter_map(|(path, nodes)| nodes.problem(path, &class))
            .collect();
        // Not by rank: these numbers may be of no endpoint, and as large as they like.
        let receivers: HashSet<&u32> = self.destinations.named().iter().collect();
        if let Some(both) = self.sources.named().iter().find(|source| receivers.contains(source)) {
            problems.push(Problem::new(
                "sources",
                format!("endpoint {both} is a source and a destination"),
                "an endpoint of a hot spot either sends or receives",
            ));
        }
        let (sources, destinations) = (self.sources.count(), self.destinations.count());
        let have = binding.endpoints.len() as u64;
        if problems.is_empty() && sources + destinations > have {
            problems.push(Problem::new(
                "sources",
                format!(
                    "{sources} sources and {destinations} destinations need {} endpoints, the class has {have}",
                    sources + destinations
                ),
                format!("at most {have} endpoints together, or give the class more `endpoints`"),
            ));
        }
        problems
    }
}

impl Nodes {
    /// The nodes given by number of the endpoint.
    fn named(&self) -> &[u32] {
        match self {
            Nodes::Number(_) => &[],
            Nodes::List(list) => list,
        }
    }

    fn count(&self) -> u64 {
        match self {
            Nodes::Number(n) => u64::from(*n),
            Nodes::List(list) => list.len() as u64,
        }
    }

    /// What is wrong with these nodes, `ranks` telling which endpoints the class has.
    fn problem(&self, path: &str, ranks: &[u32]) -> Option<Problem> {
        if self.count() == 0 {
            return Some(Problem::new(path, "a hot spot needs at least one", "a number over 0, or a list"));
        }
        let Nodes::List(list) = self else { return None };
        if let Some(stranger) = list.iter().find(|&&endpoint| !has(ranks, endpoint)) {
            let help = "name endpoints that are among the `endpoints` of the class";
            return Some(Problem::new(path, format!("the class has no endpoint {stranger}"), help));
        }
        let mut sorted = list.clone();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|pair| pair[0] == pair[1])?[0];
        Some(Problem::new(path, format!("endpoint {twice} is named twice"), "name each endpoint once"))
    }
}

/// The nodes named, or drawn from `endpoints` without `taken`.
fn draw(nodes: &Nodes, endpoints: &[u32], taken: &[u32], random: &mut Stream) -> Vec<u32> {
    let count = match nodes {
        Nodes::List(list) => return list.clone(),
        Nodes::Number(n) => *n,
    };
    let taken = ranks(taken);
    let free: Vec<u32> = endpoints.iter().copied().filter(|&endpoint| !has(&taken, endpoint)).collect();
    random.sample(free.len() as u32, count).into_iter().map(|index| free[index as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups};
    use super::*;

    fn hotspot(sources: u32, destinations: u32) -> Hotspot {
        Hotspot { sources: Nodes::Number(sources), destinations: Nodes::Number(destinations) }
    }

    #[test]
    fn sources_and_destinations_are_as_many_as_asked_and_disjoint() {
        let all: Vec<u32> = (0..1056).collect();
        let bound = bind(&hotspot(60, 4), &groups(33, 8, 4), &all, false).unwrap();
        assert_eq!((bound.sources().len(), bound.destinations().len()), (60, 4));
        assert!(bound.sources().is_sorted() && bound.destinations().is_sorted());
        assert!(bound.sources().iter().all(|source| !bound.destinations().contains(source)));
    }

    #[test]
    fn each_message_picks_one_of_the_destinations() {
        let all: Vec<u32> = (0..64).collect();
        let bound = bind(&hotspot(10, 4), &groups(4, 4, 4), &all, false).unwrap();
        let mut random = Stream::new(1, "test", "", 0);
        let source = bound.sources()[3];
        let mut hits = [0; 4];
        for _ in 0..4000 {
            let drawn = bound.draw(source, &mut random);
            hits[bound.destinations().binary_search(&drawn).unwrap()] += 1;
        }
        assert!(hits.iter().all(|hit| (850..1150).contains(hit)), "{hits:?}");
    }

    #[test]
    fn more_sources_keep_the_same_destinations() {
        let all: Vec<u32> = (0..64).collect();
        let few = bind(&hotspot(10, 2), &groups(4, 4, 4), &all, false).unwrap();
        let many = bind(&hotspot(40, 2), &groups(4, 4, 4), &all, false).unwrap();
        assert_eq!(few.destinations(), many.destinations());
    }

    #[test]
    fn drawn_nodes_avoid_named_ones() {
        let all: Vec<u32> = (0..16).collect();
        let pattern = Hotspot { sources: Nodes::List((0..15).collect()), destinations: Nodes::Number(1) };
        let bound = bind(&pattern, &groups(4, 2, 2), &all, false).unwrap();
        assert_eq!((bound.destinations(), bound.only(3)), (&[15][..], Some(15)));
    }

    #[test]
    fn a_hot_spot_larger_than_its_class_is_refused_with_what_fits() {
        let all: Vec<u32> = (0..16).collect();
        let problems = bind(&hotspot(14, 3), &groups(4, 2, 2), &all, false).unwrap_err();
        assert!(problems[0].message.contains("need 17 endpoints, the class has 16"), "{}", problems[0]);
    }

    #[test]
    fn strangers_and_repetitions_are_all_reported() {
        let pattern = Hotspot { sources: Nodes::List(vec![1, 99]), destinations: Nodes::List(vec![2, 2]) };
        let problems = bind(&pattern, &groups(4, 2, 2), &[0, 1, 2, 3], false).unwrap_err();
        let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["sources", "destinations"]);
        // A table over all numbers up to this one would take 16 GiB.
        let far = Hotspot { sources: Nodes::List(vec![0]), destinations: Nodes::List(vec![u32::MAX]) };
        let problems = bind(&far, &groups(4, 2, 2), &[0, 1, 2, 3], false).unwrap_err();
        assert_eq!(problems[0].message, "the class has no endpoint 4294967295");
    }
}
