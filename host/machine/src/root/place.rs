//! Looking at a place that a path leads to: what is there, its content, its names.

use super::fault::errno;
use super::{Entry, Fault, Kind, Place, disk, fault, open, tree};
use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use contract::{Account, FileCall, Limit};
use grants::{Denied, GrantedTree, PolicyGrants};
use rustix::fd::OwnedFd;
use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;
use std::io;

impl Place {
    /// The absolute path without links, as seen from inside the root.
    pub fn real(&self) -> &str {
        &self.real
    }

    /// What is done there is charged to it.
    pub(super) fn account(&self) -> &Account {
        self.open.account()
    }

    /// The last component; `.` for the root itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is there; a link is not followed.
    ///
    /// # Errors
    /// Nothing is there, or it may not be looked at.
    pub fn entry(&self) -> Result<Entry, Fault> {
        let metadata = self.parent.symlink_metadata(&self.name);
        metadata.map(|it| Entry::of_metadata(&it)).map_err(|error| self.refused(&error, FileCall::LookAtLink))
    }

    /// Opens the regular file that is there, for reading.
    ///
    /// # Errors
    /// It is not a plain file (a directory: `EISDIR`, anything else: `EINVAL`), or may not be read.
    pub fn open_file(&self) -> Result<(OwnedFd, Entry), Fault> {
        let wrong = |kind| match kind {
            Kind::File => None,
            Kind::Directory => Some(Errno::ISDIR),
            _ => Some(Errno::INVAL),
        };
        // Opening a device or a pipe can have effects, so it is looked at before; and again, since it may be swapped.
        if let Some(errno) = wrong(self.entry()?.kind) {
            return Err(self.fault(errno, FileCall::Open));
        }
        let opened = self.parent.open_with(&self.name, &open::to_read());
        let handle = OwnedFd::from(opened.map_err(|error| self.refused(&error, FileCall::Open))?);
        let entry = Entry::of(&rustix::fs::fstat(&handle).map_err(|errno| self.fault(errno, FileCall::LookAtLink))?);
        match wrong(entry.kind) {
            Some(errno) => Err(self.fault(errno, FileCall::Open)),
            None => Ok((handle, entry)),
        }
    }

    /// What the link that is there says.
    ///
    /// # Errors
    /// It is not a link, or says something that is not UTF-8.
    pub fn read_link(&self) -> Result<String, Fault> {
        let text = self.parent.read_link_contents(&self.name);
        let text = text.map_err(|error| self.refused(&error, FileCall::ReadLink))?;
        text.into_os_string().into_string().map_err(|_| self.fault(Errno::ILSEQ, FileCall::ReadLink))
    }

    /// The names in the directory that is there, sorted; those that are not UTF-8 with replacement characters.
    ///
    /// # Errors
    /// It is not a directory, or may not be read.
    pub fn names(&self) -> Result<Vec<String>, Fault> {
        let handle = self.open_directory()?;
        tree::names(&handle).map_err(|errno| self.fault(errno, FileCall::List))
    }

    /// Whether this process may create and remove names in the directory that is there.
    pub fn is_writable(&self) -> bool {
        let flags = AtFlags::EACCESS;
        rustix::fs::accessat(&self.parent, self.name.as_str(), Access::WRITE_OK, flags).is_ok()
    }

    /// All real paths below the directory that is there, parents after what is in them. Links are not followed.
    ///
    /// # Errors
    /// It may not be read, changes meanwhile, or holds more than [`tree::MAXIMUM_ENTRIES`] names.
    pub fn descendants(&self) -> Result<Vec<(String, Kind)>, Fault> {
        let handle = self.open_directory()?;
        tree::descendants(&handle, &self.real, self.account()).map_err(|errno| self.fault(errno, FileCall::List))
    }

    /// Whether all that is in the directory that is there may be changed with it: keys need a rule of their own. Of
    /// anything but a directory, nothing is in it.
    ///
    /// # Errors
    /// It may not be read, changes meanwhile, or holds too many names; a name is not granted.
    pub fn require_below(&self, grants: &PolicyGrants, tree: &GrantedTree) -> Result<Result<(), Denied>, Fault> {
        if grants.allows_everything() || self.entry()?.kind != Kind::Directory {
            return Ok(Ok(()));
        }
        Ok(self.names_below()?.iter().try_for_each(|name| grants.manage_below(tree, name)))
    }

    /// All names below the directory that is there, as seen from it, to be looked at and not to be opened: what is not
    /// UTF-8 in them is replaced.
    ///
    /// # Errors
    /// It may not be read, changes meanwhile, or holds more than [`tree::MAXIMUM_ENTRIES`] names.
    pub fn names_below(&self) -> Result<Vec<String>, Fault> {
        let handle = self.open_directory()?;
        tree::names_below(&handle, self.account()).map_err(|errno| self.fault(errno, FileCall::List))
    }

    pub(super) fn open_directory(&self) -> Result<Dir, Fault> {
        self.parent.open_dir_nofollow(&self.name).map_err(|error| self.refused(&error, FileCall::List))
    }

    /// Charges an entry that is about to be made there, and keeps the floor of the file system.
    pub(super) fn spend_entry(&self) -> Result<(), Fault> {
        let charged =
            self.account().spend(Limit::Entries, 1).and_then(|()| disk::leave_room(self.account(), &self.parent));
        charged.map_err(|ended| self.fault(fault::errno_of(&ended), FileCall::Open))
    }

    pub(super) fn refused(&self, error: &io::Error, call: FileCall) -> Fault {
        self.fault(errno(error), call)
    }

    pub(super) fn fault(&self, errno: Errno, call: FileCall) -> Fault {
        Fault::new(errno, call, &self.real).reached(self.real.clone())
    }
}
