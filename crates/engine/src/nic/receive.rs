//! Packets and signals that come in: data is put together to messages and answered, answers are told to their send queues.
use super::NicSet;
use super::towards::Towards;
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::packet::{Kind, Packet};
use crate::protocol::signal::Signal;
use crate::protocol::{Concern, OUT_OF_BAND, Received, Reply, Source};

impl<S: Source> NicSet<S> {
    /// Takes data in: counts it, and puts the message together; returns whether it is whole.
    pub(super) fn receive(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &Packet) -> bool {
        let cold = &packet.cold;
        let mut whole = cold.length <= self.plan.packet_flits as u32;
        if !whole {
            let key = (cold.src as u64) << 32 | cold.message as u64;
            let (missing, next) = self.assembly.entry(key);
            if *missing == 0 {
                *missing = cold.length;
                if let Some(hosts) = self.hosts.as_mut().filter(|_| cold.class() as usize >= self.first_job) {
                    hosts.begun(endpoint, cold.class(), packet.tag);
                }
            }
            assert!(*missing >= packet.hot.flits(), "law broken: a packet was delivered twice: {packet:?}");
            *missing -= packet.hot.flits();
            if cold.sequence() < *next {
                fabric.probe.reordered(cold.class(), fabric.now);
            }
            *next = (*next).max(cold.sequence() + 1);
            whole = *missing == 0;
            if whole {
                self.assembly.remove(key);
            }
        }
        let length = match &mut self.hosts {
            Some(hosts) if whole && packet.tag.is_part() => hosts.completes(endpoint, packet),
            _ => whole.then_some(cold.length),
        };
        let carries_data = self.hosts.is_none() || self.carries_data(packet);
        fabric.probe.delivered(packet, length, carries_data, fabric.now);
        length.is_some()
    }

    /// What the protocol is told of a packet that arrives.
    #[inline]
    pub(super) fn received<'a>(&self, packet: &'a Packet, now: Tick) -> Received<'a> {
        let class = self.plan.vcs.class_of[packet.hot.vc as usize];
        let droppable = self.plan.vcs.classes[class as usize].droppable;
        let flow = if self.flow_step == 0 { 0 } else { packet.cold.flow() };
        Received { packet, droppable, grade: self.grade(packet.cold.class()), flow, now }
    }

    pub(super) fn answer(&mut self, fabric: &mut Fabric, endpoint: u32, received: &Received) {
        let Received { packet, droppable, .. } = *received;
        let mut replies = std::mem::take(&mut self.replies);
        self.source.reply(&mut self.sinks[endpoint], received, &mut replies);
        for reply in replies.drain(..) {
            if reply.class == OUT_OF_BAND {
                self.signal_back(fabric, packet, &reply);
                continue;
            }
            let mut answer = respond(packet, &reply, self.plan.control_flits, fabric.now);
            answer.cold.mark(reply.kind == Kind::Ack && droppable);
            self.route_at_source(fabric, None, &mut answer, reply.class);
            self.send_control(fabric, endpoint, answer);
        }
        self.replies = replies;
    }

    /// Sends a control packet at once if the channel is free and has credit, else behind those of its class and better ones.
    #[inline]
    pub(super) fn send_control(&mut self, fabric: &mut Fabric, endpoint: u32, mut packet: Packet) {
        let channel = fabric.ports + endpoint;
        let starts = fabric.channels[channel].free_at <= fabric.now || fabric.interleaves(packet.hot.next_vc);
        if starts && self.nodes[endpoint].control.is_empty() {
            fabric.take_credits(channel);
            if fabric.credit(channel, packet.hot.next_vc) >= packet.hot.flits() {
                self.inject(fabric, endpoint, &mut packet);
                return;
            }
        }
        let class = |packet: &Packet| self.plan.vcs.class_of[packet.hot.next_vc as usize];
        let (control, own) = (&mut self.nodes[endpoint].control, class(&packet));
        let at = control.partition_point(|other| class(other) <= own);
        control.insert(at, packet);
    }

    /// Answers a packet out of band.
    pub(super) fn signal_back(&mut self, fabric: &mut Fabric, packet: &Packet, reply: &Reply) {
        let answer = respond(packet, reply, 1, fabric.now);
        let sent = fabric.now + self.plan.post.to_switch(&self.plan.links);
        let signal = Signal::brought_by(&answer, sent).expect("the reply is one");
        let (switch, _) = self.plan.graph.endpoints[packet.hot.dst as usize];
        fabric.signal(switch, signal);
    }

    /// The signal in a control packet, if the protocol has any.
    pub(super) fn signal_in(&self, packet: &Packet, now: Tick) -> Option<Signal> {
        match self.source.signals() {
            Concern::Nothing => None,
            _ => Signal::brought_by(packet, now),
        }
    }

    /// Does what a signal says.
    pub(super) fn obey(&mut self, fabric: &mut Fabric, endpoint: u32, signal: &Signal) {
        let now = fabric.now;
        if self.source.signals() == Concern::Endpoint {
            self.source.on_signal(&mut self.sinks[endpoint], signal, now);
            if fabric.probe.control_recorded() {
                let rate = self.source.allowed(&mut self.sinks[endpoint], now);
                fabric.probe.allowed((signal.to, None), rate, now, now);
            }
            if self.nodes[endpoint].hold > now && self.source.is_released(&self.sinks[endpoint]) {
                self.nodes[endpoint].hold = now;
                let channel = fabric.ports + endpoint;
                fabric.wake(channel, now.max(fabric.channels[channel].free_at));
            }
            return;
        }
        self.catch_up(fabric, endpoint, now.saturating_sub(1));
        let queue = self.queue(endpoint, Towards { dst: signal.about, group: 0, flow: 0 });
        let record = &mut self.queues[queue];
        self.source.on_queue_signal(record, signal, now);
        if fabric.probe.control_recorded() {
            let allowed = self.source.allowed_towards(record, signal.about, now);
            let (rate, from) = allowed.expect("law broken: a queue that hears signals has no rate");
            fabric.probe.allowed((signal.to, Some((signal.about, 0))), rate, from.max(now), now);
        }
        self.line_up(endpoint, queue, now);
        let channel = fabric.ports + endpoint;
        fabric.wake(channel, now.max(fabric.channels[channel].free_at));
    }

    /// Tells a send queue what a control packet says; returns whether the endpoint is to be looked at.
    pub(super) fn hear(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &Packet) -> bool {
        let (kind, to) = (packet.hot.kind(), Towards::answered(packet));
        let was_sent_again = |queue| self.source.was_sent_again(&self.queues[queue], packet);
        if kind == Kind::Ack && packet.cold.marked() && !self.find(endpoint, to).is_some_and(was_sent_again) {
            let before = packet.cold.sequence() * self.plan.packet_flits as u32;
            let flits = (packet.cold.length - before).min(self.plan.packet_flits as u32);
            self.nodes[endpoint].retained -= flits;
        }
        if !self.source.hears(kind) {
            return false;
        }
        if let Some(signal) = self.signal_in(packet, fabric.now) {
            self.obey(fabric, endpoint, &signal);
            return false;
        }
        // An acknowledgement for a queue that was forgotten changes nothing unless it carries news.
        let plain = kind == Kind::Ack && packet.notes.words == [0; 2];
        if plain && self.find(endpoint, to).is_none() {
            return false;
        }
        let before = fabric.now.saturating_sub(1);
        self.catch_up(fabric, endpoint, before);
        let queue = self.queue(endpoint, to);
        let record = &mut self.queues[queue];
        self.source.on_control(record, packet, fabric.now);
        let grade = record.grade;
        self.nodes[endpoint].lane(grade).due.note(queue, record);
        self.note_rate(fabric, queue, (packet.hot.dst, packet.cold.src));
        self.go_on(fabric, endpoint, queue, before);
        let record = &self.queues[queue];
        if plain && record.is_empty() && !record.ready && record.wake_at.is_none() {
            self.forget(endpoint, queue, fabric.now);
            return false;
        }
        self.line_up(endpoint, queue, fabric.now);
        true
    }
}

/// The control packet that answers `packet`, on its way back.
pub fn respond(packet: &Packet, reply: &Reply, flits: u16, now: Tick) -> Packet {
    let mut answer = Packet { cold: packet.cold, ..Packet::default() };
    answer.hot.dst = packet.cold.src;
    answer.hot.set_size(reply.kind, flits);
    answer.cold.src = packet.hot.dst;
    answer.notes.words = reply.words;
    // What is sent again for it has the tag of its message.
    answer.tag = packet.tag;
    answer.cold.mark(false);
    answer.cold.injected = now;
    answer
}
