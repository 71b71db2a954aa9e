//! A flow: what goes from one endpoint to another under one number. Routings that hash keep it on one way.
use super::circuits::{chance, connection};
use super::packet::{Cold, FLOWS_MAX, Hot};
use crate::rng::{mix, scale};

/// A flow, as its packets name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// Source endpoint.
    pub src: u32,
    /// Destination endpoint.
    pub dst: u32,
    /// Which of those between the two.
    pub number: u16,
}

/// Bits of an endpoint in the word of a flow.
const ENDPOINT: u32 = 26;

/// Bits of a destination and the number of a flow for it, together.
pub const PLACE: u32 = 29;

/// Most flows between two endpoints of a network: as many as a packet can name, and as have places.
pub fn flows_max(endpoints: u32) -> u32 {
    FLOWS_MAX.min(((1 << PLACE) - 1) / endpoints.max(1))
}

impl Flow {
    /// The flow of a packet.
    #[inline]
    pub fn of(hot: &Hot, cold: &Cold) -> Self {
        Self { src: cold.src, dst: hot.dst, number: cold.flow() }
    }

    /// The flow in one word.
    pub fn word(&self) -> u64 {
        debug_assert!((self.src | self.dst) >> ENDPOINT == 0, "so many endpoints fit into no memory");
        u64::from(self.number) << (2 * ENDPOINT) | u64::from(self.src) << ENDPOINT | u64::from(self.dst)
    }

    /// A number in `0..n` that is the same for all its packets in a switch. That of flow 0 is what
    /// [`ByConnection`](super::circuits::ByConnection) draws first.
    pub fn below(&self, n: u32, seed: u64, switch: u32) -> u32 {
        let connection = connection(self.src, self.dst);
        let key = if self.number == 0 { connection } else { mix(connection, self.number.into()) };
        scale(mix(chance(seed, switch, key), 1), n)
    }
}
