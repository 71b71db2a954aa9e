//! The tags of a trace, and the numbers that messages have for them.
use super::{Graph, Label};
use crate::workload::mpi::wire::TAG_MAX;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Tags of a trace, numbered for each receiver in the order of their first use: messages have 15 bits for theirs.
#[derive(Debug, Default)]
pub struct Tags {
    /// By receiver and tag.
    numbers: BTreeMap<(u32, u32), u16>,
    /// How many a receiver has.
    counts: BTreeMap<u32, u16>,
}

impl Tags {
    /// The number of a tag of messages to a rank; none if it has too many.
    pub fn number(&mut self, receiver: u32, tag: u32) -> Option<Label> {
        let number = match self.numbers.entry((receiver, tag)) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(fresh) => {
                let count = self.counts.entry(receiver).or_default();
                if *count > TAG_MAX {
                    return None;
                }
                *count += 1;
                *fresh.insert(*count - 1)
            }
        };
        Some(Label::Tag(number))
    }

    /// Lets the ranks know the tags of their messages.
    pub fn name(self, graphs: &mut [Graph]) {
        let mut names: Vec<Vec<u32>> = graphs.iter().map(|_| Vec::new()).collect();
        for (&receiver, &count) in &self.counts {
            names[receiver as usize].resize(count.into(), 0);
        }
        for ((receiver, tag), number) in self.numbers {
            names[receiver as usize][number as usize] = tag;
        }
        graphs.iter_mut().zip(names).for_each(|(graph, names)| graph.name_tags(names));
    }

    /// That there are too many.
    pub const TOO_MANY: &str = "too many different tags of messages to one rank";
}
