//! Batch means: how sure a mean of a single run is.
use crate::core::Tick;

/// Batches of a window.
const BATCHES: usize = 10;

/// Batches that must have values for an interval.
const LEAST: usize = 5;

/// Student's t at 97.5 % for 4 to 9 degrees of freedom.
const T: [f64; BATCHES - LEAST + 1] = [2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/// Cuts a window into equal parts.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    start: Tick,
    length: Tick,
}

impl Cut {
    /// The parts of a window.
    pub fn new((start, end): (Tick, Tick)) -> Self {
        Self { start, length: (end - start).div_ceil(BATCHES as Tick).max(1) }
    }

    /// The batches that lie whole within a span of time.
    fn within(&self, (from, to): (Tick, Tick)) -> impl Iterator<Item = usize> {
        let (start, length) = (self.start, self.length);
        let ends = move |batch: usize| (start + batch as Tick * length, start + (batch as Tick + 1) * length);
        (0..BATCHES).filter(move |&batch| from <= ends(batch).0 && ends(batch).1 <= to)
    }

    /// The batch of a time in the window.
    #[inline]
    pub fn batch(&self, at: Tick) -> usize {
        (((at - self.start) / self.length) as usize).min(BATCHES - 1)
    }
}

/// Number and sum of what was measured in each batch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Batches([(u64, u64); BATCHES]);

impl Batches {
    /// Takes in a value of a batch.
    #[inline]
    pub fn record(&mut self, batch: usize, value: u64) {
        self.0[batch].0 += 1;
        self.0[batch].1 += value;
    }

    /// Adds what another partition measured.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
    }

    /// Half of the 95 % confidence interval of the mean of all values, from the ratios of sums to numbers; none if fewer than five
    /// batches have values.
    pub fn half_of_mean(&self) -> Option<f64> {
        let numbers = self.0.iter().map(|&(number, _)| number as f64).sum::<f64>();
        let mean = self.0.iter().map(|&(_, sum)| sum as f64).sum::<f64>() / numbers;
        let used = self.0.iter().filter(|&&(number, _)| number > 0);
        let errors = used.map(|&(number, sum)| sum as f64 - mean * number as f64);
        spread(&Vec::from_iter(errors)).map(|half| half / numbers)
    }

    /// Half of the 95 % confidence interval of the sum per tick over a span of time, from the batches whole within it; none if fewer than
    /// five of them have values.
    pub fn half_of_rate(&self, cut: &Cut, span: (Tick, Tick)) -> Option<f64> {
        if cut.within(span).filter(|&batch| self.0[batch].0 > 0).count() < LEAST {
            return None;
        }
        let rates = Vec::from_iter(cut.within(span).map(|batch| self.0[batch].1 as f64 / cut.length as f64));
        let (count, sum) = (rates.len() as f64, rates.iter().sum::<f64>());
        spread(&Vec::from_iter(rates.iter().map(|rate| rate - sum / count))).map(|half| half / count)
    }
}

/// Half of the confidence interval of a sum of independent errors.
fn spread(errors: &[f64]) -> Option<f64> {
    let count = errors.len();
    let t = T.get(count.checked_sub(LEAST)?)?;
    let squares = errors.iter().map(|error| error * error).sum::<f64>();
    Some(t * (squares * count as f64 / (count - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn a_window_has_ten_equal_batches() {
        let cut = Cut::new((100, 200));
        assert_eq!([100, 109, 110, 199].map(|at| cut.batch(at)), [0, 0, 1, 9]);
        let uneven = Cut::new((0, 95));
        assert_eq!([9, 10, 94].map(|at| uneven.batch(at)), [0, 1, 9]);
    }

    #[test]
    fn the_interval_of_independent_values_holds_their_mean_as_often_as_it_says() {
        let (mut held, mut sums, runs) = (0, 0, 4000);
        for run in 0..runs {
            let mut random = Stream::new(run, "batches", "", 0);
            let mut batches = Batches::default();
            for value in 0..300 {
                // Even numbers of 0 to 98: a mean of 49. Some batches have three times as many values as others.
                batches.record(
                    [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9][value % 12],
                    2 * u64::from(random.below(50)),
                );
            }
            let sum = batches.0.iter().map(|&(_, sum)| sum).sum::<u64>() as f64;
            held += u64::from((sum / 300.0 - 49.0).abs() <= batches.half_of_mean().unwrap());
            let mut even = Batches::default();
            (0..300).for_each(|value| even.record(value % 10, 2 * u64::from(random.below(50))));
            let sum = even.0.iter().map(|&(_, sum)| sum).sum::<u64>() as f64;
            let half = even.half_of_rate(&Cut::new((0, 1000)), (0, 1000)).unwrap();
            sums += u64::from((sum / 1000.0 - 14.7).abs() <= half);
        }
        let share = |count: u64| count as f64 / runs as f64;
        assert!((0.92..0.975).contains(&share(held)), "{}", share(held));
        assert!((0.935..0.965).contains(&share(sums)), "{}", share(sums));
    }

    #[test]
    fn few_batches_tell_nothing() {
        let mut batches = Batches::default();
        (0..4).for_each(|batch| batches.record(batch, 7));
        assert_eq!(batches.half_of_mean(), None);
        batches.record(4, 7);
        assert_eq!(batches.half_of_mean(), Some(0.0));
        let mut more = Batches::default();
        more.record(9, 7);
        batches.merge(&more);
        assert_eq!(batches.0[9], (1, 7));
    }

    #[test]
    fn what_lies_beyond_the_measured_span_does_not_count() {
        let (cut, mut batches) = (Cut::new((100, 200)), Batches::default());
        (1..7).for_each(|batch| batches.record(batch, 50));
        assert_eq!(batches.half_of_rate(&cut, (105, 172)), Some(0.0));
        assert_eq!(batches.half_of_rate(&cut, (105, 159)), None, "four batches are whole");
        let mut burst = Batches::default();
        (1..5).for_each(|batch| burst.record(batch, 50));
        assert_eq!(burst.half_of_rate(&cut, (100, 200)), None, "four batches have values");
        assert!(batches.half_of_rate(&cut, (100, 200)).unwrap() > 1.0);
    }
}
