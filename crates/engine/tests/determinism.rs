//! A run is a function of its scenario: neither threads nor partitions nor what is recorded change a bit of its result.
use crate::common::*;

/// A hot spot with drops and marks, uniform traffic beside it, messages of several packets, and everything recorded.
const BUSY: &str = "[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 3\ndestinations = 1\nload = 0.7\nmessage = \"4 flits\"\nstart = \"250 ns\"\n\
[[traffic]]\nname = \"victim\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.6\n\
message = { sizes = [\"4 flits\", \"60 flits\"], shares = [0.5, 0.5], by = \"volume\" }\n\
[run]\nwarmup = \"500 ns\"\nduration = \"1 us\"\ndrain = \"250 ns\"\n\
[record]\nseries = \"125 ns\"\ntrees = true\nports = true\nsources = true\npairs = \"125 ns\"\nmessages = true\ncontrol = true\noccupancy = [\"1 us\", \"350 ns\", \"1250 ns\"]\n";

/// Every kind of switch, with every arbiter.
const KINDS: &[&str] = &[
    "kind = \"cioq\"",
    "kind = \"cioq\"\narbitration = \"age\"",
    "kind = \"input-queued\"\narbitration = \"random\"",
    "kind = \"output-queued\"\noutput_buffer = \"2 packets\"",
    "kind = \"shared-buffer\"\narbitration = \"age\"",
    "kind = \"output-queued\"\narbitration = \"age\"",
    "kind = \"cioq\"\narbitration = \"random\"",
    "kind = \"shared-buffer\"",
    "kind = \"cioq\"\nvoq = false",
    "kind = \"input-queued\"\nspeedup = 2\nvoq = [\"control\"]\narbitration = \"age\"",
    "kind = \"output-queued\"\narbitration = \"random\"\npipeline = \"7 ns\"",
    "kind = \"shared-buffer\"\narbitration = \"random\"\n\
     input_buffer = { per = \"port\", size = \"100 packets\", shared = true }",
    "kind = \"cioq\"\nspeedup = 1\ninput_buffer = \"2 packets\"\noutput_buffer = \"1 packet\"\npipeline = \"7 ns\"",
    "kind = \"cioq\"\nparallel_reads = true",
    "kind = \"cioq\"\nforwarding = \"store-and-forward\"",
    "kind = \"shared-buffer\"\nforwarding = \"store-and-forward\"\npipeline = \"7 ns\"",
    "kind = \"input-queued\"\nparallel_reads = true\nvoq = false",
    "kind = \"input-queued\"\nparallel_reads = true\n\
     input_buffer = { per = \"port\", size = \"100 packets\", shared = true }",
];

/// Partitions and threads.
const CUTS: &[(&str, &str)] = &[("2", "1"), ("3", "2"), ("1000", "2")];

/// One of the cuts, in turn: of many runs in a row each has another.
fn cut(turn: usize) -> &'static [(&'static str, &'static str)] {
    &CUTS[turn % CUTS.len()..][..1]
}

type Cuts<'a> = &'a [(&'a str, &'a str)];

fn same_however_it_is_cut(
    network: &str,
    routing: &str,
    protocol: &str,
    switch: &str,
    rest: &str,
    cuts: Cuts,
) {
    let protocol = suited(routing, protocol);
    let text = file(network, routing, protocol, &format!("[switch]\n{switch}\n{rest}"));
    let with = |partitions: &str, threads: &str| {
        run_with(&text, &[("run.partitions", partitions), ("run.threads", threads)])
    };
    let one = result(&with("1", "1"));
    for (partitions, threads) in cuts {
        let other = result(&with(partitions, threads));
        if one != other {
            let at = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
            let cut = |text: &str| text[at.saturating_sub(200)..(at + 100).min(text.len())].to_string();
            panic!("{partitions} partitions, {threads} threads:\n{}\n{}\nin\n{text}", cut(&one), cut(&other));
        }
    }
}

#[test]
fn threads_and_partitions_do_not_change_the_result() {
    lists_are_complete();
    // A third of the protocols with each routing, others with the next.
    for (turn, (network, routing)) in routed(FEW_NETWORKS).into_iter().enumerate() {
        for (at, protocol) in PROTOCOLS.iter().enumerate().skip(turn % 3).step_by(3) {
            let switch = KINDS[at % KINDS.len()];
            same_however_it_is_cut(network, &routing, protocol, switch, BUSY, cut(turn + at / 3));
        }
    }
}

#[test]
fn threads_and_partitions_do_not_change_the_result_of_any_switch() {
    let (network, routing) = (FEW_NETWORKS[2], "kind = \"par\"\nthreshold = \"0 flits\"");
    for (at, switch) in KINDS.iter().enumerate() {
        for (turn, protocol) in PROTOCOLS.iter().enumerate().skip(at % 2).step_by(2) {
            same_however_it_is_cut(network, routing, protocol, switch, BUSY, cut(at + turn / 2));
        }
    }
}

/// Classes that share endpoints, one of them with one destination.
const MINGLED: &str = "[[traffic]]\nname = \"short\"\npattern = \"uniform\"\nload = 0.2\nmessage = \"4 flits\"\nshare = true\n\
[[traffic]]\nname = \"long\"\npattern = \"uniform\"\nload = 0.3\nmessage = \"60 flits\"\nshare = true\n\
[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 4\ndestinations = 1\nload = 0.2\nmessage = \"4 flits\"\nshare = true\n\
[run]\nwarmup = \"500 ns\"\nduration = \"1 us\"\ndrain = \"250 ns\"\n[record]\nseries = \"125 ns\"\nsources = true\n";

#[test]
fn threads_and_partitions_do_not_change_whose_turn_it_is() {
    for (turn, (network, routing)) in routed(FEW_NETWORKS).into_iter().enumerate() {
        for (at, protocol) in PROTOCOLS.iter().enumerate().skip(turn % 6).step_by(6) {
            let switch = KINDS[at % KINDS.len()];
            same_however_it_is_cut(network, &routing, protocol, switch, MINGLED, cut(turn + at / 6));
        }
    }
}

#[test]
fn threads_and_partitions_do_not_change_what_priorities_do() {
    let [busy, mingled] =
        [BUSY, MINGLED].map(|rest| rest.replace("\"hotspot\"", "\"hotspot\"\npriority = 1"));
    for (turn, (network, routing)) in routed_at_once(FEW_NETWORKS).into_iter().enumerate() {
        let protocols = PROTOCOLS.iter().filter(|protocol| knows_priorities(protocol));
        for (at, protocol) in protocols.enumerate().skip(turn % 7).step_by(7) {
            let switch = KINDS[(turn + at) % KINDS.len()];
            let rest = if at % 2 == 0 { &mingled } else { &busy };
            same_however_it_is_cut(network, &routing, protocol, switch, rest, cut(turn + at / 7));
        }
    }
}

#[test]
fn threads_and_partitions_do_not_change_what_queue_pairs_do() {
    let [busy, mingled] = [BUSY, MINGLED].map(|rest| {
        let several = rest.replace("message =", "queue_pairs = 3\nmessage =");
        assert!(several.matches("queue_pairs").count() > 1);
        several.replacen("queue_pairs = 3", "queue_pairs = 5", 1)
    });
    let job = "[[job]]\nname = \"job\"\nworkload = \"alltoall\"\nmessage = \"20 kB\"\nranks = 4\nranks_per_endpoint = 2\n\
               queue_pairs = 2\nsplit = true\nshare = true\n";
    let mingled = format!("{job}{mingled}");
    for (turn, (network, routing)) in routed_at_once(FEW_NETWORKS).into_iter().enumerate() {
        let protocols = PROTOCOLS.iter().filter(|protocol| takes_queue_pairs(protocol));
        for (at, protocol) in protocols.enumerate().skip(turn % 5).step_by(5) {
            let switch = KINDS[(turn + at) % KINDS.len()];
            let rest = if (turn + at) % 2 == 0 { &mingled } else { &busy };
            same_however_it_is_cut(network, &routing, protocol, switch, rest, cut(turn + at / 5));
        }
    }
}

#[test]
fn threads_and_partitions_do_not_change_what_pauses_do() {
    let pausing = FLOW_CONTROLS.iter().filter(|control| control.contains("pfc"));
    let pausing = Vec::from_iter(pausing.map(|control| format!("[link.flow_control]\n{control}")));
    let lists = [BUSY, MINGLED].map(|rest| rest.replace("[record]\n", "[record]\npauses = true\n"));
    for (turn, (network, routing)) in routed(FEW_NETWORKS).into_iter().enumerate() {
        if goes_by_credits(&routing) {
            continue;
        }
        for (at, protocol) in PROTOCOLS.iter().enumerate().skip(turn % 6).step_by(6) {
            // Those of `KINDS` have buffers without room for what comes until a pause is obeyed.
            let switch = SWITCHES[(turn + at) % SWITCHES.len()];
            let network = format!("{network}\n{}", pausing[(turn + at / 6) % pausing.len()]);
            let rest = &lists[(turn + at) % lists.len()];
            same_however_it_is_cut(&network, &routing, protocol, switch, rest, cut(turn + at / 6));
        }
    }
}

#[test]
#[ignore = "long: the whole product"]
fn threads_and_partitions_do_not_change_any_result() {
    each(&routed(NETWORKS), |(network, routing)| {
        for (turn, protocol) in PROTOCOLS.iter().enumerate() {
            for (at, switch) in KINDS.iter().enumerate() {
                same_however_it_is_cut(network, routing, protocol, switch, BUSY, cut(turn + at));
            }
        }
    });
}

#[test]
fn one_time_of_snapshots_stands_for_each_of_its_multiples() {
    let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", PROTOCOLS[0], BUSY);
    let [every, list] = ["\"600 ns\"", "[\"1200 ns\", \"600 ns\"]"]
        .map(|times| run_with(&text, &[("record.occupancy", times)]));
    assert_eq!(reals(&every, "occupancy", "time_ns").last(), Some(&1200.0));
    assert_eq!(result(&every), result(&list));
}

#[test]
fn the_scenario_of_these_tests_drops_marks_and_resends() {
    let text = |network, protocol| file(network, "kind = \"minimal\"", protocol, BUSY);
    for protocol in PROTOCOLS.iter().filter(|protocol| protocol.contains("lhrp\"")) {
        for network in &FEW_NETWORKS[..2] {
            let output = run(&text(network, protocol));
            let counts = ["dropped_packets", "resent_packets"].map(|key| number(&output, "hot", key));
            assert!(counts[0] > 10.0 && counts[1] > 10.0, "{network} {protocol}: {counts:?}");
        }
    }
    // A scheme that let no data go in so short a time would be the same however it is cut.
    for protocol in PROTOCOLS {
        let output = run(&text(FEW_NETWORKS[1], protocol));
        let accepted = ["hot", "victim"].map(|class| number(&output, class, "accepted"));
        assert!(accepted.iter().all(|&accepted| accepted > 0.0), "{protocol}: {accepted:?}");
    }
    // The marks come with the first queue: then the sources are quiet for long.
    let notified = run_with(&text(FEW_NETWORKS[0], PROTOCOLS[2]), &[("run.warmup", "0 ns")]);
    assert!(notified.summary["ejection_shares"]["notification"].as_f64().unwrap() > 0.0);
}

/// A queue with a window, however large, remembers what is under way: it is never as new behind a packet.
#[test]
fn a_message_sent_without_a_queue_goes_as_one_of_a_queue_would() {
    let calm = BUSY.replace("load = 0.7", "load = 0.1").replace("load = 0.6", "load = 0.2");
    for network in FEW_NETWORKS {
        // A flow with a route of its own has a queue always.
        for routing in routings(network).into_iter().filter(|routing| !routing.contains("flow-adaptive")) {
            for rest in [BUSY, &calm] {
                let [without, with] = ["kind = \"none\"", "kind = \"none\"\nwindow = 4294967294"]
                    .map(|scheme| result(&run(&file(network, &routing, scheme, rest))));
                assert_eq!(without, with, "{network} {routing} {rest}");
            }
        }
    }
}

#[test]
fn a_run_repeated_gives_the_same_bytes() {
    let text = file(FEW_NETWORKS[2], "kind = \"par\"", PROTOCOLS[4], BUSY);
    let run = |threads| run_with(&text, &[("run.threads", threads), ("run.partitions", "4")]);
    let (one, two) = (run("1"), run("2"));
    assert_eq!(one.summary.to_string(), two.summary.to_string());
    assert_eq!(format!("{:?}", one.tables), format!("{:?}", run("1").tables));
}

#[test]
fn what_is_recorded_does_not_change_the_packets() {
    let text = file(FEW_NETWORKS[2], "kind = \"par\"", PROTOCOLS[3], BUSY);
    let bare = text.split("[record]").next().unwrap();
    let [mut recorded, mut without] = [&text, bare].map(|text| run(text).summary);
    // LHRP gives no orders that could be recorded.
    let told = recorded["warnings"].take();
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
    without["warnings"].take();
    // What is told only of what was recorded.
    assert!(recorded.as_object_mut().unwrap().remove("trees").is_some());
    for class in recorded["classes"].as_object_mut().unwrap().values_mut() {
        for key in ["fairness", "source_accepted_min", "source_accepted_max", "message_slowdown"] {
            assert!(class.as_object_mut().unwrap().remove(key).is_some(), "{key}");
        }
    }
    assert_eq!(recorded, without);
}

#[test]
fn another_routing_or_protocol_has_the_same_traffic_offered() {
    for network in FEW_NETWORKS {
        let mut offered = Vec::new();
        for (turn, routing) in routings(network).into_iter().enumerate() {
            for protocol in PROTOCOLS.iter().skip(turn % 5).step_by(5) {
                let output = run(&file(network, &routing, suited(&routing, protocol), BUSY));
                let classes = ["hot", "victim"];
                let counts = classes
                    .map(|class| (number(&output, class, "offered"), number(&output, class, "messages")));
                offered.push((counts, reals(&output, "series", "offered").to_vec()));
            }
        }
        assert!(offered.windows(2).all(|pair| pair[0] == pair[1]), "{network}: {offered:#?}");
    }
}

#[test]
fn another_seed_is_another_run() {
    let text = file(FEW_NETWORKS[2], "kind = \"par\"", PROTOCOLS[3], BUSY);
    let checksum = |seed| run_with(&text, &[("run.seed", seed)]).summary["checksum"].to_string();
    let (one, two) = (checksum("1"), checksum("2"));
    assert!(one != two && one == checksum("1"));
}
