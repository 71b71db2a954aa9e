//! The accounts of RCCC: what sources tell and send, and what destinations give.
use crate::core::packet::{Kind, Packet};
use crate::core::{NEVER, Tick};
use crate::keyed::Keyed;
use crate::nic::queue::SendQueue;
use crate::protocol::{Prompt, Pull, Received, Reply, Sent, Source};
use std::collections::VecDeque;

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

impl Purse {
    /// Bytes that it holds.
    pub fn memory(&self) -> usize {
        self.turns.capacity() * size_of::<u32>() + self.owed.memory()
    }
}

/// Sources and destinations of [`Rccc`], in ticks and flits.
pub struct Credits {
    pub(super) unsolicited: u64,
    pub(super) quantum: u64,
    pub(super) outstanding: i64,
    /// Ticks from credit to credit, for each flit of one.
    pub(super) pace: f64,
    pub(super) restart: Tick,
    pub(super) acknowledge: bool,
    pub(super) control: u8,
    pub(super) data: u8,
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

    /// What the destination is yet to be told of when so many flits go: of what is left of the data, as far as a queue may use it now, and
    /// of what was sent ahead of credit.
    fn untold(&self, state: &Account, usable: u64, goes: u64) -> u64 {
        let covered = (self.free(state) + state.told) as i64 + state.credit - goes as i64;
        ((state.waiting - goes).min(usable) as i64 - covered).max(0) as u64
    }

    fn may_send(&self, state: &Account) -> bool {
        self.free(state) > 0 || state.credit > 0
    }

    /// What a queue that has messages does by its credit, if it may use credit for so much data now.
    pub(in crate::protocol) fn next(&self, state: &Account, usable: u64) -> Pull {
        if self.may_send(state) {
            return Pull::Next(self.data);
        }
        let untold = self.untold(state, usable, 0);
        if state.told == 0 && untold > 0 {
            Pull::Control(self.control, Kind::Reservation, [untold, 0])
        } else {
            Pull::Wait
        }
    }

    /// A message of so many flits joins a queue.
    pub(in crate::protocol) fn joined(&self, state: &mut Account, flits: u32) {
        state.waiting += u64::from(flits);
    }

    /// The words of a data packet of such a queue.
    pub(in crate::protocol) fn words(&self, state: &Account, usable: u64, packet: &Packet) -> [u64; 2] {
        let flits = u64::from(packet.hot.flits());
        [self.untold(state, usable, flits), flits - flits.min(self.free(state))]
    }

    /// A packet was sent.
    pub(in crate::protocol) fn sent(&self, state: &mut Account, sent: &Sent) {
        let kind = sent.packet.hot.kind();
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

    /// Credit came.
    pub(in crate::protocol) fn given(&self, state: &mut Account, packet: &Packet, now: Tick) {
        let given = packet.notes.words[0];
        state.told -= given;
        state.credit += given as i64;
        state.active = now;
    }

    /// A destination is told what waits for it, and what came for its credit.
    pub(in crate::protocol) fn told(&self, purse: &mut Purse, packet: &Packet) {
        let (src, [told, paid]) = (packet.cold.src, packet.notes.words);
        if !tells(packet.hot.kind()) {
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

    /// When a queue with nothing more to send is as a new one; not before credit has come for what was sent ahead of it.
    pub(in crate::protocol) fn end(&self, state: &Account) -> Tick {
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
        self.joined(state, flits);
    }

    fn pull(&self, queue: &SendQueue<Account>, now: Tick) -> Pull {
        if queue.has_message() {
            return self.next(&queue.state, u64::MAX);
        }
        let end = self.end(&queue.state);
        if end <= now || end == NEVER { Pull::Wait } else { Pull::At(end) }
    }

    fn plain(&self, queue: &SendQueue<Account>, _: Tick) -> Option<u8> {
        self.may_send(&queue.state).then_some(self.data)
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn stamp(&self, queue: &SendQueue<Account>, _: Pull, packet: &mut Packet) {
        packet.notes.words = self.words(&queue.state, u64::MAX, packet);
    }

    fn on_sent(&self, queue: &mut SendQueue<Account>, sent: &Sent) {
        self.sent(&mut queue.state, sent);
    }

    fn hears(&self, kind: Kind) -> bool {
        kind == Kind::Credit
    }

    fn on_control(&self, queue: &mut SendQueue<Account>, packet: &Packet, now: Tick) {
        self.given(&mut queue.state, packet, now);
    }

    fn idle(&self, queue: &SendQueue<Account>, now: Tick) -> bool {
        self.end(&queue.state) <= now
    }

    fn memory(&self, sink: &Purse) -> usize {
        sink.memory()
    }

    fn reply(&self, purse: &mut Purse, received: &Received, replies: &mut Vec<Reply>) {
        if self.acknowledge {
            replies.extend(received.acknowledge(true, self.control));
        }
        self.told(purse, received.packet);
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
        // Parts of a tick are kept, but nothing of a time without credits.
        let from = if purse.next > now as f64 - 1.0 { purse.next } else { now as f64 };
        purse.next = from + (given as f64 * self.pace).max(1.0);
        Prompt::Send(source, Reply { kind: Kind::Credit, class: self.control, words: [given, 0] })
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
        source.on_sent(queue, &Sent { pull, packet: &packet, now, end: now, time: 0 });
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

    /// It tells of the packet that it sends too, once that has gone.
    #[test]
    fn a_queue_tells_of_no_more_than_it_could_use() {
        let source = credits();
        let told = |usable, flits| {
            let mut packet = Packet::default();
            packet.hot.set_size(Kind::Data, flits);
            source.words(&queue(&source, 100).state, usable, &packet)[0]
        };
        assert_eq!([10, 16, 20, 60, 80].map(|usable| told(usable, 24)), [0, 0, 4, 44, 60]);
        let spent = Account { waiting: 100, unsolicited: 40, ..Account::default() };
        assert_eq!(source.next(&spent, 30), Pull::Control(0, Kind::Reservation, [30, 0]));
        let told = Account { told: 30, ..spent };
        assert_eq!(source.next(&told, 60), Pull::Wait, "credit is on its way");
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
            source.reply(
                purse,
                &Received { packet: &packet, droppable: false, grade: 0, flow: 0, now: 0 },
                &mut Vec::new(),
            );
        };
        let next = |purse: &mut Purse, now| match source.prompt(purse, now) {
            Prompt::Send(to, reply) => (to, reply.words[0]),
            Prompt::At(at) => (u32::MAX, at),
            Prompt::Wait => (u32::MAX, 0),
        };
        tell(&mut purse, 5, Kind::Reservation, [40, 0]);
        tell(&mut purse, 7, Kind::Data, [30, 0]);
        assert_eq!(next(&mut purse, 100), (5, 24));
        assert_eq!(next(&mut purse, 100), (u32::MAX, 124), "a credit takes the time of its data");
        assert_eq!([124, 148].map(|now| next(&mut purse, now)), [(7, 24), (5, 16)]);
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
                        let received = Received { packet: &packet, droppable: false, grade: 0, flow: 0, now };
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

    /// At half the rate a credit of one flit takes two ticks, after a silence as well as before.
    #[test]
    fn no_tick_is_given_away_after_a_silence() {
        let source = Credits { quantum: 1, pace: 2.0, ..credits() };
        let mut purse = Purse::default();
        *purse.owed.entry(5) = 4;
        purse.turns.push_back(5);
        assert!(matches!(source.prompt(&mut purse, 100), Prompt::Send(..)));
        assert!(matches!(source.prompt(&mut purse, 100), Prompt::At(102)));
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
