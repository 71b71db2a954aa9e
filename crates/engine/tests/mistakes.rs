//! What the reader of scenario files says of mistakes, and of files that are damaged.
use crate::full::*;
use proptest::prelude::*;

#[track_caller]
fn assert_table(text: &str, expected: &str) {
    let found = table(&parse(text).expect_err("there are mistakes"));
    assert_eq!(found, expected, "\nfound:\n{found}\nexpected:\n{expected}");
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
speedup = "endless"
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
5:1 link.bandwith | unknown key | did you mean bandwidth? one of: bandwidth, latency, flow_control, slow, failed
6:8 link.host | "flits" is a unit of size, not of time | a time such as "5 ns"; units: ps, ns, us, µs, ms, s, cycles; or a key of this table: bandwidth, latency, flow_control, slow, failed
8:8 packet.flit | expected a size such as "4 flits", found the integer 100
9:7 packet.max | the unit "KB" could be 1000 or 1024 bytes | kB or KiB?
12:11 switch.speedup | expected "infinite" or a whole number from 1 to 1000, found the text "endless"
13:16 switch.input_buffer | expected "credit round trip", a size such as "4 flits" or a table of per, size, shared, found the text "credit roundtrip"
14:7 switch.voq | expected true or false or a list (each text in quotes), found the integer 1
16:10 endpoint.queues | unknown value "lifo" | did you mean fifo? one of: per destination, fifo
17:2 routing.kind | this key is missing | one of: …
20:13 congestion_control.threshold | "-1 flits" is negative | a size such as "4 flits"; units: b, B, kB, MB, GB, TB, KiB, MiB, GiB, TiB, flits, packets
21:1 congestion_control.treshold | unknown key | did you mean threshold? one of: kind, threshold, fabric_drop, coalesce_after, lead, stops
25:8 traffic.hot.load | expected a number from 0 to 1 or a text such as "40 %", found the number 1.5
26:1 traffic.hot.message.shares | this key is missing | expected a list (each a number from 0 to 1 or a text such as "40 %")
26:34 traffic.hot.message.share | unknown key | did you mean shares? one of: sizes, shares, by
27:24 traffic.hot.endpoints.sample | expected a whole number of at least 0, found the integer -3
29:11 traffic.traffic1.pattern | unknown pattern "unform" | did you mean uniform? one of: …
30:8 traffic.traffic1.load | expected a number from 0 to 1 or a text such as "40 %", found the text "much"
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
    let expected = r#"5:1 link.latancy | this topology has no such link class | did you mean latency? one of: bandwidth, latency, flow_control, slow, failed, host
6:34 link.bandwidth.global | this topology has no such link class | one of: host
9:1 packet.control | a control packet has 30 flits | 1 to 24 flits
12:1 switch.input_buffer | a buffer of 16 flits cannot hold a packet | at least "1 packet", 24 flits
15:1 traffic.a.load | the load is missing | give load (a fraction of each source's channel) or load_per_destination
18:45 traffic.a.message.shares | the shares add up to 0.9 | they must add up to 1
20:1 traffic.1.name | another class is called "a" too | give each class its own name
23:1 traffic.1.load_per_destination | both load and load_per_destination are given | remove one of them
24:1 traffic.1.endpoints | there is no endpoint 64 | endpoints are numbered from 0 to 63
29:13 traffic.c.message.from | 9 flits is more than 1 flit | from must not be more than to
31:1 traffic.c.stop | stops at 4 us, but starts at 5 us | stop must be after start
32:1 traffic.c.endpoints | endpoint 3 is named twice | name each once
34:1 run.memory | memory is not counted in flits or packets | such as "4 GB"
"#;
    assert_table(text, expected);
}

#[test]
fn a_routing_that_does_not_exist_hides_no_other_mistake() {
    let text = r#"
[topology]
kind = "dragonfly"
p = 2
a = 4
h = 2
groups = 9
[link]
globl = "1 us"
[routing]
kind = "ugla"
[[traffic]]
pattern = "hotspot"
sources = 100
destinations = 1
load = 0.5
"#;
    let expected = r#"9:1 link.globl | this topology has no such link class | did you mean global? one of: bandwidth, latency, flow_control, slow, failed, host, local, global
11:8 routing.kind | unknown kind "ugla" | did you mean ugal? one of: …
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
fn what_newcomers_write_of_lists_and_text_has_a_remedy() {
    let expected = "2:8  | this is not TOML: invalid boolean, expected `false` | text stands in quotes, and the other values are true and false\n";
    assert_table("[topology]\nkind = fat-tree\n", expected);
    let expected = "3:3  | this is not TOML: duplicate key | every table of a list begins with two brackets, the first too\n";
    assert_table("[traffic]\npattern = \"uniform\"\n[[traffic]]\n", expected);
    let found = parse("[traffic]\npattern = \"uniform\"\n").expect_err("it is a table");
    assert!(
        found
            .iter()
            .any(|problem| problem.path == "traffic" && problem.help == "[[traffic]] in place of [traffic]")
    );
}

#[test]
fn a_packet_of_a_wrong_size_is_refused() {
    for (key, size, path) in [
        ("packet.flit", "1 flit", "packet.flit"),
        ("packet.max", "4096 flits", "packet.max"),
        ("packet.max", "1 packet", "packet.max"),
        ("packet.max", "0 B", "packet.max"),
        ("packet.max", "99 b", "packet.max"),
        ("packet.control", "0 flits", "packet.control"),
    ] {
        let problems = with(&[(key, size)]).unwrap_err();
        assert_eq!(problems[0].path, path, "{}", table(&problems));
    }
}

#[test]
fn mistakes_in_a_kind_that_stands_alone_or_with_its_parameters_are_told_where_it_stands() {
    for (value, expected) in [
        ("onoff", "traffic.hot.process.kind | unknown kind \"onoff\" | did you mean on-off? one of: …"),
        (
            "3",
            "traffic.hot.process | expected a kind in quotes, or a table with the key kind, one of bernoulli, periodic, one-shot, on-off, found the integer 3",
        ),
        (
            "{ kind = \"on-off\", burst = \"0 flits\", peak = 0 }",
            "traffic.hot.process.burst | must be over 0 | a size such as \"4 flits\"\n\
             - traffic.hot.process.peak | expected a number over 0, at most 1 or a text such as \"40 %\", found the integer 0",
        ),
        (
            "{ kind = \"on-off\", peak = 0.4 }",
            "traffic.hot.load | 0.5 is more than the process can offer | at most 0.4",
        ),
        ("{ burst = \"2 flits\" }", "traffic.hot.process.kind | this key is missing | one of: …"),
    ] {
        let mut problems = match with(&[("traffic.hot.process", value)]) {
            Ok(scenario) => tailback_engine::run::check(&scenario),
            Err(problems) => problems,
        };
        problems.retain(|problem| problem.path.starts_with("traffic.hot"));
        assert_eq!(table(&problems), format!("- {expected}\n"));
    }
}

#[test]
fn a_burst_that_is_next_to_nothing_of_a_message_is_refused() {
    let bursts = "{ kind = \"on-off\", burst = \"1 flit\" }";
    let scenario = with(&[("traffic.hot.process", bursts), ("traffic.hot.message", "4000 flits")]).unwrap();
    let problems = tailback_engine::run::check(&scenario);
    let told = "traffic.hot.process.burst | a burst of 1 flit is next to nothing of a message, which has 4000 flits on average";
    assert!(table(&problems).contains(told), "{}", table(&problems));
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

#[test]
fn a_key_in_the_wrong_section_is_told_where_it_belongs() {
    let text = "flow_control = \"pfc\"\n[topology]\nkind = \"single-switch\"\nendpoints = 4\nacknowledge = false\n[packet]\nstart = \"1 us\"\n\
                [routing]\nkind = \"minimal\"\n[[traffic]]\npattern = \"uniform\"\nload = 0.1\nsources = 2\nbandwidth = \"1 Gb/s\"\n";
    let told = parse(text).expect_err("there are mistakes");
    let help = |path: &str| {
        let one = told.iter().find(|one| one.path == path).unwrap_or_else(|| panic!("{path}: {told:?}"));
        one.help.split(" one of").next().unwrap_or("").to_string()
    };
    assert_eq!(help("flow_control"), "[link] has such a key;");
    assert_eq!(help("topology.acknowledge"), "[endpoint] has such a key;");
    assert_eq!(help("traffic.traffic0.bandwidth"), "[link] has such a key;");
    assert_eq!(help("packet.start"), "[[traffic]] or [[job]] has such a key;");
    // Another pattern has it.
    assert!(!help("traffic.traffic0.sources").contains("has such a key"));
}
