//! The four documents of a TUF repository: parsed, checked and verified.
//!
//! A document is read from the bytes once; what its signatures cover and what is used of it is the same JSON value. Members
//! that the format does not know are covered and ignored, as it demands.

use std::collections::BTreeMap;

use jiff::Timestamp as Moment;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use text::{hex, unhex};

use crate::canonical::canonical;
use crate::error::{RepositoryError, Role};
use crate::keys::{PublicKey, SigningKey};
use crate::names::{RepositoryName, is_digest};

/// The version of the format that is written. Others with the same first number are read.
const SPEC_VERSION: &str = "1.0.31";

/// The member of every document with the repository that it is for. Others who read TUF ignore it, and their signatures cover
/// it.
const REPOSITORY: &str = "repository";

/// The largest version number of a document: what every JSON reader keeps exact.
pub const MAX_VERSION: u64 = 1 << 53;

/// Most signatures of a document, and most keys of a root.
const MAX_SIGNATURES: usize = 256;

/// Most files that a repository may release.
pub const MAX_TARGETS: usize = 100_000;

/// The largest document of each role, in bytes.
#[must_use]
pub fn limit(role: Role) -> u64 {
    match role {
        Role::Root => 512 << 10,
        Role::Timestamp => 16 << 10,
        Role::Snapshot => 64 << 10,
        Role::Targets => 64 << 20,
    }
}

/// What is released under a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its length in bytes.
    pub length: u64,
    /// Its SHA-256, 64 hexadecimal digits.
    pub sha256: String,
    /// What else is said about it, an object.
    pub custom: Map<String, Value>,
}

impl Target {
    /// Describes a file.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self { length: content.len() as u64, sha256: hex(Sha256::digest(content)), custom: Map::new() }
    }

    /// Tells whether this is the file.
    #[must_use]
    pub fn is(&self, content: &[u8]) -> bool {
        self.length == content.len() as u64 && self.sha256 == hex(Sha256::digest(content))
    }
}

/// The keys of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleKeys {
    /// The keys by their ids.
    pub keys: BTreeMap<String, PublicKey>,
    /// How many of them have to sign.
    pub threshold: usize,
}

impl RoleKeys {
    /// A role of these keys.
    #[must_use]
    pub fn new(keys: impl IntoIterator<Item = PublicKey>, threshold: usize) -> Self {
        Self { keys: keys.into_iter().map(|key| (key.id(), key)).collect(), threshold }
    }
}

/// `root`: the keys of all roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Its version, from 1.
    pub version: u64,
    /// The moment from which it is too old.
    pub expires: Moment,
    /// The repository that it is for.
    pub repository: RepositoryName,
    /// The keys by role.
    pub roles: BTreeMap<Role, RoleKeys>,
}

/// `targets`: what is released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Targets {
    /// Its version, from 1.
    pub version: u64,
    /// The moment from which it is too old.
    pub expires: Moment,
    /// The files by their paths.
    pub targets: BTreeMap<String, Target>,
}

/// `snapshot` and `timestamp`: the version of another document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// Its version, from 1.
    pub version: u64,
    /// The moment from which it is too old.
    pub expires: Moment,
    /// The version of the document that it points to.
    pub of_version: u64,
    /// The document that it points to.
    pub of: Target,
}

/// A document with signatures, which nobody has checked yet.
#[derive(Debug, Clone)]
pub struct Envelope {
    file: String,
    signed: Value,
    signatures: Vec<(String, Vec<u8>)>,
}

#[derive(Deserialize)]
struct WrittenEnvelope {
    signed: Value,
    signatures: Vec<WrittenSignature>,
}

#[derive(Deserialize)]
struct WrittenSignature {
    keyid: String,
    sig: String,
}

impl Envelope {
    /// Reads a document. `file`: what messages call it.
    ///
    /// # Errors
    /// It is not a document with signatures.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, RepositoryError> {
        let invalid = |what: String| RepositoryError::Invalid { file: file.to_owned(), what };
        let written: WrittenEnvelope =
            serde_json::from_slice(bytes).map_err(|error| invalid(format!("it is not signed metadata: {error}")))?;
        if written.signatures.len() > MAX_SIGNATURES {
            return Err(invalid(format!("it has more than {MAX_SIGNATURES} signatures")));
        }
        let signatures = written.signatures.into_iter().filter_map(|one| Some((one.keyid, unhex(&one.sig)?))).collect();
        Ok(Self { file: file.to_owned(), signed: written.signed, signatures })
    }

    /// The document, to be signed once more.
    #[must_use]
    pub fn signed(&self) -> &Value {
        &self.signed
    }

    /// The valid signatures of a role's keys, in hexadecimal, one of each key.
    #[must_use]
    pub fn signers(&self, keys: &RoleKeys) -> BTreeMap<String, String> {
        let Some(message) = canonical(&self.signed) else { return BTreeMap::new() };
        let valid = |(id, signature): &&(String, Vec<u8>)| {
            keys.keys.get(id).is_some_and(|key| key.verifies(&message, signature))
        };
        self.signatures.iter().filter(valid).map(|(id, signature)| (id.clone(), hex(signature))).collect()
    }

    /// Checks that enough keys of a role have signed.
    ///
    /// # Errors
    /// Fewer have.
    pub fn verify(&self, role: Role, keys: &RoleKeys) -> Result<(), RepositoryError> {
        let (found, threshold) = (self.signers(keys).len(), keys.threshold);
        // A threshold of nothing would be reached by anybody.
        if found >= threshold && threshold > 0 {
            return Ok(());
        }
        Err(RepositoryError::Unsigned { file: self.file.clone(), role, found, threshold })
    }

    /// Reads the repository that the document is for.
    fn repository(&self) -> Result<RepositoryName, RepositoryError> {
        let name = self.signed.get(REPOSITORY).and_then(Value::as_str).and_then(RepositoryName::parse);
        name.ok_or_else(|| {
            self.invalid(format!(
                "it does not say in {REPOSITORY:?} which repository it is for, as documents of wrun do"
            ))
        })
    }

    /// Checks that the document is for a repository.
    ///
    /// # Errors
    /// It is for another one.
    pub fn check_repository(&self, expected: &RepositoryName) -> Result<(), RepositoryError> {
        let found = self.repository()?;
        if found == *expected {
            return Ok(());
        }
        Err(self.invalid(format!("it is for the repository {found} and not for {expected}")))
    }

    fn invalid(&self, what: impl Into<String>) -> RepositoryError {
        RepositoryError::Invalid { file: self.file.clone(), what: what.into() }
    }

    /// Reads the members that all documents have.
    fn read<T: DeserializeOwned>(&self, role: Role) -> Result<(Checked, T), RepositoryError> {
        let common = Common::deserialize(&self.signed).map_err(|error| self.invalid(error.to_string()))?;
        if common.kind != role.name() {
            return Err(self.invalid(format!("it is {:?} and not {role}", common.kind)));
        }
        if !common.spec_version.starts_with("1.") {
            return Err(self.invalid(format!("it is of version {:?} of the format", common.spec_version)));
        }
        if !(1..=MAX_VERSION).contains(&common.version) {
            return Err(self.invalid(format!("its version {} is out of range", common.version)));
        }
        let expires = common.expires.parse();
        let expires = expires.map_err(|_| self.invalid(format!("its expiry {:?} is not a moment", common.expires)))?;
        let rest = T::deserialize(&self.signed).map_err(|error| self.invalid(error.to_string()))?;
        Ok((Checked { version: common.version, expires }, rest))
    }
}

/// What every document says, checked.
struct Checked {
    version: u64,
    expires: Moment,
}

#[derive(Deserialize)]
struct Common {
    #[serde(rename = "_type")]
    kind: String,
    spec_version: String,
    version: u64,
    expires: String,
}

#[derive(Deserialize)]
struct WrittenRoot {
    consistent_snapshot: bool,
    keys: BTreeMap<String, Value>,
    roles: BTreeMap<String, WrittenRole>,
}

#[derive(Deserialize)]
struct WrittenRole {
    keyids: Vec<String>,
    threshold: usize,
}

impl Root {
    /// Reads the document. Its signatures are not checked.
    ///
    /// # Errors
    /// It is not a root, or one that contradicts itself.
    pub fn of(envelope: &Envelope) -> Result<Self, RepositoryError> {
        let (common, written): (_, WrittenRoot) = envelope.read(Role::Root)?;
        if !written.consistent_snapshot {
            return Err(envelope.invalid("it has no consistent snapshots, which repositories of wrun have"));
        }
        if written.keys.len() > MAX_SIGNATURES {
            return Err(envelope.invalid(format!("it has more than {MAX_SIGNATURES} keys")));
        }
        let mut keys = BTreeMap::new();
        for (id, value) in &written.keys {
            let key = PublicKey::from_json(value).map_err(|what| envelope.invalid(what))?;
            if key.id() != *id {
                return Err(envelope.invalid(format!("the key {id:?} has another id")));
            }
            keys.insert(id.clone(), key);
        }
        let mut roles = BTreeMap::new();
        for role in Role::ALL {
            let name = role.name();
            let written = written.roles.get(name).ok_or_else(|| envelope.invalid(format!("it has no role {name}")))?;
            let mut own = BTreeMap::new();
            for id in &written.keyids {
                let key = keys.get(id).ok_or_else(|| envelope.invalid(format!("the key {id:?} is missing")))?;
                if own.insert(id.clone(), key.clone()).is_some() {
                    return Err(envelope.invalid(format!("the role {name} has the key {id} twice")));
                }
            }
            if written.threshold == 0 || written.threshold > own.len() {
                return Err(envelope.invalid(format!(
                    "the role {name} needs {} signatures and has {} keys",
                    written.threshold,
                    own.len()
                )));
            }
            roles.insert(role, RoleKeys { keys: own, threshold: written.threshold });
        }
        Ok(Self { version: common.version, expires: common.expires, repository: envelope.repository()?, roles })
    }

    /// Verifies a document of a role: its signatures, and that it is for the root's repository.
    ///
    /// # Errors
    /// Too few keys have signed it, or it is for another repository.
    pub fn verify(&self, envelope: &Envelope, role: Role) -> Result<(), RepositoryError> {
        let keys = self.roles.get(&role).ok_or_else(|| envelope.invalid(format!("the root has no role {role}")))?;
        envelope.verify(role, keys)?;
        envelope.check_repository(&self.repository)
    }

    /// The document, to be signed.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let all = self.roles.values().flat_map(|role| &role.keys);
        let keys: BTreeMap<_, _> = all.map(|(id, key)| (id.clone(), key.to_json())).collect();
        let role = |(role, keys): (&Role, &RoleKeys)| {
            let ids: Vec<_> = keys.keys.keys().collect();
            (role.name().to_owned(), json!({ "keyids": ids, "threshold": keys.threshold }))
        };
        let roles: Map<_, _> = self.roles.iter().map(role).collect();
        document(
            Role::Root,
            self.version,
            self.expires,
            &self.repository,
            [
                ("consistent_snapshot", true.into()),
                ("keys", Value::Object(keys.into_iter().collect())),
                ("roles", Value::Object(roles)),
            ],
        )
    }
}

#[derive(Deserialize)]
struct WrittenTargets {
    targets: BTreeMap<String, WrittenFile>,
}

#[derive(Deserialize)]
struct WrittenFile {
    length: u64,
    hashes: BTreeMap<String, String>,
    #[serde(default)]
    custom: Map<String, Value>,
    #[serde(default)]
    version: Option<u64>,
}

impl WrittenFile {
    fn target(self, envelope: &Envelope, path: &str) -> Result<Target, RepositoryError> {
        let sha256 = self.hashes.get("sha256").filter(|digest| is_digest(digest));
        let sha256 = sha256.ok_or_else(|| envelope.invalid(format!("{path:?} does not have a SHA-256")))?;
        Ok(Target { length: self.length, sha256: sha256.clone(), custom: self.custom })
    }
}

impl Targets {
    /// Reads the document. Its signatures are not checked.
    ///
    /// # Errors
    /// It is not one of targets.
    pub fn of(envelope: &Envelope) -> Result<Self, RepositoryError> {
        let (common, written): (_, WrittenTargets) = envelope.read(Role::Targets)?;
        if written.targets.len() > MAX_TARGETS {
            return Err(envelope.invalid(format!("it releases more than {MAX_TARGETS} files")));
        }
        let mut targets = BTreeMap::new();
        for (path, file) in written.targets {
            let target = file.target(envelope, &path)?;
            targets.insert(path, target);
        }
        Ok(Self { version: common.version, expires: common.expires, targets })
    }

    /// The document, to be signed for a repository.
    #[must_use]
    pub fn to_json(&self, repository: &RepositoryName) -> Value {
        let file = |(path, target): (&String, &Target)| {
            let mut file = json!({ "length": target.length, "hashes": { "sha256": target.sha256 } });
            if let Some(members) = file.as_object_mut().filter(|_| !target.custom.is_empty()) {
                members.insert("custom".into(), Value::Object(target.custom.clone()));
            }
            (path.clone(), file)
        };
        let targets: Map<_, _> = self.targets.iter().map(file).collect();
        document(Role::Targets, self.version, self.expires, repository, [("targets", Value::Object(targets))])
    }
}

#[derive(Deserialize)]
struct WrittenPointer {
    meta: BTreeMap<String, WrittenFile>,
}

impl Pointer {
    /// Reads a document of the role `snapshot` or `timestamp`. Its signatures are not checked.
    ///
    /// # Errors
    /// It is not one, or points to other documents.
    pub fn of(envelope: &Envelope, role: Role) -> Result<Self, RepositoryError> {
        let (common, mut written): (_, WrittenPointer) = envelope.read(role)?;
        let name = pointed(role);
        let file = written.meta.remove(name).filter(|_| written.meta.is_empty());
        let file = file.ok_or_else(|| envelope.invalid(format!("it does not point to {name} alone")))?;
        let of_version = file.version.filter(|version| (1..=MAX_VERSION).contains(version));
        let of_version =
            of_version.ok_or_else(|| envelope.invalid(format!("the version of {name} is out of range")))?;
        let of = file.target(envelope, name)?;
        Ok(Self { version: common.version, expires: common.expires, of_version, of })
    }

    /// The document, to be signed for a repository.
    #[must_use]
    pub fn to_json(&self, role: Role, repository: &RepositoryName) -> Value {
        let file = json!({
            "version": self.of_version,
            "length": self.of.length,
            "hashes": { "sha256": self.of.sha256 },
        });
        document(role, self.version, self.expires, repository, [("meta", json!({ pointed(role): file }))])
    }
}

fn pointed(role: Role) -> &'static str {
    if role == Role::Timestamp { "snapshot.json" } else { "targets.json" }
}

fn document(
    role: Role,
    version: u64,
    expires: Moment,
    repository: &RepositoryName,
    members: impl IntoIterator<Item = (&'static str, Value)>,
) -> Value {
    let mut document = Map::new();
    document.insert("_type".into(), role.name().into());
    document.insert("spec_version".into(), SPEC_VERSION.into());
    document.insert("version".into(), version.into());
    document.insert("expires".into(), whole_seconds(expires).to_string().into());
    document.insert(REPOSITORY.into(), repository.to_string().into());
    document.extend(members.into_iter().map(|(key, value)| (key.to_owned(), value)));
    Value::Object(document)
}

/// The moment without fractions of a second, which the format does not have.
fn whole_seconds(moment: Moment) -> Moment {
    Moment::from_second(moment.as_second()).unwrap_or(moment)
}

/// Signs a document with these keys, beside the signatures that it has, by the ids of their keys. `None`: it has no canonical
/// form.
#[must_use]
pub fn sign_too<'k>(
    document: &Value,
    mut signatures: BTreeMap<String, String>,
    keys: impl IntoIterator<Item = &'k SigningKey>,
) -> Option<Vec<u8>> {
    let message = canonical(document)?;
    signatures.extend(keys.into_iter().map(|key| (key.public().id(), key.sign(&message))));
    let signatures: Vec<_> =
        signatures.iter().map(|(id, signature)| json!({ "keyid": id, "sig": signature })).collect();
    let mut text = json!({ "signatures": signatures, "signed": document }).to_string().into_bytes();
    text.push(b'\n');
    Some(text)
}

/// Signs a document with these keys. `None`: it has no canonical form.
#[must_use]
pub fn sign<'k>(document: &Value, keys: impl IntoIterator<Item = &'k SigningKey>) -> Option<Vec<u8>> {
    sign_too(document, BTreeMap::new(), keys)
}
