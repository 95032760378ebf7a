//! Whole directories: lists and removes their content over handles, and never follows links.

use super::fault::{errno, errno_of};
use super::site::give;
use super::{Entry, Kind, open};
use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, DirEntry};
use contract::{Account, OpenFile};
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;

/// Maximum number of names below one directory that a resource lists or removes. It limits memory, and is far above the size
/// of trees that resources manage.
pub(super) const MAXIMUM_ENTRIES: usize = 1_000_000;

/// Maximum depth of a tree. Each level needs an open handle.
const MAXIMUM_LEVELS: usize = 512;

/// Charges one unit of work for a name.
fn looked_at(account: &Account) -> Result<(), Errno> {
    account.work(1).map_err(|ended| errno_of(&ended))
}

/// Counts an open directory. Fails if there are too many.
pub(super) fn opened(account: &Account) -> Result<OpenFile, Errno> {
    let open = account.open_file();
    account.verdict().map_err(|ended| errno_of(&ended))?;
    Ok(open)
}

/// Returns the sorted names in an open directory.
pub(super) fn names(directory: &Dir) -> Result<Vec<String>, Errno> {
    Ok(entries(directory)?.into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect())
}

/// Returns names and kinds, sorted by name.
pub(super) fn entries(directory: &Dir) -> Result<Vec<(OsString, Kind)>, Errno> {
    let mut found = Vec::new();
    for entry in directory.entries().map_err(|error| errno(&error))? {
        let named = entry.and_then(|entry| Ok((entry.file_name(), kind_of(&entry)?)));
        found.push(named.map_err(|error| errno(&error))?);
        if found.len() > MAXIMUM_ENTRIES {
            return Err(Errno::FBIG);
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

fn kind_of(entry: &DirEntry) -> io::Result<Kind> {
    Ok(match Kind::of_entry(&entry.file_type()?) {
        Kind::Unknown => Entry::of_metadata(&entry.metadata()?).kind,
        kind => kind,
    })
}

/// Returns all paths below an open directory. The content of a directory comes before the directory itself.
pub(super) fn descendants(directory: &Dir, real: &str, account: &Account) -> Result<Vec<(String, Kind)>, Errno> {
    let mut found = Vec::new();
    let exact = |name: OsString| name.into_string().map_err(|_| Errno::ILSEQ);
    collect(directory, real.trim_end_matches('/'), 0, exact, &mut found, account)?;
    Ok(found)
}

/// Returns all names below an open directory. They are for checks and not for opening, because parts that are not UTF-8 are
/// replaced.
pub(super) fn names_below(directory: &Dir, account: &Account) -> Result<Vec<String>, Errno> {
    let mut found = Vec::new();
    let lossy = |name: OsString| Ok(name.to_string_lossy().into_owned());
    collect(directory, "", 0, lossy, &mut found, account)?;
    Ok(found.into_iter().map(|(path, _)| path.trim_start_matches('/').to_owned()).collect())
}

fn collect(
    directory: &Dir,
    real: &str,
    level: usize,
    text: fn(OsString) -> Result<String, Errno>,
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
            let below = directory.open_dir_nofollow(&name).map_err(|error| errno(&error))?;
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

/// Returns the path of the first directory, at or below an open one, for which `is_odd` is true. It skips the entry `except`
/// of the open directory.
pub(super) fn find_directory(
    directory: &Dir,
    real: &str,
    except: &str,
    is_odd: &dyn Fn(&Dir) -> Result<bool, Errno>,
    account: &Account,
) -> Result<Option<String>, Errno> {
    let mut search = Search { is_odd, seen: 0, account };
    search.level(directory, real, except, 0)
}

/// The state of a search in a directory tree.
struct Search<'a> {
    is_odd: &'a dyn Fn(&Dir) -> Result<bool, Errno>,
    /// The number of names seen so far.
    seen: usize,
    account: &'a Account,
}

impl Search<'_> {
    fn level(&mut self, directory: &Dir, real: &str, except: &str, level: usize) -> Result<Option<String>, Errno> {
        if level > MAXIMUM_LEVELS {
            return Err(Errno::NAMETOOLONG);
        }
        if (self.is_odd)(directory)? {
            return Ok(Some(real.to_owned()));
        }
        for (name, kind) in entries(directory)? {
            looked_at(self.account)?;
            self.seen += 1;
            if self.seen > MAXIMUM_ENTRIES {
                return Err(Errno::FBIG);
            }
            if kind == Kind::Directory && (level > 0 || name != except) {
                let below = directory.open_dir_nofollow(&name).map_err(|error| errno(&error))?;
                let _open = opened(self.account)?;
                let path = format!("{}/{}", real.trim_end_matches('/'), name.to_string_lossy());
                if let Some(found) = self.level(&below, &path, except, level + 1)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }
}

/// Removes the content of an open directory.
pub(super) fn empty(directory: &Dir, account: &Account) -> Result<(), Errno> {
    empty_level(directory, 0, account)
}

fn empty_level(directory: &Dir, level: usize, account: &Account) -> Result<(), Errno> {
    if level > MAXIMUM_LEVELS {
        return Err(Errno::NAMETOOLONG);
    }
    for (name, kind) in entries(directory)? {
        looked_at(account)?;
        if kind == Kind::Directory {
            let below = directory.open_dir_nofollow(&name).map_err(|error| errno(&error))?;
            let _open = opened(account)?;
            empty_level(&below, level + 1, account)?;
            directory.remove_dir(&name).map_err(|error| errno(&error))?;
        } else {
            directory.remove_file(&name).map_err(|error| errno(&error))?;
        }
    }
    Ok(())
}

/// The numbers of a user and of its primary group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserNumbers {
    /// The user's own number.
    pub uid: u32,
    /// The number of its primary group.
    pub gid: u32,
}

/// Gives what a user owns in an open directory, and the directory itself, to the user's new numbers. In a directory that is
/// neither the old number's nor the new one's, nothing is done.
pub(super) fn give_files_of(
    directory: &Dir,
    (old, new): (UserNumbers, UserNumbers),
    account: &Account,
) -> Result<(), Errno> {
    let owner = rustix::fs::fstat(directory)?.st_uid;
    if owner != old.uid && owner != new.uid {
        return Ok(());
    }
    give_level(directory, (old, new), 0, account)
}

fn give_level(
    directory: &Dir,
    numbers: (UserNumbers, UserNumbers),
    level: usize,
    account: &Account,
) -> Result<(), Errno> {
    if level > MAXIMUM_LEVELS {
        return Err(Errno::NAMETOOLONG);
    }
    for (name, kind) in entries(directory)? {
        looked_at(account)?;
        let given = if kind == Kind::Directory {
            let below = directory.open_dir_nofollow(&name).map_err(|error| errno(&error));
            below.and_then(|below| {
                let _open = opened(account)?;
                give_level(&below, numbers, level + 1, account)
            })
        } else {
            let held = directory.open_with(&name, &open::to_hold()).map_err(|error| errno(&error));
            held.and_then(|held| give_own(&held, numbers))
        };
        match given {
            // The user may remove and exchange what is there at any time.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            given => given?,
        }
    }
    give_own(directory, numbers)
}

/// Gives what is open to a user's new numbers, if the user owns it.
fn give_own(handle: impl AsFd, (old, new): (UserNumbers, UserNumbers)) -> Result<(), Errno> {
    let now = Entry::of(&rustix::fs::fstat(&handle)?);
    if now.uid != old.uid {
        return Ok(());
    }
    let uid = Some(new.uid).filter(|uid| *uid != now.uid);
    let gid = Some(new.gid).filter(|gid| now.gid == old.gid && *gid != now.gid);
    if uid.is_none() && gid.is_none() { Ok(()) } else { give(handle, uid, gid) }
}
