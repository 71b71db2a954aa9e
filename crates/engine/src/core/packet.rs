//! Packets, and the pool that holds those of a partition.
use super::Tick;
use super::table::Table;
use crate::routing::Route;

/// No packet.
pub const NIL: u32 = u32::MAX;

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub enum Kind {
    /// Data of a message.
    #[default]
    Data,
    /// A data packet arrived.
    Ack,
    /// A speculative data packet was dropped.
    Nack,
    /// A data packet met congestion.
    Notification,
    /// Asks for a time to send.
    Reservation,
    /// Gives a time to send.
    Grant,
    /// Announces a flow to the switches on its way, and sets up a route of its own if the routing has such.
    SetUp,
    /// Asks the switches on a flow's way what their links have to carry.
    Probe,
    /// Ends a flow in the switches on its way.
    TearDown,
    /// A set-up, probe or tear-down packet came to the destination: word 0 is its kind, word 1 what it collected.
    Return,
    /// Lets a source send so many flits: word 0.
    Credit,
}

/// All kinds with their names in results.
pub const KINDS: [(Kind, &str); 11] = [
    (Kind::Data, "data"),
    (Kind::Ack, "ack"),
    (Kind::Nack, "nack"),
    (Kind::Notification, "notification"),
    (Kind::Reservation, "reservation"),
    (Kind::Grant, "grant"),
    (Kind::SetUp, "set-up"),
    (Kind::Probe, "probe"),
    (Kind::TearDown, "tear-down"),
    (Kind::Return, "return"),
    (Kind::Credit, "credit"),
];

/// The part of a packet that every hop reads and writes: half a cache line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hot {
    /// Arrival of the tail where the head is now.
    pub tail: Tick,
    /// Destination endpoint.
    pub dst: u32,
    /// Next packet of the same queue; on a line to another partition, the time from the arrival of its head to `tail`.
    pub next: u32,
    /// Next queue of the same crossbar cell; in a switch without a crossbar the input whose buffer it holds.
    pub sibling: u32,
    /// [`Route::via`]; the route's fields stand singly so that the whole fits in 32 bytes; its network
    /// follows from the virtual channel.
    pub via: u32,
    /// Length in flits, and kind, in one word.
    size: u16,
    /// Output port it is bound for in this switch.
    pub out: u16,
    /// [`Route::state`]
    pub state: u8,
    /// [`Route::hops`]
    pub hops: u8,
    /// Virtual channel whose buffer it holds, or is on its way to.
    pub vc: u8,
    /// Virtual channel it is bound for at its output.
    pub next_vc: u8,
}

/// Bits of a length: packets have at most 4095 flits.
const LENGTH: u32 = 12;

impl Hot {
    /// Length in flits.
    #[inline]
    pub fn flits(&self) -> u32 {
        self.size as u32 & ((1 << LENGTH) - 1)
    }

    /// What the packet is.
    #[inline]
    pub fn kind(&self) -> Kind {
        const KIND_OF: [Kind; 16] = {
            let (mut kinds, mut at) = ([Kind::Data; 16], 0);
            while at < KINDS.len() {
                kinds[at] = KINDS[at].0;
                at += 1;
            }
            kinds
        };
        KIND_OF[(self.size >> LENGTH) as usize]
    }

    /// Sets kind and length.
    pub fn set_size(&mut self, kind: Kind, flits: u16) {
        self.size = (kind as u16) << LENGTH | flits;
    }

    /// Arrival of its head at the end of a line to another partition.
    #[inline]
    pub fn head(&self) -> Tick {
        self.tail - self.next as Tick
    }

    /// The routing's state.
    pub fn route(&self, network: u8) -> Route {
        Route { via: self.via, state: self.state, network, hops: self.hops }
    }

    /// Keeps the routing's state.
    pub fn set_route(&mut self, route: Route) {
        (self.via, self.state, self.hops) = (route.via, route.state, route.hops);
    }
}

/// Which packet of its message it is, the message's traffic class, and whether it met congestion: one word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part(u32);

/// Packets of the longest message: their numbers, and the number behind the last, have 23 bits.
pub const PACKETS_MAX: u32 = (1 << 23) - 1;

impl Part {
    /// The packet `sequence` of a message of the scenario's traffic class `class`, unmarked.
    pub fn new(sequence: u32, class: u8) -> Self {
        debug_assert!(sequence <= PACKETS_MAX);
        Self(sequence << 9 | u32::from(class))
    }
}

/// When something was created, and which of the flows between its ends it is of: one word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Birth(u64);

/// Bits of a creation; no run has more than 43.
const BORN: u32 = 52;

/// Most flows between two ends.
pub const FLOWS_MAX: u32 = 1 << (64 - BORN);

impl Birth {
    /// A creation, of the flow `flow`.
    #[inline]
    pub fn new(born: Tick, flow: u16) -> Self {
        debug_assert!(born >> BORN == 0 && u32::from(flow) < FLOWS_MAX);
        Self(u64::from(flow) << BORN | born)
    }
}

/// The part that only endpoints and protocols read: half a cache line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cold {
    /// Creation of its message (data), or of the packet itself, and the flow.
    pub birth: Birth,
    /// Injection of its head.
    pub injected: Tick,
    /// Source endpoint (for a packet made by a switch: the endpoint it speaks for).
    pub src: u32,
    /// Number of its message at the source.
    pub message: u32,
    /// Flits of its message.
    pub length: u32,
    /// Which packet of its message, of which class.
    pub part: Part,
}

impl Cold {
    /// Creation of its message (data), or of the packet itself.
    #[inline]
    pub fn born(&self) -> Tick {
        self.birth.0 & ((1 << BORN) - 1)
    }

    /// Which of the flows between its ends it is of; what answers a packet has its flow.
    #[inline]
    pub fn flow(&self) -> u16 {
        (self.birth.0 >> BORN) as u16
    }

    /// Number of the packet in its message.
    #[inline]
    pub fn sequence(&self) -> u32 {
        self.part.0 >> 9
    }

    /// Traffic class of the scenario.
    #[inline]
    pub fn class(&self) -> u8 {
        self.part.0 as u8
    }

    /// Whether it met congestion; of an acknowledgement, whether the packet it speaks of might have been dropped.
    #[inline]
    pub fn marked(&self) -> bool {
        self.part.0 >> 8 & 1 == 1
    }

    /// Says whether it is marked.
    pub fn mark(&mut self, marked: bool) {
        self.part.0 = self.part.0 & !(1 << 8) | u32::from(marked) << 8;
    }
}

/// What a workload writes on a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// The rank's own.
    pub word: u32,
    /// The seats; the first with a mark if it is on a part of a message.
    seats: [u16; 2],
}

/// Marks a part; no endpoint has so many ranks.
const PART: u16 = 1 << 15;

impl Tag {
    /// On a message from one of the job's ranks at the source to one of those at the destination.
    pub fn new(word: u32, seats: [u16; 2]) -> Self {
        debug_assert!(seats.iter().all(|seat| seat & PART == 0));
        Self { word, seats }
    }

    /// On a part of a message, of which there are as many as queue pairs.
    pub fn of_part(self) -> Self {
        Self { seats: [self.seats[0] | PART, self.seats[1]], ..self }
    }

    /// Whether it is on a part of a message.
    pub fn is_part(&self) -> bool {
        self.seats[0] & PART != 0
    }

    /// Which of the job's ranks at the source it comes from, and to which of those at the destination it goes.
    pub fn seats(&self) -> [u16; 2] {
        [self.seats[0] & !PART, self.seats[1]]
    }
}

/// What only some protocols and arbiters note on a packet. Runs that have none of them keep no notes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Notes {
    /// The protocol's own words.
    pub words: [u64; 2],
    /// Arrival of its head at the present switch, for a time-to-wait or an arbiter that asks for it.
    pub arrived: Tick,
    /// Time in the input buffers of the switches passed so far, for a time-to-wait.
    pub waited: u32,
}

/// A packet by value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Packet {
    /// Read at every hop.
    pub hot: Hot,
    /// Read at the ends.
    pub cold: Cold,
    /// Read in some runs.
    pub notes: Notes,
    /// The workload's, in runs with jobs.
    pub tag: Tag,
}

/// The packets of a partition, by number.
#[derive(Default)]
pub struct Pool {
    /// Hot parts.
    pub hot: Table<Hot>,
    /// Cold parts.
    pub cold: Table<Cold>,
    /// Notes; empty if the run keeps none.
    pub notes: Table<Notes>,
    /// Whether the run keeps notes.
    pub noting: bool,
    /// Tags; empty if the run has no jobs.
    pub tags: Table<Tag>,
    /// Whether it has.
    pub tagging: bool,
    free: Vec<u32>,
}

impl Pool {
    /// Takes a packet in.
    pub fn insert(&mut self, packet: &Packet) -> u32 {
        let id = self.admit(packet.hot, packet.cold);
        if self.noting {
            self.note(id, packet.notes);
        }
        if self.tagging {
            self.tag(id, packet.tag);
        }
        id
    }

    /// Takes a packet in but for its notes and its tag.
    #[inline]
    pub fn admit(&mut self, hot: Hot, cold: Cold) -> u32 {
        if let Some(id) = self.free.pop() {
            self.hot[id] = hot;
            self.cold[id] = cold;
            return id;
        }
        self.hot.push(hot);
        self.cold.push(cold);
        (self.hot.len() - 1) as u32
    }

    /// Keeps the notes of a packet.
    pub fn note(&mut self, id: u32, notes: Notes) {
        match self.notes.get_mut(id as usize) {
            Some(place) => *place = notes,
            None => self.notes.push(notes),
        }
    }

    /// Keeps the tag of a packet.
    pub fn tag(&mut self, id: u32, tag: Tag) {
        match self.tags.get_mut(id as usize) {
            Some(place) => *place = tag,
            None => self.tags.push(tag),
        }
    }

    /// Gives a packet's number back.
    pub fn remove(&mut self, id: u32) {
        self.free.push(id);
    }

    /// The packet by value.
    pub fn get(&self, id: u32) -> Packet {
        let notes = if self.noting { self.notes[id] } else { Notes::default() };
        let tag = if self.tagging { self.tags[id] } else { Tag::default() };
        Packet { hot: self.hot[id], cold: self.cold[id], notes, tag }
    }

    /// Packets held now.
    pub fn held(&self) -> usize {
        self.hot.len() - self.free.len()
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        let [hot, cold, notes] = [size_of::<Hot>(), size_of::<Cold>(), size_of::<Notes>()];
        let tags = self.tags.capacity() * size_of::<Tag>();
        self.hot.capacity() * hot + self.cold.capacity() * cold + self.notes.capacity() * notes + tags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_parts_keep_their_size() {
        assert_eq!(size_of::<Hot>(), 32);
        assert_eq!(size_of::<Cold>(), 32);
    }

    #[test]
    fn creation_and_flow_stand_side_by_side() {
        for (born, flow) in [(0, 0), ((1 << BORN) - 1, 0), (0, FLOWS_MAX as u16 - 1), (7, 3)] {
            let cold = Cold { birth: Birth::new(born, flow), ..Cold::default() };
            assert_eq!((cold.born(), cold.flow()), (born, flow));
        }
    }

    #[test]
    fn number_class_and_mark_stand_side_by_side() {
        for (sequence, class) in [(0, 0), (0, 255), (PACKETS_MAX, 0), (PACKETS_MAX, 255), (65_536, 7)] {
            let mut packet = Cold { part: Part::new(sequence, class), ..Cold::default() };
            for marked in [false, true, true, false] {
                packet.mark(marked);
                assert_eq!((packet.sequence(), packet.class(), packet.marked()), (sequence, class, marked));
            }
        }
    }
}
