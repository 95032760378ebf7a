//! Reads documents with signatures within limits, verifies them, and signs them.
//!
//! A document is parsed only once: the signatures are checked for the same JSON value that is used.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp as Moment;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use text::{check_json_values, hex, unhex};

use crate::canonical::canonical;
use crate::error::{RepositoryError, Role};
use crate::keys::Sign;
use crate::metadata::{MAX_SIGNATURES, MAX_VERSION, REPOSITORY, RoleKeys};
use crate::names::RepositoryName;
use crate::writer::no_form;

/// Most values of a document.
const MAX_VALUES: usize = 250_000;

/// A document with signatures that are not verified yet.
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
    /// Reads a document. `file`: its name for messages.
    ///
    /// # Errors
    /// It is not a document with signatures.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, RepositoryError> {
        let invalid = |what: String| RepositoryError::Invalid { file: file.to_owned(), what };
        // The signatures are not verified yet, so a writer of the file must not be able to make this process use too much
        // memory.
        check_json_values(bytes, MAX_VALUES).map_err(invalid)?;
        let written: WrittenEnvelope =
            serde_json::from_slice(bytes).map_err(|error| invalid(format!("it is not signed metadata: {error}")))?;
        if written.signatures.len() > MAX_SIGNATURES {
            return Err(invalid(format!("it has more than {MAX_SIGNATURES} signatures")));
        }
        let ids: BTreeSet<&String> = written.signatures.iter().map(|one| &one.keyid).collect();
        if ids.len() < written.signatures.len() {
            return Err(invalid("it has two signatures of one key".into()));
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
        // A threshold of zero would be reached without any signature.
        if found >= threshold && threshold > 0 {
            return Ok(());
        }
        Err(RepositoryError::Unsigned { file: self.file.clone(), role, found, threshold })
    }

    /// Returns the repository that the document is for.
    ///
    /// # Errors
    /// It names none.
    pub(crate) fn repository(&self) -> Result<RepositoryName, RepositoryError> {
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

    pub(crate) fn invalid(&self, what: impl Into<String>) -> RepositoryError {
        RepositoryError::Invalid { file: self.file.clone(), what: what.into() }
    }

    /// Reads the members that all documents have, and those of the type `T`.
    ///
    /// # Errors
    /// It is of another role or version, or a member is missing.
    pub(crate) fn read<T: DeserializeOwned>(&self, role: Role) -> Result<(Checked, T), RepositoryError> {
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

/// The checked members that every document has.
pub(crate) struct Checked {
    pub(crate) version: u64,
    pub(crate) expires: Moment,
}

#[derive(Deserialize)]
struct Common {
    #[serde(rename = "_type")]
    kind: String,
    spec_version: String,
    version: u64,
    expires: String,
}

/// Signs a document with these keys and keeps its existing signatures, which are given by key id.
///
/// # Errors
/// It has no canonical form, or one of the keys does not sign.
pub fn sign_too<'k, Key: Sign + 'k>(
    document: &Value,
    mut signatures: BTreeMap<String, String>,
    keys: impl IntoIterator<Item = &'k Key>,
) -> Result<Vec<u8>, RepositoryError> {
    let message = canonical(document).ok_or_else(no_form)?;
    for key in keys {
        signatures.insert(key.public().id(), key.signature(&message)?);
    }
    let signatures: Vec<_> =
        signatures.iter().map(|(id, signature)| json!({ "keyid": id, "sig": signature })).collect();
    let mut text = json!({ "signatures": signatures, "signed": document }).to_string().into_bytes();
    text.push(b'\n');
    Ok(text)
}

/// Signs a document with these keys.
///
/// # Errors
/// As [`sign_too`].
pub fn sign<'k, Key: Sign + 'k>(
    document: &Value,
    keys: impl IntoIterator<Item = &'k Key>,
) -> Result<Vec<u8>, RepositoryError> {
    sign_too(document, BTreeMap::new(), keys)
}
