//! Many to one.
use super::mpi::{self, Op, Script};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All ranks send to one. In each iteration a sender computes, sends a message and waits until it has left; the receiver posts
/// receives from all and waits for all. Nothing else keeps the iterations together: long messages ask first (rendezvous), and
/// a sender's next one is answered only when the receiver has come to its next iteration.
///
/// Source: SWM `incast.json`, 100 ranks, 10 iterations of 1310720 B; `incast1.json`, 512 ranks, 500 iterations of 160 B after
/// 20 us of computing; Ember's Incast, 1024 B, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Size of a message. Source: SWM, 1310720 B.
    #[serde(default = "default_message")]
    pub message: Size,
    /// Number of iterations. Source: SWM, 10.
    #[serde(default = "default_iterations")]
    pub iterations: u32,
    /// The receiving rank; without it, the last. Source: SWM, the last; Ember, 0.
    #[serde(default)]
    pub target: Option<u32>,
    /// Computing of a sender before each message. Source: SWM, none.
    #[serde(default = "default_compute")]
    pub compute: Duration,
}

fn default_message() -> Size {
    Size::Bits(1_310_720 * 8)
}

fn default_iterations() -> u32 {
    10
}

fn default_compute() -> Duration {
    Duration::Ps(0)
}

impl Bind for Incast {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let last = setting.ranks - 1;
        let target = self.target.unwrap_or(last);
        if target > last {
            let message = format!("there is no rank {target}, the job has {}", setting.ranks);
            return Err(vec![Problem::new("target", message, format!("0 to {last}"))]);
        }
        let script = ManyToOne {
            senders: setting.ranks,
            target,
            bytes: setting.message(self.message)?,
            iterations: self.iterations,
            compute: self.compute.time(setting.scale).0,
        };
        Ok(mpi::program(script, setting))
    }
}

/// The first ranks send to one; that one and those after take no part otherwise.
#[derive(Debug)]
pub(super) struct ManyToOne {
    /// Ranks from 0 on that send, but for the target.
    pub(super) senders: u32,
    pub(super) target: u32,
    pub(super) bytes: u64,
    pub(super) iterations: u32,
    pub(super) compute: u64,
}

impl Script for ManyToOne {
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        if number >= u64::from(self.iterations) {
            return false;
        }
        if rank == self.target {
            let senders = (0..self.senders).filter(|&from| from != self.target);
            ops.extend((0..).zip(senders).map(|(request, from)| Op::Irecv { from, tag: 0, request }));
            let count = ops.len() as u32;
            ops.push(Op::Wait { first: 0, count });
        } else if rank < self.senders {
            if self.compute > 0 {
                ops.push(Op::Compute(self.compute));
            }
            ops.push(Op::Send { to: self.target, bytes: self.bytes, tag: 0 });
        }
        true
    }
}
