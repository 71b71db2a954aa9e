//! Quantities as users write them, and the newtypes the engine computes with.
//!
//! To be completed: parsing from text ("5 ns"), display, serde, JSON Schema with a `format` per quantity.
use serde::{Deserialize, Serialize};

/// A point in simulated time, or a span of it, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Time(pub u64);

/// A span of time as written: absolute, or in cycles (flit times of the host link).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Duration {
    /// Picoseconds.
    Ps(u64),
    /// Flit times of the host link.
    Cycles(u64),
}

/// A bandwidth in bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate(pub u64);

/// An amount of data as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Bits.
    Bits(u64),
    /// Flits.
    Flits(u64),
    /// Packets of the largest size.
    Packets(u64),
}

/// What sizes and cycles are measured by.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Bits in a flit.
    pub flit_bits: u64,
    /// Flits in the largest packet.
    pub packet_flits: u64,
    /// The host link's bandwidth.
    pub host: Rate,
}

impl Rate {
    /// Picoseconds that `bits` take, exact, rounded up once.
    pub fn transmit_time(self, bits: u64) -> Time {
        Time((bits as u128 * 1_000_000_000_000).div_ceil(self.0 as u128) as u64)
    }
}

impl Size {
    /// The size in flits, rounded up to whole flits.
    pub fn flits(self, scale: &Scale) -> u64 {
        match self {
            Size::Bits(bits) => bits.div_ceil(scale.flit_bits),
            Size::Flits(flits) => flits,
            Size::Packets(packets) => packets * scale.packet_flits,
        }
    }
}

impl Duration {
    /// The span in picoseconds.
    pub fn time(self, scale: &Scale) -> Time {
        match self {
            Duration::Ps(ps) => Time(ps),
            Duration::Cycles(n) => scale.host.transmit_time(n * scale.flit_bits),
        }
    }
}
