//! Last-hop reservation protocol for small messages, speculative reservation protocol for large ones.
use super::lhrp::{Classes, Refused, Speculate};
use super::reservation::{BLOCK_MAX, Reservations, Reserves, Rules, Small, Variant};
use super::scheduler::{Lead, Pace, Scheduler};
use super::stops::Stops;
use super::{
    Agent, Arrival, CONTROL, DATA, Defaults, Interest, Pull, RESERVATION, Received, Reply, SPECULATIVE,
    Scheme, Sent, Source, Verdict, all_shorter, idle,
};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{FlitTime, Plan, Share, TrafficClass};
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Last-hop reservation for small messages, speculative reservation for large ones, with one scheduler in the last-hop
/// switch for both.
///
/// # What it does
///
/// Messages below `threshold_message` go as under `lhrp`, the others as under `srp` (every message reserves, whole).
/// The switch of the destination takes the reservations out of the network and grants them, so that neither protocol
/// costs the ejection channel anything. Which speculative packets are dropped is chosen for each protocol: those that
/// arrive while more than `threshold` flits wait for the endpoint in its switch, or those that have waited too long.
///
/// Messages of both kinds for one destination stand in one send queue, in order: a small one that may not be tried yet
/// holds up a large one behind it. But refusals and acknowledgements of large messages neither stop small ones nor let
/// them go. Of SRP's parameters that have no name here, `n_max = "whole message"`, `epsilon = 0`, `max_outstanding = 0`
/// and `reserves = "with-first-packet"` hold.
///
/// # Where it acts
///
/// Source (both protocols, by message size), last-hop switch (scheduler, drop), switch (drop by queueing time).
///
/// # Parameters
///
/// The defaults are those of the paper's section 6.4 and Table 1.
///
/// # Paper
///
/// N. Jiang, L. Dennison, W. J. Dally, "Network Endpoint Congestion Control for Fine-Grained Communication", SC '15,
/// section 6.4.
///
/// # Differences from the paper
///
/// It does not say in which classes the two kinds of speculative packets go; here each has its own, that of the small
/// messages above, and grants share that of refusals. A large message's packet that is dropped over the threshold
/// gets no second time: its message has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LhrpSrp {
    /// Messages of at least this size go as under SRP.
    pub threshold_message: Size,
    /// Flits queued for an endpoint in its switch above which an arriving speculative packet is dropped. By default as under `lhrp`:
    /// 1000 flits, or less where buffers are small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Size>,
    /// Time in the input buffers of all switches together after which a speculative packet is dropped.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub time_to_wait: Duration,
    /// How packets of small messages are dropped.
    pub drop_small: Drop,
    /// How packets of large messages are dropped.
    pub drop_large: Drop,
    /// Refusals without a time in a row, to one destination, after which waiting small messages are coalesced into one
    /// reservation (only with `drop_small = "timeout"`).
    #[schemars(range(min = 1))]
    pub coalesce_after: u32,
    /// How soon a granted time may be.
    pub lead: Lead,
    /// What a refusal stops from being sent speculatively, of small messages.
    pub stops: Stops,
}

/// How speculative packets are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drop {
    /// On arrival at the last-hop switch, over its threshold.
    Threshold,
    /// Anywhere, after the time-to-wait.
    Timeout,
}

impl Default for LhrpSrp {
    fn default() -> Self {
        Self {
            threshold_message: Size::Flits(48),
            threshold: None,
            time_to_wait: Duration::Ps(1_000_000),
            drop_small: Drop::Threshold,
            drop_large: Drop::Timeout,
            coalesce_after: 3,
            lead: Lead::None,
            stops: Stops::Growth,
        }
    }
}

const RESERVATION_CLASS: u8 = 0;
const CONTROL_CLASS: u8 = 1;
/// Name of the class in which small messages are sent first.
pub const SPECULATIVE_SMALL: &str = "speculative small";

const DATA_CLASS: u8 = 2;
const SMALL_CLASS: u8 = 3;
const LARGE_CLASS: u8 = 4;

/// State of a send queue.
#[derive(Debug, Default)]
struct Both {
    small: Refused,
    large: Reservations,
}

/// The endpoints of [`LhrpSrp`].
struct Endpoint {
    small_below: u32,
    small: Speculate,
    large: Rules,
}

impl Source for Endpoint {
    type Queue = Both;
    type Sink = ();

    fn pull(&self, queue: &SendQueue<Both>, now: Tick) -> Pull {
        if let Some(pull) = queue.again_by(now) {
            return pull;
        }
        if let Some(retry) = queue.retry() {
            return Pull::Again(retry.class);
        }
        let Both { small, large } = &queue.state;
        let next = || match queue.messages().next()?.flits() {
            flits if flits < self.small_below => self.small.next(small),
            _ => self.large.next(large, queue, now),
        };
        let pull = self.small.reservation(small).or_else(next);
        pull.unwrap_or_else(|| self.large.wait(large, queue, now))
    }

    fn plain(&self, queue: &SendQueue<Both>, now: Tick) -> Option<u8> {
        let Both { small, large } = &queue.state;
        let is_small = queue.messages().next()?.flits() < self.small_below;
        match small.is_idle() {
            true if is_small => self.small.next(small).map(|_| self.small.classes.speculative),
            true => self.large.plain(large, queue, now),
            false => None,
        }
    }

    fn on_sent(&self, queue: &mut SendQueue<Both>, sent: &Sent) {
        let small = match sent.pull {
            Pull::Next(_) | Pull::Again(_) => sent.packet.cold.length < self.small_below,
            pull => matches!(pull, Pull::Control(..)),
        };
        if small {
            self.small.on_sent(&mut queue.state.small, sent);
        } else {
            self.large.on_sent(&mut queue.state.large, sent);
        }
    }

    fn hears(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Nack | Kind::Grant | Kind::Ack)
    }

    fn on_control(&self, queue: &mut SendQueue<Both>, packet: &Packet, now: Tick) {
        let mut state = std::mem::take(&mut queue.state);
        let small = match packet.hot.kind() {
            Kind::Grant => Speculate::is_own(packet),
            _ => packet.cold.length < self.small_below,
        };
        if small {
            self.small.on_control(&mut state.small, queue, packet, now);
        } else {
            self.large.on_control(&mut state.large, queue, packet, now);
        }
        queue.state = state;
    }

    fn idle(&self, queue: &SendQueue<Both>, now: Tick) -> bool {
        queue.state.small.is_idle() && queue.state.large.is_idle(now)
    }

    fn reply(&self, _sink: &mut (), received: &Received, replies: &mut Vec<Reply>) {
        replies.extend(received.acknowledge(self.small.acknowledge, CONTROL_CLASS));
    }
}

/// The switches.
struct Switches {
    small_below: u32,
    drop_small: Drop,
    drop_large: Drop,
    threshold: u32,
    time_to_wait: Option<Tick>,
    pace: Pace,
    schedulers: Vec<Scheduler>,
}

impl Agent for Switches {
    fn interest(&self) -> Interest {
        Interest { last_hop: true, time_to_wait: self.time_to_wait, ..Interest::default() }
    }

    fn on_arrive(&mut self, arrival: &Arrival, packet: &Packet) -> Verdict {
        let scheduler = &mut self.schedulers[arrival.endpoint as usize];
        if packet.hot.kind() == Kind::Reservation {
            return Verdict::Consume(scheduler.answer(packet, self.pace, arrival.now, CONTROL_CLASS));
        }
        let small = packet.cold.length < self.small_below;
        let rule = if small { self.drop_small } else { self.drop_large };
        if !arrival.droppable || arrival.level <= self.threshold || rule == Drop::Timeout {
            return Verdict::Keep;
        }
        let span = self.pace.span(packet.hot.flits() as u64);
        let time = small.then(|| scheduler.grant(self.pace.earliest(packet, arrival.now), span));
        Verdict::Drop(Reply::refusal(CONTROL_CLASS, packet, time))
    }

    fn on_expire(&mut self, packet: &Packet) -> Reply {
        Reply::refusal(CONTROL_CLASS, packet, None)
    }
}

impl Scheme for LhrpSrp {
    fn remarks(&self, plan: &Plan) -> Vec<String> {
        let (default, rules) = (Self::default(), [self.drop_small, self.drop_large]);
        let reach = super::lhrp::out_of_reach(plan, self.threshold);
        let coalesces = self.coalesce_after != default.coalesce_after && self.drop_small != Drop::Timeout;
        let waits = self.time_to_wait != default.time_to_wait && !rules.contains(&Drop::Timeout);
        let unused = [
            idle("coalesce_after", coalesces, "drop_small = \"timeout\""),
            idle("time_to_wait", waits, "drop_small or drop_large = \"timeout\""),
        ];
        reach
            .filter(|_| rules.contains(&Drop::Threshold))
            .into_iter()
            .chain(unused.into_iter().flatten())
            .chain(all_shorter(
                plan,
                "threshold_message",
                plan.flits(self.threshold_message),
                "all go as under lhrp",
            ))
            .collect()
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
        Vec::from_iter(super::lhrp::default_threshold(plan, self.threshold))
    }

    fn classes(&self, _acknowledge: bool) -> Vec<TrafficClass> {
        let small = TrafficClass {
            name: SPECULATIVE_SMALL,
            times_out: self.drop_small == Drop::Timeout,
            ..SPECULATIVE
        };
        let large = TrafficClass { times_out: self.drop_large == Drop::Timeout, ..SPECULATIVE };
        vec![RESERVATION, CONTROL, DATA, small, large]
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let flit = FlitTime::of(&plan.links[0].time);
        let classes = Classes {
            reservation: RESERVATION_CLASS,
            control: CONTROL_CLASS,
            data: DATA_CLASS,
            speculative: SMALL_CLASS,
        };
        let large = Rules {
            reservation: RESERVATION_CLASS,
            data: DATA_CLASS,
            speculative: LARGE_CLASS,
            small_below: 0,
            small: Small::Bypass,
            small_hold: 0,
            block_max: BLOCK_MAX,
            outstanding: usize::MAX,
            reserves: Reserves::WithFirstPacket,
            variant: Variant::Default,
            packet: plan.packet_flits as u32,
            flit,
        };
        let small = Speculate {
            classes,
            coalesce_after: self.coalesce_after,
            flit: FlitTime::of(&plan.drain_time),
            stops: self.stops,
            acknowledge,
        };
        let small_below = plan.flits(self.threshold_message);
        Box::new(NicSet::new(Endpoint { small_below, small, large }, plan, share))
    }

    fn agent(&self, plan: &Plan, share: &Share) -> Box<dyn Agent> {
        let timed = self.drop_small == Drop::Timeout || self.drop_large == Drop::Timeout;
        Box::new(Switches {
            small_below: plan.flits(self.threshold_message),
            drop_small: self.drop_small,
            drop_large: self.drop_large,
            threshold: super::lhrp::threshold_flits(plan, self.threshold),
            time_to_wait: timed.then(|| plan.ticks(self.time_to_wait)),
            pace: Pace::new(plan, 0.0).leading(self.lead),
            schedulers: vec![Scheduler::default(); share.endpoints.len()],
        })
    }
}
