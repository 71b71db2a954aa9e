//! What a run holds in memory, and when that is too much: more than the scenario allows, or all that the machine has.
use crate::core::kernel::View;
use crate::core::plan::Plan;
use crate::switch::arch::Architecture;
use crate::workload::host::Hosts;
use std::time::{Duration, Instant};
use sysinfo::{MemoryRefreshKind, System};

/// How often the machine is asked, which takes a tenth of a millisecond.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// The part of the machine's memory that is left when a run must end: for what it may still take until the machine is asked again.
const LEFT: u64 = 32;

/// Watches over the memory of a run.
pub(super) struct Watch {
    /// Bytes that the scenario allows.
    limit: Option<u64>,
    /// The machine; none if this system does not tell.
    machine: Option<System>,
    asked: Instant,
}

impl Watch {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { limit, machine: System::new().ok(), asked: Instant::now() }
    }

    /// Why the run must end, if it must: a run for which the machine has no memory would be killed, and not tell why.
    pub(super) fn failure<A: Architecture>(&mut self, plan: &Plan, view: &View<A>) -> Option<String> {
        let full = self.machine_is_full();
        if self.limit.is_none() && full.is_none() {
            return None;
        }
        let held = Held::new(plan, view);
        let over = self.limit.filter(|limit| held.total() > *limit);
        over.map(|limit| held.over(limit)).or_else(|| full.map(|free| held.without(free)))
    }

    /// What is free, if it is next to nothing.
    fn machine_is_full(&mut self) -> Option<Free> {
        if self.asked.elapsed() < ASK_EVERY {
            return None;
        }
        self.asked = Instant::now();
        let system = self.machine.as_mut()?;
        system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram().with_swap());
        let machine = Free {
            bytes: system.available_memory() + system.free_swap(),
            of: system.total_memory() + system.total_swap(),
        };
        // What a container holds besides processes, pages of files, is let go when it is needed.
        let container = system.cgroup_limits().map(|limits| Free {
            bytes: limits.total_memory.saturating_sub(limits.rss),
            of: limits.total_memory,
        });
        [Some(machine), container].into_iter().flatten().find(Free::is_little)
    }
}

/// Memory that is free, in bytes, and of how much.
struct Free {
    bytes: u64,
    of: u64,
}

impl Free {
    /// A system that does not tell has none in all.
    fn is_little(&self) -> bool {
        self.of > 0 && self.bytes < self.of / LEFT
    }
}

/// What a run holds, in bytes.
struct Held {
    packets: u64,
    queues: u64,
    jobs: u64,
}

impl Held {
    fn new<A: Architecture>(plan: &Plan, view: &View<A>) -> Self {
        let mut held = Self { packets: 0, queues: 0, jobs: plan.job_memory() };
        for partition in view.partitions.iter() {
            held.packets += partition.fabric.memory();
            held.queues += partition.nics.memory();
            held.jobs += partition.nics.hosts().map_or(0, Hosts::memory);
        }
        held
    }

    fn total(&self) -> u64 {
        self.packets + self.queues + self.jobs
    }

    fn over(&self, limit: u64) -> String {
        format!(
            "the run holds {:.1} MB, over the limit of {:.1} MB ([run] memory): {}, or raise the limit",
            mb(self.total()),
            mb(limit),
            self.most()
        )
    }

    fn without(&self, free: Free) -> String {
        format!(
            "the memory of this machine is nearly full, {:.1} of {:.1} MB are free, and the run holds {:.1} MB: {}, run fewer \
             scenarios at once, or take a machine with more memory",
            mb(free.bytes),
            mb(free.of),
            mb(self.total()),
            self.most()
        )
    }

    /// What most of it is, and what helps.
    fn most(&self) -> String {
        let parts = [
            (self.packets, "packets in the network", "lower the load"),
            (self.queues, "messages that wait at their sources", "lower the load"),
            (self.jobs, "what jobs hold, their traces included", "run smaller jobs"),
        ];
        let (bytes, what, help) = parts.into_iter().max_by_key(|part| part.0).unwrap_or_default();
        format!("{:.1} MB are {what}; {help}", mb(bytes))
    }
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_little_below_a_thirty_second_of_it_and_never_where_the_system_tells_none() {
        let gb = 1_000_000_000;
        assert!(Free { bytes: gb - 1, of: 32 * gb }.is_little());
        assert!(!Free { bytes: gb, of: 32 * gb }.is_little());
        assert!(!Free { bytes: 0, of: 0 }.is_little());
    }

    #[test]
    fn what_most_of_the_memory_is_and_what_helps_are_told() {
        let held = Held { packets: 1_000_000, queues: 7_000_000, jobs: 2_000_000 };
        let told = held.without(Free { bytes: 100_000_000, of: 8_000_000_000 });
        assert!(told.contains("100.0 of 8000.0 MB are free, and the run holds 10.0 MB"), "{told}");
        assert!(told.contains("7.0 MB are messages that wait at their sources; lower the load"), "{told}");
        assert!(held.over(9_000_000).contains("the run holds 10.0 MB, over the limit of 9.0 MB"), "{told}");
    }
}
