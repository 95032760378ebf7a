//! Checks that providers do not change the machine themselves. They plan operations, and carry them out through functions of
//! the crate `machine`, which require proofs. So their sources may only make system calls that read, and may not start
//! programs or open paths. They may not depend on crates that do so.
//!
//! Rejected alternative: the operations' code in `machine`. This code contains details of resource types, such as how a
//! password reaches `chpasswd` or which links enable a unit. It belongs beside the plan; otherwise `machine` would need to
//! know every type.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::targets;
use crate::checkout;

/// The folder of the crate `providers`.
const PROVIDERS: &str = "host/providers";

/// The prefixes of restricted paths: providers may use only the listed items of these modules.
const WATCHED: [&str; 6] = ["rustix::", "std::fs", "std::process", "std::net", "std::os", "std::env"];

/// The allowed items of these modules: types, and calls that only read.
const LOOKING: [&str; 10] = [
    "rustix::buffer::spare_capacity",
    "rustix::fd::AsFd",
    "rustix::fd::OwnedFd",
    "rustix::io::Errno",
    "rustix::io::pread",
    "rustix::io::read",
    "rustix::process::getegid",
    "rustix::process::geteuid",
    "rustix::process::getuid",
    "std::fs::File",
];

/// Calls that open a path or change an open file.
const OPENING: [&str; 6] =
    ["File::create", "File::open", "File::options", "OpenOptions", ".set_len(", ".set_permissions("];

/// Crates that access the machine directly. Only `machine` may depend on them.
const REACHING: [&str; 8] = ["cap-fs-ext", "cap-std", "cap-std-ext", "libc", "nix", "process-wrap", "ureq", "zbus"];

/// Returns the lines and the dependencies of the providers that access the machine directly.
pub(super) fn check() -> Result<Vec<String>> {
    let root = checkout::root().join(PROVIDERS);
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).context("cannot read the providers' manifest")?;
    let mut problems = dependencies(&manifest.parse().context("the providers' manifest is not TOML")?);
    let sources = targets::sources(&root.join("src"));
    if sources.is_empty() {
        problems.push(format!("{PROVIDERS} has no sources: xtask/src/test/effects.rs looks in the wrong folder"));
    }
    for path in sources {
        let file = path.strip_prefix(&root).unwrap_or(&path);
        let is_test = file.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs");
        if !is_test {
            let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            problems.extend(in_file(file, &text));
        }
    }
    Ok(problems)
}

fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let own = manifest.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten();
    let reaching = own.filter(|(name, _)| REACHING.contains(&name.as_str()));
    reaching.map(|(name, _)| format!("{PROVIDERS} depends on {name}: only `machine` reaches the machine")).collect()
}

/// Returns the problems of one file. Its tests, at the end of the file, may do anything.
fn in_file(file: &Path, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    for (at, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        let mut report = |what: &str| {
            let place = format!("{PROVIDERS}/{}:{}", file.display(), at + 1);
            problems.push(format!("{place}: names {what}: let a function of `machine` do it, with a proof"));
        };
        for begin in WATCHED {
            line.match_indices(begin).filter_map(|(at, _)| line.get(at..)).for_each(|rest| {
                let path = path_of(rest);
                if !LOOKING.iter().any(|known| path == *known || path.starts_with(&format!("{known}::"))) {
                    report(path);
                }
            });
        }
        OPENING.iter().filter(|call| line.contains(**call)).for_each(|call| report(call));
    }
    problems
}

/// Returns the Rust path at the beginning of a text, such as `std::fs::write` of `std::fs::write(path)`.
fn path_of(text: &str) -> &str {
    let end = text.find(|sign: char| !sign.is_alphanumeric() && sign != '_' && sign != ':').unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_that_reaches_the_machine_is_reported_with_its_line() {
        let check = |text: &str, expected: &[&str]| {
            let found = in_file(Path::new("src/a.rs"), text);
            assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.starts_with(expected), "{found}");
            }
        };
        let at = |line: u32, what: &str| format!("host/providers/src/a.rs:{line}: names {what}:");
        check("\nstd::fs::write(path, text)?;\n", &[&at(2, "std::fs::write")]);
        check("use rustix::fs::fchmod;\n", &[&at(1, "rustix::fs::fchmod")]);
        check("use rustix::{fs, io};\n", &[&at(1, "rustix::")]);
        check("std::process::Command::new(\"rm\")", &[&at(1, "std::process::Command::new")]);
        check("let file = File::create(path)?;\n", &[&at(1, "File::create")]);
        check("use std::fs::File;\nlet file = std::fs::File::from(handle);\n", &[]);
        check("use rustix::io::Errno;\nErr(rustix::io::Errno::EXIST)\n// std::fs::write\n", &[]);
        check("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    std::fs::write(path, text).unwrap();\n}\n", &[]);
    }

    #[test]
    fn a_crate_that_reaches_the_machine_is_reported() {
        let check = |text: &str, expected: &[&str]| assert_eq!(dependencies(&text.parse().unwrap()), expected);
        check("[dependencies]\nrustix = \"1\"\n[dev-dependencies]\nnix = \"1\"\n", &[]);
        let problem = "host/providers depends on zbus: only `machine` reaches the machine";
        check("[dependencies]\nzbus.workspace = true\n", &[problem]);
    }
}
