//! Tests of the seam, and what those of the kinds share.
use super::*;
use crate::graph::Peer;
use crate::topology::tests::small;
use crate::units::Rate;

/// 100-bit flits, 24 flits a packet, 100 Gb/s.
pub(crate) const SCALE: Scale = Scale { flit_bits: 100, packet_flits: 24, host: Rate(100_000_000_000) };

/// Every routing that suits a topology, with each of its variants.
pub(crate) fn variants(topology: &Topology) -> Vec<Routing> {
    use nca::Up::{Deterministic, FlowHash, LeastLoaded};
    let mut routings = Routing::defaults();
    routings.extend([Deterministic, FlowHash, LeastLoaded].map(|up| Routing::Nca(nca::Nca { up })));
    let up_down = shortest::Deadlock::UpDown;
    routings.push(Routing::Shortest(shortest::Shortest { deadlock: up_down, ..Default::default() }));
    use shortest::Choose;
    for choose in [Choose::ByDestination, Choose::FlowHash, Choose::LeastLoaded] {
        routings.push(Routing::Shortest(shortest::Shortest { choose, ..Default::default() }));
    }
    let bubble = dor::Deadlock::Bubble;
    routings.push(Routing::Dor(dor::Dor { deadlock: bubble, ..Default::default() }));
    let ascending = topology.wiring().link_classes()[1..].concat();
    let descending: String = ascending.chars().rev().collect();
    if ascending != descending {
        for choose in [orders::Choose::RoundRobin, orders::Choose::Occupancy] {
            let orders = vec![ascending.clone(), descending.clone()];
            routings.push(Routing::Dor(dor::Dor { deadlock: bubble, orders, choose, ..Default::default() }));
        }
    }
    routings.retain(|routing| routing.suits(topology));
    routings
}

/// Senses that answer from a list of draws and a table of occupied ports (all others are empty).
#[derive(Default)]
pub(crate) struct Fixed {
    pub(crate) draws: std::collections::VecDeque<u32>,
    pub(crate) occupied: std::collections::BTreeMap<u16, u32>,
    /// Room on the reserved level, by port.
    pub(crate) room: std::collections::BTreeMap<u16, u32>,
    /// Ports that were asked for.
    pub(crate) sensed: Vec<u16>,
}

impl Senses for Fixed {
    fn below(&mut self, n: u32) -> u32 {
        let draw = self.draws.pop_front().expect("a draw that the test did not expect");
        assert!(draw < n);
        draw
    }

    fn occupancy(&mut self, port: u16) -> u32 {
        self.sensed.push(port);
        self.occupied.get(&port).copied().unwrap_or(0)
    }

    fn room(&mut self, port: u16, _: u8) -> u32 {
        self.room.get(&port).copied().unwrap_or(0)
    }
}

/// A dragonfly of three groups of four switches with one endpoint each, two links between every two groups: of group 0, switches 0
/// and 2 to group 1, 1 and 3 to group 2. Ports of a switch: endpoint 0, local 1 to 3, then global.
pub(crate) const PAIRS: &str = "kind = 'dragonfly'\np = 1\na = 4\nh = 1\ngroups = 3";

/// Port and level of a hop of a packet that came from the first port of a switch; it draws these numbers and no more.
pub(crate) fn hop<Kind: Bind + Default>(
    topology: &str,
    (switch, dst): (u32, u32),
    route: &mut Route,
    draws: &[u32],
    occupied: &[(u16, u32)],
) -> (u16, u8) {
    let topology: Topology = toml::from_str(topology).unwrap();
    let router = Kind::default().router(&topology, &topology.wiring().graph(), &SCALE).unwrap();
    let mut senses = Fixed { draws: draws.iter().copied().collect(), ..Fixed::default() };
    senses.occupied = occupied.iter().copied().collect();
    let hop = router.route(switch, Some(0), dst, route, &mut senses);
    assert!(senses.draws.is_empty(), "{:?}", senses.draws);
    (hop.port, hop.level)
}

/// Follows a packet from endpoint to endpoint; the hops it takes, ejection included.
pub(crate) fn follow(graph: &Graph, router: &dyn Router, src: u32, dst: u32, senses: &mut Fixed) -> Vec<Hop> {
    let mut route = Route::default();
    router.inject(src, dst, &mut route, senses);
    let (mut switch, port) = graph.endpoints[src as usize];
    let mut in_port = Some(port);
    let mut hops = Vec::new();
    while hops.len() < 20 {
        let hop = router.route(switch, in_port, dst, &mut route, senses);
        hops.push(hop);
        route.leave();
        match graph.switches[switch as usize][hop.port as usize].peer {
            Peer::Switch { switch: next, port } => (switch, in_port) = (next, Some(port)),
            Peer::Endpoint(endpoint) => {
                assert_eq!(endpoint, dst);
                return hops;
            }
            Peer::None => panic!("sent over an open port"),
        }
    }
    panic!("{src} to {dst} does not arrive: {hops:?}")
}

#[test]
fn a_routing_that_does_not_suit_says_which_do() {
    let tree: Topology = toml::from_str("kind = 'fat-tree'\nlevels = 2\narity = 2").unwrap();
    let problems =
        Routing::Par(par::Par::default()).bind(&tree, &tree.wiring().graph(), &SCALE).err().unwrap();
    let text = problems[0].to_string();
    assert_eq!(
        text,
        "kind: \"par\" does not route a fat-tree (those that do: minimal, nca, shortest, flow-adaptive; it routes: dragonfly)"
    );
}

#[test]
fn every_topology_has_the_default_routing() {
    for topology in small() {
        assert!(Routing::default().suits(&topology));
        for routing in variants(&topology) {
            assert!(routing.bind(&topology, &topology.wiring().graph(), &SCALE).is_ok());
        }
    }
}

/// All that may come of a hop.
fn outcomes(
    router: &dyn Router,
    (switch, in_port): (u32, Option<u16>),
    dst: u32,
    before: Route,
) -> Vec<(u16, u8, Route)> {
    let mut outcomes = Vec::new();
    _ = crate::outcomes::every_outcome(|senses| {
        let mut route = before;
        let hop = router.route(switch, in_port, dst, &mut route, senses);
        outcomes.push((hop.port, hop.level, route));
        std::ops::ControlFlow::<()>::Continue(())
    });
    outcomes
}

#[test]
fn a_routing_that_says_so_does_not_look_at_the_port_a_packet_came_by() {
    for topology in small() {
        let graph = topology.wiring().graph();
        let routers = variants(&topology).into_iter().map(|kind| kind.bind(&topology, &graph, &SCALE));
        for router in routers.map(|bound| bound.unwrap()).filter(|router| !router.minds_input()) {
            let last = graph.endpoints.len() as u32 - 1;
            for (src, dst) in [(0, last), (last, 0), (last / 2, last), (0, last.min(1))] {
                let (mut switch, mut port) = graph.endpoints[src as usize];
                let mut route = Route::default();
                loop {
                    let hops = outcomes(&*router, (switch, Some(port)), dst, route);
                    assert_eq!(hops, outcomes(&*router, (switch, None), dst, route), "{topology:?} {port}");
                    let out = hops[0].0;
                    route = Route { hops: route.hops + 1, ..hops[0].2 };
                    match graph.switches[switch as usize][usize::from(out)].peer {
                        Peer::Switch { switch: next, port: there } => (switch, port) = (next, there),
                        _ => break,
                    }
                }
            }
        }
    }
}

#[test]
fn a_routing_is_read_by_its_kind() {
    let par: Routing = toml::from_str("kind = 'par'\nthreshold = '2 packets'").unwrap();
    assert_eq!(par, Routing::Par(par::Par { threshold: Size::Packets(2) }));
    assert!(toml::from_str::<Routing>("kind = 'nca'\nup = 'sideways'").is_err());
    assert!(toml::from_str::<Routing>("kind = 'minimal'\nthreshold = '2 packets'").is_err());
}
