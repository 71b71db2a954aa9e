//! Sending a packet of a queue: what it takes beside credit, and who hears of it.
use super::at_source::{Lacking, awaited, first_queue};
use super::{Forgotten, NicSet};
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::flow::Flow;
use crate::core::packet::{Kind, Packet};
use crate::protocol::{Concern, MILLION, Pull, Reserve, Sent, Source};
use crate::routing::Route;

impl<S: Source> NicSet<S> {
    /// Sends what a queue wants to send if there is credit.
    pub(super) fn try_send(
        &mut self,
        fabric: &mut Fabric,
        endpoint: u32,
        queue: u32,
        pull: Pull,
        lacking: &mut Lacking,
    ) -> bool {
        let (Pull::Next(class)
        | Pull::Again(class)
        | Pull::Control(class, ..)
        | Pull::Reserve(Reserve { class, .. })) = pull
        else {
            unreachable!("a pull that sends nothing")
        };
        let grade = self.queues[queue].grade;
        let class = self.graded(class, grade);
        // Where queues park, it has to be known for what each waits.
        if lacking.classes >> class & 1 == 1 && !self.parks {
            return false;
        }
        let mut packet = self.draft(fabric, endpoint, queue, pull);
        let turn = self.queues[queue].turn().unwrap_or(self.nodes[endpoint].turn);
        let turn = (packet.hot.kind() == Kind::Data).then_some(turn);
        // What is not data keeps its key while it waits, as data their turn.
        let asked = self.queues[queue].asked().filter(|_| turn.is_none());
        let key = asked.unwrap_or_else(|| self.key_at_source(fabric, turn, &packet));
        self.route_by(fabric, (turn, key), &mut packet, class);
        let channel = fabric.ports + endpoint;
        let vc = packet.hot.next_vc;
        // Nor does it take what one ahead of it in the round robin lacked.
        let lacks = fabric.credit(channel, vc) < packet.hot.flits() || !self.parks && lacking.has(vc);
        if lacks || self.is_behind(endpoint, queue, pull, &packet) {
            self.take_turn(endpoint, queue, &packet);
            self.keep_key(queue, &packet, key);
            lacking.note(&self.plan, class, vc);
            return false;
        }
        if let Pull::Reserve(reserve) = pull
            && !self.follows(fabric, (channel, grade), &packet, &reserve)
        {
            self.keep_key(queue, &packet, key);
            lacking.note(&self.plan, class, packet.hot.next_vc);
            return false;
        }
        self.nodes[endpoint].lane(grade).parked.leave(queue);
        let first = self.commit(fabric, endpoint, queue, pull, &mut packet);
        self.take_turn(endpoint, queue, &packet);
        // A reservation takes no turn, and leaves that for which data wait.
        match turn {
            Some(_) => self.queues[queue].set_turn(None),
            None => self.queues[queue].ask_by(None),
        }
        self.inject(fabric, endpoint, &mut packet);
        let end = fabric.channels[channel].free_at;
        if first && packet.cold.class() as usize >= self.first_job {
            self.job_injected(endpoint, queue, &packet, end);
        }
        let time = self.time_of(&packet);
        let sent = Sent { pull, packet: &packet, now: fabric.now, end, time };
        if matches!(pull, Pull::Next(_) | Pull::Again(_)) {
            self.hold(fabric, endpoint, &sent);
        }
        let record = &mut self.queues[queue];
        self.source.on_sent(record, &sent);
        self.nodes[endpoint].lane(grade).due.note(queue, record);
        self.note_rate(fabric, queue, (packet.cold.src, packet.hot.dst));
        self.go_on(fabric, endpoint, queue, fabric.now);
        // Before the end of the packet nothing is sent.
        self.note_want(endpoint, queue, end);
        true
    }

    /// Whether other queues have parked for credit on the channel that a queue's packet takes.
    #[inline]
    fn is_behind(&mut self, endpoint: u32, queue: u32, pull: Pull, packet: &Packet) -> bool {
        let grade = self.queues[queue].grade;
        let Pull::Next(class) = pull else { return false };
        let (ends, class) = ((packet.cold.src, packet.hot.dst), self.graded(class, grade));
        let parked = &self.nodes[endpoint].lane(grade).parked;
        self.parks
            && !parked.is_empty()
            && !self.plan.router.weighs()
            && parked.are_ahead(&awaited(&self.plan, class, ends, packet.hot.next_vc), queue)
    }

    /// Ticks that a packet takes on a channel of an endpoint that is not slow.
    #[inline]
    pub(super) fn time_of(&self, packet: &Packet) -> Tick {
        self.plan.links[0].time[packet.hot.flits() as usize].into()
    }

    /// After data, the endpoint may have to wait.
    #[inline]
    pub(super) fn hold(&mut self, fabric: &mut Fabric, endpoint: u32, sent: &Sent) {
        let sink = &mut self.sinks[endpoint];
        self.nodes[endpoint].hold = self.source.hold(sink, sent);
        if fabric.probe.control_recorded() && self.source.signals() == Concern::Endpoint {
            let rate = self.source.allowed(sink, fabric.now);
            fabric.probe.allowed((sent.packet.cold.src, None), rate, fabric.now, fabric.now);
        }
    }

    /// Records the rate that a queue has now towards a destination, from one endpoint to another, if its source gives it one itself.
    #[inline]
    pub(super) fn note_rate(&mut self, fabric: &mut Fabric, queue: u32, (from, to): (u32, u32)) {
        if !fabric.probe.control_recorded() || self.source.signals() != Concern::Nothing {
            return;
        }
        self.note_forgotten(fabric);
        let now = fabric.now;
        let record = &self.queues[queue];
        if let Some((rate, until)) = self.source.allowed_towards(record, to, now) {
            fabric.probe.allowed((from, Some((to, self.flow_of(queue)))), rate, until.max(now), now);
        }
    }

    /// Records that queues which were forgotten are as new: their sources may send at the full rate again.
    pub(super) fn note_forgotten(&mut self, fabric: &mut Fabric) {
        for Forgotten { endpoint, towards, at } in self.forgotten.iter_mut().flat_map(|all| all.drain(..)) {
            let ends = (fabric.share.endpoints[endpoint as usize], Some(towards));
            fabric.probe.allowed(ends, MILLION, at, at);
        }
    }

    /// A data packet takes the next turn, unless it has one: what it waits for does not change while others are sent.
    fn take_turn(&mut self, endpoint: u32, queue: u32, packet: &Packet) {
        let (record, node) = (&mut self.queues[queue], &mut self.nodes[endpoint]);
        if packet.hot.kind() == Kind::Data && record.turn().is_none() {
            record.set_turn(Some(node.turn));
            node.turn = node.turn.wrapping_add(1);
        }
    }

    /// What is not data waits for the virtual network that it drew when it was first looked at.
    fn keep_key(&mut self, queue: u32, packet: &Packet, key: [u64; 2]) {
        if self.plan.vcs.networks > 1 && packet.hot.kind() != Kind::Data {
            self.queues[queue].ask_by(Some(key));
        }
    }

    /// Whether the first packet that a reservation is for can be sent directly behind it, if it must.
    pub(super) fn follows(
        &self,
        fabric: &Fabric,
        (channel, grade): (u32, u8),
        reservation: &Packet,
        reserve: &Reserve,
    ) -> bool {
        let Some(then) = reserve.then.map(|class| self.graded(class, grade)) else { return true };
        let channels = &self.plan.vcs;
        let network = channels.network_of[reservation.hot.next_vc as usize];
        let flits = reserve.flits.min(self.plan.packet_flits as u32);
        let route = Route { network, ..Route::default() };
        let queue = first_queue(&self.plan, then, Flow::of(&reservation.hot, &reservation.cold), &route);
        fabric.credit(channel, channels.index(then, network, queue, 0)) >= flits
    }
}
