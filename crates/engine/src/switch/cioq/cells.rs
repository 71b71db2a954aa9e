//! The cells in which packets wait for the crossbar, and the plain queues of classes without virtual output queues.
//!
//! Functions with loops that most packets do not need are not inlined: they would fetch all they use in advance.
use super::Arbitration;
use super::state::{Fresh, Seat, State};
use crate::core::fabric::Fabric;
use crate::core::packet::{Hot, NIL};
use crate::core::table::Table;
use crate::protocol::Agent;
use crate::switch::arch::Architecture;

impl<const W: usize, const V: usize> State<W, V> {
    /// A packet that waited alone has company now: it enters its cell.
    #[inline]
    pub(super) fn enter_lone(&mut self, fabric: &mut Fabric, port: u32) {
        let output = &mut self.outputs[port];
        let (id, input) = (std::mem::replace(&mut output.lone, NIL), output.lone_input);
        let hot = &mut fabric.pool.hot[id];
        (hot.next, hot.sibling) = (id, NIL);
        let class = self.rules.class_of[hot.next_vc as usize];
        let cell = output.ask(class, input as u32);
        self.cells[cell] = id;
    }

    /// A packet came in where switches may drop others or send packets of their own in this tick: it goes on behind that, unless it is
    /// to be dropped itself.
    #[inline(never)]
    pub(super) fn accept_late(&mut self, fabric: &mut Fabric, fresh: Fresh, made_here: bool) {
        if made_here {
            self.expect(fresh.port, fabric.now);
        }
        if !self.passes || self.deadlines.exist() && self.deadlines.has_passed(fabric, fresh.id) {
            self.enter(fabric, fresh);
        } else {
            self.fresh.push(fresh);
        }
    }

    /// Sends the packets on that came in late, or puts them where they wait.
    #[inline(never)]
    pub(super) fn enter_fresh(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        let mut fresh = std::mem::take(&mut self.fresh);
        for &arrived in &fresh {
            if !self.pass(fabric, arrived, agent) {
                self.enter(fabric, arrived);
            }
        }
        fresh.clear();
        self.fresh = fresh;
    }

    /// Puts a packet where it waits: at its output if it is alone there, else in a cell or a plain queue.
    #[inline(always)]
    pub(super) fn enter(&mut self, fabric: &mut Fabric, Fresh { port, input, id }: Fresh) {
        let output = &mut self.outputs[port];
        self.inputs[output.input(input)].held += 1;
        let seat = self.seats[output.switch];
        if !self.bypass {
            self.line_up(fabric, &seat, input, id);
        } else if output.classes == 0 && output.lone == NIL {
            (output.lone, output.lone_input) = (id, input as u16);
            if self.deadlines.exist() {
                self.on_lone(fabric, &seat, input, id);
            }
            self.look_at(fabric, port, false);
        } else {
            if output.lone != NIL {
                self.enter_lone(fabric, port);
                // In a cell it is owed the room that it lacks, from now on: not from when the output happens to be looked at.
                self.look_at(fabric, port, false);
            }
            self.enter_cell(fabric, &seat, input, id, true);
        }
        debug_assert!(self.is_awaited(fabric, port), "law broken: an output that nothing wakes");
    }

    /// Puts a packet into its cell, or behind others into the input's plain queue.
    #[inline(never)]
    fn line_up(&mut self, fabric: &mut Fabric, seat: &Seat, input: u32, id: u32) {
        let hot = &fabric.pool.hot[id];
        if self.is_voq(seat.radix, self.rules.class_of[hot.next_vc as usize], input) {
            self.enter_cell(fabric, seat, input, id, true);
            return;
        }
        let fifo = (seat.input + input) * self.vcs + hot.vc as u32;
        let last = std::mem::replace(&mut self.fifos[fifo], id);
        match last {
            NIL => self.enter_cell(fabric, seat, input, id, false),
            last => fabric.pool.hot[last].next = id,
        }
    }

    /// Puts a packet that is at the head of its queue, or joins one, into its cell.
    #[inline(always)]
    pub(super) fn enter_cell(&mut self, fabric: &mut Fabric, seat: &Seat, input: u32, id: u32, voq: bool) {
        let packets = &mut fabric.pool.hot;
        let hot = &mut packets[id];
        let (number, vc, class) = (hot.out as u32, hot.vc, self.rules.class_of[hot.next_vc as usize]);
        let output = &mut self.outputs[seat.port + number];
        let more = output.classes != 0;
        let cell = &mut self.cells[output.cell_of(class, input)];
        let first = *cell;
        if first == NIL {
            // In a plain queue, `next` is the packet behind it.
            if voq {
                hot.next = id;
            }
            hot.sibling = NIL;
            *cell = id;
            output.ask(class, input);
        } else if join(packets, cell, first, id, vc, voq) {
            return;
        }
        if self.deadlines.exist() {
            self.on_head_of(fabric, seat, input, id);
        }
        self.look_at(fabric, seat.port + number, more);
    }

    /// Has an output looked at: in this tick, or when the crossbar's path to it is free, since it can take nothing before. Where
    /// more packets wait for it, that is armed already.
    #[inline(always)]
    pub(super) fn look_at(&mut self, fabric: &mut Fabric, port: u32, more: bool) {
        let crossbar_free = self.outputs[port].crossbar_free;
        if crossbar_free <= fabric.now || self.rules.interleave {
            self.activate(port);
        } else if !more {
            fabric.wake(port, crossbar_free);
        }
    }

    /// Whether an output whose crossbar path is busy will be looked at when that is free, if it has packets in cells.
    pub(super) fn is_awaited(&self, fabric: &Fabric, port: u32) -> bool {
        let output = &self.outputs[port];
        let woken = output.listed || fabric.channels[port].wake_at <= output.crossbar_free;
        output.classes == 0 || output.crossbar_free <= fabric.now || woken
    }

    /// A packet waits alone for an output, as the head of a queue would.
    #[inline(never)]
    pub(super) fn on_lone(&mut self, fabric: &mut Fabric, seat: &Seat, input: u32, id: u32) {
        fabric.pool.hot[id].sibling = NIL;
        self.on_head_of(fabric, seat, input, id);
    }

    /// A packet came to the head of its queue, unless that is one of the virtual input.
    fn on_head_of(&mut self, fabric: &mut Fabric, seat: &Seat, input: u32, id: u32) {
        if input != seat.radix {
            self.on_head(fabric, seat.port + input, id);
        }
    }

    /// Takes the head of the queue with this last packet out of its cell.
    #[inline(always)]
    pub(super) fn leave_cell(
        &mut self,
        fabric: &mut Fabric,
        port: u32,
        (class, input): (u8, u32),
        last: u32,
    ) {
        let output = &mut self.outputs[port];
        if output.late == (class, input as u16) {
            output.passed = 0;
        }
        let is_voq = self.voq[class as usize] || input == output.radix as u32;
        let cell = &mut self.cells[output.cell_of(class, input)];
        let hot = &fabric.pool.hot[last];
        let (tail, sibling) = (hot.next, hot.sibling);
        let head = if is_voq { tail } else { last };
        if output.owing.get() > 0 || output.watched == head {
            let vc = fabric.pool.hot[head].next_vc as u32;
            let by_age = self.rules.arbitration == Arbitration::Age;
            if output.settle(fabric, &self.owed[port * self.vcs + vc], head, by_age) {
                self.unwatched.push(port);
            }
        }
        if head != last || *cell != last || sibling != NIL {
            self.leave_queue(fabric, (port, class, input), (head, last));
        } else {
            *cell = NIL;
            let requests = &mut output.requests[class as usize];
            requests.remove(input as usize);
            output.classes &= !((requests.is_empty() as u8) << class);
        }
        if !is_voq {
            self.advance_fifo(fabric, port, input, head);
        }
    }

    /// Takes a packet out of a cell that holds more.
    #[inline(never)]
    fn leave_queue(
        &mut self,
        fabric: &mut Fabric,
        (port, class, input): (u32, u8, u32),
        (head, last): (u32, u32),
    ) {
        let cell = self.outputs[port].cell_of(class, input);
        let cell = &mut self.cells[cell];
        let packets = &mut fabric.pool.hot;
        let sibling = packets[last].sibling;
        if head == last {
            unlink(packets, cell, last, sibling);
            return;
        }
        let next = packets[head].next;
        packets[last].next = next;
        // The queue goes to the end of the cell, so that queues take turns.
        if *cell != last || sibling != NIL {
            unlink(packets, cell, last, sibling);
            append(packets, cell, last);
        }
        if self.deadlines.exist() {
            let seat = self.seats[self.outputs[port].switch];
            self.on_head_of(fabric, &seat, input, next);
        }
    }

    /// The head of a plain queue left: the next packet enters its own cell.
    #[inline(never)]
    fn advance_fifo(&mut self, fabric: &mut Fabric, port: u32, input: u32, left: u32) {
        let seat = self.seats[self.outputs[port].switch];
        let vc = fabric.pool.hot[left].vc;
        let fifo = &mut self.fifos[(seat.input + input) * self.vcs + vc as u32];
        if *fifo == left {
            *fifo = NIL;
        } else {
            let next = fabric.pool.hot[left].next;
            self.enter_cell(fabric, &seat, input, next, false);
        }
    }
}

/// Joins a packet to the queue of its virtual channel in a cell that is not empty, or starts a queue. Returns whether
/// it joined one, and is not at its head.
#[inline(never)]
fn join(packets: &mut Table<Hot>, cell: &mut u32, first: u32, id: u32, vc: u8, voq: bool) -> bool {
    let (mut before, mut at) = (NIL, first);
    while at != NIL {
        if voq && packets[at].vc == vc {
            // It becomes the queue's last.
            let tail = packets[at];
            packets[id].next = tail.next;
            packets[id].sibling = tail.sibling;
            packets[at].next = id;
            match before {
                NIL => *cell = id,
                before => packets[before].sibling = id,
            }
            return true;
        }
        before = at;
        at = packets[at].sibling;
    }
    if voq {
        packets[id].next = id;
    }
    packets[id].sibling = NIL;
    packets[before].sibling = id;
    false
}

/// Takes a queue, known by its last packet and that packet's `sibling`, out of the list of its cell.
#[inline(never)]
fn unlink(packets: &mut Table<Hot>, cell: &mut u32, last: u32, sibling: u32) {
    if *cell == last {
        *cell = sibling;
        return;
    }
    let mut before = *cell;
    while packets[before].sibling != last {
        before = packets[before].sibling;
    }
    packets[before].sibling = sibling;
}

/// Puts a queue at the end of a cell that has others.
#[inline(never)]
fn append(packets: &mut Table<Hot>, cell: &mut u32, queue: u32) {
    packets[queue].sibling = NIL;
    let mut end = *cell;
    while packets[end].sibling != NIL {
        end = packets[end].sibling;
    }
    packets[end].sibling = queue;
}
