//! Pairs that only talk to each other.
use super::mpi::{self, Call, Op, Script};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each rank of the upper half sends to one of the lower half: rank n/2 + i to rank i, message after message, each sent when the
/// one before has left.
///
/// Source: SWM `many_to_many_workload1.json`, 256 ranks, 36 iterations of 4194304 B (`many_to_many_workload.json`: 2). Paper
/// ABATE says that no rank goes on before all have completed an iteration; the code has no such synchronisation
/// (`synchronise`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedPairs {
    /// Size of a message. Source: SWM, 4194304 B.
    #[serde(default = "default_message")]
    pub message: Size,
    /// Number of iterations. Source: SWM, 36.
    #[serde(default = "default_iterations")]
    pub iterations: u32,
    /// A barrier of all ranks after each iteration. Source: the code has none, paper ABATE has one.
    #[serde(default)]
    pub synchronise: bool,
}

fn default_message() -> Size {
    Size::Bits(4_194_304 * 8)
}

fn default_iterations() -> u32 {
    36
}

impl Bind for FixedPairs {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let ranks = setting.ranks;
        if !ranks.is_multiple_of(2) {
            let message = format!("{ranks} ranks are no pairs");
            return Err(vec![Problem::new("ranks", message, "an even number")]);
        }
        let (bytes, iterations) = (setting.message(self.message)?, self.iterations);
        Ok(mpi::program(Pairs { half: ranks / 2, bytes, iterations, synchronise: self.synchronise }, setting))
    }
}

/// A bound [`FixedPairs`].
#[derive(Debug)]
struct Pairs {
    half: u32,
    bytes: u64,
    iterations: u32,
    synchronise: bool,
}

impl Script for Pairs {
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        if number >= u64::from(self.iterations) {
            return false;
        }
        ops.push(match rank.checked_sub(self.half) {
            Some(to) => Op::Send { to, bytes: self.bytes, tag: 0 },
            None => Op::Receive { from: rank + self.half, tag: 0 },
        });
        if self.synchronise {
            ops.push(Op::Collective(Call::barrier()));
        }
        true
    }
}
