//! Deadlines of the packets that stand at the head of a queue at an input: their time-to-wait, over all switches.
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::core::wheel::Kind;

/// The `sibling` of a packet that has left its input, where packets have deadlines.
const GONE: u32 = NIL - 1;

/// The deadlines of a partition's switches.
#[derive(Default)]
pub struct Deadlines {
    /// The time-to-wait, if there is one.
    limit: Option<Tick>,
    /// Packets that came to the head of a queue since outputs were looked at last, as timers with their deadlines.
    heads: Vec<(Tick, u64)>,
}

impl Deadlines {
    /// Deadlines of a time-to-wait.
    pub fn new(limit: Option<Tick>) -> Self {
        Self { limit, heads: Vec::new() }
    }

    /// Whether any packet has one.
    #[inline(always)]
    pub fn exist(&self) -> bool {
        self.limit.is_some()
    }

    /// A packet came to the head of a queue at an input (a local port): notes its deadline. Returns whether that has passed.
    #[inline(never)]
    pub fn note(&mut self, fabric: &Fabric, input: u32, id: u32) -> bool {
        let Some(limit) = self.limit else { return false };
        let channels = &fabric.plan.channels;
        let class = channels.class_of[fabric.pool.hot[id].next_vc as usize];
        if !channels.classes[class as usize].times_out {
            return false;
        }
        let notes = &fabric.pool.notes[id];
        let deadline = notes.arrived + limit.saturating_sub(notes.waited as Tick);
        if deadline > fabric.now {
            self.heads.push((deadline, (input as u64) << 32 | id as u64));
        }
        deadline <= fabric.now
    }

    /// A packet leaves its input for a channel, or for an output queue that does not ask where it came from.
    #[inline(always)]
    pub fn leave(&self, fabric: &mut Fabric, id: u32) {
        if self.exist() {
            fabric.pool.hot[id].sibling = GONE;
        }
    }

    /// Whether the deadline of a packet has passed, if it has one: the number of a timer may belong to another packet by now.
    pub fn has_passed(&self, fabric: &Fabric, id: u32) -> bool {
        let channels = &fabric.plan.channels;
        let class = channels.class_of[fabric.pool.hot[id].next_vc as usize];
        if !channels.classes[class as usize].times_out {
            return false;
        }
        let notes = &fabric.pool.notes[id];
        let waited = notes.waited as Tick + (fabric.now - notes.arrived);
        self.limit.is_some_and(|limit| waited >= limit)
    }

    /// Arms the deadlines of the packets that came to the head of a queue and are not known to have left: most go on in the same
    /// tick.
    #[inline(always)]
    pub fn arm(&mut self, fabric: &mut Fabric) {
        if !self.heads.is_empty() {
            self.arm_heads(fabric);
        }
    }

    #[inline(never)]
    fn arm_heads(&mut self, fabric: &mut Fabric) {
        for (deadline, timer) in self.heads.drain(..) {
            if fabric.pool.hot[timer as u32].sibling != GONE {
                fabric.wheel.push(deadline, Kind::Timer, timer);
            }
        }
    }
}
