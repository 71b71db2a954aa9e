//! What a mailbox holds, for a person and in bytes.
use super::meeting::{Meeting, Waiting};
use super::{Key, Letter, Mailbox, Request, TAG_MAX, Wanted, Wire, parts};
use crate::units::Time;

impl Mailbox {
    /// The sends and receives of some requests that are not complete, for a person: by sends and receives, the other rank, tag and
    /// order. What a receive will be given is known only to who sends it.
    pub fn incomplete(&self, of: impl Fn(Request) -> bool) -> Vec<String> {
        let mut found: Vec<(bool, u32, u16, u32, String)> = Vec::new();
        let mut sends = |to: u32, tag: u16, order: u32, bytes: u64| {
            found.push((false, to, tag, order, format!("send of {bytes} B to rank {to}, {}", told(tag))));
        };
        for (key, pair) in self.outbound.iter() {
            let sending = self.sending.iter(&pair.sending).filter(|sending| of(sending.request));
            sending
                .zip(0..)
                .for_each(|(sending, order)| sends(parts(key).0, sending.tag, order, sending.bytes));
        }
        let held = self.held.iter().flat_map(|(_, held)| held);
        for (_, letter, _) in held.filter(|(.., request)| of(*request)) {
            sends(letter.to, letter.tag, u32::MAX, letter.bytes);
        }
        let mut receives = |from: u32, tag: u16, order: u32| {
            found.push((true, from, tag, order, format!("receive from rank {from}, {}", told(tag))));
        };
        let posted = self.inbound.iter().filter(|(_, pair)| pair.receives).flat_map(|(key, pair)| {
            self.meeting.waiting.iter(&pair.waiting).map(move |posted| (key, posted))
        });
        let behind = self.behind.iter().map(|(key, posted)| (*key, posted));
        for (key, posted) in
            posted.chain(self.expected.iter()).chain(behind).filter(|(_, posted)| of(posted.what))
        {
            let (from, tag) = parts(key);
            receives(from, tag, posted.order);
        }
        found.sort_unstable();
        found.into_iter().map(|(.., told)| told).collect()
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let Meeting { waiting, open, .. } = &self.meeting;
        let tables = self.outbound.memory()
            + self.inbound.memory()
            + self.expected.memory()
            + self.early.memory()
            + self.held.memory();
        let held: usize = self.held.iter().map(|(_, held)| held.capacity()).sum();
        let others = self.crowded.capacity() * size_of::<(Key, Wire)>()
            + open.capacity() * size_of::<(Wanted, Waiting)>()
            + self.done.capacity() * size_of::<(Request, Time)>()
            + self.behind.capacity() * size_of::<(Key, Waiting)>()
            + held * size_of::<(Time, Letter, Request)>();
        (tables + self.sending.memory() + waiting.memory() + others) as u64
    }
}

/// A tag for a person: a collective operation has its round in it.
fn told(tag: u16) -> String {
    match tag.checked_sub(TAG_MAX + 1) {
        Some(round) => format!("round {round}"),
        None => format!("tag {tag}"),
    }
}
