//! The arguments of `wrun completions` and `wrun man`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write a page for wrun and one for each command into this directory, which must exist
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ShipRuntimeArguments {
    /// The directory with the runtime
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
