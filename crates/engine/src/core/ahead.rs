//! The queue of a packet in the switch that it goes to next, where that depends on the port it will take there.
use super::flow::Flow;
use super::plan::Plan;
use crate::graph::Peer;
use crate::queueing::Assignment;
use crate::rng::{mix, scale};
use crate::routing::{Route, Senses};

/// What is foreseen of a switch ahead: it is empty, and chance is a hash of the packet's place.
struct Ahead {
    chance: u64,
    seed: u64,
    switch: u32,
    flow: Flow,
}

impl Senses for Ahead {
    fn below(&mut self, n: u32) -> u32 {
        self.chance = mix(self.chance, 1);
        scale(self.chance, n)
    }

    fn of_flow(&mut self, n: u32) -> u32 {
        self.flow.below(n, self.seed, self.switch)
    }

    fn occupancy(&mut self, _port: u16) -> u32 {
        0
    }
}

/// The queue beyond an output port (switch, port) for a packet of a flow that has been routed there; 0 beyond the last.
pub fn queue_beyond(plan: &Plan, (switch, port): (u32, u16), flow: Flow, route: &Route) -> u8 {
    match plan.graph.switches[switch as usize][port as usize].peer {
        Peer::Switch { switch, port } => queue_in(plan, (switch, port), flow, route),
        Peer::Endpoint(_) | Peer::None => 0,
    }
}

/// The queue at an input port (switch, port) for a packet that will come in there.
pub fn queue_in(plan: &Plan, (switch, port): (u32, u16), flow: Flow, route: &Route) -> u8 {
    let Assignment::Port(queues) = plan.queues else { return 0 };
    let chance = mix(u64::from(switch) << 32 | u64::from(flow.dst), plan.seed);
    let mut ahead = Ahead { chance, seed: plan.seed, switch, flow };
    let hop = plan.router.route(switch, Some(port), flow.dst, &mut route.clone(), &mut ahead);
    (u32::from(hop.port) % queues) as u8
}
