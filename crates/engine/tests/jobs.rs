//! Laws of jobs: placement, matching, independence of partitions and of each other, deadlock.
use crate::common::{self, FEW_NETWORKS, PROTOCOLS, column, file, read, reals, routings, run, run_with};
use serde_json::Value;
use tailback_engine::report::{Column, Output, RunError};
use tailback_engine::scenario::Scenario;

/// A job's `[[job]]` table.
fn job(name: &str, ranks: u32, rest: &str) -> String {
    format!("[[job]]\nname = \"{name}\"\nworkload = \"ring-exchange\"\nranks = {ranks}\n{rest}\n")
}

/// A small dragonfly of 24 endpoints with these jobs.
fn network(rest: &str) -> String {
    file(FEW_NETWORKS[2], "kind = \"par\"", "kind = \"none\"", rest)
}

const RUN: &str = "[run]\nduration = \"20 ms\"\n";

fn problems(text: &str) -> Vec<String> {
    let problems = match Scenario::parse(text, &[]) {
        Err(problems) => problems,
        Ok(scenario) => Scenario::located(text, &[], tailback_engine::run::check(&scenario)),
    };
    problems.iter().map(|problem| problem.to_string()).collect()
}

fn of<'a>(output: &'a Output, job: &str) -> &'a Value {
    &output.summary["jobs"][job]
}

/// Every message sent was delivered, and every send and receive has its partner.
fn is_matched(output: &Output) {
    for (name, job) in output.summary["jobs"].as_object().unwrap() {
        assert_eq!(job["messages"], job["delivered_messages"], "{name}");
        assert_eq!(job["unfinished_ranks"], 0, "{name}: {job:#}");
    }
    assert_eq!(output.summary["warnings"], Value::Array(vec![]), "no rank is left with half a message");
}

/// What is sent again for a packet that was refused is of the same message, which its receiver knows by its tag.
#[test]
fn messages_whose_packets_are_refused_find_their_receives() {
    let incast = "[[job]]\nname = \"incast\"\nworkload = \"incast\"\nranks = 10\nmessage = \"20 kB\"\niterations = 3\n\
                  placement = \"random-nodes\"\nmpi = { delay = \"100 ns\" }\n";
    for protocol in PROTOCOLS.iter().filter(|protocol| common::drops(protocol)) {
        let output = run(&file(FEW_NETWORKS[2], "kind = \"par\"", protocol, &(incast.to_string() + RUN)));
        is_matched(&output);
        let dropped = common::number(&output, "incast", "dropped_packets");
        assert!(dropped > 0.0, "{protocol}: {dropped}");
    }
}

#[test]
fn jobs_give_the_same_bytes_for_any_partitions_and_threads_under_every_scheme() {
    let jobs = job("short", 5, "message = \"300 B\"\niterations = 8\nplacement = \"random-nodes\"")
        + &job(
            "long",
            4,
            "message = \"20 kB\"\niterations = 3\nstart = \"3 us\"\nplacement = \"random-groups\"",
        );
    for protocol in PROTOCOLS {
        // Ways that do not look at queues, for flows that have rates.
        let routing = if common::suited("kind = \"par\"", protocol) == *protocol { "par" } else { "valiant" };
        let routing = format!("kind = \"{routing}\"");
        let text = file(FEW_NETWORKS[2], &routing, protocol, &(jobs.clone() + RUN));
        let first = run_with(&text, &[("run.partitions", "1")]);
        is_matched(&first);
        // Threads are slow where cores are few.
        let threads = if protocol.contains("lhrp\"") { "2" } else { "1" };
        for (partitions, threads) in [("2", "1"), ("4", threads)] {
            let again = run_with(&text, &[("run.partitions", partitions), ("run.threads", threads)]);
            assert_eq!(common::result(&again), common::result(&first), "{protocol}, {partitions} partitions");
        }
    }
}

#[test]
fn every_send_is_matched_once_on_every_network_and_routing() {
    for network in FEW_NETWORKS {
        for routing in routings(network) {
            let jobs = job("ring", 6, "message = \"9 kB\"\niterations = 4");
            is_matched(&run(&file(network, &routing, "kind = \"none\"", &(jobs + RUN))));
        }
    }
}

/// The keys of every kind of workload, small, with a number of ranks that none of its grids divides evenly where it may.
const WORKLOADS: &[(&str, u32, &str)] = &[
    ("lammps", 22, "steps = 2\nreplicas = [1, 1, 1]"),
    ("milc", 24, "message = \"2 kB\"\niterations = 2"),
    ("milc", 16, "message = \"9 kB\"\ngrid = [2, 2, 2, 2]"),
    ("incast", 13, "message = \"20 kB\"\niterations = 3\ntarget = 4"),
    ("incast", 13, "message = \"160 B\"\niterations = 5\ncompute = \"2 us\""),
    ("fixed-pairs", 14, "message = \"30 kB\"\niterations = 3"),
    ("fixed-pairs", 14, "message = \"3 kB\"\niterations = 3\nsynchronise = true"),
    (
        "fixed-pairs",
        14,
        "message = \"3 kB\"\niterations = 3\nsynchronise = true\nmpi = { barrier = \"1 us\" }",
    ),
    ("periodic-aggressor", 20, "incast = 7\nmessage = \"12 kB\"\nreplicas = [1, 1, 1]\nperiods = 2"),
    ("halo3d26", 18, "cells = [6, 8, 10]\nfields = 9\ncompute = \"1 us\"\niterations = 2\nallreduce = true"),
    ("alltoall", 13, "message = \"700 B\""),
    ("alltoall", 13, "message = \"9 kB\"\nmpi = { alltoall = \"at-once\" }"),
    ("allreduce", 23, "message = \"1 kB\"\niterations = 2"),
    ("allreduce", 23, "message = \"40 kB\""),
    (
        "allreduce",
        11,
        "message = \"10 kB\"\nmpi = { allreduce = \"ring\", delay = \"0 ns\", overhead = \"0 ns\" }",
    ),
    ("broadcast", 13, "message = \"20 kB\"\niterations = 2"),
    ("reduce", 22, "message = \"1 kB\"\niterations = 2\ncompute = \"1 us\""),
    ("barrier", 19, "iterations = 3"),
    ("reduce-scatter", 22, "message = \"40 kB\"\niterations = 2"),
    ("reduce-scatter", 9, "message = \"1 MB\""),
    ("reduce-scatter", 9, "message = \"40 kB\"\nmpi = { reduce_scatter = \"ring\" }"),
    ("allgather", 22, "message = \"1 kB\"\niterations = 2"),
    ("allgather", 9, "message = \"20 kB\""),
    ("ring-exchange", 24, "message = \"10 kB\"\niterations = 2"),
    ("sweep3d", 12, "message = \"1 kB\"\nblocks = 3"),
    ("random", 21, "message = \"11 kB\"\niterations = 4"),
    ("allreduce", 24, "message = \"40 kB\"\ngroup = 4\nstride = 3\niterations = 3"),
    ("allreduce", 20, "message = \"40 kB\"\nmpi = { allreduce = \"nodes\", node = 5 }"),
    ("broadcast", 20, "message = \"9 kB\"\ngroup = 5\niterations = 3"),
    (
        "training",
        24,
        "tensor = 2\npipeline = 2\nexperts = 3\nmicro_batches = 3\nlayers = 2\nactivation = \"10 kB\"\nrouted = \"9 kB\"\n\
         gradients = \"30 kB\"\ncompute = \"1 us\"\niterations = 2",
    ),
    ("training", 7, "gradients = \"100 kB\"\ngradient_sum = \"sharded\"\niterations = 2"),
    ("goal", 2, "text = \"num_ranks 2 rank 0 { send 9b to 1 } rank 1 { recv 9b from 0 }\""),
    ("phases", 18, "permutations = 2\nsize = \"3 packets\"\nphases = 2"),
    ("vef", 2, "text = \"VEF 2 1 0 0 0 TRUE\\n0 0 1 9000 0 0 -1\""),
    // An all-reduce of 40 kB.
    (
        "chakra",
        3,
        "data.0 = \"BwoFMC4wLjQkCAEYB1INCgljb21tX3R5cGVIAFIPCgljb21tX3NpemVIwLgC\"\n\
         data.1 = \"BwoFMC4wLjQkCAEYB1INCgljb21tX3R5cGVIAFIPCgljb21tX3NpemVIwLgC\"\n\
         data.2 = \"BwoFMC4wLjQkCAEYB1INCgljb21tX3R5cGVIAFIPCgljb21tX3NpemVIwLgC\"",
    ),
    (
        "connection-matrix",
        3,
        "text = \"Nodes 3\\nConnections 2\\nTriggers 1\\n0->1 start 0 size 9000 recv_done_trigger 1\\n1->2 trigger 1 size 9\\n\
         trigger id 1 oneshot\"",
    ),
    ("flow-list", 3, "text = \"2\\n0 1 3 100 9000 2.0\\n1 2 3 100 9 2.000001\""),
];

/// A program in iterations says when each was done, and is done with the last.
fn is_told_by_iterations(output: &Output, kind: &str, keys: &str) {
    let (ends, times) = (reals(output, "iterations", "end_ns"), reals(output, "iterations", "time_ns"));
    if ["goal", "vef", "chakra", "phases", "connection-matrix", "flow-list"].contains(&kind) {
        return assert!(ends.is_empty(), "{kind}");
    }
    assert!(times.iter().all(|time| *time >= 0.0), "{kind}: {times:?}");
    let (sum, whole) = (times.iter().sum::<f64>(), of(output, "it")["time_ns"].as_f64().unwrap());
    assert_eq!(ends[ends.len() - 1], whole, "{kind}: {ends:?}");
    assert!((sum - whole).abs() < 1e-6, "{kind}, in ns, to the rounding of a sum: {times:?} {whole}");
    if let Some((_, rest)) = keys.split_once("iterations = ").filter(|_| kind != "periodic-aggressor") {
        let count = rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse::<usize>();
        assert_eq!(count, Ok(ends.len()), "{kind}");
    }
}

#[test]
fn every_workload_runs_to_its_end_with_every_send_matched_and_the_same_bytes_in_parts() {
    for kind in tailback_engine::workload::Workload::KINDS {
        assert!(WORKLOADS.iter().any(|(name, ..)| name == kind), "no small {kind}");
    }
    let each = WORKLOADS.iter().flat_map(|workload| [(workload, 1), (workload, 3)]);
    for ((kind, ranks, keys), each) in each.filter(|((kind, ..), each)| *kind != "phases" || *each == 1) {
        let text = network(&format!(
            "[[job]]\nname = \"it\"\nworkload = \"{kind}\"\nranks = {ranks}\nplacement = \"random-nodes\"\n\
             ranks_per_endpoint = {each}\n{keys}\n{RUN}"
        ));
        let whole = run_with(&text, &[("run.partitions", "1")]);
        is_matched(&whole);
        is_told_by_iterations(&whole, kind, keys);
        let parts = run_with(&text, &[("run.partitions", "4")]);
        assert_eq!(common::result(&whole), common::result(&parts), "{kind}");
    }
}

/// A copy at 1 GB/s takes 1 us, those of one sender follow each other, and each is there 70 ns later. (The copy before a message is sent takes
/// no less than 1 ps.)
#[test]
fn ranks_of_one_endpoint_hand_each_other_messages_past_the_network() {
    let mpi = "{ overhead = \"0 ns\", delay = \"0 ns\", copy = \"1000000 Tb/s\", local_latency = \"70 ns\", \
               local_bandwidth = \"1 GB/s\" }";
    let text = format!(
        "[[job]]\nname = \"it\"\nworkload = \"alltoall\"\nmessage = \"1 kB\"\nranks = 4\nranks_per_endpoint = 4\n\
         mpi = {mpi}\n{RUN}"
    );
    let output = run(&network(&text.replace("mpi = {", "mpi = { alltoall = \"at-once\",")));
    is_matched(&output);
    assert_eq!(of(&output, "it")["time_ns"], 3070.001);
    assert_eq!(
        (&of(&output, "it")["messages"], &of(&output, "it")["local_messages"]),
        (&12.into(), &12.into())
    );
    assert_eq!(output.summary["classes"]["it"]["messages"], 0);
    // One after the other: each step is an exchange.
    let output = run(&network(&text));
    assert_eq!(of(&output, "it")["time_ns"], 3210.003);
}

/// Long messages from each rank of one endpoint to one of another share the channels between these.
#[test]
fn ranks_of_one_endpoint_share_its_channel() {
    let times = [1, 4].map(|each| {
        let text = format!(
            "[[job]]\nname = \"it\"\nworkload = \"fixed-pairs\"\nmessage = \"1 MB\"\niterations = 1\nranks = {}\n\
             ranks_per_endpoint = {each}\nplacement = [3, 20]\nmpi = {{ delay = \"0 ns\" }}\n{RUN}",
            2 * each
        );
        let output = run(&network(&text));
        is_matched(&output);
        assert_eq!(of(&output, "it")["local_messages"], 0);
        assert_eq!(common::number(&output, "it", "messages"), f64::from(each), "without request and answer");
        of(&output, "it")["time_ns"].as_f64().unwrap()
    });
    let ratio = times[1] / times[0];
    assert!((3.95..4.0).contains(&ratio), "{times:?}");
}

#[test]
fn wrong_numbers_of_ranks_on_an_endpoint_are_told() {
    let with = |rest: &str| problems(&network(&(job("a", 100, rest) + RUN)));
    assert_eq!(with("message = \"1 kB\"\niterations = 1\nranks_per_endpoint = 5"), [""; 0]);
    let none = with("message = \"1 kB\"\niterations = 1\nranks_per_endpoint = 0");
    assert!(none.len() == 1 && none[0].contains("ranks_per_endpoint"), "{none:?}");
    let few = with("message = \"1 kB\"\niterations = 1\nranks_per_endpoint = 4");
    assert!(few.len() == 1 && few[0].contains("needs 25 endpoints and 24 are free: 1 too few"), "{few:?}");
    let flows = "[[job]]\nname = \"a\"\nworkload = \"phases\"\nranks = 8\nranks_per_endpoint = 2\npermutations = 1\nsize = \"3 packets\"\n";
    let flows = problems(&network(&(flows.to_string() + RUN)));
    assert!(flows.len() == 1 && flows[0].contains("from endpoint to endpoint"), "{flows:?}");
}

/// Sources and destinations of a class are endpoints, whatever the ranks there.
#[test]
fn what_ranks_of_one_endpoint_send_is_a_part_of_its_channel() {
    let text = format!(
        "[record]\nsources = true\n[[job]]\nname = \"it\"\nworkload = \"alltoall\"\nmessage = \"100 kB\"\nranks = 16\n\
         ranks_per_endpoint = 4\nmpi = {{ alltoall = \"at-once\", delay = \"0 ns\" }}\n{RUN}"
    );
    let output = run(&network(&text));
    is_matched(&output);
    let share = |key: &str| common::number(&output, "it", key);
    assert!(share("accepted") > 0.5 && share("fairness") > 0.99, "{}", share("accepted"));
    assert!(
        share("source_accepted_min") <= share("accepted")
            && share("accepted") <= share("source_accepted_max")
    );
    assert_eq!(share("accepted"), share("accepted_per_destination"));
    let Column::Int(endpoints) = column(&output, "sources", "endpoint") else {
        panic!("endpoints are numbers")
    };
    assert_eq!(endpoints, &[0, 1, 2, 3]);
}

/// Nobody leaves an out-of-band barrier before its latency has passed, and the last one to come leaves just then.
#[test]
fn a_barrier_out_of_band_takes_its_latency_from_the_last_rank_on() {
    let pairs = "[[job]]\nname = \"it\"\nworkload = \"fixed-pairs\"\nranks = 2\nsynchronise = true\nmessage = \"1 kB\"\n\
                 iterations = 1\nmpi = { barrier = \"1 us\", overhead = \"0 ns\" }\n";
    for partitions in ["1", "4"] {
        let output = run_with(&network(pairs), &[("run.partitions", partitions)]);
        let job = of(&output, "it");
        let operations = &job["operations"];
        assert_eq!(operations["barrier"]["count"], 2);
        // The sender waits for the receiver, whose message takes longer to arrive than to be sent.
        let (send, receive) = (&operations["send"]["max_ns"], &operations["receive"]["max_ns"]);
        assert_eq!(job["time_ns"].as_f64().unwrap(), receive.as_f64().unwrap() + 1000.0);
        let waited = receive.as_f64().unwrap() - send.as_f64().unwrap() + 1000.0;
        assert_eq!(operations["barrier"]["max_ns"].as_f64().unwrap(), waited);
    }
}

#[test]
fn a_job_alone_has_the_same_timing_whatever_its_number() {
    let ring = |name: &str, list: &str| {
        job(name, 4, &format!("message = \"10 kB\"\niterations = 5\nplacement = {list}"))
    };
    let here = "[0, 9, 5, 14]";
    let alone = run(&network(&(ring("a", here) + RUN)));
    let second =
        ring("idle", "[1, 2, 3, 4]") + &ring("idle too", "[20, 21, 22, 23]") + &ring("a", here) + RUN;
    let third = run_with(&network(&second), &[("run.only", "[\"a\"]")]);
    assert_eq!(of(&alone, "a"), of(&third, "a"));
    assert_eq!(alone.summary["checksum"], third.summary["checksum"]);
    // It ends with the last of the jobs that ran.
    assert_eq!(of(&third, "a")["time_ns"], third.summary["simulated_ns"]);
}

#[test]
fn what_traffic_beside_a_job_sent_until_it_was_done_is_measured_to_its_end() {
    let with = |run_table: &str| {
        let traffic =
            "[[traffic]]\nname = \"noise\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.2\n";
        run(&network(&(job("a", 4, "message = \"1 kB\"\niterations = 3") + traffic + run_table)))
    };
    let output = with("[run]\nwarmup = \"0 ns\"\nduration = \"5 ms\"");
    let noise = &output.summary["classes"]["noise"];
    assert_eq!(noise["unfinished"], 0);
    assert!(noise["messages"].as_u64().unwrap() > 100, "{noise}");
    let share = |key: &str| noise[key].as_f64().unwrap();
    assert!((share("accepted") / share("offered") - 1.0).abs() < 0.05, "{noise}");
    assert!((share("offered") / 0.2 - 1.0).abs() < 0.1, "of the time until the job was done: {noise}");
    assert_eq!(output.summary["warnings"], Value::Array(vec![]));
    // The run ends two looks of 39 us later.
    let done = of(&output, "a")["time_ns"].as_f64().unwrap();
    assert!(output.summary["simulated_ns"].as_f64().unwrap() < done + 120_000.0);
    let noise = "[[traffic]]\nname = \"noise\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.2\n[run]\nwarmup = \"0 ns\"\n";
    let nothing = run(&network(&(job("a", 4, "message = \"1 kB\"\niterations = 0") + noise)));
    let told = nothing.summary["warnings"].to_string();
    assert!(told.contains("the jobs are done as they begin, so nothing is measured"), "{told}");
    let late = with("[run]\nwarmup = \"4 ms\"\nduration = \"1 ms\"");
    let warning = late.summary["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("the jobs were done before the measured window began, at 4000 us"),
        "{warning}"
    );
}

/// It ends with the jobs, to within a 256th of the time and eight round trips of a link: nothing else decides when.
#[test]
fn neither_the_limit_of_a_run_nor_its_snapshots_decide_how_long_traffic_beside_a_job_is_measured() {
    let with = |limit: &str, record: &str| {
        let traffic =
            "[[traffic]]\nname = \"noise\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.2\n";
        let ending = format!("[run]\nwarmup = \"0 ns\"\nduration = \"{limit}\"\ndrain = \"2 us\"\n{record}");
        let output = run(&network(&(job("a", 4, "message = \"1 kB\"\niterations = 3") + traffic + &ending)));
        let done = of(&output, "a")["time_ns"].as_f64().unwrap();
        let end = output.summary["simulated_ns"].as_f64().unwrap();
        assert!(end - done < done / 256.0 + 2_000.0 + 16_000.0, "{limit}: {done} {end}");
        (output.summary["classes"].clone(), end)
    };
    let one = with("5 ms", "");
    assert_eq!(one, with("5 s", ""));
    assert_eq!(one, with("5 ms", "[record]\noccupancy = \"1 us\"\n"));
    // Where the job takes a small part of it, too, it is known how sure the means are.
    let noise = &one.0["noise"];
    assert!(noise["accepted_ci95"].as_f64().is_some_and(|half| half > 0.0), "{noise}");
    assert!(noise["backlog_growth"].is_f64(), "{noise}");
}

#[test]
fn a_port_is_busy_no_longer_than_a_window_that_jobs_end() {
    let output = run(
        "[topology]\nkind = \"single-switch\"\nendpoints = 6\n[link]\nlatency = \"10 ns\"\n[packet]\nmax = \"4000 flits\"\n\
         [routing]\nkind = \"minimal\"\n[endpoint]\nacknowledge = false\n\
         [[traffic]]\nname = \"bg\"\npattern = \"list\"\npairs = [[0, 1]]\nload = 1.0\nmessage = \"4000 flits\"\nprocess = \"periodic\"\n\
         [[job]]\nname = \"j\"\nworkload = \"ring-exchange\"\nranks = 2\nplacement = [4, 5]\nmessage = \"100 B\"\niterations = 2\n\
         [run]\nwarmup = \"1 us\"\nduration = \"100 us\"\ndrain = \"0 us\"\n[record]\nports = true\n",
    );
    let [active, stalled, idle] =
        ["active_ns", "stalled_ns", "idle_ns"].map(|column| common::reals(&output, "ports", column)[1]);
    // The first packet of port 1 comes whole from 3 to 4 us on, and the window lasts from 1 us to the end of the job.
    assert!(stalled == 0.0 && (1_000.0..3_500.0).contains(&idle), "{active} {stalled} {idle}");
}

#[test]
fn jobs_and_traffic_share_a_network() {
    let text = job("ring", 6, "message = \"2 kB\"\niterations = 20\nplacement = \"random-switches\"")
        + "[[traffic]]\nname = \"noise\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.3\n[run]\nwarmup = \"1 us\"\nduration = \"500 us\"";
    let output = run(&network(&text));
    assert_eq!(of(&output, "ring")["unfinished_ranks"], 0);
    let ends = output.summary["simulated_ns"].as_f64().unwrap();
    assert!(ends < 500_000.0, "a run ends with its jobs: {ends} ns");
    assert!(common::number(&output, "noise", "accepted") > 0.2);
}

#[test]
fn ranks_that_all_wait_for_each_other_are_named() {
    let text = network(&(job("stuck", 10, "message = \"100 kB\"\nsend_first = true") + RUN));
    let failure = match tailback_engine::run::run(&read(&text), &mut |_| true) {
        Err(RunError::Failed(failure, _)) => failure,
        other => panic!("{other:?}"),
    };
    let lines: Vec<&str> = failure.lines().collect();
    assert_eq!(
        lines[0],
        "job \"stuck\" is deadlocked: 10 of its ranks wait, and no message of it is under way"
    );
    assert_eq!(lines[1], "  rank 0: send of 100000 B to rank 1, tag 0");
    assert_eq!(lines[9], "  and 2 more");
    // Short messages are sent without asking.
    is_matched(&run(&network(&(job("short", 10, "message = \"1 kB\"\nsend_first = true") + RUN))));
}

#[test]
fn a_job_that_is_cut_short_is_told_as_unfinished() {
    let text = network(&job("ring", 4, "message = \"1 kB\"\niterations = 1000"));
    let output = run_with(&text, &[("run.duration", "20 us")]);
    assert_eq!(of(&output, "ring")["unfinished_ranks"], 4);
    assert_eq!(of(&output, "ring")["time_ns"], Value::Null);
    let warning = "job \"ring\": 4 of 4 ranks had not come to their end: run.duration is too short";
    assert_eq!(output.summary["warnings"][0], warning);
}

#[test]
fn copies_of_long_eager_messages_are_told() {
    for (mpi, told) in
        [("eager = \"1 MiB\"", 1), ("eager = \"1 MiB\", copy = \"1000 Tb/s\"", 0), ("eager = \"64 KiB\"", 0)]
    {
        let output = run(&network(&(job("it", 2, &format!("message = \"9 kB\"\nmpi = {{ {mpi} }}")) + RUN)));
        let warnings = output.summary["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), told, "{warnings:?}");
        let copied =
            "job \"it\": eager messages are copied at 14.5 Gb/s before they are sent, here up to 1048575 B";
        assert!(warnings.iter().all(|warning| warning.as_str().unwrap().starts_with(copied)), "{warnings:?}");
    }
}

#[test]
fn what_a_rank_is_in_the_middle_of_counts_as_its_communication_until_the_end_of_the_run() {
    // The pairs of the lower half wait for messages that take longer than the run.
    let pairs = "[[job]]\nname = \"it\"\nworkload = \"fixed-pairs\"\nranks = 2\nmessage = \"10 MB\"\niterations = 1\n\
                 mpi = { delay = \"1 ms\" }\n[run]\nwarmup = \"0 ns\"\nduration = \"50 us\"\ndrain = \"0 ns\"\n";
    for partitions in ["1", "4"] {
        let output = run_with(&network(pairs), &[("run.partitions", partitions)]);
        let communication = &of(&output, "it")["communication_ns"];
        assert_eq!((&communication["min"], &communication["max"]), (&50_000.0.into(), &50_000.0.into()));
        assert_eq!(common::reals(&output, "ranks", "communication_ns"), [50_000.0; 2]);
    }
}

#[test]
fn what_a_job_carries_counts_by_who_sends_and_receives_it_and_while_it_runs() {
    // Three ranks send 40 kB each to one, long messages, which ask first; another job goes on for longer.
    let incast =
        job("it", 4, "message = \"40 kB\"\niterations = 1\nmpi = { delay = \"0 ns\", overhead = \"0 ns\" }")
            .replace("ring-exchange", "incast");
    let long = |message: &str| job("long", 2, &format!("message = \"{message}\"\niterations = 20"));
    let rest = "[record]\nsources = true\nseries = \"1 us\"\n";
    let output = run(&network(&(incast.clone() + &long("10 kB") + RUN + rest)));
    let of_class = |output: &Output, name: &str| common::number(output, "it", name);
    let (time, flits) = (of(&output, "it")["time_ns"].as_f64().unwrap(), 3.0 * 3200.0);
    // A flit takes a nanosecond.
    assert!((of_class(&output, "accepted_per_destination") - flits / time).abs() < 0.01, "{time}");
    assert!((3.0 * of_class(&output, "accepted") - flits / time).abs() < 0.03, "{time}");
    let longer = run(&network(&(incast + &long("100 kB") + RUN + rest)));
    assert!((of_class(&longer, "accepted") / of_class(&output, "accepted") - 1.0).abs() < 0.02);
    // Of sources there is a row for each rank that sends data.
    let classes = column(&output, "sources", "class");
    let Column::Text(classes) = classes else { panic!("classes have names") };
    assert_eq!([3, 2], ["it", "long"].map(|name| classes.iter().filter(|class| *class == name).count()));
    let series = reals(&longer, "series", "accepted_per_destination");
    assert!(series.iter().all(|&share| share < 1.1), "{series:?}");
}

#[test]
fn orders_that_no_scheme_gives_are_not_recorded_unsaid() {
    let output = run(&network(&(job("it", 2, "message = \"1 kB\"") + RUN + "[record]\ncontrol = true\n")));
    let told = output.summary["warnings"].to_string();
    assert!(told.contains("record.control: \\\"none\\\" gives no orders to record"), "{told}");
}

#[test]
fn communication_ends_with_the_run() {
    let slow = job("slow", 4, "message = \"1 kB\"\niterations = 9\nmpi = { overhead = \"30 us\" }");
    let text = network(&(slow + "[run]\nwarmup = \"0 ns\"\nduration = \"50 us\"\ndrain = \"0 ns\"\n"));
    let output = run(&text);
    let times = common::reals(&output, "ranks", "communication_ns");
    assert!(times.iter().all(|&time| time > 0.0 && time <= 50_000.0), "{times:?}");
}

#[test]
fn a_job_that_has_sent_all_before_the_window_is_named() {
    let early = job("early", 4, "message = \"1 kB\"\niterations = 1");
    let late = job("late", 4, "message = \"1 kB\"\niterations = 1\nstart = \"60 us\"");
    let run_part = "[run]\nwarmup = \"50 us\"\nduration = \"20 us\"\n";
    let output = run(&network(&(early + &late + run_part)));
    let told = output.summary["warnings"].to_string();
    assert!(
        told.contains("job \\\"early\\\": it created its messages outside the measured window of 50 to "),
        "{told}"
    );
}

#[test]
fn the_phase_that_a_run_ends_in_counts_until_then() {
    let phases = "[[job]]\nname = \"it\"\nworkload = \"phases\"\nranks = 4\nsize = \"1 MB\"\nphases = 9\n\
                  [run]\nwarmup = \"0 ns\"\nduration = \"50 us\"\ndrain = \"0 ns\"\n";
    let output = run(&network(phases));
    assert_eq!(of(&output, "it")["unfinished_ranks"], 4);
    assert_eq!(common::reals(&output, "ranks", "communication_ns"), [50_000.0; 4]);
}

#[test]
fn a_message_that_no_packet_numbers_can_count_is_refused() {
    let text = network(&(job("huge", 2, "message = \"10 GB\"") + RUN));
    let told = "job.huge.message: a message of 10000000000 B, but one of at most 2516582100 B can be sent";
    assert!(problems(&text).join("").contains(told), "{:?}", problems(&text));
    // Of a collective, those that it is cut into.
    let told = |job: &str| problems(&network(&(job.to_string() + RUN))).join("");
    let of = |workload: &str, rest: &str| {
        told(&format!("[[job]]\nname = \"huge\"\nworkload = \"{workload}\"\nranks = 4\n{rest}\n"))
    };
    for (workload, rest, key, bytes) in [
        ("allreduce", "message = \"20 GB\"", "message", "10000000000"),
        (
            "allreduce",
            "message = \"4 GB\"\nmpi = { allreduce = \"recursive-doubling\" }",
            "message",
            "4000000000",
        ),
        ("allgather", "message = \"2 GB\"\nmpi = { allgather = \"bruck\" }", "message", "4000000000"),
        ("training", "gradients = \"11 GB\"", "gradients", "5500000000"),
        ("training", "tensor = 4\nactivation = \"11 GB\"", "activation", "5500000000"),
        ("training", "pipeline = 4\nactivation = \"3 GB\"", "activation", "3000000000"),
        ("training", "experts = 4\nrouted = \"12 GB\"\ngradients = \"1 B\"", "routed", "3000000000"),
        ("training", "gradients = \"1 B\"\nmpi = { control = \"3 GB\" }", "mpi.control", "3000000000"),
    ] {
        let expected =
            format!("job.huge.{key}: a message of {bytes} B, but one of at most 2516582100 B can be sent");
        let told = of(workload, rest);
        assert!(told.contains(&expected), "{workload}, {rest}: {told}");
    }
    for (workload, rest) in [
        ("allreduce", "message = \"5 GB\""),
        ("alltoall", "message = \"2 GB\""),
        ("training", "gradients = \"10 GB\"\ngradient_sum = \"sharded\""),
        ("training", "tensor = 2\npipeline = 2\nactivation = \"4 GB\""),
        ("training", "experts = 4\nrouted = \"10 GB\"\ngradients = \"1 B\""),
    ] {
        assert_eq!(of(workload, rest), "", "{workload}, {rest}");
    }
}

/// Questions and answers of a rendezvous are no data, however long: what arrives fills the target's channel, and no more.
#[test]
fn what_software_asks_and_answers_is_no_data() {
    let with = |control: &str| {
        let incast = "[[job]]\nname = \"in\"\nworkload = \"incast\"\nranks = 8\nmessage = \"8 KiB\"\niterations = 50\n";
        let mpi = format!("mpi = {{ delay = \"0 ns\", overhead = \"0 ns\", control = \"{control}\" }}\n");
        run(&network(&format!(
            "{incast}{mpi}{RUN}[record]\nsources = true\npairs = \"5 us\"\nseries = \"5 us\"\n"
        )))
    };
    for control in ["64 B", "2 KiB"] {
        let output = with(control);
        let part = |key: &str| common::number(&output, "in", key);
        assert!(
            part("accepted_per_destination") <= 1.0 && part("accepted_per_destination") > 0.4,
            "{control}"
        );
        let shares = common::reals(&output, "sources", "accepted");
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        assert!((part("accepted") - mean).abs() < 1e-12, "{control}: {} and {mean}", part("accepted"));
        let bins = common::reals(&output, "series", "accepted_per_destination");
        assert!(bins.iter().all(|&share| share <= 1.1), "{control}: {bins:?}");
        assert_eq!(part("messages"), 7.0 * 50.0);
        // 8 KiB in flits of the default size.
        let flits = common::ints(&output, "pairs", "flits");
        let message = 65536 / output.summary["flit_bits"].as_i64().unwrap_or(100) + 1;
        assert_eq!(flits.iter().sum::<i64>(), 350 * message);
    }
}

#[test]
fn mistakes_in_jobs_are_told_with_what_to_do() {
    let message = "message = \"1 kB\"";
    let told = |jobs: &str| problems(&network(jobs)).join("\n");
    let uniform = "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.1\n";
    for (jobs, expected) in [
        (
            job("a", 25, message),
            "line 16: job.a.ranks: the job needs 25 endpoints and 24 are free: 1 too few (fewer ranks, a larger network, or `share = true` here and in what else uses the endpoints)",
        ),
        (
            job("a", 20, message) + &job("b", 10, message),
            "the job needs 10 endpoints and 4 are free: 6 too few",
        ),
        (job("a", 2, message) + uniform, "the job needs 2 endpoints and 0 are free: 2 too few"),
        (job("a", 2, message) + &job("a", 2, message), "something else is called \"a\" too"),
        (job("a", 2, message) + &job("all", 2, message), "results call all classes together \"all\""),
        (job("a\\u0000", 2, message), "it has control characters"),
        (job(&"a".repeat(201), 2, message), "it has 201 characters, over 200"),
        (job("a", 2, "placement = [1, 1]\nmessage = \"1 kB\""), "endpoint 1 is named twice"),
        (job("a", 2, "placement = \"linnear\"\nmessage = \"1 kB\""), "expected \"linear\", \"random-nodes\""),
        (job("a", 2, ""), "message: this key is missing"),
        (job("a", 2, "mesage = \"1 kB\""), "did you mean message?"),
        (job("a", 2, message).replace("ring-ex", "ring-x"), "did you mean ring-exchange?"),
        (job("a", 2, message).replace("ranks = 2", ""), "ranks: this key is missing"),
        (
            job("a", 2, "mpi = { delay = \"0 ns\" }").replace("ring-exchange", "phases"),
            "job.a.mpi: flows of phases are sent as they are, not by MPI (leave it out: `barrier` beside it is the time between phases)",
        ),
        (job("a", 2, message) + "[run]\nonly = []\n", "run.only"),
        (job("a", 2, message) + "[run]\nonly = [\"b\"]\n", "there is no traffic or job called \"b\""),
        (
            job("a", 22, "message = \"1 kB\"\ngroup = 4\nstride = 2").replace("ring-exchange", "allreduce"),
            "job.a.group: 22 ranks cannot be put into groups of 4 with a stride of 2 (ranks = a multiple of 8)",
        ),
        (
            job("a", 22, "message = \"1 kB\"\nstride = 2").replace("ring-exchange", "allreduce"),
            "job.a.stride: there are no groups whose ranks it could set apart (a size of groups, `group`)",
        ),
        (
            job("a", 20, "tensor = 4\npipeline = 2").replace("ring-exchange", "training"),
            "job.a.tensor: 20 ranks are no whole number of replicas, each of 2 stages of 4 ranks (ranks = a multiple of 8)",
        ),
        (
            job("a", 8, "pipeline = 2\nexperts = 3").replace("ring-exchange", "training"),
            "job.a.experts: 4 replicas cannot be put into groups of 3 (a divisor of 4)",
        ),
        (
            job("a", 2, "pipeline = 2").replace("ring-exchange", "training"),
            "job.a.activation: missing: a stage passes it on (a size)",
        ),
        (String::new(), "there is neither traffic nor a job (a [[traffic]] or a [[job]] table)"),
    ] {
        let told = told(&jobs);
        assert!(told.contains(expected), "{expected}\nis not in\n{told}");
    }
    // What is cut into messages may be longer than any of them.
    assert_eq!(told(&job("a", 8, "gradients = \"5 GB\"").replace("ring-exchange", "training")), "");
    let told = told(&job("a", 2, ""));
    assert!(!told.contains("neither"), "a job with a mistake is one: {told}");
}

/// An endpoint has one user, or several that all share: whoever does not say so is alone, in whatever order they stand.
#[test]
fn endpoints_are_shared_only_by_those_who_all_say_so() {
    let with = |name: &str, ranks: u32, share: bool, place: &str| {
        job(name, ranks, &format!("message = \"1 kB\"\nshare = {share}\nplacement = {place}"))
    };
    let linear = "\"linear\"";
    let traffic = |share: bool| {
        format!(
            "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nendpoints = [0, 1, 2, 3]\nload = 0.1\nshare = {share}\n"
        )
    };
    let told = |text: &str| problems(&network(text)).join("\n");
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let (both, few) = (a && b, "the job needs 20 endpoints and 4 are free");
        for (text, expected) in [
            (with("a", 20, a, linear) + &with("b", 20, b, linear), few),
            (
                with("a", 2, a, "[3, 4]") + &with("b", 2, b, "[4, 5]"),
                "1 of these endpoints are used by others, such as 4",
            ),
            (traffic(a) + &with("b", 24, b, linear), "the job needs 24 endpoints and 20 are free"),
            (with("a", 2, a, "[3, 4]") + &traffic(b), "1 of these endpoints are used by others, such as 3"),
        ] {
            let told = told(&text);
            assert!(
                if both { told.is_empty() } else { told.contains(expected) },
                "{a} {b}: {expected}\n{told}"
            );
        }
    }
    // Where there is room for it, who is alone stays away from all others, and they from it.
    let text = traffic(true)
        + &with("a", 4, true, linear)
        + &with("b", 4, false, linear)
        + &with("c", 6, true, linear);
    let plan = run(&network(&(text + "[run]\nwarmup = \"0 ns\"\nduration = \"200 us\"\n")));
    let Column::Int(places) = common::column(&plan, "ranks", "endpoint") else { panic!("they are whole") };
    assert_eq!(places, &[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 8, 9]);
}

/// What is told before a run of classes and jobs that will do nothing in its times.
#[test]
fn starts_and_stops_outside_the_run_are_told_before_it() {
    let traffic = |name: &str, when: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"uniform\"\nendpoints = \"rest\"\nshare = true\nload = 0.1\n{when}\n"
        )
    };
    let text = network(
        &(job("late", 2, "message = \"1 kB\"\niterations = 1\nstart = \"1 s\"")
            + &job("now", 2, "message = \"1 kB\"\niterations = 1")
            + &traffic("later", "start = \"7 us\"")
            + &traffic("before", "stop = \"1 us\"")
            + &traffic("within", "start = \"2 us\"\nstop = \"3 us\"")
            + "[run]\nwarmup = \"2 us\"\nduration = \"5 us\"\ndrain = \"1 us\"\n"),
    );
    let told = tailback_engine::run::remarks(&read(&text)).unwrap();
    assert_eq!(
        told,
        [
            "class \"later\" would start at 7 us, after the measured window, which ends at 7 us",
            "class \"before\" stops at 1 us, before the measured window, which begins at 2 us",
            "job \"late\" would start at 1000000 us, after the end of the run, at 8 us",
        ]
    );
}
