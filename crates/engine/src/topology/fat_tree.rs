//! Fat tree: a k-ary n-tree of two or three levels of switches, optionally tapered.
use super::xgft::Xgft;
use super::{Wiring, nonzero, product, too_large};
use crate::graph::Graph;
use crate::problem::Problem;

/// A k-ary n-tree: `arity` endpoints per leaf switch, two or three `levels` of switches.
///
/// # What it does
///
/// With k = `arity`, two levels have k leaf switches (k endpoints each) and k spines, k² endpoints in all: k = 16 is the
/// 256-endpoint tree of paper SRP. Three levels have k pods, each of k leaf and k middle switches, and k² top switches, k³
/// endpoints in all: k = 16 is its 4096-endpoint tree of 256 + 256 + 256 switches. (Other trees: kind "xgft".) Leaf and middle switches have k ports
/// down, then their ports up; the switches at the top have k ports down only. Middle switch j of every pod is joined to
/// top switches j·k to j·k + k − 1. Switches are numbered leaf, middle, top. Any endpoint is reached by going up to a
/// nearest common ancestor and down again.
/// Link classes: `host`, `level1` (leaf–middle, or leaf–spine), `level2` (middle–top; three levels only). Blocks: the
/// pods, or the leaves of two levels; the switches at the top are dealt to them in turn.
///
/// # Paper
///
/// F. Petrini, M. Vanneschi, "k-ary n-trees: high performance networks for massively parallel architectures", IPPS 1997.
/// N. Jiang and others, "Network congestion avoidance through Speculative Reservation", HPCA 2012, sections 4 and 6.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Levels of switches: 2 or 3. No default.
    #[schemars(range(min = 2, max = 3))]
    pub levels: u32,
    /// Endpoints per leaf switch, which is also the number of ports down of every other switch. No default.
    #[schemars(range(min = 1))]
    pub arity: u32,
    /// Ports down for each port up of a leaf switch: 2 halves its ports up, and with them the switches above. Must
    /// divide `arity` (default 1: full bisection).
    #[serde(default = "untapered")]
    #[schemars(range(min = 1))]
    pub taper: u32,
}

fn untapered() -> u32 {
    1
}

impl FatTree {
    /// The tree with the numbers of each level.
    pub(crate) fn general(&self) -> Xgft {
        let (k, up) = (self.arity, self.arity / self.taper);
        let up = if self.levels == 3 { vec![up, k] } else { vec![up] };
        Xgft { down: vec![k; self.levels as usize], up, links: Vec::new() }
    }
}

impl Wiring for FatTree {
    fn link_classes(&self) -> &'static [&'static str] {
        if self.levels == 3 { &["host", "level1", "level2"] } else { &["host", "level1"] }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = [("arity", self.arity), ("taper", self.taper)]
            .into_iter()
            .filter_map(|(path, value)| nonzero(path, value))
            .collect();
        if !(2..=3).contains(&self.levels) {
            let message = format!("a tree of {} levels is not built", self.levels);
            problems.push(Problem::new("levels", message, "2 or 3; one level is kind \"single-switch\""));
        }
        if self.taper > 0 && !self.arity.is_multiple_of(self.taper) {
            let message = format!("{} does not divide arity = {}", self.taper, self.arity);
            let divisors: Vec<String> = (1..=self.arity.min(4096))
                .filter(|&d| self.arity.is_multiple_of(d))
                .map(|d| d.to_string())
                .collect();
            problems.push(Problem::new("taper", message, format!("one of {}", divisors.join(", "))));
        }
        problems.extend(too_large(&[("arity", self.arity)], self.counts(), u64::from(self.arity) * 2));
        problems
    }

    fn counts(&self) -> (u64, u64) {
        let (k, up) = (self.arity, self.arity / self.taper.max(1));
        if self.levels == 3 {
            let above = product(&[k, up]).saturating_mul(2);
            (product(&[k, k, k]), product(&[k, k]).saturating_add(above))
        } else {
            (product(&[k, k]), u64::from(k) + u64::from(up))
        }
    }

    fn graph(&self) -> Graph {
        self.general().graph()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_wiring;
    use super::*;
    use crate::graph::Peer;

    fn tree(levels: u32, arity: u32, taper: u32) -> FatTree {
        FatTree { levels, arity, taper }
    }

    #[test]
    fn the_trees_of_paper_srp_have_their_switches_and_ports() {
        for (levels, counts, ports) in
            [(2, (256, 32), vec![(16, 32), (16, 16)]), (3, (4096, 768), vec![(512, 32), (256, 16)])]
        {
            let network = tree(levels, 16, 1);
            check_wiring(&network);
            assert_eq!(network.counts(), counts);
            let graph = network.graph();
            assert!(graph.switches.iter().flatten().all(|port| port.peer != Peer::None));
            for (switches, ports) in ports {
                assert_eq!(graph.switches.iter().filter(|of| of.len() == ports).count(), switches);
            }
        }
    }

    #[test]
    fn taper_takes_ports_up_and_switches_above() {
        let network = tree(3, 4, 2);
        check_wiring(&network);
        assert_eq!(network.counts(), (64, 16 + 8 + 8));
        assert_eq!(network.graph().switches[0].len(), 6);
        check_wiring(&tree(2, 16, 16));
    }

    #[test]
    fn levels_and_tapers_that_cannot_be_built_are_problems() {
        assert_eq!(tree(4, 4, 1).problems()[0].path, "levels");
        assert!(tree(2, 6, 4).problems()[0].help.contains("1, 2, 3, 6"));
        assert_eq!(tree(2, 0, 0).problems().len(), 2);
        assert!(!tree(3, 40_000, 1).problems().is_empty());
    }
}
