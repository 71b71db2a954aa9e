//! Explicit congestion notification after InfiniBand.
use super::marker::{Counts, Marker};
use super::reach::Reach;
use super::{Agent, Defaults, Pull, Received, Reply, Scheme, Sent, Source, millionths};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use crate::problem::Problem;
use crate::units::{Duration, Scale, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// Explicit congestion notification after InfiniBand: marks at the root of congestion, a delay between packets at the
/// source.
///
/// # What it does
///
/// A switch marks packets that leave through a port with a long queue. The mark is returned to the source, which adds a delay
/// between the packets of that send queue, and reduces the delay step by step while no marks come.
///
/// Only data are marked, and what waits includes control packets and, but with `counts = "inputs"`, the packet that leaves. A packet that starts sets the time of the
/// next of its send queue: its end and the delay at that end, by the notifications that have come when it starts; what changes later does
/// not move it. A destination sends the acknowledgement of a packet before its notification.
///
/// # Where it acts
///
/// Switch (mark at departure), destination (returns the mark), source (delay per send queue).
///
/// # Parameters
///
/// The defaults are those of SC '15, Table 1, by the length of its packets, which have 24 flits at most: a threshold of 192 flits
/// (half an output queue), increments of 24 cycles; a cycle is the time of a flit. The decrement is ours: a packet's time in 96 of
/// them, so that more than 96 sources of one endpoint, of which each gets a packet through in no less, are not held back; for more, make `timer` longer. HPCA 2012 has
/// `notify = "notification"`, `threshold = "461 flits"`, `counts = "inputs"`, `increment = "800 ns"`, `decrement = "50 ns"` and
/// `timer = "2 us"`.
///
/// # Paper
///
/// N. Jiang et al., "Network Endpoint Congestion Control for Fine-Grained Communication", SC '15, Table 1, and N.
/// Jiang et al., "Network Congestion Avoidance Through Speculative Reservation", HPCA 2012, section 4.
///
/// # Differences from the paper
///
/// The papers give no rule for the root; here it is a port whose waiting flits exceed the threshold while its channel has
/// credit for another packet. SC '15 gives no decrement. Taken literally, the papers let every notification add its increment:
/// the marks of one round trip add up and the sources overshoot. InfiniBand's remedy is available as `marking_rate`, and RoCE's
/// (one notification per flow and period) as `increase_period`; both are off by default, since neither paper speaks of them.
/// With at most one step per round trip (`increase_period = "2.2 us"`, one seed), a hot endpoint of SC '15 accepts 98.9 % of
/// its channel at loads of 1.1, 2 and 15 times the channel, instead of 66 % if every mark counts; a packet then takes 2.8 to
/// 3.0 us instead of 1.1. Victims wait up to 206 us, and still 3.4 us at 380 us after the onset. With a `table`, which
/// InfiniBand's Congestion Control Architecture has and the papers do not, the delay is the table's value at an index that
/// notifications raise and the timer lowers by one. There the timer runs on through notifications, as in InfiniBand; without a
/// table it begins anew with each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ecn {
    /// How a mark returns to the source.
    pub notify: Notify,
    /// Flits waiting for an output above which packets are marked, if the channel has credits.
    pub threshold: Size,
    /// Which of them.
    pub counts: Counts,
    /// Added to the inter-packet delay by each notification. By default the time of a packet of the largest size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increment: Option<Duration>,
    /// Taken off the delay once per `timer` without a notification. By default a 24th of the time of a packet of the largest size,
    /// rounded up to cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decrement: Option<Duration>,
    /// Period of the decrement (InfiniBand's CCTI_Timer). By default 96 times the default decrement before that is rounded to ticks.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Duration>,
    /// Time after an increase in which further notifications add nothing to that queue's delay; they begin the timer anew all the same.
    pub increase_period: Duration,
    /// Mean number of packets at the root that are not marked between two that are (InfiniBand's Marking_Rate).
    pub marking_rate: u32,
    /// The delays by index, from index 0 (InfiniBand's Congestion Control Table), where the index stops at the last, and the timer's periods count from the
    /// beginning of the run; without it, `increment` and `decrement` say how
    /// the delay changes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<Duration>,
    /// Added to the index of `table` by each notification (InfiniBand's CCTI_Increase).
    #[schemars(range(min = 1))]
    pub index_increase: u32,
}

impl Default for Ecn {
    fn default() -> Self {
        Self {
            notify: Notify::Acknowledgement,
            threshold: Size::Packets(8),
            counts: Counts::All,
            increment: None,
            decrement: None,
            timer: None,
            increase_period: Duration::Ps(0),
            marking_rate: 0,
            table: Vec::new(),
            index_increase: 1,
        }
    }
}

/// How a mark returns to the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Notify {
    /// Echoed in the acknowledgement.
    Acknowledgement,
    /// As a control packet of its own, one per marked packet.
    Notification,
}

/// State of a send queue.
#[derive(Debug, Default)]
pub struct Delay {
    /// Delay between packets as of `since`, or the index of it if there is a table.
    delay: Tick,
    /// When the timer that lowers the delay began its period: at the last notification, or with a table one that runs on.
    since: Tick,
    /// Earliest start of the next packet.
    next: Tick,
    /// Until when notifications add nothing.
    deaf_until: Tick,
}

/// The source of [`Ecn`], in ticks.
pub struct Throttle {
    acknowledge: bool,
    notify: Notify,
    increment: Tick,
    decrement: Tick,
    timer: Tick,
    increase_period: Tick,
    /// The delays by index, if they stand in a table.
    table: Vec<Tick>,
    /// Of the largest packet on the endpoint's channel.
    packet_time: Tick,
    control: u8,
    data: u8,
}

impl Throttle {
    /// The largest delay or index.
    fn limit(&self) -> Tick {
        (self.table.len() as Tick).checked_sub(1).unwrap_or(Tick::MAX)
    }

    /// The time of a delay or index.
    fn time(&self, delay: Tick) -> Tick {
        if self.table.is_empty() { delay } else { self.table[delay as usize] }
    }

    /// The delay or index at `now`: one decrement less for each whole timer period.
    fn delay(&self, state: &Delay, now: Tick) -> Tick {
        let periods = (now - state.since) / self.timer;
        state.delay.saturating_sub(periods.saturating_mul(self.decrement))
    }

    /// When the queue can be forgotten: no delay is left, and the last one has passed.
    fn zero_at(&self, state: &Delay) -> Tick {
        if self.decrement == 0 && state.delay > 0 {
            return Tick::MAX;
        }
        let periods = state.delay.div_ceil(self.decrement.max(1));
        state.next.max(state.deaf_until).max(state.since.saturating_add(periods.saturating_mul(self.timer)))
    }
}

impl Source for Throttle {
    type Queue = Delay;
    type Sink = ();

    fn pull(&self, queue: &SendQueue<Delay>, now: Tick) -> Pull {
        if !queue.has_message() {
            let zero = self.zero_at(&queue.state);
            if zero > now { Pull::At(zero) } else { Pull::Wait }
        } else if queue.state.next > now {
            Pull::At(queue.state.next)
        } else {
            Pull::Next(self.data)
        }
    }

    fn plain(&self, queue: &SendQueue<Delay>, now: Tick) -> Option<u8> {
        (queue.state.next <= now).then_some(self.data)
    }

    fn on_sent(&self, queue: &mut SendQueue<Delay>, sent: &Sent) {
        queue.state.next = sent.end.saturating_add(self.time(self.delay(&queue.state, sent.end)));
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Ack && self.notify == Notify::Acknowledgement || kind == Kind::Notification
    }

    fn on_control(&self, queue: &mut SendQueue<Delay>, packet: &Packet, now: Tick) {
        if packet.hot.kind() == Kind::Ack && packet.notes.words[0] == 0 {
            return;
        }
        let increment = if now < queue.state.deaf_until { 0 } else { self.increment };
        if increment > 0 {
            queue.state.deaf_until = now.saturating_add(self.increase_period);
        }
        let delay = self.delay(&queue.state, now).saturating_add(increment);
        let begun = if self.table.is_empty() { 0 } else { (now - queue.state.since) % self.timer };
        queue.state.delay = delay.min(self.limit());
        queue.state.since = now - begun;
    }

    fn allowed_towards(&self, queue: &SendQueue<Delay>, _dst: u32, now: Tick) -> Option<(u32, Tick)> {
        let time = self.packet_time as f64;
        Some((millionths(time / (time + self.time(self.delay(&queue.state, now)) as f64)), 0))
    }

    fn idle(&self, queue: &SendQueue<Delay>, now: Tick) -> bool {
        self.zero_at(&queue.state) <= now
    }

    fn reply(&self, _sink: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        if received.packet.hot.kind() != Kind::Data {
            return;
        }
        let marked = received.packet.cold.marked();
        if self.acknowledge {
            replies.push(Reply { kind: Kind::Ack, class: self.control, words: [marked as u64, 0] });
        }
        if marked && self.notify == Notify::Notification {
            replies.push(Reply { kind: Kind::Notification, class: self.control, words: [0; 2] });
        }
    }
}

impl Ecn {
    /// What the delay changes by and how often: key, what is given, and else the cycles.
    fn steps(&self, plan: &Plan) -> [(&'static str, Option<Duration>, u64); 3] {
        let packet = u64::from(plan.packet_flits);
        let step = packet.div_ceil(24);
        [
            ("increment", self.increment, packet),
            ("decrement", self.decrement, step),
            ("timer", self.timer, 96 * step),
        ]
    }
}

impl Scheme for Ecn {
    fn tells_rates(&self) -> bool {
        true
    }

    fn needs_acknowledgements(&self) -> Option<(&'static str, &'static str)> {
        (self.notify == Notify::Acknowledgement).then_some((
            "marks return in acknowledgements, and there are none",
            "acknowledge = true, or congestion_control.notify = \"notification\"",
        ))
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
        let steps = self.steps(plan).into_iter();
        let used =
            steps.filter(|(key, given, _)| given.is_none() && (self.table.is_empty() || *key == "timer"));
        used.map(|(key, _, cycles)| {
            (key.to_string(), json!(Duration::Ps(Duration::Cycles(cycles).time(&plan.scale).0)))
        })
        .collect()
    }

    fn remarks(&self, plan: &Plan) -> Vec<String> {
        let threshold = plan.flits(self.threshold);
        Vec::from_iter(Reach::of_data(plan).warning("threshold", threshold, "anything is marked"))
    }

    fn problems(&self, scale: &Scale) -> Vec<Problem> {
        let unused = [
            ("increment", self.increment.is_some() && !self.table.is_empty()),
            ("decrement", self.decrement.is_some() && !self.table.is_empty()),
            (
                "index_increase",
                self.index_increase != Self::default().index_increase && self.table.is_empty(),
            ),
        ];
        let told = |(key, _): (&str, bool)| {
            let message =
                if self.table.is_empty() { "there is no `table`" } else { "the delays stand in `table`" };
            Problem::new(key, message, "`table` with `index_increase`, or `increment` and `decrement`")
        };
        let mut problems = Vec::from_iter(unused.into_iter().filter(|(_, unused)| *unused).map(told));
        let falls = |pair: &[Duration]| pair[0].time(scale) > pair[1].time(scale);
        if let Some(at) = self.table.windows(2).position(falls) {
            let message =
                format!("delay {} is less than the one before: more marks would mean less delay", at + 1);
            problems.push(Problem::new("table", message, "delays that never fall, from index 0"));
        }
        problems
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let by_index = !self.table.is_empty();
        let [increment, decrement, timer] =
            self.steps(plan).map(|(_, given, cycles)| plan.ticks(given.unwrap_or(Duration::Cycles(cycles))));
        let source = Throttle {
            acknowledge,
            notify: self.notify,
            increment: if by_index { self.index_increase.into() } else { increment },
            decrement: if by_index { 1 } else { decrement },
            timer: timer.max(1),
            increase_period: plan.ticks(self.increase_period),
            table: self.table.iter().map(|&delay| plan.ticks(delay)).collect(),
            packet_time: plan.packet_time(),
            control: plan.control_class(),
            data: plan.data_class(),
        };
        Box::new(NicSet::new(source, plan, share))
    }

    fn agent(&self, plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        let (threshold, counts, marking_rate) = (plan.flits(self.threshold), self.counts, self.marking_rate);
        Box::new(Marker { threshold, counts, marking_rate, seed: plan.seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::packet::Packet;

    fn throttle(increase_period: Tick) -> Throttle {
        Throttle {
            acknowledge: false,
            notify: Notify::Notification,
            increment: 24,
            decrement: 1,
            timer: 96,
            increase_period,
            table: Vec::new(),
            packet_time: 24,
            control: 0,
            data: 1,
        }
    }

    /// The delay at `end` after notifications at these times.
    fn delay(source: &Throttle, times: &[Tick], end: Tick) -> Tick {
        let mut queue = SendQueue::<Delay>::default();
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Notification, 1);
        times.iter().for_each(|&now| source.on_control(&mut queue, &packet, now));
        source.delay(&queue.state, end)
    }

    #[test]
    fn a_delay_that_nothing_takes_off_is_not_forgotten() {
        let source = Throttle { decrement: 0, ..throttle(0) };
        let mut queue = SendQueue::<Delay>::default();
        assert!(source.idle(&queue, 1_000_000));
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Notification, 1);
        source.on_control(&mut queue, &packet, 10);
        assert!(!source.idle(&queue, 1_000_000));
    }

    #[test]
    fn every_notification_adds_its_increment_and_time_takes_it_off() {
        assert_eq!(delay(&throttle(0), &[10, 20, 30], 30), 72);
        assert_eq!(delay(&throttle(0), &[10, 20, 30], 30 + 3 * 96), 69);
    }

    #[test]
    fn with_a_table_notifications_and_the_timer_move_an_index() {
        let source = Throttle { table: vec![0, 5, 20, 100], increment: 2, decrement: 1, ..throttle(0) };
        let at = |times: &[Tick], end| source.time(delay(&source, times, end));
        assert_eq!([at(&[10], 10), at(&[10], 10 + 96), at(&[10], 10 + 2 * 96)], [20, 5, 0]);
        // The index stays in the table.
        assert_eq!([at(&[10, 20, 30], 30), at(&[10, 20, 30], 30 + 96)], [100, 20]);
    }

    #[test]
    fn with_a_table_the_timer_runs_on_through_notifications() {
        let source = Throttle { table: (0..100).collect(), increment: 1, ..throttle(0) };
        let times: Vec<Tick> = (0..64).map(|at| 90 * at).collect();
        // 64 notifications in 5670 ticks, 59 periods of 96.
        assert_eq!(delay(&source, &times, 5670), 64 - 59);
        assert_eq!(delay(&Throttle { table: Vec::new(), ..source }, &times, 5670), 64);
    }

    #[test]
    fn within_an_increase_period_only_the_first_notification_adds_but_all_stop_the_decrease() {
        assert_eq!(delay(&throttle(100), &[10, 20, 109, 110], 110), 48);
        assert_eq!(delay(&throttle(1000), &[10, 100, 190], 190), 24);
    }

    #[test]
    fn the_delay_begins_at_the_tail() {
        let source = throttle(0);
        let mut queue = SendQueue::<Delay>::default();
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Notification, 1);
        source.on_control(&mut queue, &packet, 10);
        packet.hot.set_size(Kind::Data, 20);
        source
            .on_sent(&mut queue, &Sent { pull: Pull::Next(1), packet: &packet, now: 10, end: 30, time: 20 });
        assert_eq!(queue.state.next, 54);
    }

    #[test]
    fn a_queue_is_forgotten_when_nothing_delays_it_and_nobody_is_deaf() {
        let idle_from = |source: &Throttle| {
            let mut queue = SendQueue::<Delay>::default();
            let mut packet = Packet::default();
            packet.hot.set_size(Kind::Notification, 1);
            source.on_control(&mut queue, &packet, 10);
            packet.hot.set_size(Kind::Data, 5);
            source.on_sent(
                &mut queue,
                &Sent { pull: Pull::Next(1), packet: &packet, now: 10, end: 15, time: 5 },
            );
            (0..).find(|&now| now >= 10 && source.idle(&queue, now)).unwrap()
        };
        // The delay of 24 is gone after one period; the gap behind the packet is not.
        let source = Throttle { decrement: 24, timer: 10, ..throttle(0) };
        assert_eq!(idle_from(&source), 15 + 24);
        assert_eq!(idle_from(&Throttle { increase_period: 1000, ..source }), 1010);
    }
}
