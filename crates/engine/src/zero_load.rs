//! The ways of the empty network, and how long a message takes on them: what results and the description of a network measure
//! messages by.
use crate::core::Tick;
use crate::core::plan::Plan;
use crate::graph::Peer;
use crate::outcomes::{Script, every_outcome};
use crate::routing::{Bind, Minimality, Route, Router, Routing, minimal::Minimal};
use crate::switch::parameters::Forwarding;
use crate::topology::Topology;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

/// Ways of a pair that are all followed. Of more one stands for all: in large trees, where all are alike, and in networks from files.
const WAYS_MAX: f64 = 64.0;
/// Packets of a message that are followed singly; those between follow each other at the pace of the slowest channel.
const PACKETS_MAX: u32 = 256;

/// The link classes of the channels between two endpoints in order, injection and ejection included.
pub type Way = Vec<u8>;

/// The channels of a way but its injection: switch, port, and link class.
type Path = Vec<(u32, u16, u8)>;

/// Those whose ways tell of the empty network.
pub struct Guides<'a> {
    plan: &'a Plan,
    /// None: the scenario's own.
    other: Option<Box<dyn Router>>,
}

impl<'a> Guides<'a> {
    /// Minimal routing, unless the scenario's own has shortest ways that are not those: then that, and if it looks at the load, its ways by chance.
    pub fn new(plan: &'a Plan, topology: &Topology, routing: &Routing) -> Self {
        let own = routing.binding();
        let router = |of: &dyn Bind| of.router(topology, &plan.graph, &plan.scale);
        let other = match own.minimality() {
            Minimality::OwnMinimal => own.by_chance().and_then(|of| router(&*of)),
            Minimality::Minimal | Minimality::NonMinimal => router(&Minimal {}),
        };
        Self { plan, other }
    }

    fn router(&self) -> &dyn Router {
        self.other.as_deref().unwrap_or(&*self.plan.router)
    }

    /// Whether the ways to several endpoints of a switch are to be asked for one by one.
    pub fn tell_destinations_apart(&self) -> bool {
        self.router().tells_destinations_apart()
    }

    /// The ways between two endpoints, with their probabilities. None if they are not joined, or if what is drawn is not by chance alone.
    pub fn ways(&self, ends: [u32; 2]) -> Option<Vec<(Way, f64)>> {
        let paths = self.paths(ends)?;
        // One that stands for many has the probability of all.
        let all: f64 = paths.iter().map(|(_, part)| part).sum();
        let way = |path: &Path| [0].into_iter().chain(path.iter().map(|hop| hop.2)).collect();
        Some(paths.iter().map(|(path, part)| (way(path), part / all)).collect())
    }

    fn paths(&self, ends: [u32; 2]) -> Option<Vec<(Path, f64)>> {
        paths(self.plan, self.router(), ends)
    }
}

/// The least latencies of messages in the empty network, each reckoned once.
pub struct ZeroLoad<'a> {
    guides: Guides<'a>,
    /// Ways that there are between some endpoints: a few sets among many pairs.
    sets: Vec<BTreeSet<Wide>>,
    /// Which, by the switch of the source and that of the destination, or the destination itself.
    between: HashMap<[u32; 2], usize>,
    /// By set and flits.
    known: HashMap<(usize, u32), Option<Tick>>,
}

/// A way, each of its channels with the link classes of those that packets may be on instead, itself included; none if they are too many
/// to be told.
type Wide = Vec<(u8, Vec<u8>)>;

impl<'a> ZeroLoad<'a> {
    /// Nothing is reckoned yet.
    pub fn new(guides: Guides<'a>) -> Self {
        Self { guides, sets: Vec::new(), between: HashMap::new(), known: HashMap::new() }
    }

    /// Ticks from the creation of a message to the arrival of its last flit if it goes alone, its packets side by side on all the ways
    /// between two endpoints: the least that the channels of these allow. None if nothing tells them.
    pub fn latency(&mut self, ends: [u32; 2], flits: u32) -> Option<Tick> {
        let plan = self.guides.plan;
        let [from, to] = ends.map(|endpoint| plan.graph.endpoints[endpoint as usize].0);
        let to = if self.guides.tell_destinations_apart() { ends[1] } else { to };
        let set = *self.between.entry([from, to]).or_insert_with(|| {
            let ways = wide(self.guides.paths(ends).unwrap_or_default());
            self.sets.iter().position(|known| *known == ways).unwrap_or_else(|| {
                self.sets.push(ways);
                self.sets.len() - 1
            })
        });
        *self
            .known
            .entry((set, flits))
            .or_insert_with(|| self.sets[set].iter().map(|way| least(plan, way, flits)).min())
    }
}

/// The ways with what is beside their channels.
fn wide(paths: Vec<(Path, f64)>) -> BTreeSet<Wide> {
    let is_one_of_many = paths.iter().map(|(_, part)| part).sum::<f64>() < 1.0 - 1e-9;
    let beside = |at: usize| {
        let channels: BTreeSet<_> = paths.iter().filter_map(|(path, _)| path.get(at)).collect();
        let mut classes: Vec<u8> = channels.iter().map(|hop| hop.2).collect();
        classes.sort_unstable();
        if is_one_of_many { Vec::new() } else { classes }
    };
    let longest = paths.iter().map(|(path, _)| path.len()).max().unwrap_or(0);
    let all: Vec<Vec<u8>> = (0..longest).map(beside).collect();
    let of = |(path, _): &(Path, f64)| {
        let last = path.len() - 1;
        let hops = path.iter().zip(&all).enumerate();
        let hops =
            hops.map(|(at, (hop, beside))| (hop.2, if at == last { vec![hop.2] } else { beside.clone() }));
        [(0, vec![0])].into_iter().chain(hops).collect()
    };
    paths.iter().map(of).collect()
}

/// What a message takes at least whose packets go a way, or others beside it: as long as one packet, and as long as all of them
/// need at each place. Of a way without others beside it, what it takes.
fn least(plan: &Plan, wide: &Wide, flits: u32) -> Tick {
    let way: Way = wide.iter().map(|(class, _)| *class).collect();
    if wide.iter().all(|(_, beside)| beside.len() == 1) {
        return latency(plan, &way, flits);
    }
    let largest = u32::from(plan.packet_flits);
    let last = (flits - 1) % largest + 1;
    let rest: Vec<Tick> = (0..way.len()).map(|at| behind(plan, &way[at..], last)).collect();
    let mut head = 0;
    let mut least = latency(plan, &way, flits.min(largest));
    for (at, (class, beside)) in wide.iter().enumerate() {
        let time = |class: u8| channel_time(plan, class, largest, at + 1 == way.len()) as f64;
        if !beside.is_empty() {
            let packets_a_tick: f64 = beside.iter().map(|&class| 1.0 / time(class)).sum();
            let all = f64::from(flits) / f64::from(largest) / packets_a_tick;
            least = least.max(head + all as Tick + rest[at]);
        }
        head += plan.links[usize::from(*class)].ready(flits.min(largest) as u16);
    }
    least
}

/// From when the tail of a packet leaves the first of these channels until it arrives.
fn behind(plan: &Plan, way: &[u8], flits: u32) -> Tick {
    let all = way.iter().enumerate().map(|(at, &class)| {
        let (link, ejection) = (&plan.links[usize::from(class)], at + 1 == way.len());
        let again = at > 0 && link.forwarding == Forwarding::StoreAndForward;
        Tick::from(link.latency)
            + if ejection { 0 } else { Tick::from(link.pipeline) }
            + if again { channel_time(plan, class, flits, ejection) } else { 0 }
    });
    all.sum()
}

/// The paths between two endpoints, with their probabilities: of too many, one with its own.
fn paths(plan: &Plan, router: &dyn Router, ends: [u32; 2]) -> Option<Vec<(Path, f64)>> {
    let mut senses = Script::default();
    let first = follow(plan, router, ends, &mut senses)?;
    let part = senses.probability()?;
    if part == 1.0 || part * WAYS_MAX < 1.0 {
        return Some(vec![(first, part)]);
    }
    let mut all = Vec::new();
    let unknown =
        every_outcome(|senses| match follow(plan, router, ends, senses).zip(senses.probability()) {
            Some(path) => {
                all.push(path);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        });
    unknown.is_continue().then_some(all)
}

/// The channels that a packet takes.
fn follow(plan: &Plan, router: &dyn Router, [from, to]: [u32; 2], senses: &mut Script) -> Option<Path> {
    let (mut switch, port) = plan.graph.endpoints[from as usize];
    if !router.reaches(switch, to) {
        return None;
    }
    let mut route = Route::default();
    router.inject(from, to, &mut route, senses);
    let mut input = Some(port);
    let mut path = Path::with_capacity(32);
    // A minimal way is in no switch twice.
    while path.len() < plan.graph.switches.len() + 1 {
        let hop = router.route(switch, input, to, &mut route, senses);
        route.leave();
        let port = plan.graph.switches[switch as usize][hop.port as usize];
        path.push((switch, hop.port, port.class));
        match port.peer {
            Peer::Switch { switch: next, port } => (switch, input) = (next, Some(port)),
            Peer::Endpoint(_) => return Some(path),
            Peer::None => return None,
        }
    }
    None
}

/// Arrival of the last flit of a message that starts at 0 and goes one way, over idle channels of these classes: a packet
/// starts on a channel when its head is there (or all of it, where it is stored and forwarded) and the packet before it has left,
/// and ends no sooner than its tail arrives. Buffers are taken to be large enough for a stream.
pub fn latency(plan: &Plan, way: &[u8], flits: u32) -> Tick {
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
        tail = *free + Tick::from(link.latency) + if ejection { 0 } else { Tick::from(link.pipeline) };
        head = match link.forwarding {
            Forwarding::CutThrough => start + link.head(),
            Forwarding::StoreAndForward => tail,
        };
    }
    tail
}
