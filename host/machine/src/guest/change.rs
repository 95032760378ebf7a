//! Changes to files that a guest's own code makes.

use super::{fault, raised};
use crate::denied;
use crate::root::{Entry, Fault, Given, Held, Kind, ModeBits, NewFileAttributes, Root, absent};
use crate::written;
use contract::{Applied, MachineChange, MachineError};
use grants::{Denied, GrantedPath, PolicyGrants};

/// Maximum size of a file to append to, in bytes. The host rewrites the whole file, so that a reader sees either the old or
/// the new content.
const MAX_APPENDED: u64 = 64 << 20;

/// Checks a change and makes it, unless this is a dry run. Returns the sentence for the report.
pub(super) fn apply(
    root: &Root,
    grants: &PolicyGrants,
    path: &str,
    change: MachineChange,
    dry_run: bool,
) -> Result<Applied, MachineError> {
    let proof = manageable(root, grants, path, follows(&change))?;
    let target = Target { root, grants, path, proof };
    let what = target.apply(change, dry_run)?;
    Ok(Applied { path: target.proof.path().to_owned(), what })
}

/// Tells whether a change applies to the target of a link and not to the link itself.
pub(super) fn follows(change: &MachineChange) -> bool {
    matches!(
        change,
        MachineChange::Write(..)
            | MachineChange::Append(..)
            | MachineChange::Mode(_)
            | MachineChange::Times(..)
            | MachineChange::Owner(..)
    )
}

/// Returns the proof for the target of a path. It reports a missing directory only after the grant was found.
fn manageable(root: &Root, grants: &PolicyGrants, path: &str, follow: bool) -> Result<GrantedPath, MachineError> {
    let place = if follow { root.locate_target(path) } else { root.locate(path) };
    let as_asked = |denial| raised(written::as_asked(denied::denied(denial), path, grants));
    match place {
        Ok(place) => grants.manage_path(place.real()).map_err(as_asked),
        Err(found) => {
            let real = found.real().map_or_else(|| root.asked_about(path), str::to_owned);
            let _proof = grants.manage_path(&real).map_err(as_asked)?;
            if found.is_absence() {
                return Err(MachineError::System("ENOENT".into(), path.into()));
            }
            Err(fault(found))
        }
    }
}

struct Target<'a> {
    root: &'a Root,
    grants: &'a PolicyGrants,
    /// The path as the guest wrote it.
    path: &'a str,
    proof: GrantedPath,
}

impl Target<'_> {
    fn apply(&self, change: MachineChange, dry_run: bool) -> Result<String, MachineError> {
        let path = self.proof.path();
        let sentence = sentence(path, &change);
        let effect: Box<dyn FnOnce() -> Result<(), MachineError> + '_> = match change {
            MachineChange::Write(content, mode) => {
                let new_attributes = self.new_attributes(mode)?;
                Box::new(move || self.write(&content, new_attributes))
            }
            MachineChange::Append(content, mode) => {
                let new_attributes = self.new_attributes(mode)?;
                Box::new(move || self.append(&content, new_attributes))
            }
            MachineChange::MakeDirectory(mode) => Box::new(move || {
                let make = || {
                    let site = self.root.site(&self.proof)?;
                    site.make_directory(ModeBits::plain(mode))?;
                    site.refuse_inherited_lists()
                };
                make().map_err(fault)
            }),
            MachineChange::Link(text) => Box::new(move || {
                self.root.site(&self.proof).and_then(|site| site.make_link(&text, false)).map_err(fault)
            }),
            MachineChange::Rename(new) => return self.rename(&new, sentence, dry_run),
            MachineChange::Remove => {
                Box::new(|| self.root.site(&self.proof).and_then(|site| site.remove_file()).map_err(fault))
            }
            MachineChange::RemoveDirectory => {
                Box::new(|| self.root.site(&self.proof).and_then(|site| site.remove_directory()).map_err(fault))
            }
            MachineChange::Mode(mode) => {
                let judged = self.entry()?;
                let is_directory = judged.is_some_and(|entry| entry.kind == Kind::Directory);
                let granted = self
                    .grants
                    .file_mode(&self.proof, mode, is_directory)
                    .map_err(|denial| self.denied(denial, self.path))?;
                self.require_giving(Given { mode: Some(mode), ..Given::default() })?;
                Box::new(move || self.on_judged(judged, |held| held.set_mode(ModeBits::from(&granted))))
            }
            MachineChange::Owner(uid, gid) => {
                let judged = self.entry()?;
                self.require_giving(Given { uid, gid, mode: None })?;
                Box::new(move || self.on_judged(judged, |held| held.set_owner(uid, gid)))
            }
            MachineChange::Times(accessed, modified) => {
                let times = Some((accessed, modified));
                let judged = self.entry()?;
                Box::new(move || self.on_judged(judged, |held| held.set_times(times)))
            }
        };
        if dry_run {
            return Err(MachineError::DryRun(sentence));
        }
        effect()?;
        Ok(sentence)
    }

    /// Converts a denial to an error that names a path as the guest wrote it.
    fn denied(&self, denial: Denied, written: &str) -> MachineError {
        raised(written::as_asked(denied::denied(denial), written, self.grants))
    }

    /// Requires a grant for the content of a directory that gets another owner, group or mode.
    fn require_giving(&self, given: Given) -> Result<(), MachineError> {
        let place = self.root.locate(self.proof.path()).map_err(fault)?;
        let asked = place.require_giving(self.grants, given).map_err(fault)?;
        asked.map_err(|denial| self.denied(denial, self.path))
    }

    /// Changes what has the name, if that is still what was judged.
    fn on_judged(
        &self,
        judged: Option<Entry>,
        change: impl FnOnce(&Held<'_>) -> Result<(), Fault>,
    ) -> Result<(), MachineError> {
        let site = self.root.site(&self.proof).map_err(fault)?;
        let held = site.hold().map_err(fault)?;
        judged.map_or(Ok(()), |judged| held.require(&judged)).and_then(|()| change(&held)).map_err(fault)
    }

    fn entry(&self) -> Result<Option<Entry>, MachineError> {
        absent(self.root.site(&self.proof).and_then(|site| site.entry())).map_err(fault)
    }

    /// Returns the attributes of a written file: those of the old file, or the requested permission bits if it is new.
    fn new_attributes(&self, mode: u32) -> Result<NewFileAttributes, MachineError> {
        let old = absent(self.root.site(&self.proof).and_then(|site| site.open_file())).map_err(fault)?;
        Ok(match old {
            Some((handle, entry)) => {
                let granted = ModeBits::plain(entry.mode);
                NewFileAttributes { mode: Some(granted), old: Some(handle), ..NewFileAttributes::default() }
            }
            None => {
                let granted =
                    self.grants.file_mode(&self.proof, mode, false).map_err(|denial| self.denied(denial, self.path))?;
                NewFileAttributes { mode: Some(ModeBits::from(&granted)), ..NewFileAttributes::default() }
            }
        })
    }

    fn write(&self, content: &[u8], new_attributes: NewFileAttributes) -> Result<(), MachineError> {
        let site = self.root.site(&self.proof).map_err(fault)?;
        site.write(content, ModeBits::plain(0o600), &new_attributes).map_err(fault)
    }

    fn append(&self, content: &[u8], new_attributes: NewFileAttributes) -> Result<(), MachineError> {
        if self.entry()?.is_some_and(|entry| entry.size > MAX_APPENDED) {
            return Err(MachineError::TooMuch(format!("files of up to {MAX_APPENDED} bytes can be added to")));
        }
        let site = self.root.site(&self.proof).map_err(fault)?;
        let mut staged = site.stage(ModeBits::plain(0o600)).map_err(fault)?;
        if let Some(old) = &new_attributes.old {
            staged.copy_from(old.try_clone().map(std::fs::File::from)).map_err(fault)?;
        }
        staged.write(content).map_err(fault)?;
        staged.publish(&new_attributes).map_err(fault)
    }

    /// Refuses a new name under which the policy could read a file that it may not read now.
    fn keep_unread(&self, old: &str, new: &str) -> Result<(), MachineError> {
        self.grants.read_under_another_name(old, new).map_err(|denial| self.denied(denial, self.path))
    }

    /// Renames a file or directory. All files in a directory move with it, so both names must be granted with everything
    /// below.
    fn rename(&self, new: &str, sentence: String, dry_run: bool) -> Result<String, MachineError> {
        let to = manageable(self.root, self.grants, new, false)?;
        self.keep_unread(self.proof.path(), to.path())?;
        let is_directory = self.entry()?.is_some_and(|entry| entry.kind == Kind::Directory);
        if is_directory {
            let from = self.grants.manage_tree(self.proof.path()).map_err(|denial| self.denied(denial, self.path))?;
            let place = self.root.locate(from.path()).map_err(fault)?;
            let below = place.require_below(self.grants, &from).map_err(fault)?;
            below.map_err(|denial| self.denied(denial, self.path))?;
            let to = self.grants.manage_tree(to.path()).map_err(|denial| self.denied(denial, new))?;
            // The check also covers the new name: rules that protect hidden names apply if the directory becomes a home
            // directory.
            let below = place.require_below(self.grants, &to).map_err(fault)?;
            below.map_err(|denial| self.denied(denial, new))?;
            let names = if self.grants.refuses_reads() { place.names_below().map_err(fault)? } else { vec![] };
            for name in names {
                let [old, new] = [from.path(), to.path()].map(|tree| format!("{tree}/{name}"));
                self.keep_unread(&old, &new)?;
            }
            if dry_run {
                return Err(MachineError::DryRun(sentence));
            }
            let target = self.root.tree_site(&to).map_err(fault)?;
            self.root.tree_site(&from).and_then(|site| site.rename(&target)).map_err(fault)?;
        } else {
            if dry_run {
                return Err(MachineError::DryRun(sentence));
            }
            let target = self.root.site(&to).map_err(fault)?;
            self.root.site(&self.proof).and_then(|site| site.rename(&target)).map_err(fault)?;
        }
        Ok(sentence)
    }
}

/// Describes a change for the report.
pub(super) fn sentence(path: &str, change: &MachineChange) -> String {
    match change {
        MachineChange::Write(..) => format!("write file {path}"),
        MachineChange::Append(..) => format!("append to file {path}"),
        MachineChange::MakeDirectory(_) => format!("create new directory {path}"),
        MachineChange::Link(text) => format!("create symlink at {path} to {text}"),
        MachineChange::Rename(new) => format!("rename {path} to {new}"),
        MachineChange::Remove => format!("delete file {path}"),
        MachineChange::RemoveDirectory => format!("delete existing directory {path}"),
        MachineChange::Mode(mode) => format!("change mode of {path} to '{mode:04o}'"),
        MachineChange::Owner(uid, gid) => {
            let named = |what: &str, number: &Option<u32>| number.map(|number| format!("{what} {number}"));
            let parts: Vec<String> = named("owner", uid).into_iter().chain(named("group", gid)).collect();
            format!("change {} of {path}", parts.join(" and "))
        }
        MachineChange::Times(..) => format!("update times of {path}"),
    }
}
