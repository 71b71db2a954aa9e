//! Barriers, one after the other.
use super::mpi::{self, Call, Repeated, collective::Operation};
use super::{Application, Bind, Setting};
use crate::problem::Problem;
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nobody goes on before all ranks have come, again and again: what the network's latency costs an application that does
/// nothing but synchronise. The messages of a barrier are said in `mpi`. Source: ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Barrier {
    /// How often. Source: ours.
    pub iterations: u32,
    /// Computing before each. Source: ours.
    pub compute: Duration,
}

impl Default for Barrier {
    fn default() -> Self {
        Self { iterations: 1, compute: Duration::Ps(0) }
    }
}

impl Bind for Barrier {
    fn bind(&self, setting: &Setting) -> Result<Box<dyn Application>, Vec<Problem>> {
        let call = Call::new(Operation::Barrier, 0);
        let compute = self.compute.time(setting.scale).0;
        Ok(mpi::program(Repeated { call, iterations: self.iterations, compute, groups: None }, setting))
    }
}
