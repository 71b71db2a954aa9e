//! The endpoints of CODES_CC: what they see ejected, and the orders over them.
use super::CodesCc;
use crate::core::Tick;
use crate::core::packet::Kind;
use crate::core::plan::{FlitTime, Plan};
use crate::nic::queue::SendQueue;
use crate::protocol::abatement::Variant;
use crate::protocol::signal::{DIVISOR_ONE, News, Passage, Signal};
use crate::protocol::{Concern, MILLION, OUT_OF_BAND, Pull, Received, Reply, Sent, Source};

/// The source of [`CodesCc`], in ticks.
pub struct Terminal {
    variant: Variant,
    /// Traffic class of acknowledgements, or [`OUT_OF_BAND`].
    acknowledge: u8,
    data: u8,
    period: Tick,
    windows: usize,
    /// Flits that the channel carries in the periods of the mean.
    capacity: u64,
    floor: u32,
    /// Flits that every packet counts as, if they count alike.
    alike: Option<u32>,
}

impl Terminal {
    /// The source of a plan.
    pub fn new(parameters: &CodesCc, plan: &Plan) -> Self {
        let period = plan.ticks(parameters.period).max(1);
        let windows = parameters.windows as usize;
        let coded = parameters.variant == Variant::Coded;
        Self {
            variant: parameters.variant,
            acknowledge: if parameters.signals == Passage::InBand { 0 } else { OUT_OF_BAND },
            data: plan.data_class(),
            period,
            windows,
            capacity: ((period * windows as u64) as f64 / FlitTime::of(&plan.links[0].time).mean()).max(1.0)
                as u64,
            floor: (parameters.floor * f64::from(MILLION)) as u32,
            alike: coded.then_some(u32::from(plan.packet_flits)),
        }
    }

    /// The rate that an endpoint has seen its packets ejected at, at least the floor.
    fn ejected(&self, state: &mut State, now: Tick) -> u32 {
        state.advance(now / self.period, self.windows);
        let flits: u64 = state.past.iter().map(|&flits| u64::from(flits)).sum();
        let rate = (flits * u64::from(MILLION) / self.capacity).min(u64::from(MILLION)) as u32;
        rate.max(self.floor)
    }
}

/// State of an endpoint.
#[derive(Debug, Default)]
pub struct State {
    /// The present period, the flits ejected in it, and those of the periods before, as a ring.
    epoch: u64,
    current: u32,
    past: Vec<u32>,
    /// Orders to throttle, by the port that gave them.
    orders: Vec<Order>,
    /// Orders, as the code counts them.
    count: i32,
}

/// An order: the port it is about, the number of the last signal about it, and the divisor of the rate if it holds.
#[derive(Debug, Clone, Copy)]
struct Order {
    about: u32,
    number: u32,
    divisor: Option<u32>,
}

impl State {
    /// Goes on to a period.
    fn advance(&mut self, epoch: u64, windows: usize) {
        self.past.resize(windows, 0);
        let passed = (epoch - self.epoch).min(windows as u64 + 1);
        for _ in 0..passed {
            self.past.rotate_right(1);
            self.past[0] = std::mem::take(&mut self.current);
        }
        self.epoch = epoch;
    }

    fn hear(&mut self, signal: &Signal, divisor: Option<u32>) {
        self.count += if divisor.is_some() { 1 } else { -1 };
        let at = match self.orders.iter().position(|order| order.about == signal.about) {
            Some(at) => at,
            None => {
                self.orders.push(Order { about: signal.about, number: 0, divisor: None });
                self.orders.len() - 1
            }
        };
        // In band, a later order may have overtaken this one.
        let order = &mut self.orders[at];
        if signal.number.wrapping_sub(order.number) as i32 > 0 {
            *order = Order { about: signal.about, number: signal.number, divisor };
        }
    }

    fn is_throttled(&self, variant: Variant) -> bool {
        match variant {
            Variant::Coded => self.count > 0,
            _ => self.orders.iter().any(|order| order.divisor.is_some()),
        }
    }
}

impl Source for Terminal {
    type Queue = ();
    type Sink = State;

    fn pull(&self, queue: &SendQueue<()>, _now: Tick) -> Pull {
        if queue.has_message() { Pull::Next(self.data) } else { Pull::Wait }
    }

    fn plain(&self, _queue: &SendQueue<()>, _now: Tick) -> Option<u8> {
        Some(self.data)
    }

    fn signals(&self) -> Concern {
        Concern::Endpoint
    }

    fn hears(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Ack | Kind::Notification)
    }

    fn on_signal(&self, state: &mut State, signal: &Signal, now: Tick) {
        match signal.news {
            News::Ejected(flits) => {
                state.advance(now / self.period, self.windows);
                state.current += flits;
            }
            News::Abate(divisor) | News::Limit(divisor, _) => state.hear(signal, Some(divisor)),
            News::Normal => state.hear(signal, None),
        }
    }

    fn is_released(&self, state: &State) -> bool {
        self.variant != Variant::Coded && !state.is_throttled(self.variant)
    }

    fn allowed(&self, state: &mut State, now: Tick) -> u32 {
        if !state.is_throttled(self.variant) {
            return MILLION;
        }
        match state.orders.iter().filter_map(|order| order.divisor).max() {
            Some(divisor @ 1..) if self.variant == Variant::DrainMargin => {
                (u64::from(MILLION) * u64::from(DIVISOR_ONE) / u64::from(divisor)).max(1) as u32
            }
            _ => self.ejected(state, now),
        }
    }

    fn hold(&self, state: &mut State, sent: &Sent) -> Tick {
        match self.allowed(state, sent.now) {
            MILLION => 0,
            rate => sent.now + sent.time * Tick::from(MILLION) / Tick::from(rate),
        }
    }

    fn reply(&self, _state: &mut State, received: &Received, replies: &mut Vec<Reply>) {
        if received.packet.hot.kind() == Kind::Data {
            let flits = self.alike.unwrap_or(received.packet.hot.flits());
            replies.push(Reply {
                kind: Kind::Ack,
                class: self.acknowledge,
                words: [0, u64::from(flits) << 32],
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(variant: Variant) -> Terminal {
        let capacity = 5 * 100;
        Terminal {
            variant,
            acknowledge: 0,
            data: 1,
            period: 100,
            windows: 5,
            capacity,
            floor: 10_000,
            alike: None,
        }
    }

    fn hear(terminal: &Terminal, state: &mut State, (about, number): (u32, u32), news: News, now: Tick) {
        terminal.on_signal(state, &Signal { at: now, to: 1, about, number, streams: 0, news }, now);
    }

    #[test]
    fn a_throttled_endpoint_sends_at_the_mean_rate_of_its_last_five_periods() {
        let (terminal, mut state) = (terminal(Variant::Published), State::default());
        for period in 0..5 {
            hear(&terminal, &mut state, (9, 0), News::Ejected(20 + period), period as Tick * 100 + 99);
        }
        assert_eq!(terminal.allowed(&mut state, 499), MILLION);
        hear(&terminal, &mut state, (9, 1), News::Abate(0), 499);
        assert_eq!(terminal.allowed(&mut state, 499), 172_000, "the present period does not count");
        assert_eq!(terminal.allowed(&mut state, 500), 220_000);
        assert_eq!(terminal.allowed(&mut state, 600), 180_000, "the oldest is forgotten");
        assert_eq!(terminal.allowed(&mut state, 5000), 10_000, "the floor");
        hear(&terminal, &mut state, (9, 2), News::Normal, 5000);
        assert_eq!(terminal.allowed(&mut state, 5000), MILLION);
    }

    #[test]
    fn an_endpoint_is_throttled_as_long_as_one_order_lasts() {
        let (terminal, mut state) = (terminal(Variant::Published), State::default());
        hear(&terminal, &mut state, (8, 1), News::Abate(0), 0);
        hear(&terminal, &mut state, (9, 1), News::Abate(0), 0);
        hear(&terminal, &mut state, (8, 2), News::Normal, 0);
        assert!(terminal.allowed(&mut state, 0) < MILLION);
        // An order that its own end has overtaken changes nothing.
        hear(&terminal, &mut state, (9, 3), News::Normal, 0);
        hear(&terminal, &mut state, (9, 2), News::Abate(0), 0);
        assert_eq!(terminal.allowed(&mut state, 0), MILLION);
    }

    #[test]
    fn with_a_drain_margin_the_smallest_rate_that_was_ordered_counts() {
        let (terminal, mut state) = (terminal(Variant::DrainMargin), State::default());
        hear(&terminal, &mut state, (8, 1), News::Abate(DIVISOR_ONE * 4), 0);
        hear(&terminal, &mut state, (9, 1), News::Abate(DIVISOR_ONE * 200), 0);
        assert_eq!(terminal.allowed(&mut state, 0), 5_000);
    }

    #[test]
    fn the_code_lets_a_gap_run_out() {
        for (variant, released) in
            [(Variant::Published, true), (Variant::DrainMargin, true), (Variant::Coded, false)]
        {
            assert_eq!(terminal(variant).is_released(&State::default()), released, "{variant:?}");
        }
    }

    #[test]
    fn the_code_counts_every_packet_as_the_longest() {
        let plan = crate::protocol::testing::plan();
        let alike = |variant| Terminal::new(&CodesCc { variant, ..CodesCc::default() }, &plan).alike;
        assert_eq!([Variant::Published, Variant::Coded].map(alike), [None, Some(24)]);
    }
}
