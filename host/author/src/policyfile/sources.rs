//! Default sources: where cookbooks come from that have no source of their own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use policyfile::compile::Source;
use policyfile::model::{DefaultPlace, Policy};
use policyfile::solver::Universe;

use super::cookbook::LocalCookbook;
use super::error::PolicyfileError;
use super::paths::expanded;
use super::{Place, Session};

/// The most cookbooks of one folder.
const MAX_COOKBOOKS: usize = 10_000;

/// A default source, read.
#[derive(Debug)]
pub(super) struct Opened {
    /// What the solver sees of it.
    pub(super) source: Source,
    /// The folders of its cookbooks, by name and version.
    pub(super) folders: Folders,
}

/// Folders of cookbooks, by name and version.
type Folders = BTreeMap<(String, String), PathBuf>;

impl Session<'_> {
    /// Reads the default sources.
    pub(super) fn sources(&mut self, place: &Place, policy: &Policy) -> Result<Vec<Opened>, PolicyfileError> {
        let mut all = vec![];
        for source in &policy.default_sources {
            let DefaultPlace::ChefRepo(path) = &source.place else {
                let what =
                    format!("{} is not supported yet; use :chef_repo, or path or git for each cookbook", source.place);
                let problem = policyfile::model::Problem { line: source.line, what };
                return Err(PolicyfileError::Problems { file: place.policyfile.clone(), problems: vec![problem] });
            };
            let folder = expanded(path, &place.folder);
            let inner = folder.join("cookbooks");
            let folder = if inner.is_dir() { inner } else { folder };
            let (universe, folders) = self.chef_repo(&folder)?;
            let name = DefaultPlace::ChefRepo(folder.display().to_string()).to_string();
            all.push(Opened { source: Source { name, universe, preferred: source.preferred.clone() }, folders });
        }
        Ok(all)
    }

    /// The cookbooks side by side in a folder.
    fn chef_repo(&mut self, folder: &Path) -> Result<(Universe, Folders), PolicyfileError> {
        let mut paths = vec![];
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            // As in Chef, where it has no cookbooks then.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
            Err(source) => return Err(PolicyfileError::Read { path: folder.to_owned(), source }),
        };
        for entry in entries {
            let path = entry.map_err(PolicyfileError::read(folder))?.path();
            let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
            if !is_hidden && path.is_dir() && self.is_cookbook(&path) {
                paths.push(path);
            }
            if paths.len() > MAX_COOKBOOKS {
                let limit = u64::try_from(MAX_COOKBOOKS).unwrap_or(u64::MAX);
                return Err(PolicyfileError::TooMuch { path: folder.to_owned(), limit, of: "cookbooks" });
            }
        }
        paths.sort();
        let (mut universe, mut folders) = (Universe::new(), BTreeMap::new());
        for path in paths {
            let LocalCookbook { name, version, dependencies, .. } = self.cookbook(&path)?;
            universe.entry(name.clone()).or_default().insert(version.clone(), dependencies);
            folders.insert((name, version), path);
        }
        Ok((universe, folders))
    }
}
