//! What a refusal stops from being sent speculatively: shared by the protocols that send first and ask later.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a refusal keeps from being sent speculatively.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stops {
    /// The refused packet only: the messages behind it go on speculatively.
    Message,
    /// The send queue, while a packet of it waits for its granted time.
    Queue,
    /// The growth of what the queue has under way: while a packet of it waits for its granted time, a first try goes for
    /// each packet of the queue that has arrived (conservation of packets: V. Jacobson, SIGCOMM 1988). Without
    /// acknowledgements a packet sent at its time counts as it goes.
    Growth,
}

/// First tries that a send queue may make while refused packets of it wait.
#[derive(Debug, Default)]
pub struct FirstTries(u32);

impl FirstTries {
    /// Whether one may go; `refused` tells whether refused packets wait.
    pub fn may(&self, stops: Stops, refused: bool) -> bool {
        !refused
            || match stops {
                Stops::Message => true,
                Stops::Queue => false,
                Stops::Growth => self.0 > 0,
            }
    }

    /// A packet was refused; `refused` tells whether others waited before it.
    pub fn on_refusal(&mut self, refused: bool) {
        if !refused {
            self.0 = 0;
        }
    }

    /// A packet arrived.
    pub fn on_arrival(&mut self) {
        self.0 = self.0.saturating_add(1);
    }

    /// A packet went at its granted time: where arrivals are not `acknowledged`, it counts as it goes.
    pub fn on_again(&mut self, acknowledged: bool) {
        if !acknowledged {
            self.on_arrival();
        }
    }

    /// One went.
    pub fn on_sent(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refused_packets_that_wait_stop_anything() {
        let tries = FirstTries::default();
        for stops in [Stops::Message, Stops::Queue, Stops::Growth] {
            assert!(tries.may(stops, false));
        }
        let may = [Stops::Message, Stops::Queue, Stops::Growth].map(|stops| tries.may(stops, true));
        assert_eq!(may, [true, false, false]);
    }

    #[test]
    fn an_arrival_lets_one_first_try_go() {
        let mut tries = FirstTries::default();
        tries.on_arrival();
        assert!(tries.may(Stops::Growth, true) && !tries.may(Stops::Queue, true));
        tries.on_sent();
        assert!(!tries.may(Stops::Growth, true));
    }

    #[test]
    fn what_arrived_before_the_first_refusal_lets_nothing_go() {
        let mut tries = FirstTries::default();
        tries.on_arrival();
        tries.on_refusal(false);
        assert!(!tries.may(Stops::Growth, true));
        tries.on_arrival();
        tries.on_refusal(true);
        assert!(tries.may(Stops::Growth, true));
    }
}
