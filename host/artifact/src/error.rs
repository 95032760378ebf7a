//! The errors of finding and opening artifacts, with remedies.

use std::io;
use std::path::{Path, PathBuf};

use crate::CONTRACT;

/// The reasons why an artifact is not available. Every message names the file and a remedy.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// No artifact of that name.
    #[error("there is no policy {name:?} in {}: {}", folder.display(), available(names, folder, name))]
    NotFound {
        /// The name that was asked for.
        name: String,
        /// The folder in which it was looked for.
        folder: PathBuf,
        /// The names of existing policies.
        names: Vec<String>,
    },
    /// The folder of artifacts does not exist.
    #[error(
        "there is no folder of policies at {}{}; name it with --policies or `policies` in the settings",
        folder.display(),
        near.as_ref().map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
    )]
    NoFolder {
        /// Where it should be.
        folder: PathBuf,
        /// The near name that exists in place of the first part of the path that does not.
        near: Option<String>,
    },
    /// The name is not valid for a policy.
    #[error(transparent)]
    Name(crate::ManifestError),
    /// The file cannot be read.
    #[error("cannot read policy {}", path.display())]
    Read {
        /// The path of the artifact.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is larger than an artifact may be.
    #[error("{} is {size} bytes long, more than the {limit} that a policy may have", path.display())]
    TooLarge {
        /// The path of the artifact.
        path: PathBuf,
        /// The file's length in bytes.
        size: u64,
        /// The largest length that is read, in bytes.
        limit: u64,
    },
    /// The file is not a WebAssembly component.
    #[error("{} is not a policy: it is {what}; make one with `wrun policy build`", path.display())]
    NotComponent {
        /// The path of the file that is not an artifact.
        path: PathBuf,
        /// The kind of file that it is instead.
        what: &'static str,
    },
    /// The file is a component without a manifest.
    #[error("{} is a component without a manifest; make a policy of it with `wrun policy build`", path.display())]
    NoManifest {
        /// The path of the component without a manifest.
        path: PathBuf,
    },
    /// The content of the file is damaged.
    #[error("{} is damaged: {what}; copy it again, or build it again with `wrun policy build`", path.display())]
    Damaged {
        /// The path of the damaged artifact.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The component is for another version of the contract.
    #[error(
        "{} is for the contract {found}, but this wrun speaks {CONTRACT}; \
         build the policy again with the SDK of this wrun, or run it with the wrun that it was built for", path.display()
    )]
    OtherContract {
        /// The path of the artifact for another contract.
        path: PathBuf,
        /// The contract that the component speaks.
        found: String,
    },
    /// A newer version of wrun wrote the manifest.
    #[error(
        "{} has a manifest of format {found}, but this wrun reads formats up to {known}; \
         use the wrun that it was built for", path.display()
    )]
    NewerFormat {
        /// The path of the artifact in the newer format.
        path: PathBuf,
        /// The format that the manifest states, from 1.
        found: u64,
        /// The newest that is known here.
        known: u64,
    },
    /// The file has another policy than its name says.
    #[error("{} holds policy {found:?}, not {wanted:?}; name the file {found}.wasm", path.display())]
    OtherPolicy {
        /// The path of the artifact, whose name is wrong.
        path: PathBuf,
        /// The policy in it.
        found: String,
        /// The policy that was asked for.
        wanted: String,
    },
}

impl ArtifactError {
    pub(super) fn other_contract(path: &Path, found: &str) -> Self {
        Self::OtherContract { path: path.to_owned(), found: found.to_owned() }
    }
}

/// Returns the end of the message: the existing policies, or the artifact that `wrun policy build` without `--output` has
/// left in the policy's own folder.
fn available(names: &[String], folder: &Path, wanted: &str) -> String {
    let own = folder.join(wanted);
    if own.join(wanted).with_extension("wasm").is_file() {
        format!("it is in {0}: give --policies {0}", own.display())
    } else if names.is_empty() {
        "there are none; `wrun policy build` makes one".into()
    } else {
        let near = text::did_you_mean(wanted, names.iter().map(String::as_str));
        let near = near.map(|near| format!("{near} ")).unwrap_or_default();
        format!("{near}there are {}", names.join(", "))
    }
}
