//! How people are told which build of a policy is meant.

/// The number of digits of a revision or a digest that people see.
const DIGITS: usize = 12;

/// Returns `revision 0123456789ab, artifact 0123456789ab`, the first digits of both: a revision does not cover a policy's own
/// code, an artifact does. What is not known is empty, and left out.
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
