//! Signals: what schemes tell endpoints beside the packets, and how that travels.
use crate::core::packet::{Kind, Packet};
use crate::core::plan::Share;
use crate::core::{NEVER, Tick};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A divisor of the full rate of 1: rates are told as divisors in parts of this.
pub const DIVISOR_ONE: u32 = 256;

/// What a signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    /// So many flits that the endpoint has sent were taken out of the network by their destination.
    Ejected(u32),
    /// Throttle yourself: to the rate over this divisor, or to what you measure if it is 0.
    Abate(u32),
    /// The order to throttle is over.
    Normal,
    /// Send to the endpoint that the signal is about at the rate over this divisor, and nothing before a pause is over.
    Limit(u32, u32),
}

impl News {
    /// Its name in results.
    pub fn name(&self) -> &'static str {
        match self {
            News::Ejected(_) => "ejected",
            News::Abate(_) => "abate",
            News::Normal | News::Limit(DIVISOR_ONE, 0) => "normal",
            News::Limit(..) => "limit",
        }
    }

    /// The divisor of the rate and the pause in ticks that it orders.
    pub fn order(&self) -> (u32, u32) {
        match *self {
            News::Abate(divisor) => (divisor, 0),
            News::Limit(divisor, pause) => (divisor, pause),
            News::Ejected(_) | News::Normal => (DIVISOR_ONE, 0),
        }
    }
}

/// A signal on its way to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// When it was sent, then when it arrives.
    pub at: Tick,
    /// Endpoint that it is for.
    pub to: u32,
    /// Endpoint that it is about.
    pub about: u32,
    /// Place among the signals of its sender.
    pub number: u32,
    /// Sources that its sender had streams of then.
    pub streams: u32,
    /// What it says.
    pub news: News,
}

impl Signal {
    /// The order in which an endpoint hears the signals of a tick.
    pub fn order(&self) -> (u32, u32, u32, News) {
        (self.to, self.about, self.number, self.news)
    }

    /// Its words in a packet.
    pub fn words(&self) -> [u64; 2] {
        let (what, a, b) = match self.news {
            News::Ejected(flits) => (0, flits, 0),
            News::Abate(divisor) => (1, divisor, 0),
            News::Normal => (2, 0, 0),
            News::Limit(divisor, pause) => (3, divisor, pause),
        };
        [what << 32 | u64::from(self.number), u64::from(a) << 32 | u64::from(b)]
    }

    /// The signal that a control packet brings, if it brings one.
    pub fn brought_by(packet: &Packet, now: Tick) -> Option<Self> {
        let [what, how] = packet.notes.words;
        let (a, b) = ((how >> 32) as u32, how as u32);
        let news = match (packet.hot.kind(), what >> 32) {
            (Kind::Ack, 0) => News::Ejected(a),
            (Kind::Notification, 1) => News::Abate(a),
            (Kind::Notification, 2) => News::Normal,
            (Kind::Notification, 3) => News::Limit(a, b),
            _ => return None,
        };
        let (to, about, number) = (packet.hot.dst, packet.cold.src, what as u32);
        Some(Self { at: now, to, about, number, streams: 0, news })
    }
}

/// How signals travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Passage {
    /// Out of band, as fast as the head of a packet that never waits.
    #[serde(rename = "path")]
    Path,
    /// In band: as control packets of the network.
    #[serde(rename = "in band")]
    InBand,
    /// Out of band, with this latency; 0 is the next tick, and the run has one partition.
    #[serde(untagged)]
    Latency(Duration),
}

/// Who speaks in a switch: the port to an endpoint, which its signals are about.
#[derive(Debug, Clone, Copy)]
pub struct Voice {
    /// The endpoint.
    pub about: u32,
    /// Sources that send to it, as the switch counts them.
    pub streams: u32,
    /// Signals sent so far.
    sent: u32,
    /// The time that it waits for, if it asked for one.
    armed: Tick,
}

impl Voice {
    /// A voice for every endpoint of a partition, by its local number.
    pub fn all(share: &Share) -> impl Iterator<Item = Self> + '_ {
        share.endpoints.iter().map(|&about| Self { about, streams: 0, sent: 0, armed: NEVER })
    }

    /// Whether a time has come for which it waits, and not one that an earlier one had replaced.
    pub fn rings(&mut self, now: Tick) -> bool {
        let rings = self.armed <= now;
        if rings {
            self.armed = NEVER;
        }
        rings
    }
}

/// What an agent sends and asks for while it is told something.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Signals, in the order in which they were sent.
    pub signals: Vec<Signal>,
    /// Times at which it wants to be told a key.
    pub timers: Vec<(Tick, u64)>,
}

impl Outbox {
    /// Sends a signal.
    pub fn send(&mut self, voice: &mut Voice, to: u32, news: News, now: Tick) {
        voice.sent = voice.sent.wrapping_add(1);
        let (about, number, streams) = (voice.about, voice.sent, voice.streams);
        self.signals.push(Signal { at: now, to, about, number, streams, news });
    }

    /// Asks for a time for the port with this local number, unless it waits for one that is no later.
    pub fn arm(&mut self, voice: &mut Voice, port: usize, when: Tick) {
        if when < voice.armed {
            voice.armed = when;
            self.timers.push((when, port as u64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_says_the_same_in_a_packet() {
        for news in [News::Ejected(64), News::Abate(25600), News::Normal, News::Limit(16128, 1 << 30)] {
            let signal = Signal { at: 9, to: 3, about: 7, number: 5, streams: 0, news };
            let mut packet = Packet::default();
            let kind = if matches!(news, News::Ejected(_)) { Kind::Ack } else { Kind::Notification };
            packet.hot.set_size(kind, 1);
            (packet.hot.dst, packet.cold.src, packet.notes.words) = (3, 7, signal.words());
            assert_eq!(Signal::brought_by(&packet, 9), Some(signal));
        }
    }

    #[test]
    fn a_passage_is_read_from_its_text() {
        let read = |text: &str| serde_json::from_value::<Passage>(text.into()).ok();
        assert_eq!(read("path"), Some(Passage::Path));
        assert_eq!(read("in band"), Some(Passage::InBand));
        assert_eq!(read("200 ns"), Some(Passage::Latency(Duration::Ps(200_000))));
        assert_eq!(read("soon"), None);
    }
}
