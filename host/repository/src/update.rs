//! From what was trusted to what is trusted now: the detailed client workflow of TUF, for one repository.
//!
//! What is handed out has been verified from the root on. A file that cannot be read ends the update; it never counts as
//! one that does not exist.

use jiff::Timestamp as Moment;

use crate::error::{RepositoryError, Role};
use crate::metadata::{Envelope, Pointer, Root, Target, Targets, limit};
use crate::names::PLATFORM;
use crate::store::Store;

/// Most earlier roots under which something may have been released.
const MAX_SUPERSEDED: usize = 16;

/// Most new roots that one update follows.
const MAX_ROOTS: u64 = 1024;

/// The documents of one repository that were verified, as their bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trusted {
    /// The newest root.
    pub root: Vec<u8>,
    /// The others: `timestamp`, `snapshot` and `targets`, once they were seen.
    pub rest: Option<Rest>,
}

/// The documents that change with each release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rest {
    /// The timestamp.
    pub timestamp: Vec<u8>,
    /// The snapshot that it points to.
    pub snapshot: Vec<u8>,
    /// The targets that the snapshot points to.
    pub targets: Vec<u8>,
}

/// A repository whose documents were all verified.
#[derive(Debug, Clone)]
pub struct Verified {
    /// The store's folder that holds the repository.
    folder: String,
    root: Root,
    timestamp: Pointer,
    snapshot: Pointer,
    targets: Targets,
}

impl Verified {
    /// The keys of all roles.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// What is released.
    #[must_use]
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// The version of the snapshot and its moment of expiry.
    #[must_use]
    pub fn snapshot(&self) -> &Pointer {
        &self.snapshot
    }

    /// The version of the timestamp and its moment of expiry.
    #[must_use]
    pub fn timestamp(&self) -> &Pointer {
        &self.timestamp
    }

    /// What is released under a path.
    #[must_use]
    pub fn target(&self, path: &str) -> Option<&Target> {
        self.targets.targets.get(path)
    }

    /// Reads a target and checks that it is the one that was signed. `None`: nothing is released under this path.
    ///
    /// # Errors
    /// It is larger than `limit`, missing, or another file than the one that was signed.
    pub fn read(&self, store: &dyn Store, path: &str, limit: u64) -> Result<Option<Vec<u8>>, RepositoryError> {
        self.target(path).map(|target| read_target(store, &self.folder, path, target, limit)).transpose()
    }

    /// The moment at which the first of its documents expires, and whose that is.
    #[must_use]
    pub fn expires(&self) -> (Moment, Role) {
        let of = [
            (self.root.expires, Role::Root),
            (self.targets.expires, Role::Targets),
            (self.snapshot.expires, Role::Snapshot),
            (self.timestamp.expires, Role::Timestamp),
        ];
        of.into_iter().min().unwrap_or((self.root.expires, Role::Root))
    }
}

/// Reads a target in a folder of the store and checks that it is the one that is described.
///
/// # Errors
/// It is larger than `limit`, missing, or another file.
pub fn read_target(
    store: &dyn Store,
    folder: &str,
    path: &str,
    target: &Target,
    limit: u64,
) -> Result<Vec<u8>, RepositoryError> {
    let stored = stored_target(folder, path, &target.sha256);
    if target.length > limit {
        return Err(RepositoryError::TooLarge { file: store.file(&stored), limit });
    }
    let content = store.need(&stored, target.length, "it is signed and must be there; release it again")?;
    check(store, &stored, target, &content)?;
    Ok(content)
}

/// Where a target lies: beside others of its path, each by its digest.
#[must_use]
pub fn stored_target(folder: &str, path: &str, sha256: &str) -> String {
    match path.rsplit_once('/') {
        Some((parent, name)) => format!("{folder}/targets/{parent}/{sha256}.{name}"),
        None => format!("{folder}/targets/{sha256}.{path}"),
    }
}

/// Where a document lies.
#[must_use]
pub fn stored_metadata(folder: &str, role: Role, version: u64) -> String {
    match role {
        Role::Timestamp => format!("{folder}/metadata/timestamp.json"),
        role => format!("{folder}/metadata/{version}.{role}.json"),
    }
}

fn check(store: &dyn Store, path: &str, expected: &Target, content: &[u8]) -> Result<(), RepositoryError> {
    let what = match expected.is(content) {
        true => return Ok(()),
        false if expected.length == content.len() as u64 => "it has another digest",
        false => "it has another length",
    };
    Err(RepositoryError::Mismatch { file: store.file(path), what })
}

/// Checks that a version did not go backwards.
fn check_version(
    store: &dyn Store,
    path: &str,
    role: Role,
    found: u64,
    known: Option<u64>,
) -> Result<(), RepositoryError> {
    match known {
        Some(known) if found < known => Err(RepositoryError::Rollback { file: store.file(path), role, found, known }),
        _ => Ok(()),
    }
}

/// Reads a root that is trusted because somebody said so: it must at least be signed by its own keys, and be for the folder's
/// repository.
///
/// # Errors
/// It is not a root, does not keep its own rules, or is for another repository.
pub fn trusted_root(file: &str, bytes: &[u8], folder: &str) -> Result<Root, RepositoryError> {
    let envelope = Envelope::parse(file, bytes)?;
    let root = Root::of(&envelope)?;
    root.verify(&envelope, Role::Root)?;
    envelope.check_repository(&root.repository.part(folder))?;
    Ok(root)
}

/// What is known of a repository without asking its store: the documents that were verified before. Their age is not checked.
///
/// # Errors
/// They are damaged.
pub fn known(folder: &str, trusted: &Trusted, place: &str) -> Result<Option<Verified>, RepositoryError> {
    let Some(rest) = &trusted.rest else { return Ok(None) };
    let root = trusted_root(place, &trusted.root, folder)?;
    let timestamp = pointer(place, &rest.timestamp, Role::Timestamp, &root)?;
    let snapshot = pointer(place, &rest.snapshot, Role::Snapshot, &root)?;
    let targets = targets_of(place, &rest.targets, &root)?;
    Ok(Some(Verified { folder: folder.to_owned(), root, timestamp, snapshot, targets }))
}

fn pointer(file: &str, bytes: &[u8], role: Role, root: &Root) -> Result<Pointer, RepositoryError> {
    let envelope = Envelope::parse(file, bytes)?;
    root.verify(&envelope, role)?;
    Pointer::of(&envelope, role)
}

fn targets_of(file: &str, bytes: &[u8], root: &Root) -> Result<Targets, RepositoryError> {
    let envelope = Envelope::parse(file, bytes)?;
    root.verify(&envelope, Role::Targets)?;
    Targets::of(&envelope)
}

/// An update of one repository.
#[derive(Clone, Copy)]
pub struct Update<'a> {
    /// Where the repository lies.
    pub store: &'a dyn Store,
    /// Its folder in the store.
    pub folder: &'a str,
    /// What time it is.
    pub now: Moment,
    /// Which documents must not be too old.
    pub ages: Ages,
}

/// Which documents must not be too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ages {
    /// All of them: whoever is about to run something looks at all.
    All,
    /// The root alone: whoever is about to renew the others.
    Root,
    /// None: whoever is about to renew the root.
    None,
}

impl Update<'_> {
    fn check_age(&self, path: &str, role: Role, expires: Moment) -> Result<(), RepositoryError> {
        let is_checked = match self.ages {
            Ages::All => true,
            Ages::Root => role == Role::Root,
            Ages::None => false,
        };
        if !is_checked || self.now < expires {
            return Ok(());
        }
        let is_platform = self.folder == PLATFORM;
        Err(RepositoryError::Expired { file: self.store.file(path), role, expired: expires, is_platform })
    }

    /// Takes what is new. `vouched`: a root that somebody else vouches for, as the platform does for its teams.
    ///
    /// # Errors
    /// Something is missing, invalid, not signed, too old, or older than what is trusted. Nothing new is trusted then.
    pub fn run(&self, trusted: &Trusted, vouched: Option<&[u8]>) -> Result<(Trusted, Verified), RepositoryError> {
        let folder = self.folder;
        let (bytes, root, first) = self.newest_root(trusted, vouched)?;
        self.check_age(&stored_metadata(folder, Role::Root, root.version), Role::Root, root.expires)?;
        // Keys that were exchanged end what was signed with the old ones: so a repository recovers whose versions somebody
        // has raised as far as they go.
        let is_same = |role| first.roles.get(&role) == root.roles.get(&role);
        let known = trusted.rest.as_ref().filter(|_| is_same(Role::Timestamp) && is_same(Role::Snapshot));
        let (rest, verified) = self.below(&root, known, trusted.rest.as_ref())?;
        Ok((Trusted { root: bytes, rest: Some(rest) }, verified))
    }

    /// What was released under an earlier root, where the newest one has other keys and nothing was released with them yet.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn superseded(&self, newest: &Root) -> Result<Option<(Rest, Verified)>, RepositoryError> {
        for version in (1..newest.version).rev().take(MAX_SUPERSEDED) {
            let path = stored_metadata(self.folder, Role::Root, version);
            let Some(bytes) = self.store.get(&path, limit(Role::Root))? else { continue };
            let found = trusted_root(&self.store.file(&path), &bytes, self.folder)
                .and_then(|root| self.below(&root, None, None));
            if let Ok(found) = found {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Reads and verifies what a root's keys have signed. `known`: what must not go backwards; `kept`: what was trusted before.
    fn below(
        &self,
        root: &Root,
        known: Option<&Rest>,
        kept: Option<&Rest>,
    ) -> Result<(Rest, Verified), RepositoryError> {
        let Self { store, folder, .. } = *self;
        let path = |role, version| stored_metadata(folder, role, version);
        let place = path(Role::Timestamp, 0);
        let hint = "nothing has been released yet, or it was removed";
        let timestamp_bytes = store.need(&place, limit(Role::Timestamp), hint)?;
        let timestamp = pointer(&store.file(&place), &timestamp_bytes, Role::Timestamp, root)?;
        let trusted_file = "what was trusted before";
        let old = known.map(|rest| pointer(trusted_file, &rest.timestamp, Role::Timestamp, root)).transpose()?;
        check_version(store, &place, Role::Timestamp, timestamp.version, old.as_ref().map(|old| old.version))?;
        let old_snapshot = old.as_ref().map(|old| old.of_version);
        check_version(store, &place, Role::Snapshot, timestamp.of_version, old_snapshot)?;
        self.check_age(&place, Role::Timestamp, timestamp.expires)?;

        let place = path(Role::Snapshot, timestamp.of_version);
        let same = known.map(|rest| rest.snapshot.as_slice());
        let snapshot_bytes = self.document(&place, Role::Snapshot, &timestamp.of, same)?;
        let snapshot = pointer(&store.file(&place), &snapshot_bytes, Role::Snapshot, root)?;
        self.check_named(&place, snapshot.version, timestamp.of_version)?;
        let old = known.map(|rest| pointer(trusted_file, &rest.snapshot, Role::Snapshot, root)).transpose()?;
        check_version(store, &place, Role::Targets, snapshot.of_version, old.map(|old| old.of_version))?;
        self.check_age(&place, Role::Snapshot, snapshot.expires)?;

        let place = path(Role::Targets, snapshot.of_version);
        let same = kept.map(|rest| rest.targets.as_slice());
        let targets_bytes = self.document(&place, Role::Targets, &snapshot.of, same)?;
        let targets = targets_of(&store.file(&place), &targets_bytes, root)?;
        self.check_named(&place, targets.version, snapshot.of_version)?;
        // Whoever signs for snapshots cannot bring back what the team has replaced, even with new keys.
        let old = kept.and_then(|rest| targets_of(trusted_file, &rest.targets, root).ok());
        check_version(store, &place, Role::Targets, targets.version, old.map(|old| old.version))?;
        self.check_age(&place, Role::Targets, targets.expires)?;

        let rest = Rest { timestamp: timestamp_bytes, snapshot: snapshot_bytes, targets: targets_bytes };
        let root = root.clone();
        Ok((rest, Verified { folder: folder.to_owned(), root, timestamp, snapshot, targets }))
    }

    /// Follows the chain of roots alone, for a repository that has released nothing yet.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn root(&self, trusted: &Trusted, vouched: Option<&[u8]>) -> Result<(Vec<u8>, Root), RepositoryError> {
        let (bytes, root, _) = self.newest_root(trusted, vouched)?;
        self.check_age(&stored_metadata(self.folder, Role::Root, root.version), Role::Root, root.expires)?;
        Ok((bytes, root))
    }

    /// Finds the newest root, whose age is not checked: the one that is vouched for, else the end of the chain of roots. Also
    /// returns the one that was trusted before.
    fn newest_root(&self, trusted: &Trusted, vouched: Option<&[u8]>) -> Result<(Vec<u8>, Root, Root), RepositoryError> {
        let Self { store, folder, .. } = *self;
        let first = trusted_root("the root that was trusted before", &trusted.root, folder)?;
        if let Some(vouched) = vouched {
            // The platform says which root is the newest: others in the folder do not count, whoever has signed them.
            let place = format!("the root of {folder} that the platform vouches for");
            let root = trusted_root(&place, vouched, folder)?;
            Envelope::parse(&place, vouched)?.check_repository(&first.repository)?;
            if root.version < first.version {
                let (found, known) = (root.version, first.version);
                return Err(RepositoryError::Rollback { file: place, role: Role::Root, found, known });
            }
            return Ok((vouched.to_owned(), root, first));
        }
        let (mut bytes, mut root) = (trusted.root.clone(), first.clone());
        let last = root.version.saturating_add(MAX_ROOTS);
        while root.version < last {
            let path = stored_metadata(folder, Role::Root, root.version + 1);
            let Some(next_bytes) = store.get(&path, limit(Role::Root))? else { return Ok((bytes, root, first)) };
            let envelope = Envelope::parse(&store.file(&path), &next_bytes)?;
            let next = Root::of(&envelope)?;
            root.verify(&envelope, Role::Root)?;
            next.verify(&envelope, Role::Root)?;
            self.check_named(&path, next.version, root.version + 1)?;
            (bytes, root) = (next_bytes, next);
        }
        Err(RepositoryError::Other(format!("{} has more than {MAX_ROOTS} new roots", store.file(folder))))
    }

    /// Reads a document whose digest is signed. `kept`: the one that was trusted before, which need not be read again.
    fn document(
        &self,
        path: &str,
        role: Role,
        expected: &Target,
        kept: Option<&[u8]>,
    ) -> Result<Vec<u8>, RepositoryError> {
        if let Some(kept) = kept.filter(|kept| expected.is(kept)) {
            return Ok(kept.to_owned());
        }
        let limit = limit(role);
        if expected.length > limit {
            return Err(RepositoryError::TooLarge { file: self.store.file(path), limit });
        }
        let bytes = self.store.need(path, expected.length, "it is signed and must be there; release again")?;
        check(self.store, path, expected, &bytes)?;
        Ok(bytes)
    }

    /// Checks that a document has the version under which it was named.
    fn check_named(&self, path: &str, found: u64, expected: u64) -> Result<(), RepositoryError> {
        if found == expected {
            return Ok(());
        }
        let what = format!("it has the version {found} and not {expected}");
        Err(RepositoryError::Invalid { file: self.store.file(path), what })
    }
}
