//! How a network is cut into partitions.
use super::Tick;
use super::plan::LinkPlan;
use crate::graph::{Graph, Peer};

/// What belongs to one partition, in ascending order of the global numbers.
#[derive(Debug, Clone, Default)]
pub struct Share {
    /// Global switch numbers.
    pub switches: Vec<u32>,
    /// First local port of each switch; one more entry at the end.
    pub ports: Vec<u32>,
    /// Global endpoint numbers.
    pub endpoints: Vec<u32>,
}

/// Cuts a network along its longest channels into at most `wanted` partitions of about equal size.
///
/// Returns the partition of each switch and the lookahead in ticks (`Tick::MAX` for one partition).
pub fn cut(graph: &Graph, links: &[LinkPlan], wanted: usize) -> (Vec<u32>, Tick) {
    let count = graph.switches.len();
    let length = |class: u8| links[class as usize].credit();
    let lengths: std::collections::BTreeSet<u64> =
        inner_links(graph).map(|(_, _, class)| length(class)).collect();
    for &longest in lengths.iter().rev() {
        let parts = components(graph, |class| length(class) < longest);
        let blocks = parts.iter().max().map_or(0, |&part| part as usize + 1);
        if blocks > 1 && wanted > 1 {
            let merged = merge(&parts, blocks, wanted.min(blocks));
            let lookahead = inner_links(graph)
                .filter(|&(a, b, _)| merged[a as usize] != merged[b as usize])
                .map(|(_, _, class)| length(class))
                .min();
            return (merged, lookahead.unwrap_or(Tick::MAX));
        }
    }
    (vec![0; count], Tick::MAX)
}

fn inner_links(graph: &Graph) -> impl Iterator<Item = (u32, u32, u8)> + '_ {
    graph.switches.iter().enumerate().flat_map(|(a, ports)| {
        ports.iter().filter_map(move |port| match port.peer {
            Peer::Switch { switch, .. } => Some((a as u32, switch, port.class)),
            _ => None,
        })
    })
}

/// Numbers the components joined by links of the classes that `keep` keeps, in order of their first switch.
fn components(graph: &Graph, keep: impl Fn(u8) -> bool) -> Vec<u32> {
    let mut part = vec![u32::MAX; graph.switches.len()];
    let mut next = 0;
    for start in 0..part.len() {
        if part[start] != u32::MAX {
            continue;
        }
        let mut stack = vec![start as u32];
        part[start] = next;
        while let Some(at) = stack.pop() {
            for port in &graph.switches[at as usize] {
                if let Peer::Switch { switch, .. } = port.peer
                    && keep(port.class)
                    && part[switch as usize] == u32::MAX
                {
                    part[switch as usize] = next;
                    stack.push(switch);
                }
            }
        }
        next += 1;
    }
    part
}

/// Merges neighbouring components into `wanted` parts of about equal numbers of switches.
fn merge(parts: &[u32], blocks: usize, wanted: usize) -> Vec<u32> {
    let mut size = vec![0usize; blocks];
    parts.iter().for_each(|&part| size[part as usize] += 1);
    let mut before = 0;
    let target: Vec<u32> = size
        .iter()
        .map(|&size| {
            let at = (before * wanted / parts.len()) as u32;
            before += size;
            at
        })
        .collect();
    // Blocks of unequal size may leave a part empty: number those in use without gaps.
    let mut number = vec![u32::MAX; wanted];
    let mut next = 0;
    let mut rename = |at: u32| {
        if number[at as usize] == u32::MAX {
            number[at as usize] = next;
            next += 1;
        }
        number[at as usize]
    };
    parts.iter().map(|&part| rename(target[part as usize])).collect()
}

/// The shares of a cut, with the homes of switches and endpoints.
pub fn shares(graph: &Graph, part: &[u32]) -> (Vec<Share>, Vec<(u32, u32)>, Vec<u32>) {
    let count = part.iter().max().map_or(1, |&part| part as usize + 1);
    let mut shares = vec![Share { ports: vec![0], ..Share::default() }; count];
    let mut home = Vec::with_capacity(part.len());
    for (switch, &part) in part.iter().enumerate() {
        let share = &mut shares[part as usize];
        home.push((part, share.switches.len() as u32));
        share.switches.push(switch as u32);
        let end = share.ports[share.ports.len() - 1] + graph.switches[switch].len() as u32;
        share.ports.push(end);
    }
    let mut endpoint_home = Vec::with_capacity(graph.endpoints.len());
    for (endpoint, &(switch, _)) in graph.endpoints.iter().enumerate() {
        let share = &mut shares[part[switch as usize] as usize];
        endpoint_home.push(share.endpoints.len() as u32);
        share.endpoints.push(endpoint as u32);
    }
    (shares, home, endpoint_home)
}
