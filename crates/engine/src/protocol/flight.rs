//! What a source with a window keeps of a send queue: the data under way, and the pace.
use super::{Pull, Sent};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::nic::queue::SendQueue;

/// The data of a send queue that are under way, and when the next may go.
#[derive(Debug, Default)]
pub struct Flight {
    /// Flits that were sent and not acknowledged.
    under_way: u64,
    /// Earliest start of the next packet.
    next: Tick,
    /// When the last packet was sent.
    started: Tick,
    /// When a packet was sent or acknowledged last.
    active: Tick,
}

impl Flight {
    /// The pull of a queue that may have so many flits under way, or one packet, and is forgotten at `end` if it is silent until then.
    pub fn pull<Q>(&self, queue: &SendQueue<Q>, window: f64, class: u8, end: Tick, now: Tick) -> Pull {
        if !queue.has_message() {
            return if self.under_way > 0 || end <= now { Pull::Wait } else { Pull::At(end) };
        }
        if self.under_way > 0 && self.under_way as f64 >= window {
            Pull::Wait
        } else if self.next > now {
            Pull::At(self.next)
        } else {
            Pull::Next(class)
        }
    }

    /// When a queue with nothing more to send begins anew: after `restart` of silence, or at once if its window `is_full`, as that of a
    /// new one.
    pub fn end(&self, is_full: bool, restart: Tick) -> Tick {
        self.next.max(if is_full { 0 } else { self.active.saturating_add(restart) })
    }

    /// Flits that were sent and not acknowledged.
    pub fn under_way(&self) -> u64 {
        self.under_way
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.under_way == 0
    }

    /// A packet was sent.
    pub fn sent(&mut self, sent: &Sent) {
        if sent.packet.hot.kind() == Kind::Data {
            self.under_way += u64::from(sent.packet.hot.flits());
            (self.active, self.started) = (sent.now, sent.now);
        }
    }

    /// The next packet may start so long after the last one.
    pub fn pace(&mut self, apart: f64) {
        self.next = self.started.saturating_add(apart as Tick);
    }

    /// Data of so many flits were acknowledged.
    pub fn acknowledged(&mut self, flits: u64, now: Tick) {
        self.under_way -= flits;
        self.active = now;
    }
}

/// Packs the flits of a data packet into a word of its acknowledgement, beside a number below 2⁵².
pub fn with_flits(number: u64, packet: &Packet) -> u64 {
    number << 12 | u64::from(packet.hot.flits())
}

/// The number and the flits in such a word.
pub fn number_and_flits(word: u64) -> (u64, u64) {
    (word >> 12, word & 0xfff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::queue::Message;

    #[test]
    fn a_window_holds_what_is_under_way_but_for_one_packet() {
        let (mut flight, mut queue) = (Flight::default(), SendQueue::<()>::default());
        queue.push(Message::new(0, 3, 100, 0));
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 24);
        let sent = |now| Sent { pull: Pull::Next(1), packet: &packet, now, end: now + 24, time: 24 };
        assert_eq!(flight.pull(&queue, 0.5, 1, 50, 7), Pull::Next(1), "one packet may always go");
        flight.sent(&sent(7));
        assert_eq!(flight.pull(&queue, 24.0, 1, 50, 31), Pull::Wait);
        assert_eq!(flight.pull(&queue, 24.5, 1, 50, 31), Pull::Next(1));
        flight.acknowledged(24, 40);
        flight.pace(53.0);
        assert_eq!(flight.pull(&queue, 24.0, 1, 50, 40), Pull::At(60));
        let idle = SendQueue::<()>::default();
        assert_eq!((flight.end(false, 50), flight.end(true, 50), flight.is_empty()), (90, 60, true));
        assert_eq!([89, 90].map(|now| flight.pull(&idle, 24.0, 1, 90, now)), [Pull::At(90), Pull::Wait]);
    }

    #[test]
    fn a_word_holds_a_number_beside_flits() {
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 4095);
        assert_eq!(number_and_flits(with_flits((1 << 52) - 1, &packet)), ((1 << 52) - 1, 4095));
    }
}
