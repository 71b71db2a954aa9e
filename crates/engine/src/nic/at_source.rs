//! What is decided of a packet at its source: its virtual network and its queue, and what it waits for if neither has credit.
use crate::core::ahead;
use crate::core::fabric::Fabric;
use crate::core::flow::Flow;
use crate::core::packet::Packet;
use crate::core::plan::Plan;
use crate::queueing::Assignment;
use crate::rng::{mix, scale};
use crate::routing::{Route, Senses};
use crate::switch::bits::Set;

/// What a packet senses at its source: chance, drawn from what tells it from others, and of the first switch what is committed.
pub(super) struct AtSource<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) packet: &'a Packet,
    pub(super) class: u8,
    /// The packet's turn among those of its endpoint; none for a control packet.
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
        let (plan, flow) = (&self.fabric.plan, Flow::of(&self.packet.hot, &self.packet.cold));
        let switch = plan.graph.endpoints[flow.src as usize].0;
        let queue = match &plan.queues {
            Assignment::Port(_) if !plan.vcs.classes[self.class as usize].control => {
                let route = Route { network, ..Route::default() };
                ahead::queue_beyond(plan, (switch, port), flow, &route)
            }
            _ => kept_queue(plan, self.class, (flow.src, flow.dst), network),
        };
        let (_, channel) = plan.local_port(switch, port);
        self.fabric.committed(channel, plan.vcs.index(self.class, network, queue, level))
    }
}

/// The queue that a packet of a traffic class takes from its source (source, destination) on.
fn kept_queue(plan: &Plan, class: u8, (src, dst): (u32, u32), network: u8) -> u8 {
    match &plan.queues {
        Assignment::Kept(choose) if !plan.vcs.classes[class as usize].control => choose(src, dst, network),
        _ => 0,
    }
}

/// The queue in the first switch of a packet of a flow.
#[inline]
pub(super) fn first_queue(plan: &Plan, class: u8, flow: Flow, route: &Route) -> u8 {
    match plan.queues {
        Assignment::Single => 0,
        Assignment::Kept(_) => kept_queue(plan, class, (flow.src, flow.dst), route.network),
        Assignment::Port(_) if plan.vcs.classes[class as usize].control => 0,
        Assignment::Port(_) => ahead::queue_in(plan, plan.graph.endpoints[flow.src as usize], flow, route),
    }
}

/// Virtual channels of a port.
pub(super) type Vcs = Set<4>;

/// Whether a data packet waits for the same virtual channels until it is sent: those of [`awaited`].
pub(super) fn waits_for_the_same(plan: &Plan) -> bool {
    let several = plan.vcs.networks as u16 * plan.vcs.queues > 1;
    several && !plan.fifo && !matches!(plan.queues, Assignment::Port(_))
}

/// The virtual channels that a packet might take which found no credit on `vc`.
pub(super) fn awaited(plan: &Plan, class: u8, (src, dst): (u32, u32), vc: u8) -> Vcs {
    let mut all = Vcs::default();
    all.insert(vc.into());
    if plan.router.weighs() {
        for network in 0..plan.vcs.networks {
            let queue = kept_queue(plan, class, (src, dst), network);
            all.insert(plan.vcs.index(class, network, queue, 0).into());
        }
    }
    all
}

/// What lacks credit while an endpoint looks for a packet to send.
#[derive(Default)]
pub(super) struct Lacking {
    /// Classes none of whose virtual channels has credit; bit n is class n.
    pub(super) classes: u64,
    /// Virtual channels that lack it, where a class has several.
    vcs: Vcs,
    /// The last of them that was found to.
    pub(super) last: u8,
}

impl Lacking {
    /// Whether a virtual channel was found to lack credit, of a class that has several.
    pub(super) fn has(&self, vc: u8) -> bool {
        self.vcs.contains(vc.into())
    }

    /// A packet of a class found no credit on a virtual channel of the injection channel.
    pub(super) fn note(&mut self, plan: &Plan, class: u8, vc: u8) {
        self.last = vc;
        let vcs = &plan.vcs;
        let queues = if vcs.classes[class as usize].control { 1 } else { u32::from(vcs.queues) };
        if u32::from(vcs.networks) * queues > 1 {
            if self.vcs.contains(vc.into()) {
                return;
            }
            self.vcs.insert(vc.into());
            let mine = |vc: &usize| vcs.class_of[*vc] == class && self.vcs.contains(*vc);
            if ((0..vcs.count()).filter(mine).count() as u32) < u32::from(vcs.networks) * queues {
                return;
            }
        }
        self.classes |= 1 << class;
    }
}
