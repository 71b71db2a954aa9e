//! What jobs do at endpoints: [`Hosts`](crate::workload::host::Hosts) knows of ranks, this of queues and packets.
use super::NicSet;
use super::queue::Message;
use super::towards::Towards;
use crate::core::fabric::Fabric;
use crate::core::packet::{Packet, Tag};
use crate::core::{NEVER, Tick};
use crate::protocol::Source;
use crate::workload::parts::divided;

impl<S: Source> NicSet<S> {
    /// Lets the ranks of an endpoint do what is due by `until`, and queues what they send. Returns when something is due next.
    pub(super) fn run_jobs(&mut self, fabric: &mut Fabric, endpoint: u32, until: Tick) -> Tick {
        let Some(mut hosts) = self.hosts.take() else { return NEVER };
        let next = hosts.advance(endpoint, until);
        for out in hosts.take() {
            let message = Message::new(out.born, out.dst, out.flits, out.class);
            let job = &self.plan.jobs[usize::from(out.class) - self.first_job];
            let carries_data = job.application.carries_data(out.tag.word);
            fabric.probe.offered(&message, carries_data);
            let pairs = self.plan.queue_pairs(out.class);
            let cut = || divided(out.flits, self.plan.packet_flits.into(), pairs);
            match (job.split && carries_data).then(cut).flatten() {
                Some(parts) => parts.for_each(|flits| {
                    let part = Message::new(out.born, out.dst, flits, out.class);
                    self.queue_up(fabric, endpoint, part, (out.tag.of_part(), true));
                }),
                None => self.queue_up(fabric, endpoint, message, (out.tag, carries_data)),
            }
        }
        self.hosts = Some(hosts);
        next
    }

    /// Whether a packet of a job is of a message that carries data, as all of traffic do.
    pub(super) fn carries_data(&self, packet: &Packet) -> bool {
        let job = usize::from(packet.cold.class()).checked_sub(self.first_job);
        job.is_none_or(|job| self.plan.jobs[job].application.carries_data(packet.tag.word))
    }

    /// Queues a message of a job, or a part of one, which takes its turn among the flows, or goes in the one whose turn it is.
    fn queue_up(&mut self, fabric: &mut Fabric, endpoint: u32, message: Message, (tag, takes): (Tag, bool)) {
        let src = fabric.share.endpoints[endpoint as usize];
        let message = self.of_a_flow(src, message, tag.seats(), takes);
        let queue = self.queue(endpoint, Towards::of(&message));
        let record = &mut self.queues[queue];
        let waits = record.has_message();
        record.push_tagged(message, tag);
        self.source.on_message(&mut record.state, message.flits());
        self.note_message(endpoint, queue, waits, fabric.now);
    }

    /// A packet of a job was sent for the first time; `end` is when its tail leaves.
    pub(super) fn job_injected(&mut self, endpoint: u32, queue: u32, packet: &Packet, end: Tick) {
        let (hot, cold) = (&packet.hot, &packet.cold);
        if self.queues[queue].has_sent(cold.message)
            && let Some(hosts) = &mut self.hosts
        {
            hosts.injected(endpoint, cold.class(), hot.dst, packet.tag, end);
            let node = &mut self.nodes[endpoint];
            node.next_born = node.next_born.min(end);
        }
    }

    /// A message of a job is whole.
    pub(super) fn job_delivered(&mut self, fabric: &mut Fabric, endpoint: u32, packet: &Packet) {
        // What was due before the message came is done first.
        self.catch_up(fabric, endpoint, fabric.now.saturating_sub(1));
        if self.nodes[endpoint].next_born <= fabric.now {
            self.run_jobs(fabric, endpoint, fabric.now);
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.note(packet, fabric.now);
            hosts.delivered(endpoint, packet.cold.class(), packet.cold.src, packet.tag, fabric.now);
        }
        let next = self.run_jobs(fabric, endpoint, fabric.now);
        let node = &mut self.nodes[endpoint];
        node.next_born = node.next_born.min(next);
    }
}
