//! What is told of the operations of traces and of their messages.
use crate::common::*;
use crate::results::{NO_ACKS, SIX, one};
use tailback_engine::report::Output;

/// A trace of eager messages between six endpoints, without delays of the software.
fn trace(ranks: u32, text: &str, rest: &str) -> Output {
    one(
        "kind = \"none\"",
        &format!(
            "{NO_ACKS}[[job]]\nname = \"j\"\nworkload = \"goal\"\nranks = {ranks}\n\
             text = \"\"\"\nnum_ranks {ranks}\n{text}\"\"\"\n\
             mpi = {{ eager = \"1 GiB\", copy = \"1000 Tb/s\", overhead = \"0 ns\", delay = \"0 ns\" }}\n{rest}"
        ),
    )
}

#[test]
fn who_has_part_of_a_message_is_a_destination() {
    let pair = |from: u32, to: u32, bytes: u32| {
        format!(
            "rank {from} {{\nl1: send {bytes}b to {to} tag 0\n}}\nrank {to} {{\nl1: recv {bytes}b from {from} tag 0\n}}\n"
        )
    };
    let rest = "[run]\nwarmup = \"0 us\"\nduration = \"20 us\"\n";
    // Both channels are busy for a quarter of the time and all of it, and the second message does not arrive.
    let output = trace(4, &(pair(0, 1, 62_500) + &pair(2, 3, 10_000_000)), rest);
    assert_eq!(of_job(&output)["unfinished_ranks"], 2);
    let [accepted, received] = ["accepted", "accepted_per_destination"].map(|key| number(&output, "j", key));
    assert!((received - 0.625).abs() < 0.01 && accepted == received, "{accepted} {received}");
}

fn of_job(output: &Output) -> &serde_json::Value {
    &output.summary["jobs"]["j"]
}

/// Three ranks send to one, and ask first: latencies and the slowdown are those of the data, the sources are those that send them.
#[test]
fn requests_and_answers_have_no_latency_no_slowdown_and_no_share() {
    let text = "[[job]]\nname = \"j\"\nworkload = \"incast\"\nranks = 4\nmessage = \"100 kB\"\niterations = 1\n\
                [run]\nduration = \"1 ms\"\n[record]\nmessages = true\nsources = true\n";
    let output = one("kind = \"none\"", text);
    let kinds = words(&output, "messages", "kind");
    let count = |kind: &str| kinds.iter().filter(|own| *own == kind).count();
    assert_eq!((count("data"), count("control")), (3, 6), "a request and an answer for each");
    let flits = ints(&output, "messages", "flits");
    assert!(flits.iter().zip(kinds).all(|(&flits, kind)| (flits == 8000) == (kind == "data")));
    // The three share the channel, so that the last is nearly three times as late.
    let took = reals(&output, "messages", "latency_ns").iter().zip(kinds);
    let of_data = Vec::from_iter(took.filter(|(_, kind)| *kind == "data").map(|(took, _)| *took));
    assert_eq!((number(&output, "j", "messages"), number(&output, "j", "unfinished")), (3.0, 0.0));
    assert_eq!(number(&output, "j", "message_latency_ns.mean"), of_data.iter().sum::<f64>() / 3.0);
    let slowdown = number(&output, "j", "message_slowdown.max");
    assert!((2.9..3.01).contains(&slowdown), "{slowdown}");
    let shares = reals(&output, "sources", "accepted");
    assert_eq!((shares.len(), number(&output, "j", "source_accepted_min")), (3, shares[0]));
    assert!(number(&output, "j", "fairness") > 0.999_999);
}

#[test]
fn all_at_once_is_not_one_after_the_other() {
    let time = |how: &str| {
        let text = file(
            SIX,
            "kind = \"minimal\"",
            "kind = \"none\"",
            &format!(
                "[[job]]\nname = \"j\"\nworkload = \"alltoall\"\nranks = 6\nmessage = \"100 B\"\niterations = 1\n\
             mpi = {{ alltoall = \"{how}\", delay = \"1 us\" }}\n[run]\nwarmup = \"0 us\"\nduration = \"1 ms\"\n"
            ),
        );
        run(&text).summary["jobs"]["j"]["time_ns"].as_f64().unwrap()
    };
    let (once, pairs) = (time("at-once"), time("pairwise"));
    assert!(once < 0.5 * pairs, "{once} {pairs}");
}

#[test]
fn the_mean_of_an_operation_is_of_all_ranks() {
    let text = file(
        SIX,
        "kind = \"minimal\"",
        "kind = \"none\"",
        "[[job]]\nname = \"it\"\nworkload = \"fixed-pairs\"\nranks = 2\nsynchronise = true\nmessage = \"1 kB\"\niterations = 1\n\
         mpi = { barrier = \"1 us\", overhead = \"0 ns\" }\n[run]\nwarmup = \"0 us\"\nduration = \"1 ms\"\n",
    );
    let output = run(&text);
    let barrier = &output.summary["jobs"]["it"]["operations"]["barrier"];
    // Who comes last waits 1 us.
    let [mean, most] = ["mean_ns", "max_ns"].map(|key| barrier[key].as_f64().unwrap());
    assert!(most > 1000.0);
    assert_eq!(mean, (1000.0 + most) / 2.0);
    let kinds = words(&output, "operations", "operation");
    let row = kinds.iter().position(|kind| kind == "barrier").unwrap();
    assert_eq!(reals(&output, "operations", "total_ns")[row], 1000.0 + most);
}

#[test]
fn copying_costs_its_time() {
    let time = |copy: &str, message: &str| {
        let text = file(
            SIX,
            "kind = \"minimal\"",
            "kind = \"none\"",
            &format!(
                "[[job]]\nname = \"j\"\nworkload = \"ring-exchange\"\nranks = 4\nmessage = \"{message}\"\niterations = 1\nstart = \"1 us\"\n\
             mpi = {{ copy = \"{copy}\", eager = \"1 GB\" }}\n[run]\nwarmup = \"0 us\"\nduration = \"10 ms\"\n"
            ),
        );
        run(&text).summary["jobs"]["j"]["time_ns"].as_f64()
    };
    assert!(time("1 Gb/s", "8 kB").unwrap() > time("100 Gb/s", "8 kB").unwrap() + 60_000.0);
    // Longer than any time that can be told.
    assert_eq!(time("1 b/s", "3 MB"), None);
}
