//! Latency of an empty network on minimal ways.
use crate::core::Tick;
use crate::core::plan::Plan;
use crate::graph::Peer;
use crate::outcomes::{Script, every_outcome};
use crate::routing::{Bind, Route, Router, Routing, minimal::Minimal};
use crate::topology::Topology;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Switches from which ways are followed at most; of more, every n-th is taken.
const SOURCES_MAX: usize = 500;
/// Pairs of switches whose ways are followed at most, in a few seconds.
const PAIRS_MAX: usize = 2_500_000;
/// Ways of a pair that are all followed. Of more one stands for all: in large trees, where all are alike, and in networks from files.
const WAYS_MAX: f64 = 64.0;
/// Packets of a message that are followed singly; those between follow each other at the pace of the slowest channel.
const PACKETS_MAX: u32 = 256;

/// The minimal ways between different endpoints, by the link classes of their channels.
pub struct Ways {
    /// Link classes in order, injection and ejection included, and the number of pairs whose way has them: of a pair that has several
    /// ways, the probability.
    pairs: BTreeMap<Vec<u8>, f64>,
    /// Whether ways were followed from a sample of the switches only.
    pub sampled: bool,
}

/// Least, mean and largest of what pairs of endpoints have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Least.
    pub min: f64,
    /// Mean over all ordered pairs of different endpoints.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

impl Ways {
    /// Follows the minimal routing, or dimension order in the scenario's own orders. None if no two endpoints are joined by it.
    pub fn new(plan: &Plan, topology: &Topology, routing: &Routing) -> Option<Self> {
        let own = routing.binding().is_shortest().then(|| Self::by(plan, &*plan.router)).flatten();
        own.or_else(|| Self::by(plan, &*Minimal {}.router(topology, &plan.graph, &plan.scale)?))
    }

    /// Follows a routing between all pairs of switches with endpoints, and all that it may draw (parallel links).
    fn by(plan: &Plan, router: &dyn Router) -> Option<Self> {
        let mut attached = vec![0u64; plan.graph.switches.len()];
        // Endpoints are attached in order, so this is one of each switch.
        let mut endpoint_of = vec![0u32; attached.len()];
        for (endpoint, &(switch, _)) in plan.graph.endpoints.iter().enumerate() {
            attached[switch as usize] += 1;
            endpoint_of[switch as usize] = endpoint as u32;
        }
        let ends: Vec<usize> = (0..attached.len()).filter(|&switch| attached[switch] > 0).collect();
        let sources = SOURCES_MAX.min(PAIRS_MAX / ends.len().max(1)).max(1);
        let step = ends.len().div_ceil(sources).max(1);
        let mut pairs = BTreeMap::new();
        for &from in ends.iter().step_by(step) {
            for &to in &ends {
                let weight = attached[from] * (attached[to] - u64::from(from == to));
                if weight > 0 {
                    for (way, part) in ways(plan, router, [from, to].map(|switch| endpoint_of[switch]))? {
                        *pairs.entry(way).or_insert(0.0) += part * weight as f64;
                    }
                }
            }
        }
        (!pairs.is_empty()).then_some(Self { pairs, sampled: step > 1 })
    }

    /// Switches crossed.
    pub fn hops(&self) -> Spread {
        self.spread(|way| way.len() as f64 - 1.0)
    }

    /// Ticks from the creation of a message of `flits` to the arrival of its last flit, if all of it goes one way. A
    /// routing that spreads its packets over several is faster where a channel on the way is slower than the host's.
    pub fn latency(&self, plan: &Plan, flits: u32) -> Spread {
        self.spread(|way| latency(plan, way, flits) as f64)
    }

    fn spread(&self, value: impl Fn(&[u8]) -> f64) -> Spread {
        let mut spread = Spread { min: f64::INFINITY, mean: 0.0, max: 0.0 };
        let mut all = 0.0;
        for (way, pairs) in &self.pairs {
            let value = value(way);
            spread.min = spread.min.min(value);
            spread.max = spread.max.max(value);
            spread.mean += value * pairs;
            all += pairs;
        }
        spread.mean /= all;
        spread
    }
}

/// The ways between two endpoints, with their probabilities.
fn ways(plan: &Plan, router: &dyn Router, ends: [u32; 2]) -> Option<Vec<(Vec<u8>, f64)>> {
    let mut senses = Script::default();
    let first = follow(plan, router, ends, &mut senses)?;
    let part = senses.probability()?;
    if part == 1.0 || part * WAYS_MAX < 1.0 {
        return Some(vec![(first, 1.0)]);
    }
    let mut all = Vec::new();
    let unknown =
        every_outcome(|senses| match follow(plan, router, ends, senses).zip(senses.probability()) {
            Some(way) => {
                all.push(way);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        });
    unknown.is_continue().then_some(all)
}

/// The link classes of the channels that a packet takes.
fn follow(plan: &Plan, router: &dyn Router, [from, to]: [u32; 2], senses: &mut Script) -> Option<Vec<u8>> {
    let mut route = Route::default();
    router.inject(from, to, &mut route, senses);
    let (mut switch, port) = plan.graph.endpoints[from as usize];
    let mut input = Some(port);
    let mut way = vec![0];
    // A minimal way is in no switch twice.
    while way.len() < plan.graph.switches.len() + 2 {
        let hop = router.route(switch, input, to, &mut route, senses);
        route.leave();
        let port = plan.graph.switches[switch as usize][hop.port as usize];
        way.push(port.class);
        match port.peer {
            Peer::Switch { switch: next, port } => (switch, input) = (next, Some(port)),
            Peer::Endpoint(_) => return Some(way),
            Peer::None => return None,
        }
    }
    None
}

/// Arrival of the last flit of a message that starts at 0 and goes one way, over idle channels of these classes: a packet
/// starts on a channel when its head is there and the packet before it has left, and ends no sooner than its tail
/// arrives. Buffers are taken to be large enough for a stream.
fn latency(plan: &Plan, way: &[u8], flits: u32) -> Tick {
    let largest = u32::from(plan.packet_flits);
    let (packets, last) = (flits.div_ceil(largest), (flits - 1) % largest + 1);
    let followed = packets.min(PACKETS_MAX);
    let mut free = vec![0; way.len()];
    let mut arrival = 0;
    for packet in 1..=followed {
        arrival = cross(plan, way, if packet == followed { last } else { largest }, &mut free);
    }
    let time = |at: usize, class: u8| channel_time(plan, class, largest, at + 1 == way.len());
    let pace = way.iter().enumerate().map(|(at, &class)| time(at, class)).max().unwrap_or(0);
    arrival + Tick::from(packets - followed) * pace
}

fn channel_time(plan: &Plan, class: u8, flits: u32, ejection: bool) -> Tick {
    let times = if ejection { &plan.drain_time } else { &plan.links[class as usize].time };
    Tick::from(times[flits as usize])
}

/// Arrival of a packet's tail; `free` is when each channel is free, before and after.
fn cross(plan: &Plan, way: &[u8], flits: u32, free: &mut [Tick]) -> Tick {
    let (mut head, mut tail) = (0, 0);
    for (at, (&class, free)) in way.iter().zip(free).enumerate() {
        let (link, ejection) = (&plan.links[class as usize], at + 1 == way.len());
        let start = (*free).max(head);
        *free = (start + channel_time(plan, class, flits, ejection)).max(tail);
        head = start + link.head();
        tail = *free + Tick::from(link.latency) + if ejection { 0 } else { Tick::from(link.pipeline) };
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::build;
    use crate::scenario::Scenario;

    const DRAGONFLY: &str = "
        topology = { kind = 'dragonfly', p = 4, a = 8, h = 4, groups = 33 }
        link = { bandwidth = '100 Gb/s', host = '5 ns', local = '50 ns', global = '1 us' }
        routing = { kind = 'par' }
        traffic = [{ name = 'a', pattern = 'uniform', load = 0.1, message = '4 flits' }]
    ";

    fn with<T>(text: &str, changes: &[(&str, &str)], ask: impl FnOnce(&Plan, Ways) -> T) -> T {
        let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let scenario = Scenario::parse(text, &changes).unwrap();
        let plan = build::plan(&scenario).unwrap();
        let ways = Ways::new(&plan, &scenario.topology, &scenario.routing).unwrap();
        ask(&plan, ways)
    }

    /// In nanoseconds: each channel's latency and a flit time per channel, and the rest of the packet once.
    fn closed_form(channels: &[f64], flits: f64) -> f64 {
        channels.iter().sum::<f64>() + channels.len() as f64 + flits - 1.0
    }

    #[test]
    fn a_dragonfly_has_its_closed_forms() {
        with(DRAGONFLY, &[], |plan, ways| {
            let ns = plan.tick as f64 / 1000.0;
            for flits in [1, 4, 24] {
                let of = ways.latency(plan, flits);
                let (near, far) = (closed_form(&[5.0, 5.0], flits.into()), [5.0, 50.0, 1000.0, 50.0, 5.0]);
                assert_eq!((of.min * ns, of.max * ns), (near, closed_form(&far, flits.into())));
            }
            // From a switch: 3 endpoints of its own; 7 switches by a local and 4 by a global link; 56 by two; 196 by
            // three links, of 4 endpoints each.
            let mean = (3.0 + 4.0 * (11.0 * 2.0 + 56.0 * 3.0 + 196.0 * 4.0)) / 1055.0;
            assert!((ways.hops().mean - mean).abs() < 1e-12);
        });
    }

    #[test]
    fn the_packets_of_a_message_follow_each_other_without_gaps() {
        with(DRAGONFLY, &[], |plan, ways| {
            let (one, many) = (ways.latency(plan, 24), ways.latency(plan, 24 * 1000 + 7));
            let flit = f64::from(plan.links[0].time[1]);
            assert_eq!(many.max, one.max - 24.0 * flit + (24.0 * 1000.0 + 7.0) * flit);
        });
    }

    #[test]
    fn a_slow_channel_on_the_way_sets_the_pace() {
        let slow = "{ host = '100 Gb/s', local = '100 Gb/s', global = '50 Gb/s' }";
        with(DRAGONFLY, &[("link.bandwidth", slow)], |plan, ways| {
            let ns = plan.tick as f64 / 1000.0;
            // The last of 3 packets: 72 flits of 2 ns on the global channel, whose first flit is there at 58 ns.
            let last_leaves = closed_form(&[5.0, 50.0], 1.0) + 144.0;
            // Its head left 48 ns before and is ejected as slowly as it comes; each channel adds its latency.
            assert_eq!(ways.latency(plan, 72).max * ns, last_leaves + 1000.0 + 50.0 + 5.0);
        });
    }
}
