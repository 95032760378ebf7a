//! `archive_file`: unpacks an archive on the node.
//!
//! As in Chef, the destination decides: if it exists, nothing is unpacked unless `overwrite` is set. Unlike Chef, wrun
//! refuses entries that lead out of the destination, and entries that lead through a link from the archive. Malicious
//! archives use both.

mod meter;
mod reader;
mod unpack;

pub(crate) use unpack::{GiveAway, MakeDestination, UnpackArchive};

use crate::operation::Operation;
use crate::plan::{Assumption, Plan, Provider, Step, View};
use crate::resources::{asked, directory};
use contract::{Account, Certainty, Change, Ended, ErrorKind, Raised, Receipt, SystemError, Wanted};
use machine::denied::denied;
use machine::root::{Entry, Given};
use reader::{Archive, Item, Kind};
use schema::types::archive_file::ArchiveFileProperties;
use std::collections::HashSet;
use unpack::{FoundArchive, GivenEntry, Work, require_giving};

/// An archive to unpack.
pub(crate) struct ArchiveFile;

impl Provider for ArchiveFile {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let mut task = match Task::read(wanted, view)? {
            Ok(task) => task,
            Err(plan) => return Ok(plan),
        };
        let mut plan = Plan::default();
        task.look_up_owner(view)?;
        let there = task.found.is_there;
        if !there {
            plan.steps.push(task.make_destination(view)?);
        }
        let overwrite = match task.overwrite {
            Overwrite::Never => false,
            Overwrite::Always => true,
            Overwrite::IfDifferent => there && task.differs(view)?,
        };
        if !there || overwrite {
            plan.steps.push(task.unpack(view)?);
        }
        if task.owner.is_some() || task.group.is_some() {
            plan.steps.push(task.give_away(view)?);
        }
        Ok(plan)
    }

    /// Checks the grants of the archive and of the destination, also if the archive does not exist yet or may not be read.
    fn survey(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<(), Raised> {
        let properties: ArchiveFileProperties = asked::properties(wanted)?;
        let _archive = view.grants.read_path(&view.root.asked_about(&properties.path));
        let Some(destination) = properties.destination else { return Ok(()) };
        let real = view.future_place(&destination, |grants, real| grants.manage_tree(real).map(drop))?.real();
        let _tree = view.grants.manage_tree(&real);
        if let Some((parent, _)) = destination.trim_end_matches('/').rsplit_once('/') {
            directory::ask_for_missing(parent, view);
        }
        Ok(())
    }

    /// Owners are set in every run, and entries with `overwrite` are unpacked in every run.
    fn settles(&self, _action: &str) -> bool {
        false
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overwrite {
    Never,
    Always,
    IfDifferent,
}

/// The attributes of an archive's entries that are restored.
#[derive(Debug, Clone, Copy, Default)]
struct Options {
    time: bool,
    owner: bool,
    permissions: bool,
    no_overwrite: bool,
    no_overwrite_newer: bool,
    /// The owner that all entries get; `None`: that of the archive, where it is kept.
    uid: Option<u32>,
    /// The group that all entries get.
    gid: Option<u32>,
}

impl Options {
    fn read(words: &[String]) -> Self {
        let has = |name: &str| words.iter().any(|word| word == name);
        Self {
            time: has("time"),
            owner: has("owner"),
            permissions: has("permissions"),
            no_overwrite: has("no_overwrite"),
            no_overwrite_newer: has("no_overwrite_newer"),
            uid: None,
            gid: None,
        }
    }

    /// Tells whether an existing entry stays.
    fn spares(self, there: Option<Entry>, item: &Item) -> bool {
        let newer = |entry: Entry| entry.modified >= item.modified;
        there.is_some_and(|entry| self.no_overwrite || (self.no_overwrite_newer && newer(entry)))
    }
}

/// One `archive_file` resource, with its properties checked.
struct Task {
    path: String,
    archive: Archive,
    /// The archive's real path, and its state when it was opened.
    found: FoundArchive,
    destination: String,
    /// The destination's real path.
    real: String,
    mode: u32,
    owner: Option<String>,
    group: Option<String>,
    options: Options,
    overwrite: Overwrite,
}

/// Returns the plan for an archive that an earlier resource of a dry run would create.
fn still_to_come(properties: &ArchiveFileProperties, destination: &str, view: &View<'_>) -> Result<Plan, Raised> {
    let path = properties.path.as_str();
    let future_place = view.future_place(destination, |grants, real| grants.manage_tree(real).map(drop))?;
    let _tree = view.grants.manage_tree(&future_place.real()).map_err(denied)?;
    let is_there = view.root.target_entry(destination)?.is_some();
    let gives_away = properties.owner.is_some() || properties.group.is_some();
    let mut plan = match properties.overwrite.as_str() {
        "auto" if is_there => {
            Plan::uncertain(Certainty::Unknown(format!("what is in {path} is not known: it is not there yet")))
        }
        "true" => Plan::uncertain(assumed(path)),
        _ if is_there && !gives_away => Plan::up_to_date(),
        _ => Plan::uncertain(assumed(path)),
    };
    plan.assumptions.extend(future_place.real_paths().into_iter().map(Assumption::Directory));
    Ok(plan)
}

fn assumed(path: &str) -> Certainty {
    Certainty::Assumed(format!("assuming {path} would have been created"))
}

impl Task {
    /// Opens the archive, or returns the whole plan. In a dry run an earlier resource may create the archive.
    fn read(wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Result<Self, Plan>, Raised> {
        let properties: ArchiveFileProperties = asked::properties(wanted)?;
        let path = properties.path.clone();
        let Some(destination) = properties.destination.clone() else {
            return Err(Raised::new(ErrorKind::InvalidValue, "destination is a required property"));
        };
        let Some((place, _)) = view.readable(&path)? else {
            if view.why_run && view.assumed.path(&path) {
                return still_to_come(&properties, &destination, view).map(Err);
            }
            let message = format!("No such file or directory - No archive found at {path}! Cannot continue.");
            return Err(Raised::new(SystemError::NotFound, message));
        };
        let real = view.future_place(&destination, |grants, real| grants.manage_tree(real).map(drop))?.real();
        let _tree = view.grants.manage_tree(&real).map_err(denied)?;
        let overwrite = match properties.overwrite.as_str() {
            "true" => Overwrite::Always,
            "auto" => Overwrite::IfDifferent,
            _ => Overwrite::Never,
        };
        let archive =
            Archive::new(place.open_file()?.0.into(), properties.strip_components as usize, view.root.account());
        let is_there = view.root.target_entry(&destination)?.is_some();
        let found =
            FoundArchive { real: place.real().to_owned(), stamp: archive.stamp()?, into: real.clone(), is_there };
        Ok(Ok(Self {
            archive,
            found,
            path,
            destination,
            real,
            mode: properties.mode.0 & 0o7777,
            owner: properties.owner,
            group: properties.group,
            options: Options::read(&properties.options),
            overwrite,
        }))
    }

    fn inside(&self, path: &str) -> String {
        format!("{}/{path}", self.real.trim_end_matches('/'))
    }

    fn make_destination(&self, view: &View<'_>) -> Result<Step, Raised> {
        let mut directories = vec![];
        for real in view.root.future_place(&self.destination)?.real_paths() {
            let granted = view.grants.manage_path(&real).map_err(denied)?;
            let mode = view.grants.file_mode(&granted, self.mode, true).map_err(denied)?;
            directories.push((granted, mode));
        }
        let sentence = format!("create directory {}", self.destination);
        let operation = MakeDestination { directories };
        Ok(Step::new(Change::new(sentence), Operation::MakeDestination(operation)))
    }

    /// Tells whether an entry is missing on disk, or has another time of change there.
    fn differs(&mut self, view: &View<'_>) -> Result<bool, Raised> {
        let base = self.real.trim_end_matches('/').to_owned();
        let mut differs = false;
        self.archive.each(&mut |item, _content| {
            // If the policy may not read the target of a link, the entry counts as different.
            let entry = view.seen_target(&format!("{base}/{}", item.path)).transpose()?.flatten();
            // Archives store times in whole seconds.
            differs |= entry.is_none_or(|entry| (entry.modified, entry.modified_nanos) != (item.modified, 0));
            Ok(())
        })?;
        Ok(differs)
    }

    /// Checks the right to each entry, and returns the step that unpacks them one by one.
    fn unpack(&mut self, view: &View<'_>) -> Result<Step, Raised> {
        let mut works = Vec::new();
        let mut directories = vec![];
        let mut known = HashSet::new();
        let (base, options) = (self.inside(""), self.options);
        let mut names = Names::new(view.root.account(), &base)?;
        self.archive.each(&mut |item, _content| {
            names.hold(&item)?;
            for parent in parents(&item.path) {
                if known.insert(parent.to_owned()) {
                    names.hold_text(parent)?;
                    directories.push(view.grants.manage_path(&format!("{base}{parent}")).map_err(denied)?);
                }
            }
            if item.kind == Kind::Directory {
                known.insert(item.path.clone());
            }
            works.push(Work::of(item, &base, options, view)?);
            Ok(())
        })?;
        let sentence = format!("extract {} to {}", self.path, self.destination);
        let (archive, found) = (self.archive.again()?, self.found.clone());
        let operation = UnpackArchive { archive, found, options, directories, works, _names: names };
        Ok(Step::new(Change::new(sentence), Operation::UnpackArchive(Box::new(operation))))
    }

    /// Finds the numbers of owner and group, which new entries get as they are made.
    fn look_up_owner(&mut self, view: &mut View<'_>) -> Result<(), Raised> {
        let owner = self.owner.as_deref().map(|name| number_of("user", name, view));
        self.options.uid = owner.transpose()?.flatten();
        let group = self.group.as_deref().map(|name| number_of("group", name, view));
        self.options.gid = group.transpose()?.flatten();
        Ok(())
    }

    /// Returns the step that sets owner and group of all entries.
    fn give_away(&mut self, view: &View<'_>) -> Result<Step, Raised> {
        let (owner, group) = (self.owner.clone(), self.group.clone());
        let Options { uid, gid, .. } = self.options;
        let mut entries = vec![];
        let base = self.inside("");
        let mut names = Names::new(view.root.account(), &base)?;
        self.archive.each(&mut |item, _content| {
            names.hold(&item)?;
            let path = view.grants.manage_path(&format!("{base}{}", item.path)).map_err(denied)?;
            let given = Given { uid, gid, mode: None };
            let found = require_giving(path.path(), given, view)?;
            let original = match &item.kind {
                // The file of a hard link may already exist, with names elsewhere.
                Kind::HardLink(original) => require_giving(&format!("{base}{original}"), given, view)?,
                _ => None,
            };
            entries.push(GivenEntry { path, judged: [found, original] });
            Ok(())
        })?;
        let sentence = format!(
            "set owner of files extracted in {} to {}:{}",
            self.destination,
            owner.unwrap_or_default(),
            group.unwrap_or_default()
        );
        let operation = GiveAway { entries, found: self.found.clone(), uid, gid, _names: names };
        Ok(Step::new(Change::new(sentence), Operation::GiveAway(Box::new(operation))))
    }
}

/// Returns the numeric id of a user or group, or `None` if a dry run assumes that it will exist.
fn number_of(kind: &str, name: &str, view: &mut View<'_>) -> Result<Option<u32>, Raised> {
    let why_run = view.why_run;
    let users = view.users();
    let known = match kind {
        "user" => users.user(name).map(|user| user.uid),
        _ => users.group(name).map(|group| group.gid),
    };
    match known.or_else(|| name.parse().ok()) {
        None if !why_run => Err(Raised::new(ErrorKind::InvalidArgument, format!("can't find {kind} for {name}"))),
        number => Ok(number),
    }
}

/// Returns the folders above an entry, outermost first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(move |(at, _)| path.get(..at))
}

/// The memory for an entry besides its paths, in bytes, including the proofs for it.
const ENTRY_BYTES: u64 = 512;

/// How often a path is held: by itself, in the rights to it, and as that of a directory that was made.
const PATH_COPIES: u64 = 4;

/// Charges the account for the names of an archive in memory, and for the paths that are built from them.
#[derive(Debug)]
struct Names {
    paid: Receipt,
    /// The length of the destination's path, in bytes.
    base: usize,
}

impl Names {
    fn new(account: &Account, base: &str) -> Result<Self, Raised> {
        let paid = account.keep(0, Default::default).map_err(|ended| too_many(&ended))?;
        Ok(Self { paid, base: base.len() })
    }

    fn hold(&mut self, item: &Item) -> Result<(), Raised> {
        self.hold_text(&item.path)?;
        match &item.kind {
            Kind::Link(text) | Kind::HardLink(text) => self.hold_text(text),
            Kind::File | Kind::Directory => Ok(()),
        }
    }

    fn hold_text(&mut self, text: &str) -> Result<(), Raised> {
        let bytes = ENTRY_BYTES + PATH_COPIES * (self.base + text.len()) as u64;
        self.paid.grow(bytes, Default::default).map_err(|ended| too_many(&ended))
    }
}

fn too_many(ended: &Ended) -> Raised {
    Raised::new(ErrorKind::InvalidArchive, format!("the archive's names are too many and too long: the policy {ended}"))
}
