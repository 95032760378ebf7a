//! Finds the test programs and their areas.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Area;
use crate::checkout;

/// One built test program.
#[derive(Debug, Clone)]
pub(crate) struct TestProgram {
    pub(crate) area: Area,
    pub(crate) package: String,
    /// The target's name and kind, as in `notifications (test)`.
    pub(crate) name: String,
    pub(crate) executable: PathBuf,
    /// The package's folder, which is the current directory of its tests.
    pub(crate) folder: PathBuf,
}

/// Builds the test programs of some areas, from the workspace and from the guests' workspaces.
pub(crate) fn build(areas: &[Area]) -> Result<Vec<TestProgram>> {
    let mut programs = Vec::new();
    let main = checkout::root().join("Cargo.toml");
    let everything = areas.contains(&Area::Unit);
    let mut options = vec!["--workspace".to_owned()];
    if !everything {
        let names = names_in_areas(&main, areas)?;
        if names.is_empty() {
            return Ok(programs);
        }
        options.extend(names.into_iter().flat_map(|name| ["--test".to_owned(), name]));
    }
    programs.extend(build_in(checkout::linting_cargo(), &main, &options)?);
    if everything {
        let mut manifests = vec![checkout::root().join("guests/Cargo.toml")];
        manifests.extend(checkout::policies()?.into_iter().map(|policy| policy.join("Cargo.toml")));
        for manifest in manifests.iter().filter(|manifest| manifest.is_file()) {
            programs.extend(build_guest_tests(manifest)?);
        }
    }
    programs.retain(|program| areas.contains(&program.area));
    programs.sort_by(|left, right| (&left.package, &left.name).cmp(&(&right.package, &right.name)));
    Ok(programs)
}

/// Builds the unit tests of the guests' packages. They run on this machine without a sandbox.
fn build_guest_tests(manifest: &Path) -> Result<Vec<TestProgram>> {
    let metadata = checkout::metadata(manifest, false)?;
    let packages = metadata.get("packages").and_then(Value::as_array).context("cargo names no packages")?;
    let with_tests =
        packages.iter().filter(|package| any_source(&package_folder(package), &|text| text.contains("#[test]")));
    let names: Vec<&str> = with_tests.filter_map(|package| package.get("name")?.as_str()).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let target = checkout::guest_target().display().to_string();
    let mut options = vec!["--target-dir".to_owned(), target];
    options.extend(names.into_iter().flat_map(|name| ["--package".to_owned(), name.to_owned()]));
    build_in(checkout::cargo(), manifest, &options)
}

/// Returns the names of the integration tests in the areas.
fn names_in_areas(manifest: &Path, areas: &[Area]) -> Result<Vec<String>> {
    let metadata = checkout::metadata(manifest, false)?;
    let packages = metadata.get("packages").and_then(Value::as_array).context("cargo names no packages")?;
    let mut names = Vec::new();
    for package in packages {
        let package_name = package.get("name").and_then(Value::as_str).unwrap_or_default();
        for target in package.get("targets").and_then(Value::as_array).into_iter().flatten() {
            let Some((name, kind, source)) = describe(target) else { continue };
            if kind == "test" && areas.contains(&area_of(package_name, &name, &source)) {
                names.push(name);
            }
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

fn build_in(mut command: Command, manifest: &Path, options: &[String]) -> Result<Vec<TestProgram>> {
    command
        .args(["test", "--quiet", "--no-run", "--message-format=json-render-diagnostics", "--manifest-path"])
        .arg(manifest)
        .args(options)
        .stderr(Stdio::inherit());
    let output = command.output().context("cannot start cargo")?;
    ensure!(output.status.success(), "the tests of {} cannot be built", manifest.display());
    let messages = String::from_utf8_lossy(&output.stdout);
    Ok(messages.lines().filter_map(|line| test_program(&serde_json::from_str(line).ok()?)).collect())
}

/// Parses one of cargo's messages. Returns `None` if it is not about a test program.
fn test_program(message: &Value) -> Option<TestProgram> {
    let executable = PathBuf::from(message.get("executable")?.as_str()?);
    if message.get("profile")?.get("test")? != &Value::Bool(true) {
        return None;
    }
    let manifest = Path::new(message.get("manifest_path")?.as_str()?);
    let folder = manifest.parent()?.to_owned();
    let (name, kind, source) = describe(message.get("target")?)?;
    let package = folder.file_name()?.to_string_lossy().into_owned();
    let area = if kind == "test" { area_of(&package, &name, &source) } else { Area::Unit };
    Some(TestProgram { area, package, name: format!("{name} ({kind})"), executable, folder })
}

/// Returns a target's name, kind, and source file.
fn describe(target: &Value) -> Option<(String, String, PathBuf)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let kind = text(target.get("kind")?.as_array()?.first()?)?;
    Some((text(target.get("name")?)?, kind, PathBuf::from(target.get("src_path")?.as_str()?)))
}

/// Returns the area of an integration test. It depends on the test's name, its package, and whether its source reads the
/// vectors.
fn area_of(package: &str, name: &str, source: &Path) -> Area {
    if name.contains("hostile") {
        Area::Hostile
    } else if name.contains("corpus") {
        Area::Corpus
    } else if name.contains("vectors") {
        Area::Vectors
    } else if package == "specs" || package == "tests" {
        Area::Specs
    } else if std::fs::read_to_string(source).is_ok_and(|text| text.contains("vectors")) {
        Area::Vectors
    } else {
        Area::Unit
    }
}

fn package_folder(package: &Value) -> PathBuf {
    let manifest = package.get("manifest_path").and_then(Value::as_str).unwrap_or_default();
    Path::new(manifest).parent().unwrap_or(Path::new("/")).to_owned()
}

/// Returns whether any Rust file below a folder satisfies `wanted`. It follows no links.
pub(crate) fn any_source(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> bool {
    sources(folder).iter().any(|path| std::fs::read_to_string(path).is_ok_and(|text| wanted(&text)))
}

/// Returns all Rust files below a folder, sorted, without those in cargo's target folder.
pub(crate) fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && entry.file_name() != "target" {
                folders.push(path);
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_belong_to_the_area_that_their_name_or_source_says() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let source = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file");
            path
        };
        let (plain, reading) = (source("plain.rs", "fn main() {}"), source("reading.rs", "support::vectors(\"x\")"));
        let check = |package: &str, name: &str, path: &Path, area: Area| {
            assert_eq!(area_of(package, name, path), area, "{package} {name}");
        };
        check("node", "levels", &plain, Area::Unit);
        check("node", "levels", &reading, Area::Vectors);
        check("sandbox", "hostile_guests", &plain, Area::Hostile);
        check("tests", "corpus", &reading, Area::Corpus);
        check("tests", "roots", &plain, Area::Specs);
        check("tests", "ruby_vectors", &reading, Area::Vectors);
    }

    #[test]
    fn only_test_programs_are_taken_from_cargos_messages() {
        let message = |test: bool, kind: &str| {
            serde_json::json!({
                "reason": "compiler-artifact",
                "manifest_path": "/w/host/node/Cargo.toml",
                "target": {"name": "node", "kind": [kind], "src_path": "/w/host/node/src/lib.rs"},
                "profile": {"test": test},
                "executable": "/t/node-1",
            })
        };
        let program = test_program(&message(true, "lib")).expect("a test program");
        assert_eq!((program.area, program.name.as_str()), (Area::Unit, "node (lib)"));
        assert_eq!(program.folder, Path::new("/w/host/node"));
        assert!(test_program(&message(false, "bin")).is_none());
        assert!(test_program(&serde_json::json!({"reason": "build-finished"})).is_none());
    }
}
