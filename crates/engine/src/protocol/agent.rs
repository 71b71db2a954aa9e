//! A protocol in the switches: what it is asked about, and what it decides.
use super::Reply;
use super::signal::Outbox;
use crate::core::Tick;
use crate::core::packet::{Cold, Kind, Packet};

/// What an agent wants to be asked about.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interest {
    /// Packets that leave on a channel.
    pub departures: bool,
    /// Of what waits for that channel, what does at the inputs.
    pub at_inputs: bool,
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
    /// Flits in this switch bound for the endpoint, the packet not included; of several priorities only those as urgent as the packet.
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
    /// Flits in the switch that wait for the channel, the packet included; of several priorities only those as urgent as the packet.
    pub waiting: u32,
    /// Those of them that are neither the packet's nor in an output queue, if the agent is interested.
    pub at_inputs: u32,
    /// Whether the channel has credit for another packet of the largest size.
    pub has_credit: bool,
    /// The packet's kind.
    pub kind: Kind,
    /// Endpoint that it goes to.
    pub dst: u32,
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
