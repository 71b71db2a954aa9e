//! Allreduce round a ring: every rank gets a part of the sum, then the parts go round (Patarasuk, Yuan 2009).
use super::{Me, Step, allgather, reduce_scatter};

pub(super) fn step(me: Me, number: u32) -> Option<Step> {
    reduce_scatter::ring(me, number).or_else(|| {
        let steps = me.ranks - 1;
        let step = allgather::ring(me, number - steps)?;
        Some(Step { round: number as u16, ..step })
    })
}
