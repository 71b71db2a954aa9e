//! Room that outputs owe.
//!
//! Of the packets that wait for one virtual channel of an output, small ones would take what room there is before it is enough for a
//! large one, and that would wait for as long as they come. Nor would one of the same size ever go if, whenever room comes free, the
//! round robin over the inputs stood at another: as it does where a packet for a virtual channel with room takes every other turn. So an
//! output owes room to a packet that it finds without: others for the same virtual channel leave that much free.
//!
//! Which packet that is hangs on which inputs are free when the one before has crossed. Where an input is busy whenever that happens, in step with
//! the others, its packets would find room owed to another each time they are looked at, for ever. So an output that owes room watches one packet
//! after the other, in turn over classes and inputs. Once more debts for its virtual channel have been settled than four times the ports of the
//! switch (by age, debts to younger ones), the one that is watched is owed room next, whether its input is busy or not. Under congestion
//! packets wait for a whole round or two without being left out: four are out of the ordinary.
use super::state::{Output, State};
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::routing::BUBBLE;
use std::cell::Cell;

/// Rounds of debts that may be settled past a packet that is watched.
const ROUNDS: u16 = 4;

impl<const W: usize, const V: usize> State<W, V> {
    /// The packet, in the cells of an output, to which room is owed in the queue of a virtual channel; `NIL` if none is.
    #[inline(always)]
    fn creditor(&self, port: u32, vc: u8) -> &Cell<u32> {
        &self.owed[port * self.vcs + vc as u32]
    }

    /// Flits that a packet leaves free because they are owed to another for the same virtual channel.
    #[inline(always)]
    pub(super) fn aside(&self, fabric: &Fabric, (output, port): (&Output<W, V>, u32), id: u32) -> u32 {
        if output.owing.get() == 0 { 0 } else { self.aside_of(fabric, port, id) }
    }

    #[inline(never)]
    fn aside_of(&self, fabric: &Fabric, port: u32, id: u32) -> u32 {
        let packets = &fabric.pool.hot;
        let creditor = self.creditor(port, packets[id].next_vc).get();
        if creditor == NIL || creditor == id { 0 } else { fabric.room_needed(&packets[creditor]) }
    }

    /// Whether room can be owed to a packet. It cannot to one that needs a bubble, which waits for what packets in the ring leave: they go
    /// ahead, since else none would move.
    #[inline(always)]
    pub(super) fn could_owe(&self, fabric: &Fabric, port: u32, id: u32) -> bool {
        let hot = &fabric.pool.hot[id];
        hot.state & BUBBLE == 0 && self.creditor(port, hot.next_vc).get() == NIL
    }

    /// Whether room is owed to a packet.
    #[inline(always)]
    pub(super) fn is_owed(&self, fabric: &Fabric, port: u32, id: u32) -> bool {
        self.outputs[port].owing.get() > 0 && self.creditor(port, fabric.pool.hot[id].next_vc).get() == id
    }

    /// Owes room to a packet, if none for its virtual channel has it owed yet.
    #[inline(never)]
    pub(super) fn owe(&self, fabric: &Fabric, port: u32, id: u32) {
        if self.could_owe(fabric, port, id) {
            self.creditor(port, fabric.pool.hot[id].next_vc).set(id);
            let owing = &self.outputs[port].owing;
            owing.set(owing.get() + 1);
        }
    }
}

impl<const W: usize, const V: usize> State<W, V> {
    /// Has outputs watch another packet each, when all that happens in a tick has: the first of the next cell in turn.
    #[inline(never)]
    pub(super) fn watch(&mut self, fabric: &Fabric) {
        while let Some(port) = self.unwatched.pop() {
            let output = &self.outputs[port];
            // It may be listed twice.
            let place = if output.watched == NIL { output.next_request(output.watch_from) } else { None };
            let Some((class, input)) = place else { continue };
            let (id, _) = self.first_of(fabric, port, class, input);
            let output = &mut self.outputs[port];
            (output.watched, output.missed, output.watch_from) = (id, 0, (class, input as u16 + 1));
        }
    }
}

impl<const W: usize, const V: usize> Output<W, V> {
    /// A packet leaves the cells of an output with this creditor for its virtual channel: it is owed nothing any more. Returns whether
    /// another packet is to be watched.
    #[inline(never)]
    pub(super) fn settle(&mut self, fabric: &Fabric, creditor: &Cell<u32>, id: u32, by_age: bool) -> bool {
        let (was_owed, was_watched) = (creditor.get() == id, self.watched == id);
        if was_watched {
            self.watched = NIL;
        }
        if was_owed {
            creditor.set(NIL);
            self.owing.set(self.owing.get() - 1);
            if self.watched != NIL && passes_by(fabric, id, self.watched, by_age) {
                self.pass_by(fabric, creditor);
            }
        }
        (was_owed || was_watched) && self.watched == NIL
    }

    /// A debt was settled that the packet that is watched might have been owed: after some rounds of them it is the creditor.
    fn pass_by(&mut self, fabric: &Fabric, creditor: &Cell<u32>) {
        self.missed = self.missed.saturating_add(1);
        if self.missed > ROUNDS * self.radix && fabric.pool.hot[self.watched].state & BUBBLE == 0 {
            creditor.set(self.watched);
            self.owing.set(self.owing.get() + 1);
        }
    }
}

/// Whether a packet that was owed room goes before its turn, seen from another: they wait for one virtual channel, and by age it is the younger.
fn passes_by(fabric: &Fabric, id: u32, other: u32, by_age: bool) -> bool {
    let (packets, notes) = (&fabric.pool.hot, &fabric.pool.notes);
    packets[id].next_vc == packets[other].next_vc && !(by_age && notes[id].arrived <= notes[other].arrived)
}
