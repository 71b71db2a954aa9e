//! Priority flow control: senders are paused in time, freed in time, and never meet a full buffer.
use crate::common::*;
use proptest::prelude::*;
use tailback_engine::report::Output;
use tailback_engine::report::RunError;

/// A switch whose first endpoint gets packets of four flits from the second, and takes them at half of the speed.
const SLOW: &str = r#"topology = { kind = "single-switch", endpoints = 2 }
routing = "minimal"
packet = { max = "4 flits" }
endpoint = { acknowledge = false, drain_rate = "50 Gb/s" }
switch = { kind = "input-queued", input_buffer = "100 flits" }
link = { latency = "10 ns", flow_control = { kind = "pfc", xoff = "10 flits" } }
[[traffic]]
name = "t"
pattern = "list"
pairs = [[1, 0]]
endpoints = [0, 1]
process = "one-shot"
message = "48 flits"
[run]
warmup = "0 us"
duration = "1 us"
drain = "0 us"
[record]
packets = true
pauses = true
"#;

/// Starts and ends of all pauses, in ns.
fn pauses(output: &Output) -> Vec<(f64, f64)> {
    let [starts, ends] = ["start_ns", "end_ns"].map(|name| reals(output, "pauses", name));
    starts.iter().copied().zip(ends.iter().copied()).collect()
}

#[test]
fn a_sender_is_paused_and_freed_a_latency_and_a_flit_time_after_its_threshold() {
    let output = run(SLOW);
    // Packet k starts at 4 k, its head is there at 11 + 4 k; packets leave at 11 + 8 k and their room is free 4 ns later. So
    // 12 flits are there at 27, more than 10, and at 79 and 87 no more than 2 of the ten that had been sent by 27 + 11.
    assert_eq!(pauses(&output), [(38.0, 98.0)]);
    let starts: Vec<f64> = reals(&output, "packets", "start_ns").to_vec();
    let from = words(&output, "packets", "from");
    let sent = starts.iter().zip(from).filter(|(_, from)| *from == "endpoint 1").map(|(start, _)| *start);
    assert_eq!(sent.collect::<Vec<_>>(), [0., 4., 8., 12., 16., 20., 24., 28., 32., 36., 98., 102.]);
    assert_eq!(words(&output, "pauses", "to"), ["switch 0"]);
    let summary = &output.summary["pauses"]["injection"];
    assert_eq!(summary["count"], 1);
    assert_eq!(summary["time_share"].as_f64().unwrap(), 60.0 / 1000.0 / 2.0);
}

#[test]
fn what_a_sender_needs_to_obey_delays_both_orders() {
    let response = |time: &str| pauses(&run_with(SLOW, &[("link.flow_control.response", time)]));
    // One more packet starts, at 40, and its room is free at 95.
    assert_eq!(response("5 ns"), [(43.0, 111.0)]);
}

/// A result without warnings, which tell of thresholds beyond what the buffers can hold.
fn compared(text: &str, changes: &[(&str, &str)]) -> String {
    let mut output = run_with(text, changes);
    output.summary.as_object_mut().unwrap().remove("warnings");
    result(&output)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// The headroom is enough: buffers that are ten times as large, with the same thresholds, change nothing, and no packet meets a full
    /// one (the engine fails a run where one does).
    #[test]
    fn no_buffer_is_ever_full(
        seed in 0_u64..1000,
        xoff in 0_u32..60,
        response in prop::sample::select(vec![0, 1, 17, 60]),
        latency in prop::sample::select(vec![0, 3, 10, 50]),
        // Flits of 1 ns, of 62.5 and 31.25 ps, and of 1.79 ns.
        rate in prop::sample::select(vec![100, 1600, 3200, 56]),
        load in 0.3..1.0,
        which in 0_usize..1000,
        shared in prop::option::of(0_u32..200),
    ) {
        // Those of files have latencies of their own.
        let suits = |(network, routing): &(&str, String)| !network.contains("\"file\"") && !goes_by_credits(routing);
        let all: Vec<_> = routed(FEW_NETWORKS).into_iter().filter(suits).collect();
        let (network, routing) = &all[which % all.len()];
        let (switch, protocol) = (SWITCHES[which % SWITCHES.len()], PROTOCOLS[which % PROTOCOLS.len()]);
        let text = file(network, routing, suited(routing, protocol), &format!(
            "[switch]\n{switch}\n[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = {load}\nmessage = \"30 flits\"\n\
             [run]\nseed = {seed}\nwarmup = \"0 us\"\nduration = \"3000 cycles\"\ndrain = \"1000 cycles\"\n"
        ));
        let (latency, rate) = (format!("{latency} ns"), format!("{rate} Gb/s"));
        let control = |xoff: u32| match shared {
            None => format!("{{ kind = \"pfc\", xoff = \"{xoff} flits\", response = \"{response} ns\" }}"),
            Some(shared) => format!(
                "{{ kind = \"pfc-dynamic\", reserve = \"{xoff} flits\", shared = \"{shared} flits\", alpha = {}, response = \"{response} ns\" }}",
                [0.1, 0.5, 4.0][which % 3]
            ),
        };
        let with = |flits: u32| {
            let vcs = tailback_engine::core::build::plan(&read(&text)).unwrap().vcs.count() as u32;
            let buffer = if switch.contains("shared = true") {
                format!("{{ per = \"port\", size = \"{} flits\", shared = true }}", vcs * flits)
            } else {
                format!("{flits} flits")
            };
            [("link.latency", latency.clone()), ("link.bandwidth", rate.clone()), ("link.flow_control", control(xoff)), ("switch.input_buffer", buffer)]
        };
        let changed = |flits: u32| compared(&text, &with(flits).each_ref().map(|(key, value)| (*key, value.as_str())));
        let plan = tailback_engine::core::build::plan(&read_with(&text, &with(1_000_000).each_ref().map(|(key, value)| (*key, value.as_str())))).unwrap();
        let headroom = plan.links.iter().filter_map(|link| link.pauses).map(|pauses| pauses.headroom).max().unwrap();
        prop_assert_eq!(changed(xoff + headroom), changed(10 * (xoff + headroom)));
    }
}

#[test]
fn senders_that_are_never_paused_send_as_those_that_never_lack_credit() {
    for (at, (network, routing)) in routed(FEW_NETWORKS).into_iter().enumerate() {
        if goes_by_credits(&routing) {
            continue;
        }
        let traffic = "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.9\nmessage = \"30 flits\"\n\
                       [run]\nwarmup = \"0 us\"\nduration = \"2 us\"\ndrain = \"1 us\"\n";
        let protocol = suited(&routing, PROTOCOLS[at % PROTOCOLS.len()]);
        let text = file(network, &routing, protocol, &format!("[switch]\n{}\n{traffic}", SWITCHES[at % 5]));
        let with = |control: &str| {
            let mut output =
                run_with(&text, &[("link.flow_control", control), ("switch.input_buffer", "1000000 flits")]);
            output.summary.as_object_mut().unwrap().remove("pauses");
            result(&output)
        };
        assert_eq!(with("\"credits\""), with("\"pfc\""), "{text}");
    }
}

#[test]
fn the_default_buffer_keeps_channels_busy_behind_pauses() {
    // One endpoint sends twice what the link between the switches carries, whatever the order takes.
    let text = "topology = { kind = \"file\", text = \"\"\"\nhost a b\nswitch s t\na, s\nb, t\ns, t, 100 Gb/s, 500 ns\n\"\"\" }\n\
                routing = \"shortest\"\nlink = { flow_control = \"pfc\", bandwidth = \"200 Gb/s\", host = \"500 ns\" }\n\
                switch = \"input-queued\"\n\
                endpoint = { acknowledge = false }\n[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 1]]\n\
                load = 1.0\nmessage = \"24 flits\"\n[run]\nwarmup = \"50 us\"\nduration = \"200 us\"\ndrain = \"0 us\"\n";
    for response in ["0 ns", "300 ns", "3 us"] {
        let output = run_with(
            text,
            &[("link.flow_control", &format!("{{ kind = \"pfc\", response = \"{response}\" }}"))],
        );
        let accepted = number(&output, "t", "accepted");
        assert!((accepted - 0.5).abs() < 0.001, "{accepted} with {response}");
        assert!(output.summary["pauses"]["injection"]["count"].as_u64().unwrap() > 10);
    }
}

#[test]
fn a_deadlock_of_senders_that_are_paused_for_ever_is_told() {
    let text = "[topology]\nkind = \"torus\"\ndims = [8]\n[link]\nlatency = \"10 ns\"\nflow_control = { kind = \"pfc\", xoff = \"6 flits\" }\n\
                [packet]\nmax = \"3 flits\"\n[switch]\nkind = \"cioq\"\ninput_buffer = \"100 flits\"\noutput_buffer = \"2 packets\"\n\
                [routing]\nkind = \"dor\"\ndeadlock = \"none\"\nmay_deadlock = true\n[endpoint]\nacknowledge = false\n\
                [[traffic]]\nname = \"t\"\npattern = \"tornado\"\nload = 1.0\nmessage = \"3 flits\"\n\
                [run]\nwarmup = \"0 us\"\nduration = \"200 us\"\ndrain = \"0 us\"\n";
    let told = |partitions: &str| match tailback_engine::run::run(
        &read_with(text, &[("run.partitions", partitions)]),
        &mut |_| true,
    ) {
        Err(RunError::Failed(text, _)) => text,
        other => panic!("no deadlock was told: {other:?}"),
    };
    let one = told("1");
    assert!(one.contains("8 channels wait for one another in a circle"), "{one}");
    assert!(one.contains("data level 0: paused; its packet"), "{one}");
    assert_eq!(one, told("3"));
}

#[test]
fn virtual_channels_that_share_a_port_pause_by_themselves() {
    let text = "[topology]\nkind = \"torus\"\ndims = [8]\n[link]\nlatency = \"10 ns\"\n\
                flow_control = { kind = \"pfc\", xoff = \"1 flit\", xon = \"0 flits\", response = \"200 ns\" }\n[routing]\nkind = \"dor\"\n\
                [[traffic]]\nname = \"t\"\npattern = \"tornado\"\nload = 1.0\nmessage = \"24 flits\"\n\
                [run]\nwarmup = \"0 us\"\nduration = \"50 us\"\ndrain = \"0 us\"\n";
    let shared = compared(
        text,
        &[("switch.input_buffer", "{ per = \"port\", size = \"6000 flits\", shared = true }")],
    );
    assert_eq!(shared, compared(text, &[("switch.input_buffer", "3000 flits")]));
}

#[test]
fn pauses_end_with_the_run() {
    // Ranks are done once they have sent: what they sent to one that receives nothing jams after that.
    let sends = (1..40).map(|tag| format!("l{tag}: send 2000b to 0 tag {tag}\n")).collect::<String>();
    let ranks = (1..16).map(|rank| format!("rank {rank} {{\n{sends}}}\n")).collect::<String>();
    let text = format!(
        "topology = {{ kind = \"xgft\", down = [4, 4], up = [2] }}\nrouting = \"nca\"\n\
         link = {{ latency = \"500 ns\", flow_control = {{ kind = \"pfc\", xoff = \"24 flits\" }} }}\n\
         switch = {{ kind = \"cioq\", input_buffer = \"1100 flits\", output_buffer = \"1 packet\" }}\n\
         [[job]]\nname = \"j\"\nworkload = \"goal\"\ntext = \"\"\"num_ranks 16\nrank 0 {{\nl1: calc 1\n}}\n{ranks}\"\"\"\n\
         [run]\nduration = \"1 ms\"\n[record]\npauses = true\n"
    );
    let output = run(&text);
    let end = output.summary["simulated_ns"].as_f64().unwrap();
    let all = pauses(&output);
    assert!(all.len() > 10, "{}", all.len());
    assert!(
        all.iter().all(|&(start, until)| start < end && (until.is_nan() || until <= end)),
        "{all:?} until {end}"
    );
    let count: u64 =
        output.summary["pauses"].as_object().unwrap().values().map(|of| of["count"].as_u64().unwrap()).sum();
    assert_eq!(count, all.len() as u64);
}

#[test]
fn thresholds_that_no_buffer_can_keep_are_refused() {
    let told = |changes: &[(&str, &str)]| {
        let scenario = tailback_engine::scenario::Scenario::parse(
            SLOW,
            &changes.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect::<Vec<_>>(),
        );
        told(
            &scenario
                .err()
                .or_else(|| tailback_engine::core::build::plan(&read_with(SLOW, changes)).err())
                .unwrap_or_default(),
        )
    };
    assert_eq!(told(&[]), "");
    let small = told(&[("switch.input_buffer", "35 flits")]);
    assert!(small.contains("the 26 flits that may come over the host links until a pause is obeyed do not fit beside these 10 in the 35 flits of a virtual channel"), "{small}");
    assert!(
        small.contains("at most 9 flits, or an input_buffer of at least 36 flits for each virtual channel"),
        "{small}"
    );
    assert_eq!(told(&[("switch.input_buffer", "36 flits")]), "");
    let late = told(&[("link.flow_control.xon", "11 flits")]);
    assert!(late.contains("11 flits are more than the 10 above which the sender is paused"), "{late}");
    let turns = told(&[("packet.interleave", "true")]);
    assert!(turns.contains("under pauses packets go in one piece"), "{turns}");
    let unknown = told(&[("link.flow_control.xof", "11 flits")]);
    assert!(unknown.contains("did you mean xoff?"), "{unknown}");
}
