//! Messages that are divided among the queue pairs of two ranks: each part goes as a message of its own, and the ranks hear of the last.
use std::collections::HashMap;

/// The flits of each of so many parts of a message: whole packets, the first parts longer by one if they do not come out even, the last
/// packet as long as that of the whole. None if there are more parts than packets: then it goes whole.
pub fn divided(flits: u32, packet: u32, parts: u32) -> Option<impl Iterator<Item = u32>> {
    let packets = flits.div_ceil(packet);
    let before = move |part: u32| (part * (packets / parts) + part.min(packets % parts)) * packet;
    let part = move |part: u32| before(part + 1).min(flits) - before(part);
    (packets >= parts).then(|| (0..parts).map(part))
}

/// Which message: a rank here by its place in the partition, the number of the one at the other end, and the tag, which no two messages
/// under way between them have in common.
pub type Name = (u32, u32, u32);

/// How many parts of the messages have come to a point, and their flits.
#[derive(Debug, Default)]
pub struct Parts(HashMap<Name, [u32; 2]>);

impl Parts {
    /// Notes a part of so many flits; returns the flits of all if it is the last one.
    pub fn note(&mut self, name: Name, parts: u32, flits: u32) -> Option<u32> {
        let [noted, sum] = self.0.entry(name).or_default();
        (*noted, *sum) = (*noted + 1, *sum + flits);
        if *noted < parts {
            return None;
        }
        self.0.remove(&name).map(|[_, sum]| sum)
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.0.capacity() * size_of::<(Name, [u32; 2])>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_divided_evenly_in_whole_packets() {
        for flits in 1..200 {
            for (packet, parts) in [(1, 2), (4, 3), (7, 5), (64, 2)] {
                let Some(cut) = divided(flits, packet, parts) else {
                    assert!(flits.div_ceil(packet) < parts);
                    continue;
                };
                let cut: Vec<_> = cut.collect();
                assert_eq!(cut.len() as u32, parts);
                assert_eq!(cut.iter().sum::<u32>(), flits);
                assert!(cut[..cut.len() - 1].iter().all(|part| part % packet == 0), "{flits}: {cut:?}");
                let [least, most] =
                    [cut.iter().min(), cut.iter().max()].map(|part| part.unwrap().div_ceil(packet));
                assert!(least > 0 && most - least <= 1, "{flits}: {cut:?}");
            }
        }
    }

    #[test]
    fn the_last_part_is_told() {
        let mut parts = Parts::default();
        let told =
            [(1, 2, 3), (1, 2, 4), (1, 2, 3), (1, 2, 3), (1, 2, 4)].map(|name| parts.note(name, 3, name.2));
        assert_eq!(told, [None, None, None, Some(9), None]);
        assert_eq!(parts.note((1, 2, 3), 3, 5), None);
    }
}
