//! Uniform random traffic.
use super::{Bind, Binding, Destinations};
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every message goes to a random endpoint of the class.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {}

impl Bind for Uniform {
    fn bind(&self, _binding: Binding) -> Result<Box<dyn Destinations>, Vec<Problem>> {
        Err(vec![Problem::new("pattern", "this pattern is not there yet", "")])
    }
}
