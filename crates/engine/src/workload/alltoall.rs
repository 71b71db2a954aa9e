//! Data of every rank for every rank.
use super::mpi::collective::Operation;
use super::mpi::{self, Call, Repeated};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data of every rank for every rank, again and again: transposes, and the experts of a neural network. How it is cut into
/// messages is said in `mpi`. Source: ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alltoall {
    /// Size of the data of a rank for each other.
    pub message: Size,
    /// How often. Source: ours.
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

impl Bind for Alltoall {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let call = Call::new(Operation::Alltoall, setting.scale.bytes(self.message));
        let compute = self.compute.time(setting.scale).0;
        Ok(mpi::program(Repeated { call, iterations: self.iterations, compute }, setting))
    }
}
