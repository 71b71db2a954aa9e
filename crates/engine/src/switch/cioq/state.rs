//! State of the combined input/output-queued switch.
//!
//! A packet that waits alone for an output has a place of its own there, if nothing but arbitration can move it. Others
//! that wait for the crossbar stand in cells, one per (output, traffic class, input). A cell is a list of
//! queues, one per input virtual channel with a packet for that output; a queue is a circular list of packets, known
//! by its last. So memory follows the packets, not the product of ports and virtual channels.
use super::Arbitration;
use crate::core::Tick;
use crate::core::packet::NIL;
use crate::core::plan::VCS_MAX;
use crate::core::table::Table;
use crate::switch::bits::Set;
use crate::switch::deadlines::Deadlines;
use crate::switch::turns::{CLASSES_MAX, ChannelTurns};
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
    /// The packet that is watched, lest room be owed to others for ever, and the debts for its virtual channel that were settled since;
    /// `NIL` if none is.
    pub watched: u32,
    pub missed: u16,
    /// The class and input from which on the next one to be watched is looked for.
    pub watch_from: (u8, u16),
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
    /// Outputs that are to watch another packet.
    pub(super) unwatched: Vec<u32>,
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
    pub(super) prompt: bool,
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

impl<const W: usize, const V: usize> Output<W, V> {
    pub(super) fn new(seat: &Seat, cell: u32) -> Self {
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
            watched: NIL,
            missed: 0,
            watch_from: (0, 0),
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

    /// The first class and input at or after this place, going round, of which a packet waits in a cell.
    pub(super) fn next_request(&self, (class, input): (u8, u16)) -> Option<(u8, u32)> {
        let from = usize::from(input);
        let here = self.requests[usize::from(class)].next_from(from).filter(|&input| input >= from);
        if let Some(input) = here {
            return Some((class, input as u32));
        }
        let all = u16::from(self.classes);
        let later = all >> (class + 1) << (class + 1);
        let class = if later == 0 { all } else { later }.trailing_zeros() as u8;
        let first = self.requests.get(usize::from(class))?.first()?;
        Some((class, first as u32))
    }
}
