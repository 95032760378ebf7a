//! Checks that documentation is not too short: a comment of one to three words says less than the name of its item. Only
//! people can judge the quality of longer comments.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::targets;
use crate::checkout;

/// The folders outside of the host that are also checked.
const BESIDE_ROOMS: [&str; 2] = ["guests/sdk", "xtask/src"];

/// The prefix of the paths of files with `///` lines that are help texts of the program.
const HELP: &str = "host/wrun/src/arguments";

/// Smallest number of words in a comment.
const LEAST_WORDS: usize = 4;

/// The beginning of a file's own tests, whose comments are not checked.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// Returns a line for each comment that is too short.
pub(super) fn check() -> Result<Vec<String>> {
    let mut folders: Vec<_> = BESIDE_ROOMS.map(|folder| checkout::root().join(folder)).into();
    let host = checkout::root().join("host");
    for room in std::fs::read_dir(&host).with_context(|| format!("cannot list {}", host.display()))? {
        folders.push(room?.path().join("src"));
    }
    let mut problems = Vec::new();
    for path in folders.iter().flat_map(|folder| targets::sources(folder)) {
        let inside = path.strip_prefix(checkout::root()).unwrap_or(&path);
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        problems.extend(in_file(inside, &text));
    }
    Ok(problems)
}

/// Returns the problems of one source file, by its path in the checkout.
fn in_file(path: &Path, text: &str) -> Vec<String> {
    if path.to_string_lossy().starts_with(HELP) {
        return Vec::new();
    }
    let short = short_comments(text).into_iter();
    short
        .map(|(line, words)| format!("{}:{line}: `///{words}` has fewer than {LEAST_WORDS} words", path.display()))
        .collect()
}

/// Returns the comments of a single line with too few words, each with the number of its line, from 1. A comment
/// without any words does not count: macros put one between others.
fn short_comments(text: &str) -> Vec<(usize, &str)> {
    let code = text.split(TESTS).next().unwrap_or_default();
    let lines: Vec<(usize, Option<&str>)> = code.lines().map(comment).enumerate().collect();
    let blocks = lines.chunk_by(|(_, one), (_, next)| one.is_some() == next.is_some());
    let short = blocks.filter_map(|block| match block {
        [(at, Some(words))] if (1..LEAST_WORDS).contains(&words.split_whitespace().count()) => Some((at + 1, *words)),
        _ => None,
    });
    short.collect()
}

/// Returns the text of a documentation line, or `None` for any other line.
fn comment(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix("///").filter(|words| !words.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_of_one_line_has_four_words() {
        let check = |text: &str, expected: &[usize]| {
            let found: Vec<usize> = short_comments(text).into_iter().map(|(line, _)| line).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("/// The name.\nname: String,\n", &[1]);
        check("struct One {\n    /// Which.\n    name: String,\n    /// `x.y.z`.\n    version: String,\n}\n", &[2, 4]);
        check("/// The name of a node.\nname: String,\n", &[]);
        check("/// The name.\n/// More.\nname: String,\n", &[]);
        check("/// The name.\n///\n/// # Errors\n/// None.\nfn name() {}\n", &[]);
        check("///\n#[doc = #text]\n", &[]);
        check("//! A room.\n// A note.\n//// A line.\n", &[]);
        check("fn one() {}\n\n#[cfg(test)]\nmod tests {\n    /// A site.\n    struct Site;\n}\n", &[]);
    }

    #[test]
    fn a_short_comment_is_reported_with_its_file_and_line() {
        let check = |path: &str, expected: &[&str]| {
            assert_eq!(in_file(Path::new(path), "\n/// Which.\nname: String,\n"), expected, "{path}");
        };
        check("host/node/src/lib.rs", &["host/node/src/lib.rs:2: `/// Which.` has fewer than 4 words"]);
        check("host/wrun/src/arguments.rs", &[]);
        check("host/wrun/src/arguments/converge.rs", &[]);
    }
}
