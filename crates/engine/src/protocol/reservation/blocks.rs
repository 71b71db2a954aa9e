//! The reservations of a send queue, each in one state of its life.
use crate::core::Tick;
use crate::nic::queue::Again;
use std::collections::VecDeque;

/// What has become of a reservation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    /// Asked for; `rest` flits wait in the send queue, and go speculatively.
    Speculating { rest: u32 },
    /// Asked for, and a packet was refused: what is to be sent waits here for the grant.
    Stopped { waiting: Vec<Again> },
    /// Granted; `left` flits wait for the time in the send queue.
    Granted { start: Tick, left: u32 },
}

/// A speculative packet that was not answered, where second copies may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flight {
    pub(super) packet: Again,
    /// Copies under way.
    pub(super) copies: u32,
    pub(super) second: Second,
}

/// A second copy of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Second {
    No,
    Waits,
    Sent,
}

/// What a reservation covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// Place of its first packet.
    pub(super) first: u64,
    pub(super) phase: Phase,
    pub(super) flights: Vec<Flight>,
}

impl Block {
    /// Whether its time has come and nothing of it waits.
    pub(super) fn is_over(&self, now: Tick) -> bool {
        matches!(self.phase, Phase::Granted { start, left: 0 } if start <= now) && self.flights.is_empty()
    }
}

/// State of a send queue: its blocks in order.
#[derive(Debug, Default)]
pub struct Reservations {
    pub(super) blocks: VecDeque<Block>,
    /// Until when small messages reserve.
    pub(super) congested_until: Tick,
}

impl Reservations {
    pub(super) fn clean(&mut self, now: Tick) {
        while self.blocks.front().is_some_and(|block| block.is_over(now)) {
            self.blocks.pop_front();
        }
    }

    /// Small messages reserve until then, at least.
    pub(super) fn hold(&mut self, until: Tick) {
        self.congested_until = self.congested_until.max(until);
    }

    /// The block of a packet, unless it is over.
    pub(super) fn block(&mut self, key: u64) -> Option<&mut Block> {
        let behind = self.blocks.partition_point(|block| block.first <= key);
        self.blocks.get_mut(behind.checked_sub(1)?)
    }

    /// Whether it is as that of a new queue.
    pub fn is_idle(&self, now: Tick) -> bool {
        self.congested_until <= now && self.blocks.iter().all(|block| block.is_over(now))
    }
}
