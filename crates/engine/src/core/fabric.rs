//! What all switch architectures share: packets, channels, credits, and the lines to other partitions.
use super::Tick;
use super::channel::{Channel, Far, Inlet, Lane, Timing, timings};
use super::circuits::Ended;
use super::credits::{Credit, MANY_PORTS};
use super::interleave::Afoot;
use super::line::Line;
use super::memory::Memory;
use super::packet::{NIL, Pool};
use super::pauses::Pauses;
use super::plan::{LinkPlan, Plan, Share};
use super::slow::Speeds;
use super::table::Table;
use super::wheel::{Kind, Wheel};
use crate::keyed::Keyed;
use crate::probe::Probe;
use crate::protocol::signal::Signal;
use crate::rng::{mix, scale};
use crate::switch::bits::Set;
use std::sync::Arc;

/// The shared part of a partition.
pub struct Fabric {
    /// The plan.
    pub plan: Arc<Plan>,
    /// What belongs to this partition.
    pub share: Share,
    /// The present tick.
    pub now: Tick,
    /// The last time at which the run might have ended and did not.
    pub checked: Tick,
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
    /// Whether a packet that is sent concerns more than its channel: accounts, flows, or what phases put on ports.
    unusual: bool,
    /// Whether there are accounts to keep: of room, of ports, or a trace.
    pub(super) accounted: bool,
    /// Whether the agent is told what waits at inputs ([`crate::protocol::Interest::at_inputs`]).
    pub(super) tells_inputs: bool,
    /// Traffic classes whose packets keep their arrival and queueing time.
    pub tracked: Vec<bool>,
    /// Whether credits wait for the end of their tick: in a large partition, and where inputs share memory.
    pub(super) defers: bool,
    /// Buffer space released in this tick whose credits wait: inputs, and credits as of the time of their release.
    pub(super) released: Vec<(u32, Credit)>,
    /// Signals on their way to endpoints of this partition, by number, and the numbers that are free.
    pub(super) signals: Vec<Signal>,
    pub(super) free_signals: Vec<u32>,
    /// Signals for endpoints of other partitions.
    pub out_signals: Vec<Signal>,
    /// What will come to inputs of other partitions that share memory, of the packets sent in this window: the line to each.
    pub(super) out_fills: Vec<(u32, Credit)>,
    /// This partition.
    pub(super) number: u32,
    /// Packets dropped in this tick, with the input they were dropped from, to be answered.
    pub dropped: Vec<(u32, u32)>,
    /// Flows whose tear-down packets have left switches in this tick.
    pub(super) ended: Vec<Ended>,
    /// Flits promised to packets that wait for a channel, by virtual channel; empty if the routing has no reserved level.
    pub(super) promised: Table<u32>,
    /// Flits in switches that are bound for each virtual channel; empty if no source weighs them.
    pub(super) bound: Table<u32>,
    pub(super) timing: Table<Timing>,
    /// What slow channels carry, by channel; empty if there are none.
    pub(super) slow: Table<Option<Speeds>>,
    /// What is under way on each channel; empty if packets are not interleaved.
    pub(super) afoot: Table<Vec<Afoot>>,
    /// Credits of each virtual channel of each channel, a channel's side by side, and the packets that wait for it.
    pub(super) credits: Table<u32>,
    pub(super) lanes: Table<Lane>,
    /// Flits that the virtual channels of each channel share in the buffer ahead; empty if none do.
    pub(super) pools: Table<u32>,
    /// Flits of the pool that each virtual channel of each channel uses; empty if there are no pools.
    pub(super) borrowed: Table<u32>,
    /// What the sender of each channel has been told of the buffer ahead; empty if it counts the room itself.
    pub(super) pauses: Table<Pauses>,
    /// What the inputs hold of the memory of their switches, if they share it.
    pub(super) memory: Option<Box<Memory>>,
    /// Whether it does not matter when credits that have come back are taken in: no virtual channels share any, and none pause a sender.
    pub(super) any_time: bool,
    pub(super) vcs: u32,
    /// Flits that wait at the virtual input of each switch (local number) that ever had some, and the most that any had.
    made: Keyed<u32, u32>,
    made_peak: u32,
}

impl Fabric {
    /// The shared part of partition `number`, at rest.
    pub fn new(plan: Arc<Plan>, number: u32) -> Self {
        let share = plan.shares[number as usize].clone();
        let ports = share.ports[share.ports.len() - 1];
        let vcs = plan.vcs.count();
        let mut fabric = Self {
            now: 0,
            checked: 0,
            // The endpoints begin before the first tick is looked at.
            measuring: plan.window.0 == 0,
            wheel: Wheel::new(wheel_span(&plan)),
            pool: Pool::default(),
            channels: Table::default(),
            inlets: Table::default(),
            ports,
            lines: Table::default(),
            probe: Probe::new(&plan, &share),
            tracking: false,
            unusual: false,
            accounted: false,
            tells_inputs: false,
            tracked: vec![false; plan.vcs.classes.len()],
            defers: ports >= MANY_PORTS,
            released: Vec::new(),
            signals: Vec::new(),
            free_signals: Vec::new(),
            out_signals: Vec::new(),
            out_fills: Vec::new(),
            number,
            dropped: Vec::new(),
            ended: Vec::new(),
            promised: Table::default(),
            bound: Table::default(),
            timing: timings(&plan).into(),
            slow: Table::default(),
            afoot: Table::default(),
            credits: Table::default(),
            lanes: Table::default(),
            pools: Table::default(),
            borrowed: Table::default(),
            pauses: Table::default(),
            memory: None,
            any_time: true,
            vcs: vcs as u32,
            made: Keyed::default(),
            made_peak: 0,
            share,
            plan,
        };
        fabric.wire(number);
        assert!(fabric.channels.len() < 1 << 27, "law broken: more channels than an event can name");
        if fabric.plan.interleave {
            fabric.afoot = vec![Vec::new(); fabric.channels.len()].into();
        }
        fabric.slow = fabric.slow_channels();
        if !fabric.pools.is_empty() {
            fabric.borrowed = vec![0; fabric.credits.len()].into();
        }
        if fabric.plan.links[0].pauses.is_some() {
            let ahead = fabric.channels.iter().map(|channel| fabric.plan.link_ahead(channel.row));
            fabric.pauses = ahead.map(|link| Pauses::new(fabric.vcs, link)).collect();
        }
        if fabric.plan.links[0].sharing().is_some() {
            fabric.defers = true;
            fabric.memory = Some(Box::new(Memory::new(fabric.share.switches.len(), ports, fabric.vcs)));
        }
        fabric.any_time = fabric.pools.is_empty() && fabric.pauses.is_empty();
        if fabric.plan.router.reserved_level().is_some() {
            fabric.promised = vec![0; fabric.credits.len()].into();
        }
        if fabric.plan.router.weighs() || fabric.plan.vcs.grades > 1 {
            fabric.bound = vec![0; fabric.credits.len()].into();
        }
        let accounts = [&fabric.promised, &fabric.bound, &fabric.pools];
        fabric.accounted = accounts.iter().any(|account| !account.is_empty())
            || !fabric.pauses.is_empty()
            || fabric.probe.ports_recorded()
            || fabric.probe.traces();
        fabric.unusual = fabric.accounted
            || fabric.probe.loads.is_some()
            || fabric.plan.interleave
            || fabric.plan.circuits;
        fabric
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

    /// Takes the first packet out of a queue that has one, whether there is credit or not. Returns it, its flits, and whether others
    /// remain.
    #[inline]
    pub fn dequeue(&mut self, channel: u32, vc: u8) -> (u32, u32, bool) {
        let lane = &mut self.lanes[channel * self.vcs + vc as u32];
        let (id, hot) = (lane.head, &self.pool.hot[lane.head]);
        let flits = hot.flits();
        lane.used -= flits;
        lane.head = hot.next;
        if lane.head == NIL {
            lane.tail = NIL;
        }
        (id, flits, lane.head != NIL)
    }

    /// The first packet of a queue in front of a channel; `NIL` if it is empty.
    #[inline]
    pub fn head(&self, channel: u32, vc: u8) -> u32 {
        self.lanes[channel * self.vcs + vc as u32].head
    }

    /// Calls `visit` with the port, the virtual channel and the length of the first packet of each of these queues.
    pub fn each_head<const V: usize>(
        &self,
        port: u32,
        mut queued: Set<V>,
        visit: &mut dyn FnMut(u32, u8, u32),
    ) {
        while let Some(vc) = queued.first() {
            queued.remove(vc);
            visit(port, vc as u8, self.pool.hot[self.head(port, vc as u8)].flits());
        }
    }

    /// Flits in a queue in front of a channel.
    #[inline]
    pub fn queued(&self, channel: u32, vc: u8) -> u32 {
        self.lanes[channel * self.vcs + vc as u32].used
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

    /// Checked builds wake senders more often than they must in a network that is cut, at times that depend on the cut: tests that
    /// compare it with the network in one piece show that it does not matter when a sender is looked at.
    #[inline]
    pub fn wake_idly(&mut self, channel: u32) {
        if cfg!(debug_assertions) && self.plan.shares.len() > 1 {
            let drawn = mix(self.now, channel.into());
            if scale(drawn, 4) == 0 {
                self.wake(channel, self.now + 1 + drawn % 32);
            }
        }
    }

    /// Whether a packet that could pass a switch at once is to wait all the same: checked builds of a network that is cut let some wait,
    /// by the cut, so that tests that compare it with the network in one piece show that passing gives what waiting does.
    #[inline(always)]
    pub fn declines(&self, channel: u32) -> bool {
        cfg!(debug_assertions)
            && self.plan.shares.len() > 1
            && scale(mix(self.now ^ 1, channel.into()), 2) == 0
    }

    /// Starts a packet on a free channel; its tail has the time `hot.tail` here, its virtual channel is `hot.next_vc`.
    #[inline]
    pub fn transmit(&mut self, channel: u32, id: u32) {
        if self.unusual {
            self.account(channel, id);
            self.note_alone(channel, id);
        }
        self.launch(channel, id);
    }

    /// Starts a packet of which accounts know.
    #[inline(always)]
    pub(super) fn launch(&mut self, channel: u32, id: u32) {
        if channel < self.ports {
            self.wake_idly(channel);
        }
        self.start(channel, id);
    }

    /// The last of it: nothing is called but at its end, so that it need not keep what others have in registers.
    #[inline(never)]
    fn start(&mut self, channel: u32, id: u32) {
        let record = &mut self.channels[channel];
        let hot = &mut self.pool.hot[id];
        let (flits, vc, now) = (hot.flits(), hot.next_vc, self.now);
        assert!(record.free_at <= now, "law broken: a packet was sent on a busy channel");
        if self.measuring {
            self.probe.sent(record.row as usize, hot.kind(), flits);
        }
        self.probe.packet_hops += (channel < self.ports) as u64;
        let timing = &self.timing[record.row as u32];
        let usual = timing.time(flits);
        let lag = if self.slow.is_empty() { 0 } else { lag(&self.slow[channel], now, flits, usual) };
        let end = (now + usual + lag).max(hot.tail);
        record.free_at = end;
        record.sending = flits as u16;
        record.starved = false;
        hot.vc = vc;
        let tail = end + timing.tail as Tick;
        let far = record.far;
        if let Far::Endpoint(endpoint) = far {
            self.wheel.push(tail, Kind::Delivery, (endpoint as u64) << 32 | id as u64);
            return;
        }
        hot.tail = tail;
        let credits = &mut self.credits[channel * self.vcs + vc as u32];
        assert!(*credits >= flits, "law broken: a packet was sent without credit");
        *credits -= flits;
        let ready = if timing.whole { tail } else { now + timing.head as Tick + lag };
        match far {
            Far::Input(input) => self.wheel.push(ready, Kind::Arrival, (input as u64) << 32 | id as u64),
            Far::Line(line) => self.leave(line, id, ready),
            Far::Endpoint(_) | Far::Nowhere => unreachable!("routing chose a port that leads nowhere"),
        }
    }

    /// Ticks for which a packet that starts on a channel now holds it, as far as the channel is concerned.
    pub(super) fn span(&self, channel: u32, flits: u32) -> Tick {
        self.usual(channel, flits) + self.lag(channel, flits)
    }

    fn usual(&self, channel: u32, flits: u32) -> Tick {
        self.timing[self.channels[channel].row as u32].time(flits)
    }

    /// By how much a packet that starts on a channel now comes later than it usually would.
    pub(super) fn lag(&self, channel: u32, flits: u32) -> Tick {
        if self.slow.is_empty() {
            return 0;
        }
        lag(&self.slow[channel], self.now, flits, self.usual(channel, flits))
    }

    /// Moves a packet to a line to another partition.
    #[inline(never)]
    fn leave(&mut self, line: u32, id: u32, head: Tick) {
        self.lines[line].out.push(&mut self.pool, id, head);
    }

    /// A packet leaves its input: if its class may time out, what it waited there counts.
    #[inline(always)]
    pub fn leave_input(&mut self, id: u32) {
        if self.tracking {
            let class = self.plan.vcs.class_of[self.pool.hot[id].next_vc as usize];
            if self.tracked[class as usize] {
                let notes = &mut self.pool.notes[id];
                let waited = u32::try_from(self.now - notes.arrived).unwrap_or(u32::MAX);
                notes.waited = notes.waited.saturating_add(waited);
            }
        }
    }

    /// Local number of the endpoint that a port's channel leads to, if it leads to one.
    pub fn endpoint_behind(&self, port: u32) -> Option<u32> {
        match self.channels[port].far {
            Far::Endpoint(endpoint) => Some(endpoint),
            _ => None,
        }
    }

    /// A packet that a switch has made waits at its virtual input.
    #[inline(never)]
    pub(super) fn enter_virtual_input(&mut self, switch: u32, flits: u32) {
        let waiting = self.made.entry(switch);
        *waiting += flits;
        self.made_peak = self.made_peak.max(*waiting);
    }

    /// A packet has left the virtual input of a switch.
    #[inline(never)]
    pub fn leave_virtual_input(&mut self, switch: u32, flits: u32) {
        *self.made.entry(switch) -= flits;
    }

    /// The most flits that have waited at the virtual input of a switch.
    pub fn virtual_input_peak(&self) -> u32 {
        self.made_peak
    }

    /// Bytes held by packets, credits and lines.
    pub fn memory(&self) -> u64 {
        let lines: usize = self.lines.iter().map(Line::memory).sum();
        let returns: usize = self.channels.iter().map(|channel| channel.returns.memory()).sum();
        let signals = (self.signals.capacity() + self.out_signals.capacity()) * size_of::<Signal>();
        let pauses: usize = self.pauses.iter().map(|pauses| size_of::<Pauses>() + pauses.memory()).sum();
        let fills = self.memory.as_ref().map_or(0, |memory| memory.memory());
        (self.pool.memory() + lines + returns + signals + pauses + fills) as u64
    }

    /// Packets held by this partition, those on its lines included.
    pub fn held(&self) -> u64 {
        self.pool.held() as u64 + self.lines.iter().map(Line::held).sum::<usize>() as u64
    }
}

/// By how much a packet that starts now comes later than its channel usually takes, if that is slow: the switch behind it keeps what comes
/// until the rest follows at the usual pace, so that it never waits for a packet that it has begun to pass on.
#[cold]
fn lag(slow: &Option<Speeds>, now: Tick, flits: u32, usual: Tick) -> Tick {
    slow.as_ref().map_or(0, |speeds| speeds.end(now, flits) - now - usual)
}

/// Ticks that the wheel's slots should span: the ordinary events of a loaded network.
fn wheel_span(plan: &Plan) -> Tick {
    let packet = plan.links.iter().map(|link| *link.time.last().unwrap_or(&1) as Tick).max().unwrap_or(1);
    let heads = plan.links.iter().map(LinkPlan::head).filter(|&head| head < plan.lookahead);
    packet.max(heads.max().unwrap_or(1)) * 2
}
