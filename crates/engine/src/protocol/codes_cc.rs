//! Injection throttling of CODES: switches order sources to throttle, sources throttle to what they see ejected.
mod monitor;
mod terminal;

use super::abatement::{self, Variant};
use super::reach::Reach;
use super::signal::Passage;
use super::{Agent, Defaults, Scheme, idle};
use crate::core::plan::{Plan, Share};
use crate::nic::{NicSet, Nics};
use crate::problem::Problem;
use crate::units::{Duration, Scale, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// CODES_CC: a switch whose port to an endpoint fills up orders the sources of what waits there to throttle themselves to
/// the rate at which their packets are being ejected.
///
/// # What it does
///
/// A switch counts, for every port to an endpoint, the flits inside it by their source. A port becomes congested when the count
/// reaches the fraction `congested` of its `buffer`. Every endpoint with packets there is then ordered to throttle, and so is
/// every endpoint whose packet arrives during the congestion. The congestion is over when the count falls below `decongested`,
/// but not before the backlog would have drained; every packet that arrives extends that time. An endpoint under such an order
/// sends all its data, whatever the destination, at the rate at which its own packets were acknowledged in the last `windows`
/// periods, but at least at `floor`.
///
/// Only data count, from when they have passed the pipeline until they start on the channel. Rates are rounded down to millionths and divisors to
/// parts of 256; the gap behind a packet is reckoned when that is sent, so that an order does not hold back the first packet after it, and
/// ends with the last order. Periods are counted from the beginning of the run, what a channel carries in them is rounded down to flits, and
/// before the first have passed they count as empty. As coded, an application is a class of traffic or a job, and all that waits of a source
/// counts as that of its latest packet. With a drain margin the backlog drains from `congested` until it is below `decongested`, silence is
/// looked for once in its time, and an endpoint under several orders keeps to the least rate. An order that a later one of its
/// port has overtaken (in band) changes nothing but, as coded, the count of orders. Orders out of band that come in the same tick are
/// obeyed by the numbers of the endpoints that they are about.
///
/// # Where it acts
///
/// Switch (count, orders), source (measurement, throttle), destination (acknowledges every packet, as its measurement needs it:
/// out of band or, with `signals = "in band"`, by control packets, whatever `acknowledge` under `[endpoint]` says).
///
/// # Parameters
///
/// `congested` and `decongested` are the paper's. `period`, `windows`, `floor` and `aggressor_share` are those of the code.
/// `buffer`, if left out, is the output queue of a virtual channel (without output queues, its input buffer) times the number of
/// virtual channels that the data class has on any link (all virtual networks, queues and levels), as the code takes it: on a port to
/// an endpoint fewer of them may be in use. What virtual channels share of an input buffer counts once.
///
/// # Paper
///
/// N. McGlohon, K. S. Hemmert, K. A. Brown, M. Levenhagen, S. Chunduri, R. B. Ross, C. D. Carothers, "Exploration of
/// Congestion Control Techniques on Dragonfly-class HPC Networks Through Simulation", PMBS 2021, section III-A.
///
/// # Differences from the paper
///
/// The paper's code counts only at the ports to endpoints, and so do we. The paper's estimate of the time to drain is not
/// given: here it is the backlog over `decongested` at the port's rate. `variant = "as coded"`: the estimate is twice the time
/// from one threshold to the other; a port's congestion can end only when a packet leaves it; only sources of an application
/// that owns the whole backlog are ordered (its share is a quotient of whole numbers); a source that another port of the switch
/// has ordered is not ordered again, and that port's end frees it; every packet counts as a largest one; and the gap behind a
/// packet is not cut short when the orders end. `variant = "drain margin"`: an order carries a rate, `margin` of the port's
/// shared by all its sources while the backlog drains and all of it after, and lasts until the source has sent nothing for
/// `hold` times the interval that its rate allows between packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CodesCc {
    /// The algorithm.
    pub variant: Variant,
    /// How orders and acknowledgements travel: a latency, "path" or "in band". Source: paper, section IV-C, at once.
    pub signals: Passage,
    /// Part of a port's buffer from which on it is congested. Source: paper, section IV-C.
    #[schemars(range(min = 0.0))]
    pub congested: f64,
    /// Below this part of its buffer a port is no longer congested. Source: paper, section IV-C.
    #[schemars(range(min = 0.000001))]
    pub decongested: f64,
    /// The buffer of a port to an endpoint, of which `congested` and `decongested` are fractions.
    pub buffer: Option<Size>,
    /// Period in which a source counts what is acknowledged. Source: code, 10 us.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub period: Duration,
    /// Periods that the ejection rate is the mean of. Source: code, 5.
    #[schemars(range(min = 1, max = 1000))]
    pub windows: u32,
    /// Least rate of a throttled endpoint. Source: code, 1/100.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub floor: f64,
    /// With `variant = "as coded"`: part of a port's backlog that makes an application an aggressor. Source: code, 0.1.
    #[schemars(range(min = 0.0))]
    pub aggressor_share: f64,
    /// With `variant = "drain margin"`: part of a port's rate that its sources share while its backlog drains.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub margin: f64,
    /// With `variant = "drain margin"`: silence of a source after which an order is over, in intervals of its packets.
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub hold: f64,
}

impl Default for CodesCc {
    fn default() -> Self {
        Self {
            variant: Variant::Published,
            signals: Passage::Latency(Duration::Ps(0)),
            congested: 0.3,
            decongested: 0.1,
            buffer: None,
            period: Duration::Ps(10_000_000),
            windows: 5,
            floor: 0.01,
            aggressor_share: 0.1,
            margin: 0.9,
            hold: 2.0,
        }
    }
}

impl CodesCc {
    /// Flits of the buffer that the thresholds are parts of.
    fn buffer(&self, plan: &Plan) -> f64 {
        let own = || {
            let (channels, data) = (&plan.vcs, plan.data_class());
            let is_data = |&&class: &&u8| !channels.classes[usize::from(class)].control;
            let all = channels.class_of.iter().filter(is_data).count() as f64;
            let (host, first) = (&plan.links[0], channels.index(data, 0, 0, 0));
            match plan.output_buffer {
                Some(queue) => f64::from(queue) * all,
                None => {
                    let beside = host.pool + host.shared(all as u32);
                    f64::from(host.reach(usize::from(first))) * all + f64::from(beside)
                }
            }
        };
        self.buffer.map_or_else(own, |size| plan.flits(size).into())
    }
}

impl Scheme for CodesCc {
    fn defaults(&self, plan: &Plan) -> Defaults {
        let buffer = || ("buffer".to_string(), json!(Size::Flits(self.buffer(plan) as u64)));
        Vec::from_iter(self.buffer.is_none().then(buffer))
    }

    fn remarks(&self, plan: &Plan) -> Vec<String> {
        let high = (self.congested * self.buffer(plan)) as u32;
        let reach = Reach::of_data(plan).warning("congested", high, "a port counts as congested");
        let (is, default) = (|variant| self.variant == variant, Self::default());
        let drains = abatement::DRAIN_MARGIN;
        let unused = [
            idle("margin", self.margin != default.margin && !is(Variant::DrainMargin), drains),
            idle("hold", self.hold != default.hold && !is(Variant::DrainMargin), drains),
            idle(
                "aggressor_share",
                self.aggressor_share != default.aggressor_share && !is(Variant::Coded),
                abatement::AS_CODED,
            ),
        ];
        reach.into_iter().chain(unused.into_iter().flatten()).collect()
    }

    fn problems(&self, _: &Scale) -> Vec<Problem> {
        if self.decongested <= self.congested {
            return Vec::new();
        }
        let message = format!(
            "a port would be free again under {} and congested from {} on",
            self.decongested, self.congested
        );
        vec![Problem::new("decongested", message, "at most `congested`")]
    }

    fn passage(&self) -> Option<Passage> {
        Some(self.signals)
    }

    fn per_destination(&self) -> bool {
        false
    }

    fn nics(&self, plan: &Arc<Plan>, share: &Share, _acknowledge: bool) -> Box<dyn Nics> {
        Box::new(NicSet::new(terminal::Terminal::new(self, plan), plan, share))
    }

    fn agent(&self, plan: &Plan, share: &Share) -> Box<dyn Agent> {
        Box::new(monitor::Monitor::new(self, plan, share))
    }
}
