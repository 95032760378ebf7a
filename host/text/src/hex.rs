//! Converts bytes to and from hexadecimal.

use std::fmt::Write as _;

/// Returns bytes in lower-case hexadecimal, two digits each: `00ff`.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Parses bytes in lower-case hexadecimal, two digits each. Returns `None` for any other text.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::{hex, unhex};

    #[test]
    fn hexadecimal_is_read_back_and_nothing_else_is() {
        assert_eq!(unhex("0001abff"), Some(vec![0, 1, 0xab, 0xff]));
        assert_eq!(unhex(""), Some(vec![]));
        for wrong in ["0", "0g", "AB", "é", " 0"] {
            assert_eq!(unhex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_byte_has_two_digits() {
        assert_eq!(hex([0, 1, 0xab, 0xff]), "0001abff");
        assert_eq!(hex(""), "");
    }
}
