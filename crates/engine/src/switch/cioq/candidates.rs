//! What an output proposes to an input: the candidates for the crossbar.
use super::Arbitration;
use super::crossbar::{Open, Proposal};
use super::state::{Output, Rules, State};
use crate::core::fabric::Fabric;
use crate::core::packet::{Hot, NIL};
use crate::core::{NEVER, Tick};
use crate::rng::mix;

impl<const W: usize, const V: usize> State<W, V> {
    /// The candidate of an output that can take one over the crossbar now.
    #[inline(always)]
    pub(super) fn propose(&self, fabric: &mut Fabric, open: &mut Open) {
        let output = &self.outputs[open.port];
        debug_assert!(output.lone == NIL || output.classes == 0);
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
    fn propose_lone(&self, fabric: &mut Fabric, output: &Output<W, V>, open: &mut Open) -> Option<Proposal> {
        let (id, input) = (output.lone, output.lone_input as u32);
        let free = self.inputs[output.input(input)].free_at;
        if free > fabric.now {
            open.input_free = free;
            return None;
        }
        open.input_free = NEVER;
        if !self.rules.fits(fabric, open.port, output, id, 0) {
            open.full = true;
            return None;
        }
        let class = self.rules.class_of[fabric.pool.hot[id].next_vc as usize];
        Some(Proposal { id, queue: NIL, input, class })
    }

    /// The candidate of an output with packets in its cells: that of the best class that has one.
    #[inline(always)]
    fn pick(&self, fabric: &mut Fabric, output: &Output<W, V>, open: &mut Open) -> Option<Proposal> {
        if output.passed > output.radix
            && let Some(found) = self.pick_late(fabric, output, open)
        {
            return found;
        }
        let mut classes = output.classes;
        loop {
            let class = classes.trailing_zeros() as u8;
            let found = match self.rules.arbitration {
                Arbitration::RoundRobin => self.pick_next(fabric, output, class, open),
                Arbitration::Age | Arbitration::Random => self.pick_best(fabric, output, class, open),
            };
            classes &= classes - 1;
            if found.is_some() || classes == 0 {
                return found;
            }
        }
    }

    /// The candidate of a class in round robin: as a rule its first one, else the next whose input is free and whose head fits.
    #[inline(always)]
    fn pick_next(
        &self,
        fabric: &mut Fabric,
        output: &Output<W, V>,
        class: u8,
        open: &mut Open,
    ) -> Option<Proposal> {
        let requests = &output.requests[class as usize];
        let first = requests.next_from(output.turns[class as usize] as usize)?;
        let found = self.candidate(fabric, output, (class, first as u32), open);
        if found.is_some() || requests.is_single() {
            return found;
        }
        self.pick_after(fabric, output, (class, first), open)
    }

    /// The first candidate of a class after an input that has none.
    #[inline(never)]
    fn pick_after(
        &self,
        fabric: &mut Fabric,
        output: &Output<W, V>,
        (class, first): (u8, usize),
        open: &mut Open,
    ) -> Option<Proposal> {
        let requests = &output.requests[class as usize];
        let mut input = first;
        loop {
            input = requests.next_from(input + 1).unwrap_or(first);
            if input == first {
                return None;
            }
            let found = self.candidate(fabric, output, (class, input as u32), open);
            if found.is_some() {
                return found;
            }
        }
    }

    /// The candidate of a class that is the oldest, or has the best chance; of equals, the first in round robin. A better one that lacks
    /// room, or one as good, is owed that first.
    #[inline(never)]
    fn pick_best(
        &self,
        fabric: &mut Fabric,
        output: &Output<W, V>,
        class: u8,
        open: &mut Open,
    ) -> Option<Proposal> {
        let requests = &output.requests[class as usize];
        let first = requests.next_from(output.turns[class as usize] as usize)?;
        loop {
            let (mut input, mut best, mut lacking) = (first, None::<(u64, Proposal)>, None::<(u64, u32)>);
            loop {
                open.short = NIL;
                let found = self.candidate(fabric, output, (class, input as u32), open);
                let rank = |fabric: &Fabric, id: u32| match self.rules.arbitration {
                    // It has won before.
                    Arbitration::Random if self.is_owed(fabric, open.port, id) => 0,
                    _ => self.rules.rank(fabric, (output, open.port), input as u32, id),
                };
                if let Some(found) = found {
                    let rank = rank(fabric, found.id);
                    if best.is_none_or(|(least, _)| rank < least) {
                        best = Some((rank, found));
                    }
                }
                if open.short != NIL {
                    let rank = rank(fabric, open.short);
                    if lacking.is_none_or(|(least, _)| rank < least) {
                        lacking = Some((rank, open.short));
                    }
                }
                input = requests.next_from(input + 1).unwrap_or(first);
                if input == first {
                    break;
                }
            }
            match lacking {
                Some((rank, id)) if best.is_none_or(|(least, _)| rank <= least) => {
                    self.owe(fabric, open.port, id);
                }
                _ => return best.map(|(_, found)| found),
            }
        }
    }

    /// The candidate of an input, if the input is free.
    #[inline(always)]
    pub(super) fn candidate(
        &self,
        fabric: &mut Fabric,
        output: &Output<W, V>,
        place: (u8, u32),
        open: &mut Open,
    ) -> Option<Proposal> {
        let free = self.inputs[output.input(place.1)].free_at;
        if free > fabric.now {
            open.input_free = open.input_free.min(free);
            if open.skipped.is_none() {
                open.skipped = Some((place.0, place.1 as u16));
            }
            return None;
        }
        self.ready(fabric, output, place, open)
    }

    /// The first queue of a cell whose head may cross; by age, that with the oldest.
    #[inline(always)]
    fn ready(
        &self,
        fabric: &mut Fabric,
        output: &Output<W, V>,
        (class, input): (u8, u32),
        open: &mut Open,
    ) -> Option<Proposal> {
        let voq = self.is_voq(output.radix as u32, class, input);
        let queue = self.cells[output.cell_of(class, input)];
        let Hot { next, sibling, .. } = fabric.pool.hot[queue];
        if sibling != NIL && self.rules.arbitration == Arbitration::Age {
            return self.oldest_ready(fabric, output, open, (queue, voq)).map(|(id, queue)| Proposal {
                id,
                queue,
                input,
                class,
            });
        }
        let id = if voq { next } else { queue };
        if self.may_cross(fabric, output, id, open) {
            return Some(Proposal { id, queue, input, class });
        }
        let queue = self.next_ready(fabric, output, open, (sibling, voq))?;
        let id = if voq { fabric.pool.hot[queue].next } else { queue };
        Some(Proposal { id, queue, input, class })
    }

    /// The first queue of a cell, from one on, whose head may cross.
    #[inline(never)]
    fn next_ready(
        &self,
        fabric: &mut Fabric,
        output: &Output<W, V>,
        open: &mut Open,
        (mut queue, voq): (u32, bool),
    ) -> Option<u32> {
        while queue != NIL {
            let Hot { next, sibling, .. } = fabric.pool.hot[queue];
            let id = if voq { next } else { queue };
            if self.may_cross(fabric, output, id, open) {
                return Some(queue);
            }
            queue = sibling;
        }
        None
    }

    /// The oldest head that may cross of the queues of a cell, and its queue. Of those that lack room the oldest is noted.
    #[inline(never)]
    fn oldest_ready(
        &self,
        fabric: &mut Fabric,
        output: &Output<W, V>,
        open: &mut Open,
        (mut queue, voq): (u32, bool),
    ) -> Option<(u32, u32)> {
        let (mut best, mut short) = (None::<(Tick, u32, u32)>, std::mem::replace(&mut open.short, NIL));
        while queue != NIL {
            let Hot { next, sibling, .. } = fabric.pool.hot[queue];
            let id = if voq { next } else { queue };
            let arrived = fabric.pool.notes[id].arrived;
            if self.may_cross(fabric, output, id, open) {
                if best.is_none_or(|(oldest, ..)| arrived < oldest) {
                    best = Some((arrived, id, queue));
                }
            } else if open.short != NIL {
                let lacking = std::mem::replace(&mut open.short, NIL);
                if short == NIL || arrived < fabric.pool.notes[short].arrived {
                    short = lacking;
                }
            }
            queue = sibling;
        }
        open.short = short;
        best.map(|(_, id, queue)| (id, queue))
    }

    /// Whether the head of a queue may cross: it fits in the room that is not owed to another. In round robin the first that does not is
    /// owed room at once; where the best is looked for, it is noted.
    #[inline(always)]
    fn may_cross(&self, fabric: &mut Fabric, output: &Output<W, V>, id: u32, open: &mut Open) -> bool {
        let aside = self.aside(fabric, (output, open.port), id);
        if self.rules.fits(fabric, open.port, output, id, aside) {
            return true;
        }
        open.full = true;
        if self.rules.arbitration == Arbitration::RoundRobin {
            self.owe(fabric, open.port, id);
        } else if open.short == NIL && self.could_owe(fabric, open.port, id) {
            open.short = id;
        }
        false
    }
}

impl<const V: usize> Rules<V> {
    /// The order of packets where they do not go by turns; `who` is their input, or at a channel their virtual channel.
    pub(super) fn rank<const W: usize>(
        &self,
        fabric: &Fabric,
        (output, port): (&Output<W, V>, u32),
        who: u32,
        id: u32,
    ) -> u64 {
        match self.arbitration {
            Arbitration::Random => {
                // A hash of who meets where and when.
                let switch = fabric.share.switches[output.switch as usize];
                let key = (switch as u64) << 32 | ((port - output.base) as u64) << 16 | who as u64;
                mix(mix(self.seed, key), fabric.now)
            }
            Arbitration::Age | Arbitration::RoundRobin => fabric.pool.notes[id].arrived,
        }
    }

    /// Whether a packet fits in its output queue, and `aside` flits more. The packet under way keeps its space until its tail has left.
    #[inline(always)]
    pub(super) fn fits<const W: usize>(
        &self,
        fabric: &mut Fabric,
        port: u32,
        output: &Output<W, V>,
        id: u32,
        aside: u32,
    ) -> bool {
        let hot = &fabric.pool.hot[id];
        let needed = fabric.room_needed(hot) + aside;
        if !Self::QUEUES {
            // An output's crossbar path is as long in use as its channel.
            return fabric.affords(port, hot.next_vc, needed);
        }
        let channel = &fabric.channels[port];
        let busy = channel.free_at > fabric.now;
        if !busy && output.queued.is_empty() {
            return true;
        }
        let under_way = if busy && output.leaving == hot.next_vc { channel.sending as u32 } else { 0 };
        fabric.queued(port, hot.next_vc) + under_way + needed <= self.output_buffer
    }
}
