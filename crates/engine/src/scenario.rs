//! A scenario: everything a run is a function of, as plain data. The comments of the fields are the user's
//! documentation: `list`, the JSON Schema, error messages and the docs are made from them.
//!
//! To be completed: serde, JSON Schema, the reader that collects every mistake with its line.
use crate::units::{Duration, Rate, Size};
use std::collections::BTreeMap;

/// One value for all link classes, or a table by class name.
#[derive(Debug, Clone, PartialEq)]
pub enum PerClass<T> {
    /// The same for every class.
    One(T),
    /// By class name; a class that is missing takes the default.
    Table(BTreeMap<String, T>),
}

/// `[link]`: bandwidth and latency of the channels. Keys named like a link class give that class's latency.
#[derive(Debug, Clone)]
pub struct Link {
    /// Bandwidth of a channel, each direction (default "100 Gb/s").
    pub bandwidth: PerClass<Rate>,
    /// Latency of the classes that have no key of their own (default "10 ns").
    pub latency: Duration,
    /// Latency by link class: `host`, and the topology's other classes (flattened into the table).
    pub classes: BTreeMap<String, Duration>,
}

/// `[packet]`
#[derive(Debug, Clone)]
pub struct Packet {
    /// Size of a flit (default "100 b").
    pub flit: Size,
    /// Largest packet (default "24 flits"); at most 4095 flits.
    pub max: Size,
    /// Size of a control packet: acknowledgements, reservations, notifications (default "1 flit").
    pub control: Size,
}

/// `[endpoint]`
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// One send queue per destination served round robin, or one first-in first-out queue.
    pub queues: SendQueues,
    /// Whether every data packet is acknowledged by a control packet (default true).
    pub acknowledge: bool,
    /// Rate at which the endpoint takes data from its channel (default: the channel's).
    pub drain_rate: Option<Rate>,
    /// Largest amount of data waiting at a source before it stops making messages (default unlimited).
    pub source_queue: Option<Size>,
}

/// How an endpoint queues its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendQueues {
    /// "per destination"
    PerDestination,
    /// "fifo"
    Fifo,
}

/// `[[traffic]]`: a class of open-loop traffic. The pattern's own keys stand in the same table.
#[derive(Debug, Clone)]
pub struct Traffic {
    /// Name of the class in results (default "traffic0", …).
    pub name: String,
    /// Who sends to whom (key `pattern`, and the pattern's own keys).
    pub pattern: crate::traffic::Pattern,
    /// The endpoints that take part: "all", "rest" (those in no other class), a list of numbers, or
    /// `{ sample = n }` (default "all").
    pub endpoints: Endpoints,
    /// Whether an endpoint may send to itself (key `self`, default false).
    pub to_self: bool,
    /// Data injected by each source, as a fraction of its channel: 0 to 1. One of `load`, `load_per_destination`
    /// (ignored by one-shot traffic).
    pub load: Option<f64>,
    /// Data offered to each destination, as a fraction of its channel; may be over 1.
    pub load_per_destination: Option<f64>,
    /// Size of a message (default one packet): a size, or a mix, see [`MessageSize`].
    pub message: MessageSize,
    /// How messages are spaced: "bernoulli" (geometric gaps, the default), "periodic", "one-shot" (one message
    /// from every source at `start`).
    pub process: Process,
    /// When the class starts (default 0).
    pub start: Duration,
    /// When it stops making messages (default: never).
    pub stop: Option<Duration>,
    /// Allows endpoints that take part in another class too (default false).
    pub share: bool,
}

/// The endpoints of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoints {
    /// "all"
    All,
    /// "rest": the endpoints that no other class takes part with. A class takes part with all its endpoints; a hot spot or
    /// a list of pairs only with those that send or receive, after they are drawn.
    Rest,
    /// A list of endpoint numbers.
    List(Vec<u32>),
    /// `{ sample = n }`: n random endpoints, drawn by the seed.
    Sample(u32),
}

/// Message sizes.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageSize {
    /// All alike: `message = "4 flits"`.
    Fixed(Size),
    /// Each of several sizes with a share: `message = { sizes = ["4 flits", "512 flits"], shares = [0.5, 0.5],
    /// by = "messages" }` (or `by = "volume"`: shares of the data).
    Mix {
        /// The sizes.
        sizes: Vec<Size>,
        /// Their shares, which add up to 1.
        shares: Vec<f64>,
        /// Whether shares count data instead of messages.
        by_volume: bool,
    },
    /// Uniformly distributed in steps: `message = { from = "4 packets", to = "64 packets", step = "1 packet" }`.
    Uniform {
        /// Smallest.
        from: Size,
        /// Largest.
        to: Size,
        /// Step (default: 1 packet if both are whole packets, else 1 flit).
        step: Size,
    },
}

/// How the messages of a source are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// "bernoulli": in every flit time a message is made with the same probability.
    Bernoulli,
    /// "periodic": at even distances, each source with a random phase.
    Periodic,
    /// "one-shot": one message from every source at `start`.
    OneShot,
}

/// `[run]`
#[derive(Debug, Clone)]
pub struct Run {
    /// Simulated time before the measured window (default "20 us").
    pub warmup: Duration,
    /// The measured window (default "100 us").
    pub duration: Duration,
    /// Longest time after the window in which sources keep sending until the packets and messages of the window
    /// have arrived (default: `duration`).
    pub drain: Option<Duration>,
    /// Threads; the result is the same for any number (default 1).
    pub threads: u32,
    /// Partitions to cut the network into; the result is the same for any number (default: chosen for speed).
    pub partitions: Option<u32>,
    /// Memory at which the run stops with an error, in bytes (key `memory = "4 GB"`, default unlimited).
    pub memory: Option<Size>,
    /// Seed of all random streams (default 1).
    pub seed: u64,
}

/// `[record]`: what is written besides the summary.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Bin of the time series of every traffic class (default: none).
    pub series: Option<Duration>,
    /// Active, idle and stalled time of every port in the window (default false).
    pub ports: bool,
    /// Throughput of every source in the window (default false).
    pub sources: bool,
    /// Times at which the occupancy of every switch is recorded (default none).
    pub occupancy: Vec<Duration>,
}

/// A whole scenario.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Title for tables and figures.
    pub title: String,
    /// `[topology]`, by `kind`.
    pub topology: crate::topology::Topology,
    /// `[link]`
    pub link: Link,
    /// `[packet]`
    pub packet: Packet,
    /// `[switch]`, by `kind`.
    pub switch: crate::switch::Switch,
    /// `[endpoint]`
    pub endpoint: Endpoint,
    /// `[routing]`, by `kind`.
    pub routing: crate::routing::Routing,
    /// `[queueing]`, by `kind`.
    pub queueing: crate::queueing::Queueing,
    /// `[congestion_control]`, by `kind`.
    pub congestion_control: crate::protocol::CongestionControl,
    /// `[[traffic]]`
    pub traffic: Vec<Traffic>,
    /// `[run]`
    pub run: Run,
    /// `[record]`
    pub record: Record,
}
