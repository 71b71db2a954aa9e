//! How switches mark the packets at the root of congestion: the agent of ECN, and of SRP where ECN switches it on.
use super::{Agent, Departure, Interest};
use crate::core::packet::{Cold, Kind};
use crate::rng::{mix, scale};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is compared with the threshold of a root of congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Flits that wait for the output at all inputs and in its output queue, with the packet that leaves.
    All,
    /// Flits that wait for it at the inputs.
    Inputs,
}

/// Marks packets at the root of congestion.
pub struct Marker {
    /// Flits that wait for an output above which its packets are marked.
    pub threshold: u32,
    /// Which flits.
    pub counts: Counts,
    /// Mean number of packets that are not marked between two that are.
    pub marking_rate: u32,
    /// The seed of the run.
    pub seed: u64,
}

impl Marker {
    /// Whether a packet is one of those that are marked: by a hash of what it is, so that no port keeps a count.
    fn picks(&self, packet: &Cold) -> bool {
        let who = mix((packet.src as u64) << 32 | packet.message as u64, packet.sequence().into());
        scale(mix(self.seed, who), self.marking_rate.saturating_add(1)) == 0
    }
}

impl Agent for Marker {
    fn interest(&self) -> Interest {
        let at_inputs = self.counts == Counts::Inputs;
        Interest { departures: true, at_inputs, ..Interest::default() }
    }

    fn on_dequeue(&mut self, departure: &Departure, packet: &mut Cold, _: &mut [u64; 2]) {
        let waiting = match self.counts {
            Counts::All => departure.waiting,
            Counts::Inputs => departure.at_inputs,
        };
        let is_root = waiting > self.threshold && departure.has_credit;
        if departure.kind == Kind::Data && is_root && self.picks(packet) {
            packet.mark(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marking_rate_of_n_marks_one_packet_in_n_plus_one() {
        let marked = |rate, seed| {
            let mut marker = Marker { threshold: 10, counts: Counts::All, marking_rate: rate, seed };
            let departure = Departure {
                now: 0,
                port: 0,
                endpoint: None,
                time: 1,
                flits: 1,
                waiting: 11,
                at_inputs: 0,
                has_credit: true,
                kind: Kind::Data,
                dst: 0,
            };
            let is_marked = |message| {
                let mut packet = Cold { message, ..Cold::default() };
                marker.on_dequeue(&departure, &mut packet, &mut [0; 2]);
                packet.marked()
            };
            Vec::from_iter((0..10_000).map(is_marked))
        };
        let count = |marked: &[bool]| marked.iter().filter(|&&marked| marked).count();
        assert_eq!(count(&marked(0, 1)), 10_000);
        let (one, other) = (marked(9, 1), marked(9, 2));
        assert!((850..1150).contains(&count(&one)), "{}", count(&one));
        // Another seed marks others: one in a hundred is marked under both.
        let both = Vec::from_iter(one.iter().zip(&other).map(|(one, other)| *one && *other));
        assert!((60..150).contains(&count(&both)), "{}", count(&both));
    }
}
