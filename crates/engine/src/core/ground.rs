//! What a scenario asks for in the engine's own units: ticks and flits.
use super::Tick;
use super::build::{Wire, runs};
use super::cut::cut;
use super::plan::{LinkPlan, PauseLimits, RecordPlan, VirtualChannels, capped, rounded};
use super::post::Post;
use crate::graph::{Graph, Peer};
use crate::protocol::signal::Passage;
use crate::scenario::{Scenario, Snapshots};
use crate::switch::parameters::{Buffer, Forwarding, Parameters};
use crate::traffic::bind::BoundClass;
use crate::traffic::generator;
use crate::units::{Duration, Rate, Scale};
use crate::workload::bind::BoundJob;

/// Endpoints of a partition that keep its state in a core's own cache, if it is left to us.
const PARTITION_ENDPOINTS: usize = 32;
/// Packets of the greatest length for which the endpoints of a partition have time in a window, at the least, if it is left to us:
/// with fewer, the windows cost more than small partitions gain. On KNS networks with links of 6 ns, partitions of one packet a
/// window took 2.5 times the time of one large one, those of six as much as it.
const WINDOW_PACKETS: u64 = 16;
/// Smallest part of a packet of the greatest length that a window may be, as its inverse: with shorter ones every window touches all
/// links between partitions for next to nothing. A tree of 4096 endpoints with windows of a thirtieth took 2.2 times the time.
const WINDOWS_PER_PACKET: u64 = 8;

/// A scenario with its network, its scale and its tick in picoseconds.
pub(super) struct Ground<'a> {
    pub scenario: &'a Scenario,
    pub graph: &'a Graph,
    pub scale: &'a Scale,
    pub tick: u64,
    /// Of the switches.
    pub switch: Parameters,
}

impl Ground<'_> {
    pub(super) fn ticks(&self, span: Duration) -> Tick {
        rounded(span.time(self.scale).0, self.tick)
    }

    /// Time of a packet by its flits: rounded up once per packet.
    pub(super) fn times(&self, rate: Rate) -> Vec<u32> {
        let time = |flits| (rate.transmit_time(flits * self.scale.flit_bits).0.div_ceil(self.tick)) as u32;
        (0..=self.scale.packet_flits).map(time).collect()
    }

    /// Times of packets over the crossbar, which is faster than the fastest channel: a class may have none, such as that of global links
    /// in a dragonfly of one group.
    pub(super) fn crossbar(&self, wires: &[Wire]) -> Vec<u32> {
        let ports = self.graph.switches.iter().flatten().filter(|port| port.peer != Peer::None);
        let fastest = ports.map(|port| wires[usize::from(port.class)].rate.0).max().unwrap_or(1);
        self.times(Rate(fastest.saturating_mul(self.switch.speedup() as u64)))
    }

    /// Flits of an output queue, if the switches have some.
    pub(super) fn output_buffer(&self) -> Option<u32> {
        self.switch.output_buffer.map(|size| capped(size.flits(self.scale)))
    }

    /// The link class of a wire whose channels have this many levels.
    pub(super) fn link(&self, wire: &Wire, levels: u16, vcs: &VirtualChannels) -> LinkPlan {
        let (pipeline, packet) = (self.switch.pipeline.time(self.scale).0, self.scale.packet_flits);
        let in_use = |vc: usize| vcs.in_use(vc, levels);
        let used = (0..vcs.count()).filter(|&vc| in_use(vc)).count() as u64;
        let flit = wire.rate.transmit_time(self.scale.flit_bits).0.max(1);
        let control = self.scenario.link.flow_control.control();
        let (latency, time) = (wire.latency.0 / self.tick, self.times(wire.rate));
        let response = control.response().map(|response| self.ticks(response));
        let headroom = response.map(|response| {
            // The packet that crosses a threshold left half a round trip before that; the last one starts just before its sender obeys.
            started(&time, 2 * (latency + u64::from(time[1])) + response).saturating_add(packet)
        });
        let flits = match &self.switch.input_buffer {
            Buffer::RoundTrip => {
                let way = u128::from(wire.latency.0) + u128::from(flit) + u128::from(pipeline);
                let busy = wire.rate.flits_in(2 * way, self.scale.flit_bits);
                // Orders may take longer than credits.
                let longer = response.map_or(0, |response| started(&time, response));
                let beside = headroom.unwrap_or(0);
                let stored = if self.switch.forwarding == Forwarding::StoreAndForward { packet } else { 0 };
                busy.saturating_add(2 * packet + stored).saturating_add(longer).saturating_add(beside)
            }
            Buffer::PerVc(size) => size.flits(self.scale),
            Buffer::PerPort(size) => size.flits(self.scale) / used.max(1),
            Buffer::Shared(size) if response.is_some() => size.flits(self.scale) / used.max(1),
            Buffer::Shared(_) => packet,
        };
        let pool = match &self.switch.input_buffer {
            Buffer::Shared(size) if response.is_none() => {
                size.flits(self.scale).saturating_sub(used * packet)
            }
            _ => 0,
        };
        let pauses = response.zip(headroom).map(|(response, headroom)| {
            let (xoff, xon) = control.thresholds(flits.saturating_sub(headroom), self.scale);
            let [xoff, xon, headroom] = [xoff, xon, headroom].map(capped);
            let shared = control.sharing(self.scale);
            PauseLimits { xoff, xon, headroom, response: response as u32, shared }
        });
        let flits = capped(flits);
        LinkPlan {
            name: wire.name.clone(),
            rate: wire.rate,
            time,
            latency: latency as u32,
            forwarding: self.switch.forwarding,
            pipeline: (pipeline / self.tick) as u32,
            pool: capped(pool),
            pauses,
            buffer: (0..vcs.count()).map(|vc| if in_use(vc) { flits } else { 0 }).collect(),
        }
    }

    /// How signals out of band travel.
    pub(super) fn post(&self) -> Post {
        match self.scenario.congestion_control.scheme().passage() {
            Some(Passage::Latency(latency)) => Post::Latency(rounded(latency.time(self.scale).0, self.tick)),
            Some(Passage::Path) => Post::paths(self.graph),
            Some(Passage::InBand) | None => Post::Closed,
        }
    }

    /// The partition of each switch, and the window in which none can affect another, nor is a barrier both entered and left.
    pub(super) fn windows(&self, links: &[LinkPlan], post: &Post, jobs: &[BoundJob]) -> (Vec<u32>, Tick) {
        let run = &self.scenario.run;
        let ours = || self.partitions(links).max(run.threads as usize);
        let wanted = run.partitions.map_or_else(ours, |wanted| wanted as usize);
        let (parts, window) = match post {
            // Signals that take no time may go from anywhere to anywhere within a tick.
            Post::Latency(0) => cut(self.graph, links, 1),
            Post::Latency(latency) => {
                let (parts, window) = cut(self.graph, links, wanted);
                (parts, window.min(*latency))
            }
            Post::Closed | Post::Path(_) => cut(self.graph, links, wanted),
        };
        let barriers = jobs.iter().filter_map(|job| job.application.barrier());
        (parts, barriers.map(|latency| (latency.0 / self.tick).max(1)).fold(window, Tick::min))
    }

    /// Into how many partitions the network is cut for speed.
    fn partitions(&self, links: &[LinkPlan]) -> usize {
        let endpoints = self.graph.endpoints.len();
        let small = endpoints.div_ceil(PARTITION_ENDPOINTS);
        let (_, window) = cut(self.graph, links, small);
        let packet = u64::from(links[0].time[self.scale.packet_flits as usize]);
        if window.saturating_mul(WINDOWS_PER_PACKET) < packet {
            return 1;
        }
        let packets = (endpoints as u64).saturating_mul(window) / packet;
        small.min((packets / WINDOW_PACKETS).max(1) as usize)
    }

    /// The generators of the classes of traffic.
    pub(super) fn generators(&self, traffic: Vec<BoundClass>) -> Vec<generator::Plan> {
        let (tick, run) = (self.tick, &self.scenario.run);
        let (slot_num, slot_den) = self.scale.host.flit_ticks(self.scale, tick);
        let generator = |class: BoundClass| {
            let stop =
                if runs(run, &class.name) { class.stop.map(|stop| rounded(stop.0, tick)) } else { Some(0) };
            let clock = generator::Clock { slot_num, slot_den, start: rounded(class.start.0, tick), stop };
            generator::Plan::new(class, run.seed, clock)
        };
        traffic.into_iter().map(generator).collect()
    }

    /// What is recorded of a run up to `end`.
    pub(super) fn record(&self, end: Tick) -> RecordPlan {
        let record = &self.scenario.record;
        let mut occupancy: Vec<Tick> = match &record.occupancy {
            Snapshots::Every(span) => {
                (1..).map(|at| at * self.ticks(*span).max(1)).take_while(|&at| at <= end).collect()
            }
            Snapshots::At(times) => times.iter().map(|&at| self.ticks(at)).collect(),
        };
        occupancy.sort_unstable();
        occupancy.dedup();
        RecordPlan {
            series: record.series.map(|bin| self.ticks(bin).max(1)),
            ports: record.ports,
            sources: record.sources,
            pairs: record.pairs.map(|bin| self.ticks(bin).max(1)),
            packets: record.packets,
            messages: record.messages,
            control: record.control,
            pauses: record.pauses,
            trees: record.trees,
            occupancy,
        }
    }
}

/// The most flits of packets that follow one another on a channel within a span, the last of which starts at its end: without that one.
fn started(time: &[u32], span: Tick) -> u64 {
    let of = |(flits, &time): (usize, &u32)| (u128::from(span) * flits as u128).div_ceil(time.max(1).into());
    let most = time.iter().enumerate().skip(1).map(of).max().unwrap_or(0);
    u64::try_from(most).unwrap_or(u64::MAX)
}
