//! Chakra traces: read, run, and every malformed one told. The files are written here byte by byte, after `et_def.proto`.
use crate::common::told;
use proptest::prelude::*;
use std::io::Write;
use tailback_engine::base64;
use tailback_engine::report::{Output, RunError};
use tailback_engine::scenario::Scenario;

const ALL_REDUCE: u64 = 0;
const ALL_GATHER: u64 = 2;
const BROADCAST: u64 = 5;
const ALL_TO_ALL: u64 = 6;
const REDUCE_SCATTER: u64 = 7;
const BARRIER: u64 = 9;

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 128 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A field that is a number.
fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

/// A field that is a text, a message, or numbers one after the other.
fn block(field: u64, bytes: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(bytes.len() as u64), bytes.to_vec()].concat()
}

/// An attribute whose value is the field `kind` (9 for int64, 13 uint64, 27 bool).
fn attribute(name: &str, kind: u64, value: u64) -> Vec<u8> {
    block(10, &[block(1, name.as_bytes()), number(kind, value)].concat())
}

fn text(name: &str, value: &str) -> Vec<u8> {
    block(10, &[block(1, name.as_bytes()), block(29, value.as_bytes())].concat())
}

/// For each dimension, whether an operation is of it.
fn involved(flags: &[u8]) -> Vec<u8> {
    block(10, &[block(1, b"involved_dim"), block(28, &block(1, flags))].concat())
}

/// A node of a type that waits for others and takes so many us.
fn node(id: u64, kind: u64, after: &[u64], us: u64, attributes: &[Vec<u8>]) -> Vec<u8> {
    let after = after.iter().flat_map(|&id| varint(id)).collect::<Vec<u8>>();
    let fields = [number(1, id), block(2, b"op"), number(3, kind), block(5, &after), number(7, us)];
    [fields.concat(), attributes.concat()].concat()
}

fn computing(id: u64, after: &[u64], us: u64, on_host: bool) -> Vec<u8> {
    node(id, 4, after, us, &[attribute("is_cpu_op", 27, on_host.into())])
}

fn collective(id: u64, after: &[u64], operation: u64, bytes: u64, more: &[Vec<u8>]) -> Vec<u8> {
    let attributes = [attribute("comm_type", 9, operation), attribute("comm_size", 13, bytes), more.concat()];
    node(id, 7, after, 0, &attributes)
}

fn send(id: u64, after: &[u64], to: u64, bytes: u64, tag: u64) -> Vec<u8> {
    let attributes =
        [attribute("comm_dst", 7, to), attribute("comm_size", 9, bytes), attribute("comm_tag", 11, tag)];
    node(id, 5, after, 0, &attributes)
}

fn receive(id: u64, after: &[u64], from: u64, tag: u64) -> Vec<u8> {
    node(id, 6, after, 0, &[attribute("comm_src", 7, from), attribute("comm_tag", 11, tag)])
}

/// A control dependency of a node.
fn called_by(id: u64) -> Vec<u8> {
    block(4, &varint(id))
}

/// A rank's file.
fn trace(nodes: &[Vec<u8>]) -> Vec<u8> {
    let metadata = block(1, b"0.0.4");
    let framed = |message: &Vec<u8>| [varint(message.len() as u64), message.clone()].concat();
    std::iter::once(&metadata).chain(nodes).flat_map(framed).collect()
}

/// A job on a switch, by what stands in its table.
fn on_a_switch(job: &str) -> Result<Scenario, String> {
    let text = format!(
        "[topology]\nkind = \"single-switch\"\nendpoints = 8\n[link]\nhost = \"5 ns\"\n[packet]\nflit = \"100 b\"\nmax = \"24 flits\"\n\
         [endpoint]\nacknowledge = false\n[routing]\nkind = \"minimal\"\n[run]\nduration = \"100 ms\"\n\
         [[job]]\nname = \"trace\"\n{job}"
    );
    Scenario::parse(&text, &[])
        .map_err(|problems| problems.iter().map(|problem| format!("{problem}\n")).collect())
}

/// A job of these files.
fn scenario(files: &[Vec<u8>], changes: &str) -> Result<Scenario, String> {
    let data: String = (0..)
        .zip(files)
        .map(|(rank, file)| format!("data.{rank} = \"{}\"\n", base64::encode(file)))
        .collect();
    on_a_switch(&format!("workload = \"chakra\"\nranks = {}\n{data}{changes}", files.len()))
}

fn try_run(files: &[Vec<u8>], changes: &str) -> Result<Output, String> {
    output_of(&scenario(files, changes)?)
}

fn output_of(scenario: &Scenario) -> Result<Output, String> {
    match tailback_engine::run::run(scenario, &mut |_| true) {
        Ok(output) => Ok(output),
        Err(RunError::Problems(problems)) => Err(told(&problems)),
        Err(other) => Err(format!("{other:?}")),
    }
}

#[track_caller]
fn run(files: &[Vec<u8>], changes: &str) -> Output {
    try_run(files, changes).unwrap_or_else(|told| panic!("{told}"))
}

/// How long the job took, in ns, and its messages and bytes.
#[track_caller]
fn outcome(files: &[Vec<u8>], changes: &str) -> (f64, u64, u64) {
    let output = run(files, changes);
    let job = &output.summary["jobs"]["trace"];
    assert_eq!(job["unfinished_ranks"], 0, "{job}");
    assert_eq!(job["messages"], job["delivered_messages"]);
    let count = |key: &str| job[key].as_u64().unwrap();
    (job["time_ns"].as_f64().unwrap(), count("messages"), count("bytes"))
}

/// The same operation in the files of all ranks.
fn alike(ranks: usize, nodes: &[Vec<u8>]) -> Vec<Vec<u8>> {
    vec![trace(nodes); ranks]
}

/// From the beginning of a message of so many bytes to the arrival of its last flit, in ns: flits of 100 bits, one a ns.
fn alone(bytes: u64) -> f64 {
    (bytes * 8).div_ceil(100) as f64 + 11.0
}

const RINGS: &str = "mpi = { allreduce = \"ring\", reduce_scatter = \"ring\", allgather = \"ring\" }\n";

#[test]
fn a_ring_takes_its_closed_form_as_one_operation_and_as_sends_and_receives() {
    let (ranks, part) = (4_u64, 25_000);
    let whole = collective(0, &[], ALL_REDUCE, ranks * part, &[]);
    let (time, messages, bytes) = outcome(&alike(4, &[whole]), RINGS);
    assert_eq!((time, messages, bytes), (6.0 * alone(part), 24, 24 * part));
    // Each step sends what came in the one before.
    let of_rank = |rank: u64| {
        let step = |at: u64| {
            let after: Vec<u64> = if at == 0 { vec![] } else { vec![2 * at - 1] };
            let from = (rank + ranks - 1) % ranks;
            [send(2 * at, &after, (rank + 1) % ranks, part, 7), receive(2 * at + 1, &after, from, 7)]
        };
        trace(&(0..6).flat_map(step).collect::<Vec<_>>())
    };
    let files: Vec<_> = (0..ranks).map(of_rank).collect();
    assert_eq!(outcome(&files, ""), (time, messages, bytes));
}

#[test]
fn comm_size_is_what_each_rank_brings() {
    let sent = |operation: u64| {
        let (_, messages, bytes) = outcome(&alike(4, &[collective(0, &[], operation, 4000, &[])]), RINGS);
        (messages, bytes)
    };
    assert_eq!(sent(ALL_GATHER), (12, 12 * 4000));
    assert_eq!(sent(REDUCE_SCATTER), (12, 12 * 1000));
    assert_eq!(sent(ALL_TO_ALL), (12, 12 * 1000));
    assert_eq!(sent(BROADCAST), (3, 3 * 4000));
    assert_eq!(sent(BARRIER), (8, 0));
}

#[test]
fn an_operation_costs_the_software_as_much_as_a_workload_and_in_any_trace() {
    let mpi = "mpi = { overhead = \"1 us\", delay = \"3 ns\", copy = \"1 Tb/s\", eager = \"1 GiB\", allreduce = \"ring\" }\n";
    for (workload, message, in_chakra, in_vef) in [
        ("allreduce", 256, (ALL_REDUCE, 256), "2 {} 256 256"),
        ("alltoall", 50, (ALL_TO_ALL, 200), "7 {} 50 0"),
    ] {
        let alone = format!("workload = \"{workload}\"\nranks = 4\nmessage = \"{message} B\"\n{mpi}");
        let of_task = |task: u32| format!("G0 0 {} 0 0 -1\n", in_vef.replace("{}", &task.to_string()));
        let lines: String = (0..4).map(of_task).collect();
        let vef = format!("workload = \"vef\"\ntext = '''VEF 4 0 1 1 4 FALSE\nC0 0 1 2 3\n{lines}'''\n{mpi}");
        let [alone, vef] = [alone, vef].map(|job| {
            let output = output_of(&on_a_switch(&job).unwrap()).unwrap();
            output.summary["jobs"]["trace"]["time_ns"].as_f64().unwrap()
        });
        let chakra = outcome(&alike(4, &[collective(0, &[], in_chakra.0, in_chakra.1, &[])]), mpi).0;
        assert_eq!((chakra, vef), (alone, alone), "{workload}");
        assert!(alone > 6_000.0, "every step has a send and a receive: {alone}");
    }
}

#[test]
fn the_host_the_accelerator_and_the_network_work_beside_each_other() {
    let time = |nodes: &[Vec<u8>]| outcome(&alike(2, nodes), RINGS).0;
    let both = [computing(0, &[], 3, false), computing(1, &[], 4, false)];
    assert_eq!(time(&both), 7_000.0, "an accelerator does one thing at a time");
    let beside = [both.to_vec(), vec![computing(2, &[], 6, true)]].concat();
    assert_eq!(time(&beside), 7_000.0, "and the host another");
    let reduced = collective(3, &[0], ALL_REDUCE, 100_000, &[]);
    let long = 2.0 * alone(50_000);
    assert_eq!(time(&[both.to_vec(), vec![reduced]].concat()), 3_000.0 + long, "and the network a third");
    let reduced = collective(3, &[1], ALL_REDUCE, 100_000, &[]);
    assert_eq!(time(&[both.to_vec(), vec![reduced]].concat()), 7_000.0 + long);
    // The host's part in communication is its duration.
    let call = node(0, 7, &[], 5, &[attribute("is_cpu_op", 27, 1)]);
    assert_eq!(time(&[call, computing(1, &[], 5, true)]), 10_000.0);
}

#[test]
fn communication_waits_for_neither_the_host_nor_the_accelerator() {
    // What comes behind the operation would be late if this waited for what is computed beside it.
    for on_host in [true, false] {
        let nodes = [
            computing(0, &[], 100, on_host),
            collective(1, &[], ALL_REDUCE, 100_000, &[]),
            computing(2, &[1], 50, !on_host),
        ];
        assert_eq!(outcome(&alike(2, &nodes), RINGS).0, 100_000.0, "on the host: {on_host}");
    }
}

#[test]
fn operations_of_a_group_are_done_one_after_the_other() {
    let twice = |more: [&[Vec<u8>]; 2]| {
        let nodes = [0, 1].map(|at| collective(at, &[], ALL_GATHER, 25_000, more[at as usize]));
        outcome(&alike(2, &nodes), &format!("{RINGS}groups.text = '{{\"1\": [0, 1], \"2\": [0, 1]}}'\n")).0
    };
    let (one, two) = ([text("pg_name", "1")], [text("pg_name", "2")]);
    assert_eq!(twice([&one, &one]), 2.0 * alone(25_000));
    // Those of two share the channel: in all it is as long busy, but nobody waits between them.
    assert_eq!(twice([&one, &two]), alone(50_000));
}

#[test]
fn nodes_of_an_allreduce_are_those_of_the_job() {
    let of_group = |name: &str| trace(&[collective(0, &[], ALL_REDUCE, 8000, &[text("pg_name", name)])]);
    let files: Vec<_> = (0..8).map(|rank| of_group(if rank % 2 == 0 { "1" } else { "2" })).collect();
    let messages = |node: u32| {
        let groups = "groups.text = '{\"1\": [0, 2, 4, 6], \"2\": [7, 5, 3, 1]}'";
        outcome(&files, &format!("mpi = {{ allreduce = \"nodes\", node = {node} }}\n{groups}\n")).1
    };
    // One rank of each group in a node: a plain ring. Two: one step in each node, two between, one in each again.
    assert_eq!(messages(2), 2 * 4 * 6);
    assert_eq!(messages(4), 2 * 4 * 4);
}

#[test]
fn operations_go_in_the_order_of_their_dependencies_whatever_the_order_of_the_file() {
    // The first in the file waits for the last; the other rank has them the other way round.
    let gather = collective(5, &[3], ALL_GATHER, 25_000, &[]);
    let nodes = [gather, collective(3, &[], ALL_REDUCE, 1000, &[])];
    let turned = [nodes[1].clone(), nodes[0].clone()];
    let (time, messages, _) = outcome(&[trace(&nodes), trace(&turned)], RINGS);
    assert_eq!((time, messages), (2.0 * alone(500) + alone(25_000), 6));
}

#[test]
fn what_ties_nodes_together_is_no_operation() {
    let operations = |nodes: &[Vec<u8>]| {
        let output = run(&alike(4, nodes), RINGS);
        let operations = output.summary["jobs"]["trace"]["operations"].as_object().unwrap();
        let count = |name: &str| operations.get(name).map_or(0, |found| found["count"].as_u64().unwrap());
        ["compute", "isend", "irecv"].map(count)
    };
    let metadata = node(0, 1, &[], 0, &[]);
    let nodes = [metadata, collective(1, &[0], ALL_REDUCE, 400, &[])];
    assert_eq!(operations(&nodes), [0, 24, 24]);
    // What computes without a duration does compute, and remote memory takes its time.
    let nodes = [&nodes[..], &[computing(2, &[1], 0, true), node(3, 2, &[2], 4, &[])]].concat();
    assert_eq!(operations(&nodes), [8, 24, 24]);
}

#[test]
fn nodes_wait_for_control_dependencies_unless_they_are_ignored() {
    let nodes = [computing(0, &[], 10, false), collective(1, &[], ALL_GATHER, 25_000, &[called_by(0)])];
    let files = alike(2, &nodes);
    assert_eq!(outcome(&files, RINGS).0, 10_000.0 + alone(25_000));
    let ignored = format!("{RINGS}control = \"ignore\"\n");
    assert_eq!(outcome(&files, &ignored).0, 10_000.0);
    assert!(
        run(&files, &ignored).summary["warnings"].to_string().contains("2 control dependencies were ignored")
    );
}

#[test]
fn operations_without_a_duration_take_as_long_as_the_accelerator_needs() {
    let counted = |id: u64, us: u64| {
        let attributes = [attribute("num_ops", 9, 4_000_000), attribute("tensor_size", 13, 1_000_000)];
        node(id, 4, &[], us, &attributes)
    };
    let time = |changes: &str| outcome(&alike(2, &[counted(0, 0), counted(1, 7)]), changes).0;
    assert_eq!(time(""), 7_000.0);
    // 4 M operations at 1 T a second, 1 MB at 8 Tb/s: the longer counts. What was recorded stays.
    assert_eq!(time("peak = 1e12\n"), 11_000.0);
    assert_eq!(time("peak = 8e12\nmemory_bandwidth = \"8 Tb/s\"\n"), 8_000.0);
}

#[test]
fn groups_are_told_by_the_scenario_by_the_trace_and_by_dimensions() {
    let of_group = |name: &str| collective(1, &[], ALL_GATHER, 1000, &[text("pg_name", name)]);
    let split = |changes: &str, metadata: &[Vec<u8>]| {
        let file = |name: &str| trace(&[metadata.to_vec(), vec![of_group(name)]].concat());
        outcome(&[file("5"), file("9"), file("5"), file("9")], changes)
    };
    let alone = (alone(1000), 4, 4000);
    assert_eq!(split("groups.text = '{\"5\": [0, 2], \"9\": [3, 1]}'\n", &[]), alone);
    let told = r#"['[{"pg_name": "5", "ranks": [0, 2], "x": 1}, {"pg_name": "9", "ranks": [1, 3]}]']"#;
    let metadata = [number(1, 0), number(3, 1), block(8, &block(1, told.as_bytes()))].concat();
    assert_eq!(split("", &[metadata]), alone);
    // Each rank may have groups of its own under the same name, in any order; others are nobody's business.
    let own = |ranks: &str| {
        let told =
            format!("['[{{\"pg_name\": 5, \"ranks\": {ranks}}}, {{\"pg_name\": \"6\", \"ranks\": [88]}}]']");
        let metadata = [number(1, 0), number(3, 1), block(8, &block(1, told.as_bytes()))].concat();
        trace(&[metadata, of_group("5")])
    };
    assert_eq!(outcome(&["[0, 1]", "[1, 0]", "[2, 3]", "[2, 3]"].map(own), ""), alone);
    // The group 0 is all ranks, whoever says so.
    let zero = alike(3, &[of_group("0")]);
    assert_eq!(outcome(&zero, "groups.text = '{\"0\": [2, 1, 0]}'\n"), outcome(&zero, ""));
    let mixed = [of_group("0"), of_group(""), collective(1, &[], ALL_GATHER, 1000, &[])];
    assert_eq!(outcome(&mixed.map(|node| trace(&[node])), "").1, 6);
    // Of a job of 2 by 2 ranks, along one dimension and along the other.
    for flags in [[1, 0], [0, 1]] {
        let files = alike(4, &[collective(0, &[], ALL_GATHER, 1000, &[involved(&flags)])]);
        assert_eq!(outcome(&files, "dims = [2, 2]\n"), alone);
    }
}

#[test]
fn compressed_files_are_those_that_were_compressed() {
    let files = alike(3, &[computing(0, &[], 2, false), collective(1, &[0], ALL_REDUCE, 30_000, &[])]);
    let compressed = |file: &Vec<u8>| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(file).unwrap();
        packed.finish().unwrap()
    };
    let packed: Vec<_> = files.iter().map(compressed).collect();
    assert_eq!(run(&files, "").summary["checksum"], run(&packed, "").summary["checksum"]);
}

#[test]
fn what_files_do_not_tell_is_told() {
    let nodes = [
        computing(0, &[], 0, false),
        computing(1, &[77, 0], 1, false),
        node(2, 2, &[], 0, &[]),
        collective(3, &[], BROADCAST, 8, &[]),
    ];
    let warnings = run(&alike(2, &nodes), "dangling = \"drop\"\n").summary["warnings"].to_string();
    for expected in [
        "2 of its 4 computing operations have no duration",
        "2 loads and stores of remote memory have no duration",
        "2 dependencies on nodes that the files do not have were dropped",
        "the root of its broadcasts and reductions",
    ] {
        assert!(warnings.contains(expected), "{warnings}");
    }
    let along = |flags: &[u8]| collective(0, &[], ALL_REDUCE, 8, &[involved(flags)]);
    let warnings = |flags: &[u8]| {
        run(&alike(2, &[along(flags)]), "dims = [2, 1]\n").summary["warnings"].as_array().unwrap().clone()
    };
    let lonely =
        "job \"trace\": 2 collective operations are of one rank each, by its dimensions, and send nothing";
    assert_eq!(warnings(&[0, 1]), [lonely]);
    assert!(warnings(&[1, 0]).is_empty());
}

#[test]
fn every_mistake_is_told_with_its_rank_and_node() {
    let whole = trace(&[collective(4, &[], ALL_REDUCE, 8, &[])]);
    let all_to_all = trace(&[collective(4, &[], ALL_TO_ALL, 8, &[])]);
    let named = trace(&[collective(4, &[], ALL_REDUCE, 8, &[text("pg_name", "3")])]);
    let [along, of_three] = [&[1, 0][..], &[1, 1, 0]].map(involved);
    let one = |node: Vec<u8>| vec![trace(&[node]), trace(&[])];
    let cases: Vec<(Vec<Vec<u8>>, &str, &str)> = vec![
        (vec![vec![], whole.clone()], "", "data.0: rank 0: no trace is given"),
        (
            vec![whole[..whole.len() - 3].to_vec(), whole.clone()],
            "",
            "data.0: rank 0, byte 8: the file is cut off here",
        ),
        (
            vec![b"VEF 2 1 0".to_vec(), whole.clone()],
            "",
            "data.0: rank 0, byte 0: the file is cut off here, or is no",
        ),
        (vec![b"\x1f\x8bxxxxxxxxxxxx".to_vec(), whole.clone()], "", "data.0: rank 0: it cannot be unpacked"),
        (
            vec![[varint(2), number(1, 7)].concat(), whole.clone()],
            "",
            "byte 0: this is not the metadata of a Chakra trace",
        ),
        (
            vec![whole.clone(), trace(&[])],
            "",
            "data.1: rank 1: it has 0 collective operations of all ranks, and rank 0 has 1",
        ),
        (
            vec![whole.clone(), all_to_all],
            "",
            "data.1: rank 1, node 4 (\"op\"): alltoall of 8 B, which rank 0 has as allreduce of 8 B (node 4)",
        ),
        (vec![named.clone(), named.clone()], "", "nothing tells which ranks the process group \"3\" has"),
        (
            vec![named.clone(), named.clone()],
            "groups.text = '{\"3\": [0]}'\n",
            "rank 1 is not in its process group \"3\", [0]",
        ),
        (
            vec![named.clone(), named.clone()],
            "groups.text = '{\"3\": [0, 2]}'\n",
            "has the ranks [0, 2], the job 2 ranks",
        ),
        (vec![named.clone(), named.clone()], "groups.text = '{\"3\": 1}'\n", "groups.text: invalid type"),
        (
            vec![whole.clone(), whole.clone()],
            "groups.text = '{\"0\": [1]}'\n",
            "groups.text: the process group \"0\" is told to have the ranks [1], but it is always all ranks, here 2",
        ),
        (
            vec![whole.clone(), whole.clone()],
            "dims = [3]\n",
            "dims: the product of the dimensions is not the number of ranks, 2",
        ),
        (
            alike(2, &[collective(0, &[], ALL_REDUCE, 8, &[along])]),
            "",
            "it is of some dimensions of the job only",
        ),
        (
            alike(2, &[collective(0, &[], ALL_REDUCE, 8, &[of_three])]),
            "dims = [2]\n",
            "node 0 (\"op\"): its involved_dim tells of 3 dimensions, and the job has 1 (a size for each in dims",
        ),
        (vec![whole.clone(), whole.clone()], "data.2 = \"AAAA\"\n", "data.2: the job has 2 ranks"),
        (
            vec![whole.clone(), whole.clone()],
            "mpi.barrier = \"1 us\"\n",
            "barriers of a Chakra trace are made of messages",
        ),
        (
            one(node(1, 4, &[8], 0, &[])),
            "",
            "data.0: rank 0, node 1: 1 dependencies are on nodes that the file does not have, the first on 8",
        ),
        (
            vec![trace(&[node(1, 4, &[], 0, &[]), node(1, 4, &[], 0, &[])]), whole.clone()],
            "",
            "another node has the same number",
        ),
        (one(node(1, 4, &[1], 0, &[])), "", "node 1 (\"op\"): it waits, through others, for itself"),
        (
            vec![trace(&[node(1, 4, &[2], 0, &[]), node(2, 4, &[3], 0, &[]), node(3, 4, &[2], 0, &[])])],
            "",
            "node 2 (\"op\"): it waits, through others, for itself",
        ),
        (
            one(node(1, 4, &[], 0, &[])),
            "peak = 0",
            "job.trace.peak: expected a number over 0, found the integer 0",
        ),
        (one(node(1, 12, &[], 0, &[])), "", "a node of the type 12"),
        (one(node(1, 4, &[], u64::MAX, &[])), "", "its duration is too long"),
        (one(node(1, 5, &[], 0, &[attribute("comm_size", 9, 8)])), "", "it has no comm_dst"),
        (one(node(1, 5, &[], 0, &[attribute("comm_dst", 9, 1)])), "", "it has no comm_size"),
        (one(node(1, 7, &[], 0, &[attribute("comm_size", 9, 1)])), "", "it has no comm_type"),
        (one(collective(1, &[], 3, 8, &[])), "", "a gather, whose root the format does not tell"),
        (
            one(node(1, 4, &[], 0, &[called_by(8)])),
            "",
            "node 1: 1 dependencies are on nodes that the file does not have",
        ),
        (
            one(node(1, 4, &[], 0, &[called_by(1)])),
            "",
            "it waits, through others, for itself (dependencies without a circle; PyTorch's",
        ),
        (one(node(1, 5, &[], 0, &[text("comm_dst", "1")])), "", "comm_dst is no whole number"),
        (
            one(collective(1, &[], ALL_REDUCE, 8, &[text("involved_dim", "1")])),
            "",
            "involved_dim is no list of truth values",
        ),
        (
            one([send(1, &[], 1, 8, 0), attribute("comm_src", 9, 1)].concat()),
            "",
            "comm_src is 1, in the file of rank 0",
        ),
        (
            one([receive(1, &[], 1, 0), attribute("comm_dst", 9, 1)].concat()),
            "",
            "comm_dst is 1, in the file of rank 0",
        ),
        (one([receive(1, &[], 1, 0), attribute("comm_size", 9, u64::MAX)].concat()), "", "comm_size is -1"),
        (
            one([number(3, 1), block(8, &block(1, b"['[{\"pg_name\": \"5\"}]']"))].concat()),
            "",
            "its process groups cannot be read",
        ),
        (one(collective(1, &[], 77, 8, &[])), "", "an operation of the comm_type 77"),
        (one(send(1, &[], 0, 8, 0)), "", "comm_dst is the rank itself, 0"),
        (one(send(1, &[], 5, 8, 0)), "", "comm_dst is 5 (a rank from 0 to 1)"),
        (one(send(1, &[], 1, u64::MAX, 0)), "", "comm_size is -1"),
        (one(send(1, &[], 1, 1 << 62, 0)), "", "node 1 (\"op\"): "),
    ];
    for (files, changes, expected) in cases {
        let told =
            try_run(&files, changes).err().unwrap_or_else(|| panic!("nothing is told, but: {expected}"));
        assert!(told.contains(expected), "told:\n{told}expected:\n{expected}");
    }
    // A message that nobody sends is told when nothing goes on any more.
    let told = try_run(&one(receive(1, &[], 1, 3)), "").expect_err("a deadlock");
    assert!(told.contains("rank 0: 1 of its operations: receive of 0 B from rank 1, tag 3"), "{told}");
}

#[test]
fn the_files_of_all_ranks_are_asked_for() {
    let text = "[topology]\nkind = \"single-switch\"\nendpoints = 8\n[routing]\nkind = \"minimal\"\n[run]\nduration = \"1 us\"\n\
                [[job]]\nworkload = \"chakra\"\npath = \"a/b\"\nranks = 3\ndata.1 = \"AAAA\"\ngroups = { path = \"g.json\" }\n";
    let files = [("job.0.data.0", "a/b.0.et"), ("job.0.data.2", "a/b.2.et"), ("job.0.groups.text", "g.json")];
    assert_eq!(Scenario::files(text, &[]), files.map(|(key, path)| (key.to_string(), path.to_string())));
    assert_eq!(
        files.map(|(key, _)| Scenario::path_key(key)),
        ["job.0.path", "job.0.path", "job.0.groups.path"]
    );
    assert_eq!(Scenario::path_key("job.1.data"), "job.1.path");
    assert_eq!(Scenario::contents("job.0.data.2", vec![0, 1, 2]).as_deref(), Some("\"AAEC\""));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_told_or_run(at in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 1..6), keep in 0.0..1.0_f64, cut: bool) {
        let mut file = trace(&[
            computing(0, &[], 2, false),
            collective(1, &[0], ALL_REDUCE, 300, &[text("pg_name", "0")]),
            send(2, &[1], 1, 500, 3),
            receive(3, &[0], 1, 3),
        ]);
        for (place, byte) in at {
            let place = (place * file.len() as f64) as usize;
            file[place] = byte;
        }
        if cut {
            file.truncate((keep * file.len() as f64) as usize);
        }
        let other = trace(&[collective(1, &[], ALL_REDUCE, 300, &[]), send(2, &[1], 0, 500, 3), receive(3, &[], 0, 3)]);
        // Short, or a wait of a changed byte's length would be simulated.
        if let Ok(scenario) = scenario(&[file, other], "start = \"1 ns\"\n") {
            let mut looks = 0;
            let _ = tailback_engine::run::run(&scenario, &mut |_| { looks += 1; looks < 50 });
        }
    }
}
