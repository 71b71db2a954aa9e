//! How a partition uses its switches that have a crossbar.
use super::state::{Fresh, Input, Output, Rules, Seat, State};
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::core::plan::{Plan, Share};
use crate::protocol::{Agent, Interest};
use crate::switch::arch::{Architecture, Routed, Waiting};
use crate::switch::bits::Set;
use crate::switch::deadlines::Deadlines;
use crate::switch::parameters::{Parameters, Path, Voq};
use crate::switch::turns::{CLASSES_MAX, class_of, class_sets};
use std::cell::Cell;

impl<const W: usize, const V: usize> Architecture for State<W, V> {
    fn new(plan: &Plan, share: &Share, switch: &Parameters) -> Self {
        let (classes, vcs) = (plan.vcs.classes.len(), plan.vcs.count());
        assert!(
            classes <= CLASSES_MAX && (vcs <= V * 64 || !Self::QUEUES),
            "a switch state too small for its plan"
        );
        assert!(plan.output_buffer.is_some() == Self::QUEUES, "output queues that the plan does not have");
        let (mut seats, mut outputs, mut inputs, mut cells) = (Vec::new(), Vec::new(), 0, 0);
        for (switch, span) in share.ports.windows(2).enumerate() {
            let radix = span[1] - span[0];
            assert!((radix as usize) < W * 64, "a switch state too small for its plan");
            let seat = Seat { port: span[0], radix, input: inputs, switch: switch as u32 };
            seats.push(seat);
            let row = classes as u32 * (radix + 1);
            let output = |number| Output::new(&seat, cells + number * row);
            outputs.extend((0..radix).map(output));
            inputs += radix + 1;
            cells += radix * row;
        }
        let (voq, parallel_reads) = match &switch.fabric {
            Path::Crossbar { voq, parallel_reads, .. } => (voqs(voq, plan), *parallel_reads),
            Path::Unlimited => unreachable!("a crossbar that the switch does not have"),
        };
        let fifos = if voq == [true; CLASSES_MAX] { 0 } else { inputs as usize * vcs };
        Self {
            seats: seats.into(),
            outputs: outputs.into(),
            inputs: vec![Input::default(); inputs as usize].into(),
            cells: vec![NIL; cells as usize].into(),
            owed: vec![Cell::new(NIL); share.ports.last().map_or(0, |&ports| ports as usize) * vcs].into(),
            unwatched: Vec::new(),
            fresh: Vec::new(),
            pending: Vec::new(),
            pass: 0,
            fifos: vec![NIL; fifos].into(),
            voq,
            deadlines: Deadlines::default(),
            bypass: false,
            passes: false,
            prompt: false,
            vcs: vcs as u32,
            rules: Rules {
                // Without output queues there are no sets of them.
                class_sets: if Self::QUEUES { class_sets(&plan.vcs) } else { [Set::default(); CLASSES_MAX] },
                class_of: class_of(&plan.vcs),
                parallel_reads,
                arbitration: switch.arbitration,
                departures: false,
                interleave: plan.interleave,
                control: (0..).zip(&plan.vcs.classes).map(|(at, of)| (of.control as u8) << at).sum(),
                seed: plan.seed,
                crossbar: plan.crossbar.clone().into(),
                output_buffer: plan.output_buffer.unwrap_or(0),
            },
            open: Vec::new(),
        }
    }

    #[inline(always)]
    fn waiting(&self, port: u32) -> u32 {
        self.outputs[port].waiting
    }

    #[inline(always)]
    fn expect(&mut self, port: u32, now: Tick) {
        let output = &mut self.outputs[port];
        (output.crowded, output.met) = (output.met == now as u32, now as u32);
    }

    #[inline(always)]
    fn fetch(&self, port: u32) {
        self.outputs.fetch(port);
    }

    #[inline(always)]
    fn fetch_place(&self, fabric: &Fabric, Routed { port, input, id }: Routed) {
        let output = &self.outputs[port];
        let (class, input) = (self.rules.class_of[fabric.pool.hot[id].next_vc as usize], input - output.base);
        self.inputs.fetch(output.input(input));
        self.cells.fetch(output.cell_of(class, input));
    }

    #[inline(always)]
    fn accept(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent, Routed { port, input, id }: Routed) {
        let output = &mut self.outputs[port];
        output.waiting += fabric.pool.hot[id].flits();
        let made_here = input == NIL;
        let input = if made_here { output.radix as u32 } else { input - output.base };
        let fresh = Fresh { port, input, id };
        if self.prompt {
            if !self.pass(fabric, fresh, agent) {
                self.enter(fabric, fresh);
            }
        } else {
            self.accept_late(fabric, fresh, made_here);
        }
    }

    #[inline]
    fn wake(&mut self, port: u32) {
        self.activate(port);
    }

    fn deadlines(&mut self) -> &mut Deadlines {
        &mut self.deadlines
    }

    fn expire(&mut self, fabric: &mut Fabric, input: u32, id: u32) {
        let seat = self.seats[self.outputs[input].switch];
        let (input, hot) = (input - seat.port, fabric.pool.hot[id]);
        let class = self.rules.class_of[hot.next_vc as usize];
        // The packet went on, and its number may belong to another by now.
        if hot.out as u32 >= seat.radix || !self.deadlines.has_passed(fabric, id) {
            return;
        }
        let port = seat.port + hot.out as u32;
        let output = &mut self.outputs[port];
        let alone = output.lone == id && output.lone_input as u32 == input;
        let mut queue = self.cells[output.cell_of(class, input)];
        while queue != NIL {
            let at = &fabric.pool.hot[queue];
            let head = if self.voq[class as usize] { at.next } else { queue };
            if head == id {
                break;
            }
            queue = at.sibling;
        }
        if queue == NIL && !alone {
            return;
        }
        output.waiting -= hot.flits();
        if !Self::QUEUES && output.waiting == 0 {
            fabric.probe.emptied(port, fabric.now);
        }
        self.inputs[output.input(input)].held -= 1;
        fabric.dropped.push((seat.port + input, id));
        if alone {
            output.lone = NIL;
        } else {
            self.leave_cell(fabric, port, (class, input), queue);
            // Smaller ones may have left room for it.
            self.activate(port);
        }
    }

    fn settle(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        if !self.fresh.is_empty() {
            self.enter_fresh(fabric, agent);
        }
        while !self.pending.is_empty() {
            self.settle_pass(fabric, agent);
        }
        if !self.unwatched.is_empty() {
            self.watch(fabric);
        }
        self.deadlines.arm(fabric);
    }

    fn occupancy(&self, switch: u32) -> u64 {
        let seat = &self.seats[switch];
        let ports = seat.port as usize..(seat.port + seat.radix) as usize;
        self.outputs.as_slice()[ports].iter().map(|output| output.waiting as u64).sum()
    }

    fn each_queued(&self, fabric: &Fabric, visit: &mut dyn FnMut(u32, u8, u32)) {
        if !Self::QUEUES {
            return self.each_waiting(fabric, &mut |waiting| {
                let hot = &fabric.pool.hot[waiting.id];
                if waiting.first {
                    let port = fabric.inlets[waiting.input].base + hot.out as u32;
                    let needed =
                        fabric.room_needed(hot) + self.aside(fabric, (&self.outputs[port], port), waiting.id);
                    visit(port, hot.next_vc, needed);
                }
            });
        }
        for (port, output) in (0..).zip(self.outputs.iter()) {
            fabric.each_head(port, output.queued, visit);
        }
    }

    fn each_waiting(&self, fabric: &Fabric, visit: &mut dyn FnMut(Waiting)) {
        for seat in self.seats.iter() {
            (seat.port..seat.port + seat.radix).for_each(|port| self.each_at(fabric, seat, port, visit));
        }
    }

    fn prepare(&mut self, interest: &Interest) {
        self.deadlines = Deadlines::new(interest.time_to_wait);
        self.rules.departures = interest.departures;
        self.passes = !self.rules.interleave;
        self.bypass = self.passes && self.voq == [true; CLASSES_MAX];
        self.prompt = self.passes && !interest.last_hop && interest.time_to_wait.is_none();
    }
}

/// Which traffic classes have virtual output queues; those that do not exist have.
fn voqs(voq: &Voq, plan: &Plan) -> [bool; CLASSES_MAX] {
    let mut has = [true; CLASSES_MAX];
    for (has, class) in has.iter_mut().zip(&plan.vcs.classes) {
        *has = match voq {
            Voq::All(all) => *all,
            Voq::Classes(names) => names.iter().any(|name| name == class.name),
        };
    }
    has
}
