//! RCCC: destinations give credit for what sources want to send, at the pace of their channel, as Ultra Ethernet has it.
mod credits;

use super::{Defaults, Scheme, unless_given};
use crate::core::Tick;
use crate::core::plan::{Plan, Share};
use crate::nic::{NicSet, Nics};
use crate::units::{Duration, Size};
pub use credits::{Account, Credits, Purse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// RCCC, receiver-credit congestion control, the receiver's part of the congestion control of Ultra Ethernet: a source sends what the destination has given it
/// credit for, and destinations give no more than their channel carries.
///
/// # What it does
///
/// A send queue may send `unsolicited` data at once. Beside the data, or in a request of its own where it may send none, it tells the
/// destination what else it has. The destination gives the sources that have told it of something credit in turn, one `quantum` each,
/// at `rate` of what it can take, as long as less than `outstanding` of what it gave has not come yet. A queue that has any credit, or
/// unsolicited data left, sends a packet; what the packet is longer goes off the next credit.
///
/// A source tells of what unsolicited data, its credit and what it told of before do not cover; what comes while it waits for credit it tells
/// beside its next data, or in a request once credit has come for all that it told of. Credits are as far apart as the data take at `rate`,
/// and at least a tick, and stand behind the acknowledgement of what came in the same tick. What is sent without credit does not count in
/// `outstanding`.
///
/// A message to a destination that was sent to lately has no unsolicited data left, and waits a round trip for its credit: short messages
/// at a low load take that much longer than under other schemes.
///
/// # Where it acts
///
/// Source (waits for credit), destination (gives it). Nothing in the switches.
///
/// # Parameters
///
/// `quantum`, which it calls the specification's, and `rate` are those of the authors' simulator (htsim); `outstanding` is SIRD's. htsim has `unsolicited` of one
/// and a half round trips, and switches that trim what is too much; in a network without loss, that much from each of many sources to one
/// destination would stop all others until it has drained.
///
/// # Paper
///
/// Ultra Ethernet Consortium, "Ultra Ethernet Specification 1.0", 2025; T. Hoefler and others, "Ultra Ethernet's Design Principles and
/// Architectural Innovations", arXiv:2508.08906. What limits `outstanding`: K. Prasopoulos, R. Kosta, E. Bugnion, M. Kogias, "SIRD: A
/// Sender-Informed, Receiver-Driven Datacenter Transport Protocol", NSDI 2025.
///
/// # Differences from the paper
///
/// Requests and credits are differences, not running totals, since nothing is lost here. Without NSCC beside it, nothing acts on
/// congestion inside the network. A queue that was silent for `restart` begins anew, with `unsolicited` data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rccc {
    /// Data that a new queue may send without credit.
    pub unsolicited: Size,
    /// Credit given at a time. If it is less than a packet, sources send packets ahead of part of their credit, so that more than `outstanding`
    /// may be under way.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub quantum: Size,
    /// The part of the rate at which a destination takes data for which it gives credit.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub rate: f64,
    /// Credit given of which the data has not come, from which on a destination gives none. By default one and a half times what it can take
    /// in the longest round trip in the empty network by the fastest ways.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<Size>,
    /// Silence after which a queue begins anew. By default ten such round trips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<Duration>,
}

impl Default for Rccc {
    fn default() -> Self {
        let (unsolicited, quantum) = (Size::Packets(1), Size::Packets(4));
        Self { unsolicited, quantum, rate: 0.99, outstanding: None, restart: None }
    }
}

impl Rccc {
    /// What may be outstanding, in flits.
    fn outstanding(&self, plan: &Plan) -> u64 {
        let flits = u64::from(plan.packet_flits);
        let usual = (3 * plan.round_trip() * flits).div_ceil(2 * u64::from(plan.drain_time[flits as usize]));
        self.outstanding.map_or(usual, |size| plan.flits(size).into()).max(1)
    }

    fn restart(&self, plan: &Plan) -> Tick {
        self.restart.map_or(10 * plan.round_trip(), |time| plan.ticks(time))
    }

    /// The source on this network.
    pub(super) fn source(&self, plan: &Plan, acknowledge: bool) -> Credits {
        let packet = usize::from(plan.packet_flits);
        Credits {
            unsolicited: plan.flits(self.unsolicited).into(),
            quantum: u64::from(plan.flits(self.quantum)).max(1),
            outstanding: self.outstanding(plan) as i64,
            pace: f64::from(plan.drain_time[packet]) / packet as f64 / self.rate,
            restart: self.restart(plan),
            acknowledge,
            control: plan.control_class(),
            data: plan.data_class(),
        }
    }
}

impl Scheme for Rccc {
    fn knows_priorities(&self) -> bool {
        false
    }

    fn knows_flows(&self) -> bool {
        false
    }

    fn remarks(&self, plan: &Plan) -> Vec<String> {
        let (quantum, packet) = (plan.flits(self.quantum), plan.packet_flits);
        let small = (quantum < u32::from(packet)).then(|| {
            format!(
                "congestion_control.quantum: {quantum} flits, less than a packet ({packet}): credits take room from the data on the way \
                 back"
            )
        });
        Vec::from_iter(small)
    }

    fn defaults(&self, plan: &Plan) -> Defaults {
        let restart = json!(Duration::Ps(self.restart(plan) * plan.tick));
        unless_given([
            ("outstanding", self.outstanding.is_some(), json!(Size::Flits(self.outstanding(plan)))),
            ("restart", self.restart.is_some(), restart),
        ])
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        Box::new(NicSet::new(self.source(plan, acknowledge), plan, share))
    }
}
