//! Writes files atomically: first under a random name, then renamed.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use rustix::path::Arg;

use crate::random::random_bytes;

/// The prefix of the names of incomplete files.
pub const UNFINISHED: &str = ".unfinished-";

/// The permission bits of files that [`replace`] writes, before the umask.
pub(crate) const MODE: u32 = 0o666;

/// How an existing file with the same name is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// The new file replaces it.
    Replaced,
    /// It stays, and nothing is written.
    Stays,
}

/// The events that a written file must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survives {
    /// The end of the process at any moment. After a power cut, the old file may be there again.
    Kill,
    /// The end of the process, and a power cut as well.
    PowerCut,
}

/// Writes a file, and replaces any entry with its name: a file, a link, or a named pipe. Its folder must exist.
///
/// # Errors
/// The system's; what was there is as it was.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(content))
}

/// Does the same as [`replace`] for content that is written in pieces.
///
/// # Errors
/// As [`replace`], and those of `write`.
pub fn replace_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Err(io::ErrorKind::InvalidFilename.into()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    write_with_in(folder.as_fd(), name, MODE, Existing::Replaced, Survives::Kill, write).map(|_| ())
}

/// Writes a file in an open folder. Returns `false` if a file exists and is kept.
///
/// # Errors
/// The system's.
pub(crate) fn write_in(
    folder: BorrowedFd<'_>,
    name: impl Arg + Copy,
    content: &[u8],
    mode: u32,
    existing: Existing,
    survives: Survives,
) -> io::Result<bool> {
    write_with_in(folder, name, mode, existing, survives, |file| file.write_all(content))
}

/// Does the same as [`write_in`] for content that is written in pieces. The temporary name is random, so other users cannot
/// put a link there.
///
/// # Errors
/// The system's, and those of `write`.
pub(crate) fn write_with_in(
    folder: BorrowedFd<'_>,
    name: impl Arg + Copy,
    mode: u32,
    existing: Existing,
    survives: Survives,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<bool> {
    let unfinished = unfinished_name()?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(folder, unfinished.as_str(), flags, Mode::from_raw_mode(mode));
    let written = opened.map_err(io::Error::from).and_then(|file| {
        let mut file = File::from(file);
        write(&mut file)?;
        if survives == Survives::PowerCut { file.sync_all() } else { Ok(()) }
    });
    if let Err(error) = written.and_then(|()| Ok(rename(folder, &unfinished, name, existing)?)) {
        // Only the first error is reported.
        let _ = rustix::fs::unlinkat(folder, unfinished.as_str(), AtFlags::empty());
        let is_there = existing == Existing::Stays && error.kind() == io::ErrorKind::AlreadyExists;
        return if is_there { Ok(false) } else { Err(error) };
    }
    if survives == Survives::PowerCut {
        rustix::fs::fsync(folder)?;
    }
    Ok(true)
}

/// Returns a random name for an incomplete file or folder.
///
/// # Errors
/// The system has no random bytes.
pub fn unfinished_name() -> io::Result<String> {
    Ok(format!("{UNFINISHED}{:032x}", u128::from_ne_bytes(random_bytes()?)))
}

/// Renames a finished file from its temporary name to its final name.
fn rename(folder: BorrowedFd<'_>, unfinished: &str, name: impl Arg + Copy, existing: Existing) -> Result<(), Errno> {
    if existing == Existing::Replaced {
        return rustix::fs::renameat(folder, unfinished, folder, name);
    }
    match rustix::fs::renameat_with(folder, unfinished, folder, name, RenameFlags::NOREPLACE) {
        // NFS and other file systems do not support this kind of rename. A hard link also fails if the name exists.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            rustix::fs::linkat(folder, unfinished, folder, name, AtFlags::empty())?;
            rustix::fs::unlinkat(folder, unfinished, AtFlags::empty())
        }
        renamed => renamed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn a_file_takes_the_place_of_links_and_pipes() {
        let folder = tempfile::tempdir().unwrap();
        let (victim, link, pipe) =
            (folder.path().join("victim"), folder.path().join("link"), folder.path().join("pipe"));
        fs::write(&victim, "before").unwrap();
        symlink(&victim, &link).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [&link, &pipe, &folder.path().join("new")] {
            replace(path, b"content").unwrap();
            assert!(fs::symlink_metadata(path).unwrap().is_file());
            assert_eq!(fs::read(path).unwrap(), b"content");
        }
        assert_eq!(fs::read(&victim).unwrap(), b"before");
        assert!(replace_with(&victim, |_| Err(io::Error::other("no"))).is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"before");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing unfinished is left");
        assert_ne!(unfinished_name().unwrap(), unfinished_name().unwrap());
    }
}
