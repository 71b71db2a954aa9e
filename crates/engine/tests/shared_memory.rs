//! Input buffers that share memory under dynamic thresholds.
use crate::common::*;

/// A switch whose first endpoint gets packets of four flits from the second, and takes them at half of the speed. The threshold of the only
/// buffer that holds any of the 36 flits that all share is what is left of these.
const SLOW: &str = r#"topology = { kind = "single-switch", endpoints = 2 }
routing = "minimal"
packet = { max = "4 flits" }
endpoint = { acknowledge = false, drain_rate = "50 Gb/s" }
switch = { kind = "input-queued", input_buffer = "40 flits" }
link = { latency = "10 ns", flow_control = { kind = "pfc-dynamic", shared = "36 flits", alpha = 1.0, reserve = "0 flits", xon_offset = "0 flits" } }
[[traffic]]
name = "t"
pattern = "list"
pairs = [[1, 0]]
endpoints = [0, 1]
process = "one-shot"
message = "400 flits"
[run]
warmup = "0 us"
duration = "1 us"
drain = "0 us"
[record]
pauses = true
"#;

#[test]
fn a_buffer_pauses_its_sender_by_what_is_left_of_the_memory() {
    let first = |changes: &[(&str, &str)]| {
        let output = run_with(SLOW, changes);
        (reals(&output, "pauses", "start_ns")[0], reals(&output, "pauses", "end_ns")[0])
    };
    // Heads come at 11 + 4 k, and the room of the k-th packet is free at 15 + 8 k. At 43 there are 20 flits, more than the 16 that are left.
    // What comes from then to 63 goes into the headroom, which is empty at 79; at 87 there are 16, no more than the 20 left.
    assert_eq!(first(&[]), (54.0, 98.0));
    // So much below that, they are at 95.
    assert_eq!(first(&[("link.flow_control.xon_offset", "5 flits")]), (54.0, 106.0));
    // With 8 flits of its own it holds 24, 16 of the memory, where 20 are left, and at 59 28, 20 of the memory, where 16 are left.
    assert_eq!(first(&[("link.flow_control.reserve", "8 flits")]).0, 70.0);
    assert_eq!(first(&[("link.flow_control.response", "5 ns")]).0, 59.0);
}

#[test]
fn buffers_that_fill_together_have_equal_parts_of_the_memory() {
    // Senders that begin at once come to hold alpha / (1 + n alpha) of it each (Choudhury and Hahne), of which all but an n-th stays of what comes.
    for senders in [2_u32, 3, 5] {
        for alpha in [0.125, 1.0, 2.0, 8.0] {
            let text = format!(
                "topology = {{ kind = \"single-switch\", endpoints = {} }}\nrouting = \"minimal\"\npacket = {{ max = \"4 flits\" }}\n\
                 endpoint = {{ acknowledge = false }}\nswitch = {{ kind = \"shared-buffer\", input_buffer = \"40 flits\" }}\n\
                 link = {{ latency = \"10 ns\", flow_control = {{ kind = \"pfc-dynamic\", shared = \"20000 flits\", alpha = {alpha}, reserve = \"0 flits\" }} }}\n\
                 [[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = {:?}\nprocess = \"one-shot\"\nmessage = \"40000 flits\"\n\
                 [run]\nwarmup = \"0 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n[record]\npauses = true\n",
                senders + 1,
                (1..=senders).map(|sender| [sender, 0]).collect::<Vec<_>>(),
            );
            let output = run(&text);
            let n = f64::from(senders);
            let part = 20_000.0 * alpha / (1.0 + n * alpha);
            let expected = 22.0 + part / (1.0 - 1.0 / n);
            let (starts, from) = (reals(&output, "pauses", "start_ns"), words(&output, "pauses", "from"));
            for sender in 1..=senders {
                let own = (0..starts.len()).find(|&at| from[at] == format!("endpoint {sender}"));
                let start = starts[own.expect("each is paused")];
                // Within the packets that take turns.
                assert!(
                    (start - expected).abs() < 4.0 * (n + 2.0),
                    "{senders}, {alpha}: {start}, not {expected}"
                );
            }
        }
    }
}

/// A switch looks at a buffer when something comes into it or leaves it, not when others do what its threshold hangs on.
#[test]
fn a_sender_resumes_when_something_of_its_own_leaves() {
    let one = |name: &str, pairs: &str, message: &str, start: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = {pairs}\nshare = true\nprocess = \"one-shot\"\n\
             message = \"{message}\"\nstart = \"{start}\"\n"
        )
    };
    // 100 flits wait for endpoint 0, which takes nothing; then three others fill the memory for a while, and a packet passes by in it.
    let text = format!(
        "topology = {{ kind = \"single-switch\", endpoints = 7 }}\nrouting = \"minimal\"\npacket = {{ max = \"4 flits\" }}\n\
         switch = {{ kind = \"cioq\", input_buffer = \"40 flits\", output_buffer = \"4 flits\" }}\n\
         link = {{ latency = \"10 ns\", flow_control = {{ kind = \"pfc-dynamic\", shared = \"400 flits\", alpha = 0.5, reserve = \"0 flits\" }} }}\n\
         [endpoint]\nacknowledge = false\nslow = [{{ endpoints = [0] }}]\n{}{}{}{}\
         [run]\nwarmup = \"0 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n[record]\npauses = true\nmessages = true\n",
        one("stuck", "[[1, 0]]", "100 flits", "0 ns"),
        one("others", "[[2, 5], [3, 5], [4, 5]]", "1000 flits", "1 us"),
        one("passing", "[[1, 6]]", "4 flits", "2 us"),
        one("next", "[[1, 6]]", "4 flits", "8 us"),
    );
    let paused = |start: &str| {
        let output = run_with(&text, &[("endpoint.slow.0.stop", start)]);
        let from = words(&output, "pauses", "from");
        let own = (0..from.len()).filter(|&at| from[at] == "endpoint 1");
        let spans = [reals(&output, "pauses", "start_ns"), reals(&output, "pauses", "end_ns")];
        Vec::from_iter(own.map(|at| (spans[0][at], spans[1][at])))
    };
    // The others are gone by 6 us.
    for (stop, until) in [("9 us", 9_000.0), ("12 us", 12_000.0)] {
        let all = paused(stop);
        assert!(
            all.iter().any(|&(start, end)| start < 3_000.0 && (until..until + 200.0).contains(&end)),
            "{all:?}"
        );
    }
}

#[test]
fn where_nothing_is_shared_thresholds_are_those_that_are_fixed() {
    for (at, (network, routing)) in routed(FEW_NETWORKS).into_iter().enumerate() {
        // With packets of one length (flows that set up their ways have others) the headroom holds what is over the threshold, and nothing else.
        if goes_by_credits(&routing) || routing.contains("flow-adaptive") {
            continue;
        }
        let switch = SWITCHES
            .iter()
            .filter(|switch| !switch.contains("input_buffer"))
            .nth(at % 3)
            .expect("there are some");
        let text = file(
            network,
            &routing,
            "kind = \"none\"",
            &format!(
                "[switch]\n{switch}\n[packet]\nmax = \"6 flits\"\n[endpoint]\nacknowledge = false\n[[traffic]]\nname = \"t\"\npattern = \"uniform\"\n\
             load = 0.9\nmessage = \"30 flits\"\n[run]\nwarmup = \"0 us\"\nduration = \"3 us\"\ndrain = \"1 us\"\n[record]\npauses = true\n"
            ),
        );
        let with = |control: &str| {
            let mut output = run_with(&text, &[("link.flow_control", control)]);
            output.summary.as_object_mut().unwrap().remove("warnings");
            result(&output)
        };
        let fixed = with("{ kind = \"pfc\", xoff = \"12 flits\", xon = \"12 flits\" }");
        let none = "{ kind = \"pfc-dynamic\", shared = \"0 flits\", reserve = \"12 flits\" }";
        assert_eq!(fixed, with(none), "{text}");
    }
}

#[test]
fn a_description_tells_of_the_shared_memory_in_place_of_fixed_thresholds() {
    let scenario =
        read_with(SLOW, &[("link.flow_control.reserve", "3 flits"), ("link.flow_control.alpha", "0.5")]);
    let facts = tailback_engine::run::describe(&scenario).expect("a network");
    let host = &facts["links"][0];
    let told = ["headroom_flits", "reserve_flits", "shared_flits_per_switch", "threshold_alone_flits"]
        .map(|key| host[key].as_u64());
    // Alone a third of 36, beside its own.
    assert_eq!(told, [26, 3, 36, 15].map(Some));
    assert!(host.get("xoff_flits").is_none());
}

#[test]
fn what_no_memory_can_keep_is_refused() {
    let refused = |changes: &[(&str, &str)]| {
        let changes =
            changes.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect::<Vec<_>>();
        let scenario = tailback_engine::scenario::Scenario::parse(SLOW, &changes);
        told(
            &scenario
                .and_then(|scenario| tailback_engine::core::build::plan(&scenario))
                .err()
                .unwrap_or_default(),
        )
    };
    assert_eq!(refused(&[]), "");
    let small = refused(&[("switch.input_buffer", "25 flits")]);
    assert!(small.contains("link.flow_control.reserve"), "{small}");
    assert!(small.contains("the 26 flits that may come over the host links until a pause is obeyed do not fit beside these 0 in the 25 flits"), "{small}");
    for alpha in ["0", "1001"] {
        assert!(refused(&[("link.flow_control.alpha", alpha)]).contains("link.flow_control.alpha"));
    }
    let large = refused(&[("link.flow_control.shared", "2000000000 flits")]);
    assert!(large.contains("link.flow_control.shared"), "{large}");
    let fixed = refused(&[("link.flow_control.xoff", "11 flits")]);
    assert!(fixed.contains("unknown key"), "{fixed}");
}
