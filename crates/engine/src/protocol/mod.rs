//! The protocol seam: congestion control at the source, the destination and the switch. One kind a file.
use crate::units::{Duration, Size};
/// `[congestion_control]`
#[derive(Debug, Clone)]
pub enum CongestionControl {
    /// "none"
    None,
    /// "ecn"
    Ecn(Ecn),
    /// "lhrp"
    Lhrp(Lhrp),
}
/// Explicit congestion notification after InfiniBand: marks at the root of congestion, an inter-packet delay per send
/// queue at the source.
#[derive(Debug, Clone)]
pub struct Ecn {
    /// How a mark returns: "acknowledgement" (echoed in the acknowledgement; default) or "notification" (one control
    /// packet per marked packet).
    pub notify: Notify,
    /// Flits waiting for an output (all inputs and its output queue) above which packets are marked, if the channel has
    /// credits (default "192 flits").
    pub threshold: Size,
    /// Added to the inter-packet delay by each notification (default "24 cycles").
    pub increment: Duration,
    /// Taken off the delay once per `timer` without a notification (default "1 cycles").
    pub decrement: Duration,
    /// Period of the decrement (default "96 cycles").
    pub timer: Duration,
}
/// How a mark returns to the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notify {
    /// In the acknowledgement.
    Acknowledgement,
    /// As a control packet of its own.
    Notification,
}
/// Last-hop reservation protocol.
#[derive(Debug, Clone)]
pub struct Lhrp {
    /// Flits queued for an endpoint in its switch above which an arriving speculative packet is dropped
    /// (default "1000 flits").
    pub threshold: Size,
    /// Queueing time after which a speculative packet is dropped anywhere in the network (default: never).
    pub fabric_drop: Option<Duration>,
    /// Refusals without a time in a row, to one destination, after which waiting small messages are coalesced into one
    /// reservation (default 3; only with `fabric_drop`).
    pub coalesce_after: u32,
}
