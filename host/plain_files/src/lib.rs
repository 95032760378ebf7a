//! Opens files that other people may have created, such as a cookbook, a Policyfile, or a test's facts.
//!
//! The path of a file may lead to a named pipe, which blocks when it is opened, or to an endless device. So this crate opens
//! only regular files, without blocking, and reads them up to a limit. Whether a file is regular is known before it is opened. The path of a new file may be a link, so files are
//! written under random names and then renamed ([`replace`]). Crates that store their own files access them through an open
//! folder, without following links ([`Folder`]). An author's folder, in which links are allowed as long as they stay in it,
//! is opened once and read and written through its handle ([`HeldFolder`]).

mod absent;
mod folder;
mod held;
pub mod mounts;
mod own;
mod random;
mod walk;
mod write;

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

pub use absent::{explained, missing_part, near_name};
pub use folder::{Folder, free_bytes};
pub use held::HeldFolder;
pub use own::is_own_user;
pub use random::random_bytes;
pub use walk::{Entry, Kind, WalkError};
pub use write::{Existing, Survives, UNFINISHED, replace, replace_with, unfinished_name};

/// Holds an entry of any kind, without opening it.
const HOLD: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// Reads without blocking, and without taking over a terminal.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens a regular file, or the target of a link.
///
/// # Errors
/// The system's, of its kind; `InvalidInput` for what is neither a plain file nor a directory.
pub fn open(path: &Path) -> io::Result<File> {
    let held = rustix::fs::open(path, HOLD, Mode::empty())?;
    opened(held, || Ok(rustix::fs::open(path, READ, Mode::empty())?.into()))
}

/// Opens the file behind a handle of [`OFlags::PATH`] for reading. Such a handle shows the kind of a file before anything is
/// opened: the opening alone of a named pipe lets its writers go on, and some devices act when they are opened.
///
/// # Errors
/// The system's; `NotFound` on a system without `/proc`.
pub fn reopen(held: impl AsFd) -> io::Result<File> {
    Ok(rustix::fs::open(format!("/proc/self/fd/{}", held.as_fd().as_raw_fd()), READ, Mode::empty())?.into())
}

/// Opens the plain file behind a handle for reading. `again` opens it by its name, for a system without `/proc`.
fn opened(held: OwnedFd, again: impl FnOnce() -> io::Result<File>) -> io::Result<File> {
    let held = plain(File::from(held))?;
    match reopen(&held) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => plain(again()?),
        reopened => reopened,
    }
}

fn plain(file: File) -> io::Result<File> {
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    if about.is_symlink() {
        return Err(not_plain(io::ErrorKind::Other, NotPlain::Link));
    }
    if !about.is_file() {
        return Err(not_plain(io::ErrorKind::InvalidInput, NotPlain::File));
    }
    Ok(file)
}

/// The cause of an error: the kind of the entry that is not a regular file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotPlain {
    /// Something else than a plain file.
    File,
    /// Something else than a folder.
    Folder,
    Link,
    LinkOut,
}

impl std::fmt::Display for NotPlain {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::File => "it is not a plain file",
            Self::Folder => "it is not a folder",
            Self::Link => "it is a link",
            Self::LinkOut => "it is a link that leads out of its folder",
        })
    }
}

impl std::error::Error for NotPlain {}

fn not_plain(kind: io::ErrorKind, what: NotPlain) -> io::Error {
    io::Error::new(kind, what)
}

/// The reason of an error of this crate.
fn reason(error: &io::Error) -> Option<NotPlain> {
    error.get_ref()?.downcast_ref::<NotPlain>().copied()
}

/// Tells whether an error of this crate means that a link lies where none may lie.
#[must_use]
pub fn is_link(error: &io::Error) -> bool {
    matches!(reason(error), Some(NotPlain::Link | NotPlain::LinkOut))
}

/// Tells whether an error of this crate means that a link leads out of the folder that it lies in.
#[must_use]
pub fn leads_out(error: &io::Error) -> bool {
    reason(error) == Some(NotPlain::LinkOut)
}

/// Returns whether an error of this crate means that an entry has the wrong kind, such as a link, a pipe, or a folder instead
/// of a file.
#[must_use]
pub fn is_not_plain(error: &io::Error) -> bool {
    reason(error).is_some() || matches!(error.kind(), io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory)
}

/// Returns whether an open file is a pipe to another program.
pub fn is_pipe(open: impl AsFd) -> bool {
    let about = open.as_fd().try_clone_to_owned().and_then(|owned| File::from(owned).metadata());
    about.is_ok_and(|about| about.file_type().is_fifo())
}

/// Returns whether two open descriptors are of the same file, pipe or terminal.
pub fn is_same(one: impl AsFd, other: impl AsFd) -> bool {
    let stats = rustix::fs::fstat(one).ok().zip(rustix::fs::fstat(other).ok());
    stats.is_some_and(|(one, other)| (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// As [`open`]; `FileTooLarge` for more bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    bounded(open(path)?, limit)
}

/// Reads a file of at most so many bytes.
fn bounded(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes")));
    }
    Ok(bytes)
}

/// Reads a regular file of at most `limit` bytes as text.
///
/// # Errors
/// As [`read`]; `InvalidData` for bytes that are not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    text_of(read(path, limit)?)
}

fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Returns whether a path leads to an entry below a folder, after all links are resolved.
#[must_use]
pub fn leads_inside(path: &Path, folder: &Path) -> bool {
    let both = path.canonicalize().and_then(|target| Ok((target, folder.canonicalize()?)));
    both.is_ok_and(|(target, folder)| target.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::inotify;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn pipes_devices_and_directories_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let device = folder.path().join("zero");
        symlink("/dev/zero", &device).unwrap();
        for path in [&pipe, &device] {
            let error = read(path, 10).unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (io::ErrorKind::InvalidInput, "it is not a plain file")
            );
        }
        assert_eq!(read(folder.path(), 10).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(read(&folder.path().join("absent"), 10).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn attack_a_pipe_or_device_in_the_place_of_a_file_is_not_even_opened() {
        let top = tempfile::tempdir().unwrap();
        let pipe = top.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::fs::write(top.path().join("file"), "text").unwrap();
        let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
        let watch = inotify::init(flags).unwrap();
        for name in ["pipe", "file"] {
            inotify::add_watch(&watch, top.path().join(name), inotify::WatchFlags::OPEN).unwrap();
        }
        let was_opened = || rustix::io::read(&watch, &mut [0; 4096]).is_ok();
        let folder = Folder::open(top.path()).unwrap().unwrap();
        assert!(open(&pipe).is_err() && folder.open_file("pipe").is_err());
        assert!(!was_opened(), "a writer that waits for a reader would go on");
        assert!(open(&top.path().join("file")).is_ok() && was_opened());
        assert!(folder.open_file("file").is_ok() && was_opened());
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        let error = read(&path, 4).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::FileTooLarge, "it has more than 4 bytes")
        );
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(read_text(&path, 5).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_link_is_inside_where_its_target_is() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(top.path().join("outside"), "").unwrap();
        std::fs::write(folder.join("inside"), "").unwrap();
        symlink("inside", folder.join("good")).unwrap();
        symlink("../outside", folder.join("bad")).unwrap();
        symlink("absent", folder.join("dangling")).unwrap();
        assert_eq!(
            ["good", "bad", "dangling"].map(|name| leads_inside(&folder.join(name), &folder)),
            [true, false, false]
        );
    }
}
