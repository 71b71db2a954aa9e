//! VEF traces: read, run, and every malformed one told.
use crate::common::{FEW_NETWORKS, file, read as scenario};
use proptest::prelude::*;
use serde_json::Value;
use tailback_engine::report::{Output, RunError};
use tailback_engine::scenario::Scenario;
use tailback_engine::workload::vef::read;

/// Two tasks that play ping-pong and two that only take part in the collective operations: one of each kind.
fn every_operation() -> String {
    let mut body = "7 0 1 5000 0 100 -1\n8 1 0 20000 2 50 7\n9 0 1 64 2 0 8\n11 0 1 64 1 10 9\n".to_string();
    for operation in 0..8 {
        for task in 0..4 {
            let (send, receive) = match (operation, task) {
                (0, 2) => (1000, 0),
                (1, 2) => (0, 1000),
                (3, 2) => (0, 3000),
                (4, 2) => (3000, 0),
                (0 | 4, _) => (0, 1000),
                (1 | 3, _) => (1000, 0),
                (2 | 5, _) => (700, 700),
                (7, _) => (900, 0),
                _ => (0, 0),
            };
            let when = match (operation, task) {
                (0, 0) => "1 20 9".to_string(),
                (0, _) => "0 0 -1".to_string(),
                (_, 3) => format!("3 5 {}", operation - 1),
                _ => format!("3 5 G{}", operation - 1),
            };
            body += &format!("G{operation} 0 {operation} {task} {send} {receive} {when}\n");
        }
    }
    format!("VEF2 4 4 1 8 32 FALSE\nC0 0 1 2 3\n{body}")
}

fn run(text: &str, changes: &str) -> Output {
    let job = format!(
        "[[job]]\nname = \"trace\"\nworkload = \"vef\"\ntext = {}\n{changes}\n[run]\nduration = \"20 ms\"\n",
        Scenario::quoted(text)
    );
    let text = file(FEW_NETWORKS[2], "kind = \"minimal\"", "kind = \"none\"", &job);
    tailback_engine::run::run(&scenario(&text), &mut |_| true).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn every_kind_of_record_is_run_to_its_end() {
    let output = run(&every_operation(), "");
    let job = &output.summary["jobs"]["trace"];
    assert_eq!((&job["ranks"], &job["unfinished_ranks"]), (&Value::from(4), &Value::from(0)));
    assert_eq!(job["messages"], job["delivered_messages"]);
    assert_eq!(output.summary["warnings"], Value::Array(vec![]));
    // Messages of 4 tasks: those of the trace; broadcast, reduction, allreduce, gather, scatter, allgather (two rounds), barrier (two
    // rounds), all-to-all.
    let expected = 4 + 3 + 3 + 8 + 3 + 3 + 8 + 8 + 12;
    assert_eq!(job["messages"], Value::from(expected));
    // One of those of the trace asks first, if it is said to, and is answered.
    let asking = run(&every_operation(), "mpi = { eager = \"8 KiB\" }");
    assert_eq!(asking.summary["jobs"]["trace"]["messages"], Value::from(expected + 2));
}

#[test]
fn a_message_of_a_trace_costs_its_way_alone() {
    let output = run("VEF 2 1 0 0 0 TRUE\n0 0 1 65536 0 0 -1\n", "");
    let job = &output.summary["jobs"]["trace"];
    assert_eq!(job["messages"], Value::from(1));
    // 5,243 flits of 100 bits at 1 ns each, and the way of the first.
    let time = job["time_ns"].as_f64().unwrap();
    assert!(time > 5243.0 && time < 5400.0, "{time}");
}

/// Each of two tasks sends a message to the other: the receives are posted before, and cost the processor nothing.
#[test]
fn the_receive_of_a_message_of_a_trace_is_posted_in_advance() {
    let time = |mpi: &str| {
        let output = run("VEF 2 2 0 0 0 TRUE\n0 0 1 8 0 0 -1\n1 1 0 8 0 0 -1\n", mpi);
        output.summary["jobs"]["trace"]["time_ns"].as_f64().unwrap()
    };
    assert_eq!(time("mpi = { overhead = \"1 us\" }"), time("") + 1000.0);
}

#[test]
fn times_are_those_of_the_trace() {
    let end = |text: &str| {
        let output = run(text, "");
        output.summary["jobs"]["trace"]["time_ns"].as_f64().unwrap()
    };
    let none = end("VEF 2 0 0 0 0 TRUE\n");
    let late = end("VEF 2 1 0 0 0 TRUE\n0 0 1 8 0 5000 -1\n");
    let twice = end("VEF 2 2 0 0 0 FALSE\n0 0 1 8 0 5000 -1\n1 1 0 8 2 3000 0\n");
    assert_eq!(none, 0.0);
    assert!(late > 5000.0 && late < 5500.0, "{late}");
    assert!((twice - 2.0 * late + 2000.0).abs() < 1.0, "{twice} after {late}");
}

/// A message at 1 ms, and an answer 1 ms after it has come: each task computes for a millisecond.
#[test]
fn the_times_between_records_are_computing() {
    let output = run("VEF 2 2 0 0 0 FALSE\n0 0 1 1250 0 1000000 -1\n1 1 0 1250 2 1000000 0\n", "");
    let job = &output.summary["jobs"]["trace"];
    let communication = job["communication_ns"]["mean"].as_f64().unwrap();
    assert!((1_000_000.0..1_010_000.0).contains(&communication), "{job}");
    assert_eq!(
        (&job["operations"]["compute"]["count"], &job["operations"]["compute"]["mean_ns"]),
        (&2.into(), &1e6.into())
    );
}

/// The root of a broadcast may tell what it sends to all the others, or to all.
#[test]
fn the_root_of_a_broadcast_may_tell_the_total() {
    let broadcast = |root: u64| {
        let others: String = (1..4).map(|task| format!("G0 0 0 {task} 0 1600 0 0 -1\n")).collect();
        check(&format!("VEF 4 0 1 1 4 FALSE\nC0 0 1 2 3\nG0 0 0 0 {root} 0 0 0 -1\n{others}"), "")
    };
    for root in [0, 1600, 4800, 6400] {
        assert_eq!(broadcast(root), Vec::<String>::new(), "{root}");
    }
    assert!(broadcast(3200)[0].contains("in a broadcast of 3200 B"), "{:?}", broadcast(3200));
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let with = |lines: &str| format!("VEF 2 1 1 0 0 FALSE\nC0 0 1\n{lines}");
    let group = |lines: &str| format!("VEF 2 0 1 1 2 FALSE\nC0 0 1\n{lines}");
    let table = [
        (String::new(), "1: the trace is empty, or was not read"),
        ("VAF 1 0 0 0 0 TRUE".into(), "1: this is no VEF trace"),
        ("VEF 1 0 0 0".into(), "1: the line is cut off"),
        ("VEF 0 0 0 0 0 TRUE".into(), "1: a trace of 0 tasks"),
        ("VEF 4000000000 0 0 0 0 TRUE".into(), "1: a trace of 4000000000 tasks"),
        ("VEF 1 0 0 0 0 MAYBE".into(), "1: \"MAYBE\" is neither TRUE nor FALSE"),
        ("VEF 1 0 0 0 0 TRUE more".into(), "1: \"more\" stands behind the end of the line"),
        ("VEF 1 2 0 0 0 TRUE\n0 0 0 1 0 0 -1".into(), "2: there are 1 messages, but the header says 2"),
        ("VEF 2 0 1 0 0 TRUE\nC1 0".into(), "2: unexpected communicator C1"),
        ("VEF 2 0 1 0 0 TRUE\nC0 0 2".into(), "2: there is no task 2"),
        ("VEF 2 0 1 0 0 TRUE\nC0 1 1".into(), "2: task 1 stands twice"),
        (with("0 0 5 8 0 0 -1"), "3: there is no task 5"),
        (with("0 0 1 -8 0 0 -1"), "3: \"-8\" is no such number"),
        (with("0 0 1 8 4 0 -1"), "3: a dependency of the kind 4"),
        (with("0 0 1 8 1 0 3"), "3: there is no message 3"),
        (with("0 0 1 8 2 0 0"), "3: task 0 waits for message 0, which is received by task 1"),
        (with("0 0 1 8 3 0 0"), "3: there is no collective operation 0"),
        (with("0 0 1 8 3 0 G0"), "3: there is no collective operation 0"),
        (with("0 0 1 8 1 0 G0"), "3: \"G0\" is no such number"),
        (with("0 0 1 8 0 0 7"), "3: 7 is named, but nothing is waited for (dep is 0)"),
        (with("0 0 1 8 0 0 -1\nmore"), "4: \"more\" is no such number"),
        (with("0 0 1 8 0 0 -1\n\0\0"), "4: \"\0\0\" is no such number"),
        (with("0 0 1 8 1 0 0"), "3: this waits for itself"),
        (with("0 0 1 8 0 0 -1\n0 0 1 8 0 0 -1"), "4: there are two messages 0"),
        (with("Gx 0 0 0 0 0 0 0 -1"), "3: \"Gx\" is no collective operation"),
        (with("\u{a0}G0 0 0 0 0 0 0 0 -1"), "3: \"\u{a0}G0\" is no collective operation"),
        (
            "VEF 2 1 0 0 0 TRUE\n0 0 1 8 2 0 0".into(),
            "2: a dependency of the kind 2, but the header says that there are none",
        ),
        (group("G0 1 6 0 0 0 0 0 -1"), "3: there is no communicator 1"),
        (group("G0 0 8 0 0 0 0 0 -1"), "3: there is no operation 8"),
        (group("G0 0 6 0 0 0 0 0 -1\nG0 0 6 0 0 0 0 0 -1"), "4: task 0 takes part twice"),
        (
            "VEF 3 0 2 1 2 FALSE\nC0 0 1 2\nC1 0 1\nG0 1 6 0 0 0 0 0 -1\nG0 1 6 2 0 0 0 0 -1".into(),
            "5: task 2 is not of communicator 1",
        ),
        (
            "VEF 3 0 1 1 2 FALSE\nC0 2 1 0\nG0 0 6 0 0 0 0 0 -1\nG0 0 6 2 0 0 0 0 -1".into(),
            "3: 2 tasks take part in an operation of 3, and task 1 does not",
        ),
        (
            group("G0 0 6 0 0 0 0 0 -1\nG0 0 5 1 0 0 0 0 -1"),
            "4: the lines of G0 do not name the same operation",
        ),
        (
            group("G0 0 6 0 0 0 0 0 -1"),
            "3: there are 1 lines of collective operations, but the header says 2",
        ),
    ];
    for (text, expected) in table {
        let job = format!("[[job]]\nname = \"it\"\nworkload = \"vef\"\ntext = {}\n", Scenario::quoted(&text));
        let file = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
        let problems = tailback_engine::run::check(&scenario(&file));
        let expected = format!("job.it.text: line {expected}");
        assert!(
            problems.len() == 1 && problems[0].to_string().starts_with(&expected),
            "{text}\n{problems:?}\n{expected}"
        );
    }
}

#[test]
fn an_allgather_of_different_sizes_is_noted_for_the_largest_is_taken() {
    let text = "VEF 2 0 1 1 2 TRUE\nC0 0 1\nG0 0 5 0 300 500 0 0 -1\nG0 0 5 1 200 500 0 0 -1\n";
    let output = run(text, "");
    assert_eq!(output.summary["jobs"]["trace"]["bytes"], 600);
    let note = "job \"trace\": 1 of its allgathers, the first in line 3, has tasks of different sizes: the largest is taken for all";
    assert_eq!(output.summary["warnings"], serde_json::json!([note]));
}

#[test]
fn an_all_to_all_in_vector_form_is_noted_for_it_does_not_tell_all() {
    let text = "VEF 2 0 1 1 2 TRUE\nC0 0 1\nG0 0 7 0 300 1 0 0 -1\nG0 0 7 1 200 1 0 0 -1\n";
    let output = run(text, "");
    assert_eq!(output.summary["jobs"]["trace"]["bytes"], 250);
    let note = "job \"trace\": 1 of its all-to-alls, the first in line 3, tells only how much each task sends in all: \
                it goes to all tasks in equal parts";
    assert_eq!(output.summary["warnings"], serde_json::json!([note]));
}

fn check(text: &str, changes: &str) -> Vec<String> {
    let job =
        format!("[[job]]\nname = \"it\"\nworkload = \"vef\"\ntext = {}\n{changes}\n", Scenario::quoted(text));
    let file = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
    tailback_engine::run::check(&scenario(&file)).iter().map(|problem| problem.to_string()).collect()
}

#[test]
fn a_message_that_cannot_be_sent_is_told_with_its_line_before_the_run() {
    let told = |text: &str| check(text, "").join("\n");
    let expected =
        "a message of 3000000000 B, but one of at most 2516582100 B can be sent with packets of 24 flits";
    let message = told("VEF 2 2 0 0 0 TRUE\n0 0 1 8 0 0 -1\n1 1 0 3000000000 0 0 -1\n");
    assert!(message.starts_with(&format!("job.it.text: line 3: {expected}")), "{message}");
    // Of a collective operation, what it is cut into.
    let text = "VEF 2 0 1 1 2 TRUE\nC0 0 1\nG0 0 7 0 3000000000 0 0 0 -1\nG0 0 7 1 3000000000 0 0 0 -1\n";
    assert!(told(text).starts_with(&format!("job.it.text: line 3: {expected}")), "{}", told(text));
    // Sizes that no number holds once they are put together.
    let most = u64::MAX;
    let mut text = "VEF 4 0 1 1 4 TRUE\nC0 0 1 2 3\n".to_string();
    (0..4).for_each(|task| text += &format!("G0 0 5 {task} {most} {most} 0 0 -1\n"));
    let told = check(&text, "mpi = { allgather = \"bruck\" }").join("\n");
    assert!(told.starts_with("job.it.text: line 3: a message of 18446744073709551615 B, but"), "{told}");
}

/// A barrier, and an all-to-all of all tasks.
fn all_to_all(tasks: usize) -> String {
    let mut text = format!("VEF {tasks} 0 1 2 {} TRUE\nC0", 2 * tasks);
    (0..tasks).for_each(|task| text += &format!(" {task}"));
    for (id, operation) in [6, 7].into_iter().enumerate() {
        (0..tasks).for_each(|task| text += &format!("\nG{id} 0 {operation} {task} 0 0 0 0 -1"));
    }
    text
}

#[test]
fn a_trace_whose_messages_take_more_memory_than_the_run_may_is_told_before_they_are_made() {
    let told = check(&all_to_all(300), "[run]\nmemory = \"4 MB\"");
    let expected =
        "job.it.text: line 303: the 2 collective operations of the trace are cut into 92400 messages";
    assert!(told[0].starts_with(expected), "{told:?}");
    assert!(told[0].contains("MB, over the limit of 4 MB ([run] memory)"), "{told:?}");
    // Without a limit of the scenario's own, ours holds.
    let told = check(&all_to_all(20_000), "");
    assert!(told[0].contains("are cut into 400280000 messages"), "{told:?}");
}

#[test]
fn a_run_counts_what_its_traces_hold() {
    let mut text = "VEF 2 20000 0 0 0 TRUE\n".to_string();
    (0..20_000).for_each(|id| text += &format!("{id} 0 1 8 0 0 -1\n"));
    let job = format!("[[job]]\nname = \"it\"\nworkload = \"vef\"\ntext = {}\n", Scenario::quoted(&text));
    let file = |memory: &str| {
        let run = format!("{job}[run]\nmemory = \"{memory}\"\n");
        scenario(&file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &run))
    };
    let told = tailback_engine::run::check(&file("2 MB"))[0].to_string();
    assert!(told.starts_with("run.memory: the traces of the jobs hold"), "{told}");
    assert!(tailback_engine::run::check(&file("5 MB")).is_empty());
    // What ranks keep of their operations while they run comes on top.
    let failed = tailback_engine::run::run(&file("5 MB"), &mut |_| true).unwrap_err();
    let told = format!("{failed:?}");
    assert!(
        told.contains("over the limit of 5.00 MB ([run] memory)") && told.contains("MB are what jobs hold"),
        "{told}"
    );
}

#[test]
fn messages_that_wait_are_told_with_their_peers_and_sizes() {
    // By the trace, task 2 is behind the reduction when it has sent its part; but before that it passes on the part of task 3.
    let text = "VEF 4 1 1 1 4 FALSE\nC0 0 1 2 3\n0 2 3 64 3 0 G0\nG0 0 1 0 0 8 0 0 -1\n\
                G0 0 1 1 8 0 0 0 -1\nG0 0 1 2 8 0 0 0 -1\nG0 0 1 3 8 0 2 0 0\n";
    let job = format!("[[job]]\nworkload = \"vef\"\ntext = {}\n", Scenario::quoted(text));
    let file = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
    let Err(RunError::Failed(told, _)) = tailback_engine::run::run(&scenario(&file), &mut |_| true) else {
        panic!("it ran")
    };
    let expected = "\n  rank 0: 3 of its operations: receive of 8 B from rank 2, message 1 between the two\
                    \n  rank 2: 6 of its operations: receive of 8 B from rank 3, message 1 between the two\
                    \n  rank 3: 5 of its operations: receive of 64 B from rank 2, message 1 between the two";
    assert!(told.ends_with(expected), "{told}");
}

/// Pieces of VEF files, right and wrong.
const PIECES: &[&str] = &[
    "VEF",
    "0",
    "1",
    "2",
    "3",
    "-1",
    "C0",
    "C1",
    "G0",
    "G1",
    "G",
    "\n",
    "\n",
    "TRUE",
    "99999999999999999999",
    "18446744073709551615",
    "é",
    "x",
];

proptest! {
    #[test]
    fn any_text_is_read_without_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..80), any in "\\PC{0,40}") {
        let text = pieces.join(" ");
        let _ = read(&text);
        let _ = read(&format!("VEF 3 1 1 1 3 FALSE\nC0 0 1 2\n{text}\n{any}"));
        let _ = read(&any);
    }

    #[test]
    fn a_trace_with_pieces_changed_is_read_and_run_without_panic(changes in prop::collection::vec((0..1000usize, prop::sample::select(PIECES)), 1..6)) {
        let mut words: Vec<String> = every_operation().replace('\n', " \n ").split(' ').map(str::to_string).collect();
        for (at, piece) in changes {
            let at = at % words.len();
            words[at] = piece.to_string();
        }
        let text = words.join(" ");
        let _ = read(&text);
        // What is right, or is not and is told, is also cut into messages and run.
        let job = format!(
            "[[job]]\nworkload = \"vef\"\ntext = {}\nmpi = {{ allgather = \"bruck\", eager = \"1 GB\" }}\n\
             [run]\nduration = \"100 us\"\n",
            Scenario::quoted(&text)
        );
        let file = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
        let ran = tailback_engine::run::run(&scenario(&file), &mut |_| true);
        if let Err(RunError::Failed(failure, _)) = ran {
            prop_assert!(failure.contains("is deadlocked"), "{}", failure);
        }
    }
}
