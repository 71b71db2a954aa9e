//! A protocol at the endpoints: what a source decides and is told, and what a destination answers.
use super::signal::Signal;
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::nic::injection::{Injection, Paced, Progress};
use crate::nic::queue::SendQueue;

/// What a source wants to do next for a send queue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pull {
    /// Send the next packet of the first message, in this traffic class.
    Next(u8),
    /// Send the packet that is due again, in this traffic class.
    Again(u8),
    /// Send a control packet of this kind to the destination, with these words, in this traffic class.
    Control(u8, Kind, [u64; 2]),
    /// Send a reservation for what waits first.
    Reserve(Reserve),
    /// Nothing before this time.
    At(Tick),
    /// Nothing until something happens to the queue.
    Wait,
}

/// A reservation for messages that wait, or a part of the first of them; it numbers them, and its second word is the
/// [`key`](crate::nic::queue::key) of the first packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserve {
    /// Traffic class of the reservation.
    pub class: u8,
    /// Traffic class of the first packet, if that must go directly behind it.
    pub then: Option<u8>,
    /// Flits that it asks for: its first word.
    pub flits: u32,
    /// Messages it covers.
    pub messages: u32,
}

/// What a source has just sent for a queue.
#[derive(Debug, Clone, Copy)]
pub struct Sent<'a> {
    /// What it had wanted.
    pub pull: Pull,
    /// The packet.
    pub packet: &'a Packet,
    /// When its head left: the present tick.
    pub now: Tick,
    /// When its tail leaves.
    pub end: Tick,
    /// How long the channel takes to send it, for all that its source knows: a slow link takes longer.
    pub time: Tick,
}

/// What has arrived at an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Whether its class may be dropped.
    pub droppable: bool,
    /// The grade of its message ([`crate::core::plan::VirtualChannels::grades`]).
    pub grade: u8,
    /// The flow whose send queue it came from.
    pub flow: u16,
    /// The present tick.
    pub now: Tick,
}

impl Received<'_> {
    /// The send queue that it came from: one for each source, flow and grade.
    pub fn sender(&self) -> u64 {
        u64::from(self.flow) << 40 | u64::from(self.grade) << 32 | u64::from(self.packet.cold.src)
    }

    /// The acknowledgement of data that might have been dropped, or of all data if `always`.
    pub fn acknowledge(&self, always: bool, class: u8) -> Option<Reply> {
        let due = self.packet.hot.kind() == Kind::Data && (always || self.droppable);
        due.then_some(Reply { kind: Kind::Ack, class, words: [0; 2] })
    }
}

/// The class of a reply that is no packet: it goes out of band, and its words are those of a signal.
pub const OUT_OF_BAND: u8 = u8::MAX;

/// A control packet to be sent back by an endpoint or a switch.
#[derive(Debug, Clone, Copy)]
pub struct Reply {
    /// Its kind.
    pub kind: Kind,
    /// Its traffic class.
    pub class: u8,
    /// Its words.
    pub words: [u64; 2],
}

impl Reply {
    /// The refusal of a packet that is dropped, with the time to send it again if there is one.
    pub fn refusal(class: u8, packet: &Packet, time: Option<Tick>) -> Self {
        let words = [time.map_or(0, |at| at + 1), packet.hot.flits() as u64];
        Self { kind: Kind::Nack, class, words }
    }
}

/// What a destination sends by itself, not in answer to what has just come.
#[derive(Debug, Clone, Copy)]
pub enum Prompt {
    /// This control packet to an endpoint.
    Send(u32, Reply),
    /// Nothing before this time, unless something comes.
    At(Tick),
    /// Nothing until something comes.
    Wait,
}

/// The time in a refusal or a grant.
pub fn granted(packet: &Packet) -> Option<Tick> {
    packet.notes.words[0].checked_sub(1)
}

/// A protocol at the endpoints. Parameters are shared; state is in the send queue, or in the endpoint's sink.
pub trait Source: Send + Sync + 'static {
    /// State of a send queue.
    type Queue: Default + Send;
    /// State of an endpoint: as a destination, and as a source beside its send queues.
    type Sink: Default + Send;

    /// How the data of an endpoint's queues take turns, if not round robin: by the rates that [`Source::flow`] tells.
    fn injection(&self) -> Option<Injection> {
        None
    }

    /// The flow of a queue, of a source that has an [`Source::injection`].
    fn flow(&self, _queue: &SendQueue<Self::Queue>) -> Paced {
        Paced::default()
    }

    /// Where the turns of a queue's flow are kept, of a source that has an [`Source::injection`]. A new flow starts anew.
    fn progress<'a>(&self, _queue: &'a mut SendQueue<Self::Queue>) -> &'a mut Progress {
        unreachable!("only flows with rates take turns by them")
    }

    /// A message of so many flits joins a queue.
    fn on_message(&self, _queue: &mut Self::Queue, _flits: u32) {}

    /// What to do next for a queue that has messages, packets due again, or state that is not idle.
    fn pull(&self, queue: &SendQueue<Self::Queue>, now: Tick) -> Pull;

    /// The traffic class of [`Pull::Next`], if that is what is pulled for this queue, which has messages and no packets due again,
    /// until something happens to it: where that class lacks credit, the queue is not asked.
    fn plain(&self, _queue: &SendQueue<Self::Queue>, _now: Tick) -> Option<u8> {
        None
    }

    /// The traffic class in which a message goes as [`Pull::Next`] from a new queue, with no words of the protocol, that is as new again
    /// once it is sent: an endpoint with nothing else to send makes none for a message of one packet.
    fn unqueued(&self) -> Option<u8> {
        None
    }

    /// Whether a queue that lacks credit may leave the round robin until there is some: all it ever wants is to send in one class,
    /// whatever the time.
    fn parks(&self) -> bool {
        false
    }

    /// May write the protocol's words into a data packet that is about to be sent, as `pull` wanted it.
    fn stamp(&self, _queue: &SendQueue<Self::Queue>, _pull: Pull, _packet: &mut Packet) {}

    /// Whether a queue that wants to reserve does so at once, ahead of all data of the endpoint, and not in its turn.
    fn reserves_at_once(&self) -> bool {
        false
    }

    /// Whether what a queue sends depends on the messages behind its first one: then they wait in it, never in their generator.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// A packet was sent.
    fn on_sent(&self, _queue: &mut SendQueue<Self::Queue>, _sent: &Sent) {}

    /// A control packet came for this queue.
    fn on_control(&self, _queue: &mut SendQueue<Self::Queue>, _packet: &Packet, _now: Tick) {}

    /// Whether control packets of this kind concern the send queue at all.
    fn hears(&self, _kind: Kind) -> bool {
        false
    }

    /// A signal came, out of band or in a control packet that [`Source::hears`] names.
    fn on_signal(&self, _endpoint: &mut Self::Sink, _signal: &Signal, _now: Tick) {}

    /// A signal came about the destination of a send queue.
    fn on_queue_signal(&self, _queue: &mut SendQueue<Self::Queue>, _signal: &Signal, _now: Tick) {}

    /// Whom signals concern.
    fn signals(&self) -> Concern {
        Concern::Nothing
    }

    /// When the endpoint may send data again that has just sent some; before the channel is free if nothing holds it.
    fn hold(&self, _endpoint: &mut Self::Sink, _sent: &Sent) -> Tick {
        0
    }

    /// Whether a signal has ended what held the endpoint.
    fn is_released(&self, _endpoint: &Self::Sink) -> bool {
        false
    }

    /// The rate that an endpoint is allowed, in parts of a million of its channel's.
    fn allowed(&self, _endpoint: &mut Self::Sink, _now: Tick) -> u32 {
        MILLION
    }

    /// The rate that a send queue is allowed towards a destination, in parts of a million of the channel's, and when its pause ends; of a
    /// window, what it lets through in a round trip. None if the scheme has neither.
    fn allowed_towards(&self, _queue: &SendQueue<Self::Queue>, _dst: u32, _now: Tick) -> Option<(u32, Tick)> {
        None
    }

    /// Whether a second copy has been sent of a packet that is acknowledged, in a class that is never dropped.
    fn was_sent_again(&self, _queue: &SendQueue<Self::Queue>, _acknowledgement: &Packet) -> bool {
        false
    }

    /// Whether the queue's state is as that of a new one, so that it can be forgotten while it is empty.
    fn idle(&self, _queue: &SendQueue<Self::Queue>, _now: Tick) -> bool {
        true
    }

    /// Whether a data packet that arrived is new; a second copy is discarded, but answered.
    fn accept(&self, _sink: &mut Self::Sink, _received: &Received) -> bool {
        true
    }

    /// Answers of the destination to a packet that arrived.
    fn reply(&self, sink: &mut Self::Sink, received: &Received, replies: &mut Vec<Reply>);

    /// Bytes that a destination keeps beside the sink itself.
    fn memory(&self, _sink: &Self::Sink) -> usize {
        0
    }

    /// Whether destinations send by themselves.
    fn prompts(&self) -> bool {
        false
    }

    /// What a destination that does sends next. It is asked after each packet that comes, and at the times that it names.
    fn prompt(&self, _sink: &mut Self::Sink, _now: Tick) -> Prompt {
        Prompt::Wait
    }
}

/// The full rate of a channel, where rates are told in parts of a million.
pub const MILLION: u32 = 1_000_000;

/// A part of a rate in parts of a million, at most all of it.
pub fn millionths(part: f64) -> u32 {
    (part.min(1.0) * f64::from(MILLION)).round() as u32
}

/// Whom signals concern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// There are none.
    Nothing,
    /// The endpoint.
    Endpoint,
    /// The send queue for the destination that they are about.
    Queue,
}
