//! Swift: windows that keep the round trip near a target.
use super::flight::{Flight, number_and_flits, with_flits};
use super::round_trip::RoundTrip;
use super::{Defaults, Pull, Received, Reply, Scheme, Sent, Source, millionths, unless_given};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use crate::problem::Problem;
use crate::units::{Duration, Scale};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// Swift, the congestion control of Google's data centres: a window per send queue that grows while packets are acknowledged
/// sooner than a target, and shrinks by how much later they are.
///
/// # What it does
///
/// Every acknowledgement tells the source how long packet and acknowledgement took. Below the target the window grows by `ai` packets a
/// round trip; above it is multiplied, at most once per round trip, by 1 - `beta` (delay - target) / delay, and at most
/// by 1 - `max_mdf`. The target is `base_target`, and `hop_target` for every switch that the packet passed, and up to
/// `fs_range` the smaller the window is, so that flows of one round trip that share a channel come to equal windows; where `base_target`
/// is that of the longest way, as by default, sources near a hot endpoint have delay to spare and take more than others. With a window of less than a
/// packet, the packets of a queue are a round trip over the window apart: the latest round trip, rounded down to a tick, from start to
/// start; a later acknowledgement changes the wait. A packet may go while what is under way is less than the window, so that one may
/// exceed it; one may always go.
///
/// # Where it acts
///
/// Source (window), destination (acknowledges). Nothing in the switches.
///
/// # Parameters
///
/// They have the paper's names. It gives the formulas, and few values; the defaults of `ai`, `beta`, `max_mdf`, `fs_min_cwnd` and
/// `fs_max_cwnd` are those that others simulate with (htsim). A `base_target` that is less than a round trip in the empty
/// network leaves channels idle; on networks whose ways differ in length, or with routes that go round, it should cover the longest. With long packets, `packet.interleave = true` keeps acknowledgements from
/// waiting at a crossbar for long, which this control takes for congestion ([Switches](../model.md#switches)).
///
/// # Paper
///
/// G. Kumar, N. Dukkipati, K. Jang, H. M. G. Wassel, X. Wu, B. Montazeri, Y. Wang, K. Springborn, C. Alfeld, M. Ryan, D. Wetherall, A. Vahdat,
/// "Swift: Delay is Simple and Effective for Congestion Control in the Datacenter", SIGCOMM 2020.
///
/// # Differences from the paper
///
/// Only the network's delay counts, since endpoints here take packets as they come, so that there is one window, not two. Nothing is
/// lost, so nothing is retransmitted. Windows count flits, in units of the largest packet, so that small packets take and
/// give what they are. A queue that was silent for `restart` begins anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Swift {
    /// Target of the delay of a packet and its acknowledgement. By default the longest round trip in the empty network by the fastest
    /// ways, as if the slowest channel were on each, and 8 largest packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_target: Option<Duration>,
    /// Added to the target for every switch on the packet's way.
    pub hop_target: Duration,
    /// Packets that the window grows by per round trip below the target.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub ai: f64,
    /// How strongly a delay over the target shrinks the window.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub beta: f64,
    /// The largest part of the window that is taken at once.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_mdf: f64,
    /// What is added to the target at a window of `fs_min_cwnd` or less. By default as much as `base_target`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_range: Option<Duration>,
    /// Window, in packets, up to which the whole `fs_range` is added.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub fs_min_cwnd: f64,
    /// Window, in packets, from which nothing is added.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub fs_max_cwnd: f64,
    /// The smallest window, in packets.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub min_cwnd: f64,
    /// The largest window, in packets. By default what the channel carries in `base_target`, in whole packets.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cwnd: Option<f64>,
    /// The window of a new queue, in packets: by default, and at most, `max_cwnd`.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_cwnd: Option<f64>,
    /// Silence after which a queue begins anew. By default ten times `base_target`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<Duration>,
}

impl Default for Swift {
    fn default() -> Self {
        Self {
            base_target: None,
            hop_target: Duration::Ps(0),
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            fs_range: None,
            fs_min_cwnd: 0.1,
            fs_max_cwnd: 100.0,
            min_cwnd: 0.001,
            max_cwnd: None,
            initial_cwnd: None,
            restart: None,
        }
    }
}

/// State of a send queue.
#[derive(Debug, Default)]
pub struct Window {
    flight: Flight,
    /// The window in packets; none yet if it has not changed.
    cwnd: Option<f64>,
    /// When it was shrunk last.
    decreased: Tick,
    /// The last delay.
    delay: Tick,
}

/// The source of [`Swift`], in ticks.
pub struct Delays {
    base_target: Tick,
    hop_target: Tick,
    ai: f64,
    beta: f64,
    max_mdf: f64,
    fs_range: f64,
    /// The range goes with `slope` / √window + `offset`.
    slope: f64,
    offset: f64,
    min_cwnd: f64,
    max_cwnd: f64,
    initial_cwnd: f64,
    restart: Tick,
    packet_flits: f64,
    /// Of the largest packet on the endpoint's channel.
    packet_time: f64,
    control: u8,
    data: u8,
}

impl Delays {
    fn cwnd(&self, state: &Window) -> f64 {
        state.cwnd.unwrap_or(self.initial_cwnd)
    }

    /// When a queue with nothing more to send is as a new one.
    fn end(&self, state: &Window) -> Tick {
        state.flight.end(self.cwnd(state) == self.initial_cwnd, self.restart)
    }

    /// The target at a window, for a packet that has passed so many switches.
    fn target(&self, cwnd: f64, hops: u64) -> f64 {
        let scaled = (self.slope / cwnd.sqrt() + self.offset).clamp(0.0, self.fs_range);
        (self.base_target + hops * self.hop_target) as f64 + scaled
    }

    /// Packets of a window below one are a round trip over the window apart.
    fn pace(&self, state: &mut Window) {
        let cwnd = self.cwnd(state);
        state.flight.pace(if cwnd < 1.0 { state.delay as f64 / cwnd } else { 0.0 });
    }

    /// An acknowledgement came of so many packets.
    fn adapt(&self, state: &mut Window, delay: Tick, hops: u64, packets: f64, now: Tick) {
        let before = self.cwnd(state);
        let target = self.target(before, hops);
        let late = delay as f64 - target;
        let mut cwnd = before;
        if late < 0.0 {
            cwnd += self.ai * packets / before.max(1.0);
        } else if now >= state.decreased + delay {
            cwnd *= (1.0 - self.beta * late / delay as f64).max(1.0 - self.max_mdf);
            state.decreased = now;
        }
        state.cwnd = Some(cwnd.clamp(self.min_cwnd, self.max_cwnd));
        state.delay = delay;
    }
}

impl Source for Delays {
    type Queue = Window;
    type Sink = ();

    fn pull(&self, queue: &SendQueue<Window>, now: Tick) -> Pull {
        let window = self.cwnd(&queue.state) * self.packet_flits;
        queue.state.flight.pull(queue, window, self.data, self.end(&queue.state), now)
    }

    fn on_sent(&self, queue: &mut SendQueue<Window>, sent: &Sent) {
        queue.state.flight.sent(sent);
        self.pace(&mut queue.state);
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Ack
    }

    fn on_control(&self, queue: &mut SendQueue<Window>, packet: &Packet, now: Tick) {
        let [injected, word] = packet.notes.words;
        let (hops, flits) = number_and_flits(word);
        queue.state.flight.acknowledged(flits, now);
        let delay = (now - injected).max(1);
        self.adapt(&mut queue.state, delay, hops, flits as f64 / self.packet_flits, now);
        self.pace(&mut queue.state);
    }

    fn allowed_towards(&self, queue: &SendQueue<Window>, _dst: u32, _now: Tick) -> Option<(u32, Tick)> {
        let state = &queue.state;
        let part = self.cwnd(state) * self.packet_time / state.delay.max(1) as f64;
        Some((millionths(if state.cwnd.is_some() { part } else { 1.0 }), 0))
    }

    fn idle(&self, queue: &SendQueue<Window>, now: Tick) -> bool {
        queue.state.flight.is_empty() && self.end(&queue.state) <= now
    }

    fn reply(&self, _: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        let packet = received.packet;
        if let Some(ack) = received.acknowledge(true, self.control) {
            let words = [packet.cold.injected, with_flits(packet.hot.hops.into(), packet)];
            replies.push(Reply { words, ..ack });
        }
    }
}

impl Swift {
    /// The base target, the range, and the silence, in ticks.
    fn times(&self, plan: &Plan) -> [Tick; 3] {
        let queue = 8 * plan.packet_time();
        let base = self.base_target.map_or_else(|| plan.round_trip() + queue, |time| plan.ticks(time));
        let range = self.fs_range.map_or(base, |time| plan.ticks(time));
        [base, range, self.restart.map_or(10 * base, |time| plan.ticks(time))]
    }

    fn max_cwnd(&self, plan: &Plan, base: Tick) -> f64 {
        let packet = plan.packet_time();
        self.max_cwnd.unwrap_or_else(|| base.div_ceil(packet).max(1) as f64).max(self.min_cwnd)
    }

    fn initial_cwnd(&self, plan: &Plan, base: Tick) -> f64 {
        let most = self.max_cwnd(plan, base);
        self.initial_cwnd.map_or(most, |cwnd| cwnd.clamp(self.min_cwnd, most))
    }
}

impl Scheme for Swift {
    fn tells_rates(&self) -> bool {
        true
    }

    fn needs_acknowledgements(&self) -> Option<(&'static str, &'static str)> {
        Some(("delays are those of acknowledgements, and there are none", "acknowledge = true"))
    }

    fn problems(&self, _: &Scale) -> Vec<Problem> {
        let told = || {
            Problem::new(
                "fs_max_cwnd",
                "it is not over fs_min_cwnd",
                "a window over fs_min_cwnd, such as 100",
            )
        };
        let small = self.max_cwnd.filter(|&most| most < self.min_cwnd).map(|most| {
            Problem::new("max_cwnd", format!("{most}, but min_cwnd is {}", self.min_cwnd), "at least that")
        });
        let new = self
            .initial_cwnd
            .filter(|&new| new < self.min_cwnd || self.max_cwnd.is_some_and(|most| new > most));
        let outside = new.map(|new| {
            Problem::new(
                "initial_cwnd",
                format!("{new} is not from min_cwnd to max_cwnd"),
                "a window between them",
            )
        });
        (self.fs_max_cwnd <= self.fs_min_cwnd).then(told).into_iter().chain(small).chain(outside).collect()
    }

    fn round_trip(&self, plan: &Plan) -> Option<RoundTrip> {
        let ticks = self.times(plan)[0] + plan.ticks(self.hop_target);
        Some(RoundTrip { key: "base_target", given: self.base_target.is_some(), ticks })
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
        let times = self.times(plan);
        let [base, range, restart] = times.map(|time| json!(Duration::Ps(time * plan.tick)));
        unless_given([
            ("base_target", self.base_target.is_some(), base),
            ("fs_range", self.fs_range.is_some(), range),
            ("restart", self.restart.is_some(), restart),
            ("max_cwnd", self.max_cwnd.is_some(), json!(self.max_cwnd(plan, times[0]))),
            ("initial_cwnd", self.initial_cwnd.is_some(), json!(self.initial_cwnd(plan, times[0]))),
        ])
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, _acknowledge: bool) -> Box<dyn Nics> {
        let [base_target, fs_range, restart] = self.times(plan);
        let [least, most] = [self.fs_min_cwnd, self.fs_max_cwnd].map(|cwnd| 1.0 / cwnd.sqrt());
        let slope = fs_range as f64 / (least - most);
        let source = Delays {
            base_target,
            hop_target: plan.ticks(self.hop_target),
            ai: self.ai,
            beta: self.beta,
            max_mdf: self.max_mdf,
            fs_range: fs_range as f64,
            slope,
            offset: -slope * most,
            min_cwnd: self.min_cwnd,
            max_cwnd: self.max_cwnd(plan, base_target),
            initial_cwnd: self.initial_cwnd(plan, base_target),
            restart,
            packet_flits: plan.packet_flits.into(),
            packet_time: plan.packet_time() as f64,
            control: plan.control_class(),
            data: plan.data_class(),
        };
        Box::new(NicSet::new(source, plan, share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::queue::Message;

    fn delays() -> Delays {
        Delays {
            base_target: 1000,
            hop_target: 10,
            ai: 1.0,
            beta: 0.8,
            max_mdf: 0.5,
            fs_range: 0.0,
            slope: 0.0,
            offset: 0.0,
            min_cwnd: 0.01,
            max_cwnd: 40.0,
            initial_cwnd: 40.0,
            restart: 10_000,
            packet_flits: 24.0,
            packet_time: 24.0,
            control: 0,
            data: 1,
        }
    }

    #[test]
    fn windows_that_do_not_fit_each_other_are_refused() {
        let scale = Scale { flit_bits: 100, packet_flits: 24, host: crate::units::Rate(100_000_000_000) };
        let keys =
            |swift: Swift| swift.problems(&scale).into_iter().map(|problem| problem.path).collect::<Vec<_>>();
        let swift = || Swift { min_cwnd: 2.0, max_cwnd: Some(8.0), ..Swift::default() };
        assert!(keys(swift()).is_empty());
        assert_eq!(keys(Swift { max_cwnd: Some(1.0), ..swift() }), ["max_cwnd"]);
        assert_eq!(keys(Swift { fs_max_cwnd: 0.1, ..swift() }), ["fs_max_cwnd"]);
        for (new, refused) in [(1.9, true), (2.0, false), (8.0, false), (8.1, true)] {
            let told = keys(Swift { initial_cwnd: Some(new), ..swift() });
            assert_eq!(told == ["initial_cwnd"], refused, "{new}");
        }
    }

    #[test]
    fn a_new_queue_has_the_first_window_and_one_that_has_it_again_is_as_new() {
        let source = Delays { initial_cwnd: 10.0, ..delays() };
        let mut state = Window::default();
        assert_eq!((source.cwnd(&state), source.end(&state)), (10.0, 0));
        source.adapt(&mut state, 900, 0, 1.0, 5000);
        assert_eq!((source.cwnd(&state), source.end(&state)), (10.1, 10_000));
        state.cwnd = Some(10.0);
        assert_eq!(source.end(&state), 0);
    }

    #[test]
    fn a_window_grows_by_a_packet_a_round_trip_and_shrinks_once_a_round_trip() {
        let (source, mut state) = (delays(), Window { cwnd: Some(10.0), ..Window::default() });
        (0..10).for_each(|_| source.adapt(&mut state, 900, 0, 1.0, 5000));
        assert!((10.9..11.0).contains(&source.cwnd(&state)), "{}", source.cwnd(&state));
        state.cwnd = Some(10.0);
        source.adapt(&mut state, 1250, 0, 1.0, 6000);
        assert_eq!(source.cwnd(&state), 10.0 * (1.0 - 0.8 * 250.0 / 1250.0));
        source.adapt(&mut state, 1250, 0, 1.0, 7249);
        assert_eq!(state.decreased, 6000, "not twice in a round trip");
        source.adapt(&mut state, 100_000, 0, 1.0, 200_000);
        assert_eq!(source.cwnd(&state), 8.4 * 0.5, "by no more than half");
        // Switches on the way raise the target.
        source.adapt(&mut state, 1250, 26, 1.0, 900_000);
        assert!(source.cwnd(&state) > 4.2);
    }

    #[test]
    fn the_target_is_higher_the_smaller_the_window() {
        let (least, most) = (1.0 / 0.1_f64.sqrt(), 1.0 / 100.0_f64.sqrt());
        let slope = 500.0 / (least - most);
        let source = Delays { fs_range: 500.0, slope, offset: -slope * most, ..delays() };
        let at = |cwnd| source.target(cwnd, 0);
        assert!((at(0.1) - 1500.0).abs() < 1e-6 && (at(100.0) - 1000.0).abs() < 1e-6);
        assert_eq!([at(0.01), at(1e4)], [1500.0, 1000.0]);
        assert!(at(1.0) > at(2.0) && at(2.0) > at(50.0));
    }

    #[test]
    fn packets_of_a_window_below_one_are_paced() {
        let source = delays();
        let mut queue = SendQueue::<Window>::default();
        queue.state = Window { cwnd: Some(0.25), delay: 1000, ..Window::default() };
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 24);
        source.on_sent(&mut queue, &Sent { pull: Pull::Next(1), packet: &packet, now: 7, end: 31, time: 24 });
        queue.push(Message::new(0, 3, 24, 0));
        queue.state.flight.acknowledged(24, 1007);
        assert_eq!(source.pull(&queue, 1007), Pull::At(4007));
        // A window that grows lets the next go sooner.
        queue.state.cwnd = Some(0.5);
        source.pace(&mut queue.state);
        assert_eq!(source.pull(&queue, 1007), Pull::At(2007));
    }

    #[test]
    fn below_a_packet_a_window_grows_by_packets_above_it_by_round_trips() {
        let source = delays();
        let mut s = Window { cwnd: Some(0.5), ..Window::default() };
        source.adapt(&mut s, 900, 0, 1.0, 5000);
        assert_eq!(source.cwnd(&s), 1.5);
        let mut s = Window { cwnd: Some(10.0), ..Window::default() };
        source.adapt(&mut s, 900, 0, 0.5, 5000);
        assert_eq!(source.cwnd(&s), 10.05);
    }

    #[test]
    fn an_acknowledgement_tells_when_its_packet_left_and_the_switches_it_passed() {
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 24);
        (packet.hot.hops, packet.cold.injected) = (3, 77);
        let mut replies = Vec::new();
        delays().reply(
            &mut (),
            &Received { packet: &packet, droppable: false, grade: 0, flow: 0, now: 500 },
            &mut replies,
        );
        assert_eq!((replies[0].words[0], number_and_flits(replies[0].words[1])), (77, (3, 24)));
    }

    #[test]
    fn a_queue_with_less_than_the_full_window_is_not_forgotten() {
        let source = delays();
        let mut queue = SendQueue::<Window>::default();
        queue.state.cwnd = Some(39.9);
        assert!(!source.idle(&queue, 9_999) && source.idle(&queue, 10_000));
        queue.state.cwnd = Some(40.0);
        assert!(source.idle(&queue, 1));
    }

    #[test]
    fn the_pace_is_the_last_delay_over_the_window() {
        let source = delays();
        let mut queue = SendQueue::<Window>::default();
        queue.state = Window { cwnd: Some(0.25), delay: 700, ..Window::default() };
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 24);
        source.on_sent(&mut queue, &Sent { pull: Pull::Next(1), packet: &packet, now: 7, end: 31, time: 24 });
        queue.push(Message::new(0, 3, 24, 0));
        queue.state.flight.acknowledged(24, 1007);
        assert_eq!(source.pull(&queue, 1007), Pull::At(2807));
    }
}
