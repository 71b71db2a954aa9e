//! Bytes in text.

/// The bytes of a text in base64 (RFC 4648, section 4); white space is passed over. None if it is not that.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits) = (0u32, 0);
    let text = text.trim_end().trim_end_matches('=');
    for character in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    // A rest of 6 bits holds no byte.
    (bits < 6).then_some(bytes)
}

/// Bytes in base64.
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, at| word << 8 | u32::from(part.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let index = (word >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= part.len() { DIGITS[index] as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn the_examples_of_the_standard_are_read() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v\nYmFy", "foobar")] {
            assert_eq!(decode(text).unwrap(), bytes.as_bytes());
            assert_eq!(encode(bytes.as_bytes()), text.replace('\n', ""));
        }
        assert_eq!((decode("Z"), decode("Zm9*")), (None, None));
    }
}
