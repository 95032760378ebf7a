//! A directory of ours, held open: the only place in this room that opens anything.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, OpenOptions, OpenOptionsExt as _};
use plain_files::{Existing, UNFINISHED};
use rustix::fs::{CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

pub(crate) use plain_files::Survives;

use crate::StateError;
use crate::limits::MAX_FILE;

/// Directories: only the owner enters.
const DIRECTORY_MODE: u32 = 0o700;

/// Files: only the owner reads and writes.
const FILE_MODE: u32 = 0o600;

/// Bytes that wait in memory while a file is written.
const BUFFER: usize = 64 << 10;

/// How the names of files go on that were set aside.
const DAMAGED: &str = "damaged";

/// An open directory and the path that people know it by.
#[derive(Debug)]
pub(crate) struct Folder {
    handle: Dir,
    path: PathBuf,
    /// Bytes of the disk that stay free: nothing is written below them.
    min_free: u64,
}

impl Folder {
    /// Opens the outermost directory, which may be reached through links; with `create`, makes it and those above it.
    /// None: there is none.
    pub(crate) fn outermost(path: &Path, create: bool) -> Result<Option<Self>, StateError> {
        if create {
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(|source| StateError::system("create", parent, source))?;
            }
            is_made(rustix::fs::mkdirat(CWD, path, Mode::from_raw_mode(DIRECTORY_MODE)), path)?;
        }
        match rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(handle) => Self::checked(handle.into(), path.to_owned(), 0).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(unopened(errno, path, "directory")),
        }
    }

    /// Opens a directory below, and makes it if it is not there.
    pub(crate) fn make(&self, name: &str) -> Result<Self, StateError> {
        let path = self.path.join(name);
        let made = self.handle.create_dir_with(name, DirBuilder::new().mode(DIRECTORY_MODE));
        is_made(made.map_err(|error| errno(&error)), &path)?;
        self.open(name)?.ok_or_else(|| StateError::system("open", &path, Errno::NOENT))
    }

    /// Opens a directory below.
    pub(crate) fn open(&self, name: &str) -> Result<Option<Self>, StateError> {
        let path = self.path.join(name);
        match self.handle.open_with(name, &without_links(OpenOptions::new().read(true), OFlags::DIRECTORY)) {
            Ok(handle) => Self::checked(Dir::from_std_file(handle.into_std()), path, self.min_free).map(Some),
            Err(error) if errno(&error) == Errno::NOENT => Ok(None),
            Err(error) => Err(unopened(errno(&error), &path, "directory")),
        }
    }

    /// Refuses a directory that is not ours alone to change.
    fn checked(handle: Dir, path: PathBuf, min_free: u64) -> Result<Self, StateError> {
        let status = rustix::fs::fstat(&handle).map_err(|errno| StateError::system("examine", &path, errno))?;
        let wanted = geteuid().as_raw();
        if status.st_uid != wanted {
            return Err(StateError::Foreign { path, owner: status.st_uid, wanted });
        }
        let mode = status.st_mode & 0o7777;
        if mode & 0o022 != 0 {
            return Err(StateError::OpenToOthers { path, mode });
        }
        Ok(Self { handle, path, min_free })
    }

    /// The same, which leaves as many bytes of the disk free.
    pub(crate) fn keeping_free(self, min_free: u64) -> Self {
        Self { min_free, ..self }
    }

    /// Refuses to write where the disk has less than what stays free.
    pub(crate) fn check_free(&self, name: &str) -> Result<(), StateError> {
        let path = || self.path_of(name);
        let disk = rustix::fs::fstatvfs(&self.handle).map_err(|errno| StateError::system("examine", &path(), errno))?;
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free < self.min_free {
            Err(StateError::DiskFull { path: path(), free, least: self.min_free })
        } else {
            Ok(())
        }
    }

    /// Renames a file that cannot be used, so that it stops nothing and is not lost. Returns its new path.
    pub(crate) fn set_aside(&self, name: &str) -> Result<PathBuf, StateError> {
        let path = self.path_of(name);
        let aside = format!("{name}.{DAMAGED}-{}", random_hex::<4>(&path)?);
        let flags = RenameFlags::NOREPLACE;
        rustix::fs::renameat_with(&self.handle, name, &self.handle, aside.as_str(), flags)
            .map_err(|errno| StateError::system("set aside", &path, errno))?;
        Ok(self.path_of(&aside))
    }

    /// Returns the bytes of a file in this directory or below; 0 if it is not there. Nothing is opened: records of many runs
    /// are measured at the end of each.
    pub(crate) fn size_of(&self, name: &str) -> Result<u64, StateError> {
        match self.handle.symlink_metadata(name) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if errno(&error) == Errno::NOENT => Ok(0),
            Err(error) => Err(StateError::system("examine", &self.path_of(name), error)),
        }
    }

    /// The path of something in this directory, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens a file. None: there is none.
    pub(crate) fn open_file(&self, name: &str, options: &mut OpenOptions) -> Result<Option<File>, StateError> {
        let path = self.path_of(name);
        // NONBLOCK: a pipe that somebody put there must not make us wait.
        let options = without_links(options.mode(FILE_MODE), OFlags::NONBLOCK);
        let file = match self.handle.open_with(name, &options) {
            Ok(file) => file.into_std(),
            Err(error) if errno(&error) == Errno::NOENT => return Ok(None),
            Err(error) => return Err(unopened(errno(&error), &path, "file")),
        };
        let status = rustix::fs::fstat(&file).map_err(|errno| StateError::system("examine", &path, errno))?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(StateError::NotPlain { path, wanted: "file" });
        }
        let wanted = geteuid().as_raw();
        if status.st_uid != wanted {
            return Err(StateError::Foreign { path, owner: status.st_uid, wanted });
        }
        Ok(Some(file))
    }

    /// A file's bytes. None: there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StateError> {
        let Some(file) = self.open_file(name, OpenOptions::new().read(true))? else { return Ok(None) };
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

    /// Puts a file in the place of the one with that name, if any, at once and whole.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8], survives: Survives) -> Result<(), StateError> {
        self.replace_by(name, survives, |file| file.write_all(bytes))
    }

    /// As [`replace`](Self::replace), with what `write` writes: a large content is never in memory as a whole.
    pub(crate) fn replace_by(
        &self,
        name: &str,
        survives: Survives,
        write: impl FnOnce(&mut Unfinished<'_>) -> std::io::Result<()>,
    ) -> Result<(), StateError> {
        self.put(name, Existing::Replaced, survives, write).map(drop)
    }

    /// Puts a file where there is none; false: there is one.
    pub(crate) fn create(&self, name: &str, bytes: &[u8], survives: Survives) -> Result<bool, StateError> {
        self.put(name, Existing::Stays, survives, |file| file.write_all(bytes))
    }

    fn put(
        &self,
        name: &str,
        existing: Existing,
        survives: Survives,
        write: impl FnOnce(&mut Unfinished<'_>) -> std::io::Result<()>,
    ) -> Result<bool, StateError> {
        self.check_free(name)?;
        let mut is_too_large = false;
        let put = plain_files::write_with_in(self.handle.as_fd(), name, FILE_MODE, existing, survives, |file| {
            let mut buffered = BufWriter::with_capacity(BUFFER, Bounded { file, left: MAX_FILE });
            let written = write(&mut buffered).and_then(|()| buffered.flush());
            // What is left in the buffer after a failure is not wanted.
            let (bounded, _) = buffered.into_parts();
            is_too_large = bounded.left == 0;
            written
        });
        put.map_err(|source| match is_too_large {
            true => StateError::Unwritable { path: self.path_of(name), limit: MAX_FILE },
            false => StateError::system("write", &self.path_of(name), source),
        })
    }

    /// Removes a file, if it is there.
    pub(crate) fn remove(&self, name: &str) -> Result<(), StateError> {
        self.is_removed(self.handle.remove_file(name), name)
    }

    /// Removes a directory and the files in it, if it is there. Whatever else somebody put there stays, and the directory with it.
    pub(crate) fn remove_folder(&self, name: &str) -> Result<(), StateError> {
        let Some(folder) = self.open(name)? else { return Ok(()) };
        let failed = |error: std::io::Error| StateError::system("read", &folder.path, error);
        for entry in folder.handle.entries().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                return Ok(());
            }
            // By its own name: a name need not be text.
            let removed = folder.handle.remove_file(entry.file_name());
            self.is_removed(removed, name)?;
        }
        self.is_removed(self.handle.remove_dir(name), name)
    }

    fn is_removed(&self, removed: std::io::Result<()>, name: &str) -> Result<(), StateError> {
        match removed {
            Err(error) if errno(&error) != Errno::NOENT => {
                Err(StateError::system("remove", &self.path_of(name), error))
            }
            _ => Ok(()),
        }
    }

    /// All names, sorted, those of unfinished files too.
    pub(crate) fn names(&self) -> Result<Vec<String>, StateError> {
        let failed = |error: std::io::Error| StateError::system("read", &self.path, error);
        let mut names = vec![];
        for entry in self.handle.entries().map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Removes what a killed process left unfinished. Only for whoever holds the run lock.
    pub(crate) fn sweep(&self) -> Result<(), StateError> {
        self.names()?.iter().filter(|name| name.starts_with(UNFINISHED)).try_for_each(|name| self.remove(name))
    }
}

/// A file that is being written. The bound is below the buffer, and the type has no `dyn`: JSON is written in a great many
/// small pieces.
pub(crate) type Unfinished<'f> = BufWriter<Bounded<'f>>;

/// A file that grows no further than it could be read again.
pub(crate) struct Bounded<'f> {
    file: &'f mut File,
    /// Bytes that may follow; none: something did not fit.
    left: u64,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let Some(left) = self.left.checked_sub(bytes.len() as u64).filter(|left| *left > 0) else {
            self.left = 0;
            return Err(std::io::ErrorKind::FileTooLarge.into());
        };
        self.left = left;
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// The options with these flags, which open no link.
fn without_links(options: &mut OpenOptions, flags: OFlags) -> OpenOptions {
    options.follow(FollowSymlinks::No).custom_flags(flags.bits().cast_signed()).clone()
}

/// The error's number. What cap-std refuses by itself, before the kernel is asked, is not permitted.
fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::PERM)
}

fn is_made(made: Result<(), Errno>, path: &Path) -> Result<(), StateError> {
    match made {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(StateError::system("create", path, errno)),
    }
}

fn unopened(errno: Errno, path: &Path, wanted: &'static str) -> StateError {
    match errno {
        // What opening a link, a file as a directory, or a directory as a file says.
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => {
            StateError::NotPlain { path: path.to_owned(), wanted }
        }
        _ => StateError::system("open", path, errno),
    }
}

/// Random bytes from the system; `path` is what they are for.
pub(crate) fn random<const LENGTH: usize>(path: &Path) -> Result<[u8; LENGTH], StateError> {
    let mut bytes = [0; LENGTH];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(StateError::system("find randomness for", path, errno)),
        }
    }
    Ok(bytes)
}

/// Random bytes in hexadecimal.
pub(crate) fn random_hex<const LENGTH: usize>(path: &Path) -> Result<String, StateError> {
    Ok(text::hex(random::<LENGTH>(path)?))
}
