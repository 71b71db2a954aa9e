//! One seed, child streams: what decides who sends what, where and when is keyed by what it is for, never by when it is
//! drawn. What is drawn for a packet on its way (routing, arbitration, congestion control) is a hash of the seed, the packet
//! or its connection, the place and, for most, the time.
use rand_core::Rng as _;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers of its own.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `purpose` (a constant word), of a class by name, of a component by number.
    pub fn new(seed: u64, purpose: &str, class: &str, component: u64) -> Self {
        let key = mix(mix(mix(seed, text(purpose)), text(class)), component);
        Self(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// The next 64 random bits.
    #[expect(clippy::should_implement_trait, reason = "a stream has no end, so it is not an iterator")]
    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..n`, by multiplication and shift; `n` must be over 0.
    pub fn below(&mut self, n: u32) -> u32 {
        scale(self.next(), n)
    }

    /// A number in (0, 1], in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        unit(self.next())
    }

    /// `k` different numbers of `0..n`, in random order (Floyd's algorithm, then shuffled).
    pub fn sample(&mut self, n: u32, k: u32) -> Vec<u32> {
        let mut chosen: Vec<u32> = Vec::with_capacity(k as usize);
        let mut seen = std::collections::BTreeSet::new();
        for top in n - k..n {
            let draw = self.below(top + 1);
            let pick = if seen.contains(&draw) { top } else { draw };
            seen.insert(pick);
            chosen.push(pick);
        }
        self.shuffle(&mut chosen);
        chosen
    }

    /// Shuffles in place (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
    }

    /// Shuffles the numbers from 0 until none is in its own place, all such orders equally likely; a single one stays.
    pub fn derange(&mut self, numbers: &mut [u32]) {
        // One in e permutations has no fixed point, whatever the size: drawing again is cheap and unbiased.
        self.shuffle(numbers);
        while numbers.len() > 1 && (0..).zip(&*numbers).any(|(at, number)| at == *number) {
            self.shuffle(numbers);
        }
    }
}

/// Scales 64 random bits to (0, 1], in steps of 2⁻⁵³.
pub fn unit(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Scales 64 random bits to `0..n`.
pub fn scale(bits: u64, n: u32) -> u32 {
    (((bits >> 32) * n as u64) >> 32) as u32
}

/// Mixes two words into one (the finaliser of SplitMix64).
pub fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number that tells one text from another (FNV-1a).
pub fn text(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ b as u64).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_components_differ() {
        let draw = |c| Stream::new(1, "traffic", "uniform", c).next();
        assert_ne!(draw(0), draw(1));
        assert_eq!(draw(7), draw(7));
    }

    #[test]
    fn a_sample_has_no_duplicates_and_stays_in_range() {
        let mut s = Stream::new(3, "sample", "", 0);
        let mut got = s.sample(10, 10);
        got.sort_unstable();
        assert_eq!(got, (0..10).collect::<Vec<_>>());
    }
}
