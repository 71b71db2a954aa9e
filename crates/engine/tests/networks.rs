//! Networks from files, and what is known of networks without running them.
mod common;
use common::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tailback_engine::deadlock;
use tailback_engine::routing::Routing;
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
