//! What providers may not do in their sources: keep a closure in a plan, whose steps hold operations that can be shown; and
//! read a property by itself, without the schema's type and default.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::targets;
use crate::checkout;

/// The sources of the providers, with their tests.
const PROVIDERS: &str = "host/providers/src";

/// Text that no line of a provider has: the text, what such a line does, and the files that have it all the same.
const FORBIDDEN: [(&str, &str, &[&str]); 2] = [
    // Nobody can see what a closure does that is kept to be called later, once.
    ("dyn FnOnce", "keeps a closure: make it an `Operation`", &[]),
    (
        "wanted.get(\"",
        "reads a property without its type and default: use `asked::properties`, or `asked::content` for bytes",
        // What was declared, whatever the default is; a message that may be anything; a text that is known to be absent.
        &["claims.rs", "composite.rs", "resources/http_request.rs", "resources/template.rs"],
    ),
];

/// Lines of the providers that have what they may not have.
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
