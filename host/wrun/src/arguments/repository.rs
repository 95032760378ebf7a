//! The arguments of `wrun repository` and of commands that release.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum RepositoryCommand {
    /// Start a repository of signed releases in a directory
    Init(InitArguments),
    /// Add a team, or give a team other keys or policies
    AddTeam(AddTeamArguments),
    /// Give the platform other keys
    Rotate(RotateArguments),
    /// Check every signature, date and file of a repository
    Check(RepositoryPlace),
    /// Renew the snapshots and timestamps of the platform and the teams, and targets that expire within two months
    Refresh(RefreshArguments),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Keys that are missing are made in ~/.config/wrun/keys: NAME.key signs releases of the team NAME,\n\
                        NAME-online.key its snapshots and timestamps. See docs/releases.md."
)]
pub(crate) struct InitArguments {
    /// The directory
    #[arg(value_name = "DIR")]
    pub(crate) place: PathBuf,
    /// A team with the policy of its name
    #[arg(long, value_name = "NAME")]
    pub(crate) team: Vec<String>,
    /// Snapshots and timestamps are valid for a year: nobody renews them between releases
    #[arg(long)]
    pub(crate) offline: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddTeamArguments {
    /// The team's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Public keys that sign its releases: key files, or what `wrun keys show` prints [default: those that it has; for a new
    /// team NAME.key of your keys]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Vec<PathBuf>,
    /// How many of the keys have to sign a release [default: as many as until now; for a new team 1]
    #[arg(long, value_name = "N")]
    pub(crate) threshold: Option<usize>,
    /// The public key that signs its snapshots and timestamps [default: the one that it has; for a new team NAME-online.key of
    /// your keys]
    #[arg(long, value_name = "FILE")]
    pub(crate) online_key: Option<PathBuf>,
    /// The policies that it owns: names, or all that begin alike, as in 'core*' [default: those that it has; for a new team
    /// the team's name]
    #[arg(long, value_name = "PATTERN", num_args = 1..)]
    pub(crate) policies: Vec<String>,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
}

#[derive(Debug, Args)]
#[command(after_help = "The old keys and the new ones are needed. Nodes follow by themselves.")]
pub(crate) struct RotateArguments {
    /// Public keys of the platform from now on: key files, or what `wrun keys show` prints
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) key: Vec<PathBuf>,
    /// How many of the keys have to sign
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threshold: usize,
    /// The public key that signs snapshots and timestamps from now on
    #[arg(long, value_name = "FILE")]
    pub(crate) online_key: PathBuf,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Make a key in ~/.config/wrun/keys
    New {
        /// The key's name
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Keep a key in ~/.config/wrun/keys that another program has, such as one that speaks to a token
    ///
    /// The program reads what is to be signed from its standard input, and writes the 64 bytes of an Ed25519 signature to its
    /// standard output, within two minutes. wrun checks each signature before it uses it.
    Command {
        /// The key's name
        #[arg(value_name = "NAME")]
        name: String,
        /// The public key, 64 hexadecimal digits
        #[arg(long, value_name = "HEX")]
        public: String,
        /// The program, by its whole path, with its arguments
        #[arg(value_name = "COMMAND", required = true, last = true)]
        command: Vec<String>,
    },
    /// Print public keys, which `wrun repository add-team --key` takes
    Show {
        /// The key's name [default: a list of all keys]
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SignArguments {
    /// The release that waits, whole as the list has it [default: a list of all that wait]
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
}

#[derive(Debug, Args)]
#[command(after_help = "Nothing is built. See docs/releases.md.")]
pub(crate) struct PromoteArguments {
    /// The group that runs the revision
    #[arg(value_name = "FROM")]
    pub(crate) from: String,
    /// The group that will run it
    #[arg(value_name = "TO")]
    pub(crate) to: String,
    /// The policy [default: the one of this folder]
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// The beginning of the revision that FROM has to run
    #[arg(long, value_name = "ID")]
    pub(crate) revision: Option<String>,
    /// Release to a group that the policy does not have yet, though one has nearly the same name
    #[arg(long)]
    pub(crate) new_group: bool,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
}

#[derive(Debug, Args)]
pub(crate) struct CleanArguments {
    /// The teams [default: all for which keys are here]
    #[arg(value_name = "TEAM")]
    pub(crate) teams: Vec<String>,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without GROUP: whether the lock fits what it locks. With GROUP: whether the group runs it, too.\n\
                        --rebuild compiles the policy and says which input differs if the result is another artifact.\nBuilding cookbooks in Rust runs programs of the policy's folder with your rights (docs/SECURITY.md)."
)]
pub(crate) struct VerifyArguments {
    /// The policy's folder, or its Policyfile
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The policy group
    #[arg(value_name = "GROUP")]
    pub(crate) group: Option<String>,
    /// What the group will run once this release has its signatures, instead of what it runs now
    #[arg(long, value_name = "ID", requires = "group")]
    pub(crate) pending: Option<String>,
    /// Build the artifact again and compare it with the one that the group runs
    #[arg(long, requires = "group")]
    pub(crate) rebuild: bool,
    /// Keep the compiler's output here [default: DIR/target]
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Such an archive lacks the metadata.rb of its cookbooks, so the identifiers of its lock are taken as its\n\
                        statement. The team signs the files that are in it. See docs/releases.md."
)]
pub(crate) struct PushArchiveArguments {
    /// The policy group
    #[arg(value_name = "GROUP")]
    pub(crate) group: String,
    /// The archive that `chef export -a` or `wrun policy export -a` wrote
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,
    /// The SHA-256 that the archive has to have
    #[arg(long, value_name = "HEX")]
    pub(crate) sha256: Option<String>,
    /// Release to a group that the policy does not have yet, though one has nearly the same name
    #[arg(long)]
    pub(crate) new_group: bool,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
}

#[derive(Debug, Args)]
pub(crate) struct RefreshArguments {
    /// The teams to renew; the platform is renewed too [default: all for which a key is here]
    #[arg(value_name = "TEAM")]
    pub(crate) teams: Vec<String>,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
}

/// The repository that is meant
#[derive(Debug, Args)]
pub(crate) struct RepositoryPlace {
    /// The repository's directory [default: the one that `wrun repository init` made last]
    #[arg(long, value_name = "DIR")]
    pub(crate) repository: Option<String>,
    /// A copy of its platform/metadata/1.root.json that you trust, for the first use of a directory that others can change
    #[arg(long, value_name = "FILE")]
    pub(crate) repository_root: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "If a policy does not have a lock, wrun writes one first. It refuses a policy that differs from its lock.\n\
                        See docs/releases.md.\nBuilding cookbooks in Rust runs programs of the policy's folder with your rights (docs/SECURITY.md)."
)]
pub(crate) struct PushArguments {
    /// The policy group
    #[arg(value_name = "GROUP")]
    pub(crate) group: String,
    /// Folders of policies, with a policy.toml or a Policyfile.rb, or Policyfiles
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folders: Vec<PathBuf>,
    /// Keep the compiler's output here [default: DIR/target]
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
    /// Release to a group that the policy does not have yet, though one has nearly the same name
    #[arg(long)]
    pub(crate) new_group: bool,
    #[command(flatten)]
    pub(crate) repository: RepositoryPlace,
}
