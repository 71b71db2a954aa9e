//! The endpoints: sources that queue messages and cut them into packets, sinks that put them together again.
mod at_source;
mod circuit;
mod directory;
mod draft;
mod due;
mod feed;
pub mod injection;
mod jobs;
mod node;
mod paced;
mod parked;
mod prompt;
pub mod queue;
mod receive;
mod send;
mod towards;
mod turns;
mod unqueued;

use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::core::table::Table;
use crate::keyed::Keyed;
use crate::protocol::signal::Signal;
use crate::protocol::{Concern, Pull, Reply, Source};
use crate::traffic::generator::Generator;
use crate::workload::host::Hosts;
use at_source::waits_for_the_same;
use feed::{Feed, born};
use injection::Candidate;
use node::Node;
use queue::{Message, SendQueue};
pub use receive::respond;
use std::sync::Arc;
use towards::{Towards, Turns, flow_at};

/// The endpoints of a partition, whatever their protocol.
pub trait Nics: Send {
    /// Arms the first wake of every endpoint.
    fn start(&mut self, fabric: &mut Fabric);
    /// A packet's tail reaches an endpoint (local number).
    fn deliver(&mut self, fabric: &mut Fabric, endpoint: u32, id: u32);
    /// A signal reaches an endpoint out of band.
    fn hear_signal(&mut self, fabric: &mut Fabric, endpoint: u32, signal: &Signal);
    /// Starts to bring an endpoint into the cache.
    fn fetch(&self, endpoint: u32);
    /// An endpoint may be able to send.
    fn wake(&mut self, fabric: &mut Fabric, endpoint: u32);
    /// Counts what was offered up to `now`, messages not yet taken from their generators included.
    fn count_offered(&mut self, fabric: &mut Fabric);
    /// Largest amount of data any endpoint kept because a switch might have dropped it, in flits.
    fn retained_peak(&self) -> u32;
    /// Bytes held by messages and packets that wait; what ranks hold is not among them ([`Hosts::memory`]).
    fn memory(&self) -> u64;
    /// The ranks of jobs on these endpoints.
    fn hosts(&self) -> Option<&Hosts>;
    /// The barrier of a job is over at a time.
    fn release(&mut self, fabric: &mut Fabric, job: usize, at: crate::units::Time);
}

/// A send queue that was forgotten.
struct Forgotten {
    /// Local number.
    endpoint: u32,
    /// Destination and flow.
    towards: (u32, u16),
    at: Tick,
}

/// The endpoints of a partition under the protocol `S`.
pub struct NicSet<S: Source> {
    source: S,
    plan: Arc<Plan>,
    nodes: Table<Node>,
    sinks: Table<S::Sink>,
    queues: Table<SendQueue<S::Queue>>,
    free: Vec<u32>,
    feeds: Table<Feed>,
    /// Flits that are missing of messages of several packets, and the number behind the last packet that came, by source and message.
    assembly: Keyed<u64, (u32, u32)>,
    replies: Vec<Reply>,
    /// Bit n is set if class n may be dropped.
    droppable: u64,
    retained_peak: u32,
    fifo: bool,
    /// How many grades messages are of.
    grades: u8,
    /// Whether queues whose packet lacks credit leave the round robin until there may be some.
    parks: bool,
    /// Whether queues reserve ahead of all data.
    at_once: bool,
    /// See [`Source::unqueued`]; none where the endpoint or its switch keeps more of a message than the protocol.
    unqueued: Option<u8>,
    /// Traffic class of data, and of the packets that announce and end flows.
    data_class: u8,
    /// The ranks of jobs on these endpoints.
    hosts: Option<Box<Hosts>>,
    /// First class that is a job.
    first_job: usize,
    /// Queues forgotten since the last rate was recorded, if sources set and tell theirs.
    forgotten: Option<Vec<Forgotten>>,
    /// What a flow adds to the place of its send queue: nothing where those for a destination share one.
    flow_step: u32,
    /// Which of several flows messages took.
    turns: Turns,
}

impl<S: Source> NicSet<S> {
    /// The endpoints of a partition, with the generators of their traffic.
    pub fn new(source: S, plan: &Arc<Plan>, share: &Share) -> Self {
        let hosts = Hosts::new(plan, share);
        let (mut feeds, mut nodes) = (Vec::new(), Vec::with_capacity(share.endpoints.len()));
        for &endpoint in &share.endpoints {
            let first = feeds.len() as u32;
            for (class, traffic) in plan.traffic.iter().enumerate() {
                let destinations = &traffic.class().destinations;
                if destinations.sources().binary_search(&endpoint).is_err() {
                    continue;
                }
                let generator = Generator::new(traffic, endpoint);
                let born = born(&generator, traffic);
                let only = destinations.only(endpoint);
                feeds.push(Feed { generator, born, class: class as u8, only, counted: 0 });
            }
            // In a queue that others fill too, a message takes its place when it is created.
            let own = &mut feeds[first as usize..];
            let of_many = own.iter().any(|feed| plan.flows[usize::from(feed.class)].each > 1);
            let runs_job = hosts.as_ref().is_some_and(|hosts| hosts.has_ranks(nodes.len() as u32));
            if source.looks_ahead() || runs_job || of_many || own.iter().any(|feed| feed.only.is_none()) {
                own.iter_mut().for_each(|feed| feed.only = None);
            }
            nodes.push(Node::new(first..feeds.len() as u32, &feeds, plan.vcs.grades));
        }
        let signals = source.signals();
        Self {
            flow_step: if plan.queues_by_flow { plan.endpoints() } else { 0 },
            turns: Turns::default(),
            at_once: source.reserves_at_once(),
            unqueued: source.unqueued().filter(|_| !plan.circuits && !plan.fifo),
            // Where a queue may pull other classes meanwhile, it must be asked again.
            parks: waits_for_the_same(plan) && source.parks(),
            source,
            sinks: nodes.iter().map(|_| S::Sink::default()).collect(),
            nodes: nodes.into(),
            queues: Table::default(),
            free: Vec::new(),
            feeds: feeds.into(),
            assembly: Keyed::default(),
            replies: Vec::new(),
            droppable: plan.vcs.classes.iter().rev().fold(0, |all, class| all << 1 | class.droppable as u64),
            retained_peak: 0,
            fifo: plan.fifo,
            grades: plan.vcs.grades,
            data_class: plan.data_class(),
            hosts,
            first_job: plan.traffic.len(),
            forgotten: (plan.record.control && signals == Concern::Nothing).then(Vec::new),
            plan: plan.clone(),
        }
    }

    /// Such a send queue.
    #[inline]
    fn find(&self, endpoint: u32, to: Towards) -> Option<u32> {
        self.nodes[endpoint].queues.find(self.address(to))
    }

    /// The grade of a class of the scenario.
    #[inline]
    fn grade(&self, group: u8) -> u8 {
        if self.grades > 1 { self.plan.grade_of[usize::from(group)] } else { 0 }
    }

    /// The traffic class of what the protocol sends in one of its classes for a grade.
    #[inline]
    fn graded(&self, class: u8, grade: u8) -> u8 {
        if self.grades > 1 { self.plan.vcs.of(class, grade) } else { class }
    }

    /// Such a queue, made if there is none.
    fn queue(&mut self, endpoint: u32, to: Towards) -> u32 {
        let (grade, address) = (self.grade(to.group), self.address(to));
        if let Some(found) = self.nodes[endpoint].queues.find(address) {
            return found;
        }
        let queue = match self.free.pop() {
            Some(queue) => queue,
            None => {
                self.queues.push(SendQueue::default());
                self.queues.len() as u32 - 1
            }
        };
        let record = &mut self.queues[queue];
        (record.dst, record.group, record.grade, record.address) = (to.dst, to.group, grade, address);
        self.nodes[endpoint].queues.add(address, queue);
        queue
    }

    /// Puts a message into a queue.
    #[inline]
    fn add(&mut self, queue: u32, message: Message) {
        let record = &mut self.queues[queue];
        record.push(message);
        self.source.on_message(&mut record.state, message.flits());
    }

    /// Forgets a queue that is empty and whose state is as that of a new one.
    fn forget(&mut self, endpoint: u32, queue: u32, now: Tick) {
        let record = &mut self.queues[queue];
        if self.fifo
            || record.ready
            || record.hurried
            || !record.is_empty()
            || !record.circuit.is_closed()
            || !self.source.idle(record, now)
        {
            return;
        }
        debug_assert!(record.noted.is_none(), "law broken: its endpoint expects a packet of an empty queue");
        if let Some(forgotten) = &mut self.forgotten {
            let towards = (record.dst, flow_at(record.address, self.flow_step));
            forgotten.push(Forgotten { endpoint, towards, at: now });
        }
        record.state = S::Queue::default();
        record.wake_at = None;
        record.set_turn(None);
        record.ask_by(None);
        self.nodes[endpoint].queues.remove(record.address);
        self.free.push(queue);
    }

    /// Takes a message from its generator.
    #[inline]
    fn take(&mut self, fabric: &mut Fabric, feed: u32) -> Message {
        let feed = &mut self.feeds[feed];
        let message = feed.pop(&self.plan.traffic[feed.class as usize]);
        if message.born() >= feed.counted {
            fabric.probe.offered(&message, true);
        }
        message
    }

    /// A queue that has no message gets the first of those that wait for it in their generators, as if they had waited in it: of
    /// those created by a time, up to which the endpoint has been looked at.
    #[inline]
    fn go_on(&mut self, fabric: &mut Fabric, endpoint: u32, queue: u32, by: Tick) {
        let (node, record) = (&self.nodes[endpoint], &self.queues[queue]);
        if !node.generators_wait || record.has_message() {
            return;
        }
        let waits = |&at: &u32| {
            let feed = &self.feeds[at];
            let is_of_it = |dst| self.address(Towards { dst, group: feed.class, flow: 0 }) == record.address;
            feed.born <= by && feed.only.is_some_and(is_of_it)
        };
        let Some(first) = node.generators.clone().filter(waits).min_by_key(|&at| self.feeds[at].born) else {
            return;
        };
        let message = self.take(fabric, first);
        self.add(queue, message);
        let (node, next) = (&mut self.nodes[endpoint], self.feeds[first].born);
        if next > by {
            node.next_born = node.next_born.min(next);
        }
    }

    /// A message came to a queue: the first joins the round robin; if others wait, it joins only if it has something to send now.
    #[inline]
    fn note_message(&mut self, endpoint: u32, queue: u32, others_wait: bool, now: Tick) {
        if others_wait {
            self.line_up(endpoint, queue, now);
        } else {
            self.make_ready(endpoint, queue, now);
        }
    }

    fn make_ready(&mut self, endpoint: u32, queue: u32, now: Tick) {
        let record = &mut self.queues[queue];
        if !record.ready {
            record.ready = true;
            record.wake_at = None;
            let grade = record.grade;
            self.nodes[endpoint].lane(grade).ready.push_back(queue);
        }
        self.note_want(endpoint, queue, now);
        self.hurry(endpoint, queue, now);
    }

    /// A queue that wants to reserve does so ahead of all data, if the protocol wants it to; one that may want to at a time is asked
    /// then, whatever stands before it in the round robin.
    #[inline]
    fn hurry(&mut self, endpoint: u32, queue: u32, now: Tick) {
        let record = &mut self.queues[queue];
        if !self.at_once || record.hurried {
            return;
        }
        match self.source.pull(record, now) {
            Pull::Reserve(_) => {
                record.hurried = true;
                let grade = record.grade;
                self.nodes[endpoint].lane(grade).hurried.push_back(queue);
            }
            Pull::At(at) => self.look_at(endpoint, queue, at),
            _ => {}
        }
    }
}

impl<S: Source> Nics for NicSet<S> {
    fn start(&mut self, fabric: &mut Fabric) {
        for endpoint in 0..self.nodes.len() as u32 {
            self.nodes[endpoint].next_born = 0;
            self.serve(fabric, endpoint);
        }
    }

    fn deliver(&mut self, fabric: &mut Fabric, endpoint: u32, id: u32) {
        let packet = fabric.pool.get(id);
        fabric.pool.remove(id);
        assert_eq!(
            packet.hot.dst, fabric.share.endpoints[endpoint as usize],
            "law broken: a packet reached an endpoint it was not for"
        );
        fabric.probe.arrived(&packet, fabric.now);
        let received = self.received(&packet, fabric.now);
        let (mut told, mut heard) = (false, false);
        if packet.hot.kind() == Kind::Data {
            if self.source.accept(&mut self.sinks[endpoint], &received) {
                let whole = self.receive(fabric, endpoint, &packet);
                told = whole && packet.cold.class() as usize >= self.first_job;
            } else {
                fabric.probe.discarded(&packet, fabric.now);
            }
        } else if packet.hot.kind() == Kind::Return {
            self.returned(fabric, endpoint, &packet);
        } else if matches!(packet.hot.kind(), Kind::SetUp | Kind::Probe | Kind::TearDown) {
            self.turn_round(fabric, endpoint, &packet);
        } else {
            heard = self.hear(fabric, endpoint, &packet);
        }
        self.answer(fabric, endpoint, &received);
        self.prompt(fabric, endpoint);
        if told {
            self.job_delivered(fabric, endpoint, &packet);
        }
        // What it sent may have taken the place of a packet that waits for credit: the channel no longer knows that one does.
        if told || heard || self.nodes[endpoint].is_waiting(fabric.now) {
            if self.plan.interleave {
                // Another packet's tail may come in this tick, and be a word about what to send.
                fabric.wake(fabric.ports + endpoint, fabric.now);
            } else {
                self.serve(fabric, endpoint);
            }
        }
    }

    fn hear_signal(&mut self, fabric: &mut Fabric, endpoint: u32, signal: &Signal) {
        self.obey(fabric, endpoint, signal);
    }

    fn fetch(&self, endpoint: u32) {
        self.nodes.fetch(endpoint);
        self.feeds.fetch(endpoint);
    }

    fn wake(&mut self, fabric: &mut Fabric, endpoint: u32) {
        self.serve(fabric, endpoint);
    }

    fn count_offered(&mut self, fabric: &mut Fabric) {
        self.note_forgotten(fabric);
        let now = fabric.now;
        for feed in self.feeds.iter_mut() {
            let mut ahead = Feed { generator: feed.generator.clone(), ..*feed };
            while ahead.born < now {
                let message = ahead.pop(&self.plan.traffic[feed.class as usize]);
                if message.born() >= feed.counted {
                    fabric.probe.offered(&message, true);
                }
            }
            feed.counted = now;
        }
    }

    fn retained_peak(&self) -> u32 {
        self.retained_peak
    }

    fn memory(&self) -> u64 {
        let queue = size_of::<SendQueue<S::Queue>>();
        let control = self.nodes.iter().map(|node| {
            node.control.capacity() * size_of::<Packet>()
                + node.flows.capacity() * size_of::<Candidate>()
                + node.lanes().map(|lane| lane.parked.memory()).sum::<usize>()
                + node.queues.memory()
        });
        let messages = self.queues.iter().map(|queue| queue.memory());
        let sinks = self.sinks.iter().map(|sink| self.source.memory(sink) + size_of::<S::Sink>());
        let waiting = control.sum::<usize>() + messages.sum::<usize>() + self.queues.capacity() * queue;
        (waiting + sinks.sum::<usize>() + self.assembly.memory() + self.turns.memory()) as u64
    }

    fn hosts(&self) -> Option<&Hosts> {
        self.hosts.as_deref()
    }

    fn release(&mut self, fabric: &mut Fabric, job: usize, at: crate::units::Time) {
        let Some(hosts) = &mut self.hosts else { return };
        let tick = at.0.div_ceil(self.plan.tick);
        for endpoint in hosts.release(job, at) {
            let node = &mut self.nodes[endpoint];
            node.next_born = node.next_born.min(tick);
            fabric.wake(fabric.ports + endpoint, tick);
        }
    }
}
