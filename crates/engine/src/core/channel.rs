//! Channels between switches and endpoints: their two sides, and what a packet's way over one takes.
use super::Tick;
use super::credits::Returns;
use super::plan::{LinkPlan, Plan};
use super::table::Table;
use crate::switch::parameters::Forwarding;

/// Where a channel ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Far {
    /// Input of a switch of this partition, by its local port.
    Input(u32),
    /// A line to another partition.
    Line(u32),
    /// An endpoint of this partition, by its local number.
    Endpoint(u32),
    /// Nowhere: the port is not connected.
    Nowhere,
}

/// The sending side of a channel: an output port of a switch (numbered as the port), or the injection channel of an
/// endpoint (numbered after all ports). One cache line.
#[repr(align(64))]
pub struct Channel {
    /// When it can start another packet.
    pub free_at: Tick,
    /// Earliest wake that is armed.
    pub wake_at: Tick,
    /// Credits on their way back, by time.
    pub(super) returns: Returns,
    /// Where it ends.
    pub far: Far,
    /// Flits of the packet under way until `free_at`.
    pub sending: u16,
    /// Its sender waits for a credit.
    pub starved: bool,
    /// Kind of channel: its row in `Fabric::timing` and in the probe's shares.
    pub(super) row: u8,
}

/// Times of a kind of channel: a link class towards a switch, injection, or ejection.
#[derive(Debug, Clone)]
pub(super) struct Timing {
    /// Time of a flit, if a packet's time is a multiple of it; else 0, and `table` tells.
    pub(super) flit: u32,
    /// From the start of a packet to the arrival of its head.
    pub(super) head: u32,
    /// From its end to the arrival of its tail.
    pub(super) tail: u32,
    /// A packet counts as there when its tail is, not when its head is.
    pub(super) whole: bool,
    /// Time of a packet by its flits.
    pub(super) table: Table<u32>,
}

impl Timing {
    pub(super) fn new(table: &[u32], head: u32, tail: u32) -> Self {
        let even = table.iter().enumerate().all(|(flits, &time)| time == flits as u32 * table[1]);
        Self { flit: if even { table[1] } else { 0 }, head, tail, whole: false, table: table.to_vec().into() }
    }

    #[inline]
    pub(super) fn time(&self, flits: u32) -> Tick {
        (if self.flit > 0 { self.flit * flits } else { self.table[flits] }) as Tick
    }
}

/// Every kind of channel: the link classes, then injection, then ejection.
pub(super) fn timings(plan: &Plan) -> Vec<Timing> {
    let class = |link: &LinkPlan| Timing {
        whole: link.forwarding == Forwarding::StoreAndForward,
        ..Timing::new(&link.time, link.head() as u32, link.latency + link.pipeline)
    };
    let host = &plan.links[0];
    let mut timings: Vec<Timing> = plan.links.iter().map(class).collect();
    timings.push(class(host));
    timings.push(Timing::new(&plan.drain_time, 0, host.latency));
    timings
}

/// The packets that wait for a virtual channel at the sending side of a channel.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    /// Their flits.
    pub(super) used: u32,
    pub(super) head: u32,
    pub(super) tail: u32,
}

/// The receiving side of a channel: an input of a switch.
#[derive(Clone, Copy)]
pub struct Inlet {
    /// Local switch.
    pub local: u32,
    /// Global switch.
    pub switch: u32,
    /// First local port of the switch.
    pub base: u32,
    /// Ticks from the release of a buffer to the return of its credit.
    pub(super) delay: u32,
    pub(super) upstream: Upstream,
}

/// Where the credits of an input go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Upstream {
    Channel(u32),
    Line(u32),
    Nowhere,
}
