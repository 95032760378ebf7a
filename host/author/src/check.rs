//! Checks cookbooks in Ruby before any run: finds what they need from a node, and parts of them that would not work.
//!
//! ```text
//! facts       what the Ruby library finds in one file: it parses the text and evaluates only metadata
//! gather      reads cookbooks and those that they depend on
//! reach       leaves what a run list reaches
//! subject     which cookbooks are meant, and where those lie that they depend on
//! documents   the attributes that roles and environments set
//! judge       the findings, with files, own_types, notifications, unset, elsewhere and beside
//! brought     the names that the cookbooks define, and verdict, what is said of one place
//! left_out    counts the checks that could not be made
//! needs       what cookbooks ask of a node, with the table composed
//! suggest     needs as entries of the operator's grants
//! rest        the needs of a recipe's text after a line
//! ```
//!
//! This crate cannot start Ruby. Callers implement [`Readers`], which opens Ruby instances.

mod beside;
mod brought;
mod command_context;
mod composed;
mod documents;
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
mod required;
mod rest;
mod shapes;
mod subject;
mod suggest;
mod typos;
mod unset;
mod verdict;

pub use documents::{DocumentFolders, Unread};
pub use error::CheckError;
pub use judge::Finding;
pub use left_out::LeftOut;
pub use needs::{Kind, Need, Needs};
pub use rest::{Entry, Line, MAX_REST_FILES, Rest, RestReader};
pub use subject::Subject;
pub use suggest::{additions, grant_keys, table};

use beside::{All, Beside};
use contract::{CookbookFiles, Failure, Question};
use gather::{Gathered, Wanted};
use judge::Judgement;
use serde_json::Value;
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use subject::Scope;

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
        let names: Vec<String> = subject.files.cookbooks().into_iter().map(|(name, _)| name).collect();
        gathered = reach::follow(gathered, &recipes, &names)?;
        if !gathered.iter().any(is_asked) {
            return Err(CheckError::NotReached);
        }
    }
    let beside = All::of(&subject.files);
    let report = |one| Report::of(one, &gathered, &beside, automatic, &subject.scope);
    Ok(gathered.iter().filter(|one| is_asked(one)).map(report).collect())
}
