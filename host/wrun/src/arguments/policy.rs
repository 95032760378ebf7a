//! The arguments of `wrun policy`.

use super::{
    CleanArguments, ImportPolicyArguments, PromoteArguments, PushArchiveArguments, PushArguments, RepositoryPlace,
    SignArguments, VerifyArguments,
};
use crate::settings::View;
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Start a policy in a new folder, with a first cookbook
    New(NewArguments),
    /// Make policies of a Chef repository: a Policyfile for each role, layers, grants
    Import(ImportPolicyArguments),
    /// Build a policy's artifact
    Build(BuildArguments),
    /// Install the cookbooks of a Policyfile's lock; without a lock, make one
    Install(InstallArguments),
    /// Make a Policyfile's lock anew, or a part of it
    Update(UpdateArguments),
    /// Release policies to a group: build what is locked, sign it, publish it
    Push(PushArguments),
    /// Release a policy from an archive of `chef export -a`
    PushArchive(PushArchiveArguments),
    /// Sign releases that wait for more signatures
    Sign(SignArguments),
    /// Give a group the revision that another group runs
    Promote(PromoteArguments),
    /// Check a lock against its cookbooks, and a group against the lock
    Verify(VerifyArguments),
    /// Remove revisions that no group runs and that are older than a week
    Clean(CleanArguments),
    /// Write a locked policy as a Chef repository, which `chef-client -z` converges
    Export(ExportArguments),
    /// Show what differs between two locks of a policy
    Diff(LockDiffArguments),
    /// List the policies whose artifacts are in the folder `policies` of the settings
    List(ListPoliciesArguments),
    /// Show what an artifact or a policy group holds, and whether the grants give it what it needs
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
                        Debian 12 and 13.\nThe snapshots are DIR/tests/snapshots/*.json. See docs/testing.md.\nBuilding cookbooks in Rust runs programs of the policy's folder with your rights (docs/SECURITY.md)."
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
    /// Let DIR/tests/case.toml raise limits above their defaults
    #[arg(long)]
    pub(crate) allow_higher_limits: bool,
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
#[command(after_help = "The lock lies beside the Policyfile: Policyfile.lock.json. See docs/policyfiles.md.")]
pub(crate) struct InstallArguments {
    /// The policy's folder, its Policyfile, its policy.toml or its lock [default: the current folder]
    #[arg(value_name = "POLICY")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Included policies from git stay at the commit of the lock, unless --include names them or their \
                        options changed.\nSee docs/policyfiles.md."
)]
pub(crate) struct UpdateArguments {
    /// The policy's folder or file [default: the current folder], then the cookbooks to update with all they depend on
    /// [default: all]
    #[arg(value_name = "[POLICY] [COOKBOOK..]")]
    pub(crate) names: Vec<String>,
    /// Update attributes only
    #[arg(short, long, conflicts_with_all = ["exclude_deps"])]
    pub(crate) attributes: bool,
    /// Update only the named cookbooks, not what they depend on
    #[arg(long)]
    pub(crate) exclude_deps: bool,
    /// Take the newest commit of this included policy; `all` for every one
    #[arg(long, value_name = "NAME")]
    pub(crate) include: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The Policyfile [default: Policyfile.rb], then the folder to export to
    #[arg(value_name = "[POLICY_FILE] DIR", required = true, num_args = 1..=2)]
    pub(crate) places: Vec<PathBuf>,
    /// Write one compressed archive into the folder
    #[arg(short, long)]
    pub(crate) archive: bool,
    /// Replace what an earlier export left in the folder
    #[arg(short, long)]
    pub(crate) force: bool,
    /// The policy group that the export is for
    #[arg(long, value_name = "GROUP", default_value = "local")]
    pub(crate) policy_group: String,
}

#[derive(Debug, Args)]
#[command(after_help = "wrun policy diff --head                 the lock against the last commit's\n\
                        wrun policy diff --git v1.0.0...main    two revisions of the repository\n\
                        wrun policy diff --group staging...prod two groups; `--group staging`: a group and the lock")]
pub(crate) struct LockDiffArguments {
    /// The Policyfile [default: Policyfile.rb]
    #[arg(value_name = "POLICY_FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Compare the lock with a git revision, or two revisions with each other
    #[arg(short, long, value_name = "REF[...REF]", conflicts_with = "head")]
    pub(crate) git: Option<String>,
    /// Compare the lock with the last commit
    #[arg(long)]
    pub(crate) head: bool,
    /// Compare what a policy group runs with the lock, or two groups with each other
    #[arg(long, value_name = "GROUP[...GROUP]", conflicts_with_all = ["git", "head"])]
    pub(crate) group: Option<String>,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
    /// Accepted for scripts of chef-cli: the output is never paged
    #[arg(long, hide = true)]
    pub(crate) no_pager: bool,
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
#[command(
    after_help = "Building cookbooks in Rust runs programs of the policy's folder with your rights (docs/SECURITY.md)."
)]
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
#[command(
    after_help = "Example: wrun policy dev web -- --allow-all\nBuilding cookbooks in Rust runs programs of the policy's folder with your rights (docs/SECURITY.md)."
)]
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
pub(crate) struct ListPoliciesArguments {
    /// Directory of the policies' artifacts, NAME.wasm each [default: /etc/wrun/policies]
    #[arg(long, value_name = "DIR")]
    pub(crate) policies: Option<PathBuf>,
    /// Output format: doc or json
    #[arg(short = 'F', long, value_name = "FORMAT", default_value = "doc")]
    pub(crate) format: View,
    /// File of settings [default: /etc/wrun/wrun.toml]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "wrun policy show core                 the artifact of an installed policy; core.wasm is a file\n\
                        wrun policy show --group prod         what the group runs of this folder's policy, elsewhere of all;\n\
                                                             --policy names one\n\
                        wrun policy show                      what every group runs; without a repository: the list of\n\
                                                             installed policies"
)]
pub(crate) struct ShowPolicyArguments {
    /// The name of a policy whose artifact is in the folder `policies` of the settings, else the file of an artifact
    #[arg(value_name = "NAME|FILE", conflicts_with_all = ["group", "policy", "repository", "repository_root"])]
    pub(crate) file: Option<PathBuf>,
    /// Show what this group runs
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Option<String>,
    /// The policy [default: with --group, the one of this folder; else all]
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
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
