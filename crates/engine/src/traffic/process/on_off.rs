//! Messages in bursts.
use super::{Arrivals, Geometric, Offered, Pace};
use crate::problem::Problem;
use crate::rng::{Stream, mix};
use crate::units::{Scale, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bursts: a source is on for a while and makes messages as `bernoulli` does, at the load `peak`, and then is off for as long as
/// brings the mean to the class's load. Both times are drawn by the seed and forget how long they have lasted (geometric), each source
/// for itself; at the class's start a source is on with the probability load / `peak`.
///
/// The bursts of BookSim2's `on_off` injection (there `burst_beta` = `peak` / `burst` in flits, `burst_r1` = `peak`), and in the
/// limit of short slots an interrupted Poisson process (A. Kuczura, Bell System Technical Journal 52(3), 1973). Unlike there, an
/// off time may be no time at all, so that the load can come up to `peak`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OnOff {
    /// Mean data of a burst.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub burst: Size,
    /// Load of a source while it is on, as a fraction of its channel: over 0, and no less than the class's load.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0))]
    pub peak: f64,
}

impl Default for OnOff {
    fn default() -> Self {
        Self { burst: Size::Packets(16), peak: 1.0 }
    }
}

/// How many bursts it may take to make a message, on average.
const BURSTS_PER_MESSAGE: f64 = 1000.0;

impl Arrivals for OnOff {
    fn load_max(&self) -> f64 {
        self.peak
    }

    fn problems(&self, scale: &Scale) -> Vec<Problem> {
        let none = self.burst.flits(scale) == 0;
        none.then(|| Problem::new("burst", "a burst has 0 flits", "at least 1 flit")).into_iter().collect()
    }

    /// Between two messages all bursts without one are drawn.
    fn suits(&self, offered: &Offered) -> Result<(), Problem> {
        let (burst, mean) = (self.burst.flits(offered.scale), offered.mean.0 as f64 / offered.mean.1 as f64);
        if burst as f64 * BURSTS_PER_MESSAGE >= mean {
            return Ok(());
        }
        let burst = self.burst;
        let message =
            format!("a burst of {burst} is next to nothing of a message, which has {mean} flits on average");
        Err(Problem::new("process.burst", message, format!("at least a {BURSTS_PER_MESSAGE}th of it")))
    }

    fn pace(&self, Offered { load, mean: (num, den), scale }: Offered) -> Box<dyn Pace> {
        let on = self.burst.flits(scale) as f64 / self.peak;
        let off = on * (self.peak / load - 1.0);
        Box::new(Bursts {
            probability: (self.peak * den as f64 / num as f64).min(1.0),
            share: load / self.peak,
            gone: (on + off) / (on * (1.0 + off)),
            gap: Geometric::of_probability((self.peak * den as f64 / num as f64).min(1.0)),
            on: Geometric::of_probability(1.0 / on),
            off: Geometric::of_probability(1.0 / (1.0 + off)),
        })
    }
}

/// Slots on and off; the state is the number of slots behind the present one in which the source is still on.
#[derive(Debug)]
struct Bursts {
    /// From a message to the next in the same burst.
    gap: Geometric,
    /// Slots of a burst, at least 1.
    on: Geometric,
    /// Slots between bursts, and 1.
    off: Geometric,
    /// Of a message in a slot in which a source is on.
    probability: f64,
    /// Of all slots, those in which a source is on.
    share: f64,
    /// Whether the source is on is a chain: one that is on stays so, or is so again at once, with the probability 1 − q / on, one that is
    /// off becomes so with 1 − q, q being off / (1 + off). So it is in two slots k apart with the covariance share · (1 − share) · ρᵏ,
    /// and this is 1 − ρ.
    gone: f64,
}

impl Bursts {
    /// How far it is to the next message, if the source is on for `left` more slots, and off then.
    fn ahead(&self, left: &mut u64, random: &mut Stream) -> u64 {
        let mut passed = 0u64;
        loop {
            let gap = self.gap.draw(random);
            if gap <= *left {
                *left -= gap;
                return passed.saturating_add(gap);
            }
            // Where no message comes before the end of the burst, what has passed of the gap does not matter.
            passed = passed.saturating_add(*left).saturating_add(self.off.draw(random) - 1);
            *left = self.on.draw(random);
        }
    }
}

impl Pace for Bursts {
    fn first(&self, left: &mut u64, random: &mut Stream) -> u64 {
        let random = &mut own(random);
        let is_on = random.unit() <= self.share;
        // Whoever is off in the first slot is so for at least that one.
        let off = if is_on { 0 } else { self.off.draw(random) };
        *left = self.on.draw(random);
        off.saturating_add(self.ahead(left, random) - 1)
    }

    fn next(&self, slot: u64, left: &mut u64, random: &mut Stream) -> u64 {
        slot.saturating_add(self.ahead(left, &mut own(random)))
    }

    /// 1 − p · share + 2 p (1 − share) Σ (1 − k/T) ρᵏ, for k from 1 to T − 1.
    fn dispersion(&self, slots: f64) -> f64 {
        let x = slots * self.gone;
        let part = if x < 1e-6 { x / 2.0 } else { 1.0 + libm::expm1(slots * libm::log1p(-self.gone)) / x };
        let sum = (1.0 - self.gone) * part / self.gone;
        1.0 - self.probability * self.share + 2.0 * self.probability * (1.0 - self.share) * sum
    }
}

/// A stream for all that is drawn until the next message, by one draw of the source's: so sizes and destinations are the same
/// whatever the bursts.
fn own(random: &mut Stream) -> Stream {
    Stream::new(mix(random.next(), 1), "bursts", "", 0)
}

#[cfg(test)]
mod tests {
    use super::super::Process;
    use super::super::tests::{SCALE, moments, slots};
    use super::*;

    fn process(burst: u64, peak: f64) -> Process {
        Process::OnOff(OnOff { burst: Size::Flits(burst), peak })
    }

    #[test]
    fn counts_vary_as_those_of_the_chain_do() {
        for (load, flits, burst, peak, periods) in [
            (0.2, 1, 64, 1.0, 50.0),
            (0.5, 4, 200, 0.8, 50.0),
            (0.05, 2, 10, 0.1, 50.0),
            (0.79, 1, 40, 0.8, 50.0),
            (0.2, 1, 64, 1.0, 1.0),
            (0.4, 2, 500, 0.9, 0.1),
            (0.5, 1, 100, 1.0, 1e-2),
        ] {
            let process = process(burst, peak);
            let pace = process.pace(Offered { load, mean: (flits, 1), scale: &SCALE });
            let period = burst as f64 / load;
            let end = (periods * period) as u64;
            let count =
                |seed| slots(&process, load, flits, seed).take_while(|&slot| slot < end).count() as f64;
            let (mean, variance) = moments(&(0..2000).map(count).collect::<Vec<_>>());
            // The standard error of a variance of 2000 is √(2/2000) = 3 %.
            let found = variance / mean;
            assert!((found / pace.dispersion(end as f64) - 1.0).abs() < 0.12, "{burst} at {peak}: {found}");
            let expected = load / flits as f64 * end as f64;
            assert!((mean - expected).abs() < 3.5 * (variance / 2000.0).sqrt(), "{burst} at {peak}: {mean}");
        }
    }

    #[test]
    fn bursts_of_messages_of_one_flit_at_the_full_rate_have_no_gaps_and_the_mean_length() {
        let made: Vec<u64> = slots(&process(50, 1.0), 0.1, 1, 3).take(200_000).collect();
        let bursts = 1 + made.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
        let length = made.len() as f64 / bursts as f64;
        // An off time of no slots joins two bursts: one in 1 + 450 times. Standard error: 50 / √4000.
        assert!((length - 50.0 * 451.0 / 450.0).abs() < 2.5, "{length}");
    }

    #[test]
    fn at_the_peak_a_source_is_always_on() {
        assert!(slots(&process(4, 1.0), 1.0, 1, 1).take(10_000).eq(0..10_000));
    }

    #[test]
    fn a_burst_of_nothing_is_refused() {
        let paths = |burst| -> Vec<String> {
            let on_off = OnOff { burst: Size::Flits(burst), ..OnOff::default() };
            let found = on_off.problems(&SCALE);
            found.into_iter().map(|problem| problem.path).collect()
        };
        assert_eq!((paths(0), paths(1)), (vec!["burst".into()], vec![]));
    }
}
