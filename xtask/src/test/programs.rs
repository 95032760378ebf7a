//! Checks the list of all places where providers start a program that the host chooses, usually as root. The list says who
//! chooses each argument.
//!
//! An argument that a guest chooses could be an option, a path that is replaced by a link, or text with a special meaning. So
//! each new or changed call needs a row that says who chooses its arguments. `execute` children of composed types are not
//! listed, since a policy needs a grant for each of their arguments.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::targets;
use crate::checkout;
use Chooser::{Checked, Fixed, Guest, Resolved};

mod rows;

use rows::PLACES;

/// The sources of the providers, with their tests.
const PROVIDERS: &str = "host/providers/src";

/// The beginnings of such places in the code. A call ends at its closing parenthesis, a field at the end of its line.
const BEGINNINGS: [&str; 7] = [
    "Launch::program(",
    ".printed(",
    ".printed_confined(",
    "tools::ask(",
    "run(writer, \"",
    "launch(&[",
    "program: \"",
];

/// The beginning of a file's tests.
const TESTS: &str = "#[cfg(test)]\nmod ";

/// The origin of a program's arguments, and the protection against misuse.
#[derive(Debug, Clone, Copy)]
enum Chooser {
    /// Chosen by the host. They are the same for every guest.
    Fixed,
    /// Chosen by a guest, but checked: names, numbers, or words of a list. They cannot be options or paths.
    Checked(&'static str),
    /// Chosen by a guest. The host has resolved the granted path, so it cannot lead elsewhere.
    Resolved(&'static str),
    /// Chosen freely by a guest. The text says why this does no harm.
    Guest(&'static str),
}

impl Chooser {
    /// Returns the explanation of the row, or `None` for fixed arguments.
    fn why(self) -> Option<&'static str> {
        match self {
            Fixed => None,
            Checked(why) | Resolved(why) | Guest(why) => Some(why),
        }
    }
}

/// One place: its file relative to the providers' sources, its call, and the origin of its arguments.
type Place = (&'static str, &'static str, &'static [Chooser]);

/// Returns places without a row, rows without a place, and rows without an explanation.
pub(super) fn check() -> Result<Vec<String>> {
    let root = checkout::root().join(PROVIDERS);
    let mut found = Vec::new();
    for path in targets::sources(&root) {
        let file = path.strip_prefix(&root).unwrap_or(&path);
        let is_test = file.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs");
        if !is_test {
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            found.extend(places(file, &text));
        }
    }
    Ok(compare(&found, PLACES))
}

/// Returns the places of one file: the file name, and each call on one line.
fn places(file: &Path, text: &str) -> Vec<(String, String)> {
    let code = text.split(TESTS).next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let code: Vec<&str> = code.lines().filter(is_code).collect();
    let code = code.join("\n");
    let mut found = Vec::new();
    for beginning in BEGINNINGS {
        for (at, _) in code.match_indices(beginning) {
            let (before, rest) = code.split_at(at);
            let goes_on = before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
            if before.ends_with("fn ") || (goes_on && !beginning.starts_with('.')) {
                continue;
            }
            let call = if beginning.ends_with('(') || beginning.contains('(') {
                call(rest)
            } else {
                rest.lines().next().unwrap_or_default().trim_end_matches([',', ' ', '{', '}'])
            };
            let words: Vec<&str> = call.split_whitespace().collect();
            let call = words.join(" ");
            found.push((file.display().to_string(), call.trim_start_matches('.').to_owned()));
        }
    }
    found
}

/// Returns the text up to the parenthesis that closes its first one.
fn call(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, sign) in text.char_indices() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return text.get(..=at).unwrap_or(text);
        }
    }
    text
}

fn compare(found: &[(String, String)], rows: &[Place]) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, call) in found {
        if !rows.iter().any(|(known, text, _)| known == file && text == call) {
            problems.push(format!(
                "{PROVIDERS}/{file} starts a program by `{call}`: say in xtask/src/test/programs/rows.rs who chose its words"
            ));
        }
    }
    for (file, call, choosers) in rows {
        if !found.iter().any(|(known, text)| known == file && text == call) {
            problems.push(format!("{file} has no `{call}` any more: take its row out"));
        }
        if choosers.is_empty() || choosers.iter().any(|one| one.why().is_some_and(|why| why.split(' ').count() < 3)) {
            problems.push(format!("the row of `{call}` in {file} does not say who chose its words"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "fn run(writer: &mut Writer<'_>) {\n    // Launch::program(\"commented\", [])\n    let launch = Launch::program(\n        \"tool\",\n        [wish.path(), \"--\"],\n    );\n    run(writer, \"usermod\", vec![], &name);\n    machine.printed(\"df\", &[folder]);\n}\nT { program: \"dpkg\", }\n#[cfg(test)]\nmod tests {\n    Launch::program(\"x\", [])\n}\n";

    fn found() -> Vec<(String, String)> {
        places(Path::new("a.rs"), CODE)
    }

    #[test]
    fn places_are_found_whatever_their_lines() {
        let calls: Vec<String> = found().into_iter().map(|(_, call)| call).collect();
        let expected = [
            "Launch::program( \"tool\", [wish.path(), \"--\"], )",
            "printed(\"df\", &[folder])",
            "run(writer, \"usermod\", vec![], &name)",
            "program: \"dpkg\"",
        ];
        assert_eq!(calls, expected);
    }

    #[test]
    fn a_new_place_a_changed_one_and_an_empty_row_are_problems() {
        let rows: [Place; 4] = [
            ("a.rs", "Launch::program( \"tool\", [wish.path(), \"--\"], )", &[Fixed, Resolved("it is pinned down")]),
            ("a.rs", "printed(\"df\", &[folder])", &[Checked("a plain name")]),
            ("a.rs", "run(writer, \"usermod\", vec![], &name)", &[Checked("a plain name")]),
            ("a.rs", "program: \"dpkg\"", &[Fixed]),
        ];
        assert_eq!(compare(&found(), &rows), [""; 0]);
        assert_eq!(compare(&found(), &rows[1..]).len(), 1, "a new place");
        let mut changed = rows;
        changed[1].1 = "printed(\"df\", &[\"/\"])";
        assert_eq!(compare(&found(), &changed).len(), 2, "a changed place");
        let mut silent = rows;
        silent[0].2 = &[Guest("")];
        silent[3].2 = &[];
        assert_eq!(compare(&found(), &silent).len(), 2, "rows that say nothing");
    }
}
