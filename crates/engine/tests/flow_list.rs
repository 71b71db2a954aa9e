//! Lists of flows of HPCC's ns-3 simulator: read, run, and every malformed one told.
use crate::common::{ints, reals, told};
use proptest::prelude::*;
use tailback_engine::report::{Output, RunError};
use tailback_engine::scenario::Scenario;

/// A job of these flows on a switch whose links take a flit of 100 bits a ns.
fn try_run(flows: &str, changes: &str) -> Result<Output, String> {
    let text = format!(
        "[topology]\nkind = \"single-switch\"\nendpoints = 8\n[link]\nhost = \"5 ns\"\n[packet]\nflit = \"100 b\"\nmax = \"24 flits\"\n\
         [endpoint]\nacknowledge = false\n[routing]\nkind = \"minimal\"\n[run]\nduration = \"100 ms\"\n[record]\nmessages = true\n\
         [[job]]\nname = \"it\"\nworkload = \"flow-list\"\ntext = {}\n{changes}",
        Scenario::quoted(flows)
    );
    let scenario = Scenario::parse(&text, &[]).map_err(|problems| told(&problems))?;
    match tailback_engine::run::run(&scenario, &mut |_| true) {
        Ok(output) => Ok(output),
        Err(RunError::Problems(problems)) => Err(told(&problems)),
        Err(other) => Err(format!("{other:?}")),
    }
}

/// Source, destination, creation and arrival of each message, in ns.
fn messages(flows: &str, changes: &str) -> Vec<(i64, i64, f64, f64)> {
    let output = try_run(flows, changes).unwrap_or_else(|told| panic!("{told}"));
    assert_eq!(output.summary["jobs"]["it"]["unfinished_ranks"], 0);
    let ends = ints(&output, "messages", "source").iter().zip(ints(&output, "messages", "destination"));
    let times = reals(&output, "messages", "created_ns").iter().zip(reals(&output, "messages", "latency_ns"));
    ends.zip(times).map(|((from, to), (at, latency))| (*from, *to, *at, at + latency)).collect()
}

/// Flits of 100 bits of so many bytes, one a ns, and from their beginning to the arrival of the last.
fn time(bytes: u64) -> f64 {
    (bytes * 8).div_ceil(100) as f64 + 11.0
}

#[test]
fn flows_start_at_their_times_after_the_first() {
    let flows =
        "3\n\n0 1 3 100 25000 2\n  2 3 3 100 1000 2.000000123\n5 4 1 10 7 2.000001\n7 7 this is not read\n";
    let expected =
        [(0, 1, 0.0, time(25_000)), (2, 3, 123.0, 123.0 + time(1000)), (5, 4, 1000.0, 1000.0 + time(7))];
    assert_eq!(messages(flows, ""), expected);
    // Without ports, and with a job that starts later.
    let flows = "2\n0 1 3 25000 0.5\n2 3 3 1000 0.4999999";
    let expected = [(2, 3, 2000.0, 2000.0 + time(1000)), (0, 1, 2100.0, 2100.0 + time(25_000))];
    assert_eq!(messages(flows, "start = \"2 us\"\n"), expected);
}

/// Hosts are counted without switches of lower numbers, as a network of that simulator counts them.
#[test]
fn hosts_behind_switches_are_counted_without_them() {
    let flows = "2\n1 3 3 100 1000 2\n5 1 3 100 1000 2\n";
    let ends = |changes: &str| {
        let all = messages(flows, changes);
        all.iter().map(|one| (one.0, one.1)).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(ends(""), [(1, 3), (5, 1)].into());
    assert_eq!(ends("switches = [4, 0]\n"), [(0, 2), (3, 0)].into());
    let told = try_run(flows, "switches = [0, 3]\n").map(|output| output.summary).unwrap_err();
    assert!(told.contains("line 2: node 3 is one of `switches`"), "{told}");
}

/// Flows between two nodes follow one another, but for those of several queue pairs.
#[test]
fn flows_of_two_nodes_share_the_channel_where_each_has_a_queue_pair() {
    let flows = "2\n0 1 3 100 25000 2\n0 1 3 100 300 2\n";
    let last = |changes: &str| messages(flows, changes)[1].3;
    assert_eq!(last(""), time(25_300));
    assert!(last("queue_pairs = 2\n") < time(1000));
}

#[test]
fn every_mistake_is_told_with_its_line() {
    for (flows, line, part) in [
        ("\n\n", 1, "there is nothing in it"),
        ("0 1 3 100 9 2", 1, "no number of flows"),
        ("many\n", 1, "the number of flows is \"many\""),
        ("0\n", 1, "there are no flows"),
        ("2\n0 1 3 100 9 2\n", 1, "2 flows are told, and 1 are there"),
        ("1\n0 1 3 9", 2, "6 numbers, or 5 without a port, not 4"),
        ("1\n\n0 -1 3 100 9 2", 3, "the destination is \"-1\""),
        ("1\n1 1 3 100 9 2", 2, "node 1 sends to itself"),
        ("1\n0 1 3 100 0 2", 2, "no bytes"),
        ("1\n0 1 3 100 9 -2", 2, "a start at -2 s"),
        ("1\n0 1 3 100 9 nan", 2, "a start at NaN s"),
        ("1\n0 9999999 3 100 9 2", 2, "node 9999999"),
        ("1\n0 1 3 100 99999999999999 2", 2, "a message of 99999999999999 B"),
        ("1\n0 8 3 100 9 2", 0, "9 endpoints"),
    ] {
        let told = try_run(flows, "").map(|output| output.summary).unwrap_err();
        let place = if line > 0 { format!("line {line}: ") } else { String::new() };
        assert!(told.contains(&place) && told.contains(part), "{flows:?}: {told}");
    }
    let told =
        try_run("1\n0 1 3 100 9 2", "mpi.eager = \"1 kB\"\n").map(|output| output.summary).unwrap_err();
    assert!(told.contains("not by MPI"), "{told}");
    let text = "[[job]]\nname = \"it\"\nworkload = \"flow-list\"\npath = \"flow.txt\"\n";
    assert_eq!(Scenario::files(text, &[]), [("job.0.text".to_string(), "flow.txt".to_string())]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_told_or_run(at in prop::collection::vec((0.0..1.0_f64, prop::sample::select(b"0129-. \nex".to_vec())), 1..6)) {
        let mut file = b"3\n0 1 3 100 250 2\n2 3 3 100 1000 2.000000123\n5 4 1 10 7 2.000001\n".to_vec();
        for (place, byte) in at {
            let place = (place * file.len() as f64) as usize;
            file[place] = byte;
        }
        let _ = try_run(&String::from_utf8(file).unwrap(), "");
    }
}

/// With as many queue pairs as there may be each flow begins anew: without, it goes on with the rate that others left.
#[test]
fn each_flow_may_begin_anew() {
    let flows = "5\n0 4 3 100 1000000 2\n1 4 3 100 1000000 2\n2 4 3 100 1000000 2\n3 4 3 100 1000000 2\n0 4 3 100 100000 2.0006\n";
    let last = |pairs: u32| {
        let dcqcn = "[congestion_control]\nkind = \"dcqcn\"\n";
        let all = messages(flows, &format!("queue_pairs = {pairs}\n{dcqcn}"));
        let (_, _, created, arrived) = all[4];
        assert!(all[..4].iter().all(|one| one.3 < created), "{all:?}");
        arrived - created
    };
    let alone = time(100_000);
    assert!(last(1) > 1.5 * alone, "{} ns, {alone} alone", last(1));
    assert!(last(4096) < 1.05 * alone, "{} ns, {alone} alone", last(4096));
}

/// What starts after the run's limit would never be done: that is told before it runs.
#[test]
fn flows_that_start_after_the_limit_are_told() {
    let told = |flows: &str| {
        let text = format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = 8\n[link]\nhost = \"5 ns\"\n[routing]\nkind = \"minimal\"\n\
             [run]\nduration = \"100 ms\"\n[[job]]\nname = \"it\"\nworkload = \"flow-list\"\ntext = \"{flows}\"\nstart = \"10 us\"\n"
        );
        tailback_engine::run::remarks(&Scenario::parse(&text, &[]).unwrap()).unwrap().join("\n")
    };
    assert_eq!(told("2\\n0 1 3 100 9 2\\n2 3 3 100 9 2.09\\n"), "");
    let late = told("2\\n0 1 3 100 9 2\\n2 3 3 100 9 2.2\\n");
    assert!(late.contains("\"it\": some of it would start at 200010 us, after the end of the run"), "{late}");
}

/// Who receives is known from the first part on, also of a run that ends before the last.
#[test]
fn a_part_has_reached_its_destination() {
    let accepted = |split: bool| {
        let text = format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = 4\n[link]\nhost = \"5 ns\"\n[packet]\nflit = \"100 b\"\nmax = \"24 flits\"\n\
             [endpoint]\nacknowledge = false\n[routing]\nkind = \"minimal\"\n[run]\nwarmup = \"0 ns\"\nduration = \"70 ns\"\ndrain = \"0 ns\"\n\
             [[job]]\nname = \"it\"\nworkload = \"flow-list\"\ntext = \"1\\n0 1 3 100 1200 2\\n\"\nqueue_pairs = 4\nsplit = {split}\n"
        );
        let output = tailback_engine::run::run(&Scenario::parse(&text, &[]).unwrap(), &mut |_| true).unwrap();
        ["accepted", "accepted_per_destination"]
            .map(|key| output.summary["classes"]["it"][key].as_f64().unwrap())
    };
    let [split, whole] = [true, false].map(accepted);
    assert!(split[1] > 0.0 && split == whole, "{split:?} and {whole:?}");
}
