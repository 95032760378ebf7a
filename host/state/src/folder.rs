//! An open directory of the state. [`plain_files::Folder`] opens the files in it; this module checks their owners and sizes.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

use plain_files::{Existing, UNFINISHED, is_not_plain};
use rustix::process::geteuid;

pub(crate) use plain_files::Survives;

use crate::StateError;
use crate::limits::MAX_FILE;

/// Directories: only the owner enters.
const DIRECTORY_MODE: u32 = 0o700;

/// The rights of the directories above ours, before the umask.
const PARENT_MODE: u32 = 0o777;

/// Files: only the owner reads and writes.
const FILE_MODE: u32 = 0o600;

/// Bytes that wait in memory while a file is written.
const BUFFER: usize = 64 << 10;

/// Suffix of the names of damaged files that were renamed.
const DAMAGED: &str = "damaged";

/// An open directory and the path that people know it by.
#[derive(Debug)]
pub(crate) struct Folder {
    open: plain_files::Folder,
    path: PathBuf,
    /// Bytes that stay free on the disk. Writes fail if less is free.
    min_free: u64,
}

impl Folder {
    /// Opens the outermost directory, which may be reached through links. `None`: it does not exist.
    pub(crate) fn outermost(path: &Path) -> Result<Option<Self>, StateError> {
        let opened = plain_files::Folder::open(path).map_err(|error| unopened(error, path, "directory"))?;
        opened.map(|open| Self::checked(open, path.to_owned(), 0)).transpose()
    }

    /// Opens the outermost directory, and makes it and those above it where they do not exist.
    pub(crate) fn made_outermost(path: &Path) -> Result<Self, StateError> {
        if let Some(folder) = Self::outermost(path)? {
            return Ok(folder);
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(StateError::system("create", path, io::ErrorKind::InvalidFilename));
        };
        let above = plain_files::Folder::make(parent, PARENT_MODE);
        let above = above.map_err(|source| StateError::system("create", parent, source))?;
        let open = above.make_below(name, DIRECTORY_MODE).map_err(|error| unmade(error, path))?;
        Self::checked(open, path.to_owned(), 0)
    }

    /// Opens a directory below, and makes it where it does not exist.
    pub(crate) fn make(&self, name: &str) -> Result<Self, StateError> {
        self.make_surviving(name, Survives::PowerCut)
    }

    /// Does the same as [`make`](Self::make), for a directory that may have to survive less.
    pub(crate) fn make_surviving(&self, name: &str, survives: Survives) -> Result<Self, StateError> {
        let path = self.path.join(name);
        let open =
            self.open.make_below_surviving(name, DIRECTORY_MODE, survives).map_err(|error| unmade(error, &path))?;
        Self::checked(open, path, self.min_free)
    }

    /// Opens a directory below. `None`: it does not exist.
    pub(crate) fn open(&self, name: &str) -> Result<Option<Self>, StateError> {
        let path = self.path.join(name);
        let opened = self.open.below(name).map_err(|error| unopened(error, &path, "directory"))?;
        opened.map(|open| Self::checked(open, path, self.min_free)).transpose()
    }

    /// Refuses a directory that other users can change.
    fn checked(open: plain_files::Folder, path: PathBuf, min_free: u64) -> Result<Self, StateError> {
        let status = rustix::fs::fstat(&open).map_err(|errno| StateError::system("examine", &path, errno))?;
        let wanted = geteuid().as_raw();
        if status.st_uid != wanted {
            return Err(StateError::Foreign { path, owner: status.st_uid, wanted });
        }
        let mode = status.st_mode & 0o7777;
        if mode & 0o022 != 0 {
            return Err(StateError::OpenToOthers { path, mode });
        }
        Ok(Self { open, path, min_free })
    }

    /// Sets the number of bytes that stay free on the disk.
    pub(crate) fn keeping_free(self, min_free: u64) -> Self {
        Self { min_free, ..self }
    }

    /// Refuses to write if the disk has less free space than the limit.
    pub(crate) fn check_free(&self, name: &str) -> Result<(), StateError> {
        let path = || self.path_of(name);
        let free = self.open.free_bytes().map_err(|source| StateError::system("examine", &path(), source))?;
        if free < self.min_free {
            Err(StateError::DiskFull { path: path(), free, least: self.min_free })
        } else {
            Ok(())
        }
    }

    /// Renames an unusable file, so that it does not stop a run and is not lost. Returns its new path.
    pub(crate) fn set_aside(&self, name: &str) -> Result<PathBuf, StateError> {
        let path = self.path_of(name);
        let aside = format!("{name}.{DAMAGED}-{}", random_hex::<4>(&path)?);
        self.open.rename_to_new(name, &aside).map_err(|source| StateError::system("set aside", &path, source))?;
        Ok(self.path_of(&aside))
    }

    /// Returns the bytes of a file in this directory or below; 0 if it does not exist. The file is not opened, because the
    /// records of many runs are measured at the end of each run.
    pub(crate) fn size_of(&self, name: &str) -> Result<u64, StateError> {
        let size = self.open.size(name).map_err(|source| StateError::system("examine", &self.path_of(name), source))?;
        Ok(size.unwrap_or_default())
    }

    /// The path of something in this directory, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens a file to read it. `None`: it does not exist.
    pub(crate) fn open_file(&self, name: &str) -> Result<Option<File>, StateError> {
        let opened = self.open.open_file(name).map_err(|error| unopened(error, &self.path_of(name), "file"))?;
        opened.map(|file| self.own_file(file, name)).transpose()
    }

    /// Opens a file to lock it, and makes it where it does not exist.
    pub(crate) fn lock_file(&self, name: &str) -> Result<File, StateError> {
        let opened = self.open.lock_file(name, FILE_MODE);
        self.own_file(opened.map_err(|error| unopened(error, &self.path_of(name), "file"))?, name)
    }

    /// Opens a file to write at its end, and makes it where it does not exist.
    pub(crate) fn append_file(&self, name: &str) -> Result<File, StateError> {
        let opened = self.open.append_file(name, FILE_MODE);
        self.own_file(opened.map_err(|error| unopened(error, &self.path_of(name), "file"))?, name)
    }

    /// Refuses a file that belongs to another user.
    fn own_file(&self, file: File, name: &str) -> Result<File, StateError> {
        let path = self.path_of(name);
        let status = rustix::fs::fstat(&file).map_err(|errno| StateError::system("examine", &path, errno))?;
        let wanted = geteuid().as_raw();
        if status.st_uid != wanted {
            return Err(StateError::Foreign { path, owner: status.st_uid, wanted });
        }
        Ok(file)
    }

    /// A file's bytes. `None`: it does not exist.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StateError> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        let path = self.path_of(name);
        let failed = |source| StateError::system("read", &path, source);
        let size = file.metadata().map_err(failed)?.len();
        if size > MAX_FILE {
            return Err(StateError::TooLarge { path, size, limit: MAX_FILE });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        file.take(MAX_FILE).read_to_end(&mut bytes).map_err(failed)?;
        Ok(Some(bytes))
    }

    /// Writes a file atomically, and replaces an existing one.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8], survives: Survives) -> Result<(), StateError> {
        self.replace_by(name, survives, |file| file.write_all(bytes))
    }

    /// Writes a file like [`replace`](Self::replace). `write` writes the content piece by piece, so that a large one is never
    /// in memory as a whole.
    pub(crate) fn replace_by(
        &self,
        name: &str,
        survives: Survives,
        write: impl FnOnce(&mut Unfinished<'_>) -> io::Result<()>,
    ) -> Result<(), StateError> {
        self.put(name, Existing::Replaced, survives, write).map(drop)
    }

    /// Creates a file with its content. Returns `false` if the file exists already.
    pub(crate) fn create(&self, name: &str, bytes: &[u8], survives: Survives) -> Result<bool, StateError> {
        self.put(name, Existing::Stays, survives, |file| file.write_all(bytes))
    }

    fn put(
        &self,
        name: &str,
        existing: Existing,
        survives: Survives,
        write: impl FnOnce(&mut Unfinished<'_>) -> io::Result<()>,
    ) -> Result<bool, StateError> {
        self.check_free(name)?;
        let mut is_too_large = false;
        let put = self.open.write_with(name, FILE_MODE, existing, survives, |file| {
            let mut buffered = BufWriter::with_capacity(BUFFER, Bounded { file, left: MAX_FILE });
            let written = write(&mut buffered).and_then(|()| buffered.flush());
            // After a failure, the rest of the buffer is dropped.
            let (bounded, _) = buffered.into_parts();
            is_too_large = bounded.left == 0;
            written
        });
        put.map_err(|source| match is_too_large {
            true => StateError::Unwritable { path: self.path_of(name), limit: MAX_FILE },
            false => StateError::system("write", &self.path_of(name), source),
        })
    }

    /// Removes a file, if it exists.
    pub(crate) fn remove(&self, name: &str) -> Result<(), StateError> {
        self.open.remove(name).map_err(|source| StateError::system("remove", &self.path_of(name), source))
    }

    /// Removes a directory and the files in it, if it exists. If it contains anything else, that is kept with the directory.
    pub(crate) fn remove_folder(&self, name: &str) -> Result<(), StateError> {
        let Some(folder) = self.open(name)? else { return Ok(()) };
        let failed = |source| StateError::system("remove", &self.path_of(name), source);
        // The names are used as bytes, because a name need not be UTF-8.
        for entry in folder.open.names().map_err(|source| StateError::system("read", &folder.path, source))? {
            match folder.open.remove(&entry) {
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => return Ok(()),
                removed => removed.map_err(failed)?,
            }
        }
        self.open.remove_empty_folder(name).map_err(failed)
    }

    /// All names, sorted, those of unfinished files too.
    pub(crate) fn names(&self) -> Result<Vec<String>, StateError> {
        let names = self.open.names().map_err(|source| StateError::system("read", &self.path, source))?;
        Ok(names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect())
    }

    /// Removes unfinished files of a killed process. The caller must hold the lock of the folder's writers.
    pub(crate) fn sweep(&self) -> Result<(), StateError> {
        self.names()?.iter().filter(|name| name.starts_with(UNFINISHED)).try_for_each(|name| self.remove(name))
    }
}

/// A file that is being written. The limit is checked below the buffer, and the type does not use `dyn`, because JSON is
/// written in many small pieces.
pub(crate) type Unfinished<'f> = BufWriter<Bounded<'f>>;

/// A writer that fails before the file becomes too large to be read again.
pub(crate) struct Bounded<'f> {
    file: &'f mut File,
    /// Bytes that may still be written.
    left: u64,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(left) = self.left.checked_sub(bytes.len() as u64).filter(|left| *left > 0) else {
            self.left = 0;
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        self.left = left;
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn unmade(error: io::Error, path: &Path) -> StateError {
    match is_not_plain(&error) {
        true => unopened(error, path, "directory"),
        false => StateError::system("create", path, error),
    }
}

fn unopened(error: io::Error, path: &Path, wanted: &'static str) -> StateError {
    match is_not_plain(&error) {
        true => StateError::NotPlain { path: path.to_owned(), wanted },
        false => StateError::system("open", path, error),
    }
}

/// Random bytes from the system; `path` is what they are for.
pub(crate) fn random<const LENGTH: usize>(path: &Path) -> Result<[u8; LENGTH], StateError> {
    plain_files::random_bytes().map_err(|errno| StateError::system("find randomness for", path, errno))
}

/// Random bytes in hexadecimal.
pub(crate) fn random_hex<const LENGTH: usize>(path: &Path) -> Result<String, StateError> {
    Ok(text::hex(random::<LENGTH>(path)?))
}
