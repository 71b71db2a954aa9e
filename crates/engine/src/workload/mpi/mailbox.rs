//! The messages of a rank, out and in: eager and rendezvous, and the matching of messages with receives.
//!
//! A network with adaptive routing may deliver messages in another order than that in which they were sent. Messages of the
//! same sender and tag are brought back into their order by a sequence number, as MPI demands ("messages are
//! non-overtaking"); those of different senders or tags are taken in the order of their arrival.
use super::Costs;
use super::wire::{Kind, SEQUENCES, TAG_MAX, Wire};
use crate::keyed::{Keyed, Queues};
use crate::units::Time;
use crate::workload::Actions;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;

/// What a rank calls a send or a receive.
pub type Request = u32;

/// The other rank (32 bits), the tag (16), and the sequence number in the order of sending, or that of a collective operation
/// (16; 0 where it does not matter), in a word.
type Key = u64;

fn key(rank: u32, tag: u16, sequence: u16) -> Key {
    (rank as u64) << 32 | (tag as u64) << 16 | sequence as u64
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
#[derive(Debug, Clone, Copy)]
struct Sending {
    request: Request,
    bytes: u64,
}

/// A receive that waits for its message.
#[derive(Debug, Clone, Copy)]
struct Posted {
    request: Request,
    /// When it was posted.
    since: Time,
    /// Place among all receives.
    order: u64,
}

/// A message, or the request to send one, that waits for its receive.
#[derive(Debug, Clone, Copy)]
struct Unexpected {
    wire: Wire,
    arrived: Time,
    /// Place among all arrivals.
    order: u64,
}

/// The mailbox of a rank. Completed requests are reported in `done`, with their times.
#[derive(Debug, Default)]
pub struct Mailbox {
    /// Requests that have completed since they were last taken.
    pub done: Vec<(Request, Time)>,
    count: u64,
    sending: Keyed<Key, Sending>,
    /// Receives whose data was asked for.
    expected: Keyed<Key, Posted>,
    /// Sequence numbers of the next messages to and from each rank with each tag.
    next: Keyed<Key, Next>,
    /// Messages that came before their turn.
    early: Keyed<Key, Wire>,
    /// Receives and messages that wait for each other, by sender and tag, in a collective operation by its number too.
    posted: Queues<Posted>,
    /// Receives of any sender or any tag.
    open: Vec<(Wanted, Posted)>,
    unexpected: Queues<Unexpected>,
    /// Sends that wait until sequence numbers are free.
    held: Keyed<Key, VecDeque<(Letter, Request)>>,
}

/// Sequence numbers of the next messages of one tag between two ranks.
#[derive(Debug, Default)]
struct Next {
    sent: u16,
    received: u16,
}

impl Mailbox {
    /// Sends a message at a time that is not past.
    pub fn send(&mut self, at: Time, letter: Letter, request: Request, costs: &Costs, act: &mut Actions) {
        let Letter { to, bytes, tag, instance } = letter;
        let mut unnumbered = None;
        let sequence = instance.unwrap_or_else(|| {
            let next = self.next.entry(key(to, tag, 0)).or_default();
            unnumbered.insert(next).sent
        });
        let Entry::Vacant(place) = self.sending.entry(key(to, tag, sequence)) else {
            assert!(instance.is_none(), "law broken: two sends under way have the same sequence number");
            return self.held.entry(key(to, tag, 0)).or_default().push_back((letter, request));
        };
        place.insert(Sending { request, bytes });
        if let Some(next) = unnumbered {
            next.sent = (sequence + 1) % SEQUENCES;
        }
        let mut ready = at.0 + costs.delay;
        if bytes >= costs.eager {
            let wire = Wire { kind: Kind::Request, sequence, tag };
            return act.send(Time(ready), to, costs.control, wire.pack());
        }
        ready += costs.copy.map_or(0, |rate| rate.transmit_time(bytes * 8).0);
        act.send(Time(ready), to, bytes, Wire { kind: Kind::Eager, sequence, tag }.pack());
    }

    /// Posts a receive at a time that is not past.
    pub fn receive(&mut self, at: Time, wanted: Wanted, request: Request, costs: &Costs, act: &mut Actions) {
        self.count += 1;
        let posted = Posted { request, since: at, order: self.count };
        if let Some((from, found)) = self.take_unexpected(&wanted) {
            return self.matched(from, found.wire, posted, found.arrived.max(at), costs, act);
        }
        match (wanted.from, wanted.tag) {
            (Some(from), Some(tag)) => {
                self.posted.push(key(from, tag, wanted.instance.unwrap_or(0)), posted);
            }
            _ => self.open.push((wanted, posted)),
        }
    }

    /// The last flit of a message has left.
    pub fn on_injected(&mut self, to: u32, tag: u32, costs: &Costs, act: &mut Actions) {
        let wire = Wire::unpack(tag);
        if !matches!(wire.kind, Kind::Eager | Kind::Data) {
            return;
        }
        let sending = self.sending.remove(&key(to, wire.tag, wire.sequence));
        let sending = sending.expect("law broken: a message left that was not sent");
        self.done.push((sending.request, act.now));
        if self.held.is_empty() {
            return;
        }
        // Those held go in their order; one that is still too early is held again, and so are those behind it.
        let held = self.held.remove(&key(to, wire.tag, 0)).unwrap_or_default();
        for (letter, request) in held {
            self.send(act.now, letter, request, costs, act);
        }
    }

    /// A message has arrived.
    pub fn on_delivered(&mut self, from: u32, tag: u32, costs: &Costs, act: &mut Actions) {
        let wire = Wire::unpack(tag);
        let key = key(from, wire.tag, wire.sequence);
        match wire.kind {
            Kind::Clear => {
                let sending = self.sending.get(&key).expect("law broken: an answer without a request");
                let data = Wire { kind: Kind::Data, ..wire };
                act.send(Time(act.now.0 + costs.delay), from, sending.bytes, data.pack());
            }
            Kind::Data => {
                let posted = self.expected.remove(&key).expect("law broken: data that nobody asked for");
                self.done.push((posted.request, act.now.max(posted.since)));
            }
            Kind::Eager | Kind::Request if wire.tag > TAG_MAX => self.accept(from, wire, costs, act),
            Kind::Eager | Kind::Request => self.in_turn(from, wire, costs, act),
        }
    }

    /// Takes a message if it is its turn, and those behind it that came before; keeps it if not.
    fn in_turn(&mut self, from: u32, wire: Wire, costs: &Costs, act: &mut Actions) {
        let next = self.next.entry(key(from, wire.tag, 0)).or_default();
        if wire.sequence != next.received {
            let earlier = self.early.insert(key(from, wire.tag, wire.sequence), wire);
            assert!(
                earlier.is_none(),
                "law broken: two messages that overtook have the same sequence number"
            );
            return;
        }
        let mut behind = (wire.sequence + 1) % SEQUENCES;
        next.received = behind;
        self.accept(from, wire, costs, act);
        while !self.early.is_empty()
            && let Some(wire) = self.early.remove(&key(from, wire.tag, behind))
        {
            behind = (behind + 1) % SEQUENCES;
            self.next.entry(key(from, wire.tag, 0)).or_default().received = behind;
            self.accept(from, wire, costs, act);
        }
    }

    fn accept(&mut self, from: u32, wire: Wire, costs: &Costs, act: &mut Actions) {
        match self.take_posted(from, wire) {
            Some(posted) => self.matched(from, wire, posted, act.now.max(posted.since), costs, act),
            None => {
                self.count += 1;
                let found = Unexpected { wire, arrived: act.now, order: self.count };
                self.unexpected.push(slot(from, wire), found);
            }
        }
    }

    /// A message and its receive have met.
    fn matched(&mut self, from: u32, wire: Wire, posted: Posted, at: Time, costs: &Costs, act: &mut Actions) {
        if wire.kind == Kind::Eager {
            self.done.push((posted.request, at));
            return;
        }
        self.expected.insert(key(from, wire.tag, wire.sequence), posted);
        let clear = Wire { kind: Kind::Clear, ..wire };
        act.send(Time(at.0 + costs.delay), from, costs.control, clear.pack());
    }

    /// The receive that was posted first of those a message suits.
    fn take_posted(&mut self, from: u32, wire: Wire) -> Option<Posted> {
        let slot = slot(from, wire);
        if self.open.is_empty() {
            return self.posted.pop(slot);
        }
        let exact = self.posted.first(slot).map(|posted| posted.order);
        let suits = |(wanted, _): &(Wanted, Posted)| {
            wanted.from.is_none_or(|rank| rank == from) && wanted.tag.is_none_or(|tag| tag == wire.tag)
        };
        let open = if wire.tag > TAG_MAX { None } else { self.open.iter().position(suits) };
        match (exact, open) {
            (exact, Some(at)) if exact.is_none_or(|order| self.open[at].1.order < order) => {
                Some(self.open.remove(at).1)
            }
            (None, _) => None,
            (Some(_), _) => self.posted.pop(slot),
        }
    }

    /// The message that came first of those a receive suits.
    fn take_unexpected(&mut self, wanted: &Wanted) -> Option<(u32, Unexpected)> {
        if let (Some(from), Some(tag)) = (wanted.from, wanted.tag) {
            let slot = key(from, tag, wanted.instance.unwrap_or(0));
            return self.unexpected.pop(slot).map(|found| (from, found));
        }
        let suits = |from: u32, tag: u16| {
            tag <= TAG_MAX
                && wanted.from.is_none_or(|rank| rank == from)
                && wanted.tag.is_none_or(|own| own == tag)
        };
        let waiting =
            self.unexpected.firsts().filter(|&(slot, _)| suits((slot >> 32) as u32, (slot >> 16) as u16));
        let (slot, _) = waiting.min_by_key(|(_, found)| found.order)?;
        self.unexpected.pop(slot).map(|found| ((slot >> 32) as u32, found))
    }

    /// Messages that nobody has received, and receives and sends that are not complete.
    pub fn left_over(&self) -> (usize, usize) {
        (
            self.unexpected.len() + self.early.len(),
            self.posted.len() + self.open.len() + self.sending.len() + self.expected.len(),
        )
    }
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
            (Costs::new(&Mpi::default(), &scale), Agenda::default(), Ledger::default());
        let mut act = Actions { now: Time(0), slot: 0, agenda: &mut agenda, ledger: &mut ledger };
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

    fn leaves(mail: &mut Mailbox, sequence: u16) -> Vec<Request> {
        let tag = Wire { kind: Kind::Eager, sequence, tag: 5 }.pack();
        done(mail, |mail, costs, act| mail.on_injected(1, tag, costs, act))
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
