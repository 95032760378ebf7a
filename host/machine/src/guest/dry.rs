//! The machine as a guest's own code sees it in a dry run, including the changes that this code would have made.
//!
//! Every read and every change needs the same grants as in a real run.

use super::layer::{self, Content, Layer, MAX_BYTES, Node};
use super::{GuestMachine, MAX_NAMES, change, fault, stat_of};
use crate::root::{Entry, Kind, components, is_of_a_process};
use contract::{Applied, MachineChange, MachineError, Stat, StatKind};
use grants::GrantedPath;
use std::collections::BTreeSet;
use std::sync::MutexGuard;

/// Maximum number of links in one path.
const MAX_LINKS: u32 = 40;

/// The number of bytes of content that count as one unit of work.
const BYTES_PER_UNIT: u64 = 64;

/// Maximum length of a path or of a link's text, in bytes: the system's own limit.
const MAX_TEXT: usize = 4_096;

impl GuestMachine {
    fn layer(&self) -> MutexGuard<'_, Layer> {
        self.commands.overlay().layer()
    }

    /// Tells whether the guest sees the machine itself: it has made no change so far, and this is not a survey, which also
    /// checks the links on the way.
    pub(super) fn is_untouched(&self) -> bool {
        !self.settings.grants.is_survey() && self.layer().is_empty()
    }

    /// Tells whether this is a survey in which the policy may not look at a path.
    fn is_unseen(&self, key: &str) -> bool {
        self.settings.grants.is_survey() && self.settings.grants.may_look(key).is_none()
    }

    /// Resolves a path to its real path, with the links and directories that the layer adds or removes.
    fn key(&self, path: &str, follow: bool) -> Result<String, Dead> {
        if let Err(found) = self.root.locate(path)
            && (!path.starts_with('/') || path.len() > MAX_TEXT || path.contains('\0'))
        {
            return Err(Dead { asked: self.root.asked_about(path), error: fault(found) });
        }
        let mut links = 0;
        let mut left: Vec<String> = components(path).collect();
        let mut key = String::new();
        while let Some(name) = left.pop() {
            if name == ".." {
                key.truncate(key.rfind('/').unwrap_or(0));
                continue;
            }
            let next = format!("{key}/{name}");
            let is_last = left.is_empty();
            let dead = |error: MachineError, left: &[String]| Dead { asked: by_text(&next, left), error };
            match self.step(&next).map_err(|error| dead(error, &left))? {
                // As in a real run, this fails: the target would reveal that the process exists and which files it has open.
                Step::Link(_) if (!is_last || follow) && is_of_a_process(key.split('/').skip(1), &name) => {
                    return Err(dead(system("EACCES", path), &left));
                }
                // Where a link leads is not told to somebody who may not look at it.
                Step::Link(_) if (!is_last || follow) && self.is_unseen(&next) => {
                    return Err(dead(system("EACCES", path), &left));
                }
                Step::Link(text) if !is_last || follow => {
                    links += 1;
                    if links > MAX_LINKS || text.len() > MAX_TEXT {
                        return Err(dead(system("ELOOP", path), &left));
                    }
                    if text.starts_with('/') {
                        key.clear();
                    }
                    left.extend(components(&text));
                }
                Step::Nothing if !is_last => return Err(dead(system("ENOENT", path), &left)),
                Step::Other if !is_last => return Err(dead(system("ENOTDIR", path), &left)),
                Step::Unknown if !is_last => {
                    let why = self.layer().refusal(&next).unwrap_or_else(|| system("ENOENT", path));
                    return Err(dead(why, &left));
                }
                Step::Directory | Step::Link(_) | Step::Nothing | Step::Other | Step::Unknown => key = next,
            }
        }
        Ok(if key.is_empty() { "/".to_owned() } else { key })
    }

    /// Looks at one step of a path, whose directory is already resolved.
    fn step(&self, key: &str) -> Result<Step, MachineError> {
        let layer = self.layer();
        if layer.unknown.contains_key(key) {
            return Ok(Step::Unknown);
        }
        match layer.node(key) {
            Some(Node::Gone) => return Ok(Step::Nothing),
            Some(Node::There(_, Content::Link(text))) => return Ok(Step::Link(text.clone())),
            Some(Node::There(_, Content::Directory)) => return Ok(Step::Directory),
            Some(Node::There(_, Content::Bytes(_))) => return Ok(Step::Other),
            None if layer.is_directory(key) => return Ok(Step::Directory),
            Some(Node::There(_, Content::Machines)) | None => {}
        }
        drop(layer);
        Ok(match self.on_machine(key)?.map(|entry| entry.kind) {
            None => Step::Nothing,
            Some(Kind::Directory) => Step::Directory,
            Some(Kind::Link) => Step::Link(self.root.exact(key).and_then(|place| place.read_link()).map_err(fault)?),
            Some(_) => Step::Other,
        })
    }

    /// Resolves a path to its real path, if the policy may read it. It reports why the path leads nowhere only after the
    /// grant was found.
    fn readable_key(&self, path: &str, follow: bool) -> Result<String, MachineError> {
        let key = self.key(path, follow);
        let asked = key.as_ref().unwrap_or_else(|dead| &dead.asked);
        let _proof = self.settings.grants.read_path(asked).map_err(|denial| self.denied(denial, path))?;
        key.map_err(|dead| dead.error)
    }

    /// Returns the attributes that a real path would have.
    fn there(&self, key: &str) -> Result<Option<Stat>, MachineError> {
        let (refusal, known) = {
            let layer = self.layer();
            (layer.refusal(key), layer.stat(key))
        };
        match (refusal, known) {
            (Some(refusal), _) => Err(refusal),
            (None, Some(stat)) => Ok(stat),
            (None, None) => Ok(self.on_machine(key)?.as_ref().map(stat_of)),
        }
    }

    /// Returns the machine's own entry at a real path, unless the dry run would have removed it with a directory above it. The
    /// layer may have a directory where the machine has a link: nothing of what that leads to is in the directory.
    fn on_machine(&self, key: &str) -> Result<Option<Entry>, MachineError> {
        if self.layer().is_emptied(key) {
            return Ok(None);
        }
        self.root.exact_entry(key).map_err(fault)
    }

    /// Tells whether the machine itself has such an entry.
    fn is_on_machine(&self, key: &str) -> Result<bool, MachineError> {
        Ok(self.on_machine(key)?.is_some())
    }

    pub(super) fn dry_stat(&self, path: &str, follow: bool) -> Result<Option<Stat>, MachineError> {
        match self.readable_key(path, follow) {
            Ok(key) => {
                let there = self.there(&key)?;
                if let Some(stat) = there.as_ref().filter(|_| self.layer().stat(&key).is_none()) {
                    self.require_same(&key, stat.identity, path)?;
                }
                Ok(there)
            }
            Err(MachineError::System(name, _)) if matches!(name.as_str(), "ENOENT" | "ENOTDIR") => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn dry_read(&self, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, MachineError> {
        let key = self.readable_key(path, true)?;
        let there = self.there(&key)?;
        {
            let mut layer = self.layer();
            if let Some(content) = layer.read(&key, offset, length) {
                layer.read.insert(key);
                return Ok(content);
            }
        }
        match there.map(|stat| stat.kind) {
            None => Err(system("ENOENT", &key)),
            Some(StatKind::Directory) => Err(system("EISDIR", &key)),
            Some(_) => {
                let (handle, entry) = self.root.exact(&key).and_then(|place| place.open_file()).map_err(fault)?;
                self.require_same(&key, entry.identity, path)?;
                super::part_of(handle, &key, offset, length)
            }
        }
    }

    pub(super) fn dry_list(&self, path: &str) -> Result<Vec<String>, MachineError> {
        let key = self.readable_key(path, true)?;
        match self.there(&key)?.map(|stat| stat.kind) {
            None => return Err(system("ENOENT", &key)),
            Some(StatKind::Directory) => {}
            Some(_) => return Err(system("ENOTDIR", &key)),
        }
        self.names(&key, Some(path))
    }

    /// Returns the names in a directory. `read_as`: the guest reads them, by this path.
    fn names(&self, key: &str, read_as: Option<&str>) -> Result<Vec<String>, MachineError> {
        for (unknown, by) in self.layer().unknown_in(key) {
            // If the machine has the entry, its name stays in the list, even if its content is unknown.
            if self.root.exact_entry(unknown).map_err(fault)?.is_none() {
                return Err(MachineError::DryRun(format!("list {key}, where {by} would change {unknown} before")));
            }
        }
        let is_whole = !self.layer().emptied.contains(key);
        let is_machines = is_whole && self.on_machine(key)?.is_some_and(|entry| entry.kind == Kind::Directory);
        let mut names = BTreeSet::new();
        if is_machines {
            let (machines, identity) =
                self.root.exact(key).and_then(|place| place.names_and_identity()).map_err(fault)?;
            if let Some(path) = read_as {
                self.require_same(key, identity, path)?;
            }
            names.extend(machines);
        }
        for (name, is_there) in self.layer().names(key) {
            if is_there {
                names.insert(name);
            } else {
                names.remove(&name);
            }
        }
        if names.len() > MAX_NAMES {
            return Err(MachineError::TooMuch(format!("one listing returns at most {MAX_NAMES} names")));
        }
        Ok(names.into_iter().collect())
    }

    pub(super) fn dry_read_link(&self, path: &str) -> Result<String, MachineError> {
        let key = self.readable_key(path, false)?;
        let layer = self.layer();
        if let Some(refusal) = layer.refusal(&key) {
            return Err(refusal);
        }
        match layer.node(&key) {
            Some(Node::There(_, Content::Link(text))) => return Ok(text.clone()),
            Some(Node::There(_, Content::Bytes(_) | Content::Directory)) => return Err(system("EINVAL", &key)),
            Some(Node::Gone) => return Err(system("ENOENT", &key)),
            Some(Node::There(_, Content::Machines)) | None => {}
        }
        drop(layer);
        if self.on_machine(&key)?.is_none() {
            return Err(system("ENOENT", &key));
        }
        self.root.exact(&key).and_then(|place| place.read_link()).map_err(fault)
    }

    pub(super) fn dry_real_path(&self, path: &str) -> Result<String, MachineError> {
        let key = self.readable_key(path, true)?;
        if self.there(&key)?.is_some() { Ok(key) } else { Err(system("ENOENT", &key)) }
    }

    /// Records a change as a real run would make it, within the same grants.
    pub(super) fn dry_apply(&self, path: &str, change: MachineChange) -> Result<Applied, MachineError> {
        if let Some(applied) = self.apply_unseen(path, &change)? {
            return Ok(applied);
        }
        let (key, proof) = self.manageable_key(path, change::follows(&change))?;
        let what = change::sentence(&key, &change);
        let there = self.there(&key)?;
        let is_directory = there.as_ref().is_some_and(|stat| stat.kind == StatKind::Directory);
        let asked_mode = match &change {
            MachineChange::Write(_, mode) | MachineChange::Append(_, mode) if there.is_none() => Some(*mode),
            MachineChange::Mode(mode) => Some(*mode),
            _ => None,
        };
        if let Some(mode) = asked_mode {
            let granted = self.settings.grants.file_mode(&proof, mode, is_directory);
            let _granted = granted.map_err(|denial| self.denied(denial, path))?;
        }
        if there.is_none() {
            self.require_directory(&key, path)?;
        }
        match change {
            MachineChange::Rename(to) => self.dry_rename((path, &key), there, &to, &what)?,
            change => self.keep(path, &key, there, change)?,
        }
        self.layer().is_called(&key, path.trim_end_matches('/'));
        let paid = self.layer().pay(&self.settings.account);
        paid.map_err(|ended| MachineError::TooMuch(ended.to_string()))?;
        Ok(Applied { path: key, what })
    }

    /// In a survey, ignores a change where the policy may not look, and returns it as made. An error would tell the policy
    /// whether the path exists. Returns `None` for all other changes.
    fn apply_unseen(&self, path: &str, change: &MachineChange) -> Result<Option<Applied>, MachineError> {
        if !self.settings.grants.is_survey() {
            return Ok(None);
        }
        let to = if let MachineChange::Rename(to) = change { Some((to.as_str(), false)) } else { None };
        let mut unseen = None;
        for (path, follow) in [(path, change::follows(change))].into_iter().chain(to) {
            let key = self.key(path, follow);
            let asked = key.as_ref().unwrap_or_else(|dead| &dead.asked);
            if self.is_unseen(asked) {
                let _proof = self.settings.grants.manage_path(asked).map_err(|denial| self.denied(denial, path))?;
                unseen = unseen.or_else(|| Some(asked.clone()));
            }
        }
        Ok(unseen.map(|path| Applied { what: change::sentence(&path, change), path }))
    }

    fn keep(&self, path: &str, key: &str, there: Option<Stat>, change: MachineChange) -> Result<(), MachineError> {
        let now = jiff::Timestamp::now().as_second();
        let kind = there.as_ref().map(|stat| stat.kind);
        let existing = || there.clone().ok_or_else(|| system("ENOENT", path));
        let (stat, content) = match change {
            MachineChange::Write(..) | MachineChange::Append(..) if kind == Some(StatKind::Directory) => {
                return Err(system("EISDIR", path));
            }
            // A dry run cannot write to a pipe, socket or device.
            MachineChange::Write(..) | MachineChange::Append(..) if kind == Some(StatKind::Special) => {
                return Err(system("EINVAL", path));
            }
            MachineChange::Write(content, mode) => {
                let stat = there.map_or_else(|| layer::looks(StatKind::File, mode, now), |stat| written_now(stat, now));
                (stat, Content::Bytes(content))
            }
            MachineChange::Append(more, mode) => {
                if let Some(appended) = self.layer().append(key, &more, now) {
                    return appended;
                }
                let mut content = if there.is_some() { self.whole(key, path)? } else { vec![] };
                content.extend(more);
                let stat = there.map_or_else(|| layer::looks(StatKind::File, mode, now), |stat| written_now(stat, now));
                (stat, Content::Bytes(content))
            }
            MachineChange::MakeDirectory(_) | MachineChange::Link(_) if kind.is_some() => {
                return Err(system("EEXIST", path));
            }
            MachineChange::MakeDirectory(mode) => (layer::looks(StatKind::Directory, mode, now), Content::Directory),
            MachineChange::Link(text) => (layer::looks(StatKind::Link, 0o777, now), Content::Link(text)),
            MachineChange::Remove | MachineChange::RemoveDirectory => {
                let is_directory = existing()?.kind == StatKind::Directory;
                match (matches!(change, MachineChange::Remove), is_directory) {
                    (true, true) => return Err(system("EISDIR", path)),
                    (false, false) => return Err(system("ENOTDIR", path)),
                    (false, true) if !self.names(key, None)?.is_empty() => return Err(system("ENOTEMPTY", path)),
                    _ => {
                        let stays_without_word = self.is_on_machine(key)? || self.layer().is_from_wrun(key);
                        return self.layer().remove(key, stays_without_word);
                    }
                }
            }
            MachineChange::Mode(mode) => return self.layer().look(key, Stat { mode, ..existing()? }),
            MachineChange::Owner(uid, gid) => {
                let stat = existing()?;
                let (uid, gid) = (uid.unwrap_or(stat.uid), gid.unwrap_or(stat.gid));
                return self.layer().look(key, Stat { uid, gid, ..stat });
            }
            MachineChange::Times(_, modified) => return self.layer().look(key, Stat { modified, ..existing()? }),
            MachineChange::Rename(_) => return Err(system("EINVAL", path)),
        };
        self.layer().put(key, stat, content)
    }

    /// Reads the whole content of a file that the layer does not have. The guest need not be able to read it. The read counts
    /// as work.
    fn whole(&self, key: &str, path: &str) -> Result<Vec<u8>, MachineError> {
        let most = MAX_BYTES as u64;
        let (handle, entry) = self.root.exact(key).and_then(|place| place.open_file()).map_err(fault)?;
        if entry.size > most {
            return Err(layer::too_many_bytes());
        }
        let worked = self.settings.account.work(entry.size / BYTES_PER_UNIT + 1);
        worked.map_err(|ended| MachineError::TooMuch(ended.to_string()))?;
        super::part_of(handle, path, 0, most)
    }

    fn dry_rename(
        &self,
        (path, key): (&str, &str),
        there: Option<Stat>,
        to: &str,
        what: &str,
    ) -> Result<(), MachineError> {
        let (new, _proof) = self.manageable_key(to, false)?;
        let unread = self.settings.grants.read_under_another_name(key, &new);
        unread.map_err(|denial| self.denied(denial, path))?;
        let stat = there.ok_or_else(|| system("ENOENT", path))?;
        let replaced = self.there(&new)?.map(|stat| stat.kind);
        if new == key {
            return Ok(());
        }
        if replaced.is_none() {
            self.require_directory(&new, to)?;
        }
        if stat.kind == StatKind::Directory {
            return self.dry_rename_tree((path, key), (to, &new), replaced, what);
        }
        if replaced == Some(StatKind::Directory) {
            return Err(system("EISDIR", path));
        }
        if !self.layer().has_content(key) {
            let content = match stat.kind {
                StatKind::File => Content::Bytes(self.whole(key, path)?),
                StatKind::Link => {
                    Content::Link(self.root.exact(key).and_then(|place| place.read_link()).map_err(fault)?)
                }
                StatKind::Directory | StatKind::Special => return Err(MachineError::DryRun(what.to_owned())),
            };
            self.layer().put(key, stat, content)?;
        }
        let is_on_machine = self.is_on_machine(key)?;
        let mut layer = self.layer();
        layer.rename(key, &new, is_on_machine)?;
        layer.is_called(&new, to);
        Ok(())
    }

    /// Renames a directory of the layer. A directory of the machine is not renamed, because the layer would have to keep its
    /// whole content.
    fn dry_rename_tree(
        &self,
        (path, key): (&str, &str),
        (to, new): (&str, &str),
        replaced: Option<StatKind>,
        what: &str,
    ) -> Result<(), MachineError> {
        for (path, key) in [(path, key), (to, new)] {
            let _proof = self.settings.grants.manage_tree(key).map_err(|denial| self.denied(denial, path))?;
        }
        let to_tree = self.settings.grants.manage_tree(new).map_err(|denial| self.denied(denial, to))?;
        for name in self.layer().names_below(key) {
            self.settings.grants.manage_below(&to_tree, &name).map_err(|denial| self.denied(denial, to))?;
        }
        if new.strip_prefix(key).is_some_and(|rest| rest.starts_with('/')) {
            return Err(system("EINVAL", path));
        }
        match replaced {
            Some(StatKind::Directory) if self.names(new, None)?.is_empty() => {}
            Some(StatKind::Directory) => return Err(system("ENOTEMPTY", path)),
            Some(_) => return Err(system("ENOTDIR", path)),
            None => {}
        }
        // If a rule refuses reads, an entry could become readable under its new path. The names are not checked for that
        // here, so such a rename is refused.
        if self.is_on_machine(key)? || self.layer().is_from_wrun(key) || self.settings.grants.refuses_reads() {
            return Err(MachineError::DryRun(what.to_owned()));
        }
        let mut layer = self.layer();
        layer.rename_tree(key, new)?;
        layer.is_called(new, to);
        Ok(())
    }

    /// Fails unless the parent directory of a new entry exists.
    fn require_directory(&self, key: &str, path: &str) -> Result<(), MachineError> {
        let parent = key.rsplit_once('/').map_or("/", |(parent, _)| if parent.is_empty() { "/" } else { parent });
        match self.there(parent)?.map(|stat| stat.kind) {
            Some(StatKind::Directory) => Ok(()),
            Some(_) => Err(system("ENOTDIR", path)),
            None => Err(system("ENOENT", path)),
        }
    }

    /// Returns the real path and the proof for the target of a path. It reports why the path leads nowhere only after the
    /// grant was found.
    fn manageable_key(&self, path: &str, follow: bool) -> Result<(String, GrantedPath), MachineError> {
        let key = self.key(path, follow);
        let asked = key.as_ref().unwrap_or_else(|dead| &dead.asked);
        let proof = self.settings.grants.manage_path(asked).map_err(|denial| self.denied(denial, path))?;
        key.map(|key| (key, proof)).map_err(|dead| dead.error)
    }
}

/// A path that leads nowhere.
struct Dead {
    /// The path for the grant check: resolved as far as the path leads, and then its text.
    asked: String,
    error: MachineError,
}

/// Returns a resolved path with the remaining names appended. `left` has these names, last first.
fn by_text(key: &str, left: &[String]) -> String {
    let mut asked = key.to_owned();
    for name in left.iter().rev() {
        if name == ".." {
            asked.truncate(asked.rfind('/').unwrap_or(0));
        } else {
            asked.push('/');
            asked.push_str(name);
        }
    }
    if asked.is_empty() { "/".to_owned() } else { asked }
}

/// The kind of entry at one step of a path.
enum Step {
    Nothing,
    Directory,
    /// A symbolic link, with its text.
    Link(String),
    Other,
    /// An entry of unknown kind, because an earlier resource would change it.
    Unknown,
}

/// Returns the attributes of a rewritten file: owner and permission bits stay.
fn written_now(stat: Stat, now: i64) -> Stat {
    Stat { kind: StatKind::File, modified: now, links: 1, ..stat }
}

fn system(name: &str, path: &str) -> MachineError {
    MachineError::System(name.into(), path.into())
}
