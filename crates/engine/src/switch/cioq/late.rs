//! Candidates that outputs have passed over too often.
//!
//! An output and an input are matched when both are free. Where both are busy without a break, and out of step, they would never be: the
//! output would take others for ever, whatever the packet's class or age. So an output that has passed over a candidate for more packets
//! than its switch has ports, which is a whole round, takes no other until that one's input is free.
use super::crossbar::{Open, Proposal};
use super::state::{Output, State};
use crate::core::fabric::Fabric;

impl<const W: usize, const V: usize> State<W, V> {
    /// The candidate that an output has passed over for too long; none, if it waits for that one's input. Nothing, if there is no room for it:
    /// others may go then, and room is owed.
    #[inline(never)]
    pub(super) fn pick_late(
        &self,
        fabric: &mut Fabric,
        output: &Output<W, V>,
        open: &mut Open,
    ) -> Option<Option<Proposal>> {
        let (class, input) = output.late;
        let found = self.candidate(fabric, output, (class, input.into()), open);
        (found.is_some() || open.skipped.is_some()).then_some(found)
    }
}

impl<const W: usize, const V: usize> Output<W, V> {
    /// Notes that a packet was taken while the input of another candidate was busy: in round robin, and of a better class, one that comes
    /// before it.
    #[inline(never)]
    pub(super) fn pass_over(&mut self, skipped: (u8, u16)) {
        if self.passed == 0 {
            self.late = skipped;
        }
        self.passed = self.passed.saturating_add(1);
    }
}
