//! Last-hop reservation protocol.
use super::scheduler::Scheduler;
use super::{
    Agent, Arrival, CONTROL, DATA, Interest, Pull, Reply, SPECULATIVE, Scheme, Sent, Source, Verdict,
};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share, TrafficClass};
use crate::nic::queue::{Again, SendQueue};
use crate::nic::{NicSet, Nics};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Last-hop reservation protocol: packets go speculatively; a switch that has too much queued for one of its endpoints
/// drops them and returns the time at which to send again.
///
/// What it does: every packet is first sent in a class of low priority that may be dropped at the switch of its
/// destination while more than `threshold` flits wait there for the endpoint. The refusal carries a time from the
/// endpoint's scheduler; at that time the packet is sent again in the data class, which is never dropped.
/// Where it acts: source (speculative first, resend at the granted time, coalesce), last-hop switch (scheduler, drop).
/// Paper: N. Jiang, L. Dennison, W. J. Dally, "Network Endpoint Congestion Control for Fine-Grained Communication",
/// SC '15, sections 3.2 and 6.1.
/// Differences: the paper gives no fabric time-out and no rule for coalescing; both are parameters here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lhrp {
    /// Flits queued for an endpoint in its switch above which an arriving speculative packet is dropped.
    pub threshold: Size,
    /// Queueing time after which a speculative packet is dropped anywhere in the network; without it, never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric_drop: Option<Duration>,
    /// Refusals without a time in a row, to one destination, after which waiting small messages are coalesced into one
    /// reservation (only with `fabric_drop`).
    #[schemars(range(min = 1))]
    pub coalesce_after: u32,
}

impl Default for Lhrp {
    fn default() -> Self {
        Self { threshold: Size::Flits(1000), fabric_drop: None, coalesce_after: 3 }
    }
}

const CONTROL_CLASS: u8 = 0;
const DATA_CLASS: u8 = 1;
const SPECULATIVE_CLASS: u8 = 2;

/// Word 0 of a refusal: the granted time plus one, or 0 if there is none.
fn time_word(time: Option<Tick>) -> u64 {
    time.map_or(0, |at| at + 1)
}

/// State of a send queue.
#[derive(Debug, Default)]
pub struct Refused {
    /// Refusals without a time in a row.
    in_a_row: u32,
    /// Packets refused without a time, to be tried again.
    packets: Vec<Again>,
    /// Flits of the reservation that is under way.
    reserved: Option<u32>,
}

/// The source of [`Lhrp`].
pub struct Speculate {
    acknowledge: bool,
    coalesce_after: u32,
    flit: Tick,
}

impl Speculate {
    /// The refused packets to `dst` that its grant of `flits` covers get their places in the granted interval, one
    /// behind the other.
    fn place(&self, queue: &mut SendQueue<Refused>, dst: u32, start: Tick, flits: u32) {
        let mut placed = 0;
        for mut packet in std::mem::take(&mut queue.state.packets) {
            if packet.dst != dst || placed >= flits {
                queue.state.packets.push(packet);
                continue;
            }
            packet.at = start + placed as Tick * self.flit;
            packet.class = DATA_CLASS;
            placed += packet.flits as u32;
            queue.again(packet);
        }
        self.aim(queue);
    }

    /// The next reservation goes to the destination of the packet refused first.
    fn aim(&self, queue: &mut SendQueue<Refused>) {
        if let Some(first) = queue.state.packets.first() {
            queue.dst = first.dst;
        }
    }
}

impl Source for Speculate {
    type Queue = Refused;

    fn pull(&self, queue: &SendQueue<Refused>, now: Tick) -> Pull {
        if let Some(due) = queue.due() {
            if due.at <= now {
                return Pull::Again(due.class);
            }
        }
        let state = &queue.state;
        if state.reserved.is_none() && !state.packets.is_empty() {
            let there = state.packets.iter().filter(|packet| packet.dst == queue.dst);
            let flits: u32 = there.map(|packet| packet.flits as u32).sum();
            return Pull::Control(CONTROL_CLASS, Kind::Reservation, [flits as u64, 0]);
        }
        if state.reserved.is_none() && queue.has_message() {
            return Pull::Next(SPECULATIVE_CLASS);
        }
        queue.due().map_or(Pull::Wait, |due| Pull::At(due.at))
    }

    fn on_sent(&self, queue: &mut SendQueue<Refused>, sent: &Sent) {
        if let Pull::Control(_, Kind::Reservation, [flits, _]) = sent.pull {
            queue.state.reserved = Some(flits as u32);
        }
    }

    fn hears(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Nack | Kind::Grant | Kind::Ack)
    }

    fn on_control(&self, queue: &mut SendQueue<Refused>, packet: &Packet, now: Tick) {
        let word = packet.cold.words[0];
        match packet.hot.kind() {
            Kind::Ack => queue.state.in_a_row = 0,
            Kind::Grant => {
                queue.state.reserved = None;
                queue.state.in_a_row = 0;
                self.place(queue, packet.cold.src, word - 1, packet.cold.words[1] as u32);
            }
            Kind::Nack if word > 0 => {
                queue.state.in_a_row = 0;
                queue.again(Again::refused(packet, DATA_CLASS, word - 1));
            }
            Kind::Nack => {
                queue.state.in_a_row += 1;
                if queue.state.in_a_row >= self.coalesce_after || queue.state.reserved.is_some() {
                    queue.state.packets.push(Again::refused(packet, DATA_CLASS, now));
                    if queue.state.reserved.is_none() {
                        self.aim(queue);
                    }
                } else {
                    queue.again(Again::refused(packet, SPECULATIVE_CLASS, now));
                }
            }
            kind => unreachable!("{kind:?} is not for LHRP"),
        }
    }

    fn idle(&self, queue: &SendQueue<Refused>, _now: Tick) -> bool {
        queue.state.packets.is_empty() && queue.state.reserved.is_none() && queue.state.in_a_row == 0
    }

    fn reply(&self, packet: &Packet, _now: Tick, replies: &mut Vec<Reply>) {
        if self.acknowledge && packet.hot.kind() == Kind::Data {
            replies.push(Reply { kind: Kind::Ack, class: CONTROL_CLASS, words: [0; 2] });
        }
    }
}

/// The last-hop switches' schedulers and drop rule.
struct LastHop {
    threshold: u32,
    time_to_wait: Option<Tick>,
    flit: Tick,
    schedulers: Vec<Scheduler>,
}

impl Agent for LastHop {
    fn interest(&self) -> Interest {
        Interest { departures: false, last_hop: true, time_to_wait: self.time_to_wait }
    }

    fn on_arrive(&mut self, arrival: &Arrival, packet: &Packet) -> Verdict {
        let scheduler = &mut self.schedulers[arrival.endpoint as usize];
        if packet.hot.kind() == Kind::Reservation {
            let time = scheduler.grant(arrival.now, packet.cold.words[0] * self.flit);
            let words = [time_word(Some(time)), packet.cold.words[0]];
            return Verdict::Consume(Reply { kind: Kind::Grant, class: CONTROL_CLASS, words });
        }
        if !arrival.droppable || arrival.level <= self.threshold {
            return Verdict::Keep;
        }
        let time = scheduler.grant(arrival.now, packet.hot.flits() as Tick * self.flit);
        let words = [time_word(Some(time)), packet.hot.flits() as u64];
        Verdict::Drop(Reply { kind: Kind::Nack, class: CONTROL_CLASS, words })
    }

    fn on_expire(&mut self, packet: &Packet) -> Reply {
        let words = [time_word(None), packet.hot.flits() as u64];
        Reply { kind: Kind::Nack, class: CONTROL_CLASS, words }
    }
}

impl Scheme for Lhrp {
    fn classes(&self) -> Vec<TrafficClass> {
        vec![CONTROL, DATA, SPECULATIVE]
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let source = Speculate {
            acknowledge,
            coalesce_after: self.coalesce_after,
            flit: plan.links[0].time[1] as Tick,
        };
        Box::new(NicSet::new(source, plan, share))
    }

    fn agent(&self, plan: &Plan, share: &Share) -> Box<dyn Agent> {
        Box::new(LastHop {
            threshold: plan.flits(self.threshold),
            time_to_wait: self.fabric_drop.map(|limit| plan.ticks(limit)),
            flit: plan.links[0].time[1] as Tick,
            schedulers: vec![Scheduler::default(); share.endpoints.len()],
        })
    }
}
