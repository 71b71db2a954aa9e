//! A trace made into what each rank does: messages between two ranks, and collective operations cut into messages.
use super::Costs;
use super::collective::{Call, Group, Part, Plan, Step};
use super::graph::{Builder, Graph, Label, Node, What};
use crate::units::Scale;
use crate::workload::host::{SHORTER, too_long};
use std::collections::HashMap;

/// Most operations that a trace may be expanded to: they are numbered.
const OPERATIONS_MAX: usize = 1 << 31;
/// Bytes that a trace may be expanded to where the scenario sets no limit to its memory.
const MEMORY_MAX: u64 = 4_000_000_000;
/// Bytes of a message of a collective operation: its send, its receive, and the moment when both parties may go on; each of the
/// first two waits for something, and something waits for it.
pub const MESSAGE_BYTES: u64 = 3 * Graph::NODE_BYTES + 4 * Graph::EDGE_BYTES;
/// Messages between two ranks are told apart by a number under this.
const PAIR_MAX: u32 = 1 << 29;
/// The processor that messages take when they cost the software time: what computes has others.
pub const COMMUNICATION: u8 = 0;

/// Why a trace cannot be expanded, and what would help.
pub type Refused = (String, &'static str);

/// Operations by the ranks that do them.
pub struct Expansion<'a> {
    /// What messages are sent in.
    scale: &'a Scale,
    builders: Vec<Builder>,
    /// How many messages there are from one rank to another.
    pairs: HashMap<(u32, u32), u32>,
    count: usize,
}

/// How a collective operation is cut into messages.
pub enum How<'a> {
    /// A message between the root, by its place among the members, and each other; its bytes by the place of the other.
    Star {
        /// The root.
        root: usize,
        /// Whether the messages go to it.
        gathers: bool,
        /// Bytes of the message of a member.
        bytes: &'a dyn Fn(usize) -> u64,
    },
    /// The steps of an algorithm.
    Steps {
        /// The operation.
        call: Call,
        /// Which algorithm it is, among others.
        costs: &'a Costs,
        /// Bytes of a message by the places of its sender and its receiver, and what the algorithm says.
        bytes: &'a dyn Fn(u32, u32, u64) -> u64,
    },
}

/// Where a member of a collective operation comes to it, and where it has done it.
pub type Gates = (u32, u32);

/// Refuses collective operations that would be cut into more messages than memory holds, before they are, by how many each takes.
///
/// # Errors
///
/// The first that does not fit any more, and why.
pub fn fits(counts: &[u64], memory: Option<u64>) -> Result<(), (usize, Refused)> {
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
    Err((over, (message, help)))
}

/// How many messages a collective operation of these ranks of the job is cut into.
pub fn messages(call: Call, members: impl ExactSizeIterator<Item = u32>, costs: &Costs) -> u64 {
    let group = Group::whole(members.len() as u32);
    Plan::new(call, 0, group, &costs.among(members)).messages()
}

/// The bytes of one of `count` equal parts of a vector: they differ by a byte at most and come to the whole.
pub fn share(whole: u64, place: u32, count: u32) -> u64 {
    let before = |place: u32| u128::from(whole) * u128::from(place) / u128::from(count);
    (before(place + 1) - before(place)) as u64
}

impl<'a> Expansion<'a> {
    /// So many ranks that have nothing to do yet.
    pub fn new(ranks: u32, scale: &'a Scale) -> Self {
        let builders = (0..ranks).map(|_| Builder::default()).collect();
        Self { scale, builders, pairs: HashMap::new(), count: 0 }
    }

    /// Adds an operation of a rank.
    ///
    /// # Errors
    ///
    /// If there are too many.
    pub fn add(&mut self, rank: u32, node: Node) -> Result<u32, Refused> {
        self.count += 1;
        if self.count >= OPERATIONS_MAX {
            let message = format!("the trace has more than {OPERATIONS_MAX} sends and receives");
            return Err((message, "a smaller trace"));
        }
        Ok(self.builders[rank as usize].add(node))
    }

    /// Of a rank, `later` begins only after `earlier` has come to its end.
    pub fn after(&mut self, rank: u32, later: u32, earlier: u32) {
        self.builders[rank as usize].after(later, earlier);
    }

    /// A message of no tag, whose receive stands for one that was posted in advance: its send and its receive.
    ///
    /// # Errors
    ///
    /// If it is too long, or there are too many.
    pub fn message(&mut self, from: u32, to: u32, bytes: u64) -> Result<(u32, u32), Refused> {
        self.pair(from, to, bytes, None)
    }

    /// A message of no tag, with the processor that its receive takes: its send and its receive.
    fn pair(&mut self, from: u32, to: u32, bytes: u64, receiving: Option<u8>) -> Result<(u32, u32), Refused> {
        self.sendable(bytes)?;
        let number = self.pairs.entry((from, to)).or_default();
        let label = Label::exact(*number);
        *number += 1;
        if *number >= PAIR_MAX {
            return Err((format!("there are {PAIR_MAX} messages from task {from} to task {to}"), "fewer"));
        }
        let send =
            self.add(from, Node { what: What::Send { to, bytes }, label, cpu: Some(COMMUNICATION) })?;
        let receive = self.add(to, Node { what: What::Receive { from, bytes }, label, cpu: receiving })?;
        Ok((send, receive))
    }

    /// Refuses a message that is too long.
    ///
    /// # Errors
    ///
    /// If it is.
    pub fn sendable(&self, bytes: u64) -> Result<(), Refused> {
        too_long(bytes, self.scale).map_or(Ok(()), |why| Err((why, SHORTER)))
    }

    /// A collective operation of these ranks; for each where it comes to it and where it has done it.
    ///
    /// # Errors
    ///
    /// If a message is too long, or there are too many.
    pub fn collective(&mut self, members: &[u32], how: &How) -> Result<Vec<Gates>, Refused> {
        let mut gates = Vec::with_capacity(members.len());
        for &rank in members {
            let begin = self.add(rank, Node::delay(0))?;
            gates.push((begin, self.add(rank, Node::delay(0))?));
        }
        match how {
            How::Steps { call, costs, bytes } => self.steps(members, &gates, (*call, costs), bytes)?,
            How::Star { root, gathers, bytes } => self.star(members, &gates, (*root, *gathers), bytes)?,
        }
        for (&rank, &(begin, end)) in members.iter().zip(&gates) {
            self.after(rank, end, begin);
        }
        Ok(gates)
    }

    fn star(
        &mut self,
        members: &[u32],
        gates: &[Gates],
        (root, gathers): (usize, bool),
        bytes: &dyn Fn(usize) -> u64,
    ) -> Result<(), Refused> {
        for at in (0..members.len()).filter(|&at| at != root) {
            let (from, to) = if gathers { (at, root) } else { (root, at) };
            let ends = self.pair(members[from], members[to], bytes(at), Some(COMMUNICATION))?;
            for (place, node) in [(from, ends.0), (to, ends.1)] {
                self.after(members[place], node, gates[place].0);
                self.after(members[place], gates[place].1, node);
            }
        }
        Ok(())
    }

    fn steps(
        &mut self,
        members: &[u32],
        gates: &[Gates],
        (call, costs): (Call, &Costs),
        bytes: &dyn Fn(u32, u32, u64) -> u64,
    ) -> Result<(), Refused> {
        let costs = &costs.among(members.iter().copied());
        // Messages by sender, receiver and round: the end that comes first in the loop makes both.
        let mut made: HashMap<(u32, u32, u16), (u32, u32)> = HashMap::new();
        for (at, &rank) in members.iter().enumerate() {
            let plan = Plan::new(call, at as u32, Group::whole(members.len() as u32), costs);
            let mut before = gates[at].0;
            let mut open = Vec::new();
            for step in (0..).map_while(|number| plan.step(number)) {
                let mut message = |from: u32, to: u32, part: &Part| {
                    if let Some(ends) = made.remove(&(from, to, step.round)) {
                        return Ok(ends);
                    }
                    let bytes = bytes(from, to, plan.bytes(part));
                    let [sender, receiver] = [from, to].map(|place| members[place as usize]);
                    let ends = self.pair(sender, receiver, bytes, Some(COMMUNICATION))?;
                    made.insert((from, to, step.round), ends);
                    Ok(ends)
                };
                for node in ends_of(at as u32, &step, &mut message)? {
                    self.after(rank, node, before);
                    open.push(node);
                }
                if step.waits {
                    let join = self.add(rank, Node::delay(0))?;
                    open.drain(..).for_each(|node| self.after(rank, join, node));
                    before = join;
                }
            }
            open.push(before);
            open.into_iter().for_each(|node| self.after(rank, gates[at].1, node));
        }
        Ok(())
    }

    /// What each rank does.
    ///
    /// # Errors
    ///
    /// A rank, and the number of an operation of it that, through others, waits for itself.
    pub fn build(self) -> Result<Vec<Graph>, (u32, u32)> {
        let built = (0..).zip(self.builders);
        built.map(|(rank, builder)| builder.build().map_err(|node| (rank, node))).collect()
    }
}

/// Gives the send and the receive of a message, by the places of its sender and its receiver and what it holds.
type Maker<'a> = dyn FnMut(u32, u32, &Part) -> Result<(u32, u32), Refused> + 'a;

/// A member's receive and send of a step, of messages that `message` makes or made.
fn ends_of(own: u32, step: &Step, message: &mut Maker) -> Result<Vec<u32>, Refused> {
    let mut nodes = Vec::new();
    if let Some(part) = &step.receive {
        nodes.push(message(part.peer, own, part)?.1);
    }
    if let Some(part) = &step.send {
        nodes.push(message(own, part.peer, part)?.0);
    }
    Ok(nodes)
}
