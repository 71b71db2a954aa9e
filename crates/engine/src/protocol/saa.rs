//! Single-application assignment: explicit rates by which all flows of a phase end as early as their routes allow.
use super::{Pull, Received, Reply, Scheme, Sent, Source};
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::core::{NEVER, Tick};
use crate::nic::injection::{Injection, Paced};
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Explicit rates for the phases of one application: every flow gets its share of the busiest link on its way.
///
/// # What it does
///
/// A flow (a message) of weight w announces itself to the links on its way before its first packet, asks them now and then for
/// what they have to carry, and takes its leave behind its last packet. Its rate is w / W, where W is the largest time that any
/// link of its way needs for its flows. Then no link has more than it can carry, and all flows end within the largest W: no
/// rates are faster on these routes.
///
/// # Where it acts
///
/// Source (announces, probes, ends; injects by rate), switches (each link keeps the flits of its flows), destination (sends the
/// control packets back).
///
/// # Parameters
///
/// The paper gives none. A probe that brings no news doubles the time to the next; one that does puts it back to
/// `probe_period`. Without `hold` the first flows to be announced begin at rates that know nothing of the others, and fill
/// buffers that links at full load never empty: the six flows of the paper's Fig. 1 then take 4.3 to 4.5 ms instead of 4.
///
/// # Paper
///
/// Y. Birk, V. Zdornov, "Improving communication-phase completion times in HPC clusters through congestion mitigation",
/// SYSTOR 2009, sections 5 and 6.
///
/// # Differences from the paper
///
/// The announcement travels in the packet that sets up a route (`flow-adaptive`) and the leave in the one that removes it;
/// probes are packets of their own with priority, not fields of data packets. The endpoint's own channel counts as a link of
/// the way without being asked. `hold` is ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Saa {
    /// How the flows of a source take turns.
    pub injection: Injection,
    /// Shortest time between two probes of a flow.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub probe_period: Duration,
    /// Time from a flow's announcement to its first data. Over `probe_period` and a round trip, data start at rates that know of
    /// all flows announced meanwhile.
    pub hold: Duration,
}

impl Default for Saa {
    fn default() -> Self {
        Self {
            injection: Injection::PeriodicSelection,
            probe_period: Duration::Ps(10_000_000),
            hold: Duration::Ps(20_000_000),
        }
    }
}

/// State of a send queue: what its flow knows.
#[derive(Debug, Default)]
pub struct Known {
    paced: Paced,
    /// When `paced.load` came to its value.
    settled: Tick,
    /// How long after the last probe the next is due.
    period: Tick,
    probing: bool,
}

/// The source of [`Saa`], in ticks.
pub struct Explicit {
    injection: Injection,
    probe_period: Tick,
    hold: Tick,
    acknowledge: bool,
    control: u8,
    data: u8,
}

impl Source for Explicit {
    type Queue = Known;
    type Sink = ();

    fn injection(&self) -> Option<Injection> {
        Some(self.injection)
    }

    fn flow(&self, queue: &SendQueue<Known>) -> Paced {
        queue.state.paced
    }

    /// Asked only while the flow is announced and has data, or nothing at all.
    fn pull(&self, queue: &SendQueue<Known>, now: Tick) -> Pull {
        let state = &queue.state;
        if !queue.has_message() {
            Pull::Wait
        } else if !state.probing && state.paced.probe_at <= now {
            Pull::Control(self.control, Kind::Probe, [0; 2])
        } else if state.paced.from > now {
            Pull::At(state.paced.from.min(state.paced.probe_at.max(now + 1)))
        } else {
            Pull::Next(self.data)
        }
    }

    /// Data carry the load of the busiest link as the source knows it, and when it came to know it.
    fn stamp(&self, queue: &SendQueue<Known>, _: Pull, packet: &mut Packet) {
        packet.notes.words = [queue.state.paced.load, queue.state.settled];
    }

    fn on_sent(&self, queue: &mut SendQueue<Known>, sent: &Sent) {
        let state = &mut queue.state;
        match sent.packet.hot.kind() {
            Kind::SetUp => {
                *state = Known { paced: Paced { probe_at: NEVER, ..Paced::default() }, ..Known::default() }
            }
            Kind::Probe => state.probing = true,
            Kind::Data => {
                let flits = sent.packet.hot.flits();
                state.paced.sent += u64::from(flits);
                state.paced.last = Some((sent.now, flits));
            }
            _ => {}
        }
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Return
    }

    fn on_control(&self, queue: &mut SendQueue<Known>, packet: &Packet, now: Tick) {
        let ([kind, load], state) = (packet.notes.words, &mut queue.state);
        let is_news = load != state.paced.load;
        if kind == Kind::SetUp as u64 {
            state.paced.from = now + self.hold;
        } else if kind == Kind::Probe as u64 {
            state.probing = false;
        } else {
            return;
        }
        if is_news {
            (state.paced.load, state.settled) = (load, now);
        }
        state.period = if is_news { self.probe_period } else { state.period.saturating_mul(2) };
        state.paced.probe_at = now.saturating_add(state.period);
    }

    fn reply(&self, _: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        if self.acknowledge {
            replies.extend(received.acknowledge(true, self.control));
        }
    }
}

impl Scheme for Saa {
    fn announces(&self) -> bool {
        true
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let source = Explicit {
            injection: self.injection,
            probe_period: plan.ticks(self.probe_period).max(1),
            hold: plan.ticks(self.hold),
            acknowledge,
            control: 0,
            data: 1,
        };
        Box::new(NicSet::new(source, plan, share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::queue::Message;

    fn explicit(hold: Tick) -> Explicit {
        let injection = Injection::PeriodicSelection;
        Explicit { injection, probe_period: 100, hold, acknowledge: false, control: 0, data: 1 }
    }

    fn back(kind: Kind, load: u64) -> Packet {
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Return, 1);
        packet.notes.words = [kind as u64, load];
        packet
    }

    #[test]
    fn a_probe_without_news_doubles_the_time_to_the_next() {
        let (source, mut queue) = (explicit(0), SendQueue::<Known>::default());
        queue.push(Message::new(0, 3, 100, 0));
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
        let (source, mut queue) = (explicit(250), SendQueue::<Known>::default());
        queue.push(Message::new(0, 3, 100, 0));
        source.on_control(&mut queue, &back(Kind::SetUp, 400), 10);
        assert_eq!(source.pull(&queue, 10), Pull::At(110));
        source.on_control(&mut queue, &back(Kind::Probe, 900), 130);
        assert_eq!(source.pull(&queue, 131), Pull::At(230));
        source.on_control(&mut queue, &back(Kind::Probe, 900), 240);
        assert_eq!(source.pull(&queue, 260), Pull::Next(1));
    }
}
