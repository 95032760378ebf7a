//! The operations on one file: put it in place, set its owner and mode, or set its times.

use super::access::AccessPlan;
use super::backup;
use super::content::Content;
use super::staging::{Rejection, Staged, Staging, stage};
use super::verify::Check;
use crate::foreseen::Outcomes;
use crate::found::{Found, FoundPath, Still, Thing, changed_meanwhile, taken};
use crate::operation::Operation;
use crate::plan::{Step, Writer};
use contract::{FileCall, Raised};
use grants::{GrantedPath, GrantedTree};
use machine::digest::digest_of;
use machine::guest::{Planned, PlannedAccess};
use machine::root::{Entry, Fault, ModeBits, NewFileAttributes, StagedFile, absent};
use rustix::fd::OwnedFd;

/// Maximum size of an old file that is read once more before it is replaced, in bytes. Up to this size, reading takes less
/// time than flushing the new file. For larger files only size, identity and the time of the last change are compared. That
/// misses a write of the same size within one tick of the kernel's clock.
const READ_AGAIN: u64 = 1 << 20;

/// A file to put in place with one rename: content, owner, group and mode.
#[derive(Debug)]
pub(crate) struct WriteFile {
    /// The path as the cookbook wrote it.
    pub(super) path: String,
    pub(super) granted: GrantedPath,
    /// The number of backups to keep.
    pub(super) backup: usize,
    /// The content. `None`: an empty file.
    pub(super) content: Option<Content<'static>>,
    pub(super) creation_mode: ModeBits,
    pub(super) new_attributes: NewFileAttributes,
    /// The state of the path when planned.
    pub(super) found: FoundPath,
    pub(super) old: Option<OwnedFd>,
    /// A directory that must be removed first.
    pub(super) in_the_way: Option<GrantedTree>,
    pub(super) checks: Vec<Check>,
    pub(super) sensitive: bool,
    pub(super) staged: Staged,
}

impl WriteFile {
    /// Returns the state of the path when planned.
    pub(crate) fn found(&self) -> Found {
        self.found.found(self.granted.path())
    }

    /// Adds the planned file. Content that is not in memory is unknown.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        let content = match &self.content {
            None => Some(vec![]),
            Some(Content::Bytes(bytes)) => Some(bytes.to_vec()),
            Some(Content::File(_) | Content::SwapSpace { .. }) => None,
        };
        let NewFileAttributes { mode, uid, gid, .. } = &self.new_attributes;
        let access = PlannedAccess { mode: mode.map(ModeBits::bits), uid: *uid, gid: *gid };
        let is_secret = self.sensitive;
        let planned = content.map_or(Planned::Unknown, |content| Planned::File { content, access, is_secret });
        outcomes.push((self.granted.path().to_owned(), planned));
    }

    /// Returns the step that stages the content early, for the guest's `verify` blocks.
    pub(super) fn staging(&self) -> Staging {
        Staging {
            granted: self.granted.clone(),
            content: self.content.clone(),
            creation_mode: self.creation_mode,
            staged: self.staged.clone(),
        }
    }

    /// Returns the step that keeps the staged content if a block rejects it.
    pub(super) fn rejection(&self) -> Rejection {
        Rejection { staged: self.staged.clone() }
    }

    /// Stages the content unless that was already done, runs the checks, keeps a backup, and puts the file in place.
    ///
    /// # Errors
    /// A check rejects the content, the machine refuses a call, or the entry at the path has changed meanwhile.
    pub(crate) fn carry_out(mut self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let mut staged = match self.staged.take() {
            Some(staged) => staged,
            None => stage(writer, &self.granted, self.content.as_ref(), self.creation_mode)?,
        };
        for check in &self.checks {
            check.run(writer, &mut staged, &self.path, self.sensitive)?;
        }
        if self.backup > 0 {
            backup::keep(writer, &self.path, &self.granted, self.backup)?;
        }
        self.require_found(writer, &staged)?;
        if let Some(tree) = &self.in_the_way {
            writer.root.tree_site(tree)?.remove()?;
        }
        self.new_attributes.old = self.old.take();
        if self.new_attributes.in_place == Some(true) && self.new_attributes.old.is_some() {
            return Ok(staged.pour(&self.new_attributes)?);
        }
        let is_new = self.new_attributes.is_new;
        staged.publish(&self.new_attributes).map_err(|fault| match is_new {
            true => taken(fault, &self.path),
            false => fault.into(),
        })
    }

    /// Fails if somebody has changed the entry at the path. If there was none, the rename itself detects a new one without an
    /// extra call.
    fn require_found(&self, writer: &Writer<'_>, staged: &StagedFile) -> Result<(), Raised> {
        if !self.found.is_there() {
            return Ok(());
        }
        self.found.require(Still::Whole, staged.target_entry(), &self.path)?;
        let (Some(old), Some(found)) = (&self.old, self.found.content()) else { return Ok(()) };
        if self.found.size() > READ_AGAIN {
            return Ok(());
        }
        let unreadable = |errno| Fault::new(errno, FileCall::Open, self.granted.path());
        let now = digest_of(old, &writer.settings.account).map_err(unreadable)?;
        if now == *found { Ok(()) } else { Err(changed_meanwhile(&self.path, "its content changed")) }
    }
}

/// Creates the step that sets owner, group and mode of an existing entry.
pub(crate) fn access_step(granted: GrantedPath, access: AccessPlan, found: FoundPath) -> Step {
    let AccessPlan { uid, gid, mode, changes } = access;
    let mut changes = changes.into_iter();
    let first = changes.next().unwrap_or_default();
    let step = Step::new(first, Operation::SetAccess(SetAccess { granted, found, uid, gid, mode }));
    changes.fold(step, Step::also)
}

/// New owner, group and mode of an existing entry. `None` keeps the present value.
#[derive(Debug)]
pub(crate) struct SetAccess {
    granted: GrantedPath,
    /// The state of the path when planned.
    found: FoundPath,
    uid: Option<u32>,
    gid: Option<u32>,
    mode: Option<ModeBits>,
}

impl SetAccess {
    /// Returns the state of the path when planned.
    pub(crate) fn found(&self) -> Found {
        self.found.found(self.granted.path())
    }

    /// Adds the planned owner, group and mode.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        let access = PlannedAccess { mode: self.mode.map(ModeBits::bits), uid: self.uid, gid: self.gid };
        outcomes.push((self.granted.path().to_owned(), Planned::Access(access)));
    }

    /// Sets the owner and the group, then the mode.
    ///
    /// # Errors
    /// The machine refuses a call, or the entry at the path has changed meanwhile.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let site = writer.root.site(&self.granted)?;
        let held = self.found.hold(Still::Access, &site, self.granted.path())?;
        if self.uid.is_some() || self.gid.is_some() {
            held.set_owner(self.uid, self.gid)?;
        }
        if let Some(mode) = self.mode {
            held.set_mode(mode)?;
        }
        Ok(())
    }
}

/// A file whose times are set to the present.
#[derive(Debug)]
pub(crate) struct Touch {
    pub(super) granted: GrantedPath,
    /// The existing entry. `None`: an earlier step creates the file.
    pub(super) found: Option<Entry>,
    /// True if an earlier step puts another file there.
    pub(super) is_written: bool,
}

impl Touch {
    /// Returns whether the path existed. The old times do not matter.
    pub(crate) fn found(&self) -> Found {
        let path = self.granted.path();
        Found::of([match self.found {
            Some(entry) => Thing::new("path", path).with("presence", entry.kind.words()),
            None => Thing::absent("path", path),
        }])
    }

    /// Adds the file with its new time.
    pub(crate) fn foresee(&self, outcomes: &mut Outcomes) {
        outcomes.push((self.granted.path().to_owned(), Planned::Touched));
    }

    /// Sets both times of the file to the present.
    ///
    /// # Errors
    /// The machine refuses, the file no longer exists, or something else has its name.
    pub(crate) fn carry_out(self, writer: &mut Writer<'_>) -> Result<(), Raised> {
        let site = writer.root.site(&self.granted)?;
        let Some(held) = absent(site.hold())? else {
            return Err(changed_meanwhile(self.granted.path(), "it is not there any more"));
        };
        let judged = self.found.filter(|_| !self.is_written);
        if let Some(judged) = judged
            && judged.identity != held.entry()?.identity
        {
            return Err(changed_meanwhile(self.granted.path(), "something else has its name"));
        }
        Ok(held.set_times(None)?)
    }
}
