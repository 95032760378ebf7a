//! The reasons why a run cannot begin. Nothing has been changed.

use artifact::ArtifactError;
use author::folders::FoldersError;
use author::gems::GemsError;
use contract::Failure;
use facts::FactsError;
use grants::GrantsError;
use node::object::ObjectError;
use node::run_list::RunListError;
use node::saved_filter::FilterError;
use repository::RepositoryError;
use resolve::asked_run_lists::AskedRunListError;
use resolve::run_list_choice::RunListChoiceError;
use sandbox::SandboxError;
use state::{Holder, StateError};
use std::io;
use std::path::{Path, PathBuf};

use crate::grants_files::GrantsFilesError;
use crate::layers::LayersError;
use crate::runtime::RuntimeError;
use crate::saved_node::SavedNodeError;

/// The reason why a run cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// A test run, with a stand-in for the machine, could reach the real machine.
    #[error("a test is a dry run below a root of its own, with given facts")]
    StandIn,
    /// A signal stopped a test before it began.
    #[error("the test was stopped")]
    TestStopped,
    /// The folder of a test cannot be written.
    #[error("{} cannot be written for the test", path.display())]
    TestPlace {
        /// The path that was tried.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The result of a test cannot be written as JSON.
    #[error("what came of the test is not JSON")]
    TestOutcome(#[source] serde_json::Error),
    /// A file that a setting or option names cannot be read.
    #[error("{what} {} cannot be read", path.display())]
    Read {
        /// The kind of file, such as `the attributes file`.
        what: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A directory cannot be read.
    #[error("cannot read {}", path.display())]
    ReadDirectory {
        /// The path of the directory.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Roles or environments cannot be read.
    #[error("{kind}s cannot be read from {}", folder.display())]
    Documents {
        /// The kind of object: `role` or `environment`.
        kind: &'static str,
        /// The path of the directory.
        folder: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The setting `data_bags` does not name a directory.
    #[error("data bags cannot be read from {}: {why}", folder.display())]
    DataBags {
        /// The path of the setting.
        folder: PathBuf,
        /// A clause about the part of its path that is missing or not a directory.
        why: String,
    },
    /// The file of a data bags' secret is empty.
    #[error("the secret {} is empty", path.display())]
    EmptySecret {
        /// The file that should have it.
        path: PathBuf,
    },
    /// The file of JSON attributes is not valid JSON.
    #[error("{}:{}: {why}", path.display(), why.line())]
    JsonAttributes {
        /// The path of the file.
        path: PathBuf,
        /// The mistake and its place.
        why: serde_json::Error,
    },
    /// The JSON attributes have a value that is not allowed in a node.
    #[error("the attributes file {} cannot be used", path.display())]
    Attributes {
        /// The path of the file.
        path: PathBuf,
        /// The mistake and its place.
        source: ObjectError,
    },
    /// Neither an option nor a setting names a policy, and none is assigned to the node.
    #[error(
        "which policies? name them with --policy-name, set `policy_name` in the settings, or assign them to the node with \
         `wrun node policy set`; --cookbooks runs folders"
    )]
    NoPolicies,
    /// The run's list of policies has one name twice.
    #[error("policy {policy} is named twice, the second time as number {number}")]
    PolicyTwice {
        /// The name of the policy.
        policy: String,
        /// The number of the second mention, from 1.
        number: usize,
    },
    /// Neither a setting nor the machine gives the node a name.
    #[error("this machine has no name; give the node one by --node-name")]
    NoNodeName,
    /// The settings name a repository, but the node's policy group is unknown.
    #[error(
        "which policy group is this node in? name it with --policy-group, as `{policy}@GROUP`, or set `policy_group` in the \
         settings"
    )]
    NoGroup {
        /// A policy without one.
        policy: String,
    },
    /// The operator chooses a revision of a policy that is not run, or without a repository.
    #[error("`--revision {policy}=..` chooses a revision of a policy that the run takes from a repository, and {why}")]
    NoSuchChoice {
        /// The name of the policy.
        policy: String,
        /// The reason, as the end of a sentence.
        why: &'static str,
    },
    /// The operator names a policy group, but there is neither a repository nor a folder of artifacts.
    #[error(
        "there is a policy group ({group}) and no repository that could have it; name the repository with --repository or \
         `repository` in the settings (without one, artifacts are looked for in {})", folder.display()
    )]
    GroupWithoutRepository {
        /// The name of the policy group.
        group: String,
        /// The folder of artifacts, which is not there.
        folder: PathBuf,
    },
    /// No release can be taken from the repository.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The thread that gathers facts ended without a result.
    #[error("the machine's facts could not be gathered")]
    NoFacts,
    /// The system clock's time is outside of the calendar's years.
    #[error("the clock's time is not a date")]
    Clock(#[source] jiff::Error),
    /// wrun cannot find its own program, and so cannot protect it.
    #[error("wrun cannot tell where its own program lies, and so cannot protect it from policies (is /proc mounted?)")]
    OwnProgram(#[source] io::Error),
    /// A directory that a real run writes to is not writable.
    #[error(
        "`{key}` {} cannot be written to; name another folder in the settings or with {variable}",
        folder.display()
    )]
    OwnFolder {
        /// The setting that names the directory.
        key: &'static str,
        /// The environment variable of the setting.
        variable: &'static str,
        /// The path of the directory.
        folder: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// An option has a run list with an invalid item.
    #[error("{option}")]
    RunListOption {
        /// The option, such as `--run-list`.
        option: &'static str,
        /// The mistake and its place.
        source: RunListError,
    },
    /// A policy's run list is invalid.
    #[error(transparent)]
    RunList(#[from] RunListError),
    /// A run list of the command line names a policy that is not in the run, or is invalid.
    #[error(transparent)]
    AskedRunList(#[from] AskedRunListError),
    /// A policy does not have the run list that was asked for, or a cookbook that it names.
    #[error(transparent)]
    RunListChoice(#[from] RunListChoiceError),
    /// The state directory cannot be opened.
    #[error(transparent)]
    StateDirectory(StateError),
    /// A file of the state directory cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// The node that an earlier run saved is damaged or of another node.
    #[error(transparent)]
    SavedNode(#[from] SavedNodeError),
    /// The setting that says which attributes are saved is invalid.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The node object refuses a value.
    #[error(transparent)]
    Node(#[from] ObjectError),
    /// The files of grants cannot be read.
    #[error(transparent)]
    GrantsFiles(#[from] GrantsFilesError),
    /// The grants are invalid.
    #[error(transparent)]
    Grants(#[from] GrantsError),
    /// The artifact of a policy cannot be read, or is damaged.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The Ruby runtime is not installed, or cannot be used.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The Wasm engine cannot start, or refuses a runtime.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The machine's facts cannot be gathered, or the file of facts cannot be read.
    #[error(transparent)]
    Facts(#[from] FactsError),
    /// Cookbooks in folders cannot be read.
    #[error(transparent)]
    Folders(#[from] FoldersError),
    /// A directory of gems cannot be used.
    #[error(transparent)]
    Gems(#[from] GemsError),
    /// Environment files cannot be used as layers.
    #[error(transparent)]
    Layers(#[from] LayersError),
    /// The node's layers cannot be saved.
    #[error("the layers of the node cannot be saved")]
    NotSaved(#[source] Failure),
    /// The Ruby instance that answers questions about cookbooks failed to start.
    #[error(transparent)]
    Questions(#[from] Failure),
}

impl AssembleError {
    /// Tells whether another run holds the lock.
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::State(StateError::Locked { .. }))
    }

    /// Returns the process that holds the lock, as it describes itself, if the run did not begin because of it.
    pub fn holder(&self) -> Option<&Holder> {
        match self {
            Self::State(StateError::Locked { holder, .. }) => holder.as_ref(),
            _ => None,
        }
    }

    /// Tells whether the run was asked to stop while it waited for the lock.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::State(StateError::Interrupted))
    }

    /// Tells whether this user may not write to the state directory.
    pub fn is_forbidden_state(&self) -> bool {
        matches!(self, Self::StateDirectory(error) if error.is_forbidden())
    }
}

/// Returns the file with the line that raised, such as `prod.rb:3`. The line is left out if the failure's message has it.
pub(crate) fn place_in(path: &Path, failure: &Failure) -> String {
    let file = path.display().to_string();
    let is_said = failure.to_string().starts_with(&format!("{file}:"));
    let frames = failure.backtrace().iter().filter(|_| !is_said);
    let mut lines = frames.filter_map(|frame| frame.strip_prefix(&file)?.strip_prefix(':')?.split(':').next());
    let line = lines.find(|line| line.parse::<u32>().is_ok());
    line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
}
