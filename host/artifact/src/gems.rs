//! Gems of plain Ruby in an artifact, which cookbooks name in their metadata.
//!
//! Guests see them as a pseudo-cookbook, [`COOKBOOK`], with an index beside them.

mod serve;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use serve::WithGems;

/// The pseudo-cookbook that holds gems. No cookbook can have this name.
pub const COOKBOOK: &str = "wrun:gems";

/// The file that lists the gems.
const INDEX: &str = "gems.json";

/// A gem in an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TravellingGem {
    /// The gem's name, such as `rake`.
    pub name: String,
    /// The gem's version, such as `13.2.1`.
    pub version: String,
    /// The folders within it from which its files are required.
    pub require_paths: Vec<String>,
}

/// The gems of an artifact, with their files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gems {
    gems: Vec<TravellingGem>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Gems {
    /// Puts gems and their files (`NAME-VERSION/PATH` and content) together, and adds the index that guests read.
    ///
    /// # Errors
    /// The index cannot be written as JSON.
    pub fn new(gems: Vec<TravellingGem>, mut files: BTreeMap<String, Vec<u8>>) -> serde_json::Result<Self> {
        if !gems.is_empty() {
            files.insert(INDEX.to_owned(), serde_json::to_vec_pretty(&gems)?);
        }
        Ok(Self { gems, files })
    }

    /// Returns the gems in the order in which they were chosen.
    #[must_use]
    pub fn all(&self) -> &[TravellingGem] {
        &self.gems
    }

    /// Tells whether there are no gems.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.gems.is_empty()
    }

    /// All files, their paths below [`COOKBOOK`] and contents, sorted.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.files
    }

    /// Turns the gems into their files.
    #[must_use]
    pub fn into_files(self) -> BTreeMap<String, Vec<u8>> {
        self.files
    }
}
