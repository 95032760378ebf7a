//! The cache of fetched cookbooks. The name of a folder has the cookbook, its version or commit, and a digest of its source.
//! A folder is always complete, and is never written again.

use std::path::{Path, PathBuf};

use artifact::lock::{CookbookIdentifier, FileChecksum};
use policyfile::constraint::Constraint;
use policyfile::model::{ArchiveSource, CookbookSource, GitSource, ServerObject, ServerSource};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use text::hex;

use super::Session;
use super::cookbook::LocalCookbook;
use super::error::PolicyfileError;
use super::git::GitError;
use super::unpack::unpacked;

/// How many characters of a digest are in the name of a cached cookbook's folder.
const DIGEST_LENGTH: usize = 32;

/// Returns the cache key in a lock for a cookbook from git, as Chef writes it.
pub(super) fn commit_key(name: &str, commit: &str) -> String {
    format!("{name}-{commit}")
}

/// The key that a lock has of a cookbook from a Supermarket, as Chef writes it.
pub(super) fn archive_key(name: &str, source: &ArchiveSource) -> String {
    format!("{name}-{}-{}", source.version, source.host())
}

/// The key that a lock has of a cookbook from a Chef server, as Chef writes it.
pub(super) fn server_key(name: &str, source: &ServerSource) -> String {
    let (ServerObject::Version(which) | ServerObject::Artifact(which)) = &source.object;
    format!("{name}-{which}")
}

impl Session<'_> {
    /// Returns the folder of a fetched cookbook in the cache, which may not exist yet. `None` if the cookbook is not fetched.
    pub(super) fn kept(&self, name: &str, source: &CookbookSource) -> Result<Option<PathBuf>, PolicyfileError> {
        match source {
            CookbookSource::Path(_) => Ok(None),
            CookbookSource::Git(source) => {
                let commit = self.repositories.commit_of(source)?;
                self.kept_commit(name, source, &commit).map(Some)
            }
            CookbookSource::Archive(source) => self.kept_archive(name, source).map(Some),
            CookbookSource::Server(source) => self.kept_of_server(name, source).map(Some),
        }
    }

    /// Returns the folder of a commit. A branch or another repository with the same name has another folder.
    pub(super) fn kept_commit(&self, name: &str, source: &GitSource, commit: &str) -> Result<PathBuf, PolicyfileError> {
        self.folder(&commit_key(name, commit), &json!([source.uri, commit, source.rel]))
    }

    fn kept_archive(&self, name: &str, source: &ArchiveSource) -> Result<PathBuf, PolicyfileError> {
        self.folder(&archive_key(name, source), &json!([source.url, source.version]))
    }

    fn kept_of_server(&self, name: &str, source: &ServerSource) -> Result<PathBuf, PolicyfileError> {
        let (kind, which) = match &source.object {
            ServerObject::Version(version) => ("version", version),
            ServerObject::Artifact(identifier) => ("artifact", identifier),
        };
        self.folder(&server_key(name, source), &json!([source.uri, kind, which]))
    }

    fn folder(&self, key: &str, content: &Value) -> Result<PathBuf, PolicyfileError> {
        let is_name = !key.is_empty() && !key.starts_with('.') && !key.contains(['/', '\0']);
        if !is_name {
            return Err(PolicyfileError::Git(GitError::Option { text: key.to_owned() }));
        }
        if self.tools.cache.as_os_str().is_empty() {
            return Err(PolicyfileError::Git(GitError::NoCache));
        }
        let digest = hex(Sha256::digest(content.to_string()));
        let digest = digest.get(..DIGEST_LENGTH).unwrap_or(&digest);
        Ok(self.tools.cache.join("cookbooks").join(format!("{key}-{digest}")))
    }

    /// Adds a folder to the cache atomically. `make` fills a temporary folder, which is renamed.
    pub(super) fn keep(
        &self,
        place: &Path,
        make: impl FnOnce(&Path) -> Result<PathBuf, PolicyfileError>,
    ) -> Result<(), PolicyfileError> {
        let cookbooks = place.parent().unwrap_or(self.tools.cache);
        let scratch = plain_files::unfinished_name().map_err(PolicyfileError::write(cookbooks))?;
        let scratch = cookbooks.join(scratch);
        std::fs::create_dir_all(&scratch).map_err(PolicyfileError::write(&scratch))?;
        let moved = make(&scratch).and_then(|found| match std::fs::rename(&found, place) {
            // Another process was faster and has added the same folder.
            Err(_) if place.is_dir() => Ok(()),
            moved => moved.map_err(PolicyfileError::write(place)),
        });
        drop(std::fs::remove_dir_all(&scratch));
        moved
    }

    /// The folder of the cache that has the cookbook of an archive. A cookbook other than the requested one is not cached.
    pub(super) fn unpack_archive(
        &self,
        name: &str,
        constraint: &Constraint,
        source: &ArchiveSource,
    ) -> Result<PathBuf, PolicyfileError> {
        let place = self.kept_archive(name, source)?;
        if place.is_dir() {
            return Ok(place);
        }
        (self.tools.say)(&format!("Installing {name} {}", source.version));
        let bytes = self.tools.download(&source.url).map_err(PolicyfileError::Cookbook)?;
        let files = unpacked(&bytes, "the archive of a cookbook").map_err(PolicyfileError::Cookbook)?;
        // A Supermarket's archive has one folder with the cookbook's name.
        let below = |path: &str| Some(path.strip_prefix(name)?.strip_prefix('/')?.to_owned());
        let files = files.into_iter().filter_map(|(path, content)| Some((below(&path)?, content)));
        self.keep_files(&place, files, &source.url, |cookbook| cookbook.check(name, constraint))?;
        Ok(place)
    }

    /// The folder of the cache that has a cookbook of a Chef server. A cookbook other than the requested one is not cached.
    pub(super) fn take_from_server(
        &self,
        name: &str,
        constraint: &Constraint,
        source: &ServerSource,
    ) -> Result<PathBuf, PolicyfileError> {
        let place = self.kept_of_server(name, source)?;
        if place.is_dir() {
            return Ok(place);
        }
        (self.tools.say)(&format!("Installing {} from {}", server_key(name, source), source.uri));
        let files = self.server_files(name, source)?;
        let sums: Vec<_> = files.iter().map(|(path, content)| FileChecksum::of(path, content)).collect();
        let identifier = CookbookIdentifier::of(&sums);
        if let ServerObject::Artifact(wanted) = &source.object
            && identifier.as_str() != wanted
        {
            return Err(PolicyfileError::Cookbook(format!(
                "{} has sent files of the cookbook {name} that have the identifier {identifier}, and not {wanted}",
                source.uri
            )));
        }
        self.keep_files(&place, files, &source.uri, |cookbook| cookbook.check(name, constraint))?;
        Ok(place)
    }

    /// Puts a cookbook's files into the cache. `origin`: where they are from, for messages.
    fn keep_files(
        &self,
        place: &Path,
        files: impl IntoIterator<Item = (String, Vec<u8>)>,
        origin: &str,
        check: impl FnOnce(&LocalCookbook) -> Result<(), PolicyfileError>,
    ) -> Result<(), PolicyfileError> {
        self.keep(place, |scratch| {
            let found = scratch.join("cookbook");
            for (path, content) in files {
                let file = found.join(path);
                let folder = file.parent().unwrap_or(&found);
                std::fs::create_dir_all(folder).map_err(PolicyfileError::write(folder))?;
                std::fs::write(&file, content).map_err(PolicyfileError::write(&file))?;
            }
            if !self.is_cookbook(&found) {
                return Err(PolicyfileError::Cookbook("it has no cookbook in the folder of its name".into()));
            }
            check(&LocalCookbook { path: PathBuf::from(origin), ..self.read_cookbook(&found)? })?;
            Ok(found)
        })
    }
}
