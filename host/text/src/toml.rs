//! Formats strings and keys as TOML.

use crate::is_hidden;
use std::fmt::Write as _;

/// Returns text as a TOML basic string. Control characters and characters that reorder or hide text are escaped, so that a
/// pasted line does exactly what it shows.
pub fn toml_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            hidden if is_hidden(hidden) => drop(write!(quoted, "\\U{:08X}", u32::from(hidden))),
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns a name as a TOML key, without quotes if possible.
pub fn toml_key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare { name.into() } else { toml_string(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_and_show_all_that_they_hold() {
        let check = |text: &str, expected: &str| assert_eq!(toml_string(text), expected);
        check("/srv/web", r#""/srv/web""#);
        check("a\"b\\c\n\t\r", r#""a\"b\\c\n\t\r""#);
        check("\u{1b}[2J\u{7f}", r#""\U0000001B[2J\U0000007F""#);
        check("a\u{202e}b\u{e0041}\u{61c}", r#""a\U0000202Eb\U000E0041\U0000061C""#);
        check("\u{e4}\u{4e2d}", "\"\u{e4}\u{4e2d}\"");
    }

    #[test]
    fn keys_are_bare_where_they_can_be() {
        let check = |name: &str, expected: &str| assert_eq!(toml_key(name), expected);
        check("web-2_a", "web-2_a");
        check("3.1", r#""3.1""#);
        check("", r#""""#);
    }
}
