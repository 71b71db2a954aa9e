//! MILC: lattice quantum chromodynamics.
use super::grid::Grid;
use super::mpi::{self, Call, Op, Script};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The skeleton of MILC's lattice quantum chromodynamics: a four-dimensional torus of ranks. In each iteration, twice (for the
/// even and for the odd sites): receives from all 8 neighbours are posted, sends to all are started, the rank computes, and
/// waits for all sends, then for all receives; at the end two allreduces of 8 B. In a dimension of 2 both neighbours are the
/// same rank, in one of 1 there are none. The last dimension varies fastest with the rank; in each, the first of the two goes down.
///
/// Source: SWM `milc_skeleton.json`, 4096 ranks (8⁴); paper ABATE runs 625 (5⁴).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Milc {
    /// Ranks in each dimension; without it, four sides as equal as they can be. Source: SWM, `[8, 8, 8, 8]`.
    #[serde(default)]
    pub grid: Option<Vec<std::num::NonZeroU32>>,
    /// Size of a message: 1.5 L⁴ B for L⁴ sites of each rank. Source: SWM, 497664 B (L = 24).
    #[serde(default = "default_message")]
    pub message: Size,
    /// Number of iterations. Source: SWM, 1.
    #[serde(default = "default_iterations")]
    pub iterations: u32,
    /// Computing after the sends were started. Source: SWM, 100 cycles at 4 GHz, 25 ns.
    #[serde(default = "default_compute")]
    pub compute: Duration,
}

fn default_message() -> Size {
    Size::Bits(497_664 * 8)
}

fn default_iterations() -> u32 {
    1
}

fn default_compute() -> Duration {
    Duration::Ps(25_000)
}

impl Bind for Milc {
    fn ranks(&self) -> Result<Option<u32>, Vec<Problem>> {
        let sides = self.grid.as_ref().map(|sides| sides.iter().map(|side| side.get()).collect::<Vec<_>>());
        Ok(sides.map(|sides| Grid::new(&sides).ranks()))
    }

    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let grid = match &self.grid {
            Some(sides) => Grid::new(&sides.iter().map(|side| side.get()).collect::<Vec<_>>()),
            None => Grid::balanced(setting.ranks, 4),
        };
        let script = Lattice {
            grid,
            bytes: setting.message(self.message)?,
            iterations: self.iterations,
            compute: self.compute.time(setting.scale).0,
        };
        Ok(mpi::program(script, setting))
    }
}

/// A bound [`Milc`].
#[derive(Debug)]
pub(super) struct Lattice {
    grid: Grid,
    bytes: u64,
    iterations: u32,
    compute: u64,
}

/// Two allreduces at the end of an iteration, each of a double.
const REDUCED_BYTES: u64 = 8;
/// Sections of an iteration: even sites, odd sites, sums.
const SECTIONS: u64 = 3;

impl Lattice {
    /// For each neighbour: who it is, the tag of what is sent to it, the tag of what comes from it. The tag is the direction
    /// that a message goes in, so that two messages between the same ranks are told apart.
    fn neighbours(&self, rank: u32) -> Vec<(u32, u16, u16)> {
        let mut all = Vec::new();
        for (dimension, _) in self.grid.sides().iter().enumerate().filter(|(_, side)| **side > 1) {
            for up in [false, true] {
                let tag = |up: bool| 2 * dimension as u16 + u16::from(up);
                all.push((self.grid.around(rank, dimension, up), tag(up), tag(!up)));
            }
        }
        all
    }
}

impl Script for Lattice {
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        if number >= SECTIONS * u64::from(self.iterations) {
            return false;
        }
        if number % SECTIONS == SECTIONS - 1 {
            ops.extend([Op::Collective(Call::allreduce(REDUCED_BYTES)); 2]);
            return true;
        }
        let all = self.neighbours(rank);
        let count = all.len() as u32;
        for (request, &(from, _, tag)) in (0..).zip(&all) {
            ops.push(Op::Irecv { from, tag, request });
        }
        for (request, &(to, tag, _)) in (count..).zip(&all) {
            ops.push(Op::Isend { to, bytes: self.bytes, tag, request });
        }
        ops.push(Op::Compute(self.compute));
        ops.push(Op::Wait { first: count, count });
        ops.push(Op::Wait { first: 0, count });
        true
    }

    fn iteration(&self) -> u64 {
        SECTIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Source: SWM `milc_skeleton.json`.
    #[test]
    fn messages_and_bytes_of_an_iteration_are_those_of_the_public_workload() {
        let script =
            Lattice { grid: Grid::balanced(4096, 4), bytes: 497_664, iterations: 1, compute: 25_000 };
        assert_eq!(script.grid.sides(), [8, 8, 8, 8]);
        let mut ops = Vec::new();
        assert!((0..3).all(|section| script.section(77, section, &mut ops)));
        assert!(!script.section(77, 3, &mut ops));
        let sends: Vec<(u32, u64)> = ops
            .iter()
            .filter_map(|op| match op {
                Op::Isend { to, bytes, .. } => Some((*to, *bytes)),
                _ => None,
            })
            .collect();
        assert_eq!(sends.len(), 16);
        assert_eq!(sends.iter().collect::<HashSet<_>>().len(), 8, "twice to each of 8 neighbours");
        assert!(sends.iter().all(|(_, bytes)| *bytes == 497_664));
        let reduced = ops.iter().filter(|op| **op == Op::Collective(Call::allreduce(8))).count();
        assert_eq!(reduced, 2);
    }
}
