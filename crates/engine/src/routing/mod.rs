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
mod damaged;
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

    /// Whether ways to endpoints of one switch differ though neither chance nor the load has them differ.
    fn tells_destinations_apart(&self) -> bool {
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

    /// Whether links that have failed leave a way from a switch to an endpoint.
    fn reaches(&self, _switch: u32, _dst: u32) -> bool {
        true
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
    /// The same ways, each taken by chance, of a kind of [`Minimality::OwnMinimal`] that looks at the load.
    fn by_chance(&self) -> Option<Box<dyn Bind>> {
        None
    }
    /// Whether it routes a topology some of whose links have failed.
    fn goes_round(&self, _topology: &Topology) -> bool {
        false
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

/// Two switches with endpoints between which links that have failed leave no way.
pub fn severed(router: &dyn Router, graph: &Graph) -> Option<(u32, u32)> {
    let mut seats = std::collections::BTreeMap::new();
    (0..)
        .zip(&graph.endpoints)
        .for_each(|(endpoint, &(switch, _))| _ = seats.entry(switch).or_insert(endpoint));
    let mut pairs = seats.keys().flat_map(|&from| seats.iter().map(move |(&to, &dst)| (from, to, dst)));
    pairs.find(|&(from, _, dst)| !router.reaches(from, dst)).map(|(from, to, _)| (from, to))
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
pub(crate) mod tests;
