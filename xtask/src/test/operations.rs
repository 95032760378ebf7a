//! Plans are made of values: a step of a provider holds an operation that can be shown, and no closure.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::targets;
use crate::checkout;

/// The sources of the providers, with their tests.
const PROVIDERS: &str = "host/providers/src";

/// The type of a closure that is kept to be called later, once. Nobody can see what such a closure would do.
const CLOSURE: &str = "dyn FnOnce";

/// Lines of the providers that keep a closure.
pub(super) fn check() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let root = checkout::root();
    let sources = targets::sources(&root.join(PROVIDERS));
    if sources.is_empty() {
        problems.push(format!("{PROVIDERS} has no sources: xtask/src/test/operations.rs looks in the wrong folder"));
    }
    for path in sources {
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        problems.extend(closures(path.strip_prefix(root).unwrap_or(&path), &text));
    }
    Ok(problems)
}

fn closures(path: &Path, text: &str) -> Vec<String> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default()).enumerate();
    let kept = code.filter(|(_, line)| line.contains(CLOSURE));
    let problem = |number: usize| format!("{}:{number}: keeps a closure: make it an `Operation`", path.display());
    kept.map(|(at, _)| problem(at + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_that_is_kept_is_reported_with_its_line() {
        let check = |text: &str, expected: &[&str]| assert_eq!(closures(Path::new("a.rs"), text), expected, "{text}");
        let kept = ["a.rs:2: keeps a closure: make it an `Operation`"];
        check("\ntype Effect = Box<dyn FnOnce(&mut Writer) + Send>;\n", &kept);
        check("// no dyn FnOnce here\nfn with(act: impl FnOnce()) {}\n", &[]);
    }
}
