//! The arguments of the commands that import from Chef.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "The exit code is 1 if something of the repository would not work, such as a role that was left out. See \
                        docs/from-chef.md."
)]
pub(crate) struct ImportPolicyArguments {
    /// The Chef repository: the folder with roles, environments and cookbooks
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Write the new files to this folder [default: DIR/wrun]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Replace files that are there and differ
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SettingsCommand {
    /// Write wrun.toml from a client.rb of Chef, and name what was not taken
    ///
    /// The file is Ruby: it is evaluated in the sandbox, with the files of client.d beside it. Nothing of it runs on this machine.
    Import(ImportSettingsArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "The exit code is 1 if a file was not read to its end.")]
pub(crate) struct ImportSettingsArguments {
    /// The settings of Chef
    #[arg(value_name = "FILE", default_value = "/etc/chef/client.rb")]
    pub(crate) file: PathBuf,
    /// Write the settings to this file; `-` prints them [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if it is there and differs
    #[arg(long)]
    pub(crate) force: bool,
}
