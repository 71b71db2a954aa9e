//! Sources whose flows are told their rates by the links on their way: what `saa` and `max-min` have in common.
use super::{Pull, Received, Reply, Sent, Source, Told};
use crate::core::circuits::ASKS;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::Plan;
use crate::core::{NEVER, Tick, shares};
use crate::nic::injection::{Injection, Paced, Progress};
use crate::nic::queue::SendQueue;
use crate::units::Duration;

/// When and how flows ask.
#[derive(Debug, Clone, Copy)]
pub struct Asking {
    /// Shortest time between two probes of a flow.
    pub probe_period: Duration,
    /// Time from the return of its announcement to its first data.
    pub hold: Duration,
    /// Whether data ask in place of probes.
    pub piggyback: bool,
}

/// State of a send queue: what its flow knows.
#[derive(Debug, Default)]
pub struct Known {
    paced: Paced,
    progress: Progress,
    /// What the next packet that asks asks for.
    request: u64,
    /// When `paced.load` came to its value.
    settled: Tick,
    /// How long after the last probe the next is due.
    period: Tick,
    probing: bool,
}

/// A source whose flows have rates, in ticks.
pub struct Explicit {
    told: Told,
    injection: Injection,
    probe_period: Tick,
    hold: Tick,
    piggyback: bool,
    acknowledge: bool,
    control: u8,
    data: u8,
}

impl Explicit {
    /// The source of a scheme by what its flows are told, and how they ask.
    pub fn new(plan: &Plan, (told, asking): (Told, Asking), injection: Injection, acknowledge: bool) -> Self {
        Self {
            told,
            injection,
            probe_period: plan.ticks(asking.probe_period).max(1),
            hold: plan.ticks(asking.hold),
            piggyback: asking.piggyback,
            acknowledge,
            control: plan.control_class(),
            data: plan.data_class(),
        }
    }

    /// What a flow knows once a word has come back: the time it takes at its rate, and what it asks for next.
    fn learn(&self, word: u64) -> (Tick, u64) {
        match self.told {
            Told::Load => (word, 0),
            Told::Share(_) => {
                let told = shares::told(word);
                (told.time.round() as Tick, shares::request(told))
            }
        }
    }

    /// The word that comes back if nothing has changed.
    fn expected(&self, state: &Known) -> u64 {
        match self.told {
            Told::Load => state.paced.load,
            Told::Share(_) => state.request,
        }
    }

    /// Whether what a data packet met is news.
    fn is_news(&self, expected: u64, met: u64) -> bool {
        match self.told {
            Told::Load => met != expected,
            Told::Share(_) => met != shares::confirmed(expected),
        }
    }
}

impl Source for Explicit {
    type Queue = Known;
    type Sink = ();

    fn injection(&self) -> Option<Injection> {
        Some(self.injection)
    }

    fn flow(&self, queue: &SendQueue<Known>) -> Paced {
        let paced = queue.state.paced;
        Paced { probe_at: if self.piggyback { NEVER } else { paced.probe_at }, ..paced }
    }

    fn progress<'a>(&self, queue: &'a mut SendQueue<Known>) -> &'a mut Progress {
        &mut queue.state.progress
    }

    /// Asked only while the flow is announced and has data, or nothing at all.
    fn pull(&self, queue: &SendQueue<Known>, now: Tick) -> Pull {
        let state = &queue.state;
        let starts = state.paced.from <= now;
        if !queue.has_message() {
            Pull::Wait
        } else if !state.probing && state.paced.probe_at <= now && !(starts && self.piggyback) {
            Pull::Control(self.control, Kind::Probe, [0, state.request])
        } else if !starts {
            // While a probe is on its way there is nothing to send until it comes back, which is looked at anyway.
            let next_probe = if state.probing { NEVER } else { state.paced.probe_at };
            Pull::At(state.paced.from.min(next_probe))
        } else {
            Pull::Next(self.data)
        }
    }

    /// Data carry the time that the flow takes as the source knows it, and when it came to know it; or they ask. The last
    /// packet does not: its answer would come too late.
    fn stamp(&self, queue: &SendQueue<Known>, _: Pull, packet: &mut Packet) {
        let state = &queue.state;
        let is_last = packet.hot.flits() == queue.left();
        packet.notes.words = if self.piggyback && !is_last {
            [self.expected(state) | ASKS, state.request]
        } else {
            [state.paced.load, state.settled]
        };
    }

    fn on_sent(&self, queue: &mut SendQueue<Known>, sent: &Sent) {
        let state = &mut queue.state;
        match sent.packet.hot.kind() {
            Kind::SetUp => {
                let own_unasked = self.told == Told::Load;
                let paced = Paced { probe_at: NEVER, own_unasked, ..Paced::default() };
                *state = Known { paced, ..Known::default() }
            }
            Kind::Probe => state.probing = true,
            _ => {}
        }
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Return
    }

    fn on_control(&self, queue: &mut SendQueue<Known>, packet: &Packet, now: Tick) {
        let ([kind, word], state) = (packet.notes.words, &mut queue.state);
        if kind == Kind::SetUp as u64 {
            state.paced.from = now + self.hold;
        } else if kind == Kind::Probe as u64 {
            state.probing = false;
        } else {
            return;
        }
        let (load, request) = self.learn(word);
        let is_news = load != state.paced.load;
        if is_news {
            (state.paced.load, state.settled) = (load, now);
        }
        state.request = request;
        // Loads stay once they are right; shares change with every flow that comes or goes.
        let lasts = self.told == Told::Load && !is_news;
        state.period = if lasts { state.period.saturating_mul(2) } else { self.probe_period };
        state.paced.probe_at = now.saturating_add(state.period);
    }

    fn reply(&self, _: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        let [known, met] = received.packet.notes.words;
        let asked = self.piggyback && received.packet.hot.kind() == Kind::Data && known & ASKS != 0;
        if asked && self.is_news(known & !ASKS, met) {
            let words = [Kind::Probe as u64, met];
            replies.push(Reply { kind: Kind::Return, class: self.control, words });
        }
        if self.acknowledge {
            replies.extend(received.acknowledge(true, self.control));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::queue::Message;

    fn explicit(told: Told, hold: Tick, piggyback: bool) -> Explicit {
        let injection = Injection::PeriodicSelection;
        Explicit {
            told,
            injection,
            probe_period: 100,
            hold,
            piggyback,
            acknowledge: false,
            control: 0,
            data: 1,
        }
    }

    fn queue() -> SendQueue<Known> {
        let mut queue = SendQueue::<Known>::default();
        queue.push(Message::new(0, 3, 100, 0));
        queue
    }

    fn back(kind: Kind, word: u64) -> Packet {
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Return, 1);
        packet.notes.words = [kind as u64, word];
        packet
    }

    #[test]
    fn a_probe_without_news_doubles_the_time_to_the_next() {
        let (source, mut queue) = (explicit(Told::Load, 0, false), queue());
        source.on_control(&mut queue, &back(Kind::SetUp, 400), 10);
        assert_eq!((source.pull(&queue, 10), source.flow(&queue).load), (Pull::Next(1), 400));
        assert_eq!(source.pull(&queue, 110), Pull::Control(0, Kind::Probe, [0; 2]));
        source.on_control(&mut queue, &back(Kind::Probe, 400), 120);
        assert_eq!((queue.state.paced.probe_at, queue.state.settled), (320, 10));
        source.on_control(&mut queue, &back(Kind::Probe, 500), 330);
        assert_eq!((queue.state.paced.probe_at, queue.state.settled), (430, 330));
    }

    #[test]
    fn data_are_held_until_the_flow_has_been_known_for_a_time() {
        let (source, mut queue) = (explicit(Told::Load, 250, false), queue());
        source.on_control(&mut queue, &back(Kind::SetUp, 400), 10);
        assert_eq!(source.pull(&queue, 10), Pull::At(110));
        source.on_control(&mut queue, &back(Kind::Probe, 900), 130);
        assert_eq!(source.pull(&queue, 131), Pull::At(230));
        source.on_control(&mut queue, &back(Kind::Probe, 900), 240);
        assert_eq!(source.pull(&queue, 260), Pull::Next(1));
    }

    #[test]
    fn a_share_that_no_link_held_back_asks_for_more() {
        let (source, mut queue) = (explicit(Told::Share(1.0), 0, false), queue());
        let half = 200.0_f64.to_bits();
        source.on_control(&mut queue, &back(Kind::SetUp, shares::confirmed(half)), 10);
        assert_eq!(source.pull(&queue, 110), Pull::Control(0, Kind::Probe, [0, half]));
        source.on_control(&mut queue, &back(Kind::Probe, half), 120);
        assert_eq!(source.pull(&queue, 220), Pull::Control(0, Kind::Probe, [0, 0]));
        // It keeps its rate meanwhile.
        assert_eq!((queue.state.paced.load, queue.state.settled), (200, 10));
    }

    #[test]
    fn data_ask_and_are_answered_if_there_is_news() {
        let mut replies = Vec::new();
        let half = 200.0_f64.to_bits();
        for (told, same, other) in [
            (Told::Load, 400, 500),
            (Told::Share(1.0), shares::confirmed(half), shares::confirmed(300.0_f64.to_bits())),
        ] {
            let (source, mut queue) = (explicit(told, 0, true), queue());
            source.on_control(&mut queue, &back(Kind::SetUp, same), 10);
            // No probe however long it sends.
            assert_eq!((source.pull(&queue, 10_000), source.flow(&queue).probe_at), (Pull::Next(1), NEVER));
            let mut packet = Packet::default();
            packet.hot.set_size(Kind::Data, 24);
            source.stamp(&queue, Pull::Next(1), &mut packet);
            for (met, answers) in [(same, 0), (other, 1)] {
                packet.notes.words[1] = met;
                let received = Received { packet: &packet, droppable: false, grade: 0, flow: 0, now: 50 };
                source.reply(&mut (), &received, &mut replies);
                assert_eq!(replies.len(), answers, "{told:?}");
            }
            assert_eq!(replies.pop().map(|reply| reply.words), Some([Kind::Probe as u64, other]));
            // The last packet tells what is known, and asks nothing.
            packet.hot.set_size(Kind::Data, 100);
            source.stamp(&queue, Pull::Next(1), &mut packet);
            assert_eq!(packet.notes.words[1], 10);
        }
    }
}
