//! Explicit congestion notification after InfiniBand.
use super::{Agent, CONTROL, DATA, Departure, Interest, Pull, Received, Reply, Scheme, Sent, Source};
use crate::core::Tick;
use crate::core::packet::{Cold, Kind, Packet};
use crate::core::plan::{Plan, Share, TrafficClass};
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Explicit congestion notification after InfiniBand: marks at the root of congestion, a delay between packets at the
/// source.
///
/// What it does: a switch marks the packets that leave by a port with a long queue; the mark goes back to the source,
/// which adds a delay between the packets of that send queue, and takes it off step by step when no mark comes.
/// Where it acts: switch (mark at departure), destination (returns the mark), source (delay per send queue).
/// Paper: N. Jiang et al., "Network Endpoint Congestion Control for Fine-Grained Communication", SC '15, Table 1, and
/// N. Jiang et al., "Network Congestion Avoidance Through Speculative Reservation", HPCA 2012, section 4.
/// Differences: the papers give no rule for the root; here it is a port whose waiting flits exceed the threshold while
/// its channel has credit for another packet. SC '15 gives no decrement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ecn {
    /// How a mark returns to the source.
    pub notify: Notify,
    /// Flits waiting for an output (all inputs and its output queue) above which packets are marked, if the channel has
    /// credits.
    pub threshold: Size,
    /// Added to the inter-packet delay by each notification.
    pub increment: Duration,
    /// Taken off the delay once per `timer` without a notification.
    pub decrement: Duration,
    /// Period of the decrement.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub timer: Duration,
}

impl Default for Ecn {
    fn default() -> Self {
        Self {
            notify: Notify::Acknowledgement,
            threshold: Size::Flits(192),
            increment: Duration::Cycles(24),
            decrement: Duration::Cycles(1),
            timer: Duration::Cycles(96),
        }
    }
}

/// How a mark returns to the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Notify {
    /// Echoed in the acknowledgement.
    Acknowledgement,
    /// As a control packet of its own, one per marked packet.
    Notification,
}

/// State of a send queue.
#[derive(Debug, Default)]
pub struct Delay {
    /// Delay between packets as of `since`.
    delay: Tick,
    /// Time of the last notification, or of the last decrement that was taken off.
    since: Tick,
    /// Earliest start of the next packet.
    next: Tick,
}

/// The source of [`Ecn`], in ticks.
pub struct Throttle {
    acknowledge: bool,
    notify: Notify,
    increment: Tick,
    decrement: Tick,
    timer: Tick,
    control: u8,
    data: u8,
}

impl Throttle {
    /// The delay at `now`: one decrement less for each whole timer period since the last notification.
    fn delay(&self, state: &Delay, now: Tick) -> Tick {
        let periods = (now - state.since) / self.timer;
        state.delay.saturating_sub(periods.saturating_mul(self.decrement))
    }

    /// When the queue can be forgotten: no delay is left, and the last one has passed.
    fn zero_at(&self, state: &Delay) -> Tick {
        let periods = state.delay.div_ceil(self.decrement.max(1));
        state.next.max(state.since.saturating_add(periods.saturating_mul(self.timer)))
    }
}

impl Source for Throttle {
    type Queue = Delay;
    type Sink = ();

    fn pull(&self, queue: &SendQueue<Delay>, now: Tick) -> Pull {
        if !queue.has_message() {
            let zero = self.zero_at(&queue.state);
            if zero > now { Pull::At(zero) } else { Pull::Wait }
        } else if queue.state.next > now {
            Pull::At(queue.state.next)
        } else {
            Pull::Next(self.data)
        }
    }

    fn on_sent(&self, queue: &mut SendQueue<Delay>, sent: &Sent) {
        queue.state.next = sent.end.saturating_add(self.delay(&queue.state, sent.end));
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Ack && self.notify == Notify::Acknowledgement || kind == Kind::Notification
    }

    fn on_control(&self, queue: &mut SendQueue<Delay>, packet: &Packet, now: Tick) {
        if packet.hot.kind() == Kind::Ack && packet.cold.words[0] == 0 {
            return;
        }
        queue.state.delay = self.delay(&queue.state, now).saturating_add(self.increment);
        queue.state.since = now;
    }

    fn idle(&self, queue: &SendQueue<Delay>, now: Tick) -> bool {
        self.zero_at(&queue.state) <= now
    }

    fn reply(&self, _sink: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        if received.packet.hot.kind() != Kind::Data {
            return;
        }
        let marked = received.packet.cold.marked;
        if self.acknowledge {
            replies.push(Reply { kind: Kind::Ack, class: self.control, words: [marked as u64, 0] });
        }
        if marked && self.notify == Notify::Notification {
            replies.push(Reply { kind: Kind::Notification, class: self.control, words: [0; 2] });
        }
    }
}

/// Marks packets at the root of congestion.
pub struct Marker {
    /// Flits that wait for an output above which its packets are marked.
    pub threshold: u32,
}

impl Agent for Marker {
    fn interest(&self) -> Interest {
        Interest { departures: true, ..Interest::default() }
    }

    fn on_dequeue(&mut self, departure: &Departure, packet: &mut Cold) {
        if departure.kind == Kind::Data && departure.waiting > self.threshold && departure.has_credit {
            packet.marked = true;
        }
    }
}

impl Scheme for Ecn {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![CONTROL, DATA]
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let source = Throttle {
            acknowledge,
            notify: self.notify,
            increment: plan.ticks(self.increment),
            decrement: plan.ticks(self.decrement),
            timer: plan.ticks(self.timer).max(1),
            control: 0,
            data: 1,
        };
        Box::new(NicSet::new(source, plan, share))
    }

    fn agent(&self, plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        Box::new(Marker { threshold: plan.flits(self.threshold) })
    }
}
