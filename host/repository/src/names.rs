//! Names of teams and groups, which policies belong to a team, and the paths of targets.

use std::fmt;

use artifact::check_policy_name;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use text::hex;

use crate::error::RepositoryError;

/// The platform's own repository, which lists the teams.
pub const PLATFORM: &str = "platform";

/// Suffix of the names of online keys.
pub const ONLINE: &str = "-online";

/// The folder of a team's repository.
#[must_use]
pub fn team_folder(team: &str) -> String {
    format!("teams/{team}")
}

/// Digits of the id of a repository.
const ID_LENGTH: usize = 32;

/// The repository that a document is for: `ID/platform` or `ID/teams/NAME`. `init` makes the id, which is the same for the
/// platform and all teams. So a document counts only in its own repository, even if its key belongs to two repositories.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RepositoryName {
    id: String,
    folder: String,
}

impl RepositoryName {
    /// The platform's part of the repository with an id of 32 hexadecimal digits.
    #[must_use]
    pub fn of_platform(id: &str) -> Option<Self> {
        Self::parse(&format!("{id}/{PLATFORM}"))
    }

    /// Parses the name in a document.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (id, folder) = text.split_once('/')?;
        let is_id = id.len() == ID_LENGTH && is_lower_hex(id);
        let team = folder.strip_prefix("teams/");
        let is_folder = folder == PLATFORM || team.is_some_and(|team| check_name(team, "team").is_ok());
        (is_id && is_folder).then(|| Self { id: id.to_owned(), folder: folder.to_owned() })
    }

    /// The folder of the store: `platform` or `teams/NAME`.
    #[must_use]
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns the part of the same repository in another folder.
    #[must_use]
    pub(crate) fn part(&self, folder: &str) -> Self {
        Self { id: self.id.clone(), folder: folder.to_owned() }
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.id, self.folder)
    }
}

/// Returns the path of the platform's target about a team.
#[must_use]
pub fn team_target(team: &str) -> String {
    format!("teams/{team}/root.json")
}

/// Returns the path of the target that names a group's revision of a policy.
#[must_use]
pub fn group_target(group: &str, policy: &str) -> String {
    format!("groups/{group}/{policy}.json")
}

/// Returns the path of the target with a revision's artifact. `digest`: the artifact's digest.
#[must_use]
pub fn artifact_target(policy: &str, digest: &str) -> String {
    format!("revisions/{policy}/{digest}.wasm")
}

/// Returns the path of the target with a revision's lock. `digest`: the artifact's digest.
#[must_use]
pub fn lock_target(policy: &str, digest: &str) -> String {
    format!("revisions/{policy}/{digest}.lock.json")
}

/// The error about an invalid name of a team, group or policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{name:?} cannot be the name of a {of}: names have letters, digits, `-`, `_` and `.`, and begin with none of `.`"
)]
pub struct InvalidName {
    /// The name, or its beginning.
    pub name: String,
    /// What it should name: `team`, `policy group`.
    pub of: &'static str,
}

/// Checks a name that becomes part of paths. `of`: what it names.
///
/// # Errors
/// It cannot be part of a path.
pub fn check_name(name: &str, of: &'static str) -> Result<(), InvalidName> {
    let shown = || name.chars().take(100).collect();
    check_policy_name(name).map_err(|_| InvalidName { name: shown(), of })
}

/// Checks the name of a new team. Names of the platform's keys and of online keys are reserved.
///
/// # Errors
/// It cannot be part of a path, or is reserved.
pub fn check_team_name(name: &str) -> Result<(), RepositoryError> {
    check_name(name, "team")?;
    if name == PLATFORM || name.ends_with(ONLINE) {
        return Err(RepositoryError::Other(format!(
            "{name:?} cannot be the name of a team: keys of the name {PLATFORM:?} and those that end with {ONLINE:?} are for \
             other purposes"
        )));
    }
    Ok(())
}

/// Returns a short name for a repository's place that can be the name of a folder: the beginning of its digest.
#[must_use]
pub fn place_key(place: &str) -> String {
    let digest = hex(Sha256::digest(place.trim_end_matches('/')));
    digest.chars().take(16).collect()
}

/// Tells whether a text is a digest: 64 lower-case hexadecimal digits.
#[must_use]
pub fn is_digest(text: &str) -> bool {
    text.len() == 64 && is_lower_hex(text)
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// The policies that a team owns: one name, or all names with a prefix (`core*`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PolicyPattern {
    /// The name, or its beginning.
    text: String,
    /// Whether all names that begin with the text match.
    is_prefix: bool,
}

impl PolicyPattern {
    /// Tells whether the pattern matches a policy.
    #[must_use]
    pub fn owns(&self, policy: &str) -> bool {
        if self.is_prefix { policy.starts_with(&self.text) } else { policy == self.text }
    }

    /// Tells whether both patterns could match the same policy.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self.is_prefix, other.is_prefix) {
            (false, false) => self.text == other.text,
            (true, false) => self.owns(&other.text),
            (false, true) => other.owns(&self.text),
            (true, true) => self.text.starts_with(&other.text) || other.text.starts_with(&self.text),
        }
    }
}

impl TryFrom<String> for PolicyPattern {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        let (name, is_prefix) = text.strip_suffix('*').map_or((text.as_str(), false), |name| (name, true));
        check_name(name, "policy")?;
        Ok(Self { text: name.to_owned(), is_prefix })
    }
}

impl From<PolicyPattern> for String {
    fn from(pattern: PolicyPattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for PolicyPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.text, if self.is_prefix { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> PolicyPattern {
        PolicyPattern::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn a_pattern_owns_one_name_or_all_that_begin_alike() {
        assert!(pattern("core").owns("core") && !pattern("core").owns("core-web"));
        assert!(pattern("core*").owns("core") && pattern("core*").owns("core-web") && !pattern("core*").owns("cor"));
        for wrong in ["*", "", "a/b", ".a", "a**", "*a", "a b"] {
            assert!(PolicyPattern::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_name_of_a_repository_has_an_id_and_a_folder() {
        let id = "0123456789abcdef".repeat(2);
        let platform = RepositoryName::of_platform(&id).unwrap();
        assert_eq!(RepositoryName::parse(&platform.to_string()), Some(platform.clone()));
        assert_eq!(platform.part("teams/web").to_string(), format!("{id}/teams/web"));
        let wrong = ["platform", "x/platform", "teams/web"].map(str::to_owned);
        let wrong =
            wrong.into_iter().chain(["", "web", "teams/", "teams/a/b", "teams/.."].map(|end| format!("{id}/{end}")));
        for wrong in wrong {
            assert_eq!(RepositoryName::parse(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn overlaps_are_found_both_ways() {
        #[track_caller]
        fn check(one: &str, other: &str, expected: bool) {
            let (one, other) = (pattern(one), pattern(other));
            assert_eq!((one.overlaps(&other), other.overlaps(&one)), (expected, expected), "{one} {other}");
        }
        check("core", "core", true);
        check("core", "core2", false);
        check("core*", "core2", true);
        check("core*", "co*", true);
        check("core*", "web*", false);
        check("core*", "cor", false);
    }
}
