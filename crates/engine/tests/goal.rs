//! GOAL traces: the two forms agree, every malformed one is told, and nothing breaks the readers.
use crate::common::{self, FEW_NETWORKS, file, read, result, told};
use proptest::prelude::*;
use serde_json::Value;
use tailback_engine::base64;
use tailback_engine::report::{Output, RunError};
use tailback_engine::scenario::Scenario;
use tailback_engine::workload::goal::{read_binary, read_text};
use tailback_engine::workload::mpi::graph::{ANY, Graph, Label, What};

/// A public sample of LogGOPSim: a binomial broadcast among 32 ranks.
const TREE: &str = include_str!("../../../scenarios/binary-tree-32.goal");
/// Length of the binary file that LogGOPSim's converter makes of it.
const TREE_BYTES: usize = 3448;

/// Everything that GOAL can say.
const ALL: &str = "
num_ranks 3 // a comment
rank 0 {
  a: calc 100 cpu 1
  b: send 10b to 1 tag 7 cpu 0 nic 2
  b irequires a
  c: send 20000b to 2 tag 4294967295
  c requires b
  recv 0b from 2
}
rank 1 {
  r: recv 10b from -1 tag -1 /* any rank,
                                any tag */ nic 1
  s: calc 5
  s requires r
}
rank 2 {
  x: recv 20000b from 0 tag 4294967295 cpu 3
  y: send 0b to 0
  y requires x
}";

/// The trace in binary form, written from what was read.
fn binary(graphs: &[Graph]) -> Vec<u8> {
    let mut parts = Vec::new();
    for graph in graphs {
        let nodes = graph.nodes();
        let mut waits_for = vec![0u32; nodes.len()];
        let (mut records, mut appendix) = (Vec::new(), Vec::<u32>::new());
        for node in 0..nodes.len() as u32 {
            let (at_end, at_start) = graph.dependants(node);
            at_end.iter().chain(at_start).for_each(|&later| waits_for[later as usize] += 1);
        }
        for (number, node) in nodes.iter().enumerate() {
            let (kind, peer, amount) = match node.what {
                What::Send { to, bytes } => (1u8, to, bytes),
                What::Receive { from, bytes } => (2, from, bytes),
                What::Compute(time) | What::Delay(time) => (3, 0, time),
            };
            let receiver = if let What::Send { to, .. } = node.what { &graphs[to as usize] } else { graph };
            let tag = match node.label {
                Label::Tag(tag) => receiver.tags()[tag as usize],
                _ => ANY,
            };
            records.extend(waits_for[number].to_le_bytes());
            records.push(kind);
            records.extend(peer.to_le_bytes());
            records.extend(amount.to_le_bytes());
            records.extend(tag.to_le_bytes());
            records.extend([node.cpu.expect("a processor"), 0]);
            let (at_end, at_start) = graph.dependants(number as u32);
            for list in [at_end, at_start] {
                records.extend((list.len() as u32).to_le_bytes());
                records.extend((appendix.len() as u32).to_le_bytes());
                appendix.extend(list);
            }
        }
        let roots: Vec<u32> =
            (0..).zip(&waits_for).filter(|(_, waits)| **waits == 0).map(|(at, _)| at).collect();
        let mut part: Vec<u8> = [nodes.len() as u32, roots.len() as u32].map(u32::to_le_bytes).concat();
        roots.iter().for_each(|root| part.extend(root.to_le_bytes()));
        part.extend(records);
        appendix.iter().for_each(|number| part.extend(number.to_le_bytes()));
        parts.push(part);
    }
    let mut file = 4223u64.to_le_bytes().to_vec();
    file.extend((parts.len() as u32).to_le_bytes());
    file.extend([3, 2]);
    let mut at = (file.len() + 16 * parts.len() - 8) as u64;
    for part in &parts {
        file.extend(at.to_le_bytes());
        at += part.len() as u64;
        file.extend(at.to_le_bytes());
    }
    file.extend(parts.concat());
    file
}

/// Runs a trace that is handed in under a key.
fn run(key: &str, contents: &str, network: &str) -> Output {
    let job = format!(
        "[[job]]\nname = \"trace\"\nworkload = \"goal\"\nplacement = \"random-nodes\"\n{key} = {}\nunit_ps = 1\n[run]\nduration = \"200 ms\"\n",
        Scenario::quoted(contents)
    );
    let text = file(network, "kind = \"minimal\"", "kind = \"none\"", &job);
    tailback_engine::run::run(&read(&text), &mut |_| true).unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn ranks_of_a_binary_file_have_places_of_their_own() {
    let rank = |rank: u32| format!("rank {rank} {{\nl1: calc 100\n}}\n");
    let text = format!("num_ranks 3\n{}", (0..3).map(rank).collect::<String>());
    let mut file = binary(&read_text(&text, 1).unwrap());
    assert_eq!(read_binary(&file, 1).unwrap().len(), 3);
    let first = file[14..30].to_vec();
    file[30..46].copy_from_slice(&first);
    file[46..62].copy_from_slice(&first);
    file.truncate(62 + file[62..].len() / 3);
    assert_eq!(read_binary(&file, 1).unwrap_err().message, "rank 2 stands where others do");
}

const NETWORK: &str = "kind = \"dragonfly\"\np = 2\na = 4\nh = 1\ngroups = 5";

#[test]
fn the_public_sample_runs_as_text_and_binary_with_the_same_result() {
    let graphs = read_text(TREE, 1).unwrap();
    assert_eq!(graphs.len(), 32);
    let bytes = binary(&graphs);
    assert_eq!(bytes.len(), TREE_BYTES);
    assert_eq!(read_binary(&bytes, 1).unwrap(), graphs);
    let (text, data) = (run("text", TREE, NETWORK), run("data", &base64::encode(&bytes), NETWORK));
    assert_eq!(result(&text), result(&data));
    let job = &text.summary["jobs"]["trace"];
    assert_eq!(
        (&job["ranks"], &job["messages"], &job["delivered_messages"]),
        (&32.into(), &31.into(), &31.into())
    );
    assert_eq!(text.summary["warnings"].as_array().unwrap().len(), 0);
}

#[test]
fn processors_wildcards_tags_and_both_kinds_of_dependency_are_read_and_run() {
    let graphs = read_text(ALL, 1000).unwrap();
    let first = &graphs[0];
    assert_eq!(first.nodes()[0].what, What::Compute(100_000));
    assert_eq!((first.nodes()[0].cpu, first.nodes()[1].cpu), (Some(1), Some(0)));
    assert_eq!((first.dependants(0), first.dependants(1)), ((&[][..], &[1][..]), (&[2][..], &[][..])));
    assert_eq!(graphs[1].nodes()[0].what, What::Receive { from: ANY, bytes: 10 });
    assert_eq!(graphs[1].nodes()[0].label, Label::AnyTag);
    let output = run("text", ALL, FEW_NETWORKS[0]);
    assert_eq!(output.summary["jobs"]["trace"]["unfinished_ranks"], 0);
    assert_eq!(output.summary["warnings"], serde_json::json!([ONE_PORT]));
    assert_eq!(output.summary["jobs"]["trace"]["operations"]["compute"]["count"], 2);
}

const ONE_PORT: &str = "job \"trace\": it names network adapters (nic) other than 0: a rank has one endpoint, which all of its messages go through";

#[test]
fn adapters_of_a_rank_that_are_one_here_are_told() {
    let text =
        |nic: u8| format!("num_ranks 2 rank 0 {{ send 8b to 1 nic {nic} }} rank 1 {{ recv 8b from 0 }}");
    let warnings =
        |key: &str, contents: &str| run(key, contents, FEW_NETWORKS[0]).summary["warnings"].clone();
    assert_eq!(warnings("text", &text(1)), serde_json::json!([ONE_PORT]));
    assert_eq!(warnings("text", &text(0)), serde_json::json!([]));
    let mut bytes = binary(&read_text(&text(0), 1).unwrap());
    // The first record is behind the header, two numbers and the number of the only operation; its adapter is its 23rd byte.
    let nic = 14 + 2 * 16 + 8 + 4 + 22;
    for expected in [serde_json::json!([]), serde_json::json!([ONE_PORT])] {
        assert_eq!(warnings("data", &base64::encode(&bytes)), expected);
        bytes[nic] = 3;
    }
}

/// Computing on one processor of a rank is done one after the other, on two at once.
#[test]
fn operations_of_a_processor_are_done_one_after_the_other() {
    let end = |second: u32| {
        let text = format!("num_ranks 1 rank 0 {{ calc 1000 cpu 0 calc 1000 cpu {second} }}");
        run("text", &text, FEW_NETWORKS[0]).summary["jobs"]["trace"]["time_ns"].as_f64().unwrap()
    };
    assert_eq!((end(0), end(1)), (2.0, 1.0));
}

/// The job that is this trace, of ps, where processors take nothing to send and receive.
fn effortless(trace: &str) -> Value {
    let output = run("mpi = { overhead = \"0 ns\", delay = \"0 ns\" }\ntext", trace, FEW_NETWORKS[0]);
    output.summary["jobs"]["trace"].clone()
}

fn time_of(trace: &str) -> f64 {
    effortless(trace)["time_ns"].as_f64().unwrap()
}

#[test]
fn what_takes_no_time_waits_for_its_processor_all_the_same() {
    let alone = time_of("num_ranks 2 rank 0 { send 8b to 1 } rank 1 { recv 8b from 0 }");
    let behind = time_of("num_ranks 2 rank 0 { calc 1000000 send 8b to 1 } rank 1 { recv 8b from 0 }");
    assert!((behind - alone - 1000.0).abs() < 1e-6, "{behind} {alone}");
    assert_eq!(time_of("num_ranks 1 rank 0 { calc 1000 b: calc 0 c: calc 500 cpu 1 c requires b }"), 1.5);
}

#[test]
fn computing_on_any_processor_is_no_communication() {
    let trace = "num_ranks 2 rank 0 { calc 90000000 send 8b to 1 cpu 1 } rank 1 { recv 8b from 0 cpu 7 calc 90000000 }";
    let job = effortless(trace);
    assert_eq!(job["communication_ns"]["max"], 0.0, "{job:#}");
    // Three on one processor: the second and third wait for it before they begin.
    let job = effortless("num_ranks 1 rank 0 { calc 100000 calc 100000 calc 100000 }");
    assert_eq!(job["operations"]["compute"]["max_ns"], 100.0, "{job:#}");
}

#[test]
fn a_receive_of_any_tag_takes_the_messages_of_a_sender_in_their_order() {
    // The first is copied for longer than the second, and would come later.
    let trace = |tag: u32| {
        format!(
            "num_ranks 2 rank 0 {{ a: send 8000b to 1 tag 1 b: send 8b to 1 tag {tag} b irequires a }} \
             rank 1 {{ r: recv 8000b from 0 tag -1 s: recv 8b from 0 tag -1 s irequires r c: calc 100000000 c requires r }}"
        )
    };
    assert_eq!(time_of(&trace(2)), time_of(&trace(1)));
}

/// More long messages than there are numbers, on ways of different lengths: one asks before the data of the one that had its number
/// before have come.
#[test]
fn long_messages_may_overtake_the_data_of_those_whose_numbers_they_have() {
    let many = |operation: &str| format!("{operation}\n").repeat(18_000);
    let trace = format!(
        "num_ranks 2\nrank 0 {{ {} }}\nrank 1 {{ {} }}",
        many("send 64b to 1"),
        many("recv 64b from 0")
    );
    let text = format!(
        "[topology]\n{NETWORK}\n[link]\nbandwidth = \"512 Gb/s\"\nhost = \"10 ns\"\nlocal = \"20 ns\"\nglobal = \"300 ns\"\n\
         [packet]\nflit = \"64 B\"\nmax = \"2 KiB\"\n[routing]\nkind = \"valiant\"\n\
         [[job]]\nname = \"trace\"\nworkload = \"goal\"\nplacement = [0, 21]\n\
         mpi = {{ eager = \"1 B\", copy = \"1000 Tb/s\", overhead = \"0 ns\", delay = \"0 ns\" }}\ntext = {}\n[run]\nduration = \"200 ms\"\n",
        Scenario::quoted(&trace)
    );
    let output = tailback_engine::run::run(&read(&text), &mut |_| true).unwrap();
    let job = &output.summary["jobs"]["trace"];
    assert_eq!((&job["delivered_messages"], &job["unfinished_ranks"]), (&54_000.into(), &0.into()));
    assert_eq!(output.summary["warnings"], Value::Array(vec![]));
}

#[test]
fn every_receiver_has_tags_of_its_own() {
    let sends =
        |from: u32, to: u32| -> String { (from..to).map(|tag| format!("send 1b to 1 tag {tag} ")).collect() };
    let of = |ranks: [String; 2]| {
        read_text(&format!("num_ranks 2 rank 0 {{ {} }} rank 1 {{ {} }}", ranks[0], ranks[1]), 1)
    };
    let back = sends(20_000, 40_000).replace("to 1", "to 0");
    assert!(of([sends(0, 20_000), back]).is_ok());
    let told = of([sends(0, 40_000), String::new()]).unwrap_err().message;
    assert_eq!(told, "too many different tags of messages to one rank");
}

#[test]
fn a_trace_that_waits_for_a_message_nobody_sends_is_a_deadlock() {
    let text = "num_ranks 2 rank 0 { a: recv 8b from 1 b: calc 5 b requires a } rank 1 { calc 3 }";
    let job = format!("[[job]]\nworkload = \"goal\"\ntext = {}\n", Scenario::quoted(text));
    let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
    let error = tailback_engine::run::run(&read(&text), &mut |_| true).unwrap_err();
    let told = format!("{error:?}");
    assert!(told.contains("rank 0: 2 of its operations: receive of 8 B from rank 1, tag 0"), "{told}");
}

#[test]
fn a_message_that_cannot_be_sent_is_told_with_its_place_before_the_run() {
    let trace = "num_ranks 2 rank 0 {\n send 8b to 1\n send 3000000000b to 1 tag 5\n} rank 1 { recv 8b from 0 recv 3000000000b from 0 tag 5 }";
    let told = |keys: &str| {
        let job = format!("[[job]]\nname = \"it\"\nworkload = \"goal\"\n{keys}\n");
        let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
        tailback_engine::run::check(&read(&text))
            .iter()
            .map(|problem| problem.to_string())
            .collect::<String>()
    };
    let expected =
        "a message of 3000000000 B, but one of at most 2516582100 B can be sent with packets of 24 flits";
    let text = told(&format!("text = {}", Scenario::quoted(trace)));
    assert!(text.starts_with(&format!("job.it.text: line 3, column 7: {expected}")), "{text}");
    let bytes = binary(&read_text(trace, 1).unwrap());
    let data = told(&format!("data = \"{}\"", base64::encode(&bytes)));
    // Behind the header, two ranges, two numbers, two roots and a record.
    let record = 14 + 2 * 16 + 8 + 2 * 4 + 39;
    assert!(data.starts_with(&format!("job.it.data: byte {record}: {expected}")), "{data}");
}

/// What is told of the ranks of a job in a deadlock.
fn deadlock(trace: &str) -> String {
    let job = format!("[[job]]\nname = \"it\"\nworkload = \"goal\"\n{trace}\n");
    let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
    match tailback_engine::run::run(&read(&text), &mut |_| true) {
        Err(RunError::Failed(told, _)) => told.lines().skip(1).map(str::trim).collect::<Vec<_>>().join("\n"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operations_that_wait_are_told_with_their_peers_tags_and_sizes() {
    let trace = "num_ranks 3 rank 0 { recv 8b from 1 tag 77 recv 16b from -1 tag -1 } \
                 rank 1 { a: send 20000b to 2 tag 4000000000 b: calc 5 b requires a } \
                 rank 2 { recv 20000b from 1 tag 4000000001 recv 1b from 0 recv 2b from 0 recv 3b from 0 recv 4b from 0 }";
    let expected = "rank 0: 2 of its operations: receive of 8 B from rank 1, tag 77; receive of 16 B from any rank, any tag\n\
                    rank 1: 2 of its operations: send of 20000 B to rank 2, tag 4000000000\n\
                    rank 2: 5 of its operations: receive of 20000 B from rank 1, tag 4000000001; receive of 1 B from rank 0, \
                    tag 0; receive of 2 B from rank 0, tag 0; receive of 3 B from rank 0, tag 0; and 1 more";
    assert_eq!(deadlock(&format!("text = {}", Scenario::quoted(trace))), expected);
}

#[test]
fn ranks_that_do_not_come_to_their_end_communicated_until_then() {
    // Rank 0 waits from the beginning; rank 1 computes for 50 us first; rank 2 computes beyond the end of the run.
    let trace = "num_ranks 3 rank 0 { recv 8b from 2 tag 1 } \
                 rank 1 { a: calc 50000000 b: recv 8b from 2 b requires a } \
                 rank 2 { a: calc 900000000 b: send 8b to 0 tag 1 b requires a c: send 8b to 1 c requires a }";
    let run = |start: &str| {
        let job = format!(
            "[[job]]\nname = \"it\"\nworkload = \"goal\"\nunit_ps = 1\nstart = \"{start}\"\ntext = {}\n\
             [run]\nwarmup = \"0 ns\"\nduration = \"100 us\"\ndrain = \"0 ns\"\n",
            Scenario::quoted(trace)
        );
        let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
        tailback_engine::run::run(&read(&text), &mut |_| true).unwrap()
    };
    let of = |output: &Output| common::reals(output, "ranks", "communication_ns").to_vec();
    let output = run("10 us");
    let job = &output.summary["jobs"]["it"];
    assert_eq!((&job["unfinished_ranks"], &job["time_ns"]), (&3.into(), &Value::Null));
    assert_eq!(of(&output), [90_000.0, 40_000.0, 0.0]);
    assert_eq!(job["communication_ns"]["max"], 90_000.0);
    assert_eq!(of(&run("200 us")), [0.0; 3], "it did not start");
}

#[test]
fn every_mistake_in_a_text_is_told_with_its_place() {
    let block = |inside: &str| format!("num_ranks 2\nrank 0 {{\n{inside}\n}}\nrank 1 {{ }}");
    let table = [
        (String::new(), "line 1, column 1: unexpected end of the file"),
        ("ranks 3".into(), "line 1, column 1: unexpected \"ranks\""),
        ("num_ranks 0".into(), "line 1, column 11: a trace of no ranks"),
        ("num_ranks -4".into(), "line 1, column 11: -4 is not possible"),
        ("num_ranks 99999999999".into(), "line 1, column 11: 99999999999 is not possible"),
        ("num_ranks 4000000000 rank 0 { }".into(), "line 1, column 32: unexpected end of the file"),
        ("num_ranks 1 rank 1 { }".into(), "line 1, column 18: unexpected rank 1"),
        ("num_ranks 1 rank 0 { } rank 1 { }".into(), "line 1, column 24: unexpected \"rank\""),
        ("num_ranks 1 rank 0 { /* never".into(), "line 1, column 22: this comment has no end"),
        ("num_ranks 1 rank 0 { calc 3".into(), "line 1, column 28: unexpected end of the file"),
        (block("send 8 to 1"), "line 3, column 6: unexpected 8"),
        (block("send 8b to 2"), "line 3, column 12: there is no rank 2"),
        (block("send 8b to -1"), "line 3, column 12: there is no rank -1"),
        (block("recv 8b to 1"), "line 3, column 9: unexpected \"to\""),
        (block("send 99999999999999999999b to 1"), "line 3, column 6: 99999999999999999999b is not possible"),
        (block("send 8b to 1 tag -2"), "line 3, column 18: the tag -2 is not possible"),
        (block("send 8b to 1 cpu 256"), "line 3, column 18: 256 is not possible"),
        (block("calc 5 nic 1"), "line 3, column 8: nic is neither an operation nor a label with `:`"),
        (block("a: jump 5"), "line 3, column 4: unknown operation jump"),
        (block("a: calc 5\na: calc 6"), "line 4, column 1: the label a stands twice in this rank"),
        (block("a: calc 5\na requires b"), "line 4, column 12: there is no label b before this place"),
        (block("a: calc 5\na needs a"), "line 4, column 1: a is neither an operation nor a label"),
        (
            block("a: calc 5 b: calc 6\na requires b\nb irequires a"),
            "of rank 0 waits, through others, for itself",
        ),
        (
            block("a: calc 5 b: calc 6 c: calc 7\na requires b\nb requires c\nc requires b"),
            "the operation b of rank 0 waits, through others, for itself",
        ),
        (block("a: calc 5\nä"), "line 4, column 1: unexpected 'ä'"),
    ];
    for (text, expected) in table {
        let mistake = read_text(&text, 1).unwrap_err();
        let told = format!("{}: {}", mistake.place, mistake.message);
        assert!(told.contains(expected), "{text}\n{told}\ninstead of\n{expected}");
    }
}

#[test]
fn mistakes_in_a_binary_file_are_told_with_their_place() {
    let whole = binary(&read_text(TREE, 1).unwrap());
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = whole.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        read_binary(&file, 1)
            .map(|_| "no mistake".to_string())
            .unwrap_or_else(|m| format!("{}: {}", m.place, m.message))
    };
    // The first rank: its part is behind 14 + 32 · 16 bytes, its first record behind two numbers and five roots.
    let part = 14 + 32 * 16;
    let record = part + 8 + 5 * 4;
    assert_eq!(changed(0, &2342u64.to_le_bytes()), "byte 0: a simulator has overwritten this file");
    assert_eq!(changed(0, &[1]), "byte 0: the magic number is 4097");
    assert_eq!(changed(8, &[0]), "byte 14: a trace of no ranks");
    assert_eq!(changed(14, &[255; 8]), format!("byte 30: rank 0 is said to stand from {} to 741", u64::MAX));
    assert_eq!(
        changed(part, &[255; 4]),
        "byte 534: rank 0 is said to have 4294967295 operations, 5 of them free"
    );
    assert_eq!(changed(part + 8, &[9]), "byte 538: there is no operation 9");
    assert_eq!(changed(record + 4, &[7]), "byte 554: an operation of the type 7");
    assert_eq!(changed(record + 5, &[77]), "byte 554: there is no rank 77");
    assert!(
        changed(record, &[3]).contains("operation 0 of rank 0 is said to wait for 3 others, but 0 name it")
    );
    for length in 0..whole.len() {
        assert!(read_binary(&whole[..length], 1).is_err(), "cut off after {length} bytes");
    }
}

#[test]
fn bytes_that_are_no_part_of_a_binary_file_are_refused() {
    let whole = binary(&read_text(TREE, 1).unwrap());
    let told = |file: &[u8]| {
        let mistake = read_binary(file, 1).unwrap_err();
        format!("{}: {}", mistake.place, mistake.message)
    };
    let end = whole.len();
    assert_eq!(told(&[&whole[..], &[0; 3]].concat()), format!("byte {end}: 3 bytes belong to no rank"));
    // Every part four bytes further on than the header ends.
    let header = 14 + 32 * 16;
    let mut file = [&whole[..header], &[0; 4], &whole[header..]].concat();
    for at in (14..header).step_by(8) {
        let offset = u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        file[at..at + 8].copy_from_slice(&(offset + 4).to_le_bytes());
    }
    assert_eq!(told(&file), format!("byte {header}: 4 bytes belong to no rank"));
    // The last rank's part longer than what stands in it.
    let mut file = [&whole[..], &[0; 5]].concat();
    file[header - 8..header].copy_from_slice(&(end as u64 + 5 - 8).to_le_bytes());
    assert_eq!(told(&file), format!("byte {end}: 5 bytes stand behind what rank 31 has"));
}

#[test]
fn a_mistake_in_a_trace_is_one_of_the_scenario() {
    let job = "[[job]]\nname = \"it\"\nworkload = \"goal\"\ntext = \"num_ranks x\"\n";
    let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", job);
    let problems = Scenario::located(&text, &[], tailback_engine::run::check(&read(&text)));
    let line = text.lines().position(|line| line.starts_with("text")).unwrap() + 1;
    let expected = format!(
        "line {line}: job.it.text: line 1, column 11: unexpected \"x\" (a number of ranks from 1 on)\n"
    );
    assert_eq!(told(&problems), expected);
}

#[test]
fn a_mistake_in_a_trace_from_a_file_names_the_file() {
    let job = "[[job]]\nname = \"it\"\nworkload = \"goal\"\npath = \"a.goal\"\ntext = \"num_ranks x\"\n";
    let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", job);
    let problems = Scenario::located(&text, &[], tailback_engine::run::check(&read(&text)));
    let line = text.lines().position(|line| line.starts_with("path")).unwrap() + 1;
    let place = format!("line {line}: job.it.path: a.goal, line 1, column 11: unexpected");
    assert!(told(&problems).starts_with(&place), "{}", told(&problems));
}

#[test]
fn what_a_trace_has_no_use_for_is_refused() {
    for (workload, trace, mpi, expected) in [
        (
            "goal",
            "num_ranks 1\nrank 0 {\n}\n",
            "barrier = \"1 us\", alltoall = \"at-once\"",
            "mpi.barrier mpi.alltoall",
        ),
        ("goal", "num_ranks 1\nrank 0 {\n}\n", "eager = \"1 kB\"", ""),
        ("vef", "VEF 1 0 0 0 0 FALSE", "barrier = \"1 us\"", "mpi.barrier"),
        ("vef", "VEF 1 0 0 0 0 FALSE", "alltoall = \"at-once\"", ""),
    ] {
        let trace = Scenario::quoted(trace);
        let job =
            format!("[[job]]\nname = \"it\"\nworkload = \"{workload}\"\ntext = {trace}\nmpi = {{ {mpi} }}\n");
        let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
        let problems = tailback_engine::run::check(&read(&text));
        let paths: Vec<&str> =
            problems.iter().filter_map(|problem| problem.path.strip_prefix("job.it.")).collect();
        assert_eq!(paths.join(" "), expected, "{workload}: {problems:?}");
    }
}

/// How many ranks a trace has that nobody can read is not known, so nothing is said of them.
#[test]
fn a_trace_that_cannot_be_read_is_the_only_mistake_of_its_job() {
    for keys in ["ranks = 4", "placement = [1, 2, 3, 4]"] {
        for (workload, text) in [("goal", "num_ranks x"), ("vef", "VEF x")] {
            let job =
                format!("[[job]]\nname = \"it\"\nworkload = \"{workload}\"\n{keys}\ntext = \"{text}\"\n");
            let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", &job);
            let problems = tailback_engine::run::check(&read(&text));
            assert!(problems.len() == 1 && problems[0].path == "job.it.text", "{keys}: {problems:?}");
        }
    }
}

#[test]
fn a_placement_with_more_endpoints_than_a_trace_has_ranks_is_refused() {
    let job = "[[job]]\nname = \"it\"\nworkload = \"goal\"\nplacement = [1, 2, 3]\n\
               text = \"num_ranks 2 rank 0 { } rank 1 { }\"\n";
    let text = file(FEW_NETWORKS[0], "kind = \"minimal\"", "kind = \"none\"", job);
    let problems = Scenario::located(&text, &[], tailback_engine::run::check(&read(&text)));
    let line = text.lines().position(|line| line.starts_with("placement")).unwrap() + 1;
    let expected = format!(
        "line {line}: job.it.placement: the list has 3 endpoints for 2 ranks: 1 too many (one endpoint for each rank, of \
         which a trace has its own number)\n"
    );
    assert_eq!(told(&problems), expected);
}

#[test]
fn another_path_is_another_trace() {
    let text = "[[job]]\nname = \"it\"\nworkload = \"goal\"\npath = \"a.goal\"\ntext = \"num_ranks 1\"\n";
    assert_eq!(Scenario::files(text, &[]), []);
    let overrides = [("job.it.path".to_string(), "b.goal".to_string())];
    assert_eq!(Scenario::files(text, &overrides), [("job.0.text".to_string(), "b.goal".to_string())]);
}

#[test]
fn the_files_of_traces_are_named_with_the_keys_that_take_them() {
    let job = |keys: &str| format!("[[job]]\nworkload = \"goal\"\n{keys}\n");
    let text = job("path = \"a.goal\"")
        + &job("path = \"b.bin\"")
        + &job("path = \"c\"\ntext = \"x\"")
        + &job("path = \"d\"\nformat = \"binary\"\nplacement = { path = \"e\" }");
    let files = Scenario::files(&text, &[]);
    let expected = [
        ("job.0.text", "a.goal"),
        ("job.1.data", "b.bin"),
        ("job.3.data", "d"),
        ("job.3.placement.text", "e"),
    ];
    assert_eq!(files, expected.map(|(key, path)| (key.to_string(), path.to_string())));
}

/// A generated trace: a ring of ranks that compute, send and receive; a million operations.
fn ring(ranks: usize, rounds: usize) -> String {
    let mut text = format!("num_ranks {ranks}\n");
    for rank in 0..ranks {
        text += &format!("rank {rank} {{\n");
        for round in 0..rounds {
            let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            text += &format!("c{round}: calc {}\n", rank % 7 * 100);
            text += &format!(
                "s{round}: send 64b to {next} tag {}\nr{round}: recv 64b from {before} tag {}\n",
                round % 3,
                round % 3
            );
            text += &format!("s{round} requires c{round}\n");
            if round > 0 {
                text += &format!("c{round} requires r{}\n", round - 1);
            }
        }
        text += "}\n";
    }
    text
}

#[test]
#[ignore = "takes a minute: a million operations, run as text and as binary"]
fn a_million_operations_give_the_same_result_as_text_and_binary() {
    let text = ring(32, 10_417);
    let start = std::time::Instant::now();
    let graphs = read_text(&text, 1).unwrap();
    println!("{} MB read as text in {:?}", text.len() / 1_000_000, start.elapsed());
    assert!(graphs.iter().map(|graph| graph.nodes().len()).sum::<usize>() >= 1_000_000);
    let bytes = binary(&graphs);
    let start = std::time::Instant::now();
    assert_eq!(read_binary(&bytes, 1).unwrap(), graphs);
    println!("{} MB read as binary in {:?}", bytes.len() / 1_000_000, start.elapsed());
    let start = std::time::Instant::now();
    let first = run("text", &text, NETWORK);
    println!("run in {:?}", start.elapsed());
    assert_eq!(first.summary["jobs"]["trace"]["unfinished_ranks"], 0, "{:#}", first.summary["jobs"]);
    let second = run("data", &base64::encode(&bytes), NETWORK);
    assert_eq!(result(&first), result(&second));
}

/// Pieces of GOAL files, right and wrong.
const PIECES: &[&str] = &[
    "num_ranks",
    "2",
    "rank",
    "0",
    "1",
    "{",
    "}",
    "a",
    ":",
    "b",
    "calc",
    "send",
    "recv",
    "8b",
    "to",
    "from",
    "tag",
    "cpu",
    "nic",
    "requires",
    "irequires",
    "-1",
    "//",
    "/*",
    "*/",
    "\n",
    "99999999999999999999",
    "é",
    "_",
    "-",
    "b:",
];

proptest! {
    #[test]
    fn any_text_is_read_without_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60), any in "\\PC{0,40}") {
        let text = pieces.join(" ");
        let _ = read_text(&text, 1);
        let _ = read_text(&format!("num_ranks 2 rank 0 {{ {text} }} rank 1 {{ {any} }}"), 1);
        let _ = read_text(&any, 1);
    }

    #[test]
    fn any_bytes_are_read_without_panic(changes in prop::collection::vec((0..TREE_BYTES, any::<u8>()), 1..8), any in prop::collection::vec(any::<u8>(), 0..100)) {
        let mut file = binary(&read_text(TREE, 1).unwrap());
        for (at, byte) in changes {
            file[at] = byte;
        }
        let _ = read_binary(&file, 1);
        let _ = read_binary(&any, 1);
    }

    #[test]
    fn text_and_binary_of_random_traces_are_the_same(seed in any::<u64>(), operations in 1..40usize) {
        let mut random = tailback_engine::rng::Stream::new(seed, "goal", "", 0);
        let mut text = "num_ranks 3\n".to_string();
        for rank in 0..3 {
            text += &format!("rank {rank} {{\n");
            for number in 0..operations {
                let (peer, tag) = (random.below(3), random.below(4));
                text += &match random.below(3) {
                    0 => format!("o{number}: calc {} cpu {}\n", random.below(1000), random.below(4)),
                    1 => format!("o{number}: send {}b to {peer} tag {tag}\n", random.below(100_000)),
                    _ => format!("o{number}: recv 1b from {peer} tag {tag} cpu 2\n"),
                };
                if number > 0 && random.below(2) == 0 {
                    let word = if random.below(2) == 0 { "requires" } else { "irequires" };
                    text += &format!("o{number} {word} o{}\n", random.below(number as u32));
                }
            }
            text += "}\n";
        }
        let graphs = read_text(&text, 1).unwrap();
        prop_assert_eq!(read_binary(&binary(&graphs), 1).unwrap(), graphs);
    }
}
