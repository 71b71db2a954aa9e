//! What must come out by arithmetic alone.
use crate::common::*;
use tailback_engine::report::Output;

const SINGLE: &str = "kind = \"single-switch\"\nendpoints = 16";
const DRAGONFLY: &str = "kind = \"dragonfly\"\np = 2\na = 4\nh = 2\ngroups = 9";
const WINDOW: &str = "[run]\nwarmup = \"10 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n";

fn traffic(name: &str, pattern: &str, load: f64, message: &str, more: &str) -> String {
    format!(
        "[[traffic]]\nname = \"{name}\"\npattern = {pattern}\nload = {load:?}\nmessage = \"{message}\"\n{more}\n"
    )
}

fn go(network: &str, routing: &str, protocol: &str, rest: &str) -> Output {
    run(&file(network, routing, protocol, &format!("{WINDOW}{rest}")))
}

fn minimal(network: &str, protocol: &str, rest: &str) -> Output {
    go(network, "kind = \"minimal\"", protocol, rest)
}

const NONE: &str = "kind = \"none\"";
const NO_ACKS: &str = "[endpoint]\nacknowledge = false\n";

#[test]
fn worst_case_traffic_takes_what_the_links_between_two_groups_carry() {
    // All a·p endpoints of a group send to the next group, and minimal routing has one link there.
    let output = minimal(
        DRAGONFLY,
        NONE,
        &format!("{NO_ACKS}{}", traffic("wc", "\"worst-case\"\nn = 1", 0.5, "4 flits", "")),
    );
    let accepted = number(&output, "wc", "accepted");
    assert!((accepted - 1.0 / 8.0).abs() < 0.002, "accepted {accepted}");
}

#[test]
fn worst_case_traffic_over_parallel_links_takes_the_more() {
    let network = "kind = \"dragonfly\"\np = 2\na = 4\nh = 1\ngroups = 3";
    let output = minimal(
        network,
        NONE,
        &format!("{NO_ACKS}{}", traffic("wc", "\"worst-case\"\nn = 1", 0.5, "4 flits", "")),
    );
    let accepted = number(&output, "wc", "accepted");
    assert!((accepted - 2.0 / 8.0).abs() < 0.005, "accepted {accepted}");
}

#[test]
fn valiant_routing_spreads_worst_case_traffic() {
    let output = go(
        DRAGONFLY,
        "kind = \"valiant\"",
        NONE,
        &format!("{NO_ACKS}{}", traffic("wc", "\"worst-case\"\nn = 1", 0.5, "4 flits", "")),
    );
    let accepted = number(&output, "wc", "accepted");
    assert!(accepted > 0.35, "accepted {accepted}");
}

#[test]
fn a_switch_with_virtual_output_queues_and_speedup_2_takes_nearly_full_uniform_load() {
    let output =
        minimal(SINGLE, NONE, &format!("{NO_ACKS}{}", traffic("u", "\"uniform\"", 1.0, "1 flit", "")));
    let accepted = number(&output, "u", "accepted");
    assert!(accepted >= 0.95, "accepted {accepted}");
}

#[test]
fn an_infinite_speedup_makes_the_combined_switch_an_output_queued_one() {
    let run = |switch: &str| {
        let traffic = traffic("u", "\"uniform\"", 0.9, "5 flits", "");
        let output =
            minimal(SINGLE, NONE, &format!("[switch]\n{switch}\noutput_buffer = \"2 packets\"\n{traffic}"));
        (output.summary["checksum"].clone(), number(&output, "u", "accepted"))
    };
    let [infinite, twice] = ["\"infinite\"", "2"].map(|speedup| run(&format!("speedup = {speedup}")));
    assert_eq!(infinite, run("kind = \"output-queued\""));
    assert_ne!(infinite, twice);
}

/// Accepted load of a single switch of this kind whose inputs never run out of packets of one flit.
fn saturated(ports: u32, switch: &str) -> f64 {
    let network = format!("kind = \"single-switch\"\nendpoints = {ports}");
    let rest = format!(
        "[switch]\n{switch}\n[packet]\nmax = \"1 flit\"\n[endpoint]\nacknowledge = false\nqueues = \"fifo\"\n{}",
        traffic("u", "\"uniform\"", 1.0, "1 flit", "self = true")
    );
    number(&minimal(&network, NONE, &rest), "u", "accepted")
}

/// Karol, Hluchyj and Morgan 1987: 2 − √2 = 0.586 for many ports, 0.75, 0.6825 and 0.655 for two, three and four (their Table I).
#[test]
fn one_first_in_first_out_queue_per_input_is_limited_by_its_head() {
    for (ports, expected) in [(64, 0.586), (4, 0.655), (3, 0.6825), (2, 0.75)] {
        let accepted = saturated(ports, "kind = \"input-queued\"\nvoq = false\narbitration = \"random\"");
        assert!((accepted - expected).abs() <= 0.01, "{ports} ports: accepted {accepted}");
    }
}

#[test]
fn virtual_output_queues_and_speedup_2_take_nearly_all() {
    for switch in ["kind = \"input-queued\"", "kind = \"cioq\""] {
        let accepted = saturated(32, &format!("{switch}\nspeedup = 2\ninput_buffer = \"500 packets\""));
        assert!(accepted >= 0.98, "{switch}: accepted {accepted}");
    }
}

#[test]
fn a_fat_tree_with_virtual_output_queues_takes_nearly_all_uniform_traffic() {
    let tree = "kind = \"fat-tree\"\nlevels = 2\narity = 8";
    let rest = format!(
        "[switch]\nkind = \"cioq\"\ninput_buffer = \"100 packets\"\n{NO_ACKS}{}",
        traffic("u", "\"uniform\"", 1.0, "4 flits", "")
    );
    let accepted = number(&go(tree, "kind = \"nca\"", NONE, &rest), "u", "accepted");
    assert!(accepted >= 0.95, "accepted {accepted}");
}

#[test]
fn switches_without_a_crossbar_take_all() {
    for switch in ["kind = \"output-queued\"", "kind = \"shared-buffer\""] {
        let accepted = saturated(32, &format!("{switch}\ninput_buffer = \"500 packets\""));
        assert!(accepted >= 0.99, "{switch}: accepted {accepted}");
    }
}

#[test]
fn one_pair_fills_its_channel() {
    for message in ["1 flit", "24 flits", "100 flits"] {
        let traffic = traffic("one", "\"list\"\npairs = [[0, 1]]", 1.0, message, "process = \"periodic\"");
        let accepted = number(&minimal(SINGLE, NONE, &traffic), "one", "accepted");
        assert!((accepted - 1.0).abs() < 0.001, "accepted {accepted} of {message}");
    }
}

#[test]
fn a_hot_spot_shares_its_destination_equally_and_fills_it() {
    let record = "[record]\nsources = true\n";
    for protocol in [NONE, "kind = \"lhrp\""] {
        let hot = traffic("hot", "\"hotspot\"\nsources = [1, 2]\ndestinations = [0]", 1.0, "4 flits", "");
        let output = minimal(SINGLE, protocol, &format!("{hot}{record}"));
        let total = number(&output, "hot", "accepted_per_destination");
        let shares = reals(&output, "sources", "accepted");
        assert!(total > 0.9, "{protocol}: accepted {total}");
        assert!((shares[0] - shares[1]).abs() < 0.05 * total, "{protocol}: shares {shares:?}");
    }
}

/// What messages of 24 flits get of a destination, to which they go from one endpoint of the far switch, beside messages of 4 flits from two
/// endpoints there and one at the destination's switch. All send what they can, the small ones first; in a queue of their own so do
/// two more for another destination, which other endpoints want too, if there is a `jam`.
fn share_of_large_packets(switch: &str, jam: bool) -> f64 {
    let network = "kind = \"file\"\nformat = \"edges\"\ntext = \"\"\"\n0 b\n1 a\n2 a\n3 a\n4 b\n5 b\n6 b\n7 b\n8 a\n9 a\na, b\n\"\"\"";
    let jammed =
        traffic("jam", "\"list\"\npairs = [[8, 5], [9, 5], [6, 5], [7, 5]]", 1.0, "24 flits", "share = true");
    let rest = format!(
        "[queueing]\nkind = \"dbbm\"\nqueues = 2\n[switch]\n{switch}\n{NO_ACKS}{}{}{}",
        traffic("small", "\"list\"\npairs = [[1, 0], [2, 0], [4, 0]]", 1.0, "4 flits", "share = true"),
        traffic("large", "\"list\"\npairs = [[3, 0]]", 1.0, "24 flits", "share = true\nstart = \"5 us\""),
        if jam { jammed } else { String::new() }
    );
    number(&go(network, "kind = \"shortest\"", NONE, &rest), "large", "accepted")
}

#[test]
fn large_packets_do_not_starve_beside_small_ones() {
    // In round robin each endpoint of the far switch sends one packet in its turn, and that switch one to one of the destination's own.
    let turns = 24.0 / (24.0 + 4.0 + 4.0 + 3.0 * 4.0);
    for kind in ["cioq", "input-queued"] {
        for more in ["", "voq = false", "parallel_reads = true"] {
            let switch = format!("kind = \"{kind}\"\n{more}");
            let share = share_of_large_packets(&switch, false);
            assert!((share - turns).abs() < 0.01, "{switch}: {share}");
        }
        for jam in [false, true] {
            for (arbitration, least) in [("round-robin", 0.3), ("random", 0.2), ("age", 0.1)] {
                let switch = format!("kind = \"{kind}\"\narbitration = \"{arbitration}\"");
                let share = share_of_large_packets(&switch, jam);
                assert!(share > least, "{switch}, {jam}: {share}");
            }
        }
    }
    for kind in ["output-queued", "shared-buffer"] {
        let share = share_of_large_packets(&format!("kind = \"{kind}\""), false);
        assert!(share > 0.1, "{kind}: {share}");
    }
}

#[test]
fn by_chance_sources_send_as_many_packets_whatever_their_size() {
    for kind in ["cioq", "input-queued"] {
        for arbitration in ["random", "round-robin"] {
            let switch =
                format!("kind = \"{kind}\"\narbitration = \"{arbitration}\"\ninput_buffer = \"100 packets\"");
            let large =
                traffic("large", "\"list\"\npairs = [[1, 0], [2, 0]]", 1.0, "8 flits", "share = true");
            let small =
                traffic("small", "\"list\"\npairs = [[3, 0], [4, 0], [5, 0]]", 1.0, "1 flit", "share = true");
            let rest = format!("[packet]\nmax = \"8 flits\"\n[switch]\n{switch}\n{NO_ACKS}{large}{small}");
            let output = minimal("kind = \"single-switch\"\nendpoints = 6", NONE, &rest);
            let [large, small] = ["large", "small"].map(|class| number(&output, class, "accepted"));
            let packets = small / (large / 8.0);
            assert!((packets - 1.0).abs() < 0.05, "{switch}: {packets} packets of 1 flit for one of 8");
        }
    }
}

/// Mean flits in the switch at the end of the window.
fn queued(output: &Output) -> f64 {
    let tailback_engine::report::Column::Int(flits) = column(output, "occupancy", "flits") else {
        panic!("no flits")
    };
    flits.iter().sum::<i64>() as f64 / flits.len() as f64
}

fn hot_spot(protocol: &str) -> Output {
    let snapshots: Vec<String> = (15..30).map(|us| format!("\"{us} us\"")).collect();
    let record = format!("[record]\noccupancy = [{}]\n", snapshots.join(", "));
    let hot = traffic("hot", "\"hotspot\"\nsources = 8\ndestinations = 1", 0.5, "4 flits", "");
    minimal(
        SINGLE,
        protocol,
        &format!("[switch]\nkind = \"cioq\"\ninput_buffer = \"100 packets\"\n{hot}{record}"),
    )
}

#[test]
fn notification_and_reservation_shorten_the_queue_of_a_hot_spot() {
    let [none, ecn, lhrp] = [NONE, "kind = \"ecn\"", "kind = \"lhrp\"\nthreshold = \"200 flits\""]
        .map(|protocol| queued(&hot_spot(protocol)));
    assert!(ecn < none / 3.0, "ECN {ecn}, none {none}");
    assert!(lhrp < 300.0 && lhrp < none / 3.0, "LHRP {lhrp}, none {none}");
}

#[test]
fn reservation_keeps_the_latency_of_a_hot_spot_low_where_without_it_the_queue_fills() {
    let latency = |protocol| {
        // By the series: over 1 % of the packets are still under way, so the summary gives no number.
        let output = run_with(
            &file(
                SINGLE,
                "kind = \"minimal\"",
                protocol,
                &format!(
                    "[switch]\nkind = \"cioq\"\ninput_buffer = \"100 packets\"\n{WINDOW}{}[record]\nseries = \"5 us\"\n",
                    traffic("hot", "\"hotspot\"\nsources = 8\ndestinations = 1", 0.5, "4 flits", "")
                ),
            ),
            &[],
        );
        reals(&output, "series", "network_latency_ns")[1]
    };
    let (none, lhrp) = (latency(NONE), latency("kind = \"lhrp\"\nthreshold = \"200 flits\""));
    assert!(lhrp < 500.0 && none > 5.0 * lhrp, "LHRP {lhrp} ns, none {none} ns");
}

#[test]
fn acknowledgements_of_four_flit_messages_take_a_fifth_of_the_channels() {
    let output = minimal(SINGLE, NONE, &traffic("u", "\"uniform\"", 1.0, "4 flits", ""));
    let accepted = number(&output, "u", "accepted");
    assert!((0.76..=0.8001).contains(&accepted), "accepted {accepted}");
    let share = |kind: &str| output.summary["ejection_shares"][kind].as_f64().unwrap();
    assert!((share("data") - 4.0 * share("ack")).abs() < 0.01, "{}", output.summary["ejection_shares"]);
    assert!(share("data") + share("ack") <= 1.001);
}

#[test]
fn accepted_is_offered_where_there_is_room() {
    for (network, routing) in routed_at_once(NETWORKS) {
        let output = go(network, &routing, NONE, &traffic("u", "\"uniform\"", 0.1, "4 flits", ""));
        let [offered, accepted] = ["offered", "accepted"].map(|key| number(&output, "u", key));
        assert!(
            (accepted - offered).abs() < 0.003 && (offered - 0.1).abs() < 0.02,
            "{network} {routing} {accepted}"
        );
    }
}

/// Mean waiting time in flit times at an output fed by `inputs` Bernoulli sources of one-flit packets, and the closed
/// form (Karol, Hluchyj and Morgan 1987): (N − 1)/N · ρ / 2(1 − ρ).
fn waiting(inputs: u32, rho: f64, micros: u32, switch: &str) -> (f64, f64) {
    let sources: Vec<String> = (1..=inputs).map(|n| n.to_string()).collect();
    let hot = format!(
        "[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = [{}]\ndestinations = [0]\n\
         load_per_destination = {rho}\nmessage = \"1 flit\"\n",
        sources.join(", ")
    );
    let network = format!("kind = \"single-switch\"\nendpoints = {}", inputs + 1);
    let run = format!("[run]\nwarmup = \"20 us\"\nduration = \"{micros} us\"\ndrain = \"20 us\"\n");
    let rest = format!("[switch]\n{switch}\n[packet]\nmax = \"1 flit\"\n{NO_ACKS}{run}{hot}");
    let output = run_with(&file(&network, "kind = \"minimal\"", NONE, &rest), &[]);
    let zero_load = 10.0 + 1.0 + 10.0 + 1.0;
    let mean = number(&output, "hot", "network_latency_ns.mean");
    // By what was offered in this run, not by what was asked for.
    let rho = number(&output, "hot", "accepted_per_destination");
    let n = f64::from(inputs);
    (mean - zero_load, (n - 1.0) / n * rho / (2.0 * (1.0 - rho)))
}

fn waits_as_it_must(rho: f64, micros: u32) {
    for (inputs, switch) in [(4, "kind = \"output-queued\""), (64, "kind = \"shared-buffer\"")] {
        let (waited, expected) =
            waiting(inputs, rho, micros, &format!("{switch}\ninput_buffer = \"500 packets\""));
        let error = (waited - expected).abs() / expected;
        assert!(
            error <= 0.03,
            "{switch}, {inputs} inputs at {rho}: waited {waited} flit times, not {expected}"
        );
    }
}

/// Packets of L flits from N Bernoulli sources are served one flit in a flit time: ρ (L − 1/N) / 2(1 − ρ), from the batches of a flit time (the
/// work that a batch finds, and half of what comes with it). Where the sources are few, part of it is spent in them.
#[test]
fn packets_of_several_flits_wait_as_batches_of_work_do() {
    for (inputs, rho, flits, micros, switch) in [
        (60, 0.5, 4, 1000, "output-queued"),
        (60, 0.7, 4, 2000, "shared-buffer"),
        (8, 0.7, 10, 4000, "output-queued"),
    ] {
        let sources: Vec<u32> = (1..=inputs).collect();
        let rest = format!(
            "[switch]\nkind = \"{switch}\"\ninput_buffer = \"5000 flits\"\n[packet]\nmax = \"{flits} flits\"\n\
             [endpoint]\nacknowledge = false\nqueues = \"fifo\"\n\
             [run]\nwarmup = \"20 us\"\nduration = \"{micros} us\"\ndrain = \"20 us\"\n\
             [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = {sources:?}\ndestinations = [0]\n\
             load_per_destination = {rho}\nmessage = \"{flits} flits\"\n"
        );
        let network = format!("kind = \"single-switch\"\nendpoints = {}", inputs + 1);
        let output = run_with(&file(&network, "kind = \"minimal\"", NONE, &rest), &[]);
        let (n, length) = (f64::from(inputs), f64::from(flits));
        let waited = number(&output, "hot", "packet_latency_ns.mean") - (10.0 + 1.0 + 10.0 + length);
        let rho = number(&output, "hot", "accepted_per_destination");
        let expected = rho * (length - 1.0 / n) / (2.0 * (1.0 - rho));
        let error = (waited / expected - 1.0).abs();
        assert!(error < 0.03, "{switch}, {inputs} inputs, {flits} flits: waited {waited}, not {expected}");
    }
}

/// With parallel reads inputs never hold each other's outputs up, so that packets wait as at output queues.
#[test]
fn virtual_output_queues_that_are_read_in_parallel_wait_for_their_output_alone() {
    let wait = |ports: u32, reads: bool| {
        let rest = format!(
            "[switch]\nkind = \"input-queued\"\nparallel_reads = {reads}\ninput_buffer = \"500 packets\"\n\
             [packet]\nmax = \"1 flit\"\n{NO_ACKS}\
             [run]\nwarmup = \"20 us\"\nduration = \"200 us\"\ndrain = \"20 us\"\n{}",
            traffic("u", "\"uniform\"", 0.7, "1 flit", "self = true")
        );
        let network = format!("kind = \"single-switch\"\nendpoints = {ports}");
        let output = run_with(&file(&network, "kind = \"minimal\"", NONE, &rest), &[]);
        let (rho, n) = (number(&output, "u", "accepted"), f64::from(ports));
        let waited = number(&output, "u", "network_latency_ns.mean") - (10.0 + 1.0 + 10.0 + 1.0);
        waited / ((n - 1.0) / n * rho / (2.0 * (1.0 - rho)))
    };
    for ports in [4, 16] {
        let (parallel, one) = (wait(ports, true), wait(ports, false));
        assert!((parallel - 1.0).abs() <= 0.03, "{ports} ports: {parallel} of the closed form");
        assert!(one > 1.2, "{ports} ports, one packet at a time: {one} of the closed form");
    }
}

#[test]
fn waiting_at_an_output_is_the_closed_form() {
    waits_as_it_must(0.5, 500);
    waits_as_it_must(0.7, 1000);
}

#[test]
#[ignore = "long: near saturation the mean settles slowly"]
fn waiting_at_a_busy_output_is_the_closed_form() {
    waits_as_it_must(0.9, 8000);
}

#[test]
fn a_class_that_created_no_message_is_told() {
    let text = file(
        "kind = \"single-switch\"\nendpoints = 4",
        "kind = \"minimal\"",
        "kind = \"none\"",
        "[[traffic]]\nname = \"late\"\npattern = \"uniform\"\nload = 0.5\nstart = \"1 ms\"\n\
         [run]\nwarmup = \"1 us\"\nduration = \"2 us\"\n",
    );
    assert_eq!(run(&text).summary["warnings"][0], "class \"late\" created no message in the window");
    assert_eq!(run_with(&text, &[("traffic.late.start", "0 ns")]).summary["warnings"], serde_json::json!([]));
}

#[test]
fn what_is_offered_and_carried_at_a_flit_time_of_no_whole_picoseconds_is_exact() {
    // A flit of 8 bits takes 10.296 ps, a packet of 24 of them 248 ps in place of 247.1.
    let uneven = |load: f64, protocol: &str| {
        let traffic =
            traffic("all", "\"list\"\npairs = [[0, 2], [1, 2]]", load, "24 flits", "process = \"periodic\"");
        let text = file(SINGLE, "kind = \"minimal\"", protocol, &format!("{WINDOW}{NO_ACKS}{traffic}"));
        run_with(&text, &[("link.bandwidth", "\"777 Gb/s\""), ("packet.flit", "\"8 b\"")])
    };
    let exact = 247.104 / 248.0;
    let output = uneven(1.0, NONE);
    assert!((number(&output, "all", "offered") - 1.0).abs() < 1e-3, "{}", number(&output, "all", "offered"));
    assert!((number(&output, "all", "accepted_per_destination") - exact).abs() < 1e-3);
    let share = 16.0 * output.summary["ejection_shares"]["data"].as_f64().unwrap();
    assert!((share - exact).abs() < 1e-3, "of one of 16 channels {share}");
    assert!((number(&uneven(0.37, NONE), "all", "offered") - 0.37).abs() < 1e-3);
    // What is granted fills the channel.
    let granted = uneven(1.0, "kind = \"srp\"\nepsilon = 0.0");
    let accepted = number(&granted, "all", "accepted_per_destination");
    assert!((accepted - exact).abs() < 5e-3, "{accepted}");
}

#[test]
fn control_packets_cut_in_where_there_are_no_output_queues_too() {
    let rest =
        format!("[switch]\nkind = \"input-queued\"\n{}", traffic("all", "\"uniform\"", 0.5, "24 flits", ""));
    let text = file(SINGLE, "kind = \"minimal\"", NONE, &format!("{WINDOW}{rest}"));
    let accepted = ["false", "true"].map(|interleave| {
        let output = run_with(&text, &[("packet.interleave", interleave)]);
        number(&output, "all", "accepted")
    });
    assert!(accepted.iter().all(|accepted| (accepted - 0.5).abs() < 0.02), "{accepted:?}");
}

#[test]
fn the_largest_latency_is_exact_and_no_quantile_is_beyond_it() {
    let one = traffic("one", "\"list\"\npairs = [[0, 1]]", 0.1, "24 flits", "process = \"periodic\"");
    let output = minimal(SINGLE, NONE, &format!("{NO_ACKS}{one}"));
    let all =
        ["mean", "p50", "p95", "max"].map(|key| number(&output, "one", &format!("network_latency_ns.{key}")));
    assert!(all.iter().all(|&value| value == all[0]), "{all:?}");
}

#[test]
fn the_last_bin_of_a_series_is_measured_by_its_own_length() {
    let all = traffic("all", "\"list\"\npairs = [[0, 1]]", 1.0, "24 flits", "process = \"periodic\"");
    let text = file(SINGLE, "kind = \"minimal\"", NONE, &format!("{WINDOW}{NO_ACKS}{all}"));
    let output = run_with(&text, &[("record.series", "\"8 us\"")]);
    let accepted = reals(&output, "series", "accepted");
    // 30 us: three whole bins, and one of 6 us. The only class is all classes, and counted once.
    assert_eq!(accepted.len(), 4);
    assert!((accepted[3] - 1.0).abs() < 0.01, "{accepted:?}");
}

/// What 0 gets through to 2 while it sends to 3, and 1 to 2, all they can: input and output are busy without a break, and out of step.
fn between_two_streams(switch: &str, messages: [&str; 3]) -> [f64; 3] {
    let stream = |name: &str, pair: &str, message: &str, start: &str| {
        let more = format!("process = \"periodic\"\nshare = true\nstart = \"{start}\"");
        traffic(name, &format!("\"list\"\npairs = [{pair}]"), 1.0, message, &more)
    };
    let [a, b, c] = messages;
    let streams = stream("a", "[0, 2]", a, "1 us")
        + &stream("b", "[0, 3]", b, "1 us")
        + &stream("c", "[1, 2]", c, "0 us");
    let rest = format!("[queueing]\nkind = \"voqsw\"\n[switch]\n{switch}\n{NO_ACKS}{streams}");
    let output = minimal("kind = \"single-switch\"\nendpoints = 4", NONE, &rest);
    ["a", "b", "c"].map(|class| number(&output, class, "accepted"))
}

#[test]
fn no_flow_starves_between_two_streams_that_keep_its_input_and_its_output_busy() {
    for kind in ["cioq", "input-queued"] {
        for arbitration in ["round-robin", "age", "random"] {
            for speedup in [1, 2] {
                let switch =
                    format!("kind = \"{kind}\"\narbitration = \"{arbitration}\"\nspeedup = {speedup}");
                for messages in [["4 flits", "24 flits", "24 flits"], ["24 flits", "24 flits", "24 flits"]] {
                    let [a, _, c] = between_two_streams(&switch, messages);
                    // Of its packets one goes for each round of five others, and one that it waits for.
                    let flits = if messages[0] == "4 flits" { 4.0 } else { 24.0 };
                    assert!(a > 0.9 * flits / (flits + 7.0 * 24.0), "{switch}, {messages:?}: {a} beside {c}");
                }
            }
        }
    }
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
