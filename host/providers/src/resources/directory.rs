//! `directory`: creates and removes directories, and sets their owner, group and mode.

use super::asked;
use super::file_content::{Access, access_step, assumption};
use super::own_part;
use crate::foreseen::Outcomes;
use crate::found::{Found, FoundPath, Still, Thing, taken};
use crate::operation::Operation;
use crate::plan::{Plan, Provider, Step, View, Writer};
use contract::{Certainty, Change, ErrorKind, FileCall, OwnPart, Raised, Wanted};
use grants::{GrantedPath, GrantedTree};
use machine::denied::denied;
use machine::guest::{ForeseenFile, Planned, PlannedAccess};
use machine::root::{Entry, Fault, FuturePlace, Kind, ModeBits};
use machine::written::as_written;
use rustix::io::Errno;
use schema::types::directory::DirectoryProperties;
use std::collections::HashSet;

/// Permission bits before the process's file mode creation mask.
const NEW_DIRECTORY: ModeBits = ModeBits::plain(0o777);

/// Permission bits of a directory that nobody else may enter yet.
const PRIVATE: ModeBits = ModeBits::plain(0o700);

/// The provider of `directory`: it makes and removes directories.
pub(crate) struct Directory;

impl Provider for Directory {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let properties: DirectoryProperties = asked::properties(wanted)?;
        let wish = DirectoryWish::of(&properties, wanted);
        match wanted.action {
            "delete" => plan_delete(&wish, view),
            _ => plan_create(&wish, view, &mut HashSet::new()),
        }
    }

    fn others(&self) -> &'static [&'static str] {
        &["delete"]
    }
}

/// The declaration of one directory.
pub(super) struct DirectoryWish<'a> {
    /// The path as the cookbook wrote it.
    pub(super) path: &'a str,
    /// True if `create` also creates missing parents and `delete` also removes the content.
    pub(super) recursive: bool,
    pub(super) access: Access<'a>,
    /// The resource as `type[name]`, for messages.
    pub(super) key: String,
    /// What wrun alone declares.
    pub(super) own: Option<OwnPart>,
}

impl<'a> DirectoryWish<'a> {
    /// Creates the declaration from a resource's own properties.
    pub(super) fn of(properties: &'a DirectoryProperties, wanted: &Wanted<'_>) -> Self {
        let DirectoryProperties { path, recursive, owner, group, mode } = properties;
        Self {
            path,
            recursive: *recursive,
            access: Access::of(owner.as_ref(), group.as_ref(), *mode),
            key: wanted.declaration.key(),
            own: wanted.declaration.own_part().cloned(),
        }
    }

    /// Returns the right to the directory, by its real path.
    ///
    /// # Errors
    /// The path is not granted.
    fn granted(&self, view: &View<'_>, real: &str) -> Result<GrantedPath, Raised> {
        own_part::manage(self.own.as_ref(), view.grants, self.path, real).map_err(denied)
    }
}

/// Plans `create`. `made` has the real paths of directories that the same plan creates before; new ones are added. If the
/// plan is denied, the denials of all directories that it would create are recorded at once.
pub(super) fn plan_create(
    wish: &DirectoryWish<'_>,
    view: &mut View<'_>,
    made: &mut HashSet<String>,
) -> Result<Plan, Raised> {
    let planned = worded(planned_create(wish, view, made), view);
    if wish.recursive
        && planned.as_ref().is_err_and(is_denial)
        && let Some((parent, _)) = wish.path.trim_end_matches('/').rsplit_once('/')
    {
        ask_for_missing(parent, view);
    }
    planned
}

/// Rewords a denial in the policy's own words. It is done at once, so that later lookups do not influence the wording.
pub(super) fn worded<T>(outcome: Result<T, Raised>, view: &View<'_>) -> Result<T, Raised> {
    outcome.map_err(|raised| as_written(raised, view.grants, view.root))
}

/// Checks the grants of a directory and its missing parents, to record denials. The policy does not see the results, so that
/// it cannot learn which parents are missing.
pub(super) fn ask_for_missing(path: &str, view: &View<'_>) {
    let Ok(future_place) = view.root.future_place(path) else { return };
    for directory in future_place.real_paths().iter().rev() {
        let _recorded = view.grants.manage_path(directory);
    }
}

/// Tells whether an error is a denial.
pub(super) fn is_denial(raised: &Raised) -> bool {
    raised.kind == ErrorKind::Denied
}

fn planned_create(wish: &DirectoryWish<'_>, view: &mut View<'_>, made: &mut HashSet<String>) -> Result<Plan, Raised> {
    let mut plan = Plan::up_to_date();
    let may = |view: &View<'_>| wish.granted(view, &view.root.asked_about(wish.path)).map(drop);
    let numbers = wish.access.numbers(may, view, &mut plan)?;
    let gone = gone(wish, view);
    if gone.is_none()
        && let Some((granted, entry)) = existing(wish, view)?
    {
        let access = wish.access.compare(numbers, Some(&entry), &granted, true, view)?;
        if !access.is_empty() {
            plan.steps.push(access_step(granted, access, FoundPath::of(entry)));
        }
        return Ok(plan);
    }
    let future_place = view.future_place(wish.path, |grants, real| {
        own_part::manage(wish.own.as_ref(), grants, wish.path, real).map(drop)
    })?;
    let mut paths = gone.clone().map_or_else(|| future_place.real_paths(), |real| vec![real]);
    if !wish.recursive {
        // Missing parents are created only if the resource says so, and they need their own grants.
        paths.drain(..paths.len().saturating_sub(1));
    }
    paths.retain(|real| !made.contains(real));
    // The last directory is checked first: a denial names the declared path, and does not reveal which of its parents are
    // missing.
    let granted = paths.iter().rev().map(|real| wish.granted(view, real));
    let mut granted = granted.collect::<Result<Vec<GrantedPath>, Raised>>()?;
    granted.reverse();
    let may_real = |real: &str| wish.granted(view, real).map(drop);
    // An existing entry that leads to nothing is a dangling link. No directory is created in its place or behind it.
    if gone.is_none()
        && let Some(place) = view.told(wish.path, view.root.locate(wish.path), may_real)?
        && view.told(wish.path, place.entry(), may_real)?.is_some()
    {
        return Err(Fault::new(Errno::EXIST, FileCall::MakeDirectory, wish.path).into());
    }
    if gone.is_none() {
        require_parent(wish, &future_place, view, &mut plan)?;
    }
    let Some(last) = granted.last().cloned() else { return Ok(plan) };
    let access = wish.access.compare(numbers, None, &last, true, view)?;
    if view.why_run && view.assumed.path(last.path()) {
        plan.certainty.push(Certainty::Assumed(format!("assuming directory {} would have been created", wish.path)));
    }
    paths.iter().for_each(|real| plan.assume(assumption(real, true)));
    made.extend(paths);
    granted.pop();
    let operation =
        MakeDirectory { parents: granted, granted: last, uid: access.uid, gid: access.gid, mode: access.mode };
    let change = Change::new(format!("create new directory {}", wish.path)).appears("directory");
    let step = Step::new(change, Operation::MakeDirectory(operation));
    plan.steps.push(access.changes.into_iter().fold(step, Step::also));
    Ok(plan)
}

/// A directory to create, with its missing parents.
#[derive(Debug)]
pub(crate) struct MakeDirectory {
    /// Parents to create before, outermost first.
    parents: Vec<GrantedPath>,
    granted: GrantedPath,
    /// Numeric id of the owner. `None`: as created.
    uid: Option<u32>,
    /// Numeric id of the group. `None`: as created.
    gid: Option<u32>,
    /// Permission bits. `None`: as the file mode creation mask sets them.
    mode: Option<ModeBits>,
}

impl MakeDirectory {
    /// Returns the state that neither the path nor its new parents existed.
    pub(crate) fn found(&self) -> Found {
        let all = self.parents.iter().chain([&self.granted]);
        Found::of(all.map(|directory| Thing::absent("path", directory.path())))
    }

    /// Adds the planned directories, outermost first.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        let parents = self.parents.iter().map(GrantedPath::path);
        outcomes.extend(parents.map(|parent| (parent.to_owned(), Planned::Directory(PlannedAccess::default()))));
        let access = PlannedAccess { mode: self.mode.map(ModeBits::bits), uid: self.uid, gid: self.gid };
        outcomes.push((self.granted.path().to_owned(), Planned::Directory(access)));
    }

    /// Makes the directories, and gives the last one its owner, group and mode.
    ///
    /// # Errors
    /// The machine refuses a call, or an entry exists meanwhile at one of the paths.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let make = |granted: &GrantedPath, mode: ModeBits| {
            let site = writer.root.site(granted)?;
            site.make_directory(mode).map_err(|fault| taken(fault, granted.path()))?;
            Ok::<_, Raised>(site)
        };
        for parent in &self.parents {
            make(parent, NEW_DIRECTORY)?.refuse_inherited_lists()?;
        }
        // Closed to others until owner and mode are right.
        let site = make(&self.granted, if self.mode.is_some() { PRIVATE } else { NEW_DIRECTORY })?;
        let has_owner = self.uid.is_some() || self.gid.is_some();
        if !has_owner && self.mode.is_none() {
            return Ok(site.refuse_inherited_lists()?);
        }
        let held = site.hold()?;
        held.require_new_directory().map_err(|fault| taken(fault, self.granted.path()))?;
        if has_owner {
            held.set_owner(self.uid, self.gid)?;
        }
        held.refuse_inherited_lists()?;
        self.mode.map_or(Ok(()), |mode| Ok(held.set_mode(mode)?))
    }
}

/// Returns the real path of an existing entry that an earlier resource of this dry run would remove.
fn gone(wish: &DirectoryWish<'_>, view: &View<'_>) -> Option<String> {
    if !view.why_run {
        return None;
    }
    let real = view.root.locate(wish.path).ok()?.real().to_owned();
    let is_gone = view.foreseen_file(&real) == Some(ForeseenFile::Absent);
    (is_gone && wish.granted(view, &real).is_ok()).then_some(real)
}

/// Returns the existing directory, with links followed as in Chef.
fn existing(wish: &DirectoryWish<'_>, view: &View<'_>) -> Result<Option<(GrantedPath, Entry)>, Raised> {
    let may = |real: &str| wish.granted(view, real).map(drop);
    let Some(mut place) = view.told(wish.path, view.root.locate(wish.path), may)? else { return Ok(None) };
    let Some(mut entry) = view.told(wish.path, place.entry(), may)? else { return Ok(None) };
    if entry.kind == Kind::Link {
        let target = view.told(wish.path, view.root.locate_target(wish.path), may)?;
        let Some(target) = target else { return Ok(None) };
        let Some(found) = view.told(wish.path, target.entry(), may)? else { return Ok(None) };
        (place, entry) = (target, found);
    }
    let granted = wish.granted(view, place.real())?;
    if entry.kind == Kind::Directory {
        return Ok(Some((granted, entry)));
    }
    Err(Raised::new(
        ErrorKind::WrongFileType,
        format!("Cannot create {} at {} because a file already exists at that path", wish.key, wish.path),
    ))
}

/// Fails unless the parent directory exists or will be created, and is writable.
fn require_parent(
    wish: &DirectoryWish<'_>,
    future_place: &FuturePlace,
    view: &View<'_>,
    plan: &mut Plan,
) -> Result<(), Raised> {
    let parent = wish.path.trim_end_matches('/').rsplit_once('/').map_or("/", |(parent, _)| parent);
    let is_there = future_place.entry.kind == Kind::Directory && (wish.recursive || future_place.missing.len() <= 1);
    if !is_there {
        if !view.why_run {
            return Err(Raised::new(
                ErrorKind::NoParentDirectory,
                format!("Parent directory {parent} does not exist, cannot create {}", wish.path),
            ));
        }
        plan.certainty.push(Certainty::Assumed(format!("assuming directory {parent} would have been created")));
    } else if !future_place.base.is_writable() && view.why_run && !rustix::process::geteuid().is_root() {
        plan.certainty.push(Certainty::Assumed(format!("assuming that a run as root may write to {parent}")));
    } else if !future_place.base.is_writable() {
        return Err(Raised::new(
            ErrorKind::NotPermitted,
            format!("Cannot create {} at {} due to insufficient permissions", wish.key, wish.path),
        ));
    }
    Ok(())
}

/// Plans `delete`; a directory with content is deleted only if `recursive` is set.
pub(super) fn plan_delete(wish: &DirectoryWish<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
    let Some(place) = view.managed_place(wish.path)? else { return Ok(nothing(wish, view)) };
    let _granted = view.grants.manage_path(place.real()).map_err(denied)?;
    let Some(entry) = view.managed_entry(wish.path, &place)? else { return Ok(nothing(wish, view)) };
    let is_link = entry.kind == Kind::Link;
    let tree = if wish.recursive && !is_link { Some(view.manage_whole(&place)?) } else { None };
    let granted = view.grants.manage_path(place.real()).map_err(denied)?;
    let kind = match is_link {
        // The kind of a link's target is used only if the policy may see it. Otherwise it counts as a directory.
        true => match view.seen_target(wish.path) {
            Some(target) => target?.map(|entry| entry.kind),
            None => Some(Kind::Directory),
        },
        false => Some(entry.kind),
    };
    match kind {
        None => return Ok(Plan::up_to_date()),
        Some(Kind::Directory) if is_link || place.is_writable() => {}
        Some(_) => {
            return Err(Raised::new(ErrorKind::Failed, format!("Cannot delete {} at {}!", wish.key, wish.path)));
        }
    }
    let change = Change::new(format!("delete existing directory {}", wish.path)).disappears("directory");
    let found = FoundPath::at(&place, entry);
    let operation = RemoveDirectory { path: wish.path.to_owned(), granted, found, tree, recursive: wish.recursive };
    Ok(Plan::steps(vec![Step::new(change, Operation::RemoveDirectory(operation))]))
}

/// A directory to remove, or a link to one.
#[derive(Debug)]
pub(crate) struct RemoveDirectory {
    /// The path as the cookbook wrote it.
    path: String,
    granted: GrantedPath,
    /// The state of the path when planned.
    found: FoundPath,
    /// The proof for the directory with its whole content. `None`: it is empty, or a link.
    tree: Option<GrantedTree>,
    recursive: bool,
}

impl RemoveDirectory {
    /// Returns the state of the path. The content is removed with it, whatever it is.
    pub(crate) fn found(&self) -> Found {
        self.found.found(self.granted.path())
    }

    /// Adds that the path would not exist.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        outcomes.push((self.granted.path().to_owned(), Planned::Gone));
    }

    /// Removes the directory, with its content if there is a proof for that.
    ///
    /// # Errors
    /// The machine refuses a call, or another entry is now at the path.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        self.found.require(Still::Itself, writer.root.site(&self.granted)?.entry(), &self.path)?;
        let removed = match &self.tree {
            Some(tree) => writer.root.tree_site(tree)?.remove(),
            // A link is removed itself. Without `recursive`, the kernel reports that it is not a directory.
            None if self.recursive => writer.root.site(&self.granted)?.remove_file(),
            None => writer.root.site(&self.granted)?.remove_directory(),
        };
        removed.map_err(|fault| fault.about(&self.path).into())
    }
}

/// Returns the plan for an absent directory. In a dry run, an earlier resource may have created it.
fn nothing(wish: &DirectoryWish<'_>, view: &View<'_>) -> Plan {
    if view.why_run && view.assumed.path(wish.path) {
        return Plan::uncertain(Certainty::Assumed(format!(
            "assuming directory {} would have been created",
            wish.path
        )));
    }
    Plan::up_to_date()
}
