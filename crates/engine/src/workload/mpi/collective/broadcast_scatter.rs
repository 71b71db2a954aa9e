//! Broadcast of long data: its parts go down a binomial tree, each to a rank, then round a ring to all (van de Geijn; Thakur,
//! Rabenseifner, Gropp 2005, section 4.2). Part v is that of rank v, counted from the root.
use super::{Me, Step, allgather, tree};

pub(super) fn step(me: Me, root: u32, number: u32) -> Option<Step> {
    let scattered = tree::steps(me, root);
    if number < scattered {
        return tree::scatter(me, root, number);
    }
    let step = allgather::ring(me.counted_from(root), number - scattered)?;
    Some(Step { round: step.round + 1, ..step.counted_from(root, me.ranks) })
}
