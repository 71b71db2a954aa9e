//! Latency of an empty network on minimal ways.
use crate::core::plan::Plan;
use crate::routing::Routing;
use crate::topology::Topology;
use crate::zero_load::{Guides, Way, latency};
use std::collections::BTreeMap;

/// Switches from which ways are followed at most; of more, every n-th is taken.
const SOURCES_MAX: usize = 500;
/// Pairs of switches whose ways are followed at most, in a few seconds.
const PAIRS_MAX: usize = 2_500_000;

/// The minimal ways between different endpoints, by the link classes of their channels.
pub struct Ways {
    /// Link classes in order, injection and ejection included, and the number of pairs whose way has them: of a pair that has several
    /// ways, the probability.
    pairs: BTreeMap<Way, f64>,
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
    /// Follows the ways of the empty network ([`Guides`]) between all pairs of switches with endpoints, and all that may be drawn on them
    /// (parallel links). None if some endpoints are not joined by them.
    pub fn new(plan: &Plan, topology: &Topology, routing: &Routing) -> Option<Self> {
        let guides = Guides::new(plan, topology, routing);
        let switches = plan.graph.switches.len();
        let mut members = vec![Vec::new(); switches];
        for (endpoint, &(switch, _)) in plan.graph.endpoints.iter().enumerate() {
            members[switch as usize].push(endpoint as u32);
        }
        let ends: Vec<usize> = (0..switches).filter(|&switch| !members[switch].is_empty()).collect();
        // Where all endpoints of a switch have the same ways the last stands for them, and for how many.
        let apart = guides.tell_destinations_apart();
        let asked = |switch: usize| {
            let all = &members[switch];
            let (asked, each) = if apart { (&all[..], 1) } else { (&all[all.len() - 1..], all.len()) };
            asked.iter().map(move |&to| (to, switch, each))
        };
        let destinations: Vec<(u32, usize, usize)> = ends.iter().copied().flat_map(asked).collect();
        let sources = SOURCES_MAX.min(PAIRS_MAX / destinations.len().max(1)).max(1);
        let step = ends.len().div_ceil(sources).max(1);
        let mut pairs = BTreeMap::new();
        for &from in ends.iter().step_by(step) {
            for &(to, switch, each) in &destinations {
                let weight = each * (members[from].len() - usize::from(from == switch));
                if weight > 0 {
                    for (way, part) in guides.ways([members[from][0], to])? {
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
