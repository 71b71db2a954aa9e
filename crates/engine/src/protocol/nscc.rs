//! NSCC: windows by delays and marks together, as Ultra Ethernet has them.
mod window;

use super::red::Marks;
use super::round_trip::RoundTrip;
use super::{Agent, Defaults, Scheme, unless_given};
use crate::core::Tick;
use crate::core::plan::{Plan, Share};
use crate::nic::{NicSet, Nics};
use crate::problem::Problem;
use crate::units::{Duration, Scale, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
pub use window::{Signals, Window};

/// NSCC, network-signaled congestion control, the sender's part of the congestion control of Ultra Ethernet: a window per send queue
/// that goes by the delay of each packet and by whether it was marked.
///
/// # What it does
///
/// A switch marks a packet that leaves with a chance that grows with its output's queue, from 0 at `mark_from` to 1 at `mark_all`. Every
/// acknowledgement tells the mark, and the delay: the round trip less `base_rtt`, which is one for all. By default it is that of the
/// longest way: sources near a hot endpoint have that much delay to spare, and take more than others.
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
/// A packet goes if it fits into the window beside what is under way; one may always go. A window is at least a packet. A delay of
/// `target` counts as longer, and once per round trip is more than `base_rtt` after the last time. The data in a row of the fast increase
/// begin anew with an unmarked delay from `fast_delay` to `target` and with a marked one of `target` or more. What came back is looked at
/// by the first acknowledgement more than `base_rtt` + `target` after the last look, itself included; a queue's first begins. After a quick
/// adaptation marked acknowledgements change nothing but the mean and what came back, until as much as was under way is acknowledged.
///
/// # Where it acts
///
/// Switch (mark at departure), destination (acknowledges), source (window).
///
/// # Parameters
///
/// The defaults are those of the authors' simulator (htsim), for a network without trimming, with its scaling by the bandwidth-delay product,
/// relative to 150 kB, and by the target, relative to 12 us. Its parts of a queue's size, from and beyond which packets are marked, are those of a
/// round trip here. With long packets, `packet.interleave = true` keeps acknowledgements from waiting at a crossbar for long ([Switches](../model.md#switches)).
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
    /// The time of a round trip without queues. By default the longest in the empty network by the fastest ways, as if the slowest channel were on each; where routes
    /// go round, give what those take, or their length counts as a queue.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_rtt: Option<Duration>,
    /// The delay beyond `base_rtt` that is aimed at. By default as much as `base_rtt`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Duration>,
    /// Flits left waiting for an output (in all inputs and its output queue) behind a packet above which it may be marked. By default a fifth of what the endpoints' channel carries in
    /// `base_rtt`, or a quarter of `mark_all` where that is less; if `mark_all` is not given either, at outputs of other rates as much as these carry meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_from: Option<Size>,
    /// Flits beyond which all packets are marked. By default four fifths of what the endpoints' channel carries in `base_rtt`, or half of what a switch can
    /// hold for an endpoint; at outputs of other rates as `mark_from`.
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

    /// The source on this network.
    pub(super) fn source(&self, plan: &Plan) -> Signals {
        let [base_rtt, target, fast_delay, quick_adapt, restart] = self.times(plan);
        let [proportional, fair, constant, fast] =
            self.increases(plan).map(|(_, given, usual)| given.unwrap_or(usual));
        let packet_flits = f64::from(plan.packet_flits);
        Signals {
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
        }
    }

    pub(super) fn marks(&self, plan: &Plan) -> Marks {
        let part = |part: f64| (part * self.product(plan)) as u32;
        Marks {
            from: self.mark_from,
            all: self.mark_all,
            usual: part(0.8),
            first: (part(0.2), 0.25),
            by_rate: true,
        }
    }
}

impl Scheme for Nscc {
    fn tells_rates(&self) -> bool {
        true
    }

    fn problems(&self, scale: &Scale) -> Vec<Problem> {
        Vec::from_iter(Marks::problem(self.mark_from, self.mark_all, scale))
    }

    fn needs_acknowledgements(&self) -> Option<(&'static str, &'static str)> {
        Some(("delays and marks are told by acknowledgements, and there are none", "acknowledge = true"))
    }

    fn remarks(&self, plan: &Plan) -> Vec<String> {
        self.marks(plan).remarks(plan)
    }

    fn round_trip(&self, plan: &Plan) -> Option<RoundTrip> {
        Some(RoundTrip { key: "base_rtt", given: self.base_rtt.is_some(), ticks: self.times(plan)[0] })
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
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
        Box::new(NicSet::new(self.source(plan), plan, share))
    }

    fn agent(&self, plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        Box::new(self.marks(plan).agent(plan, 1.0))
    }
}
