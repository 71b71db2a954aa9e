//! The sum of all vectors to all ranks.
use super::mpi::collective::Operation;
use super::mpi::{self, Call, Repeated};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sum of all ranks' vectors to all ranks, again and again: the training of neural networks. How it is cut into messages
/// is said in `mpi`. Source: ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allreduce {
    /// Size of a rank's vector.
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

impl Bind for Allreduce {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let call = Call::new(Operation::Allreduce, setting.scale.bytes(self.message));
        let compute = self.compute.time(setting.scale).0;
        Ok(mpi::program(Repeated { call, iterations: self.iterations, compute }, setting))
    }
}
