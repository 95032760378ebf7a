//! Finds artifacts in a folder: `NAME.wasm`. Links are not followed, so that only files in the folder itself run as policies.

use std::path::{Path, PathBuf};

use plain_files::Folder;

use crate::{Artifact, ArtifactError, check_policy_name};

/// How an artifact's file name ends.
pub const EXTENSION: &str = ".wasm";

/// How many names an error lists.
const MAX_LISTED: usize = 50;

/// Opens the artifact of a policy in a folder, and checks that it belongs to that policy.
///
/// # Errors
/// The artifact or the folder does not exist, or the artifact cannot be opened, as with a link. If only the artifact is missing,
/// the error names the policies that the folder has.
pub fn find(folder: &Path, name: &str) -> Result<Artifact, ArtifactError> {
    check_policy_name(name).map_err(ArtifactError::Name)?;
    let file = format!("{name}{EXTENSION}");
    let path = folder.join(&file);
    let opened = open(folder)?.open_file(&file);
    let Some(opened) = opened.map_err(|source| ArtifactError::Read { path: path.clone(), source })? else {
        let mut names = list(folder)?;
        names.truncate(MAX_LISTED);
        return Err(ArtifactError::NotFound { name: name.to_owned(), folder: folder.to_owned(), names });
    };
    let artifact = Artifact::from_file(&path, opened)?;
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
    let mut names = vec![];
    for file in open(folder)?.names().map_err(|source| unread(folder, source))? {
        let name = file.to_str().and_then(|file| file.strip_suffix(EXTENSION));
        names.extend(name.filter(|name| check_policy_name(name).is_ok()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

fn open(folder: &Path) -> Result<Folder, ArtifactError> {
    let opened = Folder::open(folder).map_err(|source| unread(folder, source))?;
    opened.ok_or_else(|| ArtifactError::NoFolder { folder: folder.to_owned(), near: plain_files::near_name(folder) })
}

fn unread(folder: &Path, source: std::io::Error) -> ArtifactError {
    ArtifactError::Read { path: PathBuf::from(folder), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_place_of_an_artifact_is_refused() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("policies");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(top.path().join("other.wasm"), "\0asm").unwrap();
        std::os::unix::fs::symlink(top.path().join("other.wasm"), folder.join("web.wasm")).unwrap();
        let ArtifactError::Read { path, source } = find(&folder, "web").unwrap_err() else { panic!("it was read") };
        assert_eq!((path, source.to_string().as_str()), (folder.join("web.wasm"), "it is a link"));
        assert!(matches!(find(&folder, "db").unwrap_err(), ArtifactError::NotFound { names, .. } if names == ["web"]));
        let gone = find(&top.path().join("gone"), "web").unwrap_err();
        assert!(matches!(gone, ArtifactError::NoFolder { .. }), "{gone}");
    }
}
