//! Every rank's data to all ranks. Unit r is the data of rank r.
use super::{Me, Part, Step};

/// Round a ring: in each step a rank passes on what it got in the last one.
pub(super) fn ring(me: Me, number: u32) -> Option<Step> {
    if number >= me.ranks - 1 {
        return None;
    }
    let unit = |behind: u32| me.behind(behind);
    let send = Part { peer: me.ahead(1), first: unit(number), count: 1 };
    let receive = Part { peer: me.behind(1), first: unit(number + 1), count: 1 };
    Some(Step::new(number, Some(send), Some(receive)))
}

/// The data doubles in each step: what a rank has, its own and that of the ranks ahead, goes to the rank 2ᵏ behind (Bruck
/// and others 1997).
pub(super) fn bruck(me: Me, number: u32) -> Option<Step> {
    let distance = 1u32.checked_shl(number).filter(|&distance| distance < me.ranks)?;
    let count = distance.min(me.ranks - distance);
    let send = Part { peer: me.behind(distance), first: me.rank, count };
    let receive = Part { peer: me.ahead(distance), first: me.ahead(distance), count };
    Some(Step::new(number, Some(send), Some(receive)))
}
