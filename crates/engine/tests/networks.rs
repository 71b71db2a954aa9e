//! Networks from files, and what is known of networks without running them.
mod common;
use common::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tailback_engine::deadlock;
use tailback_engine::report::RunError;
use tailback_engine::routing::Routing;
use tailback_engine::run::load;
use tailback_engine::topology::Wiring;
use tailback_engine::units::{Rate, Scale};

/// A connected graph of `n` switches with a host each: a tree given by `up`, and further links.
fn edges(n: u32, up: &[u32], more: &[(u32, u32)]) -> String {
    let mut joined = std::collections::BTreeSet::new();
    let mut text: String = (0..n).map(|at| format!("h{at} s{at}\n")).collect();
    let tree = (1..n).map(|at| (up[at as usize] % at, at));
    let more = more.iter().map(|(a, b)| (a % n, b % n)).filter(|(a, b)| a != b);
    for (a, b) in tree.chain(more).map(|(a, b)| (a.min(b), a.max(b))) {
        if joined.insert((a, b)) {
            text += &format!("s{a}, s{b}, {} Gb/s, {} ns\n", 50 * (1 + a % 3), 10 * (1 + b % 2));
        }
    }
    text
}

/// All routings of a network from a file, the static check first, then full load: nothing is lost, nothing stops.
fn holds_under_full_load(text: &str) {
    let network = format!("kind = \"file\"\nformat = \"edges\"\ntext = '''\n{text}'''");
    let topology = topology(&network);
    assert_eq!(topology.problems(), []);
    let graph = topology.graph();
    let scale = Scale { flit_bits: 100, packet_flits: 24, host: Rate(100_000_000_000) };
    for routing in routings(&network) {
        let router = toml::from_str::<Routing>(&routing).unwrap().bind(&topology, &graph, &scale).unwrap();
        if let Err(fault) = deadlock::check(&graph, &*router, topology.link_classes()) {
            panic!("{fault}\n{routing}\n{text}");
        }
        let rest = "[switch]\nkind = \"cioq\"\ninput_buffer = \"1 packet\"\noutput_buffer = \"1 packet\"\n\
                    [[traffic]]\nname = \"full\"\npattern = \"uniform\"\nload = 1.0\nmessage = \"20 flits\"\n\
                    [run]\nwarmup = \"8 us\"\nduration = \"4 us\"\ndrain = \"0 us\"\n[record]\nsources = true\n";
        let output = run(&file(&network, &routing, "kind = \"none\"", rest));
        assert!(number(&output, "full", "accepted") > 0.0, "nothing moves\n{routing}\n{text}");
    }
}

#[test]
fn thirty_random_networks_hold_under_full_load() {
    let mut runner = TestRunner::new(Config { cases: 30, failure_persistence: None, ..Config::default() });
    let graphs =
        (4u32..9, prop::collection::vec(0u32..100, 9), prop::collection::vec((0u32..9, 0u32..9), 0..12));
    let outcome = runner.run(&graphs, |(n, up, more)| {
        holds_under_full_load(&edges(n, &up, &more));
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn a_network_from_a_file_is_kept_with_its_scenario() {
    use tailback_engine::scenario::Scenario;
    let text = "[topology]\nkind = \"file\"\npath = \"ring.txt\"\n[routing]\nkind = \"shortest\"\n\
                [[traffic]]\npattern = \"uniform\"\nload = 0.1\n";
    let problems = Scenario::parse(text, &[]).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "line 3: topology.path: ring.txt is empty, or was not read (a file with a network)"
    );
    let files = Scenario::files(text, &[]);
    assert_eq!(files, [("topology.text".to_string(), "ring.txt".to_string())]);
    let given = (files[0].0.clone(), Scenario::quoted("h0 \"s\"\nh1 \"s\"\n"));
    let scenario = Scenario::parse(text, &[given]).unwrap();
    let whole = scenario.to_toml();
    assert!(Scenario::files(&whole, &[]).is_empty());
    assert_eq!(Scenario::parse(&whole, &[]).unwrap().topology, scenario.topology);
    let wrong = (files[0].0.clone(), Scenario::quoted("h0 s\nh1 h1\nx"));
    let told = Scenario::parse(text, &[wrong]).unwrap_err();
    assert_eq!(told.len(), 2);
    assert!(told[1].message.starts_with("ring.txt line 3: "), "{}", told[1]);
}

/// The throughput bound of a pattern, and the load of each link class: mean and greatest.
fn linear(network: &str, routing: &str, pattern: &str) -> (f64, serde_json::Value) {
    let traffic = format!("[[traffic]]\nname = \"t\"\npattern = {pattern}\nload = 0.1\n");
    let facts =
        load(&read(&file(network, &format!("kind = \"{routing}\""), "kind = \"none\"", &traffic))).unwrap();
    (facts["bounds"][0]["throughput_bound"].as_f64().unwrap(), facts)
}

fn mean_of(facts: &serde_json::Value, class: &str) -> (f64, f64) {
    let rows = facts["channel_loads"].as_array().unwrap();
    let row = rows.iter().find(|row| row["link_class"] == class).unwrap();
    (row["load_mean"].as_f64().unwrap(), row["load_max"].as_f64().unwrap())
}

const UNIFORM: &str = "\"uniform\"\nself = true";

fn close(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-9, "{one} is not {other}");
}

#[test]
fn channel_loads_are_those_of_the_closed_forms() {
    // A ring of k: k/8 of uniform traffic on every channel (a tie at k/2 goes either way); tornado, k/2 − 1 hops one way.
    for k in [4, 8, 12] {
        let ring = format!("kind = \"torus\"\ndims = [{k}]");
        let (bound, facts) = linear(&ring, "dor", UNIFORM);
        close(mean_of(&facts, "x").0, f64::from(k) / 8.0);
        close(mean_of(&facts, "x").1, f64::from(k) / 8.0);
        close(bound, (8.0 / f64::from(k)).min(1.0));
        close(linear(&ring, "dor", "\"tornado\"").0, 2.0 / f64::from(k - 2));
    }
    let (bound, facts) = linear("kind = \"torus\"\ndims = [4, 12]", "minimal", UNIFORM);
    close(bound, 8.0 / 12.0);
    assert!(facts["bounds"][0]["bottleneck"].as_str().unwrap().contains("(y)"), "{facts}");
    // A mesh of k: k/4 in the middle.
    close(linear("kind = \"mesh\"\ndims = [8, 2]", "dor", UNIFORM).0, 0.5);
    // A tree: what leaves a leaf switch of k endpoints, (N − k)/N of their traffic, over its ports up.
    let (bound, facts) = linear("kind = \"fat-tree\"\nlevels = 2\narity = 4", "nca", UNIFORM);
    close(mean_of(&facts, "level1").1, 0.75);
    close(mean_of(&facts, "ejection").0, 1.0);
    close(bound, 1.0);
    close(linear("kind = \"fat-tree\"\nlevels = 3\narity = 4\ntaper = 2", "nca", UNIFORM).0, 16.0 / 30.0);
    let tapered = "kind = \"xgft\"\ndown = [4, 4, 2]\nup = [2, 2]\nlinks = [1, 2]";
    close(linear(tapered, "nca", UNIFORM).0, 8.0 / 14.0);
    // A dragonfly's worst case, minimally: one link takes what a group of a·p endpoints sends.
    let dragonfly = "kind = \"dragonfly\"\np = 2\na = 4\nh = 1\ngroups = 5";
    close(linear(dragonfly, "minimal", "\"worst-case\"\nn = 1").0, 1.0 / 8.0);
    // By way of another group: each link but that to the next group takes 8/3 of both phases.
    let (bound, facts) = linear(dragonfly, "valiant", "\"worst-case\"\nn = 1");
    close(bound, 3.0 / 16.0);
    close(mean_of(&facts, "global").0, 4.0);
    // By way of any other switch of a complete graph: two hops each over n − 1 channels.
    close(mean_of(&linear("kind = \"hyperx\"\ndims = [5]", "valiant", "\"shift\"").1, "x").0, 2.0 / 4.0);
}

#[test]
fn a_channel_of_other_bandwidth_carries_more_or_less() {
    let text = "[topology]\nkind = \"torus\"\ndims = [8]\n[link.bandwidth]\nx = \"200 Gb/s\"\n[routing]\nkind = \"dor\"\n\
                [endpoint]\ndrain_rate = \"50 Gb/s\"\n[[traffic]]\nname = \"t\"\npattern = \"tornado\"\nload = 0.1\n";
    let facts = load(&read(text)).unwrap();
    close(mean_of(&facts, "x").1, 1.5);
    close(mean_of(&facts, "ejection").1, 2.0);
    close(facts["bounds"][0]["throughput_bound"].as_f64().unwrap(), 0.5);
}

#[test]
fn a_routing_that_looks_at_the_load_has_no_linear_load() {
    let traffic = "[[traffic]]\npattern = \"uniform\"\nload = 0.1\n";
    for (network, routing) in [("kind = \"torus\"\ndims = [4]", "ugal"), (NETWORKS[4], "par")] {
        let text = file(network, &format!("kind = \"{routing}\""), "kind = \"none\"", traffic);
        let Err(RunError::Problems(problems)) = load(&read(&text)) else {
            panic!("{routing} is not oblivious")
        };
        assert_eq!(problems[0].path, "routing.kind");
    }
}

/// A little under the bound all is accepted, over it no more than the bound. (Far beyond it a ring accepts less: what is
/// injected takes half of each channel, and what is under way needs two thirds.)
#[test]
fn runs_saturate_at_the_bound() {
    let accepted = |network: &str, routing: &str, pattern: &str, load: f64| {
        let rest = format!(
            "[endpoint]\nacknowledge = false\n[[traffic]]\nname = \"t\"\npattern = {pattern}\nload = {load}\n\
             message = \"4 flits\"\n[run]\nwarmup = \"20 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
        );
        let output = run(&file(network, &format!("kind = \"{routing}\""), "kind = \"none\"", &rest));
        number(&output, "t", "accepted")
    };
    for (network, routing, pattern) in [
        ("kind = \"torus\"\ndims = [8]", "dor", "\"tornado\""),
        ("kind = \"fat-tree\"\nlevels = 2\narity = 4\ntaper = 2", "nca", UNIFORM),
        ("kind = \"dragonfly\"\np = 2\na = 4\nh = 1\ngroups = 5", "minimal", "\"worst-case\"\nn = 1"),
    ] {
        let bound = linear(network, routing, pattern).0;
        let at = |part: f64| accepted(network, routing, pattern, part * bound) / bound;
        let (under, over) = (at(0.93), at(1.1));
        assert!(under > 0.93 * 0.98, "{network} accepts {under} of its bound");
        assert!(over < 1.002, "{network} accepts {over} of its bound");
    }
}
