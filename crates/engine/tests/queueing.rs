//! Laws of queues and virtual networks: what they keep apart, what they keep in order, and that nothing stops in them.
mod common;
use common::*;
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

/// What endpoint 0 gets through to 4 with messages of 24 flits over that to 2 with messages of 4, beside another that sends to 2
/// all it can; the larger ones begin later.
fn large_over_small(queueing: &str, protocol: &str) -> f64 {
    let rest = format!(
        "[queueing]\n{queueing}\n[endpoint]\nacknowledge = false\n[switch]\nkind = \"input-queued\"\n{SPLIT}\
         [[traffic]]\nname = \"hot\"\npattern = \"list\"\npairs = [[1, 2]]\nload = 1.0\nmessage = \"4 flits\"\nshare = true\n\
         [[traffic]]\nname = \"small\"\npattern = \"list\"\npairs = [[0, 2]]\nload = 1.0\nmessage = \"4 flits\"\nshare = true\n\
         [[traffic]]\nname = \"large\"\npattern = \"list\"\npairs = [[0, 4]]\nload = 1.0\nmessage = \"24 flits\"\nshare = true\n\
         start = \"5 us\"\n[run]\nwarmup = \"20 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
    );
    let output = run(&file(TWO, "kind = \"shortest\"", protocol, &rest));
    number(&output, "large", "accepted") / number(&output, "small", "accepted")
}

#[test]
fn messages_of_a_source_take_turns_whatever_their_size() {
    // 2 and 4 share a queue, of one or two. ECN here never marks, but asks send queues in another way.
    let [none, ecn] =
        ["kind = \"none\"", "kind = \"ecn\"\nnotify = \"notification\"\nthreshold = \"10000 flits\""];
    for (queueing, protocol) in [
        ("kind = \"single\"", none),
        ("kind = \"dbbm\"\nqueues = 2", none),
        ("kind = \"single\"", ecn),
        ("kind = \"dbbm\"\nqueues = 2", ecn),
        ("kind = \"voqsw\"", none),
    ] {
        let ratio = large_over_small(queueing, protocol);
        assert!((ratio - 6.0).abs() < 0.1, "{queueing} {protocol}: {ratio}");
    }
}

const SPLIT: &str = "input_buffer = { per = \"port\", size = \"16 packets\" }\n";
const SHARED: &str = "input_buffer = { per = \"port\", size = \"16 packets\", shared = true }\n";

/// Mean network latencies of two flows of 0.7 and 0.2 that share the channel from b to a, each in a queue of its own.
fn through_one_channel(switch: &str) -> [f64; 2] {
    let rest = format!(
        "[queueing]\nkind = \"dbbm\"\nqueues = 2\n[endpoint]\nacknowledge = false\n[switch]\n{switch}\n\
         [[traffic]]\nname = \"much\"\npattern = \"list\"\npairs = [[2, 0], [3, 0]]\nload = 0.35\nmessage = \"4 flits\"\n\
         [[traffic]]\nname = \"little\"\npattern = \"list\"\npairs = [[4, 1]]\nload = 0.2\nmessage = \"4 flits\"\n\
         [run]\nwarmup = \"20 us\"\nduration = \"400 us\"\n"
    );
    let output = run(&file(TWO, "kind = \"shortest\"", "kind = \"none\"", &rest));
    ["much", "little"]
        .map(|class| output.summary["classes"][class]["network_latency_ns"]["mean"].as_f64().unwrap())
}

#[test]
fn who_comes_first_is_served_first_by_the_channel_too() {
    for kind in ["cioq\"\nspeedup = 8", "output-queued\"", "input-queued\"\nspeedup = 8", "shared-buffer\""] {
        let switch = |arbitration: &str| {
            through_one_channel(&format!("kind = \"{kind}\narbitration = \"{arbitration}\""))
        };
        // Those who come at random times find the same queue, whosever it is.
        let [much, little] = switch("age");
        assert!((little / much - 1.0).abs() < 0.04, "{kind}: {much} {little}");
        let [much, little] = switch("round-robin");
        assert!(little < 0.85 * much, "{kind}: {much} {little}");
    }
}

#[test]
fn packets_of_another_class_leave_the_turns_of_the_queues_of_a_channel_as_they_are() {
    // Flows of two queues want all of the channel from b to a, and between any two of their packets goes an acknowledgement of the flows
    // that come the other way.
    for kind in ["cioq", "input-queued", "output-queued", "shared-buffer"] {
        let flow = |name: &str, pairs: &str| {
            format!(
                "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = {pairs}\nload = 1.0\nmessage = \"24 flits\"\n\
                 process = \"periodic\"\nshare = true\n"
            )
        };
        let flows = flow("even", "[[2, 0]]") + &flow("odd", "[[3, 1]]") + &flow("back", "[[0, 2], [1, 3]]");
        let rest = format!(
            "[queueing]\nkind = \"dbbm\"\nqueues = 2\n[switch]\nkind = \"{kind}\"\narbitration = \"round-robin\"\n{flows}\
             [run]\nwarmup = \"10 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
        );
        let output = run(&file(TWO, "kind = \"shortest\"", "kind = \"none\"", &rest));
        let [even, odd] = ["even", "odd"].map(|class| number(&output, class, "accepted"));
        // Of each 25 flits one is an acknowledgement.
        let expected = 24.0 / 25.0 / 2.0;
        assert!((even - expected).abs() < 0.01 && (odd - expected).abs() < 0.01, "{kind}: {even} and {odd}");
    }
}

#[test]
fn packets_of_another_class_leave_the_turns_of_the_outputs_of_an_input_as_they_are() {
    // Endpoint 0 sends all it can to 2 and 3, where others send too, and acknowledges what comes from 1.
    let flow = |name: &str, pair: [u32; 2], load: f64| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = [{pair:?}]\nload = {load:?}\nmessage = \"24 flits\"\n\
             share = true\n"
        )
    };
    let flows = flow("two", [0, 2], 0.8) + &flow("three", [0, 3], 0.8) + &flow("back", [1, 0], 1.0);
    let others = flow("beside two", [4, 2], 0.3) + &flow("beside three", [5, 3], 0.3);
    for kind in ["cioq", "input-queued"] {
        let rest = format!(
            "[queueing]\nkind = \"voqsw\"\n[switch]\nkind = \"{kind}\"\nspeedup = 1\n{flows}{others}\
             [run]\nwarmup = \"20 us\"\nduration = \"100 us\"\ndrain = \"0 us\"\n"
        );
        let output = run(&file(
            "kind = \"single-switch\"\nendpoints = 6",
            "kind = \"minimal\"",
            "kind = \"none\"",
            &rest,
        ));
        let [two, three] = ["two", "three"].map(|class| number(&output, class, "accepted"));
        assert!((two / three - 1.0).abs() < 0.05 && two + three > 0.85, "{kind}: {two} and {three}");
    }
}

/// When, in ns, a packet of endpoint 0 for `older` and one that came after it for `younger` are through a switch whose two outputs
/// become free in the same moment.
fn older_and_younger(switch: &str, older: u32, younger: u32) -> [f64; 2] {
    let one = |name: &str, pair: [u32; 2], flits: u32, start: u32| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = [{pair:?}]\nmessage = \"{flits} flits\"\nshare = true\n\
             process = \"one-shot\"\nstart = \"{start} ns\"\n"
        )
    };
    let first = one("first", [4, older], 24, 0) + &one("second", [5, younger], 24, 0);
    let flows = one("older", [0, older], 4, 2) + &one("younger", [0, younger], 4, 3);
    let rest = format!(
        "[endpoint]\nacknowledge = false\n[switch]\narbitration = \"age\"\nspeedup = 1\n{switch}\n{first}{flows}\
         [run]\nwarmup = \"0 us\"\nduration = \"1 us\"\n"
    );
    let output =
        run(&file("kind = \"single-switch\"\nendpoints = 6", "kind = \"minimal\"", "kind = \"none\"", &rest));
    let through = |class, start| start + number(&output, class, "packet_latency_ns.mean");
    [through("older", 2.0), through("younger", 3.0)]
}

#[test]
fn by_age_an_input_too_sends_the_older_of_two_packets_first() {
    for switch in ["kind = \"cioq\"", "kind = \"input-queued\""] {
        for (older, younger) in [(2, 3), (3, 2)] {
            // The outputs are free at 10 + 1 + 24 ns; from there it takes 4 flits, and the channel's 10 ns.
            let found = older_and_younger(switch, older, younger);
            assert_eq!(found, [35.0 + 4.0 + 10.0, 39.0 + 4.0 + 10.0], "{switch}, to {older} first");
        }
    }
}

/// A class of one pair that sends all it can from the beginning, or one message at a time in ns.
fn pair(name: &str, [from, to]: [u32; 2], flits: u32, once: Option<u32>) -> String {
    let when =
        once.map_or("load = 1.0".to_string(), |ns| format!("process = \"one-shot\"\nstart = \"{ns} ns\""));
    format!(
        "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = [[{from}, {to}]]\nmessage = \"{flits} flits\"\nshare = true\n{when}\n"
    )
}

#[test]
fn inputs_that_wait_for_one_queue_take_turns_whoever_waits_for_another() {
    // 0 and 1 send to 4 in one queue of the link, 2 to 5 in the other; 6 sends to 4 too, so that the first queue waits for credit.
    let flows: String = [("zero", [0, 4]), ("one", [1, 4]), ("two", [2, 5]), ("hot", [6, 4])]
        .map(|(name, ends)| pair(name, ends, 24, None))
        .concat();
    let network = "kind = \"file\"\nformat = \"edges\"\ntext = '''\n0 a\n1 a\n2 a\n3 a\n4 b\n5 b\n6 b\n7 b\na, b, 100 Gb/s, 50 ns\n'''";
    let switches = [
        "kind = \"cioq\"",
        "kind = \"cioq\"\narbitration = \"age\"",
        "kind = \"cioq\"\narbitration = \"random\"",
        "kind = \"input-queued\"\nspeedup = 2",
        "kind = \"output-queued\"",
    ];
    for switch in switches {
        let rest = format!(
            "[queueing]\nkind = \"dbbm\"\nqueues = 2\n[endpoint]\nacknowledge = false\n[switch]\n{switch}\n{flows}\
             [run]\nwarmup = \"20 us\"\nduration = \"60 us\"\ndrain = \"0 us\"\n"
        );
        let output =
            run(&file(network, "kind = \"shortest\"\ndeadlock = \"up-down\"", "kind = \"none\"", &rest));
        let [zero, one] = ["zero", "one"].map(|class| number(&output, class, "accepted"));
        // How much of the link their queue gets depends on the switch that it leads to.
        assert!((zero / one - 1.0).abs() < 0.05 && zero > 0.1, "{switch}: {zero} and {one}");
    }
}

#[test]
fn flows_of_a_source_that_share_a_queue_take_turns_whoever_has_another() {
    // 0 sends to 2 and 4 in one queue of its channel, and to 1 in another.
    let flows = pair("hot", [1, 2], 4, None)
        + &pair("small", [0, 2], 4, None)
        + &pair("large", [0, 4], 24, None)
        + &pair("third", [0, 1], 4, None);
    let go = |queueing: &str, protocol: &str, switch: &str| {
        let rest = format!(
            "[queueing]\n{queueing}\n[endpoint]\nacknowledge = {}\n[switch]\n{switch}\n{flows}\
             [run]\nwarmup = \"20 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n",
            protocol != "none"
        );
        let output = run(&file(TWO, "kind = \"shortest\"", &format!("kind = \"{protocol}\""), &rest));
        ["small", "large"].map(|class| number(&output, class, "accepted"))
    };
    let small_buffers = "kind = \"input-queued\"\ninput_buffer = \"2 packets\"";
    let [small, large] = go("kind = \"voqsw\"", "none", small_buffers);
    assert!((large / small - 6.0).abs() < 0.1, "{small} {large}");
    for protocol in ["ecn", "lhrp", "smsrp"] {
        let [small, large] = go("kind = \"dbbm\"\nqueues = 2", protocol, small_buffers);
        assert!(small > 0.01 && large > 0.01, "{protocol}: {small} {large}");
    }
}

#[test]
fn by_age_an_input_sends_its_oldest_packet_first_whatever_its_queue() {
    // Two packets for 0 in one queue, and one for 1 that came last; the output is busy until all have come.
    let flows = pair("hog", [3, 0], 24, Some(0))
        + &pair("first", [2, 0], 8, Some(1))
        + &pair("second", [2, 0], 8, Some(1))
        + &pair("last", [2, 1], 8, Some(17));
    for kind in ["cioq", "input-queued", "output-queued", "shared-buffer"] {
        let rest = format!(
            "[queueing]\nkind = \"dbbm\"\nqueues = 2\n[endpoint]\nacknowledge = false\n[switch]\nkind = \"{kind}\"\narbitration = \"age\"\n\
             {flows}[run]\nwarmup = \"0 us\"\nduration = \"1 us\"\n"
        );
        let output = run(&file(TWO, "kind = \"shortest\"", "kind = \"none\"", &rest));
        let through = |class, start| start + number(&output, class, "packet_latency_ns.max");
        let [first, second, last] = [through("first", 1.0), through("second", 1.0), through("last", 17.0)];
        assert!(first < second && second + 8.0 <= last, "{kind}: {first} {second} {last}");
    }
}

#[test]
fn an_empty_queue_that_counts_a_delay_holds_no_place() {
    let flows = pair("early", [0, 1], 24, Some(0))
        + &pair("other", [0, 2], 24, Some(10))
        + &pair("late", [0, 1], 24, Some(20));
    let latencies = |protocol: &str| {
        let rest = format!("{flows}[run]\nwarmup = \"0 us\"\nduration = \"1 us\"\n");
        let output = run(&file(TWO, "kind = \"shortest\"", &format!("kind = \"{protocol}\""), &rest));
        ["early", "other", "late"].map(|class| number(&output, class, "packet_latency_ns.mean"))
    };
    for protocol in ["ecn", "lhrp", "smsrp", "srp"] {
        assert_eq!(latencies(protocol), latencies("none"), "{protocol}");
    }
}

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
    for (at, (network, routing, queueing)) in product().into_iter().enumerate().step_by(5) {
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
    assert!(problem(OTHERS[0], "kind = \"bbq\"\nqueues = 0").contains("1"));
}

#[test]
fn control_packets_between_flits_keep_no_channel_idle() {
    // One-flit data and one-flit acknowledgements: a control packet waits for the end of what is under way at most.
    let latency = |interleave: bool| {
        let rest = format!(
            "[packet]\nmax = \"1 flit\"\ninterleave = {interleave}\n[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.45\n\
             message = \"1 flit\"\n[run]\nwarmup = \"10 us\"\nduration = \"40 us\"\n"
        );
        let network = "kind = \"single-switch\"\nendpoints = 8";
        number(
            &run(&file(network, "kind = \"minimal\"", "kind = \"none\"", &rest)),
            "t",
            "network_latency_ns.mean",
        )
    };
    let [without, with] = [latency(false), latency(true)];
    assert!((with / without - 1.0).abs() < 0.02, "{with} instead of {without}");
}
