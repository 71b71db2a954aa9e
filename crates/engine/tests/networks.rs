//! Networks from files, and what is known of networks without running them.
use crate::common::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tailback_engine::deadlock;
use tailback_engine::report::{Column, RunError};
use tailback_engine::routing::Routing;
use tailback_engine::run::load;
use tailback_engine::scenario::Scenario;
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
    assert_eq!(topology.wiring().problems(), []);
    let graph = topology.wiring().graph();
    let scale = Scale { flit_bits: 100, packet_flits: 24, host: Rate(100_000_000_000) };
    for routing in routings(&network) {
        let router = toml::from_str::<Routing>(&routing).unwrap().bind(&topology, &graph, &scale).unwrap();
        if let Err(fault) = deadlock::check(&graph, &*router, topology.wiring().link_classes()) {
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

/// Of classes together, the loads that they offer add up; one that is sent once offers none.
#[test]
fn channel_loads_of_all_classes_add_up() {
    let traffic = "[[traffic]]\nname = \"a\"\npattern = \"list\"\npairs = [[0, 1], [2, 3]]\nload = 0.6\nshare = true\n\
        [[traffic]]\nname = \"b\"\npattern = \"list\"\npairs = [[2, 1]]\nload = 0.3\nshare = true\n\
        [[traffic]]\nname = \"c\"\npattern = \"list\"\npairs = [[3, 1]]\nprocess = \"one-shot\"\nshare = true\n";
    let text = |traffic: &str| {
        file("kind = \"single-switch\"\nendpoints = 4", "kind = \"minimal\"", "kind = \"none\"", traffic)
    };
    let facts = load(&read(&text(traffic))).unwrap();
    let offered = &facts["offered"][0];
    assert!(offered["bottleneck"].as_str().unwrap().ends_with("to endpoint 1"), "{facts}");
    close(offered["load_of_bottleneck"].as_f64().unwrap(), 0.9);
    close(offered["all_loads_times_at_most"].as_f64().unwrap(), 1.0 / 0.9);
    let rows = facts["channel_loads"].as_array().unwrap();
    let row = rows.iter().find(|row| row["traffic"] == "all, as offered").unwrap();
    close(row["load_mean"].as_f64().unwrap(), (0.9 + 0.6) / 4.0);
    let once = load(&read(&text(&traffic[traffic.find("[[traffic]]\nname = \"c\"").unwrap()..]))).unwrap();
    assert_eq!(once["offered"].as_array().unwrap().len(), 0);
    // Jobs send as much as they can: they have no load, and are named.
    let job =
        "[[job]]\nname = \"ring\"\nworkload = \"allreduce\"\nmessage = \"1 kB\"\nranks = 2\nshare = true\n";
    let beside = load(&read(&text(&format!("{traffic}{job}")))).unwrap();
    assert_eq!(beside["without_jobs"], serde_json::json!(["ring"]));
    assert_eq!((&beside["offered"], facts.get("without_jobs")), (&facts["offered"], None));
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
        // In every dimension of a square, whose channels are as loaded.
        let square = format!("kind = \"torus\"\ndims = [{k}, {k}]");
        close(linear(&square, "dor", &format!("\"tornado\"\ndims = [{k}, {k}]")).0, 2.0 / f64::from(k - 2));
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
    // By way of any other switch of a complete graph: two hops each over n − 1 channels, of which one is nobody's way.
    let (_, facts) = linear("kind = \"hyperx\"\ndims = [5]", "valiant", "\"shift\"");
    close(mean_of(&facts, "x").0, 2.0 / 4.0);
    close(mean_of(&facts, "x").1, 2.0 / 3.0);
}

#[test]
fn ways_by_the_destination_load_the_channels_of_a_tree_evenly() {
    let loads = |network: &str, routing: &str| {
        let (bound, facts) = linear(network, routing, "\"uniform\"");
        (bound, [1, 2].map(|level| mean_of(&facts, &format!("level{level}")).1))
    };
    let [deterministic, by_destination] =
        ["nca\"\nup = \"deterministic", "shortest\"\nchoose = \"by-destination"];
    let tree = "kind = \"fat-tree\"\nlevels = 3\narity = 4";
    for routing in [deterministic, by_destination] {
        let (bound, [low, high]) = loads(tree, routing);
        close(bound, 1.0);
        close(low, 60.0 / 63.0);
        close(high, 48.0 / 63.0);
    }
    // Four endpoints of a leaf over three switches: down to the leaf one of these has two of them, whatever the choice; the sixteen of a
    // subtree over nine: two at the most.
    let thin = "kind = \"xgft\"\ndown = [4, 4, 4]\nup = [3, 3]";
    close(loads(thin, "nca").1[1], 16.0 / 9.0 * 48.0 / 63.0);
    for routing in [deterministic, by_destination] {
        let (_, [low, high]) = loads(thin, routing);
        close(low, 2.0 * 60.0 / 63.0);
        close(high, 2.0 * 48.0 / 63.0);
    }
    // With parallel links: as many channels up as endpoints below, and half as many.
    for (sizes, full) in [
        ("[16, 4]\nup = [8]\nlinks = [2]", true),
        ("[16, 4]\nup = [4]\nlinks = [4]", true),
        ("[4, 3, 2]\nup = [2, 3]\nlinks = [2, 2]", true),
        ("[8, 4, 2]\nup = [2, 2]\nlinks = [2, 2]", false),
    ] {
        let tree = format!("kind = \"xgft\"\ndown = {sizes}");
        let bounds = [deterministic, by_destination].map(|routing| linear(&tree, routing, UNIFORM).0);
        close(bounds[0], bounds[1]);
        assert_eq!(full, bounds[0] > 0.999, "{sizes}: {bounds:?}");
    }
}

#[test]
fn ways_by_the_destination_spread_however_endpoints_are_numbered() {
    // The endpoints of a leaf are four apart: modulo the number of spines they are one.
    let hosts: String = (0..16).map(|host| format!("h{host} l{}\n", host % 4)).collect();
    let spines: String = (0..16).map(|at| format!("l{}, s{}, 100 Gb/s, 50 ns\n", at / 4, at % 4)).collect();
    let network = format!("kind = \"file\"\nformat = \"edges\"\ntext = \'\'\'\n{hosts}{spines}\'\'\'");
    close(linear(&network, "shortest\"\nchoose = \"by-destination", "\"uniform\"").0, 1.0);
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
    let text = file(
        "kind = \"fat-tree\"\nlevels = 2\narity = 2",
        "kind = \"nca\"\nup = \"flow-hash\"",
        "kind = \"none\"",
        traffic,
    );
    let Err(RunError::Problems(problems)) = load(&read(&text)) else { panic!("it depends on the seed") };
    assert!(problems[0].message.contains("a hash of each flow"), "{}", problems[0].message);
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

/// Packets of three flits half-way round a ring, in buffers for two of them.
pub fn ring(deadlock: &str, changes: &[(&str, &str)]) -> Scenario {
    let text = format!(
        "[topology]\nkind = \"torus\"\ndims = [8]\n[link]\nlatency = \"10 ns\"\n[packet]\nmax = \"3 flits\"\n\
         [switch]\nkind = \"cioq\"\ninput_buffer = \"2 packets\"\noutput_buffer = \"2 packets\"\n\
         [routing]\nkind = \"dor\"\n{deadlock}\n[endpoint]\nacknowledge = false\n\
         [[traffic]]\nname = \"t\"\npattern = \"tornado\"\nload = 1.0\nmessage = \"3 flits\"\n\
         [run]\nwarmup = \"0 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
    );
    read_with(&text, changes)
}

/// Of the ring: nothing keeps it from deadlock.
pub const MADE: &str = "deadlock = \"none\"\nmay_deadlock = true";

#[test]
fn a_made_deadlock_is_told_with_its_circle_alike_for_any_cut() {
    let fails =
        |changes: &[(&str, &str)]| match tailback_engine::run::run(&ring(MADE, changes), &mut |_| true) {
            Err(RunError::Failed(text, Some(partial))) => (text, partial),
            other => panic!("no deadlock was told: {other:?}"),
        };
    let (told, partial) = fails(&[("run.partitions", "1")]);
    assert!(told.starts_with("deadlock: at ") && told.contains("\"dor\""), "{told}");
    assert!(told.contains("8 channels wait for one another in a circle"), "{told}");
    for switch in 0..8 {
        let channel = format!(
            "switch {switch} port 1 (x) to switch {}, data level 0: full; its packet",
            (switch + 1) % 8
        );
        assert!(told.contains(&channel), "{told}");
    }
    for (partitions, threads) in [("2", "1"), ("3", "2"), ("8", "2")] {
        let (told_too, partial_too) = fails(&[("run.partitions", partitions), ("run.threads", threads)]);
        assert_eq!(told, told_too);
        assert!(result(&partial) == result(&partial_too));
    }
    // What was measured until then is not lost: here none had arrived.
    assert!(partial.interrupted && partial.summary["failure"] == told.as_str());
    let [messages, unfinished] = ["messages", "unfinished"].map(|key| number(&partial, "t", key));
    assert!(messages > 100.0 && unfinished == messages, "{unfinished} of {messages}");
    let at = partial.summary["simulated_ns"].as_f64().unwrap();
    assert!(told.contains(&format!("at {:.3} us", at / 1e3)));
    // Also in the last moment of the run; and in the warm-up, when nothing can be told of what the network takes.
    let (_, last) = fails(&[("run.duration", &format!("{at} ns"))]);
    assert!(last.interrupted && last.summary["simulated_ns"].as_f64() == Some(at));
    let (_, early) = fails(&[("run.warmup", "10 us")]);
    assert!(early.summary["stable"].is_null(), "{}", early.summary["stable"]);
}

#[test]
fn when_a_deadlock_is_told_does_not_hang_on_what_is_recorded() {
    let told = |changes: &[(&str, &str)]| {
        let (mut asked, mut last) = (0, 0);
        let outcome = tailback_engine::run::run(&ring(MADE, changes), &mut |progress| {
            asked += usize::from(progress.simulated.0 != last);
            last = progress.simulated.0;
            true
        });
        let Err(RunError::Failed(text, _)) = outcome else { panic!("no deadlock was told: {outcome:?}") };
        (text, asked)
    };
    let (text, asked) = told(&[]);
    let (recorded, asked_too) = told(&[("record.occupancy", "5 ns")]);
    assert!(text.contains("deadlock: at "), "{text}");
    assert_eq!(recorded, text);
    // Every tenth of a second the watcher is asked as well: on no machine does this take many of them.
    assert!(asked_too < asked + 50, "{asked_too} times, not {asked}: snapshots are no times to ask");
}

#[test]
fn a_deadlock_of_buffers_that_virtual_channels_share_is_told_alike_for_any_cut() {
    let told = |deadlock: &str, kind: &str, partitions: &str| {
        let changes = [
            ("switch", format!("{{ kind = \"{kind}\" }}")),
            ("switch.input_buffer", "{ per = \"port\", size = \"4 packets\", shared = true }".to_string()),
            ("endpoint.acknowledge", "true".to_string()),
            ("run.partitions", partitions.to_string()),
        ];
        let changes: Vec<_> = changes.iter().map(|(key, value)| (*key, value.as_str())).collect();
        tailback_engine::run::run(&ring(deadlock, &changes), &mut |_| true)
    };
    for kind in ["cioq", "input-queued"] {
        let Err(RunError::Failed(text, _)) = told(MADE, kind, "1") else {
            panic!("no deadlock was told: {kind}")
        };
        assert!(text.contains("8 channels wait for one another in a circle"), "{text}");
        assert!(text.contains("all virtual channels: full"), "{text}");
        for partitions in ["2", "3", "8"] {
            assert!(matches!(told(MADE, kind, partitions), Err(RunError::Failed(other, _)) if other == text));
        }
        assert!(told("", kind, "1").is_ok(), "date lines keep {kind} moving");
    }
}

#[test]
fn a_made_deadlock_is_told_within_twice_the_longest_queueing_delay() {
    // Little enough that the ring fills up only after a while.
    let load = [("traffic.t.load", "0.12")];
    let (mut seen, mut moved) = (Vec::<(u64, u64)>::new(), 0);
    let outcome = tailback_engine::run::run(&ring(MADE, &load), &mut |progress| {
        if seen.last().is_none_or(|&(_, hops)| hops < progress.packet_hops) {
            moved = progress.simulated.0;
        }
        seen.push((progress.simulated.0, progress.packet_hops));
        true
    });
    assert!(matches!(outcome, Err(RunError::Failed(_, _))), "{outcome:?}");
    let (told, before) = (seen[seen.len() - 1].0, seen[seen.len() - 2].0);
    // The same run, stopped before it is told: what was delivered by then.
    let output = tailback_engine::run::run(&ring(MADE, &load), &mut |at| at.simulated.0 < before).unwrap();
    let Column::Text(kinds) = column(&output, "histograms", "latency") else {
        panic!("no names of latencies")
    };
    let bins =
        kinds.iter().zip(reals(&output, "histograms", "low_ns")).filter(|(kind, _)| *kind == "network");
    let longest = bins.map(|(_, low)| low * 1000.0).fold(0.0, f64::max);
    let empty = 5.0 * 11_000.0 + 2_000.0;
    assert!(
        longest > empty && (told - moved) as f64 <= 2.0 * (longest - empty),
        "{told} - {moved}: {longest} ps"
    );
}

#[test]
fn rings_without_what_keeps_them_from_deadlock_are_refused_unless_wanted() {
    let text = "[topology]\nkind = \"torus\"\ndims = [4]\n[routing]\nkind = \"dor\"\ndeadlock = \"none\"\n\
                [[traffic]]\npattern = \"uniform\"\nload = 0.1\n";
    let problems = Scenario::parse(text, &[]).unwrap_err();
    assert_eq!(
        (problems.len(), problems[0].path.as_str(), problems[0].line),
        (1, "routing.deadlock", Some(6))
    );
    assert!(Scenario::parse(&text.replace("[4]", "[3, 2]"), &[]).is_ok());
}

#[test]
fn date_lines_and_bubbles_keep_the_ring_moving() {
    for deadlock in ["", "deadlock = \"bubble\""] {
        let output = tailback_engine::run::run(&ring(deadlock, &[]), &mut |_| true).unwrap();
        let accepted = number(&output, "t", "accepted");
        assert!(accepted > 0.03, "{deadlock}: {accepted}");
    }
}

#[test]
fn bubbles_hold_under_full_load_in_any_torus() {
    for (network, buffer) in [
        ("dims = [6]", "1 packet"),
        ("dims = [4, 5]\nlinks = 2", "2 packets"),
        ("dims = [4, 4, 2]", "30 flits"),
    ] {
        for message in ["24 flits", "72 flits", "5 flits"] {
            let rest = format!(
                "[switch]\nkind = \"cioq\"\ninput_buffer = \"{buffer}\"\noutput_buffer = \"2 packets\"\n\
                 [[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 1.0\nmessage = \"{message}\"\n\
                 [run]\nwarmup = \"20 us\"\nduration = \"10 us\"\ndrain = \"0 us\"\n"
            );
            let text = file(
                &format!("kind = \"torus\"\n{network}"),
                "kind = \"dor\"\ndeadlock = \"bubble\"",
                "kind = \"none\"",
                &rest,
            );
            assert!(number(&run(&text), "t", "accepted") > 0.1, "{text}");
        }
    }
}

#[test]
fn bubbles_need_room_for_two_packets_of_one_length() {
    let wrong = |buffer: &str, message: &str| {
        let rest = format!(
            "[switch]\nkind = \"cioq\"\noutput_buffer = \"{buffer}\"\n[[traffic]]\npattern = \"uniform\"\nload = 0.1\nmessage = \"{message}\"\n"
        );
        let text = file(
            "kind = \"torus\"\ndims = [4]",
            "kind = \"dor\"\ndeadlock = \"bubble\"",
            "kind = \"none\"",
            &rest,
        );
        let problems = tailback_engine::run::check(&read(&text));
        problems.into_iter().map(|problem| problem.path).collect::<Vec<_>>()
    };
    assert_eq!(wrong("2 packets", "48 flits"), [""; 0]);
    assert_eq!(wrong("47 flits", "50 flits"), ["routing.deadlock", "switch.output_buffer"]);
}

#[test]
fn the_check_of_a_small_network_follows_its_routing_and_lets_a_wanted_deadlock_be() {
    assert_eq!(tailback_engine::run::check(&ring(MADE, &[])), []);
    for routing in routings(NETWORKS[8]) {
        let text = file(
            NETWORKS[8],
            &routing,
            "kind = \"none\"",
            "[[traffic]]\npattern = \"uniform\"\nload = 0.1\n",
        );
        assert_eq!(tailback_engine::run::check(&read(&text)), [], "{routing}");
    }
}

#[test]
fn bubbles_are_not_kept_in_buffers_that_are_shared() {
    let text = |kind: &str| {
        file(
            "kind = \"torus\"\ndims = [4, 4]",
            "kind = \"dor\"\ndeadlock = \"bubble\"",
            "kind = \"none\"",
            &format!(
                "[switch]\nkind = \"{kind}\"\ninput_buffer = {{ per = \"port\", size = \"100 packets\", shared = true }}\n[queueing]\nkind = \"damq\"\n\
                 [[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.2\nmessage = \"1 packet\"\n[run]\nwarmup = \"0 us\"\nduration = \"1 us\"\n"
            ),
        )
    };
    let problems = |kind: &str| tailback_engine::run::check(&read(&text(kind)));
    let problem = problems("input-queued").remove(0);
    assert_eq!(
        (problem.path.as_str(), problem.message.contains("share")),
        ("switch.input_buffer", true),
        "{problem:?}"
    );
    assert_eq!(problems("cioq"), []);
}

#[test]
fn deadlock_is_told_and_bubbles_prevent_it_on_every_kind_of_switch() {
    for kind in ["input-queued", "output-queued", "shared-buffer"] {
        let text = |deadlock: &str| {
            format!(
                "[topology]\nkind = \"torus\"\ndims = [8]\n[packet]\nmax = \"3 flits\"\n[switch]\nkind = \"{kind}\"\n\
                 input_buffer = \"2 packets\"\n[routing]\nkind = \"dor\"\n{deadlock}\n[endpoint]\nacknowledge = false\n\
                 [[traffic]]\nname = \"t\"\npattern = \"tornado\"\nload = 1.0\nmessage = \"3 flits\"\n\
                 [run]\nwarmup = \"10 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
            )
        };
        let mut scenario = read(&text(MADE));
        scenario.run.partitions = Some(3);
        match tailback_engine::run::run(&scenario, &mut |_| true) {
            Err(RunError::Failed(told, _)) => assert!(told.contains("8 channels wait"), "{kind}: {told}"),
            other => panic!("{kind}: {other:?}"),
        }
        if kind == "input-queued" {
            assert!(number(&run(&text("deadlock = \"bubble\"")), "t", "accepted") > 0.01);
        }
    }
}

/// A class that may be dropped may wait for ever where nothing drops it on the way.
#[test]
fn a_deadlock_of_speculative_packets_is_told_unless_they_time_out() {
    let go = |protocol: &str| {
        let lhrp = [("congestion_control", protocol), ("endpoint.acknowledge", "true")];
        tailback_engine::run::run(&ring(MADE, &lhrp), &mut |_| true)
    };
    match go("{ kind = \"lhrp\" }") {
        Err(RunError::Failed(told, _)) => assert!(told.contains("speculative level 0: full"), "{told}"),
        other => panic!("no deadlock was told: {other:?}"),
    }
    // What was dropped goes again as data, which may wait in a circle too.
    match go("{ kind = \"lhrp\", fabric_drop = \"300 ns\" }") {
        Err(RunError::Failed(told, _)) => {
            assert!(told.contains("data level 0: full") && !told.contains("speculative"), "{told}");
        }
        other => panic!("no deadlock was told: {other:?}"),
    }
}

/// Small packets wait for room that is owed to large ones, which wait for ever: they do not count as such that may move.
#[test]
fn deadlock_is_told_where_packets_of_two_sizes_wait() {
    for kind in ["input-queued", "cioq"] {
        let traffic = |flits: u32| {
            format!(
                "[[traffic]]\nname = \"t{flits}\"\npattern = \"tornado\"\nload = 0.5\nshare = true\nmessage = \"{flits} flits\"\n"
            )
        };
        let text = format!(
            "[topology]\nkind = \"torus\"\ndims = [8]\n[packet]\nmax = \"6 flits\"\n[switch]\nkind = \"{kind}\"\n\
             input_buffer = \"2 packets\"\n[routing]\nkind = \"dor\"\n{MADE}\n[endpoint]\nacknowledge = false\n{}{}\
             [run]\nwarmup = \"10 us\"\nduration = \"50 us\"\ndrain = \"0 us\"\n",
            traffic(6),
            traffic(1)
        );
        match tailback_engine::run::run(&read(&text), &mut |_| true) {
            Err(RunError::Failed(told, _)) => assert!(told.contains("8 channels wait"), "{kind}: {told}"),
            other => panic!("{kind}: {other:?}"),
        }
    }
}

#[test]
fn a_hop_without_contention_is_one_event_where_there_is_no_crossbar() {
    for kind in ["output-queued", "shared-buffer"] {
        // Packets pass `last + 1` switches in a row, one at a time.
        let counts = |last: u32| {
            let output = run(&format!(
                "[topology]\nkind = \"mesh\"\ndims = [7]\n[switch]\nkind = \"{kind}\"\n\
                 [routing]\nkind = \"dor\"\n[endpoint]\nacknowledge = false\n[[traffic]]\nname = \"t\"\n\
                 pattern = \"list\"\npairs = [[0, {last}]]\nload = 0.1\nmessage = \"4 flits\"\nprocess = \"periodic\"\n\
                 stop = \"10 us\"\n[run]\nwarmup = \"0 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\npartitions = 1\n"
            ));
            ["events", "packet_hops"].map(|key| output.summary[key].as_u64().unwrap())
        };
        let (near, far) = (counts(1), counts(6));
        assert!(far[1] - near[1] > 1000 && (far[1] - near[1]).is_multiple_of(5), "{kind}: {near:?} {far:?}");
        assert_eq!(far[0] - near[0], far[1] - near[1], "{kind}");
    }
}

/// A line of switches with an endpoint at each end, whose longest way has all its links, each with a level of its own.
#[test]
fn a_line_has_as_many_levels_as_links_or_is_refused() {
    let line = |switches: u32, routing: &str| {
        let ends = format!("host a b\\na s0\\nb s{}\\n", switches - 1);
        let links: String = (1..switches).map(|at| format!("s{} s{at}\\n", at - 1)).collect();
        let network = format!("kind = \"file\"\nformat = \"edges\"\ntext = \"{ends}{links}\"");
        let traffic =
            "[endpoint]\nacknowledge = false\n[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.1\n";
        read(&file(
            &network,
            routing,
            "kind = \"none\"",
            &format!("{traffic}[run]\nwarmup = \"0 us\"\nduration = \"20 us\"\n"),
        ))
    };
    let (hops, valiant) = ("kind = \"shortest\"", "kind = \"valiant\"");
    for (switches, routing, levels) in [(258, hops, 257), (300, hops, 299), (131, valiant, 260)] {
        let told = told(&tailback_engine::run::check(&line(switches, routing)));
        assert!(told.contains(&format!("{levels} levels")) && told.contains("at most 256"), "{told}");
    }
    for routing in [hops, "kind = \"shortest\"\ndeadlock = \"up-down\""] {
        let output = tailback_engine::run::run(&line(257, routing), &mut |_| true).unwrap();
        assert!(number(&output, "t", "accepted") > 0.05, "{routing}");
    }
}
