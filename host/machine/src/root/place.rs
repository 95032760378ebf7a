//! Reads a place that a path leads to: its entry, content and names.

use super::fault::errno;
use super::step::{Steps, Stopped};
use super::{Entry, Fault, Kind, Place, disk, fault, open, tree};
use cap_fs_ext::DirExt as _;
use cap_std::fs::Dir;
use contract::{Account, FileCall, Limit};
use grants::{Denied, GrantedTree, PolicyGrants};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;
use std::io;

impl Place {
    /// Returns the absolute path without links, as seen from inside the root.
    pub fn real(&self) -> &str {
        &self.real
    }

    /// Returns the account that pays for operations at this place.
    pub(super) fn account(&self) -> &Account {
        self.open.account()
    }

    /// Returns the last component; `.` for the root itself.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the entry at this place; does not follow a link.
    ///
    /// # Errors
    /// The entry does not exist, or may not be read.
    pub fn entry(&self) -> Result<Entry, Fault> {
        let metadata = self.parent.symlink_metadata(&self.name);
        metadata.map(|it| Entry::of_metadata(&it)).map_err(|error| self.refused(&error, FileCall::LookAtLink))
    }

    /// Opens the regular file at this place for reading.
    ///
    /// # Errors
    /// The entry is not a regular file (a directory: `EISDIR`, anything else: `EINVAL`), or may not be read.
    pub fn open_file(&self) -> Result<(OwnedFd, Entry), Fault> {
        let wrong = |kind| match kind {
            Kind::File => None,
            Kind::Directory => Some(Errno::ISDIR),
            _ => Some(Errno::INVAL),
        };
        // Opening a device or a pipe can have effects, so the kind is checked on a handle that opens nothing.
        let held = self.parent.open_with(&self.name, &open::to_hold());
        let held = held.map_err(|error| self.refused(&error, FileCall::Open))?;
        let entry = self.entry_of(&held)?;
        if let Some(errno) = wrong(entry.kind) {
            return Err(self.fault(errno, FileCall::Open));
        }
        match plain_files::reopen(&held) {
            Ok(handle) => Ok((handle.into(), entry)),
            // Without `/proc` it is opened by its name, and may be another file by then.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let opened = self.parent.open_with(&self.name, &open::to_read());
                let handle = OwnedFd::from(opened.map_err(|error| self.refused(&error, FileCall::Open))?);
                let entry = self.entry_of(&handle)?;
                wrong(entry.kind).map_or(Ok((handle, entry)), |errno| Err(self.fault(errno, FileCall::Open)))
            }
            Err(error) => Err(self.refused(&error, FileCall::Open)),
        }
    }

    fn entry_of(&self, handle: impl AsFd) -> Result<Entry, Fault> {
        Ok(Entry::of(&rustix::fs::fstat(handle).map_err(|errno| self.fault(errno, FileCall::LookAtLink))?))
    }

    /// Returns the text of the link at this place.
    ///
    /// # Errors
    /// The entry is not a link, or its text is not UTF-8.
    pub fn read_link(&self) -> Result<String, Fault> {
        let text = self.parent.read_link_contents(&self.name);
        let text = text.map_err(|error| self.refused(&error, FileCall::ReadLink))?;
        text.into_os_string().into_string().map_err(|_| self.fault(Errno::ILSEQ, FileCall::ReadLink))
    }

    /// Returns the sorted names in the directory at this place. Names that are not UTF-8 get replacement characters.
    ///
    /// # Errors
    /// The entry is not a directory, or may not be read.
    pub fn names(&self) -> Result<Vec<String>, Fault> {
        self.names_and_identity().map(|(names, _)| names)
    }

    /// Returns the same names, and the device and inode number of the directory that was read.
    ///
    /// # Errors
    /// As [`names`](Self::names).
    pub(crate) fn names_and_identity(&self) -> Result<(Vec<String>, (u64, u64)), Fault> {
        let handle = self.open_directory()?;
        let entry = Entry::of(&rustix::fs::fstat(&handle).map_err(|errno| self.fault(errno, FileCall::List))?);
        let names = tree::names(&handle).map_err(|errno| self.fault(errno, FileCall::List))?;
        Ok((names, entry.identity))
    }

    /// Tells whether this process may create and remove names in the directory at this place.
    pub fn is_writable(&self) -> bool {
        let flags = AtFlags::EACCESS;
        rustix::fs::accessat(&self.parent, self.name.as_str(), Access::WRITE_OK, flags).is_ok()
    }

    /// Returns all real paths below the directory at this place. The content of a directory comes before the directory. Links
    /// are not followed.
    ///
    /// # Errors
    /// The directory may not be read, changes meanwhile, or has more than [`tree::MAX_ENTRIES`] names.
    pub fn descendants(&self) -> Result<Vec<(String, Kind)>, Fault> {
        let handle = self.open_directory()?;
        tree::descendants(&handle, &self.real, self.steps()).map_err(|stopped| self.stopped(stopped, FileCall::List))
    }

    /// Checks whether the whole content of the directory at this place may be changed with it: keys need their own rule. For
    /// anything but a directory this succeeds.
    ///
    /// # Errors
    /// The directory may not be read, changes meanwhile, or has too many names. The inner error means that a name is not
    /// granted.
    pub fn require_below(&self, grants: &PolicyGrants, tree: &GrantedTree) -> Result<Result<(), Denied>, Fault> {
        if grants.allows_everything() || self.entry()?.kind != Kind::Directory {
            return Ok(Ok(()));
        }
        Ok(self.names_below()?.iter().try_for_each(|name| grants.manage_below(tree, name)))
    }

    /// Returns all names below the directory at this place, relative to it. They are for checks and not for opening, because
    /// parts that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// The directory may not be read, changes meanwhile, or has more than [`tree::MAX_ENTRIES`] names.
    pub fn names_below(&self) -> Result<Vec<String>, Fault> {
        let handle = self.open_directory()?;
        tree::names_below(&handle, self.steps()).map_err(|stopped| self.stopped(stopped, FileCall::List))
    }

    pub(super) fn open_directory(&self) -> Result<Dir, Fault> {
        self.parent.open_dir_nofollow(&self.name).map_err(|error| self.refused(&error, FileCall::List))
    }

    /// Charges a new entry at this place, and requires the operator's minimum of free space.
    pub(super) fn spend_entry(&self) -> Result<(), Fault> {
        let charged =
            self.account().spend(Limit::Entries, 1).and_then(|()| disk::leave_room(self.account(), &self.parent));
        charged.map_err(|ended| self.fault(fault::errno_of(&ended), FileCall::Open))
    }

    /// Returns the way into the entries of directories, for walks that this place's account pays for.
    pub(super) fn steps(&self) -> Steps<'_> {
        Steps::new(&self.remote, self.account())
    }

    pub(super) fn stopped(&self, stopped: Stopped, call: FileCall) -> Fault {
        match stopped.silent {
            Some(silent) => {
                Fault::new(stopped.errno, call, &silent).reached(silent.clone()).because(fault::Hint::Silent)
            }
            None => self.fault(stopped.errno, call),
        }
    }

    pub(super) fn refused(&self, error: &io::Error, call: FileCall) -> Fault {
        self.fault(errno(error), call)
    }

    pub(super) fn fault(&self, errno: Errno, call: FileCall) -> Fault {
        Fault::new(errno, call, &self.real).reached(self.real.clone())
    }
}
