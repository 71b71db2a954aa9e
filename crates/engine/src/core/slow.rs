//! Endpoints that take data more slowly than the plan says, for some time or for all of it.
use super::Tick;
use super::ground::Ground;
use crate::rng::Stream;
use crate::scenario::Endpoints;
use crate::units::{Rate, SECOND};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an endpoint takes in the course of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Intake {
    flit_bits: u64,
    /// Picoseconds of a tick.
    tick: u64,
    /// From when, and how many bits a second; the first from the start on. Only the last lasts for ever, and it is not 0.
    pieces: Arc<[(Tick, u64)]>,
}

impl Intake {
    /// From when on it takes how many bits a second.
    pub fn pieces(&self) -> &[(Tick, u64)] {
        &self.pieces
    }

    /// When an endpoint has taken a packet of which it is given the first bit at `start`: each part of it as fast as it takes data
    /// then, rounded up to a tick once.
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

    /// Whether it takes data at one rate until `end`, which is not 0.
    pub fn is_steady(&self, end: Tick) -> bool {
        self.pieces.partition_point(|&(from, _)| from <= end) == 1 && self.pieces[0].1 > 0
    }
}

/// Ticks that no run lasts: what takes longer need not be told apart.
const LATE: u128 = 1 << 62;

/// A time in which an endpoint takes no more than a rate.
type Spell = (Tick, Option<Tick>, u64);

/// The slow endpoints of a scenario whose run is over at `end`; none takes more than `usual`.
pub(super) fn intakes(ground: &Ground, usual: Rate, end: Tick) -> BTreeMap<u32, Intake> {
    let mut spells = BTreeMap::<u32, Vec<Spell>>::new();
    for (at, slow) in ground.scenario.endpoint.slow.iter().enumerate() {
        let count = ground.graph.endpoints.len() as u32;
        let members = match &slow.endpoints {
            Endpoints::All | Endpoints::Rest => (0..count).collect(),
            Endpoints::List(list) => list.clone(),
            Endpoints::Sample(n) => {
                let seed = ground.scenario.run.seed;
                Stream::new(seed, "slow endpoints", "", at as u64).sample(count, *n)
            }
        };
        let rate = slow.drain_rate.map_or(0, |rate| rate.0);
        // One that takes nothing for ever is back when nobody looks any more.
        let until = slow.stop.map(|stop| ground.ticks(stop)).or((rate == 0).then_some(end + 1));
        let start = ground.ticks(slow.start);
        let spell = (start, until.map(|until| until.max(start)), rate);
        members.into_iter().for_each(|endpoint| spells.entry(endpoint).or_default().push(spell));
    }
    let (flit_bits, tick) = (ground.scale.flit_bits, ground.tick);
    // Many endpoints have the same.
    let mut known = BTreeMap::<Vec<Spell>, Arc<[(Tick, u64)]>>::new();
    let mut intake = |spells: Vec<Spell>| {
        let pieces = known.entry(spells).or_insert_with_key(|spells| pieces(spells, usual)).clone();
        Intake { flit_bits, tick, pieces }
    };
    spells.into_iter().map(|(endpoint, spells)| (endpoint, intake(spells))).collect()
}

/// The slowest of all spells counts at any time.
fn pieces(spells: &[Spell], usual: Rate) -> Arc<[(Tick, u64)]> {
    let mut bounds =
        Vec::from_iter(spells.iter().flat_map(|&(from, until, _)| [Some(from), until]).flatten());
    bounds.push(0);
    bounds.sort_unstable();
    bounds.dedup();
    let slowest = |at: Tick| {
        let lasts = |&&(from, until, _): &&Spell| from <= at && until.is_none_or(|until| at < until);
        spells.iter().filter(lasts).map(|spell| spell.2).fold(usual.0, u64::min)
    };
    let mut pieces = Vec::from_iter(bounds.into_iter().map(|at| (at, slowest(at))));
    pieces.dedup_by_key(|piece| piece.1);
    pieces.into()
}
