//! The laws of the protocols that reserve or speculate, on whole networks.
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use tailback_engine::report::{Column, Output};
use tailback_engine::run::{check, run};
use tailback_engine::scenario::Scenario;

/// The schemes under test, as `[congestion_control]` tables. Times and thresholds are short, so that much is dropped.
const SCHEMES: &[&str] = &[
    "kind = \"srp\"\nn_min = \"0 flits\"\ntime_to_wait = \"20 ns\"",
    "kind = \"srp\"\nn_min = \"0 flits\"\nn_max = \"whole message\"\nmax_outstanding = 0\nreserves = \"with-first-packet\"\nepsilon = 0\ngrants = \"own class\"\ntime_to_wait = \"20 ns\"",
    "kind = \"srp\"\nn_min = \"2 packets\"\nn_max = \"2 packets\"\nmax_outstanding = 3\ntime_to_wait = \"20 ns\"",
    "kind = \"srp\"\nn_min = \"0 flits\"\nvariant = \"in-order\"\ntime_to_wait = \"20 ns\"",
    "kind = \"srp\"\nn_min = \"0 flits\"\nvariant = \"in-order\"\nmax_outstanding = 0\ntime_to_wait = \"20 ns\"",
    "kind = \"srp\"\nn_min = \"0 flits\"\nvariant = \"fast-resend\"\nmax_outstanding = 2\ntime_to_wait = \"20 ns\"",
    "kind = \"srp\"\nsmall = \"coalesce\"\ntime_to_wait = \"20 ns\"",
    "kind = \"srp\"\nsmall = \"ecn\"\nsmall_threshold = \"10 flits\"\nsmall_hold = \"500 ns\"\ntime_to_wait = \"20 ns\"",
    "kind = \"srp\"\nn_min = \"0 flits\"\nreserves = \"with-first-packet\"\ntime_to_wait = \"20 ns\"",
    "kind = \"smsrp\"\ntime_to_wait = \"20 ns\"",
    "kind = \"smsrp\"\ntime_to_wait = \"20 ns\"\nstops = \"message\"\noverhead = \"0 flits\"",
    "kind = \"lhrp\"\nthreshold = \"20 flits\"",
    "kind = \"lhrp\"\nthreshold = \"20 flits\"\nstops = \"message\"",
    "kind = \"lhrp\"\nthreshold = \"20 flits\"\nstops = \"queue\"",
    "kind = \"lhrp\"\nthreshold = \"20 flits\"\nfabric_drop = \"40 ns\"",
    "kind = \"lhrp+srp\"\nthreshold = \"20 flits\"\ntime_to_wait = \"20 ns\"",
    "kind = \"lhrp+srp\"\nthreshold = \"20 flits\"\ntime_to_wait = \"20 ns\"\ndrop_small = \"timeout\"\ndrop_large = \"threshold\"",
];

const NETWORKS: &[&str] = &[
    "[topology]\nkind = \"single-switch\"\nendpoints = 6\n[routing]\nkind = \"minimal\"\n",
    "[topology]\nkind = \"fat-tree\"\nlevels = 2\narity = 3\n[routing]\nkind = \"nca\"\n",
    "[topology]\nkind = \"dragonfly\"\np = 1\na = 2\nh = 1\ngroups = 3\n[routing]\nkind = \"par\"\n",
];

/// A network with a hot spot and uniform traffic over it that stops long before the run does.
fn scenario(network: &str, scheme: &str, traffic: &str, acknowledge: bool, seed: u64) -> String {
    format!(
        "{network}[endpoint]\nacknowledge = {acknowledge}\n[link]\nlatency = \"20 ns\"\nhost = \"5 ns\"\n[packet]\n\
         max = \"8 flits\"\n[switch]\nkind = \"cioq\"\noutput_buffer = \"2 packets\"\n[congestion_control]\n{scheme}\n{traffic}\
         [run]\nwarmup = \"0 us\"\nduration = \"100 us\"\ndrain = \"300 us\"\nseed = {seed}\n"
    )
}

fn mixed(load: f64, sizes: &str) -> String {
    format!(
        "[[traffic]]\nname = \"uniform\"\npattern = \"uniform\"\nload = {load}\nshare = true\nmessage = {sizes}\nstop = \"2 us\"\n\
         [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 4\ndestinations = 1\nload = {load}\nshare = true\n\
         message = {sizes}\nstop = \"2 us\"\n"
    )
}

fn summary(text: &str, overrides: &[(&str, &str)]) -> Value {
    output(text, overrides).summary
}

fn output(text: &str, overrides: &[(&str, &str)]) -> Output {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let scenario =
        Scenario::parse(text, &overrides).unwrap_or_else(|problems| panic!("{text}\n{problems:?}"));
    run(&scenario, &mut |_| true).unwrap_or_else(|error| panic!("{text}\n{error:?}"))
}

/// Every message was delivered whole, every flit once, and nothing is left in the network.
fn all_arrived(summary: &Value) -> Result<(), String> {
    for (name, class) in summary["classes"].as_object().unwrap() {
        if class["unfinished"] != 0 || class["offered"] != class["accepted"] {
            return Err(format!("class {name}: {class:#}"));
        }
    }
    match summary["packets_in_the_network"].as_u64() {
        Some(0) => Ok(()),
        held => Err(format!("{held:?} packets are held")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_message_is_delivered_exactly_once_and_all_queues_drain(
        scheme in prop::sample::select(SCHEMES),
        network in prop::sample::select(NETWORKS),
        load in 0.02..0.9f64,
        (small, large) in (1u32..20, 8u32..200),
        acknowledge: bool,
        interleave: bool,
        seed in 1u64..1000,
    ) {
        let sizes = format!("{{ sizes = [\"{small} flits\", \"{large} flits\"], shares = [0.5, 0.5] }}");
        let text = scenario(network, scheme, &mixed(load, &sizes), acknowledge, seed);
        let interleave = [("packet.interleave", if interleave { "true" } else { "false" })];
        if let Err(wrong) = all_arrived(&summary(&text, &interleave)) {
            return Err(TestCaseError::fail(format!("{wrong}\n{text}")));
        }
    }
}

/// Rows of the table `packets`, by the columns that the laws speak of.
struct Step {
    event: String,
    kind: String,
    class: String,
    /// Source and destination of the packet.
    ends: (i64, i64),
    granted_ns: f64,
    words: (i64, i64),
}

fn steps(output: &Output) -> Vec<Step> {
    let table = output.tables.iter().find(|table| table.name == "packets").expect("packets are recorded");
    let column = |name: &str| &table.columns.iter().find(|(own, _)| own == name).expect("a column").1;
    let (Column::Text(events), Column::Text(kinds), Column::Text(classes), Column::Real(granted)) =
        (column("event"), column("kind"), column("traffic_class"), column("granted_ns"))
    else {
        panic!("the columns have other types")
    };
    let int = |name: &str, row: usize| match column(name) {
        Column::Int(values) => values[row],
        _ => panic!("{name} holds no whole numbers"),
    };
    let step = |row: usize| Step {
        event: events[row].clone(),
        kind: kinds[row].clone(),
        class: classes[row].clone(),
        ends: (int("source", row), int("destination", row)),
        granted_ns: granted[row],
        words: (int("word0", row), int("word1", row)),
    };
    (0..events.len()).map(step).collect()
}

/// What was granted: by destination, every interval once, as time and flits. A grant's flits are those of the
/// reservation with its key, of the same source; a refusal carries its own.
fn granted(steps: &[Step]) -> BTreeMap<i64, BTreeMap<(i64, u64), i64>> {
    let asked: HashMap<((i64, i64), i64), i64> = steps
        .iter()
        .filter(|step| step.kind == "reservation")
        .map(|step| ((step.ends, step.words.1), step.words.0))
        .collect();
    let mut granted: BTreeMap<i64, BTreeMap<(i64, u64), i64>> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.event == "sent" && !step.granted_ns.is_nan()) {
        let flits = match step.kind.as_str() {
            "grant" => asked[&((step.ends.1, step.ends.0), step.words.1)],
            _ => step.words.1,
        };
        let start = (step.granted_ns * 1000.0).round() as u64;
        granted.entry(step.ends.0).or_default().insert((step.ends.1, start), flits);
    }
    granted
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn granted_intervals_never_overlap_and_only_what_may_be_dropped_is(
        scheme in prop::sample::select(SCHEMES),
        network in prop::sample::select(NETWORKS),
        load in 0.2..0.9f64,
        (small, large) in (1u32..20, 8u32..200),
        seed in 1u64..1000,
    ) {
        let sizes = format!("{{ sizes = [\"{small} flits\", \"{large} flits\"], shares = [0.5, 0.5] }}");
        let text = scenario(network, scheme, &mixed(load, &sizes), true, seed);
        let steps = steps(&output(&text, &[("record.packets", "true")]));
        for step in steps.iter().filter(|step| step.event == "dropped") {
            prop_assert!(step.class.starts_with("speculative") && step.kind == "data", "{text}");
        }
        for (destination, intervals) in granted(&steps) {
            let mut in_order: Vec<(u64, i64)> =
                intervals.into_iter().map(|((_, start), flits)| (start, flits)).collect();
            in_order.sort_unstable();
            for pair in in_order.windows(2) {
                // A flit takes 1000 ps.
                let end = pair[0].0 + pair[0].1 as u64 * 1000;
                prop_assert!(end <= pair[1].0, "{destination}: {pair:?}\n{text}");
            }
        }
    }
}

#[test]
fn the_speculative_packets_of_every_scheme_are_dropped_at_a_hot_spot() {
    for scheme in SCHEMES {
        let text = scenario(NETWORKS[1], scheme, &mixed(0.7, "\"7 flits\""), true, 3);
        let summary = summary(&text, &[]);
        all_arrived(&summary).unwrap_or_else(|wrong| panic!("{scheme}: {wrong}"));
        let dropped = summary["classes"]["all"]["dropped_packets"].as_u64().unwrap();
        let bypass = scheme.contains("n_min = \"2 packets\"");
        assert_eq!(dropped == 0, bypass, "{scheme}: {dropped} packets were dropped");
        // The law of granted intervals is about many of a destination.
        let steps = steps(&output(&text, &[("record.packets", "true")]));
        let most = granted(&steps).values().map(|intervals| intervals.len()).max().unwrap_or(0);
        assert_eq!(most > 20, !bypass, "{scheme}: {most} intervals");
    }
}

#[test]
fn results_do_not_depend_on_partitions_or_threads() {
    let traffic = mixed(0.6, "{ sizes = [\"3 flits\", \"60 flits\"], shares = [0.5, 0.5] }");
    for (at, scheme) in SCHEMES.iter().enumerate() {
        for (number, network) in NETWORKS[1..].iter().enumerate() {
            let text = scenario(network, scheme, &traffic, true, 5);
            let same = |interleave: &str, voq: &str, cuts: &[(&str, &str)]| {
                let checksum = |partitions: &str, threads: &str| {
                    let cut = [("run.partitions", partitions), ("run.threads", threads)];
                    let switch = [("packet.interleave", interleave), ("switch.voq", voq)];
                    summary(&text, &[cut, switch].concat())["checksum"].clone()
                };
                let one = checksum("1", "1");
                for (partitions, threads) in cuts {
                    let other = checksum(partitions, threads);
                    assert_eq!(one, other, "{partitions}, {threads}, {interleave}, {voq}: {scheme}");
                }
            };
            same("false", "true", &[("2", "1"), ("100", "1"), ("100", "2")]);
            // Plain queues and virtual output queues in turn.
            if (at + number) % 2 == 0 {
                same("true", if at % 4 < 2 { "[\"data\"]" } else { "true" }, &[("100", "1")]);
            }
        }
    }
}

/// Latency in ns of the only message of a run.
fn alone(network: &str, scheme: &str, flits: u32) -> f64 {
    let traffic = format!(
        "[[traffic]]\npattern = \"hotspot\"\nsources = [0]\ndestinations = [5]\nprocess = \"one-shot\"\n\
         message = \"{flits} flits\"\n"
    );
    let text = scenario(network, scheme, &traffic, true, 1);
    summary(&text, &[])["classes"]["all"]["message_latency_ns"]["max"].as_f64().unwrap()
}

#[test]
fn a_message_alone_is_delayed_by_its_reservation_of_a_flit_at_most() {
    for network in NETWORKS {
        for flits in [1, 8, 20, 100] {
            let none = alone(network, "kind = \"none\"", flits);
            // Small blocks and second copies cost their own time. A flit takes 1 ns.
            let plain = |scheme: &&&str| !scheme.contains("n_max = \"2") && !scheme.contains("variant");
            for scheme in SCHEMES.iter().filter(plain) {
                let delay = alone(network, scheme, flits) - none;
                let allowed = if scheme.contains("srp\"") && !scheme.contains("smsrp") { 1.0 } else { 0.0 };
                assert!(delay <= allowed * 1.0001, "{flits} flits, {scheme}: {delay} ns more on {network}");
            }
        }
    }
}

#[test]
fn control_packets_go_between_the_flits_of_data_if_they_interleave() {
    // Two endpoints fill the channel to a third with long packets; the reservations of a fourth cross it.
    let traffic = "[[traffic]]\nname = \"full\"\npattern = \"hotspot\"\nsources = [0, 1]\ndestinations = [5]\nload = 1.0\nshare = true\n\
                   message = \"100 flits\"\n[[traffic]]\nname = \"other\"\npattern = \"hotspot\"\nsources = [2]\n\
                   destinations = [5]\nload = 0.1\nshare = true\nmessage = \"200 flits\"\n";
    let scheme = "kind = \"srp\"\nn_min = \"200 flits\"\nepsilon = 0\ntime_to_wait = \"10 us\"";
    let text = scenario(NETWORKS[0], scheme, traffic, false, 1);
    // How long reservations take from source to destination, of 2 x 5 ns of latency and 2 flits of 1 ns.
    let longest = |interleave: &str| {
        let overrides = [
            ("packet.max", "\"100 flits\""),
            ("packet.interleave", interleave),
            ("record.packets", "true"),
            ("run.duration", "\"40 us\""),
            ("run.drain", "\"0 us\""),
        ];
        let waits = waits(&output(&text, &overrides), "reservation");
        assert!(waits.len() > 5, "{waits:?}");
        waits.into_iter().fold(0.0, f64::max)
    };
    assert!(longest("true") <= 12.0 + 2.0, "at most a flit under way, and one of another reservation");
    assert!(longest("false") > 50.0, "else a packet");
}

/// Times in ns from leaving the source to arrival of the packets of a kind, in a network of one switch.
fn waits(output: &Output, kind: &str) -> Vec<f64> {
    let table = output.tables.iter().find(|table| table.name == "packets").expect("packets are recorded");
    let column = |name: &str| &table.columns.iter().find(|(own, _)| own == name).expect("a column").1;
    let (Column::Text(kinds), Column::Text(from), Column::Int(messages)) =
        (column("kind"), column("from"), column("message"))
    else {
        panic!("the columns have other types")
    };
    let (Column::Real(starts), Column::Real(tails), Column::Int(sources)) =
        (column("start_ns"), column("tail_ns"), column("source"))
    else {
        panic!("the columns have other types")
    };
    let mut left = HashMap::new();
    let mut waits = Vec::new();
    for at in (0..kinds.len()).filter(|&at| kinds[at] == kind) {
        let packet = (sources[at], messages[at]);
        if from[at].starts_with("endpoint") {
            left.insert(packet, starts[at]);
        } else if let Some(start) = left.get(&packet) {
            waits.push(tails[at] - start);
        }
    }
    waits
}

#[test]
fn a_hot_spot_accepts_what_the_scheduler_grants() {
    let traffic = "[[traffic]]\npattern = \"hotspot\"\nsources = [0, 1, 2, 3, 4]\ndestinations = [5]\nload = 0.6\n\
                   message = \"8 packets\"\n";
    let table = [("0", 1.0), ("0.05", 1.0 / 1.05), ("0.25", 0.8)];
    for (epsilon, rate) in table {
        let scheme = format!("kind = \"srp\"\nepsilon = {epsilon}\ntime_to_wait = \"100 ns\"");
        let text = scenario(NETWORKS[0], &scheme, traffic, false, 1);
        let summary = summary(
            &text,
            &[("run.warmup", "\"5 us\""), ("run.duration", "\"50 us\""), ("run.drain", "\"0 us\"")],
        );
        let accepted = summary["classes"]["all"]["accepted_per_destination"].as_f64().unwrap();
        // The reservations themselves take a flit in 64.
        assert!(accepted < rate + 0.01 && accepted > rate - 0.03, "epsilon {epsilon}: {accepted}");
    }
}

#[test]
fn first_tries_keep_pace_with_arrivals_where_a_refusal_stops_growth() {
    // Five endpoints send to one at their full rate, over channels of half a microsecond.
    let traffic = "[[traffic]]\npattern = \"hotspot\"\nsources = [0, 1, 2, 3, 4]\ndestinations = [5]\nload = 1.0\n\
                   message = \"4 flits\"\n";
    // Drops for each arrival and accepted, in closed form: all of five first tries for one that arrives, less that one, or
    // one; a reservation of a flit for four of data leaves 4/5 of the channel.
    let table = [
        ("kind = \"lhrp\"\nthreshold = \"20 flits\"\nstops = \"growth\"", true, 1.0, 1.0),
        ("kind = \"lhrp\"\nthreshold = \"20 flits\"\nstops = \"growth\"", false, 1.0, 1.0),
        ("kind = \"lhrp\"\nthreshold = \"20 flits\"\nstops = \"message\"", true, 4.0, 1.0),
        ("kind = \"lhrp+srp\"\nthreshold = \"20 flits\"\nstops = \"growth\"", true, 1.0, 1.0),
        ("kind = \"lhrp+srp\"\nthreshold = \"20 flits\"\nstops = \"growth\"", false, 1.0, 1.0),
        ("kind = \"smsrp\"\ntime_to_wait = \"20 ns\"\nstops = \"growth\"", true, 1.0, 0.8),
    ];
    for (scheme, acknowledge, drops, rate) in table {
        let text = scenario(NETWORKS[0], scheme, traffic, acknowledge, 1);
        let longer = [
            ("link.host", "\"500 ns\""),
            ("run.warmup", "\"50 us\""),
            ("run.duration", "\"100 us\""),
            ("run.drain", "\"0 us\""),
        ];
        let class = &summary(&text, &longer)["classes"]["all"];
        let part = |name: &str| class[name].as_f64().unwrap();
        let (accepted, arrived) = (part("accepted_per_destination"), 100_000.0 / 4.0);
        assert!((accepted - rate).abs() < 0.01, "{scheme}: {accepted}");
        let dropped = part("dropped_packets") / (arrived * accepted);
        assert!((dropped - drops).abs() < 0.03 * drops, "{scheme}: {dropped} drops for each arrival");
    }
}

#[test]
fn a_scheme_that_needs_send_queues_per_destination_says_so() {
    for scheme in SCHEMES {
        let text = scenario(NETWORKS[0], scheme, &mixed(0.1, "\"4 flits\""), true, 1);
        let overrides = [("endpoint.queues".to_string(), "\"fifo\"".to_string())];
        let problems = match Scenario::parse(&text, &overrides) {
            Ok(scenario) => check(&scenario),
            Err(problems) => problems,
        };
        assert_eq!(problems.len(), 1, "{scheme}: {problems:?}");
        assert_eq!(problems[0].path, "endpoint.queues");
    }
}

/// Messages to a source's only destination wait where they can be seen together, as those to one of several do.
#[test]
fn small_messages_coalesce_though_their_source_has_one_destination() {
    let traffic = "[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 1], [3, 1]]\nload = 0.5\n\
                   message = \"4 flits\"\nstop = \"5 us\"\n";
    let scheme = "kind = \"srp\"\nn_min = \"16 flits\"\nsmall = \"coalesce\"";
    let found = summary(&scenario(NETWORKS[0], scheme, traffic, false, 1), &[]);
    all_arrived(&found).unwrap();
    let share = |kind: &str| found["ejection_shares"][kind].as_f64().unwrap();
    assert!(share("reservation") < share("data") / 16.0, "{}", found["ejection_shares"]);
}

/// The copy that the in-order variant sends too much counts when it arrives, at 1.5 us.
#[test]
fn a_second_copy_counts_in_the_window_that_it_arrives_in() {
    let traffic = "[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 1]]\nprocess = \"one-shot\"\n\
                   message = \"8 flits\"\n";
    let scheme = "kind = \"srp\"\nn_min = \"0 flits\"\nvariant = \"in-order\"";
    let text = scenario(NETWORKS[0], scheme, traffic, true, 1);
    let copies = |duration| {
        let overrides = [("link.host", "\"250 ns\""), ("run.duration", duration)];
        summary(&text, &overrides)["classes"]["t"]["duplicate_packets"].as_u64().unwrap()
    };
    assert_eq!([copies("\"1200 ns\""), copies("\"3 us\"")], [0, 1]);
}

/// What begins in the first tick of a run without warm-up is in the window.
#[test]
fn what_starts_with_the_run_is_counted_where_it_enters_as_where_it_leaves() {
    let traffic = "[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 1]]\nprocess = \"one-shot\"\n\
                   message = \"8 flits\"\n";
    let found = summary(&scenario(NETWORKS[0], "kind = \"none\"", traffic, false, 1), &[]);
    assert!(found["ejection_shares"]["data"].as_f64().unwrap() > 0.0);
    assert_eq!(found["injection_shares"], found["ejection_shares"]);
}

/// Packets of a thousand inputs come to the head of one queue and are late, all in the same tick: whether a switch drops
/// them must not depend on how deep its calls may nest.
#[test]
fn a_thousand_packets_late_at_once_are_dropped_in_a_small_stack() {
    let dropped = |switch: &str| {
        let text = format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = 1001\n[routing]\nkind = \"minimal\"\n[link]\nlatency = \"20 ns\"\n\
             [packet]\nmax = \"8 flits\"\n[switch]\n{switch}\n[congestion_control]\nkind = \"smsrp\"\ntime_to_wait = \"20 ns\"\n\
             [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 1000\ndestinations = 1\nload = 1.0\nshare = true\n\
             message = \"1 flit\"\nstop = \"10 ns\"\n[run]\nwarmup = \"0 us\"\nduration = \"1 us\"\ndrain = \"0 us\"\n"
        );
        let stack = std::thread::Builder::new().stack_size(64 << 10);
        let run = stack
            .spawn(move || output(&text, &[]).summary["classes"]["all"]["dropped_packets"].as_u64().unwrap());
        run.unwrap().join().unwrap()
    };
    for switch in [
        "kind = \"shared-buffer\"",
        "kind = \"output-queued\"\noutput_buffer = \"1 packet\"",
        "kind = \"cioq\"",
    ] {
        assert!(dropped(switch) > 900, "{switch}");
    }
}

/// A hot spot joins a dragonfly whose local links have small buffers. What the global ones could hold does not help: most hot packets come to
/// the last switch by local links.
#[test]
fn the_threshold_by_default_is_what_ports_of_one_kind_can_hold() {
    let text = "[topology]\nkind = \"dragonfly\"\np = 2\na = 4\nh = 2\ngroups = 9\n\
        [link]\nhost = \"20 ns\"\nlocal = \"50 ns\"\nglobal = \"500 ns\"\n[packet]\nflit = \"32 B\"\nmax = \"1 KiB\"\n\
        [routing]\nkind = \"par\"\n[congestion_control]\nkind = \"lhrp\"\n\
        [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 12\ndestinations = 2\nload = 0.5\nmessage = \"16 KiB\"\n\
        [[traffic]]\nname = \"victim\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.4\nmessage = \"4 KiB\"\n\
        [run]\nwarmup = \"100 us\"\nduration = \"100 us\"\n";
    let described = tailback_engine::run::describe(&crate::common::read(text)).unwrap();
    // Half of what an output queue of 16 packets and three local links hold: twice 50 ns and a flit, and two packets.
    let local = (2.0 * (50.0 + 2.56) / 2.56_f64).ceil() as u32 + 64;
    let threshold = (512 + 3 * local) / 2;
    assert_eq!(described["congestion_control_default"]["threshold"], format!("{threshold} flits"));
    let accepted = |seed: &str, threshold: &str| {
        let changes = [("run.seed", seed), ("congestion_control.threshold", threshold)];
        crate::common::number(&crate::common::run_with(text, &changes), "victim", "accepted")
    };
    let default = format!("\"{threshold} flits\"");
    assert!(["1", "2"].iter().all(|seed| accepted(seed, &default) > 0.39));
    assert!(accepted("1", "\"1000 flits\"") < 0.3, "above it traffic jams");
}
