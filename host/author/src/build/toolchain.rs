//! Finds a Rust compiler for `wasm32-unknown-unknown`.
//!
//! With rustup, `rustup target add` installs the target. If rustup cannot download, as behind a package mirror, Debian's
//! compiler is unpacked into the cache folder without installing it; see [`super::debian`]. A component for this target
//! imports only wrun's contract, and not WASI.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::command::{CommandError, find_program, output_of, run_within};
use super::debian;

/// The compilation target of guests.
pub const GUEST_TARGET: &str = "wasm32-unknown-unknown";

/// How long rustup may take to fetch the target (some 20 MB) before the other way is tried.
const RUSTUP_LIMIT: Duration = Duration::from_secs(120);

/// The user's choice of a compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    /// The first compiler that works.
    Any,
    /// The installed compiler with its own target, or nothing.
    Rustup,
    /// Debian's compiler in the cache folder, also where rustup has the target.
    Debian,
}

/// The settings for finding a compiler.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Holds Debian's compiler, one folder per version: `$XDG_CACHE_HOME/wrun`.
    pub cache_folder: PathBuf,
    pub preference: Preference,
}

impl Settings {
    /// Reads `XDG_CACHE_HOME`, `HOME`, and `WRUN_GUEST_COMPILER` (`rustup` or `debian`; absent means whichever works).
    pub fn from_environment() -> Result<Self, ToolchainError> {
        let preference = match std::env::var("WRUN_GUEST_COMPILER") {
            Err(_) => Preference::Any,
            Ok(text) if text == "rustup" => Preference::Rustup,
            Ok(text) if text == "debian" => Preference::Debian,
            Ok(text) => return Err(ToolchainError::UnknownPreference { text }),
        };
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        let cache_folder = cache.ok_or(ToolchainError::NoCacheFolder)?.join("wrun");
        Ok(Self { cache_folder, preference })
    }
}

/// A compiler that can build guests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestCompiler {
    /// The compiler that cargo is told to use, where it is not the one that cargo finds by itself.
    rustc: Option<PathBuf>,
}

impl GuestCompiler {
    /// Returns a compiler at a path, which cargo would not find by itself.
    pub(super) fn at(rustc: PathBuf) -> Self {
        Self { rustc: Some(rustc) }
    }

    /// Returns a phrase that describes the compiler, for messages.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.rustc {
            None => format!("the installed Rust compiler, for {GUEST_TARGET}"),
            Some(path) => format!("Debian's Rust compiler in {}", path.parent().unwrap_or(path).display()),
        }
    }

    /// Returns the compiler's version text, for the compiler that applies in a folder.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn version(&self, folder: &Path) -> Result<String, ToolchainError> {
        let chosen = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
        let rustc = self.rustc.clone().unwrap_or(chosen);
        let text = output_of(Command::new(rustc).arg("--version").current_dir(folder))?;
        Ok(text.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// `cargo`, told to use this compiler.
    pub(super) fn cargo(&self) -> Command {
        let mut command = Command::new("cargo");
        if let Some(path) = &self.rustc {
            command.env("RUSTC", path).env_remove("RUSTC_WRAPPER").env_remove("RUSTC_WORKSPACE_WRAPPER");
        }
        command
    }
}

/// The reasons why guests cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    #[error("{program} is missing: {remedy}")]
    MissingProgram { program: &'static str, remedy: &'static str },
    #[error("the installed Rust compiler has no target {GUEST_TARGET}, and rustup could not add it")]
    NoTarget { source: Option<CommandError> },
    #[error("WRUN_GUEST_COMPILER is {text:?}, which is neither \"rustup\" nor \"debian\"")]
    UnknownPreference { text: String },
    #[error("neither XDG_CACHE_HOME nor HOME is set, so there is no folder for a compiler")]
    NoCacheFolder,
    #[error("the compiler does not say its version")]
    NoVersion(#[from] CommandError),
    #[error("cannot set up Debian's Rust compiler")]
    Debian(#[from] debian::DebianError),
}

/// Finds a compiler for guests, or makes one.
///
/// If a compiler exists, this only starts rustc once. Otherwise it checks its requirements, and announces each download and
/// build with one sentence. A set-up that fails or is interrupted does not leave an incomplete compiler.
pub fn guest_compiler(settings: &Settings, announce: &mut dyn FnMut(&str)) -> Result<GuestCompiler, ToolchainError> {
    require("cargo", "install Rust from https://rustup.rs")?;
    require("rustc", "install Rust from https://rustup.rs")?;
    require("cc", "install a C linker, on Debian with `apt-get install gcc libc6-dev`")?;
    if settings.preference != Preference::Debian && installed_compiler_has_target() {
        return Ok(GuestCompiler { rustc: None });
    }
    if settings.preference != Preference::Rustup
        && let Some(compiler) = debian::ready_compiler(&settings.cache_folder)
    {
        return Ok(compiler);
    }
    let refused = match settings.preference {
        Preference::Debian => None,
        Preference::Any | Preference::Rustup => match add_target_with_rustup(announce) {
            Ok(()) => return Ok(GuestCompiler { rustc: None }),
            Err(error) => error,
        },
    };
    if settings.preference == Preference::Rustup {
        return Err(ToolchainError::NoTarget { source: refused });
    }
    Ok(debian::set_up(&settings.cache_folder, announce)?)
}

fn require(program: &'static str, remedy: &'static str) -> Result<(), ToolchainError> {
    find_program(program).map(|_| ()).ok_or(ToolchainError::MissingProgram { program, remedy })
}

/// Whether the compiler that cargo finds by itself has the standard library for guests.
fn installed_compiler_has_target() -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let folder = output_of(Command::new(rustc).args(["--print", "target-libdir", "--target", GUEST_TARGET]));
    folder.is_ok_and(|folder| holds_standard_library(Path::new(folder.trim())))
}

/// Whether a target's library folder holds the compiled `std`.
pub(super) fn holds_standard_library(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    })
}

/// Adds the target with rustup. The error is `None` if rustup is not installed.
fn add_target_with_rustup(announce: &mut dyn FnMut(&str)) -> Result<(), Option<CommandError>> {
    if find_program("rustup").is_none() {
        return Err(None);
    }
    announce(&format!("fetching the Rust target {GUEST_TARGET} with rustup, once"));
    let added = run_within(Command::new("rustup").args(["target", "add", GUEST_TARGET]), RUSTUP_LIMIT);
    match added {
        Ok(()) if installed_compiler_has_target() => Ok(()),
        Ok(()) => Err(None),
        Err(error) => Err(Some(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_std_is_no_target() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(!holds_standard_library(&folder.path().join("missing")));
        std::fs::write(folder.path().join("libcore-1.rlib"), "").expect("a file");
        assert!(!holds_standard_library(folder.path()));
        std::fs::write(folder.path().join("libstd-1.rlib"), "").expect("a file");
        assert!(holds_standard_library(folder.path()));
    }

    #[test]
    fn a_missing_program_is_said_with_its_remedy() {
        let error = require("no-such-program", "install it").expect_err("the program does not exist");
        assert_eq!(error.to_string(), "no-such-program is missing: install it");
    }
}
