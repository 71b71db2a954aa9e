//! Connection matrices of htsim: read, run, and every malformed one told.
use crate::common::told;
use proptest::prelude::*;
use tailback_engine::report::{Output, RunError};
use tailback_engine::scenario::Scenario;

/// A job of this matrix on a switch whose links take a flit of 100 bits a ns.
fn try_run(matrix: &str, changes: &str) -> Result<Output, String> {
    let text = format!(
        "[topology]\nkind = \"single-switch\"\nendpoints = 8\n[link]\nhost = \"5 ns\"\n[packet]\nflit = \"100 b\"\nmax = \"24 flits\"\n\
         [endpoint]\nacknowledge = false\n[routing]\nkind = \"minimal\"\n[run]\nduration = \"100 ms\"\n\
         [[job]]\nname = \"it\"\nworkload = \"connection-matrix\"\ntext = {}\n{changes}",
        Scenario::quoted(matrix)
    );
    let scenario = Scenario::parse(&text, &[]).map_err(|problems| told(&problems))?;
    match tailback_engine::run::run(&scenario, &mut |_| true) {
        Ok(output) => Ok(output),
        Err(RunError::Problems(problems)) => Err(told(&problems)),
        Err(other) => Err(format!("{other:?}")),
    }
}

/// How long the job took, in ns, and its messages.
#[track_caller]
fn outcome(matrix: &str, changes: &str) -> (f64, u64) {
    let output = try_run(matrix, changes).unwrap_or_else(|told| panic!("{told}"));
    let job = &output.summary["jobs"]["it"];
    assert_eq!(
        (&job["unfinished_ranks"], &job["messages"]),
        (&0.into(), &job["delivered_messages"]),
        "{job}"
    );
    (job["time_ns"].as_f64().unwrap(), job["messages"].as_u64().unwrap())
}

/// A file of these lines behind a header that counts them.
fn matrix(lines: &[&str]) -> String {
    let triggers = lines.iter().filter(|line| line.starts_with("trigger")).count();
    let header = format!("# counted\nNodes 8\nConnections {}\nTriggers {triggers}\n", lines.len() - triggers);
    header + &lines.join("\n")
}

/// Flits of 100 bits of so many bytes, one a ns, and from their beginning to the arrival of the last.
fn flits(bytes: u64) -> f64 {
    (bytes * 8).div_ceil(100) as f64
}

const WAY: f64 = 11.0;

#[test]
fn connections_start_at_their_times_in_the_unit_of_the_file() {
    let two = matrix(&["0->1 id 1 start 0 size 25000", "2->3 id 2 start 2500.5 size 1000 prio 3"]);
    assert_eq!(outcome(&two, ""), (flits(25_000) + WAY, 2));
    assert_eq!(outcome(&two, "unit_ps = 1000000\n").0, 2_500_500.0 + flits(1000) + WAY);
    // To one node both share its channel.
    let two = matrix(&["0->1 start 0 size 25000", "2->1 start 0 size 25000"]);
    assert_eq!(outcome(&two, "").0, 2.0 * flits(25_000) + WAY);
}

#[test]
fn triggers_start_connections_when_others_are_sent_or_received() {
    let first = "0->1 id 1 start 0 size 25000";
    let [sent, received] = ["send_done_trigger", "recv_done_trigger"].map(|key| format!("{first} {key} 4"));
    let relay = matrix(&[&received, "1->2 id 2 trigger 4 size 25000", "trigger id 4 oneshot"]);
    assert_eq!(outcome(&relay, "").0, 2.0 * (flits(25_000) + WAY));
    let next = matrix(&["trigger id 4 oneshot", &sent, "0->2 id 2 trigger 4 size 25000"]);
    assert_eq!(outcome(&next, "").0, 2.0 * flits(25_000) + WAY);
    // The barrier opens when both have come, one behind the other.
    let both = [0, 1].map(|from| format!("{from}->2 start 0 size 25000 recv_done_trigger 4"));
    let barrier =
        matrix(&[&both[0], &both[1], "2->3 id 9 trigger 4 size 25000", "trigger id 4 barrier count 2"]);
    assert_eq!(outcome(&barrier, "").0, 3.0 * flits(25_000) + 2.0 * WAY);
}

#[test]
fn a_trigger_of_several_shots_starts_one_more_each_time() {
    let serial = |shots: u32| {
        let line = |to: u32| {
            let start = if to <= shots { "start 0" } else { "trigger 1" };
            format!("0->{to} id {to} {start} size 25000 send_done_trigger 1")
        };
        let lines: Vec<String> = (1..=6).map(line).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).chain(["trigger id 1 multishot"]).collect();
        let output = try_run(&matrix(&lines), "").unwrap_or_else(|told| panic!("{told}"));
        let isend = &output.summary["jobs"]["it"]["operations"]["isend"];
        (output.summary["jobs"]["it"]["time_ns"].as_f64().unwrap(), isend["mean_ns"].as_f64().unwrap())
    };
    // The channel is busy all the time; of two at a time each takes twice as long, but the last.
    assert_eq!(serial(1), (6.0 * flits(25_000) + WAY, flits(25_000)));
    let (time, mean) = serial(2);
    assert_eq!(time, 6.0 * flits(25_000) + WAY);
    assert!(mean > 1.7 * flits(25_000) && mean < 2.0 * flits(25_000), "{mean}");
}

#[test]
fn starts_of_another_unit_are_suspected() {
    let told = |start: &str| {
        let output = try_run(&matrix(&[&format!("0->1 start {start} size 100")]), "").unwrap();
        output.summary["warnings"].to_string()
    };
    assert!(told("16").contains("starts after 16 ps"), "{}", told("16"));
    assert_eq!((told("0"), told("16000000")), ("[]".to_string(), "[]".to_string()));
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let one = "0->1 start 0 size 8";
    let cases: Vec<(String, &str, &str)> = vec![
        ("".into(), "", "text: line 1: no connection matrix is given"),
        ("Connections 0".into(), "", "line 1: there is no line Nodes"),
        (
            "Nodes 8\nConnections 2\n0->1 start 0 size 8".into(),
            "",
            "line 2: Connections is 2, but there are 1",
        ),
        ("Nodes 8\nConnections 0\nTriggers 1".into(), "", "line 3: Triggers is 1, but there are 0"),
        ("Nodes 8\nNodes 8".into(), "", "line 2: it is told twice"),
        ("Nodes eight".into(), "", "line 1: Nodes is \"eight\""),
        ("Nodes 99999999999".into(), "", "line 1: a matrix of 99999999999 nodes (1 to 1048576)"),
        ("Nodes 4000000000".into(), "", "line 1: a matrix of 4000000000 nodes (1 to 1048576)"),
        ("Knots 8".into(), "", "line 1: \"Knots\" begins no line of a connection matrix"),
        (
            "Nodes 8\nFailures 1\nfailure switch_type TOR switch_id 1 link_id 2".into(),
            "",
            "line 3: failures of links",
        ),
        (matrix(&["0->9 start 0 size 8"]), "", "line 5: there is no node 9 (0 to 7)"),
        (matrix(&["3->3 start 0 size 8"]), "", "node 3 sends to itself"),
        (matrix(&["0->x start 0 size 8"]), "", "0->x does not lead from a node to a node"),
        (matrix(&["0->1 size 8"]), "", "the connection has no start"),
        (matrix(&["0->1 start 0"]), "", "the connection has no size"),
        (matrix(&["0->1 start 0 size 0"]), "", "a connection of the size 0 goes on for ever"),
        (matrix(&["0->1 start -3 size 8"]), "", "start is -3"),
        (matrix(&["0->1 start inf size 8"]), "", "start is inf"),
        (matrix(&["0->1 start 0 trigger 1 size 8"]), "", "told twice when it starts"),
        (matrix(&["0->1 start 0 size 8 size 9"]), "", "size is told twice"),
        (matrix(&["0->1 id 1 id 2 start 0 size 8"]), "", "id is told twice"),
        (matrix(&["0->1 start 0 size"]), "", "size has no number"),
        (matrix(&["0->1 start 0 bytes 8"]), "", "\"bytes\" says nothing of a connection"),
        (
            matrix(&["0->1 id 2 start 0 size 8", "0->2 id 2 start 0 size 8"]),
            "",
            "line 6: the id 2 is 0, or another's",
        ),
        (matrix(&["0->1 trigger 0 size 8"]), "", "no trigger has the id 0"),
        (matrix(&["0->1 trigger 7 size 8"]), "", "nothing says what trigger 7 is"),
        (matrix(&[one, "trigger id 1"]), "", "the trigger has no id, or no kind"),
        (matrix(&[one, "trigger id 1 barrier"]), "", "the barrier has no count"),
        (matrix(&[one, "trigger id 1 oneshot", "trigger id 1 oneshot"]), "", "trigger 1 is told twice"),
        (
            matrix(&["0->1 trigger 7 size 8", "trigger id 7 oneshot"]),
            "",
            "trigger 7 is fired by 0 connections (1, as it is oneshot)",
        ),
        (
            matrix(&[
                "0->1 start 0 size 8 recv_done_trigger 7",
                "2->1 trigger 7 size 8",
                "trigger id 7 oneshot",
            ]),
            "",
            "trigger 7 is fired at node 1 and starts a connection of node 2",
        ),
        (
            matrix(&[
                "0->1 start 0 size 8 send_done_trigger 7",
                "0->2 trigger 7 size 8",
                "trigger id 7 barrier count 3",
            ]),
            "",
            "trigger 7 is fired by 1 connections (3, as it is a barrier)",
        ),
        (matrix(&["0->1 start 0 size 99999999999"]), "", "line 5: "),
        (matrix(&[one]), "mpi.delay = \"1 us\"\n", "mpi: connections are sent as they are"),
        (matrix(&[one]).replace("Nodes 8", "Nodes 9"), "", "9"),
    ];
    for (matrix, changes, expected) in cases {
        let told =
            try_run(&matrix, changes).err().unwrap_or_else(|| panic!("nothing is told, but: {expected}"));
        assert!(told.contains(expected), "told:\n{told}expected:\n{expected}");
    }
    // A circle of triggers.
    let circle = matrix(&[
        "0->1 id 1 trigger 1 size 8 send_done_trigger 2",
        "0->2 id 2 trigger 2 size 8 send_done_trigger 1",
        "trigger id 1 oneshot",
        "trigger id 2 oneshot",
    ]);
    let told = try_run(&circle, "").expect_err("a deadlock");
    assert!(
        told.contains("rank 0: trigger 1, to send to node 1 (line 5); trigger 2, to send to node 2 (line 6)"),
        "{told}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_told_or_run(at in prop::collection::vec((0.0..1.0_f64, prop::sample::select(b"0129->. \nstpx".to_vec())), 1..6)) {
        let mut file = matrix(&[
            "0->1 id 1 start 5 size 100 send_done_trigger 1",
            "0->2 id 2 trigger 1 size 100 recv_done_trigger 2",
            "2->3 id 3 trigger 2 size 100",
            "trigger id 1 multishot",
            "trigger id 2 barrier count 1",
        ])
        .into_bytes();
        for (place, byte) in at {
            let place = (place * file.len() as f64) as usize;
            file[place] = byte;
        }
        let _ = try_run(&String::from_utf8(file).unwrap(), "");
    }
}
