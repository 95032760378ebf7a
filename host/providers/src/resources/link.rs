//! `link`: symbolic and hard links.
//!
//! The text of a symbolic link is not checked. A path that is later resolved over the link is checked by its target. A hard
//! link is the file itself under another name, so both names need the grant.

use super::asked;
use super::file_content::{Access, Account, Numbers, access_step, assumption};
use crate::foreseen::Outcomes;
use crate::found::{Found, FoundPath, Still, taken};
use crate::operation::Operation;
use crate::plan::{Plan, Provider, Step, View, Writer};
use contract::{Certainty, Change, ErrorKind, FileCall, Raised, SystemError, Wanted};
use grants::GrantedPath;
use machine::denied::denied;
use machine::guest::Planned;
use machine::root::{Entry, Fault, Kind, Place};
use schema::types::link::LinkProperties;

/// The provider of `link`: symbolic and hard links.
pub(crate) struct Link;

/// The declared link, from the resource's properties.
struct LinkWish<'a> {
    /// The path of the link, as written.
    path: &'a str,
    to: Option<&'a str>,
    is_hard: bool,
    access: Access<'a>,
    /// The resource as `link[name]`, for messages.
    key: String,
}

/// The existing entry, as Chef classifies it.
enum There {
    Nothing,
    /// A symbolic link with its text.
    Symbolic(String, Entry),
    /// Any other entry. The flag is true if it is the very file that `to` names.
    Hard(bool, Entry),
}

impl There {
    /// Returns the found state for operations.
    fn found(&self) -> FoundPath {
        match self {
            Self::Nothing => FoundPath::absent(),
            Self::Symbolic(says, entry) => FoundPath::of(*entry).saying(says),
            Self::Hard(_, entry) => FoundPath::of(*entry),
        }
    }
}

impl Provider for Link {
    fn plan(&self, wanted: &Wanted<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
        let properties: LinkProperties = asked::properties(wanted)?;
        let wish = LinkWish {
            path: &properties.target_file,
            to: properties.to.as_deref(),
            is_hard: properties.link_type == "hard",
            access: known(Access::of(properties.owner.as_ref(), properties.group.as_ref(), None), view),
            key: wanted.declaration.key(),
        };
        let place = view.managed_place(wish.path)?;
        let there = match &place {
            // Neither the entry nor `to` is read before the grant was found.
            Some(place) => {
                let _granted = view.grants.manage_path(place.real()).map_err(denied)?;
                inspect(&wish, place, view)?
            }
            None => There::Nothing,
        };
        match wanted.action {
            "delete" => plan_delete(&wish, place, &there, view),
            _ => plan_create(&wish, place, there, view),
        }
    }
}

/// Removes an owner or group that does not exist. Chef looks them up too late to report an error.
fn known<'a>(access: Access<'a>, view: &mut View<'_>) -> Access<'a> {
    let owner = access.owner.filter(|owner| !matches!(owner, Account::Name(name) if view.users().user(name).is_none()));
    let group =
        access.group.filter(|group| !matches!(group, Account::Name(name) if view.users().group(name).is_none()));
    Access { owner, group, ..access }
}

/// Returns Ruby's error for a missing `to`; Chef has no better class for it.
fn no_text() -> Raised {
    Raised::new(ErrorKind::WrongType, "no implicit conversion of nil into String")
        .with_hint("set the property `to`: the path that the link leads to")
}

fn inspect(wish: &LinkWish<'_>, place: &Place, view: &View<'_>) -> Result<There, Raised> {
    let Some(entry) = view.managed_entry(wish.path, place)? else { return Ok(There::Nothing) };
    if entry.kind == Kind::Link {
        return Ok(There::Symbolic(place.read_link()?, entry));
    }
    let to = wish.to.filter(|to| to.starts_with('/'));
    let original = to.and_then(|to| view.root.entry(to).ok().flatten());
    Ok(There::Hard(original.is_some_and(|original| original.identity == entry.identity), entry))
}

fn plan_create(wish: &LinkWish<'_>, place: Option<Place>, there: There, view: &mut View<'_>) -> Result<Plan, Raised> {
    let mut plan = Plan::up_to_date();
    let to = wish.to.ok_or_else(no_text)?;
    if to.is_empty() {
        return Err(Raised::new(ErrorKind::Link, format!("Cannot create {} without specifying 'to'.", wish.key)));
    }
    let real = match &place {
        Some(place) => place.real().to_owned(),
        None => {
            // An error about the parent directory is returned only if the policy may create the link.
            let _granted = view.grants.manage_path(&view.root.asked_about(wish.path)).map_err(denied)?;
            missing_parent(wish, to, view, &mut plan)?
        }
    };
    let granted = view.grants.manage_path(&real).map_err(denied)?;
    let numbers = wish.access.numbers(|_| Ok(()), view, &mut plan)?;
    let (is_right, entry) = match &there {
        There::Nothing => (false, None),
        // A hard link to a symbolic link is also a symbolic link.
        There::Symbolic(_, entry) if wish.is_hard => (is_the_same(to, entry, view), None),
        There::Symbolic(says, entry) => (says == to, Some(*entry)),
        There::Hard(same, _) => (wish.is_hard && *same, None),
    };
    if is_right {
        if let Some(entry) = entry {
            let access = wish.access.compare(numbers, Some(&entry), &granted, false, view)?;
            if !access.is_empty() {
                plan.steps.push(access_step(granted, access, FoundPath::of(entry).saying(to)));
            }
        }
        return Ok(plan);
    }
    let access = wish.access.compare(numbers, Some(&new_link()), &granted, false, view)?;
    let step = make(wish, to, &granted, &there, numbers, view)?;
    plan.assume(assumption(&real, false));
    plan.steps.push(if wish.is_hard { step } else { access.changes.into_iter().fold(step, Step::also) });
    Ok(plan)
}

fn is_the_same(to: &str, entry: &Entry, view: &View<'_>) -> bool {
    view.root.locate(to).and_then(|place| place.entry()).is_ok_and(|original| original.identity == entry.identity)
}

/// Returns the attributes of a link that this process creates.
fn new_link() -> Entry {
    Entry {
        kind: Kind::Link,
        mode: 0o777,
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        size: 0,
        modified: 0,
        modified_nanos: 0,
        identity: (0, 0),
        links: 1,
    }
}

/// Plans the step that creates the link and replaces an existing entry.
fn make(
    wish: &LinkWish<'_>,
    to: &str,
    granted: &GrantedPath,
    there: &There,
    numbers: Numbers,
    view: &View<'_>,
) -> Result<Step, Raised> {
    let in_the_way = !matches!(there, There::Nothing);
    let before = if let There::Symbolic(says, _) = there { Some(says.clone()) } else { None };
    let path = wish.path.to_owned();
    let granted = granted.clone();
    let original = if wish.is_hard { Some(original(wish, to, view)?) } else { None };
    if let Some(original) = &original {
        view.grants.read_under_another_name(original.path(), granted.path()).map_err(denied)?;
    }
    let kind = if wish.is_hard { "hard link" } else { "symlink" };
    let made = Change::new(format!("create {kind} at {path} to {to}"));
    let made = if in_the_way { made } else { made.appears("link") };
    let made = made.sets("to", before, Some(to.to_owned()));
    let first =
        if in_the_way { Change::new(format!("unlink existing symlink to file at {path}")) } else { made.clone() };
    let operation = MakeLink { path, to: to.to_owned(), granted, found: there.found(), original, numbers };
    let step = Step::new(first, Operation::MakeLink(Box::new(operation)));
    Ok(if in_the_way { step.also(made) } else { step })
}

/// A symbolic or hard link to create.
#[derive(Debug)]
pub(crate) struct MakeLink {
    /// The path of the link, as the cookbook wrote it.
    path: String,
    /// The text of a symbolic link; for a hard link, the path of the original file as the cookbook wrote it.
    to: String,
    granted: GrantedPath,
    /// The existing entry, which is replaced.
    found: FoundPath,
    /// The file that gets another name. `None`: the link is symbolic.
    original: Option<GrantedPath>,
    /// Owner and group of a symbolic link.
    numbers: Numbers,
}

impl MakeLink {
    /// Returns the state of the path when planned.
    pub(crate) fn found(&self) -> Found {
        self.found.found(self.granted.path())
    }

    /// Adds the planned link. For a hard link, the file's content is unknown.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        let planned = match &self.original {
            Some(_) => Planned::Unknown,
            None => Planned::Link(self.to.clone()),
        };
        outcomes.push((self.granted.path().to_owned(), planned));
    }

    /// Creates the link in place of an existing entry, and sets the owner of a symbolic one.
    ///
    /// # Errors
    /// The machine refuses, in Ruby's words; or another entry now has the name.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let site = writer.root.site(&self.granted)?;
        let (is_hard, in_the_way) = (self.original.is_some(), self.found.is_there());
        if in_the_way {
            self.found.require(Still::Itself, site.entry(), &self.path)?;
        }
        let made = match &self.original {
            Some(original) => site.make_hard_link(&writer.root.site(original)?, in_the_way),
            None => site.make_link(&self.to, in_the_way),
        };
        made.map_err(|fault| match in_the_way {
            true => refused(fault, is_hard, &self.to, &self.path).into(),
            // If the path did not exist, the call itself detects a new entry.
            false if fault.errno == rustix::io::Errno::EXIST => taken(fault, &self.path),
            false => refused(fault, is_hard, &self.to, &self.path).into(),
        })?;
        // A directory may pass its group on, so the group is always set, even if it is that of this process.
        if !is_hard && (self.numbers.uid.is_some() || self.numbers.gid.is_some()) {
            let held = site.hold()?;
            held.require_link(&self.to).map_err(|fault| taken(fault, &self.path))?;
            held.set_owner(self.numbers.uid, self.numbers.gid)?;
        }
        Ok(())
    }
}

/// Returns the proof for the original file of a hard link: a right to the new name would be a right to change the file.
fn original(wish: &LinkWish<'_>, to: &str, view: &View<'_>) -> Result<GrantedPath, Raised> {
    let place = match view.root.locate(to) {
        Ok(place) => place,
        Err(fault) => {
            let real = fault.real().map_or_else(|| view.root.asked_about(to), str::to_owned);
            let granted = view.grants.manage_path(&real).map_err(denied)?;
            if fault.is_absence() && view.why_run {
                let _there = view.root.future_place(to)?;
                return Ok(granted);
            }
            return Err(refused(fault, true, to, wish.path).into());
        }
    };
    let granted = view.grants.manage_path(place.real()).map_err(denied)?;
    match place.entry() {
        Err(fault) if !view.why_run || !fault.is_absence() => Err(refused(fault, true, to, wish.path).into()),
        _ => Ok(granted),
    }
}

/// Rewords an error as Ruby does, with both names.
fn refused(fault: Fault, is_hard: bool, to: &str, path: &str) -> Fault {
    if fault.errno == rustix::io::Errno::ISDIR {
        return fault.during(FileCall::Change).about(path);
    }
    fault.during(if is_hard { FileCall::LinkHard } else { FileCall::LinkSymbolic }).about(&format!("({to}, {path})"))
}

/// Returns the kernel's own error for a missing parent directory; a dry run assumes that it would exist.
fn missing_parent(wish: &LinkWish<'_>, to: &str, view: &View<'_>, plan: &mut Plan) -> Result<String, Raised> {
    if !view.why_run {
        let looked = view.root.locate(wish.path).map(|_| ());
        return Err(looked.err().map_or_else(
            || Raised::new(SystemError::NotFound, wish.path),
            |fault| refused(fault, wish.is_hard, to, wish.path).into(),
        ));
    }
    let parent = wish.path.trim_end_matches('/').rsplit_once('/').map_or("/", |(parent, _)| parent);
    plan.certainty.push(Certainty::Assumed(format!("assuming directory {parent} would have been created")));
    Ok(view.root.future_place(wish.path)?.real())
}

fn plan_delete(wish: &LinkWish<'_>, place: Option<Place>, there: &There, view: &mut View<'_>) -> Result<Plan, Raised> {
    let Some(place) = place else { return Ok(Plan::up_to_date()) };
    let granted = view.grants.manage_path(place.real()).map_err(denied)?;
    // Before anything else, Chef compares the entry with the file that `to` names.
    if wish.to.is_none() && matches!(there, There::Hard(..)) {
        return Err(no_text());
    }
    let is_such = match there {
        There::Nothing => {
            if view.why_run && view.assumed.path(place.real()) {
                let assumed = format!("assuming the link at {} was previously created", wish.path);
                return Ok(Plan::uncertain(Certainty::Assumed(assumed)));
            }
            return Ok(Plan::up_to_date());
        }
        There::Symbolic(..) => !wish.is_hard,
        There::Hard(same, _) => wish.is_hard && *same,
    };
    if !is_such {
        if view.why_run {
            let assumed = format!("would assume the link at {} was previously created", wish.path);
            return Ok(Plan::uncertain(Certainty::Assumed(assumed)));
        }
        let kind = if wish.is_hard { "hard" } else { "symbolic" };
        return Err(Raised::new(
            ErrorKind::Link,
            format!("Cannot delete {} at {}! Not a {kind} link.", wish.key, wish.path),
        ));
    }
    let change = Change::new(format!("delete link to file at {}", wish.path)).disappears("link");
    Ok(Plan::steps(vec![Step::new(change, Operation::RemoveLink(RemoveLink { granted, found: there.found() }))]))
}

/// A link to remove.
#[derive(Debug)]
pub(crate) struct RemoveLink {
    granted: GrantedPath,
    /// The link when planned.
    found: FoundPath,
}

impl RemoveLink {
    /// Returns the state of the link when planned.
    pub(crate) fn found(&self) -> Found {
        self.found.found(self.granted.path())
    }

    /// Adds that the path would not exist.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        outcomes.push((self.granted.path().to_owned(), Planned::Gone));
    }

    /// Removes the link, never its target.
    ///
    /// # Errors
    /// The machine refuses, or another entry now has the name.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let site = writer.root.site(&self.granted)?;
        self.found.require(Still::Itself, site.entry(), self.granted.path())?;
        Ok(site.remove_file()?)
    }
}
