//! Tables by small integer keys, with a hash that costs little.
use crate::rng::mix;
use std::collections::HashMap;

/// A hash table by integers, or tuples of them. Its order means nothing.
pub type Keyed<K, V> = HashMap<K, V, std::hash::BuildHasherDefault<Mixer>>;

/// Bytes held by a table: its entries, and a byte for the place of each.
pub fn memory<K, V>(table: &Keyed<K, V>) -> usize {
    table.capacity() * (size_of::<(K, V)>() + 1)
}

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
