//! Removing a file.

use super::backup;
use super::inspect::{foreseen_entry, unresolved};
use super::wish::FileWish;
use crate::foreseen::Outcomes;
use crate::found::{Found, FoundPath, Still};
use crate::operation::Operation;
use crate::plan::{Plan, Step, View, Writer};
use contract::{Certainty, Change, ErrorKind, Raised};
use grants::GrantedPath;
use machine::guest::{ForeseenFile, Planned};
use machine::root::{Kind, absent};
use rustix::io::Errno;

/// Plans `delete`. A link is removed, never what it leads to; a link that leads nowhere is, to Chef, no file, or an error.
pub(crate) fn plan_delete(wish: &FileWish<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
    let path = wish.path;
    // What may not be managed may not be asked for, either: whether it exists is nobody's business.
    let may = |real: &str| wish.granted(view, real).map(drop);
    let Some(place) = view.told(path, view.root.locate(path), may)? else { return nothing(wish, view) };
    let granted = wish.granted(view, place.real())?;
    let Some(entry) = absent(place.entry())? else { return nothing(wish, view) };
    if view.foreseen_file(place.real()) == Some(ForeseenFile::Absent) {
        return Ok(Plan::up_to_date());
    }
    if entry.kind == Kind::Link {
        // Whether a link leads somewhere is told to who may look there. To others it does.
        let errno = match view.seen_target(path) {
            Some(Ok(Some(_))) | None => None,
            Some(Ok(None)) => Some(Errno::NOENT),
            Some(Err(fault)) => Some(fault.errno),
        };
        match errno {
            Some(errno) if wish.warns_of_link() => return Err(unresolved(path, errno)),
            Some(_) => return Ok(Plan::up_to_date()),
            None => {}
        }
    }
    if entry.kind != Kind::Link && !place.is_writable() {
        return Err(Raised::new(
            ErrorKind::NotPermitted,
            format!("File {path} exists but is not writable so it cannot be deleted"),
        ));
    }
    let backups = if entry.kind == Kind::File { wish.backup.unwrap_or(view.settings.backups) } else { 0 };
    let found = FoundPath::at(&place, entry);
    Ok(Plan::steps(vec![step(path.to_owned(), granted, found, backups)]))
}

/// Removes something that is not a directory, and keeps as many backups of a file as usual.
///
/// # Errors
/// It may not be looked at.
pub(crate) fn delete_step(path: String, granted: GrantedPath, kind: Kind, view: &View<'_>) -> Result<Step, Raised> {
    let found = FoundPath::look(view.root, granted.path())?;
    Ok(step(path, granted, found, if kind == Kind::File { view.settings.backups } else { 0 }))
}

fn step(path: String, granted: GrantedPath, found: FoundPath, backups: usize) -> Step {
    let change = Change::new(format!("delete file {path}")).disappears("file");
    Step::new(change, Operation::RemoveFile(RemoveFile { path, granted, found, backups }))
}

/// Something to remove that is not a directory.
#[derive(Debug)]
pub(crate) struct RemoveFile {
    /// The path as the cookbook wrote it.
    path: String,
    granted: GrantedPath,
    /// What was at the path.
    found: FoundPath,
    /// How many backups are kept.
    backups: usize,
}

impl RemoveFile {
    /// What was at the path. Nobody has read the content.
    pub(crate) fn found(&self) -> Found {
        self.found.found(self.granted.path())
    }

    /// Adds that nothing would be there.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        outcomes.push((self.granted.path().to_owned(), Planned::Gone));
    }

    /// Keeps a backup where one is wanted, then removes the file.
    ///
    /// # Errors
    /// The machine refuses, or something else is at the path by now.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        if self.backups > 0 {
            backup::keep(writer, &self.path, &self.granted, self.backups)?;
        }
        let site = writer.root.site(&self.granted)?;
        self.found.require(Still::Itself, site.entry(), &self.path)?;
        site.remove_file().map_err(|fault| fault.about(&self.path).into())
    }
}

/// Nothing there; in a dry run something may have been made before.
fn nothing(wish: &FileWish<'_>, view: &View<'_>) -> Result<Plan, Raised> {
    let path = wish.path;
    if !view.why_run {
        return Ok(Plan::up_to_date());
    }
    let real = view.root.asked_about(path);
    match view.foreseen_file(&real) {
        Some(ForeseenFile::Absent) => Ok(Plan::up_to_date()),
        Some(ForeseenFile::There { content, stat, .. }) => {
            let backups = wish.backup.unwrap_or(view.settings.backups);
            let found = FoundPath::of(foreseen_entry(&stat, &content));
            Ok(Plan::steps(vec![step(path.to_owned(), wish.granted(view, &real)?, found, backups)]))
        }
        None if view.assumed.path(path) => {
            Ok(Plan::uncertain(Certainty::Assumed(format!("assuming {path} would have been created"))))
        }
        None => Ok(Plan::up_to_date()),
    }
}
