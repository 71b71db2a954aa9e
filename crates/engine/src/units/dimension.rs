//! The dimensions of quantities, their units, and how a quantity of each is read and shown.
use std::borrow::Cow;

/// Why a text is not the quantity asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityError {
    /// What is wrong, as a sentence without its full stop.
    pub message: String,
    /// What would be right.
    pub help: String,
}

impl std::fmt::Display for QuantityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.help)
    }
}

impl std::error::Error for QuantityError {}

/// What a unit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Picosecond,
    Cycle,
    BitPerSecond,
    Bit,
    Flit,
    Packet,
}

/// A unit: its name, the name of one of it where that differs, what it counts and how many of those.
struct Unit {
    name: &'static str,
    one: &'static str,
    base: Base,
    factor: u64,
}

const fn unit(name: &'static str, base: Base, factor: u64) -> Unit {
    Unit { name, one: name, base, factor }
}

const fn counted(name: &'static str, one: &'static str, base: Base) -> Unit {
    Unit { name, one, base, factor: 1 }
}

/// The most of a base unit that a quantity may be, so that sums of a few never overflow.
pub const QUANTITY_MAX: u64 = 1_000_000_000_000_000_000;

/// Units of time; a value is shown in the largest one that divides it.
const TIME_UNITS: &[Unit] = &[
    unit("ps", Base::Picosecond, 1),
    unit("ns", Base::Picosecond, 1_000),
    unit("us", Base::Picosecond, 1_000_000),
    unit("µs", Base::Picosecond, 1_000_000),
    unit("ms", Base::Picosecond, 1_000_000_000),
    unit("s", Base::Picosecond, 1_000_000_000_000),
    counted("cycles", "cycle", Base::Cycle),
];

/// Units of rate; the first [`RATE_UNITS_SHOWN`], multiples of bits, are those that values are shown in.
const RATE_UNITS: &[Unit] = &[
    unit("b/s", Base::BitPerSecond, 1),
    unit("kb/s", Base::BitPerSecond, 1_000),
    unit("Mb/s", Base::BitPerSecond, 1_000_000),
    unit("Gb/s", Base::BitPerSecond, 1_000_000_000),
    unit("Tb/s", Base::BitPerSecond, 1_000_000_000_000),
    unit("B/s", Base::BitPerSecond, 8),
    unit("kB/s", Base::BitPerSecond, 8_000),
    unit("MB/s", Base::BitPerSecond, 8_000_000),
    unit("GB/s", Base::BitPerSecond, 8_000_000_000),
    unit("TB/s", Base::BitPerSecond, 8_000_000_000_000),
    unit("KiB/s", Base::BitPerSecond, 8 << 10),
    unit("MiB/s", Base::BitPerSecond, 8 << 20),
    unit("GiB/s", Base::BitPerSecond, 8 << 30),
    unit("TiB/s", Base::BitPerSecond, 8 << 40),
];
const RATE_UNITS_SHOWN: usize = 5;

/// Units of size; a value is shown in the largest one that divides it.
const SIZE_UNITS: &[Unit] = &[
    unit("b", Base::Bit, 1),
    unit("B", Base::Bit, 8),
    unit("kB", Base::Bit, 8_000),
    unit("MB", Base::Bit, 8_000_000),
    unit("GB", Base::Bit, 8_000_000_000),
    unit("TB", Base::Bit, 8_000_000_000_000),
    unit("KiB", Base::Bit, 8 << 10),
    unit("MiB", Base::Bit, 8 << 20),
    unit("GiB", Base::Bit, 8 << 30),
    unit("TiB", Base::Bit, 8 << 40),
    counted("flits", "flit", Base::Flit),
    counted("packets", "packet", Base::Packet),
];

/// The dimension of a quantity; its name is the `format` of the quantity in the JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// A span of time.
    Duration,
    /// A bandwidth.
    Rate,
    /// An amount of data.
    Size,
}

impl Dimension {
    const ALL: [Dimension; 3] = [Dimension::Duration, Dimension::Rate, Dimension::Size];

    /// The dimension that a JSON Schema's `format` names, if it is one.
    pub fn of_format(format: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dimension| dimension.format() == format)
    }

    /// Name in the JSON Schema.
    pub fn format(self) -> &'static str {
        match self {
            Dimension::Duration => "duration",
            Dimension::Rate => "rate",
            Dimension::Size => "size",
        }
    }

    /// With its article and an example, for messages.
    pub fn described(self) -> &'static str {
        match self {
            Dimension::Duration => "a time such as \"5 ns\"",
            Dimension::Rate => "a rate such as \"100 Gb/s\"",
            Dimension::Size => "a size such as \"4 flits\"",
        }
    }

    /// The units it may be written in.
    pub fn unit_names(self) -> Vec<&'static str> {
        self.units().iter().map(|unit| unit.name).collect()
    }

    /// How much the quantity in `text` is, in its base unit; the error says what is wrong and what is allowed.
    pub fn check(self, text: &str) -> Result<u64, QuantityError> {
        self.read(text).map(|(_, count)| count)
    }

    fn units(self) -> &'static [Unit] {
        match self {
            Dimension::Duration => TIME_UNITS,
            Dimension::Rate => RATE_UNITS,
            Dimension::Size => SIZE_UNITS,
        }
    }

    fn error(self, message: String) -> QuantityError {
        QuantityError {
            message,
            help: format!("{}; units: {}", self.described(), self.unit_names().join(", ")),
        }
    }

    /// What a text counts, and how many of it.
    pub(super) fn read(self, text: &str) -> Result<(Base, u64), QuantityError> {
        let trimmed = text.trim();
        let shown = shorten(trimmed);
        if trimmed.starts_with('-') {
            return Err(self.error(format!("\"{shown}\" is negative")));
        }
        let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, rest) = trimmed.split_at(split);
        let (exponent, rest) = exponent_of(rest).unwrap_or((0, rest));
        let name = rest.trim_start();
        if !number.contains(|c: char| c.is_ascii_digit()) || number.matches('.').count() > 1 {
            return Err(self.error(format!("\"{shown}\" is not a number and a unit")));
        }
        let unit = self.find_unit(name)?;
        let count = count_exactly(number, exponent, unit.factor).map_err(|why| match why {
            Inexact::Fraction => {
                self.error(format!("\"{shown}\" is not a whole number of {}", self.smallest(unit.base)))
            }
            Inexact::Overflow => {
                let most = u64::MAX / unit.factor;
                self.error(format!("\"{shown}\" is too large: at most {most} {}", unit.name))
            }
        })?;
        if self == Dimension::Rate && count == 0 {
            return Err(self.error("a rate must be over 0".to_string()));
        }
        Ok((unit.base, count))
    }

    fn smallest(self, base: Base) -> &'static str {
        self.units().iter().find(|unit| unit.base == base).map_or("", |unit| unit.name)
    }

    fn find_unit(self, name: &str) -> Result<&'static Unit, QuantityError> {
        if let Some(unit) = self.units().iter().find(|unit| unit.name == name || unit.one == name) {
            return Ok(unit);
        }
        if name.is_empty() {
            return Err(self.error("the unit is missing".to_string()));
        }
        let shown = shorten(name);
        if let Some(rest) = name.strip_prefix("KB").filter(|rest| rest.is_empty() || *rest == "/s") {
            let message = format!("the unit \"{shown}\" could be 1000 or 1024 bytes");
            return Err(QuantityError { message, help: format!("kB{rest} or KiB{rest}?") });
        }
        let other =
            Self::ALL.into_iter().find(|d| *d != self && d.units().iter().any(|unit| unit.name == name));
        Err(self.error(match other {
            Some(other) => format!("\"{shown}\" is a unit of {}, not of {}", other.noun(), self.noun()),
            None => format!("unknown unit \"{shown}\""),
        }))
    }

    fn noun(self) -> &'static str {
        match self {
            Dimension::Duration => "time",
            Dimension::Rate => "rate",
            Dimension::Size => "size",
        }
    }

    /// Shows a value in the largest unit that divides it.
    pub(super) fn show(self, base: Base, count: u64, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = if self == Dimension::Rate { RATE_UNITS_SHOWN } else { self.units().len() };
        let fits = |unit: &&Unit| {
            unit.base == base && count.is_multiple_of(unit.factor) && unit.factor <= count.max(1)
        };
        // `max_by_key` takes the last of equals: reversed, the first listed ("us" before "µs").
        let best = self.units()[..shown].iter().rev().filter(fits).max_by_key(|unit| unit.factor);
        let Some(unit) = best else { return write!(f, "{count}") };
        let number = count / unit.factor;
        write!(f, "{number} {}", if number == 1 { unit.one } else { unit.name })
    }
}

/// Why a number of units is no whole number of the base.
enum Inexact {
    Fraction,
    Overflow,
}

/// The power of ten that a text begins with, such as "e-3", and what follows it.
fn exponent_of(text: &str) -> Option<(i32, &str)> {
    let digits = text.strip_prefix(['e', 'E'])?;
    let signed = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let end = signed.find(|c: char| !c.is_ascii_digit()).unwrap_or(signed.len());
    let (number, rest) = digits.split_at(digits.len() - signed.len() + end);
    // Beyond any size is as good as any such power.
    let power = number.parse().unwrap_or(if number.starts_with('-') { i32::MIN } else { i32::MAX });
    (end > 0).then_some((power, rest))
}

/// `number` (digits, with at most one point) times a power of ten times `factor`, if that is a whole number up to
/// [`QUANTITY_MAX`].
fn count_exactly(number: &str, exponent: i32, factor: u64) -> Result<u64, Inexact> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = whole.bytes().chain(fraction.bytes());
    let mut mantissa = 0u128;
    for digit in digits {
        let next = mantissa.checked_mul(10).and_then(|m| m.checked_add((digit - b'0') as u128));
        mantissa = next.ok_or(Inexact::Overflow)?;
    }
    if mantissa == 0 {
        return Ok(0);
    }
    let places = i64::try_from(fraction.len()).map_err(|_| Inexact::Fraction)? - i64::from(exponent);
    let power = |places: i64| u32::try_from(places).map_or(Some(1), |n| 10u128.checked_pow(n));
    let product = mantissa
        .checked_mul(factor as u128)
        .and_then(|product| product.checked_mul(power(-places)?))
        .ok_or(Inexact::Overflow)?;
    let divisor = power(places).ok_or(Inexact::Fraction)?;
    if product % divisor != 0 {
        return Err(Inexact::Fraction);
    }
    u64::try_from(product / divisor).ok().filter(|count| *count <= QUANTITY_MAX).ok_or(Inexact::Overflow)
}

/// At most 40 characters of a text, for messages.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(40) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
