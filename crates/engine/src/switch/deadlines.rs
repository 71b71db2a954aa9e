//! Deadlines of the packets that stand at the head of a queue at an input: their time-to-wait, over all switches.
use crate::core::Tick;
use crate::core::fabric::Fabric;
use crate::core::packet::NIL;
use crate::core::wheel::Kind;

/// A timer of no packet: the next tick begins a span of time.
pub const SPAN: u64 = NIL as u64;
/// The `sibling` of a packet that has left its input, where packets have deadlines.
const GONE: u32 = NIL - 1;

/// Spans of time with lists of their own: the one under way, and the seven that a deadline may be ahead.
const SPANS: usize = 8;

/// The deadlines of a partition's switches.
#[derive(Default)]
pub struct Deadlines {
    /// The time-to-wait, if there is one.
    limit: Option<Tick>,
    /// Packets that came to the head of a queue since outputs were looked at last, as timers with their deadlines.
    heads: Vec<(Tick, u64)>,
    /// A quarter of the time-to-wait.
    span: Tick,
    /// Deadlines in later spans, by the span modulo their number. Nearly all packets have gone when their span comes.
    later: [Vec<(Tick, u64)>; SPANS],
    /// Packets at the head of a queue, with their inputs, whose deadline has passed.
    late: Vec<(u32, u32)>,
    /// Whether they are being dropped.
    drops: bool,
}

impl Deadlines {
    /// Deadlines of a time-to-wait.
    pub fn new(limit: Option<Tick>) -> Self {
        Self { limit, span: (limit.unwrap_or(0) / 4).max(1), ..Self::default() }
    }

    /// Whether any packet has one.
    #[inline(always)]
    pub fn exist(&self) -> bool {
        self.limit.is_some()
    }

    /// A packet came to the head of a queue at an input (a local port): notes its deadline. Returns whether that has passed.
    #[inline(never)]
    pub fn note(&mut self, fabric: &Fabric, input: u32, id: u32) -> bool {
        let Some(deadline) = self.of(fabric, id) else { return false };
        if deadline > fabric.now {
            self.heads.push((deadline, (input as u64) << 32 | id as u64));
        }
        deadline <= fabric.now
    }

    /// A packet at the head of a queue is to be dropped. Returns whether the caller has to see to it: else one does already.
    pub fn add_late(&mut self, input: u32, id: u32) -> bool {
        self.late.push((input, id));
        !std::mem::replace(&mut self.drops, true)
    }

    /// The next packet that is to be dropped.
    pub fn next_late(&mut self) -> Option<(u32, u32)> {
        let next = self.late.pop();
        self.drops = next.is_some();
        next
    }

    /// The deadline of a packet, if it has one.
    #[inline(always)]
    fn of(&self, fabric: &Fabric, id: u32) -> Option<Tick> {
        let channels = &fabric.plan.vcs;
        let class = channels.class_of[fabric.pool.hot[id].next_vc as usize];
        let limit = self.limit.filter(|_| channels.classes[class as usize].times_out)?;
        let notes = &fabric.pool.notes[id];
        Some(notes.arrived + limit.saturating_sub(notes.waited as Tick))
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
        self.of(fabric, id).is_some_and(|deadline| deadline <= fabric.now)
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
            if fabric.pool.hot[timer as u32].sibling == GONE {
                continue;
            }
            let span = deadline / self.span;
            // Its timers are armed in the tick before.
            let armed = (span * self.span).saturating_sub(1);
            if armed <= fabric.now {
                fabric.wheel.push(deadline, Kind::Timer, timer);
                continue;
            }
            let later = &mut self.later[span as usize % SPANS];
            if later.is_empty() {
                fabric.wheel.push(armed, Kind::Timer, SPAN);
            }
            later.push((deadline, timer));
        }
    }

    /// The next tick begins a span: arms the timers of packets that still wait there.
    pub fn begin_span(&mut self, fabric: &mut Fabric) {
        let mut list = std::mem::take(&mut self.later[((fabric.now + 1) / self.span) as usize % SPANS]);
        for (deadline, timer) in list.drain(..) {
            if self.of(fabric, timer as u32) == Some(deadline) {
                fabric.wheel.push(deadline, Kind::Timer, timer);
            }
        }
        self.later[((fabric.now + 1) / self.span) as usize % SPANS] = list;
    }
}
