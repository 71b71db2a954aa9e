//! What waits for the crossbar, for the search for deadlock.
use super::state::{Seat, State};
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::switch::arch::Waiting;

impl<const W: usize, const V: usize> State<W, V> {
    /// Visits the packets that wait for the crossbar to an output.
    pub(super) fn each_at(&self, fabric: &Fabric, seat: &Seat, port: u32, visit: &mut dyn FnMut(Waiting)) {
        let output = &self.outputs[port];
        if output.lone != NIL && (output.lone_input as u32) < seat.radix {
            visit(self.held(fabric, port, seat.port + output.lone_input as u32, output.lone, true));
        }
        if output.classes == 0 {
            return;
        }
        for class in 0..fabric.plan.vcs.classes.len() as u8 {
            let mut inputs = output.requests[class as usize];
            inputs.remove(seat.radix as usize);
            while let Some(input) = inputs.first() {
                inputs.remove(input);
                let input = input as u32;
                let mut queue = self.cells[self.outputs[port].cell_of(class, input)];
                while queue != NIL {
                    self.each_of_queue(fabric, seat, port, (class, input), queue, visit);
                    queue = fabric.pool.hot[queue].sibling;
                }
            }
        }
    }

    /// Visits a queue of a cell: circular and known by its last if virtual, else known by its first.
    fn each_of_queue(
        &self,
        fabric: &Fabric,
        seat: &Seat,
        port: u32,
        (class, input): (u8, u32),
        queue: u32,
        visit: &mut dyn FnMut(Waiting),
    ) {
        let packets = &fabric.pool.hot;
        let (first, last) = if self.is_voq(seat.radix, class, input) {
            (packets[queue].next, queue)
        } else {
            (queue, self.fifos[(seat.input + input) * self.vcs + packets[queue].vc as u32])
        };
        let mut id = first;
        loop {
            visit(self.held(fabric, port, seat.port + input, id, id == first));
            if id == last {
                return;
            }
            id = packets[id].next;
        }
    }

    fn held(&self, fabric: &Fabric, port: u32, input: u32, id: u32, first: bool) -> Waiting {
        let hot = &fabric.pool.hot[id];
        // The packet under way leaves: what it takes up does not block for ever.
        let used = fabric.queued(port, hot.next_vc);
        // Without an output queue it waits for room in the buffer ahead.
        let needed = fabric.room_needed(hot) + self.aside(fabric, (&self.outputs[port], port), id);
        let blocked = !Self::QUEUES || used + needed > self.rules.output_buffer;
        Waiting { id, input, first, blocked }
    }
}
