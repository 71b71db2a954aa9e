//! Which ranks the process groups of a trace have.
use super::read::{Group, Trace};
use super::{Chakra, Mistake};
use crate::problem::Problem;
use std::collections::BTreeMap;

/// The ranks of each group.
pub struct Members<'a> {
    ranks: u32,
    named: BTreeMap<String, Vec<u32>>,
    dims: &'a [u32],
}

impl<'a> Members<'a> {
    /// Those that the scenario and the files tell of.
    pub fn new(chakra: &'a Chakra, traces: &[Trace], ranks: u32) -> Result<Self, Vec<Problem>> {
        let volume = chakra.dims.iter().try_fold(1_u32, |all, &size| all.checked_mul(size));
        if !chakra.dims.is_empty() && volume != Some(ranks) {
            let message = format!("the product of the dimensions is not the number of ranks, {ranks}");
            return Err(vec![Problem::new("dims", message, "sizes whose product is the number of ranks")]);
        }
        let mut named: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (name, members) in traces.iter().flat_map(|trace| &trace.groups) {
            let all = || (0..ranks).collect();
            let members = if members.is_empty() { all() } else { members.clone() };
            if let Some(other) = named.insert(name.clone(), members.clone())
                && other != members
            {
                let message =
                    format!("of the process group {name:?} one rank tells {other:?}, another {members:?}");
                return Err(vec![Problem::new("groups", message, "the same in the files of all ranks")]);
            }
        }
        named.extend(told(chakra)?);
        for (name, members) in &named {
            let mut sorted = members.clone();
            sorted.sort_unstable();
            let twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
            if members.is_empty() || twice || sorted.last().is_some_and(|&last| last >= ranks) {
                let message =
                    format!("the process group {name:?} has the ranks {members:?}, the job {ranks} ranks");
                return Err(vec![problem(chakra, message, "ranks of the job, each once")]);
            }
        }
        Ok(Self { ranks, named, dims: &chakra.dims })
    }

    /// The ranks of a rank's group, in their order in it.
    pub fn of(&self, rank: u32, group: &Group, node: (u64, &str)) -> Result<Vec<u32>, Mistake> {
        let all = || (0..self.ranks).collect();
        match group {
            Group::All => Ok(all()),
            Group::Named(name) => match self.named.get(name) {
                Some(members) if members.contains(&rank) => Ok(members.clone()),
                Some(members) => {
                    let message = format!("rank {rank} is not in its process group {name:?}, {members:?}");
                    Err(Mistake::at(node, message, "a group of the rank"))
                }
                // As ASTRA-sim has it, the group 0 is all ranks unless it is given.
                None if name == "0" => Ok(all()),
                None => {
                    let message = format!("nothing tells which ranks the process group {name:?} has");
                    Err(Mistake::at(node, message, "groups = { path = \"comm_group.json\" }"))
                }
            },
            Group::Dimensions(involved) => self.along(rank, involved, node),
        }
    }

    /// The ranks that differ from a rank in these dimensions only.
    fn along(&self, rank: u32, involved: &[bool], node: (u64, &str)) -> Result<Vec<u32>, Mistake> {
        if self.dims.is_empty() {
            let message = "it is of some dimensions of the job only, and nothing tells their sizes";
            return Err(Mistake::at(node, message, "dims = [8, 4], the fastest dimension first"));
        }
        let mut members = vec![rank];
        let mut stride = 1;
        for (at, &size) in self.dims.iter().enumerate() {
            // Of dimensions that the trace does not speak of, all are meant.
            if involved.get(at).copied().unwrap_or(true) {
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
