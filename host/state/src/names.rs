//! Names that become file names.

use crate::StateError;

/// The longest node name, in bytes. With suffixes, it fits into a file name of 255 bytes.
const MAX_NODE_NAME: usize = 200;

/// Checks a node's name: letters, digits and `-_:.`, as in Chef, but not `.` or `..`.
pub(crate) fn check_node_name(name: &str) -> Result<(), StateError> {
    let bad = |why| Err(StateError::BadName { name: name.chars().take(MAX_NODE_NAME).collect(), of: "node name", why });
    if name.is_empty() {
        return bad("it is empty");
    }
    if name.len() > MAX_NODE_NAME {
        return bad("it is longer than 200 bytes");
    }
    if name.starts_with('.') {
        return bad("it begins with a dot");
    }
    if !name.chars().all(|character| character.is_ascii_alphanumeric() || "-_:.".contains(character)) {
        return bad("only letters, digits and the characters - _ : . are allowed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, good: bool) {
        assert_eq!(check_node_name(name).is_ok(), good, "{name:?}");
    }

    #[test]
    fn node_names_are_harmless_file_names() {
        for name in ["web1.example.com", "a", "00:16:3e:aa", "a_b-c", "a..b"] {
            check(name, true);
        }
        for name in ["", ".", "..", ".hidden", "a/b", "a b", "a\0", "ä", "a\n", &"x".repeat(201)] {
            check(name, false);
        }
    }
}
