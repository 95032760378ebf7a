//! Directories as a whole: listing and removing what is below, over handles, links never followed.

use super::Kind;
use super::fault::errno_of;
use contract::{Account, OpenFile};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;

/// How many names below one directory are listed or removed by one resource. Bounds memory; far above what a resource
/// that manages a tree has.
pub(super) const MAXIMUM_ENTRIES: usize = 1_000_000;

/// How deep a tree may be: each level costs an open handle.
const MAXIMUM_LEVELS: usize = 512;

const LEVEL: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Counts a name that was looked at.
fn looked_at(account: &Account) -> Result<(), Errno> {
    account.work(1).map_err(|ended| errno_of(&ended))
}

/// Counts a directory that was opened. One too many ends the step.
pub(super) fn opened(account: &Account) -> Result<OpenFile, Errno> {
    let open = account.open_file();
    account.verdict().map_err(|ended| errno_of(&ended))?;
    Ok(open)
}

/// The names in an open directory, sorted.
pub(super) fn names(directory: impl AsFd) -> Result<Vec<String>, Errno> {
    Ok(entries(directory)?.into_iter().map(|(name, _)| String::from_utf8_lossy(&name).into_owned()).collect())
}

/// Names as bytes, and what they are, sorted by name.
pub(super) fn entries(directory: impl AsFd) -> Result<Vec<(Vec<u8>, Kind)>, Errno> {
    let mut found = Vec::new();
    for entry in Dir::read_from(&directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match Kind::of(entry.file_type()) {
            Kind::Unknown => {
                let stat = rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                Kind::of(rustix::fs::FileType::from_raw_mode(stat.st_mode))
            }
            kind => kind,
        };
        found.push((name.to_bytes().to_vec(), kind));
        if found.len() > MAXIMUM_ENTRIES {
            return Err(Errno::FBIG);
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

/// All paths below an open directory, what is in a directory before the directory itself.
pub(super) fn descendants(directory: &OwnedFd, real: &str, account: &Account) -> Result<Vec<(String, Kind)>, Errno> {
    let mut found = Vec::new();
    let exact = |name| String::from_utf8(name).map_err(|_| Errno::ILSEQ);
    collect(directory, real.trim_end_matches('/'), 0, exact, &mut found, account)?;
    Ok(found)
}

/// All names below an open directory, to be looked at and not to be opened: what is not UTF-8 in them is replaced.
pub(super) fn names_below(directory: &OwnedFd, account: &Account) -> Result<Vec<String>, Errno> {
    let mut found = Vec::new();
    let lossy = |name: Vec<u8>| Ok(String::from_utf8_lossy(&name).into_owned());
    collect(directory, "", 0, lossy, &mut found, account)?;
    Ok(found.into_iter().map(|(path, _)| path.trim_start_matches('/').to_owned()).collect())
}

fn collect(
    directory: &OwnedFd,
    real: &str,
    level: usize,
    text: fn(Vec<u8>) -> Result<String, Errno>,
    found: &mut Vec<(String, Kind)>,
    account: &Account,
) -> Result<(), Errno> {
    if level > MAXIMUM_LEVELS {
        return Err(Errno::NAMETOOLONG);
    }
    for (name, kind) in entries(directory)? {
        looked_at(account)?;
        let path = format!("{real}/{}", text(name.clone())?);
        if kind == Kind::Directory {
            let below = rustix::fs::openat(directory, name.as_slice(), LEVEL, Mode::empty())?;
            let _open = opened(account)?;
            collect(&below, &path, level + 1, text, found, account)?;
        }
        found.push((path, kind));
        if found.len() > MAXIMUM_ENTRIES {
            return Err(Errno::FBIG);
        }
    }
    Ok(())
}

/// Empties an open directory.
pub(super) fn empty(directory: &OwnedFd, account: &Account) -> Result<(), Errno> {
    empty_level(directory, 0, account)
}

fn empty_level(directory: &OwnedFd, level: usize, account: &Account) -> Result<(), Errno> {
    if level > MAXIMUM_LEVELS {
        return Err(Errno::NAMETOOLONG);
    }
    for (name, kind) in entries(directory)? {
        looked_at(account)?;
        if kind == Kind::Directory {
            let below = rustix::fs::openat(directory, name.as_slice(), LEVEL, Mode::empty())?;
            let _open = opened(account)?;
            empty_level(&below, level + 1, account)?;
            rustix::fs::unlinkat(directory, name.as_slice(), AtFlags::REMOVEDIR)?;
        } else {
            rustix::fs::unlinkat(directory, name.as_slice(), AtFlags::empty())?;
        }
    }
    Ok(())
}
