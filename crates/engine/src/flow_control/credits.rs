//! Credits.
use super::LinkControl;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sender counts the room ahead: a packet starts if all of it fits. InfiniBand, Slingshot and most HPC networks do so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Credits {}

impl LinkControl for Credits {}
