//! Last-hop reservation protocol.
use super::reach::Reach;
use super::scheduler::{Lead, Pace, Scheduler};
use super::stops::{FirstTries, Stops};
use super::{
    Agent, Arrival, CONTROL, DATA, Defaults, Interest, Pull, Received, Reply, SPECULATIVE, Scheme, Sent,
    Source, Verdict, granted, idle,
};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{FlitTime, Plan, Share, TrafficClass};
use crate::nic::queue::{Again, SendQueue};
use crate::nic::{NicSet, Nics};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Last-hop reservation protocol: packets go speculatively; a switch that has too much queued for one of its endpoints
/// drops them and returns the time at which to send again.
///
/// # What it does
///
/// Every packet is first sent in a class of low priority that may be dropped at the switch of its destination while
/// more than `threshold` flits wait there for the endpoint. The refusal carries a time from the endpoint's scheduler;
/// at that time the packet is sent again in the data class, which is never dropped: of refused packets the one of the earliest
/// time goes first. A packet that may be dropped is always acknowledged, whatever `endpoint.acknowledge` says: its source keeps it
/// until then.
///
/// Every packet counts among the flits that wait, whatever its class, until its tail has left the switch; one that arrives does not,
/// and is looked at when it has passed the pipeline. A reservation for refused packets goes no further than that switch either,
/// and the packets get their places in the granted interval one behind the other.
///
/// # Where it acts
///
/// Source (speculative first, resend at the granted time, coalesce), last-hop switch (scheduler, drop).
///
/// # Parameters
///
/// A `threshold` of 1000 flits is that of the paper's Table 1; the others are ours.
///
/// # Paper
///
/// N. Jiang, L. Dennison, W. J. Dally, "Network Endpoint Congestion Control for Fine-Grained Communication", SC '15,
/// sections 3.2 and 6.1.
///
/// # Differences from the paper
///
/// The paper gives no fabric time-out and no rule for coalescing; both are parameters here. Nor does it say what else in a send
/// queue a refusal stops, and everything depends on that. Sources that keep making first attempts as their messages are created
/// send 7.5 times what a hot endpoint can take in the paper's figure 6, and jam the class in which all the others speculate
/// (`stops = "message"`: 316 thousand flits wait in the network after 149 us, and ever more). Sources that stop until nothing
/// of a queue waits for a granted time start again all at once, with everything that has piled up (`stops = "queue"`: 96
/// thousand). By default, first attempts continue only as packets of the queue arrive, so that the amount in flight never
/// exceeds what it was at the first refusal (`stops = "growth"`: 14 thousand in the first 12 us, at most 9 thousand later); the
/// endpoint is as busy. The price is that its sources may share it less evenly than under "queue".
///
/// The paper's scheduler may grant the present time, which no source can meet. What is late by the way of the refusal stays in front of
/// a hot endpoint, as a queue of about a network latency: in the paper's figure 5a a packet takes 2.13 us at twice the endpoint's rate, and
/// 1.15 us with `lead = "way"` (one seed), which the paper does not have. The first author's public simulator (BookSim2, branch SRP_IAR)
/// has such a setting, `reservation_dest_lat_accounting`, off by default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lhrp {
    /// Flits queued for an endpoint in its switch above which an arriving speculative packet is dropped. By default 1000 flits; where
    /// that is more than three quarters of what that switch can hold for an endpoint (in its output queue and at the ports of links of one
    /// class, by which all of it may come), half of what it can hold: short links have small buffers, unless `[switch]` gives larger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Size>,
    /// Time in input buffers after which a speculative packet is dropped anywhere in the network; without it, never.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric_drop: Option<Duration>,
    /// Refusals without a time in a row, to one destination, after which refused packets are coalesced into one reservation, for
    /// which messages that have not been sent wait (only with `fabric_drop`).
    #[schemars(range(min = 1))]
    pub coalesce_after: u32,
    /// How soon a granted time may be.
    pub lead: Lead,
    /// What a refusal keeps from being sent speculatively.
    pub stops: Stops,
}

impl Default for Lhrp {
    fn default() -> Self {
        Self { threshold: None, fabric_drop: None, coalesce_after: 3, lead: Lead::None, stops: Stops::Growth }
    }
}

/// Traffic classes that [`Speculate`] sends in.
#[derive(Debug, Clone, Copy)]
pub struct Classes {
    /// Reservations.
    pub reservation: u8,
    /// Acknowledgements, refusals and grants.
    pub control: u8,
    /// Packets sent again at their times.
    pub data: u8,
    /// Packets sent first.
    pub speculative: u8,
}

/// The classes of LHRP alone.
const CLASSES: Classes = Classes { reservation: 0, control: 0, data: 1, speculative: 2 };

/// Mark of the second word of a reservation for refused packets; the other bits are the flits.
const COALESCED: u64 = 1 << 63;

/// State of a send queue.
#[derive(Debug, Default)]
pub struct Refused {
    /// Refusals without a time in a row.
    in_a_row: u32,
    /// Packets refused without a time, to be tried again.
    packets: Vec<Again>,
    /// Whether a reservation is under way.
    reserved: bool,
    /// Packets that wait for their granted times.
    waiting: u32,
    /// First tries that may go meanwhile.
    tries: FirstTries,
}

impl Refused {
    /// Whether it is as that of a new queue.
    pub fn is_idle(&self) -> bool {
        self.packets.is_empty() && !self.reserved && self.in_a_row == 0
    }
}

/// The sending side of LHRP: the state machine of a send queue, whatever else the queue's state `Q` holds.
#[derive(Debug, Clone, Copy)]
pub struct Speculate {
    /// Its traffic classes.
    pub classes: Classes,
    /// Refusals without a time in a row after which waiting packets are reserved for.
    pub coalesce_after: u32,
    /// Time in which an endpoint takes a flit: grants reckon by it.
    pub flit: FlitTime,
    /// What a refusal stops.
    pub stops: Stops,
    /// Whether packets sent at their times are acknowledged.
    pub acknowledge: bool,
}

impl Speculate {
    /// The reservation for packets that were refused without a time, if one is due.
    pub fn reservation(&self, state: &Refused) -> Option<Pull> {
        if state.reserved || state.packets.is_empty() {
            return None;
        }
        let flits = state.packets.iter().map(|packet| packet.flits as u64).sum::<u64>();
        Some(Pull::Control(self.classes.reservation, Kind::Reservation, [flits, COALESCED | flits]))
    }

    /// The next packet of the first message, unless a reservation is under way or refusals stop it.
    pub fn next(&self, state: &Refused) -> Option<Pull> {
        let may = !state.reserved && state.tries.may(self.stops, state.waiting > 0);
        may.then_some(Pull::Next(self.classes.speculative))
    }

    /// Whether a grant answers a reservation of this machine.
    pub fn is_own(grant: &Packet) -> bool {
        grant.notes.words[1] & COALESCED != 0
    }

    /// A packet was sent.
    pub fn on_sent(&self, state: &mut Refused, sent: &Sent) {
        match sent.pull {
            Pull::Control(_, Kind::Reservation, _) => state.reserved = true,
            Pull::Next(_) => state.tries.on_sent(),
            Pull::Again(class) if class == self.classes.data => {
                state.waiting -= 1;
                state.tries.on_again(self.acknowledge);
            }
            _ => {}
        }
    }

    /// A control packet came.
    pub fn on_control<Q>(&self, state: &mut Refused, queue: &mut SendQueue<Q>, packet: &Packet, now: Tick) {
        let time = granted(packet);
        match packet.hot.kind() {
            Kind::Ack => {
                state.in_a_row = 0;
                state.tries.on_arrival();
            }
            Kind::Grant => {
                state.reserved = false;
                state.in_a_row = 0;
                let flits = packet.notes.words[1] & !COALESCED;
                self.place(state, queue, time.expect("a grant carries a time"), flits as u32);
            }
            Kind::Nack => match time {
                Some(at) => {
                    state.in_a_row = 0;
                    self.wait(state, queue, Again::refused(packet, self.classes.data, at));
                }
                None => self.try_again(state, queue, packet, now),
            },
            kind => unreachable!("{kind:?} is not for LHRP"),
        }
    }

    fn try_again<Q>(&self, state: &mut Refused, queue: &mut SendQueue<Q>, packet: &Packet, now: Tick) {
        state.in_a_row += 1;
        if state.in_a_row >= self.coalesce_after || state.reserved {
            state.packets.push(Again::refused(packet, self.classes.data, now));
        } else {
            queue.try_again(Again::refused(packet, self.classes.speculative, now));
        }
    }

    /// A refused packet waits for its granted time.
    fn wait<Q>(&self, state: &mut Refused, queue: &mut SendQueue<Q>, packet: Again) {
        state.tries.on_refusal(state.waiting > 0);
        state.waiting += 1;
        queue.again(packet);
    }

    /// The refused packets that a grant of `flits` covers get their places in its interval, one behind the other.
    fn place<Q>(&self, state: &mut Refused, queue: &mut SendQueue<Q>, start: Tick, flits: u32) {
        let mut placed = 0;
        let mut packets = std::mem::take(&mut state.packets).into_iter();
        while placed < flits {
            let Some(mut packet) = packets.next() else { break };
            packet.at = start + self.flit.span(placed.into());
            placed += packet.flits;
            self.wait(state, queue, packet);
        }
        state.packets = packets.collect();
    }
}

/// The source of [`Lhrp`].
struct Sender {
    machine: Speculate,
}

impl Source for Sender {
    type Queue = Refused;
    type Sink = ();

    fn pull(&self, queue: &SendQueue<Refused>, now: Tick) -> Pull {
        if let Some(pull) = queue.again_by(now) {
            return pull;
        }
        if let Some(retry) = queue.retry() {
            return Pull::Again(retry.class);
        }
        let next = || queue.has_message().then(|| self.machine.next(&queue.state)).flatten();
        let pull = self.machine.reservation(&queue.state).or_else(next);
        pull.unwrap_or_else(|| queue.due().map_or(Pull::Wait, |due| Pull::At(due.at)))
    }

    fn on_sent(&self, queue: &mut SendQueue<Refused>, sent: &Sent) {
        self.machine.on_sent(&mut queue.state, sent);
    }

    fn hears(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Nack | Kind::Grant | Kind::Ack)
    }

    fn on_control(&self, queue: &mut SendQueue<Refused>, packet: &Packet, now: Tick) {
        let mut state = std::mem::take(&mut queue.state);
        self.machine.on_control(&mut state, queue, packet, now);
        queue.state = state;
    }

    fn idle(&self, queue: &SendQueue<Refused>, _now: Tick) -> bool {
        queue.state.is_idle()
    }

    fn plain(&self, queue: &SendQueue<Refused>, now: Tick) -> Option<u8> {
        self.idle(queue, now).then_some(self.machine.classes.speculative)
    }

    fn unqueued(&self) -> Option<u8> {
        Some(self.machine.classes.speculative)
    }

    fn reply(&self, _sink: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        replies.extend(received.acknowledge(self.machine.acknowledge, CLASSES.control));
    }
}

/// Flits of the threshold in the paper's Table 1.
const THRESHOLD: u32 = 1000;

/// The last-hop switches' schedulers and drop rule.
struct LastHop {
    threshold: u32,
    time_to_wait: Option<Tick>,
    pace: Pace,
    schedulers: Vec<Scheduler>,
}

impl Agent for LastHop {
    fn interest(&self) -> Interest {
        Interest { last_hop: true, time_to_wait: self.time_to_wait, ..Interest::default() }
    }

    fn on_arrive(&mut self, arrival: &Arrival, packet: &Packet) -> Verdict {
        let scheduler = &mut self.schedulers[arrival.endpoint as usize];
        if packet.hot.kind() == Kind::Reservation {
            return Verdict::Consume(scheduler.answer(packet, self.pace, arrival.now, CLASSES.control));
        }
        if !arrival.droppable || arrival.level <= self.threshold {
            return Verdict::Keep;
        }
        let earliest = self.pace.earliest(packet, arrival.now);
        let time = scheduler.grant(earliest, self.pace.span(packet.hot.flits() as u64));
        Verdict::Drop(Reply::refusal(CLASSES.control, packet, Some(time)))
    }

    fn on_expire(&mut self, packet: &Packet) -> Reply {
        Reply::refusal(CLASSES.control, packet, None)
    }
}

/// The flits of a threshold; of none given, of the default.
pub(super) fn threshold_flits(plan: &Plan, threshold: Option<Size>) -> u32 {
    threshold.map_or_else(|| reach(plan).limit(THRESHOLD), |given| plan.flits(given))
}

/// The threshold if none is given.
pub(super) fn default_threshold(plan: &Plan, threshold: Option<Size>) -> Option<(String, Value)> {
    threshold
        .is_none()
        .then(|| ("threshold".to_string(), json!(Size::Flits(threshold_flits(plan, None).into()))))
}

/// The warning that a threshold is out of reach.
pub(super) fn out_of_reach(plan: &Plan, threshold: Option<Size>) -> Option<String> {
    reach(plan).warning("threshold", plan.flits(threshold?), "anything is dropped")
}

fn reach(plan: &Plan) -> Reach {
    Reach::new(plan, |class| class.droppable)
}

impl Scheme for Lhrp {
    fn remarks(&self, plan: &Plan) -> Vec<String> {
        let coalesces = self.coalesce_after != Self::default().coalesce_after && self.fabric_drop.is_none();
        let reach = out_of_reach(plan, self.threshold);
        reach.into_iter().chain(idle("coalesce_after", coalesces, "fabric_drop")).collect()
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
        Vec::from_iter(default_threshold(plan, self.threshold))
    }

    fn classes(&self, _acknowledge: bool) -> Vec<TrafficClass> {
        vec![CONTROL, DATA, TrafficClass { times_out: self.fabric_drop.is_some(), ..SPECULATIVE }]
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let machine = Speculate {
            classes: CLASSES,
            coalesce_after: self.coalesce_after,
            flit: FlitTime::of(&plan.drain_time),
            stops: self.stops,
            acknowledge,
        };
        Box::new(NicSet::new(Sender { machine }, plan, share))
    }

    fn agent(&self, plan: &Plan, share: &Share) -> Box<dyn Agent> {
        Box::new(LastHop {
            threshold: threshold_flits(plan, self.threshold),
            time_to_wait: self.fabric_drop.map(|limit| plan.ticks(limit)),
            pace: Pace::new(plan, 0.0).leading(self.lead),
            schedulers: vec![Scheduler::default(); share.endpoints.len()],
        })
    }
}
