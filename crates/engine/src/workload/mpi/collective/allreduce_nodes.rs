//! Allreduce in nodes of several ranks and between them: every rank of a node gets a part of the node's sum round a ring, ranks of
//! the same place add up their parts round rings between the nodes, and the parts go round in each node (the decomposition of
//! BlueConnect, Cho and others, MLSys 2019, in two levels).
use super::{Me, Part, Step, allgather, allreduce_ring, reduce_scatter};
use std::collections::BTreeSet;

/// How many of a group's ranks, which are given in their order in it, are in each node of `node` ranks of the job; none if they do
/// not fill their nodes evenly, one node behind the other.
pub fn of_each_node(ranks: impl Iterator<Item = u32>, node: u32) -> Option<u32> {
    let nodes: Vec<u32> = ranks.map(|rank| rank / node).collect();
    let runs: Vec<&[u32]> = nodes.chunk_by(|one, next| one == next).collect();
    let distinct: BTreeSet<u32> = runs.iter().map(|run| run[0]).collect();
    let each = runs.first()?.len();
    let is_even = distinct.len() == runs.len() && runs.iter().all(|run| run.len() == each);
    is_even.then_some(each as u32)
}

/// There are `node` ranks of the group in each node. A part of a node's sum is as many units as there are nodes.
pub(super) fn step(me: Me, node: u32, number: u32) -> Option<Step> {
    let nodes = me.ranks / node;
    let (place, own) = (me.rank % node, me.rank / node);
    let (within, between) = (Me { rank: place, ranks: node }, Me { rank: own, ranks: nodes });
    let whole = |part: Part| Part {
        peer: own * node + part.peer,
        first: part.first * nodes,
        count: part.count * nodes,
    };
    let unit =
        |part: Part| Part { peer: part.peer * node + place, first: place * nodes + part.first, ..part };
    let (parted, added) = (node - 1, node - 1 + 2 * (nodes - 1));
    let (step, told): (Step, &dyn Fn(Part) -> Part) = if number < parted {
        (reduce_scatter::ring(within, number)?, &whole)
    } else if number < added {
        (allreduce_ring::step(between, number - parted)?, &unit)
    } else {
        (allgather::ring(within, number - added)?, &whole)
    };
    Some(Step { round: number as u16, send: step.send.map(told), receive: step.receive.map(told), ..step })
}
