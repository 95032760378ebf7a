//! Artifacts in a folder: `NAME.wasm`.

use std::path::{Path, PathBuf};

use crate::{Artifact, ArtifactError, check_policy_name};

/// How an artifact's file name ends.
pub const EXTENSION: &str = ".wasm";

/// How many names an error lists.
const MAX_LISTED: usize = 50;

/// Opens the artifact of a policy in a folder and makes sure that it is that policy's.
///
/// # Errors
/// The artifact or the folder does not exist, or the artifact cannot be opened, as with a link to a missing file. If only the
/// artifact is missing, the error names the policies that the folder has.
pub fn find(folder: &Path, name: &str) -> Result<Artifact, ArtifactError> {
    check_policy_name(name).map_err(ArtifactError::Name)?;
    let path = folder.join(format!("{name}{EXTENSION}"));
    let artifact = match Artifact::open(&path) {
        Err(ArtifactError::Read { source, .. })
            if source.kind() == std::io::ErrorKind::NotFound && std::fs::symlink_metadata(&path).is_err() =>
        {
            let mut names = list(folder)?;
            names.truncate(MAX_LISTED);
            return Err(ArtifactError::NotFound { name: name.to_owned(), folder: folder.to_owned(), names });
        }
        other => other?,
    };
    let found = &artifact.manifest().name;
    if found != name {
        return Err(ArtifactError::OtherPolicy { path, found: found.clone(), wanted: name.to_owned() });
    }
    Ok(artifact)
}

/// The names of the policies that have an artifact in a folder, sorted. They are not opened.
///
/// # Errors
/// The folder cannot be read.
pub fn list(folder: &Path) -> Result<Vec<String>, ArtifactError> {
    let failed = |source| ArtifactError::Read { path: PathBuf::from(folder), source };
    let mut names = vec![];
    let entries = std::fs::read_dir(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ArtifactError::NoFolder { folder: folder.to_owned() },
        _ => failed(error),
    })?;
    for entry in entries {
        let file = entry.map_err(failed)?.file_name();
        let name = file.to_str().and_then(|file| file.strip_suffix(EXTENSION));
        names.extend(name.filter(|name| check_policy_name(name).is_ok()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}
