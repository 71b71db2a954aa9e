//! The reader of scenario files: what it accepts, and what it says of mistakes.
use proptest::prelude::*;
use tailback_engine::problem::Problem;
use tailback_engine::scenario::Scenario;

/// A file that uses most keys. Only the kinds in `[topology]`, `[routing]` and `pattern` depend on what is built in.
const FULL: &str = r#"title = "a bit of everything"
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

/// The least file there can be.
const LEAST: &str = "topology = { kind = \"single-switch\", endpoints = 4 }\nrouting.kind = \"minimal\"\n\
                     [[traffic]]\npattern = \"uniform\"\nload = 1\n";

fn parse(text: &str) -> Result<Scenario, Vec<Problem>> {
    Scenario::parse(text, &[])
}

fn with(overrides: &[(&str, &str)]) -> Result<Scenario, Vec<Problem>> {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Scenario::parse(FULL, &overrides)
}

fn value(scenario: &Scenario) -> serde_json::Value {
    serde_json::to_value(scenario).unwrap()
}

/// The problems as a table: line:column path | message | help. Lists of kinds are cut, so that a new kind changes no
/// table.
fn table(problems: &[Problem]) -> String {
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

#[track_caller]
fn assert_table(text: &str, expected: &str) {
    let found = table(&parse(text).expect_err("there are mistakes"));
    assert_eq!(found, expected, "\nfound:\n{found}\nexpected:\n{expected}");
}

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
fn the_least_file_has_every_default_filled_in() {
    let expected = r#"title = ""

[topology]
kind = "single-switch"
endpoints = 4

[link]
bandwidth = "100 Gb/s"
latency = "10 ns"

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
arbitration = "round-robin"
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
process = "bernoulli"
start = "0 ps"
share = false

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
control = false
occupancy = []
"#;
    let found = parse(LEAST).unwrap().to_toml();
    assert_eq!(found, expected, "\nfound:\n{found}");
}

#[test]
fn every_mistake_of_a_file_is_told_with_its_place_and_remedy() {
    let text = r#"titel = "x"
[topology]
kind = "single-swich"
[link]
bandwith = "100 Gb/s"
host = "5 flits"
[packet]
flit = 100
max = "4 KB"
[switch]
kind = "cioq"
speedup = "infinite"
input_buffer = "credit roundtrip"
voq = 1
[endpoint]
queues = "lifo"
[routing]
[congestion_control]
kind = "lhrp"
threshold = "-1 flits"
treshold = "5 flits"
[[traffic]]
name = "hot"
pattern = "uniform"
load = 1.5
message = { sizes = ["4 flits"], share = [1.0] }
endpoints = { sample = -3 }
[[traffic]]
pattern = "unform"
load = "much"
start = "0.5 ps"
[run]
threads = 0
duration = "0 us"
seed = 1.5
[record]
series = true
"#;
    let expected = r#"1:1 titel | unknown key | did you mean title? one of: title, preset, topology, link, packet, switch, endpoint, routing, queueing, congestion_control, traffic, job, run, record
3:8 topology.kind | unknown kind "single-swich" | did you mean single-switch? one of: …
5:1 link.bandwith | unknown key | did you mean bandwidth? one of: bandwidth, latency
6:8 link.host | "flits" is a unit of size, not of time | a time such as "5 ns"; units: ps, ns, us, µs, ms, s, cycles
8:8 packet.flit | expected a size such as "4 flits", found the integer 100
9:7 packet.max | the unit "KB" could be 1000 or 1024 bytes | kB or KiB?
12:11 switch.speedup | expected a whole number from 1 to 1000, found the text "infinite"
13:16 switch.input_buffer | expected "credit round trip", a size such as "4 flits" or a table of per, size, shared, found the text "credit roundtrip"
14:7 switch.voq | expected true or false or a list (each text in quotes), found the integer 1
16:10 endpoint.queues | unknown value "lifo" | did you mean fifo? one of: per destination, fifo
17:2 routing.kind | this key is missing | one of: …
20:13 congestion_control.threshold | "-1 flits" is negative | a size such as "4 flits"; units: b, B, kB, MB, GB, TB, KiB, MiB, GiB, TiB, flits, packets
21:1 congestion_control.treshold | unknown key | did you mean threshold? one of: kind, threshold, fabric_drop, coalesce_after, stops
25:8 traffic.hot.load | expected a number from 0 to 1, found the number 1.5
26:1 traffic.hot.message.shares | this key is missing | expected a list (each a number from 0 to 1)
26:34 traffic.hot.message.share | unknown key | did you mean shares? one of: sizes, shares, by
27:24 traffic.hot.endpoints.sample | expected a whole number of at least 0, found the integer -3
29:11 traffic.traffic1.pattern | unknown pattern "unform" | did you mean uniform? one of: …
30:8 traffic.traffic1.load | expected a number from 0 to 1, found the text "much"
31:9 traffic.traffic1.start | "0.5 ps" is not a whole number of ps | a time such as "5 ns"; units: ps, ns, us, µs, ms, s, cycles
33:11 run.threads | expected a whole number from 1 to 4096, found the integer 0
34:12 run.duration | must be over 0 | a time such as "5 ns"
35:8 run.seed | expected a whole number of at least 0, found the number 1.5
37:10 record.series | expected a time such as "5 ns", found true
"#;
    assert_table(text, expected);
}

#[test]
fn mistakes_across_keys_are_told_with_their_place_and_remedy() {
    let text = r#"[topology]
kind = "single-switch"
endpoints = 64
[link]
latancy = "5 ns"
bandwidth = { host = "100 Gb/s", global = "50 Gb/s" }
[packet]
max = "24 flits"
control = "30 flits"
[switch]
kind = "cioq"
input_buffer = "16 flits"
[routing]
kind = "minimal"
[[traffic]]
name = "a"
pattern = "uniform"
message = { sizes = ["4 flits", "8 flits"], shares = [0.5, 0.4] }
[[traffic]]
name = "a"
pattern = "uniform"
load = 0.5
load_per_destination = 0.5
endpoints = [1, 64]
[[traffic]]
name = "c"
pattern = "uniform"
load = 0.5
message = { from = "9 flits", to = "1 flit" }
start = "5 us"
stop = "4 us"
endpoints = [3, 3]
[run]
memory = "4 flits"
"#;
    let expected = r#"5:1 link.latancy | this topology has no such link class | did you mean latency? one of: bandwidth, latency, host
6:34 link.bandwidth.global | this topology has no such link class | one of: host
9:1 packet.control | a control packet has 30 flits | 1 to 24 flits
12:1 switch.input_buffer | a buffer of 16 flits cannot hold a packet | at least "1 packet", 24 flits
15:1 traffic.a.load | the load is missing | give load (a fraction of each source's channel) or load_per_destination
18:45 traffic.a.message.shares | the shares add up to 0.9 | they must add up to 1
20:1 traffic.1.name | another class is called "a" too | give each class its own name
23:1 traffic.1.load_per_destination | both load and load_per_destination are given | remove one of them
24:1 traffic.1.endpoints | there is no endpoint 64 | endpoints are numbered from 0 to 63
29:13 traffic.c.message.from | 9 flits is more than 1 flit | from must not be more than to
31:1 traffic.c.stop | stops at 4 us, before it starts at 5 us | stop must not be before start
32:1 traffic.c.endpoints | endpoint 3 is named twice | name each once
34:1 run.memory | memory is not counted in flits or packets | such as "4 GB"
"#;
    assert_table(text, expected);
}

#[test]
fn broken_syntax_is_told_with_its_place() {
    let expected = r#"1:9  | this is not TOML: string values must be quoted, expected literal string
2:5  | this is not TOML: unclosed table, expected `]`
"#;
    assert_table("title = \n[run\nseed = 1 2\n", expected);
}

#[test]
fn a_packet_of_a_wrong_size_is_refused() {
    for (key, size, path) in [
        ("packet.flit", "1 flit", "packet.flit"),
        ("packet.max", "4096 flits", "packet.max"),
        ("packet.max", "1 packet", "packet.max"),
        ("packet.max", "0 B", "packet.max"),
        ("packet.control", "0 flits", "packet.control"),
    ] {
        let problems = with(&[(key, size)]).unwrap_err();
        assert_eq!(problems[0].path, path, "{}", table(&problems));
    }
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
- traffic.victim.load | expected a number from 0 to 1, found the integer 7
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
- traffic.hot.stop | stops at 1 us, before it starts at 20 us | stop must not be before start
";
    let found = table(&problems.unwrap_err());
    assert_eq!(found, expected, "\nfound:\n{found}");
}

/// The example of the documentation, once the kinds it uses are there.
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
    let kinds = tailback_engine::registry::kinds();
    let has =
        |seam: &str, name: &str| kinds[seam].as_array().unwrap().iter().any(|kind| kind["name"] == name);
    if has("topologies", "dragonfly") && has("routings", "par") && has("traffic_patterns", "hotspot") {
        assert!(parse(EXAMPLE).is_ok(), "{}", table(&parse(EXAMPLE).unwrap_err()));
    }
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
    assert_eq!(parse(&format!("{FULL}[sweep]\nload = 3\n")).unwrap_err()[0].path, "sweep.load");
}

#[test]
fn a_huge_file_of_garbage_is_answered_by_a_hundred_problems() {
    let started = std::time::Instant::now();
    let keys: String = (0..300_000).map(|n| format!("key{n} = {n}\n")).collect();
    for text in ["?!\n".repeat(300_000), keys, "[[traffic]]\nx = 1\n".repeat(100_000), "a.".repeat(300_000)] {
        let problems = parse(&text).unwrap_err();
        assert!(problems.len() <= 101);
    }
    for nested in ["[", "{a="] {
        assert!(parse(&format!("x = {}", nested.repeat(300_000))).is_err());
    }
    let deep = "a.".repeat(300_000);
    for text in
        [format!("[{deep}a]"), format!("[[{deep}a]]"), format!("x = {{{deep}a = 1}}"), format!("{deep}a = 1")]
    {
        assert!(parse(&text).is_err());
    }
    assert!(started.elapsed().as_secs() < 60, "took {:?}", started.elapsed());
}

/// A file with some bytes changed, lines lost, doubled or swapped, values exchanged.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (0u8..6, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>());
    prop::collection::vec(edit, 1..6).prop_map(|edits| {
        let damage = |text, (what, a, b, byte)| mutate(text, what, a, b, byte);
        edits.into_iter().fold(FULL.to_string(), damage)
    })
}

fn mutate(text: String, what: u8, a: prop::sample::Index, b: prop::sample::Index, byte: u8) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    if lines.is_empty() {
        return text;
    }
    let (i, j) = (a.index(lines.len()), b.index(lines.len()));
    match what {
        0 => {
            let mut bytes = text.into_bytes();
            let at = a.index(bytes.len());
            bytes[at] = byte;
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        1 => drop(lines.remove(i)),
        2 => lines.insert(j, lines[i].clone()),
        3 => lines.swap(i, j),
        _ => {
            let value = lines[j].split_once('=').map(|(_, value)| value.to_string());
            let key = lines[i].split_once('=').map(|(key, _)| key.to_string());
            if let (Some(key), Some(value)) = (key, value) {
                lines[i] = format!("{key}={value}");
            }
        }
    }
    lines.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_is_read_or_refused_and_never_panics(text in mutated()) {
        match parse(&text) {
            Ok(scenario) => {
                let again = parse(&scenario.to_toml());
                prop_assert_eq!(again.ok().map(|s| value(&s)), Some(value(&scenario)));
                prop_assert_eq!(scenario.problems(), vec![]);
            }
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                let lines = text.lines().count() + 1;
                prop_assert!(problems.iter().all(|p| p.line.is_none_or(|line| line >= 1 && line <= lines)));
            }
        }
    }

    #[test]
    fn any_override_is_read_or_refused_and_never_panics(
        key in "\\PC{0,12}|(traffic|run|link)\\.[a-z0-9.\"]{0,12}",
        text in "\\PC{0,12}",
    ) {
        let _ = with(&[(&key, &text)]);
    }
}
