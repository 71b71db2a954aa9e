//! How much memory a run will take.
use super::latency::Ways;
use crate::core::packet::Packet;
use crate::core::plan::Plan;
use crate::probe::{Bin, ClassProbe};
use std::mem::size_of;

/// Bytes of an output port, its input and its channel, without what follows from the virtual channels.
const PORT: usize = 450;
/// Bytes of a virtual channel at a port: its output queue, and its credits at both ends.
const PORT_VC: usize = 16;
/// Bytes of what a sender that is paused knows of the buffer ahead: of the channel, with what is on its way, and of a virtual channel.
const PAUSES: usize = 500;
const PAUSES_VC: usize = 16;
/// Bytes of what a virtual channel of an input holds of memory that it shares.
const FILL: usize = 12;
/// Bytes of an endpoint: its record, its send queues under load, its generator, its injection channel.
const ENDPOINT: usize = 2_000;
/// Bytes of a latency histogram that spans some microseconds.
const HISTOGRAM: usize = 6_000;
/// Bytes of a partition: the timing wheel and what events and arrivals pass through.
const PARTITION: usize = 60_000;
/// Room that lists take for each thing they hold: they grow by doubling, and a packet on a long channel passes through
/// two of them.
const SLACK: usize = 2;
/// Latency under moderate load over that of the empty network: queueing and detours.
const LOADED: f64 = 1.25;
/// Credits and events on their way for each packet in the network, in bytes.
const COMPANIONS: usize = 64;

/// An estimate in bytes, by what takes them.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Memory {
    /// Switches, channels and endpoints, without packets.
    pub network_bytes: u64,
    /// Packets in the network with their credits and events.
    pub packets_bytes: u64,
    /// Counters, histograms and time series.
    pub results_bytes: u64,
    /// Traces, and what was made of them.
    pub jobs_bytes: u64,
    /// All of them.
    pub total_bytes: u64,
}

/// The memory of a run in which no destination is offered more than its channel takes. What waits at the sources beyond
/// that (16 bytes for each message) is not in it: it grows with the simulated time.
///
/// Network: ports · ([`PORT`] + VCs · [`PORT_VC`] + 4 · classes · (radix + 1)) + endpoints · [`ENDPOINT`] + partitions ·
/// [`PARTITION`]; with pauses, channels · ([`PAUSES`] + VCs · [`PAUSES_VC`]), and with shared memory ports · VCs · [`FILL`]. Packets: by Little's law, packets made per tick · mean
/// latency of a packet of the empty network · [`LOADED`], twice if they are acknowledged, each of 96 bytes · [`SLACK`] + [`COMPANIONS`]. Results: partitions ·
/// (classes · (3 histograms + bins + recorded sources) + recorded ports).
pub fn estimate(plan: &Plan, ways: Option<&Ways>, acknowledge: bool) -> Memory {
    let network_bytes = network(plan) as u64;
    let copies = if acknowledge { 2.0 } else { 1.0 };
    let packet = size_of::<Packet>() * SLACK + COMPANIONS;
    let packets_bytes = (in_network(plan, ways) * copies * packet as f64) as u64;
    let results_bytes = results(plan) as u64;
    let jobs_bytes = plan.job_memory();
    let total_bytes = network_bytes + packets_bytes + results_bytes + jobs_bytes;
    Memory { network_bytes, packets_bytes, results_bytes, jobs_bytes, total_bytes }
}

fn network(plan: &Plan) -> usize {
    let classes = plan.vcs.classes.len();
    let switch = |radix: usize| {
        let cells = 4 * classes * (radix + 1);
        radix * (PORT + plan.vcs.count() * PORT_VC + cells)
    };
    let switches: usize = plan.graph.switches.iter().map(|ports| switch(ports.len())).sum();
    let ports: usize = plan.graph.switches.iter().map(Vec::len).sum();
    let told = plan.links[0].pauses.map_or(0, |_| PAUSES + plan.vcs.count() * PAUSES_VC);
    let channels = (ports + plan.graph.endpoints.len()) * told;
    let fills = if plan.links[0].sharing().is_some() { ports * plan.vcs.count() * FILL } else { 0 };
    switches + channels + fills + plan.graph.endpoints.len() * ENDPOINT + plan.shares.len() * PARTITION
}

/// Data packets in the network, by Little's law.
fn in_network(plan: &Plan, ways: Option<&Ways>) -> f64 {
    let flit = f64::from(plan.links[0].time[1]);
    let data = plan.traffic.iter().map(|traffic| {
        let class = traffic.class();
        let (sources, sinks) =
            (class.destinations.sources().len() as f64, class.destinations.destinations().len() as f64);
        let flits_per_tick = (sources * class.load_per_source).min(sinks) / flit;
        let (total, count) = class.sizes.mean();
        let message = total as f64 / count as f64;
        let packet = message / (message / f64::from(plan.packet_flits)).ceil();
        let latency = ways.map_or(0.0, |ways| ways.latency(plan, packet.ceil() as u32).mean);
        flits_per_tick / packet * latency * LOADED
    });
    data.sum()
}

fn results(plan: &Plan) -> usize {
    let bins = plan.record.series.map_or(0, |bin| plan.end.div_ceil(bin) as usize);
    let sources = if plan.record.sources { plan.graph.endpoints.len() * 8 } else { 0 };
    let class = size_of::<ClassProbe>() + 3 * HISTOGRAM + bins * size_of::<Bin>() + sources;
    let ports: usize = plan.graph.switches.iter().map(Vec::len).sum();
    let recorded = if plan.record.ports { ports * 40 } else { 0 };
    let snapshots = plan.record.occupancy.len() * (plan.graph.switches.len() * 8 + ports * 4);
    plan.shares.len() * plan.groups() * class + recorded + snapshots
}
