//! Congestion management of SST: switches find incasts and tell their sources what part of the target's rate is theirs.
mod incast;
mod throttle;

use super::abatement::{self, Variant};
use super::reach::Reach;
use super::signal::Passage;
use super::{Agent, Scheme, idle};
use crate::core::plan::{Plan, Share};
use crate::nic::{NicSet, Nics};
use crate::units::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// SST_CM: a switch that finds many sources with much data for one of its endpoints tells them to pause, and then to send to
/// that endpoint at an equal share of its rate.
///
/// # What it does
///
/// A switch tracks the streams (sources) towards every endpoint of its own. When there are `streams` of them with `outstanding`
/// flits in the switch, each source is told to send nothing to that endpoint for `pause` times the time that the outstanding
/// data take, and then to send at 1/N of the rate, where N is the number of streams; all are told again when N grows. A stream
/// ends when none of its packets has come for `expiry` · N times the time of one `mtu`; its source is told so, and the others
/// are told their larger share. When fewer than `streams` are left, all are free. Traffic to other endpoints is not throttled.
///
/// Data count from when they have passed the pipeline until they start on the channel. The pause is that of all data for the endpoint in the
/// switch and, as published, comes once to each stream; `outstanding` counts only those of streams, which smaller packets neither begin nor
/// keep. A stream's life begins behind its pause. A larger share does not cut a gap or a pause short, an end does; with one stream the rate is
/// 256/257. An order that a later one about its endpoint has overtaken (in band) changes nothing.
///
/// # Where it acts
///
/// Switch (tracking, orders), source (pause and rate of the send queue for that destination).
///
/// # Parameters
///
/// `streams`, `outstanding`, `pause` and `expiry` are the paper's. `smallest` is the code's.
///
/// # Paper
///
/// N. McGlohon, K. S. Hemmert, K. A. Brown, M. Levenhagen, S. Chunduri, R. B. Ross, C. D. Carothers, "Exploration of
/// Congestion Control Techniques on Dragonfly-class HPC Networks Through Simulation", PMBS 2021, section III-B.
///
/// # Differences from the paper
///
/// The pause delays a stream's end, or streams would end in their own pause. `variant = "as coded"`: the pause comes with
/// every growth of N; a source sends at 1/(N + 2); expiry counts N + 1 streams and is 5 instead of `expiry` while sources are
/// throttled; a stream's end is looked for only when a packet leaves for the endpoint. (In that code a source has one
/// first-in first-out queue, so that a throttled destination holds up all others: `[endpoint] queues = "fifo"` for that.)
/// `variant = "drain margin"`: while the backlog is not below a quarter of `outstanding` again, sources share `margin` of the
/// rate, and streams last twice as long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SstCm {
    /// The algorithm.
    pub variant: Variant,
    /// How orders travel: a latency, "path" or "in band". Source: paper, as fast as the empty network allows.
    pub signals: Passage,
    /// Streams that make an incast. Source: paper, section IV-C (code: 6).
    #[schemars(range(min = 1))]
    pub streams: u32,
    /// Data of the streams in the switch that make an incast. Source: paper, section IV-C (code: twice the output buffer).
    pub outstanding: Size,
    /// First pause, in times of the outstanding data; at most 2³² − 1 ticks. Source: paper, section IV-C.
    #[schemars(range(min = 0.0, max = 1000000.0))]
    pub pause: f64,
    /// A stream has ended when nothing of it has come for this many times the time of one mtu from each stream. Source: paper,
    /// section IV-C.
    #[schemars(range(min = 0.1, max = 1000000.0))]
    pub expiry: f64,
    /// The unit of that silence; without it, the largest packet. Source: code, 2 kB.
    pub mtu: Option<Size>,
    /// Smaller packets make no stream. Source: code, 128 B.
    pub smallest: Size,
    /// With `variant = "drain margin"`: part of the target's rate that its sources share while its backlog drains.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub margin: f64,
}

impl Default for SstCm {
    fn default() -> Self {
        Self {
            variant: Variant::Published,
            signals: Passage::Path,
            streams: 8,
            outstanding: Size::Bits(32_000 * 8),
            pause: 4.0,
            expiry: 1.5,
            mtu: None,
            smallest: Size::Bits(128 * 8),
            margin: 0.9,
        }
    }
}

impl Scheme for SstCm {
    fn knows_priorities(&self) -> bool {
        false
    }

    fn knows_flows(&self) -> bool {
        false
    }

    fn remarks(&self, plan: &Plan) -> Vec<String> {
        let outstanding = plan.flits(self.outstanding);
        let margin = self.variant != Variant::DrainMargin && self.margin != Self::default().margin;
        let reach = Reach::of_data(plan).warning("outstanding", outstanding, "an incast is found");
        reach.into_iter().chain(idle("margin", margin, abatement::DRAIN_MARGIN)).collect()
    }

    fn passage(&self) -> Option<Passage> {
        Some(self.signals)
    }

    fn per_destination(&self) -> bool {
        false
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        Box::new(NicSet::new(throttle::Throttle::new(self, plan, acknowledge), plan, share))
    }

    fn agent(&self, plan: &Plan, share: &Share) -> Box<dyn Agent> {
        Box::new(incast::Tracker::new(self, plan, share))
    }
}
