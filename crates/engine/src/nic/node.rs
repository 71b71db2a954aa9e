//! What an endpoint keeps: what it has to send, and when.
use super::directory::Directory;
use super::due::Due;
use super::feed::Feed;
use super::injection::{Candidate, Clock};
use super::parked::Parked;
use crate::core::packet::Packet;
use crate::core::{NEVER, Tick};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// The send queues of an endpoint whose messages are of one grade.
#[derive(Default)]
pub(super) struct Lane {
    /// Queues in the round robin.
    pub ready: VecDeque<u32>,
    /// Classes in which they want to send until something happens to them ([`Source::plain`]), one bit each; all, if that is not
    /// known of each of them.
    pub wants: u64,
    /// Queues that wait for credit, beside it, if `NicSet::parks`.
    pub parked: Parked,
    /// Queues that want to reserve at once; they stand in the round robin too.
    pub hurried: VecDeque<u32>,
    /// Queues with data whose time comes.
    pub due: Due,
}

impl Lane {
    fn new() -> Self {
        Self { wants: u64::MAX, ..Self::default() }
    }

    /// Whether it has something to send once the channel has time and credit.
    #[inline]
    fn is_waiting(&self, now: Tick) -> bool {
        !self.ready.is_empty()
            || !self.hurried.is_empty()
            || !self.parked.is_empty()
            || self.due.is_ready(now)
    }
}

/// One endpoint.
pub(super) struct Node {
    /// Control packets to send, in order.
    pub control: VecDeque<Packet>,
    /// Its send queues of the most urgent grade.
    pub urgent: Lane,
    /// Those of the other grades.
    pub others: Box<[Lane]>,
    /// Queues that wait for a time; ties go by [`Towards`](super::towards::Towards), since numbers depend on the partitioning.
    pub asleep: BinaryHeap<Reverse<(Tick, u32, u32)>>,
    /// Its send queues, by what they are for ([`Towards`](super::towards::Towards)).
    pub queues: Directory,
    /// Its generators: a range of `NicSet::feeds`.
    pub generators: Range<u32>,
    /// Whether it has a class with one destination, whose messages wait in the generator.
    pub generators_wait: bool,
    /// Creation of the next message.
    pub next_born: Tick,
    pub next_message: u32,
    /// No data before this time.
    pub hold: Tick,
    /// Flits sent that may be dropped, of which no answer has come.
    pub retained: u32,
    /// Data packets sent, or refused once.
    pub turn: u32,
    /// Its periods, if its flows have rates.
    pub clock: Clock,
    /// Flits of its flows that switches know of.
    pub announced: u64,
    /// Its flows that could send when they were last looked at, if they have rates, and before when that holds unless something
    /// happens to a queue, which then is ready; 0 if it does not.
    pub flows: Vec<Candidate>,
    pub flows_until: Tick,
    /// When it is to be looked at, if its flows have rates.
    pub paced_at: Tick,
    /// When it sends something by itself as a destination.
    pub prompt_at: Tick,
    /// Whether one of its flows with rates lacked credit when they were looked at last.
    pub paced_lacks: bool,
}

impl Node {
    /// An endpoint at rest with these generators of all.
    pub fn new(generators: Range<u32>, feeds: &[Feed], grades: u8) -> Self {
        let own = &feeds[generators.start as usize..generators.end as usize];
        Self {
            control: VecDeque::new(),
            urgent: Lane::new(),
            others: (1..grades).map(|_| Lane::new()).collect(),
            asleep: BinaryHeap::new(),
            queues: Directory::default(),
            generators_wait: own.iter().any(|feed| feed.only.is_some()),
            generators,
            next_born: NEVER,
            next_message: 0,
            hold: 0,
            retained: 0,
            turn: 0,
            clock: Clock::default(),
            announced: 0,
            flows: Vec::new(),
            flows_until: 0,
            paced_at: NEVER,
            prompt_at: NEVER,
            paced_lacks: false,
        }
    }

    /// Whether it is to be looked at once the channel has time and credit.
    pub fn is_waiting(&self, now: Tick) -> bool {
        self.urgent.is_waiting(now)
            || !self.control.is_empty()
            || self.paced_lacks
            || self.others.iter().any(|lane| lane.is_waiting(now))
    }

    /// The lane of a grade.
    #[inline(always)]
    pub fn lane(&mut self, grade: u8) -> &mut Lane {
        if grade == 0 { &mut self.urgent } else { &mut self.others[usize::from(grade) - 1] }
    }

    /// All lanes, the most urgent first.
    pub fn lanes(&self) -> impl Iterator<Item = &Lane> {
        std::iter::once(&self.urgent).chain(&self.others)
    }

    /// Whether queues want to reserve at once.
    pub fn hurries(&self) -> bool {
        !self.urgent.hurried.is_empty() || self.others.iter().any(|lane| !lane.hurried.is_empty())
    }

    /// When the next data are due after `now`.
    #[inline]
    pub fn next_due(&self, now: Tick) -> Tick {
        let next = |lane: &Lane| lane.due.next(now).unwrap_or(NEVER);
        self.others.iter().map(next).fold(next(&self.urgent), Tick::min)
    }
}
