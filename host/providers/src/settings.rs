//! What the providers of one policy need to know of the run.

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

/// Takes lines for the run's log.
pub type Log = dyn Fn(LogLevel, &str) + Send + Sync;

/// Gathers facts: those below one key, or all. An error is a sentence.
pub type GatherFacts = dyn Fn(Option<&str>) -> Result<Map<String, Value>, String> + Send + Sync;

/// Hears a path and the content that a file there would get.
pub type Contents = dyn Fn(&str, &[u8]) + Send + Sync;

/// What the providers of one policy need to know of the run.
pub struct Settings {
    /// What the policy may cost the host, and what it has cost.
    pub account: Account,
    /// The root: `/`, or `--root DIR`.
    pub root: PathBuf,
    /// What the operator lets the policy do.
    pub grants: Arc<PolicyGrants>,
    /// The files of the policy's cookbooks.
    pub files: Arc<dyn CookbookFiles>,
    /// Where the policy's replaced files are kept. Outside the root's reach; made when first needed. Nobody else's lie there.
    pub backup_dir: PathBuf,
    /// Where the policy's downloads, rejected content and notes of them are kept. Made when first needed. Nobody else's lie
    /// there.
    pub cache_dir: PathBuf,
    /// The policy's own folder for downloads, in the root: `Chef::Config[:file_cache_path]`.
    pub file_cache: String,
    /// Of the machine, for the lookup of cookbook files.
    pub node: NodeIdentity,
    /// The whole run is a dry run.
    pub why_run: bool,
    /// The program that confines commands of dry runs: started with the one argument `launch-confined`, it calls
    /// [`launch_confined`](machine::command::launch_confined). None: no command runs in a dry run.
    pub launcher: Option<PathBuf>,
    /// Set when a signal asks the run to end.
    pub stop: Stop,
    /// How long a held lock of the package tools is waited for.
    pub package_lock_wait: Duration,
    /// How many backups of a file are kept, where the resource does not say.
    pub backups: usize,
    /// How many bytes the policy's backups may take together; beyond them the oldest go.
    pub backups_size: u64,
    /// How large downloads may be, and how long they may take.
    pub downloads: Downloads,
    /// Where policies ask for the node to be started again.
    pub reboots: Reboots,
    /// What the run's dry policies have left out. They share it.
    pub left_out: LeftOut,
    /// Gathers facts anew, as the policy may see them; none: they are what they are.
    pub facts: Option<Arc<GatherFacts>>,
    /// Hears the output of commands with `live_stream`, while they run.
    pub live: Option<Arc<Live>>,
    /// Hears what `log` resources say.
    pub log: Option<Arc<Log>>,
    /// A test's answers. With them no program is started.
    pub answers: Option<Answers>,
    /// Hears the contents that files would get, in a test.
    pub contents: Option<Arc<Contents>>,
}

impl Settings {
    /// How long a held lock of the package tools is waited for, if nobody says otherwise.
    pub const PACKAGE_LOCK_WAIT: Duration = Duration::from_secs(120);

    /// How many backups of a file are kept, if nobody says otherwise: Chef's number.
    pub const BACKUPS: usize = 5;

    /// How many bytes a policy's backups may take together, if its grants do not say.
    pub const BACKUPS_SIZE: u64 = match grants::Limit::Backups.setting().default {
        grants::LimitDefault::Fixed(mebibytes) | grants::LimitDefault::Setting(_, mebibytes) => mebibytes << 20,
        grants::LimitDefault::TimesGuestMemory(_) => 0,
    };
}
