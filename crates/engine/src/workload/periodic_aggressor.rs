//! An application that turns aggressive now and then.
use super::incast::ManyToOne;
use super::lammps::Steps;
use super::mpi::{self, Op, Script};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// LAMMPS that is interrupted by an incast: some steps of LAMMPS by all ranks; then the first ranks send to one of them; then steps
/// of LAMMPS again. There is no barrier between but the allreduces of LAMMPS. It shows a throttle that comes and goes.
///
/// Source: SWM `periodic_aggressor.json`: 2048 ranks, 1 step, then 5 iterations of 1310720 B of ranks 0 to 98 to rank 99, then 1 step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeriodicAggressor {
    /// Steps of LAMMPS before and after each incast. Source: SWM, 1.
    #[serde(default = "default_steps")]
    #[schemars(range(max = 1000))]
    pub steps: u32,
    /// Ranks of the incast, from 0 on; the last of them is the receiver. Source: SWM, 100.
    #[serde(default = "default_incast")]
    pub incast: u32,
    /// Size of a message of the incast. Source: SWM, 1310720 B.
    #[serde(default = "default_message")]
    pub message: Size,
    /// Iterations of an incast. Source: SWM, 5.
    #[serde(default = "default_iterations")]
    pub iterations: u32,
    /// Number of incasts. Source: SWM, 1.
    #[serde(default = "default_steps")]
    #[schemars(range(max = 1000))]
    pub periods: u32,
    /// Replicas of LAMMPS's box in x, y and z. Source: SWM, 3 each.
    #[serde(default = "super::lammps::default_replicas")]
    #[schemars(inner(range(max = 10_000)))]
    pub replicas: [std::num::NonZeroU32; 3],
}

fn default_steps() -> u32 {
    1
}

fn default_incast() -> u32 {
    100
}

fn default_message() -> Size {
    Size::Bits(1_310_720 * 8)
}

fn default_iterations() -> u32 {
    5
}

impl Bind for PeriodicAggressor {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        if setting.ranks < 2 {
            let message = format!("a job of {} has no ranks for an incast", setting.ranks);
            return Err(vec![Problem::new("ranks", message, "at least 2")]);
        }
        if self.incast < 2 || self.incast > setting.ranks {
            let message = format!("an incast of {} ranks in a job of {}", self.incast, setting.ranks);
            return Err(vec![Problem::new("incast", message, format!("2 to {}", setting.ranks))]);
        }
        let incast = ManyToOne {
            senders: self.incast,
            target: self.incast - 1,
            bytes: setting.message(self.message)?,
            iterations: self.iterations,
            compute: 0,
        };
        let steps = self.steps.saturating_mul(self.periods.saturating_add(1));
        let lammps = Steps::new(steps, self.replicas.map(|count| count.get()), 0, setting.ranks)?;
        let calm = Steps::sections(self.steps);
        Ok(mpi::program(Aggressor { lammps, incast, calm, periods: self.periods.into() }, setting))
    }
}

/// A bound [`PeriodicAggressor`].
#[derive(Debug)]
struct Aggressor {
    lammps: Steps,
    incast: ManyToOne,
    /// Sections of LAMMPS before and after an incast.
    calm: u64,
    periods: u64,
}

impl Script for Aggressor {
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        let (period, at) = (number / self.iteration(), number % self.iteration());
        if period > self.periods {
            return false;
        }
        if at < self.calm {
            return self.lammps.section(rank, period * self.calm + at, ops);
        }
        period < self.periods && self.incast.section(rank, at - self.calm, ops)
    }

    /// A period: LAMMPS, and the incast behind it.
    fn iteration(&self) -> u64 {
        (self.calm + u64::from(self.incast.iterations)).max(1)
    }
}
