//! Cookbooks in Rust for the resolver: a path and one version. Cargo resolves the crates that they link.

use std::path::Path;

use artifact::Language;
use artifact::lock::FileChecksum;

use super::Session;
use super::cookbook::LocalCookbook;
use super::error::PolicyfileError;
use crate::policy::Cookbook;

/// The file that a cookbook in Rust has.
const CARGO_TOML: &str = "Cargo.toml";

impl Session<'_> {
    /// Whether a folder holds a cookbook in Rust.
    pub(super) fn is_crate(&self, folder: &Path) -> bool {
        self.takes_crates && folder.join(CARGO_TOML).is_file()
    }

    /// Whether a folder holds a cookbook.
    pub(super) fn is_cookbook(&self, folder: &Path) -> bool {
        LocalCookbook::is_in(folder) || self.is_crate(folder)
    }

    /// The error for a folder that does not hold one.
    pub(super) fn not_a_cookbook(&self, folder: &Path) -> PolicyfileError {
        if folder.join(CARGO_TOML).is_file() {
            return PolicyfileError::Cookbook(format!(
                "{} is a cookbook in Rust: policies with such cookbooks are described by a policy.toml",
                folder.display()
            ));
        }
        PolicyfileError::NotACookbook { path: folder.to_owned() }
    }

    /// Reads a cookbook in Rust. `None`: the folder does not hold one.
    pub(super) fn crate_cookbook(&self, folder: &Path) -> Result<Option<LocalCookbook>, PolicyfileError> {
        if !self.is_crate(folder) {
            return Ok(None);
        }
        let Cookbook { name, version, dependencies, .. } = Cookbook::in_rust(folder)?;
        Ok(Some(LocalCookbook {
            path: folder.to_owned(),
            name,
            version,
            dependencies: dependencies.into_iter().collect(),
            gems: vec![],
            language: Language::Rust,
        }))
    }
}

/// The checksums of a crate's files, which travel in the artifact.
pub(super) fn checksums(folder: &Path) -> Result<Vec<FileChecksum>, PolicyfileError> {
    let files = Cookbook::in_rust(folder)?.files;
    Ok(files.iter().map(|(path, content)| FileChecksum::of(path, content)).collect())
}
