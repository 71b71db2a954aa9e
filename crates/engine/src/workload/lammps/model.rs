//! How large the pieces of a rank are. The numbers are those of the public SWM model of LAMMPS (`lammps_model.h`), which fitted
//! them to runs of the application.

/// Lengths of the box of 32000 atoms, in Å.
const BOX: [f64; 3] = [55.0, 77.0, 36.3646 + 36.3615];
const ATOMS: u32 = 32_000;
/// Atoms nearer than this to a rank's part are its ghosts; the mesh reaches this far beyond it. In Å.
const GHOST_CUTOFF: f64 = 12.0;
const MESH_CUTOFF: f64 = 2.0;
/// The Ewald splitting parameter in 1/Å, and the error that the mesh may make.
const EWALD: f64 = 0.243177;
const ACCURACY: f64 = 0.033206;
/// Bytes for each Å³ of a border (ghosts, their forces, constraints, borders made anew), each Å² of a face (atoms that move),
/// each point of the mesh (charges, fields).
const GHOST_BYTES: f64 = 2.48839990371;
const FORCE_BYTES: f64 = 2.48841071356;
const CONSTRAINT_BYTES: f64 = 2.48841071356;
const BORDER_BYTES: f64 = 6.63563071593;
const ATOM_BYTES: f64 = 3.08673789851;
const CHARGE_BYTES: u64 = 8;
const FIELD_BYTES: u64 = 24;

/// What goes to a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Face {
    pub dimension: usize,
    /// Towards higher coordinates.
    pub up: bool,
    pub bytes: u64,
}

/// Faces in the order in which they are sent.
pub type Faces = Vec<Face>;

/// The box, the ranks in it, and the mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Lengths of the box in Å.
    lengths: [f64; 3],
    /// Ranks in each dimension.
    pub processes: [u32; 3],
    /// Points of the mesh in each dimension.
    pub mesh: [u32; 3],
}

impl Model {
    pub fn new(replicas: [u32; 3], ranks: u32) -> Self {
        let lengths = std::array::from_fn(|d| f64::from(replicas[d]) * BOX[d]);
        let atoms = replicas.iter().fold(f64::from(ATOMS), |atoms, count| atoms * f64::from(*count));
        Self { lengths, processes: processes(ranks, &lengths), mesh: mesh(atoms, &lengths) }
    }

    /// Whether the mesh's border would reach beyond the neighbouring rank's part.
    pub fn is_too_fine(&self) -> bool {
        (0..3).any(|d| MESH_CUTOFF >= self.side(d))
    }

    /// Length of a rank's part.
    fn side(&self, d: usize) -> f64 {
        self.lengths[d] / f64::from(self.processes[d])
    }

    /// Volumes of the borders, whole Å³, dimension by dimension: with `GHOST_CUTOFF` on all sides of those dealt with before.
    /// A border that is thicker than a rank's part comes in several pieces.
    fn borders_by(&self, factor: f64) -> Faces {
        let mut faces = Vec::new();
        let mut across = [self.side(0), self.side(1), self.side(2)];
        for d in 0..3 {
            let area: f64 = (0..3).filter(|&other| other != d).map(|other| across[other]).product();
            let pieces = (GHOST_CUTOFF / self.side(d) + 1.0) as u32;
            let mut sent = 0.0;
            for piece in 0..pieces {
                let volume =
                    if piece + 1 < pieces { area * self.side(d) } else { area * GHOST_CUTOFF - sent }.trunc();
                sent += volume;
                let bytes = (volume * factor + 0.5) as u64;
                faces.extend([false, true].map(|up| Face { dimension: d, up, bytes }));
            }
            across[d] += 2.0 * GHOST_CUTOFF;
        }
        faces
    }

    /// Positions of ghost atoms: x, y, z.
    pub fn ghosts(&self) -> Faces {
        self.borders_by(GHOST_BYTES)
    }

    /// Forces on ghost atoms, back: z, y, x.
    pub fn forces(&self) -> Faces {
        let faces = self.borders_by(FORCE_BYTES);
        faces.chunks(2).rev().flatten().copied().collect()
    }

    /// Positions under constraints.
    pub fn constraints(&self) -> Faces {
        self.borders_by(CONSTRAINT_BYTES)
    }

    /// Borders made anew after atoms have moved.
    pub fn borders(&self) -> Faces {
        self.borders_by(BORDER_BYTES)
    }

    /// Atoms that move to other ranks.
    pub fn atoms(&self) -> Faces {
        let face = |d: usize, up: bool| {
            let others: Vec<f64> = (0..3).filter(|&other| other != d).map(|other| self.side(other)).collect();
            let area = (others[0].trunc() * others[1]).trunc();
            Face { dimension: d, up, bytes: (area * ATOM_BYTES + 0.5) as u64 }
        };
        (0..3).flat_map(|d| [face(d, false), face(d, true)]).collect()
    }

    /// Charges on the mesh beyond a rank's part, to the ranks that own it: z, y, x.
    pub fn charges(&self, at: Vec<u32>) -> Faces {
        let faces = |d: usize| {
            let low = self.reach(d, at[d], -1.0);
            let high = self.reach(d, at[d] + 1, 1.0);
            let points = self.points_across(d, &at);
            [(false, low), (true, high)].map(|(up, depth)| {
                let bytes = depth * points * CHARGE_BYTES;
                Face { dimension: d, up, bytes }
            })
        };
        (0..3).rev().flat_map(faces).collect()
    }

    /// Fields on the mesh, to the ranks whose parts border on it: x, y, z.
    pub fn fields(&self, at: Vec<u32>) -> Faces {
        let faces = |d: usize| {
            // What the neighbour below needs above it, and the one above needs below it.
            let low = self.reach(d, at[d], 1.0);
            let high = self.reach(d, (at[d] + 1) % self.processes[d], -1.0);
            let points = self.points_across(d, &at);
            [(false, low), (true, high)].map(|(up, depth)| {
                let bytes = depth * points * FIELD_BYTES;
                Face { dimension: d, up, bytes }
            })
        };
        (0..3).flat_map(faces).collect()
    }

    /// Points of the mesh of a rank's part across dimension `d`: with their borders in the dimensions before `d`.
    fn points_across(&self, d: usize, at: &[u32]) -> u64 {
        let points = |other: usize| {
            let per = f64::from(self.mesh[other]) / f64::from(self.processes[other]);
            let own = (per * f64::from(at[other] + 1)) as u64 - (per * f64::from(at[other])) as u64;
            own + if other < d { self.border(other, at[other]) } else { 0 }
        };
        (0..3).filter(|&other| other != d).map(points).product()
    }

    /// Points of the mesh beyond both ends of a rank's part.
    fn border(&self, d: usize, at: u32) -> u64 {
        let (low, high) = (self.edge(d, at), self.edge(d, at + 1));
        let reach = MESH_CUTOFF / 2.0;
        let low_out = (self.points(d, low - reach) + 0.5) as i64;
        let high_out = (self.points(d, high + reach) + 0.5) as i64;
        let low_in = self.points(d, low) as i64;
        let high_in = self.points(d, high) as i64 - 1;
        low_out.abs_diff(low_in) + 2 + high_out.abs_diff(high_in) + 2
    }

    /// Points of the mesh that reach beyond the edge before rank `at`, downwards or upwards.
    fn reach(&self, d: usize, at: u32, sign: f64) -> u64 {
        let edge = self.edge(d, at);
        let out = rounded(self.points(d, edge + sign * MESH_CUTOFF / 2.0) + 0.5) as i64;
        let inside = rounded(self.points(d, edge)) as i64 - i64::from(sign > 0.0);
        out.abs_diff(inside) + 2
    }

    /// Where the part of rank `at` begins.
    fn edge(&self, d: usize, at: u32) -> f64 {
        f64::from(at) * self.lengths[d] / f64::from(self.processes[d])
    }

    /// A length in points of the mesh.
    fn points(&self, d: usize, length: f64) -> f64 {
        length * f64::from(self.mesh[d]) / self.lengths[d]
    }
}

/// Rounds to ten digits after the point, so that what should be whole is.
fn rounded(value: f64) -> f64 {
    (value * 1e10 + 0.5).floor() / 1e10
}

/// The grid of ranks of least surface.
fn processes(ranks: u32, lengths: &[f64; 3]) -> [u32; 3] {
    let [a, b, c] = [lengths[0] * lengths[1], lengths[0] * lengths[2], lengths[1] * lengths[2]];
    let (mut best, mut least) = ([1, 1, ranks], 2.0 * (a + b + c));
    for x in (1..=ranks).filter(|x| ranks.is_multiple_of(*x)) {
        let rest = ranks / x;
        for y in (1..=rest).filter(|y| rest.is_multiple_of(*y)) {
            let z = rest / y;
            let [fx, fy, fz] = [x, y, z].map(f64::from);
            let surface = a / fx / fy + b / fx / fz + c / fy / fz;
            if surface < least {
                (best, least) = ([x, y, z], surface);
            }
        }
    }
    best
}

/// The mesh: as coarse as the accuracy allows, with sides that have no prime factors but 2, 3 and 5.
fn mesh(atoms: f64, lengths: &[f64; 3]) -> [u32; 3] {
    std::array::from_fn(|d| {
        let length = lengths[d];
        let mut spacing = 1.0 / EWALD;
        let mut points = (length / spacing) as u32 + 1;
        let mut error = mesh_error(spacing, length, atoms, lengths);
        while error > ACCURACY {
            error = mesh_error(spacing, length, atoms, lengths);
            points += 1;
            spacing = length / f64::from(points);
        }
        (points..).find(|&points| is_smooth(points)).expect("there are such numbers without end")
    })
}

/// The error that a mesh makes in a dimension (Deserno, Holm 1998, equation 38, order 5).
fn mesh_error(spacing: f64, length: f64, atoms: f64, lengths: &[f64; 3]) -> f64 {
    const TERMS: [f64; 5] = [
        1.0 / 23232.0,
        7601.0 / 13628160.0,
        143.0 / 69120.0,
        517231.0 / 106536960.0,
        106640677.0 / 11737571328.0,
    ];
    let charge = 19.426017 * (atoms * lengths.iter().product::<f64>()).sqrt();
    let fine = spacing * EWALD;
    let sum = TERMS.iter().rev().fold(0.0, |sum, term| sum * fine * fine + term);
    let root = (EWALD * length * (2.0 * std::f64::consts::PI).sqrt() * sum / atoms).sqrt();
    charge * fine * fine * fine * fine * fine * root / (length * length)
}

fn is_smooth(mut number: u32) -> bool {
    for factor in [2, 3, 5] {
        while number.is_multiple_of(factor) {
            number /= factor;
        }
    }
    number == 1
}
