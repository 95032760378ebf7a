//! The arguments of `wrun grants`.

use super::{Common, ConvergeArguments};
use crate::settings::Layer;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Options that `wrun grants suggest` shares with `wrun converge` but that have no effect on a suggestion.
pub(super) const IDLE_IN_SUGGESTIONS: [&str; 7] =
    ["format", "keep_going", "why_run", "detailed_exitcode", "lock_timeout", "unless_paused", "unchanged_for"];

#[derive(Debug, Subcommand)]
pub(crate) enum GrantsCommand {
    /// Print the smallest grants with which a run would succeed
    ///
    /// Takes the options of `wrun converge`. Makes a dry run in which every change is allowed, and writes down what was asked
    /// for, also behind guards and for things that are up to date. It cannot see what only a real run asks for, such as a
    /// recipe that reads a file which it wrote.
    ///
    /// The policies read only what the grants allow, and the files and facts that every user of this machine may read. Only
    /// commands that the grants allow are started. If that leaves something out, wrun says so: grant what is printed and run
    /// the command again. With --allow-all, policies that you trust read and start everything at once.
    Suggest(Box<SuggestArguments>),
    /// Add to the grants what a run was denied; shows the change and asks
    ///
    /// Two classes of entries are named with the reason and asked for separately. --yes leaves them out unless --dangerous is
    /// given, too. --yes alone also leaves out all entries that may concern more than the policy. It adds new paths in folders
    /// such as /srv and /opt, what every account of this machine may read, and commands that only answer, such as date.
    ///
    /// Entries that open a lot: privileged paths, secrets and set-id bits; paths that a command of any policy runs or reads as
    /// root; commands as root that are shell lines, scripts or interpreters, run other programs, take any arguments, or use
    /// files that a policy may change; mounts; users and groups that are as good as root, or named by number; options,
    /// variables and files for package tools; wildcards; configuration below a directory named etc, of a policy that has
    /// services or commands as root.
    ///
    /// Commands as root that wrun does not know. It knows the usual ones that only answer, such as date, and a few that do no
    /// more than they say, such as `systemctl restart NAME`.
    Allow(AllowArguments),
    /// Check the grants: syntax, policies and facts that do not exist, rules that are not used or not needed
    ///
    /// Exits with 0 if it finds nothing, else with 1.
    Check(CheckGrantsArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SuggestArguments {
    #[command(flatten)]
    pub(crate) converge: ConvergeArguments,
    /// Add the entries to this file instead of printing them; shows the change and asks
    #[arg(long, value_name = "FILE")]
    pub(crate) write: Option<PathBuf>,
    /// Write without asking; left out is all that may concern more than the policy
    #[arg(long, requires = "write")]
    pub(crate) yes: bool,
    /// Also write what --yes leaves out, such as privileged paths, without asking for it separately
    #[arg(long, requires = "write")]
    pub(crate) dangerous: bool,
    /// Also give the entries for sensitive resources: commands, mounts, and paths and servers that they read. Such an entry
    /// may hold a password
    #[arg(long)]
    pub(crate) sensitive: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AllowArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) run: WhichRun,
    /// The grants to add to [default: /etc/wrun/grants.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) grants: Option<PathBuf>,
    /// Only what these policies were denied, separated by commas
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub(crate) policy_name: Vec<String>,
    /// Write without asking; left out is all that may concern more than the policy
    #[arg(long)]
    pub(crate) yes: bool,
    /// Also add what --yes leaves out, such as privileged paths, without asking for it separately
    #[arg(long)]
    pub(crate) dangerous: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct WhichRun {
    /// Allow what the newest recorded run was denied
    #[arg(long)]
    pub(crate) last: bool,
    /// Allow what this run was denied: its identifier, the first characters of it, or the file of its JSON, for which wrun
    /// always asks
    #[arg(long, value_name = "ID")]
    pub(crate) from_run: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckGrantsArguments {
    #[command(flatten)]
    pub(crate) common: Common,
    /// The grants to check [default: /etc/wrun/grants.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) grants: Option<PathBuf>,
    /// Directory of the policies' artifacts, NAME.wasm each [default: /etc/wrun/policies]
    #[arg(long, value_name = "DIR")]
    pub(crate) policies: Option<PathBuf>,
}

impl AllowArguments {
    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer { grants: self.grants.clone(), ..self.common.layer() }
    }
}

impl CheckGrantsArguments {
    /// Returns the given options as a layer of settings.
    pub(crate) fn layer(&self) -> Layer {
        Layer { grants: self.grants.clone(), policies: self.policies.clone(), ..self.common.layer() }
    }
}
