//! The document `groups/GROUP/POLICY.json`, which names a group's revision of a policy.

use serde::{Deserialize, Serialize};

use crate::names::is_digest;

const FORMAT: u64 = 1;

/// The largest document, in bytes.
pub(crate) const MAX_BYTES: u64 = 16 << 10;

/// A release of a policy to a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Release {
    format: u64,
    /// The name of the policy.
    pub policy: String,
    /// The policy group that runs it.
    pub group: String,
    /// The revision as the lock names it, 64 hexadecimal digits.
    pub revision_id: String,
    /// The artifact's digest, 64 hexadecimal digits.
    pub digest: String,
}

impl Release {
    /// Makes the document of a release.
    #[must_use]
    pub fn new(policy: &str, group: &str, revision_id: &str, digest: &str) -> Self {
        Self {
            format: FORMAT,
            policy: policy.to_owned(),
            group: group.to_owned(),
            revision_id: revision_id.to_owned(),
            digest: digest.to_owned(),
        }
    }

    /// Parses the document of a policy and a group, and checks that it names these.
    ///
    /// # Errors
    /// A sentence says what is wrong.
    pub fn parse(bytes: &[u8], policy: &str, group: &str) -> Result<Self, String> {
        let found: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if found.format != FORMAT {
            return Err(format!("its format {} is not known to this wrun", found.format));
        }
        if (found.policy.as_str(), found.group.as_str()) != (policy, group) {
            return Err("it is of another policy or group".into());
        }
        if !is_digest(&found.revision_id) || !is_digest(&found.digest) {
            return Err("its revision or digest does not have 64 hexadecimal digits".into());
        }
        Ok(found)
    }

    /// Returns the document as it is signed.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Five texts and numbers can always be written as JSON.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_says_what_its_path_says() {
        let release = Release::new("core", "staging", &"a".repeat(64), &"b".repeat(64));
        let bytes = release.to_bytes();
        assert_eq!(Release::parse(&bytes, "core", "staging"), Ok(release));
        assert!(Release::parse(&bytes, "core", "prod").unwrap_err().contains("another policy or group"));
        assert!(Release::parse(&bytes, "web", "staging").is_err());
        let short = Release::new("core", "staging", "a", &"b".repeat(64)).to_bytes();
        assert!(Release::parse(&short, "core", "staging").unwrap_err().contains("64 hexadecimal digits"));
        assert!(Release::parse(b"{}", "core", "staging").is_err());
    }
}
