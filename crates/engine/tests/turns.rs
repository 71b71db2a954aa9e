//! Laws of turns: who goes next at a source, at an input, at an output and on a channel, and that nobody is passed over for ever.
use crate::common::*;

/// Switch a with endpoints 0 and 1, switch b with endpoints 2 to 7.
const TWO: &str =
    "kind = \"file\"\nformat = \"edges\"\ntext = '''\n0 a\n1 a\n2 b\n3 b\n4 b\n5 b\n6 b\n7 b\na, b\n'''";

const SPLIT: &str = "input_buffer = { per = \"port\", size = \"16 packets\" }\n";

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
fn classes_that_share_an_endpoint_share_its_queues_in_the_order_of_their_messages() {
    let flows = |loads: [&str; 2]| {
        let class = |name: &str, pairs: &str, load: &str| {
            format!(
                "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = {pairs}\nload = {load}\nmessage = \"4 flits\"\nshare = true\n"
            )
        };
        class("one", "[[0, 1]]", loads[0]) + &class("several", "[[0, 1], [0, 2]]", loads[1])
    };
    let go = |endpoint: &str, loads| {
        run(&format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = 4\n[link]\nlatency = \"5 ns\"\n[packet]\nmax = \"4 flits\"\n\
             [routing]\nkind = \"minimal\"\n[endpoint]\nacknowledge = false\n{endpoint}\n{}\
             [run]\nwarmup = \"20 us\"\nduration = \"200 us\"\n",
            flows(loads)
        ))
    };
    // The queue for endpoint 1 has half of the channel, and half of what comes to it is of each class.
    let accepted = number(&go("", ["0.5", "1.0"]), "one", "accepted");
    assert!((accepted - 0.25).abs() < 0.02, "{accepted}");
    // In one queue for all, a message of either class waits as long.
    let fifo = go("queues = \"fifo\"", ["0.3", "0.6"]);
    let [one, several] = ["one", "several"].map(|class| number(&fifo, class, "message_latency_ns.mean"));
    assert!((one / several - 1.0).abs() < 0.1, "{one} and {several} ns");
}

#[test]
fn flows_of_a_source_that_share_a_queue_take_turns_whoever_has_another() {
    // 0 sends to 2 and, from later on, to 4 in one queue of its channel, and to 1 in another.
    let flows = pair("hot", [1, 2], 4, None)
        + &pair("small", [0, 2], 4, None)
        + &pair("large", [0, 4], 24, None)
        + "start = \"5 us\"\n"
        + &pair("third", [0, 1], 4, None);
    let go = |queueing: &str, protocol: &str| {
        let rest = format!(
            "[queueing]\n{queueing}\n[endpoint]\nacknowledge = {}\n\
             [switch]\nkind = \"input-queued\"\ninput_buffer = \"2 packets\"\n{flows}\
             [run]\nwarmup = \"20 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n",
            protocol != "none"
        );
        let output = run(&format!(
            "[topology]\n{TWO}\n[link]\nlatency = \"50 ns\"\nhost = \"5 ns\"\n\
             [routing]\nkind = \"shortest\"\ndeadlock = \"up-down\"\n[congestion_control]\nkind = \"{protocol}\"\n{rest}"
        ));
        ["small", "large"].map(|class| number(&output, class, "accepted"))
    };
    for (queueing, protocol) in [
        ("kind = \"voqsw\"", "none"),
        ("kind = \"dbbm\"\nqueues = 2", "ecn"),
        ("kind = \"dbbm\"\nqueues = 2", "lhrp"),
        ("kind = \"dbbm\"\nqueues = 2", "smsrp"),
    ] {
        let [small, large] = go(queueing, protocol);
        assert!((large / small - 6.0).abs() < 0.1, "{protocol}: {small} {large}");
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

/// What flow x gets through, which begins so many nanoseconds after the others. x, y and z have one source; y and z share a queue on its
/// channel, x and w one on the link from a to b, over which y goes too.
fn between_streams_in_step(begin: u32, output_buffer: &str) -> f64 {
    let stream = |name: &str, pair: [u32; 2], more: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = [{pair:?}]\nload = 1.0\nshare = true\nmessage = \"4 flits\"\n{more}"
        )
    };
    let rest = [
        "[queueing]\nkind = \"dbbm\"\nqueues = 2\n[endpoint]\nacknowledge = false\n[packet]\nmax = \"4 flits\"\n"
            .to_string(),
        format!("[switch]\nkind = \"cioq\"\noutput_buffer = \"{output_buffer}\"\n"),
        stream("x", [0, 3], &format!("start = \"{begin} ns\"\n")),
        stream("y", [0, 4], ""),
        stream("z", [0, 2], ""),
        stream("w", [1, 5], ""),
        "[run]\nwarmup = \"5 us\"\nduration = \"10 us\"\ndrain = \"0 us\"\n".to_string(),
    ];
    let network = "kind = \"file\"\nformat = \"edges\"\ntext = '''\n0 a\n1 a\n2 a\n3 b\n4 b\n5 b\na, b\n'''";
    number(&run(&file(network, "kind = \"shortest\"", "kind = \"none\"", &rest.concat())), "x", "accepted")
}

#[test]
fn no_flow_starves_whose_input_is_busy_whenever_room_comes_free() {
    // y and z keep the input busy in turn; whenever it is free, room in the queue of x is owed to w. In a switch of four ports one packet
    // of x goes for twenty of w at the least.
    for output_buffer in ["2 packets", "4 packets", "16 packets"] {
        for begin in 2000..2016 {
            let accepted = between_streams_in_step(begin, output_buffer);
            assert!(accepted > 0.5 / 21.0, "{output_buffer}, {begin} ns: {accepted}");
        }
    }
}
