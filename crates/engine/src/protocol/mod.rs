//! The protocol seam: congestion control at the source, the destination and the switch. One kind a file.
//!
//! A protocol is three small state machines: a [`Source`] per endpoint decides what to send and when, its
//! [`Source::reply`] answers what arrives, and an [`Agent`] per partition acts in the switches. They see facts and
//! return decisions; the engine moves packets.
mod abatement;
pub mod codes_cc;
pub mod dcqcn;
pub mod duplicates;
pub mod ecn;
pub mod explicit;
mod flight;
pub mod hpcc;
pub mod lhrp;
pub mod lhrp_srp;
pub mod marker;
pub mod max_min;
pub mod none;
pub mod nscc;
pub mod rccc;
pub mod reach;
mod red;
pub mod reservation;
pub mod saa;
pub mod scheduler;
pub mod signal;
pub mod smsrp;
pub mod srp;
pub mod sst_cm;
pub mod stops;
pub mod swift;
pub mod time_out;

use crate::core::Tick;
use crate::core::packet::{Cold, Kind, Packet};
use crate::core::plan::{Plan, Share, TrafficClass};
use crate::nic::injection::{Injection, Paced, Progress};
use crate::nic::queue::SendQueue;
use crate::problem::Problem;
use signal::{Outbox, Passage, Signal};

const fn class(name: &'static str, control: bool, droppable: bool, times_out: bool) -> TrafficClass {
    TrafficClass { name, control, droppable, times_out }
}

/// Acknowledgements and other control packets.
pub const CONTROL: TrafficClass = class("control", true, false, false);
/// Reservations, where they have a class of their own.
pub const RESERVATION: TrafficClass = class("reservation", true, false, false);
/// Grants, where they have a class of their own.
pub const GRANT: TrafficClass = class("grant", true, false, false);
/// Data.
pub const DATA: TrafficClass = class("data", false, false, false);
/// Data that may be dropped.
pub const SPECULATIVE: TrafficClass = class("speculative", false, true, true);

/// The names that traffic classes of any scheme have.
pub const CLASS_NAMES: [&str; 6] =
    [RESERVATION.name, GRANT.name, CONTROL.name, DATA.name, SPECULATIVE.name, lhrp_srp::SPECULATIVE_SMALL];

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
}

/// What has arrived at an endpoint.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// Whether its class may be dropped.
    pub droppable: bool,
    /// The present tick.
    pub now: Tick,
}

impl Received<'_> {
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
    /// This control packet to an endpoint, for the traffic of a class of the scenario.
    Send(u32, u8, Reply),
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

    /// The rate that a send queue is allowed towards a destination, in parts of a million of the channel's, and when its pause ends.
    fn allowed_towards(&self, _queue: &SendQueue<Self::Queue>, _dst: u32) -> (u32, Tick) {
        (MILLION, 0)
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
    fn accept(&self, _sink: &mut Self::Sink, _packet: &Packet) -> bool {
        true
    }

    /// Answers of the destination to a packet that arrived.
    fn reply(&self, sink: &mut Self::Sink, received: &Received, replies: &mut Vec<Reply>);

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

/// What links tell the flows that cross them, in the second word of set-up packets, probes and data that ask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Told {
    /// The time that the busiest of them needs for all its flows, in ticks.
    Load,
    /// A max-min fair share of this part of their bandwidth ([`crate::core::shares`]).
    Share(f64),
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

/// What an agent wants to be asked about.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interest {
    /// Packets that leave on a channel.
    pub departures: bool,
    /// Packets that arrive at the switch of their destination, except acknowledgements.
    pub last_hop: bool,
    /// Time in input buffers after which a packet of a class that times out is dropped at the head of its queue.
    pub time_to_wait: Option<Tick>,
}

/// A packet that arrives at the switch of its destination.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    /// The present tick.
    pub now: Tick,
    /// Local number of the destination endpoint.
    pub endpoint: u32,
    /// Flits in this switch bound for the endpoint, the packet not included.
    pub level: u32,
    /// Whether the packet's class may be dropped.
    pub droppable: bool,
}

/// A packet that leaves a switch on a channel.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    /// The present tick.
    pub now: Tick,
    /// Local number of the port.
    pub port: u32,
    /// Local number of the endpoint that the channel leads to, if it leads to one.
    pub endpoint: Option<u32>,
    /// Flits of the packet.
    pub flits: u32,
    /// Ticks that the channel needs for it.
    pub time: Tick,
    /// Flits in the switch that wait for the channel, the packet included.
    pub waiting: u32,
    /// Whether the channel has credit for another packet of the largest size.
    pub has_credit: bool,
    /// The packet's kind.
    pub kind: Kind,
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy)]
pub enum Verdict {
    /// It goes on.
    Keep,
    /// It is dropped; the reply goes to its source.
    Drop(Reply),
    /// It is taken by the switch; the reply goes to its source.
    Consume(Reply),
}

/// A protocol in the switches of a partition.
pub trait Agent: Send {
    /// What it wants to be asked about.
    fn interest(&self) -> Interest {
        Interest::default()
    }

    /// A packet arrives at the switch of its destination.
    fn on_arrive(&mut self, _arrival: &Arrival, _packet: &Packet) -> Verdict {
        Verdict::Keep
    }

    /// A packet leaves on a channel; it may be marked, and what stands in its words changed.
    fn on_dequeue(&mut self, _departure: &Departure, _packet: &mut Cold, _words: &mut [u64; 2]) {}

    /// A time has come that it asked for.
    fn on_timer(&mut self, _key: u64, _now: Tick) {}

    /// Where it puts its signals and the times it asks for; none if it has neither.
    fn outbox(&mut self) -> Option<&mut Outbox> {
        None
    }

    /// The reply to a packet that was dropped because it waited too long.
    fn on_expire(&mut self, packet: &Packet) -> Reply {
        unreachable!("no time-to-wait was asked for, but {packet:?} was dropped")
    }
}

/// An agent that does nothing.
pub struct Idle;

impl Agent for Idle {}

crate::kinds::kinds! {
    /// `[congestion_control]`: the list of kinds, one line each.
    pub enum CongestionControl by "kind" {
        None(none::None) = "none",
        Ecn(ecn::Ecn) = "ecn",
        Lhrp(lhrp::Lhrp) = "lhrp",
        Srp(srp::Srp) = "srp",
        Smsrp(smsrp::Smsrp) = "smsrp",
        LhrpSrp(lhrp_srp::LhrpSrp) = "lhrp+srp",
        CodesCc(codes_cc::CodesCc) = "codes-cc",
        SstCm(sst_cm::SstCm) = "sst-cm",
        Saa(saa::Saa) = "saa",
        MaxMin(max_min::MaxMin) = "max-min",
        Dcqcn(dcqcn::Dcqcn) = "dcqcn",
        Swift(swift::Swift) = "swift",
        Hpcc(hpcc::Hpcc) = "hpcc",
        Nscc(nscc::Nscc) = "nscc",
        Rccc(rccc::Rccc) = "rccc",
    }
    /// What the scheme provides, whichever kind it is.
    pub fn scheme -> dyn Scheme;
}

impl Default for CongestionControl {
    fn default() -> Self {
        Self::None(none::None::default())
    }
}

/// The warning that a key of a scheme, which is given, does nothing for want of something else.
pub fn idle(key: &str, given: bool, without: &str) -> Option<String> {
    given.then(|| format!("congestion_control.{key} does nothing without {without}"))
}

/// The warning that no message of the traffic is as long as a limit, given by a key, so that something does not happen; none where
/// there are jobs, which send what they will.
pub fn all_shorter(plan: &Plan, key: &str, limit: u32, what: &str) -> Option<String> {
    let longest = plan.traffic.iter().map(|traffic| traffic.class().sizes.max()).max()?;
    (plan.jobs.is_empty() && longest < limit).then(|| {
        format!("congestion_control.{key}: {limit} flits, but no message has over {longest}: {what}. \"{longest} flits\" reaches the longest")
    })
}

/// What every scheme provides: what the engine needs to build its endpoints and agents.
pub trait Scheme {
    /// Mistakes across its parameters; paths are relative to its table.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
    /// Its traffic classes, the highest priority first.
    fn classes(&self, _acknowledge: bool) -> Vec<TrafficClass> {
        vec![CONTROL, DATA]
    }
    /// Why it cannot work without acknowledgements, and what would do, if it cannot.
    fn needs_acknowledgements(&self) -> Option<(&'static str, &'static str)> {
        None
    }
    /// Whether what it keeps for a send queue (reservations, what to send again, delays) speaks of one destination.
    fn per_destination(&self) -> bool {
        true
    }
    /// Whether its packets carry words: if it has signals, only where these travel in band.
    fn words(&self) -> bool {
        self.passage().is_none_or(|passage| passage == Passage::InBand)
    }
    /// How its signals travel, if it has some.
    fn passage(&self) -> Option<Passage> {
        None
    }
    /// What the links on the way of a flow tell it, if flows are to be announced to them.
    fn told(&self) -> Option<Told> {
        None
    }
    /// Whether flows of the fluid model can be under it: they have rates, and no packets.
    fn is_fluid(&self) -> bool {
        self.told().is_some()
    }
    /// What a user has to know of its parameters on this network, as warnings of the results.
    fn remarks(&self, _plan: &Plan) -> Vec<String> {
        Vec::new()
    }
    /// The defaults that depend on the network, as they are on this one: key and value.
    fn defaults(&self, _plan: &Plan) -> Vec<(&'static str, serde_json::Value)> {
        Vec::new()
    }
    /// Its sources and sinks for the endpoints of a partition.
    fn nics(
        &self,
        plan: &std::sync::Arc<Plan>,
        share: &Share,
        acknowledge: bool,
    ) -> Box<dyn crate::nic::Nics>;
    /// Its agent for the switches of a partition.
    fn agent(&self, _plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        Box::new(Idle)
    }
}
