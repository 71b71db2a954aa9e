//! Receives and messages that wait for each other.
use super::Wanted;
use crate::lists::{List, Lists};
use crate::units::Time;
use crate::workload::mpi::wire::{TAG_MAX, Wire};
use std::collections::VecDeque;

/// A receive that waits for its message, or a message (or the request to send one) that waits for its receive.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Waiting {
    /// When it was posted, or arrived.
    pub since: Time,
    /// Place among all receives and arrivals.
    pub order: u32,
    /// The request of a receive, or the tag of a message (see [`Wire`]).
    pub what: u32,
}

/// What comes from another rank, in the same order.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    /// Receives that wait for messages, or messages that wait for receives.
    pub waiting: List<Waiting>,
    /// Sequence number of the next message.
    pub next: u16,
    /// Whether receives wait.
    pub receives: bool,
}

/// Receives and messages that wait for each other.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    pub waiting: Lists<Waiting>,
    /// How many of these are messages.
    pub messages: usize,
    /// Receives of any sender or any tag.
    pub open: VecDeque<(Wanted, Waiting)>,
    /// Receives and messages so far.
    pub count: u32,
}

impl Meeting {
    /// The place of a receive or a message among all.
    pub fn number(&mut self) -> u32 {
        self.count += 1;
        self.count
    }

    /// A receive or a message waits.
    pub fn wait(&mut self, pair: &mut Inbound, what: Waiting, receives: bool) {
        pair.receives = receives;
        self.messages += usize::from(!receives);
        self.waiting.push(&mut pair.waiting, what);
    }

    /// The first message that waits for a receive.
    pub fn take_message(&mut self, pair: &mut Inbound) -> Option<Waiting> {
        if pair.receives {
            return None;
        }
        let found = self.waiting.pop(&mut pair.waiting);
        self.messages -= usize::from(found.is_some());
        found
    }

    /// The receive that was posted first of those a message suits.
    pub fn take_receive(&mut self, pair: &mut Inbound, from: u32, wire: Wire) -> Option<Waiting> {
        let exact = pair.waiting.first().filter(|_| pair.receives);
        if !self.open.is_empty() && wire.tag <= TAG_MAX {
            let suits = |(wanted, _): &(Wanted, Waiting)| {
                wanted.from.is_none_or(|rank| rank == from) && wanted.tag.is_none_or(|tag| tag == wire.tag)
            };
            if let Some(at) = self.open.iter().position(suits)
                && exact.is_none_or(|exact| self.open[at].1.order < exact.order)
            {
                return self.open.remove(at).map(|(_, posted)| posted);
            }
        }
        exact.is_some().then(|| self.waiting.pop(&mut pair.waiting)).flatten()
    }
}
