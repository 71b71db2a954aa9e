//! The names of classes and jobs.
use super::Scenario;
use super::checks::Tell;
use super::nearest::nearest;
use crate::problem::Problem;
use std::collections::BTreeSet;

/// Figures and pages show names, and have no way to show these.
const CONTROL_CHARACTERS: &str = "it has control characters";
/// Most characters of a name.
const NAME_MAX: usize = 200;

fn is_unprintable(letter: char) -> bool {
    letter.is_control() && !letter.is_whitespace()
}

/// Why no class or job can have a name, if none can.
fn unfit(name: &str) -> Option<String> {
    let length = name.chars().count();
    let long = (length > NAME_MAX).then(|| format!("it has {length} characters, over {NAME_MAX}"));
    name.chars().any(is_unprintable).then(|| CONTROL_CHARACTERS.to_string()).or(long)
}

/// Tells what is wrong with the names, and with the title.
pub(super) fn across(scenario: &Scenario, tell: Tell) {
    let traffic = scenario.traffic.iter().map(|traffic| ("traffic", &traffic.name)).enumerate();
    let jobs = scenario.job.iter().map(|job| ("job", &job.name)).enumerate();
    for (index, (table, name)) in traffic.clone().chain(jobs.clone()) {
        if let Some(message) = unfit(name) {
            tell(Problem::new(format!("{table}.{index}.name"), message, "a short name of letters"));
        }
    }
    if let Some(message) = scenario.title.chars().any(is_unprintable).then_some(CONTROL_CHARACTERS) {
        tell(Problem::new("title", message, "a title of letters"));
    }
    if scenario.traffic.len() + scenario.job.len() > 1 {
        for (index, (table, _)) in traffic.chain(jobs).filter(|(_, (_, name))| *name == "all") {
            let message = "results call all classes together \"all\", and there are others";
            tell(Problem::new(format!("{table}.{index}.name"), message, "another name"));
        }
    }
    let mut seen: BTreeSet<&str> = scenario.traffic.iter().map(|traffic| traffic.name.as_str()).collect();
    for (index, job) in scenario.job.iter().enumerate() {
        if !seen.insert(&job.name) {
            let message = format!("something else is called \"{}\" too", job.name);
            tell(Problem::new(format!("job.{index}.name"), message, "give each job its own name"));
        }
    }
    for name in scenario.run.only.iter().filter(|name| !seen.contains(name.as_str())) {
        let meant = nearest(name, seen.iter().copied())
            .map(|name| format!("did you mean {name}? "))
            .unwrap_or_default();
        let message = format!("there is no traffic or job called \"{name}\"");
        tell(Problem::new("run.only", message, format!("{meant}names of [[traffic]] and [[job]] tables")));
    }
}
