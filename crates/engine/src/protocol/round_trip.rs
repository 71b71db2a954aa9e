//! The round trip that a scheme reckons with, and whether packets may take longer in an empty network.
use crate::core::Tick;
use crate::core::plan::Plan;
use crate::routing::Minimality;
use crate::scenario::Scenario;

/// The time of a round trip that a scheme reckons with.
pub struct RoundTrip {
    /// The key that tells it, in the scheme's table.
    pub key: &'static str,
    /// Whether that is given; otherwise it is the longest of the fastest ways at least.
    pub given: bool,
    /// The time.
    pub ticks: Tick,
}

/// What is told of a round trip that is too short.
pub fn remark(scenario: &Scenario, plan: &Plan) -> Option<String> {
    let RoundTrip { key, given, ticks } = scenario.congestion_control.scheme().round_trip(plan)?;
    let (ns, routing) = (|ticks: Tick| (ticks * plan.tick) as f64 / 1000.0, scenario.routing.binding());
    let (least, goes_round) =
        (plan.round_trip(), routing.minimality() == Minimality::NonMinimal && !routing.senses_load());
    let why = if ticks < least {
        format!("{} ns, but the longest round trip in the empty network takes {} ns", ns(ticks), ns(least))
    } else if goes_round && !given {
        let kind = scenario.routing.kind();
        format!(
            "by default that of the fastest ways, {} ns, but \"{kind}\" routes packets round, by up to twice the hops",
            ns(ticks)
        )
    } else {
        return None;
    };
    Some(format!("congestion_control.{key}: {why}: sources are held back where nothing waits"))
}
