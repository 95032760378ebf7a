//! Near names: what somebody may have meant, and what a file's reader complains about, in plain words.

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

/// Names longer than this are compared by their beginning only: the cost grows with the square, and guests choose names.
const MAXIMUM_COMPARED_CHARACTERS: usize = 64;

/// The candidate nearest to a name, if it is near enough to be a slip: at most a third of its characters differ. Of equally near
/// ones the first in alphabetical order, so that the answer never depends on the order of tables.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The complaint of a file's reader in plain words: of a key that does not exist the near name, not a list of all that do;
/// of a value of the wrong kind what it must be.
pub fn plainly(complaint: &str) -> String {
    if let Some(rest) = complaint.strip_prefix("unknown field `")
        && let Some((key, rest)) = rest.split_once('`')
    {
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let said = match nearest(key, known.iter().copied()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None if known.len() <= MAXIMUM_LISTED_NAMES => format!("; there are {}", known.join(", ")),
            None => String::new(),
        };
        return format!("there is no key `{key}`{said}");
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

/// How many characters must be inserted, removed, replaced or swapped with their neighbour (optimal string alignment).
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().take(MAXIMUM_COMPARED_CHARACTERS).collect();
    let right: Vec<char> = right.chars().take(MAXIMUM_COMPARED_CHARACTERS).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let at = |line: &[usize], column: usize| line.get(column).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&above, column) + usize::from(letter != other);
            let mut best = replaced.min(at(&above, column + 1) + 1).min(at(&line, column) + 1);
            let is_swap =
                row > 0 && column > 0 && left.get(row - 1) == Some(other) && right.get(column - 1) == Some(letter);
            if is_swap {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_put_plainly() {
        let check = |complaint: &str, expected: &str| assert_eq!(plainly(complaint), expected);
        let two = "expected `name` or `run_list`";
        check(&format!("unknown field `nam`, {two}"), "there is no key `nam`; did you mean `name`?");
        check(&format!("unknown field `colour`, {two}"), "there is no key `colour`; there are name, run_list");
        let many = ["`owner`"; 11].join(", ");
        check(&format!("unknown field `x`, expected one of {many}"), "there is no key `x`");
        check("invalid type: integer `3`, expected path string", "this must be a path, as text, not integer `3`");
        check("invalid type: sequence, expected struct Needs", "this must be a table, not a list");
        check("duplicate key", "duplicate key");
    }

    #[test]
    fn slips_are_recognised() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(nearest(name, ["mode", "owner", "content", "group", "path"]), expected, "{name}");
        };
        check("mod", Some("mode"));
        check("onwer", Some("owner"));
        check("contents", Some("content"));
        check("Mode", Some("mode"));
        check("colour", None);
        check("", None);
        check(&"x".repeat(1_000_000), None);
    }
}
