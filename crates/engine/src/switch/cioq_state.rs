//! State and arbitration of the combined input/output-queued switch.
//!
//! Packets that wait for the crossbar stand in cells, one per (output, traffic class, input). A cell is a list of
//! queues, one per input virtual channel with a packet for that output; a queue is a circular list of packets, known
//! by its last. So memory follows the packets, not the product of ports and virtual channels.
use super::arch::Architecture;
use super::bits;
use super::cioq::Arbitration;
use crate::core::fabric::{Far, Fabric};
use crate::core::packet::NIL;
use crate::core::plan::{Plan, Share};
use crate::core::wheel::Kind;
use crate::core::{NEVER, Tick};
use crate::protocol::{Agent, Departure};
use crate::rng::mix;

/// A switch of the partition.
struct Record {
    /// First local port.
    port: u32,
    /// Number of ports; also the index of the virtual input.
    radix: u32,
    /// First entry in `input_free`.
    input: u32,
    /// First entry in `cells`.
    cell: u32,
    /// Whether it is in `active`.
    active: bool,
}

/// Output side of a port.
#[derive(Default, Clone)]
struct Output {
    /// When the crossbar path to the output is free.
    crossbar_free: Tick,
    /// Flits waiting: in the cells of this output and in its output queues, without the packet under way.
    waiting: u32,
    /// Virtual channel and flits of the packet under way, whose space is released when the channel is free.
    leaving: (u8, u32),
    /// Local switch.
    switch: u32,
    /// Next virtual channel in the channel's round robin.
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

/// What kept an output from being matched.
#[derive(Clone, Copy)]
struct Blocked {
    /// When the first busy candidate input is free.
    input_free: Tick,
    /// An output queue was full.
    full: bool,
}

/// All combined input/output-queued switches of a partition.
pub struct State {
    records: Vec<Record>,
    outputs: Vec<Output>,
    input_free: Vec<Tick>,
    /// Output the next search of an input starts from.
    input_turn: Vec<u16>,
    cells: Vec<u32>,
    /// Inputs with a packet, per (port, class), `words` words each.
    requests: Vec<u64>,
    /// Next input in round robin, per (port, class).
    turns: Vec<u16>,
    queues: Vec<Queue>,
    /// Non-empty output queues per port, `vc_words` words each.
    queued: Vec<u64>,
    /// Outputs to look at in this tick, per switch, `words` words each.
    pending: Vec<u64>,
    active: Vec<u32>,
    /// Last packet of each (input, virtual channel) of the classes without virtual output queues.
    fifos: Vec<u32>,
    voq: Vec<bool>,
    arbitration: Arbitration,
    infinite: bool,
    time_to_wait: Option<Tick>,
    classes: usize,
    vcs: usize,
    per_class: usize,
    words: usize,
    vc_words: usize,
    seed: u64,
    blocked: Vec<Blocked>,
    proposals: Vec<Proposal>,
    open: Vec<u32>,
}

impl State {
    /// The switches of a partition, empty.
    pub fn new(plan: &Plan, share: &Share, voq: Vec<bool>, arbitration: Arbitration) -> Self {
        let (classes, vcs) = (plan.channels.classes.len(), plan.channels.count());
        let ports = share.ports[share.ports.len() - 1] as usize;
        let (mut records, mut outputs, mut inputs, mut cells) = (Vec::new(), Vec::new(), 0, 0);
        for (switch, span) in share.ports.windows(2).enumerate() {
            let radix = span[1] - span[0];
            records.push(Record { port: span[0], radix, input: inputs, cell: cells, active: false });
            inputs += radix + 1;
            cells += radix * classes as u32 * (radix + 1);
            outputs.extend((0..radix).map(|_| Output { switch: switch as u32, ..Output::default() }));
        }
        let most = records.iter().map(|record| record.radix as usize + 1).max().unwrap_or(1);
        let (words, vc_words) = (most.div_ceil(64), vcs.div_ceil(64));
        let fifos = if voq.iter().all(|&voq| voq) { 0 } else { inputs as usize * vcs };
        Self {
            pending: vec![0; records.len() * words],
            records,
            outputs,
            input_free: vec![0; inputs as usize],
            input_turn: vec![0; inputs as usize],
            cells: vec![NIL; cells as usize],
            requests: vec![0; ports * classes * words],
            turns: vec![0; ports * classes],
            queues: vec![Queue { head: NIL, tail: NIL, used: 0 }; ports * vcs],
            queued: vec![0; ports * vc_words],
            active: Vec::new(),
            fifos: vec![NIL; fifos],
            voq,
            arbitration,
            infinite: plan.crossbar.is_empty(),
            time_to_wait: None,
            classes,
            vcs,
            per_class: vcs / classes,
            words,
            vc_words,
            seed: plan.seed,
            blocked: Vec::new(),
            proposals: Vec::new(),
            open: Vec::new(),
        }
    }

    fn cell(&self, switch: u32, output: u32, class: u8, input: u32) -> usize {
        let record = &self.records[switch as usize];
        let (radix, port) = (record.radix as usize, output as usize);
        record.cell as usize + (port * self.classes + class as usize) * (radix + 1) + input as usize
    }

    fn requests_of(&mut self, port: u32, class: u8) -> &mut [u64] {
        let at = (port as usize * self.classes + class as usize) * self.words;
        &mut self.requests[at..at + self.words]
    }

    fn activate(&mut self, switch: u32, output: u32) {
        bits::set(&mut self.pending[switch as usize * self.words..][..self.words], output as usize);
        let record = &mut self.records[switch as usize];
        if !record.active {
            record.active = true;
            self.active.push(switch);
        }
    }

    /// Puts a packet that is at the head of its queue, or joins one, into its cell.
    fn enter_cell(&mut self, fabric: &mut Fabric, switch: u32, input: u32, id: u32, single: bool) {
        let hot = &fabric.pool.hot[id as usize];
        let (output, vc) = (hot.out as u32, hot.vc);
        let class = fabric.plan.channels.class_of[hot.next_vc as usize];
        let cell = self.cell(switch, output, class, input);
        let port = self.records[switch as usize].port + output;
        let packets = &mut fabric.pool.hot;
        let (mut before, mut at) = (NIL, self.cells[cell]);
        if !single {
            while at != NIL && packets[at as usize].vc != vc {
                before = at;
                at = packets[at as usize].sibling;
            }
            if at != NIL {
                // Joins the queue: it becomes its last.
                let tail = packets[at as usize];
                packets[id as usize].next = tail.next;
                packets[id as usize].sibling = tail.sibling;
                packets[at as usize].next = id;
                match before {
                    NIL => self.cells[cell] = id,
                    before => packets[before as usize].sibling = id,
                }
                return;
            }
            packets[id as usize].next = id;
        } else {
            while at != NIL {
                before = at;
                at = packets[at as usize].sibling;
            }
        }
        packets[id as usize].sibling = NIL;
        match before {
            NIL => self.cells[cell] = id,
            before => packets[before as usize].sibling = id,
        }
        bits::set(self.requests_of(port, class), input as usize);
        self.on_head(fabric, switch, input, id, class);
        self.activate(switch, output);
    }

    /// A packet came to the head of its queue: arms its deadline, or drops it if that has passed.
    fn on_head(&mut self, fabric: &mut Fabric, switch: u32, input: u32, id: u32, class: u8) {
        let Some(limit) = self.time_to_wait else { return };
        let record = &self.records[switch as usize];
        if input == record.radix || !fabric.plan.channels.classes[class as usize].droppable {
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

    /// Takes the head of a queue out of its cell; `last` is the queue's last packet. Returns the head.
    fn leave_cell(&mut self, fabric: &mut Fabric, switch: u32, proposal: Proposal) -> u32 {
        let Proposal { output, input, class, queue: last } = proposal;
        let cell = self.cell(switch, output, class, input);
        let port = self.records[switch as usize].port + output;
        let (mut before, mut at) = (NIL, self.cells[cell]);
        while at != last {
            before = at;
            at = fabric.pool.hot[at as usize].sibling;
        }
        let packets = &mut fabric.pool.hot;
        let tail = packets[last as usize];
        let single = !self.has_voq(switch, input, class);
        let head = if single { last } else { tail.next };
        // The queue leaves its place in the cell; if packets remain it goes to the end, so that queues take turns.
        match before {
            NIL => self.cells[cell] = tail.sibling,
            before => packets[before as usize].sibling = tail.sibling,
        }
        if head != last {
            packets[last as usize].next = packets[head as usize].next;
            packets[last as usize].sibling = NIL;
            let mut end = self.cells[cell];
            if end == NIL {
                self.cells[cell] = last;
            } else {
                while packets[end as usize].sibling != NIL {
                    end = packets[end as usize].sibling;
                }
                packets[end as usize].sibling = last;
            }
            let next = packets[last as usize].next;
            self.on_head(fabric, switch, input, next, class);
        } else if self.cells[cell] == NIL {
            bits::clear(self.requests_of(port, class), input as usize);
        }
        if single {
            self.advance_fifo(fabric, switch, input, head);
        }
        head
    }

    fn has_voq(&self, switch: u32, input: u32, class: u8) -> bool {
        self.voq[class as usize] || input == self.records[switch as usize].radix
    }

    /// The head of a plain queue left: the next packet enters its own cell.
    fn advance_fifo(&mut self, fabric: &mut Fabric, switch: u32, input: u32, left: u32) {
        let hot = fabric.pool.hot[left as usize];
        let fifo = (self.records[switch as usize].input + input) as usize * self.vcs + hot.vc as usize;
        if self.fifos[fifo] == left {
            self.fifos[fifo] = NIL;
        } else {
            self.enter_cell(fabric, switch, input, hot.next, true);
        }
    }

    /// The candidate of an output: the best class, then by the arbiter's rule among free inputs with space ahead.
    fn pick(&self, fabric: &Fabric, switch: u32, output: u32, blocked: &mut Blocked) -> Option<Proposal> {
        let record = &self.records[switch as usize];
        let port = record.port + output;
        for class in 0..self.classes {
            let at = port as usize * self.classes + class;
            let requests = &self.requests[at * self.words..][..self.words];
            let start = self.turns[at] as usize;
            let Some(first) = bits::next_from(requests, start) else { continue };
            let (mut input, mut best) = (first, None::<(u64, Proposal)>);
            loop {
                if let Some(queue) =
                    self.ready(fabric, record, port, output, class as u8, input as u32, blocked)
                {
                    let found = Proposal { output, input: input as u32, class: class as u8, queue };
                    let rank = self.rank(fabric, port, found);
                    if self.arbitration == Arbitration::RoundRobin {
                        return Some(found);
                    }
                    if best.is_none_or(|(least, _)| rank < least) {
                        best = Some((rank, found));
                    }
                }
                let from = if input as u32 >= record.radix { 0 } else { input + 1 };
                input = bits::next_from(requests, from).unwrap_or(first);
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
    fn rank(&self, fabric: &Fabric, port: u32, found: Proposal) -> u64 {
        match self.arbitration {
            Arbitration::RoundRobin => 0,
            Arbitration::Age => fabric.pool.cold[self.head(fabric, found) as usize].arrived,
            Arbitration::Random => {
                let record = &self.records[self.outputs[port as usize].switch as usize];
                let switch = fabric.share.switches[self.outputs[port as usize].switch as usize];
                let key = (switch as u64) << 32 | ((port - record.port) as u64) << 16 | found.input as u64;
                mix(mix(self.seed, key), fabric.now)
            }
        }
    }

    fn head(&self, fabric: &Fabric, found: Proposal) -> u32 {
        let radix_is_virtual = self.voq[found.class as usize];
        if radix_is_virtual { fabric.pool.hot[found.queue as usize].next } else { found.queue }
    }

    /// The first queue of a cell whose head fits in its output queue, if the input is free.
    #[inline]
    #[allow(clippy::too_many_arguments)]
    fn ready(
        &self,
        fabric: &Fabric,
        record: &Record,
        port: u32,
        output: u32,
        class: u8,
        input: u32,
        blocked: &mut Blocked,
    ) -> Option<u32> {
        let free = self.input_free[(record.input + input) as usize];
        if free > fabric.now && !self.infinite {
            blocked.input_free = blocked.input_free.min(free);
            return None;
        }
        let radix = record.radix as usize;
        let cell = record.cell as usize
            + (output as usize * self.classes + class as usize) * (radix + 1)
            + input as usize;
        let voq = self.voq[class as usize] || input == record.radix;
        let mut queue = self.cells[cell];
        while queue != NIL {
            let hot = &fabric.pool.hot[queue as usize];
            let head = if voq { &fabric.pool.hot[hot.next as usize] } else { hot };
            let used = self.queues[port as usize * self.vcs + head.next_vc as usize].used;
            if used + head.flits() <= fabric.plan.output_buffer {
                return Some(queue);
            }
            blocked.full = true;
            queue = hot.sibling;
        }
        None
    }

    /// Moves the head of a proposal's queue over the crossbar into its output queue.
    fn grant(&mut self, fabric: &mut Fabric, switch: u32, proposal: Proposal) {
        let id = self.leave_cell(fabric, switch, proposal);
        let record = &self.records[switch as usize];
        let (port, from) = (record.port + proposal.output, record.input + proposal.input);
        let is_virtual = proposal.input == record.radix;
        let input_port = record.port + proposal.input;
        let now = fabric.now;
        let hot = &mut fabric.pool.hot[id as usize];
        let (flits, vc, next_vc) = (hot.flits(), hot.vc, hot.next_vc);
        let crossing = if self.infinite { 0 } else { fabric.plan.crossbar[flits as usize] as Tick };
        let end = (now + crossing).max(hot.tail);
        hot.tail = end;
        hot.next = NIL;
        self.input_free[from as usize] = end;
        self.outputs[port as usize].crossbar_free = end;
        let radix = record.radix;
        let turn = if proposal.input >= radix { 0 } else { proposal.input + 1 };
        self.turns[port as usize * self.classes + proposal.class as usize] = turn as u16;
        self.input_turn[from as usize] = ((proposal.output + 1) % radix) as u16;
        let queue = &mut self.queues[port as usize * self.vcs + next_vc as usize];
        queue.used += flits;
        match queue.tail {
            NIL => queue.head = id,
            tail => fabric.pool.hot[tail as usize].next = id,
        }
        queue.tail = id;
        bits::set(&mut self.queued[port as usize * self.vc_words..][..self.vc_words], next_vc as usize);
        if !is_virtual {
            fabric.release(input_port, vc, flits, end);
        }
    }

    /// Matches inputs and outputs: every open output proposes to an input, every input takes one, until none is left.
    fn match_crossbar(&mut self, fabric: &mut Fabric, switch: u32) {
        if let [output] = self.open[..] {
            let mut blocked = self.blocked[0];
            while self.crossbar_open(fabric, switch, output) {
                let Some(found) = self.pick(fabric, switch, output, &mut blocked) else { break };
                self.grant(fabric, switch, found);
            }
            self.blocked[0] = blocked;
            return;
        }
        loop {
            self.proposals.clear();
            for at in 0..self.open.len() {
                let output = self.open[at];
                if self.crossbar_open(fabric, switch, output) {
                    let mut blocked = Blocked { input_free: NEVER, full: false };
                    let found = self.pick(fabric, switch, output, &mut blocked);
                    self.blocked[at] = blocked;
                    self.proposals.extend(found);
                }
            }
            if self.proposals.is_empty() {
                return;
            }
            let mut proposals = std::mem::take(&mut self.proposals);
            let record = &self.records[switch as usize];
            let distance = |p: &Proposal| {
                let turn = self.input_turn[(record.input + p.input) as usize] as u32;
                (p.output + record.radix - turn) % record.radix
            };
            proposals.sort_unstable_by_key(|p| (p.input, p.class, distance(p)));
            if !self.infinite {
                proposals.dedup_by_key(|p| p.input);
            }
            for &proposal in &proposals {
                self.grant(fabric, switch, proposal);
            }
            self.proposals = proposals;
        }
    }

    fn crossbar_open(&self, fabric: &Fabric, switch: u32, output: u32) -> bool {
        let port = self.records[switch as usize].port + output;
        self.infinite || self.outputs[port as usize].crossbar_free <= fabric.now
    }

    /// Starts a packet on a free channel: the best class that has credit, round robin among its virtual channels.
    fn start_channel(&mut self, fabric: &mut Fabric, port: u32, agent: &mut dyn Agent) {
        if fabric.channels[port as usize].free_at > fabric.now {
            return;
        }
        let queued = &self.queued[port as usize * self.vc_words..][..self.vc_words];
        if bits::none(queued) {
            return;
        }
        fabric.take_credits(port);
        let turn = self.outputs[port as usize].turn as usize;
        for class in 0..self.classes {
            let span = class * self.per_class..(class + 1) * self.per_class;
            let start = if span.contains(&turn) { turn } else { span.start };
            for vc in (start..span.end).chain(span.start..start) {
                if queued[vc / 64] >> (vc % 64) & 1 == 0 {
                    continue;
                }
                let head = self.queues[port as usize * self.vcs + vc].head;
                if fabric.credit(port, vc as u8) >= fabric.pool.hot[head as usize].flits() {
                    self.send(fabric, port, vc, agent);
                    return;
                }
            }
        }
    }

    fn send(&mut self, fabric: &mut Fabric, port: u32, vc: usize, agent: &mut dyn Agent) {
        let queue = &mut self.queues[port as usize * self.vcs + vc];
        let id = queue.head;
        queue.head = fabric.pool.hot[id as usize].next;
        if queue.head == NIL {
            queue.tail = NIL;
            bits::clear(&mut self.queued[port as usize * self.vc_words..][..self.vc_words], vc);
        }
        let flits = fabric.pool.hot[id as usize].flits();
        let output = &mut self.outputs[port as usize];
        if agent.interest().departures {
            let spare = fabric.credit(port, vc as u8) - flits;
            let departure = Departure {
                waiting: output.waiting,
                has_credit: spare >= fabric.plan.packet_flits as u32,
                kind: fabric.pool.hot[id as usize].kind(),
            };
            agent.on_dequeue(&departure, &mut fabric.pool.cold[id as usize]);
        }
        output.waiting -= flits;
        output.leaving = (vc as u8, flits);
        output.turn = vc as u16 + 1;
        fabric.transmit(port, id);
    }

    /// Arms the wake of an output that has more to do.
    fn arm(&mut self, fabric: &mut Fabric, port: u32, blocked: Blocked) {
        let now = fabric.now;
        let requests = &self.requests[port as usize * self.classes * self.words..][..self.classes * self.words];
        let asked = !bits::none(requests);
        let queued = !bits::none(&self.queued[port as usize * self.vc_words..][..self.vc_words]);
        if !asked && !queued {
            return;
        }
        let mut wake = NEVER;
        let channel_free = fabric.channels[port as usize].free_at;
        if channel_free > now {
            if queued || blocked.full {
                wake = channel_free;
            }
        } else if queued {
            wake = fabric.next_credit(port);
            if fabric.probe.ports_recorded() {
                fabric.probe.stalled(port, now);
            }
        }
        if asked {
            let crossbar_free = self.outputs[port as usize].crossbar_free;
            wake = wake.min(if crossbar_free > now { crossbar_free } else { blocked.input_free });
        }
        if wake != NEVER {
            fabric.wake(port, wake);
        }
    }

    fn settle_switch(&mut self, fabric: &mut Fabric, switch: u32, agent: &mut dyn Agent) {
        let first = self.records[switch as usize].port;
        self.open.clear();
        for word in 0..self.words {
            let mut bits = std::mem::take(&mut self.pending[switch as usize * self.words + word]);
            while bits != 0 {
                self.open.push(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        self.blocked.clear();
        self.blocked.resize(self.open.len(), Blocked { input_free: NEVER, full: false });
        for &output in &self.open {
            let port = (first + output) as usize;
            let (vc, flits) = self.outputs[port].leaving;
            if flits > 0 && fabric.channels[port].free_at <= fabric.now {
                self.queues[port * self.vcs + vc as usize].used -= flits;
                self.outputs[port].leaving = (0, 0);
            }
        }
        self.match_crossbar(fabric, switch);
        for at in 0..self.open.len() {
            let port = first + self.open[at];
            self.start_channel(fabric, port, agent);
            self.arm(fabric, port, self.blocked[at]);
        }
    }
}

impl Architecture for State {
    fn waiting(&self, port: u32) -> u32 {
        self.outputs[port as usize].waiting
    }

    fn accept(&mut self, fabric: &mut Fabric, switch: u32, input: Option<u32>, id: u32) {
        let record = &self.records[switch as usize];
        let input = input.map_or(record.radix, |port| port - record.port);
        let hot = &fabric.pool.hot[id as usize];
        let (port, vc) = (record.port + hot.out as u32, hot.vc);
        let class = fabric.plan.channels.class_of[hot.next_vc as usize];
        self.outputs[port as usize].waiting += hot.flits();
        if self.has_voq(switch, input, class) {
            self.enter_cell(fabric, switch, input, id, false);
            return;
        }
        let fifo = (record.input + input) as usize * self.vcs + vc as usize;
        let last = std::mem::replace(&mut self.fifos[fifo], id);
        fabric.pool.hot[id as usize].next = NIL;
        match last {
            NIL => self.enter_cell(fabric, switch, input, id, true),
            last => fabric.pool.hot[last as usize].next = id,
        }
    }

    fn wake(&mut self, port: u32) {
        let switch = self.outputs[port as usize].switch;
        self.activate(switch, port - self.records[switch as usize].port);
    }

    fn expire(&mut self, fabric: &mut Fabric, input: u32, id: u32) {
        let switch = self.outputs[input as usize].switch;
        let record = &self.records[switch as usize];
        let (input_at, hot) = (input - record.port, fabric.pool.hot[id as usize]);
        let class = fabric.plan.channels.class_of[hot.next_vc as usize];
        if hot.out as u32 >= record.radix {
            return;
        }
        let voq = self.voq[class as usize];
        let mut queue = self.cells[self.cell(switch, hot.out as u32, class, input_at)];
        while queue != NIL {
            let at = &fabric.pool.hot[queue as usize];
            let head = if voq { at.next } else { queue };
            if head == id {
                break;
            }
            queue = at.sibling;
        }
        // The packet went on, or its number belongs to another by now.
        if queue == NIL {
            return;
        }
        let cold = &fabric.pool.cold[id as usize];
        let limit = self.time_to_wait.unwrap_or(NEVER);
        if cold.waited as Tick + (fabric.now - cold.arrived) < limit {
            return;
        }
        let output = hot.out as u32;
        self.outputs[(record.port + output) as usize].waiting -= hot.flits();
        let proposal = Proposal { output, input: input_at, class, queue };
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

    fn set_time_to_wait(&mut self, limit: Option<Tick>) {
        self.time_to_wait = limit;
    }
}

#[allow(unused_imports)]
use Far as _;
