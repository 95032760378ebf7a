//! New content for a file: written beside it, dressed, and put in place by one rename.
//!
//! At every instant the name leads to the whole old file or the whole new one, with the right owner and mode. Data are
//! flushed to the disk before the rename where an old file is replaced, so that a power failure cannot leave an empty one;
//! a file that is new is not flushed, since the next converge makes it again and a flush per file costs milliseconds.
//! Extended attributes (labels, access lists) of the old file are kept, except those that vouch for its content.

use super::fault::{errno, errno_of};
use super::staging::{self, unused_file};
use super::{Disk, Entry, Fault, Place, access_list, open};
use crate::pace::looked_at;
use crate::remarks::remark;
use cap_std::fs::Dir;
use contract::{Account, FileCall, LogLevel, OpenFile};
use grants::GrantedMode;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Gid, Mode, RenameFlags, Uid, XattrFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Seek, Write};

/// How much is copied at once, in bytes.
const CHUNK: usize = 64 << 10;

/// Room for the names of a file's extended attributes, and for one value: the kernel's own limit.
const MAXIMUM_ATTRIBUTE: usize = 64 << 10;

/// Attributes that say something about the content they were made for.
const CONTENT_ATTRIBUTES: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];

/// Permission bits that may be set: granted ones, or plain ones. Bits that were granted for a directory are refused
/// for anything else, by the handle that is open when they are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModeBits {
    bits: u32,
    only_directory: bool,
}

impl ModeBits {
    /// Bits that give no one else's rights away: set-id ones are dropped.
    pub const fn plain(bits: u32) -> Self {
        Self { bits: bits & 0o1777, only_directory: false }
    }

    /// The bits themselves, set-id and sticky ones too.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// The bits with which something is made: never set-id ones, which are set on the open handle afterwards.
    pub(super) const fn at_creation(self) -> u32 {
        self.bits & 0o1777
    }

    /// The bits for something of this kind.
    ///
    /// # Errors
    /// They were granted for a directory, and this is none: `ENOTDIR`.
    pub(super) fn of(self, kind: super::Kind) -> Result<u32, Errno> {
        if self.only_directory && kind != super::Kind::Directory { Err(Errno::NOTDIR) } else { Ok(self.bits) }
    }
}

impl From<&GrantedMode> for ModeBits {
    fn from(granted: &GrantedMode) -> Self {
        Self { bits: granted.bits_of_directory() & 0o7777, only_directory: granted.bits_of_file().is_none() }
    }
}

/// What a new file gets before it is put in place.
#[derive(Debug, Default)]
pub struct NewFileAttributes {
    /// Permission bits; none: those it was staged with.
    pub mode: Option<ModeBits>,
    /// Owner; none: as made.
    pub uid: Option<u32>,
    /// Group; none: as made.
    pub gid: Option<u32>,
    /// The file it replaces: its attributes are kept, and its owner and group if no others are said.
    pub old: Option<OwnedFd>,
    /// True: the content is written over the old one's. None: only where it cannot be replaced. False: never.
    pub in_place: Option<bool>,
    /// Nothing has the target's name: what somebody else makes there meanwhile is not replaced (`EEXIST`).
    pub is_new: bool,
}

/// A file that is being written under a name of its own, and vanishes unless it is put in place.
#[derive(Debug)]
pub struct StagedFile {
    account: Account,
    disk: Disk,
    _open: [OpenFile; 2],
    file: File,
    parent: Dir,
    name: String,
    target: String,
    /// Real path of the target.
    real: String,
    published: bool,
}

pub(super) fn stage(place: &Place, creation_mode: ModeBits) -> Result<StagedFile, Fault> {
    let fault = |errno| Fault::new(errno, FileCall::Open, place.real());
    place.spend_entry()?;
    let parent = place.parent.try_clone().map_err(|_| fault(Errno::MFILE))?;
    let options = open::to_create(creation_mode.at_creation());
    let (name, file) = unused_file(&parent, place.name(), &options).map_err(|error| fault(errno(&error)))?;
    let (target, real) = (place.name().to_owned(), place.real().to_owned());
    let account = place.account().clone();
    let (disk, _open) = (Disk::of(&account, &file), [account.open_file(), account.open_file()]);
    Ok(StagedFile { account, disk, _open, file, parent, name, target, real, published: false })
}

impl StagedFile {
    /// The staged file's own real path.
    pub fn path(&self) -> String {
        match self.real.rsplit_once('/') {
            Some((parent, _)) => format!("{parent}/{}", self.name),
            None => self.name.clone(),
        }
    }

    /// A name for a copy of it that is kept elsewhere. No other copy of this process has it.
    pub fn copys_name(&self) -> String {
        staging::own_name(&self.target)
    }

    /// The name of the file that it is for.
    pub fn target_name(&self) -> &str {
        &self.target
    }

    /// Gives it to another user, by number.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn give_to(&self, uid: u32) -> Result<(), Fault> {
        let given = rustix::fs::fchown(&self.file, Some(Uid::from_raw(uid)), None);
        given.map_err(|errno| Fault::new(errno, FileCall::Change, &self.path()))
    }

    /// Adds content.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn write(&mut self, content: &[u8]) -> Result<(), Fault> {
        self.spend_on(&self.disk, &self.file, content.len())?;
        self.file.write_all(content).map_err(|error| self.input_output(&error))
    }

    /// Adds all of another open file.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn copy_from(&mut self, content: io::Result<File>) -> Result<(), Fault> {
        let mut content = content.map_err(|error| self.input_output(&error))?;
        let mut buffer = vec![0; CHUNK];
        loop {
            let length = content.read(&mut buffer).map_err(|error| self.input_output(&error))?;
            match buffer.get(..length) {
                Some(chunk) if !chunk.is_empty() => self.write(chunk)?,
                _ => return Ok(()),
            }
        }
    }

    /// What was written so far, from the beginning.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn content(&self) -> Result<File, Fault> {
        let mut file = self.file.try_clone().map_err(|error| self.input_output(&error))?;
        file.rewind().map_err(|error| self.input_output(&error))?;
        Ok(file)
    }

    /// Gives it its attributes and puts it in place of its target in one step.
    ///
    /// # Errors
    /// The kernel refuses; then it is removed and the target is as before.
    pub fn publish(mut self, new_attributes: &NewFileAttributes) -> Result<(), Fault> {
        let fault = |errno| Fault::new(errno, FileCall::Change, &self.real);
        put_on(new_attributes, &self.file, Some(&self.parent)).map_err(fault)?;
        let rename = || {
            if new_attributes.old.is_some() {
                rustix::fs::fdatasync(&self.file)?;
            }
            if new_attributes.is_new { self.take_free_name() } else { self.take_name() }
        };
        match rename().map_err(|error: io::Error| errno(&error)) {
            Ok(()) => {
                self.published = true;
                Ok(())
            }
            // The target is a mount point (a container runtime mounts single files): its name cannot be given away.
            Err(Errno::BUSY) if new_attributes.in_place != Some(false) => self.pour(new_attributes),
            Err(errno) => Err(Fault::new(errno, FileCall::Rename, &self.real)),
        }
    }

    /// What has the target's name now; a link is not followed.
    ///
    /// # Errors
    /// Nothing, or it may not be looked at.
    pub fn target_entry(&self) -> Result<Entry, Fault> {
        let metadata = self.parent.symlink_metadata(&self.target);
        metadata
            .map(|metadata| Entry::of_metadata(&metadata))
            .map_err(|error| Fault::new(errno(&error), FileCall::LookAtLink, &self.real))
    }

    fn take_name(&self) -> io::Result<()> {
        self.parent.rename(&self.name, &self.parent, &self.target)
    }

    /// The same, unless something has the name.
    fn take_free_name(&self) -> io::Result<()> {
        let (name, target, flags) = (self.name.as_str(), self.target.as_str(), RenameFlags::NOREPLACE);
        match rustix::fs::renameat_with(&self.parent, name, &self.parent, target, flags) {
            // The file system does not know the flag: a look right before the rename is the next best.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match self.target_entry() {
                Ok(_) => Err(Errno::EXIST.into()),
                Err(fault) if fault.is_absence() => self.take_name(),
                Err(fault) => Err(fault.errno.into()),
            },
            renamed => Ok(renamed?),
        }
    }

    /// Writes the content over the target's, which keeps its identity. A reader may see half of it.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn pour(self, new_attributes: &NewFileAttributes) -> Result<(), Fault> {
        let mut content = self.content()?;
        let open = || {
            let file = self.parent.open_with(&self.target, &open::to_write())?.into_std();
            if Entry::of(&rustix::fs::fstat(&file)?).kind != super::Kind::File {
                return Err(io::Error::from(Errno::INVAL));
            }
            // What stood for the old content must not stand for the new one, however far it comes.
            withdraw(new_attributes, &file)?;
            file.set_len(0)?;
            Ok(file)
        };
        // It is emptied only if there is time to begin.
        let ended = |ended| Fault::new(errno_of(&ended), FileCall::Open, &self.real);
        self.account.check().map_err(ended)?;
        let mut target = open().map_err(|error| self.input_output(&error))?;
        if let Err(fault) = self.pour_into(&mut target, &mut content) {
            let line = format!("{} holds only the beginning of its new content: {fault}", self.real);
            remark(&self.account, LogLevel::Error, &line);
            return Err(fault);
        }
        put_on(new_attributes, &target, None).map_err(|errno| Fault::new(errno, FileCall::Change, &self.real))
    }

    /// Copies all of the content, as long as the policy may go on.
    fn pour_into(&self, target: &mut File, content: &mut File) -> Result<(), Fault> {
        let disk = Disk::of(&self.account, &*target);
        let mut buffer = vec![0; CHUNK];
        loop {
            let length = content.read(&mut buffer).map_err(|error| self.input_output(&error))?;
            let Some(chunk) = buffer.get(..length).filter(|chunk| !chunk.is_empty()) else { return Ok(()) };
            self.spend_on(&disk, &*target, chunk.len())?;
            target.write_all(chunk).map_err(|error| self.input_output(&error))?;
        }
    }

    /// Charges bytes that are about to be written, and looks whether the policy may go on.
    fn spend_on(&self, disk: &Disk, file: &File, bytes: usize) -> Result<(), Fault> {
        let spent = disk.write(file, bytes as u64);
        spent.map_err(|ended| Fault::new(errno_of(&ended), FileCall::Open, &self.real))?;
        looked_at(&self.account, bytes).map_err(|error| self.input_output(&error))
    }

    fn input_output(&self, error: &io::Error) -> Fault {
        Fault::new(Errno::from_io_error(error).unwrap_or(Errno::IO), FileCall::Open, &self.real)
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.published {
            // Nothing can be done about a leftover that cannot be removed; its name says what it is.
            let _ = self.parent.remove_file(&self.name);
        }
    }
}

/// Takes from an open file, before its content changes, the permission bits that it will not have, set-id ones above all, and
/// gives it the new owner.
fn withdraw(new_attributes: &NewFileAttributes, file: &File) -> Result<(), Errno> {
    let now = Entry::of(&rustix::fs::fstat(file)?);
    let wanted = new_attributes.mode.map_or(Ok(now.mode), |mode| mode.of(now.kind))?;
    let bits = now.mode & wanted & 0o777;
    if bits != now.mode & 0o7777 {
        match rustix::fs::fchmod(file, Mode::from_raw_mode(bits)) {
            // Nobody asked for another mode, and the kernel takes set-id bits away from what others than root write to.
            Err(Errno::PERM) if new_attributes.mode.is_none() => {}
            other => other?,
        }
    }
    give(new_attributes, &now, None, file)
}

/// Gives an open file its owner and group: those that are asked for, else those of the file that it replaces.
fn give(new_attributes: &NewFileAttributes, now: &Entry, old: Option<Entry>, file: &File) -> Result<(), Errno> {
    let uid = new_attributes.uid.or(old.map(|old| old.uid)).filter(|uid| *uid != now.uid);
    let gid = new_attributes.gid.or(old.map(|old| old.gid)).filter(|gid| *gid != now.gid);
    if uid.is_none() && gid.is_none() {
        return Ok(());
    }
    match rustix::fs::fchown(file, uid.map(Uid::from_raw), gid.map(Gid::from_raw)) {
        // Only root can keep another's ownership; as anyone else, the new file is one's own.
        Err(Errno::PERM) if new_attributes.uid.is_none() && new_attributes.gid.is_none() => Ok(()),
        other => other,
    }
}

/// Gives an open file owner, attributes and mode. `folder`: the file was just made there.
fn put_on(new_attributes: &NewFileAttributes, file: &File, folder: Option<&Dir>) -> Result<(), Errno> {
    let now = Entry::of(&rustix::fs::fstat(file)?);
    let old = new_attributes.old.as_ref().and_then(|old| rustix::fs::fstat(old).ok()).map(|stat| Entry::of(&stat));
    give(new_attributes, &now, old, file)?;
    if let Some(folder) = folder {
        refuse_inherited_list(file, folder)?;
    }
    if let Some(from) = &new_attributes.old {
        let dressed = Entry::of(&rustix::fs::fstat(file)?);
        // Whoever owned the old file may have named others in its access list, and whoever owned the folder in the list for new ones.
        let keeps_list = old.is_some_and(|old| (old.uid, old.gid) == (dressed.uid, dressed.gid));
        if !keeps_list {
            let _none = rustix::fs::fremovexattr(file, access_list::ACCESS);
        }
        copy_attributes(from, file, keeps_list);
    }
    // Last: a change of owner takes set-id bits away.
    let Some(mode) = new_attributes.mode else { return Ok(()) };
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode.of(now.kind)?))
}

/// Takes from a new file the access list that it has from its folder, if that folder is neither root's nor the file's owner's:
/// others would read and write what the file's mode keeps from them.
fn refuse_inherited_list(file: &File, folder: &Dir) -> Result<(), Errno> {
    let (owner, folder) = (rustix::fs::fstat(file)?.st_uid, rustix::fs::fstat(folder)?.st_uid);
    if folder == 0 || folder == owner { Ok(()) } else { access_list::remove(file) }
}

/// Copies extended attributes as far as the file system takes them.
fn copy_attributes(old: &OwnedFd, new: impl AsFd, keeps_list: bool) {
    let mut names = Vec::with_capacity(MAXIMUM_ATTRIBUTE);
    if rustix::fs::flistxattr(old, rustix::buffer::spare_capacity(&mut names)).is_err() || names.is_empty() {
        return;
    }
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if CONTENT_ATTRIBUTES.contains(&name) || (!keeps_list && name == access_list::ACCESS.as_bytes()) {
            continue;
        }
        let mut value = Vec::with_capacity(MAXIMUM_ATTRIBUTE);
        if rustix::fs::fgetxattr(old, name, rustix::buffer::spare_capacity(&mut value)).is_ok() {
            let _ = rustix::fs::fsetxattr(&new, name, &value, XattrFlags::empty());
        }
    }
}
