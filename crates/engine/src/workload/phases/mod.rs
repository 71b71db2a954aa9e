//! Phases of flows, one behind the other.
use super::ledger::Activity;
use super::mpi::Mpi;
use super::{Actions, Application, Bind, Rank, Setting, in_file};
use crate::nic::queue::message_flits_max;
use crate::problem::Problem;
use crate::units::{Duration, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

mod flows;
pub use flows::{Flow, Schedule};

/// Communication phases: in each, every rank sends its flows at once, and the next begins when all flows of all ranks have
/// arrived and an out-of-band barrier has passed.
///
/// A flow is a message from one rank to another. The results tell when each flow and each phase was done, and the bound W for
/// the routes taken: the time that the busiest link needs for the data it carried (Birk and Zdornov, SYSTOR 2009, section 5.1).
/// A source has at most one flow to a destination in a phase: where two permutations have a pair in common, its flow is as large
/// as both. A list has one line for each flow, "source destination size", by the numbers of ranks; without a size it is
/// `size`; what follows a `#` is left out. Whoever calls the engine reads the file at `path` and hands it in as `text`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// Who sends to whom.
    #[serde(default)]
    pub flows: Pattern,
    /// Random permutations, without fixed points, that are sent at once (of "permutations").
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub permutations: u32,
    /// The rank that all others send to (of "all-to-one"); without it, 0.
    #[serde(default)]
    pub target: Option<u32>,
    /// Size of a flow. Source: paper SAA gives none; reproduced with 128 packets.
    #[serde(default = "size")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub size: Size,
    /// The list of flows, relative to the scenario's file. Give this or `text`.
    #[serde(default)]
    pub path: String,
    /// The list itself.
    #[serde(default)]
    pub text: String,
    /// Number of phases.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub phases: u32,
    /// Whether every phase draws its permutations anew.
    #[serde(default = "yes")]
    pub redraw: bool,
    /// From the arrival of the last flow of a phase to the start of the next, and after the last phase to the end of the job.
    #[serde(default = "barrier")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub barrier: Duration,
}

/// Who sends to whom in a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Random permutations of the ranks, all at once.
    #[default]
    Permutations,
    /// All others to one.
    AllToOne,
    /// The flows of a list.
    List,
}

fn one() -> u32 {
    1
}

fn size() -> Size {
    Size::Packets(128)
}

fn yes() -> bool {
    true
}

fn barrier() -> Duration {
    Duration::Ps(10_000_000)
}

impl Pattern {
    /// Its name, as scenarios give it.
    fn name(self) -> &'static str {
        match self {
            Self::Permutations => "permutations",
            Self::AllToOne => "all-to-one",
            Self::List => "list",
        }
    }
}

/// What stands in a list of flows.
const LINES: &str = "lines of source, destination and size, such as: 0 5 2 MB";

/// Most flows of all phases of a job.
const FLOWS_MAX: u64 = 1 << 26;

impl Phases {
    /// Sizes and numbers that cannot be.
    fn problems(&self, setting: &Setting) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut refuse =
            |key: &str, message: String, help: String| problems.push(Problem::new(key, message, help));
        let ranks = setting.ranks;
        if ranks < 2 {
            refuse("ranks", "a flow leads from one rank to another".into(), "at least 2".into());
        }
        if self.flows == Pattern::AllToOne && self.target() >= ranks {
            let message = format!("there is no rank {}, the job has {ranks}", self.target());
            refuse("target", message, format!("0 to {}", ranks - 1));
        }
        if self.flows != Pattern::List && !(self.text.is_empty() && self.path.is_empty()) {
            let message = "a list of flows is given, but flows does not ask for it".into();
            refuse("flows", message, "flows = \"list\"".into());
        }
        let count = match self.flows {
            Pattern::Permutations => u64::from(ranks) * u64::from(self.permutations),
            _ => u64::from(ranks),
        };
        if count * u64::from(self.phases) > FLOWS_MAX {
            let message = format!("the job would have {count} flows in each of {} phases", self.phases);
            refuse("phases", message, format!("at most {FLOWS_MAX} in all"));
        }
        let most = message_flits_max(setting.scale.packet_flits);
        if self.size.flits(setting.scale) > most / u64::from(self.permutations.max(1)) {
            let message = format!("a flow of {} has too many packets", self.size);
            refuse("size", message, format!("at most {most} flits, or larger packets"));
        }
        problems.extend(self.nothing_to_read());
        problems.extend(self.unused(setting));
        problems
    }

    /// The flows of all phases, or all that is wrong with the parameters and with the list.
    fn schedule(&self, setting: &Setting) -> Result<Schedule, Vec<Problem>> {
        let mut problems = self.problems(setting);
        let has_list = self.flows == Pattern::List && self.nothing_to_read().is_none();
        if problems.is_empty() || has_list {
            match Schedule::new(self, setting) {
                Ok(schedule) if problems.is_empty() => return Ok(schedule),
                Ok(_) => {}
                Err(found) => problems.extend(found),
            }
        }
        Err(problems)
    }

    /// That there is no list where there should be one.
    fn nothing_to_read(&self) -> Option<Problem> {
        let help =
            if self.path.is_empty() { "path = the file of a list, or text = the list itself" } else { LINES };
        let message = "the list of flows is empty, or was not read";
        let missing = self.flows == Pattern::List && self.text.trim().is_empty();
        missing.then(|| in_file(&self.path, "text", "", message, help))
    }

    /// Keys that are given and would make no difference.
    fn unused(&self, setting: &Setting) -> Vec<Problem> {
        use Pattern::{AllToOne, Permutations};
        let keys = [
            ("target", self.target.is_some(), AllToOne, "has no target"),
            ("permutations", self.permutations != one(), Permutations, "draws no permutations"),
            ("redraw", self.redraw != yes(), Permutations, "draws no permutations"),
        ];
        let unused = keys.into_iter().filter(|&(_, given, of, _)| given && of != self.flows);
        let told = |(key, _, of, lacks): (&str, bool, Pattern, &str)| {
            let message = format!("flows = \"{}\" {lacks}", self.flows.name());
            Problem::new(key, message, format!("leave it out, or flows = \"{}\"", of.name()))
        };
        let mpi = (*setting.mpi != Mpi::default()).then(|| {
            let message = "flows of phases are sent as they are, not by MPI";
            Problem::new("mpi", message, "leave it out: `barrier` beside it is the time between phases")
        });
        unused.map(told).chain(mpi).collect()
    }

    fn target(&self) -> u32 {
        self.target.unwrap_or(0)
    }
}

impl Bind for Phases {
    fn has_mpi(&self) -> bool {
        false
    }

    fn is_phases(&self) -> bool {
        true
    }

    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let schedule = self.schedule(setting)?;
        let barrier = self.barrier.time(setting.scale);
        Ok(Box::new(Bound { schedule: Arc::new(schedule), barrier: Time(barrier.0.max(1)) }))
    }
}

/// A bound [`Phases`].
#[derive(Debug)]
struct Bound {
    schedule: Arc<Schedule>,
    barrier: Time,
}

impl Application for Bound {
    fn rank(&self, number: u32) -> Box<dyn Rank> {
        let schedule = self.schedule.clone();
        Box::new(Member { schedule, number, phase: 0, waiting: 0, since: None, end: None })
    }

    fn barrier(&self) -> Option<Time> {
        Some(self.barrier)
    }

    fn memory(&self) -> u64 {
        self.schedule.memory()
    }

    fn flows(&self) -> Option<&Schedule> {
        Some(&self.schedule)
    }
}

/// A rank.
struct Member {
    schedule: Arc<Schedule>,
    number: u32,
    phase: u32,
    /// Flows of the phase that have not arrived.
    waiting: u32,
    /// Since when it exchanges flows, or waits in the barrier, if the job has started.
    since: Option<Time>,
    end: Option<Time>,
}

impl Member {
    fn begin(&mut self, act: &mut Actions) {
        for flow in self.schedule.sent_by(self.phase, self.number) {
            act.send(act.now, flow.to, flow.bytes, self.phase);
        }
        self.waiting = self.schedule.received_by(self.phase, self.number);
        self.since = Some(act.now);
        self.come_to_barrier(act);
    }

    /// Comes to the barrier once all flows have arrived.
    fn come_to_barrier(&mut self, act: &mut Actions) {
        if self.waiting == 0 {
            self.spent(Activity::Exchange, act);
            act.barrier(act.now);
        }
    }

    /// Time since its phase, or its wait for the others, began.
    fn passed(&self, now: Time) -> Time {
        Time(self.since.map_or(0, |since| now.0.saturating_sub(since.0)))
    }

    fn spent(&mut self, on: Activity, act: &mut Actions) {
        act.ledger.done(on, self.passed(act.now));
        self.since = Some(act.now);
    }
}

impl Rank for Member {
    fn on_start(&mut self, act: &mut Actions) {
        self.begin(act);
    }

    fn on_delivered(&mut self, _from: u32, _tag: u32, act: &mut Actions) {
        self.waiting -= 1;
        self.come_to_barrier(act);
    }

    fn on_barrier(&mut self, act: &mut Actions) {
        self.spent(Activity::Barrier, act);
        self.phase += 1;
        if self.phase == self.schedule.phases() {
            self.end = Some(act.now);
        } else {
            self.begin(act);
        }
    }

    fn end(&self) -> Option<Time> {
        self.end
    }

    fn uncounted(&self, now: Time) -> i64 {
        if self.end.is_none() { self.passed(now).0 as i64 } else { 0 }
    }

    fn waits_for(&self) -> String {
        match self.waiting {
            0 => format!("the barrier of phase {}", self.phase),
            missing => format!("{missing} flows of phase {}", self.phase),
        }
    }
}
