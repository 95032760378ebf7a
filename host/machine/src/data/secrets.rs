//! The operator's secrets for encrypted data bag items.

use databag::Secret;
use std::collections::BTreeMap;

/// The operator's secrets for encrypted data bag items.
#[derive(Debug, Clone, Default)]
pub enum BagSecrets {
    /// No secrets: encrypted items stay encrypted.
    #[default]
    None,
    /// One secret for all policies that read data bags.
    Shared(Secret),
    /// One secret for each policy, by the policy's name.
    ByPolicy(BTreeMap<String, Secret>),
}

impl BagSecrets {
    /// Returns the secret of a policy.
    pub(super) fn of(&self, policy: &str) -> Option<&Secret> {
        match self {
            Self::None => None,
            Self::Shared(secret) => Some(secret),
            Self::ByPolicy(secrets) => secrets.get(policy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_its_policys_and_is_never_printed() {
        let secret = |text: &str| Secret::new(text.as_bytes().to_vec());
        let own = BagSecrets::ByPolicy(BTreeMap::from([("web".to_owned(), secret("hunter2"))]));
        assert_eq!(own.of("web"), Some(&secret("hunter2")));
        assert_eq!(own.of("database"), None);
        let shared = BagSecrets::Shared(secret("hunter2"));
        assert_eq!(shared.of("database"), Some(&secret("hunter2")));
        for shown in [format!("{own:?}"), format!("{shared:#?}"), format!("{:?}", secret("hunter2"))] {
            assert!(!shown.contains("hunter2") && !shown.contains("104"), "{shown}");
        }
    }
}
