//! Allreduce by recursive doubling: in each round the whole vector is exchanged with the rank that differs in one bit.
//!
//! If the ranks are not a power of two, 2ᵏ + r, then of the first 2 r each even one adds its vector to the odd one behind it
//! and is told the result at the end (Thakur, Rabenseifner, Gropp 2005, section 4.5).
use super::{Me, Part, Step};

/// A rank among the power of two that take part in the rounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Core {
    pub(super) me: Me,
    /// How many take part, and how many ranks are over.
    pub(super) size: u32,
    over: u32,
}

impl Core {
    pub(super) fn new(me: Me) -> Self {
        let size = 1 << me.ranks.ilog2();
        Self { me, size, over: me.ranks - size }
    }

    /// Its number among those that take part.
    pub(super) fn number(&self) -> Option<u32> {
        let rank = self.me.rank;
        match rank < 2 * self.over {
            true => (rank % 2 == 1).then_some(rank / 2),
            false => Some(rank - self.over),
        }
    }

    /// The rank of a number among those that take part.
    pub(super) fn rank(&self, number: u32) -> u32 {
        if number < self.over { 2 * number + 1 } else { number + self.over }
    }

    /// First of the ranks whose vectors a number adds up: one, or two where one is folded in. That of `size` is the number of ranks.
    pub(super) fn first(&self, number: u32) -> u32 {
        if number < self.over { 2 * number } else { number + self.over }
    }

    /// How many steps its rank takes before the rounds.
    pub(super) fn before(&self) -> u32 {
        u32::from(self.me.rank < 2 * self.over)
    }

    /// Steps before and after the rounds, and `round` with its number for those between; `rounds` is how many there are. Before
    /// them `units` are added up, the whole vector; `told` is what of it (first unit, how many) a rank is told after them.
    pub(super) fn folded(
        &self,
        step: u32,
        rounds: u32,
        units: u32,
        told: impl Fn(u32) -> (u32, u32),
        round: impl Fn(u32, u32) -> Step,
    ) -> Option<Step> {
        let rank = self.me.rank;
        let whole = |peer| Some(Part { peer, first: 0, count: units });
        let result = |peer, rank| {
            let (first, count) = told(rank);
            Some(Part { peer, first, count })
        };
        if rank >= 2 * self.over {
            return (step < rounds).then(|| round(self.rank_number(), step));
        }
        if rank.is_multiple_of(2) {
            return match step {
                0 => Some(Step::new(0, whole(rank + 1), None)),
                1 => Some(Step::new(rounds + 1, None, result(rank + 1, rank))),
                _ => None,
            };
        }
        match step {
            0 => Some(Step::new(0, None, whole(rank - 1)).adding()),
            _ if step <= rounds => Some(round(self.rank_number(), step - 1)),
            _ if step == rounds + 1 => Some(Step::new(rounds + 1, result(rank - 1, rank - 1), None)),
            _ => None,
        }
    }

    fn rank_number(&self) -> u32 {
        self.number().expect("those that are folded in take no part")
    }
}

pub(super) fn step(me: Me, number: u32) -> Option<Step> {
    let core = Core::new(me);
    core.folded(
        number,
        core.size.ilog2(),
        1,
        |_| (0, 1),
        |own, round| {
            let peer = core.rank(own ^ 1 << round);
            let whole = Some(Part { peer, first: 0, count: 1 });
            Step::new(round + 1, whole, whole).adding()
        },
    )
}
