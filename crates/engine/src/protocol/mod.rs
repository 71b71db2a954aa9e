//! The protocol seam: congestion control at the source, the destination and the switch. One kind a file.
use crate::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[congestion_control]`: the list of kinds, one line each.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[allow(missing_docs)] // the schema takes the text of each kind's struct
pub enum CongestionControl {
    /// No congestion control: sources send what they have, round robin.
    #[default]
    None,
    Ecn(Ecn),
    Lhrp(Lhrp),
}

/// Explicit congestion notification after InfiniBand: marks at the root of congestion, an inter-packet delay per send
/// queue at the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ecn {
    /// How a mark returns to the source.
    pub notify: Notify,
    /// Flits waiting for an output (all inputs and its output queue) above which packets are marked, if the channel has
    /// credits.
    pub threshold: Size,
    /// Added to the inter-packet delay by each notification.
    pub increment: Duration,
    /// Taken off the delay once per `timer` without a notification.
    pub decrement: Duration,
    /// Period of the decrement.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub timer: Duration,
}

impl Default for Ecn {
    fn default() -> Self {
        Self {
            notify: Notify::Acknowledgement,
            threshold: Size::Flits(192),
            increment: Duration::Cycles(24),
            decrement: Duration::Cycles(1),
            timer: Duration::Cycles(96),
        }
    }
}

/// How a mark returns to the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Notify {
    /// Echoed in the acknowledgement.
    Acknowledgement,
    /// As a control packet of its own, one per marked packet.
    Notification,
}

/// Last-hop reservation protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lhrp {
    /// Flits queued for an endpoint in its switch above which an arriving speculative packet is dropped.
    pub threshold: Size,
    /// Queueing time after which a speculative packet is dropped anywhere in the network; without it, never.
    pub fabric_drop: Option<Duration>,
    /// Refusals without a time in a row, to one destination, after which waiting small messages are coalesced into one
    /// reservation (only with `fabric_drop`).
    #[schemars(range(min = 1))]
    pub coalesce_after: u32,
}

impl Default for Lhrp {
    fn default() -> Self {
        Self { threshold: Size::Flits(1000), fabric_drop: None, coalesce_after: 3 }
    }
}
