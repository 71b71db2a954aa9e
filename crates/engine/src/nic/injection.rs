//! Which flow of an endpoint sends its next packet, and when: injection by rates.
use crate::core::Tick;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the flows of an endpoint take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Injection {
    /// One packet in each period of the flows' rates together, of the flow that has sent least for its rate. If the packet is
    /// held up for want of room, the next period begins when it leaves. Paper SAA, section 6.2, where all flows start together and keep
    /// their rates. Here a flow that starts later is as far as the others are then, and what it has sent counts at the rate it had.
    PeriodicSelection,
    /// As soon as the channel is free, of the flows whose own period has passed since their last packet the one that has sent
    /// least for its rate: no flow is bursty, but the endpoint may be. A flow that another kept waiting does not make up for it, so that of
    /// several at one endpoint each may send a tenth less than its rate. Paper SAA, section 6.2, after Stiliadis and Varma,
    /// INFOCOM 1997.
    ShapedVirtualClock,
    /// As fast as the channel goes, in turn.
    Greedy,
}

/// A flow as its protocol knows it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Paced {
    /// Time that the flow takes at the rate that its source was told: under `saa`, what the busiest link of its way needs for all
    /// its flows.
    pub load: Tick,
    /// Whether the endpoint's own channel was not asked, so that its load is yet to be reckoned with.
    pub own_unasked: bool,
    /// Earliest start of its first packet.
    pub from: Tick,
    /// When its links are to be asked next.
    pub probe_at: Tick,
}

/// How far a flow is among those of its endpoint: what it has sent takes this long at its rates, from where it started.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    /// How far it was when it came to its present rate.
    before: f64,
    /// Flits per tick; 0 before its first turn.
    rate: f64,
    /// Flits sent at this rate.
    sent: u64,
    /// Start and flits of its last packet, if it has sent one.
    last: Option<(Tick, u32)>,
}

impl Progress {
    /// The flow is looked at: it has this rate, and starts at `clock` if it has had none.
    pub fn go_on(&mut self, rate: f64, clock: f64) {
        if rate == self.rate {
            return;
        }
        let before = if self.rate > 0.0 { self.at() } else { clock };
        *self = Self { before, rate, sent: 0, last: self.last };
    }

    /// It sent a packet.
    pub fn on_sent(&mut self, flits: u32, now: Tick) {
        self.sent += u64::from(flits);
        self.last = Some((now, flits));
    }

    fn at(&self) -> f64 {
        self.before + self.sent as f64 / self.rate
    }

    /// When its own period has passed since its last packet.
    fn eligible(&self) -> f64 {
        self.last.map_or(0.0, |(start, flits)| start as f64 + f64::from(flits) / self.rate)
    }
}

/// A flow that could send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Destination: ties go to the lower.
    pub dst: u32,
    /// Its send queue.
    pub queue: u32,
    /// The traffic class of its data.
    pub class: u8,
    /// Flits per tick.
    pub rate: f64,
    /// How far it is.
    pub progress: Progress,
}

/// What an endpoint does next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// The candidate of this place sends.
    Send(usize),
    /// Nothing before this time.
    At(Tick),
    /// There are no candidates.
    Nothing,
}

/// The periods of an endpoint.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clock {
    /// Start of the present period, and flits of its packet.
    start: f64,
    flits: f64,
    /// How far the flow of that packet was, behind which no other is: where new flows start.
    pub least: f64,
}

impl Clock {
    /// Start of the next period, if the flows' rates together are `rates` flits per tick.
    pub fn next(&self, rates: f64) -> f64 {
        self.start + self.flits / rates
    }

    /// What to do at `now`; `rates` is the sum over all flows of the endpoint, in flits per tick.
    pub fn choose(&self, injection: Injection, candidates: &[Candidate], rates: f64, now: Tick) -> Choice {
        let least = |key: fn(&Candidate) -> f64, of: &dyn Fn(&Candidate) -> bool| {
            let open = candidates.iter().enumerate().filter(|(_, candidate)| of(candidate));
            let best = open.min_by(|(_, a), (_, b)| key(a).total_cmp(&key(b)).then(a.dst.cmp(&b.dst)));
            best.map(|(at, _)| at)
        };
        let progress = |candidate: &Candidate| candidate.progress.at();
        if candidates.is_empty() {
            return Choice::Nothing;
        }
        let (selected, next) = match injection {
            Injection::PeriodicSelection => {
                let next = self.next(rates);
                (if next <= now as f64 { least(progress, &|_| true) } else { None }, next)
            }
            Injection::ShapedVirtualClock => {
                let is_eligible = |candidate: &Candidate| candidate.progress.eligible() <= now as f64;
                let next =
                    candidates.iter().map(|flow| flow.progress.eligible()).fold(f64::INFINITY, f64::min);
                (least(progress, &is_eligible), next)
            }
            Injection::Greedy => {
                let last =
                    |candidate: &Candidate| candidate.progress.last.map_or(-1.0, |(start, _)| start as f64);
                (least(last, &|_| true), 0.0)
            }
        };
        selected.map_or(Choice::At((next.ceil() as Tick).max(now + 1)), Choice::Send)
    }

    /// A packet of `flits` has left at `now`, of a flow that was so far. A period that ended inside the tick began there; one that was
    /// held up begins now.
    pub fn sent(&mut self, flits: u32, rates: f64, progress: &Progress, now: Tick) {
        self.least = self.least.max(progress.at());
        let due = self.next(rates);
        let on_time = due > now as f64 - 1.0 && due <= now as f64;
        self.start = if on_time { due } else { now as f64 };
        self.flits = flits.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 10 flits over 1000 ticks of a channel of one flit a tick: when each left, and of which flow.
    fn sent(injection: Injection, rates: &[f64]) -> Vec<(Tick, usize)> {
        let mut flows: Vec<Candidate> = (0u32..)
            .zip(rates)
            .map(|(dst, &rate)| Candidate { dst, queue: dst, class: 0, rate, progress: Progress::default() })
            .collect();
        let (mut clock, mut now, mut log) = (Clock::default(), 0, Vec::new());
        let sum = rates.iter().sum();
        while now < 1000 {
            flows.iter_mut().for_each(|flow| flow.progress.go_on(flow.rate, clock.least));
            match clock.choose(injection, &flows, sum, now) {
                Choice::Send(at) => {
                    log.push((now, at));
                    clock.sent(10, sum, &flows[at].progress, now);
                    flows[at].progress.on_sent(10, now);
                    now += 10;
                }
                Choice::At(next) => now = next,
                Choice::Nothing => unreachable!(),
            }
        }
        log
    }

    fn shares(log: &[(Tick, usize)], flows: usize) -> Vec<usize> {
        (0..flows).map(|flow| log.iter().filter(|(_, of)| *of == flow).count()).collect()
    }

    #[test]
    fn periodic_selection_is_periodic_and_gives_each_flow_its_rate() {
        let log = sent(Injection::PeriodicSelection, &[0.3, 0.1]);
        let gaps: Vec<u64> = log.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        assert!(gaps.iter().all(|&gap| gap == 25), "{gaps:?}");
        assert_eq!(shares(&log, 2), [30, 10]);
    }

    #[test]
    fn a_period_that_is_no_number_of_ticks_does_not_drift() {
        let log = sent(Injection::PeriodicSelection, &[0.3, 0.3]);
        assert_eq!(shares(&log, 2), [30, 30]);
        assert!(log.windows(2).all(|pair| (16..=17).contains(&(pair[1].0 - pair[0].0))));
    }

    #[test]
    fn shaped_virtual_clock_keeps_each_rate_but_lets_the_endpoint_burst() {
        let log = sent(Injection::ShapedVirtualClock, &[0.1; 5]);
        assert_eq!(shares(&log, 5), [10; 5]);
        // All five flows send one behind the other, then all wait.
        let gaps: Vec<u64> = log.windows(2).map(|pair| pair[1].0 - pair[0].0).take(5).collect();
        assert_eq!(gaps, [10, 10, 10, 10, 60]);
    }

    #[test]
    fn greedy_flows_take_turns_at_the_channel_s_rate() {
        let log = sent(Injection::Greedy, &[0.1, 0.01]);
        assert_eq!((log.len(), shares(&log, 2)), (100, vec![50, 50]));
    }

    #[test]
    fn a_new_flow_and_a_new_rate_take_nothing_from_the_others() {
        let rates = |now: Tick| if now < 2000 { [0.4, 0.1, 0.0] } else { [0.1, 0.1, 0.2] };
        for injection in [Injection::PeriodicSelection, Injection::ShapedVirtualClock] {
            let mut flows = [0, 1, 2].map(|dst| Candidate {
                dst,
                queue: dst,
                class: 0,
                rate: 0.0,
                progress: Progress::default(),
            });
            let (mut clock, mut now, mut sent) = (Clock::default(), 0, [[0; 3]; 4]);
            while now < 4000 {
                for (flow, rate) in flows.iter_mut().zip(rates(now)) {
                    flow.rate = rate;
                    if rate > 0.0 {
                        flow.progress.go_on(rate, clock.least);
                    }
                }
                let open = if now < 2000 { &flows[..2] } else { &flows[..] };
                let sum = rates(now).iter().sum();
                match clock.choose(injection, open, sum, now) {
                    Choice::Send(at) => {
                        sent[now as usize / 1000][at] += 1;
                        clock.sent(10, sum, &flows[at].progress, now);
                        flows[at].progress.on_sent(10, now);
                        now += 10;
                    }
                    Choice::At(next) => now = next,
                    Choice::Nothing => unreachable!(),
                }
            }
            for (found, expected) in
                sent.into_iter().zip([[40, 10, 0], [40, 10, 0], [10, 10, 20], [10, 10, 20]])
            {
                let near = found
                    .iter()
                    .zip(expected)
                    .all(|(found, expected): (&i32, i32)| (found - expected).abs() <= 1);
                assert!(near, "{injection:?}: {found:?}, and not {expected:?}");
            }
        }
    }

    #[test]
    fn what_was_held_up_is_not_made_up_for() {
        let mut clock = Clock::default();
        let mut progress = Progress::default();
        progress.go_on(0.5, 0.0);
        clock.sent(10, 0.5, &progress, 0);
        // Due at 20, sent at 33: the next is due at 53.
        clock.sent(10, 0.5, &progress, 33);
        let flow = [Candidate { dst: 0, queue: 0, class: 0, rate: 0.5, progress }];
        assert_eq!(clock.choose(Injection::PeriodicSelection, &flow, 0.5, 40), Choice::At(53));
        assert_eq!(clock.choose(Injection::PeriodicSelection, &flow, 0.5, 53), Choice::Send(0));
    }
}
