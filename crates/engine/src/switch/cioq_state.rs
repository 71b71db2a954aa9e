//! State and arbitration of the combined input/output-queued switch.
//!
//! Packets that wait for the crossbar stand in cells, one per (output, traffic class, input). A cell is a list of
//! queues, one per input virtual channel with a packet for that output; a queue is a circular list of packets, known
//! by its last. So memory follows the packets, not the product of ports and virtual channels.
use super::arch::{Architecture, Waiting};
use super::bits::Set;
use super::cioq::Arbitration;
use crate::core::fabric::Fabric;
use crate::core::packet::{Hot, NIL};
use crate::core::plan::{Plan, Share};
use crate::core::wheel::Kind;
use crate::core::{NEVER, Tick};
use crate::protocol::{Agent, Departure, Interest};
use crate::rng::mix;

/// Most traffic classes of a scheme.
const CLASSES_MAX: usize = 6;

/// A switch of the partition.
struct Record {
    /// First local port.
    port: u32,
    /// Number of ports; also the index of the virtual input.
    radix: u32,
    /// First entry in `inputs`.
    input: u32,
    /// Whether it is in `active`.
    active: bool,
}

/// Output side of a port: `W` words of inputs, `V` words of virtual channels. What every packet touches comes first.
#[derive(Clone)]
#[repr(C, align(64))]
struct Output<const W: usize, const V: usize> {
    /// When the crossbar path to the output is free.
    crossbar_free: Tick,
    /// Non-empty output queues.
    queued: Set<V>,
    /// Flits waiting: in the cells of this output and in its output queues, without the packet under way.
    waiting: u32,
    /// Packets in the cells.
    asking: u32,
    /// A packet that arrived in this tick when the cells were empty: it enters its cell only if it is not granted.
    fresh: u32,
    fresh_input: u32,
    /// Local switch, and the port's number in it.
    switch: u32,
    number: u32,
    /// First of the cells: (class, input) in order.
    cell: u32,
    /// Virtual channel of the packet under way.
    leaving: u8,
    /// Next virtual channel in the channel's round robin.
    turn: u8,
    /// Classes that have requests, one bit each.
    classes: u8,
    /// Next input in round robin, per class.
    turns: [u16; CLASSES_MAX],
    /// Inputs with a packet for this output, per class.
    requests: [Set<W>; CLASSES_MAX],
}

/// Input side of a port, or the virtual input.
#[derive(Clone, Default)]
struct Input {
    /// When its path into the crossbar is free.
    free: Tick,
    /// Output its round robin starts from.
    turn: u16,
}

#[derive(Clone)]
struct Queue {
    head: u32,
    tail: u32,
    used: u32,
}

/// A candidate for the crossbar.
#[derive(Clone, Copy)]
struct Proposal {
    output: u32,
    input: u32,
    class: u8,
    /// Last packet of the queue.
    queue: u32,
}

/// An output to be looked at, and what kept it from being matched.
#[derive(Clone, Copy)]
struct Open {
    output: u32,
    /// When the first busy candidate input is free.
    input_free: Tick,
    /// An output queue was full.
    full: bool,
}

/// All combined input/output-queued switches of a partition; `W` words hold a switch's inputs, `V` a port's virtual
/// channels.
pub struct State<const W: usize, const V: usize> {
    records: Vec<Record>,
    outputs: Vec<Output<W, V>>,
    inputs: Vec<Input>,
    cells: Vec<u32>,
    queues: Vec<Queue>,
    /// Outputs to look at in this tick, per switch.
    pending: Vec<Set<W>>,
    active: Vec<u32>,
    /// Last packet of each (input, virtual channel) of the classes without virtual output queues.
    fifos: Vec<u32>,
    voq: [bool; CLASSES_MAX],
    class_sets: [Set<V>; CLASSES_MAX],
    arbitration: Arbitration,
    time_to_wait: Option<Tick>,
    departures: bool,
    /// Packets may bypass their cells: all classes have virtual output queues, and none looks at its deadline.
    bypass: bool,
    vcs: usize,
    seed: u64,
    open: Vec<Open>,
    proposals: Vec<Proposal>,
}

impl<const W: usize, const V: usize> State<W, V> {
    /// The switches of a partition, empty.
    pub fn new(plan: &Plan, share: &Share, voq: &[bool], arbitration: Arbitration) -> Self {
        let (classes, vcs) = (plan.channels.classes.len(), plan.channels.count());
        assert!(classes <= CLASSES_MAX && vcs <= V * 64, "a switch state too small for its plan");
        let ports = share.ports[share.ports.len() - 1] as usize;
        let (mut records, mut outputs, mut inputs, mut cells) = (Vec::new(), Vec::new(), 0, 0);
        for (switch, span) in share.ports.windows(2).enumerate() {
            let radix = span[1] - span[0];
            assert!((radix as usize) < W * 64, "a switch state too small for its plan");
            records.push(Record { port: span[0], radix, input: inputs, active: false });
            let row = classes as u32 * (radix + 1);
            let output = |number| Output::new(switch as u32, number, cells + number * row);
            outputs.extend((0..radix).map(output));
            inputs += radix + 1;
            cells += radix * row;
        }
        let fifos = if voq.iter().all(|&voq| voq) { 0 } else { inputs as usize * vcs };
        let mut class_sets = [Set::default(); CLASSES_MAX];
        for (vc, &class) in plan.channels.class_of.iter().enumerate() {
            class_sets[class as usize].insert(vc);
        }
        let mut voqs = [true; CLASSES_MAX];
        voqs[..classes].copy_from_slice(voq);
        Self {
            pending: vec![Set::default(); records.len()],
            records,
            outputs,
            inputs: vec![Input::default(); inputs as usize],
            cells: vec![NIL; cells as usize],
            queues: vec![Queue { head: NIL, tail: NIL, used: 0 }; ports * vcs],
            active: Vec::new(),
            fifos: vec![NIL; fifos],
            voq: voqs,
            class_sets,
            arbitration,
            time_to_wait: None,
            departures: false,
            bypass: false,
            vcs,
            seed: plan.seed,
            open: Vec::new(),
            proposals: Vec::new(),
        }
    }

    #[inline]
    fn activate(&mut self, switch: u32, output: u32) {
        self.pending[switch as usize].insert(output as usize);
        let record = &mut self.records[switch as usize];
        if !record.active {
            record.active = true;
            self.active.push(switch);
        }
    }

    /// Puts a packet that is at the head of its queue, or joins one, into its cell.
    fn enter_cell(&mut self, fabric: &mut Fabric, switch: u32, input: u32, id: u32, voq: bool) {
        let record = &self.records[switch as usize];
        let (port, width) = (record.port, record.radix + 1);
        let packets = &mut fabric.pool.hot;
        let (number, vc, next_vc) = {
            let hot = &packets[id as usize];
            (hot.out as u32, hot.vc, hot.next_vc)
        };
        let class = fabric.plan.channels.class_of[next_vc as usize];
        let output = &mut self.outputs[(port + number) as usize];
        output.asking += 1;
        let cell = &mut self.cells[(output.cell + class as u32 * width + input) as usize];
        let first = *cell;
        if first == NIL {
            // In a plain queue, `next` is the packet behind it.
            if voq {
                packets[id as usize].next = id;
            }
            packets[id as usize].sibling = NIL;
            *cell = id;
            output.requests[class as usize].insert(input as usize);
            output.classes |= 1 << class;
        } else if join(packets, cell, first, id, vc, voq) {
            return;
        }
        if self.time_to_wait.is_some() {
            self.on_head(fabric, switch, input, id, class);
        }
        self.activate(switch, number);
    }

    /// A packet that arrived in this tick and was not granted, or has company, enters its cell.
    fn enter_fresh(&mut self, fabric: &mut Fabric, port: u32) {
        let output = &mut self.outputs[port as usize];
        let (id, input, switch) =
            (std::mem::replace(&mut output.fresh, NIL), output.fresh_input, output.switch);
        self.enter(fabric, switch, input, id);
    }

    /// Puts a packet into its cell, or behind others into the input's plain queue.
    fn enter(&mut self, fabric: &mut Fabric, switch: u32, input: u32, id: u32) {
        let record = &self.records[switch as usize];
        let hot = &fabric.pool.hot[id as usize];
        let class = fabric.plan.channels.class_of[hot.next_vc as usize];
        if input == record.radix || self.voq[class as usize] {
            self.enter_cell(fabric, switch, input, id, true);
            return;
        }
        let fifo = (record.input + input) as usize * self.vcs + hot.vc as usize;
        let last = std::mem::replace(&mut self.fifos[fifo], id);
        match last {
            NIL => self.enter_cell(fabric, switch, input, id, false),
            last => fabric.pool.hot[last as usize].next = id,
        }
    }

    /// A packet came to the head of its queue: arms its deadline, or drops it if that has passed.
    fn on_head(&mut self, fabric: &mut Fabric, switch: u32, input: u32, id: u32, class: u8) {
        let Some(limit) = self.time_to_wait else { return };
        let record = &self.records[switch as usize];
        if input == record.radix || !fabric.plan.channels.classes[class as usize].times_out {
            return;
        }
        let cold = &fabric.pool.cold[id as usize];
        let deadline = cold.arrived + limit.saturating_sub(cold.waited as Tick);
        let port = record.port + input;
        if deadline > fabric.now {
            fabric.wheel.push(deadline, Kind::Timer, (port as u64) << 32 | id as u64);
        } else {
            self.expire(fabric, port, id);
        }
    }

    /// Takes the head of a queue out of its cell. Returns the head.
    fn leave_cell(&mut self, fabric: &mut Fabric, switch: u32, proposal: Proposal) -> u32 {
        let Proposal { output, input, class, queue: last } = proposal;
        let record = &self.records[switch as usize];
        let is_voq = self.voq[class as usize] || input == record.radix;
        let output = &mut self.outputs[(record.port + output) as usize];
        output.asking -= 1;
        let cell = &mut self.cells[(output.cell + class as u32 * (record.radix + 1) + input) as usize];
        let packets = &mut fabric.pool.hot;
        let tail = packets[last as usize];
        let head = if is_voq { tail.next } else { last };
        // The queue leaves its place in the cell; if packets remain it goes to the end, so that queues take turns.
        if *cell == last {
            *cell = tail.sibling;
        } else {
            let mut before = *cell;
            while packets[before as usize].sibling != last {
                before = packets[before as usize].sibling;
            }
            packets[before as usize].sibling = tail.sibling;
        }
        if head != last {
            let next = packets[head as usize].next;
            packets[last as usize].next = next;
            append(packets, cell, last);
            if self.time_to_wait.is_some() {
                self.on_head(fabric, switch, input, next, class);
            }
        } else if *cell == NIL {
            output.requests[class as usize].remove(input as usize);
            output.classes &= !((output.requests[class as usize].is_empty() as u8) << class);
        }
        if !is_voq {
            self.advance_fifo(fabric, switch, input, head);
        }
        head
    }

    /// The head of a plain queue left: the next packet enters its own cell.
    fn advance_fifo(&mut self, fabric: &mut Fabric, switch: u32, input: u32, left: u32) {
        let vc = fabric.pool.hot[left as usize].vc;
        let fifo = (self.records[switch as usize].input + input) as usize * self.vcs + vc as usize;
        if self.fifos[fifo] == left {
            self.fifos[fifo] = NIL;
        } else {
            let next = fabric.pool.hot[left as usize].next;
            self.enter_cell(fabric, switch, input, next, false);
        }
    }

    /// The packet that has just arrived at an output without others, if its input is free and there is space ahead.
    #[inline]
    fn pick_fresh(&self, fabric: &Fabric, record: &Record, open: &mut Open) -> Option<Proposal> {
        let port = record.port + open.output;
        let output = &self.outputs[port as usize];
        let (id, input) = (output.fresh, output.fresh_input);
        let free = self.inputs[(record.input + input) as usize].free;
        if free > fabric.now {
            open.input_free = free;
            return None;
        }
        let hot = &fabric.pool.hot[id as usize];
        if !self.fits(fabric, port, hot) {
            open.full = true;
            return None;
        }
        let class = fabric.plan.channels.class_of[hot.next_vc as usize];
        Some(Proposal { output: open.output, input, class, queue: id })
    }

    /// The candidate of an output: the best class, then by the arbiter's rule among free inputs with space ahead.
    fn pick(&self, fabric: &Fabric, record: &Record, open: &mut Open) -> Option<Proposal> {
        let port = record.port + open.output;
        let output = &self.outputs[port as usize];
        let mut asking = output.classes;
        while asking != 0 {
            let class = asking.trailing_zeros() as usize;
            asking &= asking - 1;
            let requests = &output.requests[class];
            let Some(first) = requests.next_from(output.turns[class] as usize) else { continue };
            let (mut input, mut best) = (first, None::<(u64, Proposal)>);
            loop {
                if let Some(queue) = self.ready(fabric, record, port, class, input as u32, open) {
                    let found =
                        Proposal { output: open.output, input: input as u32, class: class as u8, queue };
                    if self.arbitration == Arbitration::RoundRobin {
                        return Some(found);
                    }
                    let rank = self.rank(fabric, record, found);
                    if best.is_none_or(|(least, _)| rank < least) {
                        best = Some((rank, found));
                    }
                }
                input = requests.next_from(input + 1).unwrap_or(first);
                if input == first {
                    break;
                }
            }
            if let Some((_, found)) = best {
                return Some(found);
            }
        }
        None
    }

    /// The order of candidates of equal class: arrival for age, a hash for random arbitration.
    fn rank(&self, fabric: &Fabric, record: &Record, found: Proposal) -> u64 {
        if self.arbitration == Arbitration::Age {
            let is_voq = self.voq[found.class as usize] || found.input == record.radix;
            let tail = &fabric.pool.hot[found.queue as usize];
            let head = if is_voq { tail.next } else { found.queue };
            return fabric.pool.cold[head as usize].arrived;
        }
        let local = self.outputs[(record.port + found.output) as usize].switch;
        let switch = fabric.share.switches[local as usize];
        let key = (switch as u64) << 32 | (found.output as u64) << 16 | found.input as u64;
        mix(mix(self.seed, key), fabric.now)
    }

    /// The first queue of a cell whose head fits in its output queue, if the input is free.
    #[inline]
    fn ready(
        &self,
        fabric: &Fabric,
        record: &Record,
        port: u32,
        class: usize,
        input: u32,
        open: &mut Open,
    ) -> Option<u32> {
        let free = self.inputs[(record.input + input) as usize].free;
        if free > fabric.now {
            open.input_free = open.input_free.min(free);
            return None;
        }
        let voq = self.voq[class] || input == record.radix;
        let cell = self.outputs[port as usize].cell + class as u32 * (record.radix + 1) + input;
        let mut queue = self.cells[cell as usize];
        while queue != NIL {
            let hot = &fabric.pool.hot[queue as usize];
            let head = if voq { &fabric.pool.hot[hot.next as usize] } else { hot };
            if self.fits(fabric, port, head) {
                return Some(queue);
            }
            open.full = true;
            queue = hot.sibling;
        }
        None
    }

    /// Whether a packet fits in its output queue. The packet under way keeps its space until its tail has left.
    #[inline]
    fn fits(&self, fabric: &Fabric, port: u32, hot: &Hot) -> bool {
        let output = &self.outputs[port as usize];
        let channel = &fabric.channels[port as usize];
        let busy = channel.free_at > fabric.now;
        if !busy && output.queued.is_empty() {
            return true;
        }
        let under_way = if busy && output.leaving == hot.next_vc { channel.sending as u32 } else { 0 };
        let used = self.queues[port as usize * self.vcs + hot.next_vc as usize].used;
        used + under_way + fabric.room_needed(hot) <= fabric.plan.output_buffer
    }

    /// Moves the head of a proposal's queue over the crossbar: on to its channel if that is free, else into its output
    /// queue.
    fn grant(&mut self, fabric: &mut Fabric, switch: u32, proposal: Proposal, agent: &mut dyn Agent) {
        let record = &self.records[switch as usize];
        let (port, radix, base) = (record.port + proposal.output, record.radix, record.port);
        let input = &mut self.inputs[(record.input + proposal.input) as usize];
        let output = &mut self.outputs[port as usize];
        let id = if output.fresh != NIL {
            std::mem::replace(&mut output.fresh, NIL)
        } else {
            fabric.pool.hot[proposal.queue as usize].next
        };
        let is_voq = self.voq[proposal.class as usize] || proposal.input == radix;
        let id = if output.asking == 0 || is_voq { id } else { proposal.queue };
        let hot = &mut fabric.pool.hot[id as usize];
        let (flits, vc, next_vc) = (hot.flits(), hot.vc, hot.next_vc);
        let end = (fabric.now + fabric.plan.crossbar[flits as usize] as Tick).max(hot.tail);
        input.free = end;
        input.turn = (proposal.output + 1) as u16;
        output.crossbar_free = end;
        output.turns[proposal.class as usize] = (proposal.input + 1) as u16;
        if output.asking > 0 {
            self.leave_cell(fabric, switch, proposal);
        }
        fabric.pool.hot[id as usize].tail = end;
        if proposal.input != radix {
            fabric.release(base + proposal.input, vc, flits, end);
        }
        if self.outputs[port as usize].queued.is_empty()
            && fabric.channels[port as usize].free_at <= fabric.now
        {
            fabric.take_credits(port);
            if fabric.credit(port, next_vc) >= flits {
                self.send(fabric, port, id, next_vc, agent);
                return;
            }
        }
        self.queue(fabric, port, id, next_vc, flits);
    }

    /// Matches inputs and outputs: every open output proposes to an input, every input takes one. Where two outputs
    /// proposed to one input, the loser tries again.
    fn match_crossbar(&mut self, fabric: &mut Fabric, switch: u32, agent: &mut dyn Agent) {
        let mut proposals = std::mem::take(&mut self.proposals);
        loop {
            let (mut claimed, mut conflict) = (Set::<W>::default(), false);
            proposals.clear();
            let mut open = std::mem::take(&mut self.open);
            let record = &self.records[switch as usize];
            for entry in &mut open {
                let output = &self.outputs[(record.port + entry.output) as usize];
                if !output.asks() || output.crossbar_free > fabric.now {
                    continue;
                }
                (entry.input_free, entry.full) = (NEVER, false);
                let found = match output.fresh {
                    NIL => self.pick(fabric, record, entry),
                    _ => self.pick_fresh(fabric, record, entry),
                };
                if let Some(found) = found {
                    conflict |= claimed.contains(found.input as usize);
                    claimed.insert(found.input as usize);
                    proposals.push(found);
                }
            }
            self.open = open;
            if conflict {
                self.choose(record, &mut proposals);
            }
            for &proposal in &proposals {
                self.grant(fabric, switch, proposal, agent);
            }
            if !conflict {
                break;
            }
        }
        self.proposals = proposals;
    }

    /// Leaves one proposal per input: the best class, then round robin over the outputs.
    fn choose(&self, record: &Record, proposals: &mut Vec<Proposal>) {
        let distance = |p: &Proposal| {
            let turn = self.inputs[(record.input + p.input) as usize].turn as u32;
            (p.output + record.radix - turn) % record.radix
        };
        proposals.sort_unstable_by_key(|p| (p.input, p.class, distance(p)));
        proposals.dedup_by_key(|p| p.input);
    }

    /// Starts a packet on a free channel: the best class that has credit, round robin among its virtual channels.
    fn start_channel(&mut self, fabric: &mut Fabric, port: u32, agent: &mut dyn Agent) {
        fabric.take_credits(port);
        let output = &self.outputs[port as usize];
        let (mut rest, turn) = (output.queued, output.turn as usize);
        // Virtual channels are numbered by class, the highest priority first.
        while let Some(lowest) = rest.first() {
            let class = &self.class_sets[fabric.plan.channels.class_of[lowest] as usize];
            let candidates = rest.and(class);
            rest = rest.without(class);
            let first = candidates.next_from(turn).unwrap_or(lowest);
            let mut vc = first;
            loop {
                let head = self.queues[port as usize * self.vcs + vc].head;
                let flits = fabric.pool.hot[head as usize].flits();
                if fabric.credit(port, vc as u8) >= flits {
                    let queue = &mut self.queues[port as usize * self.vcs + vc];
                    queue.used -= flits;
                    queue.head = fabric.pool.hot[head as usize].next;
                    if queue.head == NIL {
                        queue.tail = NIL;
                        self.outputs[port as usize].queued.remove(vc);
                    }
                    self.send(fabric, port, head, vc as u8, agent);
                    return;
                }
                vc = candidates.next_from(vc + 1).unwrap_or(first);
                if vc == first {
                    break;
                }
            }
        }
    }

    /// Sends a packet on the free channel of a port.
    fn send(&mut self, fabric: &mut Fabric, port: u32, id: u32, vc: u8, agent: &mut dyn Agent) {
        let output = &mut self.outputs[port as usize];
        let hot = &fabric.pool.hot[id as usize];
        let flits = hot.flits();
        if self.departures {
            let spare = fabric.credit(port, vc) - flits;
            let departure = Departure {
                waiting: output.waiting,
                has_credit: spare >= fabric.plan.packet_flits as u32,
                kind: hot.kind(),
            };
            agent.on_dequeue(&departure, &mut fabric.pool.cold[id as usize]);
        }
        output.waiting -= flits;
        output.leaving = vc;
        output.turn = vc + 1;
        fabric.transmit(port, id);
    }

    /// Starts the channel of an output if it can, and arms the output's wake if it has more to do.
    #[inline(never)]
    fn finish(&mut self, fabric: &mut Fabric, port: u32, open: &Open, agent: &mut dyn Agent) {
        let now = fabric.now;
        let channel_free = fabric.channels[port as usize].free_at;
        if !self.outputs[port as usize].queued.is_empty() && channel_free <= now {
            self.start_channel(fabric, port, agent);
        }
        if self.outputs[port as usize].fresh != NIL {
            self.enter_fresh(fabric, port);
        }
        let output = &self.outputs[port as usize];
        let queued = !output.queued.is_empty();
        if output.asking == 0 && !queued {
            return;
        }
        let mut wake = NEVER;
        let channel_free = fabric.channels[port as usize].free_at;
        if channel_free > now {
            if queued || open.full {
                wake = channel_free;
            }
        } else if queued {
            wake = fabric.next_credit(port);
            if fabric.probe.ports_recorded() {
                fabric.probe.stalled(port, now);
            }
        }
        if output.asking > 0 {
            let crossbar_free = output.crossbar_free;
            wake = wake.min(if crossbar_free > now { crossbar_free } else { open.input_free });
        }
        if wake != NEVER {
            fabric.wake(port, wake);
        }
    }

    fn settle_switch(&mut self, fabric: &mut Fabric, switch: u32, agent: &mut dyn Agent) {
        let first = self.records[switch as usize].port;
        let pending = std::mem::take(&mut self.pending[switch as usize]);
        let (mut claimed, mut conflict) = (Set::<W>::default(), false);
        let mut rest = pending;
        let single = rest.pop();
        if rest.is_empty() {
            let output = single.expect("an active switch has a pending output");
            self.settle_output(fabric, switch, first, output as u32, agent);
            return;
        }
        let mut rest = pending;
        while let Some(output) = rest.pop() {
            let record = &self.outputs[first as usize + output];
            if record.asks() {
                let candidates = record.candidates();
                conflict |= claimed.meets(&candidates);
                claimed.join(&candidates);
            }
        }
        let mut rest = pending;
        if !conflict {
            // No input is asked for twice: each output can be settled on its own.
            while let Some(output) = rest.pop() {
                self.settle_output(fabric, switch, first, output as u32, agent);
            }
            return;
        }
        self.open.clear();
        while let Some(output) = rest.pop() {
            self.open.push(Open { output: output as u32, input_free: NEVER, full: false });
        }
        self.match_crossbar(fabric, switch, agent);
        for at in 0..self.open.len() {
            let open = self.open[at];
            self.finish(fabric, first + open.output, &open, agent);
        }
    }

    /// Settles an output whose candidates no other output asks for.
    fn settle_output(
        &mut self,
        fabric: &mut Fabric,
        switch: u32,
        first: u32,
        output: u32,
        agent: &mut dyn Agent,
    ) {
        let mut open = Open { output, input_free: NEVER, full: false };
        let port = first + output;
        let state = &self.outputs[port as usize];
        if state.asks() && state.crossbar_free <= fabric.now {
            let record = &self.records[switch as usize];
            if state.fresh == NIL {
                if let Some(found) = self.pick(fabric, record, &mut open) {
                    self.grant(fabric, switch, found, agent);
                }
            } else if state.queued.is_empty()
                && fabric.channels[port as usize].free_at <= fabric.now
                && self.inputs[(record.input + state.fresh_input) as usize].free <= fabric.now
            {
                self.forward(fabric, switch, port, agent);
            } else if let Some(found) = self.pick_fresh(fabric, record, &mut open) {
                self.grant(fabric, switch, found, agent);
            }
        }
        let state = &self.outputs[port as usize];
        if state.asks() || !state.queued.is_empty() {
            self.finish(fabric, port, &open, agent);
        }
    }

    /// Moves a packet that has just arrived over an idle crossbar path to an idle output: on to the channel if there
    /// is credit.
    fn forward(&mut self, fabric: &mut Fabric, switch: u32, port: u32, agent: &mut dyn Agent) {
        let record = &self.records[switch as usize];
        let output = &mut self.outputs[port as usize];
        let (id, input) = (std::mem::replace(&mut output.fresh, NIL), output.fresh_input);
        let hot = &mut fabric.pool.hot[id as usize];
        let (flits, vc, next_vc) = (hot.flits(), hot.vc, hot.next_vc);
        let end = (fabric.now + fabric.plan.crossbar[flits as usize] as Tick).max(hot.tail);
        hot.tail = end;
        let path = &mut self.inputs[(record.input + input) as usize];
        (path.free, path.turn) = (end, (output.number + 1) as u16);
        output.crossbar_free = end;
        output.turns[fabric.plan.channels.class_of[next_vc as usize] as usize] = (input + 1) as u16;
        if input != record.radix {
            fabric.release(record.port + input, vc, flits, end);
        }
        fabric.take_credits(port);
        if fabric.credit(port, next_vc) >= flits {
            self.send(fabric, port, id, next_vc, agent);
        } else {
            self.queue(fabric, port, id, next_vc, flits);
        }
    }

    /// Puts a packet into its output queue.
    fn queue(&mut self, fabric: &mut Fabric, port: u32, id: u32, vc: u8, flits: u32) {
        self.outputs[port as usize].queued.insert(vc as usize);
        fabric.pool.hot[id as usize].next = NIL;
        let queue = &mut self.queues[port as usize * self.vcs + vc as usize];
        queue.used += flits;
        match queue.tail {
            NIL => queue.head = id,
            tail => fabric.pool.hot[tail as usize].next = id,
        }
        queue.tail = id;
    }
}

impl<const W: usize, const V: usize> Output<W, V> {
    fn new(switch: u32, number: u32, cell: u32) -> Self {
        Self {
            crossbar_free: 0,
            queued: Set::default(),
            waiting: 0,
            asking: 0,
            fresh: NIL,
            fresh_input: 0,
            switch,
            number,
            cell,
            leaving: 0,
            turn: 0,
            classes: 0,
            turns: [0; CLASSES_MAX],
            requests: [Set::default(); CLASSES_MAX],
        }
    }

    /// Whether it asks for a packet over the crossbar.
    #[inline]
    fn asks(&self) -> bool {
        self.asking > 0 || self.fresh != NIL
    }

    /// The inputs it may be granted.
    #[inline]
    fn candidates(&self) -> Set<W> {
        let mut any = Set::default();
        if self.fresh != NIL {
            any.insert(self.fresh_input as usize);
        } else {
            let mut asking = self.classes;
            while asking != 0 {
                any.join(&self.requests[asking.trailing_zeros() as usize]);
                asking &= asking - 1;
            }
        }
        any
    }
}

/// Joins a packet to the queue of its virtual channel in a cell that is not empty, or starts a queue. Returns whether
/// it joined one, and is not at its head.
fn join(packets: &mut [Hot], cell: &mut u32, first: u32, id: u32, vc: u8, voq: bool) -> bool {
    let (mut before, mut at) = (NIL, first);
    while at != NIL {
        if voq && packets[at as usize].vc == vc {
            // It becomes the queue's last.
            let tail = packets[at as usize];
            packets[id as usize].next = tail.next;
            packets[id as usize].sibling = tail.sibling;
            packets[at as usize].next = id;
            match before {
                NIL => *cell = id,
                before => packets[before as usize].sibling = id,
            }
            return true;
        }
        before = at;
        at = packets[at as usize].sibling;
    }
    if voq {
        packets[id as usize].next = id;
    }
    packets[id as usize].sibling = NIL;
    packets[before as usize].sibling = id;
    false
}

/// Puts a queue at the end of its cell.
fn append(packets: &mut [Hot], cell: &mut u32, queue: u32) {
    packets[queue as usize].sibling = NIL;
    let mut end = *cell;
    if end == NIL {
        *cell = queue;
        return;
    }
    while packets[end as usize].sibling != NIL {
        end = packets[end as usize].sibling;
    }
    packets[end as usize].sibling = queue;
}

impl<const W: usize, const V: usize> Architecture for State<W, V> {
    fn waiting(&self, port: u32) -> u32 {
        self.outputs[port as usize].waiting
    }

    fn accept(&mut self, fabric: &mut Fabric, switch: u32, input: Option<u32>, id: u32) {
        let record = &self.records[switch as usize];
        let input = input.map_or(record.radix, |port| port - record.port);
        let hot = &fabric.pool.hot[id as usize];
        let port = record.port + hot.out as u32;
        let output = &mut self.outputs[port as usize];
        output.waiting += hot.flits();
        if self.bypass && output.asking == 0 && output.fresh == NIL {
            (output.fresh, output.fresh_input) = (id, input);
            let number = output.number;
            self.activate(switch, number);
            return;
        }
        if output.fresh != NIL {
            self.enter_fresh(fabric, port);
        }
        self.enter(fabric, switch, input, id);
    }

    fn wake(&mut self, port: u32) {
        let output = &self.outputs[port as usize];
        self.activate(output.switch, output.number);
    }

    fn expire(&mut self, fabric: &mut Fabric, input: u32, id: u32) {
        let switch = self.outputs[input as usize].switch;
        let record = &self.records[switch as usize];
        let (input_at, hot) = (input - record.port, fabric.pool.hot[id as usize]);
        let class = fabric.plan.channels.class_of[hot.next_vc as usize];
        // The number may belong to a packet by now that has no deadline.
        if hot.out as u32 >= record.radix || !fabric.plan.channels.classes[class as usize].times_out {
            return;
        }
        let output = &self.outputs[(record.port + hot.out as u32) as usize];
        let mut queue = self.cells[(output.cell + class as u32 * (record.radix + 1) + input_at) as usize];
        while queue != NIL {
            let at = &fabric.pool.hot[queue as usize];
            let head = if self.voq[class as usize] { at.next } else { queue };
            if head == id {
                break;
            }
            queue = at.sibling;
        }
        let cold = &fabric.pool.cold[id as usize];
        let limit = self.time_to_wait.unwrap_or(NEVER);
        // The packet went on, or its number belongs to another by now.
        if queue == NIL || cold.waited as Tick + (fabric.now - cold.arrived) < limit {
            return;
        }
        let proposal = Proposal { output: hot.out as u32, input: input_at, class, queue };
        self.outputs[(record.port + hot.out as u32) as usize].waiting -= hot.flits();
        fabric.dropped.push((input, id));
        self.leave_cell(fabric, switch, proposal);
    }

    fn settle(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        while let Some(switch) = self.active.pop() {
            self.records[switch as usize].active = false;
            self.settle_switch(fabric, switch, agent);
        }
    }

    fn occupancy(&self, switch: u32) -> u64 {
        let record = &self.records[switch as usize];
        let ports = record.port as usize..(record.port + record.radix) as usize;
        self.outputs[ports].iter().map(|output| output.waiting as u64).sum()
    }

    fn each_waiting(&self, fabric: &Fabric, visit: &mut dyn FnMut(u32, Waiting)) {
        for (switch, record) in self.records.iter().enumerate() {
            for port in record.port..record.port + record.radix {
                self.each_at_output(fabric, record, port, &mut |waiting| visit(switch as u32, waiting));
            }
        }
    }

    fn prepare(&mut self, interest: &Interest) {
        self.time_to_wait = interest.time_to_wait;
        self.departures = interest.departures;
        self.bypass = self.voq == [true; CLASSES_MAX] && interest.time_to_wait.is_none();
    }
}

/// What waits, for the search for deadlock.
impl<const W: usize, const V: usize> State<W, V> {
    /// Visits the packets that wait for an output.
    fn each_at_output(&self, fabric: &Fabric, record: &Record, port: u32, visit: &mut dyn FnMut(Waiting)) {
        let output = &self.outputs[port as usize];
        let mut queued = output.queued;
        while let Some(vc) = queued.pop() {
            let id = self.queues[port as usize * self.vcs + vc].head;
            visit(Waiting { id, input: None, first: true, blocked: true });
        }
        if output.fresh != NIL && output.fresh_input < record.radix {
            visit(self.held_at(fabric, port, record.port + output.fresh_input, output.fresh, true));
        }
        let row = record.radix + 1;
        let cells = output.cell..output.cell + row * fabric.plan.channels.classes.len() as u32;
        for (at, cell) in cells.enumerate().filter(|(at, _)| *at as u32 % row < record.radix) {
            let (class, input) = (at / row as usize, record.port + at as u32 % row);
            let mut queue = self.cells[cell as usize];
            while queue != NIL {
                self.each_of_queue(fabric, port, (class, input), queue, visit);
                queue = fabric.pool.hot[queue as usize].sibling;
            }
        }
    }

    /// Visits a queue of a cell: circular and known by its last if virtual, else known by its first.
    fn each_of_queue(
        &self,
        fabric: &Fabric,
        port: u32,
        (class, input): (usize, u32),
        queue: u32,
        visit: &mut dyn FnMut(Waiting),
    ) {
        let packets = &fabric.pool.hot;
        let (first, last) = if self.voq[class] {
            (packets[queue as usize].next, queue)
        } else {
            let inputs = &self.records[self.outputs[port as usize].switch as usize];
            let fifo = (inputs.input + input - inputs.port) as usize * self.vcs
                + packets[queue as usize].vc as usize;
            (queue, self.fifos[fifo])
        };
        let mut id = first;
        loop {
            visit(self.held_at(fabric, port, input, id, id == first));
            if id == last {
                return;
            }
            id = packets[id as usize].next;
        }
    }

    fn held_at(&self, fabric: &Fabric, port: u32, input: u32, id: u32, first: bool) -> Waiting {
        let hot = &fabric.pool.hot[id as usize];
        let used = self.queues[port as usize * self.vcs + hot.next_vc as usize].used;
        // The packet under way leaves: what it takes up does not block for ever.
        Waiting {
            id,
            input: Some(input),
            first,
            blocked: used + fabric.room_needed(hot) > fabric.plan.output_buffer,
        }
    }
}
