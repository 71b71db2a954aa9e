//! Arbitration for the crossbar: every output proposes to an input, every input takes one proposal.
use super::Arbitration;
use super::state::{Output, State};
use crate::core::channel::Claim;
use crate::core::fabric::Fabric;
use crate::core::packet::{Hot, NIL};
use crate::core::{NEVER, Tick};
use crate::protocol::Agent;
use crate::rng::mix;

/// A candidate for the crossbar.
#[derive(Clone, Copy)]
pub(super) struct Proposal {
    /// The packet.
    id: u32,
    /// Last packet of its queue; none if it is alone at its output.
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
    /// Its input took another proposal.
    lost: bool,
    found: Option<Proposal>,
}

impl Open {
    fn new(port: u32) -> Self {
        Self { port, input_free: NEVER, full: false, lost: false, found: None }
    }
}

impl<const W: usize, const V: usize, const Q: bool> State<W, V, Q> {
    /// Arbitrates at all pending outputs, then does what they left to do.
    ///
    /// Every output proposes to an input; an input takes the best proposal, and the outputs that lost try again when
    /// all winners have crossed.
    pub(super) fn settle_pass(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        if self.interleave {
            self.slip(fabric);
        }
        let (mut all, mut pending) = (std::mem::take(&mut self.open), std::mem::take(&mut self.pending));
        let mut lost = std::mem::take(&mut self.lost);
        self.pass = self.pass.wrapping_add(1);
        for &port in &pending {
            self.outputs[port].listed = false;
            let mut open = Open::new(port);
            if !Q {
                fabric.take_credits(port);
            }
            self.propose(fabric, &mut open);
            let at = all.len();
            all.push(open);
            self.claim(fabric, &mut all, &mut lost, at);
        }
        pending.clear();
        self.pending = pending;
        for open in &all {
            if let Some(found) = open.found {
                self.cross(fabric, open.port, found, agent);
            }
            if !open.lost {
                self.finish(fabric, open, agent);
            }
        }
        while !lost.is_empty() {
            self.settle_lost(fabric, &mut all, &mut lost, agent);
        }
        all.clear();
        (self.open, self.lost) = (all, lost);
    }

    /// Gives an output's proposal to its input; of two proposals the better one stays, unless the input can take both.
    #[inline(always)]
    fn claim(&mut self, fabric: &mut Fabric, all: &mut [Open], lost: &mut Vec<u32>, at: usize) {
        let Some(found) = &all[at].found else { return };
        if self.parallel_reads {
            return;
        }
        let pass = self.pass;
        let claim = self.claim_of(fabric, all[at].port, found.input);
        let before = std::mem::replace(claim, Claim { pass, by: at as u32 });
        if before.pass == pass {
            self.contest(fabric, all, lost, [before.by, at as u32]);
        }
    }

    #[inline(always)]
    fn claim_of<'a>(&'a mut self, fabric: &'a mut Fabric, port: u32, input: u32) -> &'a mut Claim {
        let output = &self.outputs[port];
        if input == output.radix as u32 {
            &mut self.records[output.switch].claim
        } else {
            &mut fabric.inlets[output.base + input].claim
        }
    }

    /// Leaves one of two proposals to an input: that of the better class, then the next in round robin over the outputs.
    #[inline(never)]
    fn contest(&mut self, fabric: &mut Fabric, all: &mut [Open], lost: &mut Vec<u32>, rivals: [u32; 2]) {
        let open = &all[rivals[0] as usize];
        let (output, found) = (&self.outputs[open.port], open.found.as_ref().expect("it proposed"));
        let (radix, base) = (output.radix as u32, output.base);
        let turn = self.turn(fabric, output, found.input) as u32;
        let rank = |open: &Open| {
            let number = open.port - base;
            // The turn may be the number of ports: it is that of the first then.
            (open.found.as_ref().map(|found| found.class), number + if number >= turn { 0 } else { radix })
        };
        let first = rank(open) < rank(&all[rivals[1] as usize]);
        let [winner, loser] = if first { rivals } else { [rivals[1], rivals[0]] };
        let open = &mut all[loser as usize];
        let found = open.found.take().expect("it proposed");
        open.lost = true;
        lost.push(loser);
        self.claim_of(fabric, open.port, found.input).by = winner;
    }

    /// Lets the outputs that lost try again.
    #[inline(never)]
    fn settle_lost(
        &mut self,
        fabric: &mut Fabric,
        all: &mut [Open],
        lost: &mut Vec<u32>,
        agent: &mut dyn Agent,
    ) {
        self.pass = self.pass.wrapping_add(1);
        let trying = lost.len();
        for at in 0..trying {
            let open = lost[at] as usize;
            all[open].lost = false;
            self.propose(fabric, &mut all[open]);
            self.claim(fabric, all, lost, open);
        }
        for at in lost.drain(..trying) {
            let open = &all[at as usize];
            if let Some(found) = open.found {
                self.cross(fabric, open.port, found, agent);
            }
            if !open.lost {
                self.finish(fabric, open, agent);
            }
        }
    }

    /// When an input's path into the crossbar is free.
    #[inline(always)]
    fn free_at(&self, fabric: &Fabric, output: &Output<W, V>, input: u32) -> Tick {
        if input == output.radix as u32 {
            self.records[output.switch].free_at
        } else {
            fabric.inlets[output.base + input].free_at
        }
    }

    /// The output that an input's round robin starts from.
    fn turn(&self, fabric: &Fabric, output: &Output<W, V>, input: u32) -> u16 {
        if input == output.radix as u32 {
            self.records[output.switch].turn
        } else {
            fabric.inlets[output.base + input].turn
        }
    }

    /// The candidate of an output that can take one over the crossbar now.
    #[inline(always)]
    fn propose(&self, fabric: &Fabric, open: &mut Open) {
        let output = &self.outputs[open.port];
        debug_assert!(output.lone == NIL || output.asking == 0);
        if output.crossbar_free > fabric.now {
            return;
        }
        if output.lone != NIL {
            open.found = self.propose_lone(fabric, output, open);
        } else if output.classes != 0 {
            (open.input_free, open.full) = (NEVER, false);
            open.found = self.pick(fabric, output, open);
        }
    }

    /// The only packet that waits for an output, if its input is free and there is space ahead.
    #[inline(always)]
    fn propose_lone(&self, fabric: &Fabric, output: &Output<W, V>, open: &mut Open) -> Option<Proposal> {
        let (id, input) = (output.lone, output.lone_input as u32);
        let free = self.free_at(fabric, output, input);
        if free > fabric.now {
            open.input_free = free;
            return None;
        }
        open.input_free = NEVER;
        let hot = &fabric.pool.hot[id];
        if !self.fits(fabric, open.port, output, hot) {
            open.full = true;
            return None;
        }
        Some(Proposal { id, queue: NIL, input, class: self.class_of[hot.next_vc as usize] })
    }

    /// The candidate of an output with packets in its cells: as a rule the next of the best class whose input is free.
    #[inline(always)]
    fn pick(&self, fabric: &Fabric, output: &Output<W, V>, open: &mut Open) -> Option<Proposal> {
        let class = output.classes.trailing_zeros() as u8;
        if self.arbitration == Arbitration::RoundRobin {
            let requests = &output.requests[class as usize];
            let mut input = requests.next_from(output.turns[class as usize] as usize)? as u32;
            let free = self.free_at(fabric, output, input);
            if free > fabric.now {
                open.input_free = free;
                input = if output.asking == 1 {
                    NIL
                } else {
                    self.next_free(fabric, output, (class, input), open)
                };
            }
            let found = if input == NIL { None } else { self.ready(fabric, output, (class, input), open) };
            if found.is_some() || input == NIL && output.classes == 1 << class {
                return found;
            }
        }
        self.pick_any(fabric, output, open)
    }

    /// The next input of a class that is free, after one that is not; `NIL` if there is none.
    #[inline(never)]
    fn next_free(
        &self,
        fabric: &Fabric,
        output: &Output<W, V>,
        (class, busy): (u8, u32),
        open: &mut Open,
    ) -> u32 {
        let requests = &output.requests[class as usize];
        let mut input = busy as usize;
        loop {
            input = requests.next_from(input + 1).unwrap_or(busy as usize);
            if input == busy as usize {
                return NIL;
            }
            let free = self.free_at(fabric, output, input as u32);
            if free <= fabric.now {
                return input as u32;
            }
            open.input_free = open.input_free.min(free);
        }
    }

    /// The candidate of the best class that has one.
    #[inline(never)]
    fn pick_any(&self, fabric: &Fabric, output: &Output<W, V>, open: &mut Open) -> Option<Proposal> {
        let mut asking = output.classes;
        loop {
            let class = asking.trailing_zeros() as u8;
            let found = self.pick_of(fabric, output, class, open);
            asking &= asking - 1;
            if found.is_some() || asking == 0 {
                return found;
            }
        }
    }

    /// The candidate of a class by the arbiter's rule among free inputs with space ahead.
    fn pick_of(
        &self,
        fabric: &Fabric,
        output: &Output<W, V>,
        class: u8,
        open: &mut Open,
    ) -> Option<Proposal> {
        let requests = &output.requests[class as usize];
        let first = requests.next_from(output.turns[class as usize] as usize)?;
        if self.arbitration != Arbitration::RoundRobin {
            return self.pick_by_rank(fabric, output, (class, first), open);
        }
        let mut input = first;
        loop {
            let found = self.candidate(fabric, output, (class, input as u32), open);
            if found.is_some() {
                return found;
            }
            input = requests.next_from(input + 1).unwrap_or(first);
            if input == first {
                return None;
            }
        }
    }

    /// The candidate of a class that comes first by age or by chance; of equals, the first in round robin.
    #[inline(never)]
    fn pick_by_rank(
        &self,
        fabric: &Fabric,
        output: &Output<W, V>,
        (class, first): (u8, usize),
        open: &mut Open,
    ) -> Option<Proposal> {
        let requests = &output.requests[class as usize];
        let (mut input, mut best) = (first, None::<(u64, Proposal)>);
        loop {
            if let Some(found) = self.candidate(fabric, output, (class, input as u32), open) {
                let rank = self.rank(fabric, open.port, found);
                if best.is_none_or(|(least, _)| rank < least) {
                    best = Some((rank, found));
                }
            }
            input = requests.next_from(input + 1).unwrap_or(first);
            if input == first {
                return best.map(|(_, found)| found);
            }
        }
    }

    /// The order of candidates of equal class: arrival for age, a hash for random arbitration.
    #[inline(never)]
    fn rank(&self, fabric: &Fabric, port: u32, found: Proposal) -> u64 {
        if self.arbitration == Arbitration::Age {
            return fabric.pool.notes[found.id].arrived;
        }
        let output = &self.outputs[port];
        let switch = fabric.share.switches[output.switch as usize];
        let key = (switch as u64) << 32 | ((port - output.base) as u64) << 16 | found.input as u64;
        mix(mix(self.seed, key), fabric.now)
    }

    /// The candidate of an input, if the input is free.
    #[inline(always)]
    fn candidate(
        &self,
        fabric: &Fabric,
        output: &Output<W, V>,
        place: (u8, u32),
        open: &mut Open,
    ) -> Option<Proposal> {
        let free = self.free_at(fabric, output, place.1);
        if free > fabric.now {
            open.input_free = open.input_free.min(free);
            return None;
        }
        self.ready(fabric, output, place, open)
    }

    /// The first queue of a cell whose head fits in its output queue.
    #[inline(always)]
    fn ready(
        &self,
        fabric: &Fabric,
        output: &Output<W, V>,
        (class, input): (u8, u32),
        open: &mut Open,
    ) -> Option<Proposal> {
        let radix = output.radix as u32;
        let voq = self.voq[class as usize] || input == radix;
        let queue = self.cells[output.cell + class as u32 * (radix + 1) + input];
        let last = &fabric.pool.hot[queue];
        let id = if voq { last.next } else { queue };
        if self.fits(fabric, open.port, output, &fabric.pool.hot[id]) {
            return Some(Proposal { id, queue, input, class });
        }
        open.full = true;
        let queue = self.next_ready(fabric, output, open.port, (last.sibling, voq))?;
        let id = if voq { fabric.pool.hot[queue].next } else { queue };
        Some(Proposal { id, queue, input, class })
    }

    /// The first queue of a cell, from one on, whose head fits.
    #[inline(never)]
    fn next_ready(
        &self,
        fabric: &Fabric,
        output: &Output<W, V>,
        port: u32,
        (mut queue, voq): (u32, bool),
    ) -> Option<u32> {
        while queue != NIL {
            let last = &fabric.pool.hot[queue];
            let id = if voq { last.next } else { queue };
            if self.fits(fabric, port, output, &fabric.pool.hot[id]) {
                return Some(queue);
            }
            queue = last.sibling;
        }
        None
    }

    /// Whether a packet fits in its output queue. The packet under way keeps its space until its tail has left.
    #[inline(always)]
    fn fits(&self, fabric: &Fabric, port: u32, output: &Output<W, V>, hot: &Hot) -> bool {
        if !Q {
            // An output's crossbar path is as long in use as its channel.
            return fabric.credit(port, hot.next_vc) >= fabric.room_needed(hot);
        }
        let channel = &fabric.channels[port];
        let busy = channel.free_at > fabric.now;
        if !busy && output.queued.is_empty() {
            return true;
        }
        let under_way = if busy && output.leaving == hot.next_vc { channel.sending as u32 } else { 0 };
        let used = fabric.queued(port, hot.next_vc);
        used + under_way + fabric.room_needed(hot) <= self.output_buffer
    }

    /// Moves a packet over the crossbar: on to its channel if that is free, else into its output queue.
    #[inline(always)]
    fn cross(&mut self, fabric: &mut Fabric, port: u32, found: Proposal, agent: &mut dyn Agent) {
        let Proposal { id, queue, input, class } = found;
        fabric.leave_input(id);
        let hot = &mut fabric.pool.hot[id];
        let (flits, vc, next_vc) = (hot.flits(), hot.vc, hot.next_vc);
        let alone = fabric.now + self.crossbar[flits] as Tick;
        let end = alone.max(hot.tail);
        let held = if self.interleave { alone } else { end };
        hot.tail = end;
        let output = &mut self.outputs[port];
        output.crossbar_free = held;
        output.turns[class as usize] = (input + 1) as u16;
        let (idle, base, switch) = (output.queued.is_empty(), output.base, output.switch);
        let (radix, turn) = (output.radix as u32, (port - base + 1) as u16);
        // With parallel reads the input is free for other outputs at once.
        let held = if self.parallel_reads { fabric.now } else { held };
        if queue == NIL {
            output.lone = NIL;
        } else {
            let seat = self.records[switch].seat;
            self.leave_cell(fabric, &seat, port, (class, input), queue);
        }
        if input == radix {
            let record = &mut self.records[switch];
            (record.free_at, record.turn) = (held, turn);
        } else {
            let inlet = &mut fabric.inlets[base + input];
            (inlet.free_at, inlet.turn) = (held, turn);
            fabric.release(base + input, vc, flits, end);
        }
        if !Q {
            // It was proposed because its channel is free and has credit; no more can cross before the channel is free again.
            self.send(fabric, port, id, next_vc, agent);
            self.outputs[port].crossbar_free = fabric.channels[port].free_at;
            return;
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
