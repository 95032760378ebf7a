//! A policy's lock, `Policyfile.lock.json`, with exactly the fields of chef-cli, so that wrun and chef-cli read each other's
//! locks.

mod dependencies;
mod lines;
mod pretty;
mod read;
mod statements;
mod write;

use std::collections::BTreeMap;

use artifact::lock::{AttributeValue, InvalidAttribute, RevisionParts};
use serde_json::{Map, Value};

pub use dependencies::SolutionDependencies;
pub use lines::line_of;
pub use pretty::pretty;
pub use read::{InvalidLock, MAX_VALUES, document};
pub use statements::Misstatement;

/// The content of a lock.
#[derive(Debug, Clone, PartialEq)]
pub struct Lock {
    /// The policy's name. A Policyfile may leave it out; a lock without it can be written, but not read again.
    pub name: Option<String>,
    /// Items of the form `recipe[COOKBOOK::RECIPE]`.
    pub run_list: Vec<String>,
    /// Further run lists by name, in the order in which they were written. A name may occur twice: see
    /// [`crate::model::ListName`].
    pub named_run_lists: Vec<(String, Vec<String>)>,
    /// The policies that this one includes.
    pub included: Vec<IncludedLock>,
    /// Every locked cookbook, by its name.
    pub cookbooks: BTreeMap<String, CookbookLock>,
    /// Attributes of the level `default`.
    pub default_attributes: Map<String, Value>,
    /// Attributes of the level `override`.
    pub override_attributes: Map<String, Value>,
    /// The demands for which the versions were chosen.
    pub dependencies: SolutionDependencies,
}

/// An included policy, as a lock names it.
#[derive(Debug, Clone, PartialEq)]
pub struct IncludedLock {
    /// The name by which it was included.
    pub name: String,
    /// The revision that it had when the lock was made.
    pub revision_id: Value,
    /// The place that it was read from.
    pub source_options: Value,
}

/// A cookbook, as a lock names it.
#[derive(Debug, Clone, PartialEq)]
pub struct CookbookLock {
    /// The version in its metadata.
    pub version: String,
    /// Its identifier: the SHA-1 over its files, 40 hexadecimal digits.
    pub identifier: String,
    /// The identifier in the form of a version.
    pub dotted_decimal_identifier: Value,
    /// Its place: fetched, or a folder.
    pub place: CookbookPlace,
    /// The options from which it can be fetched again.
    pub source_options: Map<String, Value>,
}

/// The place of a locked cookbook.
#[derive(Debug, Clone, PartialEq)]
pub enum CookbookPlace {
    /// It was fetched into a cache.
    Cached {
        /// Its folder in the cache.
        cache_key: String,
        /// The address that it was fetched from.
        origin: Value,
    },
    /// It is a folder beside the policy.
    Local {
        /// The folder's path, relative to the Policyfile's.
        source: String,
        /// The folder's commit, or `null`.
        scm_info: Value,
    },
}

impl Lock {
    /// Returns the text whose digest is the revision.
    ///
    /// # Errors
    /// An attribute that cannot be part of a revision.
    pub fn canonical_text(&self) -> Result<String, InvalidAttribute> {
        self.with_parts(|parts| parts.canonical_text())
    }

    /// The revision: 64 hexadecimal digits.
    ///
    /// # Errors
    /// An attribute that cannot be part of a revision.
    pub fn revision_id(&self) -> Result<String, InvalidAttribute> {
        self.with_parts(|parts| parts.revision_id())
    }

    fn with_parts<Got>(&self, get: impl FnOnce(&RevisionParts<'_>) -> Got) -> Got {
        let cookbooks = self.cookbooks.iter().map(|(name, lock)| (name.as_str(), lock.identifier.as_str())).collect();
        get(&RevisionParts {
            name: self.name.as_deref().unwrap_or_default(),
            run_list: &self.run_list,
            named_run_lists: &self.named_run_lists,
            cookbooks,
            default_attributes: &AttributeValue::from(&self.default_attributes),
            override_attributes: &AttributeValue::from(&self.override_attributes),
        })
    }
}
