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
            if round < half {
                return halve(&core, own, round);
            }
            let [mine, other] = pair(&core, own, 1 << (round - half));
            Step::new(round + 1, Some(mine), Some(other))
        },
    )
}

/// A round in which two ranks share the part that they still add up.
pub(super) fn halve(core: &Core, own: u32, round: u32) -> Step {
    let [mine, other] = pair(core, own, core.size >> (round + 1));
    Step::new(round + 1, Some(other), Some(mine)).adding()
}

/// The parts of two ranks that exchange them, the own one first: of `width` units each, beside each other.
fn pair(core: &Core, own: u32, width: u32) -> [Part; 2] {
    let other = own ^ width;
    [own, other].map(|number| Part { peer: core.rank(other), first: number & !(width - 1), count: width })
}
