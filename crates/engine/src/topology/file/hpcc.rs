//! The `topology.txt` of the ns-3 simulator of HPCC, and of those made from it.
use super::draft::{Draft, Wire, wire};
use crate::units::shorten;
use std::collections::{BTreeMap, BTreeSet};

/// Reads the numbers of nodes, switches and links, the switches, and a line for each link: `a b 100Gbps 1000ns 0`. Nodes are numbered from
/// 0; those that are no switches are hosts. What stands behind so many links is not read, as there.
pub(super) fn read(text: &str, draft: &mut Draft) {
    let mut lines =
        (1..).zip(text.lines()).map(|(line, words)| (line, Vec::from_iter(words.split_whitespace())));
    let mut lines = lines.by_ref().filter(|(_, words)| !words.is_empty());
    let (first, head) = lines.next().unwrap_or((1, Vec::new()));
    let counts: Option<Vec<u32>> = head.iter().map(|word| word.parse().ok()).collect();
    let Some([nodes, switches, links]) = counts.as_deref() else {
        return draft.refuse(first, "this does not count nodes, switches and links", FORM);
    };
    if !(1..=NODES_MAX).contains(nodes) || switches > nodes {
        let message = format!("{nodes} nodes, {switches} of them switches");
        return draft.refuse(
            first,
            message,
            format!("1 to {NODES_MAX} nodes, and no more switches than nodes"),
        );
    }
    let mut known = BTreeSet::new();
    while (known.len() as u32) < *switches
        && let Some((line, words)) = lines.next()
    {
        for word in words {
            match number(word, *nodes) {
                Some(node) if known.insert(node) => {}
                _ => return draft.refuse(line, format!("\"{}\" is no other node", shorten(word)), FORM),
            }
        }
    }
    if known.len() as u32 != *switches {
        return draft.refuse(first, format!("{switches} switches are told, and {} named", known.len()), FORM);
    }
    for host in (0..*nodes).filter(|node| !known.contains(node)) {
        draft.declare(&host.to_string(), true, first);
    }
    for switch in &known {
        draft.declare(&switch.to_string(), false, first);
    }
    joined(lines.take(*links as usize), (*nodes, *links, first), draft);
}

/// Joins what the lines join; those between the same two nodes are parallel links.
fn joined<'a>(
    lines: impl Iterator<Item = (usize, Vec<&'a str>)>,
    (nodes, links, first): (u32, u32, usize),
    draft: &mut Draft,
) {
    let (mut there, mut pairs) = (0, BTreeMap::<[u32; 2], (Wire, u32, usize)>::new());
    for (line, words) in lines {
        there += 1;
        match link(&words, nodes) {
            Ok((ends, wire)) => {
                let pair = pairs.entry(ends).or_insert((wire, 0, line));
                pair.1 += 1;
                if pair.0 != wire {
                    draft.refuse(
                        line,
                        format!("another link between {} and {} differs", ends[0], ends[1]),
                        "parallel links are alike",
                    );
                }
            }
            Err((message, help)) => draft.refuse(line, message, help),
        }
        if draft.is_hopeless() {
            return;
        }
    }
    if there < links {
        draft.refuse(first, format!("{links} links are told, and {there} are there"), FORM);
    }
    for ([a, b], (wire, parallel, line)) in pairs {
        draft.join([&a.to_string(), &b.to_string()], wire, parallel, line);
    }
}

fn link(words: &[&str], nodes: u32) -> Result<([u32; 2], Wire), (String, String)> {
    let wrong = |message: String, help: &str| Err((message, help.to_string()));
    let [a, b, rate, delay, rest @ ..] = words else {
        return wrong("a link has two nodes, a rate and a delay".into(), FORM);
    };
    let [Some(a), Some(b)] = [a, b].map(|word| number(word, nodes)) else {
        return wrong(
            format!("a link from {} to {}", shorten(a), shorten(b)),
            &format!("nodes from 0 to {}", nodes - 1),
        );
    };
    match rest {
        [] => {}
        [errors] if errors.parse() == Ok(0.0) => {}
        _ => {
            return wrong(
                "links do not lose packets, and nothing stands behind that".into(),
                "an error rate of 0",
            );
        }
    }
    let rate = rate.strip_suffix("bps").map_or(rate.to_string(), |number| format!("{number}b/s"));
    Ok(([a.min(b), a.max(b)], wire(&rate, delay)?))
}

/// The number of a node.
fn number(word: &str, nodes: u32) -> Option<u32> {
    word.parse().ok().filter(|node| *node < nodes)
}

/// Most nodes.
const NODES_MAX: u32 = 1 << 20;
const FORM: &str = "the numbers of nodes, switches and links, then the switches, then for each link a line such as 0 320 100Gbps 1000ns 0";
