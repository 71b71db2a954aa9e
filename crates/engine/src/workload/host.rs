//! The ranks of a partition, between the endpoints and the application: each rank's agenda, its messages out and in.
use super::ledger::Ledger;
use super::parts::Parts;
use super::{Actions, Rank};
use crate::core::packet::{Packet, Tag};
use crate::core::plan::{Plan, Share};
use crate::core::{NEVER, Tick};
use crate::nic::queue::message_flits_max;
use crate::units::{Scale, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// Why a message of so many bytes cannot be sent, if it cannot.
pub(super) fn too_long(bytes: u64, scale: &Scale) -> Option<String> {
    let most = message_flits_max(scale.packet_flits);
    let largest = u128::from(most) * u128::from(scale.flit_bits) / 8;
    (u128::from(bytes) > largest).then(|| {
        format!(
            "a message of {bytes} B, but one of at most {largest} B can be sent with packets of {} flits",
            scale.packet_flits
        )
    })
}

/// What helps against messages that are too long.
pub(super) const SHORTER: &str = "shorter messages, or larger packets";

/// What a rank does, or is told, at a time.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    /// The job starts.
    Start,
    /// A message of the rank has left.
    Injected { to: u32, tag: u32 },
    /// It asked for this.
    Timer(u32),
    /// The barrier is over.
    Barrier,
    /// It sends a message.
    Send { to: u32, bytes: u64, tag: u32 },
    /// A message of a rank of the same endpoint is there.
    Handed { from: u32, tag: u32 },
}

/// A message that a rank sends: to which one, how long, and with which tag.
#[derive(Debug, Clone, Copy)]
struct Letter {
    to: u32,
    bytes: u64,
    tag: u32,
}

/// When, which rank (by its number in the partition), what.
type Entry = (Time, u32, What);

/// What the ranks of an endpoint are about to do, in the order of its times; of what is at once, in the order in which it was added.
/// Nearly all of it is added at one of the ends: what a rank sends when its clock comes to it, and messages that leave.
#[derive(Default)]
pub(super) struct Agenda(pub(super) VecDeque<Entry>);

impl Agenda {
    pub(super) fn add(&mut self, at: Time, slot: u32, what: What) {
        let place = match self.0.back() {
            Some(last) if last.0 > at => self.0.partition_point(|entry| entry.0 <= at),
            _ => self.0.len(),
        };
        self.0.insert(place, (at, slot, what));
    }
}

/// A rank in its place.
struct Slot {
    rank: Box<dyn Rank>,
    job: u16,
    number: u32,
    /// Time spent in communication, in ps.
    communicating: u64,
    /// How many times as long as others it takes to compute.
    slowness: f64,
    /// When its last copy for a rank of the same endpoint is made.
    copied: Time,
    /// Whether it has sent data, and whether data has reached it, by the network.
    traffic: [bool; 2],
}

/// A message for a send queue.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing {
    /// When the rank sent it.
    pub born: Tick,
    /// Destination endpoint.
    pub dst: u32,
    /// Its size.
    pub flits: u32,
    /// Its class.
    pub class: u8,
    /// The workload's tag.
    pub tag: Tag,
}

/// A rank at the end of the run.
#[derive(Debug, Clone, Copy)]
pub struct RankResult {
    /// Number in its job.
    pub number: u32,
    /// When it came to its end.
    pub end: Option<Time>,
    /// Time spent in communication; of a rank that has not come to its end, until the end of the run.
    pub communicating: Time,
    /// Messages that it never received, and its sends and receives that are not complete.
    pub unmatched: (usize, usize),
    /// Whether it has sent data, and whether data has reached it, by the network.
    pub traffic: [bool; 2],
}

/// A flow of a phase that has arrived.
#[derive(Debug, Clone, Copy)]
pub struct Arrived {
    /// Number of the job.
    pub job: u32,
    /// Phase.
    pub phase: u32,
    /// Source and destination endpoint.
    pub ends: (u32, u32),
    /// When.
    pub at: Tick,
    /// The protocol's words in its last packet.
    pub words: [u64; 2],
}

/// The ranks of a partition.
pub struct Hosts {
    plan: Arc<Plan>,
    slots: Vec<Slot>,
    /// The ranks of each endpoint: `slots` is in the order of the endpoints.
    first: Vec<u32>,
    agendas: Vec<Agenda>,
    /// By job.
    ledgers: Vec<Ledger>,
    /// Messages to be put into send queues.
    out: Vec<Outgoing>,
    /// Of messages in parts, those that have left, and those that have arrived.
    parts: [Parts; 2],
    /// The first rank that cannot go on: job, rank, why.
    failure: Option<(u16, u32, String)>,
    /// Flows of phases, in the order of their arrival.
    arrived: Vec<Arrived>,
    /// When each phase began, by job.
    starts: Vec<Vec<Time>>,
}

impl Hosts {
    /// The ranks on the endpoints of a partition; none if no job has any there.
    pub fn new(plan: &Arc<Plan>, share: &Share) -> Option<Box<Self>> {
        let mut hosts = Self {
            plan: plan.clone(),
            slots: Vec::new(),
            first: Vec::new(),
            agendas: Vec::new(),
            ledgers: vec![Ledger::default(); plan.jobs.len()],
            out: Vec::new(),
            parts: Default::default(),
            failure: None,
            arrived: Vec::new(),
            starts: plan.jobs.iter().map(|job| vec![job.start]).collect(),
        };
        for &endpoint in &share.endpoints {
            hosts.first.push(hosts.slots.len() as u32);
            let mut agenda = Agenda::default();
            for (at, job) in plan.jobs.iter().enumerate() {
                for number in job.ranks_of(endpoint).filter(|_| !job.idle) {
                    agenda.add(job.start, hosts.slots.len() as u32, What::Start);
                    let slowness = job.slowness(number);
                    let (rank, job) = (job.application.rank(number), at as u16);
                    let (communicating, copied, traffic) = (0, Time(0), [false; 2]);
                    hosts.slots.push(Slot { rank, job, number, communicating, slowness, copied, traffic });
                }
            }
            hosts.agendas.push(agenda);
        }
        hosts.first.push(hosts.slots.len() as u32);
        (!hosts.slots.is_empty()).then(|| Box::new(hosts))
    }

    /// Whether an endpoint (local number) has ranks.
    pub fn has_ranks(&self, endpoint: u32) -> bool {
        self.first[endpoint as usize] < self.first[endpoint as usize + 1]
    }

    /// Does all that is due at an endpoint (local number) by `now`; returns when something is due next. The messages that
    /// are sent come out of [`Hosts::take`].
    pub fn advance(&mut self, endpoint: u32, now: Tick) -> Tick {
        loop {
            let agenda = &mut self.agendas[endpoint as usize];
            let Some(&(at, slot, what)) = agenda.0.front() else { return NEVER };
            let tick = at.0.div_ceil(self.plan.tick);
            if tick > now {
                return tick;
            }
            agenda.0.pop_front();
            match what {
                What::Send { to, bytes, tag } => self.post(endpoint, slot, at, Letter { to, bytes, tag }),
                What::Handed { from, tag } => {
                    self.ledgers[self.slots[slot as usize].job as usize].delivered += 1;
                    self.tell(endpoint, slot, at, |rank, act| rank.on_delivered(from, tag, act));
                }
                What::Start => self.tell(endpoint, slot, at, |rank, act| rank.on_start(act)),
                What::Injected { to, tag } => {
                    self.tell(endpoint, slot, at, |rank, act| rank.on_injected(to, tag, act));
                }
                What::Barrier => self.tell(endpoint, slot, at, |rank, act| rank.on_barrier(act)),
                What::Timer(key) => self.tell(endpoint, slot, at, |rank, act| rank.on_timer(key, act)),
            }
        }
    }

    /// The messages that have been sent since the last call.
    pub fn take(&mut self) -> std::vec::Drain<'_, Outgoing> {
        self.out.drain(..)
    }

    /// The last flit of a message, or a part of one, leaves an endpoint at `end`.
    pub fn injected(&mut self, endpoint: u32, class: u8, dst: u32, tag: Tag, end: Tick) {
        let [seat, other] = tag.seats();
        let (slot, to) = self.parties((endpoint, seat), class, (dst, other));
        let pairs = self.plan.queue_pairs(class);
        if tag.is_part() && self.parts[0].note((slot, to, tag.word), pairs, 0).is_none() {
            return;
        }
        let at = Time(end * self.plan.tick);
        self.agendas[endpoint as usize].add(at, slot, What::Injected { to, tag: tag.word });
    }

    /// The first packet of a message of several has arrived.
    pub fn begun(&mut self, endpoint: u32, class: u8, tag: Tag) {
        let slot = self.slot(endpoint, tag.seats()[1], class).expect("a job's messages go to its ranks");
        self.reached(slot, tag.word);
    }

    /// Data has reached a rank, or a question or an answer of its software.
    fn reached(&mut self, slot: u32, tag: u32) {
        let record = &mut self.slots[slot as usize];
        record.traffic[1] |= self.plan.jobs[record.job as usize].application.carries_data(tag);
    }

    /// The flits of the message that is there with this packet, the last of a part of it; none if others are missing.
    pub fn completes(&mut self, endpoint: u32, packet: &Packet) -> Option<u32> {
        let (cold, tag) = (&packet.cold, packet.tag);
        let [other, seat] = tag.seats();
        let (slot, from) = self.parties((endpoint, seat), cold.class(), (cold.src, other));
        self.reached(slot, tag.word);
        self.parts[1].note((slot, from, tag.word), self.plan.queue_pairs(cold.class()), cold.length)
    }

    /// A message has arrived whole.
    pub fn delivered(&mut self, endpoint: u32, class: u8, src: u32, tag: Tag, now: Tick) {
        let [other, seat] = tag.seats();
        let (slot, from) = self.parties((endpoint, seat), class, (src, other));
        let tag = tag.word;
        self.reached(slot, tag);
        self.ledgers[self.slots[slot as usize].job as usize].delivered += 1;
        let at = Time(now * self.plan.tick);
        self.tell(endpoint, slot, at, |rank, act| rank.on_delivered(from, tag, act));
    }

    /// Notes a flow that has arrived with this packet, if it is one of a phase.
    pub fn note(&mut self, packet: &Packet, now: Tick) {
        let cold = &packet.cold;
        let job = cold.class() as usize - self.plan.traffic.len();
        if self.plan.jobs[job].application.flows().is_some() {
            let (ends, words) = ((cold.src, packet.hot.dst), packet.notes.words);
            self.arrived.push(Arrived { job: job as u32, phase: packet.tag.word, ends, at: now, words });
        }
    }

    /// The flows of phases that have arrived here.
    pub fn arrived(&self) -> &[Arrived] {
        &self.arrived
    }

    /// When each phase of a job began; the last one is its end, if it has come to it.
    pub fn starts(&self, job: usize) -> &[Time] {
        &self.starts[job]
    }

    /// The rank of a message's class on a seat of an endpoint here, and the number of the one at the other end.
    fn parties(&self, here: (u32, u16), class: u8, there: (u32, u16)) -> (u32, u32) {
        let job = &self.plan.jobs[class as usize - self.plan.traffic.len()];
        let number = job.ranks_of(there.0).nth(there.1.into());
        self.slot(here.0, here.1, class).zip(number).expect("a job's messages go from rank to rank")
    }

    /// The rank of a message's class on a seat of an endpoint.
    fn slot(&self, endpoint: u32, seat: u16, class: u8) -> Option<u32> {
        let job = class as usize - self.plan.traffic.len();
        let mut ranks = self.first[endpoint as usize]..self.first[endpoint as usize + 1];
        let first = ranks.find(|&slot| self.slots[slot as usize].job as usize == job);
        first.map(|slot| slot + u32::from(seat))
    }

    fn tell(&mut self, endpoint: u32, slot: u32, now: Time, event: impl FnOnce(&mut dyn Rank, &mut Actions)) {
        let record = &mut self.slots[slot as usize];
        let ledger = &mut self.ledgers[record.job as usize];
        ledger.communicating = 0;
        let agenda = &mut self.agendas[endpoint as usize];
        event(&mut *record.rank, &mut Actions { now, slot, slowness: record.slowness, agenda, ledger });
        record.communicating += ledger.communicating;
    }

    fn post(&mut self, endpoint: u32, slot: u32, at: Time, letter: Letter) {
        let Letter { to, bytes, tag } = letter;
        let Slot { job, number, .. } = self.slots[slot as usize];
        let ledger = &mut self.ledgers[job as usize];
        let of = &self.plan.jobs[job as usize];
        let (dst, seats) = (of.endpoints[to as usize], [number, to].map(|rank| of.seat(rank)));
        if dst == of.endpoints[number as usize] {
            ledger.handed(bytes);
            return self.hand(endpoint, slot, at, letter, seats);
        }
        if let Some(why) = too_long(bytes, &self.plan.scale) {
            if self.failure.as_ref().is_none_or(|(j, n, _)| (job, number) < (*j, *n)) {
                self.failure = Some((job, number, format!("sends {why}")));
            }
            return;
        }
        self.slots[slot as usize].traffic[0] |= of.application.carries_data(tag);
        ledger.sent(bytes);
        let flits = self.plan.scale.flits_of(bytes).max(1) as u32;
        let class = (self.plan.traffic.len() + job as usize) as u8;
        let (born, tag) = (at.0.div_ceil(self.plan.tick), Tag::new(tag, seats));
        self.out.push(Outgoing { born, dst, flits, class, tag });
    }

    /// Copies a message to a rank of the same endpoint, or to the one that sends it, when its sender's copies before are made.
    fn hand(&mut self, endpoint: u32, slot: u32, at: Time, letter: Letter, [from, to]: [u16; 2]) {
        let Letter { to: other, bytes, tag } = letter;
        let record = &mut self.slots[slot as usize];
        let local = &self.plan.jobs[record.job as usize].local;
        record.copied = at.max(record.copied).after(local.bandwidth.transmit_time(bytes * 8).0);
        let (copied, number) = (record.copied, record.number);
        let agenda = &mut self.agendas[endpoint as usize];
        agenda.add(copied, slot, What::Injected { to: other, tag });
        let there = copied.after(local.latency.0);
        agenda.add(there, slot + u32::from(to) - u32::from(from), What::Handed { from: number, tag });
    }

    /// The barrier of a job is over at a time; the endpoints here with a rank of it are to be woken then.
    pub fn release(&mut self, job: usize, at: Time) -> Vec<u32> {
        let ledger = &mut self.ledgers[job];
        (ledger.entered, ledger.last_entry) = (0, 0);
        self.starts[job].push(at);
        let mut endpoints = Vec::new();
        for endpoint in 0..self.agendas.len() {
            for slot in self.first[endpoint]..self.first[endpoint + 1] {
                if self.slots[slot as usize].job as usize == job {
                    self.agendas[endpoint].add(at, slot, What::Barrier);
                    endpoints.push(endpoint as u32);
                }
            }
        }
        endpoints
    }

    /// What was counted of each job.
    pub fn ledgers(&self) -> &[Ledger] {
        &self.ledgers
    }

    /// The ranks here of a job, when the run has come to `now`.
    pub fn ranks(&self, job: usize, now: Time) -> impl Iterator<Item = RankResult> + '_ {
        self.slots.iter().filter(move |slot| slot.job as usize == job).map(move |slot| RankResult {
            number: slot.number,
            end: slot.rank.end(),
            communicating: Time(slot.communicating.saturating_add_signed(slot.rank.uncounted(now))),
            unmatched: slot.rank.unmatched(),
            traffic: slot.traffic,
        })
    }

    /// Whether all ranks here have come to their end.
    pub fn is_done(&self) -> bool {
        self.slots.iter().all(|slot| slot.rank.end().is_some())
    }

    /// What the unfinished ranks here of a job wait for, each by its number.
    pub fn waiting(&self, job: usize) -> impl Iterator<Item = (u32, String)> + '_ {
        let waits = move |slot: &&Slot| slot.job as usize == job && slot.rank.end().is_none();
        self.slots.iter().filter(waits).map(|slot| (slot.number, slot.rank.waits_for()))
    }

    /// Entries in the agendas here, by job.
    pub fn pending(&self) -> Vec<u64> {
        let mut pending = vec![0; self.ledgers.len()];
        for (_, slot, _) in self.agendas.iter().flat_map(|agenda| &agenda.0) {
            pending[self.slots[*slot as usize].job as usize] += 1;
        }
        pending
    }

    /// The first rank here that cannot go on: job, rank, why.
    pub fn failure(&self) -> Option<&(u16, u32, String)> {
        self.failure.as_ref()
    }

    /// Bytes held by the ranks and what they are about to do.
    pub fn memory(&self) -> u64 {
        let entries: usize = self.agendas.iter().map(|agenda| agenda.0.capacity()).sum();
        let own = entries * size_of::<Entry>()
            + self.slots.capacity() * size_of::<Slot>()
            + self.arrived.capacity() * size_of::<Arrived>()
            + self.parts.iter().map(Parts::memory).sum::<usize>();
        own as u64 + self.slots.iter().map(|slot| slot.rank.memory()).sum::<u64>()
    }
}
