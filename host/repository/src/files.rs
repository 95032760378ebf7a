//! A node's or an author's own folder. Each file is written under another name, synced and renamed, and then the folder is
//! synced.
//!
//! The operator chooses the folder's path. Files below it are opened by handles and never through a link: see
//! [`plain_files::Folder`].

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plain_files::Folder;
pub(crate) use plain_files::{Existing, Survives, UNFINISHED};
use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// Time between two attempts to take a lock.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Folders are for their owner alone.
pub(crate) const FOLDER_MODE: u32 = 0o700;

/// Files are for their owner alone.
pub(crate) const FILE_MODE: u32 = 0o600;

/// A folder with files of one owner.
#[derive(Debug, Clone)]
pub(crate) struct OwnFolder {
    path: PathBuf,
}

impl OwnFolder {
    /// Names the folder, which need not exist.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file below, for people.
    pub(crate) fn file(&self, below: &str) -> PathBuf {
        self.path.join(below)
    }

    /// Opens a folder below. `None`: it does not exist.
    fn folder(&self, below: &str) -> std::io::Result<Option<Folder>> {
        let Some(folder) = Folder::open(&self.path)? else { return Ok(None) };
        folder.below(below)
    }

    /// Reads a plain file below, of at most `limit` bytes. `None`: it does not exist.
    pub(crate) fn read(&self, below: &str, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
        let (folder, name) = split(below);
        let Some(folder) = self.folder(folder)? else { return Ok(None) };
        folder.read(name, limit)
    }

    /// Writes a file below, replaces an existing one, and creates missing folders.
    pub(crate) fn replace(&self, below: &str, content: &[u8], survives: Survives) -> std::io::Result<()> {
        let (folder, name) = split(below);
        let folder = Folder::make(&self.path, FOLDER_MODE)?.make_below(folder, FOLDER_MODE)?;
        folder.write(name, content, FILE_MODE, Existing::Replaced, survives).map(drop)
    }

    /// Returns the names in a folder below, sorted; none if it does not exist.
    pub(crate) fn names(&self, below: &str) -> std::io::Result<Vec<String>> {
        let Some(folder) = self.folder(below)? else { return Ok(vec![]) };
        names_in(&folder)
    }

    /// Removes a file below, if it exists.
    pub(crate) fn remove(&self, below: &str) -> std::io::Result<()> {
        let (folder, name) = split(below);
        let Some(folder) = self.folder(folder)? else { return Ok(()) };
        folder.remove(name)
    }

    /// Removes a folder with all that is in it, if it exists.
    pub(crate) fn remove_folder(&self, name: &str) -> std::io::Result<()> {
        let Some(folder) = Folder::open(&self.path)? else { return Ok(()) };
        folder.remove_folder(name)
    }

    /// Creates the folder if it does not exist, and returns the free bytes of its disk.
    pub(crate) fn free_bytes(&self) -> std::io::Result<u64> {
        Folder::make(&self.path, FOLDER_MODE)?.free_bytes()
    }

    /// Takes the lock of a file in the folder. The file is created if it does not exist.
    pub(crate) fn lock(&self, name: &str, patience: Duration) -> std::io::Result<File> {
        let file = Folder::make(&self.path, FOLDER_MODE)?.lock_file(name, FILE_MODE)?;
        lock_within(&file, patience)?;
        Ok(file)
    }
}

/// The names in an open folder that are UTF-8, sorted.
pub(crate) fn names_in(folder: &Folder) -> std::io::Result<Vec<String>> {
    Ok(folder.names()?.into_iter().filter_map(|name| name.into_string().ok()).collect())
}

/// Splits a path into its folder and its name.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Takes a lock, and waits for others who hold it, but not for longer than `patience`.
pub(crate) fn lock_within(file: &File, patience: Duration) -> std::io::Result<()> {
    // This crate does not read a clock, so the time is counted in attempts.
    let mut looks = patience.as_millis() / LOOK_EVERY.as_millis();
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if looks > 0 => std::thread::sleep(LOOK_EVERY),
            Err(Errno::WOULDBLOCK) => {
                let seconds = patience.as_secs();
                let text =
                    format!("somebody else has held its lock for {seconds} seconds; `fuser` with the file tells who");
                return Err(std::io::Error::other(text));
            }
            locked => return Ok(locked?),
        }
        looks -= 1;
    }
}
