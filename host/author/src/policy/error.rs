//! What can be wrong with a policy's folder.

use std::path::{Path, PathBuf};

use crate::build::{BuildError, ToolchainError};
use crate::gems::GemsError;
use artifact::lock::InvalidAttribute;
use artifact::{ArtifactError, MAX_FILES, ManifestError};

/// Why there is no policy to be made of a folder.
#[derive(Debug, thiserror::Error)]
pub enum AuthorError {
    /// The folder is not a policy's.
    #[error("{} is not a policy's folder: it has neither a policy.toml nor a Policyfile.rb; start one with `wrun policy new`", folder.display())]
    NoPolicy {
        /// The folder without a policy.toml.
        folder: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or folder that cannot be read.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file or folder that cannot be written.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something in a file.
    #[error("{}:{line}: {what}", path.display())]
    Wrong {
        /// The path of the file with the mistake.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// Something in the table `needs`.
    #[error(transparent)]
    Needs(#[from] grants::GrantsError),
    /// A file or folder itself.
    #[error("{} {what}", path.display())]
    File {
        /// The file or folder that the sentence is about.
        path: PathBuf,
        /// What is wrong with it: the rest of the sentence.
        what: &'static str,
    },
    /// More than a policy may have.
    #[error("{} has more than {limit} {of}", path.display())]
    TooMuch {
        /// The folder that has too much.
        path: PathBuf,
        /// The largest number that is allowed.
        limit: u64,
        /// The things that are too many, such as `files`.
        of: &'static str,
    },
    /// Cookbooks in Rust without a cargo workspace.
    #[error(
        "the cookbook in {} is a crate, but {} has no Cargo.toml\n\nhint: a policy with cookbooks in Rust is a cargo \
         workspace; write these two files:\n\n{}\n{}",
        cookbook.display(), folder.display(), indented("Cargo.toml", manifest), indented("src/lib.rs", library)
    )]
    NoWorkspace {
        /// The policy's folder, which has no Cargo.toml.
        folder: PathBuf,
        /// The first such cookbook's folder.
        cookbook: PathBuf,
        /// The content that Cargo.toml should have.
        manifest: String,
        /// The content that src/lib.rs should have.
        library: String,
    },
    /// A cookbook that the component would be built without.
    #[error(
        "{}: the cookbook {cookbook} is not linked; add it to `[dependencies]`, and to `policy!` in src/lib.rs",
        manifest.display()
    )]
    NotLinked {
        /// The path of the policy's Cargo.toml.
        manifest: PathBuf,
        /// The name of the cookbook to link.
        cookbook: String,
    },
    /// Two cookbooks of one name.
    #[error("cookbook {name} is there twice: {} and {}", first.display(), second.display())]
    Twice {
        /// The name that both cookbooks have.
        name: String,
        /// The folder that was found first.
        first: PathBuf,
        /// The folder that was found second.
        second: PathBuf,
    },
    /// An attribute that no policy can have.
    #[error("{}: [{level}] has an attribute that a policy cannot have", path.display())]
    Attribute {
        /// The path of the policy's file.
        path: PathBuf,
        /// The level that has it: `default` or `override`.
        level: &'static str,
        /// The attribute and why it is refused.
        source: InvalidAttribute,
    },
    /// The parts do not make a policy.
    #[error("{} does not describe a policy", path.display())]
    Manifest {
        /// The path of the policy's file.
        path: PathBuf,
        /// The reason why the manifest is refused.
        source: ManifestError,
    },
    /// The folder for a new policy holds something.
    #[error("{} is not empty; name a folder that is not there yet", folder.display())]
    NotEmpty {
        /// The folder that already holds something.
        folder: PathBuf,
    },
    /// A new policy's name cannot be one.
    #[error(transparent)]
    Name(ManifestError),
    /// Its cookbooks' gems cannot travel.
    #[error(transparent)]
    Gems(#[from] GemsError),
    /// What it includes or takes from elsewhere cannot be resolved.
    #[error(transparent)]
    Resolve(Box<crate::policyfile::PolicyfileError>),
    /// There is no compiler for the crates.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// The crates do not compile.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The artifact cannot be made.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
}

impl AuthorError {
    /// The error for a folder with more names in it than are looked at.
    pub(super) fn too_many_files(folder: &Path) -> Self {
        let limit = u64::try_from(MAX_FILES).unwrap_or(u64::MAX);
        Self::TooMuch { path: folder.to_owned(), limit, of: "files" }
    }
}

/// A file's content below its name, for a person who writes it.
fn indented(name: &str, content: &str) -> String {
    let lines = content.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("        {line}\n") });
    format!("    {name}\n{}", lines.collect::<String>())
}
