//! Steps of a walk through a directory tree, from an open directory to an entry of it.
//!
//! The path of the tree was asked about before the walk began ([`super::remote`]), but a mount may lie deeper. So each step is
//! a call that the kernel refuses where something is mounted at the entry. Only then does wrun read the table of mounts, and
//! asks the server of this mount before it goes on.
//!
//! Rejected: a comparison of each path of the walk with the table. Whoever owns a directory of the tree can rename it, so that
//! the walk's paths are not those of the table. The kernel knows the path of an open directory.

use super::Entry;
use super::remote::RemoteMounts;
use cap_std::fs::Dir;
use contract::Account;
use rustix::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

/// Options for a directory whose content is listed, and which is not a link.
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// A walk's way into the entries of directories.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps<'a> {
    mounts: &'a RemoteMounts,
    account: &'a Account,
}

/// The reason why a walk ended.
#[derive(Debug)]
pub(super) struct Stopped {
    pub(super) errno: Errno,
    /// The path of a mount whose server does not answer, as seen from inside the root.
    pub(super) silent: Option<String>,
}

impl Stopped {
    fn silent((errno, inside): (Errno, String)) -> Self {
        Self { errno, silent: Some(inside) }
    }
}

impl From<Errno> for Stopped {
    fn from(errno: Errno) -> Self {
        Self { errno, silent: None }
    }
}

impl From<Stopped> for io::Error {
    fn from(stopped: Stopped) -> Self {
        stopped.errno.into()
    }
}

impl<'a> Steps<'a> {
    pub(super) fn new(mounts: &'a RemoteMounts, account: &'a Account) -> Self {
        Self { mounts, account }
    }

    /// Returns the account that pays for the walk.
    pub(super) fn account(&self) -> &'a Account {
        self.account
    }

    /// Fails if something is mounted at an entry of an open directory, and its server does not answer.
    ///
    /// # Errors
    /// `ETIMEDOUT`; or a limit of the account is exceeded meanwhile.
    pub(super) fn require_answer(&self, parent: &Dir, name: &OsStr) -> Result<(), Stopped> {
        self.require_automount(parent, name)?;
        match open_unmounted(parent, name, OFlags::PATH) {
            Err(errno) if may_be_mounted(errno) => self.ask(parent, name),
            _ => Ok(()),
        }
    }

    /// Opens a directory in an open one.
    ///
    /// # Errors
    /// A server is silent (`ETIMEDOUT`); or the entry is not a directory, or is a link (`ENOTDIR`).
    pub(super) fn directory(&self, parent: &Dir, name: &OsStr) -> Result<Dir, Stopped> {
        Ok(Dir::from(self.open(parent, name, DIRECTORY)?))
    }

    /// Opens an entry of an open directory, and does not follow a link.
    ///
    /// # Errors
    /// A server is silent (`ETIMEDOUT`); or the kernel refuses.
    pub(super) fn open(&self, parent: &Dir, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Stopped> {
        self.require_automount(parent, name)?;
        match open_unmounted(parent, name, flags) {
            Err(errno) if may_be_mounted(errno) => self.ask(parent, name)?,
            other => return Ok(other?),
        }
        Ok(rustix::fs::openat(parent, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
    }

    fn require_automount(&self, parent: &Dir, name: &OsStr) -> Result<(), Stopped> {
        if !self.mounts.have_automounters() {
            return Ok(());
        }
        let Some(path) = path_of(parent, name) else { return Ok(()) };
        self.mounts.require_automounts_at(&path, self.account).map_err(Stopped::silent)
    }

    fn ask(&self, parent: &Dir, name: &OsStr) -> Result<(), Stopped> {
        let Some(path) = path_of(parent, name) else { return Ok(()) };
        self.mounts.require_answer_at(&path, self.account).map_err(Stopped::silent)
    }
}

/// Tells whether an attempt without crossing mounts failed because of a mount, or because the kernel, or a sandbox around wrun,
/// does not know the call.
pub(super) fn may_be_mounted(errno: Errno) -> bool {
    matches!(errno, Errno::XDEV | Errno::NOSYS | Errno::PERM | Errno::AGAIN)
}

/// Opens an entry of an open directory, unless something is mounted there (`EXDEV`). No server is asked about it.
fn open_unmounted(parent: &Dir, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat2(parent, name, flags, Mode::empty(), ResolveFlags::NO_XDEV)
}

/// Returns the attributes of an entry of an open directory, unless something is mounted there (`EXDEV`). No server is asked
/// about it.
pub(super) fn look_unmounted(parent: &Dir, name: &OsStr) -> Result<Entry, Errno> {
    match open_unmounted(parent, name, OFlags::PATH) {
        Ok(held) => Ok(Entry::of(&rustix::fs::fstat(held)?)),
        Err(errno) if errno != Errno::XDEV && may_be_mounted(errno) => {
            Ok(Entry::of(&rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?))
        }
        Err(errno) => Err(errno),
    }
}

/// Returns the path of an entry on this machine.
fn path_of(parent: &Dir, name: &OsStr) -> Option<String> {
    let link = format!("/proc/self/fd/{}", parent.as_fd().as_raw_fd());
    let folder = rustix::fs::readlink(link, vec![]).ok()?;
    let folder = String::from_utf8_lossy(folder.to_bytes()).into_owned();
    Some(format!("{}/{}", folder.trim_end_matches('/'), String::from_utf8_lossy(name.as_bytes())))
}
