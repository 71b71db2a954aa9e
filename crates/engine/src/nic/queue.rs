//! Send queues: the messages of one endpoint for one destination.
use crate::core::Tick;
use crate::core::packet::Packet;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A message that waits to be sent: 16 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Creation.
    pub born: Tick,
    /// Destination endpoint.
    pub dst: u32,
    /// Flits in the low 24 bits, traffic class of the scenario above.
    size: u32,
}

/// Largest message in flits.
pub const MESSAGE_FLITS_MAX: u32 = (1 << 24) - 1;

impl Message {
    /// A message of `flits` of the traffic class `class`.
    pub fn new(born: Tick, dst: u32, flits: u32, class: u8) -> Self {
        debug_assert!(flits <= MESSAGE_FLITS_MAX);
        Self { born, dst, size: (class as u32) << 24 | flits }
    }

    /// Length in flits.
    pub fn flits(&self) -> u32 {
        self.size & MESSAGE_FLITS_MAX
    }

    /// Traffic class of the scenario.
    pub fn class(&self) -> u8 {
        (self.size >> 24) as u8
    }
}

/// A packet to be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Again {
    /// When.
    pub at: Tick,
    /// Number of its message.
    pub message: u32,
    /// Destination endpoint: not that of the queue where one queue serves all.
    pub dst: u32,
    /// Number of the packet in the message.
    pub sequence: u16,
    /// Length in flits.
    pub flits: u16,
    /// Traffic class to send it in.
    pub class: u8,
    /// Flits of its message.
    pub length: u32,
    /// Creation of its message.
    pub born: Tick,
    /// The workload's tag.
    pub tag: u32,
    /// Traffic class of the scenario.
    pub group: u8,
}

impl Again {
    /// The packet that a refusal speaks of: word 1 of the refusal is its length.
    pub fn refused(nack: &Packet, class: u8, at: Tick) -> Self {
        let cold = &nack.cold;
        Self {
            at,
            message: cold.message,
            dst: cold.src,
            sequence: cold.sequence,
            flits: cold.words[1] as u16,
            class,
            length: cold.length,
            born: cold.born,
            tag: cold.tag,
            group: cold.class,
        }
    }
}

/// A send queue with the protocol's state `Q`.
#[derive(Debug, Default)]
pub struct SendQueue<Q> {
    /// The protocol's state.
    pub state: Q,
    /// Destination endpoint (of the first message, if the endpoint has one queue for all).
    pub dst: u32,
    /// Messages not yet sent whole.
    pub(super) messages: VecDeque<Message>,
    /// Flits of the first message already sent.
    pub(super) sent: u32,
    /// Packets of the first message already sent.
    pub(super) sequence: u16,
    /// Number of the first message, once its first packet is sent.
    pub(super) number: u32,
    /// Whether it stands in its endpoint's round robin.
    pub(super) ready: bool,
    /// When it wants to be looked at again.
    pub(super) wake_at: Option<Tick>,
    again: BinaryHeap<Reverse<Again>>,
}

impl<Q> SendQueue<Q> {
    /// Whether a message waits, or the first one is not sent whole.
    pub fn has_message(&self) -> bool {
        !self.messages.is_empty()
    }

    /// The packet that is due first to be sent again.
    pub fn due(&self) -> Option<&Again> {
        self.again.peek().map(|Reverse(again)| again)
    }

    /// Has a packet sent again at its time.
    pub fn again(&mut self, packet: Again) {
        self.again.push(Reverse(packet));
    }

    /// Takes the packet that is due first.
    pub(super) fn take_due(&mut self) -> Option<Again> {
        self.again.pop().map(|Reverse(again)| again)
    }

    /// Bytes held by what waits in it.
    pub(super) fn memory(&self) -> usize {
        self.messages.capacity() * std::mem::size_of::<Message>()
            + self.again.capacity() * std::mem::size_of::<Again>()
    }

    /// Whether nothing waits in it.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.again.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queued_message_costs_16_bytes() {
        assert_eq!(std::mem::size_of::<Message>(), 16);
        let message = Message::new(7, 3, MESSAGE_FLITS_MAX, 255);
        assert_eq!((message.flits(), message.class()), (MESSAGE_FLITS_MAX, 255));
    }
}
