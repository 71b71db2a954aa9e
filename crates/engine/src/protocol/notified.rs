//! Sources whose rates notifications of marks cut, and destinations that send these: what the kinds of DCQCN have in common.
use super::{Pull, Received, Reply, Sent, Source, millionths};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::Plan;
use crate::keyed::Keyed;
use crate::nic::queue::SendQueue;
use crate::units::Duration;

/// Rates this near to the channel's are the channel's.
const NEARLY: f64 = 0.999;

/// An increase: the rate half way to its target, which is no more than the channel's; both.
pub fn half_way(rate: f64, target: f64) -> (f64, f64) {
    let target = target.min(1.0);
    let rate = (rate + target) / 2.0;
    if rate >= NEARLY { (1.0, 1.0) } else { (rate, target) }
}

/// How a rate falls and rises again.
pub trait Law: Send + Sync + 'static {
    /// The state of a send queue; by default that of one that was never told.
    type Rate: Copy + Default + Send;

    /// The rate, in parts of the channel's.
    fn share(&self, rate: &Self::Rate) -> f64;

    /// Whether it is all of the channel and nothing is about to cut it.
    fn is_free(&self, rate: &Self::Rate) -> bool {
        self.share(rate) >= 1.0
    }

    /// How often to look whether a queue that has nothing to send may be forgotten.
    fn timer(&self) -> Tick;

    /// Goes on to a time.
    fn advance(&self, rate: &mut Self::Rate, now: Tick);

    /// The destination has told of a mark.
    fn told(&self, rate: &mut Self::Rate, now: Tick);

    /// A packet of so many flits begins to leave.
    fn sent(&self, _rate: &mut Self::Rate, _flits: u32) {}
}

/// State of a send queue.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paced<R> {
    rate: R,
    /// Earliest start of the next packet.
    next: Tick,
}

/// The source that goes by a law.
pub struct Notified<L> {
    law: L,
    /// Shortest time between two notifications of a destination to a source.
    interval: Tick,
    acknowledge: bool,
    control: u8,
    data: u8,
}

impl<L: Law> Notified<L> {
    /// Of a network, with notifications of a destination to a source this far apart or further.
    pub fn new(law: L, interval: Duration, plan: &Plan, acknowledge: bool) -> Self {
        let (control, data) = (plan.control_class(), plan.data_class());
        Self { law, interval: plan.ticks(interval), acknowledge, control, data }
    }

    fn is_new(&self, state: &Paced<L::Rate>, now: Tick) -> bool {
        let mut ahead = state.rate;
        self.law.advance(&mut ahead, now);
        self.law.is_free(&ahead) && state.next <= now
    }
}

impl<L: Law> Source for Notified<L> {
    type Queue = Paced<L::Rate>;
    /// When a source was last told.
    type Sink = Keyed<u64, Option<Tick>>;

    fn pull(&self, queue: &SendQueue<Self::Queue>, now: Tick) -> Pull {
        let state = &queue.state;
        if queue.has_message() {
            if state.next > now { Pull::At(state.next) } else { Pull::Next(self.data) }
        } else if self.is_new(state, now) {
            Pull::Wait
        } else {
            Pull::At(state.next.max(now + self.law.timer()))
        }
    }

    fn plain(&self, queue: &SendQueue<Self::Queue>, now: Tick) -> Option<u8> {
        (queue.state.next <= now).then_some(self.data)
    }

    fn on_sent(&self, queue: &mut SendQueue<Self::Queue>, sent: &Sent) {
        let state = &mut queue.state;
        self.law.advance(&mut state.rate, sent.now);
        if self.law.share(&state.rate) < 1.0 {
            self.law.sent(&mut state.rate, sent.packet.hot.flits());
            state.next = sent.now + (sent.time as f64 / self.law.share(&state.rate)).round() as Tick;
        }
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Notification
    }

    fn on_control(&self, queue: &mut SendQueue<Self::Queue>, _packet: &Packet, now: Tick) {
        self.law.told(&mut queue.state.rate, now);
    }

    fn allowed_towards(&self, queue: &SendQueue<Self::Queue>, _dst: u32, _now: Tick) -> Option<(u32, Tick)> {
        Some((millionths(self.law.share(&queue.state.rate)), 0))
    }

    fn idle(&self, queue: &SendQueue<Self::Queue>, now: Tick) -> bool {
        self.is_new(&queue.state, now)
    }

    fn memory(&self, sink: &Self::Sink) -> usize {
        sink.memory()
    }

    fn reply(&self, told: &mut Self::Sink, received: &Received, replies: &mut Vec<Reply>) {
        if self.acknowledge {
            replies.extend(received.acknowledge(true, self.control));
        }
        let cold = &received.packet.cold;
        if received.packet.hot.kind() == Kind::Data && cold.marked() {
            let last = told.entry(received.sender());
            if last.is_none_or(|last| received.now >= last + self.interval) {
                *last = Some(received.now);
                replies.push(Reply { kind: Kind::Notification, class: self.control, words: [0; 2] });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::NEVER;

    /// Half of the channel once told, until a time.
    struct Half(Tick);

    impl Law for Half {
        type Rate = Option<Tick>;

        fn share(&self, rate: &Self::Rate) -> f64 {
            if rate.is_some() { 0.5 } else { 1.0 }
        }

        fn timer(&self) -> Tick {
            100
        }

        fn advance(&self, rate: &mut Self::Rate, now: Tick) {
            *rate = rate.filter(|told| now < told + self.0);
        }

        fn told(&self, rate: &mut Self::Rate, now: Tick) {
            *rate = Some(now);
        }
    }

    fn half(until: Tick) -> Notified<Half> {
        Notified { law: Half(until), interval: 50, acknowledge: false, control: 0, data: 1 }
    }

    #[test]
    fn a_rate_comes_half_way_to_its_target_and_at_last_to_the_channel() {
        assert_eq!(half_way(0.5, 0.75), (0.625, 0.75));
        assert_eq!(half_way(0.9, 1.25), (0.95, 1.0), "the target is at most the channel");
        assert_eq!(half_way(0.9985, 1.0), (1.0, 1.0), "nearly all of it is all of it");
    }

    #[test]
    fn a_destination_tells_a_source_at_most_once_an_interval() {
        let (source, mut told, mut replies) = (half(NEVER / 2), Keyed::default(), Vec::new());
        let mut at = |src, now, marked| {
            let mut packet = Packet::default();
            packet.hot.set_size(Kind::Data, 4);
            packet.cold.src = src;
            packet.cold.mark(marked);
            replies.clear();
            source.reply(
                &mut told,
                &Received { packet: &packet, droppable: false, grade: 0, flow: 0, now },
                &mut replies,
            );
            replies.len()
        };
        assert_eq!(
            [at(1, 0, false), at(1, 0, true), at(2, 1, true), at(1, 49, true), at(1, 50, true)],
            [0, 1, 1, 0, 1]
        );
    }

    #[test]
    fn the_next_packet_starts_by_the_rate_at_the_start_of_the_last() {
        let (source, mut queue) = (half(NEVER / 2), SendQueue::default());
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 50);
        let sent = |now| Sent { pull: Pull::Next(1), packet: &packet, now, end: now + 50, time: 50 };
        source.on_sent(&mut queue, &sent(0));
        assert_eq!(queue.state.next, 0, "nothing holds it but the channel");
        source.law.told(&mut queue.state.rate, 10);
        assert_eq!(queue.state.next, 0);
        source.on_sent(&mut queue, &sent(50));
        assert_eq!(queue.state.next, 150);
    }

    #[test]
    fn a_limited_queue_is_not_forgotten() {
        let (source, mut queue) = (half(100), SendQueue::<Paced<Option<Tick>>>::default());
        source.law.told(&mut queue.state.rate, 0);
        assert!(!source.idle(&queue, 99) && source.idle(&queue, 100));
        assert_eq!((source.pull(&queue, 0), source.pull(&queue, 100)), (Pull::At(100), Pull::Wait));
    }
}
