//! The special characters of patterns: `*` matches any characters, `?` matches one. `[*]`, `[?]` and `[[]` match these
//! characters themselves.

/// The characters that need brackets to mean themselves. An opening bracket means itself anyway, except before one of these
/// characters and a closing bracket.
const SIGNS: [char; 3] = ['*', '?', '['];

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// Any characters, even none.
    Any,
    /// Any one character, for a `?`.
    One,
    /// This character and no other.
    Is(char),
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        pieces.push(match character {
            '*' => Piece::Any,
            '?' => Piece::One,
            '[' => {
                let mut ahead = characters.clone();
                match (ahead.next(), ahead.next()) {
                    (Some(sign), Some(']')) if SIGNS.contains(&sign) => {
                        characters = ahead;
                        Piece::Is(sign)
                    }
                    _ => Piece::Is('['),
                }
            }
            plain => Piece::Is(plain),
        });
    }
    pieces
}

/// Tells whether a pattern has an opening bracket that is not written as `[[]`. It means itself, although other programs
/// would read a set of characters.
pub(crate) fn has_bare_bracket(pattern: &str) -> bool {
    let in_brackets = SIGNS.map(|sign| format!("[{sign}]"));
    in_brackets.iter().fold(pattern.to_owned(), |rest, sign| rest.replace(sign.as_str(), "")).contains('[')
}

/// Returns the pattern that matches exactly this text.
pub(crate) fn literal_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let means_more = match character {
            '*' | '?' => true,
            '[' => characters.peek().is_some_and(|next| SIGNS.contains(next)),
            _ => false,
        };
        if means_more {
            pattern.extend(['[', character, ']']);
        } else {
            pattern.push(character);
        }
    }
    pattern
}

/// Returns the only text that the pattern matches, or `None` if it has wildcards.
pub(crate) fn only_text(pattern: &str) -> Option<String> {
    let character = |piece: &Piece| match piece {
        Piece::Is(character) => Some(*character),
        Piece::Any | Piece::One => None,
    };
    pieces(pattern).iter().map(character).collect()
}

pub(crate) fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?']) && pieces(pattern).iter().any(|piece| !matches!(piece, Piece::Is(_)))
}

/// Returns the number of characters before the first wildcard.
pub(crate) fn fixed_beginning(pattern: &str) -> usize {
    pieces(pattern).iter().take_while(|piece| matches!(piece, Piece::Is(_))).count()
}

pub(crate) fn fixed_characters(pattern: &str) -> usize {
    pieces(pattern).iter().filter(|piece| matches!(piece, Piece::Is(_))).count()
}

/// Tells whether a text matches a pattern. The time is limited by the product of the lengths.
pub(crate) fn wildcard(pattern: &str, text: &str) -> bool {
    if !pattern.contains(SIGNS) {
        return pattern == text;
    }
    matches(&pieces(pattern), &text.chars().map(Piece::Is).collect::<Vec<_>>())
}

/// Tells whether a pattern matches every name that another pattern matches. Only a `*` covers the other pattern's `*`.
pub(crate) fn covers_name(pattern: &str, other: &str) -> bool {
    if !pattern.contains(SIGNS) && !other.contains(SIGNS) {
        return pattern == other;
    }
    matches(&pieces(pattern), &pieces(other))
}

fn matches(pattern: &[Piece], text: &[Piece]) -> bool {
    let (mut at_pattern, mut at_text) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at_text < text.len() || at_pattern < pattern.len() {
        match (pattern.get(at_pattern), text.get(at_text)) {
            (Some(Piece::Any), _) => {
                retry = Some((at_pattern, at_text + 1));
                at_pattern += 1;
                continue;
            }
            (Some(Piece::One), Some(Piece::Is(_) | Piece::One)) => {
                at_pattern += 1;
                at_text += 1;
                continue;
            }
            (Some(wanted @ Piece::Is(_)), Some(found)) if wanted == found => {
                at_pattern += 1;
                at_text += 1;
                continue;
            }
            _ => {}
        }
        match retry {
            Some((pattern_again, text_again)) if text_again <= text.len() => {
                (at_pattern, at_text) = (pattern_again, text_again);
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_end_in_bounded_time() {
        assert!(!wildcard(&"*a".repeat(50), &format!("{}b", "a".repeat(2000))));
        assert!(wildcard("php-*", "php-fpm"));
        assert!(wildcard("*", ""));
        assert!(!wildcard("?", ""));
        assert!(wildcard("a*c*e", "abcde"));
    }

    #[test]
    fn signs_in_brackets_mean_themselves() {
        assert!(wildcard("a[*]", "a*") && !wildcard("a[*]", "ab") && !wildcard("a[*]", "a[*]"));
        assert!(wildcard("[?]x*", "?xyz") && !wildcard("[?]x*", "axyz"));
        assert!(wildcard("[::1]", "[::1]") && wildcard("a[b]", "a[b]") && wildcard("[", "["));
        assert!(covers_name("*", "a[*]") && covers_name("a?", "a[*]") && !covers_name("a[*]", "a*"));
        assert!(!covers_name("a[*]", "a?") && covers_name("a[*]", "a[*]"));
        assert!(!has_wildcard("a[*][?]") && has_wildcard("a[*]*"));
        assert_eq!(only_text("a[*][[]b"), Some("a*[b".into()));
        assert_eq!((only_text("a*"), fixed_beginning("a[*]b?c"), fixed_characters("a[*]b?c")), (None, 3, 4));
    }

    #[test]
    fn brackets_that_may_be_meant_as_a_set_are_found() {
        for (pattern, expect) in
            [("/etc/[a", true), ("[a-z]*", true), ("a[*][[]b", false), ("[[][a]", true), ("]", false)]
        {
            assert_eq!(has_bare_bracket(pattern), expect, "{pattern}");
        }
    }

    #[test]
    fn the_literal_pattern_of_a_text_matches_that_text_alone() {
        let texts = ["", "a", "*", "**", "a?b", "[*]", "[[]", "[", "[[*]]", "[[[", "]", "[a]", "x[?", "\\*"];
        for text in texts {
            let pattern = literal_pattern(text);
            assert_eq!(only_text(&pattern).as_deref(), Some(text), "{pattern}");
            for other in texts {
                assert_eq!(wildcard(&pattern, other), text == other, "{pattern} on {other}");
            }
        }
    }
}
