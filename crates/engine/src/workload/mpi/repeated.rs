//! Workloads that do one collective operation again and again.
use super::{Call, Op, Script};

/// Defines a workload of one collective operation: its name and text, the operation, and what its `message` is the size of.
macro_rules! repeated {
    ($(#[$meta:meta])* pub struct $Kind:ident($operation:ident); $(#[$size:meta])*) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $Kind {
            $(#[$size])*
            pub message: crate::units::Size,
            /// How often. Source: ours.
            #[serde(default = "once")]
            pub iterations: u32,
            /// Computing before each. Source: ours.
            #[serde(default = "nothing")]
            pub compute: crate::units::Duration,
        }

        fn once() -> u32 {
            1
        }

        fn nothing() -> crate::units::Duration {
            crate::units::Duration::Ps(0)
        }

        impl crate::workload::Bind for $Kind {
            fn bind(
                &self,
                setting: &crate::workload::Setting,
            ) -> Result<Box<dyn crate::workload::Application>, Vec<crate::problem::Problem>> {
                use crate::workload::mpi::{self, Call, Repeated, collective::Operation};
                let call = Call::new(Operation::$operation, setting.scale.bytes(self.message));
                let compute = self.compute.time(setting.scale).0;
                Ok(mpi::program(Repeated { call, iterations: self.iterations, compute }, setting))
            }
        }
    };
}
pub(crate) use repeated;

/// A script that does one collective operation again and again.
#[derive(Debug)]
pub struct Repeated {
    /// Which.
    pub call: Call,
    /// How often.
    pub iterations: u32,
    /// Computing before each, in ps.
    pub compute: u64,
}

impl Script for Repeated {
    fn section(&self, _rank: u32, number: u64, ops: &mut Vec<Op>) -> bool {
        if number >= u64::from(self.iterations) {
            return false;
        }
        if self.compute > 0 {
            ops.push(Op::Compute(self.compute));
        }
        ops.push(Op::Collective(self.call));
        true
    }
}
