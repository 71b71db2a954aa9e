//! The sources of SST_CM: a pause and a share of the rate for every throttled destination.
use super::SstCm;
use crate::core::Tick;
use crate::core::packet::Kind;
use crate::core::plan::Plan;
use crate::nic::queue::SendQueue;
use crate::protocol::abatement::{Shares, Variant};
use crate::protocol::signal::{DIVISOR_ONE, News, Passage, Signal};
use crate::protocol::{Concern, MILLION, Pull, Received, Reply, Sent, Source};

/// The source of [`SstCm`].
pub struct Throttle {
    acknowledge: bool,
    control: u8,
    data: u8,
    /// Added to every divisor: the code's rate is 1/(N + 2).
    slower: u32,
    /// Whether orders may overtake each other: then the number of the last one is kept when it lets the queue go.
    overtaking: bool,
}

impl Throttle {
    /// The source of a plan.
    pub fn new(parameters: &SstCm, plan: &Plan, acknowledge: bool) -> Self {
        let coded = parameters.variant == Variant::Coded;
        let slower = if coded { Shares::new(plan).divisor(2, 1.0) } else { 0 };
        let overtaking = parameters.signals == Passage::InBand;
        let (control, data) = (plan.control_class(), plan.data_class());
        Self { acknowledge, control, data, slower, overtaking }
    }

    /// The divisor of the rate under an order.
    fn divisor(&self, limit: &Limit) -> u32 {
        if limit.is_free() { DIVISOR_ONE } else { limit.divisor + self.slower }
    }
}

/// State of a send queue: its throttled destinations (several only if one queue serves all).
#[derive(Debug, Default)]
pub struct Limits(Vec<Limit>);

/// What a destination's switch has ordered.
#[derive(Debug, Clone, Copy)]
struct Limit {
    dst: u32,
    number: u32,
    divisor: u32,
    /// Nothing before.
    next: Tick,
    /// The end of the pause.
    paused: Tick,
}

impl Limit {
    /// Whether the order has ended what was ordered before.
    fn is_free(&self) -> bool {
        self.divisor <= DIVISOR_ONE
    }
}

impl Limits {
    fn find(&self, dst: u32) -> Option<&Limit> {
        self.0.iter().find(|limit| limit.dst == dst)
    }
}

impl Source for Throttle {
    type Queue = Limits;
    type Sink = ();

    fn pull(&self, queue: &SendQueue<Limits>, now: Tick) -> Pull {
        let Some(message) = queue.messages().next() else { return Pull::Wait };
        match queue.state.find(message.dst) {
            Some(limit) if limit.next > now => Pull::At(limit.next),
            _ => Pull::Next(self.data),
        }
    }

    fn plain(&self, queue: &SendQueue<Limits>, _now: Tick) -> Option<u8> {
        queue.state.0.is_empty().then_some(self.data)
    }

    fn on_sent(&self, queue: &mut SendQueue<Limits>, sent: &Sent) {
        let dst = sent.packet.hot.dst;
        let throttled = |limit: &&mut Limit| limit.dst == dst && !limit.is_free();
        if let Some(limit) = queue.state.0.iter_mut().find(throttled) {
            let divisor = u64::from(self.divisor(limit));
            limit.next = sent.now + sent.time * divisor / u64::from(DIVISOR_ONE);
        }
    }

    fn signals(&self) -> Concern {
        Concern::Queue
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Notification
    }

    fn on_queue_signal(&self, queue: &mut SendQueue<Limits>, signal: &Signal, now: Tick) {
        let News::Limit(divisor, pause) = signal.news else { return };
        let limits = &mut queue.state.0;
        let dst = signal.about;
        let before = limits.iter().position(|limit| limit.dst == dst).map(|at| limits.swap_remove(at));
        let overtaken = |limit: &Limit| signal.number.wrapping_sub(limit.number) as i32 <= 0;
        if let Some(limit) = before.filter(overtaken) {
            limits.push(limit);
        } else if divisor > DIVISOR_ONE {
            let [next, paused] = before.map_or([now, 0], |limit| [limit.next, limit.paused]);
            let [next, paused] = [next, paused].map(|at| at.max(now + Tick::from(pause)));
            limits.push(Limit { dst, number: signal.number, divisor, next, paused });
        } else if self.overtaking {
            limits.push(Limit { dst, number: signal.number, divisor, next: now, paused: now });
        }
    }

    fn allowed_towards(&self, queue: &SendQueue<Limits>, dst: u32, _now: Tick) -> Option<(u32, Tick)> {
        let full = u64::from(MILLION) * u64::from(DIVISOR_ONE);
        let allowed = |limit: &Limit| ((full / u64::from(self.divisor(limit))) as u32, limit.paused);
        Some(queue.state.find(dst).map_or((MILLION, 0), allowed))
    }

    fn idle(&self, queue: &SendQueue<Limits>, _now: Tick) -> bool {
        queue.state.0.is_empty()
    }

    fn reply(&self, _sink: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        if self.acknowledge {
            replies.extend(received.acknowledge(true, self.control));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::packet::Packet;
    use crate::nic::queue::Message;

    fn allowed(source: &Throttle, queue: &SendQueue<Limits>) -> u32 {
        source.allowed_towards(queue, 7, 0).expect("it has one").0
    }

    fn source(slower: u32) -> Throttle {
        Throttle { acknowledge: false, control: 0, data: 1, slower, overtaking: false }
    }

    fn order(source: &Throttle, queue: &mut SendQueue<Limits>, number: u32, divisor: u32, pause: u32) {
        let news = News::Limit(divisor * DIVISOR_ONE, pause);
        source.on_queue_signal(queue, &Signal { at: 0, to: 1, about: 7, number, streams: 0, news }, 100);
    }

    fn sent(source: &Throttle, queue: &mut SendQueue<Limits>, dst: u32) {
        let mut packet = Packet::default();
        packet.hot.dst = dst;
        source.on_sent(queue, &Sent { pull: Pull::Next(1), packet: &packet, now: 1000, end: 1064, time: 64 });
    }

    #[test]
    fn a_source_pauses_and_then_sends_at_its_share() {
        let (source, mut queue) = (source(0), SendQueue::default());
        queue.push(Message::new(0, 7, 64, 0));
        order(&source, &mut queue, 1, 10, 500);
        assert_eq!(source.pull(&queue, 599), Pull::At(600));
        assert_eq!(source.pull(&queue, 600), Pull::Next(1));
        sent(&source, &mut queue, 7);
        assert_eq!(source.pull(&queue, 1064), Pull::At(1640));
        assert_eq!(allowed(&source, &queue), 100_000);
        order(&source, &mut queue, 2, 1, 0);
        assert_eq!(source.pull(&queue, 1064), Pull::Next(1));
        assert!(source.idle(&queue, 1064));
    }

    #[test]
    fn the_code_gives_two_shares_away() {
        let (source, mut queue) = (source(2 * DIVISOR_ONE), SendQueue::default());
        queue.push(Message::new(0, 7, 64, 0));
        order(&source, &mut queue, 1, 8, 0);
        sent(&source, &mut queue, 7);
        assert_eq!(source.pull(&queue, 1064), Pull::At(1640));
    }

    #[test]
    fn other_destinations_and_orders_that_were_overtaken_change_nothing() {
        let (source, mut queue) = (source(0), SendQueue::default());
        queue.push(Message::new(0, 8, 64, 0));
        order(&source, &mut queue, 2, 10, 500);
        order(&source, &mut queue, 1, 90, 9000);
        assert_eq!(source.pull(&queue, 100), Pull::Next(1));
        sent(&source, &mut queue, 8);
        assert_eq!(allowed(&source, &queue), 100_000);
    }

    #[test]
    fn an_order_that_its_own_end_has_overtaken_does_not_come_back() {
        let (source, mut queue) = (Throttle { overtaking: true, ..source(0) }, SendQueue::default());
        queue.push(Message::new(0, 7, 64, 0));
        order(&source, &mut queue, 3, 1, 0);
        order(&source, &mut queue, 2, 10, 500);
        assert_eq!((source.pull(&queue, 100), allowed(&source, &queue)), (Pull::Next(1), MILLION));
        sent(&source, &mut queue, 7);
        assert_eq!(source.pull(&queue, 1064), Pull::Next(1));
        assert!(!source.idle(&queue, 1064), "the number is not forgotten");
        order(&source, &mut queue, 4, 10, 500);
        assert_eq!(source.pull(&queue, 599), Pull::At(600));
    }

    #[test]
    fn a_second_order_does_not_cut_a_pause_short() {
        let (source, mut queue) = (source(100), SendQueue::<Limits>::default());
        queue.push(Message::new(0, 7, 64, 0));
        order(&source, &mut queue, 1, 2, 500);
        order(&source, &mut queue, 2, 2, 0);
        assert_eq!(source.pull(&queue, 100), Pull::At(600));
    }
}
