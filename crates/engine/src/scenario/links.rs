//! Links of a network, as a scenario names them.
use super::checks::{Tell, members, times};
use super::nearest::nearest;
use super::{Endpoints, Model, Scenario};
use crate::problem::Problem;
use crate::routing::Routing;
use crate::units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A table of `failed` in `[link]`, or a part of one of `slow`: some of the links between switches, or of a class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Links {
    /// Links between switches, by pairs of these: all that join the two, such as `[[0, 8], [1, 9]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub between: Vec<[u32; 2]>,
    /// All links of a class of the topology's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Only so many of them, drawn at random by the seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub sample: Option<u32>,
}

/// A table of `slow` in `[link]`: links that carry less for a time, in both directions, of which neither routing nor congestion control
/// is told. They are those of one of the keys `between`, `class` and `endpoints`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowLinks {
    /// Which links between switches, or of which class.
    #[serde(flatten)]
    pub links: Links,
    /// The links of these endpoints: "all", a list of numbers, or `{ sample = n }` for n random ones; not "rest".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints: Option<Endpoints>,
    /// What each direction carries; without it they carry nothing, until `stop` or for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Rate>,
    /// From when on.
    #[serde(default = "super::at_once")]
    pub start: Duration,
    /// Until when; without it, to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Tells what is wrong with the links that a scenario of so many endpoints names, as far as that shows without its network.
pub(super) fn across(scenario: &Scenario, count: u64, tell: Tell) {
    let slow = &scenario.link.slow;
    if scenario.run.model == Model::Fluid && !slow.is_empty() {
        let message = "the fluid model has no links that are slower than others";
        tell(Problem::new("run.model", message, "no slow links, or model = \"packets\""));
    }
    for (at, slow) in slow.iter().enumerate() {
        let path = format!("link.slow.{at}");
        named(scenario, &slow.links, Some(slow.endpoints.is_some()), &path, tell);
        if let Some(of) = &slow.endpoints {
            members(of, &path, count, tell);
        }
        if let Some(scale) = scenario.scale() {
            times((slow.start, slow.stop), &path, &scale, tell);
        }
    }
    failed(scenario, tell);
}

/// Failed links, and a routing that can do without them.
fn failed(scenario: &Scenario, tell: Tell) {
    let (failed, routing) = (&scenario.link.failed, &scenario.routing);
    for (at, links) in failed.iter().enumerate() {
        let path = format!("link.failed.{at}");
        named(scenario, links, None, &path, tell);
        if links.class.as_deref() == Some(HOST) {
            let help = "a class of links between switches; an endpoint whose link is down for a time: `slow`";
            tell(Problem::new(format!("{path}.class"), "an endpoint without its link is none", help));
        }
    }
    if !failed.is_empty()
        && routing.suits(&scenario.topology)
        && !routing.binding().goes_round(&scenario.topology)
    {
        let able = Routing::defaults();
        let able = able
            .iter()
            .filter(|one| one.suits(&scenario.topology) && one.binding().goes_round(&scenario.topology));
        let message = format!("\"{}\" reckons with every link, and some have failed", routing.kind());
        let help =
            format!("one that goes round them: {}", Vec::from_iter(able.map(Routing::kind)).join(", "));
        tell(Problem::new("routing.kind", message, help));
    }
}

/// The class of the links to endpoints.
const HOST: &str = "host";

/// One way of naming them, and a class that there is.
fn named(scenario: &Scenario, links: &Links, by_endpoints: Option<bool>, path: &str, tell: Tell) {
    let ways = [
        (!links.between.is_empty(), "between"),
        (links.class.is_some(), "class"),
        (by_endpoints == Some(true), "endpoints"),
    ];
    let given = Vec::from_iter(ways.into_iter().filter_map(|(is_given, key)| is_given.then_some(key)));
    let more = if by_endpoints.is_some() { " or endpoints = [5]" } else { "" };
    let help = format!(
        "between = [[0, 8]] or class = \"{}\"{more}",
        scenario.topology.wiring().link_classes().last().unwrap_or(&HOST)
    );
    match given[..] {
        [] => tell(Problem::new(path, "which links?", help)),
        [_] => {}
        _ => tell(Problem::new(
            path,
            format!("links are named by {}", given.join(" and by ")),
            format!("one of these: {help}"),
        )),
    }
    let classes = scenario.topology.wiring().link_classes();
    if let Some(class) = links.class.as_ref().filter(|class| !classes.contains(&class.as_str())) {
        let meant = nearest(class, classes.iter().copied()).map(|name| format!("did you mean {name}? "));
        let help = format!("{}one of: {}", meant.unwrap_or_default(), classes.join(", "));
        tell(Problem::new(format!("{path}.class"), "this topology has no such link class", help));
    }
}
