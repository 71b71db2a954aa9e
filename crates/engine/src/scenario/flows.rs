//! Mistakes across keys where flows have routes or rates of their own, or no packets at all.
use super::checks::Tell;
use super::{Model, Scenario, SendQueues, Snapshots};
use crate::core::packet::FLOWS_MAX;
use crate::problem::Problem;

/// Tells all of them.
pub(super) fn across(scenario: &Scenario, tell: Tell) {
    several(scenario, tell);
    routes(scenario, tell);
    rates(scenario, tell);
    if scenario.run.model == Model::Fluid {
        fluid(scenario, tell);
    }
}

/// Several flows between two ends, where nothing could tell them from each other.
fn several(scenario: &Scenario, tell: Tell) {
    let traffic = scenario.traffic.iter().map(|traffic| ("traffic", &traffic.name, traffic.queue_pairs));
    let jobs = scenario.job.iter().map(|job| ("job", &job.name, job.queue_pairs));
    let by_messages = if scenario.run.model == Model::Fluid {
        Some("in the fluid model")
    } else if scenario.routing.binding().by_flows() {
        Some("for this routing")
    } else {
        scenario.congestion_control.scheme().told().map(|_| "for this congestion control")
    };
    for (table, name, flows) in traffic.chain(jobs) {
        let path = format!("{table}.{name}.queue_pairs");
        if !(1..=FLOWS_MAX).contains(&flows) {
            tell(Problem::new(path, format!("{flows} queue pairs"), format!("from 1 to {FLOWS_MAX}")));
        } else if let Some(where_) = by_messages.filter(|_| flows > 1) {
            let message = format!(
                "each message is a flow {where_}, and those between two endpoints follow one another"
            );
            tell(Problem::new(path, message, "1, or leave it out"));
        }
    }
    for job in scenario.job.iter().filter(|job| job.split && job.queue_pairs == 1) {
        let message = "with one queue pair there is nothing to divide messages among";
        tell(Problem::new(
            format!("job.{}.split", job.name),
            message,
            "queue_pairs = 2 or more, or leave it out",
        ));
    }
}

/// What routes for whole flows cannot work with.
fn routes(scenario: &Scenario, tell: Tell) {
    if !scenario.routing.binding().by_flows() {
        return;
    }
    if scenario.endpoint.queues != SendQueues::PerDestination {
        let message = format!("routing \"{}\" needs a send queue per destination", scenario.routing.kind());
        tell(Problem::new("endpoint.queues", message, "queues = \"per destination\""));
    }
    let scheme = &scenario.congestion_control;
    if scheme.scheme().classes(true).iter().any(|class| class.droppable) {
        let message = format!(
            "\"{}\" routes whole flows, but \"{}\" drops packets and sends them again",
            scenario.routing.kind(),
            scheme.kind()
        );
        let help = "another routing, or a congestion control that drops nothing, such as none, ecn or saa";
        tell(Problem::new("routing.kind", message, help));
    }
}

/// A flow with a rate keeps to one way, which its set-up packet finds: it knows flows, not queues.
fn rates(scenario: &Scenario, tell: Tell) {
    if scenario.congestion_control.scheme().told().is_some() && scenario.routing.binding().senses_load() {
        let message = format!(
            "\"{}\" as it is set chooses by the queues, but under \"{}\" a flow keeps the way that it sets up",
            scenario.routing.kind(),
            scenario.congestion_control.kind()
        );
        tell(Problem::new("routing.kind", message, BY_FLOWS));
    }
}

const BY_FLOWS: &str =
    "flow-adaptive, which chooses by the flows, or a routing that does not look at the load";

/// What the fluid model does not have.
fn fluid(scenario: &Scenario, tell: Tell) {
    let mut lacks = |path: &str, what: &str, help: &str| {
        tell(Problem::new(path, format!("the fluid model has no {what}"), help));
    };
    let jobs = "only [[job]] tables with workload = \"phases\", or model = \"packets\"";
    if !scenario.traffic.is_empty() {
        lacks("run.model", "open-loop traffic", jobs);
    }
    if scenario.job.iter().any(|job| !job.workload.bound().is_phases()) {
        lacks("run.model", "ranks, only phases of flows", jobs);
    }
    let scheme = &scenario.congestion_control;
    if !scheme.scheme().is_fluid() {
        let help = "none (max-min fair rates), saa or max-min; or model = \"packets\"";
        lacks("congestion_control", "packets for it to hold back", help);
    }
    if scenario.routing.binding().senses_load() && scheme.scheme().told().is_none() {
        lacks("routing.kind", "queues to choose by", BY_FLOWS);
    }
    let record = &scenario.record;
    let unknown = [
        ("series", record.series.is_some()),
        ("sources", record.sources),
        ("pairs", record.pairs.is_some()),
        ("packets", record.packets),
        ("messages", record.messages),
        ("control", record.control),
        ("pauses", record.pauses),
        ("trees", record.trees),
        ("occupancy", record.occupancy != Snapshots::default()),
    ];
    for (key, _) in unknown.iter().filter(|(_, asked)| *asked) {
        lacks(&format!("record.{key}"), "packets", "record.ports alone, or model = \"packets\"");
    }
}
