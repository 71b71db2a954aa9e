//! Which of the queues in front of a channel sends next.
use super::bits::Set;
use super::parameters::Arbitration;
use crate::core::fabric::Fabric;
use crate::core::plan::{VCS_MAX, VirtualChannels};

/// Most traffic classes that a switch tells apart.
pub const CLASSES_MAX: usize = 8;

/// Where the round robin over the queues of a channel goes on: in each class by itself, so that packets of one class that go between those
/// of another leave its order as it is.
pub type ChannelTurns = [u8; CLASSES_MAX];

/// The turns after a packet of this class from the queue of a virtual channel.
#[inline(always)]
pub fn advance(turns: &mut ChannelTurns, class: u8, vc: u8) {
    // After the last of 256 comes the first.
    turns[class as usize] = vc.wrapping_add(1);
}

/// The class of each virtual channel.
pub fn class_of(vcs: &VirtualChannels) -> Box<[u8; VCS_MAX]> {
    let mut class_of = Box::new([0; VCS_MAX]);
    class_of[..vcs.count()].copy_from_slice(&vcs.class_of);
    class_of
}

/// The virtual channels of each class.
pub fn class_sets<const V: usize>(vcs: &VirtualChannels) -> [Set<V>; CLASSES_MAX] {
    let mut sets = [Set::default(); CLASSES_MAX];
    for (vc, &class) in vcs.class_of.iter().enumerate() {
        sets[class as usize].insert(vc);
    }
    sets
}

/// The queues of an output that hold packets, by virtual channel, and the classes that these are of.
pub struct Queues<'a, const V: usize> {
    /// Those that hold packets.
    pub queued: Set<V>,
    /// Where round robin goes on.
    pub turns: &'a ChannelTurns,
    /// Class of every virtual channel; the lower the number, the better.
    pub class_of: &'a [u8; VCS_MAX],
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
        rank: impl Fn(&Fabric, u32) -> R + Copy,
    ) -> Option<u8> {
        if self.queued.is_single() {
            return self.queued.first().map(|vc| vc as u8).filter(|&vc| affords(fabric, port, vc));
        }
        let mut rest = self.queued;
        while let Some(lowest) = rest.first() {
            let number = self.class_of[lowest] as usize;
            let class = &self.class_sets[number];
            let turn = self.turns[number].into();
            let candidates = rest.and(class);
            rest = rest.without(class);
            let found = if arbitration == Arbitration::RoundRobin || candidates.is_single() {
                around(&candidates, turn).find(|&vc| affords(fabric, port, vc))
            } else {
                least(around(&candidates, turn), fabric, port, rank)
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// The candidates, from the one whose turn it is on.
#[inline(always)]
fn around<const V: usize>(candidates: &Set<V>, turn: usize) -> impl Iterator<Item = u8> {
    let candidates = *candidates;
    let first = candidates.next_from(turn);
    let after = move |&vc: &usize| candidates.next_from(vc + 1).filter(|next| Some(*next) != first);
    std::iter::successors(first, after).map(|vc| vc as u8)
}

/// The candidate with credit of the least rank; of equals, the first.
#[inline(never)]
fn least<R: PartialOrd>(
    candidates: impl Iterator<Item = u8>,
    fabric: &mut Fabric,
    port: u32,
    rank: impl Fn(&Fabric, u32) -> R,
) -> Option<u8> {
    let mut best = None::<(R, u8)>;
    for vc in candidates {
        if affords(fabric, port, vc) {
            let rank = rank(fabric, fabric.head(port, vc));
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, vc));
            }
        }
    }
    best.map(|(_, vc)| vc)
}

/// Whether the first packet of a queue has credit.
#[inline(always)]
fn affords(fabric: &mut Fabric, port: u32, vc: u8) -> bool {
    let head = fabric.head(port, vc);
    fabric.affords(port, vc, fabric.pool.hot[head].flits())
}
