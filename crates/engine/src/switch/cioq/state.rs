//! State of the combined input/output-queued switch.
//!
//! A packet that waits alone for an output has a place of its own there, if nothing but arbitration can move it. Others
//! that wait for the crossbar stand in cells, one per (output, traffic class, input). A cell is a list of
//! queues, one per input virtual channel with a packet for that output; a queue is a circular list of packets, known
//! by its last. So memory follows the packets, not the product of ports and virtual channels.
use super::Arbitration;
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::core::plan::{Plan, Share, VCS_MAX};
use crate::core::table::Table;
use crate::protocol::{Agent, Interest};
use crate::switch::arch::{Architecture, Routed, Waiting};
use crate::switch::bits::Set;
use crate::switch::deadlines::Deadlines;
use crate::switch::parameters::{Parameters, Path, Voq};
use crate::switch::turns::{CLASSES_MAX, ChannelTurns, class_of, class_sets};
use std::cell::Cell;

/// An input's path into the crossbar.
#[derive(Clone, Default)]
pub(super) struct Input {
    /// When it is free.
    pub free_at: Tick,
    /// The pass in which an output proposed to it last, and that output, by its place among those of the pass.
    pub pass: u32,
    pub by: u32,
    /// Packets that wait there.
    pub held: u32,
    /// Output that its round robin starts from, per class.
    pub turns: [u16; CLASSES_MAX],
}

/// A packet that has come in for an output (a local port); its input is that of its switch.
#[derive(Clone, Copy)]
pub(super) struct Fresh {
    pub port: u32,
    pub input: u32,
    pub id: u32,
}

/// Where the ports and inputs of a switch are in the tables of its partition.
#[derive(Clone, Copy)]
pub(super) struct Seat {
    /// First local port.
    pub port: u32,
    /// Number of ports; also the number of the virtual input.
    pub radix: u32,
    /// First of its inputs, the virtual ones included.
    pub input: u32,
    /// Local switch.
    pub switch: u32,
}

/// Output side of a port: `W` words of inputs, `V` words of virtual channels. What every packet touches comes first: one cache
/// line.
#[derive(Clone)]
#[repr(C, align(64))]
pub(super) struct Output<const W: usize, const V: usize> {
    /// When the crossbar path to the output is free.
    pub crossbar_free: Tick,
    /// Non-empty output queues.
    pub queued: Set<V>,
    /// Flits waiting: at the inputs for this output and in its output queues, without the packet under way.
    pub waiting: u32,
    /// The packet that waits alone, and its input: it enters its cell only when a second one comes.
    pub lone: u32,
    pub lone_input: u16,
    /// Local switch, its first port, and the number of its ports.
    pub radix: u16,
    pub switch: u32,
    pub base: u32,
    /// First of the cells: (class, input) in order.
    pub cell: u32,
    /// The last tick, but for its upper bits, in which a packet came in for it.
    pub met: u32,
    /// Whether more than one did.
    pub crowded: bool,
    /// Whether it is to be looked at in this tick.
    pub listed: bool,
    /// Virtual channel of the packet under way.
    pub leaving: u8,
    /// Classes that have requests, one bit each.
    pub classes: u8,
    /// Next input in round robin, per class.
    pub turns: [u16; CLASSES_MAX],
    /// Inputs with a packet for this output, per class.
    pub requests: [Set<W>; CLASSES_MAX],
    /// Virtual channels in whose queues it owes room to a packet in its cells.
    pub owing: Cell<u16>,
    /// Packets that it has taken since it passed over a candidate whose input was busy, and that one's class and input (`late`).
    pub passed: u16,
    pub late: (u8, u16),
    /// Next virtual channel in the channel's round robin, per class.
    pub channel_turns: ChannelTurns,
}

/// All switches of a partition that have a crossbar; `W` words hold a switch's inputs, `V` the virtual channels of an output's
/// queues. Where `V` is 0 there are no output queues: an output takes a packet only when its channel is free.
pub struct State<const W: usize, const V: usize> {
    pub(super) seats: Table<Seat>,
    pub(super) outputs: Table<Output<W, V>>,
    /// Inputs: of each switch those of its ports, then the virtual one.
    pub(super) inputs: Table<Input>,
    pub(super) cells: Table<u32>,
    /// By output and virtual channel, the packet to which room is owed (`debts`).
    pub(super) owed: Table<Cell<u32>>,
    /// Packets that came in in this tick and wait for what the switches may have to say in it.
    pub(super) fresh: Vec<Fresh>,
    /// Outputs to look at in this tick.
    pub(super) pending: Vec<u32>,
    /// Counts the passes over pending outputs.
    pub(super) pass: u32,
    /// Last packet of each (input, virtual channel) of the classes without virtual output queues.
    pub(super) fifos: Table<u32>,
    pub(super) voq: [bool; CLASSES_MAX],
    pub(super) deadlines: Deadlines,
    /// A packet that is alone at its output stays out of the cells: all classes have virtual output queues.
    pub(super) bypass: bool,
    /// A packet that meets nothing passes the switch: flits of several do not take turns.
    pub(super) passes: bool,
    /// It does so before all have come in: switches have nothing to say themselves.
    prompt: bool,
    pub(super) vcs: u32,
    pub(super) rules: Rules<V>,
    pub(super) open: Vec<super::crossbar::Open>,
}

/// What all outputs of a partition go by: it stands apart from their records, so that one of these can be held while it is asked.
pub(super) struct Rules<const V: usize> {
    pub(super) class_sets: [Set<V>; CLASSES_MAX],
    /// The traffic class of each virtual channel.
    pub(super) class_of: Box<[u8; VCS_MAX]>,
    /// An input may send to several outputs at a time.
    pub(super) parallel_reads: bool,
    pub(super) arbitration: Arbitration,
    pub(super) departures: bool,
    /// Flits of several packets take turns.
    pub(super) interleave: bool,
    /// Classes of control packets, one bit each.
    pub(super) control: u8,
    pub(super) seed: u64,
    /// Time of a packet over the crossbar, by its flits.
    pub(super) crossbar: Table<u32>,
    /// Flits of an output queue, if there are any.
    pub(super) output_buffer: u32,
}

impl<const V: usize> Rules<V> {
    /// Whether packets wait behind the crossbar too.
    pub(super) const QUEUES: bool = V > 0;
}

impl<const W: usize, const V: usize> State<W, V> {
    /// Whether packets wait behind the crossbar too.
    pub(super) const QUEUES: bool = Rules::<V>::QUEUES;

    /// Has an output looked at in this tick.
    #[inline(always)]
    pub(super) fn activate(&mut self, port: u32) {
        let output = &mut self.outputs[port];
        if !output.listed {
            output.listed = true;
            self.pending.push(port);
        }
    }

    /// Whether packets of a class from an input stand in virtual output queues.
    #[inline(always)]
    pub(super) fn is_voq(&self, radix: u32, class: u8, input: u32) -> bool {
        self.voq[class as usize] || input == radix
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

impl<const W: usize, const V: usize> Output<W, V> {
    fn new(seat: &Seat, cell: u32) -> Self {
        Self {
            crossbar_free: 0,
            queued: Set::default(),
            waiting: 0,
            lone: NIL,
            lone_input: 0,
            switch: seat.switch,
            base: seat.port,
            radix: seat.radix as u16,
            cell,
            met: 0,
            crowded: false,
            listed: false,
            leaving: 0,
            classes: 0,
            turns: [0; CLASSES_MAX],
            requests: [Set::default(); CLASSES_MAX],
            owing: Cell::new(0),
            passed: 0,
            late: (0, 0),
            channel_turns: ChannelTurns::default(),
        }
    }

    /// Whether packets wait at the inputs for it.
    #[inline(always)]
    pub(super) fn asks(&self) -> bool {
        self.classes != 0 || self.lone != NIL
    }

    /// The number of an input of its switch in the table of all inputs.
    #[inline(always)]
    pub(super) fn input(&self, input: u32) -> u32 {
        self.base + self.switch + input
    }

    /// The cell of a class and an input.
    #[inline(always)]
    pub(super) fn cell_of(&self, class: u8, input: u32) -> u32 {
        self.cell + class as u32 * (self.radix as u32 + 1) + input
    }

    /// Notes that a class has a packet from an input. Returns their cell.
    #[inline(always)]
    pub(super) fn ask(&mut self, class: u8, input: u32) -> u32 {
        self.requests[class as usize].insert(input as usize);
        self.classes |= 1 << class;
        self.cell_of(class, input)
    }
}

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
