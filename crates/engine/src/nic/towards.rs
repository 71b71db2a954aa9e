//! What a send queue is for: a destination, a class of the scenario, and one of the flows; and which flow a message takes.
use super::NicSet;
use super::queue::Message;
use crate::core::circuits::connection;
use crate::core::flow::PLACE;
use crate::core::packet::Packet;
use crate::keyed::Keyed;
use crate::protocol::Source;
use crate::rng::{mix, scale};

/// What a send queue is for, as a message or an answer tells it.
#[derive(Clone, Copy)]
pub(super) struct Towards {
    /// Destination endpoint.
    pub dst: u32,
    /// A class of the scenario: those of one grade share the queue.
    pub group: u8,
    /// Which of the flows between the two endpoints.
    pub flow: u16,
}

impl Towards {
    /// What a message waits in.
    #[inline]
    pub fn of(message: &Message) -> Self {
        Self { dst: message.dst, group: message.class(), flow: message.flow() }
    }

    /// What a packet is about that came back.
    #[inline]
    pub fn answered(packet: &Packet) -> Self {
        Self { dst: packet.cold.src, group: packet.cold.class(), flow: packet.cold.flow() }
    }
}

/// The turns that messages have taken, by class, source, destination and ranks.
pub(super) type Turns = Keyed<u64, u32>;

/// The flow whose send queue stands at an address, if each flow is so far behind the one before.
pub(super) fn flow_at(address: u32, step: u32) -> u16 {
    (address & ((1 << PLACE) - 1)).checked_div(step).unwrap_or(0) as u16
}

impl<S: Source> NicSet<S> {
    /// Under what such a send queue stands in its endpoint's directory. One for all destinations stands under one, and so do the flows
    /// for a destination where the protocol knows none.
    #[inline]
    pub(super) fn address(&self, to: Towards) -> u32 {
        let place = if self.fifo { 0 } else { u32::from(to.flow) * self.flow_step + to.dst };
        debug_assert!(place >> PLACE == 0, "so many endpoints fit into no memory");
        u32::from(self.grade(to.group)) << PLACE | place
    }

    /// The flow of a send queue; 0 where those for a destination share one.
    pub(super) fn flow_of(&self, queue: u32) -> u16 {
        flow_at(self.queues[queue].address, self.flow_step)
    }

    /// Gives a new message from a source its flow. Those of a class between two endpoints, or two ranks on them by their seats, take
    /// turns, from one on that is drawn; what carries no data, but asks for it or answers, goes in the flow whose turn it is, and takes none.
    #[inline]
    pub(super) fn of_a_flow(&mut self, src: u32, message: Message, seats: [u16; 2], takes: bool) -> Message {
        let flows = self.plan.flows[usize::from(message.class())];
        if flows.each == 1 && flows.ranks == 1 {
            return message;
        }
        self.of_several(src, message, seats, takes)
    }

    #[inline(never)]
    fn of_several(&mut self, src: u32, message: Message, seats: [u16; 2], takes: bool) -> Message {
        let (plan, class) = (&*self.plan, message.class());
        let flows = plan.flows[usize::from(class)];
        let ([from, to], each) = (seats.map(u32::from), u32::from(flows.each));
        let first = (from * u32::from(flows.ranks) + to) * each % plan.flows_max;
        if each == 1 {
            return message.of_flow(first as u16);
        }
        let place = u64::from(first * plan.endpoints() + message.dst);
        let turn = self.turns.entry(u64::from(class) << 56 | u64::from(src) << PLACE | place);
        let who = mix(u64::from(class) << 32 | u64::from(first), connection(src, message.dst));
        let flow = first + (scale(mix(plan.seed, who), each) + *turn % each) % each;
        *turn = turn.wrapping_add(takes.into());
        message.of_flow((flow % plan.flows_max) as u16)
    }
}
