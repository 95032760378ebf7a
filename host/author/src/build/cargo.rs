//! Builds a workspace of guests with cargo, and reads the built core modules.
//!
//! The paths of the built files are read from cargo's messages and not guessed from names, because a package may have any
//! name.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::toolchain::{GUEST_TARGET, GuestCompiler};
use serde_json::Value;

/// The largest Cargo.toml, in bytes.
const MAX_MANIFEST: u64 = 4 << 20;

/// One core module that cargo built.
#[derive(Debug, Clone)]
pub struct CompiledModule {
    /// The cargo package's name.
    pub package: String,
    /// The module, with the description of its world that `wit-bindgen` put into it.
    pub bytes: Vec<u8>,
}

/// The reasons why cargo did not build a core module.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("{} is not a cargo package: it has no Cargo.toml", folder.display())]
    NotCargo { folder: PathBuf },
    #[error("cannot start cargo")]
    Start { source: std::io::Error },
    #[error("cargo could not build {} ({status}); its messages are above", folder.display())]
    Failed { folder: PathBuf, status: String },
    #[error("{} makes no component: no package has `crate-type = [\"cdylib\"]`", folder.display())]
    NoComponent { folder: PathBuf },
    #[error("{} makes more than one component: {}", folder.display(), packages.join(", "))]
    SeveralComponents { folder: PathBuf, packages: Vec<String> },
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
}

/// The profile of a build: small code, or a fast build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The workspace's release profile: small code for nodes.
    Release,
    /// A profile for trying changes: it makes larger code in a tenth of the time.
    Dev,
}

/// The name of [`Profile::Dev`] in cargo, and its settings.
const DEV_PROFILE: &str = "wrun-dev";
const DEV_SETTINGS: [&str; 6] = [
    "inherits=\"release\"",
    "lto=\"off\"",
    "codegen-units=16",
    "incremental=true",
    // Cookbooks change and the crates that they use do not. So this level is for the crates, and each member of the workspace
    // has a setting of its own. `package."*"` would also optimize macros and build scripts, which run too shortly to gain
    // from it.
    "opt-level=\"s\"",
    "build-override.opt-level=0",
];

impl Profile {
    /// The folder, below the target's, in which cargo keeps what it builds.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Release => "release",
            Self::Dev => DEV_PROFILE,
        }
    }

    /// Cargo's arguments for a workspace with these members.
    fn arguments(self, members: &[String]) -> Vec<String> {
        let dev = ["--profile".to_owned(), DEV_PROFILE.to_owned()];
        let own = members.iter().map(|member| format!("package.{member:?}.opt-level=0"));
        let settings = DEV_SETTINGS.iter().map(|setting| (*setting).to_owned()).chain(own);
        let settings = settings.map(|setting| format!("profile.{DEV_PROFILE}.{setting}"));
        match self {
            Self::Release => vec!["--release".to_owned()],
            Self::Dev => dev.into_iter().chain(settings.flat_map(|one| ["--config".to_owned(), one])).collect(),
        }
    }
}

/// Builds the workspace in `folder` in one of the profiles and returns its members' modules, ordered by name.
pub fn compile_modules(
    folder: &Path,
    compiler: &GuestCompiler,
    target_folder: &Path,
    profile: Profile,
) -> Result<Vec<CompiledModule>, CompileError> {
    let folder = folder.canonicalize().map_err(|source| CompileError::Read { path: folder.to_owned(), source })?;
    if !folder.join("Cargo.toml").exists() {
        return Err(CompileError::NotCargo { folder });
    }
    // Cargo starts in the workspace's folder, where a relative path would mean another place. The path is part of the
    // compiler's flags: another spelling of it would compile everything anew.
    let target_folder = &std::fs::create_dir_all(target_folder)
        .and_then(|()| target_folder.canonicalize())
        .map_err(|source| CompileError::Read { path: target_folder.to_owned(), source })?;
    let metadata = metadata(&folder, compiler)?;
    let mut command = compiler.cargo();
    command
        .args(["build", "--target", GUEST_TARGET])
        .args(profile.arguments(&members(&metadata)))
        .arg("--message-format=json-render-diagnostics")
        .arg("--target-dir")
        .arg(target_folder)
        .current_dir(&folder)
        // Flags for the host's compiler do not fit the guests' target.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_BUILD_TARGET")
        .env("CARGO_ENCODED_RUSTFLAGS", remapped_paths(&folder, &metadata, target_folder)?.join("\u{1f}"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    // On a terminal, cargo shows its progress. In a log, only warnings and errors appear.
    if !std::io::stderr().is_terminal() {
        command.arg("--quiet");
    }
    let output = command.output().map_err(|source| CompileError::Start { source })?;
    if !output.status.success() {
        return Err(CompileError::Failed { folder, status: output.status.to_string() });
    }
    let mut modules = Vec::new();
    for (package, path) in built_modules(&String::from_utf8_lossy(&output.stdout), &folder) {
        let bytes = std::fs::read(&path).map_err(|source| CompileError::Read { path, source })?;
        modules.push(CompiledModule { package, bytes });
    }
    modules.sort_by(|left, right| left.package.cmp(&right.package));
    Ok(modules)
}

/// Returns the only module of a policy's workspace, and fails if there are several or none.
pub(super) fn only_module(folder: &Path, modules: Vec<CompiledModule>) -> Result<CompiledModule, CompileError> {
    let packages: Vec<String> = modules.iter().map(|module| module.package.clone()).collect();
    let mut modules = modules.into_iter();
    match (modules.next(), modules.next()) {
        (Some(module), None) => Ok(module),
        (None, _) => Err(CompileError::NoComponent { folder: folder.to_owned() }),
        (Some(_), Some(_)) => Err(CompileError::SeveralComponents { folder: folder.to_owned(), packages }),
    }
}

/// Reads cargo's metadata of the workspace in a folder: its members, and the packages that they use for guests.
fn metadata(folder: &Path, compiler: &GuestCompiler) -> Result<Value, CompileError> {
    let mut command = compiler.cargo();
    command.args(["metadata", "--format-version", "1", "--filter-platform", GUEST_TARGET]).current_dir(folder);
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.map_err(|source| CompileError::Start { source })?;
    if !output.status.success() {
        return Err(CompileError::Failed { folder: folder.to_owned(), status: output.status.to_string() });
    }
    Ok(serde_json::from_slice(&output.stdout).unwrap_or_default())
}

/// The names of the workspace's members.
fn members(metadata: &Value) -> Vec<String> {
    let list = |key: &str| metadata.get(key).and_then(Value::as_array).into_iter().flatten();
    let is_member = |package: &&Value| list("workspace_members").any(|id| package.get("id") == Some(id));
    let names = list("packages").filter(is_member).filter_map(|package| package.get("name")?.as_str());
    names.map(str::to_owned).collect()
}

/// Returns flags that keep the builder's folders out of line tables and panic messages, so that a workspace makes the same
/// bytes in any folder.
///
/// Cargo gives the compiler relative paths inside the workspace, and errors show them. Only debug information has the
/// workspace's folder. Without debug information the flags do not name that folder. So workspaces with the same target folder
/// compile their common crates only once.
fn remapped_paths(folder: &Path, metadata: &Value, target_folder: &Path) -> Result<Vec<String>, CompileError> {
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let mut prefixes: Vec<(PathBuf, String)> = cargo_home.map(|home| (home, "cargo".to_owned())).into_iter().collect();
    prefixes.extend(outside_packages(metadata, folder));
    // Build scripts write their files there.
    prefixes.push((target_folder.to_owned(), "target".to_owned()));
    if has_debug_information(folder)? {
        prefixes.push((folder.to_owned(), ".".to_owned()));
    }
    Ok(prefixes.iter().map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display())).collect())
}

/// Tells whether the workspace's release profile asks for debug information. By default cargo's does not.
fn has_debug_information(folder: &Path) -> Result<bool, CompileError> {
    let path = folder.join("Cargo.toml");
    let text = plain_files::read_text(&path, MAX_MANIFEST).map_err(|source| CompileError::Read { path, source })?;
    // Cargo has read the file already, and has reported its errors better.
    let manifest: toml::Table = text.parse().unwrap_or_default();
    let release = manifest.get("profile").and_then(|profile| profile.get("release"));
    Ok(match release.and_then(|release| release.get("debug")) {
        None | Some(toml::Value::Boolean(false) | toml::Value::Integer(0)) => false,
        Some(level) => level.as_str() != Some("none"),
    })
}

/// Folders and names of the packages that are used by their paths and lie outside of the workspace, such as an SDK's.
fn outside_packages(metadata: &Value, folder: &Path) -> Vec<(PathBuf, String)> {
    let packages = metadata.get("packages").and_then(|packages| packages.as_array()).into_iter().flatten();
    let outside = packages.filter_map(|package| {
        let manifest = Path::new(package.get("manifest_path")?.as_str()?);
        let is_by_path = package.get("source")?.is_null() && !manifest.starts_with(folder);
        is_by_path.then_some((manifest.parent()?.to_owned(), package.get("name")?.as_str()?.to_owned()))
    });
    outside.collect()
}

/// Package names and module files of the members of the workspace in `folder`, from cargo's messages.
fn built_modules(messages: &str, folder: &Path) -> Vec<(String, PathBuf)> {
    messages.lines().filter_map(|line| built_module(&serde_json::from_str(line).ok()?, folder)).collect()
}

fn built_module(message: &Value, folder: &Path) -> Option<(String, PathBuf)> {
    if message.get("reason")?.as_str()? != "compiler-artifact" {
        return None;
    }
    let manifest = Path::new(message.get("manifest_path")?.as_str()?);
    let target = message.get("target")?;
    let is_module = target.get("crate_types")?.as_array()?.iter().any(|one| one == "cdylib");
    if !is_module || !manifest.starts_with(folder) {
        return None;
    }
    let files = message.get("filenames")?.as_array()?.iter().filter_map(|file| file.as_str());
    let file = files.map(PathBuf::from).find(|file| file.extension().is_some_and(|extension| extension == "wasm"))?;
    // The target is named after its package with `_` for `-`; the package's folder is not always named after it.
    Some((target.get("name")?.as_str()?.replace('_', "-"), file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str, crate_type: &str, manifest: &str) -> String {
        serde_json::json!({
            "reason": "compiler-artifact",
            "manifest_path": manifest,
            "target": {"name": name, "crate_types": [crate_type]},
            "filenames": [format!("/t/{name}.d"), format!("/t/{name}.wasm")],
        })
        .to_string()
    }

    #[test]
    fn only_the_members_modules_are_taken() {
        let messages = [
            message("endless_loop", "cdylib", "/w/loop/Cargo.toml"),
            message("serde", "rlib", "/home/serde/Cargo.toml"),
            message("stranger", "cdylib", "/home/stranger/Cargo.toml"),
            "{\"reason\":\"build-finished\",\"success\":true}".to_owned(),
            "not json".to_owned(),
        ];
        let built = built_modules(&messages.join("\n"), Path::new("/w"));
        assert_eq!(built, [("endless-loop".to_owned(), PathBuf::from("/t/endless_loop.wasm"))]);
    }

    #[test]
    fn only_the_workspaces_members_are_built_without_optimising() {
        let metadata = serde_json::json!({
            "workspace_members": ["path+file:///w#motd@1.0.0"],
            "packages": [
                {"name": "motd", "id": "path+file:///w#motd@1.0.0"},
                {"name": "syn", "id": "registry+x#syn@2.0.0"},
            ],
        });
        let arguments = Profile::Dev.arguments(&members(&metadata));
        let settings: Vec<_> = arguments.iter().filter(|one| one.contains("opt-level")).collect();
        let expect = ["opt-level=\"s\"", "build-override.opt-level=0", "package.\"motd\".opt-level=0"];
        assert_eq!(settings, expect.map(|setting| format!("profile.wrun-dev.{setting}")).iter().collect::<Vec<_>>());
        assert_eq!(Profile::Release.arguments(&members(&metadata)), ["--release"]);
    }

    #[test]
    fn packages_outside_of_the_workspace_are_named_instead_of_their_folders() {
        let metadata = serde_json::json!({"packages": [
            {"name": "motd", "source": null, "manifest_path": "/w/core/cookbooks/motd/Cargo.toml"},
            {"name": "wrun-sdk", "source": null, "manifest_path": "/w/sdk/Cargo.toml"},
            {"name": "serde", "source": "registry+x", "manifest_path": "/home/.cargo/registry/serde/Cargo.toml"},
        ]});
        let outside = outside_packages(&metadata, Path::new("/w/core"));
        assert_eq!(outside, [(PathBuf::from("/w/sdk"), "wrun-sdk".to_owned())]);
    }

    #[test]
    fn debug_information_is_what_the_release_profile_asks_for() {
        let folder = tempfile::tempdir().expect("a folder");
        for (profile, expect) in [
            ("", false),
            ("[profile.dev]\ndebug = true", false),
            ("[profile.release]\ndebug = false", false),
            ("[profile.release]\ndebug = 0", false),
            ("[profile.release]\ndebug = \"none\"", false),
            ("[profile.release]\ndebug = \"line-tables-only\"", true),
            ("[profile.release]\ndebug = 1", true),
            ("[profile.release]\ndebug = true", true),
        ] {
            std::fs::write(folder.path().join("Cargo.toml"), profile).expect("a manifest");
            assert_eq!(has_debug_information(folder.path()).expect("readable"), expect, "{profile}");
        }
    }

    #[test]
    fn a_policy_has_exactly_one_component() {
        let module = |package: &str| CompiledModule { package: package.to_owned(), bytes: Vec::new() };
        let folder = Path::new("policy");
        let none = only_module(folder, vec![]).expect_err("none");
        assert_eq!(none.to_string(), "policy makes no component: no package has `crate-type = [\"cdylib\"]`");
        let two = only_module(folder, vec![module("a"), module("b")]).expect_err("two");
        assert_eq!(two.to_string(), "policy makes more than one component: a, b");
        assert_eq!(only_module(folder, vec![module("a")]).expect("one").package, "a");
    }

    #[test]
    fn a_folder_without_a_manifest_is_refused_before_cargo_starts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let compiler = GuestCompiler::at("/nowhere/rustc".into());
        let error = compile_modules(folder.path(), &compiler, &folder.path().join("target"), Profile::Dev)
            .expect_err("no manifest");
        assert!(matches!(error, CompileError::NotCargo { .. }), "{error}");
    }
}
