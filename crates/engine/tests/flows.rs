//! Flows in phases: their routes, their announcements, their rates; and the fluid model beside the packets.
use crate::common::*;
use std::collections::BTreeSet;
use tailback_engine::report::{Column, Output};

/// The network of paper SAA, small: 64 endpoints, 8 packets of input buffer.
const TREE: &str = "[topology]\nkind = \"k-ary-n-tree\"\nk = 4\nn = 3\nhorizontal = 2\n\
[link]\nbandwidth = \"10 Gb/s\"\nlatency = \"50 ns\"\n\
[packet]\nflit = \"64 B\"\nmax = \"2048 B\"\ncontrol = \"1 flit\"\n\
[switch]\nkind = \"shared-buffer\"\ninput_buffer = \"8 packets\"\n\
[endpoint]\nacknowledge = false\n";

const STATIC: &str = "kind = \"nca\"\nup = \"deterministic\"";
const HASHED: &str = "kind = \"nca\"\nup = \"flow-hash\"";
const MAX_MIN: &str = "kind = \"max-min\"\nprobe_period = \"5 us\"\nhold = \"12 us\"";
const SAA: &str = "kind = \"saa\"\nprobe_period = \"5 us\"\nhold = \"12 us\"";
/// A packet of 2048 B at 10 Gb/s.
const PACKET_NS: f64 = 1638.4;

fn text(routing: &str, protocol: &str, job: &str) -> String {
    format!(
        "{TREE}[routing]\n{routing}\n[congestion_control]\n{protocol}\n\
         [[job]]\nname = \"app\"\nworkload = \"phases\"\nranks = 64\n{job}\n[run]\nduration = \"100 ms\"\n"
    )
}

fn phased(routing: &str, protocol: &str, job: &str, overrides: &[(&str, &str)]) -> Output {
    run_with(&text(routing, protocol, job), overrides)
}

/// The switches know of no flow any more.
fn nothing_is_left(output: &Output) {
    let left = &output.summary["flow_routes"]["left_at_the_end"];
    for key in ["cache_entries", "flows", "flits"] {
        assert_eq!(left[key], 0, "{left}");
    }
}

fn done(output: &Output) {
    assert_eq!(output.summary["warnings"].as_array().unwrap().len(), 0, "{}", output.summary["warnings"]);
    assert!(reals(output, "flows", "time_ns").iter().all(|time| !time.is_nan()));
    assert_eq!(number(output, "app", "reordered_packets"), 0.0);
}

#[test]
fn phases_repeat_behind_a_barrier_and_none_is_faster_than_its_bound() {
    let output =
        phased(STATIC, "kind = \"none\"", "permutations = 2\nsize = \"20 packets\"\nphases = 3", &[]);
    done(&output);
    let [starts, times, bounds] =
        ["start_ns", "time_ns", "bound_ns"].map(|name| reals(&output, "phases", name));
    assert_eq!(times.len(), 3);
    for phase in 1..3 {
        // The barrier takes 10 us.
        assert!(
            (starts[phase] - (starts[phase - 1] + times[phase - 1] + 10_000.0)).abs() < 0.01,
            "{starts:?}"
        );
    }
    for (time, bound) in times.iter().zip(bounds) {
        assert!(time >= bound && *bound >= 2.0 * 20.0 * PACKET_NS - 0.01, "{time} {bound}");
    }
}

/// What the ranks did, and how long, is all of a job's time: the flows, then waiting in the barrier. Fluid jobs end as those of packets.
#[test]
fn a_rank_of_phases_communicates_all_the_time() {
    let job = "permutations = 2\nsize = \"20 packets\"\nphases = 3\nbarrier = \"7 us\"";
    for overrides in [&[][..], &[("run.model", "fluid")]] {
        let output = phased(STATIC, "kind = \"none\"", job, overrides);
        let facts = &output.summary["jobs"]["app"];
        let time = facts["time_ns"].as_f64().unwrap();
        let phases: f64 = reals(&output, "phases", "time_ns").iter().sum();
        assert!((time - phases - 3.0 * 7_000.0).abs() < 0.01, "{facts}");
        assert_eq!(output.summary["simulated_ns"].as_f64().unwrap(), time);
        for key in ["min", "mean", "max"] {
            assert!((facts["communication_ns"][key].as_f64().unwrap() - time).abs() < 0.01, "{facts}");
        }
        if overrides.is_empty() {
            let counts = ["exchange", "barrier"].map(|kind| facts["operations"][kind]["count"].as_u64());
            assert_eq!(counts, [Some(3 * 64); 2]);
            assert!(facts["operations"]["barrier"]["mean_ns"].as_f64().unwrap() >= 7_000.0);
        }
    }
}

#[test]
fn the_bound_of_static_routes_is_that_of_the_fluid_model() {
    for (routing, protocol) in
        [(STATIC, "kind = \"none\""), (STATIC, SAA), (HASHED, "kind = \"none\""), (HASHED, SAA)]
    {
        let job = "permutations = 2\nsize = \"20 packets\"\nphases = 2";
        let packets = phased(routing, protocol, job, &[]);
        done(&packets);
        let fluid = phased(routing, protocol, job, &[("run.model", "fluid")]);
        for (a, b) in reals(&packets, "phases", "bound_ns").iter().zip(reals(&fluid, "phases", "bound_ns")) {
            assert!((a - b).abs() < 1.0, "{a} {b}");
        }
    }
}

#[test]
fn with_explicit_rates_a_phase_takes_as_long_as_its_bound() {
    for routing in [STATIC, "kind = \"flow-adaptive\""] {
        let output = phased(routing, SAA, "permutations = 2\nsize = \"100 packets\"", &[]);
        done(&output);
        nothing_is_left(&output);
        let (time, bound) = (reals(&output, "phases", "time_ns")[0], reals(&output, "phases", "bound_ns")[0]);
        // Set-up, hold and the way of the last packet come on top: 20 us.
        assert!(time >= bound && time <= 1.02 * bound + 20_000.0, "{routing}: {time} {bound}");
    }
}

/// Flits of control packets for each flit of data, at the endpoints' channels.
fn overhead(output: &Output) -> f64 {
    let share = |kind: &str| output.summary["injection_shares"][kind].as_f64().unwrap();
    ["set-up", "probe", "tear-down", "return"].map(share).iter().sum::<f64>() / share("data")
}

#[test]
fn after_one_probe_every_source_knows_what_a_central_computation_gives() {
    knows_what_a_central_computation_gives("false");
}

#[test]
fn data_that_ask_in_place_of_probes_tell_the_same_with_fewer_control_packets() {
    let [asked, rode] = ["false", "true"].map(knows_what_a_central_computation_gives);
    let ratio = overhead(&rode) / overhead(&asked);
    assert!(ratio < 0.7, "{ratio}");
    // Rates that rise as flows end are known sooner: the phase takes no longer.
    let [asked, rode] = [asked, rode].map(|output| reals(&output, "phases", "time_ns")[0]);
    assert!(rode <= 1.001 * asked, "{rode} {asked}");
}

fn knows_what_a_central_computation_gives(piggyback: &str) -> Output {
    let job = "permutations = 2\nsize = \"100 packets\"";
    let packets = phased(STATIC, SAA, job, &[("congestion_control.piggyback", piggyback)]);
    let fluid = phased(STATIC, SAA, job, &[("run.model", "fluid")]);
    assert_eq!(ints(&packets, "flows", "source"), ints(&fluid, "flows", "source"));
    let [known, central] = [&packets, &fluid].map(|output| reals(output, "flows", "link_load_ns"));
    let [ends, settled] = ["time_ns", "settled_ns"].map(|name| reals(&packets, "flows", name));
    let first_end = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let mut exact = 0;
    for flow in 0..known.len() {
        // What ended meanwhile may have made a load smaller, never larger; the own channel is not asked.
        assert!(known[flow] <= central[flow] + 1.0, "{} {}", known[flow], central[flow]);
        if settled[flow] < first_end {
            exact += 1;
            let own = 2.0 * 100.0 * PACKET_NS;
            assert!((known[flow].max(own) - central[flow]).abs() < 1.0, "{} {}", known[flow], central[flow]);
            // A set-up packet and the first probe, 5 us later.
            assert!(settled[flow] < 12_000.0, "{}", settled[flow]);
        }
    }
    assert!(exact > known.len() / 2, "{exact} of {}", known.len());
    packets
}

/// SRP's packets carry words of its own, which are no rates.
#[test]
fn what_flows_know_of_their_links_is_told_where_links_tell_it() {
    let known = |protocol: &str| {
        let output = phased(STATIC, protocol, "permutations = 1", &[("endpoint.acknowledge", "true")]);
        let flows = output.tables.iter().find(|table| table.name == "flows").expect("phases have flows");
        flows.columns.iter().any(|(name, _)| name == "settled_ns")
    };
    assert!(known(SAA));
    assert!(!known("kind = \"srp\"\nvariant = \"in-order\""));
}

#[test]
fn max_min_shares_come_to_the_rates_of_water_filling() {
    for piggyback in ["false", "true"] {
        let job = "permutations = 3\nsize = \"400 packets\"";
        let overrides = [("congestion_control.piggyback", piggyback)];
        let packets = phased(STATIC, MAX_MIN, job, &overrides);
        done(&packets);
        let fluid = phased(STATIC, MAX_MIN, job, &[("run.model", "fluid")]);
        let [known, central] = [&packets, &fluid].map(|output| reals(output, "flows", "link_load_ns"));
        let [ends, settled] = ["time_ns", "settled_ns"].map(|name| reals(&packets, "flows", name));
        let first_end = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let lasting: Vec<usize> = (0..known.len()).filter(|&flow| settled[flow] < first_end).collect();
        for &flow in &lasting {
            assert!((known[flow] - central[flow]).abs() < 1.0, "{} {}", known[flow], central[flow]);
        }
        assert!(lasting.len() > known.len() / 2, "{} of {}", lasting.len(), known.len());
        // Rates of several levels; a round of probes takes under 8 us, and a level four rounds at most (Charny's bound).
        let mut levels = central.to_vec();
        levels.sort_by(f64::total_cmp);
        levels.dedup_by(|a, b| *a - *b < 1.0);
        let last = lasting.iter().map(|&flow| settled[flow]).fold(0.0, f64::max);
        let rounds = last / 8_000.0;
        assert!(levels.len() > 3 && rounds < 4.0 * levels.len() as f64, "{last} ns, {} levels", levels.len());
    }
}

#[test]
fn flows_have_routes_of_their_own_with_any_size_of_cache() {
    let mut contention = Vec::new();
    for cache in ["cache = 0", "cache = 1", "cache = 2", "cache = 8", ""] {
        let routing = format!("kind = \"flow-adaptive\"\n{cache}");
        for protocol in ["kind = \"none\"", SAA] {
            let output =
                phased(&routing, protocol, "permutations = 3\nsize = \"10 packets\"\nphases = 2", &[]);
            done(&output);
            nothing_is_left(&output);
            let facts = &output.summary["flow_routes"];
            let count = |key: &str| facts[key].as_u64().unwrap();
            let most = cache.strip_prefix("cache = ").map_or(u64::MAX, |text| text.parse().unwrap());
            assert!(count("cache_entries_max") <= most, "{facts}");
            assert_eq!(count("cache_full") > 0, most < 8, "{facts}");
            assert_eq!(count("own_port") > 0, most > 0, "{facts}");
        }
        let fluid = phased(&routing, SAA, "permutations = 3", &[("run.model", "fluid")]);
        let most = ints(&fluid, "flows", "contention").iter().copied().max().unwrap();
        contention.push(most);
    }
    // Without a cache the routes are the static ones; with large ones fewer flows meet.
    let fixed = phased(STATIC, SAA, "permutations = 3", &[("run.model", "fluid")]);
    assert_eq!(ints(&fixed, "flows", "contention").iter().copied().max().unwrap(), contention[0]);
    assert!(contention[0] > contention[4], "{contention:?}");
}

#[test]
fn control_packets_that_meet_contention_leave_nothing_behind() {
    for routing in [STATIC, "kind = \"flow-adaptive\"\ncache = 3"] {
        for protocol in [
            "kind = \"none\"",
            "kind = \"saa\"\nprobe_period = \"1 us\"",
            "kind = \"saa\"\ninjection = \"greedy\"",
            "kind = \"saa\"\npiggyback = true\nhold = \"0 ns\"",
            "kind = \"max-min\"\nprobe_period = \"1 us\"",
            "kind = \"max-min\"\npiggyback = true\nhold = \"0 ns\"",
        ] {
            let output =
                phased(routing, protocol, "flows = \"all-to-one\"\nsize = \"5 packets\"\nphases = 2", &[]);
            done(&output);
            if output.summary.get("flow_routes").is_some() {
                nothing_is_left(&output);
            }
            let (time, bound) =
                (reals(&output, "phases", "time_ns")[0], reals(&output, "phases", "bound_ns")[0]);
            assert!((bound - 63.0 * 5.0 * PACKET_NS).abs() < 1.0 && time >= bound, "{time} {bound}");
        }
    }
}

#[test]
fn a_flow_is_set_up_beside_others_that_wait_for_credit() {
    // Long flows of endpoint 0 jam both of its queues; the one to 2 meets nobody.
    let output = run(
        "[topology]\nkind = \"fat-tree\"\nlevels = 2\narity = 4\n[routing]\nkind = \"flow-adaptive\"\n\
         [queueing]\nkind = \"dbbm\"\nqueues = 2\n\
         [switch]\nkind = \"input-queued\"\ninput_buffer = { per = \"port\", size = \"4 packets\" }\n\
         [congestion_control]\nkind = \"none\"\n[endpoint]\nacknowledge = false\n\
         [[job]]\nname = \"app\"\nworkload = \"phases\"\nranks = 16\nshare = true\nflows = \"list\"\nsize = \"1000 packets\"\n\
         text = \"\"\"\n0 8\n0 12\n0 10\n4 8\n5 8\n6 12\n7 12\n9 8\n13 12\n4 10\n5 10\n\"\"\"\n\
         [[traffic]]\nname = \"c\"\npattern = \"list\"\npairs = [[0, 2]]\nload = 0.5\nmessage = \"240 flits\"\n\
         share = true\nstart = \"10 us\"\n[run]\nwarmup = \"15 us\"\nduration = \"40 us\"\ndrain = \"0 us\"\n",
    );
    let accepted = number(&output, "c", "accepted");
    assert!(accepted > 0.1, "{accepted}");
}

#[test]
fn phases_give_the_same_bytes_for_any_partitions_and_threads() {
    for (routing, protocol) in [
        ("kind = \"flow-adaptive\"", "kind = \"saa\"\ninjection = \"shaped-virtual-clock\""),
        ("kind = \"flow-adaptive\"\ncache = 2", "kind = \"saa\"\npiggyback = true"),
        ("kind = \"flow-adaptive\"", MAX_MIN),
        (STATIC, "kind = \"none\""),
    ] {
        let job = "permutations = 3\nsize = \"10 packets\"\nphases = 2\nplacement = \"random-nodes\"";
        let one = phased(routing, protocol, job, &[("run.partitions", "1")]);
        for (partitions, threads) in [("4", "1"), ("7", "2")] {
            let other =
                phased(routing, protocol, job, &[("run.partitions", partitions), ("run.threads", threads)]);
            assert_eq!(result(&one), result(&other), "{routing} {protocol}");
        }
    }
}

/// The two switches of paper SAA, figure 1; round robin among inputs, one channel of 1 ms for each flow.
fn figure_one(protocol: &str, rest: &str) -> Output {
    let text = format!(
        "[topology]\nkind = \"file\"\nformat = \"edges\"\n\
         text = '''\nhost s1 s2 s3 s4 s5 s6 e1 e2 d\ns1 a\ns2 a\ns3 a\ns4 a\ns5 b\ns6 b\ne1 b\ne2 b\nd b\na b\n'''\n\
         [link]\nbandwidth = \"10 Gb/s\"\nlatency = \"50 ns\"\n\
         [packet]\nflit = \"64 B\"\nmax = \"1 kB\"\ncontrol = \"1 flit\"\n\
         [switch]\nkind = \"cioq\"\nspeedup = 2\noutput_buffer = \"1 packet\"\ninput_buffer = \"8 packets\"\n\
         [endpoint]\nacknowledge = false\n[routing]\nkind = \"minimal\"\n[congestion_control]\n{protocol}\n\
         [[job]]\nname = \"app\"\nworkload = \"phases\"\nranks = 9\nflows = \"list\"\nsize = \"1250 kB\"\n\
         text = '''\n0 6\n1 7\n2 8\n3 8\n4 8\n5 8\n'''\n[run]\nduration = \"100 ms\"\n{rest}"
    );
    run(&text)
}

#[test]
fn the_damage_of_congestion_and_its_remedy_are_those_of_the_first_figure() {
    let time = |output: &Output| reals(output, "phases", "time_ns")[0] / 1e6;
    let (none, saa) = (figure_one("kind = \"none\"", ""), figure_one(SAA, ""));
    assert!((time(&none) - 5.0).abs() < 0.1, "{}", time(&none));
    assert!((time(&saa) - 4.0).abs() < 0.08, "{}", time(&saa));
    // f5 and f6 end after 3 ms without control.
    let ends = reals(&none, "flows", "time_ns");
    assert!(ends[4..].iter().all(|end| (end / 1e6 - 3.0).abs() < 0.06), "{ends:?}");
    assert!((reals(&saa, "phases", "bound_ns")[0] / 1e6 - 4.0).abs() < 0.01);
}

/// The mistakes of a scenario, a line each, those that only the network shows included.
fn mistakes(text: &str, overrides: &[(&str, &str)]) -> String {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    match tailback_engine::scenario::Scenario::parse(text, &overrides) {
        Err(problems) => told(&problems),
        Ok(scenario) => told(&tailback_engine::run::check(&scenario)),
    }
}

#[test]
fn what_flows_cannot_work_with_is_told() {
    let text = text("kind = \"flow-adaptive\"\ncache = 4", SAA, "flows = \"list\"\ntext = \"0 1 1 kB\"");
    assert_eq!(mistakes(&text, &[]), "");
    for (key, value, what) in [
        ("routing.cache", "-1", "at least 0"),
        ("topology.horizontal", "2000", "topology.horizontal: a switch has"),
        ("topology.horizontal", "-1", "at least 0"),
        ("congestion_control", "{ kind = \"lhrp\" }", "routes whole flows"),
        ("congestion_control", "{ kind = \"none\", window = 1 }", "a window needs acknowledgements"),
        ("endpoint.queues", "fifo", "needs a send queue per destination"),
        ("job.app.text", "\"0 0 1 kB\\n0 99\\n1 2 0 B\"", "line 1: rank 0 has a flow to itself"),
        ("job.app.text", "\"0 0 1 kB\\n0 99\\n1 2 0 B\"", "line 2: there is no rank 99"),
        ("job.app.text", "\"0 0 1 kB\\n0 99\\n1 2 0 B\"", "line 3: a flow of size 0"),
        ("job.app.text", "\"0 1 1 kB\\n0 1 1 kB\"", "line 2: rank 0 has another flow to rank 1"),
        ("job.app.size", "0 B", "job.app.size"),
        ("congestion_control.injection", "now", "periodic-selection"),
        ("congestion_control", "{ kind = \"max-min\", utilization = 0 }", "from 0.01 to 1"),
        ("congestion_control", "{ kind = \"max-min\", utilization = 1.1 }", "from 0.01 to 1"),
    ] {
        let told = mistakes(&text, &[(key, value)]);
        assert!(told.contains(what), "{key} = {value}: {told}");
    }
    let text = text.replace("[[job]]\n", "[[job]]\nshare = true\n");
    let fluid =
        format!("{text}model = \"fluid\"\n[[traffic]]\npattern = \"uniform\"\nload = 0.1\nshare = true\n");
    let told = mistakes(&fluid, &[]);
    assert!(told.contains("the fluid model has no open-loop traffic"), "{told}");
}

#[test]
fn a_flow_has_all_of_its_way_however_long() {
    let text = "topology = { kind = \"mesh\", dims = [4500] }\nrouting = { kind = \"dor\" }\n\
                [[job]]\nname = \"app\"\nworkload = \"phases\"\nranks = 4500\nplacement = \"linear\"\n\
                flows = \"list\"\ntext = \"0 4499 1 kB\"\n\
                [run]\nmodel = \"fluid\"\nduration = \"1 ms\"\n[record]\nports = true\n";
    let output = run(text);
    let used = ints(&output, "links", "switch").iter().zip(ints(&output, "links", "flows"));
    let mut switches: Vec<i64> =
        used.filter(|(at, flows)| **at >= 0 && **flows > 0).map(|(at, _)| *at).collect();
    switches.sort_unstable();
    assert_eq!(switches, (0..4500).collect::<Vec<i64>>());
}

#[test]
fn what_would_have_no_effect_on_flows_is_refused() {
    let text = |routing: &str, protocol: &str| text(routing, protocol, "permutations = 2");
    let (least, fluid) = ("kind = \"nca\"\nup = \"least-loaded\"", ("run.model", "fluid"));
    for protocol in [SAA, MAX_MIN] {
        let told = mistakes(&text(least, protocol), &[]);
        assert!(told.contains("routing.kind: \"nca\" as it is set chooses by the queues"), "{told}");
    }
    assert!(mistakes(&text(least, "kind = \"none\""), &[fluid]).contains("no queues to choose by"));
    for protocol in ["kind = \"ecn\"", "kind = \"lhrp\"", "kind = \"none\"\nwindow = 1"] {
        let told = mistakes(&text(STATIC, protocol), &[fluid, ("endpoint.acknowledge", "true")]);
        assert!(told.contains("congestion_control: the fluid model has no packets"), "{told}");
    }
    let told = mistakes(&text(STATIC, SAA), &[fluid, ("record.series", "1 us")]);
    assert!(told.contains("record.series: the fluid model has no packets"), "{told}");
}

/// A probe takes long next to a tick where links are long and switches need fractions of a flit time.
#[test]
fn a_flow_that_may_not_send_yet_is_not_asked_while_its_probe_is_on_its_way() {
    let text = "[topology]\nkind = \"single-switch\"\nendpoints = 8\n[link]\nlatency = \"1 us\"\n[routing]\nkind = \"minimal\"\n\
        [switch]\nspeedup = 3\n[congestion_control]\nkind = \"max-min\"\nprobe_period = \"5 us\"\nhold = \"40 us\"\n\
        [[traffic]]\nname = \"c\"\npattern = \"uniform\"\nmessage = \"60 flits\"\nload = 0.3\nstop = \"2 us\"\n\
        [run]\nwarmup = \"0 ns\"\nduration = \"20 us\"\ndrain = \"200 us\"\n";
    let output = run_with(text, &[]);
    let [events, hops] = ["events", "packet_hops"].map(|key| output.summary[key].as_u64().unwrap());
    assert!(hops > 500 && events < 10 * hops, "{events} events for {hops} packet-hops");
}

/// Of one message of 20 packets from each endpoint of a leaf of 16 to one of the next leaf, the switches above that each crosses.
fn spines(network: &str, routing: &str, seed: u64) -> Vec<BTreeSet<String>> {
    let pairs: Vec<String> = (0..16).map(|at| format!("[{at}, {}]", 16 + (at + 3) % 16)).collect();
    let rest = format!(
        "[packet]\nmax = \"24 flits\"\n[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [{}]\nprocess = \"one-shot\"\n\
         message = \"20 packets\"\n[run]\nseed = {seed}\nwarmup = \"0 us\"\nduration = \"1 us\"\ndrain = \"1 ms\"\n\
         [endpoint]\nacknowledge = false\n[record]\npackets = true\n",
        pairs.join(", ")
    );
    let output = run(&file(network, routing, "kind = \"none\"", &rest));
    let [from, to] = ["from", "to"].map(|name| match column(&output, "packets", name) {
        Column::Text(names) => names,
        _ => panic!("{name} holds no words"),
    });
    let Column::Int(sources) = column(&output, "packets", "source") else { panic!("sources are numbers") };
    let mut crossed = vec![BTreeSet::new(); 16];
    let mut leaves = BTreeSet::new();
    for row in (0..from.len()).filter(|&row| from[row].starts_with("endpoint")) {
        leaves.insert(&to[row]);
    }
    assert_eq!(leaves.len(), 1);
    for row in (0..from.len()).filter(|&row| leaves.contains(&from[row])) {
        crossed[sources[row] as usize].insert(to[row].clone());
    }
    crossed
}

#[test]
fn a_hash_gives_each_flow_one_way_and_spreads_them_as_balls_in_bins() {
    let leaf = |leaf| -> String { (0..16).map(|host| format!("h{} l{leaf}\n", 16 * leaf + host)).collect() };
    let spine = |spine| format!("l0, s{spine}, 100 Gb/s, 50 ns\nl1, s{spine}, 100 Gb/s, 50 ns\n");
    let spines_of: String = (0..16).map(spine).collect();
    let pod = format!(
        "kind = \"file\"\nformat = \"edges\"\ntext = \'\'\'\n{}{}{spines_of}\'\'\'",
        leaf(0),
        leaf(1)
    );
    let tree = "kind = \"fat-tree\"\nlevels = 2\narity = 16";
    let [by_nca, by_shortest] = [("nca", "up"), ("shortest", "choose")]
        .map(|(kind, key)| move |value: &str| format!("kind = \"{kind}\"\n{key} = \"{value}\""));
    let used = |flows: &[BTreeSet<String>]| flows.iter().flatten().collect::<BTreeSet<_>>().len();
    for routed in [spines(tree, &by_nca("deterministic"), 1), spines(&pod, &by_shortest("by-destination"), 1)]
    {
        assert!(routed.iter().all(|spines| spines.len() == 1));
        assert_eq!(used(&routed), 16, "{routed:?}");
    }
    assert!(spines(tree, &by_nca("random"), 1).iter().all(|spines| spines.len() > 5));
    assert!(spines(&pod, &by_shortest("random"), 1).iter().all(|spines| spines.len() > 5));
    for (network, routing) in [(tree, by_nca("flow-hash")), (&*pod, by_shortest("flow-hash"))] {
        let seeds = 1..101;
        let count = seeds.clone().count() as f64;
        let all: Vec<_> = seeds.map(|seed| spines(network, &routing, seed)).collect();
        assert!(all.iter().flatten().all(|spines| spines.len() == 1));
        // Of 16 bins 16 balls hit 16 (1 - (15/16)^16) in the mean; the standard deviation is 1.2.
        let mean = all.iter().map(|flows| used(flows)).sum::<usize>() as f64 / count;
        let expected = 16.0 * (1.0 - (15.0f64 / 16.0).powi(16));
        assert!((mean - expected).abs() < 4.0 * 1.2 / count.sqrt(), "{mean} of {expected}");
    }
}
