//! The routing seam: which port and which deadlock level a packet takes next. One kind a file.
//!
//! A router is immutable and shared by all partitions. It keeps what it must remember of a packet in the packet's
//! [`Route`], and learns of the network's state only through [`Senses`]: so its unit test needs no network, and the
//! deadlock check can explore every choice it might make.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a packet carries for its routing, by value. All zero when the packet is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Route {
    /// An intermediate switch, group or other target; the routing's own.
    pub via: u32,
    /// Phase, dimension, hop counts by class or other state; the routing's own.
    pub state: u8,
    /// Virtual network (index of the order chosen at injection).
    pub network: u8,
    /// Switches left so far; counted by the engine.
    pub hops: u8,
}

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
    /// Occupancy of an output port in flits: those waiting for the port in this switch, and the credits used on its
    /// channel downstream. As of the beginning of the present tick.
    fn occupancy(&mut self, port: u16) -> u32;
}

/// A routing algorithm bound to a network.
pub trait Router: Send + Sync {
    /// Deadlock levels (virtual channels of one class, network and queue) needed on a channel of this link class.
    /// The host class (0) carries level 0 only.
    fn levels(&self, link_class: u8) -> u8;

    /// Called once at the source, before the packet enters its first switch, to draw what is drawn there
    /// (a Valiant intermediate, an order of dimensions).
    fn inject(&self, _src: u32, _dst: u32, _route: &mut Route, _senses: &mut dyn Senses) {}

    /// The next hop of a packet for endpoint `dst` that is in `switch`, having come by `in_port` (none for a packet
    /// that the switch itself made). May be called only once per hop; must reach `dst` in bounded hops.
    fn route(
        &self,
        switch: u32,
        in_port: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop;
}

/// `[routing]`: the list of kinds, one line each.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // the schema takes the text of each kind's struct
pub enum Routing {
    Minimal(Minimal),
}

/// A shortest path.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Minimal {}
