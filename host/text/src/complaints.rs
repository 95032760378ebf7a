//! The complaints of readers of TOML and JSON in plain words.

use crate::did_you_mean;

/// The most names that are listed where none is near.
const MAXIMUM_LISTED_NAMES: usize = 10;

/// What Rust calls the things that a file may hold, and what people call them.
const KINDS: [(&str, &str); 9] = [
    ("path string", "a path, as text"),
    ("a string", "text"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("sequence", "a list"),
    ("a map", "a table"),
    ("map", "a table"),
    ("i64", "a whole number"),
    ("u64", "a whole number"),
];

/// Returns the complaint of a TOML or JSON reader in plain words. For a key that does not exist it offers the near name rather
/// than a list of all keys; for a value of the wrong kind it says which kind is needed.
pub fn plainly(complaint: &str) -> String {
    if let Some(rest) = complaint.strip_prefix("unknown field `")
        && let Some((key, rest)) = rest.split_once('`')
    {
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let said = match did_you_mean(key, known.iter().copied()) {
            Some(near) => format!("; {near}"),
            None if known.len() <= MAXIMUM_LISTED_NAMES => format!("; there are {}", known.join(", ")),
            None => String::new(),
        };
        return format!("unknown key `{key}`{said}");
    }
    if let Some((found, wanted)) =
        complaint.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("this must be {}, not {}", kind(wanted), kind(found));
    }
    complaint.to_owned()
}

fn kind(name: &str) -> &str {
    match KINDS.iter().find(|(theirs, _)| *theirs == name) {
        Some((_, plain)) => plain,
        None if name.starts_with("struct ") => "a table",
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_put_plainly() {
        let check = |complaint: &str, expected: &str| assert_eq!(plainly(complaint), expected);
        let two = "expected `name` or `run_list`";
        check(&format!("unknown field `nam`, {two}"), "unknown key `nam`; did you mean `name`?");
        check(&format!("unknown field `colour`, {two}"), "unknown key `colour`; there are name, run_list");
        let many = ["`owner`"; 11].join(", ");
        check(&format!("unknown field `x`, expected one of {many}"), "unknown key `x`");
        check("invalid type: integer `3`, expected path string", "this must be a path, as text, not integer `3`");
        check("invalid type: sequence, expected struct Needs", "this must be a table, not a list");
        check("duplicate key", "duplicate key");
    }
}
