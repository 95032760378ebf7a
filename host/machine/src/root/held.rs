//! What has a name, held open while it is judged and changed.
//!
//! Whoever owns a directory can exchange what has a name in it at any time. So owner and mode are set on the handle of the very
//! thing that was judged, and never by opening its name again.

use super::site::give;
use super::{Entry, Fault, Kind, ModeBits, Site, access_list, open, tree};
use cap_std::fs::{Dir, File};
use contract::FileCall;
use rustix::fd::AsRawFd as _;
use rustix::fs::{AtFlags, CWD, Mode, Timespec, Timestamps};
use rustix::io::Errno;
use std::io;

/// The owner that a server of files puts in root's place (`root_squash`): nobody.
const OWNER_OF_ROOTS: u32 = 65_534;

/// What had a site's name when it was opened.
#[derive(Debug)]
pub struct Held<'a> {
    site: &'a Site,
    handle: File,
}

impl<'a> Held<'a> {
    pub(super) fn of(site: &'a Site) -> Result<Self, Fault> {
        let handle = site.0.parent.open_with(&site.0.name, &open::to_hold());
        let handle = handle.map_err(|error| site.refused(&error, FileCall::Change))?;
        Ok(Self { site, handle })
    }

    /// What it is.
    ///
    /// # Errors
    /// It may not be looked at.
    pub fn entry(&self) -> Result<Entry, Fault> {
        self.changed(Entry::of_handle(&self.handle))
    }

    /// Fails unless it is a directory with nothing in it that belongs to whom a directory belongs which was just made there:
    /// this user, or the one that the file system says of all or of root's.
    ///
    /// # Errors
    /// `EEXIST`: something else has taken its name.
    pub fn require_new_directory(&self) -> Result<(), Fault> {
        let is_new = || -> io::Result<bool> {
            let entry = Entry::of_handle(&self.handle)?;
            let maker = rustix::process::geteuid().as_raw();
            let is_makers = || -> io::Result<bool> {
                let folder = rustix::fs::fstat(&self.site.0.parent)?.st_uid;
                Ok([maker, OWNER_OF_ROOTS, folder].contains(&entry.uid))
            };
            if entry.kind != Kind::Directory || !is_makers()? {
                return Ok(false);
            }
            let directory = Dir::from_std_file(self.handle.try_clone()?.into_std());
            Ok(tree::entries(&directory)?.is_empty())
        };
        let is_new = is_new().and_then(|is_new| if is_new { Ok(()) } else { Err(io::Error::from(Errno::EXIST)) });
        is_new.map_err(|error| self.site.refused(&error, FileCall::MakeDirectory))
    }

    /// Fails unless it is a symbolic link that says `text`.
    ///
    /// # Errors
    /// `EEXIST`: something else has taken its name.
    pub fn require_link(&self, text: &str) -> Result<(), Fault> {
        let says = match Entry::of_handle(&self.handle) {
            Ok(entry) if entry.kind == Kind::Link => rustix::fs::readlinkat(&self.handle, "", vec![]).ok(),
            _ => None,
        };
        match says {
            Some(says) if says.to_bytes() == text.as_bytes() => Ok(()),
            _ => Err(self.site.fault(Errno::EXIST, FileCall::LinkSymbolic)),
        }
    }

    /// Fails unless it is the thing that was judged.
    ///
    /// # Errors
    /// `ESTALE`: something else has taken its name.
    pub fn require(&self, judged: &Entry) -> Result<(), Fault> {
        let is_it = self.entry()?.identity == judged.identity;
        if is_it { Ok(()) } else { Err(self.site.fault(Errno::STALE, FileCall::Change)) }
    }

    /// Sets permission bits. Of a link: `EOPNOTSUPP`, Linux has none.
    ///
    /// # Errors
    /// The kernel refuses; `ENOTDIR` where the bits were granted for a directory and this is something else.
    pub fn set_mode(&self, mode: ModeBits) -> Result<(), Fault> {
        let set = || {
            let entry = Entry::of_handle(&self.handle)?;
            let bits = match entry.kind {
                Kind::Link => return Err(io::Error::from(Errno::OPNOTSUPP)),
                kind => Mode::from_raw_mode(mode.of(kind)?),
            };
            let path = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
            // A handle that can be had for anything, sockets and unreadable files too, has its mode set through /proc only.
            match rustix::fs::chmodat(CWD, path, bits, AtFlags::empty()) {
                Err(Errno::NOENT) => {
                    let handle = self.site.0.parent.open_with(&self.site.0.name, &open::to_read())?;
                    if Entry::of_handle(&handle)?.identity != entry.identity {
                        return Err(Errno::STALE.into());
                    }
                    Ok(rustix::fs::fchmod(&handle, bits)?)
                }
                other => Ok(other?),
            }
        };
        self.changed(set())
    }

    /// Sets owner and group by number; none leaves it. A link's own are set, not those of what it leads to. Access lists that
    /// an owner made who is not root go with that owner: they let others in, also to what is made in a directory.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set_owner(&self, uid: Option<u32>, gid: Option<u32>) -> Result<(), Fault> {
        let set = || {
            let old = rustix::fs::fstat(&self.handle)?.st_uid;
            give(&self.handle, uid, gid)?;
            // Afterwards: until then the owner can make a list.
            if old != 0 && uid.is_some_and(|uid| uid != old) {
                access_list::remove(&self.handle)?;
            }
            Ok(())
        };
        self.changed(set())
    }

    /// Sets the times of last access and last change, in seconds since 1970; `None` means now. Of a link: its own.
    ///
    /// # Errors
    /// The kernel refuses, for example on a read-only file system.
    pub fn set_times(&self, times: Option<(i64, i64)>) -> Result<(), Fault> {
        let set = || match rustix::fs::utimensat(&self.handle, "", &timestamps(times), AtFlags::EMPTY_PATH) {
            // Linux before 5.8 sets no times on such a handle.
            Err(Errno::INVAL) => {
                let path = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
                Ok(rustix::fs::utimensat(CWD, path, &timestamps(times), AtFlags::empty())?)
            }
            other => Ok(other?),
        };
        self.changed(set())
    }

    /// Takes the access lists from a directory that was just made, if they are those of a folder that is neither root's nor
    /// the directory's owner's. To be called once the directory has its owner.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn refuse_inherited_lists(&self) -> Result<(), Fault> {
        let refuse = || {
            let folder = rustix::fs::fstat(&self.site.0.parent)?.st_uid;
            if folder != 0 && folder != rustix::fs::fstat(&self.handle)?.st_uid {
                access_list::remove(&self.handle)?;
            }
            Ok(())
        };
        self.changed(refuse())
    }

    fn changed<T>(&self, outcome: io::Result<T>) -> Result<T, Fault> {
        outcome.map_err(|error| self.site.refused(&error, FileCall::Change))
    }
}

/// The times of last access and last change for the kernel, from seconds since 1970; `None` means now.
pub(super) fn timestamps(times: Option<(i64, i64)>) -> Timestamps {
    let now = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    let at = |seconds| Timespec { tv_sec: seconds, tv_nsec: 0 };
    let (last_access, last_modification) = times.map_or((now, now), |(access, change)| (at(access), at(change)));
    Timestamps { last_access, last_modification }
}
