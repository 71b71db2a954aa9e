//! The send queues of an endpoint, by destination.
use crate::keyed::Keyed;

/// Queues beyond which they are indexed: a search through fewer costs less than a hash. Checked builds have it low, so that tests of
/// small networks index them too.
const FEW: usize = if cfg!(debug_assertions) { 4 } else { 128 };

/// Destinations with a queue, and their queues, in an order that is kept but for the place of one that leaves, which the last one
/// takes.
#[derive(Debug, Default)]
pub(super) struct Directory {
    list: Vec<(u32, u32)>,
    /// The places of the destinations in the list, once they have been many.
    places: Option<Box<Keyed<u32, u32>>>,
}

impl Directory {
    /// The queue for a destination.
    #[inline]
    pub(super) fn find(&self, dst: u32) -> Option<u32> {
        match &self.places {
            None => self.list.iter().find(|&&(other, _)| other == dst).map(|&(_, queue)| queue),
            Some(places) => places.get(dst).map(|&place| self.list[place as usize].1),
        }
    }

    /// Adds a destination that has none.
    pub(super) fn add(&mut self, dst: u32, queue: u32) {
        self.list.push((dst, queue));
        match &mut self.places {
            Some(places) => {
                places.insert(dst, self.list.len() as u32 - 1);
            }
            None if self.list.len() > FEW => {
                let places = (0..).zip(&self.list).map(|(place, &(dst, _))| (dst, place));
                self.places = Some(Box::new(places.collect()));
            }
            None => {}
        }
    }

    /// Takes out a destination that has a queue.
    pub(super) fn remove(&mut self, dst: u32) {
        let place = match &mut self.places {
            None => self.list.iter().position(|&(other, _)| other == dst),
            Some(places) => places.remove(dst).map(|place| place as usize),
        };
        let place = place.expect("a queue is in its endpoint's list");
        self.list.swap_remove(place);
        if let (Some(places), Some(&(moved, _))) = (&mut self.places, self.list.get(place)) {
            places.insert(moved, place as u32);
        }
    }

    /// Destinations and queues, in order.
    pub(super) fn list(&self) -> &[(u32, u32)] {
        &self.list
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        let places = self.places.as_ref().map_or(0, |places| places.memory());
        self.list.capacity() * size_of::<(u32, u32)>() + places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn queues_are_found_whether_they_are_few_or_many() {
        let mut stream = Stream::new(1, "directory", "", 0);
        let (mut directory, mut model) = (Directory::default(), Vec::<(u32, u32)>::new());
        for step in 0..20_000 {
            let dst = stream.below(if step < 10_000 { 9 } else { 500 });
            let found = model.iter().position(|&(other, _)| other == dst);
            assert_eq!(directory.find(dst), found.map(|at| model[at].1));
            match found {
                None => {
                    model.push((dst, step));
                    directory.add(dst, step);
                }
                Some(at) => {
                    model.swap_remove(at);
                    directory.remove(dst);
                }
            }
            assert_eq!(directory.list(), model);
        }
        assert!(directory.places.is_some());
    }
}
