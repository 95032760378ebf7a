//! Making a file, or correcting what differs: `create`, `create_if_missing`, `touch`.

use super::access::{AccessPlan, assumption, file_mode};
use super::content::{Content, head_of};
use super::inspect::{Current, Inspected, There, inspect};
use super::verify::{Check, Verification, keep_rejected};
use super::wish::FileWish;
use super::{Source, backup};
use crate::plan::{Plan, Rejection, Staging, Step, View, Writer};
use contract::{Account, Certainty, Change, Raised, Wanted};
use grants::{GrantedPath, GrantedTree};
use machine::diff;
use machine::digest::short;
use machine::root::{Kind, ModeBits, NewFileAttributes, StagedFile};
use rustix::fd::OwnedFd;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};

/// Permission bits of a file that nobody else may see yet.
const PRIVATE: ModeBits = ModeBits::plain(0o600);

/// Permission bits of a new file before the process's file mode creation mask.
const NEW_FILE: ModeBits = ModeBits::plain(0o666);

/// Most bytes of a file that a test hears.
const MAX_HEARD: u64 = 16 << 20;

/// A staged file, shared between whoever stages it and whoever puts it in place.
type Shared = Arc<Mutex<Option<StagedFile>>>;

/// Plans `create`, `create_if_missing` and `touch`.
pub(crate) fn plan_create(
    wish: &FileWish<'_>,
    source: &dyn Source,
    wanted: &Wanted<'_>,
    view: &mut View<'_>,
) -> Result<Plan, Raised> {
    let mut plan = Plan::up_to_date();
    let numbers = wish.access.numbers(view, &mut plan)?;
    let mut current = match inspect(wish, view, &mut plan)? {
        Inspected::Current(current) => current,
        Inspected::Blocked => return Ok(plan),
    };
    if wish.only_if_missing && !matches!(current.there, There::Nothing) {
        return Ok(plan);
    }
    let content = match &current.there {
        There::Other(_) => None,
        _ => source.content(wanted, &mut current, view)?,
    };
    if let (Some(content), Some(hear)) = (&content, &view.settings.contents) {
        hear(wish.path, &content.head(MAX_HEARD));
    }
    let changed = compare_content(wish, content, &mut current)?;
    let access = wish.access.compare(numbers, current.entry(), &current.granted, false, view)?;
    let is_new = matches!(current.there, There::Nothing | There::InTheWay(_));
    if is_new || changed.is_some() {
        write(wish, changed, access, current, view, &mut plan)?;
    } else if !access.is_empty() {
        plan.steps.push(access_step(current.granted.clone(), access));
    }
    if wish.touch {
        touch(wish, view, &mut plan)?;
    }
    Ok(plan)
}

/// Whether the content matters, by what is there.
pub(super) fn needs_content(wish: &FileWish<'_>, view: &mut View<'_>) -> Result<bool, Raised> {
    // What a dry run assumes here is said with the plan.
    let mut plan = Plan::up_to_date();
    wish.access.numbers(view, &mut plan)?;
    Ok(match inspect(wish, view, &mut plan)? {
        Inspected::Blocked => false,
        Inspected::Current(current) => match current.there {
            There::Nothing => true,
            There::Other(_) => false,
            There::File(_) | There::InTheWay(_) => !wish.only_if_missing,
        },
    })
}

/// The content if it has to be written; checks its digest.
fn compare_content<'a>(
    wish: &FileWish<'_>,
    content: Option<Content<'a>>,
    current: &mut Current,
) -> Result<Option<Content<'a>>, Raised> {
    let Some(content) = content else { return Ok(None) };
    if let Some(checksum) = wish.checksum {
        let found = content.digest();
        if !found.text().eq_ignore_ascii_case(checksum) {
            return Err(Raised::new(
                "Chef::Exceptions::ChecksumMismatch",
                format!(
                    "Checksum on resource ({}...) does not match checksum on content ({}...)",
                    short(checksum),
                    found.short()
                ),
            ));
        }
    }
    let size = current.entry().map(|entry| entry.size).unwrap_or_default();
    let (real, account) = (current.granted.path().to_owned(), current.account.clone());
    let same = match current.file()? {
        Some(file) => content
            .is_in(file, size, &account)
            .map_err(|errno| machine::root::Fault::new(errno, "rb_sysopen", &real))?,
        None => false,
    };
    Ok((!same).then_some(content))
}

/// Everything that is done with one rename, and its sentences.
fn write(
    wish: &FileWish<'_>,
    content: Option<Content<'_>>,
    access: AccessPlan,
    mut current: Current,
    view: &mut View<'_>,
    plan: &mut Plan,
) -> Result<(), Raised> {
    let path = wish.path;
    let granted = current.granted.clone();
    let mut changes = Vec::new();
    let mut in_the_way = None;
    if let There::InTheWay(kind) = current.there {
        changes.push(Change::new(format!("unlink {} at {path}", kind.words())));
        if kind == Kind::Directory {
            in_the_way = Some(view.manage_whole(&view.root.locate(granted.path())?)?);
        }
    }
    let is_new = matches!(current.there, There::Nothing | There::InTheWay(_));
    if is_new {
        changes.push(Change::new(format!("create new file {path}")));
        if view.why_run && view.assumed.path(granted.path()) {
            plan.certainty.push(Certainty::Assumed(format!("assuming {path} would have been created")));
        }
        plan.assume(assumption(granted.path(), false));
    }
    let verification = match &content {
        Some(content) => {
            changes.push(content_change(wish, content, &mut current, &view.settings.account)?);
            Verification::of(wish, content, view, plan)?
        }
        None => Verification::default(),
    };
    changes.extend(access.changes.iter().cloned());
    // The old file's own set-id bits would vouch for new content.
    let mode = match (access.mode, current.entry()) {
        (Some(mode), _) => Some(mode),
        (None, Some(entry)) => Some(ModeBits::from(&file_mode(view, &granted, entry.mode, false)?)),
        (None, None) => None,
    };
    let old = if is_new { None } else { current.take_handle() };
    let work = Work {
        path: path.to_owned(),
        backup: if is_new { 0 } else { wish.backup.unwrap_or(view.settings.backups) },
        content: content.map(Content::into_owned),
        creation_mode: if is_new && mode.is_none() { NEW_FILE } else { PRIVATE },
        new_attributes: NewFileAttributes {
            mode,
            uid: access.uid,
            gid: access.gid,
            old: None,
            in_place: wish.atomic.map(|atomic| !atomic),
        },
        old,
        in_the_way,
        checks: verification.checks,
        sensitive: wish.sensitive,
        granted,
        staged: Shared::default(),
    };
    if verification.blocks {
        plan.staging = Some(work.staging());
        // What is secret is not kept where more people look.
        plan.rejection = (!wish.sensitive).then(|| work.rejection());
    }
    let mut changes = changes.into_iter();
    if let Some(first) = changes.next() {
        plan.steps.push(changes.fold(Step::new(first, move |writer| work.run(writer)), Step::also));
    }
    Ok(())
}

/// `update content in file /x from none to abc123`, with the diff.
fn content_change(
    wish: &FileWish<'_>,
    content: &Content<'_>,
    current: &mut Current,
    account: &Account,
) -> Result<Change, Raised> {
    let before = current.digest()?;
    let before = before.as_ref().map_or("none", |digest| digest.short());
    let what = format!("update content in file {} from {before} to {}", wish.path, content.digest().short());
    if wish.sensitive {
        return Ok(Change { what, diff: Some(diff::SENSITIVE.to_owned()) });
    }
    let limit = diff::MAXIMUM_FILE + 1;
    let old = match current.file()? {
        Some(file) => head_of(file, limit).unwrap_or_default(),
        None => Vec::new(),
    };
    Ok(Change { what, diff: Some(diff::unified(wish.path, &old, &content.head(limit), account)) })
}

/// What one rename needs.
struct Work {
    /// The path as the cookbook wrote it.
    path: String,
    granted: GrantedPath,
    /// How many backups are kept.
    backup: usize,
    /// None: an empty file.
    content: Option<Content<'static>>,
    creation_mode: ModeBits,
    new_attributes: NewFileAttributes,
    old: Option<OwnedFd>,
    /// A directory that has to go first.
    in_the_way: Option<GrantedTree>,
    checks: Vec<Check>,
    sensitive: bool,
    staged: Shared,
}

impl Work {
    /// Stages the content early, for blocks of the guest to look at.
    fn staging(&self) -> Staging {
        let (granted, staged) = (self.granted.clone(), Arc::clone(&self.staged));
        let (content, creation_mode) = (self.content.clone(), self.creation_mode);
        Staging::new(move |writer| {
            let file = stage(writer, &granted, content.as_ref(), creation_mode)?;
            let path = file.path();
            *staged.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
            Ok(json!(path))
        })
    }

    /// Keeps what was staged when a block rejected it.
    fn rejection(&self) -> Rejection {
        let staged = Arc::clone(&self.staged);
        Box::new(move |writer| {
            let staged = staged.lock().unwrap_or_else(PoisonError::into_inner).take();
            staged.as_ref().map_or_else(|| Ok(String::new()), |staged| keep_rejected(writer, staged))
        })
    }

    fn run(mut self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let staged = self.staged.lock().unwrap_or_else(PoisonError::into_inner).take();
        let staged = match staged {
            Some(staged) => staged,
            None => stage(writer, &self.granted, self.content.as_ref(), self.creation_mode)?,
        };
        for check in &self.checks {
            check.run(writer, &staged, &self.path, self.sensitive)?;
        }
        if self.backup > 0 {
            backup::keep(writer, &self.path, &self.granted, self.backup)?;
        }
        if let Some(tree) = &self.in_the_way {
            writer.root.tree_site(tree)?.remove()?;
        }
        self.new_attributes.old = self.old.take();
        if self.new_attributes.in_place == Some(true) && self.new_attributes.old.is_some() {
            staged.pour(&self.new_attributes)?;
        } else {
            staged.publish(&self.new_attributes)?;
        }
        Ok(())
    }
}

fn stage(
    writer: &mut Writer<'_>,
    granted: &GrantedPath,
    content: Option<&Content<'_>>,
    creation_mode: ModeBits,
) -> Result<StagedFile, Raised> {
    let mut staged = writer.root.site(granted)?.stage(creation_mode)?;
    if let Some(content) = content {
        content.write_to(&mut staged)?;
    }
    Ok(staged)
}

/// Owner, group and mode of something that is there.
pub(crate) fn access_step(granted: GrantedPath, access: AccessPlan) -> Step {
    let AccessPlan { uid, gid, mode, changes } = access;
    let mut changes = changes.into_iter();
    let first = changes.next().unwrap_or_default();
    let step = Step::new(first, move |writer| {
        let site = writer.root.site(&granted)?;
        if uid.is_some() || gid.is_some() {
            site.set_owner(uid, gid)?;
        }
        if let Some(mode) = mode {
            site.set_mode(mode)?;
        }
        Ok(())
    });
    changes.fold(step, Step::also)
}

/// The times, after everything else.
fn touch(wish: &FileWish<'_>, view: &View<'_>, plan: &mut Plan) -> Result<(), Raised> {
    // A link was followed above; a file that is still missing will be made where the path leads.
    let granted = |real: &str| wish.granted(view, real).map(drop);
    let real = match view.told(wish.path, view.root.locate_target(wish.path), granted)? {
        Some(place) => place.real().to_owned(),
        None => view.root.future_place(wish.path)?.real(),
    };
    let granted = wish.granted(view, &real)?;
    let change = Change::new(format!("update utime on file {}", wish.path));
    plan.steps.push(Step::new(change, move |writer| Ok(writer.root.site(&granted)?.set_times(None)?)));
    Ok(())
}

/// What a dry run says about content that something must approve.
pub(super) fn unverified(path: &str) -> Certainty {
    Certainty::Unknown(format!("whether the new content of {path} would be verified is not known in a dry run"))
}
