//! The four documents of a TUF repository. As the format requires, unknown members are covered by the signatures but ignored.

use std::collections::BTreeMap;

use jiff::Timestamp as Moment;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use text::hex;

use crate::error::{RepositoryError, Role};
use crate::keys::PublicKey;
use crate::names::{RepositoryName, is_digest};

pub use crate::envelope::{Envelope, sign, sign_too};

/// The version of the format that is written. Others with the same first number are read.
const SPEC_VERSION: &str = "1.0.31";

/// The member of every document that names its repository. Other readers of TUF ignore it, but signatures cover it.
pub(crate) const REPOSITORY: &str = "repository";

/// The largest version number of a document, which every JSON reader can represent exactly.
pub const MAX_VERSION: u64 = 1 << 53;

/// Most signatures of a document, and most keys of a root.
pub(crate) const MAX_SIGNATURES: usize = 256;

/// Most files that a repository may release.
pub const MAX_TARGETS: usize = 20_000;

/// The largest document of each role, in bytes.
#[must_use]
pub fn limit(role: Role) -> u64 {
    match role {
        Role::Root => 512 << 10,
        Role::Timestamp => 16 << 10,
        Role::Snapshot => 64 << 10,
        Role::Targets => 8 << 20,
    }
}

/// A released file, by its length and digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Its length in bytes.
    pub length: u64,
    /// Its SHA-256, 64 hexadecimal digits.
    pub sha256: String,
    /// Further data about the file.
    pub custom: Map<String, Value>,
}

impl Target {
    /// Describes a file by its content.
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
    /// Number of keys that have to sign.
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

/// `targets`: the released files.
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
