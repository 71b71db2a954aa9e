//! Short lists by the thousand: the first value of each is in the list itself, the others stand in one vector, so that a list which
//! comes and goes allocates nothing.

/// No value.
const NONE: u32 = u32::MAX;

/// No value but the first.
const ALONE: u32 = u32::MAX - 1;

/// A list: its first value, and the place of its last, whose next one is the second. Others are in the [`Lists`] that it was used with.
#[derive(Debug, Clone, Copy)]
pub struct List<T> {
    first: T,
    last: u32,
}

impl<T: Default> Default for List<T> {
    fn default() -> Self {
        Self { first: T::default(), last: NONE }
    }
}

impl<T> List<T> {
    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.last == NONE
    }

    /// The first value.
    pub fn first(&self) -> Option<&T> {
        (!self.is_empty()).then_some(&self.first)
    }
}

/// The values of many lists that are not their first ones.
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
    #[inline]
    pub fn push(&mut self, list: &mut List<T>, value: T) {
        self.held += 1;
        if list.is_empty() {
            *list = List { first: value, last: ALONE };
        } else {
            self.push_behind(list, value);
        }
    }

    #[inline(never)]
    fn push_behind(&mut self, list: &mut List<T>, value: T) {
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
        if list.last != ALONE {
            // The last one's next is the second of the list.
            self.nodes[place as usize].1 = std::mem::replace(&mut self.nodes[list.last as usize].1, place);
        }
        list.last = place;
    }

    /// The values of a list.
    pub fn iter<'a>(&'a self, list: &'a List<T>) -> impl Iterator<Item = &'a T> {
        let mut next = self.nodes.get(list.last as usize).map(|last| last.1);
        let behind = std::iter::from_fn(move || {
            let place = next?;
            let (value, after) = &self.nodes[place as usize];
            next = (place != list.last).then_some(*after);
            Some(value)
        });
        list.first().into_iter().chain(behind)
    }

    /// Takes the first value of a list.
    #[inline]
    pub fn pop(&mut self, list: &mut List<T>) -> Option<T> {
        let first = *list.first()?;
        self.held -= 1;
        if list.last == ALONE {
            list.last = NONE;
        } else {
            let last = list.last;
            list.first = self.take_behind(list, last);
        }
        Some(first)
    }

    /// Takes the first value of a list that suits.
    #[inline]
    pub fn remove(&mut self, list: &mut List<T>, suits: impl Fn(&T) -> bool) -> Option<T> {
        if suits(list.first()?) {
            return self.pop(list);
        }
        self.remove_behind(list, suits)
    }

    #[inline(never)]
    fn remove_behind(&mut self, list: &mut List<T>, suits: impl Fn(&T) -> bool) -> Option<T> {
        if list.last == ALONE {
            return None;
        }
        let mut before = list.last;
        loop {
            let place = self.nodes[before as usize].1;
            if suits(&self.nodes[place as usize].0) {
                self.held -= 1;
                return Some(self.take_behind(list, before));
            }
            if place == list.last {
                return None;
            }
            before = place;
        }
    }

    /// Takes the value behind a place of a list's ring.
    fn take_behind(&mut self, list: &mut List<T>, before: u32) -> T {
        let place = self.nodes[before as usize].1;
        let (value, next) = self.nodes[place as usize];
        self.nodes[before as usize].1 = next;
        if place == list.last {
            list.last = if before == place { ALONE } else { before };
        }
        self.nodes[place as usize].1 = std::mem::replace(&mut self.free, place);
        value
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
            assert_eq!(list.first(), expected.front());
            assert!(values.iter(list).eq(expected.iter()));
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
