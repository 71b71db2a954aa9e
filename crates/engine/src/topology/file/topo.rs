//! htsim's `.topo`: the tiers of a tree, from the switches of the hosts (tier 0) up.
use super::draft::Draft;
use crate::topology::PORTS_MAX;
use crate::units::{Duration, Rate, shorten};

/// A tier of switches. Radices count links, `bundle` of which run side by side to each switch below.
#[derive(Debug, Clone, Copy, Default)]
struct Tier {
    gbps: u64,
    latency_ns: u64,
    down: u64,
    up: u64,
    bundle: u64,
    line: usize,
}

/// The whole file.
#[derive(Debug, Default)]
struct Tree {
    nodes: u64,
    tiers: u64,
    pod: u64,
    tier: Vec<Tier>,
}

/// Most nodes of a tree: bounds what a short file may ask for.
const NODES_MAX: u64 = 1 << 20;
/// Fastest link.
const GBPS_MAX: u64 = 1_000_000;

/// Reads the tiers and joins their switches.
pub(super) fn read(text: &str, draft: &mut Draft) {
    let mut tree = Tree::default();
    for (at, line) in text.lines().enumerate() {
        if draft.is_hopeless() {
            return;
        }
        let line = line.split('#').next().unwrap_or("").trim();
        if !line.is_empty() {
            read_line(line, at + 1, &mut tree, draft);
        }
    }
    if draft.has_mistakes() || !check(&mut tree, draft) {
        return;
    }
    wire(&tree, draft);
}

fn read_line(line: &str, number: usize, tree: &mut Tree, draft: &mut Draft) {
    let mut words = line.split_whitespace();
    let (key, value) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let Ok(value) = value.parse::<u64>() else {
        let message = format!("\"{}\" is no key and a whole number", shorten(line).escape_debug());
        return draft.refuse(number, message, "such as Radix_Down 8");
    };
    let tiers = tree.tier.len();
    match (key.to_ascii_lowercase().as_str(), tree.tier.last_mut()) {
        ("nodes", _) => tree.nodes = value,
        ("tiers", _) => tree.tiers = value,
        ("podsize", _) => tree.pod = value,
        ("tier", _) if value == tiers as u64 && tiers < 3 => {
            tree.tier.push(Tier { bundle: 1, line: number, ..Tier::default() });
        }
        ("tier", _) => draft.refuse(number, format!("tier {value} is out of turn"), "0, 1 and 2 in order"),
        ("downlink_speed_gbps", Some(tier)) => tier.gbps = value,
        ("downlink_latency_ns", Some(tier)) => tier.latency_ns = value,
        ("radix_down", Some(tier)) => tier.down = value,
        ("radix_up", Some(tier)) => tier.up = value,
        ("bundle", Some(tier)) => tier.bundle = value,
        ("switch_latency_ns", Some(_)) if value == 0 => {}
        ("switch_latency_ns", Some(_)) => {
            let help = format!("Switch_Latency_ns 0, and [switch] pipeline = \"{value} ns\"");
            draft.refuse(number, "the latency of switches is set in the scenario", help);
        }
        // They follow from the radices, or are set in the scenario.
        ("oversubscribed" | "queue_up" | "queue_down", Some(_)) => {}
        _ => {
            let message = format!("\"{}\" is not known here", shorten(key).escape_debug());
            draft.refuse(number, message, KEYS);
        }
    }
}

const KEYS: &str = "Nodes, Tiers, Podsize, then Tier 0 and so on, each with Downlink_speed_Gbps, Downlink_Latency_ns, \
                    Radix_Down, Radix_Up, Bundle, Switch_Latency_ns, Oversubscribed, Queue_Up, Queue_Down";

/// Whether the numbers fit each other; what is not is told.
fn check(tree: &mut Tree, draft: &mut Draft) -> bool {
    if tree.tiers == 0 {
        tree.tiers = tree.tier.len() as u64;
    }
    if tree.pod == 0 {
        tree.pod = tree.nodes;
    }
    if !(2..=3).contains(&tree.tiers) || tree.tier.len() as u64 != tree.tiers {
        let message = format!("{} of {} tiers are described", tree.tier.len(), tree.tiers);
        draft.refuse(None, message, "2 or 3 tiers, each described");
        return false;
    }
    if !(1..=NODES_MAX).contains(&tree.nodes) {
        draft.refuse(None, format!("Nodes is {}", tree.nodes), format!("1 to {NODES_MAX}"));
        return false;
    }
    let top = tree.tier.len() - 1;
    for (at, tier) in tree.tier.iter().enumerate() {
        let up = if at < top { tier.up } else { 1 };
        let given = [
            ("Downlink_speed_Gbps", tier.gbps, GBPS_MAX),
            ("Radix_Down", tier.down, PORTS_MAX),
            ("Radix_Up", up, PORTS_MAX),
            ("Bundle", tier.bundle, PORTS_MAX),
        ];
        for (key, _, most) in given.iter().filter(|(_, value, most)| !(1..=*most).contains(value)) {
            draft.refuse(tier.line, format!("tier {at} has no possible {key}"), format!("1 to {most}"));
        }
    }
    !draft.has_mistakes() && check_counts(tree, draft)
}

/// Every port must lead somewhere.
fn check_counts(tree: &Tree, draft: &mut Draft) -> bool {
    let [leaf, upper] = [tree.tier[0], tree.tier[1]];
    let mut must = |line: Option<usize>, what: &str, found: u64, wanted: Option<u64>| {
        if Some(found) != wanted {
            let help = wanted.map_or("numbers that divide each other".to_string(), |n| format!("{n}"));
            draft.refuse(line, format!("{what} is {found}, which does not fit the rest"), help);
        }
    };
    let divide = |a: u64, b: u64| (b > 0 && a.is_multiple_of(b)).then(|| a / b);
    must(None, "Podsize", tree.pod, divide(tree.nodes, tree.pod).map(|_| tree.pod));
    must(Some(leaf.line), "Radix_Down of tier 0", leaf.down, divide(tree.pod, leaf.down).map(|_| leaf.down));
    must(Some(leaf.line), "Radix_Up of tier 0", leaf.up, divide(leaf.up, upper.bundle).map(|_| leaf.up));
    let leaves = tree.pod / leaf.down.max(1);
    must(Some(upper.line), "Radix_Down of tier 1", upper.down, leaves.checked_mul(upper.bundle));
    if tree.tiers == 2 {
        must(None, "Podsize", tree.pod, Some(tree.nodes));
    } else {
        let top = tree.tier[2];
        let pods = tree.nodes / tree.pod.max(1);
        must(
            Some(upper.line),
            "Radix_Up of tier 1",
            upper.up,
            divide(upper.up, top.bundle).map(|_| upper.up),
        );
        must(Some(top.line), "Radix_Down of tier 2", top.down, pods.checked_mul(top.bundle));
    }
    !draft.has_mistakes()
}

/// Joins hosts, leaves, the switches above them and, with three tiers, the top.
fn wire(tree: &Tree, draft: &mut Draft) {
    let [leaf, upper] = [tree.tier[0], tree.tier[1]];
    let (leaves, uppers) = (tree.pod / leaf.down, leaf.up / upper.bundle);
    let of = |tier: Tier| {
        (
            Some(Rate(tier.gbps.saturating_mul(1_000_000_000))),
            Some(Duration::Ps(tier.latency_ns.saturating_mul(1000))),
        )
    };
    for host in 0..tree.nodes {
        let names = [format!("host{host}"), format!("tor{}", host / leaf.down)];
        draft.declare(&names[0], true, leaf.line);
        draft.join([&names[0], &names[1]], of(leaf), 1, leaf.line);
    }
    for tor in 0..tree.nodes / leaf.down {
        for up in 0..uppers {
            let names = [format!("tor{tor}"), format!("agg{}", tor / leaves * uppers + up)];
            draft.join([&names[0], &names[1]], of(upper), upper.bundle as u32, upper.line);
        }
        if draft.is_hopeless() {
            return;
        }
    }
    let Some(&top) = tree.tier.get(2) else { return };
    let cores = upper.up / top.bundle;
    for agg in 0..tree.nodes / tree.pod * uppers {
        for up in 0..cores {
            let names = [format!("agg{agg}"), format!("core{}", agg % uppers * cores + up)];
            draft.join([&names[0], &names[1]], of(top), top.bundle as u32, top.line);
        }
        if draft.is_hopeless() {
            return;
        }
    }
}
