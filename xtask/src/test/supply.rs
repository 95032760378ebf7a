//! Checks external crates: their licences, the banned crates, and duplicate versions.
//!
//! All of this is in `cargo metadata`. Known vulnerabilities are not; `cargo xtask audit` checks them with a database.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::style::workspaces;
use crate::checkout;

/// Licences that any dependency may have. All are permissive. A copyleft licence needs a decision and a notice.
const LICENCES: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "NCSA",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// Crates with a licence that is copyleft only for their own files. They are used without changes, and docs/dependencies.md
/// lists them.
const COPYLEFT_BY_FILE: [(&str, &str); 3] =
    [("priority-queue", "LGPL-3.0-or-later OR MPL-2.0"), ("pubgrub", "MPL-2.0"), ("version-ranges", "MPL-2.0")];

/// Banned crates, even as indirect dependencies, each with its replacement.
const BANNED: [(&str, &str); 12] = [
    ("atty", "std::io::IsTerminal"),
    ("aws-lc-rs", "ring"),
    ("aws-lc-sys", "ring"),
    ("chrono", "jiff"),
    ("cmake", "a C compiler alone: see ring in ARCHITECTURE.md, Rejected"),
    ("git2", "the program git"),
    ("native-tls", "rustls"),
    ("openssl-sys", "rustls"),
    ("rsa", "nothing: RUSTSEC-2023-0071 has no fix"),
    ("serde_yaml", "nothing: it is no longer kept"),
    ("structopt", "clap"),
    ("systemd", "zbus"),
];

/// Crates of which the program and its tests contain two versions, each with the crate that needs the older version.
const TWICE: [(&str, &str); 11] = [
    ("bitflags", "keyutils"),
    ("block-buffer", "sha2 0.10"),
    ("cpufeatures", "sha2 0.10"),
    ("crypto-common", "sha2 0.10"),
    ("digest", "sha2 0.10"),
    ("embedded-io", "the engine's postcard names both"),
    ("getrandom", "ring"),
    ("hashbrown", "the engine's gimli"),
    ("io-lifetimes", "fs-set-times, which cap-std uses"),
    ("sha2", "the engine's compiler"),
    ("syn", "macros of the engine and of zbus"),
];

/// The platform for which crates are counted. Crates for other platforms are never built.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Returns the checked workspaces: those with lints, and the tools that are built only on request.
fn all_workspaces() -> Result<Vec<std::path::PathBuf>> {
    let mut manifests = workspaces()?;
    manifests.extend(["tests/fuzz/Cargo.toml", "xtask/audit/Cargo.toml"].map(|path| checkout::root().join(path)));
    Ok(manifests)
}

/// Returns the packages with a licence that is not permissive, and the banned packages.
pub(super) fn licences_and_bans() -> Result<Vec<String>> {
    let mut problems = BTreeSet::new();
    for manifest in all_workspaces()? {
        let metadata = checkout::metadata(&manifest, true)?;
        for package in metadata.get("packages").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| package.get(key).and_then(Value::as_str).unwrap_or_default();
            if !is_permissive(text("license")) && !COPYLEFT_BY_FILE.contains(&(text("name"), text("license"))) {
                problems.insert(format!("{} {} has the licence {:?}", text("name"), text("version"), text("license")));
            }
            if let Some((name, instead)) = BANNED.iter().find(|(name, _)| *name == text("name")) {
                problems.insert(format!("{}: {name} is not let in; instead: {instead}", manifest.display()));
            }
        }
    }
    Ok(problems.into_iter().collect())
}

/// Returns whether an SPDX expression allows a choice of only permissive licences.
fn is_permissive(expression: &str) -> bool {
    let choices = expression.replace('/', " OR ");
    // In the current dependencies, parentheses only group choices, so that each part can be checked separately.
    let choices = choices.replace(['(', ')'], "");
    choices.split(" AND ").all(|part| part.split(" OR ").any(|licence| LICENCES.contains(&licence.trim())))
}

/// Returns crates of the program and its tests with several versions that are not in the list of known ones.
pub(super) fn versions() -> Result<Vec<String>> {
    let mut command = checkout::cargo();
    command.args(["metadata", "--format-version", "1", "--filter-platform", PLATFORM]);
    let output = command.output().context("cannot start cargo")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")?;
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let built: BTreeSet<String> =
        list(metadata.pointer("/resolve/nodes")).iter().map(|node| text(node, "id")).collect();
    let packages = list(metadata.get("packages"));
    let packages = packages.iter().filter(|package| built.contains(&text(package, "id")));
    Ok(version_problems(packages.map(|package| (text(package, "name"), text(package, "version")))))
}

fn version_problems(packages: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, version) in packages {
        versions.entry(name).or_default().insert(version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    let known = |name: &str| TWICE.iter().any(|(twice, _)| *twice == name);
    let all = |versions: &BTreeSet<String>| versions.iter().cloned().collect::<Vec<_>>().join(" and ");
    let unknown = versions.iter().filter(|(name, versions)| !known(name) || versions.len() > 2);
    let mut problems: Vec<String> = unknown
        .map(|(name, versions)| {
            format!("{name} is built in {}: agree on one, or say in TWICE who wants the older", all(versions))
        })
        .collect();
    let over = TWICE.iter().filter(|(name, _)| !versions.contains_key(*name));
    problems.extend(over.map(|(name, _)| format!("{name} is built in one version: take it out of TWICE")));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_judged_by_their_choices() {
        let check = |expression: &str, expected: bool| assert_eq!(is_permissive(expression), expected, "{expression}");
        check("MIT", true);
        check("MIT/Apache-2.0", true);
        check("GPL-2.0-only OR BSD-3-Clause", true);
        check("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true);
        check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
        check("MIT AND MPL-2.0", false);
        check("GPL-3.0-only", false);
        check("", false);
    }

    #[test]
    fn a_second_version_is_told_and_so_is_one_that_is_gone() {
        let check = |more: &[(&str, &str)], left_out: &str, expected: &[&str]| {
            let twice = TWICE.iter().filter(|(name, _)| *name != left_out);
            let packages = twice.flat_map(|(name, _)| [(*name, "1.0.0"), (*name, "2.0.0")]).chain(more.to_vec());
            let problems = version_problems(packages.map(|(name, version)| (name.to_owned(), version.to_owned())));
            assert_eq!(problems.len(), expected.len(), "{problems:?}");
            for (problem, expected) in problems.iter().zip(expected) {
                assert!(problem.starts_with(expected), "{problem}");
            }
        };
        check(&[("serde", "1.0.0")], "", &[]);
        check(&[("serde", "1.0.0"), ("serde", "2.0.0")], "", &["serde is built in 1.0.0 and 2.0.0"]);
        check(&[("syn", "3.0.0")], "", &["syn is built in 1.0.0 and 2.0.0 and 3.0.0"]);
        check(&[], "getrandom", &["getrandom is built in one version"]);
    }
}
