//! Credits on their way back to the sender of a channel.
use super::Tick;

/// A credit on its way: time, virtual channel and flits in one word, ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Credit(u64);

impl Credit {
    pub(super) fn new(at: Tick, vc: u8, flits: u32) -> Self {
        debug_assert!(at < 1 << 44 && flits < 1 << 12);
        Self(at << 20 | (vc as u64) << 12 | flits as u64)
    }
    /// The same, so much later.
    #[inline(always)]
    pub(super) fn later(self, ticks: u32) -> Self {
        Self(self.0 + (Tick::from(ticks) << 20))
    }
    pub(super) fn at(self) -> Tick {
        self.0 >> 20
    }
    pub(super) fn vc(self) -> u32 {
        (self.0 >> 12 & 0xff) as u32
    }
    pub(super) fn flits(self) -> u32 {
        (self.0 & 0xfff) as u32
    }
}

/// No credit: later than all.
const NONE: Credit = Credit(u64::MAX);

/// The credits on their way back over a channel, by time: a few in the channel's own cache line, or a list.
pub(super) enum Returns {
    Few([Credit; 3]),
    Many {
        credits: Vec<Credit>,
        /// Those before it have come.
        taken: u32,
        /// Whether they were few once, and are to be again when all have come.
        spilled: bool,
    },
}

/// Ports of a partition from which on their channels' records and lists are rarely found in a second-level cache. Checked builds have
/// it low, so that tests that cut small networks compare both forms.
pub(super) const MANY_PORTS: u32 = if cfg!(debug_assertions) { 24 } else { 1 << 13 };

impl Returns {
    /// None on their way, over a channel of a partition with so many ports. Lists grow, so that credits need to be taken in less often;
    /// what is in the channel's record saves a miss of the cache.
    pub(super) fn new(ports: u32) -> Self {
        if ports < MANY_PORTS {
            Self::Many { credits: Vec::new(), taken: 0, spilled: false }
        } else {
            Self::Few([NONE; 3])
        }
    }

    /// When the first comes back.
    #[inline]
    pub(super) fn first(&self) -> Option<Tick> {
        match self {
            Self::Few([NONE, ..]) => None,
            Self::Few([first, ..]) => Some(first.at()),
            Self::Many { credits, taken, .. } => credits.get(*taken as usize).map(|first| first.at()),
        }
    }

    /// Takes the first, if it is back.
    #[inline]
    pub(super) fn take(&mut self, now: Tick) -> Option<Credit> {
        match self {
            Self::Few([first, second, third]) => {
                let credit = *first;
                if credit.at() > now {
                    return None;
                }
                (*first, *second, *third) = (*second, *third, NONE);
                Some(credit)
            }
            Self::Many { credits, taken, spilled } => {
                let credit = *credits.get(*taken as usize)?;
                if credit.at() > now {
                    return None;
                }
                *taken += 1;
                if *taken as usize == credits.len() {
                    credits.clear();
                    *taken = 0;
                    if *spilled {
                        *self = Self::Few([NONE; 3]);
                    }
                }
                Some(credit)
            }
        }
    }

    /// Takes all that are back.
    #[inline]
    pub(super) fn take_all(&mut self, now: Tick, mut back: impl FnMut(Credit)) {
        if let Self::Many { credits, taken, spilled: false } = self {
            let due = credits[*taken as usize..].iter().take_while(|credit| credit.at() <= now);
            *taken += due.map(|&credit| back(credit)).count() as u32;
            if *taken as usize == credits.len() {
                credits.clear();
                *taken = 0;
            }
            return;
        }
        while let Some(credit) = self.take(now) {
            back(credit);
        }
    }

    /// Whether another credit needs more memory, or in a list the place of one that was taken.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        match self {
            Self::Few([.., third]) => *third != NONE,
            Self::Many { credits, .. } => credits.len() == credits.capacity(),
        }
    }

    /// Adds a credit where there is memory for it, and to a list whose others come back by then. Returns whether it is the first; none if
    /// it was not added.
    #[inline(always)]
    pub(super) fn append(&mut self, credit: Credit) -> Option<bool> {
        match self {
            Self::Few([first, second, third]) if *third == NONE => {
                let is_first = credit < *first;
                // They come in order but where packets were dropped, or leave an input side by side.
                (*first, *second, *third) =
                    ((*first).min(credit), (*first).max((*second).min(credit)), (*second).max(credit));
                Some(is_first)
            }
            Self::Many { credits, taken, .. }
                if credits.len() < credits.capacity()
                    && credits.last().is_none_or(|last| *last <= credit) =>
            {
                credits.push(credit);
                Some(credits.len() as u32 == *taken + 1)
            }
            _ => None,
        }
    }

    /// Adds a credit. Returns whether it is the first.
    pub(super) fn add(&mut self, credit: Credit) -> bool {
        if let Some(is_first) = self.append(credit) {
            return is_first;
        }
        match self {
            Self::Many { credits, taken, .. }
                if *taken < 16 && credits.last().is_none_or(|last| *last <= credit) =>
            {
                credits.push(credit);
                credits.len() as u32 == *taken + 1
            }
            _ => self.insert(credit),
        }
    }

    /// Adds a credit to three others, or one that comes back before others, or one for which a list with many
    /// that were taken would grow.
    #[inline(never)]
    fn insert(&mut self, credit: Credit) -> bool {
        if let Self::Few(few) = self {
            *self = Self::Many { credits: few.to_vec(), taken: 0, spilled: true };
        }
        let Self::Many { credits, taken, .. } = self else { unreachable!("they are many now") };
        if *taken > 0 && credits.len() == credits.capacity() {
            credits.drain(..*taken as usize);
            *taken = 0;
        }
        let later = credits[*taken as usize..].iter().rev().take_while(|&&other| other > credit);
        let place = credits.len() - later.count();
        credits.insert(place, credit);
        place as u32 == *taken
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Credit> {
        let all = match self {
            Self::Few(few) => few,
            Self::Many { credits, taken, .. } => &credits[*taken as usize..],
        };
        all.iter().copied().take_while(|&credit| credit != NONE)
    }

    /// Flits of a virtual channel that come back by `at`.
    pub(super) fn flits(&self, vc: u8, at: Tick) -> u32 {
        let coming = self.iter().take_while(|credit| credit.at() <= at);
        coming.filter(|credit| credit.vc() == vc as u32).map(|credit| credit.flits()).sum()
    }

    /// Flits of all virtual channels that come back by `at`.
    pub(super) fn all(&self, at: Tick) -> u32 {
        self.iter().take_while(|credit| credit.at() <= at).map(|credit| credit.flits()).sum()
    }

    /// Bytes held beside the channel's record.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Few(_) => 0,
            Self::Many { credits, .. } => credits.capacity() * size_of::<Credit>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn a_channel_has_room_for_them() {
        assert_eq!(size_of::<Returns>(), 32);
    }

    #[test]
    fn credits_come_back_in_the_order_of_their_times() {
        let mut stream = Stream::new(1, "credits", "", 0);
        let (mut returns, mut model) = (Returns::new(0), Vec::<Credit>::new());
        for step in 0..8000_u32 {
            let now = Tick::from(step);
            if step % 50 == 0 {
                // Few at first, and both forms in turn.
                (returns, model) = (Returns::new(if step % 100 == 0 { 0 } else { MANY_PORTS }), Vec::new());
            }
            if stream.below(100) < if step % 400 < 200 { 70 } else { 30 } {
                // Now and then one that is due before others.
                let at = now + if stream.below(4) == 0 { 0 } else { 10 };
                let credit = Credit::new(at, (step % 2) as u8, 1 + step % 7);
                let place = model.partition_point(|other| *other <= credit);
                model.insert(place, credit);
                let is_first = returns.append(credit).unwrap_or_else(|| returns.add(credit));
                assert_eq!(is_first, place == 0);
            } else if stream.below(4) == 0 {
                let due = model.partition_point(|credit| credit.at() <= now);
                let mut back = Vec::new();
                returns.take_all(now, |credit| back.push(credit));
                assert_eq!(back, model.drain(..due).collect::<Vec<_>>());
            } else {
                let back = model.first().copied().filter(|credit| credit.at() <= now);
                model.drain(..back.iter().len());
                assert_eq!(returns.take(now), back);
            }
            assert_eq!(returns.first(), model.first().map(|credit| credit.at()));
            assert_eq!(returns.iter().collect::<Vec<_>>(), model);
            let of = |credit: &&Credit| credit.at() <= now;
            assert_eq!(returns.all(now), model.iter().filter(of).map(|credit| credit.flits()).sum::<u32>());
            let odd = model.iter().filter(of).filter(|credit| credit.vc() == 1);
            assert_eq!(returns.flits(1, now), odd.map(|credit| credit.flits()).sum::<u32>());
        }
    }
}
