//! Describes the identity of a cookbook for `wrun cookbook describe`.

use std::path::{Path, PathBuf};

use artifact::lock::{CookbookIdentifier, FileChecksum};

use super::cookbook::{LocalCookbook, checksums};
use super::error::PolicyfileError;
use super::{Session, Tools};

/// The identity of a cookbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// The path of the cookbook's folder.
    pub path: PathBuf,
    /// The version in its metadata, as `x.y.z`.
    pub version: String,
    /// The identifier that Chef computes from its files.
    pub identifier: CookbookIdentifier,
    /// Its files, sorted by path.
    pub files: Vec<FileChecksum>,
}

/// Describes the cookbook in a folder.
///
/// # Errors
/// The folder is not a cookbook, or cannot be read.
pub fn describe(folder: &Path, tools: &Tools<'_>) -> Result<Described, PolicyfileError> {
    if !folder.exists() {
        return Err(PolicyfileError::Cookbook(format!(
            "the cookbook path {} does not exist or is not readable",
            folder.display()
        )));
    }
    if !LocalCookbook::is_in(folder) {
        return Err(PolicyfileError::NotACookbook { path: folder.to_owned() });
    }
    let version = Session::new(tools, false).cookbook(folder)?.version;
    let files = checksums(folder)?;
    Ok(Described { path: folder.to_owned(), version, identifier: CookbookIdentifier::of(&files), files })
}
