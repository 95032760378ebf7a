//! Checks that tests of behaviour do not cover: formatting, lints, licences, and the dependencies between crates.
//!
//! The compiler enforces the boundaries of crates. These checks enforce the list of allowed dependencies, and restrictions on
//! the standard library.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::{Count, border, causes, contract, effects, map, operations, programs, supply, targets, waiting, words};
use crate::{checkout, docs, say};

/// Each crate with the crates on which it may depend. All other dependencies are forbidden. Only `assemble` combines all
/// crates.
const DOORS: [(&str, &[&str]); 25] = [
    ("agent", &["state", "text"]),
    ("artifact", &["contract", "grants", "node", "plain_files", "text"]),
    (
        "assemble",
        &[
            "artifact",
            "author",
            "contract",
            "converge",
            "databag",
            "errors",
            "facts",
            "grants",
            "machine",
            "node",
            "plain_files",
            "providers",
            "report",
            "repository",
            "resolve",
            "sandbox",
            "schema",
            "state",
            "text",
        ],
    ),
    (
        "author",
        &[
            "artifact",
            "contract",
            "errors",
            "grants",
            "node",
            "plain_files",
            "policyfile",
            "repository",
            "resolve",
            "schema",
            "text",
        ],
    ),
    ("bootstrap", &["text"]),
    ("contract", &["errors", "grants", "node", "text"]),
    ("converge", &["contract", "errors", "node"]),
    ("databag", &[]),
    ("errors", &[]),
    ("facts", &["plain_files"]),
    ("grants", &["text"]),
    ("import", &["author", "contract", "grants", "node", "plain_files", "resolve", "text"]),
    ("machine", &["contract", "databag", "errors", "grants", "node", "plain_files", "text"]),
    ("node", &["errors", "text"]),
    ("plain_files", &["text"]),
    ("policyfile", &["artifact", "node", "text"]),
    ("providers", &["contract", "errors", "grants", "machine", "node", "schema", "text"]),
    ("report", &["contract", "converge", "errors", "grants", "node", "schema", "text"]),
    ("repository", &["artifact", "plain_files", "text"]),
    ("resolve", &["errors", "node", "text"]),
    ("sandbox", &["contract", "node", "text"]),
    ("schema", &["errors", "text"]),
    ("state", &["contract", "plain_files", "text"]),
    ("text", &[]),
    (
        "wrun",
        &[
            "agent",
            "artifact",
            "assemble",
            "author",
            "bootstrap",
            "contract",
            "converge",
            "grants",
            "import",
            "machine",
            "node",
            "plain_files",
            "report",
            "repository",
            "sandbox",
            "schema",
            "state",
            "text",
        ],
    ),
];

/// Crates without side effects: they only compute.
const PURE_ROOMS: [&str; 10] =
    ["contract", "converge", "errors", "grants", "node", "policyfile", "report", "resolve", "schema", "text"];

/// Items that pure crates may not name: files, processes, the network, the environment, and the clock.
const IMPURE_NAMES: [&str; 5] = ["std::fs", "std::process", "std::net", "std::env", "SystemTime::now"];

/// The only file with `unsafe`. It maps native code into memory that wrun's own engine wrote.
const UNSAFE_FILE: &str = "host/sandbox/src/cache.rs";

/// The engine, and the only packages that may use it: one crate, and the tool that starts Ruby once to create a snapshot.
const ENGINE: (&str, [&str; 2]) = ("wasmtime", ["sandbox", "ruby-runtime"]);

/// Runs all checks. Each check counts as one test.
pub(crate) fn run() -> Result<Count> {
    let mut count = Count::default();
    type Check = fn() -> Result<Vec<String>>;
    let checks: [(&str, Check); 21] = [
        ("sources are formatted", formatting),
        ("lints find nothing", lints),
        ("guests' lints find nothing", guest_lints),
        ("every package has the shared lints and licence", manifests),
        ("every dependency has a line in docs/dependencies.md", documented_dependencies),
        ("every licence is permissive, and no crate is banned", supply::licences_and_bans),
        ("no crate is built in two versions without a reason", supply::versions),
        ("builders and pages are as the schema wants them", generated_files),
        ("rooms know only the rooms they may", doors),
        ("rooms touch only what they may", touches),
        ("the map is true: who names resource types, who decides, who touches the process", map::check),
        ("providers plan values, not closures, and read typed properties", operations::check),
        ("providers reach the machine through `machine` alone", effects::check),
        ("names of Ruby and Chef have one place", border::check),
        ("an error's sentence leaves its cause to whoever prints it", causes::check),
        ("every item of the contract is documented and versioned, without tuples", contract::check),
        ("every program that providers start has a row that says who chose its words", programs::check),
        ("vectors are read by a test, or wait for a feature", waiting::check),
        ("documentation says more than three words", words::check),
        ("links of pages lead somewhere, and the book has every page", docs::links::check),
        ("blocks of pages are run, are read by a test, or say why not", docs::blocks),
    ];
    for (name, check) in checks {
        let problems = check()?;
        problems.iter().for_each(|problem| say::line(&format!("    {problem}")));
        say::line(&format!("style: {name}: {}", if problems.is_empty() { "ok" } else { "FAILED" }));
        count.add(Count { passed: u64::from(problems.is_empty()), failed: u64::from(!problems.is_empty()) });
    }
    Ok(count)
}

/// Returns the manifests of the workspace, of the guests, and of each policy.
pub(super) fn workspaces() -> Result<Vec<PathBuf>> {
    let own = ["Cargo.toml", "guests/Cargo.toml", "guests/ruby/bridge/Cargo.toml"];
    let mut manifests: Vec<_> = own.iter().map(|path| checkout::root().join(path)).collect();
    manifests.extend(checkout::policies()?.into_iter().map(|policy| policy.join("Cargo.toml")));
    manifests.retain(|manifest| manifest.is_file());
    Ok(manifests)
}

fn formatting() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for manifest in workspaces()? {
        let mut command = checkout::patient_cargo();
        command.args(["fmt", "--all", "--check", "--manifest-path"]).arg(&manifest).args(["--", "--files-with-diff"]);
        let output = command.output().context("cannot start cargo fmt")?;
        let files = String::from_utf8_lossy(&output.stdout);
        problems.extend(files.lines().map(|file| format!("{file} is not formatted: run cargo fmt")));
        if !output.status.success() && files.trim().is_empty() {
            problems.push(format!("cargo fmt failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
    }
    Ok(problems)
}

/// Returns the lints of the tests' build. cargo prints the stored messages of finished builds again.
fn lints() -> Result<Vec<String>> {
    if !checkout::has_linting_compiler() {
        return Ok(vec!["Clippy is missing: `rustup component add clippy`".to_owned()]);
    }
    let mut command = checkout::linting_cargo();
    let output = command.args(["build", "--quiet", "--workspace", "--all-targets"]).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let problems = if output.status.success() && text.trim().is_empty() { None } else { Some(text.trim().to_owned()) };
    Ok(problems.into_iter().collect())
}

fn guest_lints() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for manifest in workspaces()?.into_iter().skip(1) {
        let mut command = checkout::patient_cargo();
        command.args(["clippy", "--quiet", "--all-targets", "--manifest-path"]).arg(&manifest);
        command.arg("--target-dir").arg(checkout::guest_target());
        problems.extend(clippy(command.args(["--", "-D", "warnings"]))?);
    }
    Ok(problems)
}

fn clippy(command: &mut Command) -> Result<Vec<String>> {
    let output = command.output().context("cannot start cargo clippy")?;
    let text = String::from_utf8_lossy(&output.stderr);
    Ok(if output.status.success() { Vec::new() } else { vec![text.trim_end().to_owned()] })
}

fn manifests() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let path = checkout::root().join("Cargo.toml");
    let root: toml::Table = std::fs::read_to_string(&path)?.parse().context("Cargo.toml is not TOML")?;
    let profiles = root.get("profile").and_then(|profile| profile.get("dev")?.get("package")?.as_table());
    for package in own_packages()? {
        let manifest = package.get("manifest_path").and_then(Value::as_str).unwrap_or_default();
        let text = std::fs::read_to_string(manifest).with_context(|| format!("cannot read {manifest}"))?;
        let table: toml::Table = text.parse().with_context(|| format!("{manifest} is not TOML"))?;
        let name = package.get("name").and_then(Value::as_str).unwrap_or_default();
        if !profiles.is_some_and(|profiles| profiles.contains_key(name)) {
            problems.push(format!("{} has no line for {name} in `[profile.dev.package]`", path.display()));
        }
        let shared = |part: Option<&toml::Value>| part.and_then(|part| part.get("workspace")?.as_bool()) == Some(true);
        if !shared(table.get("lints")) {
            problems.push(format!("{manifest} does not say `[lints] workspace = true`"));
        }
        if !shared(table.get("package").and_then(|package| package.get("license"))) {
            problems.push(format!("{manifest} does not say `license.workspace = true`"));
        }
    }
    Ok(problems)
}

fn documented_dependencies() -> Result<Vec<String>> {
    let path = checkout::root().join("docs/dependencies.md");
    let page = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let root: toml::Table = std::fs::read_to_string(checkout::root().join("Cargo.toml"))?.parse()?;
    let shared = root.get("workspace").and_then(|workspace| workspace.get("dependencies")?.as_table());
    let shared = shared.context("Cargo.toml has no `[workspace.dependencies]`")?;
    let shared = shared.iter().filter(|(_, dependency)| dependency.get("path").is_none());
    let shared: Vec<_> = shared.map(|(name, _)| name.as_str()).collect();
    let mut used = Vec::new();
    for package in own_packages()? {
        let name = |value: &Value| value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let outside = dependencies(&package).filter(|dependency| dependency.get("path").is_none());
        used.extend(outside.map(|dependency| (name(&package), name(dependency))));
    }
    Ok(dependency_problems(&page, &shared, &used))
}

/// Returns external crates with no line or several lines on the page, and unused shared crates. `used`: pairs of package and
/// dependency.
fn dependency_problems(page: &str, shared: &[&str], used: &[(String, String)]) -> Vec<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    let mut documented = BTreeSet::new();
    let mut problems = BTreeSet::new();
    for name in cells.flat_map(|cell| cell.split(',')).map(str::trim) {
        if !documented.insert(name) {
            problems.insert(format!("docs/dependencies.md has several lines for {name}"));
        }
    }
    for (package, wanted) in used {
        if !documented.contains(wanted.as_str()) {
            problems.insert(format!("{package} depends on {wanted}, which has no line in docs/dependencies.md"));
        }
    }
    for name in shared {
        if !used.iter().any(|(_, wanted)| wanted == name) {
            problems.insert(format!("Cargo.toml shares {name}, which no package depends on"));
        }
    }
    problems.into_iter().collect()
}

fn generated_files() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for (path, wanted) in crate::builders::files()? {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if text != wanted {
            problems.push(format!("{} is old: run cargo xtask builders", path.display()));
        }
    }
    Ok(problems)
}

fn doors() -> Result<Vec<String>> {
    let packages = own_packages()?;
    let rooms: BTreeSet<&str> = DOORS.iter().map(|(room, _)| *room).collect();
    let mut problems = Vec::new();
    for package in &packages {
        let name = package.get("name").and_then(Value::as_str).unwrap_or_default();
        let known = DOORS.iter().find(|(room, _)| *room == name).map(|(_, doors)| *doors);
        for dependency in dependencies(package).filter(|dependency| dependency.get("kind") == Some(&Value::Null)) {
            let wanted = dependency.get("name").and_then(Value::as_str).unwrap_or_default();
            if known.is_some_and(|doors| rooms.contains(wanted) && !doors.contains(&wanted)) {
                problems.push(format!("{name} must not know {wanted}"));
            }
            if known.is_some() && rooms.contains(wanted) && !names_room(package, wanted)? {
                problems.push(format!("{name} depends on {wanted} and does not use it"));
            }
            if wanted == ENGINE.0 && !ENGINE.1.contains(&name) {
                problems.push(format!("{name} must not depend on {wanted}: only {} do", ENGINE.1.join(" and ")));
            }
        }
        for door in known.into_iter().flatten() {
            if !dependencies(package).any(|dependency| dependency.get("name").and_then(Value::as_str) == Some(door)) {
                problems.push(format!("{name} may know {door} and does not depend on it: take it out of the list"));
            }
        }
    }
    Ok(problems)
}

/// Returns whether a package's source names a crate.
fn names_room(package: &Value, room: &str) -> Result<bool> {
    let manifest = Path::new(package.get("manifest_path").and_then(Value::as_str).unwrap_or_default());
    let path = format!("{room}::");
    for file in targets::sources(&manifest.with_file_name("src")) {
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        if names_path(&text, &path) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether code outside of comments contains a path that begins with `path`, such as `node::`.
fn names_path(text: &str, path: &str) -> bool {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let begins = |line: &str, at: usize| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|sign| !sign.is_alphanumeric() && sign != '_' && sign != ':')
    };
    code.into_iter().any(|line| line.match_indices(path).any(|(at, _)| begins(line, at)))
}

fn touches() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let host = checkout::root().join("host");
    for path in targets::sources(&host) {
        let inside = path.strip_prefix(checkout::root()).unwrap_or(&path).to_owned();
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        problems.extend(touches_in(&inside, &text));
    }
    Ok(problems)
}

/// Returns the forbidden items in one source file. `path` is relative to the checkout. Tests may use anything.
fn touches_in(path: &Path, text: &str) -> Vec<String> {
    let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let (Some(room), Some(part)) = (parts.get(1), parts.get(2)) else { return Vec::new() };
    let mut problems = Vec::new();
    let is_source = part == "src";
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    for (number, line) in code.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default();
        let mut report = |what: &str| problems.push(format!("{}:{}: {what}", path.display(), number + 1));
        if is_source && PURE_ROOMS.contains(&room.as_str()) {
            // A string literal with such a name is harmless.
            let code: String = line.split('"').step_by(2).collect();
            IMPURE_NAMES.iter().filter(|name| code.contains(**name)).for_each(|name| report(&format!("names {name}")));
        }
        if line.contains("unsafe {") && path != Path::new(UNSAFE_FILE) {
            report(&format!("is unsafe, which only {UNSAFE_FILE} may be"));
        }
        if line.contains("#[ignore") {
            report("ignores a test");
        }
    }
    problems
}

/// Returns the packages of the main workspace.
fn own_packages() -> Result<Vec<Value>> {
    let metadata = checkout::metadata(&checkout::root().join("Cargo.toml"), false)?;
    Ok(metadata.get("packages").and_then(Value::as_array).context("cargo names no packages")?.clone())
}

fn dependencies(package: &Value) -> impl Iterator<Item = &Value> {
    package.get("dependencies").and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_used_where_code_names_it() {
        let check = |text: &str, expected: bool| assert_eq!(names_path(text, "node::"), expected, "{text}");
        check("use node::origin::Origin;", true);
        check("    let x: &node::Node = y;", true);
        check("// node::Node", false);
        check("use crate::node::Node;", false);
        check("use other_node::Node;", false);
    }

    #[test]
    fn dependencies_have_one_line_and_somebody_who_uses_them() {
        let check = |page: &str, shared: &[&str], expected: &[&str]| {
            assert_eq!(dependency_problems(page, shared, &[("wrun".to_owned(), "clap".to_owned())]), expected);
        };
        check("| clap, tar | x |\n", &["clap"], &[]);
        check("| tar | x |\n", &["clap"], &["wrun depends on clap, which has no line in docs/dependencies.md"]);
        check("| clap | x |\n| tar, clap | y |", &["clap"], &["docs/dependencies.md has several lines for clap"]);
        check("| clap | x |\n", &["clap", "insta"], &["Cargo.toml shares insta, which no package depends on"]);
    }

    #[test]
    fn a_room_that_touches_what_it_must_not_is_reported_with_its_line() {
        let check = |path: &str, text: &str, expected: &[&str]| {
            assert_eq!(touches_in(Path::new(path), text), expected, "{path}");
        };
        check("host/node/src/lib.rs", "\nuse std::fs;\n", &["host/node/src/lib.rs:2: names std::fs"]);
        check("host/state/src/lib.rs", "use std::fs;\n", &[]);
        check("host/node/src/lib.rs", "let text = \"std::fs\";\n", &[]);
        check("host/node/tests/a.rs", "use std::fs;\n", &[]);
        check("host/node/src/lib.rs", "// std::fs is elsewhere\n#[cfg(test)]\nuse std::fs;\n", &[]);
        let reached = ["host/facts/src/a.rs:1: is unsafe, which only host/sandbox/src/cache.rs may be"];
        check("host/facts/src/a.rs", "let x = unsafe { y };", &reached);
        check("host/sandbox/src/cache.rs", "let x = unsafe { y };", &[]);
        let ignored = ["host/facts/tests/a.rs:1: ignores a test"];
        check("host/facts/tests/a.rs", "#[ignore] fn a() {}", &ignored);
    }
}
