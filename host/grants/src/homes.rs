//! The homes of a machine's users. Rules with wildcards do not cover hidden names in them.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

/// Maximum size of the homes that a run adds, in bytes: a policy chooses how many users it creates.
const MAX_ADDED: usize = 4 << 20;

/// Resolved paths of homes, as seen from inside the root. A run adds the homes that it creates.
#[derive(Debug, Default)]
pub(crate) struct Homes(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    paths: HashSet<String>,
    added: usize,
}

impl Homes {
    /// Creates the set of a machine's homes before a run.
    pub(crate) fn of(paths: impl IntoIterator<Item = String>) -> Self {
        Self(RwLock::new(Known { paths: paths.into_iter().collect(), added: 0 }))
    }

    /// Adds a home, which counts from now on for all policies of the run.
    pub(crate) fn add(&self, home: &str) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !known.paths.contains(home) && known.added + home.len() <= MAX_ADDED {
            known.added += home.len();
            known.paths.insert(home.to_owned());
        }
    }

    /// Returns the hidden name directly in one of the homes that a path contains.
    pub(crate) fn hidden_name<'p>(&self, path: &'p str) -> Option<&'p str> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut places = path.match_indices("/.").filter_map(|(at, _)| path.split_at_checked(at));
        let (_, rest) = places.find(|(home, _)| known.paths.contains(*home))?;
        rest.split('/').nth(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names_stand_right_in_a_home() {
        let homes = Homes::of(["/srv/deploy".to_owned()]);
        assert_eq!(homes.hidden_name("/srv/deploy/.x/.y"), Some(".x"));
        for path in ["/srv/deploy", "/srv/deploy/x/.y", "/srv/deployed/.x", "/srv/.x", "/srv/new/.x"] {
            assert_eq!(homes.hidden_name(path), None, "{path}");
        }
        homes.add("/srv/new");
        assert_eq!(homes.hidden_name("/srv/new/.x"), Some(".x"));
        homes.add(&format!("/{}", "x".repeat(MAX_ADDED)));
        homes.add("/srv/more");
        assert_eq!(homes.hidden_name("/srv/more/.x"), Some(".x"), "one that is too long takes no room");
    }
}
