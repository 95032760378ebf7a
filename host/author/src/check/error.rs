//! The reasons why cookbooks cannot be checked.

use crate::AuthorError;
use crate::folders::FoldersError;
use node::run_list::RunListError;
use std::error::Error;
use std::path::{Path, PathBuf};

/// The reasons why cookbooks cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The folder does not exist, or cannot be looked at.
    #[error("there is no cookbook at {}{}", folder.display(), where_to_look(folder, found.as_deref()))]
    Absent {
        /// The folder as it was typed.
        folder: PathBuf,
        /// The path of a cookbook with that name in a directory of cookbooks.
        found: Option<PathBuf>,
        /// The system's error about the folder.
        source: std::io::Error,
    },
    /// A folder without metadata.
    #[error("{} is not a cookbook: it has neither metadata.rb nor metadata.json{}", place.display(), hint(around.as_deref()))]
    NotACookbook {
        /// The folder without metadata, as an absolute path without links.
        place: PathBuf,
        /// The cookbook that the folder lies in.
        around: Option<PathBuf>,
    },
    /// A policy's folder without cookbooks in Ruby.
    #[error(
        "the policy in {} has no cookbooks in Ruby, which this command checks{}", place.display(),
        if *has_rust { "; `wrun policy build` checks those in Rust" } else { "" }
    )]
    NoRuby {
        /// The folder of the policy.
        place: PathBuf,
        /// Whether it has cookbooks in Rust.
        has_rust: bool,
    },
    /// The `policy.toml` of a policy's folder cannot be used.
    #[error(transparent)]
    Policy(Box<AuthorError>),
    /// A directory of roles or environments cannot be read.
    #[error("{}s cannot be read from {}", kind, folder.display())]
    Documents {
        /// The kind of object: `role` or `environment`.
        kind: &'static str,
        /// The directory, or one below it.
        folder: PathBuf,
        /// The system's error about the directory.
        source: std::io::Error,
    },
    /// The root directory, which gives a cookbook no name.
    #[error("{} cannot be checked: a cookbook's directory has a name", .0.display())]
    Nameless(PathBuf),
    /// The name of a folder is not UTF-8 text.
    #[error("the name of a cookbook's directory must be UTF-8: {}", .0.display())]
    NotText(PathBuf),
    /// The name begins with a dot, so tools do not list it.
    #[error("the name of a cookbook's directory must not begin with a dot: {0}")]
    Hidden(String),
    /// The directory should contain cookbooks, but is a cookbook itself.
    #[error("{} is a cookbook: name the directory above it", .0.display())]
    IsCookbook(PathBuf),
    /// No directory holds a cookbook.
    #[error("no cookbook was found in {}: none of its directories has metadata", shown(.0))]
    NoCookbooks(Vec<PathBuf>),
    /// A directory of cookbooks cannot be read.
    #[error(transparent)]
    Folders(#[from] FoldersError),
    /// The run list is invalid.
    #[error(transparent)]
    RunList(#[from] RunListError),
    /// The run list has a role.
    #[error("--run-list takes recipes: name those of the role {0} instead")]
    Role(String),
    /// The run list names a cookbook that does not exist.
    #[error("the run list's cookbook {name} is not in the given directories{advice}")]
    NoCookbook {
        /// The name of the cookbook.
        name: String,
        /// A near name, or nothing.
        advice: String,
    },
    /// The run list names a recipe that its cookbook does not have.
    #[error("the cookbook {cookbook} does not have the run list's recipe {recipe}{advice}")]
    NoRecipe {
        /// The name of the cookbook without the recipe.
        cookbook: String,
        /// The recipe as the run list has it.
        recipe: String,
        /// A near name, or nothing.
        advice: String,
    },
    /// The run list does not reach any of the cookbooks to check.
    #[error("the run list does not reach the cookbook")]
    NotReached,
    /// Too many files made their Ruby instance fail.
    #[error("the sandbox was lost over {0} files of the cookbook")]
    Lost(usize),
    /// No instance could be opened.
    #[error(transparent)]
    Reader(Box<dyn Error + Send + Sync>),
}

impl From<AuthorError> for CheckError {
    fn from(error: AuthorError) -> Self {
        Self::Policy(Box::new(error))
    }
}

fn hint(around: Option<&Path>) -> String {
    around.map(|around| format!("; it lies in the cookbook {}", around.display())).unwrap_or_default()
}

fn shown(directories: &[PathBuf]) -> String {
    directories.iter().map(|directory| directory.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns the end of the message: the folder that was looked for, and the path to type.
fn where_to_look(folder: &Path, found: Option<&Path>) -> String {
    match found {
        Some(found) => format!(": a cookbook is named by its directory; did you mean {}?", found.display()),
        None if folder.is_relative() => {
            ": this is the path of a directory, from the working directory; name the cookbook's".to_owned()
        }
        None => String::new(),
    }
}
