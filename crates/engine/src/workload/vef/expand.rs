//! From a trace to what each task does: messages as they are, collective operations cut into messages.
use super::text::{After, Collective, Member, Message, Mistake, Trace, When};
use crate::workload::mpi::Costs;
use crate::workload::mpi::collective::{Call, Operation, Plan, Step};
use crate::workload::mpi::graph::{Builder, Graph, Label, Node, What};
use std::collections::HashMap;

/// Most operations that a trace may be expanded to.
const OPERATIONS_MAX: usize = 100_000_000;
/// Messages between two tasks are told apart by a number under this.
const PAIR_MAX: u32 = 1 << 29;

/// Operations by the tasks that do them.
struct Expansion<'a> {
    trace: &'a Trace,
    builders: Vec<Builder>,
    /// How many messages there are from one task to another.
    pairs: HashMap<(u32, u32), u32>,
    /// The send and the receive of each message.
    ends: Vec<(u32, u32)>,
    /// Where each member of each collective operation comes to it, and has done it.
    gates: Vec<Vec<(u32, u32)>>,
    count: usize,
}

/// What each task does.
pub fn graphs(trace: &Trace, costs: &Costs) -> Result<Vec<Graph>, Mistake> {
    let mut all = Expansion {
        trace,
        builders: (0..trace.tasks).map(|_| Builder::default()).collect(),
        pairs: HashMap::new(),
        ends: Vec::new(),
        gates: Vec::new(),
        count: 0,
    };
    for message in &trace.messages {
        let ends = all.message(message.from, message.to, message.bytes, message.when.line)?;
        all.ends.push(ends);
    }
    for collective in &trace.collectives {
        let gates = all.collective(collective, costs)?;
        all.gates.push(gates);
    }
    all.tie()?;
    let build = |(task, builder): (usize, Builder)| {
        let message = || format!("an operation of task {task} waits, through others, for itself");
        builder.build().map_err(|_| Mistake::new(1, message(), "dependencies without a circle"))
    };
    all.builders.into_iter().enumerate().map(build).collect()
}

impl Expansion<'_> {
    fn add(&mut self, task: u32, node: Node, line: usize) -> Result<u32, Mistake> {
        self.count += 1;
        if self.count > OPERATIONS_MAX {
            let message = format!("the trace has more than {OPERATIONS_MAX} sends and receives");
            return Err(Mistake::new(line, message, "a smaller trace"));
        }
        Ok(self.builders[task as usize].add(node))
    }

    /// A message: its send and its receive.
    fn message(&mut self, from: u32, to: u32, bytes: u64, line: usize) -> Result<(u32, u32), Mistake> {
        let number = self.pairs.entry((from, to)).or_default();
        let label = Label::exact(*number);
        *number += 1;
        if *number >= PAIR_MAX {
            let message = format!("there are {PAIR_MAX} messages from task {from} to task {to}");
            return Err(Mistake::new(line, message, "fewer"));
        }
        let send = self.add(from, Node { what: What::Send { to, bytes }, label, cpu: 0 }, line)?;
        let receive = self.add(to, Node { what: What::Receive { from }, label, cpu: 0 }, line)?;
        Ok((send, receive))
    }

    /// The messages of a collective operation; for each member, where it comes to it and where it has done it.
    fn collective(&mut self, collective: &Collective, costs: &Costs) -> Result<Vec<(u32, u32)>, Mistake> {
        let (members, line) = (&collective.members, collective.line);
        let mut gates = Vec::with_capacity(members.len());
        for member in members {
            let begin = self.add(member.task, Node::delay(0), line)?;
            gates.push((begin, self.add(member.task, Node::delay(0), line)?));
        }
        match call(collective) {
            Some(call) => self.steps(collective, call, costs, &gates)?,
            None => self.star(collective, &gates)?,
        }
        for (member, &(begin, end)) in members.iter().zip(&gates) {
            self.builders[member.task as usize].after(end, begin);
        }
        Ok(gates)
    }

    /// Gather and scatter: a message between the root and each other.
    fn star(&mut self, collective: &Collective, gates: &[(u32, u32)]) -> Result<(), Mistake> {
        let members = &collective.members;
        let gathers = collective.operation == GATHER;
        let root = root(members, gathers);
        for (at, member) in members.iter().enumerate().filter(|(at, _)| *at != root) {
            let bytes = if gathers { member.send } else { member.receive };
            let (from, to) = if gathers { (at, root) } else { (root, at) };
            let ends = self.message(members[from].task, members[to].task, bytes, collective.line)?;
            for (place, node) in [(from, ends.0), (to, ends.1)] {
                let builder = &mut self.builders[members[place].task as usize];
                builder.after(node, gates[place].0);
                builder.after(gates[place].1, node);
            }
        }
        Ok(())
    }

    /// The steps of an algorithm.
    fn steps(
        &mut self,
        collective: &Collective,
        call: Call,
        costs: &Costs,
        gates: &[(u32, u32)],
    ) -> Result<(), Mistake> {
        let (members, line) = (&collective.members, collective.line);
        // Messages by sender, receiver and round: the end that comes first in the loop makes both.
        let mut made: HashMap<(u32, u32, u16), (u32, u32)> = HashMap::new();
        for (at, member) in members.iter().enumerate() {
            let plan = Plan::new(call, at as u32, members.len() as u32, costs);
            let mut before = gates[at].0;
            let mut open = Vec::new();
            for step in (0..).map_while(|number| plan.step(number)) {
                for node in self.ends_of(at as u32, &plan, &step, members, &mut made, line)? {
                    self.builders[member.task as usize].after(node, before);
                    open.push(node);
                }
                if step.waits {
                    let join = self.add(member.task, Node::delay(0), line)?;
                    open.drain(..).for_each(|node| self.builders[member.task as usize].after(join, node));
                    before = join;
                }
            }
            open.push(before);
            let end = gates[at].1;
            open.into_iter().for_each(|node| self.builders[member.task as usize].after(end, node));
        }
        Ok(())
    }

    /// A member's send and receive of a step.
    fn ends_of(
        &mut self,
        own: u32,
        plan: &Plan,
        step: &Step,
        members: &[Member],
        made: &mut HashMap<(u32, u32, u16), (u32, u32)>,
        line: usize,
    ) -> Result<Vec<u32>, Mistake> {
        let mut nodes = Vec::new();
        let mut message = |from: u32, to: u32, bytes: u64| {
            if let Some(ends) = made.remove(&(from, to, step.round)) {
                return Ok(ends);
            }
            let ends = self.message(members[from as usize].task, members[to as usize].task, bytes, line)?;
            made.insert((from, to, step.round), ends);
            Ok(ends)
        };
        if let Some(part) = step.receive {
            nodes.push(message(part.peer, own, plan.bytes(&part))?.1);
        }
        if let Some(part) = step.send {
            nodes.push(message(own, part.peer, plan.bytes(&part))?.0);
        }
        Ok(nodes)
    }

    /// Lets everything wait for what it waits for.
    fn tie(&mut self) -> Result<(), Mistake> {
        let trace = self.trace;
        for (at, Message { from, when, .. }) in trace.messages.iter().enumerate() {
            let send = self.ends[at].0;
            self.tie_one(*from, send, when)?;
        }
        for (at, collective) in trace.collectives.iter().enumerate() {
            for (place, member) in collective.members.iter().enumerate() {
                let begin = self.gates[at][place].0;
                self.tie_one(member.task, begin, &member.when)?;
            }
        }
        Ok(())
    }

    fn tie_one(&mut self, task: u32, node: u32, when: &When) -> Result<(), Mistake> {
        let mut later = node;
        if when.time > 0 {
            later = self.add(task, Node::delay(when.time), when.line)?;
            self.builders[task as usize].after(node, later);
        }
        let earlier = match when.after {
            After::Start => return Ok(()),
            After::Sent(message) => self.ends[message as usize].0,
            After::Received(message) => self.ends[message as usize].1,
            After::Done(collective) => {
                let members = &self.trace.collectives[collective as usize].members;
                let place = members.iter().position(|member| member.task == task);
                self.gates[collective as usize][place.expect("the reader has checked it")].1
            }
        };
        self.builders[task as usize].after(later, earlier);
        Ok(())
    }
}

const GATHER: u8 = 3;
const SCATTER: u8 = 4;

/// The root of an operation: of a reduction or a gather, the member that sends nothing, else the one that receives nothing; the
/// first if that is not one alone.
fn root(members: &[Member], to_root: bool) -> usize {
    let is_root = |member: &&Member| if to_root { member.send == 0 } else { member.receive == 0 };
    match members.iter().filter(is_root).count() {
        1 => members.iter().position(|member| is_root(&member)).unwrap_or(0),
        _ => 0,
    }
}

/// The operation as the collectives know it; none for gathers and scatters.
fn call(collective: &Collective) -> Option<Call> {
    let members = &collective.members;
    let largest = |pick: fn(&Member) -> u64| members.iter().map(pick).max().unwrap_or(0);
    let ranks = members.len() as u64;
    let (operation, root, bytes) = match collective.operation {
        0 => (Operation::Broadcast, root(members, false), largest(|member| member.receive)),
        1 => (Operation::Reduce, root(members, true), largest(|member| member.send)),
        2 => (Operation::Allreduce, 0, largest(|member| member.send)),
        GATHER | SCATTER => return None,
        5 => (Operation::Allgather, 0, largest(|member| member.send)),
        6 => (Operation::Barrier, 0, 0),
        // With the flag 1 what is sent is the sum for all.
        _ if members.iter().any(|member| member.receive == 1) => {
            (Operation::Alltoall, 0, largest(|member| member.send).div_ceil(ranks))
        }
        _ => (Operation::Alltoall, 0, largest(|member| member.send)),
    };
    Some(Call { operation, root: root as u32, bytes })
}
