//! Finds misspelt names of policies. A layer or a node may name a policy that never runs here, and without this check nobody
//! would notice.

use crate::grants_files::GrantsFiles;
use crate::settings::Settings;
use node::layers::Layer;
use report::FOLDERS_POLICY;
use std::collections::BTreeSet;
use text::nearest;

/// The most names that a sentence lists.
const MAX_LISTED: usize = 10;

/// The policies that the settings name, those that have an artifact, and those that the grants have a table for.
pub struct KnownPolicies(BTreeSet<String>);

impl KnownPolicies {
    /// Collects the names. `named` are the policies of the settings. A source that cannot be read adds no names; a run
    /// reports why.
    pub fn of(settings: &Settings, named: &[String]) -> Self {
        let mut known: BTreeSet<String> = named.iter().cloned().collect();
        known.extend(artifact::list(&settings.policies).unwrap_or_default());
        let grants = GrantsFiles::read(&settings.grants, false).ok().and_then(|files| files.parse().ok());
        known.extend(grants.iter().flat_map(|grants| grants.policy_names()).map(str::to_owned));
        Self(known)
    }

    /// Returns a sentence about a name that no known policy has. Returns `None` if a policy has it, or if no policies are
    /// known.
    pub fn stranger(&self, name: &str) -> Option<String> {
        if self.0.is_empty() || self.0.contains(name) || name == FOLDERS_POLICY {
            return None;
        }
        let known = || self.0.iter().map(String::as_str);
        let near = match nearest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.0.len() <= MAX_LISTED => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
            None => "`wrun grants check` lists more".to_owned(),
        };
        Some(format!("no policy `{name}` is in the settings, the grants or the policies' directory; {near}"))
    }

    /// Returns a sentence for each name in a layer that is nearly, but not exactly, the name of a known policy. Other unknown
    /// names may be policies of other nodes that share the file.
    pub fn misspelt_in(&self, layer: &Layer) -> Vec<String> {
        let names = layer.policies.iter().flatten();
        let misspelt = names.filter(|name| nearest(name, self.0.iter().map(String::as_str)).is_some());
        let file = layer.file.as_deref().map(|file| format!("{file}: ")).unwrap_or_default();
        misspelt.filter_map(|name| Some(format!("{file}layer {}: {}", layer.name, self.stranger(name)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_are_told_with_a_near_name() {
        let known = KnownPolicies(["core", "web"].map(str::to_owned).into());
        assert_eq!((known.stranger("web"), known.stranger("solo")), (None, None));
        let said = known.stranger("wbe").unwrap();
        assert!(said.starts_with("no policy `wbe` is") && said.ends_with("did you mean `web`?"), "{said}");
        assert!(known.stranger("mail").unwrap().ends_with("there are core, web"));
        assert_eq!(KnownPolicies(BTreeSet::new()).stranger("wbe"), None);
    }
}
