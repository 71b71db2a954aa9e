//! What a send queue is for: a destination, a class of the scenario, and one of the flows; and which flow a message takes.
use super::NicSet;
use super::queue::Message;
use crate::core::packet::Packet;
use crate::keyed::Keyed;
use crate::protocol::Source;

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

/// First bit of a grade in the place of a send queue in its endpoint's directory; below stand flow and destination.
const GRADE: u32 = 29;

#[inline]
fn place(grade: u8, below: u32) -> u32 {
    debug_assert!(below >> GRADE == 0, "so many endpoints fit into no memory");
    u32::from(grade) << GRADE | below
}

/// Most flows for each destination whose send queues can be told from each other in a network of so many endpoints.
pub fn flows_max(endpoints: u32) -> u32 {
    (1 << GRADE) / endpoints.max(1)
}

/// The messages that have taken their turns, by endpoint, destination, grade and ranks.
pub(super) type Turns = Keyed<u64, u32>;

impl<S: Source> NicSet<S> {
    /// Under what such a send queue stands in its endpoint's directory. One for all destinations stands under one, and so do the flows
    /// for a destination where the protocol knows none.
    #[inline]
    pub(super) fn address(&self, to: Towards) -> u32 {
        let one = if self.fifo { 0 } else { u32::from(to.flow) * self.flow_step + to.dst };
        place(self.grade(to.group), one)
    }

    /// The flow of a send queue; 0 where those for a destination share one.
    pub(super) fn flow_of(&self, queue: u32) -> u16 {
        let below = self.queues[queue].address & ((1 << GRADE) - 1);
        if self.fifo { 0 } else { below.checked_div(self.flow_step).unwrap_or(0) as u16 }
    }

    /// Gives a new message its flow: those between two endpoints, or the ranks on them by their seats, take turns.
    #[inline]
    pub(super) fn of_a_flow(&mut self, endpoint: u32, message: Message, seats: [u16; 2]) -> Message {
        let flows = self.plan.flows[usize::from(message.class())];
        if flows.each == 1 && flows.ranks == 1 {
            return message;
        }
        let [from, to] = seats.map(u32::from);
        let first = (from * u32::from(flows.ranks) + to) * u32::from(flows.each) % self.plan.flows_max;
        if flows.each == 1 {
            return message.of_flow(first as u16);
        }
        let place = place(self.grade(message.class()), first * self.plan.endpoints() + message.dst);
        let turn = self.turns.entry(u64::from(endpoint) << 32 | u64::from(place));
        let flow = (first + *turn % u32::from(flows.each)) % self.plan.flows_max;
        *turn = turn.wrapping_add(1);
        message.of_flow(flow as u16)
    }
}
