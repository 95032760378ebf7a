//! A repository in a directory of this machine.
//!
//! Teams may write to their parts of the directory, and root reads and writes there too. So files are never opened by their
//! path. Each folder is opened below the directory's handle without following links, and files are created, renamed and
//! removed in the open folder ([`Folder`]). Writers of one folder wait for each other (`flock`) up to a time limit. Every
//! file is written under another name, synced and renamed, and then its folder is synced.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plain_files::Folder;
use rustix::io::Errno;

use crate::error::RepositoryError;
use crate::files::{Existing, Survives, UNFINISHED, lock_within, names_in, split};
use crate::store::{Store, Writer};

/// The lock file for writers of a folder.
const LOCK: &str = ".lock";

/// The mode of the lock file. Users who may only read a folder cannot lock it.
const LOCK_MODE: u32 = 0o660;

/// The mode of new files, before the umask. Signed files are public.
const MODE: u32 = 0o666;

/// The mode of new folders, before the umask.
const FOLDER_MODE: u32 = 0o777;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(60);

/// A repository in a directory.
#[derive(Debug)]
pub struct DirectoryStore {
    path: PathBuf,
    folder: Folder,
    patience: Duration,
}

impl DirectoryStore {
    /// Opens a directory that exists.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> Result<Self, RepositoryError> {
        let failed = |source| RepositoryError::Read { file: path.display().to_string(), source };
        let folder = Folder::open(path).and_then(|folder| folder.ok_or_else(|| Errno::NOENT.into())).map_err(failed)?;
        Ok(Self { path: path.to_owned(), folder, patience: PATIENCE })
    }

    /// Changes how long writers wait for each other, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Tells whether only root and the user of this process can change a file and every folder above it. Then its content
    /// comes from the operator.
    #[must_use]
    pub fn is_operators_own(&self, path: &str) -> bool {
        self.folder.is_own(path).unwrap_or(false)
    }

    /// Opens a folder. Returns `None` if it does not exist, or if it or a folder above it is not a folder.
    fn below(&self, path: &str) -> io::Result<Option<Folder>> {
        match self.folder.below(path) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            opened => opened,
        }
    }

    fn lock(&self, folder: &Folder) -> io::Result<File> {
        let lock = folder.lock_file(LOCK, LOCK_MODE)?;
        lock_within(&lock, self.patience)?;
        Ok(lock)
    }

    fn unread(&self, path: &str, source: io::Error) -> RepositoryError {
        RepositoryError::Read { file: self.file(path), source }
    }

    fn unwritten(&self, path: &str, source: io::Error) -> RepositoryError {
        RepositoryError::Write { file: self.file(path), source }
    }
}

impl Store for DirectoryStore {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
        let (folder, name) = split(path);
        let Some(folder) = self.below(folder).map_err(|source| self.unread(path, source))? else { return Ok(None) };
        folder.read(name, limit).map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => RepositoryError::TooLarge { file: self.file(path), limit },
            _ => self.unread(path, source),
        })
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, RepositoryError> {
        let failed = |source| self.unread(folder, source);
        let Some(opened) = self.below(folder).map_err(failed)? else { return Ok(vec![]) };
        let names = names_in(&opened).map_err(failed)?;
        Ok(names.into_iter().filter(|name| !name.starts_with('.')).collect())
    }

    fn writer<'s>(&'s self, folder: &str) -> Result<Box<dyn Writer + 's>, RepositoryError> {
        let opened = self.folder.make_below(folder, FOLDER_MODE).map_err(|source| self.unwritten(folder, source))?;
        let lock = self.lock(&opened).map_err(|source| self.unwritten(&format!("{folder}/{LOCK}"), source))?;
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
        let (folder, name) = split(path);
        let opened = self.store.folder.make_below(folder, FOLDER_MODE);
        let written = opened.and_then(|folder| folder.write(name, content, MODE, existing, Survives::PowerCut));
        written.map_err(|source| self.store.unwritten(path, source))
    }
}

impl Writer for DirectoryWriter<'_> {
    fn put_if_absent(&self, path: &str, content: &[u8]) -> Result<bool, RepositoryError> {
        self.write(path, content, Existing::Stays)
    }

    fn replace_if_unchanged(&self, path: &str, old: Option<&[u8]>, new: &[u8]) -> Result<bool, RepositoryError> {
        let Some(old) = old else { return self.put_if_absent(path, new) };
        // Nobody else writes meanwhile, because this process holds the folder's lock.
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
        let failed = |source| self.store.unwritten(path, source);
        let (folder, name) = split(path);
        let Some(folder) = self.store.folder.below(folder).map_err(failed)? else { return Ok(()) };
        folder.remove(name).map_err(failed)
    }

    fn sweep(&self, folder: &str) -> Result<(), RepositoryError> {
        let failed = |source| self.store.unwritten(folder, source);
        let Some(opened) = self.store.below(folder).map_err(failed)? else { return Ok(()) };
        let names = names_in(&opened).map_err(failed)?;
        let unfinished = names.iter().filter(|name| name.starts_with(UNFINISHED));
        unfinished.into_iter().try_for_each(|name| opened.remove(name)).map_err(failed)
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
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        let store = DirectoryStore::open(&top).unwrap();
        for (path, part) in [
            ("link", "it is a link"),
            ("up/secret", "it is a link"),
            ("pipe", "not a plain file"),
            ("folder", "is a directory"),
            ("large", "more than the 8 bytes"),
        ] {
            let error = store.get(path, 8).unwrap_err();
            let text = text::error_chain(&error);
            assert!(text.contains(part) && !text.contains("secret\""), "{path}: {text}");
        }
        assert!(store.get("../secret", 8).is_err());
    }

    #[test]
    fn a_file_in_the_place_of_a_folder_has_nothing_in_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("README"), "").unwrap();
        let store = DirectoryStore::open(folder.path()).unwrap();
        assert_eq!((store.get("README/root.json", 8).unwrap(), store.names("README").unwrap()), (None, vec![]));
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
        set("a", 0o755);
        set("a/b", 0o644);
        assert!(store.is_operators_own("a/b"));
        set("a/b", 0o664);
        assert!(!store.is_operators_own("a/b") && !store.is_operators_own("gone"));
    }
}
