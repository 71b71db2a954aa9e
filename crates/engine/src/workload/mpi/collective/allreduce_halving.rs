//! Allreduce by recursive halving and doubling (Rabenseifner; Thakur, Rabenseifner, Gropp 2005, section 4.5): in each round of
//! the first half two ranks share the part that they still add up; in the second half the sums come together again.
use super::doubling::Core;
use super::{Me, Part, Step};

pub(super) fn step(me: Me, number: u32) -> Option<Step> {
    let core = Core::new(me);
    let half = core.size.ilog2();
    core.folded(
        number,
        2 * half,
        core.size,
        |_| (0, core.size),
        |own, round| {
            // The part that two ranks exchange in a round: of `width` units each, beside each other.
            let bit = if round < half { half - 1 - round } else { round - half };
            let width = 1u32 << bit;
            let part = |number: u32| Part {
                peer: core.rank(own ^ width),
                first: number & !(width - 1),
                count: width,
            };
            let other = own ^ width;
            if round < half {
                Step::new(round + 1, Some(part(other)), Some(part(own))).adding()
            } else {
                Step::new(round + 1, Some(part(own)), Some(part(other)))
            }
        },
    )
}
