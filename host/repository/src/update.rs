//! Updates the trusted documents of one repository by the detailed client workflow of TUF.
//!
//! All returned documents have been verified from the root on. A file that cannot be read ends the update, and never counts
//! as absent.

use jiff::Timestamp as Moment;

use crate::chain::{check_named, next_root};
use crate::error::{RepositoryError, Role};
use crate::metadata::{Envelope, Pointer, Root, Target, Targets, limit};
use crate::names::PLATFORM;
use crate::store::Store;

pub use crate::chain::trusted_root;

/// Largest number of earlier roots that are searched for superseded releases.
const MAX_SUPERSEDED: usize = 16;

/// Most new roots that one update follows.
const MAX_ROOTS: u64 = 1024;

/// The documents of one repository that were verified, as their bytes. All of them are valid under the root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trusted {
    /// The newest root, as it was signed.
    pub root: Vec<u8>,
    /// The last verified timestamp and snapshot.
    pub pointers: Option<Pointers>,
    /// The last verified targets.
    pub targets: Option<Vec<u8>>,
}

/// The documents that change with each release and each renewal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointers {
    /// The timestamp, as it was signed.
    pub timestamp: Vec<u8>,
    /// The snapshot that it points to.
    pub snapshot: Vec<u8>,
}

impl Trusted {
    /// Creates trust in a root whose repository has not been read yet.
    #[must_use]
    pub fn of_root(root: Vec<u8>) -> Self {
        Self { root, pointers: None, targets: None }
    }

    /// Tells whether only the root is known.
    #[must_use]
    pub fn is_root_alone(&self) -> bool {
        self.pointers.is_none() && self.targets.is_none()
    }

    /// Returns the trusted documents under another root. Documents that its keys have not signed are dropped, and their
    /// versions do not count any more. So a repository recovers after the thief of a key has raised its versions to the
    /// maximum.
    fn under(&self, root: &Root, bytes: Vec<u8>) -> Self {
        let is_valid = |pointers: &&Pointers| {
            pointer("", &pointers.timestamp, Role::Timestamp, root).is_ok()
                && pointer("", &pointers.snapshot, Role::Snapshot, root).is_ok()
        };
        Self {
            root: bytes,
            pointers: self.pointers.as_ref().filter(is_valid).cloned(),
            targets: self.targets.as_ref().filter(|targets| targets_of("", targets, root).is_ok()).cloned(),
        }
    }
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
    /// The bytes of the targets as they were verified.
    targets_bytes: Vec<u8>,
}

impl Verified {
    /// The keys of all roles.
    #[must_use]
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Returns what the team has released.
    #[must_use]
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Returns the bytes of the targets as they were verified. The file in the store may have changed since.
    pub(crate) fn targets_bytes(&self) -> &[u8] {
        &self.targets_bytes
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

    /// Returns the file that is released under a path.
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

    /// Returns the time when the first of its documents expires, and the role of that document.
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

/// Returns the path of a target in the store. The digest is part of the file's name.
#[must_use]
pub fn stored_target(folder: &str, path: &str, sha256: &str) -> String {
    match path.rsplit_once('/') {
        Some((parent, name)) => format!("{folder}/targets/{parent}/{sha256}.{name}"),
        None => format!("{folder}/targets/{sha256}.{path}"),
    }
}

/// Returns the path of a document in the store.
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

/// Checks that a version is not lower than the known one.
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

/// Returns the targets that were verified last, without reading the store. Their expiry is not checked. Returns `None` if
/// there are none.
///
/// # Errors
/// The documents are damaged.
pub fn known_targets(folder: &str, trusted: &Trusted) -> Result<Option<Targets>, RepositoryError> {
    let file = "what was trusted before";
    let root = trusted_root(file, &trusted.root, folder)?;
    trusted.targets.as_ref().map(|targets| targets_of(file, targets, &root)).transpose()
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

/// A function that stores the newly trusted documents.
pub type Keep<'a> = dyn Fn(&Trusted) -> Result<(), RepositoryError> + 'a;

/// The documents that were released under an earlier root.
pub(crate) struct Superseded {
    /// The timestamp, as it was signed.
    pub(crate) timestamp: Vec<u8>,
    /// The documents, with the newest root.
    pub(crate) verified: Verified,
    /// Whether the newest root's keys have also signed the targets, so that only keys of other roles were replaced.
    pub(crate) is_signed: bool,
}

/// An update of one repository.
#[derive(Clone, Copy)]
pub struct Update<'a> {
    /// Where the repository lies.
    pub store: &'a dyn Store,
    /// Its folder in the store.
    pub folder: &'a str,
    /// The current time, for expiry checks.
    pub now: Moment,
    /// The documents that must not have expired.
    pub ages: Ages,
}

/// The documents that must not have expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ages {
    /// All documents, for a node that is about to run a release.
    All,
    /// Only the root, for a publisher that renews the others.
    Root,
    /// No document, for a publisher that renews the root.
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

    /// Updates all documents. `vouched`: a root that another document vouches for, as the platform does for its teams.
    /// `keep`: stores a new root as soon as it is verified, even if the rest of the update fails, so that nobody can hide it
    /// afterwards.
    ///
    /// # Errors
    /// Something is missing, invalid, not signed, too old, or older than what is trusted. Nothing but the root is new then.
    pub fn run(
        &self,
        trusted: &Trusted,
        vouched: Option<&[u8]>,
        keep: &Keep<'_>,
    ) -> Result<(Trusted, Verified), RepositoryError> {
        let (trusted, root) = self.roots(trusted, vouched, keep)?;
        self.below(&root, &trusted)
    }

    /// Updates only the root, which is the first step of [`Self::run`].
    ///
    /// # Errors
    /// The root is invalid, not signed, too old, or older than the one that is trusted.
    pub fn roots(
        &self,
        trusted: &Trusted,
        vouched: Option<&[u8]>,
        keep: &Keep<'_>,
    ) -> Result<(Trusted, Root), RepositoryError> {
        let (bytes, root) = self.newest_root(trusted, vouched)?;
        let mut now = trusted.clone();
        if bytes != trusted.root {
            now = trusted.under(&root, bytes);
            keep(&now)?;
        }
        self.check_age(&stored_metadata(self.folder, Role::Root, root.version), Role::Root, root.expires)?;
        Ok((now, root))
    }

    /// Finds the documents that were released under an earlier root, for the case that the newest root has other keys and
    /// nothing was released with them yet. Earlier roots are those of the chain, from the newest one backwards, and the one
    /// that was trusted `before`.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn superseded(
        &self,
        before: &Trusted,
        newest: (&[u8], &Root),
    ) -> Result<Option<Superseded>, RepositoryError> {
        let found = |root: &Root, trusted: &Trusted| {
            let (documents, verified) = self.below(root, trusted).ok()?;
            let targets = documents.targets.unwrap_or_default();
            let is_signed = targets_of("", &targets, newest.1).is_ok();
            let verified = Verified { root: newest.1.clone(), ..verified };
            Some(Superseded { timestamp: documents.pointers?.timestamp, verified, is_signed })
        };
        if let Ok(root) = trusted_root("", &before.root, self.folder) {
            if let Err(error @ RepositoryError::Rollback { .. }) = self.below(&root, before) {
                return Err(error);
            }
            if let Some(superseded) = found(&root, before) {
                return Ok(Some(superseded));
            }
        }
        let (mut above, mut version) = (newest.0.to_owned(), newest.1.version);
        for _ in 0..MAX_SUPERSEDED {
            version = version.saturating_sub(1);
            let path = stored_metadata(self.folder, Role::Root, version);
            let Some(bytes) = self.store.get(&path, limit(Role::Root))? else { break };
            let file = self.store.file(&path);
            let Ok(root) = trusted_root(&file, &bytes, self.folder) else { break };
            if next_root(&file, &above, &root).is_err() {
                break;
            }
            if let Some(superseded) = found(&root, &Trusted::of_root(bytes.clone())) {
                return Ok(Some(superseded));
            }
            above = bytes;
        }
        Ok(None)
    }

    /// Returns the timestamp as bytes and as a document, with its snapshot, if they are valid under a root. Returns `None` if
    /// the timestamp is not valid under it.
    ///
    /// # Errors
    /// The timestamp is valid, and the snapshot is missing or damaged.
    pub(crate) fn pointed(&self, root: &Root) -> Result<Option<(Vec<u8>, Pointer, Pointer)>, RepositoryError> {
        let place = stored_metadata(self.folder, Role::Timestamp, 0);
        let bytes = self.store.need(&place, limit(Role::Timestamp), "")?;
        let Ok(timestamp) = pointer(&place, &bytes, Role::Timestamp, root) else { return Ok(None) };
        let place = stored_metadata(self.folder, Role::Snapshot, timestamp.of_version);
        let snapshot = self.document(&place, Role::Snapshot, &timestamp.of, None)?;
        let snapshot = pointer(&self.store.file(&place), &snapshot, Role::Snapshot, root)?;
        Ok(Some((bytes, timestamp, snapshot)))
    }

    /// Reads and verifies the documents below a root. `trusted`: documents whose versions must not be undercut.
    fn below(&self, root: &Root, trusted: &Trusted) -> Result<(Trusted, Verified), RepositoryError> {
        let Self { store, folder, .. } = *self;
        let path = |role, version| stored_metadata(folder, role, version);
        let known = trusted.pointers.as_ref();
        let place = path(Role::Timestamp, 0);
        let hint = "nothing has been released yet, or it was removed";
        let timestamp_bytes = store.need(&place, limit(Role::Timestamp), hint)?;
        let timestamp = pointer(&store.file(&place), &timestamp_bytes, Role::Timestamp, root)?;
        let trusted_file = "what was trusted before";
        let old = known.map(|known| pointer(trusted_file, &known.timestamp, Role::Timestamp, root)).transpose()?;
        check_version(store, &place, Role::Timestamp, timestamp.version, old.as_ref().map(|old| old.version))?;
        let old_snapshot = old.as_ref().map(|old| old.of_version);
        check_version(store, &place, Role::Snapshot, timestamp.of_version, old_snapshot)?;
        self.check_age(&place, Role::Timestamp, timestamp.expires)?;

        let place = path(Role::Snapshot, timestamp.of_version);
        let same = known.map(|known| known.snapshot.as_slice());
        let snapshot_bytes = self.document(&place, Role::Snapshot, &timestamp.of, same)?;
        let snapshot = pointer(&store.file(&place), &snapshot_bytes, Role::Snapshot, root)?;
        check_named(&store.file(&place), snapshot.version, timestamp.of_version)?;
        let old = known.map(|known| pointer(trusted_file, &known.snapshot, Role::Snapshot, root)).transpose()?;
        check_version(store, &place, Role::Targets, snapshot.of_version, old.map(|old| old.of_version))?;
        self.check_age(&place, Role::Snapshot, snapshot.expires)?;

        let place = path(Role::Targets, snapshot.of_version);
        let same = trusted.targets.as_deref();
        let targets_bytes = self.document(&place, Role::Targets, &snapshot.of, same)?;
        let targets = targets_of(&store.file(&place), &targets_bytes, root)?;
        check_named(&store.file(&place), targets.version, snapshot.of_version)?;
        // The holder of the snapshot key cannot bring back targets that the team has replaced, even with new keys.
        let old = same.map(|targets| targets_of(trusted_file, targets, root)).transpose()?;
        check_version(store, &place, Role::Targets, targets.version, old.map(|old| old.version))?;
        self.check_age(&place, Role::Targets, targets.expires)?;

        let pointers = Pointers { timestamp: timestamp_bytes, snapshot: snapshot_bytes };
        let verified =
            Verified { folder: folder.to_owned(), root: root.clone(), timestamp, snapshot, targets, targets_bytes };
        let targets = Some(verified.targets_bytes.clone());
        Ok((Trusted { root: trusted.root.clone(), pointers: Some(pointers), targets }, verified))
    }

    /// Returns the previously verified targets, if the pointers are valid but the targets in the store, of the same version,
    /// are damaged or not signed. Returns `None` if the pointers are not valid, have gone backwards, or name an unknown
    /// version.
    ///
    /// # Errors
    /// The pointers are missing or damaged.
    pub(crate) fn misled(
        &self,
        root: &Root,
        trusted: &Trusted,
    ) -> Result<Option<(Vec<u8>, Verified)>, RepositoryError> {
        let trusted_file = "what was trusted before";
        let Some(known) = &trusted.targets else { return Ok(None) };
        let targets = targets_of(trusted_file, known, root)?;
        let Some((bytes, timestamp, snapshot)) = self.pointed(root)? else { return Ok(None) };
        if let Some(old) = &trusted.pointers {
            let old = pointer(trusted_file, &old.timestamp, Role::Timestamp, root)?;
            if timestamp.version < old.version || timestamp.of_version < old.of_version {
                return Ok(None);
            }
        }
        if snapshot.of_version != targets.version {
            return Ok(None);
        }
        let (folder, root, targets_bytes) = (self.folder.to_owned(), root.clone(), known.clone());
        Ok(Some((bytes, Verified { folder, root, timestamp, snapshot, targets, targets_bytes })))
    }

    /// Finds the newest root: the vouched one, or else the end of the chain of roots. Its expiry is not checked.
    fn newest_root(&self, trusted: &Trusted, vouched: Option<&[u8]>) -> Result<(Vec<u8>, Root), RepositoryError> {
        let Self { store, folder, .. } = *self;
        let first = trusted_root("the root that was trusted before", &trusted.root, folder)?;
        if let Some(vouched) = vouched {
            // The platform decides which root is the newest. Other roots in the folder do not count, whoever has signed them.
            let place = format!("the root of {folder} that the platform vouches for");
            let root = trusted_root(&place, vouched, folder)?;
            Envelope::parse(&place, vouched)?.check_repository(&first.repository)?;
            if root.version < first.version {
                let (found, known) = (root.version, first.version);
                return Err(RepositoryError::Rollback { file: place, role: Role::Root, found, known });
            }
            return Ok((vouched.to_owned(), root));
        }
        let (mut bytes, mut root) = (trusted.root.clone(), first);
        let last = root.version.saturating_add(MAX_ROOTS);
        while root.version < last {
            let path = stored_metadata(folder, Role::Root, root.version + 1);
            let Some(next_bytes) = store.get(&path, limit(Role::Root))? else { return Ok((bytes, root)) };
            root = next_root(&store.file(&path), &next_bytes, &root)?;
            bytes = next_bytes;
        }
        Err(RepositoryError::Other(format!("{} has more than {MAX_ROOTS} new roots", store.file(folder))))
    }

    /// Reads a document whose digest is signed. `kept`: the trusted document, which need not be read again if it is the same.
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
}
