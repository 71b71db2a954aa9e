//! What the tests of whole runs share: small networks, every routing and protocol, and readers of results.
use std::sync::atomic::{AtomicUsize, Ordering};
use tailback_engine::problem::Problem;
use tailback_engine::protocol::CongestionControl;
use tailback_engine::report::{Column, Output, RunError};
use tailback_engine::routing::Routing;
use tailback_engine::run;
use tailback_engine::scenario::Scenario;
use tailback_engine::topology::Topology;

/// Latencies that let a path be read off its sum: host, first and second class of other links, in ns.
pub const LATENCY: [u64; 3] = [5, 50, 1000];

/// `[topology]` tables small enough for many runs. Together they have every kind.
pub const NETWORKS: &[&str] = &[
    "kind = \"single-switch\"\nendpoints = 6",
    "kind = \"fat-tree\"\nlevels = 2\narity = 4",
    "kind = \"fat-tree\"\nlevels = 2\narity = 4\ntaper = 2",
    "kind = \"fat-tree\"\nlevels = 3\narity = 2",
    "kind = \"dragonfly\"\np = 2\na = 4\nh = 1\ngroups = 5",
    "kind = \"dragonfly\"\np = 1\na = 3\nh = 2\ngroups = 4\narrangement = \"palm-tree\"",
    "kind = \"dragonfly\"\np = 2\na = 2\nh = 1\ngroups = 3",
    "kind = \"dragonfly\"\np = 2\na = 4\nh = 0\ngroups = 1",
    "kind = \"xgft\"\ndown = [2, 3, 2]\nup = [2, 1]\nlinks = [1, 2]",
    "kind = \"torus\"\ndims = [4, 3]",
    "kind = \"mesh\"\ndims = [3, 2]\nlinks = 2",
    "kind = \"hyperx\"\ndims = [3, 2]",
    "kind = \"kns\"\nk = 3\nn = 2",
    ODD,
    "kind = \"k-ary-n-tree\"\nk = 3\nn = 2\nhorizontal = 1",
];

/// A ring of five switches with two chords, a leaf and links of two kinds; no endpoint is at switch d.
const ODD: &str = "kind = \"file\"\nformat = \"edges\"\ntext = '''\nhost p q r s t u\np a\nq b\nr c\ns e\nt e\nu f\n\
                   a, b, 100 Gb/s, 50 ns\nb, c, 100 Gb/s, 50 ns\nc, d, 100 Gb/s, 1 us\nd, e, 100 Gb/s, 50 ns, 2\n\
                   e, a, 100 Gb/s, 1 us\na, c, 100 Gb/s, 1 us\nb, d, 100 Gb/s, 50 ns\nf, d, 100 Gb/s, 50 ns\n'''";

/// One network of each kind that takes several partitions.
pub const FEW_NETWORKS: &[&str] = &[
    "kind = \"single-switch\"\nendpoints = 6",
    "kind = \"fat-tree\"\nlevels = 3\narity = 2",
    "kind = \"dragonfly\"\np = 2\na = 3\nh = 1\ngroups = 4",
    "kind = \"xgft\"\ndown = [2, 2, 2]\nup = [2, 1]\nlinks = [2, 1]",
    "kind = \"torus\"\ndims = [4, 3]",
    "kind = \"mesh\"\ndims = [3, 2]",
    "kind = \"hyperx\"\ndims = [3, 2]",
    "kind = \"kns\"\nk = 3\nn = 2",
    ODD,
    "kind = \"k-ary-n-tree\"\nk = 2\nn = 3\nhorizontal = 2",
];

/// `[routing]` tables that are not a kind with its default parameters.
const VARIANTS: &[&str] = &[
    "kind = \"nca\"\nup = \"deterministic\"",
    "kind = \"nca\"\nup = \"least-loaded\"",
    "kind = \"nca\"\nup = \"flow-hash\"",
    "kind = \"shortest\"\ndeadlock = \"up-down\"",
    "kind = \"shortest\"\nchoose = \"by-destination\"",
    "kind = \"shortest\"\nchoose = \"flow-hash\"",
    "kind = \"shortest\"\nchoose = \"least-loaded\"",
    "kind = \"par\"\nthreshold = \"0 flits\"",
    "kind = \"ugal\"\nthreshold = \"0 flits\"",
    "kind = \"dor\"\norders = [\"xy\", \"yx\"]",
    "kind = \"dor\"\norders = [\"xy\", \"yx\"]\nchoose = \"occupancy\"",
    "kind = \"flow-adaptive\"\ncache = 1",
];

/// `[congestion_control]` tables: every kind, and what a small network needs to show all that it can do.
pub const PROTOCOLS: &[&str] = &[
    "kind = \"none\"",
    "kind = \"ecn\"\nthreshold = \"24 flits\"",
    "kind = \"ecn\"\nthreshold = \"24 flits\"\nnotify = \"notification\"",
    "kind = \"lhrp\"\nthreshold = \"48 flits\"",
    "kind = \"lhrp\"\nthreshold = \"48 flits\"\nfabric_drop = \"300 ns\"\ncoalesce_after = 2",
    "kind = \"srp\"\nn_min = \"8 flits\"\ntime_to_wait = \"100 ns\"",
    "kind = \"srp\"\nn_min = \"8 flits\"\ntime_to_wait = \"100 ns\"\nvariant = \"fast-resend\"\nsmall = \"coalesce\"",
    "kind = \"smsrp\"\ntime_to_wait = \"60 ns\"",
    "kind = \"lhrp+srp\"\nthreshold_message = \"24 flits\"\nthreshold = \"48 flits\"\ntime_to_wait = \"100 ns\"",
    "kind = \"codes-cc\"\nbuffer = \"96 flits\"\nperiod = \"50 ns\"\nsignals = \"20 ns\"",
    "kind = \"codes-cc\"\nbuffer = \"96 flits\"\nvariant = \"drain margin\"\nsignals = \"in band\"",
    "kind = \"codes-cc\"\nbuffer = \"96 flits\"\nvariant = \"as coded\"\nperiod = \"50 ns\"\nsignals = \"20 ns\"",
    "kind = \"sst-cm\"\nstreams = 2\noutstanding = \"48 flits\"\nsmallest = \"2 flits\"",
    "kind = \"sst-cm\"\nvariant = \"as coded\"\nstreams = 2\noutstanding = \"48 flits\"\nsmallest = \"2 flits\"",
    "kind = \"max-min\"\nprobe_period = \"200 ns\"\nhold = \"500 ns\"\npiggyback = true",
    "kind = \"saa\"\nprobe_period = \"200 ns\"\nhold = \"500 ns\"",
    "kind = \"dcqcn\"\nmark_from = \"24 flits\"\nmark_all = \"96 flits\"\nmark_chance = 0.3\ncnp_interval = \"200 ns\"\ntimer = \"1 us\"",
    "kind = \"dcqcn-connectx\"\nmark_from = \"24 flits\"\nmark_all = \"96 flits\"\ncut_timer = \"300 ns\"\nalpha_timer = \"100 ns\"\ntimer = \"1 us\"",
    "kind = \"swift\"\nfs_range = \"0 ns\"\nmin_cwnd = 0.1",
    "kind = \"hpcc\"\nbase_rtt = \"300 ns\"\nmax_stage = 0",
    "kind = \"nscc\"\ntarget = \"50 ns\"\nmark_from = \"0 flits\"\nmark_all = \"48 flits\"\nfast_delay = \"10 ns\"",
    "kind = \"rccc\"\nunsolicited = \"24 flits\"\noutstanding = \"72 flits\"",
    "kind = \"nscc+rccc\"\nnscc = { target = \"50 ns\", mark_from = \"0 flits\", mark_all = \"48 flits\" }\nrccc = { outstanding = \"72 flits\" }",
];

/// Whether a protocol may drop packets.
pub fn drops(protocol: &str) -> bool {
    let bound: CongestionControl = toml::from_str(protocol).unwrap();
    bound.scheme().classes(true).iter().any(|class| class.droppable)
}

/// The protocol, or one that the routing works with: routes for whole flows with one that drops nothing, ways chosen by queues with
/// one whose flows have no rates.
pub fn suited<'a>(routing: &str, protocol: &'a str) -> &'a str {
    let bound: Routing = toml::from_str(routing).unwrap();
    let scheme: CongestionControl = toml::from_str(protocol).unwrap();
    if routing.contains("flow-adaptive") && drops(protocol) {
        "kind = \"saa\"\nprobe_period = \"200 ns\"\nhold = \"500 ns\""
    } else if scheme.scheme().told().is_some() && bound.binding().senses_load() {
        "kind = \"ecn\"\nthreshold = \"24 flits\""
    } else {
        protocol
    }
}

/// Whether a protocol tells messages of several priorities for one destination from each other.
pub fn knows_priorities(protocol: &str) -> bool {
    let bound: CongestionControl = toml::from_str(protocol).unwrap();
    bound.scheme().knows_priorities()
}

/// Whether messages of a protocol can go by several flows between two endpoints.
pub fn takes_queue_pairs(protocol: &str) -> bool {
    let bound: CongestionControl = toml::from_str(protocol).unwrap();
    bound.scheme().told().is_none()
}

/// Whether a protocol needs a send queue per destination.
pub fn per_destination(protocol: &str) -> bool {
    let bound: CongestionControl = toml::from_str(protocol).unwrap();
    bound.scheme().per_destination()
}

/// Every network with every routing that sends a packet when it is made: without set-up packets first.
pub fn routed_at_once(networks: &[&'static str]) -> Vec<(&'static str, String)> {
    let mut all = routed(networks);
    all.retain(|(_, routing)| !routing.contains("flow-adaptive"));
    all
}

/// The topology of a table of `NETWORKS`.
pub fn topology(network: &str) -> Topology {
    toml::from_str(network).unwrap()
}

/// Every `[routing]` table that routes a network: all kinds, and the variants above.
pub fn routings(network: &str) -> Vec<String> {
    let topology = topology(network);
    let kinds = Routing::defaults();
    assert_eq!(kinds.len(), Routing::KINDS.len());
    let defaults = kinds.iter().filter(|kind| kind.suits(&topology)).map(|kind| {
        let name = kind.kind();
        format!("kind = \"{name}\"")
    });
    let variants = VARIANTS.iter().filter(|text| {
        let routing: Routing = toml::from_str(text).unwrap();
        // How one of several shortest ways is chosen has to do with no kind of network.
        let once = text.contains("\"shortest\"\nchoose") && topology.kind() != "file";
        routing.suits(&topology) && !once
    });
    defaults.chain(variants.map(|text| text.to_string())).collect()
}

/// Every network with every routing that suits it.
pub fn routed(networks: &[&'static str]) -> Vec<(&'static str, String)> {
    let all = |&network: &&'static str| routings(network).into_iter().map(move |routing| (network, routing));
    networks.iter().flat_map(all).collect()
}

/// Does something with each of many items, on all cores. A panic of one is a panic of all, and the rest is left.
pub fn each<T: Sync>(items: &[T], f: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(item)));
            if let Err(panic) = failed {
                next.store(items.len(), Ordering::Relaxed);
                std::panic::resume_unwind(panic);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}

/// The `[link]` table with the latencies above and no keys that the network does not have.
pub fn links(network: &str) -> String {
    let classes = topology(network).wiring().link_classes().iter().zip(LATENCY);
    classes.fold("bandwidth = \"100 Gb/s\"\n".to_string(), |all, (class, ns)| {
        format!("{all}{class} = \"{ns} ns\"\n")
    })
}

/// A scenario file from its parts; links are shorter than `LATENCY` so that small runs see much traffic.
pub fn file(network: &str, routing: &str, protocol: &str, rest: &str) -> String {
    format!(
        "[topology]\n{network}\n[link]\nlatency = \"10 ns\"\n[routing]\n{routing}\n[congestion_control]\n{protocol}\n{rest}"
    )
}

/// Reads a scenario that must be right.
pub fn read(text: &str) -> Scenario {
    Scenario::parse(text, &[]).unwrap_or_else(|problems| panic!("{}\nin\n{text}", told(&problems)))
}

/// Reads a scenario that must be right, with overrides.
pub fn read_with(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Scenario::parse(text, &overrides).unwrap_or_else(|problems| panic!("{}\nin\n{text}", told(&problems)))
}

/// Runs a scenario that must succeed.
pub fn run(text: &str) -> Output {
    run_with(text, &[])
}

/// Runs a scenario that must succeed, with overrides.
pub fn run_with(text: &str, overrides: &[(&str, &str)]) -> Output {
    let scenario = read_with(text, overrides);
    let _told = ToldOnPanic(text, overrides);
    match run::run(&scenario, &mut |_| true) {
        Ok(output) => output,
        Err(RunError::Problems(problems)) => panic!("{}\nin\n{text}", told(&problems)),
        Err(RunError::Failed(failure, _)) => panic!("{failure}\nin\n{text}\n{overrides:?}"),
    }
}

/// Tells which scenario broke a law of the engine.
struct ToldOnPanic<'a>(&'a str, &'a [(&'a str, &'a str)]);

impl Drop for ToldOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in the scenario\n{}\nwith {:?}", self.0, self.1);
        }
    }
}

/// The problems, a line each.
pub fn told(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

/// A number of a class's summary, by its keys.
pub fn number(output: &Output, class: &str, keys: &str) -> f64 {
    let mut value = &output.summary["classes"][class];
    for key in keys.split('.') {
        value = &value[key];
    }
    value.as_f64().unwrap_or_else(|| panic!("{class}.{keys} is {value} in {}", output.summary))
}

/// A column of a table.
pub fn column<'a>(output: &'a Output, table: &str, name: &str) -> &'a Column {
    let table =
        output.tables.iter().find(|other| other.name == table).unwrap_or_else(|| panic!("no table {table}"));
    &table.columns.iter().find(|(other, _)| other == name).unwrap_or_else(|| panic!("no column {name}")).1
}

/// A column of whole numbers.
pub fn ints<'a>(output: &'a Output, table: &str, name: &str) -> &'a [i64] {
    let Column::Int(values) = column(output, table, name) else { panic!("{name} holds no whole numbers") };
    values
}

/// A column of words.
pub fn words<'a>(output: &'a Output, table: &str, name: &str) -> &'a [String] {
    let Column::Text(values) = column(output, table, name) else { panic!("{name} holds no words") };
    values
}

/// A column of real numbers.
pub fn reals<'a>(output: &'a Output, table: &str, name: &str) -> &'a [f64] {
    let Column::Real(values) = column(output, table, name) else { panic!("{name} holds no real numbers") };
    values
}

/// All that a run gives but what tells how it was computed: the same text for the same result.
pub fn result(output: &Output) -> String {
    let mut summary = output.summary.clone();
    for key in ["partitions", "events"] {
        summary.as_object_mut().unwrap().remove(key);
    }
    format!("{summary}\n{:?}", output.tables)
}

/// Every kind of switch, in its variants.
pub const SWITCHES: &[&str] = &[
    "kind = \"cioq\"",
    "kind = \"input-queued\"",
    "kind = \"output-queued\"",
    "kind = \"shared-buffer\"",
    "kind = \"input-queued\"\nvoq = false\nspeedup = 2",
    "kind = \"shared-buffer\"\ninput_buffer = { per = \"port\", size = \"100 packets\", shared = true }",
    "kind = \"cioq\"\nforwarding = \"store-and-forward\"",
    "kind = \"output-queued\"\nforwarding = \"store-and-forward\"",
];

/// Every kind of flow control, in its variants.
pub const FLOW_CONTROLS: &[&str] = &[
    "kind = \"credits\"",
    "kind = \"pfc\"",
    "kind = \"pfc\"\nxoff = \"1 packet\"\nxon = \"0 flits\"",
    "kind = \"pfc\"\nxoff = \"40 flits\"\nresponse = \"30 ns\"",
    "kind = \"pfc-dynamic\"\nshared = \"100 flits\"\nreserve = \"0 flits\"\nxon_offset = \"4 flits\"",
    "kind = \"pfc-dynamic\"\nshared = \"30 flits\"\nalpha = 2.0\nreserve = \"1 packet\"\nresponse = \"30 ns\"",
];

/// Whether a routing needs the credits of the buffers ahead.
pub fn goes_by_credits(routing: &str) -> bool {
    ["bubble", "\"adaptive\"", "\"codes-par\"", "\"occupancy\""].iter().any(|word| routing.contains(word))
}

/// Every kind of every seam that the lists above must have.
pub fn lists_are_complete() {
    for kind in Topology::KINDS {
        for networks in [NETWORKS, FEW_NETWORKS] {
            assert!(networks.iter().any(|network| topology(network).kind() == *kind), "no small {kind}");
        }
    }
    for kind in tailback_engine::switch::Switch::KINDS {
        assert!(SWITCHES.iter().any(|switch| switch.contains(&format!("\"{kind}\""))), "no {kind}");
    }
    for kind in tailback_engine::flow_control::FlowControl::KINDS {
        assert!(FLOW_CONTROLS.iter().any(|control| control.contains(&format!("\"{kind}\""))), "no {kind}");
    }
    for kind in CongestionControl::KINDS {
        let has = |text: &&str| toml::from_str::<CongestionControl>(text).unwrap().kind() == *kind;
        assert!(PROTOCOLS.iter().any(has), "no protocol {kind}");
    }
}
