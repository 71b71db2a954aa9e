//! Messages that see no send queue: an endpoint with nothing else to send sends them as they are created.
use super::queue::{Message, SendQueue};
use super::towards::Towards;
use super::{NicSet, Node};
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::packet::{Birth, Cold, Kind, Packet, Part};
use crate::protocol::{Pull, Sent, Source};
use std::cmp::Reverse;

impl Node {
    /// Whether it has nothing to send, and may.
    fn is_at_rest(&self, now: Tick) -> bool {
        !self.is_waiting(now)
            && self.hold <= now
            && self.asleep.peek().is_none_or(|Reverse((at, ..))| *at > now)
    }
}

impl<S: Source> NicSet<S> {
    /// Sends a message of one packet for which a queue would be made, if it could be sent and the queue forgotten in this very tick.
    /// Returns whether it was sent.
    #[inline]
    pub(super) fn send_unqueued(
        &mut self,
        fabric: &mut Fabric,
        endpoint: u32,
        message: &Message,
        class: u8,
    ) -> bool {
        let (channel, now, flits) = (fabric.ports + endpoint, fabric.now, message.flits());
        let node = &self.nodes[endpoint];
        if fabric.channels[channel].free_at > now
            || flits > self.plan.packet_flits as u32
            || !node.is_at_rest(now)
            || self.find(endpoint, Towards::of(message)).is_some()
        {
            return false;
        }
        let (src, number, turn) = (fabric.share.endpoints[endpoint as usize], node.next_message, node.turn);
        let mut packet = Packet::default();
        packet.hot.dst = message.dst;
        packet.hot.set_size(Kind::Data, flits as u16);
        packet.cold = Cold {
            birth: Birth::new(message.born(), message.flow()),
            src,
            message: number,
            length: flits,
            part: Part::new(0, message.class()),
            ..Cold::default()
        };
        let grade = self.grade(message.class());
        self.route_at_source(fabric, Some(turn), &mut packet, self.graded(class, grade));
        if !fabric.affords(channel, packet.hot.next_vc, flits) {
            return false;
        }
        let node = &mut self.nodes[endpoint];
        (node.next_message, node.turn) = (number + 1, turn.wrapping_add(1));
        self.retain(fabric, endpoint, &packet, class, true);
        self.inject(fabric, endpoint, &mut packet);
        let end = fabric.channels[channel].free_at;
        let time = self.time_of(&packet);
        let sent = Sent { pull: Pull::Next(class), packet: &packet, now, end, time };
        debug_assert!(self.would_be_forgotten(message, &sent), "law broken: a queue that was needed");
        self.hold(fabric, endpoint, &sent);
        true
    }

    /// Whether a new queue would send a message just so, and be as new again: what [`Source::unqueued`] promises.
    fn would_be_forgotten(&self, message: &Message, sent: &Sent) -> bool {
        let mut queue = SendQueue::default();
        queue.push(*message);
        let pulled = self.source.pull(&queue, sent.now) == sent.pull;
        let mut stamped = Packet::default();
        self.source.stamp(&queue, sent.pull, &mut stamped);
        queue.assign(&mut 0, 1);
        queue.advance(message.flits(), 1);
        self.source.on_sent(&mut queue, sent);
        let idle = queue.is_empty() && self.source.idle(&queue, sent.now);
        pulled && stamped.notes.words == [0; 2] && idle && self.source.injection().is_none() && !self.at_once
    }
}
