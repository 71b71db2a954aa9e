//! Congestion trees: which channels are held, and by what.
use crate::common::*;
use crate::networks::{MADE, ring};
use crate::slow::{BUSY, problems_in};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use tailback_engine::report::{Output, RunError};

/// A held virtual channel.
#[derive(Debug, Clone, PartialEq)]
struct Held {
    from: String,
    to: (i64, i64),
    vc: i64,
    root: String,
    depth: i64,
    flits: i64,
    /// Of those, what is for others than the root, where that is an endpoint.
    strangers: Option<i64>,
}

impl Held {
    /// Where it starts, its switch, and how far it is from which root.
    fn shape(&self) -> (&str, i64, &str, i64) {
        (&self.from, self.to.0, &self.root, self.depth)
    }
}

/// The channels that are held, by the time in ns.
fn held(output: &Output) -> BTreeMap<u64, Vec<Held>> {
    let [times, strangers] = ["time_ns", "strangers"].map(|name| reals(output, "trees", name));
    let [from, roots] = ["from", "root"].map(|name| words(output, "trees", name));
    let of = |name| ints(output, "trees", name);
    let mut all: BTreeMap<u64, Vec<Held>> = BTreeMap::new();
    for at in 0..times.len() {
        all.entry(times[at] as u64).or_default().push(Held {
            from: from[at].clone(),
            to: (of("to_switch")[at], of("to_port")[at]),
            vc: of("virtual_channel")[at],
            root: roots[at].clone(),
            depth: of("depth")[at],
            flits: of("flits")[at],
            strangers: (!strangers[at].is_nan()).then_some(strangers[at] as i64),
        });
    }
    all
}

/// Three switches in a line with two endpoints each. Endpoints 0, 2 and 4 send to 5, which takes nothing; 1 sends to 3.
const LINE: &str = r#"routing = "shortest"
packet = { max = "4 flits" }
endpoint = { acknowledge = false, slow = [{ endpoints = [5] }] }
link = { latency = "10 ns" }
switch = { kind = "input-queued", input_buffer = "40 flits" }
[topology]
kind = "file"
format = "edges"
text = """
a b
b c
"""
concentration = 2
[[traffic]]
name = "hot"
pattern = "list"
pairs = [[0, 5], [2, 5], [4, 5]]
load = 1
message = "4 flits"
[[traffic]]
name = "strangers"
pattern = "list"
pairs = [[1, 3]]
load = 0.1
message = "4 flits"
[run]
warmup = "0 us"
duration = "2 us"
drain = "0 us"
[record]
occupancy = ["2 us"]
trees = true
"#;

const END: u64 = 2000;

#[test]
fn a_tree_grows_from_an_endpoint_that_takes_nothing() {
    let root = "endpoint 5";
    let expected = BTreeSet::from([
        ("endpoint 0", 0, root, 3),
        ("endpoint 1", 0, root, 3),
        ("endpoint 2", 1, root, 2),
        ("endpoint 4", 2, root, 1),
        ("switch 0", 1, root, 2),
        ("switch 1", 2, root, 1),
    ]);
    for flow_control in ["'credits'", "{ kind = 'pfc', xoff = '12 flits', xon = '0 flits' }"] {
        // One kind has a buffer of its own.
        for switch in SWITCHES.iter().filter(|switch| !switch.contains("input_buffer")) {
            let switch = format!("{{ {}, input_buffer = '40 flits' }}", switch.replace('\n', ", "));
            let output = run_with(LINE, &[("link.flow_control", flow_control), ("switch", &switch)]);
            let all = &held(&output)[&END];
            assert_eq!(BTreeSet::from_iter(all.iter().map(Held::shape)), expected, "{switch}");
            for one in all {
                // The strangers of endpoint 1 never get beyond its own switch, once the channel to the next is held.
                assert_eq!(one.strangers, Some(if one.from == "endpoint 1" { one.flits } else { 0 }));
                assert!(flow_control != "'credits'" || (36..=40).contains(&one.flits), "{one:?}");
            }
        }
    }
}

/// A buffer hangs on what most of it waits for; without queues of their own, on what its first packet waits for.
#[test]
fn a_channel_hangs_on_what_most_of_the_buffer_at_its_end_waits_for() {
    // The two hot endpoints take nothing; three quarters of what comes over the link are for the first.
    let text = r#"routing = "minimal"
packet = { max = "1 flit" }
endpoint = { acknowledge = false, slow = [{ endpoints = [1, 2] }] }
switch = { kind = "input-queued", input_buffer = "40 flits", speedup = 1 }
topology = { kind = "single-switch", endpoints = 3 }
[[traffic]]
name = "most"
share = true
pattern = "list"
pairs = [[0, 1]]
load = 0.45
process = "periodic"
message = "1 flit"
[[traffic]]
name = "some"
share = true
pattern = "list"
pairs = [[0, 2]]
load = 0.15
process = "periodic"
message = "1 flit"
[run]
warmup = "0 us"
duration = "2 us"
drain = "0 us"
[record]
occupancy = ["2 us"]
trees = true
"#;
    let by = |changes: &[(&str, &str)]| held(&run_with(text, changes)).remove(&END).unwrap_or_default();
    let most = by(&[]);
    assert_eq!(most.iter().map(Held::shape).collect::<Vec<_>>(), [("endpoint 0", 0, "endpoint 1", 1)]);
    let strangers = most[0].strangers.unwrap();
    assert!(most[0].flits == 40 && (5..15).contains(&strangers), "{most:?}");
    // The first packet that finds its endpoint taken holds the queue of all.
    let first = by(&[("switch.voq", "false"), ("endpoint.slow", "[{ endpoints = [2] }]")]);
    assert_eq!(first.iter().map(Held::shape).collect::<Vec<_>>(), [("endpoint 0", 0, "endpoint 2", 1)]);
    assert!(first[0].flits == 40 && first[0].strangers.unwrap() > 20, "{first:?}");
}

#[test]
fn a_channel_is_held_from_when_its_sender_lacks_credit_until_it_has_it() {
    // Packets of 4 flits of 1 ns start every 4 ns until the buffer ahead is full. The first leaves it at 11 ns, and the endpoint takes 40 ns for each:
    // their room is free when they have left, at 51, 91, ..., and known 11 ns later.
    let text = r#"routing = "minimal"
topology = { kind = "single-switch", endpoints = 2 }
packet = { max = "4 flits" }
endpoint = { acknowledge = false, drain_rate = "10 Gb/s" }
switch = { kind = "input-queued", input_buffer = "8 flits", speedup = 1 }
link = { latency = "10 ns" }
[[traffic]]
name = "t"
pattern = "list"
pairs = [[0, 1]]
process = "one-shot"
message = "24 flits"
[run]
warmup = "0 us"
duration = "1 us"
drain = "0 us"
[record]
occupancy = "1 ns"
packets = true
trees = true
"#;
    let output = run(text);
    let starts = reals(&output, "packets", "start_ns");
    let from = words(&output, "packets", "from");
    let sent =
        Vec::from_iter((0..starts.len()).filter(|&at| from[at] == "endpoint 0").map(|at| starts[at] as u64));
    assert_eq!(sent.len(), 6);
    // What happens at the time of a snapshot is yet to happen.
    let expected = Vec::from_iter(sent.windows(2).flat_map(|pair| pair[0] + 5..=pair[1]));
    let all = held(&output);
    assert_eq!(all.keys().copied().collect::<Vec<_>>(), expected, "{sent:?}");
    // The second packet is there at 15 ns and waits behind the first: until then nothing does.
    for (at, rows) in &all {
        let root = if *at > 15 { "endpoint 1" } else { "nothing" };
        assert_eq!(Vec::from_iter(rows.iter().map(|one| one.root.as_str())), [root], "at {at} ns");
    }
}

#[test]
fn the_summary_tells_what_share_of_the_network_is_held_in_the_window() {
    // The first time is before the window.
    let times = [
        ("record.occupancy", "['1 ns', '1500 ns', '2 us']"),
        ("run.warmup", "'1 us'"),
        ("run.duration", "'1 us'"),
    ];
    let summary = run_with(LINE, &times).summary;
    let told = &summary["trees"];
    assert_eq!(told["snapshots"], 2);
    // Endpoints 0, 1, 2 and 4 of six, and two of four channels between switches.
    for (key, share) in [("endpoints_held", 4.0 / 6.0), ("channels_held", 0.5)] {
        assert_eq!(told[key]["mean"].as_f64(), Some(share), "{told}");
        assert_eq!(told[key]["max"].as_f64(), Some(share), "{told}");
    }
    assert_eq!((told["deepest"].as_u64(), told["strangers"].is_number()), (Some(3), true));
    assert!(run_with(LINE, &[("record.trees", "false")]).summary["trees"].is_null());
}

#[test]
fn a_channel_between_switches_may_be_the_root() {
    let dead = [("endpoint.slow", "[]"), ("link.slow", "[{ between = [[1, 2]], start = '500 ns' }]")];
    let all = held(&run_with(LINE, &dead)).remove(&END).unwrap();
    let root = "switch 1 port 3 (link1) to switch 2";
    let expected = [
        ("endpoint 0", 0, root, 2),
        ("endpoint 1", 0, root, 2),
        ("endpoint 2", 1, root, 1),
        ("switch 0", 1, root, 1),
    ];
    assert_eq!(BTreeSet::from_iter(all.iter().map(Held::shape)), BTreeSet::from(expected));
    assert!(all.iter().all(|one| one.strangers.is_none()));
}

#[test]
fn channels_may_wait_in_a_circle() {
    let recorded = ring(MADE, &[("record.occupancy", "'8 ns'"), ("record.trees", "true")]);
    let Err(RunError::Failed(_, Some(partial))) = tailback_engine::run::run(&recorded, &mut |_| true) else {
        panic!("no deadlock was told")
    };
    let all = held(&partial);
    let (_, last) = all.last_key_value().unwrap();
    assert_eq!(last.len(), 16, "eight channels of the ring and eight endpoints");
    assert!(last.iter().all(|one| one.root == "circle" && one.depth == 0));
}

#[test]
fn trees_without_times_are_a_mistake() {
    let told = problems_in(LINE, &[("record.occupancy", "[]")]);
    assert_eq!(told.len(), 1);
    assert!(told[0].to_string().contains("record.trees"), "{}", told[0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// Whatever the network, the switch, the scheme and the flow control: every channel that is held is one channel further from
    /// its root than another, its buffer is not over full, and the table is the same however the network is cut.
    #[test]
    fn trees_hang_together(
        seed in 0_u64..1000,
        (place, other, scheme, pausing) in (0_usize..1000, 0_usize..1000, 0_usize..1000, 0_usize..8),
        partitions in 2_u32..6,
    ) {
        let all = routed(FEW_NETWORKS);
        let (network, routing) = &all[place % all.len()];
        let control = match goes_by_credits(routing) {
            true => FLOW_CONTROLS[0],
            // More than half go by credits, the first.
            false => FLOW_CONTROLS[pausing.saturating_sub(4) % FLOW_CONTROLS.len()],
        };
        // A buffer that virtual channels share has no room for what comes until a pause is obeyed.
        let fits = |switch: &&&str| control == FLOW_CONTROLS[0] || !switch.contains("shared = true");
        let switches = Vec::from_iter(SWITCHES.iter().filter(fits));
        let (switch, protocol) = (switches[other % switches.len()], PROTOCOLS[scheme % PROTOCOLS.len()]);
        let text = file(network, routing, suited(routing, protocol), &format!("[switch]\n{switch}\n[link.flow_control]\n{control}\n{BUSY}"));
        let seed = seed.to_string();
        let with = |partitions: &str| run_with(&text, &[
            ("run.seed", &seed), ("run.partitions", partitions), ("run.threads", "2"),
            ("record.trees", "true"), ("record.occupancy", "'100 ns'"),
        ]);
        let one = with("1");
        for rows in held(&one).values() {
            let reached = BTreeSet::from_iter(rows.iter().map(|row| (row.root.as_str(), row.depth)));
            let ends = BTreeSet::from_iter(rows.iter().map(|row| (row.to, row.vc)));
            prop_assert_eq!(ends.len(), rows.len());
            for row in rows {
                let has_root = !["circle", "nothing"].contains(&row.root.as_str());
                prop_assert_eq!(has_root, row.depth > 0);
                prop_assert!(row.depth < 2 || reached.contains(&(&row.root, row.depth - 1)), "{:?}", row);
                prop_assert!(row.strangers.is_none_or(|strangers| strangers <= row.flits));
                prop_assert_eq!(row.strangers.is_some(), row.root.starts_with("endpoint"));
                prop_assert_eq!(row.root == "nothing", row.flits == 0);
            }
        }
        prop_assert!(result(&one) == result(&with(&partitions.to_string())));
    }
}
