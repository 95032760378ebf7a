//! Files of objects: which file has which name, and how files are written whole.

use super::ObjectsError;
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Entries of a directory with all below it.
pub(crate) const MAX_ENTRIES: usize = 100_000;

/// Directories below each other.
const MAX_DEPTH: usize = 16;

/// How long a command waits for others that write.
const WAIT: Duration = Duration::from_secs(30);

/// The time between two attempts to get the lock.
const ATTEMPT: Duration = Duration::from_millis(5);

/// How the names of files begin that are being written. Files that a killed command left are removed by the next one.
const UNFINISHED: &str = ".wrun-unfinished-";

/// Returns the files of roles or environments by name, in a directory and those below it. Repositories sort them into
/// directories; of one name the Ruby file is taken, as in Chef. Hidden entries are passed over.
///
/// # Errors
/// A directory cannot be read; the error has its path.
pub(crate) fn documents(folder: &Path) -> Result<BTreeMap<String, PathBuf>, (PathBuf, io::Error)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    let mut entries = 0;
    while let Some((folder, depth)) = folders.pop() {
        let failed = |error| (folder.clone(), error);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            entries += 1;
            if entries > MAX_ENTRIES || depth > MAX_DEPTH {
                return Err(failed(io::Error::other(
                    "it has too many files, or directories below each other without end",
                )));
            }
            let name = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            match (name, ending) {
                (Some(name), _) if name.starts_with('.') => {}
                _ if path.is_dir() => folders.push((path, depth + 1)),
                (Some(name), "rb") => drop(found.insert(name, path)),
                (Some(name), "json") => drop(found.entry(name).or_insert(path)),
                _ => {}
            }
        }
    }
    Ok(found)
}

/// The lock of a directory: one command at a time writes in it.
pub(super) struct FolderLock {
    folder: PathBuf,
    /// Holds the lock until it is closed.
    _handle: File,
}

impl FolderLock {
    /// Waits for the lock.
    pub(super) fn take(folder: &Path) -> Result<Self, ObjectsError> {
        let failed = |source| ObjectsError::Write { path: folder.to_owned(), source };
        let handle = File::open(folder).map_err(failed)?;
        let began = Instant::now();
        loop {
            match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { folder: folder.to_owned(), _handle: handle }),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) if began.elapsed() < WAIT => {
                    std::thread::sleep(ATTEMPT);
                }
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {
                    return Err(ObjectsError::Busy { folder: folder.to_owned(), seconds: WAIT.as_secs() });
                }
                Err(error) => return Err(failed(error.into())),
            }
        }
    }

    /// Writes a file whole: whoever reads it finds the old one or the new one. A link is followed, since operators link files.
    pub(super) fn write(&self, path: &Path, text: &str, new_mode: u32) -> Result<(), ObjectsError> {
        let failed = |source| ObjectsError::Write { path: path.to_owned(), source };
        let (place, mode) = match std::fs::canonicalize(path) {
            Ok(place) => {
                let mode = std::fs::metadata(&place).map_err(failed)?.permissions().mode();
                (place, mode & 0o777)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), new_mode),
            Err(error) => return Err(failed(error)),
        };
        let folder = place.parent().unwrap_or(&self.folder);
        remove_unfinished(folder).map_err(failed)?;
        let write = || {
            let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
            file.write_all(text.as_bytes())?;
            file.as_file().set_permissions(Permissions::from_mode(mode))?;
            file.as_file().sync_all()?;
            file.persist(&place)?;
            File::open(folder)?.sync_all()
        };
        write().map_err(failed)
    }

    /// Removes the file at a path.
    pub(super) fn remove(&self, path: &Path) -> Result<(), ObjectsError> {
        std::fs::remove_file(path).map_err(|source| ObjectsError::Write { path: path.to_owned(), source })
    }

    /// Removes a directory with the files in it, at once for everybody who looks at it.
    pub(super) fn remove_folder(&self, path: &Path) -> Result<(), ObjectsError> {
        let failed = |source| ObjectsError::Write { path: path.to_owned(), source };
        remove_unfinished(&self.folder).map_err(failed)?;
        let gone = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.folder).map_err(failed)?.keep();
        // An empty directory is replaced by a rename.
        std::fs::rename(path, &gone).map_err(failed)?;
        std::fs::remove_dir_all(&gone).map_err(failed)
    }
}

/// Removes what killed commands left.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED)) {
            let removed = match entry.file_type()?.is_dir() {
                true => std::fs::remove_dir_all(entry.path()),
                false => std::fs::remove_file(entry.path()),
            };
            removed.or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })?;
        }
    }
    Ok(())
}
