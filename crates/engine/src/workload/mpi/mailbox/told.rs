//! What a mailbox holds, for a person and in bytes.
use super::{Letter, Mailbox, Meeting, Posted, Request, TAG_MAX, Wanted, parts};
use crate::keyed::memory;
use crate::units::Time;
use std::collections::VecDeque;

impl Mailbox {
    /// The sends and receives of some requests that are not complete, for a person: by sends and receives, the other rank, tag and
    /// order. What a receive will be given is known only to who sends it.
    pub fn incomplete(&self, of: impl Fn(Request) -> bool) -> Vec<String> {
        let mut found: Vec<(bool, u32, u16, u64, String)> = Vec::new();
        let mut sends = |to: u32, tag: u16, order: u64, bytes: u64| {
            found.push((false, to, tag, order, format!("send of {bytes} B to rank {to}, {}", told(tag))));
        };
        for (&slot, pair) in &self.pairs {
            let (to, tag) = parts(slot);
            let sending = self.sending.iter(pair.sending).filter(|sending| of(sending.request));
            sending.zip(0..).for_each(|(sending, order)| sends(to, tag, order, sending.bytes));
        }
        for (letter, _) in self.held.values().flatten().filter(|(_, request)| of(*request)) {
            sends(letter.to, letter.tag, u64::MAX, letter.bytes);
        }
        let mut receives = |from: u32, tag: u16, order: u64| {
            found.push((true, from, tag, order, format!("receive from rank {from}, {}", told(tag))));
        };
        for (&slot, pair) in &self.pairs {
            let (from, tag) = parts(slot);
            let posted = self.meeting.posted.iter(pair.posted).filter(|posted| of(posted.request));
            posted.for_each(|posted| receives(from, tag, posted.order));
        }
        for (&slot, posted) in self.expected.iter().filter(|(_, posted)| of(posted.request)) {
            let (from, tag) = parts(slot);
            receives(from, tag, posted.order);
        }
        found.sort_unstable();
        found.into_iter().map(|(.., told)| told).collect()
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let Meeting { posted, open, unexpected, .. } = &self.meeting;
        let tables = memory(&self.pairs) + memory(&self.expected) + memory(&self.early) + memory(&self.held);
        let held: usize = self.held.values().map(VecDeque::capacity).sum();
        let lists = self.sending.memory() + posted.memory() + unexpected.memory();
        let others = open.capacity() * size_of::<(Wanted, Posted)>()
            + self.done.capacity() * size_of::<(Request, Time)>()
            + held * size_of::<(Letter, Request)>();
        (tables + lists + others) as u64
    }
}

/// A tag for a person: a collective operation has its round in it.
fn told(tag: u16) -> String {
    match tag.checked_sub(TAG_MAX + 1) {
        Some(round) => format!("round {round}"),
        None => format!("tag {tag}"),
    }
}
