//! The interface to the files of a repository: in a directory, or at an address.

use crate::error::RepositoryError;

/// The files of a repository. Paths are relative and made of checked names.
pub trait Store: Send + Sync {
    /// Returns the repository's place, for messages.
    fn place(&self) -> String;

    /// Reads a file. `None`: it does not exist.
    ///
    /// # Errors
    /// It cannot be read, is not a plain file, or has more than `limit` bytes. A store that cannot tell whether the file
    /// exists must say so here, and not that it does not: who can hide a file could hide that a key was revoked.
    fn get(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RepositoryError>;

    /// The names in a folder, sorted; none if it does not exist.
    ///
    /// # Errors
    /// It cannot be read.
    fn names(&self, folder: &str) -> Result<Vec<String>, RepositoryError>;

    /// Waits until nobody else writes to a folder, and lets one write to it.
    ///
    /// # Errors
    /// This user may not write there, somebody else writes there for too long, or the store is read-only.
    fn writer<'s>(&'s self, folder: &str) -> Result<Box<dyn Writer + 's>, RepositoryError>;

    /// A file with its place, for messages.
    fn file(&self, path: &str) -> String {
        format!("{}/{path}", self.place().trim_end_matches('/'))
    }

    /// Reads a file that must exist.
    ///
    /// # Errors
    /// As [`Self::get`], or it does not exist. `hint`: what to do then.
    fn need(&self, path: &str, limit: u64, hint: &'static str) -> Result<Vec<u8>, RepositoryError> {
        self.get(path, limit)?.ok_or_else(|| RepositoryError::Missing { file: self.file(path), hint })
    }
}

/// Writes to one folder of a store, alone.
pub trait Writer {
    /// Creates a file atomically and durably. Returns `false`, without writing, if it exists already.
    ///
    /// # Errors
    /// It cannot be written.
    fn put_if_absent(&self, path: &str, content: &[u8]) -> Result<bool, RepositoryError>;

    /// Replaces a file atomically and durably, if it still has the content `old`; `None` means that it must not exist.
    /// Otherwise it returns `false` without writing.
    ///
    /// # Errors
    /// It cannot be read or written.
    fn replace_if_unchanged(&self, path: &str, old: Option<&[u8]>, new: &[u8]) -> Result<bool, RepositoryError>;

    /// Replaces a file atomically and durably, whatever its content is.
    ///
    /// # Errors
    /// It cannot be written.
    fn replace(&self, path: &str, content: &[u8]) -> Result<(), RepositoryError>;

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// It cannot be removed.
    fn remove(&self, path: &str) -> Result<(), RepositoryError>;

    /// Removes files that killed writers have left in a folder.
    ///
    /// # Errors
    /// It cannot be removed.
    fn sweep(&self, folder: &str) -> Result<(), RepositoryError>;
}
