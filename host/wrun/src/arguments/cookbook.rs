//! The arguments of `wrun cookbook`.

use crate::settings::Format;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum CookbookCommand {
    /// Say what a Ruby cookbook needs and what of it would not work; nothing of it is run
    Check(CheckArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The cookbook's folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Look for the cookbooks that it depends on here [default: beside it]
    #[arg(long, value_name = "DIR,..", value_delimiter = ',')]
    pub(crate) cookbooks: Vec<PathBuf>,
    /// How it is shown: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: Format,
    /// Read the settings from this file [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
