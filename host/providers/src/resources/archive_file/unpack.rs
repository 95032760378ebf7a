//! The operations of `archive_file`: what they hold, and how they are carried out.

use super::reader::{Archive, Item, Kind, Stamp};
use super::{Names, Options};
use crate::found::{Found, Thing, changed_meanwhile, taken};
use crate::plan::{View, Writer};
use contract::{ErrorKind, Raised};
use grants::{GrantedMode, GrantedPath};
use machine::denied::denied;
use machine::root::{Given, ModeBits, NewFileAttributes, absent};
use rustix::io::Errno;
use std::io::Read;

/// How much is copied at once, in bytes.
const CHUNK: usize = 64 << 10;

/// Permission bits of directories that the archive leaves out.
const DIRECTORY: ModeBits = ModeBits::plain(0o777);

/// An archive and its destination as they were found.
#[derive(Debug, Clone)]
pub(super) struct FoundArchive {
    /// The archive's real path.
    pub(super) real: String,
    /// The archive's size and the time of its last change. Planning reads its entries, and no digest of all of it.
    pub(super) stamp: Stamp,
    /// The destination's real path.
    pub(super) into: String,
    /// Whether the destination was there.
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

/// The directories that lead to an archive's content, outermost first.
#[derive(Debug)]
pub(crate) struct MakeDestination {
    pub(super) directories: Vec<(GrantedPath, GrantedMode)>,
}

impl MakeDestination {
    /// That none of the directories was there.
    pub(crate) fn found(&self) -> Found {
        Found::of(self.directories.iter().map(|(directory, _)| Thing::absent("path", directory.path())))
    }

    /// Makes the directories, with the mode that the resource says.
    ///
    /// # Errors
    /// The machine refuses, or something is at one of the paths by now.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        for (granted, mode) in &self.directories {
            let site = writer.root.site(granted)?;
            site.make_directory(ModeBits::from(mode)).map_err(|fault| taken(fault, granted.path()))?;
            site.refuse_inherited_lists()?;
            site.set_mode(ModeBits::from(mode))?;
        }
        Ok(())
    }
}

/// An archive with the rights to all that is in it.
#[derive(Debug)]
pub(crate) struct UnpackArchive {
    pub(super) archive: Archive,
    /// The archive and its destination as they were.
    pub(super) found: FoundArchive,
    pub(super) options: Options,
    /// Directories that the archive leaves out.
    pub(super) directories: Vec<GrantedPath>,
    /// The entries in the archive's order.
    pub(super) works: Vec<Work>,
    /// Pays for the names until they are made.
    pub(super) _names: Names,
}

impl UnpackArchive {
    /// The archive and its destination as they were.
    pub(crate) fn found(&self) -> Found {
        self.found.found()
    }

    /// Unpacks the entries one by one, then sets the times of directories.
    ///
    /// # Errors
    /// The machine refuses, or the archive is another one than when the operation was planned.
    pub(crate) fn carry_out(mut self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let changed = || changed_meanwhile(&self.found.real, "its content changed");
        if self.archive.stamp()? != self.found.stamp {
            return Err(changed());
        }
        for parent in &self.directories {
            make_directory(writer, parent, DIRECTORY)?;
        }
        let (options, mut left) = (self.options, self.works.iter());
        self.archive.each(&mut |item, content| {
            let work = left.next().filter(|work| work.item == item);
            let work = work.ok_or_else(changed)?;
            work.unpack(content, options, writer)
        })?;
        // Whatever is put into a directory changes its time.
        let mut made = self.works.iter().rev().filter(|work| work.item.kind == Kind::Directory && options.time);
        made.try_for_each(|work| work.set_time(writer))
    }
}

/// A new owner and group for all that an archive holds; `None`: it stays.
#[derive(Debug)]
pub(crate) struct GiveAway {
    pub(super) paths: Vec<GrantedPath>,
    /// The archive and its destination as they were.
    pub(super) found: FoundArchive,
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
    /// Pays for the names until they are used.
    pub(super) _names: Names,
}

impl GiveAway {
    /// The archive and its destination as they were. The owners become the same whatever they were.
    pub(crate) fn found(&self) -> Found {
        self.found.found()
    }

    /// Sets owner and group of each path.
    ///
    /// # Errors
    /// The machine refuses.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.paths.iter().try_for_each(|path| Ok(writer.root.site(path)?.set_owner(self.uid, self.gid)?))
    }
}

/// Asks for what is in a directory that is there already, where others get power over it.
pub(super) fn require_giving(path: &str, given: Given, view: &View<'_>) -> Result<(), Raised> {
    let Some(place) = absent(view.root.locate(path.trim_end_matches('/')))? else { return Ok(()) };
    place.require_giving(view.grants, given)?.map_err(denied)
}

/// One entry with the rights to it.
#[derive(Debug)]
pub(super) struct Work {
    item: Item,
    granted: GrantedPath,
    /// Permission bits as the archive has them, where they are kept.
    mode: Option<GrantedMode>,
    /// What a further name is a name of.
    original: Option<GrantedPath>,
}

impl Work {
    /// Asks for the rights that the entry needs.
    ///
    /// # Errors
    /// Something is not granted.
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
        if is_directory {
            let (uid, gid) = item.owner.filter(|_| options.owner).unzip();
            let given = Given { uid, gid, mode: kept.then_some(item.mode & 0o7777) };
            require_giving(granted.path(), given, view)?;
        }
        Ok(Self { mode: mode.transpose()?, item, granted, original })
    }

    fn unpack(&self, content: &mut dyn Read, options: Options, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let site = writer.root.site(&self.granted)?;
        if self.item.kind != Kind::Directory && options.spares(absent(site.entry())?, &self.item) {
            return Ok(());
        }
        let plain = ModeBits::plain(self.item.mode & 0o777);
        let owner = self.item.owner.filter(|_| options.owner);
        let (uid, gid) = owner.unzip();
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
                let mode = self.mode.as_ref().map(ModeBits::from);
                staged.publish(&NewFileAttributes { mode, uid, gid, ..NewFileAttributes::default() })?;
            }
            Kind::Directory => {
                make_directory(writer, &self.granted, plain)?;
                if let Some(mode) = &self.mode {
                    site.set_mode(ModeBits::from(mode))?;
                }
                site.set_owner(uid, gid)?;
            }
            Kind::Link(text) => {
                site.make_link(text, true)?;
                site.set_owner(uid, gid)?;
            }
            Kind::HardLink(_) => {
                if let Some(original) = &self.original {
                    site.make_hard_link(&writer.root.site(original)?, true)?;
                }
            }
        }
        if options.time && self.item.kind != Kind::Directory { self.set_time(writer) } else { Ok(()) }
    }

    fn set_time(&self, writer: &Writer<'_>) -> Result<(), Raised> {
        let modified = self.item.modified;
        Ok(writer.root.site(&self.granted)?.set_times(Some((modified, modified)))?)
    }
}

/// Makes a directory unless it exists. A link to a directory does not count as one.
fn make_directory(writer: &Writer<'_>, granted: &GrantedPath, mode: ModeBits) -> Result<(), Raised> {
    let site = writer.root.site(granted)?;
    match site.make_directory(mode) {
        Err(fault) if fault.errno == Errno::EXIST && site.entry()?.kind == machine::root::Kind::Directory => Ok(()),
        made => Ok(made.and_then(|()| site.refuse_inherited_lists())?),
    }
}
