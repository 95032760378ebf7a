//! The errors of repositories. Every message names the file, its owner and a remedy.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::names::InvalidName;

/// The four roles of a TUF repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Names the keys of all roles.
    Root,
    /// Names the files that are released, with their digests.
    Targets,
    /// Names the version of `targets`.
    Snapshot,
    /// Names the version of `snapshot`, for a short time.
    Timestamp,
}

impl Role {
    /// All roles, the root first.
    pub const ALL: [Self; 4] = [Self::Root, Self::Targets, Self::Snapshot, Self::Timestamp];

    /// Returns the role's name in the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Targets => "targets",
            Self::Snapshot => "snapshot",
            Self::Timestamp => "timestamp",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The errors of reading, verifying and changing a repository.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// A name is invalid, because it becomes part of a path.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// A file of the store cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// The file, with the store's place.
        file: String,
        /// What the system or the server said.
        source: io::Error,
    },
    /// A file of the store cannot be written.
    #[error("cannot write {file}")]
    Write {
        /// The file, with the store's place.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file is too large.
    #[error("{file} has more than the {limit} bytes that it may have")]
    TooLarge {
        /// The file, with the store's place.
        file: String,
        /// The most bytes that are read.
        limit: u64,
    },
    /// A required file does not exist.
    #[error("{file} does not exist{}", advice(hint))]
    Missing {
        /// The file, with the store's place.
        file: String,
        /// A remedy, or empty.
        hint: &'static str,
    },
    /// A file has invalid content.
    #[error("{file} is not valid: {what}")]
    Invalid {
        /// The file, with the store's place.
        file: String,
        /// What is wrong with it.
        what: String,
    },
    /// A document has too few valid signatures.
    #[error(
        "{file} has {found} of the {threshold} signatures that the role {role} needs; it was changed, or signed with keys \
         that are not the role's"
    )]
    Unsigned {
        /// The file, with the store's place.
        file: String,
        /// The role whose signatures are missing.
        role: Role,
        /// How many are valid.
        found: usize,
        /// How many are needed.
        threshold: usize,
    },
    /// A document has expired.
    #[error("{file} expired at {expired} (role {role}); {}", renewal(*role, *is_platform))]
    Expired {
        /// The file, with the store's place.
        file: String,
        /// The role of the document.
        role: Role,
        /// The moment at which it expired.
        expired: jiff::Timestamp,
        /// Whether the document belongs to the platform.
        is_platform: bool,
    },
    /// The repository has an older version than one that was seen before.
    #[error(
        "{file} has the version {found}, but version {known} was seen before (role {role}): the repository was put back, or \
         somebody shows old releases"
    )]
    Rollback {
        /// The file, with the store's place.
        file: String,
        /// The role of the document.
        role: Role,
        /// The version that was found.
        found: u64,
        /// The version that was seen before.
        known: u64,
    },
    /// A file does not have the digest or the length that is signed for it.
    #[error("{file} is not the file that was signed: {what}")]
    Mismatch {
        /// The file, with the store's place.
        file: String,
        /// What differs between the two.
        what: &'static str,
    },
    /// No team of the repository owns a policy.
    #[error(
        "no team of the repository {repository} owns the policy {policy:?}; the teams are {}; `wrun repository add-team` adds one, \
         or a policy to one",
        listed(teams)
    )]
    NoTeam {
        /// The name of the repository.
        repository: String,
        /// The name of the policy.
        policy: String,
        /// The teams with their policies.
        teams: Vec<String>,
    },
    /// Two teams claim a policy.
    #[error(
        "the teams {first} and {second} both claim the policy {policy:?}; the platform must take it from one of them \
         (`wrun repository add-team`)"
    )]
    TwoTeams {
        /// The policy, or the pattern that both claim.
        policy: String,
        /// The name of one team.
        first: String,
        /// The name of the other team.
        second: String,
    },
    /// A policy is not released to a group.
    #[error(
        "team {team} has not released the policy {policy:?} to the group {group:?} of {repository}; \
         `wrun policy push {group}` does"
    )]
    NotReleased {
        /// The name of the repository.
        repository: String,
        /// The name of the team.
        team: String,
        /// The name of the policy.
        policy: String,
        /// The name of the policy group.
        group: String,
    },
    /// Somebody else changed the repository meanwhile.
    #[error("{repository} was changed by somebody else meanwhile; nothing was released: try again")]
    Changed {
        /// The repository, or the team's part of it.
        repository: String,
    },
    /// A key file cannot be used.
    #[error("the key {}: {what}", path.display())]
    Key {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// None of the available keys may sign for a role.
    #[error(
        "none of the keys in {} may sign {role} of {repository}; its keys are {}",
        folder.display(), listed(wanted)
    )]
    NoKey {
        /// The folder of keys.
        folder: PathBuf,
        /// The repository, or the team's part of it.
        repository: String,
        /// The role that was asked for.
        role: Role,
        /// The key ids of the role.
        wanted: Vec<String>,
    },
    /// The stored trust data about a repository are damaged.
    #[error(
        "{} is damaged: {what}; it says which releases were seen, so it is not made anew by itself: remove it to trust the \
         repository as it is now", path.display()
    )]
    Trust {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Something that must be new exists.
    #[error("{what} exists already")]
    Exists {
        /// What is wrong with it.
        what: String,
    },
    /// Any other error, as a sentence.
    #[error("{0}")]
    Other(String),
}

fn advice(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("; {hint}") }
}

fn renewal(role: Role, is_platform: bool) -> &'static str {
    match role {
        Role::Root if is_platform => "the platform must renew it: `wrun repository rotate`",
        Role::Root => "the platform must renew it: `wrun repository add-team` with the team's name",
        Role::Targets if is_platform => "renew it with `wrun repository refresh` where the platform's key is",
        Role::Targets => "the team must release again: `wrun policy push` or `wrun policy promote`",
        Role::Snapshot | Role::Timestamp => "renew it with `wrun repository refresh`",
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
