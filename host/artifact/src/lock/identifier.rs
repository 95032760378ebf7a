//! Computes the identifier of a cookbook from its files.
//!
//! As in Chef, it is the SHA-1 of a list of the files with the MD5 of each, sorted by path. These digests only identify
//! content. The artifact's own SHA-256 protects it.

use md5::{Digest as _, Md5};
use sha1::Sha1;

use text::hex;

/// A file of a cookbook and its content's MD5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChecksum {
    /// Its path below the cookbook's folder, with `/` between the parts.
    pub path: String,
    /// The MD5 of its content, 32 hexadecimal digits.
    pub md5: String,
}

impl FileChecksum {
    /// Computes the checksum of a file's content.
    #[must_use]
    pub fn of(path: &str, content: &[u8]) -> Self {
        Self { path: path.to_owned(), md5: hex(Md5::digest(content)) }
    }
}

/// A cookbook's identifier: 40 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CookbookIdentifier(String);

impl CookbookIdentifier {
    /// Computes the identifier of a cookbook's files, in any order.
    #[must_use]
    pub fn of(files: &[FileChecksum]) -> Self {
        Self(hex(Sha1::digest(fingerprint_text(files))))
    }

    /// Parses an identifier. Returns `None` if it is not 40 lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| Self(text.to_owned()))
    }

    /// Returns the identifier as 40 hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The identifier as a version of three numbers, for services that know only versions.
    #[must_use]
    pub fn dotted_decimal(&self) -> String {
        let part = |range: std::ops::Range<usize>| {
            let digits = self.0.get(range).unwrap_or_default();
            // At most 14 digits: 56 bits.
            u64::from_str_radix(digits, 16).unwrap_or_default()
        };
        format!("{}.{}.{}", part(0..14), part(14..28), part(28..40))
    }
}

impl std::fmt::Display for CookbookIdentifier {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

/// One line per file, `PATH:MD5`, sorted by path.
fn fingerprint_text(files: &[FileChecksum]) -> String {
    let mut sorted: Vec<&FileChecksum> = files.iter().collect();
    sorted.sort_by(|left, right| left.path.cmp(&right.path));
    sorted.iter().map(|file| format!("{}:{}\n", file.path, file.md5)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_content_and_listed_by_path() {
        let files = [FileChecksum::of("recipes/b.rb", b""), FileChecksum::of("a", b"hello\n")];
        assert_eq!(
            fingerprint_text(&files),
            "a:b1946ac92492d2347c6235b4d2611184\nrecipes/b.rb:d41d8cd98f00b204e9800998ecf8427e\n"
        );
    }

    #[test]
    fn identifiers_are_read_strictly() {
        let good = CookbookIdentifier::of(&[]);
        assert_eq!(CookbookIdentifier::parse(good.as_str()), Some(good));
        for bad in ["", "abc", &"g".repeat(40), &"A".repeat(40), &"0".repeat(41)] {
            assert_eq!(CookbookIdentifier::parse(bad), None, "{bad}");
        }
    }
}
