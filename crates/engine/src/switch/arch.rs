//! The contract of a switch architecture: the only generic of the event loop, since only its state layout differs.
use super::deadlines::Deadlines;
use super::parameters::Parameters;
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::plan::{Plan, Share};
use crate::protocol::{Agent, Interest};

/// A packet that waits in an input buffer.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// Its number in the pool.
    pub id: u32,
    /// The port whose input buffer it is in (local).
    pub input: u32,
    /// Whether it may leave its buffer before the others: it is first in its queue.
    pub first: bool,
    /// Whether its output queue has no room for it.
    pub blocked: bool,
}

/// A packet that was routed (`hot.out`, `hot.next_vc`) and has yet to be taken in.
#[derive(Debug, Clone, Copy)]
pub struct Routed {
    /// The output that it is for: a local port.
    pub port: u32,
    /// The input that it came by: a local port, or `NIL` for the virtual input of the switch, from which that sends packets of its own.
    pub input: u32,
    /// Its number in the pool.
    pub id: u32,
}

/// All switches of a partition. Ports are local port numbers of the partition.
pub trait Architecture: Send {
    /// The switches of a partition, empty.
    fn new(plan: &Plan, share: &Share, switch: &Parameters) -> Self;

    /// Flits in the switch that wait for an output port.
    fn waiting(&self, port: u32) -> u32;

    /// A packet that arrived in this tick was routed to a port: all are told before the first is taken in.
    fn expect(&mut self, _port: u32, _now: Tick) {}

    /// Starts to bring an output into the cache.
    fn fetch(&self, _port: u32) {}

    /// Starts to bring into the cache where a packet that was routed may wait.
    fn fetch_place(&self, _fabric: &Fabric, _routed: Routed) {}

    /// Takes a routed packet in.
    fn accept(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent, routed: Routed);

    /// Notes that an output port may be able to do something in this tick.
    fn wake(&mut self, port: u32);

    /// The deadlines of packets at inputs.
    fn deadlines(&mut self) -> &mut Deadlines;

    /// Drops a packet if it still waits at the head of a queue of this input; it goes to `fabric.dropped`.
    fn expire(&mut self, fabric: &mut Fabric, input: u32, id: u32);

    /// A packet came to the head of a queue of an input: notes its deadline, or drops it if that has passed, and those behind it
    /// of which the same is true: one after the other, since the queue may be of any length.
    fn on_head(&mut self, fabric: &mut Fabric, input: u32, id: u32) {
        if self.deadlines().note(fabric, input, id) && self.deadlines().add_late(input, id) {
            while let Some((input, id)) = self.deadlines().next_late() {
                self.expire(fabric, input, id);
            }
        }
    }

    /// Arbitrates in all switches where something happened in this tick.
    fn settle(&mut self, fabric: &mut Fabric, agent: &mut dyn Agent);

    /// Flits held by a switch (local number).
    fn occupancy(&self, switch: u32) -> u64;

    /// Calls `visit` with the port (local), the virtual channel and the credit needed of the first packet of every output
    /// queue that is not empty; where there are none, of every packet that may be the next to be sent.
    fn each_queued(&self, fabric: &Fabric, visit: &mut dyn FnMut(u32, u8, u32));

    /// Calls `visit` with every packet that waits in an input buffer, those of the virtual inputs left out: those of a queue one after the
    /// other, from the first.
    fn each_waiting(&self, fabric: &Fabric, visit: &mut dyn FnMut(Waiting));

    /// Learns what the protocol wants to be asked about.
    fn prepare(&mut self, interest: &Interest);
}
