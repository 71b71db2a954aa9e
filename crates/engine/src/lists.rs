//! Short lists by the thousand: their values stand in one vector, so that a list which comes and goes allocates nothing.

/// No value.
const NONE: u32 = u32::MAX;

/// A list: the place of its last value, whose next one is the first. Its values are in the [`Lists`] that it was used with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List(u32);

impl Default for List {
    fn default() -> Self {
        Self(NONE)
    }
}

impl List {
    /// Whether it has no values.
    pub fn is_empty(self) -> bool {
        self.0 == NONE
    }
}

/// The values of many lists.
#[derive(Debug)]
pub struct Lists<T> {
    /// Values, each with the place of the next of its list, or of the next free one.
    nodes: Vec<(T, u32)>,
    free: u32,
    held: usize,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: NONE, held: 0 }
    }
}

impl<T: Copy> Lists<T> {
    /// Puts a value at the end of a list.
    pub fn push(&mut self, list: &mut List, value: T) {
        self.held += 1;
        let place = self.free;
        let place = match self.nodes.get_mut(place as usize) {
            Some(node) => {
                self.free = std::mem::replace(node, (value, place)).1;
                place
            }
            None => {
                let place = self.nodes.len() as u32;
                self.nodes.push((value, place));
                place
            }
        };
        if !list.is_empty() {
            // The last one's next is the first.
            self.nodes[place as usize].1 = std::mem::replace(&mut self.nodes[list.0 as usize].1, place);
        }
        list.0 = place;
    }

    /// The first value of a list.
    pub fn first(&self, list: List) -> Option<&T> {
        self.iter(list).next()
    }

    /// The values of a list.
    pub fn iter(&self, list: List) -> impl Iterator<Item = &T> {
        let last = self.nodes.get(list.0 as usize);
        let mut next = last.map(|last| last.1);
        std::iter::from_fn(move || {
            let place = next?;
            let (value, after) = &self.nodes[place as usize];
            next = (place != list.0).then_some(*after);
            Some(value)
        })
    }

    /// Takes the first value of a list.
    pub fn pop(&mut self, list: &mut List) -> Option<T> {
        self.remove(list, |_| true)
    }

    /// Takes the first value of a list that suits.
    pub fn remove(&mut self, list: &mut List, suits: impl Fn(&T) -> bool) -> Option<T> {
        if list.is_empty() {
            return None;
        }
        let mut before = list.0;
        loop {
            let place = self.nodes[before as usize].1;
            let (value, next) = self.nodes[place as usize];
            if suits(&value) {
                self.nodes[before as usize].1 = next;
                if place == list.0 {
                    list.0 = if before == place { NONE } else { before };
                }
                self.nodes[place as usize].1 = std::mem::replace(&mut self.free, place);
                self.held -= 1;
                return Some(value);
            }
            if place == list.0 {
                return None;
            }
            before = place;
        }
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<(T, u32)>()
    }

    /// Values in all lists.
    pub fn len(&self) -> usize {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use std::collections::VecDeque;

    #[test]
    fn values_come_out_in_the_order_of_their_list() {
        let mut stream = Stream::new(1, "lists", "", 0);
        let (mut values, mut lists) = (Lists::default(), [List::default(); 9]);
        let mut model = vec![VecDeque::<u32>::new(); lists.len()];
        for step in 0..20_000 {
            let at = stream.below(9) as usize;
            let (list, expected) = (&mut lists[at], &mut model[at]);
            assert_eq!(values.first(*list), expected.front());
            assert!(values.iter(*list).eq(expected.iter()));
            assert_eq!(list.is_empty(), expected.is_empty());
            if stream.below(100) < if step % 2000 < 1000 { 70 } else { 30 } {
                values.push(list, step);
                expected.push_back(step);
            } else if stream.below(2) == 0 {
                assert_eq!(values.pop(list), expected.pop_front());
            } else {
                let rest = stream.below(3);
                let place = expected.iter().position(|value| value % 3 == rest);
                let found = place.and_then(|place| expected.remove(place));
                assert_eq!(values.remove(list, |value| value % 3 == rest), found);
            }
            assert_eq!(values.len(), model.iter().map(VecDeque::len).sum::<usize>());
        }
        assert!(values.nodes.len() < 1500, "places are used again");
    }
}
