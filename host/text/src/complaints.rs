//! Rewrites error messages of TOML and JSON parsers in plain words.

use crate::did_you_mean;

/// Largest number of names that are listed if no name is similar.
const MAX_LISTED_NAMES: usize = 10;

/// The names of value types in Rust's error messages, and their plain names.
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

/// The message about the range of TOML's integers.
const WHOLE_NUMBERS: &str = "whole numbers are from -9223372036854775808 to 9223372036854775807";

/// Returns the error message of a TOML or JSON parser in plain words. For an unknown key it suggests a similar name instead
/// of a list of all keys. For a value of the wrong type it names the expected type.
pub fn plainly(complaint: &str) -> String {
    if let Some(rest) = complaint.strip_prefix("unknown field `")
        && let Some((key, rest)) = rest.split_once('`')
    {
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let said = match did_you_mean(key, known.iter().copied()) {
            Some(near) => format!("; {near}"),
            None if known.len() <= MAX_LISTED_NAMES => format!("; there are {}", known.join(", ")),
            None => String::new(),
        };
        return format!("unknown key `{key}`{said}");
    }
    let number = ["invalid type: integer `", "invalid value: integer `"]
        .iter()
        .find_map(|said| complaint.strip_prefix(said).and_then(out_of_range));
    if let Some(number) = number {
        return format!("the number {number} is out of range: {WHOLE_NUMBERS}");
    }
    if let Some((found, wanted)) =
        complaint.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("this must be {}, not {}", kind(wanted), kind(found));
    }
    match complaint {
        "u64 value was too large" => format!("the number is out of range: {WHOLE_NUMBERS}"),
        _ => complaint.to_owned(),
    }
}

/// Finds a number in the message that is too large for TOML.
fn out_of_range(rest: &str) -> Option<&str> {
    let (number, rest) = rest.split_once('`')?;
    (rest.starts_with(" as i128") || rest.starts_with(" as u128")).then_some(number)
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
        let large = format!("the number 99 is out of range: {WHOLE_NUMBERS}");
        check("invalid type: integer `99` as i128, expected any valid TOML value", &large);
        check("u64 value was too large", &format!("the number is out of range: {WHOLE_NUMBERS}"));
    }
}
