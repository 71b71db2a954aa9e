//! The queue of a packet in the switch that it goes to next, where that depends on the port it will take there.
use super::plan::Plan;
use crate::graph::Peer;
use crate::queueing::Assignment;
use crate::rng::{mix, scale};
use crate::routing::{Route, Senses};

/// What is foreseen of a switch ahead: it is empty, and chance is a hash of the packet's place.
struct Ahead(u64);

impl Senses for Ahead {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = mix(self.0, 1);
        scale(self.0, n)
    }

    fn occupancy(&mut self, _port: u16) -> u32 {
        0
    }
}

/// The queue beyond an output port (switch, port) for a packet that has been routed there; 0 beyond the last.
pub fn queue_beyond(plan: &Plan, (switch, port): (u32, u16), dst: u32, route: &Route) -> u8 {
    match plan.graph.switches[switch as usize][port as usize].peer {
        Peer::Switch { switch, port } => queue_in(plan, (switch, port), dst, route),
        Peer::Endpoint(_) | Peer::None => 0,
    }
}

/// The queue at an input port (switch, port) for a packet that will come in there.
pub fn queue_in(plan: &Plan, (switch, port): (u32, u16), dst: u32, route: &Route) -> u8 {
    let Assignment::Port(queues) = plan.queues else { return 0 };
    let mut chance = Ahead(mix(u64::from(switch) << 32 | u64::from(dst), plan.seed));
    let hop = plan.router.route(switch, Some(port), dst, &mut route.clone(), &mut chance);
    (u32::from(hop.port) % queues) as u8
}
