//! Publishes a release: first new files, then `targets` and `snapshot` under new names, and last `timestamp`, which makes
//! them valid.
//!
//! All steps before the last one add files that nobody reads yet. A killed publisher leaves some of them behind; the next one
//! uses the next free version number, and `wrun policy clean` removes the files. In a directory, two publishers wait for each
//! other. In a store without locks, the second one finds that the timestamp has changed, and must begin again.

use std::collections::BTreeMap;

use jiff::Timestamp as Moment;

use crate::error::{RepositoryError, Role};
use crate::first::untrusted;
use crate::keyring::{KeyRing, Signer};
use crate::keys::Sign as _;
use crate::metadata::{MAX_TARGETS, MAX_VERSION, Pointer, RoleKeys, Root, Target, Targets, limit, sign};
use crate::store::{Store, Writer};
use crate::trust::{Trust, TrustFolder};
use crate::update::{
    Ages, Pointers, Superseded, Trusted, Update, Verified, known_targets, stored_metadata, stored_target,
};

pub use crate::lifetimes::Lifetimes;

/// A publisher with its keys, its trust data and the repository.
pub struct Publisher<'a> {
    /// The store that has the repository.
    pub store: &'a dyn Store,
    /// The keys of the publisher.
    pub keys: &'a KeyRing<'a>,
    /// The publisher's trust data of the repository.
    pub trust: &'a TrustFolder,
    /// The current time, for new documents.
    pub now: Moment,
}

/// The state of one repository, verified by the publisher.
pub struct Current {
    /// The folder of the repository in the store.
    pub(crate) folder: String,
    /// The newest root that was verified.
    pub(crate) root: Root,
    pub(crate) root_bytes: Vec<u8>,
    /// The published documents, if they are valid under the newest root.
    pub(crate) verified: Option<Verified>,
    /// Documents that were published with keys that have been replaced since. They are not valid any more.
    pub(crate) superseded: Option<Verified>,
    pub(crate) numbers: Numbers,
    pub(crate) timestamp: Option<Vec<u8>>,
}

/// The version numbers of the documents that were published last.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Numbers {
    targets: u64,
    snapshot: u64,
    timestamp: u64,
    /// Whether keys of the targets were replaced, so that the old version number does not count.
    targets_begin_anew: bool,
    /// Whether online keys were replaced, so that the old version numbers of snapshot and timestamp do not count.
    pointers_begin_anew: bool,
}

impl Numbers {
    pub(crate) fn of(verified: &Verified) -> Self {
        Self {
            targets: verified.targets().version,
            snapshot: verified.snapshot().version,
            timestamp: verified.timestamp().version,
            ..Self::default()
        }
    }
}

impl Current {
    /// Returns what the team has released.
    #[must_use]
    pub fn targets(&self) -> BTreeMap<String, Target> {
        self.verified.as_ref().map(|verified| verified.targets().targets.clone()).unwrap_or_default()
    }

    /// Returns the published documents, if they are valid under the newest root.
    #[must_use]
    pub fn verified(&self) -> Option<&Verified> {
        self.verified.as_ref()
    }

    /// Returns the version number of the next targets.
    ///
    /// # Errors
    /// The numbers are used up.
    pub fn next_version(&self) -> Result<u64, RepositoryError> {
        following(self.numbers.targets, self.numbers.targets_begin_anew, &self.folder)
    }

    /// Returns the groups with a release now that will not have one after a release of these targets.
    pub(crate) fn dropped(&self, targets: &BTreeMap<String, Target>) -> Vec<String> {
        let last = self.verified.as_ref().or(self.superseded.as_ref());
        let before = last.into_iter().flat_map(|last| last.targets().targets.keys());
        let gone = before.filter(|path| path.starts_with("groups/") && !targets.contains_key(*path));
        gone.map(|path| path.trim_start_matches("groups/").trim_end_matches(".json").to_owned()).collect()
    }
}

/// The result of publishing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// There were enough signatures, so the release is valid.
    Done {
        /// The version of the targets.
        version: u64,
        /// Releases that groups lose, as `GROUP/POLICY`, because they were signed with replaced keys.
        dropped: Vec<String>,
    },
    /// The release waits for more signatures.
    Pending {
        /// The identifier of the pending release.
        id: String,
        /// How many have signed.
        signatures: usize,
        /// How many keys must sign it.
        threshold: usize,
    },
}

impl Publisher<'_> {
    /// Reads and verifies the repository in a folder. `vouched`: a root that the platform vouches for. Expired documents are
    /// accepted, because they are about to be renewed.
    ///
    /// # Errors
    /// It is damaged, has gone backwards, or cannot be read.
    pub fn current(&self, folder: &str, vouched: Option<&[u8]>) -> Result<Current, RepositoryError> {
        self.current_of(folder, vouched, Ages::Root)
    }

    /// Reads a repository like [`Self::current`], with other rules for expired documents.
    pub(crate) fn current_of(
        &self,
        folder: &str,
        vouched: Option<&[u8]>,
        ages: Ages,
    ) -> Result<Current, RepositoryError> {
        let trust = self.trust.read(folder)?;
        let trust = match (trust, vouched) {
            (Some(trust), _) => trust,
            (None, Some(root)) => Trust { trusted: Trusted::of_root(root.to_owned()), ..Trust::default() },
            (None, None) => return Err(untrusted(self.store)),
        };
        let timestamp_path = stored_metadata(folder, Role::Timestamp, 0);
        let timestamp = self.store.get(&timestamp_path, limit(Role::Timestamp))?;
        let update = Update { store: self.store, folder, now: self.now, ages };
        let keep = |trusted: &Trusted| self.trust.write(folder, &trust.with(trusted.clone()));
        let (trusted, root) = update.roots(&trust.trusted, vouched, &keep)?;
        let current = Current {
            folder: folder.to_owned(),
            root,
            root_bytes: trusted.root.clone(),
            verified: None,
            superseded: None,
            numbers: Numbers::default(),
            timestamp,
        };
        if current.timestamp.is_none() && trusted.is_root_alone() {
            return Ok(current);
        }
        let (trusted, verified) = match update.run(&trusted, vouched, &|_| Ok(())) {
            Err(error @ RepositoryError::Unsigned { .. }) => {
                return self.after_other_keys(&update, &trust.trusted, &trusted, current, error);
            }
            updated => updated?,
        };
        let timestamp = trusted.pointers.as_ref().map(|pointers| pointers.timestamp.clone());
        self.trust.write(folder, &Trust { checked: Some(self.now), ..trust.with(trusted) })?;
        Ok(Current { numbers: Numbers::of(&verified), verified: Some(verified), timestamp, ..current })
    }

    /// Returns the state of a repository whose keys were replaced and with whose new keys nothing was published yet.
    /// `before`: the documents that were trusted under the earlier root. `trusted`: the documents that are still valid.
    /// `error`: returned if the keys were not replaced.
    fn after_other_keys(
        &self,
        update: &Update<'_>,
        before: &Trusted,
        trusted: &Trusted,
        current: Current,
        error: RepositoryError,
    ) -> Result<Current, RepositoryError> {
        // Without a release by the earlier keys, the keys were not replaced: the repository is damaged.
        let Some(superseded) = update.superseded(before, (&current.root_bytes, &current.root))? else {
            return Err(error);
        };
        if let Some((timestamp, pointer, snapshot)) = update.pointed(&current.root)? {
            // The online keys are the same, so their version numbers count for all who have seen them.
            let numbers = Numbers {
                targets: snapshot.of_version,
                snapshot: snapshot.version,
                timestamp: pointer.version,
                ..Numbers::default()
            };
            return Ok(Current {
                superseded: Some(superseded.verified),
                numbers,
                timestamp: Some(timestamp),
                ..current
            });
        }
        let Superseded { timestamp, verified, is_signed } = superseded;
        let numbers = Numbers { pointers_begin_anew: true, ..Numbers::of(&verified) };
        let timestamp = Some(timestamp);
        if !is_signed {
            let numbers = Numbers { targets_begin_anew: true, ..numbers };
            return Ok(Current { superseded: Some(verified), numbers, timestamp, ..current });
        }
        // The keys of the targets are the same, so the targets only need a new snapshot and timestamp.
        let (found, known) = (verified.targets().version, known_targets(&current.folder, trusted)?);
        if let Some(known) = known.map(|known| known.version).filter(|known| found < *known) {
            let file = self.store.file(&stored_metadata(&current.folder, Role::Targets, found));
            return Err(RepositoryError::Rollback { file, role: Role::Targets, found, known });
        }
        Ok(Current { verified: Some(verified), numbers, timestamp, ..current })
    }

    /// Releases files: `files` are the new ones by target path, `targets` all that are released from now on. If there are not
    /// enough signatures, it leaves a pending release.
    ///
    /// # Errors
    /// A key is missing, somebody else has published meanwhile, or the store cannot be written.
    pub fn release(
        &self,
        writer: &dyn Writer,
        current: &Current,
        files: &[(String, Vec<u8>)],
        targets: BTreeMap<String, Target>,
        lifetimes: Lifetimes,
    ) -> Result<Published, RepositoryError> {
        self.release_for(writer, current, files, targets, lifetimes, None)
    }

    /// Releases files like [`Self::release`], with signatures that are also valid under another root, which will replace the
    /// present one.
    pub(crate) fn release_for(
        &self,
        writer: &dyn Writer,
        current: &Current,
        files: &[(String, Vec<u8>)],
        targets: BTreeMap<String, Target>,
        lifetimes: Lifetimes,
        next_root: Option<&Root>,
    ) -> Result<Published, RepositoryError> {
        let Current { folder, root, .. } = current;
        let keys = role_keys(root, Role::Targets)?;
        // The keys are opened before anything is written, so that nobody is asked for a passphrase after half of the work.
        let mut signers = self.keys.of_role(keys, &[])?;
        if signers.is_empty() {
            self.keys.enough(Role::Targets, keys, &self.store.file(folder))?;
        }
        let is_enough = signers.len() >= keys.threshold;
        if is_enough {
            self.online_keys(current, next_root)?;
        }
        if let Some(next_root) = next_root {
            let more =
                self.keys.enough(Role::Targets, role_keys(next_root, Role::Targets)?, &self.store.file(folder))?;
            signers = both(signers, more);
        }
        for (path, content) in files {
            let stored = stored_target(folder, path, &Target::of(content).sha256);
            // An existing file with this name has this content, unless it was damaged.
            let is_whole = |there: Result<Option<Vec<u8>>, _>| there.is_ok_and(|there| there.as_ref() == Some(content));
            if !writer.put_if_absent(&stored, content)? && !is_whole(self.store.get(&stored, content.len() as u64)) {
                writer.replace(&stored, content)?;
            }
        }
        let expires = lifetimes.end(Role::Targets, self.now)?;
        let dropped = current.dropped(&targets);
        let anew =
            |role, so_far| so_far || next_root.is_some_and(|next| next.roles.get(&role) != root.roles.get(&role));
        let begins_anew = anew(Role::Targets, current.numbers.targets_begin_anew);
        let first = following(current.numbers.targets, begins_anew, folder)?;
        let mut document = Targets { version: first, expires, targets };
        check_readable(&document, folder)?;
        if !is_enough {
            return self.leave_pending(writer, current, &document, &signers, keys.threshold);
        }
        let path = |version| stored_metadata(folder, Role::Targets, version);
        let bytes = loop {
            let bytes = sign(&document.to_json(&root.repository), &signers)?;
            if bytes.len() as u64 > limit(Role::Targets) {
                return Err(too_many(folder));
            }
            if writer.put_if_absent(&path(document.version), &bytes)? {
                break bytes;
            }
            document.version = next(document.version, first, folder)?;
        };
        self.point(writer, current, document.version, &bytes, lifetimes, next_root)?;
        Ok(Published::Done { version: document.version, dropped })
    }

    /// Writes a snapshot and a timestamp for targets that are written already, and so makes them valid. `targets`: the bytes
    /// that were signed or verified, not those of a second read.
    ///
    /// # Errors
    /// A key is missing, somebody else has published meanwhile, or the store cannot be written.
    pub(crate) fn point(
        &self,
        writer: &dyn Writer,
        current: &Current,
        targets_version: u64,
        targets: &[u8],
        lifetimes: Lifetimes,
        next_root: Option<&Root>,
    ) -> Result<(), RepositoryError> {
        let (folder, repository) = (&current.folder, &current.root.repository);
        let (snapshot_keys, timestamp_keys) = self.online_keys(current, next_root)?;
        let anew = |role| {
            let is_other = |next: &Root| next.roles.get(&role) != current.root.roles.get(&role);
            current.numbers.pointers_begin_anew || next_root.is_some_and(is_other)
        };
        let first = following(current.numbers.snapshot, anew(Role::Snapshot), folder)?;
        let mut snapshot = Pointer {
            version: first,
            expires: lifetimes.end(Role::Snapshot, self.now)?,
            of_version: targets_version,
            of: Target::of(targets),
        };
        let snapshot_bytes = loop {
            let bytes = sign(&snapshot.to_json(Role::Snapshot, repository), &snapshot_keys)?;
            if writer.put_if_absent(&stored_metadata(folder, Role::Snapshot, snapshot.version), &bytes)? {
                break bytes;
            }
            snapshot.version = next(snapshot.version, first, folder)?;
        };
        let timestamp = Pointer {
            version: following(current.numbers.timestamp, anew(Role::Timestamp), folder)?,
            expires: lifetimes.end(Role::Timestamp, self.now)?,
            of_version: snapshot.version,
            of: Target::of(&snapshot_bytes),
        };
        let timestamp_bytes = sign(&timestamp.to_json(Role::Timestamp, repository), &timestamp_keys)?;
        let path = stored_metadata(folder, Role::Timestamp, 0);
        if !writer.replace_if_unchanged(&path, current.timestamp.as_deref(), &timestamp_bytes)? {
            return Err(RepositoryError::Changed { repository: self.store.file(folder) });
        }
        let pointers = Some(Pointers { timestamp: timestamp_bytes, snapshot: snapshot_bytes });
        let trusted = Trusted { root: current.root_bytes.clone(), pointers, targets: Some(targets.to_owned()) };
        let before = self.trust.read(folder)?.unwrap_or_default();
        self.trust.write(folder, &Trust { checked: Some(self.now), ..before.with(trusted) })
    }

    /// The keys for snapshots, and those for timestamps.
    pub(crate) fn online_keys(
        &self,
        current: &Current,
        next_root: Option<&Root>,
    ) -> Result<(Vec<Signer<'_>>, Vec<Signer<'_>>), RepositoryError> {
        let place = self.store.file(&current.folder);
        let keys = |role| -> Result<Vec<Signer<'_>>, RepositoryError> {
            let own = self.keys.enough(role, role_keys(&current.root, role)?, &place)?;
            let Some(next_root) = next_root else { return Ok(own) };
            Ok(both(own, self.keys.enough(role, role_keys(next_root, role)?, &place)?))
        };
        Ok((keys(Role::Snapshot)?, keys(Role::Timestamp)?))
    }
}

/// Keys of two roles, each once.
pub(crate) fn both<'k>(mut keys: Vec<Signer<'k>>, more: Vec<Signer<'k>>) -> Vec<Signer<'k>> {
    for key in more {
        if keys.iter().all(|known| known.public() != key.public()) {
            keys.push(key);
        }
    }
    keys
}

/// The keys of a role.
pub(crate) fn role_keys(root: &Root, role: Role) -> Result<&RoleKeys, RepositoryError> {
    root.roles.get(&role).ok_or_else(|| RepositoryError::Other(format!("the root has no role {role}")))
}

/// Returns the version number of the next document of a role. `begins_anew`: its keys were replaced, so the old keys' version
/// numbers do not count. Numbers that an attacker has raised too far are not continued then.
///
/// # Errors
/// The numbers are used up.
pub(crate) fn following(version: u64, begins_anew: bool, folder: &str) -> Result<u64, RepositoryError> {
    match version {
        raised if begins_anew && raised > MAX_VERSION / 2 => Ok(1),
        version if version < MAX_VERSION => Ok(version + 1),
        _ => Err(RepositoryError::Other(format!(
            "the versions of {folder} are used up; other keys begin anew (`wrun repository add-team`, or `rotate` for the \
             platform)"
        ))),
    }
}

/// Returns the next free version number, after files that a killed publication left.
fn next(version: u64, first: u64, folder: &str) -> Result<u64, RepositoryError> {
    /// Most numbers that are passed over.
    const MOST: u64 = 10_000;
    if version.saturating_sub(first) > MOST {
        return Err(RepositoryError::Other("there are too many files of releases that were never published".into()));
    }
    following(version, false, folder)
}

/// Checks that readers will accept the document before it is released.
fn check_readable(document: &Targets, folder: &str) -> Result<(), RepositoryError> {
    if document.targets.len() <= MAX_TARGETS { Ok(()) } else { Err(too_many(folder)) }
}

fn too_many(folder: &str) -> RepositoryError {
    RepositoryError::Other(format!(
        "{folder} would release too many files; `wrun policy clean` removes what no group runs"
    ))
}

pub(crate) fn no_form() -> RepositoryError {
    RepositoryError::Other("a document has a number that cannot be signed".into())
}
