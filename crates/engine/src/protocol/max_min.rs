//! Max-min fair shares: explicit rates for flows that have nothing to do with each other.
use super::explicit::{Asking, Explicit};
use super::{Scheme, Told};
use crate::core::plan::{Plan, Share};
use crate::nic::injection::Injection;
use crate::nic::{NicSet, Nics};
use crate::units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Max-min fair rates for independent flows: no flow could get more except at the expense of one that has no more than it.
///
/// # What it does
///
/// A flow (a message) announces itself to the links on its way and asks them from time to time for a rate: for the rate that it
/// has or, if no link limited it to that last time, for as much as there is. Each link advertises the same rate to all its
/// flows: an equal share of what is left after flows that ask for less have got what they ask for. A flow gets the lowest rate
/// advertised on its path. From any starting point, and whenever flows come or go, the rates converge to those of water filling
/// within a few rounds of probes.
///
/// # Where it acts
///
/// Source (announces, probes, ends; injects by rate), switches (each link keeps the rate that each of its flows asked for, the
/// channel from an endpoint at its first switch), destination (sends the control packets back).
///
/// # Parameters
///
/// As those of `saa`, with which it is to be compared; `utilization` is the target of later explicit-rate schemes (Kalyanaraman et al.,
/// ToN 2000). Unlike under `saa`, rates change with every flow that comes or goes, so probes are periodic and never become rarer.
///
/// # Paper
///
/// A. Charny, D. Clark, R. Jain, "Congestion control with explicit rate indication", ICC 1995; compared with in Y. Birk, V.
/// Zdornov, SYSTOR 2009, section 3.2, as a precise algorithm for independent flows.
///
/// # Differences from the paper
///
/// Which flows a link holds back is found anew with every packet that asks, from the rates asked for, so that marks have no history.
/// Requests travel on the data's way; answers return by the default way. `utilization`, `hold` and `piggyback` are not the
/// paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaxMin {
    /// How the flows of a source take turns.
    pub injection: Injection,
    /// Time between two probes of a flow.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub probe_period: Duration,
    /// Time from the return of a flow's announcement to its first data.
    pub hold: Duration,
    /// Part of each link's bandwidth that is given to flows; the rest is for control packets, and drains what has piled up.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub utilization: f64,
    /// Whether data packets ask in place of probes; the destination answers only if rates are to change.
    pub piggyback: bool,
}

impl Default for MaxMin {
    fn default() -> Self {
        Self {
            injection: Injection::PeriodicSelection,
            probe_period: Duration::Ps(10_000_000),
            hold: Duration::Ps(20_000_000),
            utilization: 0.95,
            piggyback: false,
        }
    }
}

impl Scheme for MaxMin {
    fn knows_priorities(&self) -> bool {
        false
    }

    fn told(&self) -> Option<Told> {
        Some(Told::Share(self.utilization))
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, acknowledge: bool) -> Box<dyn Nics> {
        let asking = Asking { probe_period: self.probe_period, hold: self.hold, piggyback: self.piggyback };
        let source =
            Explicit::new(plan, (Told::Share(self.utilization), asking), self.injection, acknowledge);
        Box::new(NicSet::new(source, plan, share))
    }
}
