//! Single-application assignment: explicit rates by which all flows of a phase end as early as their routes allow.
use super::explicit::{Asking, Explicit};
use super::{Scheme, Told};
use crate::core::plan::{Plan, Share};
use crate::nic::injection::Injection;
use crate::nic::{NicSet, Nics};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Explicit rates for the phases of one application: every flow gets its share of the busiest link on its way.
///
/// # What it does
///
/// A flow (a message) of weight w announces itself to the links on its way before its first packet, asks them from time to time
/// how much they have to carry, and signs off after its last packet. Its rate is w / W, where W is the longest time that any
/// link on its path needs for all its flows. Then no link has more than it can carry, and all flows end within the largest W;
/// no other rates are faster on these routes.
///
/// # Where it acts
///
/// Source (announces, probes, ends; injects by rate), switches (each link keeps the flits of its flows), destination (sends the
/// control packets back).
///
/// # Parameters
///
/// The paper gives none. A probe that brings no news doubles the time to the next; one that does puts it back to
/// `probe_period`. Without `hold` the first flows to be announced begin at rates that know nothing of the others, and fill
/// buffers that fully loaded links never drain: the six flows of the paper's Fig. 1 then take 4.3 to 4.5 ms instead of 4.
///
/// # Paper
///
/// Y. Birk, V. Zdornov, "Improving communication-phase completion times in HPC clusters through congestion mitigation",
/// SYSTOR 2009, sections 5 and 6.
///
/// # Differences from the paper
///
/// The announcement travels in the packet that sets up a route (`flow-adaptive`) and the leave in the one that removes it. With
/// `piggyback` data ask in place of probes, as the paper allows; before its first data a flow sends probes all the same, and its
/// last packet does not ask. The endpoint's own channel counts as a link of the way without being asked. `hold` is ours. In
/// the paper a link takes a flow's weight off when it receives the leave; here when that has waited there behind the flow's last data
/// and goes on, since probes overtake data and would find the link lighter than it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Saa {
    /// How the flows of a source take turns.
    pub injection: Injection,
    /// Shortest time between two probes of a flow.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub probe_period: Duration,
    /// Time from the return of a flow's announcement to its first data. Over `probe_period` and a round trip, data start at rates that know of
    /// all flows announced meanwhile.
    pub hold: Duration,
    /// Whether data packets ask the links on their way. Each carries the load that its source knows and collects what it meets; the
    /// destination sends that back only if it differs. Once data flow there are no probes.
    pub piggyback: bool,
}

impl Default for Saa {
    fn default() -> Self {
        Self {
            injection: Injection::PeriodicSelection,
            probe_period: Duration::Ps(10_000_000),
            hold: Duration::Ps(20_000_000),
            piggyback: false,
        }
    }
}

impl Scheme for Saa {
    fn knows_priorities(&self) -> bool {
        false
    }

    fn told(&self) -> Option<Told> {
        Some(Told::Load)
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let asking = Asking { probe_period: self.probe_period, hold: self.hold, piggyback: self.piggyback };
        let source = Explicit::new(plan, (Told::Load, asking), self.injection, acknowledge);
        Box::new(NicSet::new(source, plan, share))
    }
}
