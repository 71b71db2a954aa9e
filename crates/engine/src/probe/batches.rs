//! Batch means: how sure a mean of a single run is, and whether what is measured stays as it is.
use crate::core::Tick;

/// Batches of a window.
const BATCHES: usize = 40;

/// Parts of a window by which trends are told: fewer, since what one says of the next matters there.
const TENTHS: usize = 10;

/// The least number of independent values that give an interval.
const LEAST: f64 = 5.0;

/// Standard errors that chance does not exceed, for all practical purposes, and how many halves of a 95 % confidence interval they are.
const ERRORS: f64 = 3.0;
const SURELY: f64 = 1.5;

/// Cuts a window into parts that differ by a tick at most.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    start: Tick,
    /// Of all batches.
    length: Tick,
    grows: bool,
}

impl Cut {
    /// The parts of a window.
    pub fn new((start, end): (Tick, Tick)) -> Self {
        Self { start, length: (end - start).max(1), grows: false }
    }

    /// Those of a window of which it is not known when it will end: of a tick each, until they become longer.
    pub fn growing(start: Tick) -> Self {
        Self { start, length: BATCHES as Tick, grows: true }
    }

    /// The batch of a time in the window; one that is too late for these has none of them.
    #[inline]
    pub fn batch(&self, at: Tick) -> usize {
        // Times have 43 bits.
        ((at - self.start) * BATCHES as Tick / self.length) as usize
    }

    /// Whether they become longer.
    #[inline]
    pub fn grows(&self) -> bool {
        self.grows
    }

    /// Whether a time in the window is too late for these batches, so that each must become twice as long.
    pub fn is_over(&self, at: Tick) -> bool {
        self.grows && self.batch(at) >= BATCHES
    }

    /// Two batches become one.
    pub fn pair_up(&mut self) {
        self.length *= 2;
    }

    /// Where a batch begins.
    fn border(&self, batch: usize) -> Tick {
        self.start + (u128::from(self.length) * batch as u128).div_ceil(BATCHES as u128) as Tick
    }

    /// The batches that lie whole within a span of time, with their lengths.
    fn within(&self, (from, to): (Tick, Tick)) -> impl Iterator<Item = (usize, f64)> {
        let ends = move |batch| (self.border(batch), self.border(batch + 1));
        let whole = move |&(_, (start, end)): &(usize, (Tick, Tick))| from <= start && end <= to;
        let all = (0..BATCHES).map(move |batch| (batch, ends(batch))).filter(whole);
        all.map(|(batch, (start, end))| (batch, (end - start) as f64))
    }
}

/// Number and sum of what was measured in each batch.
#[derive(Debug, Clone, Copy)]
pub struct Batches([(u64, u64); BATCHES]);

impl Default for Batches {
    fn default() -> Self {
        Self([(0, 0); BATCHES])
    }
}

/// What began and is not over: how many, and the sum of the ticks at which they began. Partitions count what begins and ends in them, so
/// only their sum tells.
#[derive(Debug, Clone, Copy, Default)]
pub struct Open {
    count: u64,
    starts: u128,
}

impl Open {
    /// So many begin at a tick.
    #[inline]
    pub fn begin(&mut self, count: u64, start: Tick) {
        self.count = self.count.wrapping_add(count);
        self.starts = self.starts.wrapping_add(u128::from(count) * u128::from(start));
    }

    /// One that began at a tick is over.
    #[inline]
    pub fn end(&mut self, start: Tick) {
        self.count = self.count.wrapping_sub(1);
        self.starts = self.starts.wrapping_sub(start.into());
    }

    /// Adds what another partition counted, or what began at another time.
    pub fn merge(&mut self, other: Self) {
        self.count = self.count.wrapping_add(other.count);
        self.starts = self.starts.wrapping_add(other.starts);
    }

    /// How many are not over.
    pub fn count(self) -> u64 {
        self.count
    }

    /// The ages that they have reached by a tick, in all.
    pub fn ages(self, end: Tick) -> u128 {
        if self.count == 0 {
            0
        } else {
            (u128::from(self.count) * u128::from(end)).saturating_sub(self.starts)
        }
    }
}

/// The same by batches.
pub type OpenBatches = [Open; BATCHES];

/// Two batches become one.
pub fn pair_up<T: Copy + Default>(batches: &mut [T; BATCHES], sum: impl Fn(&mut T, T)) {
    for at in 0..BATCHES {
        let mut pair = T::default();
        batches.iter().skip(2 * at).take(2).for_each(|&one| sum(&mut pair, one));
        batches[at] = pair;
    }
}

/// In none of which anything began.
pub const NONE_OPEN: OpenBatches = [Open { count: 0, starts: 0 }; BATCHES];

impl Batches {
    /// The same with those that are not over, by the ages that they have reached by a tick.
    pub fn aged(&self, open: &OpenBatches, end: Tick) -> Self {
        let mut aged = *self;
        for (batch, open) in aged.0.iter_mut().zip(open) {
            batch.0 += open.count();
            batch.1 += open.ages(end) as u64;
        }
        aged
    }

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

    /// Two batches become one.
    pub fn pair_up(&mut self) {
        pair_up(&mut self.0, |pair, one| *pair = (pair.0 + one.0, pair.1 + one.1));
    }

    /// The sums of so many equal parts of a span of time, by the batches whole within it: number and sum of each.
    fn parts(&self, count: usize, cut: &Cut, span: (Tick, Tick)) -> impl Iterator<Item = (u64, u64)> {
        let whole = Vec::from_iter(cut.within(span).map(|(batch, _)| self.0[batch]));
        (0..count).map(move |part| {
            let [from, to] = [part, part + 1].map(|border| border * whole.len() / count);
            whole[from..to].iter().fold((0, 0), |sum, batch| (sum.0 + batch.0, sum.1 + batch.1))
        })
    }

    /// The sums of the two halves of a span of time.
    pub fn halves(&self, cut: &Cut, span: (Tick, Tick)) -> [u64; 2] {
        let mut sums = self.parts(2, cut, span).map(|(_, sum)| sum);
        [(); 2].map(|()| sums.next().unwrap_or(0))
    }

    /// Half of the 95 % confidence interval of the mean of all values, from the ratios of sums to numbers; none where too much of what
    /// happens in a batch lasts into the next, or fewer than five have values.
    pub fn half_of_mean(&self) -> Option<f64> {
        let numbers = self.0.iter().map(|&(number, _)| number as f64).sum::<f64>();
        let mean = self.0.iter().map(|&(_, sum)| sum as f64).sum::<f64>() / numbers;
        let used = self.0.iter().filter(|&&(number, _)| number > 0);
        let errors = used.map(|&(number, sum)| sum as f64 - mean * number as f64);
        half_of_sum(&Vec::from_iter(errors)).map(|half| half / numbers)
    }

    /// Half of the 95 % confidence interval of the sum per tick over a span of time, from the batches whole within it; none as above.
    pub fn half_of_rate(&self, cut: &Cut, span: (Tick, Tick)) -> Option<f64> {
        let parts = Vec::from_iter(cut.within(span));
        if (parts.iter().filter(|&&(batch, _)| self.0[batch].0 > 0).count() as f64) < LEAST {
            return None;
        }
        let rates = Vec::from_iter(parts.iter().map(|&(batch, length)| self.0[batch].1 as f64 / length));
        let (count, sum) = (rates.len() as f64, rates.iter().sum::<f64>());
        half_of_sum(&Vec::from_iter(rates.iter().map(|rate| rate - sum / count))).map(|half| half / count)
    }

    /// What the mean was in the first three tenths with values and in the last three, if it went up or down by a tenth at least, and more
    /// steadily than chance has it (H. B. Mann, “Nonparametric tests against trend”, Econometrica 1945, at three standard errors).
    pub fn trend(&self, cut: &Cut, span: (Tick, Tick)) -> Option<(f64, f64)> {
        let tenths = self.parts(TENTHS, cut, span).map(|(number, sum)| (number as f64, sum as f64));
        let used = Vec::from_iter(tenths.filter(|&(number, _)| number > 0.0));
        let mean = |parts: &[(f64, f64)]| {
            let of = |pick: fn(&(f64, f64)) -> f64| parts.iter().map(pick).sum::<f64>();
            of(|part| part.1) / of(|part| part.0)
        };
        let count = used.len();
        let (first, last) = (mean(used.get(..3)?), mean(&used[count - 3..]));
        let order = |at: usize, later: usize| {
            let change = used[later].1 / used[later].0 - used[at].1 / used[at].0;
            if change == 0.0 { 0.0 } else { change.signum() }
        };
        let sum: f64 = (0..count).flat_map(|at| (at + 1..count).map(move |later| order(at, later))).sum();
        let n = count as f64;
        let error = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
        let is_steady = sum.abs() - 1.0 > ERRORS * error;
        (is_steady && (last - first).abs() > 0.1 * first.min(last)).then_some((first, last))
    }
}

/// By how much what is given and not yet taken grows in a span of time, as a share of what is given in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// That share; NaN if too little of the window lies in the span.
    pub share: f64,
    /// Half of its 95 % confidence interval; none likewise.
    pub half: Option<f64>,
}

impl Growth {
    /// Of which too little was simulated.
    pub const UNKNOWN: Self = Self { share: f64::NAN, half: None };

    /// By the straight line through what is left over at the end of each batch within a span of time.
    pub fn of(given: &Batches, taken: &Batches, cut: &Cut, span: (Tick, Tick)) -> Self {
        let batches = Vec::from_iter(cut.within(span).map(|(batch, _)| batch));
        let all: f64 = batches.iter().map(|&batch| given.0[batch].1 as f64).sum();
        if all == 0.0 {
            return Self { share: 0.0, half: Some(0.0) };
        }
        if batches.len() < BATCHES / 2 {
            return Self::UNKNOWN;
        }
        let left = batches.iter().scan(0.0, |sum, &batch| {
            *sum += given.0[batch].1 as f64 - taken.0[batch].1 as f64;
            Some(*sum)
        });
        let (slope, errors) = line(&Vec::from_iter(left));
        let count = errors.len() as f64;
        let squares = errors.iter().map(|error| error * error).sum::<f64>();
        let worth = worth(&errors);
        let error = (squares / (count - 2.0) / spread(count) * count / worth).sqrt();
        let half = student(worth.max(LEAST) - 1.0) * error * count;
        Self { share: slope * count / all, half: Some(half / all) }
    }

    /// Whether what is given is taken: false if surely over 1 % is left over, true if surely less than 5 %; none if that cannot be told.
    pub fn is_stable(&self) -> Option<bool> {
        let error = SURELY * self.half?;
        if self.share - error > 0.01 { Some(false) } else { (self.share + error < 0.05).then_some(true) }
    }
}

/// The slope of the straight line next to values at equal distances, and what they are above it.
fn line(values: &[f64]) -> (f64, Vec<f64>) {
    let count = values.len() as f64;
    let (middle, mean) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let place = |at: usize| at as f64 - middle;
    let along: f64 = values.iter().enumerate().map(|(at, value)| place(at) * value).sum();
    let slope = along / spread(count);
    let above = values.iter().enumerate().map(|(at, value)| value - mean - slope * place(at));
    (slope, above.collect())
}

/// Of the numbers from 1 to n, the sum of the squares of their distances from their mean.
fn spread(count: f64) -> f64 {
    count * (count * count - 1.0) / 12.0
}

/// How many independent errors some are worth, each of which may depend on that before it.
///
/// Of errors with a correlation r from one to the next, which falls off by powers, n are worth n (1 - r) / (1 + r) independent ones. The
/// correlation that is found is too low by (1 + 3 r) / n (M. G. Kendall, “Note on bias in the estimation of autocorrelation”,
/// Biometrika 1954).
fn worth(errors: &[f64]) -> f64 {
    let count = errors.len() as f64;
    let squares = errors.iter().map(|error| error * error).sum::<f64>();
    if squares == 0.0 {
        return count;
    }
    let found = errors.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / squares;
    let correlation = (found + (1.0 + 3.0 * found.max(0.0)) / count).clamp(0.0, 0.99);
    count * (1.0 - correlation) / (1.0 + correlation)
}

/// Half of the 95 % confidence interval of the sum of errors; none if they are worth fewer than five independent ones.
fn half_of_sum(errors: &[f64]) -> Option<f64> {
    let (count, worth) = (errors.len() as f64, worth(errors));
    let squares = errors.iter().map(|error| error * error).sum::<f64>();
    (worth >= LEAST).then(|| student(worth - 1.0) * (squares / (count - 1.0) / worth).sqrt() * count)
}

/// Student's t at 97.5 %, to 0.3 % for four degrees of freedom or more (M. Abramowitz, I. Stegun, “Handbook of mathematical functions”,
/// 26.7.5).
fn student(freedom: f64) -> f64 {
    let z = 1.959_963_985_f64;
    let powers = [
        (z.powi(3) + z) / 4.0,
        (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0,
        (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0,
    ];
    powers.iter().rev().fold(0.0, |sum, power| (sum + power) / freedom) + z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    #[test]
    fn a_window_has_forty_equal_batches() {
        let cut = Cut::new((100, 500));
        assert_eq!([100, 109, 110, 499].map(|at| cut.batch(at)), [0, 0, 1, 39]);
        let uneven = Cut::new((7, 7 + 95));
        let mut lengths = [0; BATCHES];
        (7..102).for_each(|at| lengths[uneven.batch(at)] += 1);
        assert!(lengths.iter().all(|length| [2, 3].contains(length)));
        let told = Vec::from_iter(uneven.within((7, 102)).map(|(_, length)| length as u64));
        assert_eq!(told, lengths);
    }

    /// Values whose mean is 0, each of which keeps a part of the one before.
    fn lasting(random: &mut Stream, part: f64) -> impl FnMut() -> f64 {
        let mut value = 0.0;
        move || {
            let new = (0..12).map(|_| random.below(1000) as f64 / 1000.0).sum::<f64>() - 6.0;
            value = part * value + (1.0 - part * part).sqrt() * new;
            value
        }
    }

    #[test]
    fn the_interval_holds_the_mean_as_often_as_it_says() {
        // Of 4000 values each; the correlation of a value with the next, and how many windows must have an interval.
        for (part, kept) in [(0.0, 0.99), (0.9, 0.99), (0.98, 0.95)] {
            let (mut held, mut told, runs) = (0, 0, 500);
            for run in 0..runs {
                let mut random = Stream::new(run, "batches", "", 0);
                let (mut batches, mut next) = (Batches::default(), lasting(&mut random, part));
                let values = Vec::from_iter((0..4000).map(|_| (1000.0 + 100.0 * next()) as u64));
                values.iter().enumerate().for_each(|(at, &value)| batches.record(at / 100, value));
                let mean = values.iter().sum::<u64>() as f64 / 4000.0;
                if let Some(half) = batches.half_of_mean() {
                    told += 1;
                    held += u32::from((mean + 0.5 - 1000.0).abs() <= half);
                }
            }
            let share = f64::from(held) / f64::from(told);
            assert!((0.92..0.985).contains(&share), "{part}: {share}");
            assert!(f64::from(told) >= kept * runs as f64, "{part}: {told}");
        }
    }

    #[test]
    fn what_lasts_as_long_as_the_window_gives_no_interval() {
        let mut told = 0;
        for run in 0..200 {
            let mut random = Stream::new(run, "batches", "", 0);
            let (mut batches, mut next) = (Batches::default(), lasting(&mut random, 0.9995));
            (0..4000).for_each(|at| batches.record(at / 100, (1000.0 + 100.0 * next()) as u64));
            told += usize::from(batches.half_of_mean().is_some());
        }
        assert!(told < 20, "{told}");
    }

    #[test]
    fn the_interval_of_a_rate_holds_it_as_often_as_it_says() {
        let (mut held, runs) = (0, 2000);
        for run in 0..runs {
            let (mut random, mut even) = (Stream::new(run, "batches", "", 0), Batches::default());
            (0..400).for_each(|value| even.record(value % 40, 2 * u64::from(random.below(50))));
            let sum = even.0.iter().map(|&(_, sum)| sum).sum::<u64>() as f64;
            let half = even.half_of_rate(&Cut::new((0, 1000)), (0, 1000)).unwrap();
            held += u64::from((sum / 1000.0 - 19.6).abs() <= half);
        }
        let share = held as f64 / runs as f64;
        assert!((0.935..0.965).contains(&share), "{share}");
    }

    #[test]
    fn few_batches_tell_nothing() {
        let mut batches = Batches::default();
        (0..4).for_each(|batch| batches.record(batch, 7));
        assert_eq!(batches.half_of_mean(), None);
        batches.record(4, 7);
        assert_eq!(batches.half_of_mean(), Some(0.0));
        let mut more = Batches::default();
        more.record(39, 7);
        batches.merge(&more);
        assert_eq!(batches.0[39], (1, 7));
        assert_eq!(batches.halves(&Cut::new((0, 400)), (0, 400)), [35, 7]);
    }

    #[test]
    fn what_lies_beyond_the_measured_span_does_not_count() {
        let (cut, mut batches) = (Cut::new((100, 500)), Batches::default());
        (1..7).for_each(|batch| batches.record(batch, 50));
        assert_eq!(batches.half_of_rate(&cut, (105, 172)), Some(0.0));
        assert_eq!(batches.half_of_rate(&cut, (105, 159)), None, "four batches are whole");
        let mut burst = Batches::default();
        (1..5).for_each(|batch| burst.record(batch, 50));
        assert_eq!(burst.half_of_rate(&cut, (100, 500)), None, "four batches have values");
    }

    #[test]
    fn batches_that_grow_are_those_that_had_their_length_from_the_beginning() {
        let mut random = Stream::new(1, "batches", "", 0);
        let times = Vec::from_iter((0..400).map(|step| 70 + 5 * step + u64::from(random.below(4))));
        let (mut cut, mut grown, mut open) = (Cut::growing(70), Batches::default(), NONE_OPEN);
        for &at in &times {
            while cut.is_over(at) {
                cut.pair_up();
                grown.pair_up();
                pair_up(&mut open, Open::merge);
            }
            grown.record(cut.batch(at), at);
            open[cut.batch(at)].begin(1, at);
        }
        // 2000 ticks in batches of 64, of which 20 to 40 are in use.
        assert_eq!(cut.length, 64 * BATCHES as Tick);
        for (batch, (&(number, sum), open)) in grown.0.iter().zip(&open).enumerate() {
            let own = times.iter().filter(|&&at| (at - 70) / 64 == batch as u64);
            assert_eq!((number, sum), (own.clone().count() as u64, own.sum()));
            assert_eq!((open.count(), open.ages(5000)), (number, u128::from(5000 * number - sum)));
        }
        let span = (70, 2070);
        let [first, second] = grown.halves(&cut, span);
        let half = |from, to| times.iter().filter(|&&at| (from..to).contains(&(at - 70))).sum::<u64>();
        assert_eq!([first, second], [half(0, 15 * 64), half(15 * 64, 31 * 64)]);
    }

    #[test]
    fn a_trend_is_steady_and_large() {
        let of = |value: fn(usize) -> u64| {
            let mut batches = Batches::default();
            (0..BATCHES).for_each(|batch| batches.record(batch, value(batch)));
            batches.trend(&Cut::new((0, 400)), (0, 400))
        };
        assert_eq!(of(|batch| 1000 + batch as u64), None, "too small");
        assert_eq!(of(|batch| 1000 + 1000 * (batch / 4 % 2) as u64), None, "not steady");
        let (first, last) = of(|batch| 1000 + 100 * batch as u64).unwrap();
        assert_eq!((first, last), (1550.0, 4350.0));
        assert_eq!(of(|batch| 5000 - 100 * batch as u64).unwrap(), (4450.0, 1650.0));
        let mut short = Batches::default();
        (0..20).for_each(|batch| short.record(batch, batch as u64));
        assert_eq!(short.trend(&Cut::new((0, 400)), (0, 400)), None, "five tenths have values");
    }

    #[test]
    fn what_is_left_over_tells_whether_it_is_taken() {
        let (cut, span) = (Cut::new((0, 400)), (0, 400));
        let of = |taken: fn(u64) -> u64, span| {
            let (mut in_all, mut out) = (Batches::default(), Batches::default());
            for batch in 0..BATCHES {
                in_all.record(batch, 1000 + 200 * (batch as u64 % 3));
                out.record(batch, taken(batch as u64));
            }
            Growth::of(&in_all, &out, &cut, span).is_stable()
        };
        assert_eq!(of(|batch| 1000 + 200 * (batch % 3), span), Some(true));
        assert_eq!(of(|batch| 980 + 200 * (batch % 3), span), Some(false), "2 % are left over");
        assert_eq!(of(|_| 1190, span), Some(true), "by less than 1 %");
        assert_eq!(of(|batch| if batch % 5 == 0 { 6000 } else { 0 }, span), None, "as it comes");
        assert_eq!(of(|_| 0, (0, 199)), None, "less than half of the window");
        let (mut some, short) = (Batches::default(), (0, 100));
        some.record(0, 7);
        assert!(Growth::of(&some, &Batches::default(), &cut, short).share.is_nan());
        let nothing = Growth::of(&Batches::default(), &Batches::default(), &cut, span);
        assert_eq!((nothing.is_stable(), nothing.half), (Some(true), Some(0.0)));
    }

    #[test]
    fn the_line_through_values_is_that_of_least_squares() {
        let (slope, above) = line(&[1.0, 2.0, 2.0, 5.0]);
        assert!((slope - 1.2).abs() < 1e-12);
        assert!(above.iter().zip([0.3, 0.1, -1.1, 0.7]).all(|(found, told)| (found - told).abs() < 1e-12));
    }

    #[test]
    fn students_t_is_that_of_tables() {
        for (freedom, t) in [(4.0, 2.776), (9.0, 2.262), (20.0, 2.086), (39.0, 2.023)] {
            assert!((student(freedom) / t - 1.0).abs() < 0.003, "{freedom}");
        }
    }
}
