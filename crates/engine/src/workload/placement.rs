//! Where the ranks of a job run: from a rule to one endpoint for each rank.
use crate::graph::Graph;
use crate::problem::Problem;
use crate::rng::Stream;
use crate::units::{RANGE_OR_NUMBER, range_of, shorten};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which endpoints the ranks of a job run on. Jobs with a list are placed first, then the others in the order of the
/// scenario, each on what is free by then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The first free endpoints, rank by rank.
    #[default]
    Linear,
    /// Free endpoints in random order.
    RandomNodes,
    /// Switches in random order; the free endpoints of each, rank by rank.
    RandomSwitches,
    /// Blocks of the network (dragonfly groups, pods of a tree) in random order; the free endpoints of each, rank by rank.
    RandomGroups,
    /// A list: the endpoint of each rank, or of each `ranks_per_endpoint`, no more and no fewer; "0-63" stands for the endpoints from 0 to 63.
    #[serde(untagged)]
    #[schemars(extend("ranges" = true))]
    List(Vec<u32>),
    /// `{ path = "allocation.txt", line = 2 }`: a line of a file.
    #[serde(untagged)]
    File(Allocation),
}

/// A line of an allocation file, as CODES has them: for each job a line with the endpoint of each rank, or ranges of endpoints such as
/// 0-63. Whoever calls the engine reads the file and hands it in as `text`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allocation {
    /// The file, relative to the scenario's.
    pub path: String,
    /// Which of its lines, from 0.
    #[serde(default)]
    pub line: u32,
    /// What stands in it.
    #[serde(default)]
    pub text: String,
}

impl Allocation {
    /// The endpoints of the line.
    fn list(&self) -> Result<Vec<u32>, Problem> {
        if self.text.is_empty() {
            let message = format!("{} is empty, or was not read", self.path);
            let help = "a line for each job, with the endpoint of each of its ranks";
            return Err(Problem::new("placement.path", message, help));
        }
        let count = self.text.lines().count();
        let Some(line) = self.text.lines().nth(self.line as usize) else {
            let message =
                format!("there is no line {}: {} has {count}, counted from 0", self.line, self.path);
            return Err(Problem::new("placement.line", message, "the line of this job"));
        };
        let of = format!("line {} of {}, counted from 0", self.line, self.path);
        if line.trim().is_empty() {
            return Err(Problem::new(
                "placement.path",
                format!("{of}, is empty"),
                "the endpoint of each rank",
            ));
        }
        let mut list = Vec::new();
        for word in line.split_ascii_whitespace() {
            let numbers = match word.parse() {
                Ok(number) => Ok(number..=number),
                Err(_) if word.contains('-') => range_of(word, list.len()),
                Err(_) => Err(format!("\"{}\" is no endpoint", shorten(word))),
            };
            list.extend(numbers.map_err(|why| {
                let help = format!("with spaces between, {RANGE_OR_NUMBER}");
                Problem::new("placement.path", format!("{of}: {why}"), help)
            })?);
        }
        Ok(list)
    }
}

impl Placement {
    /// Whether it names the endpoints itself.
    pub fn is_given(&self) -> bool {
        matches!(self, Placement::List(_) | Placement::File(_))
    }

    /// The endpoints of so many ranks, so many of them on each, in the order of the ranks, or what is wrong. `free` tells which endpoints
    /// may be used; `random` is the stream of the job.
    pub fn place(
        &self,
        ranks: (u32, u32),
        graph: &Graph,
        free: &[bool],
        random: Stream,
    ) -> Result<Vec<u32>, Problem> {
        let endpoints = graph.endpoints.len() as u32;
        match self {
            Placement::List(list) => return listed(list, ranks, endpoints),
            Placement::File(file) => return listed(&file.list()?, ranks, endpoints),
            _ => {}
        }
        let mut order: Vec<u32> =
            (0..free.len() as u32).filter(|&endpoint| free[endpoint as usize]).collect();
        let needed = needed(ranks);
        if order.len() < needed {
            let (free, missing) = (order.len(), needed - order.len());
            return Err(Problem::new(
                "ranks",
                format!("the job needs {needed} endpoints and {free} are free: {missing} too few"),
                "fewer ranks, a larger network, or `share = true` here and in what else uses the endpoints",
            ));
        }
        self.arrange(&mut order, graph, random);
        order.truncate(needed);
        Ok(order)
    }

    /// Brings free endpoints, ascending, into the order in which they are taken.
    fn arrange(&self, order: &mut [u32], graph: &Graph, mut random: Stream) {
        match self {
            Placement::Linear | Placement::List(_) | Placement::File(_) => {}
            Placement::RandomNodes => random.shuffle(order),
            Placement::RandomSwitches => {
                let turn = turns(graph.switches.len(), random);
                order.sort_by_key(|&endpoint| turn[graph.endpoints[endpoint as usize].0 as usize]);
            }
            Placement::RandomGroups => {
                let blocks = graph.blocks.iter().max().map_or(0, |&block| block as usize + 1);
                let turn = turns(blocks, random);
                order.sort_by_key(|&endpoint| turn[graph.block_of(endpoint) as usize]);
            }
        }
    }
}

/// The turn of each of `count` things in a random order.
fn turns(count: usize, mut random: Stream) -> Vec<u32> {
    let mut turn: Vec<u32> = (0..count as u32).collect();
    random.shuffle(&mut turn);
    turn
}

/// Endpoints that so many ranks need, so many of them on each.
fn needed((ranks, each): (u32, u32)) -> usize {
    ranks.div_ceil(each) as usize
}

fn listed(list: &[u32], ranks: (u32, u32), endpoints: u32) -> Result<Vec<u32>, Problem> {
    let refuse = |message: String, help: String| Err(Problem::new("placement", message, help));
    let needed = needed(ranks);
    if list.len() != needed {
        let how = if list.len() < needed { "few" } else { "many" };
        let (wrong, (ranks, each)) = (list.len().abs_diff(needed), ranks);
        let (on_each, of) = if each > 1 {
            (format!(", {each} on each"), format!("{each} ranks"))
        } else {
            (String::new(), "rank".into())
        };
        let message =
            format!("the list has {} endpoints for {ranks} ranks{on_each}: {wrong} too {how}", list.len());
        return refuse(message, format!("one endpoint for each {of}, of which a trace has its own number"));
    }
    if let Some(number) = list.iter().find(|&&number| number >= endpoints) {
        let message = format!("there is no endpoint {number}, the network has {endpoints}");
        return refuse(message, format!("numbers from 0 to {}", i64::from(endpoints) - 1));
    }
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return refuse(format!("endpoint {} is named twice", pair[0]), "name each endpoint once".into());
    }
    Ok(list.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// 4 blocks of 3 switches of 2 endpoints.
    fn graph() -> Graph {
        crate::traffic::testing::groups(4, 3, 2)
    }

    fn place(placement: &Placement, ranks: u32, free: &[bool]) -> Result<Vec<u32>, Problem> {
        placement.place((ranks, 1), &graph(), free, Stream::new(1, "placement", "job", 0))
    }

    #[test]
    fn every_rule_gives_each_rank_a_free_endpoint_of_its_own() {
        let mut free = vec![true; 24];
        (3..9).for_each(|taken| free[taken] = false);
        let rules =
            [Placement::Linear, Placement::RandomNodes, Placement::RandomSwitches, Placement::RandomGroups];
        for rule in rules {
            let placed = place(&rule, 18, &free).unwrap();
            let all: BTreeSet<u32> = placed.iter().copied().collect();
            assert_eq!(all, (0..24).filter(|&e| free[e as usize]).collect(), "{rule:?}");
        }
        assert_eq!(place(&Placement::Linear, 5, &free).unwrap(), [0, 1, 2, 9, 10]);
    }

    #[test]
    fn random_switches_and_groups_are_filled_one_after_the_other() {
        let placed = place(&Placement::RandomSwitches, 24, &[true; 24]).unwrap();
        assert!(placed.chunks(2).all(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1), "{placed:?}");
        assert_ne!(placed, (0..24).collect::<Vec<_>>());
        let placed = place(&Placement::RandomGroups, 24, &[true; 24]).unwrap();
        for block in placed.chunks(6) {
            assert!(block.windows(2).all(|pair| pair[1] == pair[0] + 1) && block[0] % 6 == 0, "{placed:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_told_with_how_much_is_missing() {
        let problem = place(&Placement::RandomNodes, 30, &[true; 24]).unwrap_err();
        assert_eq!(problem.message, "the job needs 30 endpoints and 24 are free: 6 too few");
        let problem = place(&Placement::List(vec![1, 2]), 3, &[true; 24]).unwrap_err();
        assert_eq!(problem.message, "the list has 2 endpoints for 3 ranks: 1 too few");
        let shared = listed(&[1, 2], (9, 4), 24).unwrap_err();
        assert_eq!(shared.message, "the list has 2 endpoints for 9 ranks, 4 on each: 1 too few");
        let problem = place(&Placement::List(vec![1, 2, 3, 4, 5]), 3, &[true; 24]).unwrap_err();
        assert_eq!(problem.message, "the list has 5 endpoints for 3 ranks: 2 too many");
        let file = |line| {
            Placement::File(Allocation { path: "a".into(), line, text: "3 1\n7 x\n\n9 4-6\n6-4\n".into() })
        };
        assert_eq!(place(&file(0), 2, &[true; 24]).unwrap(), [3, 1]);
        assert_eq!(
            place(&file(0), 1, &[true; 24]).unwrap_err().message,
            "the list has 2 endpoints for 1 ranks: 1 too many"
        );
        assert_eq!(
            place(&file(1), 2, &[true; 24]).unwrap_err().message,
            "line 1 of a, counted from 0: \"x\" is no endpoint"
        );
        let empty = place(&file(2), 2, &[true; 24]).unwrap_err();
        assert_eq!(
            (&*empty.path, &*empty.message),
            ("placement.path", "line 2 of a, counted from 0, is empty")
        );
        assert_eq!(place(&file(3), 4, &[true; 24]).unwrap(), [9, 4, 5, 6]);
        assert_eq!(
            place(&file(4), 4, &[true; 24]).unwrap_err().message,
            "line 4 of a, counted from 0: the range 6-4 ends before it begins"
        );
        let problem = place(&file(5), 2, &[true; 24]).unwrap_err();
        assert_eq!(problem.message, "there is no line 5: a has 5, counted from 0");
        let file = Placement::File(Allocation { path: "a".into(), ..Allocation::default() });
        let problem = place(&file, 2, &[true; 24]).unwrap_err();
        assert_eq!(
            (problem.path.as_str(), problem.message.as_str()),
            ("placement.path", "a is empty, or was not read")
        );
        assert!(place(&Placement::List(vec![1, 24]), 2, &[true; 24]).is_err());
        assert!(place(&Placement::List(vec![1, 1]), 2, &[true; 24]).is_err());
    }
}
