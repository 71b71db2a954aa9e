//! Shortest ways on any graph, and what keeps them from deadlock.
//!
//! What is kept is a table of distances, from each switch to each switch with endpoints: a hop goes to a neighbour that is
//! one nearer. Of `Route::state` one bit is used, [`DOWN`].
use super::by_destination::{Turns, neighbours_first};
use super::least::Least;
use super::phases::Phases;
use super::{Hop, Route, Senses};
use crate::graph::{Graph, Peer};
use std::collections::VecDeque;

/// How deadlock is avoided.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Deadlock {
    /// Each hop takes the next level: as many levels as the longest way has links between switches.
    #[default]
    Hops,
    /// One level: up towards a root switch, then down, never up again. Ways may be longer than the shortest.
    UpDown,
}

/// How one of several ways of equal length is chosen.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Choose {
    /// With equal probability, at each hop.
    #[default]
    Random,
    /// By the destination, so that all packets to an endpoint take one way from a switch, and stay in order. Endpoints are counted switch by
    /// switch, and take the ways in turn, one to each neighbour before a second of parallel links; in switches without endpoints, those
    /// take them in turn that went to the same neighbour in each switch nearer to endpoints. In a tree (`fat-tree`, `xgft`) the ways up are
    /// those of `nca` with `up = "deterministic"`, and of parallel links down each destination has one.
    ByDestination,
    /// By a hash of source, destination and queue pair, another one in each switch and for each seed: all packets of a flow take one way
    /// (ECMP), and stay in order. Several flows from a source to a destination: `queue_pairs`.
    FlowHash,
    /// The port of least occupancy at each hop, of several the one drawn with equal probability.
    LeastLoaded,
}

/// The packet has gone down (up*/down*).
const DOWN: u8 = 4;
/// No way leads there.
const FAR: u16 = u16::MAX;

/// A channel to another switch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) port: u16,
    to: u32,
    pub(super) up: bool,
}

/// Shortest ways on a graph.
#[derive(Debug)]
pub(super) struct Paths {
    rule: Deadlock,
    choose: Choose,
    /// Where ways are chosen by the destination.
    turns: Option<Turns>,
    seats: Vec<(u32, u16)>,
    /// The channels of each switch: those of switch s are `ways[first[s]..first[s + 1]]`.
    ways: Vec<Way>,
    first: Vec<u32>,
    /// Switches with endpoints, ascending, and the row of each in `distances`.
    targets: Vec<u32>,
    row: Vec<u32>,
    /// By target, then switch, then (up*/down* only) whether the packet has gone down: links that remain.
    distances: Vec<u16>,
    /// Entries of a switch in a row: 1, or 2.
    width: usize,
    root: u32,
    longest: u16,
}

impl Paths {
    pub(super) fn new(graph: &Graph, rule: Deadlock, choose: Choose) -> Self {
        let mut paths = Self::bare(graph, rule, choose);
        if rule == Deadlock::UpDown {
            paths.orient();
        }
        paths.measured()
    }

    /// Ways up and down a tree, of which the level of each switch is given. Links within a level are not used.
    pub(super) fn on_tree(graph: &Graph, levels: &[u32]) -> Self {
        let mut paths = Self::bare(graph, Deadlock::UpDown, Choose::Random);
        let (mut ways, mut first) = (Vec::new(), vec![0]);
        for (switch, &level) in levels.iter().enumerate() {
            let beyond =
                paths.ways[paths.ways(switch as u32)].iter().map(|way| (levels[way.to as usize], *way));
            let beyond = beyond.filter(|(to, _)| *to != level);
            ways.extend(beyond.map(|(to, way)| Way { up: to > level, ..way }));
            first.push(ways.len() as u32);
        }
        (paths.ways, paths.first) = (ways, first);
        paths.measured()
    }

    /// Without distances, and all ways down.
    fn bare(graph: &Graph, rule: Deadlock, choose: Choose) -> Self {
        let switches = graph.switches.len();
        let mut targets: Vec<u32> = graph.endpoints.iter().map(|&(switch, _)| switch).collect();
        targets.sort_unstable();
        targets.dedup();
        let mut row = vec![u32::MAX; switches];
        targets.iter().zip(0..).for_each(|(&target, number)| row[target as usize] = number);
        let (mut ways, mut first) = (Vec::new(), vec![0]);
        for ports in &graph.switches {
            let start = ways.len();
            for (port, at) in ports.iter().enumerate() {
                if let Peer::Switch { switch, .. } = at.peer {
                    ways.push(Way { port: port as u16, to: switch, up: false });
                }
            }
            if choose == Choose::ByDestination {
                neighbours_first(&mut ways[start..], |way| way.to);
            }
            first.push(ways.len() as u32);
        }
        let turns = (choose == Choose::ByDestination).then(|| Turns::new(graph));
        let seats = graph.endpoints.clone();
        let width = if rule == Deadlock::UpDown { 2 } else { 1 };
        let distances = Vec::with_capacity(targets.len() * switches * width);
        Self { rule, choose, turns, seats, ways, first, targets, row, distances, width, root: 0, longest: 0 }
    }

    /// With its distances.
    fn measured(mut self) -> Self {
        for at in 0..self.targets.len() {
            self.add_row(self.targets[at]);
        }
        let free = self.distances.iter().step_by(self.width);
        self.longest = free.copied().filter(|&distance| distance != FAR).max().unwrap_or(0);
        self
    }

    /// The ways that bring a packet for an endpoint of switch `to` nearer to it, in the order of the ports; where the destination chooses, in
    /// that in which destinations take them.
    pub(super) fn nearer(&self, (from, to): (u32, u32), route: Route) -> impl Iterator<Item = Way> + Clone {
        let down = route.state & DOWN != 0;
        let left = self.left(from, down, to);
        let ways = self.ways[self.ways(from)].iter().copied();
        ways.filter(move |&way| self.is_shortest(way, down, left, to))
    }

    /// Notes that a packet takes a way.
    pub(super) fn take(&self, way: Way, route: &mut Route) {
        if self.rule == Deadlock::UpDown && !way.up {
            route.state |= DOWN;
        }
    }

    pub(super) fn hashes(&self) -> bool {
        self.choose == Choose::FlowHash
    }

    pub(super) fn tells_destinations_apart(&self) -> bool {
        self.choose == Choose::ByDestination
    }

    fn ways(&self, switch: u32) -> std::ops::Range<usize> {
        self.first[switch as usize] as usize..self.first[switch as usize + 1] as usize
    }

    /// Links from `from` to every switch.
    fn depths(&self, from: u32) -> Vec<u16> {
        let mut depths = vec![FAR; self.row.len()];
        depths[from as usize] = 0;
        let mut next = VecDeque::from([from]);
        while let Some(switch) = next.pop_front() {
            for way in &self.ways[self.ways(switch)] {
                if depths[way.to as usize] == FAR {
                    depths[way.to as usize] = depths[switch as usize] + 1;
                    next.push_back(way.to);
                }
            }
        }
        depths
    }

    /// Chooses the root, of least greatest distance, and gives every channel its direction: up is nearer to the root, of
    /// equally near switches the one of lower number.
    fn orient(&mut self) {
        let count = self.row.len() as u32;
        // Of a large network every n-th switch is tried.
        let tried = (0..count).step_by((count as usize).div_ceil(ROOTS_TRIED).max(1));
        // A switch that failed links have cut off is no root, and none is measured by it.
        let greatest = |root: &u32| {
            let depths = self.depths(*root);
            let unreached = self.targets.iter().filter(|&&target| depths[target as usize] == FAR).count();
            (unreached, depths.into_iter().filter(|&depth| depth != FAR).max())
        };
        self.root = tried.min_by_key(greatest).unwrap_or(0);
        let depths = self.depths(self.root);
        for switch in 0..count {
            for at in self.ways(switch) {
                let to = self.ways[at].to;
                self.ways[at].up = (depths[to as usize], to) < (depths[switch as usize], switch);
            }
        }
    }

    /// Adds the distances to a target: breadth first against the direction of travel. A channel's way back is the same
    /// link, so the ways of a switch are those that lead to it, turned round.
    fn add_row(&mut self, target: u32) {
        let (start, width) = (self.distances.len(), self.width);
        self.distances.resize(start + width * self.row.len(), FAR);
        let place = |(switch, down): (u32, bool)| start + width * switch as usize + usize::from(down);
        let mut next = VecDeque::from([(target, false)]);
        next.extend((width == 2).then_some((target, true)));
        next.iter().for_each(|&state| self.distances[place(state)] = 0);
        while let Some(state) = next.pop_front() {
            let beyond = self.distances[place(state)].saturating_add(1);
            for at in self.ways(state.0) {
                // Going back over this way, a packet came the other way round.
                let (from, went_up) = (self.ways[at].to, !self.ways[at].up);
                let before: &[bool] = match (self.rule, state.1, went_up) {
                    (Deadlock::Hops, ..) | (Deadlock::UpDown, false, true) => &[false],
                    (Deadlock::UpDown, true, false) => &[false, true],
                    (Deadlock::UpDown, ..) => &[],
                };
                for &down in before {
                    let known = &mut self.distances[place((from, down))];
                    if *known == FAR {
                        *known = beyond;
                        next.push_back((from, down));
                    }
                }
            }
        }
    }

    fn left(&self, switch: u32, down: bool, to: u32) -> u16 {
        let row = self.row[to as usize] as usize * self.width * self.row.len();
        self.distances[row + self.width * switch as usize + usize::from(down)]
    }

    /// Whether a way is one of the shortest, for a packet that is `left` links from `to`.
    fn is_shortest(&self, way: Way, down: bool, left: u16, to: u32) -> bool {
        let legal = self.rule == Deadlock::Hops || !(down && way.up);
        let goes_down = self.rule == Deadlock::UpDown && !way.up;
        legal && self.left(way.to, goes_down, to) == left - 1
    }

    /// Why packets cannot wait for one another in a circle.
    pub(super) fn freedom(&self) -> String {
        match self.rule {
            Deadlock::Hops => {
                format!("every hop takes the next of {} levels, which only rise", self.longest.max(1))
            }
            Deadlock::UpDown => format!(
                "up*/down*: ways lead up towards switch {}, then down, and never up again; the longest has {} links",
                self.root, self.longest
            ),
        }
    }
}

/// The least occupied of several ways.
pub(super) fn least_loaded(ways: impl Iterator<Item = Way>, senses: &mut dyn Senses) -> Option<Way> {
    let mut least = Least::new();
    for way in ways {
        let occupancy = senses.occupancy(way.port);
        least.offer(way, occupancy.into(), senses);
    }
    least.best().map(|(way, _)| way)
}

/// Most switches tried as the root.
const ROOTS_TRIED: usize = 256;

impl Phases for Paths {
    fn levels(&self, link_class: u8, phases: u8) -> u16 {
        match self.rule {
            _ if link_class == 0 => 1,
            Deadlock::Hops => self.longest.max(1).saturating_mul(phases.into()),
            Deadlock::UpDown => phases.into(),
        }
    }

    fn seat(&self, dst: u32) -> (u32, u16) {
        self.seats[dst as usize]
    }

    fn next(
        &self,
        (from, to): (u32, u32),
        dst: u32,
        phase: u8,
        route: &mut Route,
        senses: &mut dyn Senses,
    ) -> Hop {
        let mut ways = self.nearer((from, to), *route);
        let count = ways.clone().count() as u32;
        let way = match self.choose {
            _ if count < 2 => ways.next(),
            Choose::Random => ways.nth(senses.below(count) as usize),
            Choose::ByDestination => {
                ways.nth(self.turns.as_ref().map_or(0, |turns| turns.of(dst, from) % count) as usize)
            }
            Choose::FlowHash => ways.nth(senses.of_flow(count) as usize),
            Choose::LeastLoaded => least_loaded(ways, senses),
        };
        let way = way.unwrap_or_else(|| unreachable!("a network is connected, so a neighbour is nearer"));
        self.take(way, route);
        let level = if self.rule == Deadlock::Hops { route.hops } else { phase };
        Hop { port: way.port, level }
    }

    fn reaches(&self, switch: u32, dst: u32) -> bool {
        self.left(switch, false, self.seat(dst).0) != FAR
    }

    fn turn(&self, route: &mut Route) {
        route.state &= !DOWN;
    }

    fn distance(&self, from: u32, to: u32) -> u32 {
        self.left(from, false, to).into()
    }

    fn switches(&self) -> &[u32] {
        &self.targets
    }
}
