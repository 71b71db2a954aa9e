//! Output queues and the channels behind them.
use super::crossbar::Open;
use super::state::{Output, Rules, State};
use crate::core::fabric::Fabric;
use crate::core::{NEVER, Tick};
use crate::protocol::Agent;
use crate::switch::turns::{Queues, advance};

impl<const W: usize, const V: usize> State<W, V> {
    /// Sends control packets between the flits of other packets, past the crossbar's arbitration: in rounds, one per output
    /// and round, so that the order of outputs does not matter.
    #[inline(never)]
    pub(super) fn slip(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        loop {
            let found: Vec<_> =
                self.pending.iter().filter_map(|&port| Some((port, self.slipping(fabric, port)?))).collect();
            if found.is_empty() {
                return;
            }
            for (port, (class, input)) in found {
                self.slip_one(fabric, port, (class, input), agent);
            }
        }
    }

    /// The class and input of the control packet of an output that can go next.
    fn slipping(&self, fabric: &mut Fabric, port: u32) -> Option<(u8, u32)> {
        let output = &self.outputs[port];
        let mut classes = output.classes & self.rules.control;
        while classes != 0 {
            let class = classes.trailing_zeros() as u8;
            classes &= classes - 1;
            let turn = output.turns[class as usize] as usize;
            let input = output.requests[class as usize].next_from(turn)? as u32;
            let (id, _) = self.first_of(fabric, port, class, input);
            let hot = &fabric.pool.hot[id];
            let (vc, needed) =
                (hot.next_vc, if Self::QUEUES { hot.flits() } else { fabric.room_needed(hot) });
            let queue_empty = !Self::QUEUES || !output.queued.contains(vc as usize);
            if queue_empty && fabric.affords(port, vc, needed) {
                return Some((class, input));
            }
        }
        None
    }

    /// The head of the first queue of a cell, and that queue's last packet.
    pub(super) fn first_of(&self, fabric: &Fabric, port: u32, class: u8, input: u32) -> (u32, u32) {
        let seat = &self.seats[self.outputs[port].switch];
        let queue = self.cells[self.outputs[port].cell_of(class, input)];
        let voq = self.is_voq(seat.radix, class, input);
        (if voq { fabric.pool.hot[queue].next } else { queue }, queue)
    }

    fn slip_one(&mut self, fabric: &mut Fabric, port: u32, cell: (u8, u32), agent: &mut dyn Agent) {
        let (class, input) = cell;
        let (id, queue) = self.first_of(fabric, port, class, input);
        let seat = self.seats[self.outputs[port].switch];
        let hot = &mut fabric.pool.hot[id];
        let (flits, vc) = (hot.flits(), hot.vc);
        let end = (fabric.now + self.rules.crossbar[flits] as Tick).max(hot.tail);
        hot.tail = end;
        self.leave_cell(fabric, port, cell, queue);
        if input != seat.radix {
            fabric.release(seat.port + input, vc, flits, end);
        } else {
            fabric.leave_virtual_input(seat.switch, flits);
        }
        let output = &mut self.outputs[port];
        if self.rules.departures {
            fabric.depart((port, fabric.next_cut(port)), id, output.waiting, agent);
        }
        output.turns[class as usize] = (input + 1) as u16;
        output.waiting -= flits;
        let vc = fabric.pool.hot[id].next_vc;
        advance(&mut output.channel_turns, class, vc);
        if fabric.channels[port].free_at <= fabric.now {
            output.leaving = vc;
        }
        self.inputs[output.input(input)].held -= 1;
        fabric.cut_in(port, id);
        if !Self::QUEUES {
            output.crossbar_free = fabric.channels[port].free_at;
        }
    }
}

impl<const V: usize> Rules<V> {
    /// Starts the channel of an output if it can, and arms the output's wake if it has more to do.
    #[inline(always)]
    pub(super) fn finish<const W: usize>(
        &self,
        fabric: &mut Fabric,
        output: &mut Output<W, V>,
        open: &Open,
        agent: &mut dyn Agent,
    ) {
        let (port, now) = (open.port, fabric.now);
        let mut queued = Self::QUEUES && !output.queued.is_empty();
        if !queued && !output.asks() {
            return;
        }
        if !Self::QUEUES && open.found.is_some() {
            // What crossed is on the channel.
            let credit = if self.slips(output) { credit_to_come(fabric, port) } else { NEVER };
            return fabric.wake(port, credit.min(output.crossbar_free));
        }
        let (mut wake, mut channel_free) = (NEVER, fabric.channels[port].free_at);
        if queued && channel_free <= now {
            self.start_channel(fabric, output, port, agent);
            queued = !output.queued.is_empty();
            channel_free = fabric.channels[port].free_at;
        }
        if channel_free > now {
            if queued || open.full {
                wake = channel_free;
            }
        } else if queued || open.full && !Self::QUEUES {
            wake = fabric.next_credit(port);
            if fabric.probe.ports_recorded() {
                fabric.probe.stalled(port, now);
            }
        }
        if self.slips(output) {
            // A control packet need wait neither for the channel nor for its input.
            wake = wake.min(credit_to_come(fabric, port));
        }
        if output.asks() {
            wake = wake.min(if output.crossbar_free > now { output.crossbar_free } else { open.input_free });
        }
        if wake != NEVER {
            fabric.wake(port, wake);
        }
    }

    /// Whether control packets wait for an output that can go between the flits of others.
    #[inline(always)]
    fn slips<const W: usize>(&self, output: &Output<W, V>) -> bool {
        self.interleave && output.classes & self.control != 0
    }

    /// Starts a packet on a free channel, if one has credit.
    #[inline(always)]
    fn start_channel<const W: usize>(
        &self,
        fabric: &mut Fabric,
        output: &mut Output<W, V>,
        port: u32,
        agent: &mut dyn Agent,
    ) {
        let (of, class_of, class_sets) = (&*output, &*self.class_of, &self.class_sets[..]);
        let queues = Queues { queued: of.queued, turns: &of.channel_turns, class_of, class_sets };
        let rank =
            move |fabric: &Fabric, id| self.rank(fabric, (of, port), fabric.pool.hot[id].next_vc.into(), id);
        let Some(vc) = queues.next(fabric, port, self.arbitration, rank) else { return };
        let (id, flits, more) = fabric.dequeue(port, vc);
        if !more {
            output.queued.remove(vc as usize);
        }
        self.send(fabric, (output, port), (id, vc, flits), agent);
    }

    /// Sends a packet on the free channel of a port.
    #[inline(always)]
    pub(super) fn send<const W: usize>(
        &self,
        fabric: &mut Fabric,
        (output, port): (&mut Output<W, V>, u32),
        (id, vc, flits): (u32, u8, u32),
        agent: &mut dyn Agent,
    ) {
        if self.departures {
            fabric.depart((port, fabric.now), id, output.waiting, agent);
        }
        output.waiting -= flits;
        output.leaving = vc;
        advance(&mut output.channel_turns, self.class_of[vc as usize], vc);
        fabric.transmit(port, id);
    }
}

/// When the next credit comes, if none has that was not needed yet.
fn credit_to_come(fabric: &mut Fabric, port: u32) -> Tick {
    let at = fabric.next_credit(port);
    if at > fabric.now { at } else { NEVER }
}
