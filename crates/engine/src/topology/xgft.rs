//! Extended generalised fat tree: any number of levels, each with its own width, taper and parallel links.
use super::{PORTS_MAX, Wiring, too_large};
use crate::graph::{Graph, Peer, Port};
use crate::problem::Problem;

/// Most levels of switches.
const LEVELS_MAX: usize = 6;
const CLASSES: [&str; LEVELS_MAX] = ["host", "level1", "level2", "level3", "level4", "level5"];

/// XGFT(h; m1 … mh; 1, w2 … wh): `down` is m, `up` is w without its 1, `links` the parallel links of each level.
///
/// # What it does
///
/// A switch of level i (1 for those of the endpoints) has `down[i]` children and `up[i]` parents, and `links[i]` parallel
/// links to each parent. So there are as many endpoints as the product of `down`; a level tapers if `up[i]·links[i]` is less than
/// what comes from below. `down = [16, 16, 16]`, `up = [16, 16]` is the 4096-endpoint k-ary 3-tree; `down = [18, 36]`, `up =
/// [18]` the two levels that switches of 36 ports allow. Switches are numbered level by level, by subtree, then by the parents
/// chosen on the way up from its first leaf. Ports: children (links to one side by side), then parents.
/// Link classes: `host`, and `level1`, `level2`, … for the links up from each level. Blocks: the subtrees of the highest
/// level; the switches at the top are dealt to them in turn.
///
/// # Paper
///
/// S. Öhring, M. Ibel, S. Das, M. Kumar, "On generalized fat trees", IPPS 1995. Parallel links (PGFT): E. Zahavi, "Fat-tree
/// routing and node ordering providing contention free traffic for MPI global collectives", JPDC 72(11), 2012.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Xgft {
    /// Children of a switch of each level, from the leaf switches up (theirs are endpoints): 1 to 6 numbers. No default.
    pub down: Vec<u32>,
    /// Parents of a switch of each level but the highest. No default.
    pub up: Vec<u32>,
    /// Parallel links to each parent, for each level but the highest (default: 1).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<u32>,
}

impl Xgft {
    /// Parallel links between a switch of `level` (from 1) and each of its parents; 1 below the leaf switches.
    pub(crate) fn parallel(&self, level: usize) -> u32 {
        level.checked_sub(1).and_then(|at| self.links.get(at)).copied().unwrap_or(1)
    }

    /// Switches of a level: subtrees, and switches of each subtree.
    fn switches(&self, level: usize) -> (u64, u64) {
        let all = |numbers: &[u32]| numbers.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
        (all(&self.down[level..]), all(&self.up[..level - 1]))
    }

    fn ports(&self, level: usize) -> u64 {
        let of =
            |count: Option<&u32>, links: u32| count.map_or(0, |&count| u64::from(count) * u64::from(links));
        of(self.down.get(level - 1), self.parallel(level - 1))
            + of(self.up.get(level - 1), self.parallel(level))
    }

    /// The level of every switch, the number of its subtree among those of the level, and its number in the subtree.
    pub(crate) fn places(&self) -> Vec<(u32, u32, u32)> {
        let level = |level: usize| {
            let (subtrees, each) = self.switches(level);
            (0..subtrees as u32)
                .flat_map(move |subtree| (0..each as u32).map(move |number| (level as u32, subtree, number)))
        };
        (1..=self.down.len()).flat_map(level).collect()
    }
}

impl Wiring for Xgft {
    fn link_classes(&self) -> &'static [&'static str] {
        &CLASSES[..self.down.len().clamp(1, LEVELS_MAX)]
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let levels = self.down.len();
        if !(1..=LEVELS_MAX).contains(&levels) {
            let message = format!("a tree of {levels} levels is not built");
            return vec![Problem::new("down", message, format!("1 to {LEVELS_MAX} numbers"))];
        }
        for (key, list, optional) in [("up", &self.up, false), ("links", &self.links, true)] {
            if list.len() + 1 != levels && !(optional && list.is_empty()) {
                let message = format!("{} numbers for a tree of {levels} levels", list.len());
                problems.push(Problem::new(
                    key,
                    message,
                    format!("{}: one a level but the highest", levels - 1),
                ));
            }
        }
        for (key, list) in [("down", &self.down), ("up", &self.up), ("links", &self.links)] {
            if let Some(wrong) = list.iter().find(|&&n| n == 0 || u64::from(n) > PORTS_MAX) {
                problems.push(Problem::new(
                    key,
                    format!("{wrong} is not possible"),
                    format!("1 to {PORTS_MAX}"),
                ));
            }
        }
        if problems.is_empty() {
            let ports = (1..=levels).map(|level| self.ports(level)).max().unwrap_or(0);
            problems.extend(too_large(&[("down", 1)], self.counts(), ports));
        }
        problems
    }

    fn counts(&self) -> (u64, u64) {
        if self.up.len() + 1 != self.down.len() {
            return (0, 0);
        }
        let endpoints = self.down.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
        let switches = |level| {
            let (subtrees, each) = self.switches(level);
            subtrees.saturating_mul(each)
        };
        (endpoints, (1..=self.down.len()).map(switches).fold(0, u64::saturating_add))
    }

    fn graph(&self) -> Graph {
        let levels = self.down.len();
        let mut graph = Graph::default();
        let open = |class: usize, n: u32| vec![Port { class: class as u8, peer: Peer::None }; n as usize];
        let below_top = self.down[..levels - 1].iter().product::<u32>() / self.down[0].max(1);
        let mut first = vec![0u32; levels + 1];
        for (switch, (level, subtree, number)) in (0u32..).zip(self.places()) {
            let at = level as usize;
            graph.switches.push(Vec::new());
            if at == 1 {
                (0..self.down[0]).for_each(|_| _ = graph.attach(switch, 0));
            } else {
                let ports = open(at - 1, self.down[at - 1] * self.parallel(at - 1));
                graph.switches[switch as usize].extend(ports);
            }
            let parents = self.up.get(at - 1).copied().unwrap_or(0);
            graph.switches[switch as usize].extend(open(at, parents * self.parallel(at)));
            let top = self.down[levels - 1];
            let leaves: u32 = self.down[1..at].iter().product();
            let block = if at == levels { number % top } else { subtree * leaves / below_top.max(1) };
            graph.blocks.push(if levels == 1 { 0 } else { block });
            first[at] = switch + 1;
        }
        for (switch, (level, subtree, number)) in (0u32..).zip(self.places()) {
            let at = level as usize;
            if at < levels {
                self.join_parents(&mut graph, (switch, at), first[at], (subtree, number));
            }
        }
        graph
    }
}

impl Xgft {
    /// Joins a switch to its parents; `first` is the first switch of the level above.
    fn join_parents(
        &self,
        graph: &mut Graph,
        (switch, level): (u32, usize),
        first: u32,
        (subtree, number): (u32, u32),
    ) {
        let (children, parents, links) = (self.down[level], self.up[level - 1], self.parallel(level));
        let each = self.switches(level + 1).1 as u32;
        let downward = self.down[level - 1] * self.parallel(level - 1);
        for parent in 0..parents {
            let above = first + subtree / children * each + number * parents + parent;
            for link in 0..links {
                let here = (downward + parent * links + link) as u16;
                let there = (subtree % children * links + link) as u16;
                graph.join((switch, here), (above, there), level as u8);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Topology, tests::check_wiring};
    use super::*;

    fn tree(down: &[u32], up: &[u32], links: &[u32]) -> Xgft {
        Xgft { down: down.to_vec(), up: up.to_vec(), links: links.to_vec() }
    }

    #[test]
    fn k_ary_trees_are_those_of_kind_fat_tree() {
        for (text, same) in [
            ("levels = 2\narity = 4\ntaper = 2", tree(&[4, 4], &[2], &[])),
            ("levels = 3\narity = 4", tree(&[4, 4, 4], &[4, 4], &[])),
            ("levels = 3\narity = 4\ntaper = 4", tree(&[4, 4, 4], &[1, 4], &[])),
        ] {
            let fat: Topology = toml::from_str(&format!("kind = 'fat-tree'\n{text}")).unwrap();
            assert_eq!(
                (fat.wiring().graph(), fat.wiring().counts()),
                (same.graph(), same.counts()),
                "{text}"
            );
        }
    }

    #[test]
    fn levels_widths_and_parallel_links_are_free() {
        let wide = tree(&[3, 2, 4], &[2, 3], &[2, 1]);
        check_wiring(&wide);
        // 8 leaf switches; 4 subtrees of 2; 6 at the top.
        assert_eq!(wide.counts(), (24, 8 + 8 + 6));
        let graph = wide.graph();
        assert_eq!([0, 8, 16].map(|switch| graph.switches[switch].len()), [3 + 4, 4 + 3, 4]);
        assert_eq!(graph.blocks[..8], [0, 0, 1, 1, 2, 2, 3, 3]);
        check_wiring(&tree(&[2, 2, 2, 2], &[1, 2, 1], &[1, 2, 3]));
        check_wiring(&tree(&[5], &[], &[]));
    }

    #[test]
    fn numbers_that_do_not_fit_are_problems() {
        let paths = |tree: Xgft| tree.problems().into_iter().map(|problem| problem.path).collect::<Vec<_>>();
        assert_eq!(paths(tree(&[], &[], &[])), ["down"]);
        assert_eq!(paths(tree(&[4, 4], &[], &[1, 2])), ["up", "links"]);
        assert_eq!(paths(tree(&[4, 0], &[0], &[0])), ["down", "up", "links"]);
        assert_eq!(paths(tree(&[1000, 1000, 1000], &[10, 10], &[])), ["down"]);
    }
}
