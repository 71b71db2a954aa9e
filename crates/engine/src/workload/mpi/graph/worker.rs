//! A rank that works off its graph.
use super::super::Costs;
use super::super::mailbox::{Letter, Mailbox, Wanted};
use super::{ANY, Graph, Node, What};
use crate::units::Time;
use crate::workload::ledger::Activity;
use crate::workload::{Actions, Rank, first_few};
use std::collections::BTreeMap;
use std::sync::Arc;

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
        let cpus =
            graph.nodes.iter().filter_map(|node| node.cpu).max().map_or(0, |last| usize::from(last) + 1);
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
            let Node { what, cpu, .. } = self.graph().nodes[node as usize];
            let occupied = match what {
                What::Compute(time) | What::Delay(time) => act.computes(time),
                What::Send { .. } | What::Receive { .. } => self.costs.overhead,
            };
            self.under_way.insert(node, act.now);
            let mut begin = act.now;
            if let Some(cpu) = cpu {
                let free_at = &mut self.free_at[usize::from(cpu)];
                begin = begin.max(*free_at);
                free_at.0 = begin.0.saturating_add(occupied);
            }
            act.timer(begin, node << 1);
        }
    }

    /// An operation begins.
    fn begin(&mut self, node: u32, act: &mut Actions) {
        let Node { what, label, cpu } = self.graph().nodes[node as usize];
        let (tag, instance) = label.parts();
        let ready = act.now.after(if cpu.is_some() { self.costs.overhead } else { 0 });
        match what {
            What::Send { to, bytes } => {
                let letter = Letter { to, bytes, tag: tag.unwrap_or(0), instance };
                self.mail.send(ready, letter, node, &self.costs, act);
            }
            What::Receive { from, .. } => {
                let from = (from != ANY).then_some(from);
                self.mail.receive(ready, Wanted { from, tag, instance }, node, &self.costs, act);
            }
            What::Compute(time) | What::Delay(time) => {
                // Waiting for the processor is no computing.
                self.under_way.insert(node, act.now);
                if self.computing == 0 {
                    self.computing_since = act.now;
                }
                self.computing += 1;
                act.timer(Time(act.now.0.saturating_add(act.computes(time))), node << 1 | END);
            }
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
        let what = self.graph().nodes[node as usize].what;
        let kind = match what {
            What::Send { .. } => Activity::Isend,
            What::Receive { .. } => Activity::Irecv,
            What::Compute(_) | What::Delay(_) => Activity::Compute,
        };
        let since = self.under_way.remove(&node).expect("an operation ends after it began");
        // A time of 0 ties others together, as the beginning of a collective operation does: it is no operation itself.
        if what != What::Delay(0) {
            act.ledger.overlapping(kind, Time(act.now.0 - since.0));
        }
        if kind == Activity::Compute {
            self.computing -= 1;
            if self.computing == 0 {
                self.computed += act.now.0 - self.computing_since.0;
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

    fn uncounted(&self, now: Time) -> i64 {
        if self.undone > 0 { self.communicated(now) as i64 } else { 0 }
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
