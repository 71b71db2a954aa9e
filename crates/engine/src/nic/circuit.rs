//! Flows at their source: a message of a send queue, announced before its first packet and ended behind its last.
use super::queue::SendQueue;
use super::towards::Towards;
use super::{NicSet, respond};
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::packet::{Kind, Packet};
use crate::protocol::{Pull, Reply, Source};

/// How far the flow of a send queue is. Its messages are flows, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    /// There is none.
    #[default]
    Closed,
    /// Its set-up packet is under way, or its return.
    Asked,
    /// It sends.
    Open,
    /// All of it is sent; its tear-down packet is not.
    Ended,
    /// Its tear-down packet is under way, or its return.
    Closing,
}

/// The flow of a send queue.
#[derive(Debug, Clone, Copy, Default)]
pub struct Circuit {
    stage: Stage,
    /// Flits of the flow.
    weight: u32,
    /// The number of its message, which its set-up, probe and tear-down packets have too.
    number: u32,
}

impl Circuit {
    /// What the queue is to do for its flow, before its protocol is asked; `flits` are those of its first message, if it has
    /// one, and `class` is that of data.
    pub fn pull(&self, flits: Option<u32>, class: u8) -> Option<Pull> {
        let control = |kind, weight: u32| Some(Pull::Control(class, kind, [weight.into(), 0]));
        match (self.stage, flits) {
            (Stage::Closed, Some(flits)) => control(Kind::SetUp, flits),
            (Stage::Ended, _) => control(Kind::TearDown, self.weight),
            (Stage::Asked | Stage::Closing, _) => Some(Pull::Wait),
            (Stage::Closed, None) | (Stage::Open, _) => None,
        }
    }

    /// What it pulled was sent.
    pub fn on_sent(&mut self, kind: Kind, weight: u64, number: u32) {
        match kind {
            Kind::SetUp => *self = Self { stage: Stage::Asked, weight: weight as u32, number },
            Kind::TearDown => self.stage = Stage::Closing,
            _ => {}
        }
    }

    /// The last packet of a message was sent.
    pub fn finish(&mut self) {
        if self.stage == Stage::Open {
            self.stage = Stage::Ended;
        }
    }

    /// Its set-up or tear-down packet came back.
    pub fn on_return(&mut self, kind: u64) {
        if kind == Kind::SetUp as u64 {
            assert_eq!(self.stage, Stage::Asked, "law broken: a flow was set up that nobody asked for");
            self.stage = Stage::Open;
        } else if kind == Kind::TearDown as u64 {
            assert_eq!(self.stage, Stage::Closing, "law broken: a flow ended that had not begun to");
            self.stage = Stage::Closed;
        }
    }

    /// The number of its message, if it has been announced.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether the switches know of no flow of the queue.
    pub fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// Whether data of its flow may be sent.
    pub fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    /// Flits of the flow, while it is known to switches.
    pub fn weight(&self) -> u32 {
        if self.is_closed() { 0 } else { self.weight }
    }
}

impl<S: Source> NicSet<S> {
    /// What a queue wants: for its flow, else as its protocol says.
    #[inline]
    pub(super) fn pull(&self, queue: u32, now: Tick) -> Pull {
        let record = &self.queues[queue];
        self.circuit_pull(record).unwrap_or_else(|| self.source.pull(record, now))
    }

    /// What a queue wants for its flow, before its protocol is asked.
    #[inline]
    pub(super) fn circuit_pull(&self, record: &SendQueue<S::Queue>) -> Option<Pull> {
        if !self.plan.circuits {
            return None;
        }
        let flits = record.messages.front().map(|message| message.flits());
        record.circuit.pull(flits, self.data_class)
    }

    /// Sends a set-up, probe or tear-down packet that has reached its destination back.
    pub(super) fn turn_round(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &Packet) {
        let words = [packet.hot.kind() as u64, packet.notes.words[1]];
        let class = self.plan.vcs.classes.iter().position(|class| class.control).unwrap_or(0) as u8;
        let reply = Reply { kind: Kind::Return, class, words };
        let mut answer = respond(packet, &reply, self.plan.control_flits, fabric.now);
        self.route_at_source(fabric, None, &mut answer, reply.class);
        self.send_control(fabric, endpoint, answer);
    }

    /// A set-up, probe or tear-down packet is back.
    pub(super) fn returned(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &Packet) {
        let Some(queue) = self.find(endpoint, Towards::answered(packet)) else {
            // Only a probe may be overtaken by the end of its flow.
            assert_eq!(packet.notes.words[0], Kind::Probe as u64, "law broken: a flow without a queue");
            return;
        };
        // Then another flow may have begun, of which the probe says nothing.
        let is_probe = packet.notes.words[0] == Kind::Probe as u64;
        if is_probe && packet.cold.message != self.queues[queue].circuit.number {
            return;
        }
        let before = fabric.now.saturating_sub(1);
        self.catch_up(fabric, endpoint, before);
        let record = &mut self.queues[queue];
        let weight = record.circuit.weight();
        record.circuit.on_return(packet.notes.words[0]);
        self.nodes[endpoint].announced -= u64::from(weight - record.circuit.weight());
        if self.source.hears(Kind::Return) {
            self.source.on_control(record, packet, fabric.now);
        }
        self.go_on(fabric, endpoint, queue, before);
        self.make_ready(endpoint, queue, fabric.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_announced_waits_sends_and_ends() {
        let mut circuit = Circuit::default();
        assert_eq!(circuit.pull(None, 1), None);
        assert_eq!(circuit.pull(Some(50), 1), Some(Pull::Control(1, Kind::SetUp, [50, 0])));
        circuit.on_sent(Kind::SetUp, 50, 7);
        assert_eq!(circuit.pull(Some(50), 1), Some(Pull::Wait));
        circuit.on_return(Kind::SetUp as u64);
        assert_eq!((circuit.pull(Some(50), 1), circuit.weight()), (None, 50));
        // A probe changes nothing; the next message waits for the tear-down packet of the first.
        circuit.on_return(Kind::Probe as u64);
        circuit.finish();
        assert_eq!(circuit.pull(Some(7), 1), Some(Pull::Control(1, Kind::TearDown, [50, 0])));
        circuit.on_sent(Kind::TearDown, 50, 7);
        assert_eq!(circuit.pull(Some(7), 1), Some(Pull::Wait));
        circuit.on_return(Kind::TearDown as u64);
        assert_eq!(circuit.pull(Some(7), 1), Some(Pull::Control(1, Kind::SetUp, [7, 0])));
    }
}
