//! The arguments of `wrun config`.

use super::Common;
use crate::settings::View;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show each setting with its value and its source
    Show(ShowConfigArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ShowConfigArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// Output format: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: View,
}
