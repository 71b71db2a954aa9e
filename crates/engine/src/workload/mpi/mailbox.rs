//! The messages of a rank, out and in: eager and rendezvous, and the matching of messages with receives.
//!
//! A network with adaptive routing may deliver messages in another order than that in which they were sent. Messages of the
//! same sender and tag are brought back into their order by a sequence number, as MPI demands ("messages are
//! non-overtaking"); those of different senders are taken in the order of their arrival, and so are those of different tags
//! unless a rank of the job receives any tag.
use super::Costs;
use super::wire::{Kind, SEQUENCES, TAG_MAX, Wire};
use crate::keyed::Keyed;
use crate::lists::{List, Lists};
use crate::units::Time;
use crate::workload::Actions;
use meeting::{Inbound, Meeting, Waiting};
use std::collections::VecDeque;

mod meeting;
mod told;

/// What a rank calls a send or a receive.
pub type Request = u32;

/// The other rank (32 bits), the tag (16), and the sequence number in the order of sending, or that of a collective operation
/// (16; 0 where it does not matter), in a word.
type Key = u64;

fn key(rank: u32, tag: u16, sequence: u16) -> Key {
    (rank as u64) << 32 | (tag as u64) << 16 | sequence as u64
}

/// The other rank and the tag of a key.
fn parts(key: Key) -> (u32, u16) {
    ((key >> 32) as u32, (key >> 16) as u16)
}

/// A message to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Letter {
    /// Receiving rank.
    pub to: u32,
    /// Its size.
    pub bytes: u64,
    /// Its tag.
    pub tag: u16,
    /// Of a collective operation, its number; else the mailbox counts.
    pub instance: Option<u16>,
}

/// A receive to be posted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Sending rank; any, if none.
    pub from: Option<u32>,
    /// The tag; any, if none.
    pub tag: Option<u16>,
    /// Of a collective operation, its number.
    pub instance: Option<u16>,
}

/// A send that is not complete.
#[derive(Debug, Clone, Copy, Default)]
struct Sending {
    request: Request,
    sequence: u16,
    tag: u16,
    bytes: u64,
}

/// What goes to another rank under one tag; in a collective operation, under its number too. Where a rank of the job receives any
/// tag, the numbers and sends of all tags are kept with those of the first.
///
/// Nothing of a rank is in a cache when a message comes to it: so all that a message concerns stands beside its key, in 40 bytes.
#[derive(Debug, Default)]
struct Outbound {
    sending: List<Sending>,
    /// Sequence number of the next message.
    next: u16,
}

/// The mailbox of a rank. Completed requests are reported in `done`, with their times.
#[derive(Debug, Default)]
pub struct Mailbox {
    /// Requests that have completed since they were last taken.
    pub done: Vec<(Request, Time)>,
    /// Whether a rank of the job receives any tag, so that the messages of a sender come in turn whatever their tags.
    any_tag: bool,
    outbound: Keyed<Key, Outbound>,
    sending: Lists<Sending>,
    inbound: Keyed<Key, Inbound>,
    meeting: Meeting,
    /// Receives whose data was asked for, by sender, tag and number.
    expected: Keyed<Key, Waiting>,
    /// Receives that have met a request with the number of data that have left and not come: these are asked for when those are here.
    behind: VecDeque<(Key, Waiting)>,
    /// Messages that came before their turn, by where that is kept, and number.
    early: Keyed<Key, Wire>,
    /// More of them with the same place and number, in the order in which they came.
    crowded: VecDeque<(Key, Wire)>,
    /// Sends that wait until sequence numbers are free, by where these are kept, and not before their times.
    held: Keyed<Key, VecDeque<(Time, Letter, Request)>>,
}

impl Mailbox {
    /// An empty one.
    pub fn new(any_tag: bool) -> Self {
        Self { any_tag, ..Self::default() }
    }

    /// Where sends and sequence numbers are filed: with those that a message must not overtake.
    fn turn(&self, rank: u32, tag: u16, instance: u16) -> Key {
        match tag {
            0..=TAG_MAX if self.any_tag => key(rank, 0, 0),
            0..=TAG_MAX => key(rank, tag, 0),
            _ => key(rank, tag, instance),
        }
    }

    /// Sends a message at a time that is not past.
    pub fn send(&mut self, at: Time, letter: Letter, request: Request, costs: &Costs, act: &mut Actions) {
        let Letter { to, bytes, tag, instance } = letter;
        let turn = self.turn(to, tag, instance.unwrap_or(0));
        let pair = self.outbound.entry(turn);
        let sequence = instance.unwrap_or(pair.next);
        // Numbers go round: the next one is still in use if it is that of the oldest message.
        if pair.sending.first().is_some_and(|oldest| oldest.sequence == sequence) {
            assert!(instance.is_none(), "law broken: two sends under way have the same sequence number");
            return self.held.entry(turn).push_back((at, letter, request));
        }
        pair.next = (sequence + 1) % SEQUENCES;
        self.sending.push(&mut pair.sending, Sending { request, sequence, tag, bytes });
        let ready = at.after(costs.delay);
        if bytes >= costs.eager {
            let wire = Wire { kind: Kind::Request, sequence, tag };
            return act.send(ready, to, costs.control, wire.pack());
        }
        let ready = ready.after(costs.copy.map_or(0, |rate| rate.transmit_time(bytes * 8).0));
        act.send(ready, to, bytes, Wire { kind: Kind::Eager, sequence, tag }.pack());
    }

    /// Posts a receive at a time that is not past.
    pub fn receive(&mut self, at: Time, wanted: Wanted, request: Request, costs: &Costs, act: &mut Actions) {
        let posted = Waiting { what: request, since: at, order: self.meeting.number() };
        let met = match (wanted.from, wanted.tag) {
            (Some(from), Some(tag)) => {
                let slot = key(from, tag, wanted.instance.unwrap_or(0));
                let pair = self.inbound.entry(slot);
                let met = self.meeting.take_message(pair);
                match met {
                    None => self.meeting.wait(pair, posted, true),
                    Some(_) => self.forget_inbound(slot),
                }
                met.map(|met| (from, met))
            }
            _ => {
                let met = self.take_first(&wanted);
                if met.is_none() {
                    self.meeting.open.push_back((wanted, posted));
                }
                met
            }
        };
        if let Some((from, met)) = met {
            self.matched(from, Wire::unpack(met.what), posted, met.since.max(at), costs, act);
        }
    }

    /// The last flit of a message has left.
    pub fn on_injected(&mut self, to: u32, tag: u32, costs: &Costs, act: &mut Actions) {
        let wire = Wire::unpack(tag);
        if !matches!(wire.kind, Kind::Eager | Kind::Data) {
            return;
        }
        let turn = self.turn(to, wire.tag, wire.sequence);
        let pair = self.outbound.entry(turn);
        let left = self.sending.remove(&mut pair.sending, |sending| sending.sequence == wire.sequence);
        let left = left.expect("law broken: a message left that was not sent");
        self.done.push((left.request, act.now));
        if is_forgotten(turn) && pair.sending.is_empty() {
            self.outbound.remove(turn);
        }
        if self.held.is_empty() {
            return;
        }
        // Those held go in their order, until one is still too early.
        while let Some((at, letter, request)) = self.next_held(turn) {
            self.send(at.max(act.now), letter, request, costs, act);
        }
    }

    /// The first of the sends held that has its number free now.
    fn next_held(&mut self, turn: Key) -> Option<(Time, Letter, Request)> {
        self.held.get(turn)?;
        let pair = self.outbound.entry(turn);
        if pair.sending.first().is_some_and(|oldest| oldest.sequence == pair.next) {
            return None;
        }
        let held = self.held.entry(turn);
        let first = held.pop_front();
        if held.is_empty() {
            self.held.remove(turn);
        }
        first
    }

    /// A message has arrived.
    pub fn on_delivered(&mut self, from: u32, tag: u32, costs: &Costs, act: &mut Actions) {
        let wire = Wire::unpack(tag);
        match wire.kind {
            Kind::Clear => {
                let turn = self.turn(from, wire.tag, wire.sequence);
                let pair = self.outbound.entry(turn);
                let mut sending = self.sending.iter(&pair.sending);
                let sending = sending.find(|sending| sending.sequence == wire.sequence);
                let sending = sending.expect("law broken: an answer without a request");
                let data = Wire { kind: Kind::Data, ..wire };
                act.send(act.now.after(costs.delay), from, sending.bytes, data.pack());
            }
            Kind::Data => {
                let place = key(from, wire.tag, wire.sequence);
                let posted = self.expected.remove(place);
                let posted = posted.expect("law broken: data that nobody asked for");
                self.done.push((posted.what, act.now.max(posted.since)));
                let next = self.behind.iter().position(|(other, _)| *other == place);
                if let Some((_, next)) = next.and_then(|at| self.behind.remove(at)) {
                    self.matched(from, wire, next, act.now.max(next.since), costs, act);
                }
            }
            Kind::Eager | Kind::Request => self.arrive(from, wire, costs, act),
        }
    }

    /// Takes a message if it is its turn, and those behind it that came before; keeps it if not.
    fn arrive(&mut self, from: u32, wire: Wire, costs: &Costs, act: &mut Actions) {
        let (turn, takes_turns) = (self.turn(from, wire.tag, wire.sequence), wire.tag <= TAG_MAX);
        let mut next = Some(wire);
        while let Some(wire) = next {
            let slot = slot(from, wire);
            let mut pair = self.inbound.entry(turn);
            if takes_turns {
                if wire.sequence != pair.next {
                    return self.keep_early(turn | wire.sequence as u64, wire);
                }
                pair.next = (wire.sequence + 1) % SEQUENCES;
            }
            let behind = turn | pair.next as u64;
            if slot != turn {
                pair = self.inbound.entry(slot);
            }
            match self.meeting.take_receive(pair, from, wire) {
                Some(posted) => {
                    self.forget_inbound(slot);
                    self.matched(from, wire, posted, act.now.max(posted.since), costs, act);
                }
                None => {
                    let found = Waiting { what: wire.pack(), since: act.now, order: self.meeting.number() };
                    self.meeting.wait(pair, found, false);
                }
            }
            next = if takes_turns && !self.early.is_empty() { self.take_early(behind) } else { None };
        }
    }

    /// Keeps a message until its turn. Numbers go round, so that two have the same one where more messages overtook one than there are
    /// numbers: which of them is first is not told any more, and they take turns as they came.
    fn keep_early(&mut self, place: Key, wire: Wire) {
        if let Some(before) = self.early.insert(place, wire) {
            self.early.insert(place, before);
            self.crowded.push_back((place, wire));
        }
    }

    /// The message that was kept for its turn, if there is one.
    fn take_early(&mut self, place: Key) -> Option<Wire> {
        let found = self.early.remove(place)?;
        let same = self.crowded.iter().position(|(other, _)| *other == place);
        if let Some((_, next)) = same.and_then(|at| self.crowded.remove(at)) {
            self.early.insert(place, next);
        }
        Some(found)
    }

    /// Forgets what comes under the number of a collective operation when nothing is left of it.
    fn forget_inbound(&mut self, slot: Key) {
        if is_forgotten(slot) && self.inbound.entry(slot).waiting.is_empty() {
            self.inbound.remove(slot);
        }
    }

    /// A message and its receive have met.
    fn matched(
        &mut self,
        from: u32,
        wire: Wire,
        posted: Waiting,
        at: Time,
        costs: &Costs,
        act: &mut Actions,
    ) {
        if wire.kind == Kind::Eager {
            self.done.push((posted.what, at));
            return;
        }
        let place = key(from, wire.tag, wire.sequence);
        if let Some(earlier) = self.expected.insert(place, posted) {
            // Numbers are free again when their data have left, and a request may overtake these.
            self.expected.insert(place, earlier);
            return self.behind.push_back((place, posted));
        }
        let clear = Wire { kind: Kind::Clear, ..wire };
        act.send(at.after(costs.delay), from, costs.control, clear.pack());
    }

    /// The message that came first of those that a receive of any sender or any tag suits.
    fn take_first(&mut self, wanted: &Wanted) -> Option<(u32, Waiting)> {
        if self.meeting.messages == 0 {
            return None;
        }
        let suits = |from: u32, tag: u16| {
            tag <= TAG_MAX
                && wanted.from.is_none_or(|rank| rank == from)
                && wanted.tag.is_none_or(|own| own == tag)
        };
        let firsts = self.inbound.iter().filter_map(|(slot, pair)| {
            let (from, tag) = parts(slot);
            let first = pair.waiting.first().filter(|_| !pair.receives && suits(from, tag))?;
            Some((first.order, slot))
        });
        let (_, slot) = firsts.min()?;
        let found = self.meeting.take_message(self.inbound.entry(slot));
        found.map(|found| (parts(slot).0, found))
    }

    /// Messages that nobody has received, and receives and sends that are not complete.
    pub fn left_over(&self) -> (usize, usize) {
        let meeting = &self.meeting;
        (
            meeting.messages + self.early.len() + self.crowded.len(),
            meeting.waiting.len() - meeting.messages
                + meeting.open.len()
                + self.sending.len()
                + self.expected.len()
                + self.behind.len(),
        )
    }
}

/// Whether what passes under a key is forgotten when nothing is left of it: it is of a collective operation, whose number does not
/// come again.
fn is_forgotten(key: Key) -> bool {
    parts(key).1 > TAG_MAX
}

/// What a message is filed under until it and its receive meet.
fn slot(from: u32, wire: Wire) -> Key {
    key(from, wire.tag, if wire.tag > TAG_MAX { wire.sequence } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Scale};
    use crate::workload::host::Agenda;
    use crate::workload::ledger::Ledger;
    use crate::workload::mpi::Mpi;

    /// A mailbox does something; returns the requests that are complete then.
    fn done(mail: &mut Mailbox, event: impl FnOnce(&mut Mailbox, &Costs, &mut Actions)) -> Vec<Request> {
        let scale = Scale { flit_bits: 512, packet_flits: 32, host: Rate(10_000_000_000) };
        let (costs, mut agenda, mut ledger) =
            (Costs::new(&Mpi::default().or_codes(), &scale), Agenda::default(), Ledger::default());
        let mut act =
            Actions { now: Time(0), slot: 0, slowness: 1.0, agenda: &mut agenda, ledger: &mut ledger };
        event(mail, &costs, &mut act);
        mail.done.drain(..).map(|(request, _)| request).collect()
    }

    fn receives(mail: &mut Mailbox, from: u32, request: Request) -> Vec<Request> {
        let wanted = Wanted { from: Some(from), tag: Some(5), instance: None };
        done(mail, |mail, costs, act| mail.receive(Time(0), wanted, request, costs, act))
    }

    fn arrives(mail: &mut Mailbox, from: u32, sequence: u16) -> Vec<Request> {
        let tag = Wire { kind: Kind::Eager, sequence, tag: 5 }.pack();
        done(mail, |mail, costs, act| mail.on_delivered(from, tag, costs, act))
    }

    fn sends(mail: &mut Mailbox, request: Request) -> Vec<Request> {
        let letter = Letter { to: 1, bytes: 8, tag: 5, instance: None };
        done(mail, |mail, costs, act| mail.send(Time(0), letter, request, costs, act))
    }

    /// A part of a long message arrives: whether its data, or those of another, are asked for then.
    fn asks(mail: &mut Mailbox, kind: Kind, sequence: u16) -> bool {
        let scale = Scale { flit_bits: 512, packet_flits: 32, host: Rate(10_000_000_000) };
        let (costs, mut agenda, mut ledger) =
            (Costs::new(&Mpi::default(), &scale), Agenda::default(), Ledger::default());
        let mut act =
            Actions { now: Time(0), slot: 0, slowness: 1.0, agenda: &mut agenda, ledger: &mut ledger };
        mail.on_delivered(3, Wire { kind, sequence, tag: 5 }.pack(), &costs, &mut act);
        !agenda.0.is_empty()
    }

    fn leaves(mail: &mut Mailbox, sequence: u16) -> Vec<Request> {
        let tag = Wire { kind: Kind::Eager, sequence, tag: 5 }.pack();
        done(mail, |mail, costs, act| mail.on_injected(1, tag, costs, act))
    }

    #[test]
    fn where_any_tag_is_received_messages_of_all_tags_come_in_turn() {
        let (first, second) =
            [(0, 5), (1, 6)].map(|(sequence, tag)| Wire { kind: Kind::Eager, sequence, tag }.pack()).into();
        for (any_tag, expected) in [(true, [vec![], vec![0, 1]]), (false, [vec![0], vec![1]])] {
            let mut mail = Mailbox::new(any_tag);
            let any = Wanted { from: Some(3), tag: None, instance: None };
            (0..2).for_each(|request| {
                done(&mut mail, |mail, costs, act| mail.receive(Time(0), any, request, costs, act));
            });
            // Of its own tag the second is the first.
            let second = if any_tag { second } else { Wire { sequence: 0, ..Wire::unpack(second) }.pack() };
            let found = [second, first]
                .map(|tag| done(&mut mail, |mail, costs, act| mail.on_delivered(3, tag, costs, act)));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn messages_that_overtake_others_of_their_sender_wait_for_their_turn() {
        let mut mail = Mailbox::default();
        (0..4).for_each(|request| assert!(receives(&mut mail, 3, request).is_empty()));
        receives(&mut mail, 4, 9);
        assert!(arrives(&mut mail, 3, 2).is_empty());
        assert!(arrives(&mut mail, 3, 1).is_empty());
        assert_eq!(arrives(&mut mail, 4, 0), [9], "another sender's are not concerned");
        assert_eq!(mail.left_over(), (2, 4));
        assert_eq!(arrives(&mut mail, 3, 0), [0, 1, 2]);
        assert_eq!(arrives(&mut mail, 3, 3), [3]);
        assert_eq!(mail.left_over(), (0, 0));
    }

    #[test]
    fn sequence_numbers_are_used_again_once_they_are_free() {
        let mut mail = Mailbox::default();
        let all = Request::from(SEQUENCES);
        (0..all + 2).for_each(|request| assert!(sends(&mut mail, request).is_empty()));
        assert_eq!(mail.left_over().1, all as usize, "two are held");
        // The second to go has the second's number, which is not free yet.
        assert_eq!(leaves(&mut mail, 0), [0]);
        assert_eq!(mail.left_over().1, all as usize);
        assert_eq!(leaves(&mut mail, 0), [all]);
        assert_eq!(leaves(&mut mail, 1), [1]);
        assert_eq!(leaves(&mut mail, 1), [all + 1]);
        assert_eq!(mail.left_over().1, all as usize - 2);
    }

    #[test]
    fn a_send_that_waited_for_a_number_leaves_no_earlier_than_its_time() {
        let scale = Scale { flit_bits: 512, packet_flits: 32, host: Rate(10_000_000_000) };
        let (costs, mut agenda, mut ledger) =
            (Costs::new(&Mpi::default(), &scale), Agenda::default(), Ledger::default());
        let mut mail = Mailbox::default();
        let letter = Letter { to: 1, bytes: 8, tag: 5, instance: None };
        for request in 0..Request::from(SEQUENCES) + 2 {
            let mut act =
                Actions { now: Time(0), slot: 0, slowness: 1.0, agenda: &mut agenda, ledger: &mut ledger };
            mail.send(Time(request.into()), letter, request, &costs, &mut act);
        }
        // The rank's clock is ahead for the first that is held, and behind for the second.
        let all = u64::from(SEQUENCES);
        for (sequence, now, sent) in [(0, all - 9, all), (1, all + 90, all + 90)] {
            let tag = Wire { kind: Kind::Eager, sequence, tag: 5 }.pack();
            let mut act =
                Actions { now: Time(now), slot: 0, slowness: 1.0, agenda: &mut agenda, ledger: &mut ledger };
            mail.on_injected(1, tag, &costs, &mut act);
            assert_eq!(agenda.0.back().map(|entry| entry.0), Some(Time(sent)));
        }
    }

    #[test]
    fn more_messages_than_there_are_numbers_may_overtake_one() {
        let mut mail = Mailbox::default();
        let all = Request::from(SEQUENCES) + 3;
        (0..all).for_each(|request| assert!(receives(&mut mail, 3, request).is_empty()));
        let arrives = |mail: &mut Mailbox, message: Request| {
            arrives(mail, 3, (message % Request::from(SEQUENCES)) as u16).len()
        };
        let late = [0, Request::from(SEQUENCES)];
        let early = (0..all).filter(|message| !late.contains(message));
        assert_eq!(early.map(|message| arrives(&mut mail, message)).sum::<usize>(), 0);
        assert_eq!(mail.left_over().0, all as usize - 2);
        assert_eq!(late.map(|message| arrives(&mut mail, message)), [all as usize - 3, 3]);
        assert_eq!(mail.left_over(), (0, 0));
    }

    /// The sender has the number again when the data have left, and they may be overtaken.
    #[test]
    fn data_are_not_asked_for_while_others_of_their_number_have_not_come() {
        let mut mail = Mailbox::default();
        let all = Request::from(SEQUENCES);
        (0..=all).for_each(|request| assert!(receives(&mut mail, 3, request).is_empty()));
        assert!((0..SEQUENCES).all(|sequence| asks(&mut mail, Kind::Request, sequence)));
        assert!(!asks(&mut mail, Kind::Request, 0), "those of the first message are under way");
        assert_eq!(mail.left_over(), (0, all as usize + 1));
        assert!(!asks(&mut mail, Kind::Data, 1), "those of another tell nothing");
        assert!(asks(&mut mail, Kind::Data, 0));
        assert!(!asks(&mut mail, Kind::Data, 0));
        assert_eq!(mail.done.drain(..).map(|(request, _)| request).collect::<Vec<_>>(), [1, 0, all]);
        assert_eq!(mail.left_over(), (0, all as usize - 2));
    }

    #[test]
    fn messages_come_in_turn_beyond_the_largest_sequence_number() {
        let mut mail = Mailbox::default();
        let all = Request::from(SEQUENCES);
        (0..all - 1).for_each(|request| {
            receives(&mut mail, 3, request);
            assert_eq!(arrives(&mut mail, 3, request as u16), [request]);
        });
        (0..2).for_each(|request| assert!(receives(&mut mail, 3, request).is_empty()));
        assert!(arrives(&mut mail, 3, 0).is_empty());
        assert_eq!(arrives(&mut mail, 3, SEQUENCES - 1), [0, 1]);
    }
}
