//! Priority flow control with dynamic thresholds.
use super::{Ahead, LinkControl, Sharing, headroom};
use crate::core::plan::capped;
use crate::problem::Problem;
use crate::units::{Duration, Scale, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Priority flow control (as `pfc`) of switches whose input buffers share memory, with thresholds that fall as it fills.
///
/// A buffer takes nothing of the shared memory up to `reserve`. What it holds beyond may be up to `alpha` times what is free of it: a packet
/// that comes when that is too little for it goes into the headroom, which each buffer has for itself, and its sender is paused until the
/// headroom is empty again and the rest at least `xon_offset` below the threshold, as found when something leaves the buffer. With n buffers
/// that ask for all they can get, each has `alpha` / (1 + n `alpha`) of the shared memory.
///
/// A. K. Choudhury, E. L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM Transactions on Networking 6(2),
/// 1998; as the switches of RoCE networks have it at their inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PfcDynamic {
    /// Memory that all input buffers of a switch share, beside their own (`input_buffer` of each virtual channel).
    pub shared: Size,
    /// Part of what is free of the shared memory up to which a buffer may hold some of it.
    #[schemars(range(max = 1000.0), extend("exclusiveMinimum" = 0))]
    pub alpha: f64,
    /// What a buffer holds of its own; without it, all of it but the headroom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserve: Option<Size>,
    /// How far below its threshold a buffer is when its sender may resume, unless it holds none of the shared memory; without it, two largest
    /// packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon_offset: Option<Size>,
    /// Time from crossing a threshold until the sender obeys, beyond that of a credit (as under `pfc`).
    pub response: Duration,
}

impl Default for PfcDynamic {
    fn default() -> Self {
        Self {
            shared: Size::Bits(8_000_000 * 8),
            alpha: 0.125,
            reserve: None,
            xon_offset: None,
            response: Duration::Ps(0),
        }
    }
}

impl LinkControl for PfcDynamic {
    fn response(&self) -> Option<Duration> {
        Some(self.response)
    }

    /// When nothing is free of the shared memory.
    fn thresholds(&self, room: u64, scale: &Scale) -> (u64, u64) {
        let reserve = self.reserve.map_or(room, |size| size.flits(scale));
        (reserve, reserve)
    }

    fn sharing(&self, scale: &Scale) -> Option<Sharing> {
        let offset = self.xon_offset.map_or(2 * scale.packet_flits, |size| size.flits(scale));
        Some(Sharing { flits: capped(self.shared.flits(scale)), alpha: self.alpha, offset: capped(offset) })
    }

    fn problems(&self, ahead: Ahead, scale: &Scale, links: &str) -> Vec<Problem> {
        let reserve = self.reserve.map(|size| size.flits(scale));
        headroom::problem("reserve", reserve, ahead, links).into_iter().collect()
    }
}
