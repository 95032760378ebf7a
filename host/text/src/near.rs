//! Finds the known name that is most similar to a misspelt one.
//!
//! The SDK for cookbooks contains this file as a symbolic link, because `wrun policy new` copies only the SDK's folder into
//! policies.

/// Only this many characters of a name are compared. The time grows with the square of the length, and guests choose the
/// names.
const MAX_COMPARED_CHARACTERS: usize = 64;

/// Returns the candidate that is most similar to a name, or `None` if more than a third of its characters differ. Of a name with
/// one or two characters, fewer than half may differ. Of equally
/// similar candidates it returns the first in alphabetical order, so that the result never depends on the order of tables.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| {
            let longest = name.chars().count().max(candidate.chars().count());
            *distance <= most && (*distance == 0 || distance * 2 < longest)
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Returns a sentence that suggests the most similar name, or `None` if no candidate is similar.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// Does the same as [`did_you_mean`] for names of resource types. Authors often write only the file name of a cookbook's own
/// type, so the candidate `site_vhost` also matches `vhost` and `vhots`.
pub fn did_you_mean_type<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let all: Vec<&str> = candidates.into_iter().collect();
    let after_cookbook = |candidate: &&'a str| candidate.split_once('_').map(|(_, rest)| rest);
    let by_file = || {
        let file = nearest(name, all.iter().filter_map(after_cookbook))?;
        all.iter().copied().filter(|candidate| after_cookbook(candidate) == Some(file)).min()
    };
    let by_ending = || {
        let ending = format!("_{name}");
        all.iter().copied().filter(|candidate| candidate.ends_with(&ending)).min()
    };
    let near = nearest(name, all.iter().copied()).or_else(by_ending).or_else(by_file);
    near.map(|near| format!("did you mean `{near}`?"))
}

/// Returns the number of insertions, removals, replacements, and swaps of neighbouring characters between two names (optimal
/// string alignment).
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().take(MAX_COMPARED_CHARACTERS).collect();
    let right: Vec<char> = right.chars().take(MAX_COMPARED_CHARACTERS).collect();
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
    fn slips_are_recognised() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(nearest(name, ["mode", "owner", "content", "group", "path"]), expected, "{name}");
        };
        check("mod", Some("mode"));
        check("mdoe", Some("mode"));
        check("onwer", Some("owner"));
        check("contents", Some("content"));
        check("Mode", Some("mode"));
        check("colour", None);
        check("", None);
        assert_eq!(nearest("x", ["y", "xy"]), None, "nothing is left of the name");
        assert_eq!((nearest("id", ["ip"]), nearest("id", ["ids"])), (None, Some("ids")));
        check(&"x".repeat(1_000_000), None);
        assert_eq!(did_you_mean("onwer", ["owner"]).as_deref(), Some("did you mean `owner`?"));
    }

    #[test]
    fn a_type_is_found_by_the_name_of_its_file() {
        let known = ["site_vhost", "site_certificate", "my_site_pool", "file"];
        let near = |name: &str| did_you_mean_type(name, known);
        assert_eq!(near("vhost").as_deref(), Some("did you mean `site_vhost`?"));
        assert_eq!(near("vhots").as_deref(), Some("did you mean `site_vhost`?"));
        assert_eq!(near("pool").as_deref(), Some("did you mean `my_site_pool`?"));
        assert_eq!(near("site_vhots").as_deref(), Some("did you mean `site_vhost`?"));
        assert_eq!(near("fiel").as_deref(), Some("did you mean `file`?"));
        assert_eq!(near("nothing"), None);
    }
}
