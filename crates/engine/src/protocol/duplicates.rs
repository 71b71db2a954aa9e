//! How a destination tells second copies of packets: it keeps those of each source from its floor on.
use std::collections::{BTreeSet, HashMap};

/// Packets of which a second copy may still come, by the send queue that they came from ([`super::Received::sender`]).
///
/// A queue says in every packet which of its packets is the oldest whose copies are not all answered (the floor). No
/// second copy of a packet below the floor is in the network or will be sent, so that what lies below is forgotten.
#[derive(Debug, Default)]
pub struct Seen {
    packets: HashMap<u64, BTreeSet<u64>>,
}

impl Seen {
    /// A packet arrived, by its place among the packets of its sender. Returns whether it is new.
    pub fn insert(&mut self, sender: u64, key: u64, floor: u64) -> bool {
        let packets = self.packets.entry(sender).or_default();
        while packets.first().is_some_and(|&first| first < floor) {
            packets.pop_first();
        }
        key < floor || packets.insert(key)
    }

    /// Bytes that it holds, about: of a tree's nodes two thirds are in use.
    pub fn memory(&self) -> usize {
        let keys = self.packets.values().map(BTreeSet::len).sum::<usize>() * 3 / 2;
        keys * size_of::<u64>() + self.packets.capacity() * size_of::<(u64, BTreeSet<u64>)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_copy_is_told_until_the_source_says_that_none_will_come() {
        let mut seen = Seen::default();
        assert!(seen.insert(7, 1, 1));
        assert!(seen.insert(7, 2, 1));
        assert!(!seen.insert(7, 1, 1), "a second copy");
        assert!(seen.insert(8, 1, 1), "another source");
        assert!(seen.insert(7, 9, 2));
        assert_eq!(seen.packets[&7].iter().copied().collect::<Vec<_>>(), [2, 9]);
    }

    #[test]
    fn what_is_kept_is_bounded_by_what_is_under_way() {
        let mut seen = Seen::default();
        for key in 0..10_000u64 {
            assert!(seen.insert(1, key, key.saturating_sub(20)));
            assert!(seen.packets[&1].len() <= 21);
        }
    }
}
