//! The source of a policy's code, its cookbooks' files and its data: an artifact, or folders on this machine.

use crate::releases::Admitted;
use crate::runtime::{self, Runtime, RuntimeError};
use crate::settings::Settings;
use artifact::Artifact;
use artifact::Language;
use artifact::gems::{Gems, WithGems};
use contract::{Account, CookbookFiles, Data};
use grants::PolicyGrants;
use machine::data::{DataFolders, FolderData, NoData};
use sandbox::Code;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The source of a policy's code and files.
pub(crate) enum Source {
    /// An artifact that its team released.
    Released(Released),
    /// Cookbooks in folders on this machine.
    Folders(Folders),
}

/// A policy's artifact, and the runtime that its Ruby cookbooks need. It can be made only from an admitted artifact.
pub(crate) struct Released {
    artifact: Artifact,
    runtime: Option<Arc<Runtime>>,
    /// The operator's data bags, if there are any.
    data: Option<Arc<DataFolders>>,
}

impl Released {
    /// Finds the runtime that an artifact needs.
    ///
    /// # Errors
    /// The runtime that it was built for is not there.
    pub(crate) fn new(
        admitted: Admitted,
        data: Option<Arc<DataFolders>>,
        settings: &Settings,
    ) -> Result<Self, RuntimeError> {
        let artifact = admitted.artifact().clone();
        let runtime = match &artifact.manifest().runtime {
            artifact::Runtime::Rust => None,
            artifact::Runtime::Shared { name, digest } => {
                let folder = settings.runtime_dir.as_deref();
                Some(Arc::new(Runtime::find_exact(folder, name, digest)?))
            }
        };
        Ok(Self { artifact, runtime, data })
    }

    /// Returns an artifact on its author's machine, which only answers questions and is not run. It does not have any grants.
    pub(crate) fn for_questions(artifact: Artifact) -> Self {
        Self { artifact, runtime: None, data: None }
    }
}

/// Cookbooks in folders, on the runtime of their language.
pub(crate) struct Folders {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) files: Arc<dyn CookbookFiles>,
    /// All cookbooks of the folders, also those that no run list names. A run does not see them.
    pub(crate) at_hand: Arc<dyn CookbookFiles>,
    pub(crate) gems: Arc<Gems>,
    pub(crate) data: Arc<DataFolders>,
}

impl Folders {
    /// Cookbooks alone: for questions that are asked before a run.
    pub(crate) fn new(runtime: Arc<Runtime>, files: Arc<dyn CookbookFiles>) -> Self {
        Self { runtime, at_hand: Arc::clone(&files), files, gems: Arc::default(), data: Arc::default() }
    }
}

impl Source {
    /// The policy's own component, if it has code of its own.
    pub(crate) fn own_code(&self) -> Option<Code<'_>> {
        match self {
            Self::Released(Released { artifact, .. }) if artifact.manifest().has_own_code() => {
                Some(Code::Own { bytes: artifact.component(), digest: Some(artifact.component_digest()) })
            }
            _ => None,
        }
    }

    /// The bytes of its artifact, which stay in memory during the whole run.
    pub(crate) fn artifact_bytes(&self) -> u64 {
        match self {
            Self::Released(released) => released.artifact.bytes().len() as u64,
            Self::Folders(_) => 0,
        }
    }

    /// The runtime of its Ruby cookbooks, if it has any.
    pub(crate) fn runtime(&self) -> Option<&Runtime> {
        match self {
            Self::Released(released) => released.runtime.as_deref(),
            Self::Folders(folders) => Some(&folders.runtime),
        }
    }

    /// Returns the runtime of its Ruby cookbooks as a shared pointer.
    pub(crate) fn shared_runtime(&self) -> Option<Arc<Runtime>> {
        match self {
            Self::Released(released) => released.runtime.clone(),
            Self::Folders(folders) => Some(Arc::clone(&folders.runtime)),
        }
    }

    /// Whether a cookbook of the policy is in Ruby.
    pub(crate) fn has_ruby(&self, cookbook: &str) -> bool {
        matches!(self, Self::Folders(_)) || self.ruby_cookbooks().contains(cookbook)
    }

    /// Returns the names of its Ruby cookbooks, if it also has cookbooks in Rust.
    pub(crate) fn ruby_cookbooks(&self) -> BTreeSet<String> {
        let Self::Released(Released { artifact, .. }) = self else { return BTreeSet::new() };
        let cookbooks = artifact.manifest().cookbooks.iter();
        cookbooks.filter(|one| one.language == Language::Ruby).map(|one| one.name.clone()).collect()
    }

    /// Returns the files of the cookbooks.
    pub(crate) fn files(&self, settings: &Settings) -> Arc<dyn CookbookFiles> {
        let files: Arc<dyn CookbookFiles> = match self {
            Self::Released(Released { artifact, runtime: None, .. }) => return Arc::new(artifact.clone()),
            Self::Released(Released { artifact, .. }) => Arc::new(artifact.clone()),
            Self::Folders(folders) if folders.gems.is_empty() => Arc::clone(&folders.files),
            Self::Folders(folders) => Arc::new(WithGems::new(Arc::clone(&folders.files), Arc::clone(&folders.gems))),
        };
        runtime::with_library(files, settings.ruby_library.as_deref())
    }

    /// Returns the files of the cookbooks that its own could depend on.
    pub(crate) fn at_hand(&self, settings: &Settings) -> Arc<dyn CookbookFiles> {
        match self {
            Self::Released(_) => self.files(settings),
            Self::Folders(folders) => Arc::clone(&folders.at_hand),
        }
    }

    /// Returns the operator's data that the policy may read.
    pub(crate) fn data(&self, grants: &Arc<PolicyGrants>, account: &Account) -> Box<dyn Data> {
        let data = match self {
            Self::Released(released) => released.data.as_ref(),
            Self::Folders(folders) => Some(&folders.data),
        };
        match data {
            Some(data) => Box::new(FolderData::new(Arc::clone(grants), Arc::clone(data), account.clone())),
            None => Box::new(NoData::new(Arc::clone(grants))),
        }
    }
}
