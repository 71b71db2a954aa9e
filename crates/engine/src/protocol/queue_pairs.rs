//! What a user has to know of several queue pairs between two endpoints.
use crate::core::plan::Plan;
use crate::scenario::Scenario;

/// Where they share what each is expected to have, or cannot be used.
pub fn remarks(scenario: &Scenario, plan: &Plan) -> Vec<String> {
    let mut told = Vec::new();
    let traffic = scenario.traffic.iter().map(|class| ("traffic", &class.name, class.queue_pairs));
    let jobs = scenario.job.iter().map(|job| ("job", &job.name, job.queue_pairs));
    for (at, (table, name, pairs)) in traffic.chain(jobs).enumerate() {
        if pairs > 1 && !plan.queues_by_flow {
            let why = match plan.fifo {
                true => "with one send queue for all destinations".to_string(),
                false => format!("under {}", scenario.congestion_control.kind()),
            };
            told.push(format!(
                "{table} \"{name}\": {why}, queue pairs have no send queue of their own, and nothing of what is kept for one: only routings that \
                 hash flows tell them apart"
            ));
        }
        let of = plan.flows[at];
        let flows = u64::from(of.ranks) * u64::from(of.ranks) * u64::from(of.each);
        if flows > plan.flows_max.into() {
            told.push(format!(
                "{table} \"{name}\": of the {flows} flows between two endpoints {} can be told from each other, so some of them are one",
                plan.flows_max
            ));
        }
    }
    let once =
        scenario.traffic.iter().filter(|class| class.queue_pairs > 1 && !class.process.arrivals().has_load());
    told.extend(once.map(|class| {
        format!(
            "traffic \"{}\": each source sends one message, which takes one of its queue pairs",
            class.name
        )
    }));
    told
}
