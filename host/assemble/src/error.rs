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
use resolve::asked_run_lists::AskedRunListError;
use resolve::run_list_choice::RunListChoiceError;
use sandbox::SandboxError;
use state::StateError;
use std::io;
use std::path::PathBuf;

use crate::grants_files::GrantsFilesError;
use crate::runtime::RuntimeError;
use crate::saved_node::SavedNodeError;

/// The reason why a run cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// A file cannot be read.
    #[error("{what} {} cannot be read", path.display())]
    Read {
        /// The kind of file, such as `the attributes file`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A directory cannot be read.
    #[error("cannot read {}", path.display())]
    ReadDirectory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Roles or environments cannot be read.
    #[error("{kind}s cannot be read from {}", folder.display())]
    Documents {
        /// `role` or `environment`.
        kind: &'static str,
        /// The directory.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The setting `data_bags` does not name a directory.
    #[error("data bags cannot be read from {}: it is no folder", folder.display())]
    DataBags {
        /// The path of the setting.
        folder: PathBuf,
    },
    /// A secret for data bags is empty.
    #[error("the secret {} is empty", path.display())]
    EmptySecret {
        /// Its file.
        path: PathBuf,
    },
    /// The JSON attributes are not JSON.
    #[error("{}:{}: {why}", path.display(), why.line())]
    JsonAttributes {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: serde_json::Error,
    },
    /// The JSON attributes cannot be those of a node.
    #[error("the attributes file {} cannot be used", path.display())]
    Attributes {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ObjectError,
    },
    /// No policy is named.
    #[error(
        "which policies? name them with --policy-name, or set `policy_name` in the settings; --cookbooks runs folders"
    )]
    NoPolicies,
    /// A policy is named twice.
    #[error("policy {policy} is named twice, the second time as number {number}")]
    PolicyTwice {
        /// The policy's name.
        policy: String,
        /// The number of the second mention, from 1.
        number: usize,
    },
    /// The node has no name.
    #[error("this machine has no name; give the node one by --node-name")]
    NoNodeName,
    /// The thread that gathers facts ended early.
    #[error("the machine's facts could not be gathered")]
    NoFacts,
    /// The clock shows a time that no calendar has.
    #[error("the clock shows no time that a calendar has")]
    Clock(#[source] jiff::Error),
    /// wrun cannot find its own program, and so cannot protect it.
    #[error("wrun cannot tell where its own program lies, and so cannot protect it from policies (is /proc mounted?)")]
    OwnProgram(#[source] io::Error),
    /// A directory that every change needs cannot be written to.
    #[error(
        "`{key}` {} cannot be written to; name another folder in the settings or with {variable}",
        folder.display()
    )]
    OwnFolder {
        /// The setting's name.
        key: &'static str,
        /// The setting's variable.
        variable: &'static str,
        /// The directory.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An option has a run list with an invalid item.
    #[error("{option}")]
    RunListOption {
        /// The option, such as `--run-list`.
        option: &'static str,
        /// What is wrong.
        source: RunListError,
    },
    /// A policy's run list is invalid.
    #[error(transparent)]
    RunList(#[from] RunListError),
    /// A run list that was asked for is for no policy, or invalid.
    #[error(transparent)]
    AskedRunList(#[from] AskedRunListError),
    /// A policy has no run list to run.
    #[error(transparent)]
    RunListChoice(#[from] RunListChoiceError),
    /// The state directory cannot be opened.
    #[error(transparent)]
    StateDirectory(StateError),
    /// The state cannot be read or kept.
    #[error(transparent)]
    State(#[from] StateError),
    /// The saved node cannot be used.
    #[error(transparent)]
    SavedNode(#[from] SavedNodeError),
    /// The filter of saved attributes is invalid.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The node object refuses a value.
    #[error(transparent)]
    Node(#[from] ObjectError),
    /// The files of grants cannot be read.
    #[error(transparent)]
    GrantsFiles(#[from] GrantsFilesError),
    /// The grants have a mistake.
    #[error(transparent)]
    Grants(#[from] GrantsError),
    /// An artifact that the operator named cannot be had.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// A language's runtime cannot be had.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// The engine fails, or a runtime cannot be run.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The machine's facts cannot be had.
    #[error(transparent)]
    Facts(#[from] FactsError),
    /// Cookbooks in folders cannot be read.
    #[error(transparent)]
    Folders(#[from] FoldersError),
    /// A directory of gems cannot be used.
    #[error(transparent)]
    Gems(#[from] GemsError),
    /// An instance that is asked questions cannot be opened.
    #[error(transparent)]
    Questions(#[from] Failure),
}

impl AssembleError {
    /// Tells whether another run holds the lock.
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::State(StateError::Locked { .. }))
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
