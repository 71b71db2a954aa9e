//! How switches measure how busy their channels are, and how packets carry it.
use crate::core::Tick;
use crate::core::flow::Flow;
use crate::core::packet::{Cold, Kind};
use crate::core::table::Table;
use crate::keyed::Keyed;
use crate::protocol::{Agent, Departure, Interest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What packets learn of the links on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Telemetry {
    /// How busy each was since the flow's packet before (in-band network telemetry).
    #[default]
    Int,
    /// How busy each was in about the last round trip: a packet that leaves τ after the one before it, of whatever flow, makes of u the number
    /// u + min(τ/T, 1) (w/T - u) + t/max(τ, T), with t the time of the packet on the channel and w that of what it leaves behind.
    Pint,
}

/// How busy a link is, and the time in ticks that this was measured over, as a packet carries both in a word; 0 stands for no measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measure {
    /// What was sent and what waits, in parts of what the channel carries in a round trip.
    pub busy: f32,
    /// Ticks.
    pub over: u32,
}

impl Measure {
    /// The nearest that a packet can carry.
    fn of(busy: f64, over: Tick) -> Self {
        // What nothing was sent on and nothing waits for is a measure too.
        Self { busy: (busy as f32).max(f32::MIN_POSITIVE), over: over.min(u32::MAX.into()) as u32 }
    }

    /// The word that carries it.
    pub fn word(self) -> u64 {
        u64::from(self.busy.to_bits()) << 32 | u64::from(self.over)
    }

    /// What a word carries.
    pub fn from(word: u64) -> Option<Self> {
        (word != 0).then(|| Self { busy: f32::from_bits((word >> 32) as u32), over: word as u32 })
    }
}

/// What a switch keeps of an output.
#[derive(Debug, Clone, Default)]
struct Meter {
    /// What it sends and what waits for it, in parts of what it carries in a round trip (PINT).
    busy: f64,
    /// When a packet left last.
    last: Tick,
    /// For how long it has sent.
    sent: Tick,
    /// How it was when a packet left last of each flow.
    flows: Keyed<u64, Sample>,
    /// Flows from which on those are looked for that have been silent for long.
    many: usize,
}

/// How an output was when a packet left.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    at: Tick,
    sent: Tick,
    /// The time on the channel of what waited behind.
    behind: f64,
}

impl Meter {
    /// A packet leaves that takes a time on the channel; `behind` is the time of what it leaves behind.
    fn pint(&mut self, base_rtt: f64, now: Tick, time: f64, behind: f64) {
        let since = (now - self.last) as f64;
        let weight = (since / base_rtt).min(1.0);
        self.busy += weight * (behind / base_rtt - self.busy) + time / since.max(base_rtt);
        self.last = now;
    }

    /// A flow's packet leaves: what it measures.
    fn int(&mut self, base_rtt: f64, keep: Tick, flow: u64, sample: Sample) -> Option<Measure> {
        if self.flows.len() >= self.many.max(FEW) {
            let all = std::mem::take(&mut self.flows);
            for (flow, &known) in all.iter().filter(|(_, known)| sample.at - known.at <= keep) {
                self.flows.insert(flow, known);
            }
            self.many = 2 * self.flows.len();
        }
        let before = self.flows.insert(flow, sample)?;
        let over = sample.at - before.at;
        (over <= keep && over > 0).then(|| {
            let sent = (sample.sent - before.sent) as f64 / over as f64;
            Measure::of(sample.behind.min(before.behind) / base_rtt + sent, over)
        })
    }
}

/// Flows of which a switch keeps all.
const FEW: usize = 64;

/// The measurements of the switches of a partition.
pub struct Meters {
    base_rtt: Tick,
    /// How long a sample is known.
    keep: Tick,
    telemetry: Telemetry,
    ports: Table<Meter>,
}

impl Meters {
    /// Of so many ports, with times in ticks.
    pub fn new(telemetry: Telemetry, [base_rtt, keep]: [Tick; 2], ports: usize) -> Self {
        Self { base_rtt, keep, telemetry, ports: vec![Meter::default(); ports].into() }
    }
}

impl Agent for Meters {
    fn interest(&self) -> Interest {
        Interest { departures: true, ..Interest::default() }
    }

    fn on_dequeue(&mut self, departure: &Departure, packet: &mut Cold, words: &mut [u64; 2]) {
        let meter = &mut self.ports[departure.port];
        let (now, base_rtt, is_data) = (departure.now, self.base_rtt as f64, departure.kind == Kind::Data);
        let time = departure.time as f64;
        let behind = f64::from(departure.waiting - departure.flits) * time / f64::from(departure.flits);
        let measure = match self.telemetry {
            Telemetry::Pint => {
                meter.pint(base_rtt, now, time, behind);
                Some(Measure::of(meter.busy, self.base_rtt))
            }
            Telemetry::Int if is_data => {
                let flow = Flow { src: packet.src, dst: departure.dst, number: packet.flow() }.word();
                let sample = Sample { at: now, sent: meter.sent, behind };
                meter.int(base_rtt, self.keep, flow, sample)
            }
            Telemetry::Int => None,
        };
        meter.sent += departure.time;
        if let Some(measure) = measure.filter(|_| is_data)
            && Measure::from(words[0]).is_none_or(|busiest| busiest.busy < measure.busy)
        {
            words[0] = measure.word();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::testing;

    fn meters(telemetry: Telemetry) -> Meters {
        Meters::new(telemetry, [1000, 10_000], 1)
    }

    fn busy(words: [u64; 2]) -> f32 {
        Measure::from(words[0]).expect("it was measured").busy
    }

    #[test]
    fn a_link_that_is_always_sending_is_busy_by_what_it_sends_and_what_waits() {
        let meter = |gap: Tick, waiting: u32| {
            let mut meters = meters(Telemetry::Pint);
            let mut words = [0; 2];
            for turn in 1..500 {
                let (now, flits, time) = (turn * gap, 10, 20);
                let departure = Departure {
                    now,
                    port: 0,
                    endpoint: None,
                    flits,
                    time,
                    waiting: waiting + flits,
                    at_inputs: 0,
                    has_credit: true,
                    kind: Kind::Data,
                    dst: 0,
                };
                words = [0; 2];
                meters.on_dequeue(&departure, &mut Cold::default(), &mut words);
            }
            busy(words)
        };
        // All of its time, half of it, and a packet in five round trips.
        assert!((meter(20, 0) - 1.0).abs() < 1e-3, "{}", meter(20, 0));
        assert!((meter(40, 0) - 0.5).abs() < 1e-3);
        assert!((meter(5000, 0) - 20.0 / 5000.0).abs() < 1e-9);
        // 250 flits take 500 ticks, half a round trip.
        assert!((meter(20, 250) - 1.5).abs() < 1e-3);
    }

    /// Every flow finds the channel as busy as it was since its own packet before, however seldom it sends.
    #[test]
    fn a_flow_measures_from_its_packet_before() {
        let mut meters = meters(Telemetry::Int);
        let mut leave = |now: Tick, src: u32, waiting: u32, kind: Kind| {
            let mut words = [0; 2];
            let departure = testing::departure(now, waiting + 10, 10, kind);
            assert_eq!(departure.time, 20);
            meters.on_dequeue(&departure, &mut Cold { src, ..Cold::default() }, &mut words);
            Measure::from(words[0])
        };
        assert_eq!(leave(100, 1, 0, Kind::Data), None, "its first");
        for turn in 1..=40 {
            // Another flow and acknowledgements, back to back, and 500 flits behind them.
            let kind = if turn % 2 == 0 { Kind::Ack } else { Kind::Data };
            leave(100 + 20 * turn, 2, 500, kind);
        }
        assert_eq!(
            leave(920, 1, 500, Kind::Data),
            Some(Measure { busy: 1.0, over: 820 }),
            "nothing waited before"
        );
        let half = leave(1000, 1, 250, Kind::Data).unwrap();
        assert_eq!(half, Measure { busy: 0.25 + 0.5, over: 80 }, "its own packet, and 250 flits");
        assert_eq!(leave(11_001, 1, 0, Kind::Data), None, "after a silence longer than samples are kept");
        assert_eq!(leave(21_001, 1, 0, Kind::Data), Some(Measure { busy: 0.002, over: 10_000 }));
    }

    #[test]
    fn flows_that_are_silent_for_long_are_forgotten() {
        let mut meter = Meter::default();
        for turn in 0..10_000 {
            let sample = Sample { at: 100 * turn, ..Sample::default() };
            assert_eq!(meter.int(1000.0, 10_000, turn, sample), None);
        }
        assert!(meter.flows.len() < 4 * FEW, "{}", meter.flows.len());
    }

    #[test]
    fn all_packets_make_a_link_busy_and_the_busiest_link_of_the_way_counts() {
        let mut m = meters(Telemetry::Pint);
        let mut words = [0; 2];
        for turn in 1..1000 {
            let kind = if turn % 2 == 0 { Kind::Ack } else { Kind::Data };
            words = [0; 2];
            m.on_dequeue(&testing::departure(20 * turn, 10, 10, kind), &mut Cold::default(), &mut words);
        }
        assert!((busy(words) - 1.0).abs() < 1e-3, "{}", busy(words));
        let mut words = [Measure { busy: 2.0, over: 1000 }.word(), 0];
        m.on_dequeue(&testing::departure(20_000, 10, 10, Kind::Data), &mut Cold::default(), &mut words);
        assert_eq!(Measure::from(words[0]), Some(Measure { busy: 2.0, over: 1000 }));
        let mut words = [7, 9];
        m.on_dequeue(&testing::departure(20_020, 10, 10, Kind::Ack), &mut Cold::default(), &mut words);
        assert_eq!(words, [7, 9]);
    }
}
