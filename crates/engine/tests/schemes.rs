//! The parameters of congestion controls, and who acts on what.
use crate::common::*;
use std::collections::BTreeSet;
use tailback_engine::report::Column;

/// Seven of nine endpoints send to the other two, until 3 us.
const HOT: &str = "[switch]\nkind = \"cioq\"\ninput_buffer = \"20 packets\"\n[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 7\n\
    destinations = 2\nload = 0.9\nstop = \"3 us\"\nmessage = { sizes = [\"4 flits\", \"60 flits\"], shares = [0.5, 0.5] }\n\
    [run]\nwarmup = \"0 us\"\nduration = \"30 us\"\ndrain = \"0 us\"\n[record]\ncontrol = true\n";

const ECN: &str = "kind = \"ecn\"\nthreshold = \"24 flits\"";
const TABLE: &str = "kind = \"ecn\"\nthreshold = \"24 flits\"\ntable = [\"0 ns\", \"10 ns\", \"20 ns\", \"40 ns\", \"80 ns\"]";
const LHRP: &str = "kind = \"lhrp\"\nthreshold = \"24 flits\"\nfabric_drop = \"60 ns\"";
const SRP: &str = "kind = \"srp\"\nn_min = \"0 flits\"\ntime_to_wait = \"60 ns\"";
const SRP_ECN: &str =
    "kind = \"srp\"\nsmall = \"ecn\"\nsmall_threshold = \"10 flits\"\ntime_to_wait = \"60 ns\"";
const SMSRP: &str = "kind = \"smsrp\"\ntime_to_wait = \"60 ns\"";
const BOTH: &str = "kind = \"lhrp+srp\"\nthreshold = \"48 flits\"\ntime_to_wait = \"100 ns\"";
const BOTH_TIMED: &str =
    "kind = \"lhrp+srp\"\nthreshold = \"48 flits\"\ntime_to_wait = \"60 ns\"\ndrop_small = \"timeout\"";
const CODES: &str = "kind = \"codes-cc\"\nbuffer = \"96 flits\"\nperiod = \"50 ns\"\nsignals = \"20 ns\"";
const CODED: &str = "kind = \"codes-cc\"\nbuffer = \"96 flits\"\nvariant = \"as coded\"\nperiod = \"50 ns\"\nsignals = \"20 ns\"";
const MARGIN: &str =
    "kind = \"codes-cc\"\nbuffer = \"96 flits\"\nvariant = \"drain margin\"\nsignals = \"20 ns\"";
const SST: &str = "kind = \"sst-cm\"\nstreams = 2\noutstanding = \"48 flits\"\nsmallest = \"2 flits\"";
const SST_MARGIN: &str = "kind = \"sst-cm\"\nvariant = \"drain margin\"\nstreams = 2\noutstanding = \"48 flits\"\nsmallest = \"2 flits\"";
const SAA: &str = "kind = \"saa\"\nprobe_period = \"100 ns\"\nhold = \"200 ns\"";
const DCQCN: &str = "kind = \"dcqcn\"\nmark_from = \"24 flits\"\nmark_all = \"96 flits\"\nmark_chance = 0.5\ncnp_interval = \"300 ns\"\n\
    alpha_timer = \"300 ns\"\ntimer = \"300 ns\"\nbyte_counter = \"100 flits\"\nrecovery_stages = 1\nrate_min = \"5 Gb/s\"";
const CONNECTX: &str = "kind = \"dcqcn-connectx\"\nmark_from = \"24 flits\"\nmark_all = \"96 flits\"\nmark_chance = 0.5\n\
    alpha_timer = \"100 ns\"\ncut_timer = \"200 ns\"\ntimer = \"300 ns\"\nrate_min = \"5 Gb/s\"";
const SWIFT: &str = "kind = \"swift\"\nbase_target = \"200 ns\"";
const HPCC: &str = "kind = \"hpcc\"\nbase_rtt = \"200 ns\"\nmax_stage = 1";
const NSCC: &str = "kind = \"nscc\"\nbase_rtt = \"100 ns\"\ntarget = \"100 ns\"\nmark_from = \"20 flits\"\nmark_all = \"200 flits\"\n\
    window = \"200 flits\"\nfast_delay = \"20 ns\"\nquick_adapt = \"300 ns\"\nfast_increase = 0.1";
const ULTRA: &str = "kind = \"nscc+rccc\"\nnscc = { base_rtt = \"100 ns\", target = \"100 ns\", window = \"200 flits\" }\nrccc = { outstanding = \"120 flits\" }";
const RCCC: &str = "kind = \"rccc\"\nunsolicited = \"24 flits\"\noutstanding = \"120 flits\"";
const MAX_MIN: &str = "kind = \"max-min\"\nprobe_period = \"100 ns\"\nhold = \"200 ns\"";

/// What each parameter of each scheme is changed to, beside which others.
const CHANGES: &[(&str, &str, &str)] = &[
    ("kind = \"none\"", "window", "1"),
    (ECN, "notify", "\"notification\""),
    (ECN, "threshold", "\"96 flits\""),
    (ECN, "counts", "\"inputs\""),
    (ECN, "increase_period", "\"2 us\""),
    (ECN, "marking_rate", "20"),
    (ECN, "timer", "\"5 ns\""),
    (ECN, "decrement", "\"20 ns\""),
    (ECN, "increment", "\"200 ns\""),
    (TABLE, "table", "[\"0 ns\", \"50 ns\", \"90 ns\"]"),
    (TABLE, "index_increase", "3"),
    (LHRP, "threshold", "\"48 flits\""),
    (LHRP, "fabric_drop", "\"200 ns\""),
    (LHRP, "coalesce_after", "1"),
    (LHRP, "lead", "\"way\""),
    (LHRP, "stops", "\"message\""),
    (SRP, "n_min", "\"30 flits\""),
    (SRP, "n_max", "\"1 packet\""),
    (SRP, "epsilon", "0.5"),
    (SRP, "time_to_wait", "\"200 ns\""),
    (SRP, "max_outstanding", "3"),
    (SRP, "lead", "\"way\""),
    (SRP, "reserves", "\"with-first-packet\""),
    (SRP, "variant", "\"in-order\""),
    (SRP, "grants", "\"own class\""),
    (SRP_ECN, "small", "\"coalesce\""),
    (SRP_ECN, "small_threshold", "\"100 flits\""),
    (SRP_ECN, "small_hold", "\"100 ns\""),
    (SMSRP, "time_to_wait", "\"200 ns\""),
    (SMSRP, "overhead", "\"8 flits\""),
    (SMSRP, "epsilon", "0.3"),
    (SMSRP, "lead", "\"way\""),
    (SMSRP, "stops", "\"message\""),
    (BOTH, "threshold", "\"24 flits\""),
    (BOTH, "threshold_message", "\"100 flits\""),
    (BOTH, "time_to_wait", "\"40 ns\""),
    (BOTH, "lead", "\"way\""),
    (BOTH, "drop_small", "\"timeout\""),
    (BOTH, "drop_large", "\"threshold\""),
    (BOTH_TIMED, "coalesce_after", "1"),
    (BOTH, "stops", "\"message\""),
    (CODES, "variant", "\"drain margin\""),
    (CODES, "signals", "\"200 ns\""),
    (CODES, "congested", "0.8"),
    (CODES, "decongested", "0.01"),
    (CODES, "buffer", "\"48 flits\""),
    (CODES, "period", "\"200 ns\""),
    (CODES, "windows", "1"),
    (CODES, "floor", "0.3"),
    (CODED, "aggressor_share", "2.0"),
    (MARGIN, "margin", "0.5"),
    (MARGIN, "hold", "20.0"),
    (SST, "variant", "\"as coded\""),
    (SST, "signals", "\"200 ns\""),
    (SST, "streams", "5"),
    (SST, "outstanding", "\"96 flits\""),
    (SST, "pause", "20.0"),
    (SST, "expiry", "20.0"),
    (SST, "mtu", "\"200 flits\""),
    (SST, "smallest", "\"20 flits\""),
    (SST_MARGIN, "margin", "0.5"),
    (SAA, "injection", "\"greedy\""),
    (SAA, "probe_period", "\"30 ns\""),
    (SAA, "hold", "\"900 ns\""),
    (SAA, "piggyback", "true"),
    (DCQCN, "mark_from", "\"90 flits\""),
    (DCQCN, "mark_all", "\"200 flits\""),
    (DCQCN, "mark_chance", "0.1"),
    (DCQCN, "cnp_interval", "\"900 ns\""),
    (DCQCN, "gain", "0.5"),
    (DCQCN, "alpha_timer", "\"10 ns\""),
    (DCQCN, "timer", "\"900 ns\""),
    (DCQCN, "byte_counter", "\"50 flits\""),
    (DCQCN, "recovery_stages", "3"),
    (DCQCN, "increase", "\"5 Gb/s\""),
    (DCQCN, "hyper_increase", "\"20 Gb/s\""),
    (DCQCN, "rate_min", "\"30 Gb/s\""),
    (CONNECTX, "mark_from", "\"90 flits\""),
    (CONNECTX, "mark_all", "\"200 flits\""),
    (CONNECTX, "mark_chance", "0.1"),
    (CONNECTX, "cnp_interval", "\"900 ns\""),
    (CONNECTX, "gain", "0.5"),
    (CONNECTX, "alpha_timer", "\"10 ns\""),
    (CONNECTX, "cut_timer", "\"90 ns\""),
    (CONNECTX, "timer", "\"900 ns\""),
    (CONNECTX, "clamp_target", "true"),
    (CONNECTX, "recovery_stages", "3"),
    (CONNECTX, "increase", "\"5 Gb/s\""),
    (CONNECTX, "hyper_increase", "\"20 Gb/s\""),
    (CONNECTX, "rate_min", "\"30 Gb/s\""),
    (SWIFT, "base_target", "\"400 ns\""),
    (SWIFT, "hop_target", "\"50 ns\""),
    (SWIFT, "ai", "3.0"),
    (SWIFT, "beta", "0.2"),
    (SWIFT, "max_mdf", "0.1"),
    (SWIFT, "fs_range", "\"0 ns\""),
    (SWIFT, "fs_min_cwnd", "2.0"),
    (SWIFT, "fs_max_cwnd", "5.0"),
    (SWIFT, "min_cwnd", "0.9"),
    (SWIFT, "max_cwnd", "2.0"),
    (SWIFT, "initial_cwnd", "1.0"),
    (SWIFT, "restart", "\"10 ns\""),
    (HPCC, "base_rtt", "\"400 ns\""),
    (HPCC, "eta", "0.5"),
    (HPCC, "max_stage", "4"),
    (HPCC, "telemetry", "\"pint\""),
    (HPCC, "window_ai", "\"24 flits\""),
    (HPCC, "rate_min", "\"30 Gb/s\""),
    (HPCC, "restart", "\"10 ns\""),
    (NSCC, "base_rtt", "\"150 ns\""),
    (NSCC, "target", "\"200 ns\""),
    (NSCC, "mark_from", "\"50 flits\""),
    (NSCC, "mark_all", "\"60 flits\""),
    (NSCC, "window", "\"100 flits\""),
    (NSCC, "proportional_increase", "3.0"),
    (NSCC, "fair_increase", "3.0"),
    (NSCC, "constant_increase", "3.0"),
    (NSCC, "fast_increase", "1.0"),
    (NSCC, "fast_delay", "\"60 ns\""),
    (NSCC, "gamma", "0.2"),
    (NSCC, "gain", "0.5"),
    (NSCC, "quick_adapt", "\"1 us\""),
    (NSCC, "restart", "\"10 ns\""),
    (RCCC, "unsolicited", "\"0 flits\""),
    (RCCC, "quantum", "\"10 flits\""),
    (RCCC, "rate", "0.5"),
    (RCCC, "outstanding", "\"24 flits\""),
    (RCCC, "restart", "\"10 ns\""),
    (ULTRA, "nscc", "{ window = \"30 flits\" }"),
    (ULTRA, "rccc", "{ outstanding = \"24 flits\" }"),
    (MAX_MIN, "injection", "\"greedy\""),
    (MAX_MIN, "probe_period", "\"30 ns\""),
    (MAX_MIN, "hold", "\"900 ns\""),
    (MAX_MIN, "utilization", "0.5"),
    (MAX_MIN, "piggyback", "true"),
];

/// A parameter that is read, checked and then forgotten would make flat sweeps.
#[test]
fn every_parameter_of_a_scheme_does_something() {
    let mut idle = Vec::new();
    for (protocol, key, value) in CHANGES {
        // Queues are silent now and then only where the hot endpoints can take what is offered.
        let traffic = if *key == "restart" { HOT.replace("load = 0.9", "load = 0.28") } else { HOT.into() };
        let text = file("kind = \"fat-tree\"\nlevels = 2\narity = 3", "kind = \"nca\"", protocol, &traffic);
        let changed = run_with(&text, &[(&format!("congestion_control.{key}"), value)]);
        if result(&run(&text)) == result(&changed) {
            idle.push((protocol, key));
        }
    }
    assert!(idle.is_empty(), "{idle:#?}");
}

#[test]
fn no_parameter_of_a_scheme_is_left_out_here() {
    let kind = |protocol: &str| protocol.split('"').nth(1).unwrap().to_string();
    let changed: BTreeSet<_> =
        CHANGES.iter().map(|(protocol, key, _)| (kind(protocol), key.to_string())).collect();
    let listed = tailback_engine::registry::kinds();
    let mut all = BTreeSet::new();
    for scheme in listed["congestion_controls"].as_array().unwrap() {
        for parameter in scheme["parameters"].as_array().unwrap() {
            let name = |value: &serde_json::Value| value["name"].as_str().unwrap().to_string();
            all.insert((name(scheme), name(parameter)));
        }
    }
    assert_eq!(changed, all);
}

#[test]
fn only_the_root_of_congestion_marks() {
    let two = "kind = \"file\"\nformat = \"edges\"\ntext = \'\'\'\n0 a\n1 a\n2 b\n3 b\n4 b\n5 b\n6 b\n7 b\na, b\n\'\'\'";
    let rest = "[switch]\nkind = \"output-queued\"\ninput_buffer = \"4 packets\"\noutput_buffer = \"16 packets\"\n[packet]\nmax = \"24 flits\"\n\
         [[traffic]]\nname = \"hot\"\npattern = \"list\"\npairs = [[0, 5], [2, 5], [3, 5], [4, 5]]\nload = 1.0\nmessage = \"24 flits\"\n\
         [[traffic]]\nname = \"cold\"\npattern = \"list\"\npairs = [[1, 7]]\nload = 0.6\nmessage = \"24 flits\"\n\
         [run]\nwarmup = \"0 us\"\nduration = \"10 us\"\ndrain = \"0 us\"\n[record]\npackets = true\n";
    let output = run(&file(
        two,
        "kind = \"shortest\"",
        "kind = \"ecn\"\nthreshold = \"48 flits\"\nnotify = \"notification\"\nincrement = \"0 ns\"",
        rest,
    ));
    let Column::Text(kinds) = column(&output, "packets", "kind") else { panic!("words") };
    let to = ints(&output, "packets", "destination");
    let told =
        |source: i64| (0..to.len()).filter(|&row| kinds[row] == "notification" && to[row] == source).count();
    assert!(told(2) > 20 && 4 * told(1) < told(2), "{} and {}", told(2), told(1));
}
