//! The cookbooks that are checked: one, those of some directories, those of a policy's folder or of a Chef repository.

use super::CheckError;
use crate::CookbookFolders;
use contract::CookbookFiles as _;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The cookbooks to check, and the other cookbooks in the same directories.
pub struct Subject {
    /// The folders' names, in the order of the reports.
    pub(super) folders: Vec<String>,
    pub(super) files: Arc<CookbookFolders>,
    /// The paths of the folders beside them without metadata.
    left_out: Vec<PathBuf>,
    /// Whether a single cookbook was named.
    is_single: bool,
    pub(super) scope: Scope,
}

/// What is known of the runs that have the cookbooks.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    /// Whether the directories contain all cookbooks of a run.
    pub(super) is_whole: bool,
    /// Whether the dependencies should be in the directories.
    pub(super) expects_dependencies: bool,
    /// Attributes that a policy sets.
    pub(super) attributes: Vec<Value>,
    /// Attributes that roles and environments set.
    pub(super) set_elsewhere: Vec<Value>,
}

/// The usual directory of cookbooks, below the working directory.
const USUAL_DIRECTORY: &str = "cookbooks";

/// Directories of cookbooks in a Chef repository that its people write.
const OWN_DIRECTORIES: [&str; 2] = ["cookbooks", "site-cookbooks"];

/// Directories of cookbooks in a Chef repository that tools fill.
const FETCHED_DIRECTORIES: [&str; 2] = ["berks-cookbooks", "vendor/cookbooks"];

/// Files that say where the cookbooks of a Chef repository find others.
const SOURCES: [&str; 3] = ["Berksfile", "Policyfile.rb", "policyfiles"];

/// The file of a policy's folder.
const POLICY: &str = "policy.toml";

impl Subject {
    /// Finds the cookbooks that a folder stands for: the cookbook in it, those of a policy's folder or of a Chef repository,
    /// or those that lie in it. `directories` have cookbooks that they may depend on.
    ///
    /// # Errors
    /// The folder has no cookbook, or a directory or `policy.toml` cannot be read.
    pub fn at(folder: &Path, directories: &[PathBuf]) -> Result<Self, CheckError> {
        let place = folder.canonicalize().map_err(|source| absent(folder, directories, source))?;
        if is_cookbook(&place) {
            return Self::one(folder, directories);
        }
        if place.join(POLICY).is_file() {
            return Self::of_policy(&place, directories);
        }
        let below = |names: [&str; 2]| names.map(|name| place.join(name)).into_iter().filter(|path| path.is_dir());
        let own: Vec<PathBuf> = below(OWN_DIRECTORIES).filter(|path| holds_cookbooks(path)).collect();
        if !own.is_empty() {
            let others: Vec<PathBuf> = directories.iter().cloned().chain(below(FETCHED_DIRECTORIES)).collect();
            let subject = Self::all_beside(&own, &others)?;
            let fetches = SOURCES.iter().any(|name| place.join(name).exists());
            return Ok(if fetches { subject } else { subject.whole() });
        }
        if holds_cookbooks(&place) {
            return Ok(Self::all_beside(&[place], directories)?.whole());
        }
        Self::one(folder, directories)
    }

    /// Finds the cookbooks of a policy's folder that have metadata. Cookbooks in Rust have none.
    fn of_policy(place: &Path, directories: &[PathBuf]) -> Result<Self, CheckError> {
        let outline = crate::policy::outline(place)?;
        let (ruby, rust): (Vec<_>, Vec<_>) = outline.cookbooks.into_iter().partition(|path| is_cookbook(path));
        if ruby.is_empty() {
            return Err(CheckError::NoRuby { place: place.to_owned(), has_rust: !rust.is_empty() });
        }
        let mut parents: Vec<PathBuf> = ruby.iter().filter_map(|path| path.parent().map(Path::to_owned)).collect();
        parents.dedup();
        let names = ruby.iter().filter_map(|path| path.file_name()?.to_str().map(str::to_owned));
        let names: Vec<String> = names.collect();
        let mut subject = Self::all_beside(&parents, directories)?.with_attributes(outline.attributes);
        subject.folders.retain(|folder| names.contains(folder));
        subject.left_out.clear();
        Ok(if outline.needs_resolving { subject } else { subject.whole() })
    }

    /// Finds the cookbook in a folder, and the other cookbooks beside it and in other directories. If there are other
    /// directories, a dependency outside of them is a problem.
    ///
    /// # Errors
    /// The directories have no cookbook, or one of them cannot be read.
    pub fn one(folder: &Path, directories: &[PathBuf]) -> Result<Self, CheckError> {
        let place = folder.canonicalize().map_err(|source| absent(folder, directories, source))?;
        if !is_cookbook(&place) {
            let around = place.ancestors().skip(1).find(|above| is_cookbook(above)).map(Path::to_owned);
            return Err(CheckError::NotACookbook { around, place });
        }
        let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
            return Err(CheckError::Nameless(place));
        };
        let Some(name) = name.to_str() else { return Err(CheckError::NotText(place)) };
        if name.starts_with('.') {
            return Err(CheckError::Hidden(name.to_owned()));
        }
        // Of two folders with the same name, the one in the later directory is used: so the directory of the requested
        // cookbook comes last.
        let mut all = directories.to_vec();
        all.push(parent.to_owned());
        Ok(Self {
            folders: vec![name.to_owned()],
            files: Arc::new(CookbookFolders::open(&all)?),
            left_out: vec![],
            is_single: true,
            scope: Scope { expects_dependencies: !directories.is_empty(), ..Scope::default() },
        })
    }

    /// Finds all cookbooks of some directories.
    ///
    /// # Errors
    /// A directory is a cookbook itself, or none of them has one.
    pub fn all(directories: &[PathBuf]) -> Result<Self, CheckError> {
        Self::all_beside(directories, &[])
    }

    /// Finds all cookbooks of some directories, which may depend on those of `others`.
    fn all_beside(directories: &[PathBuf], others: &[PathBuf]) -> Result<Self, CheckError> {
        if let Some(cookbook) = directories.iter().find(|directory| is_cookbook(directory)) {
            return Err(CheckError::IsCookbook(cookbook.clone()));
        }
        let files = CookbookFolders::open(directories)?;
        let has_metadata = |folder: &&str| {
            let paths = files.paths(folder, "").unwrap_or_default();
            paths.iter().any(|path| path == "metadata.rb" || path == "metadata.json")
        };
        let (folders, without): (Vec<&str>, Vec<&str>) = files.names().partition(has_metadata);
        if folders.is_empty() {
            return Err(CheckError::NoCookbooks(directories.to_vec()));
        }
        let folders = folders.into_iter().map(str::to_owned).collect();
        let left_out = without.into_iter().filter_map(|folder| files.place(folder)).map(Path::to_owned).collect();
        // Of two folders with the same name, the one in the later directory is used.
        let everywhere: Vec<PathBuf> = others.iter().chain(directories).cloned().collect();
        let all = if others.is_empty() { files } else { CookbookFolders::open(&everywhere)? };
        Ok(Self { folders, files: Arc::new(all), left_out, is_single: false, scope: Scope::default() })
    }

    /// Declares that a run has only these directories, so that a dependency outside of them is a problem.
    #[must_use]
    pub fn whole(self) -> Self {
        let scope = Scope { is_whole: true, expects_dependencies: true, ..self.scope };
        Self { scope, ..self }
    }

    /// Adds the attributes that a policy sets: JSON objects.
    #[must_use]
    pub fn with_attributes(self, attributes: Vec<Value>) -> Self {
        let scope = Scope { attributes, ..self.scope };
        Self { scope, ..self }
    }

    /// Adds attributes that something else than cookbooks and the policy sets: JSON objects.
    #[must_use]
    pub fn with_set_elsewhere(mut self, attributes: impl IntoIterator<Item = Value>) -> Self {
        self.scope.set_elsewhere.extend(attributes);
        self
    }

    /// Whether a single cookbook was named, and not a folder with several.
    pub fn is_single(&self) -> bool {
        self.is_single
    }

    /// Returns the folders with this name beside the directories of the cookbooks, as Chef repositories have them.
    pub(super) fn beside(&self, name: &str) -> BTreeSet<PathBuf> {
        let places = self.files.names().filter_map(|folder| self.files.place(folder));
        let found = places.filter_map(|place| Some(place.parent()?.parent()?.join(name)));
        found.filter(|path| path.is_dir()).collect()
    }

    /// Returns the folders beside the cookbooks that are not cookbooks, because they do not have metadata.
    pub fn left_out(&self) -> &[PathBuf] {
        &self.left_out
    }

    /// Returns only the cookbooks with unknown folder names, or `None` if all names are known.
    #[must_use]
    pub fn without(&self, is_known: impl Fn(&str) -> bool) -> Option<Self> {
        let folders: Vec<String> = self.folders.iter().filter(|folder| !is_known(folder)).cloned().collect();
        (!folders.is_empty()).then(|| Self {
            folders,
            files: Arc::clone(&self.files),
            left_out: vec![],
            is_single: false,
            scope: self.scope.clone(),
        })
    }
}

/// Returns the error about a missing folder. If the user typed the name of a cookbook, it has the cookbook's path.
fn absent(folder: &Path, directories: &[PathBuf], source: std::io::Error) -> CheckError {
    let usual = Path::new(USUAL_DIRECTORY);
    let all = directories.iter().map(PathBuf::as_path).chain([usual]);
    let found = all.map(|directory| directory.join(folder)).find(|place| is_cookbook(place));
    let source = plain_files::explained(folder, source);
    CheckError::Absent { folder: folder.to_owned(), found, source }
}

fn is_cookbook(place: &Path) -> bool {
    ["metadata.rb", "metadata.json"].iter().any(|file| place.join(file).is_file())
}

fn holds_cookbooks(place: &Path) -> bool {
    CookbookFolders::open(&[place.to_owned()])
        .is_ok_and(|inside| inside.names().any(|name| inside.place(name).is_some_and(is_cookbook)))
}
