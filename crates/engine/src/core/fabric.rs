//! What all switch architectures share: packets, channels, credits, and the lines to other partitions.
use super::line::Line;
use super::packet::{self, Hot, NIL, Pool};
use super::plan::{LinkPlan, Plan, Share};
use super::table::Table;
use super::wheel::{Kind, Wheel};
use super::{NEVER, Tick};
use crate::graph::Peer;
use crate::probe::Probe;
use crate::protocol::signal::Signal;
use crate::routing::BUBBLE;
use std::sync::Arc;

/// Where a channel ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Far {
    /// Input of a switch of this partition, by its local port.
    Input(u32),
    /// A line to another partition.
    Line(u32),
    /// An endpoint of this partition, by its local number.
    Endpoint(u32),
    /// Nowhere: the port is not connected.
    Nowhere,
}

/// The sending side of a channel: an output port of a switch (numbered as the port), or the injection channel of an
/// endpoint (numbered after all ports). One cache line.
#[repr(align(64))]
pub struct Channel {
    /// When it can start another packet.
    pub free_at: Tick,
    /// Earliest wake that is armed.
    pub wake_at: Tick,
    /// Credits on their way back, by time.
    returns: Returns,
    /// Where it ends.
    pub far: Far,
    /// Flits of the packet under way until `free_at`.
    pub sending: u16,
    /// Its sender waits for a credit.
    pub starved: bool,
    /// Kind of channel: its row in `Fabric::timing` and in the probe's shares.
    row: u8,
}

/// Times of a kind of channel: a link class towards a switch, injection, or ejection.
#[derive(Debug, Clone)]
struct Timing {
    /// Time of a flit, if a packet's time is a multiple of it; else 0, and `table` tells.
    flit: u32,
    /// From the start of a packet to the arrival of its head.
    head: u32,
    /// From its end to the arrival of its tail.
    tail: u32,
    /// Time of a packet by its flits.
    table: Table<u32>,
}

impl Timing {
    fn new(table: &[u32], head: u32, tail: u32) -> Self {
        let even = table.iter().enumerate().all(|(flits, &time)| time == flits as u32 * table[1]);
        Self { flit: if even { table[1] } else { 0 }, head, tail, table: table.to_vec().into() }
    }

    #[inline]
    fn time(&self, flits: u32) -> Tick {
        (if self.flit > 0 { self.flit * flits } else { self.table[flits] }) as Tick
    }
}

/// Every kind of channel: the link classes, then injection, then ejection.
fn timings(plan: &Plan) -> Vec<Timing> {
    let class = |link: &LinkPlan| Timing::new(&link.time, link.head() as u32, link.latency + link.pipeline);
    let host = &plan.links[0];
    let mut timings: Vec<Timing> = plan.links.iter().map(class).collect();
    timings.push(class(host));
    timings.push(Timing::new(&plan.drain_time, 0, host.latency));
    timings
}

/// A credit on its way: time, virtual channel and flits in one word, ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Credit(u64);

impl Credit {
    fn new(at: Tick, vc: u8, flits: u32) -> Self {
        debug_assert!(at < 1 << 44 && flits < 1 << 12);
        Self(at << 20 | (vc as u64) << 12 | flits as u64)
    }
    fn at(self) -> Tick {
        self.0 >> 20
    }
    fn vc(self) -> u32 {
        (self.0 >> 12 & 0xff) as u32
    }
    fn flits(self) -> u32 {
        (self.0 & 0xfff) as u32
    }
}

/// The credits on their way back over a channel, by time.
#[derive(Default)]
struct Returns {
    /// Those before `taken` have come.
    credits: Vec<Credit>,
    taken: usize,
}

impl Returns {
    #[inline]
    fn first(&self) -> Option<Credit> {
        self.credits.get(self.taken).copied()
    }

    #[inline]
    fn take_first(&mut self) {
        self.taken += 1;
        if self.taken == self.credits.len() {
            self.credits.clear();
            self.taken = 0;
        }
    }

    /// Adds a credit. Returns whether it is the first.
    #[inline]
    fn add(&mut self, credit: Credit) -> bool {
        if self.taken >= 16 && self.credits.len() == self.credits.capacity() {
            self.forget_taken();
        }
        if self.credits.last().is_none_or(|last| last.at() <= credit.at()) {
            self.credits.push(credit);
            return self.credits.len() == self.taken + 1;
        }
        self.insert(credit)
    }

    /// Flits of a virtual channel that come back by `at`.
    fn flits(&self, vc: u8, at: Tick) -> u32 {
        let coming = self.credits[self.taken..].iter().take_while(|credit| credit.at() <= at);
        coming.filter(|credit| credit.vc() == vc as u32).map(|credit| credit.flits()).sum()
    }

    #[cold]
    fn forget_taken(&mut self) {
        self.credits.drain(..self.taken);
        self.taken = 0;
    }

    /// Credits come in order but for packets that were dropped: those are moved forward to their place.
    #[cold]
    fn insert(&mut self, credit: Credit) -> bool {
        let later = self.credits[self.taken..].iter().rev().take_while(|other| other.at() > credit.at());
        let place = self.credits.len() - later.count();
        self.credits.insert(place, credit);
        place == self.taken
    }
}

/// A virtual channel at the sending side of a channel: its credits, and the packets that wait for it.
#[derive(Clone, Copy)]
struct Lane {
    /// Flits that fit in the buffer ahead.
    credit: u32,
    /// Flits of the packets that wait.
    used: u32,
    head: u32,
    tail: u32,
}

/// Which output proposed to an input, and in which pass of an arbitration.
#[derive(Debug, Clone, Copy, Default)]
pub struct Claim {
    /// The pass.
    pub pass: u32,
    /// The output, by its place among those of the pass.
    pub by: u32,
}

/// The receiving side of a channel: an input of a switch.
#[derive(Clone, Copy)]
pub struct Inlet {
    /// When its path into the crossbar is free.
    pub free_at: Tick,
    /// Local switch.
    pub local: u32,
    /// Global switch.
    pub switch: u32,
    /// First local port of the switch.
    pub base: u32,
    /// Ticks from the release of a buffer to the return of its credit.
    delay: u32,
    upstream: Upstream,
    /// The last proposal of an output to it.
    pub claim: Claim,
    /// Output that its round robin starts from.
    pub turn: u16,
}

/// Where the credits of an input go.
#[derive(Debug, Clone, Copy)]
enum Upstream {
    Channel(u32),
    Line(u32),
    Nowhere,
}

/// The shared part of a partition.
pub struct Fabric {
    /// The plan.
    pub plan: Arc<Plan>,
    /// What belongs to this partition.
    pub share: Share,
    /// The present tick.
    pub now: Tick,
    /// Whether the present tick is in the measured window.
    pub measuring: bool,
    /// Events to come.
    pub wheel: Wheel,
    /// Packets held.
    pub pool: Pool,
    /// Channels: output ports of the switches, then injection channels of the endpoints.
    pub channels: Table<Channel>,
    /// Inputs of the switches.
    pub inlets: Table<Inlet>,
    /// Number of switch ports.
    pub ports: u32,
    /// Lines to other partitions.
    pub lines: Table<Line>,
    /// What is measured.
    pub probe: Probe,
    /// Whether any class is tracked.
    pub tracking: bool,
    /// Whether the time of ports is recorded, or what phases put on them.
    pub watching: bool,
    /// Traffic classes whose packets keep their arrival and queueing time.
    pub tracked: Vec<bool>,
    /// Signals on their way to endpoints of this partition, by number, and the numbers that are free.
    signals: Vec<Signal>,
    free_signals: Vec<u32>,
    /// Signals for endpoints of other partitions.
    pub out_signals: Vec<Signal>,
    /// This partition.
    number: u32,
    /// Packets dropped in this tick, with the input they were dropped from, to be answered.
    pub dropped: Vec<(u32, u32)>,
    /// Flits promised to packets that wait for a channel, by virtual channel; empty if the routing has no reserved level.
    promised: Table<u32>,
    /// Flits in switches that are bound for each virtual channel; empty if no source weighs them.
    bound: Table<u32>,
    timing: Table<Timing>,
    /// When each channel can take another control packet between the flits of a data packet; empty if none goes there.
    cut_free: Table<Tick>,
    lanes: Table<Lane>,
    /// Flits that the virtual channels of each channel share in the buffer ahead; empty if none do.
    pools: Table<u32>,
    vcs: u32,
}

impl Fabric {
    /// The shared part of partition `number`, at rest.
    pub fn new(plan: Arc<Plan>, number: u32) -> Self {
        let share = plan.shares[number as usize].clone();
        let ports = share.ports[share.ports.len() - 1];
        let vcs = plan.channels.count();
        let mut fabric = Self {
            now: 0,
            measuring: false,
            wheel: Wheel::new(wheel_span(&plan)),
            pool: Pool::default(),
            channels: Table::default(),
            inlets: Table::default(),
            ports,
            lines: Table::default(),
            probe: Probe::new(&plan, &share),
            tracking: false,
            watching: false,
            tracked: vec![false; plan.channels.classes.len()],
            signals: Vec::new(),
            free_signals: Vec::new(),
            out_signals: Vec::new(),
            number,
            dropped: Vec::new(),
            promised: Table::default(),
            bound: Table::default(),
            timing: timings(&plan).into(),
            cut_free: Table::default(),
            lanes: Table::default(),
            pools: Table::default(),
            vcs: vcs as u32,
            share,
            plan,
        };
        fabric.wire(number);
        if fabric.plan.interleave {
            fabric.cut_free = vec![0; fabric.channels.len()].into();
        }
        if fabric.plan.router.reserved_level().is_some() {
            fabric.promised = vec![0; fabric.lanes.len()].into();
        }
        if fabric.plan.router.weighs() {
            fabric.bound = vec![0; fabric.lanes.len()].into();
        }
        fabric
    }

    fn wire(&mut self, number: u32) {
        let plan = self.plan.clone();
        for (local, &switch) in self.share.switches.clone().iter().enumerate() {
            let base = self.share.ports[local];
            for port in &plan.graph.switches[switch as usize] {
                let here = self.channels.len() as u32;
                let far = match port.peer {
                    Peer::None => Far::Nowhere,
                    Peer::Endpoint(endpoint) => Far::Endpoint(plan.endpoint_home[endpoint as usize]),
                    Peer::Switch { switch, port } => match plan.local_port(switch, port) {
                        (partition, there) if partition == number => Far::Input(there),
                        (partition, there) => {
                            self.lines.push(Line::new(here, (partition, there)));
                            Far::Line(self.lines.len() as u32 - 1)
                        }
                    },
                };
                let upstream = match far {
                    Far::Input(there) => Upstream::Channel(there),
                    Far::Line(line) => Upstream::Line(line),
                    Far::Endpoint(endpoint) => Upstream::Channel(self.ports + endpoint),
                    Far::Nowhere => Upstream::Nowhere,
                };
                self.inlets.push(Inlet {
                    free_at: 0,
                    local: local as u32,
                    switch,
                    base,
                    delay: plan.links[port.class as usize].credit() as u32,
                    upstream,
                    claim: Claim::default(),
                    turn: 0,
                });
                self.add_channel(port.class, far);
            }
        }
        for &endpoint in &self.share.endpoints.clone() {
            let (switch, port) = plan.graph.endpoints[endpoint as usize];
            let (_, input) = plan.local_port(switch, port);
            self.add_channel(plan.graph.switches[switch as usize][port as usize].class, Far::Input(input));
        }
    }

    fn add_channel(&mut self, link: u8, far: Far) {
        let unlimited = matches!(far, Far::Endpoint(_));
        let buffer = &self.plan.links[link as usize].buffer;
        let credit = |&flits: &u32| if unlimited { u32::MAX / 2 } else { flits };
        let lane = |flits| Lane { credit: credit(flits), used: 0, head: NIL, tail: NIL };
        self.lanes.extend(buffer.iter().map(lane));
        if self.plan.links.iter().any(|link| link.pool > 0) {
            self.pools.push(self.plan.links[link as usize].pool);
        }
        let rows = self.plan.links.len();
        let row = match far {
            Far::Endpoint(_) => rows + 1,
            _ if self.channels.len() as u32 >= self.ports => rows,
            _ => link as usize,
        };
        self.channels.push(Channel {
            free_at: 0,
            wake_at: NEVER,
            returns: Returns::default(),
            far,
            sending: 0,
            starved: false,
            row: row as u8,
        });
    }

    /// Flits that fit in the buffer ahead on this virtual channel. Credits must have been taken in before.
    #[inline]
    pub fn credit(&self, channel: u32, vc: u8) -> u32 {
        let own = self.lanes[channel * self.vcs + vc as u32].credit;
        if self.pools.is_empty() { own } else { own + self.pools[channel] }
    }

    /// Puts a packet into the queue of its virtual channel, in front of a channel.
    #[inline]
    pub fn enqueue(&mut self, channel: u32, vc: u8, id: u32, flits: u32) {
        let lane = &mut self.lanes[channel * self.vcs + vc as u32];
        lane.used += flits;
        let last = std::mem::replace(&mut lane.tail, id);
        if last == NIL {
            lane.head = id;
        } else {
            self.pool.hot[last].next = id;
        }
        self.pool.hot[id].next = NIL;
    }

    /// Takes the first packet out of a queue that has one, if there is credit for it. Returns its number, and whether
    /// others remain.
    #[inline]
    pub fn dequeue(&mut self, channel: u32, vc: u8) -> Option<(u32, bool)> {
        let lane = &self.lanes[channel * self.vcs + vc as u32];
        let (id, hot) = (lane.head, &self.pool.hot[lane.head]);
        let shared = if self.pools.is_empty() { 0 } else { self.pools[channel] };
        if lane.credit + shared < hot.flits() {
            return None;
        }
        Some((id, self.discard(channel, vc)))
    }

    /// Takes the first packet out of a queue that has one, whether there is credit or not. Returns whether others
    /// remain.
    pub fn discard(&mut self, channel: u32, vc: u8) -> bool {
        let lane = &mut self.lanes[channel * self.vcs + vc as u32];
        let hot = &self.pool.hot[lane.head];
        lane.used -= hot.flits();
        lane.head = hot.next;
        if lane.head == NIL {
            lane.tail = NIL;
        }
        lane.head != NIL
    }

    /// The first packet of a queue in front of a channel; `NIL` if it is empty.
    #[inline]
    pub fn head(&self, channel: u32, vc: u8) -> u32 {
        self.lanes[channel * self.vcs + vc as u32].head
    }

    /// Flits in a queue in front of a channel.
    #[inline]
    pub fn queued(&self, channel: u32, vc: u8) -> u32 {
        self.lanes[channel * self.vcs + vc as u32].used
    }

    /// Flits that must fit in the first buffer after the crossbar for a packet to cross: its own, and a largest packet's more
    /// where it needs a bubble.
    #[inline]
    pub fn room_needed(&self, hot: &Hot) -> u32 {
        hot.flits() + if hot.state & BUBBLE != 0 { self.plan.packet_flits as u32 } else { 0 }
    }

    /// Flits of credit, those that are back by now included, that were promised to no packet.
    pub fn room(&self, channel: u32, vc: u8) -> u32 {
        let lane = channel * self.vcs + vc as u32;
        let back: u32 = self.channels[channel].returns.flits(vc, self.now);
        (self.lanes[lane].credit + back).saturating_sub(self.promised[lane])
    }

    /// Promises the room ahead to a packet that has just been routed, if it was routed to the reserved level.
    #[inline]
    pub fn promise(&mut self, channel: u32, vc: u8, flits: u32) {
        if !self.promised.is_empty() && self.is_reserved(vc) {
            self.promised[channel * self.vcs + vc as u32] += flits;
        }
        self.note_bound(channel, vc, flits);
    }

    /// Counts a packet in a switch that was routed to a virtual channel.
    #[inline]
    pub fn note_bound(&mut self, channel: u32, vc: u8, flits: u32) {
        if !self.bound.is_empty() {
            self.bound[channel * self.vcs + vc as u32] += flits;
        }
    }

    /// Flits in the switch that are bound for a virtual channel, and flits of its credits that are in use.
    pub fn committed(&self, channel: u32, vc: u8) -> u32 {
        let lane = channel * self.vcs + vc as u32;
        let record = &self.channels[channel];
        let back: u32 = record.returns.flits(vc, self.now);
        // A channel to an endpoint has no buffer ahead.
        let buffer =
            self.plan.links.get(usize::from(record.row)).map_or(0, |link| link.buffer[usize::from(vc)]);
        self.bound[lane] + buffer.saturating_sub(self.lanes[lane].credit + back)
    }

    /// Takes back what was promised to a packet that is dropped.
    pub fn forget(&mut self, channel: u32, vc: u8, flits: u32) {
        if !self.promised.is_empty() && self.is_reserved(vc) {
            self.promised[channel * self.vcs + vc as u32] -= flits;
        }
        if !self.bound.is_empty() {
            self.bound[channel * self.vcs + vc as u32] -= flits;
        }
    }

    fn is_reserved(&self, vc: u8) -> bool {
        let level = vc - self.plan.channels.base_of[vc as usize];
        self.plan.router.reserved_level() == Some(level)
    }

    /// Credits on their way back to a channel, in flits.
    pub fn owed(&self, channel: u32, vc: u8) -> u32 {
        let record = &self.channels[channel];
        let exchanged = match record.far {
            Far::Line(line) => self.lines[line].in_credits.as_slice(),
            _ => &[],
        };
        let exchanged = exchanged.iter().filter(|credit| credit.vc() == vc as u32);
        record.returns.flits(vc, NEVER) + exchanged.map(|credit| credit.flits()).sum::<u32>()
    }

    /// Takes in the credits that have come back by now.
    #[inline]
    pub fn take_credits(&mut self, channel: u32) {
        while let Some(credit) = self.channels[channel].returns.first() {
            if credit.at() > self.now {
                return;
            }
            self.channels[channel].returns.take_first();
            self.lanes[channel * self.vcs + credit.vc()].credit += credit.flits();
            if !self.pools.is_empty() {
                self.share(channel, credit.vc());
            }
        }
    }

    /// What came back beyond the room for one packet that a virtual channel owns goes to the pool.
    #[cold]
    fn share(&mut self, channel: u32, vc: u32) {
        let own = &mut self.lanes[channel * self.vcs + vc].credit;
        let room = self.plan.packet_flits as u32;
        if *own > room {
            self.pools[channel] += *own - room;
            *own = room;
        }
    }

    /// Takes the credits of a packet: first of those that are shared.
    #[cold]
    fn take_shared(&mut self, channel: u32, vc: u8, flits: u32) {
        let pool = &mut self.pools[channel];
        let shared = flits.min(*pool);
        *pool -= shared;
        self.lanes[channel * self.vcs + vc as u32].credit -= flits - shared;
    }

    /// When a sender that lacks credit should look again; `NEVER` if none is on its way: the next one wakes it.
    pub fn next_credit(&mut self, channel: u32) -> Tick {
        let record = &mut self.channels[channel];
        record.starved = true;
        record.returns.first().map_or(NEVER, |credit| credit.at())
    }

    /// Arms a wake of a channel's sender at `at`, unless an earlier one is armed.
    #[inline]
    pub fn wake(&mut self, channel: u32, at: Tick) {
        let record = &mut self.channels[channel];
        debug_assert!(at >= self.now, "law broken: a wake in the past");
        if at >= record.wake_at {
            return;
        }
        record.wake_at = at;
        if channel < self.ports {
            self.wheel.push(at, Kind::Wake, channel as u64);
        } else {
            self.wheel.push(at, Kind::Endpoint, (channel - self.ports) as u64);
        }
    }

    /// Starts a packet on a free channel; its tail has the time `hot.tail` here, its virtual channel is `hot.next_vc`.
    pub fn transmit(&mut self, channel: u32, id: u32) {
        if self.probe.traces() {
            self.trace_hop(channel, id);
        }
        let record = &mut self.channels[channel];
        let hot = &mut self.pool.hot[id];
        let (flits, vc, now) = (hot.flits(), hot.next_vc, self.now);
        debug_assert!(record.free_at <= now);
        let timing = &self.timing[record.row as u32];
        let end = (now + timing.time(flits)).max(hot.tail);
        let (head, tail) = (now + timing.head as Tick, end + timing.tail as Tick);
        record.free_at = end;
        record.sending = flits as u16;
        record.starved = false;
        hot.vc = vc;
        if self.measuring {
            self.probe.sent(record.row as usize, hot.kind(), flits);
        }
        if channel < self.ports {
            self.probe.packet_hops += 1;
            if !self.bound.is_empty() {
                self.bound[channel * self.vcs + vc as u32] -= flits;
            }
            if self.watching {
                self.watch(channel, id, end);
            }
        }
        let hot = &mut self.pool.hot[id];
        let far = self.channels[channel].far;
        if let Far::Endpoint(endpoint) = far {
            self.wheel.push(tail, Kind::Delivery, (endpoint as u64) << 32 | id as u64);
            return;
        }
        if !self.promised.is_empty() {
            let promised = &mut self.promised[channel * self.vcs + vc as u32];
            *promised = promised.saturating_sub(flits);
        }
        hot.tail = tail;
        if self.pools.is_empty() {
            let credits = &mut self.lanes[channel * self.vcs + vc as u32].credit;
            assert!(*credits >= flits, "law broken: a packet was sent without credit");
            *credits -= flits;
        } else {
            assert!(self.credit(channel, vc) >= flits, "law broken: a packet was sent without credit");
            self.take_shared(channel, vc, flits);
        }
        match far {
            Far::Input(input) => self.wheel.push(head, Kind::Arrival, (input as u64) << 32 | id as u64),
            Far::Line(line) => self.lines[line].out.push(&mut self.pool, id, head),
            Far::Endpoint(_) | Far::Nowhere => unreachable!("routing chose a port that leads nowhere"),
        }
    }

    /// Whether a packet may start on a channel that is busy: a control packet, between the flits of what is under way.
    #[inline(always)]
    pub fn interleaves(&self, vc: u8) -> bool {
        self.plan.interleave && self.plan.channels.is_control(vc)
    }

    /// Starts a control packet between the flits of what is under way, which holds the channel for that much longer.
    #[inline(never)]
    pub fn cut_in(&mut self, channel: u32, id: u32) {
        let now = self.now;
        let record = &mut self.channels[channel];
        let flit = self.timing[record.row as u32].time(1);
        // It waits for the end of the flit under way.
        let start = if record.free_at > now { self.cut_free[channel].max(now + flit) } else { now };
        let (until, sending, starved) = (record.free_at, record.sending, record.starved);
        record.free_at = start;
        self.now = start;
        self.transmit(channel, id);
        self.now = now;
        let record = &mut self.channels[channel];
        let end = record.free_at;
        self.cut_free[channel] = end;
        record.starved = starved;
        if until > start {
            (record.free_at, record.sending) = (until + (end - start), sending);
        }
    }

    /// A packet leaves its input: if its class may time out, what it waited there counts.
    #[inline(always)]
    pub fn leave_input(&mut self, id: u32) {
        if self.tracking {
            let class = self.plan.channels.class_of[self.pool.hot[id].next_vc as usize];
            if self.tracked[class as usize] {
                let notes = &mut self.pool.notes[id];
                notes.waited += (self.now - notes.arrived) as u32;
            }
        }
    }

    /// Notes what a packet puts on a port, where that is asked for.
    #[cold]
    fn watch(&mut self, port: u32, id: u32, end: Tick) {
        if self.probe.ports_recorded() {
            self.probe.active(port, self.now, end);
        }
        if let Some(loads) = &mut self.probe.loads {
            let (hot, cold) = (&self.pool.hot[id], &self.pool.cold[id]);
            if hot.kind() == packet::Kind::Data {
                let time = self.timing[self.channels[port].row as u32].time(hot.flits());
                loads.carried(port, cold.class, self.pool.notes[id].tag, time);
            }
        }
    }

    /// Releases buffer space of an input at `at` (now or later): the credit travels upstream.
    #[inline]
    pub fn release(&mut self, input: u32, vc: u8, flits: u32, at: Tick) {
        let Inlet { upstream, delay, .. } = self.inlets[input];
        let credit = Credit::new(at + delay as Tick, vc, flits);
        match upstream {
            Upstream::Channel(channel) => self.return_credit(channel, credit),
            Upstream::Line(line) => self.lines[line].out_credits.push(credit),
            Upstream::Nowhere => {}
        }
    }

    #[inline]
    fn return_credit(&mut self, channel: u32, credit: Credit) {
        let record = &mut self.channels[channel];
        if record.returns.add(credit) && record.starved {
            self.wake(channel, credit.at());
        }
    }

    /// Local number of the endpoint that a port's channel leads to, if it leads to one.
    pub fn endpoint_behind(&self, port: u32) -> Option<u32> {
        match self.channels[port].far {
            Far::Endpoint(endpoint) => Some(endpoint),
            _ => None,
        }
    }

    /// Sends a signal out of band, from a switch (global number); `signal.at` is now.
    pub fn signal(&mut self, from: u32, mut signal: Signal) {
        signal.at += self.plan.signal_delay(from, signal.to);
        if self.plan.seat(signal.to).0 == self.number {
            self.expect_signal(signal);
        } else {
            self.out_signals.push(signal);
        }
    }

    /// A signal will reach an endpoint of this partition.
    pub fn expect_signal(&mut self, signal: Signal) {
        let place = match self.free_signals.pop() {
            Some(place) => {
                self.signals[place as usize] = signal;
                place
            }
            None => {
                self.signals.push(signal);
                self.signals.len() as u32 - 1
            }
        };
        self.wheel.push(signal.at, Kind::Signal, place as u64);
    }

    /// Takes a signal that has come.
    pub fn take_signal(&mut self, place: u32) -> Signal {
        self.free_signals.push(place);
        self.signals[place as usize]
    }

    /// When the first of what came over the lines with the last exchange has an effect: a packet, or a credit that a sender
    /// waits for.
    pub fn next_over_lines(&self) -> Tick {
        let mut first = NEVER;
        for line in self.lines.iter() {
            first = first.min(line.incoming.first().unwrap_or(NEVER));
            if !line.in_credits.is_empty() && self.channels[line.port].starved {
                first = line.in_credits.iter().map(|credit| credit.at()).fold(first, Tick::min);
            }
        }
        first
    }

    /// Takes in what came over the lines with the last exchange.
    pub fn take_lines(&mut self) {
        for at in 0..self.lines.len() as u32 {
            let line = &mut self.lines[at];
            if !line.armed
                && let Some(first) = line.incoming.first()
            {
                line.armed = true;
                self.wheel.push(first, Kind::Line, at as u64);
            }
            if line.in_credits.is_empty() {
                continue;
            }
            let (channel, credits) = (line.port, std::mem::take(&mut line.in_credits));
            for &credit in &credits {
                self.return_credit(channel, credit);
            }
            self.lines[at].in_credits = credits;
            self.lines[at].in_credits.clear();
        }
    }

    /// Takes the packet that arrives over a line now; returns its arrival as an event.
    pub fn take_packet(&mut self, at: u32) -> u64 {
        let line = &mut self.lines[at];
        debug_assert_eq!(line.incoming.first(), Some(self.now));
        let event = (line.port as u64) << 32 | line.incoming.take_first(&mut self.pool) as u64;
        match line.incoming.first() {
            Some(next) => self.wheel.push(next, Kind::Line, at as u64),
            None => line.armed = false,
        }
        event
    }

    /// Bytes held by packets, credits and lines.
    pub fn memory(&self) -> u64 {
        let lines: usize = self.lines.iter().map(Line::memory).sum();
        let returns: usize = self.channels.iter().map(|channel| channel.returns.credits.capacity() * 8).sum();
        let signals = (self.signals.capacity() + self.out_signals.capacity()) * size_of::<Signal>();
        (self.pool.memory() + lines + returns + signals) as u64
    }

    /// Packets held by this partition, those on its lines included.
    pub fn held(&self) -> u64 {
        self.pool.held() as u64 + self.lines.iter().map(Line::held).sum::<usize>() as u64
    }
}

/// Ticks that the wheel's slots should span: the ordinary events of a loaded network.
fn wheel_span(plan: &Plan) -> Tick {
    let packet = plan.links.iter().map(|link| *link.time.last().unwrap_or(&1) as Tick).max().unwrap_or(1);
    let heads = plan.links.iter().map(LinkPlan::head).filter(|&head| head < plan.lookahead);
    packet.max(heads.max().unwrap_or(1)) * 2
}
