//! Speculative reservation protocol for small messages.
use super::scheduler::{Lead, Pace, Scheduler};
use super::stops::{FirstTries, Stops};
use super::time_out::TimeOut;
use super::{
    Agent, CONTROL, DATA, GRANT, Pull, RESERVATION, Received, Reply, SPECULATIVE, Scheme, Sent, Source,
    granted,
};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share, TrafficClass};
use crate::nic::queue::{Again, SendQueue};
use crate::nic::{NicSet, Nics};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// Small-message speculative reservation protocol: packets go speculatively, and only one that is dropped reserves.
///
/// # What it does
///
/// Every packet is first sent in a class of low priority, where it is dropped once it has waited for `time_to_wait` in all. For
/// a dropped packet the source sends a reservation to the destination, and at the granted time the packet goes again in the
/// data class, which is never dropped: of these the one of the earliest time goes first. A packet whose time passes in a tick
/// is dropped, though it could go in that tick, and so is one that comes to the head of its queue later than that.
///
/// A reservation goes in the turn of its send queue, behind data whose time has come. A packet waits, for what it `stops`, from
/// its refusal until it is sent again. The granted interval is that of its flits and `overhead`, longer by `epsilon`, in ticks
/// rounded up.
///
/// # Where it acts
///
/// Source (speculation, reservation, resend), switch (drop by queueing time), destination (scheduler).
///
/// # Parameters
///
/// Those of the paper's Table 1 and section 4.
///
/// # Paper
///
/// N. Jiang, L. Dennison, W. J. Dally, "Network Endpoint Congestion Control for Fine-Grained Communication", SC '15,
/// section 3.1.
///
/// # Differences from the paper
///
/// The paper considers messages of one packet; here a longer one makes a reservation for each dropped packet. The paper does
/// not say either what else in a send queue a refusal stops. If nothing (`stops = "message"`), a hot spot of 15 times its
/// endpoint's rate makes a reservation for every message, 3.75 times what the ejection channel carries, for these flits alone,
/// and no data arrives; in the paper what arrives falls at most to what SRP has. By default what a queue has under way does not
/// grow while refused packets of it wait, as in LHRP, and a packet of 4 flits takes its channel for 5 flit times, its
/// reservation's included. The `overhead` is ours too: without it the destination grants all of its time to data, and the time
/// that reservations take up piles up as packets waiting in the network (14 us a packet at twice the rate, 3 us with it). The
/// first author's public simulator (BookSim2, branch SRP_IAR) has such a setting, `reservation_control_overhead`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Smsrp {
    /// Time in the input buffers of all switches together after which a speculative packet is dropped.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub time_to_wait: Duration,
    /// Part by which a granted interval is longer than its data, to leave time for control packets.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub epsilon: f64,
    /// Flits by which a granted interval is longer, whatever it is for: the ejection channel's time for the reservation
    /// itself.
    pub overhead: Size,
    /// How soon a granted time may be.
    pub lead: Lead,
    /// What a refusal keeps from being sent speculatively.
    pub stops: Stops,
}

impl Default for Smsrp {
    fn default() -> Self {
        Self {
            time_to_wait: Duration::Ps(1_000_000),
            epsilon: 0.0,
            overhead: Size::Flits(1),
            lead: Lead::None,
            stops: Stops::Growth,
        }
    }
}

const RESERVATION_CLASS: u8 = 0;
const GRANT_CLASS: u8 = 1;
const CONTROL_CLASS: u8 = 2;
const DATA_CLASS: u8 = 3;
const SPECULATIVE_CLASS: u8 = 4;

/// State of a send queue: where a refused packet stands is where it is on its way to the data class.
#[derive(Debug, Default)]
struct Refused {
    /// No reservation was sent yet.
    waiting: VecDeque<Again>,
    /// A reservation is under way.
    asked: Vec<Again>,
    /// First tries that may go while refused packets wait.
    tries: FirstTries,
}

/// The endpoints of [`Smsrp`].
struct Endpoint {
    stops: Stops,
    acknowledge: bool,
    pace: Pace,
}

/// Whether refused packets of a queue wait to go in the data class.
fn refused(queue: &SendQueue<Refused>) -> bool {
    queue.due().is_some() || !queue.state.waiting.is_empty() || !queue.state.asked.is_empty()
}

impl Source for Endpoint {
    type Queue = Refused;
    type Sink = Scheduler;

    fn pull(&self, queue: &SendQueue<Refused>, now: Tick) -> Pull {
        if let Some(pull) = queue.again_by(now) {
            return pull;
        }
        if let Some(refused) = queue.state.waiting.front() {
            let words = [refused.flits as u64, refused.key()];
            return Pull::Control(RESERVATION_CLASS, Kind::Reservation, words);
        }
        if queue.has_message() && queue.state.tries.may(self.stops, refused(queue)) {
            return Pull::Next(SPECULATIVE_CLASS);
        }
        queue.due().map_or(Pull::Wait, |due| Pull::At(due.at))
    }

    fn on_sent(&self, queue: &mut SendQueue<Refused>, sent: &Sent) {
        match sent.pull {
            Pull::Control(..) => {
                let asked = queue.state.waiting.pop_front();
                queue.state.asked.extend(asked);
            }
            Pull::Next(_) => queue.state.tries.on_sent(),
            Pull::Again(_) => queue.state.tries.on_again(self.acknowledge),
            _ => {}
        }
    }

    fn hears(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Nack | Kind::Grant) || kind == Kind::Ack && self.stops == Stops::Growth
    }

    fn on_control(&self, queue: &mut SendQueue<Refused>, packet: &Packet, now: Tick) {
        match packet.hot.kind() {
            Kind::Ack => return queue.state.tries.on_arrival(),
            Kind::Nack => {
                let others = refused(queue);
                queue.state.tries.on_refusal(others);
                return queue.state.waiting.push_back(Again::refused(packet, DATA_CLASS, now));
            }
            _ => {}
        }
        let key = packet.notes.words[1];
        let at = queue.state.asked.iter().position(|asked| asked.key() == key);
        let asked = queue.state.asked.swap_remove(at.expect("law broken: a grant for no reservation"));
        queue.again(Again { at: granted(packet).expect("a grant carries a time"), ..asked });
    }

    fn idle(&self, queue: &SendQueue<Refused>, _now: Tick) -> bool {
        queue.state.waiting.is_empty() && queue.state.asked.is_empty()
    }

    fn plain(&self, queue: &SendQueue<Refused>, now: Tick) -> Option<u8> {
        self.idle(queue, now).then_some(SPECULATIVE_CLASS)
    }

    fn unqueued(&self) -> Option<u8> {
        Some(SPECULATIVE_CLASS)
    }

    fn reply(&self, scheduler: &mut Scheduler, received: &Received, replies: &mut Vec<Reply>) {
        if received.packet.hot.kind() == Kind::Reservation {
            replies.push(scheduler.answer(received.packet, self.pace, received.now, GRANT_CLASS));
        }
        replies.extend(received.acknowledge(self.acknowledge, CONTROL_CLASS));
    }
}

impl Scheme for Smsrp {
    fn classes(&self, _acknowledge: bool) -> Vec<TrafficClass> {
        vec![RESERVATION, GRANT, CONTROL, DATA, SPECULATIVE]
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        Box::new(NicSet::new(
            Endpoint {
                stops: self.stops,
                acknowledge,
                pace: Pace::new(plan, self.epsilon).beside(plan.flits(self.overhead)).leading(self.lead),
            },
            plan,
            share,
        ))
    }

    fn agent(&self, plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        let time_to_wait = plan.ticks(self.time_to_wait);
        Box::new(TimeOut { time_to_wait, control: CONTROL_CLASS, marker: None })
    }
}
