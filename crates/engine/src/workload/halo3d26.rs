//! Halo exchange with 26 neighbours.
use super::grid::Grid;
use super::mpi::{self, Call, Op, Script};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Exchange of the borders of a box of cells with up to 26 neighbours in a grid of ranks, not periodic. In each iteration a rank
/// computes, posts receives from all neighbours, starts sends to all (6 faces, 12 edges, 8 corners), and waits for all.
/// Rank = x + Px·(y + Py·z). Neighbours come faces first, then edges, then corners, each by z, then y, then x: the same, one below,
/// one above.
///
/// Source: Ember's Halo3D26, whose code never does the reduction that its parameter `doreduce` asks for: that of `allreduce` is
/// ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Halo3d26 {
    /// Ranks in x, y and z; without it, three sides as equal as they can be, the longest in x. Source: none (Ember has no
    /// default).
    #[serde(default)]
    pub grid: Option<[std::num::NonZeroU32; 3]>,
    /// Cells of a rank in x, y and z. Source: Ember, 100 each.
    #[serde(default = "default_cells")]
    pub cells: [u32; 3],
    /// Values in a cell. Source: Ember, 1.
    #[serde(default = "one")]
    pub fields: u32,
    /// Bytes of a value. Source: Ember, 8.
    #[serde(default = "default_width")]
    pub width: u32,
    /// Computing of an iteration; without it, 26 operations for each value at 10⁹ a second. Source: Ember.
    #[serde(default)]
    pub compute: Option<Duration>,
    /// Number of iterations. Source: Ember, 1.
    #[serde(default = "one")]
    pub iterations: u32,
    /// An allreduce of 8 B after each iteration. Source: ours; paper ABATE names one, Ember's motif does none.
    #[serde(default)]
    pub allreduce: bool,
}

fn default_cells() -> [u32; 3] {
    [100; 3]
}

fn default_width() -> u32 {
    8
}

fn one() -> u32 {
    1
}

/// Operations for each value, and their time in ps.
const OPERATIONS: u64 = 26;
const OPERATION_PS: u64 = 1_000;
/// The allreduce at the end of an iteration.
const REDUCED_BYTES: u64 = 8;

impl Bind for Halo3d26 {
    fn ranks(&self) -> Result<Option<u32>, Vec<Problem>> {
        Ok(self.grid.map(|[x, y, z]| Grid::new(&[z.get(), y.get(), x.get()]).ranks()))
    }

    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let grid = match self.grid {
            Some([x, y, z]) => Grid::new(&[z.get(), y.get(), x.get()]),
            None => Grid::balanced(setting.ranks, 3),
        };
        let cells = self.cells.map(u64::from);
        let value = u64::from(self.fields) * u64::from(self.width);
        let count = cells.iter().fold(u64::from(self.fields), |product, &side| product.saturating_mul(side));
        let compute = self.compute.map(|time| time.time(setting.scale).0);
        let compute = compute.unwrap_or(count.saturating_mul(OPERATIONS * OPERATION_PS));
        let (iterations, allreduce) = (self.iterations, self.allreduce);
        let script = Halo { grid, directions: directions(), cells, value, compute, iterations, allreduce };
        let longest = script.directions.iter().map(|direction| script.bytes(direction)).max();
        setting.sendable("cells", longest.unwrap_or(0))?;
        Ok(mpi::program(script, setting))
    }
}

/// A bound [`Halo3d26`].
#[derive(Debug)]
struct Halo {
    /// In z, y, x.
    grid: Grid,
    /// Steps in z, y, x to the 26 neighbours.
    directions: Vec<[i32; 3]>,
    /// In x, y, z.
    cells: [u64; 3],
    /// Bytes of a cell.
    value: u64,
    compute: u64,
    iterations: u32,
    allreduce: bool,
}

/// Faces, edges, corners; each direction beside the opposite one.
fn directions() -> Vec<[i32; 3]> {
    const AXIS: [i32; 3] = [0, -1, 1];
    let all = 0..AXIS.len().pow(3);
    let mut all: Vec<[i32; 3]> = all.map(|at| [at / 9, at / 3 % 3, at % 3].map(|step| AXIS[step])).collect();
    all.retain(|direction| *direction != [0; 3]);
    all.sort_by_key(|direction| direction.iter().map(|step| step.abs()).sum::<i32>());
    all
}

impl Halo {
    /// Bytes of what goes in a direction: the cells of a face, an edge or a corner.
    fn bytes(&self, direction: &[i32; 3]) -> u64 {
        let across = direction.iter().rev().zip(&self.cells).filter(|(step, _)| **step == 0);
        across.fold(self.value, |bytes, (_, cells)| bytes.saturating_mul(*cells))
    }
}

impl Script for Halo {
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        if number >= u64::from(self.iterations) {
            return false;
        }
        let beside = |direction: &[i32; 3]| self.grid.beside(rank, direction);
        let opposite = |direction: &[i32; 3]| direction.map(|step| -step);
        // The tag is the direction a message goes in.
        let tag = |direction: &[i32; 3]| direction.iter().fold(0, |tag, step| tag * 3 + (step + 1) as u16);
        ops.push(Op::Compute(self.compute));
        let mut request = 0;
        for direction in &self.directions {
            if let Some(from) = beside(direction) {
                ops.push(Op::Irecv { from, tag: tag(&opposite(direction)), request });
                request += 1;
            }
        }
        for direction in &self.directions {
            if let Some(to) = beside(direction) {
                ops.push(Op::Isend { to, bytes: self.bytes(direction), tag: tag(direction), request });
                request += 1;
            }
        }
        ops.push(Op::Wait { first: 0, count: request });
        if self.allreduce {
            ops.push(Op::Collective(Call::allreduce(REDUCED_BYTES)));
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halo(grid: [u32; 3]) -> Halo {
        Halo {
            grid: Grid::new(&grid),
            directions: directions(),
            cells: [100; 3],
            value: 8,
            compute: 0,
            iterations: 1,
            allreduce: false,
        }
    }

    /// Source: Ember's Halo3D26 with its default parameters.
    #[test]
    fn messages_and_bytes_of_an_iteration_are_those_of_the_public_workload() {
        let script = halo([3, 3, 3]);
        let bytes = |rank: u32| {
            let mut ops = Vec::new();
            assert!(script.section(rank, 0, &mut ops));
            let sends = ops.iter().filter_map(|op| match op {
                Op::Isend { bytes, .. } => Some(*bytes),
                _ => None,
            });
            sends.collect::<Vec<_>>()
        };
        let inside = [[80_000; 6].as_slice(), &[800; 12], &[8; 8]].concat();
        assert_eq!(bytes(13), inside, "6 faces, 12 edges, 8 corners");
        assert_eq!(bytes(0), [80_000, 80_000, 80_000, 800, 800, 800, 8], "a box is not periodic");
    }

    #[test]
    fn what_is_sent_is_received_under_the_same_tag() {
        let script = halo([2, 3, 4]);
        let of = |rank: u32| {
            let mut ops = Vec::new();
            script.section(rank, 0, &mut ops);
            ops
        };
        for rank in 0..24 {
            for op in of(rank) {
                if let Op::Isend { to, tag, .. } = op {
                    let receives = |other: &&Op| matches!(other, Op::Irecv { from, tag: t, .. } if *from == rank && *t == tag);
                    assert_eq!(of(to).iter().filter(receives).count(), 1, "{rank} to {to}, tag {tag}");
                }
            }
        }
    }
}
