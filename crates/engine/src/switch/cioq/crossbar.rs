//! Arbitration for the crossbar: every output proposes to an input, every input takes one proposal.
use super::Arbitration;
use super::state::{Output, Seat, State};
use crate::core::fabric::Fabric;
use crate::core::packet::{Hot, NIL};
use crate::core::{NEVER, Tick};
use crate::protocol::Agent;
use crate::rng::mix;
use crate::switch::bits::Set;

/// A candidate for the crossbar.
#[derive(Clone, Copy)]
pub(super) struct Proposal {
    /// The packet.
    id: u32,
    /// Last packet of its queue; none if it has just arrived.
    queue: u32,
    input: u32,
    class: u8,
}

/// An output to be looked at, and what kept it from being matched.
pub(super) struct Open {
    pub port: u32,
    /// When the first busy candidate input is free.
    pub input_free: Tick,
    /// An output queue was full.
    pub full: bool,
    found: Option<Proposal>,
}

impl Open {
    fn new(port: u32) -> Self {
        Self { port, input_free: NEVER, full: false, found: None }
    }
}

impl<const W: usize, const V: usize> State<W, V> {
    /// Arbitrates in a switch: its pending outputs, then what they left to do.
    #[inline]
    pub(super) fn settle_switch(&mut self, fabric: &mut Fabric, switch: u32, agent: &mut dyn Agent) {
        let record = &mut self.records[switch];
        let seat = record.seat;
        let mut pending = std::mem::take(&mut record.pending);
        let first = pending.pop().expect("an active switch has a pending output");
        if pending.is_empty() {
            let mut open = Open::new(seat.port + first as u32);
            self.propose(fabric, &seat, &mut open);
            if let Some(found) = open.found {
                self.cross(fabric, &seat, open.port, found, agent);
            }
            self.finish(fabric, &seat, &open, agent);
            return;
        }
        let mut all = std::mem::take(&mut self.open);
        all.push(Open::new(seat.port + first as u32));
        while let Some(output) = pending.pop() {
            all.push(Open::new(seat.port + output as u32));
        }
        // Where two outputs proposed to one input, the loser tries again.
        while self.match_once(fabric, &seat, &mut all, agent) {}
        for open in &all {
            self.finish(fabric, &seat, open, agent);
        }
        all.clear();
        self.open = all;
    }

    /// One round of proposals. Returns whether an input had more than one.
    fn match_once(
        &mut self,
        fabric: &mut Fabric,
        seat: &Seat,
        all: &mut [Open],
        agent: &mut dyn Agent,
    ) -> bool {
        let (mut claimed, mut conflict) = (Set::<W>::default(), false);
        for open in all.iter_mut() {
            self.propose(fabric, seat, open);
            if let Some(found) = open.found {
                conflict |= claimed.contains(found.input as usize);
                claimed.insert(found.input as usize);
            }
        }
        if conflict {
            self.choose(fabric, seat, all);
        }
        for open in all {
            if let Some(found) = open.found.take() {
                self.cross(fabric, seat, open.port, found, agent);
            }
        }
        conflict
    }

    /// Leaves one proposal per input: the best class, then round robin over the outputs.
    #[inline(never)]
    fn choose(&self, fabric: &Fabric, seat: &Seat, all: &mut [Open]) {
        let distance = |port: u32, input: u32| {
            let turn = self.turn(fabric, seat, input) as u32;
            (port - seat.port + seat.radix - turn) % seat.radix
        };
        for at in 0..all.len() {
            let Some(mine) = all[at].found else { continue };
            let rank = |open: &Open, found: &Proposal| (found.class, distance(open.port, found.input));
            let own = rank(&all[at], &mine);
            let beaten = all.iter().any(|other| {
                other.found.is_some_and(|found| found.input == mine.input && rank(other, &found) < own)
            });
            if beaten {
                all[at].found = None;
            }
        }
    }

    /// When an input's path into the crossbar is free.
    #[inline(always)]
    fn free_at(&self, fabric: &Fabric, seat: &Seat, input: u32) -> Tick {
        if input == seat.radix {
            self.records[seat.switch].free_at
        } else {
            fabric.inlets[seat.port + input].free_at
        }
    }

    /// The output that an input's round robin starts from.
    fn turn(&self, fabric: &Fabric, seat: &Seat, input: u32) -> u16 {
        if input == seat.radix {
            self.records[seat.switch].turn
        } else {
            fabric.inlets[seat.port + input].turn
        }
    }

    /// The candidate of an output that can take one over the crossbar now.
    #[inline]
    fn propose(&self, fabric: &Fabric, seat: &Seat, open: &mut Open) {
        let output = &self.outputs[open.port];
        if output.crossbar_free > fabric.now {
            return;
        }
        if output.fresh != NIL {
            open.found = self.propose_fresh(fabric, seat, output, open);
        } else if output.classes != 0 {
            (open.input_free, open.full) = (NEVER, false);
            open.found = self.pick(fabric, seat, output, open);
        }
    }

    /// The packet that has just arrived at an output without others, if its input is free and there is space ahead.
    #[inline]
    fn propose_fresh(
        &self,
        fabric: &Fabric,
        seat: &Seat,
        output: &Output<W, V>,
        open: &mut Open,
    ) -> Option<Proposal> {
        let (id, input) = (output.fresh, output.fresh_input);
        let free = self.free_at(fabric, seat, input);
        open.input_free = free;
        if free > fabric.now {
            return None;
        }
        let hot = &fabric.pool.hot[id];
        if !self.fits(fabric, open.port, output, hot) {
            open.full = true;
            return None;
        }
        Some(Proposal { id, queue: NIL, input, class: self.class_of[hot.next_vc as usize] })
    }

    /// The best class's candidate, then by the arbiter's rule among free inputs with space ahead.
    fn pick(
        &self,
        fabric: &Fabric,
        seat: &Seat,
        output: &Output<W, V>,
        open: &mut Open,
    ) -> Option<Proposal> {
        let mut asking = output.classes;
        while asking != 0 {
            let class = asking.trailing_zeros() as u8;
            asking &= asking - 1;
            let requests = &output.requests[class as usize];
            let Some(first) = requests.next_from(output.turns[class as usize] as usize) else { continue };
            let (mut input, mut best) = (first, None::<(u64, Proposal)>);
            loop {
                if let Some(found) = self.ready(fabric, seat, output, class, input as u32, open) {
                    if self.arbitration == Arbitration::RoundRobin {
                        return Some(found);
                    }
                    let rank = self.rank(fabric, output, found);
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
    #[inline(never)]
    fn rank(&self, fabric: &Fabric, output: &Output<W, V>, found: Proposal) -> u64 {
        if self.arbitration == Arbitration::Age {
            return fabric.pool.cold[found.id].arrived;
        }
        let switch = fabric.share.switches[output.switch as usize];
        let key = (switch as u64) << 32 | (output.number as u64) << 16 | found.input as u64;
        mix(mix(self.seed, key), fabric.now)
    }

    /// The first queue of a cell whose head fits in its output queue, if the input is free.
    #[inline]
    fn ready(
        &self,
        fabric: &Fabric,
        seat: &Seat,
        output: &Output<W, V>,
        class: u8,
        input: u32,
        open: &mut Open,
    ) -> Option<Proposal> {
        let free = self.free_at(fabric, seat, input);
        if free > fabric.now {
            open.input_free = open.input_free.min(free);
            return None;
        }
        let voq = self.is_voq(seat, class, input);
        let mut queue = self.cells[output.cell + class as u32 * (seat.radix + 1) + input];
        while queue != NIL {
            let last = &fabric.pool.hot[queue];
            let (id, sibling) = (if voq { last.next } else { queue }, last.sibling);
            if self.fits(fabric, open.port, output, &fabric.pool.hot[id]) {
                return Some(Proposal { id, queue, input, class });
            }
            open.full = true;
            queue = sibling;
        }
        None
    }

    /// Whether a packet fits in its output queue. The packet under way keeps its space until its tail has left.
    #[inline(always)]
    fn fits(&self, fabric: &Fabric, port: u32, output: &Output<W, V>, hot: &Hot) -> bool {
        let channel = &fabric.channels[port];
        let busy = channel.free_at > fabric.now;
        if !busy && output.queued.is_empty() {
            return true;
        }
        let under_way = if busy && output.leaving == hot.next_vc { channel.sending as u32 } else { 0 };
        let used = fabric.queued(port, hot.next_vc);
        used + under_way + hot.flits() <= self.output_buffer
    }

    /// Moves a packet over the crossbar: on to its channel if that is free, else into its output queue.
    #[inline]
    fn cross(
        &mut self,
        fabric: &mut Fabric,
        seat: &Seat,
        port: u32,
        found: Proposal,
        agent: &mut dyn Agent,
    ) {
        let Proposal { id, queue, input, class } = found;
        let hot = &mut fabric.pool.hot[id];
        let (flits, vc, next_vc) = (hot.flits(), hot.vc, hot.next_vc);
        let end = (fabric.now + self.crossbar[flits] as Tick).max(hot.tail);
        hot.tail = end;
        let output = &mut self.outputs[port];
        output.crossbar_free = end;
        output.turns[class as usize] = (input + 1) as u16;
        let idle = output.queued.is_empty();
        if queue == NIL {
            output.fresh = NIL;
        } else {
            self.leave_cell(fabric, seat, port, class, input, queue);
        }
        let turn = (port - seat.port + 1) as u16;
        if input == seat.radix {
            let record = &mut self.records[seat.switch];
            (record.free_at, record.turn) = (end, turn);
        } else {
            let inlet = &mut fabric.inlets[seat.port + input];
            (inlet.free_at, inlet.turn) = (end, turn);
            fabric.release(seat.port + input, vc, flits, end);
        }
        if idle && fabric.channels[port].free_at <= fabric.now {
            fabric.take_credits(port);
            if fabric.credit(port, next_vc) >= flits {
                self.send(fabric, port, id, next_vc, agent);
                return;
            }
        }
        self.outputs[port].queued.insert(next_vc as usize);
        fabric.enqueue(port, next_vc, id, flits);
    }
}
