//! Sets of ports or virtual channels as words of bits.

/// The first member at or after `from`, going round to the start; none if the set is empty.
#[inline]
pub fn next_from(words: &[u64], from: usize) -> Option<usize> {
    if let [word] = words {
        if *word == 0 {
            return None;
        }
        let high = *word & (u64::MAX << from);
        let pick = if high != 0 { high } else { *word };
        return Some(pick.trailing_zeros() as usize);
    }
    let start = from / 64;
    let high = words[start] & (u64::MAX << (from % 64));
    if high != 0 {
        return Some(start * 64 + high.trailing_zeros() as usize);
    }
    (1..=words.len()).find_map(|step| {
        let at = (start + step) % words.len();
        (words[at] != 0).then(|| at * 64 + words[at].trailing_zeros() as usize)
    })
}

/// Adds a member.
#[inline]
pub fn set(words: &mut [u64], bit: usize) {
    words[bit / 64] |= 1 << (bit % 64);
}

/// Takes a member out.
#[inline]
pub fn clear(words: &mut [u64], bit: usize) {
    words[bit / 64] &= !(1 << (bit % 64));
}

/// Whether the set is empty.
#[inline]
pub fn none(words: &[u64]) -> bool {
    words.iter().all(|&word| word == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_robin_visits_every_member_once_per_round() {
        for size in [1usize, 2, 3] {
            let mut words = vec![0; size];
            let members: Vec<usize> = (0..size * 64).filter(|bit| bit % 7 == 3).collect();
            members.iter().for_each(|&bit| set(&mut words, bit));
            let mut from = 0;
            for &expected in members.iter().chain(&members) {
                let got = next_from(&words, from).expect("not empty");
                assert_eq!(got, expected);
                from = (got + 1) % (size * 64);
            }
            members.iter().for_each(|&bit| clear(&mut words, bit));
            assert!(none(&words));
            assert_eq!(next_from(&words, 5), None);
        }
    }
}
