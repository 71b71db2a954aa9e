//! Data of every rank for every rank. What is sent to rank r is unit r of the sender's data; what is received from it becomes
//! unit r of the receiver's.
use super::{Alltoall, Me, Part, Step};

pub(super) fn step(me: Me, how: Alltoall, number: u32) -> Option<Step> {
    let distance = number + 1;
    if distance >= me.ranks {
        return None;
    }
    let part = |peer| Some(Part { peer, first: peer, count: 1 });
    let step = Step::new(0, part(me.ahead(distance)), part(me.behind(distance)));
    let last = distance == me.ranks - 1;
    Some(Step { waits: how == Alltoall::Pairwise || last, ..step })
}
