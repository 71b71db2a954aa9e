//! A partition: its switches, its endpoints, and the loop over their events.
use super::ahead;
use super::channel::Inlet;
use super::circuits::{Circuits, Place};
use super::fabric::Fabric;
use super::packet::Packet;
use super::plan::Plan;
use super::post::Post;
use super::table::Table;
use super::wheel::Kind;
use super::{NEVER, Tick};
use crate::nic::{Nics, respond};
use crate::protocol::signal::Signal;
use crate::protocol::{Agent, Arrival, Reply, Verdict};
use crate::queueing::Assignment;
use crate::rng::{mix, scale};
use crate::routing::Senses;
use crate::switch::arch::Architecture;
use std::sync::Arc;

/// A partition with switches of the architecture `A`.
pub struct Partition<A: Architecture> {
    /// What all architectures share.
    pub fabric: Fabric,
    /// The endpoints.
    pub nics: Box<dyn Nics>,
    switches: A,
    agent: Box<dyn Agent>,
    /// Whether the agent has an outbox.
    speaks: bool,
    /// The flows in the switches, if they are kept account of.
    pub circuits: Option<Box<Circuits>>,
    last_hop: bool,
    /// Whether arriving packets are routed in the order of their ports.
    ordered: bool,
    plan: Arc<Plan>,
    /// Local endpoint on each port, or `NO_ENDPOINT`.
    endpoints: Table<u32>,
    channels: Box<[Channel; 256]>,
    events: Vec<u64>,
    arrivals: Vec<u64>,
    inspected: Vec<u64>,
}

/// What an arriving packet's virtual channel tells of it.
#[derive(Clone, Copy, Default)]
struct Channel {
    network: u8,
    /// First virtual channel of its class, network and queue.
    base: u8,
    /// First virtual channel of its class and network, if queues are chosen at each hop: then of data only.
    spread: Option<u8>,
    /// Whether its arrival is noted.
    tracked: bool,
}

/// No endpoint is attached to the port.
const NO_ENDPOINT: u32 = u32::MAX;

/// What tells a packet from others in any partitioning: numbers in the pool do not.
fn identity(pool: &super::packet::Pool, id: u32) -> (u32, u32, u16) {
    let cold = &pool.cold[id];
    (cold.src, cold.message, cold.sequence)
}

/// What a routing senses of the switch a packet is in.
struct Here<'a, A: Architecture> {
    switches: &'a A,
    fabric: &'a Fabric,
    /// Virtual channel of the packet's class and network at level 0.
    vc: u8,
    /// First port of the switch.
    base: u32,
    chance: u64,
}

impl<A: Architecture> Senses for Here<'_, A> {
    fn below(&mut self, n: u32) -> u32 {
        self.chance = mix(self.chance, 1);
        scale(self.chance, n)
    }

    fn occupancy(&mut self, port: u16) -> u32 {
        let port = self.base + port as u32;
        self.switches.waiting(port)
    }

    fn room(&mut self, port: u16, level: u8) -> u32 {
        self.fabric.room(self.base + port as u32, self.vc + level)
    }
}

impl<A: Architecture> Partition<A> {
    /// A partition at rest; `arrivals_tracked` if the architecture wants the arrival time of every packet.
    pub fn new(
        mut fabric: Fabric,
        nics: Box<dyn Nics>,
        mut switches: A,
        agent: Box<dyn Agent>,
        arrivals_tracked: bool,
    ) -> Self {
        let interest = agent.interest();
        switches.prepare(&interest);
        let mut agent = agent;
        let speaks = agent.outbox().is_some();
        for (tracked, class) in fabric.tracked.iter_mut().zip(&fabric.plan.channels.classes) {
            *tracked = arrivals_tracked || class.times_out && interest.time_to_wait.is_some();
        }
        fabric.tracking = fabric.tracked.contains(&true);
        fabric.pool.noting = fabric.tracking || fabric.plan.noting;
        let mut channels = Box::new([Channel::default(); 256]);
        let plan = &fabric.plan.channels;
        for (vc, channel) in channels.iter_mut().take(plan.count()).enumerate() {
            let tracked = fabric.tracked[plan.class_of[vc] as usize];
            let (class, network) = (plan.class_of[vc], plan.network_of[vc]);
            let spread =
                matches!(fabric.plan.queues, Assignment::Port(_)) && !plan.classes[class as usize].control;
            let spread = spread.then(|| plan.index(class, network, 0, 0));
            *channel = Channel { network, base: plan.base_of[vc], spread, tracked };
        }
        let mut endpoints = Table::default();
        for &switch in &fabric.share.switches {
            for port in &fabric.plan.graph.switches[switch as usize] {
                endpoints.push(match port.peer {
                    crate::graph::Peer::Endpoint(endpoint) => fabric.plan.endpoint_home[endpoint as usize],
                    _ => NO_ENDPOINT,
                });
            }
        }
        let circuits = Circuits::of(&fabric.plan, &fabric.share);
        Self {
            speaks,
            last_hop: interest.last_hop,
            ordered: fabric.plan.router.reserved_level().is_some() || circuits.is_some(),
            circuits,
            plan: fabric.plan.clone(),
            channels,
            fabric,
            nics,
            switches,
            agent,
            endpoints,
            events: Vec::new(),
            arrivals: Vec::new(),
            inspected: Vec::new(),
        }
    }

    /// Arms the endpoints.
    pub fn start(&mut self) {
        self.nics.start(&mut self.fabric);
    }

    /// First tick at which something happens.
    pub fn next_event(&self) -> Tick {
        self.fabric.wheel.peek()
    }

    /// Handles everything before `end`.
    pub fn run_until(&mut self, end: Tick) {
        self.fabric.take_lines();
        while let Some(now) = self.fabric.wheel.next(end) {
            self.fabric.now = now;
            let window = self.fabric.plan.window;
            self.fabric.measuring = window.0 <= now && now < window.1;
            self.tick();
            self.fabric.wheel.finish();
        }
        self.fabric.wheel.skip_to(end);
        self.fabric.now = end;
    }

    /// Takes the events of a kind; `self.events` is to be given the list back.
    fn take(&mut self, kind: Kind) -> Vec<u64> {
        let mut events = std::mem::take(&mut self.events);
        self.fabric.wheel.take(kind, &mut events);
        self.fabric.probe.events += events.len() as u64;
        events
    }

    /// One tick. The order of the phases is what makes the order inside a phase meaningless. Many ticks have events of few
    /// kinds.
    fn tick(&mut self) {
        let arrives = self.fabric.wheel.has(Kind::Line) || self.fabric.wheel.has(Kind::Arrival);
        if arrives {
            self.arrive();
        }
        if self.fabric.wheel.has(Kind::Wake) {
            self.wake_ports();
        }
        if self.fabric.wheel.has(Kind::Timer) {
            self.expire();
        }
        if arrives {
            self.accept();
        }
        if self.speaks {
            self.time_agent();
        }
        loop {
            self.answer_drops();
            self.switches.settle(&mut self.fabric, &mut *self.agent);
            if self.fabric.dropped.is_empty() && !self.speak() {
                break;
            }
        }
        if self.fabric.wheel.has(Kind::Signal) {
            self.hear_signals();
        }
        if self.fabric.wheel.has(Kind::Delivery) {
            self.deliver();
        }
        if self.fabric.wheel.has(Kind::Endpoint) {
            self.wake_endpoints();
        }
    }

    /// Collects and routes the heads that arrive in this tick, on the state as of its beginning.
    fn arrive(&mut self) {
        let lines = self.take(Kind::Line);
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.fabric.wheel.take(Kind::Arrival, &mut arrivals);
        self.fabric.probe.events += arrivals.len() as u64;
        arrivals.extend(lines.iter().map(|&line| self.fabric.take_packet(line as u32)));
        self.events = lines;
        // Packets that are promised room, or change what a switch knows of flows, must be routed in an order that means something.
        if self.ordered {
            arrivals.sort_unstable_by_key(|event| event >> 32);
        }
        for &event in &arrivals {
            self.route((event >> 32) as u32, event as u32);
        }
        self.arrivals = arrivals;
    }

    fn wake_ports(&mut self) {
        let events = self.take(Kind::Wake);
        for &port in &events {
            let channel = &mut self.fabric.channels[port as u32];
            if channel.wake_at == self.fabric.now {
                channel.wake_at = NEVER;
                self.switches.wake(port as u32);
            }
        }
        self.events = events;
    }

    fn expire(&mut self) {
        let mut events = self.take(Kind::Timer);
        let pool = &self.fabric.pool;
        events.sort_unstable_by_key(|&event| ((event >> 32) as u32, identity(pool, event as u32)));
        for &event in &events {
            self.switches.expire(&mut self.fabric, (event >> 32) as u32, event as u32);
        }
        self.events = events;
    }

    /// Tells the agent of the times that it asked for, and sends what it has to say.
    fn time_agent(&mut self) {
        let mut keys = self.take(Kind::Agent);
        keys.sort_unstable();
        keys.iter().for_each(|&key| self.agent.on_timer(key, self.fabric.now));
        self.events = keys;
        self.speak();
    }

    /// Sends the agent's signals; returns whether any are packets, which have yet to go.
    fn speak(&mut self) -> bool {
        if !self.speaks {
            return false;
        }
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
        packet.hot.set_size(super::packet::Kind::Notification, self.plan.control_flits);
        packet.cold.src = signal.about;
        packet.cold.message = signal.number;
        packet.notes.words = signal.words();
        packet.cold.born = signal.at;
        packet.cold.injected = signal.at;
        self.emit(local, packet, 0);
    }

    /// Hands the signals that come in this tick to their endpoints.
    fn hear_signals(&mut self) {
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

    /// Hands the packets whose tails come in this tick to their endpoints.
    fn deliver(&mut self) {
        let mut events = self.take(Kind::Delivery);
        if self.plan.interleave {
            // The tails of two packets may come at once.
            let pool = &self.fabric.pool;
            events.sort_unstable_by_key(|&event| {
                let id = event as u32;
                ((event >> 32) as u32, pool.hot[id].kind(), identity(pool, id))
            });
        }
        for &event in &events {
            self.nics.deliver(&mut self.fabric, (event >> 32) as u32, event as u32);
        }
        self.events = events;
    }

    fn wake_endpoints(&mut self) {
        let events = self.take(Kind::Endpoint);
        for &endpoint in &events {
            let channel = &mut self.fabric.channels[self.fabric.ports + endpoint as u32];
            if channel.wake_at == self.fabric.now {
                channel.wake_at = NEVER;
                self.nics.wake(&mut self.fabric, endpoint as u32);
            }
        }
        self.events = events;
    }

    #[inline]
    fn route(&mut self, input: u32, id: u32) {
        let Inlet { switch, base, .. } = self.fabric.inlets[input];
        let (plan, now) = (&*self.plan, self.fabric.now);
        let hot = &self.fabric.pool.hot[id];
        let (dst, channel) = (hot.dst, self.channels[hot.vc as usize]);
        let mut route = hot.route(channel.network);
        let port = (input - base) as u16;
        // A head arrives at an input at most once a tick: that is the key of its chance.
        let chance = (switch as u64) << 16 ^ port as u64 ^ now.rotate_left(40) ^ plan.seed;
        let (switches, fabric) = (&self.switches, &self.fabric);
        let mut here = Here { switches, fabric, vc: channel.base, base, chance };
        let hop = match &mut self.circuits {
            None => plan.router.route(switch, Some(port), dst, &mut route, &mut here),
            Some(circuits) => {
                let pool = &mut self.fabric.pool;
                let (hot, src, words) = (&pool.hot[id], pool.cold[id].src, &mut pool.notes[id].words);
                circuits.route(plan, Place { input, switch, base }, (hot, src, words), &mut route)
            }
        };
        route.hops = route.hops.wrapping_add(1);
        let hot = &mut self.fabric.pool.hot[id];
        hot.set_route(route);
        hot.out = hop.port;
        hot.next_vc = match channel.spread {
            None => channel.base + hop.level,
            Some(first) => {
                first
                    + ahead::queue_beyond(plan, (switch, hop.port), dst, &route) * plan.channels.levels
                    + hop.level
            }
        };
        let (next_vc, flits) = (hot.next_vc, hot.flits());
        self.fabric.promise(base + hop.port as u32, next_vc, flits);
        if channel.tracked {
            self.fabric.pool.notes[id].arrived = now;
        }
    }

    /// Takes the routed packets in; those that the protocol looks at in order of their ports, after all others.
    fn accept(&mut self) {
        let arrivals = std::mem::take(&mut self.arrivals);
        for &event in &arrivals {
            let (input, id) = ((event >> 32) as u32, event as u32);
            let local = self.fabric.inlets[input].local;
            if self.last_hop && self.is_inspected(local, id) {
                self.inspected.push(event);
            } else {
                self.switches.accept(&mut self.fabric, local, Some(input), id);
            }
        }
        self.arrivals = arrivals;
        if self.inspected.is_empty() {
            return;
        }
        let mut inspected = std::mem::take(&mut self.inspected);
        inspected.sort_unstable();
        for &event in &inspected {
            self.inspect((event >> 32) as u32, event as u32);
        }
        inspected.clear();
        self.inspected = inspected;
    }

    fn is_inspected(&self, local: u32, id: u32) -> bool {
        let hot = &self.fabric.pool.hot[id];
        let port = self.fabric.share.ports[local as usize] + hot.out as u32;
        self.endpoints[port] != NO_ENDPOINT && hot.kind() != super::packet::Kind::Ack
    }

    fn inspect(&mut self, input: u32, id: u32) {
        let local = self.fabric.inlets[input].local;
        let packet = self.fabric.pool.get(id);
        let port = self.fabric.share.ports[local as usize] + packet.hot.out as u32;
        let channel = &self.fabric.channels[port];
        let under_way = if channel.free_at > self.fabric.now { channel.sending as u32 } else { 0 };
        let class = self.fabric.plan.channels.class_of[packet.hot.vc as usize];
        let arrival = Arrival {
            now: self.fabric.now,
            endpoint: self.endpoints[port],
            level: self.switches.waiting(port) + under_way,
            droppable: self.fabric.plan.channels.classes[class as usize].droppable,
        };
        match self.agent.on_arrive(&arrival, &packet) {
            Verdict::Keep => self.switches.accept(&mut self.fabric, local, Some(input), id),
            Verdict::Drop(reply) => self.remove(local, input, &packet, id, &reply, true),
            Verdict::Consume(reply) => self.remove(local, input, &packet, id, &reply, false),
        }
    }

    /// Answers the packets that were dropped at the head of a queue.
    fn answer_drops(&mut self) {
        if self.fabric.dropped.is_empty() {
            return;
        }
        let mut dropped = std::mem::take(&mut self.fabric.dropped);
        let pool = &self.fabric.pool;
        dropped.sort_unstable_by_key(|&(input, id)| (input, identity(pool, id)));
        for &(input, id) in &dropped {
            let packet = self.fabric.pool.get(id);
            let class = self.fabric.plan.channels.class_of[packet.hot.vc as usize];
            let droppable = self.fabric.plan.channels.classes[class as usize].droppable;
            assert!(droppable, "law broken: a packet that must not be dropped was dropped: {packet:?}");
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
        let flit = fabric.plan.links[0].time[1] as Tick;
        for behind in (0..flits).rev() {
            let at = packet.hot.tail.saturating_sub(behind as Tick * flit).max(now);
            fabric.release(input, packet.hot.vc, 1, at);
        }
        let out = fabric.share.ports[local as usize] + packet.hot.out as u32;
        fabric.forget(out, packet.hot.next_vc, flits);
        fabric.pool.remove(id);
        if dropped {
            let class = fabric.plan.channels.class_of[packet.hot.vc as usize];
            let droppable = fabric.plan.channels.classes[class as usize].droppable;
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
            mix((packet.cold.src as u64) << 32 | packet.cold.message as u64, packet.cold.sequence as u64);
        let chance = mix(mix(self.fabric.now ^ plan.seed, switch as u64), key);
        let mut route = crate::routing::Route::default();
        let vc = plan.channels.index(class, 0, 0, 0);
        let mut here = Here { switches: &self.switches, fabric: &self.fabric, vc, base, chance };
        plan.router.inject(packet.cold.src, packet.hot.dst, &mut route, &mut here);
        let hop = plan.router.route(switch, None, packet.hot.dst, &mut route, &mut here);
        route.hops = 1;
        packet.hot.set_route(route);
        packet.hot.tail = self.fabric.now;
        packet.hot.out = hop.port;
        packet.hot.next_vc = plan.channels.index(class, route.network, 0, hop.level);
        packet.hot.vc = packet.hot.next_vc;
        packet.notes.arrived = self.fabric.now;
        self.fabric.probe.made += 1;
        self.fabric.note_bound(base + hop.port as u32, packet.hot.next_vc, packet.hot.flits());
        let id = self.fabric.pool.insert(&packet);
        self.switches.accept(&mut self.fabric, local, None, id);
    }

    /// Flits in each of its switches.
    pub fn occupancy(&self) -> Vec<u64> {
        (0..self.fabric.share.switches.len() as u32).map(|switch| self.switches.occupancy(switch)).collect()
    }

    /// Flits that wait for each of its ports.
    pub fn port_occupancy(&self) -> Vec<u32> {
        (0..self.fabric.ports).map(|port| self.switches.waiting(port)).collect()
    }

    /// Its switches, to be looked at between two windows.
    pub fn switches(&self) -> &A {
        &self.switches
    }
}
