//! Tables by small integer keys: a hash that costs little, and queues by key that share their memory.
use crate::rng::mix;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A hash table by integers, or tuples of them. Its order means nothing.
pub type Keyed<K, V> = HashMap<K, V, std::hash::BuildHasherDefault<Mixer>>;

/// Hashes integers by mixing.
#[derive(Debug, Default)]
pub struct Mixer(u64);

impl std::hash::Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte as u64));
    }
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word as u64);
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0, word);
    }
}

/// No value.
const NONE: u32 = u32::MAX;

/// Queues of values by key. All values stand in one list, so that a queue which comes and goes allocates nothing.
#[derive(Debug)]
pub struct Queues<T> {
    /// The first and the last value of each queue that is not empty.
    ends: Keyed<u64, (u32, u32)>,
    /// Values, each with the place of the next of its queue, or of the next free one.
    nodes: Vec<(T, u32)>,
    free: u32,
    held: usize,
}

impl<T> Default for Queues<T> {
    fn default() -> Self {
        Self { ends: Keyed::default(), nodes: Vec::new(), free: NONE, held: 0 }
    }
}

impl<T: Copy> Queues<T> {
    /// Puts a value at the end of a queue.
    pub fn push(&mut self, key: u64, value: T) {
        self.held += 1;
        let place = match self.nodes.get_mut(self.free as usize) {
            Some(node) => {
                let place = std::mem::replace(&mut self.free, node.1);
                *node = (value, NONE);
                place
            }
            None => {
                self.nodes.push((value, NONE));
                self.nodes.len() as u32 - 1
            }
        };
        match self.ends.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert((place, place));
            }
            Entry::Occupied(mut entry) => {
                let (_, last) = entry.get_mut();
                self.nodes[*last as usize].1 = place;
                *last = place;
            }
        }
    }

    /// The first value of a queue.
    pub fn first(&self, key: u64) -> Option<&T> {
        self.ends.get(&key).map(|&(first, _)| &self.nodes[first as usize].0)
    }

    /// Takes the first value of a queue.
    pub fn pop(&mut self, key: u64) -> Option<T> {
        if self.held == 0 {
            return None;
        }
        let Entry::Occupied(mut entry) = self.ends.entry(key) else { return None };
        let (first, last) = *entry.get();
        let (value, next) = self.nodes[first as usize];
        if first == last {
            entry.remove();
        } else {
            entry.get_mut().0 = next;
        }
        self.nodes[first as usize].1 = std::mem::replace(&mut self.free, first);
        self.held -= 1;
        Some(value)
    }

    /// The first value of every queue, with its key.
    pub fn firsts(&self) -> impl Iterator<Item = (u64, &T)> {
        self.ends.iter().map(|(&key, &(first, _))| (key, &self.nodes[first as usize].0))
    }

    /// Values in all queues.
    pub fn len(&self) -> usize {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use std::collections::{BTreeMap, VecDeque};

    #[test]
    fn values_come_out_in_the_order_of_their_queue() {
        let mut stream = Stream::new(1, "queues", "", 0);
        let (mut queues, mut model) = (Queues::default(), BTreeMap::<u64, VecDeque<u32>>::new());
        for step in 0..20_000 {
            let key = stream.below(9) as u64;
            let queue = model.entry(key).or_default();
            assert_eq!(queues.first(key), queue.front());
            if stream.below(100) < if step % 2000 < 1000 { 70 } else { 30 } {
                queues.push(key, step);
                queue.push_back(step);
            } else {
                assert_eq!(queues.pop(key), queue.pop_front());
            }
            assert_eq!(queues.len(), model.values().map(VecDeque::len).sum::<usize>());
        }
        let firsts: BTreeMap<_, _> = queues.firsts().map(|(key, &value)| (key, value)).collect();
        let expected = model.iter().filter_map(|(&key, queue)| Some((key, *queue.front()?)));
        assert_eq!(firsts, expected.collect());
        assert!(queues.nodes.len() < 1500, "places are used again");
    }
}
