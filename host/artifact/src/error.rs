//! Why a file is not a policy that can be run, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::CONTRACT;

/// Why there is not an artifact to be had. Every message names the file and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// No artifact of that name.
    #[error("there is no policy {name:?} in {}: {}", folder.display(), available(names, folder, name))]
    NotFound {
        /// The name that was asked for.
        name: String,
        /// The folder in which it was looked for.
        folder: PathBuf,
        /// What policies are there.
        names: Vec<String>,
    },
    /// The folder that artifacts should be in is not there.
    #[error("there is no folder of policies at {}; name it with --policies or `policies` in the settings", folder.display())]
    NoFolder {
        /// Where it should be.
        folder: PathBuf,
    },
    /// A name that no policy can have.
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
    /// Larger than any artifact.
    #[error("{} is {size} bytes long, more than the {limit} that a policy may have", path.display())]
    TooLarge {
        /// The path of the artifact.
        path: PathBuf,
        /// The file's length in bytes.
        size: u64,
        /// The largest length that is read, in bytes.
        limit: u64,
    },
    /// Not WebAssembly, or WebAssembly of another kind.
    #[error("{} is not a policy: it is {what}; make one with `wrun policy build`", path.display())]
    NotComponent {
        /// The path of the file that is not an artifact.
        path: PathBuf,
        /// What it is instead.
        what: &'static str,
    },
    /// A component that nobody made a policy of.
    #[error("{} is a component without a manifest; make a policy of it with `wrun policy build`", path.display())]
    NoManifest {
        /// The path of the component without a manifest.
        path: PathBuf,
    },
    /// The file's content is not what was written.
    #[error("{} is damaged: {what}; copy it again, or build it again with `wrun policy build`", path.display())]
    Damaged {
        /// The path of the damaged artifact.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A component for a host that speaks another contract.
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
    /// A manifest of a newer program.
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
    /// The file's name says another policy than the file.
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

/// What there is instead. `wrun policy build` without `--output` leaves an artifact in the policy's own folder.
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
