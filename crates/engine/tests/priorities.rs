//! Traffic and jobs of several priorities: the urgent go first, strictly, and nothing else changes.
use crate::common::*;
use tailback_engine::report::Output;
use tailback_engine::scenario::Scenario;

/// A hot spot of low priority, and all to all at a high one, from and to the same endpoints.
const JAM: &str = "[[traffic]]\nname = \"bulk\"\npattern = \"hotspot\"\nsources = 5\ndestinations = 1\nload = 1.0\nmessage = \"24 flits\"\nshare = true\n\
[[traffic]]\nname = \"urgent\"\npattern = \"uniform\"\nload = 0.1\nmessage = \"4 flits\"\nshare = true\npriority = 3\n";

fn window(micros: u32) -> String {
    format!("[run]\nwarmup = \"20 us\"\nduration = \"{micros} us\"\ndrain = \"20 us\"\n")
}

#[test]
fn one_priority_is_as_none() {
    let text = file(FEW_NETWORKS[2], "kind = \"minimal\"", PROTOCOLS[3], &format!("{}{JAM}", window(20)));
    let [none, one] = ["0", "200"].map(|priority| {
        let same = text.replace("priority = 3\n", &format!("priority = {priority}\n"));
        result(&run(&same.replace("share = true\n[[", &format!("share = true\npriority = {priority}\n[["))))
    });
    assert_eq!(none, one);
}

/// Packets of one flit from 64 Bernoulli sources of equal load meet at an output. The urgent wait as if they were alone (Karol, Hluchyj
/// and Morgan 1987: (N − 1)/N · ρ / 2(1 − ρ)), since a packet takes one flit time; and what all wait together is what it would be without
/// priorities (Kleinrock's conservation law).
#[test]
fn waiting_at_an_output_is_the_closed_form_of_each_priority() {
    let alone = |n: f64, rho: f64| (n - 1.0) / n * rho / (2.0 * (1.0 - rho));
    for switch in ["output-queued", "shared-buffer"] {
        let class = |name: &str, sources: std::ops::Range<u32>, load: f64, priority: u32| {
            let sources = Vec::from_iter(sources);
            format!(
                "[[traffic]]\nname = \"{name}\"\npattern = \"hotspot\"\nsources = {sources:?}\ndestinations = [0]\nload_per_destination = {load}\n\
                 message = \"1 flit\"\nshare = true\npriority = {priority}\n"
            )
        };
        let rest = format!(
            "[switch]\nkind = \"{switch}\"\ninput_buffer = \"500 packets\"\n[packet]\nmax = \"1 flit\"\n[endpoint]\nacknowledge = false\n{}{}{}",
            window(3000),
            class("bulk", 1..49, 0.6, 0),
            class("urgent", 49..65, 0.2, 1)
        );
        let output =
            run(&file("kind = \"single-switch\"\nendpoints = 65", "kind = \"minimal\"", PROTOCOLS[0], &rest));
        let waited = |name| number(&output, name, "network_latency_ns.mean") - (10.0 + 1.0 + 10.0 + 1.0);
        let [bulk, urgent] = ["bulk", "urgent"].map(|name| number(&output, name, "accepted_per_destination"));
        let expected = alone(16.0, urgent);
        let all = (bulk + urgent) * alone(64.0, bulk + urgent);
        let rest = (all - urgent * expected) / bulk;
        for (name, expected) in [("urgent", expected), ("bulk", rest)] {
            let error = (waited(name) / expected - 1.0).abs();
            assert!(error < 0.03, "{switch}: {name} waited {}, not {expected}", waited(name));
        }
    }
}

fn largest(output: &Output, class: &str) -> f64 {
    number(output, class, "network_latency_ns.max")
}

/// Of one urgent packet at a time each channel and each crossbar keeps it waiting for no more than one packet that is under way. Without
/// priorities, or with the same, the tree of the hot spot does.
#[test]
fn urgent_packets_pass_a_saturated_tree_as_if_it_were_not_there() {
    let (network, one) = (FEW_NETWORKS[1], "kind = \"none\"");
    let lone = JAM
        .replace("load = 0.1", "endpoints = [0, 7]\nload = 0.01")
        .replace("sources = 5", "sources = [0, 1, 2, 3, 4]")
        .replace("destinations = 1", "destinations = [7]");
    for switch in SWITCHES {
        let text = file(
            network,
            "kind = \"nca\"\nup = \"deterministic\"",
            one,
            &format!("[switch]\n{switch}\n[endpoint]\nacknowledge = false\n{}{lone}", window(60)),
        );
        let output = run(&text);
        // Five switches: six channels of 10 ns, on each of which 24 flits may be under way, and in each switch 24 in its crossbar.
        let bound = 6.0 * (10.0 + 24.0) + 5.0 * 24.0 + 4.0;
        assert!(
            largest(&output, "urgent") <= bound,
            "{switch}: {} ns, at most {bound}",
            largest(&output, "urgent")
        );
        assert!(number(&output, "urgent", "messages") > 100.0);
        let equal = run(&text.replace("priority = 3\n", ""));
        assert!(number(&equal, "urgent", "unfinished") > 10.0, "{switch}: it passes without a priority too");
        let bulk = number(&output, "bulk", "accepted_per_destination");
        assert!(bulk > 0.97, "{switch}: what is left is the bulk's, but it had {bulk}");
    }
}

/// A long message is on its way when an urgent one is created: it goes between the packets of the long one.
#[test]
fn an_urgent_message_goes_between_the_packets_of_a_long_one() {
    let class = |name: &str, flits: u32, start: &str, priority: u32| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = [[0, 1]]\nprocess = \"one-shot\"\nmessage = \"{flits} flits\"\nstart = \"{start}\"\n\
             share = true\npriority = {priority}\n"
        )
    };
    for queues in ["per destination", "fifo"] {
        for (priority, latency) in [(1, 24.0 - 5.0 + 4.0 + 21.0), (0, 240.0 - 5.0 + 4.0 + 21.0)] {
            let rest = format!(
                "[endpoint]\nqueues = \"{queues}\"\nacknowledge = false\n[switch]\nkind = \"output-queued\"\n[run]\nwarmup = \"0 us\"\nduration = \"1 us\"\n{}{}",
                class("long", 240, "0 ns", 0),
                class("short", 4, "5 ns", priority)
            );
            let output = run(&file(
                "kind = \"single-switch\"\nendpoints = 2",
                "kind = \"minimal\"",
                PROTOCOLS[0],
                &rest,
            ));
            assert_eq!(
                number(&output, "short", "message_latency_ns.max"),
                latency,
                "{queues}, priority {priority}"
            );
            let long = 240.0 + 21.0 + if priority == 1 { 4.0 } else { 0.0 };
            assert_eq!(
                number(&output, "long", "message_latency_ns.max"),
                long,
                "{queues}, priority {priority}"
            );
        }
    }
}

/// Every message of every priority arrives once, under every scheme, in every switch.
#[test]
fn bursts_of_several_priorities_arrive() {
    let class = |at: u32, pattern: &str| {
        format!(
            "[[traffic]]\nname = \"{at}\"\npattern = {pattern}\nshare = true\nprocess = \"one-shot\"\nmessage = \"{} flits\"\nstart = \"{} ns\"\npriority = {}\n",
            20 + 13 * at,
            30 * at,
            at % 2
        )
    };
    let patterns = ["\"hotspot\"\nsources = 4\ndestinations = 1", "\"uniform\""];
    let bursts: String = (0..8).map(|at| class(at, patterns[at as usize / 2 % 2])).collect();
    for (turn, (network, routing)) in routed_at_once(FEW_NETWORKS).into_iter().enumerate() {
        for (at, protocol) in PROTOCOLS
            .iter()
            .filter(|protocol| knows_priorities(protocol))
            .enumerate()
            .skip(turn % 3)
            .step_by(3)
        {
            let switch = SWITCHES[(turn + at) % SWITCHES.len()];
            let rest = format!(
                "[switch]\n{switch}\n[run]\nwarmup = \"0 us\"\nduration = \"2 us\"\ndrain = \"2 ms\"\n{bursts}"
            );
            let text = file(network, &routing, protocol, &rest);
            let output = run(&text);
            for at in 0..8 {
                let [sent, left] =
                    ["messages", "unfinished"].map(|key| number(&output, &at.to_string(), key));
                assert!(sent > 0.0 && left == 0.0, "class {at}: {sent} sent, {left} unfinished\n{text}");
            }
        }
    }
}

/// What two senders offer with priority, and what two others offer three times as fast without. Schemes that schedule a destination or mark
/// at it know no priorities there, but never favour the others.
#[test]
fn the_bulk_gets_what_the_urgent_leave() {
    let class = |name: &str, sources: &str, load: f64, priority: u32| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"hotspot\"\nsources = {sources}\ndestinations = [0]\nload_per_destination = {load}\n\
             message = \"24 flits\"\npriority = {priority}\nshare = true\n"
        )
    };
    let loads = format!("{}{}", class("urgent", "[1, 2]", 0.5, 1), class("bulk", "[3, 4]", 1.5, 0));
    // CODES_CC throttles endpoints, whatever they send.
    let tried = |protocol: &&&str| knows_priorities(protocol) && !protocol.contains("codes-cc");
    for protocol in PROTOCOLS.iter().filter(tried) {
        let network = "kind = \"single-switch\"\nendpoints = 5";
        let output = run(&file(network, "kind = \"minimal\"", protocol, &format!("{}{loads}", window(60))));
        let served = |name| number(&output, name, "accepted") / number(&output, name, "offered");
        let (urgent, bulk) = (served("urgent"), served("bulk"));
        assert!(urgent >= bulk, "{protocol}: {urgent} of the urgent, {bulk} of the bulk");
        assert!(!protocol.contains("\"none\"") || urgent > 0.99, "{protocol}: {urgent}");
    }
}

/// A ring of ranks beside the traffic of others at the same endpoints, which fills every channel.
#[test]
fn an_urgent_job_runs_beside_bulk_traffic_as_if_it_were_alone() {
    let job = "[[job]]\nname = \"ring\"\nworkload = \"ring-exchange\"\nranks = 8\nmessage = \"2 kB\"\niterations = 20\nshare = true\n";
    let bulk = "[[traffic]]\nname = \"bulk\"\npattern = \"uniform\"\nload = 1.0\nmessage = \"240 flits\"\nshare = true\n";
    let took = |rest: &str| {
        let run = "[run]\nduration = \"2 ms\"\ndrain = \"0 us\"\n";
        let output = tailback(&format!("{run}{rest}"));
        output.summary["jobs"]["ring"]["time_ns"].as_f64().unwrap()
    };
    let (alone, equal) = (took(job), took(&format!("{job}{bulk}")));
    let urgent = took(&format!("{job}priority = 1\n{bulk}"));
    assert!(
        urgent < 1.5 * alone && equal > 3.0 * alone,
        "{alone} alone, {urgent} with priority, {equal} without"
    );
}

fn tailback(rest: &str) -> Output {
    run(&file(FEW_NETWORKS[1], "kind = \"nca\"", "kind = \"none\"", rest))
}

#[test]
fn what_knows_no_priorities_says_so() {
    let told = |text: &str| match Scenario::parse(text, &[]) {
        Ok(scenario) => tailback_engine::run::run(&scenario, &mut |_| true)
            .err()
            .map(|error| format!("{error:?}"))
            .unwrap_or_default(),
        Err(problems) => told(&problems),
    };
    let with =
        |routing, protocol| told(&file(FEW_NETWORKS[1], routing, protocol, &format!("{}{JAM}", window(1))));
    for protocol in PROTOCOLS.iter().filter(|protocol| !knows_priorities(protocol)) {
        assert!(
            with("kind = \"nca\"\nup = \"deterministic\"", protocol)
                .contains("tells no priorities from each other"),
            "{protocol}"
        );
    }
    assert!(
        with("kind = \"flow-adaptive\"", "kind = \"none\"")
            .contains("sets up its own route is of one priority")
    );
    let job = "[[job]]\nworkload = \"phases\"\nflows = \"permutations\"\nranks = 4\nsize = \"4 packets\"\nshare = true\n";
    let jobs = format!("[run]\nmodel = \"fluid\"\n{job}{job}priority = 1\n");
    let up = "kind = \"nca\"\nup = \"deterministic\"";
    let fluid = told(&file(FEW_NETWORKS[1], up, "kind = \"none\"", &jobs));
    assert!(fluid.contains("the fluid model tells no priorities"), "{fluid}");
    let third =
        "[[traffic]]\nname = \"third\"\npattern = \"uniform\"\nload = 0.1\nshare = true\npriority = 1\n";
    let srp = told(&file(
        FEW_NETWORKS[1],
        "kind = \"nca\"",
        "kind = \"smsrp\"",
        &format!("{}{JAM}{third}", window(1)),
    ));
    assert!(srp.contains("2 different priorities"), "{srp}");
}
