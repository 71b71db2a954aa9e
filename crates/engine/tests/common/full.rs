//! A scenario file that uses most keys, and what reading it or a changed one gives.
use tailback_engine::problem::Problem;
use tailback_engine::scenario::Scenario;

/// A file that uses most keys. Only the kinds in `[topology]`, `[routing]` and `pattern` depend on what is built in.
pub const FULL: &str = r#"title = "a bit of everything"
[topology]
kind = "single-switch"
endpoints = 64
[link]
bandwidth = "100 Gb/s"
host = "5 ns"
[packet]
flit = "100 b"
max = "24 flits"
[switch]
kind = "cioq"
speedup = 2
input_buffer = { per = "port", size = "64 packets" }
output_buffer = "16 packets"
voq = ["data", "speculative"]
[endpoint]
queues = "per destination"
acknowledge = true
[routing]
kind = "minimal"
[queueing]
kind = "single"
[congestion_control]
kind = "lhrp"
threshold = "1000 flits"
fabric_drop = "1.5 us"
[[traffic]]
name = "hot"
pattern = "uniform"
endpoints = { sample = 8 }
load = 0.5
message = "4 flits"
start = "20 us"
[[traffic]]
name = "victim"
pattern = "uniform"
endpoints = "rest"
load = 0.4
self = true
message = { sizes = ["4 flits", "512 flits"], shares = [0.25, 0.75], by = "volume" }
[[traffic]]
pattern = "uniform"
endpoints = [0, 1, 2]
share = true
process = "one-shot"
message = { from = "4 packets", to = "64 packets" }
[run]
warmup = "20 us"
duration = "100 us"
seed = 1
memory = "4 GB"
[record]
series = "1 us"
ports = true
occupancy = ["30 us", "50 us"]
"#;

pub fn parse(text: &str) -> Result<Scenario, Vec<Problem>> {
    tailback_engine::run::read(text, &[])
}

pub fn with(overrides: &[(&str, &str)]) -> Result<Scenario, Vec<Problem>> {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    tailback_engine::run::read(FULL, &overrides)
}

pub fn value(scenario: &Scenario) -> serde_json::Value {
    serde_json::to_value(scenario).unwrap()
}

/// The problems as a table: line:column path | message | help. Lists of kinds are cut, so that a new kind changes no
/// table.
pub fn table(problems: &[Problem]) -> String {
    let place = |problem: &Problem| match (problem.line, problem.column) {
        (Some(line), Some(column)) => format!("{line}:{column}"),
        _ => "-".to_string(),
    };
    let help = |problem: &Problem| match problem.help.split_once("one of: ") {
        Some((before, _)) if problem.path.ends_with("kind") || problem.path.ends_with("pattern") => {
            format!("{before}one of: …")
        }
        _ => problem.help.clone(),
    };
    let row = |p: &Problem| format!("{} {} | {} | {}", place(p), p.path, p.message, help(p));
    problems.iter().map(|problem| row(problem).trim_end_matches([' ', '|']).to_string() + "\n").collect()
}
