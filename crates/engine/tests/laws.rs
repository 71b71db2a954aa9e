//! Laws that hold for every topology, routing and protocol, whatever the load: nothing is lost, nothing is made twice,
//! nothing stops for ever. The engine itself checks that packets are conserved, and fails a run that breaks the law.
use crate::common::*;
use tailback_engine::report::{Column, Output};

/// Every endpoint offers all its channel takes, to all others.
const FULL: &str = "[[traffic]]\nname = \"full\"\npattern = \"uniform\"\nload = 1.0\nmessage = \"4 flits\"\n";

/// A hot spot three times what it can take, and the others' traffic beside it.
const HOT: &str = "[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 3\ndestinations = 1\nload = 1.0\n\
                   message = \"8 flits\"\n\
                   [[traffic]]\nname = \"victim\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.8\n\
                   message = { sizes = [\"4 flits\", \"60 flits\"], shares = [0.5, 0.5], by = \"volume\" }\n";

/// Switches with the smallest buffers.
const SMALL: &[&str] = &[
    "kind = \"cioq\"\ninput_buffer = \"2 packets\"\noutput_buffer = \"1 packet\"",
    "kind = \"input-queued\"\ninput_buffer = \"2 packets\"",
    "kind = \"output-queued\"\ninput_buffer = \"2 packets\"\noutput_buffer = \"1 packet\"",
    "kind = \"shared-buffer\"\ninput_buffer = \"2 packets\"",
    "kind = \"input-queued\"\ninput_buffer = \"1 packet\"\nvoq = false",
    "kind = \"shared-buffer\"\ninput_buffer = { per = \"port\", size = \"40 packets\", shared = true }",
];

/// Everything moves to the end: with the smallest buffers, data still arrives in the second `half` of a run.
fn moves(network: &str, routing: &str, protocol: &str, switch: &str, half: &str) {
    let protocol = suited(routing, protocol);
    for (traffic, classes) in [(FULL, &["full"][..]), (HOT, &["hot", "victim"])] {
        let times = format!("[run]\nwarmup = \"{half}\"\nduration = \"{half}\"\ndrain = \"0 us\"\n");
        let text = file(network, routing, protocol, &format!("[switch]\n{switch}\n{times}{traffic}"));
        let output = run(&text);
        for class in classes {
            let accepted = number(&output, class, "accepted");
            assert!(accepted > 0.0, "{class} accepts {accepted} in the end\n{text}");
        }
        assert!(
            number(&output, "all", "accepted_per_destination") <= 1.001,
            "more than the channels take\n{text}"
        );
        drops_are_allowed(&output, protocol);
    }
}

fn drops_are_allowed(output: &Output, protocol: &str) {
    let dropped = number(output, "all", "dropped_packets");
    assert!(dropped == 0.0 || drops(protocol), "{protocol} dropped {dropped} packets");
}

/// Sends bursts from everywhere at once, and waits until all is over.
fn bursts(network: &str, routing: &str, protocol: &str, message: &str, flits: u64, rest: &str) -> Output {
    let class = |name: &str, pattern: &str, start: u64| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = {pattern}\nshare = true\nprocess = \"one-shot\"\n\
             message = \"{message}\"\nstart = \"{start} ns\"\n"
        )
    };
    let hotspot = "\"hotspot\"\nsources = 4\ndestinations = 1";
    let mut rest = format!("{rest}\n[run]\nwarmup = \"0 us\"\nduration = \"2 us\"\ndrain = \"2 ms\"\n");
    for at in 0..6 {
        rest += &class(&format!("hot{at}"), hotspot, 20 * at);
        rest += &class(&format!("all{at}"), "\"uniform\"", 20 * at);
    }
    let text = file(network, routing, protocol, &rest);
    let output = run(&text);
    let packets = flits.div_ceil(24) as f64;
    for class in output.summary["classes"].as_object().unwrap().keys() {
        let messages = number(&output, class, "messages");
        assert!(messages > 0.0, "{class} sent nothing\n{text}");
        assert_eq!(number(&output, class, "packets"), messages * packets, "{class}\n{text}");
        assert_eq!(number(&output, class, "unfinished"), 0.0, "{class} did not arrive\n{text}");
        assert_eq!(arrived(&output, class, "packet"), messages * packets, "{class}\n{text}");
        assert_eq!(arrived(&output, class, "message"), messages, "{class}\n{text}");
    }
    drops_are_allowed(&output, protocol);
    let (dropped, resent) =
        (number(&output, "all", "dropped_packets"), number(&output, "all", "resent_packets"));
    let may_copy = protocol.contains("variant");
    assert!(resent <= dropped || may_copy, "{resent} of {dropped} dropped packets were sent again\n{text}");
    output
}

/// How many of a class arrived, by the histogram of a latency.
fn arrived(output: &Output, class: &str, latency: &str) -> f64 {
    let (Column::Text(classes), Column::Text(kinds), Column::Int(counts)) = (
        column(output, "histograms", "class"),
        column(output, "histograms", "latency"),
        column(output, "histograms", "count"),
    ) else {
        panic!("the histograms have other columns")
    };
    let rows = classes.iter().zip(kinds).zip(counts);
    rows.filter(|((of, kind), _)| *of == class && *kind == latency).map(|(_, count)| *count as f64).sum()
}

fn everything_arrives_once(network: &str, routing: &str, protocol: &str) -> f64 {
    let protocol = suited(routing, protocol);
    let mut dropped = 0.0;
    for (message, flits) in [("4 flits", 4), ("100 flits", 100)] {
        let endpoints = ["", "[endpoint]\nacknowledge = false", "[endpoint]\nqueues = \"fifo\""];
        let by_queue = per_destination(protocol) || routing.contains("flow-adaptive");
        let suited = if !by_queue { &endpoints[..] } else { &endpoints[..2] };
        let scheme: tailback_engine::protocol::CongestionControl = toml::from_str(protocol).unwrap();
        let echoes = scheme.scheme().needs_acknowledgements().is_some();
        for endpoint in suited.iter().filter(|endpoint| !echoes || !endpoint.contains("acknowledge")) {
            let output = bursts(network, routing, protocol, message, flits, endpoint);
            dropped += number(&output, "all", "dropped_packets");
        }
    }
    dropped
}

#[test]
fn no_load_stops_a_network_for_ever() {
    lists_are_complete();
    // Every routing on every network, and the protocols in turn.
    for (at, (network, routing)) in routed(NETWORKS).into_iter().enumerate() {
        moves(network, &routing, PROTOCOLS[at % PROTOCOLS.len()], SMALL[at / 2 % SMALL.len()], "8 us");
    }
}

#[test]
#[ignore = "long: the whole product"]
fn no_load_stops_any_network_under_any_protocol_for_ever() {
    each(&routed(NETWORKS), |(network, routing)| {
        for protocol in PROTOCOLS {
            SMALL.iter().for_each(|switch| moves(network, routing, protocol, switch, "8 us"));
        }
    });
}

#[test]
fn no_load_stops_any_kind_of_switch_under_any_protocol_for_ever() {
    for (at, switch) in SMALL.iter().enumerate().skip(1) {
        for (turn, protocol) in PROTOCOLS.iter().enumerate().filter(|(turn, _)| turn % 2 == at % 2) {
            let (network, routing) = &routed(FEW_NETWORKS)[turn % routed(FEW_NETWORKS).len()];
            moves(network, routing, protocol, switch, "3 us");
        }
    }
}

#[test]
fn every_message_is_delivered_exactly_once() {
    for (at, (network, routing)) in routed(FEW_NETWORKS).into_iter().enumerate() {
        everything_arrives_once(network, &routing, PROTOCOLS[at % PROTOCOLS.len()]);
    }
}

#[test]
fn every_message_is_delivered_exactly_once_through_every_kind_of_switch() {
    let mut dropped = [0.0; SMALL.len()];
    for (at, switch) in SMALL.iter().enumerate().skip(1) {
        for (turn, protocol) in PROTOCOLS.iter().enumerate() {
            let network = FEW_NETWORKS[(at + turn) % FEW_NETWORKS.len()];
            let output = bursts(
                network,
                "kind = \"minimal\"",
                protocol,
                "100 flits",
                100,
                &format!("[switch]\n{switch}"),
            );
            dropped[at] += number(&output, "all", "dropped_packets");
        }
    }
    assert!(dropped[1..].iter().all(|&packets| packets > 0.0), "a kind dropped nothing: {dropped:?}");
}

/// Two sources send one message of 70,000 packets each to one destination.
#[test]
fn messages_of_more_packets_than_16_bits_number_arrive_under_every_protocol() {
    for protocol in PROTOCOLS {
        let text = format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = 3\n[packet]\nmax = \"1 flits\"\n[routing]\nkind = \"minimal\"\n\
             [congestion_control]\n{protocol}\n[[traffic]]\nname = \"long\"\npattern = \"hotspot\"\nsources = [0, 1]\n\
             destinations = [2]\nprocess = \"one-shot\"\nmessage = \"70000 flits\"\n\
             [run]\nwarmup = \"0 us\"\nduration = \"1 us\"\ndrain = \"4 ms\"\n"
        );
        let output = run(&text);
        let of = |key| number(&output, "all", key);
        assert_eq!((of("packets"), of("unfinished"), of("messages")), (140_000.0, 0.0, 2.0), "{protocol}");
        assert_eq!(arrived(&output, "long", "packet"), 140_000.0, "{protocol}");
        // In order from each source on the only way, unless refused packets go again.
        let Column::Int(reordered) = column(&output, "classes", "reordered_packets") else {
            panic!("no count")
        };
        assert!(
            reordered.iter().all(|&packets| packets == 0) || drops(protocol),
            "{protocol}: {reordered:?}"
        );
    }
}

#[test]
fn packets_that_are_dropped_arrive_all_the_same() {
    // Of the coalescing variant nothing happens to be dropped in these bursts.
    for protocol in PROTOCOLS.iter().filter(|protocol| drops(protocol) && !protocol.contains("coalesce\"")) {
        let dropped = everything_arrives_once(FEW_NETWORKS[0], "kind = \"minimal\"", protocol);
        assert!(dropped > 0.0, "nothing was dropped under {protocol}");
    }
}

#[test]
#[ignore = "long: the whole product"]
fn every_message_is_delivered_exactly_once_in_any_network_under_any_protocol() {
    each(&routed(NETWORKS), |(network, routing)| {
        for protocol in PROTOCOLS {
            everything_arrives_once(network, routing, protocol);
        }
    });
}
