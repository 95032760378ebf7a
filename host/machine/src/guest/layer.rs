//! The changes of a dry run: those of a guest's own code, and those of the policy's resources.
//!
//! The layer keeps changes in memory, by real path, over the real machine. The guest sees them, and so do providers that read
//! the content of files. Commands do not see them, so the result of a command that names such a path is unknown. The layer
//! ends with the policy.
//!
//! Rejected: refusing every write. That ended the dry run of each policy that writes while it compiles.

use super::named::first_named;
use super::planned::Outcome;
use contract::{Account, Ended, MachineError, Receipt, Stat, StatKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum size of all files, in bytes, and maximum number of changed paths, in the dry run of one policy.
pub(super) const MAX_BYTES: usize = 64 << 20;
const MAX_PATHS: usize = 10_000;

/// Maximum length of a path, in bytes: the system's own limit.
pub(super) const MAX_PATH: usize = 4_096;

/// The layer of one policy, shared by all parts of the host that read the machine for that policy.
#[derive(Debug, Clone, Default)]
pub struct Overlay(Arc<Mutex<Layer>>);

/// Records whether a dry run has skipped something with unknown effects: a command, a package, a policy's own code. The
/// policies of a run share this record, since later ones find the effects of earlier ones.
#[derive(Debug, Clone, Default)]
pub struct LeftOut(Arc<AtomicBool>);

impl LeftOut {
    /// Records that something was skipped.
    pub fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Tells whether anything was skipped so far.
    pub fn is_anything(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Overlay {
    /// Makes the policy share the given record with other policies.
    pub fn share(&self, left_out: LeftOut) {
        self.layer().left_out = left_out;
    }

    /// Returns the record of skipped actions.
    pub fn left_out(&self) -> LeftOut {
        self.layer().left_out.clone()
    }

    /// Tells whether a real path would change, or might change.
    pub fn has_changed(&self, path: &str) -> bool {
        let layer = self.layer();
        layer.nodes.contains_key(path) || layer.unknown.contains_key(path) || layer.is_incomplete
    }

    pub(super) fn layer(&self) -> MutexGuard<'_, Layer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds directories that wrun itself creates in a real run. The guest sees them from now on.
    pub fn has_from_wrun(&self, directories: Vec<String>) {
        self.layer().from_wrun.extend(directories);
    }

    /// Tells whether the guest sees a directory at this real path that neither the machine has nor a resource would create.
    pub fn has_directory(&self, path: &str) -> bool {
        let layer = self.layer();
        layer.is_directory(path) && !layer.owners.contains_key(path)
    }

    /// Tells whether there were too many changes, so that some of them were dropped.
    pub fn is_incomplete(&self) -> bool {
        let layer = self.layer();
        layer.is_incomplete && !layer.is_compiling
    }

    /// Returns a changed path that one of the texts names. Charges the search to the account, if there is one.
    ///
    /// # Errors
    /// The policy must end.
    pub fn named_by<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
        account: Option<&Account>,
    ) -> Result<Option<String>, Ended> {
        first_named(&self.layer(), texts, account)
    }
}

/// The changed paths of one policy.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) nodes: BTreeMap<String, Node>,
    /// Changed paths as the guest wrote them, if they differ from the real paths.
    aliases: BTreeSet<String>,
    /// The resource that created the node, as `type[name]`, by real path.
    pub(super) owners: BTreeMap<String, Arc<str>>,
    /// Real paths whose state is unknown, with the resource that would change them.
    pub(super) unknown: BTreeMap<String, Arc<str>>,
    /// The size of `unknown`, in bytes.
    pub(super) unknown_bytes: usize,
    /// Real paths of files whose content comes from sensitive resources, directly or not.
    pub(super) secret: BTreeSet<String>,
    /// Real paths of files that resources would write and that the policy's code has read after that.
    pub(super) read: BTreeSet<String>,
    /// Directories that a resource would remove. The machine's files below them are gone, even if a directory is created
    /// again.
    pub(super) emptied: BTreeSet<String>,
    /// True while recipes are being compiled. They see the machine as it is.
    pub(super) is_compiling: bool,
    /// The results of actions that recipes ran while they were compiled, in order.
    pub(super) waiting: Vec<Outcome>,
    /// The size of `waiting`, in bytes.
    pub(super) waiting_bytes: usize,
    /// Size of all files that resources would write, in bytes.
    pub(super) planned_bytes: usize,
    /// True if an outcome was dropped because of a limit.
    pub(super) is_incomplete: bool,
    /// The account's charge for everything in the layer.
    paid: Option<Receipt>,
    /// Directories that wrun creates before the policy begins. Commands run on the machine without them.
    from_wrun: BTreeSet<String>,
    /// Size of all files in the layer, in bytes.
    bytes: usize,
    /// The number of nodes ever created, used for inode numbers.
    made: u64,
    /// The record of skipped actions, shared by all policies of the run.
    left_out: LeftOut,
}

/// The entry of the layer for a path.
#[derive(Debug)]
pub(super) enum Node {
    /// The entry was removed.
    Gone,
    /// An entry, with its attributes and content.
    There(Stat, Content),
}

/// The content of an entry.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// The content of a regular file.
    Bytes(Vec<u8>),
    /// A directory. Its content comes from the machine and the layer.
    Directory,
    /// The text of a symbolic link.
    Link(String),
    /// The machine's own content. Only the attributes change.
    Machines,
}

impl fmt::Debug for Content {
    /// Shows only the length: the content may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").field("size", &self.held()).finish_non_exhaustive()
    }
}

impl Content {
    fn held(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Link(text) => text.len(),
            Self::Directory | Self::Machines => 0,
        }
    }
}

impl Layer {
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.from_wrun.is_empty() && self.unknown.is_empty() && !self.is_incomplete
    }

    /// Charges the account for everything in the layer.
    ///
    /// # Errors
    /// The policy's limit is exceeded.
    pub(super) fn pay(&mut self, account: &Account) -> Result<(), Ended> {
        let paths = self.nodes.len() + self.aliases.len() + self.emptied.len() + self.secret.len() + self.read.len();
        let held = (paths * MAX_PATH + self.bytes + self.unknown_bytes + self.waiting_bytes) as u64;
        match &mut self.paid {
            Some(paid) => paid.resize(held, Default::default),
            unpaid => {
                *unpaid = Some(account.keep(held, Default::default)?);
                Ok(())
            }
        }
    }

    /// Returns the changed real paths, and the other names that the guest uses for them.
    pub(super) fn changed(&self) -> (&BTreeMap<String, Node>, &BTreeSet<String>) {
        (&self.nodes, &self.aliases)
    }

    /// Returns the layer's entry for a real path.
    pub(super) fn node(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// Returns the attributes of a path, or `None` if the layer does not know it. The inner `None` means that it was removed.
    pub(super) fn stat(&self, path: &str) -> Option<Option<Stat>> {
        match self.nodes.get(path) {
            Some(Node::Gone) => Some(None),
            Some(Node::There(stat, _)) => Some(Some(stat.clone())),
            None => self.from_wrun.contains(path).then(|| Some(looks(StatKind::Directory, 0o755, 0))),
        }
    }

    /// Tells whether the layer has a directory at a path.
    pub(super) fn is_directory(&self, path: &str) -> bool {
        match self.nodes.get(path) {
            Some(node) => matches!(node, Node::There(_, Content::Directory)),
            None => self.from_wrun.contains(path),
        }
    }

    /// Tells whether wrun itself creates a directory there in a real run.
    pub(super) fn is_from_wrun(&self, path: &str) -> bool {
        self.from_wrun.contains(path)
    }

    /// Returns a part of a file's content, if the layer has the content.
    pub(super) fn read(&self, path: &str, offset: u64, length: u64) -> Option<Vec<u8>> {
        let Some(Node::There(_, Content::Bytes(content))) = self.nodes.get(path) else { return None };
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)).min(content.len());
        Some(content.get(start..end).unwrap_or_default().to_vec())
    }

    /// Returns the names in a directory that the layer knows, and whether each exists.
    pub(super) fn names(&self, path: &str) -> Vec<(String, bool)> {
        let within = format!("{}/", path.trim_end_matches('/'));
        let after = self.nodes.range(within.clone()..);
        let below = after.map_while(|(name, node)| Some((name.strip_prefix(&within)?, node)));
        let changed = below.map(|(name, node)| (name, matches!(node, Node::There(..))));
        let given = self.from_wrun.iter().filter_map(|path| Some((path.strip_prefix(&within)?, true)));
        // Directories of wrun come first, because the guest may have removed one of them.
        let direct = given.chain(changed).filter(|(name, _)| !name.contains('/') && !name.is_empty());
        direct.map(|(name, is_there)| (name.to_owned(), is_there)).collect()
    }

    /// Adds or replaces the entry of a path.
    ///
    /// # Errors
    /// A limit of the layer is exceeded.
    pub(super) fn put(&mut self, path: &str, stat: Stat, content: Content) -> Result<(), MachineError> {
        let node = match content {
            Content::Machines => Node::There(stat, content),
            content => {
                self.made += 1;
                let size = content.held() as u64;
                Node::There(Stat { size, identity: (u64::MAX, self.made), ..stat }, content)
            }
        };
        self.set(path, node)
    }

    /// Appends to a file's content in place. Returns `None` if the layer does not have the content.
    ///
    /// # Errors
    /// A limit of the layer is exceeded.
    pub(super) fn append(&mut self, path: &str, more: &[u8], now: i64) -> Option<Result<(), MachineError>> {
        let Some(Node::There(stat, Content::Bytes(content))) = self.nodes.get_mut(path) else { return None };
        let bytes = self.bytes.saturating_add(more.len());
        if bytes > MAX_BYTES {
            return Some(Err(too_many_bytes()));
        }
        content.extend_from_slice(more);
        (stat.size, stat.modified) = (content.len() as u64, now);
        self.bytes = bytes;
        Some(Ok(()))
    }

    /// Changes the attributes of an entry; its content stays.
    ///
    /// # Errors
    /// A limit of the layer is exceeded.
    pub(super) fn look(&mut self, path: &str, looks: Stat) -> Result<(), MachineError> {
        match self.nodes.get_mut(path) {
            Some(Node::There(stat, _)) => {
                *stat = looks;
                Ok(())
            }
            // The machine does not have this directory.
            None if self.from_wrun.contains(path) => self.put(path, looks, Content::Directory),
            Some(Node::Gone) | None => self.set(path, Node::There(looks, Content::Machines)),
        }
    }

    /// Tells whether the layer has the content of an entry, or the text of a link.
    pub(super) fn has_content(&self, path: &str) -> bool {
        matches!(self.nodes.get(path), Some(Node::There(_, content)) if *content != Content::Machines)
    }

    /// Moves an entry of the layer to another path and replaces the entry there. For `below` see [`remove`](Self::remove).
    ///
    /// # Errors
    /// A limit of the layer is exceeded.
    pub(super) fn rename(&mut self, from: &str, to: &str, below: bool) -> Result<(), MachineError> {
        let more = usize::from(below && !self.nodes.contains_key(to));
        if self.nodes.len() + more > MAX_PATHS || to.len() > MAX_PATH {
            return Err(too_many_paths());
        }
        let Some(node) = self.nodes.remove(from) else { return Ok(()) };
        if below {
            self.nodes.insert(from.to_owned(), Node::Gone);
        }
        let replaced = self.nodes.insert(to.to_owned(), node);
        self.bytes = self.bytes.saturating_sub(held(replaced.as_ref()));
        self.is_moved(from, to);
        Ok(())
    }

    /// Removes the entry of a path. `below` is true if the machine has an entry there, which the layer must then hide.
    ///
    /// # Errors
    /// A limit of the layer is exceeded.
    pub(super) fn remove(&mut self, path: &str, below: bool) -> Result<(), MachineError> {
        if below {
            return self.set(path, Node::Gone);
        }
        self.forget(path);
        Ok(())
    }

    /// Forgets everything about a path.
    pub(super) fn forget(&mut self, path: &str) {
        let gone = self.nodes.remove(path);
        self.bytes = self.bytes.saturating_sub(held(gone.as_ref()));
        self.owners.remove(path);
        self.secret.remove(path);
        self.read.remove(path);
        if let Some(by) = self.unknown.remove(path) {
            self.unknown_bytes = self.unknown_bytes.saturating_sub(path.len() + by.len());
        }
    }

    /// Updates the records after a move: the content now belongs to the guest, and stays as secret as before.
    fn is_moved(&mut self, from: &str, to: &str) {
        self.owners.remove(from);
        self.owners.remove(to);
        if self.secret.remove(from) {
            self.secret.insert(to.to_owned());
        } else {
            self.secret.remove(to);
        }
    }

    fn set(&mut self, path: &str, node: Node) -> Result<(), MachineError> {
        let old = self.nodes.get(path);
        let bytes = self.bytes.saturating_sub(held(old)).saturating_add(held(Some(&node)));
        if bytes > MAX_BYTES {
            return Err(too_many_bytes());
        }
        if old.is_none() && self.nodes.len() >= MAX_PATHS || path.len() > MAX_PATH {
            return Err(too_many_paths());
        }
        // The replacement of a secret content may have been made from it.
        let is_secret = self.secret.contains(path) && !matches!(node, Node::Gone);
        self.forget(path);
        self.nodes.insert(path.to_owned(), node);
        if is_secret {
            self.secret.insert(path.to_owned());
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Records the name that the guest uses for a path.
    pub(super) fn is_called(&mut self, path: &str, written: &str) {
        if path != written && self.aliases.len() < MAX_PATHS && written.len() <= MAX_PATH {
            self.aliases.insert(written.to_owned());
        }
    }

    /// Returns the names of the layer below a directory, relative to it.
    pub(super) fn names_below(&self, key: &str) -> Vec<String> {
        let within = format!("{key}/");
        let below = self.nodes.range(within.clone()..).map_while(|(name, _)| name.strip_prefix(&within));
        below.map(str::to_owned).collect()
    }

    /// Moves a directory that only the layer has, with everything below it, to another path.
    ///
    /// # Errors
    /// One of the new paths would be too long.
    pub(super) fn rename_tree(&mut self, from: &str, to: &str) -> Result<(), MachineError> {
        let below: Vec<String> = self.names_below(from).into_iter().map(|name| format!("{from}/{name}")).collect();
        let longest = below.iter().map(String::len).max().unwrap_or(from.len());
        if longest.saturating_sub(from.len()).saturating_add(to.len()) > MAX_PATH {
            return Err(MachineError::TooMuch(format!("a dry run keeps paths of at most {MAX_PATH} bytes")));
        }
        for old in std::iter::once(from.to_owned()).chain(below) {
            let new = format!("{to}{}", old.strip_prefix(from).unwrap_or_default());
            if let Some(node) = self.nodes.remove(&old) {
                let replaced = self.nodes.insert(new.clone(), node);
                self.bytes = self.bytes.saturating_sub(held(replaced.as_ref()));
                self.is_moved(&old, &new);
            }
        }
        Ok(())
    }
}

pub(super) fn too_many_bytes() -> MachineError {
    MachineError::TooMuch(format!("a dry run keeps at most {MAX_BYTES} bytes of files"))
}

fn too_many_paths() -> MachineError {
    MachineError::TooMuch(format!("a dry run keeps at most {MAX_PATHS} changed paths"))
}

fn held(node: Option<&Node>) -> usize {
    match node {
        Some(Node::There(_, content)) => content.held(),
        Some(Node::Gone) | None => 0,
    }
}

/// Returns the attributes of a new entry: owned by wrun's user, with these permission bits.
pub(super) fn looks(kind: StatKind, mode: u32, now: i64) -> Stat {
    Stat {
        kind,
        mode,
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        size: 0,
        modified: now,
        identity: (0, 0),
        links: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that are copied when a file grows; a copy is told by the place of the content.
    fn copied_while_appending(count: usize) -> usize {
        let mut layer = Layer::default();
        layer.put("/a", looks(StatKind::File, 0o600, 0), Content::Bytes(vec![])).unwrap();
        let place = |layer: &Layer| match layer.node("/a") {
            Some(Node::There(_, Content::Bytes(content))) => (content.as_ptr(), content.len()),
            _ => panic!("it is a file"),
        };
        let more = [7; 100];
        (0..count).fold(0, |copied, at| {
            let (before, held) = place(&layer);
            assert_eq!(layer.append("/a", &more, 0), Some(Ok(())));
            if at % 10 == 0 {
                let stat = layer.stat("/a").flatten().unwrap();
                layer.look("/a", Stat { mode: 0o640, ..stat }).unwrap();
                layer.rename("/a", "/b", false).unwrap();
                layer.rename("/b", "/a", false).unwrap();
            }
            let (after, _) = place(&layer);
            copied + if before == after { 0 } else { held }
        })
    }

    #[test]
    fn appending_copies_little_of_what_is_there() {
        for count in [1_000, 2_000, 4_000] {
            let (copied, written) = (copied_while_appending(count), 100 * count);
            assert!(copied <= 2 * written, "{copied} bytes were copied for {written}");
        }
    }

    #[test]
    fn what_is_renamed_or_grows_is_counted() {
        let mut layer = Layer::default();
        let file = |size: usize| Content::Bytes(vec![0; size]);
        let looks = || looks(StatKind::File, 0o600, 0);
        layer.put("/a", looks(), file(10)).unwrap();
        layer.put("/b", looks(), file(5)).unwrap();
        assert_eq!(layer.append("/a", &[1; 3], 9), Some(Ok(())));
        let stat = layer.stat("/a").flatten().unwrap();
        assert_eq!((stat.size, stat.modified, layer.bytes), (13, 9, 18));
        layer.rename("/a", "/b", true).unwrap();
        assert_eq!((layer.bytes, layer.stat("/a")), (13, Some(None)));
        assert!(matches!(layer.append("/b", &vec![0; MAX_BYTES], 0), Some(Err(MachineError::TooMuch(_)))));
        assert_eq!(layer.read("/b", 0, 100).unwrap().len(), 13, "what is refused changes nothing");
        assert_eq!(layer.append("/a", b"x", 0), None);
        for at in 0..MAX_PATHS - 2 {
            layer.remove(&format!("/gone/{at}"), true).unwrap();
        }
        assert!(matches!(layer.rename("/b", "/c", true), Err(MachineError::TooMuch(_))));
        assert_eq!(layer.bytes, 13);
        layer.rename("/b", "/c", false).unwrap();
    }

    /// A directory in a directory in another: each rename makes the paths below longer than what the guest writes.
    #[test]
    fn paths_do_not_grow_by_renames() {
        let mut layer = Layer::default();
        let directory = || (looks(StatKind::Directory, 0o755, 0), Content::Directory);
        let (long, deep) = (format!("/{}", "d".repeat(3_000)), format!("/a/{}", "e".repeat(3_000)));
        for path in ["/a", &deep, &long] {
            let (looks, content) = directory();
            layer.put(path, looks, content).unwrap();
        }
        let refused = layer.rename_tree("/a", &format!("{long}/a"));
        assert!(matches!(refused, Err(MachineError::TooMuch(_))), "{refused:?}");
        assert!(layer.is_directory(&deep) && layer.is_directory("/a"), "nothing was moved");
        layer.rename_tree("/a", "/b").unwrap();
        assert!(layer.is_directory(&deep.replace("/a/", "/b/")) && !layer.is_directory("/a"));
    }

    #[test]
    fn a_guest_cannot_fill_the_memory() {
        let mut layer = Layer::default();
        let half = || Content::Bytes(vec![0; MAX_BYTES / 2]);
        let looks = || looks(StatKind::File, 0o600, 0);
        assert_eq!(layer.put("/a", looks(), half()), Ok(()));
        assert_eq!(layer.put("/a", looks(), half()), Ok(()), "the same again takes no more");
        assert_eq!(layer.put("/b", looks(), half()), Ok(()));
        assert!(matches!(layer.put("/c", looks(), Content::Bytes(vec![0])), Err(MachineError::TooMuch(_))));
        assert_eq!(layer.remove("/b", false), Ok(()));
        assert_eq!(layer.put("/c", looks(), Content::Bytes(vec![0])), Ok(()));
        let made = (0..MAX_PATHS).map(|at| layer.remove(&format!("/gone/{at}"), true));
        assert_eq!(made.filter(|made| matches!(made, Err(MachineError::TooMuch(_)))).count(), 2);
    }
}
