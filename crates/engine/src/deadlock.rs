//! A static proof, for one network and router, that routing cannot deadlock.
//!
//! Every choice a router might make is explored: its draws take every value, and the occupancy of each port it looks at
//! is empty or as good as full. What a packet may wait for while it holds a channel makes the channel dependency graph,
//! whose nodes are (channel, level, virtual network); without a cycle in it no set of packets can wait for one another for ever (W. Dally,
//! C. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE Transactions on Computers
//! 36(5), 1987). With bubble flow control a ring may be a cycle, but what enters rings must not make one. Levels on which nothing
//! waits are no part of the graph: all that may be adaptive must have an escape in the rest (J. Duato, 1996). The check is exhaustive, so it is meant for small networks of each kind.
use crate::graph::{Graph, Peer};
use crate::outcomes::every_outcome;
use crate::routing::{BUBBLE, Hop, Route, Router};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;

/// Channels between switches that a packet may take before it counts as lost.
pub const HOPS_MAX: u8 = 64;

/// What was explored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stats {
    /// States of a packet in a switch.
    pub states: usize,
    /// Pairs of channel and level in use, channels from and to endpoints not counted.
    pub channels: usize,
    /// Dependencies between them.
    pub dependencies: usize,
    /// Most channels between switches on the way of any packet.
    pub hops_max: u8,
    /// Levels in use, by link class.
    pub levels: Vec<u8>,
}

/// Why a router may not be used on a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Packets may wait for one another in a circle: the channels in words, each waiting for the next, the last for the
    /// first.
    Cycle(Vec<String>),
    /// A packet takes a wrong way: what it does, in words.
    Way(String),
    /// None was found in as many choices as were to be followed.
    Unfinished,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cycle(channels) => write!(f, "channels wait in a circle: {}", channels.join(" → ")),
            Self::Way(what) => f.write_str(what),
            Self::Unfinished => f.write_str("there are too many choices to follow them all"),
        }
    }
}

/// Explores every way of every packet, from each endpoint to each other (and itself) and from each switch to each
/// endpoint, as packets that switches make (negative acknowledgements) go. `link_classes` names the classes.
pub fn check(graph: &Graph, router: &dyn Router, link_classes: &[&str]) -> Result<Stats, Fault> {
    check_within(graph, router, link_classes, u64::MAX)
}

/// As [`check`], unless that would follow over `most` choices.
pub fn check_within(
    graph: &Graph,
    router: &dyn Router,
    link_classes: &[&str],
    most: u64,
) -> Result<Stats, Fault> {
    let mut explorer = Explorer::new(graph, router, link_classes);
    explorer.left = most;
    for dst in 0..graph.endpoints.len() as u32 {
        explorer.explore(dst)?;
    }
    explorer.finish()
}

/// A packet in a switch. The destination is not part of it: destinations are explored one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    switch: u32,
    in_port: Option<u16>,
    route: Route,
    /// The channel and level the packet holds, as a node; none if it comes from an endpoint or is made here.
    held: Option<u32>,
}

struct Explorer<'a> {
    graph: &'a Graph,
    router: &'a dyn Router,
    link_classes: &'a [&'a str],
    /// Number of the first channel of each switch; a channel is named by the output port it starts from.
    first: Vec<u32>,
    /// Levels of all networks, that a node number leaves room for.
    levels: u32,
    /// What may wait for what: (node held, node wanted).
    dependencies: BTreeSet<(u32, u32)>,
    /// Nodes that follow each other in a ring that bubbles keep moving.
    rings: BTreeSet<(u32, u32)>,
    used: BTreeSet<u32>,
    stats: Stats,
    /// Choices that may yet be followed.
    left: u64,
}

/// Follows one choice of those that may yet be.
fn spend(left: &mut u64) -> ControlFlow<()> {
    match left.checked_sub(1) {
        None => ControlFlow::Break(()),
        Some(fewer) => {
            *left = fewer;
            ControlFlow::Continue(())
        }
    }
}

impl<'a> Explorer<'a> {
    fn new(graph: &'a Graph, router: &'a dyn Router, link_classes: &'a [&'a str]) -> Self {
        let mut first = Vec::with_capacity(graph.switches.len());
        let mut channels = 0;
        for ports in &graph.switches {
            first.push(channels);
            channels += ports.len() as u32;
        }
        let levels = (0..link_classes.len() as u8).map(|class| router.levels(class)).max().unwrap_or(1);
        let levels = (u32::from(levels) + u32::from(router.made_levels())) * u32::from(router.networks());
        let stats = Stats { levels: vec![0; link_classes.len()], ..Stats::default() };
        let (dependencies, rings, used) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { graph, router, link_classes, first, levels, dependencies, rings, used, stats, left: u64::MAX }
    }

    /// Follows every packet for `dst` through every choice, each state once.
    fn explore(&mut self, dst: u32) -> Result<(), Fault> {
        let mut waiting = self.origins(dst)?;
        let mut seen: HashSet<State> = waiting.iter().copied().collect();
        while let Some(state) = waiting.pop() {
            let router = self.router;
            let (mut hops, mut left) = (Vec::new(), self.left);
            let ended = every_outcome(|senses| {
                let mut route = state.route;
                let hop = router.route(state.switch, state.in_port, dst, &mut route, senses);
                let promised =
                    router.reserved_level() != Some(hop.level) || senses.has_room(hop.port, hop.level);
                // Many choices come to the same.
                if !hops.contains(&(hop, route, promised)) {
                    hops.push((hop, route, promised));
                }
                spend(&mut left)
            });
            self.left = left;
            if ended.is_break() {
                return Err(Fault::Unfinished);
            }
            for (hop, route, promised) in hops {
                if !promised {
                    let way = format!("in switch {}, a packet for endpoint {dst}", state.switch);
                    return Err(Fault::Way(format!("{way} takes port {} at a level without room", hop.port)));
                }
                if let Some(next) = self.step(&state, dst, hop, route)?
                    && seen.insert(next)
                {
                    waiting.push(next);
                }
            }
        }
        self.stats.states += seen.len();
        Ok(())
    }

    /// Where packets for `dst` come from: every endpoint, with whatever is drawn at injection, and every switch.
    fn origins(&mut self, dst: u32) -> Result<Vec<State>, Fault> {
        let made = |switch| State { switch, in_port: None, route: Route::default(), held: None };
        // Where no way is left to an endpoint, no packet has come from it that would be answered.
        let all = (0..self.graph.switches.len() as u32).filter(|&switch| self.router.reaches(switch, dst));
        let mut states: Vec<State> = all.map(made).collect();
        for (src, &(switch, port)) in self.graph.endpoints.iter().enumerate() {
            let (router, left) = (self.router, &mut self.left);
            let ended = every_outcome(|senses| {
                let mut route = Route::default();
                router.inject(src as u32, dst, &mut route, senses);
                states.push(State { switch, in_port: Some(port), route, held: None });
                spend(left)
            });
            if ended.is_break() {
                return Err(Fault::Unfinished);
            }
        }
        Ok(states)
    }

    /// Takes a hop: notes what it depends on, and gives the state in the next switch, if there is one.
    fn step(&mut self, state: &State, dst: u32, hop: Hop, mut route: Route) -> Result<Option<State>, Fault> {
        let wrong = |what: &str| {
            let Hop { port, level } = hop;
            let way =
                format!("in switch {}, a packet for endpoint {dst} is sent to port {port}", state.switch);
            Err(Fault::Way(format!("{way} at level {level}: {what} ({:?})", state.route)))
        };
        let Some(port) = self.graph.switches[state.switch as usize].get(usize::from(hop.port)) else {
            return wrong("the switch has no such port");
        };
        let made = if port.class == 0 { 0 } else { self.router.made_levels() };
        let levels = self.router.levels(port.class) + u16::from(made);
        if u16::from(hop.level) >= levels {
            let class = self.link_classes[usize::from(port.class)];
            return wrong(&format!("channels of class {class} have {levels} levels"));
        }
        let most = &mut self.stats.levels[usize::from(port.class)];
        *most = (*most).max(hop.level + 1);
        match port.peer {
            Peer::Endpoint(endpoint) if endpoint == dst => Ok(None),
            Peer::Endpoint(_) => wrong("another endpoint is there"),
            Peer::None => wrong("nothing is connected"),
            Peer::Switch { switch, port } => {
                route.leave();
                if route.hops > HOPS_MAX {
                    return wrong("it has been under way for too many hops");
                }
                self.stats.hops_max = self.stats.hops_max.max(route.hops);
                let channel = self.first[state.switch as usize] + u32::from(hop.port);
                let networks = u32::from(self.router.networks());
                let wanted = channel * self.levels
                    + u32::from(hop.level) * networks
                    + u32::from(route.network) % networks;
                self.used.insert(wanted);
                // Room on a reserved level is there when it is taken: it is not waited for.
                if let Some(held) = state.held.filter(|_| self.router.reserved_level() != Some(hop.level)) {
                    let goes_on = self.router.bubbles() && route.state & BUBBLE == 0;
                    let of = if goes_on { &mut self.rings } else { &mut self.dependencies };
                    of.insert((held, wanted));
                }
                Ok(Some(State { switch, in_port: Some(port), route, held: Some(wanted) }))
            }
        }
    }

    fn finish(mut self) -> Result<Stats, Fault> {
        self.stats.channels = self.used.len();
        self.stats.dependencies = self.dependencies.len() + self.rings.len();
        self.contract();
        match cycle(&self.dependencies) {
            Some(nodes) => Err(Fault::Cycle(nodes.into_iter().map(|node| self.name(node)).collect())),
            None => Ok(self.stats),
        }
    }

    /// Takes every ring with bubbles for one node: its packets move on whatever happens elsewhere, so it can only be waited
    /// for as a whole, by what enters it.
    fn contract(&mut self) {
        let mut ring: BTreeMap<u32, u32> = BTreeMap::new();
        let root = |ring: &BTreeMap<u32, u32>, mut node: u32| {
            while let Some(&next) = ring.get(&node) {
                node = next;
            }
            node
        };
        for &(a, b) in &self.rings {
            let (a, b) = (root(&ring, a), root(&ring, b));
            if a != b {
                ring.insert(a.max(b), a.min(b));
            }
        }
        let merged = self.dependencies.iter().map(|&(a, b)| (root(&ring, a), root(&ring, b)));
        self.dependencies = merged.collect();
    }

    /// A node in words.
    fn name(&self, node: u32) -> String {
        let networks = u32::from(self.router.networks());
        let (channel, level) = (node / self.levels, node % self.levels / networks);
        let switch = self.first.partition_point(|&first| first <= channel) - 1;
        let port = channel - self.first[switch];
        let name = self.graph.channel(switch as u32, port as u16, self.link_classes);
        format!("{name}, level {level}")
    }
}

/// A cycle among dependencies, if there is one: depth first, with the nodes on the way.
fn cycle(dependencies: &BTreeSet<(u32, u32)>) -> Option<Vec<u32>> {
    let after = |node: u32| dependencies.range((node, 0)..=(node, u32::MAX)).map(|&(_, next)| next);
    let mut done: HashSet<u32> = HashSet::new();
    for &(start, _) in dependencies {
        if done.contains(&start) {
            continue;
        }
        let mut way = vec![start];
        let mut on_way: HashSet<u32> = [start].into();
        let mut open = vec![after(start)];
        while let Some(nexts) = open.last_mut() {
            match nexts.find(|next| !done.contains(next)) {
                Some(next) if on_way.contains(&next) => {
                    let begin = way.iter().position(|&node| node == next)?;
                    return Some(way.split_off(begin));
                }
                Some(next) => {
                    way.push(next);
                    on_way.insert(next);
                    open.push(after(next));
                }
                None => {
                    open.pop();
                    let node = way.pop()?;
                    on_way.remove(&node);
                    done.insert(node);
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Port;
    use crate::routing::Senses;
    use crate::routing::tests::{SCALE, variants};
    use crate::topology::{Topology, tests::small};

    /// Most switch-to-switch hops of a routing, from its documentation.
    fn bound(topology: &Topology, routing: &str) -> u8 {
        match (topology, routing) {
            (Topology::SingleSwitch(_), _) => 0,
            // No switch twice: what lies between could be left out. How long the ways are is for the tests of latencies to tell.
            (_, "shortest") => topology.wiring().counts().1 as u8 - 1,
            (Topology::FatTree(tree), _) => 2 * (tree.levels as u8 - 1),
            (Topology::Xgft(tree), _) => 2 * (tree.down.len() as u8 - 1),
            (Topology::KAryNTree(tree), routing) => {
                // On the way down a row may be followed to its end.
                let rows: u32 = (1..tree.n).map(|level| tree.k.pow(level) - 1).sum();
                let moves = routing == "flow-adaptive" && tree.horizontal > 0;
                2 * (tree.n as u8 - 1) + if moves { rows as u8 } else { 0 }
            }
            (Topology::Torus(_) | Topology::Mesh(_) | Topology::Hyperx(_), routing) => {
                let phases = if ["valiant", "ugal"].contains(&routing) { 2 } else { 1 };
                phases
                    * crate::describe::describe(&topology.wiring().graph(), topology.wiring(), |_| 1.0)
                        .diameter as u8
            }
            (Topology::File(_), routing) => {
                let phases = if ["valiant", "ugal"].contains(&routing) { 2 } else { 1 };
                phases * 4
            }
            (Topology::Kns(kns), routing) => {
                let phases = if ["valiant", "ugal"].contains(&routing) { 2 } else { 1 };
                phases * 2 * (kns.n * kns.stages) as u8
            }
            (Topology::Dragonfly(_), "minimal") => 3,
            (Topology::Dragonfly(_), "valiant" | "ugal" | "codes-par" | "sst-ugal") => 5,
            (Topology::Dragonfly(_), "par") => 8,
            other => panic!("no bound is known for {other:?}"),
        }
    }

    #[test]
    fn every_routing_on_every_topology_arrives_in_bounded_hops_and_has_no_cycle() {
        for topology in small() {
            let graph = topology.wiring().graph();
            for routing in variants(&topology) {
                let router = routing.bind(&topology, &graph, &SCALE).unwrap();
                let what = format!("{routing:?} on {topology:?}");
                let stats = match check(&graph, &*router, topology.wiring().link_classes()) {
                    Ok(stats) => stats,
                    Err(fault) => panic!("{what}: {fault}"),
                };
                let bound = bound(&topology, routing.kind());
                assert!(stats.hops_max <= bound, "{what}: {} hops, {bound} allowed", stats.hops_max);
            }
        }
    }

    #[test]
    fn no_level_is_declared_in_vain() {
        let topology: Topology =
            toml::from_str("kind = 'dragonfly'\np = 1\na = 4\nh = 1\ngroups = 5").unwrap();
        let graph = topology.wiring().graph();
        for (routing, levels) in [
            ("minimal", [1, 2, 1]),
            ("valiant", [1, 3, 2]),
            ("ugal", [1, 3, 2]),
            ("par", [1, 6, 2]),
            ("codes-par", [1, 4, 3]),
            ("sst-ugal", [1, 3, 2]),
        ] {
            let routing = variants(&topology).into_iter().find(|of| of.kind() == routing).unwrap();
            let router = routing.bind(&topology, &graph, &SCALE).unwrap();
            let stats = check(&graph, &*router, topology.wiring().link_classes()).unwrap();
            assert_eq!(stats.levels, levels, "{}", routing.kind());
            assert_eq!(stats.hops_max, bound(&topology, routing.kind()), "{}", routing.kind());
        }
    }

    #[test]
    fn what_takes_too_many_choices_is_left_without_a_verdict() {
        let topology: Topology = toml::from_str("kind = 'fat-tree'\nlevels = 2\narity = 4").unwrap();
        let graph = topology.wiring().graph();
        let routing: crate::routing::Routing = toml::from_str("kind = 'nca'\nup = 'least-loaded'").unwrap();
        let router = routing.bind(&topology, &graph, &SCALE).unwrap();
        let within = |most| check_within(&graph, &*router, topology.wiring().link_classes(), most);
        assert_eq!(within(1000), Err(Fault::Unfinished));
        assert_eq!(within(1_000_000), check(&graph, &*router, topology.wiring().link_classes()));
    }

    /// A router robbed of its levels.
    struct Flat(Box<dyn Router>);

    impl Router for Flat {
        fn levels(&self, _: u8) -> u16 {
            1
        }

        fn inject(&self, src: u32, dst: u32, route: &mut Route, senses: &mut dyn Senses) {
            self.0.inject(src, dst, route, senses);
        }

        fn route(
            &self,
            switch: u32,
            in_port: Option<u16>,
            dst: u32,
            route: &mut Route,
            senses: &mut dyn Senses,
        ) -> Hop {
            Hop { level: 0, ..self.0.route(switch, in_port, dst, route, senses) }
        }
    }

    #[test]
    fn routings_that_need_levels_networks_or_bubbles_have_cycles_without_them() {
        for text in [
            "kind = 'dragonfly'\np = 1\na = 4\nh = 1\ngroups = 5",
            "kind = 'torus'\ndims = [4, 4]",
            "kind = 'mesh'\ndims = [3, 3]",
            "kind = 'hyperx'\ndims = [3, 4]",
            "kind = 'kns'\nk = 3\nn = 2",
        ] {
            let topology: Topology = toml::from_str(text).unwrap();
            let graph = topology.wiring().graph();
            for routing in variants(&topology) {
                let router = routing.bind(&topology, &graph, &SCALE).unwrap();
                let needs =
                    (1..topology.wiring().link_classes().len() as u8).any(|class| router.levels(class) > 1);
                let needs = needs || router.bubbles() || router.networks() > 1 || router.made_levels() > 0;
                let found = check(&graph, &Flat(router), topology.wiring().link_classes());
                let what = format!("{} on {text}: {found:?}", routing.kind());
                assert_eq!(matches!(found, Err(Fault::Cycle(_))), needs, "{what}");
            }
        }
    }

    /// A unidirectional ring of switches with one endpoint each: port 0 the endpoint, 1 onwards, 2 backwards.
    fn ring(n: u32) -> Graph {
        let mut graph = Graph::default();
        for switch in 0..n {
            graph.switches.push(Vec::new());
            graph.blocks.push(0);
            graph.attach(switch, 0);
            graph.switches[switch as usize].extend([Port { class: 1, peer: Peer::None }; 2]);
        }
        for switch in 0..n {
            graph.join((switch, 1), ((switch + 1) % n, 2), 1);
        }
        graph
    }

    /// Onwards round the ring, with a date line at switch 0 or without.
    struct Onwards {
        date_line: bool,
        lost: bool,
    }

    impl Router for Onwards {
        fn levels(&self, link_class: u8) -> u16 {
            if link_class == 1 && self.date_line { 2 } else { 1 }
        }

        fn route(
            &self,
            switch: u32,
            in_port: Option<u16>,
            dst: u32,
            route: &mut Route,
            _: &mut dyn Senses,
        ) -> Hop {
            if switch == dst && !self.lost {
                return Hop { port: 0, level: 0 };
            }
            if switch == 0 && in_port == Some(2) {
                route.state = u8::from(self.date_line);
            }
            Hop { port: 1, level: route.state }
        }
    }

    #[test]
    fn a_ring_without_a_date_line_is_reported_with_its_cycle() {
        let fault =
            check(&ring(3), &Onwards { date_line: false, lost: false }, &["host", "ring"]).unwrap_err();
        let Fault::Cycle(mut channels) = fault else { panic!("{fault}") };
        channels.sort();
        assert_eq!(
            channels,
            [
                "switch 0 port 1 (ring) to switch 1, level 0",
                "switch 1 port 1 (ring) to switch 2, level 0",
                "switch 2 port 1 (ring) to switch 0, level 0",
            ]
        );
    }

    #[test]
    fn a_date_line_breaks_the_cycle() {
        let stats = check(&ring(4), &Onwards { date_line: true, lost: false }, &["host", "ring"]).unwrap();
        assert_eq!((stats.hops_max, stats.levels), (3, vec![1, 2]));
    }

    #[test]
    fn a_packet_that_never_arrives_is_a_fault() {
        let fault =
            check(&ring(3), &Onwards { date_line: false, lost: true }, &["host", "ring"]).unwrap_err();
        assert!(matches!(&fault, Fault::Way(what) if what.contains("too many hops")), "{fault}");
    }
}
