//! Room that outputs owe.
//!
//! Of the packets that wait for one virtual channel of an output, small ones would take what room there is before it is enough for a
//! large one, and that would wait for as long as they come. Nor would one of the same size ever go if, whenever room comes free, the
//! round robin over the inputs stood at another: as it does where a packet for a virtual channel with room takes every other turn. So an
//! output owes room to a packet that it finds without: others for the same virtual channel leave that much free.
use super::state::{Output, State};
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::routing::BUBBLE;
use std::cell::Cell;

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

impl<const W: usize, const V: usize> Output<W, V> {
    /// A packet leaves the cells of an output with this creditor for its virtual channel: it is owed nothing any more.
    #[inline(never)]
    pub(super) fn settle(&self, creditor: &Cell<u32>, id: u32) {
        if creditor.get() == id {
            creditor.set(NIL);
            self.owing.set(self.owing.get() - 1);
        }
    }
}
