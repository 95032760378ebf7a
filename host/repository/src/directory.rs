//! A repository in a directory: the embedded store.
//!
//! Whoever may write to the directory may put a link or a pipe there, and root reads it: files are opened below the
//! directory without following links and without waiting. Writers of one folder wait for each other (`flock`), every file is
//! written under another name, flushed and renamed, and its folder is flushed after that.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use crate::error::RepositoryError;
use crate::files::{Existing, write_whole};
use crate::store::{Store, Writer};

/// The file whose lock writers of a folder hold.
const LOCK: &str = ".lock";

/// Everybody may read what is signed; the owner's mask takes rights away.
const MODE: u32 = 0o666;

/// A repository in a directory.
#[derive(Debug)]
pub struct DirectoryStore {
    path: PathBuf,
    handle: OwnedFd,
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
        Ok(Self { path: path.to_owned(), handle })
    }

    /// Tells whether only root and the owner of the process can change a file, and every folder above it: what lies there is the
    /// operator's own.
    #[must_use]
    pub fn is_operators_own(&self, path: &str) -> bool {
        let own = rustix::process::geteuid().as_raw();
        let absolute = std::path::absolute(self.path.join(path)).and_then(|path| path.canonicalize());
        let Ok(absolute) = absolute else { return false };
        absolute.ancestors().all(|part| {
            let Ok(status) = rustix::fs::stat(part) else { return false };
            // In a folder such as /tmp, others cannot rename what is not theirs.
            let is_sticky =
                FileType::from_raw_mode(status.st_mode) == FileType::Directory && status.st_mode & 0o1000 != 0;
            let is_closed = status.st_mode & 0o022 == 0 || (status.st_uid == 0 && is_sticky);
            (status.st_uid == 0 || status.st_uid == own) && is_closed
        })
    }

    fn open_below(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.handle, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
    }

    fn unread(&self, path: &str, errno: Errno) -> RepositoryError {
        let source = match errno {
            Errno::LOOP => std::io::Error::other("it is a link, or lies behind one"),
            Errno::NXIO => std::io::Error::other("it is not a regular file"),
            errno => errno.into(),
        };
        RepositoryError::Read { file: self.file(path), source }
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
            Err(Errno::NOENT) => return Ok(vec![]),
            opened => opened.map_err(|errno| self.unread(folder, errno))?,
        };
        let mut names = vec![];
        for entry in rustix::fs::Dir::new(opened).map_err(|errno| self.unread(folder, errno))? {
            let entry = entry.map_err(|errno| self.unread(folder, errno))?;
            names.extend(entry.file_name().to_str().ok().filter(|name| !name.starts_with('.')).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    fn writer<'s>(&'s self, folder: &str) -> Result<Box<dyn Writer + 's>, RepositoryError> {
        let path = self.path.join(folder);
        let failed = |source: std::io::Error| RepositoryError::Write { file: self.file(folder), source };
        std::fs::create_dir_all(&path).map_err(failed)?;
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(path.join(LOCK)).map_err(failed)?;
        rustix::fs::flock(&lock, FlockOperation::LockExclusive).map_err(|errno| failed(errno.into()))?;
        Ok(Box::new(DirectoryWriter { store: self, _lock: lock }))
    }
}

/// Writes to one folder, while it holds the folder's lock.
struct DirectoryWriter<'s> {
    store: &'s DirectoryStore,
    _lock: File,
}

impl DirectoryWriter<'_> {
    fn write(&self, path: &str, content: &[u8], existing: Existing) -> Result<bool, RepositoryError> {
        let written = write_whole(&self.store.path.join(path), content, MODE, existing);
        written.map_err(|source| RepositoryError::Write { file: self.store.file(path), source })
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

    fn remove(&self, path: &str) -> Result<(), RepositoryError> {
        match std::fs::remove_file(self.store.path.join(path)) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(RepositoryError::Write { file: self.store.file(path), source })
            }
            _ => Ok(()),
        }
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
