//! Ranks whose operations depend on each other, as traces have them: each is done as soon as those it waits for allow.
use super::Costs;
use super::mailbox::{Letter, Mailbox, Wanted};
use crate::units::Time;
use crate::workload::ledger::Kind;
use crate::workload::{Actions, Rank, first_few};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Any rank, or any tag.
pub const ANY: u32 = u32::MAX;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of MPI's calls")]
pub enum What {
    /// Sends so many bytes to a rank.
    Send { to: u32, bytes: u64 },
    /// Receives from a rank, or from [`ANY`]. The bytes are what its own side says: a message is matched whatever its size.
    Receive { from: u32, bytes: u64 },
    /// Occupies the processor for so many ps.
    Compute(u64),
    /// Lets so many ps pass.
    Delay(u64),
}

/// How the messages of an operation are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of a message")]
pub enum Label {
    /// By an MPI tag, in the order of sending.
    Tag(u16),
    /// By any tag.
    AnyTag,
    /// By a number of their own among those of the same sender and receiver; see [`Label::exact`].
    Exact { tag: u16, sequence: u16 },
}

impl Label {
    /// The label of the message of a number, which must be under 2²⁹.
    pub fn exact(number: u32) -> Self {
        let tag = super::TAG_MAX + 1 + (number >> 14) as u16;
        Label::Exact { tag, sequence: number as u16 % super::wire::SEQUENCES }
    }

    fn parts(self) -> (Option<u16>, Option<u16>) {
        match self {
            Label::Tag(tag) => (Some(tag), None),
            Label::AnyTag => (None, None),
            Label::Exact { tag, sequence } => (Some(tag), Some(sequence)),
        }
    }

    /// For a person; `names` are the tags of messages to their receiver.
    fn told(self, names: &[u32]) -> String {
        match self {
            Label::Tag(number) => {
                let tag = names.get(number as usize).copied();
                format!("tag {}", tag.unwrap_or(number.into()))
            }
            Label::AnyTag => "any tag".into(),
            Label::Exact { tag, sequence } => {
                let number = u32::from(tag - super::TAG_MAX - 1) << 14 | u32::from(sequence);
                format!("message {} between the two", number + 1)
            }
        }
    }
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// What it does.
    pub what: What,
    /// How its message is told apart.
    pub label: Label,
    /// The processor that it takes.
    pub cpu: u8,
}

impl Node {
    /// A moment at which nothing happens.
    pub fn delay(ps: u64) -> Self {
        Self { what: What::Delay(ps), label: Label::AnyTag, cpu: 0 }
    }
}

/// Lists of numbers, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Lists {
    first: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// For each of `count` lists its items, in order, of pairs of list and item.
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut first = vec![0; count + 1];
        pairs.iter().for_each(|(list, _)| first[*list as usize + 1] += 1);
        for at in 0..count {
            first[at + 1] += first[at];
        }
        let mut next = first.clone();
        let mut items = vec![0; pairs.len()];
        for &(list, item) in pairs {
            items[next[list as usize] as usize] = item;
            next[list as usize] += 1;
        }
        Self { first, items }
    }

    fn memory(&self) -> usize {
        (self.first.capacity() + self.items.capacity()) * size_of::<u32>()
    }

    fn of(&self, list: u32) -> &[u32] {
        &self.items[self.first[list as usize] as usize..self.first[list as usize + 1] as usize]
    }
}

/// The operations of a rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    nodes: Vec<Node>,
    /// How many operations each waits for.
    waits_for: Vec<u32>,
    /// Who waits for the end, and who for the beginning, of each.
    at_end: Lists,
    at_start: Lists,
    /// The trace's own tags of messages to the rank, by the numbers that stand for them.
    tags: Vec<u32>,
}

impl Graph {
    /// Lets it know the trace's own tags of messages to the rank, by the numbers that stand for them.
    pub fn name_tags(&mut self, tags: Vec<u32>) {
        self.tags = tags;
    }

    /// The trace's own tags of messages to the rank, by the numbers that stand for them.
    pub fn tags(&self) -> &[u32] {
        &self.tags
    }

    /// Whether the rank receives messages of any tag.
    pub fn receives_any_tag(&self) -> bool {
        let any = |node: &Node| matches!(node.what, What::Receive { .. }) && node.label == Label::AnyTag;
        self.nodes.iter().any(any)
    }
}

/// Operations that are being put together.
#[derive(Debug, Default)]
pub struct Builder {
    nodes: Vec<Node>,
    at_end: Vec<(u32, u32)>,
    at_start: Vec<(u32, u32)>,
}

impl Builder {
    /// Adds an operation; returns its number.
    pub fn add(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    /// `later` begins only after `earlier` has come to its end.
    pub fn after(&mut self, later: u32, earlier: u32) {
        self.at_end.push((earlier, later));
    }

    /// `later` begins only after `earlier` has begun.
    pub fn after_start(&mut self, later: u32, earlier: u32) {
        self.at_start.push((earlier, later));
    }

    /// The graph.
    ///
    /// # Errors
    ///
    /// The number of an operation that, through others, waits for itself.
    pub fn build(mut self) -> Result<Graph, u32> {
        self.nodes.shrink_to_fit();
        let count = self.nodes.len();
        let mut waits_for = vec![0; count];
        for &(_, later) in self.at_end.iter().chain(&self.at_start) {
            waits_for[later as usize] += 1;
        }
        let at_end = Lists::new(count, &self.at_end);
        let at_start = Lists::new(count, &self.at_start);
        let graph = Graph { nodes: self.nodes, waits_for, at_end, at_start, tags: Vec::new() };
        match graph.on_a_cycle() {
            Some(node) => Err(node),
            None => Ok(graph),
        }
    }
}

impl Graph {
    /// Bytes that an operation takes with what is kept of it while it runs, and what it takes that one waits for another.
    pub const NODE_BYTES: u64 = (size_of::<Node>() + 4 * size_of::<u32>()) as u64;
    /// See [`Graph::NODE_BYTES`].
    pub const EDGE_BYTES: u64 = size_of::<u32>() as u64;

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let own = self.nodes.capacity() * size_of::<Node>()
            + (self.waits_for.capacity() + self.tags.capacity()) * size_of::<u32>();
        (size_of::<Self>() + own + self.at_end.memory() + self.at_start.memory()) as u64
    }

    /// Bytes of the longest message that the rank sends.
    pub fn longest(&self) -> u64 {
        let bytes = |node: &Node| if let What::Send { bytes, .. } = node.what { bytes } else { 0 };
        self.nodes.iter().map(bytes).max().unwrap_or(0)
    }

    /// The operations.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Who waits for an operation: for its end, for its beginning.
    pub fn dependants(&self, node: u32) -> (&[u32], &[u32]) {
        (self.at_end.of(node), self.at_start.of(node))
    }

    /// An operation that is never free to begin.
    fn on_a_cycle(&self) -> Option<u32> {
        let mut left = self.waits_for.clone();
        let mut free: Vec<u32> = (0..left.len() as u32).filter(|&node| left[node as usize] == 0).collect();
        let mut done = 0;
        while let Some(node) = free.pop() {
            done += 1;
            for &later in self.at_end.of(node).iter().chain(self.at_start.of(node)) {
                left[later as usize] -= 1;
                if left[later as usize] == 0 {
                    free.push(later);
                }
            }
        }
        if done == left.len() { None } else { left.iter().position(|&left| left > 0).map(|at| at as u32) }
    }
}

/// A rank that works off its graph.
pub struct Worker {
    graphs: Arc<Vec<Graph>>,
    rank: u32,
    costs: Costs,
    mail: Mailbox,
    /// How many operations each still waits for.
    left: Vec<u32>,
    /// When each processor is free.
    free_at: Vec<Time>,
    /// When the operations under way became free to begin.
    under_way: BTreeMap<u32, Time>,
    undone: usize,
    /// When the job started, if it has.
    started: Option<Time>,
    /// Computing operations under way, since when there have been any, and for how long there were any before.
    computing: u32,
    computing_since: Time,
    computed: u64,
    latest: Time,
}

/// Timers tell that an operation begins (even keys) or ends (odd keys); there are fewer than 2³¹.
const END: u32 = 1;

impl Worker {
    /// A rank that has not started.
    pub fn new(graphs: Arc<Vec<Graph>>, rank: u32, any_tag: bool, costs: Costs) -> Self {
        let graph = &graphs[rank as usize];
        let cpus = graph.nodes.iter().map(|node| node.cpu as usize + 1).max().unwrap_or(0);
        Self {
            left: graph.waits_for.clone(),
            undone: graph.nodes.len(),
            free_at: vec![Time(0); cpus],
            mail: Mailbox::new(any_tag),
            under_way: BTreeMap::new(),
            started: None,
            computing: 0,
            computing_since: Time(0),
            computed: 0,
            latest: Time(0),
            graphs,
            rank,
            costs,
        }
    }

    fn graph(&self) -> &Graph {
        &self.graphs[self.rank as usize]
    }

    /// Operations that may begin now wait for their processor.
    fn free(&mut self, nodes: &[u32], act: &mut Actions) {
        for &node in nodes {
            let Node { what, cpu, label } = self.graph().nodes[node as usize];
            // How long it takes the processor; none if it does not wait for it.
            let occupied = match what {
                What::Compute(time) => Some(time),
                What::Delay(_) => None,
                // A receive of a message with a number of its own stands for one that is posted in advance.
                What::Receive { .. } if matches!(label, Label::Exact { .. }) => None,
                What::Send { .. } | What::Receive { .. } => Some(self.costs.overhead),
            };
            self.under_way.insert(node, act.now);
            let mut begin = act.now;
            if let Some(occupied) = occupied {
                let free_at = &mut self.free_at[cpu as usize];
                begin = begin.max(*free_at);
                free_at.0 = begin.0.saturating_add(occupied);
            }
            act.timer(begin, node << 1);
        }
    }

    /// An operation begins.
    fn begin(&mut self, node: u32, act: &mut Actions) {
        let Node { what, label, .. } = self.graph().nodes[node as usize];
        let (tag, instance) = label.parts();
        let is_exact = matches!(label, Label::Exact { .. });
        let ready = Time(act.now.0 + self.costs.overhead);
        match what {
            What::Send { to, bytes } => {
                let letter = Letter { to, bytes, tag: tag.unwrap_or(0), instance };
                self.mail.send(ready, letter, node, &self.costs, act);
            }
            What::Receive { from, .. } => {
                let from = (from != ANY).then_some(from);
                let ready = if is_exact { act.now } else { ready };
                self.mail.receive(ready, Wanted { from, tag, instance }, node, &self.costs, act);
            }
            What::Compute(time) => {
                // Waiting for the processor is no computing.
                self.under_way.insert(node, act.now);
                if self.computing == 0 {
                    self.computing_since = act.now;
                }
                self.computing += 1;
                act.timer(Time(act.now.0.saturating_add(time)), node << 1 | END);
            }
            What::Delay(time) => act.timer(Time(act.now.0.saturating_add(time)), node << 1 | END),
        }
        self.released(node, true, act);
    }

    /// Those that waited for the beginning, or for the end, of an operation.
    fn released(&mut self, node: u32, begins: bool, act: &mut Actions) {
        let graphs = self.graphs.clone();
        let (at_end, at_start) = graphs[self.rank as usize].dependants(node);
        let mut free = Vec::new();
        for &later in if begins { at_start } else { at_end } {
            let left = &mut self.left[later as usize];
            *left -= 1;
            if *left == 0 {
                free.push(later);
            }
        }
        self.free(&free, act);
    }

    fn finish(&mut self, node: u32, act: &mut Actions) {
        let kind = match self.graph().nodes[node as usize].what {
            What::Send { .. } => Some(Kind::Isend),
            What::Receive { .. } => Some(Kind::Irecv),
            What::Compute(_) => Some(Kind::Compute),
            What::Delay(_) => None,
        };
        let since = self.under_way.remove(&node).expect("an operation ends after it began");
        if let Some(kind) = kind {
            act.ledger.overlapping(kind, Time(act.now.0 - since.0));
            if kind == Kind::Compute {
                self.computing -= 1;
                if self.computing == 0 {
                    self.computed += act.now.0 - self.computing_since.0;
                }
            }
        }
        self.undone -= 1;
        self.latest = act.now;
        if self.undone == 0 {
            act.ledger.communicating += self.communicated(act.now);
        }
        self.released(node, false, act);
    }

    /// Time until now in which it did not compute.
    fn communicated(&self, now: Time) -> u64 {
        let since = |from: Time| now.0.saturating_sub(from.0);
        let computing = if self.computing > 0 { since(self.computing_since) } else { 0 };
        self.started.map_or(0, since).saturating_sub(self.computed + computing)
    }

    /// Ends the operations whose messages have arrived or left: now, or when they are due.
    fn collect(&mut self, act: &mut Actions) {
        let mut done = std::mem::take(&mut self.mail.done);
        for (node, at) in done.drain(..) {
            if at > act.now {
                act.timer(at, node << 1 | END);
            } else {
                self.finish(node, act);
            }
        }
        // What has ended may have let others begin, but those do so by timers.
        self.mail.done = done;
    }
}

impl Rank for Worker {
    fn on_start(&mut self, act: &mut Actions) {
        (self.started, self.latest) = (Some(act.now), act.now);
        let nodes = 0..self.left.len() as u32;
        let free: Vec<u32> = nodes.filter(|&node| self.left[node as usize] == 0).collect();
        self.free(&free, act);
    }

    fn on_injected(&mut self, to: u32, tag: u32, act: &mut Actions) {
        self.mail.on_injected(to, tag, &self.costs, act);
        self.collect(act);
    }

    fn on_delivered(&mut self, from: u32, tag: u32, act: &mut Actions) {
        self.mail.on_delivered(from, tag, &self.costs, act);
        self.collect(act);
    }

    fn on_timer(&mut self, key: u32, act: &mut Actions) {
        let node = key >> 1;
        if key & END == END {
            self.finish(node, act);
        } else {
            self.begin(node, act);
            self.collect(act);
        }
    }

    fn end(&self) -> Option<Time> {
        (self.undone == 0).then_some(self.latest)
    }

    fn uncounted(&self, now: Time) -> Time {
        Time(if self.undone > 0 { self.communicated(now) } else { 0 })
    }

    fn unmatched(&self) -> (usize, usize) {
        self.mail.left_over()
    }

    fn memory(&self) -> u64 {
        let own = self.left.capacity() * size_of::<u32>()
            + self.free_at.capacity() * size_of::<Time>()
            + self.under_way.len() * size_of::<(u32, Time)>();
        (size_of::<Self>() + own) as u64 + self.mail.memory()
    }

    fn waits_for(&self) -> String {
        let own = self.graph();
        let told = |node: &u32| {
            let Node { what, label, .. } = own.nodes[*node as usize];
            match what {
                What::Send { to, bytes } => {
                    format!("send of {bytes} B to rank {to}, {}", label.told(&self.graphs[to as usize].tags))
                }
                What::Receive { from, bytes } => {
                    let from = if from == ANY { "any rank".into() } else { format!("rank {from}") };
                    format!("receive of {bytes} B from {from}, {}", label.told(&own.tags))
                }
                What::Compute(time) => format!("calc of {time} ps"),
                What::Delay(time) => format!("delay of {time} ps"),
            }
        };
        let few = first_few(self.under_way.keys().map(told));
        format!("{} of its operations: {few}", self.undone)
    }
}
