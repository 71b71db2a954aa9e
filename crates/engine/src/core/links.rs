//! Links that a scenario names, on its network.
use crate::graph::{Graph, Peer};
use crate::problem::Problem;
use crate::rng::Stream;
use crate::scenario::{Links, Scenario};
use std::collections::BTreeSet;

/// A link by the port of a switch at one of its ends: of two, the lower.
pub(super) type Link = (u32, u16);

/// What links are chosen from.
pub(super) struct Chooser<'a> {
    pub graph: &'a Graph,
    pub classes: &'a [&'a str],
    pub seed: u64,
    /// Which list of links it is, and the place in it.
    pub list: (&'a str, usize),
}

impl Chooser<'_> {
    /// The links of a table, if it has not named `hosts`, or what is wrong with it; paths are relative to the table.
    pub(super) fn choose(&self, links: &Links, hosts: Vec<Link>) -> Result<Vec<Link>, Problem> {
        let mut found = if hosts.is_empty() { self.named(links)? } else { hosts };
        if let Some(n) = links.sample {
            if n as usize > found.len() {
                return Err(Problem::new(
                    "sample",
                    format!("a sample of {n} links"),
                    format!("there are {}{}", found.len(), self.beside_failed()),
                ));
            }
            let mut stream = Stream::new(self.seed, self.list.0, "", self.list.1 as u64);
            found = stream.sample(found.len() as u32, n).into_iter().map(|at| found[at as usize]).collect();
        }
        Ok(found)
    }

    fn named(&self, links: &Links) -> Result<Vec<Link>, Problem> {
        if let Some(name) = &links.class {
            let found = Vec::from_iter(
                self.all().filter(|&link| self.classes[usize::from(self.port(link).class)] == name),
            );
            let help = "another class: `describe` lists the links of each";
            return if found.is_empty() {
                Err(Problem::new("class", "the network has no links of this class", help))
            } else {
                Ok(found)
            };
        }
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        for &[one, other] in &links.between {
            if !seen.insert((one.min(other), one.max(other))) {
                let message = format!("switches {one} and {other} are named twice");
                return Err(Problem::new("between", message, "name each pair once"));
            }
            found.extend(self.between(one, other)?);
        }
        Ok(found)
    }

    /// What is to be said of a number of links where some have failed.
    fn beside_failed(&self) -> &'static str {
        if self.graph.failed.is_empty() { "" } else { ", without those that have failed" }
    }

    fn port(&self, (switch, port): Link) -> crate::graph::Port {
        self.graph.switches[switch as usize][usize::from(port)]
    }

    /// All links.
    fn all(&self) -> impl Iterator<Item = Link> {
        let switches = (0..).zip(&self.graph.switches);
        let ports = switches
            .flat_map(|(switch, ports)| (0..).zip(ports).map(move |(port, of)| ((switch, port), of.peer)));
        ports.filter_map(|(link, peer)| match peer {
            Peer::Switch { switch, port } if (switch, port) < link => None,
            Peer::None => None,
            _ => Some(link),
        })
    }

    /// The links that join two switches.
    fn between(&self, one: u32, other: u32) -> Result<Vec<Link>, Problem> {
        let count = self.graph.switches.len() as u32;
        if let Some(none) = [one, other].into_iter().find(|&switch| switch >= count) {
            let help = format!("switches are numbered from 0 to {}", count - 1);
            return Err(Problem::new("between", format!("there is no switch {none}"), help));
        }
        let ports = (0..).zip(&self.graph.switches[one as usize]);
        let neighbours = ports.filter_map(|(port, of)| match of.peer {
            Peer::Switch { switch, port: far } => Some((switch, ((one, port), (switch, far)))),
            _ => None,
        });
        let neighbours = Vec::from_iter(neighbours);
        let joins = neighbours.iter().filter(|(to, _)| *to == other);
        let found = Vec::from_iter(joins.map(|&(_, (near, far))| near.min(far)));
        if found.is_empty() {
            let mut known = Vec::from_iter(neighbours.iter().map(|(to, _)| *to));
            known.sort_unstable();
            known.dedup();
            let told = Vec::from_iter(known.iter().take(NEIGHBOURS_TOLD).map(u32::to_string)).join(", ");
            let more = if known.len() > NEIGHBOURS_TOLD { ", …" } else { "" };
            let ends = |&[(a, _), (b, _)]: &[(u32, u16); 2]| {
                (a.min(b), a.max(b)) == (one.min(other), one.max(other))
            };
            let message = match self.graph.failed.iter().any(ends) {
                true => format!("what joins switch {one} and switch {other} has failed"),
                false => format!("no link joins switch {one} and switch {other}"),
            };
            return Err(Problem::new("between", message, format!("switch {one} is joined to {told}{more}")));
        }
        Ok(found)
    }
}

/// The network of a scenario without the links that have failed, or what is wrong with these.
pub(super) fn network(scenario: &Scenario) -> Result<Graph, Vec<Problem>> {
    let mut graph = scenario.topology.wiring().graph();
    let classes = scenario.topology.wiring().link_classes();
    let mut problems = Vec::new();
    // Each table is of what those before it have left.
    for (at, links) in scenario.link.failed.iter().enumerate() {
        let chooser = Chooser { graph: &graph, classes, seed: scenario.run.seed, list: ("failed links", at) };
        match chooser.choose(links, Vec::new()) {
            Ok(links) => links.into_iter().for_each(|link| graph.sever(link)),
            Err(one) => problems.push(Problem { path: format!("link.failed.{at}.{}", one.path), ..one }),
        }
    }
    graph.failed.sort_unstable();
    if problems.is_empty() { Ok(graph) } else { Err(problems) }
}

/// Neighbours of a switch that a message names.
const NEIGHBOURS_TOLD: usize = 16;
