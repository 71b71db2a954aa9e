//! Numbers of small runs, kept as text: a change of behaviour is a readable change of this table.
//! `UPDATE_GOLDEN=1 cargo test --test golden` writes it anew; the commit says why it changed.
mod common;
use common::*;
use std::fmt::Write;

const DRAGONFLY: &str = "kind = \"dragonfly\"\np = 2\na = 4\nh = 2\ngroups = 9";
const TREE: &str = "kind = \"fat-tree\"\nlevels = 3\narity = 3";
const SINGLE: &str = "kind = \"single-switch\"\nendpoints = 10";

const UNIFORM: &str = "[[traffic]]\nname = \"u\"\npattern = \"uniform\"\nload = 0.5\nmessage = \"4 flits\"\n";
const LARGE: &str = "[[traffic]]\nname = \"u\"\npattern = \"uniform\"\nload = 0.7\n\
                     message = { sizes = [\"4 flits\", \"100 flits\"], shares = [0.5, 0.5], by = \"volume\" }\n";
const HOT: &str = "[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 6\ndestinations = 1\nload = 0.6\nmessage = \"4 flits\"\n\
                   [[traffic]]\nname = \"victim\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.3\nmessage = \"24 flits\"\n";
const HOTS: &str = "[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 30\ndestinations = 4\nload = 0.5\nmessage = \"4 flits\"\nstart = \"4 us\"\n\
                    [[traffic]]\nname = \"victim\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.4\nmessage = \"4 flits\"\n";
const WORST: &str =
    "[[traffic]]\nname = \"wc\"\npattern = \"worst-case\"\nn = 1\nload = 0.3\nmessage = \"4 flits\"\n";

/// Name, topology, routing, congestion control, and the rest.
const SCENARIOS: &[(&str, &str, &str, &str, &[&str])] = &[
    ("single switch, uniform", SINGLE, "minimal", "kind = \"none\"", &[UNIFORM]),
    ("single switch, hot spot, ECN", SINGLE, "minimal", "kind = \"ecn\"\nthreshold = \"48 flits\"", &[HOT]),
    ("tree, random up, mixed sizes", TREE, "nca", "kind = \"none\"", &[LARGE]),
    ("tree, hot spot, LHRP", TREE, "nca", "kind = \"lhrp\"\nthreshold = \"100 flits\"", &[HOT]),
    ("dragonfly, PAR, uniform", DRAGONFLY, "par", "kind = \"none\"", &[UNIFORM]),
    ("dragonfly, UGAL, worst case", DRAGONFLY, "ugal", "kind = \"none\"", &[WORST]),
    (
        "dragonfly, Valiant, age, pipeline",
        DRAGONFLY,
        "valiant",
        "kind = \"none\"",
        &[LARGE, "[switch]\nkind = \"cioq\"\narbitration = \"age\"\npipeline = \"20 ns\"\n"],
    ),
    (
        "dragonfly, hot spot, LHRP, fabric drop",
        DRAGONFLY,
        "par",
        "kind = \"lhrp\"\nthreshold = \"100 flits\"\nfabric_drop = \"500 ns\"",
        &[HOT],
    ),
    ("dragonfly, hot spots, LHRP", DRAGONFLY, "par", "kind = \"lhrp\"\nthreshold = \"200 flits\"", &[HOTS]),
    ("dragonfly, hot spots, SMSRP", DRAGONFLY, "par", "kind = \"smsrp\"", &[HOTS]),
    (
        "dragonfly, hot spots, SRP, at once",
        DRAGONFLY,
        "par",
        "kind = \"srp\"\nn_min = \"0 flits\"",
        &[HOTS, "[packet]\ninterleave = true\n"],
    ),
    (
        "dragonfly, hot spot, FIFO, random",
        DRAGONFLY,
        "minimal",
        "kind = \"none\"",
        &[
            HOT,
            "[switch]\nkind = \"cioq\"\narbitration = \"random\"\nvoq = false\n[endpoint]\nqueues = \"fifo\"\n",
        ],
    ),
];

fn table() -> String {
    let mut table = String::new();
    for (name, network, routing, protocol, rest) in SCENARIOS {
        let run_table = "[run]\nwarmup = \"5 us\"\nduration = \"10 us\"\ndrain = \"10 us\"\n";
        let rest = format!("{run_table}{}", rest.concat());
        let output = run(&file(network, &format!("kind = \"{routing}\""), protocol, &rest));
        let (hops, checksum) = (&output.summary["packet_hops"], &output.summary["checksum"]);
        writeln!(table, "{name}\n  packet_hops {hops}  checksum {checksum}").unwrap();
        for (class, values) in output.summary["classes"].as_object().unwrap() {
            let cell = |key: &str| match values[key].as_f64() {
                Some(value) => format!("{key} {value:.6}  "),
                None => format!("{key} -  "),
            };
            let keys = [
                "offered",
                "accepted",
                "messages",
                "unfinished",
                "hops_mean",
                "dropped_packets",
                "resent_packets",
            ];
            let cells: String = keys.map(cell).concat();
            let mean = |kind: &str| match values[format!("{kind}_latency_ns")]["mean"].as_f64() {
                Some(value) => format!("{value:.3}"),
                None => "-".to_string(),
            };
            let latencies = ["packet", "network", "message"].map(mean).join(" ");
            writeln!(table, "  {class}: {cells}latencies_ns {latencies}").unwrap();
        }
    }
    table
}

#[test]
fn the_numbers_of_small_runs_are_those_kept() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/runs.txt");
    let found = table();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &found).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(path).expect("UPDATE_GOLDEN=1 writes the table");
    for (found, kept) in found.lines().zip(kept.lines()) {
        assert_eq!(found, kept);
    }
    assert_eq!(found, kept);
}
