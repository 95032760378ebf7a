//! The errors of collecting gems for an artifact.

use std::path::PathBuf;

use super::Refused;

/// The reasons why gems cannot be put into an artifact.
#[derive(Debug, thiserror::Error)]
pub enum GemsError {
    /// A file or folder cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file or folder that cannot be read.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder of gems is a link out of the folder that it should lie in.
    #[error("{} is a link that leads out of its folder: put the gems themselves there", path.display())]
    LeadsOut {
        /// The path of the link.
        path: PathBuf,
    },
    /// A file that ends in `.gem` and is not a gem.
    #[error("{} is not a gem that can travel: {what}", path.display())]
    NoGem {
        /// The path of the file that is not a gem.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The gems exceed a limit.
    #[error("{} has too many {of} to travel with a policy", path.display())]
    TooMuch {
        /// The folder or file.
        path: PathBuf,
        /// The things that are too many, as in `files`.
        of: &'static str,
    },
    /// A cookbook wants a gem that cannot be had.
    #[error("{}", .0.what)]
    Refused(Box<Refused>),
    /// The answer of the Ruby runtime is invalid.
    #[error("the runtime's choice of gems cannot be used: {what}")]
    Answer {
        /// The sentence that tells what is wrong with the answer.
        what: String,
    },
}
