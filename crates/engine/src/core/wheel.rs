//! The timing wheel of a partition: one list per slot, far events in a heap.
//!
//! Events of one kind and tick come out together, so that the partition handles them in one homogeneous loop; their
//! order inside a tick carries no meaning. They are sorted by kind when their tick comes: a list per slot and kind would take
//! eight times the memory, and where ticks are short next to packets most slots are empty.
use super::Tick;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Kinds of events.
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
    /// A buffer that shares memory takes a packet in, or gives its room back.
    Memory,
}

/// Number of kinds.
pub const KINDS: usize = 9;
/// Words of a line of a list: the number of the next line, then events.
const LINE: usize = 8;
/// Where a line ends.
const FULL: usize = LINE - 1;
/// The place of the last event of a slot that has none: as if its line were full.
const EMPTY: u32 = FULL as u32;
/// Bits of an event; its kind is above them.
const EVENT_BITS: u32 = 60;
const _: () = assert!(KINDS <= 1 << (u64::BITS - EVENT_BITS));

/// The wheel. An event is a kind and 60 bits.
pub struct Wheel {
    /// Of each slot the place of its last event among all words.
    slots: Vec<u32>,
    occupied: Vec<u64>,
    /// Lines one after the other; the first is nobody's.
    words: Vec<u64>,
    /// The first line that is free, or 0.
    free: u32,
    mask: u64,
    /// Everything before this tick has left its slot.
    base: Tick,
    far: BinaryHeap<Reverse<(Tick, u64)>>,
    /// The first of them, or `Tick::MAX`.
    far_at: Tick,
    /// The events of the tick being handled, if one is.
    due: [Vec<u64>; KINDS],
    handling: bool,
}

/// Puts an event among those of its kind that are due.
#[inline(always)]
fn file(due: &mut [Vec<u64>; KINDS], event: u64) {
    due[(event >> EVENT_BITS) as usize].push(event & ((1 << EVENT_BITS) - 1));
}

impl Wheel {
    /// A wheel that holds events up to `span` ticks ahead in its slots.
    pub fn new(span: Tick) -> Self {
        // Where a tick is long, flows with rates wait for several packets' times.
        let slots = span.clamp(256, 1 << 14).next_power_of_two() as usize;
        Self {
            slots: vec![EMPTY; slots],
            occupied: vec![0; slots / 64],
            words: vec![0; LINE],
            free: 0,
            mask: slots as u64 - 1,
            base: 0,
            far: BinaryHeap::new(),
            far_at: Tick::MAX,
            due: Default::default(),
            handling: false,
        }
    }

    /// Adds an event at `at`, which must not be before the tick being handled.
    ///
    /// Not inlined: it is called in many places, whose code would not fit in a first-level cache together.
    #[inline(never)]
    pub fn push(&mut self, at: Tick, kind: Kind, event: u64) {
        debug_assert!(event >> EVENT_BITS == 0, "law broken: an event of more than 60 bits");
        let event = (kind as u64) << EVENT_BITS | event;
        // An event of the tick being handled, or in the past, would wrap round to a distance far over the mask.
        if at.wrapping_sub(self.base) > self.mask {
            return self.push_elsewhere(at, event);
        }
        let place = &mut self.slots[(at & self.mask) as usize];
        if *place as usize % LINE == FULL {
            return self.begin_line(at, event);
        }
        *place += 1;
        self.words[*place as usize] = event;
    }

    /// Puts an event into a new line of a slot, before the others.
    #[inline(never)]
    fn begin_line(&mut self, at: Tick, event: u64) {
        if self.free == 0 {
            self.grow();
        }
        let (slot, first) = ((at & self.mask) as usize, self.free as usize * LINE);
        let before = std::mem::replace(&mut self.slots[slot], first as u32 + 1) as usize / LINE;
        self.free = std::mem::replace(&mut self.words[first], before as u64) as u32;
        self.words[first + 1] = event;
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.words.len() / LINE;
        assert!(self.words.len() < 1 << 31, "law broken: more events than the wheel can number");
        self.free = first as u32;
        self.words.resize((first + 64) * LINE, 0);
        for line in first..first + 63 {
            self.words[line * LINE] = line as u64 + 1;
        }
    }

    #[cold]
    fn push_elsewhere(&mut self, at: Tick, event: u64) {
        if self.handling && at + 1 == self.base {
            return file(&mut self.due, event);
        }
        assert!(at >= self.base, "law broken: an event in the past");
        self.far.push(Reverse((at, event)));
        self.far_at = self.far_at.min(at);
    }

    /// The first tick that has an event and is before `end`: its events are to be taken now.
    pub fn next(&mut self, end: Tick) -> Option<Tick> {
        let near = self.next_near();
        let at = near.min(self.far_at);
        if at >= end {
            return None;
        }
        self.base = at + 1;
        self.handling = true;
        if near == at {
            self.empty_slot((at & self.mask) as usize);
        }
        if self.far_at == at {
            self.take_far();
        }
        Some(at)
    }

    /// Sorts the far events of the first tick that has some by kind.
    #[cold]
    fn take_far(&mut self) {
        while let Some(&Reverse((at, event))) = self.far.peek() {
            if at > self.far_at {
                self.far_at = at;
                return;
            }
            self.far.pop();
            file(&mut self.due, event);
        }
        self.far_at = Tick::MAX;
    }

    /// Sorts the events of a slot that has some by kind.
    #[inline]
    fn empty_slot(&mut self, slot: usize) {
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let last = std::mem::replace(&mut self.slots[slot], EMPTY) as usize;
        let (first, mut line, mut end) = (last / LINE, last / LINE, last % LINE);
        loop {
            let words = &self.words[line * LINE..][..=end];
            let next = words[0];
            for &event in &words[1..] {
                file(&mut self.due, event);
            }
            if next == 0 {
                break;
            }
            (line, end) = (next as usize, FULL);
        }
        // The whole list is free.
        self.words[line * LINE] = std::mem::replace(&mut self.free, first as u32) as u64;
    }

    /// The first tick that has an event, or `Tick::MAX`.
    pub fn peek(&self) -> Tick {
        self.next_near().min(self.far_at)
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
        !self.due[kind as usize].is_empty()
    }

    /// The events of one kind at the present tick (the one `next` returned).
    pub fn due(&self, kind: Kind) -> &[u64] {
        &self.due[kind as usize]
    }

    /// Moves the events of one kind at the present tick (the one `next` returned) to `into`.
    #[inline]
    pub fn take(&mut self, kind: Kind, into: &mut Vec<u64>) {
        into.clear();
        std::mem::swap(into, &mut self.due[kind as usize]);
    }

    /// Ends the present tick: all its kinds have been taken.
    pub fn finish(&mut self) {
        debug_assert!(self.due.iter().all(Vec::is_empty));
        self.handling = false;
    }

    /// Moves the wheel on to `at`; there must be no event before it.
    pub fn skip_to(&mut self, at: Tick) {
        self.base = self.base.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND_OF: [Kind; KINDS] = [
        Kind::Line,
        Kind::Arrival,
        Kind::Wake,
        Kind::Timer,
        Kind::Signal,
        Kind::Delivery,
        Kind::Endpoint,
        Kind::Agent,
        Kind::Memory,
    ];

    #[test]
    fn events_come_out_at_their_time_near_and_far() {
        let mut wheel = Wheel::new(64);
        let mut stream = crate::rng::Stream::new(1, "wheel", "", 0);
        let mut expected = Vec::new();
        // The largest events, so that none can touch its kind.
        let large = |event: u64| (1 << EVENT_BITS) - 1 - event;
        for event in 0..1000 {
            let (at, kind) = (stream.below(5000) as u64, KIND_OF[event as usize % KINDS]);
            wheel.push(at, kind, large(event));
            expected.push((at, kind, large(event)));
        }
        let (mut got, mut batch) = (Vec::new(), Vec::new());
        for end in (0..=5000).step_by(100) {
            let first = expected.iter().map(|&(at, ..)| at).filter(|&at| at + 100 >= end).min();
            assert_eq!(wheel.peek(), first.unwrap_or(Tick::MAX), "before {end}");
            while let Some(at) = wheel.next(end) {
                let mut add = |when: Tick, kind, event| {
                    wheel.push(when, kind, large(event));
                    expected.push((when, kind, large(event)));
                };
                // One for a kind that is yet to be handled in the same tick; many for a few slots, and some a round ahead.
                add(at, Kind::Agent, 10_000 + at);
                for number in 0..if at < 4000 { 20 } else { 0 } {
                    let ahead = if number < 18 { 1 + stream.below(8) } else { 250 + stream.below(20) };
                    add(at + ahead as u64, KIND_OF[number as usize % KINDS], (1 << 20) * number + at);
                }
                for kind in KIND_OF {
                    wheel.take(kind, &mut batch);
                    got.extend(batch.iter().map(|&event| (at, kind, event)));
                }
                wheel.finish();
            }
            wheel.skip_to(end);
        }
        got.sort();
        expected.sort();
        assert_eq!(got, expected);
        assert_eq!(wheel.peek(), Tick::MAX);
    }
}
