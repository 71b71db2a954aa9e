//! Training in three dimensions, against closed forms.
use crate::common::{self, run};
use tailback_engine::report::{Column, Output};

/// A training of so many ranks on a switch of 400 Gb/s in flits of 64 B, whose software takes no time.
fn training(ranks: u32, keys: &str) -> Output {
    run(&format!(
        "[topology]\nkind = \"single-switch\"\nendpoints = 24\n[routing]\nkind = \"minimal\"\n[link]\nbandwidth = \"400 Gb/s\"\nhost = \"100 ns\"\n\
         [packet]\nflit = \"64 B\"\nmax = \"4 KiB\"\n[endpoint]\nacknowledge = false\n\
         [[job]]\nname = \"it\"\nworkload = \"training\"\nranks = {ranks}\n{keys}\n\
         mpi = {{ allreduce = \"ring\", reduce_scatter = \"ring\", allgather = \"ring\", eager = \"1 GiB\", copy = \"1000 Tb/s\", overhead = \"0 ns\", delay = \"0 ns\" }}\n\
         [run]\nduration = \"100 ms\"\n[record]\nmessages = true\n"
    ))
}

/// A pipeline is filled and drained once an iteration: p − 1 of its m + p − 1 steps, each one forward and one backward, are its bubble
/// (Narayanan and others 2021, section 2.2.1).
#[test]
fn a_pipeline_takes_as_many_steps_as_micro_batches_and_stages_less_one() {
    for (stages, batches, layers) in [(1, 4, 2), (2, 1, 1), (4, 8, 2), (5, 3, 1)] {
        let keys = format!(
            "pipeline = {stages}\nmicro_batches = {batches}\nlayers = {layers}\nactivation = \"64 B\"\ncompute = \"100 us\"\niterations = 2"
        );
        let output = training(stages, &keys);
        let ideal = f64::from((batches + stages - 1) * layers * 3 * 100_000);
        // A flit takes 0.2 us from one stage to the next.
        let passed = f64::from(2 * (batches + stages)) * 250.0;
        let times = common::reals(&output, "iterations", "time_ns");
        assert_eq!(times.len(), 2);
        for time in times {
            assert!((ideal..ideal + passed).contains(time), "{stages} stages: {time}, not {ideal} ns");
        }
    }
}

/// What every rank sends to ranks of its layer, to other stages and to replicas, in flits.
#[test]
fn what_is_sent_is_what_the_papers_say() {
    let (tensor, stages, replicas, batches, layers) = (4, 2, 3, 3, 2);
    let keys = format!(
        "tensor = {tensor}\npipeline = {stages}\nexperts = 3\nmicro_batches = {batches}\nlayers = {layers}\n\
         activation = \"{} B\"\nrouted = \"{} B\"\ngradients = \"{} B\"",
        64 * 800,
        64 * 90,
        64 * 600
    );
    let output = training(tensor * stages * replicas, &keys);
    let int = |name: &str| match common::column(&output, "messages", name) {
        Column::Int(values) => values.clone(),
        _ => panic!("{name} is no number"),
    };
    let width = i64::from(tensor * replicas);
    // By rank: to its layer, its replicas, other stages.
    let mut sent = vec![[0; 3]; 24];
    for ((from, to), flits) in int("source").iter().zip(int("destination")).zip(int("flits")) {
        let to_what = match (from / width == to / width, from / 4 == to / 4, from % 4 == to % 4) {
            (true, true, false) => 0,
            (true, false, true) => 1,
            (false, _, true) => 2,
            _ => panic!("{from} to {to}"),
        };
        sent[*from as usize][to_what] += flits;
    }
    // Twice forward and twice backward a layer of 3 · 2, round a ring of 4: 2 · 3/4 of the activation.
    let layer = 3 * 2 * 4 * (800 * 2 * 3 / 4);
    // As often to each of two others a third of what is routed; round a ring of 3 the gradients.
    let replicas = 3 * 2 * 4 * (2 * 30) + 600 * 2 * 2 / 3;
    assert_eq!(sent, vec![[layer, replicas, 3 * 800 / 4]; 24]);
}

#[test]
fn sharded_gradients_take_as_much_as_whole_ones_round_a_ring() {
    let time = |sum: &str| {
        let keys = format!("gradients = \"80 kB\"\ngradient_sum = \"{sum}\"");
        let output = training(8, &keys);
        output.summary["jobs"]["it"]["time_ns"].as_f64().unwrap()
    };
    assert_eq!(time("allreduce"), time("sharded"));
}
