//! A partition: its switches, its endpoints, and the loop over their events.
use super::ahead;
use super::channel::Inlet;
use super::circuits::{Circuits, Place};
use super::fabric::Fabric;
use super::plan::{Plan, VCS_MAX};
use super::table::Table;
use super::wheel::Kind;
use super::{NEVER, Tick};
use crate::nic::Nics;
use crate::protocol::Agent;
use crate::queueing::Assignment;
use crate::rng::{mix, scale};
use crate::routing::Senses;
use crate::switch::arch::{Architecture, Routed};
use crate::switch::deadlines::SPAN;
use std::sync::Arc;

/// A partition with switches of the architecture `A`.
pub struct Partition<A: Architecture> {
    /// What all architectures share.
    pub fabric: Fabric,
    /// The endpoints.
    pub nics: Box<dyn Nics>,
    pub(super) switches: A,
    pub(super) agent: Box<dyn Agent>,
    /// Whether the agent has an outbox.
    pub(super) speaks: bool,
    /// The flows in the switches, if they are kept account of.
    pub circuits: Option<Box<Circuits>>,
    last_hop: bool,
    /// Whether packets are promised room when they are routed.
    promises: bool,
    pub(super) plan: Arc<Plan>,
    /// The seed, mixed: the keys of chances under two seeds have nothing in common then. Seeds themselves differ in few bits, as ports and
    /// switches do, so that one's chances would be those of another's at other ports.
    salt: u64,
    /// Local endpoint on each port, or `NO_ENDPOINT`.
    pub(super) endpoints: Table<u32>,
    vcs: Box<[Vc; VCS_MAX]>,
    pub(super) events: Vec<u64>,
    arrivals: Vec<u64>,
    inspected: Vec<Routed>,
}

/// What an arriving packet's virtual channel tells of it.
#[derive(Clone, Copy, Default)]
struct Vc {
    network: u8,
    /// First virtual channel of its class, network and queue.
    base: u8,
    /// First virtual channel of its class and network, if queues are chosen at each hop: then of data only.
    spread: Option<u8>,
    /// Whether its arrival is noted.
    tracked: bool,
}

/// No endpoint is attached to the port.
pub(super) const NO_ENDPOINT: u32 = u32::MAX;

/// What tells a packet from others in any partitioning: numbers in the pool do not.
pub(super) fn identity(pool: &super::packet::Pool, id: u32) -> (u32, u32, u16) {
    let cold = &pool.cold[id];
    (cold.src, cold.message, cold.sequence)
}

/// What a routing senses of the switch a packet is in.
pub(super) struct Here<'a, A: Architecture> {
    pub(super) switches: &'a A,
    pub(super) fabric: &'a Fabric,
    /// Virtual channel of the packet's class and network at level 0.
    pub(super) vc: u8,
    /// First port of the switch.
    pub(super) base: u32,
    pub(super) chance: u64,
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

    fn load(&mut self, port: u16) -> u32 {
        self.occupancy(port) + self.fabric.in_use(self.base + port as u32)
    }

    fn queued(&mut self, port: u16, level: u8) -> u32 {
        if self.fabric.plan.output_buffer.is_none() {
            return self.occupancy(port);
        }
        self.fabric.queued(self.base + port as u32, self.vc + level)
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
        assert!(
            interest.last_hop || !speaks,
            "law broken: an agent that speaks of packets that it does not see"
        );
        for (tracked, class) in fabric.tracked.iter_mut().zip(&fabric.plan.vcs.classes) {
            *tracked = arrivals_tracked || class.times_out && interest.time_to_wait.is_some();
        }
        fabric.tracking = fabric.tracked.contains(&true);
        fabric.pool.noting = fabric.tracking || fabric.plan.noting;
        let mut vcs = Box::new([Vc::default(); VCS_MAX]);
        let plan = &fabric.plan.vcs;
        for (vc, told) in vcs.iter_mut().take(plan.count()).enumerate() {
            let tracked = fabric.tracked[plan.class_of[vc] as usize];
            let (class, network) = (plan.class_of[vc], plan.network_of[vc]);
            let spread =
                matches!(fabric.plan.queues, Assignment::Port(_)) && !plan.classes[class as usize].control;
            let spread = spread.then(|| plan.index(class, network, 0, 0));
            *told = Vc { network, base: plan.base_of[vc], spread, tracked };
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
            promises: fabric.plan.router.reserved_level().is_some(),
            circuits,
            salt: mix(fabric.plan.seed, 0),
            plan: fabric.plan.clone(),
            vcs,
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
            let window = self.fabric.probe.window;
            self.fabric.measuring = window.0 <= now && now < window.1;
            self.tick();
            self.fabric.wheel.finish();
        }
        self.fabric.wheel.skip_to(end);
        self.fabric.now = end;
    }

    /// Takes the events of a kind; `self.events` is to be given the list back.
    pub(super) fn take(&mut self, kind: Kind) -> Vec<u64> {
        let mut events = std::mem::take(&mut self.events);
        self.fabric.wheel.take(kind, &mut events);
        self.fabric.probe.events += events.len() as u64;
        events
    }

    /// One tick. The order of the phases is what makes the order inside a phase meaningless. Many ticks have events of few
    /// kinds.
    fn tick(&mut self) {
        if self.fabric.is_large() {
            self.fetch_first();
        }
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
            if self.fabric.dropped.is_empty() && !(self.speaks && self.speak()) {
                break;
            }
        }
        if self.fabric.is_large() {
            self.fabric.return_credits();
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

    /// Starts to bring into the cache what the events of this tick touch first. What that leads to is fetched where it is known.
    #[inline(never)]
    fn fetch_first(&self) {
        let fabric = &self.fabric;
        for &event in fabric.wheel.due(Kind::Arrival) {
            fabric.pool.hot.fetch(event as u32);
            fabric.inlets.fetch((event >> 32) as u32);
        }
        for &port in fabric.wheel.due(Kind::Wake) {
            fabric.channels.fetch(port as u32);
            self.switches.fetch(port as u32);
        }
        for &event in fabric.wheel.due(Kind::Delivery) {
            fabric.pool.hot.fetch(event as u32);
            fabric.pool.cold.fetch(event as u32);
            self.nics.fetch((event >> 32) as u32);
        }
        for &endpoint in fabric.wheel.due(Kind::Endpoint) {
            fabric.channels.fetch(fabric.ports + endpoint as u32);
            self.nics.fetch(endpoint as u32);
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
        self.order(&mut arrivals);
        for &event in &arrivals {
            self.route((event >> 32) as u32, event as u32);
        }
        if self.fabric.is_large() {
            self.expect_fetched(&arrivals);
        }
        self.arrivals = arrivals;
    }

    /// Tells the outputs, which are on their way into the cache, of the packets that were routed to them.
    #[inline(never)]
    fn expect_fetched(&mut self, arrivals: &[u64]) {
        for &event in arrivals {
            let routed = self.routed(event);
            self.switches.expect(routed.port, self.fabric.now);
            self.switches.fetch_place(&self.fabric, routed);
        }
    }

    /// Packets that are promised room must be routed in an order that means something, as must those that change what a switch
    /// knows of flows, or learn it: these go first.
    fn order(&self, arrivals: &mut [u64]) {
        let ordered = match &self.circuits {
            _ if self.promises => arrivals,
            Some(circuits) => {
                let mut first = 0;
                for at in 0..arrivals.len() {
                    let id = arrivals[at] as u32;
                    if circuits.concerns(self.fabric.pool.hot[id].kind(), &self.fabric.pool.notes[id].words) {
                        arrivals.swap(first, at);
                        first += 1;
                    }
                }
                &mut arrivals[..first]
            }
            None => return,
        };
        ordered.sort_unstable_by_key(|event| event >> 32);
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
        let all = events.len();
        events.retain(|&event| event != SPAN);
        if events.len() < all {
            self.switches.deadlines().begin_span(&mut self.fabric);
        }
        let pool = &self.fabric.pool;
        events.sort_unstable_by_key(|&event| ((event >> 32) as u32, identity(pool, event as u32)));
        for &event in &events {
            self.switches.expire(&mut self.fabric, (event >> 32) as u32, event as u32);
        }
        self.events = events;
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
        let (dst, channel) = (hot.dst, &self.vcs[hot.vc as usize]);
        let mut route = hot.route(channel.network);
        let port = (input - base) as u16;
        // A head arrives at an input at most once a tick: that is the key of its chance.
        let chance = (switch as u64) << 16 ^ port as u64 ^ now.rotate_left(40) ^ self.salt;
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
        route.leave();
        let hot = &mut self.fabric.pool.hot[id];
        hot.set_route(route);
        hot.out = hop.port;
        hot.next_vc = match channel.spread {
            None => channel.base + hop.level,
            Some(first) => {
                first
                    + ahead::queue_beyond(plan, (switch, hop.port), dst, &route) * plan.vcs.levels as u8
                    + hop.level
            }
        };
        let (next_vc, flits) = (hot.next_vc, hot.flits());
        let port = base + hop.port as u32;
        if self.fabric.is_large() {
            self.switches.fetch(port);
            self.fabric.channels.fetch(port);
            self.fabric.credits.fetch(port * self.fabric.vcs + next_vc as u32);
        } else {
            self.switches.expect(port, now);
        }
        self.fabric.promise(port, next_vc, flits);
        if channel.tracked {
            self.fabric.pool.notes[id].arrived = now;
        }
    }

    /// The packet of an arrival that was routed.
    #[inline(always)]
    fn routed(&self, event: u64) -> Routed {
        let (input, id) = ((event >> 32) as u32, event as u32);
        let port = self.fabric.inlets[input].base + self.fabric.pool.hot[id].out as u32;
        Routed { port, input, id }
    }

    /// Takes a routed packet in beside the others.
    #[inline(never)]
    pub(super) fn take_in(&mut self, routed: Routed) {
        self.switches.accept(&mut self.fabric, &mut *self.agent, routed);
    }

    /// Takes the routed packets in; those that the protocol looks at in order of their ports, after all others.
    #[inline(never)]
    fn accept(&mut self) {
        let arrivals = std::mem::take(&mut self.arrivals);
        for &event in &arrivals {
            let routed = self.routed(event);
            if self.last_hop && self.is_inspected(routed) {
                self.inspected.push(routed);
            } else {
                self.switches.accept(&mut self.fabric, &mut *self.agent, routed);
            }
        }
        self.arrivals = arrivals;
        if self.inspected.is_empty() {
            return;
        }
        let mut inspected = std::mem::take(&mut self.inspected);
        inspected.sort_unstable_by_key(|routed| routed.input);
        for &routed in &inspected {
            self.inspect(routed);
        }
        inspected.clear();
        self.inspected = inspected;
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
