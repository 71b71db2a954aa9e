//! The layouts of the mesh that a Fourier transform goes through, and who sends what to whom from one to the next.
use super::model::Model;
use std::sync::OnceLock;

/// Transposes of a time step: one transform forwards and three backwards.
pub const TRANSPOSES: usize = 13;

/// Points of the mesh: in each dimension from a first to a last; nothing where the last is before the first.
type Region = [(i64, i64); 3];

/// A layout: the region of each rank. In the brick layout a rank owns its part of the box, in the others whole lines in x, y or z.
type Layout = Vec<Region>;

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
        let layout = |region: &dyn Fn(u32) -> Region| (0..ranks).map(region).collect();
        let (columns, rows) = plane(ranks, model.mesh[1], model.mesh[2]);
        let (few, many) = factors(ranks);
        let share = |points: u32, number: u32, of: u32| {
            let first = |number: u32| i64::from(number) * i64::from(points) / i64::from(of);
            (first(number), first(number + 1) - 1)
        };
        let [x, y, z] = model.mesh;
        let whole = |points: u32| (0, i64::from(points) - 1);
        let layouts = [
            layout(&|rank| brick(model, rank)),
            layout(&|rank| [whole(x), share(y, rank % columns, columns), share(z, rank / columns, rows)]),
            layout(&|rank| [share(x, rank % few, few), whole(y), share(z, rank / few, many)]),
            layout(&|rank| [share(x, rank % few, few), share(y, rank / few, many), whole(z)]),
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
        let (before, after) = (&self.layouts[from], &self.layouts[to]);
        let ranks = before.len() as u32;
        let mut partners = Partners::default();
        for other in (1..ranks).map(|distance| (rank + distance) % ranks) {
            let points = overlap(&before[rank as usize], &after[other as usize]);
            if points > 0 {
                partners.send.push((other, points * bytes));
            }
            if overlap(&before[other as usize], &after[rank as usize]) > 0 {
                partners.receive.push(other);
            }
        }
        partners
    }
}

/// Points that two regions have in common.
fn overlap(a: &Region, b: &Region) -> u64 {
    let mut points = 1;
    for (a, b) in a.iter().zip(b) {
        let side = a.1.min(b.1) + 1 - a.0.max(b.0);
        if side <= 0 {
            // Most pairs are apart in the first dimension.
            return 0;
        }
        points *= side as u64;
    }
    points
}

/// A rank's part of the box.
fn brick(model: &Model, rank: u32) -> Region {
    let [_, ny, nz] = model.processes;
    let at = [rank / nz / ny, rank / nz % ny, rank % nz];
    std::array::from_fn(|d| {
        let first =
            |at: u32| (f64::from(at) / f64::from(model.processes[d]) * f64::from(model.mesh[d])) as i64;
        (first(at[d]), first(at[d] + 1) - 1)
    })
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
