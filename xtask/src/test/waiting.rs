//! Finds recorded data that no test reads. Data for a missing feature is printed with the tests, so that it does not seem to
//! be covered.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{Area, targets};
use crate::checkout;

/// Recorded data below `tests/` for missing features: the area, the file or folder, and the feature.
const WAITING: [(Area, &str, &str); 1] =
    [(Area::Corpus, "corpus/real", "the cookbooks, which are fetched outside of the tests")];

/// Vectors that are not tests: the file, and its purpose.
const NOT_TESTS: [(&str, &str); 1] = [("resource_freq.json", "says how often each resource type is used")];

/// Returns a line for each file or folder of an area that belongs to a missing feature.
pub(super) fn lines(areas: &[Area]) -> Result<Vec<String>> {
    let waiting = WAITING.iter().filter(|(area, _, _)| areas.contains(area));
    waiting
        .map(|(area, path, feature)| {
            let cases = cases(&checkout::root().join("tests").join(path))?;
            Ok(format!("{}: {path}: {cases} cases wait for {feature}", area.name()))
        })
        .collect()
}

/// Counts the cases in a file of vectors, or the cases in a folder of the corpus.
fn cases(path: &Path) -> Result<usize> {
    let cannot = || format!("cannot read {}", path.display());
    if path.is_dir() {
        let entries = std::fs::read_dir(path).with_context(cannot)?.filter_map(Result::ok);
        return Ok(entries.filter(|entry| entry.file_name() != "README.md").count());
    }
    let document: Value = serde_json::from_str(&std::fs::read_to_string(path).with_context(cannot)?)?;
    let lists = document.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_array());
    Ok(lists.map(Vec::len).sum())
}

/// Returns the vectors that neither a test nor a table names. Also returns entries of the tables that a test reads or that do
/// not exist.
pub(super) fn check() -> Result<Vec<String>> {
    let tests = checkout::root().join("tests");
    let mut texts = String::new();
    for folder in ["host", "tests/tests", "guests/ruby/build"] {
        for path in targets::sources(&checkout::root().join(folder)) {
            texts.push_str(&std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?);
        }
    }
    let mut problems = Vec::new();
    for entry in std::fs::read_dir(tests.join("vectors"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        problems.extend(problem(&name, texts.contains(&name)));
    }
    let gone = WAITING.iter().filter(|(_, path, _)| !tests.join(path).exists());
    problems.extend(
        gone.map(|(_, path, _)| format!("tests/{path} does not exist: take it out of xtask/src/test/waiting.rs")),
    );
    Ok(problems)
}

/// Returns the problem of one file of vectors. `is_read`: a test reads it.
fn problem(name: &str, is_read: bool) -> Option<String> {
    let waits = WAITING.iter().any(|(_, path, _)| path.strip_prefix("vectors/") == Some(name));
    let is_known = waits || NOT_TESTS.iter().any(|(file, _)| *file == name) || !name.ends_with(".json");
    match (is_read, is_known) {
        (false, false) => {
            Some(format!("no test reads tests/vectors/{name}, and xtask/src/test/waiting.rs does not list it"))
        }
        (true, true) if waits => {
            Some(format!("a test reads tests/vectors/{name}: take it out of xtask/src/test/waiting.rs"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_read_or_wait() {
        let check = |name: &str, is_read: bool, has_problem: bool| {
            assert_eq!(problem(name, is_read).is_some(), has_problem, "{name}");
        };
        check("new.json", false, true);
        check("new.json", true, false);
        check("resource_freq.json", false, false);
        check("README.md", false, false);
    }

    #[test]
    fn all_that_is_recorded_is_read_or_waits() {
        assert_eq!(check().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_waits_is_counted() {
        let all = lines(&[Area::Vectors, Area::Corpus]).unwrap();
        assert!(all.iter().any(|line| line.starts_with("corpus: corpus/real: ")), "{all:?}");
        assert_eq!((all.len(), lines(&[Area::Unit]).unwrap().len()), (1, 0));
    }
}
