//! The errors of Policyfiles and their locks.

use std::path::PathBuf;

use artifact::lock::InvalidAttribute;
use contract::Failure;
use policyfile::compile::CompileError;
use policyfile::lock::InvalidLock;
use policyfile::model::Problem;

use super::git::GitError;

/// The reasons why a Policyfile or a lock cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyfileError {
    /// There is no Policyfile.
    #[error("Policyfile not found at path {}", path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is no lock.
    #[error("No lockfile at {}; `wrun policy install {}` writes it", path.display(), locked_file(path))]
    NoLock {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A policy is named by something that is not there.
    #[error("no policy at {}: {missing}", path.display())]
    NoSuchPlace {
        /// The path as it was named.
        path: PathBuf,
        /// A clause about the part of the path that is missing.
        missing: String,
    },
    /// A policy is named by a folder without any of its files.
    #[error("{} is not a policy's folder: it has neither a policy.toml nor a Policyfile.rb; start one with `wrun policy new`", path.display())]
    NotAPolicy {
        /// The path of the folder.
        path: PathBuf,
    },
    /// A policy is named by a file of another kind.
    #[error("a policy is named by its folder, its policy.toml, its Policyfile (.rb) or its lock (.lock.json), not by {}", path.display())]
    FileName {
        /// The path that has that name.
        path: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file or folder is larger than may be read.
    #[error("{} has more than {limit} {of}", path.display())]
    TooMuch {
        /// The path of the file.
        path: PathBuf,
        /// The most bytes that are read.
        limit: u64,
        /// The things that are too many: bytes or files.
        of: &'static str,
    },
    /// A file's name is not text.
    #[error("{:?} has a name that is not UTF-8: give it another name, or remove it", path)]
    NotText {
        /// The file or folder.
        path: PathBuf,
    },
    /// A link in a cookbook leads to something outside of it.
    #[error(
        "the link {} leads out of the cookbook in {}: put the file itself there, or name the link in the cookbook's chefignore",
        path.display(), cookbook.display()
    )]
    LeadsOut {
        /// The path of the link.
        path: PathBuf,
        /// The folder of the cookbook.
        cookbook: PathBuf,
    },
    /// A Policyfile, a lock or a cookbook's folder is a link that leads out of its folder.
    #[error(
        "{} is a link that leads out of {}: put what it leads to there, since wrun would read what the policy does not have",
        path.display(), folder.display()
    )]
    LeadsAway {
        /// The path of the link.
        path: PathBuf,
        /// The folder that it leads out of.
        folder: PathBuf,
    },
    /// The Policyfile has errors.
    #[error("{}", listed(file, problems))]
    Problems {
        /// The path of the Policyfile.
        file: PathBuf,
        /// All errors that were found.
        problems: Vec<Problem>,
    },
    /// Evaluating the Policyfile raised an exception.
    #[error("{}: {}{}", place(file, *line), raised(failure), quoted(*line, code))]
    Raised {
        /// The path of the Policyfile.
        file: PathBuf,
        /// The line, where it is known.
        line: Option<u32>,
        /// The text of that line.
        code: String,
        /// The exception that the code raised.
        failure: Box<Failure>,
    },
    /// A lock is malformed or inconsistent.
    #[error("{}{}", of_lock(place, invalid), remedy.words())]
    Lock {
        /// The lock's path or address.
        place: String,
        /// What is wrong with the lock.
        invalid: InvalidLock,
        /// A remedy, as a sentence.
        remedy: Remedy,
    },
    /// No lock can be made.
    #[error("{}: {error}{hint}", file.display())]
    Compile {
        /// The path of the Policyfile.
        file: PathBuf,
        /// The reason. It is part of the message.
        error: Box<CompileError>,
        /// A hint, as a further line. Empty without a hint.
        hint: String,
    },
    /// An attribute cannot be in a lock.
    #[error(transparent)]
    Attribute(#[from] InvalidAttribute),
    /// A folder is not a cookbook.
    #[error("{} is not a cookbook: it has no metadata.rb and no metadata.json", path.display())]
    NotACookbook {
        /// The path of the folder.
        path: PathBuf,
    },
    /// A cookbook's metadata cannot be used.
    #[error("the metadata of the cookbook in {}: {what}", path.display())]
    Metadata {
        /// The folder of the cookbook.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A folder has another cookbook than the expected one.
    #[error("{0}")]
    Cookbook(String),
    /// The lock does not match its policy any more.
    #[error(
        "{} no longer fits what it locks:\n{}\n`wrun policy update` locks what is there now",
        lock.display(), differences.iter().map(|one| format!("- {one}")).collect::<Vec<_>>().join("\n")
    )]
    Outdated {
        /// The path of the lock.
        lock: PathBuf,
        /// Each difference, as a sentence without a period.
        differences: Vec<String>,
    },
    /// A folder of a policy is wrong.
    #[error(transparent)]
    Author(#[from] crate::policy::AuthorError),
    /// The program git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A policy cannot be included.
    #[error("{}: include_policy {name:?}: {what}", place(file, Some(*line)))]
    Include {
        /// The Policyfile or policy.toml.
        file: PathBuf,
        /// The line that includes it, from 1.
        line: u32,
        /// The name of the policy.
        name: String,
        /// The reason, as a sentence.
        what: String,
    },
    /// The folder for an export has something in it.
    #[error(
        "Export dir ({}) not clean. Refusing to export. (Conflicting files: {})\nUse --force to force export",
        folder.display(), found.join(", ")
    )]
    NotEmpty {
        /// The path of the folder.
        folder: PathBuf,
        /// What is in it.
        found: Vec<String>,
    },
    /// The folder for an export has files that are not an export's.
    #[error(
        "{} would be replaced by the export, and {} has no earlier export: name another folder",
        found.join(", "), folder.display()
    )]
    NoExport {
        /// The folder that was to be exported to.
        folder: PathBuf,
        /// The files that would be replaced.
        found: Vec<String>,
    },
    /// A cookbook of the Policyfile is not available.
    #[error("{}: cookbook {name:?} from {origin}: {what}", place(file, Some(*line).filter(|line| *line > 0)))]
    Source {
        /// The Policyfile, policy.toml or lock.
        file: PathBuf,
        /// The line that names the cookbook, from 1; 0 where that is not known.
        line: u32,
        /// The name of the cookbook.
        name: String,
        /// The folder or the repository, as written.
        origin: String,
        /// The reason, as a sentence without a period.
        what: String,
    },
    /// The runtime that evaluates Ruby could not be opened.
    #[error("cannot evaluate Ruby")]
    Ruby(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The remedy for an invalid lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The lock is the policy's own: `wrun policy update` replaces it.
    Update,
    /// The lock belongs to an included policy, which has to be updated.
    UpdateIncluded,
    /// The lock is part of an archive, which has to be exported again.
    Export,
    /// There is no remedy: the lock is only compared.
    Nothing,
}

impl Remedy {
    /// The sentence after the message.
    fn words(self) -> &'static str {
        match self {
            Self::Update => "\n`wrun policy update` makes the lock anew; your version control has it as it was",
            Self::UpdateIncluded => "\n`wrun policy update` in the included policy makes the lock anew",
            Self::Export => "\n`wrun policy export -a` where the policy is locked makes the archive anew",
            Self::Nothing => "",
        }
    }
}

impl PolicyfileError {
    pub(super) fn read(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::Read { path, source }
    }

    pub(super) fn write(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::Write { path, source }
    }
}

/// Returns the file that a lock belongs to, such as `Policyfile.rb`.
fn locked_file(lock: &std::path::Path) -> String {
    let text = lock.display().to_string();
    let stem = text.strip_suffix(".lock.json").unwrap_or(&text);
    let ending = if lock.ends_with(super::FOLDER_LOCK) { "toml" } else { "rb" };
    format!("{stem}.{ending}")
}

fn place(file: &std::path::Path, line: Option<u32>) -> String {
    line.map_or_else(|| file.display().to_string(), |line| format!("{}:{line}", file.display()))
}

/// What is wrong with a lock, one line for each.
pub(super) fn of_lock(lock: &str, invalid: &InvalidLock) -> String {
    let is_file = std::path::Path::new(lock).is_absolute();
    let one = |(line, what): (Option<usize>, String)| match line {
        Some(line) if is_file => format!("{lock}:{line}: {what}"),
        Some(line) => format!("{lock}, line {line}: {what}"),
        None => format!("{lock}: {what}"),
    };
    invalid.lines().into_iter().map(one).collect::<Vec<_>>().join("\n")
}

fn listed(file: &std::path::Path, problems: &[Problem]) -> String {
    let one = |problem: &Problem| {
        let line = Some(problem.line).filter(|line| *line > 0);
        format!("{}: {}", place(file, line), problem.what)
    };
    problems.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn raised(failure: &Failure) -> String {
    let text = failure.to_string();
    // There are no grants for this Ruby code, so hints about grants are left out.
    let of_grants = |line: &&str| line.starts_with("to allow it:") || line.starts_with("the list of denials");
    let is_denied = text.lines().any(|line| of_grants(&line));
    let mut lines: Vec<&str> = text.lines().filter(|line| !of_grants(line)).collect();
    if is_denied {
        lines.push("a Policyfile sees its own folder and nothing else of the machine");
    }
    format!("{}: {}", failure.class(), lines.join("\n"))
}

/// Returns the code line that raised, for the line below the message.
fn quoted(line: Option<u32>, code: &str) -> String {
    match line {
        Some(line) if !code.is_empty() => format!("\n  {line}: {code}"),
        _ => String::new(),
    }
}
