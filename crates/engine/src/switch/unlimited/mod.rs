//! State of the switches without a crossbar: output-queued, and shared input buffers with infinite speedup.
//!
//! A packet whose output is idle, has credit and is asked for by no other goes on when its head arrives: one event per hop. Others
//! join the queue of their virtual channel at the output. With bounded output queues a packet leaves its input buffer then, and
//! waits there first if the queue is full; without, it stands in the queue while it stays in the input buffer.
mod entry;
mod output;

use super::arch::{Architecture, Routed, Waiting};
use super::bits::Set;
use super::deadlines::Deadlines;
use super::parameters::{Arbitration, Parameters};
use super::turns::{CLASSES_MAX, ChannelTurns, class_of, class_sets};
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::core::plan::{Plan, Share, VCS_MAX};
use crate::core::table::Table;
use crate::protocol::{Agent, Interest};

/// An output port: `V` words of virtual channels.
#[derive(Clone)]
struct Output<const V: usize> {
    /// Virtual channels with a queue, and those with packets that wait at the inputs for a place in it.
    queued: Set<V>,
    blocked: Set<V>,
    /// Flits that wait, without the packet under way.
    waiting: u32,
    /// Local switch.
    switch: u32,
    /// Virtual channel of the packet under way, and the next in round robin, per class.
    leaving: u8,
    turns: ChannelTurns,
    /// Whether it is to be looked at in this tick.
    listed: bool,
    /// Whether one packet for it arrived since outputs were settled, and whether others did.
    fresh: bool,
    crowded: bool,
}

/// Packets that wait at the inputs, in order of arrival.
#[derive(Clone, Copy)]
struct Blocked {
    head: u32,
    tail: u32,
}

/// All switches of a partition.
pub struct Unlimited<const V: usize> {
    outputs: Table<Output<V>>,
    /// By output and virtual channel.
    blocked: Table<Blocked>,
    /// First port of each switch.
    bases: Table<u32>,
    pending: Vec<u32>,
    /// Packets that arrived since outputs were settled, and those of them for one output with others.
    fresh: Vec<Routed>,
    crowd: Vec<Routed>,
    class_sets: [Set<V>; CLASSES_MAX],
    class_of: Box<[u8; VCS_MAX]>,
    /// Flits of an output queue; none if packets stay at the inputs.
    output_buffer: Option<u32>,
    arbitration: Arbitration,
    deadlines: Deadlines,
    departures: bool,
    vcs: u32,
    seed: u64,
}

impl<const V: usize> Unlimited<V> {
    fn list(&mut self, port: u32) {
        let output = &mut self.outputs[port];
        if !output.listed {
            output.listed = true;
            self.pending.push(port);
        }
    }
}

impl<const V: usize> Architecture for Unlimited<V> {
    fn new(plan: &Plan, share: &Share, switch: &Parameters) -> Self {
        let vcs = plan.vcs.count();
        let classes = plan.vcs.classes.len();
        assert!(classes <= CLASSES_MAX && vcs <= V * 64, "a switch state too small for its plan");
        let output = |switch| Output {
            queued: Set::default(),
            blocked: Set::default(),
            waiting: 0,
            switch,
            leaving: 0,
            turns: ChannelTurns::default(),
            listed: false,
            fresh: false,
            crowded: false,
        };
        let spans = share.ports.windows(2).enumerate();
        let outputs: Table<_> =
            spans.flat_map(|(switch, span)| (span[0]..span[1]).map(move |_| output(switch as u32))).collect();
        let lists = if plan.output_buffer.is_some() { outputs.len() * vcs } else { 0 };
        Self {
            outputs,
            blocked: vec![Blocked { head: NIL, tail: NIL }; lists].into(),
            bases: share.ports.clone().into(),
            pending: Vec::new(),
            fresh: Vec::new(),
            crowd: Vec::new(),
            class_sets: class_sets(&plan.vcs),
            class_of: class_of(&plan.vcs),
            output_buffer: plan.output_buffer,
            arbitration: switch.arbitration,
            deadlines: Deadlines::default(),
            departures: false,
            vcs: vcs as u32,
            seed: plan.seed,
        }
    }

    #[inline(always)]
    fn waiting(&self, port: u32) -> u32 {
        self.outputs[port].waiting
    }

    fn accept(&mut self, fabric: &mut Fabric, _: &mut dyn Agent, routed: Routed) {
        let output = &mut self.outputs[routed.port];
        output.waiting += fabric.pool.hot[routed.id].flits();
        output.crowded |= output.fresh;
        output.fresh = true;
        self.fresh.push(routed);
    }

    fn wake(&mut self, port: u32) {
        self.list(port);
    }

    fn deadlines(&mut self) -> &mut Deadlines {
        &mut self.deadlines
    }

    fn expire(&mut self, fabric: &mut Fabric, input: u32, id: u32) {
        let switch = self.outputs[input].switch;
        let (base, end) = (self.bases[switch], self.bases[switch + 1]);
        let hot = fabric.pool.hot[id];
        let (port, vc) = (base + hot.out as u32, hot.next_vc);
        // The packet went on, and its number may belong to another by now.
        if port >= end || hot.sibling != input || !self.deadlines.has_passed(fabric, id) {
            return;
        }
        let head = match self.output_buffer {
            None => fabric.head(port, vc),
            Some(_) => self.blocked[port * self.vcs + vc as u32].head,
        };
        if head != id {
            return;
        }
        if self.output_buffer.is_some() {
            self.unblock(fabric, port, vc);
        } else if fabric.dequeue(port, vc).2 {
            let next = fabric.head(port, vc);
            self.on_head_of(fabric, next);
        } else {
            self.outputs[port].queued.remove(vc as usize);
        }
        self.outputs[port].waiting -= hot.flits();
        if self.outputs[port].waiting == 0 {
            fabric.probe.emptied(port, fabric.now);
        }
        fabric.dropped.push((input, id));
        self.list(port);
    }

    fn settle(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        self.enter_fresh(fabric, agent);
        while let Some(port) = self.pending.pop() {
            self.outputs[port].listed = false;
            self.settle_output(fabric, port, agent);
        }
        self.deadlines.arm(fabric);
    }

    fn each_queued(&self, fabric: &Fabric, visit: &mut dyn FnMut(u32, u8, u32)) {
        for (port, output) in (0..).zip(self.outputs.iter()) {
            fabric.each_head(port, output.queued, visit);
        }
    }

    fn each_waiting(&self, fabric: &Fabric, visit: &mut dyn FnMut(Waiting)) {
        for (port, output) in (0..).zip(self.outputs.iter()) {
            let mut vcs = if self.output_buffer.is_some() { output.blocked } else { output.queued };
            while let Some(vc) = vcs.first() {
                vcs.remove(vc);
                let mut id = match self.output_buffer {
                    Some(_) => self.blocked[port * self.vcs + vc as u32].head,
                    None => fabric.head(port, vc as u8),
                };
                while id != NIL {
                    let hot = &fabric.pool.hot[id];
                    if hot.sibling != NIL {
                        let full = |buffer| fabric.queued(port, vc as u8) + hot.flits() > buffer;
                        let blocked = self.output_buffer.is_none_or(full);
                        visit(Waiting { id, input: hot.sibling, first: true, blocked });
                    }
                    id = hot.next;
                }
            }
        }
    }

    fn occupancy(&self, switch: u32) -> u64 {
        let ports = self.bases[switch] as usize..self.bases[switch + 1] as usize;
        self.outputs.as_slice()[ports].iter().map(|output| output.waiting as u64).sum()
    }

    fn prepare(&mut self, interest: &Interest) {
        self.deadlines = Deadlines::new(interest.time_to_wait);
        self.departures = interest.departures;
    }
}
