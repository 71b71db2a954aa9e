//! What a result tells of ports, channels, endpoints and ranks, against what the packets of the same run show.
use crate::common::{self, ints, number, reals, run, run_with, words};
use tailback_engine::report::Output;
use tailback_engine::run;

/// A network of channels of 5 ns and packets of four flits of 1 ns.
fn small(network: &str, protocol: &str, rest: &str) -> String {
    format!(
        "[topology]\n{network}\n[link]\nlatency = \"5 ns\"\n[packet]\nmax = \"4 flits\"\n[routing]\nkind = \"minimal\"\n\
         [congestion_control]\n{protocol}\n{rest}"
    )
}

#[test]
fn a_port_that_leads_nowhere_is_no_channel() {
    let flows = "[endpoint]\nacknowledge = false\n[[traffic]]\nname = \"a\"\npattern = \"list\"\npairs = [[0, 1], [1, 0]]\n\
                 process = \"periodic\"\nload = 1.0\nmessage = \"4 flits\"\n[run]\nwarmup = \"1 us\"\nduration = \"2 us\"\n";
    for (network, class) in [
        ("kind = \"mesh\"\ndims = [2]", "x"),
        ("kind = \"dragonfly\"\np = 1\na = 1\nh = 4\ngroups = 2\nglobal_links = 1", "global"),
    ] {
        let output = run(&small(network, "kind = \"none\"", flows));
        assert_eq!(output.summary["channel_shares"][class]["data"], 1.0, "{network}");
    }
}

/// The times of the ports that did anything: sending, waiting for credit, and neither.
fn port_times(output: &Output) -> Vec<[f64; 3]> {
    let [active, stalled, idle] =
        ["active_ns", "stalled_ns", "idle_ns"].map(|name| reals(output, "ports", name));
    let all =
        active.iter().zip(stalled).zip(idle).map(|((&active, &stalled), &idle)| [active, stalled, idle]);
    all.filter(|[active, stalled, _]| active + stalled > 0.0).collect()
}

#[test]
fn the_times_of_a_port_end_with_the_run() {
    let text = small(
        "kind = \"mesh\"\ndims = [2]",
        "kind = \"none\"",
        "[endpoint]\ndrain_rate = \"1 Gb/s\"\n[[traffic]]\nname = \"a\"\npattern = \"list\"\npairs = [[0, 1]]\nload = 1.0\n\
         message = \"4 flits\"\n[run]\nwarmup = \"0 us\"\nduration = \"100 us\"\n[record]\nports = true\n",
    );
    let stopped = run::run(&common::read(&text), &mut |at| at.simulated.0 < 10_000_000).unwrap();
    let whole = stopped.summary["simulated_ns"].as_f64().unwrap();
    assert!(whole < 50_000.0, "{whole}");
    let ports = port_times(&stopped);
    assert!(ports.iter().any(|[_, stalled, _]| *stalled > whole / 2.0), "{ports:?}");
    for [active, stalled, idle] in ports {
        assert_eq!(active + stalled + idle, whole, "{active} {stalled} {idle}");
    }
}

#[test]
fn a_port_whose_packet_was_dropped_does_not_stall() {
    // Two sources for endpoint 1 of the other switch: what cannot go within 6 ns is dropped there.
    for switch in ["kind = \"input-queued\"", "kind = \"shared-buffer\""] {
        let text = small(
            "kind = \"mesh\"\ndims = [2]\nconcentration = 2",
            "kind = \"smsrp\"\ntime_to_wait = \"6 ns\"",
            &format!(
                "[switch]\n{switch}\ninput_buffer = \"1 packets\"\n[endpoint]\ndrain_rate = \"50 Gb/s\"\n\
                 [[traffic]]\nname = \"a\"\npattern = \"list\"\npairs = [[0, 2], [1, 2], [3, 2]]\nprocess = \"one-shot\"\n\
                 message = \"4 flits\"\n[run]\nwarmup = \"0 us\"\nduration = \"1 us\"\n[record]\nports = true\npackets = true\n"
            ),
        );
        let output = run(&text);
        assert!(number(&output, "a", "dropped_packets") > 0.0, "{switch}");
        // None waits longer than that in an input buffer, and there are no output queues.
        for [_, stalled, _] in port_times(&output) {
            assert!(stalled <= 6.0, "{switch}: {stalled} ns");
        }
    }
}

#[test]
fn a_source_holds_what_was_refused_until_it_is_sent_again() {
    let srp = |variant: &str| {
        format!("kind = \"srp\"\nn_min = \"0 flits\"\ntime_to_wait = \"1 ns\"\nvariant = \"{variant}\"")
    };
    for (protocol, flits) in [
        ("kind = \"lhrp\"\nthreshold = \"8 flits\"\nstops = \"message\"".to_string(), 4),
        ("kind = \"smsrp\"\ntime_to_wait = \"5 ns\"\nstops = \"message\"".to_string(), 4),
        (srp("default"), 40),
        (srp("in-order"), 40),
        (srp("fast-resend"), 40),
    ] {
        let rest = format!(
            "[[traffic]]\nname = \"a\"\npattern = \"list\"\npairs = [[1, 0], [2, 0], [3, 0]]\nprocess = \"periodic\"\n\
             load = 1.0\nmessage = \"{flits} flits\"\nstop = \"2 us\"\n[run]\nwarmup = \"0 us\"\nduration = \"20 us\"\n\
             [record]\npackets = true\n"
        );
        let output = run(&small("kind = \"single-switch\"\nendpoints = 4", &protocol, &rest));
        let held = (1..4).map(|source| held_at_most(&output, source)).max().unwrap();
        let told = output.summary["retransmission_buffer_peak_flits"].as_f64().unwrap();
        assert!(number(&output, "a", "dropped_packets") > 0.0, "{protocol}");
        assert_eq!(told, f64::from(4 * held), "{protocol}");
    }
}

/// Most packets that a source had sent speculatively, and neither known to have arrived nor sent again in a class that is never
/// dropped.
fn held_at_most(output: &Output, source: u32) -> u32 {
    let table = "packets";
    let [kinds, classes, from, to] =
        ["kind", "traffic_class", "from", "to"].map(|name| words(output, table, name));
    let [messages, sequences] = ["message", "sequence"].map(|name| ints(output, table, name));
    let [starts, tails] = ["start_ns", "tail_ns"].map(|name| reals(output, table, name));
    let own = format!("endpoint {source}");
    let mut events = Vec::new();
    for row in 0..kinds.len() {
        let packet = (messages[row], sequences[row]);
        match kinds[row].as_str() {
            "data" if from[row] == own => events.push((starts[row], classes[row] == "speculative", packet)),
            "ack" if to[row] == own => events.push((tails[row], false, packet)),
            _ => {}
        }
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut held, mut most) = (std::collections::BTreeSet::new(), 0);
    for (_, sent, packet) in events {
        if sent {
            held.insert(packet);
        } else {
            held.remove(&packet);
        }
        most = most.max(held.len() as u32);
    }
    most
}

#[test]
fn a_send_is_complete_when_its_last_flit_has_left_in_whatever_order_they_went() {
    // The first blocks of the message are granted times behind 4000 flits of another source; later ones go before.
    let text = small(
        "kind = \"single-switch\"\nendpoints = 3",
        "kind = \"srp\"\nn_min = \"0 flits\"\nn_max = \"16 packets\"\nmax_outstanding = 0\nreserves = \"with-first-packet\"",
        "[[traffic]]\nname = \"hot\"\npattern = \"list\"\npairs = [[2, 1]]\nprocess = \"one-shot\"\nmessage = \"4000 flits\"\n\
         share = true\n\
         [[job]]\nname = \"j\"\nworkload = \"goal\"\nranks = 2\nplacement = \"linear\"\nstart = \"1 us\"\nshare = true\n\
         mpi = { delay = \"0 ns\" }\n\
         text = \"\"\"\nnum_ranks 2\nrank 0 {\nl1: send 2500b to 1 tag 0\n}\nrank 1 {\nl1: recv 2500b from 0 tag 0\n}\n\"\"\"\n\
         [run]\nwarmup = \"0 us\"\nduration = \"100 us\"\n[record]\npackets = true\n",
    );
    let output = run_with(&text, &[]);
    let [from, kinds] = ["from", "kind"].map(|name| words(&output, "packets", name));
    let [starts, sequences] = [
        reals(&output, "packets", "start_ns").to_vec(),
        ints(&output, "packets", "sequence").iter().map(|&n| n as f64).collect(),
    ];
    // When each packet went first; a packet of four flits takes 4 ns.
    let mut first = std::collections::BTreeMap::<i64, f64>::new();
    for row in (0..kinds.len()).filter(|&row| from[row] == "endpoint 0" && kinds[row] == "data") {
        let at = first.entry(sequences[row] as i64).or_insert(f64::MAX);
        *at = at.min(starts[row]);
    }
    assert_eq!(first.len(), 50, "2500 bytes are 50 packets");
    let last = first.values().fold(0.0, |last: f64, &at| last.max(at));
    assert!(last > first[&49], "the last packet is not the last to go");
    let ranks = ints(&output, "ranks", "rank").iter().zip(reals(&output, "ranks", "time_ns"));
    let (_, &ended) = ranks.clone().find(|(rank, _)| **rank == 0).unwrap();
    assert_eq!(ended, last + 4.0 - 1000.0);
}

#[test]
fn packets_that_switches_make_go_minimally() {
    let text = "[topology]\nkind = \"dragonfly\"\np = 1\na = 2\nh = 2\ngroups = 5\n[link]\nlatency = \"5 ns\"\n[packet]\nmax = \"4 flits\"\n\
                [routing]\nkind = \"valiant\"\n[congestion_control]\nkind = \"lhrp\"\nthreshold = \"0 flits\"\n\
                [[traffic]]\nname = \"a\"\npattern = \"list\"\npairs = [[2, 0], [4, 0], [6, 0]]\nprocess = \"one-shot\"\n\
                message = \"40 flits\"\n[run]\nwarmup = \"0 us\"\nduration = \"20 us\"\n[record]\npackets = true\n";
    let output = run(text);
    let mut channels = std::collections::BTreeMap::<_, u32>::new();
    for (row, kind) in words(&output, "packets", "kind").iter().enumerate() {
        if kind == "nack" {
            let of = |name| ints(&output, "packets", name)[row];
            *channels.entry((of("destination"), of("message"), of("sequence"))).or_default() += 1;
        }
    }
    assert!(channels.len() > 10, "{channels:?}");
    // To the switch with the channel to the other group, to that group, to its switch, to the endpoint.
    assert!(channels.values().all(|&channels| channels <= 4), "{channels:?}");
}

/// With a threshold that its last switch never reaches LHRP drops nothing, and is told to be so; that of none given is in reach.
#[test]
fn a_threshold_that_buffers_do_not_reach_is_told() {
    let go = |threshold: &str| {
        let output = run(&format!(
            "[topology]\nkind = \"torus\"\ndims = [4, 4]\nconcentration = 2\n[link]\nlatency = \"50 ns\"\n[routing]\nkind = \"dor\"\n\
             [congestion_control]\nkind = \"lhrp\"\n{threshold}\n\
             [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 20\ndestinations = 1\nload = 0.5\nmessage = \"4 flits\"\n\
             [run]\nwarmup = \"0 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
        ));
        let warnings = output.summary["warnings"].to_string();
        (warnings.contains("congestion_control.threshold"), number(&output, "hot", "dropped_packets"))
    };
    let (told, dropped) = go("threshold = \"1200 flits\"");
    assert!(told && dropped == 0.0, "{told}, {dropped} dropped");
    for within in ["threshold = \"400 flits\"", ""] {
        let (told, dropped) = go(within);
        assert!(!told && dropped > 0.0, "{within}: {told}, {dropped} dropped");
    }
}

/// What ECN does by default goes by the length of packets: it frees others of a hot spot with short ones and with long ones.
#[test]
fn ecn_frees_the_others_of_a_hot_spot_by_default_whatever_the_length_of_packets() {
    for (packet, time) in [("24 flits", "100 us"), ("4 KiB", "1 ms")] {
        let accepted = ["none", "ecn"].map(|kind| {
            let output = run(&format!(
                "[topology]\nkind = \"fat-tree\"\nlevels = 2\narity = 8\n[link]\nlatency = \"20 ns\"\n[packet]\nmax = \"{packet}\"\n\
                 [routing]\nkind = \"nca\"\n[congestion_control]\nkind = \"{kind}\"\n\
                 [[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 16\ndestinations = 1\nload = 0.5\nmessage = \"16 packets\"\n\
                 [[traffic]]\nname = \"others\"\npattern = \"permutation\"\nendpoints = \"rest\"\nload = 0.4\nmessage = \"16 packets\"\n\
                 [run]\nwarmup = \"{time}\"\nduration = \"{time}\"\ndrain = \"0 us\"\n"
            ));
            number(&output, "others", "accepted")
        });
        assert!(accepted[0] < 0.3 && accepted[1] > 0.38, "{packet}: {accepted:?}");
    }
}
