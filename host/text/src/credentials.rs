//! Credentials in addresses: `https://user:password@example.org/`. Programs write them into their messages.

use std::borrow::Cow;

/// The replacement for user and password in an address.
const HIDDEN: &str = "***";

/// Returns a text with user and password in its addresses replaced by `***`.
///
/// ```
/// let text = "cannot fetch http://team:S3cret@example.org/private.";
/// assert_eq!(text::without_credentials(text), "cannot fetch http://***@example.org/private.");
/// ```
pub fn without_credentials(text: &str) -> Cow<'_, str> {
    let mut rest = text;
    let mut hidden = String::new();
    while let Some((before, credentials, after)) = next(rest) {
        if is_secret(credentials) {
            hidden.extend([before, HIDDEN]);
        } else {
            hidden.extend([before, credentials]);
        }
        rest = after;
    }
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    hidden.push_str(rest);
    Cow::Owned(hidden)
}

/// Tells whether an address in a text has a user and a password.
pub fn has_credentials(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, credentials, after)) = next(rest) {
        if is_secret(credentials) {
            return true;
        }
        rest = after;
    }
    false
}

/// A user name alone is not a secret in `ssh://git@example.org`. It may be a token elsewhere: those are long.
fn is_secret(credentials: &str) -> bool {
    /// The longest name of a user on Linux.
    const LONGEST_NAME: usize = 32;
    credentials.contains(':') || credentials.len() > LONGEST_NAME
}

/// Finds the first user (and password) before a server's name. Returns the texts before it, itself, and after it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find("://")? + "://".len();
        let address = text.get(start..)?;
        let end = address.find(|sign: char| sign.is_whitespace() || "/\"'<>?#".contains(sign)).unwrap_or(address.len());
        if let Some(at) = address.get(..end)?.rfind('@') {
            return Some((text.get(..start)?, address.get(..at)?, address.get(at..)?));
        }
        from = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(without_credentials(text), expect);
        assert_eq!(has_credentials(text), text != expect, "{text}");
    }

    #[test]
    fn users_and_passwords_in_addresses_are_hidden() {
        check("http://a:b@h/", "http://***@h/");
        check(
            "x 'http://a:b@h' https://c:d@i:80/e@f, ssh://u:p@j",
            "x 'http://***@h' https://***@i:80/e@f, ssh://***@j",
        );
        check("http://a:p@ss@h/x", "http://***@h/x");
        check("http://:p@h", "http://***@h");
        check("(http://a:b@h)", "(http://***@h)");
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "",
            "plain",
            "http://h/a:b@c",
            "ssh://git@example.org/x",
            "a:b@c",
            "http:// a:b@c",
            "://",
            "http://h?a:b@c",
        ] {
            check(text, text);
        }
        let token = "ghp_0123456789012345678901234567890123456789";
        check(&format!("https://{token}@h/"), "https://***@h/");
    }
}
