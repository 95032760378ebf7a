//! The arguments of `wrun policy`.

use crate::settings::View;
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Start a policy in a new folder, with a first cookbook
    New(NewArguments),
    /// Build a policy's artifact
    Build(BuildArguments),
    /// Show what an artifact holds, and whether the grants give it what it needs
    Show(ShowPolicyArguments),
    /// Build a policy and show what it would change, again whenever one of its files changes
    Dev(DevArguments),
    /// Run a policy's recipes against facts of several machines and compare what comes of it with its snapshots
    Test(TestArguments),
    /// Answer the tests of a policy's author
    #[command(hide = true)]
    TestServer(TestServerArguments),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Facts of machines are taken from DIR/tests/facts/*.json (`wrun facts` prints them), without such files from \
                        Debian 12 and 13.\nThe snapshots are DIR/tests/snapshots/*.json. See docs/testing.md."
)]
pub(crate) struct TestArguments {
    /// The policy's folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Keep the compiler's output here [default: DIR/target]
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Write the snapshots anew instead of comparing with them
    #[arg(long)]
    pub(crate) update: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TestServerArguments {
    /// The policy's folder
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Keep the compiler's output here [default: DIR/target]
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The folder; it must be empty or absent
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// The policy's name [default: the folder's]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Start with a cookbook in Ruby; needs no compiler
    #[arg(long, conflicts_with_all = ["sdk_path", "sdk_git"])]
    pub(crate) ruby: bool,
    /// Use the SDK in this folder instead of the one that wrun carries
    #[arg(long, value_name = "DIR", env = "WRUN_SDK_PATH")]
    pub(crate) sdk_path: Option<PathBuf>,
    /// Use the SDK of this git repository instead of the one that wrun carries
    #[arg(long, value_name = "URL", conflicts_with = "sdk_path")]
    pub(crate) sdk_git: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    /// The policy's folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Put the artifact here [default: the policy's folder]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Take gems of Ruby cookbooks from here [default: `gems` of policy.toml, else DIR/gems]
    #[arg(long, value_name = "DIR")]
    pub(crate) gems: Option<PathBuf>,
    /// Keep the compiler's output here [default: DIR/target]
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Compile quickly, to larger and slower code; for trying on this machine
    #[arg(long)]
    pub(crate) dev: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: wrun policy dev web -- --allow-all")]
pub(crate) struct DevArguments {
    /// The policy's folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Keep the compiler's output here [default: DIR/target]
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Options for the dry runs, as `wrun converge` takes them
    #[arg(value_name = "OPTION", last = true)]
    pub(crate) converge: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowPolicyArguments {
    /// The artifact
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Compare its needs with this file of grants [default: /etc/wrun/grants.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) grants: Option<PathBuf>,
    /// Output format: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: View,
    /// File of settings [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}
