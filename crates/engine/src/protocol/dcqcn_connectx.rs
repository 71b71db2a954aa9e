//! DCQCN as NICs have it: told of marks, the source looks at fixed times whether to cut its rate, and time alone raises it again.
use super::notified::{Law, Notified, half_way};
use super::red::Marks;
use super::{Agent, Defaults, Scheme, least_rate, unless_given};
use crate::core::plan::{Plan, Share};
use crate::core::{NEVER, Tick};
use crate::nic::{NicSet, Nics};
use crate::problem::Problem;
use crate::units::{Duration, Rate, Scale, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// DCQCN as Mellanox's NICs (from ConnectX-4 on) have it: as `dcqcn`, but the source cuts its rate at fixed times, and time alone raises it again.
///
/// # What it does
///
/// A switch marks a packet that leaves with a chance that grows from 0 to `mark_chance` while its output's queue grows from
/// `mark_from` to `mark_all`, and surely beyond. A destination that gets a marked packet tells the source, at most once per
/// `cnp_interval`. The source of that send queue cuts its rate by alpha / 2 at the end of each `cut_timer` in which it was told, and each
/// `timer` since the last cut raises it again: `recovery_stages` times half way back to a target, then once more with a target
/// that grows by `increase`, then with one that grows by `hyper_increase` each time, up to the channel's rate.
///
/// The first notification sets alpha to 1, and from it on count all times of `cut_timer` and of `alpha_timer`. At the end of
/// each `alpha_timer` alpha becomes (1 - `gain`) alpha, plus `gain` if the source was told in it; then come what raises the rate and what cuts
/// it at the same time, in this order. A cut sets the target to the rate before it, unless nothing raised the rate since the cut before
/// and `clamp_target` is false, and begins the timer of increases anew. The next packet may start the packet's time, divided by the rate
/// when it starts, after that; what changes later does not move it. `cnp_interval` counts from the arrival of the packet that was told of.
///
/// # Where it acts
///
/// Switch (mark at departure), destination (notification), source (rate of the send queue).
///
/// # Parameters
///
/// The defaults are those that `run.py` of the simulator of HPCC's authors sets for it, but for `rate_min`, which is that of its `mix/config.txt` (10 times as much
/// in `run.py`). What depends on the channel's rate is that of an endpoint's; queues
/// of faster and slower channels are marked from as much longer and shorter ones, unless either length is given.
///
/// # Paper
///
/// Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron, J. Padhye, S. Raindel, M. H. Yahia, M. Zhang, "Congestion Control for
/// Large-Scale RDMA Deployments", SIGCOMM 2015; what NICs do: Y. Li, R. Miao, H. H. Liu, Y. Zhuang, F. Feng, L. Tang, Z. Cao, M. Zhang, F. Kelly,
/// M. Alizadeh, M. Yu, "HPCC: High Precision Congestion Control", SIGCOMM 2019, and its simulator (github.com/alibaba-edu/High-Precision-Congestion-Control).
///
/// # Differences from the paper
///
/// In the paper (`dcqcn`) each notification cuts the rate, alpha falls only in times without one, data raise the rate as time does, and the target grows by
/// multiples of its last step. Of what NICs can be set to, the rate after the first notification (which that simulator leaves as it is), the largest cut and the byte
/// counter are left out. A rate within a thousandth of the channel's is the channel's; a send queue that is empty by then is forgotten, with its
/// alpha, when it is next looked at: each `timer`. What waits for an output is counted in all inputs too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DcqcnConnectx {
    /// Flits left waiting for an output (in all inputs and its output queue) behind a packet above which it may be marked. By default 32 us of the
    /// channel, or a quarter of the default `mark_all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_from: Option<Size>,
    /// Flits beyond which all packets are marked. By default 128 us of the channel, or half of what a switch can hold for an endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_all: Option<Size>,
    /// Chance of a mark just below `mark_all`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub mark_chance: f64,
    /// Shortest time between two notifications of a destination to a source.
    pub cnp_interval: Duration,
    /// Weight of the latest in alpha.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gain: f64,
    /// Time between two changes of alpha.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub alpha_timer: Duration,
    /// Time between two looks whether to cut the rate.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cut_timer: Duration,
    /// Time between two increases of the rate.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub timer: Duration,
    /// Whether a cut sets the target to the rate before it even if nothing raised the rate since the cut before.
    pub clamp_target: bool,
    /// Increases that lead half way back to the target.
    pub recovery_stages: u32,
    /// What then is added to the target. By default a 5000th of the channel's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increase: Option<Rate>,
    /// What is added to the target at each increase after that. By default a 500th of the channel's rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper_increase: Option<Rate>,
    /// The lowest rate.
    pub rate_min: Rate,
}

impl Default for DcqcnConnectx {
    fn default() -> Self {
        Self {
            mark_from: None,
            mark_all: None,
            mark_chance: 0.2,
            cnp_interval: Duration::Ps(0),
            gain: 1.0 / 256.0,
            alpha_timer: Duration::Ps(1_000_000),
            cut_timer: Duration::Ps(4_000_000),
            timer: Duration::Ps(300_000_000),
            clamp_target: false,
            recovery_stages: 1,
            increase: None,
            hyper_increase: None,
            rate_min: Rate(100_000_000),
        }
    }
}

/// State of a send queue. Rates are in parts of the channel's.
#[derive(Debug, Clone, Copy)]
pub struct Limiter {
    /// The rate and what it returns to; both 1 if it is not limited.
    rate: f64,
    target: f64,
    alpha: f64,
    /// When the source was first told, from which on the times of looks count; never before.
    since: Tick,
    /// When alpha last changed, and whether the source was told since.
    alpha_at: Tick,
    fresh: bool,
    /// When the rate is cut next; never if the source was not told since the last look.
    cut_at: Tick,
    /// When the timer of increases last began, and how often it increased the rate since the cut.
    timer_at: Tick,
    times: u32,
}

impl Default for Limiter {
    fn default() -> Self {
        let (rate, target, alpha, fresh) = (1.0, 1.0, 1.0, false);
        let (since, cut_at) = (NEVER, NEVER);
        Self { rate, target, alpha, since, alpha_at: NEVER, fresh, cut_at, timer_at: 0, times: 0 }
    }
}

/// The rates of [`DcqcnConnectx`], in ticks.
pub struct Limits {
    gain: f64,
    alpha_timer: Tick,
    cut_timer: Tick,
    timer: Tick,
    clamp_target: bool,
    recovery_stages: u32,
    increase: f64,
    hyper_increase: f64,
    rate_min: f64,
}

impl Limits {
    /// Changes alpha, then raises the rate, up to a time before which nothing cuts it.
    fn go_on(&self, state: &mut Limiter, now: Tick) {
        let looks = now.saturating_sub(state.alpha_at) / self.alpha_timer;
        if looks > 0 {
            state.alpha *= (1.0 - self.gain).powi(looks.min(i32::MAX as u64) as i32);
            if state.fresh {
                state.alpha += self.gain * (1.0 - self.gain).powi((looks - 1).min(i32::MAX as u64) as i32);
            }
            state.fresh = false;
            state.alpha_at += looks * self.alpha_timer;
        }
        while state.rate < 1.0 && now - state.timer_at >= self.timer {
            state.timer_at += self.timer;
            self.raise(state);
        }
    }

    fn raise(&self, state: &mut Limiter) {
        state.target += match state.times.cmp(&self.recovery_stages) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => self.increase,
            std::cmp::Ordering::Greater => self.hyper_increase,
        };
        state.times += 1;
        (state.rate, state.target) = half_way(state.rate, state.target);
    }

    fn cut(&self, state: &mut Limiter) {
        if self.clamp_target || state.times > 0 {
            state.target = state.rate;
        }
        state.rate = (state.rate * (1.0 - state.alpha / 2.0)).max(self.rate_min);
        (state.timer_at, state.times, state.cut_at) = (state.cut_at, 0, NEVER);
    }
}

impl Law for Limits {
    type Rate = Limiter;

    fn share(&self, state: &Limiter) -> f64 {
        state.rate
    }

    fn is_free(&self, state: &Limiter) -> bool {
        state.rate >= 1.0 && state.cut_at == NEVER
    }

    fn timer(&self) -> Tick {
        self.timer
    }

    fn advance(&self, state: &mut Limiter, now: Tick) {
        if state.cut_at <= now {
            self.go_on(state, state.cut_at);
            self.cut(state);
        }
        self.go_on(state, now);
    }

    fn told(&self, state: &mut Limiter, now: Tick) {
        if state.since == NEVER {
            (state.since, state.alpha_at) = (now, now);
        } else {
            self.advance(state, now);
            state.fresh = true;
        }
        if state.cut_at == NEVER {
            let looks = (now - state.since) / self.cut_timer;
            state.cut_at = state.since + (looks + 1) * self.cut_timer;
        }
    }
}

impl DcqcnConnectx {
    /// From where some packets and beyond where all are marked.
    fn marks(&self, plan: &Plan) -> Marks {
        let us = |us: u64| plan.carried(plan.ticks(Duration::Ps(us * 1_000_000))) as u32;
        Marks {
            from: self.mark_from,
            all: self.mark_all,
            usual: us(128),
            first: (us(32), 0.25),
            by_rate: true,
        }
    }

    /// `increase` and `hyper_increase`.
    fn steps(&self, plan: &Plan) -> [Rate; 2] {
        let part = |parts: u64| Rate(plan.links[0].rate.0 / parts);
        [self.increase.unwrap_or(part(5000)), self.hyper_increase.unwrap_or(part(500))]
    }

    /// Its rates on a network.
    fn limits(&self, plan: &Plan) -> Limits {
        let part = |rate: Rate| rate.0 as f64 / plan.links[0].rate.0 as f64;
        let [increase, hyper_increase] = self.steps(plan).map(part);
        Limits {
            gain: self.gain,
            alpha_timer: plan.ticks(self.alpha_timer).max(1),
            cut_timer: plan.ticks(self.cut_timer).max(1),
            timer: plan.ticks(self.timer).max(1),
            clamp_target: self.clamp_target,
            recovery_stages: self.recovery_stages,
            increase,
            hyper_increase,
            rate_min: part(self.rate_min).min(1.0),
        }
    }
}

impl Scheme for DcqcnConnectx {
    fn tells_rates(&self) -> bool {
        true
    }

    fn problems(&self, scale: &Scale) -> Vec<Problem> {
        let marks = Marks::problem(self.mark_from, self.mark_all, scale);
        marks.into_iter().chain(least_rate("rate_min", self.rate_min, scale)).collect()
    }

    fn remarks(&self, plan: &Plan) -> Vec<String> {
        self.marks(plan).remarks(plan)
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
        let [increase, hyper_increase] = self.steps(plan);
        let steps = unless_given([
            ("increase", self.increase.is_some(), json!(increase)),
            ("hyper_increase", self.hyper_increase.is_some(), json!(hyper_increase)),
        ]);
        self.marks(plan).defaults(plan).into_iter().chain(steps).collect()
    }

    fn words(&self) -> bool {
        false
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let source = Notified::new(self.limits(plan), self.cnp_interval, plan, acknowledge);
        Box::new(NicSet::new(source, plan, share))
    }

    fn agent(&self, plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        Box::new(self.marks(plan).agent(plan, self.mark_chance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::testing;

    fn limits() -> Limits {
        Limits {
            gain: 0.25,
            alpha_timer: 10,
            cut_timer: 40,
            timer: 1000,
            clamp_target: false,
            recovery_stages: 1,
            increase: 0.01,
            hyper_increase: 0.1,
            rate_min: 0.001,
        }
    }

    /// One that was told at 0, and then every 8 ticks up to a time.
    fn told(source: &Limits, until: Tick) -> Limiter {
        let mut state = Limiter::default();
        (0..=until).step_by(8).for_each(|now| source.told(&mut state, now));
        source.advance(&mut state, until);
        state
    }

    #[test]
    fn the_first_notification_cuts_at_the_first_look_and_by_what_alpha_is_then() {
        let source = limits();
        let mut state = told(&source, 0);
        assert!(!source.is_free(&state), "a cut is to come");
        source.advance(&mut state, 39);
        assert_eq!((state.rate, state.alpha), (1.0, 0.75_f64.powi(3)));
        source.advance(&mut state, 40);
        let alpha = 0.75_f64.powi(4);
        assert_eq!((state.rate, state.target, state.alpha), (1.0 - alpha / 2.0, 1.0, alpha));
        assert_eq!((state.cut_at, state.timer_at), (NEVER, 40));
    }

    #[test]
    fn marks_all_the_time_keep_alpha_and_halve_the_rate_at_each_look() {
        let source = limits();
        let state = told(&source, 80);
        assert_eq!((state.alpha, state.rate), (1.0, 0.25));
        // The target is that before the first cut: nothing raised the rate in between.
        assert_eq!(state.target, 1.0);
        let clamped = told(&Limits { clamp_target: true, ..limits() }, 80);
        assert_eq!((clamped.rate, clamped.target), (0.25, 0.5));
    }

    #[test]
    fn a_notification_counts_in_its_own_alpha_timer_and_at_the_next_look() {
        let source = limits();
        let mut state = told(&source, 0);
        source.advance(&mut state, 199);
        let (rate, alpha) = (state.rate, state.alpha);
        source.told(&mut state, 199);
        source.advance(&mut state, 200);
        let after = 0.75 * alpha + 0.25;
        assert!((state.alpha - after).abs() < 1e-15, "{} and {after}", state.alpha);
        assert!((state.rate - rate * (1.0 - after / 2.0)).abs() < 1e-15);
        // At the time of a look: the look comes first.
        source.told(&mut state, 240);
        assert_eq!(state.cut_at, 280);
    }

    #[test]
    fn what_is_looked_at_late_is_as_if_it_had_been_looked_at_often() {
        let source = Limits { timer: 35, ..limits() };
        let (mut often, mut late) = (Limiter::default(), Limiter::default());
        for now in 0..2000 {
            if [0, 7, 93, 94, 500, 801].contains(&now) {
                source.told(&mut often, now);
                source.told(&mut late, now);
            }
            source.advance(&mut often, now);
        }
        source.advance(&mut late, 1999);
        assert!((often.rate - late.rate).abs() < 1e-12 && (often.alpha - late.alpha).abs() < 1e-12);
        assert_eq!((often.times, often.timer_at), (late.times, late.timer_at));
    }

    #[test]
    fn the_rate_comes_half_way_back_then_grows_by_one_step_then_by_leaps() {
        let source = limits();
        let mut state = Limiter { rate: 0.125, target: 0.25, since: 0, ..Limiter::default() };
        source.advance(&mut state, 999);
        assert_eq!(state.rate, 0.125);
        source.advance(&mut state, 1000);
        assert_eq!((state.rate, state.target), (0.1875, 0.25));
        source.advance(&mut state, 2000);
        assert_eq!((state.rate, state.target), (0.22375, 0.26));
        source.advance(&mut state, 3000);
        assert!((state.target - 0.36).abs() < 1e-12);
        source.advance(&mut state, 1_000_000);
        assert!(source.is_free(&state) && state.target == 1.0);
    }

    #[test]
    fn a_cut_after_an_increase_moves_the_target_and_begins_the_timer_anew() {
        let source = limits();
        let mut state = Limiter { rate: 0.5, target: 1.0, since: 0, alpha: 1.0, ..Limiter::default() };
        source.advance(&mut state, 1000);
        source.told(&mut state, 1001);
        source.advance(&mut state, 1040);
        assert_eq!((state.rate, state.target, state.timer_at, state.times), (0.375, 0.75, 1040, 0));
        source.advance(&mut state, 2039);
        assert_eq!(state.rate, 0.375);
        source.advance(&mut state, 2040);
        assert_eq!(state.rate, 0.5625);
    }

    #[test]
    fn every_parameter_becomes_its_own_ticks_and_parts_of_the_channel() {
        let plan = testing::plan();
        let told = DcqcnConnectx {
            alpha_timer: Duration::Ps(7_000_000),
            cut_timer: Duration::Ps(9_000_000),
            timer: Duration::Ps(3_000_000),
            ..DcqcnConnectx::default()
        };
        let limits = told.limits(&plan);
        let ns = 1000 / plan.tick;
        assert_eq!((limits.alpha_timer, limits.cut_timer, limits.timer), (7000 * ns, 9000 * ns, 3000 * ns));
        let steps = [limits.increase, limits.hyper_increase, limits.rate_min];
        assert!(
            steps.iter().zip([0.0002, 0.002, 0.001]).all(|(step, want)| (step - want).abs() < 1e-12),
            "{steps:?}"
        );
        let given = DcqcnConnectx { increase: Some(Rate(1_000_000_000)), ..told };
        assert!((given.limits(&plan).increase - 0.01).abs() < 1e-12);
    }
}
