//! Reads default sources, for cookbooks without a source of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artifact::MAX_FILES;
use plain_files::{HeldFolder, WalkError, leads_out};
use policyfile::compile::Source;
use policyfile::model::{
    ArchiveSource, CookbookSource, DefaultPlace, DefaultSource, Policy, Problem, ServerObject, ServerSource,
};
use policyfile::solver::Universe;
use policyfile::universe::{Offered, reachable};

use super::cookbook::LocalCookbook;
use super::error::PolicyfileError;
use super::paths::expanded;
use super::{Place, Session};

/// The most cookbooks of one folder.
const MAX_COOKBOOKS: usize = 10_000;

/// A default source, read.
#[derive(Debug)]
pub(super) struct Opened {
    /// The source as the solver sees it.
    pub(super) source: Source,
    /// The sources of its cookbooks, by name and version.
    pub(super) cookbooks: Cookbooks,
}

/// Sources of cookbooks, by name and version.
type Cookbooks = BTreeMap<(String, String), CookbookSource>;

impl Session<'_> {
    /// Reads the default sources. `starting_points`: the cookbooks that the policy names. `known`: the cookbooks that stay as
    /// locked. If these and the folders have all reachable cookbooks, no server is asked.
    pub(super) fn sources(
        &mut self,
        place: &Place,
        policy: &Policy,
        starting_points: &BTreeSet<String>,
        known: Option<&Universe>,
    ) -> Result<Vec<Opened>, PolicyfileError> {
        let (mut read, mut folders) = (vec![], BTreeMap::new());
        for (number, source) in policy.default_sources.iter().enumerate() {
            if let DefaultPlace::ChefRepo(path) = &source.place {
                folders.insert(number, self.chef_repo_source(&expanded(path, &place.folder), source)?);
            }
        }
        let all_known = known.is_some_and(|known| {
            let universes: Vec<&Universe> = folders.values().map(Read::universe).chain([known]).collect();
            let reached = reachable(&universes, starting_points.iter().map(String::as_str));
            reached.iter().all(|name| universes.iter().any(|universe| universe.contains_key(name)))
        });
        for (number, source) in policy.default_sources.iter().enumerate() {
            let problem = |what: String| {
                let problems = vec![Problem { line: source.line, what }];
                PolicyfileError::Problems { file: place.policyfile.clone(), problems }
            };
            read.push(match &source.place {
                DefaultPlace::ChefRepo(_) => match folders.remove(&number) {
                    Some(folder) => folder,
                    None => continue,
                },
                _ if all_known => Read::nothing(source),
                DefaultPlace::Supermarket(uri) => self.supermarket_source(uri, source).map_err(problem)?,
                DefaultPlace::ChefServer(uri) => self.chef_server_source(uri, source).map_err(problem)?,
            });
        }
        let universes: Vec<&Universe> = read.iter().map(Read::universe).collect();
        let reached = reachable(&universes, starting_points.iter().map(String::as_str));
        Ok(read.into_iter().map(|one| one.opened(&reached, self.tools.say)).collect())
    }

    fn chef_repo_source(&mut self, repository: &Path, source: &DefaultSource) -> Result<Read, PolicyfileError> {
        let inner = repository.join("cookbooks");
        let folder = if inner.is_dir() { inner } else { repository.to_owned() };
        let (universe, cookbooks) = self.chef_repo(&folder, repository)?;
        let name = DefaultPlace::ChefRepo(folder.display().to_string()).to_string();
        let source = Source { name, universe, preferred: source.preferred.clone() };
        Ok(Read::Folders(Opened { source, cookbooks }))
    }

    /// Asks a Supermarket for all that it offers.
    fn supermarket_source(&self, uri: &str, source: &DefaultSource) -> Result<Read, String> {
        let address = format!("{}/universe", uri.trim_end_matches('/'));
        let document = self.tools.download(&address).map_err(|what| format!("{}: {what}", source.place))?;
        let offered = Offered::parse(&document, true).map_err(|error| format!("{address}: {error}"))?;
        Ok(Read::Offered { name: source.place.to_string(), offered, preferred: source.preferred.clone(), server: None })
    }

    /// Asks a Chef server for all that it offers.
    fn chef_server_source(&self, uri: &str, source: &DefaultSource) -> Result<Read, String> {
        let document = self.ask_chef_server(uri, "/universe").map_err(|what| format!("{}: {what}", source.place))?;
        let document = document.ok_or_else(|| format!("{}: there is no such organization", source.place))?;
        let offered = Offered::parse(&document, false).map_err(|error| format!("{uri}/universe: {error}"))?;
        Ok(Read::Offered {
            name: source.place.to_string(),
            offered,
            preferred: source.preferred.clone(),
            server: Some(uri.into()),
        })
    }

    /// The folders of the cookbooks in a folder below a repository, sorted.
    fn cookbooks_in(&self, repository: &HeldFolder, below: &Path) -> Result<Vec<PathBuf>, PolicyfileError> {
        let folder = repository.path().join(below);
        let failed = |path: PathBuf, source: std::io::Error| match leads_out(&source) {
            true => PolicyfileError::LeadsAway { path, folder: repository.path().to_owned() },
            false => PolicyfileError::Read { path, source },
        };
        let too_many = |limit: usize, of: &'static str| {
            let limit = u64::try_from(limit).unwrap_or(u64::MAX);
            PolicyfileError::TooMuch { path: folder.clone(), limit, of }
        };
        let opened = repository.below(below).map_err(|error| failed(folder.clone(), error))?;
        let Some(opened) = opened else { return Ok(vec![]) };
        let mut paths = vec![];
        let walked = opened.folder().walk(MAX_FILES, |entry| {
            let path = folder.join(&entry.name);
            if !entry.is_hidden() && path.is_dir() && self.is_cookbook(&path) {
                repository.kind(below.join(&entry.name)).map_err(|error| failed(path.clone(), error))?;
                paths.push(path);
            }
            if paths.len() > MAX_COOKBOOKS { Err(too_many(MAX_COOKBOOKS, "cookbooks")) } else { Ok(false) }
        });
        walked.map_err(|error| match error {
            WalkError::TooMany => too_many(MAX_FILES, "files"),
            WalkError::Read(_, source) => PolicyfileError::Read { path: folder.clone(), source },
            WalkError::Visit(error) => error,
        })?;
        paths.sort();
        Ok(paths)
    }

    /// The cookbooks side by side in a folder of a Chef repository. The repository may be untrusted, so links in it must not
    /// lead out of it. A `path:` in the Policyfile may lead anywhere.
    fn chef_repo(&mut self, folder: &Path, repository: &Path) -> Result<(Universe, Cookbooks), PolicyfileError> {
        let paths = match HeldFolder::open(repository) {
            Ok(held) => self.cookbooks_in(&held, folder.strip_prefix(repository).unwrap_or(Path::new("")))?,
            // As in Chef, a missing folder has no cookbooks.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
            Err(source) => return Err(PolicyfileError::Read { path: repository.to_owned(), source }),
        };
        let (mut universe, mut cookbooks) = (Universe::new(), BTreeMap::new());
        for path in paths {
            let LocalCookbook { name, version, dependencies, .. } = self.cookbook(&path)?;
            universe.entry(name.clone()).or_default().insert(version.clone(), dependencies);
            cookbooks.insert((name, version), CookbookSource::Path(path.display().to_string()));
        }
        Ok((universe, cookbooks))
    }
}

/// A default source, as it was read.
enum Read {
    /// Cookbooks in folders of this machine.
    Folders(Opened),
    /// The list of a server's cookbooks. A policy needs only a few of them.
    Offered {
        name: String,
        offered: Offered,
        preferred: Vec<String>,
        /// The address of a Chef server, which has no archives.
        server: Option<String>,
    },
}

impl Read {
    /// A server that was not asked.
    fn nothing(source: &DefaultSource) -> Self {
        let (name, preferred) = (source.place.to_string(), source.preferred.clone());
        Self::Offered { name, offered: Offered::default(), preferred, server: None }
    }

    fn universe(&self) -> &Universe {
        match self {
            Self::Folders(opened) => &opened.source.universe,
            Self::Offered { offered, .. } => &offered.universe,
        }
    }

    /// Reduces the source to the cookbooks that the policy can reach.
    fn opened(self, reached: &BTreeSet<String>, say: &dyn Fn(&str)) -> Opened {
        let (name, mut offered, preferred, server) = match self {
            Self::Folders(opened) => return opened,
            Self::Offered { name, offered, preferred, server } => (name, offered, preferred, server),
        };
        for note in offered.keep(reached) {
            say(&format!("note: {name}: {note}"));
        }
        let archives = std::mem::take(&mut offered.archives);
        let cookbooks = match server {
            None => archives
                .into_iter()
                .map(|(key, url)| {
                    let version = key.1.clone();
                    (key, CookbookSource::Archive(ArchiveSource { url, version }))
                })
                .collect(),
            Some(uri) => {
                let versions =
                    offered.universe.iter().flat_map(|(name, versions)| versions.keys().map(move |it| (name, it)));
                let source = |version: &String| ServerSource {
                    uri: uri.clone(),
                    object: ServerObject::Version(version.clone()),
                };
                versions
                    .map(|(name, version)| ((name.clone(), version.clone()), CookbookSource::Server(source(version))))
                    .collect()
            }
        };
        Opened { source: Source { name, universe: offered.universe, preferred }, cookbooks }
    }
}
