//! Send queues that wait for credit, kept apart from those that need not: where packets are spread over many virtual channels, an
//! endpoint would else look at all that wait for a jammed one before every packet that it sends.
use super::at_source::Vcs;
use std::collections::VecDeque;

/// The parked send queues of an endpoint, by the virtual channels that their next packets could take.
#[derive(Debug, Default)]
pub(super) struct Parked {
    lists: Vec<List>,
}

/// Send queues that wait for credit on the same channels, in order.
#[derive(Debug)]
struct List {
    vcs: Vcs,
    queues: VecDeque<u32>,
    /// The first of them is in the round robin too, since there is credit for it.
    called: bool,
}

impl Parked {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.lists.iter().all(|list| list.queues.is_empty())
    }

    /// Whether a queue has to wait behind others for these channels, though there may be credit for it: what came later would
    /// else take the credit that a larger packet waits for.
    pub(super) fn are_ahead(&self, vcs: &Vcs, queue: u32) -> bool {
        let list = self.lists.iter().find(|list| list.vcs == *vcs);
        list.is_some_and(|list| list.queues.front().is_some_and(|&first| first != queue))
    }

    /// A queue waits for credit on one of these channels, behind those that do already. One that was called keeps its place.
    pub(super) fn add(&mut self, vcs: Vcs, queue: u32) {
        let at = self.lists.iter().position(|list| list.vcs == vcs).unwrap_or_else(|| {
            self.lists.push(List { vcs, queues: VecDeque::new(), called: false });
            self.lists.len() - 1
        });
        let list = &mut self.lists[at];
        if list.called && list.queues.front() == Some(&queue) {
            list.called = false;
        } else {
            list.queues.push_back(queue);
        }
    }

    /// Of those that wait for the same channels, the first joins the round robin once one of them has credit for it. It keeps its place
    /// until it has gone, if it waits for one channel only (`keeps`): of several it may want another than the one that has credit, and
    /// those behind it this one.
    pub(super) fn call(
        &mut self,
        round: &mut VecDeque<u32>,
        keeps: bool,
        has_credit: impl Fn(u8, u32) -> bool,
    ) {
        for List { vcs, queues, called } in &mut self.lists {
            if let Some(&first) = queues.front()
                && !*called
                && vcs.any(|vc| has_credit(vc as u8, first))
            {
                round.push_back(first);
                *called = keeps;
                if !keeps {
                    queues.pop_front();
                }
            }
        }
    }

    /// A queue of the round robin waits for credit no more.
    pub(super) fn leave(&mut self, queue: u32) {
        let first = |list: &&mut List| list.called && list.queues.front() == Some(&queue);
        if let Some(list) = self.lists.iter_mut().find(first) {
            list.queues.pop_front();
            list.called = false;
        }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.lists.iter().map(|list| list.queues.capacity() * size_of::<u32>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vcs(of: &[usize]) -> Vcs {
        let mut set = Vcs::default();
        of.iter().for_each(|&vc| set.insert(vc));
        set
    }

    #[test]
    fn one_queue_for_each_set_of_channels_goes_on_at_a_time_in_order() {
        let (mut parked, mut round) = (Parked::default(), VecDeque::new());
        for (of, queue) in [(&[3][..], 7), (&[3], 8), (&[3, 200], 9), (&[4], 10)] {
            parked.add(vcs(of), queue);
        }
        parked.call(&mut round, true, |_, queue| queue == 8);
        assert!(round.is_empty(), "8 waits behind 7");
        parked.call(&mut round, true, |vc, _| vc == 200);
        assert_eq!(round, [9]);
        parked.call(&mut round, true, |vc, _| vc == 3);
        assert_eq!(round, [9, 7]);
        assert!(parked.are_ahead(&vcs(&[3]), 8) && parked.are_ahead(&vcs(&[3]), 11));
        assert!(!parked.are_ahead(&vcs(&[3]), 7) && !parked.are_ahead(&vcs(&[5]), 11));
        parked.call(&mut round, true, |vc, _| vc == 3);
        assert_eq!(round, [9, 7], "7 has not gone yet");
        // It found no credit after all, and stays ahead of 8.
        parked.add(vcs(&[3]), 7);
        parked.call(&mut round, true, |vc, _| vc == 3);
        assert_eq!(round, [9, 7, 7]);
        [9, 7].iter().for_each(|&queue| parked.leave(queue));
        parked.call(&mut round, true, |_, _| true);
        assert_eq!(round, [9, 7, 7, 8, 10]);
        [8, 10].iter().for_each(|&queue| parked.leave(queue));
        assert!(parked.is_empty());
        (1..3).for_each(|queue| parked.add(vcs(&[3, 4]), queue));
        round.clear();
        (0..2).for_each(|_| parked.call(&mut round, false, |vc, _| vc == 4));
        assert_eq!(round, [1, 2]);
        assert!(parked.is_empty());
    }
}
