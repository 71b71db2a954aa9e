//! Every mistake in a scenario is told, with its line and what to do, and none ends in a panic or in an attempt to build
//! what no machine holds.
use crate::common::*;
use proptest::prelude::*;
use tailback_engine::problem::Problem;
use tailback_engine::run;
use tailback_engine::scenario::Scenario;

/// A right scenario, to be spoilt.
const RIGHT: &str = r#"[topology]
kind = "dragonfly"
p = 2
a = 4
h = 1
groups = 5
[link]
bandwidth = "100 Gb/s"
host = "5 ns"
local = "50 ns"
global = "1 us"
[packet]
flit = "100 b"
max = "24 flits"
[switch]
kind = "cioq"
speedup = 2
input_buffer = "credit round trip"
output_buffer = "16 packets"
[endpoint]
queues = "per destination"
acknowledge = true
[routing]
kind = "par"
[congestion_control]
kind = "lhrp"
threshold = "1000 flits"
fabric_drop = "1 us"
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = 6
destinations = 2
load = 0.5
message = "4 flits"
start = "1 us"
[[traffic]]
name = "victim"
pattern = "uniform"
endpoints = "rest"
load = 0.4
message = { sizes = ["4 flits", "100 flits"], shares = [0.5, 0.5], by = "messages" }
[run]
warmup = "1 us"
duration = "2 us"
partitions = 4
threads = 1
seed = 1
[record]
series = "500 ns"
ports = true
occupancy = ["1 us"]
"#;

/// All that is wrong with a file, that of the network included.
fn problems(text: &str) -> Vec<Problem> {
    match run::read(text, &[]) {
        Err(problems) => problems,
        Ok(scenario) => Scenario::located(text, &[], run::check(&scenario)),
    }
}

/// The scenario with one line changed for others.
fn spoilt(line: &str, by: &str) -> String {
    assert_eq!(RIGHT.lines().filter(|other| *other == line).count(), 1, "{line}");
    RIGHT.lines().map(|other| if other == line { format!("{by}\n") } else { format!("{other}\n") }).collect()
}

fn line_of(text: &str, part: &str) -> usize {
    1 + text.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part} in\n{text}"))
}

/// A wrong unit, an unknown key, a load over 1, a hot spot of more endpoints than there are, buffers smaller than a packet and
/// a queueing scheme of other networks: what each needs to be seen (the file, its keys together, the network) hides no other.
#[test]
fn mistakes_of_every_kind_are_told_at_once() {
    let text = r#"
[topology]
kind = "dragonfly"
p = 2
a = 4
h = 2
groups = 9
[link]
latency = "5 nanos"
[routing]
kind = "par"
[switch]
kind = "cioq"
input_buffer = "2 flits"
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = 600
destinations = 4
load = 1.5
[queueing]
kind = "flow2sl"
[record]
lamps = true
"#;
    let told: Vec<(String, Option<usize>)> =
        problems(text).into_iter().map(|problem| (problem.path, problem.line)).collect();
    let at = |path: &str, part| (path.to_string(), Some(line_of(text, part)));
    let expected = [
        at("link.latency", "latency"),
        at("switch.input_buffer", "input_buffer"),
        at("traffic.hot.sources", "sources"),
        at("traffic.hot.load", "load"),
        at("queueing.kind", "flow2sl"),
        at("record.lamps", "lamps"),
    ];
    assert_eq!(told, expected);
}

/// Parameters of a scheme that contradict each other.
#[test]
fn parameters_of_a_scheme_that_contradict_each_other_are_refused() {
    let (before, rest) = RIGHT.split_once("kind = \"lhrp\"").unwrap();
    let (_, after) = rest.split_once("fabric_drop").unwrap();
    let (_, after) = after.split_once('\n').unwrap();
    let told = |scheme: &str| -> Vec<String> {
        let found = problems(&format!("{before}{scheme}\n{after}"));
        found.into_iter().map(|problem| problem.path.replace("congestion_control.", "")).collect()
    };
    assert_eq!(told("kind = \"codes-cc\"\ndecongested = 0.4"), ["decongested"]);
    assert!(told("kind = \"codes-cc\"\ndecongested = 0.3").is_empty());
    assert_eq!(told("kind = \"codes-cc\"\ndecongested = 0.0"), ["decongested"]);
    for scheme in ["srp", "smsrp", "lhrp+srp"] {
        assert_eq!(told(&format!("kind = \"{scheme}\"\ntime_to_wait = \"0 ns\"")), ["time_to_wait"]);
    }
    assert_eq!(told("kind = \"lhrp\"\nfabric_drop = \"0 ns\""), ["fabric_drop"]);
    assert_eq!(told("kind = \"ecn\"\ntable = [\"0 ns\"]\nincrement = \"9 ns\""), ["increment"]);
    assert_eq!(told("kind = \"ecn\"\nindex_increase = 2"), ["index_increase"]);
    assert!(told("kind = \"ecn\"\ntable = [\"0 ns\", \"9 ns\"]\nindex_increase = 2").is_empty());
}

#[test]
fn the_scenario_of_these_tests_is_right() {
    assert_eq!(problems(RIGHT), []);
    run(RIGHT);
}

/// A line of the right scenario, what it is spoilt to, and words of the message and of the remedy.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("host = \"5 ns\"", "host = \"5 flits\"", "unit", "ns"),
    ("threshold = \"1000 flits\"", "threshold = \"1000 ns\"", "unit", "flits"),
    ("occupancy = [\"1 us\"]", "occupancy = \"0 ns\"", "over 0", ""),
    (
        "occupancy = [\"1 us\"]",
        "occupancy = [\"1 us\", \"6 us\"]",
        "6 us is after the end of the run",
        "warmup",
    ),
    ("occupancy = [\"1 us\"]", "occupancy = \"1 ps\"", "5000000 times", "a longer time"),
    (
        "input_buffer = \"credit round trip\"",
        "input_buffer = { per = \"vc\", size = \"48 flits\", shared = true }",
        "the buffer of a port",
        "tailback list",
    ),
    (
        "output_buffer = \"16 packets\"",
        "voq = [\"dta\", \"data\"]",
        "no traffic class \"dta\"",
        "did you mean data?",
    ),
    ("threshold = \"1000 flits\"", "treshold = \"1000 flits\"", "unknown key", "threshold"),
    ("groups = 5", "groups = 6", "6 groups", "at most"),
    ("load = 0.5", "load = 1.5", "0 to 1", ""),
    ("load = 0.5", "load_per_destination = 3.5", "1.16", "at most 3"),
    ("sources = 6", "sources = 39", "41", "40"),
    ("sources = 6", "sources = [1, 2, 40]", "40", ""),
    ("output_buffer = \"16 packets\"", "output_buffer = \"23 flits\"", "23 flits", "24 flits"),
    ("input_buffer = \"credit round trip\"", "input_buffer = \"23 flits\"", "23 flits", "24 flits"),
    (
        "output_buffer = \"16 packets\"",
        "output_buffer = \"1 TB\"",
        "more flits than can be counted",
        "less than",
    ),
    (
        "input_buffer = \"credit round trip\"",
        "input_buffer = \"1 TB\"",
        "more flits than can be counted",
        "less than",
    ),
    ("flit = \"100 b\"", "flit = \"2000001 B\"", "too large", "at most 2 MB"),
    (
        "input_buffer = \"credit round trip\"",
        "input_buffer = { per = \"port\", size = \"100 flits\" }",
        "less than a packet",
        "virtual channels",
    ),
    ("queues = \"per destination\"", "queues = \"fifo\"", "lhrp", ""),
    ("kind = \"par\"", "kind = \"nca\"", "does not route", "par"),
    ("pattern = \"uniform\"", "pattern = \"unform\"", "unform", "uniform"),
    ("endpoints = \"rest\"", "endpoints = \"all\"", "both use", "rest"),
    ("duration = \"2 us\"", "duration = \"0 us\"", "over 0", ""),
    ("p = 2", "p = 4000000000", "ports", "at most"),
    ("p = 2", "p = 300000", "ports", "at most"),
    ("a = 4", "a = 4000000000", "ports", "at most"),
    ("h = 1", "h = 4000000000", "ports", "at most"),
    ("groups = 5", "groups = 4000000000", "groups", "at most"),
    ("global = \"1 us\"", "global = \"1000000 s\"", "", ""),
    ("bandwidth = \"100 Gb/s\"", "bandwidth = \"1 b/s\"", "", ""),
    ("bandwidth = \"100 Gb/s\"", "bandwidth = { host = \"100 Gb/s\", global = \"1 b/s\" }", "", ""),
    ("flit = \"100 b\"", "flit = \"1000000 TB\"", "", ""),
    ("speedup = 2", "speedup = 2\npipeline = \"1000000 s\"", "", ""),
    ("acknowledge = true", "acknowledge = true\ndrain_rate = \"1 b/s\"", "", ""),
    ("series = \"500 ns\"", "series = \"1 ps\"\n[run.x]", "", ""),
    ("message = \"4 flits\"", "message = \"2000000000 flits\"", "flits", "1 to 201326568"),
    ("message = \"4 flits\"", "message = \"0 flits\"", "0", "1 to"),
    (
        "message = \"4 flits\"",
        "message = { from = \"2 flits\", to = \"5 flits\", step = \"2 flits\" }",
        "do not meet 5 flits",
        "a divisor of 3 flits",
    ),
    ("start = \"1 us\"", "start = \"1 us\"\nstop = \"1 us\"", "stops at 1 us", "after start"),
    ("endpoints = \"rest\"", "endpoints = []", "empty", "at least one"),
    ("endpoints = \"rest\"", "endpoints = { sample = 0 }", "sample of 0", "at least 1"),
    ("endpoints = \"rest\"", "endpoints = { sample = 41 }", "sample of 41", "40"),
];

#[test]
fn every_mistake_is_told_with_its_line_and_remedy() {
    for &(line, by, message, help) in MISTAKES {
        let text = spoilt(line, by);
        let problems = problems(&text);
        assert!(!problems.is_empty(), "{by} is taken");
        let at = line_of(&text, by.lines().last().unwrap());
        let told = told(&problems);
        let Some(problem) = problems.iter().find(|problem| problem.line == Some(at)) else {
            panic!("{by} is not told on line {at}:\n{told}");
        };
        assert!(problem.message.contains(message), "{by}:\n{told}");
        let has_remedy = !problem.help.is_empty() || problem.message.starts_with("expected ");
        assert!(has_remedy && problem.help.contains(help), "{by}:\n{told}");
    }
}

#[test]
fn a_load_that_is_no_number_is_refused_in_a_scenario_that_was_no_text() {
    let mut scenario = Scenario::parse(RIGHT, &[]).unwrap();
    scenario.traffic[1].load = Some(f64::NAN);
    assert_eq!(run::check(&scenario)[0].path, "traffic.victim.load");
}

#[test]
fn mistakes_that_only_the_network_shows_are_told_all_at_once() {
    let text = spoilt("kind = \"par\"", "kind = \"nca\"").replace("sources = 6", "sources = 39");
    let lines: Vec<_> = problems(&text).iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [Some(line_of(&text, "\"nca\"")), Some(line_of(&text, "sources = 39"))]);
}

#[test]
fn a_run_of_more_ticks_than_are_counted_is_refused() {
    let text = spoilt("duration = \"2 us\"", "duration = \"100000 s\"").replace("series = \"500 ns\"\n", "");
    let found = problems(&text);
    assert_eq!(found.len(), 1, "{}", told(&found));
    assert_eq!(found[0].line, Some(line_of(&text, "duration =")));
}

#[test]
fn a_series_of_more_bins_than_memory_holds_is_refused() {
    let text = spoilt("duration = \"2 us\"", "duration = \"100 ms\"").replace("\"500 ns\"", "\"1 ps\"");
    let found = problems(&text);
    assert_eq!(found.len(), 1, "{}", told(&found));
    assert_eq!((found[0].path.as_str(), found[0].line), ("record.series", Some(line_of(&text, "series ="))));
}

#[test]
fn more_classes_than_a_packet_can_name_are_refused() {
    let class = |n| {
        format!(
            "[[traffic]]\nname = \"t{n}\"\npattern = \"list\"\npairs = [[0, 1]]\nload = 0.001\nshare = true\n"
        )
    };
    let text = |n| {
        format!(
            "{}{}",
            RIGHT.replace("load = 0.5", "load = 0.5\nshare = true"),
            (0..n).map(class).collect::<String>()
        )
    };
    let text = |n: usize| text(n).replace("endpoints = \"rest\"", "share = true");
    assert_eq!(problems(&text(200)), []);
    let found = problems(&text(300));
    assert!(!found.is_empty() && found[0].message.contains("302"), "{}", told(&found));
}

#[test]
fn the_widest_switch_runs_and_a_wider_one_is_refused() {
    let text = |n| {
        format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = {n}\n[routing]\nkind = \"minimal\"\n[[traffic]]\npattern = \"uniform\"\n\
             load = 0.5\nmessage = \"4 flits\"\n[run]\nwarmup = \"0 us\"\nduration = \"100 ns\"\n"
        )
    };
    run(&text(1087));
    for n in [1088, 65_535] {
        let found = problems(&text(n));
        assert_eq!((found.len(), found[0].line), (1, Some(3)), "{}", told(&found));
    }
}

/// A job of eight ranks with these keys, for a moment.
fn job(keys: &str) -> String {
    format!(
        "[topology]\nkind = \"single-switch\"\nendpoints = 8\n[routing]\nkind = \"minimal\"\n\
         [[job]]\nname = \"it\"\nranks = 8\n{keys}\n[run]\nduration = \"10 us\"\n"
    )
}

#[test]
fn the_largest_lammps_is_bound_at_once_and_a_larger_one_is_refused() {
    let lammps = |kind, steps: u32, replicas: u32| {
        job(&format!("workload = \"{kind}\"\nsteps = {steps}\nreplicas = [{replicas}, 1, {replicas}]"))
    };
    assert_eq!(problems(&lammps("lammps", 1_000_000, 10_000)), []);
    for text in [lammps("lammps", 1_000_001, 1), lammps("periodic-aggressor", 1001, 1)] {
        assert!(problems(&text).iter().any(|problem| problem.path == "job.it.steps"));
    }
    for kind in ["lammps", "periodic-aggressor"] {
        let found = problems(&lammps(kind, 1, 10_001));
        assert!(found.iter().any(|problem| problem.path.starts_with("job.it.replicas")));
    }
}

#[test]
fn one_rank_is_too_few_for_an_incast_of_any_size() {
    for incast in [1, 2, 7] {
        let text = job(&format!("workload = \"periodic-aggressor\"\nincast = {incast}"))
            .replace("ranks = 8", "ranks = 1");
        let found = problems(&text);
        let told =
            found.iter().map(|problem| (problem.path.as_str(), problem.help.as_str())).collect::<Vec<_>>();
        assert_eq!(told, [("job.it.ranks", "at least 2")]);
    }
}

#[test]
fn programs_of_any_length_take_no_memory() {
    run(&job("workload = \"sweep3d\"\nblocks = 4294967295\niterations = 4294967295"));
    let many = "layers = 4294967295\nmicro_batches = 4294967295\niterations = 4294967295";
    run(&job(&format!("workload = \"training\"\ngradients = \"1 kB\"\ncompute = \"1 us\"\n{many}")));
}

#[test]
fn networks_that_no_memory_holds_are_refused_without_building_them() {
    let tree = |arity: u64, levels| format!("kind = \"fat-tree\"\nlevels = {levels}\narity = {arity}");
    let dragonfly = |p: u64, a: u64, h: u64, groups: u64| {
        format!("kind = \"dragonfly\"\np = {p}\na = {a}\nh = {h}\ngroups = {groups}")
    };
    let networks = [
        tree(500, 3),
        tree(4_000_000_000, 2),
        tree(1 << 40, 2),
        dragonfly(16, 300, 300, 90_001),
        dragonfly(1, 500, 500, 250_001),
        dragonfly(1, u64::from(u32::MAX), u64::from(u32::MAX), u64::from(u32::MAX)),
        "kind = \"single-switch\"\nendpoints = 4000000000".to_string(),
    ];
    for network in networks {
        let routing = if network.contains("fat") { "nca" } else { "minimal" };
        let text = format!(
            "[topology]\n{network}\n[routing]\nkind = \"{routing}\"\n[[traffic]]\npattern = \"uniform\"\nload = 0.5\nmessage = \"4 flits\"\n"
        );
        let found = problems(&text);
        assert!(!found.is_empty(), "{network} is taken");
        assert!(
            found[0].line.is_some()
                && ["at most", "from 1 to"].iter().any(|bound| told(&found).contains(bound)),
            "{network}: {}",
            told(&found)
        );
    }
}

#[test]
fn files_that_are_no_scenario_are_told() {
    for text in ["", "\n\n", "\0\u{1}\u{2}PNG\r\n", "= = =", "[topology", "hello", "\u{feff}", "{}", "[]"] {
        let found = problems(text);
        assert!(!found.is_empty() && found.len() < 20, "{text:?}: {}", told(&found));
    }
}

#[test]
fn a_traffic_table_that_is_missing_is_told() {
    let text = "[topology]\nkind = \"single-switch\"\nendpoints = 2\n[routing]\nkind = \"minimal\"\n";
    assert!(problems(text)[0].path.starts_with("traffic"));
}

/// Values that take the place of others: of every type, small or absurd, so that no large network is built on the way.
const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "7",
    "24",
    "40",
    "-1",
    "1.5",
    "1e300",
    "nan",
    "inf",
    "4000000000",
    "4294967295",
    "18446744073709551615",
    "9223372036854775807",
    "true",
    "\"\"",
    "\"all\"",
    "\"rest\"",
    "\"0 ns\"",
    "\"1 ps\"",
    "\"1 us\"",
    "\"3 cycles\"",
    "\"1000000 s\"",
    "\"1 cycle\"",
    "\"0 flits\"",
    "\"1 flit\"",
    "\"5 packets\"",
    "\"1 b\"",
    "\"7 b\"",
    "\"1000000 TB\"",
    "\"1 b/s\"",
    "\"3 Gb/s\"",
    "\"1000000 Tb/s\"",
    "[]",
    "[0]",
    "[0, 0]",
    "[1, 2, 3]",
    "[4000000000]",
    "{}",
    "{ sample = 3 }",
    "{ sample = 4000000000 }",
    "{ from = \"1 flit\", to = \"9 flits\" }",
    "\"dragonfly\"",
    "\"fat-tree\"",
    "\"single-switch\"",
    "\"minimal\"",
    "\"valiant\"",
    "\"ugal\"",
    "\"nca\"",
    "\"none\"",
    "\"ecn\"",
    "\"permutation\"",
    "\"tornado\"",
    "\"transpose\"",
    "\"shift\"",
    "\"bit-reverse\"",
    "\"worst-case\"",
    "\"list\"",
    "\"one-shot\"",
    "\"periodic\"",
    "\"on-off\"",
    "{ kind = \"on-off\", burst = \"9 flits\", peak = 0.1 }",
    "\"fifo\"",
    "[[0, 1], [1, 2]]",
];

/// Lines that may come in.
const LINES: &[&str] = &[
    "endpoints = 6",
    "levels = 2",
    "arity = 3",
    "taper = 2",
    "n = 2",
    "by = 3",
    "process = \"one-shot\"",
    "process = \"periodic\"",
    "process = { kind = \"on-off\", peak = 0.5 }",
    "share = true",
    "self = true",
    "stop = \"2 us\"",
    "pairs = [[0, 1]]",
    "load_per_destination = 0.5",
    "pipeline = \"3 ns\"",
    "voq = false",
    "arbitration = \"age\"",
    "drain_rate = \"10 Gb/s\"",
    "slow = [{ endpoints = [0], stop = \"1 us\" }]",
    "notify = \"notification\"",
    "memory = \"1 MB\"",
    "global_links = 1",
    "up = \"least-loaded\"",
    "[routing]",
    "[run]",
    "[[traffic]]",
    "coalesce_after = 1",
    "drain = \"0 us\"",
];

fn mutated() -> impl Strategy<Value = String> {
    let edit = (0u8..6, any::<prop::sample::Index>(), any::<prop::sample::Index>());
    prop::collection::vec(edit, 1..6).prop_map(|edits| {
        let mut lines: Vec<String> = RIGHT.lines().map(str::to_string).collect();
        for (what, a, b) in edits {
            let at = a.index(lines.len());
            match what {
                0 => drop(lines.remove(at)),
                1 => lines.insert(at, LINES[b.index(LINES.len())].to_string()),
                _ => {
                    if let Some((key, _)) = lines[at].split_once(" = ") {
                        lines[at] = format!("{key} = {}", VALUES[b.index(VALUES.len())]);
                    }
                }
            }
        }
        lines.join("\n")
    })
}

/// Whether a run of this scenario is over at once: mutations may ask for much time, traffic or bandwidth.
fn is_short(scenario: &Scenario) -> bool {
    use tailback_engine::core::{build, plan::Plan};
    use tailback_engine::units::Rate;
    let moderate = |plan: Plan| {
        let picoseconds = u128::from(plan.end * plan.tick);
        let flits = |rate: Rate| {
            u128::from(rate.0) * picoseconds / 1_000_000_000_000 / u128::from(plan.scale.flit_bits)
        };
        picoseconds <= 10_000_000 && plan.links.iter().all(|link| flits(link.rate) <= 500_000)
    };
    build::plan(scenario).is_ok_and(moderate) && scenario.topology.wiring().counts().0 <= 300
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_scenario_is_planned_or_refused_with_its_lines_and_never_panics(text in mutated()) {
        let found = problems(&text);
        let lines = text.lines().count() + 1;
        prop_assert!(found.iter().all(|problem| problem.line.is_none_or(|line| (1..=lines).contains(&line))));
        prop_assert!(found.iter().all(|problem| !problem.message.is_empty()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_scenario_that_is_right_runs_without_panic(text in mutated()) {
        if let Ok(scenario) = run::read(&text, &[])
            && run::check(&scenario).is_empty()
            && is_short(&scenario)
        {
            let _ = run::run(&scenario, &mut |_| true);
        }
    }
}
