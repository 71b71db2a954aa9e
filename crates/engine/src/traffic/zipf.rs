//! Zipf's law: preferred destinations.
use super::choices::ranks;
use super::{Bind, Binding, Destinations};
use crate::problem::Problem;
use crate::rng::{Stream, mix};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every source has its own ranking of the other endpoints of the class, drawn by the seed, and prefers the first of it: rank i of
/// N is drawn with probability i⁻ˢ / Σ j⁻ˢ. With s = 0 this is uniform traffic; the larger s, the fewer destinations get most of
/// it. N counts oneself only with `self = true`.
/// (P. Yebenes and others, ACM TACO 16(2), 2019, section 5.1, Equation 4 and Table 2.)
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Zipf {
    /// Order of the distribution.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub s: f64,
}

impl Default for Zipf {
    fn default() -> Self {
        Self { s: 1.0 }
    }
}

impl Bind for Zipf {
    fn bind(&self, binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        let (mut members, mut random) = (binding.endpoints.to_vec(), binding.random);
        members.sort_unstable();
        let count = members.len() as u32 - u32::from(!binding.to_self);
        if !(0.0..=100.0).contains(&self.s) {
            return Err(vec![Problem::new(
                "s",
                format!("{} is no order of a distribution", self.s),
                "0 to 100",
            )]);
        }
        if count == 0 {
            let message = format!("endpoint {} has nobody to send to but itself", members[0]);
            let help = "use more endpoints, or `self = true`";
            return Err(vec![Problem::new("endpoints", message, help)]);
        }
        let shares = shares(count, self.s);
        let limits = limits(&shares);
        Ok(Box::new(Preferred {
            places: ranks(&members),
            members,
            shares,
            limits,
            key: random.next(),
            to_self: binding.to_self,
        }))
    }
}

/// The probability of each rank of `n`, the most preferred first (Equation 4).
fn shares(n: u32, s: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=n).map(|rank| libm::pow(rank.into(), -s)).collect();
    // The smallest first, so that rounding does not matter.
    let sum: f64 = weights.iter().rev().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// The end of each rank's part of the 64-bit numbers.
fn limits(shares: &[f64]) -> Vec<u64> {
    let mut sum = 0.0;
    let end = |share: &f64| {
        sum += share;
        (sum * 18_446_744_073_709_551_616.0) as u64
    };
    let mut limits: Vec<u64> = shares.iter().map(end).collect();
    if let Some(last) = limits.last_mut() {
        *last = u64::MAX;
    }
    limits
}

/// Destinations by rank.
#[derive(Debug)]
struct Preferred {
    members: Vec<u32>,
    /// Index in `members` by endpoint number.
    places: Vec<u32>,
    shares: Vec<f64>,
    limits: Vec<u64>,
    key: u64,
    to_self: bool,
}

impl Preferred {
    /// The ranking of a source: a permutation of the places that it may send to.
    fn ranking(&self, source: u32) -> Shuffled {
        Shuffled { n: self.shares.len() as u32, key: mix(self.key, source.into()) }
    }

    /// Whether places from a source's own on are one further.
    fn skips(&self, source: u32, place: u32) -> u32 {
        u32::from(!self.to_self && place >= self.places[source as usize])
    }
}

impl Destinations for Preferred {
    fn sources(&self) -> &[u32] {
        &self.members
    }

    fn destinations(&self) -> &[u32] {
        &self.members
    }

    fn draw(&self, source: u32, random: &mut Stream) -> u32 {
        let bits = random.next();
        let rank = self.limits.partition_point(|&limit| limit <= bits).min(self.limits.len() - 1);
        let place = self.ranking(source).place(rank as u32);
        self.members[(place + self.skips(source, place)) as usize]
    }

    fn share(&self, source: u32, destination: u32) -> f64 {
        let Ok(place) = self.members.binary_search(&destination) else { return 0.0 };
        if source == destination && !self.to_self {
            return 0.0;
        }
        let own = self.places[source as usize];
        let place = place as u32 - u32::from(!self.to_self && place as u32 > own);
        self.shares[self.ranking(source).rank(place) as usize]
    }

    fn only(&self, source: u32) -> Option<u32> {
        let place = self.skips(source, 0);
        (self.shares.len() == 1).then(|| self.members[place as usize])
    }

    fn ranks(&self) -> &[f64] {
        &self.shares
    }
}

/// A permutation of 0..n by a key, which needs no memory: four rounds of a Feistel network on the next power of four, again and
/// again until the number is below n.
struct Shuffled {
    n: u32,
    key: u64,
}

impl Shuffled {
    fn place(&self, rank: u32) -> u32 {
        self.walk(rank, [0, 1, 2, 3])
    }

    fn rank(&self, place: u32) -> u32 {
        // The rounds backwards, with the halves exchanged.
        let half = self.half();
        let exchanged = |number: u32| number >> half | (number & ((1 << half) - 1)) << half;
        let mut number = place;
        loop {
            number = exchanged(self.rounds(exchanged(number), [3, 2, 1, 0]));
            if number < self.n {
                return number;
            }
        }
    }

    fn walk(&self, mut number: u32, rounds: [u64; 4]) -> u32 {
        loop {
            number = self.rounds(number, rounds);
            if number < self.n {
                return number;
            }
        }
    }

    /// Bits of a half.
    fn half(&self) -> u32 {
        (u32::BITS - (self.n - 1).leading_zeros()).div_ceil(2).max(1)
    }

    fn rounds(&self, number: u32, rounds: [u64; 4]) -> u32 {
        let half = self.half();
        let mask = (1u32 << half) - 1;
        let (mut left, mut right) = (number >> half, number & mask);
        for round in rounds {
            (left, right) = (right, left ^ mix(self.key ^ round, right.into()) as u32 & mask);
        }
        left << half | right
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{bind, groups};
    use super::*;

    #[test]
    fn the_probabilities_of_64_destinations_are_those_of_table_2() {
        let table = [
            (1.0, [21.1, 10.5, 7.0, 5.3, 4.2, 3.5, 3.0, 2.6, 2.3, 2.1]),
            (2.0, [61.4, 15.3, 6.8, 3.8, 2.5, 1.7, 1.3, 1.0, 0.8, 0.6]),
            (3.0, [83.2, 10.4, 3.1, 1.3, 0.7, 0.4, 0.2, 0.2, 0.1, 0.1]),
        ];
        for (s, row) in table {
            let rounded: Vec<f64> =
                shares(64, s)[..10].iter().map(|share| (share * 1000.0).round() / 10.0).collect();
            assert_eq!(rounded, row, "s = {s}");
        }
    }

    #[test]
    fn a_ranking_is_a_permutation_and_can_be_read_backwards() {
        for n in [1, 2, 3, 16, 17, 255, 2304] {
            let ranking = Shuffled { n, key: 7 };
            let mut places: Vec<u32> = (0..n).map(|rank| ranking.place(rank)).collect();
            assert!((0..n).all(|rank| ranking.rank(places[rank as usize]) == rank), "{n}");
            places.sort_unstable();
            assert_eq!(places, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn sources_prefer_different_destinations_and_never_themselves() {
        let list: Vec<u32> = (0..64).collect();
        let bound = bind(&Zipf { s: 3.0 }, &groups(4, 4, 4), &list, false).unwrap();
        let first = |source: u32| {
            let shares: Vec<f64> = list.iter().map(|&to| bound.share(source, to)).collect();
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares[source as usize] == 0.0);
            (0..64).find(|&to| shares[to] > 0.5).unwrap() as u32
        };
        let preferred: std::collections::BTreeSet<u32> = list.iter().map(|&source| first(source)).collect();
        // Of 64 draws from 63 about 40 are different.
        assert!((30..50).contains(&preferred.len()), "{}", preferred.len());
        let mut random = Stream::new(1, "test", "", 0);
        let hits = (0..10_000).filter(|_| bound.draw(5, &mut random) == first(5)).count();
        // 0.832 with a standard deviation of 37.
        assert!(hits.abs_diff(8320) < 150, "{hits}");
    }

    #[test]
    fn order_0_is_uniform_and_a_lonely_endpoint_is_refused() {
        let bound = bind(&Zipf { s: 0.0 }, &groups(1, 1, 4), &[0, 1, 2, 3], true).unwrap();
        assert!((0..4).all(|to| bound.share(2, to) == 0.25));
        assert_eq!(bind(&Zipf::default(), &groups(1, 1, 4), &[3], false).unwrap_err()[0].path, "endpoints");
        assert_eq!(bind(&Zipf { s: -1.0 }, &groups(1, 1, 4), &[0, 1], false).unwrap_err()[0].path, "s");
    }
}
