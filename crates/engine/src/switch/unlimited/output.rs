//! Output queues and the channels behind them.
use super::Unlimited;
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::core::{NEVER, Tick};
use crate::protocol::Agent;
use crate::rng::mix;
use crate::switch::parameters::Arbitration;
use crate::switch::turns::{Queues, advance};

impl<const V: usize> Unlimited<V> {
    /// Settles an output: fills its queues, starts its channel, and arms its next wake.
    pub(super) fn settle_output(&mut self, fabric: &mut Fabric, port: u32, agent: &mut dyn Agent) {
        let now = fabric.now;
        if !self.outputs[port].blocked.is_empty() {
            self.advance(fabric, port);
        }
        if fabric.channels[port].free_at <= now && !self.outputs[port].queued.is_empty() {
            self.start_channel(fabric, port, agent);
        }
        let output = &self.outputs[port];
        let (queued, blocked) = (!output.queued.is_empty(), !output.blocked.is_empty());
        if !queued && !blocked {
            return;
        }
        let free_at = fabric.channels[port].free_at;
        let wake = if free_at > now { free_at } else { fabric.next_credit(port) };
        if free_at <= now && queued && fabric.probe.ports_recorded() {
            fabric.probe.stalled(port, now);
        }
        if wake != NEVER {
            fabric.wake(port, wake);
        }
    }

    /// Starts a packet on a free channel, if one has credit.
    fn start_channel(&mut self, fabric: &mut Fabric, port: u32, agent: &mut dyn Agent) {
        let output = &self.outputs[port];
        let (class_of, class_sets) = (&*self.class_of, &self.class_sets[..]);
        let queues = Queues { queued: output.queued, turns: &output.turns, class_of, class_sets };
        if let Some(vc) =
            queues.next(fabric, port, self.arbitration, |fabric, id| self.rank(fabric, port, id))
        {
            self.send(fabric, port, vc, agent);
        }
    }

    /// The order of the first packets of an output's queues.
    fn rank(&self, fabric: &Fabric, port: u32, id: u32) -> (Tick, u32) {
        let hot = &fabric.pool.hot[id];
        match self.arbitration {
            Arbitration::Age => (fabric.pool.notes[id].arrived, hot.sibling.wrapping_add(1)),
            Arbitration::RoundRobin => unreachable!("the first with credit is taken"),
            Arbitration::Random => {
                let switch = fabric.share.switches[self.outputs[port].switch as usize];
                let number = port - self.bases[self.outputs[port].switch];
                let key = (switch as u64) << 32 | (number as u64) << 16 | hot.next_vc as u64;
                (mix(mix(self.seed, key), fabric.now), 0)
            }
        }
    }

    /// Sends the first packet of a queue on the free channel of its port.
    fn send(&mut self, fabric: &mut Fabric, port: u32, vc: u8, agent: &mut dyn Agent) {
        let (id, _, more) = fabric.dequeue(port, vc);
        if !more {
            self.outputs[port].queued.remove(vc as usize);
        }
        self.launch(fabric, port, id, agent);
        if more && self.output_buffer.is_none() {
            let next = fabric.head(port, vc);
            self.on_head_of(fabric, next);
        }
    }

    /// Starts a packet on a free channel. Without output queues it leaves its input only now.
    #[inline]
    pub(super) fn launch(&mut self, fabric: &mut Fabric, port: u32, id: u32, agent: &mut dyn Agent) {
        let hot = fabric.pool.hot[id];
        if self.departures {
            fabric.depart((port, fabric.now), id, self.outputs[port].waiting, agent);
        }
        let output = &mut self.outputs[port];
        output.waiting -= hot.flits();
        output.leaving = hot.next_vc;
        advance(&mut output.turns, self.class_of[hot.next_vc as usize], hot.next_vc);
        if self.output_buffer.is_some() {
            return fabric.transmit(port, id);
        }
        fabric.leave_input(id);
        self.deadlines.leave(fabric, id);
        fabric.transmit(port, id);
        if hot.sibling != NIL {
            let end = fabric.channels[port].free_at;
            fabric.release(hot.sibling, hot.vc, hot.flits(), end);
        } else {
            fabric.leave_virtual_input(self.outputs[port].switch, hot.flits());
        }
    }
}
