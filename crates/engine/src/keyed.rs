//! Tables by integers, each value beside its key: as a rule one is found with a single look into memory, where the standard table
//! takes two. Ranks and endpoints by the thousand have one each, and none of them is in a cache when it is asked.
use crate::rng::mix;

/// What a table may go by.
pub trait Key: Copy + Eq {
    /// Not a key.
    const NONE: Self;
    /// Its bits.
    fn word(self) -> u64;
}

impl Key for u32 {
    const NONE: Self = Self::MAX;
    fn word(self) -> u64 {
        self.into()
    }
}

impl Key for u64 {
    const NONE: Self = Self::MAX;
    fn word(self) -> u64 {
        self
    }
}

/// A hash table by integers other than their largest. Its order means nothing.
#[derive(Debug, Clone)]
pub struct Keyed<K, V> {
    /// A power of two of places, or none. A key stands at its home, or behind it with no free place between.
    places: Vec<(K, V)>,
    held: usize,
}

impl<K, V> Default for Keyed<K, V> {
    fn default() -> Self {
        Self { places: Vec::new(), held: 0 }
    }
}

impl<K: Key, V: Default> Keyed<K, V> {
    /// The value of a key, if it has one.
    #[inline]
    pub fn get(&self, key: K) -> Option<&V> {
        self.find(key).ok().map(|at| &self.places[at].1)
    }

    /// The value of a key, which is a default one if it had none.
    #[inline]
    pub fn entry(&mut self, key: K) -> &mut V {
        let at = match self.find(key) {
            Ok(at) => at,
            Err(free) => self.occupy(key, free),
        };
        &mut self.places[at].1
    }

    /// Gives a key a value; returns the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(key) {
            Ok(at) => Some(std::mem::replace(&mut self.places[at].1, value)),
            Err(free) => {
                let at = self.occupy(key, free);
                self.places[at].1 = value;
                None
            }
        }
    }

    /// Takes the value of a key.
    pub fn remove(&mut self, key: K) -> Option<V> {
        let mut gap = self.find(key).ok()?;
        let value = std::mem::take(&mut self.places[gap].1);
        self.held -= 1;
        // Those behind move up, unless that would be before their home.
        let last = self.places.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & last;
            let other = self.places[at].0;
            if other == K::NONE {
                break;
            }
            if at.wrapping_sub(self.home(other)) & last >= at.wrapping_sub(gap) & last {
                self.places.swap(gap, at);
                gap = at;
            }
        }
        self.places[gap].0 = K::NONE;
        Some(value)
    }

    /// All keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.places.iter().filter(|(key, _)| *key != K::NONE).map(|(key, value)| (*key, value))
    }

    /// Values held.
    pub fn len(&self) -> usize {
        self.held
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Bytes held, without what values themselves hold elsewhere.
    pub fn memory(&self) -> usize {
        self.places.capacity() * size_of::<(K, V)>()
    }

    fn home(&self, key: K) -> usize {
        mix(0, key.word()) as usize & (self.places.len() - 1)
    }

    /// Where a key is, or the free place where it could be; any number if there are no places.
    #[inline(always)]
    fn find(&self, key: K) -> Result<usize, usize> {
        assert!(key != K::NONE, "law broken: a key that stands for none");
        if self.places.is_empty() {
            return Err(0);
        }
        let mut at = self.home(key);
        loop {
            match self.places[at].0 {
                found if found == key => return Ok(at),
                found if found == K::NONE => return Err(at),
                _ => at = (at + 1) & (self.places.len() - 1),
            }
        }
    }

    /// Gives a free place to a key that has none, here or in a larger table.
    fn occupy(&mut self, key: K, free: usize) -> usize {
        let mut free = free;
        if self.held >= self.places.len() / 4 * 3 {
            self.grow();
            free = self.find(key).expect_err("it has no place yet");
        }
        self.places[free].0 = key;
        self.held += 1;
        free
    }

    #[inline(never)]
    fn grow(&mut self) {
        let more = (self.places.len() * 2).max(4);
        let places = std::iter::repeat_with(|| (K::NONE, V::default())).take(more).collect();
        for (key, value) in std::mem::replace(&mut self.places, places) {
            if key != K::NONE {
                let at = self.find(key).expect_err("a key stands once");
                self.places[at] = (key, value);
            }
        }
    }
}

impl<K: Key, V: Default> FromIterator<(K, V)> for Keyed<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(values: I) -> Self {
        let mut table = Self::default();
        for (key, value) in values {
            table.insert(key, value);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use std::collections::HashMap;

    #[test]
    fn it_holds_what_the_standard_table_holds() {
        let mut stream = Stream::new(1, "keyed", "", 0);
        let (mut table, mut model) = (Keyed::<u32, u32>::default(), HashMap::<u32, u32>::new());
        for step in 0..40_000 {
            let key = stream.below(if step % 10_000 < 5000 { 12 } else { 700 });
            assert_eq!(table.get(key), model.get(&key));
            match stream.below(5) {
                0 => assert_eq!(table.insert(key, step), model.insert(key, step)),
                1 => {
                    *table.entry(key) += step;
                    *model.entry(key).or_default() += step;
                }
                _ if step % 2000 < 1000 => {
                    table.insert(key, step);
                    model.insert(key, step);
                }
                _ => assert_eq!(table.remove(key), model.remove(&key)),
            }
            assert_eq!((table.len(), table.is_empty()), (model.len(), model.is_empty()));
        }
        let (mut all, mut expected): (Vec<_>, Vec<_>) =
            (table.iter().map(|(key, &value)| (key, value)).collect(), model.into_iter().collect());
        all.sort_unstable();
        expected.sort_unstable();
        assert_eq!(all, expected);
        assert!(table.places.len() <= 1024, "places are used again");
    }
}
