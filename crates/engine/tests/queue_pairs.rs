//! Several flows between two endpoints: each has a send queue, a window and a hash of its own.
use crate::common::*;
use std::collections::{BTreeMap, BTreeSet};
use tailback_engine::report::Output;

/// By queue pair, the switches that the messages from one endpoint to another come to from their first.
fn seconds(queue_pairs: u32) -> BTreeMap<i64, BTreeSet<String>> {
    let rest = format!(
        "[[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 20]]\nload = 0.5\nmessage = \"3 packets\"\nqueue_pairs = {queue_pairs}\n\
         [run]\nwarmup = \"0 us\"\nduration = \"50 us\"\ndrain = \"1 ms\"\n[endpoint]\nacknowledge = false\n\
         [record]\npackets = true\nmessages = true\n"
    );
    let network = "kind = \"fat-tree\"\nlevels = 2\narity = 8";
    let output = run(&file(network, "kind = \"nca\"\nup = \"flow-hash\"", "kind = \"none\"", &rest));
    let numbers = ints(&output, "messages", "message").iter();
    let pair_of: BTreeMap<i64, i64> =
        numbers.copied().zip(ints(&output, "messages", "queue_pair").iter().copied()).collect();
    let (from, to) = (words(&output, "packets", "from"), words(&output, "packets", "to"));
    let first = to[from.iter().position(|name| name.starts_with("endpoint")).unwrap()].clone();
    let mut crossed = BTreeMap::<i64, BTreeSet<String>>::new();
    for (row, message) in ints(&output, "packets", "message").iter().enumerate() {
        // Some of the last are still under way.
        if from[row] == first
            && let Some(&pair) = pair_of.get(message)
        {
            crossed.entry(pair).or_default().insert(to[row].clone());
        }
    }
    crossed
}

#[test]
fn where_flows_are_hashed_each_queue_pair_has_its_way() {
    let one = seconds(1);
    assert_eq!(one.keys().collect::<Vec<_>>(), [&0]);
    let many = seconds(24);
    assert!(many.keys().copied().eq(0..24), "{many:?}");
    assert!(one.values().chain(many.values()).all(|switches| switches.len() == 1), "{many:?}");
    // Flow 0 is that of those that have one.
    assert_eq!(one[&0], many[&0]);
    assert!(many.values().flatten().collect::<BTreeSet<_>>().len() > 5, "{many:?}");
}

/// What two classes get through from one endpoint, the first of which has three queue pairs, each to a destination of its own.
fn shares(protocol: &str, queues: &str) -> [f64; 2] {
    let class = |name: &str, to: u32, pairs: u32| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = [[0, {to}]]\nload = 0.9\nmessage = \"1 packet\"\nshare = true\n\
             queue_pairs = {pairs}\n"
        )
    };
    let rest = format!(
        "[endpoint]\nqueues = \"{queues}\"\n{}{}[run]\nwarmup = \"20 us\"\nduration = \"50 us\"\n",
        class("three", 1, 3),
        class("one", 2, 1)
    );
    let output = run(&file("kind = \"single-switch\"\nendpoints = 4", "kind = \"minimal\"", protocol, &rest));
    ["three", "one"].map(|name| number(&output, name, "accepted_per_destination"))
}

#[test]
fn queue_pairs_of_an_endpoint_send_in_turn() {
    for protocol in ["kind = \"none\"", "kind = \"lhrp\"", "kind = \"dcqcn\""] {
        let [three, one] = shares(protocol, "per destination");
        assert!((three / one - 3.0).abs() < 0.02, "{protocol}: {three} and {one}");
    }
    // What speaks to sources of destinations has one send queue for each, and where there is one for all messages are as they come.
    for (protocol, queues) in [
        ("kind = \"sst-cm\"", "per destination"),
        ("kind = \"rccc\"", "per destination"),
        ("kind = \"none\"", "fifo"),
    ] {
        let [three, one] = shares(protocol, queues);
        assert!((three / one - 1.0).abs() < 0.02, "{protocol}: {three} and {one}");
    }
}

/// On long links a window of two packets each is what bounds a flow.
#[test]
fn each_queue_pair_has_a_window() {
    let accepted = |pairs: u32| {
        let text = format!(
            "[topology]\nkind = \"single-switch\"\nendpoints = 2\n[link]\nlatency = \"1 us\"\n[routing]\nkind = \"minimal\"\n\
             [congestion_control]\nkind = \"swift\"\nmax_cwnd = 2.0\n\
             [[traffic]]\nname = \"t\"\npattern = \"list\"\npairs = [[0, 1]]\nload = 1.0\nmessage = \"2 packets\"\nqueue_pairs = {pairs}\n\
             [run]\nwarmup = \"50 us\"\nduration = \"200 us\"\n"
        );
        number(&run(&text), "t", "accepted_per_destination")
    };
    let [one, five] = [1, 5].map(accepted);
    assert!(one < 0.1 && (five / one - 5.0).abs() < 0.05, "{one} and {five}");
}

#[test]
fn the_rates_of_queue_pairs_are_recorded_each() {
    let rest = "[[traffic]]\nname = \"t\"\npattern = \"hotspot\"\nsources = 4\ndestinations = 1\nload = 0.9\nmessage = \"4 packets\"\nqueue_pairs = 2\n\
                [run]\nwarmup = \"0 us\"\nduration = \"200 us\"\n[record]\ncontrol = true\n";
    let output = run(&file(
        "kind = \"single-switch\"\nendpoints = 6",
        "kind = \"minimal\"",
        "kind = \"ecn\"\nthreshold = \"24 flits\"",
        rest,
    ));
    let towards = ints(&output, "rates", "endpoint").iter().zip(ints(&output, "rates", "queue_pair"));
    let told: BTreeSet<_> = towards.collect();
    assert_eq!(told.len(), 8, "{told:?}");
}

/// Pairs of ranks that send each other messages of a size.
fn exchange(message: &str, pairs: u32, rest: &str) -> Output {
    let rest = format!(
        "[[job]]\nname = \"it\"\nworkload = \"fixed-pairs\"\nmessage = \"{message}\"\nqueue_pairs = {pairs}\n{rest}\
         [run]\nwarmup = \"0 us\"\nduration = \"10 ms\"\n[record]\nmessages = true\npackets = true\n"
    );
    let network = "kind = \"single-switch\"\nendpoints = 4";
    let output = run(&file(network, "kind = \"minimal\"", "kind = \"none\"", &rest));
    assert_eq!(output.summary["jobs"]["it"]["unfinished_ranks"], 0);
    output
}

/// Each pair of ranks has flows of its own, as many as can be told from each other.
#[test]
fn ranks_of_one_endpoint_have_queue_pairs_of_their_own() {
    let used = |ranks: u32, each: u32, pairs: u32, iterations: u32| {
        let rest = format!("ranks = {ranks}\nranks_per_endpoint = {each}\niterations = {iterations}\n");
        let output = exchange("100 B", pairs, &rest);
        ints(&output, "messages", "queue_pair").iter().copied().collect::<BTreeSet<_>>()
    };
    // Rank n of one endpoint talks to rank n of the other.
    assert_eq!(used(4, 1, 1, 3), [0].into());
    assert_eq!(used(4, 2, 1, 3), [0, 3].into());
    assert!(used(4, 2, 2, 1).iter().all(|flow| [0, 1, 6, 7].contains(flow)));
    assert_eq!(used(4, 2, 2, 3), [0, 1, 6, 7].into());
    assert_eq!(used(1024, 512, 1, 1).into_iter().max(), Some(4095));
}

/// A long message asks first, in the flow that carries it: so the data of messages one after the other take all flows.
#[test]
fn requests_and_answers_take_no_turns() {
    for pairs in 2..5 {
        let output = exchange("20 kB", pairs, "ranks = 2\niterations = 12\n");
        let mut taken = BTreeMap::<_, u32>::new();
        let kinds = words(&output, "messages", "kind").iter().zip(ints(&output, "messages", "source"));
        for ((kind, source), pair) in kinds.zip(ints(&output, "messages", "queue_pair")) {
            *taken.entry((*source, *pair)).or_default() += u32::from(kind == "data");
        }
        let counts: Vec<u32> = taken.into_values().filter(|&count| count > 0).collect();
        assert_eq!(counts.iter().max(), counts.iter().min(), "{counts:?}");
        assert_eq!(counts.len() % pairs as usize, 0, "{counts:?}");
    }
}

/// The data of a message, and nothing else, goes in all queue pairs, and the ranks go on when the last part is there.
#[test]
fn split_messages_go_in_all_queue_pairs() {
    let iterations = 3;
    let run = |message: &str, split: bool| {
        exchange(message, 4, &format!("ranks = 2\niterations = {iterations}\nsplit = {split}\n"))
    };
    let (split, whole) = (run("20 kB", true), run("20 kB", false));
    let sent = |output: &Output| {
        let (kinds, from) = (words(output, "packets", "kind"), words(output, "packets", "from"));
        let columns = ["queue_pair", "message", "flits", "source"].map(|name| ints(output, "packets", name));
        let mut sent = BTreeMap::<_, BTreeMap<_, i64>>::new();
        for row in (0..kinds.len()).filter(|&row| kinds[row] == "data" && from[row].starts_with("endpoint")) {
            *sent
                .entry(columns[0][row])
                .or_default()
                .entry((columns[3][row], columns[1][row]))
                .or_default() += columns[2][row];
        }
        sent
    };
    let largest = *ints(&whole, "messages", "flits").iter().max().unwrap();
    let parts = sent(&split);
    assert_eq!(parts.len(), 4, "{parts:?}");
    // Requests go in one of the pairs.
    let long = |each: &BTreeMap<_, i64>| {
        each.values().copied().filter(|flits| 8 * flits > largest).collect::<Vec<_>>()
    };
    assert!(parts.values().all(|each| long(each).len() == iterations), "{parts:?}");
    assert_eq!(parts.values().flat_map(long).sum::<i64>(), largest * iterations as i64);
    // What is told of messages is told of the whole.
    let told = |output: &Output| {
        let rows = ["source", "destination", "flits"].map(|name| ints(output, "messages", name).to_vec());
        (rows, words(output, "messages", "kind").to_vec(), reals(output, "messages", "zero_load_ns").to_vec())
    };
    assert_eq!(told(&split), told(&whole));
    for key in ["messages", "packets", "message_latency_ns.missing"] {
        assert_eq!(number(&split, "it", key), number(&whole, "it", key), "{key}");
    }
    let slowdown = |output: &Output| number(output, "it", "message_slowdown.max");
    assert!(slowdown(&split) < 1.05 * slowdown(&whole), "{} and {}", slowdown(&split), slowdown(&whole));
    // Fewer packets than queue pairs: nothing is divided.
    let same = |output: &Output| {
        ["message", "queue_pair", "flits", "destination"].map(|name| ints(output, "messages", name).to_vec())
    };
    assert_eq!(same(&run("150 B", true)), same(&run("150 B", false)));
}

/// Where each flow has a way of its own, one after the other takes all of them at once only if messages are divided.
#[test]
fn split_messages_one_after_the_other_take_all_ways_at_once() {
    let time = |pairs: u32, split: bool| {
        let split = if split { "split = true\n" } else { "" };
        let rest = format!(
            "[[job]]\nname = \"ring\"\nworkload = \"allreduce\"\nmessage = \"400 kB\"\nranks = 32\niterations = 1\nmpi = {{ allreduce = \"ring\", eager = \"1 MB\", delay = \"0 ns\", copy = \"1000 Tb/s\" }}\n\
             placement = \"random-nodes\"\nqueue_pairs = {pairs}\n{split}[run]\nwarmup = \"0 us\"\nduration = \"100 ms\"\n"
        );
        let network = "kind = \"fat-tree\"\nlevels = 2\narity = 8";
        let output = run(&file(network, "kind = \"nca\"\nup = \"flow-hash\"", "kind = \"none\"", &rest));
        output.summary["jobs"]["ring"]["time_ns"].as_f64().unwrap()
    };
    let (one, turns, split) = (time(1, false), time(8, false), time(8, true));
    assert!(split < 0.9 * one && split < 0.9 * turns, "{one}, {turns} and {split} ns");
}

/// Each class takes turns of its own, whatever others send to the same destination meanwhile.
#[test]
fn classes_take_turns_of_their_own() {
    let class = |name: &str, pairs: u32| {
        format!(
            "[[traffic]]\nname = \"{name}\"\npattern = \"list\"\npairs = [[0, 1]]\nload = 0.1\nprocess = \"periodic\"\nshare = true\n\
             message = \"1 packet\"\nqueue_pairs = {pairs}\n"
        )
    };
    let rest = format!(
        "{}{}[run]\nwarmup = \"0 us\"\nduration = \"20 us\"\n[record]\nmessages = true\n",
        class("a", 2),
        class("b", 4)
    );
    let output =
        run(&file("kind = \"single-switch\"\nendpoints = 2", "kind = \"minimal\"", "kind = \"none\"", &rest));
    let mut taken = BTreeMap::<_, i32>::new();
    for (class, pair) in
        words(&output, "messages", "class").iter().zip(ints(&output, "messages", "queue_pair"))
    {
        *taken.entry((class.as_str(), *pair)).or_default() += 1;
    }
    assert_eq!(taken.len(), 6, "{taken:?}");
    for class in ["a", "b"] {
        let counts: Vec<i32> =
            taken.iter().filter(|(key, _)| key.0 == class).map(|(_, &count)| count).collect();
        assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{taken:?}");
    }
}

#[test]
fn what_queue_pairs_share_is_told() {
    let remarks = |protocol: &str, more: &str| {
        let rest = format!("{more}\n[run]\nwarmup = \"1 us\"\nduration = \"1 us\"\n");
        let text = file("kind = \"single-switch\"\nendpoints = 8", "kind = \"minimal\"", protocol, &rest);
        tailback_engine::run::remarks(&read(&text)).unwrap().join("\n")
    };
    let uniform =
        |rest: &str| format!("[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nqueue_pairs = 2\n{rest}");
    assert_eq!(remarks("kind = \"none\"", &uniform("load = 0.1")), "");
    for protocol in ["kind = \"sst-cm\"", "kind = \"rccc\"", "kind = \"nscc+rccc\""] {
        let told = remarks(protocol, &uniform("load = 0.1"));
        assert!(told.contains("no send queue of their own"), "{told}");
    }
    let fifo = format!("[endpoint]\nqueues = \"fifo\"\n{}", uniform("load = 0.1"));
    assert!(remarks("kind = \"none\"", &fifo).contains("with one send queue for all"));
    assert!(remarks("kind = \"none\"", &uniform("process = \"one-shot\"")).contains("one message"));
    let job = |each: u32| {
        format!(
            "[[job]]\nname = \"j\"\nworkload = \"alltoall\"\nmessage = \"1 kB\"\nranks = {0}\nranks_per_endpoint = {each}\nqueue_pairs = 4\n",
            2 * each
        )
    };
    assert_eq!(remarks("kind = \"none\"", &job(32)), "");
    assert!(remarks("kind = \"none\"", &job(64)).contains("of the 16384 flows between two endpoints 4096"));
}

#[test]
fn queue_pairs_that_nothing_tells_from_each_other_are_refused() {
    let rest = |pairs: &str, more: &str| {
        format!(
            "[[traffic]]\nname = \"t\"\npattern = \"uniform\"\nload = 0.1\nqueue_pairs = {pairs}\n\
             [run]\nwarmup = \"1 us\"\nduration = \"1 us\"\n{more}"
        )
    };
    let tree = "kind = \"fat-tree\"\nlevels = 2\narity = 4";
    let none = "kind = \"none\"";
    let told = |routing: &str, protocol: &str, rest: &str| {
        let text = file(tree, routing, protocol, rest);
        match tailback_engine::scenario::Scenario::parse(&text, &[]) {
            Ok(scenario) => told(&scenario.problems()),
            Err(problems) => told(&problems),
        }
    };
    let nca = "kind = \"nca\"\nup = \"deterministic\"";
    assert_eq!(told(nca, none, &rest("4096", "")), "");
    for pairs in ["0", "4097"] {
        let refused = told(nca, none, &rest(pairs, ""));
        assert!(refused.contains("queue_pairs") && refused.contains("4096"), "{refused}");
    }
    for (routing, protocol) in
        [("kind = \"flow-adaptive\"", none), (nca, "kind = \"saa\""), (nca, "kind = \"max-min\"")]
    {
        let refused = told(routing, protocol, &rest("2", ""));
        assert!(refused.contains("queue_pairs") && refused.contains("each message is a flow"), "{refused}");
        assert_eq!(told(routing, protocol, &rest("1", "")), "");
        let job = "[[job]]\nname = \"j\"\nworkload = \"alltoall\"\nmessage = \"1 kB\"\nranks = 4\nqueue_pairs = 2\n";
        let refused =
            told(routing, protocol, &format!("{job}[run]\nwarmup = \"1 us\"\nduration = \"1 us\"\n"));
        assert!(refused.contains("job.j.queue_pairs"), "{refused}");
    }
    let job = "[[job]]\nname = \"j\"\nworkload = \"alltoall\"\nmessage = \"1 kB\"\nranks = 4\nsplit = true\n";
    let refused = told(nca, none, &format!("{job}[run]\nwarmup = \"1 us\"\nduration = \"1 us\"\n"));
    assert!(refused.contains("job.j.split") && refused.contains("nothing to divide"), "{refused}");
    let phases = |pairs: &str| {
        format!(
            "[[job]]\nname = \"j\"\nworkload = \"phases\"\nranks = 8\npermutations = 1\nsize = \"3 packets\"\n{pairs}[run]\nmodel = \"fluid\"\nduration = \"1 ms\"\n"
        )
    };
    assert_eq!(told(nca, none, &phases("")), "");
    assert!(told(nca, none, &phases("queue_pairs = 2\n")).contains("in the fluid model"));
}
