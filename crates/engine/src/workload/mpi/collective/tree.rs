//! Broadcast, scatter and reduction along a binomial tree. Ranks are counted from the root; the parent of v is v without its lowest
//! set bit, so that a child of v is v + 2ᵏ for every 2ᵏ below that bit.
use super::{Me, Part, Step};
use std::ops::Range;

/// The tree around a rank.
struct Node {
    me: Me,
    root: u32,
    /// The rank counted from the root.
    number: u32,
}

impl Node {
    fn new(me: Me, root: u32) -> Self {
        Self { me, root, number: me.counted_from(root).rank }
    }

    /// These units, to or from a rank.
    fn part(&self, number: u32, units: Range<u32>) -> Option<Part> {
        let peer = (number + self.root) % self.me.ranks;
        Some(Part { peer, first: units.start, count: units.end - units.start })
    }

    fn whole(&self, number: u32) -> Option<Part> {
        self.part(number, 0..1)
    }

    /// The units of a rank other than the root and of those below it, if each rank has one.
    fn below(&self, number: u32) -> Range<u32> {
        number..(number + (1 << number.trailing_zeros())).min(self.me.ranks)
    }

    /// Receives from the parent, then sends to the children, the farthest first: the `units` of the one that gets them.
    fn down(&self, step: u32, units: impl Fn(u32) -> Range<u32>) -> Option<Step> {
        let received = u32::from(self.parent().is_some());
        if step < received {
            return Some(Step::new(0, None, self.part(self.parent()?, units(self.number))));
        }
        let child = self.children().rev().nth((step - received) as usize)?;
        Some(Step::new(0, self.part(child, units(child)), None))
    }

    fn parent(&self) -> Option<u32> {
        (self.number > 0).then(|| self.number & (self.number - 1))
    }

    /// The children, the nearest first.
    fn children(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        let bits = if self.number == 0 { u32::BITS - 1 } else { self.number.trailing_zeros() };
        let top = u32::BITS - (self.me.ranks - 1 - self.number).leading_zeros();
        (0..bits.min(top)).map(|bit| self.number + (1 << bit))
    }
}

/// Broadcast: all data to all.
pub(super) fn down(me: Me, root: u32, step: u32) -> Option<Step> {
    Node::new(me, root).down(step, |_| 0..1)
}

/// Scatter: a unit to each rank, by its number counted from the root.
pub(super) fn scatter(me: Me, root: u32, step: u32) -> Option<Step> {
    let node = Node::new(me, root);
    node.down(step, |number| node.below(number))
}

/// How many steps a rank takes in a broadcast or a scatter.
pub(super) fn steps(me: Me, root: u32) -> u32 {
    let node = Node::new(me, root);
    u32::from(node.parent().is_some()) + node.children().count() as u32
}

/// Reduction: receives from the children, the nearest first, then sends to the parent.
pub(super) fn up(me: Me, root: u32, step: u32) -> Option<Step> {
    let node = Node::new(me, root);
    let children = node.children().count() as u32;
    if step < children {
        let child = node.children().nth(step as usize)?;
        return Some(Step::new(0, None, node.whole(child)).adding());
    }
    let parent = if step == children { node.parent()? } else { return None };
    Some(Step::new(0, node.whole(parent), None))
}
