//! Numbers of endpoints in lists: one by one, or a range.

/// The most numbers of a list with ranges.
const NUMBERS_MAX: usize = 1 << 20;

/// What may stand in such a list, for messages.
pub const RANGE_OR_NUMBER: &str = "numbers, or ranges such as \"0-63\"";

/// The numbers that a range such as "0-63" stands for in a list, both ends among them, with so many numbers `before` it; or what is
/// wrong with it.
pub fn range_of(text: &str, before: usize) -> Result<std::ops::RangeInclusive<u32>, String> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?;
    let ends = text.split_once('-').and_then(|(first, last)| Some((number(first)?, number(last)?)));
    let (first, last): (u32, u32) =
        ends.ok_or_else(|| format!("\"{}\" is no range", super::shorten(text)))?;
    if first > last {
        return Err(format!("the range {text} ends before it begins"));
    }
    let most = NUMBERS_MAX.saturating_sub(before);
    let fits = u64::from(last - first) < most as u64;
    fits.then_some(first..=last)
        .ok_or_else(|| format!("with the range {text} the list has over {NUMBERS_MAX} numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_both_its_ends() {
        assert_eq!(range_of("3-5", 0), Ok(3..=5));
        assert_eq!(range_of("7-7", NUMBERS_MAX - 1), Ok(7..=7));
        assert_eq!(range_of("1-1048576", 0).map(Iterator::count), Ok(NUMBERS_MAX));
        for (text, why) in [
            ("5-3", "the range 5-3 ends before it begins"),
            ("x", "\"x\" is no range"),
            ("-3", "\"-3\" is no range"),
            ("1-", "\"1-\" is no range"),
            ("+1-3", "\"+1-3\" is no range"),
            ("1-2-3", "\"1-2-3\" is no range"),
            ("0-4294967296", "\"0-4294967296\" is no range"),
            ("0-1048576", "with the range 0-1048576 the list has over 1048576 numbers"),
            ("0-4294967295", "with the range 0-4294967295 the list has over 1048576 numbers"),
        ] {
            assert_eq!(range_of(text, 0), Err(why.to_string()));
        }
        for before in [NUMBERS_MAX, NUMBERS_MAX + 9] {
            assert!(range_of("7-7", before).is_err());
        }
    }
}
