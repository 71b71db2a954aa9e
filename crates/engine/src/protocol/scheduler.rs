//! The reservation scheduler of a destination, shared by the protocols that grant times to send.
use crate::core::Tick;

/// Grants intervals of an ejection channel one after the other: one register, the end of the last interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scheduler {
    free_at: Tick,
}

impl Scheduler {
    /// Grants `span` ticks: the interval starts now, or when the last one ends.
    pub fn grant(&mut self, now: Tick, span: Tick) -> Tick {
        let start = now.max(self.free_at);
        self.free_at = start + span;
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn granted_intervals_never_overlap_and_start_no_earlier_than_asked() {
        let mut scheduler = Scheduler::default();
        assert_eq!(scheduler.grant(10, 4), 10);
        assert_eq!(scheduler.grant(11, 4), 14);
        assert_eq!(scheduler.grant(100, 4), 100);
    }
}
