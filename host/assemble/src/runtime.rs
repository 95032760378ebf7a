//! The language runtime that policies of Ruby cookbooks share: a component beside the program, made by
//! `cargo xtask guests`.
//!
//! It is in the folder of the setting `runtime_dir`, else in `../share/wrun` beside the program, both in an installation and
//! in a checkout's target folder. Its digest identifies it: a policy's artifact names the runtime that it was built for.

use contract::{CookbookFiles, FileError};
use sandbox::{ReadComponent, Sandbox, SandboxError, SharedComponent, is_installed};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Prefix and suffix of a runtime's file name, with its version and revision between them: `ruby-4.0.0-1.component.wasm`.
const PREFIX: &str = "ruby-";
const SUFFIX: &str = ".component.wasm";

/// The ending, instead of `wasm`, of the file that holds a runtime's digest.
const DIGEST: &str = "sha256";

/// The largest runtime that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Size of the linear memory at the start, in bytes. Ruby reserves it and uses only a small part of it.
pub(crate) const RESERVED_MEMORY: usize = 320 << 20;

/// The reasons why the Ruby runtime cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// No folder contains a runtime.
    #[error(
        "there is no Ruby runtime {}; set `runtime_dir` or WRUN_RUNTIME_DIR to the folder that holds \
         ruby-VERSION.component.wasm (in a checkout, `cargo xtask guests` makes it)",
        looked_in(folders)
    )]
    Missing {
        /// The folders that were searched.
        folders: Vec<PathBuf>,
    },
    /// The policy was built for another runtime than the existing one.
    #[error("the policy needs the runtime {wanted}, and {} is another one", path.display())]
    Other {
        /// Name and digest of the needed runtime.
        wanted: String,
        /// The path of the existing runtime.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("cannot read the runtime {}", path.display())]
    Read {
        /// The path of the runtime's file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A runtime that was found.
#[derive(Debug, Clone)]
pub struct Runtime {
    /// Its name, with version and revision: `ruby-4.0.0-1`.
    pub name: String,
    /// The path of the runtime's file.
    pub path: PathBuf,
    /// Its SHA-256, 64 hexadecimal digits.
    pub digest: String,
}

impl Runtime {
    /// Finds the newest runtime; `setting` is `runtime_dir`.
    ///
    /// # Errors
    /// It does not exist, or cannot be read.
    pub fn find(setting: Option<&Path>) -> Result<Self, RuntimeError> {
        let folders = folders(setting);
        let newest = folders.iter().find_map(|folder| newest(folder));
        Self::at(&newest.ok_or(RuntimeError::Missing { folders })?)
    }

    /// Finds the runtime that a policy was built for.
    ///
    /// # Errors
    /// It does not exist, cannot be read, or is another one.
    pub(crate) fn find_exact(setting: Option<&Path>, name: &str, digest: &str) -> Result<Self, RuntimeError> {
        let folders = folders(setting);
        let paths = folders.iter().map(|folder| folder.join(format!("{name}{SUFFIX}")));
        let Some(path) = paths.into_iter().find(|path| path.is_file() && version(path).is_some()) else {
            return Err(RuntimeError::Missing { folders });
        };
        let found = Self::at(&path)?;
        if found.digest == digest {
            return Ok(found);
        }
        Err(RuntimeError::Other { wanted: format!("{name} ({digest})"), path })
    }

    /// Compiles the runtime for all processors of the level x86-64-v2 and puts the native code beside it, for a package. Returns
    /// its path.
    ///
    /// # Errors
    /// The runtime cannot be read or compiled, or its folder cannot be written.
    pub fn ship_portable_native(&self) -> Result<PathBuf, SandboxError> {
        Sandbox::ship_portable_native(self.component())
    }

    /// The component, for the sandbox.
    pub(crate) fn component(&self) -> SharedComponent<'_> {
        SharedComponent { path: &self.path, digest: &self.digest, read: self }
    }

    fn at(path: &Path) -> Result<Self, RuntimeError> {
        let failed = |source| RuntimeError::Read { path: path.to_owned(), source };
        let digest = match installed_digest(path) {
            Some(digest) => digest,
            None => digest(&read(path).map_err(failed)?),
        };
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = file_name.strip_suffix(SUFFIX).unwrap_or(&file_name).to_owned();
        Ok(Self { name, path: path.to_owned(), digest })
    }
}

impl ReadComponent for Runtime {
    /// Reads the component, which is needed only if its native code is not cached. That is logged, because a run that
    /// silently takes a minute looks broken.
    fn read(&self) -> std::io::Result<Vec<u8>> {
        let path = self.path.display();
        tracing::warn!("compiling the Ruby runtime {path} for this processor: up to a minute and 2 GB of memory, once");
        let component = read(&self.path)?;
        if digest(&component) == self.digest {
            return Ok(component);
        }
        Err(std::io::Error::other(format!("it does not have the digest {} that stands beside it", self.digest)))
    }
}

/// Returns the searched folders, as the end of "there is no Ruby runtime".
fn looked_in(folders: &[PathBuf]) -> String {
    if folders.is_empty() {
        return "beside the program, which does not know where it lies (is /proc mounted?)".to_owned();
    }
    let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    format!("in {}", folders.join(" or "))
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut component = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut component)?;
    if component.len() as u64 > LARGEST {
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, "it is too large to be one"));
    }
    Ok(component)
}

fn digest(component: &[u8]) -> String {
    text::hex(Sha256::digest(component))
}

/// Returns the digest that was installed beside a runtime, so that wrun need not read its 23 MB. It is trusted like the
/// program itself: only if nobody but root can write to the folder. A digest file that is older than the runtime is ignored:
/// it belongs to another one.
fn installed_digest(path: &Path) -> Option<String> {
    let (component, folder) = (File::open(path).ok()?, path.parent()?);
    let mut beside = File::open(path.with_extension(DIGEST)).ok()?;
    let is_newer = beside.metadata().ok()?.modified().ok()? >= component.metadata().ok()?.modified().ok()?;
    let is_trusted = is_newer && is_installed(&beside, folder) && is_installed(&component, folder);
    let mut text = String::new();
    beside.by_ref().take(100).read_to_string(&mut text).ok().filter(|_| is_trusted)?;
    let digest = text.trim();
    let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| digest.to_ascii_lowercase())
}

/// The pseudo-cookbook from which a runtime without a built-in library loads it. No cookbook can have this name.
const LIBRARY: &str = "wrun:library";

/// Adds the Ruby library of a developer's runtime to a policy's files. `setting` is `ruby_library`.
pub(crate) fn with_library(files: Arc<dyn CookbookFiles>, setting: Option<&Path>) -> Arc<dyn CookbookFiles> {
    match setting {
        None => files,
        Some(folder) => Arc::new(WithLibrary { files, folder: folder.to_owned() }),
    }
}

struct WithLibrary {
    files: Arc<dyn CookbookFiles>,
    folder: PathBuf,
}

impl WithLibrary {
    /// The paths of all Ruby files below a folder, relative to the library's.
    fn sources(&self, below: &Path, found: &mut Vec<String>) {
        let Ok(entries) = std::fs::read_dir(below) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                self.sources(&path, found);
            } else if path.extension().is_some_and(|end| end == "rb")
                && let Ok(inside) = path.strip_prefix(&self.folder)
            {
                found.push(inside.display().to_string());
            }
        }
    }
}

impl CookbookFiles for WithLibrary {
    fn cookbooks(&self) -> Vec<(String, String)> {
        self.files.cookbooks()
    }

    fn paths(&self, cookbook: &str, folder: &str) -> Result<Vec<String>, FileError> {
        if cookbook != LIBRARY {
            return self.files.paths(cookbook, folder);
        }
        let mut found = Vec::new();
        self.sources(&self.folder, &mut found);
        found.sort();
        Ok(found)
    }

    fn read(&self, cookbook: &str, path: &str) -> Result<Vec<u8>, FileError> {
        if cookbook != LIBRARY {
            return self.files.read(cookbook, path);
        }
        let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        let content = inside.then(|| std::fs::read(self.folder.join(path)).ok()).flatten();
        content.ok_or_else(|| FileError::NoSuchFile(format!("{path} in {}", self.folder.display())))
    }
}

/// Returns the folders that may contain runtimes: that of the setting, else `../share/wrun` beside the program.
pub(crate) fn folders(setting: Option<&Path>) -> Vec<PathBuf> {
    if let Some(folder) = setting {
        return vec![folder.to_owned()];
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).and_then(Path::parent);
    beside.map(|folder| folder.join("share/wrun")).into_iter().collect()
}

/// Tells whether a folder has a runtime, whichever that is.
pub(crate) fn is_in(folder: &Path) -> bool {
    newest(folder).is_some()
}

/// The newest runtime in a folder.
fn newest(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter_map(|path| Some((version(&path)?, path))).max().map(|(_, path)| path)
}

/// Returns the numbers in a runtime's file name, or `None` if it is not a runtime.
fn version(path: &Path) -> Option<Vec<u32>> {
    let name = path.file_name()?.to_str()?;
    let numbers = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    numbers.split(['.', '-']).map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_found_and_others_are_no_runtimes() {
        let folder = tempfile::tempdir().unwrap();
        let setting = Some(folder.path());
        let missing = Runtime::find(setting).unwrap_err().to_string();
        assert!(missing.contains(&folder.path().display().to_string()), "{missing}");
        for name in ["ruby-4.0.0-2", "ruby-4.0.0-10", "ruby-4.0.0-9", "ruby-4.0.0-x", "python-9.0.0-1"] {
            std::fs::write(folder.path().join(format!("{name}.component.wasm")), name).unwrap();
        }
        let found = Runtime::find(setting).unwrap();
        assert_eq!((found.name.as_str(), found.read().unwrap()), ("ruby-4.0.0-10", b"ruby-4.0.0-10".to_vec()));
        assert_eq!(found.digest, digest(b"ruby-4.0.0-10"));
    }

    #[test]
    fn a_policy_gets_the_runtime_it_was_built_for_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let setting = Some(folder.path());
        std::fs::write(folder.path().join("ruby-4.0.0-1.component.wasm"), "one").unwrap();
        let digest = Runtime::find(setting).unwrap().digest;
        assert_eq!(Runtime::find_exact(setting, "ruby-4.0.0-1", &digest).unwrap().read().unwrap(), b"one");
        let other = Runtime::find_exact(setting, "ruby-4.0.0-1", &"0".repeat(64)).unwrap_err();
        assert!(matches!(other, RuntimeError::Other { .. }), "{other}");
        let missing = Runtime::find_exact(setting, "ruby-4.0.0-7", &digest).unwrap_err();
        assert!(matches!(missing, RuntimeError::Missing { .. }), "{missing}");
        let outside = Runtime::find_exact(setting, "../x", &digest).unwrap_err();
        assert!(matches!(outside, RuntimeError::Missing { .. }), "{outside}");
    }

    #[test]
    fn an_installed_digest_counts_until_the_runtime_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let setting = Some(folder.path());
        let path = folder.path().join("ruby-4.0.0-1.component.wasm");
        std::fs::write(&path, "one").unwrap();
        let beside = folder.path().join("ruby-4.0.0-1.component.sha256");
        std::fs::write(&beside, format!("{}\n", "a".repeat(64))).unwrap();
        let found = Runtime::find(setting).unwrap();
        assert_eq!(found.digest, "a".repeat(64));
        assert!(found.read().is_err(), "a wrong digest is found when the component is read");
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert_eq!(Runtime::find(setting).unwrap().digest, digest(b"one"));
        std::fs::write(&beside, "no digest").unwrap();
        File::options().write(true).open(&beside).unwrap().set_modified(later).unwrap();
        assert_eq!(Runtime::find(setting).unwrap().digest, digest(b"one"));
    }
}
