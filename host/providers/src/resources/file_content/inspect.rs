//! Inspects the entry at a file's path, and finds the real path to change.

use super::wish::FileWish;
use crate::found::FoundPath;
use crate::plan::{Plan, View};
use contract::{Account, Certainty, ErrorKind, FileCall, LogLevel, Raised, Stat};
use grants::GrantedPath;
use machine::digest::{Digest, digest_of};
use machine::guest::{ForeseenFile, in_memory};
use machine::remarks::remark;
use machine::root::{Entry, Fault, Kind, Place, absent};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// The entry at the path.
#[derive(Debug)]
pub(crate) enum There {
    /// The path does not exist.
    Nothing,
    /// A regular file, whose content is managed.
    File(Entry),
    /// Another kind of entry that stays: only its owner, group and mode are managed.
    Other(Entry),
    /// Another kind of entry that must be removed first.
    InTheWay(Entry),
}

/// The entry at the path, and the proof that the policy may change it.
pub(crate) struct Current {
    /// The account that pays for reading the file.
    pub(super) account: Account,
    /// The real path to change; for a link that is followed, its target.
    pub(crate) granted: GrantedPath,
    /// The entry that the path leads to now.
    pub(crate) there: There,
    handle: Option<OwnedFd>,
    digest: Option<Digest>,
    place: Option<Place>,
    /// True if a sensitive resource would write the present content.
    is_secret: bool,
    /// True if the content comes from earlier resources of a dry run, and no code of the policy has read it.
    is_assumed: bool,
}

/// The result of the inspection.
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, on the stack: a box would be an allocation for each unchanged file"
)]
pub(crate) enum Inspected {
    /// The present state, for the comparison with the declaration.
    Current(Current),
    /// The dry run cannot plan this resource; the plan has the reason.
    Blocked,
}

impl Current {
    /// Returns the file, open for reading, or `None` if it does not exist.
    ///
    /// # Errors
    /// The file may not be read.
    pub(crate) fn file(&mut self) -> Result<Option<&OwnedFd>, Fault> {
        if let (None, There::File(_), Some(place)) = (&self.handle, &self.there, &self.place) {
            self.handle = Some(place.open_file()?.0);
        }
        Ok(self.handle.as_ref())
    }

    /// Returns the file's digest, or `None` if the file does not exist.
    ///
    /// # Errors
    /// The file may not be read.
    pub(crate) fn digest(&mut self) -> Result<Option<Digest>, Fault> {
        if self.digest.is_none() {
            let (real, account) = (self.granted.path().to_owned(), self.account.clone());
            if let Some(file) = self.file()? {
                let digest = digest_of(file, &account).map_err(|errno| Fault::new(errno, FileCall::Open, &real))?;
                self.digest = Some(digest);
            }
        }
        Ok(self.digest.clone())
    }

    /// Returns the existing entry, if it stays.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        match &self.there {
            There::File(entry) | There::Other(entry) => Some(entry),
            There::Nothing | There::InTheWay(_) => None,
        }
    }

    /// Returns the found state, with the digest of the content if it was read.
    pub(super) fn what_was_found(&self) -> FoundPath {
        match &self.there {
            There::Nothing => FoundPath::absent(),
            There::File(entry) => FoundPath::of(*entry).with_content(self.digest.clone()).secret_if(self.is_secret),
            There::Other(entry) | There::InTheWay(entry) => FoundPath::of(*entry),
        }
    }

    /// Takes the open file, if there is one.
    pub(crate) fn take_handle(&mut self) -> Option<OwnedFd> {
        self.handle.take()
    }

    /// Tells whether a diff of the present content must not be shown.
    pub(super) fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// Tells whether only earlier resources of a dry run know the present content.
    pub(super) fn is_assumed(&self) -> bool {
        self.is_assumed
    }

    /// In a dry run, replaces the state by the one after all earlier resources.
    fn by_then(self, view: &View<'_>) -> Self {
        match view.foreseen_file(self.granted.path()) {
            None => self,
            Some(ForeseenFile::Absent) => Self { there: There::Nothing, handle: None, place: None, ..self },
            Some(ForeseenFile::There { content, stat, is_secret, is_unread }) => {
                // If the content cannot be stored, the machine's own file is compared.
                let Ok(handle) = in_memory(&content) else { return self };
                Self {
                    there: There::File(foreseen_entry(&stat, &content)),
                    handle: Some(handle),
                    place: None,
                    is_secret,
                    is_assumed: is_unread,
                    ..self
                }
            }
        }
    }

    fn found(view: &View<'_>, granted: GrantedPath, there: There, place: Option<Place>) -> Self {
        let account = view.root.account().clone();
        Self { account, granted, there, handle: None, digest: None, place, is_secret: false, is_assumed: false }
    }
}

/// Returns the entry of a file that earlier resources of a dry run would leave.
pub(super) fn foreseen_entry(stat: &Stat, content: &[u8]) -> Entry {
    Entry {
        kind: Kind::File,
        mode: stat.mode,
        uid: stat.uid,
        gid: stat.gid,
        size: content.len() as u64,
        modified: stat.modified,
        modified_nanos: 0,
        identity: stat.identity,
        links: stat.links,
    }
}

/// Inspects the path, and follows a link there if the resource says so.
///
/// # Errors
/// The path is denied, its directory is missing, or the entry is not a file.
pub(super) fn inspect(wish: &FileWish<'_>, view: &View<'_>, plan: &mut Plan) -> Result<Inspected, Raised> {
    Ok(match on_machine(wish, view, plan)? {
        Inspected::Current(current) => Inspected::Current(current.by_then(view)),
        Inspected::Blocked => Inspected::Blocked,
    })
}

/// Inspects the path on the real machine, without changes of a dry run.
///
/// # Errors
/// As [`inspect`].
pub(super) fn on_machine(wish: &FileWish<'_>, view: &View<'_>, plan: &mut Plan) -> Result<Inspected, Raised> {
    if let Some(current) = unlinked(wish, view) {
        return Ok(Inspected::Current(current));
    }
    let may = |real: &str| wish.granted(view, real).map(drop);
    let Some(place) = view.told(wish.path, view.root.locate(wish.path), may)? else {
        return parent_missing(wish, view, plan).map(Inspected::Current);
    };
    let Some(entry) = view.told(wish.path, place.entry(), may)? else {
        let granted = wish.granted(view, place.real())?;
        return Ok(Inspected::Current(Current::found(view, granted, There::Nothing, Some(place))));
    };
    match entry.kind {
        Kind::File => {
            let granted = wish.granted(view, place.real())?;
            Ok(Inspected::Current(Current::found(view, granted, There::File(entry), Some(place))))
        }
        // For `touch` and `create_if_missing`, Chef always follows the link.
        Kind::Link if wish.manage_symlink_source != Some(false) || wish.only_if_missing || wish.touch => {
            followed(wish, view, plan, &place)
        }
        kind => something_else(wish, view, plan, &place, (kind, entry)),
    }
}

/// Handles the common case: a regular file without a link in its path, so the written path is the real one.
fn unlinked(wish: &FileWish<'_>, view: &View<'_>) -> Option<Current> {
    // A denial here may concern a path that is not the real one. The check is repeated after resolving, and reported then.
    let granted = wish.granted(view, wish.path).ok()?;
    let (handle, entry) = view.root.open_unlinked(wish.path)?;
    let account = view.root.account().clone();
    let there = There::File(entry);
    let (digest, place) = (None, None);
    Some(Current { account, granted, there, handle: Some(handle), digest, place, is_secret: false, is_assumed: false })
}

/// Handles a missing parent directory: an error, unless it will be created before.
fn parent_missing(wish: &FileWish<'_>, view: &View<'_>, plan: &mut Plan) -> Result<Current, Raised> {
    let parent = wish.path.trim_end_matches('/').rsplit_once('/').map_or("/", |(parent, _)| parent);
    let real = match view.root.future_place(wish.path) {
        Ok(future_place) => future_place.real(),
        Err(fault) => {
            let _granted = wish.granted(view, &view.root.asked_about(wish.path))?;
            return Err(fault.into());
        }
    };
    let granted = wish.granted(view, &real)?;
    let real_parent = real.rsplit_once('/').map_or("/", |(parent, _)| parent);
    let made_first = wish.directories_made.is_some_and(|made| made.contains(real_parent));
    // In a real run, the cookbook's own code has created it by then.
    if !made_first && !view.commands.overlay().has_directory(real_parent) {
        if !view.why_run {
            return Err(Raised::new(
                ErrorKind::NoParentDirectory,
                format!("Parent directory {parent} does not exist."),
            ));
        }
        plan.certainty.push(Certainty::Assumed(format!("assuming directory {parent} would have been created")));
    }
    Ok(Current::found(view, granted, There::Nothing, None))
}

/// Handles a link that is followed: its target is managed, and needs the grant.
fn followed(wish: &FileWish<'_>, view: &View<'_>, plan: &mut Plan, link: &Place) -> Result<Inspected, Raised> {
    let path = wish.path;
    let says = || link.read_link().unwrap_or_default();
    let is_create = !wish.only_if_missing && !wish.touch;
    let located = view.root.locate_target(path);
    if let Err(fault) = &located {
        // The grant for the target is checked before an error reveals that it is missing or that links form a circle.
        let real = fault.real().map_or_else(|| view.root.asked_about(path), str::to_owned);
        let _granted = wish.granted(view, &real)?;
    }
    let target = match located {
        Ok(target) => target,
        Err(fault) if wish.warns_of_link() && (fault.errno == Errno::LOOP || fault.is_absence()) => {
            return Err(unresolved(path, fault.errno));
        }
        Err(fault) if fault.errno == Errno::LOOP => {
            return invalid_link(
                view,
                plan,
                format!(
                    "Symlink at {path} (pointing to {}) exists but attempting to resolve it creates a loop",
                    says()
                ),
                "assuming symlink loop would be fixed by a previous resource",
            );
        }
        Err(fault) if fault.is_absence() => return leads_nowhere(path, &says(), view, plan),
        Err(fault) => return Err(fault.into()),
    };
    let granted = wish.granted(view, target.real())?;
    if wish.warns_of_link() && !view.is_checking {
        let (declared, real) = (wish.declared(), target.real());
        let line = format!("{declared}: {path} is a link, and its target {real} is managed: set manage_symlink_source");
        remark(&view.settings.account, LogLevel::Warn, &line);
    }
    match absent(target.entry())? {
        None if wish.warns_of_link() => Err(unresolved(path, Errno::NOENT)),
        None if is_create => leads_nowhere(path, &says(), view, plan),
        None => Ok(Inspected::Current(Current::found(view, granted, There::Nothing, Some(target)))),
        Some(entry) if entry.kind == Kind::File => {
            Ok(Inspected::Current(Current::found(view, granted, There::File(entry), Some(target))))
        }
        Some(entry) if !is_create => {
            Ok(Inspected::Current(Current::found(view, granted, There::Other(entry), Some(target))))
        }
        Some(entry) => mismatch(
            view,
            plan,
            format!(
                "File {path} exists, but is a symlink to {real} which is a {}. Disable manage_symlink_source and set \
                 force_unlink to remove it.",
                entry.kind.words(),
                real = target.real()
            ),
            format!(
                "assuming symlink {path} or source file {} would have been fixed by a previous resource",
                target.real()
            ),
        ),
    }
}

/// Handles an entry that is neither a file nor a link to follow.
fn something_else(
    wish: &FileWish<'_>,
    view: &View<'_>,
    plan: &mut Plan,
    place: &Place,
    (kind, entry): (Kind, Entry),
) -> Result<Inspected, Raised> {
    let path = wish.path;
    let granted = wish.granted(view, place.real())?;
    if wish.force_unlink {
        return Ok(Inspected::Current(Current::found(view, granted, There::InTheWay(entry), None)));
    }
    if wish.only_if_missing || wish.touch {
        return Ok(Inspected::Current(Current::found(view, granted, There::Other(entry), None)));
    }
    // Chef's message names the kind of the link's target here.
    let shown = match kind {
        Kind::Link => match view.seen_target(path) {
            Some(Ok(Some(target))) if target.kind != Kind::File => target.kind,
            _ => Kind::Link,
        },
        other => other,
    }
    .words();
    mismatch(
        view,
        plan,
        format!("File {path} exists, but is a {shown}, set force_unlink to true to remove"),
        format!("assuming {shown} at {path} would have been removed by a previous resource"),
    )
}

fn leads_nowhere(path: &str, says: &str, view: &View<'_>, plan: &mut Plan) -> Result<Inspected, Raised> {
    invalid_link(
        view,
        plan,
        format!(
            "Symlink at {path} (pointing to {says}) exists but attempting to resolve it leads to a nonexistent file"
        ),
        "assuming symlink source would be created by a previous resource",
    )
}

/// Returns the error for a dangling link if the resource does not say whether to follow it. Chef resolves such a link to warn
/// about it, and fails with this error, in a dry run too.
pub(super) fn unresolved(path: &str, errno: Errno) -> Raised {
    Fault::new(errno, FileCall::ResolveLinks, path).into()
}

fn invalid_link(view: &View<'_>, plan: &mut Plan, message: String, assumed: &str) -> Result<Inspected, Raised> {
    block(view, plan, Raised::new(ErrorKind::InvalidLink, message), assumed.to_owned())
}

fn mismatch(view: &View<'_>, plan: &mut Plan, message: String, assumed: String) -> Result<Inspected, Raised> {
    block(view, plan, Raised::new(ErrorKind::WrongFileType, message), assumed)
}

/// Returns an error; in a dry run, the resource is reported as uncertain instead.
fn block(view: &View<'_>, plan: &mut Plan, raised: Raised, assumed: String) -> Result<Inspected, Raised> {
    if !view.why_run {
        return Err(raised);
    }
    plan.certainty.push(Certainty::Assumed(assumed));
    Ok(Inspected::Blocked)
}
