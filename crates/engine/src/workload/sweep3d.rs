//! Sweeps through a grid from its corners.
use super::grid::Grid;
use super::mpi::{self, Op, Script};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Neutron transport by sweeps (Koch, Baker, Alcouffe 1992): ranks stand in a two-dimensional grid, each with a column of cells.
/// A sweep starts in a corner; for each block of planes a rank receives from the two neighbours that it comes from, computes, and
/// sends to the two that it goes to. In each iteration sweeps start in the four corners, one after the other, and then once more in each. All sends and receives are blocking, as in the original; the order of the corners follows Ember's Sweep3D. Source of
/// the sizes: ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep3d {
    /// Ranks in x and y; without it, two sides as equal as they can be, the longer in x.
    #[serde(default)]
    pub grid: Option<[std::num::NonZeroU32; 2]>,
    /// Size of a message.
    #[serde(default = "default_message")]
    pub message: Size,
    /// Blocks of planes of a sweep.
    #[serde(default = "default_blocks")]
    pub blocks: u32,
    /// Computing for a block.
    #[serde(default = "default_compute")]
    pub compute: Duration,
    /// Number of iterations, of eight sweeps each.
    #[serde(default = "default_iterations")]
    pub iterations: u32,
}

fn default_message() -> Size {
    Size::Bits(4096 * 8)
}

fn default_blocks() -> u32 {
    10
}

fn default_compute() -> Duration {
    Duration::Ps(1_000_000)
}

fn default_iterations() -> u32 {
    1
}

/// Sweeps of an iteration.
const SWEEPS: u64 = 8;

/// The ways in y and x of one sweep after the other: from the corners (0, 0), (X, 0), (X, Y) and (0, Y).
const WAYS: [(i32, i32); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];

impl Bind for Sweep3d {
    fn ranks(&self) -> Result<Option<u32>, Vec<Problem>> {
        Ok(self.grid.map(|[x, y]| Grid::new(&[y.get(), x.get()]).ranks()))
    }

    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let grid = match self.grid {
            Some([x, y]) => Grid::new(&[y.get(), x.get()]),
            None => Grid::balanced(setting.ranks, 2),
        };
        let script = Sweeps {
            grid,
            bytes: setting.message(self.message)?,
            blocks: self.blocks,
            compute: self.compute.time(setting.scale).0,
            iterations: self.iterations,
        };
        Ok(mpi::program(script, setting))
    }
}

/// A bound [`Sweep3d`].
#[derive(Debug)]
struct Sweeps {
    grid: Grid,
    bytes: u64,
    blocks: u32,
    compute: u64,
    iterations: u32,
}

impl Script for Sweeps {
    /// A section is a block of a sweep.
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        let sweeps = SWEEPS * u64::from(self.iterations);
        let Some(sweep) = number.checked_div(self.blocks.into()).filter(|&sweep| sweep < sweeps) else {
            return false;
        };
        let (y, x) = WAYS[(sweep % 4) as usize];
        let (ahead, behind) = ([[0, x], [y, 0]], [[0, -x], [-y, 0]]);
        for from in behind.iter().filter_map(|step| self.grid.beside(rank, step)) {
            ops.push(Op::Receive { from, tag: 0 });
        }
        ops.push(Op::Compute(self.compute));
        for to in ahead.iter().filter_map(|step| self.grid.beside(rank, step)) {
            ops.push(Op::Send { to, bytes: self.bytes, tag: 0 });
        }
        true
    }

    fn iteration(&self) -> u64 {
        SWEEPS * u64::from(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_start_in_the_corners_as_ember_s_do() {
        let sweeps = Sweeps { grid: Grid::new(&[2, 2]), bytes: 1, blocks: 1, compute: 0, iterations: 1 };
        let starts = |sweep: u64, rank: u32| {
            let mut ops = Vec::new();
            assert!(sweeps.section(rank, sweep, &mut ops));
            !ops.iter().any(|op| matches!(op, Op::Receive { .. }))
        };
        let first = |sweep: u64| (0..4).filter(|&rank| starts(sweep, rank)).collect::<Vec<_>>();
        assert_eq!((0..SWEEPS).flat_map(first).collect::<Vec<_>>(), [0, 1, 3, 2, 0, 1, 3, 2]);
        assert!(!sweeps.section(0, SWEEPS, &mut Vec::new()));
    }
}
