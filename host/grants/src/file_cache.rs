//! The download folders of policies with cookbooks in Ruby. Each policy has its own, and a rule with wildcards does not
//! include that of another policy.

use crate::policy::PolicyGrants;

/// Chef's file cache, for cookbooks that run from folders.
const SHARED: &str = "/var/chef/cache";

/// The folder of the policies' file caches, each in a folder with the policy's name.
const OWN: &str = "/var/chef/cache/policies";

/// Returns the folder of a policy's file cache, `Chef::Config[:file_cache_path]`. `None` means cookbooks that run from
/// folders.
pub fn file_cache(policy: Option<&str>) -> String {
    policy.map_or_else(|| SHARED.to_owned(), |policy| format!("{OWN}/{policy}"))
}

impl PolicyGrants {
    /// Tells whether a path is another policy's file cache, lies in one, or contains all of them.
    pub(crate) fn is_anothers_cache(&self, path: &str) -> bool {
        match path.strip_prefix(OWN).map(|rest| rest.strip_prefix('/').unwrap_or(rest)) {
            Some(rest) if path.len() == OWN.len() || path.as_bytes().get(OWN.len()) == Some(&b'/') => {
                rest.split('/').next() != Some(self.policy())
            }
            _ => false,
        }
    }

    /// Tells whether a directory is another policy's file cache, or contains some.
    pub(crate) fn touches_anothers_cache(&self, path: &str) -> bool {
        let is_above = path == "/" || OWN.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        is_above || self.is_anothers_cache(path)
    }
}
