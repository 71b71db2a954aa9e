//! Endpoints that are slow for a time, and ranks that compute slowly.
use crate::common::*;
use proptest::prelude::*;
use tailback_engine::problem::Problem;
use tailback_engine::report::Output;
use tailback_engine::scenario::Scenario;

/// Packets of 24 flits of 1 ns, one behind the other, to an endpoint that is 10 ns from its switch.
const SENT: &str = r#"topology = { kind = "single-switch", endpoints = 3 }
routing = "minimal"
endpoint = { acknowledge = false }
link = { latency = "10 ns" }
[[traffic]]
name = "t"
pattern = "list"
pairs = [[1, 0]]
endpoints = [0, 1]
process = "one-shot"
message = "96 flits"
[run]
warmup = "0 us"
duration = "1 us"
drain = "0 us"
[record]
packets = true
ports = true
"#;

/// Start on the endpoint's channel, and arrival, of each packet.
fn taken(slow: &str) -> Vec<(f64, f64)> {
    let output = run_with(SENT, &[("endpoint.slow", slow)]);
    let [starts, ends] = ["start_ns", "tail_ns"].map(|name| reals(&output, "packets", name));
    let to = words(&output, "packets", "to");
    let here = (0..to.len()).filter(|&at| to[at] == "endpoint 0");
    here.map(|at| (starts[at], ends[at])).collect()
}

#[test]
fn an_endpoint_takes_each_part_of_a_packet_as_fast_as_it_takes_data_then() {
    // Heads come to the switch 11 ns after they start, and leave at once.
    assert_eq!(taken("[]"), [(11., 45.), (35., 69.), (59., 93.), (83., 117.)]);
    // Nothing from the middle of the first packet on: twelve flits by 23, and the rest from 123 on.
    let stalled = "[{ endpoints = [0], start = '23 ns', stop = '123 ns' }]";
    assert_eq!(taken(stalled), [(11., 145.), (135., 169.), (159., 193.), (183., 217.)]);
    // A quarter of the rate from 23 to 43: twelve flits, five more, and the last seven at full rate. Others have no part in it.
    let slow = "[{ endpoints = [0, 2], start = '23 ns', stop = '43 ns', drain_rate = '25 Gb/s' }]";
    assert_eq!(taken(slow)[..2], [(11., 60.), (50., 84.)]);
    // The slowest counts, in turn a half, a quarter, a half, and all: by 15, 19, 31 and 37 two, three, nine and 15 flits.
    let both = "[{ endpoints = { sample = 3 }, stop = '31 ns', drain_rate = '50 Gb/s' }, \
                { endpoints = 'all', start = '15 ns', stop = '19 ns', drain_rate = '25 Gb/s' }]";
    assert_eq!(taken(both)[0], (11., 31. + 15. + 10.));
    // Three flits of a third of a nanosecond's worth too little: rounded up to a tick of a picosecond.
    let odd = "[{ endpoints = [0], drain_rate = '7 Gb/s' }]";
    assert_eq!(taken(odd)[0], (11., 11. + 342.858 + 10.));
    assert_eq!(taken("[{ endpoints = [1, 2], stop = '1 us' }]"), taken("[]"));
    // One that never takes anything again has the first packet on its channel when the run is over.
    let dead = taken("[{ endpoints = [0], start = '11 ns' }]");
    assert_eq!((dead.len(), dead[0].0), (1, 11.0));
    assert!(dead[0].1 > 1000.0);
}

#[test]
fn a_slow_endpoint_holds_its_channel_and_nothing_else() {
    let output =
        run_with(SENT, &[("endpoint.slow", "[{ endpoints = [0], start = '23 ns', stop = '123 ns' }]")]);
    let port = 0;
    // It holds packets from 11 to 207, but sends for four times 24 ns of that.
    assert_eq!(reals(&output, "ports", "active_ns")[port], 96.0);
    assert_eq!(reals(&output, "ports", "stalled_ns")[port], 100.0);
    // Of a run that ends in the middle of it, the first packet and a part of the stall.
    let slow = "[{ endpoints = [0], start = '23 ns', stop = '123 ns' }]";
    let output = run_with(SENT, &[("endpoint.slow", slow), ("run.duration", "75 ns")]);
    let told = ["active_ns", "stalled_ns"].map(|name| reals(&output, "ports", name)[port]);
    assert_eq!(told, [24.0, 40.0]);
}

/// A hot spot beside other traffic, with whatever else the files of `networks` have.
pub const BUSY: &str = "[[traffic]]\nname = \"hot\"\npattern = \"hotspot\"\nsources = 3\ndestinations = 1\nload = 0.5\nmessage = \"4 flits\"\n\
[[traffic]]\nname = \"others\"\npattern = \"uniform\"\nendpoints = \"rest\"\nload = 0.5\nmessage = \"40 flits\"\n\
[run]\nwarmup = \"500 ns\"\nduration = \"1 us\"\ndrain = \"1 us\"\n[record]\nports = true\nmessages = true\n";

/// A result without warnings, of which what is slow may have some of its own.
pub fn compared(text: &str, changes: &[(&str, &str)]) -> String {
    let mut output = run_with(text, changes);
    output.summary.as_object_mut().unwrap().remove("warnings");
    result(&output)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever the network, the switch and the scheme: slowness over before it matters, or no less than all have, changes nothing; and
    /// what matters is the same however the network is cut.
    #[test]
    fn slowness_is_a_matter_of_the_endpoint_alone(
        seed in 0_u64..1000,
        which in 0_usize..1000,
        partitions in 2_u32..6,
        rate in prop::sample::select(vec![7, 30, 90]),
        (start, length) in (0_u32..1500, 1_u32..800),
    ) {
        let all = routed(FEW_NETWORKS);
        let (network, routing) = &all[which % all.len()];
        let (switch, protocol) = (SWITCHES[which % SWITCHES.len()], PROTOCOLS[which % PROTOCOLS.len()]);
        let seed = seed.to_string();
        let text = file(network, routing, suited(routing, protocol), &format!("[switch]\n{switch}\n{BUSY}"));
        let with = |slow: &str, partitions: &str| compared(&text, &[
            ("endpoint.slow", slow), ("run.seed", &seed), ("run.partitions", partitions), ("run.threads", "2")
        ]);
        let none = with("[]", "1");
        let idle = "[{ endpoints = 'all', drain_rate = '100 Tb/s' }, { endpoints = { sample = 2 }, start = '1 s', stop = '2 s' }]";
        prop_assert!(none == with(idle, "1"));
        let slow = format!(
            "[{{ endpoints = {{ sample = 3 }}, drain_rate = '{rate} Gb/s' }}, \
             {{ endpoints = {{ sample = 4 }}, start = '{start} ns', stop = '{} ns' }}]", start + length
        );
        let one = with(&slow, "1");
        prop_assert!(none != one);
        prop_assert!(one == with(&slow, &partitions.to_string()));
    }

    /// Under what reckons with nothing, all endpoints slow from the first moment on are what `drain_rate` says of all.
    #[test]
    fn all_of_them_slow_all_the_time_is_a_drain_rate(which in 0_usize..1000, rate in 10_u32..100) {
        let all = routed(FEW_NETWORKS);
        let (network, routing) = &all[which % all.len()];
        let switch = SWITCHES[which % SWITCHES.len()];
        let text = file(network, routing, suited(routing, "kind = \"none\""), &format!("[switch]\n{switch}\n{BUSY}"));
        let rate = format!("{rate} Gb/s");
        // What messages take alone is told without slow endpoints.
        let checksum = |key: &str, value: &str| run_with(&text, &[(key, value)]).summary["checksum"].clone();
        let each = checksum("endpoint.slow", &format!("[{{ endpoints = 'all', drain_rate = '{rate}' }}]"));
        prop_assert_eq!(&each, &checksum("endpoint.drain_rate", &rate));
        prop_assert_ne!(&each, &checksum("endpoint.slow", "[]"));
    }
}

/// All that is wrong with a scenario.
pub fn problems_in(text: &str, changes: &[(&str, &str)]) -> Vec<Problem> {
    let changes = Vec::from_iter(changes.iter().map(|(key, value)| (key.to_string(), value.to_string())));
    Scenario::parse(text, &changes)
        .map_or_else(|problems| problems, |scenario| tailback_engine::run::check(&scenario))
}

fn problems_of(changes: &[(&str, &str)]) -> Vec<Problem> {
    problems_in(SENT, changes)
}

#[test]
fn mistakes_in_slow_endpoints_are_told() {
    let wrong = [
        ("[{ endpoints = 'rest', stop = '1 us' }]", "endpoint.slow.0.endpoints", "\"rest\" is for traffic"),
        ("[{ endpoints = [3], stop = '1 us' }]", "endpoint.slow.0.endpoints", "there is no endpoint 3"),
        ("[{ endpoints = [1, 1], stop = '1 us' }]", "endpoint.slow.0.endpoints", "named twice"),
        ("[{ endpoints = [1], start = '2 us', stop = '1 us' }]", "endpoint.slow.0.stop", "stops at 1 us"),
        ("[{ endpoints = [1], drain_rate = '0 b/s' }]", "endpoint.slow.0.drain_rate", ""),
        ("[{ drain_rate = '1 b/s' }]", "endpoint.slow.0.endpoints", "missing"),
    ];
    for (slow, path, message) in wrong {
        let problems = problems_of(&[("endpoint.slow", slow)]);
        assert!(
            problems.iter().any(|one| one.path == path && one.message.contains(message)),
            "{slow}: {problems:?}"
        );
    }
    let misspelt = problems_of(&[("endpoint.slow", "[{ endpoints = [1], drain_rat = '1 Gb/s' }]")]);
    assert_eq!(
        misspelt.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(),
        ["endpoint.slow.0.drain_rat"]
    );
    let interleaved = problems_of(&[
        ("endpoint.slow", "[{ endpoints = [1], stop = '1 us' }]"),
        ("packet.interleave", "true"),
    ]);
    assert_eq!(interleaved.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["packet.interleave"]);
}

#[test]
fn slow_endpoints_are_described() {
    let slow = "[{ endpoints = { sample = 2 }, start = '20 ns', stop = '70 ns' }, { endpoints = [0], drain_rate = '10 Gb/s', start = '9 us' }, \
                { endpoints = [1], drain_rate = '100 Gb/s' }]";
    let scenario = read_with(SENT, &[("endpoint.slow", slow)]);
    let facts = tailback_engine::run::describe(&scenario).unwrap();
    let rows = facts["slow_endpoints"].as_array().unwrap();
    let stalled = Vec::from_iter(rows.iter().filter(|row| row["gbit_per_s"] == 0.0));
    let members: usize = stalled.iter().map(|row| row["count"].as_u64().unwrap() as usize).sum();
    assert_eq!(members, 2);
    assert!(stalled.iter().all(|row| row["from_ns"] == 20.0));
    assert!(rows.iter().any(|row| row["from_ns"] == 70.0 && row["gbit_per_s"] == 100.0));
    assert!(rows.iter().all(|row| row["from_ns"] != 9000.0), "the run is over by then");
    let told = tailback_engine::run::remarks(&scenario).unwrap();
    assert!(told.iter().any(|told| told.starts_with("endpoint.slow.1 would start at 9 us")), "{told:?}");
    assert!(told.iter().any(|told| told.starts_with("endpoint.slow.2.drain_rate is 100 Gb/s")), "{told:?}");
}

#[test]
fn what_channels_can_carry_counts_endpoints_that_are_always_slow() {
    let text = "topology = { kind = \"single-switch\", endpoints = 8 }\nrouting = \"minimal\"\n\
                [[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.2\n";
    let bound = |slow: &str| {
        let scenario = read_with(text, &[("endpoint.slow", slow)]);
        tailback_engine::run::load(&scenario).unwrap()["bounds"][0]["throughput_bound"].as_f64().unwrap()
    };
    assert!((bound("[{ endpoints = [3], drain_rate = '50 Gb/s' }]") - 0.5).abs() < 1e-9);
    let beside = "[{ endpoints = [3], drain_rate = '1 b/s' }, { endpoints = [3], drain_rate = '50 Gb/s', start = '1 us', stop = '2 us' }]";
    assert!((bound(beside) * 1e11 - 1.0).abs() < 1e-6, "the slowest counts");
    assert!((bound("[{ endpoints = [3], drain_rate = '50 Gb/s', stop = '1 s' }]") - 0.5).abs() < 1e-9);
    // A stall is a matter of its time.
    assert!((bound("[{ endpoints = [3], drain_rate = '50 Gb/s', start = '1 us' }]") - 1.0).abs() < 1e-9);
}

/// A job of four ranks on a switch.
fn job(keys: &str, slow: &str) -> Result<Output, Vec<Problem>> {
    let text = format!(
        "topology = {{ kind = \"single-switch\", endpoints = 4 }}\nrouting = \"minimal\"\n[[job]]\nname = \"j\"\n{keys}\n\
         [run]\nduration = \"10 ms\"\n"
    );
    let scenario = Scenario::parse(&text, &[("job.j.slow".to_string(), slow.to_string())])?;
    match tailback_engine::run::run(&scenario, &mut |_| true) {
        Ok(output) => Ok(output),
        Err(tailback_engine::report::RunError::Problems(problems)) => Err(problems),
        Err(failed) => panic!("{failed:?}"),
    }
}

fn took(keys: &str, slow: &str) -> f64 {
    let output = job(keys, slow).unwrap_or_else(|problems| panic!("{problems:?}"));
    output.summary["jobs"]["j"]["time_ns"].as_f64().unwrap()
}

#[test]
fn all_wait_for_a_rank_that_computes_slowly() {
    let goal = "workload = \"goal\"\ntext = \"\"\"num_ranks 2\nrank 0 {\nl1: calc 1000\nl2: calc 500\nl3: send 8b to 1\nl3 requires l1\n\
                l3 requires l2\n}\nrank 1 {\nl1: recv 8b from 0\n}\n\"\"\"";
    let training = "workload = \"training\"\nranks = 4\niterations = 2\nlayers = 1\ngradients = \"4 kB\"\ncompute = \"20 us\"";
    let barrier = "workload = \"barrier\"\nranks = 4\niterations = 3\ncompute = \"10 us\"";
    // What each computes beyond that is waited for: by a half three times, of both operations of a trace, and of two iterations forward and back.
    for (keys, factor, more) in [(barrier, 1.5, 15_000.0), (goal, 3.0, 3_000.0), (training, 1.25, 30_000.0)] {
        let rank = if keys == goal { 0 } else { 2 };
        let one =
            format!("[{{ ranks = [{rank}], compute = {factor} }}, {{ ranks = [{rank}], compute = 1.0 }}]");
        let longer = took(keys, &one) - took(keys, "[]");
        // What the others sent meanwhile has come, which a round of messages of 0.1 us at most is quicker for.
        assert!((more - 100.0..=more + 0.001).contains(&longer), "{keys}: {longer}");
        assert_eq!(took(keys, "[{ ranks = [0], compute = 1.0 }]"), took(keys, "[]"));
    }
    // Those that compute nothing cannot be slow, which is told.
    let warns = |keys: &str| {
        let output = job(keys, "[{ ranks = [1], compute = 2.0 }]").unwrap();
        output.summary["warnings"].to_string().contains("slow ranks have computed nothing")
    };
    assert_eq!([warns("workload = \"barrier\"\nranks = 4"), warns(barrier)], [true, false]);
    // If all are slow, none waits for another.
    let all = job(barrier, "[{ ranks = ['0-3'], compute = 2.0 }]").unwrap();
    let usual = job(barrier, "[]").unwrap();
    let waits = |output: &Output| output.summary["jobs"]["j"]["communication_ns"]["max"].as_f64().unwrap();
    assert!((waits(&all) - waits(&usual)).abs() < 1.0);
}

#[test]
fn mistakes_in_slow_ranks_are_told() {
    let barrier = "workload = \"barrier\"\nranks = 4\ncompute = \"10 us\"";
    let flows = "workload = \"flow-list\"\ntext = \"1\\n0 1 3 1000 0\\n\"";
    for (keys, slow, path, message) in [
        (barrier, "[{ ranks = [4], compute = 2.0 }]", "job.j.slow.0.ranks", "there is no rank 4"),
        (
            barrier,
            "[{ ranks = [1], compute = 0.5 }]",
            "job.j.slow.0.compute",
            "expected a number from 1 to 1000000",
        ),
        (barrier, "[{ ranks = [1] }]", "job.j.slow.0.compute", "missing"),
        (flows, "[{ ranks = [1], compute = 2.0 }]", "job.j.slow", "do not compute"),
    ] {
        let problems = job(keys, slow).err().unwrap_or_default();
        assert!(problems.iter().any(|one| one.path == path && one.message.contains(message)), "{problems:?}");
    }
}

/// Requests that were sent are no message of data, but they are something.
#[test]
fn a_job_of_which_only_requests_were_sent_has_begun() {
    let output = job("workload = \"incast\"\nranks = 4\nmessage = \"100 kB\"", "[]").unwrap();
    let text = output.summary["warnings"].to_string();
    assert!(!text.contains("outside the measured window"), "{text}");
    let stuck = "topology = { kind = \"single-switch\", endpoints = 4 }\nrouting = \"minimal\"\nendpoint = { slow = [{ endpoints = \"all\" }] }\n\
                 [[job]]\nname = \"j\"\nworkload = \"incast\"\nranks = 4\nmessage = \"100 kB\"\n[run]\nduration = \"1 ms\"\n";
    let output = run(stuck);
    assert_eq!(number(&output, "j", "messages"), 0.0);
    let text = output.summary["warnings"].to_string();
    assert!(text.contains("4 of 4 ranks") && !text.contains("outside the measured window"), "{text}");
}
