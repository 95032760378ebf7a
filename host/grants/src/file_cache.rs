//! The folders that policies' cookbooks in Ruby keep downloads in: each policy has one of its own, and a rule with
//! wildcards does not lead to another's.

use crate::policy::PolicyGrants;

/// Chef's file cache, which cookbooks that are run from folders have.
const SHARED: &str = "/var/chef/cache";

/// Where the file caches of policies lie, each in a folder of the policy's name.
const OWN: &str = "/var/chef/cache/policies";

/// The folder of a policy's file cache: `Chef::Config[:file_cache_path]`. `None`: cookbooks are run from folders.
pub fn file_cache(policy: Option<&str>) -> String {
    policy.map_or_else(|| SHARED.to_owned(), |policy| format!("{OWN}/{policy}"))
}

impl PolicyGrants {
    /// Whether a path is another policy's file cache, lies in one, or holds them all.
    pub(crate) fn is_anothers_cache(&self, path: &str) -> bool {
        match path.strip_prefix(OWN).map(|rest| rest.strip_prefix('/').unwrap_or(rest)) {
            Some(rest) if path.len() == OWN.len() || path.as_bytes().get(OWN.len()) == Some(&b'/') => {
                rest.split('/').next() != Some(self.policy())
            }
            _ => false,
        }
    }

    /// Whether a whole directory is another policy's file cache, or has some below it.
    pub(crate) fn touches_anothers_cache(&self, path: &str) -> bool {
        let is_above = path == "/" || OWN.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        is_above || self.is_anothers_cache(path)
    }
}
