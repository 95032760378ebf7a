//! Checks the contract between guests and the host: every item of `wit/` has documentation, the version that added it, and
//! named parts instead of tuples. External guests depend on the contract, so a tuple could not be changed later without a new
//! version.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::checkout;

/// The folder of the contract.
const FOLDER: &str = "wit";

/// The keywords of items that need a version.
const VERSIONED: [&str; 8] = ["interface ", "record ", "variant ", "enum ", "flags ", "resource ", "type ", "use "];

/// Returns a line for each item without documentation or version, and for each tuple.
pub(super) fn check() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let files = checkout::files_below(&checkout::root().join(FOLDER), "wit")?;
    if files.is_empty() {
        problems.push(format!("{FOLDER} has no files: xtask/src/test/contract.rs looks in the wrong folder"));
    }
    for path in files {
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        problems.extend(in_file(path.strip_prefix(checkout::root()).unwrap_or(&path), &text));
    }
    Ok(problems)
}

fn in_file(path: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut is_documented, mut has_version) = (false, false);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let mut report = |what: &str| problems.push(format!("{}:{}: {what}", path.display(), at + 1));
        if line.starts_with("///") {
            is_documented = true;
            continue;
        }
        if line.starts_with("@since(") {
            has_version = true;
            continue;
        }
        let code = line.split("//").next().unwrap_or_default().trim();
        if code.contains("tuple<") {
            report("a tuple has no names for its parts: make it a record");
        }
        let is_function = code.contains(": func(") || code.contains(": async func(") || code.contains(": static func(");
        let is_versioned = is_function || VERSIONED.iter().any(|start| code.starts_with(start));
        // A field or a case: `name: type,` and `name(type),` or `name,`.
        let is_part =
            !is_versioned && code.ends_with(',') && code.starts_with(|first: char| first.is_ascii_lowercase());
        if is_versioned && !has_version {
            report("an item says since when it is there: write `@since(version = ..)` above it");
        }
        if (is_part || (is_versioned && !code.starts_with("use "))) && !is_documented {
            report("an item says what it is: write `///` above it");
        }
        (is_documented, has_version) = (false, false);
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = in_file(Path::new("a.wit"), text);
        let begins = |(found, expected): (&String, &&str)| found.starts_with(*expected);
        assert!(found.len() == expected.len() && found.iter().zip(expected).all(begins), "{found:?}");
    }

    #[test]
    fn items_are_documented_and_versioned() {
        let good = "/// A.\n@since(version = 0.2.0)\ninterface a {\n  @since(version = 0.2.0)\n  use b:c/d@0.2.0.{e};\n\n  \
                    /// F.\n  @since(version = 0.2.0)\n  record f {\n    /// G.\n    g: string,\n  }\n\n  /// H.\n  \
                    @since(version = 0.2.0)\n  h: func(i: string) -> result<f, e>;\n}\n";
        check(good, &[]);
        check(&good.replace("  /// F.\n", ""), &["a.wit:8: an item says what"]);
        check(&good.replace("    /// G.\n", ""), &["a.wit:10: an item says what"]);
        let unversioned = good.replace("  /// H.\n  @since(version = 0.2.0)\n", "  /// H.\n");
        check(&unversioned, &["a.wit:15: an item says since"]);
        check(&good.replace("i: string", "i: tuple<string, u8>"), &["a.wit:16: a tuple has"]);
    }
}
