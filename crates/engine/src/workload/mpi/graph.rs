//! Ranks whose operations depend on each other, as traces have them: each is done as soon as those it waits for allow.
use super::wire::{SEQUENCES, TAG_MAX};

mod tags;
mod worker;

pub use tags::Tags;
pub use worker::Worker;

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
        let tag = TAG_MAX + 1 + (number >> 14) as u16;
        Label::Exact { tag, sequence: number as u16 % SEQUENCES }
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
                let number = u32::from(tag - TAG_MAX - 1) << 14 | u32::from(sequence);
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
    /// The processor that it takes; none if it takes none, as a time that passes, or a receive that was posted in advance.
    pub cpu: Option<u8>,
}

impl Node {
    /// A moment at which nothing happens.
    pub fn delay(ps: u64) -> Self {
        Self { what: What::Delay(ps), label: Label::AnyTag, cpu: None }
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

    /// An operation that waits, through others, for itself.
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
        if done == left.len() {
            return None;
        }
        let all = 0..left.len() as u32;
        let edges = all.flat_map(|node| {
            self.at_end.of(node).iter().chain(self.at_start.of(node)).map(move |&later| (node, later))
        });
        on_a_circle(&left, edges)
    }
}

/// Of nodes of which some are never free, which wait for so many others still, the first that waits, through others, for itself and not only
/// for those that do; `edges` tell who is waited for by whom.
pub fn on_a_circle(left: &[u32], edges: impl Iterator<Item = (u32, u32)>) -> Option<u32> {
    let waits = |node: u32| left[node as usize] > 0;
    let mut before = vec![None; left.len()];
    for (earlier, later) in edges.filter(|&(earlier, later)| waits(earlier) && waits(later)) {
        before[later as usize] = Some(earlier);
    }
    // Whoever goes back from one that waits comes to a circle, and then round it.
    let mut seen = vec![false; left.len()];
    let mut at = left.iter().position(|&left| left > 0)? as u32;
    while !std::mem::replace(&mut seen[at as usize], true) {
        at = before[at as usize]?;
    }
    let round =
        std::iter::successors(before[at as usize], |&node| before[node as usize].filter(|_| node != at));
    round.min()
}
