//! The messages of one endpoint: when each is made, for whom, and how large.
//!
//! A [`Plan`] is what all sources of a class share; a [`Generator`] is the small state of one of them. A generator draws
//! from a stream keyed by (seed, class name, endpoint) only: no other class, and nothing in the network, changes it.
use super::bind::BoundClass;
use super::process::NEVER;
use crate::rng::Stream;

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
    /// First slot in which no message is made.
    end: u64,
}

/// The state of one source: the message it makes next, and its random stream. At most 64 bytes.
#[derive(Debug, Clone)]
pub struct Generator {
    random: Stream,
    slot: u64,
    /// What the arrival process keeps.
    state: u64,
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
        Self { end: clock.end(), class, seed, clock }
    }

    /// The class.
    pub fn class(&self) -> &BoundClass {
        &self.class
    }

    /// When it makes messages.
    pub fn clock(&self) -> Clock {
        self.clock
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
        let mut generator = Self { random, slot: 0, state: 0, endpoint, destination: 0, flits: 0 };
        generator.slot = plan.class.pace.first(&mut generator.state, &mut generator.random);
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
        self.slot = plan.class.pace.next(self.slot, &mut self.state, &mut self.random);
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
}

fn saturate(ticks: u128) -> u64 {
    ticks.try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::process::{Offered, Process};
    use super::super::sizes::Sizes;
    use super::super::testing::{bind, groups};
    use super::super::uniform::Uniform;
    use super::*;
    use crate::units::{Rate, Scale, Time};

    const EACH_TICK: Clock = Clock { slot_num: 1, slot_den: 1, start: 0, stop: None };

    fn class(name: &str, kind: &str, load: f64, sizes: Sizes) -> BoundClass {
        let endpoints: Vec<u32> = (0..16).collect();
        let process: Process = serde_json::from_value(serde_json::json!({ "kind": kind })).unwrap();
        let scale = Scale { flit_bits: 100, packet_flits: 24, host: Rate(100_000_000_000) };
        BoundClass {
            name: name.into(),
            destinations: bind(&Uniform::default(), &groups(1, 4, 4), &endpoints, false).unwrap(),
            endpoints,
            load_per_source: load,
            pace: process.pace(Offered { load, mean: sizes.mean(), scale: &scale }),
            sizes,
            start: Time(0),
            stop: None,
        }
    }

    fn plan(kind: &str, load: f64, flits: u32) -> Plan {
        Plan::new(class("test", kind, load, Sizes::Fixed(flits)), 1, EACH_TICK)
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
    fn one_shot_makes_one_message_at_the_start() {
        let clock = Clock { start: 77, ..EACH_TICK };
        let plan = Plan::new(class("test", "one-shot", 0.0, Sizes::Fixed(8)), 1, clock);
        for mut generator in plan.generators() {
            let message = generator.pop(&plan).unwrap();
            assert_eq!((message.born, message.flits, generator.pop(&plan)), (77, 8, None));
        }
    }

    #[test]
    fn messages_are_made_from_start_until_before_stop() {
        for stop in [5, 6, 100, 101, 102, 103, 104] {
            let clock = Clock { slot_num: 32, slot_den: 5, start: 5, stop: Some(stop) };
            let plan = Plan::new(class("test", "bernoulli", 1.0, Sizes::Fixed(1)), 1, clock);
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
        let with = |name, seed| Plan::new(class(name, "bernoulli", 0.4, Sizes::Fixed(4)), seed, EACH_TICK);
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
        assert_eq!(text("bernoulli").join(", "), "18 to 10, 22 to 10, 28 to 13, 48 to 1, 57 to 8");
        assert_eq!(text("periodic").join(", "), "1 to 11, 11 to 10, 21 to 9, 31 to 13, 41 to 1");
    }

    #[test]
    fn another_load_keeps_the_destinations() {
        let to = |load| -> Vec<u32> {
            messages(&plan("bernoulli", load, 4), 3, 50).iter().map(|message| message.destination).collect()
        };
        assert_eq!(to(0.1), to(0.7));
    }
}
