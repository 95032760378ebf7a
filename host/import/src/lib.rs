//! Imports from Chef: a Chef repository becomes policies, and a client.rb becomes settings.
//!
//! ```text
//! repository      reads a Chef repository: roles, environments, cookbooks, data bags
//! berksfile       what a Berksfile and its lock say
//! policies        a Policyfile for each role, with its grants
//! layers          a layer for each environment
//! unsaid          what a file says and nothing takes
//! ruby            values as a Policyfile writes them
//! write           the new files, without overwriting
//! client          a client.rb as settings
//! ```
//!
//! The repository is untrusted, so its Ruby code is evaluated by instances of the Ruby runtime without grants. This crate
//! prints nothing; each part that cannot be imported becomes a [`Note`].

mod berksfile;
mod client;
mod layers;
mod policies;
mod repository;
mod ruby;
mod unsaid;
mod write;

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

pub use client::{ClientSettings, Left, Taken, client_settings};
pub use write::{Output, WriteError, Written, write};

use author::check::Readers;

/// A file that the import writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Its path below the output folder.
    pub path: PathBuf,
    /// The content of the file.
    pub text: String,
}

/// A message about the repository for the user.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// Whether this part would fail. Otherwise it works differently, or the user must handle it.
    pub is_problem: bool,
    /// The place in the repository, such as `roles/web.rb`.
    pub place: String,
    /// A sentence with advice. It may contain text from the repository, so it must be escaped before it is displayed.
    pub what: String,
}

impl Note {
    fn problem(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { is_problem: true, place: place.into(), what: what.into() }
    }

    fn hint(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { is_problem: false, ..Self::problem(place, what) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.what)
    }
}

/// The result of importing a Chef repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The new files, by path.
    pub files: Vec<NewFile>,
    /// The names of the policies.
    pub policies: Vec<String>,
    /// The names of the layers.
    pub layers: Vec<String>,
    /// Messages: first the problems, then the differences.
    pub notes: Vec<Note>,
}

/// The reasons why nothing can be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A folder or a file cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// The folder or the file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A folder without roles and cookbooks.
    #[error("{} is not a Chef repository: it has neither roles/ nor cookbooks/{}", folder.display(), if *is_cookbook { "; it is a cookbook, so name the repository that it is in" } else { "" })]
    NotARepository {
        /// The folder that the caller named.
        folder: PathBuf,
        /// Whether the folder contains the metadata of a cookbook.
        is_cookbook: bool,
    },
    /// No instance of the Ruby runtime could be opened.
    #[error("the Ruby runtime cannot be started")]
    Ruby(#[source] Box<dyn Error + Send + Sync>),
    /// The generated grants cannot be parsed, which is a bug in wrun.
    #[error("the suggested grants cannot be used")]
    Grants(#[from] grants::GrantsError),
}

/// Reads a Chef repository and returns the files for the folder `output`, without writing them. `facts` are the names of a
/// node's facts.
///
/// # Errors
/// The folder is not a Chef repository, or no instance of the Ruby runtime could be opened.
pub fn import(
    folder: &Path,
    output: &Path,
    facts: &BTreeSet<String>,
    readers: &impl Readers,
) -> Result<Import, ImportError> {
    let (repository, mut notes) = repository::read(folder, readers)?;
    let layers = layers::layers(&repository, &mut notes);
    let policies = policies::policies(&repository, output, facts, readers, &mut notes)?;
    let mut files: Vec<NewFile> = layers.iter().map(|(_, file)| file.clone()).collect();
    files.extend(policies.files);
    let layers: Vec<String> = layers.into_iter().map(|(name, _)| name).collect();
    files.push(settings(&layers, repository.has_data_bags()));
    notes.sort_by(|one, other| (!one.is_problem, &one.place).cmp(&(!other.is_problem, &other.place)));
    notes.dedup();
    files.push(report(&policies.names, &layers, &notes));
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(Import { files, policies: policies.names, layers, notes })
}

/// Returns a file with the settings that layers and data bags need.
fn settings(layers: &[String], has_data_bags: bool) -> NewFile {
    let mut text =
        "# Settings for nodes, made by `wrun policy import`. Copy layers/ to /etc/wrun/layers on the nodes.\n"
            .to_owned();
    if has_data_bags {
        text.push_str("\n# Copy the repository's data_bags/ there.\ndata_bags = \"/etc/wrun/data_bags\"\n");
    }
    for layer in layers {
        let file = text::toml_string(&format!("/etc/wrun/layers/{layer}.json"));
        text.push_str(&format!("\n[layers.{}]\nfiles = [{file}]\n", text::toml_key(layer)));
    }
    NewFile { path: "wrun.toml".into(), text }
}

/// Returns a file for people with the list of the results and problems.
fn report(policies: &[String], layers: &[String], notes: &[Note]) -> NewFile {
    let list = |title: &str, lines: Vec<String>| match lines.is_empty() {
        true => String::new(),
        false => format!("\n## {title}\n\n{}\n", lines.join("\n")),
    };
    let lines = |problems: bool| {
        let of_kind = notes.iter().filter(|note| note.is_problem == problems);
        of_kind
            .map(|note| format!("- `{}`: {}", text::escape_line(&note.place), text::escape_line(&note.what)))
            .collect()
    };
    let policy =
        |name: &String| format!("- `policies/{name}/Policyfile.rb`: lock it with `wrun policy install` in its folder");
    let layer = |name: &String| format!("- `layers/{name}.json`: for the policy group `{name}`");
    let mut text = "# Imported from Chef\n\nMade by `wrun policy import`. Read `grants.toml` before you use it: it is what each policy may do.\n".to_owned();
    text.push_str(&list("What would not work", lines(true)));
    text.push_str(&list("What to look at", lines(false)));
    text.push_str(&list("Policies", policies.iter().map(policy).collect()));
    text.push_str(&list("Layers", layers.iter().map(layer).collect()));
    NewFile { path: "import.md".into(), text }
}
