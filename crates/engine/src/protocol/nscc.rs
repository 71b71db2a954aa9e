//! NSCC: windows by delays and marks together, as Ultra Ethernet has them.
use super::flight::{Flight, number_and_flits, with_flits};
use super::red::Marks;
use super::{Agent, Pull, Received, Reply, Scheme, Sent, Source, millionths, unless_given};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use crate::problem::Problem;
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// NSCC, network-signaled congestion control, the sender's part of the congestion control of Ultra Ethernet: a window per send queue
/// that goes by the delay of each packet and by whether it was marked.
///
/// # What it does
///
/// A switch marks a packet that leaves with a chance that grows with its output's queue, from 0 at `mark_from` to 1 at `mark_all`. Every
/// acknowledgement tells the mark, and the delay: the round trip less `base_rtt`.
///
/// Without a mark and with a delay below `target`, the window grows by `proportional_increase`, the less the nearer the delay is to the target.
/// Without a mark and with a longer delay it grows by `fair_increase`: the queue is getting shorter. With a mark and a shorter delay
/// nothing happens: other ways may be free. With a mark and a longer delay it shrinks by `gamma` (mean delay - target) / mean
/// delay, at most by half, and once per round trip. Each delay has the part `gain` in the mean; one over the target without a mark
/// counts there as a quarter of `base_rtt`.
///
/// What it grows by is for a window of acknowledged data, and is added every eight packets or round trip. After a window of data with delays
/// below `fast_delay` it grows with every acknowledgement instead, by `fast_increase` of what that is for; `constant_increase` is added
/// each round trip. If a packet is delayed by `quick_adapt`, and less than an eighth of the largest window came back in a
/// round trip and a `target`, the window becomes what came back.
///
/// # Where it acts
///
/// Switch (mark at departure), destination (acknowledges), source (window).
///
/// # Parameters
///
/// The defaults are those of the authors' simulator (htsim), for a network without trimming, with its scaling by the bandwidth-delay product,
/// relative to 150 kB, and by the target, relative to 12 us. Its parts of a queue's size, from and beyond which packets are marked, are those of a
/// round trip here.
///
/// # Paper
///
/// Ultra Ethernet Consortium, "Ultra Ethernet Specification 1.0", 2025; T. Hoefler and others, "Ultra Ethernet's Design Principles and
/// Architectural Innovations", arXiv:2508.08906; T. Bonato and others, "SMaRTT-REPS: Sender-based Marked Rapidly-adapting Trimmed & Timed
/// Transport with Recycled Entropies", arXiv:2404.01630.
///
/// # Differences from the paper
///
/// Nothing is lost or trimmed, so that only delays call for a quick adaptation, and nothing is retransmitted. There are no entropy values: the routing
/// spreads packets. `base_rtt` is one for the network, not of each pair. What waits for an output is counted in all inputs too. A queue that
/// was silent for `restart` begins anew with the full window, one whose window is full and whose mean delay is below a tenth of the target at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Nscc {
    /// The time of a round trip without queues. By default the longest in the empty network by shortest ways; where routes
    /// go round, give what those take, or their length counts as a queue.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<Duration>,
    /// The delay beyond `base_rtt` that is aimed at. By default as much as `base_rtt`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Duration>,
    /// Flits waiting for an output (all inputs and its output queue) from which packets are marked. By default a fifth of what a channel carries in
    /// `base_rtt`, or a quarter of `mark_all` where that is less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_from: Option<Size>,
    /// Flits beyond which all packets are marked. By default four fifths of what a channel carries in `base_rtt`, or half of what a switch can
    /// hold for an endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_all: Option<Size>,
    /// The largest window, and that of a new queue. By default one and a half times what a channel carries in `base_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Size>,
    /// Growth per round trip without delays and marks, in packets. By default 4, scaled by the network and the target.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proportional_increase: Option<f64>,
    /// Growth per round trip with delays over the target and no marks, in packets. By default 5, scaled by the network.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_increase: Option<f64>,
    /// Growth per round trip in any case, in packets. By default 0.15, scaled by the network.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constant_increase: Option<f64>,
    /// Part of what is acknowledged that is added at once while there is no queue. By default 0.25, scaled by the network.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_increase: Option<f64>,
    /// Delay below which there is no queue. By default a twelfth of `base_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_delay: Option<Duration>,
    /// How strongly a mean delay over the target shrinks the window.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gamma: f64,
    /// Weight of the latest delay in the mean.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gain: f64,
    /// Delay that makes the window what came back. By default four times the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quick_adapt: Option<Duration>,
    /// Silence after which a queue begins anew. By default ten times `base_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<Duration>,
}

impl Default for Nscc {
    fn default() -> Self {
        Self {
            base_rtt: None,
            target: None,
            mark_from: None,
            mark_all: None,
            window: None,
            proportional_increase: None,
            fair_increase: None,
            constant_increase: None,
            fast_increase: None,
            fast_delay: None,
            gamma: 0.8,
            gain: 0.0125,
            quick_adapt: None,
            restart: None,
        }
    }
}

/// Bits that a channel of the network whose parameters the defaults are carries in a round trip, and that round trip, in ps.
const REFERENCE: (f64, f64) = (1.2e6, 12e6);

/// State of a send queue, in flits.
#[derive(Debug, Default)]
pub struct Window {
    flight: Flight,
    /// The window; none if it has not changed yet.
    window: Option<f64>,
    /// What is to be added to it, times the window.
    growth: f64,
    /// What was acknowledged since something was added, and when that was.
    acknowledged: u64,
    adjusted: Tick,
    /// Mean delay.
    delay: f64,
    /// When it was shrunk last.
    decreased: Tick,
    /// What was acknowledged without a queue, in a row, and whether that lets it grow fast.
    unqueued: u64,
    fast: bool,
    /// What came back since the last look, and when the next is due.
    achieved: u64,
    look: Tick,
    /// Of what is under way since the last quick adaptation, flits whose marks mean nothing.
    stale: u64,
}

/// The source of [`Nscc`], in ticks and flits.
pub struct Signals {
    base_rtt: Tick,
    target: f64,
    full: f64,
    /// What the channel carries in `base_rtt`.
    round: f64,
    proportional: f64,
    fair: f64,
    constant: f64,
    fast: f64,
    fast_delay: Tick,
    gamma: f64,
    gain: f64,
    quick_adapt: Tick,
    restart: Tick,
    packet_flits: f64,
    control: u8,
    data: u8,
}

/// Packets after whose acknowledgement the window grows.
const BATCH: f64 = 8.0;
/// Part of the target up to which a mean delay is as none.
const SHORT: f64 = 0.1;
/// Part of the largest window that has to come back lest the window be adapted at once.
const GATE: f64 = 1.0 / 8.0;

impl Signals {
    fn window(&self, state: &Window) -> f64 {
        state.window.unwrap_or(self.full)
    }

    /// When a queue with nothing more to send is as a new one.
    fn end(&self, state: &Window) -> Tick {
        let is_new = self.window(state) >= self.full && state.delay < SHORT * self.target;
        state.flight.end(is_new, self.restart)
    }

    /// Makes the window what came back, if so little did; returns whether the acknowledgement says nothing more.
    fn adapts_at_once(&self, state: &mut Window, delay: Tick, marked: bool, now: Tick) -> bool {
        if state.stale > 0 && marked {
            return true;
        }
        if now <= state.look {
            return false;
        }
        let little = (state.achieved as f64) < GATE * self.full;
        let adapts = state.look > 0 && delay > self.quick_adapt && little;
        if adapts {
            state.window = Some((state.achieved as f64).max(self.packet_flits));
            state.stale = state.flight.under_way();
        }
        state.achieved = 0;
        state.look = now + self.base_rtt + self.target as Tick;
        adapts
    }

    /// An acknowledgement came of so many flits.
    fn adapt(&self, state: &mut Window, delay: Tick, marked: bool, flits: u64, now: Tick) {
        let late = delay as f64 >= self.target;
        // A delay that no mark goes with is that of a queue which is emptying.
        let counted = if late && !marked { self.base_rtt as f64 / 4.0 } else { delay as f64 };
        state.delay += self.gain * (counted - state.delay);
        state.achieved += flits;
        let stops = self.adapts_at_once(state, delay, marked, now);
        state.stale = state.stale.saturating_sub(flits);
        if stops {
            (state.growth, state.acknowledged) = (0.0, 0);
            return;
        }
        let (mut window, flits_now) = (self.window(state), flits as f64);
        state.acknowledged += flits;
        match (late, marked) {
            (true, false) => state.growth += self.fair * flits_now,
            (false, false) => {
                state.unqueued = if delay < self.fast_delay { state.unqueued + flits } else { 0 };
                state.fast = state.unqueued > 0 && (state.fast || state.unqueued as f64 > window);
                if state.fast {
                    window += self.fast * flits_now;
                } else {
                    state.growth += self.proportional * (1.0 - delay as f64 / self.target) * flits_now;
                }
            }
            (true, true) => {
                (state.unqueued, state.fast) = (0, false);
                if state.delay > self.target && now > state.decreased + self.base_rtt {
                    window *= (1.0 - self.gamma * (state.delay - self.target) / state.delay).max(0.5);
                    state.decreased = now;
                }
            }
            (false, true) => {}
        }
        window = window.clamp(self.packet_flits, self.full);
        let round = now >= state.adjusted + self.base_rtt;
        if round || state.acknowledged as f64 > BATCH * self.packet_flits {
            window += state.growth / window + if round { self.constant } else { 0.0 };
            (state.growth, state.acknowledged) = (0.0, 0);
            state.adjusted = if round { now } else { state.adjusted };
        }
        state.window = Some(window.min(self.full));
    }
}

impl Source for Signals {
    type Queue = Window;
    type Sink = ();

    fn pull(&self, queue: &SendQueue<Window>, now: Tick) -> Pull {
        // The next packet has to fit, too.
        let next = f64::from(queue.left()).min(self.packet_flits);
        let room = (self.window(&queue.state) - next).floor() + 1.0;
        queue.state.flight.pull(queue, room, self.data, self.end(&queue.state), now)
    }

    fn on_sent(&self, queue: &mut SendQueue<Window>, sent: &Sent) {
        queue.state.flight.sent(sent);
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Ack
    }

    fn on_control(&self, queue: &mut SendQueue<Window>, packet: &Packet, now: Tick) {
        let [injected, word] = packet.notes.words;
        let (marked, flits) = number_and_flits(word);
        queue.state.flight.acknowledged(flits, now);
        let delay = (now - injected).saturating_sub(self.base_rtt);
        self.adapt(&mut queue.state, delay, marked == 1, flits, now);
    }

    fn allowed_towards(&self, queue: &SendQueue<Window>, _dst: u32, _now: Tick) -> Option<(u32, Tick)> {
        Some((millionths(self.window(&queue.state) / self.round), 0))
    }

    fn idle(&self, queue: &SendQueue<Window>, now: Tick) -> bool {
        queue.state.flight.is_empty() && self.end(&queue.state) <= now
    }

    fn reply(&self, _: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        let packet = received.packet;
        if let Some(ack) = received.acknowledge(true, self.control) {
            let words = [packet.cold.injected, with_flits(packet.cold.marked().into(), packet)];
            replies.push(Reply { words, ..ack });
        }
    }
}

impl Nscc {
    /// The round trip, the target, the delays of fast increase and of a quick adaptation, and the silence, in ticks.
    fn times(&self, plan: &Plan) -> [Tick; 5] {
        let given = |time: Option<Duration>, usual: Tick| time.map_or(usual, |time| plan.ticks(time));
        let base = given(self.base_rtt, plan.round_trip()).max(1);
        let target = given(self.target, base).max(1);
        let fast = given(self.fast_delay, base.div_ceil(12));
        [base, target, fast, given(self.quick_adapt, 4 * target), given(self.restart, 10 * base)]
    }

    /// What a channel carries in a round trip, in flits.
    fn product(&self, plan: &Plan) -> f64 {
        plan.carried(self.times(plan)[0])
    }

    fn full(&self, plan: &Plan) -> f64 {
        let usual = 1.5 * self.product(plan);
        self.window.map_or(usual, |size| plan.flits(size).into()).max(plan.packet_flits.into())
    }

    /// By key, the increases that are given and those that are not.
    fn increases(&self, plan: &Plan) -> [(&'static str, Option<f64>, f64); 4] {
        let network = self.product(plan) * plan.scale.flit_bits as f64 / REFERENCE.0;
        let target = (self.times(plan)[1] * plan.tick) as f64 / REFERENCE.1;
        [
            ("proportional_increase", self.proportional_increase, 4.0 * network * target),
            ("fair_increase", self.fair_increase, 5.0 * network),
            ("constant_increase", self.constant_increase, 0.15 * network),
            ("fast_increase", self.fast_increase, 0.25 * network),
        ]
    }

    fn marks(&self, plan: &Plan) -> Marks {
        let part = |part: f64| (part * self.product(plan)) as u32;
        Marks { from: self.mark_from, all: self.mark_all, usual: part(0.8), first: (part(0.2), 0.25) }
    }
}

impl Scheme for Nscc {
    fn tells_rates(&self) -> bool {
        true
    }

    fn problems(&self) -> Vec<Problem> {
        Vec::from_iter(Marks::problem(self.mark_from, self.mark_all))
    }

    fn needs_acknowledgements(&self) -> Option<(&'static str, &'static str)> {
        Some(("delays and marks are told by acknowledgements, and there are none", "acknowledge = true"))
    }

    fn remarks(&self, plan: &Plan) -> Vec<String> {
        self.marks(plan).remarks(plan)
    }

    fn defaults(&self, plan: &Plan) -> Vec<(&'static str, Value)> {
        let [base, target, fast, quick, restart] =
            self.times(plan).map(|time| json!(Duration::Ps(time * plan.tick)));
        let mut all = unless_given([
            ("base_rtt", self.base_rtt.is_some(), base),
            ("target", self.target.is_some(), target),
            ("fast_delay", self.fast_delay.is_some(), fast),
            ("quick_adapt", self.quick_adapt.is_some(), quick),
            ("restart", self.restart.is_some(), restart),
            ("window", self.window.is_some(), json!(Size::Flits(self.full(plan) as u64))),
        ]);
        all.extend(self.marks(plan).defaults(plan));
        let increases = self.increases(plan).map(|(key, given, usual)| (key, given.is_some(), json!(usual)));
        all.extend(unless_given(increases));
        all
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, _acknowledge: bool) -> Box<dyn Nics> {
        let [base_rtt, target, fast_delay, quick_adapt, restart] = self.times(plan);
        let [proportional, fair, constant, fast] =
            self.increases(plan).map(|(_, given, usual)| given.unwrap_or(usual));
        let packet_flits = f64::from(plan.packet_flits);
        let source = Signals {
            base_rtt,
            target: target as f64,
            full: self.full(plan),
            round: self.product(plan),
            proportional: proportional * packet_flits,
            fair: fair * packet_flits,
            constant: constant * packet_flits,
            fast,
            fast_delay,
            gamma: self.gamma,
            gain: self.gain,
            quick_adapt,
            restart,
            packet_flits,
            control: plan.control_class(),
            data: plan.data_class(),
        };
        Box::new(NicSet::new(source, plan, share))
    }

    fn agent(&self, plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        Box::new(self.marks(plan).agent(plan, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::queue::Message;

    fn signals() -> Signals {
        Signals {
            base_rtt: 1000,
            target: 1000.0,
            full: 1500.0,
            round: 1000.0,
            proportional: 40.0,
            fair: 50.0,
            constant: 1.0,
            fast: 0.25,
            fast_delay: 100,
            gamma: 0.8,
            gain: 1.0,
            quick_adapt: 4000,
            restart: 10_000,
            packet_flits: 10.0,
            control: 0,
            data: 1,
        }
    }

    /// A window of acknowledgements of ten flits within a round trip, and what the window becomes.
    fn after(source: &Signals, delay: Tick, marked: bool) -> f64 {
        let mut state = Window {
            window: Some(500.0),
            delay: delay as f64,
            look: 9000,
            adjusted: 5000,
            ..Window::default()
        };
        (0..50).for_each(|turn| source.adapt(&mut state, delay, marked, 10, 5001 + turn * 10));
        source.adapt(&mut state, delay, marked, 10, 6000);
        source.window(&state)
    }

    #[test]
    fn delay_and_mark_together_decide_what_becomes_of_a_window() {
        let source = signals();
        // Half the target, no mark: half of the increase per round trip, and the constant one.
        let grown = after(&source, 500, false) - 500.0;
        assert!((20.0..22.0).contains(&grown), "{grown}");
        assert_eq!(after(&source, 500, true), 501.0, "a mark alone changes nothing");
        let fair = after(&source, 2000, false) - 500.0;
        assert!((48.0..52.0).contains(&fair), "{fair}");
        // Twice the target: 1 - 0.8 / 2 of the window, once.
        assert_eq!(after(&source, 2000, true), 301.0);
        let by_half = after(&source, 3_999, true);
        assert_eq!(by_half, 251.0, "never by more than half");
    }

    #[test]
    fn a_window_of_data_without_a_queue_lets_it_grow_fast() {
        let source = Signals { constant: 0.0, proportional: 0.0, ..signals() };
        let mut state = Window { window: Some(50.0), look: 9000, adjusted: 5000, ..Window::default() };
        (0..5).for_each(|_| source.adapt(&mut state, 0, false, 10, 5001));
        assert_eq!(source.window(&state), 50.0);
        (0..4).for_each(|_| source.adapt(&mut state, 0, false, 10, 5002));
        assert_eq!(source.window(&state), 60.0, "a quarter of what is acknowledged");
        source.adapt(&mut state, 100, false, 10, 5003);
        source.adapt(&mut state, 0, false, 10, 5004);
        assert_eq!(source.window(&state), 60.0, "a delay ends it");
    }

    #[test]
    fn a_long_delay_with_little_coming_back_makes_the_window_what_came_back() {
        let (source, mut queue) = (signals(), SendQueue::<Window>::default());
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 10);
        for now in 0..40 {
            source.on_sent(&mut queue, &Sent { pull: Pull::Next(1), packet: &packet, now, end: now + 10 });
        }
        let state = &mut queue.state;
        source.adapt(state, 5000, true, 10, 6000);
        assert_eq!(state.look, 8000);
        (0..4).for_each(|turn| source.adapt(state, 5000, true, 10, 7000 + turn));
        source.adapt(state, 5000, true, 10, 8001);
        assert_eq!((source.window(state), state.stale), (50.0, 390));
        // Marks of what was under way then mean nothing.
        source.adapt(state, 2000, true, 10, 9500);
        assert_eq!(source.window(state), 50.0);
        state.stale = 0;
        source.adapt(state, 2000, true, 10, 9600);
        assert!(source.window(state) < 50.0);
    }

    fn adjusted(window: f64) -> Window {
        Window { window: Some(window), look: 90_000, adjusted: 5000, ..Window::default() }
    }

    #[test]
    fn a_long_delay_without_a_mark_counts_as_a_quarter_of_the_round_trip() {
        let source = Signals { gain: 0.5, ..signals() };
        let mut state = Window { delay: 400.0, ..adjusted(500.0) };
        source.adapt(&mut state, 2000, false, 10, 5001);
        assert_eq!(state.delay, 325.0);
    }

    #[test]
    fn nothing_is_adapted_at_once_where_an_eighth_came_back() {
        let source = signals();
        for (achieved, expected) in [(170, 180.0), (180, 1500.0)] {
            let mut state = Window { look: 8000, achieved, ..adjusted(1500.0) };
            source.adapt(&mut state, 5000, false, 10, 8001);
            assert!((source.window(&state) - expected).abs() < 2.0, "{}", source.window(&state));
        }
    }

    #[test]
    fn a_mark_with_a_long_delay_ends_fast_growth() {
        let source = signals();
        let mut state = Window { unqueued: 600, fast: true, ..adjusted(500.0) };
        source.adapt(&mut state, 2000, true, 10, 5001);
        let before = source.window(&state);
        source.adapt(&mut state, 0, false, 10, 5002);
        assert_eq!((source.window(&state), state.fast), (before, false));
    }

    #[test]
    fn a_queue_that_was_delayed_is_not_as_new() {
        let source = signals();
        let mut queue = SendQueue::<Window>::default();
        queue.state = Window { delay: 200.0, ..adjusted(1500.0) };
        assert!(!source.idle(&queue, 9_999) && source.idle(&queue, 10_000));
        queue.state.delay = 99.0;
        assert!(source.idle(&queue, 1));
    }

    #[test]
    fn the_next_packet_has_to_fit_into_the_window() {
        let (source, mut queue) = (signals(), SendQueue::<Window>::default());
        queue.push(Message::new(0, 3, 100, 0));
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 8);
        source.on_sent(&mut queue, &Sent { pull: Pull::Next(1), packet: &packet, now: 0, end: 8 });
        for (window, expected) in [(17.0, Pull::Wait), (18.0, Pull::Next(1))] {
            queue.state.window = Some(window);
            assert_eq!(source.pull(&queue, 10), expected, "{window}");
        }
    }

    #[test]
    fn a_window_stays_between_a_packet_and_the_full_one() {
        let source = signals();
        let mut state = adjusted(1500.0);
        source.adapt(&mut state, 500, false, 10, 6000);
        assert_eq!(source.window(&state), 1500.0);
        let mut state = adjusted(12.0);
        source.adapt(&mut state, 3_999, true, 10, 5500);
        assert_eq!(source.window(&state), 10.0);
    }

    #[test]
    fn the_delay_is_the_round_trip_less_that_of_the_empty_network() {
        let (source, mut queue) = (signals(), SendQueue::<Window>::default());
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Data, 10);
        source.on_sent(&mut queue, &Sent { pull: Pull::Next(1), packet: &packet, now: 100, end: 110 });
        let word = with_flits(1, &packet);
        let mut ack = Packet::default();
        ack.hot.set_size(Kind::Ack, 1);
        ack.notes.words = [100, word];
        source.on_control(&mut queue, &ack, 1500);
        assert_eq!(queue.state.delay, 400.0);
    }

    #[test]
    fn a_mark_of_before_the_window_was_adapted_at_once_ends_what_it_would_have_grown() {
        let mut state = Window { stale: 100, growth: 999.0, acknowledged: 50, ..adjusted(500.0) };
        signals().adapt(&mut state, 500, true, 10, 5001);
        assert_eq!((state.growth, state.acknowledged), (0.0, 0));
    }
}
