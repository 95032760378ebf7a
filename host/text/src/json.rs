//! Checks untrusted JSON before it is parsed.

/// Returns an upper limit for the number of values in a JSON text. It counts the characters that begin lists and objects or
/// separate values. A parsed value needs far more memory than its text; a list of zeros needs about thirty times as much.
#[must_use]
pub fn json_values(bytes: &[u8]) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (1, false, false);
    for byte in bytes {
        match (is_text, byte) {
            (true, _) if is_escaped => is_escaped = false,
            (true, b'\\') => is_escaped = true,
            (_, b'"') => is_text = !is_text,
            (false, b'[' | b'{' | b',') => count += 1,
            _ => {}
        }
    }
    count
}

/// Checks that an untrusted JSON text has at most `most` values.
///
/// # Errors
/// A sentence says that it has more.
pub fn check_json_values(bytes: &[u8], most: usize) -> Result<(), String> {
    // A text cannot have more values than bytes, so most texts need no scan.
    if bytes.len() > most && json_values(bytes) > most {
        Err(format!("it has more than {most} values"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_texts_are_not() {
        for (text, count) in [("0", 1), ("[0,0,0]", 4), ("{\"a\":{\"b\":1},\"c\":[]}", 5), ("\",[{\\\",\"", 1)] {
            assert_eq!(json_values(text.as_bytes()), count, "{text}");
        }
        assert_eq!(check_json_values(b"[0,0]", 3), Ok(()));
        assert_eq!(check_json_values(b"[0,0]", 2), Err("it has more than 2 values".into()));
    }
}
