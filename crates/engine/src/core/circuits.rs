//! Flows as the switches of a partition know them: how many cross each link, what they weigh together, and the routes of those
//! that have one of their own (Y. Birk, V. Zdornov, SYSTOR 2009, sections 4.1 and 5.2).
//!
//! Where flows are kept account of, all packets of a source for a destination go one way: routers draw by source and destination, and
//! sense nothing; only set-up packets sense, and what they sense is the number of flows on a port.
//!
//! A flow weighs on a link from when its set-up packet has arrived for it, for its data will follow, until its tear-down packet leaves
//! on it: that waits behind the flow's last data, which probes, being more urgent, overtake. Arrivals count in the order of their input
//! ports, departures from the next tick on.
use super::packet::{Hot, Kind};
use super::plan::{FlitTime, Plan, Share};
use super::shares::SharedLink;
use super::table::Table;
use crate::graph::Peer;
use crate::protocol::Told;
use crate::rng::{mix, scale};
use crate::routing::{Hop, Route, Senses};

/// An output port and the flows that weigh on it.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    flows: u32,
    /// Ticks of a largest packet on it.
    time: u32,
    /// Flits of the flows together.
    weight: u64,
}

/// What is counted of the flows in a partition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Set-up packets routed: one for each switch on the way of a flow.
    pub routed: u64,
    /// Those that got an entry in a route cache.
    pub entered: u64,
    /// Those that took the default port because the cache was full.
    pub refused: u64,
    /// Most entries that a cache held at once.
    pub entries_max: u64,
    /// Entries, flows and flits that the switches still know of.
    pub left: [u64; 3],
}

impl Count {
    /// Adds what another partition counted.
    pub fn merge(&mut self, other: &Count) {
        self.routed += other.routed;
        self.entered += other.entered;
        self.refused += other.refused;
        self.entries_max = self.entries_max.max(other.entries_max);
        for (mine, theirs) in self.left.iter_mut().zip(other.left) {
            *mine += theirs;
        }
    }
}

/// The flows in the switches of a partition.
pub struct Circuits {
    /// By local output port.
    links: Table<Link>,
    /// Route caches by local input port: connections in ascending order, with the port each takes.
    caches: Vec<Vec<(u64, u16)>>,
    /// Most entries of a cache; none if flows have no routes of their own.
    entries: Option<usize>,
    packet_flits: u16,
    /// Whether data may ask.
    told: bool,
    /// What max-min fair shares are found by: links by local output port, and behind them those from endpoints by local input port.
    shares: Table<SharedLink>,
    count: Count,
}

/// What a router senses of flows: nothing, or the number of those on a port.
pub(crate) struct ByConnection<C, F> {
    chance: C,
    drawn: Option<u64>,
    flows: F,
}

impl<C: Fn() -> u64, F: Fn(u16) -> u32> ByConnection<C, F> {
    /// Senses with a chance that is the same for all packets of a connection in a switch, and the flows on a port.
    pub fn new(chance: C, flows: F) -> Self {
        Self { chance, drawn: None, flows }
    }
}

impl<C: Fn() -> u64, F: Fn(u16) -> u32> Senses for ByConnection<C, F> {
    fn below(&mut self, n: u32) -> u32 {
        let before = self.drawn.unwrap_or_else(&self.chance);
        let drawn = mix(before, 1);
        self.drawn = Some(drawn);
        scale(drawn, n)
    }

    fn occupancy(&mut self, port: u16) -> u32 {
        (self.flows)(port)
    }
}

/// Where a packet has arrived.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Local input port.
    pub input: u32,
    /// Global switch.
    pub switch: u32,
    /// First local port of the switch.
    pub base: u32,
}

/// A flow whose tear-down packet leaves on a channel.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// Local output port.
    pub port: u32,
    /// Its source and its destination.
    pub connection: u64,
    /// Its flits.
    pub weight: u64,
}

/// A source and a destination in one word.
pub(crate) fn connection(src: u32, dst: u32) -> u64 {
    (src as u64) << 32 | dst as u64
}

/// The chance of a connection in a switch.
pub(crate) fn chance(seed: u64, switch: u32, connection: u64) -> u64 {
    mix(mix(seed, switch as u64), connection)
}

/// The bit of a data packet's first word that says that it asks links as a probe does; the other bits are what it expects to hear.
pub const ASKS: u64 = 1 << 63;

impl Circuits {
    /// The switches of a partition without flows; none if the run keeps no account of flows.
    pub fn of(plan: &Plan, share: &Share) -> Option<Box<Self>> {
        plan.circuits.then(|| Box::new(Self::new(plan, share)))
    }

    /// The switches of a partition without flows.
    pub fn new(plan: &Plan, share: &Share) -> Self {
        let most = plan.packet_flits as usize;
        let ports = || share.switches.iter().flat_map(|&switch| &plan.graph.switches[switch as usize]);
        let link = |port: &crate::graph::Port| {
            let ejects = matches!(port.peer, Peer::Endpoint(_));
            let times = if ejects { &plan.drain_time } else { &plan.links[port.class as usize].time };
            Link { time: times[most], ..Link::default() }
        };
        let links: Vec<Link> = ports().map(link).collect();
        let mut shares = Vec::new();
        if let Some(Told::Share(part)) = plan.told {
            let shared = |time: u32| SharedLink::new(part * most as f64 / f64::from(time));
            shares.extend(links.iter().map(|link| shared(link.time)));
            shares.extend(ports().map(|port| shared(plan.links[port.class as usize].time[most])));
        }
        Self {
            caches: vec![Vec::new(); links.len()],
            links: links.into(),
            entries: plan.router.route_cache().map(|entries| entries as usize),
            packet_flits: plan.packet_flits,
            told: plan.told.is_some(),
            shares: shares.into(),
            count: Count::default(),
        }
    }

    /// The next hop of a packet that arrived. Set-up packets change what the switch knows, and tear-down packets free the entry that
    /// they take, since behind them no data come by this input; set-up packets and probes take the weight of their link with them.
    pub fn route(
        &mut self,
        plan: &Plan,
        at: Place,
        (hot, src, words): (&Hot, u32, &mut [u64; 2]),
        route: &mut Route,
    ) -> Hop {
        let key = connection(src, hot.dst);
        let kind = hot.kind();
        self.enter_network(plan, at, (key, kind), words);
        let forward = matches!(kind, Kind::Data | Kind::SetUp | Kind::Probe | Kind::TearDown);
        if forward
            && self.entries.is_some()
            && kind != Kind::SetUp
            && let Some(port) = self.cached(at.input, key, kind == Kind::TearDown)
        {
            let hop = Hop { port, level: 0 };
            self.account(at.base + port as u32, (key, kind), words);
            return hop;
        }
        let in_port = Some((at.input - at.base) as u16);
        let chance = || chance(plan.seed, at.switch, key);
        let before = *route;
        let mut quiet = ByConnection::new(chance, |_| 0);
        let mut hop = plan.router.route(at.switch, in_port, hot.dst, route, &mut quiet);
        if kind == Kind::SetUp && self.entries.is_some() {
            let flows = |port| self.links[at.base + port as u32].flows;
            let mut senses = ByConnection::new(chance, flows);
            let mut other = before;
            let chosen = plan.router.route(at.switch, in_port, hot.dst, &mut other, &mut senses);
            if chosen.port != hop.port && self.enter(at.input, key, chosen.port) {
                hop = chosen;
            }
        }
        self.account(at.base + hop.port as u32, (key, kind), words);
        hop
    }

    /// The port of a connection that has an entry; `remove` takes it out.
    fn cached(&mut self, input: u32, key: u64, remove: bool) -> Option<u16> {
        let cache = &mut self.caches[input as usize];
        let at = cache.binary_search_by_key(&key, |entry| entry.0).ok()?;
        Some(if remove { cache.remove(at).1 } else { cache[at].1 })
    }

    /// Gives a connection an entry, if there is room.
    fn enter(&mut self, input: u32, key: u64, port: u16) -> bool {
        let cache = &mut self.caches[input as usize];
        if cache.len() >= self.entries.unwrap_or(0) {
            self.count.refused += 1;
            return false;
        }
        let place = cache.binary_search_by_key(&key, |entry| entry.0);
        let place =
            place.expect_err("law broken: a flow was set up while another of its connection has a route");
        cache.insert(place, (key, port));
        self.count.entered += 1;
        self.count.entries_max = self.count.entries_max.max(cache.len() as u64);
        true
    }

    /// Whether links have to do with a packet.
    #[inline]
    pub(super) fn concerns(&self, kind: Kind, words: &[u64; 2]) -> bool {
        match kind {
            Kind::Data => self.told && words[0] & ASKS != 0,
            Kind::SetUp | Kind::Probe | Kind::TearDown => true,
            _ => false,
        }
    }

    /// What a packet changes and learns at the channel by which it came from its endpoint, if it did and shares are told.
    fn enter_network(&mut self, plan: &Plan, at: Place, (key, kind): (u64, Kind), words: &mut [u64; 2]) {
        if self.shares.is_empty() || !self.concerns(kind, words) {
            return;
        }
        let port = &plan.graph.switches[at.switch as usize][(at.input - at.base) as usize];
        if matches!(port.peer, Peer::Endpoint(_)) {
            let shared = &mut self.shares[self.links.len() as u32 + at.input];
            if kind == Kind::TearDown {
                shared.end(key);
            } else {
                shared.account(key, kind, words);
            }
        }
    }

    /// What a packet that is to leave by a port changes, and what it learns.
    fn account(&mut self, port: u32, (key, kind): (u64, Kind), words: &mut [u64; 2]) {
        if kind == Kind::TearDown || !self.concerns(kind, words) {
            return;
        }
        let link = &mut self.links[port];
        if kind == Kind::SetUp {
            self.count.routed += 1;
            link.flows += 1;
            link.weight += words[0];
        }
        match self.shares.get_mut(port as usize) {
            Some(shared) => shared.account(key, kind, words),
            None => words[1] = words[1].max(FlitTime::new(link.time, self.packet_flits).span(link.weight)),
        }
    }

    /// A flow weighs no longer on a link: its tear-down packet leaves.
    pub fn end(&mut self, &Ended { port, connection, weight }: &Ended) {
        let link = &mut self.links[port];
        assert!(
            link.flows > 0 && link.weight >= weight,
            "law broken: a flow ends that the switch does not know"
        );
        link.flows -= 1;
        link.weight -= weight;
        if let Some(shared) = self.shares.get_mut(port as usize) {
            shared.end(connection);
        }
    }

    /// Flows on a local output port, and their flits.
    pub fn load(&self, port: u32) -> (u32, u64) {
        (self.links[port].flows, self.links[port].weight)
    }

    /// What was counted, with what is left now.
    pub fn count(&self) -> Count {
        let entries = self.caches.iter().map(|cache| cache.len() as u64).sum();
        let flows = self.links.iter().map(|link| u64::from(link.flows)).sum();
        let weight = self.links.iter().map(|link| link.weight).sum();
        Count { left: [entries, flows, weight], ..self.count }
    }
}
