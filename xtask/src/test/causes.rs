//! Checks that error messages do not include their cause. The program prints the whole chain of causes, so it would appear
//! twice.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::targets;
use crate::checkout;

/// The folder with the sources of the host's crates.
const ROOMS: &str = "host";

/// Returns the error messages that include their `source` field, which is printed as the cause anyway.
pub(super) fn check() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let sources = targets::sources(&checkout::root().join(ROOMS));
    if sources.is_empty() {
        problems.push(format!("{ROOMS} has no sources: xtask/src/test/causes.rs looks in the wrong folder"));
    }
    for path in sources {
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        problems.extend(in_file(path.strip_prefix(checkout::root()).unwrap_or(&path), &text));
    }
    Ok(problems)
}

fn in_file(path: &Path, text: &str) -> Vec<String> {
    let begin = "#[error(";
    let sentences = text.match_indices(begin).filter_map(|(at, _)| {
        let rest = text.get(at..)?;
        Some((at, rest.get(..rest.find(")]")?)?))
    });
    let doubled =
        sentences.filter(|(_, sentence)| ["{source}", "{source:"].iter().any(|field| sentence.contains(field)));
    doubled
        .map(|(at, _)| {
            let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            format!(
                "{}:{line}: the sentence has its `source`, which is printed behind it: leave it out, or give the field \
                 another name",
                path.display()
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_in_a_sentence_is_reported_with_its_line() {
        let found = |text: &str| in_file(Path::new("host/a/src/a.rs"), text).len();
        assert_eq!(found("#[error(\"cannot read {path}: {source}\")]\nRead,\n"), 1);
        assert_eq!(found("#[error(\n    \"cannot read: {source:?}\"\n)]\n"), 1);
        assert_eq!(
            found("#[error(\"cannot read {path}\")]\nRead { source: Error },\nlet text = format!(\"{source}\");"),
            0
        );
        let all = in_file(Path::new("host/a/src/a.rs"), "\n\n#[error(\"{source}\")]\n");
        assert!(all.iter().all(|one| one.starts_with("host/a/src/a.rs:3: ")), "{all:?}");
    }
}
