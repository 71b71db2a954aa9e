//! What a file may hold, and what is said of one that is wrong.
use super::super::tests::check_wiring;
use super::*;
use proptest::prelude::*;

fn edges(text: &str) -> File {
    File::new(text, Format::Edges, 0)
}

fn told(file: &File) -> Vec<String> {
    file.problems().iter().map(|problem| format!("{}: {}", problem.path, problem.message)).collect()
}

const RING: &str = "# three switches, a host each
h0 s0
h1, s1
s0, s1, 100 Gb/s, 50 ns
s1 s2 100Gb/s 50ns 2
h2 s2
s2 s0 50Gb/s 1us
";

const GRAPHML: &str = r#"<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="bandwidth" attr.type="string"/>
  <key id="d1" for="edge" attr.name="latency" attr.type="string"/>
  <key id="d2" for="node" attr.name="type" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="h0"><data key="d2">host</data></node>
    <node id="s0"/><node id="s1"/>
    <node id="h1"><data key="d2">host</data></node>
    <edge source="h0" target="s0"/>
    <edge source="s0" target="s1"><data key="d0">200 Gb/s</data><data key="d1">1 us</data></edge>
    <edge source="h1" target="s1"/>
  </graph>
</graphml>
"#;

const TOPO: &str = "Nodes 16\nTiers 3\nPodsize 4\n
Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 1000\nOversubscribed 1\n
Tier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\nDownlink_Latency_ns 2000\nBundle 1\n
Tier 2\nDownlink_speed_Gbps 400\nRadix_Down 8\nDownlink_Latency_ns 3000\nBundle 2\n";

const HPCC: &str = "6 2 6
4 5

0 4 100Gbps 1000ns 0.000000
1 4 100Gbps 1000ns 0
2 5 100Gbps 1000ns
3 5 100Gbps 1us 0
4 5 400Gbps 0.002ms 0
5 4 400Gb/s 2000ns 0
this is not read
";

#[test]
fn the_topology_of_hpcc_has_hosts_in_order_and_parallel_links() {
    let file = File::new(HPCC, Format::Hpcc, 0);
    check_wiring(&file);
    assert_eq!((file.counts(), file.link_classes()), ((4, 2), &["host", "link1"][..]));
    assert_eq!(file.wire(0), (Some(Rate(100_000_000_000)), Some(Duration::Ps(1_000_000))));
    assert_eq!(file.wire(1), (Some(Rate(400_000_000_000)), Some(Duration::Ps(2_000_000))));
    let graph = file.graph();
    assert_eq!(graph.switches.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
    assert_eq!(graph.endpoints.iter().map(|(switch, _)| *switch).collect::<Vec<_>>(), [0, 0, 1, 1]);
    // Switches may have lower numbers than hosts.
    let low = File::new("3 1 2\n0\n2 0 1Gbps 1ns 0\n1 0 1Gbps 1ns 0\n", Format::Hpcc, 0);
    check_wiring(&low);
    assert_eq!(low.counts(), (2, 1));
}

#[test]
fn mistakes_in_the_topology_of_hpcc_are_told() {
    for (from, to, part) in [
        ("6 2 6", "6 2", "line 1: this does not count"),
        ("6 2 6", "6 7 6", "line 1: 6 nodes, 7 of them switches"),
        ("6 2 6", "99999999 2 6", "line 1: 99999999 nodes"),
        ("6 2 6", "6 2 9", "9 links are told, and 7 are there"),
        ("4 5\n", "4 4\n", "line 2: \"4\" is no other node"),
        ("4 5\n", "4 6\n", "line 2: \"6\" is no other node"),
        ("6 2 6", "6 1 6", "line 1: 1 switches are told, and 2 named"),
        ("6 2 6", "0 0 6", "line 1: 0 nodes"),
        ("0 4 100Gbps", "0 9 100Gbps", "line 4: a link from 0 to 9"),
        ("0 4 100Gbps", "4 4 100Gbps", "line 4: a link from 4 to itself"),
        ("0 4 100Gbps", "0 4 fast", "line 4: "),
        ("0.000000", "0.001", "line 4: links do not lose packets"),
        ("400Gb/s 2000ns", "200Gb/s 2000ns", "line 9: another link between 4 and 5 differs"),
        ("1 4 100Gbps", "0 4 100Gbps", "the host 1 has 0 links"),
    ] {
        let text = HPCC.replacen(from, to, 1);
        let told = told(&File::new(text.as_str(), Format::Hpcc, 0));
        assert!(told.iter().any(|told| told.contains(part)), "{text}: {told:?}");
    }
}

#[test]
fn an_edge_list_is_wired_with_a_class_for_each_pair_of_bandwidth_and_latency() {
    let file = edges(RING);
    check_wiring(&file);
    assert_eq!((file.counts(), file.link_classes()), ((3, 3), &["host", "link1", "link2"][..]));
    assert_eq!(file.wire(2), (Some(Rate(50_000_000_000)), Some(Duration::Ps(1_000_000))));
    assert_eq!(file.graph().switches.iter().map(Vec::len).collect::<Vec<_>>(), [3, 4, 4]);
}

#[test]
fn graphml_is_read_with_its_types_and_data() {
    let file = File::new(GRAPHML, Format::Graphml, 0);
    check_wiring(&file);
    assert_eq!(file.counts(), (2, 2));
    assert_eq!(file.wire(1), (Some(Rate(200_000_000_000)), Some(Duration::Ps(1_000_000))));
}

#[test]
fn a_tree_of_htsim_has_its_switches_and_bundles() {
    let file = File::new(TOPO, Format::Topo, 0);
    check_wiring(&file);
    // 4 pods of 2 + 2 switches; an aggregation switch has 2 links up, both to one of 2 core switches.
    assert_eq!((file.counts(), file.link_classes().len()), ((16, 8 + 8 + 2), 3));
    let core = file.graph().switches.iter().filter(|ports| ports.len() == 8).count();
    assert_eq!(core, 2);
    let text = TOPO.replace("Radix_Down 8", "Radix_Down 9");
    assert_eq!(
        told(&File::new(text, Format::Topo, 0)),
        ["text: line 19: Radix_Down of tier 2 is 9, which does not fit the rest"]
    );
}

#[test]
fn hosts_are_those_said_to_be_or_the_nodes_with_one_link_or_attached() {
    assert_eq!(edges("a b\nb c").counts(), (2, 1));
    assert_eq!(edges("host a\na b\nb c").counts(), (1, 2));
    assert_eq!(File::new("a b\nb c", Format::Edges, 2).counts(), (6, 3));
}

#[test]
fn every_mistake_is_told_with_its_line() {
    let wrong = "s0 s0\ns0 s1\ns1 s0\ns0 s2 0Gb/s 5ns\ns3\ns0 s4 5ns\ns0 s5 1Gb/s 5parsecs\nhost s9\nswitch s9\ns0, s7, , , x";
    assert_eq!(
        told(&File { path: "net.txt".into(), ..edges(wrong) }),
        [
            "path: net.txt line 1: a link from s0 to itself",
            "path: net.txt line 3: s1 and s0 are joined already",
            "path: net.txt line 4: a rate must be over 0",
            "path: net.txt line 5: a link has two nodes",
            "path: net.txt line 6: this line has 3 fields",
            "path: net.txt line 7: unknown unit \"parsecs\"",
            "path: net.txt line 9: s9 is both a host and a switch",
            "path: net.txt line 10: \"x\" is no number of links",
        ]
    );
    let parts = "host h0 h1 h2 h3\nh0 s0\ns0 s1\nh1 s2 100Gb/s 5ns\nh2 h3";
    assert_eq!(
        told(&edges(parts)),
        [
            "text: line 5: h2 and h3 are both hosts",
            "text: line 4: this host link is unlike that of line 2",
            "text: line 1: h1 cannot be reached from h0, as 1 more nodes",
            "text: line 1: h2 cannot be reached from h0, as 1 more nodes",
        ]
    );
    assert_eq!(told(&edges("")), ["text: there is no network"]);
    assert_eq!(told(&edges("# nothing")), ["text: the network has no endpoints"]);
    assert_eq!(told(&File::new("<a><b></a>", Format::Graphml, 0)).len(), 1);
    assert_eq!(told(&File::new("<a/>", Format::Graphml, 0)), ["text: there is no graph in this document"]);
}

#[test]
fn a_network_has_254_link_classes_at_most() {
    let chain = |links: u32| {
        let wires = (0..links).map(|at| format!("s{at} s{} 100Gb/s {}ns\n", at + 1, at + 1));
        edges(&format!("h0 s0\n{}h1 s{links}\n", wires.collect::<String>()))
    };
    // The host links are a class too.
    let most = chain(253);
    check_wiring(&most);
    assert_eq!(most.link_classes().len(), 254);
    assert_eq!(told(&chain(254)), ["text: the links have 255 different pairs of bandwidth and latency"]);
}

#[test]
fn a_million_lines_of_garbage_are_refused_after_a_few() {
    let garbage = "\u{1}x ? ! § 5 nonsense\n".repeat(1_000_000);
    for format in [Format::Edges, Format::Graphml, Format::Topo, Format::Hpcc] {
        assert!((1..=21).contains(&File::new(garbage.as_str(), format, 0).problems().len()));
    }
    // Lines that are links in themselves, of a network in many parts.
    let parts: String = (0..200_000).map(|at| format!("a{at} b{at}\n")).collect();
    assert!((1..=21).contains(&edges(&parts).problems().len()));
}

fn no_panic(text: &str, format: Format) {
    let file = File::new(text, format, (text.len() % 3) as u32);
    if file.problems().is_empty() {
        check_wiring(&file);
    }
}

proptest! {
    #[test]
    fn mutated_files_never_panic(
        at in 0usize..700, len in 0usize..20, with in "[a-z0-9 ,\n<>/\"#]{0,12}|[0-9]{1,20}", which in 0usize..4
    ) {
        let (text, format) =
            [(RING, Format::Edges), (GRAPHML, Format::Graphml), (TOPO, Format::Topo), (HPCC, Format::Hpcc)][which];
        let start = at % text.len();
        let end = (start + len).min(text.len());
        no_panic(&format!("{}{with}{}", &text[..start], &text[end..]), format);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,80}|([ab0-9]{1,2}[ ,][ab0-9]{1,2}\n){0,12}") {
        [Format::Edges, Format::Graphml, Format::Topo, Format::Hpcc].iter().for_each(|&format| no_panic(&text, format));
    }
}
