//! What lies below a folder. Names are counted while they are read: a stranger's folder may have millions.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::Folder;

/// What a name in a folder is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A folder, which a walk may enter.
    Folder,
    /// A plain file, whatever its permissions.
    File,
    /// A link, wherever it leads.
    Link,
    /// A pipe, a device or a socket.
    Other,
}

impl Kind {
    pub(crate) fn of(kind: cap_std::fs::FileType) -> Self {
        match (kind.is_dir(), kind.is_file(), kind.is_symlink()) {
            (true, _, _) => Self::Folder,
            (_, true, _) => Self::File,
            (_, _, true) => Self::Link,
            _ => Self::Other,
        }
    }
}

/// A name that a walk has come to.
#[derive(Debug)]
pub struct Entry {
    /// The path below the folder where the walk began.
    pub path: PathBuf,
    /// The last part of the path.
    pub name: OsString,
    /// What has the name.
    pub kind: Kind,
    /// The number of folders between this name and where the walk began.
    pub depth: usize,
}

/// The reasons why a walk ends early.
#[derive(Debug)]
pub enum WalkError<E> {
    /// There are more names than were allowed.
    TooMany,
    /// This folder, a path below where the walk began, cannot be read.
    Read(PathBuf, io::Error),
    /// The error that the visitor returned.
    Visit(E),
}

impl Folder {
    /// Visits at most so many names below the folder, and enters those folders for which the visitor returns `true`. Each is
    /// opened by its names, and no link is followed, whatever is exchanged meanwhile.
    ///
    /// # Errors
    /// There are more names, a folder cannot be read, or the visitor's.
    pub fn walk<E>(&self, most: usize, mut visit: impl FnMut(&Entry) -> Result<bool, E>) -> Result<(), WalkError<E>> {
        let mut left = most;
        let mut open = vec![(PathBuf::new(), 0)];
        while let Some((path, depth)) = open.pop() {
            let failed = |error| WalkError::Read(path.clone(), error);
            let folder = self.below(&path).and_then(|folder| folder.ok_or_else(|| io::ErrorKind::NotFound.into()));
            for entry in folder.map_err(failed)?.handle.entries().map_err(failed)? {
                left = left.checked_sub(1).ok_or(WalkError::TooMany)?;
                let entry = entry.map_err(failed)?;
                let name = entry.file_name();
                let kind = Kind::of(entry.file_type().map_err(failed)?);
                let entry = Entry { path: path.join(&name), name, kind, depth };
                if visit(&entry).map_err(WalkError::Visit)? && kind == Kind::Folder {
                    open.push((entry.path, depth + 1));
                }
            }
        }
        Ok(())
    }
}

impl Entry {
    /// The path as text. `None`: it is not UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.path.to_str()
    }

    /// Whether the name begins with a dot.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.name.as_encoded_bytes().starts_with(b".")
    }

    /// Whether this is the name.
    #[must_use]
    pub fn is(&self, name: impl AsRef<Path>) -> bool {
        self.name == name.as_ref().as_os_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_names_are_counted_while_they_are_read() {
        let top = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::create_dir(top.path().join(name)).unwrap();
            std::fs::write(top.path().join(name).join("x"), "").unwrap();
        }
        let folder = Folder::open(top.path()).unwrap().unwrap();
        let walk = |most: usize| {
            let mut seen = vec![];
            let end = folder.walk(most, |entry| {
                seen.push(entry.path.clone());
                Ok::<_, ()>(true)
            });
            seen.sort();
            (seen, end)
        };
        let (seen, end) = walk(6);
        assert!(end.is_ok());
        assert_eq!(seen, ["a", "a/x", "b", "b/x", "c", "c/x"].map(PathBuf::from));
        // Nothing beyond the limit is looked at, in one folder and over all.
        for most in [2, 5] {
            let (seen, end) = walk(most);
            assert!(matches!(end, Err(WalkError::TooMany)));
            assert_eq!(seen.len(), most);
        }
    }

    #[test]
    fn attack_a_folder_that_is_exchanged_for_a_link_is_not_entered() {
        let (top, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(elsewhere.path().join("secret"), "").unwrap();
        let inner = top.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let folder = Folder::open(top.path()).unwrap().unwrap();
        let end = folder.walk(10, |entry| {
            assert!(!entry.is("secret"));
            std::fs::remove_dir(&inner).unwrap();
            std::os::unix::fs::symlink(elsewhere.path(), &inner).unwrap();
            Ok::<_, ()>(true)
        });
        let Err(WalkError::Read(path, error)) = end else { panic!("{end:?}") };
        assert!(path == Path::new("inner") && crate::is_link(&error), "{error}");
    }
}
