//! The messages of one endpoint: when each is made, for whom, and how large.
//!
//! A [`Plan`] is what all sources of a class share; a [`Generator`] is the small state of one of them. A generator draws
//! from a stream keyed by (seed, class name, endpoint) only: no other class, and nothing in the network, changes it.
use super::bind::BoundClass;
use crate::rng::Stream;
use crate::scenario::Process;
use crate::units::gcd;

/// Flit times of the host link, in the engine's ticks, and the ticks between which a class makes messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Ticks in `slot_den` flit times: the length of a flit time is a fraction.
    pub slot_num: u64,
    /// Flit times in `slot_num` ticks.
    pub slot_den: u64,
    /// Tick of the class's first slot.
    pub start: u64,
    /// Tick from which on no message is made.
    pub stop: Option<u64>,
}

/// A message to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Tick in which it is made.
    pub born: u64,
    /// Endpoint it is for.
    pub destination: u32,
    /// Its size.
    pub flits: u32,
}

/// What the generators of a class share. Immutable.
#[derive(Debug)]
pub struct Plan {
    class: BoundClass,
    seed: u64,
    clock: Clock,
    pace: Pace,
    /// First slot in which no message is made.
    end: u64,
}

/// How the slots of messages follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pace {
    Never,
    /// A message in every slot.
    Always,
    /// Geometric gaps; 1 / ln(1 − p), p being the probability of a message in a slot.
    Geometric(f64),
    /// `whole + part / den` slots apart.
    Even {
        whole: u64,
        part: u64,
        den: u64,
    },
    Once,
}

/// Slot of a generator that makes no more messages.
const NEVER: u64 = u64::MAX;

/// The state of one source: the message it makes next, and its random stream. At most 64 bytes.
#[derive(Debug, Clone)]
pub struct Generator {
    random: Stream,
    slot: u64,
    /// Fraction of a slot that even spacing carries over.
    carry: u64,
    endpoint: u32,
    destination: u32,
    flits: u32,
}

impl Clock {
    /// The tick in which a slot begins, rounded up to a whole tick; exact however many slots have passed.
    pub fn tick(&self, slot: u64) -> u64 {
        let ticks = match slot.checked_mul(self.slot_num) {
            Some(product) => product.div_ceil(self.slot_den),
            None => saturate((u128::from(slot) * u128::from(self.slot_num)).div_ceil(self.slot_den.into())),
        };
        self.start.saturating_add(ticks)
    }

    /// The first slot that begins in `stop` or later.
    fn end(&self) -> u64 {
        let Some(stop) = self.stop else { return NEVER };
        match stop.saturating_sub(self.start).checked_sub(1) {
            None => 0,
            // ⌈slot · num / den⌉ > last exactly if slot > last · den / num.
            Some(last) => {
                saturate(u128::from(last) * u128::from(self.slot_den) / u128::from(self.slot_num) + 1)
            }
        }
    }
}

impl Plan {
    /// The plan of a class under `seed`. The clock's slot must be longer than nothing.
    pub fn new(class: BoundClass, seed: u64, clock: Clock) -> Self {
        assert!(
            clock.slot_num > 0 && clock.slot_den > 0,
            "a flit time of {}/{}",
            clock.slot_num,
            clock.slot_den
        );
        let pace = match class.process {
            Process::OneShot => Pace::Once,
            _ if class.load_per_source <= 0.0 => Pace::Never,
            Process::Bernoulli => bernoulli(class.load_per_source, class.sizes.mean()),
            Process::Periodic => even(class.load_per_source, class.sizes.mean()),
        };
        Self { end: clock.end(), class, seed, clock, pace }
    }

    /// The class.
    pub fn class(&self) -> &BoundClass {
        &self.class
    }

    /// The generators of all sources of the class, in ascending order of the endpoints.
    pub fn generators(&self) -> impl Iterator<Item = Generator> {
        self.class.destinations.sources().iter().map(|&endpoint| Generator::new(self, endpoint))
    }
}

impl Generator {
    /// The generator of a source of the class.
    pub fn new(plan: &Plan, endpoint: u32) -> Self {
        let random = Stream::new(plan.seed, "traffic", &plan.class.name, endpoint.into());
        let mut generator = Self { random, slot: 0, carry: 0, endpoint, destination: 0, flits: 0 };
        generator.slot = match plan.pace {
            Pace::Never => NEVER,
            Pace::Always | Pace::Once => 0,
            Pace::Geometric(scale) => generator.gap(scale) - 1,
            Pace::Even { whole, part, den } => generator.phase(whole, part, den),
        };
        generator.fill(plan);
        generator
    }

    /// The endpoint that sends.
    pub fn endpoint(&self) -> u32 {
        self.endpoint
    }

    /// The next message, if there is one. `plan` must be the one of [`Generator::new`], here and in `pop`.
    pub fn peek(&self, plan: &Plan) -> Option<Message> {
        (self.slot != NEVER).then(|| Message {
            born: plan.clock.tick(self.slot),
            destination: self.destination,
            flits: self.flits,
        })
    }

    /// The next message, if there is one; draws the one after it.
    pub fn pop(&mut self, plan: &Plan) -> Option<Message> {
        let message = self.peek(plan)?;
        self.slot = match plan.pace {
            Pace::Never | Pace::Once => NEVER,
            Pace::Always => self.slot + 1,
            Pace::Geometric(scale) => self.slot.saturating_add(self.gap(scale)),
            Pace::Even { whole, part, den } => {
                let carry = self.carry + part;
                self.carry = carry % den;
                self.slot.saturating_add(whole).saturating_add(carry / den)
            }
        };
        self.fill(plan);
        Some(message)
    }

    /// Draws size and destination of the message of the present slot.
    fn fill(&mut self, plan: &Plan) {
        if self.slot >= plan.end {
            self.slot = NEVER;
            return;
        }
        self.flits = plan.class.sizes.draw(&mut self.random);
        self.destination = plan.class.destinations.draw(self.endpoint, &mut self.random);
    }

    /// A geometric gap of at least one slot, by inversion: P(gap > k) = (1 − p)ᵏ = P(u < (1 − p)ᵏ). The logarithm is
    /// libm's, and the conversion saturates, so that every machine gets the same gap.
    fn gap(&mut self, scale: f64) -> u64 {
        ((libm::log(self.random.unit()) * scale) as u64).saturating_add(1)
    }

    /// A phase in [0, whole + part/den), every multiple of 1/den equally likely; returns its whole slots.
    fn phase(&mut self, whole: u64, part: u64, den: u64) -> u64 {
        let mut below = |n: u64| ((u128::from(self.random.next()) * u128::from(n)) >> 64) as u64;
        loop {
            // Of the last, partial slot only its part: less than half of the draws are repeated.
            let (slot, carry) = (below(whole + u64::from(part > 0)), below(den));
            if slot < whole || carry < part {
                self.carry = carry;
                return slot;
            }
        }
    }
}

/// A message in each slot with the probability load / mean, so that a load of 1 is one flit per flit time.
fn bernoulli(load: f64, (num, den): (u64, u64)) -> Pace {
    let p = load * den as f64 / num as f64;
    if p >= 1.0 { Pace::Always } else { Pace::Geometric(1.0 / libm::log1p(-p)) }
}

/// Messages mean / load slots apart.
fn even(load: f64, (num, den): (u64, u64)) -> Pace {
    let (load_num, load_den) = rational(load);
    let (num, den) = (u128::from(num) * u128::from(load_den), u128::from(den) * u128::from(load_num));
    let divisor = gcd(num, den);
    let (num, den) = (num / divisor, den / divisor);
    // A mean's denominator is at most 2³², a load's numerator at most 2³¹: sums of two parts fit.
    Pace::Even { whole: saturate(num / den).min(NEVER - 1), part: (num % den) as u64, den: den as u64 }
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

fn saturate(ticks: u128) -> u64 {
    ticks.try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::sizes::Sizes;
    use super::super::testing::{bind, groups};
    use super::super::uniform::Uniform;
    use super::*;
    use crate::units::Time;

    const EACH_TICK: Clock = Clock { slot_num: 1, slot_den: 1, start: 0, stop: None };

    fn class(name: &str, process: Process, load: f64, sizes: Sizes) -> BoundClass {
        let endpoints: Vec<u32> = (0..16).collect();
        BoundClass {
            name: name.into(),
            destinations: bind(&Uniform::default(), &groups(1, 4, 4), &endpoints, false).unwrap(),
            endpoints,
            load_per_source: load,
            sizes,
            process,
            start: Time(0),
            stop: None,
        }
    }

    fn plan(process: Process, load: f64, flits: u32) -> Plan {
        Plan::new(class("test", process, load, Sizes::Fixed(flits)), 1, EACH_TICK)
    }

    fn messages(plan: &Plan, endpoint: u32, count: usize) -> Vec<Message> {
        let mut generator = Generator::new(plan, endpoint);
        std::iter::from_fn(|| generator.pop(plan)).take(count).collect()
    }

    #[test]
    fn a_generator_fits_in_a_cache_line() {
        assert!(size_of::<Generator>() <= 64);
    }

    #[test]
    fn bernoulli_offers_the_load_within_three_standard_errors() {
        for (load, flits) in [(0.01, 1), (0.4, 4), (0.5, 1), (0.9, 24), (1.0, 4), (1.0, 48)] {
            let p = load / f64::from(flits);
            let count = 200_000;
            let last = messages(&plan(Process::Bernoulli, load, flits), 3, count)[count - 1];
            let gap = (last.born + 1) as f64 / count as f64;
            let error = ((1.0 - p) / (p * p) / count as f64).sqrt();
            assert!((gap - 1.0 / p).abs() <= 3.0 * error, "load {load}, {flits} flits: mean gap {gap}");
        }
    }

    #[test]
    fn gaps_are_geometric() {
        let made = messages(&plan(Process::Bernoulli, 0.8, 4), 5, 100_001);
        let p: f64 = 0.2;
        let mut counts = [0u32; 31];
        for pair in made.windows(2) {
            counts[(pair[1].born - pair[0].born).min(31) as usize - 1] += 1;
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
        for process in [Process::Bernoulli, Process::Periodic] {
            let made = messages(&plan(process, 1.0, 1), 0, 1000);
            assert!(made.iter().enumerate().all(|(slot, message)| message.born == slot as u64));
        }
    }

    #[test]
    fn periodic_messages_do_not_drift_over_a_million() {
        // 3 flits at 0.7 are 30/7 slots apart; and 258 flits at 1/3 exactly 774.
        for (load, flits, num, den) in [(0.7, 3, 30, 7), (1.0 / 3.0, 258, 774, 1)] {
            let made = messages(&plan(Process::Periodic, load, flits), 2, 1_000_001);
            for k in [1u64, 7, 1000, 999_999, 1_000_000] {
                let span = made[k as usize].born - made[0].born;
                assert!(span.abs_diff(k * num / den) <= u64::from(den > 1), "message {k}: {span}");
            }
            assert_eq!(made[700_000].born - made[0].born, 700_000 * num / den);
        }
    }

    #[test]
    fn periodic_sources_differ_in_phase_within_one_period() {
        let plan = plan(Process::Periodic, 0.1, 4);
        let phases: Vec<u64> = (0..16).map(|e| messages(&plan, e, 1)[0].born).collect();
        assert!(phases.iter().all(|&phase| phase < 40));
        assert!(phases.iter().collect::<std::collections::BTreeSet<_>>().len() > 8, "{phases:?}");
    }

    #[test]
    fn one_shot_makes_one_message_at_the_start() {
        let clock = Clock { start: 77, ..EACH_TICK };
        let plan = Plan::new(class("test", Process::OneShot, 0.0, Sizes::Fixed(8)), 1, clock);
        for mut generator in plan.generators() {
            let message = generator.pop(&plan).unwrap();
            assert_eq!((message.born, message.flits, generator.pop(&plan)), (77, 8, None));
        }
    }

    #[test]
    fn no_load_makes_no_message() {
        for process in [Process::Bernoulli, Process::Periodic] {
            assert_eq!(messages(&plan(process, 0.0, 4), 1, 1), []);
        }
    }

    #[test]
    fn messages_are_made_from_start_until_before_stop() {
        for stop in [5, 6, 100, 101, 102, 103, 104] {
            let clock = Clock { slot_num: 32, slot_den: 5, start: 5, stop: Some(stop) };
            let plan = Plan::new(class("test", Process::Bernoulli, 1.0, Sizes::Fixed(1)), 1, clock);
            let made: Vec<u64> = messages(&plan, 0, 1000).iter().map(|message| message.born).collect();
            let expected: Vec<u64> =
                (0..).map(|k: u64| 5 + (k * 32).div_ceil(5)).take_while(|&t| t < stop).collect();
            assert_eq!(made, expected, "stop {stop}");
        }
    }

    #[test]
    fn ticks_stay_exact_beyond_64_bits_of_product() {
        let clock = Clock { slot_num: 1 << 40, slot_den: 3 << 38, ..EACH_TICK };
        assert_eq!(clock.tick(3 << 30), 4 << 30);
    }

    #[test]
    fn the_traffic_depends_on_seed_class_name_and_endpoint_only() {
        let with =
            |name, seed| Plan::new(class(name, Process::Bernoulli, 0.4, Sizes::Fixed(4)), seed, EACH_TICK);
        let (alone, again) = (with("victim", 1), with("victim", 1));
        let mut other = Generator::new(&with("hot", 1), 3);
        let mut generator = Generator::new(&again, 3);
        let interleaved: Vec<Message> = (0..100)
            .map(|_| {
                other.pop(&again);
                generator.pop(&again).unwrap()
            })
            .collect();
        assert_eq!(messages(&alone, 3, 100), interleaved);
        assert_ne!(messages(&alone, 4, 100), interleaved);
        assert_ne!(messages(&with("hot", 1), 3, 100), interleaved);
        assert_ne!(messages(&with("victim", 2), 3, 100), interleaved);
    }

    /// A change of these numbers is a change of every result that was ever computed from a seed.
    #[test]
    fn the_first_messages_of_a_seed_are_the_same_on_every_machine() {
        let text = |process| -> Vec<String> {
            let made = messages(&plan(process, 0.4, 4), 3, 5);
            made.iter().map(|message| format!("{} to {}", message.born, message.destination)).collect()
        };
        assert_eq!(text(Process::Bernoulli).join(", "), "18 to 10, 22 to 10, 28 to 13, 48 to 1, 57 to 8");
        assert_eq!(text(Process::Periodic).join(", "), "1 to 11, 11 to 10, 21 to 9, 31 to 13, 41 to 1");
    }

    #[test]
    fn another_load_keeps_the_destinations() {
        let to = |load| -> Vec<u32> {
            messages(&plan(Process::Bernoulli, load, 4), 3, 50)
                .iter()
                .map(|message| message.destination)
                .collect()
        };
        assert_eq!(to(0.1), to(0.7));
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
