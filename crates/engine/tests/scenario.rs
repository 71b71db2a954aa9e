//! The reader of scenario files: what it accepts, and what overrides do.
use crate::common::told;
use crate::full::*;
use tailback_engine::scenario::Scenario;

/// The least file there can be.
const LEAST: &str = "topology = { kind = \"single-switch\", endpoints = 4 }\nrouting.kind = \"minimal\"\n\
                     [[traffic]]\npattern = \"uniform\"\nload = 1\n";

#[test]
fn a_full_file_is_read_and_written_back_equal() {
    let scenario = parse(FULL).unwrap_or_else(|problems| panic!("{}", table(&problems)));
    let text = scenario.to_toml();
    let again = parse(&text).unwrap_or_else(|problems| panic!("{text}\n{}", table(&problems)));
    assert_eq!(value(&again), value(&scenario));
    assert_eq!(again.to_toml(), text);
    assert_eq!(scenario.problems(), []);
}

#[test]
fn a_kind_alone_stands_for_its_table_in_the_file_and_in_overrides() {
    let long = parse(LEAST).unwrap();
    let short = LEAST.replace("routing.kind = ", "routing = ");
    assert_eq!(value(&parse(&short).unwrap()), value(&long));
    let set =
        |overrides: &[(&str, &str)]| with(overrides).unwrap_or_else(|found| panic!("{}", table(&found)));
    let (process, burst) = ("traffic.hot.process", "traffic.hot.process.burst");
    let plain = set(&[(process, "on-off")]);
    assert_eq!(value(&plain), value(&set(&[("traffic.hot.process.kind", "on-off")])));
    let bursts = set(&[(process, "on-off"), (burst, "64 flits")]);
    assert_eq!(value(&bursts)["traffic"][0]["process"]["burst"], "64 flits");
    assert_eq!(value(&bursts), value(&set(&[(process, "{ kind = \"on-off\", burst = \"64 flits\" }")])));
    let srp = |text| value(&set(&[("congestion_control", text)]));
    assert_eq!(srp("srp"), srp("{ kind = \"srp\" }"));
}

#[test]
fn the_least_file_has_every_default_filled_in() {
    let expected = r#"title = ""

[topology]
kind = "single-switch"
endpoints = 4

[link]
bandwidth = "100 Gb/s"
latency = "10 ns"

[link.flow_control]
kind = "credits"

[packet]
flit = "100 b"
max = "24 flits"
control = "1 flit"
interleave = false

[switch]
kind = "cioq"
speedup = 2
input_buffer = "credit round trip"
output_buffer = "16 packets"
voq = true
parallel_reads = false
arbitration = "round-robin"
forwarding = "cut-through"
pipeline = "0 ps"

[endpoint]
queues = "per destination"
acknowledge = true

[routing]
kind = "minimal"

[queueing]
kind = "single"

[congestion_control]
kind = "none"

[[traffic]]
name = "traffic0"
pattern = "uniform"
endpoints = "all"
self = false
load = 1.0
message = "1 packet"
start = "0 ps"
share = false
priority = 0
queue_pairs = 1

[traffic.process]
kind = "bernoulli"

[run]
warmup = "20 us"
duration = "100 us"
drain = "100 us"
threads = 1
seed = 1
model = "packets"

[record]
ports = false
sources = false
packets = false
messages = false
control = false
pauses = false
trees = false
occupancy = []
"#;
    let found = parse(LEAST).unwrap().to_toml();
    assert_eq!(found, expected, "\nfound:\n{found}");
}

#[test]
fn overrides_go_by_name_or_index_and_are_checked_like_the_file() {
    let scenario = with(&[
        ("traffic.hot.load", "0.7"),
        ("traffic.1.load", "0.6"),
        ("traffic.traffic2.start", "1 us"),
        ("topology.endpoints", "32"),
        ("run.seed", "18446744073709551615"),
        ("title", "5 of them"),
        ("congestion_control", "{ kind = \"none\" }"),
    ])
    .unwrap_or_else(|problems| panic!("{}", table(&problems)));
    assert_eq!((scenario.traffic[0].load, scenario.traffic[1].load), (Some(0.7), Some(0.6)));
    assert_eq!(scenario.run.seed, u64::MAX);
    assert_eq!(value(&parse(&scenario.to_toml()).unwrap()), value(&scenario));
    assert_eq!(scenario.title, "5 of them");

    let problems = with(&[
        ("traffic.hto.load", "0.7"),
        ("traffic.victim.load", "7"),
        ("run.sed", "1"),
        ("", "1"),
        ("title.x", "1"),
        ("a\nb", "1"),
    ])
    .unwrap_err();
    let expected = r#"- traffic.hto.load | there is none called "hto" | did you mean hot? there are: hot, victim, traffic2
-  | this is not a dotted key | such as run.seed or traffic.hot.load
- title.x | "x" is looked for in a value that is no table
- a\nb | this is not a dotted key | such as run.seed or traffic.hot.load
- traffic.victim.load | expected a number from 0 to 1 or a text such as "40 %", found the integer 7
- run.sed | unknown key | did you mean seed? one of: warmup, duration, drain, threads, partitions, memory, seed, model, only
"#;
    assert_eq!(table(&problems), expected, "\nfound:\n{}", table(&problems));
}

#[test]
fn a_mistake_that_an_override_makes_has_no_line() {
    let problems =
        with(&[("traffic.hot.stop", "1 us"), ("switch.output_buffer", "1 flit"), ("run.threads", "0")]);
    let expected = "\
- run.threads | expected a whole number from 1 to 4096, found the integer 0
- switch.output_buffer | a buffer of 1 flits cannot hold a packet | at least \"1 packet\", 24 flits
- traffic.hot.stop | stops at 1 us, but starts at 20 us | stop must be after start
";
    let found = table(&problems.unwrap_err());
    assert_eq!(found, expected, "\nfound:\n{found}");
}

#[test]
fn what_an_override_lacks_is_not_looked_for_in_the_file() {
    let problems = with(&[("traffic.hot.message", "{ sizes = [\"4 flits\"] }")]);
    let found = table(&problems.unwrap_err());
    assert!(found.contains("\n- traffic.hot.message.shares | this key is missing"), "{found}");
}

/// The example of the documentation.
const EXAMPLE: &str = r#"title = "60:4 hot spot under LHRP"
[topology]
kind = "dragonfly"
p = 4
a = 8
h = 4
groups = 33
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
voq = true
[endpoint]
queues = "per destination"
acknowledge = true
[routing]
kind = "par"
[queueing]
kind = "single"
[congestion_control]
kind = "lhrp"
threshold = "1000 flits"
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = 60
destinations = 4
load = 0.5
message = "4 flits"
start = "20 us"
[[traffic]]
name = "victim"
pattern = "uniform"
endpoints = "rest"
load = 0.4
message = "4 flits"
[run]
warmup = "20 us"
duration = "100 us"
seed = 1
[record]
series = "1 us"
ports = true
"#;

#[test]
fn the_documented_example_is_read() {
    assert!(parse(EXAMPLE).is_ok(), "{}", table(&parse(EXAMPLE).unwrap_err()));
}

#[test]
fn a_scenario_made_in_code_is_checked_like_a_file() {
    let mut scenario = parse(FULL).unwrap();
    scenario.run.threads = 0;
    scenario.traffic[0].load = Some(7.0);
    let paths: Vec<String> = scenario.problems().into_iter().map(|problem| problem.path).collect();
    assert_eq!(paths, ["traffic.hot.load", "run.threads"]);
}

#[test]
fn a_sweep_table_is_left_to_the_sweep() {
    let text = format!("{FULL}[sweep]\n\"traffic.hot.load\" = [0.1, 0.2]\nrun.seed = [1, 2]\n");
    assert_eq!(value(&parse(&text).unwrap()), value(&parse(FULL).unwrap()));
    // What is in it the sweep judges.
    assert!(parse(&format!("{FULL}[sweep]\nseeds = 3\n")).is_ok());
    assert_eq!(parse(&format!("sweep = 3\n{FULL}")).unwrap_err()[0].path, "sweep");
    for key in ["sweep", "sweep.seeds"] {
        let told =
            tailback_engine::scenario::Scenario::parse(&text, &[(key.into(), "4".into())]).unwrap_err();
        assert_eq!((told.len(), told[0].path.as_str()), (1, key));
        assert!(told[0].help.contains("in the file"), "{}", told[0]);
    }
}

#[test]
fn a_table_without_a_kind_has_the_default_kind_if_that_has_its_keys() {
    let set = |key: &str, value: &str| {
        tailback_engine::scenario::Scenario::parse(LEAST, &[(key.to_string(), value.to_string())])
    };
    assert_eq!(set("switch.speedup", "1").unwrap().switch.kind(), "cioq");
    let slip = set("switch.spedup", "1").unwrap_err();
    assert!(slip[0].path == "switch.spedup" && slip[0].help.contains("did you mean speedup"), "{slip:?}");
    assert_eq!(
        set("congestion_control.threshold", "4 flits").unwrap_err()[0].path,
        "congestion_control.kind"
    );
}

#[test]
fn a_part_may_be_written_in_per_cent() {
    let load = |value: &str| {
        let overrides = [("traffic.0.load".to_string(), value.to_string())];
        tailback_engine::scenario::Scenario::parse(LEAST, &overrides).map(|scenario| scenario.traffic[0].load)
    };
    assert_eq!(load("\"33.3 %\""), Ok(Some(0.333)));
    assert_eq!(load("40%"), Ok(Some(0.4)));
    for wrong in ["140 %", "-4 %", "% 4", "%", "4 percent", "1e1 %"] {
        assert!(load(wrong).unwrap_err()[0].message.starts_with("expected a number from 0 to 1"), "{wrong}");
    }
}

#[test]
fn lists_of_endpoints_may_have_ranges_in_them() {
    use tailback_engine::scenario::{Endpoints, Scenario};
    use tailback_engine::workload::placement::Placement;
    let list = |value: &str| {
        let overrides = [("traffic.0.endpoints".to_string(), value.to_string())];
        Scenario::parse(LEAST, &overrides).map(|scenario| scenario.traffic[0].endpoints.clone())
    };
    assert_eq!(list("[\"0-2\", 3]"), Ok(Endpoints::List(vec![0, 1, 2, 3])));
    assert_eq!(list("[3, \"1-1\", \"0-0\"]"), Ok(Endpoints::List(vec![3, 1, 0])));
    let wrong = list("[\"2-1\", 3, \"all\", \"0-1048575\"]").unwrap_err();
    let expected = "\
- traffic.traffic0.endpoints.0 | the range 2-1 ends before it begins | numbers, or ranges such as \"0-63\"
- traffic.traffic0.endpoints.2 | \"all\" is no range | numbers, or ranges such as \"0-63\"
- traffic.traffic0.endpoints.3 | with the range 0-1048575 the list has over 1048576 numbers | numbers, or ranges such as \"0-63\"
";
    assert_eq!(table(&wrong), expected, "\nfound:\n{}", table(&wrong));
    // Without its list the class would have all endpoints, and others none.
    let alone = with(&[("traffic.0.endpoints", "[\"5-1\"]"), ("traffic.1.endpoints", "[4, 5]")]).unwrap_err();
    assert_eq!(alone.len(), 1, "{}", table(&alone));
    let hot = LEAST.replace(
        "pattern = \"uniform\"",
        "pattern = \"hotspot\"\nsources = [\"0-1\"]\ndestinations = [\"2-3\"]\nmessage = \"4 flits\"",
    );
    let job = "[[job]]\nname = \"it\"\nranks = 2\nworkload = \"ring-exchange\"\nmessage = \"4 flits\"\nplacement = [\"0-1\"]\nshare = true\n";
    let scenario =
        parse(&format!("{}share = true\n{job}", hot)).unwrap_or_else(|found| panic!("{}", table(&found)));
    assert_eq!(scenario.job[0].placement, Placement::List(vec![0, 1]));
    let written = scenario.to_toml();
    assert!(written.contains("sources = [0, 1]\ndestinations = [2, 3]"), "{written}");
}

/// Of the routings those are told that suit the network.
#[test]
fn a_file_without_a_routing_is_told_which_suit() {
    let text = "[topology]\nkind = \"single-switch\"\nendpoints = 4\n[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.1\n\
                [run]\nwarmup = \"1 us\"\nduration = \"1 us\"\n";
    let told = told(&Scenario::parse(text, &[]).unwrap_err());
    assert!(told.contains("routing: this key is missing (such as routing = \"minimal\"; those that route a single-switch: minimal"), "{told}");
    assert!(!told.contains("valiant"), "{told}");
    let right = text.replacen("[topology]", "routing = \"minimal\"\n[topology]", 1);
    assert_eq!(Scenario::parse(&right, &[]).unwrap().problems(), []);
}
