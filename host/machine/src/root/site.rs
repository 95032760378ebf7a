//! Effects: calls with one bare name on the handle of a directory for which there is a proof.

use super::fault::{Hint, errno};
use super::{Entry, Fault, Held, ModeBits, NewFileAttributes, Place, StagedFile, UserNumbers, replace, staging, tree};
use cap_std::fs::{DirBuilder, DirBuilderExt as _};
use contract::FileCall;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, RenameFlags, Uid};
use rustix::io::Errno;
use std::io;

/// A place that may be changed. Only [`super::Root`] creates it, from a proof.
#[derive(Debug)]
pub struct Site(pub(super) Place);

/// A directory that may be changed with everything below it.
#[derive(Debug)]
pub struct GrantedSite(Site);

impl GrantedSite {
    pub(super) fn new(place: Place) -> Self {
        Self(Site::new(place))
    }

    /// Removes the entry; a directory with its whole content. Links are removed, not followed.
    ///
    /// # Errors
    /// An entry cannot be removed, or new ones appear faster than they are removed.
    pub fn remove(&self) -> Result<(), Fault> {
        if self.0.entry()?.kind != super::Kind::Directory {
            return self.0.remove_file();
        }
        self.0.may_go(FileCall::RemoveDirectory)?;
        let handle = self.0.0.open_directory()?;
        tree::empty(&handle, self.0.0.steps()).map_err(|stopped| self.0.0.stopped(stopped, FileCall::Change))?;
        self.0.remove_directory()
    }

    /// Gives what a user owns in the directory that is there, and the directory itself, to the user's new numbers. A file with
    /// another group than the user's old one keeps it. In a directory of somebody else's, nothing is done.
    ///
    /// # Errors
    /// It is not a directory, or the kernel refuses.
    pub fn give_files_of(&self, old: UserNumbers, new: UserNumbers) -> Result<(), Fault> {
        let place = &self.0.0;
        let handle = place.open_directory()?;
        tree::give_files_of(&handle, (old, new), place.steps())
            .map_err(|stopped| place.stopped(stopped, FileCall::Change))
    }

    /// Renames the entry.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn rename(&self, target: &Self) -> Result<(), Fault> {
        self.0.rename(&target.0)
    }

    /// Renames the entry to a name that does not exist yet.
    ///
    /// # Errors
    /// The kernel refuses; `EEXIST` if the name exists, `EXDEV` if it is on another file system.
    pub fn rename_to_free(&self, target: &Site) -> Result<(), Fault> {
        self.0.may_go(FileCall::Rename)?;
        target.may_go(FileCall::Rename)?;
        rename_to_free(&self.0.0, &target.0)
    }

    /// Reverses a [`rename_to_free`](Self::rename_to_free).
    ///
    /// # Errors
    /// As for [`rename_to_free`](Self::rename_to_free).
    pub fn rename_back(&self, target: &Site) -> Result<(), Fault> {
        rename_to_free(&target.0, &self.0.0)
    }

    /// Returns the entry at this site.
    ///
    /// # Errors
    /// The entry does not exist, or may not be read.
    pub fn entry(&self) -> Result<Entry, Fault> {
        self.0.entry()
    }
}

impl Site {
    pub(super) fn new(place: Place) -> Self {
        Self(place)
    }

    /// Returns the entry at this site.
    ///
    /// # Errors
    /// The entry does not exist, or may not be read.
    pub fn entry(&self) -> Result<Entry, Fault> {
        self.0.entry()
    }

    /// Opens the regular file at this site for reading.
    ///
    /// # Errors
    /// As [`Place::open_file`].
    pub fn open_file(&self) -> Result<(OwnedFd, Entry), Fault> {
        self.0.open_file()
    }

    /// Creates a directory, subject to the file mode creation mask.
    ///
    /// # Errors
    /// The kernel refuses; `EEXIST` if an entry exists.
    pub fn make_directory(&self, mode: ModeBits) -> Result<(), Fault> {
        self.0.spend_entry()?;
        let mut builder = DirBuilder::new();
        builder.mode(mode.at_creation());
        self.0
            .parent
            .create_dir_with(&self.0.name, &builder)
            .map_err(|error| self.refused(&error, FileCall::MakeDirectory))
    }

    /// Takes the access lists from a directory that was just made, if they are those of a folder that is neither root's nor
    /// the directory's owner's. To be called once the directory has its owner.
    ///
    /// # Errors
    /// The kernel refuses; `EEXIST`: something else has taken its name.
    pub fn refuse_inherited_lists(&self) -> Result<(), Fault> {
        let held = self.hold()?;
        held.require_new_directory()?;
        held.refuse_inherited_lists()
    }

    /// Removes a file, a link, or any other entry except a directory.
    ///
    /// # Errors
    /// The kernel refuses; `EISDIR` for a directory.
    pub fn remove_file(&self) -> Result<(), Fault> {
        self.0.parent.remove_file(&self.0.name).map_err(|error| self.refused(&error, FileCall::Change))
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// The kernel refuses; `ENOTEMPTY`, `ENOTDIR`.
    pub fn remove_directory(&self) -> Result<(), Fault> {
        self.may_go(FileCall::RemoveDirectory)?;
        self.0.parent.remove_dir(&self.0.name).map_err(|error| self.refused(&error, FileCall::RemoveDirectory))
    }

    /// Creates a symbolic link with the text `text`. The text is not checked; a grant is checked when the link is used later.
    /// If `replace` is true, it replaces a file or a link in one step.
    ///
    /// # Errors
    /// The kernel refuses; `EEXIST` if an entry exists, `EISDIR` if it would replace a directory.
    pub fn make_link(&self, text: &str, replace: bool) -> Result<(), Fault> {
        self.name_it(replace, FileCall::LinkSymbolic, |name| self.0.parent.symlink_contents(text, name))
    }

    /// Creates another name (hard link) for the file at another site. Both sites are granted, because a change under either
    /// name changes the file. If `replace` is true, it replaces a file or a link in one step.
    ///
    /// # Errors
    /// As [`make_link`](Self::make_link).
    pub fn make_hard_link(&self, original: &Self, replace: bool) -> Result<(), Fault> {
        let (from, to) = (&original.0, &self.0);
        self.name_it(replace, FileCall::LinkHard, |name| from.parent.hard_link(&from.name, &to.parent, name))
    }

    /// Creates an entry under this name. To replace one, it creates it under another name and renames it, so that the name
    /// always exists.
    fn name_it(&self, replace: bool, call: FileCall, make: impl Fn(&str) -> io::Result<()>) -> Result<(), Fault> {
        self.may_go(call)?;
        self.0.spend_entry()?;
        if !replace {
            return make(&self.0.name).map_err(|error| self.refused(&error, call));
        }
        let name = staging::unused_name(&self.0.name, &make).map_err(|error| self.refused(&error, call))?;
        let parent = &self.0.parent;
        parent.rename(&name, parent, &self.0.name).map_err(|error| {
            let _ = parent.remove_file(&name);
            self.refused(&error, FileCall::Change)
        })
    }

    /// Renames a file or a link, and replaces an existing entry of the new name.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn rename(&self, target: &Self) -> Result<(), Fault> {
        self.may_go(FileCall::Rename)?;
        target.may_go(FileCall::Rename)?;
        let (from, to) = (&self.0, &target.0);
        let renamed = from.parent.rename(&from.name, &to.parent, &to.name);
        renamed.map_err(|error| self.refused(&error, FileCall::Rename))
    }

    /// Refuses an effect that would remove, or replace by a link, a path that is mounted at the next start.
    fn may_go(&self, call: FileCall) -> Result<(), Fault> {
        self.0.boot_mounts.check(self.0.real()).map_err(|errno| {
            let fault = Fault::new(errno, call, self.0.real());
            if errno == Errno::BUSY { fault.because(Hint::BootMount) } else { fault }
        })
    }

    /// Opens what has the name, to look at it and to set its owner and mode.
    ///
    /// # Errors
    /// Nothing has it.
    pub fn hold(&self) -> Result<Held<'_>, Fault> {
        Held::of(self)
    }

    /// Starts a new file beside this site, for [`StagedFile::publish`].
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn stage(&self, creation_mode: ModeBits) -> Result<StagedFile, Fault> {
        replace::stage(&self.0, creation_mode)
    }

    /// Replaces the content in one step, with all attributes set before anyone can see it.
    ///
    /// # Errors
    /// The file cannot be written or renamed; then the target is as before. Only if the content was written in place, the
    /// target may have a part of it.
    pub fn write(
        &self,
        content: &[u8],
        creation_mode: ModeBits,
        new_attributes: &NewFileAttributes,
    ) -> Result<(), Fault> {
        let mut staged = self.stage(creation_mode)?;
        staged.write(content)?;
        staged.publish(new_attributes)
    }

    pub(super) fn fault(&self, errno: Errno, call: FileCall) -> Fault {
        Fault::new(errno, call, self.0.real())
    }

    pub(super) fn refused(&self, error: &io::Error, call: FileCall) -> Fault {
        self.fault(errno(error), call)
    }
}

/// Sets owner and group of the file behind an open descriptor, also of a link.
pub(super) fn give(handle: impl AsFd, uid: Option<u32>, gid: Option<u32>) -> Result<(), Errno> {
    rustix::fs::chownat(handle, "", uid.map(Uid::from_raw), gid.map(Gid::from_raw), AtFlags::EMPTY_PATH)
}

fn rename_to_free(from: &Place, to: &Place) -> Result<(), Fault> {
    let flags = RenameFlags::NOREPLACE;
    rustix::fs::renameat_with(&from.parent, from.name.as_str(), &to.parent, to.name.as_str(), flags)
        .map_err(|errno| Fault::new(errno, FileCall::Rename, from.real()))
}
