//! The plan of a run: the network with every quantity in ticks and flits, its virtual channels, and how it is cut
//! into partitions. Immutable, shared by all partitions.
use super::Tick;
use super::post::{self, Post};
use super::slow::{Slow, Speeds};
use crate::flow_control::Sharing;
use crate::graph::{Graph, Peer, Port};
use crate::queueing::Assignment;
use crate::routing::Router;
use crate::switch::parameters::Forwarding;
use crate::traffic::generator;
use crate::units::{Duration, Rate, Scale, Size};
use crate::workload::bind::BoundJob;
use std::ops::Range;
use std::sync::OnceLock;

pub use super::cut::Share;

/// Most virtual channels of a port: their numbers have 8 bits.
pub const VCS_MAX: usize = 256;

/// Most flits that a switch has room for, so that any sum of them has 32 bits; a threshold above it is never reached.
pub const FLITS_MAX: u32 = u32::MAX / 4;

/// A number of flits, or [`FLITS_MAX`] if there are more.
pub fn capped(flits: u64) -> u32 {
    flits.min(FLITS_MAX.into()) as u32
}

/// A traffic class: packets of the same priority and deadlock domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrafficClass {
    /// Name in the scenario and the results.
    pub name: &'static str,
    /// Carries control packets: one queue only.
    pub control: bool,
    /// May be dropped.
    pub droppable: bool,
    /// Is dropped when it has waited too long, if the protocol has a time-to-wait.
    pub times_out: bool,
    /// Priority of the traffic and jobs whose data it carries, if the scenario has several.
    pub priority: Option<u8>,
}

impl TrafficClass {
    /// Its name, with its priority if there are several.
    pub fn label(&self) -> String {
        self.priority.map_or(self.name.into(), |priority| format!("{} (priority {priority})", self.name))
    }
}

/// The virtual channels of a port: index = ((class·networks + network)·queues + queue)·levels + level.
#[derive(Debug, Clone)]
pub struct VirtualChannels {
    /// Traffic classes, the highest priority first: those of control packets, then those of data of each grade.
    pub classes: Vec<TrafficClass>,
    /// Traffic classes of control packets.
    controls: u8,
    /// Traffic classes of data of each grade.
    data: u8,
    /// How many priorities traffic and jobs have. A *grade* is the place of one among them, the most urgent first.
    pub grades: u8,
    /// Virtual networks.
    pub networks: u8,
    /// Queues of a data class in each network; a class of control packets uses the first only.
    pub queues: u16,
    /// Deadlock levels: the most that any link class needs.
    pub levels: u16,
    /// The class of each virtual channel.
    pub class_of: Vec<u8>,
    /// The network of each virtual channel.
    pub network_of: Vec<u8>,
    /// The first virtual channel of the class, network and queue of each virtual channel.
    pub base_of: Vec<u8>,
}

impl VirtualChannels {
    /// The virtual channels of a scheme's classes, of which those of data are there for each of these priorities, the most urgent
    /// first, and of these networks, queues and levels.
    pub fn new(scheme: &[TrafficClass], priorities: &[u8], networks: u8, queues: u16, levels: u16) -> Self {
        let controls = scheme.partition_point(|class| class.control);
        let (control, data) = scheme.split_at(controls);
        assert!(
            data.iter().all(|class| !class.control),
            "a scheme names its classes of control packets first"
        );
        let several = priorities.len() > 1;
        let of = |&priority: &u8| {
            data.iter().map(move |&class| TrafficClass { priority: several.then_some(priority), ..class })
        };
        let classes = Vec::from_iter(control.iter().copied().chain(priorities.iter().flat_map(of)));
        let per_network = queues as usize * levels as usize;
        let per_class = networks as usize * per_network;
        let count = classes.len() * per_class;
        let class_of = (0..count).map(|vc| (vc / per_class) as u8).collect();
        let network_of = (0..count).map(|vc| (vc % per_class / per_network) as u8).collect();
        let base_of = (0..count).map(|vc| (vc / levels as usize * levels as usize) as u8).collect();
        let (controls, data, grades) = (controls as u8, data.len() as u8, priorities.len() as u8);
        Self { classes, controls, data, grades, networks, queues, levels, class_of, network_of, base_of }
    }

    /// The traffic class of what a scheme sends in one of its classes for messages of a grade.
    #[inline]
    pub fn of(&self, class: u8, grade: u8) -> u8 {
        if class < self.controls { class } else { class + grade * self.data }
    }

    /// The virtual channels of what is as urgent as a packet on one, or more.
    pub fn as_urgent(&self, vc: u8) -> Range<u32> {
        let (class, first) = (self.class_of[usize::from(vc)], self.controls);
        let grade = class.checked_sub(first).map(|at| at / self.data + 1);
        let classes = u32::from(first + grade.unwrap_or(0) * self.data);
        0..classes * (self.count() / self.classes.len()) as u32
    }

    /// Whether any packet may take a virtual channel on a link class that has this many levels.
    pub fn in_use(&self, vc: usize, levels: u16) -> bool {
        let queue = vc / usize::from(self.levels) % usize::from(self.queues);
        let control = self.classes[usize::from(self.class_of[vc])].control;
        vc % usize::from(self.levels) < usize::from(levels) && !(control && queue > 0)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.class_of.len()
    }

    /// The index of a virtual channel.
    pub fn index(&self, class: u8, network: u8, queue: u8, level: u8) -> u8 {
        let (networks, queues, levels) = (self.networks as usize, self.queues as usize, self.levels as usize);
        (((class as usize * networks + network as usize) * queues + queue as usize) * levels + level as usize)
            as u8
    }

    /// Whether a virtual channel carries control packets.
    pub fn is_control(&self, vc: u8) -> bool {
        self.classes[self.class_of[vc as usize] as usize].control
    }

    /// The class of this name, of data the most urgent.
    pub fn class(&self, name: &str) -> Option<u8> {
        self.classes.iter().position(|class| class.name == name).map(|at| at as u8)
    }
}

/// A link class, in ticks and flits.
#[derive(Debug, Clone)]
pub struct LinkPlan {
    /// Name of the class.
    pub name: String,
    /// Its bandwidth.
    pub rate: Rate,
    /// Time of a packet on the channel, by its flits; entry 1 is the flit time, rounded up.
    pub time: Vec<u32>,
    /// Latency of the channel.
    pub latency: u32,
    /// When the switch behind it can pass on what comes.
    pub forwarding: Forwarding,
    /// Latency of the switch's pipeline, which follows the channel.
    pub pipeline: u32,
    /// Input buffer of each virtual channel in flits (0: not in use on this class).
    pub buffer: Vec<u32>,
    /// Flits of the port's input buffer that its virtual channels share.
    pub pool: u32,
    /// When a buffer has its sender paused, if the flow control does so.
    pub pauses: Option<PauseLimits>,
}

/// When an input buffer has its sender paused, and has it resume.
#[derive(Debug, Clone, Copy)]
pub struct PauseLimits {
    /// Flits of a virtual channel above which it is paused.
    pub xoff: u32,
    /// Flits at which it may resume.
    pub xon: u32,
    /// Flits that may come until its sender obeys.
    pub headroom: u32,
    /// Ticks that an order takes beyond a credit.
    pub response: u32,
    /// What the buffer may take beyond `xoff` of the memory that it shares with others, if it does.
    pub shared: Option<Sharing>,
}

/// How long flits take one behind the other: by the time of a largest packet, which is rounded up to ticks once, as a flit's own
/// time would be for each.
#[derive(Debug, Clone, Copy)]
pub struct FlitTime {
    time: u64,
    flits: u64,
}

impl FlitTime {
    /// That of a channel which needs `time` for a largest packet of `flits`.
    pub const fn new(time: u32, flits: u16) -> Self {
        Self { time: time as u64, flits: flits as u64 }
    }

    /// That of a channel, from the times of packets by their flits.
    pub fn of(times: &[u32]) -> Self {
        Self::new(times[times.len() - 1], (times.len() - 1) as u16)
    }

    /// Ticks of a number of flits, rounded up.
    pub fn span(self, flits: u64) -> Tick {
        match flits.checked_mul(self.time) {
            Some(product) => product.div_ceil(self.flits),
            None => (u128::from(flits) * u128::from(self.time)).div_ceil(self.flits.into()) as u64,
        }
    }

    /// Ticks of a flit.
    pub fn mean(self) -> f64 {
        self.time as f64 / self.flits as f64
    }
}

impl LinkPlan {
    /// From the start of a packet to the arrival of its head at the arbiter of a switch.
    pub fn head(&self) -> u64 {
        (self.latency + self.time[1] + self.pipeline) as u64
    }

    /// From the start of a packet to when the arbiter of a switch knows of it.
    pub fn ready(&self, flits: u16) -> u64 {
        match self.forwarding {
            Forwarding::CutThrough => self.head(),
            Forwarding::StoreAndForward => {
                (self.latency + self.time[usize::from(flits)] + self.pipeline) as u64
            }
        }
    }

    /// From the release of a buffer to the return of its credit.
    pub fn credit(&self) -> u64 {
        (self.latency + self.time[1]) as u64
    }

    /// Flits of the buffer of a virtual channel at its end that can be in use while nobody is paused, or has no credit, beside those of memory
    /// that it shares.
    pub fn reach(&self, vc: usize) -> u32 {
        self.pauses.map_or(self.buffer[vc], |pauses| pauses.xoff.min(self.buffer[vc]))
    }

    /// The memory that the buffer at its end shares with others of its switch, if it does: that of all links, if of one.
    pub fn sharing(&self) -> Option<Sharing> {
        self.pauses.and_then(|pauses| pauses.shared)
    }

    /// Flits of the memory of a switch that so many virtual channels of its inputs come to hold before their senders are paused.
    pub fn shared(&self, buffers: u32) -> u32 {
        self.sharing().map_or(0, |shared| shared.together(buffers))
    }

    /// Flits that can be in the buffer of a virtual channel at its end, and on their way to it.
    pub fn room(&self, vc: usize) -> u32 {
        let shared = self.sharing().map_or(0, |shared| shared.flits);
        if self.buffer[vc] == 0 { 0 } else { self.buffer[vc] + shared }
    }

    /// Those of all virtual channels.
    pub fn rooms(&self) -> u64 {
        (0..self.buffer.len()).map(|vc| u64::from(self.room(vc))).sum()
    }

    /// Flits that can leave a buffer at its end until what a sender sends that may just resume can leave it too.
    pub fn leaving(&self) -> u64 {
        let response = self.pauses.map_or(0, |pauses| pauses.response.into());
        let packet = self.time.len() as u16 - 1;
        (self.credit() + self.ready(packet) + response).div_ceil(self.time[1].into())
    }
}

/// What is recorded besides the summary, in ticks.
#[derive(Debug, Clone, Default)]
pub struct RecordPlan {
    /// Bin of the time series.
    pub series: Option<Tick>,
    /// Time of every port.
    pub ports: bool,
    /// Throughput of every source.
    pub sources: bool,
    /// Bin of what every source got through to every destination.
    pub pairs: Option<Tick>,
    /// Every packet on every channel.
    pub packets: bool,
    /// Every message that arrived.
    pub messages: bool,
    /// Orders of the congestion control, and the rates that follow.
    pub control: bool,
    /// Every pause of a sender.
    pub pauses: bool,
    /// The channels that are held at the snapshots.
    pub trees: bool,
    /// Times of occupancy snapshots, ascending.
    pub occupancy: Vec<Tick>,
}

/// The plan.
pub struct Plan {
    /// Picoseconds of a tick.
    pub tick: u64,
    /// The network.
    pub graph: Graph,
    /// The routing.
    pub router: Box<dyn Router>,
    /// Virtual channels of every port.
    pub vcs: VirtualChannels,
    /// How packets find their queues.
    pub queues: Assignment,
    /// Link classes; 0 is the host links.
    pub links: Vec<LinkPlan>,
    /// Time of a packet through the crossbar, by its flits.
    pub crossbar: Vec<u32>,
    /// Output queue of a virtual channel in flits; none if packets wait at the inputs until their channel is free.
    pub output_buffer: Option<u32>,
    /// Largest packet in flits.
    pub packet_flits: u16,
    /// Control packet in flits.
    pub control_flits: u16,
    /// Control packets go between the flits of data packets on a channel.
    pub interleave: bool,
    /// Time of a packet into its endpoint, by its flits (slower than the channel if the endpoint drains slowly).
    pub drain_time: Vec<u32>,
    /// The channels that are slower than their kind, for some time or for all of it.
    pub slow: Slow,
    /// Endpoints have one first-in first-out queue for all destinations.
    pub fifo: bool,
    /// Whether flows between two endpoints have a send queue each.
    pub queues_by_flow: bool,
    /// Packets carry words of the protocol.
    pub noting: bool,
    /// Flows are announced to the switches on their way, before their data and behind them.
    pub circuits: bool,
    /// What their links tell them, if anything.
    pub told: Option<crate::protocol::Told>,
    /// What is recorded.
    pub record: RecordPlan,
    /// What sizes and cycles are measured by.
    pub scale: Scale,
    /// Bound traffic.
    pub traffic: Vec<generator::Plan>,
    /// Jobs in their places. Their classes follow those of the traffic.
    pub jobs: Vec<BoundJob>,
    /// The grade of each class of the scenario: traffic, then jobs ([`VirtualChannels::grades`]).
    pub grade_of: Vec<u8>,
    /// The flows of each class of the scenario between two endpoints: traffic, then jobs.
    pub flows: Vec<Flows>,
    /// Most flows between two endpoints; those beyond share numbers.
    pub flows_max: u32,
    /// Seed of the random streams.
    pub seed: u64,
    /// Start and end of the measured window.
    pub window: (Tick, Tick),
    /// Latest end of the run.
    pub end: Tick,
    /// The partitions.
    pub shares: Vec<Share>,
    /// Partition and local index of each switch.
    pub home: Vec<(u32, u32)>,
    /// Local index of each endpoint in its switch's partition.
    pub endpoint_home: Vec<u32>,
    /// How long signals travel.
    pub post: Post,
    /// See [`Plan::round_trip`]; not known until somebody asks.
    pub round_trip: OnceLock<Tick>,
    /// A window in which no partition can affect another.
    pub lookahead: Tick,
}

/// The flows of a class between two endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flows {
    /// Those of each pair of ranks on them, which messages take in turn.
    pub each: u16,
    /// Ranks on an endpoint; traffic has one.
    pub ranks: u16,
}

/// A time in ticks of so many ps, rounded; one that is not 0 has at least one.
pub fn rounded(time: u64, tick: u64) -> Tick {
    (time / tick + Tick::from(time % tick * 2 >= tick)).max(Tick::from(time > 0))
}

impl Plan {
    /// The queue pairs of each pair of ranks, or of endpoints, of a class of the scenario.
    pub fn queue_pairs(&self, class: u8) -> u32 {
        self.flows[usize::from(class)].each.into()
    }

    /// Ticks of a largest packet on the channel out of a port: of a slow one as slowly if it is so at one rate throughout; if it is so for a
    /// time, that is not what it usually is.
    pub fn port_time(&self, switch: u32, port: u16) -> f64 {
        let Port { class, peer } = self.graph.switches[switch as usize][usize::from(port)];
        let drains = matches!(peer, Peer::Endpoint(_));
        let times = if drains { &self.drain_time } else { &self.links[usize::from(class)].time };
        self.steady(self.slow.ports.get(&(switch, port)), times)
    }

    /// Ticks of a largest packet on the channel out of an endpoint, as [`Self::port_time`].
    pub fn injection_time(&self, endpoint: u32) -> f64 {
        self.steady(self.slow.injections.get(&endpoint), &self.links[0].time)
    }

    fn steady(&self, speeds: Option<&Speeds>, usual: &[u32]) -> f64 {
        let slow = speeds.and_then(|speeds| speeds.steady(self.end, self.packet_flits.into()));
        slow.unwrap_or(usual[usize::from(self.packet_flits)].into())
    }

    /// The link class of the buffer ahead of a kind of channel, by its row in the probe's shares; none ahead of endpoints.
    pub fn link_ahead(&self, row: u8) -> Option<&LinkPlan> {
        let row = usize::from(row);
        self.links.get(if row == self.links.len() { 0 } else { row })
    }

    /// Number of endpoints.
    pub fn endpoints(&self) -> u32 {
        self.graph.endpoints.len() as u32
    }

    /// Number of classes of the scenario: traffic, then jobs.
    pub fn groups(&self) -> usize {
        self.traffic.len() + self.jobs.len()
    }

    /// Bytes held by the traces of the jobs, and what was made of them.
    pub fn job_memory(&self) -> u64 {
        self.jobs.iter().map(|job| job.application.memory()).sum()
    }

    /// The traffic class of data that is not speculative, which set-up and tear-down packets travel in too: the most urgent.
    pub fn data_class(&self) -> u8 {
        self.vcs.class(crate::protocol::DATA.name).expect("every scheme has data")
    }

    /// The traffic class of acknowledgements and the like.
    pub fn control_class(&self) -> u8 {
        self.vcs.class(crate::protocol::CONTROL.name).expect("every scheme has control packets")
    }

    /// The first tick of the search for deadlock that follows one at `now`: a circle takes several packets to close, and to look
    /// at all that waits in a jammed network takes as long as to simulate it for about as many. Later the searches lie an eighth
    /// of the time passed apart: a circle then stays unknown for no more than that, and until the next check time.
    pub fn next_search(&self, now: Tick) -> Tick {
        let packet = self.links.iter().filter_map(|link| link.time.last().copied()).max().unwrap_or(1);
        now + (4 * packet as Tick).max(now / 8)
    }

    /// A span of time in ticks, rounded; one that is not 0 has at least one.
    pub fn ticks(&self, span: Duration) -> Tick {
        rounded(span.time(&self.scale).0, self.tick)
    }

    /// A size in flits.
    pub fn flits(&self, size: Size) -> u32 {
        capped(size.flits(&self.scale))
    }

    /// Ticks of a round trip between endpoints in an empty network by the fastest way, at most: a packet of the largest size, and its
    /// acknowledgement. In a network of over 64 switches with endpoints it is looked for from so many of them, and from the farthest found.
    pub fn round_trip(&self) -> Tick {
        *self.round_trip.get_or_init(|| post::round_trip(self))
    }

    /// Ticks of a packet of the largest size on an endpoint's channel.
    pub fn packet_time(&self) -> Tick {
        self.links[0].time[usize::from(self.packet_flits)].into()
    }

    /// Flits, in packets of the largest size, that an endpoint's channel carries in a time.
    pub fn carried(&self, ticks: Tick) -> f64 {
        ticks as f64 * f64::from(self.packet_flits) / self.packet_time() as f64
    }

    /// Partition and local number of an endpoint.
    pub fn seat(&self, endpoint: u32) -> (u32, u32) {
        let (switch, _) = self.graph.endpoints[endpoint as usize];
        (self.home[switch as usize].0, self.endpoint_home[endpoint as usize])
    }

    /// Ticks that a signal takes from a switch to an endpoint.
    pub fn signal_delay(&self, from: u32, to: u32) -> Tick {
        self.post.delay(&self.graph, &self.links, from, to)
    }

    /// The local port of a global (switch, port).
    pub fn local_port(&self, switch: u32, port: u16) -> (u32, u32) {
        let (partition, local) = self.home[switch as usize];
        (partition, self.shares[partition as usize].ports[local as usize] + port as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::FlitTime;

    /// At 3.2 Tb/s a flit of 100 bits takes 31.25 ps, and a largest packet of 24 exactly 750: not 24 times 32.
    #[test]
    fn flits_one_behind_the_other_are_rounded_once() {
        let flit = FlitTime::of(&(0..=24).map(|flits| (flits * 3125_u32).div_ceil(100)).collect::<Vec<_>>());
        assert_eq!([1, 24, 48, 1000].map(|flits| flit.span(flits)), [32, 750, 1500, 31_250]);
        assert!((flit.mean() - 31.25).abs() < 1e-12);
        assert_eq!(flit.span(u64::MAX / 1000), (u128::from(u64::MAX / 1000) * 750).div_ceil(24) as u64);
    }
}
