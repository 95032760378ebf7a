//! Where a policy's code, its cookbooks' files and its data come from: an artifact, or folders on this machine.

use super::runtime::{self, Runtime};
use crate::settings::Settings;
use converge::{CookbookFiles, Data, Interfaces};
use grants::PolicyGrants;
use policy::{Artifact, CookbookFolders};
use providers::{DataFolders, FolderData, NoData};
use sandbox::Code;
use std::sync::Arc;

/// What a policy is made of.
pub(crate) enum Source {
    /// What its team released.
    Artifact(Artifact),
    /// Cookbooks that are run from where they lie.
    Folders(Folders),
}

/// Cookbooks in folders, on the runtime of their language.
pub(crate) struct Folders {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) files: Arc<CookbookFolders>,
    pub(crate) data: Arc<DataFolders>,
}

impl Source {
    /// The component to start.
    pub(crate) fn component(&self) -> Code<'_> {
        match self {
            Self::Artifact(artifact) => artifact.component().into(),
            Self::Folders(folders) => folders.runtime.component().into(),
        }
    }

    /// The cookbooks' files.
    pub(crate) fn files(&self, settings: &Settings) -> Arc<dyn CookbookFiles> {
        match self {
            Self::Artifact(artifact) => Arc::new(artifact.clone()),
            Self::Folders(folders) => {
                runtime::with_library(Arc::clone(&folders.files) as _, settings.ruby_library.as_deref())
            }
        }
    }

    /// The data that operators keep beside the cookbooks, within the policy's grants.
    pub(crate) fn data(&self, grants: &Arc<PolicyGrants>) -> Box<dyn Data> {
        match self {
            Self::Artifact(_) => Box::new(NoData::new(Arc::clone(grants))),
            Self::Folders(folders) => Box::new(FolderData::new(Arc::clone(grants), Arc::clone(&folders.data))),
        }
    }

    /// The memory that the component may have, if its policy's own code may use this much, in bytes.
    pub(crate) fn memory(&self, own: usize) -> usize {
        match self {
            Self::Artifact(_) => own,
            Self::Folders(folders) => folders.runtime.memory(own),
        }
    }

    /// Which interfaces the component is linked with: a language's runtime imports all, and each call is checked.
    pub(crate) fn interfaces(&self, granted: Interfaces) -> Interfaces {
        match self {
            Self::Artifact(_) => granted,
            Self::Folders(_) => Interfaces::ALL,
        }
    }
}
