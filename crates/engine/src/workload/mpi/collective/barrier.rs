//! Barrier by dissemination (Hensgen, Finkel, Manber 1988): in round k every rank tells the one 2ᵏ ahead.
use super::{Me, Part, Step};

pub(super) fn step(me: Me, number: u32) -> Option<Step> {
    let distance = 1u32.checked_shl(number).filter(|&distance| distance < me.ranks)?;
    let part = |peer| Some(Part { peer, first: 0, count: 0 });
    Some(Step::new(number, part(me.ahead(distance)), part(me.behind(distance))))
}
