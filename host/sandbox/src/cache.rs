//! Keeps compiled native code between runs. A foreign file here could run code as root. So a file is used only if its keyed
//! tag proves that this user's wrun wrote it. The key is in the same folder, readable by this user alone. An invalid file is
//! not an error: the component is compiled again.
//!
//! Each release of a policy has different native code. So the folder has a limit of bytes and files, and keeps the most
//! recently used files. Native code is not kept if the disk would have less free space than the settings require.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry, MetadataExt as _, OpenOptions};
use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use wasmtime::component::Component;
use wasmtime::{Config, Engine};

/// The limits of the cache.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// The maximum number of bytes on the disk.
    bytes: u64,
    files: usize,
}

/// The usual limits. They are far above the needs of one node, whose policies have some megabytes each.
const BOUNDS: Bounds = Bounds { bytes: 2 << 30, files: 500 };

/// The ending of the names of native-code files.
pub(crate) const NATIVE: &str = ".native";

/// The size in bytes of the blocks in which file systems count.
const BLOCK: u64 = 512;

/// The cache's folder, and the key that authenticates its files.
pub struct NativeCache {
    folder: Dir,
    path: PathBuf,
    key: [u8; 32],
    /// The number of bytes of the disk that must stay free.
    least_free: u64,
    bounds: Bounds,
}

/// A file of native code in the cache.
struct KeptCode {
    /// The time of the last use, or `None` without readable tags.
    used: Option<SystemTime>,
    name: String,
    /// The bytes that the file occupies on the disk.
    bytes: u64,
}

impl NativeCache {
    /// Opens a cache in an existing folder that only root or this user can write to.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be opened.
    pub fn new(folder: &Path, key: [u8; 32]) -> std::io::Result<Self> {
        let path = folder.to_owned();
        let folder = Dir::open_ambient_dir(&path, ambient_authority())?;
        folder.entries()?;
        Ok(Self { folder, path, key, least_free: 0, bounds: BOUNDS })
    }

    /// Sets the number of bytes of the disk that must stay free.
    #[must_use]
    pub fn leaving_free(self, bytes: u64) -> Self {
        Self { least_free: bytes, ..self }
    }

    /// Returns true if the disk has room for this number of additional bytes.
    pub(crate) fn has_room_for(&self, bytes: u64) -> bool {
        let Ok(disk) = rustix::fs::fstatvfs(&self.folder) else { return true };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        free.saturating_sub(bytes) >= self.least_free
    }

    /// Records the use of native code as the modification time of its tags file.
    pub(crate) fn used(&self, name: &str) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let as_it_is = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let times = Timestamps { last_access: as_it_is, last_modification: now };
        let _ = rustix::fs::utimensat(&self.folder, tags_of(name), &times, AtFlags::SYMLINK_NOFOLLOW);
    }

    /// Removes the least recently used native code until the cache is within its limits.
    pub(crate) fn prune(&self) {
        let Ok(entries) = self.folder.entries() else { return };
        let mut kept: Vec<_> = entries.filter_map(|entry| self.code_of(&entry.ok()?)).collect();
        kept.sort_by(|one, other| (other.used, &other.name).cmp(&(one.used, &one.name)));
        let mut bytes = 0_u64;
        for (before, one) in kept.iter().enumerate() {
            bytes = bytes.saturating_add(one.bytes);
            if before >= self.bounds.files || bytes > self.bounds.bytes {
                let _ = self.folder.remove_file(tags_of(&one.name));
                let _ = self.folder.remove_file(&one.name);
            }
        }
    }

    fn code_of(&self, entry: &DirEntry) -> Option<KeptCode> {
        let name = entry.file_name().into_string().ok().filter(|name| name.ends_with(NATIVE))?;
        let bytes = entry.metadata().ok()?.blocks().saturating_mul(BLOCK);
        let tags = self.folder.symlink_metadata(tags_of(&name)).and_then(|about| about.modified());
        Some(KeptCode { used: tags.ok().map(cap_std::time::SystemTime::into_std), name, bytes })
    }

    /// Returns the path of a file in the folder, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the open handle of the cache's folder.
    pub(crate) fn folder(&self) -> &Dir {
        &self.folder
    }

    /// Returns a hasher with the cache's key for one purpose.
    pub(crate) fn keyed(&self, purpose: &str) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(purpose.as_bytes());
        hasher
    }
}

/// Returns the name of the tags file. It proves the origin of native code, and its modification time is the last use.
pub(crate) fn tags_of(name: &str) -> String {
    format!("{name}.tags")
}

/// Opens a regular file in a folder. It does not follow links.
pub(crate) fn open(folder: &Dir, name: &str) -> Option<File> {
    // Without this option, a named pipe in the folder would block wrun.
    let options = &mut OpenOptions::new();
    let options = options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = folder.open_with(name, options).ok()?.into_std();
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(file)
}

/// The processor level of portable native code. Processors of the last fifteen years have it.
pub(crate) const PORTABLE: &str = "x86-64-v2";

/// Changes settings from this machine's processor to every processor of the level [`PORTABLE`].
pub(crate) fn portable(mut configuration: Config) -> wasmtime::Result<Config> {
    configuration.target("x86_64-unknown-linux-gnu")?;
    #[expect(unsafe_code, reason = "the engine's only way to name a level of processors")]
    // SAFETY: the flag selects the allowed instructions. This process does not run such code. An engine that loads it first
    // checks its processor's instructions.
    unsafe {
        configuration.cranelift_flag_enable(PORTABLE);
    }
    Ok(configuration)
}

/// Maps a file of native code. The caller must ensure that this engine wrote the file.
pub(crate) fn map_native(engine: &Engine, path: &Path) -> Option<Component> {
    #[expect(unsafe_code, reason = "the engine's only way to load native code")]
    // SAFETY: `deserialize_file` needs an unchanging file that `serialize` of this engine wrote. `shared.rs` passes only
    // files with a valid tag or a trusted owner. Only that owner can write to them.
    let component = unsafe { Component::deserialize_file(engine, path) };
    component.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared;
    use std::fs::{self, FileTimes};
    use std::time::Duration;

    fn cache(bounds: Bounds) -> (tempfile::TempDir, NativeCache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = NativeCache::new(folder.path(), [7; 32]).unwrap();
        (folder, NativeCache { bounds, ..cache })
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = entries.filter_map(|name| Some(name.strip_suffix(NATIVE)?.to_owned())).collect();
        names.sort();
        names
    }

    fn keep(cache: &NativeCache, name: &str, bytes: usize) -> bool {
        let code = vec![1; bytes];
        shared::keep(cache, &format!("{name}{NATIVE}"), code.len() as u64, &mut code.as_slice()).is_some()
    }

    /// Sets the last use of native code to this number of seconds ago.
    fn used_before(folder: &Path, name: &str, seconds: u64) {
        let file = File::options().write(true).open(folder.join(tags_of(&format!("{name}{NATIVE}")))).unwrap();
        let time = SystemTime::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        file.set_times(FileTimes::new().set_modified(time)).unwrap();
    }

    /// Regression test: the cache kept the native code of all releases for ever.
    #[test]
    fn attack_native_code_of_many_releases_is_bounded() {
        let (folder, cache) = cache(Bounds { bytes: 1 << 20, files: 3 });
        for (at, name) in ["honest", "b", "c"].into_iter().enumerate() {
            assert!(keep(&cache, name, 1000));
            used_before(folder.path(), name, 1000 - at as u64);
        }
        // Native code in use is not removed by further releases of other policies.
        cache.used(&format!("honest{NATIVE}"));
        for name in ["d", "e"] {
            assert!(keep(&cache, name, 1000));
        }
        assert_eq!(names(folder.path()), ["d", "e", "honest"]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6, "their tags went with them");
        used_before(folder.path(), "honest", 10);
        used_before(folder.path(), "d", 5);
        assert!(keep(&cache, "large", 900 << 10));
        assert!(keep(&cache, "larger", 1000 << 10));
        assert_eq!(names(folder.path()), ["larger"], "so many bytes may be kept");
    }

    #[test]
    fn attack_native_code_is_not_kept_on_a_disk_that_is_nearly_full() {
        let (folder, cache) = cache(BOUNDS);
        let cache = cache.leaving_free(u64::MAX);
        assert!(!keep(&cache, "a", 1000));
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}
