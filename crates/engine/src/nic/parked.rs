//! Send queues that wait for credit, kept apart from those that need not: where packets are spread over many virtual channels, an
//! endpoint would else look at all that wait for a jammed one before every packet that it sends.
use super::at_source::Vcs;
use std::collections::VecDeque;

/// The parked send queues of an endpoint, by the virtual channels that their next packets could take.
#[derive(Debug, Default)]
pub(super) struct Parked {
    lists: Vec<(Vcs, VecDeque<u32>)>,
}

impl Parked {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.lists.iter().all(|(_, list)| list.is_empty())
    }

    /// A queue waits for credit on one of these channels, behind those that do already.
    pub(super) fn add(&mut self, vcs: Vcs, queue: u32) {
        match self.lists.iter_mut().find(|(known, _)| *known == vcs) {
            Some((_, list)) => list.push_back(queue),
            None => self.lists.push((vcs, VecDeque::from([queue]))),
        }
    }

    /// Of those that wait for the same channels, the first joins the round robin once one of them has credit for it.
    pub(super) fn release(&mut self, round: &mut VecDeque<u32>, has_credit: impl Fn(u8, u32) -> bool) {
        for (vcs, list) in &mut self.lists {
            if let Some(&first) = list.front()
                && vcs.any(|vc| has_credit(vc as u8, first))
            {
                round.extend(list.pop_front());
            }
        }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.lists.iter().map(|(_, list)| list.capacity() * size_of::<u32>()).sum()
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
        parked.release(&mut round, |_, queue| queue == 8);
        assert!(round.is_empty(), "8 waits behind 7");
        parked.release(&mut round, |vc, _| vc == 200);
        assert_eq!(round, [9]);
        parked.release(&mut round, |vc, _| vc == 3);
        assert_eq!(round, [9, 7]);
        parked.release(&mut round, |vc, _| vc == 3);
        parked.release(&mut round, |_, _| true);
        assert_eq!(round, [9, 7, 8, 10]);
        assert!(parked.is_empty());
    }
}
