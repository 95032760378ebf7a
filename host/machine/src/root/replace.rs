//! Replaces the content of a file: writes it to a new file beside it, sets the attributes, and renames it in one step.
//!
//! At every moment the name leads to the whole old file or the whole new one, with the right owner and mode. If an old file
//! is replaced, the data are flushed to the disk before the rename. So a power failure cannot leave an empty file. A new file
//! is not flushed: the next converge would create it again, and each flush costs milliseconds. Extended attributes (labels,
//! access lists) of the old file are kept, except those that certify its content.

use super::fault::{errno, errno_of};
use super::held::timestamps;
use super::staging::{self, unused_file};
use super::{Disk, Entry, Fault, Place, Root, access_list, open};
use crate::digest::Digest;
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

/// Maximum number of names in a note. There are several only while other processes hold the files.
const MAX_NOTED: usize = 16;

/// The size of one copied block, in bytes.
const CHUNK: usize = 64 << 10;

/// Maximum size of the list of a file's extended attributes, and of one value, in bytes: the kernel's own limit.
const MAX_ATTRIBUTE: usize = 64 << 10;

/// Attributes that certify the content for which they were set.
const CONTENT_ATTRIBUTES: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];

/// Permission bits that may be set, either granted or plain. If bits were granted for a directory, they are refused for any
/// other kind of entry. That check uses the open handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModeBits {
    bits: u32,
    only_directory: bool,
}

impl ModeBits {
    /// Creates bits without set-id bits, which would give away rights of the owner or group.
    pub const fn plain(bits: u32) -> Self {
        Self { bits: bits & 0o1777, only_directory: false }
    }

    /// Returns all bits, including set-id and sticky bits.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Returns the bits for creating an entry: without set-id bits, which are set later on the open handle.
    pub(super) const fn at_creation(self) -> u32 {
        self.bits & 0o1777
    }

    /// Returns the bits for an entry of this kind.
    ///
    /// # Errors
    /// The bits were granted for a directory, and the entry is not one (`ENOTDIR`).
    pub(super) fn of(self, kind: super::Kind) -> Result<u32, Errno> {
        if self.only_directory && kind != super::Kind::Directory { Err(Errno::NOTDIR) } else { Ok(self.bits) }
    }
}

impl From<&GrantedMode> for ModeBits {
    fn from(granted: &GrantedMode) -> Self {
        Self { bits: granted.bits_of_directory() & 0o7777, only_directory: granted.bits_of_file().is_none() }
    }
}

/// The attributes of a new file, set before it gets its name.
#[derive(Debug, Default)]
pub struct NewFileAttributes {
    /// Permission bits. `None`: those of the staged file.
    pub mode: Option<ModeBits>,
    /// Numeric id of the owner. `None`: that of the old file, else the one at creation.
    pub uid: Option<u32>,
    /// Numeric id of the group. `None`: that of the old file, else the one at creation.
    pub gid: Option<u32>,
    /// The file to replace. Its extended attributes are kept, and also its owner and group unless others are given.
    pub old: Option<OwnedFd>,
    /// True: overwrite the content of the old file. `None`: only if the file cannot be replaced. False: never.
    pub in_place: Option<bool>,
    /// True if the target does not exist. A file that appears there meanwhile is not replaced (`EEXIST`).
    pub is_new: bool,
    /// Times of last access and last change, in seconds since 1970. `None`: the present.
    pub times: Option<(i64, i64)>,
}

/// A new file under a temporary name. It is removed unless it is published.
#[derive(Debug)]
pub struct StagedFile {
    account: Account,
    disk: Disk,
    _open: [OpenFile; 2],
    pub(super) file: File,
    parent: Dir,
    name: String,
    target: String,
    /// The real path of the target.
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
    /// Returns the staged file's own real path.
    pub fn path(&self) -> String {
        match self.real.rsplit_once('/') {
            Some((parent, _)) => format!("{parent}/{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Gives the staged file a name that nobody can foresee. Programs that read it may write files beside it whose names they
    /// make from its name: nobody can have laid a link there.
    ///
    /// The name is first written into a note in `folder` of `own`, a directory of wrun's own. If the process is killed, the
    /// next call for the same target finds the file by the note, and removes it. Returns the path of the note.
    ///
    /// # Errors
    /// The note cannot be written; the kernel refuses the system call.
    pub fn take_secret_name(&mut self, own: &Root, folder: &str) -> Result<String, Fault> {
        let failed = |path: &str, error: &io::Error| Fault::new(errno(error), FileCall::Rename, path);
        let note = format!("{folder}/{}", Digest::of(self.real.as_bytes()).text());
        let noted = own.read(&note).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let mut names = staging::remove_noted_leftovers(&self.parent, &self.target, noted);
        let name = staging::secret_name(&self.target).map_err(|error| failed(&self.path(), &error))?;
        names.push(name.clone());
        let excess = names.len().saturating_sub(MAX_NOTED);
        let text = serde_json::to_vec(names.get(excess..).unwrap_or_default());
        let mut file = own.own_site(&note)?.stage(ModeBits::plain(0o600))?;
        file.write(&text.map_err(|error| failed(&note, &error.into()))?)?;
        file.publish(&NewFileAttributes::default())?;
        let renamed = self.parent.rename(&self.name, &self.parent, &name);
        renamed.map_err(|error| failed(&self.path(), &error))?;
        self.name = name;
        Ok(note)
    }

    /// Returns a name for a copy that is kept elsewhere. No other copy of this process gets this name.
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
    /// The kernel refuses the system call.
    pub fn give_to(&self, uid: u32) -> Result<(), Fault> {
        let given = rustix::fs::fchown(&self.file, Some(Uid::from_raw(uid)), None);
        given.map_err(|errno| Fault::new(errno, FileCall::Change, &self.path()))
    }

    /// Appends content.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn write(&mut self, content: &[u8]) -> Result<(), Fault> {
        self.spend_on(&self.disk, &self.file, content.len())?;
        self.file.write_all(content).map_err(|error| self.input_output(&error))
    }

    /// Appends the whole content of another open file.
    ///
    /// # Errors
    /// Reading or writing fails.
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

    /// Returns a reader of the content so far, from the beginning.
    ///
    /// # Errors
    /// Reading fails.
    pub fn content(&self) -> Result<File, Fault> {
        let mut file = self.file.try_clone().map_err(|error| self.input_output(&error))?;
        file.rewind().map_err(|error| self.input_output(&error))?;
        Ok(file)
    }

    /// Sets its attributes and renames it to its target in one step.
    ///
    /// # Errors
    /// The kernel refuses a call. The staged file is then removed, and the target is as before. Only if the content was
    /// written in place, the target may have a part of the new content.
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
            // The target is a mount point (container runtimes mount single files), so it cannot be replaced by a rename.
            Err(Errno::BUSY) if new_attributes.in_place != Some(false) => self.pour(new_attributes),
            Err(errno) => Err(Fault::new(errno, FileCall::Rename, &self.real)),
        }
    }

    /// Returns the present entry with the target's name; does not follow a link.
    ///
    /// # Errors
    /// The entry does not exist, or may not be read.
    pub fn target_entry(&self) -> Result<Entry, Fault> {
        let metadata = self.parent.symlink_metadata(&self.target);
        metadata
            .map(|metadata| Entry::of_metadata(&metadata))
            .map_err(|error| Fault::new(errno(&error), FileCall::LookAtLink, &self.real))
    }

    fn take_name(&self) -> io::Result<()> {
        self.parent.rename(&self.name, &self.parent, &self.target)
    }

    /// Does the same, unless the name exists.
    fn take_free_name(&self) -> io::Result<()> {
        let (name, target, flags) = (self.name.as_str(), self.target.as_str(), RenameFlags::NOREPLACE);
        match rustix::fs::renameat_with(&self.parent, name, &self.parent, target, flags) {
            // The file system does not support the flag. A check right before the rename is the next best.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match self.target_entry() {
                Ok(_) => Err(Errno::EXIST.into()),
                Err(fault) if fault.is_absence() => self.take_name(),
                Err(fault) => Err(fault.errno.into()),
            },
            renamed => Ok(renamed?),
        }
    }

    /// Writes the content over the target, which keeps its identity. A reader may see a part of it.
    ///
    /// # Errors
    /// The kernel refuses a call, or the policy must end. The target may then have a part of the new content.
    pub fn pour(self, new_attributes: &NewFileAttributes) -> Result<(), Fault> {
        let mut content = self.content()?;
        let open = || {
            let file = self.parent.open_with(&self.target, &open::to_write())?.into_std();
            if Entry::of(&rustix::fs::fstat(&file)?).kind != super::Kind::File {
                return Err(io::Error::from(Errno::INVAL));
            }
            // Attributes that certify the old content must not apply to the new one, even if it is incomplete.
            withdraw(new_attributes, &file)?;
            file.set_len(0)?;
            Ok(file)
        };
        // The target is emptied only if the policy has time left.
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

    /// Copies the whole content, unless the policy must end.
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

    /// Charges bytes before they are written, and checks whether the policy may continue.
    fn spend_on(&self, disk: &Disk, file: &File, bytes: usize) -> Result<(), Fault> {
        let spent = disk.write(file, bytes as u64);
        spent.map_err(|ended| Fault::new(errno_of(&ended), FileCall::Open, &self.real))?;
        looked_at(&self.account, bytes).map_err(|error| self.input_output(&error))
    }

    /// Charges bytes that the file will take on the disk, without writing them.
    pub(super) fn spend(&self, bytes: u64) -> Result<(), Fault> {
        let spent = self.disk.write(&self.file, bytes).and_then(|()| self.account.check());
        spent.map_err(|ended| self.refused(errno_of(&ended)))
    }

    /// Returns the fault of a call on the file.
    pub(super) fn refused(&self, errno: Errno) -> Fault {
        Fault::new(errno, FileCall::Open, &self.real)
    }

    fn input_output(&self, error: &io::Error) -> Fault {
        self.refused(Errno::from_io_error(error).unwrap_or(Errno::IO))
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.published {
            // If the leftover cannot be removed, nothing else can be done; its name tells its origin.
            let _ = self.parent.remove_file(&self.name);
        }
    }
}

/// Prepares an open file before its content changes: removes permission bits that it will not keep, above all set-id bits,
/// and sets the new owner.
fn withdraw(new_attributes: &NewFileAttributes, file: &File) -> Result<(), Errno> {
    let now = Entry::of(&rustix::fs::fstat(file)?);
    let wanted = new_attributes.mode.map_or(Ok(now.mode), |mode| mode.of(now.kind))?;
    let bits = now.mode & wanted & 0o777;
    if bits != now.mode & 0o7777 {
        match rustix::fs::fchmod(file, Mode::from_raw_mode(bits)) {
            // No other mode was requested. The kernel removes set-id bits when a user other than root writes to the file.
            Err(Errno::PERM) if new_attributes.mode.is_none() => {}
            other => other?,
        }
    }
    give(new_attributes, &now, None, file)
}

/// Sets owner and group of an open file: the requested ones, else those of the old file.
fn give(new_attributes: &NewFileAttributes, now: &Entry, old: Option<Entry>, file: &File) -> Result<(), Errno> {
    let uid = new_attributes.uid.or(old.map(|old| old.uid)).filter(|uid| *uid != now.uid);
    let gid = new_attributes.gid.or(old.map(|old| old.gid)).filter(|gid| *gid != now.gid);
    if uid.is_none() && gid.is_none() {
        return Ok(());
    }
    match rustix::fs::fchown(file, uid.map(Uid::from_raw), gid.map(Gid::from_raw)) {
        // Only root can set another owner. For any other user, the new file belongs to that user.
        Err(Errno::PERM) if new_attributes.uid.is_none() && new_attributes.gid.is_none() => Ok(()),
        other => other,
    }
}

/// Sets owner, extended attributes and mode of an open file. `folder`: the file was just made there.
fn put_on(new_attributes: &NewFileAttributes, file: &File, folder: Option<&Dir>) -> Result<(), Errno> {
    let now = Entry::of(&rustix::fs::fstat(file)?);
    let old = new_attributes.old.as_ref().and_then(|old| rustix::fs::fstat(old).ok()).map(|stat| Entry::of(&stat));
    give(new_attributes, &now, old, file)?;
    if let Some(folder) = folder {
        refuse_inherited_list(file, folder)?;
    }
    if let Some(from) = &new_attributes.old {
        let dressed = Entry::of(&rustix::fs::fstat(file)?);
        // If the owner changes, the access list is not kept: the old file's owner may have added other users. The default
        // list of the directory may have added some, too.
        let keeps_list = old.is_some_and(|old| (old.uid, old.gid) == (dressed.uid, dressed.gid));
        if !keeps_list {
            let _none = rustix::fs::fremovexattr(file, access_list::ACCESS);
        }
        copy_attributes(from, file, keeps_list);
    }
    if new_attributes.times.is_some() {
        rustix::fs::futimens(file, &timestamps(new_attributes.times))?;
    }
    // The mode is set last, because a change of owner removes set-id bits.
    let Some(mode) = new_attributes.mode else { return Ok(()) };
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode.of(now.kind)?))
}

/// Takes from a new file the access list that it has from its folder, if that folder is neither root's nor the file's owner's:
/// others would read and write what the file's mode keeps from them.
fn refuse_inherited_list(file: &File, folder: &Dir) -> Result<(), Errno> {
    let (owner, folder) = (rustix::fs::fstat(file)?.st_uid, rustix::fs::fstat(folder)?.st_uid);
    if folder == 0 || folder == owner { Ok(()) } else { access_list::remove(file) }
}

/// Copies extended attributes as far as the file system accepts them.
fn copy_attributes(old: &OwnedFd, new: impl AsFd, keeps_list: bool) {
    let mut names = Vec::with_capacity(MAX_ATTRIBUTE);
    if rustix::fs::flistxattr(old, rustix::buffer::spare_capacity(&mut names)).is_err() || names.is_empty() {
        return;
    }
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if CONTENT_ATTRIBUTES.contains(&name) || (!keeps_list && name == access_list::ACCESS.as_bytes()) {
            continue;
        }
        let mut value = Vec::with_capacity(MAX_ATTRIBUTE);
        if rustix::fs::fgetxattr(old, name, rustix::buffer::spare_capacity(&mut value)).is_ok() {
            let _ = rustix::fs::fsetxattr(&new, name, &value, XattrFlags::empty());
        }
    }
}
