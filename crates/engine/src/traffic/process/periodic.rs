//! Messages at even distances.
use super::{Arrivals, NEVER, Offered, Pace};
use crate::rng::Stream;
use crate::units::gcd;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Messages at even distances, exactly, each source with a random phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Periodic {}

impl Arrivals for Periodic {
    /// Messages mean / load slots apart.
    fn pace(&self, Offered { load, mean: (num, den), .. }: Offered) -> Box<dyn Pace> {
        let (load_num, load_den) = rational(load);
        let (num, den) = (u128::from(num) * u128::from(load_den), u128::from(den) * u128::from(load_num));
        let divisor = gcd(num, den);
        let (num, den) = (num / divisor, den / divisor);
        // A mean's denominator is at most 2³², a load's numerator at most 2³¹: sums of two parts fit.
        let whole = u64::try_from(num / den).unwrap_or(NEVER).min(NEVER - 1);
        Box::new(Even { whole, part: (num % den) as u64, den: den as u64 })
    }
}

/// `whole + part / den` slots apart; the state is the fraction of a slot that is carried over, in parts of `den`.
#[derive(Debug)]
struct Even {
    whole: u64,
    part: u64,
    den: u64,
}

impl Pace for Even {
    /// A phase in [0, whole + part/den), every multiple of 1/den equally likely.
    fn first(&self, carry: &mut u64, random: &mut Stream) -> u64 {
        let mut below = |n: u64| ((u128::from(random.next()) * u128::from(n)) >> 64) as u64;
        loop {
            // Of the last, partial slot only its part: less than half of the draws are repeated.
            let (slot, rest) = (below(self.whole + u64::from(self.part > 0)), below(self.den));
            if slot < self.whole || rest < self.part {
                *carry = rest;
                return slot;
            }
        }
    }

    fn next(&self, slot: u64, carry: &mut u64, _: &mut Stream) -> u64 {
        let rest = *carry + self.part;
        *carry = rest % self.den;
        slot.saturating_add(self.whole).saturating_add(rest / self.den)
    }
}

/// The simplest fraction that is `x` in double precision (2/5 for 0.4), for 0 < x ≤ 1: the first convergent of its
/// continued fraction that rounds to it, or the last with a numerator below 2³¹. Loads below 2⁻⁶² count as that.
fn rational(x: f64) -> (u64, u64) {
    const SMALLEST: f64 = 1.0 / (1u64 << 62) as f64;
    if x <= SMALLEST {
        return (1, 1 << 62);
    }
    // x is exactly mantissa / 2^scale, and the digits of the fraction are the quotients of Euclid's algorithm.
    let mantissa = (x.to_bits() & ((1 << 52) - 1)) | 1 << 52;
    let scale = 1075 - (x.to_bits() >> 52);
    let (mut above, mut below) = (1u128 << scale, u128::from(mantissa));
    let (mut before, mut last) = ((1u128, 0u128), (0u128, 1u128));
    while below > 0 {
        let digit = above / below;
        let next = (digit * last.0 + before.0, digit * last.1 + before.1);
        if next.0 >= 1 << 31 || next.1 > 1 << 62 {
            break;
        }
        (before, last) = (last, next);
        if last.0 as f64 / last.1 as f64 == x {
            break;
        }
        (above, below) = (below, above % below);
    }
    (last.0 as u64, last.1 as u64)
}

#[cfg(test)]
mod tests {
    use super::super::Process;
    use super::super::tests::slots;
    use super::*;

    const PERIODIC: Process = Process::Periodic(Periodic {});

    #[test]
    fn messages_do_not_drift_over_a_million() {
        // 3 flits at 0.7 are 30/7 slots apart; and 258 flits at 1/3 exactly 774.
        for (load, flits, num, den) in [(0.7, 3, 30, 7), (1.0 / 3.0, 258, 774, 1)] {
            let made: Vec<u64> = slots(&PERIODIC, load, flits, 2).take(1_000_001).collect();
            for k in [1u64, 7, 1000, 999_999, 1_000_000] {
                let span = made[k as usize] - made[0];
                assert!(span.abs_diff(k * num / den) <= u64::from(den > 1), "message {k}: {span}");
            }
            assert_eq!(made[700_000] - made[0], 700_000 * num / den);
        }
    }

    #[test]
    fn sources_differ_in_phase_within_one_period() {
        let phases: Vec<u64> = (0..16).filter_map(|seed| slots(&PERIODIC, 0.1, 4, seed).next()).collect();
        assert!(phases.iter().all(|&phase| phase < 40));
        assert!(phases.iter().collect::<std::collections::BTreeSet<_>>().len() > 8, "{phases:?}");
    }

    #[test]
    fn one_flit_messages_at_full_load_fill_every_slot() {
        assert!(slots(&PERIODIC, 1.0, 1, 1).take(1000).eq(0..1000));
    }

    #[test]
    fn loads_become_the_fractions_they_were_written_as() {
        assert_eq!([0.4, 1.0, 1.0 / 3.0, 0.1234].map(rational), [(2, 5), (1, 1), (1, 3), (617, 5000)]);
        for x in [1e-30, 1e-9, 0.3 + 1e-16, std::f64::consts::FRAC_1_PI] {
            let (num, den) = rational(x);
            assert!(num > 0 && (num as f64 / den as f64 - x).abs() <= 1e-15, "{x}: {num}/{den}");
        }
    }
}
