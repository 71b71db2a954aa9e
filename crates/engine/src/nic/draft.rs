//! Packets on their way out: drawn up, routed, accounted for, and put on the channel.
use super::NicSet;
use super::at_source::{AtSource, first_queue};
use super::queue::key;
use crate::core::circuits::{ByConnection, connection};
use crate::core::fabric::Fabric;
use crate::core::flow::Flow;
use crate::core::packet::{Birth, Kind, Packet, Part};
use crate::protocol::{Pull, Source};
use crate::rng::mix;
use crate::routing::Route;

impl<S: Source> NicSet<S> {
    /// The packet that a queue wants to send; nothing is changed yet.
    pub(super) fn draft(&self, fabric: &Fabric, endpoint: u32, queue: u32, pull: Pull) -> Packet {
        let record = &self.queues[queue];
        let mut packet = Packet::default();
        packet.hot.dst = record.dst;
        packet.cold.src = fabric.share.endpoints[endpoint as usize];
        match pull {
            Pull::Next(_) => {
                let message = record.messages.front().expect("a message was asked for");
                let flits = record.left().min(self.plan.packet_flits as u32);
                packet.hot.set_size(Kind::Data, flits as u16);
                packet.hot.dst = message.dst;
                packet.cold.birth = Birth::new(message.born(), message.flow());
                packet.cold.length = message.flits();
                packet.cold.part = Part::new(record.sequence, message.class());
                packet.tag = record.tag();
                packet.cold.message = record.number().unwrap_or(self.nodes[endpoint].next_message);
            }
            Pull::Again(class) => {
                let again = record.to_repeat(class).expect("a packet was due");
                let flits = again.flits.min(self.plan.packet_flits as u32);
                packet.hot.set_size(Kind::Data, flits as u16);
                packet.cold.birth = Birth::new(again.born, again.flow);
                packet.cold.length = again.length;
                packet.cold.part = Part::new(again.sequence, again.group);
                packet.cold.message = again.message;
                packet.tag = again.tag;
            }
            Pull::Control(_, kind, words) => {
                packet.hot.set_size(kind, self.plan.control_flits);
                packet.cold.part = Part::new(0, record.group);
                // A flow is a message, and has its number from its announcement on.
                packet.cold.message = match kind {
                    Kind::SetUp => record.number().unwrap_or(self.nodes[endpoint].next_message),
                    _ => record.circuit.number(),
                };
                packet.notes.words = words;
                packet.cold.birth = Birth::new(fabric.now, self.flow_of(queue));
            }
            Pull::Reserve(reserve) => {
                packet.hot.set_size(Kind::Reservation, self.plan.control_flits);
                packet.cold.message = record.number().unwrap_or(self.nodes[endpoint].next_message);
                packet.cold.part = Part::new(record.sequence, record.group);
                packet.notes.words = [reserve.flits as u64, key(packet.cold.message, record.sequence)];
                packet.cold.birth = Birth::new(fabric.now, self.flow_of(queue));
            }
            Pull::At(_) | Pull::Wait => unreachable!("a pull that sends nothing"),
        }
        if packet.hot.kind() == Kind::Data {
            self.source.stamp(record, pull, &mut packet);
        }
        packet
    }

    /// Carries out what `draft` drew up; returns whether it is data that was not sent before.
    pub(super) fn commit(
        &mut self,
        fabric: &mut Fabric,
        endpoint: u32,
        queue: u32,
        pull: Pull,
        packet: &mut Packet,
    ) -> bool {
        let mut first = false;
        let record = &mut self.queues[queue];
        let node = &mut self.nodes[endpoint];
        match pull {
            Pull::Next(_) => {
                record.assign(&mut node.next_message, 1);
                first = true;
                record.advance(packet.hot.flits(), 1);
                if record.sequence == 0 {
                    record.circuit.finish();
                }
            }
            Pull::Control(_, kind, words) => {
                record.circuit.on_sent(kind, words[0], packet.cold.message);
                if kind == Kind::SetUp {
                    record.assign(&mut node.next_message, 1);
                    node.announced += u64::from(record.circuit.weight());
                }
            }
            Pull::Again(class) => {
                let again =
                    record.take_again(class, self.plan.packet_flits as u32).expect("a packet was due");
                first = again.first;
                if !first {
                    fabric.probe.resent(packet.cold.class(), fabric.now);
                }
            }
            Pull::Reserve(reserve) => record.assign(&mut node.next_message, reserve.messages),
            _ => {}
        }
        if let Pull::Next(class) | Pull::Again(class) = pull {
            self.retain(fabric, endpoint, packet, class, first);
        }
        first
    }

    /// Counts data that may be dropped, and holds it from when it is `first` sent until it goes in a class that is never dropped, or
    /// is acknowledged.
    #[inline]
    pub(super) fn retain(
        &mut self,
        fabric: &mut Fabric,
        endpoint: u32,
        packet: &Packet,
        class: u8,
        first: bool,
    ) {
        let (node, flits) = (&mut self.nodes[endpoint], packet.hot.flits());
        if self.droppable >> class & 1 == 1 {
            fabric.probe.speculated(packet.cold.class(), fabric.now);
            node.retained += if first { flits } else { 0 };
            self.retained_peak = self.retained_peak.max(node.retained);
        } else if !first {
            node.retained -= flits;
        }
    }

    /// Lets the routing choose for a packet, of data with its turn, and sets the virtual channel of the injection channel.
    pub(super) fn route_at_source(&self, fabric: &Fabric, turn: Option<u32>, packet: &mut Packet, class: u8) {
        let key = self.key_at_source(fabric, turn, packet);
        self.route_by(fabric, (turn, key), packet, class);
    }

    /// What tells a packet, of data with its turn, from all others whose sources draw.
    pub(super) fn key_at_source(&self, fabric: &Fabric, turn: Option<u32>, packet: &Packet) -> [u64; 2] {
        let (vcs, cold) = (&self.plan.vcs, &packet.cold);
        let src = (cold.src as u64) << 32;
        match turn {
            // A packet that waits for credit in its network and queue must not draw others meanwhile; nor has it a number yet.
            Some(turn) if vcs.networks > 1 || vcs.queues > 1 => [src, turn.into()],
            _ => [src | cold.message as u64, u64::from(cold.sequence()).rotate_left(48) ^ fabric.now],
        }
    }

    /// The same with the key by which its source draws.
    pub(super) fn route_by(
        &self,
        fabric: &Fabric,
        (turn, key): (Option<u32>, [u64; 2]),
        packet: &mut Packet,
        class: u8,
    ) {
        let (plan, cold) = (&*self.plan, &packet.cold);
        let mut route = Route::default();
        if plan.circuits {
            // All packets of a source for a destination go one way.
            let chance = || mix(plan.seed, connection(cold.src, packet.hot.dst));
            let mut senses = ByConnection::new(chance, |_| 0);
            plan.router.inject(cold.src, packet.hot.dst, &mut route, &mut senses);
        } else {
            let mut senses = AtSource { fabric, packet, class, turn, key, drawn: 0 };
            plan.router.inject(cold.src, packet.hot.dst, &mut route, &mut senses);
        }
        let queue = first_queue(plan, class, Flow::of(&packet.hot, cold), &route);
        packet.hot.set_route(route);
        packet.hot.next_vc = plan.vcs.index(class, route.network, queue, 0);
    }

    #[inline]
    pub(super) fn inject(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &mut Packet) {
        let channel = fabric.ports + endpoint;
        let cuts_in = fabric.interleaves(packet.hot.next_vc);
        packet.cold.injected = if cuts_in { fabric.next_cut(channel) } else { fabric.now };
        packet.hot.tail = fabric.now;
        if packet.hot.kind() == Kind::Data {
            fabric.probe.injected(packet.cold.class(), fabric.now);
        }
        let id = fabric.pool.insert(packet);
        if cuts_in {
            fabric.cut_in(channel, id);
        } else {
            fabric.transmit(channel, id);
        }
        fabric.probe.made += 1;
    }
}
