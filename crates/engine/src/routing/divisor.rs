//! Division by a number that stays the same.

/// Divides by multiplication: what a routing asks at every hop is where an endpoint is, and a table of all endpoints would take a
/// cache line for each answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    by: u32,
    times: u64,
}

impl Divisor {
    /// Divides by a number over 0.
    pub(super) fn new(by: u32) -> Self {
        Self { by, times: u64::MAX / u64::from(by) }
    }

    /// The quotient and the remainder. Exact for all numbers: (n + 1) · times / 2⁶⁴ is less than (n + 1) / by, by at most 2⁻³²,
    /// and n / by is 1 / by or more below the next whole number.
    #[inline]
    pub(super) fn divide(self, number: u32) -> (u32, u32) {
        let quotient = (((u128::from(number) + 1) * u128::from(self.times)) >> 64) as u32;
        (quotient, number - quotient * self.by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_divides_exactly() {
        for by in [1, 2, 3, 4, 7, 8, 31, 32, 33, 255, 256, 4095, 65_535, 1 << 31, u32::MAX] {
            let divisor = Divisor::new(by);
            let largest = u32::MAX / by * by;
            let multiples = (0..200).map(|k| largest.wrapping_sub(by.wrapping_mul(k)));
            let near = multiples.flat_map(|at| [at, at.wrapping_sub(1), at.wrapping_add(1)]);
            for number in near.chain(0..1000).chain([u32::MAX]) {
                assert_eq!(divisor.divide(number), (number / by, number % by), "{number} by {by}");
            }
        }
    }
}
