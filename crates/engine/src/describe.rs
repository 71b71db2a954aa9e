//! What a network is like before anything runs on it: sizes, distances, bisection; and, in the files below, latency,
//! memory, and all of it of a scenario.
mod channels;
mod cost;
mod faults;
mod forewarned;
mod latency;
pub mod load;
mod memory;
mod whole;
pub use channels::channels;
pub use forewarned::forewarned;
pub use whole::whole;

use crate::graph::{Graph, Peer};
use crate::topology::Wiring;
use std::collections::VecDeque;

/// Switches up to which distances are exact.
const EXACT_SWITCHES: usize = 2000;
/// Switches visited at most where distances are sampled, in some seconds.
const VISITED_MAX: usize = 40_000_000;

/// The facts of a network.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Description {
    /// Endpoints.
    pub endpoints: u64,
    /// Switches.
    pub switches: u64,
    /// Most connected ports of a switch.
    pub ports_max: u64,
    /// Name of each link class and its number of links; a link is a channel each way.
    pub links: Vec<(String, u64)>,
    /// Most links between switches on a shortest way between two endpoints. Shortest in the graph: a routing's minimal
    /// way may be longer (a dragonfly's takes one global link, where two in a row would sometimes be shorter).
    pub diameter: u32,
    /// Mean number of links between switches on a shortest way, over all ordered pairs of endpoints, those of an
    /// endpoint and itself included (as uniform traffic with `self = true` has them). Switches crossed are one more.
    pub hops_mean: f64,
    /// Whether diameter and mean were taken from a sample of the switches: every n-th with endpoints, so that about
    /// 2,000 are taken, or fewer of over 20,000 switches. From each of them all pairs are counted.
    pub hops_sampled: bool,
    /// Links between the lower and the upper half of the blocks, none if there is one block only.
    pub bisection: Option<Bisection>,
}

/// The links cut when the network is halved at its blocks. No other halves are looked for: fewer links may join those.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Bisection {
    /// Links cut; a link is a channel each way.
    pub links: u64,
    /// Channels cut each way for each endpoint of the smaller half, each as many as its rate is times that of the host's: 1 is full
    /// bisection. Uniform traffic needs half of it (or a little more if the halves are uneven), since half of the messages stay on their side.
    pub channels_per_endpoint: f64,
    /// How it was found.
    pub method: &'static str,
}

/// Describes the network of a topology; `capacity` tells how many times the rate of the host's links those of a class have.
pub fn describe(graph: &Graph, topology: &dyn Wiring, capacity: impl Fn(u8) -> f64) -> Description {
    let classes = topology.link_classes();
    let mut links: Vec<(String, u64)> = classes.iter().map(|name| ((*name).to_string(), 0)).collect();
    let mut ports_max = 0;
    for ports in &graph.switches {
        let mut connected = 0;
        for port in ports.iter().filter(|port| port.peer != Peer::None) {
            connected += 1;
            // Links between switches are met from both ends.
            links[usize::from(port.class)].1 += if matches!(port.peer, Peer::Endpoint(_)) { 2 } else { 1 };
        }
        ports_max = ports_max.max(connected);
    }
    for (_, count) in &mut links {
        *count /= 2;
    }
    let distances = distances(graph);
    Description {
        endpoints: graph.endpoints.len() as u64,
        switches: graph.switches.len() as u64,
        ports_max,
        links,
        diameter: distances.diameter,
        hops_mean: distances.sum as f64 / distances.pairs as f64,
        hops_sampled: distances.sampled,
        bisection: bisection(graph, topology.cut(), capacity),
    }
}

struct Distances {
    diameter: u32,
    sum: u64,
    pairs: u64,
    sampled: bool,
}

/// Breadth first from every switch with endpoints (or a sample of them), weighted by the endpoints at both ends.
fn distances(graph: &Graph) -> Distances {
    let mut attached = vec![0u64; graph.switches.len()];
    for &(switch, _) in &graph.endpoints {
        attached[switch as usize] += 1;
    }
    let sources: Vec<usize> = (0..attached.len()).filter(|&switch| attached[switch] > 0).collect();
    let sampled = graph.switches.len() > EXACT_SWITCHES && sources.len() > EXACT_SWITCHES;
    let taken = EXACT_SWITCHES.min(VISITED_MAX / graph.switches.len().max(1)).max(1);
    let step = if sampled { sources.len().div_ceil(taken) } else { 1 };
    let mut all = Distances { diameter: 0, sum: 0, pairs: 0, sampled };
    let mut away = vec![u32::MAX; attached.len()];
    let mut next = VecDeque::with_capacity(attached.len());
    for &source in sources.iter().step_by(step) {
        away.fill(u32::MAX);
        away[source] = 0;
        next.push_back(source);
        while let Some(switch) = next.pop_front() {
            let weight = attached[source] * attached[switch];
            if weight > 0 {
                all.diameter = all.diameter.max(away[switch]);
                all.sum += weight * u64::from(away[switch]);
                all.pairs += weight;
            }
            for port in &graph.switches[switch] {
                if let Peer::Switch { switch: to, .. } = port.peer
                    && away[to as usize] == u32::MAX
                {
                    away[to as usize] = away[switch] + 1;
                    next.push_back(to as usize);
                }
            }
        }
    }
    all
}

/// Halves the network at its blocks, which are numbered in the natural order of each topology, or where `cut` says. Closed forms: a dragonfly
/// is cut at ⌊g/2⌋·⌈g/2⌉ times the parallel links, a fat tree at half of the links between its upper two levels, a torus
/// at twice, a mesh at once the links across its longest dimension, a HyperX at k²/4 links a row of its shortest.
fn bisection(graph: &Graph, cut: Option<Vec<u32>>, capacity: impl Fn(u8) -> f64) -> Option<Bisection> {
    let method = match cut {
        None => "links counted between the lower and the upper half of the blocks (groups, pods, leaves)",
        Some(_) => "links counted between the halves of the dimension across which they are fewest",
    };
    let place = cut.as_ref().unwrap_or(&graph.blocks);
    let blocks = place.iter().max()? + 1;
    if blocks < 2 {
        return None;
    }
    let lower = |switch: u32| place[switch as usize] < blocks / 2;
    let (mut links, mut channels) = (0, 0.0);
    for (switch, ports) in (0..).zip(&graph.switches) {
        for port in ports {
            if let Peer::Switch { switch: to, .. } = port.peer
                && lower(switch)
                && !lower(to)
            {
                links += 1;
                channels += capacity(port.class);
            }
        }
    }
    let below = graph.endpoints.iter().filter(|&&(switch, _)| lower(switch)).count();
    let smaller = below.min(graph.endpoints.len() - below);
    Some(Bisection { links, channels_per_endpoint: channels / smaller as f64, method })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    fn of(text: &str) -> Description {
        let topology: Topology = toml::from_str(text).unwrap();
        describe(&topology.wiring().graph(), topology.wiring(), |_| 1.0)
    }

    fn links(description: &Description) -> Vec<(&str, u64)> {
        description.links.iter().map(|(name, count)| (name.as_str(), *count)).collect()
    }

    #[test]
    fn the_1056_endpoint_dragonfly_matches_its_closed_forms() {
        let d = of("kind = 'dragonfly'\np = 4\na = 8\nh = 4\ngroups = 33");
        assert_eq!((d.endpoints, d.switches, d.ports_max, d.diameter), (1056, 264, 15, 3));
        assert_eq!(links(&d), [("host", 1056), ("local", 33 * 28), ("global", 33 * 32 / 2)]);
        // At most 12 switches are nearer by two global links than by local, global, local.
        let routed = local_global_local(8, 4, 33);
        assert!(d.hops_mean < routed && d.hops_mean > routed - 12.0 / 264.0, "{}", d.hops_mean);
        let cut = d.bisection.unwrap();
        assert_eq!(cut.links, 16 * 17);
        assert!((cut.channels_per_endpoint - 272.0 / 512.0).abs() < 1e-12);
    }

    /// Mean hops of a dragonfly from a switch by way of local, global, local: itself; a − 1 others by one local and h by
    /// one global link; h·(a − 1) by global-local and as many by local-global; the rest by three.
    fn local_global_local(a: u32, h: u32, groups: u32) -> f64 {
        let (by_one, by_two) = (a - 1 + h, 2 * h * (a - 1));
        f64::from(by_one + 2 * by_two + 3 * (a * groups - 1 - by_one - by_two)) / f64::from(a * groups)
    }

    #[test]
    fn mean_hops_of_a_dragonfly_are_exact_where_two_global_links_never_follow_each_other() {
        let d = of("kind = 'dragonfly'\np = 3\na = 8\nh = 1\ngroups = 9");
        assert!((d.hops_mean - local_global_local(8, 1, 9)).abs() < 1e-12, "{}", d.hops_mean);
    }

    #[test]
    fn a_dragonfly_is_bisected_between_groups_with_all_parallel_links() {
        let d = of("kind = 'dragonfly'\np = 2\na = 4\nh = 3\ngroups = 5");
        assert_eq!((d.ports_max, d.bisection.unwrap().links), (8, 3 * 2 * 3));
    }

    #[test]
    fn the_256_endpoint_fat_tree_matches_its_closed_forms() {
        let d = of("kind = 'fat-tree'\nlevels = 2\narity = 16");
        assert_eq!((d.endpoints, d.switches, d.ports_max, d.diameter), (256, 32, 32, 2));
        assert_eq!(links(&d), [("host", 256), ("level1", 256)]);
        // 2.875 switches on the way, the packet of an endpoint to itself included.
        assert!((d.hops_mean + 1.0 - 2.875).abs() < 1e-12, "{}", d.hops_mean);
        let cut = d.bisection.unwrap();
        assert_eq!((cut.links, cut.channels_per_endpoint), (128, 1.0));
    }

    #[test]
    fn the_4096_endpoint_fat_tree_matches_its_closed_forms() {
        let d = of("kind = 'fat-tree'\nlevels = 3\narity = 16");
        assert_eq!((d.endpoints, d.switches, d.ports_max, d.diameter), (4096, 768, 32, 4));
        assert_eq!(links(&d), [("host", 4096), ("level1", 4096), ("level2", 4096)]);
        // 15 of 256 leaves are in the same pod, 240 in others.
        assert!((d.hops_mean - (15.0 * 2.0 + 240.0 * 4.0) / 256.0).abs() < 1e-12);
        assert_eq!(d.bisection.unwrap().links, 2048);
    }

    #[test]
    fn lattices_match_their_closed_forms() {
        let facts = |text: &str| {
            let d = of(text);
            (d.endpoints, d.ports_max, d.diameter, d.hops_mean, d.bisection.unwrap().links)
        };
        // 9 routers on the way in a 16 by 16 torus, a quarter of the size a dimension.
        assert_eq!(facts("kind = 'torus'\ndims = [16, 16]"), (256, 5, 16, 8.0, 32));
        assert_eq!(
            facts("kind = 'torus'\ndims = [8, 4]\nconcentration = 2\nlinks = 2"),
            (64, 10, 6, 3.0, 16)
        );
        // (k² − 1)/(3k) hops a dimension.
        assert_eq!(facts("kind = 'mesh'\ndims = [4, 4]"), (16, 5, 6, 2.5, 4));
        // (k − 1)/k hops a dimension.
        assert_eq!(facts("kind = 'hyperx'\ndims = [4, 8]"), (32, 11, 2, 1.625, 2 * 2 * 8));
        assert_eq!(facts("kind = 'hyperx'\ndims = [8, 4]").4, 2 * 2 * 8);
        assert_eq!(facts("kind = 'hyperx'\ndims = [3, 4, 1]").4, 2 * 2 * 3);
    }

    #[test]
    fn taper_divides_the_bisection() {
        assert_eq!(
            of("kind = 'fat-tree'\nlevels = 3\narity = 8\ntaper = 4")
                .bisection
                .unwrap()
                .channels_per_endpoint,
            0.25
        );
    }

    #[test]
    fn a_link_is_as_many_channels_of_a_bisection_as_its_rate_is_times_the_hosts() {
        let topology: Topology = toml::from_str("kind = 'xgft'\ndown = [16, 8]\nup = [4]").unwrap();
        let capacity = |class| [1.0, 4.0][usize::from(class)];
        let cut = describe(&topology.wiring().graph(), topology.wiring(), capacity).bisection.unwrap();
        assert_eq!((cut.links, cut.channels_per_endpoint), (16, 1.0));
    }

    #[test]
    fn a_single_switch_has_no_hops_and_no_bisection() {
        let d = of("kind = 'single-switch'\nendpoints = 8");
        assert_eq!((d.ports_max, d.diameter, d.hops_mean, d.bisection), (8, 0, 0.0, None));
    }

    #[test]
    fn distances_of_a_large_network_are_sampled() {
        let d = of("kind = 'dragonfly'\np = 1\na = 16\nh = 8\ngroups = 129");
        assert!(d.hops_sampled);
        assert_eq!(d.diameter, 3);
        assert!((d.hops_mean - 2.83).abs() < 0.05, "{}", d.hops_mean);
    }
}
