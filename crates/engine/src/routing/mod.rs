//! The routing seam: which port and which deadlock level a packet takes next. One kind a file; the list of kinds is
//! [`Routing`].
//!
//! A router is immutable and shared by all partitions. It keeps what it must remember of a packet in the packet's
//! [`Route`], and learns of the network's state only through [`Senses`]: so its unit test needs no network, and the
//! deadlock check ([`crate::deadlock`]) can explore every choice it might make.
use crate::graph::Graph;
use crate::problem::Problem;
use crate::topology::Topology;
use crate::units::{Scale, Size};

pub mod adaptive;
mod by_destination;
pub mod codes_par;
mod divisor;
pub mod dor;
mod dragonfly;
pub mod flow_adaptive;
mod kns;
mod lattice;
mod least;
pub mod minimal;
pub mod nca;
pub mod orders;
pub mod par;
mod paths;
mod phases;
pub mod shortest;
pub mod sst_ugal;
pub mod ugal;
pub mod valiant;

/// What a packet carries for its routing, by value. All zero when the packet is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Route {
    /// An intermediate switch, group or other target; the routing's own.
    pub via: u32,
    /// Phase, dimension, hop counts by class or other state; the routing's own.
    pub state: u8,
    /// Virtual network (index of the order chosen at injection).
    pub network: u8,
    /// Switches left so far, 255 if it is more; counted by the engine.
    pub hops: u8,
}

impl Route {
    /// The packet leaves a switch.
    #[inline]
    pub fn leave(&mut self) {
        self.hops = self.hops.saturating_add(1);
    }
}

/// Bit of [`Route::state`] by which a routing asks for bubble flow control at this hop: the packet enters the first
/// buffer ahead (the output queue, where a switch has one) only when a largest packet more than itself fits.
pub const BUBBLE: u8 = 0x80;

/// The next hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hop {
    /// Output port of the switch the packet is in.
    pub port: u16,
    /// Deadlock level on that port's channel, below `levels` of its class.
    pub level: u8,
}

/// What a routing may sense when it decides: chance, and the state of the switch the packet is in.
pub trait Senses {
    /// A random number in `0..n`, `n` over 0.
    fn below(&mut self, n: u32) -> u32;
    /// Whether a number drawn from `0..n` is the first, `n` over 0.
    fn is_first_of(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
    /// Flits that wait for an output port in this switch, as of the beginning of the present tick.
    ///
    /// Credits used downstream are not part of it: most of them are flits and credits in flight, which on a channel of
    /// 1 us are a thousand times those of a short one at any load. Counted in, they send nearly all packets on detours
    /// (a dragonfly of 1056 endpoints under uniform load 0.5 then accepts 0.31).
    fn occupancy(&mut self, port: u16) -> u32;
    /// Flits that wait for an output port, and those sent on it for which no credit is back.
    fn load(&mut self, port: u16) -> u32 {
        self.occupancy(port)
    }
    /// Flits in the output queue of the packet's virtual channel at a level, in all such queues where the port ahead decides which of
    /// several is the packet's; where switches have no output queues, all that waits for the port.
    fn queued(&mut self, port: u16, _level: u8) -> u32 {
        self.occupancy(port)
    }
    /// Flits for which there is credit on a port's channel at a level, without what was promised to packets that wait here.
    /// Only a router with a [`Router::reserved_level`] is told, of that level.
    fn room(&mut self, _port: u16, _level: u8) -> u32 {
        0
    }
    /// Whose turn it is of `n`, `n` over 0: at the source, one further with every packet sent; elsewhere by chance.
    fn turn(&mut self, n: u32) -> u32 {
        self.below(n)
    }
    /// A number in `0..n`, `n` over 0, that is the same for all packets of a flow in this switch: a hash of source, destination and queue pair.
    fn of_flow(&mut self, n: u32) -> u32 {
        self.below(n)
    }
    /// Flits in the first switch that are bound for the virtual channel which the packet would take in this network, on this port
    /// and level, and flits of that channel's credits in use. Only a router that [`Router::weighs`] is told, at the source.
    fn committed(&mut self, _port: u16, _network: u8, _level: u8) -> u32 {
        0
    }
}

/// A routing algorithm bound to a network.
pub trait Router: Send + Sync {
    /// Deadlock levels (virtual channels of one class, network and queue) needed on a channel of this link class.
    /// The host class (0) carries level 0 only.
    fn levels(&self, link_class: u8) -> u16;

    /// Levels beyond those on all channels between switches, for packets that a switch makes where packets from endpoints never
    /// begin: there are such levels only if the protocol has switches make packets.
    fn made_levels(&self) -> u8 {
        0
    }

    /// Virtual networks that packets are spread over at their sources.
    fn networks(&self) -> u8 {
        1
    }

    /// The dimension that packets cross first, by virtual network.
    fn first_dimensions(&self) -> Vec<u8> {
        vec![0; self.networks().into()]
    }

    /// Whether it goes by [`Senses::of_flow`].
    fn hashes(&self) -> bool {
        false
    }

    /// Whether the source looks at what is [`Senses::committed`].
    fn weighs(&self) -> bool {
        false
    }

    /// Why packets cannot wait for one another in a circle, in words for `describe`.
    fn freedom(&self) -> String {
        "levels only rise along every way".to_string()
    }

    /// Whether hops may ask for a [`BUBBLE`]. Those that do not then stay in the ring of the hop before, which the bubbles
    /// keep moving.
    fn bubbles(&self) -> bool {
        false
    }

    /// Whether it senses what was sent on a channel and has no credit back ([`Senses::load`]).
    fn senses_credits(&self) -> bool {
        false
    }

    /// Of a router for whole flows: most entries in the route cache of an input port. Set-up packets are then told the flows on
    /// each port as its occupancy, all others that ports are empty: what it chooses then is the default port.
    fn route_cache(&self) -> Option<u32> {
        None
    }

    /// A level that a packet may take only where there is [`Senses::room`] for it, which is then promised to it: nothing
    /// waits for room on it. Heads are routed in the order of their ports, each knowing what the ones before were promised.
    fn reserved_level(&self) -> Option<u8> {
        None
    }

    /// Whether [`Self::route`] looks at the port that a packet came by.
    fn minds_input(&self) -> bool {
        false
    }

    /// Called once at the source, before the packet enters its first switch, to draw what is drawn there
    /// (a Valiant intermediate, an order of dimensions). It senses the first switch. Not called for a packet that a
    /// switch makes, which keeps a route of all zeros: every router must be able to route that.
    fn inject(&self, _src: u32, _dst: u32, _route: &mut Route, _senses: &mut dyn Senses) {}

    /// The next hop of a packet for endpoint `dst` that is in `switch`, having come by `in_port` (none for a packet
    /// that the switch itself made). May be called only once per hop; must reach `dst` in bounded hops. The endpoints of a
    /// switch must not be told apart by `in_port`.
    fn route(
        &self,
        switch: u32,
        in_port: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop;
}

/// How the ways of a routing compare with those of minimal routing, by which the latency of the empty network is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Minimality {
    /// They are among them.
    Minimal,
    /// They are shortest ones too, but not all those of minimal routing: its own tell of the network.
    OwnMinimal,
    /// They may be longer.
    NonMinimal,
}

/// What every kind of routing provides: parameters that become a [`Router`] once the network is known.
pub trait Bind {
    /// Kinds of topology that it routes.
    fn topologies(&self) -> &'static [&'static str];
    /// Mistakes in the parameters, on this topology; paths are relative to `routing`.
    fn problems(&self, _topology: &Topology) -> Vec<Problem> {
        Vec::new()
    }
    /// Whether it looks at queues.
    fn senses_load(&self) -> bool {
        false
    }
    /// Whether routes are set up for whole flows.
    fn by_flows(&self) -> bool {
        false
    }
    /// How its ways compare with those of minimal routing.
    fn minimality(&self) -> Minimality {
        Minimality::Minimal
    }
    /// Whether a deadlock is wanted.
    fn may_deadlock(&self) -> bool {
        false
    }
    /// The router on `topology`, whose graph is `graph`; none if the topology is not one of `topologies`.
    fn router(&self, topology: &Topology, graph: &Graph, scale: &Scale) -> Option<Box<dyn Router>>;
}

crate::kinds::kinds! {
    /// `[routing]`: the list of kinds, one line each.
    pub enum Routing by "kind" {
        Minimal(minimal::Minimal) = "minimal",
        Valiant(valiant::Valiant) = "valiant",
        Ugal(ugal::Ugal) = "ugal",
        Par(par::Par) = "par",
        CodesPar(codes_par::CodesPar) = "codes-par",
        SstUgal(sst_ugal::SstUgal) = "sst-ugal",
        Nca(nca::Nca) = "nca",
        Dor(dor::Dor) = "dor",
        Shortest(shortest::Shortest) = "shortest",
        Adaptive(adaptive::Adaptive) = "adaptive",
        FlowAdaptive(flow_adaptive::FlowAdaptive) = "flow-adaptive",
    }
    /// What the routing provides, whichever kind it is.
    pub fn binding -> dyn Bind;
}

impl Default for Routing {
    fn default() -> Self {
        Self::Minimal(minimal::Minimal::default())
    }
}

impl Routing {
    /// Every kind with its default parameters.
    pub fn defaults() -> Vec<Self> {
        let read = |kind: &&str| serde_json::from_value(serde_json::json!({ "kind": kind }));
        Self::KINDS.iter().filter_map(|kind| read(kind).ok()).collect()
    }

    /// Whether this kind routes this kind of topology.
    pub fn suits(&self, topology: &Topology) -> bool {
        self.binding().topologies().contains(&topology.kind())
    }

    /// The router on `topology`, whose graph is `graph`, or what is wrong; paths are relative to `routing`.
    pub fn bind(
        &self,
        topology: &Topology,
        graph: &Graph,
        scale: &Scale,
    ) -> Result<Box<dyn Router>, Vec<Problem>> {
        self.binding().router(topology, graph, scale).ok_or_else(|| vec![self.unsuited(topology)])
    }

    /// The kinds that route this kind of topology.
    pub fn suited(topology: &Topology) -> Vec<&'static str> {
        Self::defaults().iter().filter(|routing| routing.suits(topology)).map(Self::kind).collect()
    }

    fn unsuited(&self, topology: &Topology) -> Problem {
        let message = format!("\"{}\" does not route a {}", self.kind(), topology.kind());
        let topologies = self.binding().topologies().join(", ");
        let help = format!("those that do: {}; it routes: {topologies}", Self::suited(topology).join(", "));
        Problem::new("kind", message, help)
    }
}

/// A threshold in flits, as routers compare it.
fn flits(size: Size, scale: &Scale) -> u64 {
    // Occupancies have 32 bits: a larger threshold cannot be exceeded either way.
    size.flits(scale).min(u64::from(u32::MAX) * 2)
}

/// Whether the first port of the minimal way is occupied so much more than that of a detour that the detour is taken:
/// `q_min·h_min > q_val·h_val + threshold·h_min`. An occupancy stands for the delay of a hop, so that its product with the
/// hops ahead estimates the delay of the way.
fn diverts(minimal: u32, detour: u32, (h_min, h_val): (u32, u32), threshold: u64) -> bool {
    u64::from(minimal) * u64::from(h_min)
        > u64::from(detour) * u64::from(h_val) + threshold * u64::from(h_min)
}

#[cfg(test)]
pub(crate) mod tests {
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
        for choose in [shortest::Choose::ByDestination, shortest::Choose::FlowHash] {
            routings.push(Routing::Shortest(shortest::Shortest { choose, ..Default::default() }));
        }
        let bubble = dor::Deadlock::Bubble;
        routings.push(Routing::Dor(dor::Dor { deadlock: bubble, ..Default::default() }));
        let ascending = topology.wiring().link_classes()[1..].concat();
        let descending: String = ascending.chars().rev().collect();
        if ascending != descending {
            for choose in [orders::Choose::RoundRobin, orders::Choose::Occupancy] {
                let orders = vec![ascending.clone(), descending.clone()];
                routings.push(Routing::Dor(dor::Dor {
                    deadlock: bubble,
                    orders,
                    choose,
                    ..Default::default()
                }));
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
    pub(crate) fn follow(
        graph: &Graph,
        router: &dyn Router,
        src: u32,
        dst: u32,
        senses: &mut Fixed,
    ) -> Vec<Hop> {
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
                        assert_eq!(
                            hops,
                            outcomes(&*router, (switch, None), dst, route),
                            "{topology:?} {port}"
                        );
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
}
