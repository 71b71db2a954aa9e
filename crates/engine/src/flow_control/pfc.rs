//! Priority flow control.
use super::{Ahead, LinkControl, headroom};
use crate::problem::Problem;
use crate::units::{Duration, Scale, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Priority flow control of lossless Ethernet (IEEE 802.1Qbb): a sender goes on until it is paused, and again when it may resume. Each
/// virtual channel is a priority of its own.
///
/// A buffer has its sender paused once it holds more than `xoff`, and has it resume once it holds `xon` or less; both orders take as long
/// as a credit, and `response`. What comes until a pause is obeyed needs room too, the *headroom*: a round trip and a largest packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pfc {
    /// Fill of a virtual channel's input buffer above which its sender is paused; without it, all that the headroom leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Size>,
    /// Fill at which it resumes; without it, two largest packets under `xoff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon: Option<Size>,
    /// Time from crossing a threshold until the sender obeys, beyond that of a credit: for the packet under way on the channel back, which
    /// the order waits for (120 ns for 1500 B at 100 Gb/s), and to make and to understand it (some 100 ns).
    pub response: Duration,
}

impl Default for Pfc {
    fn default() -> Self {
        Self { xoff: None, xon: None, response: Duration::Ps(0) }
    }
}

impl LinkControl for Pfc {
    fn response(&self) -> Option<Duration> {
        Some(self.response)
    }

    fn thresholds(&self, room: u64, scale: &Scale) -> (u64, u64) {
        let xoff = self.xoff.map_or(room, |size| size.flits(scale));
        let xon = self.xon.map_or(xoff.saturating_sub(2 * scale.packet_flits), |size| size.flits(scale));
        (xoff, xon)
    }

    fn problems(&self, ahead: Ahead, scale: &Scale, links: &str) -> Vec<Problem> {
        let (xoff, xon) = self.thresholds(ahead.flits.saturating_sub(ahead.headroom), scale);
        let crowded = headroom::problem("xoff", self.xoff.map(|size| size.flits(scale)), ahead, links);
        let message = || format!("{xon} flits are more than the {xoff} above which the sender is paused");
        let high = (xon > xoff).then(|| Problem::new("link.flow_control.xon", message(), "at most xoff"));
        crowded.into_iter().chain(high).collect()
    }
}
