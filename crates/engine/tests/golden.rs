//! Numbers of small runs, kept as text: a change of behaviour is a readable change of this table.
//! `UPDATE_GOLDEN=1 cargo test -p tailback-engine --test whole golden::` writes it anew; the commit says why it changed.
use crate::common::*;
use std::fmt::Write;

const DRAGONFLY: &str = "kind = \"dragonfly\"\np = 2\na = 4\nh = 2\ngroups = 9";
const TREE: &str = "kind = \"fat-tree\"\nlevels = 3\narity = 3";
const SINGLE: &str = "kind = \"single-switch\"\nendpoints = 10";
const TORUS: &str = "kind = \"torus\"\ndims = [4, 4]";
const KNS: &str = "kind = \"kns\"\nk = 4\nn = 2";

const UNIFORM: &str = "[[traffic]]\nname = \"u\"\npattern = \"uniform\"\nload = 0.5\nmessage = \"4 flits\"\n";
const PACKETS: &str = "[[traffic]]\nname = \"u\"\npattern = \"uniform\"\nload = 0.8\nmessage = \"24 flits\"\n[endpoint]\nacknowledge = false\n";
const LARGE: &str = "[[traffic]]\nname = \"u\"\npattern = \"uniform\"\nload = 0.7\n\
                     message = { sizes = [\"4 flits\", \"100 flits\"], shares = [0.5, 0.5], by = \"volume\" }\n";
const HOT: &str = "[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 6\ndestinations = 1\nload = 0.6\nmessage = \"4 flits\"\n\
                   [[traffic]]\nname = \"victim\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.3\nmessage = \"24 flits\"\n";
const HOTS: &str = "[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 30\ndestinations = 4\nload = 0.5\nmessage = \"4 flits\"\nstart = \"1 us\"\n\
                    [[traffic]]\nname = \"victim\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.4\nmessage = \"4 flits\"\n";
const WORST: &str =
    "[[traffic]]\nname = \"wc\"\npattern = \"worst-case\"\nn = 1\nload = 0.3\nmessage = \"4 flits\"\n";

/// Name, topology, routing, congestion control, and the rest.
const SCENARIOS: &[(&str, &str, &str, &str, &[&str])] = &[
    ("single switch, uniform", SINGLE, "kind = \"minimal\"", "kind = \"none\"", &[UNIFORM]),
    (
        "single switch, hot spot, ECN",
        SINGLE,
        "kind = \"minimal\"",
        "kind = \"ecn\"\nthreshold = \"48 flits\"",
        &[HOT],
    ),
    ("tree, random up, mixed sizes", TREE, "kind = \"nca\"", "kind = \"none\"", &[LARGE]),
    ("tree, hot spot, LHRP", TREE, "kind = \"nca\"", "kind = \"lhrp\"\nthreshold = \"100 flits\"", &[HOT]),
    ("dragonfly, PAR, uniform", DRAGONFLY, "kind = \"par\"", "kind = \"none\"", &[UNIFORM]),
    ("dragonfly, UGAL, worst case", DRAGONFLY, "kind = \"ugal\"", "kind = \"none\"", &[WORST]),
    (
        "dragonfly, Valiant, age, pipeline",
        DRAGONFLY,
        "kind = \"valiant\"",
        "kind = \"none\"",
        &[LARGE, "[switch]\nkind = \"cioq\"\narbitration = \"age\"\npipeline = \"20 ns\"\n"],
    ),
    (
        "dragonfly, hot spot, LHRP, fabric drop",
        DRAGONFLY,
        "kind = \"par\"",
        "kind = \"lhrp\"\nthreshold = \"100 flits\"\nfabric_drop = \"500 ns\"",
        &[HOT],
    ),
    (
        "dragonfly, hot spots, LHRP",
        DRAGONFLY,
        "kind = \"par\"",
        "kind = \"lhrp\"\nthreshold = \"200 flits\"",
        &[HOTS],
    ),
    (
        "dragonfly, hot spots, DCQCN",
        DRAGONFLY,
        "kind = \"par\"",
        "kind = \"dcqcn\"\nmark_from = \"24 flits\"\nmark_all = \"400 flits\"\nmark_chance = 0.2\ncnp_interval = \"1 us\"\ntimer = \"1 us\"",
        &[HOTS],
    ),
    (
        "dragonfly, hot spots, DCQCN of ConnectX",
        DRAGONFLY,
        "kind = \"par\"",
        "kind = \"dcqcn-connectx\"\nmark_from = \"24 flits\"\nmark_all = \"400 flits\"\ntimer = \"10 us\"",
        &[HOTS],
    ),
    ("dragonfly, hot spots, Swift", DRAGONFLY, "kind = \"par\"", "kind = \"swift\"", &[HOTS]),
    ("dragonfly, hot spots, HPCC", DRAGONFLY, "kind = \"par\"", "kind = \"hpcc\"", &[HOTS]),
    ("dragonfly, hot spots, NSCC", DRAGONFLY, "kind = \"par\"", "kind = \"nscc\"", &[HOTS]),
    ("dragonfly, hot spots, RCCC", DRAGONFLY, "kind = \"par\"", "kind = \"rccc\"", &[HOTS]),
    ("dragonfly, hot spots, NSCC and RCCC", DRAGONFLY, "kind = \"par\"", "kind = \"nscc+rccc\"", &[HOTS]),
    ("dragonfly, hot spots, SMSRP", DRAGONFLY, "kind = \"par\"", "kind = \"smsrp\"", &[HOTS]),
    (
        "dragonfly, hot spots, SRP, at once",
        DRAGONFLY,
        "kind = \"par\"",
        "kind = \"srp\"\nn_min = \"0 flits\"",
        &[HOTS, "[packet]\ninterleave = true\n"],
    ),
    (
        "dragonfly, hot spot, FIFO, random",
        DRAGONFLY,
        "kind = \"minimal\"",
        "kind = \"none\"",
        &[
            HOT,
            "[switch]\nkind = \"cioq\"\narbitration = \"random\"\nvoq = false\n[endpoint]\nqueues = \"fifo\"\n",
        ],
    ),
    (
        "torus with bubbles, parallel reads, DBBM",
        TORUS,
        "kind = \"dor\"\ndeadlock = \"bubble\"",
        "kind = \"none\"",
        &[
            PACKETS,
            "[switch]\nkind = \"input-queued\"\nparallel_reads = true\ninput_buffer = { per = \"port\", size = \"16 packets\" }\n\
             [queueing]\nkind = \"dbbm\"\nqueues = 4\n",
        ],
    ),
    (
        "KNS, DAMQ, shared buffers, no virtual output queues",
        KNS,
        "kind = \"dor\"\norders = [\"xy\", \"yx\"]\nchoose = \"occupancy\"",
        "kind = \"none\"",
        &[
            HOT,
            "[switch]\nkind = \"input-queued\"\nvoq = false\n\
             input_buffer = { per = \"port\", size = \"64 packets\", shared = true }\n[queueing]\nkind = \"damq\"\nqueues = 4\n",
        ],
    ),
    (
        "tree, output queues, CODES_CC",
        TREE,
        "kind = \"nca\"",
        "kind = \"codes-cc\"\nbuffer = \"200 flits\"",
        &[HOT, "[switch]\nkind = \"output-queued\"\noutput_buffer = \"4 packets\"\n"],
    ),
    (
        "dragonfly, CODES_CC as coded, in band",
        DRAGONFLY,
        "kind = \"par\"",
        "kind = \"codes-cc\"\nbuffer = \"200 flits\"\nvariant = \"as coded\"\nsignals = \"in band\"",
        &[HOTS],
    ),
    (
        "dragonfly, UGAL, SST_CM",
        DRAGONFLY,
        "kind = \"ugal\"",
        "kind = \"sst-cm\"\nstreams = 2\noutstanding = \"48 flits\"\nsmallest = \"2 flits\"",
        &[HOTS, "[switch]\nkind = \"shared-buffer\"\n"],
    ),
    (
        "tree with rows, SAA",
        "kind = \"k-ary-n-tree\"\nk = 4\nn = 2\nhorizontal = 2",
        "kind = \"flow-adaptive\"",
        "kind = \"saa\"\nprobe_period = \"200 ns\"\nhold = \"500 ns\"",
        &[LARGE, "[switch]\nkind = \"shared-buffer\"\narbitration = \"age\"\n"],
    ),
    (
        "tree, stored and forwarded, NSCC",
        TREE,
        "kind = \"nca\"",
        "kind = \"nscc\"",
        &[HOT, "[switch]\nkind = \"output-queued\"\nforwarding = \"store-and-forward\"\n"],
    ),
];

fn table() -> String {
    let mut table = String::new();
    for (name, network, routing, protocol, rest) in SCENARIOS {
        let run_table = "[run]\nwarmup = \"2 us\"\nduration = \"5 us\"\ndrain = \"5 us\"\n";
        let rest = format!("{run_table}{}", rest.concat());
        let output = run(&file(network, routing, protocol, &rest));
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
