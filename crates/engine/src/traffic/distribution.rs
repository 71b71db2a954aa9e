//! Message sizes by a cumulative distribution in a text, as generators of traffic for ns-3 and htsim have them in files.
use crate::rng::Stream;
use crate::units::Scale;
use crate::workload::recorded::Mistake;

/// Most lines with numbers.
const LINES_MAX: usize = 1 << 16;

/// What all shares together are in integers: parts of a share below that are lost.
const WHOLE: f64 = 1e9;

/// Largest size that is read, in bytes: no message is as long.
const BYTES_MAX: f64 = 1e15;

/// Bytes from over `above` to `to`, equally likely; if there are none between, all `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    above: u64,
    to: u64,
    /// Sum of the weights of all parts up to this one.
    sum: u64,
}

/// A distribution of message sizes that is linear between its points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    parts: Vec<Part>,
    flit_bits: u64,
}

const LINE: &str =
    "in each line a size in bytes, and how much of all messages is not longer, in percent or in parts of 1";

/// What helps with lines of three numbers, as simulators of pFabric have them: a size in packets, the packets of a flow, a share.
const THREE: &str = "a size in bytes and a share; of three numbers, as of pFabric's files, leave out the second, and give bytes for packets";

impl Distribution {
    /// Reads a text: in each line a size in bytes, and which part of the messages is no longer, up to 100, or up to 1. What stands behind a `#`
    /// says nothing.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub fn read(text: &str, scale: &Scale) -> Result<Self, Mistake> {
        let points = points(text)?;
        let Some(&(last, _, all)) = points.last() else {
            return Err(Mistake::new(1, "no sizes are given", LINE));
        };
        if (all - 100.0).abs() > 1e-6 && (all - 1.0).abs() > 1e-6 {
            let message = format!(
                "the last share is {all}, which is neither 100 (percent) nor 1: some messages have no size"
            );
            return Err(Mistake::new(last, message, "a last line with 100 or 1, and the largest size"));
        }
        let (mut parts, mut above, mut before) = (Vec::<Part>::new(), None, 0);
        for (line, bytes, share) in points {
            if share > all {
                let message = format!("the share {share} is over that of the last line, {all}");
                return Err(Mistake::new(line, message, "shares grow from line to line, or stay"));
            }
            let sum = (share / all * WHOLE).round() as u64;
            let is_shorter = above.is_some_and(|above| bytes < above);
            if is_shorter || sum < before {
                let (what, value) = if is_shorter { ("size", bytes as f64) } else { ("share", share) };
                let message = format!("the {what} {value} is less than that of the line before");
                return Err(Mistake::new(line, message, "sizes and shares grow from line to line, or stay"));
            }
            if sum > before {
                // All that is not longer than the first size has that size.
                parts.push(Part { above: above.unwrap_or(bytes), to: bytes, sum });
            }
            (above, before) = (Some(bytes), sum);
        }
        Ok(Self { parts, flit_bits: scale.flit_bits })
    }

    /// The mean in flits, to 2⁻³² flits.
    pub fn mean(&self) -> (u64, u64) {
        let one = 1u64 << 32;
        let mut before = 0;
        let mut mean = 0.0;
        for part in &self.parts {
            let weight = (part.sum - before) as f64 / self.parts[self.parts.len() - 1].sum as f64;
            mean += weight * self.mean_of(part);
            before = part.sum;
        }
        ((mean * one as f64).round() as u64, one)
    }

    /// The mean of a part in flits.
    fn mean_of(&self, part: &Part) -> f64 {
        if part.above == part.to {
            return self.flits(part.to) as f64;
        }
        let sum = self.flits_up_to(part.to) - self.flits_up_to(part.above);
        sum as f64 / (part.to - part.above) as f64
    }

    /// The flits of one message of each number of bytes from 1 up to some.
    fn flits_up_to(&self, bytes: u64) -> u128 {
        let (bits, last) = (u128::from(self.flit_bits), u128::from(self.flits(bytes)));
        // Each length up to the last one has the bytes that fit into it, and into none before: those that fit are summed up. What is
        // rounded down of them repeats every eight flits.
        let lost = |flits: u128| flits * bits % 8;
        let (eights, rest) = ((last - 1) / 8, (last - 1) % 8);
        let all_lost = eights * (0..8).map(lost).sum::<u128>() + (0..=rest).map(lost).sum::<u128>();
        u128::from(bytes) * last - (bits * (last - 1) * last / 2 - all_lost) / 8
    }

    fn flits(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 8).div_ceil(u128::from(self.flit_bits)).max(1) as u64
    }

    /// The shortest and the longest message of each part, in flits.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.parts.iter().map(|part| (self.flits((part.above + 1).min(part.to)), self.flits(part.to)))
    }

    /// The largest size, in flits.
    pub fn max(&self) -> u64 {
        self.parts.last().map_or(1, |part| self.flits(part.to))
    }

    /// The size of the next message, in flits.
    pub fn draw(&self, random: &mut Stream) -> u32 {
        let all = self.parts[self.parts.len() - 1].sum;
        let pick = ((random.next() >> 32) * all) >> 32;
        let part = self.parts[self.parts.partition_point(|part| part.sum <= pick)];
        let count = part.to - part.above;
        let over = (u128::from(random.next()) * u128::from(count)) >> 64;
        self.flits(part.above + (over as u64 + 1).min(count)) as u32
    }
}

/// The line, size and share of each line that has them.
fn points(text: &str) -> Result<Vec<(usize, u64, f64)>, Mistake> {
    let mut points = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        let words = words.split('#').next().unwrap_or_default();
        let mut words = words.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
        let Some(first) = words.next() else { continue };
        let wrong = |message: String| Mistake::new(line, message, LINE);
        let number = |word: &str| {
            let number = word.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| {
                wrong(format!("\"{}\" is no number of 0 or more", crate::units::shorten(word)))
            })
        };
        let size = number(first)?;
        let share = number(words.next().ok_or_else(|| wrong("there is no share".into()))?)?;
        if let Some(more) = words.next() {
            let message = format!("\"{}\" is one number too many", crate::units::shorten(more));
            return Err(Mistake::new(line, message, THREE));
        }
        if size > BYTES_MAX || points.len() == LINES_MAX {
            return Err(wrong(format!("over {BYTES_MAX:e} bytes, or {LINES_MAX} lines")));
        }
        points.push((line, size.round() as u64, share));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    fn read(text: &str, flit_bits: u64) -> Distribution {
        let scale = Scale { flit_bits, packet_flits: 64, host: Rate(1) };
        Distribution::read(text, &scale).unwrap_or_else(|mistake| panic!("{text}: {}", mistake.message))
    }

    fn refused(text: &str) -> (usize, String) {
        let scale = Scale { flit_bits: 8, packet_flits: 64, host: Rate(1) };
        Distribution::read(text, &scale).err().map(|wrong| (wrong.line, wrong.message)).unwrap()
    }

    #[test]
    fn the_mean_is_that_of_the_bytes_between_the_lines() {
        let close = |distribution: &Distribution, mean: f64| {
            let (sum, count) = distribution.mean();
            assert!((sum as f64 / count as f64 - mean).abs() < 1e-8 * mean, "{sum} / {count}, not {mean}");
        };
        // Half of all is from 1 to 10 bytes, half from 11 to 30.
        close(&read("0 0\n10 50\n30 100\n", 8), (5.5 + 20.5) / 2.0);
        // Steps: an atom at the first size, and a gap.
        close(&read("4 0.25\n4 0.5\n8 0.5\n8 1\n", 8), 6.0);
        // Every number of bytes up to 1,000 once, in flits of any size, also of no whole bytes.
        for bits in [1, 3, 7, 8, 12, 64, 100, 512, 9000] {
            for last in [1u64, 7, 8, 9, 63, 64, 65, 1000] {
                let flits = (1..=last).map(|bytes| (8 * bytes).div_ceil(bits)).sum::<u64>();
                close(&read(&format!("0 0\n{last} 1\n"), bits), flits as f64 / last as f64);
            }
        }
    }

    #[test]
    fn sizes_are_drawn_as_the_lines_tell() {
        let distribution = read("# bytes, percent\n0 0\n100, 50  # half\n100 60\n1000 60\n2000 100\n", 64);
        assert_eq!((distribution.max(), distribution.ranges().count()), (250, 3));
        let mut random = Stream::new(1, "sizes", "t", 0);
        let draws: Vec<u32> = (0..100_000).map(|_| distribution.draw(&mut random)).collect();
        let part = |within: std::ops::RangeInclusive<u32>| {
            draws.iter().filter(|flits| within.contains(flits)).count() as f64 / draws.len() as f64
        };
        // Flits of eight bytes: the thirteenth has the last four of 100.
        for (within, share) in [
            (1..=1, 0.04),
            (1..=12, 0.48),
            (13..=13, 0.12),
            (14..=125, 0.0),
            (126..=250, 0.4),
            (126..=187, 0.4 * 496.0 / 1000.0),
        ] {
            let error = 4.0 * (share * (1.0 - share) / draws.len() as f64).sqrt();
            assert!((part(within.clone()) - share).abs() <= error, "{within:?}: not {share}");
        }
        let (sum, count) = distribution.mean();
        let mean = draws.iter().map(|&flits| f64::from(flits)).sum::<f64>() / draws.len() as f64;
        assert!((mean / (sum as f64 / count as f64) - 1.0).abs() < 0.01);
    }

    #[test]
    fn mistakes_are_told_by_their_lines() {
        for (text, line, part) in [
            ("", 1, "no sizes"),
            ("# nothing\n\n", 1, "no sizes"),
            ("0 0\n10", 2, "no share"),
            ("0 0\nten 5", 2, "\"ten\" is no number"),
            ("0 0\n10 nan", 2, "\"nan\" is no number"),
            ("0 0\n-10 5", 2, "\"-10\""),
            ("1 10 0.5", 1, "too many"),
            ("0 0\n10 50", 2, "the last share is 50"),
            ("0 0\n10 150\n20 100", 2, "the share 150 is over"),
            ("0 0\n10 99.99", 2, "neither 100 (percent) nor 1"),
            ("0 0\n20 50\n10 100", 3, "less than"),
            ("0 60\n20 50\n30 100", 2, "less than"),
            ("0 0\n1e16 100", 2, "over 1e15 bytes"),
        ] {
            let (at, message) = refused(text);
            assert!(at == line && message.contains(part), "{text:?}: line {at}, {message}");
        }
    }
}
