//! The timing wheel of a partition: one list per slot and kind of event, far events in a heap.
//!
//! Events of one kind and tick come out together, so that the partition handles them in one homogeneous loop; their
//! order inside a tick carries no meaning.
use super::Tick;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Kinds of events, in the order a tick handles them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// The first packet of a delay line reaches the partition.
    Line,
    /// The head of a packet reaches an input of a switch.
    Arrival,
    /// An output port of a switch may be able to do something.
    Wake,
    /// A packet has waited as long as it may.
    Timer,
    /// A signal reaches an endpoint.
    Signal,
    /// The tail of a packet reaches its endpoint.
    Delivery,
    /// An endpoint may be able to send.
    Endpoint,
    /// A time that the protocol asked for in a switch.
    Agent,
}

/// Number of kinds.
pub const KINDS: usize = 8;
/// Lists of a slot: one per kind.
const LISTS: usize = KINDS;
const NONE: u32 = u32::MAX;

/// An event in its list.
#[derive(Clone, Copy)]
struct Node {
    event: u64,
    next: u32,
}

/// The wheel. An event is a kind and 64 bits.
pub struct Wheel {
    slots: Vec<[u32; LISTS]>,
    occupied: Vec<u64>,
    nodes: Vec<Node>,
    free: u32,
    mask: u64,
    /// Everything before this tick has been taken.
    base: Tick,
    far: BinaryHeap<Reverse<(Tick, u8, u64)>>,
}

impl Wheel {
    /// A wheel that holds events up to `span` ticks ahead in its slots.
    pub fn new(span: Tick) -> Self {
        // Where a tick is long, flows with rates wait for several packets' times.
        let slots = span.clamp(256, 1 << 14).next_power_of_two() as usize;
        let mut wheel = Self {
            slots: vec![[NONE; LISTS]; slots],
            occupied: vec![0; slots / 64],
            nodes: Vec::new(),
            free: NONE,
            mask: slots as u64 - 1,
            base: 0,
            far: BinaryHeap::new(),
        };
        wheel.grow();
        wheel
    }

    /// Adds an event at `at`, which must not be before the tick being handled.
    #[inline]
    pub fn push(&mut self, at: Tick, kind: Kind, event: u64) {
        // An event in the past would wrap round to a distance far over the mask.
        if at.wrapping_sub(self.base) > self.mask {
            self.push_far(at, kind, event);
            return;
        }
        let slot = (at & self.mask) as usize;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        let list = &mut self.slots[slot][kind as usize];
        let node = Node { event, next: *list };
        // The first free node is always there.
        *list = self.free;
        let place = &mut self.nodes[self.free as usize];
        self.free = place.next;
        *place = node;
        if self.free == NONE {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.nodes.len() as u32;
        self.nodes.extend((1..=256).map(|ahead| Node { event: 0, next: first + ahead }));
        self.nodes.last_mut().expect("just added").next = NONE;
        self.free = first;
    }

    #[cold]
    fn push_far(&mut self, at: Tick, kind: Kind, event: u64) {
        assert!(at >= self.base, "law broken: an event in the past");
        self.far.push(Reverse((at, kind as u8, event)));
    }

    /// The first tick that has an event and is before `end`.
    pub fn next(&mut self, end: Tick) -> Option<Tick> {
        let near = self.next_near();
        let far = self.far.peek().map_or(Tick::MAX, |Reverse((at, ..))| *at);
        let at = near.min(far);
        if at >= end {
            return None;
        }
        self.base = at;
        while let Some(&Reverse((t, kind, event))) = self.far.peek() {
            if t > at {
                break;
            }
            self.far.pop();
            self.push(t, KIND_OF[kind as usize], event);
        }
        Some(at)
    }

    /// The first tick that has an event, or `Tick::MAX`.
    pub fn peek(&self) -> Tick {
        self.next_near().min(self.far.peek().map_or(Tick::MAX, |Reverse((at, ..))| *at))
    }

    fn next_near(&self) -> Tick {
        let start = (self.base & self.mask) as usize;
        let words = self.occupied.len();
        let first = self.occupied[start / 64] >> (start % 64);
        if first != 0 {
            return self.base + first.trailing_zeros() as u64;
        }
        let mut distance = 64 - (start % 64) as u64;
        for step in 1..=words {
            let word = self.occupied[(start / 64 + step) % words];
            if word != 0 {
                return self.base + distance + word.trailing_zeros() as u64;
            }
            distance += 64;
        }
        Tick::MAX
    }

    /// Whether there are events of a kind at the present tick (the one `next` returned).
    #[inline(always)]
    pub fn has(&self, kind: Kind) -> bool {
        self.slots[(self.base & self.mask) as usize][kind as usize] != NONE
    }

    /// Moves the events of one kind at the present tick (the one `next` returned) to `into`.
    pub fn take(&mut self, kind: Kind, into: &mut Vec<u64>) {
        into.clear();
        let slot = (self.base & self.mask) as usize;
        let mut at = std::mem::replace(&mut self.slots[slot][kind as usize], NONE);
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            into.push(node.event);
            let next = std::mem::replace(&mut node.next, self.free);
            self.free = at;
            at = next;
        }
    }

    /// Ends the present tick: all its kinds have been taken.
    pub fn finish(&mut self) {
        let slot = (self.base & self.mask) as usize;
        debug_assert!(self.slots[slot].iter().all(|&head| head == NONE));
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        self.base += 1;
    }

    /// Moves the wheel on to `at`; there must be no event before it.
    pub fn skip_to(&mut self, at: Tick) {
        self.base = self.base.max(at);
    }
}

const KIND_OF: [Kind; KINDS] = [
    Kind::Line,
    Kind::Arrival,
    Kind::Wake,
    Kind::Timer,
    Kind::Signal,
    Kind::Delivery,
    Kind::Endpoint,
    Kind::Agent,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_at_their_time_near_and_far() {
        let mut wheel = Wheel::new(64);
        let mut stream = crate::rng::Stream::new(1, "wheel", "", 0);
        let mut expected = Vec::new();
        for event in 0..1000 {
            let at = stream.below(5000) as u64;
            wheel.push(at, KIND_OF[event as usize % KINDS], event);
            expected.push((at, event));
        }
        expected.sort();
        let (mut got, mut batch) = (Vec::new(), Vec::new());
        while let Some(at) = wheel.next(5000) {
            for kind in KIND_OF {
                wheel.take(kind, &mut batch);
                got.extend(batch.iter().map(|&event| (at, event)));
            }
            wheel.finish();
        }
        got.sort();
        assert_eq!(got, expected);
        assert_eq!(wheel.peek(), Tick::MAX);
    }
}
