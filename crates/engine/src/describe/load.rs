//! Linear load: what each channel carries under oblivious routing, without simulation.
//!
//! The loads follow from the routing itself: all that may come of its draws is followed with its probability, for every
//! pair of endpoints that exchange traffic. Where no channel is asked for more than it can carry, the network is stable
//! under any good flow control; so the most loaded channel bounds the throughput (W. Dally, B. Towles, "Principles and
//! Practices of Interconnection Networks", 2004, section 3.3.1).
use crate::core::plan::Plan;
use crate::graph::Peer;
use crate::outcomes::every_outcome;
use crate::routing::Route;
use crate::traffic::Destinations;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Loads of all channels, in multiples of what they can carry, when every source sends all that its own channel carries.
struct Loads {
    /// By switch and port: `channels[first[switch] + port]`.
    channels: Vec<f64>,
    /// Of the channels out of endpoints that are slow; no other is ever asked for more than it carries.
    injections: BTreeMap<u32, f64>,
    first: Vec<usize>,
}

/// Packets for one destination in a switch: where they are, and their part of the traffic.
type Packets = ((u32, Option<u16>, Route), f64);

/// For each class of traffic alone, at full load: the throughput bound, the bottleneck, and the loads by link class; and what all of
/// them together load channels with that offer a load. Data packets alone count.
///
/// # Errors
///
/// If the routing looks at the load of the network: what it does then is not known without simulation.
pub fn linear(plan: &Plan) -> Result<Value, String> {
    let mut bounds = Vec::new();
    let mut rows = Vec::new();
    let mut tell = |name: &str, loads: &Loads| {
        rows.extend(loads.by_class(plan).into_iter().map(|(link, channels, mean, max)| {
            json!({ "traffic": name, "link_class": link, "channels": channels, "load_mean": mean, "load_max": max })
        }));
    };
    let mut together: Option<Loads> = None;
    for traffic in &plan.traffic {
        let class = traffic.class();
        let loads = Loads::new(plan, &*class.destinations)?;
        let (most, bottleneck) = loads.bottleneck(plan);
        bounds.push(json!({
            "traffic": class.name,
            "throughput_bound": rounded((1.0 / most).min(1.0)),
            "bottleneck": bottleneck,
            "load_of_bottleneck": rounded(most),
        }));
        tell(&class.name, &loads);
        // One that `run.only` leaves out stops at once.
        if class.load_per_source > 0.0 && traffic.clock().stop != Some(0) {
            together.get_or_insert_with(|| loads.none()).add(&loads, class.load_per_source);
        }
    }
    let mut offered = Vec::new();
    if let Some(together) = together {
        tell(OFFERED, &together);
        let (most, bottleneck) = together.bottleneck(plan);
        offered.push(json!({
            "bottleneck": bottleneck,
            "load_of_bottleneck": rounded(most),
            "all_loads_times_at_most": rounded(1.0 / most),
        }));
    }
    let mut facts = json!({ "bounds": bounds, "offered": offered, "channel_loads": rows });
    let jobs: Vec<&str> = plan.jobs.iter().filter(|job| !job.idle).map(|job| &job.name[..]).collect();
    if !jobs.is_empty() {
        facts["without_jobs"] = json!(jobs);
    }
    Ok(facts)
}

/// What the loads of all classes together are called.
const OFFERED: &str = "all, as offered";

/// A sum of many fractions without what their rounding left.
fn rounded(value: f64) -> f64 {
    (value * 1e12).round() / 1e12
}

impl Loads {
    /// The channels of the same network without loads.
    fn none(&self) -> Self {
        Self {
            channels: vec![0.0; self.channels.len()],
            injections: BTreeMap::new(),
            first: self.first.clone(),
        }
    }

    /// Adds so many times other loads.
    fn add(&mut self, other: &Self, times: f64) {
        self.channels.iter_mut().zip(&other.channels).for_each(|(mine, theirs)| *mine += times * theirs);
        for (&endpoint, load) in &other.injections {
            *self.injections.entry(endpoint).or_default() += times * load;
        }
    }

    fn new(plan: &Plan, destinations: &dyn Destinations) -> Result<Self, String> {
        if plan.router.hashes() {
            return Err(HASHES.to_string());
        }
        let mut first = vec![0];
        for ports in &plan.graph.switches {
            first.push(first[first.len() - 1] + ports.len());
        }
        let mut loads =
            Self { channels: vec![0.0; first[first.len() - 1]], injections: BTreeMap::new(), first };
        for &dst in destinations.destinations() {
            let packets = injected(plan, destinations, dst)?;
            for &src in destinations.sources().iter().filter(|src| plan.slow.injections.contains_key(src)) {
                *loads.injections.entry(src).or_default() += destinations.share(src, dst);
            }
            loads.follow(plan, dst, packets)?;
        }
        loads.scale(plan);
        Ok(loads)
    }

    /// Follows all packets for a destination, a hop at a time; packets in the same state are followed as one.
    fn follow(&mut self, plan: &Plan, dst: u32, mut packets: Vec<Packets>) -> Result<(), String> {
        let minds = plan.router.minds_input();
        // A way by another switch is in none more than twice; horizontal moves and detours are within that.
        for _ in 0..2 * plan.graph.switches.len() + 2 {
            let mut next = Vec::new();
            for ((switch, input, before), part) in merged(packets) {
                let ended = every_outcome(|senses| {
                    let mut route = before;
                    let hop = plan.router.route(switch, input, dst, &mut route, senses);
                    let Some(probability) = senses.probability() else { return ControlFlow::Break(()) };
                    route.leave();
                    self.channels[self.first[switch as usize] + usize::from(hop.port)] += part * probability;
                    let port = plan.graph.switches[switch as usize][usize::from(hop.port)];
                    if let Peer::Switch { switch, port } = port.peer {
                        next.push(((switch, minds.then_some(port), route), part * probability));
                    }
                    ControlFlow::Continue(())
                });
                if ended.is_break() {
                    return Err(LOOKS.to_string());
                }
            }
            if next.is_empty() {
                return Ok(());
            }
            packets = next;
        }
        Err(format!("packets for endpoint {dst} do not arrive"))
    }

    /// From flits per time of an injection channel to parts of what each channel carries.
    fn scale(&mut self, plan: &Plan) {
        let flits = usize::from(plan.packet_flits);
        let host = f64::from(plan.links[0].time[flits]);
        for (switch, ports) in plan.graph.switches.iter().enumerate() {
            for port in 0..ports.len() {
                let load = &mut self.channels[self.first[switch] + port];
                // What carries nothing matters only if something is to be carried.
                *load *= if *load > 0.0 { plan.port_time(switch as u32, port as u16) / host } else { 1.0 };
            }
        }
        self.injections
            .iter_mut()
            .for_each(|(&endpoint, load)| *load *= plan.injection_time(endpoint) / host);
    }

    /// The load of the most loaded channel, and its name.
    fn bottleneck(&self, plan: &Plan) -> (f64, String) {
        let mut most = (0.0, 0);
        for (at, &load) in self.channels.iter().enumerate() {
            // Equal but for rounding: the first.
            if load > most.0 * (1.0 + 1e-9) {
                most = (load, at);
            }
        }
        let injections = self.injections.iter().max_by(|one, other| one.1.total_cmp(other.1));
        if let Some((endpoint, &load)) = injections.filter(|(_, load)| **load > most.0 * (1.0 + 1e-9)) {
            return (load, format!("endpoint {endpoint} ({})", plan.links[0].name));
        }
        let switch = self.first.partition_point(|&first| first <= most.1) - 1;
        let names: Vec<&str> = plan.links.iter().map(|link| link.name.as_str()).collect();
        (most.0, plan.graph.channel(switch as u32, (most.1 - self.first[switch]) as u16, &names))
    }

    /// Link class ("ejection" for the channels to endpoints), its channels, and their mean and greatest load.
    fn by_class(&self, plan: &Plan) -> Vec<(String, u64, f64, f64)> {
        let mut rows: Vec<_> = plan.links.iter().map(|link| (link.name.clone(), 0, 0.0, 0.0f64)).collect();
        rows[0].0 = "ejection".to_string();
        let ports = plan.graph.switches.iter().flatten();
        for (port, &load) in ports.zip(&self.channels).filter(|(port, _)| port.peer != Peer::None) {
            let row = &mut rows[usize::from(port.class)];
            *row = (std::mem::take(&mut row.0), row.1 + 1, row.2 + load, row.3.max(load));
        }
        rows.iter_mut().for_each(|row| row.2 /= (row.1 as f64).max(1.0));
        rows
    }
}

const HASHES: &str = "the routing goes by a hash of each flow, so that channel loads depend on the seed; those of random choices are their mean";

const LOOKS: &str = "the routing looks at the load of the network, so that its channel loads are not known without \
                     simulation; oblivious are minimal, dor (but by occupancy), nca (random or deterministic), valiant and shortest (at random or by the destination)";

/// What all sources send to a destination, each in its first switch.
fn injected(plan: &Plan, destinations: &dyn Destinations, dst: u32) -> Result<Vec<Packets>, String> {
    let mut packets = Vec::new();
    for &src in destinations.sources() {
        let share = destinations.share(src, dst);
        if share == 0.0 {
            continue;
        }
        let (switch, port) = plan.graph.endpoints[src as usize];
        // Routers do not tell the endpoints of a switch apart by their ports: all enter by the first.
        let ports = &plan.graph.switches[switch as usize];
        let first = ports.iter().position(|port| matches!(port.peer, Peer::Endpoint(_)));
        let port = first.map_or(port, |first| first as u16);
        let ended = every_outcome(|senses| {
            let mut route = Route::default();
            plan.router.inject(src, dst, &mut route, senses);
            let Some(probability) = senses.probability() else { return ControlFlow::Break(()) };
            packets.push(((switch, Some(port), route), share * probability));
            ControlFlow::Continue(())
        });
        if ended.is_break() {
            return Err(LOOKS.to_string());
        }
    }
    Ok(packets)
}

/// Packets in the same state as one; in an order that depends on nothing else, as sums of fractions do on theirs.
fn merged(mut packets: Vec<Packets>) -> Vec<Packets> {
    packets.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    packets.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0.0 };
        same
    });
    packets
}
