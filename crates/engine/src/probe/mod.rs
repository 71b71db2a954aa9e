//! What is measured. Counters and histograms of a partition, merged at the end; all sums are whole numbers, so that
//! the result does not depend on the partitioning. Probes draw nothing and change nothing.
mod batches;
mod class;
pub mod control;
mod jobs;
pub mod loads;
mod messages;
mod pairs;
pub mod pauses;
pub mod phases;
mod slowdowns;
mod sources;
pub mod summary;
mod tables;
mod trees;

use crate::core::packet::{KINDS, Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::core::trace::Step;
use crate::core::trees::Held;
use crate::core::{NEVER, Tick};
use crate::nic::queue::Message;
use crate::protocol::signal::Signal;
use crate::rng::mix;
use batches::Cut;
pub use class::{Bin, ClassProbe, LATENCIES, Latency};
use loads::Loads;
use messages::Whole;
use pairs::Pairs;
use pauses::{Pause, PauseCounts};

/// Time a port was busy sending, and time it had packets but no credit, in the window.
#[derive(Debug, Clone, Copy, Default)]
pub struct PortTime {
    /// Sending.
    pub active: Tick,
    /// Waiting for credit with packets in the output queue, or for an endpoint that is slow.
    pub stalled: Tick,
    /// Since when it stalls.
    since: Option<Tick>,
    /// When what it sent last is over, and when its channel has carried it, which may be slow.
    until: Tick,
    taken: Tick,
}

impl PortTime {
    /// What it sent last counts up to a moment only.
    fn stop(&mut self, window: (Tick, Tick), at: Tick) {
        self.active -= overlap(window, at.min(self.until), self.until);
        self.stalled -= overlap(window, at.clamp(self.until, self.taken), self.taken);
    }

    /// The port no longer stalls, if it did.
    fn end_stall(&mut self, window: (Tick, Tick), now: Tick) {
        if let Some(since) = self.since.take() {
            self.stalled += overlap(window, since, now);
        }
    }
}

/// What lists of numbers hold, in bytes.
fn bytes<T>(lists: &[Vec<T>]) -> usize {
    size_of_val(lists) + lists.iter().map(|list| size_of_val(list.as_slice())).sum::<usize>()
}

/// The part of a time that is in the window.
fn overlap(window: (Tick, Tick), from: Tick, to: Tick) -> Tick {
    to.min(window.1).saturating_sub(from.max(window.0))
}

/// What a partition measures.
pub struct Probe {
    /// The window, from one tick to before another.
    pub window: (Tick, Tick),
    cut: Cut,
    bin: Tick,
    /// Bins of a whole time series.
    bins: usize,
    packet_flits: u32,
    /// By class of the scenario.
    pub classes: Vec<ClassProbe>,
    /// Flits sent in the window, by link class and kind; the two last rows are injection and ejection.
    pub sent: Vec<[u64; KINDS.len()]>,
    /// Packets that crossed a switch.
    pub packet_hops: u64,
    /// Events handled.
    pub events: u64,
    /// Packets made by endpoints and switches.
    pub made: u64,
    /// Packets that arrived at endpoints.
    pub ended: u64,
    /// Packets dropped or consumed by switches.
    pub removed: u64,
    /// Sum of a hash of every packet that arrived, with its times.
    pub checksum: u64,
    /// Occupancy of the partition's switches at each snapshot.
    pub snapshots: Vec<Vec<u64>>,
    /// Flits that wait for each of the partition's ports at each snapshot.
    pub port_snapshots: Vec<Vec<u32>>,
    /// By local port, if recorded.
    pub ports: Vec<PortTime>,
    /// Every packet on every channel, if recorded.
    pub steps: Option<Vec<Step>>,
    /// Every message that arrived, if recorded.
    pub whole: Option<Vec<Whole>>,
    /// What every source got through to every destination, if recorded.
    pub pairs: Option<Pairs>,
    /// How senders were paused, by row of `sent`.
    pub pauses: Vec<PauseCounts>,
    /// Every pause, if recorded.
    pub every_pause: Option<Vec<Pause>>,
    /// The channels of the whole network that were held at the snapshots, if recorded: of the first partition alone.
    pub trees: Option<Vec<Held>>,
    /// What the congestion control ordered, if recorded.
    pub control: Option<control::Control>,
    /// What the flows of phases put on every channel, if there are any.
    pub loads: Option<Box<Loads>>,
}

impl Probe {
    /// An empty probe.
    pub fn new(plan: &Plan, share: &Share) -> Self {
        let record = &plan.record;
        let bins = record.series.map_or(0, |bin| plan.end.div_ceil(bin) as usize);
        let sources = if record.sources { plan.graph.endpoints.len() } else { 0 };
        let ports = if record.ports { share.ports[share.ports.len() - 1] as usize } else { 0 };
        Self {
            window: plan.window,
            cut: if plan.jobs.iter().all(|job| job.idle) {
                Cut::new(plan.window)
            } else {
                Cut::growing(plan.window.0)
            },
            bin: record.series.unwrap_or(0),
            bins,
            packet_flits: plan.packet_flits as u32,
            classes: (0..plan.groups()).map(|_| ClassProbe::new(sources)).collect(),
            sent: vec![[0; KINDS.len()]; plan.links.len() + 2],
            packet_hops: 0,
            events: 0,
            made: 0,
            ended: 0,
            removed: 0,
            checksum: 0,
            snapshots: Vec::new(),
            port_snapshots: Vec::new(),
            ports: vec![PortTime::default(); ports],
            steps: record.packets.then(Vec::new),
            whole: record.messages.then(Vec::new),
            pairs: record.pairs.map(Pairs::new),
            pauses: vec![PauseCounts::default(); plan.links.len() + 2],
            every_pause: record.pauses.then(Vec::new),
            trees: record.trees.then(Vec::new),
            control: record.control.then(Default::default),
            loads: Loads::new(plan, share.ports[share.ports.len() - 1]),
        }
    }

    /// Ends the window early, unless it has ended.
    pub fn end_window(&mut self, now: Tick) {
        let (start, before) = self.window;
        let end = before.min(now.max(start));
        self.window.1 = end;
        for port in &mut self.ports {
            port.stop((end, before), end);
        }
    }

    #[inline]
    fn in_window(&self, at: Tick) -> bool {
        self.window.0 <= at && at < self.window.1
    }

    /// The batch of a time in the window.
    #[inline]
    fn batch_of(&mut self, at: Tick) -> usize {
        if self.cut.grows() {
            self.reach(at);
        }
        self.cut.batch(at)
    }

    /// Makes the batches so long that they reach a time in the window.
    #[inline(never)]
    fn reach(&mut self, at: Tick) {
        while self.cut.is_over(at) {
            self.cut.pair_up();
            self.classes.iter_mut().for_each(ClassProbe::pair_up);
        }
    }

    /// Makes the batches as long as those of all others of a run that measured until a time in the window.
    pub fn settle_batches(&mut self, end: Tick) {
        self.reach(end.saturating_sub(1).max(self.window.0));
    }

    fn bin_of(&mut self, class: u8, at: Tick) -> Option<&mut Bin> {
        let bin = at.checked_div(self.bin)? as usize;
        let series = &mut self.classes[class as usize].series;
        if bin >= series.len() {
            if bin >= self.bins {
                return None;
            }
            series.resize(bin + 1, Bin::default());
        }
        series.get_mut(bin)
    }

    /// A message was created, which carries data or is but a question or an answer of the software.
    pub fn offered(&mut self, message: &Message, carries_data: bool) {
        let (born, counted) = (message.born(), u64::from(carries_data));
        let flits = counted * u64::from(message.flits());
        let packets = u64::from(message.flits().div_ceil(self.packet_flits));
        if let Some(bin) = self.bin_of(message.class(), born) {
            bin.offered += flits;
            bin.created += counted;
            bin.open[0].begin(packets, born);
            bin.open[2].begin(counted, born);
        }
        if self.in_window(born) {
            let batch = self.batch_of(born);
            let class = &mut self.classes[message.class() as usize];
            class.offered += flits;
            class.given.record(batch, flits);
            class.messages += counted;
            class.squares += u128::from(flits) * u128::from(flits);
            class.latency[0].expect(packets, born, batch);
            class.latency[2].expect(counted, born, batch);
        }
    }

    /// A packet was sent on a channel in the window.
    #[inline]
    pub fn sent(&mut self, row: usize, kind: Kind, flits: u32) {
        self.sent[row][kind as usize] += flits as u64;
    }

    /// A data packet was injected.
    pub fn injected(&mut self, class: u8, at: Tick) {
        if let Some(bin) = self.bin_of(class, at) {
            bin.open[1].begin(1, at);
        }
        if self.in_window(at) {
            let batch = self.batch_of(at);
            self.classes[class as usize].latency[1].expect(1, at, batch);
        }
    }

    /// A data packet was dropped by a switch.
    pub fn dropped(&mut self, packet: &Packet, now: Tick) {
        self.removed += 1;
        let inside = self.in_window(now);
        self.classes[packet.cold.class() as usize].dropped += inside as u64;
        self.forgo(packet);
    }

    /// A data packet that was injected will not arrive.
    fn forgo(&mut self, packet: &Packet) {
        let (class, injected) = (packet.cold.class(), packet.cold.injected);
        if let Some(bin) = self.bin_of(class, injected) {
            bin.open[1].end(injected);
        }
        if self.in_window(injected) {
            let batch = self.batch_of(injected);
            self.classes[class as usize].latency[1].forgo(injected, batch);
        }
    }

    /// An endpoint discarded a packet of which it has another copy.
    pub fn discarded(&mut self, packet: &Packet, now: Tick) {
        let inside = self.in_window(now);
        self.classes[packet.cold.class() as usize].duplicates += inside as u64;
        self.forgo(packet);
    }

    /// A packet was sent in a class that may be dropped.
    pub fn speculated(&mut self, class: u8, now: Tick) {
        self.classes[class as usize].speculative += self.in_window(now) as u64;
    }

    /// A packet arrived behind a later one of its message.
    pub fn reordered(&mut self, class: u8, now: Tick) {
        self.classes[class as usize].reordered += self.in_window(now) as u64;
    }

    /// A packet was sent again.
    pub fn resent(&mut self, class: u8, now: Tick) {
        self.classes[class as usize].resent += self.in_window(now) as u64;
    }

    /// A packet's tail reached its endpoint.
    pub fn arrived(&mut self, packet: &Packet, now: Tick) {
        let (hot, cold) = (&packet.hot, &packet.cold);
        self.ended += 1;
        let who = (cold.src as u64) << 32 | hot.dst as u64;
        let what = (cold.message as u64) << 32 ^ u64::from(cold.sequence()) << 16 ^ (hot.kind() as u64) << 12;
        let when = mix(cold.born(), cold.injected) ^ mix(now, hot.hops as u64);
        self.checksum = self.checksum.wrapping_add(mix(mix(who, what | hot.flits() as u64), when));
    }

    /// A packet of a message was delivered; with the length of its message in flits if that is complete now, and whether it carries data or is
    /// but of a question or an answer of the software.
    pub fn delivered(&mut self, packet: &Packet, length: Option<u32>, carries_data: bool, now: Tick) {
        let cold = &packet.cold;
        let flits = if carries_data { packet.hot.flits() as u64 } else { 0 };
        if let Some((messages, length)) = self.whole.as_mut().zip(length) {
            messages.push(Whole::of(packet, length, now));
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.delivered(packet, flits, now);
        }
        let times = [now - cold.born(), now - cold.injected, now - cold.born()];
        let counted = [true, true, length.is_some() && carries_data];
        let starts = [cold.born(), cold.injected, cold.born()];
        if self.bin > 0 {
            if let Some(bin) = self.bin_of(cold.class(), now) {
                bin.accepted += flits;
            }
            for at in 0..3 {
                if counted[at]
                    && let Some(bin) = self.bin_of(cold.class(), starts[at])
                {
                    bin.record(at, starts[at], times[at]);
                }
            }
        }
        if self.cut.grows() {
            let inside = [now, starts[0], starts[1]].into_iter().filter(|&at| self.in_window(at));
            inside.max().into_iter().for_each(|last| self.reach(last));
        }
        let (window, cut, inside) = (self.window, self.cut, self.in_window(now));
        let class = &mut self.classes[cold.class() as usize];
        if inside {
            class.accepted += flits;
            class.taken.record(cut.batch(now), flits);
            class.arrived += 1;
            class.hops += packet.hot.hops as u64;
            class.far += (packet.hot.hops == u8::MAX) as u64;
            if !class.sources.is_empty() {
                class.sources[cold.src as usize] += flits;
            }
        }
        for at in 0..3 {
            if counted[at] && window.0 <= starts[at] && starts[at] < window.1 {
                class.latency[at].record(starts[at], times[at], cut.batch(starts[at]));
            }
        }
    }

    /// Whether the orders of the congestion control are recorded.
    #[inline]
    pub fn control_recorded(&self) -> bool {
        self.control.is_some()
    }

    /// A switch has sent a signal.
    pub fn ordered(&mut self, signal: &Signal) {
        if let Some(control) = &mut self.control {
            control.signals.push(*signal);
        }
    }

    /// An endpoint is allowed a rate, in parts of a million, towards a flow's destination or all, and nothing before `from`.
    pub fn allowed(&mut self, (endpoint, towards): (u32, control::Target), rate: u32, from: Tick, now: Tick) {
        if let Some(control) = &mut self.control {
            control.allowed((endpoint, towards, now, rate), from);
        }
    }

    /// Whether every packet is recorded.
    #[inline]
    pub fn traces(&self) -> bool {
        self.steps.is_some()
    }

    /// A packet on a channel, or its end in a switch.
    pub fn trace(&mut self, step: Step) {
        self.steps.get_or_insert_default().push(step);
    }

    /// Whether the time of every port is recorded.
    #[inline]
    pub fn ports_recorded(&self) -> bool {
        !self.ports.is_empty()
    }

    /// A port sends from `now` to `end`, and then for as long as its channel is slow, until that has `taken` all.
    pub fn active(&mut self, channel: u32, now: Tick, (end, taken): (Tick, Tick)) {
        let window = self.window;
        let Some(port) = self.ports.get_mut(channel as usize) else { return };
        port.active += overlap(window, now, end);
        port.end_stall(window, now);
        port.stalled += overlap(window, end, taken);
        (port.until, port.taken) = (end, taken);
    }

    /// The last packet for a port was dropped: it has none that waits for credit.
    pub fn emptied(&mut self, channel: u32, now: Tick) {
        let window = self.window;
        if let Some(port) = self.ports.get_mut(channel as usize) {
            port.end_stall(window, now);
        }
    }

    /// A port has packets and no credit from `now` on, until it sends again.
    pub fn stalled(&mut self, channel: u32, now: Tick) {
        let port = &mut self.ports[channel as usize];
        port.since = port.since.or(Some(now));
    }

    /// Ends the stalls, the phases, and the pauses of endpoints, that last at the end of the run.
    pub fn finish(&mut self, now: Tick) {
        if let Some(control) = &mut self.control {
            control.finish(now);
        }
        if let Some(loads) = &mut self.loads {
            loads.finish();
        }
        let window = self.window;
        for port in &mut self.ports {
            port.end_stall(window, now);
            port.stop(window, now);
        }
    }

    /// Bytes of what is recorded besides counters and histograms.
    pub fn memory(&self) -> u64 {
        let class =
            |class: &ClassProbe| size_of_val(class.series.as_slice()) + size_of_val(class.sources.as_slice());
        let (snapshots, ports) = (bytes(&self.snapshots), bytes(&self.port_snapshots));
        let steps = self.steps.as_ref().map_or(0, |steps| steps.capacity() * size_of::<Step>());
        let messages = self.whole.as_ref().map_or(0, |whole| whole.capacity() * size_of::<Whole>());
        let control = self.control.as_ref().map_or(0, control::Control::memory);
        let pairs = self.pairs.as_ref().map_or(0, Pairs::memory);
        let pauses = self.every_pause.as_ref().map_or(0, |pauses| pauses.capacity() * size_of::<Pause>());
        let trees = self.trees.as_ref().map_or(0, |trees| trees.capacity() * size_of::<Held>());
        (self.classes.iter().map(class).sum::<usize>()
            + snapshots
            + ports
            + steps
            + messages
            + pairs
            + pauses
            + trees
            + control) as u64
    }

    /// Latencies that are still due: packets and messages created, and packets injected, in the window.
    pub fn due(&self) -> i64 {
        let due = |latency: &Latency| latency.due as i64 - latency.count() as i64;
        self.classes.iter().flat_map(|class| class.latency.iter().map(due)).sum()
    }
}
