//! The protocol seam: congestion control at the source, the destination and the switch. One kind a file.
//!
//! A protocol is three small state machines: a [`Source`] per endpoint decides what to send and when, its
//! [`Source::reply`] answers what arrives, and an [`Agent`] per partition acts in the switches. They see facts and
//! return decisions; the engine moves packets.
mod abatement;
mod agent;
pub mod codes_cc;
pub mod dcqcn;
pub mod dcqcn_connectx;
pub mod duplicates;
pub mod ecn;
pub mod explicit;
mod flight;
pub mod hpcc;
pub mod lhrp;
pub mod lhrp_srp;
pub mod marker;
pub mod max_min;
pub mod none;
mod notified;
pub mod nscc;
pub mod nscc_rccc;
mod queue_pairs;
pub mod rccc;
pub mod reach;
mod red;
pub mod reservation;
mod round_trip;
pub mod saa;
pub mod scheduler;
pub mod signal;
pub mod smsrp;
mod source;
pub mod srp;
pub mod sst_cm;
pub mod stops;
pub mod swift;
#[cfg(test)]
mod testing;
pub mod time_out;

use crate::core::plan::{Plan, Share, TrafficClass};
use crate::problem::Problem;
use crate::scenario::Scenario;
use crate::units::{Rate, Scale};
pub use agent::{Agent, Arrival, Departure, Idle, Interest, Verdict};
use round_trip::RoundTrip;
use signal::Passage;
pub use source::{
    Concern, MILLION, OUT_OF_BAND, Prompt, Pull, Received, Reply, Reserve, Sent, Source, granted, millionths,
};

const fn class(name: &'static str, control: bool, droppable: bool, times_out: bool) -> TrafficClass {
    TrafficClass { name, control, droppable, times_out, priority: None }
}

/// Acknowledgements and other control packets.
pub const CONTROL: TrafficClass = class("control", true, false, false);
/// Reservations, where they have a class of their own.
pub const RESERVATION: TrafficClass = class("reservation", true, false, false);
/// Grants, where they have a class of their own.
pub const GRANT: TrafficClass = class("grant", true, false, false);
/// Data.
pub const DATA: TrafficClass = class("data", false, false, false);
/// Data that may be dropped.
pub const SPECULATIVE: TrafficClass = class("speculative", false, true, true);

/// The names that traffic classes of any scheme have.
pub const CLASS_NAMES: [&str; 6] =
    [RESERVATION.name, GRANT.name, CONTROL.name, DATA.name, SPECULATIVE.name, lhrp_srp::SPECULATIVE_SMALL];

crate::kinds::kinds! {
    /// `[congestion_control]`: the list of kinds, one line each.
    pub enum CongestionControl by "kind" {
        None(none::None) = "none",
        Ecn(ecn::Ecn) = "ecn",
        Lhrp(lhrp::Lhrp) = "lhrp",
        Srp(srp::Srp) = "srp",
        Smsrp(smsrp::Smsrp) = "smsrp",
        LhrpSrp(lhrp_srp::LhrpSrp) = "lhrp+srp",
        CodesCc(codes_cc::CodesCc) = "codes-cc",
        SstCm(sst_cm::SstCm) = "sst-cm",
        Saa(saa::Saa) = "saa",
        MaxMin(max_min::MaxMin) = "max-min",
        Dcqcn(dcqcn::Dcqcn) = "dcqcn",
        DcqcnConnectx(dcqcn_connectx::DcqcnConnectx) = "dcqcn-connectx",
        Swift(swift::Swift) = "swift",
        Hpcc(hpcc::Hpcc) = "hpcc",
        Nscc(nscc::Nscc) = "nscc",
        Rccc(rccc::Rccc) = "rccc",
        NsccRccc(nscc_rccc::NsccRccc) = "nscc+rccc",
    }
    /// What the scheme provides, whichever kind it is.
    pub fn scheme -> dyn Scheme;
}

impl Default for CongestionControl {
    fn default() -> Self {
        Self::None(none::None::default())
    }
}

/// What links tell the flows that cross them, in the second word of set-up packets, probes and data that ask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Told {
    /// The time that the busiest of them needs for all its flows, in ticks.
    Load,
    /// A max-min fair share of this part of their bandwidth ([`crate::core::shares`]).
    Share(f64),
}

/// Keys with their defaults on a network.
pub type Defaults = Vec<(String, serde_json::Value)>;

/// Of keys whose values depend on the network (key, whether it is given, its value otherwise), the defaults of those that are not given.
pub fn unless_given<const N: usize>(all: [(&'static str, bool, serde_json::Value); N]) -> Defaults {
    all.into_iter().filter(|(_, given, _)| !given).map(|(key, _, value)| (key.to_string(), value)).collect()
}

/// The warning that a key of a scheme, which is given, does nothing for want of something else.
pub fn idle(key: &str, given: bool, without: &str) -> Option<String> {
    given.then(|| format!("congestion_control.{key} does nothing without {without}"))
}

/// The warning that no message of the traffic is as long as a limit, given by a key, so that something does not happen; none where
/// there are jobs, which send what they will.
pub fn all_shorter(plan: &Plan, key: &str, limit: u32, what: &str) -> Option<String> {
    let longest = plan.traffic.iter().map(|traffic| traffic.class().sizes.max()).max()?;
    (plan.jobs.is_empty() && longest < limit).then(|| {
        format!("congestion_control.{key}: {limit} flits, but no message has over {longest}: {what}. \"{longest} flits\" reaches the longest")
    })
}

/// The mistake of a smallest rate that is over that of an endpoint's channel.
pub fn least_rate(key: &str, rate: Rate, scale: &Scale) -> Option<Problem> {
    let told =
        || Problem::new(key, format!("{rate}, but an endpoint's channel has {}", scale.host), "at most that");
    (rate.0 > scale.host.0).then(told)
}

/// What a user has to know of a scheme's parameters in this scenario, as warnings of the results.
pub fn remarks(scenario: &Scenario, plan: &Plan) -> Vec<String> {
    let mut told = scenario.congestion_control.scheme().remarks(plan);
    told.extend(round_trip::remark(scenario, plan));
    told.extend(queue_pairs::remarks(scenario, plan));
    told
}

/// What every scheme provides: what the engine needs to build its endpoints and agents.
pub trait Scheme {
    /// Mistakes across its parameters; paths are relative to its table.
    fn problems(&self, _scale: &Scale) -> Vec<Problem> {
        Vec::new()
    }
    /// Its traffic classes, the highest priority first: those of control packets ahead of those of data.
    fn classes(&self, _acknowledge: bool) -> Vec<TrafficClass> {
        vec![CONTROL, DATA]
    }
    /// Why it cannot work without acknowledgements, and what would do, if it cannot.
    fn needs_acknowledgements(&self) -> Option<(&'static str, &'static str)> {
        None
    }
    /// Whether what it keeps for a send queue (reservations, what to send again, delays) speaks of one destination.
    fn per_destination(&self) -> bool {
        true
    }
    /// Whether flows between two endpoints have a send queue each under it: not where sources are spoken to of a destination alone.
    fn knows_flows(&self) -> bool {
        true
    }
    /// Whether it can tell messages of several priorities for one destination from each other.
    fn knows_priorities(&self) -> bool {
        true
    }
    /// Whether its packets carry words: if it has signals, only where these travel in band.
    fn words(&self) -> bool {
        self.passage().is_none_or(|passage| passage == Passage::InBand)
    }
    /// How its signals travel, if it has some.
    fn passage(&self) -> Option<Passage> {
        None
    }
    /// What the links on the way of a flow tell it, if flows are to be announced to them.
    fn told(&self) -> Option<Told> {
        None
    }
    /// Whether the rates that its sources are allowed can be recorded ([`Source::allowed`], [`Source::allowed_towards`]).
    fn tells_rates(&self) -> bool {
        self.passage().is_some()
    }
    /// Whether flows of the fluid model can be under it: they have rates, and no packets.
    fn is_fluid(&self) -> bool {
        self.told().is_some()
    }
    /// The round trip that it reckons with, if it does with one.
    fn round_trip(&self, _plan: &Plan) -> Option<RoundTrip> {
        None
    }
    /// What a user has to know of its parameters on this network, but for that round trip.
    fn remarks(&self, _plan: &Plan) -> Vec<String> {
        Vec::new()
    }
    /// The defaults that depend on the network, as they are on this one: key and value.
    fn defaults(&self, _plan: &Plan) -> Defaults {
        Vec::new()
    }
    /// Its sources and sinks for the endpoints of a partition.
    fn nics(
        &self,
        plan: &std::sync::Arc<Plan>,
        share: &Share,
        acknowledge: bool,
    ) -> Box<dyn crate::nic::Nics>;
    /// Its agent for the switches of a partition.
    fn agent(&self, _plan: &Plan, _share: &Share) -> Box<dyn Agent> {
        Box::new(Idle)
    }
}
