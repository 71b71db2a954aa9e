//! Exchange round a ring.
use super::mpi::{self, Op, Script};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every rank sends a message to the next and receives one from the one before, again and again: the smallest program in
/// which all depend on all. One iteration: compute, then send and receive. Source: ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingExchange {
    /// Size of a message.
    pub message: Size,
    /// How often. Source: ours.
    #[serde(default = "once")]
    pub iterations: u32,
    /// Computing before each exchange. Source: ours.
    #[serde(default = "nothing")]
    pub compute: Duration,
    /// Sends first and receives then, each blocking, instead of both at once: with messages that ask first (rendezvous), a
    /// deadlock. Source: ours.
    #[serde(default)]
    pub send_first: bool,
}

fn once() -> u32 {
    1
}

fn nothing() -> Duration {
    Duration::Ps(0)
}

impl Bind for RingExchange {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let script = Ring {
            ranks: setting.ranks,
            bytes: setting.message(self.message)?,
            iterations: self.iterations,
            compute: self.compute.time(setting.scale).0,
            send_first: self.send_first,
        };
        Ok(mpi::program(script, setting))
    }
}

/// A bound [`RingExchange`].
#[derive(Debug)]
struct Ring {
    ranks: u32,
    bytes: u64,
    iterations: u32,
    compute: u64,
    send_first: bool,
}

impl Script for Ring {
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        if number >= u64::from(self.iterations) {
            return false;
        }
        if self.compute > 0 {
            ops.push(Op::Compute(self.compute));
        }
        let (to, from) = ((rank + 1) % self.ranks, (rank + self.ranks - 1) % self.ranks);
        let bytes = self.bytes;
        if self.send_first {
            ops.extend([Op::Send { to, bytes, tag: 0 }, Op::Receive { from, tag: 0 }]);
        } else {
            ops.push(Op::Exchange { to, bytes, from, tag: 0 });
        }
        true
    }
}
