//! k-ary n-tree with horizontal links inside its logical nodes.
use super::xgft::Xgft;
use super::{Wiring, nonzero, too_large};
use crate::graph::{Graph, Peer, Port};
use crate::problem::Problem;

/// Most levels of switches.
const LEVELS_MAX: u32 = 6;
const CLASSES: [&str; LEVELS_MAX as usize + 1] =
    ["host", "horizontal", "level1", "level2", "level3", "level4", "level5"];
/// Link class of the horizontal links.
const HORIZONTAL: u8 = 1;

/// A k-ary n-tree whose switches of a logical node may be joined in a row by horizontal links.
///
/// # What it does
///
/// A k-ary n-tree is a fat tree of kⁿ endpoints and n levels of kⁿ⁻¹ switches. The switches that lead to the same endpoints are
/// together one node of the ideal fat tree, a logical node: of level i it has kⁱ⁻¹ switches, all switches of the highest
/// level are one, and a leaf switch is one by itself. With `horizontal` over 0, each switch of a logical node is joined to the next
/// by as many parallel links, in the order of their numbers, without closing the row to a ring. From any switch of a logical
/// node the way down to its endpoints is as long, so a packet on its way down may move along the row first. `k = 16, n = 3,
/// horizontal = 2` is the 4096-endpoint network of paper SAA, with 1980 ports more than the 20,480 of the plain tree.
/// Switches are numbered as those of an xgft with `down = [k, …]` and `up = [k, …]`. Ports: children, parents, links to the
/// switch before in the row, links to the one behind.
/// Link classes: `host`, `horizontal`, and `level1`, `level2`, … for the links up from each level. Blocks: the subtrees of the
/// highest level; the switches at the top are dealt to them in turn.
///
/// # Paper
///
/// F. Petrini, M. Vanneschi, "k-ary n-trees: high performance networks for massively parallel architectures", IPPS 1997.
/// Horizontal links: Y. Birk, V. Zdornov, "Improving communication-phase completion times in HPC clusters through congestion
/// mitigation", SYSTOR 2009, section 4.2.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KAryNTree {
    /// Children of each switch, and parents of all but the highest. No default.
    #[schemars(range(min = 1))]
    pub k: u32,
    /// Levels of switches: 1 to 6. No default.
    #[schemars(range(min = 1, max = 6))]
    pub n: u32,
    /// Parallel links between neighbours in the row of a logical node (default 0: the plain tree).
    #[serde(default)]
    pub horizontal: u32,
}

impl KAryNTree {
    /// The plain tree with the numbers of each level.
    pub(crate) fn plain(&self) -> Xgft {
        let n = self.n as usize;
        Xgft { down: vec![self.k; n], up: vec![self.k; n.saturating_sub(1)], links: Vec::new() }
    }

    /// Ports of the switches with most.
    fn ports(&self) -> u64 {
        let (k, row) = (u64::from(self.k), if self.n > 1 { 2 * u64::from(self.horizontal) } else { 0 });
        2 * k + if self.k > 1 { row } else { 0 }
    }

    /// Joins the switches of each logical node in a row.
    fn join_rows(&self, graph: &mut Graph) {
        let places = self.plain().places();
        for (switch, pair) in (0u32..).zip(places.windows(2)) {
            let [(level, subtree, _), (next_level, next_subtree, _)] = [pair[0], pair[1]];
            if (level, subtree) != (next_level, next_subtree) {
                continue;
            }
            for _ in 0..self.horizontal {
                let ends = [switch, switch + 1].map(|end| {
                    let ports = &mut graph.switches[end as usize];
                    ports.push(Port { class: HORIZONTAL, peer: Peer::None });
                    (end, ports.len() as u16 - 1)
                });
                graph.join(ends[0], ends[1], HORIZONTAL);
            }
        }
    }
}

impl Wiring for KAryNTree {
    fn link_classes(&self) -> &'static [&'static str] {
        &CLASSES[..=self.n.clamp(1, LEVELS_MAX) as usize]
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = nonzero("k", self.k).into_iter().collect();
        if !(1..=LEVELS_MAX).contains(&self.n) {
            let message = format!("a tree of {} levels is not built", self.n);
            problems.push(Problem::new("n", message, format!("1 to {LEVELS_MAX}")));
        }
        if problems.is_empty() {
            let parameters = [("k", self.k), ("horizontal", self.horizontal)];
            problems.extend(too_large(&parameters, self.counts(), self.ports()));
        }
        problems
    }

    fn counts(&self) -> (u64, u64) {
        let below = u64::from(self.k).saturating_pow(self.n.saturating_sub(1));
        (below.saturating_mul(self.k.into()), below.saturating_mul(self.n.into()))
    }

    fn graph(&self) -> Graph {
        let mut graph = self.plain().graph();
        // The plain tree numbers its classes from the leaves up; the horizontal links stand before them.
        for port in graph.switches.iter_mut().flatten().filter(|port| port.class >= HORIZONTAL) {
            port.class += 1;
        }
        self.join_rows(&mut graph);
        graph
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check_wiring;
    use super::*;
    use crate::topology::fat_tree::FatTree;

    fn connected(tree: &KAryNTree) -> usize {
        tree.graph().switches.iter().flatten().filter(|port| port.peer != Peer::None).count()
    }

    #[test]
    fn the_tree_of_paper_saa_has_a_tenth_more_ports() {
        let tree = |horizontal| KAryNTree { k: 16, n: 3, horizontal };
        check_wiring(&tree(2));
        assert_eq!(tree(2).counts(), (4096, 768));
        assert_eq!((connected(&tree(0)), connected(&tree(2))), (20_480, 20_480 + 1980));
    }

    #[test]
    fn without_horizontal_links_it_is_the_fat_tree() {
        let (plain, fat) = (
            KAryNTree { k: 4, n: 3, horizontal: 0 }.graph(),
            FatTree { levels: 3, arity: 4, taper: 1 }.graph(),
        );
        assert_eq!((plain.blocks, plain.endpoints), (fat.blocks, fat.endpoints));
        let peers =
            |switches: &[Vec<Port>]| switches.iter().flatten().map(|port| port.peer).collect::<Vec<_>>();
        assert_eq!(peers(&plain.switches), peers(&fat.switches));
    }

    #[test]
    fn rows_stay_inside_their_logical_nodes_and_are_not_closed() {
        let tree = KAryNTree { k: 2, n: 3, horizontal: 3 };
        check_wiring(&tree);
        let graph = tree.graph();
        let rows: Vec<(u32, u32)> = (0u32..)
            .zip(&graph.switches)
            .flat_map(|(switch, ports)| ports.iter().map(move |port| (switch, port)))
            .filter(|(_, port)| port.class == HORIZONTAL)
            .filter_map(|(switch, port)| match port.peer {
                Peer::Switch { switch: to, .. } if to > switch => Some((switch, to)),
                _ => None,
            })
            .collect();
        // Leaves 0 to 3; two logical nodes of two switches; one of four at the top.
        let expected = [(4, 5), (6, 7), (8, 9), (9, 10), (10, 11)];
        assert_eq!(rows, expected.iter().flat_map(|&pair| [pair; 3]).collect::<Vec<_>>());
        check_wiring(&KAryNTree { k: 3, n: 1, horizontal: 2 });
        check_wiring(&KAryNTree { k: 1, n: 3, horizontal: 2 });
    }

    #[test]
    fn numbers_that_do_not_fit_are_problems() {
        let paths = |k, n, horizontal| {
            KAryNTree { k, n, horizontal }
                .problems()
                .into_iter()
                .map(|problem| problem.path)
                .collect::<Vec<_>>()
        };
        assert_eq!(paths(0, 7, 0), ["k", "n"]);
        assert_eq!(paths(64, 4, 0), ["k"]);
        assert_eq!(paths(4, 2, 600), ["horizontal"]);
    }
}
