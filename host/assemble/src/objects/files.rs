//! Files of objects: which file has which name, and how files are written whole.

use super::ObjectsError;
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
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
/// directories; of two files of one name the one in Ruby is taken, as in Chef. Hidden entries are passed over.
///
/// # Errors
/// A directory cannot be read, or two files in one language have one name; the error has the path of a directory.
pub(crate) fn documents(folder: &Path) -> Result<BTreeMap<String, PathBuf>, (PathBuf, io::Error)> {
    let mut all = vec![];
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
                (Some(name), "rb" | "json") => all.push((name, path)),
                _ => {}
            }
        }
    }
    one_of_each(all).map_err(|(first, second)| {
        let reason = format!("{} and {} have one name", first.display(), second.display());
        (folder.to_owned(), io::Error::other(reason))
    })
}

/// Chooses the file of each name. Two of one ending are an error, with both paths: the order of directories decides nothing.
fn one_of_each(mut all: Vec<(String, PathBuf)>) -> Result<BTreeMap<String, PathBuf>, (PathBuf, PathBuf)> {
    all.sort();
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (name, path) in all {
        match found.entry(name) {
            Entry::Vacant(free) => drop(free.insert(path)),
            Entry::Occupied(taken) if taken.get().extension() == path.extension() => {
                return Err((taken.get().clone(), path));
            }
            Entry::Occupied(mut taken) if path.extension().is_some_and(|ending| ending == "rb") => {
                taken.insert(path);
            }
            Entry::Occupied(_) => {}
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
        let (place, old) = match std::fs::canonicalize(path) {
            Ok(place) => (place.clone(), Some(std::fs::metadata(&place).map_err(failed)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (path.to_owned(), None),
            Err(error) => return Err(failed(error)),
        };
        let folder = place.parent().unwrap_or(&self.folder);
        // Elsewhere this lock keeps nobody away.
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

    /// Removes a directory with the files in it, at once for everybody who looks at it; of a link only the link.
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

/// Gives a new file the owner and the group of the one that it replaces. Who is not root may give no file away.
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
