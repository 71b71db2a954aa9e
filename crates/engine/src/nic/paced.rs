//! Endpoints whose flows have rates: what sets up, probes and ends flows goes first, then data by the injection scheme.
use super::NicSet;
use super::at_source::Lacking;
use super::injection::{Candidate, Choice, Injection};
use crate::core::fabric::Fabric;
use crate::core::plan::FlitTime;
use crate::core::{NEVER, Tick};
use crate::protocol::{Pull, Source};

impl<S: Source> NicSet<S> {
    /// Sends the next packet of an endpoint, and notes when it is to be looked at again. Returns whether something lacked credit.
    pub(super) fn send_paced(&mut self, fabric: &mut Fabric, endpoint: u32, injection: Injection) -> bool {
        let now = fabric.now;
        let node = &mut self.nodes[endpoint];
        if node.urgent.ready.is_empty() && now < node.flows_until {
            node.paced_at = node.flows_until;
            debug_assert!(self.are_current(endpoint, now), "law broken: flows have changed unseen");
            return self.send_candidate(fabric, endpoint, injection, Lacking::default());
        }
        (node.paced_at, node.flows_until) = (NEVER, 0);
        node.flows.clear();
        while let Some(queue) = self.nodes[endpoint].urgent.ready.pop_front() {
            self.queues[queue].ready = false;
        }
        let (mut lacking, mut starved) = (Lacking::default(), false);
        let own = self.own_load(endpoint);
        let mut place = 0;
        while let Some(&(dst, queue)) = self.nodes[endpoint].queues.list().get(place) {
            match self.pull(queue, now) {
                pull @ Pull::Control(..) => {
                    if self.try_send(fabric, endpoint, queue, pull, &mut lacking) {
                        self.look_again(fabric, endpoint, now);
                        return false;
                    }
                    starved = true;
                    // Data of the flow may go before there is credit for that.
                    let from = self.source.flow(&self.queues[queue]).from;
                    if from > now {
                        self.wake_paced(endpoint, from);
                    }
                }
                Pull::Next(class) => {
                    let (rate, probe_at) = self.rate(queue, own);
                    if probe_at > now {
                        self.wake_paced(endpoint, probe_at);
                    }
                    let node = &mut self.nodes[endpoint];
                    let progress = self.source.progress(&mut self.queues[queue]);
                    progress.go_on(rate, node.clock.least);
                    node.flows.push(Candidate { dst, queue, class, rate, progress: *progress });
                }
                Pull::At(at) => self.wake_paced(endpoint, at),
                _ => {
                    self.forget(endpoint, queue, now);
                    // Then another queue has taken its place.
                    if self.nodes[endpoint].queues.list().get(place).is_none_or(|&(_, other)| other != queue)
                    {
                        continue;
                    }
                }
            }
            place += 1;
        }
        if !starved {
            self.nodes[endpoint].flows_until = self.nodes[endpoint].paced_at;
        }
        self.send_candidate(fabric, endpoint, injection, lacking) || starved
    }

    /// The rate of a flow, in flits per tick, and when its links are to be asked next.
    fn rate(&self, queue: u32, own: Tick) -> (f64, Tick) {
        let record = &self.queues[queue];
        let paced = self.source.flow(record);
        let load = if paced.own_unasked { paced.load.max(own) } else { paced.load };
        (f64::from(record.circuit.weight()) / load.max(1) as f64, paced.probe_at)
    }

    /// Whether the flows that could send are those of the last look.
    fn are_current(&mut self, endpoint: u32, now: Tick) -> bool {
        let own = self.own_load(endpoint);
        let mut found = Vec::new();
        for &(dst, queue) in self.nodes[endpoint].queues.list() {
            match self.pull(queue, now) {
                Pull::Next(class) => found.push((dst, queue, class, self.rate(queue, own).0)),
                Pull::Control(..) => return false,
                _ => {}
            }
        }
        let (flows, queues, source) = (&self.nodes[endpoint].flows, &mut self.queues, &self.source);
        flows.iter().map(|flow| (flow.dst, flow.queue, flow.class, flow.rate)).eq(found)
            && flows.iter().all(|flow| *source.progress(&mut queues[flow.queue]) == flow.progress)
    }

    /// Sends data of the flow whose turn it is. Returns whether it lacked credit.
    fn send_candidate(
        &mut self,
        fabric: &mut Fabric,
        endpoint: u32,
        injection: Injection,
        mut lacking: Lacking,
    ) -> bool {
        let now = fabric.now;
        let flows = &self.nodes[endpoint].flows;
        let rates = flows.iter().map(|flow| flow.rate).sum();
        match self.nodes[endpoint].clock.choose(injection, flows, rates, now) {
            Choice::Nothing => false,
            Choice::At(at) => {
                self.wake_paced(endpoint, at);
                false
            }
            Choice::Send(at) => {
                let Candidate { class, queue, progress, .. } = flows[at];
                let flits = self.queues[queue].left().min(self.plan.packet_flits.into());
                if !self.try_send(fabric, endpoint, queue, Pull::Next(class), &mut lacking) {
                    return true;
                }
                let (node, record) = (&mut self.nodes[endpoint], &mut self.queues[queue]);
                node.clock.sent(flits, rates, &progress, now);
                let progress = self.source.progress(record);
                progress.on_sent(flits, now);
                node.flows[at].progress = *progress;
                if !record.circuit.is_open() || !record.has_message() {
                    node.flows_until = 0;
                }
                // Before the next period there is nothing to be seen unless the flow is at its end: what changes wakes the endpoint.
                let waits = injection == Injection::PeriodicSelection && self.queues[queue].circuit.is_open();
                let next = if waits { self.nodes[endpoint].clock.next(rates).ceil() as Tick } else { now };
                self.look_again(fabric, endpoint, next);
                false
            }
        }
    }

    /// Time that the endpoint's own channel needs for its flows: a link on the way of each.
    fn own_load(&self, endpoint: u32) -> Tick {
        let weight = |&(_, queue): &(u32, u32)| u64::from(self.queues[queue].circuit.weight());
        let announced = self.nodes[endpoint].announced;
        debug_assert_eq!(announced, self.nodes[endpoint].queues.list().iter().map(weight).sum::<u64>());
        FlitTime::of(&self.plan.links[0].time).span(announced)
    }

    fn wake_paced(&mut self, endpoint: u32, at: Tick) {
        let node = &mut self.nodes[endpoint];
        node.paced_at = node.paced_at.min(at);
    }

    /// When the packet under way has left, but not before `next`.
    fn look_again(&mut self, fabric: &Fabric, endpoint: u32, next: Tick) {
        let free_at = fabric.channels[fabric.ports + endpoint].free_at;
        self.wake_paced(endpoint, free_at.max(next));
    }
}
