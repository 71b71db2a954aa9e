//! Output queues and the channels behind them.
use super::crossbar::Open;
use super::state::State;
use crate::core::NEVER;
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::protocol::{Agent, Departure};

impl<const W: usize, const V: usize> State<W, V> {
    /// Starts the channel of an output if it can, and arms the output's wake if it has more to do.
    #[inline(always)]
    pub(super) fn finish(&mut self, fabric: &mut Fabric, open: &Open, agent: &mut dyn Agent) {
        let (port, now) = (open.port, fabric.now);
        let output = &self.outputs[port];
        let (mut queued, fresh) = (!output.queued.is_empty(), output.fresh != NIL);
        if !queued && !fresh && output.asking == 0 {
            return;
        }
        if queued && fabric.channels[port].free_at <= now {
            self.start_channel(fabric, port, agent);
            queued = !self.outputs[port].queued.is_empty();
        }
        if fresh {
            let seat = self.records[self.outputs[port].switch].seat;
            self.enter_fresh(fabric, &seat, port);
        }
        let (mut wake, channel_free) = (NEVER, fabric.channels[port].free_at);
        if channel_free > now {
            if queued || open.full {
                wake = channel_free;
            }
        } else if queued || open.full && self.output_buffer.is_none() {
            wake = fabric.next_credit(port);
            if fabric.probe.ports_recorded() {
                fabric.probe.stalled(port, now);
            }
        }
        let output = &self.outputs[port];
        if output.asking > 0 {
            let crossbar_free = output.crossbar_free;
            wake = wake.min(if crossbar_free > now { crossbar_free } else { open.input_free });
        }
        if wake != NEVER {
            fabric.wake(port, wake);
        }
    }

    /// Starts a packet on a free channel: the best class that has credit, round robin among its virtual channels.
    fn start_channel(&mut self, fabric: &mut Fabric, port: u32, agent: &mut dyn Agent) {
        fabric.take_credits(port);
        let output = &self.outputs[port];
        let (mut rest, turn) = (output.queued, output.turn as usize);
        // Virtual channels are numbered by class, the highest priority first.
        while let Some(lowest) = rest.first() {
            let class = &self.class_sets[self.class_of[lowest] as usize];
            let candidates = rest.and(class);
            rest = rest.without(class);
            let first = candidates.next_from(turn).unwrap_or(lowest);
            let mut vc = first;
            loop {
                if let Some((id, more)) = fabric.dequeue(port, vc as u8) {
                    if !more {
                        self.outputs[port].queued.remove(vc);
                    }
                    self.send(fabric, port, id, vc as u8, agent);
                    return;
                }
                vc = candidates.next_from(vc + 1).unwrap_or(first);
                if vc == first {
                    break;
                }
            }
        }
    }

    /// Sends a packet on the free channel of a port.
    #[inline]
    pub(super) fn send(&mut self, fabric: &mut Fabric, port: u32, id: u32, vc: u8, agent: &mut dyn Agent) {
        let flits = fabric.pool.hot[id].flits();
        if self.departures {
            self.depart(fabric, port, id, vc, agent);
        }
        let output = &mut self.outputs[port];
        output.waiting -= flits;
        output.leaving = vc;
        output.turn = vc + 1;
        fabric.transmit(port, id);
    }

    /// Shows the protocol a packet that leaves.
    #[inline(never)]
    fn depart(&mut self, fabric: &mut Fabric, port: u32, id: u32, vc: u8, agent: &mut dyn Agent) {
        let hot = &fabric.pool.hot[id];
        let spare = fabric.credit(port, vc) - hot.flits();
        let departure = Departure {
            waiting: self.outputs[port].waiting,
            has_credit: spare >= fabric.plan.packet_flits as u32,
            kind: hot.kind(),
        };
        agent.on_dequeue(&departure, &mut fabric.pool.cold[id]);
    }
}
