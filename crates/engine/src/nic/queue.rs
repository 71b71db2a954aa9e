//! Send queues: the messages of one flow, from one endpoint for one destination.
use crate::core::Tick;
use crate::core::packet::{FLOWS_MAX, PACKETS_MAX, Packet, Tag};
use crate::protocol::Pull;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZero;

/// A message that waits to be sent: 16 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Message {
    /// Creation in the low 44 bits, flow above, traffic class of the scenario at the top.
    born: u64,
    /// Destination endpoint.
    pub dst: u32,
    /// Length in flits; none where there is no message.
    flits: u32,
}

/// Bits of a creation; no run has more than 43.
const BORN: u32 = 44;

/// First bit of a traffic class of the scenario; those of the flow stand between.
const CLASS: u32 = 56;

const _: () = assert!(FLOWS_MAX == 1 << (CLASS - BORN));

/// Largest message in flits.
const MESSAGE_FLITS_MAX: u32 = 1 << 30;

/// Flits of the largest message of packets of `packet_flits`.
pub fn message_flits_max(packet_flits: u64) -> u64 {
    packet_flits.saturating_mul(PACKETS_MAX.into()).min(MESSAGE_FLITS_MAX.into())
}

impl Message {
    /// A message of `flits` of the traffic class `class`.
    pub fn new(born: Tick, dst: u32, flits: u32, class: u8) -> Self {
        assert!(flits > 0, "law broken: a message without a flit");
        debug_assert!(flits <= MESSAGE_FLITS_MAX && born >> BORN == 0);
        Self { born: u64::from(class) << CLASS | born, dst, flits }
    }

    /// The same as a message of a flow between its ends; it was of flow 0.
    pub fn of_flow(self, flow: u16) -> Self {
        debug_assert!(u32::from(flow) < FLOWS_MAX && self.flow() == 0);
        Self { born: self.born | u64::from(flow) << BORN, ..self }
    }

    /// Creation.
    pub fn born(&self) -> Tick {
        self.born & ((1 << BORN) - 1)
    }

    /// Length in flits.
    pub fn flits(&self) -> u32 {
        self.flits
    }

    /// Traffic class of the scenario.
    pub fn class(&self) -> u8 {
        (self.born >> CLASS) as u8
    }

    /// Which of the flows between its ends it is of.
    pub fn flow(&self) -> u16 {
        (self.born >> BORN & u64::from(FLOWS_MAX - 1)) as u16
    }
}

/// Messages in order. As a rule there is one: it stands here, and only others take more memory.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// No flits: there is none.
    first: Message,
    #[expect(clippy::box_collection, reason = "a word where there are none, as in nearly all queues")]
    more: Option<Box<VecDeque<Message>>>,
}

impl Messages {
    pub(super) fn front(&self) -> Option<&Message> {
        (!self.is_empty()).then_some(&self.first)
    }

    fn is_empty(&self) -> bool {
        self.first.flits() == 0
    }

    fn iter(&self) -> impl Iterator<Item = &Message> {
        self.front().into_iter().chain(self.more.iter().flat_map(|more| more.iter()))
    }

    fn len(&self) -> usize {
        !self.is_empty() as usize + self.more.as_ref().map_or(0, |more| more.len())
    }

    fn push_back(&mut self, message: Message) {
        if self.is_empty() {
            self.first = message;
        } else {
            self.more.get_or_insert_default().push_back(message);
        }
    }

    fn pop_front(&mut self) {
        self.first = self.more.as_mut().and_then(|more| more.pop_front()).unwrap_or_default();
    }

    fn memory(&self) -> usize {
        self.more
            .as_ref()
            .map_or(0, |more| size_of::<VecDeque<Message>>() + more.capacity() * size_of::<Message>())
    }
}

/// Place of a packet among all that its source sends: by message, then by packet.
pub fn key(message: u32, sequence: u32) -> u64 {
    (message as u64) << 32 | sequence as u64
}

/// A packet to be sent again, or a run of packets of a message put off before they were sent, at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Again {
    /// When.
    pub at: Tick,
    /// Number of its message.
    pub message: u32,
    /// Number of the (first) packet in the message.
    pub sequence: u32,
    /// Whether none of it was sent before.
    pub first: bool,
    /// Length in flits; a run is cut into packets.
    pub flits: u32,
    /// Traffic class to send it in.
    pub class: u8,
    /// Flits of its message.
    pub length: u32,
    /// Creation of its message.
    pub born: Tick,
    /// The workload's tag.
    pub tag: Tag,
    /// Traffic class of the scenario.
    pub group: u8,
    /// Which of the flows between its ends it is of.
    pub flow: u16,
}

impl Again {
    /// A data packet that was sent.
    pub fn sent(packet: &Packet) -> Self {
        Self::of(packet, packet.hot.flits())
    }

    /// The packet that a refusal speaks of: word 1 of the refusal is its length.
    pub fn refused(nack: &Packet, class: u8, at: Tick) -> Self {
        Self { at, class, ..Self::of(nack, nack.notes.words[1] as u32) }
    }

    fn of(packet: &Packet, flits: u32) -> Self {
        let cold = &packet.cold;
        Self {
            at: Tick::MAX,
            message: cold.message,
            sequence: cold.sequence(),
            first: false,
            flits,
            class: 0,
            length: cold.length,
            born: cold.born(),
            tag: packet.tag,
            group: cold.class(),
            flow: cold.flow(),
        }
    }

    /// Its (first) packet's place.
    pub fn key(&self) -> u64 {
        key(self.message, self.sequence)
    }
}

/// A send queue with the protocol's state `Q`.
#[derive(Debug, Default)]
pub struct SendQueue<Q> {
    /// The protocol's state.
    pub state: Q,
    /// Destination endpoint (of the first message, if the endpoint has one queue for all).
    pub dst: u32,
    /// A class of the scenario whose messages it takes; all of these are of one grade.
    pub(super) group: u8,
    /// That grade.
    pub(super) grade: u8,
    /// Under what it stands in its endpoint's directory.
    pub(super) address: u32,
    /// Messages not yet sent whole.
    pub(super) messages: Messages,
    /// Flits of the first message already sent.
    pub(super) sent: u32,
    /// Packets of the first message already sent.
    pub(super) sequence: u32,
    /// Number of the first message, once its first packet is sent or reserved for, and of those behind it that share its reservation.
    numbers: std::ops::Range<u32>,
    /// Its flow, as the switches know it.
    pub(super) circuit: super::circuit::Circuit,
    /// Whether it stands in its endpoint's round robin.
    pub(super) ready: bool,
    /// Whether it stands among those that reserve at once.
    pub(super) hurried: bool,
    /// The turn that its next packet has, counted from 1 ([`Self::turn`]).
    turn: Option<NonZero<u32>>,
    /// When it wants to be looked at again.
    pub(super) wake_at: Option<NonZero<Tick>>,
    /// The time by which its endpoint knows of what is due.
    pub(super) noted: Option<NonZero<Tick>>,
    /// What most queues have none of.
    extra: Option<Box<Extra>>,
}

/// What only workloads and some protocols put into a send queue.
#[derive(Debug, Default)]
struct Extra {
    /// The workload's tags of the messages, in their order; none while no message has one.
    tags: VecDeque<Tag>,
    /// Packets to be sent again, at their times, in a class that is never dropped.
    again: BinaryHeap<Reverse<Again>>,
    /// Packets to be tried again, in a class that may be dropped, in order.
    retries: VecDeque<Again>,
    /// Of each message, by its number, the flits that were put off and have not been sent since.
    put_off: Vec<(u32, u32)>,
    /// The key by which its next packet that is not data draws its virtual network, if that waits for credit.
    asked: Option<[u64; 2]>,
}

impl<Q> SendQueue<Q> {
    /// Whether a message waits, or the first one is not sent whole.
    pub fn has_message(&self) -> bool {
        !self.messages.is_empty()
    }

    /// The messages that wait, in order; the first may be sent in part.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }

    /// Flits of the first message that are not sent yet.
    pub fn left(&self) -> u32 {
        self.messages.front().map_or(0, |message| message.flits() - self.sent)
    }

    /// Queues a message.
    pub fn push(&mut self, message: Message) {
        self.messages.push_back(message);
        if let Some(extra) = &mut self.extra
            && !extra.tags.is_empty()
        {
            extra.tags.push_back(Tag::default());
        }
    }

    /// Queues a message of a workload.
    pub fn push_tagged(&mut self, message: Message, tag: Tag) {
        let tags = &mut self.extra.get_or_insert_default().tags;
        tags.resize(self.messages.len(), Tag::default());
        tags.push_back(tag);
        self.messages.push_back(message);
    }

    /// The tag of the first message.
    pub(super) fn tag(&self) -> Tag {
        self.extra.as_ref().and_then(|extra| extra.tags.front().copied()).unwrap_or_default()
    }

    /// The key by which a packet that is not data and waits for credit drew its virtual network.
    pub(super) fn asked(&self) -> Option<[u64; 2]> {
        self.extra.as_ref()?.asked
    }

    /// Keeps that key, or forgets it once the packet is sent.
    pub(super) fn ask_by(&mut self, key: Option<[u64; 2]>) {
        if key.is_some() || self.extra.is_some() {
            self.extra.get_or_insert_default().asked = key;
        }
    }

    /// The turn that its next packet has among those of its endpoint: taken when it is first looked at, and kept until it is sent.
    #[inline]
    pub(super) fn turn(&self) -> Option<u32> {
        self.turn.map(|turn| turn.get() - 1)
    }

    /// Its next packet has a turn now, or none. (After that of all bits it would take another: that makes no difference.)
    #[inline]
    pub(super) fn set_turn(&mut self, turn: Option<u32>) {
        self.turn = turn.and_then(|turn| NonZero::new(turn.wrapping_add(1)));
    }

    /// Number of the first message, if it has one.
    pub(super) fn number(&self) -> Option<u32> {
        self.numbers.clone().next()
    }

    /// The first message gets a number, and so do the `messages - 1` behind it.
    pub(crate) fn assign(&mut self, next: &mut u32, messages: u32) {
        if self.numbers.is_empty() {
            self.numbers = *next..*next + messages;
            *next += messages;
        }
    }

    /// Number of the first message, and of its next packet.
    #[cfg(test)]
    pub(crate) fn place(&self) -> (u32, u32) {
        (self.number().expect("it was numbered"), self.sequence)
    }

    /// The next `flits` flits of the first message are sent, or put off: `packets` packets.
    pub(crate) fn advance(&mut self, flits: u32, packets: u32) {
        self.sent += flits;
        self.sequence += packets;
        if self.left() == 0 {
            self.messages.pop_front();
            if let Some(extra) = &mut self.extra {
                extra.tags.pop_front();
            }
            (self.sent, self.sequence) = (0, 0);
            self.numbers.next();
        }
    }

    /// Takes the next `flits` flits of the messages that wait, numbered before, out of the order: a run per message.
    pub fn put_off(&mut self, mut flits: u32, packet_flits: u32) -> Vec<Again> {
        let mut runs = Vec::new();
        while flits > 0 {
            let message = *self.messages.front().expect("a reservation covers messages that wait");
            let part = flits.min(self.left());
            let number = self.number().expect("a reservation numbers its messages");
            let put_off = &mut self.extra.get_or_insert_default().put_off;
            match put_off.last_mut().filter(|last| last.0 == number) {
                Some((_, before)) => *before += part,
                None => put_off.push((number, part)),
            }
            runs.push(Again {
                at: Tick::MAX,
                message: number,
                sequence: self.sequence,
                first: true,
                flits: part,
                class: 0,
                length: message.flits(),
                born: message.born(),
                tag: self.tag(),
                group: message.class(),
                flow: message.flow(),
            });
            self.advance(part, part.div_ceil(packet_flits));
            flits -= part;
        }
        runs
    }

    /// The packet that is due first to be sent again, in a class that is never dropped.
    pub fn due(&self) -> Option<&Again> {
        self.extra.as_ref()?.again.peek().map(|Reverse(again)| again)
    }

    /// The pull of the packet to be sent again whose time has come, if there is one.
    pub fn again_by(&self, now: Tick) -> Option<Pull> {
        self.due().filter(|due| due.at <= now).map(|due| Pull::Again(due.class))
    }

    /// The packet that is to be tried again first, in a class that may be dropped.
    pub fn retry(&self) -> Option<&Again> {
        self.extra.as_ref()?.retries.front()
    }

    /// The packet that goes if one is sent again in this class.
    pub(super) fn to_repeat(&self, class: u8) -> Option<&Again> {
        self.retry().filter(|retry| retry.class == class).or_else(|| self.due())
    }

    /// Has a packet sent again at its time.
    pub fn again(&mut self, packet: Again) {
        self.extra.get_or_insert_default().again.push(Reverse(packet));
    }

    /// Has a packet tried again, which waits for no time, behind others.
    pub fn try_again(&mut self, packet: Again) {
        self.extra.get_or_insert_default().retries.push_back(packet);
    }

    /// Does not send a packet again after all.
    pub fn cancel(&mut self, key: u64) {
        if let Some(extra) = &mut self.extra {
            extra.again.retain(|Reverse(again)| again.key() != key);
        }
    }

    /// Takes the first packet of what goes if one is sent again in this class.
    pub fn take_again(&mut self, class: u8, packet_flits: u32) -> Option<Again> {
        let Extra { again, retries, put_off, .. } = &mut **self.extra.as_mut()?;
        if retries.front().is_some_and(|retry| retry.class == class) {
            return retries.pop_front();
        }
        let Reverse(run) = again.pop()?;
        if run.flits > packet_flits {
            let (flits, sequence) = (run.flits - packet_flits, run.sequence + 1);
            again.push(Reverse(Again { flits, sequence, ..run }));
        }
        let packet = Again { flits: run.flits.min(packet_flits), ..run };
        if packet.first {
            let at = put_off.iter().position(|&(number, _)| number == packet.message);
            let at = at.expect("law broken: a packet was put off that is not known of");
            put_off[at].1 -= packet.flits;
            if put_off[at].1 == 0 {
                put_off.remove(at);
            }
        }
        Some(packet)
    }

    /// Whether all packets of a message have been sent.
    pub(super) fn has_sent(&self, message: u32) -> bool {
        let put_off = self.extra.as_ref().map_or(&[][..], |extra| &extra.put_off);
        self.number() != Some(message) && put_off.iter().all(|&(number, _)| number != message)
    }

    /// Bytes held by what waits in it.
    pub(super) fn memory(&self) -> usize {
        let extra = self.extra.as_ref().map_or(0, |extra| {
            size_of::<Extra>()
                + (extra.again.capacity() + extra.retries.capacity()) * size_of::<Again>()
                + extra.tags.capacity() * size_of::<Tag>()
                + extra.put_off.capacity() * size_of::<(u32, u32)>()
        });
        self.messages.memory() + extra
    }

    /// Whether nothing waits in it.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.due().is_none() && self.retry().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queued_message_costs_16_bytes() {
        assert_eq!(size_of::<Message>(), 16);
        let (late, last) = ((1 << BORN) - 1, FLOWS_MAX as u16 - 1);
        for (born, flow, class) in [(0, 0, 0), (0, last, 255), (late, 0, 255), (late, last, 0), (7, 5, 3)] {
            let message = Message::new(born, 3, MESSAGE_FLITS_MAX, class).of_flow(flow);
            assert_eq!((message.born(), message.flow(), message.class()), (born, flow, class));
            assert_eq!((message.dst, message.flits()), (3, MESSAGE_FLITS_MAX));
        }
    }

    #[test]
    fn a_queue_with_one_message_costs_96_bytes() {
        assert!(size_of::<SendQueue<u32>>() <= 96);
    }

    #[test]
    fn a_tag_goes_with_its_message() {
        let mut queue = SendQueue::<()>::default();
        let tag = Tag::new(7, [0, 1]);
        queue.push(Message::new(0, 3, 5, 0));
        queue.push_tagged(Message::new(0, 3, 30, 1), tag);
        queue.push(Message::new(0, 3, 1, 0));
        queue.assign(&mut 0, 3);
        assert_eq!(queue.tag(), Tag::default());
        queue.advance(5, 1);
        assert_eq!(queue.tag(), tag);
        queue.advance(24, 1);
        let runs = queue.put_off(7, 24);
        assert_eq!(runs.iter().map(|run| run.tag).collect::<Vec<_>>(), [tag, Tag::default()]);
    }

    #[test]
    fn what_is_tried_again_hides_nothing_that_was_granted() {
        let mut queue = SendQueue::<()>::default();
        let packet = |class, at| Again { class, at, flits: 4, ..Again::sent(&Packet::default()) };
        queue.try_again(packet(2, 5));
        queue.again(packet(1, 7));
        assert_eq!(queue.due().map(|due| due.at), Some(7));
        assert_eq!(queue.to_repeat(1).map(|packet| packet.at), Some(7));
        assert_eq!(queue.take_again(2, 24).map(|packet| packet.at), Some(5));
        assert!(queue.retry().is_none() && !queue.is_empty());
        assert_eq!(queue.take_again(1, 24).map(|packet| packet.at), Some(7));
        assert!(queue.is_empty());
    }

    #[test]
    fn what_is_put_off_is_cut_by_message_and_then_by_packet() {
        let mut queue = SendQueue::<()>::default();
        queue.push(Message::new(0, 3, 50, 0));
        queue.push(Message::new(1, 3, 10, 0));
        let mut next = 7;
        queue.assign(&mut next, 2);
        assert_eq!(next, 9);
        queue.advance(24, 1);
        let runs = queue.put_off(36, 24);
        let parts: Vec<_> = runs.iter().map(|run| (run.message, run.sequence, run.flits)).collect();
        assert_eq!(parts, [(7, 1, 26), (8, 0, 10)]);
        assert!(!queue.has_message());
        runs.into_iter().for_each(|run| queue.again(run));
        let packets: Vec<_> =
            std::iter::from_fn(|| queue.take_again(0, 24)).map(|p| (p.key(), p.flits)).collect();
        assert_eq!(packets, [(key(7, 1), 24), (key(7, 2), 2), (key(8, 0), 10)]);
    }
}
