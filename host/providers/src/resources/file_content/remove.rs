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

/// Plans `delete`. A link is removed itself, never its target. A dangling link is either not a file, for Chef, or an error.
pub(crate) fn plan_delete(wish: &FileWish<'_>, view: &mut View<'_>) -> Result<Plan, Raised> {
    let path = wish.path;
    // The right to manage the path is checked first, so that a policy without it cannot find out whether the file exists.
    let may = |real: &str| wish.granted(view, real).map(drop);
    let Some(place) = view.told(path, view.root.locate(path), may)? else { return nothing(wish, view) };
    let granted = wish.granted(view, place.real())?;
    let Some(entry) = absent(place.entry())? else { return nothing(wish, view) };
    if view.foreseen_file(place.real()) == Some(ForeseenFile::Absent) {
        return Ok(Plan::up_to_date());
    }
    if entry.kind == Kind::Link {
        // The policy may see a dangling link as such only if it may see the link's target. Otherwise the link counts as
        // intact.
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

/// Creates the step that removes an entry that is not a directory, with the usual number of backups of a file.
///
/// # Errors
/// The path may not be read.
pub(crate) fn delete_step(path: String, granted: GrantedPath, kind: Kind, view: &View<'_>) -> Result<Step, Raised> {
    let found = FoundPath::look(view.root, granted.path())?;
    Ok(step(path, granted, found, if kind == Kind::File { view.settings.backups } else { 0 }))
}

fn step(path: String, granted: GrantedPath, found: FoundPath, backups: usize) -> Step {
    let change = Change::new(format!("delete file {path}")).disappears("file");
    Step::new(change, Operation::RemoveFile(RemoveFile { path, granted, found, backups }))
}

/// An entry to remove that is not a directory.
#[derive(Debug)]
pub(crate) struct RemoveFile {
    /// The path as the cookbook wrote it.
    path: String,
    granted: GrantedPath,
    /// The state of the path when planned.
    found: FoundPath,
    /// The number of backups to keep.
    backups: usize,
}

impl RemoveFile {
    /// Returns the state of the path when planned. The content was not read.
    pub(crate) fn found(&self) -> Found {
        self.found.found(self.granted.path())
    }

    /// Adds that the path would not exist.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        outcomes.push((self.granted.path().to_owned(), Planned::Gone));
    }

    /// Keeps a backup if the settings ask for one, then removes the file.
    ///
    /// # Errors
    /// The machine refuses, or another entry is now at the path.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        if self.backups > 0 {
            backup::keep(writer, &self.path, &self.granted, self.backups)?;
        }
        let site = writer.root.site(&self.granted)?;
        self.found.require(Still::Itself, site.entry(), &self.path)?;
        site.remove_file().map_err(|fault| fault.about(&self.path).into())
    }
}

/// Returns the plan for an absent file. In a dry run, an earlier resource may have created it.
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
