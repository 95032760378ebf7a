//! Words of command lines that people copy.

/// Returns a text as a shell reads it as one word.
pub fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:,@%=".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        for (text, expected) in [
            ("/etc/wrun/grants.toml", "/etc/wrun/grants.toml"),
            ("--policy-name=web,core@prod", "--policy-name=web,core@prod"),
            ("role[web]", "'role[web]'"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), expected);
        }
    }
}
