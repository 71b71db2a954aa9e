//! Data whose granted time comes: sent in the order of those times, ahead of all that has to ask or to speculate.
use super::directory::Directory;
use super::queue::SendQueue;
use crate::core::Tick;
use crate::core::table::Table;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZero;

/// The send queues of an endpoint with a packet to send again, by the time of the first; ties go by [`Towards`](super::towards::Towards).
#[derive(Default)]
pub struct Due {
    times: BinaryHeap<Reverse<(Tick, u32, u32)>>,
}

impl Due {
    /// Something was added to a queue's packets to send again, or taken from them. Those that may be dropped again are in no hurry.
    pub fn note<Q>(&mut self, number: u32, queue: &mut SendQueue<Q>) {
        let first = queue.due().map(|due| due.at);
        let first = first.map(|at| NonZero::new(at).expect("law broken: a packet is due before the first"));
        let before = std::mem::replace(&mut queue.noted, first);
        if before == first {
            return;
        }
        // One that was sent in turn, while an earlier one of another queue lacked credit, is found later.
        if let Some(at) = before
            && self.times.peek() == Some(&Reverse((at.get(), queue.address, number)))
        {
            self.times.pop();
        }
        self.times.extend(first.map(|at| Reverse((at.get(), queue.address, number))));
    }

    /// The queue whose time came first, if one has come.
    pub(super) fn first<Q>(
        &mut self,
        queues: &Table<SendQueue<Q>>,
        directory: &Directory,
        now: Tick,
    ) -> Option<u32> {
        while let Some(&Reverse((at, address, number))) = self.times.peek() {
            if at > now {
                return None;
            }
            if queues[number].noted == NonZero::new(at) && directory.find(address) == Some(number) {
                return Some(number);
            }
            // What came first in its queue changed; that may be forgotten, and another's by now.
            self.times.pop();
        }
        None
    }

    /// The next time after `now`. There may be one behind a time that has come, where what is due lacks credit that others need not.
    pub fn next(&self, now: Tick) -> Option<Tick> {
        let Reverse((first, ..)) = self.times.peek()?;
        if *first > now {
            return Some(*first);
        }
        self.times.iter().map(|Reverse((at, ..))| *at).filter(|&at| at > now).min()
    }

    /// Whether a time has come.
    pub fn is_ready(&self, now: Tick) -> bool {
        self.times.peek().is_some_and(|Reverse((at, ..))| *at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::packet::Packet;
    use crate::nic::queue::Again;

    #[test]
    fn the_next_time_may_stand_behind_one_that_has_come() {
        let due = Due { times: [(5, 0, 0), (9, 1, 1)].map(Reverse).into() };
        assert_eq!([4, 5, 8, 9].map(|now| due.next(now)), [Some(5), Some(9), Some(9), None]);
    }

    #[test]
    fn a_queue_that_sent_in_turn_has_the_place_of_what_comes_next() {
        let (mut directory, mut due) = (Directory::default(), Due::default());
        let queue = |address, times: &[Tick]| {
            let mut queue = SendQueue::<()>::default();
            queue.address = address;
            times.iter().for_each(|&at| queue.again(Again { at, ..Again::sent(&Packet::default()) }));
            queue
        };
        let mut queues = Table::from(vec![queue(0, &[3, 9]), queue(1, &[5])]);
        for number in 0..2 {
            directory.add(number, number);
            due.note(number, &mut queues[number]);
        }
        assert_eq!([2, 9].map(|now| due.first(&queues, &directory, now)), [None, Some(0)]);
        queues[0].take_again(0, 1);
        due.note(0, &mut queues[0]);
        assert_eq!(due.first(&queues, &directory, 9), Some(1));
        assert_eq!([4, 8].map(|now| due.next(now)), [Some(5), Some(9)]);
    }
}
