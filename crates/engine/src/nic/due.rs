//! Data whose granted time comes: sent in the order of those times, ahead of all that has to ask or to speculate.
use super::directory::Directory;
use super::node::address;
use super::queue::SendQueue;
use crate::core::Tick;
use crate::core::table::Table;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZero;

/// The send queues of an endpoint with a packet to send again, by the time of the first; ties go by destination.
#[derive(Default)]
pub struct Due {
    times: BinaryHeap<Reverse<(Tick, u32, u32)>>,
}

impl Due {
    /// Something was added to a queue's packets to send again, or taken from them. Those that may be dropped again are in no hurry.
    pub fn note<Q>(&mut self, number: u32, queue: &mut SendQueue<Q>) {
        let Some(due) = queue.due() else { return };
        if queue.noted.is_none_or(|noted| due.at < noted.get()) {
            let at = due.at;
            queue.noted = Some(NonZero::new(at).expect("law broken: a packet is due before the first"));
            self.times.push(Reverse((at, queue.dst, number)));
        }
    }

    /// The queue whose time came first, if one has come; it stays the first until it is taken.
    pub(super) fn first<Q>(
        &mut self,
        queues: &Table<SendQueue<Q>>,
        directory: &Directory,
        now: Tick,
    ) -> Option<u32> {
        while let Some(&Reverse((at, dst, number))) = self.times.peek() {
            if at > now {
                return None;
            }
            let queue = &queues[number];
            if queue.noted == NonZero::new(at) && directory.find(address(dst, queue.grade)) == Some(number) {
                return Some(number);
            }
            // A packet with an earlier time was added later; the queue may be forgotten, and another's by now.
            self.times.pop();
        }
        None
    }

    /// Takes the first queue out.
    pub fn take<Q>(&mut self, queues: &mut Table<SendQueue<Q>>) {
        if let Some(Reverse((_, _, number))) = self.times.pop() {
            queues[number].noted = None;
        }
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

    #[test]
    fn the_next_time_may_stand_behind_one_that_has_come() {
        let due = Due { times: [(5, 0, 0), (9, 1, 1)].map(Reverse).into() };
        assert_eq!([4, 5, 8, 9].map(|now| due.next(now)), [Some(5), Some(9), Some(9), None]);
    }
}
