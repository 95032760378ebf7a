//! Checks cookbooks in Ruby before any run: finds what they need from a node, and parts of them that would not work.
//!
//! ```text
//! facts       what the Ruby library finds in one file: it parses the text and evaluates only metadata
//! gather      reads cookbooks and those that they depend on
//! reach       leaves what a run list reaches
//! judge       the findings, with files, own_types, notifications, unset, elsewhere and beside
//! left_out    counts the checks that could not be made
//! needs       what cookbooks ask of a node, with the table composed
//! suggest     needs as entries of the operator's grants
//! rest        the needs of a recipe's text after a line
//! ```
//!
//! This crate cannot start Ruby. Callers implement [`Readers`], which opens Ruby instances.

mod beside;
mod composed;
mod elsewhere;
mod error;
mod facts;
mod files;
mod gather;
mod judge;
mod left_out;
mod modes;
mod needs;
mod notifications;
mod own_types;
mod reach;
mod rest;
mod shapes;
mod suggest;
mod typos;
mod unset;

pub use error::CheckError;
pub use judge::Finding;
pub use left_out::LeftOut;
pub use needs::{Kind, Need, Needs};
pub use rest::{Entry, Line, MAX_REST_FILES, Rest, RestReader};
pub use suggest::{additions, grant_keys, table};

use crate::CookbookFolders;
use beside::{All, Beside};
use contract::{CookbookFiles, Failure, Question};
use gather::{Gathered, Wanted};
use judge::Judgement;
use serde_json::Value;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Asks an instance a question by name, with its input.
pub type Ask<'a> = dyn FnMut(Question) -> Result<Value, Failure> + 'a;

/// Opens instances of the Ruby runtime, which read cookbooks.
pub trait Readers {
    /// Opens an instance that sees these files and nothing of the machine, and lets `questions` ask it.
    ///
    /// # Errors
    /// No instance could be opened.
    fn open(
        &self,
        files: Arc<dyn CookbookFiles>,
        questions: &mut dyn FnMut(&mut Ask<'_>),
    ) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// The cookbooks to check, and the other cookbooks in the same directories.
pub struct Subject {
    /// The folders' names, in the order of the reports.
    folders: Vec<String>,
    files: Arc<CookbookFolders>,
    /// The paths of the folders beside them without metadata.
    left_out: Vec<PathBuf>,
    scope: Scope,
}

/// What is known of the runs that have the cookbooks.
#[derive(Debug, Clone, Default)]
struct Scope {
    /// Whether the directories contain all cookbooks of a run.
    is_whole: bool,
    /// Whether the dependencies should be in the directories.
    expects_dependencies: bool,
    /// Attributes that a policy sets.
    attributes: Vec<Value>,
}

/// The report on one cookbook.
#[derive(Debug)]
pub struct Report {
    /// The cookbook's name, from its metadata or its folder.
    pub name: String,
    /// Its version; empty if its metadata do not say it.
    pub version: String,
    /// The number of its files.
    pub files: usize,
    /// Problems and notes, in the order of the files.
    pub findings: Vec<Finding>,
    /// Checks that could not be made.
    pub left_out: Vec<LeftOut>,
    /// The cookbook's needs from a node.
    pub needs: Needs,
    /// The other system that all of the cookbook is for.
    pub only_on: Option<String>,
}

impl Report {
    fn of(gathered: &Gathered, all: &[Gathered], beside: &All, automatic: &BTreeSet<String>, scope: &Scope) -> Self {
        let Judgement { findings, left_out } =
            judge::judge(gathered, all, Beside::new(beside, gathered, all, automatic), scope);
        Self {
            name: gathered.name.clone(),
            version: gathered.version.clone(),
            files: gathered.files.len(),
            findings,
            left_out,
            needs: needs::needs(gathered, automatic),
            only_on: gathered.only_on.clone(),
        }
    }

    /// Whether no problem was found.
    pub fn works(&self) -> bool {
        self.problems() == 0
    }

    /// The number of problems; notes do not count.
    pub fn problems(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_problem).count()
    }
}

/// The usual directory of cookbooks, below the working directory.
const USUAL_DIRECTORY: &str = "cookbooks";

impl Subject {
    /// Finds the cookbook in a folder, and the other cookbooks beside it and in other directories. If there are other
    /// directories, a dependency outside of them is a problem.
    ///
    /// # Errors
    /// There is no cookbook, or a directory cannot be read.
    pub fn one(folder: &Path, directories: &[PathBuf]) -> Result<Self, CheckError> {
        let place = folder.canonicalize().map_err(|source| absent(folder, directories, source))?;
        if !is_cookbook(&place) {
            return Err(CheckError::NotACookbook { holds_some: holds_cookbooks(&place), place });
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
            scope: Scope { expects_dependencies: !directories.is_empty(), ..Scope::default() },
        })
    }

    /// Finds all cookbooks of some directories.
    ///
    /// # Errors
    /// A directory is a cookbook itself, or none of them has one.
    pub fn all(directories: &[PathBuf]) -> Result<Self, CheckError> {
        if let Some(cookbook) = directories.iter().find(|directory| is_cookbook(directory)) {
            return Err(CheckError::IsCookbook(cookbook.clone()));
        }
        let files = CookbookFolders::open(directories)?;
        let has_metadata = |folder: &&str| {
            let paths = files.paths(folder, "").unwrap_or_default();
            paths.iter().any(|path| path == "metadata.rb" || path == "metadata.json")
        };
        let (folders, others): (Vec<&str>, Vec<&str>) = files.names().partition(has_metadata);
        if folders.is_empty() {
            return Err(CheckError::NoCookbooks(directories.to_vec()));
        }
        let folders = folders.into_iter().map(str::to_owned).collect();
        let left_out = others.into_iter().filter_map(|folder| files.place(folder)).map(Path::to_owned).collect();
        Ok(Self { folders, files: Arc::new(files), left_out, scope: Scope::default() })
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
            scope: self.scope.clone(),
        })
    }
}

/// Returns the error about a missing folder. If the user typed the name of a cookbook, it has the cookbook's path.
fn absent(folder: &Path, directories: &[PathBuf], source: std::io::Error) -> CheckError {
    let usual = Path::new(USUAL_DIRECTORY);
    let all = directories.iter().map(PathBuf::as_path).chain([usual]);
    let found = all.map(|directory| directory.join(folder)).find(|place| is_cookbook(place));
    CheckError::Absent { folder: folder.to_owned(), found, source }
}

/// Checks cookbooks. With a run list (`recipe[web]`, `web::site`, several with commas) only the parts that it reaches are
/// checked. `node` is the platform to check, with its family; empty: all Linux platforms. `automatic` are the names of the
/// facts that a node has: `platform`, `ipaddress`.
///
/// # Errors
/// The run list has something else than recipes of these cookbooks, or no instance could be opened.
pub fn check(
    subject: &Subject,
    run_list: &[String],
    node: &[&str],
    automatic: &BTreeSet<String>,
    readers: &impl Readers,
) -> Result<Vec<Report>, CheckError> {
    let recipes = reach::recipes(run_list)?;
    let names: Vec<String> =
        recipes.iter().map(|recipe| recipe.split("::").next().unwrap_or_default().to_owned()).collect();
    let wanted = if recipes.is_empty() { Wanted::Folders(&subject.folders) } else { Wanted::Named(&names) };
    let mut gathered = gather::gather(&subject.files, &wanted, readers)?;
    let is_asked = |one: &Gathered| subject.folders.contains(&one.folder);
    if !node.is_empty() {
        gathered.iter_mut().for_each(|one| elsewhere::mark_families(one, node));
    }
    if !recipes.is_empty() {
        gathered = reach::follow(gathered, &recipes)?;
        if !gathered.iter().any(is_asked) {
            return Err(CheckError::NotReached);
        }
    }
    let beside = All::of(&subject.files);
    let report = |one| Report::of(one, &gathered, &beside, automatic, &subject.scope);
    Ok(gathered.iter().filter(|one| is_asked(one)).map(report).collect())
}

fn is_cookbook(place: &Path) -> bool {
    ["metadata.rb", "metadata.json"].iter().any(|file| place.join(file).is_file())
}

fn holds_cookbooks(place: &Path) -> bool {
    CookbookFolders::open(&[place.to_owned()])
        .is_ok_and(|inside| inside.names().any(|name| inside.place(name).is_some_and(is_cookbook)))
}
