//! Endpoints and links that are slower than the plan says, for some time or for all of it.
use super::Tick;
use super::build::Wire;
use super::ground::Ground;
use super::links::Chooser;
use crate::graph::Peer;
use crate::problem::Problem;
use crate::rng::Stream;
use crate::scenario::Endpoints;
use crate::units::{Duration, Rate, SECOND};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a channel carries in the course of a run, if it or the endpoint that it leads to is slow.
#[derive(Debug, Clone, PartialEq)]
pub struct Speeds {
    flit_bits: u64,
    /// Picoseconds of a tick.
    tick: u64,
    /// From when, and how many bits a second; the first from the start on. Only the last lasts for ever, and it is not 0.
    pieces: Arc<[(Tick, u64)]>,
}

impl Speeds {
    /// From when on it carries how many bits a second.
    pub fn pieces(&self) -> &[(Tick, u64)] {
        &self.pieces
    }

    /// When the last bit of a packet leaves whose first does at `start`: each part of it goes as fast as the channel is then, and the end
    /// is rounded up to a tick once.
    pub fn end(&self, start: Tick, flits: u32) -> Tick {
        let mut at = self.pieces.partition_point(|&(from, _)| from <= start) - 1;
        let (mut now, mut left) = (start, u128::from(flits) * u128::from(self.flit_bits) * SECOND);
        loop {
            let by_tick = u128::from(self.pieces[at].1) * u128::from(self.tick);
            at += 1;
            let piece =
                self.pieces.get(at).map_or(u128::MAX, |&(until, _)| by_tick * u128::from(until - now));
            if piece >= left {
                return now + left.div_ceil(by_tick).min(LATE) as Tick;
            }
            (now, left) = (self.pieces[at].0, left - piece);
        }
    }

    /// Ticks of a packet if it has one rate until `end`: without end if that is 0.
    pub fn steady(&self, end: Tick, flits: u32) -> Option<f64> {
        let is_steady = self.pieces.partition_point(|&(from, _)| from <= end) == 1;
        is_steady.then(|| if self.pieces[0].1 > 0 { self.end(0, flits) as f64 } else { f64::INFINITY })
    }
}

/// Ticks that no run lasts: what takes longer need not be told apart.
const LATE: u128 = 1 << 62;

/// A time in which a channel carries no more than a rate.
type Spell = (Tick, Option<Tick>, u64);

/// The channels that are slow.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slow {
    /// Those out of ports of switches, to endpoints too, by switch and port.
    pub ports: BTreeMap<(u32, u16), Speeds>,
    /// Those out of endpoints.
    pub injections: BTreeMap<u32, Speeds>,
}

/// What is slow when, before it is known how fast all of it usually is.
#[derive(Default)]
struct Spells {
    ports: BTreeMap<(u32, u16), Vec<Spell>>,
    injections: BTreeMap<u32, Vec<Spell>>,
}

impl Spells {
    /// Those of `[endpoint]`.
    fn add_endpoints(&mut self, ground: &Ground, end: Tick) {
        for (at, slow) in ground.scenario.endpoint.slow.iter().enumerate() {
            let spell = spell(ground, slow.drain_rate, (slow.start, slow.stop), end);
            for seat in seats(ground, &slow.endpoints, ("slow endpoints", at)) {
                self.ports.entry(seat).or_default().push(spell);
            }
        }
    }

    /// Those of `[link]`, or what is wrong with these.
    fn add_links(&mut self, ground: &Ground, end: Tick) -> Result<(), Vec<Problem>> {
        let classes = ground.scenario.topology.wiring().link_classes();
        let mut problems = Vec::new();
        for (at, slow) in ground.scenario.link.slow.iter().enumerate() {
            let (graph, seed) = (ground.graph, ground.scenario.run.seed);
            let chooser = Chooser { graph, classes, seed, list: ("slow links", at) };
            let spell = spell(ground, slow.bandwidth, (slow.start, slow.stop), end);
            let endpoints = slow.endpoints.as_ref();
            let hosts = endpoints.map_or(Vec::new(), |of| seats(ground, of, ("endpoints of slow links", at)));
            match chooser.choose(&slow.links, hosts) {
                Ok(links) => links.into_iter().for_each(|link| self.add_link(ground, link, spell)),
                Err(one) => problems.push(Problem { path: format!("link.slow.{at}.{}", one.path), ..one }),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Both directions.
    fn add_link(&mut self, ground: &Ground, (switch, port): (u32, u16), spell: Spell) {
        self.ports.entry((switch, port)).or_default().push(spell);
        match ground.graph.switches[switch as usize][usize::from(port)].peer {
            Peer::Switch { switch, port } => self.ports.entry((switch, port)).or_default().push(spell),
            Peer::Endpoint(endpoint) => self.injections.entry(endpoint).or_default().push(spell),
            Peer::None => {}
        }
    }
}

/// The switches and ports of the endpoints of a table, drawn by its list and its place there if they are random ones.
fn seats(ground: &Ground, of: &Endpoints, (list, at): (&str, usize)) -> Vec<(u32, u16)> {
    let all = &ground.graph.endpoints;
    let members = match of {
        Endpoints::All | Endpoints::Rest => return all.clone(),
        Endpoints::List(list) => list.clone(),
        Endpoints::Sample(n) => {
            Stream::new(ground.scenario.run.seed, list, "", at as u64).sample(all.len() as u32, *n)
        }
    };
    members.into_iter().map(|endpoint| all[endpoint as usize]).collect()
}

fn spell(
    ground: &Ground,
    rate: Option<Rate>,
    (start, stop): (Duration, Option<Duration>),
    end: Tick,
) -> Spell {
    let (start, rate) = (ground.ticks(start), rate.map_or(0, |rate| rate.0));
    // What carries nothing for ever is back when nobody looks any more.
    let until = stop.map(|stop| ground.ticks(stop)).or((rate == 0).then_some(end + 1));
    (start, until.map(|until| until.max(start)), rate)
}

/// The slow channels of a scenario whose run is over at `end`.
pub(super) fn slow(ground: &Ground, wires: &[Wire], end: Tick) -> Result<Slow, Vec<Problem>> {
    let mut spells = Spells::default();
    spells.add_endpoints(ground, end);
    spells.add_links(ground, end)?;
    let (flit_bits, tick) = (ground.scale.flit_bits, ground.tick);
    // Many channels have the same.
    let mut known = BTreeMap::<(u64, Vec<Spell>), Arc<[(Tick, u64)]>>::new();
    let mut speeds = |usual: Rate, spells: Vec<Spell>| {
        let of = known.entry((usual.0, spells));
        let pieces = of.or_insert_with_key(|(usual, spells)| pieces(spells, *usual)).clone();
        Speeds { flit_bits, tick, pieces }
    };
    let (host, endpoint) = (wires[0].rate, &ground.scenario.endpoint);
    let usual = |(switch, port): (u32, u16)| {
        let port = ground.graph.switches[switch as usize][usize::from(port)];
        let rate = wires[usize::from(port.class)].rate;
        if matches!(port.peer, Peer::Endpoint(_)) { endpoint.takes(rate) } else { rate }
    };
    let ports = spells.ports.into_iter().map(|(at, spells)| (at, speeds(usual(at), spells))).collect();
    let injections = spells.injections.into_iter().map(|(at, spells)| (at, speeds(host, spells))).collect();
    Ok(Slow { ports, injections })
}

/// The slowest of all spells counts at any time.
fn pieces(spells: &[Spell], usual: u64) -> Arc<[(Tick, u64)]> {
    let mut bounds =
        Vec::from_iter(spells.iter().flat_map(|&(from, until, _)| [Some(from), until]).flatten());
    bounds.push(0);
    bounds.sort_unstable();
    bounds.dedup();
    let slowest = |at: Tick| {
        let lasts = |&&(from, until, _): &&Spell| from <= at && until.is_none_or(|until| at < until);
        spells.iter().filter(lasts).map(|spell| spell.2).fold(usual, u64::min)
    };
    let mut pieces = Vec::from_iter(bounds.into_iter().map(|at| (at, slowest(at))));
    pieces.dedup_by_key(|piece| piece.1);
    pieces.into()
}
