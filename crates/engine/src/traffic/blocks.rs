//! The endpoints of a class by block of the network, for patterns defined on groups.
use super::Binding;
use crate::problem::Problem;

/// The blocks of the network that hold endpoints, in ascending order, each with those of its endpoints that are in the
/// class, in the class's order. Blocks of switches without endpoints (roots of a fat tree) do not count.
pub(super) fn members(binding: &Binding) -> Vec<Vec<u32>> {
    let graph = binding.graph;
    let blocks = graph.blocks.iter().max().map_or(0, |&last| last as usize + 1);
    let mut populated = vec![false; blocks];
    for &(switch, _) in &graph.endpoints {
        populated[graph.blocks[switch as usize] as usize] = true;
    }
    let mut members = vec![Vec::new(); blocks];
    for &endpoint in binding.endpoints {
        members[graph.block_of(endpoint) as usize].push(endpoint);
    }
    members.into_iter().zip(populated).filter_map(|(list, populated)| populated.then_some(list)).collect()
}

/// The (source block, destination block) of every block with endpoints in the class, `ahead` blocks apart; or what is
/// wrong with that.
pub(super) fn pairs(members: &[Vec<u32>], ahead: usize) -> Result<Vec<(usize, usize)>, Problem> {
    let groups = members.len();
    let pairs: Vec<(usize, usize)> = (0..groups)
        .filter(|&from| !members[from].is_empty())
        .map(|from| (from, (from + ahead) % groups))
        .collect();
    match pairs.iter().find(|&&(_, to)| members[to].is_empty()) {
        Some((from, to)) => Err(Problem::new(
            "endpoints",
            format!("endpoints of group {from} send to group {to}, in which the class has no endpoint"),
            "choose endpoints in every group, such as `endpoints = \"all\"`",
        )),
        None => Ok(pairs),
    }
}

/// Refuses a network without groups.
pub(super) fn at_least_two(members: &[Vec<u32>]) -> Result<(), Problem> {
    if members.len() < 2 {
        return Err(Problem::new(
            "pattern",
            "this pattern sends from group to group, and the network has one group",
            "use a topology with groups, such as a dragonfly, or another pattern",
        ));
    }
    Ok(())
}
