//! The sum of all vectors, of which every rank gets a part. Unit r of the sum is that of rank r.
use super::doubling::Core;
use super::{Me, Part, Step};

/// Round a ring: each part is added up on its way round, and comes last to the rank whose it is (Patarasuk, Yuan 2009).
pub(super) fn ring(me: Me, number: u32) -> Option<Step> {
    if number >= me.ranks - 1 {
        return None;
    }
    let send = Part { peer: me.ahead(1), first: me.behind(number + 1), count: 1 };
    let receive =
        Part { peer: me.behind(1), first: (me.rank + 2 * me.ranks - number - 2) % me.ranks, count: 1 };
    Some(Step::new(number, Some(send), Some(receive)).adding())
}

/// Every rank sends each other one its part, in step k to the rank k ahead (Thakur, Rabenseifner, Gropp 2005, section 4.4).
pub(super) fn pairwise(me: Me, number: u32) -> Option<Step> {
    let distance = number + 1;
    if distance >= me.ranks {
        return None;
    }
    let send = Part { peer: me.ahead(distance), first: me.ahead(distance), count: 1 };
    let receive = Part { peer: me.behind(distance), first: me.rank, count: 1 };
    Some(Step::new(number, Some(send), Some(receive)).adding())
}

/// Recursive halving: in each round two ranks share the part that they still add up (the same section).
pub(super) fn halving(me: Me, number: u32) -> Option<Step> {
    let core = Core::new(me);
    core.folded(
        number,
        core.size.ilog2(),
        me.ranks,
        |rank| (rank, 1),
        |own, round| {
            let width = core.size >> (round + 1);
            let other = own ^ width;
            let part = |number: u32| {
                let low = number & !(width - 1);
                let (first, end) = (core.first(low), core.first(low + width));
                Part { peer: core.rank(other), first, count: end - first }
            };
            Step::new(round + 1, Some(part(other)), Some(part(own))).adding()
        },
    )
}
