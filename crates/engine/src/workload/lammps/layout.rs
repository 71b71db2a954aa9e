//! The layouts of the mesh that a Fourier transform goes through, and who sends what to whom from one to the next.
use super::model::Model;
use std::sync::OnceLock;

/// Transposes of a time step: one transform forwards and three backwards.
pub const TRANSPOSES: usize = 13;

/// Points of the mesh in a dimension, from a first to a last; nothing where the last is before the first.
type Side = (i64, i64);

/// A layout: it cuts the mesh into the regions of the ranks, which stand in a grid. In the brick layout a rank owns its part of the
/// box, in the others whole lines in x, y or z.
#[derive(Debug)]
struct Layout {
    /// The parts of each dimension.
    sides: [Vec<Side>; 3],
    /// How far apart ranks are that are neighbours in a dimension.
    strides: [u32; 3],
}

impl Layout {
    /// The region of a rank.
    fn region(&self, rank: u32) -> [Side; 3] {
        std::array::from_fn(|d| self.sides[d][(rank / self.strides[d]) as usize % self.sides[d].len()])
    }

    /// The ranks whose regions have points in common with a region, and how many.
    fn meeting(&self, region: &[Side; 3]) -> Vec<(u32, u64)> {
        let mut met = vec![(0, 1)];
        for ((sides, stride), own) in self.sides.iter().zip(self.strides).zip(region) {
            // The parts are in order: those in between are all that can have points in common.
            let first = sides.partition_point(|side| side.1 < own.0);
            let end = sides.partition_point(|side| side.0 <= own.1);
            let common = |at: usize| sides[at].1.min(own.1) + 1 - sides[at].0.max(own.0);
            let parts = || (first..end).filter(|&at| common(at) > 0);
            let with = |&(rank, points): &(u32, u64)| {
                parts().map(move |at| (rank + at as u32 * stride, points * common(at) as u64))
            };
            met = met.iter().flat_map(with).collect();
        }
        met
    }
}

/// Steps between layouts: from, to, bytes of a point.
const STEPS: [(usize, usize, u64); 5] = [
    (BRICK, LINES_X, 8),
    (LINES_X, LINES_Y, 16),
    (LINES_Y, LINES_Z, 16),
    (LINES_Z, LINES_X, 16),
    (LINES_Z, BRICK, 16),
];
const BRICK: usize = 0;
const LINES_X: usize = 1;
const LINES_Y: usize = 2;
const LINES_Z: usize = 3;

/// The step of each transpose.
const ORDER: [usize; TRANSPOSES] = [0, 1, 2, 3, 1, 2, 4, 1, 2, 4, 1, 2, 4];

/// Whom a rank sends to and receives from in a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Partners {
    /// To whom, and how many bytes.
    pub send: Vec<(u32, u64)>,
    /// From whom.
    pub receive: Vec<u32>,
}

/// The transposes of all ranks. The partners of a rank are found when it first needs them.
#[derive(Debug)]
pub struct Transposes {
    layouts: [Layout; 4],
    found: Vec<OnceLock<[Partners; STEPS.len()]>>,
}

impl Transposes {
    pub fn new(model: &Model) -> Self {
        let ranks: u32 = model.processes.iter().product();
        let (columns, rows) = plane(ranks, model.mesh[1], model.mesh[2]);
        let (few, many) = factors(ranks);
        let share = |points: u32, of: u32| -> Vec<Side> {
            let first = |number: u32| i64::from(number) * i64::from(points) / i64::from(of);
            (0..of).map(|number| (first(number), first(number + 1) - 1)).collect()
        };
        let ([x, y, z], [_, ny, nz]) = (model.mesh, model.processes);
        let layouts = [
            Layout { sides: std::array::from_fn(|d| brick(model, d)), strides: [ny * nz, nz, 1] },
            Layout { sides: [share(x, 1), share(y, columns), share(z, rows)], strides: [1, 1, columns] },
            Layout { sides: [share(x, few), share(y, 1), share(z, many)], strides: [1, 1, few] },
            Layout { sides: [share(x, few), share(y, many), share(z, 1)], strides: [1, few, 1] },
        ];
        Self { layouts, found: (0..ranks).map(|_| OnceLock::new()).collect() }
    }

    /// The partners of a rank in a transpose.
    pub fn partners(&self, rank: u32, number: usize) -> &Partners {
        let all = self.found[rank as usize].get_or_init(|| STEPS.map(|step| self.find(rank, step)));
        &all[ORDER[number]]
    }

    /// Those whose regions overlap, from the next rank on.
    fn find(&self, rank: u32, (from, to, bytes): (usize, usize, u64)) -> Partners {
        let ranks = self.found.len() as u32;
        let others = |at: usize, other: usize| {
            let mut met = self.layouts[other].meeting(&self.layouts[at].region(rank));
            met.retain(|&(other, _)| other != rank);
            met.sort_unstable_by_key(|&(other, _)| (other + ranks - rank) % ranks);
            met.into_iter()
        };
        Partners {
            send: others(from, to).map(|(other, points)| (other, points * bytes)).collect(),
            receive: others(to, from).map(|(other, _)| other).collect(),
        }
    }
}

/// The parts of the box in a dimension.
fn brick(model: &Model, d: usize) -> Vec<Side> {
    let first = |at: u32| (f64::from(at) / f64::from(model.processes[d]) * f64::from(model.mesh[d])) as i64;
    (0..model.processes[d]).map(|at| (first(at), first(at + 1) - 1)).collect()
}

/// Columns and rows of ranks over a plane of the mesh, of the smallest parts.
fn plane(ranks: u32, width: u32, height: u32) -> (u32, u32) {
    if height > ranks {
        return (1, ranks);
    }
    let (mut best, mut least, mut largest) = ((1, ranks), u32::MAX, 0);
    for columns in (1..=ranks).filter(|columns| ranks.is_multiple_of(*columns)) {
        let rows = ranks / columns;
        let (wide, high) = (width.div_ceil(columns), height.div_ceil(rows));
        if wide + high < least || wide + high == least && wide * high > largest {
            (best, least, largest) = ((columns, rows), wide + high, wide * high);
        }
    }
    best
}

/// The two factors that are nearest to each other, the smaller first.
fn factors(ranks: u32) -> (u32, u32) {
    let few = (1..=ranks.isqrt()).rev().find(|few| ranks.is_multiple_of(*few)).unwrap_or(1);
    (few, ranks / few)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_are_those_whose_regions_overlap() {
        for ranks in [24, 64, 60, 600] {
            let model = Model::new([1, 1, 1], ranks);
            let transposes = Transposes::new(&model);
            for rank in 0..ranks {
                let [_, ny, nz] = model.processes;
                let at = [rank / nz / ny, rank / nz % ny, rank % nz];
                let bricks = std::array::from_fn(|d| brick(&model, d)[at[d] as usize]);
                assert_eq!(transposes.layouts[BRICK].region(rank), bricks);
                for (lines, whole) in [LINES_X, LINES_Y, LINES_Z].into_iter().zip(0..) {
                    let side = transposes.layouts[lines].region(rank)[whole];
                    assert_eq!(side, (0, i64::from(model.mesh[whole]) - 1));
                }
            }
            for (number, (from, to, bytes)) in ORDER.map(|step| STEPS[step]).into_iter().enumerate() {
                let points = |a: u32, b: u32| {
                    let (a, b) = (transposes.layouts[from].region(a), transposes.layouts[to].region(b));
                    let side = |(a, b): (&Side, &Side)| (a.1.min(b.1) + 1 - a.0.max(b.0)).max(0) as u64;
                    a.iter().zip(&b).map(side).product::<u64>()
                };
                for rank in 0..ranks {
                    let others = || (1..ranks).map(|distance| (rank + distance) % ranks);
                    let send =
                        others().map(|to| (to, points(rank, to) * bytes)).filter(|&(_, bytes)| bytes > 0);
                    let receive = others().filter(|&from| points(from, rank) > 0);
                    let expected = Partners { send: send.collect(), receive: receive.collect() };
                    assert_eq!(
                        *transposes.partners(rank, number),
                        expected,
                        "rank {rank}, transpose {number}"
                    );
                }
            }
            let whole = |layout: &Layout| (0..ranks).map(|rank| size(&layout.region(rank))).sum::<u64>();
            let points = model.mesh.iter().map(|&points| u64::from(points)).product::<u64>();
            assert!(transposes.layouts.iter().all(|layout| whole(layout) == points));
        }
    }

    fn size(region: &[Side; 3]) -> u64 {
        region.iter().map(|side| (side.1 + 1 - side.0) as u64).product()
    }
}
