//! The errors of reading, building and creating a policy's folder.

use std::path::{Path, PathBuf};

use crate::build::{BuildError, ToolchainError};
use crate::gems::GemsError;
use artifact::lock::InvalidAttribute;
use artifact::{ArtifactError, MAX_FILES, ManifestError};

/// The reasons why a folder cannot be made a policy.
#[derive(Debug, thiserror::Error)]
pub enum AuthorError {
    /// The folder is not a policy's.
    #[error("{} is not a policy's folder: it has neither a policy.toml nor a Policyfile.rb; {advice}", folder.display())]
    NoPolicy {
        /// The folder without a policy.toml.
        folder: PathBuf,
        /// What to do instead.
        advice: String,
    },
    /// The folder does not exist.
    #[error("no policy folder at {}: {missing}; `wrun policy new` starts one", folder.display())]
    NoFolder {
        /// The folder as it was named.
        folder: PathBuf,
        /// A clause about the part of its path that is missing.
        missing: String,
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
    /// A line of a file is wrong.
    #[error("{}:{line}: {what}", path.display())]
    Wrong {
        /// The path of the file with the mistake.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        what: String,
    },
    /// The table `needs` is invalid.
    #[error(transparent)]
    Needs(#[from] grants::GrantsError),
    /// A file or folder as a whole is wrong.
    #[error("{} {what}", path.display())]
    File {
        /// The file or folder that the sentence is about.
        path: PathBuf,
        /// What is wrong with it: the rest of the sentence.
        what: &'static str,
    },
    /// A folder exceeds a limit.
    #[error("{} has more than {limit} {of}", path.display())]
    TooMuch {
        /// The folder that has too much.
        path: PathBuf,
        /// The largest number that is allowed.
        limit: u64,
        /// The things that are too many, such as `files`.
        of: &'static str,
    },
    /// The policy has cookbooks in Rust, but no cargo workspace.
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
    /// A cookbook is not linked, so the component would be built without it.
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
    /// Two cookbooks have the same name.
    #[error("cookbook {name} is there twice: {} and {}", first.display(), second.display())]
    Twice {
        /// The name that both cookbooks have.
        name: String,
        /// The folder that was found first.
        first: PathBuf,
        /// The folder that was found second.
        second: PathBuf,
    },
    /// An attribute is not allowed in a policy.
    #[error("{}: [{level}] has an attribute that a policy cannot have", path.display())]
    Attribute {
        /// The path of the policy's file.
        path: PathBuf,
        /// The level that has it: `default` or `override`.
        level: &'static str,
        /// The attribute and why it is refused.
        source: InvalidAttribute,
    },
    /// The manifest of the policy is invalid.
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
    /// The name of a new policy is invalid.
    #[error(transparent)]
    Name(ManifestError),
    /// The gems of its cookbooks cannot be put into the artifact.
    #[error(transparent)]
    Gems(#[from] GemsError),
    /// Its included policies or its cookbooks from other sources cannot be resolved.
    #[error(transparent)]
    Resolve(Box<crate::policyfile::PolicyfileError>),
    /// No compiler for the crates was found.
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

/// Returns a file's name and its indented content, as a suggestion in a message.
fn indented(name: &str, content: &str) -> String {
    let lines = content.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("        {line}\n") });
    format!("    {name}\n{}", lines.collect::<String>())
}
