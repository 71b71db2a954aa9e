//! What a protocol does in switches: it looks at packets on their way, answers those that it takes out, and sends signals.
use super::arrivals::{Here, Routee};
use super::flow::Flow;
use super::packet;
use super::packet::{Birth, NIL, Packet};
use super::partition::{NO_ENDPOINT, Partition};
use super::plan::FlitTime;
use super::post::Post;
use super::wheel::Kind;
use crate::nic::respond;
use crate::protocol::signal::Signal;
use crate::protocol::{Arrival, Reply, Verdict};
use crate::rng::mix;
use crate::switch::arch::{Architecture, Routed};

impl<A: Architecture> Partition<A> {
    /// Tells the agent of the times that it asked for, and sends what it has to say.
    pub(super) fn time_agent(&mut self) {
        let mut keys = self.take(Kind::Agent);
        keys.sort_unstable();
        keys.iter().for_each(|&key| self.agent.on_timer(key, self.fabric.now));
        self.events = keys;
        self.speak();
    }

    /// Sends the agent's signals; returns whether any are packets, which have yet to go.
    pub(super) fn speak(&mut self) -> bool {
        let outbox = self.agent.outbox().expect("it had one");
        if outbox.signals.is_empty() && outbox.timers.is_empty() {
            return false;
        }
        for (at, key) in outbox.timers.drain(..) {
            self.fabric.wheel.push(at.max(self.fabric.now + 1), Kind::Agent, key);
        }
        let mut signals = std::mem::take(&mut outbox.signals);
        signals.sort_unstable_by_key(Signal::order);
        let in_band = matches!(self.plan.post, Post::Closed);
        for signal in &signals {
            self.fabric.probe.ordered(signal);
            let (switch, _) = self.plan.graph.endpoints[signal.about as usize];
            if in_band {
                self.emit_signal(self.plan.home[switch as usize].1, signal);
            } else {
                self.fabric.signal(switch, *signal);
            }
        }
        let said = in_band && !signals.is_empty();
        signals.clear();
        self.agent.outbox().expect("it had one").signals = signals;
        said
    }

    /// Sends a signal as a packet of the first control class.
    fn emit_signal(&mut self, local: u32, signal: &Signal) {
        let mut packet = Packet::default();
        packet.hot.dst = signal.to;
        packet.hot.set_size(packet::Kind::Notification, self.plan.control_flits);
        packet.cold.src = signal.about;
        packet.cold.message = signal.number;
        packet.notes.words = signal.words();
        packet.cold.birth = Birth::new(signal.at, 0);
        packet.cold.injected = signal.at;
        self.emit(local, packet, 0);
    }

    /// Hands the signals that come in this tick to their endpoints.
    pub(super) fn hear_signals(&mut self) {
        let events = self.take(Kind::Signal);
        let mut signals: Vec<Signal> =
            events.iter().map(|&place| self.fabric.take_signal(place as u32)).collect();
        self.events = events;
        signals.sort_unstable_by_key(Signal::order);
        for signal in &signals {
            let local = self.plan.endpoint_home[signal.to as usize];
            self.nics.hear_signal(&mut self.fabric, local, signal);
        }
    }

    pub(super) fn is_inspected(&self, routed: Routed) -> bool {
        let hot = &self.fabric.pool.hot[routed.id];
        self.endpoints[routed.port] != NO_ENDPOINT && hot.kind() != packet::Kind::Ack
    }

    /// Shows the protocol the first of the packets that came in this tick and have not been looked at. None of them waits yet.
    pub(super) fn inspect(&mut self, packets: &[Routed]) {
        let routed = packets[0];
        let Routed { port, input, id } = routed;
        let local = self.fabric.inlets[input].local;
        let packet = self.fabric.pool.get(id);
        let class = self.fabric.plan.vcs.class_of[packet.hot.vc as usize];
        let waiting = if self.fabric.plan.vcs.grades > 1 {
            let vc = packet.hot.next_vc;
            let coming = packets.iter().map(|routed| (routed.input, routed.id));
            self.fabric.as_urgent(port, vc) - self.fabric.flits_as_urgent(port, vc, coming)
        } else {
            self.switches.waiting(port)
        };
        let arrival = Arrival {
            now: self.fabric.now,
            endpoint: self.endpoints[port],
            level: waiting + self.fabric.under_way(port),
            droppable: self.fabric.plan.vcs.classes[class as usize].droppable,
        };
        match self.agent.on_arrive(&arrival, &packet) {
            Verdict::Keep => self.take_in(routed),
            Verdict::Drop(reply) => self.remove(local, input, &packet, id, &reply, true),
            Verdict::Consume(reply) => self.remove(local, input, &packet, id, &reply, false),
        }
    }

    /// Answers the packets that were dropped at the head of a queue.
    pub(super) fn answer_drops(&mut self) {
        if self.fabric.dropped.is_empty() {
            return;
        }
        let mut dropped = std::mem::take(&mut self.fabric.dropped);
        // Of an input in the order in which they came: at one time, one.
        let pool = &self.fabric.pool;
        dropped.sort_unstable_by_key(|&(input, id)| (input, pool.notes[id].arrived));
        for &(input, id) in &dropped {
            let packet = self.fabric.pool.get(id);
            let reply = self.agent.on_expire(&packet);
            let local = self.fabric.inlets[input].local;
            self.remove(local, input, &packet, id, &reply, true);
        }
        dropped.clear();
        // Answers make no drops: they go to the virtual input.
        self.fabric.dropped = dropped;
    }

    /// Takes a packet out of the network and sends the answer to its source from the virtual input.
    fn remove(&mut self, local: u32, input: u32, packet: &Packet, id: u32, reply: &Reply, dropped: bool) {
        let fabric = &mut self.fabric;
        if fabric.probe.traces() {
            fabric.trace_end(local, packet, if dropped { "dropped" } else { "consumed" });
        }
        let (flits, now) = (packet.hot.flits(), fabric.now);
        // Flits that are in the buffer are credited now, the others as they arrive.
        let inlet = &fabric.inlets[input];
        let port = fabric.plan.graph.switches[inlet.switch as usize][(input - inlet.base) as usize];
        let flit = FlitTime::of(&fabric.plan.links[port.class as usize].time);
        for behind in (0..flits).rev() {
            let at = packet.hot.tail.saturating_sub(flit.span(behind.into())).max(now);
            fabric.release(input, packet.hot.vc, 1, at);
        }
        let out = fabric.share.ports[local as usize] + packet.hot.out as u32;
        fabric.forget(out, packet.hot.next_vc, flits);
        fabric.pool.remove(id);
        if dropped {
            let class = fabric.plan.vcs.class_of[packet.hot.vc as usize];
            let droppable = fabric.plan.vcs.classes[class as usize].droppable;
            assert!(droppable, "law broken: a packet that must not be dropped was dropped: {packet:?}");
            fabric.probe.dropped(packet, now);
        } else {
            fabric.probe.removed += 1;
        }
        let control = fabric.plan.control_flits;
        self.emit(local, respond(packet, reply, control, now), reply.class);
    }

    /// Sends a control packet from the virtual input of a switch.
    fn emit(&mut self, local: u32, mut packet: Packet, class: u8) {
        let switch = self.fabric.share.switches[local as usize];
        let base = self.fabric.share.ports[local as usize];
        let plan = &*self.plan;
        let key =
            mix((packet.cold.src as u64) << 32 | packet.cold.message as u64, packet.cold.sequence().into());
        let chance = mix(mix(mix(plan.seed, self.fabric.now), switch as u64), key);
        let mut route = crate::routing::Route::default();
        let vc = plan.vcs.index(class, 0, 0, 0);
        let (switches, fabric) = (&self.switches, &self.fabric);
        let made = Routee::Made(Flow::of(&packet.hot, &packet.cold));
        let mut here = Here { switches, fabric, vc, spread: None, base, chance, switch, packet: made };
        let hop = plan.router.route(switch, None, packet.hot.dst, &mut route, &mut here);
        route.hops = 1;
        packet.hot.set_route(route);
        packet.hot.tail = self.fabric.now;
        packet.hot.out = hop.port;
        packet.hot.next_vc = plan.vcs.index(class, route.network, 0, hop.level);
        packet.hot.vc = packet.hot.next_vc;
        packet.notes.arrived = self.fabric.now;
        self.fabric.probe.made += 1;
        self.fabric.enter_virtual_input(local, packet.hot.flits());
        let port = base + hop.port as u32;
        self.fabric.note_bound(port, packet.hot.next_vc, packet.hot.flits());
        let id = self.fabric.pool.insert(&packet);
        self.take_in(Routed { port, input: NIL, id });
    }
}
