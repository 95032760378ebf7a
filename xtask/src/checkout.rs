//! Where things lie in this checkout, and how its cargo is run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// Options that build the tests too.
pub(crate) const WITH_TESTS: [&str; 2] = ["--bins", "--tests"];

/// Options that build the release profile with the examples.
pub(crate) const RELEASE_WITH_EXAMPLES: [&str; 3] = ["--release", "--bins", "--examples"];

/// The folder with the workspace's `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

/// Cargo's files of all guests: one folder, so that the tools they are made with are built once.
pub(crate) fn guest_target() -> PathBuf {
    root().join("target/guests")
}

/// Cargo's files of some guests: `fixtures`, `policies` or `ruby`. Those that lie outside of the SDK's workspace are compiled
/// with its folder's name taken out of them, so that one kind would make cargo build what the other has built anew; what
/// runs on this machine (`release`) they have in common.
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

/// The folder of one of the tests' guests.
pub(crate) fn fixture_source(name: &str) -> PathBuf {
    root().join("guests/fixtures").join(name)
}

/// The tests' guests as plain components, `NAME.wasm`.
pub(crate) fn components() -> PathBuf {
    root().join("target/components")
}

/// The tests' guests, `NAME.wasm`: as a policy's artifact where they have a `policy.toml`.
pub(crate) fn fixtures() -> PathBuf {
    root().join("target/fixtures")
}

/// The example policies' artifacts.
pub(crate) fn artifacts() -> PathBuf {
    root().join("target/policies")
}

/// The folders of the example policies' workspaces, in order of their names.
pub(crate) fn policies() -> Result<Vec<PathBuf>> {
    let folder = root().join("policies");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut policies: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.join("Cargo.toml").is_file()).collect();
    policies.sort();
    Ok(policies)
}

/// The cargo that runs this program, in the checkout.
pub(crate) fn cargo() -> Command {
    in_checkout(Command::new(own_cargo()))
}

/// The same, which gives way to whatever else wants the processors.
pub(crate) fn patient_cargo() -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "19"]).arg(own_cargo());
    in_checkout(command)
}

/// The compiler that lints what it compiles: the same one, with Clippy in it.
const LINTING_COMPILER: &str = "clippy-driver";

/// The same, with the linting compiler for our own packages where it is installed: tests and lints then share one build, and
/// lints need not check all dependencies once more.
pub(crate) fn linting_cargo() -> Command {
    let mut command = cargo();
    if has_linting_compiler() {
        command.env("RUSTC_WORKSPACE_WRAPPER", LINTING_COMPILER);
    }
    command
}

/// Whether the toolchain has Clippy.
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
    // What `cargo run` says of this package is not about what is built now; some build scripts run again for it.
    for name in std::env::vars_os().map(|(name, _)| name) {
        if ["CARGO_MANIFEST_", "CARGO_PKG_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
            command.env_remove(name);
        }
    }
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs a command whose output the user sees.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    ensure!(status.success(), "{} {} failed ({status})", command.get_program().display(), words.join(" "));
    Ok(())
}

/// All files below a folder whose names end with an extension, in order.
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

/// What `cargo metadata` says about a workspace. Without dependencies it costs 50 ms.
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

/// Builds the program with the development profile, once for tests, demo and guests, and returns where it lies.
pub(crate) fn build_program() -> Result<PathBuf> {
    build_program_with(&[], "debug")
}

/// Where the program looks for runtimes, as it lies in the target folder: `../share/wrun`.
pub(crate) fn runtimes() -> Result<PathBuf> {
    Ok(target()?.join("share/wrun"))
}

/// The tool that makes the Ruby runtime, built together with the program, whose engine it shares. `options` are those
/// with which the program was built.
pub(crate) fn build_runtime_builder(options: &[&str]) -> Result<PathBuf> {
    build_workspace(options)?;
    let profile = if options.contains(&"--release") { "release" } else { "debug" };
    Ok(target()?.join(profile).join("ruby-runtime"))
}

/// Builds the program together with the tests: what tests alone depend on adds features to what they share with the
/// program, and built apart the engine would be built twice.
pub(crate) fn build_program_and_tests() -> Result<PathBuf> {
    build_program_with(&WITH_TESTS, "debug")
}

/// Builds the program with the release profile, for the benchmarks, together with the examples that measure parts of it.
pub(crate) fn build_release_program() -> Result<PathBuf> {
    build_program_with(&RELEASE_WITH_EXAMPLES, "release")
}

/// The folder of the examples that [`build_release_program`] has built.
pub(crate) fn release_examples() -> Result<PathBuf> {
    Ok(target()?.join("release/examples"))
}

/// A program that `WRUN_PROGRAM` names is taken as it is: to try one that was built elsewhere.
fn build_program_with(options: &[&str], folder: &str) -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("WRUN_PROGRAM") {
        return Ok(PathBuf::from(path));
    }
    build_workspace(options)?;
    Ok(target()?.join(folder).join("wrun"))
}

/// Builds the whole workspace and not one package, so that features are the same as for the tests and nothing is built
/// twice.
fn build_workspace(options: &[&str]) -> Result<()> {
    let mut command = if options == WITH_TESTS { linting_cargo() } else { cargo() };
    run(command.args(["build", "--quiet", "--workspace"]).args(options))
}

/// Returns cargo's target folder, as cargo's metadata says.
fn target() -> Result<PathBuf> {
    let metadata = metadata(&root().join("Cargo.toml"), false)?;
    let target = metadata.get("target_directory").and_then(Value::as_str).context("cargo names no target folder")?;
    Ok(PathBuf::from(target))
}
