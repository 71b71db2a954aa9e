//! The kernel: windows of the lookahead, one after the other, on one thread or several.
//!
//! In a window no partition can affect another, so they run in any order or at once; between windows they exchange
//! what they sent. Checks (the end of the run, snapshots, the watcher) happen at times that do not depend on the
//! partitioning, so neither do the results.
use super::partition::Partition;
use super::plan::Plan;
use super::post::Post;
use super::{NEVER, Tick};
use crate::switch::arch::Architecture;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All that was due arrived, or the drain time passed.
    Complete,
    /// The watcher stopped it.
    Stopped,
}

/// All partitions of a run.
pub struct Kernel<A: Architecture> {
    plan: Arc<Plan>,
    partitions: Vec<Mutex<Partition<A>>>,
    threads: usize,
}

/// What the leader sees between two windows.
pub struct View<'a, 'b, A: Architecture> {
    /// The partitions.
    pub partitions: &'a mut [MutexGuard<'b, Partition<A>>],
    /// Time reached.
    pub now: Tick,
    /// Whether this is a check time: one that depends neither on the partitioning nor on what is recorded.
    pub is_check: bool,
}

type Watch<'w, A> = &'w mut (dyn FnMut(&mut View<A>) -> bool + Send);

impl<A: Architecture> Kernel<A> {
    /// A kernel over these partitions.
    pub fn new(plan: Arc<Plan>, partitions: Vec<Partition<A>>, threads: usize) -> Self {
        let threads = threads.clamp(1, partitions.len());
        let mut partitions: Vec<_> = partitions.into_iter().map(Mutex::new).collect();
        number_lines(&mut partitions);
        Self { plan, partitions, threads }
    }

    /// The partitions, after the run.
    pub fn into_partitions(self) -> Vec<Partition<A>> {
        self.partitions
            .into_iter()
            .map(|partition| partition.into_inner().expect("no thread panicked"))
            .collect()
    }

    /// Runs to the end. `check` is called between windows and stops the run by returning false.
    pub fn run(&mut self, check: Watch<A>) -> Ending {
        for partition in &mut self.partitions {
            partition.get_mut().expect("no thread runs").start();
        }
        let checks = Checks::new(&self.plan);
        if self.threads == 1 {
            return self.run_alone(checks, check);
        }
        self.run_together(checks, check)
    }

    fn run_alone(&mut self, mut checks: Checks, check: Watch<A>) -> Ending {
        let mut guards: Vec<_> = self.partitions.iter().map(lock).collect();
        let mut now = 0;
        loop {
            let end = match between(&self.plan, &mut guards, &mut checks, now, check) {
                Ok(end) => end,
                Err(ending) => return ending,
            };
            guards.iter_mut().for_each(|partition| partition.run_until(end));
            now = end;
        }
    }

    /// Threads pick partitions of the window one by one; the leader does what is to be done between windows.
    fn run_together(&mut self, mut checks: Checks, check: Watch<A>) -> Ending {
        let (partitions, plan, threads) = (&self.partitions, &self.plan, self.threads);
        let barrier = Barrier::new(threads);
        let (next, window_end, over) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let work = || {
            while let Some(partition) = partitions.get(next.fetch_add(1, Ordering::Relaxed)) {
                lock(partition).run_until(window_end.load(Ordering::Relaxed));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| {
                    let _poison = barrier.poison_on_panic();
                    loop {
                        barrier.wait();
                        if over.load(Ordering::Relaxed) {
                            return;
                        }
                        work();
                        barrier.wait();
                    }
                });
            }
            let _poison = barrier.poison_on_panic();
            let mut now = 0;
            loop {
                let mut guards: Vec<_> = partitions.iter().map(lock).collect();
                let outcome = between(plan, &mut guards, &mut checks, now, check);
                drop(guards);
                match outcome {
                    Ok(end) => window_end.store(end, Ordering::Relaxed),
                    Err(ending) => {
                        over.store(true, Ordering::Relaxed);
                        barrier.wait();
                        return ending;
                    }
                }
                next.store(0, Ordering::Relaxed);
                barrier.wait();
                work();
                barrier.wait();
                now = window_end.load(Ordering::Relaxed);
            }
        })
    }
}

fn lock<A: Architecture>(partition: &Mutex<Partition<A>>) -> MutexGuard<'_, Partition<A>> {
    partition.lock().expect("a partition failed")
}

/// Lines know the other end by its port until all partitions are there: gives them its number.
fn number_lines<A: Architecture>(partitions: &mut [Mutex<Partition<A>>]) {
    let numbers: Vec<std::collections::HashMap<u32, u32>> = partitions
        .iter_mut()
        .map(|partition| {
            let lines = &partition.get_mut().expect("no thread runs").fabric.lines;
            lines.iter().enumerate().map(|(number, line)| (line.port, number as u32)).collect()
        })
        .collect();
    for partition in partitions {
        for line in partition.get_mut().expect("no thread runs").fabric.lines.iter_mut() {
            line.peer.1 = numbers[line.peer.0 as usize][&line.peer.1];
        }
    }
}

/// Between two windows: exchange, checks, and the end of the next window.
fn between<A: Architecture>(
    plan: &Plan,
    partitions: &mut [MutexGuard<'_, Partition<A>>],
    checks: &mut Checks,
    now: Tick,
    check: Watch<A>,
) -> Result<Tick, Ending> {
    exchange(partitions);
    if !matches!(plan.post, Post::Closed) {
        hand_signals(plan, partitions);
    }
    if plan.links[0].sharing().is_some() {
        hand_fills(partitions);
    }
    release_barriers(plan, partitions);
    let is_check = checks.may_end(now) || now == plan.end;
    let go_on = check(&mut View { partitions, now, is_check });
    if now >= plan.end || checks.may_end(now) && is_over(plan, partitions, checks, now) {
        return Err(Ending::Complete);
    }
    if !go_on {
        return Err(Ending::Stopped);
    }
    if is_check {
        partitions.iter_mut().for_each(|partition| partition.fabric.checked = now);
    }
    let next_check = checks.next(now);
    if plan.lookahead == NEVER {
        let events = partitions.iter().map(|partition| partition.fabric.probe.events).sum();
        return Ok(now.saturating_add(checks.alone.next(events)).min(next_check));
    }
    let pending =
        |partition: &MutexGuard<Partition<A>>| partition.fabric.next_over_lines().min(partition.next_event());
    let first = partitions.iter().map(pending).min().unwrap_or(now);
    // Nothing happens before `first`: the window may start there.
    Ok(first.max(now).saturating_add(plan.lookahead).min(next_check))
}

/// Whether all jobs are done, if there are some, and what is measured has arrived, or had its time to. When the jobs are done, the
/// window of what is measured ends.
fn is_over<A: Architecture>(
    plan: &Plan,
    partitions: &mut [MutexGuard<'_, Partition<A>>],
    checks: &mut Checks,
    now: Tick,
) -> bool {
    match jobs_done(plan, partitions) {
        Some(done) => done && (plan.traffic.is_empty() || checks.drained(plan, partitions, now)),
        None => now >= plan.window.1 && !are_due(partitions),
    }
}

/// Ends the barriers that all ranks of a job have come to. The window was not longer than their latency, so that their end is
/// yet to come.
fn release_barriers<A: Architecture>(plan: &Plan, partitions: &mut [MutexGuard<'_, Partition<A>>]) {
    for (number, job) in plan.jobs.iter().enumerate() {
        let Some(latency) = job.application.barrier() else { continue };
        let hosts = partitions.iter().filter_map(|partition| partition.nics.hosts());
        let (mut entered, mut last) = (0, 0);
        for ledger in hosts.map(|hosts| &hosts.ledgers()[number]) {
            entered += ledger.entered as usize;
            last = last.max(ledger.last_entry);
        }
        if entered == job.endpoints.len() {
            let at = crate::units::Time(last + latency.0);
            for partition in partitions.iter_mut() {
                let partition = &mut **partition;
                partition.nics.release(&mut partition.fabric, number, at);
            }
        }
    }
}

/// Whether all jobs have come to their end; none if there are no jobs.
fn jobs_done<A: Architecture>(plan: &Plan, partitions: &[MutexGuard<'_, Partition<A>>]) -> Option<bool> {
    if plan.jobs.iter().all(|job| job.idle) {
        return None;
    }
    Some(partitions.iter().filter_map(|partition| partition.nics.hosts()).all(|hosts| hosts.is_done()))
}

/// Whether anything that is measured has not arrived.
fn are_due<A: Architecture>(partitions: &[MutexGuard<'_, Partition<A>>]) -> bool {
    partitions.iter().map(|partition| partition.fabric.probe.due()).sum::<i64>() != 0
}

/// Hands the signals of all partitions to those of the endpoints that they are for.
fn hand_signals<A: Architecture>(plan: &Plan, partitions: &mut [MutexGuard<'_, Partition<A>>]) {
    for here in 0..partitions.len() {
        let mut signals = std::mem::take(&mut partitions[here].fabric.out_signals);
        for signal in signals.drain(..) {
            let (there, _) = plan.seat(signal.to);
            partitions[there as usize].fabric.expect_signal(signal);
        }
        partitions[here].fabric.out_signals = signals;
    }
}

/// Tells switches that share memory among their inputs what will come to these of the packets that other partitions sent.
fn hand_fills<A: Architecture>(partitions: &mut [MutexGuard<'_, Partition<A>>]) {
    for here in 0..partitions.len() {
        let mut fills = std::mem::take(&mut partitions[here].fabric.out_fills);
        for (line, fill) in fills.drain(..) {
            let (there, number) = partitions[here].fabric.lines[line].peer;
            let there = &mut partitions[there as usize].fabric;
            there.expect_fill_at(there.lines[number].port, fill);
        }
        partitions[here].fabric.out_fills = fills;
    }
}

fn exchange<A: Architecture>(partitions: &mut [MutexGuard<'_, Partition<A>>]) {
    for here in 0..partitions.len() {
        for at in 0..partitions[here].fabric.lines.len() as u32 {
            let (there, number) = partitions[here].fabric.lines[at].peer;
            if (there as usize) > here {
                let [a, b] = partitions.get_disjoint_mut([here, there as usize]).expect("two partitions");
                a.fabric.lines[at].exchange(&mut b.fabric.lines[number]);
            }
        }
    }
}

/// The times at which the leader looks: regular steps, the ends of the window, and the snapshots. A step spans several windows
/// whatever the partitioning: a window that is cut short costs as much as a whole one.
///
/// A run ends at regular steps, so that snapshots do not show in it, and when jobs are done or traffic has drained, not at a time that a
/// limit decides: steps grow with the time, to a 256th of it at most. Without jobs they are that part of the window until its end.
struct Checks {
    /// The least step.
    step: Tick,
    extra: Vec<Tick>,
    window_end: Tick,
    /// When the run ends at the latest, once all jobs are done.
    last: Option<Tick>,
    alone: Alone,
}

/// The windows of a partition that is alone, which has no lookahead: each is long enough to be worth a look in between, and short enough
/// that whoever watches the run is heard soon.
struct Alone {
    window: Tick,
    /// That had happened when it began.
    events: u64,
}

impl Alone {
    /// About the events of a tenth of a second.
    const EVENTS: u64 = 1 << 20;

    /// The length of the next window, after so many events in all.
    fn next(&mut self, events: u64) -> Tick {
        match events - self.events {
            many if many > Self::EVENTS => self.window = (self.window / 2).max(1),
            few if few < Self::EVENTS / 4 => self.window = self.window.saturating_mul(2),
            _ => {}
        }
        self.events = events;
        self.window
    }
}

impl Checks {
    fn new(plan: &Plan) -> Self {
        let mut extra = plan.record.occupancy.clone();
        extra.extend([plan.window.0, plan.window.1, plan.end]);
        extra.sort_unstable();
        let longest = plan.links.iter().map(|link| link.credit()).max().unwrap_or(1);
        let has_jobs = plan.jobs.iter().any(|job| !job.idle);
        let step = if has_jobs { 8 * longest } else { (plan.window.1 / 256).max(8 * longest) };
        let alone = Alone { window: longest, events: 0 };
        Self { step, extra, window_end: plan.window.1, last: None, alone }
    }

    /// The step at a time. Each is one of the steps before, doubled or the same: no window reaches over a regular time.
    fn step(&self, now: Tick) -> Tick {
        self.step << (now / 256 / self.step).checked_ilog2().unwrap_or(0)
    }

    /// Whether the run may end.
    fn may_end(&self, now: Tick) -> bool {
        now.is_multiple_of(self.step(now)) || now == self.window_end || self.last == Some(now)
    }

    /// Whether traffic beside jobs that are done has had its time to drain. What is measured ends with the jobs.
    fn drained<A: Architecture>(
        &mut self,
        plan: &Plan,
        partitions: &mut [MutexGuard<'_, Partition<A>>],
        now: Tick,
    ) -> bool {
        let last = *self.last.get_or_insert_with(|| {
            for partition in partitions.iter_mut() {
                let partition = &mut **partition;
                partition.nics.count_offered(&mut partition.fabric);
                partition.fabric.probe.end_window(now);
            }
            now.min(plan.window.1) + (plan.end - plan.window.1)
        });
        now >= last || !are_due(partitions)
    }

    fn next(&self, now: Tick) -> Tick {
        let step = self.step(now);
        let regular = (now / step + 1) * step;
        let extra = self.extra.get(self.extra.partition_point(|&at| at <= now));
        let last = self.last.filter(|&last| last > now);
        extra.into_iter().copied().chain(last).fold(regular, Tick::min)
    }
}

/// A barrier that spins: windows are short. If a thread fails, the others fail instead of waiting for ever.
///
/// It soon lets others have the core: the thread it waits for may need it, where threads are more than free cores.
struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    failed: AtomicBool,
}

/// About the time of changing threads. With 10,000 two runs of two threads each on two cores take twice as long.
const SPINS: u32 = 100;

struct Poison<'a>(&'a Barrier);

impl Drop for Poison<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::Release);
        }
    }
}

impl Barrier {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        }
    }

    fn poison_on_panic(&self) -> Poison<'_> {
        Poison(self)
    }

    fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round + 1, Ordering::Release);
            return;
        }
        let mut spins = 0u32;
        while self.round.load(Ordering::Acquire) == round {
            assert!(!self.failed.load(Ordering::Acquire), "another thread of the run failed");
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events come at a rate that changes: windows come to hold a quarter of a million to a million of them, and a run without any
    /// takes few.
    #[test]
    fn windows_of_a_partition_that_is_alone_go_by_its_events() {
        let mut alone = Alone { window: 1, events: 0 };
        let mut events = 0;
        for per_tick in [3, 3000, 1] {
            for _ in 0..40 {
                events += per_tick * alone.next(events);
            }
            let held = per_tick * alone.next(events);
            assert!((Alone::EVENTS / 4..=Alone::EVENTS).contains(&held), "{held} at {per_tick}");
        }
        let idle = (0..100).map(|_| alone.next(events)).last();
        assert_eq!(idle, Some(Tick::MAX));
    }
}
