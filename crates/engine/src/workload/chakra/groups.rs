//! Which ranks the process groups of a trace have.
use super::read::{Group, Trace};
use super::{Chakra, Mistake, nodes};
use crate::problem::Problem;
use std::collections::BTreeMap;

/// The ranks of each group.
pub struct Members<'a> {
    ranks: u32,
    /// Those that the scenario tells.
    named: BTreeMap<String, Vec<u32>>,
    traces: &'a [Trace],
    dims: &'a [u32],
}

impl<'a> Members<'a> {
    /// Those that the scenario and the files tell of.
    pub fn new(chakra: &'a Chakra, traces: &'a [Trace], ranks: u32) -> Result<Self, Vec<Problem>> {
        let volume = chakra.dims.iter().try_fold(1_u32, |all, &size| all.checked_mul(size));
        if !chakra.dims.is_empty() && volume != Some(ranks) {
            let message = format!("the product of the dimensions is not the number of ranks, {ranks}");
            return Err(vec![Problem::new("dims", message, "sizes whose product is the number of ranks")]);
        }
        let named = told(chakra)?;
        for (name, members) in &named {
            if let Some(why) = unfit(members, ranks) {
                let message = format!("the process group {name:?} {why}");
                return Err(vec![problem(chakra, message, "ranks of the job, each once")]);
            }
            // The trace's operations of these groups are read as those of all ranks.
            if nodes::OF_ALL.contains(&name.as_str()) && ![0, ranks as usize].contains(&members.len()) {
                let message = format!(
                    "the process group {name:?} is told to have the ranks {members:?}, but it is always all ranks, here {ranks}"
                );
                return Err(vec![problem(chakra, message, "another name for it, in the trace too")]);
            }
        }
        Ok(Self { ranks, named, traces, dims: &chakra.dims })
    }

    /// The ranks of a rank's group, in their order in it.
    pub fn of(&self, rank: u32, group: &Group, node: (u64, &str)) -> Result<Vec<u32>, Mistake> {
        let all = || (0..self.ranks).collect();
        match group {
            Group::All => Ok(all()),
            Group::Dimensions(involved) => self.along(rank, involved, node),
            Group::Named(name) => {
                // Each rank may have groups of its own under the same name.
                let own = || self.traces[rank as usize].groups.get(name);
                let Some(members) = self.named.get(name).or_else(own) else {
                    let message = format!("nothing tells which ranks the process group {name:?} has");
                    return Err(Mistake::at(node, message, "groups = { path = \"comm_group.json\" }"));
                };
                if members.is_empty() {
                    return Ok(all());
                }
                if let Some(why) = unfit(members, self.ranks) {
                    let message = format!("its process group {name:?} {why}");
                    return Err(Mistake::at(node, message, "ranks of the job, each once"));
                }
                if !members.contains(&rank) {
                    let message = format!("rank {rank} is not in its process group {name:?}, {members:?}");
                    return Err(Mistake::at(node, message, "a group of the rank"));
                }
                Ok(members.clone())
            }
        }
    }

    /// The ranks that differ from a rank in these dimensions only.
    fn along(&self, rank: u32, involved: &[bool], node: (u64, &str)) -> Result<Vec<u32>, Mistake> {
        if self.dims.is_empty() {
            let message = "it is of some dimensions of the job only, and nothing tells their sizes";
            return Err(Mistake::at(node, message, "dims = [8, 4], the fastest dimension first"));
        }
        let (told, known) = (involved.len(), self.dims.len());
        if told > known {
            let message = format!("its involved_dim tells of {told} dimensions, and the job has {known}");
            let help = "a size for each in dims, 1 for those that the job does not have";
            return Err(Mistake::at(node, message, help));
        }
        let mut members = vec![rank];
        let mut stride = 1;
        for (at, &size) in self.dims.iter().enumerate() {
            if is_meant(involved, at) {
                let own = rank / stride % size;
                let moved =
                    |place: u32| members.iter().map(move |&member| member - own * stride + place * stride);
                members = (0..size).flat_map(moved).collect();
            }
            stride *= size;
        }
        Ok(members)
    }
}

/// Whether a group is one rank, since it has no other in the dimensions that it is of.
pub fn is_alone(group: &Group, dims: &[u32]) -> bool {
    let Group::Dimensions(involved) = group else { return false };
    dims.iter().enumerate().all(|(at, &size)| size == 1 || !is_meant(involved, at))
}

/// Whether the ranks along a dimension are meant: of those that the trace does not speak of, they are.
fn is_meant(involved: &[bool], dimension: usize) -> bool {
    involved.get(dimension).copied().unwrap_or(true)
}

/// Why ranks are no group of a job.
fn unfit(members: &[u32], ranks: u32) -> Option<String> {
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    let twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    let unknown = sorted.last().is_some_and(|&last| last >= ranks);
    (twice || unknown).then(|| format!("has the ranks {members:?}, the job {ranks} ranks"))
}

/// The groups of the scenario.
fn told(chakra: &Chakra) -> Result<BTreeMap<String, Vec<u32>>, Vec<Problem>> {
    let groups = &chakra.groups;
    if groups.text.is_empty() {
        if groups.path.is_empty() {
            return Ok(BTreeMap::new());
        }
        return Err(vec![problem(chakra, "the file is empty, or was not read".into(), HELP)]);
    }
    serde_json::from_str(&groups.text).map_err(|error| vec![problem(chakra, format!("{error}"), HELP)])
}

const HELP: &str = "for each process group its ranks: {\"1\": [0, 1], \"2\": [2, 3]}";

fn problem(chakra: &Chakra, message: String, help: &str) -> Problem {
    let path = &chakra.groups.path;
    let (key, message) = match path.is_empty() {
        true => ("groups.text", message),
        false => ("groups.path", format!("{path}: {message}")),
    };
    Problem::new(key, message, help)
}
