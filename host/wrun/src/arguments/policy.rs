//! The arguments of `wrun policy`.

use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Start a policy of Rust cookbooks in a new folder
    New {
        /// The folder; it must be empty or not there
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// The policy's name [default: the folder's]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// The SDK's folder on this machine
        #[arg(long, value_name = "DIR", env = "WRUN_SDK_PATH")]
        sdk_path: Option<PathBuf>,
        /// The git repository that has the SDK
        #[arg(long, value_name = "URL", conflicts_with = "sdk_path")]
        sdk_git: Option<String>,
    },
    /// Build a policy's artifact
    Build {
        /// The policy's folder
        #[arg(value_name = "DIR", default_value = ".")]
        folder: PathBuf,
        /// Put the artifact here [default: the policy's folder]
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
        /// Take gems of Ruby cookbooks from here [default: `gems` of policy.toml, else DIR/gems]
        #[arg(long, value_name = "DIR")]
        gems: Option<PathBuf>,
        /// Keep what the compiler makes here [default: DIR/target]
        #[arg(long, value_name = "DIR")]
        target_dir: Option<PathBuf>,
    },
}
