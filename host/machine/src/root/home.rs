//! Creates a home directory and fills it from the skeleton, by directory handles.
//!
//! The directory is closed to everybody until it is complete, so that nobody can put a link in the way of a copy.

use super::fault::errno_of;
use super::site::give;
use super::step::Steps;
use super::{CONTENT, Disk, Fault, Kind, Place, Site, disk, open, tree};
use crate::pace::Paced;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _};
use contract::{Account, Ended, FileCall, Limit};
use rustix::fd::AsFd;
use rustix::fs::Mode;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;

/// The mode of a directory that is still being filled.
const PRIVATE: u32 = 0o700;

/// Maximum number of entries and maximum depth of a skeleton.
const MAX_FILES: usize = 10_000;
const MAX_LEVELS: usize = 64;

/// Owner, group and mode of a home directory.
#[derive(Debug, Clone, Copy)]
pub struct HomeAccess {
    /// Numeric id of the owner of the directory and its content.
    pub uid: u32,
    /// Numeric id of the group of the directory and its content.
    pub gid: u32,
    /// Permission bits of the directory.
    pub mode: u32,
}

impl Site {
    /// Creates a home directory with copies of all files of the skeleton.
    ///
    /// # Errors
    /// An entry of that name exists; the skeleton cannot be read or is too large; the disk is full.
    pub fn make_home(&self, skeleton: Option<&Place>, access: HomeAccess) -> Result<(), Fault> {
        let place = &self.0;
        let make = || {
            let home = make_level(&place.parent, place.name.as_ref())?;
            if let Some(skeleton) = skeleton {
                let from = level(&skeleton.parent, skeleton.name.as_ref())?;
                Copy { access, left: MAX_FILES, steps: skeleton.steps(), account: place.account() }
                    .fill(&from, &home, 0)?;
            }
            hand_over(&home, access, access.mode)
        };
        make().map_err(|error: io::Error| place.refused(&error, FileCall::MakeDirectory))
    }
}

/// Opens a directory so that its owner and mode can be set.
fn level(parent: &Dir, name: &OsStr) -> io::Result<Dir> {
    Ok(Dir::from_std_file(parent.open_with(name, &open::to_set_directory())?.into_std()))
}

/// Makes a directory that is closed to others, and opens it. Another with something in it, which has taken the name meanwhile,
/// is refused.
fn make_level(parent: &Dir, name: &OsStr) -> io::Result<Dir> {
    parent.create_dir_with(name, DirBuilder::new().mode(PRIVATE))?;
    let made = level(parent, name)?;
    if tree::entries(&made)?.is_empty() { Ok(made) } else { Err(Errno::EXIST.into()) }
}

/// The state of copying a skeleton.
struct Copy<'a> {
    access: HomeAccess,
    /// The number of entries that may still be copied.
    left: usize,
    /// The way into the skeleton.
    steps: Steps<'a>,
    account: &'a Account,
}

impl Copy<'_> {
    fn fill(&mut self, from: &Dir, to: &Dir, depth: usize) -> io::Result<()> {
        if depth > MAX_LEVELS {
            return Err(Errno::NAMETOOLONG.into());
        }
        let ended = |ended: Ended| io::Error::from(errno_of(&ended));
        let _open = [tree::opened(self.account)?, tree::opened(self.account)?];
        for (name, kind) in tree::entries(from)? {
            self.left = self.left.checked_sub(1).ok_or(Errno::FBIG)?;
            self.account.spend(Limit::Entries, 1).and_then(|()| disk::leave_room(self.account, to)).map_err(ended)?;
            match kind {
                Kind::Directory => {
                    let source = self.steps.directory(from, &name)?;
                    let copy = make_level(to, &name)?;
                    self.fill(&source, &copy, depth + 1)?;
                    hand_over(&copy, self.access, rustix::fs::fstat(&source)?.st_mode)?;
                }
                Kind::File => {
                    let source = File::from(self.steps.open(from, &name, CONTENT)?);
                    let about = rustix::fs::fstat(&source)?;
                    let bytes = u64::try_from(about.st_size).unwrap_or(0);
                    Disk::of(self.account, to).write(to, bytes).map_err(ended)?;
                    let copy = to.open_with(&name, &open::to_create(0o600))?;
                    io::copy(&mut Paced::new(source, self.account), &mut &copy)?;
                    hand_over(&copy, self.access, about.st_mode)?;
                }
                Kind::Link => {
                    to.symlink_contents(from.read_link_contents(&name)?, &name)?;
                    let link = to.open_with(&name, &open::to_hold())?;
                    give(&link, Some(self.access.uid), Some(self.access.gid))?;
                }
                // Devices, pipes and sockets of a skeleton are not copied.
                _ => {}
            }
        }
        Ok(())
    }
}

/// Sets owner, group and permission bits of an open file, without set-id bits.
fn hand_over(handle: impl AsFd, access: HomeAccess, mode: u32) -> io::Result<()> {
    give(&handle, Some(access.uid), Some(access.gid))?;
    Ok(rustix::fs::fchmod(&handle, Mode::from_raw_mode(mode & 0o1777))?)
}
