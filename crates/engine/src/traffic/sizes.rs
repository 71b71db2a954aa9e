//! Message sizes bound to flits, drawn from integer tables so that every machine draws the same.
use super::distribution::Distribution;
use crate::rng::Stream;
use crate::scenario::MessageSize;
use crate::units::{Scale, Size, gcd};

/// A distribution of message sizes in flits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// All alike.
    Fixed(u32),
    /// `from`, `from + step`, …: `count` sizes, equally likely.
    Steps {
        /// Smallest, in flits.
        from: u32,
        /// Distance of neighbours, in flits.
        step: u32,
        /// How many there are.
        count: u32,
    },
    /// Sizes with integer weights.
    Mix {
        /// The sizes, in flits.
        sizes: Vec<u32>,
        /// Sums of the weights up to and including each size; the last is at most 2³².
        sums: Vec<u64>,
    },
    /// As a cumulative distribution tells.
    Distributed(Distribution),
}

impl Sizes {
    /// The sizes of a class without mistakes, in flits.
    pub fn new(message: &MessageSize, scale: &Scale) -> Self {
        let flits = |size: &Size| size.flits(scale) as u32;
        match message {
            MessageSize::Fixed(size) => Sizes::Fixed(flits(size)),
            MessageSize::Uniform { from, to, step } => {
                let [from, to, step] = [from, to, step].map(flits);
                Sizes::Steps { from, step, count: (to - from) / step + 1 }
            }
            MessageSize::Mix { sizes, shares, by_volume } => {
                let sizes: Vec<u32> = sizes.iter().map(flits).collect();
                let mut sum = 0;
                let weights = table(&sizes, shares, *by_volume).into_iter();
                let sums = weights
                    .map(|weight| {
                        sum += weight;
                        sum
                    })
                    .collect();
                Sizes::Mix { sizes, sums }
            }
            MessageSize::Distribution { text, .. } => match Distribution::read(text, scale) {
                Ok(read) => Sizes::Distributed(read),
                Err(mistake) => unreachable!("law broken: a class with a mistake: {}", mistake.message),
            },
        }
    }

    /// The mean in flits, exact, or of a distribution to 2⁻³² flits: numerator and denominator, without common divisor.
    pub fn mean(&self) -> (u64, u64) {
        let (total, count) = match self {
            Sizes::Fixed(flits) => (u64::from(*flits), 1),
            Sizes::Steps { from, step, count } => {
                (2 * u64::from(*from) + u64::from(*step) * u64::from(count - 1), 2)
            }
            Sizes::Mix { sizes, sums } => (
                sizes.iter().zip(weights(sums)).map(|(&size, weight)| u64::from(size) * weight).sum(),
                sums[sums.len() - 1],
            ),
            Sizes::Distributed(read) => read.mean(),
        };
        let divisor = gcd(total.into(), count.into()) as u64;
        (total / divisor, count / divisor)
    }

    /// The largest size, in flits.
    pub fn max(&self) -> u32 {
        match self {
            Sizes::Fixed(flits) => *flits,
            Sizes::Steps { from, step, count } => from + step * (count - 1),
            Sizes::Mix { sizes, .. } => sizes.iter().copied().max().unwrap_or(0),
            Sizes::Distributed(read) => read.max() as u32,
        }
    }

    /// The smallest size, in flits.
    pub fn min(&self) -> u32 {
        match self {
            Sizes::Fixed(flits) | Sizes::Steps { from: flits, .. } => *flits,
            Sizes::Mix { sizes, .. } => sizes.iter().copied().min().unwrap_or(0),
            Sizes::Distributed(read) => read.ranges().map(|(from, _)| from).min().unwrap_or(0) as u32,
        }
    }

    /// The size of the next message, in flits.
    pub fn draw(&self, random: &mut Stream) -> u32 {
        match self {
            Sizes::Fixed(flits) => *flits,
            Sizes::Steps { from, step, count } => from + step * random.below(*count),
            Sizes::Mix { sizes, sums } => {
                // The sum of the weights may be 2³² itself, which `below` cannot take.
                let pick = ((random.next() >> 32) * sums[sums.len() - 1]) >> 32;
                sizes[sums.partition_point(|&sum| sum <= pick)]
            }
            Sizes::Distributed(read) => read.draw(random),
        }
    }
}

/// Integer weights of messages in proportion to the shares, exact wherever the shares have at most nine decimals and the
/// weights then add up to 2³² or less.
fn table(sizes: &[u32], shares: &[f64], by_volume: bool) -> Vec<u64> {
    const BILLION: f64 = 1e9;
    let shares = shares.iter().map(|share| (share * BILLION).round() as u128);
    let multiple = sizes.iter().try_fold(1u128, |multiple, &size| {
        let size = u128::from(size);
        Some(multiple / gcd(multiple, size) * size).filter(|&multiple| multiple < 1 << 64)
    });
    let weights: Vec<u128> = if by_volume {
        // A share of the data is that share over the size, of the messages.
        let multiple = multiple.unwrap_or(1 << 64);
        shares.zip(sizes).map(|(share, &size)| share * multiple / u128::from(size)).collect()
    } else {
        shares.collect()
    };
    let divisor = weights.iter().copied().fold(0, gcd);
    let total = weights.iter().sum::<u128>() / divisor;
    let fit = |weight: u128| {
        // Rounding up keeps every size that has a share; 2³¹ leaves room for that.
        if total <= 1 << 32 { weight / divisor } else { (weight / divisor).div_ceil(total.div_ceil(1 << 31)) }
    };
    weights.into_iter().map(|weight| fit(weight) as u64).collect()
}

fn weights(sums: &[u64]) -> impl Iterator<Item = u64> {
    sums.iter().enumerate().map(|(index, sum)| sum - if index == 0 { 0 } else { sums[index - 1] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    const SCALE: Scale = Scale { flit_bits: 100, packet_flits: 24, host: Rate(100_000_000_000) };

    fn bimodal(shares: [f64; 2], by_volume: bool) -> Sizes {
        let sizes = vec![Size::Flits(4), Size::Flits(512)];
        Sizes::new(&MessageSize::Mix { sizes, shares: shares.to_vec(), by_volume }, &SCALE)
    }

    fn drawn_mean(sizes: &Sizes, draws: u32) -> f64 {
        let mut random = Stream::new(1, "test", "", 0);
        (0..draws).map(|_| f64::from(sizes.draw(&mut random))).sum::<f64>() / f64::from(draws)
    }

    #[test]
    fn half_and_half_by_messages_has_the_mean_between() {
        let sizes = bimodal([0.5, 0.5], false);
        assert_eq!((sizes.mean(), sizes.max()), ((258, 1), 512));
        assert!((drawn_mean(&sizes, 100_000) - 258.0).abs() < 3.0 * 254.0 / 100_000f64.sqrt());
    }

    #[test]
    fn half_and_half_by_volume_has_the_harmonic_mean() {
        let sizes = bimodal([0.5, 0.5], true);
        assert_eq!(sizes, Sizes::Mix { sizes: vec![4, 512], sums: vec![128, 129] });
        assert_eq!(sizes.mean(), (1024, 129));
        let deviation = (512f64 - 4.0) * (128.0f64 / 129.0 / 129.0).sqrt();
        assert!((drawn_mean(&sizes, 100_000) - 1024.0 / 129.0).abs() < 3.0 * deviation / 100_000f64.sqrt());
    }

    #[test]
    fn a_size_with_no_share_is_never_drawn_and_a_rare_one_keeps_its_place() {
        let mut random = Stream::new(1, "test", "", 0);
        let sizes = bimodal([0.0, 1.0], false);
        assert!((0..1000).all(|_| sizes.draw(&mut random) == 512));
        let parts = vec![Size::Flits(1), Size::Flits(16_777_199), Size::Flits(16_777_213)];
        let shares = vec![0.2, 0.3, 0.5];
        let scale = Scale { packet_flits: 4095, ..SCALE };
        let sizes = Sizes::new(&MessageSize::Mix { sizes: parts, shares, by_volume: true }, &scale);
        let Sizes::Mix { sums, .. } = &sizes else { panic!("a mix") };
        assert!(weights(sums).all(|weight| weight > 0) && sums[2] <= 1 << 32);
    }

    #[test]
    fn uniform_steps_reach_both_ends_and_have_the_mean_between() {
        let message =
            MessageSize::Uniform { from: Size::Packets(4), to: Size::Packets(64), step: Size::Packets(1) };
        let sizes = Sizes::new(&message, &SCALE);
        assert_eq!((sizes.mean(), sizes.max()), ((34 * 24, 1), 64 * 24));
        let mut random = Stream::new(1, "test", "", 0);
        let drawn: std::collections::BTreeSet<u32> = (0..5000).map(|_| sizes.draw(&mut random)).collect();
        assert_eq!(drawn, (4..=64).map(|packets| packets * 24).collect());
        let odd = MessageSize::Uniform { from: Size::Flits(1), to: Size::Flits(2), step: Size::Flits(1) };
        assert_eq!(Sizes::new(&odd, &SCALE).mean(), (3, 2));
    }

    #[test]
    fn sizes_round_up_to_whole_flits() {
        let sizes = Sizes::new(&MessageSize::Fixed(Size::Bits(101)), &SCALE);
        assert_eq!(sizes, Sizes::Fixed(2));
    }
}
