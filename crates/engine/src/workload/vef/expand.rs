//! From a trace to what each task does: messages as they are, collective operations cut into messages.
use super::shape::{
    self, ALL_TO_ALL, ALLGATHER, ALLREDUCE, BARRIER, BROADCAST, GATHER, REDUCTION, SCATTER, root,
};
use super::text::{After, Collective, Member, Message, Mistake, Trace, When};
use crate::units::Scale;
use crate::workload::Setting;
use crate::workload::host::{SHORTER, too_long};
use crate::workload::mpi::Costs;
use crate::workload::mpi::collective::{Call, Operation, Part, Plan, Step};
use crate::workload::mpi::graph::{Builder, Graph, Label, Node, What};
use std::collections::HashMap;

/// Most operations that a trace may be expanded to: they are numbered.
const OPERATIONS_MAX: usize = 1 << 31;
/// Bytes that a trace may be expanded to where the scenario sets no limit to its memory.
const MEMORY_MAX: u64 = 4_000_000_000;
/// Bytes of a message of a collective operation: its send, its receive, and the moment when both parties may go on; each of the
/// first two waits for something, and something waits for it.
const MESSAGE_BYTES: u64 = 3 * Graph::NODE_BYTES + 4 * Graph::EDGE_BYTES;
/// Messages between two tasks are told apart by a number under this.
const PAIR_MAX: u32 = 1 << 29;

/// Operations by the tasks that do them.
struct Expansion<'a> {
    trace: &'a Trace,
    /// What messages are sent in.
    scale: &'a Scale,
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
pub fn graphs(trace: &Trace, costs: &Costs, setting: &Setting) -> Result<Vec<Graph>, Mistake> {
    fits(trace, costs, setting.memory)?;
    let mut all = Expansion {
        trace,
        scale: setting.scale,
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
    // What waits for itself within a task does so in the trace.
    let build = |builder: Builder| builder.build().expect("the reader refuses circles");
    Ok(all.builders.into_iter().map(build).collect())
}

/// Refuses a trace whose collective operations would be cut into more messages than memory holds, before they are.
fn fits(trace: &Trace, costs: &Costs, memory: Option<u64>) -> Result<(), Mistake> {
    let messages = |collective: &Collective| {
        let ranks = collective.members.len() as u32;
        let star = u64::from(ranks) - 1;
        call(collective).map(|call| call.map_or(star, |call| Plan::new(call, 0, ranks, costs).messages()))
    };
    let counts = trace.collectives.iter().map(messages).collect::<Result<Vec<u64>, _>>()?;
    let (mut sum, limit) = (0, memory.unwrap_or(MEMORY_MAX));
    let over = counts.iter().position(|&count| {
        sum = count.saturating_add(sum);
        sum > limit / MESSAGE_BYTES
    });
    let Some(over) = over else { return Ok(()) };
    let all = counts.iter().fold(0, |sum: u64, &count| sum.saturating_add(count));
    let mb = |bytes: f64| (bytes / 1e6).ceil();
    let message = format!(
        "the {} collective operations of the trace are cut into {all} messages, which take {} MB, over the limit of {} MB{}",
        counts.len(),
        mb(all as f64 * MESSAGE_BYTES as f64),
        mb(limit as f64),
        if memory.is_some() { " ([run] memory)" } else { ", as [run] memory sets none" },
    );
    let help = "a larger `[run] memory`, a smaller trace, or fewer messages for an operation (`mpi`)";
    Err(Mistake::new(trace.collectives[over].line, message, help))
}

impl Expansion<'_> {
    fn add(&mut self, task: u32, node: Node, line: usize) -> Result<u32, Mistake> {
        self.count += 1;
        if self.count >= OPERATIONS_MAX {
            let message = format!("the trace has more than {OPERATIONS_MAX} sends and receives");
            return Err(Mistake::new(line, message, "a smaller trace"));
        }
        Ok(self.builders[task as usize].add(node))
    }

    /// A message: its send and its receive.
    fn message(&mut self, from: u32, to: u32, bytes: u64, line: usize) -> Result<(u32, u32), Mistake> {
        if let Some(why) = too_long(bytes, self.scale) {
            return Err(Mistake::new(line, why, SHORTER));
        }
        let number = self.pairs.entry((from, to)).or_default();
        let label = Label::exact(*number);
        *number += 1;
        if *number >= PAIR_MAX {
            let message = format!("there are {PAIR_MAX} messages from task {from} to task {to}");
            return Err(Mistake::new(line, message, "fewer"));
        }
        let send = self.add(from, Node { what: What::Send { to, bytes }, label, cpu: 0 }, line)?;
        let receive = self.add(to, Node { what: What::Receive { from, bytes }, label, cpu: 0 }, line)?;
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
        match call(collective)? {
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
        let root = root(collective)?;
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
        let members = &collective.members;
        // Messages by sender, receiver and round: the end that comes first in the loop makes both.
        let mut made: HashMap<(u32, u32, u16), (u32, u32)> = HashMap::new();
        for (at, member) in members.iter().enumerate() {
            let plan = Plan::new(call, at as u32, members.len() as u32, costs);
            let mut before = gates[at].0;
            let mut open = Vec::new();
            for step in (0..).map_while(|number| plan.step(number)) {
                for node in self.ends_of((at as u32, &plan), &step, collective, &mut made)? {
                    self.builders[member.task as usize].after(node, before);
                    open.push(node);
                }
                if step.waits {
                    let join = self.add(member.task, Node::delay(0), collective.line)?;
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
        (own, plan): (u32, &Plan),
        step: &Step,
        collective: &Collective,
        made: &mut HashMap<(u32, u32, u16), (u32, u32)>,
    ) -> Result<Vec<u32>, Mistake> {
        let (members, line) = (&collective.members, collective.line);
        let mut nodes = Vec::new();
        let mut message = |from: u32, to: u32, part: Part| {
            if let Some(ends) = made.remove(&(from, to, step.round)) {
                return Ok(ends);
            }
            let (sender, receiver) = (&members[from as usize], &members[to as usize]);
            let bytes = match collective.operation {
                ALL_TO_ALL => shape::part(sender, to, members.len() as u32),
                _ => plan.bytes(&part),
            };
            let ends = self.message(sender.task, receiver.task, bytes, line)?;
            made.insert((from, to, step.round), ends);
            Ok(ends)
        };
        if let Some(part) = step.receive {
            nodes.push(message(part.peer, own, part)?.1);
        }
        if let Some(part) = step.send {
            nodes.push(message(own, part.peer, part)?.0);
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
            After::Done(collective, place) => self.gates[collective as usize][place as usize].1,
        };
        self.builders[task as usize].after(later, earlier);
        Ok(())
    }
}

/// The operation as the collectives know it; none for gathers and scatters.
fn call(collective: &Collective) -> Result<Option<Call>, Mistake> {
    let members = &collective.members;
    let largest = |pick: fn(&Member) -> u64| members.iter().map(pick).max().unwrap_or(0);
    let (operation, root, bytes) = match collective.operation {
        BROADCAST => (Operation::Broadcast, root(collective)?, largest(|member| member.receive)),
        REDUCTION => (Operation::Reduce, root(collective)?, largest(|member| member.send)),
        ALLREDUCE => (Operation::Allreduce, 0, largest(|member| member.send)),
        GATHER | SCATTER => return Ok(None),
        ALLGATHER => (Operation::Allgather, 0, largest(|member| member.send)),
        BARRIER => (Operation::Barrier, 0, 0),
        // Each member has sizes of its own.
        _ => (Operation::Alltoall, 0, 0),
    };
    Ok(Some(Call { operation, root: root as u32, bytes }))
}

#[cfg(test)]
mod tests {
    use super::super::text::read;
    use super::*;
    use crate::units::Rate;
    use crate::workload::mpi::Mpi;

    const SCALE: Scale = Scale { flit_bits: 256, packet_flits: 64, host: Rate(100_000_000_000) };

    /// What tasks do in one operation, in which each sends and receives so much.
    fn expanded(operation: u8, sizes: &[(u64, u64)]) -> Result<Vec<Graph>, String> {
        let tasks = sizes.len();
        let mut text = format!("VEF {tasks} 0 1 1 {tasks} FALSE\nC0");
        (0..tasks).for_each(|task| text += &format!(" {task}"));
        for (task, (send, receive)) in sizes.iter().enumerate() {
            text += &format!("\nG0 0 {operation} {task} {send} {receive} 0 0 -1");
        }
        let told = |mistake: Mistake| format!("{}: {} ({})", mistake.line, mistake.message, mistake.help);
        let trace = read(&text).map_err(told)?;
        let mpi = Mpi::default();
        let setting =
            Setting { ranks: trace.tasks, scale: &SCALE, mpi: &mpi, seed: 1, name: "", memory: None };
        graphs(&trace, &Costs::new(&mpi, &SCALE), &setting).map_err(told)
    }

    /// The sender, the receiver and the bytes of every message.
    fn messages(operation: u8, sizes: &[(u64, u64)]) -> Result<Vec<(u32, u32, u64)>, String> {
        let graphs = expanded(operation, sizes)?;
        let mut sent = Vec::new();
        for (from, graph) in (0..).zip(&graphs) {
            for node in graph.nodes() {
                if let What::Send { to, bytes } = node.what {
                    sent.push((from, to, bytes));
                }
            }
        }
        sent.sort_unstable();
        Ok(sent)
    }

    #[test]
    fn a_message_takes_no_more_memory_than_it_is_refused_for() {
        for operation in [2, 5, 6, 7] {
            let size = if operation == 6 { 0 } else { 9000 };
            let sizes = [(size, if operation == 2 { size } else { 0 }); 128];
            let graphs = expanded(operation, &sizes).unwrap();
            let nodes: usize = graphs.iter().map(|graph| graph.nodes().len()).sum();
            // What a rank keeps of each operation while it runs included.
            let held = graphs.iter().map(Graph::memory).sum::<u64>() + 4 * nodes as u64;
            let told = MESSAGE_BYTES * messages(operation, &sizes).unwrap().len() as u64;
            // Each task has two operations more, and what holds all of its own.
            let fixed = 128 * 600;
            assert!(held <= told + fixed && held > told / 2, "{operation}: {held}, {told} were told");
        }
    }

    #[test]
    fn the_root_is_whoever_alone_sends_to_all_or_receives_from_all() {
        // A scatter that has nothing for one task, and a gather in which the root has a part too.
        assert_eq!(
            messages(4, &[(0, 100), (0, 0), (300, 0), (0, 200)]).unwrap(),
            [(2, 0, 100), (2, 1, 0), (2, 3, 200)]
        );
        assert_eq!(
            messages(3, &[(100, 0), (100, 400), (70, 0), (100, 0)]).unwrap(),
            [(0, 1, 100), (2, 1, 70), (3, 1, 100)]
        );
        // Without the root's own bytes, it is the one that does not do what the others do.
        assert_eq!(messages(0, &[(0, 8), (0, 8), (0, 0)]).unwrap(), [(2, 0, 8), (2, 1, 8)]);
        assert_eq!(
            messages(1, &[(8, 0), (8, 0), (0, 0), (8, 0)]).unwrap().iter().filter(|m| m.0 == 2).count(),
            0
        );
        // Nothing tells who is the root of what has no bytes.
        assert_eq!(messages(4, &[(0, 0); 3]).unwrap(), [(0, 1, 0), (0, 2, 0)]);
        assert_eq!(messages(0, &[(0, 8)]).unwrap(), [], "one task alone has nobody to send to");
    }

    #[test]
    fn records_that_name_no_root_or_several_are_refused() {
        for (operation, sizes, name, help) in [
            (0, [(8, 8); 3], "broadcast", "sends"),
            (1, [(8, 8), (8, 8), (8, 0)], "reduction", "receives"),
            (3, [(8, 8); 3], "gather", "receives"),
            (4, [(0, 8), (0, 0), (0, 0)], "scatter", "sends"),
        ] {
            assert_eq!(
                messages(operation, &sizes).unwrap_err(),
                format!(
                    "3: nothing tells which task is the root of this {name} (one task alone that {help}, and no other)"
                )
            );
        }
    }

    #[test]
    fn records_that_contradict_each_other_are_refused_with_the_line_of_the_one_that_differs() {
        for (operation, sizes, expected) in [
            (0, [(8, 0), (0, 8), (0, 9)], "5: task 2 receives 9 B in a broadcast of 8 B"),
            (0, [(9, 0), (0, 8), (0, 8)], "4: task 1 receives 8 B in a broadcast of 9 B"),
            (0, [(0, 8), (0, 0), (0, 9)], "5: task 2 receives 9 B in a broadcast of 8 B"),
            (1, [(8, 0), (9, 0), (0, 8)], "4: task 1 sends 9 B in a reduction of 8 B"),
            (2, [(8, 8), (9, 9), (8, 8)], "4: task 1 sends 9 B and receives 9 B in an allreduce of 8 B"),
            (2, [(8, 0), (8, 8), (8, 8)], "3: task 0 sends 8 B and receives 0 B in an allreduce of 8 B"),
            (6, [(0, 0), (0, 0), (0, 4)], "5: task 2 sends 0 B and receives 4 B in a barrier"),
            (7, [(8, 1), (8, 0), (8, 1)], "4: an all-to-all of the form 0, which began with the form 1"),
        ] {
            let told = messages(operation, &sizes).unwrap_err();
            assert!(told.starts_with(expected), "{told}\ninstead of\n{expected}");
        }
        // Tasks may have sizes of their own in the others.
        for operation in [3, 4, 5] {
            let sizes = if operation == 4 { [(5, 2), (0, 3), (0, 0)] } else { [(2, 5), (3, 0), (0, 0)] };
            assert!(messages(operation, &sizes).is_ok(), "{operation}");
        }
    }

    #[test]
    fn every_task_of_an_all_to_all_in_vector_form_sends_what_its_own_record_says() {
        assert_eq!(
            messages(7, &[(300, 1), (0, 1), (4, 1)]).unwrap(),
            [(0, 1, 100), (0, 2, 100), (1, 0, 0), (1, 2, 0), (2, 0, 1), (2, 1, 1)]
        );
        // Parts differ by a byte at most, and come to the whole: what a task has for itself is not sent.
        assert_eq!(messages(7, &[(5, 1), (5, 1)]).unwrap(), [(0, 1, 3), (1, 0, 2)]);
        let plain = messages(7, &[(30, 0), (40, 0), (30, 0)]).unwrap();
        assert_eq!(plain, [(0, 1, 30), (0, 2, 30), (1, 0, 40), (1, 2, 40), (2, 0, 30), (2, 1, 30)]);
        let told = messages(7, &[(5, 1), (5, 5)]).unwrap_err();
        assert_eq!(
            told,
            "4: an all-to-all of the form 5 (0, bytes for each task; or 1, bytes for all together)"
        );
    }
}
