//! Releases that wait for signatures: the next `targets` of a team, which several people sign on their own machines.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use text::hex;

use crate::canonical::canonical;
use crate::error::{RepositoryError, Role};
use crate::keyring::Signer;
use crate::metadata::{Envelope, Targets, limit, sign, sign_too};
use crate::names::is_digest;
use crate::store::Writer;
use crate::update::stored_metadata;
use crate::writer::{Current, Lifetimes, Published, Publisher, no_form, role_keys};

/// Most releases of one team that wait for signatures.
const MAX_PENDING: usize = 64;

/// Largest difference between the clocks of two signers of one release, in seconds.
const CLOCKS: i64 = 24 * 60 * 60;

impl Publisher<'_> {
    pub(crate) fn leave_pending(
        &self,
        writer: &dyn Writer,
        current: &Current,
        document: &Targets,
        signers: &[Signer<'_>],
        threshold: usize,
    ) -> Result<Published, RepositoryError> {
        let json = document.to_json(&current.root.repository);
        let bytes = sign(&json, signers)?;
        let id = id_of(&json)?;
        let path = pending_path(&current.folder, &id);
        if !writer.put_if_absent(&path, &bytes)? {
            return Err(RepositoryError::Exists { what: format!("the pending release {id}") });
        }
        Ok(Published::Pending { id, signatures: signers.len(), threshold })
    }

    /// The pending releases of a repository: their names.
    ///
    /// # Errors
    /// The store cannot be read, or there are more of them than a team can have left.
    pub fn pending(&self, folder: &str) -> Result<Vec<String>, RepositoryError> {
        let below = format!("{folder}/pending");
        let names = self.store.names(&below)?;
        let ids = names.iter().filter_map(|name| name.strip_suffix(".json"));
        let ids: Vec<_> = ids.filter(|id| is_digest(id)).map(str::to_owned).collect();
        // A team may write to its own folder, and each name costs a signer the reading of a whole document.
        if ids.len() > MAX_PENDING {
            return Err(RepositoryError::Other(format!(
                "{} releases wait in {}, more than {MAX_PENDING}: remove the files that its team does not need, and try again",
                ids.len(),
                self.store.file(&below)
            )));
        }
        Ok(ids)
    }

    /// Reads a pending release with its signatures. Its id is the digest of the signed content, so a signer who names an id
    /// signs exactly the content that was shown for it.
    ///
    /// # Errors
    /// It does not exist, is invalid, is another release than its id says, is for another state of the repository than the
    /// present one, would be valid for longer than a release that is made now, or gives a group a revision that it does not have.
    pub fn read_pending(&self, current: &Current, id: &str, lifetimes: Lifetimes) -> Result<Pending, RepositoryError> {
        if !is_digest(id) {
            return Err(RepositoryError::Other(format!("{id:?} is not the id of a release: ids have 64 digits")));
        }
        let path = pending_path(&current.folder, id);
        let bytes = self.store.need(&path, limit(Role::Targets), "`wrun policy sign` lists what waits")?;
        let envelope = Envelope::parse(&self.store.file(&path), &bytes)?;
        if id_of(envelope.signed())? != id {
            let what = "it was put in the place of the release of this id";
            return Err(RepositoryError::Mismatch { file: self.store.file(&path), what });
        }
        envelope.check_repository(&current.root.repository)?;
        let targets = Targets::of(&envelope)?;
        let keys = role_keys(&current.root, Role::Targets)?;
        let signatures = envelope.signers(keys);
        let next = current.next_version()?;
        if targets.version != next {
            return Err(RepositoryError::Other(format!(
                "the pending release {id} is for version {} of {}, whose next version is {next}: release it again",
                targets.version,
                self.store.file(&current.folder),
            )));
        }
        let invalid = |what| RepositoryError::Invalid { file: self.store.file(&path), what };
        let latest = lifetimes.end(Role::Targets, self.now)?;
        if targets.expires.as_second() > latest.as_second().saturating_add(CLOCKS) {
            let expires = targets.expires;
            return Err(invalid(format!("it would be good until {expires}, and one that is made now until {latest}")));
        }
        self.check_revisions(current, &targets.targets).map_err(|error| match error {
            RepositoryError::Other(what) => invalid(what),
            error => error,
        })?;
        Ok(Pending { path, bytes, document: envelope.signed().clone(), targets, signatures })
    }

    /// Adds this publisher's signatures to a pending release, and publishes it if they are enough.
    ///
    /// # Errors
    /// No key that has not signed is here, one is missing, or the store cannot be written.
    pub fn sign_pending(
        &self,
        writer: &dyn Writer,
        current: &Current,
        pending: &Pending,
        lifetimes: Lifetimes,
    ) -> Result<Published, RepositoryError> {
        let keys = role_keys(&current.root, Role::Targets)?;
        let own = self.keys.of_role(keys, &pending.signers())?;
        if own.is_empty() && pending.signatures.len() < keys.threshold {
            let waits = keys.keys.keys().filter(|id| !pending.signatures.contains_key(*id));
            if self.keys.has_any(&pending.signers())? {
                return Err(RepositoryError::Other(format!(
                    "the keys in {} have signed the release {} already; it waits for another key of {}: {}",
                    self.keys.folder().display(),
                    pending.id(),
                    self.store.file(&current.folder),
                    waits.map(String::as_str).collect::<Vec<_>>().join(", ")
                )));
            }
            return Err(RepositoryError::NoKey {
                folder: self.keys.folder().to_owned(),
                repository: self.store.file(&current.folder),
                role: Role::Targets,
                wanted: waits.cloned().collect(),
            });
        }
        let count = pending.signatures.len() + own.len();
        let bytes = sign_too(&pending.document, pending.signatures.clone(), &own)?;
        if count < keys.threshold {
            if !writer.replace_if_unchanged(&pending.path, Some(&pending.bytes), &bytes)? {
                return Err(RepositoryError::Changed { repository: self.store.file(&pending.path) });
            }
            let id = pending.id();
            return Ok(Published::Pending { id, signatures: count, threshold: keys.threshold });
        }
        self.online_keys(current, None)?;
        let version = pending.targets.version;
        let path = stored_metadata(&current.folder, Role::Targets, version);
        if !writer.put_if_absent(&path, &bytes)? && self.store.need(&path, limit(Role::Targets), "")? != bytes {
            // A killed publication left the file. Nobody has used it, and the signed version number is needed again.
            let there = self.store.need(&path, limit(Role::Targets), "")?;
            writer.replace_if_unchanged(&path, Some(&there), &bytes)?;
        }
        self.point(writer, current, version, &bytes, lifetimes, None)?;
        writer.remove(&pending.path)?;
        Ok(Published::Done { version, dropped: current.dropped(&pending.targets.targets) })
    }
}

/// A release that waits for signatures.
pub struct Pending {
    path: String,
    bytes: Vec<u8>,
    document: Value,
    /// The targets that would be released.
    pub targets: Targets,
    signatures: BTreeMap<String, String>,
}

impl Pending {
    /// The ids of the keys that have signed.
    #[must_use]
    pub fn signers(&self) -> Vec<String> {
        self.signatures.keys().cloned().collect()
    }

    fn id(&self) -> String {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        name.strip_suffix(".json").unwrap_or(name).to_owned()
    }
}

/// Returns the id of a pending release: the digest of the signed content.
fn id_of(document: &Value) -> Result<String, RepositoryError> {
    Ok(hex(Sha256::digest(canonical(document).ok_or_else(no_form)?)))
}

pub(crate) fn pending_path(folder: &str, id: &str) -> String {
    format!("{folder}/pending/{id}.json")
}
