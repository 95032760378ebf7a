//! The settings of one policy's providers.

use crate::reboots::Reboots;
use contract::{Account, CookbookFiles, LogLevel, Stop};
use grants::PolicyGrants;
use machine::command::{Answers, Live};
use machine::download::Downloads;
use machine::guest::LeftOut;
use node::file_specificity::NodeIdentity;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A callback for lines of the run's log.
pub type Log = dyn Fn(LogLevel, &str) + Send + Sync;

/// A callback that gathers facts: those below one key, or all. Its error is a sentence.
pub type GatherFacts = dyn Fn(Option<&str>) -> Result<Map<String, Value>, String> + Send + Sync;

/// A callback for the path and the new content of a file.
pub type Contents = dyn Fn(&str, &[u8]) + Send + Sync;

/// The settings of one policy's providers.
pub struct Settings {
    /// The policy's limits and its costs so far.
    pub account: Account,
    /// The root: `/`, or `--root DIR`.
    pub root: PathBuf,
    /// The operator's grants for the policy.
    pub grants: Arc<PolicyGrants>,
    /// The files of the policy's cookbooks.
    pub files: Arc<dyn CookbookFiles>,
    /// The directory of backups of the policy's replaced files. It is outside the root, is created when first needed, and
    /// contains only backups of this policy.
    pub backup_dir: PathBuf,
    /// The directory of the policy's downloads, rejected content, and notes about them. It is created when first needed, and
    /// contains only files of this policy.
    pub cache_dir: PathBuf,
    /// The policy's own folder for downloads, in the root: `Chef::Config[:file_cache_path]`.
    pub file_cache: String,
    /// The node's host name and platform, for the lookup of cookbook files.
    pub node: NodeIdentity,
    /// True if the whole run is a dry run.
    pub why_run: bool,
    /// The program that confines commands of dry runs: started with the one argument `launch-confined`, it calls
    /// [`launch_confined`](machine::command::launch_confined). `None`: no command runs in a dry run.
    pub launcher: Option<PathBuf>,
    /// Set when a signal asks the run to end.
    pub stop: Stop,
    /// The time to wait for a lock of the package tools.
    pub package_lock_wait: Duration,
    /// The number of backups of a file, unless the resource sets it.
    pub backups: usize,
    /// Maximum size of all backups of the policy, in bytes. The oldest ones are removed first.
    pub backups_size: u64,
    /// The limits of downloads.
    pub downloads: Downloads,
    /// The reboot requests of the run.
    pub reboots: Reboots,
    /// The record of actions that a dry run has skipped, shared by its policies.
    pub left_out: LeftOut,
    /// Gathers facts again, as far as the policy may see them. `None`: facts are not gathered again.
    pub facts: Option<Arc<GatherFacts>>,
    /// Receives the output of commands with `live_stream` while they run.
    pub live: Option<Arc<Live>>,
    /// Receives the lines of `log` resources.
    pub log: Option<Arc<Log>>,
    /// A test's answers. If present, no program is started.
    pub answers: Option<Answers>,
    /// In a test, receives the new contents of files.
    pub contents: Option<Arc<Contents>>,
}

impl Settings {
    /// The default time to wait for a lock of the package tools.
    pub const PACKAGE_LOCK_WAIT: Duration = Duration::from_secs(120);

    /// The default number of backups of a file, as in Chef.
    pub const BACKUPS: usize = 5;

    /// The default maximum size of a policy's backups, in bytes.
    pub const BACKUPS_SIZE: u64 = match grants::Limit::Backups.setting().default {
        grants::LimitDefault::Fixed(mebibytes) | grants::LimitDefault::Setting(_, mebibytes) => mebibytes << 20,
        grants::LimitDefault::TimesGuestMemory(_) => 0,
    };
}
