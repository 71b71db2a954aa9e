//! Arrival processes: when the sources of a class of traffic make messages.
//!
//! Time goes in slots, the flit times of the sources' channels, and a source makes at most one message in a slot. A process
//! of a scenario ([`Arrivals`]) becomes a [`Pace`] for the load and the sizes of its class; all sources share it, and each
//! keeps one word of its own.
mod bernoulli;
mod on_off;
mod one_shot;
mod periodic;

use crate::problem::Problem;
use crate::rng::Stream;
use crate::units::Scale;

/// What an arrival process of a scenario provides.
pub trait Arrivals {
    /// Whether the class has a load, from which it follows how many messages are made.
    fn has_load(&self) -> bool {
        true
    }
    /// The largest load of a source that the process can offer.
    fn load_max(&self) -> f64 {
        1.0
    }
    /// Mistakes in the parameters, each by its key.
    fn problems(&self, _: &Scale) -> Vec<Problem> {
        Vec::new()
    }
    /// Whether it can make such messages: mistakes by their key.
    fn suits(&self, _: &Offered) -> Result<(), Problem> {
        Ok(())
    }
    /// When a source makes messages that offers `offered`, whose load is over 0 if the process has one.
    fn pace(&self, offered: Offered) -> Box<dyn Pace>;
}

/// What each source of a class offers.
#[derive(Debug, Clone, Copy)]
pub struct Offered<'a> {
    /// Data, as a fraction of the channel: over 0, at most [`Arrivals::load_max`].
    pub load: f64,
    /// Mean size of its messages, in flits, as a fraction: numerator and denominator.
    pub mean: (u64, u64),
    /// What sizes are measured by.
    pub scale: &'a Scale,
}

/// The slots in which messages are made. Immutable, and shared by all sources; `state` is the one word that a source keeps.
pub trait Pace: Send + Sync + std::fmt::Debug {
    /// The slot of the first message, or [`NEVER`].
    fn first(&self, state: &mut u64, random: &mut Stream) -> u64;
    /// The slot of the message after the one in `slot`, or [`NEVER`].
    fn next(&self, slot: u64, state: &mut u64, random: &mut Stream) -> u64;
    /// The variance of the number of messages in so many slots over its mean, under other seeds; at least that.
    fn dispersion(&self, _slots: f64) -> f64 {
        1.0
    }
}

/// Slot of a source that makes no more messages.
pub const NEVER: u64 = u64::MAX;

crate::kinds::kinds! {
    /// `process = …` of a `[[traffic]]` table: when messages are made. The list of kinds, one line each.
    pub enum Process by "kind" {
        Bernoulli(bernoulli::Bernoulli) = "bernoulli",
        Periodic(periodic::Periodic) = "periodic",
        OneShot(one_shot::OneShot) = "one-shot",
        OnOff(on_off::OnOff) = "on-off",
    }
    /// What the process provides, whichever kind it is.
    pub fn arrivals -> dyn Arrivals;
}

impl Default for Process {
    fn default() -> Self {
        Self::Bernoulli(bernoulli::Bernoulli {})
    }
}

impl Process {
    /// When a source makes messages. Without a load, of a process that has one, it never does.
    pub fn pace(&self, offered: Offered) -> Box<dyn Pace> {
        let silent = self.arrivals().has_load() && offered.load <= 0.0;
        if silent { Box::new(Silence) } else { self.arrivals().pace(offered) }
    }
}

/// No messages.
#[derive(Debug)]
struct Silence;

impl Pace for Silence {
    fn first(&self, _: &mut u64, _: &mut Stream) -> u64 {
        NEVER
    }

    fn next(&self, _: u64, _: &mut u64, _: &mut Stream) -> u64 {
        NEVER
    }
}

/// The number of slots until something happens that has the same probability in every slot.
#[derive(Debug, Clone, Copy)]
struct Geometric(
    /// 1 / ln(1 − p), p being the probability; −0 if that is 1.
    f64,
);

impl Geometric {
    /// With the mean 1 / `p`, for 0 < p ≤ 1.
    fn of_probability(p: f64) -> Self {
        if p >= 1.0 { Self(-0.0) } else { Self(1.0 / libm::log1p(-p)) }
    }

    /// Draws a number of slots, at least 1, by inversion: P(gap > k) = (1 − p)ᵏ = P(u < (1 − p)ᵏ). The logarithm is libm's,
    /// and the conversion saturates, so that every machine gets the same gap.
    fn draw(self, random: &mut Stream) -> u64 {
        ((libm::log(random.unit()) * self.0) as u64).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const SCALE: Scale =
        Scale { flit_bits: 100, packet_flits: 24, host: crate::units::Rate(100_000_000_000) };

    /// The slots of the messages of a source, without end.
    pub(super) fn slots(process: &Process, load: f64, flits: u64, seed: u64) -> impl Iterator<Item = u64> {
        let pace = process.pace(Offered { load, mean: (flits, 1), scale: &SCALE });
        let (mut state, mut random) = (0, Stream::new(seed, "traffic", "test", 0));
        let first = pace.first(&mut state, &mut random);
        let made =
            std::iter::successors(Some(first), move |&slot| Some(pace.next(slot, &mut state, &mut random)));
        made.take_while(|&slot| slot != NEVER)
    }

    /// A process of each kind, with its defaults.
    pub(super) fn all() -> Vec<Process> {
        let read = |kind: &&str| serde_json::from_value(serde_json::json!({ "kind": kind }));
        Process::KINDS.iter().map(read).collect::<Result<_, _>>().expect("all parameters have defaults")
    }

    #[test]
    fn every_kind_offers_the_load_with_one_message_in_a_slot_at_most() {
        for process in all().iter().filter(|process| process.arrivals().has_load()) {
            for (load, flits) in [(0.01, 1), (0.4, 4), (0.9, 24), (1.0, 1), (1.0, 48)] {
                let end = (10_000.0 * flits as f64 / load) as u64;
                let counts: Vec<f64> = (0..64)
                    .map(|seed| {
                        let made: Vec<u64> =
                            slots(process, load, flits, seed).take_while(|&slot| slot < end).collect();
                        assert!(made.windows(2).all(|pair| pair[0] < pair[1]), "{process:?}");
                        made.len() as f64
                    })
                    .collect();
                let (mean, variance) = moments(&counts);
                let error = (variance / 64.0).sqrt();
                assert!(
                    (mean - 10_000.0).abs() <= 3.5 * error + 1.0,
                    "{process:?} at {load}: {mean} messages, standard error {error}"
                );
            }
        }
    }

    #[test]
    fn no_load_makes_no_message_unless_the_process_needs_none() {
        for process in all() {
            let made = slots(&process, 0.0, 4, 1).count();
            assert_eq!(made, usize::from(!process.arrivals().has_load()), "{process:?}");
        }
    }

    /// Mean and variance of a sample.
    pub(super) fn moments(sample: &[f64]) -> (f64, f64) {
        let n = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / n;
        (mean, sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
    }
}
