//! Whole directories: lists and removes their content over handles, and never follows links.

use super::fault::{errno, errno_of};
use super::site::give;
use super::step::{Steps, Stopped, look_unmounted};
use super::{Entry, HOLD, Kind};
use cap_std::fs::{Dir, DirEntry};
use contract::{Account, OpenFile};
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;

/// Maximum number of names below one directory that a resource lists or removes. It limits memory, and is far above the size
/// of trees that resources manage.
pub(super) const MAX_ENTRIES: usize = 1_000_000;

/// Maximum depth of a tree. Each level needs an open handle.
const MAX_LEVELS: usize = 512;

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
        let entry = entry.map_err(|error| errno(&error))?;
        let kind = kind_of(directory, &entry).map_err(|error| errno(&error))?;
        found.push((entry.file_name(), kind));
        if found.len() > MAX_ENTRIES {
            return Err(Errno::FBIG);
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

fn kind_of(directory: &Dir, entry: &DirEntry) -> io::Result<Kind> {
    match Kind::of_entry(&entry.file_type()?) {
        Kind::Unknown => match look_unmounted(directory, &entry.file_name()) {
            // A look at a mount asks its server. Whoever opens it as a directory asks beforehand.
            Err(Errno::XDEV) => Ok(Kind::Directory),
            looked => Ok(looked?.kind),
        },
        kind => Ok(kind),
    }
}

/// Returns all paths below an open directory. The content of a directory comes before the directory itself.
pub(super) fn descendants(directory: &Dir, real: &str, steps: Steps<'_>) -> Result<Vec<(String, Kind)>, Stopped> {
    let mut found = Vec::new();
    let exact = |name: OsString| name.into_string().map_err(|_| Errno::ILSEQ);
    collect(directory, real.trim_end_matches('/'), 0, exact, &mut found, steps)?;
    Ok(found)
}

/// Returns all names below an open directory. They are for checks and not for opening, because parts that are not UTF-8 are
/// replaced.
pub(super) fn names_below(directory: &Dir, steps: Steps<'_>) -> Result<Vec<String>, Stopped> {
    let mut found = Vec::new();
    let lossy = |name: OsString| Ok(name.to_string_lossy().into_owned());
    collect(directory, "", 0, lossy, &mut found, steps)?;
    Ok(found.into_iter().map(|(path, _)| path.trim_start_matches('/').to_owned()).collect())
}

fn collect(
    directory: &Dir,
    real: &str,
    level: usize,
    text: fn(OsString) -> Result<String, Errno>,
    found: &mut Vec<(String, Kind)>,
    steps: Steps<'_>,
) -> Result<(), Stopped> {
    if level > MAX_LEVELS {
        return Err(Errno::NAMETOOLONG.into());
    }
    for (name, kind) in entries(directory)? {
        looked_at(steps.account())?;
        let path = format!("{real}/{}", text(name.clone())?);
        if kind == Kind::Directory {
            let below = steps.directory(directory, &name)?;
            let _open = opened(steps.account())?;
            collect(&below, &path, level + 1, text, found, steps)?;
        }
        found.push((path, kind));
        if found.len() > MAX_ENTRIES {
            return Err(Errno::FBIG.into());
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
    steps: Steps<'_>,
) -> Result<Option<String>, Stopped> {
    let mut search = Search { is_odd, seen: 0, steps };
    search.level(directory, real, except, 0)
}

/// The state of a search in a directory tree.
struct Search<'a> {
    is_odd: &'a dyn Fn(&Dir) -> Result<bool, Errno>,
    /// The number of names seen so far.
    seen: usize,
    steps: Steps<'a>,
}

impl Search<'_> {
    fn level(&mut self, directory: &Dir, real: &str, except: &str, level: usize) -> Result<Option<String>, Stopped> {
        if level > MAX_LEVELS {
            return Err(Errno::NAMETOOLONG.into());
        }
        if (self.is_odd)(directory)? {
            return Ok(Some(real.to_owned()));
        }
        for (name, kind) in entries(directory)? {
            looked_at(self.steps.account())?;
            self.seen += 1;
            if self.seen > MAX_ENTRIES {
                return Err(Errno::FBIG.into());
            }
            if kind == Kind::Directory && (level > 0 || name != except) {
                let below = self.steps.directory(directory, &name)?;
                let _open = opened(self.steps.account())?;
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
pub(super) fn empty(directory: &Dir, steps: Steps<'_>) -> Result<(), Stopped> {
    empty_level(directory, 0, steps)
}

fn empty_level(directory: &Dir, level: usize, steps: Steps<'_>) -> Result<(), Stopped> {
    if level > MAX_LEVELS {
        return Err(Errno::NAMETOOLONG.into());
    }
    for (name, kind) in entries(directory)? {
        looked_at(steps.account())?;
        if kind == Kind::Directory {
            let below = steps.directory(directory, &name)?;
            let _open = opened(steps.account())?;
            empty_level(&below, level + 1, steps)?;
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
    steps: Steps<'_>,
) -> Result<(), Stopped> {
    let owner = rustix::fs::fstat(directory)?.st_uid;
    if owner != old.uid && owner != new.uid {
        return Ok(());
    }
    give_level(directory, (old, new), 0, steps)
}

fn give_level(
    directory: &Dir,
    numbers: (UserNumbers, UserNumbers),
    level: usize,
    steps: Steps<'_>,
) -> Result<(), Stopped> {
    if level > MAX_LEVELS {
        return Err(Errno::NAMETOOLONG.into());
    }
    for (name, kind) in entries(directory)? {
        looked_at(steps.account())?;
        let given = if kind == Kind::Directory {
            steps.directory(directory, &name).and_then(|below| {
                let _open = opened(steps.account())?;
                give_level(&below, numbers, level + 1, steps)
            })
        } else {
            steps.open(directory, &name, HOLD).and_then(|held| Ok(give_own(&held, numbers)?))
        };
        match given {
            // The user may remove and exchange what is there at any time.
            Err(Stopped { errno: Errno::NOENT | Errno::NOTDIR | Errno::LOOP, .. }) => {}
            given => given?,
        }
    }
    Ok(give_own(directory, numbers)?)
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
