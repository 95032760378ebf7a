//! Files that are written whole: another name first, flushed, renamed, and the folder flushed after that.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, OFlags, RenameFlags};

/// How names of files begin that are not complete yet.
const UNFINISHED: &str = ".unfinished-";

/// Numbers unfinished files of this process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// What becomes of a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It is replaced.
    Replaced,
    /// It stays.
    Stays,
}

/// What a file must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Survives {
    /// The end of the process at any moment. After a power cut it may be the file that was there before.
    Kill,
    /// A power cut as well.
    PowerCut,
}

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
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let unfinished = folder.join(format!("{UNFINISHED}{}-{number}-{}", std::process::id(), name.to_string_lossy()));
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&unfinished);
    let written = opened.and_then(|mut file| {
        file.write_all(content)?;
        if survives == Survives::PowerCut { file.sync_all() } else { Ok(()) }
    });
    let flags = if existing == Existing::Stays { RenameFlags::NOREPLACE } else { RenameFlags::empty() };
    let renamed = written.and_then(|()| Ok(rustix::fs::renameat_with(CWD, &unfinished, CWD, path, flags)?));
    if let Err(error) = renamed {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&unfinished);
        let is_there = existing == Existing::Stays && error.kind() == std::io::ErrorKind::AlreadyExists;
        return if is_there { Ok(false) } else { Err(error) };
    }
    if survives == Survives::PowerCut {
        File::open(folder)?.sync_all()?;
    }
    Ok(true)
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
