//! The arguments of `wrun run`.

use super::Common;
use crate::settings::View;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum RunCommand {
    /// List the recorded runs, newest first
    List(ListArguments),
    /// Show what a run did
    Show(ShowRunArguments),
    /// Show how two runs differ: policies, outcomes, resources
    Diff(DiffArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The largest number of runs that are listed
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Output format: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: View,
}

#[derive(Debug, Args)]
pub(crate) struct ShowRunArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The run's identifier, or the first characters of it [default: the newest run]
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Show the newest run, as without an identifier
    #[arg(long, conflicts_with = "run")]
    pub(crate) last: bool,
    /// Show resources that did not change too
    #[arg(long)]
    pub(crate) all: bool,
    /// Output format: doc, or json for the whole record
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: View,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The older run's identifier, or the first characters of it [default: the run before the newest one]
    #[arg(value_name = "FROM")]
    pub(crate) from: Option<String>,
    /// The newer run's identifier, or the first characters of it [default: the newest run]
    #[arg(value_name = "TO", requires = "from")]
    pub(crate) to: Option<String>,
    /// Compare the newest run with the one before it, as without identifiers
    #[arg(long, conflicts_with = "from")]
    pub(crate) last: bool,
    /// Output format: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: View,
}
