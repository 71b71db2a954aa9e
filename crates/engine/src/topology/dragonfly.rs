//! Dragonfly: groups of fully connected switches, groups fully connected by global links.
use super::{Wiring, nonzero, product, too_large};
use crate::graph::{Graph, Peer, Port};
use crate::problem::Problem;

/// Link class of the links inside a group.
pub const LOCAL: u8 = 1;
/// Link class of the links between groups.
pub const GLOBAL: u8 = 2;

/// Groups of `a` switches, each with `p` endpoints and `h` global ports; every two groups are joined.
///
/// # What it does
///
/// The switches of a group are joined all to all by local links, the groups all to all by global links. Any endpoint is
/// at most three links between switches away: local, global, local. Ports of a switch: `p` endpoints, then `a − 1` local
/// ports (to the other switches of the group in ascending order), then `h` global ports. The `a·h` global ports of a
/// group are numbered switch by switch; with n parallel links, ports 0 to groups − 2 make the first link to every other
/// group, the next groups − 1 ports the second, and so on, so that parallel links are on different switches if there are more than `h` other groups. Ports
/// that remain are not connected: the last ones of a group, so that with few groups its last switches have no global link (`describe` counts them).
/// Link classes: `host`, `local`, `global`. Blocks: the groups.
///
/// # Paper
///
/// J. Kim, W. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.
/// Arrangements: E. Hastings and others, "Comparing global link arrangements for dragonfly networks", CLUSTER 2015.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// Endpoints per switch. No default; balanced networks have a = 2p = 2h (Kim 2008, section 3.1).
    #[schemars(range(min = 1))]
    pub p: u32,
    /// Switches per group. No default.
    #[schemars(range(min = 1))]
    pub a: u32,
    /// Global ports per switch. No default.
    pub h: u32,
    /// Number of groups, at most a·h + 1. No default.
    #[schemars(range(min = 1))]
    pub groups: u32,
    /// Which global port leads to which group (default "absolute").
    #[serde(default)]
    pub arrangement: Arrangement,
    /// Parallel links between every two groups (default: as many as fit, a·h / (groups − 1) rounded down).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub global_links: Option<u32>,
}

/// Which global port of a group leads to which other group.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Arrangement {
    /// Port i leads to group i, or to group i + 1 from the own group's number on.
    #[default]
    Absolute,
    /// Port i of group g leads to group g − i − 1, counted round.
    PalmTree,
}

impl Arrangement {
    /// Which of the global ports 0 to groups − 2 of group `from` leads to group `to`. Both differ.
    pub fn port(self, from: u32, to: u32, groups: u32) -> u32 {
        match self {
            Self::Absolute => to - u32::from(to > from),
            Self::PalmTree => from + if to < from { 0 } else { groups } - to - 1,
        }
    }
}

impl Dragonfly {
    /// Parallel links between every two groups: as given, or as many as fit; 0 if there is only one group.
    pub fn parallel(&self) -> u32 {
        match self.groups.saturating_sub(1) {
            0 => 0,
            others => self.global_links.unwrap_or((product(&[self.a, self.h]) / u64::from(others)) as u32),
        }
    }

    /// Switch and port of global port `q` of `group`, counted switch by switch.
    fn global_port(&self, group: u32, q: u32) -> (u32, u16) {
        (group * self.a + q / self.h, (self.p + self.a - 1 + q % self.h) as u16)
    }
}

impl Wiring for Dragonfly {
    fn link_classes(&self) -> &'static [&'static str] {
        &["host", "local", "global"]
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = [("p", self.p), ("a", self.a), ("groups", self.groups)]
            .into_iter()
            .filter_map(|(path, value)| nonzero(path, value))
            .collect();
        let (ports, others) = (product(&[self.a, self.h]), u64::from(self.groups.saturating_sub(1)));
        if others > ports {
            let message = format!("{} groups cannot all be joined by {ports} global ports each", self.groups);
            let help = format!("at most a·h + 1 = {} groups; lower groups, or raise a or h", ports + 1);
            problems.push(Problem::new("groups", message, help));
        } else if let Some(links) = self.global_links {
            if links == 0 && others > 0 {
                problems.push(Problem::new("global_links", "groups would not be joined", "give at least 1"));
            }
            if u64::from(links).saturating_mul(others) > ports {
                let message = format!("{links} links to each of {others} groups do not fit {ports} ports");
                problems.push(Problem::new("global_links", message, format!("at most {}", ports / others)));
            }
        }
        let ports = u64::from(self.p) + u64::from(self.a) + u64::from(self.h);
        let parameters = [("p", self.p), ("a", self.a), ("h", self.h), ("groups", self.groups)];
        // What is impossible in itself is told only once.
        if problems.is_empty() {
            problems.extend(too_large(&parameters, self.counts(), ports));
        }
        problems
    }

    fn counts(&self) -> (u64, u64) {
        (product(&[self.groups, self.a, self.p]), product(&[self.groups, self.a]))
    }

    fn graph(&self) -> Graph {
        let (a, p) = (self.a, self.p);
        let mut graph = Graph::default();
        let open = |class| Port { class, peer: Peer::None };
        for switch in 0..self.groups * a {
            graph.switches.push(Vec::with_capacity((p + a - 1 + self.h) as usize));
            graph.blocks.push(switch / a);
            for _ in 0..p {
                graph.attach(switch, 0);
            }
            let ports = &mut graph.switches[switch as usize];
            ports.extend(std::iter::repeat_n(open(LOCAL), a as usize - 1));
            ports.extend(std::iter::repeat_n(open(GLOBAL), self.h as usize));
        }
        for group in 0..self.groups {
            for y in 1..a {
                for x in 0..y {
                    let (low, high) = ((group * a + x, (p + y - 1) as u16), (group * a + y, (p + x) as u16));
                    graph.join(low, high, LOCAL);
                }
            }
            for other in group + 1..self.groups {
                for copy in 0..self.parallel() {
                    let end = |from: u32, to: u32| {
                        let port = self.arrangement.port(from, to, self.groups);
                        self.global_port(from, copy * (self.groups - 1) + port)
                    };
                    graph.join(end(group, other), end(other, group), GLOBAL);
                }
            }
        }
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_wiring;
    use super::*;

    fn dragonfly(p: u32, a: u32, h: u32, groups: u32) -> Dragonfly {
        Dragonfly { p, a, h, groups, arrangement: Arrangement::Absolute, global_links: None }
    }

    /// Links between two groups of a graph.
    fn between(graph: &Graph, one: u32, other: u32) -> usize {
        let leads = |port: &Port| match port.peer {
            Peer::Switch { switch, .. } => graph.blocks[switch as usize] == other,
            _ => false,
        };
        let ports = |s: usize| graph.switches[s].iter().filter(|port| leads(port)).count();
        (0..graph.switches.len()).filter(|&s| graph.blocks[s] == one).map(ports).sum()
    }

    #[test]
    fn the_network_of_the_papers_has_1056_endpoints_and_every_port_in_use() {
        for arrangement in [Arrangement::Absolute, Arrangement::PalmTree] {
            let network = Dragonfly { arrangement, ..dragonfly(4, 8, 4, 33) };
            check_wiring(&network);
            assert_eq!(network.counts(), (1056, 264));
            let graph = network.graph();
            assert!(graph.switches.iter().all(|ports| ports.len() == 15));
            assert!(graph.switches.iter().flatten().all(|port| port.peer != Peer::None));
        }
    }

    #[test]
    fn every_two_groups_are_joined_by_as_many_links_as_fit_or_as_asked_for() {
        for arrangement in [Arrangement::Absolute, Arrangement::PalmTree] {
            for (asked, joined) in [(None, 3), (Some(2), 2)] {
                let network = Dragonfly { arrangement, global_links: asked, ..dragonfly(1, 4, 3, 5) };
                let graph = network.graph();
                for one in 0..5 {
                    for other in (0..5).filter(|&other| other != one) {
                        assert_eq!(between(&graph, one, other), joined);
                    }
                }
            }
        }
    }

    #[test]
    fn arrangements_are_those_of_the_literature() {
        let far = |arrangement, q: u16| {
            let graph = Dragonfly { arrangement, ..dragonfly(1, 4, 1, 5) }.graph();
            // Group 2, switch q of the group, its only global port.
            let Peer::Switch { switch, .. } = graph.switches[(8 + q) as usize][4].peer else { panic!() };
            graph.blocks[switch as usize]
        };
        assert_eq!((0..4).map(|q| far(Arrangement::Absolute, q)).collect::<Vec<_>>(), [0, 1, 3, 4]);
        assert_eq!((0..4).map(|q| far(Arrangement::PalmTree, q)).collect::<Vec<_>>(), [1, 0, 4, 3]);
    }

    #[test]
    fn too_many_groups_is_a_problem_with_its_remedy() {
        let problems = dragonfly(4, 8, 4, 34).problems();
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].path, "groups");
        assert!(problems[0].help.contains("33"), "{}", problems[0]);
    }

    #[test]
    fn zero_parameters_and_parallel_links_that_do_not_fit_are_problems() {
        assert_eq!(dragonfly(0, 0, 0, 0).problems().len(), 3);
        let links = |n| Dragonfly { global_links: Some(n), ..dragonfly(1, 4, 3, 5) }.problems();
        assert_eq!(links(3), []);
        assert_eq!(links(4)[0].path, "global_links");
        assert_eq!(links(0)[0].path, "global_links");
        assert!(!dragonfly(1, u32::MAX, u32::MAX, u32::MAX).problems().is_empty());
    }
}
