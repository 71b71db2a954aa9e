//! CODES_CC and SST_CM in whole runs: who is ordered to throttle, by how much, and for how long.
use crate::common::{self, column, ints, number, reals, run, run_with};
use std::collections::BTreeMap;
use tailback_engine::report::{Column, Output};

/// Twelve endpoints of a dragonfly send all they can to one of another group from 5 us to 105 us.
fn incast(protocol: &str, rest: &str) -> String {
    format!(
        "[topology]\nkind = \"dragonfly\"\np = 2\na = 4\nh = 2\ngroups = 9\n\
         [link]\nbandwidth = \"200 Gb/s\"\nlatency = \"30 ns\"\n[packet]\nflit = \"64 B\"\nmax = \"64 flits\"\n\
         [routing]\nkind = \"minimal\"\n[switch]\nkind = \"output-queued\"\ninput_buffer = \"8 packets\"\noutput_buffer = \"16 packets\"\n\
         [congestion_control]\n{protocol}\n\
         [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = [20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42]\n\
         destinations = [3]\nload = 1.0\nmessage = \"64 flits\"\nstart = \"5 us\"\nstop = \"105 us\"\nshare = true\n{rest}\n\
         [run]\nwarmup = \"30 us\"\nduration = \"75 us\"\ndrain = \"3 ms\"\n[record]\ncontrol = true\nseries = \"5 us\"\n"
    )
}

/// The rates of an endpoint that were in force in a span of time, with when they began.
fn rates(output: &Output, endpoint: i64) -> Vec<(f64, f64)> {
    let times = reals(output, "rates", "time_ns").iter().zip(reals(output, "rates", "rate"));
    let rows = ints(output, "rates", "endpoint").iter().zip(times);
    rows.filter(|(row, _)| **row == endpoint).map(|(_, (&time, &rate))| (time, rate)).collect()
}

const SST: &str = "kind = \"sst-cm\"";
const CODES: &str = "kind = \"codes-cc\"\nbuffer = \"32 packets\"\nsignals = \"0 ns\"";

/// The order comes when all have been sending for longer than a stream lasts (288 ns): the pause must not be taken for their end.
#[test]
fn sst_cm_gives_sources_that_have_sent_for_long_their_share_after_the_pause() {
    let output = run(
        "[topology]\nkind = \"single-switch\"\nendpoints = 10\n[link]\nlatency = \"20 ns\"\n[routing]\nkind = \"minimal\"\n\
         [endpoint]\nacknowledge = false\n[switch]\ninput_buffer = \"3000 flits\"\n\
         [congestion_control]\nkind = \"sst-cm\"\noutstanding = \"2000 flits\"\n\
         [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = [0, 1, 2, 3, 4, 5, 6, 7]\ndestinations = [8]\nload = 1.0\n\
         message = \"24 flits\"\nprocess = \"periodic\"\n\
         [run]\nwarmup = \"0 us\"\nduration = \"100 us\"\ndrain = \"0 us\"\n[record]\ncontrol = true\n",
    );
    for source in 0..8 {
        let rates = rates(&output, source);
        // 307 ns after the start the switch holds 2016 flits, and the order takes 21: a pause of 4 times 2016 ns, then 1/8.
        assert_eq!(rates[..2], [(328.0, 0.0), (8392.0, 0.125)], "{source}: {rates:?}");
    }
}

#[test]
fn sst_cm_gives_each_source_of_an_incast_its_share_of_the_target() {
    let output = run(&incast(SST, ""));
    for source in [20, 30, 42] {
        let rates = rates(&output, source);
        let steady: Vec<f64> =
            rates.iter().filter(|rate| (20e3..100e3).contains(&rate.0)).map(|rate| rate.1).collect();
        assert!(steady.is_empty(), "the share does not change while the incast lasts: {rates:?}");
        let last = rates.iter().rfind(|rate| rate.0 < 20e3).expect("it is throttled at once");
        assert!((last.1 - 1.0 / 12.0).abs() < 1e-3, "{rates:?}");
    }
    // The last order of a source tells of all twelve.
    let told = |name: &str| match column(&output, "signals", name) {
        Column::Int(numbers) => numbers.iter().map(|&number| number as f64).collect::<Vec<_>>(),
        Column::Real(numbers) => numbers.clone(),
        Column::Text(_) => panic!("{name} holds numbers"),
    };
    let limits = told("streams").into_iter().zip(told("rate")).filter(|(_, rate)| *rate < 1.0);
    assert!(limits.clone().all(|(streams, rate)| (streams * rate - 1.0).abs() < 0.01));
    assert_eq!(limits.map(|(streams, _)| streams).fold(0.0, f64::max), 12.0);
    // 1/12 each from twelve sources is all of the target's channel.
    assert!(
        number(&output, "hot", "accepted_per_destination") > 0.97,
        "{}",
        output.summary["classes"]["hot"]
    );
}

#[test]
fn sst_cm_leaves_the_traffic_of_a_throttled_source_to_others_alone() {
    let other = "[[traffic]]\nname = \"other\"\npattern = \"list\"\npairs = [[20, 50], [30, 52]]\nload = 0.5\nmessage = \"64 flits\"\nshare = true";
    let output = run(&incast(SST, other));
    let [offered, accepted] = ["offered", "accepted"].map(|key| number(&output, "other", key));
    assert!(accepted > 0.98 * offered, "{accepted} of {offered}");
    assert!(reals(&output, "rates", "rate").iter().any(|&rate| rate < 0.1), "the incast is throttled");
}

#[test]
fn codes_cc_throttles_to_about_one_share_each_and_lets_go_when_the_incast_ends() {
    let output = run(&incast(CODES, ""));
    for source in [20, 30, 42] {
        let rates = rates(&output, source);
        let first = rates.iter().find(|rate| rate.1 < 1.0).expect("it is throttled");
        assert!(first.0 < 8e3, "at once: {rates:?}");
        assert!(rates.iter().all(|rate| rate.1 >= 0.01), "no rate is below the floor");
        assert_eq!(rates.last().unwrap().1, 1.0, "in the end it is free: {rates:?}");
    }
    assert!(number(&output, "hot", "accepted_per_destination") > 0.9);
}

#[test]
fn a_drain_margin_keeps_the_allowed_rates_together_below_the_target() {
    let protocol = format!("{CODES}\nvariant = \"drain margin\"");
    let output = run(&incast(&protocol, ""));
    for at in [20e3, 40e3, 60e3, 80e3, 100e3] {
        let now =
            |endpoint| rates(&output, endpoint).iter().rfind(|rate| rate.0 <= at).map_or(1.0, |rate| rate.1);
        let sum: f64 = (0..12).map(|source| now(20 + 2 * source)).sum();
        assert!(sum < 1.01, "{sum} at {at} ns");
    }
    assert!(number(&output, "hot", "accepted_per_destination") > 0.85);
}

#[test]
fn the_share_of_an_application_is_a_quotient_of_whole_numbers_in_the_code() {
    // Two applications share the target: as coded, neither owns the whole backlog, and nobody is throttled.
    let second = "[[traffic]]\nname = \"second\"\npattern = \"hotspot\"\nsources = [50, 52, 54, 56]\ndestinations = [3]\n\
                  load = 1.0\nmessage = \"64 flits\"\nstart = \"5 us\"\nstop = \"105 us\"\nshare = true";
    let throttled = |variant: &str| {
        let output = run(&incast(&format!("{CODES}\nvariant = \"{variant}\""), second));
        let times = reals(&output, "signals", "time_ns").iter();
        times.filter(|time| (20e3..100e3).contains(*time)).count()
    };
    assert_eq!(throttled("as coded"), 0);
    assert!(throttled("as published") > 0);
}

#[test]
fn signals_may_take_any_passage_and_any_partitioning_gives_the_same_bytes() {
    for protocol in [SST, CODES] {
        for signals in ["path", "in band", "500 ns"] {
            let text = incast(&protocol.replace("\nsignals = \"0 ns\"", ""), "");
            let with = |partitions| {
                run_with(
                    &text,
                    &[
                        ("congestion_control.signals", signals),
                        ("run.partitions", partitions),
                        ("run.duration", "30 us"),
                        ("traffic.hot.stop", "60 us"),
                    ],
                )
            };
            let one = with("1");
            assert_eq!(common::result(&one), common::result(&with("9")), "{protocol}, {signals}");
            assert!(reals(&one, "rates", "rate").iter().any(|&rate| rate < 0.2), "{protocol}, {signals}");
        }
    }
}

/// Endpoint 1 of a switch sends to endpoint 0, which takes half of its channel; so do others.
fn paused(protocol: &str) -> Output {
    run(&format!(
        "[topology]\nkind = \"dragonfly\"\np = 2\na = 2\nh = 1\ngroups = 3\n\
         [link]\nhost = \"500 ns\"\nlocal = \"5 ns\"\nglobal = \"50 ns\"\n[packet]\nmax = \"4 flits\"\n\
         [routing]\nkind = \"minimal\"\n[congestion_control]\n{protocol}\nsignals = \"path\"\n\
         [endpoint]\ndrain_rate = \"50 Gb/s\"\n[[traffic]]\nname = \"a\"\npattern = \"list\"\n\
         pairs = [[8, 0], [9, 0], [1, 0], [2, 0]]\nload = 0.9\nmessage = \"4 flits\"\n\
         [run]\nwarmup = \"0 us\"\nduration = \"5 us\"\n[record]\npackets = true\ncontrol = true\n"
    ))
}

#[test]
fn no_rate_is_told_of_a_pause_that_a_second_order_leaves_in_force() {
    let output = paused("kind = \"sst-cm\"\nstreams = 2\noutstanding = \"20 flits\"\nsmallest = \"1 flit\"");
    let rates = rates(&output, 1);
    let Some(pause) = rates.iter().position(|&(_, rate)| rate == 0.0) else {
        panic!("no pause in {rates:?}")
    };
    let (from, to) = (rates[pause].0, rates[pause + 1].0);
    assert!(ints(&output, "signals", "endpoint").iter().filter(|&&to| to == 1).count() > 1);
    let starts = reals(&output, "packets", "start_ns").iter().enumerate();
    let (Column::Text(senders), Column::Text(kinds)) =
        (column(&output, "packets", "from"), column(&output, "packets", "kind"))
    else {
        panic!("words")
    };
    let sent: Vec<f64> = starts
        .filter(|&(row, _)| senders[row] == "endpoint 1" && kinds[row] == "data")
        .map(|(_, &at)| at)
        .collect();
    assert!(sent.iter().all(|&at| at < from + 4.0 || at >= to), "pause from {from} to {to}: {sent:?}");
    // It begins to send when it may, within the gap of its rate.
    assert!(sent.iter().any(|&at| at >= to && at < to + 100.0), "pause from {from} to {to}: {sent:?}");
}

#[test]
fn an_acknowledgement_along_the_path_takes_the_host_links_of_both_ends() {
    let output = paused("kind = \"codes-cc\"\nbuffer = \"100 flits\"\nperiod = \"1 us\"");
    // The first order; and what is delivered is known 2 x (500 + 1) ns later, so that no rate is known before.
    let (Column::Text(receivers), tails) =
        (column(&output, "packets", "to"), reals(&output, "packets", "tail_ns"))
    else {
        panic!("words")
    };
    let sources = ints(&output, "packets", "source");
    let first = (0..tails.len())
        .filter(|&row| receivers[row] == "endpoint 0" && sources[row] == 1)
        .map(|row| tails[row])
        .fold(f64::MAX, f64::min);
    let floor = 1.0 / 100.0;
    let known = rates(&output, 1).into_iter().find(|&(_, rate)| rate < 1.0 && rate > 1.5 * floor);
    assert!(known.is_some_and(|(at, _)| at >= first + 1002.0), "{first}: {:?}", rates(&output, 1));
}

#[test]
fn sst_cm_lets_all_sources_go_though_orders_in_band_overtake_each_other() {
    let others = "[[traffic]]\nname = \"others\"\npattern = \"uniform\"\nload = 0.3\nmessage = \"64 flits\"\nstop = \"105 us\"\nshare = true";
    let text = incast(&format!("{SST}\nsignals = \"in band\""), others);
    let output = run_with(&text, &[("routing.kind", "valiant")]);
    let ends = ints(&output, "rates", "endpoint").iter().zip(ints(&output, "rates", "destination"));
    // The table has the changes of each pair in their order.
    let last: BTreeMap<_, f64> = ends.zip(reals(&output, "rates", "rate").iter().copied()).collect();
    assert!(last.len() > 20, "{} pairs were throttled", last.len());
    let held: Vec<_> = last.iter().filter(|(_, rate)| **rate < 1.0).collect();
    assert!(held.is_empty(), "{held:?}");
}

/// The endpoint takes half of what its channel carries: the sources share that half, and what waits for it drains.
#[test]
fn sources_share_the_rate_at_which_a_slow_endpoint_takes_data() {
    let schemes = [
        "kind = \"sst-cm\"\noutstanding = \"500 flits\"",
        "kind = \"sst-cm\"\noutstanding = \"500 flits\"\nvariant = \"as coded\"",
        "kind = \"sst-cm\"\noutstanding = \"500 flits\"\nvariant = \"drain margin\"",
        "kind = \"codes-cc\"\nbuffer = \"1000 flits\"\nvariant = \"drain margin\"",
    ];
    for scheme in schemes {
        let output = run(&format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = 12\n[routing]\nkind = \"minimal\"\n\
             [endpoint]\ndrain_rate = \"50 Gb/s\"\n[switch]\ninput_buffer = \"100 flits\"\n[congestion_control]\n{scheme}\n\
             [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\ndestinations = [11]\n\
             load = 0.5\nmessage = \"24 flits\"\n\
             [run]\nwarmup = \"50 us\"\nduration = \"50 us\"\ndrain = \"0 us\"\n[record]\ncontrol = true\n"
        ));
        let last = |endpoint| rates(&output, endpoint).last().map_or(1.0, |&(_, rate)| rate);
        let sum: f64 = (0..10).map(last).sum();
        assert!((0.3..=0.51).contains(&sum), "{scheme}: {sum}");
        assert!(number(&output, "hot", "accepted_per_destination") > 0.4, "{scheme}");
    }
}

#[test]
fn a_shared_buffer_counts_whole_where_a_scheme_takes_it_for_a_port_s() {
    let abates = |shared: &str| {
        let output = run(&format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = 8\n[routing]\nkind = \"minimal\"\n\
             [switch]\nkind = \"shared-buffer\"\n{shared}\n[congestion_control]\nkind = \"codes-cc\"\n\
             [[traffic]]\nname = \"streams\"\npattern = \"list\"\npairs = [[0, 1], [2, 3]]\nload = 0.9\nmessage = \"24 flits\"\n\
             [run]\nwarmup = \"0 us\"\nduration = \"50 us\"\n[record]\ncontrol = true\n"
        ));
        let Column::Text(orders) = column(&output, "signals", "order") else { panic!("words") };
        orders.iter().filter(|&order| order == "abate").count()
    };
    assert_eq!(abates("input_buffer = { per = \"port\", size = \"40 packets\", shared = true }"), 0);
    assert_eq!(abates("input_buffer = \"40 packets\""), 0);
}

#[test]
fn what_schemes_cannot_see_and_keys_that_do_nothing_are_told() {
    let warnings = |scheme: &str| {
        let output = run(&format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = 12\n[link]\nlatency = \"20 ns\"\n[routing]\nkind = \"minimal\"\n\
             [congestion_control]\n{scheme}\n[[traffic]]\nname = \"uniform\"\npattern = \"uniform\"\nload = 0.1\nmessage = \"24 flits\"\n\
             [run]\nwarmup = \"0 us\"\nduration = \"2 us\"\n"
        ));
        let all = output.summary["warnings"].as_array().expect("a list").iter();
        all.filter_map(|told| Some(told.as_str()?.strip_prefix("congestion_control.")?.to_string()))
            .collect::<Vec<_>>()
    };
    let told = |scheme: &str| {
        let key = |told: &String| told.split([':', ' ']).next().unwrap().to_string();
        warnings(scheme).iter().map(key).collect::<Vec<_>>()
    };
    let expected: &[(&str, &[&str])] = &[
        ("kind = \"sst-cm\"", &["outstanding"]),
        ("kind = \"sst-cm\"\noutstanding = \"400 flits\"", &[]),
        ("kind = \"sst-cm\"\noutstanding = \"400 flits\"\nmargin = 0.8", &["margin"]),
        ("kind = \"sst-cm\"\noutstanding = \"400 flits\"\nmargin = 0.8\nvariant = \"drain margin\"", &[]),
        ("kind = \"codes-cc\"\nbuffer = \"9000 flits\"", &["congested"]),
        (
            "kind = \"codes-cc\"\nmargin = 0.8\nhold = 3.0\naggressor_share = 0.2",
            &["margin", "hold", "aggressor_share"],
        ),
        ("kind = \"codes-cc\"\nvariant = \"as coded\"\naggressor_share = 0.2", &[]),
        ("kind = \"ecn\"\nthreshold = \"9000 flits\"", &["threshold"]),
        ("kind = \"ecn\"", &[]),
        ("kind = \"lhrp\"\ncoalesce_after = 5", &["coalesce_after"]),
        ("kind = \"lhrp\"\ncoalesce_after = 5\nfabric_drop = \"1 us\"", &[]),
        ("kind = \"lhrp+srp\"\nthreshold_message = \"0 flits\"\ncoalesce_after = 5", &["coalesce_after"]),
        (
            "kind = \"lhrp+srp\"\ntime_to_wait = \"2 us\"\ndrop_large = \"threshold\"",
            &["time_to_wait", "threshold_message"],
        ),
        ("kind = \"srp\"", &["n_min"]),
        ("kind = \"srp\"\nsmall = \"coalesce\"", &[]),
        ("kind = \"swift\"\nbase_target = \"20 ns\"", &["base_target"]),
        ("kind = \"swift\"", &[]),
        ("kind = \"dcqcn\"\nmark_from = \"9000 flits\"", &["mark_from"]),
        ("kind = \"dcqcn\"", &[]),
        (
            "kind = \"srp\"\nn_min = \"0 flits\"\nsmall_hold = \"5 us\"\nsmall_threshold = \"9 flits\"",
            &["small_threshold", "small_hold"],
        ),
        ("kind = \"srp\"\nsmall = \"ecn\"\nsmall_hold = \"5 us\"", &[]),
    ];
    for (scheme, keys) in expected {
        assert_eq!(&told(scheme), keys, "{scheme}");
    }
    let longer = warnings("kind = \"ecn\"\nthreshold = \"1 TB\"").join("");
    assert!(longer.contains("threshold: at least 1073741823 flits"), "{longer}");
}

/// A tick is 80 ps here: a latency is that of the nearest one, and a latency that is not 0 takes one.
#[test]
fn the_latency_of_signals_is_rounded_to_ticks() {
    let checksum = |signals: &str| {
        let overrides = [
            ("congestion_control.signals", signals),
            ("run.duration", "20 us"),
            ("traffic.hot.stop", "50 us"),
        ];
        run_with(&incast(CODES, ""), &overrides).summary["checksum"].clone()
    };
    let exact = checksum("120 ns");
    assert_eq!(checksum("119.97 ns"), exact);
    assert_ne!(checksum("119.95 ns"), exact);
}
