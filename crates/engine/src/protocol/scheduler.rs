//! The reservation scheduler of a destination, shared by the protocols that grant times to send.
use super::Reply;
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How soon a granted time may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lead {
    /// At once. The answer is still under way then, and what it is for comes so much later than granted: where more is asked for than the
    /// channel carries, what waits for the channel by then stays as long as that.
    None,
    /// No sooner than after as long as what asked, or was refused, has been under way: about when the answer is at its source.
    Way,
}

/// How soon a destination grants, and what a granted flit costs: its share of a largest packet's time on the ejection channel, and a share
/// more for control packets.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// A largest packet: its time and its flits.
    time: Tick,
    flits: u64,
    /// Millionths of that time for each packet.
    millionths: u64,
    /// Flits of an interval beside those that were asked for.
    overhead: u64,
    /// How soon.
    lead: Lead,
}

impl Pace {
    /// The pace of an endpoint, whose intervals are longer by the fraction `epsilon`.
    pub fn new(plan: &Plan, epsilon: f64) -> Self {
        let flits = plan.packet_flits;
        Self::of((plan.drain_time[usize::from(flits)].into(), flits.into()), epsilon)
    }

    fn of((time, flits): (Tick, u64), epsilon: f64) -> Self {
        Self {
            time,
            flits,
            millionths: 1_000_000 + libm::round(epsilon * 1e6) as u64,
            overhead: 0,
            lead: Lead::None,
        }
    }

    /// As it is, with so many flits more in every interval.
    pub fn beside(self, overhead: u32) -> Self {
        Self { overhead: overhead.into(), ..self }
    }

    /// As it is, but so soon.
    pub fn leading(self, lead: Lead) -> Self {
        Self { lead, ..self }
    }

    /// The earliest time to grant to a packet that has come now, or is refused now.
    pub fn earliest(&self, packet: &Packet, now: Tick) -> Tick {
        match self.lead {
            Lead::None => now,
            Lead::Way => now + (now - packet.cold.injected),
        }
    }

    /// The interval for a number of flits, rounded up to a tick once.
    pub fn span(&self, flits: u64) -> Tick {
        let [of, time, millionths] = [flits + self.overhead, self.time, self.millionths].map(u128::from);
        (of * time * millionths).div_ceil(1_000_000 * u128::from(self.flits)) as Tick
    }
}

/// Grants intervals of an ejection channel one after the other: one register, the end of the last interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scheduler {
    free_at: Tick,
}

impl Scheduler {
    /// Grants `span` ticks: the interval starts at the earliest time asked for, or when the last one ends.
    pub fn grant(&mut self, earliest: Tick, span: Tick) -> Tick {
        let start = earliest.max(self.free_at);
        self.free_at = start + span;
        start
    }

    /// The grant for a reservation: its first word is the number of flits, its second comes back.
    pub fn answer(&mut self, reservation: &Packet, pace: Pace, now: Tick, class: u8) -> Reply {
        let [flits, which] = reservation.notes.words;
        let start = self.grant(pace.earliest(reservation, now), pace.span(flits));
        Reply { kind: Kind::Grant, class, words: [start + 1, which] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn granted_intervals_never_overlap_and_start_no_earlier_than_asked() {
        let mut scheduler = Scheduler::default();
        assert_eq!(scheduler.grant(10, 4), 10);
        assert_eq!(scheduler.grant(11, 4), 14);
        assert_eq!(scheduler.grant(100, 4), 100);
    }

    #[test]
    fn an_answer_leads_by_the_way_of_what_asked() {
        let mut packet = Packet::default();
        packet.cold.injected = 70;
        let pace = Pace::of((24, 24), 0.0);
        assert_eq!(pace.earliest(&packet, 100), 100);
        assert_eq!(pace.leading(Lead::Way).earliest(&packet, 100), 130);
    }

    #[test]
    fn an_interval_is_rounded_up_once() {
        assert_eq!(Pace::of((100, 1), 0.05).span(7), 735);
        assert_eq!(Pace::of((24, 24), 0.05).span(7), 8);
        assert_eq!(Pace::of((24, 24), 0.05).span(100), 105);
        assert_eq!(Pace::of((72, 24), 0.0).span(5), 15);
        // Flits of 10.3 ticks, of which a packet of 24 takes 248 and one flit 11.
        assert_eq!(Pace::of((248, 24), 0.0).span(240), 2480);
        assert_eq!(Pace::of((248, 24), 0.0).span(1), 11);
        assert_eq!(Pace::of((24, 24), 0.05).beside(2).span(98), 105);
    }

    proptest! {
        #[test]
        fn reserved_traffic_never_exceeds_the_rate_of_a_destination(
            asked in prop::collection::vec((0u64..50, 1u64..600), 1..100),
            flit in 1u64..7000,
            epsilon in 0.0..1.0f64,
        ) {
            let (mut scheduler, pace) = (Scheduler::default(), Pace::of((flit, 1), epsilon));
            let (mut now, mut free) = (0, 0);
            for (gap, flits) in asked {
                now += gap * flit;
                let start = scheduler.grant(now, pace.span(flits));
                prop_assert!(start >= now && start >= free, "an interval overlaps the last one");
                free = start + flits * flit;
            }
        }
    }
}
