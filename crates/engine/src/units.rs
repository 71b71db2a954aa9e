//! Quantities as users write them ("5 ns", "100 Gb/s", "24 flits"), and the newtypes the engine computes with.
//!
//! A quantity is a number, an optional space and a unit. Decimals are allowed where they are exact in the integer
//! base (a picosecond, a bit, a bit per second): "0.5 us" is 500 000 ps, "0.5 ps" is a mistake, never a rounding.
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

mod dimension;
mod ranges;
use dimension::Base;
pub(crate) use dimension::shorten;
pub use dimension::{Dimension, QUANTITY_MAX, QuantityError};
pub use ranges::{RANGE_OR_NUMBER, range_of};

/// The greatest common divisor.
pub(crate) fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A point in simulated time, or a span of it, in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Time(pub u64);

impl Time {
    /// The time so many picoseconds later; the largest time if it does not fit.
    pub fn after(self, ps: u64) -> Self {
        Self(self.0.saturating_add(ps))
    }
}

/// A span of time as written: absolute, or in cycles (flit times of the host link).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Duration {
    /// Picoseconds.
    Ps(u64),
    /// Flit times of the host link.
    Cycles(u64),
}

/// Picoseconds of a second.
pub(crate) const SECOND: u128 = 1_000_000_000_000;

/// Most bits of a flit: its time in ps, at 1 b/s, has 64 bits.
pub const FLIT_BITS_MAX: u64 = 16_000_000;

/// A bandwidth in bits per second, over 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate(pub u64);

/// An amount of data as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Size {
    /// Bits.
    Bits(u64),
    /// Flits.
    Flits(u64),
    /// Packets of the largest size.
    Packets(u64),
}

/// What sizes and cycles are measured by.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Bits in a flit.
    pub flit_bits: u64,
    /// Flits in the largest packet.
    pub packet_flits: u64,
    /// The host link's bandwidth.
    pub host: Rate,
}

impl Rate {
    /// The time of a flit in ticks of so many picoseconds, exact: a fraction in its lowest terms.
    pub fn flit_ticks(self, scale: &Scale, tick: u64) -> (u64, u64) {
        let (ps, ticks) =
            (u128::from(scale.flit_bits) * SECOND, u128::from(self.0.max(1)) * u128::from(tick));
        let divisor = gcd(ps, ticks);
        let part = |number: u128| {
            u64::try_from(number / divisor).expect("a flit has no more than FLIT_BITS_MAX bits")
        };
        (part(ps), part(ticks))
    }

    /// Picoseconds that `bits` take, exact, rounded up once; the largest time if it does not fit.
    pub fn transmit_time(self, bits: u64) -> Time {
        let ps = (bits as u128 * SECOND).div_ceil(self.0.max(1) as u128);
        Time(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// How many units of so many bits begin within a span in picoseconds.
    pub fn flits_in(self, ps: u128, bits: u64) -> u64 {
        let flits = ps.saturating_mul(self.0.into()).div_ceil((u128::from(bits) * SECOND).max(1));
        u64::try_from(flits).unwrap_or(u64::MAX)
    }
}

impl Scale {
    /// A size in bytes; the largest number if it does not fit. Of flits without a whole number of bytes those are left out that are not
    /// whole, so that [`Self::flits_of`] gives as many flits again.
    pub fn bytes(&self, size: Size) -> u64 {
        match size {
            Size::Bits(bits) => bits.div_ceil(8),
            other => other.flits(self).saturating_mul(self.flit_bits) / 8,
        }
    }

    /// Flits that some bytes take, rounded up; the largest number if it does not fit.
    pub fn flits_of(&self, bytes: u64) -> u64 {
        let flits = (u128::from(bytes) * 8).div_ceil(u128::from(self.flit_bits.max(1)));
        u64::try_from(flits).unwrap_or(u64::MAX)
    }
}

impl Size {
    /// The size in flits, rounded up to whole flits; the largest number if it does not fit.
    pub fn flits(self, scale: &Scale) -> u64 {
        match self {
            Size::Bits(bits) => bits.div_ceil(scale.flit_bits.max(1)),
            Size::Flits(flits) => flits,
            Size::Packets(packets) => packets.saturating_mul(scale.packet_flits),
        }
    }
}

impl Duration {
    /// The span in picoseconds; the largest time if it does not fit.
    pub fn time(self, scale: &Scale) -> Time {
        match self {
            Duration::Ps(ps) => Time(ps),
            Duration::Cycles(n) => scale.host.transmit_time(n.saturating_mul(scale.flit_bits)),
        }
    }
}

impl Duration {
    fn of(base: Base, count: u64) -> Self {
        if base == Base::Cycle { Duration::Cycles(count) } else { Duration::Ps(count) }
    }

    fn parts(self) -> (Base, u64) {
        match self {
            Duration::Ps(count) => (Base::Picosecond, count),
            Duration::Cycles(count) => (Base::Cycle, count),
        }
    }
}

impl Rate {
    fn of(_: Base, count: u64) -> Self {
        Rate(count)
    }

    fn parts(self) -> (Base, u64) {
        (Base::BitPerSecond, self.0)
    }
}

impl Size {
    fn of(base: Base, count: u64) -> Self {
        match base {
            Base::Flit => Size::Flits(count),
            Base::Packet => Size::Packets(count),
            _ => Size::Bits(count),
        }
    }

    fn parts(self) -> (Base, u64) {
        match self {
            Size::Bits(count) => (Base::Bit, count),
            Size::Flits(count) => (Base::Flit, count),
            Size::Packets(count) => (Base::Packet, count),
        }
    }
}

/// Text, serde and JSON Schema of a quantity, all through its [`Dimension`].
macro_rules! quantity {
    ($($Quantity:ident),*) => {$(
        impl std::str::FromStr for $Quantity {
            type Err = QuantityError;
            fn from_str(text: &str) -> Result<Self, QuantityError> {
                Dimension::$Quantity.read(text).map(|(base, count)| $Quantity::of(base, count))
            }
        }

        impl std::fmt::Display for $Quantity {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let (base, count) = self.parts();
                Dimension::$Quantity.show(base, count, f)
            }
        }

        impl Serialize for $Quantity {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $Quantity {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $Quantity {
            fn schema_name() -> Cow<'static, str> {
                stringify!($Quantity).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": Dimension::$Quantity.format() })
            }
            fn inline_schema() -> bool {
                true
            }
        }
    )*};
}
quantity!(Duration, Rate, Size);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 9 flits of 100 bits are 112.5 bytes: a job sends 9 flits, not 10.
    #[test]
    fn sizes_in_flits_stay_as_many_flits_in_bytes() {
        for flit_bits in [8, 77, 100, 128, 513] {
            let scale = Scale { flit_bits, packet_flits: 24, host: Rate(100_000_000_000) };
            for flits in 1..200 {
                assert_eq!(scale.flits_of(scale.bytes(Size::Flits(flits))), flits, "{flit_bits} bits");
            }
        }
    }

    /// A flit of a byte takes 2.5 ps at 3.2 Tb/s: 400 begin in a nanosecond, not the 334 of 3 ps.
    #[test]
    fn flits_within_a_span_go_at_the_exact_rate() {
        let rate = Rate(3_200_000_000_000);
        assert_eq!((rate.flits_in(1000, 8), rate.flits_in(1001, 8), rate.flits_in(0, 8)), (400, 401, 0));
    }

    #[test]
    fn quantities_are_exact_integers() {
        let table = "5 ns = Ps(5000)\n5ns = Ps(5000)\n0.5 us = Ps(500000)\n1.50 µs = Ps(1500000)\n2 s = Ps(2000000000000)\n\
                     24 cycles = Cycles(24)\n1 cycle = Cycles(1)\n 7 ps = Ps(7)\n\
                     1e3 ns = Ps(1000000)\n2.5E-1us = Ps(250000)\n1.5e+2 ps = Ps(150)\n0e99 s = Ps(0)";
        for line in table.lines() {
            let (text, value) = line.split_once(" = ").unwrap();
            assert_eq!(format!("{:?}", text.parse::<Duration>().unwrap()), value);
        }
        assert_eq!("100 Gb/s".parse(), Ok(Rate(100_000_000_000)));
        assert_eq!("12.5 GB/s".parse(), Ok(Rate(100_000_000_000)));
        assert_eq!("1 GiB/s".parse(), Ok(Rate(8 << 30)));
        assert_eq!("4 flits".parse(), Ok(Size::Flits(4)));
        assert_eq!("1 packet".parse(), Ok(Size::Packets(1)));
        assert_eq!("4 KiB".parse(), Ok(Size::Bits(4 * 8192)));
    }

    #[test]
    fn values_are_shown_in_the_largest_whole_unit() {
        let shown: Vec<String> = [0, 1, 1_500, 50_000, 1_000_000, 2_000_000_000_000]
            .map(|ps| Duration::Ps(ps).to_string())
            .to_vec();
        assert_eq!(shown, ["0 ps", "1 ps", "1500 ps", "50 ns", "1 us", "2 s"]);
        assert_eq!(Rate(800_000_000_000).to_string(), "800 Gb/s");
        assert_eq!(Size::Bits(100).to_string(), "100 b");
        assert_eq!(Size::Bits(32_000_000_000).to_string(), "4 GB");
        assert_eq!(Size::Flits(1).to_string(), "1 flit");
    }

    #[test]
    fn mistakes_name_the_right_units() {
        let table = "\
-5 ns | \"-5 ns\" is negative
nan | \"nan\" is not a number and a unit
1.2.3 ns | \"1.2.3 ns\" is not a number and a unit
5 | the unit is missing
0.5 ps | \"0.5 ps\" is not a whole number of ps
0.5 cycles | \"0.5 cycles\" is not a whole number of cycles
5 flits | \"flits\" is a unit of size, not of time
5 Gb/s | \"Gb/s\" is a unit of rate, not of time
5 parsecs | unknown unit \"parsecs\"
5e ns | unknown unit \"e ns\"
1e-1 ps | \"1e-1 ps\" is not a whole number of ps
1e-2147483648 s | \"1e-2147483648 s\" is not a whole number of ps
1e99999999999 s | \"1e99999999999 s\" is too large: at most 18446744 s
99999999999 s | \"99999999999 s\" is too large: at most 18446744 s";
        for line in table.lines() {
            let (text, message) = line.split_once(" | ").unwrap();
            let error = text.parse::<Duration>().unwrap_err();
            assert_eq!(error.message, message);
            assert_eq!(error.help, "a time such as \"5 ns\"; units: ps, ns, us, µs, ms, s, cycles");
        }
        assert_eq!("4 KB".parse::<Size>().unwrap_err().help, "kB or KiB?");
        assert_eq!("4 KB/s".parse::<Rate>().unwrap_err().help, "kB/s or KiB/s?");
        assert_eq!("0 b/s".parse::<Rate>().unwrap_err().message, "a rate must be over 0");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "\\PC*|[0-9.]{0,60}(e[-+]?[0-9]{0,12})? ?[a-zA-Z/]{0,5}") {
            let _ = (text.parse::<Duration>(), text.parse::<Rate>(), text.parse::<Size>());
        }

        #[test]
        fn what_is_shown_is_read_back(n in 0..=QUANTITY_MAX, zeros in 0u32..19) {
            let n = n / 10u64.pow(zeros) * 10u64.pow(zeros);
            for value in [Duration::Ps(n), Duration::Cycles(n)] {
                prop_assert_eq!(value.to_string().parse(), Ok(value));
            }
            for value in [Size::Bits(n), Size::Flits(n), Size::Packets(n), Size::Bits(n & !0xffff)] {
                prop_assert_eq!(value.to_string().parse(), Ok(value));
            }
            prop_assert_eq!(Rate(n.max(1)).to_string().parse(), Ok(Rate(n.max(1))));
        }
    }
}
