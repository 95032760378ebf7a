//! Normalizes tar archives that a case creates. They contain modification times and depend on the file system's order of
//! files, and neither counts in a comparison.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Size of a block in a tar archive, in bytes.
const BLOCK: usize = 512;

/// The position of the modification time and the checksum in a header.
const TIMES: std::ops::Range<usize> = 136..156;

/// The position of the content's length in a header, in octal.
const SIZE: std::ops::Range<usize> = 124..136;

/// The position of the magic number in a header.
const MAGIC: std::ops::Range<usize> = 257..262;

/// Returns a tree with all times removed from its archives.
pub(super) fn without_times(tree: &Value) -> Value {
    let Value::Object(entries) = tree else { return tree.clone() };
    let entry = |entry: &Value| {
        let mut entry = entry.clone();
        if let Some(encoded) = entry.get_mut("content_base64")
            && let Some(mut content) = encoded.as_str().and_then(|text| STANDARD.decode(text).ok())
        {
            take_out(&mut content);
            *encoded = json!(STANDARD.encode(content));
        }
        entry
    };
    Value::Object(entries.iter().map(|(path, inner)| (path.clone(), entry(inner))).collect())
}

fn take_out(archive: &mut Vec<u8>) {
    let mut at = 0;
    let mut entries = Vec::new();
    while let Some(header) = archive.get_mut(at..at + BLOCK).filter(|header| header.get(MAGIC) == Some(b"ustar")) {
        let size = header.get(SIZE).map(|digits| digits.iter().take_while(|digit| digit.is_ascii_digit()));
        let size = size.map_or(0, |digits| digits.fold(0, |sum, digit| sum * 8 + usize::from(digit - b'0')));
        if let Some(times) = header.get_mut(TIMES) {
            times.fill(0);
        }
        let end = (at + BLOCK + size.div_ceil(BLOCK) * BLOCK).min(archive.len());
        entries.push(archive.get(at..end).unwrap_or_default().to_vec());
        at = end;
    }
    entries.sort();
    archive.splice(..at, entries.concat());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(time: &str, content: &str) -> Value {
        let mut bytes = vec![0; 3 * BLOCK];
        bytes[..3].copy_from_slice(b"one");
        bytes[SIZE].copy_from_slice(b"00000000004\0");
        bytes[136..147].copy_from_slice(time.as_bytes());
        bytes[MAGIC].copy_from_slice(b"ustar");
        bytes[BLOCK..BLOCK + 4].copy_from_slice(content.as_bytes());
        json!({"x.tar": {"type": "file", "content_base64": STANDARD.encode(bytes)}})
    }

    #[test]
    fn times_do_not_count_and_contents_do() {
        let (old, new) = (archive("15300170303", "text"), archive("15300170777", "text"));
        assert_ne!(old, new);
        assert_eq!(without_times(&old), without_times(&new));
        assert_ne!(without_times(&old), without_times(&archive("15300170303", "TEXT")));
        let plain = json!({"a": {"type": "file", "content": "x"}, "b": {"content_base64": "AAEC"}});
        assert_eq!(without_times(&plain), plain);
    }
}
