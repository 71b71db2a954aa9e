//! Arbitration for the crossbar: every output proposes one candidate to its input, every input takes one proposal.
use super::Arbitration;
use super::state::{Fresh, Input, Output, Rules, State};
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::core::{NEVER, Tick};
use crate::protocol::Agent;

/// A candidate for the crossbar.
#[derive(Clone, Copy)]
pub(super) struct Proposal {
    /// The packet.
    pub id: u32,
    /// Last packet of its queue; none if it is alone at its output.
    pub queue: u32,
    pub input: u32,
    pub class: u8,
}

/// An output to be looked at, and what kept it from being matched.
pub(super) struct Open {
    pub port: u32,
    /// When the first busy candidate input is free.
    pub input_free: Tick,
    /// An output queue was full.
    pub full: bool,
    /// A packet that was found to lack room, and is not owed any yet.
    pub short: u32,
    /// The first candidate whose input was busy: its class and input.
    pub skipped: Option<(u8, u16)>,
    /// Its input took another proposal.
    lost: bool,
    pub found: Option<Proposal>,
}

impl Open {
    fn new(port: u32) -> Self {
        Self { port, input_free: NEVER, full: false, short: NIL, skipped: None, lost: false, found: None }
    }
}

impl<const W: usize, const V: usize> State<W, V> {
    /// Arbitrates at all pending outputs, then does what they left to do.
    ///
    /// Every output proposes to an input; an input takes the best proposal, and the outputs that lost try again in the next
    /// pass, when all winners have crossed.
    #[inline]
    pub(super) fn settle_pass(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        if self.rules.interleave {
            self.slip(fabric, agent);
        }
        let (mut all, mut pending) = (std::mem::take(&mut self.open), std::mem::take(&mut self.pending));
        self.pass = self.pass.wrapping_add(1);
        for &port in &pending {
            let output = &mut self.outputs[port];
            output.listed = false;
            let mut open = Open::new(port);
            if output.asks() {
                self.propose(fabric, &mut open);
            }
            let Some(found) = open.found else {
                // What it waits for does not depend on others.
                self.rules.finish(fabric, &mut self.outputs[port], &open, agent);
                continue;
            };
            all.push(open);
            if !self.rules.parallel_reads {
                self.claim(fabric, &mut all, self.outputs[port].input(found.input));
            }
        }
        pending.clear();
        self.pending = pending;
        if self.rules.parallel_reads && !self.bypass {
            // Two plain queues of one input may move up at once, and meet in the cell of another output: in which order must not hang on
            // the order in which outputs came to be looked at.
            all.sort_unstable_by_key(|open| open.port);
        }
        for open in &all {
            if let Some(found) = open.found {
                self.cross(fabric, open.port, found, agent);
                if let Some(skipped) = open.skipped {
                    self.outputs[open.port].pass_over(skipped);
                }
            }
            if open.lost {
                self.activate(open.port);
            } else {
                self.rules.finish(fabric, &mut self.outputs[open.port], open, agent);
            }
        }
        all.clear();
        self.open = all;
    }

    /// Gives the last proposal to its input, which can take one; of two proposals the better one stays.
    #[inline(always)]
    fn claim(&mut self, fabric: &Fabric, all: &mut [Open], input: u32) {
        let (input, at) = (&mut self.inputs[input], all.len() as u32 - 1);
        let before = (std::mem::replace(&mut input.pass, self.pass), std::mem::replace(&mut input.by, at));
        if before.0 == self.pass {
            self.contest(fabric, all, [before.1, at]);
        }
    }

    /// Leaves one of two proposals to an input: that of the better class, then with arbitration by age the older, then the
    /// next in the class's round robin over the outputs.
    #[inline(never)]
    fn contest(&mut self, fabric: &Fabric, all: &mut [Open], rivals: [u32; 2]) {
        let rank = |at: u32| {
            let open = &all[at as usize];
            let (output, found) = (&self.outputs[open.port], open.found.as_ref().expect("it proposed"));
            let number = open.port - output.base;
            let turn = self.inputs[output.input(found.input)].turns[found.class as usize] as u32;
            let age = self.rules.arbitration == Arbitration::Age;
            let arrived = if age { fabric.pool.notes[found.id].arrived } else { 0 };
            // The turn may be the number of ports: it is that of the first then.
            (found.class, arrived, number + if number >= turn { 0 } else { output.radix as u32 })
        };
        let [winner, loser] = if rank(rivals[0]) < rank(rivals[1]) { rivals } else { [rivals[1], rivals[0]] };
        let open = &mut all[loser as usize];
        let found = open.found.take().expect("it proposed");
        open.lost = true;
        let input = self.outputs[open.port].input(found.input);
        self.inputs[input].by = winner;
    }

    /// Moves a packet out of where it waits and over the crossbar.
    #[inline(always)]
    fn cross(&mut self, fabric: &mut Fabric, port: u32, found: Proposal, agent: &mut dyn Agent) {
        let Proposal { id, queue, input, class } = found;
        if queue == NIL {
            self.outputs[port].lone = NIL;
        } else {
            self.leave_cell(fabric, port, (class, input), queue);
        }
        let output = &mut self.outputs[port];
        let path = &mut self.inputs[output.input(input)];
        path.held -= 1;
        self.deadlines.leave(fabric, id);
        let (flits, vc) = self.rules.carry(fabric, (output, path, port), (class, input), id);
        if !Self::QUEUES {
            // It was proposed because its channel is free and has credit; no more can cross before the channel is free again.
            self.rules.send(fabric, (output, port), (id, vc, flits), agent);
            output.crossbar_free = fabric.channels[port].free_at;
        } else if output.queued.is_empty()
            && fabric.channels[port].free_at <= fabric.now
            && fabric.affords(port, vc, flits)
        {
            self.rules.send(fabric, (output, port), (id, vc, flits), agent);
        } else {
            output.queued.insert(vc as usize);
            fabric.enqueue(port, vc, id, flits);
        }
    }

    /// Takes a packet that has just come in over the crossbar, and on if its channel is free, if it meets nothing: none other came in
    /// for its output in this tick, and nothing waits there or at its input. No output could propose another to its
    /// input then. Returns whether it went.
    #[inline(always)]
    pub(super) fn pass(
        &mut self,
        fabric: &mut Fabric,
        Fresh { port, input, id }: Fresh,
        agent: &mut dyn Agent,
    ) -> bool {
        let now = fabric.now;
        let output = &mut self.outputs[port];
        if output.crowded || output.lone != NIL || output.classes != 0 || output.crossbar_free > now {
            return false;
        }
        let path = &mut self.inputs[output.input(input)];
        if path.held > 0 || path.free_at > now || input == output.radix as u32 || fabric.declines(port) {
            return false;
        }
        let channel_free = fabric.channels[port].free_at;
        let busy = Self::QUEUES && channel_free > now;
        let hot = &fabric.pool.hot[id];
        let (class, vc) = (self.rules.class_of[hot.next_vc as usize], hot.next_vc);
        let needed = if Self::QUEUES { hot.flits() } else { fabric.room_needed(hot) };
        let goes = if busy {
            self.rules.fits(fabric, port, output, id, 0)
        } else {
            output.queued.is_empty() && fabric.affords(port, vc, needed)
        };
        if !goes {
            return false;
        }
        self.deadlines.leave(fabric, id);
        let (flits, _) = self.rules.carry(fabric, (output, path, port), (class, input), id);
        if busy {
            output.queued.insert(vc as usize);
            fabric.enqueue(port, vc, id, flits);
            fabric.wake(port, channel_free);
            return true;
        }
        self.rules.send(fabric, (output, port), (id, vc, flits), agent);
        if !Self::QUEUES {
            output.crossbar_free = fabric.channels[port].free_at;
        }
        true
    }
}

impl<const V: usize> Rules<V> {
    /// Takes a packet over the crossbar: it and both its ends are held, and the packet's buffer is released if it has one. Returns its
    /// flits and its virtual channel behind the crossbar.
    #[inline(always)]
    fn carry<const W: usize>(
        &self,
        fabric: &mut Fabric,
        (output, path, port): (&mut Output<W, V>, &mut Input, u32),
        (class, input): (u8, u32),
        id: u32,
    ) -> (u32, u8) {
        fabric.leave_input(id);
        let hot = &mut fabric.pool.hot[id];
        let (flits, vc, next_vc) = (hot.flits(), hot.vc, hot.next_vc);
        let alone = fabric.now + self.crossbar[flits] as Tick;
        let end = alone.max(hot.tail);
        let held = if self.interleave { alone } else { end };
        hot.tail = end;
        output.crossbar_free = held;
        output.turns[class as usize] = (input + 1) as u16;
        path.turns[class as usize] = (port - output.base + 1) as u16;
        // With parallel reads the input is free for other outputs at once.
        path.free_at = if self.parallel_reads { fabric.now } else { held };
        if input != output.radix as u32 {
            fabric.release(output.base + input, vc, flits, end);
        } else {
            fabric.leave_virtual_input(output.switch, flits);
        }
        (flits, next_vc)
    }
}
