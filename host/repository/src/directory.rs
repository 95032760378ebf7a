//! A repository in a directory: the embedded store.
//!
//! Teams may write to their parts of the directory, and root reads and writes there too. So nothing is reached by its path:
//! each folder is opened below the directory's handle without following links, and files are created, renamed and removed in
//! the folder that is open. Writers of one folder wait for each other (`flock`), but not for ever. Every file is written under
//! another name, flushed and renamed, and its folder is flushed after that.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, openat, openat2};
use rustix::io::Errno;

use crate::error::RepositoryError;
use crate::files::{Existing, Survives, UNFINISHED, lock_within, split, write_in};
use crate::store::{Store, Writer};

/// The file whose lock writers of a folder hold.
const LOCK: &str = ".lock";

/// Those who may only read a folder cannot lock it.
const LOCK_MODE: u32 = 0o660;

/// Everybody may read what is signed; the owner's mask takes rights away.
const MODE: u32 = 0o666;

/// The rights of new folders, before the owner's mask.
const FOLDER_MODE: u32 = 0o777;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(60);

/// A repository in a directory.
#[derive(Debug)]
pub struct DirectoryStore {
    path: PathBuf,
    handle: OwnedFd,
    patience: Duration,
}

impl DirectoryStore {
    /// Opens a directory that exists.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> Result<Self, RepositoryError> {
        let failed = |errno: Errno| RepositoryError::Read { file: path.display().to_string(), source: errno.into() };
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let handle = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        Ok(Self { path: path.to_owned(), handle, patience: PATIENCE })
    }

    /// The same store, whose writers wait for others for another time.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Tells whether only root and the owner of the process can change a file, and every folder above it: what lies there is the
    /// operator's own. The folders are those of the directory that is open, whatever has become of its path.
    #[must_use]
    pub fn is_operators_own(&self, path: &str) -> bool {
        self.only_own_folders_above().and_then(|is_own| Ok(is_own && self.only_own_below(path)?)).unwrap_or(false)
    }

    fn only_own_folders_above(&self) -> Result<bool, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut open = openat(&self.handle, ".", flags, Mode::empty())?;
        loop {
            let status = rustix::fs::fstat(&open)?;
            let above = openat(&open, "..", flags, Mode::empty())?;
            let status_above = rustix::fs::fstat(&above)?;
            if !is_own(&status) {
                return Ok(false);
            }
            // The outermost folder is above itself.
            if (status.st_dev, status.st_ino) == (status_above.st_dev, status_above.st_ino) {
                return Ok(true);
            }
            open = above;
        }
    }

    fn only_own_below(&self, path: &str) -> Result<bool, Errno> {
        let mut open = self.handle.as_fd().try_clone_to_owned().map_err(|error| errno(&error))?;
        for name in path.split('/') {
            open = openat(&open, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
            let status = rustix::fs::fstat(&open)?;
            if !is_own(&status) || FileType::from_raw_mode(status.st_mode) == FileType::Symlink {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn open_below(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.handle, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
    }

    /// Opens a folder, to write in it. Where it is missing, it is made durably.
    fn folder(&self, path: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut open = self.handle.as_fd().try_clone_to_owned().map_err(|error| errno(&error))?;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if name == ".." {
                return Err(Errno::INVAL);
            }
            let next = match openat(&open, name, flags, Mode::empty()) {
                Err(Errno::NOENT) => {
                    match rustix::fs::mkdirat(&open, name, Mode::from_raw_mode(FOLDER_MODE)) {
                        Err(errno) if errno != Errno::EXIST => return Err(errno),
                        _ => rustix::fs::fsync(&open)?,
                    }
                    openat(&open, name, flags, Mode::empty())?
                }
                next => next?,
            };
            open = next;
        }
        Ok(open)
    }

    fn lock(&self, folder: &OwnedFd) -> std::io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let lock = openat(folder, LOCK, flags, Mode::from_raw_mode(LOCK_MODE)).map_err(told)?;
        if FileType::from_raw_mode(rustix::fs::fstat(&lock)?.st_mode) != FileType::RegularFile {
            return Err(told(Errno::NXIO));
        }
        let lock = File::from(lock);
        lock_within(&lock, self.patience)?;
        Ok(lock)
    }

    fn unread(&self, path: &str, errno: Errno) -> RepositoryError {
        RepositoryError::Read { file: self.file(path), source: told(errno) }
    }

    fn unwritten(&self, path: &str, source: std::io::Error) -> RepositoryError {
        RepositoryError::Write { file: self.file(path), source }
    }
}

/// Tells whether nobody but root and the owner of the process can change something.
fn is_own(status: &Stat) -> bool {
    let own = rustix::process::geteuid().as_raw();
    // In a folder such as /tmp, others cannot rename what is not theirs.
    let is_sticky = FileType::from_raw_mode(status.st_mode) == FileType::Directory && status.st_mode & 0o1000 != 0;
    let is_closed = status.st_mode & 0o022 == 0 || (status.st_uid == 0 && is_sticky);
    (status.st_uid == 0 || status.st_uid == own) && is_closed
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// The error of the system, in words where it would mislead.
fn told(errno: Errno) -> std::io::Error {
    match errno {
        Errno::LOOP => std::io::Error::other("it is a link, or lies behind one"),
        Errno::NOTDIR => std::io::Error::other("a folder of it is a link, or is not a folder"),
        Errno::NXIO => std::io::Error::other("it is not a regular file"),
        errno => errno.into(),
    }
}

impl Store for DirectoryStore {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
        let opened = match self.open_below(path, OFlags::RDONLY | OFlags::NONBLOCK) {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            opened => opened.map_err(|errno| self.unread(path, errno))?,
        };
        let status = rustix::fs::fstat(&opened).map_err(|errno| self.unread(path, errno))?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(self.unread(path, Errno::NXIO));
        }
        let mut bytes = vec![];
        let read = File::from(opened).take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| RepositoryError::Read { file: self.file(path), source })?;
        if bytes.len() as u64 > limit {
            return Err(RepositoryError::TooLarge { file: self.file(path), limit });
        }
        Ok(Some(bytes))
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, RepositoryError> {
        let opened = match self.open_below(folder, OFlags::RDONLY | OFlags::DIRECTORY) {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(vec![]),
            opened => opened.map_err(|errno| self.unread(folder, errno))?,
        };
        let names = entries(opened).map_err(|errno| self.unread(folder, errno))?;
        Ok(names.into_iter().filter(|name| !name.starts_with('.')).collect())
    }

    fn writer<'s>(&'s self, folder: &str) -> Result<Box<dyn Writer + 's>, RepositoryError> {
        let opened = self.folder(folder).map_err(|errno| self.unwritten(folder, told(errno)))?;
        let lock = self.lock(&opened).map_err(|source| self.unwritten(&format!("{folder}/{LOCK}"), source))?;
        Ok(Box::new(DirectoryWriter { store: self, _lock: lock }))
    }
}

/// The names in an open folder that are UTF-8, sorted.
fn entries(folder: OwnedFd) -> Result<Vec<String>, Errno> {
    let mut names = vec![];
    for entry in rustix::fs::Dir::new(folder)? {
        names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Writes to one folder, while it holds the folder's lock.
struct DirectoryWriter<'s> {
    store: &'s DirectoryStore,
    _lock: File,
}

impl DirectoryWriter<'_> {
    fn write(&self, path: &str, content: &[u8], existing: Existing) -> Result<bool, RepositoryError> {
        let (folder, name) = split(path);
        let opened = self.store.folder(folder).map_err(told);
        let written =
            opened.and_then(|folder| write_in(folder.as_fd(), name, content, MODE, existing, Survives::PowerCut));
        written.map_err(|source| self.store.unwritten(path, source))
    }
}

impl Writer for DirectoryWriter<'_> {
    fn put_if_absent(&self, path: &str, content: &[u8]) -> Result<bool, RepositoryError> {
        self.write(path, content, Existing::Stays)
    }

    fn replace_if_unchanged(&self, path: &str, old: Option<&[u8]>, new: &[u8]) -> Result<bool, RepositoryError> {
        let Some(old) = old else { return self.put_if_absent(path, new) };
        // Nobody else writes meanwhile: this holds the folder's lock.
        let limit = (old.len() as u64).saturating_add(1);
        match self.store.get(path, limit) {
            Ok(Some(found)) if found == old => self.write(path, new, Existing::Replaced),
            Ok(_) | Err(RepositoryError::TooLarge { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn replace(&self, path: &str, content: &[u8]) -> Result<(), RepositoryError> {
        self.write(path, content, Existing::Replaced).map(drop)
    }

    fn remove(&self, path: &str) -> Result<(), RepositoryError> {
        let (folder, name) = split(path);
        let opened = match self.store.open_below(folder, OFlags::RDONLY | OFlags::DIRECTORY) {
            Err(Errno::NOENT) => return Ok(()),
            opened => opened.map_err(|errno| self.store.unwritten(path, told(errno)))?,
        };
        match rustix::fs::unlinkat(&opened, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.store.unwritten(path, errno.into())),
        }
    }

    fn sweep(&self, folder: &str) -> Result<(), RepositoryError> {
        let failed = |errno| self.store.unwritten(folder, told(errno));
        let opened = match self.store.open_below(folder, OFlags::RDONLY | OFlags::DIRECTORY) {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(()),
            opened => opened.map_err(failed)?,
        };
        let names = opened.try_clone().map_err(|error| self.store.unwritten(folder, error))?;
        for name in entries(names).map_err(failed)?.iter().filter(|name| name.starts_with(UNFINISHED)) {
            match rustix::fs::unlinkat(&opened, name.as_str(), AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_are_written_once_or_replaced_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let store = DirectoryStore::open(folder.path()).unwrap();
        let writer = store.writer("a").unwrap();
        assert!(writer.put_if_absent("a/b/c", b"one").unwrap());
        assert!(!writer.put_if_absent("a/b/c", b"two").unwrap());
        assert!(!writer.replace_if_unchanged("a/b/c", Some(b"other"), b"two").unwrap());
        assert!(!writer.replace_if_unchanged("a/b/c", Some(b"on"), b"two").unwrap());
        assert!(writer.replace_if_unchanged("a/b/c", Some(b"one"), b"two").unwrap());
        assert!(!writer.replace_if_unchanged("a/b/c", None, b"three").unwrap());
        assert_eq!(store.get("a/b/c", 3).unwrap().unwrap(), b"two");
        assert_eq!(store.names("a/b").unwrap(), ["c"]);
        writer.remove("a/b/c").unwrap();
        writer.remove("a/b/c").unwrap();
        assert_eq!((store.get("a/b/c", 3).unwrap(), store.names("gone").unwrap()), (None, vec![]));
    }

    #[test]
    fn links_pipes_and_large_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        std::fs::create_dir(folder.path().join("store")).unwrap();
        let top = folder.path().join("store");
        symlink("../secret", top.join("link")).unwrap();
        symlink("..", top.join("up")).unwrap();
        std::fs::write(top.join("large"), [0; 9]).unwrap();
        std::fs::create_dir(top.join("folder")).unwrap();
        let pipe = top.join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        let store = DirectoryStore::open(&top).unwrap();
        for (path, part) in [
            ("link", "it is a link"),
            ("up/secret", "it is a link"),
            ("pipe", "not a regular file"),
            ("folder", "not a regular file"),
            ("large", "more than the 8 bytes"),
        ] {
            let error = store.get(path, 8).unwrap_err();
            let text = text::error_chain(&error);
            assert!(text.contains(part) && !text.contains("secret\""), "{path}: {text}");
        }
        assert!(store.get("../secret", 8).is_err());
    }

    #[test]
    fn what_others_can_change_is_not_the_operators_own() {
        let folder = tempfile::tempdir().unwrap();
        let store = DirectoryStore::open(folder.path()).unwrap();
        store.writer("a").unwrap().put_if_absent("a/b", b"").unwrap();
        let set = |path: &str, mode: u32| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(folder.path().join(path), mode).unwrap();
        };
        let check = |expected: bool| assert_eq!(store.is_operators_own("a/b"), expected);
        set("a", 0o755);
        set("a/b", 0o644);
        check(true);
        set("a/b", 0o664);
        check(false);
        set("a/b", 0o644);
        set("a", 0o777);
        check(false);
        assert!(!store.is_operators_own("gone"));
    }
}
