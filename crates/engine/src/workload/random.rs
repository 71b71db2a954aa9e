//! Random partners.
use super::mpi::{self, Op, Script};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::rng::{Stream, mix};
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// In each iteration a random permutation of the ranks, another each time: every rank computes, sends a message to one rank and
/// receives one from another, at once, and waits for both. A rank that would send to itself does nothing. Source: ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {
    /// Size of a message.
    pub message: Size,
    /// Number of iterations. Source: ours.
    #[serde(default = "once")]
    pub iterations: u32,
    /// Computing before each. Source: ours.
    #[serde(default = "nothing")]
    pub compute: Duration,
}

fn once() -> u32 {
    1
}

fn nothing() -> Duration {
    Duration::Ps(0)
}

impl Bind for Random {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let script = Permutations {
            ranks: setting.ranks,
            key: Stream::new(setting.seed, "partners", setting.name, 0).next(),
            bytes: setting.message(self.message)?,
            iterations: self.iterations,
            compute: self.compute.time(setting.scale).0,
        };
        Ok(mpi::program(script, setting))
    }
}

/// A bound [`Random`].
#[derive(Debug)]
struct Permutations {
    ranks: u32,
    key: u64,
    bytes: u64,
    iterations: u32,
    compute: u64,
}

/// Rounds of the cipher; four make a permutation that looks random (Luby, Rackoff 1988).
const ROUNDS: u64 = 4;

impl Permutations {
    /// The place of a rank in the permutation of an iteration, or the rank in a place: a Feistel cipher on the least number of
    /// bits, an even one, that has room for all ranks, applied until the result is a rank.
    fn map(&self, iteration: u64, from: u32, back: bool) -> u32 {
        let half = (u32::BITS - (self.ranks - 1).leading_zeros()).div_ceil(2);
        let mask = (1u32 << half) - 1;
        let mut at = from;
        loop {
            let (mut left, mut right) = (at >> half, at & mask);
            for round in 0..ROUNDS {
                let round = if back { ROUNDS - 1 - round } else { round };
                let key = mix(self.key ^ iteration, round);
                if back {
                    (left, right) = (right ^ mix(key, left.into()) as u32 & mask, left);
                } else {
                    (left, right) = (right, left ^ mix(key, right.into()) as u32 & mask);
                }
            }
            at = left << half | right;
            if at < self.ranks {
                return at;
            }
        }
    }
}

impl Script for Permutations {
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        if number >= u64::from(self.iterations) {
            return false;
        }
        if self.compute > 0 {
            ops.push(Op::Compute(self.compute));
        }
        let (to, from) = (self.map(number, rank, false), self.map(number, rank, true));
        if to != rank {
            ops.push(Op::Exchange { to, bytes: self.bytes, from, tag: 0 });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_iteration_is_a_permutation_of_its_own() {
        for ranks in [1, 2, 3, 17, 64, 100] {
            let script = Permutations { ranks, key: 9, bytes: 1, iterations: 2, compute: 0 };
            let of = |number| (0..ranks).map(|rank| script.map(number, rank, false)).collect::<Vec<_>>();
            for number in 0..2 {
                let to = of(number);
                assert!(
                    (0..ranks).all(|rank| script.map(number, to[rank as usize], true) == rank),
                    "{ranks}"
                );
            }
            assert!(ranks < 17 || of(0) != of(1));
        }
    }
}
