//! Laws of queues and virtual networks: what they keep apart, what they keep in order, and that nothing stops in them.
use crate::common::*;
use tailback_engine::queueing::Queueing;

/// Switch a with endpoints 0 and 1, switch b with endpoints 2 to 7.
const TWO: &str =
    "kind = \"file\"\nformat = \"edges\"\ntext = '''\n0 a\n1 a\n2 b\n3 b\n4 b\n5 b\n6 b\n7 b\na, b\n'''";

/// Endpoints 0, 2, 3 and 4 send to 5 all they can, endpoint 1 sends at 0.6 to `to`, also over the link from a to b. Returns what
/// the latter accepts.
fn beside_a_hot_flow(queueing: &str, switch: &str, to: u32) -> f64 {
    let rest = format!(
        "[queueing]\n{queueing}\n[endpoint]\nacknowledge = false\n[switch]\nkind = \"input-queued\"\n{switch}\n\
         [[traffic]]\nname = \"hot\"\npattern = \"list\"\npairs = [[0, 5], [2, 5], [3, 5], [4, 5]]\nload = 1.0\nmessage = \"24 flits\"\n\
         [[traffic]]\nname = \"cold\"\npattern = \"list\"\npairs = [[1, {to}]]\nload = 0.6\nmessage = \"24 flits\"\n\
         [run]\nwarmup = \"20 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
    );
    number(&run(&file(TWO, "kind = \"shortest\"", "kind = \"none\"", &rest)), "cold", "accepted")
}

/// What endpoint 0 gets through to 7 at load 0.5, while it and others send to 5 all they can.
fn beside_its_own_hot_flow(queueing: &str) -> f64 {
    let rest = format!(
        "[queueing]\n{queueing}\n[endpoint]\nacknowledge = false\n[switch]\nkind = \"input-queued\"\n{SPLIT}voq = false\n\
         [[traffic]]\nname = \"hot\"\npattern = \"list\"\npairs = [[0, 5], [2, 5], [3, 5], [4, 5]]\nload = 0.9\nmessage = \"24 flits\"\nshare = true\n\
         [[traffic]]\nname = \"cold\"\npattern = \"list\"\npairs = [[0, 7]]\nload = 0.5\nmessage = \"24 flits\"\nshare = true\n\
         [run]\nwarmup = \"20 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
    );
    number(&run(&file(TWO, "kind = \"shortest\"", "kind = \"none\"", &rest)), "cold", "accepted")
}

#[test]
fn a_source_without_credit_in_one_queue_goes_on_with_another() {
    let apart = beside_its_own_hot_flow("kind = \"bbq\"\nqueues = 4");
    assert!((apart - 0.5).abs() < 0.02, "{apart}");
    let together = beside_its_own_hot_flow("kind = \"single\"");
    assert!((together - 0.25).abs() < 0.02, "{together}");
}

const SPLIT: &str = "input_buffer = { per = \"port\", size = \"16 packets\" }\n";
const SHARED: &str = "input_buffer = { per = \"port\", size = \"16 packets\", shared = true }\n";

#[test]
fn flows_in_different_queues_never_block_each_other_and_flows_in_one_do() {
    // The hot flow gets a quarter of endpoint 5. What shares its queue gets as much: they take turns at switch a.
    for voq in ["voq = false", "voq = true"] {
        let switch = format!("{SPLIT}{voq}");
        // 6 is even, 7 is odd as 5 is; four bands hold {4, 5} and {6, 7}.
        for (queueing, to) in [
            ("kind = \"dbbm\"\nqueues = 2", 6),
            ("kind = \"bbq\"\nqueues = 4", 7),
            ("kind = \"voqnet\"", 7),
            ("kind = \"voqsw\"", 7),
        ] {
            let accepted = beside_a_hot_flow(queueing, &switch, to);
            assert!((accepted - 0.6).abs() < 0.02, "{queueing} {voq}: {accepted}");
        }
        for (queueing, to) in
            [("kind = \"single\"", 7), ("kind = \"dbbm\"\nqueues = 2", 7), ("kind = \"bbq\"\nqueues = 2", 7)]
        {
            let accepted = beside_a_hot_flow(queueing, &switch, to);
            assert!((accepted - 0.25).abs() < 0.02, "{queueing} {voq}: {accepted}");
        }
    }
}

#[test]
fn queues_that_share_a_buffer_keep_a_packet_each_whatever_the_others_take() {
    // A packet at a time: its own 24 flits, and a round trip of 2 · (10 + 1) until the next may follow.
    let accepted = beside_a_hot_flow("kind = \"damq\"", &format!("{SHARED}voq = false"), 7);
    assert!(accepted > 24.0 / (2.0 * 24.0 + 22.0), "{accepted}");
    let one = beside_a_hot_flow("kind = \"single\"", &format!("{SHARED}voq = false"), 7);
    assert!((one - 0.25).abs() < 0.02, "{one}");
}

#[test]
fn who_comes_first_to_a_shared_buffer_gives_the_others_their_part() {
    // Two flows in two queues of a link whose buffer holds half of what is under way in a round trip.
    let shares = |switch: &str| {
        let rest = format!(
            "[queueing]\nkind = \"dbbm\"\nqueues = 2\n[endpoint]\nacknowledge = false\n[switch]\nkind = \"{switch}\"\n\
             input_buffer = {{ per = \"port\", size = \"240 flits\", shared = true }}\n\
             [[traffic]]\nname = \"first\"\npattern = \"list\"\npairs = [[0, 2]]\nload = 1.0\nmessage = \"24 flits\"\n\
             [[traffic]]\nname = \"second\"\npattern = \"list\"\npairs = [[1, 3]]\nload = 1.0\nmessage = \"24 flits\"\n\
             start = \"2 us\"\n[run]\nwarmup = \"20 us\"\nduration = \"50 us\"\ndrain = \"0 us\"\n"
        );
        let text = file(TWO, "kind = \"shortest\"", "kind = \"none\"", &rest);
        let output = run_with(&text, &[("link.latency", "\"240 ns\""), ("link.host", "\"10 ns\"")]);
        ["first", "second"].map(|class| number(&output, class, "accepted"))
    };
    for switch in ["cioq", "input-queued", "output-queued", "shared-buffer"] {
        let [first, second] = shares(switch);
        assert!((first / second - 1.0).abs() < 0.02, "{switch}: {first} and {second}");
        // A buffer a round trip: there and back, the packet's length, and a flit each way.
        assert!((first + second - 240.0 / 506.0).abs() < 0.003, "{switch}: {first} and {second}");
    }
}

/// Packets that came behind a later one of their message.
fn reordered(routing: &str) -> f64 {
    let rest = "[switch]\nkind = \"input-queued\"\nvoq = false\n[queueing]\nkind = \"dbbq\"\n\
                [[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.8\nmessage = \"480 flits\"\n\
                [run]\nwarmup = \"0 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n";
    number(
        &run(&file("kind = \"kns\"\nk = 4\nn = 2", routing, "kind = \"none\"", rest)),
        "t",
        "reordered_packets",
    )
}

#[test]
fn a_flow_stays_in_order_within_one_virtual_network() {
    assert_eq!(reordered("kind = \"dor\""), 0.0);
    assert_eq!(reordered("kind = \"dor\"\norders = [\"yx\"]"), 0.0);
    assert!(reordered("kind = \"dor\"\norders = [\"xy\", \"yx\"]") > 0.0);
}

#[test]
fn a_source_spreads_its_packets_evenly_over_the_orders() {
    // From (0, 0) to (1, 1): half of the packets over the first row, half over the first column.
    let rest = "[endpoint]\nacknowledge = false\n[record]\nports = true\n\
                [[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 3]]\nload = 0.8\nmessage = \"24 flits\"\n\
                [run]\nwarmup = \"0 us\"\nduration = \"20 us\"\n";
    for choose in ["round-robin", "random", "occupancy"] {
        let routing = format!("kind = \"dor\"\norders = [\"xy\", \"yx\"]\nchoose = \"{choose}\"");
        let output = run(&file("kind = \"kns\"\nk = 2\nn = 2", &routing, "kind = \"none\"", rest));
        let active = reals(&output, "ports", "active_ns");
        // Ports 1 and 2 of the first router lead along x and y.
        let (x, y) = (active[1] / 20_000.0, active[2] / 20_000.0);
        let tolerance = if choose == "random" { 0.06 } else { 0.01 };
        assert!((x + y - 0.8).abs() < 0.03 && (x - y).abs() < tolerance, "{choose}: {x} {y}");
    }
}

/// What uniform traffic of half of the endpoints accepts beside the other half, which sends to one, with four queues a port.
fn beside_a_hot_spot(routing: &str, queueing: &str) -> f64 {
    let rest = format!(
        "[queueing]\n{queueing}\n[endpoint]\nacknowledge = false\n\
         [switch]\nkind = \"input-queued\"\ninput_buffer = {{ per = \"port\", size = \"32 packets\" }}\n\
         [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 32\ndestinations = 1\nload = 1.0\nmessage = \"24 flits\"\nshare = true\n\
         [[traffic]]\nname = \"t\"\npattern = \"uniform\"\nendpoints = \"rest\"\ndestinations = \"all\"\nload = 1.0\nmessage = \"24 flits\"\nshare = true\n\
         [run]\nwarmup = \"10 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
    );
    let routing = format!("kind = \"dor\"\n{routing}");
    number(&run(&file("kind = \"kns\"\nk = 8\nn = 2", &routing, "kind = \"none\"", &rest)), "t", "accepted")
}

#[test]
fn a_packet_that_waits_for_one_network_does_not_take_another_while_others_are_sent() {
    // Each network is jammed towards half of the destinations. A flow that alternates is held up unless both are free to it, one
    // that is not bound, or chooses by occupancy, only if neither is.
    let bands = beside_a_hot_spot("", "kind = \"bbq\"\nqueues = 4");
    let orders = |choose| format!("orders = [\"xy\", \"yx\"]\nchoose = \"{choose}\"");
    let [turns, random, occupancy] = ["round-robin", "random", "occupancy"]
        .map(|choose| beside_a_hot_spot(&orders(choose), "kind = \"dbbq\"\nqueues = 2") / bands);
    assert!(turns < 0.85 && random < 0.85 && occupancy > 0.9, "{turns} {random} {occupancy} of {bands}");
}

/// Orders of the dimensions, and what chooses among them.
const ORDERS: &[&str] = &[
    "kind = \"dor\"",
    "kind = \"dor\"\norders = [\"yx\"]",
    "kind = \"dor\"\norders = [\"xy\", \"yx\"]",
    "kind = \"dor\"\norders = [\"yx\", \"xy\"]\nchoose = \"random\"",
    "kind = \"dor\"\norders = [\"xy\", \"yx\"]\nchoose = \"occupancy\"",
];

/// Every kind of queueing, in networks where it has few queues.
fn queueings() -> Vec<&'static str> {
    let all = vec![
        "kind = \"single\"",
        "kind = \"voqsw\"",
        "kind = \"voqsw\"\nqueues = 2",
        "kind = \"voqnet\"",
        "kind = \"dbbm\"\nqueues = 3",
        "kind = \"bbq\"",
        "kind = \"dbbq\"",
        "kind = \"damq\"",
        "kind = \"flow2sl\"",
        "kind = \"vftree\"",
    ];
    for kind in Queueing::KINDS {
        assert!(all.iter().any(|text| text.contains(&format!("\"{kind}\""))), "no {kind}");
    }
    all
}

const LATTICES: &[&str] = &[
    "kind = \"torus\"\ndims = [4, 4]",
    "kind = \"mesh\"\ndims = [3, 3]",
    "kind = \"hyperx\"\ndims = [3, 3]",
    "kind = \"kns\"\nk = 3\nn = 2",
    "kind = \"kns\"\nk = 2\nn = 3",
    "kind = \"kns\"\nk = 4\nn = 2\nstages = 2",
];

const OTHERS: &[&str] =
    &["kind = \"fat-tree\"\nlevels = 2\narity = 4", "kind = \"dragonfly\"\np = 2\na = 2\nh = 1\ngroups = 3"];

/// Every network, routing and queueing that go together.
fn product() -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for network in LATTICES {
        for routing in ORDERS {
            all.push((network.to_string(), routing.to_string()));
            if network.contains("torus") {
                all.push((network.to_string(), format!("{routing}\ndeadlock = \"bubble\"")));
            }
        }
    }
    all.extend(routed(OTHERS).into_iter().map(|(network, routing)| (network.to_string(), routing)));
    let fits = |(network, routing): &(String, String), queueing: &&str| {
        let tree = network.contains("tree");
        (tree || !(queueing.contains("flow2sl") || queueing.contains("vftree")))
            && (!OTHERS.contains(&network.as_str()) || !queueing.contains("dbbq"))
            // Queues that share a buffer have no bubbles of their own.
            && !(routing.contains("bubble") && queueing.contains("damq"))
    };
    let with = |pair: (String, String)| {
        let queueings = queueings().into_iter().filter(|queueing| fits(&pair, queueing)).collect::<Vec<_>>();
        queueings.into_iter().map(move |queueing| (pair.0.clone(), pair.1.clone(), queueing.to_string()))
    };
    all.into_iter().flat_map(with).collect()
}

/// Everything moves to the end under full load, whatever the switch's crossbar.
fn moves(network: &str, routing: &str, queueing: &str, voq: bool) {
    let buffer = if queueing.contains("damq") {
        "{ per = \"port\", size = \"100 packets\", shared = true }"
    } else {
        "\"2 packets\""
    };
    let rest = format!(
        "[queueing]\n{queueing}\n[switch]\nkind = \"input-queued\"\ninput_buffer = {buffer}\nvoq = {voq}\n\
         [[traffic]]\nname = \"full\"\npattern = \"uniform\"\nload = 1.0\nmessage = \"24 flits\"\n\
         [run]\nwarmup = \"10 us\"\nduration = \"5 us\"\ndrain = \"0 us\"\n"
    );
    let text = file(network, routing, "kind = \"none\"", &rest);
    let accepted = number(&run(&text), "full", "accepted");
    assert!(accepted > 0.05, "accepted {accepted}\n{text}");
}

#[test]
fn nothing_stops_under_full_load_in_any_order_and_queueing() {
    for (at, (network, routing, queueing)) in product().into_iter().enumerate().step_by(7) {
        moves(&network, &routing, &queueing, at % 2 == 0);
    }
}

#[test]
#[ignore = "long: the whole product"]
fn nothing_stops_under_full_load_in_the_whole_product() {
    each(&product(), |(network, routing, queueing)| {
        [false, true].into_iter().for_each(|voq| moves(network, routing, queueing, voq));
    });
}

#[test]
fn queues_and_networks_do_not_depend_on_the_cut() {
    // Small buffers: often all virtual channels of an endpoint lack credit while messages wait for each.
    let rest = "[switch]\nkind = \"input-queued\"\nvoq = false\ninput_buffer = \"1 packet\"\n\
                [[traffic]]\nname = \"t\"\npattern = \"zipf\"\ns = 1.0\nload = 1.0\n\
                message = { sizes = [\"4 flits\", \"72 flits\"], shares = [0.5, 0.5], by = \"volume\" }\n\
                [run]\nwarmup = \"1 us\"\nduration = \"8 us\"\ndrain = \"1 us\"\n";
    let tree = (OTHERS[0], "kind = \"minimal\"", "kind = \"dbbm\"\nqueues = 2");
    let lattice = ["kind = \"dbbq\"", "kind = \"voqsw\""].into_iter().flat_map(|queueing| {
        ORDERS[2..].iter().map(move |&routing| ("kind = \"kns\"\nk = 4\nn = 2", routing, queueing))
    });
    for (network, routing, queueing) in lattice.chain([tree]) {
        let text = file(network, routing, "kind = \"none\"", &format!("[queueing]\n{queueing}\n{rest}"));
        let with = |partitions, threads| {
            result(&run_with(&text, &[("run.partitions", partitions), ("run.threads", threads)]))
        };
        let one = with("1", "1");
        assert!(one == with("5", "2") && one == with("1000", "1"), "{text}");
    }
}

#[test]
fn queues_that_a_network_cannot_have_are_refused() {
    let problem = |network: &str, queueing: &str| {
        let text = file(
            network,
            "kind = \"minimal\"",
            "kind = \"none\"",
            &format!("[queueing]\n{queueing}\n[[traffic]]\npattern = \"uniform\"\nload = 0.1\n"),
        );
        match tailback_engine::scenario::Scenario::parse(&text, &[]) {
            Err(problems) => problems[0].to_string(),
            Ok(scenario) => match tailback_engine::run::run(&scenario, &mut |_| true) {
                Err(tailback_engine::report::RunError::Problems(problems)) => problems[0].to_string(),
                other => panic!("{other:?}"),
            },
        }
    };
    let told = problem("kind = \"kns\"\nk = 12\nn = 2", "kind = \"voqnet\"");
    assert!(
        told.contains("288 virtual channels on a port: 2 traffic classes, 1 virtual networks, 144 queues"),
        "{told}"
    );
    assert!(problem(OTHERS[1], "kind = \"dbbq\"").contains("no rows and columns of a dragonfly"));
    assert!(problem(OTHERS[1], "kind = \"vftree\"").contains("made for trees"));
    assert!(problem(OTHERS[0], "kind = \"damq\"").contains("shared = true"));
    assert!(
        problem(OTHERS[0], "kind = \"bbq\"\nqueues = 0").contains("expected a whole number from 1 to 256")
    );
}

#[test]
fn ugal_of_merlin_leaves_the_direct_way_with_every_queueing() {
    // Minimally all traffic of a group goes over one link: 1/8 of what its eight endpoints can send.
    let dragonfly = "kind = \"dragonfly\"\np = 2\na = 4\nh = 2\ngroups = 9";
    let accepted = |queueing: &str| {
        let rest = format!(
            "[queueing]\nkind = {queueing}\n[packet]\nmax = \"4 flits\"\n[endpoint]\nacknowledge = false\n\
             [[traffic]]\nname = \"t\"\npattern = \"worst-case\"\nload = 0.4\n\
             [run]\nwarmup = \"10 us\"\nduration = \"10 us\"\ndrain = \"0 us\"\n"
        );
        number(&run(&file(dragonfly, "kind = \"sst-ugal\"", "kind = \"none\"", &rest)), "t", "accepted")
    };
    let shared =
        "[switch]\nkind = \"cioq\"\ninput_buffer = { per = \"port\", size = \"64 packets\", shared = true }";
    let damq = format!("\"damq\"\nqueues = 4\n{shared}");
    for queueing in ["\"single\"", "\"voqsw\"", &damq, "\"dbbm\"\nqueues = 4", "\"bbq\"\nqueues = 4"] {
        let accepted = accepted(queueing);
        assert!((accepted - 0.4).abs() < 0.01, "{queueing}: {accepted}");
    }
}
