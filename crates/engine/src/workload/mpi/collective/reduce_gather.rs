//! Reduction of long vectors by recursive halving, after which the parts of the sum are gathered along a binomial tree (Rabenseifner;
//! Thakur, Rabenseifner, Gropp 2005, section 4.5).
use super::allreduce_halving::halve;
use super::doubling::Core;
use super::{Me, Part, Step};

pub(super) fn step(me: Me, root: u32, number: u32) -> Option<Step> {
    // The root is counted last, since the last rank is never one that others take part for.
    let first = (root + 1) % me.ranks;
    let core = Core::new(me.counted_from(first));
    let rounds = core.size.ilog2();
    let added = core.before() + if core.number().is_some() { rounds } else { 0 };
    let step = if number < added {
        core.folded(number, rounds, core.size, |_| (0, 0), |own, round| halve(&core, own, round))
    } else {
        gather(&core, number - added)
    };
    step.map(|step| step.counted_from(first, me.ranks))
}

/// In round k a rank whose number ends in k + 1 ones gets 2ᵏ parts, up to its partner's own, from the one whose last but k is 0. The
/// last number is all ones.
fn gather(core: &Core, round: u32) -> Option<Step> {
    let (own, width) = (core.number()?, 1 << round);
    let parts =
        |peer: u32, last: u32| Some(Part { peer: core.rank(peer), first: last + 1 - width, count: width });
    let number = core.size.ilog2() + 1 + round;
    if round < own.trailing_ones() {
        return Some(Step::new(number, None, parts(own - width, own - width)));
    }
    let gives = round == own.trailing_ones() && own + 1 < core.size;
    gives.then(|| Step::new(number, parts(own + width, own), None))
}
