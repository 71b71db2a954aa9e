//! RCCC: destinations give credit for what sources want to send, at the pace of their channel, as Ultra Ethernet has it.
use super::{Prompt, Pull, Received, Reply, Scheme, Sent, Source, unless_given};
use crate::core::packet::{Kind, Packet};
use crate::core::plan::{Plan, Share};
use crate::core::{NEVER, Tick};
use crate::keyed::Keyed;
use crate::nic::queue::SendQueue;
use crate::nic::{NicSet, Nics};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;

/// RCCC, receiver-credit congestion control, the receiver's part of the congestion control of Ultra Ethernet: a source sends what the destination has given it
/// credit for, and destinations give no more than their channel carries.
///
/// # What it does
///
/// A send queue may send `unsolicited` data at once. Beside the data, or in a request of its own where it may send none, it tells the
/// destination what else it has. The destination gives the sources that have told it of something credit in turn, one `quantum` each,
/// at `rate` of what it can take, as long as less than `outstanding` of what it gave has not come yet. A queue that has any credit, or
/// unsolicited data left, sends a packet; what the packet is longer goes off the next credit.
///
/// A message to a destination that was sent to lately has no unsolicited data left, and waits a round trip for its credit: short messages
/// at a low load take that much longer than under other schemes.
///
/// # Where it acts
///
/// Source (waits for credit), destination (gives it). Nothing in the switches.
///
/// # Parameters
///
/// `quantum`, which it calls the specification's, and `rate` are those of the authors' simulator (htsim); `outstanding` is SIRD's. htsim has `unsolicited` of one
/// and a half round trips, and switches that trim what is too much; in a network without loss, that much from each of many sources to one
/// destination would stop all others until it has drained.
///
/// # Paper
///
/// Ultra Ethernet Consortium, "Ultra Ethernet Specification 1.0", 2025; T. Hoefler and others, "Ultra Ethernet's Design Principles and
/// Architectural Innovations", arXiv:2508.08906. What limits `outstanding`: K. Prasopoulos, R. Kosta, E. Bugnion, M. Kogias, "SIRD: A
/// Sender-Informed, Receiver-Driven Datacenter Transport Protocol", NSDI 2025.
///
/// # Differences from the paper
///
/// Requests and credits are differences, not running totals, since nothing is lost here. Without NSCC beside it, nothing acts on
/// congestion inside the network. A queue that was silent for `restart` begins anew, with `unsolicited` data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rccc {
    /// Data that a new queue may send without credit.
    pub unsolicited: Size,
    /// Credit given at a time.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub quantum: Size,
    /// The part of the rate at which a destination takes data for which it gives credit.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub rate: f64,
    /// Credit given of which the data has not come, from which on a destination gives none. By default one and a half times what it can take
    /// in the longest round trip in the empty network by shortest ways.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<Size>,
    /// Silence after which a queue begins anew. By default ten such round trips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<Duration>,
}

impl Default for Rccc {
    fn default() -> Self {
        let (unsolicited, quantum) = (Size::Packets(1), Size::Packets(4));
        Self { unsolicited, quantum, rate: 0.99, outstanding: None, restart: None }
    }
}

/// State of a send queue, in flits.
#[derive(Debug, Default)]
pub struct Account {
    /// What waits.
    waiting: u64,
    /// What it has sent without credit.
    unsolicited: u64,
    /// What the destination was told of and has not given credit for.
    told: u64,
    /// Credit less what was sent for it; the last packet may have been longer than what was left.
    credit: i64,
    /// When something was sent or credit came last.
    active: Tick,
}

/// State of a destination.
#[derive(Debug, Default)]
pub struct Purse {
    /// Sources with something owed, in turn.
    turns: VecDeque<u32>,
    /// Flits that sources have told of, and were given no credit for.
    owed: Keyed<u32, u64>,
    /// Flits of credit given of which the data has not come; a packet may come that is longer than the credit that was given.
    outstanding: i64,
    /// When the next credit is due: between ticks, so that they are at the right pace in the mean.
    next: f64,
}

/// Sources and destinations of [`Rccc`], in ticks and flits.
pub struct Credits {
    unsolicited: u64,
    quantum: u64,
    outstanding: i64,
    /// Ticks from credit to credit, for each flit of one.
    pace: f64,
    restart: Tick,
    acknowledge: bool,
    control: u8,
    data: u8,
}

/// Whether a packet's words tell a destination what waits for it, and what its data take of the credit.
fn tells(kind: Kind) -> bool {
    matches!(kind, Kind::Data | Kind::Reservation)
}

impl Credits {
    /// What a queue may still send without credit.
    fn free(&self, state: &Account) -> u64 {
        self.unsolicited - state.unsolicited
    }

    /// What the destination was not told of, of the data that waits and of what was sent ahead of credit.
    fn untold(&self, state: &Account) -> u64 {
        let covered = (self.free(state) + state.told) as i64 + state.credit;
        (state.waiting as i64 - covered).max(0) as u64
    }

    fn may_send(&self, state: &Account) -> bool {
        self.free(state) > 0 || state.credit > 0
    }

    /// When a queue with nothing more to send is as a new one; not before credit has come for what was sent ahead of it.
    fn end(&self, state: &Account) -> Tick {
        match (state.told, state.unsolicited) {
            (0, 0) => 0,
            (0, _) => state.active.saturating_add(self.restart),
            _ => NEVER,
        }
    }
}

impl Source for Credits {
    type Queue = Account;
    type Sink = Purse;

    fn on_message(&self, state: &mut Account, flits: u32) {
        state.waiting += u64::from(flits);
    }

    fn pull(&self, queue: &SendQueue<Account>, now: Tick) -> Pull {
        let state = &queue.state;
        if !queue.has_message() {
            let end = self.end(state);
            return if end <= now || end == NEVER { Pull::Wait } else { Pull::At(end) };
        }
        if self.may_send(state) {
            return Pull::Next(self.data);
        }
        let untold = self.untold(state);
        if state.told == 0 && untold > 0 {
            Pull::Control(self.control, Kind::Reservation, [untold, 0])
        } else {
            Pull::Wait
        }
    }

    fn plain(&self, queue: &SendQueue<Account>, _: Tick) -> Option<u8> {
        self.may_send(&queue.state).then_some(self.data)
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn stamp(&self, queue: &SendQueue<Account>, _: Pull, packet: &mut Packet) {
        let (state, flits) = (&queue.state, u64::from(packet.hot.flits()));
        packet.notes.words = [self.untold(state), flits - flits.min(self.free(state))];
    }

    fn on_sent(&self, queue: &mut SendQueue<Account>, sent: &Sent) {
        let (state, kind) = (&mut queue.state, sent.packet.hot.kind());
        if !tells(kind) {
            return;
        }
        let [told, paid] = sent.packet.notes.words;
        state.told += told;
        state.active = sent.now;
        if kind == Kind::Data {
            let flits = u64::from(sent.packet.hot.flits());
            state.waiting -= flits;
            state.unsolicited += flits - paid;
            state.credit -= paid as i64;
        }
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Credit
    }

    fn on_control(&self, queue: &mut SendQueue<Account>, packet: &Packet, now: Tick) {
        let given = packet.notes.words[0];
        queue.state.told -= given;
        queue.state.credit += given as i64;
        queue.state.active = now;
    }

    fn idle(&self, queue: &SendQueue<Account>, now: Tick) -> bool {
        self.end(&queue.state) <= now
    }

    fn reply(&self, purse: &mut Purse, received: &Received, replies: &mut Vec<Reply>) {
        if self.acknowledge {
            replies.extend(received.acknowledge(true, self.control));
        }
        let (src, [told, paid]) = (received.packet.cold.src, received.packet.notes.words);
        if !tells(received.packet.hot.kind()) {
            return;
        }
        purse.outstanding -= paid as i64;
        if told > 0 {
            let owed = purse.owed.entry(src);
            if *owed == 0 {
                purse.turns.push_back(src);
            }
            *owed += told;
        }
    }

    fn prompts(&self) -> bool {
        true
    }

    fn prompt(&self, purse: &mut Purse, now: Tick) -> Prompt {
        let Some(&source) = purse.turns.front() else { return Prompt::Wait };
        if purse.outstanding >= self.outstanding {
            return Prompt::Wait;
        }
        if purse.next > now as f64 {
            return Prompt::At(purse.next.ceil() as Tick);
        }
        let owed = purse.owed.entry(source);
        let given = self.quantum.min(*owed);
        *owed -= given;
        let rest = *owed > 0;
        purse.turns.pop_front();
        if rest {
            purse.turns.push_back(source);
        } else {
            purse.owed.remove(source);
        }
        purse.outstanding += given as i64;
        purse.next = purse.next.max(now as f64 - 1.0) + (given as f64 * self.pace).max(1.0);
        Prompt::Send(source, Reply { kind: Kind::Credit, class: self.control, words: [given, 0] })
    }
}

impl Rccc {
    /// What may be outstanding, in flits.
    fn outstanding(&self, plan: &Plan) -> u64 {
        let flits = u64::from(plan.packet_flits);
        let usual = (3 * plan.round_trip() * flits).div_ceil(2 * u64::from(plan.drain_time[flits as usize]));
        self.outstanding.map_or(usual, |size| plan.flits(size).into()).max(1)
    }

    fn restart(&self, plan: &Plan) -> Tick {
        self.restart.map_or(10 * plan.round_trip(), |time| plan.ticks(time))
    }
}

impl Scheme for Rccc {
    fn remarks(&self, plan: &Plan) -> Vec<String> {
        let (quantum, packet) = (plan.flits(self.quantum), plan.packet_flits);
        let small = (quantum < u32::from(packet)).then(|| {
            format!(
                "congestion_control.quantum: {quantum} flits, less than a packet ({packet}): credits take room from the data on the way \
                 back"
            )
        });
        Vec::from_iter(small)
    }

    fn defaults(&self, plan: &Plan) -> Vec<(&'static str, Value)> {
        let restart = json!(Duration::Ps(self.restart(plan) * plan.tick));
        unless_given([
            ("outstanding", self.outstanding.is_some(), json!(Size::Flits(self.outstanding(plan)))),
            ("restart", self.restart.is_some(), restart),
        ])
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let packet = usize::from(plan.packet_flits);
        let source = Credits {
            unsolicited: plan.flits(self.unsolicited).into(),
            quantum: u64::from(plan.flits(self.quantum)).max(1),
            outstanding: self.outstanding(plan) as i64,
            pace: f64::from(plan.drain_time[packet]) / packet as f64 / self.rate,
            restart: self.restart(plan),
            acknowledge,
            control: plan.control_class(),
            data: plan.data_class(),
        };
        Box::new(NicSet::new(source, plan, share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::queue::Message;
    use proptest::prelude::*;

    fn credits() -> Credits {
        Credits {
            unsolicited: 40,
            quantum: 24,
            outstanding: 60,
            pace: 1.0,
            restart: 1000,
            acknowledge: false,
            control: 0,
            data: 1,
        }
    }

    fn queue(source: &Credits, flits: u32) -> SendQueue<Account> {
        let mut queue = SendQueue::default();
        queue.push(Message::new(0, 3, flits, 0));
        source.on_message(&mut queue.state, flits);
        queue
    }

    /// Sends what is pulled, a packet of so many flits if it is data, and returns its words.
    fn send(source: &Credits, queue: &mut SendQueue<Account>, flits: u16, now: Tick) -> [u64; 2] {
        let (pull, mut packet) = (source.pull(queue, now), Packet::default());
        match pull {
            Pull::Control(_, kind, words) => {
                packet.hot.set_size(kind, 1);
                packet.notes.words = words;
            }
            _ => {
                assert_eq!(pull, Pull::Next(1));
                packet.hot.set_size(Kind::Data, flits);
                source.stamp(queue, pull, &mut packet);
                queue.advance(flits.into(), 1);
            }
        }
        source.on_sent(queue, &Sent { pull, packet: &packet, now, end: now });
        packet.notes.words
    }

    fn give(source: &Credits, queue: &mut SendQueue<Account>, flits: u64, now: Tick) {
        let mut packet = Packet::default();
        packet.hot.set_size(Kind::Credit, 1);
        packet.notes.words = [flits, 0];
        source.on_control(queue, &packet, now);
    }

    #[test]
    fn a_queue_sends_what_is_free_tells_the_rest_and_waits_for_credit() {
        let source = credits();
        let mut queue = queue(&source, 100);
        assert_eq!(send(&source, &mut queue, 24, 1), [60, 0], "all beyond what is free");
        assert_eq!(send(&source, &mut queue, 24, 2), [0, 8], "free in part");
        assert_eq!((queue.state.credit, source.pull(&queue, 3)), (-8, Pull::Wait));
        give(&source, &mut queue, 8, 4);
        assert_eq!(source.pull(&queue, 4), Pull::Wait, "that is what was sent ahead");
        give(&source, &mut queue, 1, 5);
        assert_eq!(send(&source, &mut queue, 24, 5), [0, 24]);
        give(&source, &mut queue, 51, 6);
        assert_eq!(send(&source, &mut queue, 24, 6), [0, 24]);
        assert_eq!(send(&source, &mut queue, 4, 6), [0, 4]);
        let state = &queue.state;
        assert_eq!((state.credit, state.told, state.waiting), (0, 0, 0), "all that was told of was given");
        // It may send nothing without credit until it has been silent for long.
        queue.push(Message::new(9, 3, 5, 0));
        source.on_message(&mut queue.state, 5);
        assert_eq!(source.pull(&queue, 9), Pull::Control(0, Kind::Reservation, [5, 0]));
        assert_eq!(send(&source, &mut queue, 1, 9), [5, 0]);
        assert_eq!(source.pull(&queue, 10), Pull::Wait);
        give(&source, &mut queue, 5, 20);
        send(&source, &mut queue, 5, 20);
        assert_eq!((source.pull(&queue, 21), source.idle(&queue, 1019)), (Pull::At(1020), false));
        assert!(source.idle(&queue, 1020));
    }

    #[test]
    fn a_queue_that_sent_ahead_of_its_credit_waits_for_it() {
        let source = credits();
        let mut queue = queue(&source, 60);
        assert_eq!([1, 2].map(|now| send(&source, &mut queue, 24, now)), [[20, 0], [0, 8]]);
        give(&source, &mut queue, 9, 2);
        send(&source, &mut queue, 12, 3);
        assert_eq!((queue.state.credit, source.pull(&queue, 9000)), (-11, Pull::Wait));
        assert!(!source.idle(&queue, 9000));
        give(&source, &mut queue, 11, 9001);
        assert_eq!(source.pull(&queue, 9001), Pull::At(10_001));
    }

    #[test]
    fn what_goes_beyond_the_unsolicited_data_is_told_with_the_rest() {
        let source = Credits { unsolicited: 1, ..credits() };
        let mut queue = queue(&source, 25);
        assert_eq!(send(&source, &mut queue, 24, 1), [24, 23]);
        assert_eq!((queue.state.credit, source.pull(&queue, 2)), (-23, Pull::Wait));
        give(&source, &mut queue, 24, 3);
        assert_eq!(send(&source, &mut queue, 1, 3), [0, 1]);
        // A single packet too.
        queue.push(Message::new(4, 3, 5, 0));
        source.on_message(&mut queue.state, 5);
        assert_eq!(source.pull(&queue, 4), Pull::Control(0, Kind::Reservation, [5, 0]));
        assert_eq!(queue.state.credit, 0);
    }

    #[test]
    fn messages_that_come_later_are_told_with_the_next_data() {
        let source = Credits { unsolicited: 0, ..credits() };
        let mut queue = queue(&source, 30);
        assert_eq!(send(&source, &mut queue, 1, 1), [30, 0]);
        queue.push(Message::new(2, 3, 50, 0));
        source.on_message(&mut queue.state, 50);
        assert_eq!(source.pull(&queue, 2), Pull::Wait, "credit is on its way");
        give(&source, &mut queue, 24, 3);
        assert_eq!(send(&source, &mut queue, 24, 3), [50, 24]);
        give(&source, &mut queue, 56, 4);
        let sent = [6, 24, 24, 2].map(|flits| send(&source, &mut queue, flits, 5));
        assert_eq!(sent.map(|[told, _]| told), [0; 4]);
        assert_eq!(queue.state.credit, 0);
    }

    #[test]
    fn a_destination_gives_in_turn_at_its_pace_and_no_more_than_may_be_outstanding() {
        let (source, mut purse) = (credits(), Purse::default());
        let tell = |purse: &mut Purse, src, kind, words| {
            let mut packet = Packet::default();
            packet.hot.set_size(kind, 24);
            (packet.cold.src, packet.notes.words) = (src, words);
            source.reply(purse, &Received { packet: &packet, droppable: false, now: 0 }, &mut Vec::new());
        };
        let next = |purse: &mut Purse, now| match source.prompt(purse, now) {
            Prompt::Send(to, reply) => (to, reply.words[0]),
            Prompt::At(at) => (u32::MAX, at),
            Prompt::Wait => (u32::MAX, 0),
        };
        tell(&mut purse, 5, Kind::Reservation, [40, 0]);
        tell(&mut purse, 7, Kind::Data, [30, 0]);
        assert_eq!(next(&mut purse, 100), (5, 24));
        assert_eq!(next(&mut purse, 100), (u32::MAX, 123), "a credit takes the time of its data");
        assert_eq!([123, 147].map(|now| next(&mut purse, now)), [(7, 24), (5, 16)]);
        assert_eq!(next(&mut purse, 172), (u32::MAX, 0), "64 flits are outstanding");
        tell(&mut purse, 5, Kind::Data, [0, 24]);
        assert_eq!(next(&mut purse, 172), (7, 6));
        assert_eq!(next(&mut purse, 200), (u32::MAX, 0));
        assert!(purse.turns.is_empty() && purse.owed.is_empty());
    }

    proptest! {
        #[test]
        fn all_that_was_sent_is_paid_for_but_what_is_unsolicited(
            messages in proptest::collection::vec(1..200_u32, 1..20),
            (unsolicited, quantum) in (0..100_u64, 1..100_u64),
        ) {
            let source = Credits { unsolicited, quantum, ..credits() };
            let (mut queue, mut purse, mut now) = (SendQueue::<Account>::default(), Purse::default(), 1);
            let all: u32 = messages.iter().sum();
            // Half of them come after the others are sent.
            let mut halves = messages.chunks(messages.len().div_ceil(2));
            loop {
                let (pull, flits) = (source.pull(&queue, now), queue.left().min(24) as u16);
                match pull {
                    Pull::Next(_) | Pull::Control(..) => {
                        let mut packet = Packet::default();
                        packet.notes.words = send(&source, &mut queue, flits, now);
                        let is_data = matches!(pull, Pull::Next(_));
                        packet.hot.set_size(if is_data { Kind::Data } else { Kind::Reservation }, flits.max(1));
                        let received = Received { packet: &packet, droppable: false, now };
                        source.reply(&mut purse, &received, &mut Vec::new());
                    }
                    _ => match source.prompt(&mut purse, now) {
                        Prompt::Send(_, reply) => give(&source, &mut queue, reply.words[0], now),
                        Prompt::At(at) => now = at,
                        Prompt::Wait => {
                            prop_assert!(!queue.has_message(), "it waits for ever");
                            let Some(half) = halves.next() else { break };
                            for &flits in half {
                                queue.push(Message::new(now, 3, flits, 0));
                                source.on_message(&mut queue.state, flits);
                            }
                        }
                    },
                }
            }
            let state = &queue.state;
            prop_assert_eq!((state.waiting, state.told, state.credit, purse.outstanding), (0, 0, 0, 0));
            prop_assert!(state.unsolicited == unsolicited.min(all.into()) && purse.owed.is_empty());
        }
    }

    #[test]
    fn credit_is_given_below_the_limit_only() {
        let source = credits();
        let mut purse = Purse { outstanding: 60, ..Purse::default() };
        *purse.owed.entry(5) = 10;
        purse.turns.push_back(5);
        assert!(matches!(source.prompt(&mut purse, 100), Prompt::Wait));
        purse.outstanding = 59;
        assert!(matches!(source.prompt(&mut purse, 100), Prompt::Send(5, _)));
    }
}
