//! Writes the files of objects, each at once and never in part.

use super::ObjectsError;
use plain_files::{Existing, Folder, HeldFolder, Kind, Survives, UNFINISHED, leads_out};
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsString;
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a command waits for other commands that write to the directory.
const WAIT: Duration = Duration::from_secs(30);

/// The mode of a file until it has its owner.
const UNREADABLE: u32 = 0o600;

/// The time between two attempts to get the lock.
const ATTEMPT: Duration = Duration::from_millis(5);

/// The lock of a directory, in which only one command writes at a time.
pub(super) struct FolderLock {
    folder: PathBuf,
    held: HeldFolder,
    /// Holds the lock until it is closed.
    _handle: File,
}

/// The place of an object's file: its folder, held open, and its name there. Links are resolved once, so the file that was
/// judged is the one that is replaced.
pub(super) struct Place {
    folder: Folder,
    name: OsString,
    /// False if a link leads out of the directory of the objects.
    pub(super) is_inside: bool,
}

impl Place {
    /// Reads the file. Returns `None` if it does not exist.
    pub(super) fn read(&self, limit: u64) -> io::Result<Option<Vec<u8>>> {
        self.folder.read(&self.name, limit)
    }

    /// Returns the state of the file, or `None` if the path is not a plain file.
    fn about(&self) -> io::Result<Option<Metadata>> {
        match self.folder.kind(&self.name)? {
            Some(Kind::File) => self.folder.open_file(&self.name)?.map(|file| file.metadata()).transpose(),
            _ => Ok(None),
        }
    }
}

impl FolderLock {
    /// Waits for the lock.
    pub(super) fn take(folder: &Path) -> Result<Self, ObjectsError> {
        let failed = |source| ObjectsError::Write { path: folder.to_owned(), source };
        let handle = File::open(folder).map_err(failed)?;
        let held = HeldFolder::open(folder).map_err(failed)?;
        let began = Instant::now();
        loop {
            match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { folder: folder.to_owned(), held, _handle: handle }),
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

    /// Returns the place of a file in the directory. A link is followed, since operators link files.
    pub(super) fn place(&self, path: &Path) -> Result<Place, ObjectsError> {
        let failed = |source| ObjectsError::Write { path: path.to_owned(), source };
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        let (is_inside, real) = match self.held.without_links(below) {
            Ok(inside) => (true, inside),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (true, below.to_owned()),
            Err(error) if leads_out(&error) => (false, self.held.real().join(below).canonicalize().map_err(failed)?),
            Err(error) => return Err(failed(error)),
        };
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(failed(io::ErrorKind::InvalidFilename.into()));
        };
        let folder = if is_inside { self.held.folder().below(parent) } else { Folder::open(parent) };
        let folder = folder.and_then(|folder| folder.ok_or_else(|| io::ErrorKind::NotFound.into())).map_err(failed)?;
        Ok(Place { folder, name: name.to_owned(), is_inside })
    }

    /// Writes a file atomically: a reader gets either the old or the new content.
    pub(super) fn write(&self, place: &Place, path: &Path, text: &str, new_mode: u32) -> Result<(), ObjectsError> {
        let failed = |source| ObjectsError::Write { path: path.to_owned(), source };
        // The lock does not protect other directories, so only this one's unfinished files are removed.
        if place.is_inside {
            remove_unfinished(&place.folder).map_err(failed)?;
        }
        let old = place.about().map_err(failed)?;
        let write = |file: &mut File| {
            file.write_all(text.as_bytes())?;
            if let Some(old) = &old {
                keep_owner(file, old)?;
            }
            let mode = old.as_ref().map_or(new_mode, |old| old.mode() & 0o777);
            file.set_permissions(Permissions::from_mode(mode))
        };
        let written = place.folder.write_with(&place.name, UNREADABLE, Existing::Replaced, Survives::PowerCut, write);
        written.map(|_| ()).map_err(failed)
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
        remove_unfinished(self.held.folder()).map_err(failed)?;
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
fn remove_unfinished(folder: &Folder) -> io::Result<()> {
    for name in folder.names()? {
        if !name.to_str().is_some_and(|name| name.starts_with(UNFINISHED)) {
            continue;
        }
        match folder.kind(&name)? {
            Some(Kind::Folder) => folder.remove_folder(&name)?,
            _ => folder.remove(&name)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// The author of the repository may exchange links and folders while a command runs.
    #[test]
    fn attack_what_is_replaced_is_what_was_judged() {
        let top = tempfile::tempdir().unwrap();
        let at = |path: &str| top.path().join(path);
        for folder in ["roles/inner", "shared", "victims"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["roles/inner/web.json", "shared/web.json", "victims/web.json"] {
            fs::write(at(file), file).unwrap();
        }
        symlink(at("shared/web.json"), at("roles/web.json")).unwrap();
        let lock = FolderLock::take(&at("roles")).unwrap();
        let outside = lock.place(&at("roles/web.json")).unwrap();
        let inside = lock.place(&at("roles/inner/web.json")).unwrap();
        assert_eq!((outside.is_inside, inside.is_inside), (false, true));
        fs::remove_file(at("roles/web.json")).unwrap();
        symlink(at("victims/web.json"), at("roles/web.json")).unwrap();
        fs::rename(at("roles/inner"), at("away")).unwrap();
        symlink(at("victims"), at("roles/inner")).unwrap();
        assert_eq!(outside.read(99).unwrap().unwrap(), b"shared/web.json");
        lock.write(&outside, &at("roles/web.json"), "new", 0o644).unwrap();
        lock.write(&inside, &at("roles/inner/web.json"), "new", 0o644).unwrap();
        let read = |path: &str| fs::read_to_string(at(path)).unwrap();
        assert_eq!(["shared/web.json", "away/web.json"].map(read), ["new", "new"]);
        assert_eq!(read("victims/web.json"), "victims/web.json");
        assert!(lock.place(&at("roles/inner/new.json")).is_err(), "a folder's link is not followed to a new file");
    }
}
