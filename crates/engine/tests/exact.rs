//! Latencies without load are known to the picosecond.
use crate::common::*;
use crate::slow::problems_in;
use std::collections::BTreeSet;
use tailback_engine::graph::{Graph, Peer};
use tailback_engine::topology::Topology;

/// Links between switches on a path, by class: (local or level 1, global or level 2).
type Links = (u64, u64);

/// A flit time: 100 bits at 100 Gb/s.
const FLIT: u64 = 1000;

/// The closed form in ps: every channel takes its latency and a flit time, every switch its pipeline, and the last
/// channel lets the other flits through.
fn closed_form(path: Links, flits: u64, pipeline: u64) -> u64 {
    let latency = 2 * LATENCY[0] + path.0 * LATENCY[1] + path.1 * LATENCY[2];
    let channels = 2 + path.0 + path.1;
    latency * 1000 + channels * FLIT + (channels - 1) * pipeline + (flits - 1) * FLIT
}

/// Flits of a largest packet, by default.
const PACKET: u64 = 24;

/// The same where switches store packets and forward them: each waits for the flits of a largest packet behind its head, since those
/// before the last come in no sooner.
fn closed_form_stored(path: Links, flits: u64, pipeline: u64) -> u64 {
    let switches = 1 + path.0 + path.1;
    closed_form(path, flits, pipeline) + switches * (flits.min(PACKET) - 1) * FLIT
}

/// The ways from a switch of one group over one global link to a switch of another: (first local, last local) hops.
fn crossings(graph: &Graph, from: u32, group: u32) -> Vec<(u64, u32)> {
    let here = graph.blocks[from as usize];
    let of_group = |switch: &u32| graph.blocks[*switch as usize] == here;
    let mut ways = Vec::new();
    for gateway in (0..graph.switches.len() as u32).filter(of_group) {
        for port in &graph.switches[gateway as usize] {
            if let Peer::Switch { switch, .. } = port.peer
                && graph.blocks[switch as usize] == group
            {
                ways.push((u64::from(gateway != from), switch));
            }
        }
    }
    ways
}

/// The paths that minimal routing may take.
fn minimal(topology: &Topology, graph: &Graph, src: u32, dst: u32) -> BTreeSet<Links> {
    let (from, to) = (graph.endpoints[src as usize].0, graph.endpoints[dst as usize].0);
    if from == to {
        return [(0, 0)].into();
    }
    let (here, there) = (graph.blocks[from as usize], graph.blocks[to as usize]);
    match topology {
        Topology::Torus(torus) => [apart(&torus.dims, from, to, |size, d| d.min(size - d))].into(),
        Topology::Mesh(mesh) => [apart(&mesh.dims, from, to, |_, d| d)].into(),
        Topology::Hyperx(hyperx) => [apart(&hyperx.dims, from, to, |_, d| d.min(1))].into(),
        Topology::File(_) | Topology::Xgft(_) | Topology::KAryNTree(_) | Topology::Kns(_) => {
            shortest(graph, from, to, &|_| true)
        }
        Topology::SingleSwitch(_) => unreachable!("all endpoints are on one switch"),
        Topology::FatTree(tree) if tree.levels == 2 || here == there => [(2, 0)].into(),
        Topology::FatTree(_) => [(2, 2)].into(),
        Topology::Dragonfly(_) if here == there => [(1, 0)].into(),
        Topology::Dragonfly(_) => {
            let ways = crossings(graph, from, there).into_iter();
            ways.map(|(first, entry)| (first + u64::from(entry != to), 1)).collect()
        }
    }
}

/// Links between two switches of a lattice of two dimensions, by what `links(size, difference of coordinates)` says.
fn apart(dims: &[u32], from: u32, to: u32, links: impl Fn(u32, u32) -> u32) -> Links {
    let (x, y) = ((from % dims[0]).abs_diff(to % dims[0]), (from / dims[0]).abs_diff(to / dims[0]));
    (links(dims[0], x).into(), links(dims[1], y).into())
}

/// The shortest paths between two switches of those that may lead on as `leads` says of the last three switches, the first of a path
/// twice: one link further at a time.
fn shortest(graph: &Graph, from: u32, to: u32, leads: &dyn Fn([u32; 3]) -> bool) -> BTreeSet<Links> {
    let mut ends: BTreeSet<([u32; 2], Links)> = [([from, from], (0, 0))].into();
    loop {
        let found: BTreeSet<Links> =
            ends.iter().filter(|([_, at], _)| *at == to).map(|(_, links)| *links).collect();
        if !found.is_empty() {
            return found;
        }
        let onwards = |&([before, at], (one, two)): &([u32; 2], Links)| {
            let next = neighbours(graph, at).filter(move |&(_, next)| leads([before, at, next]));
            next.map(move |(class, next)| {
                ([at, next], if class == 1 { (one + 1, two) } else { (one, two + 1) })
            })
        };
        ends = ends.iter().flat_map(onwards).collect();
    }
}

/// The switches that a switch has links to, with the class of each.
fn neighbours(graph: &Graph, switch: u32) -> impl Iterator<Item = (u8, u32)> {
    graph.switches[switch as usize].iter().filter_map(|port| match port.peer {
        Peer::Switch { switch, .. } => Some((port.class, switch)),
        _ => None,
    })
}

/// The paths of the routing "shortest". Up*/down*: up leads to a switch nearer to the root, of equals to one of lower number; the root is the
/// first switch whose farthest one is nearest.
fn by_shortest(graph: &Graph, routing: &str, src: u32, dst: u32) -> BTreeSet<Links> {
    let [from, to] = [src, dst].map(|endpoint| graph.endpoints[endpoint as usize].0);
    if !routing.contains("up-down") {
        return shortest(graph, from, to, &|_| true);
    }
    let switches = 0..graph.switches.len() as u32;
    let all: Vec<Vec<u32>> = switches.map(|root| depths(graph, root)).collect();
    let depth = all.iter().min_by_key(|depths| depths.iter().max()).unwrap();
    let is_up = |from: u32, to: u32| (depth[to as usize], to) < (depth[from as usize], from);
    shortest(graph, from, to, &|[before, at, next]| before == at || is_up(before, at) || !is_up(at, next))
}

/// Links from a switch to every other.
fn depths(graph: &Graph, root: u32) -> Vec<u32> {
    let mut depths = vec![u32::MAX; graph.switches.len()];
    let mut level = vec![root];
    for depth in 0.. {
        level.retain(|&switch| depths[switch as usize] == u32::MAX);
        level.iter().for_each(|&switch| depths[switch as usize] = depth);
        if level.is_empty() {
            break;
        }
        level = level.iter().flat_map(|&switch| neighbours(graph, switch)).map(|(_, next)| next).collect();
    }
    depths
}

/// The paths over one intermediate switch or group.
fn valiant(topology: &Topology, graph: &Graph, src: u32, dst: u32) -> BTreeSet<Links> {
    if matches!(topology, Topology::Dragonfly(_)) {
        return by_group(graph, src, dst);
    }
    let (from, to) = (graph.endpoints[src as usize].0, graph.endpoints[dst as usize].0);
    let switch = |endpoint: u32| graph.endpoints[endpoint as usize].0;
    // An endpoint stands for its switch: only switches with endpoints are led over.
    let others = (0..graph.endpoints.len() as u32).filter(|&via| switch(via) != from && switch(via) != to);
    let over = |via: u32| {
        let [first, second] = [(src, via), (via, dst)].map(|(a, b)| minimal(topology, graph, a, b));
        let sums = first.iter().flat_map(|a| second.iter().map(|b| (a.0 + b.0, a.1 + b.1)));
        sums.collect::<Vec<_>>()
    };
    if from == to { BTreeSet::new() } else { others.flat_map(over).collect() }
}

/// The paths over one intermediate group, left from where it is entered.
fn by_group(graph: &Graph, src: u32, dst: u32) -> BTreeSet<Links> {
    let (from, to) = (graph.endpoints[src as usize].0, graph.endpoints[dst as usize].0);
    let (here, there) = (graph.blocks[from as usize], graph.blocks[to as usize]);
    let mut paths = BTreeSet::new();
    for group in (0..=*graph.blocks.iter().max().unwrap()).filter(|&group| group != here && group != there) {
        for (first, entry) in crossings(graph, from, group) {
            for (second, last) in crossings(graph, entry, there) {
                paths.insert((first + second + u64::from(last != to), 2));
            }
        }
    }
    paths
}

/// Pairs of endpoints: from every second source to all.
fn pairs(graph: &Graph) -> Vec<(u32, u32)> {
    let n = graph.endpoints.len() as u32;
    let all = (0..n).step_by(3).flat_map(|src| (0..n).map(move |dst| (src, dst)));
    all.filter(|(src, dst)| src != dst).take(250).collect()
}

/// One class per pair, which sends one message while nothing else moves; the pairs and the first bits of the scenario.
fn alone(pairs: &[(u32, u32)], message: &str) -> String {
    let class = |(at, (src, dst)): (usize, &(u32, u32))| {
        format!(
            "[[traffic]]\nname = \"c{at}\"\npattern = \"list\"\npairs = [[{src}, {dst}]]\nshare = true\nprocess = \"one-shot\"\n\
             message = \"{message}\"\nstart = \"{} us\"\n",
            10 * at
        )
    };
    let classes: String = pairs.iter().enumerate().map(class).collect();
    let (pairs, drain) = (pairs.len(), "20 us");
    format!("{classes}[run]\nwarmup = \"0 us\"\nduration = \"{} us\"\ndrain = \"{drain}\"\n", 10 * pairs)
}

/// Latency of the only message of a class, in ps.
fn latency(output: &tailback_engine::report::Output, class: usize) -> u64 {
    let ns = number(output, &format!("c{class}"), "message_latency_ns.mean");
    (ns * 1000.0).round() as u64
}

fn check(network: &str, routing: &str, (switch, control): (&str, &str), message: u64, pipeline: u64) {
    let topology = topology(network);
    let graph = topology.wiring().graph();
    let pairs = pairs(&graph);
    let text = format!(
        "[topology]\n{network}\n[link]\n{}[link.flow_control]\n{control}\n[routing]\n{routing}\n[switch]\n{switch}\npipeline = \"{pipeline} ps\"\n[record]\nmessages = true\n{}",
        links(network),
        alone(&pairs, &format!("{message} flits"))
    );
    let output = run(&text);
    let stores = switch.contains("store-and-forward");
    let closed_form = if stores { closed_form_stored } else { closed_form };
    let mut seen = BTreeSet::new();
    for (at, &(src, dst)) in pairs.iter().enumerate() {
        let mut legal = if routing.contains("shortest") {
            by_shortest(&graph, routing, src, dst)
        } else {
            minimal(&topology, &graph, src, dst)
        };
        let found = latency(&output, at);
        let least = legal.iter().map(|&path| closed_form(path, message, pipeline)).min().unwrap();
        // Which of the ways goes to a destination is no chance.
        let least = if routing.contains("by-destination") { found } else { least };
        assert_eq!(reals(&output, "messages", "zero_load_ns")[at] * 1000.0, least as f64, "{network}");
        let there = |endpoint: u32| match topology {
            Topology::Dragonfly(_) => graph.block_of(endpoint),
            _ => graph.endpoints[endpoint as usize].0,
        };
        if routing.contains("valiant") && there(src) != there(dst) {
            let detours = valiant(&topology, &graph, src, dst);
            if !detours.is_empty() {
                legal = detours;
            }
        }
        let path = legal.iter().find(|&&path| closed_form(path, message, pipeline) == found);
        let Some(path) = path else {
            panic!("{network}\n{routing}\n{src} to {dst}: {found} ps is that of no path in {legal:?}");
        };
        let hops = number(&output, &format!("c{at}"), "hops_mean");
        assert_eq!(hops, (1 + path.0 + path.1) as f64, "{network}\n{routing}\n{src} to {dst}");
        assert_eq!(number(&output, &format!("c{at}"), "network_latency_ns.mean") * 1000.0, found as f64);
        let slowdown = number(&output, &format!("c{at}"), "message_slowdown.max");
        assert_eq!(slowdown, found as f64 / least as f64);
        seen.insert(*path);
    }
    if matches!(topology, Topology::Dragonfly(_)) && graph.blocks.iter().max() > Some(&0) {
        assert!(seen.len() > 2, "paths of one kind only: {seen:?}");
    }
}

#[test]
fn latency_without_load_is_the_closed_form_on_every_topology_and_routing() {
    lists_are_complete();
    for (network, routing) in routed_at_once(NETWORKS) {
        for flits in [1, 4, 24] {
            check(network, &routing, (SWITCHES[0], FLOW_CONTROLS[0]), flits, 0);
        }
    }
}

#[test]
fn the_pipeline_adds_its_latency_in_every_switch() {
    for (network, routing) in routed_at_once(NETWORKS) {
        check(network, &routing, (SWITCHES[0], FLOW_CONTROLS[0]), 4, 26_000);
    }
}

#[test]
fn latency_without_load_is_the_same_through_every_kind_of_switch() {
    for (at, (network, routing)) in routed_at_once(NETWORKS).into_iter().enumerate() {
        let switch = SWITCHES[1 + at % (SWITCHES.len() - 1)];
        check(network, &routing, (switch, FLOW_CONTROLS[0]), [1, 4, 24][at % 3], 1_000);
    }
}

#[test]
fn latency_without_load_is_the_same_under_every_flow_control() {
    for (at, (network, routing)) in routed_at_once(NETWORKS).into_iter().enumerate() {
        if !goes_by_credits(&routing) {
            let control = FLOW_CONTROLS[1 + at % (FLOW_CONTROLS.len() - 1)];
            check(network, &routing, (SWITCHES[at % 5], control), [1, 4, 24][at % 3], 1_000);
        }
    }
}

#[test]
#[ignore = "long: the whole product"]
fn latency_without_load_is_the_closed_form_on_every_topology_and_routing_and_switch() {
    each(&routed_at_once(NETWORKS), |(network, routing)| {
        for switch in SWITCHES {
            // A buffer of a given size has no room for what comes over long links until a pause is obeyed.
            let one = goes_by_credits(routing) || switch.contains("input_buffer");
            for control in FLOW_CONTROLS.iter().take(if one { 1 } else { usize::MAX }) {
                [1, 4, 24].iter().for_each(|&flits| check(network, routing, (switch, control), flits, 7_000));
            }
        }
    });
}

/// Latency of one message in ps between the first and the last endpoint.
fn single(network: &str, sections: &str, message: &str) -> u64 {
    let last = topology(network).wiring().counts().0 as u32 - 1;
    let text = format!(
        "[topology]\n{network}\n[routing]\nkind = \"minimal\"\n{sections}\n{}",
        alone(&[(0, last)], message)
    );
    latency(&run(&text), 0)
}

/// The closed form over unequal channels: each is (latency, flit time) in ps. A channel is held until the tail has left
/// it, which is not before the tail has come.
fn along(channels: &[(u64, u64)], flits: u64) -> u64 {
    let (mut head, mut tail) = (0, 0);
    for (latency, flit) in channels {
        let end = tail.max(head + flits * flit);
        (head, tail) = (head + latency + flit, end + latency);
    }
    tail
}

const TWO_LEVELS: &str = "kind = \"fat-tree\"\nlevels = 2\narity = 4";

#[test]
fn nothing_is_sent_faster_than_it_arrived() {
    for (host, level1) in [(100, 25), (25, 100), (100, 400), (50, 100)] {
        let sections = format!(
            "[link]\nhost = \"5 ns\"\nlevel1 = \"50 ns\"\n[link.bandwidth]\nhost = \"{host} Gb/s\"\nlevel1 = \"{level1} Gb/s\""
        );
        let (outer, inner) = ((5_000, 100_000 / host), (50_000, 100_000 / level1));
        for flits in [1, 4, 24] {
            let found = single(TWO_LEVELS, &sections, &format!("{flits} flits"));
            assert_eq!(found, along(&[outer, inner, inner, outer], flits), "{host}, {level1}, {flits} flits");
        }
    }
}

#[test]
fn a_flit_time_of_no_whole_picoseconds_is_rounded_up_once_a_packet() {
    // 100 bits at 3 Gb/s are 33333.33… ps; four flits 133333.33….
    let sections = "[link]\nbandwidth = \"3 Gb/s\"\nlatency = \"5 ns\"";
    let found = single("kind = \"single-switch\"\nendpoints = 2", sections, "4 flits");
    assert_eq!(found, 5_000 + 33_334 + 133_334 + 5_000);
}

#[test]
fn the_packets_of_a_message_follow_each_other_without_gaps() {
    for (message, flits) in [("48 flits", 48), ("100 flits", 100), ("3 packets", 72)] {
        let sections = "[link]\nhost = \"5 ns\"\nlevel1 = \"50 ns\"";
        let found = single(TWO_LEVELS, sections, message);
        assert_eq!(found, closed_form((2, 0), flits, 0), "{message}");
    }
}

#[test]
fn a_packet_that_is_stored_and_forwarded_is_sent_anew_by_each_switch() {
    let stored = "[switch]\nkind = \"cioq\"\nforwarding = \"store-and-forward\"\n";
    // One behind the other over one way.
    let text = format!(
        "[topology]\n{TWO_LEVELS}\n[link]\nhost = \"5 ns\"\nlevel1 = \"50 ns\"\n[routing]\nkind = \"nca\"\nup = \"deterministic\"\n{stored}\
         [record]\nmessages = true\n"
    );
    for flits in [1, 24, 25, 47, 100] {
        let output = run(&format!("{text}{}", alone(&[(0, 15)], &format!("{flits} flits"))));
        let told = reals(&output, "messages", "zero_load_ns")[0];
        assert_eq!(latency(&output, 0), closed_form_stored((2, 0), flits, 0), "{flits} flits");
        assert_eq!(told * 1000.0, latency(&output, 0) as f64, "{flits} flits");
    }
    // Over unequal channels a packet takes the time of each.
    let uneven = format!(
        "[link]\nhost = \"5 ns\"\nlevel1 = \"50 ns\"\n[link.bandwidth]\nhost = \"100 Gb/s\"\nlevel1 = \"400 Gb/s\"\n{stored}"
    );
    for flits in [1, 4, 24] {
        let found = single(TWO_LEVELS, &uneven, &format!("{flits} flits"));
        assert_eq!(found, 110_000 + 2 * flits * (1_000 + 250), "{flits} flits");
    }
}

#[test]
fn control_packets_do_not_overtake_the_tails_that_switches_wait_for() {
    let stored = [("switch.forwarding", "\"store-and-forward\""), ("packet.interleave", "true")];
    let told = problems_in(
        &file(TWO_LEVELS, "kind = \"nca\"", "kind = \"none\"", &alone(&[(0, 1)], "1 flit")),
        &stored,
    );
    assert_eq!(Vec::from_iter(told.iter().map(|one| one.path.as_str())), ["packet.interleave"]);
}

/// Over a quarter of a second: more packets than 16 bits number, and more flits than 28.
#[test]
fn the_longest_messages_take_no_gaps_either() {
    let text = "[topology]\nkind = \"single-switch\"\nendpoints = 2\n[link]\nlatency = \"5 ns\"\n[packet]\nmax = \"4095 flits\"\n\
                [switch]\ninput_buffer = \"9000 flits\"\noutput_buffer = \"9000 flits\"\n[routing]\nkind = \"minimal\"\n\
                [[traffic]]\nname = \"c0\"\npattern = \"list\"\npairs = [[0, 1]]\nprocess = \"one-shot\"\n\
                message = \"70000 packets\"\n[run]\nwarmup = \"0 us\"\nduration = \"1 us\"\ndrain = \"300 ms\"\n";
    let output = run(text);
    assert_eq!(latency(&output, 0), closed_form((0, 0), 70_000 * 4095, 0));
    assert_eq!((number(&output, "c0", "packets"), number(&output, "c0", "unfinished")), (70_000.0, 0.0));
}

#[test]
fn a_slow_endpoint_takes_its_time() {
    let sections = "[link]\nlatency = \"5 ns\"\n[endpoint]\ndrain_rate = \"25 Gb/s\"";
    let found = single("kind = \"single-switch\"\nendpoints = 2", sections, "24 flits");
    assert_eq!(found, 5_000 + FLIT + 24 * 4 * FLIT + 5_000);
}

/// Paper SRP (HPCA 2012), section 4: "a minimum of 301 ns or 430 ns" in its 256-endpoint tree.
#[test]
fn the_tree_of_the_srp_paper_has_its_latencies() {
    let text = |dst: u32| {
        format!(
            "[topology]\nkind = \"fat-tree\"\nlevels = 2\narity = 16\n[link]\nbandwidth = \"10 Gb/s\"\nlatency = \"32 ns\"\n\
             [packet]\nflit = \"64 b\"\nmax = \"32 flits\"\n[switch]\nkind = \"cioq\"\npipeline = \"26 ns\"\n[routing]\nkind = \"nca\"\n{}",
            alone(&[(0, dst)], "32 flits")
        )
    };
    for (dst, ns) in [(15, 301.0), (16, 430.0), (255, 430.0)] {
        let found = number(&run(&text(dst)), "c0", "network_latency_ns.mean");
        assert!((found - ns).abs() < 1.0, "to {dst}: {found} ns");
    }
}
