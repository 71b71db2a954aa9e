//! How switches mark with a chance that grows with the queue (RED): the agent of DCQCN and NSCC, and the two lengths it goes by.
use super::reach::Reach;
use super::{Agent, Defaults, Departure, Interest, unless_given};
use crate::core::packet::{Cold, Kind};
use crate::core::plan::Plan;
use crate::problem::Problem;
use crate::rng::{mix, unit};
use crate::units::{Scale, Size};
use serde_json::json;

/// Marks packets with a chance that grows with what waits for their output.
pub struct Red {
    /// Flits behind a packet that leaves up to which it is not marked.
    pub from: u32,
    /// Flits beyond which it is.
    pub all: u32,
    /// Chance just below that.
    pub chance: f64,
    /// The seed of the run.
    pub seed: u64,
    /// Ticks of a flit on a channel for which the two lengths are; none if they are for all, else they are as much longer or shorter on
    /// others as these are faster or slower.
    pub flit: Option<f64>,
}

impl Red {
    /// The chance of a mark of a packet behind which so many flits wait.
    fn chance(&self, waiting: u32) -> f64 {
        if waiting > self.all {
            1.0
        } else if waiting <= self.from {
            0.0
        } else {
            self.chance * f64::from(waiting - self.from) / f64::from(self.all - self.from)
        }
    }
}

impl Agent for Red {
    fn interest(&self) -> Interest {
        Interest { departures: true, ..Interest::default() }
    }

    fn on_dequeue(&mut self, departure: &Departure, packet: &mut Cold, _: &mut [u64; 2]) {
        let behind = departure.waiting - departure.flits;
        let own = departure.time as f64 / f64::from(departure.flits);
        let chance = self.chance(self.flit.map_or(behind, |flit| (f64::from(behind) * own / flit) as u32));
        if departure.kind == Kind::Data && chance > 0.0 {
            // By what it is and the time, so that switches on its way draw anew, and no port keeps a count.
            let who = mix(u64::from(packet.src) << 32 | u64::from(packet.message), packet.sequence().into());
            let drawn = unit(mix(mix(self.seed, departure.now), who)) < chance;
            packet.mark(packet.marked() || drawn);
        }
    }
}

/// `mark_from` and `mark_all` of a scheme.
pub struct Marks {
    /// `mark_from`, if it is given.
    pub from: Option<Size>,
    /// `mark_all`, if it is given.
    pub all: Option<Size>,
    /// What `mark_all` is otherwise, in flits, where switches can hold that.
    pub usual: u32,
    /// What `mark_from` is otherwise, in flits, and at most in parts of `mark_all`.
    pub first: (u32, f64),
    /// Whether what they are otherwise is for the channels of endpoints, and for others as much as these carry in the same time.
    pub by_rate: bool,
}

impl Marks {
    /// Both in flits.
    pub fn flits(&self, plan: &Plan) -> (u32, u32) {
        let all = Reach::of_data(plan).limit(self.usual);
        let all = self.all.map_or(all, |size| plan.flits(size));
        let from = ((f64::from(all) * self.first.1) as u32).min(self.first.0);
        let from = self.from.map_or(from, |size| plan.flits(size));
        (from, all.max(from))
    }

    /// The mistake that the first is over the second.
    pub fn problem(from: Option<Size>, all: Option<Size>, scale: &Scale) -> Option<Problem> {
        let wrong = from.zip(all).is_some_and(|(from, all)| from.flits(scale) > all.flits(scale));
        wrong.then(|| Problem::new("mark_from", "it is over mark_all", "less than mark_all, or as much"))
    }

    /// That no switch can hold as much as is marked from.
    pub fn remarks(&self, plan: &Plan) -> Vec<String> {
        Reach::of_data(plan)
            .warning("mark_from", self.flits(plan).0, "anything is marked")
            .into_iter()
            .collect()
    }

    /// Those that are not given: key and value.
    pub fn defaults(&self, plan: &Plan) -> Defaults {
        let (from, all) = self.flits(plan);
        let flits = |flits: u32| json!(Size::Flits(flits.into()));
        unless_given([
            ("mark_from", self.from.is_some(), flits(from)),
            ("mark_all", self.all.is_some(), flits(all)),
        ])
    }

    /// The agent that goes by them.
    pub fn agent(&self, plan: &Plan, chance: f64) -> Red {
        let (from, all) = self.flits(plan);
        let scales = self.by_rate && self.from.is_none() && self.all.is_none();
        let flit = scales.then(|| plan.packet_time() as f64 / plan.packet_flits as f64);
        Red { from, all, chance, seed: plan.seed, flit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::testing;

    #[test]
    fn the_chance_of_a_mark_grows_with_the_queue() {
        let red = Red { from: 10, all: 110, chance: 0.2, seed: 1, flit: None };
        assert_eq!([10, 60, 110, 111].map(|flits| red.chance(flits)), [0.0, 0.1, 0.2, 1.0]);
        let step = Red { from: 10, all: 10, ..red };
        assert_eq!([10, 11].map(|flits| step.chance(flits)), [0.0, 1.0]);
    }

    /// A packet alone is in nobody's way, however long it is.
    #[test]
    fn the_packet_that_leaves_is_no_queue() {
        let mut red = Red { from: 0, all: 0, chance: 1.0, seed: 1, flit: None };
        let mut marks = |waiting| {
            let mut packet = Cold::default();
            red.on_dequeue(&testing::departure(5, waiting, 24, Kind::Data), &mut packet, &mut [0; 2]);
            packet.marked()
        };
        assert_eq!([24, 25].map(&mut marks), [false, true]);
    }

    /// 50 flits of two ticks each: as much as 100 on a channel twice as fast.
    #[test]
    fn lengths_that_stand_for_times_go_by_the_channel() {
        let marks = |flit| {
            let mut red = Red { from: 60, all: 60, chance: 1.0, seed: 1, flit };
            let mut packet = Cold::default();
            red.on_dequeue(&testing::departure(5, 51, 1, Kind::Data), &mut packet, &mut [0; 2]);
            packet.marked()
        };
        assert_eq!([None, Some(2.0), Some(1.0)].map(marks), [false, false, true]);
    }

    #[test]
    fn marks_are_drawn_by_time_and_seed_and_stay() {
        let marks = |seed, now| {
            let mut red = Red { from: 0, all: 100, chance: 1.0, seed, flit: None };
            let d = testing::departure(now, 50, 1, Kind::Data);
            Vec::from_iter((0..10_000).map(|message| {
                let mut packet = Cold { message, ..Cold::default() };
                red.on_dequeue(&d, &mut packet, &mut [0; 2]);
                packet.marked()
            }))
        };
        let one = marks(1, 5);
        let count = |other: &[bool]| one.iter().zip(other).filter(|(a, b)| **a && **b).count();
        assert!((4800..5200).contains(&count(&one)));
        assert!((2300..2700).contains(&count(&marks(1, 6))));
        assert!((2300..2700).contains(&count(&marks(2, 5))));
        let mut red = Red { from: 10, all: 1_000_000, chance: 0.001, seed: 1, flit: None };
        let d = testing::departure(0, 11, 1, Kind::Data);
        let mut packet = Cold::default();
        packet.mark(true);
        red.on_dequeue(&d, &mut packet, &mut [0; 2]);
        assert!(packet.marked());
    }
}
