//! What a run tells, against what can be counted by hand.
use crate::common::*;
use tailback_engine::report::{Column, Output, RunError};

pub const NO_ACKS: &str = "[endpoint]\nacknowledge = false\n";
pub const SIX: &str = "kind = \"single-switch\"\nendpoints = 6";

pub fn one(protocol: &str, rest: &str) -> Output {
    run(&file(SIX, "kind = \"minimal\"", protocol, rest))
}

#[test]
fn stable_is_told_by_what_is_accepted() {
    for (load, stable) in [(0.3, true), (0.8, false)] {
        let output = one(
            "kind = \"none\"",
            &format!(
                "{NO_ACKS}[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 2], [1, 2]]\nload = {load}\nmessage = \"4 flits\"\n\
             [run]\nwarmup = \"5 us\"\nduration = \"20 us\"\ndrain = \"0 us\"\n"
            ),
        );
        assert_eq!(output.summary["stable"], stable, "{load}");
        assert_eq!(output.summary["classes"]["t"]["stable"], stable, "{load}");
    }
}

#[test]
fn bursts_are_no_change_of_the_traffic() {
    let warned = |seed: u64| {
        let output = one(
            "kind = \"none\"",
            &format!(
                "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.3\nprocess = {{ kind = \"on-off\", burst = \"64 packets\" }}\n\
                 message = \"4 flits\"\n[run]\nseed = {seed}\nduration = \"100 us\"\n"
            ),
        );
        assert_ne!(output.summary["stable"], false, "{seed}");
        usize::from(output.summary["warnings"] != serde_json::json!([]))
    };
    // Three standard errors are exceeded by 0.3 % of normal variables.
    assert_eq!((1..=20).map(warned).sum::<usize>(), 0);
}

#[test]
fn few_long_messages_do_not_tell_whether_they_are_all_taken() {
    // Sixteen sources, one destination, 40 us: two messages of 8 us at half of what it takes, or hundreds of a hundredth of that.
    let told = |message: &str, load: f64| {
        let traffic = format!(
            "{NO_ACKS}[[traffic]]\nname = \"t\"\npattern = \"hotspot\"\nsources = 16\ndestinations = 1\nload = {load}\nmessage = \"{message}\"\n\
             [run]\nwarmup = \"0 us\"\nduration = \"40 us\"\ndrain = \"0 us\"\n"
        );
        let output = run(&file(&SIX.replace('6', "17"), "kind = \"minimal\"", "kind = \"none\"", &traffic));
        output.summary["stable"].clone()
    };
    assert_eq!(told("100 kB", 0.5 / 16.0), serde_json::Value::Null);
    assert_eq!(told("1 kB", 2.0 / 16.0), false);
    assert_eq!(told("1 kB", 0.5 / 16.0), true);
}

/// Pairs of endpoints at a load of 0.6; two of the sources have the same destination.
fn two_of_many(pairs: usize, rest: &str) -> Output {
    let list = (0..pairs).map(|at| format!("[{at}, {}]", pairs + at.max(1)));
    let list = list.collect::<Vec<_>>().join(", ");
    let traffic = format!(
        "{NO_ACKS}[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [{list}]\nload = 0.6\nmessage = \"4 flits\"\n{rest}"
    );
    run(&file(&SIX.replace('6', &(2 * pairs).to_string()), "kind = \"minimal\"", "kind = \"none\"", &traffic))
}

#[test]
fn latency_that_grows_for_a_few_is_warned_of() {
    let output = two_of_many(64, "[run]\nduration = \"50 us\"\n");
    // They are 0.5 % of the traffic.
    assert_eq!(output.summary["stable"], true);
    assert!(output.summary["warnings"].to_string().contains("mean message latency goes from"));
    assert_eq!(output.summary["classes"]["t"]["message_latency_ns"]["mean_ci95"], serde_json::Value::Null);
}

#[test]
fn what_did_not_arrive_is_not_left_out_of_latencies() {
    let whole = two_of_many(64, "[run]\nduration = \"50 us\"\n");
    let cut = two_of_many(64, "[run]\nduration = \"50 us\"\ndrain = \"2 us\"\n");
    let missing = number(&cut, "t", "unfinished") / number(&cut, "t", "messages");
    assert!(missing > 0.003 && missing < 0.01, "{missing}");
    let both =
        |key: &str| [&whole, &cut].map(|output| number(output, "t", &format!("message_latency_ns.{key}")));
    // Those that arrived alone have a mean that is a fifth lower.
    let [mean, least] = both("mean");
    assert!(least <= mean && least > 0.85 * mean, "{mean} {least}");
    for key in ["p50", "p95", "p99"] {
        let [all, told] = both(key);
        assert!((told / all - 1.0).abs() < 0.02, "{key}: {all} {told}");
    }
    assert_eq!(cut.summary["classes"]["t"]["message_latency_ns"]["p999"], serde_json::Value::Null);
    let [largest, least] = both("max");
    assert!(least <= largest);
}

#[test]
fn a_quantile_is_more_than_the_largest_of_few() {
    let output = one(
        "kind = \"none\"",
        "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nprocess = \"one-shot\"\nmessage = \"4 flits\"\n\
         [run]\nwarmup = \"0 us\"\nduration = \"10 us\"\n",
    );
    let of = |key: &str| output.summary["classes"]["t"]["message_latency_ns"][key].clone();
    assert!(of("p50").is_number() && of("max").is_number());
    assert_eq!([of("p95"), of("p99"), of("p999")], [const { serde_json::Value::Null }; 3]);
}

#[test]
fn all_has_no_latency_where_a_class_has_none() {
    let output = one(
        "kind = \"none\"",
        &format!(
            "{NO_ACKS}[[traffic]]\nname = \"hot\"\npattern = \"list\"\npairs = [[0, 2], [1, 2]]\nload = 0.6\nmessage = \"1 kB\"\n\
             [[traffic]]\nname = \"rest\"\npattern = \"list\"\npairs = [[3, 4], [4, 5], [5, 3]]\nload = 0.9\nmessage = \"1 flit\"\n\
             [run]\nduration = \"20 us\"\ndrain = \"0 us\"\n"
        ),
    );
    let of = |class: &str| output.summary["classes"][class]["message_latency_ns"].clone();
    assert_eq!([&of("hot")["saturated"], &of("rest")["saturated"]], [true, false]);
    for class in ["hot", "rest"] {
        assert_eq!(
            of(class)["missing"],
            output.summary["classes"][class]["unfinished"],
            "messages that had not arrived"
        );
    }
    assert!(number(&output, "all", "unfinished") < 0.01 * number(&output, "all", "messages"));
    assert_eq!(of("all")["mean"], serde_json::Value::Null);
}

#[test]
fn the_last_bin_of_a_series_is_as_long_as_the_run() {
    let output = one(
        "kind = \"none\"",
        "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.5\nmessage = \"40 flits\"\n\
         [run]\nwarmup = \"0 us\"\nduration = \"41 us\"\n[record]\nseries = \"4 us\"\n",
    );
    let [offered, times] = ["offered", "time_ns"].map(|name| reals(&output, "series", name));
    let end = output.summary["simulated_ns"].as_f64().unwrap();
    let last = times.iter().position(|&time| time + 4000.0 > end).unwrap();
    assert!((end - times[last]) < 2000.0 && (0.3..0.8).contains(&offered[last]), "{end} {}", offered[last]);
}

#[test]
fn one_message_is_no_change_of_the_traffic() {
    let text = "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nprocess = \"one-shot\"\nmessage = \"400 flits\"\n\
                [run]\nwarmup = \"0 us\"\nduration = \"100 us\"\n";
    let output = one("kind = \"none\"", text);
    assert_eq!(number(&output, "t", "unfinished"), 0.0);
    assert_eq!(output.summary["warnings"], serde_json::json!([]));
}

#[test]
fn every_message_that_arrived_is_told_with_its_latency() {
    let text = format!(
        "{NO_ACKS}[packet]\nmax = \"24 flits\"\n[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 2], [1, 2]]\nload = 0.3\n\
         message = {{ sizes = [\"4 flits\", \"60 flits\"], shares = [0.5, 0.5] }}\nshare = true\n\
         [[traffic]]\nname = \"late\"\npattern = \"list\"\npairs = [[0, 1]]\nprocess = \"one-shot\"\nmessage = \"48 flits\"\n\
         start = \"30 us\"\nshare = true\n\
         [run]\nwarmup = \"0 us\"\nduration = \"40 us\"\ndrain = \"40 us\"\n[record]\nmessages = true\n"
    );
    let output = one("kind = \"none\"", &text);
    let ints = |name| match column(&output, "messages", name) {
        Column::Int(values) => values,
        _ => panic!("{name} holds no whole numbers"),
    };
    let Column::Text(classes) = column(&output, "messages", "class") else { panic!("names are words") };
    let [created, latency] = ["created_ns", "latency_ns"].map(|name| reals(&output, "messages", name));
    assert!(created.is_sorted() && classes.len() > 100);
    for class in ["t", "late"] {
        let of = |at: &usize| classes[*at] == class && created[*at] < 40_000.0;
        let own: Vec<usize> = (0..classes.len()).filter(of).collect();
        assert_eq!(own.len() as f64, number(&output, class, "messages"));
        let mean = own.iter().map(|&at| latency[at]).sum::<f64>() / own.len() as f64;
        assert!((mean - number(&output, class, "message_latency_ns.mean")).abs() < 1e-6);
    }
    let late = classes.iter().position(|class| class == "late").unwrap();
    assert_eq!(["source", "destination", "flits"].map(|name| ints(name)[late]), [0, 1, 48]);
    assert_eq!(created[late], 30_000.0);
    // Nothing is twice, and the sizes are those of the traffic.
    let mut known: Vec<_> = ints("source").iter().zip(ints("message")).collect();
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), classes.len());
    assert!(ints("flits").iter().all(|flits| [4, 48, 60].contains(flits)));
}

#[test]
fn long_bursts_hide_no_saturation() {
    for (burst, message) in
        [("10 MB", "\"4 flits\""), ("1 MB", "{ sizes = [\"1 flit\", \"24 flits\"], shares = [0.5, 0.5] }")]
    {
        let output = one(
            "kind = \"none\"",
            &format!(
                "[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[1, 0], [2, 0], [3, 0], [4, 0]]\nload = 0.5\n\
                 process = {{ kind = \"on-off\", burst = \"{burst}\" }}\nmessage = {message}\n[run]\nduration = \"50 us\"\n"
            ),
        );
        assert_eq!(output.summary["stable"], false, "{burst}: {}", output.summary["classes"]["t"]["offered"]);
    }
}

#[test]
fn quantiles_are_those_of_the_distribution() {
    let output = one(
        "kind = \"none\"",
        &format!(
            "{NO_ACKS}[packet]\nmax = \"24 flits\"\n[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 1]]\nload = 0.01\n\
         message = {{ sizes = [\"1 flit\", \"24 flits\"], shares = [0.92, 0.08] }}\n\
         [run]\nwarmup = \"0 us\"\nduration = \"500 us\"\ndrain = \"5 us\"\n"
        ),
    );
    let at = |key: &str| number(&output, "t", &format!("message_latency_ns.{key}"));
    // 22 ns, and 45 of 24 flits, but for the few that meet.
    assert!((at("p50") - 22.0).abs() < 0.5, "{}", at("p50"));
    for key in ["p95", "p99", "p999"] {
        assert!(at(key) > 44.0, "{key} {}", at(key));
    }
}

#[test]
fn messages_stand_in_the_bin_of_their_creation() {
    let output = one(
        "kind = \"none\"",
        &format!(
            "{NO_ACKS}[[traffic]]\nname = \"t\"\npattern = \"hotspot\"\nsources = [1, 2, 3]\ndestinations = [0]\nprocess = \"one-shot\"\n\
         message = \"1000 flits\"\n[run]\nwarmup = \"0 us\"\nduration = \"10 us\"\ndrain = \"0 us\"\n[record]\nseries = \"1 us\"\nsources = true\n"
        ),
    );
    assert_eq!(ints(&output, "series", "created")[..3], [3, 0, 0]);
    assert_eq!(ints(&output, "series", "messages")[..5], [3, 0, 0, 0, 0]);
    assert!(reals(&output, "series", "accepted")[2] > 0.3);
    let sources = reals(&output, "sources", "accepted");
    assert!(sources.iter().all(|&share| (share - 0.1).abs() < 1e-9), "{sources:?}");
}

/// What has not arrived counts with the age that it has, in every bin, and says nothing about how long it will take.
#[test]
fn a_bin_counts_what_is_missing_with_its_age() {
    let with = |drain: &str| {
        one(
            "kind = \"none\"",
            &format!(
                "{NO_ACKS}[[traffic]]\nname = \"t\"\npattern = \"hotspot\"\nsources = [1, 2, 3]\ndestinations = [0]\nload = 0.3\nmessage = \"100 flits\"\n\
                 [run]\nwarmup = \"0 us\"\nduration = \"20 us\"\ndrain = \"{drain}\"\n[record]\nseries = \"3 us\"\nmessages = true\n"
            ),
        )
    };
    let (cut, whole) = (with("0 us"), with("1 ms"));
    let end = cut.summary["simulated_ns"].as_f64().unwrap();
    let told = |output: &Output, name: &str| reals(output, "series", name).to_vec();
    let [bounds, means] = [&cut, &whole].map(|output| told(output, "message_latency_ns"));
    // Every message that will arrive, by when it was created.
    let [born, took] = ["created_ns", "latency_ns"].map(|name| reals(&whole, "messages", name).to_vec());
    let mut missing = 0;
    for (bin, start) in told(&cut, "time_ns").into_iter().enumerate() {
        let inside = (0..born.len()).filter(|&at| start <= born[at] && born[at] < end.min(start + 3000.0));
        let ages = Vec::from_iter(inside.map(|at| took[at].min(end - born[at])));
        let all = ages.len() as f64;
        assert_eq!(ints(&cut, "series", "created")[bin], ages.len() as i64);
        missing += ints(&cut, "series", "created")[bin] - ints(&cut, "series", "messages")[bin];
        assert!((bounds[bin] - ages.iter().sum::<f64>() / all).abs() < 1e-6, "{start}");
        assert!(start + 3000.0 > end || bounds[bin] <= means[bin] + 1e-6);
    }
    assert!(missing > 3);
    let packets = [&cut, &whole].map(|output| told(output, "packet_latency_ns"));
    assert!(packets[0][..6].iter().zip(&packets[1]).all(|(bound, mean)| bound <= mean));
}

/// A class that is called as all together are is these.
#[test]
fn a_lone_class_called_all_counts_once() {
    let [all, other] = ["all", "u"].map(|name| {
        let output = one(
            "kind = \"none\"",
            &format!(
                "{NO_ACKS}[[traffic]]\nname = \"{name}\"\npattern = \"uniform\"\nload = 0.3\nmessage = {{ sizes = [\"3 flits\", \"9 flits\"], shares = [0.5, 0.5] }}\n\
                 [run]\nwarmup = \"1 us\"\nduration = \"9 us\"\n[record]\nsources = true\nmessages = true\n"
            ),
        );
        let counts = ints(&output, "slowdowns", "messages").to_vec();
        (output, counts)
    });
    assert_eq!(all.1.iter().sum::<i64>(), ints(&all.0, "classes", "messages")[0]);
    assert_eq!(other.1.iter().sum::<i64>(), 2 * ints(&other.0, "classes", "messages")[0]);
    let [all, other] = [all.0, other.0].map(|output| reals(&output, "sources", "accepted").len());
    assert!(all == other && all > 0, "{all} and {other} sources");
}

#[test]
fn fairness_is_that_of_what_each_source_gets() {
    let class = |name: &str, source: u32, load: f64| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = [[{source}, 5]]\nshare = true\nload = {load}\n\
             process = \"periodic\"\nmessage = \"1 flit\"\n"
        )
    };
    let classes = [class("a", 0, 0.1), class("b", 1, 0.2), class("c", 2, 0.3)].concat();
    let rest = "[run]\nwarmup = \"1 us\"\nduration = \"10 us\"\n[record]\nsources = true\n";
    let output = one("kind = \"none\"", &format!("{NO_ACKS}{classes}{rest}"));
    let told = |class: &str| {
        ["fairness", "source_accepted_min", "source_accepted_max"].map(|key| number(&output, class, key))
    };
    let near = |found: [f64; 3], expected: [f64; 3]| {
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-3), "{found:?} {expected:?}");
    };
    near(told("a"), [1.0, 0.1, 0.1]);
    // Jain's index of 1, 2 and 3.
    near(told("all"), [36.0 / 42.0, 0.1, 0.3]);
    let quiet = one("kind = \"none\"", &format!("{NO_ACKS}{classes}[run]\nduration = \"10 us\"\n"));
    assert!(quiet.summary["classes"]["all"].get("fairness").is_none(), "told without having been recorded");
}

#[test]
fn pairs_tell_what_each_source_got_through_to_each_destination_over_time() {
    let class = |name: &str, pairs: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = {pairs}\nshare = true\nload = 0.4\nmessage = \"2 flits\"\n"
        )
    };
    let text = format!("{NO_ACKS}{}{}", class("a", "[[0, 5]]"), class("b", "[[1, 5], [2, 4]]"));
    let rest =
        "[run]\nwarmup = \"1 us\"\nduration = \"9 us\"\ndrain = \"0 us\"\n[record]\nseries = \"2 us\"\n";
    let with = one("kind = \"none\"", &format!("{text}{rest}pairs = \"2 us\"\n"));
    let without = one("kind = \"none\"", &format!("{text}{rest}"));
    assert_eq!(with.summary["checksum"], without.summary["checksum"], "what is recorded changes the run");
    assert!(without.tables.iter().all(|table| table.name != "pairs"), "told without having been recorded");
    let Column::Text(classes) = column(&with, "pairs", "class") else { panic!("words") };
    let times = reals(&with, "pairs", "time_ns");
    let [sources, destinations, flits] =
        ["source", "destination", "flits"].map(|name| ints(&with, "pairs", name));
    // Five bins, in each all three pairs, in order.
    assert_eq!(times.len(), 15);
    for at in 0..times.len() {
        let expected = [("a", 0, 5), ("b", 1, 5), ("b", 2, 4)][at % 3];
        assert_eq!((classes[at].as_str(), sources[at], destinations[at]), expected);
        assert_eq!(times[at], 2000.0 * (at / 3) as f64);
    }
    // Together they are what the series of their class says: a flit takes a nanosecond.
    let series = reals(&with, "series", "accepted");
    for bin in 0..5 {
        let [a, b, c] = [0, 1, 2].map(|pair| flits[3 * bin + pair] as f64);
        for (told, all) in [(a, 2000.0 * series[bin]), (b + c, 4000.0 * series[5 + bin])] {
            assert!(told > 400.0 && (told - all).abs() < 1e-6, "{told} flits, {all} in the series");
        }
    }
}

#[test]
fn what_is_recorded_counts_as_memory_of_the_run() {
    let outcome = |record: &str| {
        let traffic = "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.5\n[run]\nduration = \"50 us\"\nmemory = \"2 MB\"\n";
        let file = file(SIX, "kind = \"minimal\"", "kind = \"none\"", &format!("{traffic}{record}"));
        tailback_engine::run::run(&read_with(&file, &[]), &mut |_| true)
    };
    assert!(outcome("").is_ok());
    for record in ["occupancy = \"2 ns\"\nports = true", "packets = true", "series = \"1 ns\""] {
        let Err(RunError::Failed(told, _)) = outcome(&format!("[record]\n{record}\n")) else {
            panic!("{record}: nothing is told")
        };
        assert!(told.contains("over the limit of 2") && told.contains("recorded"), "{record}: {told}");
    }
}

#[test]
fn first_tries_of_lhrp_are_speculative() {
    let output = one(
        "kind = \"lhrp\"",
        "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.2\nmessage = \"4 flits\"\n[run]\nwarmup = \"0 us\"\nduration = \"10 us\"\n",
    );
    let [sent, packets] = ["speculative_packets", "packets"].map(|key| number(&output, "t", key));
    assert!(packets > 100.0 && (sent / packets - 1.0).abs() < 0.02, "{sent} of {packets}");
}

#[test]
fn snapshots_count_what_is_in_the_switch() {
    let output = one(
        "kind = \"none\"",
        &format!(
            "{NO_ACKS}[switch]\nkind = \"output-queued\"\ninput_buffer = \"5000 flits\"\noutput_buffer = \"5000 flits\"\n\
         [[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 5], [1, 5]]\nload = 1.0\nprocess = \"periodic\"\nmessage = \"24 flits\"\n\
         [run]\nwarmup = \"0 us\"\nduration = \"3 us\"\ndrain = \"0 us\"\n[record]\noccupancy = [\"2 us\"]\n"
        ),
    );
    // Two flits come in a flit time, and one goes.
    let held = ints(&output, "occupancy", "flits")[0];
    assert!((held - 2000).abs() < 60, "{held}");
    assert_eq!(ints(&output, "queues", "port"), [5]);
    assert!((ints(&output, "queues", "flits")[0] - held).abs() <= 48);
}

#[test]
fn what_nobody_receives_is_told_however_long_it_takes() {
    // The second rank computes until the message is there, or ends before it is.
    for (bytes, calc, expected) in [
        (
            100,
            10_000,
            "1 of 2 ranks ended with messages, sends or receives that have no partner, the first of them rank 1: messages that \
             it did not receive: 1, sends and receives that did not end: 0",
        ),
        (1, 0, "1 of 1 messages were under way when the last rank ended"),
        (5000, 0, "1 of 1 messages were under way when the last rank ended"),
    ] {
        let rest = format!(
            "[[job]]\nname = \"j\"\nworkload = \"goal\"\nranks = 2\ntext = \"\"\"\nnum_ranks 2\nrank 0 {{\nl1: send {bytes}b to 1 tag 0\n}}\n\
             rank 1 {{\nl1: calc {calc}\n}}\n\"\"\"\n[run]\nwarmup = \"0 us\"\nduration = \"1 ms\"\n"
        );
        let told =
            run(&file(SIX, "kind = \"minimal\"", "kind = \"none\"", &rest)).summary["warnings"].to_string();
        assert!(told.contains(expected), "{bytes} bytes: {told}");
    }
}

#[test]
fn a_link_is_told_what_the_rates_of_its_flows_take() {
    let text = file(
        SIX,
        "kind = \"minimal\"",
        "kind = \"none\"",
        "[endpoint]\nacknowledge = false\n[[job]]\nname = \"app\"\nworkload = \"phases\"\nranks = 6\nflows = \"list\"\nsize = \"1 kB\"\n\
         text = \"0 1\\n0 2\\n0 3\\n4 3\"\n[run]\nmodel = \"fluid\"\nduration = \"1 ms\"\n[record]\nports = true\n",
    );
    let output = run(&text);
    // 0 has a third for each, and 3 takes the other two of 4 too.
    let used = reals(&output, "links", "used").iter().zip([0.0, 1.0 / 3.0, 1.0 / 3.0, 1.0, 0.0, 0.0]);
    assert!(used.clone().all(|(told, part)| (told - part).abs() < 1e-9), "{used:?}");
}

#[test]
fn a_job_that_the_run_does_not_come_to_is_told_so() {
    let told = |start: &str| {
        let job = format!(
            "[[job]]\nname = \"j\"\nworkload = \"incast\"\nranks = 3\nstart = \"{start}\"\nmessage = \"1 MB\"\niterations = 9\n\
             [run]\nwarmup = \"0 us\"\nduration = \"100 us\"\n"
        );
        run(&file(SIX, "kind = \"minimal\"", "kind = \"none\"", &job)).summary["warnings"].to_string()
    };
    assert!(told("2 ms").contains("the job would start after the end of the run"), "{}", told("2 ms"));
    assert!(told("2 us").contains("run.duration is too short"), "{}", told("2 us"));
}

/// Seeds that differ in few bits, as those of a sweep do, once gave the same choices to other ports of a switch: the mean of all
/// sources was the same under each.
#[test]
fn seeds_one_after_the_other_are_runs_of_their_own() {
    let mean = |seed: u64| {
        let text = file(
            "kind = \"fat-tree\"\nlevels = 2\narity = 16",
            "kind = \"nca\"",
            "kind = \"none\"",
            &format!(
                "{NO_ACKS}[[traffic]]\nname = \"t\"\npattern = \"shift\"\nby = 16\nprocess = \"one-shot\"\nmessage = \"1 packet\"\n\
                 [run]\nseed = {seed}\nwarmup = \"0 us\"\nduration = \"1 us\"\ndrain = \"1 us\"\n"
            ),
        );
        number(&run(&text), "t", "message_latency_ns.mean")
    };
    let means: Vec<f64> = (0..16).map(mean).collect();
    let all = means.iter().sum::<f64>() / 16.0;
    let deviation = (means.iter().map(|mean| (mean - all).powi(2)).sum::<f64>() / 15.0).sqrt();
    // 0.9 ns under 16 seeds far apart.
    assert!((0.4..1.6).contains(&deviation), "{means:?}");
}

#[test]
fn only_connected_ports_have_times() {
    let rest = "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.2\nmessage = \"4 flits\"\n[run]\nwarmup = \"0 us\"\n\
                duration = \"1 us\"\n[record]\nports = true\n";
    let output = run(&file("kind = \"mesh\"\ndims = [3]", "kind = \"dor\"", "kind = \"none\"", rest));
    assert_eq!(ints(&output, "ports", "switch"), [0, 0, 1, 1, 1, 2, 2]);
}

/// How long traffic may drain is a limit: what has drained is at its end, whatever that is.
#[test]
fn a_long_drain_does_not_lengthen_a_run() {
    let ended = |drain: &str| {
        let rest = format!(
            "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.3\nmessage = \"4 flits\"\n\
             [run]\nwarmup = \"5 us\"\nduration = \"20 us\"\ndrain = \"{drain}\"\n"
        );
        let network = "kind = \"single-switch\"\nendpoints = 8";
        let output = run(&file(network, "kind = \"minimal\"", "kind = \"none\"", &rest));
        (output.summary["simulated_ns"].as_f64().unwrap(), output.summary["checksum"].clone())
    };
    let short = ended("10 us");
    assert!((25_000.0..25_500.0).contains(&short.0), "{short:?}");
    assert_eq!(short, ended("1 s"));
}

#[test]
fn the_table_of_classes_has_the_numbers_of_the_summary() {
    let rest = "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.3\nmessage = \"4 flits\"\nendpoints = \"rest\"\n\
                [[job]]\nname = \"j\"\nworkload = \"alltoall\"\nmessage = \"1 kB\"\nranks = 4\n\
                [run]\nwarmup = \"5 us\"\nduration = \"20 us\"\n";
    let output =
        run(&file("kind = \"single-switch\"\nendpoints = 8", "kind = \"minimal\"", "kind = \"none\"", rest));
    for (row, name) in words(&output, "classes", "class").iter().enumerate() {
        let summary = &output.summary["classes"][name];
        for column in ["backlog_growth", "backlog_growth_ci95"] {
            let told = reals(&output, "classes", column)[row];
            assert_eq!(
                summary.get(column).and_then(|value| value.as_f64()),
                Some(told).filter(|told| !told.is_nan())
            );
            assert_eq!(summary.get(column).is_none(), name == "j", "{name}");
        }
        for latency in ["network", "packet", "message"] {
            let told = ints(&output, "classes", &format!("{latency}_latency_missing"))[row];
            assert_eq!(summary[format!("{latency}_latency_ns")]["missing"].as_i64(), Some(told));
        }
    }
}
