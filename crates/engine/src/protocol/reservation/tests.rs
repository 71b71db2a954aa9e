//! A send queue without a network.
use super::*;
use crate::core::packet::Part;
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
    flit: FlitTime::new(1, 1),
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
        if let Some(pull) = self.queue.again_by(self.now) {
            return pull;
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
                let (message, sequence) = self.queue.place();
                (packet.cold.message, packet.cold.part) = (message, Part::new(sequence, 0));
                self.sent.push(format!("r{}", reserve.flits));
                self.state_on_sent(pull, &packet);
                return None;
            }
            Pull::Next(class) => {
                self.queue.assign(&mut self.numbers, 1);
                let (message, sequence) = self.queue.place();
                (packet.cold.message, packet.cold.part) = (message, Part::new(sequence, 0));
                let flits = self.queue.left().min(self.rules.packet);
                self.queue.advance(flits, 1);
                (flits, class)
            }
            Pull::Again(class) => {
                let again = self.queue.take_again(self.rules.data, self.rules.packet).unwrap();
                (packet.cold.message, packet.cold.part) = (again.message, Part::new(again.sequence, 0));
                (again.flits, class)
            }
            pull => return Some(pull),
        };
        packet.hot.set_size(Kind::Data, flits as u16);
        let class = if class == self.rules.data { "d" } else { "s" };
        self.sent.push(format!("{}.{}{class}", packet.cold.message, packet.cold.sequence()));
        self.state_on_sent(pull, &packet);
        None
    }

    fn state_on_sent(&mut self, pull: Pull, packet: &Packet) {
        let sent = Sent { pull, packet, now: self.now, end: self.now, time: 0 };
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

    fn hear(&mut self, kind: Kind, message: u32, sequence: u32, words: [u64; 2]) {
        let mut packet = Packet::default();
        packet.hot.set_size(kind, 1);
        (packet.cold.message, packet.cold.part, packet.notes.words) =
            (message, Part::new(sequence, 0), words);
        self.rules.on_control(&mut self.state, &mut self.queue, &packet, self.now);
    }

    fn grant(&mut self, message: u32, sequence: u32, start: Tick) {
        self.hear(Kind::Grant, message, sequence, [start + 1, key(message, sequence)]);
    }

    fn refuse(&mut self, message: u32, sequence: u32) {
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
fn a_grant_that_overtakes_another_frees_its_place_at_its_time() {
    let two = Rules { outstanding: 2, ..RULES };
    let mut bench = Bench::new(two, &[10, 10, 10]);
    assert_eq!(bench.run(), run("r10 0.0s r10 1.0s", Pull::Wait));
    bench.grant(1, 0, 40);
    assert_eq!(bench.at(5), run("", Pull::At(40)));
    assert_eq!(bench.at(40), run("r10 2.0s", Pull::Wait));
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
