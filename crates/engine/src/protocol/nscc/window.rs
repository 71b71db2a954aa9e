//! The windows of NSCC: how they go by delays and marks.
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::nic::queue::SendQueue;
use crate::protocol::flight::{Flight, number_and_flits, with_flits};
use crate::protocol::{Pull, Received, Reply, Sent, Source, millionths};

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
    pub(super) base_rtt: Tick,
    pub(super) target: f64,
    pub(super) full: f64,
    /// What the channel carries in `base_rtt`.
    pub(super) round: f64,
    pub(super) proportional: f64,
    pub(super) fair: f64,
    pub(super) constant: f64,
    pub(super) fast: f64,
    pub(super) fast_delay: Tick,
    pub(super) gamma: f64,
    pub(super) gain: f64,
    pub(super) quick_adapt: Tick,
    pub(super) restart: Tick,
    pub(super) packet_flits: f64,
    pub(super) control: u8,
    pub(super) data: u8,
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

    /// What a queue does by its window, which is as a new one at `end` if nothing happens until then.
    pub(in crate::protocol) fn next<Q>(
        &self,
        state: &Window,
        queue: &SendQueue<Q>,
        end: Tick,
        now: Tick,
    ) -> Pull {
        // The next packet has to fit, too.
        let next = f64::from(queue.left()).min(self.packet_flits);
        let room = (self.window(state) - next).floor() + 1.0;
        state.flight.pull(queue, room, self.data, end, now)
    }

    /// A packet was sent.
    pub(in crate::protocol) fn sent(&self, state: &mut Window, sent: &Sent) {
        state.flight.sent(sent);
    }

    /// An acknowledgement came.
    pub(in crate::protocol) fn acknowledged(&self, state: &mut Window, packet: &Packet, now: Tick) {
        let [injected, word] = packet.notes.words;
        let (marked, flits) = number_and_flits(word);
        state.flight.acknowledged(flits, now);
        let delay = (now - injected).saturating_sub(self.base_rtt);
        self.adapt(state, delay, marked == 1, flits, now);
    }

    /// Flits for which credit is of use: those of the window, and a packet, which goes on as soon as it has room.
    pub(in crate::protocol) fn usable(&self, state: &Window) -> u64 {
        (self.window(state) + self.packet_flits) as u64
    }

    /// What the window lets through in a round trip, in parts of a million of what the channel does.
    pub(in crate::protocol) fn allows(&self, state: &Window) -> u32 {
        millionths(self.window(state) / self.round)
    }

    /// Whether nothing is under way, and the window as a new one's.
    pub(in crate::protocol) fn is_idle(&self, state: &Window, now: Tick) -> bool {
        state.flight.is_empty() && self.end(state) <= now
    }

    /// The acknowledgement of a packet, if it is data.
    pub(in crate::protocol) fn acknowledge(&self, received: &Received) -> Option<Reply> {
        let packet = received.packet;
        let words = [packet.cold.injected, with_flits(packet.cold.marked().into(), packet)];
        received.acknowledge(true, self.control).map(|ack| Reply { words, ..ack })
    }

    /// When a queue with nothing more to send is as a new one.
    pub(in crate::protocol) fn end(&self, state: &Window) -> Tick {
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
        self.next(&queue.state, queue, self.end(&queue.state), now)
    }

    fn on_sent(&self, queue: &mut SendQueue<Window>, sent: &Sent) {
        self.sent(&mut queue.state, sent);
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Ack
    }

    fn on_control(&self, queue: &mut SendQueue<Window>, packet: &Packet, now: Tick) {
        self.acknowledged(&mut queue.state, packet, now);
    }

    fn allowed_towards(&self, queue: &SendQueue<Window>, _dst: u32, _now: Tick) -> Option<(u32, Tick)> {
        Some((self.allows(&queue.state), 0))
    }

    fn idle(&self, queue: &SendQueue<Window>, now: Tick) -> bool {
        self.is_idle(&queue.state, now)
    }

    fn reply(&self, _: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        replies.extend(self.acknowledge(received));
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
            source.on_sent(
                &mut queue,
                &Sent { pull: Pull::Next(1), packet: &packet, now, end: now + 10, time: 10 },
            );
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
        source.on_sent(&mut queue, &Sent { pull: Pull::Next(1), packet: &packet, now: 0, end: 8, time: 8 });
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
        source.on_sent(
            &mut queue,
            &Sent { pull: Pull::Next(1), packet: &packet, now: 100, end: 110, time: 10 },
        );
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
