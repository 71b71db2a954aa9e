//! How packets come in: on at once, or to where they wait.
use super::Unlimited;
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::protocol::Agent;
use crate::rng::mix;
use crate::switch::arch::{Architecture, Routed};
use crate::switch::parameters::Arbitration;

impl<const V: usize> Unlimited<V> {
    /// Sends the packets that arrived, or puts them where they wait; those for one output in order of their inputs, or at random.
    pub(super) fn enter_fresh(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent) {
        let mut fresh = std::mem::take(&mut self.fresh);
        for arrived in fresh.drain(..) {
            let output = &mut self.outputs[arrived.port];
            output.fresh = false;
            if output.crowded {
                self.crowd.push(arrived);
            } else if !self.pass(fabric, arrived, agent) {
                self.enter(fabric, arrived);
            }
        }
        self.fresh = fresh;
        if !self.crowd.is_empty() {
            self.enter_crowd(fabric);
        }
    }

    /// Sends a packet that arrived alone for an output where nothing waits, if it can go at once: without a place in a queue.
    #[inline(always)]
    fn pass(
        &mut self,
        fabric: &mut Fabric,
        Routed { port, input, id }: Routed,
        agent: &mut dyn Agent,
    ) -> bool {
        let output = &self.outputs[port];
        let waits = !output.queued.is_empty() || !output.blocked.is_empty();
        if waits || fabric.channels[port].free_at > fabric.now || self.deadlines.exist() {
            return false;
        }
        let hot = &fabric.pool.hot[id];
        let goes = fabric.affords(port, hot.next_vc, hot.flits());
        if goes {
            fabric.pool.hot[id].sibling = input;
            if self.output_buffer.is_some() {
                self.give_up_input(fabric, port, id);
            }
            self.launch(fabric, port, id, agent);
        }
        goes
    }

    #[inline(never)]
    fn enter_crowd(&mut self, fabric: &mut Fabric) {
        let mut crowd = std::mem::take(&mut self.crowd);
        // Several of the virtual input, which comes first, stay in the order in which the switch made them.
        crowd.sort_by_key(|of| (of.port, self.chance(fabric, of), of.input.wrapping_add(1)));
        for arrived in crowd.drain(..) {
            self.outputs[arrived.port].crowded = false;
            self.enter(fabric, arrived);
        }
        self.crowd = crowd;
    }

    /// The chance of a packet among those that arrive at once, if the arbiter draws one.
    fn chance(&self, fabric: &Fabric, &Routed { port, input, .. }: &Routed) -> u32 {
        if self.arbitration != Arbitration::Random || input == NIL {
            return 0;
        }
        let local = self.outputs[port].switch;
        let switch = fabric.share.switches[local as usize] as u64;
        let key = switch << 16 | (input - self.bases[local]) as u64;
        (mix(mix(self.seed, key), fabric.now) >> 32) as u32
    }

    /// Puts a packet where it waits.
    #[inline]
    fn enter(&mut self, fabric: &mut Fabric, Routed { port, input, id }: Routed) {
        let hot = &mut fabric.pool.hot[id];
        // What came from the virtual input holds no buffer.
        hot.sibling = input;
        let vc = hot.next_vc;
        self.list(port);
        if self.output_buffer.is_some() {
            self.block(fabric, port, vc, id);
            return;
        }
        self.enqueue(fabric, port, vc, id);
        if fabric.head(port, vc) == id {
            self.on_head_of(fabric, id);
        }
    }

    fn enqueue(&mut self, fabric: &mut Fabric, port: u32, vc: u8, id: u32) {
        let flits = fabric.pool.hot[id].flits();
        fabric.enqueue(port, vc, id, flits);
        self.outputs[port].queued.insert(vc as usize);
    }

    /// A packet waits at its input for a place in an output queue.
    fn block(&mut self, fabric: &mut Fabric, port: u32, vc: u8, id: u32) {
        fabric.pool.hot[id].next = NIL;
        let list = &mut self.blocked[port * self.vcs + vc as u32];
        let last = std::mem::replace(&mut list.tail, id);
        if last == NIL {
            list.head = id;
            self.outputs[port].blocked.insert(vc as usize);
            self.on_head_of(fabric, id);
        } else {
            fabric.pool.hot[last].next = id;
        }
    }

    /// Takes the first packet of a list of packets that wait at the inputs.
    pub(super) fn unblock(&mut self, fabric: &mut Fabric, port: u32, vc: u8) -> u32 {
        let list = &mut self.blocked[port * self.vcs + vc as u32];
        let id = list.head;
        list.head = fabric.pool.hot[id].next;
        if list.head == NIL {
            list.tail = NIL;
            self.outputs[port].blocked.remove(vc as usize);
        } else {
            let next = list.head;
            self.on_head_of(fabric, next);
        }
        id
    }

    /// Moves packets that wait at the inputs into an output's queues as far as they fit.
    pub(super) fn advance(&mut self, fabric: &mut Fabric, port: u32) {
        let Some(buffer) = self.output_buffer else { return };
        let mut rest = self.outputs[port].blocked;
        while let Some(vc) = rest.first() {
            rest.remove(vc);
            loop {
                let list = &self.blocked[port * self.vcs + vc as u32];
                if list.head == NIL {
                    break;
                }
                let flits = fabric.pool.hot[list.head].flits();
                let channel = &fabric.channels[port];
                let busy = channel.free_at > fabric.now && self.outputs[port].leaving as usize == vc;
                let under_way = if busy { channel.sending as u32 } else { 0 };
                if fabric.queued(port, vc as u8) + under_way + flits > buffer {
                    break;
                }
                let id = self.unblock(fabric, port, vc as u8);
                self.give_up_input(fabric, port, id);
                self.enqueue(fabric, port, vc as u8, id);
            }
        }
    }

    /// A packet goes on into an output queue: its input buffer is released when its tail has come.
    fn give_up_input(&self, fabric: &mut Fabric, port: u32, id: u32) {
        let hot = &fabric.pool.hot[id];
        let (input, vc, flits, at) = (hot.sibling, hot.vc, hot.flits(), hot.tail.max(fabric.now));
        if input != NIL {
            fabric.release(input, vc, flits, at);
        } else {
            fabric.leave_virtual_input(self.outputs[port].switch, flits);
        }
        fabric.leave_input(id);
    }

    /// A packet came to the head of a queue, unless it came from the virtual input.
    #[inline]
    pub(super) fn on_head_of(&mut self, fabric: &mut Fabric, id: u32) {
        if self.deadlines.exist() && fabric.pool.hot[id].sibling != NIL {
            self.on_head(fabric, fabric.pool.hot[id].sibling, id);
        }
    }
}
