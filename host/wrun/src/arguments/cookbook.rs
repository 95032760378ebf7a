//! The arguments of `wrun cookbook`.

use crate::settings::Format;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum CookbookCommand {
    /// Check what Ruby cookbooks need and what would not work on a Linux node, without running them
    ///
    /// Exit code 0: no problems were found; 1: there are problems; 43: bad usage.
    Check(CheckArguments),
    /// Show a cookbook's version, its identifier and the checksums that it is made of
    Describe(DescribeArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArguments {
    /// The cookbook's directory
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The cookbook's directory; or a policy's folder, a Chef repository or a directory of cookbooks, to check all of them
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Look for the cookbooks that it depends on in these directories [default: beside it]
    #[arg(long, value_name = "DIR,..", value_delimiter = ',')]
    pub(crate) cookbooks: Vec<PathBuf>,
    /// Check every cookbook in the directories of --cookbooks, or in DIR, and end with a table
    #[arg(long)]
    pub(crate) all: bool,
    /// Directory of roles, whose attributes count as set [default: roles beside the directory of cookbooks]
    #[arg(long, value_name = "DIR")]
    pub(crate) roles: Option<PathBuf>,
    /// Directory of environments, whose attributes count as set [default: environments beside the directory of cookbooks]
    #[arg(long, value_name = "DIR")]
    pub(crate) environments: Option<PathBuf>,
    /// Look only at what these recipes reach: included recipes, resource types, and what is always loaded
    #[arg(long, value_name = "RECIPE,..")]
    pub(crate) run_list: Vec<String>,
    /// Leave out what conditions keep for other Linux platforms than this one, such as debian or rocky
    #[arg(long, value_name = "PLATFORM")]
    pub(crate) platform: Option<String>,
    /// Output format: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: Format,
    /// File of settings [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
