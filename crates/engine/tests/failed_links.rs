//! Links that are out of service.
use crate::common::*;
use crate::slow::problems_in;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Whatever sends, on a network that stands before it.
const TRAFFIC: &str = "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.5\nmessage = \"10 flits\"\n\
[run]\nwarmup = \"0 us\"\nduration = \"2 us\"\ndrain = \"100 us\"\n[record]\nmessages = true\n";

#[test]
fn a_network_with_a_failed_link_is_one_without_it() {
    let network = |links: &str| {
        format!(
            "topology = {{ kind = \"file\", format = \"edges\", text = \"{links}\", concentration = 2 }}\nswitch = \"output-queued\"\n{TRAFFIC}"
        )
    };
    // The failed link is the last of both its switches: the other ports keep their numbers. (A cioq switch counts its ports, connected or not,
    // before it settles a debt.)
    let (with, without) = (network("a b\\nb c\\nc d\\nd a\\na c"), network("a b\\nb c\\nc d\\nd a"));
    for routing in [
        "'shortest'",
        "{ kind = 'shortest', choose = 'least-loaded' }",
        "{ kind = 'shortest', deadlock = 'up-down' }",
        "'ugal'",
        "'valiant'",
        "'minimal'",
    ] {
        let messages = |text: &str, failed: &str| {
            let output = run_with(text, &[("routing", routing), ("link.failed", failed)]);
            (output.summary["checksum"].clone(), reals(&output, "messages", "latency_ns").to_vec())
        };
        let damaged = messages(&with, "[{ between = [[2, 0]] }]");
        assert!(damaged == messages(&without, "[]"), "{routing}");
        assert!(damaged != messages(&with, "[]"), "{routing}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// All that is sent arrives, and the result is the same however the network is cut.
    #[test]
    fn packets_go_round_what_has_failed(
        seed in 0_u64..1000,
        which in 0_usize..1000,
        failed in 1_u32..3,
        partitions in 2_u32..6,
    ) {
        let networks = ["kind = \"xgft\"\ndown = [3, 4]\nup = [4]", "kind = \"xgft\"\ndown = [2, 2, 3]\nup = [3, 2]\nlinks = [2, 1]",
            "kind = \"k-ary-n-tree\"\nk = 3\nn = 3\nhorizontal = 1", "kind = \"torus\"\ndims = [4, 3]",
            "kind = \"dragonfly\"\np = 2\na = 4\nh = 2\ngroups = 4", "kind = \"hyperx\"\ndims = [3, 4]"];
        let network = networks[which % networks.len()];
        let routings = ["'shortest'", "{ kind = 'shortest', choose = 'least-loaded' }", "{ kind = 'shortest', choose = 'flow-hash' }", "'nca'",
            "{ kind = 'nca', up = 'least-loaded' }", "{ kind = 'nca', up = 'deterministic' }", "{ kind = 'nca', up = 'flow-hash' }",
            "'minimal'", "'valiant'", "'ugal'", "'par'"];
        let able = if network.contains("dragonfly") { 7..11 } else if network.contains("tree") || network.contains("xgft") { 0..8 } else { 0..3 };
        let routing = routings[able][which / networks.len() % 3];
        let (switch, seed) = (SWITCHES[which % SWITCHES.len()], seed.to_string());
        let text = format!("[topology]\n{network}\n[switch]\n{switch}\n{TRAFFIC}");
        let classes = read_with(&text, &[("routing", "'minimal'")]).topology.wiring().link_classes();
        let failed = format!("[{{ class = '{}', sample = {failed} }}]", classes[1 + which % (classes.len() - 1)]);
        let with = |failed: &str, partitions: &str| [("link.failed", failed), ("routing", routing), ("run.seed", &seed),
            ("run.partitions", partitions), ("run.threads", "2")].map(|(key, value)| (key.to_string(), value.to_string()));
        let borrowed = |changes: &[(String, String); 5]| problems_in(&text, &changes.each_ref().map(|(key, value)| (key.as_str(), value.as_str())));
        // A tree may lose the only link to a switch.
        prop_assume!(borrowed(&with(&failed, "1")).is_empty());
        let run = |failed: &str, partitions: &str| {
            run_with(&text, &with(failed, partitions).each_ref().map(|(key, value)| (key.as_str(), value.as_str())))
        };
        let one = run(&failed, "1");
        prop_assert_eq!(number(&one, "t", "unfinished"), 0.0);
        prop_assert!(number(&one, "t", "messages") > 0.0);
        prop_assert!(result(&one) != result(&run("[]", "1")));
        prop_assert!(result(&one) == result(&run(&failed, &partitions.to_string())));
    }
}

#[test]
fn mistakes_in_failed_links_are_told() {
    let tree =
        format!("topology = {{ kind = \"xgft\", down = [2, 2], up = [2] }}\nrouting = \"nca\"\n{TRAFFIC}");
    for (failed, path, message) in [
        ("[{ class = 'host' }]", "link.failed.0.class", "an endpoint without its link is none"),
        ("[{ class = 'up' }]", "link.failed.0.class", "no such link class"),
        ("[{}]", "link.failed.0", "which links?"),
        ("[{ between = [[0, 2]], class = 'level1' }]", "link.failed.0", "named by between and by class"),
        ("[{ between = [[0, 1]] }]", "link.failed.0.between", "no link joins switch 0 and switch 1"),
        ("[{ endpoints = [0] }]", "link.failed.0.endpoints", "unknown key"),
        (
            "[{ between = [[0, 2], [1, 3]] }]",
            "routing.kind",
            "with 2 failed links the routing has no way from switch 0 to switch 1",
        ),
    ] {
        let problems = problems_in(&tree, &[("link.failed", failed)]);
        assert!(
            problems.iter().any(|one| one.path == path && one.message.contains(message)),
            "{failed}: {problems:?}"
        );
    }
    let torus = format!("topology = {{ kind = \"torus\", dims = [4, 4] }}\nrouting = \"dor\"\n{TRAFFIC}");
    let problems = problems_in(&torus, &[("link.failed", "[{ between = [[0, 1]] }]")]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].path, "routing.kind");
    assert!(problems[0].to_string().contains("one that goes round them: shortest"), "{}", problems[0]);
}

#[test]
fn failed_links_are_described_and_drawn_by_the_seed() {
    let text =
        format!("topology = {{ kind = \"xgft\", down = [4, 4], up = [4] }}\nrouting = \"nca\"\n{TRAFFIC}");
    let facts = |failed: &str, seed: &str| {
        let scenario = read_with(&text, &[("link.failed", failed), ("run.seed", seed)]);
        tailback_engine::run::describe(&scenario).unwrap()
    };
    let between = facts("[{ between = [[1, 6], [0, 4]] }]", "1");
    assert_eq!(
        between["failed_links"],
        serde_json::json!([
            "switch 0 port 4 to switch 4 port 0 (level1)",
            "switch 1 port 6 to switch 6 port 1 (level1)"
        ])
    );
    let up = |facts: &serde_json::Value| {
        let links = facts["links"].as_array().unwrap();
        links.iter().find(|row| row["class"] == "level1").unwrap()["links"].as_u64().unwrap()
    };
    assert_eq!([up(&between), up(&facts("[]", "1"))], [14, 16]);
    let drawn = |seed: &str| facts("[{ class = 'level1', sample = 2 }]", seed)["failed_links"].clone();
    assert_eq!(drawn("1").as_array().unwrap().len(), 2);
    assert_eq!(drawn("1"), drawn("1"));
    assert!((2..9).any(|seed| drawn(&seed.to_string()) != drawn("1")));
    // Each table draws from what those before it have left.
    let both = facts("[{ between = [[0, 4], [1, 5]] }, { class = 'level1', sample = 3 }]", "1");
    assert_eq!(both["failed_links"].as_array().unwrap().len(), 5);
    // Of what four endpoints send three quarters go up: over four links, two, or one.
    for (failed, expected) in [
        ("[]", 1.0),
        ("[{ between = [[0, 4], [0, 5]] }]", 2.0 / 3.0),
        ("[{ between = [[0, 4], [0, 5], [0, 6]] }]", 1.0 / 3.0),
    ] {
        let scenario = read_with(&text, &[("link.failed", failed), ("traffic.t.self", "true")]);
        let load = tailback_engine::run::load(&scenario).unwrap();
        let bound = load["bounds"][0]["throughput_bound"].as_f64().unwrap();
        assert!((bound - expected).abs() < 1e-9, "{failed}: {bound}");
    }
    // How the switches are set up, and what they cost, is what it was.
    let lhrp = |failed: &str| {
        let changes = [
            ("link.failed", failed),
            ("congestion_control", "'lhrp'"),
            ("switch.output_buffer", "'2 packets'"),
        ];
        let facts = tailback_engine::run::describe(&read_with(&text, &changes)).unwrap();
        (facts["congestion_control_default"].clone(), facts["cost"].clone())
    };
    assert_eq!(lhrp("[]"), lhrp("[{ between = [[0, 4], [0, 5], [0, 6]] }]"));
}

/// Its ways are those that are left, as of a choice by chance among the same ones, and not those of another routing, which may have none.
#[test]
fn the_empty_network_of_a_routing_that_looks_at_the_load_is_that_of_its_own_ways() {
    let slow = "link = { latency = \"10 ns\", bandwidth = { host = \"100 Gb/s\", x = \"50 Gb/s\", y = \"50 Gb/s\" } }";
    let [by_load, by_chance] = ["least-loaded", "random"].map(|choose| {
        move |deadlock: &str| format!("kind = \"shortest\"\ndeadlock = \"{deadlock}\"\nchoose = \"{choose}\"")
    });
    let [weighed, drawn] = ["occupancy", "random"]
        .map(|choose| format!("kind = \"dor\"\norders = [\"xy\", \"yx\"]\nchoose = \"{choose}\""));
    let both = |deadlock: &str| [by_load(deadlock), by_chance(deadlock)];
    for (network, failed, routings) in [
        ("kind = \"torus\"\ndims = [5, 3]", "[]", both("up-down")),
        ("kind = \"torus\"\ndims = [4, 4]", "[{ between = [[0, 1]] }]", both("hops")),
        ("kind = \"hyperx\"\ndims = [4, 3]", "[{ between = [[0, 1], [0, 4]] }]", both("up-down")),
        ("kind = \"kns\"\nk = 3\nn = 2", "[{ class = \"x\", sample = 1 }]", both("hops")),
        (
            "kind = \"dragonfly\"\np = 1\na = 4\nh = 1\ngroups = 4",
            "[{ class = \"global\", sample = 2 }]",
            both("hops"),
        ),
        // Leaves that no way up and down a sound tree joins any more, but one down and up.
        (
            "kind = \"xgft\"\ndown = [3, 3, 2]\nup = [2, 2]",
            "[{ class = \"level1\", sample = 2 }]",
            both("up-down"),
        ),
        ("kind = \"mesh\"\ndims = [3, 3]", "[]", [weighed, drawn]),
    ] {
        let links = if network.contains("mesh") { slow } else { "" };
        let text = |routing: &str| format!("{links}\n[topology]\n{network}\n[routing]\n{routing}\n{TRAFFIC}");
        let changes = [("link.failed", failed), ("run.seed", "68")];
        let [by_load, by_chance] = routings.map(|routing| empty_network(&text(&routing), &changes));
        assert_eq!(by_load.0[0], "those of the routing", "{network}");
        assert_eq!(by_load.0, by_chance.0, "{network}");
        // Of the last messages others arrive.
        let both = by_load.1.iter().filter_map(|(ends, ns)| Some((ends, ns, by_chance.1.get(ends)?)));
        assert!(both.clone().count() > 50, "{network}");
        both.for_each(|(ends, by_load, by_chance)| assert_eq!(by_load, by_chance, "{network} {ends:?}"));
    }
}

/// What is told of the empty network before a run, and after it by source and destination of messages.
fn empty_network(
    text: &str,
    changes: &[(&str, &str)],
) -> ([serde_json::Value; 4], BTreeMap<(i64, i64), f64>) {
    let facts = tailback_engine::run::describe(&read_with(text, changes)).unwrap();
    let keys = ["zero_load_latency_ways", "zero_load_latency_ns", "minimal_hops_mean", "minimal_hops_max"];
    let output = run_with(text, changes);
    let [sources, destinations] = ["source", "destination"].map(|end| ints(&output, "messages", end));
    let ends = sources.iter().zip(destinations).map(|(from, to)| (*from, *to));
    let empty = BTreeMap::from_iter(ends.zip(reals(&output, "messages", "zero_load_ns").iter().copied()));
    assert!(empty.values().all(|ns| *ns > 0.0), "{text}");
    (keys.map(|key| facts[key].clone()), empty)
}

/// The centre is told by what the rest can reach, not by a switch that nothing reaches any more.
#[test]
fn a_switch_that_is_cut_off_is_no_root() {
    let text = format!(
        "routing = {{ kind = \"shortest\", deadlock = \"up-down\" }}\nlink = {{ failed = [{{ between = [[0, 1], [0, 2]] }}] }}\n\
         [topology]\nkind = \"file\"\ntext = \"\"\"t a\nt b\nhost h0 h1 h2 h3 h4 h5\nh0 a\nh1 a\nh2 b\nh3 b\na c\nc b\nh4 c\nh5 c\n\"\"\"\n{TRAFFIC}"
    );
    let facts = tailback_engine::run::describe(&read_with(&text, &[])).unwrap();
    let freedom = facts["deadlock_freedom"].as_str().unwrap();
    assert!(
        freedom.contains("towards switch 3, then down") && freedom.contains("longest has 2 links"),
        "{freedom}"
    );
    assert_eq!(number(&run(&text), "t", "unfinished"), 0.0);
}

/// Eight endpoints of a leaf send to those of another over four spines; one of the links is slow.
#[test]
fn routings_by_load_feel_a_slow_link_and_others_do_not() {
    let pairs = Vec::from_iter((0..8).map(|at| format!("[{at}, {}]", at + 8))).join(", ");
    let text = format!(
        "topology = {{ kind = \"xgft\", down = [8, 2], up = [8] }}\n[routing]\nkind = \"nca\"\n[[traffic]]\nname = \"t\"\npattern = \"list\"\n\
         pairs = [{pairs}]\nload = 0.7\nmessage = \"24 flits\"\n[run]\nwarmup = \"20 us\"\nduration = \"40 us\"\n\
         [link]\nslow = [{{ between = [[0, 2]], bandwidth = \"20 Gb/s\" }}]\n"
    );
    let accepted = |up: &str| number(&run_with(&text, &[("routing.up", up)]), "t", "accepted");
    // An eighth of what is drawn goes there, 70 Gb/s of which it carries 20: behind what it does not the rest waits.
    let [random, least] = ["'random'", "'least-loaded'"].map(accepted);
    assert!(random < 0.3, "{random}");
    assert!(least > 0.68, "{least}");
}
