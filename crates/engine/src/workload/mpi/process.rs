//! A rank of an MPI program: does its operations one after the other.
//!
//! A rank has a clock of its own, which may be ahead of the network's: it goes on until an operation has to wait for
//! something that has not happened yet. What it sends is handed over when its clock's time comes.
use super::collective::{self, Group, Plan};
use super::mailbox::{Letter, Mailbox, Request, Wanted};
use super::wire::{SEQUENCES, TAG_MAX};
use super::{Call, Costs, Op, Script};
use crate::units::Time;
use crate::workload::ledger::Activity;
use crate::workload::{Actions, Rank, first_few};
use std::sync::Arc;

/// The request of messages of blocking and collective operations: they are waited for all together.
const OWN: Request = Request::MAX;

/// What a rank does.
#[derive(Debug, Clone, Copy)]
enum State {
    /// The next operation.
    Ready,
    /// It computes until its timer.
    Computing,
    /// A blocking operation's messages are under way.
    Blocked,
    /// It waits for requests, of which so many are not complete.
    Waiting { first: u32, count: u32, left: u32 },
    /// A step of a collective operation; whether it waits for its messages.
    Collective { plan: Plan, step: u32, waits: bool },
    /// Nothing more.
    Ended,
}

/// A rank.
pub struct Process {
    script: Arc<dyn Script>,
    rank: u32,
    costs: Costs,
    /// The next section, and what is left of the present one.
    section: u64,
    ops: Vec<Op>,
    at: usize,
    op: Op,
    state: State,
    clock: Time,
    /// When the present operation began.
    entered: Time,
    mail: Mailbox,
    /// Completion of the script's requests.
    requests: Vec<Option<Time>>,
    /// Messages under way of the present operation, and when the last of the others was complete.
    own_left: u32,
    own_latest: Time,
    /// The groups that it is in, all ranks first, and how many collective operations each has begun.
    groups: Vec<(Group, u16)>,
}

impl Process {
    /// A rank that has not started.
    pub fn new(script: Arc<dyn Script>, rank: u32, ranks: u32, costs: Costs) -> Self {
        let groups = std::iter::once(Group::whole(ranks)).chain(script.groups(rank));
        Self {
            groups: groups.map(|group| (group, 0)).collect(),
            script,
            rank,
            costs,
            section: 0,
            ops: Vec::new(),
            at: 0,
            op: Op::Compute(0),
            state: State::Ready,
            clock: Time(0),
            entered: Time(0),
            mail: Mailbox::default(),
            requests: Vec::new(),
            own_left: 0,
            own_latest: Time(0),
        }
    }

    /// Goes on as far as it can.
    fn run(&mut self, act: &mut Actions) {
        loop {
            self.collect();
            match self.state {
                State::Ready => match self.next(act) {
                    Some(op) => self.begin(op, act),
                    None => self.state = State::Ended,
                },
                State::Blocked if self.own_left == 0 => {
                    self.clock = self.clock.max(self.own_latest);
                    self.finish(act);
                }
                State::Waiting { first, count, left: 0 } => {
                    let range = first as usize..(first + count) as usize;
                    let latest = self.requests[range].iter_mut().filter_map(Option::take).max();
                    self.clock = self.clock.max(latest.unwrap_or_default());
                    self.finish(act);
                }
                State::Collective { plan, step, waits } if !waits || self.own_left == 0 => {
                    if waits {
                        self.clock = self.clock.max(self.own_latest);
                    }
                    self.step(plan, step, act);
                }
                _ => return,
            }
        }
    }

    /// The next operation.
    fn next(&mut self, act: &mut Actions) -> Option<Op> {
        while self.at == self.ops.len() {
            self.ops.clear();
            self.at = 0;
            let more = self.script.section(self.rank, self.section, &mut self.ops);
            let each = self.script.iteration();
            // The last one may be shorter.
            if self.section > 0 && (self.section.is_multiple_of(each) || !more) {
                act.ledger.iterated(self.section.div_ceil(each) - 1, self.clock);
            }
            if !more {
                self.ops = Vec::new();
                return None;
            }
            self.section += 1;
        }
        self.at += 1;
        Some(self.ops[self.at - 1])
    }

    fn begin(&mut self, op: Op, act: &mut Actions) {
        self.op = op;
        self.entered = self.clock;
        self.state = State::Blocked;
        match op {
            Op::Compute(time) => {
                self.clock = self.clock.after(act.computes(time));
                self.state = State::Computing;
                act.timer(self.clock, 0);
            }
            Op::Send { to, bytes, tag } => self.send(to, bytes, tag, OWN, act),
            Op::Receive { from, tag } => self.receive(from, tag, OWN, act),
            Op::Exchange { to, bytes, from, tag } => {
                self.receive(from, tag, OWN, act);
                self.send(to, bytes, tag, OWN, act);
            }
            Op::Isend { to, bytes, tag, request } => {
                self.send(to, bytes, tag, request, act);
                self.finish(act);
            }
            Op::Irecv { from, tag, request } => {
                self.receive(from, tag, request, act);
                self.finish(act);
            }
            Op::Wait { first, count } => {
                let range = first as usize..(first + count) as usize;
                let left = self.requests[range].iter().filter(|request| request.is_none()).count() as u32;
                self.state = State::Waiting { first, count, left };
            }
            Op::Collective(Call { operation: collective::Operation::Barrier, group: 0, .. })
                if self.costs.barrier.is_some() =>
            {
                self.started(OWN);
                act.barrier(self.clock);
            }
            Op::Collective(call) => {
                let (group, begun) = &mut self.groups[usize::from(call.group)];
                *begun = begun.wrapping_add(1);
                let plan = Plan::new(call, self.rank, *group, &self.costs);
                self.step(plan, 0, act);
            }
        }
    }

    fn finish(&mut self, act: &mut Actions) {
        act.ledger.done(kind(&self.op), Time(self.clock.0 - self.entered.0));
        self.own_latest = Time(0);
        self.state = State::Ready;
    }

    /// Takes a step of a collective operation, or ends it.
    fn step(&mut self, plan: Plan, number: u32, act: &mut Actions) {
        let Some(step) = plan.step(number) else {
            return self.finish(act);
        };
        let tag = TAG_MAX + 1 + step.round % (TAG_MAX + 1);
        if let Some(part) = step.receive {
            let instance = Some(self.instance(part.peer));
            self.post(Wanted { from: Some(part.peer), tag: Some(tag), instance }, OWN, act);
        }
        if let Some(part) = step.send {
            let instance = Some(self.instance(part.peer));
            let letter = Letter { to: part.peer, bytes: plan.bytes(&part), tag, instance };
            self.mail_out(letter, OWN, act);
        }
        self.state = State::Collective { plan, step: number + 1, waits: step.waits };
    }

    /// The number of the present collective operation among those in which another rank takes part too: of whatever groups these are,
    /// both begin them in the same order.
    fn instance(&self, peer: u32) -> u16 {
        let shared = self.groups.iter().filter(|(group, _)| group.contains(peer));
        shared.fold(0, |sum: u16, (_, begun)| sum.wrapping_add(*begun)) % SEQUENCES
    }

    fn send(&mut self, to: u32, bytes: u64, tag: u16, request: Request, act: &mut Actions) {
        self.mail_out(Letter { to, bytes, tag, instance: None }, request, act);
    }

    fn receive(&mut self, from: u32, tag: u16, request: Request, act: &mut Actions) {
        self.post(Wanted { from: Some(from), tag: Some(tag), instance: None }, request, act);
    }

    fn mail_out(&mut self, letter: Letter, request: Request, act: &mut Actions) {
        self.started(request);
        self.mail.send(self.clock, letter, request, &self.costs, act);
    }

    fn post(&mut self, wanted: Wanted, request: Request, act: &mut Actions) {
        self.started(request);
        self.mail.receive(self.clock, wanted, request, &self.costs, act);
    }

    /// A send or a receive takes its time, and is under way.
    fn started(&mut self, request: Request) {
        self.clock = self.clock.after(self.costs.overhead);
        if request == OWN {
            self.own_left += 1;
            return;
        }
        let at = request as usize;
        if self.requests.len() <= at {
            self.requests.resize(at + 1, None);
        }
        self.requests[at] = None;
    }

    /// Takes note of what is complete.
    fn collect(&mut self) {
        for (request, time) in self.mail.done.drain(..) {
            if request == OWN {
                self.own_left -= 1;
                self.own_latest = self.own_latest.max(time);
                continue;
            }
            self.requests[request as usize] = Some(time);
            if let State::Waiting { first, count, left } = &mut self.state
                && (*first..*first + *count).contains(&request)
            {
                *left -= 1;
            }
        }
    }
}

impl Process {
    /// The first few of some requests that are not complete, for a person.
    fn incomplete(&self, of: impl Fn(Request) -> bool) -> String {
        first_few(self.mail.incomplete(of).into_iter())
    }
}

impl Rank for Process {
    fn on_start(&mut self, act: &mut Actions) {
        self.clock = act.now;
        self.run(act);
    }

    fn on_injected(&mut self, to: u32, tag: u32, act: &mut Actions) {
        self.mail.on_injected(to, tag, &self.costs, act);
        self.run(act);
    }

    fn on_delivered(&mut self, from: u32, tag: u32, act: &mut Actions) {
        self.mail.on_delivered(from, tag, &self.costs, act);
        self.run(act);
    }

    fn on_timer(&mut self, _key: u32, act: &mut Actions) {
        self.finish(act);
        self.run(act);
    }

    fn on_barrier(&mut self, act: &mut Actions) {
        self.own_left -= 1;
        self.own_latest = act.now;
        self.run(act);
    }

    fn end(&self) -> Option<Time> {
        matches!(self.state, State::Ended).then_some(self.clock)
    }

    fn uncounted(&self, now: Time) -> i64 {
        // Its clock may be ahead of the network's. Computing ends by a timer, so what it has counted ahead is communication.
        let since = now.0 as i64 - self.entered.0 as i64;
        match self.state {
            State::Ended => 0,
            State::Blocked | State::Waiting { .. } | State::Collective { .. } => since,
            State::Ready | State::Computing => since.min(0),
        }
    }

    fn unmatched(&self) -> (usize, usize) {
        self.mail.left_over()
    }

    fn memory(&self) -> u64 {
        let own = self.ops.capacity() * size_of::<Op>()
            + self.requests.capacity() * size_of::<Option<Time>>()
            + self.groups.capacity() * size_of::<(Group, u16)>();
        (size_of::<Self>() + own) as u64 + self.mail.memory()
    }

    fn waits_for(&self) -> String {
        let messages = |left: u32| if left == 1 { "1 message".into() } else { format!("{left} messages") };
        match self.state {
            State::Waiting { first, count, left } => {
                let of = |request: Request| (first..first + count).contains(&request);
                format!("wait for {left} of {count} requests: {}", self.incomplete(of))
            }
            State::Collective { step, .. } => {
                let incomplete = self.incomplete(|request| request == OWN);
                format!("{}, in step {step}, for {}: {incomplete}", told(&self.op), messages(self.own_left))
            }
            _ => told(&self.op),
        }
    }
}

/// What an operation is counted as.
fn kind(op: &Op) -> Activity {
    match op {
        Op::Compute(_) => Activity::Compute,
        Op::Send { .. } => Activity::Send,
        Op::Receive { .. } => Activity::Receive,
        Op::Exchange { .. } => Activity::Exchange,
        Op::Isend { .. } => Activity::Isend,
        Op::Irecv { .. } => Activity::Irecv,
        Op::Wait { .. } => Activity::Wait,
        Op::Collective(call) => call.kind(),
    }
}

/// An operation for a person.
fn told(op: &Op) -> String {
    match op {
        Op::Compute(time) => format!("compute for {time} ps"),
        Op::Send { to, bytes, tag } => format!("send of {bytes} B to rank {to}, tag {tag}"),
        Op::Receive { from, tag } => format!("receive from rank {from}, tag {tag}"),
        Op::Exchange { to, bytes, from, tag } => {
            format!("exchange, {bytes} B to rank {to}, from rank {from}, tag {tag}")
        }
        Op::Isend { to, bytes, tag, .. } => format!("isend of {bytes} B to rank {to}, tag {tag}"),
        Op::Irecv { from, tag, .. } => format!("irecv from rank {from}, tag {tag}"),
        Op::Wait { count, .. } => format!("wait for {count} requests"),
        Op::Collective(Call { operation, bytes, .. }) => match operation {
            collective::Operation::Barrier => "barrier".into(),
            _ => format!("{} of {bytes} B", kind(op).name()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Scale};
    use crate::workload::host::Agenda;
    use crate::workload::ledger::Ledger;
    use crate::workload::mpi::Mpi;

    /// One section of operations.
    #[derive(Debug)]
    struct Ops(Vec<Op>);

    impl Script for Ops {
        fn section(&self, _rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
            ops.extend(&self.0);
            number == 0
        }
    }

    /// What the first of four ranks waits for that does some operations while nothing arrives.
    fn waits_for(ops: &[Op]) -> String {
        let scale = Scale { flit_bits: 512, packet_flits: 32, host: Rate(10_000_000_000) };
        let mut rank =
            Process::new(Arc::new(Ops(ops.to_vec())), 0, 4, Costs::new(&Mpi::default().or_codes(), &scale));
        let (mut agenda, mut ledger) = (Agenda::default(), Ledger::default());
        rank.on_start(&mut Actions {
            now: Time(0),
            slot: 0,
            slowness: 1.0,
            agenda: &mut agenda,
            ledger: &mut ledger,
        });
        rank.waits_for()
    }

    #[test]
    fn what_waits_is_told_with_its_peers_tags_and_sizes() {
        let irecv = |from: u32, tag: u16, request: u32| Op::Irecv { from, tag, request };
        let isend = Op::Isend { to: 2, bytes: 20_000, tag: 4, request: 0 };
        assert_eq!(
            waits_for(&[
                irecv(1, 9, 2),
                irecv(1, 3, 1),
                isend,
                irecv(3, 3, 3),
                Op::Wait { first: 0, count: 3 }
            ]),
            "wait for 3 of 3 requests: send of 20000 B to rank 2, tag 4; receive from rank 1, tag 3; receive from rank 1, tag 9"
        );
        let many: Vec<Op> = (0..6).map(|request| irecv(1, request as u16, request)).collect();
        let all = [many, vec![Op::Wait { first: 0, count: 6 }]].concat();
        assert!(waits_for(&all).ends_with("rank 1, tag 2; receive from rank 1, tag 3; and 2 more"));
        assert_eq!(
            waits_for(&[Op::Collective(Call::allreduce(100))]),
            "allreduce of 100 B, in step 1, for 2 messages: send of 100 B to rank 1, round 1; receive from rank 1, round 1"
        );
    }
}
