//! How long signals travel, by the passage that the scheme has for them.
use super::Tick;
use super::plan::{LinkPlan, Plan};
use crate::graph::{Graph, Peer};
use crate::switch::parameters::Forwarding;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

/// The passage of a run's signals, in ticks.
#[derive(Debug)]
pub enum Post {
    /// There are none, or they go as packets.
    Closed,
    /// Out of band, with this latency.
    Latency(Tick),
    /// As fast as a head that never waits; by the switch they leave from, the time to every switch.
    Path(Vec<OnceLock<Box<[Tick]>>>),
}

impl Post {
    /// Signals that go along the paths of a network.
    pub fn paths(graph: &Graph) -> Self {
        Self::Path(graph.switches.iter().map(|_| OnceLock::new()).collect())
    }

    /// Ticks from an endpoint to its switch, for what endpoints send.
    pub fn to_switch(&self, links: &[LinkPlan]) -> Tick {
        match self {
            Post::Path(_) => links[0].head(),
            _ => 0,
        }
    }

    /// Ticks from a switch to an endpoint; at least 1.
    pub fn delay(&self, graph: &Graph, links: &[LinkPlan], from: u32, to: u32) -> Tick {
        match self {
            Post::Closed => unreachable!("no signals travel out of band"),
            Post::Latency(ticks) => (*ticks).max(1),
            Post::Path(rows) => {
                let row = rows[from as usize]
                    .get_or_init(|| distances(graph, from, |class| links[usize::from(class)].head()));
                let (switch, _) = graph.endpoints[to as usize];
                row[switch as usize] + links[0].credit()
            }
        }
    }
}

/// Switches, evenly spread, from which the farthest one is looked for first.
const LOOKS: usize = 64;

/// Ticks of a round trip between endpoints in an empty network by the fastest way, at most: a packet of the largest size, and its
/// acknowledgement. In a network of over 64 switches the ways from so many of them are known, and those from the farthest that these
/// find, and from the farthest of that one, as long as they grow.
pub(super) fn round_trip(plan: &Plan) -> Tick {
    let (graph, host) = (&plan.graph, &plan.links[0]);
    let there_and_back = |link: &LinkPlan| link.ready(plan.packet_flits) + link.ready(plan.control_flits);
    let with_endpoints =
        |at: usize| graph.switches[at].iter().any(|port| matches!(port.peer, Peer::Endpoint(_)));
    let switches = Vec::from_iter((0..graph.switches.len()).filter(|&at| with_endpoints(at)));
    let farthest = |from: usize| {
        let found = distances(graph, from as u32, |class| there_and_back(&plan.links[usize::from(class)]));
        let reached = switches.iter().map(|&to| (found[to], to)).filter(|&(time, _)| time < Tick::MAX);
        reached.max().unwrap_or((0, from))
    };
    let looks = switches.iter().step_by(switches.len().div_ceil(LOOKS).max(1));
    let (mut far, mut end) = looks.map(|&from| farthest(from)).max().unwrap_or((0, 0));
    loop {
        let (time, to) = farthest(end);
        if time <= far {
            break;
        }
        (far, end) = (time, to);
    }
    let ways = there_and_back(host) + far + 2 * host.credit();
    // A tail follows its head by what the slowest channel, or the endpoint, takes for the rest: the endpoint alone where the rest is there.
    let tail = |flits: u16| {
        let cut = plan.links.iter().filter(|link| link.forwarding == Forwarding::CutThrough);
        let channels = cut.map(|link| (&link.time, link.time[1]));
        // The head has come to an endpoint after a flit time of its channel, however slowly it drains.
        let ends = channels.chain([(&plan.drain_time, host.time[1])]);
        ends.map(|(times, head)| Tick::from(times[usize::from(flits)] - head)).max().unwrap_or(0)
    };
    ways + tail(plan.packet_flits) + tail(plan.control_flits)
}

/// Ticks from a switch to every switch by the fastest way, if a channel of a link class takes so many.
fn distances(graph: &Graph, from: u32, of: impl Fn(u8) -> Tick) -> Box<[Tick]> {
    let mut found = vec![Tick::MAX; graph.switches.len()].into_boxed_slice();
    let mut next = BinaryHeap::from([Reverse((0, from))]);
    while let Some(Reverse((time, switch))) = next.pop() {
        if found[switch as usize] <= time {
            continue;
        }
        found[switch as usize] = time;
        for port in &graph.switches[switch as usize] {
            if let Peer::Switch { switch, .. } = port.peer {
                next.push(Reverse((time + of(port.class), switch)));
            }
        }
    }
    found
}
