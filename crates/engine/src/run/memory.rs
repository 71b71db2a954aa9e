//! What a run holds in memory, and when that is too much: more than the scenario allows, or all that the machine has.
use crate::core::kernel::View;
use crate::core::plan::Plan;
use crate::switch::arch::Architecture;
use crate::workload::host::Hosts;
use std::time::{Duration, Instant};
use sysinfo::{CGroupLimits, MemoryRefreshKind, Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// How often the machine is asked, which takes 0.3 ms.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// What must be free, a 32nd of the memory but no more than this, and as much as the run has grown since the machine was last
/// asked: it may grow as much again until the next time.
const FREE_BYTES: u64 = 512_000_000;
const FREE_PART: u64 = 32;

/// Watches over the memory of a run.
pub(super) struct Watch {
    /// Bytes that the scenario allows.
    limit: Option<u64>,
    /// The machine; none if this system does not tell.
    machine: Option<System>,
    /// This process, by which its control group is found: that of a job of a cluster, or of a container.
    process: Option<Pid>,
    /// What this process held when the machine was last asked.
    held: Option<u64>,
    asked: Instant,
}

impl Watch {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self {
            limit,
            machine: System::new().ok(),
            process: sysinfo::get_current_pid().ok(),
            held: None,
            asked: Instant::now(),
        }
    }

    /// Why the run must end, if it must: a run for which the machine has no memory would be killed, and not tell why.
    pub(super) fn failure<A: Architecture>(&mut self, plan: &Plan, view: &View<A>) -> Option<String> {
        let full = self.machine_is_full();
        if self.limit.is_none() && full.is_none() {
            return None;
        }
        let held = Held::new(plan, view);
        let over = self.limit.filter(|limit| held.total() > *limit);
        over.map(|limit| held.told_over(limit)).or_else(|| full.map(|free| held.told_without(&free)))
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
        let (held, group) = this_process(system, self.process?)?;
        let grown = held.saturating_sub(self.held.replace(held).unwrap_or(held));
        [Some(machine), group].into_iter().flatten().find(|free| free.is_little(grown))
    }
}

/// The bytes that this process holds, and what its control group may still take, if it is in one.
fn this_process(system: &mut System, process: Pid) -> Option<(u64, Option<Free>)> {
    let memory = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[process]), true, memory);
    let process = system.process(process)?;
    // Pages of files count as taken in a group, but are let go when memory is wanted: so what processes hold counts.
    let free = |limits: CGroupLimits| Free {
        bytes: limits.total_memory.saturating_sub(limits.rss),
        of: limits.total_memory,
    };
    Some((process.memory(), process.cgroup_limits().map(free)))
}

/// Memory that is free, in bytes, and of how much.
struct Free {
    bytes: u64,
    of: u64,
}

impl Free {
    /// A system that does not tell has none in all.
    fn is_little(&self, grown: u64) -> bool {
        self.of > 0 && self.bytes < (self.of / FREE_PART).min(FREE_BYTES).max(grown)
    }
}

/// What a run holds, in bytes.
struct Held {
    packets: u64,
    queues: u64,
    jobs: u64,
    recorded: u64,
}

impl Held {
    fn new<A: Architecture>(plan: &Plan, view: &View<A>) -> Self {
        let mut held = Self { packets: 0, queues: 0, jobs: plan.job_memory(), recorded: 0 };
        for partition in view.partitions.iter() {
            held.packets += partition.fabric.memory();
            held.queues += partition.nics.memory();
            held.recorded += partition.fabric.probe.memory();
            held.jobs += partition.nics.hosts().map_or(0, Hosts::memory);
        }
        held
    }

    fn total(&self) -> u64 {
        self.packets + self.queues + self.jobs + self.recorded
    }

    fn told_over(&self, limit: u64) -> String {
        format!(
            "the run holds {:.2} MB, over the limit of {:.2} MB ([run] memory): {}, or raise the limit",
            mb(self.total()),
            mb(limit),
            self.most()
        )
    }

    fn told_without(&self, free: &Free) -> String {
        // Only a run that holds much of the memory can make room.
        let most = if 4 * self.total() > free.of { format!(": {}", self.most()) } else { String::new() };
        format!(
            "the memory of this machine, or of this job or container, is nearly full: {:.1} of {:.1} MB are free, and the run \
             holds {:.1} MB{most}. Run fewer scenarios at once, end other programs, or take a machine with more memory",
            mb(free.bytes),
            mb(free.of),
            mb(self.total()),
        )
    }

    /// What most of it is, and what helps.
    fn most(&self) -> String {
        let parts = [
            (self.packets, "packets in the network", "lower the load"),
            (self.queues, "messages that wait at their sources", "lower the load"),
            (self.jobs, "what jobs hold, their traces included", "run smaller jobs"),
            (self.recorded, "what is recorded", "record less, or at longer intervals"),
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

    const GB: u64 = 1_000_000_000;

    #[test]
    fn memory_is_little_below_a_part_of_it_that_is_the_same_on_all_large_machines() {
        assert!(Free { bytes: GB / 5, of: 8 * GB }.is_little(0));
        assert!(!Free { bytes: GB / 4, of: 8 * GB }.is_little(0));
        assert!(Free { bytes: FREE_BYTES - 1, of: 2000 * GB }.is_little(0));
        assert!(!Free { bytes: FREE_BYTES, of: 2000 * GB }.is_little(0));
        assert!(!Free { bytes: 0, of: 0 }.is_little(0), "the system tells nothing");
    }

    #[test]
    fn memory_is_little_if_the_run_could_not_grow_once_more_as_it_has_grown() {
        let free = Free { bytes: GB, of: 8 * GB };
        assert!(free.is_little(GB + 1));
        assert!(!free.is_little(GB));
    }

    #[test]
    fn what_most_of_the_memory_is_and_what_helps_are_told() {
        let held = Held { packets: GB / 10, queues: 7 * GB / 10, jobs: GB / 10, recorded: GB / 10 };
        let told = held.told_over(GB / 2);
        assert!(told.starts_with("the run holds 1000.00 MB, over the limit of 500.00 MB"), "{told}");
        assert!(told.contains("700.0 MB are messages that wait at their sources; lower the load"), "{told}");
        let told = held.told_without(&Free { bytes: GB / 10, of: 3 * GB });
        assert!(
            told.contains("100.0 of 3000.0 MB are free, and the run holds 1000.0 MB: 700.0 MB are"),
            "{told}"
        );
        let told = held.told_without(&Free { bytes: GB / 10, of: 9 * GB });
        assert!(!told.contains("lower the load"), "others hold the memory: {told}");
    }
}
