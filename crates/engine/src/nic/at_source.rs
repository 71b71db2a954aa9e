//! What is decided of a packet at its source: its virtual network and its queue, and what it waits for if neither has credit.
use crate::core::ahead;
use crate::core::fabric::Fabric;
use crate::core::packet::Packet;
use crate::core::plan::Plan;
use crate::queueing::Assignment;
use crate::rng::{mix, scale};
use crate::routing::{Route, Senses};

/// What a packet senses at its source: chance, drawn from what tells it from others, and of the first switch what is committed.
pub(super) struct AtSource<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) packet: &'a Packet,
    pub(super) class: u8,
    /// Data packets that its endpoint has sent; none for a control packet.
    pub(super) turn: Option<u32>,
    pub(super) key: [u64; 2],
    pub(super) drawn: u64,
}

impl Senses for AtSource<'_> {
    fn below(&mut self, n: u32) -> u32 {
        self.drawn = match self.drawn {
            0 => mix(mix(self.fabric.plan.seed, mix(self.key[0], self.key[1])), 1),
            before => mix(before, 1),
        };
        scale(self.drawn, n)
    }
    fn occupancy(&mut self, _port: u16) -> u32 {
        0
    }
    fn turn(&mut self, n: u32) -> u32 {
        self.turn.map_or_else(|| self.below(n), |turn| turn % n)
    }
    fn committed(&mut self, port: u16, network: u8, level: u8) -> u32 {
        let (plan, hot, src) = (&self.fabric.plan, &self.packet.hot, self.packet.cold.src);
        let switch = plan.graph.endpoints[src as usize].0;
        let queue = match &plan.queues {
            Assignment::Port(_) => {
                let route = Route { network, ..Route::default() };
                ahead::queue_beyond(plan, (switch, port), hot.dst, &route)
            }
            _ => kept_queue(plan, self.class, (src, hot.dst), network),
        };
        let (_, channel) = plan.local_port(switch, port);
        self.fabric.committed(channel, plan.channels.index(self.class, network, queue, level))
    }
}

/// The queue that a packet of a traffic class takes from its source (source, destination) on.
fn kept_queue(plan: &Plan, class: u8, (src, dst): (u32, u32), network: u8) -> u8 {
    match &plan.queues {
        Assignment::Kept(choose) if !plan.channels.classes[class as usize].control => {
            choose(src, dst, network)
        }
        _ => 0,
    }
}

/// The queue in the first switch of a packet from a source to a destination.
#[inline]
pub(super) fn first_queue(plan: &Plan, class: u8, (src, dst): (u32, u32), route: &Route) -> u8 {
    match plan.queues {
        Assignment::Single => 0,
        Assignment::Kept(_) => kept_queue(plan, class, (src, dst), route.network),
        Assignment::Port(_) if plan.channels.classes[class as usize].control => 0,
        Assignment::Port(_) => ahead::queue_in(plan, plan.graph.endpoints[src as usize], dst, route),
    }
}

/// What lacks credit while an endpoint looks for a packet to send.
#[derive(Default)]
pub(super) struct Lacking {
    /// Classes none of whose virtual channels has credit; bit n is class n.
    pub(super) classes: u64,
    /// Virtual channels that lack it, where a class has several.
    vcs: [u64; 4],
}

impl Lacking {
    /// A packet of a class found no credit on a virtual channel of the injection channel.
    pub(super) fn note(&mut self, plan: &Plan, class: u8, vc: u8) {
        let channels = &plan.channels;
        let queues = if channels.classes[class as usize].control { 1 } else { u32::from(channels.queues) };
        let networks = if plan.router.takes_turns() { 1 } else { u32::from(channels.networks) };
        if networks * queues > 1 {
            let (before, bit) = (self.vcs[usize::from(vc >> 6)], 1 << (vc & 63));
            if before & bit != 0 {
                return;
            }
            self.vcs[usize::from(vc >> 6)] |= bit;
            let mine =
                |vc: &usize| channels.class_of[*vc] == class && self.vcs[vc >> 6] >> (vc & 63) & 1 == 1;
            if ((0..channels.count()).filter(mine).count() as u32) < networks * queues {
                return;
            }
        }
        self.classes |= 1 << class;
    }
}
