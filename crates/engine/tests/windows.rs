//! What schemes of data centres come to where senders share the channel of an endpoint.
use crate::common::*;

/// Endpoints 1 to `senders` of a switch send to endpoint 0 all they can, on links of 500 ns: a packet and its acknowledgement take 2 us.
fn incast(senders: u32, protocol: &str) -> tailback_engine::report::Output {
    let pairs: Vec<String> = (1..=senders).map(|source| format!("[{source}, 0]")).collect();
    let rest = format!(
        "[switch]\nkind = \"cioq\"\ninput_buffer = \"3000 flits\"\noutput_buffer = \"3000 flits\"\n[packet]\nmax = \"24 flits\"\n\
         [[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [{}]\nload = 1.0\nmessage = \"24 flits\"\n\
         [run]\nwarmup = \"400 us\"\nduration = \"400 us\"\ndrain = \"0 us\"\n[record]\nsources = true\n",
        pairs.join(", ")
    );
    let text = file("kind = \"single-switch\"\nendpoints = 20", "kind = \"minimal\"", protocol, &rest);
    run(&text.replace("latency = \"10 ns\"", "latency = \"500 ns\""))
}

/// What arrives, as a share of the channel, and the least and the largest part of it that a sender has.
fn shares(output: &tailback_engine::report::Output) -> (f64, f64, f64) {
    let tailback_engine::report::Column::Real(parts) = column(output, "sources", "accepted") else {
        panic!("shares are numbers")
    };
    let parts = Vec::from_iter(parts.iter().copied().filter(|&part| part > 0.0));
    let all = number(output, "t", "accepted_per_destination");
    let part = |pick: fn(f64, f64) -> f64| parts.iter().copied().reduce(pick).unwrap() / all;
    (all, part(f64::min), part(f64::max))
}

fn network_latency(output: &tailback_engine::report::Output) -> f64 {
    output.summary["classes"]["t"]["network_latency_ns"]["mean"].as_f64().unwrap()
}

/// Flows that were throttled to the smallest window, whose packets are much longer apart than `restart`, learn that others have ended: messages
/// of one size to one endpoint all arrive soon after their flits can.
#[test]
fn hpcc_gives_the_channel_to_flows_that_were_throttled() {
    let text = "routing = \"shortest\"\ncongestion_control = \"hpcc\"\n[topology]\nkind = \"single-switch\"\nendpoints = 33\n\
                [link]\nbandwidth = \"100 Gb/s\"\nlatency = \"600 ns\"\n[packet]\nflit = \"64 B\"\nmax = \"4 KiB\"\n\
                [[traffic]]\nname = \"incast\"\npattern = \"hotspot\"\nsources = 32\ndestinations = 1\nprocess = \"one-shot\"\n\
                message = \"256 KiB\"\n[run]\nwarmup = \"0 us\"\nduration = \"1 us\"\ndrain = \"5 ms\"\n";
    let output = run(text);
    let last = number(&output, "incast", "message_latency_ns.max");
    let least = 32.0 * 256.0 * 1024.0 * 8.0 / 100.0;
    assert!(least < last && last < 1.4 * least, "{last} ns, {least} ns at least");
}

#[test]
fn hpcc_fills_the_channel_to_its_aim_and_keeps_it_free_of_queues() {
    for (eta, senders, telemetry) in
        [(0.95, 2, "int"), (0.95, 15, "int"), (0.8, 4, "int"), (0.95, 2, "pint"), (0.95, 15, "pint")]
    {
        let output = incast(senders, &format!("kind = \"hpcc\"\neta = {eta}\ntelemetry = \"{telemetry}\""));
        let (all, least, most) = shares(&output);
        // The increments of all senders come on top: (1 - eta) of a hundredth each.
        assert!((eta - 0.02..eta + 0.02).contains(&all), "{senders}: {all} of {eta}");
        let fair = 1.0 / f64::from(senders);
        assert!(least > 0.5 * fair && most < 1.6 * fair, "{senders}: {least} to {most}");
        // An empty network takes 1.05 us.
        assert!(network_latency(&output) < 1200.0, "{senders}: {} ns", network_latency(&output));
    }
}

#[test]
fn swift_fills_the_channel_and_keeps_the_round_trip_at_its_target() {
    for senders in [2, 15] {
        let output = incast(senders, "kind = \"swift\"\nbase_target = \"3 us\"\nfs_range = \"0 us\"");
        let (all, least, most) = shares(&output);
        let fair = 1.0 / f64::from(senders);
        assert!(all > 0.97, "{senders}: {all}");
        assert!(least > 0.4 * fair && most < 1.8 * fair, "{senders}: {least} to {most}");
        // The way back takes a microsecond: two are left for the way there, above which windows shrink.
        assert!(
            (1500.0..2600.0).contains(&network_latency(&output)),
            "{senders}: {}",
            network_latency(&output)
        );
    }
}

#[test]
fn dcqcn_brings_senders_to_equal_rates() {
    let quick = "kind = \"dcqcn\"\nmark_from = \"100 flits\"\nmark_all = \"800 flits\"\nmark_chance = 0.1\ncnp_interval = \"5 us\"\nalpha_timer = \"6 us\"\n\
         timer = \"6 us\"\ngain = 0.0625\nincrease = \"1 Gb/s\"\nhyper_increase = \"1 Gb/s\"";
    for senders in [2, 8] {
        let output = incast(senders, quick);
        let (all, least, most) = shares(&output);
        let fair = 1.0 / f64::from(senders);
        assert!(all > 0.85, "{senders}: {all}");
        assert!(least > 0.6 * fair && most < 1.5 * fair, "{senders}: {least} to {most}");
    }
}

#[test]
fn nscc_fills_the_channel_and_keeps_the_delay_near_its_target() {
    for senders in [2, 15] {
        let output = incast(senders, "kind = \"nscc\"\ntarget = \"1 us\"");
        let (all, least, most) = shares(&output);
        let fair = 1.0 / f64::from(senders);
        assert!(all > 0.95, "{senders}: {all}");
        assert!(least > 0.4 * fair && most < 1.8 * fair, "{senders}: {least} to {most}");
        // The way there takes 1.05 us, and the queue as long as the target.
        assert!(
            (1100.0..2300.0).contains(&network_latency(&output)),
            "{senders}: {}",
            network_latency(&output)
        );
    }
}

#[test]
fn rccc_fills_the_part_of_the_channel_that_it_gives_and_no_queue_stands() {
    for (rate, senders) in [(0.99, 2), (0.99, 15), (0.8, 4)] {
        let output = incast(senders, &format!("kind = \"rccc\"\nrate = {rate}"));
        let (all, least, most) = shares(&output);
        assert!((rate - 0.01..rate + 0.001).contains(&all), "{senders}: {all} of {rate}");
        let fair = 1.0 / f64::from(senders);
        assert!(least > 0.99 * fair && most < 1.01 * fair, "{senders}: {least} to {most}");
        // An empty network takes 1.05 us; what went without credit has passed before the window.
        assert!(network_latency(&output) < 1200.0, "{senders}: {} ns", network_latency(&output));
    }
}

/// Of eight sources on one switch four send to one endpoint of another switch, and the others to one each, over two links that carry a
/// quarter of what is asked: what the first four get, what the others get, and the packets in the network at the
/// end.
fn in_and_behind_the_network(protocol: &str) -> [f64; 3] {
    let hosts = |switch: char, hosts: std::ops::Range<u32>| -> String {
        hosts.map(|host| format!("{host} {switch}\n")).collect()
    };
    let links = "a, b, 200 Gb/s, 500 ns\n";
    let network = format!(
        "kind = \"file\"\nformat = \"edges\"\ntext = \'\'\'\n{}{}{links}\'\'\'",
        hosts('a', 0..8),
        hosts('b', 8..16)
    );
    let rest = "[switch]\nkind = \"cioq\"\ninput_buffer = \"200 packets\"\n[packet]\nmax = \"24 flits\"\n\
         [[traffic]]\nname = \"one\"\npattern = \"list\"\npairs = [[0, 8], [1, 8], [2, 8], [3, 8]]\nload = 1.0\nmessage = \"24 flits\"\n\
         [[traffic]]\nname = \"each\"\npattern = \"list\"\npairs = [[4, 12], [5, 13], [6, 14], [7, 15]]\nload = 1.0\nmessage = \"24 flits\"\n\
         [run]\nwarmup = \"400 us\"\nduration = \"200 us\"\ndrain = \"0 us\"\n";
    let output = run(&file(&network, "kind = \"shortest\"", protocol, rest));
    let got = |class| number(&output, class, "accepted") * 4.0;
    [got("one"), got("each"), output.summary["packets_in_the_network"].as_f64().unwrap()]
}

#[test]
fn credit_sees_the_destination_and_a_window_the_network() {
    let [one, each, credit] = in_and_behind_the_network("kind = \"rccc\"");
    assert!(one > 0.98 && each > 0.98, "{one}, {each}");
    let [one, each, both] = in_and_behind_the_network("kind = \"nscc+rccc\"\nnscc = { target = \"1 us\" }");
    assert!(one > 0.98 && each > 0.98, "{one}, {each}");
    // 171 packets fill the links for a round trip. Credit alone lets each destination have one and a half times what it takes in one.
    assert!(credit > 300.0 && both < 171.0, "{credit}, {both}");
}

#[test]
fn both_halves_of_ultra_ethernet_fill_what_is_given_and_no_queue_stands() {
    for senders in [2, 15] {
        let output = incast(senders, "kind = \"nscc+rccc\"");
        let (all, least, most) = shares(&output);
        assert!((0.98..0.991).contains(&all), "{senders}: {all}");
        let fair = 1.0 / f64::from(senders);
        assert!(least > 0.99 * fair && most < 1.01 * fair, "{senders}: {least} to {most}");
        assert!(network_latency(&output) < 1200.0, "{senders}: {} ns", network_latency(&output));
    }
}

#[test]
fn default_windows_fit_the_longest_round_trip_wherever_it_is() {
    // A hub with 150 leaves of 50 ns, and between them two of 10 us: not among the switches that are looked from first.
    let leaves = 0..150;
    let of = |leaf: u32| if [41, 43].contains(&leaf) { "10 us" } else { "50 ns" };
    let hosts: String = leaves.clone().map(|leaf| format!(" e{leaf}")).collect();
    let links: String =
        leaves.map(|leaf| format!("e{leaf} s{leaf}\nhub, s{leaf}, 100 Gb/s, {}\n", of(leaf))).collect();
    let network = format!("kind = \"file\"\nformat = \"edges\"\ntext = '''\nhost{hosts}\n{links}'''");
    let rest = "[switch]\nkind = \"cioq\"\n[packet]\nmax = \"24 flits\"\n[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[41, 43]]\n\
                load = 0.9\nmessage = \"24 flits\"\n[run]\nwarmup = \"400 us\"\nduration = \"200 us\"\ndrain = \"0 us\"\n";
    let accepted = |protocol: &str| {
        let output = run(&file(&network, "kind = \"shortest\"", protocol, rest));
        number(&output, "t", "accepted_per_destination")
    };
    let alone = accepted("kind = \"none\"");
    for protocol in ["swift", "hpcc", "nscc", "rccc", "nscc+rccc"] {
        let with = accepted(&format!("kind = \"{protocol}\""));
        assert!(with > 0.95 * alone, "{protocol}: {with} of {alone}");
    }
}

/// Three endpoints of a switch with links of 500 ns send to another; `buffers` are those of its inputs and outputs.
fn switched(protocol: &str, buffers: u32, rest: &str) -> String {
    let rest = format!(
        "[switch]\nkind = \"cioq\"\ninput_buffer = \"{buffers} flits\"\noutput_buffer = \"{buffers} flits\"\n[packet]\nmax = \"24 flits\"\n\
         [[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[1, 0], [2, 0], [3, 0]]\nload = 1.0\nmessage = \"24 flits\"\n\
         [run]\nwarmup = \"400 us\"\nduration = \"400 us\"\ndrain = \"0 us\"\n{rest}"
    );
    let text = file("kind = \"single-switch\"\nendpoints = 12", "kind = \"minimal\"", protocol, &rest);
    text.replace("latency = \"10 ns\"", "latency = \"500 ns\"")
}

#[test]
fn defaults_follow_from_the_round_trip_and_the_buffers() {
    let told = |protocol: &str, buffers: u32, rest: &str| {
        let described = tailback_engine::run::describe(&read(&switched(protocol, buffers, rest))).unwrap();
        described["congestion_control_default"].clone()
    };
    // 5 kB and 200 kB in flits of 100 bits; or, where buffers hold less, as parts of them.
    for (buffers, from, all) in [(3000, "400 flits", "16000 flits"), (400, "60 flits", "2400 flits")] {
        let marks = told("kind = \"dcqcn\"", buffers, "");
        assert_eq!((&marks["mark_from"], &marks["mark_all"]), (&from.into(), &all.into()));
    }
    // 32 and 128 us of a channel of 100 Gb/s; or as parts of what buffers hold.
    for (buffers, from, all) in [(30_000, "32000 flits", "128000 flits"), (400, "600 flits", "2400 flits")] {
        let nic = told("kind = \"dcqcn-connectx\"", buffers, "");
        assert_eq!((&nic["mark_from"], &nic["mark_all"]), (&from.into(), &all.into()));
        assert_eq!((&nic["increase"], &nic["hyper_increase"]), (&"20 Mb/s".into(), &"200 Mb/s".into()));
    }
    // A packet and its acknowledgement of a flit take 2027 ns over four links and a switch, twice.
    let swift = told("kind = \"swift\"", 3000, "");
    assert_eq!((&swift["base_target"], swift["max_cwnd"].as_f64()), (&"2219 ns".into(), Some(93.0)));
    let nscc = told("kind = \"nscc\"\ntarget = \"1 us\"", 3000, "");
    assert_eq!(nscc["quick_adapt"], "4 us");
    let scaled = 4.0 * (2027.0 * 100.0 / 1.2e6) * (1.0 / 12.0);
    assert!((nscc["proportional_increase"].as_f64().unwrap() - scaled).abs() < 1e-9, "{nscc}");
    // One and a half round trips of what the endpoint takes.
    assert_eq!(told("kind = \"rccc\"", 3000, "")["outstanding"], "3041 flits");
    let both = told("kind = \"nscc+rccc\"\nnscc = { target = \"1 us\" }", 3000, "");
    assert_eq!(
        (&both["nscc.quick_adapt"], &both["rccc.outstanding"]),
        (&"4 us".into(), &"3041 flits".into())
    );
    let slow = "[endpoint]\ndrain_rate = \"50 Gb/s\"\n";
    assert_eq!(told("kind = \"rccc\"", 3000, slow)["outstanding"], "1539 flits");
}

#[test]
fn credit_goes_at_the_pace_of_the_endpoint() {
    let output = run(&switched("kind = \"rccc\"", 3000, "[endpoint]\ndrain_rate = \"50 Gb/s\"\n"));
    let all = number(&output, "t", "accepted_per_destination");
    assert!((all - 0.495).abs() < 0.002 && network_latency(&output) < 1300.0, "{all}");
}

#[test]
fn the_rates_that_sources_are_allowed_are_recorded() {
    let rates = |protocol: &str| {
        let output = run(&switched(&format!("kind = \"{protocol}\""), 3000, "[record]\ncontrol = true\n"));
        let told = output.summary["warnings"].to_string().contains("gives no orders");
        assert_eq!(told, protocol == "none", "{protocol}");
        let tailback_engine::report::Column::Real(rates) = column(&output, "rates", "rate") else {
            panic!("rates are numbers")
        };
        rates.clone()
    };
    for protocol in ["ecn", "dcqcn", "dcqcn-connectx", "swift", "hpcc", "nscc"] {
        let rates = rates(protocol);
        assert!(!rates.is_empty() && rates.iter().all(|rate| (0.0..=1.0).contains(rate)), "{protocol}");
        // In the end three share a channel: ECN swings, and what windows let through in an empty network is more than passes in a queue.
        let (last, least) = (rates.last().unwrap(), if protocol == "ecn" { 0.01 } else { 0.1 });
        assert!((least..0.9).contains(last), "{protocol}: {last}");
    }
    assert!(rates("none").is_empty(), "who never throttles has none");
}

/// Marks come where the queue takes as long as it would at the endpoints' own channels: the delay beyond that of the empty network is about
/// the target however slow the channel is.
#[test]
fn nscc_keeps_its_target_behind_slow_channels() {
    for part in [1.0, 0.25, 0.0625] {
        let rest = format!("[endpoint]\ndrain_rate = \"{} Gb/s\"\n", 100.0 * part);
        let text = switched("kind = \"nscc\"", 3000, &rest);
        let defaults = tailback_engine::run::describe(&read(&text)).unwrap();
        let target = defaults["congestion_control_default"]["target"].as_str().unwrap();
        let target: f64 = target.strip_suffix(" ns").unwrap().parse().unwrap();
        let output = run_with(&text, &[("run.warmup", "4 ms"), ("run.duration", "2 ms")]);
        // In the empty network a packet takes two links of 500 ns, and 24 ns on each channel or longer on the last.
        let queue = network_latency(&output) - 1025.0 - 24.0 / part;
        assert!((0.8 * target..1.2 * target).contains(&queue), "{part}: {queue} ns, aimed at {target}");
        let all = number(&output, "t", "accepted_per_destination");
        assert!(all > 0.99 * part, "{part}: {all}");
    }
}

/// Queues are as new after a silence, or when delays and cuts have worn off: then a rate is told once more, though nothing is sent.
#[test]
fn who_has_fallen_silent_is_allowed_all_again() {
    for protocol in
        ["ecn", "dcqcn\"\ntimer = \"2 us", "dcqcn-connectx\"\ntimer = \"1 us", "swift", "hpcc", "nscc"]
    {
        let text = switched(&format!("kind = \"{protocol}\""), 3000, "[record]\ncontrol = true\n");
        let output = run(&text.replace("load = 1.0", "load = 0.5\nstop = \"100 us\""));
        let tailback_engine::report::Column::Int(sources) = column(&output, "rates", "endpoint") else {
            panic!("endpoints are numbers")
        };
        let [rates, times] = ["rate", "time_ns"].map(|name| reals(&output, "rates", name));
        for source in 1..=3 {
            let last = sources.iter().rposition(|&other| other == source).expect(protocol);
            assert_eq!(rates[last], 1.0, "{protocol}: {source} at {} ns", times[last]);
            assert!((100e3..790e3).contains(&times[last]) && rates[last - 1] < 1.0, "{protocol}");
        }
    }
}

#[test]
fn keys_of_both_halves_are_told_in_their_tables_and_slow_increases_are_told() {
    let text = |protocol: &str, bandwidth: &str| {
        let links = format!("latency = \"500 ns\"\nbandwidth = \"{bandwidth}\"");
        let text = switched(protocol, 3000, "").replace("latency = \"500 ns\"", &links);
        assert!(text.contains(bandwidth), "{text}");
        text
    };
    let remarks = |protocol: &str, bandwidth: &str| {
        tailback_engine::run::remarks(&read(&text(protocol, bandwidth))).unwrap().join("\n")
    };
    let small = remarks("kind = \"nscc+rccc\"\nrccc = { quantum = \"4 flits\" }", "100 Gb/s");
    assert!(small.contains("congestion_control.rccc.quantum: 4 flits"), "{small}");
    let crossed = "kind = \"nscc+rccc\"\nnscc = { mark_from = \"90 flits\", mark_all = \"10 flits\" }";
    let Err(problems) = tailback_engine::run::read(&text(crossed, "100 Gb/s"), &[]) else {
        panic!("marks begin where all are marked")
    };
    assert_eq!(problems[0].path, "congestion_control.nscc.mark_from");
    // Whatever the units: a packet has 24 flits, and a cycle 1 ns.
    for (protocol, key) in [
        ("kind = \"dcqcn\"\nmark_from = \"2 packets\"\nmark_all = \"47 flits\"", "mark_from"),
        ("kind = \"ecn\"\ntable = [\"0 ns\", \"100 ns\", \"1 cycle\"]", "table"),
    ] {
        let problems = tailback_engine::run::read(&text(protocol, "100 Gb/s"), &[]).err().unwrap();
        assert_eq!(problems[0].path, format!("congestion_control.{key}"));
        let right = protocol.replace("47", "48").replace("1 cycle", "100 cycles");
        assert!(tailback_engine::run::read(&text(&right, "100 Gb/s"), &[]).is_ok(), "{right}");
    }
    let slow = "congestion_control.increase";
    assert!(remarks("kind = \"dcqcn\"", "400 Gb/s").contains("10.0 times as long"));
    assert!(!remarks("kind = \"dcqcn\"", "100 Gb/s").contains(slow));
    assert!(!remarks("kind = \"dcqcn\"\nincrease = \"400 Mb/s\"", "400 Gb/s").contains(slow));
}
