//! Trees some of whose links have failed.
use super::nca::{Tree, Up};
use super::paths::{Paths, least_loaded};
use super::phases::Phases;
use super::{Hop, Route, Router, Senses};
use crate::graph::Graph;

/// A tree some of whose links have failed: ways lead up and down those that are left.
pub(super) struct Damaged {
    tree: Tree,
    paths: Paths,
}

impl Damaged {
    pub(super) fn new(tree: Tree, graph: &Graph) -> Self {
        let levels = Vec::from_iter(tree.places.iter().map(|&(level, _)| level));
        Self { tree, paths: Paths::on_tree(graph, &levels) }
    }
}

impl Router for Damaged {
    fn reaches(&self, switch: u32, dst: u32) -> bool {
        self.paths.reaches(switch, dst)
    }

    fn levels(&self, link_class: u8) -> u16 {
        self.tree.levels(link_class)
    }

    fn hashes(&self) -> bool {
        self.tree.hashes()
    }

    fn freedom(&self) -> String {
        self.tree.freedom()
    }

    fn route(
        &self,
        switch: u32,
        _: Option<u16>,
        dst: u32,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let (last, port) = self.paths.seat(dst);
        if switch == last {
            return Hop { port, level: 0 };
        }
        let mut ways = self.paths.nearer((switch, last), *route);
        let (count, leads_up) = (ways.clone().count() as u32, ways.clone().any(|way| way.up));
        let way = match self.tree.up {
            _ if count < 2 => ways.next(),
            Up::FlowHash => ways.nth(senses.of_flow(count) as usize),
            Up::LeastLoaded if leads_up => least_loaded(ways, senses),
            Up::Deterministic if leads_up => {
                let (level, seat, _) = self.tree.place(switch, dst);
                // Those whose port is lost spread over the others.
                let other = (dst / u32::from(level.up) % count) as usize;
                ways.clone().find(|way| way.port == seat.up).or_else(|| ways.nth(other))
            }
            Up::Random | Up::Deterministic | Up::LeastLoaded => ways.nth(senses.below(count) as usize),
        };
        let way = way.unwrap_or_else(|| unreachable!("a way was left between all switches with endpoints"));
        self.paths.take(way, route);
        Hop { port: way.port, level: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::severed;
    use super::super::tests::{SCALE, variants};
    use super::super::{Bind, Routing, nca::Nca};
    use super::*;
    use crate::deadlock::check;
    use crate::graph::Peer;
    use crate::outcomes::every_outcome;
    use crate::topology::{Topology, tests::small, xgft::Xgft};
    use std::ops::ControlFlow;

    fn ports(router: &dyn Router, switch: u32, dst: u32, before: Route) -> Vec<(u16, Route)> {
        let mut found = Vec::new();
        _ = every_outcome(|senses| {
            let mut route = before;
            found.push((router.route(switch, None, dst, &mut route, senses).port, route));
            ControlFlow::<()>::Continue(())
        });
        found
    }

    #[test]
    fn a_tree_without_damage_is_routed_as_such() {
        let tree = Xgft { down: vec![2, 2, 3], up: vec![2, 3], links: vec![2, 1] };
        let topology = Topology::Xgft(tree.clone());
        let graph = topology.wiring().graph();
        for up in [Up::Random, Up::Deterministic, Up::FlowHash, Up::LeastLoaded] {
            let intact = Nca { up }.router(&topology, &graph, &SCALE).unwrap();
            let damaged = Damaged::new(Tree::new(up, &tree, graph.endpoints.len()), &graph);
            for dst in 0..graph.endpoints.len() as u32 {
                let mut next = vec![(0, Route::default())];
                while let Some((switch, route)) = next.pop() {
                    let found = ports(&damaged, switch, dst, route);
                    let usual = ports(&*intact, switch, dst, Route::default());
                    assert_eq!(
                        Vec::from_iter(found.iter().map(|(port, _)| *port)),
                        Vec::from_iter(usual.iter().map(|(port, _)| *port)),
                        "{up:?} in switch {switch} to {dst}"
                    );
                    for (port, route) in found {
                        let peer = graph.switches[switch as usize][usize::from(port)].peer;
                        if let Peer::Switch { switch, .. } = peer {
                            next.push((switch, route));
                        }
                    }
                }
            }
        }
    }

    /// Links between switches, by one of their ports.
    fn links(graph: &Graph) -> Vec<(u32, u16)> {
        let all = (0..)
            .zip(&graph.switches)
            .flat_map(|(switch, ports)| (0..).zip(ports).map(move |(port, of)| ((switch, port), of.peer)));
        all.filter(|(link, peer)| matches!(peer, Peer::Switch { switch, port } if *link < (*switch, *port)))
            .map(|(link, _)| link)
            .collect()
    }

    #[test]
    fn what_goes_round_failed_links_arrives_and_has_no_cycle() {
        let mut kinds = std::collections::BTreeMap::<&str, (u32, u32)>::new();
        // Of the small ones few have several links between two groups.
        let joined = "kind = 'dragonfly'\np = 1\na = 3\nh = 2\ngroups = 3";
        for topology in small().into_iter().chain([toml::from_str(joined).unwrap()]) {
            let graph = topology.wiring().graph();
            let able = |routing: &Routing| routing.binding().goes_round(&topology);
            let all = links(&graph);
            let some = (0..all.len().min(20)).map(|n| n * 7 % all.len());
            for (at, routing) in
                some.flat_map(|at| variants(&topology).into_iter().filter(able).map(move |of| (at, of)))
            {
                let mut graph = graph.clone();
                // One, and then two and three.
                (0..=at % 3).for_each(|more| graph.sever(all[(at + 5 * more) % all.len()]));
                let router = routing.bind(&topology, &graph, &SCALE).unwrap();
                let (whole, cut) = kinds.entry(routing.kind()).or_default();
                let what = format!("{routing:?} on {topology:?} without {at}");
                if severed(&*router, &graph).is_some() {
                    *cut += 1;
                } else {
                    *whole += 1;
                    let found = check(&graph, &*router, topology.wiring().link_classes());
                    assert!(found.is_ok(), "{what}: {found:?}");
                }
            }
        }
        assert_eq!(
            Vec::from_iter(kinds.keys().copied()),
            ["minimal", "nca", "par", "shortest", "ugal", "valiant"]
        );
        assert!(kinds.values().all(|(whole, _)| *whole > 5), "{kinds:?}");
        assert!(["nca", "shortest"].iter().all(|kind| kinds[kind].1 > 0), "{kinds:?}");
    }

    #[test]
    fn a_destination_whose_port_is_lost_takes_another_and_only_ways_that_lead_there_are_left() {
        // Four leaves of four endpoints under four spines. Ports up: 4 to 7.
        let topology: Topology = toml::from_str("kind = 'xgft'\ndown = [4, 4]\nup = [4]").unwrap();
        let mut graph = topology.wiring().graph();
        // The spine of port 5 does not reach leaf 1.
        graph.sever((1, 5));
        let bound = |up| Nca { up }.router(&topology, &graph, &SCALE).unwrap();
        let chosen = |up, switch, dst| {
            Vec::from_iter(
                ports(&*bound(up), switch, dst, Route::default()).into_iter().map(|(port, _)| port),
            )
        };
        assert_eq!(chosen(Up::Random, 0, 4), [4, 6, 7]);
        assert_eq!(chosen(Up::Random, 1, 0), [4, 6, 7]);
        // Endpoints 4 to 7 by ports 4 to 7, but the second of what is left for 5.
        assert_eq!([4, 5, 6, 7, 9].map(|dst| chosen(Up::Deterministic, 0, dst)[0]), [4, 6, 6, 7, 5]);
        // Without that port those of all other leaves spread.
        assert_eq!([1, 9, 13].map(|dst| chosen(Up::Deterministic, 1, dst)[0]), [4, 7, 4]);
        graph.sever((1, 4));
        graph.sever((1, 6));
        graph.sever((0, 7));
        let router = Nca::default().router(&topology, &graph, &SCALE).unwrap();
        assert_eq!(severed(&*router, &graph), Some((0, 1)));
    }
}
