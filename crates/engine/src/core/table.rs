//! Records by their 32-bit number.
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// A vector whose elements are known by 32-bit numbers, as ports, packets and queues are.
#[derive(Debug, Clone)]
pub struct Table<T>(Vec<T>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for Table<T> {
    fn from(records: Vec<T>) -> Self {
        Self(records)
    }
}

impl<T> FromIterator<T> for Table<T> {
    fn from_iter<I: IntoIterator<Item = T>>(records: I) -> Self {
        Self(records.into_iter().collect())
    }
}

impl<T> Index<u32> for Table<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, at: u32) -> &T {
        &self.0[at as usize]
    }
}

impl<T> IndexMut<u32> for Table<T> {
    #[inline(always)]
    fn index_mut(&mut self, at: u32) -> &mut T {
        &mut self.0[at as usize]
    }
}

impl<T> Deref for Table<T> {
    type Target = Vec<T>;
    #[inline(always)]
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Table<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}
