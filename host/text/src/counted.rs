//! Formats counts with nouns for sentences.

/// Returns a number with its noun: `1 file`, `2 files`. The last word of `thing` takes an `s`, and `y` after a consonant
/// becomes `ies`.
#[must_use]
pub fn counted(count: usize, thing: &str) -> String {
    let before_y = thing.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (count, before_y) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        _ => format!("{count} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_no_plural() {
        for (count, thing, expect) in [
            (0, "team", "0 teams"),
            (1, "team", "1 team"),
            (2, "older run", "2 older runs"),
            (1, "policy", "1 policy"),
            (3, "policy", "3 policies"),
            (2, "key", "2 keys"),
        ] {
            assert_eq!(counted(count, thing), expect);
        }
    }
}
