//! Links to other partitions: packets and credits travel by value, and change hands between two windows.
use super::Tick;
use super::credits::Credit;
use super::packet::{Cold, Hot, Notes, Pool, Tag};

/// A link to a port of another partition: both directions, and the credits of both.
pub struct Line {
    /// Local port.
    pub port: u32,
    /// The other partition, and the line's number there.
    pub peer: (u32, u32),
    /// Packets sent in this window.
    pub out: Convoy,
    /// Packets under way to this end.
    pub incoming: Convoy,
    /// Credits sent in this window.
    pub out_credits: Vec<Credit>,
    /// Credits that came with the last exchange.
    pub in_credits: Vec<Credit>,
    /// Whether the arrival of the first packet is in the wheel.
    pub armed: bool,
}

impl Line {
    /// A line without packets.
    pub fn new(port: u32, peer: (u32, u32)) -> Self {
        Self {
            port,
            peer,
            out: Convoy::default(),
            incoming: Convoy::default(),
            out_credits: Vec::new(),
            in_credits: Vec::new(),
            armed: false,
        }
    }

    /// Hands what was sent in this window to the other end.
    pub fn exchange(&mut self, far: &mut Line) {
        self.out.hand_to(&mut far.incoming);
        far.out.hand_to(&mut self.incoming);
        std::mem::swap(&mut self.out_credits, &mut far.in_credits);
        std::mem::swap(&mut far.out_credits, &mut self.in_credits);
    }

    /// Sends a credit to the other end.
    #[inline(never)]
    pub(super) fn return_credit(&mut self, credit: Credit) {
        self.out_credits.push(credit);
    }

    /// Packets in both directions.
    pub fn held(&self) -> usize {
        self.out.len() + self.incoming.len()
    }

    /// Bytes held by packets.
    pub fn memory(&self) -> usize {
        self.out.memory() + self.incoming.memory()
    }
}

/// Packets on a line in one direction, in order of arrival.
#[derive(Default)]
pub struct Convoy {
    /// Those before `taken` have arrived.
    packets: Vec<(Hot, Cold)>,
    /// Their notes; empty if the run keeps none.
    notes: Vec<Notes>,
    /// Their tags; empty if the run has no jobs.
    tags: Vec<Tag>,
    taken: usize,
}

impl Convoy {
    /// Moves a packet out of the pool; its head arrives at `head`.
    #[inline]
    pub fn push(&mut self, pool: &mut Pool, id: u32, head: Tick) {
        let mut hot = pool.hot[id];
        hot.next = (hot.tail - head) as u32;
        self.packets.push((hot, pool.cold[id]));
        if pool.noting {
            self.notes.push(pool.notes[id]);
        }
        if pool.tagging {
            self.tags.push(pool.tags[id]);
        }
        pool.remove(id);
    }

    /// When the head of the first packet arrives.
    #[inline]
    pub fn first(&self) -> Option<Tick> {
        self.packets.get(self.taken).map(|(hot, _)| hot.head())
    }

    /// Moves the first packet into the pool.
    #[inline(always)]
    pub fn take_first(&mut self, pool: &mut Pool) -> u32 {
        let (hot, cold) = self.packets[self.taken];
        let id = pool.admit(hot, cold);
        if pool.noting {
            pool.note(id, self.notes[self.taken]);
        }
        if pool.tagging {
            pool.tag(id, self.tags[self.taken]);
        }
        self.taken += 1;
        if self.taken == self.packets.len() {
            self.packets.clear();
            self.notes.clear();
            self.tags.clear();
            self.taken = 0;
        }
        id
    }

    fn len(&self) -> usize {
        self.packets.len() - self.taken
    }

    fn hand_to(&mut self, to: &mut Convoy) {
        if self.packets.is_empty() {
            return;
        }
        if to.packets.is_empty() {
            std::mem::swap(self, to);
            return;
        }
        to.packets.drain(..to.taken);
        to.notes.drain(..to.taken.min(to.notes.len()));
        to.tags.drain(..to.taken.min(to.tags.len()));
        to.taken = 0;
        to.packets.append(&mut self.packets);
        to.notes.append(&mut self.notes);
        to.tags.append(&mut self.tags);
    }

    fn memory(&self) -> usize {
        self.packets.capacity() * size_of::<(Hot, Cold)>()
            + self.notes.capacity() * size_of::<Notes>()
            + self.tags.capacity() * size_of::<Tag>()
    }
}
