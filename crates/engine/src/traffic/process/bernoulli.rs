//! Messages at random.
use super::{Arrivals, Geometric, Offered, Pace};
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In every flit time a message is made with the same probability: the gaps between messages are geometric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bernoulli {}

impl Arrivals for Bernoulli {
    /// A message in each slot with the probability load / mean, so that a load of 1 is one flit per flit time.
    fn pace(&self, Offered { load, mean: (num, den), .. }: Offered) -> Box<dyn Pace> {
        let p = load * den as f64 / num as f64;
        if p >= 1.0 { Box::new(Always) } else { Box::new(Geometric::of_probability(p)) }
    }
}

impl Pace for Geometric {
    fn first(&self, _: &mut u64, random: &mut Stream) -> u64 {
        self.draw(random) - 1
    }

    fn next(&self, slot: u64, _: &mut u64, random: &mut Stream) -> u64 {
        slot.saturating_add(self.draw(random))
    }
}

/// A message in every slot.
#[derive(Debug)]
struct Always;

impl Pace for Always {
    fn first(&self, _: &mut u64, _: &mut Stream) -> u64 {
        0
    }

    fn next(&self, slot: u64, _: &mut u64, _: &mut Stream) -> u64 {
        slot + 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::Process;
    use super::super::tests::slots;

    #[test]
    fn gaps_are_geometric() {
        let made: Vec<u64> = slots(&Process::default(), 0.8, 4, 5).take(100_001).collect();
        let p: f64 = 0.2;
        let mut counts = [0u32; 31];
        for pair in made.windows(2) {
            counts[(pair[1] - pair[0]).min(31) as usize - 1] += 1;
        }
        let chi_square: f64 = (0..31)
            .map(|k| {
                let probability = (1.0 - p).powi(k) * if k < 30 { p } else { 1.0 };
                let expected = 100_000.0 * probability;
                (f64::from(counts[k as usize]) - expected).powi(2) / expected
            })
            .sum();
        // 30 degrees of freedom: 50.9 is exceeded once in a hundred seeds.
        assert!(chi_square < 50.9, "{chi_square}");
    }

    #[test]
    fn one_flit_messages_at_full_load_fill_every_slot() {
        assert!(slots(&Process::default(), 1.0, 1, 1).take(1000).eq(0..1000));
    }
}
