//! The best of several choices.
use super::Senses;

/// The choice of least weight, and of equals one at random: sampled in one pass, so that nothing is kept but the best.
pub(super) struct Least<T> {
    best: Option<(T, u64)>,
    equals: u32,
}

impl<T: Copy> Least<T> {
    pub(super) fn new() -> Self {
        Self { best: None, equals: 0 }
    }

    /// Weighs a choice.
    pub(super) fn offer(&mut self, choice: T, weight: u64, senses: &mut dyn Senses) {
        match self.best {
            Some((_, least)) if weight > least => return,
            Some((_, least)) if weight == least => {
                self.equals += 1;
                if !senses.is_first_of(self.equals) {
                    return;
                }
            }
            _ => self.equals = 1,
        }
        self.best = Some((choice, weight));
    }

    /// The best choice with its weight; none if there was no choice.
    pub(super) fn best(&self) -> Option<(T, u64)> {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Fixed;
    use super::*;

    #[test]
    fn of_equals_each_has_the_same_chance() {
        let best = |draws: &[u32]| {
            let mut senses = Fixed { draws: draws.iter().copied().collect(), ..Fixed::default() };
            let mut least = Least::new();
            for (choice, weight) in [('x', 9), ('a', 5), ('y', 6), ('b', 5), ('c', 5)] {
                least.offer(choice, weight, &mut senses);
            }
            assert!(senses.draws.is_empty());
            least.best().unwrap()
        };
        // The second replaces the first with one half, the third whichever it is with one third.
        assert_eq!(
            [[1, 2], [1, 1], [0, 1], [1, 0], [0, 0]].map(|draws| best(&draws).0),
            ['a', 'a', 'b', 'c', 'c']
        );
        assert_eq!(best(&[1, 1]).1, 5);
    }
}
