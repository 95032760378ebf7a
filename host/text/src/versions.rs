//! Formats the versions of a policy for people.

/// Number of displayed digits of a revision or a digest.
const DIGITS: usize = 12;

/// Returns the first digits of both, such as `revision 0123456789ab, artifact 0123456789ab`. A revision does not cover a
/// policy's own code, but the artifact's digest does. An unknown version is an empty text and is left out.
pub fn versions(revision: &str, artifact: &str) -> String {
    let named = [("revision", revision), ("artifact", artifact)].into_iter().filter(|(_, digits)| !digits.is_empty());
    let short = named.map(|(word, digits)| format!("{word} {}", digits.chars().take(DIGITS).collect::<String>()));
    short.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_told_by_their_first_digits() {
        assert_eq!(versions(&"1".repeat(64), &"a".repeat(64)), "revision 111111111111, artifact aaaaaaaaaaaa");
        assert_eq!((versions("12", ""), versions("", "")), ("revision 12".to_owned(), String::new()));
    }
}
