//! Writes the files of objects, each at once and never in part.

use super::ObjectsError;
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a command waits for other commands that write to the directory.
const WAIT: Duration = Duration::from_secs(30);

/// The time between two attempts to get the lock.
const ATTEMPT: Duration = Duration::from_millis(5);

/// Prefix of the names of unfinished files. The next command removes such files that a killed command left.
const UNFINISHED: &str = ".wrun-unfinished-";

/// The lock of a directory, in which only one command writes at a time.
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

    /// Writes a file atomically: a reader gets either the old or the new content. A link is followed, since operators link
    /// files.
    pub(super) fn write(&self, path: &Path, text: &str, new_mode: u32) -> Result<(), ObjectsError> {
        let failed = |source| ObjectsError::Write { path: path.to_owned(), source };
        let (place, old) = match std::fs::canonicalize(path) {
            Ok(place) => (place.clone(), Some(std::fs::metadata(&place).map_err(failed)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), None),
            Err(error) => return Err(failed(error)),
        };
        let folder = place.parent().unwrap_or(&self.folder);
        // The lock does not protect other directories, so only this one's unfinished files are removed.
        if plain_files::leads_inside(folder, &self.folder) {
            remove_unfinished(folder).map_err(failed)?;
        }
        let write = || {
            let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
            file.write_all(text.as_bytes())?;
            if let Some(old) = &old {
                keep_owner(file.as_file(), old)?;
            }
            let mode = old.as_ref().map_or(new_mode, |old| old.mode() & 0o777);
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

    /// Removes a directory with its files, atomically for readers. If it is a link, only the link is removed.
    pub(super) fn remove_folder(&self, path: &Path) -> Result<(), ObjectsError> {
        let failed = |source| ObjectsError::Write { path: path.to_owned(), source };
        if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
            return self.remove(path);
        }
        remove_unfinished(&self.folder).map_err(failed)?;
        let gone = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&self.folder).map_err(failed)?.keep();
        // An empty directory is replaced by a rename.
        std::fs::rename(path, &gone).map_err(failed)?;
        std::fs::remove_dir_all(&gone).map_err(failed)
    }
}

/// Gives a new file the owner and the group of the file that it replaces. Only root may change an owner, so a refusal is not
/// an error for other users.
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    match fchown(file, Some(old.uid()), Some(old.gid())) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}

/// Removes unfinished files that killed commands left.
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
