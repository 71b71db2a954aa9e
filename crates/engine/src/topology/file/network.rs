//! From a draft to the wired network.
use super::draft::{Draft, Wire};
use crate::graph::{Graph, Peer, Port};
use crate::topology::too_large;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Most link classes: a channel has 8 bits for its kind, which is a link class, or injection or ejection.
pub(super) const LINK_CLASSES_MAX: usize = 254;

/// Most switches.
const SWITCHES_MAX: usize = 1 << 13;

/// A network without mistakes.
#[derive(Debug, PartialEq)]
pub(super) struct Network {
    pub(super) graph: Graph,
    /// By link class, the host links first.
    pub(super) wires: Vec<Wire>,
}

/// "host", "link1", "link2", …
pub(super) fn class_names() -> &'static [&'static str] {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let links = (1..LINK_CLASSES_MAX).map(|class| &*Box::leak(format!("link{class}").into_boxed_str()));
        std::iter::once("host").chain(links).collect()
    })
}

/// Wires the network, or notes in the draft why not.
pub(super) fn build(draft: &mut Draft, concentration: u32) -> Option<Network> {
    let hosts = hosts(draft, concentration);
    check_hosts(draft, &hosts);
    let wires = wires(draft, &hosts)?;
    let mut numbers = vec![u32::MAX; draft.nodes.len()];
    let switches: Vec<usize> = (0..hosts.len()).filter(|&node| !hosts[node]).collect();
    switches.iter().zip(0..).for_each(|(&node, number)| numbers[node] = number);
    check_size(draft, &switches, &hosts, concentration);
    check_connected(draft, &numbers);
    if draft.has_mistakes() {
        return None;
    }
    let mut graph = Graph {
        switches: vec![Vec::new(); switches.len()],
        blocks: vec![0; switches.len()],
        ..Graph::default()
    };
    attach(draft, &hosts, &numbers, &mut graph);
    for switch in 0..switches.len() as u32 {
        (0..concentration).for_each(|_| _ = graph.attach(switch, 0));
    }
    let classes: HashMap<Wire, u8> = wires.iter().copied().zip(0..).skip(1).collect();
    for link in draft.links.iter().filter(|link| !link.nodes.iter().any(|&node| hosts[node as usize])) {
        let class = classes[&link.wire];
        for _ in 0..link.parallel {
            let ends = link.nodes.map(|node| {
                let ports = &mut graph.switches[numbers[node as usize] as usize];
                ports.push(Port { class, peer: Peer::None });
                (numbers[node as usize], (ports.len() - 1) as u16)
            });
            graph.join(ends[0], ends[1], class);
        }
    }
    Some(Network { graph, wires })
}

/// Which nodes are hosts.
fn hosts(draft: &Draft, concentration: u32) -> Vec<bool> {
    let said = concentration > 0 || draft.nodes.iter().any(|node| node.host == Some(true));
    draft.nodes.iter().map(|node| node.host.unwrap_or(!said && node.degree == 1)).collect()
}

fn check_hosts(draft: &mut Draft, hosts: &[bool]) {
    let wrong = |(node, _): &(usize, &bool)| draft.nodes[*node].degree != 1;
    let many: Vec<usize> =
        hosts.iter().enumerate().filter(|(_, host)| **host).filter(wrong).map(|at| at.0).collect();
    for node in many {
        let (name, line, degree) =
            (draft.nodes[node].name.clone(), draft.nodes[node].line, draft.nodes[node].degree);
        draft.refuse(line, format!("the host {name} has {degree} links"), "a host has one");
    }
    let pairs = draft.links.iter().filter(|link| link.nodes.iter().all(|&node| hosts[node as usize]));
    for link in pairs.copied().collect::<Vec<_>>() {
        let [a, b] = link.nodes.map(|node| draft.nodes[node as usize].name.clone());
        draft.refuse(link.line, format!("{a} and {b} are both hosts"), "a host is joined to a switch");
    }
}

/// The wire of the host links and those of all others, in order of appearance.
fn wires(draft: &mut Draft, hosts: &[bool]) -> Option<Vec<Wire>> {
    let mut wires = vec![Wire::default()];
    let mut classes = HashMap::new();
    let mut first: Option<(usize, Wire)> = None;
    let mut odd = Vec::new();
    for link in &draft.links {
        if !link.nodes.iter().any(|&node| hosts[node as usize]) {
            classes.entry(link.wire).or_insert_with(|| wires.push(link.wire));
            continue;
        }
        match first {
            None => first = Some((link.line, link.wire)),
            Some((line, wire)) if wire != link.wire => odd.push((link.line, line)),
            Some(_) => {}
        }
    }
    for (line, first) in odd {
        let message = format!("this host link is unlike that of line {first}");
        draft.refuse(line, message, "all host links have the same bandwidth and latency");
    }
    wires[0] = first.map_or_else(Wire::default, |(_, wire)| wire);
    if wires.len() <= LINK_CLASSES_MAX {
        return Some(wires);
    }
    let message = format!("the links have {} different pairs of bandwidth and latency", wires.len());
    draft.refuse(None, message, format!("at most {LINK_CLASSES_MAX}, host links included"));
    None
}

fn check_size(draft: &mut Draft, switches: &[usize], hosts: &[bool], concentration: u32) {
    let degrees = switches.iter().map(|&node| u64::from(draft.nodes[node].degree));
    let ports = degrees.max().unwrap_or(0).saturating_add(concentration.into());
    let attached = (switches.len() as u64).saturating_mul(concentration.into());
    let endpoints = hosts.iter().filter(|&&host| host).count() as u64 + attached;
    if endpoints == 0 {
        let help = "say which nodes are hosts, or set concentration to attach endpoints to every switch";
        draft.refuse(None, "the network has no endpoints", help);
    }
    if switches.len() > SWITCHES_MAX {
        let message = format!("the network has {} switches", switches.len());
        draft.refuse(None, message, format!("at most {SWITCHES_MAX}: their distances are kept in a table"));
    }
    draft.refuse_all(too_large(&[], (endpoints, switches.len() as u64), ports));
}

/// All switches must be reached from the first: the others are told, one of each part.
fn check_connected(draft: &mut Draft, numbers: &[u32]) {
    let mut parent: Vec<u32> = (0..numbers.len() as u32).collect();
    fn root(parent: &mut [u32], mut node: u32) -> u32 {
        while parent[node as usize] != node {
            parent[node as usize] = parent[parent[node as usize] as usize];
            node = parent[node as usize];
        }
        node
    }
    for link in &draft.links {
        let [a, b] = link.nodes.map(|node| root(&mut parent, node));
        parent[a.max(b) as usize] = a.min(b);
    }
    let mut parts: BTreeMap<u32, u32> = BTreeMap::new();
    for node in 0..numbers.len() as u32 {
        *parts.entry(root(&mut parent, node)).or_default() += 1;
    }
    let first = parts.pop_first();
    for (node, size) in parts {
        let first = &draft.nodes[first.map_or(0, |part| part.0) as usize].name;
        let (name, line) = (&draft.nodes[node as usize].name, draft.nodes[node as usize].line);
        let others = if size > 1 { format!(", as {} more nodes", size - 1) } else { String::new() };
        let message = format!("{name} cannot be reached from {first}{others}");
        draft.refuse(line, message, "the network must be connected");
    }
}

/// Attaches the hosts in the order in which they appeared.
fn attach(draft: &Draft, hosts: &[bool], numbers: &[u32], graph: &mut Graph) {
    let mut switch_of = vec![u32::MAX; hosts.len()];
    for link in &draft.links {
        let [a, b] = link.nodes;
        for (host, switch) in [(a, b), (b, a)] {
            if hosts[host as usize] {
                switch_of[host as usize] = numbers[switch as usize];
            }
        }
    }
    for (host, _) in hosts.iter().enumerate().filter(|(_, host)| **host) {
        graph.attach(switch_of[host], 0);
    }
}
