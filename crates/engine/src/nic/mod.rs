//! The endpoints: sources that queue messages and cut them into packets, sinks that put them together again.
mod at_source;
mod circuit;
mod due;
pub mod injection;
mod paced;
mod parked;
pub mod queue;

use crate::core::circuits::{ByConnection, connection};
use crate::core::fabric::Fabric;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::core::table::Table;
use crate::core::{NEVER, Tick};
use crate::protocol::signal::Signal;
use crate::protocol::{Concern, OUT_OF_BAND, Pull, Received, Reply, Reserve, Sent, Source};
use crate::rng::mix;
use crate::routing::Route;
use crate::traffic::generator::{self, Generator};
use crate::workload::host::Hosts;
use at_source::{AtSource, Lacking, awaited, first_queue, waits_for_the_same};
use due::Due;
use injection::Clock;
use parked::Parked;
use queue::{Message, SendQueue, key};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

/// The endpoints of a partition, whatever their protocol.
pub trait Nics: Send {
    /// Arms the first wake of every endpoint.
    fn start(&mut self, fabric: &mut Fabric);
    /// A packet's tail reaches an endpoint (local number).
    fn deliver(&mut self, fabric: &mut Fabric, endpoint: u32, id: u32);
    /// A signal reaches an endpoint out of band.
    fn hear_signal(&mut self, fabric: &mut Fabric, endpoint: u32, signal: &Signal);
    /// An endpoint may be able to send.
    fn wake(&mut self, fabric: &mut Fabric, endpoint: u32);
    /// Counts what was offered up to `now`, messages not yet taken from their generators included.
    fn count_offered(&mut self, fabric: &mut Fabric);
    /// Largest amount of data any endpoint kept because a switch might have dropped it, in flits.
    fn retained_peak(&self) -> u32;
    /// Bytes held by messages and packets that wait.
    fn memory(&self) -> u64;
    /// The ranks of jobs on these endpoints.
    fn hosts(&self) -> Option<&Hosts>;
    /// The barrier of a job is over at a time.
    fn release(&mut self, fabric: &mut Fabric, job: usize, at: crate::units::Time);
}

/// One endpoint.
struct Node {
    /// Control packets to send, in order.
    control: VecDeque<Packet>,
    /// Queues in the round robin.
    ready: VecDeque<u32>,
    /// Queues that wait for credit, beside it, if `NicSet::parks`.
    parked: Parked,
    /// Queues that want to reserve at once; they stand in the round robin too.
    hurried: VecDeque<u32>,
    /// Queues that wait for a time; ties go by destination, since numbers depend on the partitioning.
    asleep: BinaryHeap<Reverse<(Tick, u32, u32)>>,
    /// Queues with data whose time comes.
    due: Due,
    /// Destinations with a queue, and their queues.
    queues: Vec<(u32, u32)>,
    /// Its generators: a range of `NicSet::generators`.
    generators: std::ops::Range<u32>,
    /// Creation of the next message.
    next_born: Tick,
    next_message: u32,
    /// No data before this time.
    hold: Tick,
    /// Flits sent that may be dropped, of which no answer has come.
    retained: u32,
    /// Data packets sent, or refused once.
    turn: u32,
    /// Its periods, and when it is to be looked at, if its flows have rates.
    clock: Clock,
    /// See `clock`.
    paced_at: Tick,
}

/// A generator with what the endpoint knows of it.
struct Feed {
    generator: Generator,
    /// Creation of its next message.
    born: Tick,
    class: u8,
    /// The only destination, if there is one: then messages stay in the generator until their turn comes.
    only: Option<u32>,
    /// Messages up to here have been counted as offered.
    counted: Tick,
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
    /// Flits that are missing of messages of several packets, and the number behind the last packet that came, by
    /// (source, message).
    assembly: HashMap<(u32, u32), (u32, u16), FixedState>,
    replies: Vec<Reply>,
    /// Bit n is set if class n may be dropped.
    droppable: u64,
    retained_peak: u32,
    fifo: bool,
    /// Whether queues whose packet lacks credit leave the round robin until there may be some.
    parks: bool,
    /// Whether queues reserve ahead of all data.
    at_once: bool,
    /// Traffic class of data, and of the packets that announce and end flows.
    data_class: u8,
    /// The ranks of jobs on these endpoints.
    hosts: Option<Box<Hosts>>,
    /// First class that is a job.
    first_job: usize,
}

impl Feed {
    /// Takes the next message.
    fn pop(&mut self, traffic: &generator::Plan) -> Message {
        let drawn = self.generator.pop(traffic).expect("a message was due");
        self.born = born(&self.generator, traffic);
        Message::new(drawn.born, drawn.destination, drawn.flits, self.class)
    }
}

fn born(generator: &Generator, traffic: &generator::Plan) -> Tick {
    generator.peek(traffic).map_or(NEVER, |message| message.born)
}

type FixedState = std::hash::BuildHasherDefault<Mixer>;

/// Hashes small integer keys by mixing.
#[derive(Default)]
struct Mixer(u64);

impl std::hash::Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte as u32));
    }
    fn write_u32(&mut self, word: u32) {
        self.0 = mix(self.0, word as u64);
    }
}

impl<S: Source> NicSet<S> {
    /// The endpoints of a partition, with the generators of their traffic.
    pub fn new(source: S, plan: &Arc<Plan>, share: &Share) -> Self {
        let (mut feeds, mut nodes) = (Vec::new(), Vec::with_capacity(share.endpoints.len()));
        for &endpoint in &share.endpoints {
            let first = feeds.len() as u32;
            for (class, traffic) in plan.traffic.iter().enumerate() {
                let destinations = &traffic.class().destinations;
                if destinations.sources().binary_search(&endpoint).is_err() {
                    continue;
                }
                let generator = Generator::new(traffic, endpoint);
                let (born, only) = (born(&generator, traffic), destinations.only(endpoint));
                feeds.push(Feed { generator, born, class: class as u8, only, counted: 0 });
            }
            nodes.push(Node {
                control: VecDeque::new(),
                ready: VecDeque::new(),
                parked: Parked::default(),
                hurried: VecDeque::new(),
                asleep: BinaryHeap::new(),
                due: Due::default(),
                queues: Vec::new(),
                generators: first..feeds.len() as u32,
                next_born: NEVER,
                next_message: 0,
                hold: 0,
                retained: 0,
                turn: 0,
                clock: Clock::default(),
                paced_at: NEVER,
            });
        }
        Self {
            at_once: source.reserves_at_once(),
            // Where a queue may pull other classes meanwhile, it must be asked again.
            parks: waits_for_the_same(plan) && source.pulls().count_ones() == 1,
            source,
            sinks: nodes.iter().map(|_| S::Sink::default()).collect(),
            nodes: nodes.into(),
            queues: Table::default(),
            free: Vec::new(),
            feeds: feeds.into(),
            assembly: HashMap::default(),
            replies: Vec::new(),
            droppable: plan
                .channels
                .classes
                .iter()
                .rev()
                .fold(0, |all, class| all << 1 | class.droppable as u64),
            retained_peak: 0,
            fifo: plan.fifo,
            data_class: plan.data_class(),
            hosts: Hosts::new(plan, share),
            first_job: plan.traffic.len(),
            plan: plan.clone(),
        }
    }

    fn find(&self, endpoint: u32, dst: u32) -> Option<u32> {
        let node = &self.nodes[endpoint];
        if self.fifo {
            return node.queues.first().map(|&(_, queue)| queue);
        }
        node.queues.iter().find(|&&(other, _)| other == dst).map(|&(_, queue)| queue)
    }

    /// The send queue for a destination, made if there is none.
    fn queue(&mut self, endpoint: u32, dst: u32) -> u32 {
        if let Some(found) = self.find(endpoint, dst) {
            return found;
        }
        let queue = match self.free.pop() {
            Some(queue) => queue,
            None => {
                self.queues.push(SendQueue::default());
                self.queues.len() as u32 - 1
            }
        };
        self.queues[queue].dst = dst;
        let node = &mut self.nodes[endpoint];
        node.queues.push((dst, queue));
        queue
    }

    /// Forgets a queue that is empty and whose state is as that of a new one.
    fn forget(&mut self, endpoint: u32, queue: u32, now: Tick) {
        let record = &mut self.queues[queue];
        if self.fifo
            || record.ready
            || record.hurried
            || record.noted.is_some()
            || !record.is_empty()
            || !record.circuit.is_closed()
            || !self.source.idle(record, now)
        {
            return;
        }
        record.state = S::Queue::default();
        record.wake_at = None;
        let node = &mut self.nodes[endpoint];
        let at = node
            .queues
            .iter()
            .position(|&(_, other)| other == queue)
            .expect("a queue is in its endpoint's list");
        node.queues.swap_remove(at);
        self.free.push(queue);
    }

    fn make_ready(&mut self, endpoint: u32, queue: u32, now: Tick) {
        let record = &mut self.queues[queue];
        if !record.ready {
            record.ready = true;
            record.wake_at = None;
            self.nodes[endpoint].ready.push_back(queue);
        }
        if self.at_once && !record.hurried && matches!(self.source.pull(record, now), Pull::Reserve(_)) {
            record.hurried = true;
            self.nodes[endpoint].hurried.push_back(queue);
        }
    }

    /// Sends a reservation of those that go ahead of all data; returns whether one was sent.
    fn reserve(&mut self, fabric: &mut Fabric, endpoint: u32, lacking: &mut Lacking) -> bool {
        while let Some(queue) = self.nodes[endpoint].hurried.pop_front() {
            let pull = self.source.pull(&self.queues[queue], fabric.now);
            if !matches!(pull, Pull::Reserve(_)) {
                self.queues[queue].hurried = false;
                self.forget(endpoint, queue, fabric.now);
            } else if self.try_send(fabric, endpoint, queue, pull, lacking) {
                self.queues[queue].hurried = false;
                return true;
            } else {
                self.nodes[endpoint].hurried.push_front(queue);
                return false;
            }
        }
        false
    }

    /// Takes the messages created by now from the generators.
    fn fill(&mut self, fabric: &mut Fabric, endpoint: u32) {
        let now = fabric.now;
        if self.nodes[endpoint].next_born > now {
            return;
        }
        let mut next_born = self.run_jobs(fabric, endpoint);
        for at in self.nodes[endpoint].generators.clone() {
            loop {
                let feed = &self.feeds[at];
                if feed.born > now {
                    next_born = next_born.min(feed.born);
                    break;
                }
                // A class with one destination waits in its generator: its queue holds one message at a time.
                if let Some(dst) = feed.only
                    && let Some(queue) = self.find(endpoint, dst)
                    && self.queues[queue].has_message()
                {
                    break;
                }
                let feed = &mut self.feeds[at];
                let message = feed.pop(&self.plan.traffic[feed.class as usize]);
                if message.born >= feed.counted {
                    fabric.probe.offered(&message);
                }
                let queue = self.queue(endpoint, message.dst);
                self.queues[queue].push(message);
                self.make_ready(endpoint, queue, fabric.now);
            }
        }
        self.nodes[endpoint].next_born = next_born;
    }

    /// Sends the next packet, if the channel is free, and arms the next wake.
    fn serve(&mut self, fabric: &mut Fabric, endpoint: u32) {
        self.fill(fabric, endpoint);
        let (channel, now) = (fabric.ports + endpoint, fabric.now);
        while let Some(&Reverse((at, _, queue))) = self.nodes[endpoint].asleep.peek() {
            if at > now {
                break;
            }
            self.nodes[endpoint].asleep.pop();
            if self.queues[queue].wake_at == Some(at) {
                self.queues[queue].wake_at = None;
                self.make_ready(endpoint, queue, now);
            }
        }
        // Reservations need not wait for the channel if they go between the flits of data.
        let early = self.at_once && self.plan.interleave;
        if early && fabric.channels[channel].free_at > now {
            fabric.take_credits(channel);
            while self.reserve(fabric, endpoint, &mut Lacking::default()) {}
        }
        let starved = fabric.channels[channel].free_at <= now && self.send_one(fabric, endpoint);
        let node = &self.nodes[endpoint];
        let free_at = fabric.channels[channel].free_at;
        let mut wake = node.next_born.min(node.paced_at);
        if let Some(Reverse((at, ..))) = node.asleep.peek() {
            wake = wake.min(*at);
        }
        if let Some(at) = node.due.next(now) {
            wake = wake.min(at);
        }
        let idle = node.control.is_empty()
            && node.ready.is_empty()
            && node.parked.is_empty()
            && node.hurried.is_empty()
            && !node.due.is_ready(now);
        let held = !idle && node.hold > free_at.max(now);
        if free_at > now && !idle && (!held || !node.control.is_empty()) {
            wake = if early { wake.min(free_at) } else { free_at };
        } else if held {
            wake = wake.min(node.hold);
        }
        if free_at <= now && starved {
            wake = wake.min(fabric.next_credit(channel));
        }
        if wake != NEVER {
            fabric.wake(channel, wake.max(if early { now + 1 } else { free_at }));
        }
    }

    /// Tries control packets, then data whose time has come, then the queues in turn. Returns whether something lacked credit.
    fn send_one(&mut self, fabric: &mut Fabric, endpoint: u32) -> bool {
        let channel = fabric.ports + endpoint;
        fabric.take_credits(channel);
        let mut starved = false;
        if let Some(packet) = self.nodes[endpoint].control.front() {
            if fabric.credit(channel, packet.hot.next_vc) >= packet.hot.flits() {
                let mut packet = self.nodes[endpoint].control.pop_front().expect("seen");
                self.inject(fabric, endpoint, &mut packet);
                return false;
            }
            starved = true;
        }
        if self.nodes[endpoint].hold > fabric.now {
            return starved;
        }
        if let Some(injection) = self.source.injection() {
            return self.send_paced(fabric, endpoint, injection) || starved;
        }
        let mut lacking = Lacking::default();
        let pulls = self.source.pulls();
        if self.at_once {
            if self.reserve(fabric, endpoint, &mut lacking) {
                return false;
            }
            starved |= !self.nodes[endpoint].hurried.is_empty();
        }
        while let Some(queue) = self.nodes[endpoint].due.first(&self.queues, fabric.now) {
            let pull = self.source.pull(&self.queues[queue], fabric.now);
            let again = matches!(pull, Pull::Again(_));
            if again && !self.try_send(fabric, endpoint, queue, pull, &mut lacking) {
                starved = true;
                break;
            }
            let due = &mut self.nodes[endpoint].due;
            due.take(&mut self.queues);
            due.note(queue, &mut self.queues[queue], self.droppable);
            self.make_ready(endpoint, queue, fabric.now);
            if again {
                return false;
            }
        }
        let node = &mut self.nodes[endpoint];
        if self.parks && !node.parked.is_empty() {
            starved = true;
            node.parked.release(&mut node.ready, |vc| fabric.credit(channel, vc) > 0);
        }
        let mut back = 0;
        for _ in 0..self.nodes[endpoint].ready.len() {
            if pulls & !lacking.classes == 0 {
                // All others would go to the end too: as if they had.
                self.nodes[endpoint].ready.rotate_right(back);
                break;
            }
            let queue = self.nodes[endpoint].ready.pop_front().expect("counted");
            match self.pull(queue, fabric.now) {
                Pull::Wait => {
                    self.queues[queue].ready = false;
                    self.forget(endpoint, queue, fabric.now);
                }
                Pull::At(at) => {
                    let record = &mut self.queues[queue];
                    record.ready = false;
                    record.wake_at = Some(at);
                    let dst = record.dst;
                    self.nodes[endpoint].asleep.push(Reverse((at, dst, queue)));
                }
                pull => {
                    if self.try_send(fabric, endpoint, queue, pull, &mut lacking) {
                        self.requeue(endpoint, queue, pull, fabric.now);
                        return false;
                    }
                    starved = true;
                    back += self.put_back(fabric, endpoint, queue, pull, &lacking);
                }
            }
        }
        starved
    }

    /// A queue whose packet found no credit parks, or goes to the end of the round robin; returns how many did the latter.
    fn put_back(
        &mut self,
        fabric: &Fabric,
        endpoint: u32,
        queue: u32,
        pull: Pull,
        lacking: &Lacking,
    ) -> usize {
        let node = &mut self.nodes[endpoint];
        match pull {
            Pull::Next(class) if self.parks => {
                let ends = (fabric.share.endpoints[endpoint as usize], self.queues[queue].dst);
                node.parked.add(awaited(&self.plan, class, ends, lacking.last), queue);
                0
            }
            _ => {
                node.ready.push_back(queue);
                1
            }
        }
    }

    /// Sends what a queue wants to send if there is credit.
    fn try_send(
        &mut self,
        fabric: &mut Fabric,
        endpoint: u32,
        queue: u32,
        pull: Pull,
        lacking: &mut Lacking,
    ) -> bool {
        let (Pull::Next(class)
        | Pull::Again(class)
        | Pull::Control(class, ..)
        | Pull::Reserve(Reserve { class, .. })) = pull
        else {
            unreachable!("a pull that sends nothing")
        };
        if lacking.classes >> class & 1 == 1 {
            return false;
        }
        let mut packet = self.draft(fabric, endpoint, queue, pull);
        let turn = self.queues[queue].turn.unwrap_or(self.nodes[endpoint].turn);
        let turn = (packet.hot.kind() == Kind::Data).then_some(turn);
        self.route_at_source(fabric, turn, &mut packet, class);
        let channel = fabric.ports + endpoint;
        if fabric.credit(channel, packet.hot.next_vc) < packet.hot.flits() {
            self.take_turn(endpoint, queue, &packet);
            lacking.note(&self.plan, class, packet.hot.next_vc);
            return false;
        }
        if let Pull::Reserve(reserve) = pull
            && !self.follows(fabric, channel, &packet, &reserve)
        {
            lacking.note(&self.plan, class, packet.hot.next_vc);
            return false;
        }
        let first = self.commit(fabric, endpoint, queue, pull, &mut packet);
        self.take_turn(endpoint, queue, &packet);
        self.queues[queue].turn = None;
        self.inject(fabric, endpoint, &mut packet);
        let end = fabric.channels[channel].free_at;
        if first && packet.cold.class as usize >= self.first_job {
            self.job_injected(endpoint, &packet, end);
        }
        let sent = Sent { pull, packet: &packet, now: fabric.now, end };
        if matches!(pull, Pull::Next(_) | Pull::Again(_)) {
            let sink = &mut self.sinks[endpoint];
            self.nodes[endpoint].hold = self.source.hold(sink, &sent);
            if fabric.probe.control_recorded() && self.source.signals() == Concern::Endpoint {
                fabric.probe.allowed(
                    packet.cold.src,
                    None,
                    self.source.allowed(sink, fabric.now),
                    fabric.now,
                );
            }
        }
        let record = &mut self.queues[queue];
        self.source.on_sent(record, &sent);
        self.nodes[endpoint].due.note(queue, record, self.droppable);
        // A class that waits in its generator may go on now.
        self.nodes[endpoint].next_born = self.nodes[endpoint].next_born.min(fabric.now);
        true
    }

    /// A data packet takes the next turn, unless it has one: what it waits for does not change while others are sent.
    fn take_turn(&mut self, endpoint: u32, queue: u32, packet: &Packet) {
        let (record, node) = (&mut self.queues[queue], &mut self.nodes[endpoint]);
        if packet.hot.kind() == Kind::Data && record.turn.is_none() {
            record.turn = Some(node.turn);
            node.turn = node.turn.wrapping_add(1);
        }
    }

    /// A queue that has sent goes to the end of the round robin.
    fn requeue(&mut self, endpoint: u32, queue: u32, pull: Pull, now: Tick) {
        if self.queues[queue].is_empty() && self.pull(queue, now) == Pull::Wait {
            let record = &mut self.queues[queue];
            record.ready = false;
            self.forget(endpoint, queue, now);
        } else if matches!(pull, Pull::Reserve(Reserve { then: Some(_), .. })) {
            // The first packet takes its turn together with the reservation.
            self.nodes[endpoint].ready.push_front(queue);
        } else {
            self.nodes[endpoint].ready.push_back(queue);
        }
    }

    /// Whether the first packet that a reservation is for can be sent directly behind it, if it must.
    fn follows(&self, fabric: &Fabric, channel: u32, reservation: &Packet, reserve: &Reserve) -> bool {
        let Some(then) = reserve.then else { return true };
        let channels = &self.plan.channels;
        let network = channels.network_of[reservation.hot.next_vc as usize];
        let flits = reserve.flits.min(self.plan.packet_flits as u32);
        let route = Route { network, ..Route::default() };
        let queue = first_queue(&self.plan, then, (reservation.cold.src, reservation.hot.dst), &route);
        fabric.credit(channel, channels.index(then, network, queue, 0)) >= flits
    }

    /// The packet that a queue wants to send; nothing is changed yet.
    fn draft(&self, fabric: &Fabric, endpoint: u32, queue: u32, pull: Pull) -> Packet {
        let record = &self.queues[queue];
        let mut packet = Packet::default();
        packet.hot.dst = record.dst;
        packet.cold.src = fabric.share.endpoints[endpoint as usize];
        match pull {
            Pull::Next(_) => {
                let message = record.messages.front().expect("a message was asked for");
                let flits = record.left().min(self.plan.packet_flits as u32);
                packet.hot.set_size(Kind::Data, flits as u16);
                packet.hot.dst = message.dst;
                packet.cold.born = message.born;
                packet.cold.length = message.flits();
                packet.cold.sequence = record.sequence;
                packet.cold.class = message.class();
                packet.notes.tag = record.tag();
                packet.cold.message = record.number.unwrap_or(self.nodes[endpoint].next_message);
            }
            Pull::Again(_) => {
                let again = record.due().expect("a packet was due");
                let flits = again.flits.min(self.plan.packet_flits as u32);
                packet.hot.set_size(Kind::Data, flits as u16);
                packet.cold.born = again.born;
                packet.cold.length = again.length;
                packet.cold.sequence = again.sequence;
                packet.cold.class = again.group;
                packet.cold.message = again.message;
                packet.notes.tag = again.tag;
            }
            Pull::Control(_, kind, words) => {
                packet.hot.set_size(kind, self.plan.control_flits);
                packet.notes.words = words;
                packet.cold.born = fabric.now;
            }
            Pull::Reserve(reserve) => {
                packet.hot.set_size(Kind::Reservation, self.plan.control_flits);
                packet.cold.message = record.number.unwrap_or(self.nodes[endpoint].next_message);
                packet.cold.sequence = record.sequence;
                packet.notes.words = [reserve.flits as u64, key(packet.cold.message, packet.cold.sequence)];
                packet.cold.born = fabric.now;
            }
            Pull::At(_) | Pull::Wait => unreachable!("a pull that sends nothing"),
        }
        if packet.hot.kind() == Kind::Data {
            self.source.stamp(record, pull, &mut packet);
        }
        packet
    }

    /// Carries out what `draft` drew up; returns whether it is data that was not sent before.
    fn commit(
        &mut self,
        fabric: &mut Fabric,
        endpoint: u32,
        queue: u32,
        pull: Pull,
        packet: &mut Packet,
    ) -> bool {
        let mut first = false;
        let record = &mut self.queues[queue];
        let node = &mut self.nodes[endpoint];
        match pull {
            Pull::Next(_) => {
                record.assign(&mut node.next_message, 1);
                first = true;
                fabric.probe.first_injected(packet.cold.class, packet.hot.flits(), fabric.now);
                record.advance(packet.hot.flits(), 1);
                if record.sequence == 0 {
                    record.circuit.finish();
                }
            }
            Pull::Control(_, kind, words) => record.circuit.on_sent(kind, words[0]),
            Pull::Again(_) => {
                let again = record.take_due(self.plan.packet_flits as u32).expect("a packet was due");
                first = again.first;
                if first {
                    fabric.probe.first_injected(packet.cold.class, packet.hot.flits(), fabric.now);
                } else {
                    fabric.probe.resent(packet.cold.class, fabric.now);
                }
            }
            Pull::Reserve(reserve) => record.assign(&mut node.next_message, reserve.messages),
            _ => {}
        }
        if let Pull::Next(class) | Pull::Again(class) = pull
            && self.plan.channels.classes[class as usize].droppable
        {
            fabric.probe.speculated(packet.cold.class, fabric.now);
            node.retained += packet.hot.flits();
            self.retained_peak = self.retained_peak.max(node.retained);
        }
        first
    }

    /// Lets the routing choose for a packet, of data with its turn, and sets the virtual channel of the injection channel.
    fn route_at_source(&self, fabric: &Fabric, turn: Option<u32>, packet: &mut Packet, class: u8) {
        let (plan, cold) = (&*self.plan, &packet.cold);
        // A packet that waits for credit in its network must not draw another meanwhile.
        let at = turn.filter(|_| plan.channels.networks > 1).map_or(fabric.now, Tick::from);
        let key = [(cold.src as u64) << 32 | cold.message as u64, (cold.sequence as u64) << 48 ^ at];
        let mut route = Route::default();
        if plan.circuits {
            // All packets of a source for a destination go one way.
            let chance = mix(plan.seed, connection(cold.src, packet.hot.dst));
            let mut senses = ByConnection { chance, flows: |_| 0 };
            plan.router.inject(cold.src, packet.hot.dst, &mut route, &mut senses);
        } else {
            let mut senses = AtSource { fabric, packet, class, turn, key, drawn: 0 };
            plan.router.inject(cold.src, packet.hot.dst, &mut route, &mut senses);
        }
        let queue = first_queue(plan, class, (cold.src, packet.hot.dst), &route);
        packet.hot.set_route(route);
        packet.hot.next_vc = plan.channels.index(class, route.network, queue, 0);
    }

    #[inline]
    fn inject(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &mut Packet) {
        packet.cold.injected = fabric.now;
        packet.hot.tail = fabric.now;
        if packet.hot.kind() == Kind::Data {
            fabric.probe.injected(packet.cold.class, fabric.now);
        }
        let id = fabric.pool.insert(packet);
        let channel = fabric.ports + endpoint;
        if fabric.channels[channel].free_at > fabric.now {
            fabric.cut_in(channel, id);
        } else {
            fabric.transmit(channel, id);
        }
        fabric.probe.made += 1;
    }

    /// Takes data in: counts it, and puts the message together; returns whether it is whole.
    fn receive(&mut self, fabric: &mut Fabric, packet: &Packet) -> bool {
        let cold = &packet.cold;
        let mut whole = cold.length <= self.plan.packet_flits as u32;
        if !whole {
            let whole_message = (cold.length, 0);
            let (missing, next) = self.assembly.entry((cold.src, cold.message)).or_insert(whole_message);
            assert!(*missing >= packet.hot.flits(), "law broken: a packet was delivered twice: {packet:?}");
            *missing -= packet.hot.flits();
            if cold.sequence < *next {
                fabric.probe.reordered(cold.class, fabric.now);
            }
            *next = (*next).max(cold.sequence.saturating_add(1));
            whole = *missing == 0;
            if whole {
                self.assembly.remove(&(cold.src, cold.message));
            }
        }
        fabric.probe.delivered(packet, whole, fabric.now);
        whole
    }

    fn answer(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &Packet) {
        let mut replies = std::mem::take(&mut self.replies);
        let class = self.plan.channels.class_of[packet.hot.vc as usize];
        let droppable = self.plan.channels.classes[class as usize].droppable;
        let received = Received { packet, droppable, now: fabric.now };
        self.source.reply(&mut self.sinks[endpoint], &received, &mut replies);
        for reply in replies.drain(..) {
            if reply.class == OUT_OF_BAND {
                self.signal_back(fabric, packet, &reply);
                continue;
            }
            let mut answer = respond(packet, &reply, self.plan.control_flits, fabric.now);
            answer.cold.marked = reply.kind == Kind::Ack && droppable;
            self.route_at_source(fabric, None, &mut answer, reply.class);
            self.send_control(fabric, endpoint, answer);
        }
        self.replies = replies;
    }

    /// Sends a control packet at once if the channel is free and has credit, else behind those that wait.
    #[inline]
    fn send_control(&mut self, fabric: &mut Fabric, endpoint: u32, mut packet: Packet) {
        let channel = fabric.ports + endpoint;
        let starts = fabric.channels[channel].free_at <= fabric.now || fabric.interleaves(packet.hot.next_vc);
        if starts && self.nodes[endpoint].control.is_empty() {
            fabric.take_credits(channel);
            if fabric.credit(channel, packet.hot.next_vc) >= packet.hot.flits() {
                self.inject(fabric, endpoint, &mut packet);
                return;
            }
        }
        self.nodes[endpoint].control.push_back(packet);
    }

    /// Answers a packet out of band.
    fn signal_back(&mut self, fabric: &mut Fabric, packet: &Packet, reply: &Reply) {
        let mut answer = respond(packet, reply, 1, fabric.now);
        answer.hot.set_size(reply.kind, 1);
        let signal = Signal::brought_by(&answer, fabric.now).expect("the reply is one");
        let (switch, _) = self.plan.graph.endpoints[packet.hot.dst as usize];
        fabric.signal(switch, signal);
    }

    /// The signal in a control packet, if the protocol has any.
    fn signal_in(&self, packet: &Packet, now: Tick) -> Option<Signal> {
        match self.source.signals() {
            Concern::Nothing => None,
            _ => Signal::brought_by(packet, now),
        }
    }

    /// Does what a signal says.
    fn obey(&mut self, fabric: &mut Fabric, endpoint: u32, signal: &Signal) {
        let now = fabric.now;
        if self.source.signals() == Concern::Endpoint {
            self.source.on_signal(&mut self.sinks[endpoint], signal, now);
            if fabric.probe.control_recorded() {
                let rate = self.source.allowed(&mut self.sinks[endpoint], now);
                fabric.probe.allowed(signal.to, None, rate, now);
            }
            if self.nodes[endpoint].hold > now && self.source.is_released(&self.sinks[endpoint]) {
                self.nodes[endpoint].hold = now;
                let channel = fabric.ports + endpoint;
                fabric.wake(channel, now.max(fabric.channels[channel].free_at));
            }
            return;
        }
        let queue = self.queue(endpoint, signal.about);
        let record = &mut self.queues[queue];
        self.source.on_queue_signal(record, signal, now);
        if fabric.probe.control_recorded() {
            let rate = self.source.allowed_towards(record, signal.about);
            fabric.probe.allowed(signal.to, Some(signal.about), rate, now);
        }
        self.make_ready(endpoint, queue, now);
        let channel = fabric.ports + endpoint;
        fabric.wake(channel, now.max(fabric.channels[channel].free_at));
    }

    fn hear(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &Packet) {
        let kind = packet.hot.kind();
        if kind == Kind::Nack || kind == Kind::Ack && packet.cold.marked {
            let before = packet.cold.sequence as u32 * self.plan.packet_flits as u32;
            let flits = (packet.cold.length - before).min(self.plan.packet_flits as u32);
            self.nodes[endpoint].retained -= flits;
        }
        if !self.source.hears(kind) {
            return;
        }
        if let Some(signal) = self.signal_in(packet, fabric.now) {
            return self.obey(fabric, endpoint, &signal);
        }
        // An acknowledgement for a queue that was forgotten changes nothing unless it carries news.
        let plain = kind == Kind::Ack && packet.notes.words == [0; 2];
        let queue = match self.find(endpoint, packet.cold.src) {
            Some(queue) => queue,
            None if plain => return,
            None => self.queue(endpoint, packet.cold.src),
        };
        let record = &mut self.queues[queue];
        self.source.on_control(record, packet, fabric.now);
        self.nodes[endpoint].due.note(queue, record, self.droppable);
        if !record.has_message() {
            // A class that waits in its generator may go on now.
            let node = &mut self.nodes[endpoint];
            node.next_born = node.next_born.min(fabric.now);
        }
        if plain && record.is_empty() && !record.ready && record.wake_at.is_none() {
            self.forget(endpoint, queue, fabric.now);
        } else {
            self.make_ready(endpoint, queue, fabric.now);
        }
    }
}

/// The control packet that answers `packet`, on its way back.
pub fn respond(packet: &Packet, reply: &Reply, flits: u16, now: Tick) -> Packet {
    let mut answer = Packet { cold: packet.cold, ..Packet::default() };
    answer.hot.dst = packet.cold.src;
    answer.hot.set_size(reply.kind, flits);
    answer.cold.src = packet.hot.dst;
    answer.notes.words = reply.words;
    answer.cold.marked = false;
    answer.notes.waited = 0;
    answer.cold.injected = now;
    answer
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
        let mut told = false;
        if packet.hot.kind() == Kind::Data {
            if self.source.accept(&mut self.sinks[endpoint], &packet) {
                let whole = self.receive(fabric, &packet);
                told = whole && packet.cold.class as usize >= self.first_job;
            } else {
                fabric.probe.discarded(&packet);
            }
        } else if packet.hot.kind() == Kind::Return {
            self.returned(fabric, endpoint, &packet);
        } else if matches!(packet.hot.kind(), Kind::SetUp | Kind::Probe | Kind::TearDown) {
            self.turn_round(fabric, endpoint, &packet);
        } else {
            self.hear(fabric, endpoint, &packet);
        }
        self.answer(fabric, endpoint, &packet);
        if told {
            self.job_delivered(fabric, endpoint, &packet);
        }
        let node = &self.nodes[endpoint];
        if told || !node.control.is_empty() || !node.ready.is_empty() {
            self.serve(fabric, endpoint);
        }
    }

    fn hear_signal(&mut self, fabric: &mut Fabric, endpoint: u32, signal: &Signal) {
        self.obey(fabric, endpoint, signal);
    }

    fn wake(&mut self, fabric: &mut Fabric, endpoint: u32) {
        self.serve(fabric, endpoint);
    }

    fn count_offered(&mut self, fabric: &mut Fabric) {
        let now = fabric.now;
        for feed in self.feeds.iter_mut() {
            let mut ahead = Feed { generator: feed.generator.clone(), ..*feed };
            while ahead.born < now {
                let message = ahead.pop(&self.plan.traffic[feed.class as usize]);
                if message.born >= feed.counted {
                    fabric.probe.offered(&message);
                }
            }
            feed.counted = now;
        }
    }

    fn retained_peak(&self) -> u32 {
        self.retained_peak
    }

    fn memory(&self) -> u64 {
        let queue = std::mem::size_of::<SendQueue<S::Queue>>();
        let control = self
            .nodes
            .iter()
            .map(|node| node.control.capacity() * std::mem::size_of::<Packet>() + node.parked.memory());
        let messages = self.queues.iter().map(|queue| queue.memory());
        let waiting = control.sum::<usize>() + messages.sum::<usize>() + self.queues.capacity() * queue;
        waiting as u64 + self.hosts.as_ref().map_or(0, |hosts| hosts.memory())
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

/// What jobs do at endpoints: [`Hosts`] knows of ranks, this of queues and packets.
impl<S: Source> NicSet<S> {
    /// Lets the ranks of an endpoint do what is due, and queues what they send. Returns when something is due next.
    fn run_jobs(&mut self, fabric: &mut Fabric, endpoint: u32) -> Tick {
        let Some(mut hosts) = self.hosts.take() else { return NEVER };
        let next = hosts.advance(endpoint, fabric.now);
        for out in hosts.take() {
            let message = Message::new(out.born, out.dst, out.flits, out.class);
            fabric.probe.offered(&message);
            let queue = self.queue(endpoint, out.dst);
            self.queues[queue].push_tagged(message, out.tag);
            self.make_ready(endpoint, queue, fabric.now);
        }
        self.hosts = Some(hosts);
        next
    }

    /// A packet of a job was sent for the first time; `end` is when its tail leaves.
    fn job_injected(&mut self, endpoint: u32, packet: &Packet, end: Tick) {
        let (hot, cold) = (&packet.hot, &packet.cold);
        let sent = cold.sequence as u32 * self.plan.packet_flits as u32 + hot.flits();
        if sent == cold.length
            && let Some(hosts) = &mut self.hosts
        {
            hosts.injected(endpoint, cold.class, hot.dst, packet.notes.tag, end);
            let node = &mut self.nodes[endpoint];
            node.next_born = node.next_born.min(end);
        }
    }

    /// A message of a job is whole.
    fn job_delivered(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &Packet) {
        // What was due before the message came is done first.
        self.run_jobs(fabric, endpoint);
        if let Some(hosts) = &mut self.hosts {
            hosts.note(packet, fabric.now);
            hosts.delivered(endpoint, packet.cold.class, packet.cold.src, packet.notes.tag, fabric.now);
        }
        let next = self.run_jobs(fabric, endpoint);
        let node = &mut self.nodes[endpoint];
        node.next_born = node.next_born.min(next);
    }
}
