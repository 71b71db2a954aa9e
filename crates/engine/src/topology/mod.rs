//! The topology seam: how switches and endpoints are wired. One kind a file; the list of kinds is [`Topology`].
use crate::graph::Graph;
use crate::problem::Problem;
use crate::units::{Duration, Rate};

pub mod dragonfly;
pub mod fat_tree;
pub mod file;
pub mod hyperx;
pub mod k_ary_n_tree;
pub mod kns;
pub(crate) mod lattice;
pub mod mesh;
pub mod single_switch;
pub mod torus;
pub mod xgft;

/// What every topology provides. A topology is plain parameters; it is asked once, before a run.
pub trait Wiring {
    /// Names of the link classes, the host links first (always called `host`).
    fn link_classes(&self) -> &'static [&'static str];
    /// Bandwidth and latency of a link class, where the topology itself tells them.
    fn wire(&self, _link_class: u8) -> (Option<Rate>, Option<Duration>) {
        (None, None)
    }
    /// Mistakes in the parameters; paths are relative to `topology`, such as `groups`.
    fn problems(&self) -> Vec<Problem>;
    /// Number of endpoints and of switches, without building the graph (which may be impossible or huge).
    fn counts(&self) -> (u64, u64);
    /// The wired network. Only called if there are no problems.
    fn graph(&self) -> Graph;
    /// A number that tells this network from another of its kind, where the parameters do not show it.
    fn hash(&self) -> Option<u64> {
        None
    }
    /// For each switch the number by which the network is cut in halves, where that takes fewer links than a cut between its blocks.
    fn cut(&self) -> Option<Vec<u32>> {
        None
    }
}

crate::kinds::kinds! {
    /// `[topology]`: the list of kinds, one line each.
    pub enum Topology by "kind" {
        Dragonfly(dragonfly::Dragonfly) = "dragonfly",
        FatTree(fat_tree::FatTree) = "fat-tree",
        Xgft(xgft::Xgft) = "xgft",
        KAryNTree(k_ary_n_tree::KAryNTree) = "k-ary-n-tree",
        Torus(torus::Torus) = "torus",
        Mesh(mesh::Mesh) = "mesh",
        Hyperx(hyperx::Hyperx) = "hyperx",
        Kns(kns::Kns) = "kns",
        File(file::File) = "file",
        SingleSwitch(single_switch::SingleSwitch) = "single-switch",
    }
    /// What the topology provides, whichever kind it is.
    pub fn wiring -> dyn Wiring;
}

/// Product without overflow: parameters are bounded only after they are counted.
fn product(factors: &[u32]) -> u64 {
    factors.iter().fold(1, |all, &factor| all.saturating_mul(factor.into()))
}

/// The problem of a parameter that must not be 0, if it is.
fn nonzero(path: &str, value: u32) -> Option<Problem> {
    (value == 0).then(|| Problem::new(path, "must not be 0", "give at least 1"))
}

/// Most ports of a switch: what the sets of the largest switch state hold, besides the switch's virtual input.
pub const PORTS_MAX: u64 = 1087;
/// Most endpoints of a network; most switches.
const ENDPOINTS_MAX: u64 = 1 << 20;
/// Most crosspoints of all switches: each costs some bytes of state for every traffic class.
const CROSSPOINTS_MAX: u64 = 1 << 30;

/// The problems of a network that is too large to be held: `parameters` are those that make it so.
fn too_large(parameters: &[(&str, u32)], counts: (u64, u64), ports: u64) -> Vec<Problem> {
    let path = parameters.iter().max_by_key(|(_, value)| value).map_or("", |(path, _)| path);
    if ports > PORTS_MAX {
        let message = format!("a switch has {ports} ports");
        return vec![Problem::new(path, message, format!("at most {PORTS_MAX}"))];
    }
    if counts.0 > ENDPOINTS_MAX || counts.1 > ENDPOINTS_MAX {
        let message = format!("the network has {} endpoints and {} switches", counts.0, counts.1);
        return vec![Problem::new(path, message, format!("at most {ENDPOINTS_MAX} of each"))];
    }
    if counts.1 * ports * ports > CROSSPOINTS_MAX {
        let message = format!("the network has {} switches of {ports} ports", counts.1);
        return vec![Problem::new(path, message, format!("at most {CROSSPOINTS_MAX} crosspoints in all"))];
    }
    Vec::new()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::graph::{Peer, Port};

    /// Topologies small enough to explore exhaustively; together they cover every parameter.
    pub(crate) fn small() -> Vec<Topology> {
        use dragonfly::Arrangement::{Absolute, PalmTree};
        let dragonfly = |p, a, h, groups, arrangement, global_links| {
            Topology::Dragonfly(dragonfly::Dragonfly { p, a, h, groups, arrangement, global_links })
        };
        let tree = |levels, arity, taper| Topology::FatTree(fat_tree::FatTree { levels, arity, taper });
        let torus = |dims: &[u32], concentration, links| {
            Topology::Torus(torus::Torus { dims: dims.to_vec(), concentration, links })
        };
        let mesh = |dims: &[u32], concentration, links| {
            Topology::Mesh(mesh::Mesh { dims: dims.to_vec(), concentration, links })
        };
        let hyperx = |dims: &[u32], concentration, links| {
            Topology::Hyperx(hyperx::Hyperx { dims: dims.to_vec(), concentration, links })
        };
        let text = "a b\nb c\nc d\nd e\ne a\na c\nb f\nf g\ng e";
        let odd = file::File::new(text, file::Format::Edges, 1);
        let xgft = |down: &[u32], up: &[u32], links: &[u32]| {
            Topology::Xgft(xgft::Xgft { down: down.to_vec(), up: up.to_vec(), links: links.to_vec() })
        };
        let kary = |k, n, horizontal| Topology::KAryNTree(k_ary_n_tree::KAryNTree { k, n, horizontal });
        vec![
            kary(2, 3, 2),
            kary(3, 2, 1),
            kary(2, 3, 0),
            kary(4, 1, 1),
            xgft(&[2, 2, 2], &[2, 1], &[2, 1]),
            xgft(&[1, 2, 2, 2], &[2, 1, 2], &[]),
            xgft(&[3], &[], &[]),
            Topology::File(odd),
            torus(&[4, 4], 1, 1),
            torus(&[5, 3], 1, 1),
            torus(&[2, 4], 2, 1),
            torus(&[6], 1, 2),
            torus(&[2, 1, 3], 1, 1),
            mesh(&[4, 3], 1, 1),
            mesh(&[2, 3], 2, 2),
            mesh(&[2, 2, 3], 1, 1),
            hyperx(&[3, 4], 1, 1),
            hyperx(&[4], 2, 2),
            hyperx(&[2, 2, 2], 1, 1),
            Topology::Kns(kns::Kns { k: 3, n: 2, stages: 1 }),
            Topology::Kns(kns::Kns { k: 2, n: 3, stages: 1 }),
            Topology::Kns(kns::Kns { k: 4, n: 1, stages: 2 }),
            dragonfly(1, 4, 1, 5, Absolute, None),
            dragonfly(1, 4, 1, 5, PalmTree, None),
            dragonfly(2, 3, 1, 4, PalmTree, None),
            dragonfly(1, 3, 2, 4, Absolute, None),
            dragonfly(1, 3, 2, 4, PalmTree, Some(2)),
            dragonfly(1, 3, 2, 4, Absolute, Some(1)),
            dragonfly(1, 2, 2, 3, Absolute, Some(2)),
            dragonfly(1, 3, 1, 2, Absolute, None),
            dragonfly(2, 4, 0, 1, Absolute, None),
            dragonfly(2, 1, 3, 4, Absolute, None),
            dragonfly(2, 1, 0, 1, Absolute, None),
            tree(2, 2, 1),
            tree(2, 4, 1),
            tree(2, 4, 2),
            tree(2, 3, 3),
            tree(3, 2, 1),
            tree(3, 3, 1),
            tree(3, 2, 2),
            tree(2, 1, 1),
            Topology::SingleSwitch(single_switch::SingleSwitch { endpoints: 5 }),
        ]
    }

    #[test]
    fn every_kind_is_among_the_small_ones() {
        let small = small();
        let missing = Topology::KINDS.iter().find(|kind| !small.iter().any(|one| one.kind() == **kind));
        assert_eq!(missing, None, "no small network of this kind is explored");
    }

    /// The peer of every port points back, with the same link class, and the counts are those announced.
    pub(crate) fn check_wiring(topology: &dyn Wiring) {
        assert_eq!(topology.problems(), []);
        let graph = topology.graph();
        let counted = (graph.endpoints.len() as u64, graph.switches.len() as u64);
        assert_eq!(counted, topology.counts());
        assert_eq!(graph.blocks.len(), graph.switches.len());
        let blocks: std::collections::BTreeSet<u32> = graph.blocks.iter().copied().collect();
        assert_eq!(blocks.len() as u32, graph.blocks.iter().max().unwrap() + 1, "blocks have no gaps");
        for (s, ports) in graph.switches.iter().enumerate() {
            for (p, &Port { class, peer }) in ports.iter().enumerate() {
                assert!(usize::from(class) < topology.link_classes().len());
                match peer {
                    Peer::Switch { switch, port } => {
                        let back = graph.switches[switch as usize][port as usize];
                        let here = Peer::Switch { switch: s as u32, port: p as u16 };
                        assert_eq!(back, Port { class, peer: here });
                        assert!(class > 0, "host links lead to endpoints");
                    }
                    Peer::Endpoint(e) => {
                        assert_eq!(graph.endpoints[e as usize], (s as u32, p as u16));
                        assert_eq!(class, 0);
                    }
                    Peer::None => {}
                }
            }
        }
    }

    #[test]
    fn every_kind_is_wired_both_ways_and_as_counted() {
        for topology in small() {
            check_wiring(topology.wiring());
            assert_eq!(topology.wiring().link_classes()[0], "host");
        }
    }

    #[test]
    fn a_topology_is_read_by_its_kind_and_unknown_keys_are_refused() {
        let read = |text: &str| toml::from_str::<Topology>(text);
        let tree = read("kind = 'fat-tree'\nlevels = 2\narity = 16").unwrap();
        assert_eq!(tree.wiring().counts(), (256, 32));
        assert!(read("kind = 'single-switch'\nendpoints = 4\nports = 4").is_err());
        assert_eq!(toml::from_str::<Topology>(&toml::to_string(&tree).unwrap()).unwrap(), tree);
    }
}
