//! Workloads that do one collective operation again and again.
use super::{Call, Group, Op, Script};
use crate::problem::Problem;
use std::num::NonZero;

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
            /// Ranks of a group: each group does the operation by itself. Without it, all ranks are one. Source: ours.
            #[serde(default)]
            pub group: Option<std::num::NonZeroU32>,
            /// Distance of the ranks of a group: 1, one behind the other; with a stride of 8 and groups of 2, ranks 0 and 8, 1 and 9, … Source: ours.
            #[serde(default)]
            pub stride: Option<std::num::NonZeroU32>,
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
                let all = Repeated { call, iterations: self.iterations, compute, groups: None };
                let all = all.in_groups(self.group, self.stride, setting.ranks)?;
                setting.collective("message", call, all.first_group(setting.ranks))?;
                Ok(mpi::program(all, setting))
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
    /// Size and stride of the groups that do it, each by itself; none if all ranks are one.
    pub groups: Option<(u32, u32)>,
}

impl Repeated {
    /// The same in groups of `group` ranks with a `stride`, if there is a `group`; there are so many ranks.
    ///
    /// # Errors
    ///
    /// If ranks are left over.
    pub fn in_groups(
        self,
        group: Option<NonZero<u32>>,
        stride: Option<NonZero<u32>>,
        ranks: u32,
    ) -> Result<Self, Vec<Problem>> {
        let Some(size) = group.map(NonZero::get) else {
            let message = "there are no groups whose ranks it could set apart";
            let alone = stride.map(|_| vec![Problem::new("stride", message, "a size of groups, `group`")]);
            return alone.map_or(Ok(self), Err);
        };
        let stride = stride.map_or(1, NonZero::get);
        let block = u64::from(size) * u64::from(stride);
        if !u64::from(ranks).is_multiple_of(block) {
            let message =
                format!("{ranks} ranks cannot be put into groups of {size} with a stride of {stride}");
            return Err(vec![Problem::new("group", message, format!("ranks = a multiple of {block}"))]);
        }
        Ok(Self { call: self.call.among(1), groups: Some((size, stride)), ..self })
    }

    /// The group of the first rank.
    pub fn first_group(&self, ranks: u32) -> Group {
        self.groups.map_or(Group::whole(ranks), |(size, stride)| Group::around(0, size, stride))
    }
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

    fn groups(&self, rank: u32) -> Vec<Group> {
        self.groups.iter().map(|&(size, stride)| Group::around(rank, size, stride)).collect()
    }
}
