//! From a trace to what each task does: messages as they are, collective operations cut into messages.
use super::shape::{
    self, ALL_TO_ALL, ALLGATHER, ALLREDUCE, BARRIER, BROADCAST, GATHER, REDUCTION, SCATTER, root,
};
use super::text::{After, Collective, Member, Mistake, Trace, When};
use crate::workload::Setting;
use crate::workload::mpi::Costs;
use crate::workload::mpi::collective::{Call, Operation};
use crate::workload::mpi::expansion::{self, Expansion, Gates, How, Refused};
use crate::workload::mpi::graph::{Graph, Node};

/// What each task does.
pub fn graphs(trace: &Trace, costs: &Costs, setting: &Setting) -> Result<Vec<Graph>, Mistake> {
    fits(trace, costs, setting.memory)?;
    let mut all = Expansion::new(trace.tasks, setting.scale);
    let (mut ends, mut gates) = (Vec::new(), Vec::new());
    for message in &trace.messages {
        let made = all.message(message.from, message.to, message.bytes);
        ends.push(made.map_err(|why| refused(message.when.line, why))?);
    }
    for collective in &trace.collectives {
        gates.push(cut(&mut all, collective, costs)?);
    }
    Ties { trace, ends, gates }.tie(&mut all)?;
    // What waits for itself within a task does so in the trace.
    Ok(all.build().expect("the reader refuses circles"))
}

fn refused(line: usize, (message, help): Refused) -> Mistake {
    Mistake::new(line, message, help)
}

/// Refuses a trace whose collective operations would be cut into more messages than memory holds, before they are.
fn fits(trace: &Trace, costs: &Costs, memory: Option<u64>) -> Result<(), Mistake> {
    let messages = |collective: &Collective| {
        let star = collective.members.len() as u64 - 1;
        let tasks = collective.members.iter().map(|member| member.task);
        let cut = |call| expansion::messages(call, tasks, costs);
        call(collective).map(|call| call.map_or(star, cut))
    };
    let counts = trace.collectives.iter().map(messages).collect::<Result<Vec<u64>, _>>()?;
    expansion::fits(&counts, memory).map_err(|(over, why)| refused(trace.collectives[over].line, why))
}

/// The messages of a collective operation.
fn cut(all: &mut Expansion, collective: &Collective, costs: &Costs) -> Result<Vec<Gates>, Mistake> {
    let members = &collective.members;
    let tasks: Vec<u32> = members.iter().map(|member| member.task).collect();
    let gathers = collective.operation == GATHER;
    let of_star = |at: usize| if gathers { members[at].send } else { members[at].receive };
    let of_steps = |from: u32, to: u32, planned: u64| match collective.operation {
        ALL_TO_ALL => shape::part(&members[from as usize], to, members.len() as u32),
        _ => planned,
    };
    let how = match call(collective)? {
        Some(call) => How::Steps { call, costs, bytes: &of_steps },
        None => How::Star { root: root(collective)?, gathers, bytes: &of_star },
    };
    all.collective(&tasks, &how).map_err(|why| refused(collective.line, why))
}

/// What is made of each record.
struct Ties<'a> {
    trace: &'a Trace,
    /// The send and the receive of each message.
    ends: Vec<(u32, u32)>,
    /// Where each member of each collective operation comes to it, and has done it.
    gates: Vec<Vec<Gates>>,
}

impl Ties<'_> {
    /// Lets everything wait for what it waits for.
    fn tie(&self, all: &mut Expansion) -> Result<(), Mistake> {
        for (message, ends) in self.trace.messages.iter().zip(&self.ends) {
            self.tie_one(all, message.from, ends.0, &message.when)?;
        }
        for (collective, gates) in self.trace.collectives.iter().zip(&self.gates) {
            for (member, gates) in collective.members.iter().zip(gates) {
                self.tie_one(all, member.task, gates.0, &member.when)?;
            }
        }
        Ok(())
    }

    fn tie_one(&self, all: &mut Expansion, task: u32, node: u32, when: &When) -> Result<(), Mistake> {
        let mut later = node;
        if when.time > 0 {
            let delay = all.add(task, Node::delay(when.time));
            later = delay.map_err(|why| refused(when.line, why))?;
            all.after(task, node, later);
        }
        let earlier = match when.after {
            After::Start => return Ok(()),
            After::Sent(message) => self.ends[message as usize].0,
            After::Received(message) => self.ends[message as usize].1,
            After::Done(collective, place) => self.gates[collective as usize][place as usize].1,
        };
        all.after(task, later, earlier);
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
    Ok(Some(Call { root: root as u32, ..Call::new(operation, bytes) }))
}

#[cfg(test)]
mod tests {
    use super::super::text::read;
    use super::*;
    use crate::units::{Rate, Scale};
    use crate::workload::mpi::Mpi;
    use crate::workload::mpi::expansion::MESSAGE_BYTES;
    use crate::workload::mpi::graph::What;

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
