//! Mistakes across keys: what no schema can tell, and needs only the scenario.
use super::nearest::nearest;
use super::{Endpoints, Link, MessageSize, Model, PerClass, Scenario, SendQueues, Snapshots, Traffic};
use super::{flows, links, names};
use crate::nic::queue::message_flits_max;
use crate::problem::Problem;
use crate::protocol::CLASS_NAMES;
use crate::switch::parameters::{Buffer, Parameters, Path, Voq};
use crate::traffic::distribution::Distribution;
use crate::units::{Duration, FLIT_BITS_MAX, QUANTITY_MAX, Rate, Scale, Size};
use crate::workload::{in_file, recorded::given};
use std::collections::{BTreeSet, HashSet};

/// Where the problems go.
pub(super) type Tell<'a> = &'a mut dyn FnMut(Problem);

/// Largest number of flits in a packet.
const PACKET_FLITS_MAX: u64 = 4095;

/// Most classes of traffic: a packet has 8 bits for its class.
const CLASSES_MAX: usize = 256;
/// Most bins of the time series, of all classes together.
const BINS_MAX: u64 = 10_000_000;
/// Most snapshots of the switches.
const SNAPSHOTS_MAX: u64 = 100_000;

/// Tells all mistakes across keys.
pub fn across(scenario: &Scenario, tell: Tell) {
    let mistakes = scenario.topology.wiring().problems();
    // How many endpoints a mistaken topology has is anyone's guess.
    let count = if mistakes.is_empty() { scenario.topology.wiring().counts().0 } else { u64::MAX };
    for problem in mistakes {
        tell(Problem { path: format!("topology.{}", problem.path), ..problem });
    }
    for problem in scenario.routing.binding().problems(&scenario.topology) {
        tell(Problem { path: format!("routing.{}", problem.path), ..problem });
    }
    for problem in scenario.switch.design().problems() {
        tell(Problem { path: format!("switch.{}", problem.path), ..problem });
    }
    let switch_parameters = scenario.switch.design().parameters();
    for problem in scenario.queueing.scheme().problems(&scenario.topology, &switch_parameters) {
        tell(Problem { path: format!("queueing.{}", problem.path), ..problem });
    }
    link(scenario, tell);
    combination(scenario, tell);
    priorities(scenario, tell);
    flows::across(scenario, tell);
    acknowledgements(scenario, tell);
    slow(scenario, count, tell);
    links::across(scenario, count, tell);
    virtual_output_queues(&switch_parameters, tell);
    if let Some(scale) = packet(scenario, tell) {
        for problem in scenario.congestion_control.scheme().problems(&scale) {
            tell(Problem { path: format!("congestion_control.{}", problem.path), ..problem });
        }
        switch(scenario, &scale, tell);
        run(scenario, &scale, tell);
    }
    let classes = scenario.traffic.len() + scenario.job.len();
    if classes > CLASSES_MAX {
        let message = format!("there are {classes} classes of traffic and jobs");
        tell(Problem::new("traffic", message, format!("at most {CLASSES_MAX}")));
    }
    if classes == 0 {
        let help = "a [[traffic]] or a [[job]] table";
        tell(Problem::new("traffic", "there is neither traffic nor a job", help));
    }
    names::across(scenario, tell);
    let paths = traffic_paths(&scenario.traffic, tell);
    for (traffic, path) in scenario.traffic.iter().zip(paths) {
        load(traffic, &path, tell);
        endpoints(&traffic.endpoints, &path, count, tell);
        if let Some(scale) = scenario.scale() {
            message(traffic, &path, &scale, tell);
            for problem in traffic.process.arrivals().problems(&scale) {
                tell(Problem { path: format!("{path}.process.{}", problem.path), ..problem });
            }
            times((traffic.start, traffic.stop), &path, &scale, tell);
        }
    }
}

impl Scenario {
    /// Bandwidth of the channels of a link class: as `[link]` says, else as the topology says, else the default.
    pub fn bandwidth_of(&self, class: &str) -> Rate {
        let own = self.wire_of(class).0;
        match &self.link.bandwidth {
            PerClass::Table(table) => table.get(class).copied().or(own).unwrap_or(Link::BANDWIDTH),
            PerClass::One(rate) => own.unwrap_or(*rate),
        }
    }

    /// Latency of the channels of a link class: as `[link]` says of it, else as the topology says, else `latency`.
    pub fn latency_of(&self, class: &str) -> Duration {
        let own = || self.wire_of(class).1;
        self.link.classes.get(class).copied().or_else(own).unwrap_or(self.link.latency)
    }

    fn wire_of(&self, class: &str) -> (Option<Rate>, Option<Duration>) {
        let wiring = self.topology.wiring();
        let number = wiring.link_classes().iter().position(|name| *name == class);
        number.map_or((None, None), |number| wiring.wire(number as u8))
    }

    /// The priority of each class of traffic, then of each job.
    pub fn given_priorities(&self) -> impl Iterator<Item = u8> + '_ {
        self.traffic.iter().map(|class| class.priority).chain(self.job.iter().map(|job| job.priority))
    }

    /// The priorities that they have, the most urgent first.
    pub fn priorities(&self) -> Vec<u8> {
        let all: BTreeSet<u8> = self.given_priorities().collect();
        if all.is_empty() { vec![0] } else { all.into_iter().rev().collect() }
    }

    /// What sizes and cycles are measured by; none if a packet has no whole number of flits, or none at all.
    pub fn scale(&self) -> Option<Scale> {
        let Size::Bits(flit_bits @ 1..) = self.packet.flit else { return None };
        let unit = Scale { flit_bits, packet_flits: 1, host: self.bandwidth_of("host") };
        let packet_flits = match self.packet.max {
            Size::Packets(_) => return None,
            size => size.flits(&unit),
        };
        (1..=PACKET_FLITS_MAX).contains(&packet_flits).then_some(Scale { packet_flits, ..unit })
    }
}

fn link(scenario: &Scenario, tell: Tell) {
    let classes = scenario.topology.wiring().link_classes();
    let mut check = |path: String, class: &str, keys: &[&str]| {
        if !classes.contains(&class) {
            let known: Vec<&str> = keys.iter().chain(classes).copied().collect();
            let meant = nearest(class, known.iter().copied()).map(|name| format!("did you mean {name}? "));
            let help = format!("{}one of: {}", meant.unwrap_or_default(), known.join(", "));
            tell(Problem::new(path, "this topology has no such link class", help));
        }
    };
    for class in scenario.link.classes.keys() {
        check(format!("link.{class}"), class, &["bandwidth", "latency", "flow_control", "slow", "failed"]);
    }
    if let PerClass::Table(table) = &scenario.link.bandwidth {
        table.keys().for_each(|class| check(format!("link.bandwidth.{class}"), class, &[]));
    }
}

fn combination(scenario: &Scenario, tell: Tell) {
    let (scheme, fifo) =
        (&scenario.congestion_control, scenario.endpoint.queues != SendQueues::PerDestination);
    if scheme.scheme().per_destination() && fifo {
        let message = format!("congestion control \"{}\" needs a send queue per destination", scheme.kind());
        tell(Problem::new("endpoint.queues", message, "queues = \"per destination\""));
    }
}

/// Several priorities, where only one is known.
fn priorities(scenario: &Scenario, tell: Tell) {
    if scenario.priorities().len() == 1 {
        return;
    }
    let (scheme, several) = (&scenario.congestion_control, "and traffic and jobs have several");
    if !scheme.scheme().knows_priorities() {
        let message = format!(
            "congestion control \"{}\" tells no priorities from each other, {several}",
            scheme.kind()
        );
        tell(Problem::new("congestion_control.kind", message, "one priority, or another congestion control"));
    }
    if scenario.run.model == Model::Fluid {
        let message = format!("the fluid model tells no priorities from each other, {several}");
        tell(Problem::new("run.model", message, "one priority, or model = \"packets\""));
    }
}

/// What the scheme cannot work without.
fn acknowledgements(scenario: &Scenario, tell: Tell) {
    let needs = scenario.congestion_control.scheme().needs_acknowledgements();
    if let Some((message, help)) = needs.filter(|_| !scenario.endpoint.acknowledge) {
        tell(Problem::new("endpoint.acknowledge", message, help));
    }
}

/// Endpoints that are slow.
fn slow(scenario: &Scenario, count: u64, tell: Tell) {
    let some = &scenario.endpoint.slow;
    if scenario.run.model == Model::Fluid && !some.is_empty() {
        let message = "the fluid model has no endpoints that are slower than others";
        tell(Problem::new("run.model", message, "no slow endpoints, or model = \"packets\""));
    }
    for (at, slow) in some.iter().enumerate() {
        let path = format!("endpoint.slow.{at}");
        members(&slow.endpoints, &path, count, tell);
        if let Some(scale) = scenario.scale() {
            times((slow.start, slow.stop), &path, &scale, tell);
        }
    }
}

/// The endpoints of a table that is none of traffic.
pub(super) fn members(of: &Endpoints, path: &str, count: u64, tell: Tell) {
    if *of == Endpoints::Rest {
        let help = "\"all\", a list of numbers, or { sample = n }";
        tell(Problem::new(format!("{path}.endpoints"), "\"rest\" is for traffic", help));
    }
    endpoints(of, path, count, tell);
}

/// Names of traffic classes that no scheme has. One that another has is left as it is, so that schemes can be compared on one switch.
fn virtual_output_queues(switch: &Parameters, tell: Tell) {
    let Path::Crossbar { voq: Voq::Classes(names), .. } = &switch.fabric else { return };
    for name in names.iter().filter(|name| !CLASS_NAMES.contains(&name.as_str())) {
        let meant = nearest(name, CLASS_NAMES).map(|name| format!("did you mean {name}? "));
        let help = format!("{}one of: {}", meant.unwrap_or_default(), CLASS_NAMES.join(", "));
        tell(Problem::new("switch.voq", format!("there is no traffic class \"{name}\""), help));
    }
}

/// Checks the packet sizes; gives the scale if sizes can be told by it.
fn packet(scenario: &Scenario, tell: Tell) -> Option<Scale> {
    if !matches!(scenario.packet.flit, Size::Bits(1..)) {
        let help = "such as \"100 b\" or \"32 B\"";
        tell(Problem::new("packet.flit", "a flit must be a number of bits or bytes over 0", help));
        return None;
    }
    if matches!(scenario.packet.flit, Size::Bits(bits) if bits > FLIT_BITS_MAX) {
        let message = format!("a flit of {} is too large", scenario.packet.flit);
        tell(Problem::new("packet.flit", message, format!("at most {}", Size::Bits(FLIT_BITS_MAX))));
        return None;
    }
    let Some(scale) = scenario.scale() else {
        let help = format!("1 to {PACKET_FLITS_MAX} flits, in flits or bytes");
        tell(Problem::new("packet.max", format!("\"{}\" is no possible packet", scenario.packet.max), help));
        return None;
    };
    if matches!(scenario.packet.max, Size::Bits(bits) if bits < scale.flit_bits) {
        let message = format!("\"{}\" is less than a flit", scenario.packet.max);
        tell(Problem::new("packet.max", message, format!("at least {}", scenario.packet.flit)));
    }
    let control = scenario.packet.control.flits(&scale);
    if control == 0 || control > scale.packet_flits {
        let help = format!("1 to {} flits", scale.packet_flits);
        tell(Problem::new("packet.control", format!("a control packet has {control} flits"), help));
    }
    Some(scale)
}

fn switch(scenario: &Scenario, scale: &Scale, tell: Tell) {
    let switch = scenario.switch.design().parameters();
    let mut check = |key: &str, size: Size| {
        let flits = size.flits(scale);
        if flits < scale.packet_flits {
            let message = format!("a buffer of {flits} flits cannot hold a packet");
            let help = format!("at least \"1 packet\", {} flits", scale.packet_flits);
            tell(Problem::new(format!("switch.{key}"), message, help));
        }
    };
    if let Some(size) = switch.output_buffer {
        check("output_buffer", size);
    }
    if let Buffer::PerVc(size) | Buffer::PerPort(size) | Buffer::Shared(size) = switch.input_buffer {
        check("input_buffer", size);
    }
}

/// The path of each class: by its name, or by its index if another has that name too, which is told.
fn traffic_paths(classes: &[Traffic], tell: Tell) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut paths = Vec::new();
    for (index, traffic) in classes.iter().enumerate() {
        if seen.insert(&traffic.name) {
            paths.push(format!("traffic.{}", traffic.name));
        } else {
            let message = format!("another class is called \"{}\" too", traffic.name);
            tell(Problem::new(format!("traffic.{index}.name"), message, "give each class its own name"));
            paths.push(format!("traffic.{index}"));
        }
    }
    paths
}

fn load(traffic: &Traffic, path: &str, tell: Tell) {
    let path = |key: &str| format!("{path}.{key}");
    match (traffic.load, traffic.load_per_destination) {
        (Some(_), Some(_)) => {
            let message = "both load and load_per_destination are given";
            tell(Problem::new(path("load_per_destination"), message, "remove one of them"));
        }
        (None, None) if traffic.process.arrivals().has_load() => {
            let help = "give load (a fraction of each source's channel) or load_per_destination";
            tell(Problem::new(path("load"), "the load is missing", help));
        }
        (Some(load), None) | (None, Some(load)) if !load.is_finite() => {
            let key = if traffic.load.is_some() { "load" } else { "load_per_destination" };
            tell(Problem::new(path(key), format!("{load} is not a load"), "a number, 0 or more"));
        }
        _ => {}
    }
}

fn message(traffic: &Traffic, path: &str, scale: &Scale, tell: Tell) {
    let mut refuse = |key: &str, message: String, help: String| {
        tell(Problem::new(format!("{path}.message{key}"), message, help));
    };
    let most = message_flits_max(scale.packet_flits);
    let mut each = |key: &str, sizes: &[Size]| {
        let wrong = sizes.iter().map(|size| size.flits(scale)).find(|flits| !(1..=most).contains(flits));
        wrong.map(|flits| refuse(key, format!("a message has {flits} flits"), format!("1 to {most} flits")))
    };
    match &traffic.message {
        MessageSize::Fixed(size) => _ = each("", &[*size]),
        MessageSize::Mix { sizes, shares, .. } => {
            each(".sizes", sizes);
            let sum: f64 = shares.iter().sum();
            if sizes.len() != shares.len() {
                let message = format!("{} sizes have {} shares", sizes.len(), shares.len());
                refuse(".shares", message, "one share for each size".to_string());
            } else if (sum - 1.0).abs() > 1e-9 {
                let message = format!("the shares add up to {sum}");
                refuse(".shares", message, "they must add up to 1".to_string());
            }
        }
        MessageSize::Uniform { from, to, step } => {
            let wrong =
                [(".from", from), (".to", to), (".step", step)].map(|(key, size)| each(key, &[*size]));
            let [first, last, by] = [from, to, step].map(|size| size.flits(scale));
            if first > last {
                let help = "from must not be more than to";
                refuse(".from", format!("{from} is more than {to}"), help.to_string());
            } else if wrong == [None; 3] && !(last - first).is_multiple_of(by) {
                let message = format!("steps of {by} flits from {first} flits do not meet {last} flits");
                refuse(".step", message, format!("a divisor of {} flits", last - first));
            }
        }
        MessageSize::Distribution { path: file, text } => {
            let told =
                |problem: Problem| Problem { path: format!("{path}.message.{}", problem.path), ..problem };
            match distribution(file, text, scale) {
                Err(problem) => tell(told(problem)),
                Ok(sizes) if sizes.max() > most => {
                    let message = format!("a message has up to {} flits", sizes.max());
                    tell(told(in_file(file, "text", "", &message, &format!("1 to {most} flits"))));
                }
                Ok(_) => {}
            }
        }
    }
}

fn distribution(file: &str, text: &str, scale: &Scale) -> Result<Distribution, Problem> {
    let help = "path = \"sizes.txt\", or what stands in it as text";
    let read = given(file, text, "no sizes are given", help).and_then(|text| Distribution::read(text, scale));
    read.map_err(|mistake| mistake.problem(file))
}

pub(super) fn times((start, stop): (Duration, Option<Duration>), path: &str, scale: &Scale, tell: Tell) {
    if let Some(stop) = stop.filter(|stop| stop.time(scale) <= start.time(scale)) {
        let message = format!("stops at {stop}, but starts at {start}");
        tell(Problem::new(format!("{path}.stop"), message, "stop must be after start"));
    }
}

fn endpoints(endpoints: &Endpoints, path: &str, count: u64, tell: Tell) {
    let mut refuse = |message: String, help: String| {
        tell(Problem::new(format!("{path}.endpoints"), message, help));
    };
    match endpoints {
        Endpoints::All | Endpoints::Rest => {}
        Endpoints::Sample(0) => refuse("a sample of 0 endpoints".to_string(), "at least 1".to_string()),
        Endpoints::Sample(n) if u64::from(*n) > count => {
            refuse(format!("a sample of {n} endpoints"), format!("the network has {count}"));
        }
        Endpoints::Sample(_) => {}
        Endpoints::List(list) if list.is_empty() => {
            refuse("the list is empty".to_string(), "at least one endpoint".to_string());
        }
        Endpoints::List(list) => {
            if let Some(endpoint) = list.iter().find(|endpoint| u64::from(**endpoint) >= count) {
                let help = format!("endpoints are numbered from 0 to {}", count.saturating_sub(1));
                refuse(format!("there is no endpoint {endpoint}"), help);
            }
            let mut seen = HashSet::new();
            if let Some(twice) = list.iter().find(|endpoint| !seen.insert(**endpoint)) {
                refuse(format!("endpoint {twice} is named twice"), "name each once".to_string());
            }
        }
    }
}

fn run(scenario: &Scenario, scale: &Scale, tell: Tell) {
    let total: u128 = scenario.run_spans().iter().map(|span| u128::from(span.time(scale).0)).sum();
    if total > u128::from(QUANTITY_MAX) {
        let help = "warmup, duration and drain together may last 1000000 s";
        tell(Problem::new("run.duration", "the run is too long", help));
    }
    if let Some(bin) = scenario.record.series {
        let bins = total.div_ceil(u128::from(bin.time(scale).0.max(1)))
            * (scenario.traffic.len() + scenario.job.len()) as u128;
        if bins > u128::from(BINS_MAX) {
            let message = format!("the series of all classes would have {bins} bins");
            tell(Problem::new("record.series", message, format!("at most {BINS_MAX}: a longer bin")));
        }
    }
    let late = |time: &&Duration| u128::from(time.time(scale).0) > total;
    let times = match &scenario.record.occupancy {
        Snapshots::Every(span) => std::slice::from_ref(span),
        Snapshots::At(times) => times,
    };
    if let Some(time) = times.iter().find(late) {
        let message = format!("{time} is after the end of the run");
        let help = "times up to the end of warmup, duration and drain";
        tell(Problem::new("record.occupancy", message, help));
    }
    if scenario.record.trees && times.is_empty() {
        let message = "congestion trees have no times at which they are recorded";
        tell(Problem::new("record.trees", message, "such as record.occupancy = \"1 us\""));
    }
    if let Snapshots::Every(span) = scenario.record.occupancy {
        let snapshots = total / u128::from(span.time(scale).0.max(1));
        if snapshots > u128::from(SNAPSHOTS_MAX) {
            let message = format!("the occupancy would be recorded {snapshots} times");
            let help = format!("at most {SNAPSHOTS_MAX}: a longer time");
            tell(Problem::new("record.occupancy", message, help));
        }
    }
    if scenario.run.memory.is_some_and(|memory| !matches!(memory, Size::Bits(_))) {
        tell(Problem::new("run.memory", "memory is not counted in flits or packets", "such as \"4 GB\""));
    }
}
