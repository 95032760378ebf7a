//! Paths in this checkout, and commands that run its cargo.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Cargo options that also build the tests.
pub(crate) const WITH_TESTS: [&str; 2] = ["--bins", "--tests"];

/// Cargo options that build the release profile with the examples.
pub(crate) const RELEASE_WITH_EXAMPLES: [&str; 3] = ["--release", "--bins", "--examples"];

/// Returns the folder with the workspace's `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

/// Returns the target folder of all guests. They share one, so that their build tools are built only once.
pub(crate) fn guest_target() -> PathBuf {
    root().join("target/guests")
}

/// Returns the target folder of one kind of guests: `fixtures`, `policies`, or `ruby`. Guests outside of the SDK's workspace
/// are compiled with other remapped paths, so with a common folder cargo would rebuild everything at each change of kind.
/// Only build tools for this machine (`release`) are shared.
pub(crate) fn guest_target_of(kind: &str) -> Result<PathBuf> {
    let folder = guest_target().join("of").join(kind);
    for made in [&folder, &guest_target().join("release")] {
        std::fs::create_dir_all(made).with_context(|| format!("cannot make {}", made.display()))?;
    }
    match std::os::unix::fs::symlink("../../release", folder.join("release")) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("cannot make a link in {}", folder.display()))
        }
        _ => Ok(folder),
    }
}

/// Returns the source folder of a test guest.
pub(crate) fn fixture_source(name: &str) -> PathBuf {
    root().join("guests/fixtures").join(name)
}

/// Returns the folder of the test guests as plain components, `NAME.wasm`.
pub(crate) fn components() -> PathBuf {
    root().join("target/components")
}

/// Returns the folder of the test guests, `NAME.wasm`. A guest with a `policy.toml` is a policy's artifact.
pub(crate) fn fixtures() -> PathBuf {
    root().join("target/fixtures")
}

/// Returns the folder of the example policies' artifacts.
pub(crate) fn artifacts() -> PathBuf {
    root().join("target/policies")
}

/// Returns the folders of the example policies' workspaces, sorted by name.
pub(crate) fn policies() -> Result<Vec<PathBuf>> {
    let folder = root().join("policies");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut policies: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.join("Cargo.toml").is_file()).collect();
    policies.sort();
    Ok(policies)
}

/// Returns a command for the cargo that runs this program, in the checkout.
pub(crate) fn cargo() -> Command {
    in_checkout(Command::new(own_cargo()))
}

/// Does the same as [`cargo`] with a low processor priority.
pub(crate) fn patient_cargo() -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "19"]).arg(own_cargo());
    in_checkout(command)
}

/// The compiler with Clippy, which checks the code that it compiles.
const LINTING_COMPILER: &str = "clippy-driver";

/// Does the same as [`cargo`], but uses Clippy's compiler for the workspace's packages if it is installed. Tests and lints
/// then share one build, so dependencies are not checked again.
pub(crate) fn linting_cargo() -> Command {
    let mut command = cargo();
    if has_linting_compiler() {
        command.env("RUSTC_WORKSPACE_WRAPPER", LINTING_COMPILER);
    }
    command
}

/// Returns whether the toolchain has Clippy.
pub(crate) fn has_linting_compiler() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    let answers =
        || Command::new(LINTING_COMPILER).arg("--version").output().is_ok_and(|output| output.status.success());
    *HAS.get_or_init(answers)
}

fn own_cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

fn in_checkout(mut command: Command) -> Command {
    // The variables that `cargo run` sets describe this package, not the ones that are built. Some build scripts would run
    // again because of them.
    for name in std::env::vars_os().map(|(name, _)| name) {
        if ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
            command.env_remove(name);
        }
    }
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs a command with its output visible to the user.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    ensure!(status.success(), "{} {} failed ({status})", command.get_program().display(), words.join(" "));
    Ok(())
}

/// Returns all files below a folder with an extension, sorted.
pub(crate) fn files_below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the output of `cargo metadata` for a workspace. Without dependencies it takes 50 ms.
pub(crate) fn metadata(manifest: &Path, with_dependencies: bool) -> Result<Value> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(manifest);
    if !with_dependencies {
        command.arg("--no-deps");
    }
    let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "cargo cannot read {}", manifest.display());
    serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")
}

/// Builds the program with the development profile, once for tests, demo, and guests, and returns its path.
pub(crate) fn build_program() -> Result<PathBuf> {
    build_program_with(&[], "debug")
}

/// Returns the folder in which the program in the target folder looks for runtimes: `../share/wrun`.
pub(crate) fn runtimes() -> Result<PathBuf> {
    Ok(target()?.join("share/wrun"))
}

/// Builds the tool that creates the Ruby runtime, and returns its path. It is built with the same `options` as the program,
/// since both share the engine.
pub(crate) fn build_runtime_builder(options: &[&str]) -> Result<PathBuf> {
    build_workspace(options)?;
    let profile = if options.contains(&"--release") { "release" } else { "debug" };
    Ok(target()?.join(profile).join("ruby-runtime"))
}

/// Builds the program together with the tests. The tests' dependencies add features to shared crates, so separate builds
/// would compile the engine twice.
pub(crate) fn build_program_and_tests() -> Result<PathBuf> {
    build_program_with(&WITH_TESTS, "debug")
}

/// Builds the program with the release profile, for the benchmarks, together with the examples that measure parts of it.
pub(crate) fn build_release_program() -> Result<PathBuf> {
    build_program_with(&RELEASE_WITH_EXAMPLES, "release")
}

/// Returns the folder of the examples that [`build_release_program`] has built.
pub(crate) fn release_examples() -> Result<PathBuf> {
    Ok(target()?.join("release/examples"))
}

/// Builds the program, unless `WRUN_PROGRAM` names an existing one that was built elsewhere.
fn build_program_with(options: &[&str], folder: &str) -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("WRUN_PROGRAM") {
        return Ok(PathBuf::from(path));
    }
    build_workspace(options)?;
    Ok(target()?.join(folder).join("wrun"))
}

/// Builds the whole workspace rather than one package. So the features are the same as for the tests, and nothing is built
/// twice.
fn build_workspace(options: &[&str]) -> Result<()> {
    let mut command = if options == WITH_TESTS { linting_cargo() } else { cargo() };
    run(command.args(["build", "--quiet", "--workspace"]).args(options))
}

/// Returns cargo's target folder from cargo's metadata.
fn target() -> Result<PathBuf> {
    let metadata = metadata(&root().join("Cargo.toml"), false)?;
    let target = metadata.get("target_directory").and_then(Value::as_str).context("cargo names no target folder")?;
    Ok(PathBuf::from(target))
}
