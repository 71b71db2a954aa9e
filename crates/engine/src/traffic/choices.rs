//! Bound patterns in which every source has a set of destinations of which each message picks one.
use super::{Binding, Destinations};
use crate::problem::Problem;
use crate::rng::Stream;

/// Sets of destinations, and the set of each source. Sets lie one after another in one array, and a source's set is
/// found by its endpoint number, so that a draw is two look-ups and a multiplication.
#[derive(Debug)]
pub(super) struct Choices {
    sources: Vec<u32>,
    destinations: Vec<u32>,
    /// The set of each endpoint; of no meaning for endpoints that do not send.
    set_of: Vec<u32>,
    /// Set `s` is `members[start[s]..start[s + 1]]`.
    start: Vec<u32>,
    members: Vec<u32>,
}

impl Choices {
    /// From (source, set) and the sets, which must not be empty.
    pub(super) fn of_sets(mut sources: Vec<(u32, u32)>, sets: &[Vec<u32>]) -> Self {
        sources.sort_unstable();
        let mut start = vec![0];
        let mut members = Vec::new();
        for set in sets {
            members.extend_from_slice(set);
            start.push(members.len() as u32);
        }
        Self::assemble(sources, start, members)
    }

    /// From (source, destination); a source that stands in several pairs picks one of them.
    pub(super) fn of_pairs(mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        let mut sources: Vec<(u32, u32)> = Vec::new();
        let mut start = Vec::new();
        for (index, &(source, _)) in pairs.iter().enumerate() {
            if sources.last().is_none_or(|&(last, _)| last != source) {
                sources.push((source, start.len() as u32));
                start.push(index as u32);
            }
        }
        start.push(pairs.len() as u32);
        Self::assemble(sources, start, pairs.into_iter().map(|(_, destination)| destination).collect())
    }

    /// `sources` ascending.
    fn assemble(sources: Vec<(u32, u32)>, start: Vec<u32>, members: Vec<u32>) -> Self {
        let mut set_of = vec![0; sources.last().map_or(0, |&(source, _)| source as usize + 1)];
        for &(source, set) in &sources {
            set_of[source as usize] = set;
        }
        let mut destinations = members.clone();
        destinations.sort_unstable();
        destinations.dedup();
        Self {
            sources: sources.into_iter().map(|(source, _)| source).collect(),
            destinations,
            set_of,
            start,
            members,
        }
    }

    fn set(&self, source: u32) -> &[u32] {
        let set = self.set_of[source as usize] as usize;
        &self.members[self.start[set] as usize..self.start[set + 1] as usize]
    }
}

impl Destinations for Choices {
    fn sources(&self) -> &[u32] {
        &self.sources
    }

    fn destinations(&self) -> &[u32] {
        &self.destinations
    }

    fn draw(&self, source: u32, random: &mut Stream) -> u32 {
        match self.set(source) {
            [only] => *only,
            set => set[random.below(set.len() as u32) as usize],
        }
    }

    fn share(&self, source: u32, destination: u32) -> f64 {
        let set = self.set(source);
        set.iter().filter(|&&member| member == destination).count() as f64 / set.len() as f64
    }

    fn only(&self, source: u32) -> Option<u32> {
        let set = self.set(source);
        set.iter().all(|member| *member == set[0]).then_some(set[0])
    }
}

/// Binds a pattern that maps an index in the class's endpoints to another. Those mapped to themselves are silent unless
/// the class may send to itself.
pub(super) fn by_index(
    binding: &Binding,
    map: impl Fn(usize) -> usize,
) -> Result<Box<dyn Destinations>, Vec<Problem>> {
    let list = binding.endpoints;
    let pairs: Vec<(u32, u32)> = (0..list.len())
        .map(|index| (list[index], list[map(index)]))
        .filter(|(source, destination)| binding.to_self || source != destination)
        .collect();
    if pairs.is_empty() {
        return Err(vec![Problem::new(
            "pattern",
            format!("no endpoint sends: each of the {} would send to itself", list.len()),
            "use more endpoints, another pattern, or `self = true`",
        )]);
    }
    Ok(Box::new(Choices::of_pairs(pairs)))
}

/// The index of each endpoint in the class's list, by endpoint number; `u32::MAX` for those not in it.
pub(super) fn ranks(endpoints: &[u32]) -> Vec<u32> {
    let size = endpoints.iter().max().map_or(0, |&last| last as usize + 1);
    let mut ranks = vec![u32::MAX; size];
    for (rank, &endpoint) in endpoints.iter().enumerate() {
        ranks[endpoint as usize] = rank as u32;
    }
    ranks
}

/// Whether an endpoint is in the list of which these are the ranks.
pub(super) fn has(ranks: &[u32], endpoint: u32) -> bool {
    ranks.get(endpoint as usize).is_some_and(|&rank| rank != u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_of_several_pairs_picks_each() {
        let choices = Choices::of_pairs(vec![(5, 1), (2, 7), (5, 3)]);
        assert_eq!((choices.sources(), choices.destinations()), (&[2, 5][..], &[1, 3, 7][..]));
        assert_eq!((choices.only(2), choices.only(5)), (Some(7), None));
        let mut random = Stream::new(1, "test", "", 0);
        let ones = (0..1000).filter(|_| choices.draw(5, &mut random) == 1).count();
        assert!((400..600).contains(&ones), "{ones}");
        assert_eq!(choices.draw(2, &mut random), 7);
    }
}
