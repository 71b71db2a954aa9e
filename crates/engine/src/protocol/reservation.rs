//! Speculative reservation at the source: the state machine of a send queue, shared by the protocols that reserve ahead
//! of a message.
//!
//! A reservation covers a block: messages that wait, or a part of the first. Its life is [`Phase`]: packets go
//! speculatively; a refusal stops that until the grant; from the granted time on the rest of the block and what was
//! refused go in the data class.
use super::{Pull, Reserve, Sent, granted};
use crate::core::Tick;
use crate::core::packet::{Cold, Kind, Packet};
use crate::nic::queue::{Again, SendQueue, key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What becomes of speculative packets that are not answered when the granted time comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// They are sent again only if they are refused.
    Default,
    /// They are sent again first, at the granted time, so that a refusal that comes late cannot reorder the message.
    InOrder,
    /// They are sent again behind the rest of the block, so that a refusal that comes late need not be waited for.
    FastResend,
}

/// When a reservation goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reserves {
    /// At once, ahead of all data of the endpoint; the first packet takes the turn of its send queue. So a message that
    /// has to wait at its source has its grant before it speculates.
    AtOnce,
    /// In the turn of its send queue; the first packet takes the next turn.
    InTurn,
    /// In the turn of its send queue, and the first packet with it: reservations cannot outrun data.
    WithFirstPacket,
}

/// What becomes of messages too small for a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Small {
    /// They go in the data class at once.
    Bypass,
    /// As "bypass", but while packets of the queue meet congestion they reserve.
    Ecn,
    /// Those that wait share a reservation.
    Coalesce,
}

/// More flits than any message has.
pub const BLOCK_MAX: u32 = u32::MAX / 2;

/// The parameters of [`Reservations`], in ticks and flits.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Traffic class of reservations.
    pub reservation: u8,
    /// Traffic class of data whose time has come.
    pub data: u8,
    /// Traffic class of data ahead of its time.
    pub speculative: u8,
    /// Messages of fewer flits are small.
    pub small_below: u32,
    /// What becomes of those.
    pub small: Small,
    /// How long a notification has small messages reserve.
    pub small_hold: Tick,
    /// Flits of a reservation at most: whole packets; [`BLOCK_MAX`] for no limit.
    pub block_max: u32,
    /// Blocks of a send queue at once; more wait.
    pub outstanding: usize,
    /// When a reservation goes.
    pub reserves: Reserves,
    /// What is sent again without a refusal.
    pub variant: Variant,
    /// Flits of a packet at most.
    pub packet: u32,
    /// Flit time of the channel.
    pub flit: Tick,
}

/// What has become of a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    /// Asked for; `rest` flits wait in the send queue, and go speculatively.
    Speculating { rest: u32 },
    /// Asked for, and a packet was refused: what is to be sent waits here for the grant.
    Stopped { waiting: Vec<Again> },
    /// Granted; `left` flits wait for the time in the send queue.
    Granted { start: Tick, left: u32 },
}

/// A speculative packet that was not answered, where second copies may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Flight {
    packet: Again,
    /// Copies under way.
    copies: u32,
    second: Second,
}

/// A second copy of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Second {
    No,
    Waits,
    Sent,
}

/// What a reservation covers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    /// Place of its first packet.
    first: u64,
    phase: Phase,
    flights: Vec<Flight>,
}

impl Block {
    /// Whether its time has come and nothing of it waits.
    fn is_over(&self, now: Tick) -> bool {
        matches!(self.phase, Phase::Granted { start, left: 0 } if start <= now) && self.flights.is_empty()
    }
}

/// State of a send queue: its blocks in order.
#[derive(Debug, Default)]
pub struct Reservations {
    blocks: VecDeque<Block>,
    /// Until when small messages reserve.
    congested_until: Tick,
}

impl Reservations {
    fn clean(&mut self, now: Tick) {
        while self.blocks.front().is_some_and(|block| block.is_over(now)) {
            self.blocks.pop_front();
        }
    }

    /// Small messages reserve until then, at least.
    fn hold(&mut self, until: Tick) {
        self.congested_until = self.congested_until.max(until);
    }

    /// The block of a packet, unless it is over.
    fn block(&mut self, key: u64) -> Option<&mut Block> {
        let behind = self.blocks.partition_point(|block| block.first <= key);
        self.blocks.get_mut(behind.checked_sub(1)?)
    }

    /// Whether it is as that of a new queue.
    pub fn is_idle(&self, now: Tick) -> bool {
        self.congested_until <= now && self.blocks.iter().all(|block| block.is_over(now))
    }
}

impl Rules {
    /// What to send of the messages that wait, if anything may be sent now.
    pub fn next<Q>(&self, state: &Reservations, queue: &SendQueue<Q>, now: Tick) -> Option<Pull> {
        let message = queue.messages().next()?;
        if let Some(Block { phase: Phase::Speculating { rest: 1.. }, .. }) = state.blocks.back() {
            return Some(Pull::Next(self.speculative));
        }
        let is_small = message.flits() < self.small_below;
        let reserves = match self.small {
            Small::Bypass => !is_small,
            Small::Ecn => !is_small || state.congested_until > now,
            Small::Coalesce => true,
        };
        if !reserves {
            return Some(Pull::Next(self.data));
        }
        let coalesces = is_small && self.small == Small::Coalesce;
        let room = if coalesces { 1 } else { self.outstanding };
        if state.blocks.len() >= room
            && state.blocks.iter().filter(|block| !block.is_over(now)).count() >= room
        {
            return None;
        }
        let (flits, messages) = if coalesces { self.coalesced(queue) } else { (queue.left(), 1) };
        let flits = flits.min(self.block_max);
        let then = (self.reserves == Reserves::WithFirstPacket).then_some(self.speculative);
        Some(Pull::Reserve(Reserve { class: self.reservation, then, flits, messages }))
    }

    /// Flits and number of the small messages that wait first and fit in a reservation; one at least.
    fn coalesced<Q>(&self, queue: &SendQueue<Q>) -> (u32, u32) {
        let (mut flits, mut messages) = (queue.left(), 1);
        if queue.messages().next().is_some_and(|first| first.flits() > flits) {
            return (flits, messages);
        }
        for message in queue.messages().skip(1) {
            if message.flits() >= self.small_below || flits.saturating_add(message.flits()) > self.block_max {
                break;
            }
            flits += message.flits();
            messages += 1;
        }
        (flits, messages)
    }

    /// When to look again if nothing can be sent now: when something is due, or when a granted time comes.
    pub fn wait<Q>(&self, state: &Reservations, queue: &SendQueue<Q>, now: Tick) -> Pull {
        let mut at = queue.due().map_or(Tick::MAX, |due| due.at);
        if let Some(block) = state.blocks.iter().find(|block| !block.is_over(now))
            && let Phase::Granted { start, .. } = block.phase
            && start > now
        {
            at = at.min(start);
        }
        if state.congested_until > now {
            at = at.min(state.congested_until);
        }
        if at == Tick::MAX { Pull::Wait } else { Pull::At(at) }
    }

    /// A packet was sent.
    pub fn on_sent(&self, state: &mut Reservations, sent: &Sent) {
        let (key, flits) =
            (key(sent.packet.cold.message, sent.packet.cold.sequence), sent.packet.hot.flits());
        match sent.pull {
            Pull::Reserve(reserve) => state.blocks.push_back(Block {
                first: key,
                phase: Phase::Speculating { rest: reserve.flits },
                flights: Vec::new(),
            }),
            Pull::Next(class) if class == self.speculative => {
                let block = state.blocks.back_mut().expect("speculation has a reservation");
                let Phase::Speculating { rest } = &mut block.phase else {
                    unreachable!("speculation after it was stopped")
                };
                *rest -= flits;
                if self.variant != Variant::Default {
                    block.flights.push(Flight {
                        packet: Again::sent(sent.packet),
                        copies: 1,
                        second: Second::No,
                    });
                }
            }
            Pull::Again(_) => {
                if let Some(block) = state.block(key) {
                    if let Phase::Granted { left, .. } = &mut block.phase {
                        *left -= flits;
                    }
                    if let Some(flight) = block.flights.iter_mut().find(|f| f.packet.key() == key) {
                        (flight.copies, flight.second) = (flight.copies + 1, Second::Sent);
                    }
                }
            }
            _ => {}
        }
        state.clean(sent.now);
    }

    /// A control packet came.
    pub fn on_control<Q>(
        &self,
        state: &mut Reservations,
        queue: &mut SendQueue<Q>,
        packet: &Packet,
        now: Tick,
    ) {
        match packet.hot.kind() {
            Kind::Grant => {
                let start = granted(packet).expect("a grant carries a time");
                if self.small == Small::Ecn && start > now {
                    state.hold(start + self.small_hold);
                }
                self.on_grant(state, queue, packet.notes.words[1], start);
            }
            Kind::Nack => self.on_refusal(state, queue, packet, now),
            Kind::Ack => self.on_acknowledgement(state, queue, &packet.cold),
            Kind::Notification => state.hold(now + self.small_hold),
            kind => unreachable!("{kind:?} is not for a reservation"),
        }
        state.clean(now);
    }

    /// A time was granted: what is left of the block goes then.
    fn on_grant<Q>(&self, state: &mut Reservations, queue: &mut SendQueue<Q>, first: u64, start: Tick) {
        let block = state.block(first).filter(|block| block.first == first);
        let block = block.expect("law broken: a grant for no reservation");
        let waiting = match &mut block.phase {
            Phase::Speculating { rest } => queue.put_off(*rest, self.packet),
            Phase::Stopped { waiting } => std::mem::take(waiting),
            Phase::Granted { .. } => panic!("law broken: a reservation was granted twice"),
        };
        let mut left = 0;
        for run in waiting {
            left += run.flits;
            queue.again(Again { at: start, class: self.data, ..run });
        }
        let at = match self.variant {
            Variant::FastResend => start + left as Tick * self.flit,
            _ => start,
        };
        for flight in &mut block.flights {
            flight.second = Second::Waits;
            left += flight.packet.flits;
            queue.again(Again { at, class: self.data, ..flight.packet });
        }
        block.phase = Phase::Granted { start, left };
    }

    /// A packet was refused: it goes at the granted time, or now if that has passed.
    fn on_refusal<Q>(&self, state: &mut Reservations, queue: &mut SendQueue<Q>, packet: &Packet, now: Tick) {
        let key = key(packet.cold.message, packet.cold.sequence);
        let refused = Again::refused(packet, self.data, now);
        let Some(block) = state.block(key) else {
            queue.again(refused);
            return;
        };
        if let Some(at) = block.flights.iter().position(|flight| flight.packet.key() == key) {
            let flight = &mut block.flights[at];
            flight.copies -= 1;
            let (copies, second) = (flight.copies, flight.second);
            if copies == 0 {
                block.flights.remove(at);
            }
            if second != Second::No {
                return;
            }
        }
        match &mut block.phase {
            Phase::Speculating { rest } => {
                let mut waiting = queue.put_off(*rest, self.packet);
                waiting.push(refused);
                block.phase = Phase::Stopped { waiting };
            }
            Phase::Stopped { waiting } => waiting.push(refused),
            Phase::Granted { start, left } => {
                *left += refused.flits;
                queue.again(Again { at: now.max(*start), ..refused });
            }
        }
    }

    /// A copy of a packet arrived: a second one that still waits is not sent.
    fn on_acknowledgement<Q>(&self, state: &mut Reservations, queue: &mut SendQueue<Q>, cold: &Cold) {
        let key = key(cold.message, cold.sequence);
        let Some(block) = state.block(key) else { return };
        let Some(at) = block.flights.iter().position(|flight| flight.packet.key() == key) else { return };
        let flight = &mut block.flights[at];
        flight.copies -= 1;
        if flight.second == Second::Waits {
            flight.second = Second::No;
            queue.cancel(key);
            let Phase::Granted { left, .. } = &mut block.phase else {
                unreachable!("second copies wait for a granted time")
            };
            *left -= flight.packet.flits;
        }
        if flight.copies == 0 {
            block.flights.remove(at);
        }
    }

    /// Whether acknowledgements matter.
    pub fn hears_acknowledgements(&self) -> bool {
        self.variant != Variant::Default
    }

    /// The oldest packet whose copies are not all answered; `own` if there is none older.
    pub fn floor(&self, state: &Reservations, own: u64) -> u64 {
        let mut flights = state.blocks.iter().filter_map(|block| block.flights.first());
        flights.next().map_or(own, |flight| flight.packet.key().min(own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nic::queue::Message;

    const RULES: Rules = Rules {
        reservation: 0,
        data: 2,
        speculative: 3,
        small_below: 0,
        small: Small::Bypass,
        small_hold: 50,
        block_max: BLOCK_MAX,
        outstanding: 1,
        reserves: Reserves::WithFirstPacket,
        variant: Variant::Default,
        packet: 10,
        flit: 1,
    };

    /// A send queue without a network: what it sends is written down.
    struct Bench {
        rules: Rules,
        state: Reservations,
        queue: SendQueue<()>,
        now: Tick,
        numbers: u32,
        sent: Vec<String>,
    }

    impl Bench {
        fn new(rules: Rules, messages: &[u32]) -> Self {
            let mut queue = SendQueue::default();
            messages.iter().for_each(|&flits| queue.push(Message::new(0, 1, flits, 0)));
            Self { rules, state: Reservations::default(), queue, now: 0, numbers: 0, sent: Vec::new() }
        }

        fn pull(&self) -> Pull {
            if let Some(due) = self.queue.due()
                && due.at <= self.now
            {
                return Pull::Again(due.class);
            }
            let next = self.rules.next(&self.state, &self.queue, self.now);
            next.unwrap_or_else(|| self.rules.wait(&self.state, &self.queue, self.now))
        }

        /// Sends once; writes what, as "message.packet flits class", and gives what is waited for if nothing.
        fn send(&mut self) -> Option<Pull> {
            let pull = self.pull();
            let mut packet = Packet::default();
            let (flits, class) = match pull {
                Pull::Reserve(reserve) => {
                    self.queue.assign(&mut self.numbers, reserve.messages);
                    (packet.cold.message, packet.cold.sequence) = self.queue.place();
                    self.sent.push(format!("r{}", reserve.flits));
                    self.state_on_sent(pull, &packet);
                    return None;
                }
                Pull::Next(class) => {
                    self.queue.assign(&mut self.numbers, 1);
                    (packet.cold.message, packet.cold.sequence) = self.queue.place();
                    let flits = self.queue.left().min(self.rules.packet);
                    self.queue.advance(flits, 1);
                    (flits, class)
                }
                Pull::Again(class) => {
                    let again = self.queue.take_due(self.rules.packet).unwrap();
                    (packet.cold.message, packet.cold.sequence) = (again.message, again.sequence);
                    (again.flits, class)
                }
                pull => return Some(pull),
            };
            packet.hot.set_size(Kind::Data, flits as u16);
            let class = if class == self.rules.data { "d" } else { "s" };
            self.sent.push(format!("{}.{}{class}", packet.cold.message, packet.cold.sequence));
            self.state_on_sent(pull, &packet);
            None
        }

        fn state_on_sent(&mut self, pull: Pull, packet: &Packet) {
            let sent = Sent { pull, packet, now: self.now, end: self.now };
            self.rules.on_sent(&mut self.state, &sent);
        }

        /// Sends all that can be sent now; returns what, and what is waited for.
        fn run(&mut self) -> (String, Pull) {
            self.sent.clear();
            loop {
                if let Some(waits) = self.send() {
                    return (self.sent.join(" "), waits);
                }
            }
        }

        fn hear(&mut self, kind: Kind, message: u32, sequence: u16, words: [u64; 2]) {
            let mut packet = Packet::default();
            packet.hot.set_size(kind, 1);
            (packet.cold.message, packet.cold.sequence, packet.notes.words) = (message, sequence, words);
            self.rules.on_control(&mut self.state, &mut self.queue, &packet, self.now);
        }

        fn grant(&mut self, message: u32, sequence: u16, start: Tick) {
            self.hear(Kind::Grant, message, sequence, [start + 1, key(message, sequence)]);
        }

        fn refuse(&mut self, message: u32, sequence: u16) {
            self.hear(Kind::Nack, message, sequence, [0, 10]);
        }

        fn at(&mut self, now: Tick) -> (String, Pull) {
            self.now = now;
            self.run()
        }
    }

    fn run(sent: &str, pull: Pull) -> (String, Pull) {
        (sent.to_string(), pull)
    }

    #[test]
    fn a_message_goes_speculatively_behind_its_reservation() {
        let mut bench = Bench::new(RULES, &[25]);
        assert_eq!(bench.run(), run("r25 0.0s 0.1s 0.2s", Pull::Wait));
        bench.grant(0, 0, 0);
        assert!(bench.state.is_idle(0), "nothing is left of a reservation whose time has come");
    }

    #[test]
    fn a_grant_stops_speculation_until_the_granted_time() {
        let mut bench = Bench::new(RULES, &[40]);
        (0..3).for_each(|_| assert_eq!(bench.send(), None));
        bench.now = 5;
        bench.grant(0, 0, 100);
        assert_eq!(bench.at(6), run("", Pull::At(100)));
        assert_eq!(bench.at(100), run("0.2d 0.3d", Pull::Wait));
        assert!(bench.state.is_idle(100));
    }

    #[test]
    fn a_refusal_stops_speculation_and_the_packet_goes_first_at_the_granted_time() {
        let mut bench = Bench::new(RULES, &[40]);
        (0..3).for_each(|_| assert_eq!(bench.send(), None));
        bench.refuse(0, 0);
        assert_eq!(bench.run(), run("", Pull::Wait));
        bench.grant(0, 0, 100);
        bench.refuse(0, 1);
        assert_eq!(bench.at(100), run("0.0d 0.1d 0.2d 0.3d", Pull::Wait));
    }

    #[test]
    fn a_refusal_after_the_granted_time_is_answered_at_once() {
        let mut bench = Bench::new(RULES, &[20]);
        bench.run();
        bench.grant(0, 0, 10);
        assert_eq!(bench.at(30), run("", Pull::Wait));
        bench.refuse(0, 1);
        assert_eq!(bench.run(), run("0.1d", Pull::Wait));
    }

    #[test]
    fn a_long_message_reserves_block_by_block() {
        let mut bench = Bench::new(Rules { block_max: 20, ..RULES }, &[35]);
        assert_eq!(bench.run(), run("r20 0.0s 0.1s", Pull::Wait));
        bench.grant(0, 0, 50);
        assert_eq!(bench.at(49), run("", Pull::At(50)));
        assert_eq!(bench.at(50), run("r15 0.2s 0.3s", Pull::Wait));
    }

    #[test]
    fn as_many_blocks_are_outstanding_as_allowed() {
        assert_eq!(Bench::new(RULES, &[10, 10, 10]).run(), run("r10 0.0s", Pull::Wait));
        let two = Rules { outstanding: 2, ..RULES };
        assert_eq!(Bench::new(two, &[10, 10, 10]).run(), run("r10 0.0s r10 1.0s", Pull::Wait));
        let many = Rules { outstanding: usize::MAX, ..RULES };
        let mut bench = Bench::new(many, &[20, 10]);
        (0..2).for_each(|_| assert_eq!(bench.send(), None));
        bench.refuse(0, 0);
        assert_eq!(bench.run(), run("r10 1.0s", Pull::Wait), "the next message goes on");
        bench.grant(1, 0, 40);
        bench.grant(0, 0, 20);
        assert_eq!(bench.at(20), run("0.0d 0.1d", Pull::At(40)));
    }

    #[test]
    fn small_messages_bypass() {
        let mut bench = Bench::new(Rules { small_below: 20, ..RULES }, &[15, 20]);
        assert_eq!(bench.run(), run("0.0d 0.1d r20 1.0s 1.1s", Pull::Wait));
    }

    #[test]
    fn small_messages_reserve_while_there_is_congestion() {
        let rules = Rules { small_below: 20, small: Small::Ecn, outstanding: 9, ..RULES };
        let mut bench = Bench::new(rules, &[10]);
        assert_eq!(bench.run(), run("0.0d", Pull::Wait));
        bench.hear(Kind::Notification, 0, 0, [0; 2]);
        bench.queue.push(Message::new(0, 1, 10, 0));
        assert_eq!(bench.run(), run("r10 1.0s", Pull::At(50)));
        bench.queue.push(Message::new(0, 1, 10, 0));
        assert_eq!(bench.at(50), run("2.0d", Pull::Wait));
    }

    #[test]
    fn small_messages_that_wait_share_a_reservation() {
        let rules = Rules { small_below: 20, small: Small::Coalesce, block_max: 30, ..RULES };
        let mut bench = Bench::new(rules, &[10, 10, 15]);
        assert_eq!(bench.run(), run("r20 0.0s 1.0s", Pull::Wait));
        bench.refuse(1, 0);
        bench.grant(0, 0, 30);
        assert_eq!(bench.at(30), run("1.0d r15 2.0s 2.1s", Pull::Wait));
    }

    #[test]
    fn a_shared_reservation_that_is_stopped_keeps_the_numbers_of_its_messages() {
        let rules = Rules { small_below: 20, small: Small::Coalesce, ..RULES };
        let mut bench = Bench::new(rules, &[10, 15, 5]);
        (0..2).for_each(|_| assert_eq!(bench.send(), None));
        bench.grant(0, 0, 30);
        assert_eq!(bench.sent.join(" "), "r30 0.0s");
        assert_eq!(bench.at(30), run("1.0d 1.1d 2.0d", Pull::Wait));
    }

    #[test]
    fn small_messages_reserve_after_a_mark_and_as_long_as_granted_times_lie_ahead() {
        let rules = Rules { small_below: 20, small: Small::Ecn, ..RULES };
        let mut bench = Bench::new(rules, &[10; 6]);
        assert_eq!(bench.send(), None);
        bench.hear(Kind::Notification, 0, 0, [0; 2]);
        assert_eq!(bench.run(), run("r10 1.0s", Pull::At(50)));
        bench.grant(1, 0, 200);
        bench.hear(Kind::Notification, 0, 0, [0; 2]);
        assert_eq!(bench.at(199), run("", Pull::At(200)), "a mark does not shorten the hold");
        assert_eq!(bench.at(249), run("r10 2.0s", Pull::At(250)));
        bench.grant(2, 0, 249);
        assert_eq!(bench.at(250), run("3.0d 4.0d 5.0d", Pull::Wait), "a time that has come prolongs nothing");
    }

    #[test]
    fn in_order_resends_what_is_not_acknowledged_ahead_of_the_rest() {
        let mut bench = Bench::new(Rules { variant: Variant::InOrder, ..RULES }, &[40]);
        (0..4).for_each(|_| assert_eq!(bench.send(), None));
        bench.grant(0, 0, 100);
        bench.hear(Kind::Ack, 0, 0, [0; 2]);
        assert_eq!(bench.rules.floor(&bench.state, 99), key(0, 1));
        assert_eq!(bench.at(100), run("0.1d 0.2d 0.3d", Pull::Wait));
        bench.refuse(0, 1);
        assert_eq!(bench.run(), run("", Pull::Wait), "its second copy is under way");
        assert!(!bench.state.is_idle(100), "copies are not answered");
        [1, 2, 2].into_iter().for_each(|packet| bench.hear(Kind::Ack, 0, packet, [0; 2]));
        assert!(bench.state.is_idle(100));
    }

    #[test]
    fn fast_resend_sends_what_is_not_acknowledged_behind_the_rest() {
        let mut bench = Bench::new(Rules { variant: Variant::FastResend, ..RULES }, &[40]);
        (0..3).for_each(|_| assert_eq!(bench.send(), None));
        bench.refuse(0, 1);
        bench.grant(0, 0, 100);
        assert_eq!(bench.at(100), run("0.1d 0.2d 0.3d", Pull::At(130)));
        assert_eq!(bench.at(130), run("0.0d", Pull::Wait));
    }
}
