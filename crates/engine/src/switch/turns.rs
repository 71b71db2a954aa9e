//! Which of the queues in front of a channel sends next.
use super::bits::Set;
use super::parameters::Arbitration;
use crate::core::fabric::Fabric;

/// The queues of an output that hold packets, by virtual channel, and the classes that these are of.
pub struct Queues<'a, const V: usize> {
    /// Those that hold packets.
    pub queued: Set<V>,
    /// Where round robin goes on.
    pub turn: usize,
    /// Class of every virtual channel; the lower the number, the better.
    pub class_of: &'a [u8; 256],
    /// Virtual channels of every class, numbered by class.
    pub class_sets: &'a [Set<V>],
}

impl<const V: usize> Queues<'_, V> {
    /// The queue whose first packet goes next: of the best class that has credit, and in it the next in turn or the one of the
    /// least rank; of equals, the next in turn.
    #[inline(always)]
    pub fn next<R: PartialOrd>(
        &self,
        fabric: &mut Fabric,
        port: u32,
        arbitration: Arbitration,
        rank: impl Fn(&Fabric, u32) -> R,
    ) -> Option<u8> {
        let mut rest = self.queued;
        while let Some(lowest) = rest.first() {
            let class = &self.class_sets[self.class_of[lowest] as usize];
            let candidates = rest.and(class);
            rest = rest.without(class);
            let found = if arbitration == Arbitration::RoundRobin || candidates.is_single() {
                self.around(&candidates).find(|&vc| affords(fabric, port, vc))
            } else {
                self.least(&candidates, fabric, port, &rank)
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The candidates, from the one whose turn it is on.
    #[inline(always)]
    fn around(&self, candidates: &Set<V>) -> impl Iterator<Item = u8> {
        let candidates = *candidates;
        let first = candidates.next_from(self.turn);
        let after = move |&vc: &usize| candidates.next_from(vc + 1).filter(|next| Some(*next) != first);
        std::iter::successors(first, after).map(|vc| vc as u8)
    }

    #[inline(never)]
    fn least<R: PartialOrd>(
        &self,
        candidates: &Set<V>,
        fabric: &mut Fabric,
        port: u32,
        rank: &impl Fn(&Fabric, u32) -> R,
    ) -> Option<u8> {
        let mut best = None::<(R, u8)>;
        for vc in self.around(candidates) {
            if affords(fabric, port, vc) {
                let rank = rank(fabric, fabric.head(port, vc));
                if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                    best = Some((rank, vc));
                }
            }
        }
        best.map(|(_, vc)| vc)
    }
}

/// Whether the first packet of a queue has credit.
#[inline(always)]
fn affords(fabric: &mut Fabric, port: u32, vc: u8) -> bool {
    let head = fabric.head(port, vc);
    fabric.affords(port, vc, fabric.pool.hot[head].flits())
}
