//! State of the switches without a crossbar: output-queued, and shared input buffers with infinite speedup.
//!
//! A packet whose output is idle, has credit and is asked for by no other goes on when its head arrives: one event per hop. Others
//! join the queue of their virtual channel at the output. With bounded output queues a packet leaves its input buffer then, and
//! waits there first if the queue is full; without, it stands in the queue while it stays in the input buffer.
use super::arch::{Architecture, Waiting};
use super::bits::Set;
use super::deadlines::Deadlines;
use super::parameters::{Arbitration, Parameters};
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::core::plan::{Plan, Share};
use crate::core::table::Table;
use crate::core::{NEVER, Tick};
use crate::protocol::{Agent, Interest};
use crate::rng::mix;

/// An output port: `V` words of virtual channels.
#[derive(Clone)]
struct Output<const V: usize> {
    /// Virtual channels with a queue, and those with packets that wait at the inputs for a place in it.
    queued: Set<V>,
    blocked: Set<V>,
    /// Flits that wait, without the packet under way.
    waiting: u32,
    /// Local switch.
    switch: u32,
    /// Virtual channel of the packet under way, and the next in round robin.
    leaving: u8,
    turn: u8,
    /// Whether it is to be looked at in this tick.
    listed: bool,
    /// Whether one packet for it arrived since outputs were settled, and whether others did.
    fresh: bool,
    crowded: bool,
}

/// Packets that wait at the inputs, in order of arrival.
#[derive(Clone, Copy)]
struct Blocked {
    head: u32,
    tail: u32,
}

/// A packet that arrived since outputs were settled.
#[derive(Clone, Copy)]
struct Fresh {
    port: u32,
    /// Local port of its input; `NIL` is the virtual input.
    input: u32,
    id: u32,
}

/// All switches of a partition.
pub struct Unlimited<const V: usize> {
    outputs: Table<Output<V>>,
    /// By output and virtual channel.
    blocked: Table<Blocked>,
    /// First port of each switch.
    bases: Table<u32>,
    pending: Vec<u32>,
    /// Packets that arrived since outputs were settled, and those of them for one output with others.
    fresh: Vec<Fresh>,
    crowd: Vec<Fresh>,
    class_sets: Vec<Set<V>>,
    class_of: Box<[u8; 256]>,
    /// Flits of an output queue; none if packets stay at the inputs.
    output_buffer: Option<u32>,
    arbitration: Arbitration,
    deadlines: Deadlines,
    departures: bool,
    vcs: u32,
    seed: u64,
}

impl<const V: usize> Unlimited<V> {
    fn list(&mut self, port: u32) {
        let output = &mut self.outputs[port];
        if !output.listed {
            output.listed = true;
            self.pending.push(port);
        }
    }

    /// Sends the packets that arrived, or puts them where they wait; those for one output in order of their inputs, or at random.
    fn enter_fresh(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        let mut fresh = std::mem::take(&mut self.fresh);
        for arrived in fresh.drain(..) {
            let output = &mut self.outputs[arrived.port];
            output.fresh = false;
            if output.crowded {
                self.crowd.push(arrived);
            } else if !self.pass(fabric, arrived, agent) {
                self.enter(fabric, arrived);
            }
        }
        self.fresh = fresh;
        if !self.crowd.is_empty() {
            self.enter_crowd(fabric);
        }
    }

    /// Sends a packet that arrived alone for an output where nothing waits, if it can go at once: without a place in a queue.
    #[inline(always)]
    fn pass(&mut self, fabric: &mut Fabric, Fresh { port, input, id }: Fresh, agent: &mut dyn Agent) -> bool {
        let output = &self.outputs[port];
        let waits = !output.queued.is_empty() || !output.blocked.is_empty();
        if waits || fabric.channels[port].free_at > fabric.now || self.deadlines.exist() {
            return false;
        }
        let hot = &fabric.pool.hot[id];
        let goes = fabric.affords(port, hot.next_vc, hot.flits());
        if goes {
            fabric.pool.hot[id].sibling = input;
            if self.output_buffer.is_some() {
                self.give_up_input(fabric, id);
            }
            self.launch(fabric, port, id, agent);
        }
        goes
    }

    #[inline(never)]
    fn enter_crowd(&mut self, fabric: &mut Fabric) {
        let mut crowd = std::mem::take(&mut self.crowd);
        // Several of the virtual input, which comes first, stay in the order in which the switch made them.
        crowd.sort_by_key(|of| (of.port, self.chance(fabric, of), of.input.wrapping_add(1)));
        for arrived in crowd.drain(..) {
            self.outputs[arrived.port].crowded = false;
            self.enter(fabric, arrived);
        }
        self.crowd = crowd;
    }

    /// The chance of a packet among those that arrive at once, if the arbiter draws one.
    fn chance(&self, fabric: &Fabric, &Fresh { port, input, .. }: &Fresh) -> u32 {
        if self.arbitration != Arbitration::Random || input == NIL {
            return 0;
        }
        let local = self.outputs[port].switch;
        let switch = fabric.share.switches[local as usize] as u64;
        let key = switch << 16 | (input - self.bases[local]) as u64;
        (mix(mix(self.seed, key), fabric.now) >> 32) as u32
    }

    /// Puts a packet where it waits.
    #[inline]
    fn enter(&mut self, fabric: &mut Fabric, Fresh { port, input, id }: Fresh) {
        let hot = &mut fabric.pool.hot[id];
        // What came from the virtual input holds no buffer.
        hot.sibling = input;
        let vc = hot.next_vc;
        self.list(port);
        if self.output_buffer.is_some() {
            self.block(fabric, port, vc, id);
            return;
        }
        self.enqueue(fabric, port, vc, id);
        if fabric.head(port, vc) == id {
            self.on_head(fabric, id);
        }
    }

    fn enqueue(&mut self, fabric: &mut Fabric, port: u32, vc: u8, id: u32) {
        let flits = fabric.pool.hot[id].flits();
        fabric.enqueue(port, vc, id, flits);
        self.outputs[port].queued.insert(vc as usize);
    }

    /// A packet waits at its input for a place in an output queue.
    fn block(&mut self, fabric: &mut Fabric, port: u32, vc: u8, id: u32) {
        fabric.pool.hot[id].next = NIL;
        let list = &mut self.blocked[port * self.vcs + vc as u32];
        let last = std::mem::replace(&mut list.tail, id);
        if last == NIL {
            list.head = id;
            self.outputs[port].blocked.insert(vc as usize);
            self.on_head(fabric, id);
        } else {
            fabric.pool.hot[last].next = id;
        }
    }

    /// Takes the first packet of a list of packets that wait at the inputs.
    fn unblock(&mut self, fabric: &mut Fabric, port: u32, vc: u8) -> u32 {
        let list = &mut self.blocked[port * self.vcs + vc as u32];
        let id = list.head;
        list.head = fabric.pool.hot[id].next;
        if list.head == NIL {
            list.tail = NIL;
            self.outputs[port].blocked.remove(vc as usize);
        } else {
            let next = list.head;
            self.on_head(fabric, next);
        }
        id
    }

    /// Moves packets that wait at the inputs into an output's queues as far as they fit.
    fn advance(&mut self, fabric: &mut Fabric, port: u32) {
        let Some(buffer) = self.output_buffer else { return };
        let mut rest = self.outputs[port].blocked;
        while let Some(vc) = rest.first() {
            rest.remove(vc);
            loop {
                let list = &self.blocked[port * self.vcs + vc as u32];
                if list.head == NIL {
                    break;
                }
                let flits = fabric.pool.hot[list.head].flits();
                let channel = &fabric.channels[port];
                let busy = channel.free_at > fabric.now && self.outputs[port].leaving as usize == vc;
                let under_way = if busy { channel.sending as u32 } else { 0 };
                if fabric.queued(port, vc as u8) + under_way + flits > buffer {
                    break;
                }
                let id = self.unblock(fabric, port, vc as u8);
                self.give_up_input(fabric, id);
                self.enqueue(fabric, port, vc as u8, id);
            }
        }
    }

    /// A packet goes on into an output queue: its input buffer is released when its tail has come.
    fn give_up_input(&self, fabric: &mut Fabric, id: u32) {
        let hot = &fabric.pool.hot[id];
        if hot.sibling != NIL {
            let (input, vc, flits, at) = (hot.sibling, hot.vc, hot.flits(), hot.tail.max(fabric.now));
            fabric.release(input, vc, flits, at);
        }
        fabric.leave_input(id);
    }

    /// A packet came to the head of a queue at its input: notes its deadline, or drops it if that has passed.
    #[inline]
    fn on_head(&mut self, fabric: &mut Fabric, id: u32) {
        if !self.deadlines.exist() {
            return;
        }
        let input = fabric.pool.hot[id].sibling;
        if input != NIL && self.deadlines.note(fabric, input, id) {
            self.expire(fabric, input, id);
        }
    }

    /// Settles an output: fills its queues, starts its channel, and arms its next wake.
    fn settle_output(&mut self, fabric: &mut Fabric, port: u32, agent: &mut dyn Agent) {
        let now = fabric.now;
        if !self.outputs[port].blocked.is_empty() {
            self.advance(fabric, port);
        }
        if fabric.channels[port].free_at <= now && !self.outputs[port].queued.is_empty() {
            self.start_channel(fabric, port, agent);
        }
        let output = &self.outputs[port];
        let (queued, blocked) = (!output.queued.is_empty(), !output.blocked.is_empty());
        if !queued && !blocked {
            return;
        }
        let free_at = fabric.channels[port].free_at;
        let wake = if free_at > now { free_at } else { fabric.next_credit(port) };
        if free_at <= now && queued && fabric.probe.ports_recorded() {
            fabric.probe.stalled(port, now);
        }
        if wake != NEVER {
            fabric.wake(port, wake);
        }
    }

    /// Starts a packet on a free channel: of the best class that has credit, by the arbiter's rule.
    fn start_channel(&mut self, fabric: &mut Fabric, port: u32, agent: &mut dyn Agent) {
        let output = &self.outputs[port];
        let (mut rest, turn) = (output.queued, output.turn as usize);
        // Virtual channels are numbered by class, the highest priority first.
        while let Some(lowest) = rest.first() {
            let class = &self.class_sets[self.class_of[lowest] as usize];
            let candidates = rest.and(class);
            rest = rest.without(class);
            let first = candidates.next_from(turn).unwrap_or(lowest);
            let first_come = self.arbitration == Arbitration::RoundRobin || candidates.is_single();
            let (mut vc, mut best) = (first, None::<((Tick, u32), usize)>);
            loop {
                let head = fabric.head(port, vc as u8);
                if fabric.affords(port, vc as u8, fabric.pool.hot[head].flits()) {
                    if first_come {
                        return self.send(fabric, port, vc as u8, agent);
                    }
                    let rank = self.rank(fabric, port, head);
                    if best.is_none_or(|(least, _)| rank < least) {
                        best = Some((rank, vc));
                    }
                }
                vc = candidates.next_from(vc + 1).unwrap_or(first);
                if vc == first {
                    break;
                }
            }
            if let Some((_, vc)) = best {
                self.send(fabric, port, vc as u8, agent);
                return;
            }
        }
    }

    /// The order of the first packets of an output's queues.
    fn rank(&self, fabric: &Fabric, port: u32, id: u32) -> (Tick, u32) {
        let hot = &fabric.pool.hot[id];
        match self.arbitration {
            Arbitration::Age => (fabric.pool.notes[id].arrived, hot.sibling.wrapping_add(1)),
            Arbitration::RoundRobin => unreachable!("the first with credit is taken"),
            Arbitration::Random => {
                let switch = fabric.share.switches[self.outputs[port].switch as usize];
                let number = port - self.bases[self.outputs[port].switch];
                let key = (switch as u64) << 32 | (number as u64) << 16 | hot.next_vc as u64;
                (mix(mix(self.seed, key), fabric.now), 0)
            }
        }
    }

    /// Sends the first packet of a queue on the free channel of its port.
    fn send(&mut self, fabric: &mut Fabric, port: u32, vc: u8, agent: &mut dyn Agent) {
        let id = fabric.head(port, vc);
        let more = fabric.discard(port, vc);
        if !more {
            self.outputs[port].queued.remove(vc as usize);
        }
        self.launch(fabric, port, id, agent);
        if more && self.output_buffer.is_none() {
            let next = fabric.head(port, vc);
            self.on_head(fabric, next);
        }
    }

    /// Starts a packet on a free channel. Without output queues it leaves its input only now.
    #[inline]
    fn launch(&mut self, fabric: &mut Fabric, port: u32, id: u32, agent: &mut dyn Agent) {
        let hot = fabric.pool.hot[id];
        if self.departures {
            self.depart(fabric, port, id, agent);
        }
        let output = &mut self.outputs[port];
        output.waiting -= hot.flits();
        output.leaving = hot.next_vc;
        output.turn = hot.next_vc + 1;
        if self.output_buffer.is_some() {
            return fabric.transmit(port, id);
        }
        fabric.leave_input(id);
        self.deadlines.leave(fabric, id);
        fabric.transmit(port, id);
        if hot.sibling != NIL {
            let end = fabric.channels[port].free_at;
            fabric.release(hot.sibling, hot.vc, hot.flits(), end);
        }
    }

    /// Shows the protocol a packet that leaves.
    #[inline(never)]
    fn depart(&mut self, fabric: &mut Fabric, port: u32, id: u32, agent: &mut dyn Agent) {
        let departure = fabric.departure(port, id, self.outputs[port].waiting);
        agent.on_dequeue(&departure, &mut fabric.pool.cold[id]);
    }
}

impl<const V: usize> Architecture for Unlimited<V> {
    fn new(plan: &Plan, share: &Share, switch: &Parameters) -> Self {
        let vcs = plan.channels.count();
        assert!(vcs <= V * 64, "a switch state too small for its plan");
        let mut class_sets = vec![Set::default(); plan.channels.classes.len()];
        let mut class_of = Box::new([0; 256]);
        for (vc, &class) in plan.channels.class_of.iter().enumerate() {
            class_sets[class as usize].insert(vc);
            class_of[vc] = class;
        }
        let output = |switch| Output {
            queued: Set::default(),
            blocked: Set::default(),
            waiting: 0,
            switch,
            leaving: 0,
            turn: 0,
            listed: false,
            fresh: false,
            crowded: false,
        };
        let spans = share.ports.windows(2).enumerate();
        let outputs: Table<_> =
            spans.flat_map(|(switch, span)| (span[0]..span[1]).map(move |_| output(switch as u32))).collect();
        let lists = if plan.output_buffer.is_some() { outputs.len() * vcs } else { 0 };
        Self {
            outputs,
            blocked: vec![Blocked { head: NIL, tail: NIL }; lists].into(),
            bases: share.ports.clone().into(),
            pending: Vec::new(),
            fresh: Vec::new(),
            crowd: Vec::new(),
            class_sets,
            class_of,
            output_buffer: plan.output_buffer,
            arbitration: switch.arbitration,
            deadlines: Deadlines::default(),
            departures: false,
            vcs: vcs as u32,
            seed: plan.seed,
        }
    }

    #[inline(always)]
    fn waiting(&self, port: u32) -> u32 {
        self.outputs[port].waiting
    }

    fn accept(&mut self, fabric: &mut Fabric, switch: u32, input: Option<u32>, id: u32) {
        let hot = &fabric.pool.hot[id];
        let port = self.bases[switch] + hot.out as u32;
        let output = &mut self.outputs[port];
        output.waiting += hot.flits();
        output.crowded |= output.fresh;
        output.fresh = true;
        self.fresh.push(Fresh { port, input: input.unwrap_or(NIL), id });
    }

    fn wake(&mut self, port: u32) {
        self.list(port);
    }

    fn expire(&mut self, fabric: &mut Fabric, input: u32, id: u32) {
        let switch = self.outputs[input].switch;
        let (base, end) = (self.bases[switch], self.bases[switch + 1]);
        let hot = fabric.pool.hot[id];
        let (port, vc) = (base + hot.out as u32, hot.next_vc);
        // The packet went on, and its number may belong to another by now.
        if port >= end || hot.sibling != input || !self.deadlines.has_passed(fabric, id) {
            return;
        }
        let head = match self.output_buffer {
            None => fabric.head(port, vc),
            Some(_) => self.blocked[port * self.vcs + vc as u32].head,
        };
        if head != id {
            return;
        }
        if self.output_buffer.is_some() {
            self.unblock(fabric, port, vc);
        } else if fabric.discard(port, vc) {
            let next = fabric.head(port, vc);
            self.on_head(fabric, next);
        } else {
            self.outputs[port].queued.remove(vc as usize);
        }
        self.outputs[port].waiting -= hot.flits();
        fabric.dropped.push((input, id));
        self.list(port);
    }

    fn settle(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        self.enter_fresh(fabric, agent);
        while let Some(port) = self.pending.pop() {
            self.outputs[port].listed = false;
            self.settle_output(fabric, port, agent);
        }
        self.deadlines.arm(fabric);
    }

    fn each_queued(&self, fabric: &Fabric, visit: &mut dyn FnMut(u32, u8, u32)) {
        for (port, output) in (0..).zip(self.outputs.iter()) {
            let mut queued = output.queued;
            while let Some(vc) = queued.first() {
                queued.remove(vc);
                let first = fabric.head(port, vc as u8);
                visit(port, vc as u8, fabric.pool.hot[first].flits());
            }
        }
    }

    fn each_waiting(&self, fabric: &Fabric, visit: &mut dyn FnMut(Waiting)) {
        for (port, output) in (0..).zip(self.outputs.iter()) {
            let mut vcs = if self.output_buffer.is_some() { output.blocked } else { output.queued };
            while let Some(vc) = vcs.first() {
                vcs.remove(vc);
                let mut id = match self.output_buffer {
                    Some(_) => self.blocked[port * self.vcs + vc as u32].head,
                    None => fabric.head(port, vc as u8),
                };
                while id != NIL {
                    let hot = &fabric.pool.hot[id];
                    if hot.sibling != NIL {
                        let full = |buffer| fabric.queued(port, vc as u8) + hot.flits() > buffer;
                        let blocked = self.output_buffer.is_none_or(full);
                        visit(Waiting { id, input: hot.sibling, first: true, blocked });
                    }
                    id = hot.next;
                }
            }
        }
    }

    fn occupancy(&self, switch: u32) -> u64 {
        let ports = self.bases[switch] as usize..self.bases[switch + 1] as usize;
        self.outputs.as_slice()[ports].iter().map(|output| output.waiting as u64).sum()
    }

    fn prepare(&mut self, interest: &Interest) {
        self.deadlines = Deadlines::new(interest.time_to_wait);
        self.departures = interest.departures;
    }
}
