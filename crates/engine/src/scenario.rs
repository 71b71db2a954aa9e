//! A scenario: everything a run is a function of, as plain data. The comments of the fields are the user's
//! documentation: `list`, the JSON Schema, error messages and the docs are made from them.
//!
//! Reading a file ([`Scenario::parse`]) goes in steps, one module each: text → tree with positions (`tree`) → overrides, and
//! short forms spelt out (`short`) → walk along the schema's shape, collecting mistakes (`shape`, `walk`) → serde → checks
//! across keys (`checks`).
use crate::traffic::process::Process;
use crate::units::{Duration, Rate, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod checks;
mod files;
mod flows;
mod links;
mod message;
mod names;
mod nearest;
pub mod preset;
mod read;
pub(crate) mod shape;
mod short;
mod tree;
mod walk;

pub use links::{Links, SlowLinks};
pub use message::MessageSize;

/// One value for all link classes, or a table by class name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PerClass<T> {
    /// The same for every class.
    One(T),
    /// By class name; a class that is missing takes the default.
    Table(BTreeMap<String, T>),
}

/// `[link]`: bandwidth and latency of the channels. Keys named like a link class give that class's latency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Link {
    /// Bandwidth of a channel, each direction: one rate, or a table by link class.
    pub bandwidth: PerClass<Rate>,
    /// Latency of the classes that have no key of their own.
    pub latency: Duration,
    /// How a sender knows whether the buffer ahead has room: a kind, or a table with its `kind` and parameters.
    pub flow_control: crate::flow_control::FlowControl,
    /// Links that carry less than the others, such as `[{ between = [[0, 8]], bandwidth = "10 Gb/s" }]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<SlowLinks>,
    /// Links between switches that are out of service from the beginning, which the routing knows and goes round, such as
    /// `[{ class = "global", sample = 3 }]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Links>,
    /// Latency by link class: `host`, and the topology's other classes.
    #[serde(flatten)]
    pub classes: BTreeMap<String, Duration>,
}

impl Link {
    /// Bandwidth of the classes that nothing is said of.
    pub(crate) const BANDWIDTH: Rate = Rate(100_000_000_000);
}

impl Default for Link {
    fn default() -> Self {
        Self {
            bandwidth: PerClass::One(Self::BANDWIDTH),
            latency: Duration::Ps(10_000),
            flow_control: Default::default(),
            slow: Vec::new(),
            failed: Vec::new(),
            classes: BTreeMap::new(),
        }
    }
}

/// `[packet]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Packet {
    /// Size of a flit, in bits or bytes; at most 2 MB.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub flit: Size,
    /// Largest packet; at most 4095 flits.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max: Size,
    /// Size of a control packet: acknowledgements, reservations, notifications.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub control: Size,
    /// Flits of several packets take turns: a packet whose tail is still to come leaves its place in the crossbar to others,
    /// and control packets go between the flits of a data packet that is under way, which then holds the channel that
    /// much longer. Without it, a packet holds its way through a switch, and its channel, to its end.
    pub interleave: bool,
}

impl Default for Packet {
    fn default() -> Self {
        Self { flit: Size::Bits(100), max: Size::Flits(24), control: Size::Flits(1), interleave: false }
    }
}

/// `[endpoint]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Endpoint {
    /// How an endpoint queues its messages.
    pub queues: SendQueues,
    /// Whether every data packet is acknowledged by a control packet.
    pub acknowledge: bool,
    /// Rate at which the endpoint takes data from its channel; without it, the channel's.
    pub drain_rate: Option<Rate>,
    /// Endpoints that take data more slowly than the others, such as `[{ endpoints = [3], drain_rate = "10 Gb/s" }]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<Slow>,
}

/// A table of `slow` in `[endpoint]`: endpoints that take data slowly for a time, of which no congestion control is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    /// "all", a list of numbers, or `{ sample = n }` for n random ones; not "rest".
    pub endpoints: Endpoints,
    /// Rate at which they take data; without it they take none, until `stop` or for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_rate: Option<Rate>,
    /// From when on.
    #[serde(default = "at_once")]
    pub start: Duration,
    /// Until when; without it, to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

impl Endpoint {
    /// What an endpoint takes of a channel of this rate, unless it is slow.
    pub fn takes(&self, host: Rate) -> Rate {
        self.drain_rate.filter(|drain| drain.0 < host.0).unwrap_or(host)
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self { queues: SendQueues::PerDestination, acknowledge: true, drain_rate: None, slow: Vec::new() }
    }
}

/// How an endpoint queues its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SendQueues {
    /// One queue per destination and queue pair, served round robin.
    #[serde(rename = "per destination")]
    PerDestination,
    /// One first-in first-out queue.
    #[serde(rename = "fifo")]
    Fifo,
}

/// `[[traffic]]`: a class of open-loop traffic. The pattern's own keys stand in the same table.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Traffic {
    /// Name of the class in results; without it, "traffic0", "traffic1", ….
    #[serde(default)]
    pub name: String,
    /// Who sends to whom (key `pattern`, and the pattern's own keys).
    #[serde(flatten)]
    pub pattern: crate::traffic::Pattern,
    /// The endpoints that take part: "all", "rest" (those in no other class), a list of numbers, or
    /// `{ sample = n }` for n random ones.
    #[serde(default = "Endpoints::all")]
    pub endpoints: Endpoints,
    /// Whether an endpoint may send to itself.
    #[serde(default, rename = "self")]
    pub to_self: bool,
    /// Data injected by each source, as a fraction of its channel. Give this or `load_per_destination` (one-shot
    /// traffic needs neither).
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: Option<f64>,
    /// Data offered to each destination, as a fraction of its channel; may be over 1.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub load_per_destination: Option<f64>,
    /// Size of a message: a size, or a mix of sizes `{ sizes = ["4 flits", "512 flits"], shares = [0.5, 0.5],
    /// by = "messages" }`, or evenly distributed sizes `{ from = "4 packets", to = "64 packets", step = "1 packet" }`, or
    /// a cumulative distribution from a file, `{ path = "sizes.txt" }`: a size in bytes in each line, and the percentage of messages that are no longer.
    #[serde(default)]
    pub message: MessageSize,
    /// When messages are made: a kind, or a table with its `kind` and parameters.
    #[serde(default)]
    pub process: Process,
    /// When the class starts.
    #[serde(default = "at_once")]
    pub start: Duration,
    /// When it stops making messages; without it, never.
    #[serde(default)]
    pub stop: Option<Duration>,
    /// Allows endpoints that other classes, or jobs, use too, if they say so as well.
    #[serde(default)]
    pub share: bool,
    /// How urgent its data is: of several that could go, at an endpoint or in a switch, that of the highest priority goes first, strictly.
    /// The data of each priority has buffers of its own (virtual channels) and send queues of its own.
    #[serde(default)]
    pub priority: u8,
    /// Flows from each source to each of its destinations, which its messages take in turn, from a random one on. Each has a send queue and a
    /// window or a rate of its own, under most congestion controls, and a way of its own where the routing hashes flows.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4096))]
    pub queue_pairs: u32,
}

fn one() -> u32 {
    1
}

fn at_once() -> Duration {
    Duration::Ps(0)
}

/// The endpoints of a class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Endpoints {
    /// Every endpoint.
    All,
    /// The endpoints that no other class takes part with. A class takes part with all its endpoints; a hot spot or a list
    /// of pairs only with those that send or receive, after they are drawn.
    Rest,
    /// `{ sample = n }`: n random endpoints, drawn by the seed.
    Sample(u32),
    /// A list of endpoint numbers, of which "0-63" stands for those from 0 to 63.
    #[serde(untagged)]
    #[schemars(extend("ranges" = true))]
    List(Vec<u32>),
}

impl Endpoints {
    fn all() -> Self {
        Endpoints::All
    }
}

/// `[run]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Run {
    /// Simulated time before the measured window; without it, 20 us, or none if there is no `[[traffic]]`.
    pub warmup: Option<Duration>,
    /// The measured window. A run with jobs ends when all of them are done. Jobs that have not come to their end with the run are
    /// reported as unfinished, and of their ranks the communication until then is counted, that in the middle of an operation too.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub duration: Duration,
    /// Longest time after the window in which sources keep sending until the packets and messages of the window
    /// have arrived; without it, as long as `duration`, or none if there is no `[[traffic]]`.
    pub drain: Option<Duration>,
    /// Threads; the result is the same for any number.
    #[schemars(range(min = 1, max = 4096))]
    pub threads: u32,
    /// Partitions to cut the network into; the result is the same for any number; without it, chosen for speed.
    #[schemars(range(min = 1))]
    pub partitions: Option<u32>,
    /// Memory at which the run stops with an error, in bytes: of packets, of messages that wait, and of jobs with their traces;
    /// a run for which the machine has no memory stops too.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub memory: Option<Size>,
    /// Seed of all random streams.
    pub seed: u64,
    /// What is simulated.
    pub model: Model,
    /// Names of the traffic and the jobs that run; the others keep their endpoints but do nothing. Without it, all run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub only: Vec<String>,
}

impl Run {
    /// `memory` in bytes.
    pub fn memory_bytes(&self) -> Option<u64> {
        match self.memory? {
            Size::Bits(bits) => Some(bits.div_ceil(8)),
            // Refused, since it is counted in neither.
            Size::Flits(_) | Size::Packets(_) => None,
        }
    }
}

impl Default for Run {
    fn default() -> Self {
        Self {
            warmup: None,
            duration: Duration::Ps(100_000_000),
            drain: None,
            threads: 1,
            partitions: None,
            memory: None,
            seed: 1,
            model: Model::Packets,
            only: Vec::new(),
        }
    }
}

/// What is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Every packet.
    #[default]
    Packets,
    /// The same flows, each on one way that the routing draws for it, as fluids without packets, buffers and control packets: of jobs in
    /// phases only, to the end of their last, whatever `duration` says. With congestion control "saa" a flow has the rate that the
    /// algorithm gives it, with "max-min" and "none" flows share links max-min fairly.
    Fluid,
}

/// `[record]`: what is written besides the summary.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Record {
    /// Bin of the time series of every traffic class; without it, no series.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub series: Option<Duration>,
    /// Active, idle and stalled time of every port in the window.
    pub ports: bool,
    /// Throughput of every source in the window (table `sources`), and how evenly they share: Jain's index, the least and the most.
    pub sources: bool,
    /// Bin of what every source got through to every destination (table `pairs`): the throughput of single flows over time.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub pairs: Option<Duration>,
    /// Every packet on every channel, and its end in a switch, from start to end: for runs of a few messages.
    pub packets: bool,
    /// Every message that arrived (table `messages`), with its ends, its length, its creation and its latency: completion times of
    /// flows; and how many times as long as alone in the empty network they took: their slowdown.
    pub messages: bool,
    /// What the congestion control orders (tables `signals` and `rates`): every signal of a switch to throttle an endpoint or
    /// to end it, and every change of the rate that an endpoint is allowed. A window counts as the rate at which it lets data through in a
    /// round trip, a delay behind each packet as that of the longest packets.
    pub control: bool,
    /// Every pause of a sender (table `pauses`), under a flow control that has some.
    pub pauses: bool,
    /// The congestion trees at the times of `occupancy` (table `trees`): every channel that has something to send and no room ahead, and what
    /// holds it in the end.
    pub trees: bool,
    /// Times at which the occupancy of every switch is recorded: a list of them, or one time, for each of its multiples.
    pub occupancy: Snapshots,
}

/// When the occupancy of every switch is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Snapshots {
    /// At every multiple of a time, until the end of the run.
    Every(#[schemars(extend("exclusiveMinimum" = 0))] Duration),
    /// At these times.
    At(Vec<Duration>),
}

impl Default for Snapshots {
    fn default() -> Self {
        Self::At(Vec::new())
    }
}

/// A whole scenario.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Title for tables and figures.
    #[serde(default)]
    pub title: String,
    /// A published combination of routing and queueing that fills in those two tables: "osha" or "sasha". A result's scenario
    /// has them written out instead.
    #[serde(default, skip_serializing)]
    pub preset: Option<preset::Preset>,
    /// The network, by `kind`.
    pub topology: crate::topology::Topology,
    /// Bandwidth and latency of the channels.
    #[serde(default)]
    pub link: Link,
    /// Sizes of flits and packets.
    #[serde(default)]
    pub packet: Packet,
    /// The switch architecture, by `kind`.
    #[serde(default)]
    pub switch: crate::switch::Switch,
    /// The endpoints.
    #[serde(default)]
    pub endpoint: Endpoint,
    /// The routing algorithm, by `kind`.
    pub routing: crate::routing::Routing,
    /// How packets are assigned to the queues of a port, by `kind`.
    #[serde(default)]
    pub queueing: crate::queueing::Queueing,
    /// The congestion-control scheme, by `kind`.
    #[serde(default)]
    pub congestion_control: crate::protocol::CongestionControl,
    /// The classes of traffic, one `[[traffic]]` table each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traffic: Vec<Traffic>,
    /// The applications, one `[[job]]` table each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job: Vec<crate::workload::job::Job>,
    /// How long to simulate, and with what.
    #[serde(default)]
    pub run: Run,
    /// What is written besides the summary.
    #[serde(default)]
    pub record: Record,
}
