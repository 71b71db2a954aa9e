//! Whose turn it is to send: reservations in a hurry, control packets, data whose time has come, then the queues in turn.
use super::NicSet;
use super::at_source::{Lacking, awaited};
use super::feed::Feed;
use super::node::Node;
use super::towards::Towards;
use crate::core::NEVER;
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::packet::Packet;
use crate::protocol::{Pull, Reserve, Source};
use std::cmp::Reverse;
use std::num::NonZero;

/// Queues in the round robin from which on it is noted what each wants to send.
const MANY: usize = 8;

impl<S: Source> NicSet<S> {
    /// Sends a reservation of those that go ahead of all data; returns whether one was sent.
    pub(super) fn reserve(&mut self, fabric: &mut Fabric, endpoint: u32, lacking: &mut Lacking) -> bool {
        (0..self.grades).any(|grade| self.reserve_of(fabric, (endpoint, grade), lacking))
    }

    /// Sends a reservation for messages of a grade.
    fn reserve_of(
        &mut self,
        fabric: &mut Fabric,
        (endpoint, grade): (u32, u8),
        lacking: &mut Lacking,
    ) -> bool {
        while let Some(queue) = self.nodes[endpoint].lane(grade).hurried.pop_front() {
            let pull = self.source.pull(&self.queues[queue], fabric.now);
            if !matches!(pull, Pull::Reserve(_)) {
                self.queues[queue].hurried = false;
                self.forget(endpoint, queue, fabric.now);
            } else if self.try_send(fabric, endpoint, queue, pull, lacking) {
                self.queues[queue].hurried = false;
                return true;
            } else {
                self.nodes[endpoint].lane(grade).hurried.push_front(queue);
                return false;
            }
        }
        false
    }

    /// Takes the messages created by `at` from the generators, on the way to `until`.
    #[inline(always)]
    fn fill(&mut self, fabric: &mut Fabric, endpoint: u32, at: Tick, until: Tick) {
        let mut next_born = if self.hosts.is_some() { self.run_jobs(fabric, endpoint, at) } else { NEVER };
        let generators = self.nodes[endpoint].generators.clone();
        for feed in generators.clone() {
            loop {
                let Feed { born, only, .. } = self.feeds[feed];
                if born > at {
                    next_born = next_born.min(born);
                    break;
                }
                // A class with one destination waits in its generator: its queue holds one message at a time.
                if let Some(dst) = only
                    && let Some(queue) =
                        self.find(endpoint, Towards { dst, group: self.feeds[feed].class, flow: 0 })
                    && self.queues[queue].has_message()
                {
                    break;
                }
                let message = self.take(fabric, feed);
                let message =
                    self.of_a_flow(fabric.share.endpoints[endpoint as usize], message, [0; 2], true);
                // Several of one time take turns by their queues.
                let last = || generators.clone().all(|other| self.feeds[other].born > until);
                if let Some(class) = self.unqueued
                    && until == fabric.now
                    && last()
                    && self.send_unqueued(fabric, endpoint, &message, class)
                {
                    continue;
                }
                let queue = self.queue(endpoint, Towards::of(&message));
                let waits = self.queues[queue].has_message();
                self.add(queue, message);
                self.note_message(endpoint, queue, waits, at);
            }
        }
        self.nodes[endpoint].next_born = next_born;
    }

    /// What becomes ready by `until` joins the round robin in the order of its times, whenever the endpoint is looked at: messages as
    /// they are created, queues that waited for a time. Whether one has a reservation to send ahead of all data is asked as of that
    /// time too: it may have by now what it had not then.
    #[inline(always)]
    pub(super) fn catch_up(&mut self, fabric: &mut Fabric, endpoint: u32, until: Tick) {
        loop {
            let node = &mut self.nodes[endpoint];
            let (wakes, address, queue) = node.asleep.peek().map_or((NEVER, 0, 0), |&Reverse(first)| first);
            let at = node.next_born.min(wakes);
            if at > until {
                return;
            }
            if node.next_born <= at {
                self.fill(fabric, endpoint, at, until);
                continue;
            }
            node.asleep.pop();
            // It may have been looked at before, or be forgotten, and another's queue by now.
            let is_the_same = self.nodes[endpoint].queues.find(address) == Some(queue);
            if is_the_same && self.queues[queue].wake_at == NonZero::new(at) {
                self.queues[queue].wake_at = None;
                if self.queues[queue].is_empty() {
                    self.line_up(endpoint, queue, at);
                } else {
                    self.make_ready(endpoint, queue, at);
                }
            }
        }
    }

    /// Sends the next packet, if the channel is free, and arms the next wake.
    pub(super) fn serve(&mut self, fabric: &mut Fabric, endpoint: u32) {
        let (channel, now) = (fabric.ports + endpoint, fabric.now);
        self.catch_up(fabric, endpoint, now);
        if self.nodes[endpoint].prompt_at <= now {
            self.prompt(fabric, endpoint);
        }
        let mut starved = fabric.channels[channel].free_at <= now && self.send_one(fabric, endpoint);
        // Control packets need not wait for the channel if they go between the flits of data.
        let early = self.plan.interleave && (self.at_once || !self.nodes[endpoint].control.is_empty());
        if early && fabric.channels[channel].free_at > now {
            fabric.take_credits(channel);
            while self.send_first_control(fabric, endpoint) {}
            while self.reserve(fabric, endpoint, &mut Lacking::default()) {}
            let node = &self.nodes[endpoint];
            starved = !node.control.is_empty() || node.hurries();
        }
        let node = &self.nodes[endpoint];
        let free_at = fabric.channels[channel].free_at;
        let mut wake = node.next_born.min(node.paced_at);
        if let Some(Reverse((at, ..))) = node.asleep.peek() {
            wake = wake.min(*at);
        }
        wake = wake.min(node.next_due(now));
        let waits = node.is_waiting(now);
        let held = waits && node.hold > free_at.max(now);
        if free_at > now && waits && (!held || !node.control.is_empty()) {
            wake = if early { wake.min(free_at) } else { free_at };
        } else if held {
            wake = wake.min(node.hold);
        }
        fabric.channels[channel].starved = false;
        if starved && (early || free_at <= now) {
            wake = wake.min(fabric.next_credit(channel));
        }
        if wake != NEVER {
            fabric.wake(channel, wake.max(if early { now + 1 } else { free_at }));
        }
        self.arm_prompt(fabric, endpoint);
        // A source that weighs its networks does so whenever it is looked at.
        if cfg!(debug_assertions) && !self.plan.router.weighs() {
            fabric.wake_idly(channel);
        }
    }

    /// Tries control packets, then data whose time has come, then the queues in turn. Returns whether something lacked credit.
    pub(super) fn send_one(&mut self, fabric: &mut Fabric, endpoint: u32) -> bool {
        let channel = fabric.ports + endpoint;
        fabric.take_credits(channel);
        if self.send_first_control(fabric, endpoint) {
            return false;
        }
        let mut starved = !self.nodes[endpoint].control.is_empty();
        if self.nodes[endpoint].hold > fabric.now {
            return starved;
        }
        if let Some(injection) = self.source.injection() {
            let lacks = self.send_paced(fabric, endpoint, injection);
            self.nodes[endpoint].paced_lacks = lacks;
            return lacks || starved;
        }
        let mut lacking = Lacking::default();
        if self.at_once {
            if self.reserve(fabric, endpoint, &mut lacking) {
                return false;
            }
            starved |= self.nodes[endpoint].hurries();
        }
        let Some(lacked) = self.send_of(fabric, (endpoint, 0), &mut lacking) else { return false };
        starved |= lacked;
        for grade in 1..self.grades {
            let Some(lacked) = self.send_of(fabric, (endpoint, grade), &mut lacking) else { return false };
            starved |= lacked;
        }
        starved
    }

    /// Tries data of a grade whose time has come, then its queues in turn. Returns whether something lacked credit, or none if a packet
    /// was sent.
    #[inline]
    fn send_of(
        &mut self,
        fabric: &mut Fabric,
        (endpoint, grade): (u32, u8),
        lacking: &mut Lacking,
    ) -> Option<bool> {
        let mut starved = false;
        let Node { urgent, others, queues: directory, .. } = &mut self.nodes[endpoint];
        let due = if grade == 0 { &mut urgent.due } else { &mut others[usize::from(grade) - 1].due };
        if let Some(queue) = due.first(&self.queues, directory, fabric.now) {
            let pull = self.source.pull(&self.queues[queue], fabric.now);
            debug_assert!(matches!(pull, Pull::Again(_)), "law broken: something goes before what is due");
            if self.try_send(fabric, endpoint, queue, pull, lacking) {
                self.line_up(endpoint, queue, fabric.now);
                return None;
            }
            starved = true;
        }
        self.send_in_turn(fabric, (endpoint, grade), lacking).map(|lacked| starved || lacked)
    }

    /// Sends the first control packet that has credit; returns whether there was one.
    #[inline]
    fn send_first_control(&mut self, fabric: &mut Fabric, endpoint: u32) -> bool {
        let channel = fabric.ports + endpoint;
        let has_credit = |packet: &Packet| fabric.credit(channel, packet.hot.next_vc) >= packet.hot.flits();
        let control = &mut self.nodes[endpoint].control;
        let Some(at) = control.iter().position(has_credit) else { return false };
        let mut packet = control.remove(at).expect("seen");
        self.inject(fabric, endpoint, &mut packet);
        true
    }

    /// Tries the queues of a grade in turn. Returns whether something lacked credit, or none if a packet was sent.
    fn send_in_turn(
        &mut self,
        fabric: &mut Fabric,
        (endpoint, grade): (u32, u8),
        lacking: &mut Lacking,
    ) -> Option<bool> {
        let (mut starved, channel) = (false, fabric.ports + endpoint);
        let lane = self.nodes[endpoint].lane(grade);
        if self.parks && !lane.parked.is_empty() {
            starved = true;
            let most = u32::from(self.plan.packet_flits);
            lane.parked.call(&mut lane.ready, !self.plan.router.weighs(), |vc, queue| {
                fabric.credit(channel, vc) >= self.queues[queue].left().min(most)
            });
        }
        let (mut back, mut wants) = (0, 0);
        for _ in 0..self.nodes[endpoint].lane(grade).ready.len() {
            // A queue that parks has to be asked: it leaves the round robin.
            let skips = lacking.classes != 0 && !self.parks;
            if skips && self.nodes[endpoint].lane(grade).wants & !lacking.classes == 0 {
                debug_assert!(self.all_want((endpoint, grade), lacking.classes, fabric.now));
                // All others would go to the end too: as if they had.
                self.nodes[endpoint].lane(grade).ready.rotate_right(back);
                return Some(true);
            }
            let queue = self.nodes[endpoint].lane(grade).ready.pop_front().expect("counted");
            let want = if skips { self.want(queue, fabric.now) } else { u64::MAX };
            if want & !lacking.classes == 0 {
                self.nodes[endpoint].lane(grade).ready.push_back(queue);
                (back, wants) = (back + 1, wants | want);
                continue;
            }
            match self.pull(queue, fabric.now) {
                Pull::Wait => {
                    self.nodes[endpoint].lane(grade).parked.leave(queue);
                    self.queues[queue].ready = false;
                    self.forget(endpoint, queue, fabric.now);
                }
                Pull::At(at) => {
                    self.nodes[endpoint].lane(grade).parked.leave(queue);
                    self.put_to_sleep(endpoint, queue, at);
                }
                pull => {
                    if self.try_send(fabric, endpoint, queue, pull, lacking) {
                        // Those that lacked credit stay ahead, or what comes after would take it every time.
                        self.nodes[endpoint].lane(grade).ready.rotate_right(back);
                        self.requeue(endpoint, queue, pull, fabric.now);
                        return None;
                    }
                    starved = true;
                    wants |= if self.parks { u64::MAX } else { self.want(queue, fabric.now) };
                    back += self.put_back(fabric, endpoint, queue, pull, lacking);
                }
            }
        }
        self.nodes[endpoint].lane(grade).wants = wants;
        Some(starved)
    }

    /// The class, as a bit, in which a queue wants to send next, for its flow or of its first message, until something happens to it;
    /// all classes, if that is not known.
    fn want(&self, queue: u32, now: Tick) -> u64 {
        let record = &self.queues[queue];
        let class = match self.circuit_pull(record) {
            Some(Pull::Control(class, ..)) => Some(class),
            Some(_) => None,
            None => {
                let is_simple = record.due().is_none() && record.retry().is_none() && record.has_message();
                let class = is_simple.then(|| self.source.plain(record, now)).flatten();
                debug_assert!(class.is_none() || Some(self.pull(queue, now)) == class.map(Pull::Next));
                class
            }
        };
        class.map_or(u64::MAX, |class| 1 << self.graded(class, record.grade))
    }

    /// Notes what a queue wants that is in the round robin, when something has happened to it. A few are asked as soon as that.
    #[inline]
    pub(super) fn note_want(&mut self, endpoint: u32, queue: u32, now: Tick) {
        let grade = self.queues[queue].grade;
        let lane = self.nodes[endpoint].lane(grade);
        if lane.wants != u64::MAX {
            let (of_many, wants) = (lane.ready.len() >= MANY, lane.wants);
            let want = if of_many { wants | self.want(queue, now) } else { u64::MAX };
            self.nodes[endpoint].lane(grade).wants = want;
        }
    }

    /// Whether all queues of a grade in the round robin want to send in these classes.
    fn all_want(&mut self, (endpoint, grade): (u32, u8), classes: u64, now: Tick) -> bool {
        let ready = self.nodes[endpoint].lane(grade).ready.clone();
        ready.iter().all(|&queue| self.want(queue, now) & !classes == 0)
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
        let record = &self.queues[queue];
        let (dst, grade) = (record.dst, record.grade);
        match pull {
            Pull::Next(class) if self.parks => {
                let ends = (fabric.share.endpoints[endpoint as usize], dst);
                let awaited = awaited(&self.plan, self.graded(class, grade), ends, lacking.last);
                self.nodes[endpoint].lane(grade).parked.add(awaited, queue);
                0
            }
            _ => {
                self.nodes[endpoint].lane(grade).ready.push_back(queue);
                1
            }
        }
    }

    /// A queue that has sent goes to the end of the round robin.
    pub(super) fn requeue(&mut self, endpoint: u32, queue: u32, pull: Pull, now: Tick) {
        let grade = self.queues[queue].grade;
        if self.queues[queue].is_empty() {
            self.queues[queue].ready = false;
            self.line_up(endpoint, queue, now);
        } else if matches!(pull, Pull::Reserve(Reserve { then: Some(_), .. })) {
            // The first packet takes its turn together with the reservation.
            self.nodes[endpoint].lane(grade).ready.push_front(queue);
        } else {
            self.nodes[endpoint].lane(grade).ready.push_back(queue);
            self.hurry(endpoint, queue, now);
        }
    }

    /// A queue that may have something to send joins the round robin if it has; one that has nothing holds no place there.
    pub(super) fn line_up(&mut self, endpoint: u32, queue: u32, now: Tick) {
        if self.queues[queue].ready {
            return self.make_ready(endpoint, queue, now);
        }
        match self.pull(queue, now) {
            Pull::Wait => self.forget(endpoint, queue, now),
            Pull::At(at) => self.put_to_sleep(endpoint, queue, at),
            _ => self.make_ready(endpoint, queue, now),
        }
    }

    /// A queue has nothing to send before a time.
    fn put_to_sleep(&mut self, endpoint: u32, queue: u32, at: Tick) {
        self.queues[queue].ready = false;
        self.look_at(endpoint, queue, at);
    }

    /// A queue is looked at when a time comes.
    pub(super) fn look_at(&mut self, endpoint: u32, queue: u32, at: Tick) {
        let record = &mut self.queues[queue];
        let wakes = Some(NonZero::new(at).expect("law broken: a queue waits for the beginning"));
        if std::mem::replace(&mut record.wake_at, wakes) != wakes {
            self.nodes[endpoint].asleep.push(Reverse((at, record.address, queue)));
        }
    }
}
