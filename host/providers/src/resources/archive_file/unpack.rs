//! The operations of `archive_file`.

use super::reader::{Archive, Item, Kind, Stamp};
use super::{Names, Options};
use crate::found::{Found, Thing, changed_meanwhile, taken};
use crate::plan::{View, Writer};
use contract::{ErrorKind, FileCall, Raised};
use grants::{GrantedMode, GrantedPath};
use machine::denied::denied;
use machine::root::{Fault, Given, ModeBits, NewFileAttributes, absent};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io::Read;

/// The size of one copied block, in bytes.
const CHUNK: usize = 64 << 10;

/// Permission bits of directories that have no entry in the archive.
const DIRECTORY: ModeBits = ModeBits::plain(0o777);

/// An archive and its destination as they were found.
#[derive(Debug, Clone)]
pub(super) struct FoundArchive {
    /// The archive's real path.
    pub(super) real: String,
    /// The archive's size and the time of its last change. Planning reads the entries but computes no digest of the file.
    pub(super) stamp: Stamp,
    /// The destination's real path.
    pub(super) into: String,
    /// True if the destination existed.
    pub(super) is_there: bool,
}

impl FoundArchive {
    fn found(&self) -> Found {
        let (size, seconds, nanoseconds) = self.stamp;
        let archive = Thing::new("archive", &self.real).with("size", size.to_string());
        let archive = archive.with("modified", format!("{seconds}.{nanoseconds:09}"));
        let into = match self.is_there {
            true => Thing::new("path", &self.into).with("presence", "directory"),
            false => Thing::absent("path", &self.into),
        };
        Found::of([archive, into])
    }
}

/// The missing directories of the destination's path, outermost first.
#[derive(Debug)]
pub(crate) struct MakeDestination {
    pub(super) directories: Vec<(GrantedPath, GrantedMode)>,
}

impl MakeDestination {
    /// Returns the state that none of the directories existed.
    pub(crate) fn found(&self) -> Found {
        Found::of(self.directories.iter().map(|(directory, _)| Thing::absent("path", directory.path())))
    }

    /// Makes the directories, with the mode of the resource.
    ///
    /// # Errors
    /// The machine refuses a call, or an entry exists meanwhile at one of the paths.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        for (granted, mode) in &self.directories {
            let site = writer.root.site(granted)?;
            let taken = |fault| taken(fault, granted.path());
            site.make_directory(ModeBits::from(mode)).map_err(taken)?;
            let held = site.hold()?;
            held.require_new_directory().map_err(taken)?;
            held.refuse_inherited_lists()?;
            held.set_mode(ModeBits::from(mode))?;
        }
        Ok(())
    }
}

/// An archive with the proofs for all its entries.
#[derive(Debug)]
pub(crate) struct UnpackArchive {
    pub(super) archive: Archive,
    /// The archive and its destination as they were.
    pub(super) found: FoundArchive,
    pub(super) options: Options,
    /// Directories that have no entry in the archive.
    pub(super) directories: Vec<GrantedPath>,
    /// The entries in the archive's order.
    pub(super) works: Vec<Work>,
    /// The account's charge for the names until they are created.
    pub(super) _names: Names,
}

impl UnpackArchive {
    /// Returns the state of the archive and its destination when planned.
    pub(crate) fn found(&self) -> Found {
        self.found.found()
    }

    /// Unpacks the entries one by one, then sets the times of directories.
    ///
    /// # Errors
    /// The machine refuses a call, or the archive has changed since the operation was planned.
    pub(crate) fn carry_out(mut self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let changed = || changed_meanwhile(&self.found.real, "its content changed");
        if self.archive.stamp()? != self.found.stamp {
            return Err(changed());
        }
        let mut made = Made::default();
        for parent in &self.directories {
            make_directory(writer, parent, DIRECTORY, None, &mut made)?;
        }
        let (options, mut left) = (self.options, self.works.iter());
        self.archive.each(&mut |item, content| {
            let work = left.next().filter(|work| work.item == item);
            let work = work.ok_or_else(changed)?;
            work.unpack(content, options, &mut made, writer)
        })?;
        // Times of directories are set last, because adding an entry changes them.
        let mut timed = self.works.iter().rev().filter(|work| work.item.kind == Kind::Directory && options.time);
        timed.try_for_each(|work| work.set_time_of_directory(&made, writer))
    }
}

/// Device and inode number.
type Identity = (u64, u64);

/// The directories that an operation has made, by their real paths.
type Made = HashMap<String, Identity>;

/// An entry that gets another owner.
#[derive(Debug)]
pub(super) struct GivenEntry {
    pub(super) path: GrantedPath,
    /// What the grants were asked for: what had the name, and the file that it is to be a further name of.
    pub(super) judged: [Option<Identity>; 2],
}

/// A new owner and group for all entries of an archive. `None` keeps the present one. What was unpacked just now has them
/// already.
#[derive(Debug)]
pub(crate) struct GiveAway {
    pub(super) entries: Vec<GivenEntry>,
    /// The archive and its destination as they were.
    pub(super) found: FoundArchive,
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
    /// The account's charge for the names until they are used.
    pub(super) _names: Names,
}

impl GiveAway {
    /// Returns the state of the archive and its destination when planned. The old owners do not matter.
    pub(crate) fn found(&self) -> Found {
        self.found.found()
    }

    /// Sets owner and group of each entry that was there before.
    ///
    /// # Errors
    /// The machine refuses, or something else has the name by now.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        for GivenEntry { path, judged } in &self.entries {
            let site = writer.root.site(path)?;
            let held = site.hold()?;
            let entry = held.entry()?;
            let has_them = self.uid.is_none_or(|uid| uid == entry.uid) && self.gid.is_none_or(|gid| gid == entry.gid);
            if has_them {
                continue;
            }
            if !judged.contains(&Some(entry.identity)) {
                return Err(changed_meanwhile(path.path(), "something else has its name"));
            }
            held.set_owner(self.uid, self.gid)?;
        }
        Ok(())
    }
}

/// Checks the grants for the content of an existing directory, if its new owner or group gives others power over it. Returns
/// what was asked for.
pub(super) fn require_giving(path: &str, given: Given, view: &View<'_>) -> Result<Option<Identity>, Raised> {
    let Some(place) = absent(view.root.locate(path.trim_end_matches('/')))? else { return Ok(None) };
    let judged = absent(place.entry())?.map(|entry| entry.identity);
    place.require_giving(view.grants, given)?.map_err(denied)?;
    Ok(judged)
}

/// One entry with its proofs.
#[derive(Debug)]
pub(super) struct Work {
    item: Item,
    granted: GrantedPath,
    /// Permission bits from the archive, if they are restored.
    mode: Option<GrantedMode>,
    /// The target of a hard link.
    original: Option<GrantedPath>,
    /// The directory that the grants were asked for.
    judged: Option<Identity>,
}

impl Work {
    /// Checks the grants that the entry needs.
    ///
    /// # Errors
    /// A grant is missing.
    pub(super) fn of(item: Item, base: &str, options: Options, view: &View<'_>) -> Result<Self, Raised> {
        let grant = |path: &str| view.grants.manage_path(&format!("{base}{path}")).map_err(denied);
        let granted = grant(&item.path)?;
        let original = match &item.kind {
            Kind::HardLink(path) => Some(grant(path)?),
            _ => None,
        };
        if let Some(original) = &original {
            view.grants.read_under_another_name(original.path(), granted.path()).map_err(denied)?;
        }
        let is_directory = item.kind == Kind::Directory;
        let kept = options.permissions && matches!(item.kind, Kind::File | Kind::Directory);
        let mode = kept.then(|| view.grants.file_mode(&granted, item.mode & 0o7777, is_directory).map_err(denied));
        let mut judged = None;
        if is_directory {
            let (uid, gid) = owner_of(&item, options);
            let given = Given { uid, gid, mode: kept.then_some(item.mode & 0o7777) };
            judged = require_giving(granted.path(), given, view)?;
        }
        Ok(Self { mode: mode.transpose()?, item, granted, original, judged })
    }

    fn unpack(
        &self,
        content: &mut dyn Read,
        options: Options,
        made: &mut Made,
        writer: &mut Writer<'_>,
    ) -> Result<(), Raised> {
        let site = writer.root.site(&self.granted)?;
        if self.item.kind != Kind::Directory && options.spares(absent(site.entry())?, &self.item) {
            return Ok(());
        }
        let plain = ModeBits::plain(self.item.mode & 0o777);
        let (uid, gid) = owner_of(&self.item, options);
        let times = options.time.then_some((self.item.modified, self.item.modified));
        match &self.item.kind {
            Kind::File => {
                let mut staged = site.stage(plain)?;
                let mut buffer = vec![0; CHUNK];
                loop {
                    let length = content.read(&mut buffer);
                    let length = length.map_err(|error| Raised::new(ErrorKind::InvalidArchive, error.to_string()))?;
                    match buffer.get(..length) {
                        Some(chunk) if !chunk.is_empty() => staged.write(chunk)?,
                        _ => break,
                    }
                }
                // As a change of the owner by itself would do, another owner takes set-id bits away.
                let is_given = options.uid.is_some() || options.gid.is_some();
                let mode = self.mode.as_ref().map(ModeBits::from);
                let mode = mode.map(|mode| if is_given { ModeBits::plain(mode.bits()) } else { mode });
                staged.publish(&NewFileAttributes { mode, uid, gid, times, ..NewFileAttributes::default() })?;
            }
            Kind::Directory => {
                let access = (uid, gid, self.mode.as_ref().map(ModeBits::from));
                make_directory(writer, &self.granted, plain, Some((access, self.judged)), made)?;
            }
            Kind::Link(text) => {
                site.make_link(text, true)?;
                if uid.is_some() || gid.is_some() || times.is_some() {
                    let held = site.hold()?;
                    held.require_link(text).map_err(|fault| taken(fault, self.granted.path()))?;
                    held.set_owner(uid, gid)?;
                    times.map_or(Ok(()), |times| held.set_times(Some(times)))?;
                }
            }
            // The original has its times already, and both are one file.
            Kind::HardLink(_) => {
                if let Some(original) = &self.original {
                    site.make_hard_link(&writer.root.site(original)?, true)?;
                }
            }
        }
        Ok(())
    }

    /// Sets the times of a directory, if it is the one that was made or that the grants were asked for.
    fn set_time_of_directory(&self, made: &Made, writer: &Writer<'_>) -> Result<(), Raised> {
        let site = writer.root.site(&self.granted)?;
        let held = site.hold()?;
        let identity = Some(held.entry()?.identity);
        if identity != self.judged && identity != made.get(self.granted.path()).copied() {
            return Err(changed_meanwhile(self.granted.path(), "another directory has its name"));
        }
        Ok(held.set_times(Some((self.item.modified, self.item.modified)))?)
    }
}

/// Owner and group of a new entry.
fn owner_of(item: &Item, options: Options) -> (Option<u32>, Option<u32>) {
    let (uid, gid) = item.owner.filter(|_| options.owner).unzip();
    (options.uid.or(uid), options.gid.or(gid))
}

/// Owner, group and permission bits that a directory gets.
type DirectoryAccess = (Option<u32>, Option<u32>, Option<ModeBits>);

/// Makes a directory unless it exists. A link to a directory does not count as one. `given`: its access, and the directory that
/// the grants were asked for; one that was neither made by this operation nor asked for is left as it is.
fn make_directory(
    writer: &Writer<'_>,
    granted: &GrantedPath,
    mode: ModeBits,
    given: Option<(DirectoryAccess, Option<Identity>)>,
    made: &mut Made,
) -> Result<(), Raised> {
    let site = writer.root.site(granted)?;
    let is_new = match site.make_directory(mode) {
        Err(fault) if fault.errno == Errno::EXIST => false,
        done => done.map(|()| true)?,
    };
    let held = site.hold()?;
    let entry = held.entry()?;
    if is_new {
        held.require_new_directory().map_err(|fault| taken(fault, granted.path()))?;
        made.insert(granted.path().to_owned(), entry.identity);
    } else if entry.kind != machine::root::Kind::Directory {
        return Err(Fault::new(Errno::EXIST, FileCall::MakeDirectory, granted.path()).into());
    }
    let lists = || if is_new { held.refuse_inherited_lists() } else { Ok(()) };
    let Some(((uid, gid, mode), judged)) = given else { return Ok(lists()?) };
    if uid.is_none() && gid.is_none() && mode.is_none() {
        return Ok(lists()?);
    }
    if judged != Some(entry.identity) && made.get(granted.path()) != Some(&entry.identity) {
        return Err(changed_meanwhile(granted.path(), "another directory has its name"));
    }
    held.set_owner(uid, gid)?;
    lists()?;
    mode.map_or(Ok(()), |mode| Ok(held.set_mode(mode)?))
}
