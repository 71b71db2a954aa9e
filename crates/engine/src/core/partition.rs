//! A partition: its switches, its endpoints, and the loop over their events.
use super::arrivals::Vc;
use super::circuits::Circuits;
use super::fabric::Fabric;
use super::plan::{Plan, VCS_MAX};
use super::table::Table;
use super::wheel::Kind;
use super::{NEVER, Tick};
use crate::nic::Nics;
use crate::protocol::Agent;
use crate::rng::mix;
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
    pub(super) last_hop: bool,
    /// Whether packets are promised room when they are routed.
    pub(super) promises: bool,
    pub(super) plan: Arc<Plan>,
    /// The seed, mixed: the keys of chances under two seeds have nothing in common then. Seeds themselves differ in few bits, as ports and
    /// switches do, so that one's chances would be those of another's at other ports.
    pub(super) salt: u64,
    /// Local endpoint on each port, or `NO_ENDPOINT`.
    pub(super) endpoints: Table<u32>,
    pub(super) vcs: Box<[Vc; VCS_MAX]>,
    pub(super) events: Vec<u64>,
    pub(super) arrivals: Vec<u64>,
    pub(super) inspected: Vec<Routed>,
}

/// No endpoint is attached to the port.
pub(super) const NO_ENDPOINT: u32 = u32::MAX;

/// What tells a packet from others in any partitioning: numbers in the pool do not.
pub(super) fn identity(pool: &super::packet::Pool, id: u32) -> (u32, u32, u32) {
    let cold = &pool.cold[id];
    (cold.src, cold.message, cold.sequence())
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
        fabric.tells_inputs = interest.at_inputs;
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
        fabric.pool.tagging = !fabric.plan.jobs.is_empty();
        let vcs = Vc::all(&fabric);
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
        if let Some(circuits) = &mut self.circuits {
            self.fabric.ended.drain(..).for_each(|ended| circuits.end(&ended));
        }
        if self.fabric.defers {
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
        if self.fabric.wheel.has(Kind::Memory) {
            self.fabric.govern();
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
