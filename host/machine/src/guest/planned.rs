//! The results of a dry run's resources, for code that reads the machine later in the same policy.
//!
//! When an action has been planned, the results of its steps go into the policy's layer. They cover the machine and earlier
//! writes of the policy's own code. Later code of the policy sees them as in a real run. If a result is not known (a
//! download, a command, a failed action), the path is *unknown*. Reading it returns an error that says so, even if the
//! machine has an older version.
//!
//! While recipes are being compiled, they see the machine as it is. Results of actions that they run at that time are added
//! when compiling ends.

use super::layer::{Content, Layer, MAX_PATH, Node, looks};
use super::{Overlay, stat_of};
use crate::root::Root;
use contract::{Account, Ended, MachineError, Stat, StatKind};
use std::fmt;
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Maximum size of all files that resources would write, in bytes, in the dry run of one policy. Further files are unknown.
const MAX_PLANNED: usize = 16 << 20;

/// Maximum number of outcomes that wait for the end of compiling, and of unknown paths.
const MAX_OUTCOMES: usize = 10_000;

/// Default permission bits of a new file and a new directory: those under the usual mask `022`.
const NEW_FILE: u32 = 0o644;
const NEW_DIRECTORY: u32 = 0o755;

/// The owner, the group and the permission bits that a resource sets; `None` keeps the present value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlannedAccess {
    /// Permission bits, such as `0o644`.
    pub mode: Option<u32>,
    /// Numeric id of the owner.
    pub uid: Option<u32>,
    /// Numeric id of the group.
    pub gid: Option<u32>,
}

/// The state of one real path after an action.
#[derive(Clone, PartialEq, Eq)]
pub enum Planned {
    /// A regular file with this content.
    File {
        /// The whole content of the file.
        content: Vec<u8>,
        /// Owner, group and mode, as far as the resource sets them.
        access: PlannedAccess,
        /// True if the content comes from a sensitive resource. A diff of it is never shown.
        is_secret: bool,
    },
    /// A directory. An existing one keeps its content.
    Directory(PlannedAccess),
    /// A symbolic link with this text.
    Link(String),
    /// The present entry with another owner, group or mode.
    Access(PlannedAccess),
    /// The present entry, with the present time as its modification time.
    Touched,
    /// Nothing exists at the path or below it.
    Gone,
    /// A state that a dry run cannot know.
    Unknown,
}

/// The planned state of a path, with its resource.
#[derive(Clone)]
pub(super) struct Outcome {
    path: String,
    planned: Planned,
    /// The resource, as `type[name]`.
    by: Arc<str>,
}

/// A file as the policy's earlier resources and its own code would leave it.
#[derive(Clone, PartialEq, Eq)]
pub enum ForeseenFile {
    /// Nothing would be there.
    Absent,
    /// A regular file would be there.
    There {
        /// The whole content of the file.
        content: Vec<u8>,
        /// Size, owner, group, mode and time.
        stat: Stat,
        /// True if a diff of this content must not be shown.
        is_secret: bool,
        /// True if only resources used it: the policy's own code neither wrote nor read it.
        is_unread: bool,
    },
}

impl fmt::Debug for Outcome {
    /// Shows only the path and the resource: the content may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome").field("path", &self.path).field("by", &self.by).finish_non_exhaustive()
    }
}

impl fmt::Debug for ForeseenFile {
    /// Shows only the size: the content may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("Absent"),
            Self::There { content, .. } => {
                f.debug_struct("There").field("size", &content.len()).finish_non_exhaustive()
            }
        }
    }
}

impl Overlay {
    /// Adds the results of an action of the resource `by`, by real path. The account is charged for them as long as the
    /// overlay lives.
    ///
    /// # Errors
    /// The policy's limit is exceeded.
    pub fn foresee(
        &self,
        outcomes: Vec<(String, Planned)>,
        by: &str,
        root: &Root,
        account: &Account,
    ) -> Result<(), Ended> {
        if outcomes.is_empty() {
            return Ok(());
        }
        let by: Arc<str> = by.into();
        let mut layer = self.layer();
        for (path, planned) in outcomes {
            let outcome = Outcome { path, planned, by: Arc::clone(&by) };
            if layer.is_compiling { layer.keep_waiting(outcome) } else { layer.take(outcome, root) }
        }
        layer.pay(account)
    }

    /// Marks the start of compiling. Before the first action, recipes see the machine as it is in a real run too, and an
    /// error there would end a dry run.
    pub fn begin_compile(&self) {
        self.layer().is_compiling = true;
    }

    /// Marks the end of compiling: from now on the policy's code sees the results of its resources.
    pub fn end_compile(&self, root: &Root) {
        let mut layer = self.layer();
        layer.is_compiling = false;
        (layer.waiting_bytes, layer.planned_bytes) = (0, 0);
        for outcome in std::mem::take(&mut layer.waiting) {
            layer.take(outcome, root);
        }
    }

    /// Returns the resource that would already have changed a real path.
    pub fn changed_by(&self, path: &str) -> Option<String> {
        let layer = self.layer();
        layer.unknown.get(path).or_else(|| layer.owners.get(path)).map(|by| by.as_ref().to_owned())
    }

    /// Returns the file at a real path, if it would differ from the machine's file and its content is known.
    pub fn foreseen_file(&self, path: &str) -> Option<ForeseenFile> {
        let layer = self.layer();
        if layer.unknown.contains_key(path) {
            return None;
        }
        match layer.node(path) {
            Some(Node::Gone) => Some(ForeseenFile::Absent),
            Some(Node::There(stat, Content::Bytes(content))) => Some(ForeseenFile::There {
                content: content.clone(),
                stat: stat.clone(),
                is_secret: layer.secret.contains(path),
                is_unread: layer.owners.contains_key(path) && !layer.read.contains(path),
            }),
            Some(Node::There(..)) => None,
            None => layer.is_emptied(path).then_some(ForeseenFile::Absent),
        }
    }
}

impl Outcome {
    fn held(&self) -> usize {
        let content = match &self.planned {
            Planned::File { content, .. } => content.len(),
            Planned::Link(text) => text.len(),
            _ => 0,
        };
        self.path.len() + self.by.len() + content + size_of::<Self>()
    }
}

impl Layer {
    /// Returns an error if the state of a real path is unknown, else `None`.
    pub(super) fn refusal(&self, path: &str) -> Option<MachineError> {
        if let Some(by) = self.unknown.get(path) {
            return Some(MachineError::DryRun(format!("look at {path}, which {by} would change before")));
        }
        // A dropped outcome may concern this path.
        let is_lost = self.is_incomplete && !self.is_compiling && !self.nodes.contains_key(path);
        is_lost.then(|| MachineError::DryRun(format!("look at {path}: {TOO_MANY}")))
    }

    /// Tells whether the machine's own entry at a real path would be gone, because a directory above it would be removed.
    pub(super) fn is_emptied(&self, path: &str) -> bool {
        let mut above = path;
        while let Some((parent, _)) = above.rsplit_once('/').filter(|_| !self.emptied.is_empty()) {
            if self.emptied.contains(parent) {
                return true;
            }
            above = parent;
        }
        false
    }

    /// Returns the unknown paths directly below a directory.
    pub(super) fn unknown_in(&self, directory: &str) -> impl Iterator<Item = (&String, &Arc<str>)> {
        let within = format!("{}/", directory.trim_end_matches('/'));
        let after = self.unknown.range(within.clone()..);
        let below = after.take_while({
            let within = within.clone();
            move |(path, _)| path.starts_with(&within)
        });
        below.filter(move |(path, _)| !path.get(within.len()..).unwrap_or_default().contains('/'))
    }

    fn keep_waiting(&mut self, outcome: Outcome) {
        let bytes = self.waiting_bytes.saturating_add(outcome.held());
        if self.waiting.len() >= MAX_OUTCOMES || bytes > MAX_PLANNED {
            self.is_incomplete = true;
            return;
        }
        self.waiting_bytes = bytes;
        self.waiting.push(outcome);
    }

    fn take(&mut self, outcome: Outcome, root: &Root) {
        let Outcome { path, planned, by } = outcome;
        let now = jiff::Timestamp::now().as_second();
        let there = self.there(&path, root);
        let is_directory = there.as_ref().is_some_and(|stat| stat.kind == StatKind::Directory);
        let mut is_new_secret = false;
        let kept = match planned {
            Planned::File { content, access, is_secret } => {
                let more = self.planned_bytes.saturating_add(content.len());
                if more > MAX_PLANNED {
                    self.do_not_know(path, by);
                    return;
                }
                self.planned_bytes = more;
                is_new_secret = is_secret;
                let old = there.filter(|stat| stat.kind == StatKind::File);
                let stat = old.unwrap_or_else(|| looks(StatKind::File, NEW_FILE, now));
                let stat = Stat { modified: now, links: 1, ..accessed(stat, access) };
                self.put(&path, stat, Content::Bytes(content))
            }
            Planned::Directory(access) => match there.filter(|_| is_directory) {
                Some(stat) => self.look(&path, accessed(stat, access)),
                None => {
                    let stat = accessed(looks(StatKind::Directory, NEW_DIRECTORY, now), access);
                    self.put(&path, stat, Content::Directory)
                }
            },
            Planned::Link(text) => self.put(&path, looks(StatKind::Link, 0o777, now), Content::Link(text)),
            Planned::Access(access) => there.map_or(Ok(()), |stat| self.look(&path, accessed(stat, access))),
            Planned::Touched => there.map_or(Ok(()), |stat| self.look(&path, Stat { modified: now, ..stat })),
            Planned::Gone => {
                if is_directory {
                    self.empty(&path);
                }
                self.remove(&path, true)
            }
            Planned::Unknown => {
                self.do_not_know(path, by);
                return;
            }
        };
        match kept {
            Ok(()) => {
                if is_new_secret {
                    self.secret.insert(path.clone());
                }
                self.owners.insert(path, by);
            }
            Err(_) => self.do_not_know(path, by),
        }
    }

    /// Returns the present attributes of a real path, as far as they can be read.
    fn there(&self, path: &str, root: &Root) -> Option<Stat> {
        match self.stat(path) {
            Some(known) => known,
            None if self.is_emptied(path) => None,
            None => root.exact_entry(path).ok().flatten().as_ref().map(stat_of),
        }
    }

    /// Forgets everything below a directory, and hides the machine's files there.
    fn empty(&mut self, directory: &str) {
        let within = format!("{directory}/");
        let is_below = |path: &String| path.starts_with(&within);
        let below: Vec<String> = self.nodes.range(within.clone()..).map(|(path, _)| path.clone()).collect();
        for path in below.iter().take_while(|path| is_below(path)) {
            self.forget(path);
        }
        self.unknown.retain(|path, _| !is_below(path));
        self.emptied.insert(directory.to_owned());
    }

    /// Marks the state of a real path as unknown from now on.
    fn do_not_know(&mut self, path: String, by: Arc<str>) {
        self.forget(&path);
        let bytes = self.unknown_bytes.saturating_add(path.len() + by.len());
        if self.unknown.len() >= MAX_OUTCOMES || bytes > MAX_PATH * MAX_OUTCOMES / 16 || path.len() > MAX_PATH {
            self.is_incomplete = true;
            return;
        }
        self.unknown_bytes = bytes;
        self.unknown.insert(path, by);
    }
}

/// Creates a file in memory with this content. Only this process has it.
///
/// # Errors
/// The system has no memory or no descriptor for it.
pub fn in_memory(content: &[u8]) -> std::io::Result<OwnedFd> {
    let handle = rustix::fs::memfd_create("wrun", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(handle);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file.into())
}

/// The reason why a dry run cannot tell the state of a path.
pub(crate) const TOO_MANY: &str = "earlier resources would change more than a dry run keeps";

/// Returns the attributes with another owner, group and mode.
fn accessed(stat: Stat, access: PlannedAccess) -> Stat {
    let PlannedAccess { mode, uid, gid } = access;
    Stat { mode: mode.unwrap_or(stat.mode), uid: uid.unwrap_or(stat.uid), gid: gid.unwrap_or(stat.gid), ..stat }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8]) -> Planned {
        Planned::File { content: content.to_vec(), access: PlannedAccess::default(), is_secret: false }
    }

    /// A root with the directory `/full`, which holds `/full/x`.
    fn root() -> (tempfile::TempDir, Root, Account) {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("full")).unwrap();
        std::fs::write(place.path().join("full/x"), "x").unwrap();
        let account = Account::unmetered("web");
        let root = Root::open(place.path(), &account).unwrap();
        (place, root, account)
    }

    fn held(overlay: &Overlay, path: &str) -> Option<Vec<u8>> {
        match overlay.foreseen_file(path) {
            Some(ForeseenFile::There { content, .. }) => Some(content),
            _ => None,
        }
    }

    #[test]
    fn what_is_too_much_is_unknown_and_all_of_it_is_paid_for() {
        let (_place, root, account) = root();
        let before = account.usage().host_memory;
        let overlay = Overlay::default();
        let large = vec![7; MAX_PLANNED - 1];
        let outcomes = vec![("/a".to_owned(), file(&large)), ("/b".to_owned(), file(b"two"))];
        overlay.foresee(outcomes, "file[a]", &root, &account).unwrap();
        assert_eq!(
            (held(&overlay, "/a").map(|content| content.len()), held(&overlay, "/b")),
            (Some(large.len()), None)
        );
        assert!(overlay.layer().refusal("/b").is_some() && overlay.layer().refusal("/a").is_none());
        assert!(account.usage().host_memory >= before + large.len() as u64);
        // A path that would be unknown, and for which there is no room either, makes everything else unknown.
        let many = (0..=MAX_OUTCOMES).map(|at| (format!("/many/{at}"), Planned::Unknown)).collect();
        overlay.foresee(many, "execute[b]", &root, &account).unwrap();
        assert!(overlay.is_incomplete() && overlay.layer().refusal("/else").is_some());
        drop(overlay);
        assert_eq!(account.usage().host_memory, before);
    }

    #[test]
    fn a_directory_that_is_made_again_is_empty() {
        let (_place, root, account) = root();
        let overlay = Overlay::default();
        let foresee = |planned: Planned| {
            overlay.foresee(vec![("/full".to_owned(), planned)], "directory[/full]", &root, &account).unwrap();
        };
        foresee(Planned::Gone);
        assert_eq!(overlay.foreseen_file("/full/x"), Some(ForeseenFile::Absent));
        foresee(Planned::Directory(PlannedAccess::default()));
        let layer = overlay.layer();
        assert!(layer.is_directory("/full") && layer.is_emptied("/full/x") && !layer.is_emptied("/fuller"));
    }

    #[test]
    fn outcomes_wait_until_recipes_are_compiled() {
        let (_place, root, account) = root();
        let overlay = Overlay::default();
        overlay.begin_compile();
        overlay.foresee(vec![("/full/x".to_owned(), file(b"new"))], "file[x]", &root, &account).unwrap();
        assert_eq!((held(&overlay, "/full/x"), overlay.changed_by("/full/x")), (None, None));
        overlay.end_compile(&root);
        assert_eq!(held(&overlay, "/full/x"), Some(b"new".to_vec()));
        assert_eq!(overlay.changed_by("/full/x").as_deref(), Some("file[x]"));
    }

    /// What a file holds after a secret was there may be made of it, whoever writes it.
    #[test]
    fn secrets_stay_secret_until_they_are_gone() {
        let (_place, root, account) = root();
        let overlay = Overlay::default();
        let foresee = |planned: Planned| {
            overlay.foresee(vec![("/key".to_owned(), planned)], "file[/key]", &root, &account).unwrap();
            match overlay.foreseen_file("/key") {
                Some(ForeseenFile::There { is_secret, .. }) => Some(is_secret),
                _ => None,
            }
        };
        let secret = Planned::File { content: vec![1], access: PlannedAccess::default(), is_secret: true };
        assert_eq!([foresee(secret), foresee(file(b"1")), foresee(Planned::Touched)], [Some(true); 3]);
        assert_eq!([foresee(Planned::Gone), foresee(file(b"1"))], [None, Some(false)]);
    }

    /// Commands that name what is in a directory are not about the directory's own mode.
    #[test]
    fn a_directory_whose_mode_alone_would_change_is_named_by_itself() {
        let (_place, root, account) = root();
        let overlay = Overlay::default();
        let access = Planned::Access(PlannedAccess { mode: Some(0o700), ..PlannedAccess::default() });
        overlay.foresee(vec![("/full".to_owned(), access)], "directory[/full]", &root, &account).unwrap();
        let is_named = |text: &str| overlay.named_by([text], None).unwrap().is_some();
        assert!(is_named("stat /full") && is_named("ls '/full'") && !is_named("cat /full/x"));
        overlay.foresee(vec![("/full/x".to_owned(), file(b"y"))], "file[x]", &root, &account).unwrap();
        assert!(is_named("cat /full/x") && !is_named("cat /full/y"));
    }
}
