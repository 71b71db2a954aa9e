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

/// The credits on their way back over a channel, by time.
#[derive(Default)]
pub(super) struct Returns {
    /// Those before `taken` have come.
    pub(super) credits: Vec<Credit>,
    taken: usize,
}

impl Returns {
    #[inline]
    pub(super) fn first(&self) -> Option<Credit> {
        self.credits.get(self.taken).copied()
    }

    #[inline]
    pub(super) fn take_first(&mut self) {
        self.taken += 1;
        if self.taken == self.credits.len() {
            self.credits.clear();
            self.taken = 0;
        }
    }

    /// Whether another credit needs more memory, or the place of one that was taken.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.credits.len() == self.credits.capacity()
    }

    /// Adds a credit. Returns whether it is the first.
    #[inline]
    pub(super) fn add(&mut self, credit: Credit) -> bool {
        if self.taken >= 16 && self.is_full() {
            self.forget_taken();
        }
        if self.credits.last().is_none_or(|last| last.at() <= credit.at()) {
            self.credits.push(credit);
            return self.credits.len() == self.taken + 1;
        }
        self.insert(credit)
    }

    /// Flits of a virtual channel that come back by `at`.
    pub(super) fn flits(&self, vc: u8, at: Tick) -> u32 {
        let coming = self.credits[self.taken..].iter().take_while(|credit| credit.at() <= at);
        coming.filter(|credit| credit.vc() == vc as u32).map(|credit| credit.flits()).sum()
    }

    /// Flits of all virtual channels that come back by `at`.
    pub(super) fn all(&self, at: Tick) -> u32 {
        let coming = self.credits[self.taken..].iter().take_while(|credit| credit.at() <= at);
        coming.map(|credit| credit.flits()).sum()
    }

    #[cold]
    pub(super) fn forget_taken(&mut self) {
        self.credits.drain(..self.taken);
        self.taken = 0;
    }

    /// Credits come in order but for packets that were dropped: those are moved forward to their place.
    #[cold]
    pub(super) fn insert(&mut self, credit: Credit) -> bool {
        let later = self.credits[self.taken..].iter().rev().take_while(|other| other.at() > credit.at());
        let place = self.credits.len() - later.count();
        self.credits.insert(place, credit);
        place == self.taken
    }
}
