//! Speculative reservation protocol.
use super::duplicates::Seen;
use super::marker::{Counts, Marker};
use super::reservation::{BLOCK_MAX, Reservations, Reserves, Rules, Small, Variant};
use super::scheduler::{Lead, Pace, Scheduler};
use super::time_out::TimeOut;
use super::{
    Agent, CONTROL, DATA, GRANT, Pull, RESERVATION, Received, Reply, SPECULATIVE, Scheme, Sent, Source,
    all_shorter, idle,
};
use crate::core::Tick;
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{FlitTime, Plan, Share, TrafficClass};
use crate::nic::queue::{SendQueue, key};
use crate::nic::{NicSet, Nics};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Speculative reservation protocol: a message reserves time at its destination, and goes speculatively until the grant
/// comes.
///
/// # What it does
///
/// A source sends a reservation, and behind it the message itself in a class of low priority, whose packets are dropped once
/// they have waited for a total of `time_to_wait`. The destination grants consecutive intervals of time. A grant or a refusal
/// stops the speculation; at the granted time the rest of the message and what was dropped go in the data class, which is never
/// dropped, in the order of their packets and ahead of other send queues. A packet refused after that is sent again at once. A
/// packet whose time passes in a tick is dropped, though it could go in that tick, and so is one that comes to the head of its
/// queue later than that.
///
/// Of a send queue only the first block of which nothing has been sent can reserve. Every block of a message that reserves does
/// so, and be it smaller than `n_min`. The granted interval is that of its flits, longer by `epsilon`, in ticks rounded up.
///
/// # Where it acts
///
/// Source (reservation, speculation, resend), switch (drop by queueing time), destination (scheduler).
///
/// # Parameters
///
/// The defaults are those of the first paper; `n_min = "0 flits"`, `n_max = "whole message"`, `epsilon = 0`,
/// `time_to_wait = "1 us"`, `max_outstanding = 0`, `reserves = "with-first-packet"` and `grants = "own class"` are for the
/// second.
///
/// # Paper
///
/// N. Jiang, D. U. Becker, G. Michelogiannakis, W. J. Dally, "Network Congestion Avoidance Through Speculative
/// Reservation", HPCA 2012; and N. Jiang, L. Dennison, W. J. Dally, "Network Endpoint Congestion Control for
/// Fine-Grained Communication", SC '15, section 2.2.
///
/// # Differences from the paper
///
/// The paper's switches interleave packets flit by flit; `[packet] interleave = true` comes close to that. Without it, a
/// packet holds its channel until its end, so reservations and grants wait for packets in progress, more is sent before the
/// grant comes, and four times as much is dropped. The paper speaks of the time that a packet has queued in the network,
/// and of a time stamp that it gets at a router's input and that is checked at the head of the input buffer: what counts
/// here is the time in input buffers; that in output queues does not. A block of a message ends when its granted time has
/// come and all of it has been sent, known drops included, not when it is known to have arrived; where second copies are
/// made, only when every copy is answered, too. Messages that bypass do not wait for those parts of an earlier message in
/// their queue that are already reserved, only for the parts that are not: of a message longer than `n_max`, all but
/// `max_outstanding` blocks, each of which waits for its grant. So such a message takes a round trip more for each block
/// but the first, in an empty network too. Second copies wait from the grant on, under `fast-resend` until the time of the
/// rest is over, and one does not go if the first is acknowledged before. Where they are made, all data are acknowledged,
/// and a later packet may still overtake one that was dropped before it. For small messages HPCA 2012, section 6.3, gives
/// ideas only. Ours are `small_hold`, what is coalesced, and with `small = "ecn"` two rules: a granted time that lies ahead
/// says that the destination is busy, and prolongs the reserving; and packets that bypassed count as granted when they
/// arrive, or their backlog would last: reserved data alone leave only `epsilon` free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Srp {
    /// Messages of at least this size reserve.
    pub n_min: Size,
    /// Largest reservation, in whole packets: a longer message makes several, one after the other, and with `max_outstanding = 1` waits a round
    /// trip for each, even on an idle channel. "whole message" for no limit.
    pub n_max: Block,
    /// Part by which a granted interval is longer than its data, to leave time for control packets.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub epsilon: f64,
    /// Time in the input buffers of all switches together after which a speculative packet is dropped.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub time_to_wait: Duration,
    /// Reservations that a send queue has under way, from the request until all is sent; 0 for no limit.
    pub max_outstanding: u32,
    /// How soon a granted time may be.
    pub lead: Lead,
    /// When a reservation goes.
    pub reserves: Reserves,
    /// What becomes of speculative packets that are not answered when the granted time comes.
    pub variant: Variant,
    /// The traffic class of grants.
    pub grants: Grants,
    /// What becomes of messages smaller than `n_min`.
    pub small: Small,
    /// With `small = "ecn"`: flits waiting at the inputs for an output above which packets are marked, if the channel has credits.
    pub small_threshold: Size,
    /// With `small = "ecn"`: how long small messages of a send queue reserve after a marked packet, or after a granted time
    /// that lay ahead.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub small_hold: Duration,
}

/// Size of the largest reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Block {
    /// A message is reserved for at once.
    #[serde(rename = "whole message")]
    Whole,
    /// At most this.
    #[serde(untagged)]
    Size(Size),
}

/// The traffic class of grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Grants {
    /// That of acknowledgements and refusals, as in HPCA 2012.
    #[serde(rename = "control class")]
    Control,
    /// One of their own above it, as in SC '15.
    #[serde(rename = "own class")]
    Own,
}

impl Default for Srp {
    fn default() -> Self {
        Self {
            n_min: Size::Packets(4),
            n_max: Block::Size(Size::Packets(16)),
            epsilon: 0.05,
            time_to_wait: Duration::Ps(1_300_000),
            max_outstanding: 1,
            lead: Lead::None,
            reserves: Reserves::AtOnce,
            variant: Variant::Default,
            grants: Grants::Control,
            small: Small::Bypass,
            small_threshold: Size::Flits(461),
            small_hold: Duration::Ps(10_000_000),
        }
    }
}

/// Second word of a data packet that no reservation covers.
const BYPASSED: u64 = 1;

/// The endpoints of [`Srp`].
struct Endpoint {
    rules: Rules,
    pace: Pace,
    acknowledge: bool,
    grant: u8,
    control: u8,
}

/// An endpoint as a destination.
#[derive(Default)]
struct Destination {
    scheduler: Scheduler,
    seen: Seen,
}

impl Source for Endpoint {
    type Queue = Reservations;
    type Sink = Destination;

    fn pull(&self, queue: &SendQueue<Reservations>, now: Tick) -> Pull {
        if let Some(pull) = queue.again_by(now) {
            return pull;
        }
        let next = self.rules.next(&queue.state, queue, now);
        next.unwrap_or_else(|| self.rules.wait(&queue.state, queue, now))
    }

    fn plain(&self, queue: &SendQueue<Reservations>, now: Tick) -> Option<u8> {
        self.rules.plain(&queue.state, queue, now)
    }

    fn stamp(&self, queue: &SendQueue<Reservations>, pull: Pull, packet: &mut Packet) {
        packet.notes.words[1] = if pull == Pull::Next(self.rules.data) { BYPASSED } else { 0 };
        if self.rules.hears_acknowledgements() {
            let own = key(packet.cold.message, packet.cold.sequence());
            packet.notes.words[0] = self.rules.floor(&queue.state, own);
        }
    }

    fn reserves_at_once(&self) -> bool {
        self.rules.reserves == Reserves::AtOnce
    }

    fn looks_ahead(&self) -> bool {
        self.rules.small == Small::Coalesce
    }

    fn on_sent(&self, queue: &mut SendQueue<Reservations>, sent: &Sent) {
        self.rules.on_sent(&mut queue.state, sent);
    }

    fn on_control(&self, queue: &mut SendQueue<Reservations>, packet: &Packet, now: Tick) {
        let mut state = std::mem::take(&mut queue.state);
        self.rules.on_control(&mut state, queue, packet, now);
        queue.state = state;
    }

    fn hears(&self, kind: Kind) -> bool {
        match kind {
            Kind::Ack => self.rules.hears_acknowledgements(),
            Kind::Grant | Kind::Nack | Kind::Notification => true,
            _ => false,
        }
    }

    fn was_sent_again(&self, queue: &SendQueue<Reservations>, acknowledgement: &Packet) -> bool {
        self.rules.hears_acknowledgements() && self.rules.was_sent_again(&queue.state, &acknowledgement.cold)
    }

    fn idle(&self, queue: &SendQueue<Reservations>, now: Tick) -> bool {
        queue.state.is_idle(now)
    }

    fn accept(&self, sink: &mut Destination, received: &Received) -> bool {
        let (cold, floor) = (&received.packet.cold, received.packet.notes.words[0]);
        let place = key(cold.message, cold.sequence());
        !self.rules.hears_acknowledgements() || sink.seen.insert(received.sender(), place, floor)
    }

    fn memory(&self, sink: &Destination) -> usize {
        sink.seen.memory()
    }

    fn reply(&self, sink: &mut Destination, received: &Received, replies: &mut Vec<Reply>) {
        let packet = received.packet;
        match packet.hot.kind() {
            Kind::Reservation => {
                replies.push(sink.scheduler.answer(packet, self.pace, received.now, self.grant));
            }
            Kind::Data => {
                let always = self.acknowledge || self.rules.hears_acknowledgements();
                replies.extend(received.acknowledge(always, self.control));
                if self.rules.small == Small::Ecn {
                    self.watch(sink, received, replies);
                }
            }
            _ => {}
        }
    }
}

impl Endpoint {
    /// Data that bypassed take their time of the ejection channel, so that what is granted comes behind them; those that
    /// are marked make a notification.
    fn watch(&self, sink: &mut Destination, received: &Received, replies: &mut Vec<Reply>) {
        let packet = received.packet;
        if packet.notes.words[1] == BYPASSED {
            sink.scheduler.grant(received.now, self.pace.span(packet.hot.flits() as u64));
        }
        if packet.cold.marked() {
            replies.push(Reply { kind: Kind::Notification, class: self.control, words: [0; 2] });
        }
    }
}

impl Srp {
    /// The class of grants, and that of acknowledgements and refusals; data and speculative data follow.
    fn control_classes(&self) -> (u8, u8) {
        match self.grants {
            Grants::Control => (1, 1),
            Grants::Own => (1, 2),
        }
    }

    fn rules(&self, plan: &Plan) -> Rules {
        let (_, control) = self.control_classes();
        let packet = plan.packet_flits as u32;
        let block_max = match self.n_max {
            Block::Whole => BLOCK_MAX,
            Block::Size(size) => (plan.flits(size) / packet).max(1) * packet,
        };
        let outstanding = if self.max_outstanding == 0 { usize::MAX } else { self.max_outstanding as usize };
        Rules {
            reservation: 0,
            data: control + 1,
            speculative: control + 2,
            small_below: plan.flits(self.n_min),
            small: self.small,
            small_hold: plan.ticks(self.small_hold),
            block_max,
            outstanding,
            reserves: self.reserves,
            variant: self.variant,
            packet,
            flit: FlitTime::of(&plan.links[0].time),
        }
    }
}

impl Scheme for Srp {
    fn remarks(&self, plan: &Plan) -> Vec<String> {
        let (default, marks) = (Self::default(), self.small == Small::Ecn);
        let unused = [
            idle(
                "small_threshold",
                !marks && self.small_threshold != default.small_threshold,
                "small = \"ecn\"",
            ),
            idle("small_hold", !marks && self.small_hold != default.small_hold, "small = \"ecn\""),
        ];
        let small = || all_shorter(plan, "n_min", plan.flits(self.n_min), "none reserves");
        let idle = (self.small == Small::Bypass).then(small).flatten();
        unused.into_iter().flatten().chain(idle).collect()
    }

    fn classes(&self, _acknowledge: bool) -> Vec<TrafficClass> {
        match self.grants {
            Grants::Control => vec![RESERVATION, CONTROL, DATA, SPECULATIVE],
            Grants::Own => vec![RESERVATION, GRANT, CONTROL, DATA, SPECULATIVE],
        }
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let (grant, control) = self.control_classes();
        let pace = Pace::new(plan, self.epsilon).leading(self.lead);
        let endpoint = Endpoint { rules: self.rules(plan), pace, acknowledge, grant, control };
        Box::new(NicSet::new(endpoint, plan, share))
    }

    fn agent(&self, plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        let (_, control) = self.control_classes();
        let threshold = plan.flits(self.small_threshold);
        let marker = (self.small == Small::Ecn).then_some(Marker {
            threshold,
            counts: Counts::Inputs,
            marking_rate: 0,
            seed: plan.seed,
        });
        Box::new(TimeOut { time_to_wait: plan.ticks(self.time_to_wait), control, marker })
    }
}
