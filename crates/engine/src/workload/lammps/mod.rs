//! LAMMPS: molecular dynamics.
//!
//! `model` says how large the pieces are that a rank owns and what their borders hold, `layout` how the transposes of the
//! Fourier transform move a grid between its layouts; this file is the time step made of them.
use super::grid::Grid;
use super::mpi::{self, Call, Op, Script};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::Duration;
use layout::Transposes;
use model::{Faces, Model};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod layout;
mod model;

/// The communication of LAMMPS's rhodopsin benchmark with particle-particle particle-mesh forces: ranks stand in a periodic
/// three-dimensional grid. In each time step: two allreduces of 48 B; the ghost atoms are sent to the six neighbours; the
/// charges to the mesh's neighbours; 13 transposes of Fourier transforms with up to 63 partners each; the fields to the
/// neighbours; an allreduce of 48 B; the ghosts' forces, and constraints, to the neighbours; allreduces of 8 B and 48 B. From
/// the sixth step on it is checked by an allreduce of 4 B whether atoms have moved too far; about every tenth step they have,
/// and are exchanged.
///
/// Sends to neighbours are blocking, one face after the other. Source: SWM `lammps_workload.json`, 2048 ranks (a grid of
/// 8 × 16 × 16), 30 steps of 3 × 3 × 3 replicas of a box of 32000 atoms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lammps {
    /// Time steps. Source: SWM, 30.
    #[serde(default = "default_steps")]
    #[schemars(range(max = 1_000_000))]
    pub steps: u32,
    /// Replicas of the box of 32000 atoms in x, y and z. Source: SWM, 3 each.
    #[serde(default = "default_replicas")]
    #[schemars(inner(range(max = 10_000)))]
    pub replicas: [std::num::NonZeroU32; 3],
    /// Computing at the beginning of each step. Source: SWM models it, and divides it by 10⁶: none.
    #[serde(default = "default_compute")]
    pub compute: Duration,
}

fn default_steps() -> u32 {
    30
}

pub(super) fn default_replicas() -> [std::num::NonZeroU32; 3] {
    [std::num::NonZeroU32::new(3).expect("it is 3"); 3]
}

fn default_compute() -> Duration {
    Duration::Ps(0)
}

impl Bind for Lammps {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let compute = self.compute.time(setting.scale).0;
        let replicas = self.replicas.map(|count| count.get());
        Ok(mpi::program(Steps::new(self.steps, replicas, compute, setting.ranks)?, setting))
    }
}

/// Sections of a time step: the beginning, the mesh's borders, the transposes, the end.
const SECTIONS: u64 = 3 + layout::TRANSPOSES as u64;

/// Allreduces of a step, in bytes: pressure, temperature, energy; whether atoms have moved; what follows an exchange of atoms.
const PRESSURE: u64 = 48;
const TEMPERATURE: u64 = 8;
const MOVED: u64 = 4;
const AFTER_EXCHANGE: usize = 5;

/// A bound [`Lammps`].
#[derive(Debug)]
pub(super) struct Steps {
    steps: u32,
    compute: u64,
    grid: Grid,
    model: Model,
    transposes: Transposes,
    /// For each step, whether it is checked that atoms have moved, and whether they have.
    moves: Vec<(bool, bool)>,
}

impl Steps {
    pub(super) fn new(
        steps: u32,
        replicas: [u32; 3],
        compute: u64,
        ranks: u32,
    ) -> Result<Self, Vec<Problem>> {
        let model = Model::new(replicas, ranks);
        if model.is_too_fine() {
            let message = format!(
                "{ranks} ranks are too many for the box: a rank's part is smaller than the mesh's border"
            );
            return Err(vec![Problem::new("ranks", message, "fewer ranks, or more replicas")]);
        }
        let grid = Grid::new(&model.processes);
        let transposes = Transposes::new(&model);
        Ok(Self { steps, compute, grid, moves: moves(steps), model, transposes })
    }

    /// Number of sections of some steps.
    pub(super) fn sections(steps: u32) -> u64 {
        u64::from(steps) * SECTIONS
    }

    /// Face by face: a receive from one side, a blocking send to the other.
    fn exchange(&self, rank: u32, faces: &Faces, ops: &mut Vec<Op>) {
        for face in faces {
            let (to, from) = self.sides(rank, face.dimension, face.up);
            ops.push(Op::Irecv { from, tag: 0, request: 0 });
            ops.push(Op::Send { to, bytes: face.bytes, tag: 0 });
            ops.push(Op::Wait { first: 0, count: 1 });
        }
    }

    /// The neighbour that a face goes to, and the one on the other side.
    fn sides(&self, rank: u32, dimension: usize, up: bool) -> (u32, u32) {
        (self.grid.around(rank, dimension, up), self.grid.around(rank, dimension, !up))
    }

    /// Atoms move to other ranks, and the borders are made anew.
    fn exchange_atoms(&self, rank: u32, ops: &mut Vec<Op>) {
        for pair in self.model.atoms().chunks(2) {
            let (to, from) = self.sides(rank, pair[0].dimension, pair[0].up);
            // How many atoms there will be is told first.
            ops.push(Op::Exchange { to: from, bytes: MOVED, from: to, tag: 0 });
            let both = if to == from { &pair[..1] } else { pair };
            if to != from {
                ops.push(Op::Exchange { to, bytes: MOVED, from, tag: 0 });
            }
            self.exchange(rank, &both.to_vec(), ops);
        }
        for face in self.model.borders() {
            let (to, from) = self.sides(rank, face.dimension, face.up);
            ops.push(Op::Exchange { to: from, bytes: MOVED, from: to, tag: 0 });
            self.exchange(rank, &vec![face], ops);
        }
        ops.extend([Op::Collective(Call::allreduce(MOVED)); AFTER_EXCHANGE]);
    }

    fn begin(&self, rank: u32, step: u64, ops: &mut Vec<Op>) {
        if self.compute > 0 {
            ops.push(Op::Compute(self.compute));
        }
        ops.extend([Op::Collective(Call::allreduce(PRESSURE)); 2]);
        let (checked, moved) = self.moves[step as usize];
        if checked {
            ops.push(Op::Collective(Call::allreduce(MOVED)));
        }
        if moved {
            self.exchange_atoms(rank, ops);
        } else {
            self.exchange(rank, &self.model.ghosts(), ops);
        }
    }

    fn transpose(&self, rank: u32, number: usize, ops: &mut Vec<Op>) {
        let partners = self.transposes.partners(rank, number);
        let receives = (0..).zip(&partners.receive);
        ops.extend(receives.map(|(request, &from)| Op::Irecv { from, tag: 0, request }));
        let count = partners.receive.len() as u32;
        let sends = (count..).zip(&partners.send);
        ops.extend(sends.map(|(request, &(to, bytes))| Op::Isend { to, bytes, tag: 0, request }));
        ops.push(Op::Wait { first: 0, count });
        ops.push(Op::Wait { first: count, count: partners.send.len() as u32 });
    }

    fn end(&self, rank: u32, ops: &mut Vec<Op>) {
        self.exchange(rank, &self.model.fields(self.grid.coordinates(rank)), ops);
        ops.push(Op::Collective(Call::allreduce(PRESSURE)));
        self.exchange(rank, &self.model.forces(), ops);
        self.exchange(rank, &self.model.constraints(), ops);
        ops.push(Op::Collective(Call::allreduce(TEMPERATURE)));
        ops.push(Op::Collective(Call::allreduce(PRESSURE)));
    }
}

/// LAMMPS checks from the sixth step after the last exchange on, in every step; SWM lets atoms have moved too far when 0.196 for
/// each check add up to 1.
fn moves(steps: u32) -> Vec<(bool, bool)> {
    const DELAY: u32 = 5;
    const SHARE: f64 = 0.196_428_571_429;
    let (mut since, mut sum) = (0, 0.0);
    let mut step = || {
        if since < DELAY {
            since += 1;
            return (false, false);
        }
        sum += SHARE;
        let moved = sum > 1.0;
        if moved {
            sum -= 1.0;
            since = 0;
        } else {
            since += 1;
        }
        (true, moved)
    };
    (0..steps).map(|_| step()).collect()
}

impl Script for Steps {
    fn section(&self, rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        if number >= Self::sections(self.steps) {
            return false;
        }
        match number % SECTIONS {
            0 => self.begin(rank, number / SECTIONS, ops),
            1 => self.exchange(rank, &self.model.charges(self.grid.coordinates(rank)), ops),
            last if last == SECTIONS - 1 => self.end(rank, ops),
            transpose => self.transpose(rank, transpose as usize - 2, ops),
        }
        true
    }

    fn iteration(&self) -> u64 {
        SECTIONS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocking sends with their bytes, non-blocking sends with theirs, and the allreduces of a rank's step.
    fn traffic(steps: &Steps, rank: u32, step: u64) -> ((u32, u64), (u32, u64), Vec<u64>) {
        let (mut sends, mut isends, mut allreduces) = ((0, 0), (0, 0), Vec::new());
        let mut ops = Vec::new();
        for section in step * SECTIONS..(step + 1) * SECTIONS {
            assert!(steps.section(rank, section, &mut ops));
        }
        for op in ops {
            match op {
                Op::Send { bytes, .. } => sends = (sends.0 + 1, sends.1 + bytes),
                Op::Isend { bytes, .. } => isends = (isends.0 + 1, isends.1 + bytes),
                Op::Collective(call) => allreduces.push(call.bytes),
                _ => {}
            }
        }
        (sends, isends, allreduces)
    }

    /// What the public workload sends, by its own count.
    #[test]
    fn messages_and_bytes_of_a_step_are_those_of_the_public_workload() {
        let steps = Steps::new(11, [3; 3], 0, 2048).unwrap();
        assert_eq!(steps.grid.sides(), [8, 16, 16]);
        assert_eq!(traffic(&steps, 0, 0), ((30, 493_474), (491, 38_552), vec![48, 48, 48, 8, 48]));
        assert_eq!(traffic(&steps, 0, 5).2, [48, 48, 4, 48, 8, 48]);
        assert_eq!(traffic(&steps, 0, 10).0, (36, 748_984));
        let steps = Steps::new(1, [3; 3], 0, 1024).unwrap();
        assert_eq!(steps.grid.sides(), [8, 16, 8]);
        assert_eq!(traffic(&steps, 0, 0), ((30, 656_962), (307, 86_208), vec![48, 48, 48, 8, 48]));
    }

    #[test]
    fn the_faces_of_2048_ranks_are_those_of_the_public_workload() {
        let steps = Steps::new(1, [3; 3], 0, 2048).unwrap();
        let bytes = |faces: Faces| faces.iter().map(|face| face.bytes).collect::<Vec<_>>();
        assert_eq!(bytes(steps.model.ghosts()), [5878, 5878, 18170, 18170, 51219, 51219]);
        assert_eq!(bytes(steps.model.charges(vec![0; 3])), [2464, 4928, 1120, 1680, 480, 720]);
        assert_eq!(bytes(steps.model.fields(vec![0; 3])), [2160, 1440, 5040, 3360, 11088, 7392]);
    }

    #[test]
    fn what_is_sent_in_a_transpose_is_what_is_received() {
        let steps = Steps::new(1, [1; 3], 0, 60).unwrap();
        for number in 0..layout::TRANSPOSES {
            for rank in 0..60 {
                for (to, _) in &steps.transposes.partners(rank, number).send {
                    let there = steps.transposes.partners(*to, number);
                    assert!(there.receive.contains(&rank), "{number}: {rank} to {to}");
                }
            }
        }
    }
}
