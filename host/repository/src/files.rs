//! Files that are written whole: another name first, flushed, renamed, and the folder flushed after that.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::fd::AsFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

pub(crate) use plain_files::{Existing, Survives, UNFINISHED, write_in};
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;

/// How often a lock is looked at that somebody else holds.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Writes a file that survives a power cut, and its folders where they do not exist. `false`: there is one, which stays.
pub(crate) fn write_whole(path: &Path, content: &[u8], mode: u32, existing: Existing) -> std::io::Result<bool> {
    write_surviving(path, content, mode, existing, Survives::PowerCut)
}

/// As [`write_whole`], which flushes the file only if it has to survive a power cut.
pub(crate) fn write_surviving(
    path: &Path,
    content: &[u8],
    mode: u32,
    existing: Existing,
    survives: Survives,
) -> std::io::Result<bool> {
    let Some((folder, name)) = path.parent().zip(path.file_name()) else {
        return Err(std::io::ErrorKind::InvalidFilename.into());
    };
    make_folders(folder, mode)?;
    write_in(File::open(folder)?.as_fd(), name, content, mode, existing, survives)
}

/// Makes folders, each of them durably. Where files are for their owner alone, so are they.
pub(crate) fn make_folders(folder: &Path, mode: u32) -> std::io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().unwrap_or(Path::new("/"));
    make_folders(parent, mode)?;
    let folder_mode = if mode & 0o077 == 0 { 0o700 } else { 0o777 };
    match std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), folder_mode).create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    File::open(parent)?.sync_all()
}

/// Takes a lock, and waits for others who hold it, but not for longer than `patience`.
pub(crate) fn lock_within(file: &File, patience: Duration) -> std::io::Result<()> {
    // No clock is read in this room: the time is counted in looks.
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

/// Reads a plain file of at most `limit` bytes without waiting. `None`: it does not exist.
pub(crate) fn read_bounded(path: &Path, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut bytes = vec![];
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(bytes))
}
