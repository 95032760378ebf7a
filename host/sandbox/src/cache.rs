//! Native code, compiled once and kept. Whoever could put a file here could run code as root, so a file counts only if
//! its keyed tag says that this user's wrun made it: the key lies beside it, readable by that user alone. A file that does
//! not fit is not an error: the component is compiled again.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use std::fs::File;
use std::path::{Path, PathBuf};
use wasmtime::component::Component;
use wasmtime::{Config, Engine};

/// Where native code is kept, and the key that authenticates it.
pub struct NativeCache {
    folder: Dir,
    path: PathBuf,
    key: [u8; 32],
}

impl NativeCache {
    /// A cache in a folder that exists and that only root can write.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn new(folder: &Path, key: [u8; 32]) -> std::io::Result<Self> {
        let path = folder.to_owned();
        let folder = Dir::open_ambient_dir(&path, ambient_authority())?;
        folder.entries()?;
        Ok(Self { folder, path, key })
    }

    /// The path of a file in the folder, for people.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the open handle of the cache's folder.
    pub(crate) fn folder(&self) -> &Dir {
        &self.folder
    }

    /// A hasher of our key, for one purpose.
    pub(crate) fn keyed(&self, purpose: &str) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(purpose.as_bytes());
        hasher
    }
}

/// Opens a regular file of a folder, and no link.
pub(crate) fn open(folder: &Dir, name: &str) -> Option<File> {
    // A pipe that somebody put there must not make us wait.
    let options = &mut OpenOptions::new();
    let options = options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = folder.open_with(name, options).ok()?.into_std();
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(file)
}

/// The level of processors that portable native code is made for: those of the last fifteen years.
pub(crate) const PORTABLE: &str = "x86-64-v2";

/// The same settings for every processor of the level [`PORTABLE`], instead of this machine's own.
pub(crate) fn portable(mut configuration: Config) -> wasmtime::Result<Config> {
    configuration.target("x86_64-unknown-linux-gnu")?;
    #[expect(unsafe_code, reason = "the engine's only way to name a level of processors")]
    // SAFETY: the flag says which instructions code may have. Such code is not run here; an engine that loads it checks first
    // that its processor has them.
    unsafe {
        configuration.cranelift_flag_enable(PORTABLE);
    }
    Ok(configuration)
}

/// Maps a file of native code. The caller has made sure that our engine wrote it.
pub(crate) fn map_native(engine: &Engine, path: &Path) -> Option<Component> {
    #[expect(unsafe_code, reason = "the engine's only way to load native code")]
    // SAFETY: `deserialize_file` needs a file that `serialize` of this engine made and that does not change. `shared.rs`
    // passes files whose tag or whose owner proves the first, and which only that owner can write.
    let component = unsafe { Component::deserialize_file(engine, path) };
    component.ok()
}
