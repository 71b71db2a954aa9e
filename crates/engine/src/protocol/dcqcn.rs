//! DCQCN: rates at the source that notifications cut and time and data raise again.
use super::notified::{Law, Notified, half_way};
use super::red::Marks;
use super::{Agent, Defaults, Scheme, least_rate};
use crate::core::plan::{Plan, Share};
use crate::core::{NEVER, Tick};
use crate::nic::{NicSet, Nics};
use crate::problem::Problem;
use crate::units::{Duration, Rate, Scale, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// DCQCN, the congestion control of RoCE: switches mark with a chance that grows with the queue, destinations tell the source at
/// most once per interval, and the source cuts its rate by how often that happens.
///
/// # What it does
///
/// A switch marks a packet that leaves with a chance that grows from 0 to `mark_chance` while its output's queue grows from
/// `mark_from` to `mark_all`, and surely beyond. A destination that gets a marked packet tells the source, at most once per
/// `cnp_interval`. The source then cuts the rate of that send queue by alpha / 2, where alpha, 1 at first, is a mean of whether it was
/// told lately. Each `timer` and each `byte_counter` of data raise the rate again: `recovery_stages` times half way back to the
/// rate before the cut, then to a target that grows by `increase`, and, once both have happened that often, by multiples of
/// `hyper_increase`.
///
/// With T increases by time and B by data since the cut, the target grows by min(T, B) - `recovery_stages` times `hyper_increase` once both
/// are more than `recovery_stages`, by `increase` once one is, and up to the channel's rate. A cut sets T, B and the data to 0 and begins
/// both timers anew; data beyond a `byte_counter` count for the next. Alpha falls only after a first notification. The next packet may start the
/// packet's time, divided by the rate when it starts, after that; what changes later does not move it. `cnp_interval` counts from the
/// arrival of the packet that was told of.
///
/// # Where it acts
///
/// Switch (mark at departure), destination (notification), source (rate of the send queue).
///
/// # Parameters
///
/// The defaults are the paper's (for 40 Gb/s), but for `mark_from` and `mark_all`, its 5 and 200 kB, which are less where a switch
/// cannot hold as much for an endpoint, and `hyper_increase` and `rate_min`, which it does not give. What NICs do, with steps that grow with the
/// channel's rate, is [`dcqcn-connectx`](dcqcn-connectx.md).
///
/// # Paper
///
/// Y. Zhu, H. Eran, D. Firestone, C. Guo, M. Lipshteyn, Y. Liron, J. Padhye, S. Raindel, M. H. Yahia, M. Zhang, "Congestion Control for
/// Large-Scale RDMA Deployments", SIGCOMM 2015.
///
/// # Differences from the paper
///
/// Its switches stop their neighbours by priority flow control: those here only with `flow_control = "pfc"` or `"pfc-dynamic"` in `[link]`. What waits for an output is counted in
/// all inputs too. A rate within a thousandth of the channel's is the channel's, and the source is as new then but for alpha; a send
/// queue that is empty by then is forgotten, with its alpha, when it is next looked at: each `timer`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dcqcn {
    /// Flits left waiting for an output (in all inputs and its output queue) behind a packet above which it may be marked. By default 5 kB, or a 40th of the
    /// default `mark_all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_from: Option<Size>,
    /// Flits beyond which all packets are marked. By default 200 kB, or half of what a switch can hold for an endpoint.
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
    /// Time without a notification after which alpha falls, and falls again.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub alpha_timer: Duration,
    /// Time between two increases of the rate.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub timer: Duration,
    /// Data sent between two increases of the rate.
    pub byte_counter: Size,
    /// Increases by time and by data, each, that lead half way back to the rate before the cut.
    pub recovery_stages: u32,
    /// What then is added to the target.
    pub increase: Rate,
    /// What is added to the target, times the increases so far, once both time and data have increased it that often.
    pub hyper_increase: Rate,
    /// The lowest rate.
    pub rate_min: Rate,
}

impl Default for Dcqcn {
    fn default() -> Self {
        Self {
            mark_from: None,
            mark_all: None,
            mark_chance: 0.01,
            cnp_interval: Duration::Ps(50_000_000),
            gain: 1.0 / 256.0,
            alpha_timer: Duration::Ps(55_000_000),
            timer: Duration::Ps(55_000_000),
            byte_counter: Size::Bits(80_000_000),
            recovery_stages: 5,
            increase: Rate(40_000_000),
            hyper_increase: Rate(400_000_000),
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
    /// When alpha last changed; never before the first cut.
    alpha_at: Tick,
    /// When the timer last increased the rate.
    timer_at: Tick,
    /// Increases by time and by data since the cut.
    times: u32,
    counts: u32,
    /// Flits sent since data last increased the rate.
    flits: u64,
}

impl Default for Limiter {
    fn default() -> Self {
        let (rate, target, alpha) = (1.0, 1.0, 1.0);
        Self { rate, target, alpha, alpha_at: NEVER, timer_at: 0, times: 0, counts: 0, flits: 0 }
    }
}

/// The rates of [`Dcqcn`], in ticks and flits.
pub struct Limits {
    gain: f64,
    alpha_timer: Tick,
    timer: Tick,
    byte_counter: u64,
    recovery_stages: u32,
    increase: f64,
    hyper_increase: f64,
    rate_min: f64,
}

impl Limits {
    /// An increase, by time or by data.
    fn raise(&self, state: &mut Limiter) {
        let (few, many) = (state.times.min(state.counts), state.times.max(state.counts));
        if few > self.recovery_stages {
            state.target += f64::from(few - self.recovery_stages) * self.hyper_increase;
        } else if many > self.recovery_stages {
            state.target += self.increase;
        }
        (state.rate, state.target) = half_way(state.rate, state.target);
    }
}

impl Law for Limits {
    type Rate = Limiter;

    fn share(&self, state: &Limiter) -> f64 {
        state.rate
    }

    fn timer(&self) -> Tick {
        self.timer
    }

    fn advance(&self, state: &mut Limiter, now: Tick) {
        let falls = now.saturating_sub(state.alpha_at) / self.alpha_timer;
        if falls > 0 {
            state.alpha *= (1.0 - self.gain).powi(falls.min(i32::MAX as u64) as i32);
            state.alpha_at += falls * self.alpha_timer;
        }
        while !self.is_free(state) && now - state.timer_at >= self.timer {
            state.timer_at += self.timer;
            state.times += 1;
            self.raise(state);
        }
    }

    fn told(&self, state: &mut Limiter, now: Tick) {
        self.advance(state, now);
        state.target = state.rate;
        state.rate = (state.rate * (1.0 - state.alpha / 2.0)).max(self.rate_min);
        state.alpha += self.gain * (1.0 - state.alpha);
        (state.alpha_at, state.timer_at) = (now, now);
        (state.times, state.counts, state.flits) = (0, 0, 0);
    }

    fn sent(&self, state: &mut Limiter, flits: u32) {
        state.flits += u64::from(flits);
        while state.flits >= self.byte_counter {
            state.flits -= self.byte_counter;
            state.counts += 1;
            self.raise(state);
        }
    }
}

impl Dcqcn {
    /// From where some packets and beyond where all are marked.
    fn marks(&self, plan: &Plan) -> Marks {
        let kb = |kb: u64| plan.flits(Size::Bits(8000 * kb));
        Marks {
            from: self.mark_from,
            all: self.mark_all,
            usual: kb(200),
            first: (kb(5), 1.0 / 40.0),
            by_rate: false,
        }
    }

    /// Its rates on a network.
    fn limits(&self, plan: &Plan) -> Limits {
        let part = |rate: Rate| rate.0 as f64 / plan.links[0].rate.0 as f64;
        Limits {
            gain: self.gain,
            alpha_timer: plan.ticks(self.alpha_timer).max(1),
            timer: plan.ticks(self.timer).max(1),
            byte_counter: u64::from(plan.flits(self.byte_counter)).max(1),
            recovery_stages: self.recovery_stages,
            increase: part(self.increase),
            hyper_increase: part(self.hyper_increase),
            rate_min: part(self.rate_min).min(1.0),
        }
    }
}

impl Scheme for Dcqcn {
    fn tells_rates(&self) -> bool {
        true
    }

    fn problems(&self, scale: &Scale) -> Vec<Problem> {
        let marks = Marks::problem(self.mark_from, self.mark_all, scale);
        marks.into_iter().chain(least_rate("rate_min", self.rate_min, scale)).collect()
    }

    fn remarks(&self, plan: &Plan) -> Vec<String> {
        const USUAL: u64 = 40_000_000_000;
        let (rate, usual) = (plan.links[0].rate, Self::default());
        let given = self.increase != usual.increase || self.hyper_increase != usual.hyper_increase;
        let slow = (2 * rate.0 > 5 * USUAL && !given).then(|| {
            format!(
                "congestion_control.increase: {} at a time is for channels of {}, and these have {rate}: a queue that was cut takes {:.1} \
                 times as long to have all of its channel again",
                usual.increase,
                Rate(USUAL),
                rate.0 as f64 / USUAL as f64
            )
        });
        slow.into_iter().chain(self.marks(plan).remarks(plan)).collect()
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
        self.marks(plan).defaults(plan)
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
            gain: 1.0 / 256.0,
            alpha_timer: 55,
            timer: 100,
            byte_counter: 1_000_000,
            recovery_stages: 2,
            increase: 0.01,
            hyper_increase: 0.1,
            rate_min: 0.001,
        }
    }

    #[test]
    fn the_first_notification_halves_the_rate_and_later_ones_less_the_longer_none_came() {
        let (source, mut state) = (limits(), Limiter::default());
        source.told(&mut state, 0);
        assert_eq!((state.rate, state.target, state.alpha), (0.5, 1.0, 1.0));
        source.told(&mut state, 0);
        assert_eq!((state.rate, state.target), (0.25, 0.5));
        source.advance(&mut state, 55 * 256 + 54);
        let left = (1.0 - 1.0 / 256.0_f64).powi(256);
        assert!((state.alpha - left).abs() < 1e-9, "{} and {left}", state.alpha);
        // One that was never told has its first alpha, however late.
        let mut late = Limiter::default();
        source.told(&mut late, 1_000_000);
        assert_eq!(late.rate, 0.5);
    }

    #[test]
    fn the_rate_comes_half_way_back_then_grows_by_steps_then_by_leaps() {
        let source = limits();
        let mut state = Limiter::default();
        (0..3).for_each(|_| source.told(&mut state, 0));
        assert_eq!((state.rate, state.target), (0.125, 0.25));
        source.advance(&mut state, 199);
        assert_eq!((state.rate, state.times), (0.1875, 1));
        source.advance(&mut state, 200);
        assert_eq!((state.rate, state.target), (0.21875, 0.25));
        source.advance(&mut state, 300);
        assert_eq!(state.target, 0.26);
        state.counts = 4;
        source.advance(&mut state, 400);
        assert!((state.target - (0.26 + 2.0 * 0.1)).abs() < 1e-9, "{}", state.target);
        source.advance(&mut state, 1_000_000);
        assert!(source.is_free(&state));
    }

    #[test]
    fn data_raise_the_rate_as_time_does() {
        let (source, mut state) = (Limits { byte_counter: 100, ..limits() }, Limiter::default());
        source.told(&mut state, 0);
        source.sent(&mut state, 50);
        assert_eq!((state.counts, state.rate), (0, 0.5));
        source.sent(&mut state, 50);
        assert_eq!((state.counts, state.rate), (1, 0.75));
    }

    #[test]
    fn a_cut_begins_the_counts_and_the_timer_anew() {
        let (source, mut state) = (Limits { byte_counter: 80, ..limits() }, Limiter::default());
        source.told(&mut state, 0);
        source.sent(&mut state, 50);
        source.advance(&mut state, 100);
        assert_eq!((state.times, state.counts, state.flits), (1, 0, 50));
        source.told(&mut state, 190);
        assert_eq!((state.times, state.counts, state.flits), (0, 0, 0));
        source.sent(&mut state, 50);
        assert_eq!(state.counts, 0);
        source.advance(&mut state, 289);
        assert_eq!(state.times, 0);
        source.advance(&mut state, 290);
        assert_eq!(state.times, 1);
    }

    #[test]
    fn alpha_ages_until_the_cut_that_it_decides() {
        let source = Limits { timer: 1 << 40, ..limits() };
        let mut s = Limiter::default();
        source.told(&mut s, 0);
        source.told(&mut s, 5500);
        let alpha = (255.0_f64 / 256.0).powi(100);
        assert!((s.rate - 0.5 * (1.0 - alpha / 2.0)).abs() < 1e-12);
        assert!((s.alpha - (alpha * 255.0 / 256.0 + 1.0 / 256.0)).abs() < 1e-12);
    }

    #[test]
    fn every_parameter_becomes_its_own_ticks_and_parts_of_the_channel() {
        let plan = testing::plan();
        let p = Dcqcn {
            alpha_timer: Duration::Ps(7_000_000),
            timer: Duration::Ps(3_000_000),
            byte_counter: Size::Bits(80_000),
            ..Dcqcn::default()
        };
        let l = p.limits(&plan);
        let ns = 1000 / plan.tick;
        assert_eq!((l.alpha_timer, l.timer, l.byte_counter), (7000 * ns, 3000 * ns, 800));
        assert!(
            (l.increase - 0.0004).abs() < 1e-12
                && (l.hyper_increase - 0.004).abs() < 1e-12
                && (l.rate_min - 0.001).abs() < 1e-12
        );
    }

    #[test]
    fn every_cut_begins_the_time_anew_after_which_alpha_ages() {
        let (source, mut state) = (limits(), Limiter::default());
        source.told(&mut state, 0);
        source.told(&mut state, 50);
        source.advance(&mut state, 104);
        assert_eq!(state.alpha, 1.0);
        source.advance(&mut state, 105);
        assert_eq!(state.alpha, 255.0 / 256.0);
    }
}
