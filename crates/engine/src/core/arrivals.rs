//! Packets that reach a switch: they are routed on the state as of the beginning of the tick, then taken in.
use super::ahead;
use super::channel::Inlet;
use super::circuits::Place;
use super::fabric::Fabric;
use super::flow::Flow;
use super::partition::Partition;
use super::plan::VCS_MAX;
use super::wheel::Kind;
use crate::queueing::Assignment;
use crate::rng::{mix, scale};
use crate::routing::Senses;
use crate::switch::arch::{Architecture, Routed};

/// What an arriving packet's virtual channel tells of it.
#[derive(Clone, Copy, Default)]
pub(super) struct Vc {
    network: u8,
    /// First virtual channel of its class, network and queue.
    base: u8,
    /// First virtual channel of its class and network, if queues are chosen at each hop: then of data only.
    spread: Option<u8>,
    /// Whether its arrival is noted.
    tracked: bool,
}

impl Vc {
    /// All virtual channels of a partition that knows which classes are tracked.
    pub(super) fn all(fabric: &Fabric) -> Box<[Self; VCS_MAX]> {
        let mut vcs = Box::new([Self::default(); VCS_MAX]);
        let plan = &fabric.plan.vcs;
        for (vc, told) in vcs.iter_mut().take(plan.count()).enumerate() {
            let tracked = fabric.tracked[plan.class_of[vc] as usize];
            let (class, network) = (plan.class_of[vc], plan.network_of[vc]);
            let spread =
                matches!(fabric.plan.queues, Assignment::Port(_)) && !plan.classes[class as usize].control;
            let spread = spread.then(|| plan.index(class, network, 0, 0));
            *told = Self { network, base: plan.base_of[vc], spread, tracked };
        }
        vcs
    }
}

/// What a routing senses of the switch a packet is in.
pub(super) struct Here<'a, A: Architecture> {
    pub(super) switches: &'a A,
    pub(super) fabric: &'a Fabric,
    /// Virtual channel of the packet's class, network and queue at level 0.
    pub(super) vc: u8,
    /// The first of its class and network, if the port ahead decides which queue it goes on in.
    pub(super) spread: Option<u8>,
    /// First port of the switch.
    pub(super) base: u32,
    pub(super) chance: u64,
    pub(super) switch: u32,
    pub(super) packet: Routee,
}

/// The packet that is routed.
#[derive(Clone, Copy)]
pub(super) enum Routee {
    /// One in the pool.
    Pooled(u32),
    /// One that the switch makes, of a flow.
    Made(Flow),
}

impl<A: Architecture> Senses for Here<'_, A> {
    fn below(&mut self, n: u32) -> u32 {
        self.chance = mix(self.chance, 1);
        scale(self.chance, n)
    }

    #[inline(never)]
    fn of_flow(&mut self, n: u32) -> u32 {
        let pool = &self.fabric.pool;
        let flow = match self.packet {
            Routee::Pooled(id) => Flow::of(&pool.hot[id], &pool.cold[id]),
            Routee::Made(flow) => flow,
        };
        flow.below(n, self.fabric.plan.seed, self.switch)
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
        let port = self.base + port as u32;
        match self.spread {
            None => self.fabric.queued(port, self.vc + level),
            Some(first) => self.queued_in_all(port, first + level),
        }
    }

    fn room(&mut self, port: u16, level: u8) -> u32 {
        self.fabric.room(self.base + port as u32, self.vc + level)
    }
}

impl<A: Architecture> Here<'_, A> {
    /// Flits in all queues at a port of a class, network and level, of which this is the first: which of them a packet joins hangs on the
    /// way that is yet to be chosen.
    #[inline(never)]
    fn queued_in_all(&self, port: u32, first: u8) -> u32 {
        let vcs = &self.fabric.plan.vcs;
        let queues = (0..vcs.queues).map(|queue| first + (queue * vcs.levels) as u8);
        queues.map(|vc| self.fabric.queued(port, vc)).sum()
    }
}

impl<A: Architecture> Partition<A> {
    /// Collects and routes the heads that arrive in this tick, on the state as of its beginning.
    pub(super) fn arrive(&mut self) {
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
        let packet = Routee::Pooled(id);
        let (vc, spread) = (channel.base, channel.spread);
        let mut here = Here { switches, fabric, vc, spread, base, chance, switch, packet };
        let hop = match &mut self.circuits {
            None => plan.router.route(switch, Some(port), dst, &mut route, &mut here),
            Some(circuits) => {
                let pool = &mut self.fabric.pool;
                let (hot, src, words) = (&pool.hot[id], pool.cold[id].src, &mut pool.notes[id].words);
                circuits.route(plan, Place { input, switch, base }, (hot, src, words), &mut route)
            }
        };
        route.leave();
        let (cold, hot) = (&self.fabric.pool.cold, &mut self.fabric.pool.hot[id]);
        hot.set_route(route);
        hot.out = hop.port;
        hot.next_vc = match channel.spread {
            None => channel.base + hop.level,
            Some(first) => {
                let flow = Flow::of(hot, &cold[id]);
                let queue = ahead::queue_beyond(plan, (switch, hop.port), flow, &route);
                first + queue * plan.vcs.levels as u8 + hop.level
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
    pub(super) fn accept(&mut self) {
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
        for at in 0..inspected.len() {
            self.inspect(&inspected[at..]);
        }
        inspected.clear();
        self.inspected = inspected;
    }
}
