//! Sets of ports or virtual channels as words of bits.

/// A set of numbers below `64 · W`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set<const W: usize>([u64; W]);

impl<const W: usize> Default for Set<W> {
    fn default() -> Self {
        Self([0; W])
    }
}

impl<const W: usize> Set<W> {
    /// The first member at or after `from`, going round to the start; none if the set is empty.
    #[inline]
    pub fn next_from(&self, from: usize) -> Option<usize> {
        if W == 1 {
            let word = self.0[0];
            let high = word & u64::MAX.unbounded_shl(from as u32);
            let pick = if high != 0 { high } else { word };
            return (word != 0).then(|| pick.trailing_zeros() as usize);
        }
        let (start, from) = if from < 64 * W { (from / 64, from % 64) } else { (0, 0) };
        let high = self.0[start] & (u64::MAX << from);
        if high != 0 {
            return Some(start * 64 + high.trailing_zeros() as usize);
        }
        (1..=W).find_map(|step| {
            let at = (start + step) % W;
            (self.0[at] != 0).then(|| at * 64 + self.0[at].trailing_zeros() as usize)
        })
    }

    /// Adds a member.
    #[inline]
    pub fn insert(&mut self, bit: usize) {
        self.0[if W == 1 { 0 } else { bit / 64 }] |= 1 << (bit % 64);
    }

    /// Takes a member out.
    #[inline]
    pub fn remove(&mut self, bit: usize) {
        self.0[if W == 1 { 0 } else { bit / 64 }] &= !(1 << (bit % 64));
    }

    /// Whether it is a member.
    #[inline]
    pub fn contains(&self, bit: usize) -> bool {
        self.0[if W == 1 { 0 } else { bit / 64 }] >> (bit % 64) & 1 == 1
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether it has no second member.
    #[inline]
    pub fn is_single(&self) -> bool {
        let word = self.0[0];
        if W == 1 {
            word & word.wrapping_sub(1) == 0
        } else {
            self.0.iter().map(|word| word.count_ones()).sum::<u32>() < 2
        }
    }

    /// The least member.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        self.0.iter().position(|&word| word != 0).map(|at| at * 64 + self.0[at].trailing_zeros() as usize)
    }

    /// Whether some member has a property.
    #[inline]
    pub fn any(&self, has: impl Fn(usize) -> bool) -> bool {
        let mut rest = *self;
        std::iter::from_fn(|| rest.first().inspect(|&bit| rest.remove(bit))).any(has)
    }

    /// The members that the other set does not have.
    #[inline]
    pub fn without(&self, other: &Self) -> Self {
        let mut left = *self;
        left.0.iter_mut().zip(&other.0).for_each(|(word, mask)| *word &= !mask);
        left
    }

    /// The members of both sets.
    #[inline]
    pub fn and(&self, other: &Self) -> Self {
        let mut both = *self;
        both.0.iter_mut().zip(&other.0).for_each(|(word, mask)| *word &= mask);
        both
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_robin_visits_every_member_once_per_round<const W: usize>() {
        let mut set = Set::<W>::default();
        let members: Vec<usize> = (0..W * 64).filter(|bit| bit % 7 == 3).collect();
        members.iter().for_each(|&bit| set.insert(bit));
        let mut from = 0;
        for &expected in members.iter().chain(&members) {
            assert_eq!(set.next_from(from), Some(expected));
            from = expected + 1;
        }
        let mut rest = set;
        let seen: Vec<usize> = std::iter::from_fn(|| rest.first().inspect(|&bit| rest.remove(bit))).collect();
        assert_eq!(seen, members);
        assert!(set.any(|bit| bit == members[2]) && !set.any(|bit| bit % 7 != 3));
        assert!(rest.is_empty());
        members.iter().for_each(|&bit| set.remove(bit));
        assert!(set.is_empty() && set.next_from(5).is_none() && set.next_from(64 * W).is_none());
    }

    #[test]
    fn round_robin_visits_every_member_once_per_round_whatever_the_size() {
        round_robin_visits_every_member_once_per_round::<1>();
        round_robin_visits_every_member_once_per_round::<2>();
        round_robin_visits_every_member_once_per_round::<5>();
    }
}
