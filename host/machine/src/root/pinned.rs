//! Resolved paths for programs that accept only a path, such as `mount`.
//!
//! The owner of a directory on the way could replace it by a link before the program uses the path. So wrun opens the path
//! itself, without following a link, and gives the program its own file in `/proc`. That leads to the open file whatever
//! happens to the path. If only root can replace anything on the way, the path itself is safe.

use super::{Entry, Fault, HOLD, Kind, PLAIN_DIRECTORY, Root, absent, access_list, plain, tree};
use cap_std::fs::Dir;
use contract::FileCall;
use nix::mount::MntFlags;
use rustix::fd::{AsFd, AsRawFd as _, OwnedFd};
use rustix::io::Errno;
use std::os::fd::RawFd;

/// The sticky bit. In a directory with this bit, only the directory's owner and the owner of an entry may rename the entry.
const STICKY: u32 = 0o1000;

/// An open file with a path that programs can use.
#[derive(Debug)]
pub struct Pinned {
    handle: OwnedFd,
    kind: Kind,
}

impl Pinned {
    /// Returns the path by which a program of this machine reaches the file while this value lives.
    pub fn path(&self) -> String {
        in_proc(&own_number(), self.handle.as_raw_fd())
    }

    /// Returns the kind of the file; it is never a link.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

/// Returns the name of an open file in `/proc`.
pub(super) fn in_proc(process: &str, descriptor: RawFd) -> String {
    format!("/proc/{process}/fd/{descriptor}")
}

fn own_number() -> String {
    rustix::process::getpid().as_raw_nonzero().to_string()
}

impl Root {
    /// Opens the file at a resolved path.
    ///
    /// # Errors
    /// The path does not exist, or a link is on the way or at its end (`ELOOP`).
    pub fn pin(&self, real: &str) -> Result<Pinned, Fault> {
        let fault = |errno| Fault::new(errno, FileCall::Open, real);
        self.require_answers(real).map_err(fault)?;
        let handle = self.open_plain(real, HOLD).map_err(fault)?;
        let kind = Entry::of(&rustix::fs::fstat(&handle).map_err(fault)?).kind;
        match kind {
            Kind::Link => Err(fault(Errno::LOOP)),
            kind => Ok(Pinned { handle, kind }),
        }
    }

    /// Tells whether only root may replace the directories on the way to a resolved path, and its last name.
    ///
    /// # Errors
    /// A directory is missing or may not be read, or a link is on the way.
    pub fn is_roots_alone(&self, real: &str) -> Result<bool, Fault> {
        self.is_alone_of(real, 0)
    }

    /// Tells whether only root and one user may replace the directories on the way to a resolved path, and its last name.
    /// Directories like `/tmp` are accepted: everybody may create names there, but nobody else may replace the names of these
    /// users.
    ///
    /// # Errors
    /// A directory is missing or may not be read, or a link is on the way.
    pub fn is_alone_of(&self, real: &str, uid: u32) -> Result<bool, Fault> {
        let is_theirs = |entry: &Entry| entry.uid == 0 || entry.uid == uid;
        let fault = |errno| Fault::new(errno, FileCall::Look, real);
        let ends = real.match_indices('/').map(|(at, _)| at).chain([real.len()]);
        let paths: Vec<&str> = ends.filter_map(|end| real.get(..end)).collect();
        for (folder, inner) in paths.iter().zip(paths.iter().skip(1)) {
            let (handle, entry) = self.held(folder)?;
            if entry.kind != Kind::Directory {
                return Err(fault(Errno::NOTDIR));
            }
            let is_open = entry.others_may_write() || access_list::lets_others_write(&handle, entry.kind, uid);
            let is_safe = !is_open
                || (entry.mode & STICKY != 0 && absent(self.held(inner))?.is_some_and(|(_, inner)| is_theirs(&inner)));
            if !is_theirs(&entry) || !is_safe {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tells whether only root may replace or change the file at a resolved path.
    ///
    /// # Errors
    /// As for [`is_roots_alone`](Self::is_roots_alone). If the path is not a regular file, the result is false.
    pub fn is_roots_own_file(&self, real: &str) -> Result<bool, Fault> {
        self.is_own_file_of(real, 0)
    }

    /// Whether nobody but root and one user may exchange or change the file at a resolved path.
    ///
    /// # Errors
    /// As [`is_alone_of`](Self::is_alone_of); it is no file.
    pub fn is_own_file_of(&self, real: &str, uid: u32) -> Result<bool, Fault> {
        let (handle, entry) = self.held(real)?;
        let is_own = entry.kind == Kind::File && !is_of_others(&handle, &entry, uid);
        Ok(is_own && self.is_alone_of(real, uid)?)
    }

    /// Returns the first of some resolved paths that users other than root and one user may change, or `None`.
    ///
    /// # Errors
    /// A path may not be read.
    pub fn changeable_by_others<'path>(
        &self,
        paths: impl IntoIterator<Item = &'path str>,
        uid: u32,
    ) -> Result<Option<&'path str>, Fault> {
        for path in paths {
            if absent(self.held(path))?.is_some_and(|(handle, entry)| is_of_others(&handle, &entry, uid)) {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Returns the first directory, at or below a resolved path, that users other than root and one user may change, or
    /// `None`. It skips the entry `except` of the top directory. The work is charged, and the number of names is limited as
    /// for the removal of a tree.
    ///
    /// # Errors
    /// A directory may not be read, or there are too many names.
    pub fn directory_of_others(&self, real: &str, except: &str, uid: u32) -> Result<Option<String>, Fault> {
        let place = self.locate(real)?;
        let top = place.open_directory()?;
        let is_odd = |directory: &Dir| -> Result<bool, Errno> {
            let entry = Entry::of(&rustix::fs::fstat(directory)?);
            Ok(is_of_others(directory, &entry, uid))
        };
        tree::find_directory(&top, real, except, &is_odd, place.steps())
            .map_err(|stopped| place.stopped(stopped, FileCall::List))
    }

    /// Opens an entry without a right to its content, and returns its attributes.
    fn held(&self, real: &str) -> Result<(OwnedFd, Entry), Fault> {
        let fault = |errno| Fault::new(errno, FileCall::Look, real);
        self.require_answers(real).map_err(fault)?;
        let handle = self.open_plain(real, HOLD).map_err(fault)?;
        let entry = Entry::of(&rustix::fs::fstat(&handle).map_err(fault)?);
        Ok((handle, entry))
    }

    /// Unmounts the file system at a resolved path, never one that a link of that name leads to.
    ///
    /// # Errors
    /// Nothing is mounted there; the mount is in use (`EBUSY`); a link is on the way.
    pub fn unmount(&self, real: &str) -> Result<(), Fault> {
        let fault = |errno| Fault::new(errno, FileCall::Unmount, real);
        let (folder, name) = plain(real).ok_or_else(|| fault(Errno::INVAL))?;
        let handle = self.open_plain(folder, PLAIN_DIRECTORY).map_err(fault)?;
        let named = format!("{}/{name}", in_proc(&own_number(), handle.as_raw_fd()));
        let unmounted = nix::mount::umount2(named.as_str(), MntFlags::UMOUNT_NOFOLLOW);
        unmounted.map_err(|errno| fault(Errno::from_raw_os_error(errno as i32)))
    }
}

/// Tells whether users other than root and one user own an open file, may write to it, or may write to new entries in it.
fn is_of_others(handle: impl AsFd, entry: &Entry, uid: u32) -> bool {
    (entry.uid != 0 && entry.uid != uid)
        || entry.others_may_write()
        || access_list::lets_others_write(&handle, entry.kind, uid)
        || access_list::passes_writers_on(&handle, entry.kind, uid)
}
