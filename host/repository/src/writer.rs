//! Publishes: new files first, then `targets` and `snapshot` under new names, and `timestamp` last, which makes them count.
//!
//! Everything before the last step adds files that nobody reads yet. Whoever is killed leaves some of them behind; the next
//! one takes the next free number, and `wrun policy clean` removes them. Two who publish at once wait for each other in a
//! directory; in a store without locks the second finds another timestamp than it began with, and must begin again.

use std::collections::BTreeMap;

use jiff::Timestamp as Moment;

use crate::error::{RepositoryError, Role};
use crate::first::untrusted;
use crate::keyring::KeyRing;
use crate::keys::SigningKey;
use crate::metadata::{MAX_VERSION, Pointer, RoleKeys, Root, Target, Targets, limit, sign};
use crate::store::{Store, Writer};
use crate::trust::{Trust, TrustFolder};
use crate::update::{Ages, Rest, Trusted, Update, Verified, stored_metadata, stored_target};

/// How long documents are valid, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Of roots.
    pub root: i64,
    /// Of targets.
    pub targets: i64,
    /// Of snapshots and timestamps.
    pub online: i64,
}

const DAY: i64 = 24 * 60 * 60;

/// Targets that expire within so many seconds are renewed.
const SOON: i64 = 60 * DAY;

impl Lifetimes {
    /// Somebody renews the repository at least once a month.
    pub const USUAL: Self = Self { root: 3650 * DAY, targets: 365 * DAY, online: 30 * DAY };

    /// Nobody renews the repository between releases.
    pub const OFFLINE: Self = Self { online: 365 * DAY, ..Self::USUAL };

    /// The usual ones, with snapshots and timestamps for so many days.
    #[must_use]
    pub fn with_online_days(days: i64) -> Self {
        Self { online: days.saturating_mul(DAY), ..Self::USUAL }
    }

    /// The days for which snapshots and timestamps are valid.
    #[must_use]
    pub fn online_days(self) -> i64 {
        self.online / DAY
    }

    fn of(self, role: Role) -> i64 {
        match role {
            Role::Root => self.root,
            Role::Targets => self.targets,
            Role::Snapshot | Role::Timestamp => self.online,
        }
    }

    /// The moment at which a document that is signed now expires.
    ///
    /// # Errors
    /// It is not in the calendar.
    pub fn end(self, role: Role, now: Moment) -> Result<Moment, RepositoryError> {
        let second = now.as_second().saturating_add(self.of(role));
        Moment::from_second(second).map_err(|_| RepositoryError::Other("the clock's time is not a date".into()))
    }
}

/// Who publishes where.
pub struct Publisher<'a> {
    /// The repository.
    pub store: &'a dyn Store,
    /// The keys of whoever publishes.
    pub keys: &'a KeyRing<'a>,
    /// What whoever publishes has seen of the repository before.
    pub trust: &'a TrustFolder,
    /// What time it is.
    pub now: Moment,
}

/// The state of one repository, as whoever publishes has verified it.
pub struct Current {
    /// The store's folder.
    pub(crate) folder: String,
    /// The newest root.
    pub(crate) root: Root,
    root_bytes: Vec<u8>,
    /// What was published, if anything.
    pub(crate) verified: Option<Verified>,
    /// What was published with keys that have been replaced since. It counts for nobody any more.
    superseded: Option<Verified>,
    timestamp: Option<Vec<u8>>,
}

impl Current {
    /// What is released.
    #[must_use]
    pub fn targets(&self) -> BTreeMap<String, Target> {
        self.verified.as_ref().map(|verified| verified.targets().targets.clone()).unwrap_or_default()
    }

    /// What was published, if anything.
    #[must_use]
    pub fn verified(&self) -> Option<&Verified> {
        self.verified.as_ref()
    }

    /// The version of what is published, or 0.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.last().map_or(0, |verified| verified.targets().version)
    }

    /// What was published last, whether or not it counts.
    fn last(&self) -> Option<&Verified> {
        self.verified.as_ref().or(self.superseded.as_ref())
    }

    /// The groups that run something now and will not after a release of these targets.
    pub(crate) fn dropped(&self, targets: &BTreeMap<String, Target>) -> Vec<String> {
        let before = self.last().into_iter().flat_map(|last| last.targets().targets.keys());
        let gone = before.filter(|path| path.starts_with("groups/") && !targets.contains_key(*path));
        gone.map(|path| path.trim_start_matches("groups/").trim_end_matches(".json").to_owned()).collect()
    }
}

/// What came of publishing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Published {
    /// It counts.
    Done {
        /// The version of the targets.
        version: u64,
        /// What groups ran before and do not any more, as `GROUP/POLICY`: it was signed with keys that were replaced.
        dropped: Vec<String>,
    },
    /// It waits for more signatures.
    Pending {
        /// Its name.
        id: String,
        /// How many have signed.
        signatures: usize,
        /// How many must.
        threshold: usize,
    },
}

impl Publisher<'_> {
    /// Reads and verifies the repository in a folder. `vouched`: a root that the platform vouches for. Documents that are too
    /// old are taken: they are about to be renewed.
    ///
    /// # Errors
    /// It is damaged, has gone backwards, or cannot be read.
    pub fn current(&self, folder: &str, vouched: Option<&[u8]>) -> Result<Current, RepositoryError> {
        self.current_of(folder, vouched, Ages::Root)
    }

    /// As [`Self::current`], with other rules for documents that are too old.
    pub(crate) fn current_of(
        &self,
        folder: &str,
        vouched: Option<&[u8]>,
        ages: Ages,
    ) -> Result<Current, RepositoryError> {
        let trust = self.trust.read(folder)?;
        let first = match (&trust, vouched) {
            (Some(trust), _) => trust.trusted.clone(),
            (None, Some(root)) => Trusted { root: root.to_owned(), rest: None },
            (None, None) => return Err(untrusted(self.store)),
        };
        let timestamp_path = stored_metadata(folder, Role::Timestamp, 0);
        let timestamp = self.store.get(&timestamp_path, limit(Role::Timestamp))?;
        let update = Update { store: self.store, folder, now: self.now, ages };
        if timestamp.is_none() && first.rest.is_none() {
            let (root_bytes, root) = update.root(&first, vouched)?;
            let folder = folder.to_owned();
            return Ok(Current { folder, root, root_bytes, verified: None, superseded: None, timestamp });
        }
        let (trusted, verified) = match update.run(&first, vouched) {
            Err(error @ RepositoryError::Unsigned { .. }) => {
                let (root_bytes, root) = update.root(&first, vouched)?;
                let Some((rest, superseded)) = update.superseded(&root)? else { return Err(error) };
                let folder = folder.to_owned();
                let (timestamp, superseded) = (Some(rest.timestamp), Some(superseded));
                return Ok(Current { folder, root, root_bytes, verified: None, superseded, timestamp });
            }
            updated => updated?,
        };
        let timestamp = trusted.rest.as_ref().map(|rest| rest.timestamp.clone());
        let root_bytes = trusted.root.clone();
        self.trust.write(folder, &Trust { trusted, checked: Some(self.now) })?;
        let root = verified.root().clone();
        let folder = folder.to_owned();
        Ok(Current { folder, root, root_bytes, verified: Some(verified), superseded: None, timestamp })
    }

    /// Releases files: `files` by their target paths, `targets` all that is released from now on. Below the threshold of
    /// signatures, a pending release is left.
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

    /// As [`Self::release`], signed so that it is valid under another root too, which takes the place of the present one.
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
        // Before anything is written: nobody should be asked for a passphrase after half of the work.
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
            // A file of this name has this content, unless somebody has damaged it.
            let is_whole = |there: Result<Option<Vec<u8>>, _>| there.is_ok_and(|there| there.as_ref() == Some(content));
            if !writer.put_if_absent(&stored, content)? && !is_whole(self.store.get(&stored, content.len() as u64)) {
                writer.replace(&stored, content)?;
            }
        }
        let expires = lifetimes.end(Role::Targets, self.now)?;
        let dropped = current.dropped(&targets);
        let mut document = Targets { version: current.version() + 1, expires, targets };
        if !is_enough {
            return self.leave_pending(writer, current, &document, &signers, keys.threshold);
        }
        let path = |version| stored_metadata(folder, Role::Targets, version);
        let bytes = loop {
            let bytes = sign(&document.to_json(&root.repository), &signers).ok_or_else(no_form)?;
            if writer.put_if_absent(&path(document.version), &bytes)? {
                break bytes;
            }
            document.version = next(document.version, current.version())?;
        };
        self.point(writer, current, document.version, &bytes, lifetimes, next_root)?;
        Ok(Published::Done { version: document.version, dropped })
    }

    /// Makes a snapshot and a timestamp for targets that are written, and so makes them count.
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
        let before = current.last().map(|verified| (verified.snapshot().version, verified.timestamp().version));
        let (snapshot_before, timestamp_before) = before.unwrap_or_default();
        let mut snapshot = Pointer {
            version: snapshot_before + 1,
            expires: lifetimes.end(Role::Snapshot, self.now)?,
            of_version: targets_version,
            of: Target::of(targets),
        };
        let snapshot_bytes = loop {
            let bytes = sign(&snapshot.to_json(Role::Snapshot, repository), &snapshot_keys).ok_or_else(no_form)?;
            if writer.put_if_absent(&stored_metadata(folder, Role::Snapshot, snapshot.version), &bytes)? {
                break bytes;
            }
            snapshot.version = next(snapshot.version, snapshot_before)?;
        };
        let timestamp = Pointer {
            version: timestamp_before + 1,
            expires: lifetimes.end(Role::Timestamp, self.now)?,
            of_version: snapshot.version,
            of: Target::of(&snapshot_bytes),
        };
        let timestamp_bytes =
            sign(&timestamp.to_json(Role::Timestamp, repository), &timestamp_keys).ok_or_else(no_form)?;
        let path = stored_metadata(folder, Role::Timestamp, 0);
        if !writer.replace_if_unchanged(&path, current.timestamp.as_deref(), &timestamp_bytes)? {
            return Err(RepositoryError::Changed { repository: self.store.file(folder) });
        }
        let rest = Rest { timestamp: timestamp_bytes, snapshot: snapshot_bytes, targets: targets.to_owned() };
        let trusted = Trusted { root: current.root_bytes.clone(), rest: Some(rest) };
        self.trust.write(folder, &Trust { trusted, checked: Some(self.now) })
    }

    /// The keys for snapshots, and those for timestamps.
    pub(crate) fn online_keys(
        &self,
        current: &Current,
        next_root: Option<&Root>,
    ) -> Result<(Vec<SigningKey>, Vec<SigningKey>), RepositoryError> {
        let place = self.store.file(&current.folder);
        let keys = |role| -> Result<Vec<SigningKey>, RepositoryError> {
            let own = self.keys.enough(role, role_keys(&current.root, role)?, &place)?;
            let Some(next_root) = next_root else { return Ok(own) };
            Ok(both(own, self.keys.enough(role, role_keys(next_root, role)?, &place)?))
        };
        Ok((keys(Role::Snapshot)?, keys(Role::Timestamp)?))
    }

    /// Renews the snapshot and the timestamp, and targets that expire soon if their keys are here. Returns the moment at which
    /// the targets expire if that is soon.
    ///
    /// # Errors
    /// Nothing was published, a key is missing, or the store cannot be written.
    pub fn refresh(
        &self,
        folder: &str,
        vouched: Option<&[u8]>,
        lifetimes: Lifetimes,
    ) -> Result<Option<Moment>, RepositoryError> {
        let writer = self.store.writer(folder)?;
        let current = self.current(folder, vouched)?;
        let Some(verified) = &current.verified else {
            let file = self.store.file(&stored_metadata(folder, Role::Timestamp, 0));
            let hint = "nothing has been released yet with the present keys; `wrun policy push` does";
            return Err(RepositoryError::Missing { file, hint });
        };
        let (version, expires) = (verified.targets().version, verified.targets().expires);
        let is_soon = expires.as_second() - self.now.as_second() < SOON;
        if is_soon {
            let keys = role_keys(&current.root, Role::Targets)?;
            // Where nobody can be asked for a passphrase, the rest is renewed all the same.
            if self.keys.of_role(keys, &[]).is_ok_and(|found| found.len() >= keys.threshold) {
                self.release(writer.as_ref(), &current, &[], current.targets(), lifetimes)?;
                return Ok(None);
            }
        }
        let path = stored_metadata(folder, Role::Targets, version);
        let targets = self.store.need(&path, limit(Role::Targets), "")?;
        self.point(writer.as_ref(), &current, version, &targets, lifetimes, None)?;
        Ok(is_soon.then_some(expires))
    }
}

/// Keys of two roles, each once.
pub(crate) fn both(mut keys: Vec<SigningKey>, more: Vec<SigningKey>) -> Vec<SigningKey> {
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

/// The number of the next document of a role. `begins_anew`: its keys were exchanged, so that the numbers of the old keys bind
/// nobody; they are left behind if somebody has raised them.
///
/// # Errors
/// There is no next number.
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

/// The next number, after files that a killed publication left behind.
fn next(version: u64, published: u64) -> Result<u64, RepositoryError> {
    /// Most numbers that are passed over.
    const MOST: u64 = 10_000;
    if version - published > MOST {
        return Err(RepositoryError::Other("there are too many files of releases that were never published".into()));
    }
    Ok(version + 1)
}

pub(crate) fn no_form() -> RepositoryError {
    RepositoryError::Other("a document has a number that cannot be signed".into())
}
