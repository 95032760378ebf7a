//! Creates a file or corrects it: `create`, `create_if_missing`, `touch`.

use super::Source;
use super::access::{AccessPlan, Numbers, assumption, file_mode};
use super::content::{Content, head_of};
use super::inspect::{Current, Inspected, There, inspect, on_machine};
use super::operations::{Touch, WriteFile, access_step};
use super::staging::Staged;
use super::verify::Verification;
use super::wish::FileWish;
use crate::found::FoundPath;
use crate::operation::Operation;
use crate::plan::{Plan, Step, View};
use contract::{Account, Certainty, Change, ErrorKind, FileCall, Raised, Wanted};
use machine::denied::denied;
use machine::diff;
use machine::digest::{Digest, short};
use machine::root::{Entry, Fault, Kind, ModeBits, NewFileAttributes, absent};

/// Permission bits of a file that other users may not read yet.
const PRIVATE: ModeBits = ModeBits::plain(0o600);

/// Permission bits of a new file before the process's file mode creation mask.
const NEW_FILE: ModeBits = ModeBits::plain(0o666);

/// Maximum size of the content that the test of a policy gets, in bytes.
const MAX_HEARD: u64 = 16 << 20;

/// Plans `create`, `create_if_missing` and `touch`.
///
/// In a dry run, an earlier resource may already create exactly this file. Then that is assumed, as in Chef's dry runs, and
/// the plan compares with the machine as it is. But if code of the policy has read the file meanwhile, its content is not
/// assumed.
pub(crate) fn plan_create(
    wish: &FileWish<'_>,
    source: &dyn Source,
    wanted: &Wanted<'_>,
    view: &mut View<'_>,
) -> Result<Plan, Raised> {
    let mut plan = Plan::up_to_date();
    let numbers = numbers_of(wish, view, &mut plan)?;
    let current = match inspect(wish, view, &mut plan)? {
        Inspected::Current(current) => current,
        Inspected::Blocked => return Ok(plan),
    };
    let is_assumed = current.is_assumed();
    let by_then = plan_against(current, numbers, plan, (wish, source, wanted), view)?;
    if !is_assumed || !by_then.steps.is_empty() {
        return Ok(by_then);
    }
    let mut plan = Plan::up_to_date();
    numbers_of(wish, view, &mut plan)?;
    let Inspected::Current(now) = on_machine(wish, view, &mut plan)? else { return Ok(by_then) };
    let is_there = !matches!(now.there, There::Nothing);
    if wish.only_if_missing {
        // The content was not evaluated, since the file would exist.
        let assumed = format!("assuming {} would have been created", wish.path);
        plan.certainty.extend((!is_there).then_some(Certainty::Assumed(assumed)));
        return Ok(plan);
    }
    let mut now = plan_against(now, numbers, plan, (wish, source, wanted), view)?;
    now.is_done_before = true;
    if is_there && !now.steps.is_empty() {
        now.certainty.push(Certainty::Assumed(format!("assuming {} would have been changed so before", wish.path)));
    }
    Ok(now)
}

/// Returns the numeric ids of owner and group. They are looked up only if the path is granted.
fn numbers_of(wish: &FileWish<'_>, view: &mut View<'_>, plan: &mut Plan) -> Result<Numbers, Raised> {
    let may = |view: &View<'_>| wish.granted(view, &view.root.asked_about(wish.path)).map(drop);
    wish.access.numbers(may, view, plan)
}

/// Adds the steps for the existing entry to a plan.
fn plan_against(
    mut current: Current,
    numbers: Numbers,
    mut plan: Plan,
    (wish, source, wanted): (&FileWish<'_>, &dyn Source, &Wanted<'_>),
    view: &mut View<'_>,
) -> Result<Plan, Raised> {
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
    let (content, is_same) = compare_content(wish, content, &mut current)?;
    let is_changed = content.is_some() && !is_same;
    let access = wish.access.compare(numbers, current.entry(), &current.granted, false, view)?;
    let is_new = matches!(current.there, There::Nothing | There::InTheWay(_));
    if !is_new && is_changed && wish.atomic == Some(false) {
        let place = absent(view.root.locate(current.granted.path()))?;
        place.map_or(Ok(Ok(())), |place| place.require_names(view.grants))?.map_err(denied)?;
    }
    let present = current.entry().copied();
    let content = content.map(|content| Wished { content, is_there: is_same });
    let is_written =
        is_new || is_changed || (content.is_some() && wish.atomic != Some(false) && takes_writers(&current, &access));
    if is_written {
        write((wish, source), content, access, current, view, &mut plan)?;
    } else if !access.is_empty() {
        // If the content stays, its digest is not needed.
        let found = current.entry().copied().map(FoundPath::of).unwrap_or_default();
        plan.steps.push(access_step(current.granted.clone(), access, found));
    }
    if wish.touch {
        touch(wish, present, is_written, view, &mut plan)?;
    }
    Ok(plan)
}

/// Tells whether the content is needed, judging by the existing entry.
pub(super) fn needs_content(wish: &FileWish<'_>, view: &mut View<'_>) -> Result<bool, Raised> {
    // The assumptions of a dry run are reported with the plan.
    let mut plan = Plan::up_to_date();
    numbers_of(wish, view, &mut plan)?;
    Ok(match inspect(wish, view, &mut plan)? {
        Inspected::Blocked => false,
        Inspected::Current(current) => match current.there {
            There::Nothing => true,
            There::Other(_) => false,
            There::File(_) | There::InTheWay(_) => !wish.only_if_missing,
        },
    })
}

/// The declared content of a file, compared with the file.
struct Wished<'a> {
    content: Content<'a>,
    /// True if the file already has this content. It is then rewritten only to change its owner or mode.
    is_there: bool,
}

/// Tells whether a user other than root would lose write access. Such a user may still have the file open, so known content
/// is written to a new file.
fn takes_writers(current: &Current, access: &AccessPlan) -> bool {
    let There::File(entry) = &current.there else { return false };
    let mode = access.mode.map_or(entry.mode, ModeBits::bits);
    let loses = |bit: u32| entry.mode & bit != 0 && mode & bit == 0;
    let group = entry.gid != 0 && (loses(0o020) || (access.gid.is_some() && entry.mode & 0o020 != 0));
    (access.uid.is_some() && entry.uid != 0) || group || loses(0o002)
}

/// Checks the digest of the content. Returns the content, and whether the file already has it.
fn compare_content<'a>(
    wish: &FileWish<'_>,
    content: Option<Content<'a>>,
    current: &mut Current,
) -> Result<(Option<Content<'a>>, bool), Raised> {
    let Some(content) = content else { return Ok((None, false)) };
    if let Some(checksum) = wish.checksum {
        let found = content.digest();
        if !found.text().eq_ignore_ascii_case(checksum) {
            return Err(Raised::new(
                ErrorKind::ChecksumMismatch,
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
        Some(file) => content.is_in(file, size, &account).map_err(|errno| Fault::new(errno, FileCall::Open, &real))?,
        None => false,
    };
    Ok((Some(content), same))
}

/// Plans the changes that one rename makes, with their sentences.
fn write(
    (wish, source): (&FileWish<'_>, &dyn Source),
    content: Option<Wished<'_>>,
    access: AccessPlan,
    mut current: Current,
    view: &mut View<'_>,
    plan: &mut Plan,
) -> Result<(), Raised> {
    let path = wish.path;
    let is_there = content.as_ref().is_some_and(|wished| wished.is_there);
    let content = content.map(|wished| wished.content);
    let granted = current.granted.clone();
    let mut changes = Vec::new();
    let mut in_the_way = None;
    if let There::InTheWay(entry) = current.there {
        changes.push(Change::new(format!("unlink {} at {path}", entry.kind.words())));
        if entry.kind == Kind::Directory {
            in_the_way = Some(view.manage_whole(&view.root.locate(granted.path())?)?);
        }
    }
    let is_new = matches!(current.there, There::Nothing | There::InTheWay(_));
    if is_new {
        changes.push(Change::new(format!("create new file {path}")).appears("file"));
        if view.why_run && view.assumed.path(granted.path()) {
            plan.certainty.push(Certainty::Assumed(format!("assuming {path} would have been created")));
        }
        plan.assume(assumption(granted.path(), false));
    }
    let verification = match &content {
        Some(content) if !is_there && content.is_shown() => {
            let digest = source.digest(content, view);
            changes.push(content_change(wish, (content, digest), &mut current, &view.settings.account)?);
            Verification::of(wish, content, view, plan)?
        }
        Some(content) if !is_there => {
            changes.push(Change::new(format!("fill {path} with {} bytes of swap space", content.size())));
            Verification::default()
        }
        _ => Verification::default(),
    };
    changes.extend(access.changes.iter().cloned());
    // With the old file's set-id bits, the new content would run with those rights, so they need a grant.
    let mode = match (access.mode, current.entry()) {
        (Some(mode), _) => Some(mode),
        // Set-id bits are dropped, as in a change of owner.
        (None, Some(entry)) if is_there => Some(ModeBits::plain(entry.mode)),
        (None, Some(entry)) => Some(ModeBits::from(&file_mode(view, &granted, entry.mode, false)?)),
        (None, None) => None,
    };
    let found = current.what_was_found();
    let is_free = !found.is_there() || in_the_way.is_some();
    let old = if is_new { None } else { current.take_handle() };
    let operation = WriteFile {
        path: path.to_owned(),
        backup: if is_new || is_there { 0 } else { wish.backup.unwrap_or(view.settings.backups) },
        content: content.map(Content::into_owned),
        creation_mode: if is_new && mode.is_none() { NEW_FILE } else { PRIVATE },
        new_attributes: NewFileAttributes {
            mode,
            uid: access.uid,
            gid: access.gid,
            old: None,
            in_place: wish.atomic.map(|atomic| !atomic),
            is_new: is_free,
            times: None,
        },
        found,
        old,
        in_the_way,
        checks: verification.checks,
        sensitive: wish.sensitive,
        granted,
        staged: Staged::default(),
    };
    if verification.blocks {
        plan.staging = Some(operation.staging());
        // Rejected content that is secret is not kept in the cache, which more people may read.
        plan.rejection = (!wish.sensitive).then(|| operation.rejection());
    }
    let mut changes = changes.into_iter();
    if let Some(first) = changes.next() {
        plan.steps.push(changes.fold(Step::new(first, Operation::WriteFile(Box::new(operation))), Step::also));
    }
    Ok(())
}

/// Returns the change `update content in file /x from none to abc123`, with the diff.
fn content_change(
    wish: &FileWish<'_>,
    (content, after): (&Content<'_>, Digest),
    current: &mut Current,
    account: &Account,
) -> Result<Change, Raised> {
    let before = current.digest()?;
    let short = before.as_ref().map_or("none", |digest| digest.short());
    let what = format!("update content in file {} from {short} to {}", wish.path, after.short());
    if wish.sensitive || current.is_secret() {
        return Ok(Change { diff: Some(diff::SENSITIVE.to_owned()), ..Change::new(what) });
    }
    let before = before.map(|digest| digest.text().to_owned());
    let change = Change::new(what).sets("content", before, Some(after.text().to_owned()));
    let limit = diff::MAX_FILE + 1;
    let old = match current.file()? {
        Some(file) => head_of(file, limit).unwrap_or_default(),
        None => Vec::new(),
    };
    Ok(Change { diff: Some(diff::unified(wish.path, &old, &content.head(limit), account)), ..change })
}

/// Plans to set the times, after all other steps. `is_written`: an earlier step puts another file there.
fn touch(
    wish: &FileWish<'_>,
    found: Option<Entry>,
    is_written: bool,
    view: &View<'_>,
    plan: &mut Plan,
) -> Result<(), Raised> {
    // A link was followed above; a missing file will be created at the path's target.
    let granted = |real: &str| wish.granted(view, real).map(drop);
    let real = match view.told(wish.path, view.root.locate_target(wish.path), granted)? {
        Some(place) => place.real().to_owned(),
        None => view.root.future_place(wish.path)?.real(),
    };
    let granted = wish.granted(view, &real)?;
    let change = Change::new(format!("update utime on file {}", wish.path));
    plan.steps.push(Step::new(change, Operation::Touch(Touch { granted, found, is_written })));
    Ok(())
}

/// Returns the uncertainty of a dry run about content that a check must accept.
pub(super) fn unverified(path: &str) -> Certainty {
    Certainty::Unknown(format!("whether the new content of {path} would be verified is not known in a dry run"))
}
