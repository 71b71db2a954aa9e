//! GOAL in binary form: all numbers little-endian and unaligned.
//!
//! Header: magic 4223 (8 bytes), ranks (4), highest cpu (1), highest nic (1). Then for each rank the first and the last byte of its
//! part (8 each), counted from byte 8 of the file. A part: number of operations (4), number of those that wait for nothing (4),
//! their numbers (4 each), a record of 39 bytes for each operation, and an appendix of numbers of operations. A record: how many
//! operations it waits for (4), 1 send, 2 receive or 3 calc (1), the other rank (4), bytes or time (8), tag (4), cpu (1), nic (1); how
//! many wait for its end (4) and where their numbers begin in the appendix (4); the same of those that wait for its beginning.
use super::{By, Mistake, Trace};
use crate::workload::mpi::graph::{ANY, Builder, Graph, Label, Node, Tags, What};
use std::ops::Range;
use std::sync::Arc;

const MAGIC: u64 = 4223;
/// The magic of a file that a simulator has overwritten to save memory.
const DESTROYED: u64 = 2342;
/// Offsets of the parts count from here.
const ORIGIN: u64 = 8;
const RECORD: usize = 39;

/// Reads numbers one after the other.
struct Cursor<'a> {
    data: &'a [u8],
    at: usize,
    /// Offset of `data` in the file.
    origin: u64,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Mistake> {
        let bytes = self.data.get(self.at..).and_then(|rest| rest.get(..length));
        let bytes = bytes.ok_or_else(|| self.mistake("the file is cut off here", "a whole file"))?;
        self.at += length;
        Ok(bytes)
    }

    fn u8(&mut self) -> Result<u8, Mistake> {
        Ok(self.take(1)?[0])
    }

    fn u32(&mut self) -> Result<u32, Mistake> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(bytes.try_into().expect("4 bytes")))
    }

    fn u64(&mut self) -> Result<u64, Mistake> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("8 bytes")))
    }

    fn mistake(&self, message: impl Into<String>, help: impl Into<String>) -> Mistake {
        Mistake::new(format!("byte {}", self.origin + self.at as u64), message, help)
    }
}

pub fn read(data: &[u8], by: By) -> Result<Trace, Mistake> {
    let mut header = Cursor { data, at: 0, origin: 0 };
    match header.u64()? {
        MAGIC => {}
        DESTROYED => {
            header.at = 0;
            let help = "the file as it was before it was run with --save-mem";
            return Err(header.mistake("a simulator has overwritten this file", help));
        }
        other => {
            header.at = 0;
            return Err(header.mistake(format!("the magic number is {other}"), "4223: a binary GOAL file"));
        }
    }
    let ranks = header.u32()?;
    header.take(2)?;
    if ranks == 0 {
        return Err(header.mistake("a trace of no ranks", "a number of ranks from 1 on"));
    }
    let mut tags = Tags::default();
    let (mut graphs, mut parts, mut room) = (Vec::new(), Vec::new(), data.len());
    let mut has_adapters = false;
    for rank in 0..ranks {
        let (first, last) = (header.u64()?, header.u64()?);
        let range = first.checked_add(ORIGIN).zip(last.checked_add(ORIGIN));
        let range = range.and_then(|(first, last)| {
            let range = usize::try_from(first).ok()?..usize::try_from(last).ok()?;
            data.get(range.clone()).zip(Some(range))
        });
        let Some((part, range)) = range else {
            let message = format!("rank {rank} is said to stand from {first} to {last}");
            return Err(header.mistake(message, "a range within the file"));
        };
        // Each has a place of its own, or a small file could hold any number of operations.
        room = room.checked_sub(part.len()).ok_or_else(|| {
            header.mistake(format!("rank {rank} stands where others do"), "ranges that do not overlap")
        })?;
        let cursor = Cursor { data: part, at: 0, origin: first + ORIGIN };
        let mut part = Part { cursor, ranks, by, has_adapters: false };
        graphs.push(part.read(rank, &mut tags)?);
        has_adapters |= part.has_adapters;
        parts.push(range);
    }
    nothing_between(header, parts)?;
    tags.name(&mut graphs);
    Ok(Trace { graphs: Arc::new(graphs), has_adapters })
}

/// Refuses bytes that are of no rank's part, behind the header or between the parts.
fn nothing_between(mut cursor: Cursor, mut parts: Vec<Range<usize>>) -> Result<(), Mistake> {
    parts.sort_by_key(|part| part.start);
    let end = cursor.data.len();
    for part in parts.into_iter().chain(std::iter::once(end..end)) {
        if part.start > cursor.at {
            let message = format!("{} bytes belong to no rank", part.start - cursor.at);
            return Err(cursor.mistake(message, "parts of ranks, one behind the other"));
        }
        cursor.at = part.end;
    }
    Ok(())
}

/// The part of a rank.
struct Part<'a> {
    cursor: Cursor<'a>,
    ranks: u32,
    by: By<'a>,
    /// Whether an operation names a network adapter other than 0.
    has_adapters: bool,
}

/// An operation with what its record says of others: how many it waits for; how many wait for its end and for its beginning, and
/// where those stand in the appendix.
struct Record {
    node: Node,
    waits_for: u32,
    at_end: (u32, u32),
    at_start: (u32, u32),
}

impl Part<'_> {
    fn read(&mut self, rank: u32, tags: &mut Tags) -> Result<Graph, Mistake> {
        let (count, roots) = (self.cursor.u32()?, self.cursor.u32()?);
        // Nothing is allocated that the file does not have room for.
        let needed = (count as usize).saturating_mul(RECORD).saturating_add(roots as usize * 4);
        if needed > self.cursor.data.len() {
            let message = format!("rank {rank} is said to have {count} operations, {roots} of them free");
            return Err(self.cursor.mistake(message, "as many as the file has room for"));
        }
        for _ in 0..roots {
            let root = self.cursor.u32()?;
            if root >= count {
                return Err(self
                    .cursor
                    .mistake(format!("there is no operation {root}"), format!("less than {count}")));
            }
        }
        let records: Vec<Record> = (0..count).map(|_| self.record(rank, tags)).collect::<Result<_, _>>()?;
        let appendix = self.cursor.at;
        // Every number of the appendix stands in one list.
        let listed = records
            .iter()
            .map(|record| u64::from(record.at_end.0) + u64::from(record.at_start.0))
            .sum::<u64>();
        let room = (self.cursor.data.len() - appendix) as u64 / 4;
        if listed > room {
            let message = format!("the operations of rank {rank} list {listed} others, but {room} are there");
            return Err(self.cursor.mistake(message, "a list of its own for each operation"));
        }
        let end = appendix + listed as usize * 4;
        if end < self.cursor.data.len() {
            self.cursor.at = end;
            let message = format!("{} bytes stand behind what rank {rank} has", self.cursor.data.len() - end);
            return Err(self.cursor.mistake(message, "nothing behind the last list of its operations"));
        }
        let mut builder = Builder::default();
        records.iter().for_each(|record| {
            builder.add(record.node);
        });
        let mut found = vec![0u32; records.len()];
        for (number, record) in (0..).zip(&records) {
            for &later in &self.listed(appendix, record.at_end, count)? {
                found[later as usize] = found[later as usize].saturating_add(1);
                builder.after(later, number);
            }
            for &later in &self.listed(appendix, record.at_start, count)? {
                found[later as usize] = found[later as usize].saturating_add(1);
                builder.after_start(later, number);
            }
        }
        if let Some(wrong) = (0..records.len()).find(|&at| records[at].waits_for != found[at]) {
            let (said, found) = (records[wrong].waits_for, found[wrong]);
            let message = format!(
                "operation {wrong} of rank {rank} is said to wait for {said} others, but {found} name it"
            );
            return Err(self.cursor.mistake(message, "the same number"));
        }
        builder.build().map_err(|node| {
            let message = format!("operation {node} of rank {rank} waits, through others, for itself");
            self.cursor.mistake(message, "dependencies without a circle")
        })
    }

    fn record(&mut self, rank: u32, tags: &mut Tags) -> Result<Record, Mistake> {
        let begin = self.cursor.at;
        let waits_for = self.cursor.u32()?;
        let kind = self.cursor.u8()?;
        let (peer, amount, tag) = (self.cursor.u32()?, self.cursor.u64()?, self.cursor.u32()?);
        let (cpu, adapter) = (self.cursor.u8()?, self.cursor.u8()?);
        // What computes needs none, whatever stands there.
        self.has_adapters |= adapter > 0 && kind != 3;
        let at_end = (self.cursor.u32()?, self.cursor.u32()?);
        let at_start = (self.cursor.u32()?, self.cursor.u32()?);
        let end = std::mem::replace(&mut self.cursor.at, begin);
        let what = match kind {
            1 => {
                if let Some((why, help)) = self.by.too_long(amount) {
                    return Err(self.cursor.mistake(why, help));
                }
                What::Send { to: self.peer(peer, false)?, bytes: amount }
            }
            2 => What::Receive { from: self.peer(peer, true)?, bytes: amount },
            3 => What::Compute(amount.saturating_mul(self.by.unit_ps.into())),
            other => {
                let message = format!("an operation of the type {other}");
                return Err(self.cursor.mistake(message, "1 (send), 2 (receive) or 3 (calc)"));
            }
        };
        let label = match (kind, tag) {
            (3, _) | (2, ANY) => Label::AnyTag,
            (_, tag) => {
                let most = usize::from(crate::workload::mpi::TAG_MAX) + 1;
                let too_many = || self.cursor.mistake(Tags::TOO_MANY, format!("at most {most}"));
                let receiver = if let What::Send { to, .. } = what { to } else { rank };
                tags.number(receiver, tag).ok_or_else(too_many)?
            }
        };
        self.cursor.at = end;
        Ok(Record { node: Node { what, label, cpu: Some(cpu) }, waits_for, at_end, at_start })
    }

    fn peer(&self, peer: u32, may_be_any: bool) -> Result<u32, Mistake> {
        if peer < self.ranks || peer == ANY && may_be_any {
            return Ok(peer);
        }
        Err(self.cursor.mistake(format!("there is no rank {peer}"), format!("0 to {}", self.ranks - 1)))
    }

    /// Some numbers of operations of the appendix.
    fn listed(
        &mut self,
        appendix: usize,
        (count, first): (u32, u32),
        operations: u32,
    ) -> Result<Vec<u32>, Mistake> {
        if count == 0 {
            // Where none stand makes no difference.
            return Ok(Vec::new());
        }
        self.cursor.at = appendix.saturating_add(first as usize * 4);
        if self.cursor.data.len().saturating_sub(self.cursor.at) / 4 < count as usize {
            let message = format!("{count} operations are said to be listed from {first} on");
            return Err(self.cursor.mistake(message, "as many as the file has room for"));
        }
        let mut listed = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let number = self.cursor.u32()?;
            if number >= operations {
                return Err(self
                    .cursor
                    .mistake(format!("there is no operation {number}"), format!("less than {operations}")));
            }
            listed.push(number);
        }
        Ok(listed)
    }
}
