//! Finds cookbooks: in folders beside the Policyfile, in git repositories, in archives, on Chef servers.

use std::path::{Path, PathBuf};

use artifact::lock::CookbookIdentifier;
use policyfile::constraint::Constraint;
use policyfile::lock::{CookbookLock, CookbookPlace};
use policyfile::model::{ArchiveSource, CookbookSource, GitSource, ServerObject, ServerSource};
use serde_json::{Map, Value};

use super::Session;
use super::cookbook::{LocalCookbook, identifier, sums};
use super::error::PolicyfileError;
use super::kept::{archive_key, commit_key, server_key};
use super::paths::{expanded, inside, relative};
use crate::ignore::{FILE as IGNORE, Ignore, Unusable};

/// A cookbook that was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Located {
    pub(super) cookbook: LocalCookbook,
    origin: Origin,
}

#[derive(Debug, Clone, PartialEq)]
enum Origin {
    /// A folder, by its path from the Policyfile's.
    Folder(String),
    /// A commit of a repository.
    Commit { source: GitSource, commit: String },
    /// An archive on a server.
    Archive(ArchiveSource),
    /// The cookbooks of a Chef server.
    Server(ServerSource),
}

impl Located {
    /// Tells whether the cookbook was fetched. Then it must equal the locked one.
    pub(super) fn is_fetched(&self) -> bool {
        !matches!(self.origin, Origin::Folder(_))
    }
}

impl Session<'_> {
    /// Finds a cookbook, fetches it if necessary, and checks that it is the one that is meant.
    pub(super) fn locate(
        &mut self,
        name: &str,
        constraint: &Constraint,
        source: &CookbookSource,
        folder: &Path,
    ) -> Result<Located, PolicyfileError> {
        match source {
            CookbookSource::Path(path) => {
                let path = expanded(path, folder);
                if !self.is_cookbook(&path) {
                    return Err(self.not_a_cookbook(&path));
                }
                let cookbook = self.cookbook(&path)?;
                cookbook.check(name, constraint)?;
                Ok(Located { cookbook, origin: Origin::Folder(relative(folder, &path)) })
            }
            CookbookSource::Git(source) => {
                let commit = self.repositories.commit_of(source)?;
                let path = self.check_out(name, source, &commit)?;
                let cookbook = self.fetched(name, constraint, &path, &source.uri)?;
                Ok(Located { cookbook, origin: Origin::Commit { source: source.clone(), commit } })
            }
            CookbookSource::Archive(source) => {
                let path = self.unpack_archive(name, constraint, source)?;
                let cookbook = self.fetched(name, constraint, &path, &source.url)?;
                Ok(Located { cookbook, origin: Origin::Archive(source.clone()) })
            }
            CookbookSource::Server(source) => {
                let path = self.take_from_server(name, constraint, source)?;
                let cookbook = self.fetched(name, constraint, &path, &source.uri)?;
                Ok(Located { cookbook, origin: Origin::Server(source.clone()) })
            }
        }
    }

    /// A cookbook in the cache.
    fn fetched(
        &mut self,
        name: &str,
        constraint: &Constraint,
        path: &Path,
        origin: &str,
    ) -> Result<LocalCookbook, PolicyfileError> {
        if self.is_crate(path) {
            return Err(PolicyfileError::Cookbook(format!(
                "the cookbook '{name}' from {origin} is in Rust: cargo resolves such cookbooks; name a folder with `path`"
            )));
        }
        let cookbook = self.cookbook(path)?;
        cookbook.check(name, constraint)?;
        Ok(cookbook)
    }

    /// The folder of the cache that has a cookbook as it is in a commit.
    fn check_out(&mut self, name: &str, source: &GitSource, commit: &str) -> Result<PathBuf, PolicyfileError> {
        let place = self.kept_commit(name, source, commit)?;
        if place.is_dir() {
            return Ok(place);
        }
        let repository = self.repositories.with_commit(&source.uri, commit)?;
        let rel = match &source.rel {
            None => None,
            Some(rel) => Some(inside("", rel).filter(|rel| !rel.is_empty()).ok_or_else(|| {
                PolicyfileError::Cookbook(format!("`rel` of cookbook '{name}' leads out of its repository: {rel:?}"))
            })?),
        };
        (self.tools.say)(&format!("Installing {name} {commit} from {}", source.uri));
        self.keep(&place, |scratch| {
            let found = self.repositories.check_out(&repository, commit, rel.as_deref(), scratch)?;
            if self.is_cookbook(&found) {
                return Ok(found);
            }
            let what = format!("{} at {commit} has no cookbook in {:?}", source.uri, rel.as_deref().unwrap_or("."));
            Err(PolicyfileError::Cookbook(what))
        })?;
        Ok(place)
    }

    /// Whether a cookbook has an identifier that somebody has locked.
    pub(super) fn is_as_locked(&self, located: &Located, locked: &str) -> Result<bool, PolicyfileError> {
        let sums = sums(&located.cookbook)?;
        if CookbookIdentifier::of(&sums).as_str() == locked {
            return Ok(true);
        }
        // The cookbook may have been locked in the repository's working tree, where a `chefignore` above the cookbook counts.
        // The cache has only the cookbook's folder, as Chef's cache has. So the identifier is computed again with that
        // `chefignore`.
        let Origin::Commit { source, commit } = &located.origin else { return Ok(false) };
        let rel = source.rel.as_deref().and_then(|rel| inside("", rel)).unwrap_or_default();
        if rel.is_empty() || located.cookbook.path.join(IGNORE).exists() {
            return Ok(false);
        }
        let repository = self.repositories.with_commit(&source.uri, commit)?;
        let above = Path::new(&rel).ancestors().skip(1).map(|folder| folder.join(IGNORE));
        let mut found = above.filter_map(|path| {
            let text = self.repositories.show(&repository, commit, path.to_str()?).ok()?;
            Some((path, text))
        });
        let Some((path, text)) = found.next() else { return Ok(false) };
        let unusable = |(path, source): Unusable| PolicyfileError::Read { path, source };
        let mut ignore = Ignore::parse(&path, &text).map_err(unusable)?;
        let mut counted = vec![];
        for sum in sums {
            if !ignore.ignores(&sum.path).map_err(unusable)? {
                counted.push(sum);
            }
        }
        Ok(CookbookIdentifier::of(&counted).as_str() == locked)
    }

    /// The entry of a cookbook in a lock.
    pub(super) fn entry(&mut self, located: &Located) -> Result<CookbookLock, PolicyfileError> {
        let cookbook = &located.cookbook;
        let identifier = identifier(cookbook)?;
        let mut options = Map::new();
        let mut add = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                options.insert(key.to_owned(), value.into());
            }
        };
        let place = match &located.origin {
            Origin::Folder(source) => {
                add("path", Some(source));
                // The lock of a policy.toml does not have the commit of the working tree, because that does not change what
                // is run.
                let scm_info = match self.takes_crates {
                    true => Value::Null,
                    false => self.working_trees.info(&cookbook.path, self.tools.say)?,
                };
                CookbookPlace::Local { source: source.clone(), scm_info }
            }
            Origin::Commit { source, commit } => {
                add("git", Some(&source.uri));
                add("revision", Some(commit));
                add("ref", source.reference.as_deref().map(|name| name.get(..7).unwrap_or(name)));
                add("branch", source.branch.as_deref());
                add("tag", source.tag.as_deref());
                add("rel", source.rel.as_deref());
                let (cache_key, origin) = (commit_key(&cookbook.name, commit), Value::from(source.uri.clone()));
                CookbookPlace::Cached { cache_key, origin }
            }
            Origin::Archive(source) => {
                add("artifactserver", Some(&source.url));
                add("version", Some(&source.version));
                let (cache_key, origin) = (archive_key(&cookbook.name, source), Value::from(source.url.clone()));
                CookbookPlace::Cached { cache_key, origin }
            }
            Origin::Server(source) => {
                match &source.object {
                    ServerObject::Version(version) => {
                        add("chef_server", Some(&source.uri));
                        add("version", Some(version));
                    }
                    ServerObject::Artifact(identifier) => {
                        add("chef_server_artifact", Some(&source.uri));
                        add("identifier", Some(identifier));
                    }
                }
                let (cache_key, origin) = (server_key(&cookbook.name, source), Value::from(source.uri.clone()));
                CookbookPlace::Cached { cache_key, origin }
            }
        };
        Ok(CookbookLock {
            version: cookbook.version.clone(),
            identifier: identifier.to_string(),
            dotted_decimal_identifier: identifier.dotted_decimal().into(),
            place,
            source_options: options,
        })
    }
}
