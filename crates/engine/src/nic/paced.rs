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
        self.nodes[endpoint].paced_at = NEVER;
        while let Some(queue) = self.nodes[endpoint].ready.pop_front() {
            self.queues[queue].ready = false;
        }
        let (now, mut lacking, mut starved) = (fabric.now, Lacking::default(), false);
        self.candidates.clear();
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
                }
                Pull::Next(class) => {
                    let paced = self.source.flow(&self.queues[queue]);
                    if paced.probe_at > now {
                        self.wake_paced(endpoint, paced.probe_at);
                    }
                    let weight = f64::from(self.queues[queue].circuit.weight());
                    let load = if paced.own_unasked { paced.load.max(own) } else { paced.load };
                    let rate = weight / load.max(1) as f64;
                    let progress = self.source.progress(&mut self.queues[queue]);
                    progress.go_on(rate, self.nodes[endpoint].clock.least);
                    self.candidates.push(Candidate { dst, queue, class, rate, progress: *progress });
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
        self.send_candidate(fabric, endpoint, injection, lacking) || starved
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
        let flows = &self.candidates;
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
                self.nodes[endpoint].clock.sent(flits, rates, &progress, now);
                self.source.progress(&mut self.queues[queue]).on_sent(flits, now);
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
