//! HPCC: windows by what the busiest link on the way tells of itself.
mod telemetry;

use super::flight::{Flight, number_and_flits, with_flits};
use super::round_trip::RoundTrip;
use super::{
    Agent, Defaults, Pull, Received, Reply, Scheme, Sent, Source, least_rate, millionths, unless_given,
};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use crate::problem::Problem;
use crate::units::{Duration, Rate, Scale, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
pub use telemetry::Telemetry;
use telemetry::{Measure, Meters};

/// HPCC: every packet collects how busy the busiest link on its way is, and the source sets its window so that this link is nearly
/// full and nothing waits for it.
///
/// # What it does
///
/// A data packet learns of each output that it leaves by how busy the channel is: what was sent there since the flow's packet before it, as a
/// rate over that of the channel, and what waits, in parts of what the channel carries in a round trip. The largest sum of the two is taken
/// along, with the time that it was measured over, and the acknowledgement brings both back. The source keeps a mean over a round trip. It
/// divides its window by the mean over `eta`, and adds `window_ai`; where the mean is below `eta` it only adds, at
/// most `max_stage` times in a row. What the window is changed from is renewed once per round trip. Packets are paced
/// to a window per round trip, but for a full window.
///
/// When a packet leaves τ after its flow's packet before it, which left w behind that waited, and itself leaves v, the measure is
/// u' = min(w, v)/T + s/τ, where T is `base_rtt`, s the time that the channel sent in between (the packet before included, this one not), and
/// w and v are times on the channel. The mean, at first 1, becomes u + min(τ/T, 1) (u' - u). A flow's first packet on a channel measures nothing
/// there, nor does one behind a silence of more than ten times what a largest packet takes at `rate_min`, or than `restart` if that is longer. An
/// acknowledgement without a measure changes nothing, nor does the first of a queue, but that begins the first round trip.
/// What the window is changed from is renewed by the first
/// acknowledgement of a packet that was sent after it was renewed last. A packet may go while what is under way is less than the window,
/// so that one may exceed it; one may always go. A window is no less than that of `rate_min` and no more than the full one.
///
/// # Where it acts
///
/// Switch (measures, writes into packets), destination (acknowledges), source (window and pace).
///
/// # Parameters
///
/// The paper's, but for `base_rtt`, which depends on the network, and `rate_min`, which it does not give. The authors say that their simulations have
/// `max_stage = 0`. With long packets, `packet.interleave = true` keeps acknowledgements from waiting at a crossbar for long ([Switches](../model.md#switches)).
///
/// # Paper
///
/// Y. Li, R. Miao, H. H. Liu, Y. Zhuang, F. Feng, L. Tang, Z. Cao, M. Zhang, F. Kelly, M. Alizadeh, M. Yu, "HPCC: High Precision Congestion
/// Control", SIGCOMM 2019; `telemetry = "pint"`: R. Ben Basat, S. Ramanathan, Y. Li, G. Antichi, M. Yu, M. Mitzenmacher,
/// "PINT: Probabilistic In-band Network Telemetry", SIGCOMM 2020, section 4.3.
///
/// # Differences from the paper
///
/// The switches take the differences between a flow's packets, which in the paper the source takes between acknowledgements: the same where
/// packets keep to one way, and defined where they do not. A flow is all that an endpoint sends to another in a queue pair. Measures take no room in
/// packets, and have 24 bits. What
/// waits for an output is counted in all inputs too. Acknowledgements count as traffic of the links, but carry no measure of
/// their own way. A queue that was silent for `restart` begins anew with the full window.
///
/// Windows become equal by `window_ai` alone, and with `max_stage` over 0 slowly where others come and go: a small one is divided as often as a
/// large one, but what it adds meanwhile is the same. With PINT a switch keeps one mean of all that leaves by an output, and sources none: flows of
/// few packets in a round trip then find a channel busier than others do, just behind their own packet, and may be kept near the smallest window
/// by a single large one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hpcc {
    /// The time of a round trip that all reckon with. By default the longest in the empty network by the fastest ways, as if the slowest channel were on each; where
    /// routes go round, give what those take, or windows are too small for them.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<Duration>,
    /// How busy the busiest link is to be.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub eta: f64,
    /// Round trips in which the window only grows by `window_ai` before it is divided again.
    pub max_stage: u32,
    /// What packets learn of the links on their way.
    pub telemetry: Telemetry,
    /// Added to the window at every change. By default 1 - `eta` of the full window over 100 flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_ai: Option<Size>,
    /// The rate of the smallest window.
    pub rate_min: Rate,
    /// Silence after which a queue begins anew. By default ten times `base_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<Duration>,
}

impl Default for Hpcc {
    fn default() -> Self {
        Self {
            base_rtt: None,
            eta: 0.95,
            max_stage: 5,
            telemetry: Telemetry::Int,
            window_ai: None,
            rate_min: Rate(100_000_000),
            restart: None,
        }
    }
}

/// Packets at the smallest rate after whose time a switch forgets a flow: they may come late, where their channel is asked for more than it carries.
const PACKETS_KEPT: u64 = 10;

/// The flows that the default of `window_ai` is for.
const FLOWS: f64 = 100.0;

/// State of a send queue.
#[derive(Debug, Default)]
pub struct Window {
    flight: Flight,
    /// The window in flits, and what it is changed from; none before the first acknowledgement.
    windows: Option<[f64; 2]>,
    /// How busy the busiest link is in the mean; none before the first measure.
    busy: Option<f64>,
    /// Round trips in which it only grew.
    stage: u32,
    /// Flits of the last packet, those sent so far, and those when the second window was renewed.
    last: u32,
    sent: u64,
    renewed: u64,
}

/// The source of [`Hpcc`], in ticks and flits.
pub struct Windows {
    base_rtt: Tick,
    eta: f64,
    max_stage: u32,
    full: f64,
    least: f64,
    add: f64,
    restart: Tick,
    control: u8,
    data: u8,
}

impl Windows {
    fn window(&self, state: &Window) -> f64 {
        state.windows.map_or(self.full, |[window, _]| window)
    }

    /// When a queue with nothing more to send is as a new one, but for its stage.
    fn end(&self, state: &Window) -> Tick {
        state.flight.end(state.windows.is_none_or(|[now, from]| now.min(from) >= self.full), self.restart)
    }

    /// A window is sent in a round trip.
    fn pace(&self, state: &mut Window) {
        let window = self.window(state);
        let apart = self.base_rtt as f64 * f64::from(state.last) / window;
        state.flight.pace(if window < self.full { apart } else { 0.0 });
    }

    /// The busiest link of a packet told of itself; `number` is what was sent before that packet and with it.
    fn adapt(&self, state: &mut Window, measure: Measure, number: u64) {
        let mean = state.busy.unwrap_or(1.0);
        let weight = (f64::from(measure.over) / self.base_rtt as f64).min(1.0);
        let busy = mean + weight * (f64::from(measure.busy) - mean);
        state.busy = Some(busy);
        let [_, from] = state.windows.unwrap_or([self.full; 2]);
        let divides = busy >= self.eta || state.stage >= self.max_stage;
        let changed = if divides { from * self.eta / busy.max(f64::MIN_POSITIVE) } else { from } + self.add;
        let window = changed.clamp(self.least, self.full);
        if number > state.renewed {
            state.stage = if divides { 0 } else { state.stage + 1 };
            state.renewed = state.sent;
            state.windows = Some([window, window]);
        } else {
            state.windows = Some([window, from]);
        }
    }
}

impl Source for Windows {
    type Queue = Window;
    type Sink = ();

    fn pull(&self, queue: &SendQueue<Window>, now: Tick) -> Pull {
        let window = self.window(&queue.state);
        queue.state.flight.pull(queue, window, self.data, self.end(&queue.state), now)
    }

    fn stamp(&self, queue: &SendQueue<Window>, _: Pull, packet: &mut Packet) {
        packet.notes.words = [0, with_flits(queue.state.sent + u64::from(packet.hot.flits()), packet)];
    }

    fn on_sent(&self, queue: &mut SendQueue<Window>, sent: &Sent) {
        let state = &mut queue.state;
        state.flight.sent(sent);
        state.last = sent.packet.hot.flits();
        state.sent += u64::from(state.last);
        self.pace(state);
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Ack
    }

    fn on_control(&self, queue: &mut SendQueue<Window>, packet: &Packet, now: Tick) {
        let [measure, word] = packet.notes.words;
        let (number, flits) = number_and_flits(word);
        let state = &mut queue.state;
        state.flight.acknowledged(flits, now);
        if state.renewed == 0 {
            state.renewed = state.sent;
        } else if let Some(measure) = Measure::from(measure) {
            self.adapt(state, measure, number);
        }
        self.pace(state);
    }

    fn allowed_towards(&self, queue: &SendQueue<Window>, _dst: u32, _now: Tick) -> Option<(u32, Tick)> {
        Some((millionths(self.window(&queue.state) / self.full), 0))
    }

    fn idle(&self, queue: &SendQueue<Window>, now: Tick) -> bool {
        queue.state.flight.is_empty() && self.end(&queue.state) <= now
    }

    fn reply(&self, _: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        if let Some(ack) = received.acknowledge(true, self.control) {
            replies.push(Reply { words: received.packet.notes.words, ..ack });
        }
    }
}

impl Hpcc {
    /// The round trip and the silence, in ticks.
    fn times(&self, plan: &Plan) -> [Tick; 2] {
        let base = self.base_rtt.map_or_else(|| plan.round_trip(), |time| plan.ticks(time)).max(1);
        [base, self.restart.map_or(10 * base, |time| plan.ticks(time))]
    }

    /// How long switches know what a flow's packet found: longer than a flow is silent that has something to send, so that one that was
    /// throttled to the smallest window learns when it may send more.
    fn keep(&self, plan: &Plan) -> Tick {
        let packet = u64::from(plan.packet_flits) * plan.scale.flit_bits;
        let apart = self.rate_min.transmit_time(PACKETS_KEPT * packet);
        self.times(plan)[1].max(plan.ticks(Duration::Ps(apart.0)))
    }

    /// The full window and what is added, in flits.
    fn windows(&self, plan: &Plan) -> [f64; 2] {
        let full = plan.carried(self.times(plan)[0]);
        let add = self.window_ai.map_or(full * (1.0 - self.eta) / FLOWS, |size| f64::from(plan.flits(size)));
        [full, add]
    }
}

impl Scheme for Hpcc {
    fn problems(&self, scale: &Scale) -> Vec<Problem> {
        Vec::from_iter(least_rate("rate_min", self.rate_min, scale))
    }

    fn round_trip(&self, plan: &Plan) -> Option<RoundTrip> {
        Some(RoundTrip { key: "base_rtt", given: self.base_rtt.is_some(), ticks: self.times(plan)[0] })
    }

    fn tells_rates(&self) -> bool {
        true
    }

    fn needs_acknowledgements(&self) -> Option<(&'static str, &'static str)> {
        Some(("what links tell returns in acknowledgements, and there are none", "acknowledge = true"))
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
        let [base, restart] = self.times(plan).map(|time| json!(Duration::Ps(time * plan.tick)));
        let bits = (self.windows(plan)[1] * plan.scale.flit_bits as f64).round() as u64;
        unless_given([
            ("base_rtt", self.base_rtt.is_some(), base),
            ("restart", self.restart.is_some(), restart),
            ("window_ai", self.window_ai.is_some(), json!(Size::Bits(bits))),
        ])
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, _acknowledge: bool) -> Box<dyn Nics> {
        let ([base_rtt, restart], [full, add]) = (self.times(plan), self.windows(plan));
        let (control, data) = (plan.control_class(), plan.data_class());
        let (eta, max_stage) = (self.eta, self.max_stage);
        let least = full * (self.rate_min.0 as f64 / plan.links[0].rate.0 as f64).min(1.0);
        let source = Windows { base_rtt, eta, max_stage, full, least, add, restart, control, data };
        Box::new(NicSet::new(source, plan, share))
    }

    fn agent(&self, plan: &Plan, share: &Share) -> Box<dyn Agent> {
        let ports = share.ports.last().map_or(0, |&ports| ports as usize);
        Box::new(Meters::new(self.telemetry, [self.times(plan)[0], self.keep(plan)], ports))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::packet::Cold;
    use crate::protocol::{Departure, testing};

    fn windows() -> Windows {
        let (base_rtt, restart) = (1000, 10_000);
        Windows {
            base_rtt,
            eta: 0.75,
            max_stage: 2,
            full: 1000.0,
            least: 1.0,
            add: 1.0,
            restart,
            control: 0,
            data: 1,
        }
    }

    /// A measure over a whole round trip.
    fn whole(busy: f32) -> Measure {
        Measure { busy, over: 1000 }
    }

    #[test]
    fn a_window_is_divided_by_how_busy_the_link_is_from_what_it_was_a_round_trip_ago() {
        let (source, mut state) = (windows(), Window { sent: 500, ..Window::default() });
        source.adapt(&mut state, whole(1.5), 24);
        assert_eq!((state.windows, state.renewed), (Some([501.0; 2]), 500));
        // Packets sent before the change tell of the same: the window is not divided twice.
        source.adapt(&mut state, whole(1.5), 500);
        assert_eq!(state.windows, Some([501.0 / 2.0 + 1.0, 501.0]));
        source.adapt(&mut state, whole(0.75), 500);
        assert_eq!(state.windows, Some([502.0, 501.0]));
    }

    #[test]
    fn below_the_aim_it_grows_by_steps_and_then_at_once() {
        let (source, mut state) = (windows(), Window { windows: Some([100.0; 2]), ..Window::default() });
        for (number, expected) in [(1, 101.0), (2, 102.0), (3, 102.0 * 2.0 + 1.0), (4, 206.0)] {
            state.sent = number;
            source.adapt(&mut state, whole(0.375), number);
            assert_eq!(state.windows, Some([expected; 2]), "{number}");
        }
        (5..40).for_each(|number| {
            state.sent = number;
            source.adapt(&mut state, whole(0.01), number);
        });
        assert_eq!(source.window(&state), 1000.0, "no more than the full window");
    }

    #[test]
    fn the_mean_goes_by_the_time_of_a_measure() {
        let (source, mut state) = (windows(), Window { sent: 500, ..Window::default() });
        source.adapt(&mut state, Measure { busy: 2.0, over: 500 }, 24);
        assert_eq!(state.busy, Some(1.5));
        source.adapt(&mut state, Measure { busy: 0.5, over: 250 }, 24);
        assert_eq!(state.busy, Some(1.25));
        source.adapt(&mut state, Measure { busy: 0.25, over: 5000 }, 24);
        assert_eq!(state.busy, Some(0.25));
    }

    #[test]
    fn a_packet_is_numbered_by_its_own_end() {
        let (source, mut queue) = (windows(), SendQueue::<Window>::default());
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 24);
        for end in [24, 48] {
            source.stamp(&queue, Pull::Next(1), &mut packet);
            assert_eq!((packet.notes.words[0], number_and_flits(packet.notes.words[1])), (0, (end, 24)));
            source.on_sent(
                &mut queue,
                &Sent { pull: Pull::Next(1), packet: &packet, now: 0, end: 24, time: 24 },
            );
        }
    }

    #[test]
    fn switches_reckon_with_the_round_trip_given() {
        let plan = testing::plan();
        let us = 1_000_000 / plan.tick;
        let base_rtt = Some(Duration::Ps(1_000_000));
        let scheme = Hpcc { base_rtt, telemetry: Telemetry::Pint, ..Hpcc::default() };
        let mut agent = scheme.agent(&plan, &plan.shares[0]);
        let mut words = [0; 2];
        for turn in 1..2000 {
            words = [0; 2];
            let d =
                Departure { time: us / 50, ..testing::departure(turn * us / 50, 10 + 250, 10, Kind::Data) };
            agent.on_dequeue(&d, &mut Cold::default(), &mut words);
        }
        // 250 flits take 25 times the 20 ns of ten: half of the round trip
        let busy = Measure::from(words[0]).unwrap().busy;
        assert!((busy - 1.5).abs() < 1e-3, "{busy}");
    }

    /// As in the simulator of HPCC's authors: what the first packet found differs much among flows that begin at about the same time.
    #[test]
    fn the_first_acknowledgement_only_begins_the_first_round_trip() {
        let (source, mut queue) = (windows(), SendQueue::<Window>::default());
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 24);
        for now in 0..3 {
            source
                .on_sent(&mut queue, &Sent { pull: Pull::Next(1), packet: &packet, now, end: 24, time: 24 });
        }
        let mut ack = |queue: &mut SendQueue<Window>, number: u64| {
            packet.notes.words = [whole(1.5).word(), with_flits(number, &packet)];
            source.on_control(queue, &packet, 10);
        };
        ack(&mut queue, 24);
        assert_eq!((queue.state.windows, queue.state.renewed), (None, 72));
        ack(&mut queue, 48);
        assert_eq!(queue.state.windows, Some([501.0, 1000.0]));
    }

    #[test]
    fn a_queue_is_new_when_both_windows_are_full() {
        let (source, mut queue) = (windows(), SendQueue::<Window>::default());
        queue.state.windows = Some([1000.0, 500.0]);
        assert!(!source.idle(&queue, 9_999) && source.idle(&queue, 10_000));
    }
}
