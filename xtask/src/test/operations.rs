//! Checks that providers do not store closures in plans, since the steps of a plan must be displayable operations. Also
//! checks that they do not read properties without the schema's type and default.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::targets;
use crate::checkout;

/// The sources of the providers, with their tests.
const PROVIDERS: &str = "host/providers/src";

/// Forbidden text in the providers: the text, its description, and the files that may contain it.
const FORBIDDEN: [(&str, &str, &[&str]); 2] = [
    // The effect of a stored closure cannot be displayed.
    ("dyn FnOnce", "keeps a closure: make it an `Operation`", &[]),
    (
        "wanted.get(\"",
        "reads a property without its type and default: use `asked::properties`, or `asked::content` for bytes",
        // These files need the declared value without the default, a message of any type, or a property that may be absent.
        &["claims.rs", "composite.rs", "resources/http_request.rs", "resources/template.rs"],
    ),
];

/// Returns the lines of the providers with forbidden text.
pub(super) fn check() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let folder = checkout::root().join(PROVIDERS);
    let sources = targets::sources(&folder);
    if sources.is_empty() {
        problems.push(format!("{PROVIDERS} has no sources: xtask/src/test/operations.rs looks in the wrong folder"));
    }
    for path in sources {
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        problems.extend(in_file(path.strip_prefix(&folder).unwrap_or(&path), &text));
    }
    Ok(problems)
}

fn in_file(path: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let found = FORBIDDEN.iter().filter(|(forbidden, ..)| code.contains(forbidden));
        let found = found.filter(|(.., exceptions)| !exceptions.iter().any(|file| path == Path::new(file)));
        problems.extend(found.map(|(_, what, _)| format!("{PROVIDERS}/{}:{}: {what}", path.display(), at + 1)));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_providers_may_not_do_is_reported_with_its_line() {
        let check = |path: &str, text: &str, expected: &[&str]| {
            let found = in_file(Path::new(path), text);
            assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found}");
            }
        };
        let kept = ["host/providers/src/a.rs:2: keeps a closure"];
        check("a.rs", "\ntype Effect = Box<dyn FnOnce(&mut Writer) + Send>;\n", &kept);
        check("a.rs", "// no dyn FnOnce here\nfn with(act: impl FnOnce()) {}\n", &[]);
        let read = "let mode = wanted.get(\"mode\");\n";
        check("a.rs", read, &["host/providers/src/a.rs:1: reads a property"]);
        check("claims.rs", read, &[]);
    }
}
