//! Links that are slow for a time.
use crate::common::*;
use crate::slow::{BUSY, compared, problems_in};
use proptest::prelude::*;
use tailback_engine::problem::Problem;

/// Packets of 24 flits of 1 ns from endpoint 0 to endpoint 2: three channels of 10 ns.
const SENT: &str = r#"routing = "shortest"
endpoint = { acknowledge = false }
link = { latency = "10 ns" }
[topology]
kind = "file"
format = "edges"
text = "a b"
concentration = 2
[[traffic]]
name = "t"
pattern = "list"
pairs = [[0, 2]]
process = "one-shot"
message = "48 flits"
[run]
warmup = "0 us"
duration = "1 us"
drain = "0 us"
[record]
packets = true
ports = true
"#;

/// Start, arrival of the head and of the tail of each of two packets on each of the three channels.
fn sent(slow: &str) -> Vec<[f64; 3]> {
    let output = run_with(SENT, &[("link.slow", slow)]);
    let [starts, heads, tails] =
        ["start_ns", "head_ns", "tail_ns"].map(|name| reals(&output, "packets", name));
    let from = words(&output, "packets", "from");
    let of = |node: &str| Vec::from_iter((0..from.len()).filter(|&at| from[at] == node));
    let all = [of("endpoint 0"), of("switch 0"), of("switch 1")].concat();
    all.into_iter().map(|at| [starts[at], heads[at], tails[at]]).collect()
}

#[test]
fn packets_come_as_fast_as_the_link_is_then() {
    let usual =
        [[0., 11., 34.], [24., 35., 58.], [11., 22., 45.], [35., 46., 69.], [22., 33., 56.], [46., 57., 80.]];
    assert_eq!(sent("[]"), usual);
    // A quarter of the rate between the switches: 96 ns a packet, which goes on once the rest follows at full rate.
    let quarter = "[{ between = [[1, 0]], bandwidth = '25 Gb/s' }]";
    let slow = [[11., 94., 117.], [107., 190., 213.], [94., 105., 128.], [190., 201., 224.]];
    assert_eq!(sent(quarter)[2..], slow);
    // Nothing passes from the middle of the first packet on: it waits for the rest, and the channel to the endpoint does not.
    let stalled = "[{ between = [[0, 1]], start = '23 ns', stop = '123 ns' }]";
    let slow = [[11., 122., 145.], [135., 146., 169.], [122., 133., 156.], [146., 157., 180.]];
    assert_eq!(sent(stalled)[2..], slow);
    // The link is down when the first packet would start.
    let down = "[{ class = 'link1', start = '5 ns', stop = '50 ns' }]";
    assert_eq!(sent(down)[2][..], [11., 61., 84.]);
    // Both directions of an endpoint's link.
    let host = "[{ endpoints = [0], bandwidth = '50 Gb/s' }]";
    assert_eq!(sent(host)[..2], [[0., 35., 58.], [48., 83., 106.]]);
    assert_eq!(sent("[{ endpoints = [2], bandwidth = '50 Gb/s' }]")[4][..], [22., 57., 80.]);
    let all = sent("[{ endpoints = 'all', bandwidth = '50 Gb/s' }]");
    assert_eq!(all, sent("[{ endpoints = { sample = 4 }, bandwidth = '50 Gb/s' }]"));
    assert_eq!(all, sent("[{ class = 'host', bandwidth = '50 Gb/s' }]"));
    // Beside a slow endpoint the slower of the two counts.
    let both = run_with(
        SENT,
        &[
            ("link.slow", "[{ endpoints = [2], bandwidth = '50 Gb/s' }]"),
            ("endpoint.slow", "[{ endpoints = [2], drain_rate = '20 Gb/s' }]"),
        ],
    );
    assert!(reals(&both, "packets", "tail_ns").contains(&(22. + 120. + 10.)));
    for other in
        ["[{ between = [[0, 1]], start = '200 ns' }]", "[{ endpoints = [1, 3], bandwidth = '1 Gb/s' }]"]
    {
        assert_eq!(sent(other), usual);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever the network, the switch and the scheme: slowness over before it matters, or no less than all have, changes nothing; and
    /// what matters is the same however the network is cut.
    #[test]
    fn slowness_is_a_matter_of_the_link_alone(
        seed in 0_u64..1000,
        which in 0_usize..1000,
        partitions in 2_u32..6,
        rate in prop::sample::select(vec![7, 30, 90]),
        (start, length) in (0_u32..1500, 1_u32..800),
    ) {
        let all = routed(FEW_NETWORKS);
        let (network, routing) = &all[which % all.len()];
        let (switch, protocol) = (SWITCHES[which % SWITCHES.len()], PROTOCOLS[which % PROTOCOLS.len()]);
        let seed = seed.to_string();
        let text = file(network, routing, suited(routing, protocol), &format!("[switch]\n{switch}\n{BUSY}"));
        let with = |slow: &str, partitions: &str| compared(&text, &[
            ("link.slow", slow), ("run.seed", &seed), ("run.partitions", partitions), ("run.threads", "2")
        ]);
        let none = with("[]", "1");
        let idle = "[{ class = 'host', bandwidth = '100 Tb/s' }, { class = 'host', sample = 2, start = '1 s', stop = '2 s' }]";
        prop_assert!(none == with(idle, "1"));
        let classes = read_with(&text, &[]).topology.wiring().link_classes();
        let class = classes[which % classes.len()];
        let slow = format!(
            "[{{ class = '{class}', sample = 1, bandwidth = '{rate} Gb/s' }}, {{ class = 'host', sample = 2, bandwidth = '{rate} Gb/s' }}, \
             {{ class = '{class}', start = '{start} ns', stop = '{} ns' }}]", start + length
        );
        let one = with(&slow, "1");
        prop_assert!(none != one);
        prop_assert!(one == with(&slow, &partitions.to_string()));
    }
}

fn problems_of(changes: &[(&str, &str)]) -> Vec<Problem> {
    problems_in(SENT, changes)
}

/// What comes slowly by one link takes nothing from what comes by others.
#[test]
fn a_slow_link_holds_up_nothing_behind_it() {
    let class = |name: &str, source: u32, load: f64| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = [[{source}, 1]]\nendpoints = [{source}, 1]\nshare = true\n\
             load = {load}\nmessage = \"24 flits\"\n"
        )
    };
    let text = format!(
        "topology = {{ kind = \"single-switch\", endpoints = 3 }}\nrouting = \"minimal\"\n{}{}\
         [run]\nwarmup = \"50 us\"\nduration = \"200 us\"\n[link]\nslow = [{{ endpoints = [0], bandwidth = \"25 Gb/s\" }}]\n",
        class("slow", 0, 0.2),
        class("other", 2, 0.7)
    );
    for (switch, flow_control) in SWITCHES.iter().flat_map(|of| [(of, "'credits'"), (of, "'pfc'")]) {
        let output = run_with(&format!("{text}[switch]\n{switch}\n"), &[("link.flow_control", flow_control)]);
        for (name, load) in [("slow", 0.2), ("other", 0.7)] {
            let accepted = number(&output, name, "accepted");
            assert!((accepted - load).abs() < 0.02, "{switch} {flow_control}: {name} {accepted}");
        }
    }
}

#[test]
fn mistakes_in_slow_links_are_told() {
    let wrong = [
        ("[{ bandwidth = '1 b/s' }]", "link.slow.0", "which links?"),
        ("[{ sample = 1 }]", "link.slow.0", "which links?"),
        ("[{ between = [[0, 1]], endpoints = [1] }]", "link.slow.0", "named by between and by endpoints"),
        ("[{ class = 'lonk1', sample = 1 }]", "link.slow.0.class", "no such link class"),
        ("[{ class = 'host', sample = 5 }]", "link.slow.0.sample", "a sample of 5 links"),
        ("[{ class = 'host', sample = 0 }]", "link.slow.0.sample", ""),
        ("[{ between = [[0, 2]] }]", "link.slow.0.between", "there is no switch 2"),
        ("[{ between = [[0, 0]] }]", "link.slow.0.between", "no link joins"),
        ("[{ between = [[0, 1], [1, 0]] }]", "link.slow.0.between", "named twice"),
        ("[{ between = [[0, 1, 1]] }]", "link.slow.0.between.0", ""),
        ("[{ endpoints = [4] }]", "link.slow.0.endpoints", "there is no endpoint 4"),
        ("[{ endpoints = 'rest' }]", "link.slow.0.endpoints", "\"rest\" is for traffic"),
        ("[{ endpoints = { sample = 5 } }]", "link.slow.0.endpoints", "a sample of 5"),
        ("[{ endpoints = ['0-2', 1] }]", "link.slow.0.endpoints", "named twice"),
        ("[{ endpoints = [1], start = '2 us', stop = '1 us' }]", "link.slow.0.stop", "stops at 1 us"),
        ("[{ endpoints = [1], bandwidth = '0 b/s' }]", "link.slow.0.bandwidth", ""),
        ("[{ endpoints = [1], bandwith = '1 b/s' }]", "link.slow.0.bandwith", "unknown key"),
    ];
    for (slow, path, message) in wrong {
        let problems = problems_of(&[("link.slow", slow)]);
        assert!(
            problems.iter().any(|one| one.path == path && one.message.contains(message)),
            "{slow}: {problems:?}"
        );
    }
    // What is wrong in a table is all that is told of it.
    for wrong in ["[{ between = [] }]", "[{ endpoints = 'some' }]", "[{ endpoints = ['5-3'] }]"] {
        assert_eq!(problems_of(&[("link.slow", wrong)]).len(), 1, "{wrong}");
    }
    let slow = ("link.slow", "[{ endpoints = [1], stop = '1 us' }]");
    let interleaved = problems_of(&[slow, ("packet.interleave", "true")]);
    assert_eq!(Vec::from_iter(interleaved.iter().map(|one| one.path.as_str())), ["packet.interleave"]);
    let fluid = problems_of(&[slow, ("run.model", "'fluid'")]);
    assert!(fluid.iter().any(|one| one.message.contains("no links that are slower")), "{fluid:?}");
}

#[test]
fn slow_links_are_described() {
    let slow = "[{ class = 'host', sample = 2, start = '20 ns', stop = '70 ns' }, { between = [[0, 1]], bandwidth = '10 Gb/s', start = '9 us' }, \
                { class = 'link1', bandwidth = '100 Gb/s' }, { endpoints = [1], bandwidth = '50 Gb/s' }]";
    let scenario = read_with(SENT, &[("link.slow", slow)]);
    let facts = tailback_engine::run::describe(&scenario).unwrap();
    let rows = |key: &str| facts[key].as_array().unwrap().clone();
    let stalled = |key: &str| {
        let rows = rows(key).into_iter().filter(|row| row["gbit_per_s"] == 0.0 && row["from_ns"] == 20.0);
        rows.map(|row| row["count"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!([stalled("slow_endpoints"), stalled("slow_links")], [2, 2]);
    let half = |row: &serde_json::Value| row["gbit_per_s"] == 50.0 && row["from_ns"] == 0.0;
    assert!(rows("slow_links").iter().any(|row| half(row) && row["channels"][0] == "endpoint 1 (host)"));
    let told = tailback_engine::run::remarks(&scenario).unwrap();
    assert!(told.iter().any(|told| told.starts_with("link.slow.1 would start at 9 us")), "{told:?}");
    assert!(told.iter().any(|told| told.starts_with("link.slow.2.bandwidth is 100 Gb/s")), "{told:?}");
    // What the link between the switches can carry: all of what crosses it.
    let bound = |slow: &str| {
        let changes = [("link.slow", slow), ("traffic.t.process", "'bernoulli'"), ("traffic.t.load", "0.1")];
        let load = tailback_engine::run::load(&read_with(SENT, &changes)).unwrap();
        load["bounds"][0]["throughput_bound"].as_f64().unwrap()
    };
    assert!((bound("[{ between = [[0, 1]], bandwidth = '30 Gb/s' }]") - 0.3).abs() < 1e-9);
    assert!((bound("[{ between = [[0, 1]], bandwidth = '30 Gb/s', start = '10 ns' }]") - 1.0).abs() < 1e-9);
    // What its source can send, and a link that is dead all the time.
    assert!((bound("[{ endpoints = [0], bandwidth = '25 Gb/s' }]") - 0.25).abs() < 1e-9);
    assert!((bound("[{ endpoints = [1], bandwidth = '25 Gb/s' }]") - 1.0).abs() < 1e-9);
    assert_eq!(bound("[{ between = [[0, 1]] }]"), 0.0);
}
