//! Allreduce round a ring: n − 1 steps in which a part of the vector is added up on its way round, and n − 1 in which the sums
//! go round (Patarasuk, Yuan 2009).
use super::{Me, Part, Step};

pub(super) fn step(me: Me, number: u32) -> Option<Step> {
    let steps = me.ranks - 1;
    let adding = number < steps;
    if number >= 2 * steps {
        return None;
    }
    // The part that a rank sends first of a phase: its own, then the one it has the sum of.
    let first = if adding { me.rank } else { me.ahead(1) };
    let unit = |behind: u32| (first + me.ranks - behind) % me.ranks;
    let back = number % steps;
    let send = Part { peer: me.ahead(1), first: unit(back), count: 1 };
    let receive = Part { peer: me.behind(1), first: unit(back + 1), count: 1 };
    Some(Step { adds: adding, ..Step::new(number, Some(send), Some(receive)) })
}
