//! A new home directory, filled from the skeleton over handles.
//!
//! The directory is closed to everybody until all is in it, so that nobody can lay a link on the way of a copy.

use super::fault::errno_of;
use super::{CONTENT, Disk, Fault, Kind, Place, Site, disk, tree};
use crate::pace::Paced;
use contract::{Account, Limit};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;
use std::fs::File;

/// The mode of a directory that is still being filled.
const PRIVATE: Mode = Mode::RWXU;

/// How many files and how deep a skeleton may be.
const MAX_FILES: usize = 10_000;
const MAX_LEVELS: usize = 64;

const LEVEL: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Whose a home is, and who may enter it.
#[derive(Debug, Clone, Copy)]
pub struct HomeAccess {
    /// Owner of the directory and of all that is put into it.
    pub uid: u32,
    /// Their group.
    pub gid: u32,
    /// Permission bits of the directory.
    pub mode: u32,
}

impl Site {
    /// Makes a home directory with copies of all that is in the skeleton.
    ///
    /// # Errors
    /// Something has the name already; the skeleton cannot be read or is too large; the disk is full.
    pub fn make_home(&self, skeleton: Option<&Place>, access: HomeAccess) -> Result<(), Fault> {
        let place = &self.0;
        let make = || {
            rustix::fs::mkdirat(&place.parent, place.name.as_str(), PRIVATE)?;
            let home = rustix::fs::openat(&place.parent, place.name.as_str(), LEVEL, Mode::empty())?;
            if let Some(skeleton) = skeleton {
                let from = rustix::fs::openat(&skeleton.parent, skeleton.name.as_str(), LEVEL, Mode::empty())?;
                Copy { access, left: MAX_FILES, account: place.account().clone() }.fill(
                    from.as_fd(),
                    home.as_fd(),
                    0,
                )?;
            }
            give(&home, access, access.mode)
        };
        make().map_err(|errno| Fault::new(errno, "dir_s_mkdir", place.real()))
    }
}

/// A copy that is under way.
struct Copy {
    access: HomeAccess,
    /// How many more names may be copied.
    left: usize,
    account: Account,
}

impl Copy {
    fn fill(&mut self, from: BorrowedFd<'_>, to: BorrowedFd<'_>, level: usize) -> Result<(), Errno> {
        if level > MAX_LEVELS {
            return Err(Errno::NAMETOOLONG);
        }
        let _open = [tree::opened(&self.account)?, tree::opened(&self.account)?];
        for (name, kind) in tree::entries(from)? {
            self.left = self.left.checked_sub(1).ok_or(Errno::FBIG)?;
            let charged = self.account.spend(Limit::Entries, 1).and_then(|()| disk::leave_room(&self.account, to));
            charged.map_err(|ended| errno_of(&ended))?;
            let name = name.as_slice();
            match kind {
                Kind::Directory => {
                    let source = rustix::fs::openat(from, name, LEVEL, Mode::empty())?;
                    rustix::fs::mkdirat(to, name, PRIVATE)?;
                    let copy = rustix::fs::openat(to, name, LEVEL, Mode::empty())?;
                    self.fill(source.as_fd(), copy.as_fd(), level + 1)?;
                    give(&copy, self.access, rustix::fs::fstat(&source)?.st_mode)?;
                }
                Kind::File => {
                    let source = rustix::fs::openat(from, name, CONTENT, Mode::empty())?;
                    let about = rustix::fs::fstat(&source)?;
                    let mode = about.st_mode;
                    let bytes = u64::try_from(about.st_size).unwrap_or(0);
                    let charged = Disk::of(&self.account, to).write(to, bytes);
                    charged.map_err(|ended| errno_of(&ended))?;
                    let copy = File::from(rustix::fs::openat(to, name, NEW, Mode::RUSR | Mode::WUSR)?);
                    let copied = std::io::copy(&mut Paced::new(File::from(source), &self.account), &mut &copy);
                    copied.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
                    give(&OwnedFd::from(copy), self.access, mode)?;
                }
                Kind::Link => {
                    let text = rustix::fs::readlinkat(from, name, Vec::new())?;
                    rustix::fs::symlinkat(&text, to, name)?;
                    let (uid, gid) = (Uid::from_raw(self.access.uid), Gid::from_raw(self.access.gid));
                    rustix::fs::chownat(to, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW)?;
                }
                // Devices, pipes and sockets are nobody's first files.
                _ => {}
            }
        }
        Ok(())
    }
}

/// Sets owner and permission bits of what is open; set-id bits are dropped.
fn give(handle: &OwnedFd, access: HomeAccess, mode: u32) -> Result<(), Errno> {
    rustix::fs::fchown(handle, Some(Uid::from_raw(access.uid)), Some(Gid::from_raw(access.gid)))?;
    rustix::fs::fchmod(handle, Mode::from_raw_mode(mode & 0o1777))
}
