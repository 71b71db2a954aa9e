//! Broadcast and reduction along a binomial tree. Ranks are counted from the root; the parent of v is v without its lowest
//! set bit, so that a child of v is v + 2ᵏ for every 2ᵏ below that bit.
use super::{Me, Part, Step};

/// The tree around a rank.
struct Node {
    me: Me,
    root: u32,
    /// The rank counted from the root.
    number: u32,
}

impl Node {
    fn new(me: Me, root: u32) -> Self {
        Self { me, root, number: (me.rank + me.ranks - root) % me.ranks }
    }

    fn whole(&self, number: u32) -> Option<Part> {
        Some(Part { peer: (number + self.root) % self.me.ranks, first: 0, count: 1 })
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

/// Broadcast: receives from the parent, then sends to the children, the farthest first.
pub(super) fn down(me: Me, root: u32, step: u32) -> Option<Step> {
    let node = Node::new(me, root);
    let received = u32::from(node.parent().is_some());
    if step < received {
        return Some(Step::new(0, None, node.whole(node.parent()?)));
    }
    let child = node.children().rev().nth((step - received) as usize)?;
    Some(Step::new(0, node.whole(child), None))
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
